//! Link ends with CXL.io in every mode, alone or beside CXL.cachemem, as ports drive them.
//!
//! Modelled: ends of 68B units and of 256B flits below one [`IoEnd`], which keeps a TLP that finds its queue full,
//! hands on errors that a Flex Bus port remembers, and rests when the host has nothing more to ask. Left out: what TLPs mean.
//!
//! A walk through one flit clock: the kept TLP is tried again, then the end of the mode sends. When the host is done, all
//! answers have come and nothing is open, the timers of CXL.io stop: [`CxlEnd::is_over`].

mod by_class;
mod flits;
mod units;

pub use units::{Beside, PidLogger, UnitEnd};

use crate::coverage::{CoverageGroup, Met};
use crate::cxlio::{IoPort, IoTlp, IoTlpForm, Stats};
use crate::event::LinkEvent;
use crate::health::liveness::LinkWait;
use crate::health::{LinkHealth, figures};
use crate::hook::Hooks;
use crate::line_time::LineTimeParts;
use crate::port::{Carries, CxlEnd, LinkEnd, Reports};
use scalepool_forms::FormError;
use scalepool_protocols::cxl::cxlio::code::FmType;
use scalepool_protocols::cxl::cxlio::dvsec::LinkError;
use scalepool_protocols::cxl::cxlio::non_flit_mode::TlpShape;
use scalepool_protocols::cxl::message::{Class, Message};
use scalepool_protocols::wire::{Code, Violation};
use std::collections::VecDeque;

/// What goes between an agent of CXL.io and its link end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IoItem {
    /// The bytes of a TLP.
    Tlp(Vec<u8>),
    /// Up only: the link saw an error that a Flex Bus port remembers.
    Error(LinkError),
    /// The host has nothing more to ask: down from the host, and up to a switch below it.
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
pub struct IoFigures {
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
pub trait HasIo: CxlEnd {
    /// CXL.cachemem is on the link too.
    const CACHEMEM: bool;

    /// The link layer of CXL.io.
    fn io(&self) -> &dyn IoPort;

    /// The same, to be changed.
    fn io_mut(&mut self) -> &mut dyn IoPort;

    /// Counters.
    fn figures(&self) -> IoFigures;

    /// Rows that CXL.cachemem has met.
    fn coverage(&self) -> Vec<Met> {
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

    /// Whether there is a received message.
    fn has_received(&self) -> bool {
        false
    }

    /// The next received message of a class.
    fn take_class(&mut self, class: Class) -> Option<Message> {
        let _ = class;
        None
    }

    /// Messages of a class that have not left.
    fn waits(&self, class: Class) -> usize {
        let _ = class;
        0
    }

    /// Units that have come damaged.
    fn damaged(&self) -> u64 {
        0
    }
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

/// A link end with what stands between it and its agents.
#[derive(Debug, Clone)]
pub struct IoEnd<E> {
    /// The end.
    pub end: E,
    /// A TLP that found its queue full.
    held: Option<IoTlp>,
    /// It has gone into the queue, so there is room for another one.
    fed: bool,
    errors: VecDeque<LinkError>,
    /// The host has nothing more to ask of CXL.io.
    done: bool,
    /// Its agent is told when the host has nothing more to ask: a switch, which has links of its own.
    tells_agent: bool,
    /// The agent is to be told.
    is_to_tell: bool,
    /// Both of its sides ask, so that it rests when both have nothing more to ask.
    is_two_sided: bool,
    /// The side of the peer has nothing more to ask.
    peer_done: bool,
    /// Answers of CXL.mem that have to come.
    answers_due: u64,
    /// Types of TLPs that its agent has sent.
    tlp_types: CoverageGroup,
    /// Times that the link was down for training.
    trainings: u64,
}

/// Rows of the table of TLP types, by code.
fn tlp_types(form: IoTlpForm) -> CoverageGroup {
    const NAME: &str = "TLP type";
    match form {
        IoTlpForm::Flit { .. } => {
            let code = |c: &'static Code| (c.value as usize, c.name.to_owned());
            CoverageGroup::new(NAME, FmType::TABLE.codes.iter().filter(|c| c.value != FmType::NOP.0.into()).map(code))
        }
        IoTlpForm::NonFlit => {
            let code = |code: u8| Some((code.into(), format!("{} {code:#04x}", TlpShape::of(code)?.def()?.name)));
            CoverageGroup::new(NAME, (0..=u8::MAX).filter_map(code))
        }
    }
}

impl<E: HasIo> IoEnd<E> {
    /// An end whose agent of CXL.mem will take `answers_due` messages.
    pub fn new(end: E, answers_due: u64) -> IoEnd<E> {
        let tlp_types = tlp_types(end.io().form());
        IoEnd {
            end,
            held: None,
            fed: false,
            errors: VecDeque::new(),
            done: false,
            tells_agent: false,
            is_to_tell: false,
            is_two_sided: false,
            peer_done: false,
            answers_due,
            tlp_types,
            trainings: 0,
        }
    }

    /// The end, with an agent that is told when the host has nothing more to ask, if `tells`.
    pub fn telling(self, tells: bool) -> IoEnd<E> {
        IoEnd { tells_agent: tells, ..self }
    }

    /// Whether nobody asks any more.
    fn is_done(&self) -> bool {
        self.done && (!self.is_two_sided || self.peer_done)
    }

    /// From here on the link rests while nothing is under way, if nobody asks any more.
    fn rests(&mut self) {
        if self.is_done() {
            self.end.io_mut().channel_mut().rest();
            self.settles();
        }
    }

    /// Credits are not said again and again any more, if all is answered.
    fn settles(&mut self) {
        if self.is_done() && self.answers_due == 0 {
            self.end.io_mut().channel_mut().settle();
        }
    }

    /// A message of CXL.mem has gone to the agent.
    fn answered(&mut self) {
        self.answers_due = self.answers_due.saturating_sub(1);
        if self.answers_due == 0 {
            self.settles();
        }
    }

    /// The end between two switches, if `both` of its sides ask: each agent is told when the other one has nothing more to ask.
    pub fn between_switches(self, both: bool) -> IoEnd<E> {
        IoEnd { is_two_sided: both, tells_agent: self.tells_agent || both, ..self }
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

/// What the report of a run needs of an end.
#[derive(Debug, Clone)]
pub struct IoReport {
    /// Counters of CXL.io.
    pub stats: Stats,
    /// Counters of what is around it.
    pub figures: IoFigures,
    /// Times that the link was down for training.
    pub trainings: u64,
    /// Rows of the table of TLP types, and of CXL.cachemem, that were met.
    pub coverage: Vec<Met>,
    /// The rule that stopped the link.
    pub halted: Option<&'static str>,
}

impl<E: HasIo> Reports for IoEnd<E> {
    type Report = IoReport;

    fn report(&self) -> IoReport {
        let mut coverage = vec![self.tlp_types.met("cxl-io")];
        coverage.extend(self.end.coverage());
        IoReport {
            stats: *self.end.io().stats(),
            figures: self.end.figures(),
            trainings: self.trainings,
            coverage,
            halted: self.halted(),
        }
    }
}

impl<E: HasIo> LinkEnd for IoEnd<E> {
    type Unit = E::Unit;

    const SIGNALS: &'static [(&'static str, u32)] = E::SIGNALS;

    fn protocol(&self) -> &'static str {
        self.end.protocol()
    }

    fn unit(&self, bytes: &[u8]) -> Result<E::Unit, FormError> {
        self.end.unit(bytes)
    }

    fn receive_even(&mut self, unit: &E::Unit, now_flits: u64) {
        self.end.receive_even(unit, now_flits);
    }

    fn receive(&mut self, unit: &E::Unit, now_flits: u64) {
        self.end.receive(unit, now_flits);
    }

    fn keep_payload(&mut self) {
        self.end.keep_payload();
    }

    fn take_payload(&mut self, each: &mut dyn FnMut(u16, &[u8])) {
        self.end.take_payload(each);
    }

    fn transmit(&mut self, now_flits: u64) -> Option<E::Unit> {
        self.fed = false;
        self.try_push();
        if self.is_over() { None } else { self.end.transmit(now_flits) }
    }

    fn uses(&self) -> LineTimeParts {
        if self.is_over() { LineTimeParts::default() } else { self.end.uses() }
    }

    fn fruitless(&self) -> u32 {
        self.end.fruitless()
    }

    fn attach_hooks(&mut self, hooks: &Hooks) {
        self.end.attach_hooks(hooks);
    }

    fn hooks(&self) -> &Hooks {
        self.end.hooks()
    }

    fn phy_down(&mut self) {
        self.trainings += 1;
        self.end.phy_down();
    }

    fn phy_up(&mut self) {
        self.end.phy_up();
    }

    fn take_retrain_request(&mut self) -> bool {
        self.end.take_retrain_request()
    }

    fn take_events(&mut self) -> Vec<LinkEvent> {
        let events = self.end.take_events();
        self.errors.extend(events.iter().filter_map(|event| LinkError::of_rule(event.violation.rule)));
        events
    }

    fn hidden_fault(&mut self) {
        self.end.hidden_fault();
    }

    fn halted(&self) -> Option<&'static str> {
        self.end.halted()
    }

    fn is_quiet(&self) -> bool {
        self.held.is_none() && self.errors.is_empty() && !self.is_to_tell && self.end.is_quiet()
    }

    fn values(&self) -> Vec<u64> {
        self.end.values()
    }

    fn pass_time(&mut self, now_flits: u64) {
        self.end.pass_time(now_flits);
    }

    fn health(&self, now_flits: u64) -> LinkHealth {
        let mut health = self.end.health(now_flits);
        let stats = self.end.io().stats();
        let total = |counts: [u64; 3]| counts.into_iter().sum::<u64>();
        health.number(&figures::TLPS_SENT, total(stats.sent));
        health.number(&figures::TLPS_RECEIVED, total(stats.received));
        health.number(&figures::TLPS_REPLAYED, stats.replayed);
        health.number(&figures::TLP_NAKS_SENT, stats.naks);
        health.number(&figures::TLP_ERRORS, stats.bad);
        health.number(&figures::TLPS_DUPLICATE, stats.duplicates);
        health.number(&figures::TLPS_DISCARDED, stats.nullified + stats.unreadable + stats.dropped);
        health
    }

    fn pending_waits(&self, each: &mut dyn FnMut(LinkWait<'_>)) {
        self.end.pending_waits(each);
    }

    fn report_repairs(&mut self) {
        self.end.report_repairs();
    }

    fn open_work(&self) -> String {
        self.end.open_work()
    }

    fn is_numbered(&self) -> bool {
        self.end.is_numbered()
    }

    fn is_repaired(&self, event: &LinkEvent, damaged: bool) -> bool {
        self.end.is_repaired(event, damaged)
    }
}

impl<E: HasIo> CxlEnd for IoEnd<E> {
    fn hold_credits(&mut self, hold: bool) {
        self.end.hold_credits(hold);
    }

    fn wakes_at(&self, now_flits: u64) -> Option<u64> {
        if self.is_over() {
            return None;
        }
        let waits = self.held.is_some() || self.fed || !self.errors.is_empty() || self.is_to_tell;
        if waits { Some(now_flits + 1) } else { self.end.wakes_at(now_flits) }
    }

    fn is_over(&self) -> bool {
        self.is_done() && self.answers_due == 0 && !self.fed && self.is_quiet()
    }

    fn tells_over(&self) -> bool {
        if self.is_two_sided { self.done } else { self.is_over() }
    }

    fn peer_is_over(&mut self) {
        match self.is_two_sided {
            true => self.peer_done = true,
            false => self.done = true,
        }
        self.rests();
        self.is_to_tell = self.tells_agent;
    }
}

impl<E: HasIo> Carries<IoItem> for IoEnd<E> {
    fn has_room(&self, _: &IoItem) -> bool {
        self.held.is_none()
    }

    fn send(&mut self, item: IoItem) -> Result<(), Violation> {
        match item {
            IoItem::Tlp(bytes) => {
                let refused =
                    |e| Violation::at_byte("CXLIO-FMT-03", 0, e, "a whole TLP", "the bytes are not a whole TLP");
                let tlp = IoTlp::new(self.end.io().form(), bytes).map_err(refused)?;
                self.tlp_types.hit(tlp.code().into());
                self.held = Some(tlp);
                self.try_push();
            }
            IoItem::Done => {
                self.done = true;
                self.rests();
            }
            IoItem::Error(_) => {}
        }
        Ok(())
    }

    fn take(&mut self) -> Option<IoItem> {
        let error = self.errors.pop_front().map(IoItem::Error);
        let tlp = error.or_else(|| self.end.io_mut().pop().map(|tlp| IoItem::Tlp(tlp.into_bytes())));
        tlp.or_else(|| std::mem::take(&mut self.is_to_tell).then_some(IoItem::Done))
    }
}

impl<E: HasIo> Carries<Message> for IoEnd<E> {
    fn has_room(&self, message: &Message) -> bool {
        self.end.has_room(message)
    }

    fn send(&mut self, message: Message) -> Result<(), Violation> {
        self.end.send(message)
    }

    fn take(&mut self) -> Option<Message> {
        let message = self.end.take()?;
        self.answered();
        Some(message)
    }
}
