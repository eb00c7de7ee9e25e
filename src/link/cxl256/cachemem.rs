//! CXL.cachemem above the numbers of a 256B link: messages to slots and back, credits, INIT.Param (`cxl-256b` §1.6, §5, §6).
//!
//! Modelled: packing, unpacking, the credit book with returns that are forced, Empty flits, INIT.Param before messages.
//! Left out: IDE content, what a buffer holds.
//!
//! A walk through one flit clock: a payload flit that came well is taken apart, its messages go to the inbox, its credits
//! to the book. The next payload flit is, in this order: INIT.Param, messages and data with the credits that are due,
//! credits alone when they have waited long enough.

use super::client::{Client, FlitPart, Urgent};
use super::config::CachememConfig;
use super::coverage::Cxl256Coverage;
use super::credit::CreditBook;
use super::form::Flit256;
use super::inbox::Inbox;
use crate::event::{LinkEvent, Severity, finding};
use crate::hook::{Direction, HookPoint, Hooks};
use crate::line_time::{LineTimeParts, Use};
use crate::statuses::LinkStatuses;
use scalepool_protocols::cxl::cxl256::check::KnownCodes;
use scalepool_protocols::cxl::cxl256::code::FlitType;
use scalepool_protocols::cxl::cxl256::content::{Body256, Content256};
use scalepool_protocols::cxl::cxl256::control::{self, InitParam};
use scalepool_protocols::cxl::cxl256::crd::Crd;
use scalepool_protocols::cxl::cxl256::flit::{Cxl256Flit, Cxl256Received, SLOTS};
use scalepool_protocols::cxl::cxl256::packer::{Cxl256Refused, Packer};
use scalepool_protocols::cxl::cxl256::stream::{Cxl256Message, Cxl256SlotRole};
use scalepool_protocols::cxl::cxl256::{Class, Mode, check, slot};
use scalepool_protocols::cxl::link_status::LinkStatus;
use scalepool_protocols::wire::{FieldError, Violation, Wire};
use std::collections::VecDeque;

/// Counters, all from the start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CachememStats {
    /// Flits with messages or data.
    pub sent_protocol: u64,
    /// Flits with credits alone, marked as Empty or not.
    pub sent_credits: u64,
    /// Messages received, by [`Class::index`].
    pub messages: [u64; Class::COUNT],
    /// Of them those read from an even half before the odd one had come.
    pub messages_early: u64,
    /// Payload of CXL.io or ARB/MUX, passed over.
    pub passed_over: u64,
}

/// The link layer of CXL.cache and CXL.mem.
#[derive(Debug, Clone)]
pub struct Cachemem<F: Flit256 = Cxl256Flit> {
    config: CachememConfig,
    packer: Packer,
    reader: F::Reader,
    /// Codes of received messages that have been judged.
    known_codes: KnownCodes,
    coverage: Cxl256Coverage,
    credits: CreditBook,
    init_sent: bool,
    init_received: bool,
    credits_held: bool,
    halted: Option<&'static str>,
    received: u64,
    inbox: Inbox,
    /// Messages of the flit whose even half was read.
    early: usize,
    /// Viral to be sent, each with its vector of logical devices.
    viral: VecDeque<u16>,
    peer_viral: Option<u16>,
    statuses: LinkStatuses,
    /// Poison slots to be sent.
    poison: VecDeque<u8>,
    events: Vec<LinkEvent>,
    stats: CachememStats,
    /// What the place of the last flit was used for.
    uses: LineTimeParts,
    hooks: Hooks,
}

impl Cachemem {
    /// A link layer that has sent and received nothing.
    pub fn new(config: CachememConfig) -> Cachemem {
        Cachemem::of_form(config)
    }

    /// Poisons a data message whose header has gone and whose data has not: 0 is the one that is going, then those behind
    /// it, up to 7. `false`: there is none.
    pub fn poison(&mut self, message: u8) -> bool {
        let open = message <= MAX_POISON && usize::from(message) < self.packer.open_messages();
        if open {
            self.poison.push_back(message);
        }
        open
    }
}

impl Cachemem<Content256> {
    /// The same layer without bytes. It tells neither viral, which needs a spoilt CRC, nor poison of data that is going.
    pub fn without_bytes(config: CachememConfig) -> Cachemem<Content256> {
        Cachemem::of_form(config)
    }
}

impl<F: Flit256> Cachemem<F> {
    /// Declares local viral with a vector of logical devices (0: all): the flit that is about to go is spoilt and Viral goes
    /// before it. What was declared before and has not gone goes first.
    pub fn set_viral(&mut self, logical_devices: u16) {
        self.viral.push_back(logical_devices);
    }

    /// Ends local viral, as a conventional reset does: what has not been told is not told any more.
    pub fn clear_viral(&mut self) {
        self.viral.clear();
    }

    fn of_form(config: CachememConfig) -> Cachemem<F> {
        Cachemem {
            packer: Packer::new(config.mode, config.dir, config.codec),
            reader: F::reader(config.mode, config.dir.opposite()),
            known_codes: KnownCodes::default(),
            coverage: Cxl256Coverage::new(config.mode),
            credits: CreditBook::new(config.sends, config.buffers),
            init_sent: false,
            init_received: false,
            credits_held: false,
            halted: None,
            received: 0,
            inbox: Inbox::default(),
            early: 0,
            viral: VecDeque::new(),
            peer_viral: None,
            statuses: LinkStatuses::default(),
            poison: VecDeque::new(),
            events: Vec::new(),
            stats: CachememStats::default(),
            uses: LineTimeParts::default(),
            hooks: Hooks::default(),
            config,
        }
    }

    // ---- the consumer's side -------------------------------------------------------------------------------------

    /// Queues a message to be sent.
    ///
    /// # Errors
    /// A message that must not travel in this direction or is not whole.
    pub fn send(&mut self, mut message: Cxl256Message) -> Result<(), Cxl256Refused> {
        if !self.hooks_message((HookPoint::PackerIn, Direction::Tx), &mut message) {
            return Ok(());
        }
        self.packer.push(message)
    }

    fn hooks_message(&self, at: (HookPoint, Direction), message: &mut Cxl256Message) -> bool {
        let data = message.data.as_mut().map(|data| &mut data.line);
        self.hooks.message(at, message.class.def(self.config.mode.routing()), &mut message.bits, data)
    }

    /// A message that was unpacked goes into its buffer, unless a hook drops it: then the buffer is free again.
    fn arrived(&mut self, mut message: Cxl256Message) {
        self.stats.messages[message.class.index()] += 1;
        if self.hooks_message((HookPoint::PackerOut, Direction::Rx), &mut message) {
            self.inbox.push(&message);
        } else {
            self.credits.freed(message.class);
        }
    }

    fn holds_credits(&self) -> bool {
        self.credits_held || self.hooks.holds_credits(self.credits.pending().into())
    }

    /// Messages of a class that wait to be packed.
    #[inline]
    pub fn waiting(&self, class: Class) -> usize {
        self.packer.waiting(class)
    }

    /// Whether a message waits for a credit of its class.
    pub fn lacks_credit(&self) -> bool {
        self.packer.waiting_classes().any(|class| self.credits.spend[class.index()] == 0)
    }

    /// Messages of all classes that wait to be packed.
    #[inline]
    pub fn queued(&self) -> usize {
        self.packer.queued()
    }

    /// Takes the next received message out of its buffer; its credit becomes due for return.
    pub fn take(&mut self) -> Option<Cxl256Message> {
        self.take_as(|message| *message)
    }

    /// [`Cachemem::take`] of what `read` makes of the message where it lies.
    #[inline]
    pub fn take_as<T>(&mut self, read: impl FnOnce(&Cxl256Message) -> T) -> Option<T> {
        let credits = &mut self.credits;
        self.inbox.take(|message| {
            credits.freed(message.class);
            read(message)
        })
    }

    /// Takes the next received message of a class out of its buffer, as `read` makes it of what lies there; a snoop not before
    /// responses that came earlier (`coherence` §2.6 O1).
    #[inline]
    pub fn take_class<T>(&mut self, class: Class, read: impl FnOnce(&Cxl256Message) -> T) -> Option<T> {
        let item = self.inbox.take_class(class, read)?;
        self.credits.freed(class);
        Some(item)
    }

    /// Class of the message that [`Cachemem::take`] would give.
    pub fn next_class(&self) -> Option<Class> {
        self.inbox.first().map(|m| m.class)
    }

    /// Whether there is a received message that nobody has taken.
    #[inline]
    pub fn has_received(&self) -> bool {
        !self.inbox.is_empty()
    }

    /// Whether there is one of a class.
    #[inline]
    pub fn has_received_of(&self, class: Class) -> bool {
        self.inbox.holds(class)
    }

    /// Received messages that nobody has taken.
    pub fn inbox_len(&self) -> usize {
        self.inbox.len()
    }

    /// Holds back or releases all credits of our buffers (a fault input).
    pub fn hold_credits(&mut self, hold: bool) {
        self.credits_held = hold;
    }

    /// Statuses to tell, and those that were heard.
    pub(super) fn statuses_mut(&mut self) -> &mut LinkStatuses {
        &mut self.statuses
    }

    /// The vector of logical devices when the peer has declared viral.
    pub fn peer_viral(&self) -> Option<u16> {
        self.peer_viral
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

    /// Rows of the codec's tables that received flits have met.
    pub fn coverage(&self) -> &Cxl256Coverage {
        &self.coverage
    }

    /// Credit book.
    pub fn credits(&self) -> &CreditBook {
        &self.credits
    }

    /// Data slots that the receiver still waits for.
    pub fn owed_slots(&self) -> usize {
        F::owed_slots(&self.reader)
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
        self.events.push(LinkEvent { severity, unit: self.received, violation });
    }

    fn name(&self, class: Class) -> &'static str {
        class.def(self.config.mode.routing()).name
    }

    /// Whether all that is wrong is a reserved bit, which a receiver ignores: the rule of a layout as such.
    fn is_of_reserved_bits(&self, violation: &Violation) -> bool {
        let messages = Class::ALL.iter().map(|c| c.def(self.config.mode.routing()));
        messages.chain(control::KINDS.iter().map(|k| k.def)).any(|def| def.rule == violation.rule)
    }

    fn flit(&mut self, flit: &F) {
        if flit.header().flit_type != FlitType::Cachemem {
            self.stats.passed_over += 1;
            return;
        }
        flit.taken_by(self);
    }

    /// Tells the rules that a flit breaks.
    fn judged(&mut self, violations: Vec<Violation>) {
        for violation in violations {
            if !self.is_of_reserved_bits(&violation) {
                self.event(Severity::Protocol, violation);
            }
        }
    }

    /// A message before INIT.Param: it stops the link layer.
    fn too_early(&mut self) {
        let found = finding("CXL256-CTL-05", "a message", "INIT.Param", "a message received before INIT.Param");
        self.event(Severity::Uncorrectable, found);
    }

    /// A message has come.
    fn spends_credit(&mut self, class: Class) {
        if !self.credits.arrived(class) {
            let text = "a message received although its sender has no credit";
            let found = finding("CXL256-CRD-06", self.name(class), "a class with credits", text);
            self.event(Severity::Protocol, found);
        }
    }

    /// The credits of a flit with slots.
    #[inline]
    fn takes_credits(&mut self, crd: &Crd) {
        for class in self.credits.receive(&self.shown_credits(crd)) {
            let text = "credits received for a channel that this end does not send";
            let found = finding("CXL256-CRD-04", self.name(class), "a channel of this end", text);
            self.event(Severity::Corrected, found);
        }
        let starved = self.config.starved_refills;
        for class in self.credits.starved(crd, starved, |c| self.packer.waiting(c) > 0) {
            let (found, text) = (
                format!("no credit for {}", self.name(class)),
                "one channel gets no credits although the others of its group do",
            );
            self.event(Severity::Protocol, finding("CXL256-CRD-03", found, "credits in turn", text));
        }
    }

    /// The credits of a flit with slots, then its messages.
    fn takes(&mut self, crd: &Crd) {
        self.takes_credits(crd);
        let early = std::mem::take(&mut self.early);
        self.stats.messages_early += early as u64;
        if !self.hooks.watches(HookPoint::PackerOut, Direction::Rx) {
            let messages = &F::delivered(&self.reader)[early..];
            messages.iter().for_each(|message| self.stats.messages[message.class.index()] += 1);
            messages.iter().for_each(|message| self.inbox.push(message));
            return;
        }
        for n in early..F::delivered(&self.reader).len() {
            let message = F::delivered(&self.reader)[n];
            self.arrived(message);
        }
    }

    /// Credits that came, as the hooks leave them.
    fn shown_credits(&self, crd: &Crd) -> Crd {
        if !self.hooks.watches(HookPoint::Credit, Direction::Rx) {
            return *crd;
        }
        let bits = self.hooks.credits((crd.to_bits().unwrap_or(0) as u16).to_le_bytes());
        Crd::from_bits(u16::from_le_bytes(bits).into())
    }

    /// Messages that the even half of a latency-optimised flit completes; those without data or credit trouble alone, the
    /// others wait for the whole flit and its checks.
    fn even_half(&mut self, flit: &F) {
        if !self.init_received {
            return;
        }
        let messages = flit.early(&self.reader);
        self.early = messages.len();
        messages.into_iter().for_each(|message| self.arrived(message));
    }

    fn control(&mut self, kind: &control::ControlKind, slot: u128) {
        match kind.name {
            "INIT.Param" => self.init_received = true,
            "Viral" => {
                let logical_devices = control::Viral::from_bits(slot).ld_ids;
                if self.peer_viral.is_none() {
                    let found = viral_found(self.config.mode, logical_devices);
                    let text = "the peer has declared viral";
                    self.event(Severity::Fatal, finding("CXL256-VIR-01", found, "no viral", text));
                }
                self.peer_viral = Some(logical_devices);
                self.statuses.hear(LinkStatus::Viral(logical_devices));
            }
            _ => (),
        }
    }

    // ---- transmitter ---------------------------------------------------------------------------------------------

    /// Parts of the flit that was packed last. What is empty waits for a place, for a credit, or for nothing.
    fn parts(&self) -> LineTimeParts {
        let filled = self.packer.filled();
        let may_go = |class: Class| self.credits.spend[class.index()] > 0;
        let empty = if self.packer.owed_slots() > 0 || self.packer.waiting_classes().any(may_go) {
            Use::Packing
        } else if self.packer.queued() > 0 {
            Use::Credits
        } else {
            Use::Idle
        };
        LineTimeParts::all(empty)
            .with(Use::Headers, framing_bits(self.config.mode) + filled.messages + filled.trailers)
            .with(Use::Payload, filled.data)
            .with(Use::Control, CRD_BITS)
    }

    /// Slots with what may go of the messages and data that wait; `None`: nothing may.
    #[inline]
    fn fill(&mut self) -> Option<F::Slots> {
        let mut slots = F::empty();
        if !self.packer.pack_into(&mut self.credits.spend, &mut slots) {
            F::unused(slots);
            return None;
        }
        F::filled(&mut slots);
        Some(slots)
    }

    /// A flit with a control slot alone.
    fn control_flit(&self, slot: Result<u128, FieldError>) -> F {
        debug_assert!(slot.is_ok(), "the fields of a control slot are of its width");
        F::control(self.config.mode, slot.unwrap_or(0))
    }
}

impl Cachemem {
    /// A flit of CXL.cachemem that came well.
    pub(super) fn read(&mut self, flit: &Cxl256Flit) {
        if self.hooks.watches(HookPoint::PackerIn, Direction::Rx) {
            self.hooks.pass(HookPoint::PackerIn, Direction::Rx, self.config.mode.protocol(), &mut flit.0.clone());
        }
        // FEC and CRC have been judged below, where the flit got its number; asking both again took 1,100 instructions.
        let decoded = self.reader.read_judged(flit, Cxl256Received::good(*flit));
        self.coverage.record(&decoded);
        self.judged(check::violations(&decoded, &self.config.codec));
        for (n, role) in decoded.roles.iter().enumerate() {
            if let Cxl256SlotRole::Control(Some(kind)) = role {
                let slot = flit.slot(self.config.mode, n);
                // An index without such a message has been reported with the flit.
                if kind.name == "Poison" {
                    self.reader.poison(control::Poison::from_bits(slot).message.into());
                }
                self.control(kind, slot);
            }
        }
        if !self.init_received && decoded.messages().next().is_some() {
            self.too_early();
            return;
        }
        decoded.messages().for_each(|(_, class, _)| self.spends_credit(class));
        self.takes(&flit.crd());
    }

    /// Viral beside the even half of a flit, which has gone (`cxl-256b` §6), and the flit with what stood in its odd half: slot
    /// 8 in slot 0, slots 9 to 14 in 1 to 6, then the data that goes on. An H slot holds what an HS slot of the same format
    /// does, and the slots keep their order and groups.
    pub(super) fn viral_in_slot_8(&mut self, leaving: &Cxl256Flit, viral: u128) -> Urgent {
        let mode = self.config.mode;
        let mut with_viral: [u128; SLOTS] = std::array::from_fn(|n| if n <= 7 { leaving.slot(mode, n) } else { 0 });
        with_viral[8] = viral;
        let mut rest: [u128; SLOTS] = std::array::from_fn(|n| if n <= 6 { leaving.slot(mode, n + 8) } else { 0 });
        self.packer.pack_owed(&mut rest, 7);
        let flit = Flit256::cachemem(mode, with_viral, &Crd::default());
        Urgent { flit, follows: Some(Flit256::cachemem(mode, rest, &leaving.crd())) }
    }

    /// The flit that tells viral in front of one that was about to go.
    pub(super) fn viral_before(&mut self, leaving: Option<&Cxl256Flit>, viral: u128) -> Urgent {
        match leaving.filter(|leaving| self.config.mode.is_lopt() && has_messages(leaving)) {
            Some(leaving) => self.viral_in_slot_8(leaving, viral),
            None => Urgent { flit: Flit256::control(self.config.mode, viral), follows: leaving.copied() },
        }
    }
}

impl Cachemem<Content256> {
    /// A flit of CXL.cachemem without bytes.
    pub(super) fn read_content(&mut self, flit: &Content256) {
        let way = (self.config.mode, self.config.dir.opposite());
        let is_usual =
            self.init_received && self.early == 0 && !self.hooks.watches(HookPoint::PackerOut, Direction::Rx);
        if is_usual && check::is_vouched_for(flit, way, &self.config.codec, &mut self.known_codes) {
            return self.read_vouched(flit);
        }
        let read = self.reader.read(flit);
        self.coverage.record_content(flit, &read);
        self.judged(check::content(flit, &read, way, &self.config.codec));
        let messages = match &flit.body {
            Body256::Slots(slots) => &slots.messages[..],
            Body256::Control(slot) => {
                if let Some(kind) = control::kind(*slot) {
                    self.control(kind, *slot);
                }
                &[]
            }
            Body256::Nothing => &[],
        };
        if !self.init_received && !messages.is_empty() {
            self.too_early();
            return;
        }
        messages.iter().for_each(|placed| self.spends_credit(placed.message.class));
        self.takes(&flit.crd);
    }

    /// The same of a flit that breaks no rule: its messages go where they wait for the agents, without a list of them in between.
    fn read_vouched(&mut self, flit: &Content256) {
        let Cachemem { reader, inbox, stats, .. } = self;
        let read = reader.read_vouched(flit, |message| {
            stats.messages[message.class.index()] += 1;
            inbox.push(message);
        });
        self.coverage.record_content(flit, &read);
        if let Body256::Slots(slots) = &flit.body {
            slots.messages.iter().for_each(|placed| self.spends_credit(placed.message.class));
        }
        self.takes_credits(&flit.crd);
    }
}

impl<F: Flit256> Client for Cachemem<F> {
    type Flit = F;

    fn transmit(&mut self, now_flits: u64) -> Option<F> {
        self.uses = LineTimeParts::all(Use::Idle);
        if self.halted.is_some() {
            return None;
        }
        self.uses = LineTimeParts::all(Use::Control);
        if !self.init_sent {
            self.init_sent = true;
            let direct_p2p = self.config.codec.direct_p2p;
            return Some(self.control_flit(InitParam { direct_p2p, ..InitParam::default() }.to_bits()));
        }
        if !self.init_received {
            return None;
        }
        if let Some(message) = self.poison.pop_front() {
            self.packer.skip();
            return Some(self.control_flit(control::Poison { message, ..control::Poison::default() }.to_bits()));
        }
        self.credits.clock(now_flits);
        if !self.packer.is_empty()
            && let Some(slots) = self.fill()
        {
            let crd = if self.holds_credits() { Crd::default() } else { self.credits.take() };
            self.stats.sent_protocol += 1;
            self.uses = self.parts();
            return Some(F::cachemem(self.config.mode, slots, &crd));
        }
        let forced = self.credits.forced_at(&self.config.credit_return).is_some_and(|at| at <= now_flits);
        if !forced || self.holds_credits() {
            self.uses = LineTimeParts::all(if self.packer.is_empty() { Use::Idle } else { Use::Credits });
            return None;
        }
        let crd = self.credits.take_alone(!self.config.ide_active);
        if !crd.marks_empty() {
            self.packer.skip();
        }
        self.stats.sent_credits += 1;
        Some(F::cachemem(self.config.mode, F::Slots::default(), &crd))
    }

    fn uses(&self) -> LineTimeParts {
        self.uses
    }

    fn receive(&mut self, flit: &F, part: FlitPart, _now_flits: u64) {
        if self.halted.is_some() {
            return;
        }
        if part == FlitPart::Even {
            self.even_half(flit);
        } else {
            self.flit(flit);
            self.received += 1;
        }
    }

    fn done_with(&mut self, flit: F) {
        flit.done_with();
    }

    fn urgent(&mut self, leaving: Option<&F>) -> Option<Urgent<F>> {
        let logical_devices = if self.init_received { self.viral.pop_front()? } else { return None };
        let viral = control::Viral { ld_ids: logical_devices, ..control::Viral::default() }.to_bits();
        debug_assert!(viral.is_ok(), "the fields of a control slot are of its width");
        Some(F::viral_before(self, leaving, viral.unwrap_or(0)))
    }

    fn phy_down(&mut self) {}

    fn phy_up(&mut self) {}

    /// As it was built: messages and credits are gone; events and counters stay.
    fn link_reset(&mut self) {
        let (events, stats, received) = (std::mem::take(&mut self.events), self.stats, self.received);
        let (coverage, hooks) = (self.coverage.clone(), self.hooks.clone());
        *self = Cachemem { events, stats, received, coverage, hooks, ..Cachemem::of_form(self.config.clone()) };
    }

    fn take_hot_reset(&mut self) -> bool {
        self.statuses.take_hot_reset()
    }

    fn peer_resets(&mut self) {
        self.peer_viral = None;
        self.statuses.hear(LinkStatus::HotReset);
    }

    fn take_retrain_request(&mut self) -> bool {
        false
    }

    fn is_quiet(&self) -> bool {
        self.is_up()
            && self.packer.is_empty()
            && self.viral.is_empty()
            && self.inbox.is_empty()
            && (self.credits.pending() == 0 || self.credits_held)
            && F::owed_slots(&self.reader) == 0
    }

    fn wakes_at(&self, now_flits: u64) -> Option<u64> {
        if self.halted.is_some() {
            return None;
        }
        if !self.is_up() || !self.packer.is_empty() || !self.viral.is_empty() {
            return Some(now_flits + 1);
        }
        if self.credits_held || self.credits.pending() == 0 {
            return None;
        }
        let at = self.credits.forced_at(&self.config.credit_return).unwrap_or(0);
        Some(at.max(now_flits + 1))
    }

    fn take_events(&mut self) -> Vec<LinkEvent> {
        std::mem::take(&mut self.events)
    }

    fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    fn attach_hooks(&mut self, hooks: &Hooks) {
        self.hooks = hooks.clone();
    }
}

/// Bits of the CRD field (`cxl-256b` §1).
const CRD_BITS: u32 = 16;

/// Bits of a flit that are neither slots nor credits: header, CRC and FEC (`cxl-256b` §1).
const fn framing_bits(mode: Mode) -> u32 {
    if mode.is_lopt() { 8 * 20 } else { 8 * 16 }
}

/// Highest index of a Poison slot (`cxl-256b` §6).
const MAX_POISON: u8 = 7;

/// What a peer has told of viral: a vector of logical devices, and with port based routing the PID of an edge port of the hierarchy, which
/// is our choice (`fabric` §1.10 gives no form of it for links between switches).
pub(super) fn viral_found(mode: Mode, vector: u16) -> String {
    match mode {
        Mode::Pbr => format!("Viral, hierarchy of PID {vector:#05x}"),
        Mode::Standard | Mode::LatencyOptimised => format!("Viral, logical devices {vector:#06x}"),
    }
}

/// Whether a latency-optimised flit has slots with messages or data, so that its even half may be used before the odd one
/// is there.
fn has_messages(flit: &Cxl256Flit) -> bool {
    let mode = Mode::LatencyOptimised;
    let control = slot::format(mode, 0, slot::code(flit.slot(mode, 0))).is_some_and(|f| f.is_control());
    flit.header().flit_type == FlitType::Cachemem && !control && !flit.crd().marks_empty()
}
