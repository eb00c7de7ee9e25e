//! A 256B [`End`] behind a port of the kernel, whatever [`Layer`] stands above its numbers: items of agents in its own
//! spelling, its signals, its open work.
//!
//! A link in L0 carries a flit in every flit clock. NOPs that change nothing are left out, see [`End::wakes_at`]: an end
//! sends in the flit clocks in which it has something to say, whenever it is asked. So no fault hits the NOPs of a link at
//! rest.

use super::cachemem::{Cachemem, CachememStats};
use super::client::{Client, Part, Urgent};
use super::config::{CachememConfig, LinkConfig};
use super::end::{End, Stats};
use super::fault::WireFlit;
use crate::classes::ByClass;
use crate::coverage::Met;
use crate::cxlio::{FlitEnd, Port as _};
use crate::event::{Event, finding};
use crate::hook::Hooks;
use crate::line_time::Parts;
use crate::port::{Carries, CxlEnd, LinkEnd, PACKER_DEPTH, Reports};
use scalepool_protocols::cxl::cxl256::class::Routing;
use scalepool_protocols::cxl::cxl256::code::FlitType;
use scalepool_protocols::cxl::cxl256::flit::Flit;
use scalepool_protocols::cxl::cxl256::number;
use scalepool_protocols::cxl::message::{Class, Message};
use scalepool_protocols::wire::Violation;

/// Name and width in bits of a signal.
pub type Signal = (&'static str, u32);

/// Signals of the numbers.
const NUMBERS: [Signal; 7] = [
    ("next_number", 10),
    ("acknowledged", 10),
    ("unacknowledged", 9),
    ("expected", 10),
    ("handshake", 1),
    ("replaying", 1),
    ("nak_open", 1),
];

/// Signals of the numbers and those of a layer behind them; `ALL` is `OWN` and 7.
pub const fn signals<const OWN: usize, const ALL: usize>(own: [Signal; OWN]) -> [Signal; ALL] {
    let mut all = [NUMBERS[0]; ALL];
    let mut n = 0;
    while n < ALL {
        all[n] = if n < NUMBERS.len() { NUMBERS[n] } else { own[n - NUMBERS.len()] };
        n += 1;
    }
    all
}

/// A client that a port can show and report on.
pub trait Layer: Client + Clone + Send + 'static {
    /// All signals of the end, see [`signals`].
    const SIGNALS: &'static [Signal];

    /// Values of its own signals.
    fn values(&self) -> Vec<u64>;

    /// Holds back or releases the credits of its buffers (a fault input).
    fn hold_credits(&mut self, hold: bool);

    /// Whether something has to wait for a credit alone.
    fn lacks_credit(&self) -> bool;

    /// The rule that stopped it.
    fn halted(&self) -> Option<&'static str>;

    /// What is open, for a person to read.
    fn open_work(&self) -> String;
}

impl Layer for Cachemem {
    const SIGNALS: &'static [Signal] = &signals::<2, 9>([("credits_waiting", 16), ("owed_slots", 6)]);

    fn values(&self) -> Vec<u64> {
        vec![self.credits().pending().into(), self.owed_slots() as u64]
    }

    fn hold_credits(&mut self, hold: bool) {
        Cachemem::hold_credits(self, hold);
    }

    fn lacks_credit(&self) -> bool {
        let lacks = |class: Class| self.waiting(class) > 0 && self.credits().spend[class.index()] == 0;
        self.is_up() && Class::ALL.into_iter().any(lacks)
    }

    fn halted(&self) -> Option<&'static str> {
        Cachemem::halted(self)
    }

    fn open_work(&self) -> String {
        let waiting: usize = Class::ALL.iter().map(|&c| self.waiting(c)).sum();
        let (inbox, credits) = (self.inbox_len(), self.credits().pending());
        format!("{waiting} messages to send, {inbox} received and not taken, {credits} credits to return")
    }
}

impl Layer for FlitEnd {
    const SIGNALS: &'static [Signal] = &signals::<3, 10>([("io_up", 1), ("tlps_sent", 32), ("tlps_received", 32)]);

    fn values(&self) -> Vec<u64> {
        let total = |counts: [u64; 3]| counts.into_iter().sum();
        vec![self.is_up().into(), total(self.stats().sent), total(self.stats().received)]
    }

    fn hold_credits(&mut self, hold: bool) {
        crate::cxlio::Port::hold_credits(self, hold);
    }

    fn lacks_credit(&self) -> bool {
        crate::cxlio::Port::lacks_credit(self)
    }

    fn halted(&self) -> Option<&'static str> {
        None
    }

    fn open_work(&self) -> String {
        let stats = self.stats();
        format!("{:?} TLPs sent, {:?} received, by kind", stats.sent, stats.received)
    }
}

/// A layer whose payload can be watched.
#[derive(Debug, Clone)]
pub struct Watched<C> {
    layer: C,
    /// Payload since it was asked for last.
    taken: Vec<Flit>,
    /// Payload in all.
    count: u64,
}

impl<C: Client> Client for Watched<C> {
    fn transmit(&mut self, now_flits: u64) -> Option<Flit> {
        self.layer.transmit(now_flits)
    }

    fn uses(&self) -> Parts {
        self.layer.uses()
    }

    fn receive(&mut self, flit: &Flit, part: Part, now_flits: u64) {
        if part != Part::Even {
            self.taken.push(*flit);
            self.count += 1;
        }
        self.layer.receive(flit, part, now_flits);
    }

    fn urgent(&mut self, leaving: Option<&Flit>) -> Option<Urgent> {
        self.layer.urgent(leaving)
    }

    fn dllp(&mut self, now_flits: u64) -> Option<[u8; 4]> {
        self.layer.dllp(now_flits)
    }

    fn receive_dllp(&mut self, bytes: [u8; 4], now_flits: u64) {
        self.layer.receive_dllp(bytes, now_flits);
    }

    fn phy_down(&mut self) {
        self.layer.phy_down();
    }

    fn phy_up(&mut self) {
        self.layer.phy_up();
    }

    fn link_reset(&mut self) {
        self.taken.clear();
        self.count = 0;
        self.layer.link_reset();
    }

    fn take_retrain_request(&mut self) -> bool {
        self.layer.take_retrain_request()
    }

    fn is_quiet(&self) -> bool {
        self.layer.is_quiet()
    }

    fn wakes_at(&self, now_flits: u64) -> Option<u64> {
        self.layer.wakes_at(now_flits)
    }

    fn take_events(&mut self) -> Vec<Event> {
        self.layer.take_events()
    }

    fn attach_hooks(&mut self, hooks: &Hooks) {
        self.layer.attach_hooks(hooks);
    }
}

/// An end, and what a port counts of it.
#[derive(Debug, Clone)]
pub struct PortEnd<C: Layer> {
    /// The end.
    pub end: End<Watched<C>>,
    /// Flits sent, without the NOPs that were left out.
    pub sent: u64,
    /// Flit clocks in which something waited and had no credit, while nothing else could be sent.
    pub credit_stalls: u64,
    uses: Parts,
}

impl PortEnd<Cachemem> {
    /// An end with CXL.cachemem above the numbers. The format is that of `config`.
    pub fn cachemem(link: LinkConfig, config: CachememConfig) -> PortEnd<Cachemem> {
        PortEnd::new(LinkConfig { mode: config.mode, ..link }, Cachemem::new(config))
    }
}

impl<C: Layer> PortEnd<C> {
    /// An end that has sent nothing.
    pub fn new(link: LinkConfig, layer: C) -> PortEnd<C> {
        let client = Watched { layer, taken: Vec::new(), count: 0 };
        PortEnd { end: End::new(link, client), sent: 0, credit_stalls: 0, uses: Parts::default() }
    }

    /// What stands above the numbers.
    pub fn layer(&self) -> &C {
        &self.end.client.layer
    }

    /// The same, to be changed.
    pub fn layer_mut(&mut self) -> &mut C {
        &mut self.end.client.layer
    }
}

/// Queues a message of an agent in front of CXL.cachemem.
///
/// # Errors
/// It must not travel in these flits.
pub fn send_message(cachemem: &mut Cachemem, message: &Message) -> Result<(), Violation> {
    let routing = cachemem.config().mode.routing();
    let rule = message.class().def(routing).rule;
    let refused = |text: &str| finding(rule, "an illegal message", "a legal one", text);
    let message = message.to_cxl256(routing).map_err(|e| refused(&e.to_string()))?;
    cachemem.send(message).map_err(|e| refused(&e.to_string()))
}

/// The next received message as an agent spells it.
pub fn take_message(cachemem: &mut Cachemem) -> Option<Message> {
    let routing = cachemem.config().mode.routing();
    cachemem.take().map(|message| Message::from_cxl256(&message, routing))
}

impl ByClass for PortEnd<Cachemem> {
    fn take_class(&mut self, class: Class) -> Option<Message> {
        let layer = self.layer_mut();
        let routing = layer.config().mode.routing();
        layer.take_class(class).map(|message| Message::from_cxl256(&message, routing))
    }

    fn waits(&self, class: Class) -> usize {
        self.layer().waiting(class)
    }
}

impl Carries<Message> for PortEnd<Cachemem> {
    fn has_room(&self, message: &Message) -> bool {
        self.layer().waiting(message.class()) < PACKER_DEPTH
    }

    fn send(&mut self, message: Message) -> Result<(), Violation> {
        send_message(self.layer_mut(), &message)
    }

    fn take(&mut self) -> Option<Message> {
        take_message(self.layer_mut())
    }
}

/// What the report of a run needs of an end that carries CXL.cachemem alone.
#[derive(Debug, Clone)]
pub struct EndReport {
    /// Counters of the link.
    pub stats: Stats,
    /// Counters of CXL.cachemem.
    pub cachemem: CachememStats,
    /// Flits sent.
    pub sent: u64,
    /// Flit clocks in which a message waited for a credit.
    pub credit_stalls: u64,
    /// How messages are spelled.
    pub routing: Routing,
    /// Messages that it may send, by [`Class::index`].
    pub spend: [u16; 12],
    /// Credits granted to the peer that the peer has not used, by [`Class::index`].
    pub granted: [u16; 12],
    /// The last number that the peer has acknowledged.
    pub acknowledged: u16,
    /// The last number received well.
    pub last_good: u16,
    /// Bins that were met.
    pub coverage: Vec<Met>,
    /// The rule that stopped the link.
    pub halted: Option<&'static str>,
}

impl Reports for PortEnd<Cachemem> {
    type Report = EndReport;

    fn report(&self) -> EndReport {
        let layer = self.layer();
        EndReport {
            stats: *self.end.stats(),
            cachemem: *layer.stats(),
            sent: self.sent,
            credit_stalls: self.credit_stalls,
            routing: self.end.link().mode.routing(),
            spend: layer.credits().spend,
            granted: Class::ALL.map(|class| layer.credits().granted(class)),
            acknowledged: self.end.transmitter().acknowledged(),
            last_good: self.end.receiver().last_good(),
            coverage: layer.coverage().met(),
            halted: self.halted(),
        }
    }
}

impl<C: Layer> LinkEnd for PortEnd<C> {
    type Unit = WireFlit;

    const SIGNALS: &'static [Signal] = C::SIGNALS;

    fn protocol(&self) -> &'static str {
        self.end.link().mode.protocol()
    }

    fn receive_even(&mut self, unit: &WireFlit, now_flits: u64) {
        self.end.receive_even(&unit.flit, now_flits);
    }

    fn receive(&mut self, unit: &WireFlit, now_flits: u64) {
        self.end.receive(&unit.flit, now_flits);
    }

    fn is_numbered(&self) -> bool {
        true
    }

    fn take_payload(&mut self, each: &mut dyn FnMut(u16, &[u8])) {
        let client = &mut self.end.client;
        // The client gets each number once and in order.
        let first = client.count - client.taken.len() as u64;
        let number = |n| (n % u64::from(number::LAST)) as u16 + 1;
        for (n, flit) in (first..).zip(client.taken.drain(..)) {
            each(number(n), &flit.0);
        }
    }

    fn transmit(&mut self, now_flits: u64) -> Option<WireFlit> {
        let due =
            |end: &End<Watched<C>>| now_flits == 0 || end.wakes_at(now_flits - 1).is_some_and(|at| at <= now_flits);
        if !due(&self.end) {
            self.uses = Parts::default();
            return None;
        }
        let lacks_credit = self.layer().lacks_credit();
        let flit = self.end.transmit(now_flits);
        self.sent += 1;
        self.uses = self.end.uses();
        self.credit_stalls += u64::from(lacks_credit && flit.header().flit_type == FlitType::Nop);
        Some(WireFlit { mode: self.end.link().mode, flit })
    }

    fn uses(&self) -> Parts {
        self.uses
    }

    fn fruitless(&self) -> u32 {
        self.end.fruitless()
    }

    fn phy_down(&mut self) {
        self.end.phy_down();
    }

    fn phy_up(&mut self) {
        self.end.phy_up();
    }

    fn take_retrain_request(&mut self) -> bool {
        self.end.take_retrain_request()
    }

    fn take_events(&mut self) -> Vec<Event> {
        self.end.take_events()
    }

    fn attach_hooks(&mut self, hooks: &Hooks) {
        self.end.attach_hooks(hooks);
    }

    fn hooks(&self) -> &Hooks {
        self.end.hooks()
    }

    fn halted(&self) -> Option<&'static str> {
        self.end.halted().or(self.layer().halted())
    }

    fn is_quiet(&self) -> bool {
        self.end.is_quiet()
    }

    fn is_done(&self) -> bool {
        self.end.is_done()
    }

    fn values(&self) -> Vec<u64> {
        let (transmitter, receiver) = (self.end.transmitter(), self.end.receiver());
        let mut values = vec![
            transmitter.next_number().into(),
            transmitter.acknowledged().into(),
            transmitter.unacknowledged() as u64,
            receiver.expected.into(),
            transmitter.in_handshake().into(),
            transmitter.replaying().into(),
            receiver.nak_open.into(),
        ];
        values.extend(self.layer().values());
        values
    }

    fn open_work(&self) -> String {
        let kept = self.end.transmitter().unacknowledged();
        format!("{}, {kept} flits not acknowledged", self.layer().open_work())
    }
}

impl<C: Layer> CxlEnd for PortEnd<C> {
    fn hold_credits(&mut self, hold: bool) {
        self.layer_mut().hold_credits(hold);
    }

    fn wakes_at(&self, now_flits: u64) -> Option<u64> {
        self.end.wakes_at(now_flits)
    }

    fn hidden_fault(&mut self) {
        self.end.hidden_fault();
    }
}
