//! CXL.cachemem above the numbers of a 256B link: messages to slots and back, credits, INIT.Param (`cxl-256b` §1.6, §5, §6).
//!
//! Modelled: packing, unpacking, the credit book with returns that are forced, Empty flits, INIT.Param before messages.
//! Left out: IDE content, what a buffer holds.
//!
//! A walk through one flit clock: a payload flit that came well is taken apart, its messages go to the inbox, its credits
//! to the book. The next payload flit is, in this order: INIT.Param, messages and data with the credits that are due,
//! credits alone when they have waited long enough.

use super::client::{Client, Part};
use super::config::CachememConfig;
use super::credit::CreditBook;
use super::end::put_header;
use crate::link::event::{Event, Severity, finding};
use scalepool_protocols::cxl::cxl256::code::{FlitType, LlCtrl};
use scalepool_protocols::cxl::cxl256::control::InitParam;
use scalepool_protocols::cxl::cxl256::crd::Crd;
use scalepool_protocols::cxl::cxl256::flit::{Flit, SLOTS};
use scalepool_protocols::cxl::cxl256::header::FlitHeader;
use scalepool_protocols::cxl::cxl256::packer::{Packer, Refused};
use scalepool_protocols::cxl::cxl256::stream::{Kind, Message, Role, Unpacker};
use scalepool_protocols::cxl::cxl256::{Class, check};
use scalepool_protocols::wire::{Violation, Wire};
use std::collections::VecDeque;

/// Counters, all from the start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CachememStats {
    /// Flits with messages or data.
    pub sent_protocol: u64,
    /// Flits with credits alone, marked as Empty or not.
    pub sent_credits: u64,
    /// Messages received, by [`Class::index`].
    pub messages: [u64; 12],
    /// Payload of CXL.io or ARB/MUX, passed over.
    pub passed_over: u64,
}

/// The link layer of CXL.cache and CXL.mem.
#[derive(Debug, Clone)]
pub struct Cachemem {
    config: CachememConfig,
    packer: Packer,
    unpacker: Unpacker,
    credits: CreditBook,
    init_sent: bool,
    init_received: bool,
    credits_held: bool,
    halted: Option<&'static str>,
    received: u64,
    inbox: VecDeque<Message>,
    events: Vec<Event>,
    stats: CachememStats,
}

impl Cachemem {
    /// A link layer that has sent and received nothing.
    pub fn new(config: CachememConfig) -> Cachemem {
        Cachemem {
            packer: Packer::new(config.mode, config.dir, config.codec),
            unpacker: Unpacker::new(config.mode, config.dir.opposite()),
            credits: CreditBook::new(config.sends, config.buffers),
            init_sent: false,
            init_received: false,
            credits_held: false,
            halted: None,
            received: 0,
            inbox: VecDeque::new(),
            events: Vec::new(),
            stats: CachememStats::default(),
            config,
        }
    }

    // ---- the consumer's side -------------------------------------------------------------------------------------

    /// Queues a message to be sent.
    ///
    /// # Errors
    /// A message that must not travel in this direction or is not whole.
    pub fn send(&mut self, message: Message) -> Result<(), Refused> {
        self.packer.push(message)
    }

    /// Messages of a class that wait to be packed.
    pub fn waiting(&self, class: Class) -> usize {
        self.packer.waiting(class)
    }

    /// Takes the next received message out of its buffer; its credit becomes due for return.
    pub fn take(&mut self) -> Option<Message> {
        let message = self.inbox.pop_front()?;
        self.credits.freed(message.class);
        Some(message)
    }

    /// Class of the message that [`Cachemem::take`] would give.
    pub fn next_class(&self) -> Option<Class> {
        self.inbox.front().map(|m| m.class)
    }

    /// Received messages that nobody has taken.
    pub fn inbox_len(&self) -> usize {
        self.inbox.len()
    }

    /// Holds back or releases all credits of our buffers (a fault input).
    pub fn hold_credits(&mut self, hold: bool) {
        self.credits_held = hold;
    }

    // ---- what can be seen ----------------------------------------------------------------------------------------

    /// What it was built with.
    pub fn config(&self) -> &CachememConfig {
        &self.config
    }

    /// Counters.
    pub fn stats(&self) -> &CachememStats {
        &self.stats
    }

    /// Credit book.
    pub fn credits(&self) -> &CreditBook {
        &self.credits
    }

    /// Data slots that the receiver still waits for.
    pub fn owed_slots(&self) -> usize {
        self.unpacker.owed_slots()
    }

    /// The rule that stopped the link layer.
    pub fn halted(&self) -> Option<&'static str> {
        self.halted
    }

    /// Whether INIT.Param has gone both ways.
    pub fn is_up(&self) -> bool {
        self.init_sent && self.init_received
    }

    // ---- receiver ------------------------------------------------------------------------------------------------

    fn event(&mut self, severity: Severity, violation: Violation) {
        if severity == Severity::Uncorrectable {
            self.halted = Some(violation.rule);
        }
        self.events.push(Event { severity, unit: self.received, violation });
    }

    fn name(&self, class: Class) -> &'static str {
        class.def(self.config.mode.routing()).name
    }

    fn flit(&mut self, flit: &Flit) {
        if flit.header().flit_type != FlitType::Cachemem {
            self.stats.passed_over += 1;
            return;
        }
        let decoded = self.unpacker.read(flit);
        for violation in check::flit(&decoded, &self.config.codec).violations {
            self.event(Severity::Protocol, violation);
        }
        if let (Kind::Control, Role::Control(Some(kind))) = (&decoded.kind, decoded.roles[0])
            && kind.llctrl == LlCtrl::INIT
        {
            self.init_received = true;
        }
        let mut messages = decoded.messages().map(|(_, class, _)| class).peekable();
        if !self.init_received && messages.peek().is_some() {
            let found = finding("CXL256-CTL-05", "a message", "INIT.Param", "a message before INIT.Param");
            self.event(Severity::Uncorrectable, found);
            return;
        }
        let classes: Vec<Class> = messages.collect();
        for class in classes {
            if !self.credits.arrived(class) {
                let text = "a message without credit";
                let found = finding("CXL256-CRD-06", self.name(class), "a class with credits", text);
                self.event(Severity::Protocol, found);
            }
        }
        for class in self.credits.receive(&flit.crd()) {
            let text = "credits for a channel that this end does not send";
            let found = finding("CXL256-CRD-04", self.name(class), "a channel of this end", text);
            self.event(Severity::Corrected, found);
        }
        for message in self.unpacker.delivered() {
            self.stats.messages[message.class.index()] += 1;
            self.inbox.push_back(*message);
        }
    }

    // ---- transmitter ---------------------------------------------------------------------------------------------

    /// A cachemem flit; its header is completed when it goes.
    fn fill(&self, slots: &[u128; SLOTS], crd: &Crd) -> Flit {
        let mut flit = Flit::ZERO;
        put_header(&mut flit, &FlitHeader { flit_type: FlitType::Cachemem, ..FlitHeader::default() });
        slots.iter().enumerate().for_each(|(n, &slot)| flit.set_slot(self.config.mode, n, slot));
        let fits = flit.set_crd(crd);
        debug_assert!(fits.is_ok(), "codes of a table have five bits");
        flit
    }
}

impl Client for Cachemem {
    fn transmit(&mut self, now_flits: u64) -> Option<Flit> {
        if self.halted.is_some() {
            return None;
        }
        if !self.init_sent {
            self.init_sent = true;
            let mut slots = [0; SLOTS];
            slots[0] = init_param(self.config.codec.direct_p2p);
            return Some(self.fill(&slots, &Crd::default()));
        }
        if !self.init_received {
            return None;
        }
        self.credits.clock(now_flits);
        if let Some(slots) = self.packer.pack(&mut self.credits.spend) {
            let crd = if self.credits_held { Crd::default() } else { self.credits.take() };
            self.stats.sent_protocol += 1;
            return Some(self.fill(&slots, &crd));
        }
        let forced = self.credits.forced_at(&self.config.credit_return).is_some_and(|at| at <= now_flits);
        if self.credits_held || !forced {
            return None;
        }
        let crd = self.credits.take_alone();
        if !crd.marks_empty() {
            self.packer.skip();
        }
        self.stats.sent_credits += 1;
        Some(self.fill(&[0; SLOTS], &crd))
    }

    fn receive(&mut self, flit: &Flit, part: Part, _now_flits: u64) {
        // Slots are read when the flit is whole.
        if part != Part::Even && self.halted.is_none() {
            self.flit(flit);
            self.received += 1;
        }
    }

    fn phy_down(&mut self) {}

    fn phy_up(&mut self) {}

    fn take_retrain_request(&mut self) -> bool {
        false
    }

    fn is_quiet(&self) -> bool {
        self.is_up()
            && self.packer.is_empty()
            && self.inbox.is_empty()
            && (self.credits.pending() == 0 || self.credits_held)
            && self.unpacker.owed_slots() == 0
    }

    fn wakes_at(&self, now_flits: u64) -> Option<u64> {
        if self.halted.is_some() {
            return None;
        }
        if !self.is_up() || !self.packer.is_empty() {
            return Some(now_flits + 1);
        }
        if self.credits_held || self.credits.pending() == 0 {
            return None;
        }
        let at = self.credits.forced_at(&self.config.credit_return).unwrap_or(0);
        Some(at.max(now_flits + 1))
    }

    fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }
}

/// The slot of INIT.Param.
fn init_param(direct_p2p: bool) -> u128 {
    InitParam { direct_p2p, ..InitParam::default() }.to_bits().expect("defaults and a flag always fit")
}
