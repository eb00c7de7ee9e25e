//! The CXL.io side of a switch with virtual hierarchies: bus numbers, windows, power management (`fabric` §1.1, §1.4, §1.5).
//!
//! Modelled: upstream ports, each the top of a virtual hierarchy ([`hierarchy`]); downstream ports, of which each is bound whole to
//! one vPPB or to none, or its logical devices to vPPBs of several hierarchies, with their LD-ID in front of every TLP ([`IoSeat`]); a queue for each output, which TLPs leave in the order in which they came, so that nothing passes a posted
//! request; agents of power management at every port, of which that towards the host answers resets and flushes when those of all
//! ports of its hierarchy have been answered, or given up (`fabric` RST-8). Detail: whole TLPs; a TLP occupies a port for its bytes; a pipeline is a
//! latency. Posted requests of an input wait in the link when the switch holds as many of them as its queue has room for. Requests with
//! a completion, and completions, are always taken: there are no more of them than requesters have tags. Left out: the
//! logical device of the fabric manager, changes of bindings, AER, containment, what a reset does to the ports. TLPs pass others in the
//! link ends behind the outputs (`fabric` ORD-2).
//!
//! A walk through one cycle: everything that came is taken, read, and handed to the agent of its port or routed; it may leave when
//! the latency of the switch is over. Agents speak. From each output the first TLPs leave, as long as the port is free and its
//! link end has room.

pub mod hierarchy;

use super::tlps::{self, IoRequestNames};
use hierarchy::{IoHierarchy, IoRouted, IoSide};
use scalepool_endpoint::event::EndpointEvent;
use scalepool_endpoint::pm::{Happened, PmAgent, PmRequest};
use scalepool_endpoint::tlp::{Tlp, TlpForm, TlpKind};
use scalepool_kernel::{Cx, In, Module, Next, Out, Pending, Time};
use scalepool_link::io_ends::IoItem;
use scalepool_protocols::wire::Violation;
use scalepool_trace::{Body, RecordKind, Stamp, Tap, TransactionHandle, TransactionNaming};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// Kinds of traffic, in the order of the counters.
const POSTED: usize = 0;
const NON_POSTED: usize = 1;
const COMPLETION: usize = 2;

/// The kind of a TLP.
fn traffic(tlp: &Tlp) -> usize {
    match tlp.kind {
        TlpKind::Completion { .. } => COMPLETION,
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
    /// One, or as many as logical devices at it are bound.
    pub seats: Vec<IoSeat>,
    /// How TLPs are written on its link.
    pub form: TlpForm,
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
}

/// A TLP on its way.
struct Passing {
    /// First cycle in which it may leave.
    ready: u64,
    /// The input; `None`: the switch made it.
    from: Option<usize>,
    /// How it was known at the input, if it is a request.
    handle: Option<TransactionHandle>,
    /// LD-ID in front of it on the link of the output.
    ld: Option<u16>,
    tlp: Tlp,
}

/// A TLP that came.
struct Came {
    /// The seat of its port.
    seat: usize,
    tlp: Tlp,
    handle: TransactionHandle,
}

struct Port {
    own: IoSwitchPort,
    rx: In<IoItem>,
    tx: Out<IoItem>,
    /// Requests that come from its link, and that leave on it, for traces.
    names: IoRequestNames,
    /// A posted request that came and finds no room.
    head: Option<Came>,
    /// Posted requests from here that the switch holds.
    posted: usize,
    /// What waits to leave here.
    waiting: VecDeque<Passing>,
    /// Its link was told that nothing more is asked.
    is_told: bool,
    /// End of what it sends now, in byte times since the start (cycle times bytes per cycle).
    busy_until: u64,
}

/// Where a TLP leaves.
#[derive(Debug, Clone, Copy)]
struct Way {
    port: usize,
    /// LD-ID in front of it there.
    ld: Option<u16>,
}

/// A TLP with an LD-ID where none belongs, or without one on the link of a device with several logical devices (`fabric` IOR-5).
fn prefix_violation(ld: Option<u16>) -> Violation {
    let found = ld.map_or("no LD-ID".to_owned(), |ld| format!("LD-ID {ld:#x}"));
    let (expected, text) = match ld {
        Some(_) => {
            ("none", "a TLP came with an LD-ID, which is on links of devices with several logical devices alone")
        }
        None => ("one", "a TLP came without an LD-ID on the link of a device with several logical devices"),
    };
    Violation::at_byte("FAB-IOR-05", 0, found, expected, text)
}

/// A TLP of a logical device that turns to a peer without having gone up (`fabric` MLD-9).
fn redirect_violation(ld: Option<u16>, side: IoSide) -> Violation {
    let found = format!("a TLP of LD {} to {side:?}", ld.unwrap_or(0));
    let text = "a TLP of a logical device turned to a peer inside the switch";
    Violation::at_byte("FAB-MLD-09", 0, found, "the upstream port", text)
}

/// The switch.
pub struct IoSwitch {
    config: IoSwitchConfig,
    hierarchies: Vec<IoHierarchy>,
    /// Ports of the hierarchies: that of each side.
    ports: Vec<Port>,
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
        let port = |(own, rx, tx): (IoSwitchPort, In<IoItem>, Out<IoItem>)| Port {
            names: IoRequestNames::new(own.link),
            own,
            rx,
            tx,
            head: None,
            posted: 0,
            waiting: VecDeque::new(),
            is_told: false,
            busy_until: 0,
        };
        IoSwitch {
            due: vec![0; hierarchies.len()],
            is_over: vec![false; hierarchies.len()],
            ports: ports.into_iter().map(port).collect(),
            config,
            hierarchies,
            busy_since: None,
            mine: IoSwitchResult::default(),
            result,
        }
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
                None => match self.ports[n].rx.pop(cx) {
                    None => return,
                    Some(IoItem::Error(_)) => continue,
                    Some(IoItem::Done) => {
                        for seat in &self.ports[n].own.seats {
                            if let Some((of, IoSide::Up)) = seat.place {
                                self.is_over[of] = true;
                            }
                        }
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
            if is_shared != ld.is_some() {
                self.mine.events.push(EndpointEvent::Rule(prefix_violation(ld)));
            }
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
        let Some((of, side)) = place else {
            // No hierarchy is there, so nobody claims it.
            self.mine.dropped += 1;
            return;
        };
        let is_request = traffic(&tlp) != COMPLETION;
        let back = Way { port: n, ld };
        match self.hierarchies[of].route(side, tlp) {
            IoRouted::To(side, tlp) => match self.port_of(of, side) {
                Some((to, seat)) => {
                    if ld.is_some() && side != IoSide::Up {
                        self.mine.events.push(EndpointEvent::Rule(redirect_violation(ld, side)));
                    }
                    self.mine.switched[traffic(&tlp)] += 1;
                    self.ports[n].posted += usize::from(traffic(&tlp) == POSTED);
                    let way = Way { port: to, ld: self.ports[to].own.seats[seat].ld };
                    self.queue(way, tlp, Some(n), is_request.then_some(handle), at);
                }
                None => self.mine.dropped += 1,
            },
            IoRouted::Completed(answer) => {
                self.mine.own_config += 1;
                self.queue(back, answer, None, None, at);
            }
            IoRouted::Unsupported(answer) => {
                self.mine.unsupported += 1;
                self.queue(back, answer, None, None, at);
            }
            IoRouted::Dropped => self.mine.dropped += 1,
        }
    }

    fn queue(&mut self, to: Way, tlp: Tlp, from: Option<usize>, handle: Option<TransactionHandle>, at: Stamp) {
        // The channel to the link end takes the last cycle.
        let ready = at.cycle + self.config.latency_cycles - 1;
        self.ports[to.port].waiting.push_back(Passing { ready, from, handle, ld: to.ld, tlp });
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
                        self.due[of] -= 1;
                        self.answer(of);
                        continue;
                    }
                    _ => continue,
                };
                let below = self.below(of);
                self.due[of] += below.len();
                below.into_iter().for_each(|(port, seat)| self.ports[port].own.seats[seat].agent.ask(ask, at.cycle));
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
            while self.ports[n].tx.has_room(cx, 1)
                && let Some(message) = self.ports[n].own.seats[k].agent.next_message()
            {
                let ld = self.ports[n].own.seats[k].ld;
                self.push(n, (ld, &message), None, cx, at);
            }
        }
        let width = self.config.width_bytes;
        while self.ports[n].waiting.front().is_some_and(|first| first.ready <= at.cycle) {
            if self.ports[n].busy_until >= (at.cycle + 1) * width {
                return true;
            }
            if !self.ports[n].tx.has_room(cx, 1) {
                return false;
            }
            let Some(Passing { from, handle, ld, tlp, .. }) = self.ports[n].waiting.pop_front() else { return false };
            if let Some(from) = from.filter(|_| traffic(&tlp) == POSTED) {
                self.ports[from].posted -= 1;
            }
            self.push(n, (ld, &tlp), handle, cx, at);
        }
        self.end(n, cx);
        false
    }

    /// Tells the link of a downstream port that nothing more is asked, so that it may rest.
    fn end(&mut self, n: usize, cx: &mut Cx) {
        let port = &mut self.ports[n];
        let is_over = port.own.seats.iter().all(|seat| match seat.place {
            Some((_, IoSide::Up)) => false,
            Some((of, IoSide::Down(_))) => self.is_over[of],
            None => true,
        });
        let is_at_rest = |seat: &IoSeat| seat.agent.is_ready() && seat.agent.is_quiet();
        let is_quiet = port.waiting.is_empty() && port.own.seats.iter().all(is_at_rest);
        if is_over && is_quiet && !port.is_told {
            port.is_told = port.tx.push(cx, IoItem::Done).is_ok();
        }
    }

    /// Sends a TLP at a port that has room for it.
    fn push(
        &mut self,
        n: usize,
        (ld, tlp): (Option<u16>, &Tlp),
        handle: Option<TransactionHandle>,
        cx: &mut Cx,
        at: Stamp,
    ) {
        let port = &mut self.ports[n];
        let Ok(bytes) = tlp.encode(port.own.form).map_err(|error| self.mine.events.push(error.into())) else { return };
        let bytes = tlps::with_ld(ld, bytes);
        let start = port.busy_until.max(at.cycle * self.config.width_bytes);
        port.busy_until = start + bytes.len() as u64;
        // Requests of a host are known at the device by their order.
        let is_up = port.own.seats.iter().any(|seat| matches!(seat.place, Some((_, IoSide::Up))));
        let leaving = (!is_up).then(|| port.names.handle_of(ld, tlp));
        if let (Some(came), Some(leaving)) = (handle, leaving) {
            let named = TransactionNaming::Through(came, leaving);
            port.own.tap.named(named, at, RecordKind::Mark, 0, 0, || Body::Mark("passed_on"));
        }
        let _ = port.tx.push(cx, IoItem::Tlp(bytes));
        cx.progress();
    }

    fn held(&self) -> usize {
        let of = |port: &Port| port.waiting.len() + usize::from(port.head.is_some());
        self.ports.iter().map(of).sum()
    }
}

impl Module for IoSwitch {
    fn eval(&mut self, cx: &mut Cx) -> Next {
        let at = Stamp { t_fs: cx.now().as_fs(), cycle: cx.cycle() };
        (0..self.ports.len()).for_each(|n| self.take(n, cx, at));
        self.manage(at);
        let mut is_slow = false;
        for n in 0..self.ports.len() {
            is_slow |= self.send(n, cx, at);
        }
        self.busy_since = if self.held() > 0 { self.busy_since.or(Some(cx.now())) } else { None };
        let has_room = |port: &Port| port.head.is_some() && port.posted < self.config.queue;
        if is_slow || self.ports.iter().any(has_room) {
            return Next::Busy;
        }
        let waiting = self.ports.iter().filter_map(|port| port.waiting.front());
        let ready = waiting.map(|one| one.ready).filter(|ready| *ready > at.cycle);
        let overdue = self.seats().filter_map(|(_, seat)| seat.agent.due());
        match ready.chain(overdue).min() {
            Some(cycle) => Next::At(cx.in_cycles(cycle.saturating_sub(at.cycle).max(1))),
            // What is ready and finds no room is woken by the link end that makes some.
            None => Next::Idle,
        }
    }

    fn idle_ok(&self) -> Result<(), Pending> {
        match self.held() {
            0 if self.seats().all(|(_, seat)| seat.agent.is_quiet()) => Ok(()),
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
