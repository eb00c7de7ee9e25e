//! A 256B [`Cxl256End`] behind a port of the kernel, whatever [`Layer`] stands above its numbers: items of agents in
//! its own spelling, its signals, its open work.
//!
//! A link in L0 carries a flit in every flit clock. NOPs that change nothing are left out, see [`Cxl256End::wakes_at`]:
//! an end sends in the flit clocks in which it has something to say, whenever it is asked. So no fault hits the NOPs of
//! a link at rest.

use super::cachemem::{Cachemem, CachememStats};
use super::client::Client;
use super::end::{ClientPayload, Cxl256End, Stats};
use super::form::Flit256;
use crate::classes::ByClass;
use crate::coverage::Met;
use crate::cxlio::{FlitEnd, IoPort as _};
use crate::event::{LinkEvent, finding};
use crate::health::liveness::{LinkWait, WaitKind};
use crate::health::{LinkHealth, channel_key, channel_name, figures, states};
use crate::hook::{Direction, Hooks};
use crate::line_time::LineTimeParts;
use crate::port::{Carries, CxlEnd, LinkEnd, PACKER_DEPTH, Reports};
use scalepool_forms::FormError;
use scalepool_protocols::cxl::cxl256::Routing;
use scalepool_protocols::cxl::cxl256::code::FlitType;
use scalepool_protocols::cxl::cxl256::number;
use scalepool_protocols::cxl::cxl256::stream::Cxl256Message;
use scalepool_protocols::cxl::link_status::LinkStatus;
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

/// A client that a port can show and report on. By default it has no signals, credits or queues.
pub trait Layer: Client + Send + 'static {
    /// All signals of the end, see [`signals`].
    const SIGNALS: &'static [Signal] = &NUMBERS;

    /// Values of its own signals.
    fn values(&self) -> Vec<u64> {
        Vec::new()
    }

    /// Holds back or releases the credits of its buffers (a fault input).
    fn hold_credits(&mut self, hold: bool) {
        let _ = hold;
    }

    /// Whether something has to wait for a credit alone.
    fn lacks_credit(&self) -> bool {
        false
    }

    /// Credits have been exchanged.
    fn is_up(&self) -> bool {
        true
    }

    /// Fills the figures of its messages and credits.
    fn fill_health(&self, health: &mut LinkHealth) {
        let _ = health;
    }

    /// Tells the channels whose messages wait for a credit alone.
    fn credit_waits(&self, each: &mut dyn FnMut(LinkWait<'_>)) {
        let _ = each;
    }

    /// The rule that stopped it.
    fn halted(&self) -> Option<&'static str> {
        None
    }

    /// What is open, for a person to read.
    fn open_work(&self) -> String {
        String::new()
    }
}

impl<F: Flit256> Layer for Cachemem<F> {
    const SIGNALS: &'static [Signal] = &signals::<2, 9>([("credits_waiting", 16), ("owed_slots", 6)]);

    fn values(&self) -> Vec<u64> {
        vec![self.credits().pending().into(), self.owed_slots() as u64]
    }

    fn hold_credits(&mut self, hold: bool) {
        Cachemem::hold_credits(self, hold);
    }

    fn lacks_credit(&self) -> bool {
        Layer::is_up(self) && Cachemem::lacks_credit(self)
    }

    fn is_up(&self) -> bool {
        Cachemem::is_up(self)
    }

    fn fill_health(&self, health: &mut LinkHealth) {
        let config = self.config();
        let routing = config.mode.routing();
        // Between switches a channel goes both ways.
        let is_sent = |class: Class| class.dir() == config.dir || config.sends[class.index()];
        let is_received = |class: Class| class.dir() != config.dir || config.buffers[class.index()] > 0;
        let of = |goes: &dyn Fn(Class) -> bool, count: &dyn Fn(Class) -> u64| {
            let classes = Class::ALL.into_iter().filter(|class| goes(*class));
            classes.map(|class| (channel_key(class.def(routing).name).to_owned(), count(class))).collect::<Vec<_>>()
        };
        health.each(&figures::MESSAGES_WAITING, of(&is_sent, &|class| self.waiting(class) as u64));
        health.each(&figures::CREDITS, of(&is_sent, &|class| self.credits().spend[class.index()].into()));
        health.each(&figures::CREDITS_GIVEN, of(&is_received, &|class| self.credits().granted(class).into()));
    }

    fn credit_waits(&self, each: &mut dyn FnMut(LinkWait<'_>)) {
        for class in Class::ALL {
            let waiting = self.waiting(class) as u64;
            if waiting > 0 && self.credits().spend[class.index()] == 0 {
                let channel = &channel_name(class.def(self.config().mode.routing()).name);
                let (kind, by, progress) = (WaitKind::Credit, Direction::Rx, self.credits().received(class));
                each(LinkWait { kind, by, channel, waiting, is_passed: false, progress });
            }
        }
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
        vec![Layer::is_up(self).into(), total(self.stats().sent), total(self.stats().received)]
    }

    fn hold_credits(&mut self, hold: bool) {
        crate::cxlio::IoPort::hold_credits(self, hold);
    }

    fn lacks_credit(&self) -> bool {
        crate::cxlio::IoPort::lacks_credit(self)
    }

    fn is_up(&self) -> bool {
        crate::cxlio::IoPort::is_up(self)
    }

    fn open_work(&self) -> String {
        let stats = self.stats();
        format!("{:?} TLPs sent, {:?} received, by kind", stats.sent, stats.received)
    }
}

/// Queues a message of an agent in front of CXL.cachemem.
///
/// # Errors
/// It must not travel in these flits.
pub fn send_message<F: Flit256>(cachemem: &mut Cachemem<F>, message: &Message) -> Result<(), Violation> {
    let routing = cachemem.config().mode.routing();
    let rule = || message.class().def(routing).rule;
    let refused = |text: &str| finding(rule(), "an illegal message", "a legal one", text);
    let (_, bits) = message.spell(routing.into()).map_err(|e| refused(&e.to_string()))?;
    // Made where it is handed on from: `Message::to_cxl256` gives it through a result, which moves it once more.
    let spelled = Cxl256Message { class: message.class(), bits, data: message.data().copied() };
    cachemem.send(spelled).map_err(|e| refused(&e.to_string()))
}

/// The next received message as an agent spells it.
pub fn take_message<F: Flit256>(cachemem: &mut Cachemem<F>) -> Option<Message> {
    let routing = cachemem.config().mode.routing();
    cachemem.take_as(|message| Message::from_cxl256(message, routing))
}

/// Takes the next received message of a class.
pub fn take_of_class<F: Flit256>(cachemem: &mut Cachemem<F>, class: Class) -> Option<Message> {
    let routing = cachemem.config().mode.routing();
    cachemem.take_class(class, |message| Message::from_cxl256(message, routing))
}

impl<F: Flit256> ByClass for Cxl256End<Cachemem<F>> {
    #[inline]
    fn has_received(&self) -> bool {
        self.client.has_received()
    }

    #[inline]
    fn may_have_received(&self, class: Class) -> bool {
        self.client.has_received_of(class)
    }

    #[inline]
    fn take_class(&mut self, class: Class) -> Option<Message> {
        take_of_class(&mut self.client, class)
    }

    #[inline]
    fn waits(&self, class: Class) -> usize {
        self.client.waiting(class)
    }

    fn damaged(&self) -> u64 {
        self.stats().bad
    }

    fn tell(&mut self, status: LinkStatus) {
        match status {
            LinkStatus::Viral(logical_devices) => self.client.set_viral(logical_devices),
            LinkStatus::ViralOver => self.client.clear_viral(),
            LinkStatus::HotReset => self.client.statuses_mut().ask_hot_reset(),
        }
    }

    fn take_heard(&mut self) -> Option<LinkStatus> {
        self.client.statuses_mut().take_heard()
    }
}

impl<F: Flit256> Carries<Message> for Cxl256End<Cachemem<F>> {
    fn has_room(&self, message: &Message) -> bool {
        self.client.waiting(message.class()) < PACKER_DEPTH
    }

    fn has_room_for_any(&self) -> bool {
        self.client.queued() < PACKER_DEPTH
    }

    fn send(&mut self, message: Message) -> Result<(), Violation> {
        send_message(&mut self.client, &message)
    }

    fn take(&mut self) -> Option<Message> {
        take_message(&mut self.client)
    }
}

/// What the report of a run needs of an end that carries CXL.cachemem alone.
#[derive(Debug, Clone)]
pub struct EndReport {
    /// Counters of the link.
    pub stats: Stats,
    /// Counters of CXL.cachemem.
    pub cachemem: CachememStats,
    /// How messages are spelled.
    pub routing: Routing,
    /// Messages that it may send, by [`Class::index`].
    pub spend: [u16; Class::COUNT],
    /// Credits granted to the peer that the peer has not used, by [`Class::index`].
    pub granted: [u16; Class::COUNT],
    /// Buffers with messages that nobody has taken, by [`Class::index`].
    pub held: [u16; Class::COUNT],
    /// The last number that the peer has acknowledged.
    pub acknowledged: u16,
    /// The last number received well.
    pub last_good: u16,
    /// Bins that were met.
    pub coverage: Vec<Met>,
    /// The rule that stopped the link.
    pub halted: Option<&'static str>,
}

impl<F: Flit256> Reports for Cxl256End<Cachemem<F>> {
    type Report = EndReport;

    fn report(&self) -> EndReport {
        let layer = &self.client;
        EndReport {
            stats: *self.stats(),
            cachemem: *layer.stats(),
            routing: self.link().mode.routing(),
            spend: layer.credits().spend,
            granted: Class::ALL.map(|class| layer.credits().granted(class)),
            held: Class::ALL.map(|class| layer.credits().held(class)),
            acknowledged: self.transmitter().acknowledged(),
            last_good: self.receiver().last_good(),
            coverage: layer.coverage().met(),
            halted: LinkEnd::halted(self),
        }
    }
}

impl<C: Layer> Cxl256End<C> {
    /// Places of its states in [`states::CXL256`].
    fn health_states(&self) -> [usize; 2] {
        let (transmitter, receiver) = (self.transmitter(), self.receiver());
        let link = match (LinkEnd::halted(self), self.is_down()) {
            (Some(_), _) => states::LINK_STOPPED,
            (None, true) => states::LINK_TRAINING,
            (None, false) if !Layer::is_up(&self.client) => states::LINK_INIT,
            (None, false) => states::LINK_UP,
        };
        let retry = match () {
            () if transmitter.in_handshake() => states::RETRY_HANDSHAKE,
            () if receiver.nak_open => states::RETRY_WAITS,
            () if transmitter.replaying() => states::RETRY_REPLAYS,
            () => states::RETRY_NORMAL,
        };
        [link, retry]
    }
}

impl<C: Layer> LinkEnd for Cxl256End<C> {
    type Unit = <C::Flit as Flit256>::Unit;

    const SIGNALS: &'static [Signal] = C::SIGNALS;

    const FILLS: bool = true;

    fn protocol(&self) -> &'static str {
        self.link().mode.protocol()
    }

    fn unit(&self, bytes: &[u8]) -> Result<Self::Unit, FormError> {
        C::Flit::unit(self.link().mode, bytes)
    }

    fn receive_even(&mut self, unit: &Self::Unit, now_flits: u64) {
        Cxl256End::receive_even(self, C::Flit::of_wire(unit), now_flits);
    }

    fn receive(&mut self, unit: &Self::Unit, now_flits: u64) {
        Cxl256End::receive(self, C::Flit::of_wire(unit), now_flits);
    }

    fn take_in(&mut self, unit: &mut Self::Unit, now_flits: u64) {
        Cxl256End::take_in(self, C::Flit::off_wire(unit), now_flits);
    }

    fn hidden_fault(&mut self) {
        Cxl256End::hidden_fault(self);
    }

    fn is_numbered(&self) -> bool {
        true
    }

    fn keep_payload(&mut self) {
        self.payload.kept.get_or_insert_default();
    }

    fn take_payload(&mut self, each: &mut dyn FnMut(u16, &[u8])) {
        let ClientPayload { kept: Some(kept), count } = &mut self.payload else { return };
        // The client gets each number once and in order.
        let first = *count - kept.len() as u64;
        let number = |n| (n % u64::from(number::LAST)) as u16 + 1;
        for (n, flit) in (first..).zip(kept.drain(..)) {
            each(number(n), flit.bytes());
        }
    }

    fn transmit(&mut self, now_flits: u64) -> Option<Self::Unit> {
        let is_due = now_flits == 0 || Cxl256End::wakes_at(self, now_flits - 1).is_some_and(|at| at <= now_flits);
        if !is_due {
            self.uses = LineTimeParts::default();
            return None;
        }
        self.fill(now_flits)
    }

    fn fill(&mut self, now_flits: u64) -> Option<Self::Unit> {
        let lacks_credit = self.client.lacks_credit();
        let flit = Cxl256End::transmit(self, now_flits);
        self.stats.credit_stalls += u64::from(lacks_credit && flit.header().flit_type == FlitType::Nop);
        Some(flit.on_wire(self.link().mode))
    }

    fn uses(&self) -> LineTimeParts {
        self.uses
    }

    fn fruitless(&self) -> u32 {
        Cxl256End::fruitless(self)
    }

    fn phy_down(&mut self) {
        Cxl256End::phy_down(self);
    }

    fn phy_up(&mut self) {
        Cxl256End::phy_up(self);
    }

    fn take_retrain_request(&mut self) -> bool {
        Cxl256End::take_retrain_request(self)
    }

    fn take_events(&mut self) -> Vec<LinkEvent> {
        Cxl256End::take_events(self)
    }

    fn has_events(&self) -> bool {
        Cxl256End::has_events(self)
    }

    fn attach_hooks(&mut self, hooks: &Hooks) {
        Cxl256End::attach_hooks(self, hooks);
    }

    fn hooks(&self) -> &Hooks {
        Cxl256End::hooks(self)
    }

    fn halted(&self) -> Option<&'static str> {
        Cxl256End::halted(self).or(Layer::halted(&self.client))
    }

    fn is_quiet(&self) -> bool {
        Cxl256End::is_quiet(self)
    }

    fn is_done(&self) -> bool {
        Cxl256End::is_done(self)
    }

    fn values(&self) -> Vec<u64> {
        let (transmitter, receiver) = (self.transmitter(), self.receiver());
        let mut values = vec![
            transmitter.next_number().into(),
            transmitter.acknowledged().into(),
            transmitter.unacknowledged() as u64,
            receiver.expected.into(),
            transmitter.in_handshake().into(),
            transmitter.replaying().into(),
            receiver.nak_open.into(),
        ];
        values.extend(Layer::values(&self.client));
        values
    }

    fn pass_time(&mut self, now_flits: u64) {
        let [link, retry] = self.health_states();
        self.times.pass(now_flits, link, retry);
    }

    fn health(&self, now_flits: u64) -> LinkHealth {
        let (stats, transmitter, receiver) = (self.stats(), self.transmitter(), self.receiver());
        let mut health = LinkHealth::default();
        let [link, retry] = self.health_states();
        self.times.fill(&mut health, now_flits, link, retry);
        health.number(&figures::RETRY_TRIES, transmitter.tries());
        // As its peer counts them: without the NOPs that were left out at rest.
        health.number(&figures::SENT_FLITS, stats.modelled);
        health.number(&figures::RECEIVED_FLITS, self.received());
        health.number(&figures::NEXT_NUMBER, transmitter.next_number());
        health.number(&figures::EXPECTED_NUMBER, receiver.expected);
        health.number(&figures::ACKNOWLEDGED_NUMBER, transmitter.acknowledged());
        health.number(&figures::UNACKNOWLEDGED_FLITS, transmitter.unacknowledged() as u64);
        health.number(&figures::REPLAYS, stats.replays);
        health.number(&figures::REPLAYED_FLITS, stats.replayed);
        health.number(&figures::NAKS_SENT, receiver.naks);
        health.number(&figures::NAKS_RECEIVED, stats.naks_heard);
        health.number(&figures::CRC_ERRORS, stats.bad);
        health.number(&figures::FEC_REPAIRED_FLITS, stats.repaired);
        health.number(&figures::FEC_REPAIRED_SYMBOLS, stats.symbols);
        health.number(&figures::DUPLICATE_FLITS, receiver.duplicates);
        health.number(&figures::DISCARDED_FLITS, receiver.ahead + receiver.doubted);
        health.number(&figures::TRAININGS, stats.trainings);
        health.number(&figures::CREDIT_STALLS, stats.credit_stalls);
        self.client.fill_health(&mut health);
        health
    }

    fn pending_waits(&self, each: &mut dyn FnMut(LinkWait<'_>)) {
        let (transmitter, receiver) = (self.transmitter(), self.receiver());
        let wait = |kind, waiting: u64, progress: u64| LinkWait {
            kind,
            by: Direction::Rx,
            channel: "",
            waiting,
            is_passed: false,
            progress,
        };
        if LinkEnd::halted(self).is_some() {
            return;
        }
        if transmitter.in_handshake() || !Layer::is_up(&self.client) {
            each(wait(WaitKind::Up, 0, 0));
        }
        if transmitter.unacknowledged() > 0 {
            each(wait(
                WaitKind::Acknowledgement,
                transmitter.unacknowledged() as u64,
                transmitter.acknowledged().into(),
            ));
        }
        if receiver.nak_open {
            each(wait(WaitKind::Replay, receiver.expected.into(), receiver.expected.into()));
        }
        self.client.credit_waits(each);
    }

    fn report_repairs(&mut self) {
        self.reports_repairs = true;
    }

    fn open_work(&self) -> String {
        let kept = self.transmitter().unacknowledged();
        format!("{}, {kept} flits not acknowledged", Layer::open_work(&self.client))
    }
}

impl<C: Layer> CxlEnd for Cxl256End<C> {
    fn hold_credits(&mut self, hold: bool) {
        Layer::hold_credits(&mut self.client, hold);
    }

    fn wakes_at(&self, now_flits: u64) -> Option<u64> {
        Cxl256End::wakes_at(self, now_flits)
    }

    fn take_hot_reset(&mut self) -> bool {
        self.client.take_hot_reset()
    }

    fn peer_resets(&mut self) {
        self.client.peer_resets();
    }
}
