//! One end of a CXL 256B link: transmitter and receiver with their shared state.

use super::config::EndConfig;
use super::credit::CreditBook;
use super::receiver::{Receiver, Verdict};
use super::transmitter::{Heard, Transmitter};
use crate::link::event::{Event, Severity, finding};
use scalepool_protocols::cxl::cxl256::code::{FlitType, LlCtrl, ReplayCommand};
use scalepool_protocols::cxl::cxl256::control::InitParam;
use scalepool_protocols::cxl::cxl256::crd::Crd;
use scalepool_protocols::cxl::cxl256::flit::{Flit, SLOTS};
use scalepool_protocols::cxl::cxl256::header::FlitHeader;
use scalepool_protocols::cxl::cxl256::packer::{Packer, Refused};
use scalepool_protocols::cxl::cxl256::stream::{Kind, Message, Role, Unpacker};
use scalepool_protocols::cxl::cxl256::{Class, Mode, check};
use scalepool_protocols::wire::{Violation, Wire};
use std::collections::{BTreeMap, VecDeque};

/// Flit format of this link.
const MODE: Mode = Mode::Standard;

/// Counters of one end, all from the start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// Flits sent, NOPs included.
    pub sent: u64,
    /// Of them flits with messages or data, first copies.
    pub sent_protocol: u64,
    /// Of them flits with credits alone, first copies; marked as Empty or not.
    pub sent_credits: u64,
    /// Of them copies out of the retry buffer.
    pub replayed: u64,
    /// Replays begun for a Nak or the timer.
    pub replays: u64,
    /// Flits that carried a Nak.
    pub sent_naks: u64,
    /// Messages received, by [`Class::index`].
    pub messages: [u64; 12],
    /// Flits that the FEC repaired.
    pub repaired: u64,
    /// Flits that it could not repair.
    pub bad: u64,
    /// Payload that had been here.
    pub duplicates: u64,
    /// Payload dropped because one before it is missing.
    pub ahead: u64,
    /// Payload of CXL.io or ARB/MUX, passed over.
    pub passed_over: u64,
    /// Times that this end asked for training.
    pub trainings: u64,
}

/// One end of the link.
#[derive(Debug, Clone)]
pub struct End {
    config: EndConfig,
    packer: Packer,
    unpacker: Unpacker,
    credits: CreditBook,
    receiver: Receiver,
    transmitter: Transmitter,
    /// Payload ahead of the one flit that is missing, by number.
    kept: BTreeMap<u16, Flit>,
    init_sent: bool,
    init_received: bool,
    credits_held: bool,
    acks_held: bool,
    train_wanted: bool,
    halted: Option<&'static str>,
    received: u64,
    inbox: VecDeque<Message>,
    events: Vec<Event>,
    stats: Stats,
}

impl End {
    /// An end that has just been told that the physical link is up.
    pub fn new(config: EndConfig) -> End {
        End {
            packer: Packer::new(MODE, config.dir, config.codec),
            unpacker: Unpacker::new(MODE, config.dir.opposite()),
            credits: CreditBook::new(config.sends, config.buffers),
            receiver: Receiver::new(config.link.selective_nak),
            kept: BTreeMap::new(),
            transmitter: Transmitter::default(),
            init_sent: false,
            init_received: false,
            credits_held: false,
            acks_held: false,
            train_wanted: false,
            halted: None,
            received: 0,
            inbox: VecDeque::new(),
            events: Vec::new(),
            stats: Stats::default(),
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

    /// Class of the message that [`End::take`] would give.
    pub fn next_class(&self) -> Option<Class> {
        self.inbox.front().map(|m| m.class)
    }

    /// Holds back or releases all credits of our buffers (a fault input).
    pub fn hold_credits(&mut self, hold: bool) {
        self.credits_held = hold;
    }

    /// Hears the peer's acknowledgements or not (a fault input: they are lost).
    pub fn lose_acks(&mut self, lose: bool) {
        self.acks_held = lose;
    }

    // ---- the physical layer's side -------------------------------------------------------------------------------

    /// Whether this end asks the physical layer to train; the request is taken.
    pub fn take_retrain_request(&mut self) -> bool {
        std::mem::take(&mut self.train_wanted)
    }

    /// Training is over: what was on the wires is lost, numbers are agreed again.
    pub fn trained(&mut self) {
        self.receiver.trained();
        self.kept.clear();
        self.transmitter.trained();
        self.train_wanted = false;
    }

    // ---- what can be seen ----------------------------------------------------------------------------------------

    /// What the end was built with.
    pub fn config(&self) -> &EndConfig {
        &self.config
    }

    /// Events since the last call.
    pub fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    /// Counters.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// Credit book.
    pub fn credits(&self) -> &CreditBook {
        &self.credits
    }

    /// Receive side of the sequence numbers.
    pub fn receiver(&self) -> &Receiver {
        &self.receiver
    }

    /// Transmit side of the sequence numbers.
    pub fn transmitter(&self) -> &Transmitter {
        &self.transmitter
    }

    /// Data slots that the receiver still waits for.
    pub fn owed_slots(&self) -> usize {
        self.unpacker.owed_slots()
    }

    /// The rule that stopped the link.
    pub fn halted(&self) -> Option<&'static str> {
        self.halted
    }

    /// Whether numbers are agreed and INIT.Param has gone both ways.
    pub fn is_up(&self) -> bool {
        !self.transmitter.in_handshake() && self.init_sent && self.init_received
    }

    /// Nothing waits, everything sent is acknowledged, no credit waits to be returned.
    pub fn is_quiet(&self) -> bool {
        self.is_up()
            && self.packer.is_empty()
            && self.inbox.is_empty()
            && self.transmitter.unacknowledged() == 0
            && !self.receiver.nak_open
            && self.receiver.nak_flits == 0
            && (self.credits.pending() == 0 || self.credits_held)
            && self.unpacker.owed_slots() == 0
    }

    // ---- receiver ------------------------------------------------------------------------------------------------

    fn event(&mut self, severity: Severity, violation: Violation) {
        if severity == Severity::Uncorrectable {
            self.halted = Some(violation.rule);
        }
        self.events.push(Event { severity, unit: self.received, violation });
    }

    /// Takes a flit off the wire. Messages are read with [`End::take`], events with [`End::take_events`].
    pub fn receive(&mut self, flit: &Flit) {
        if self.halted.is_none() {
            self.flit(flit);
        }
        self.received += 1;
    }

    fn flit(&mut self, flit: &Flit) {
        let received = flit.receive(MODE);
        if !received.is_good() {
            self.stats.bad += 1;
            self.receiver.bad();
            return;
        }
        self.stats.repaired += u64::from(received.flit != *flit);
        let header = received.flit.header();
        if !self.receiver.prior_fits(&header) {
            let text = "the Prior bit against the flit before";
            self.event(Severity::Protocol, finding("CXL256-HDR-02", header.prior, !header.prior, text));
        }
        if let Some(naks) = self.receiver.short_nak_run(&header) {
            let text = "flits in a row with a Nak";
            self.event(Severity::Protocol, finding("CXL256-RTY-06", naks, "at least 3", text));
        }
        let verdict = self.receiver.good(&header);
        if header.command != ReplayCommand::Explicit && !self.acks_held {
            self.acknowledged(&header);
        }
        match verdict {
            Verdict::Take => {
                self.payload(&received.flit);
                self.kept_payload();
            }
            Verdict::Keep(number) => {
                self.kept.insert(number, received.flit);
            }
            Verdict::Nothing => (),
            Verdict::Duplicate => self.stats.duplicates += 1,
            Verdict::Ahead => self.stats.ahead += 1,
            Verdict::Zero => {
                let found = finding("CXL256-RTY-01", 0, "1 to 1023", "sequence number of a payload flit");
                self.event(Severity::Protocol, found);
            }
        }
    }

    /// Payload that was kept and is due now. What is left behind a gap comes again.
    fn kept_payload(&mut self) {
        while let Some(flit) = self.kept.remove(&self.receiver.expected) {
            self.receiver.take_kept();
            self.payload(&flit);
        }
        self.kept.clear();
    }

    fn acknowledged(&mut self, header: &FlitHeader) {
        let heard = self.transmitter.heard(header.command, header.seq, &self.config.link);
        if heard == Heard::OutOfWindow {
            let text = "an acknowledged number";
            let found = finding("CXL256-RTY-04", header.seq, "one that is not acknowledged yet, or the last", text);
            self.event(Severity::Protocol, found);
        }
        self.act_on(heard);
    }

    fn act_on(&mut self, heard: Heard) {
        match heard {
            Heard::Replay => self.stats.replays += 1,
            Heard::Train => {
                self.stats.trainings += u64::from(!self.train_wanted);
                self.train_wanted = true;
            }
            Heard::Fine | Heard::OutOfWindow => (),
        }
    }

    /// Payload whose number was due.
    fn payload(&mut self, flit: &Flit) {
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
                let (name, text) = (class.def(MODE.routing()).name, "a message without credit");
                self.event(Severity::Protocol, finding("CXL256-CRD-06", name, "a class with credits", text));
            }
        }
        for class in self.credits.receive(&flit.crd()) {
            let (name, text) = (class.def(MODE.routing()).name, "credits for a channel that this end does not send");
            self.event(Severity::Corrected, finding("CXL256-CRD-04", name, "a channel of this end", text));
        }
        for message in self.unpacker.delivered() {
            self.stats.messages[message.class.index()] += 1;
            self.inbox.push_back(*message);
        }
    }

    // ---- transmitter ---------------------------------------------------------------------------------------------

    /// The flit of this flit clock; a link that is up always carries one.
    pub fn transmit(&mut self) -> Flit {
        let heard = self.transmitter.clock(&self.config.link);
        self.act_on(heard);
        let mut flit = match self.transmitter.next_replayed(self.receiver.amid_nak()) {
            Some(flit) => {
                self.stats.replayed += 1;
                flit
            }
            None => match self.new_payload() {
                Some(flit) => {
                    self.transmitter.keep(flit);
                    flit
                }
                None => Flit::ZERO,
            },
        };
        let header = self.transmitter.header(&flit, &mut self.receiver, &self.config.link);
        self.stats.sent_naks +=
            u64::from(header.command == ReplayCommand::NakStandard || header.command == ReplayCommand::NakSelective);
        self.stats.sent += 1;
        self.credits.flit_sent();
        put_header(&mut flit, &header);
        flit.seal(MODE);
        flit
    }

    /// New payload, if any may go.
    fn new_payload(&mut self) -> Option<Flit> {
        if self.halted.is_some() || !self.transmitter.has_room(&self.config.link, self.receiver.amid_nak()) {
            return None;
        }
        if !self.init_sent {
            self.init_sent = true;
            let mut slots = [0; SLOTS];
            slots[0] = init_param(self.config.codec.direct_p2p);
            return Some(cachemem(&slots, &Crd::default()));
        }
        if !self.init_received {
            return None;
        }
        if let Some(slots) = self.packer.pack(&mut self.credits.spend) {
            let crd = if self.credits_held { Crd::default() } else { self.credits.take() };
            self.stats.sent_protocol += 1;
            return Some(cachemem(&slots, &crd));
        }
        if self.credits_held || !self.credits.is_forced(&self.config.link) {
            return None;
        }
        let crd = self.credits.take_alone();
        if !crd.marks_empty() {
            self.packer.skip();
        }
        self.stats.sent_credits += 1;
        Some(cachemem(&[0; SLOTS], &crd))
    }
}

/// The slot of INIT.Param.
fn init_param(direct_p2p: bool) -> u128 {
    InitParam { direct_p2p, ..InitParam::default() }.to_bits().expect("defaults and a flag always fit")
}

/// A cachemem flit; its header is completed when it goes.
fn cachemem(slots: &[u128; SLOTS], crd: &Crd) -> Flit {
    let mut flit = Flit::ZERO;
    put_header(&mut flit, &FlitHeader { flit_type: FlitType::Cachemem, ..FlitHeader::default() });
    slots.iter().enumerate().for_each(|(n, &slot)| flit.set_slot(MODE, n, slot));
    let fits = flit.set_crd(crd);
    debug_assert!(fits.is_ok(), "codes of a table have five bits");
    flit
}

fn put_header(flit: &mut Flit, header: &FlitHeader) {
    let fits = flit.set_header(header);
    debug_assert!(fits.is_ok(), "numbers are below 1024");
}
