//! Link ends with CXL.io in every mode, alone or beside CXL.cachemem, as ports drive them.
//!
//! Modelled: [`Units`] of 68 bytes and 256B flits below one [`WithIo`], which keeps a TLP that finds its queue full, hands
//! on errors that a Flex Bus port remembers, and rests when the host has nothing more to ask. Left out: what TLPs mean.
//!
//! A walk through one flit clock: the kept TLP is tried again, then the end of the mode sends. When the host is done, all
//! answers have come and nothing is open, the timers of CXL.io stop: [`LinkEnd::is_over`].

use scalepool_endpoint::config_space::LinkError;
use scalepool_link::arbmux::cxl68::{ArbMux as ArbMux68, Client as Client68, Entry};
use scalepool_link::arbmux::cxl256::ArbMux as ArbMux256;
use scalepool_link::arbmux::{Ask, Instance};
use scalepool_link::coverage::Group;
use scalepool_link::cxl68::End as End68;
use scalepool_link::cxl256::Cachemem;
use scalepool_link::cxl256::port::{self as port256, Layer, PortEnd, Signal};
use scalepool_link::cxlio::{FlitEnd, Form, NonFlitEnd, Port as IoPort, Tlp};
use scalepool_link::event::{Event, Severity};
use scalepool_link::hook::Hooks;
use scalepool_link::line_time::Parts;
use scalepool_link::port::{Carries, LinkEnd, PACKER_DEPTH};
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl68::pid::{self, Enabled};
use scalepool_protocols::cxl::cxl68::unit::Unit;
use scalepool_protocols::cxl::cxlio::code::FmType;
use scalepool_protocols::cxl::cxlio::non_flit_mode::Shape;
use scalepool_protocols::cxl::message::Message;
use scalepool_protocols::wire::{Code, Violation};
use std::collections::VecDeque;

/// What goes between an agent of CXL.io and its link end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// The bytes of a TLP.
    Tlp(Vec<u8>),
    /// Up only: the link saw an error that a Flex Bus port remembers.
    Error(LinkError),
    /// Down only: the host has nothing more to ask.
    Done,
}

/// Flits or units by protocol, where the ARB/MUX shares the link.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shares {
    /// Sent of CXL.io and of CXL.cachemem.
    pub sent: [u64; 2],
    /// ALMPs sent.
    pub almps: u64,
}

/// Counters of an end besides those of CXL.io.
#[derive(Debug, Clone, Default)]
pub struct EndFigures {
    /// Units sent.
    pub units: u64,
    /// Flit clocks in which something waited for a credit alone.
    pub credit_stalls: u64,
    /// Replays of flits.
    pub replays: u64,
    /// Flits sent again.
    pub replayed: u64,
    /// Even halves used before the odd ones had come.
    pub early_halves: u64,
    /// `None`: CXL.io alone.
    pub shares: Option<Shares>,
}

/// A link end with CXL.io.
pub trait HasIo: LinkEnd {
    /// The link layer of CXL.io.
    fn io(&self) -> &dyn IoPort;

    /// The same, to be changed.
    fn io_mut(&mut self) -> &mut dyn IoPort;

    /// Counters.
    fn figures(&self) -> EndFigures;

    /// Coverage of CXL.cachemem at both ends: group, rows met, rows in all.
    fn coverage(&self, peer: &Self) -> Vec<(&'static str, usize, usize)> {
        let _ = peer;
        Vec::new()
    }

    /// Whether CXL.cachemem has room for a message; without CXL.cachemem there is none.
    fn has_room(&self, message: &Message) -> bool;

    /// Queues a message.
    ///
    /// # Errors
    /// It must not travel on this link.
    fn send(&mut self, message: Message) -> Result<(), Violation>;

    /// The next received message.
    fn take(&mut self) -> Option<Message>;
}

/// A message on a link without CXL.cachemem.
fn no_cachemem() -> Violation {
    Violation::at_byte(
        "CXL256-MAP-01",
        0,
        "a message of CXL.cachemem",
        "TLPs",
        "a CXL.cachemem message is received on a link that carries CXL.io alone",
    )
}

impl HasIo for PortEnd<FlitEnd> {
    fn io(&self) -> &dyn IoPort {
        self.layer()
    }

    fn io_mut(&mut self) -> &mut dyn IoPort {
        self.layer_mut()
    }

    fn figures(&self) -> EndFigures {
        of_flits(self)
    }

    fn has_room(&self, _: &Message) -> bool {
        false
    }

    fn send(&mut self, _: Message) -> Result<(), Violation> {
        Err(no_cachemem())
    }

    fn take(&mut self) -> Option<Message> {
        None
    }
}

impl HasIo for PortEnd<ArbMux256<FlitEnd, Cachemem>> {
    fn io(&self) -> &dyn IoPort {
        &self.layer().io
    }

    fn io_mut(&mut self) -> &mut dyn IoPort {
        &mut self.layer_mut().io
    }

    fn figures(&self) -> EndFigures {
        let stats = self.layer().stats();
        let shares = Some(Shares { sent: stats.sent, almps: stats.almps_sent });
        EndFigures { shares, ..of_flits(self) }
    }

    fn coverage(&self, peer: &Self) -> Vec<(&'static str, usize, usize)> {
        let mut coverage = self.layer().cachemem.coverage().clone();
        coverage.merge(peer.layer().cachemem.coverage());
        coverage.summary().collect()
    }

    fn has_room(&self, message: &Message) -> bool {
        self.layer().cachemem.waiting(message.class()) < PACKER_DEPTH
    }

    fn send(&mut self, message: Message) -> Result<(), Violation> {
        port256::send_message(&mut self.layer_mut().cachemem, &message)
    }

    fn take(&mut self) -> Option<Message> {
        port256::take_message(&mut self.layer_mut().cachemem)
    }
}

fn of_flits<C: Layer>(end: &PortEnd<C>) -> EndFigures {
    let stats = end.end.stats();
    EndFigures {
        units: end.sent,
        credit_stalls: end.credit_stalls,
        replays: stats.replays,
        replayed: stats.replayed,
        early_halves: stats.early_halves,
        ..EndFigures::default()
    }
}

/// What stands beside CXL.io on a link of 68B units.
pub trait Beside: Client68 + Clone + Send + 'static {
    /// Protocols of the link. With CXL.io alone the ARB/MUX is bypassed.
    const ENABLED: Enabled;

    /// Events since the last call.
    fn take_events(&mut self) -> Vec<Event>;

    /// The end of CXL.cachemem, if it is one.
    fn end(&mut self) -> Option<&mut End68>;

    /// Counters of CXL.cachemem.
    fn figures(&self) -> EndFigures;

    /// Its coverage at both ends: group, rows met, rows in all.
    fn coverage(&self, peer: &Self) -> Vec<(&'static str, usize, usize)>;

    /// The rule that stopped it.
    fn halted(&self) -> Option<&'static str>;

    /// Whether it has room for a message.
    fn has_room(&self, message: &Message) -> bool;

    /// Holds back or releases credits.
    fn hold_credits(&mut self, hold: bool);

    /// See [`LinkEnd::fruitless`].
    fn fruitless(&self) -> u32;

    /// Good payload flits and answers that ended such a row, all from the start.
    fn progress(&self) -> u64;

    /// Hooks of the link, if it has some.
    fn hooks(&self) -> Option<&Hooks> {
        None
    }
}

/// Stands where CXL.cachemem would: it logs units whose protocol ID cannot be used.
#[derive(Debug, Clone, Default)]
pub struct PidLog {
    units: u64,
    events: Vec<Event>,
}

impl Client68 for PidLog {
    fn transmit(&mut self, _now: u64) -> Option<Unit> {
        None
    }

    fn receive(&mut self, unit: &Unit, _now: u64) {
        self.units += 1;
        if let Some(log) = pid::receive(unit.pid(), PidLog::ENABLED).log {
            let found = format!("{:#06x}", unit.pid());
            let violation = Violation::at_byte(log.rule(), 0, found, "an ID of CXL.io", log.text());
            self.events.push(Event { severity: Severity::Retrain, unit: self.units, violation });
        }
    }

    fn phy_down(&mut self) {}

    fn phy_up(&mut self) {}

    fn link_reset(&mut self) {}

    fn is_quiet(&self) -> bool {
        true
    }

    fn take_retrain_request(&mut self) -> bool {
        false
    }
}

impl Beside for PidLog {
    const ENABLED: Enabled = Enabled { io: true, cachemem: false };

    fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    fn end(&mut self) -> Option<&mut End68> {
        None
    }

    fn figures(&self) -> EndFigures {
        EndFigures::default()
    }

    fn coverage(&self, _: &PidLog) -> Vec<(&'static str, usize, usize)> {
        Vec::new()
    }

    fn halted(&self) -> Option<&'static str> {
        None
    }

    fn has_room(&self, _: &Message) -> bool {
        false
    }

    fn hold_credits(&mut self, _: bool) {}

    fn fruitless(&self) -> u32 {
        0
    }

    fn progress(&self) -> u64 {
        0
    }
}

impl Beside for End68 {
    const ENABLED: Enabled = Enabled::ALL;

    fn take_events(&mut self) -> Vec<Event> {
        End68::take_events(self)
    }

    fn end(&mut self) -> Option<&mut End68> {
        Some(self)
    }

    fn figures(&self) -> EndFigures {
        let stats = self.stats();
        EndFigures {
            credit_stalls: stats.credit_stalls,
            replays: stats.retries,
            replayed: stats.replayed,
            ..EndFigures::default()
        }
    }

    fn coverage(&self, peer: &End68) -> Vec<(&'static str, usize, usize)> {
        let mut coverage = End68::coverage(self).clone();
        coverage.merge(End68::coverage(peer));
        coverage.summary().collect()
    }

    fn halted(&self) -> Option<&'static str> {
        End68::halted(self)
    }

    fn has_room(&self, message: &Message) -> bool {
        Carries::has_room(self, message)
    }

    fn hold_credits(&mut self, hold: bool) {
        End68::hold_credits(self, hold);
    }

    fn fruitless(&self) -> u32 {
        End68::fruitless(self)
    }

    fn progress(&self) -> u64 {
        End68::progress(self)
    }

    fn hooks(&self) -> Option<&Hooks> {
        Some(End68::hooks(self))
    }
}

/// An end of a link of 68B units.
#[derive(Debug, Clone)]
pub struct Units<C> {
    mux: ArbMux68<NonFlitEnd, C>,
    dir: Dir,
    sent: u64,
    credit_stalls: u64,
    /// Trainings that the ARB/MUX had asked for when payload or an answer came well the last time.
    asked_before: u64,
    /// Faults are asked for, so the link may have something to repair. An error of a TLP may show units later.
    faulty: bool,
    down: bool,
}

impl<C: Beside> Units<C> {
    /// An end whose link has just trained for the first time.
    pub fn new(mut mux: ArbMux68<NonFlitEnd, C>, dir: Dir, faulty: bool) -> Units<C> {
        mux.phy_up(Entry::First);
        if C::ENABLED == Enabled::ALL {
            Instance::ALL.into_iter().for_each(|instance| mux.ask(instance, Some(Ask::Active)));
        }
        Units { mux, dir, sent: 0, credit_stalls: 0, asked_before: 0, faulty, down: false }
    }

    /// What has come well for any of its protocols.
    fn progress(&self) -> u64 {
        self.mux.io.progress() + self.mux.cachemem.progress()
    }

    /// Whether payload of all its protocols may leave.
    fn is_open(&self) -> bool {
        let all = C::ENABLED == Enabled::ALL;
        self.mux.may_send(Instance::Io) && (!all || self.mux.may_send(Instance::Cachemem))
    }
}

impl<C: Beside> LinkEnd for Units<C> {
    type Unit = Unit;

    const SIGNALS: &'static [Signal] =
        &[("io_up", 1), ("unacknowledged", 12), ("tlps_sent", 32), ("tlps_received", 32)];

    fn protocol(&self) -> &'static str {
        "cxl-68b"
    }

    fn dir(&self) -> Dir {
        self.dir
    }

    fn receive(&mut self, unit: &Unit, now_flits: u64) {
        // Of before the training; what comes behind it finds this end up, as its time is over first.
        if !self.down {
            let before = self.progress();
            self.mux.receive(unit, now_flits);
            if self.progress() > before {
                self.asked_before = self.mux.stats().retrains_asked;
            }
        }
    }

    fn transmit(&mut self, now_flits: u64) -> Option<Unit> {
        let unit = self.mux.transmit(now_flits);
        self.sent += u64::from(unit.is_some());
        self.credit_stalls += u64::from(unit.is_none() && self.mux.io.lacks_credit());
        unit
    }

    fn uses(&self) -> Parts {
        self.mux.uses()
    }

    fn fruitless(&self) -> u32 {
        let of_mux = u32::try_from(self.mux.stats().retrains_asked - self.asked_before).unwrap_or(u32::MAX);
        self.mux.cachemem.fruitless().max(self.mux.io.fruitless()).max(of_mux)
    }

    fn hooks(&self) -> Option<&Hooks> {
        self.mux.cachemem.hooks()
    }

    fn hold_credits(&mut self, hold: bool) {
        IoPort::hold_credits(&mut self.mux.io, hold);
        self.mux.cachemem.hold_credits(hold);
    }

    fn phy_down(&mut self) {
        self.down = true;
        self.mux.phy_down();
    }

    fn phy_up(&mut self) {
        self.down = false;
        self.mux.phy_up(Entry::Recovery);
    }

    fn take_retrain_request(&mut self) -> bool {
        self.mux.take_retrain_request()
    }

    fn take_events(&mut self) -> Vec<Event> {
        let mut events = self.mux.take_events();
        events.extend(self.mux.cachemem.take_events());
        events.extend(self.mux.io.take_io_events());
        events
    }

    fn halted(&self) -> Option<&'static str> {
        self.mux.cachemem.halted()
    }

    fn is_quiet(&self) -> bool {
        !self.down && self.is_open() && self.mux.io.is_quiet() && self.mux.cachemem.is_quiet()
    }

    fn wakes_at(&self, now_flits: u64) -> Option<u64> {
        Some(now_flits + 1)
    }

    fn values(&self) -> Vec<u64> {
        let (io, total) = (&self.mux.io, |counts: [u64; 3]| counts.into_iter().sum());
        let stats = io.stats();
        vec![io.is_up().into(), io.unacknowledged() as u64, total(stats.sent), total(stats.received)]
    }

    fn open_work(&self) -> String {
        format!("{} TLPs not acknowledged", self.mux.io.unacknowledged())
    }

    fn is_numbered(&self) -> bool {
        // Units of CXL.cachemem are not.
        C::ENABLED != Enabled::ALL
    }

    fn is_explained(&self, damaged: bool) -> bool {
        damaged || self.faulty
    }
}

impl<C: Beside> HasIo for Units<C> {
    fn io(&self) -> &dyn IoPort {
        &self.mux.io
    }

    fn io_mut(&mut self) -> &mut dyn IoPort {
        &mut self.mux.io
    }

    fn figures(&self) -> EndFigures {
        let (of_client, stats) = (self.mux.cachemem.figures(), self.mux.stats());
        let shares = Shares { sent: stats.sent, almps: stats.almps_sent };
        EndFigures {
            units: self.sent,
            credit_stalls: self.credit_stalls + of_client.credit_stalls,
            shares: (C::ENABLED == Enabled::ALL).then_some(shares),
            ..of_client
        }
    }

    fn coverage(&self, peer: &Self) -> Vec<(&'static str, usize, usize)> {
        Beside::coverage(&self.mux.cachemem, &peer.mux.cachemem)
    }

    fn has_room(&self, message: &Message) -> bool {
        self.mux.cachemem.has_room(message)
    }

    fn send(&mut self, message: Message) -> Result<(), Violation> {
        self.mux.cachemem.end().map_or_else(|| Err(no_cachemem()), |end| Carries::send(end, message))
    }

    fn take(&mut self) -> Option<Message> {
        self.mux.cachemem.end().and_then(Carries::take)
    }
}

/// A link end with what stands between it and its agents.
#[derive(Debug, Clone)]
pub struct WithIo<E> {
    /// The end.
    pub end: E,
    /// A TLP that found its queue full.
    held: Option<Tlp>,
    /// It has gone into the queue, so there is room for another one.
    fed: bool,
    errors: VecDeque<LinkError>,
    /// The host has nothing more to ask of CXL.io.
    done: bool,
    /// Answers of CXL.mem that have to come.
    answers_due: u64,
    /// Types of TLPs that its agent has sent.
    tlp_types: Group,
}

/// Rows of the table of TLP types, by code.
fn tlp_types(form: Form) -> Group {
    const NAME: &str = "TLP type";
    match form {
        Form::Flit { .. } => {
            let code = |c: &'static Code| (c.value as usize, c.name.to_owned());
            Group::new(NAME, FmType::TABLE.codes.iter().filter(|c| c.value != FmType::NOP.0.into()).map(code))
        }
        Form::NonFlit => {
            let code = |code: u8| Some((code.into(), format!("{} {code:#04x}", Shape::of(code)?.def()?.name)));
            Group::new(NAME, (0..=u8::MAX).filter_map(code))
        }
    }
}

impl<E: HasIo> WithIo<E> {
    /// An end whose agent of CXL.mem will take `answers_due` messages.
    pub fn new(end: E, answers_due: u64) -> WithIo<E> {
        let tlp_types = tlp_types(end.io().form());
        WithIo { end, held: None, fed: false, errors: VecDeque::new(), done: false, answers_due, tlp_types }
    }

    /// Coverage of what two ends have sent: group, rows met, rows in all.
    pub fn coverage(&self, peer: &WithIo<E>) -> Vec<(String, u64, u64)> {
        let mut tlp_types = self.tlp_types.clone();
        tlp_types.merge(&peer.tlp_types);
        let groups = std::iter::once(tlp_types.summary()).chain(self.end.coverage(&peer.end));
        groups.map(|(group, met, of)| (group.to_owned(), met as u64, of as u64)).collect()
    }

    fn try_push(&mut self) {
        if let Some(tlp) = self.held.take() {
            match self.end.io_mut().push(tlp) {
                Ok(()) => self.fed = true,
                Err(refused) => self.held = Some(refused.tlp),
            }
        }
    }
}

impl<E: HasIo> LinkEnd for WithIo<E> {
    type Unit = E::Unit;

    const SIGNALS: &'static [Signal] = E::SIGNALS;

    fn protocol(&self) -> &'static str {
        self.end.protocol()
    }

    fn dir(&self) -> Dir {
        self.end.dir()
    }

    fn receive_even(&mut self, unit: &E::Unit, now_flits: u64) {
        self.end.receive_even(unit, now_flits);
    }

    fn receive(&mut self, unit: &E::Unit, now_flits: u64) {
        self.end.receive(unit, now_flits);
    }

    fn take_payload(&mut self) -> Vec<(u16, E::Unit)> {
        self.end.take_payload()
    }

    fn transmit(&mut self, now_flits: u64) -> Option<E::Unit> {
        self.fed = false;
        self.try_push();
        if self.is_over() { None } else { self.end.transmit(now_flits) }
    }

    fn uses(&self) -> Parts {
        if self.is_over() { Parts::default() } else { self.end.uses() }
    }

    fn fruitless(&self) -> u32 {
        self.end.fruitless()
    }

    fn hooks(&self) -> Option<&Hooks> {
        self.end.hooks()
    }

    fn hold_credits(&mut self, hold: bool) {
        self.end.hold_credits(hold);
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
        let events = self.end.take_events();
        self.errors.extend(events.iter().filter_map(|event| LinkError::of_rule(event.violation.rule)));
        events
    }

    fn halted(&self) -> Option<&'static str> {
        self.end.halted()
    }

    fn is_quiet(&self) -> bool {
        self.held.is_none() && self.errors.is_empty() && self.end.is_quiet()
    }

    fn wakes_at(&self, now_flits: u64) -> Option<u64> {
        if self.is_over() {
            return None;
        }
        let waits = self.held.is_some() || self.fed || !self.errors.is_empty();
        if waits { Some(now_flits + 1) } else { self.end.wakes_at(now_flits) }
    }

    fn values(&self) -> Vec<u64> {
        self.end.values()
    }

    fn open_work(&self) -> String {
        self.end.open_work()
    }

    fn is_numbered(&self) -> bool {
        self.end.is_numbered()
    }

    fn hidden_fault(&mut self) {
        self.end.hidden_fault();
    }

    fn is_explained(&self, damaged: bool) -> bool {
        self.end.is_explained(damaged)
    }

    fn is_over(&self) -> bool {
        self.done && self.answers_due == 0 && !self.fed && self.is_quiet()
    }

    fn peer_is_over(&mut self) {
        self.done = true;
    }
}

impl<E: HasIo> Carries<Item> for WithIo<E> {
    fn has_room(&self, _: &Item) -> bool {
        self.held.is_none()
    }

    fn send(&mut self, item: Item) -> Result<(), Violation> {
        match item {
            Item::Tlp(bytes) => {
                let refused =
                    |e| Violation::at_byte("CXLIO-FMT-03", 0, e, "a whole TLP", "the bytes are not a whole TLP");
                let tlp = Tlp::new(self.end.io().form(), bytes).map_err(refused)?;
                self.tlp_types.hit(tlp.code().into());
                self.held = Some(tlp);
                self.try_push();
            }
            Item::Done => self.done = true,
            Item::Error(_) => {}
        }
        Ok(())
    }

    fn take(&mut self) -> Option<Item> {
        let error = self.errors.pop_front().map(Item::Error);
        error.or_else(|| self.end.io_mut().pop().map(|tlp| Item::Tlp(tlp.into_bytes())))
    }
}

impl<E: HasIo> Carries<Message> for WithIo<E> {
    fn has_room(&self, message: &Message) -> bool {
        self.end.has_room(message)
    }

    fn send(&mut self, message: Message) -> Result<(), Violation> {
        self.end.send(message)
    }

    fn take(&mut self) -> Option<Message> {
        let message = self.end.take()?;
        self.answers_due = self.answers_due.saturating_sub(1);
        Some(message)
    }
}
