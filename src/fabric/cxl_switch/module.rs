//! A switch as a module of the kernel, whatever routes its messages ([`Switching`]).
//!
//! Modelled: see [the module text](super). Detail: a port accepts as many messages of its link in a cycle as its width
//! allows; a message occupies the port for 16 bytes, or for 80 bytes with a cache line; the crossbar moves `speedup`
//! times as much. Messages that the switch generates itself enter the crossbar at an input of their own. Left out: see
//! [the module text](super).
//!
//! A walk through one cycle: the crossbar grants the messages that are ready. Messages that have passed the stages after
//! the grant leave as far as the channels of the link ends have room; where messages of several classes can
//! leave and the port cannot move all of them, the arbiter of the port selects the class, because with a `speedup` they wait
//! here and no longer at the grant. Each port accepts messages, its classes in turn, looks up their route, and queues them;
//! they become ready after the stages before the grant. Latencies are rounded up to whole cycles, and the last cycle is that of the channel to the link end.

use super::aer::{AerRecord, ErrorMessage};
use super::command::ManagerEvent;
use super::crossbar::{Pace, PushedClass, VoqConfig, VoqCrossbar, classes_of};
use super::cut_through;
use super::plug::PlugStep;
use super::plug_watch::PlugWatch;
use super::room::RoomLedger;
use super::switching::{Managed, Routed, Switching, Undelivered};
use super::violation;
use scalepool_arbiter::{AllocatorKind, Arbiter, ArbiterError, ArbiterKind, RoundRobin};
use scalepool_coherence::clocked::linked::NodeLink;
use scalepool_coherence::clocked::tree::{self, TransactionPart};
use scalepool_kernel::{Cx, Module, Next, Pending, Time};
use scalepool_memory::ALL_BYTES;
use scalepool_memory::dropped::DroppedStores;
use scalepool_ordered::OrderedMap;
use scalepool_protocols::cxl::link_status::LinkStatus;
use scalepool_protocols::cxl::message::{Class, Message, MessageForm};
use scalepool_protocols::wire::Violation;
use scalepool_trace::wait::WAIT_OVER;
use scalepool_trace::{Body, RecordKind, Stamp, Tap, TraceVppb, TransactionHandle, TransactionNaming, Wait};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// Message classes that switches forward, in the order of the counters: those of CXL.mem, of back-invalidates, of CXL.cache.
/// H2D Rsp stands before H2D Req, which stays behind it (`coherence` §2.6 O1).
pub const SWITCH_CLASSES: [Class; CLASSES] = [
    Class::M2sReq,
    Class::M2sRwd,
    Class::S2mNdr,
    Class::S2mDrs,
    Class::S2mBisnp,
    Class::M2sBirsp,
    Class::D2hReq,
    Class::D2hRsp,
    Class::D2hData,
    Class::H2dRsp,
    Class::H2dData,
    Class::H2dReq,
];
const CLASSES: usize = 12;

/// Signals of a port in waveforms: the messages in the queues of each class, in the order of [`SWITCH_CLASSES`].
pub const SWITCH_SIGNALS: [(&str, u32); CLASSES] = [
    ("m2s_req_queued", 16),
    ("m2s_rwd_queued", 16),
    ("s2m_ndr_queued", 16),
    ("s2m_drs_queued", 16),
    ("s2m_bisnp_queued", 16),
    ("m2s_birsp_queued", 16),
    ("d2h_req_queued", 16),
    ("d2h_rsp_queued", 16),
    ("d2h_data_queued", 16),
    ("h2d_rsp_queued", 16),
    ("h2d_data_queued", 16),
    ("h2d_req_queued", 16),
];

/// The same in front of them, of a switch at which viral may be declared: whether a port has told viral, and its vector of
/// logical devices.
pub const VIRAL_SIGNALS: [(&str, u32); 2 + CLASSES] = {
    let mut all = [("viral", 1); 2 + CLASSES];
    all[1] = ("viral_ld_ids", 16);
    let mut n = 0;
    while n < CLASSES {
        all[2 + n] = SWITCH_SIGNALS[n];
        n += 1;
    }
    all
};

/// What a switch carries; each level has queues for the classes of those before it too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SwitchTraffic {
    /// CXL.mem without back-invalidates.
    Mem,
    /// All of CXL.mem.
    BackInvalidate,
    /// CXL.mem and CXL.cache.
    CacheMem,
}

impl SwitchTraffic {
    /// Number of its classes, which are the first ones of [`SWITCH_CLASSES`].
    pub const fn count(self) -> usize {
        match self {
            SwitchTraffic::Mem => 4,
            SwitchTraffic::BackInvalidate => 6,
            SwitchTraffic::CacheMem => CLASSES,
        }
    }

    /// Place of a class among those that are carried.
    #[inline]
    pub const fn place(self, class: Class) -> Option<usize> {
        let place = PLACES[class.index()];
        if place < self.count() { Some(place) } else { None }
    }
}

/// Place of each class in [`SWITCH_CLASSES`], by [`Class::index`].
const PLACES: [usize; CLASSES] = {
    let mut places = [0; CLASSES];
    let mut n = 0;
    while n < CLASSES {
        places[SWITCH_CLASSES[n].index()] = n;
        n += 1;
    }
    places
};

/// H2D Req and H2D Rsp: a snoop stays behind every response that came before it on its way (`coherence` §2.6 O1, `fabric` ORD-5).
const PUSHES: PushedClass = PushedClass { class: 11, behind: 9 };

/// Bytes of a message without data, and of one with a line \[bytes\]: slots have 16 bytes (`cxl-68b` §2, `cxl-256b` §5).
const HEADER_BYTES: u64 = 16;
const DATA_BYTES: u64 = 80;

/// Sizes and latencies of a switch.
#[derive(Clone)]
pub struct SwitchConfig {
    /// What it carries.
    pub traffic: SwitchTraffic,
    /// Latency of the stages before the grant, and of those after it \[cycles\].
    pub stages_cycles: [u64; 2],
    /// Depth of the queue of an input, output and class \[messages\].
    pub queue: usize,
    /// Depth of the output queue of an output and class \[messages\].
    pub output_queue: usize,
    /// Bytes that a port moves per cycle.
    pub width_bytes: u64,
    /// Bytes that the crossbar moves for each byte of a port.
    pub speedup: u64,
    /// Allocator that pairs inputs with outputs.
    pub allocator: &'static AllocatorKind,
    /// Arbiter that selects the class at an output, at the grant and again when a message leaves.
    pub arbiter: &'static ArbiterKind,
    /// Weights of the classes, in the order of [`SWITCH_CLASSES`], for an arbiter that looks at weights.
    pub weights: [u16; CLASSES],
    /// Age above which a message is found as starved, whether it leaves or not: since it stood first at its port, waits for room and
    /// for the width of the port included \[cycles\]; `None`: none is (`fabric` DLK-7).
    pub starved_cycles: Option<u64>,
    /// Where the checkers of a run learn of stores that the switch drops and completes.
    pub dropped: Arc<DroppedStores>,
}

/// Messages of a port by class, in the order of [`SWITCH_CLASSES`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PortCounts {
    /// Messages received.
    pub received: [u64; CLASSES],
    /// Messages sent.
    pub sent: [u64; CLASSES],
    /// Messages received that end in the switch.
    pub ended: [u64; CLASSES],
    /// Messages sent that the switch generated itself.
    pub own: [u64; CLASSES],
}

/// The result of a switch for the report.
#[derive(Debug, Clone, Default)]
pub struct SwitchResult {
    /// Counters by port.
    pub ports: Vec<PortCounts>,
    /// Number of undelivered messages by reason.
    pub undelivered: OrderedMap<Undelivered, u64>,
    /// Cycles for which the first message of a class waited at a port because its queue was full; waits that have not
    /// ended are not included.
    pub full_cycles: u64,
    /// Completions of the manager's commands, with their times \[fs\]; none if the switch has no manager.
    pub events: Vec<(u64, ManagerEvent)>,
    /// What has happened at downstream ports, with times \[fs\].
    pub steps: Vec<(u64, PlugStep)>,
    /// Errors that bridges and the fabric manager have recorded, with times \[fs\].
    pub errors: Vec<(u64, AerRecord)>,
    /// Statuses of viral that ports have told their links.
    pub viral_told: u64,
    /// Messages that left and counted as viral.
    pub viral_messages: u64,
    /// Broken rules.
    pub broken: Vec<Violation>,
    /// Room that is not given back, which breaks a rule where the run ends at rest.
    pub astray: Vec<Violation>,
}

/// A message in the switch.
struct SwitchedMessage<F> {
    message: Message,
    /// The input.
    from: usize,
    /// The output.
    to: usize,
    /// What it belongs to; `None` if the switch generated the message.
    of: Option<F>,
    /// Cycle since which it stood first at its port.
    since: u64,
    /// It came with bad data.
    was_bad: bool,
}

/// A message that leaves in the place of a received one.
struct SubstitutedMessage<F> {
    input: usize,
    to: usize,
    message: Message,
    of: Option<F>,
    since: u64,
}

/// A port of the switch.
struct CxlSwitchPort {
    link: NodeLink,
    /// Index of the channel to the link for each class.
    tx: [Option<usize>; CLASSES],
    /// Channels of H2D Rsp and H2D Req of a link that has both.
    snoop_behind: Option<[usize; 2]>,
    taking: Pace,
    sending: Pace,
    /// Selects the class that is received next, among the channels of the link.
    taking_turn: RoundRobin,
    /// Selects the class that is sent next.
    sending_turn: Box<dyn Arbiter>,
    /// Count of messages sent, from which messages get their numbers.
    posted: u64,
    /// Classes whose first message the trace shows as waiting: at the input, and at the output; bit n for class n.
    held: [u32; 2],
    /// By class, the cycle since which the first message waits at the input for room. Counting evaluations instead would
    /// depend on how often the module is evaluated.
    full_since_cycle: [Option<u64>; CLASSES],
    /// By class, the cycle since which a message stands first at the input, if ages are judged.
    first_since_cycle: [Option<u64>; CLASSES],
    /// Classes of which a starved message has been found.
    is_starved: [bool; CLASSES],
    /// By channel, the queue without room that its first message waits for, while its way stays the same.
    waits_for: Vec<Option<(usize, usize, usize)>>,
    /// Statuses that the link has not taken: every message waits behind them.
    statuses: VecDeque<LinkStatus>,
    /// Values last shown by the signals.
    shown: [usize; CLASSES],
    signals: Tap,
}

/// The kernel module of a switch.
pub struct CxlSwitch<S: Switching> {
    switching: S,
    config: SwitchConfig,
    ports: Vec<CxlSwitchPort>,
    crossbar: VoqCrossbar<SwitchedMessage<S::Flow>>,
    /// Judges the room that messages take.
    room: RoomLedger,
    tap: Tap,
    /// Judges downstream ports that come and go.
    watch: Option<PlugWatch>,
    busy_since: Option<Time>,
    /// No message is older than the limit before this cycle, if ages are judged.
    age_due_cycle: u64,
    mine: SwitchResult,
    shared: Arc<Mutex<SwitchResult>>,
}

fn bytes(message: &Message) -> u64 {
    if message.class().has_data() { DATA_BYTES } else { HEADER_BYTES }
}

impl<S: Switching> CxlSwitch<S> {
    /// Makes a switch with the links and the signals of its ports, in the order in which `switching` numbers them. Counters
    /// appear in `shared` when the results are published.
    ///
    /// # Errors
    /// The switch has more ports than the allocator supports.
    pub fn new(
        switching: S,
        config: SwitchConfig,
        links: Vec<(NodeLink, Tap)>,
        tap: Tap,
        shared: Arc<Mutex<SwitchResult>>,
    ) -> Result<CxlSwitch<S>, ArbiterError> {
        let count = links.len();
        let voq = VoqConfig {
            // The last input is for messages that the switch generates.
            inputs: count + 1,
            outputs: count,
            classes: config.traffic.count(),
            pushed: (config.traffic == SwitchTraffic::CacheMem).then_some(PUSHES),
            queue: config.queue,
            output_queue: config.output_queue,
            bytes_per_cycle: config.width_bytes * config.speedup,
            // The channel to the link end takes one more cycle.
            behind_cycles: config.stages_cycles[1].saturating_sub(1),
            allocator: config.allocator,
            arbiter: config.arbiter,
        };
        let room = RoomLedger::new(voq.inputs, count, voq.classes, (config.queue + config.output_queue) as u64);
        let weights = &config.weights[..config.traffic.count()];
        let crossbar = VoqCrossbar::new(voq, weights)?;
        let port = |(link, signals): (NodeLink, Tap)| {
            let channel = |class: Class| link.rx.iter().position(|(one, _)| *one == class);
            Ok(CxlSwitchPort {
                tx: SWITCH_CLASSES.map(|class| link.tx.iter().position(|(of, _)| *of == class)),
                // A port that only sends has one turn that is never used.
                taking_turn: RoundRobin::new(link.rx.len().max(1))?,
                sending_turn: (config.arbiter.make)(weights)?,
                snoop_behind: channel(Class::H2dRsp).zip(channel(Class::H2dReq)).map(Into::into),
                waits_for: vec![None; link.rx.len()],
                link,
                taking: Pace::default(),
                sending: Pace::default(),
                posted: 0,
                held: [0; 2],
                full_since_cycle: [None; CLASSES],
                first_since_cycle: [None; CLASSES],
                is_starved: [false; CLASSES],
                statuses: VecDeque::new(),
                shown: [0; CLASSES],
                signals,
            })
        };
        let mine = SwitchResult { ports: vec![PortCounts::default(); count], ..SwitchResult::default() };
        let ports = links.into_iter().map(port).collect::<Result<_, ArbiterError>>()?;
        let watch = switching.plug_watch();
        Ok(CxlSwitch {
            switching,
            config,
            ports,
            crossbar,
            room,
            tap,
            watch,
            busy_since: None,
            age_due_cycle: 0,
            mine,
            shared,
        })
    }

    /// Transaction handle of a message on the link of a port.
    fn handle(&self, port: usize, message: &Message) -> TransactionHandle {
        let link = &self.ports[port].link;
        tree::part(link.link, link.form, message).1
    }

    /// Records in the trace that the first message of a class, which this is, starts or stops waiting at an input or an output.
    #[inline]
    fn hold(&mut self, (port, side, class): (usize, usize, usize), wait: Option<Wait>, message: &Message, at: Stamp) {
        if (self.ports[port].held[side] >> class & 1 == 1) != wait.is_some() {
            self.holds((port, side, class), wait, message, at);
        }
    }

    #[cold]
    fn holds(&mut self, (port, side, class): (usize, usize, usize), wait: Option<Wait>, message: &Message, at: Stamp) {
        self.ports[port].held[side] ^= 1 << class;
        if side == 0 {
            let since = std::mem::replace(&mut self.ports[port].full_since_cycle[class], wait.map(|_| at.cycle));
            self.mine.full_cycles += since.map_or(0, |since| at.cycle - since);
        }
        if self.tap.is_on() {
            let named = TransactionNaming::By(self.handle(port, message));
            let body = || wait.map_or(Body::Mark(WAIT_OVER), |wait| Body::Wait { wait, holder: 0 });
            self.tap.named(named, at, RecordKind::Mark, 0, 0, body);
        }
    }

    /// Notes what the link of a port is told, in front of all that it is given later.
    fn declare(&mut self, port: usize, status: LinkStatus, at: Stamp) {
        let tells_all = self.switching.tells_all(port);
        let statuses = &mut self.ports[port].statuses;
        if status != LinkStatus::HotReset && !tells_all {
            // Of viral only the latest is told.
            statuses.retain(|one| *one == LinkStatus::HotReset);
        }
        statuses.push_back(status);
        let (mark, viral) = match status {
            LinkStatus::Viral(vector) => ("tells_viral", Some([1, vector])),
            LinkStatus::ViralOver => ("ends_viral", Some([0, 0])),
            LinkStatus::HotReset => ("tells_hot_reset", None),
        };
        self.mine.viral_told += u64::from(matches!(status, LinkStatus::Viral(_)));
        self.tap.record(at, RecordKind::Mark, 0, 0, || Body::Mark(mark));
        // Where statuses name what is viral, the port has no state of its own.
        let Some(viral) = viral.filter(|_| !tells_all) else { return };
        for (signal, value) in ["viral", "viral_ld_ids"].into_iter().zip(viral) {
            let body = || Body::Value { signal, value: value.into() };
            self.ports[port].signals.record(at, RecordKind::Mark, 0, 0, body);
        }
    }

    /// Tells links statuses as far as they take them.
    fn tell(&mut self, cx: &mut Cx) {
        for CxlSwitchPort { link, statuses, .. } in &mut self.ports {
            while let Some(status) = statuses.front() {
                if link.tells.as_mut().is_some_and(|out| out.push(cx, *status).is_err()) {
                    break;
                }
                statuses.pop_front();
                cx.progress();
            }
        }
    }

    /// Sends messages that have passed the pipeline to the link ends. Returns whether a port was limited by its width
    /// in this cycle.
    fn send(&mut self, cx: &mut Cx, at: Stamp) -> bool {
        let (width, mut is_slow) = (self.config.width_bytes, false);
        let mut next = self.crossbar.granted_outputs().first();
        while let Some(port) = next {
            next = self.crossbar.granted_outputs().first_from(port + 1);
            if !self.ports[port].statuses.is_empty() {
                continue;
            }
            let mut sendable = self.sendable(port, self.crossbar.granted_classes(port), cx, at);
            while sendable != 0 {
                let classes = u64::from(sendable);
                let Some(class) = self.ports[port].sending_turn.arbitrate_word(classes) else { break };
                if !self.ports[port].sending.is_free(at.cycle, width) {
                    is_slow = true;
                    break;
                }
                self.ports[port].sending_turn.update_word(classes, class);
                self.send_first((port, class), cx, at);
                // Of the other classes nothing has changed.
                let asked = self.crossbar.decided_by(class);
                sendable = sendable & !asked | self.sendable(port, self.crossbar.granted_classes(port) & asked, cx, at);
            }
        }
        is_slow
    }

    /// Classes of a port, out of some, whose first message can leave now, bit n for class n.
    fn sendable(&mut self, port: usize, classes: u32, cx: &Cx, at: Stamp) -> u32 {
        let mut sendable = 0;
        for class in classes_of(classes) {
            let Some(first) = self.crossbar.leaving(port, class, at.cycle) else { continue };
            let own = &self.ports[port];
            // A port of a form without the class is refused when the switch is made.
            if own.tx[class].is_some_and(|place| own.link.tx[place].1.has_room(cx, 1)) {
                sendable |= 1 << class;
            } else if own.held[1] >> class & 1 == 0 {
                let message = first.message;
                self.hold((port, 1, class), Some(Wait::Link), &message, at);
            }
        }
        sendable
    }

    /// Sends the first message of a class, which can leave.
    fn send_first(&mut self, (port, class): (usize, usize), cx: &mut Cx, at: Stamp) {
        let Some(SwitchedMessage { message, from, of, since, was_bad, .. }) = self.crossbar.leave(port, class) else {
            return;
        };
        if let Some(violation) = cut_through::judge_whole(was_bad, &message) {
            self.report(violation, at);
        }
        self.give_back((if of.is_some() { from } else { self.ports.len() }, port, class), at);
        let own = &mut self.ports[port];
        if let Some(place) = own.tx[class] {
            let _ = own.link.tx[place].1.push(cx, (own.posted, message));
        }
        own.posted += 1;
        own.sending.take(at.cycle, self.config.width_bytes, bytes(&message));
        self.hold((port, 1, class), None, &message, at);
        if self.config.starved_cycles.is_some_and(|limit| at.cycle - since > limit) {
            self.starved((port, class), from, at.cycle - since, at);
        }
        let counts = &mut self.mine.ports[port];
        counts.sent[class] += 1;
        counts.own[class] += u64::from(of.is_none());
        self.mine.viral_messages += u64::from(self.switching.is_viral(port, of));
        if let Some(of) = of {
            self.watch_sent(from, port, at);
            self.switching.sent(port, &message, of);
        }
        cx.progress();
    }

    /// Judges the ages of all messages that are in the switch or stand first at its ports; returns the next cycle in which one
    /// may be too old.
    fn judge_ages(&mut self, cx: &Cx, at: Stamp) -> Option<u64> {
        let limit = self.config.starved_cycles?;
        for CxlSwitchPort { link, first_since_cycle, .. } in &mut self.ports {
            for (class, end) in &link.rx {
                let Some(class) = self.config.traffic.place(*class) else { continue };
                let since = &mut first_since_cycle[class];
                *since = end.is_due(cx).then(|| since.unwrap_or(at.cycle));
            }
        }
        // What comes later than the last look is younger than what it saw.
        if at.cycle < self.age_due_cycle {
            return Some(self.age_due_cycle);
        }
        let passing = self.crossbar.items().filter_map(|one| {
            let class = self.config.traffic.place(one.message.class())?;
            Some(((one.to, class), one.from, one.since))
        });
        let mut ages: Vec<((usize, usize), usize, u64)> = passing.collect();
        for (from, port) in self.ports.iter_mut().enumerate() {
            for (class, end) in &mut port.link.rx {
                let since = self.config.traffic.place(*class).and_then(|class| port.first_since_cycle[class]);
                let (Some(since), Some(message)) = (since, end.peek(cx)) else { continue };
                let (Routed::Port { to, message, .. } | Routed::Answered { answer: Some((to, message)), .. }) =
                    self.switching.route(from, message)
                else {
                    continue;
                };
                let class = self.config.traffic.place(message.class());
                ages.extend(class.map(|class| ((to, class), from, since)));
            }
        }
        ages.retain(|((to, class), ..)| !self.ports[*to].is_starved[*class]);
        let (mut oldest, is_any) = (at.cycle, !ages.is_empty());
        for (way, from, since) in ages {
            if at.cycle - since > limit {
                self.starved(way, from, at.cycle - since, at);
            } else {
                oldest = oldest.min(since);
            }
        }
        self.age_due_cycle = oldest.saturating_add(limit).saturating_add(1);
        is_any.then_some(self.age_due_cycle)
    }

    /// Reports the first message of a class toward a port that is older than the limit (`fabric` DLK-7).
    fn starved(&mut self, (port, class): (usize, usize), from: usize, age_cycles: u64, at: Stamp) {
        if std::mem::replace(&mut self.ports[port].is_starved[class], true) {
            return;
        }
        let found =
            format!("{} from port {from} to port {port} after {age_cycles} cycles", SWITCH_CLASSES[class].name());
        let expected = format!("at most {} cycles", self.config.starved_cycles.unwrap_or(0));
        self.report(violation("FAB-DLK-07", found, expected, "a class waits longer in a switch than it may"), at);
    }

    /// Receives messages of a port. Returns whether the port was limited by its width in this cycle.
    fn take(&mut self, port: usize, cx: &mut Cx, at: Stamp) -> bool {
        // Channels with a message, and those whose first message has to wait, bit n for channel n. No message comes while this
        // runs, so a channel is asked again only when a message was taken from it.
        let (mut due, mut blocked) = (self.due(port, cx), 0);
        loop {
            let channels = self.takeable(port, due) & !blocked;
            if channels == 0 {
                return false;
            }
            let Some(place) = self.ports[port].taking_turn.arbitrate_word(channels) else { return false };
            if !self.ports[port].taking.is_free(at.cycle, self.config.width_bytes) {
                return true;
            }
            if self.take_first((port, place), cx, at) {
                self.ports[port].taking_turn.update_word(channels, place);
                due &= !(u64::from(!self.ports[port].link.rx[place].1.is_due(cx)) << place);
            } else {
                blocked |= 1 << place;
            }
        }
    }

    /// Channels of a port that have a message, bit n for channel n: there are no more than classes.
    #[inline]
    fn due(&self, port: usize, cx: &Cx) -> u64 {
        let (mut due, mut bit) = (0, 1);
        for (_, end) in &self.ports[port].link.rx {
            due |= if end.is_due(cx) { bit } else { 0 };
            bit <<= 1;
        }
        due
    }

    /// Channels of a port out of those with a message that may be asked: a snoop stays behind the responses that arrived before it.
    #[inline]
    fn takeable(&self, port: usize, due: u64) -> u64 {
        match self.ports[port].snoop_behind {
            Some([response, snoop]) if due >> response & 1 == 1 => due & !(1 << snoop),
            _ => due,
        }
    }

    /// Receives the first message of a channel; returns `false` if what leaves in its place finds no room.
    fn take_first(&mut self, (port, place): (usize, usize), cx: &mut Cx, at: Stamp) -> bool {
        if let Some((input, to, queue)) = self.ports[port].waits_for[place] {
            if !self.crossbar.has_room(input, to, queue) {
                return false;
            }
            self.ports[port].waits_for[place] = None;
        }
        let class = self.ports[port].link.rx[place].0;
        let Some(message) = self.ports[port].link.rx[place].1.peek(cx) else { return false };
        let mut routed = self.switching.route(port, message);
        let is_placed = self.spread(port, &mut routed);
        let held = self.config.traffic.place(class);
        if let Some((input, to, queue)) = self.way(port, &routed)
            && (!is_placed || !self.crossbar.has_room(input, to, queue))
        {
            if let (Some(held), Some(message)) = (held, self.ports[port].link.rx[place].1.peek(cx).copied()) {
                self.hold((port, 0, held), Some(Wait::Room), &message, at);
            }
            if let Routed::Port { message, .. } = &routed
                && self.switching.keeps_way(port, message)
            {
                self.ports[port].waits_for[place] = Some((input, to, queue));
            }
            return false;
        }
        let Some(message) = self.ports[port].link.rx[place].1.pop(cx) else { return false };
        self.ports[port].taking.take(at.cycle, self.config.width_bytes, bytes(&message));
        let mut since = at.cycle;
        if let Some(counted) = held {
            self.hold((port, 0, counted), None, &message, at);
            since = self.ports[port].first_since_cycle[counted].take().unwrap_or(at.cycle);
            let counts = &mut self.mine.ports[port];
            counts.received[counted] += 1;
            counts.ended[counted] += u64::from(!matches!(routed, Routed::Port { .. }));
        }
        self.judge(port, &message, &routed, at);
        let leaving = match routed {
            Routed::Port { to, message, flow } => {
                Some(SubstitutedMessage { input: port, to, message, of: Some(flow), since })
            }
            Routed::Answered { answer: Some((to, message)), .. } => {
                Some(SubstitutedMessage { input: self.ports.len(), to, message, of: None, since })
            }
            _ => None,
        };
        self.queue((port, &message), leaving, at);
        cx.progress();
        true
    }

    /// Input, output and class of the queue of what leaves in the place of a message of a port.
    #[inline]
    fn way(&self, port: usize, routed: &Routed<S::Flow>) -> Option<(usize, usize, usize)> {
        let (input, to, message) = match routed {
            Routed::Port { to, message, .. } => (port, *to, message),
            Routed::Answered { answer: Some((to, message)), .. } => (self.ports.len(), *to, message),
            _ => return None,
        };
        Some((input, to, self.config.traffic.place(message.class())?))
    }

    /// Gives a message that may leave at several ports one of them; returns whether one of them has room, if it needs any.
    fn spread(&self, from: usize, routed: &mut Routed<S::Flow>) -> bool {
        let Routed::Port { to, message, .. } = routed else { return true };
        let Some(class) = self.config.traffic.place(message.class()) else { return true };
        let number = self.mine.ports[from].received[class];
        let backlog = |to: usize| self.crossbar.has_room(from, to, class).then(|| self.crossbar.backlog(to));
        let chosen = self.switching.spread(from, number, (*to, message), &backlog);
        *to = chosen.unwrap_or(*to);
        chosen.is_some()
    }

    /// Records a received message and queues the message that leaves in its place.
    fn queue(&mut self, (port, came): (usize, &Message), leaving: Option<SubstitutedMessage<S::Flow>>, at: Stamp) {
        if self.tap.is_on() {
            self.show_received((port, came), leaving.as_ref(), at);
        }
        if let Some(SubstitutedMessage { input, to, message, of, since }) = leaving
            && let Some(class) = self.config.traffic.place(message.class())
        {
            let ready = at.cycle + self.config.stages_cycles[0];
            if let Some(of) = of {
                self.switching.queued(&message, of);
            }
            let bytes = bytes(&message);
            // What the switch makes itself is as it leaves.
            let was_bad = cut_through::is_bad(if of.is_some() { came } else { &message });
            if let Some(violation) = self.room.take((input, to, class)) {
                self.report(violation, at);
            }
            self.crossbar.push(
                (input, to, class),
                ready,
                bytes,
                SwitchedMessage { message, from: port, to, of, since, was_bad },
            );
        }
    }

    /// Records a received message, and what its transaction is called where it goes on.
    fn show_received(
        &mut self,
        (port, message): (usize, &Message),
        leaving: Option<&SubstitutedMessage<S::Flow>>,
        at: Stamp,
    ) {
        let begins = matches!(
            tree::part(self.ports[port].link.link, self.ports[port].link.form, message).0,
            TransactionPart::Request | TransactionPart::Snoop | TransactionPart::Conflict
        );
        let handle = self.handle(port, message);
        let named = match leaving {
            Some(SubstitutedMessage { to, message, of: Some(_), .. }) if begins => {
                TransactionNaming::Through(handle, self.handle(*to, message))
            }
            _ => TransactionNaming::By(handle),
        };
        let of = leaving.and_then(|leaving| leaving.of);
        let vppb = of.and_then(|of| self.switching.vppb(of)).map(|(vcs, vppb)| TraceVppb { vcs, vppb });
        self.tap.named(named, at, RecordKind::Mark, 0, 0, || {
            let (message, form) = self.switching.shown(message, self.ports[port].link.form, of);
            shown(&message, form).via(vppb)
        });
    }

    /// Counts an undelivered message, and reports a message that breaks a rule.
    fn judge(&mut self, port: usize, message: &Message, routed: &Routed<S::Flow>, at: Stamp) {
        if let Routed::Answered { why, .. } | Routed::Dropped(why) = routed {
            *self.mine.undelivered.entry(*why).or_default() += 1;
        }
        if let (Routed::Answered { answer: Some((_, Message::S2mNdr(_))), .. }, Message::M2sRwd(header, data)) =
            (routed, message)
        {
            self.config.dropped.note(header.address, &data.line, data.byte_enables.unwrap_or(ALL_BYTES));
        }
        if let Some(violation) = self.switching.judge(port, message, routed) {
            self.report(violation, at);
        }
    }

    /// Notes that a message has given its place back.
    #[inline]
    fn give_back(&mut self, way: (usize, usize, usize), at: Stamp) {
        if let Some(violation) = self.room.give_back(way) {
            self.report(violation, at);
        }
    }

    fn report(&mut self, violation: Violation, at: Stamp) {
        self.tap.record(at, RecordKind::Violation, 0, 0, || Body::Violation(violation.clone()));
        self.mine.broken.push(violation);
    }

    /// Removes messages from the queues, which end in the switch, and returns them.
    fn remove(
        &mut self,
        why: &'static str,
        at: Stamp,
        which: impl Fn(usize, &SwitchedMessage<S::Flow>) -> bool,
    ) -> Vec<Message> {
        let all =
            (0..self.ports.len()).flat_map(|port| (0..self.config.traffic.count()).map(move |class| (port, class)));
        for (port, class) in all.collect::<Vec<_>>() {
            // The wait of a first message that is removed ends here; the next one has a wait of its own.
            let first = self.crossbar.leaving(port, class, at.cycle).filter(|first| which(port, first));
            if let Some(message) = first.map(|first| first.message) {
                self.hold((port, 1, class), None, &message, at);
            }
        }
        let gone = self.crossbar.remove(which);
        for SwitchedMessage { message, from, to, of, .. } in &gone {
            if let Some(class) = self.config.traffic.place(message.class()) {
                self.mine.ports[*from].ended[class] += 1;
                self.give_back((if of.is_some() { *from } else { self.ports.len() }, *to, class), at);
            }
            if self.tap.is_on() {
                let named = TransactionNaming::By(self.handle(*to, message));
                self.tap.named(named, at, RecordKind::Mark, 0, 0, || Body::Mark(why));
            }
        }
        gone.into_iter().map(|passing| passing.message).collect()
    }

    /// What waits is routed again.
    fn forget_ways(&mut self) {
        self.ports.iter_mut().for_each(|port| port.waits_for.fill(None));
    }

    /// Executes the due actions of the fabric manager.
    fn manage(&mut self, at: Stamp) {
        while let Some(managed) = self.switching.manage(at.cycle) {
            self.forget_ways();
            let event = match managed {
                Managed::Event(event) => event,
                Managed::Step(step) => {
                    self.step(step, at);
                    continue;
                }
                Managed::Recorded(record) => {
                    self.record(record, at);
                    continue;
                }
                Managed::Flush(flow) => {
                    let gone = self.remove("port_gone", at, |_, passing| passing.of == Some(flow));
                    let Some(event) = self.switching.flushed(&gone) else { continue };
                    event
                }
                Managed::LostLink(port) => {
                    self.tap.record(at, RecordKind::Mark, 0, 0, || Body::Mark("link_lost"));
                    let gone = self.remove("lost_with_link", at, |output, _| output == port).len() as u64;
                    if gone > 0 {
                        *self.mine.undelivered.entry(Undelivered::LostLink).or_default() += gone;
                    }
                    continue;
                }
            };
            let name = match event {
                ManagerEvent::Bound(_) => "bound",
                ManagerEvent::Unbound(..) => "unbound",
                ManagerEvent::Reset(..) => "reset",
                ManagerEvent::Released(_) => "reset_over",
                ManagerEvent::Lost(..) => "lost",
                ManagerEvent::Committed(..) => "table_committed",
                ManagerEvent::CommitFailed(..) => "commit_failed",
                ManagerEvent::Refused(..) => "command_refused",
                ManagerEvent::UnknownLd(..) => "unknown_ld",
                ManagerEvent::Rerouted => "rerouted",
                ManagerEvent::Contained(..) => "contained",
                ManagerEvent::Uncontained(_) => "containment_over",
                ManagerEvent::Viral(_) => "viral",
                ManagerEvent::ViralOver(_) => "viral_over",
            };
            self.tap.record(at, RecordKind::Mark, 0, 0, || Body::Mark(name));
            if let ManagerEvent::Refused(_, error) = event {
                self.report(error.violation(), at);
            }
            self.watch.iter_mut().for_each(|watch| watch.event(&event));
            self.mine.events.push((at.t_fs, event));
            self.declare_statuses(at);
        }
        let found = self.watch.as_mut().map(|watch| watch.settle(at.cycle)).unwrap_or_default();
        found.into_iter().for_each(|violation| self.report(violation, at));
    }

    fn declare_statuses(&mut self, at: Stamp) {
        for (port, status) in self.switching.statuses_to_tell() {
            self.declare(port, status, at);
        }
    }

    /// Records what has happened at a downstream port: what a host sees at its upstream port, the rest at the port itself.
    fn step(&mut self, step: PlugStep, at: Stamp) {
        let port = match step.vppb {
            Some((vcs, _)) if step.step.is_seen_by_host() => vcs,
            _ => self.switching.first_downstream() + step.port,
        };
        if let Some(own) = self.ports.get_mut(port) {
            own.signals.record(at, RecordKind::Mark, 0, 0, || Body::Mark(step.step.name()));
        }
        self.watch.iter_mut().for_each(|watch| watch.step(step));
        self.mine.steps.push((at.t_fs, step));
        self.declare_statuses(at);
    }

    /// Records an error: at the upstream port of its host, or at the downstream port for the manager.
    fn record(&mut self, record: AerRecord, at: Stamp) {
        let port = record.vppb.map_or(self.switching.first_downstream() + record.port, |(vcs, _)| vcs);
        let message = record.message.map(ErrorMessage::name);
        if let Some(own) = self.ports.get_mut(port) {
            for name in [record.error.mark()].into_iter().chain(message) {
                own.signals.record(at, RecordKind::Mark, 0, 0, || Body::Mark(name));
            }
        }
        self.mine.errors.push((at.t_fs, record));
    }

    /// Hears of damage on the lines of the ports, and of what their peers tell.
    fn hear(&mut self, cx: &mut Cx, at: Stamp) {
        for port in 0..self.ports.len() {
            while let Some(status) = self.ports[port].link.hears.as_mut().and_then(|hears| hears.pop(cx)) {
                let mark = if status == LinkStatus::HotReset { "hears_hot_reset" } else { "hears_viral" };
                self.tap.record(at, RecordKind::Mark, 0, 0, || Body::Mark(mark));
                self.switching.heard(port, status);
                self.forget_ways();
                self.declare_statuses(at);
                cx.progress();
            }
            while let Some(units) = self.ports[port].link.damage.as_mut().and_then(|damage| damage.pop(cx)) {
                self.switching.damaged(port, units);
                cx.progress();
            }
        }
    }

    /// Tells the watcher that a message leaves.
    fn watch_sent(&mut self, from: usize, port: usize, at: Stamp) {
        let Some(watch) = &mut self.watch else { return };
        let first = self.switching.first_downstream();
        if let Some(port) = port.checked_sub(first) {
            watch.sent(port);
        } else if let Some(from) = from.checked_sub(first).filter(|_| from < self.ports.len()) {
            watch.passed(from);
        }
        let found = watch.take();
        found.into_iter().for_each(|violation| self.report(violation, at));
    }

    /// Records the number of waiting messages.
    fn show(&mut self, at: Stamp) {
        for port in 0..self.ports.len() {
            if !self.ports[port].signals.is_on() {
                return;
            }
            for (class, &(signal, _)) in SWITCH_SIGNALS[..self.config.traffic.count()].iter().enumerate() {
                let queued = self.crossbar.queued_at(port, class);
                if std::mem::replace(&mut self.ports[port].shown[class], queued) != queued {
                    let body = || Body::Value { signal, value: queued as u64 };
                    self.ports[port].signals.record(at, RecordKind::Mark, 0, 0, body);
                }
            }
        }
    }
}

/// The trace form of a message.
fn shown(message: &Message, form: MessageForm) -> Body {
    let data = message.data().map(|data| data.line.to_vec());
    message.spell(form).map_or(Body::None, |(layout, bits)| Body::Message { layout, bits, data })
}

impl<S: Switching> Module for CxlSwitch<S> {
    fn eval(&mut self, cx: &mut Cx) -> Next {
        let at = Stamp { t_fs: cx.now().as_fs(), cycle: cx.cycle() };
        self.hear(cx, at);
        self.manage(at);
        self.tell(cx);
        self.crossbar.step(at.cycle);
        let mut is_slow = self.send(cx, at);
        for port in 0..self.ports.len() {
            is_slow |= self.take(port, cx, at);
        }
        self.show(at);
        self.busy_since = if self.crossbar.queued() > 0 { self.busy_since.or(Some(cx.now())) } else { None };
        let watched = self.watch.as_ref().and_then(PlugWatch::next_cycle);
        let aged = self.judge_ages(cx, at);
        let due = self.switching.next_cycle().into_iter().chain(watched).chain(aged);
        let time = self.crossbar.next_cycle(at.cycle).into_iter().chain(due).min();
        match time {
            _ if is_slow => Next::Busy,
            Some(next) if next <= at.cycle + 1 => Next::Busy,
            Some(next) => Next::In(next - at.cycle),
            None => Next::Idle,
        }
    }

    fn idle_ok(&self) -> Result<(), Pending> {
        let Some((port, class, first)) = self.crossbar.first_held() else { return Ok(()) };
        let name = SWITCH_CLASSES[class].name();
        let found = self.crossbar.queued();
        let (identifier, number) = first.message.identifier();
        let message = format!("{name} ({identifier:?} {number:#x})");
        let text = format!("{found} messages to send, the first a {message} of port {} to port {port}", first.from);
        Err(Pending::new(text, self.busy_since.unwrap_or(Time::ZERO)))
    }

    fn publish(&self) {
        let astray = self.room.astray();
        *self.shared.lock().unwrap_or_else(PoisonError::into_inner) = SwitchResult { astray, ..self.mine.clone() };
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, u64)) {
        visit("queued", self.crossbar.queued() as u64);
    }
}
