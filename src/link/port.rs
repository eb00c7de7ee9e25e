//! A link end as a module of the kernel, whatever its protocol.
//!
//! Modelled: one unit a flit clock, the faulty wire behind the transmitter, training that takes both ends down. Detail:
//! the latency of pipelines and lanes is the latency of the kernel link between two ports. Left out: what units and
//! items mean; agents exchange items, messages or TLPs, with a port and know no flit. A link with CXL.io and CXL.cachemem
//! has an agent for each.
//!
//! Training takes both ends down, one telling the other: an end is up again when its time is over and the peer's own
//! word has come, so nothing of before is taken for something of afterwards.
//!
//! A walk through one flit clock: training ends if its time is over; what is due on the wire is received, events are
//! recorded; received items go to their agents as far as the channels have room, which frees their buffers; items of the
//! agents move into the end; one unit is sent.
//!
//! Timers of CXL.io never rest. So an end may be told that its agents have nothing more to ask; then its port tells the
//! other one beside the wire, and both go to sleep when the link is at rest.
//!
//! A link whose units can be used by halves has two edges a unit: the wire hands a unit over when its even half is there,
//! the odd half follows one edge later; units leave at every second edge.

use super::event::{Event, Severity};
use super::fault::{FaultyWire, WireUnit as Unit};
use super::hook::{Direction, Hooks};
use super::line_time::{LineTime, Parts, Use};
use super::protocol::Protocol;
use scalepool_kernel::{Cx, In, LinkIn, LinkOut, Module, Next, Out, Pending, Time};
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::wire::Violation;
use scalepool_trace::{Body, Kind, Stamp, Tap};
use std::sync::{Arc, Mutex, PoisonError};

/// A link end as a port drives it. Times are flit clocks of the caller.
pub trait LinkEnd: Send + 'static {
    /// What travels.
    type Unit: Unit + Send + 'static;

    /// Signals in waves, with their widths in bits.
    const SIGNALS: &'static [(&'static str, u32)];

    /// Name of its flits in [`scalepool_protocols::registry::PROTOCOLS`].
    fn protocol(&self) -> &'static str;

    /// Direction of its transmitter.
    fn dir(&self) -> Dir;

    /// Takes the even half of a unit; the bytes of the odd half are not there yet.
    fn receive_even(&mut self, unit: &Self::Unit, now_flits: u64) {
        let _ = (unit, now_flits);
    }

    /// Takes a unit off the wire; if its even half was taken before, the rest of it.
    fn receive(&mut self, unit: &Self::Unit, now_flits: u64);

    /// Shows the payload taken since the last call, with its number, where a receiver may take it later than it arrives.
    fn take_payload(&mut self, each: &mut dyn FnMut(u16, &mut Self::Unit)) {
        let _ = each;
    }

    /// The unit of this flit clock; `None`: nothing that anybody would miss.
    fn transmit(&mut self, now_flits: u64) -> Option<Self::Unit>;

    /// What the flit clock of the last [`LinkEnd::transmit`] was used for.
    fn uses(&self) -> Parts;

    /// Trainings, replays and requests for them in a row, without one good unit of payload or an answer between them.
    fn fruitless(&self) -> u32;

    /// Number of the next unit that it expects, told to the peer beside the wire, where [`LinkEnd::is_done`] needs it.
    fn expects(&self) -> u8 {
        0
    }

    /// What the peer expects, as it was when the unit left that comes now.
    fn peer_expects(&mut self, number: u8) {
        let _ = number;
    }

    /// Nothing of its agents waits, is under way or stays here: what it still does is for the link itself.
    fn is_done(&self) -> bool {
        false
    }

    /// Holds back or releases the credits of its buffers (a fault input).
    fn hold_credits(&mut self, hold: bool);

    /// Training has begun, whoever asked for it.
    fn phy_down(&mut self);

    /// Training is over.
    fn phy_up(&mut self);

    /// Whether it asks the physical layer to train; the request is taken.
    fn take_retrain_request(&mut self) -> bool;

    /// Events since the last call.
    fn take_events(&mut self) -> Vec<Event>;

    /// The rule that stopped the link.
    fn halted(&self) -> Option<&'static str>;

    /// Nothing waits, everything sent is acknowledged.
    fn is_quiet(&self) -> bool;

    /// The next flit clock in which it has something to do if nothing arrives; `None`: never.
    fn wakes_at(&self, now_flits: u64) -> Option<u64>;

    /// Values of [`LinkEnd::SIGNALS`], in that order.
    fn values(&self) -> Vec<u64>;

    /// Takes hooks, if it has places for them.
    fn attach_hooks(&mut self, hooks: &Hooks) {
        let _ = hooks;
    }

    /// Its hooks; those of the wire are asked by the port, in front of the faulty wire and behind it.
    fn hooks(&self) -> Option<&Hooks> {
        None
    }

    /// What is open, for a person to read.
    fn open_work(&self) -> String;

    /// Whether what it carries has numbers, so that units which vanish or come twice are seen and repaired.
    fn is_numbered(&self) -> bool {
        false
    }

    /// A unit vanished, or came twice, in front of the one that is handed over next. Nobody sees that on a wire: it decides
    /// nothing, and only keeps the checks of a unit against those before it from blaming the peer.
    fn hidden_fault(&mut self) {}

    /// Whether a fault input explains an error that the link repairs. `damaged`: one changed the unit that has just come.
    fn is_explained(&self, damaged: bool) -> bool {
        damaged
    }

    /// Its agents have nothing more to ask and everything is answered.
    fn is_over(&self) -> bool {
        false
    }

    /// The peer's end is over.
    fn peer_is_over(&mut self) {}
}

/// A link end that carries items of an agent.
pub trait Carries<T>: LinkEnd {
    /// Whether it has room for an item now.
    fn has_room(&self, item: &T) -> bool;

    /// Queues an item.
    ///
    /// # Errors
    /// It must not travel on this link; the rule that it would break.
    fn send(&mut self, item: T) -> Result<(), Violation>;

    /// Takes the next received item out of its buffer.
    fn take(&mut self) -> Option<T>;
}

/// Channels between an agent and its port.
pub struct Channels<T> {
    /// Items to send.
    pub tx: In<T>,
    /// Items received.
    pub rx: Out<T>,
}

/// [`Channels`] of a link end, whatever they carry.
pub trait Agent<E> {
    /// Hands received items over as far as there is room.
    fn deliver(&mut self, end: &mut E, cx: &mut Cx);

    /// Gives the end what it has room for; the rules that items would break, which are dropped.
    fn fetch(&mut self, end: &mut E, cx: &mut Cx) -> Vec<Violation>;

    /// Whether an item waits to be fetched.
    fn is_due(&self, cx: &Cx) -> bool;
}

impl<T, E: Carries<T>> Agent<E> for Channels<T> {
    fn deliver(&mut self, end: &mut E, cx: &mut Cx) {
        while self.rx.has_room(cx, 1)
            && let Some(item) = end.take()
        {
            // Room was asked for before.
            let _ = self.rx.push(cx, item);
        }
    }

    fn fetch(&mut self, end: &mut E, cx: &mut Cx) -> Vec<Violation> {
        let mut refused = Vec::new();
        while self.tx.peek(cx).is_some_and(|item| end.has_room(item)) {
            let Some(item) = self.tx.pop(cx) else { break };
            refused.extend(end.send(item).err());
        }
        refused
    }

    fn is_due(&self, cx: &Cx) -> bool {
        self.tx.is_due(cx)
    }
}

/// What travels between two ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WireItem<U> {
    /// A unit.
    Unit {
        /// As it arrives.
        unit: U,
        /// A fault input changed it.
        damaged: bool,
        /// A fault input took away the unit before it, or doubled it.
        behind_hidden: bool,
        /// What its sender expects next, see [`LinkEnd::expects`].
        expects: u8,
    },
    /// The sender trains the link; what comes behind belongs to the link as it is afterwards.
    Train,
    /// The sender's end is over; nothing that travels on a link.
    Over,
}

/// A link end that can say what it has done.
pub trait Reports: LinkEnd {
    /// What the report of a run needs of it: figures and what is open, no flits.
    type Report: Clone + Send + 'static;

    /// The state of this instant.
    fn report(&self) -> Self::Report;
}

/// What a port leaves behind for the report of the run.
#[derive(Debug, Clone)]
pub struct PortResult<R> {
    /// What the end said when the run was looked at; `None` before.
    pub end: Option<R>,
    /// Broken rules of the peer, without what a fault input made and the link repaired.
    pub violations: Vec<Event>,
    /// Units that the fault inputs of its transmitter changed; where units have numbers also those that vanished or came
    /// twice.
    pub damaged: u64,
    /// Times that it took the link down for training.
    pub trainings: u64,
    /// Where the time of what it sends has gone, without what it left idle.
    pub time: LineTime,
}

impl<R> Default for PortResult<R> {
    fn default() -> Self {
        PortResult { end: None, violations: Vec::new(), damaged: 0, trainings: 0, time: LineTime::default() }
    }
}

/// Most messages a class that wait in the packer of an end; the rest waits in the producer's channel.
pub const PACKER_DEPTH: usize = 16;

/// Channel ends, wire ends and taps of a port.
pub struct Ports<E: LinkEnd> {
    /// Channels of its agents.
    pub agents: Vec<Box<dyn Agent<E>>>,
    /// To the peer.
    pub wire_out: LinkOut<WireItem<E::Unit>>,
    /// From the peer.
    pub wire_in: LinkIn<WireItem<E::Unit>>,
    /// Received units.
    pub flits: Tap,
    /// Signals of the link layer.
    pub signals: Tap,
}

/// Inputs of a port besides its channels.
pub struct PortConfig<E> {
    /// The link end.
    pub end: E,
    /// Faults of its transmitter.
    pub wire: FaultyWire,
    /// Time that training takes \[fs\].
    pub retrain_fs: u64,
    /// Flit clocks from the start for which credits are held back, 0 for none.
    pub hold_credits_flits: u64,
    /// Units are used by halves: the port has two edges a flit clock.
    pub halves: bool,
    /// Trainings and replays in vain after which the run ends, see [`LinkEnd::fruitless`].
    pub give_up: u32,
}

/// Rule of a link that cannot work.
pub const GIVE_UP_RULE: &str = "SIM-LNK-01";

/// What a port says of a link that cannot work.
pub fn given_up(tries: u32, ber: f64) -> Violation {
    let found = format!("{tries} trainings or replays in a row");
    let text = format!(
        "the link cannot work: no training or replay brought a good payload unit, at a bit error rate of {ber:e}"
    );
    Violation::at_byte(GIVE_UP_RULE, 0, found, "one good payload unit", text)
}

/// How far training is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Training {
    /// The link is up.
    Over,
    /// This end trains; the peer has not told that it does too.
    Alone,
    /// Both ends train.
    Both,
}

/// A unit as it came; where units are used by halves, the even half has been taken and the odd one is there at an edge.
struct Half<U> {
    unit: U,
    damaged: bool,
    behind_hidden: bool,
    whole_at: u64,
}

/// The rule of a 68B link that has given up by itself: RETRY_ABORT (`cxl-68b` §7.3).
const LINK_FAILURE: &str = "CXL68-LRS-06";

/// Bits of what travels in a flit clock.
fn unit_bits(protocol: &str) -> u64 {
    Protocol::named(protocol).map_or(0, |p| 8 * p.unit_bytes() as u64)
}

/// What the hooks of the wire make of a unit; with it whether they changed it.
pub(super) fn on_wire<U: Unit>(
    hooks: Option<&Hooks>,
    way: Direction,
    protocol: &'static str,
    unit: U,
) -> impl Iterator<Item = (U, bool)> + use<U> {
    let arrivals = match hooks {
        Some(hooks) if hooks.looks_at_wire(way) => hooks.wire(way, protocol, unit),
        _ => [Some((unit, false)), None],
    };
    arrivals.into_iter().flatten()
}

/// What stands behind a transmitter: the hooks of the wire and its faults.
pub(super) struct WayOut {
    wire: FaultyWire,
    /// The last unit that was sent vanished or came twice.
    hidden: bool,
}

impl WayOut {
    pub fn new(wire: FaultyWire) -> WayOut {
        WayOut { wire, hidden: false }
    }

    /// Bit error rate of the wire.
    pub fn ber(&self) -> f64 {
        self.wire.ber()
    }

    /// Sends a unit of an end that expects this number next; `push` takes what travels of it.
    pub fn send<U: Unit>(
        &mut self,
        hooks: Option<&Hooks>,
        protocol: &'static str,
        unit: U,
        expects: u8,
        mut push: impl FnMut(WireItem<U>),
    ) {
        // Nearly every unit arrives as it is: 30 instructions instead of 200.
        let mut unit = unit;
        if !hooks.is_some_and(|hooks| hooks.looks_at_wire(Direction::Tx))
            && self.wire.sends_whole(unit.bytes_mut().len())
        {
            let behind_hidden = std::mem::take(&mut self.hidden);
            return push(WireItem::Unit { unit, damaged: false, behind_hidden, expects });
        }
        for (leaves, hooked) in on_wire(hooks, Direction::Tx, protocol, unit) {
            let (damaged_before, unseen_before) = (self.wire.damaged, self.wire.unseen);
            for unit in self.wire.send(leaves).into_iter().flatten() {
                let damaged = hooked || self.wire.damaged != damaged_before;
                let behind_hidden = std::mem::take(&mut self.hidden);
                push(WireItem::Unit { unit, damaged, behind_hidden, expects });
                // The second copy of a unit, and what follows it.
                self.hidden = self.wire.unseen != unseen_before;
            }
            self.hidden |= self.wire.unseen != unseen_before;
        }
    }

    /// Units that its faults changed, see [`PortResult::damaged`].
    pub fn damaged<E: LinkEnd>(&self, end: &E) -> u64 {
        self.wire.damaged + if end.is_numbered() { self.wire.unseen } else { 0 }
    }
}

/// A link end with its place in a simulation.
pub struct Port<E: Reports> {
    end: E,
    ports: Ports<E>,
    way_out: WayOut,
    retrain_fs: u64,
    training: Training,
    /// When the time of the last training is over.
    trained_at: Time,
    trainings: u64,
    told_over: bool,
    hold_until_flits: u64,
    /// Edges a flit clock.
    edges: u64,
    half: Option<Half<E::Unit>>,
    time: LineTime,
    unit_bits: u64,
    /// The first flit clock that is not in the account.
    accounted: u64,
    /// See [`PortConfig::give_up`]; `None`: it has been said.
    give_up: Option<u32>,
    /// Of [`LinkEnd::fruitless`], what was counted when its work was last done.
    tries_at_rest: u32,
    /// Since when the link has failed or trains.
    down_since: Option<Time>,
    shown: Vec<Option<u64>>,
    result: Arc<Mutex<PortResult<E::Report>>>,
    busy_since: Option<Time>,
}

impl<E: Reports> Port<E> {
    /// A port; its end is in `result` when the run is looked at, broken rules as they are seen.
    pub fn new(config: PortConfig<E>, ports: Ports<E>, result: Arc<Mutex<PortResult<E::Report>>>) -> Port<E> {
        let protocol = config.end.protocol();
        Port {
            end: config.end,
            ports,
            way_out: WayOut::new(config.wire),
            retrain_fs: config.retrain_fs,
            training: Training::Over,
            trained_at: Time::ZERO,
            trainings: 0,
            told_over: false,
            hold_until_flits: config.hold_credits_flits,
            edges: if config.halves { 2 } else { 1 },
            half: None,
            time: LineTime::default(),
            unit_bits: unit_bits(protocol),
            accounted: 0,
            give_up: Some(config.give_up),
            tries_at_rest: 0,
            down_since: None,
            shown: vec![None; E::SIGNALS.len()],
            result,
            busy_since: None,
        }
    }

    /// Goes down and tells the peer.
    fn train(&mut self, cx: &mut Cx, peer: bool) {
        self.end.phy_down();
        self.ports.wire_out.push(cx, WireItem::Train);
        self.training = if peer { Training::Both } else { Training::Alone };
        self.trained_at = cx.now().plus_fs(self.retrain_fs);
        self.trainings += 1;
        // Trainings in vain are counted while something waits here, so this has an end.
        if !self.end.is_done() {
            cx.waits_until(self.trained_at);
        }
        self.accounted = self.accounted.max(cx.cycle().div_ceil(self.edges));
        self.down_since = Some(cx.now());
    }

    /// The peer trains: as an answer to our word, or of itself, also directly behind a training that it has finished.
    fn peer_trains(&mut self, cx: &mut Cx) {
        match self.training {
            Training::Alone => self.training = Training::Both,
            Training::Over | Training::Both => self.train(cx, true),
        }
    }

    fn trained(&mut self, cx: &Cx) {
        if self.training == Training::Both && cx.now() >= self.trained_at {
            self.training = Training::Over;
            self.end.phy_up();
            let now_flits = cx.cycle().div_ceil(self.edges);
            let flits = now_flits.saturating_sub(self.accounted);
            self.time.add(flits * self.unit_bits, &Parts::all(Use::Replay));
            self.accounted = self.accounted.max(now_flits);
            self.down_since = None;
        }
    }

    fn arrivals(&mut self, cx: &mut Cx, at: Stamp) {
        if let Some(half) = self.half.take_if(|half| half.whole_at <= at.cycle) {
            self.unit(&half.unit, half.damaged, half.behind_hidden, at);
        }
        while let Some(item) = self.ports.wire_in.pop(cx) {
            self.rest_of_half(at);
            match item {
                WireItem::Train => self.peer_trains(cx),
                WireItem::Over => self.end.peer_is_over(),
                WireItem::Unit { unit, damaged, mut behind_hidden, expects } => {
                    self.end.peer_expects(expects);
                    if !self.end.hooks().is_some_and(|hooks| hooks.looks_at_wire(Direction::Rx)) {
                        self.arrival(unit, damaged, behind_hidden, at);
                        continue;
                    }
                    for (unit, hooked) in on_wire(self.end.hooks(), Direction::Rx, self.end.protocol(), unit) {
                        self.arrival(unit, damaged || hooked, std::mem::take(&mut behind_hidden), at);
                    }
                }
            }
        }
    }

    /// Units never overlap, but one that came twice is right behind itself.
    fn rest_of_half(&mut self, at: Stamp) {
        if let Some(half) = self.half.take() {
            self.unit(&half.unit, half.damaged, half.behind_hidden, at);
        }
    }

    fn arrival(&mut self, unit: E::Unit, damaged: bool, behind_hidden: bool, at: Stamp) {
        if self.edges == 1 {
            self.unit(&unit, damaged, behind_hidden, at);
            return;
        }
        self.rest_of_half(at);
        self.end.receive_even(&unit, at.cycle / self.edges);
        self.taken(at);
        let events = self.end.take_events();
        self.report(events, damaged, at);
        self.half = Some(Half { unit, damaged, behind_hidden, whole_at: at.cycle + 1 });
    }

    /// All of a unit is there.
    fn unit(&mut self, unit: &E::Unit, damaged: bool, behind_hidden: bool, at: Stamp) {
        if behind_hidden {
            self.end.hidden_fault();
        }
        self.ports.flits.record(at, Kind::Flit, 0, 0, || Body::Flit {
            protocol: self.end.protocol(),
            dir: self.end.dir().opposite().name(),
            bytes: { *unit }.bytes_mut().to_vec(),
        });
        self.end.receive(unit, at.cycle / self.edges);
        self.taken(at);
        let events = self.end.take_events();
        self.report(events, damaged, at);
    }

    fn taken(&mut self, at: Stamp) {
        let flits = &mut self.ports.flits;
        self.end.take_payload(&mut |number, unit| {
            flits.record(at, Kind::Mark, 0, 0, || Body::Taken { number, bytes: unit.bytes_mut().to_vec() });
        });
    }

    /// Keeps events, without those that a fault input made and that training or correction repairs.
    #[inline]
    fn report(&mut self, events: Vec<Event>, damaged: bool, at: Stamp) {
        if !events.is_empty() {
            self.keep(events, damaged, at);
        }
    }

    #[cold]
    fn keep(&mut self, events: Vec<Event>, damaged: bool, at: Stamp) {
        for event in events {
            let repaired =
                self.end.is_explained(damaged) && matches!(event.severity, Severity::Corrected | Severity::Retrain);
            let violation = &event.violation;
            self.ports.signals.record(at, Kind::Violation, 0, 0, || Body::Violation(violation.clone()));
            if !repaired {
                let mut result = self.result.lock().unwrap_or_else(PoisonError::into_inner);
                result.violations.push(event);
            }
        }
    }

    fn deliver(&mut self, cx: &mut Cx) {
        for agent in &mut self.ports.agents {
            agent.deliver(&mut self.end, cx);
        }
    }

    fn fetch(&mut self, cx: &mut Cx, at: Stamp) {
        for n in 0..self.ports.agents.len() {
            for violation in self.ports.agents[n].fetch(&mut self.end, cx) {
                // An agent of this model sends legal items only; what it did wrong is shown, not hidden.
                self.report(vec![Event { severity: Severity::Protocol, unit: 0, violation }], false, at);
            }
        }
    }

    fn send(&mut self, cx: &mut Cx, at: Stamp) {
        let sent = self.end.transmit(at.cycle / self.edges);
        self.time.add(self.unit_bits, &self.end.uses());
        self.accounted = at.cycle / self.edges + 1;
        if let Some(unit) = sent {
            let (end, wire_out) = (&self.end, &mut self.ports.wire_out);
            let push = |item| wire_out.push(cx, item);
            self.way_out.send(end.hooks(), end.protocol(), unit, end.expects(), push);
        }
        let events = self.end.take_events();
        self.report(events, false, at);
        if self.end.take_retrain_request() {
            self.train(cx, false);
        }
        self.judge(cx, at);
    }

    /// Ends the run where the link cannot work.
    fn judge(&mut self, cx: &mut Cx, at: Stamp) {
        // What a link repairs while nothing waits carries nothing, so it is no try in vain.
        let tries = self.end.fruitless();
        let at_rest = if self.end.is_done() { tries } else { self.tries_at_rest.min(tries) };
        self.tries_at_rest = at_rest;
        let tries = tries - at_rest;
        if let Some(rule) = self.end.halted() {
            self.down_since.get_or_insert(cx.now());
            if rule == LINK_FAILURE {
                cx.give_up(rule);
            }
        } else if self.give_up.take_if(|most| tries >= *most).is_some() {
            self.down_since.get_or_insert(cx.now());
            let violation = given_up(tries, self.way_out.ber());
            self.report(vec![Event { severity: Severity::Uncorrectable, unit: 0, violation }], false, at);
            cx.give_up(GIVE_UP_RULE);
        }
    }

    fn show(&mut self, at: Stamp) {
        if !self.ports.signals.is_on() {
            return;
        }
        for ((shown, &(signal, _)), value) in self.shown.iter_mut().zip(E::SIGNALS).zip(self.end.values()) {
            if shown.replace(value) != Some(value) {
                self.ports.signals.record(at, Kind::Value, 0, 0, || Body::Value { signal, value });
            }
        }
    }

    /// The edge of the next flit clock.
    fn next_flit(&self, cycle: u64) -> u64 {
        (cycle / self.edges + 1) * self.edges
    }
}

impl<E: Reports> Module for Port<E> {
    fn eval(&mut self, cx: &mut Cx) -> Next {
        let at = Stamp { t_fs: cx.now().as_fs(), cycle: cx.cycle() };
        let now_flits = at.cycle / self.edges;
        if let Some(hooks) = self.end.hooks() {
            hooks.instant(now_flits, at.t_fs);
        }
        self.trained(cx);
        self.end.hold_credits(now_flits < self.hold_until_flits);
        self.arrivals(cx, at);
        self.trained(cx);
        self.deliver(cx);
        let is_flit_edge = at.cycle.is_multiple_of(self.edges);
        if is_flit_edge {
            self.fetch(cx, at);
            if self.training == Training::Over {
                self.send(cx, at);
            }
        }
        self.show(at);
        if self.end.is_over() && !std::mem::replace(&mut self.told_over, true) {
            self.ports.wire_out.push(cx, WireItem::Over);
        }
        self.busy_since = if self.end.is_quiet() { None } else { self.busy_since.or(Some(cx.now())) };
        let half_at = self.half.as_ref().map(|half| half.whole_at);
        // Items that came between two flit clocks, or stay behind what has left in this flit, are fetched at the next one.
        let is_due = self.ports.agents.iter().any(|agent| agent.is_due(cx));
        let is_training = self.training != Training::Over;
        // While the link trains nothing leaves the end, so what it had no room for stays where it is.
        let has_room = !(is_training && is_flit_edge);
        let fetch_at = (is_due && has_room).then(|| self.next_flit(at.cycle));
        let own = half_at.into_iter().chain(fetch_at).min();
        if is_training {
            // Without the peer's word there is nothing to do until it arrives, and that wakes the module.
            let over = (self.trained_at > cx.now()).then_some(self.trained_at);
            let own = own.map(|cycle| cx.in_cycles(cycle - at.cycle));
            return own.into_iter().chain(over).min().map_or(Next::Idle, Next::At);
        }
        let mut wakes_at = self.end.wakes_at(now_flits);
        if now_flits < self.hold_until_flits {
            wakes_at = Some(wakes_at.unwrap_or(u64::MAX).min(self.hold_until_flits));
        }
        let end_at = wakes_at.map(|flits| flits.saturating_mul(self.edges).max(self.next_flit(at.cycle)));
        match end_at.into_iter().chain(own).min() {
            Some(cycle) if cycle <= at.cycle + 1 => Next::Busy,
            Some(cycle) => Next::At(cx.in_cycles(cycle - at.cycle)),
            None => Next::Idle,
        }
    }

    fn idle_ok(&self) -> Result<(), Pending> {
        let since = self.down_since.or(self.busy_since).unwrap_or(Time::ZERO);
        match self.end.halted() {
            Some(rule) => Err(Pending::new(format!("the link has stopped ({rule})"), since)),
            None if self.end.is_quiet() => Ok(()),
            None => Err(Pending::new(self.end.open_work(), since)),
        }
    }

    fn publish(&self) {
        let mut result = self.result.lock().unwrap_or_else(PoisonError::into_inner);
        result.end = Some(self.end.report());
        result.damaged = self.way_out.damaged(&self.end);
        result.trainings = self.trainings;
        result.time = self.time;
    }

    fn is_done(&self) -> bool {
        self.training == Training::Over && self.end.is_done()
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, u64)) {
        for (&(signal, _), value) in E::SIGNALS.iter().zip(self.end.values()) {
            visit(signal, value);
        }
    }
}
