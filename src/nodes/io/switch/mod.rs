//! The CXL.io side of a switch with virtual hierarchies: bus numbers, windows, power management (`fabric` §1.1, §1.4, §1.5).
//!
//! Modelled: upstream ports, each the top of a virtual hierarchy ([`hierarchy`]); downstream ports, of which each is bound whole to
//! one vPPB or to none, or its logical devices to vPPBs of several hierarchies, with their LD-ID in front of every TLP
//! ([`IoSeat`]); a queue for each output, which TLPs leave in the order in which they came, so that nothing passes a posted
//! request; agents of power management at every port, of which that towards the host answers resets and flushes when those of all
//! ports of its hierarchy have been answered, or given up (`fabric` RST-8); what the manager asks of its own ports ([`manager`]);
//! requests of UIO by the decoders of a hierarchy, judged where they leave, and as unsupported where the link there has no channel for them;
//! in a fabric virtual links, and resets that cross them ([`fabric`], [`reset`]). Detail: whole TLPs; a TLP occupies a port for its
//! bytes; a pipeline is a latency. Posted requests of an input wait in the link when the switch holds as many of them as its queue
//! has room for. Requests with a completion, and completions, are always taken: there are no more of them than requesters have
//! tags. TLPs pass others in the link ends behind the outputs (`fabric` ORD-2). Left out: the logical device of the fabric manager,
//! logical devices behind edge ports of a fabric, changes of bindings but those of [`bindings`], AER, containment of edge ports, what a device loses in a
//! reset.
//!
//! A walk through one cycle: everything that came is taken, read, and handed to the agent of its port or routed; it may leave when
//! the latency of the switch is over. Agents speak. From each output the first TLPs leave, as long as the port is free and its
//! link end has room.

pub mod bindings;
pub mod fabric;
pub mod hierarchy;
pub mod manager;
pub mod reset;

use super::tlps::{self, IoRequestNames};
use bindings::BindingChanges;
use fabric::{
    ContactWatch, IoChange, IoFabric, IoFabricCounts, IslNames, StreamWatch, first_contact, is_first_contact, isl_body,
    judge_unroutable, stream_of,
};
use hierarchy::{IoHierarchy, IoRouted, IoSide};
use manager::{ManagerAccess, ManagerAccesses, PortProtocol, judge_manager};
use reset::{LinkMessage, ResetAction, VirtualReset};
use scalepool_endpoint::event::EndpointEvent;
use scalepool_endpoint::pm::{Happened, PmAgent, PmConfig, PmRequest, PmSide};
use scalepool_endpoint::tlp::{Tlp, TlpForm, TlpKind};
use scalepool_kernel::{Cx, In, Module, Next, Out, Pending, Time};
use scalepool_link::io_ends::IoItem;
use scalepool_protocols::cxl::cxlio::flit_mode::Pth;
use scalepool_protocols::wire::Violation;
use scalepool_trace::{Body, RecordKind, Stamp, Tap, TraceVppb, TransactionHandle, TransactionNaming};
use std::collections::VecDeque;
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

/// Kinds of traffic, in the order of the counters.
const POSTED: usize = 0;
const NON_POSTED: usize = 1;
const COMPLETION: usize = 2;

/// The kind of a TLP.
fn traffic(tlp: &Tlp) -> usize {
    match tlp.kind {
        TlpKind::Completion { .. } | TlpKind::UioCompletion { .. } => COMPLETION,
        _ if tlp.is_non_posted() => NON_POSTED,
        _ => POSTED,
    }
}

/// What a port, or a logical device at it, is in the hierarchies.
pub struct IoSeat {
    /// LD-ID in front of its TLPs; `None`: the port is bound whole, and there is no such prefix.
    pub ld: Option<u16>,
    /// Hierarchy and side that it is; `None`: it is bound to no vPPB.
    pub place: Option<(usize, IoSide)>,
    /// Its agent of power management.
    pub agent: PmAgent,
}

/// A port of a switch and its link.
pub struct IoSwitchPort {
    /// One, or as many as logical devices at it are bound; none at a fabric port.
    pub seats: Vec<IoSeat>,
    /// How TLPs are written on its link.
    pub form: TlpForm,
    /// Its link has the channel of UIO.
    pub has_uio: bool,
    /// Number of its link, for traces.
    pub link: u32,
    /// Where it shows in traces.
    pub tap: Tap,
}

/// Sizes and latency of a switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IoSwitchConfig {
    /// From the link end of the input to that of the output, at least 1 \[cycles\].
    pub latency_cycles: u64,
    /// Posted requests of an input that the switch holds.
    pub queue: usize,
    /// Bytes that an output moves in a cycle.
    pub width_bytes: u64,
}

/// What a switch leaves behind for the report.
#[derive(Debug, Clone, Default)]
pub struct IoSwitchResult {
    /// TLPs passed on, by kind of traffic.
    pub switched: [u64; 3],
    /// Configuration requests that the switch carried out itself.
    pub own_config: u64,
    /// Requests that nobody claims, which were completed as Unsupported Request.
    pub unsupported: u64,
    /// Requests of UIO passed on, down and up (`fabric` IOR-6).
    pub uio: [u64; 2],
    /// Requests of UIO that the switch completed as Completer Abort (`fabric` UIO-02).
    pub uio_aborted: u64,
    /// TLPs that nobody claims and nobody waits for.
    pub dropped: u64,
    /// Of these the ones with an LD-ID that is not bound (`fabric` MLD-5).
    pub unknown_ld: u64,
    /// Resets and phases of a flush that all ports of a hierarchy have answered.
    pub power_answered: u64,
    /// Bus numbers of the hierarchies: secondary and subordinate bus of their upstream ports.
    pub buses: Vec<[u8; 2]>,
    /// What did not go as it should.
    pub events: Vec<EndpointEvent>,
    /// What port based routing counts.
    pub fabric: IoFabricCounts,
    /// Ports that were unbound, and that were bound again.
    pub rebound: [u64; 2],
    /// Accesses of the fabric manager that were answered, and that were refused because their port is bound.
    pub manager: [u64; 2],
}

/// A TLP on its way.
struct SwitchedTlp {
    /// First cycle in which it may leave.
    ready: u64,
    /// The input; `None`: the switch made it.
    from: Option<usize>,
    /// How it was known at the input, if it is a request.
    handle: Option<TransactionHandle>,
    /// LD-ID in front of it on the link of the output.
    ld: Option<u16>,
    tlp: Tlp,
    /// The header with which it leaves over an inter-switch link.
    header: Option<Pth>,
}

/// The channels of a link end.
struct IoPortChannels {
    rx: In<IoItem>,
    tx: Out<IoItem>,
}

/// What a fabric port has beside.
#[derive(Default)]
struct Isl {
    contact: ContactWatch,
    streams: StreamWatch,
    /// Requests that come, and that leave, for traces.
    names: [IslNames; 2],
    /// The other switch has no host behind it that still asks, along the tree.
    is_over: bool,
    is_lost: bool,
}

/// A TLP that came.
struct Came {
    /// The seat of its port.
    seat: usize,
    tlp: Tlp,
    handle: TransactionHandle,
}

struct IoPortState {
    own: IoSwitchPort,
    /// `None`: the end of a virtual link.
    channels: Option<IoPortChannels>,
    /// `None`: an edge port.
    isl: Option<Isl>,
    /// Its virtual link was taken down, or its device is unbound.
    is_down: bool,
    /// Requests that come from its link, and that leave on it, for traces.
    names: IoRequestNames,
    /// A posted request that came and finds no room.
    head: Option<Came>,
    /// Posted requests from here that the switch holds.
    posted: usize,
    /// What waits to leave here, by stream; an edge port has one stream.
    waiting: [VecDeque<SwitchedTlp>; 2],
    /// The stream whose turn it is.
    turn: usize,
    /// Its link was told that nothing more is asked.
    is_told: bool,
    /// End of what it sends now, in byte times since the start (cycle times bytes per cycle).
    busy_until: u64,
}

/// Where a TLP leaves.
#[derive(Debug, Clone, Copy)]
struct TlpRoute {
    port: usize,
    /// LD-ID in front of it there.
    ld: Option<u16>,
}

/// The rule that a TLP breaks which comes with an LD-ID where none belongs, or without one on the link of a device with several logical devices
/// (`fabric` IOR-5).
pub fn judge_prefix(is_shared: bool, ld: Option<u16>) -> Option<Violation> {
    if is_shared == ld.is_some() {
        return None;
    }
    let found = ld.map_or("no LD-ID".to_owned(), |ld| format!("LD-ID {ld:#x}"));
    let (expected, text) = match ld {
        Some(_) => {
            ("none", "a TLP came with an LD-ID, which is on links of devices with several logical devices alone")
        }
        None => ("one", "a TLP came without an LD-ID on the link of a device with several logical devices"),
    };
    Some(Violation::at_byte("FAB-IOR-05", 0, found, expected, text))
}

/// A TLP of a logical device that turns to a peer without having gone up (`fabric` MLD-9).
fn redirect_violation(ld: Option<u16>, side: IoSide) -> Violation {
    let found = format!("a TLP of LD {} to {side:?}", ld.unwrap_or(0));
    let text = "a TLP of a logical device turned to a peer inside the switch";
    Violation::at_byte("FAB-MLD-09", 0, found, "the upstream port", text)
}

impl IoPortState {
    fn new(own: IoSwitchPort, channels: Option<IoPortChannels>) -> IoPortState {
        IoPortState {
            names: IoRequestNames::new(own.link),
            own,
            channels,
            isl: None,
            is_down: false,
            head: None,
            posted: 0,
            waiting: Default::default(),
            turn: 0,
            is_told: false,
            busy_until: 0,
        }
    }

    /// Whether the first TLP of a stream may leave.
    fn is_ready(&self, stream: usize, cycle: u64) -> bool {
        self.waiting[stream].front().is_some_and(|first| first.ready <= cycle)
    }

    /// The stream that is next: that whose turn it is, or else the other one.
    fn next_stream(&self, cycle: u64) -> Option<usize> {
        [self.turn, 1 - self.turn].into_iter().find(|stream| self.is_ready(*stream, cycle))
    }
}

/// The switch.
pub struct IoSwitch {
    config: IoSwitchConfig,
    /// Port based routing, and how many ports have links: those behind them are ends of virtual links.
    fabric: Option<(IoFabric, usize)>,
    manager: ManagerAccesses,
    rebinds: BindingChanges,
    hierarchies: Vec<IoHierarchy>,
    /// Ports of the hierarchies: that of each side.
    ports: Vec<IoPortState>,
    /// Answers of ports below that are due, by hierarchy.
    due: Vec<usize>,
    /// Hierarchies whose host has nothing more to ask.
    is_over: Vec<bool>,
    busy_since: Option<Time>,
    mine: IoSwitchResult,
    result: Arc<Mutex<IoSwitchResult>>,
}

impl IoSwitch {
    /// A switch with its hierarchies and its ports, each with the channels of its link end.
    pub fn new(
        config: IoSwitchConfig,
        hierarchies: Vec<IoHierarchy>,
        ports: Vec<(IoSwitchPort, In<IoItem>, Out<IoItem>)>,
        result: Arc<Mutex<IoSwitchResult>>,
    ) -> IoSwitch {
        let port = |(own, rx, tx): (IoSwitchPort, In<IoItem>, Out<IoItem>)| {
            IoPortState::new(own, Some(IoPortChannels { rx, tx }))
        };
        IoSwitch {
            due: vec![0; hierarchies.len()],
            is_over: vec![false; hierarchies.len()],
            ports: ports.into_iter().map(port).collect(),
            config,
            fabric: None,
            manager: ManagerAccesses::default(),
            rebinds: BindingChanges::new(),
            hierarchies,
            busy_since: None,
            mine: IoSwitchResult::default(),
            result,
        }
    }

    /// The switch whose fabric manager makes these accesses, by time.
    pub fn managed(mut self, accesses: Vec<ManagerAccess>) -> IoSwitch {
        self.manager.due = accesses.into();
        self
    }

    /// Asks what the manager asks for until now.
    fn ask_for_manager(&mut self, at: Stamp) {
        while let Some(access) = self.manager.due.front().copied().filter(|access| access.cycle <= at.cycle) {
            self.manager.due.pop_front();
            let is_bound = self.ports[access.port].own.seats.iter().any(|seat| seat.place.is_some());
            if judge_manager(PortProtocol::Io, is_bound).is_some() {
                self.mine.manager[1] += 1;
                continue;
            }
            let tag = self.manager.tag;
            self.manager.tag = (tag + 1) % 256;
            self.manager.open.push((access.port, tag));
            // Behind a port without bindings the device is one.
            self.queue(TlpRoute { port: access.port, ld: None }, access.tlp(tag), None, None, at);
        }
    }

    /// The switch with port based routing, which makes itself known on its inter-switch links. Ends of its virtual links are ports
    /// behind those with links.
    pub fn in_fabric(mut self, mut fabric: IoFabric) -> IoSwitch {
        let count = self.ports.len();
        for port in &mut self.ports[fabric.first_isl..] {
            let names = [IslNames::new(port.own.link), IslNames::new(port.own.link)];
            port.isl = Some(Isl { names, ..Isl::default() });
            let (header, tlp) = first_contact(fabric.own);
            let contact = SwitchedTlp { ready: 0, from: None, handle: None, ld: None, tlp, header: Some(header) };
            port.waiting[stream_of(&header)].push_back(contact);
        }
        for link in &mut fabric.links {
            let agent = mem::replace(&mut link.agent, PmAgent::new(PmConfig::new(PmSide::Device)));
            let form = TlpForm::Pbr { spid: link.own, dpid: link.far };
            let seats = vec![IoSeat { ld: None, place: Some(link.place), agent }];
            self.ports
                .push(IoPortState::new(IoSwitchPort { seats, form, has_uio: true, link: 0, tap: Tap::off() }, None));
        }
        self.mine.fabric.power_given_up = fabric.may_lose.then_some(0);
        self.fabric = Some((fabric, count));
        self
    }

    /// All ports with their seats.
    fn seats(&self) -> impl Iterator<Item = ((usize, usize), &IoSeat)> {
        self.ports
            .iter()
            .enumerate()
            .flat_map(|(n, port)| port.own.seats.iter().enumerate().map(move |(k, seat)| ((n, k), seat)))
    }

    /// The port that is a side of a hierarchy, and its seat.
    fn port_of(&self, hierarchy: usize, side: IoSide) -> Option<(usize, usize)> {
        self.seats().find(|(_, seat)| seat.place == Some((hierarchy, side))).map(|(at, _)| at)
    }

    /// Downstream ports of a hierarchy, and their seats.
    fn below(&self, hierarchy: usize) -> Vec<(usize, usize)> {
        let is_below = |seat: &IoSeat| matches!(seat.place, Some((of, IoSide::Down(_))) if of == hierarchy);
        self.seats().filter(|(_, seat)| is_below(seat)).map(|(at, _)| at).collect()
    }

    // ---- what comes ----------------------------------------------------------------------------------------------

    fn take(&mut self, n: usize, cx: &mut Cx, at: Stamp) {
        loop {
            if self.ports[n].head.is_some() && self.ports[n].posted >= self.config.queue {
                return;
            }
            let came = match self.ports[n].head.take() {
                Some(head) => head,
                None => match self.ports[n].channels.as_mut().and_then(|channels| channels.rx.pop(cx)) {
                    None => return,
                    Some(IoItem::Error(_)) => continue,
                    Some(IoItem::Done) => {
                        if let Some(isl) = &mut self.ports[n].isl {
                            isl.is_over = true;
                        }
                        for seat in &self.ports[n].own.seats {
                            if let Some((of, IoSide::Up)) = seat.place {
                                self.is_over[of] = true;
                            }
                        }
                        cx.progress();
                        continue;
                    }
                    Some(IoItem::Tlp(bytes)) if self.ports[n].isl.is_some() => {
                        self.comes_over_isl(n, &bytes, at);
                        cx.progress();
                        continue;
                    }
                    Some(IoItem::Tlp(bytes)) => match self.read(n, &bytes, at) {
                        Some(read) => read,
                        None => continue,
                    },
                },
            };
            if traffic(&came.tlp) == POSTED && self.ports[n].posted >= self.config.queue {
                self.ports[n].head = Some(came);
                return;
            }
            self.pass(n, came, at);
            cx.progress();
        }
    }

    /// A TLP that came, if it is none for an agent of the port.
    fn read(&mut self, n: usize, bytes: &[u8], at: Stamp) -> Option<Came> {
        let port = &mut self.ports[n];
        let form = port.own.form;
        let (ld, bytes) = tlps::without_ld(bytes);
        let tlp = Tlp::decode(bytes, form).map_err(|error| self.mine.events.push(error.into())).ok()?;
        let Some(seat) = port.own.seats.iter().position(|seat| seat.ld == ld) else {
            self.mine.dropped += 1;
            self.mine.unknown_ld += u64::from(ld.is_some());
            let is_shared = port.own.seats.iter().any(|seat| seat.ld.is_some());
            self.mine.events.extend(judge_prefix(is_shared, ld).map(EndpointEvent::Rule));
            return None;
        };
        let handle = port.names.handle_of(ld, &tlp);
        if port.own.seats[seat].agent.receive(&tlp, at.cycle) {
            return None;
        }
        if traffic(&tlp) == COMPLETION {
            port.own.tap.record(at, RecordKind::Mark, 0, 0, || tlps::body(bytes, form));
        } else {
            port.own.tap.named(TransactionNaming::By(handle), at, RecordKind::Mark, 0, 0, || tlps::body(bytes, form));
        }
        Some(Came { seat, tlp, handle })
    }

    /// Routes a TLP and queues what leaves in its place.
    fn pass(&mut self, n: usize, came: Came, at: Stamp) {
        let Came { seat, tlp, handle } = came;
        let IoSeat { ld, place, .. } = self.ports[n].own.seats[seat];
        let Some((of, side)) = place.filter(|_| !self.is_from_unbound(n, &tlp)) else {
            if traffic(&tlp) == COMPLETION && self.manager.answered(n, &tlp) {
                self.mine.manager[0] += 1;
                return;
            }
            // No hierarchy is there, so nobody claims it.
            self.mine.dropped += 1;
            return;
        };
        let is_request = traffic(&tlp) != COMPLETION;
        let back = TlpRoute { port: n, ld };
        let came = side;
        match self.hierarchies[of].route(side, tlp) {
            IoRouted::To(side, tlp) if tlp.uio_span().is_some() && !self.has_uio(of, side) => {
                self.mine.unsupported += 1;
                let answer = self.hierarchies[of].unsupported(&tlp);
                self.answer_at(back, answer, at);
            }
            IoRouted::To(side, tlp) => {
                if tlp.uio_span().is_some() {
                    let wrong = self.hierarchies[of].judge_uio(came, side, &tlp);
                    self.mine.events.extend(wrong.map(EndpointEvent::Rule));
                    self.mine.uio[usize::from(side == IoSide::Up)] += 1;
                }
                self.leave(back, (of, side), tlp, is_request.then_some(handle), at);
            }
            IoRouted::ToAll(sides, tlp) => {
                for side in sides {
                    self.leave(back, (of, side), tlp.clone(), is_request.then_some(handle), at);
                }
            }
            IoRouted::Aborted(answer) => {
                self.mine.uio_aborted += 1;
                self.answer_at(back, answer, at);
            }
            IoRouted::Completed(answer) => {
                self.mine.own_config += 1;
                self.answer_at(back, answer, at);
            }
            IoRouted::Unsupported(answer) => {
                self.mine.unsupported += 1;
                self.answer_at(back, answer, at);
            }
            IoRouted::Dropped => self.mine.dropped += 1,
        }
    }

    /// Queues a TLP that came one way at a side of a hierarchy.
    fn leave(
        &mut self,
        TlpRoute { port: n, ld }: TlpRoute,
        (of, side): (usize, IoSide),
        tlp: Tlp,
        handle: Option<TransactionHandle>,
        at: Stamp,
    ) {
        match self.port_of(of, side) {
            Some((to, _)) if self.ports[to].channels.is_none() => {
                self.send_over_fabric(to, tlp, Some(n), handle, at);
            }
            Some((to, seat)) => {
                if ld.is_some() && side != IoSide::Up {
                    self.mine.events.push(EndpointEvent::Rule(redirect_violation(ld, side)));
                }
                self.mine.switched[traffic(&tlp)] += 1;
                self.ports[n].posted += usize::from(traffic(&tlp) == POSTED);
                let way = TlpRoute { port: to, ld: self.ports[to].own.seats[seat].ld };
                self.queue(way, tlp, Some(n), handle, at);
            }
            None => self.mine.dropped += 1,
        }
    }

    /// Whether UIO can leave at a side of a hierarchy.
    fn has_uio(&self, hierarchy: usize, side: IoSide) -> bool {
        self.port_of(hierarchy, side).is_some_and(|(port, _)| self.ports[port].own.has_uio)
    }

    /// Sends an answer of the switch back where the request came.
    fn answer_at(&mut self, back: TlpRoute, answer: Tlp, at: Stamp) {
        match self.ports[back.port].channels {
            Some(_) => self.queue(back, answer, None, None, at),
            None => self.send_over_fabric(back.port, answer, None, None, at),
        }
    }

    fn queue(&mut self, to: TlpRoute, tlp: Tlp, from: Option<usize>, handle: Option<TransactionHandle>, at: Stamp) {
        // The channel to the link end takes the last cycle.
        let ready = at.cycle + self.config.latency_cycles - 1;
        let passing = SwitchedTlp { ready, from, handle, ld: to.ld, tlp, header: None };
        self.ports[to.port].waiting[0].push_back(passing);
    }

    // ---- port based routing --------------------------------------------------------------------------------------

    /// A TLP that came over the inter-switch link at a port.
    fn comes_over_isl(&mut self, n: usize, bytes: &[u8], at: Stamp) {
        let Some((fabric, first)) = &self.fabric else { return };
        let Some(isl) = &mut self.ports[n].isl else { return };
        if isl.is_lost {
            self.mine.fabric.lost += 1;
            return;
        }
        let form = TlpForm::Pbr { spid: 0, dpid: 0 };
        let read = Tlp::pbr_header(bytes).and_then(|header| Ok((header, Tlp::decode(bytes, form)?)));
        let (header, tlp) = match read {
            Ok(read) => read,
            Err(error) => return self.mine.events.push(error.into()),
        };
        let early = isl.contact.judge(&header, Some(&tlp));
        self.mine.events.extend(early.map(EndpointEvent::Rule));
        let handle = isl.names[0].handle(&header, &tlp);
        let is_request = traffic(&tlp) != COMPLETION;
        let naming = if is_request { TransactionNaming::By(handle) } else { TransactionNaming::default() };
        self.ports[n].own.tap.named(naming, at, RecordKind::Mark, 0, 0, || isl_body(bytes, &header));
        if is_first_contact(&header, &tlp) {
            self.mine.fabric.contacts += 1;
            return;
        }
        let ours = fabric.links.iter().position(|link| (link.far, link.own) == (header.spid, header.dpid));
        let Some(ours) = ours else { return self.forward(n, &header, tlp, is_request.then_some(handle), at) };
        self.mine.events.extend(fabric.links[ours].judge(&header).map(EndpointEvent::Rule));
        let port = first + ours;
        if self.ports[port].is_down {
            self.mine.fabric.lost += 1;
            return;
        }
        if let Some(message) = LinkMessage::of(&tlp) {
            return self.link_message(ours, message, at);
        }
        // The end of a virtual link has one seat.
        let seat = self.ports[port].own.seats.first_mut();
        if !seat.is_some_and(|seat| seat.agent.receive(&tlp, at.cycle)) {
            self.pass(port, Came { seat: 0, tlp, handle }, at);
        }
    }

    /// Passes a TLP on that came over one inter-switch link and is for no virtual port here.
    fn forward(&mut self, n: usize, header: &Pth, tlp: Tlp, handle: Option<TransactionHandle>, at: Stamp) {
        let Some((fabric, _)) = &self.fabric else { return };
        match fabric.tables.port(n, header.dpid) {
            None => self.mine.fabric.no_route += 1,
            Some(to) if to < fabric.first_isl || to == n => self.mine.fabric.not_claimed += 1,
            Some(to) if self.ports[to].isl.as_ref().is_none_or(|isl| isl.is_lost) => self.mine.fabric.lost += 1,
            Some(to) => {
                self.mine.fabric.forwarded += 1;
                self.queue_with_header(to, (*header, tlp), (None, handle), at);
            }
        }
    }

    fn queue_with_header(
        &mut self,
        to: usize,
        (header, tlp): (Pth, Tlp),
        (from, handle): (Option<usize>, Option<TransactionHandle>),
        at: Stamp,
    ) {
        let ready = at.cycle + self.config.latency_cycles - 1;
        let passing = SwitchedTlp { ready, from, handle, ld: None, tlp, header: Some(header) };
        self.ports[to].waiting[stream_of(&header)].push_back(passing);
    }

    /// Sends a TLP over the virtual link that ends at a port; one that came at `from`, if the switch did not make it.
    fn send_over_fabric(
        &mut self,
        port: usize,
        tlp: Tlp,
        from: Option<usize>,
        handle: Option<TransactionHandle>,
        at: Stamp,
    ) {
        let Some((fabric, first)) = &self.fabric else { return };
        let link = &fabric.links[port - first];
        let (of, side) = link.place;
        if self.ports[port].is_down {
            self.mine.fabric.lost += 1;
            return;
        }
        let (header, to) = (link.header(), fabric.tables.port(link.ingress, link.far));
        let is_open = to.is_some_and(|to| self.ports[to].isl.as_ref().is_some_and(|isl| !isl.is_lost));
        if let Some(to) = to.filter(|_| is_open) {
            // What came over a virtual link is held by no input here.
            let from = from.filter(|from| self.ports[*from].channels.is_some());
            if let Some(from) = from.filter(|_| traffic(&tlp) == POSTED) {
                self.ports[from].posted += 1;
            }
            if from.is_some() {
                self.mine.switched[traffic(&tlp)] += 1;
            }
            return self.queue_with_header(to, (header, tlp), (from, handle), at);
        }
        let is_first = matches!(side, IoSide::Down(_));
        if fabric.ur_on_unknown && is_first && tlp.is_non_posted() && from.is_some() {
            let answer = self.hierarchies[of].unsupported(&tlp);
            self.mine.events.extend(judge_unroutable(fabric.ur_on_unknown, is_first, true).map(EndpointEvent::Rule));
            self.mine.fabric.unknown_completed += 1;
            if let Some(from) = from {
                // Ports of a fabric have no logical devices.
                self.answer_at(TlpRoute { port: from, ld: None }, answer, at);
            }
            return;
        }
        match to {
            None => self.mine.fabric.no_route += 1,
            Some(_) => self.mine.fabric.lost += 1,
        }
    }

    /// A message of a reset that came over a virtual link.
    fn link_message(&mut self, n: usize, message: LinkMessage, at: Stamp) {
        let Some((fabric, first)) = &mut self.fabric else { return };
        let (link, port) = (&mut fabric.links[n], *first + n);
        match (link.place, message) {
            ((of, IoSide::Down(vppb)), LinkMessage::LinkUp) => {
                // One that was said twice is answered twice.
                if link.reset.0.take().is_some() {
                    self.hierarchies[of].link_up(vppb);
                    self.mine.fabric.resets += 1;
                }
            }
            ((of, _), message) => {
                let [_, interval] = fabric.reset_cycles;
                let wrong = link.reset.1.judge(message, at.cycle, (interval, interval / 2));
                self.mine.events.extend(wrong.map(EndpointEvent::Rule));
                match message {
                    LinkMessage::AssertPerst | LinkMessage::AssertReset => {
                        self.hierarchies[of].reset();
                        self.mine.fabric.resets_taken += 1;
                    }
                    LinkMessage::Deassert => self.send_over_fabric(port, LinkMessage::LinkUp.tlp(), None, None, at),
                    LinkMessage::LinkUp => (),
                }
            }
        }
    }

    /// Sends what resets have to say, and tells the manager of those that were in vain.
    fn reset_over_fabric(&mut self, at: Stamp) {
        let count = self.fabric.as_ref().map_or(0, |(fabric, _)| fabric.links.len());
        for n in 0..count {
            let Some((fabric, first)) = &mut self.fabric else { return };
            let [hold, _] = fabric.reset_cycles;
            let (reset, port) = (&mut fabric.links[n].reset.0, *first + n);
            match reset.as_mut().and_then(|reset| reset.act(at.cycle, hold)) {
                Some(ResetAction::Send(message)) => self.send_over_fabric(port, message.tlp(), None, None, at),
                Some(ResetAction::GiveUp) => {
                    *reset = None;
                    self.mine.fabric.resets_given_up += 1;
                }
                None => (),
            }
        }
    }

    /// Carries out what happens to the fabric until now.
    fn change(&mut self, at: Stamp) {
        while let Some((fabric, first)) = &mut self.fabric
            && let Some((_, change)) = fabric.changes.pop_if(|(due, _)| *due <= at.cycle)
        {
            match change {
                IoChange::Lost(port) => {
                    let Some(isl) = &mut self.ports[port].isl else { continue };
                    isl.is_lost = true;
                    for waiting in mem::take(&mut self.ports[port].waiting).into_iter().flatten() {
                        self.mine.fabric.lost += 1;
                        if let Some(from) = waiting.from.filter(|_| traffic(&waiting.tlp) == POSTED) {
                            self.ports[from].posted -= 1;
                        }
                    }
                }
                IoChange::Rerouted(tables) => fabric.tables = *tables,
                IoChange::Error { is_contained } => self.mine.fabric.contained[usize::from(is_contained)] += 1,
                IoChange::Reset(of, assert) => {
                    let [_, interval] = fabric.reset_cycles;
                    self.hierarchies[of].reset();
                    for (n, link) in fabric.links.iter_mut().enumerate() {
                        if let (own, IoSide::Down(vppb)) = link.place
                            && own == of
                            && !self.ports[*first + n].is_down
                        {
                            link.reset.0 = Some(VirtualReset::new(assert, at.cycle, interval));
                            self.hierarchies[of].link_down(vppb);
                        }
                    }
                }
                IoChange::Unbound(own, far) => {
                    let is_it = |pids: (u16, u16)| pids == (own.number(), far.number());
                    let Some(n) = fabric.links.iter().position(|link| is_it((link.own, link.far))) else { continue };
                    let (of, side) = fabric.links[n].place;
                    let port = *first + n;
                    if mem::replace(&mut self.ports[port].is_down, true) {
                        continue;
                    }
                    fabric.links[n].reset.0 = None;
                    if let IoSide::Down(vppb) = side {
                        self.mine.fabric.surprise_downs += 1;
                        self.hierarchies[of].link_down(vppb);
                    }
                }
            }
        }
    }

    /// Whether no host of this switch asks any more, nor any behind an inter-switch link of the tree but `except`.
    fn is_all_over(&self, except: Option<usize>) -> bool {
        let Some((fabric, _)) = &self.fabric else { return false };
        let is_over = |port: usize| self.ports[port].isl.as_ref().is_none_or(|isl| isl.is_over);
        let mut own = (0..self.hierarchies.len()).filter(|of| self.is_of_own_host(*of));
        // A release of a reset is said again after a long time, and needs its link.
        let resets = fabric.links.iter().any(|link| link.reset.0.is_some())
            || fabric.changes.iter().any(|(_, change)| matches!(change, IoChange::Reset(..)));
        !resets
            && own.all(|of| self.is_over[of])
            && fabric.tree.iter().filter(|port| Some(**port) != except).all(|port| is_over(*port))
    }

    /// Whether the host of a hierarchy is at a port of this switch.
    fn is_of_own_host(&self, of: usize) -> bool {
        self.port_of(of, IoSide::Up).is_some_and(|(port, _)| self.ports[port].channels.is_some())
    }

    // ---- power management ----------------------------------------------------------------------------------------

    /// Hands resets and flushes on, and answers them when all below have.
    fn manage(&mut self, at: Stamp) {
        let all: Vec<(usize, usize)> = self.seats().map(|(at, _)| at).collect();
        for (n, k) in all {
            let seat = &mut self.ports[n].own.seats[k];
            seat.agent.expire(at.cycle);
            let happened = seat.agent.take_happened();
            self.mine.events.extend(seat.agent.take_events());
            let Some((of, _)) = seat.place else { continue };
            for one in happened {
                let ask = match one {
                    Happened::ResetAnnounced(kind) => PmRequest::ResetPrep(kind),
                    Happened::FlushPhase(phase) => PmRequest::FlushPhase(phase),
                    // A port whose device is silent is not waited for: the host gets the answer of the others (our own choice).
                    Happened::ResetAcknowledged | Happened::FlushAnswered(_) | Happened::GivenUp => {
                        let is_virtual = self.ports[n].channels.is_none();
                        if let Some(given_up) = self.mine.fabric.power_given_up.as_mut().filter(|_| is_virtual) {
                            *given_up += u64::from(one == Happened::GivenUp);
                        }
                        self.due[of] -= 1;
                        self.answer(of);
                        continue;
                    }
                    _ => continue,
                };
                let mut below = self.below(of);
                below.retain(|(port, _)| !self.ports[*port].is_down);
                self.due[of] += below.len();
                for (port, seat) in below {
                    self.ports[port].own.seats[seat].agent.ask(ask, at.cycle);
                }
                self.answer(of);
            }
        }
    }

    /// Answers the host if nothing below is due any more.
    fn answer(&mut self, hierarchy: usize) {
        if self.due[hierarchy] == 0
            && let Some((port, seat)) = self.port_of(hierarchy, IoSide::Up)
        {
            self.mine.power_answered += 1;
            self.ports[port].own.seats[seat].agent.release();
        }
    }

    // ---- what goes -----------------------------------------------------------------------------------------------

    /// Sends what may leave at a port; whether the port was limited by its width.
    fn send(&mut self, n: usize, cx: &mut Cx, at: Stamp) -> bool {
        for k in 0..self.ports[n].own.seats.len() {
            while self.has_room(n, cx)
                && let Some(message) = self.ports[n].own.seats[k].agent.next_message()
            {
                let ld = self.ports[n].own.seats[k].ld;
                self.push(n, (ld, &message), None, None, cx, at);
            }
        }
        let width = self.config.width_bytes;
        while let Some(stream) = self.ports[n].next_stream(at.cycle) {
            if self.ports[n].busy_until >= (at.cycle + 1) * width {
                return true;
            }
            if !self.has_room(n, cx) {
                return false;
            }
            let port = &mut self.ports[n];
            let Some(SwitchedTlp { from, handle, ld, tlp, header, .. }) = port.waiting[stream].pop_front() else {
                return false;
            };
            port.turn = 1 - stream;
            let other_is_ready = port.is_ready(1 - stream, at.cycle);
            let unfair = port.isl.as_mut().and_then(|isl| isl.streams.leaves(stream, other_is_ready));
            self.mine.events.extend(unfair.map(EndpointEvent::Rule));
            if let Some(from) = from.filter(|_| traffic(&tlp) == POSTED) {
                self.ports[from].posted -= 1;
            }
            self.push(n, (ld, &tlp), header, handle, cx, at);
        }
        self.end(n, cx);
        false
    }

    /// Whether a port has a link whose end has room.
    fn has_room(&self, n: usize, cx: &Cx) -> bool {
        self.ports[n].channels.as_ref().is_some_and(|channels| channels.tx.has_room(cx, 1))
    }

    /// Sends what the agents at the ends of virtual links have to say.
    fn speak_over_fabric(&mut self, at: Stamp) {
        let Some((_, first)) = self.fabric else { return };
        for n in first..self.ports.len() {
            while !self.ports[n].is_down
                && let Some(message) = self.ports[n].own.seats.first_mut().and_then(|seat| seat.agent.next_message())
            {
                self.send_over_fabric(n, message, None, None, at);
            }
        }
    }

    /// Tells the link of a downstream port that nothing more is asked, so that it may rest.
    fn end(&mut self, n: usize, cx: &mut Cx) {
        let is_over_at = |seat: &IoSeat| match seat.place {
            Some((_, IoSide::Up)) => false,
            // The host is at another switch.
            Some((of, IoSide::Down(_))) if self.fabric.is_some() && !self.is_of_own_host(of) => self.is_all_over(None),
            Some((of, IoSide::Down(_))) => self.is_over[of],
            None => !self.manager.uses(n),
        };
        let is_over = match (&self.ports[n].isl, &self.fabric) {
            (Some(_), Some((fabric, _))) => self.is_all_over(fabric.tree.contains(&n).then_some(n)),
            _ => self.ports[n].own.seats.iter().all(is_over_at),
        };
        let port = &mut self.ports[n];
        let is_at_rest = |seat: &IoSeat| seat.agent.is_ready() && seat.agent.is_quiet();
        let is_quiet = port.waiting.iter().all(VecDeque::is_empty) && port.own.seats.iter().all(is_at_rest);
        if is_over
            && is_quiet
            && !port.is_told
            && let Some(channels) = &mut port.channels
        {
            port.is_told = channels.tx.push(cx, IoItem::Done).is_ok();
        }
    }

    /// Sends a TLP at a port that has room for it.
    fn push(
        &mut self,
        n: usize,
        (ld, tlp): (Option<u16>, &Tlp),
        header: Option<Pth>,
        handle: Option<TransactionHandle>,
        cx: &mut Cx,
        at: Stamp,
    ) {
        let port = &mut self.ports[n];
        let bytes = header.map_or_else(|| tlp.encode(port.own.form), |header| tlp.encode_behind(&header));
        let Ok(bytes) = bytes.map_err(|error| self.mine.events.push(error.into())) else { return };
        let bytes = tlps::with_ld(ld, bytes);
        let start = port.busy_until.max(at.cycle * self.config.width_bytes);
        port.busy_until = start + bytes.len() as u64;
        // Requests of a host are known at the device by their order.
        let is_up = port.own.seats.iter().any(|seat| matches!(seat.place, Some((_, IoSide::Up))));
        let leaving = match (&mut port.isl, &header) {
            (Some(isl), Some(header)) => Some(isl.names[1].handle(header, tlp)),
            _ => (!is_up).then(|| port.names.handle_of(ld, tlp)),
        };
        if let (Some(came), Some(leaving)) = (handle, leaving) {
            let named = TransactionNaming::Through(came, leaving);
            // In a fabric the virtual link, which its header names, says whose it is.
            let seat = port.own.seats.iter().find(|seat| self.fabric.is_none() && seat.ld == ld);
            let vppb = seat.and_then(|seat| match seat.place? {
                (vcs, IoSide::Down(vppb)) => Some(TraceVppb { vcs, vppb }),
                (_, IoSide::Up) => None,
            });
            port.own.tap.named(named, at, RecordKind::Mark, 0, 0, || Body::Mark("passed_on").via(vppb));
        }
        if let Some(channels) = &mut port.channels {
            let _ = channels.tx.push(cx, IoItem::Tlp(bytes));
        }
        cx.progress();
    }

    fn held(&self) -> usize {
        let of = |port: &IoPortState| {
            port.waiting.iter().map(VecDeque::len).sum::<usize>() + usize::from(port.head.is_some())
        };
        self.ports.iter().map(of).sum()
    }
}

impl Module for IoSwitch {
    fn eval(&mut self, cx: &mut Cx) -> Next {
        let at = Stamp { t_fs: cx.now().as_fs(), cycle: cx.cycle() };
        self.change(at);
        self.rebind(at.cycle);
        self.ask_for_manager(at);
        (0..self.ports.len()).for_each(|n| self.take(n, cx, at));
        self.manage(at);
        self.speak_over_fabric(at);
        self.reset_over_fabric(at);
        let mut is_slow = false;
        for n in 0..self.ports.len() {
            is_slow |= self.send(n, cx, at);
        }
        self.busy_since = if self.held() > 0 { self.busy_since.or(Some(cx.now())) } else { None };
        let has_room = |port: &IoPortState| port.head.is_some() && port.posted < self.config.queue;
        if is_slow || self.ports.iter().any(has_room) {
            return Next::Busy;
        }
        let waiting = self.ports.iter().flat_map(|port| port.waiting.iter().filter_map(VecDeque::front));
        let ready = waiting.map(|one| one.ready).filter(|ready| *ready > at.cycle);
        let overdue = self.seats().filter_map(|(_, seat)| seat.agent.due());
        let changes = self.fabric.as_ref().and_then(|(fabric, _)| Some(fabric.changes.last()?.0));
        let links = self.fabric.iter().flat_map(|(fabric, _)| &fabric.links);
        let resets: Vec<u64> = links.filter_map(|link| Some(link.reset.0?.due())).collect();
        // The next release of a reset is a timer.
        if let Some(due) = resets.iter().min() {
            cx.waits_until(cx.in_cycles(due.saturating_sub(at.cycle)));
        }
        let asked = self.manager.due.front().map(|access| access.cycle);
        let rebinds = self.rebinds.front().map(|change| change.cycle);
        match ready.chain(overdue).chain(changes).chain(resets).chain(asked).chain(rebinds).min() {
            Some(cycle) => Next::At(cx.in_cycles(cycle.saturating_sub(at.cycle).max(1))),
            // What is ready and finds no room is woken by the link end that makes some.
            None => Next::Idle,
        }
    }

    fn idle_ok(&self) -> Result<(), Pending> {
        // What agents say over a virtual link may be lost with a link on its way, and credits too, wherever that is; what they wait
        // for has a time-out.
        let may_lose = self.fabric.as_ref().is_some_and(|(fabric, _)| fabric.may_lose);
        let is_quiet = |port: &IoPortState| {
            let is_cut = port.is_down || may_lose && port.channels.is_none();
            is_cut || port.own.seats.iter().all(|seat| seat.agent.is_quiet())
        };
        match self.held() {
            0 if self.ports.iter().all(is_quiet) => Ok(()),
            0 => Err(Pending::new("power management messages to send or answers to collect", Time::ZERO)),
            held => Err(Pending::new(format!("{held} TLPs to send"), self.busy_since.unwrap_or(Time::ZERO))),
        }
    }

    fn publish(&self) {
        let buses = |one: &IoHierarchy| {
            let [_, secondary, subordinate] = one.upstream().buses();
            [secondary, subordinate]
        };
        *self.result.lock().unwrap_or_else(PoisonError::into_inner) =
            IoSwitchResult { buses: self.hierarchies.iter().map(buses).collect(), ..self.mine.clone() };
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, u64)) {
        visit("held", self.held() as u64);
    }
}
