//! One end of a CXL 68B link: what transmitter and receiver share, and what its neighbours see.
//!
//! `receive` holds the receiver, `transmit` the transmitter; both are methods of [`Cxl68End`], because
//! acknowledgements, credits and retry tie the two.

mod receive;
mod transmit;

use super::coverage::Cxl68Coverage;
use super::credit::CreditBook;
use super::event::LinkEvent;
use super::form::Flit68;
use super::halves::{LineHalves, is_half};
use super::retry::{Local, LocalRetry, Remote, RemoteTrigger, RetryBuffer, Trigger};
use crate::health::{StateTimes, states};
use crate::hook::{Direction, HookPoint, Hooks};
use crate::line_time::{LineTimeParts, PlainParts};
use crate::statuses::LinkStatuses;
use scalepool_protocols::cxl::cxl68::Dir;
use scalepool_protocols::cxl::cxl68::config::{Cxl68Config, Cxl68ConfigError};
use scalepool_protocols::cxl::cxl68::content::Content68;
use scalepool_protocols::cxl::cxl68::message::Class;
use scalepool_protocols::cxl::cxl68::packable::{Cxl68Refused, Packable};
use scalepool_protocols::cxl::cxl68::packer::Packer;
use scalepool_protocols::cxl::cxl68::pid::Enabled;
use scalepool_protocols::cxl::cxl68::unit::Cxl68Unit;
use scalepool_protocols::cxl::fifo::Fifo;
use scalepool_protocols::cxl::link_status::LinkStatus;
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
    /// Req sequences received.
    pub reqs_heard: u64,
    /// Replays of at least one flit begun.
    pub replays: u64,
    /// Good flits that are not RETRY, thrown away while a replay was awaited.
    pub discarded: u64,
    /// PHY reinitialisations that this end asked for, because NUM_RETRY was at its maximum.
    pub reinits: u64,
    /// Trainings that this end asked for, those and the ones for protocol IDs that cannot be used.
    pub trainings: u64,
    /// Flit clocks in which a message waited and had no credit, while nothing else could be sent.
    pub credit_stalls: u64,
}

/// Sequence numbers until the peer's INIT.Param is active: 0 to 9 (`cxl-68b` §6.4).
const MODULUS_BEFORE_INIT: u16 = 10;
/// Flits that one Ak acknowledges (`cxl-68b` §1.5).
const FLITS_AN_AK: u16 = 8;
/// Spare slots that an end keeps: it receives about as many flits as it sends, but those of a whole window of outstanding
/// requests before it answers the first one. With 16 of them one flit in six of `cxl68-expander` took memory of its own.
const MOST_SPARES: usize = 64;
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

/// One end of the link; `U`: what its flits are, bytes or content without bytes.
#[derive(Debug, Clone)]
pub struct Cxl68End<U: Flit68 = Cxl68Unit> {
    config: EndConfig,
    packer: Packer<U::Message>,
    reader: U::Reader,
    credits: CreditBook,
    buffer: RetryBuffer<U::Kept>,
    local: LocalRetry,
    remote: Remote,
    init: Init,
    /// Framed sequence that is leaving; the trigger is taken when its last flit is out.
    sequence: VecDeque<U>,
    /// What the Ack sequence that is leaving answers; `None`: a Req sequence.
    answers: Option<Remote>,
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
    statuses: LinkStatuses,
    halted: Option<&'static str>,
    received: u64,
    inbox: Fifo<U::Message>,
    /// Lines of which one half has come and was taken.
    pub(in crate::cxl68) halves: LineHalves,
    /// Empty slots of received flits, for flits to be sent: a flit takes 140 instructions less than with memory of its own.
    spares: Vec<U::Slots>,
    events: Vec<LinkEvent>,
    stats: Stats,
    coverage: Cxl68Coverage,
    /// What the flit clock of the last unit was used for.
    uses: PlainParts,
    /// The link is up, and nothing goes on that is rare: no retry, no replay, no training, no viral. Then all that remains to be
    /// asked in a flit clock is what new flit may go. It is set where [`Cxl68End::may_settle`] has been asked, and taken away
    /// wherever one of these begins: 90 instructions a flit less than asking for each of them at each step.
    settled: bool,
    /// Requests for a retry and for training since the last good payload, see [`Cxl68End::fruitless`].
    fruitless: u32,
    /// See [`Cxl68End::progress`].
    progress: u64,
    /// Number of the next retryable flit that the peer expects, as it was when its last unit left.
    peer_expects: u8,
    /// Damage of the line is reported.
    pub(in crate::cxl68) reports_repairs: bool,
    pub(in crate::cxl68) times: StateTimes,
    hooks: Hooks,
}

impl Cxl68End {
    /// An end that has just been told that the physical link is up.
    ///
    /// # Errors
    /// A choice outside its range.
    pub fn new(config: EndConfig) -> Result<Cxl68End, Cxl68ConfigError> {
        Cxl68End::of_form(config)
    }
}

impl Cxl68End<Content68> {
    /// The same end without bytes: no observer can see its flits, and no fault may hit them. It cannot tell viral, which
    /// begins with a wrong CRC.
    ///
    /// # Errors
    /// A choice outside its range.
    pub fn without_bytes(config: EndConfig) -> Result<Cxl68End<Content68>, Cxl68ConfigError> {
        Cxl68End::of_form(config)
    }
}

impl<U: Flit68> Cxl68End<U> {
    /// Declares local viral: the next flit's CRC is spoiled and the Ack that follows carries Viral with a vector of
    /// logical devices (0: all). The peer of an end without bytes does not hear of it.
    pub fn set_viral(&mut self, logical_devices: u16) {
        self.viral = Some(logical_devices);
        self.viral_to_signal = true;
        self.settled = false;
    }

    /// Ends local viral, as a conventional reset does: later Acks do not carry it.
    pub fn clear_viral(&mut self) {
        self.viral = None;
        self.viral_to_signal = false;
    }

    fn of_form(config: EndConfig) -> Result<Cxl68End<U>, Cxl68ConfigError> {
        config.link.validate()?;
        let (dir, link) = (config.dir, config.link);
        Ok(Cxl68End {
            packer: Packer::new(dir, link),
            reader: U::reader(&config),
            credits: CreditBook::new(dir, link.credit_counter_bits, config.sends, config.buffers),
            buffer: RetryBuffer::new(link.llrb_entries),
            local: LocalRetry::new(),
            remote: Remote::Normal,
            init: Init { clean_seen: false, sent: false, received: false },
            sequence: VecDeque::new(),
            answers: None,
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
            statuses: LinkStatuses::default(),
            halted: None,
            received: 0,
            inbox: Fifo::default(),
            halves: LineHalves::default(),
            spares: Vec::new(),
            events: Vec::new(),
            stats: Stats::default(),
            coverage: Cxl68Coverage::new(),
            uses: PlainParts::default(),
            settled: false,
            fruitless: 0,
            progress: 0,
            peer_expects: 0,
            reports_repairs: false,
            times: StateTimes::new(&states::CXL68),
            hooks: Hooks::default(),
            config,
        })
    }

    // ---- the consumer's side -------------------------------------------------------------------------------------

    /// Queues a message to be sent.
    ///
    /// # Errors
    /// A message that must not travel in this mode.
    #[inline]
    pub fn send(&mut self, mut message: U::Message) -> Result<(), Cxl68Refused> {
        self.send_in_place(&mut message)
    }

    /// [`Cxl68End::send`] of a message that is moved only once, into the queue.
    #[inline]
    pub(super) fn send_in_place(&mut self, message: &mut U::Message) -> Result<(), Cxl68Refused> {
        if !U::shown_message(message, &self.hooks, (HookPoint::PackerIn, Direction::Tx)) {
            return Ok(());
        }
        self.packer.push(message)
    }

    /// Messages of a class that wait to be packed.
    pub fn waiting(&self, class: Class) -> usize {
        self.packer.waiting(class)
    }

    /// Messages of all classes that wait to be packed.
    #[inline]
    pub fn queued(&self) -> usize {
        self.packer.queued()
    }

    /// Takes the next received message out of its buffer; its credit becomes due for return.
    pub fn take(&mut self) -> Option<U::Message> {
        self.take_as(|message| *message)
    }

    /// [`Cxl68End::take`] of what `read` makes of the message where it lies.
    #[inline]
    pub fn take_as<T>(&mut self, read: impl FnOnce(&U::Message) -> T) -> Option<T> {
        self.credits.freed(self.inbox.first()?.class());
        // Read to where the caller has it: a message that is kept here first is moved once more.
        let item = self.inbox.first().map(read);
        self.inbox.drop_first();
        item
    }

    /// Whether the next received message is a half of a line.
    #[inline]
    pub(in crate::cxl68) fn is_half_next(&self) -> bool {
        self.inbox.first().is_some_and(is_half)
    }

    /// Takes the next received message of a class out of its buffer.
    pub fn take_class(&mut self, class: Class) -> Option<U::Message> {
        let at = self.inbox.iter().position(|m| m.class() == class)?;
        let message = self.inbox.remove(at);
        self.credits.freed(class);
        Some(message)
    }

    /// Whether a received message of class `first` lies in front of the next one of class `second`.
    pub fn arrived_before(&self, first: Class, second: Class) -> bool {
        self.inbox.iter().map(Packable::class).find(|class| [first, second].contains(class)) == Some(first)
    }

    /// Class of the message that [`Cxl68End::take`] would give.
    pub fn next_class(&self) -> Option<Class> {
        self.inbox.first().map(Packable::class)
    }

    /// Takes hooks in the place of the present ones.
    pub fn attach_hooks(&mut self, hooks: &Hooks) {
        self.hooks = hooks.clone();
    }

    /// Its hooks.
    pub fn hooks(&self) -> &Hooks {
        &self.hooks
    }

    /// Shows a unit to the hooks of a point; `None`: it is gone.
    #[inline]
    fn hooks_unit(&self, point: HookPoint, way: Direction, unit: U) -> Option<U> {
        unit.shown(&self.hooks, point, way)
    }

    /// Keeps what a received flit has left behind.
    pub(super) fn keep_spare(&mut self, unit: &mut U) {
        if self.spares.len() < MOST_SPARES {
            self.spares.extend(unit.emptied());
        }
    }

    /// Holds back or releases all credits of our buffers (a fault input).
    pub fn hold_credits(&mut self, hold: bool) {
        self.credits_held = hold;
    }

    /// Statuses to tell, and those that were heard.
    pub(crate) fn statuses_mut(&mut self) -> &mut LinkStatuses {
        &mut self.statuses
    }

    /// The peer resets the link: what it has declared before is over.
    pub(crate) fn hot_reset(&mut self) {
        self.peer_viral = None;
        self.statuses.hear(LinkStatus::HotReset);
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
        self.settled = false;
        self.local.step(Trigger::PhyDown);
        self.retrain_wanted = false;
        self.sequence.clear();
        self.answers = None;
        self.run = None;
        self.frames = 0;
        // The rest of a run may have gone out since the Req; its Eseq stays where the replay starts.
        if let Remote::LlrAck { eseq, .. } = self.remote {
            self.buffer.rewind(eseq);
        }
        self.remote = self.remote.step(RemoteTrigger::PhyDown);
    }

    /// Training is over.
    pub fn phy_up(&mut self) {
        self.settled = false;
        self.local.step(Trigger::PhyUp);
    }

    /// What the end was built with.
    pub fn config(&self) -> &EndConfig {
        &self.config
    }

    /// Chunks that the receiver still waits for.
    pub fn rollover(&self) -> usize {
        U::rollover(&self.reader)
    }

    // ---- what can be seen ----------------------------------------------------------------------------------------

    /// Events since the last call.
    pub fn take_events(&mut self) -> Vec<LinkEvent> {
        std::mem::take(&mut self.events)
    }

    /// Whether there are events.
    #[inline]
    pub fn has_events(&self) -> bool {
        !self.events.is_empty()
    }

    /// Units that have come.
    pub fn received(&self) -> u64 {
        self.received
    }

    /// Counters.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// Rows of the codec's tables that received flits have met.
    pub fn coverage(&self) -> &Cxl68Coverage {
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
    pub fn buffer(&self) -> &RetryBuffer<U::Kept> {
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
            && (self.settled
                || self.sequence.is_empty()
                    && !self.buffer.replaying()
                    && self.local.state == Local::Normal
                    && self.remote == Remote::Normal)
            && (self.credits.pending() == 0 || self.credits_held)
            && U::rollover(&self.reader) == 0
    }

    /// What the flit clock of the last [`Cxl68End::transmit`] was used for.
    pub fn uses(&self) -> LineTimeParts {
        self.uses.into()
    }

    /// The same as it is kept.
    #[inline]
    pub(in crate::cxl68) fn plain_uses(&self) -> PlainParts {
        self.uses
    }

    /// Whether the link is up and nothing rare goes on at this end.
    #[inline]
    pub(in crate::cxl68) fn is_settled(&self) -> bool {
        self.settled
    }

    /// The same, asked for each of what is rare.
    fn may_settle(&self) -> bool {
        self.is_up()
            && self.init.clean_seen
            && self.peer_modulus_soon.is_none()
            && self.halted.is_none()
            && !self.retrain_wanted
            && self.local.state == Local::Normal
            && self.remote == Remote::Normal
            && self.sequence.is_empty()
            && !self.buffer.replaying()
            && self.run.is_none_or(|next| next == self.buffer.wr_ptr())
            && !self.viral_to_signal
    }

    /// Requests for a retry and for training in a row, without a good retryable flit or an answer between them.
    pub fn fruitless(&self) -> u32 {
        self.fruitless
    }

    /// Good payload flits and answers to requests for a retry, all from the start: each ends the row of
    /// [`Cxl68End::fruitless`].
    pub fn progress(&self) -> u64 {
        self.progress
    }

    /// The peer's number of the next retryable flit, told beside the wire.
    pub fn peer_expects(&mut self, number: u8) {
        self.peer_expects = number;
    }

    /// No message waits, is under way to the peer or was received and not taken: what the link still does is for itself.
    pub fn is_done(&self) -> bool {
        self.is_up()
            && self.packer.is_empty()
            && self.inbox.is_empty()
            && U::rollover(&self.reader) == 0
            && self.peer_expects == self.buffer.wr_ptr()
    }

    /// The flit clock at which [`Cxl68End::transmit`] has something to do if nothing else happens; `None`: never.
    pub fn wakes_at(&self, now: u64) -> Option<u64> {
        if !self.settled && (self.halted().is_some() || self.local.state == Local::PhyReinit) {
            return None;
        }
        let is_rare = || {
            !self.is_up()
                || !self.sequence.is_empty()
                || self.buffer.replaying()
                || matches!(self.local.state, Local::LlrReq | Local::LocalIdle)
                || self.remote != Remote::Normal
                || self.viral_to_signal
        };
        if !self.packer.is_empty() || !self.settled && is_rare() {
            return Some(now + 1);
        }
        let due = self.waiting_since? + u64::from(self.config.link.llcrd_flush_flits);
        Some(due.max(now + 1))
    }
}
