//! One end of a UALink: flits in and out, with link states, replay, DL messages and a transaction layer above.

use super::client::Client;
use super::config::EndConfig;
use super::form::{FlitPacker, KeptFlit, PackedPayload};
use super::messages::{DlMessages, MIN_RATE, NOMINAL_RATE, TL_CHANNEL};
use super::replay::{Head, Replay, ReplayStats, Says, UalFlitOutcome, UalSentFlit};
use super::state::{Arrived, Fault, LinkState, Sends, State};
use crate::event::{LinkEvent, Severity, finding};
use crate::health::{StateTimes, states};
use crate::hook::{Direction, HookPoint, Hooks, Passed};
use crate::line_time::{LineTimeParts, Stream, Use};
use scalepool_forms::FormError;
use scalepool_protocols::ualink::code::FlitOp;
use scalepool_protocols::ualink::content::{DlContent, TlContent};
use scalepool_protocols::ualink::flit::{DlFlit, Payload, SECTORS, map};
use scalepool_protocols::ualink::half::{SECTOR_BITS, TL_SECTORS, TlFlit};
use scalepool_protocols::ualink::header::{CommandHeader, ExplicitHeader, UalHeader};
use scalepool_protocols::ualink::segment::{SegmentPlace, SegmentSource, Segmented, Unpacker};
use scalepool_protocols::ualink::sequence;
use scalepool_protocols::wire::Violation;
use std::sync::Arc;

/// What travels in one flit time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OnLine {
    /// A DL flit. While it is not acknowledged its sender keeps it for replay, and both have the same bytes.
    Flit(Arc<DlFlit>),
    /// A DL flit without bytes, see [`EndConfig::has_bytes`]: what its header says, and what it carries if it has payload.
    Content(Head, Option<Box<DlContent>>),
    /// Idle in place of a flit.
    Idle,
    /// Remote fault ordered sets in place of a flit.
    RemoteFault,
}

/// Bytes of a unit that stands for control flits in place of a flit.
pub const CONTROL_BYTES: usize = 1;

impl OnLine {
    /// What a unit stands for: a flit, or control flits in one byte: 0 for idle, others for a remote fault.
    ///
    /// # Errors
    /// It has another length.
    pub fn from_bytes(unit: &[u8]) -> Result<OnLine, FormError> {
        match unit {
            [0] => Ok(OnLine::Idle),
            [_] => Ok(OnLine::RemoteFault),
            flit => match DlFlit::from_bytes(flit) {
                Ok(flit) => Ok(OnLine::Flit(Arc::new(flit))),
                Err(_) => Err(FormError::new("unit", format!("{} bytes", unit.len()), "640 bytes, or 1")),
            },
        }
    }

    /// The unit that stands for it; empty for a flit without bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            OnLine::Flit(flit) => flit.0.to_vec(),
            OnLine::Content(..) => Vec::new(),
            OnLine::Idle => vec![0],
            OnLine::RemoteFault => vec![1],
        }
    }
}

/// Counters of one end, all from the start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// TL flits sent, first copies.
    pub tl_sent: u64,
    /// TL flits received and handed on.
    pub tl_received: u64,
    /// TL flits that came while their channel was offline, and were discarded.
    pub tl_discarded: u64,
    /// Flits whose CRC was bad.
    pub bad_crc: u64,
    /// Flits dropped for a reserved header.
    pub bad_header: u64,
    /// Times that the link left Up.
    pub downs: u64,
}

/// One end of the link.
#[derive(Debug, Clone)]
pub struct UalEnd<C> {
    /// What sends and takes TL flits.
    pub client: C,
    /// DL messages of this end.
    pub messages: DlMessages,
    config: EndConfig,
    state: LinkState,
    /// Keeps flits as they went for the first time.
    replay: Replay<KeptFlit>,
    packer: FlitPacker,
    unpacker: Unpacker,
    /// The last payload, taken apart; its room is used again.
    cut: Segmented,
    /// The next flit is spoilt, then the link leaves Up.
    contain: bool,
    /// The peer's last flit was spoilt on purpose: nothing may follow it.
    spoilt: bool,
    /// A payload flit that came before the link was up has been reported.
    early: bool,
    /// TL flits that may go in this flit time, in units of a 3125th: what the TL rate lets pass.
    tl_allowance: u32,
    received: u64,
    /// Flit time at which something had to be repaired, in either direction.
    repaired_at: Option<u64>,
    events: Vec<LinkEvent>,
    stats: Stats,
    /// What the sectors of TL flits are for that have begun and not gone.
    tl_uses: Stream,
    /// What the last flit time was used for.
    uses: LineTimeParts,
    /// Flits in a row that were not used.
    unused: u64,
    /// The payload flit that was taken last and its number; `None`: nobody asks.
    pub(super) taken: Option<Vec<(u16, Arc<DlFlit>)>>,
    /// Replay figures of the sessions before this one.
    before: ReplayStats,
    /// DL flits sent.
    sent: u64,
    pub(super) times: StateTimes,
    hooks: Hooks,
}

/// What a TL flit takes of the allowance. The DL clock has ten TL flits a flit time at 1562.5 MHz, a rate of 31,250
/// (`ualink` §1, §6).
const TL_FLIT: u32 = NOMINAL_RATE as u32 / 10;

/// Bits of a TL flit.
const TL_BITS: u32 = SECTOR_BITS * TL_SECTORS as u32;
/// Flit header, segment headers and CRC of a DL flit (`ualink` §2).
const FRAMING_BITS: u32 = 8 * 12;

/// What arrives in one flit time.
enum Arrival<'a> {
    Flit(&'a DlFlit),
    /// A flit without bytes.
    Content(Head, Option<Box<DlContent>>),
    /// Control flits in place of a flit.
    Control,
}

/// Where the packer finds what to send.
struct Feed<'a, C> {
    client: &'a mut C,
    messages: &'a mut DlMessages,
    now_flits: u64,
    taken: u64,
    /// DL messages.
    words: usize,
    /// There is no other one in this flit time.
    is_silent: bool,
    /// TL flits that begin.
    begun: usize,
    tl_uses: &'a mut Stream,
    /// Why a place stayed empty.
    empty: Use,
    /// As the end has it.
    allowance: &'a mut u32,
    hooks: &'a Hooks,
}

impl<C: Client> Feed<'_, C> {
    /// The next DL message.
    fn word(&mut self) -> Option<u32> {
        if self.is_silent {
            return None;
        }
        let word = self.messages.next_word(self.now_flits);
        self.words += usize::from(word.is_some());
        // Most payloads have no message: they ask once and not for each of five segments.
        self.is_silent = word.is_none() && self.messages.has_finished();
        word
    }

    /// The next TL flit, in the form in which `transmit` gives it.
    fn next<F>(&mut self, transmit: fn(&mut C, u64) -> Option<F>) -> Option<F> {
        if !self.messages.channels().may_send(TL_CHANNEL) || *self.allowance < TL_FLIT {
            self.empty = Use::Control;
            return None;
        }
        let Some(flit) = transmit(self.client, self.now_flits) else {
            self.empty = self.client.uses().empty();
            return None;
        };
        self.taken += 1;
        *self.allowance -= TL_FLIT;
        Some(flit)
    }

    /// It begins in this flit.
    fn begins(&mut self) {
        self.begun += 1;
        self.tl_uses.push(TL_BITS, &self.client.uses());
    }
}

impl<C: Client> SegmentSource for Feed<'_, C> {
    fn message(&mut self, _segment: usize) -> Option<u32> {
        self.word()
    }

    fn tl_flit(&mut self, _segment: usize, _place: SegmentPlace) -> Option<TlFlit> {
        let flit = self.next(C::transmit)?;
        let flit = match self.hooks.watches(HookPoint::PackerIn, Direction::Tx) {
            true => hooks_tl_flit(self.hooks, (HookPoint::PackerIn, Direction::Tx), flit)?,
            false => flit,
        };
        self.begins();
        Some(flit)
    }
}

impl<C: Client> SegmentSource<TlContent> for Feed<'_, C> {
    fn message(&mut self, _segment: usize) -> Option<u32> {
        self.word()
    }

    fn tl_flit(&mut self, _segment: usize, _place: SegmentPlace) -> Option<TlContent> {
        let flit = self.next(C::transmit_content)?;
        self.begins();
        Some(flit)
    }
}

impl<C: Client> UalEnd<C> {
    /// An end after reset: the layer below reports a fault until [`UalEnd::line_fault`] says that there is none.
    pub fn new(config: EndConfig, client: C) -> UalEnd<C> {
        UalEnd {
            client,
            messages: DlMessages::new(&config),
            state: LinkState::new(config.replay.replay_limit_flits),
            replay: Replay::new(config.replay),
            packer: FlitPacker::new(config.has_bytes),
            unpacker: Unpacker::default(),
            cut: Segmented::default(),
            contain: false,
            spoilt: false,
            early: false,
            tl_allowance: 0,
            received: 0,
            repaired_at: None,
            events: Vec::new(),
            stats: Stats::default(),
            tl_uses: Stream::default(),
            uses: LineTimeParts::default(),
            unused: 0,
            taken: None,
            before: ReplayStats::default(),
            sent: 0,
            times: StateTimes::new(&states::UALINK),
            hooks: Hooks::default(),
            config,
        }
    }

    /// Takes hooks in the place of the present ones.
    pub fn attach_hooks(&mut self, hooks: &Hooks) {
        self.hooks = hooks.clone();
        self.client.attach_hooks(hooks);
    }

    /// Its hooks; those of the wire are asked by its port.
    pub fn hooks(&self) -> &Hooks {
        &self.hooks
    }

    // ---- what can be seen ----------------------------------------------------------------------------------------

    /// State of the link.
    pub fn state(&self) -> State {
        self.state.state()
    }

    /// What the last flit time was used for, in bits of a flit.
    pub fn uses(&self) -> LineTimeParts {
        self.uses
    }

    /// Replays in vain: how often the flits of which none was used would have made up the number after which a replay is
    /// asked for again (`ualink` §7).
    pub fn fruitless(&self) -> u32 {
        let limit = u64::from(self.config.replay.replay_limit_flits).max(1);
        u32::try_from(self.unused / limit).unwrap_or(u32::MAX)
    }

    /// Replay machine.
    pub fn replay(&self) -> &Replay<KeptFlit> {
        &self.replay
    }

    /// Replay figures since the start, over all times that the link was up.
    pub fn replay_stats(&self) -> ReplayStats {
        let mut all = self.before;
        all.add(self.replay.stats());
        all
    }

    /// DL flits that were sent and that have come.
    pub fn flits(&self) -> [u64; 2] {
        [self.sent, self.received]
    }

    /// Counters.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// Sectors of a TL flit that go in the next payload flit.
    pub fn carry(&self) -> usize {
        self.packer.carry()
    }

    /// Events since the last call.
    pub fn take_events(&mut self) -> Vec<LinkEvent> {
        let unit = self.received;
        let above = self.messages.take_findings().into_iter();
        self.events.extend(above.map(|(severity, violation)| LinkEvent { severity, unit, violation }));
        self.events.extend(self.client.take_events());
        std::mem::take(&mut self.events)
    }

    /// Whether there may be events.
    pub fn has_events(&self) -> bool {
        !self.events.is_empty() || self.messages.has_findings() || self.client.has_events()
    }

    /// Up, and nothing is to be sent, waited for or taken.
    pub fn is_quiet(&self) -> bool {
        self.state() == State::Up
            && self.replay.is_quiet()
            && self.packer.carry() == 0
            && self.messages.is_quiet()
            && self.client.is_quiet()
    }

    /// Flit time at which the end has something to do by itself; `None`: never. A link that is not quiet is always busy.
    pub fn wakes_at(&self, now_flits: u64) -> Option<u64> {
        if !self.is_quiet() {
            return Some(now_flits + 1);
        }
        // Messages have deadlines only while they wait for an answer, and then the end is not quiet.
        self.client.wakes_at(now_flits)
    }

    // ---- the layer below -----------------------------------------------------------------------------------------

    /// The layer below reports a fault of the line, or that there is none.
    pub fn line_fault(&mut self, fault: Option<Fault>) {
        let before = self.state();
        self.state.fault(fault);
        self.follow(before, || {
            let told = fault.map_or("none", Fault::name);
            finding("UAL-LNK-01", told, "no fault", "the layer below reports a fault; the link leaves Up")
        });
    }

    /// Lets the link come up, or holds it in Idle from its next time there on.
    pub fn enable(&mut self, enabled: bool) {
        self.state.enable(enabled);
    }

    /// An error inside this end: the next flit is spoilt on purpose, nothing follows it (`ualink` §5). Without effect when
    /// the link is not up, for then no payload goes out.
    pub fn contain_error(&mut self) {
        self.contain = self.state() == State::Up;
    }

    /// What goes out when the link has left Up is forgotten \[D\]: both ends see that it was down and begin anew.
    fn follow(&mut self, before: State, why: impl FnOnce() -> Violation) {
        if before == self.state() {
            return;
        }
        self.early = false;
        if before != State::Up {
            return;
        }
        self.event(Severity::Retrain, why());
        self.stats.downs += 1;
        self.before.add(self.replay.stats());
        self.replay = Replay::new(self.config.replay);
        (self.packer, self.unpacker) = (FlitPacker::new(self.config.has_bytes), Unpacker::default());
        self.tl_uses.clear();
        self.contain = false;
        self.messages.link_down();
        self.client.link_down();
    }

    fn event(&mut self, severity: Severity, violation: Violation) {
        self.events.push(LinkEvent { severity, unit: self.received, violation });
    }

    // ---- transmitter ---------------------------------------------------------------------------------------------

    /// What goes out in this flit time.
    pub fn transmit(&mut self, now_flits: u64) -> OnLine {
        let sends = self.state.sends();
        self.sent += u64::from(matches!(sends, Sends::Nop | Sends::Any));
        self.uses = LineTimeParts::all(Use::Control);
        let fresh_allowed = match sends {
            Sends::RemoteFault => return OnLine::RemoteFault,
            Sends::Idle => return OnLine::Idle,
            Sends::Nop => false,
            Sends::Any => true,
        };
        self.hooks.clock(now_flits);
        let hooks = &self.hooks;
        let (packer, messages, client) = (&mut self.packer, &mut self.messages, &mut self.client);
        let allowance = &mut self.tl_allowance;
        let [own, peer] = messages.rates_50khz().map(|rate| u32::from(rate.max(MIN_RATE)));
        // What a flit time did not use is lost, but for the part of a TL flit: the clock above waits for nobody.
        *allowance = *allowance % TL_FLIT + own.min(peer);
        // A peer that has acknowledged payload is up: without faults it takes whatever comes, and nothing goes again.
        let has_heard = self.replay.last_acknowledged() != sequence::LAST;
        let mut tl_sent = 0;
        let (mut parts, mut fresh, tl_uses) = (None, None, &mut self.tl_uses);
        let UalSentFlit { head, payload, again } = self.replay.transmit(|| {
            if !fresh_allowed {
                return None;
            }
            let carried = packer.carry();
            let idle = carried == 0;
            let mut feed = Feed {
                client,
                messages,
                now_flits,
                taken: 0,
                words: 0,
                is_silent: false,
                begun: 0,
                tl_uses,
                empty: Use::Idle,
                allowance,
                hooks,
            };
            let (payload, begins) = packer.pack(&mut feed);
            tl_sent = feed.taken;
            let mut uses = LineTimeParts::all(feed.empty);
            if !idle || begins {
                uses = uses.with(Use::Headers, FRAMING_BITS).with(Use::Control, SECTOR_BITS * feed.words as u32);
                let sectors = carried + TL_SECTORS * feed.begun - packer.carry();
                debug_assert!(sectors + feed.words <= SECTORS, "they are in one payload");
                feed.tl_uses.take(SECTOR_BITS * sectors as u32, &mut uses);
            }
            parts = Some(uses);
            if idle && !begins {
                return None;
            }
            match payload {
                PackedPayload::Content(content) => {
                    fresh = Some(content.unwrap_or_default());
                    Some(KeptFlit::Content(None))
                }
                PackedPayload::Bytes(mut payload) => {
                    for point in [HookPoint::PackerOut, HookPoint::ReplayIn] {
                        if hooks.watches(point, Direction::Tx) {
                            match hooks_payload(hooks, (point, Direction::Tx), payload) {
                                Some(passed) => payload = passed,
                                None if point == HookPoint::PackerOut => return None,
                                None => (),
                            }
                        }
                    }
                    let mut flit = Arc::new(DlFlit::ZERO);
                    Arc::make_mut(&mut flit).set_payload(&payload);
                    Some(KeptFlit::Bytes(flit))
                }
            }
        });
        self.stats.tl_sent += tl_sent;
        let waits = !self.client.is_quiet();
        self.uses = match parts {
            Some(parts) => parts,
            None if !fresh_allowed => LineTimeParts::all(Use::Control),
            // Nothing was asked for because the replay buffer is full.
            None => LineTimeParts::all(if again || waits { Use::Replay } else { Use::Idle }),
        };
        let codec = &self.config.codec;
        let bits = |head: &Head| {
            let bits = header(head).to_bits();
            debug_assert!(bits.is_ok(), "numbers have nine bits");
            bits.unwrap_or(0)
        };
        // What is spoilt on purpose has bytes: nobody takes what it carries.
        let has_bytes = self.config.has_bytes || self.contain;
        let mut sent = match payload {
            Some(KeptFlit::Bytes(kept)) if !again => {
                // Nobody else has it yet, so it is sealed where it is kept: no flit is copied.
                let flit = Arc::make_mut(kept);
                flit.set_header_bits(bits(&head));
                flit.seal(codec);
                OnLine::Flit(kept.clone())
            }
            Some(KeptFlit::Content(kept)) if !has_bytes => {
                if !again && !has_heard {
                    kept.clone_from(&fresh);
                }
                let content = if again { kept.clone() } else { fresh };
                debug_assert!(content.is_some(), "without faults only what the peer took before it was up goes again");
                OnLine::Content(Head { payload: content.is_some(), ..head }, content)
            }
            None if !has_bytes => OnLine::Content(head, None),
            kept => {
                let payload = kept
                    .and_then(|kept| hooks_payload(&self.hooks, (HookPoint::ReplayOut, Direction::Tx), kept.payload()));
                // A flit without payload takes the place of one that a hook drops.
                let head = Head { payload: payload.is_some(), ..head };
                let mut flit = DlFlit::ZERO;
                flit.set_header_bits(bits(&head));
                if let Some(payload) = payload {
                    flit.set_payload(&payload);
                }
                flit.seal(codec);
                OnLine::Flit(Arc::new(flit))
            }
        };
        self.follow_repair(now_flits);
        self.messages.flit_sent(now_flits, self.repaired_at);
        let before = self.state();
        self.state.sent();
        if std::mem::take(&mut self.contain) {
            if let OnLine::Flit(flit) = &mut sent {
                Arc::make_mut(flit).poison(&self.config.codec);
            }
            self.state.leave_up();
            let text = "an error inside this end is contained: the last flit is spoiled and the link leaves Up";
            self.follow(before, || finding("UAL-CRC-04", "an error", "no error", text));
        } else if self.replay.has_expired() {
            self.state.leave_up();
            let limit = format!("{} flit times", self.config.replay.watchdog_flits);
            let text = "no flit was acknowledged for too long; the link leaves Up";
            self.follow(before, || finding("UAL-TXS-07", limit, "an Ack", text));
        }
        sent
    }

    // ---- receiver ------------------------------------------------------------------------------------------------

    /// Takes what arrived in a flit time.
    pub fn receive(&mut self, arrived: &OnLine, now_flits: u64) {
        match arrived {
            OnLine::Flit(flit) => self.arrived(Arrival::Flit(flit), now_flits),
            OnLine::Content(head, content) => self.arrived(Arrival::Content(*head, content.clone()), now_flits),
            OnLine::Idle | OnLine::RemoteFault => self.arrived(Arrival::Control, now_flits),
        }
    }

    /// The same with what nobody else needs: the content is taken out of it.
    pub fn take_in(&mut self, arrived: &mut OnLine, now_flits: u64) {
        match arrived {
            OnLine::Content(head, content) => self.arrived(Arrival::Content(*head, content.take()), now_flits),
            other => self.receive(other, now_flits),
        }
    }

    fn arrived(&mut self, arrived: Arrival<'_>, now_flits: u64) {
        let before = self.state();
        let has_payload = match &arrived {
            Arrival::Flit(flit) => flit.header().payload(),
            Arrival::Content(head, _) => head.payload,
            Arrival::Control => {
                self.spoilt = false;
                self.state.received(Arrived::Control);
                let text = "control flits come in place of DL flits; the link leaves Up";
                self.follow(before, || finding("UAL-LNK-05", "4 control flits", "DL flits", text));
                return;
            }
        };
        if std::mem::take(&mut self.spoilt) {
            let text = "a flit is received behind one that was spoiled on purpose";
            self.event(Severity::Protocol, finding("UAL-CRC-04", "a flit", "control flits", text));
        }
        self.messages.flit_received(self.replay.is_waiting());
        if before >= State::Nop {
            match arrived {
                Arrival::Flit(flit) => self.flit(flit, now_flits),
                Arrival::Content(head, content) => self.content(head, content, now_flits),
                Arrival::Control => (),
            }
        } else if has_payload && !std::mem::replace(&mut self.early, true) {
            let text = "payload is received while the link is down, and dropped";
            self.event(Severity::Corrected, finding("UAL-LNK-03", "payload", "control flits or NOP", text));
        }
        self.received += 1;
        self.state.received(Arrived::Flit);
    }

    /// A flit without bytes: nothing of it can be wrong.
    fn content(&mut self, head: Head, content: Option<Box<DlContent>>, now_flits: u64) {
        if self.is_early(head.payload) {
            return;
        }
        if self.follow_head(Some(head), now_flits) != UalFlitOutcome::Payload {
            return;
        }
        let Some(mut content) = content else { return };
        for word in &content.words {
            self.messages.receive(*word, now_flits);
        }
        content.drain(|flit| {
            let count = flit.count();
            if self.messages.channels().is_online(TL_CHANNEL) {
                self.stats.tl_received += count;
                self.client.receive_content(flit, now_flits);
            } else {
                self.stats.tl_discarded += count;
            }
        });
        self.packer.reuse(content);
    }

    /// The peer may be up before this end is. Its payload is not acknowledged, so it comes again.
    fn is_early(&mut self, payload: bool) -> bool {
        let is_early = payload && self.state() != State::Up;
        if is_early && !std::mem::replace(&mut self.early, true) {
            let text = "payload is received before the link is up, and dropped";
            self.event(Severity::Corrected, finding("UAL-LNK-06", "payload", "NOP", text));
        }
        is_early
    }

    /// What the replay machine makes of a head; `None`: the flit is bad.
    fn follow_head(&mut self, head: Option<Head>, now_flits: u64) -> UalFlitOutcome {
        let is_bad = head.is_none();
        let received = self.replay.receive(head);
        self.unused = if received.taken == UalFlitOutcome::Dropped { self.unused + 1 } else { 0 };
        if is_bad {
            self.repaired_at = Some(now_flits);
        }
        self.follow_repair(now_flits);
        if let Some((severity, violation)) = received.found {
            self.event(severity, violation);
        }
        received.taken
    }

    fn flit(&mut self, flit: &DlFlit, now_flits: u64) {
        self.hooks.clock(now_flits);
        let mut hooked;
        let mut flit = flit;
        if self.hooks.watches(HookPoint::ReplayIn, Direction::Rx) {
            hooked = *flit;
            if self.hooks.pass(HookPoint::ReplayIn, Direction::Rx, PROTOCOL, &mut hooked.0) != Passed::On {
                return;
            }
            flit = &hooked;
        }
        let header = flit.header();
        let expected = flit.expected_crc(&self.config.codec);
        let head = if flit.crc() != expected {
            self.stats.bad_crc += 1;
            self.spoilt = flit.crc() == !expected;
            None
        } else if !header.is_usable() {
            self.stats.bad_header += 1;
            let text = "the flit header has a reserved op code; the flit is dropped";
            let found =
                Violation::at_byte("UAL-FLH-03", map::FH.start, header.op().0, "0 to 3, and 1 with payload", text);
            self.event(Severity::Protocol, found);
            None
        } else if self.is_early(header.payload()) {
            return;
        } else {
            Some(head(&header))
        };
        match self.follow_head(head, now_flits) {
            UalFlitOutcome::Payload => self.payload(flit, now_flits),
            UalFlitOutcome::Nop if flit.payload() != Payload::ZERO => {
                let found = Violation::at_byte("UAL-SEG-12", 0, "not 0", "0", "a NOP carries sectors of a TL flit");
                self.event(Severity::Protocol, found);
            }
            UalFlitOutcome::Nop | UalFlitOutcome::Dropped => (),
        }
    }

    fn follow_repair(&mut self, now_flits: u64) {
        if self.replay.is_waiting() || self.replay.is_replaying() || self.replay.is_ambiguous() {
            self.repaired_at = Some(now_flits);
        }
    }

    fn payload(&mut self, flit: &DlFlit, now_flits: u64) {
        for point in [HookPoint::ReplayOut, HookPoint::PackerIn] {
            if self.hooks.watches(point, Direction::Rx) {
                hooks_payload(&self.hooks, (point, Direction::Rx), flit.payload());
            }
        }
        let mut cut = std::mem::take(&mut self.cut);
        self.unpacker.read_into(&flit.payload(), &mut cut);
        for violation in cut.violations.drain(..) {
            self.event(Severity::Protocol, violation);
        }
        for (_, word) in &cut.messages {
            self.messages.receive(*word, now_flits);
        }
        for piece in cut.finished.iter().chain(&cut.started).filter(|piece| piece.is_whole()) {
            if self.messages.channels().is_online(TL_CHANNEL) {
                self.stats.tl_received += 1;
                if !self.hooks.watches(HookPoint::PackerOut, Direction::Rx) {
                    self.client.receive(&piece.flit, now_flits);
                } else if let Some(flit) = hooks_tl_flit(&self.hooks, (HookPoint::PackerOut, Direction::Rx), piece.flit)
                {
                    self.client.receive(&flit, now_flits);
                }
            } else {
                self.stats.tl_discarded += 1;
            }
        }
        self.cut = cut;
    }
}

/// Name of its units in [`scalepool_protocols::registry::PROTOCOLS`].
pub(super) const PROTOCOL: &str = "ualink";

/// Shows a payload to the hooks of a point, segment headers and then sectors; `None`: it is gone.
fn hooks_payload(hooks: &Hooks, (point, way): (HookPoint, Direction), mut payload: Payload) -> Option<Payload> {
    if hooks.watches(point, way) {
        let mut bytes = [&payload.headers[..], payload.sectors.as_flattened()].concat();
        if hooks.pass(point, way, PROTOCOL, &mut bytes) != Passed::On {
            return None;
        }
        let (headers, sectors) = bytes.split_at(payload.headers.len());
        payload.headers.copy_from_slice(headers);
        payload.sectors.as_flattened_mut().copy_from_slice(sectors);
    }
    Some(payload)
}

/// The same with a TL flit, lower half first; its message indicators are not shown.
fn hooks_tl_flit(hooks: &Hooks, (point, way): (HookPoint, Direction), mut flit: TlFlit) -> Option<TlFlit> {
    let on = hooks.pass(point, way, PROTOCOL, flit.halves.as_flattened_mut()) == Passed::On;
    on.then_some(flit)
}

/// The header of a flit.
fn header(head: &Head) -> UalHeader {
    let payload = head.payload;
    match head.says {
        Says::Number { number, replayed } => {
            let op = if replayed { FlitOp::Replayed } else { FlitOp::Original };
            UalHeader::Explicit(ExplicitHeader { op, payload, seq: number, ..ExplicitHeader::default() })
        }
        Says::Ack { number, own_low } => command(FlitOp::Ack, payload, number, own_low),
        Says::Request { number, own_low } => command(FlitOp::ReplayRequest, payload, number, own_low),
    }
}

fn command(op: FlitOp, payload: bool, number: u16, own_low: u8) -> UalHeader {
    UalHeader::Command(CommandHeader { op, payload, ack_req_seq: number, seq_lo: own_low, ..CommandHeader::default() })
}

/// What a usable header says.
pub(super) fn head(header: &UalHeader) -> Head {
    let says = match header {
        UalHeader::Explicit(h) => Says::Number { number: h.seq, replayed: h.op == FlitOp::Replayed },
        UalHeader::Command(h) if h.op == FlitOp::ReplayRequest => {
            Says::Request { number: h.ack_req_seq, own_low: h.seq_lo }
        }
        UalHeader::Command(h) => Says::Ack { number: h.ack_req_seq, own_low: h.seq_lo },
    };
    Head { payload: header.payload(), says }
}
