//! One end of a CXL 68B link: transmitter and receiver with their shared state.

use super::coverage::Coverage;
use super::credit::CreditBook;
use super::event::{Event, Severity, finding};
use super::mutant::Mutant;
use super::retry::{Local, LocalRetry, Remote, RemoteTrigger, RetryBuffer, Stored, Trigger};
use scalepool_protocols::cxl::cxl68::Dir;
use scalepool_protocols::cxl::cxl68::check;
use scalepool_protocols::cxl::cxl68::config::{
    ConfigError, CrcSpoil, Cxl68Config, ReqCount, StaticBitFault, WrapMeaning,
};
use scalepool_protocols::cxl::cxl68::control::{Control, InitParam, Llcrd, RetryAck, RetryReq};
use scalepool_protocols::cxl::cxl68::header::FlitHeader;
use scalepool_protocols::cxl::cxl68::message::Class;
use scalepool_protocols::cxl::cxl68::packer::{Packed, Packer, Refused};
use scalepool_protocols::cxl::cxl68::pid::{self, Enabled, PidAction, PidKind, PidLog};
use scalepool_protocols::cxl::cxl68::stream::{Decoded, Kind, Message, Size, Unpacker};
use scalepool_protocols::cxl::cxl68::unit::Unit;
use scalepool_protocols::wire::Wire;
use std::collections::VecDeque;

/// What one end is and has.
#[derive(Debug, Clone)]
pub struct EndConfig {
    /// Direction of its transmitter: the host sends down.
    pub dir: Dir,
    /// Link-layer choices.
    pub link: Cxl68Config,
    /// Protocols that negotiation enabled.
    pub enabled: Enabled,
    /// Receive buffers, in messages, by [`Class::index`]; 0 for classes that the end does not support.
    pub buffers: [u16; 10],
    /// Classes that the end may send; credits for others are dropped silently.
    pub sends: [bool; 10],
    /// Received flits until the peer's parameters are active, at most 8 (`cxl-68b` §6.4); the number is ours.
    pub param_delay_flits: u8,
    /// A deliberate fault, for tests of the checkers.
    pub mutant: Option<Mutant>,
}

impl EndConfig {
    /// A host (`Dir::Down`) or device (`Dir::Up`) that speaks CXL.mem alone, with buffers of `messages` a channel.
    pub fn mem(dir: Dir, link: Cxl68Config, messages: u16) -> EndConfig {
        Self::of(dir, link, messages, |c| matches!(c, Class::M2sReq | Class::M2sRwd | Class::S2mNdr | Class::S2mDrs))
    }

    /// A host or device that speaks CXL.cache and CXL.mem.
    pub fn cachemem(dir: Dir, link: Cxl68Config, messages: u16) -> EndConfig {
        Self::of(dir, link, messages, |_| true)
    }

    fn of(dir: Dir, link: Cxl68Config, messages: u16, supported: fn(Class) -> bool) -> EndConfig {
        let receives = |c: Class| supported(c) && c.dir() != dir;
        EndConfig {
            dir,
            link,
            enabled: Enabled::ALL,
            buffers: Class::ALL.map(|c| if receives(c) { messages } else { 0 }),
            sends: Class::ALL.map(|c| supported(c) && c.dir() == dir),
            param_delay_flits: 8,
            mutant: None,
        }
    }
}

/// Counters of one end, all from the start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// Units sent, fillers included.
    pub sent: u64,
    /// Of them protocol flits, first copies.
    pub sent_protocol: u64,
    /// Of them all-data flits, first copies.
    pub sent_all_data: u64,
    /// Of them LLCRD flits, first copies.
    pub sent_llcrd: u64,
    /// Of them RETRY flits of any kind.
    pub sent_retry: u64,
    /// Of them copies out of the retry buffer.
    pub replayed: u64,
    /// Messages packed, by [`Class::index`].
    pub messages: [u64; 10],
    /// CXL.cachemem units received with a bad CRC.
    pub crc_errors: u64,
    /// Units dropped for their protocol ID.
    pub pid_errors: u64,
    /// Req sequences sent.
    pub retries: u64,
    /// PHY reinitialisations asked for by this end.
    pub reinits: u64,
    /// Flit clocks in which a message waited and had no credit, while nothing else could be sent.
    pub credit_stalls: u64,
}

/// Sequence numbers until the peer's INIT.Param is active: 0 to 9 (`cxl-68b` §6.4).
const MODULUS_BEFORE_INIT: u16 = 10;
/// Flits that one Ak acknowledges (`cxl-68b` §1.5).
const FLITS_AN_AK: u16 = 8;
/// Acknowledgements above which the flush timer runs (`cxl-68b` §7.1).
const TIMED_ACKS: u16 = 1;

/// How far initialisation has come (`cxl-68b` §6.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Init {
    /// A clean flit has come.
    clean_seen: bool,
    /// INIT.Param has left.
    sent: bool,
    /// The peer's INIT.Param has come.
    received: bool,
}

/// One end of the link.
#[derive(Debug, Clone)]
pub struct End {
    config: EndConfig,
    packer: Packer,
    unpacker: Unpacker,
    credits: CreditBook,
    buffer: RetryBuffer,
    local: LocalRetry,
    remote: Remote,
    init: Init,
    /// Framed sequence that is leaving; the trigger is taken when its last flit is out.
    sequence: VecDeque<Unit>,
    sequence_is_ack: bool,
    /// Next flit of an all-data run that has begun: replayed from this number, or new.
    run: Option<u8>,
    /// ESeq: number of the next good retryable flit.
    eseq: u8,
    peer_modulus: u16,
    peer_modulus_soon: Option<(u16, u8)>,
    num_ack: u16,
    /// Good Frames directly before.
    frames: u16,
    /// Flit clock since which acknowledgements or credits wait.
    waiting_since: Option<u64>,
    first_credits_sent: bool,
    credits_held: bool,
    req_echo: u8,
    retrain_wanted: bool,
    viral: Option<u16>,
    viral_to_signal: bool,
    peer_viral: Option<u16>,
    halted: Option<&'static str>,
    received: u64,
    inbox: VecDeque<Message>,
    events: Vec<Event>,
    stats: Stats,
    coverage: Coverage,
    last_enables: u64,
}

impl End {
    /// An end that has just been told that the physical link is up.
    ///
    /// # Errors
    /// A choice outside its range.
    pub fn new(config: EndConfig) -> Result<End, ConfigError> {
        config.link.validate()?;
        let (dir, link) = (config.dir, config.link);
        Ok(End {
            packer: Packer::new(dir, link),
            unpacker: Unpacker::new(dir.opposite(), link.revision, config.enabled),
            credits: CreditBook::new(dir, link.credit_counter_bits, config.sends, config.buffers, config.mutant),
            buffer: RetryBuffer::new(link.llrb_entries),
            local: LocalRetry::new(),
            remote: Remote::Normal,
            init: Init { clean_seen: false, sent: false, received: false },
            sequence: VecDeque::new(),
            sequence_is_ack: false,
            run: None,
            eseq: 0,
            peer_modulus: MODULUS_BEFORE_INIT,
            peer_modulus_soon: None,
            num_ack: 0,
            frames: 0,
            waiting_since: None,
            first_credits_sent: false,
            credits_held: false,
            req_echo: 0,
            retrain_wanted: false,
            viral: None,
            viral_to_signal: false,
            peer_viral: None,
            halted: None,
            received: 0,
            inbox: VecDeque::new(),
            events: Vec::new(),
            stats: Stats::default(),
            coverage: Coverage::new(),
            last_enables: u64::MAX,
            config,
        })
    }

    // ---- the consumer's side -------------------------------------------------------------------------------------

    /// Queues a message to be sent.
    ///
    /// # Errors
    /// A message that must not travel in this mode.
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
        self.freed(&message);
        Some(message)
    }

    /// Takes the next received message of a class out of its buffer.
    pub fn take_class(&mut self, class: Class) -> Option<Message> {
        let at = self.inbox.iter().position(|m| m.class == class)?;
        let message = self.inbox.remove(at)?;
        self.freed(&message);
        Some(message)
    }

    /// Class of the message that [`End::take`] would give.
    pub fn next_class(&self) -> Option<Class> {
        self.inbox.front().map(|m| m.class)
    }

    fn freed(&mut self, message: &Message) {
        self.credits.freed(message.class, message.data.map_or(0, |d| d.chunks()));
    }

    /// Holds back or releases all credits of our buffers (a fault input).
    pub fn hold_credits(&mut self, hold: bool) {
        self.credits_held = hold;
    }

    /// Declares local viral: the next flit's CRC is spoiled and the Ack that follows carries Viral with a vector of
    /// logical devices (0: all).
    pub fn set_viral(&mut self, logical_devices: u16) {
        self.viral = Some(logical_devices);
        self.viral_to_signal = true;
    }

    /// The vector of logical devices when the peer has declared viral.
    pub fn peer_viral(&self) -> Option<u16> {
        self.peer_viral
    }

    // ---- the physical layer's side -------------------------------------------------------------------------------

    /// Whether this end asks the physical layer to train; the request is taken.
    pub fn take_retrain_request(&mut self) -> bool {
        std::mem::take(&mut self.retrain_wanted)
    }

    /// Training has begun, whoever asked for it.
    pub fn phy_down(&mut self) {
        self.local.step(Trigger::PhyDown);
        self.sequence.clear();
        self.run = None;
        self.frames = 0;
        if self.config.mutant != Some(Mutant::AckAfterRetrain) {
            self.remote = self.remote.step(RemoteTrigger::PhyDown);
        }
    }

    /// Training is over.
    pub fn phy_up(&mut self) {
        let kept = self.local.num_retry;
        self.local.step(Trigger::PhyUp);
        if self.config.mutant == Some(Mutant::ReinitKeepsCount) {
            self.local.num_retry = kept;
        }
    }

    /// What the end was built with.
    pub fn config(&self) -> &EndConfig {
        &self.config
    }

    /// Chunks that the receiver still waits for.
    pub fn rollover(&self) -> usize {
        self.unpacker.rollover()
    }

    // ---- what can be seen ----------------------------------------------------------------------------------------

    /// Events since the last call.
    pub fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    /// Counters.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// Rows of the codec's tables that received flits have met.
    pub fn coverage(&self) -> &Coverage {
        &self.coverage
    }

    /// Local retry machine and its counters.
    pub fn local(&self) -> &LocalRetry {
        &self.local
    }

    /// Remote retry machine.
    pub fn remote(&self) -> Remote {
        self.remote
    }

    /// Retry buffer.
    pub fn buffer(&self) -> &RetryBuffer {
        &self.buffer
    }

    /// Credit book.
    pub fn credits(&self) -> &CreditBook {
        &self.credits
    }

    /// Number of the next good retryable flit.
    pub fn eseq(&self) -> u8 {
        self.eseq
    }

    /// Good retryable flits not acknowledged.
    pub fn num_ack(&self) -> u16 {
        self.num_ack
    }

    /// Received messages that nobody has taken.
    pub fn inbox_len(&self) -> usize {
        self.inbox.len()
    }

    /// The rule that stopped the link, after an uncorrectable event or in RETRY_ABORT.
    pub fn halted(&self) -> Option<&'static str> {
        self.halted.or((self.local.state == Local::Abort).then_some("CXL68-LRS-06"))
    }

    /// Whether INIT.Param has gone both ways.
    pub fn is_up(&self) -> bool {
        self.init.sent && self.init.received
    }

    /// Nothing waits, nothing is being repeated, every credit of the peer's buffers that we know of is with us.
    pub fn is_quiet(&self) -> bool {
        self.packer.is_empty()
            && self.inbox.is_empty()
            && self.sequence.is_empty()
            && !self.buffer.replaying()
            && self.local.state == Local::Normal
            && self.remote == Remote::Normal
            && (self.credits.pending() == 0 || self.credits_held)
            && self.unpacker.rollover() == 0
    }

    /// The flit clock at which [`End::transmit`] has something to do if nothing else happens; `None`: never.
    pub fn wakes_at(&self, now: u64) -> Option<u64> {
        if self.halted().is_some() || self.local.state == Local::PhyReinit {
            return None;
        }
        let at_once = !self.is_up()
            || !self.sequence.is_empty()
            || self.buffer.replaying()
            || matches!(self.local.state, Local::LlrReq | Local::LocalIdle)
            || self.remote != Remote::Normal
            || self.viral_to_signal
            || !self.packer.is_empty();
        if at_once {
            return Some(now + 1);
        }
        let due = self.waiting_since? + u64::from(self.config.link.llcrd_flush_flits);
        Some(due.max(now + 1))
    }

    // ---- receiver ------------------------------------------------------------------------------------------------

    fn event(&mut self, severity: Severity, violation: scalepool_protocols::wire::Violation) {
        if severity == Severity::Uncorrectable {
            self.halted = Some(violation.rule);
        }
        self.events.push(Event { severity, unit: self.received, violation });
    }

    /// Takes a unit off the wire. Messages are read with [`End::take`], events with [`End::take_events`].
    pub fn receive(&mut self, unit: &Unit, now: u64) {
        if self.halted.is_some() {
            self.received += 1;
            return;
        }
        let action = pid::receive(unit.pid(), self.config.enabled);
        if action.log.is_some() || action.accept.is_none_or(|p| p.kind != PidKind::Cachemem) {
            self.not_plain_cachemem(unit, action);
        }
        if action.accept.is_some_and(|p| p.kind == PidKind::Cachemem) {
            if self.local.state == Local::Normal {
                self.receive_normal(unit, action);
            } else {
                self.receive_in_retry(unit);
            }
        }
        self.received += 1;
        self.note_waiting(now);
    }

    fn not_plain_cachemem(&mut self, unit: &Unit, action: PidAction) {
        // A decoder of its own: ID, NULL and ALMP findings need no stream.
        let decoded =
            Unpacker::new(self.config.dir.opposite(), self.config.link.revision, self.config.enabled).read(unit);
        let findings = check::unit(&decoded, &self.config.link);
        let of_id = |rule: &str| rule.starts_with("CXL68-PID");
        for violation in findings.violations {
            let severity = match action.log {
                Some(PidLog::CorrectableFraming) if of_id(violation.rule) => Severity::Corrected,
                Some(_) if of_id(violation.rule) => Severity::Retrain,
                _ if decoded.kind == Kind::Null || decoded.kind == Kind::Almp => Severity::Protocol,
                _ => continue,
            };
            self.event(severity, violation);
        }
        if action.accept.is_none() {
            self.stats.pid_errors += 1;
            self.retrain_wanted = true;
            self.frames = 0;
        }
    }

    /// In NORMAL the stream is in step: the rollover count tells data from control.
    fn receive_normal(&mut self, unit: &Unit, action: PidAction) {
        let unpacked_before = (self.config.mutant == Some(Mutant::BadFlitDelivered)).then(|| self.unpacker.clone());
        let decoded = self.unpacker.read_as(unit, action);
        self.coverage.record(&decoded);
        if decoded.crc_ok == Some(false) {
            self.bad_flit();
            if let Some(mut unpacker) = unpacked_before {
                let mut good = *unit;
                good.set_tail(unit.expected_crc());
                unpacker.read_as(&good, action);
                self.unpacker = unpacker;
                self.deliver();
            }
            return;
        }
        if let Kind::Control(_) = decoded.kind
            && !Control::static_bits_ok(unit.slot(0))
        {
            self.static_bits(&decoded);
            return;
        }
        self.clean_flit();
        match decoded.kind {
            Kind::Control(control) if !control.is_retryable() => self.retry_flit(&control),
            Kind::Control(control) => {
                self.frames = 0;
                self.retryable();
                self.control(&control);
            }
            Kind::Protocol(_) | Kind::AllData => {
                self.frames = 0;
                self.retryable();
                self.protocol(&decoded);
            }
            Kind::Almp | Kind::Null | Kind::Io | Kind::Dropped => (),
        }
    }

    fn bad_flit(&mut self) {
        self.stats.crc_errors += 1;
        self.frames = 0;
        self.local.step(Trigger::Error);
        if self.config.mutant == Some(Mutant::CountedWhileFrozen) {
            self.eseq = self.after_eseq(1);
        }
    }

    fn static_bits(&mut self, decoded: &Decoded) {
        let found = check::unit(decoded, &self.config.link);
        for violation in found.violations {
            let severity = match self.config.link.static_bit_fault {
                StaticBitFault::FatalInNormal => Severity::Uncorrectable,
                StaticBitFault::CrcError => Severity::Protocol,
            };
            self.event(severity, violation);
        }
        if self.config.link.static_bit_fault == StaticBitFault::CrcError {
            self.bad_flit();
        }
    }

    fn clean_flit(&mut self) {
        self.init.clean_seen = true;
        if let Some((modulus, left)) = self.peer_modulus_soon {
            let late = self.config.mutant == Some(Mutant::WrapNeverChanges);
            match (left, late) {
                (_, true) => (),
                (0, _) => (self.peer_modulus, self.peer_modulus_soon) = (modulus, None),
                (n, _) => self.peer_modulus_soon = Some((modulus, n - 1)),
            }
        }
    }

    fn after_eseq(&self, n: u16) -> u8 {
        ((u16::from(self.eseq) + n) % self.peer_modulus) as u8
    }

    /// A good retryable flit in NORMAL (LRS-01).
    fn retryable(&mut self) {
        self.local.step(Trigger::Retryable);
        self.eseq = self.after_eseq(1);
        self.num_ack += 1;
    }

    /// RETRY flits: the only ones that count outside NORMAL too. Req and Ack need their Frames directly before.
    fn retry_flit(&mut self, control: &Control) {
        let framed = self.frames >= u16::from(self.config.link.frames_before_sequence);
        self.frames = if matches!(control, Control::RetryFrame(_)) { self.frames.saturating_add(1) } else { 0 };
        if self.config.mutant == Some(Mutant::RetryFlitCounted) && self.local.state == Local::Normal {
            self.retryable();
        }
        match control {
            Control::RetryReq(req) if framed => self.req_sequence(req),
            Control::RetryAck(ack) if framed => self.ack_sequence(ack),
            _ => {
                self.local.step(Trigger::NotRetryable);
            }
        }
    }

    fn req_sequence(&mut self, req: &RetryReq) {
        self.local.step(Trigger::ReqSequence);
        if self.config.mutant == Some(Mutant::ReqMovesLocal) {
            self.local.state = Local::LlrReq;
        }
        if !self.buffer.holds(req.eseq) {
            let expected = format!("{} flits before {}", self.buffer.unacknowledged(), self.buffer.wr_ptr());
            self.event(
                Severity::Protocol,
                finding("CXL68-RRS-01", req.eseq, expected, "Eseq of a RETRY.Req is not in the retry buffer"),
            );
            return;
        }
        self.remote = self.remote.step(RemoteTrigger::Req { num_retry: req.num_retry, eseq: req.eseq });
        self.rewind(req.eseq);
    }

    fn rewind(&mut self, eseq: u8) {
        self.buffer.rewind(eseq);
        if self.config.mutant == Some(Mutant::ReplayOffByOne) {
            self.buffer.skip_one();
        }
    }

    fn ack_sequence(&mut self, ack: &RetryAck) {
        let matches = ack.num_retry == self.req_echo;
        match self.local.state {
            Local::Normal => {
                self.event(
                    Severity::Protocol,
                    finding("CXL68-LLR-15", "a RETRY.Ack sequence", "none", "an Ack that nobody asked for"),
                );
                return;
            }
            Local::LocalIdle if matches || self.config.mutant == Some(Mutant::StaleAckAccepted) => {
                if matches && ack.eseq != self.eseq {
                    let text = "Eseq of a RETRY.Ack is not the one that was asked for";
                    self.event(Severity::Protocol, finding("CXL68-LLR-14", ack.eseq, self.eseq, text));
                }
                self.local.step(if ack.empty { Trigger::AckMatchEmpty } else { Trigger::AckMatch });
            }
            _ => {
                self.local.step(Trigger::AckOther);
                return;
            }
        }
        if ack.viral {
            self.peer_viral = Some(ack.viral_ld_id);
        }
    }

    /// Outside NORMAL only framed RETRY sequences count; everything else is discarded, whatever it is.
    fn receive_in_retry(&mut self, unit: &Unit) {
        if self.local.state == Local::PhyReinit {
            return;
        }
        if self.local.state == Local::Abort {
            if self.config.mutant == Some(Mutant::AbortLeaves) && unit.crc_ok() {
                self.local.state = Local::Normal;
            }
            return;
        }
        let slot = unit.slot(0);
        if !unit.crc_ok() {
            self.bad_flit();
            return;
        }
        let retry = match Control::from_slot(slot) {
            control if slot & 1 == 1 && !control.is_retryable() && Control::static_bits_ok(slot) => Some(control),
            _ => None,
        };
        if let Some(control) = retry {
            self.init.clean_seen = true;
            self.retry_flit(&control);
            return;
        }
        self.frames = 0;
        self.local.step(Trigger::Retryable);
        let leaks = matches!(
            (self.config.mutant, self.local.state),
            (Some(Mutant::DeliversInLlrReq), Local::LlrReq) | (Some(Mutant::DeliversInLocalIdle), Local::LocalIdle)
        );
        if leaks {
            self.unpacker.read(unit);
            self.deliver();
        }
        if self.config.mutant == Some(Mutant::CountedWhileFrozen) {
            self.eseq = self.after_eseq(1);
        }
    }

    fn control(&mut self, control: &Control) {
        if let Control::InitParam(init) = control {
            self.init_param(init);
            return;
        }
        if !self.init.received {
            let rule = if self.received == 0 { "CXL68-INI-01" } else { "CXL68-INI-05" };
            let text = "a flit that is not RETRY before INIT.Param";
            self.event(Severity::Uncorrectable, finding(rule, control.name(), "INIT.Param", text));
            return;
        }
        if let Control::LlcrdAcknowledge(llcrd) = control {
            let mut llcrd = *llcrd;
            if self.config.mutant == Some(Mutant::AkBitDropped) {
                llcrd.ak = false;
            }
            self.acknowledged(u16::from(llcrd.full_ack()), "CXL68-LLR-05");
            self.credits.receive([llcrd.rsp_crd, llcrd.req_crd, llcrd.data_crd]);
        }
    }

    fn init_param(&mut self, init: &InitParam) {
        if self.init.received {
            let text = "a second INIT.Param";
            self.event(Severity::Uncorrectable, finding("CXL68-INI-02", "INIT.Param", "one in all", text));
            return;
        }
        self.init.received = true;
        let modulus = match self.config.link.wrap_meaning {
            WrapMeaning::HighestNumber => u16::from(init.wrap) + 1,
            WrapMeaning::Modulus => u16::from(init.wrap).max(1),
        };
        self.peer_modulus_soon = Some((modulus, self.config.param_delay_flits.min(8)));
    }

    fn acknowledged(&mut self, count: u16, rule: &'static str) {
        if !self.buffer.acknowledge(count) {
            let expected = format!("at most {}", self.buffer.unacknowledged());
            self.event(Severity::Protocol, finding(rule, count, expected, "acknowledges flits that were not sent"));
        }
    }

    fn protocol(&mut self, decoded: &Decoded) {
        if !self.init.received {
            let rule = if self.init.sent { "CXL68-INI-03" } else { "CXL68-INI-05" };
            let text = "a protocol flit before INIT.Param";
            self.event(Severity::Uncorrectable, finding(rule, "a protocol flit", "INIT.Param", text));
            return;
        }
        for violation in check::unit(decoded, &self.config.link).violations {
            let severity = match violation.rule {
                "CXL68-HDR-03" | "CXL68-HDR-04" | "CXL68-PCK-14" => Severity::Uncorrectable,
                // Reserved bits are ignored; the protocol ID has been judged already.
                rule if rule.starts_with("CXL68-MSG") || rule.starts_with("CXL68-PID") => continue,
                _ => Severity::Protocol,
            };
            self.event(severity, violation);
        }
        if self.halted.is_some() {
            return;
        }
        if let Kind::Protocol(header) = decoded.kind {
            if header.ak {
                self.acknowledged(FLITS_AN_AK, "CXL68-LLR-09");
            }
            self.credits.receive([header.rsp_crd, header.req_crd, header.data_crd]);
            for (slot, class, _) in decoded.messages() {
                if !self.credits.arrived(class) {
                    let text = format!("{} in slot {slot} without a credit", class.def().name);
                    self.event(Severity::Protocol, finding("CXL68-CRD-04", "a message", "no message", &text));
                }
            }
        }
        self.deliver();
    }

    fn deliver(&mut self) {
        for mut message in self.unpacker.delivered().iter().copied() {
            if let Some(data) = &mut message.data {
                match self.config.mutant {
                    Some(Mutant::StaleByteEnables) if data.byte_enables.is_none() && data.size == Size::Line => {
                        data.byte_enables = Some(self.last_enables);
                    }
                    Some(Mutant::HighHalfStoredLow) if data.size == Size::UpperHalf => {
                        data.bytes.rotate_left(32);
                        data.size = Size::LowerHalf;
                    }
                    Some(Mutant::PoisonLost) => message.bits = without_poison(message.class, message.bits),
                    _ => (),
                }
                self.last_enables = data.enabled();
            }
            self.inbox.push_back(message);
        }
    }

    // ---- transmitter ---------------------------------------------------------------------------------------------

    fn note_waiting(&mut self, now: u64) {
        let credits = self.credits.pending() > 0 && !self.credits_held;
        if self.num_ack > TIMED_ACKS || credits {
            self.waiting_since.get_or_insert(now);
        } else {
            self.waiting_since = None;
        }
    }

    /// The unit of this flit clock; `None`: nothing to send, the physical layer fills with NULL.
    pub fn transmit(&mut self, now: u64) -> Option<Unit> {
        self.note_waiting(now);
        if self.halted.is_some() || matches!(self.local.state, Local::PhyReinit | Local::Abort) {
            return None;
        }
        if self.local.state == Local::LocalIdle
            && self.local.timeout_flits >= self.config.link.timeout_flits
            && self.config.mutant != Some(Mutant::NoTimeout)
        {
            self.local.step(Trigger::Timeout);
        }
        let retry_flits = self.stats.sent_retry;
        let unit = self.next_unit(now);
        if unit.is_some() {
            self.stats.sent += 1;
            if self.local.state == Local::LocalIdle {
                self.local.timeout_flits += 1;
            }
        }
        self.note_waiting(now);
        let mut unit = unit?;
        if self.viral_to_signal && self.stats.sent_retry == retry_flits {
            self.viral_to_signal = false;
            if self.config.mutant != Some(Mutant::ViralWithoutSpoil) {
                unit.set_tail(match self.config.link.crc_spoil {
                    CrcSpoil::InvertAll => !unit.tail(),
                    CrcSpoil::InvertLowest => unit.tail() ^ 1,
                });
            }
        }
        Some(unit)
    }

    fn next_unit(&mut self, now: u64) -> Option<Unit> {
        if self.run.is_some() {
            return self.rest_of_run(now);
        }
        if self.sequence.is_empty() {
            self.begin_sequence();
        }
        if let Some(unit) = self.sequence.pop_front() {
            self.stats.sent_retry += 1;
            if self.sequence.is_empty() {
                self.end_sequence();
            }
            return Some(unit);
        }
        if matches!(self.local.state, Local::PhyReinit | Local::Abort) {
            return None;
        }
        let replays = self.buffer.replaying();
        if replays && self.config.mutant != Some(Mutant::ReplayOrderChanged) {
            return self.replay();
        }
        if !self.init.clean_seen {
            return Some(self.retry_idle());
        }
        if !self.init.sent {
            self.init.sent = true;
            return self.store(self.init_flit(), 0, 0);
        }
        if !self.init.received {
            return Some(self.retry_idle());
        }
        match self.new_flit(now) {
            Some(unit) => Some(unit),
            None if replays => self.replay(),
            // TIMEOUT counts flits, so something has to be sent while an Ack is awaited.
            None if self.local.state == Local::LocalIdle => Some(self.retry_idle()),
            None => None,
        }
    }

    fn retry_idle(&mut self) -> Unit {
        self.stats.sent_retry += 1;
        let unit = control_unit(Control::by_name("RETRY.Idle"));
        if self.config.mutant == Some(Mutant::IdleStored) && self.buffer.num_free() > 2 {
            self.buffer.store(Stored { unit, rollover_after: 0, acks: 0 });
        }
        unit
    }

    fn init_flit(&self) -> Unit {
        let entries = self.buffer.modulus();
        let wrap = match self.config.link.wrap_meaning {
            WrapMeaning::HighestNumber => entries - 1,
            WrapMeaning::Modulus => entries,
        };
        let version = self.config.link.revision.init_version();
        control_unit(Some(Control::InitParam(InitParam { version, wrap: wrap as u8, ..InitParam::default() })))
    }

    /// Ack first, then Req (LLR-16).
    fn begin_sequence(&mut self) {
        let mutant = self.config.mutant;
        let req_first = mutant == Some(Mutant::ReqBeforeAck) && self.local.state == Local::LlrReq;
        if let (Remote::LlrAck { num_retry, eseq }, false) = (self.remote, req_first) {
            if mutant == Some(Mutant::DataBeforeAck) && self.buffer.replaying() && self.frames == 0 {
                // The mutant lets one replayed flit go first.
                if let Some(flit) = self.buffer.replay() {
                    self.buffer.rewind(eseq);
                    self.sequence.push_back(flit.unit);
                }
            }
            let viral = self.viral.is_some() || mutant == Some(Mutant::ViralUnasked);
            let last = Control::RetryAck(RetryAck {
                empty: eseq == self.buffer.wr_ptr() || mutant == Some(Mutant::EmptyWithData),
                viral,
                num_retry,
                wr_ptr: self.buffer.wr_ptr(),
                eseq,
                num_free_buf: self.buffer.num_free() as u8,
                viral_ld_id: self.viral.unwrap_or(0),
                ..RetryAck::default()
            });
            self.frame(last);
            self.sequence_is_ack = true;
            return;
        }
        if self.local.state != Local::LlrReq {
            return;
        }
        let link = &self.config.link;
        if self.local.num_retry >= link.max_num_retry {
            if self.local.num_phy_reinit >= link.max_num_phy_reinit {
                self.local.step(Trigger::BothLimits);
                let found = format!("NUM_RETRY {}, NUM_PHY_REINIT {}", link.max_num_retry, link.max_num_phy_reinit);
                let text = "link failure: RETRY_ABORT";
                self.event(Severity::Uncorrectable, finding("CXL68-LRS-06", found, "an answer of the peer", text));
            } else {
                self.local.step(Trigger::RetryLimit);
                self.retrain_wanted = true;
                self.stats.reinits += 1;
            }
            return;
        }
        let after = u8::from(link.req_count == ReqCount::AfterIncrement);
        self.req_echo = self.local.num_retry + after;
        let last = Control::RetryReq(RetryReq {
            eseq: self.eseq,
            num_retry: self.req_echo,
            num_phy_reinit: self.local.num_phy_reinit,
            ..RetryReq::default()
        });
        self.frame(last);
        self.sequence_is_ack = false;
        self.stats.retries += 1;
    }

    fn frame(&mut self, last: Control) {
        // Five Frames, more than the four all-data flits that could look like one (`cxl-68b` §7.2).
        let frames = if self.config.mutant == Some(Mutant::FourFrames) { 4 } else { 5 };
        let frame = control_unit(Control::by_name("RETRY.Frame"));
        self.sequence.extend(std::iter::repeat_n(frame, frames));
        self.sequence.push_back(control_unit(Some(last)));
    }

    fn end_sequence(&mut self) {
        if self.sequence_is_ack {
            // A run that was finished after the Req has moved the pointers on; the replay starts where it was asked for.
            if let Remote::LlrAck { eseq, .. } = self.remote {
                self.rewind(eseq);
                self.run = self.buffer.starts_in_run(eseq).then_some(eseq);
            }
            self.remote = self.remote.step(RemoteTrigger::AckSent);
        } else {
            self.local.step(Trigger::ReqSent);
        }
    }

    /// An all-data run is finished before anything else (LLR-16).
    fn rest_of_run(&mut self, now: u64) -> Option<Unit> {
        let at = self.run?;
        if at == self.buffer.wr_ptr() {
            return self.new_flit(now);
        }
        let flit = *self.buffer.entry(at)?;
        let next = self.buffer.after(at, 1);
        // A Req during the run has moved the read pointer already; the Ack sequence will set it again.
        if self.buffer.rd_ptr() == at {
            self.buffer.rewind(next);
        }
        self.run = (flit.rollover_after > 3).then_some(next);
        self.stats.replayed += 1;
        Some(flit.unit)
    }

    fn replay(&mut self) -> Option<Unit> {
        let flit = self.buffer.replay()?;
        self.run = (flit.rollover_after > 3).then_some(self.buffer.rd_ptr());
        self.stats.replayed += 1;
        let mut unit = flit.unit;
        match self.config.mutant {
            Some(Mutant::ReplayedAkDecrements) => self.num_ack = self.num_ack.saturating_sub(flit.acks.into()),
            Some(Mutant::ReplayAltered) if unit.slot(0) & 1 == 0 && self.run.is_none() => {
                unit.0[4] &= 0x0f;
                unit.0[5] = 0;
                unit.set_tail(unit.expected_crc());
            }
            _ => (),
        }
        Some(unit)
    }

    /// A new retryable flit, if one is due and may be sent.
    fn new_flit(&mut self, now: u64) -> Option<Unit> {
        let free = self.buffer.num_free();
        let floor = if self.config.mutant == Some(Mutant::LastEntryUsed) { 0 } else { 1 };
        if free <= floor {
            return None;
        }
        if self.packer.in_data_run() {
            let mut none = [0; 10];
            let Packed::AllData(slots) = self.packer.pack(&mut none, 0) else { return None };
            self.stats.sent_all_data += 1;
            return self.store(Unit::from_slots(pid::CACHEMEM, &slots), self.packer.rollover(), 0);
        }
        if self.llcrd_forced(now) && (free > 2 || self.num_ack > 0 || floor == 0) {
            return self.llcrd(now);
        }
        let ak_from = if self.config.mutant == Some(Mutant::AkTooEarly) { FLITS_AN_AK - 1 } else { FLITS_AN_AK };
        let ak = self.num_ack >= ak_from;
        if free <= 2 && !ak && floor == 1 {
            // With two entries left only a flit that returns acknowledgements may go (LLR-07).
            return if self.num_ack > 0 && !self.packer.is_empty() { self.llcrd(now) } else { None };
        }
        // A run that cannot finish before two entries are left is not begun (LLR-08): this flit takes one entry, each
        // all-data flit another one, and each of them needs at least three before it.
        let runs = match self.config.mutant {
            Some(Mutant::RunNotReserved) => usize::MAX,
            _ => usize::from(free.saturating_sub(3)),
        };
        let waited = !self.packer.is_empty();
        let before: [usize; 10] = std::array::from_fn(|i| self.packer.waiting(Class::ALL[i]));
        match self.packer.pack(&mut self.credits.spend, runs) {
            Packed::Protocol(header, slots) => {
                self.count_messages(&before);
                self.protocol_flit(header, slots, ak, now)
            }
            Packed::AllData(_) | Packed::Nothing => {
                self.stats.credit_stalls += u64::from(waited && self.init.received);
                (self.viral_to_signal).then(|| self.llcrd(now)).flatten()
            }
        }
    }

    fn count_messages(&mut self, before: &[usize; 10]) {
        for (class, before) in Class::ALL.into_iter().zip(before) {
            self.stats.messages[class.index()] += (before - self.packer.waiting(class)) as u64;
        }
    }

    fn protocol_flit(&mut self, mut header: FlitHeader, mut slots: [u128; 4], ak: bool, now: u64) -> Option<Unit> {
        let mut acks = 0;
        if ak {
            header.ak = true;
            acks = FLITS_AN_AK;
            self.num_ack = self.num_ack.saturating_sub(FLITS_AN_AK);
        }
        if self.first_credits_sent {
            [header.rsp_crd, header.req_crd, header.data_crd] = self.take_credits();
        }
        slots[0] |= header.to_bits().ok()?;
        self.stats.sent_protocol += 1;
        self.restart_timer(now);
        self.store(Unit::from_slots(pid::CACHEMEM, &slots), self.packer.rollover(), acks as u8)
    }

    fn take_credits(&mut self) -> [u8; 3] {
        if self.credits_held {
            return [0; 3];
        }
        let (codes, broken) = self.credits.take();
        if let Some(rule) = broken {
            let text = "credits of one protocol wait while the other one is served";
            self.event(Severity::Protocol, finding(rule, "more than 64 flits", "alternation", text));
        }
        codes
    }

    /// Whether an LLCRD goes before protocol flits (`cxl-68b` §7.1); the first credits after INIT travel in LLCRDs.
    fn llcrd_forced(&self, now: u64) -> bool {
        if self.config.mutant == Some(Mutant::FlushTimerOff) && self.first_credits_sent {
            return false;
        }
        let link = &self.config.link;
        let first = !self.first_credits_sent && self.credits.pending() > 0 && !self.credits_held;
        let late = self.waiting_since.is_some_and(|since| now >= since + u64::from(link.llcrd_flush_flits));
        first || late || self.num_ack >= u16::from(link.llcrd_ack_threshold)
    }

    fn llcrd(&mut self, now: u64) -> Option<Unit> {
        let acks = self.num_ack.min(255);
        self.num_ack -= acks;
        let [rsp_crd, req_crd, data_crd] = self.take_credits();
        let mut llcrd = Llcrd { rsp_crd, req_crd, data_crd, ..Llcrd::default() };
        llcrd.set_full_ack(acks as u8);
        // The first credits are all that our buffers hold; when they are out, headers carry the returns.
        self.first_credits_sent |= self.credits.pending() == 0;
        self.stats.sent_llcrd += 1;
        self.restart_timer(now);
        self.store(control_unit(Some(Control::LlcrdAcknowledge(llcrd))), 0, acks as u8)
    }

    fn restart_timer(&mut self, now: u64) {
        self.waiting_since = None;
        self.note_waiting(now);
    }

    fn store(&mut self, unit: Unit, rollover_after: usize, acks: u8) -> Option<Unit> {
        self.buffer.store(Stored { unit, rollover_after, acks });
        self.run = (rollover_after > 3).then(|| self.buffer.wr_ptr());
        Some(unit)
    }
}

fn control_unit(control: Option<Control>) -> Unit {
    // All fields of our own control flits fit by construction; a zero slot would be a NULL-like protocol flit.
    let slot = control.and_then(|c| c.to_slot().ok()).unwrap_or(0);
    Unit::from_slots(pid::CACHEMEM, &[slot, 0, 0, 0])
}

fn without_poison(class: Class, bits: u128) -> u128 {
    let field = class.def().fields.iter().find(|f| f.name == "poison");
    field.map_or(bits, |f| bits & !(1 << f.lsb))
}
