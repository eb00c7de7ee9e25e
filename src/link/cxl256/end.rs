//! One end of a CXL 256B link: the numbers below a [`Client`], transmitter and receiver with their shared state.
//!
//! Modelled and left out: see [`super`]. A walk through one flit clock: [`Cxl256End::receive`] repairs and checks a
//! flit, counts it and hands payload that was due to the client. [`Cxl256End::transmit`] sends, in this order: NOPs
//! while numbers are being agreed, flits of a replay, a new flit of the client, a NOP.
//!
//! A link in L0 carries a flit in every flit clock, but nothing is lost when NOPs of an end that has nothing to do are not
//! modelled: see [`Cxl256End::wakes_at`].

use super::cachemem::Cachemem;
use super::client::{Client, FlitPart, Urgent};
use super::config::{CachememConfig, LinkConfig};
use super::form::{EvenByte, Flit256};
use super::receiver::Receiver;
use super::transmitter::{Heard, Transmitter};
use crate::event::{LinkEvent, Severity, finding};
use crate::health::{StateTimes, states};
use crate::hook::{Direction, HookPoint, Hooks};
use crate::line_time::{LineTimeParts, Use};
use scalepool_protocols::check::fec256::Corrections;
use scalepool_protocols::cxl::cxl256::code::{FlitType, ReplayCommand};
use scalepool_protocols::cxl::cxl256::content::Content256;
use scalepool_protocols::cxl::cxl256::flit::{DLLP_BYTES, lopt};
use scalepool_protocols::cxl::cxl256::header::FlitHeader;
use scalepool_protocols::cxl::cxl256::number::is_payload;
use scalepool_protocols::wire::Violation;
use std::ops::Range;

/// Bytes of the even half of a latency-optimised flit between header and CRC (`cxl-256b` §1.5).
pub(super) const EVEN_BODY: Range<usize> = lopt::HEADER.end..lopt::CRC_EVEN.start;

/// Counters of one end, all from the start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// Flits sent, NOPs included, those that were not modelled too.
    pub sent: u64,
    /// Of them those that were modelled.
    pub modelled: u64,
    /// Flit clocks in which something waited and had no credit, while nothing else could be sent.
    pub credit_stalls: u64,
    /// Of them payload, first copies.
    pub sent_payload: u64,
    /// Of them copies out of the retry buffer.
    pub replayed: u64,
    /// Replays begun for a Nak or the timer.
    pub replays: u64,
    /// Flits that carried a Nak.
    pub sent_naks: u64,
    /// Payload handed to the client.
    pub delivered: u64,
    /// Flits that the FEC repaired.
    pub repaired: u64,
    /// Symbols (bytes) in them.
    pub symbols: u64,
    /// Flits that it could not repair.
    pub bad: u64,
    /// Flits with a Nak that came.
    pub naks_heard: u64,
    /// Even halves handed to the client before the odd ones had come.
    pub early_halves: u64,
    /// Flits sent with a spoilt CRC in front of an urgent one.
    pub spoilt: u64,
    /// Flit clocks between payload and the first Ack that named it: the most, and how often it was more than
    /// [`LinkConfig::ack_target_flits`].
    pub ack_most_flits: u64,
    /// See `ack_most_flits`.
    pub acks_late: u64,
    /// Times that this end asked for training.
    pub trainings: u64,
}

/// Payload of the client, as it was taken.
#[derive(Debug, Clone)]
pub(super) struct ClientPayload<F> {
    /// Flits in all.
    pub count: u64,
    /// Flits since they were asked for last; `None`: nobody asks.
    pub kept: Option<Vec<F>>,
}

/// One end of the link.
#[derive(Debug, Clone)]
pub struct Cxl256End<C: Client> {
    /// What stands above the numbers.
    pub client: C,
    link: LinkConfig,
    receiver: Receiver<C::Flit>,
    transmitter: Transmitter<C::Flit>,
    /// The even half that the client has, with the number of its flit.
    early: Option<(u16, C::Flit)>,
    /// A fault input took away or doubled what stood before the next flit.
    hidden_fault: bool,
    /// What has to go behind an urgent flit, before anything new.
    follows: Option<C::Flit>,
    /// Flit clock since which received payload waits for its Ack.
    ack_waits_since: Option<u64>,
    acks_held: bool,
    /// The physical layer is not in L0.
    down: bool,
    train_wanted: bool,
    halted: Option<&'static str>,
    /// Flit clocks of the last flit received and sent.
    received_at: Option<u64>,
    sent_at: Option<u64>,
    received: u64,
    events: Vec<LinkEvent>,
    pub(super) payload: ClientPayload<C::Flit>,
    pub(super) stats: Stats,
    /// What the flit clock of the last flit was used for.
    pub(super) uses: LineTimeParts,
    /// Replays and trainings since the last good payload, see [`Cxl256End::fruitless`].
    fruitless: u32,
    /// Damage of the line is reported.
    pub(super) reports_repairs: bool,
    pub(super) times: StateTimes,
    hooks: Hooks,
}

impl Cxl256End<Cachemem> {
    /// An end with CXL.cachemem above the numbers. The format is that of `config`.
    pub fn cachemem(link: LinkConfig, config: CachememConfig) -> Cxl256End<Cachemem> {
        Cxl256End::new(LinkConfig { mode: config.mode, ..link }, Cachemem::new(config))
    }
}

impl Cxl256End<Cachemem<Content256>> {
    /// The same end without bytes: no observer can see its flits, no fault may hit them, and the replay timer must not run
    /// out on the way to the peer and back.
    pub fn cachemem_without_bytes(link: LinkConfig, config: CachememConfig) -> Cxl256End<Cachemem<Content256>> {
        Cxl256End::new(LinkConfig { mode: config.mode, ..link }, Cachemem::without_bytes(config))
    }
}

impl<C: Client> Cxl256End<C> {
    /// An end that has just been told that the physical link is up.
    pub fn new(link: LinkConfig, client: C) -> Cxl256End<C> {
        Cxl256End {
            client,
            link,
            receiver: Receiver::new(link.selective_nak, link.doubt_implied),
            transmitter: Transmitter::default(),
            early: None,
            hidden_fault: false,
            follows: None,
            ack_waits_since: None,
            acks_held: false,
            down: false,
            train_wanted: false,
            halted: None,
            received_at: None,
            sent_at: None,
            received: 0,
            events: Vec::new(),
            payload: ClientPayload { count: 0, kept: None },
            stats: Stats::default(),
            uses: LineTimeParts::default(),
            fruitless: 0,
            reports_repairs: false,
            times: StateTimes::new(&states::CXL256),
            hooks: Hooks::default(),
        }
    }

    /// Takes hooks in the place of the present ones.
    pub fn attach_hooks(&mut self, hooks: &Hooks) {
        self.hooks = hooks.clone();
        self.client.attach_hooks(hooks);
    }

    /// Its hooks.
    pub fn hooks(&self) -> &Hooks {
        &self.hooks
    }

    /// Shows a flit to the hooks of a point; `None`: it is gone.
    #[inline]
    fn hooks_flit(&self, point: HookPoint, way: Direction, flit: C::Flit) -> Option<C::Flit> {
        flit.shown(&self.hooks, point, way, self.link.mode)
    }

    /// Hears the peer's acknowledgements or not (a fault input: they are lost).
    pub fn lose_acks(&mut self, lose: bool) {
        self.acks_held = lose;
    }

    /// A flit vanished or came twice in front of the next one (a fault input): that one is not held against those before it.
    /// Rules of the stream are then not reported; what is taken, asked for and sent again is the same.
    pub fn hidden_fault(&mut self) {
        self.hidden_fault = true;
    }

    // ---- the physical layer's side -------------------------------------------------------------------------------

    /// Whether this end asks the physical layer to train; the request is taken.
    pub fn take_retrain_request(&mut self) -> bool {
        let wanted = std::mem::take(&mut self.train_wanted);
        self.client.take_retrain_request() || wanted
    }

    /// The physical layer leaves L0: what is on the wires is lost.
    pub fn phy_down(&mut self) {
        self.down = true;
        self.client.phy_down();
    }

    /// The physical layer is in L0 again: numbers are agreed again, then everything not acknowledged goes again.
    pub fn phy_up(&mut self) {
        self.down = false;
        self.receiver.trained();
        self.transmitter.trained();
        self.train_wanted = false;
        (self.received_at, self.sent_at, self.ack_waits_since) = (None, None, None);
        self.client.phy_up();
    }

    /// The link has come up from its down state, before [`Cxl256End::phy_up`]: flits that are not acknowledged are
    /// gone, numbers begin anew, so does the client.
    pub fn link_reset(&mut self) {
        self.receiver = Receiver::new(self.link.selective_nak, self.link.doubt_implied);
        self.transmitter = Transmitter::default();
        (self.early, self.follows) = (None, None);
        self.payload.count = 0;
        self.payload.kept.iter_mut().for_each(Vec::clear);
        self.client.link_reset();
    }

    // ---- what can be seen ----------------------------------------------------------------------------------------

    /// Units that have come.
    pub fn received(&self) -> u64 {
        self.received
    }

    /// Whether the physical layer is not in L0.
    pub fn is_down(&self) -> bool {
        self.down
    }

    /// Choices of the link.
    pub fn link(&self) -> &LinkConfig {
        &self.link
    }

    /// Events since the last call, those of the client too.
    pub fn take_events(&mut self) -> Vec<LinkEvent> {
        let mut events = std::mem::take(&mut self.events);
        let of_client = self.client.take_events();
        if !of_client.is_empty() {
            events.extend(of_client);
        }
        events
    }

    /// Whether there may be events.
    pub fn has_events(&self) -> bool {
        !self.events.is_empty() || self.client.has_events()
    }

    /// Counters.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// What the flit clock of the last [`Cxl256End::transmit`] was used for.
    pub fn uses(&self) -> LineTimeParts {
        self.uses
    }

    /// Replays and requests for training in a row, without good payload or a new acknowledgement between them.
    pub fn fruitless(&self) -> u32 {
        self.fruitless
    }

    /// Receive side of the sequence numbers.
    pub fn receiver(&self) -> &Receiver<C::Flit> {
        &self.receiver
    }

    /// Transmit side of the sequence numbers.
    pub fn transmitter(&self) -> &Transmitter<C::Flit> {
        &self.transmitter
    }

    /// The rule that stopped the numbers of the link: nothing is taken and nothing new is sent any more.
    pub fn halted(&self) -> Option<&'static str> {
        self.halted
    }

    /// Nothing waits, everything sent is acknowledged, nothing is missing; the client is quiet.
    pub fn is_quiet(&self) -> bool {
        self.numbers_rest() && self.client.is_quiet()
    }

    /// Everything sent has arrived, and its client has nothing to do: what it still repairs carries nothing.
    pub fn is_done(&self) -> bool {
        !self.down && self.transmitter.unacknowledged() == 0 && self.client.is_quiet()
    }

    /// Numbers are agreed, everything sent is acknowledged, nothing received is missing or has to be acknowledged.
    fn numbers_rest(&self) -> bool {
        !self.down
            && !self.transmitter.in_handshake()
            && self.transmitter.unacknowledged() == 0
            && self.follows.is_none()
            && self.receiver.is_settled()
            && self.transmitter.told() == Some(self.receiver.last_good())
    }

    /// Flit clock, later than `now_flits`, at which [`Cxl256End::transmit`] sends something else than a NOP that
    /// changes nothing; `None`: never, unless a flit arrives, the client is given something or the physical layer
    /// changes.
    ///
    /// The NOPs until then need not be sent: both ends count what was left out, so that every later flit is the same as if
    /// they had been. With faults on the wires they should be sent, because a fault may hit them.
    pub fn wakes_at(&self, now_flits: u64) -> Option<u64> {
        if self.down || self.halted.is_some() {
            return None;
        }
        if self.numbers_rest() { self.client.wakes_at(now_flits) } else { Some(now_flits + 1) }
    }

    // ---- receiver ------------------------------------------------------------------------------------------------

    fn event(&mut self, severity: Severity, violation: Violation) {
        if severity == Severity::Uncorrectable {
            self.halted = Some(violation.rule);
        }
        self.events.push(LinkEvent { severity, unit: self.received, violation });
    }

    /// The even half of a latency-optimised flit has come; [`Cxl256End::receive`] follows with the whole flit. If its
    /// CRC fits and its number says that it is due, the client gets it now (`cxl-256b` §7.3), once however often the
    /// flit comes.
    pub fn receive_even(&mut self, flit: &C::Flit, now_flits: u64) {
        let mode = self.link.mode;
        if self.down || self.halted.is_some() || !mode.is_lopt() || !flit.even_half_fits(mode) {
            return;
        }
        let header = flit.header();
        let due = self.receiver.is_due(&header);
        self.hand_over(now_flits);
        if due && self.early.is_none() {
            self.early = Some((header.seq, flit.kept()));
            self.stats.early_halves += 1;
            self.client.receive(flit, FlitPart::Even, now_flits);
        }
    }

    /// Takes a whole flit off the wire. Nothing is taken while the physical layer is down.
    pub fn receive(&mut self, flit: &C::Flit, now_flits: u64) {
        self.take_in(flit.clone(), now_flits);
    }

    /// [`Cxl256End::receive`] by value.
    pub fn take_in(&mut self, flit: C::Flit, now_flits: u64) {
        if self.down || self.halted.is_some() {
            return;
        }
        if self.received_at.is_some_and(|at| at + 1 < now_flits) {
            self.receiver.nops_left_out();
        }
        self.received_at = Some(now_flits);
        if std::mem::take(&mut self.hidden_fault) {
            self.receiver.forget_stream();
        }
        self.hooks.clock(now_flits);
        if !self.hooks.watches(HookPoint::ReplayIn, Direction::Rx) {
            self.flit(flit, now_flits);
        } else if let Some(flit) = self.hooks_flit(HookPoint::ReplayIn, Direction::Rx, flit) {
            self.flit(flit, now_flits);
        }
        self.received += 1;
    }

    fn flit(&mut self, mut flit: C::Flit, now_flits: u64) {
        let Ok(repairs) = flit.repair(self.link.mode) else {
            self.stats.bad += 1;
            self.receiver.bad();
            let damage = self.reports_repairs.then(|| flit.damage(self.link.mode)).flatten();
            damage.into_iter().for_each(|damage| self.event(Severity::Corrected, damage));
            return;
        };
        if !repairs.is_empty() {
            self.stats.repaired += 1;
            self.stats.symbols += repairs.iter().count() as u64;
            if self.reports_repairs {
                self.event(Severity::Corrected, repaired(&repairs));
            }
        }
        let header = flit.header();
        let dllp = flit.dllp(self.link.mode);
        if !self.receiver.prior_fits(&header) {
            let text = "the Prior bit does not name the kind of the flit before";
            self.event(Severity::Protocol, finding("CXL256-HDR-02", header.prior, !header.prior, text));
        }
        if let Some(naks) = self.receiver.short_nak_run(&header) {
            let text = "too few flits in a row carry the Nak";
            self.event(Severity::Protocol, finding("CXL256-RTY-06", naks, "at least 3", text));
        }
        if self.receiver.good(flit).is_err() {
            let found = finding("CXL256-RTY-01", 0, "1 to 1023", "a payload flit has the reserved sequence number");
            self.event(Severity::Protocol, found);
        }
        if is_payload(header.flit_type) {
            self.fruitless = 0;
            self.ack_waits_since.get_or_insert(now_flits);
        }
        if header.command != ReplayCommand::Explicit && !self.acks_held {
            self.acknowledged(&header);
        }
        if carries_dllp(header.flit_type) && !header.dllp_type && !self.transmitter.in_handshake() {
            self.client.receive_dllp(dllp, now_flits);
        }
        self.hand_over(now_flits);
    }

    /// Gives the client what is due.
    fn hand_over(&mut self, now_flits: u64) {
        while let Some((number, flit)) = self.receiver.next_due() {
            let part = match self.early.take_if(|(early, _)| *early == number) {
                None => FlitPart::Whole,
                Some((_, even)) => {
                    if !self.same_even_half(&even, &flit) {
                        return;
                    }
                    FlitPart::Odd
                }
            };
            self.stats.delivered += 1;
            if self.hooks.watches(HookPoint::ReplayOut, Direction::Rx) {
                self.hooks_flit(HookPoint::ReplayOut, Direction::Rx, flit.clone());
            }
            self.payload.count += 1;
            self.payload.kept.iter_mut().for_each(|kept| kept.push(flit.clone()));
            self.client.receive(&flit, part, now_flits);
            self.client.done_with(flit);
        }
    }

    /// Whether an even half that was used is that of the flit as it came well in the end; if not, the link stops.
    fn same_even_half(&mut self, used: &C::Flit, flit: &C::Flit) -> bool {
        let differs = flit.even_half_differs(used);
        if let Some(EvenByte { at, found, expected }) = differs {
            let text = format!("byte {at} of an even half has changed in the replay, after the half was used");
            let (found, expected) = (format!("{found:#04x}"), format!("{expected:#04x}"));
            self.event(Severity::Uncorrectable, finding("CXL256-LOP-04", found, expected, &text));
        }
        differs.is_none()
    }

    fn acknowledged(&mut self, header: &FlitHeader) {
        let before = self.transmitter.acknowledged();
        self.stats.naks_heard += u64::from(header.command != ReplayCommand::Ack);
        let heard = self.transmitter.heard(header.command, header.seq, &self.link);
        if self.transmitter.acknowledged() != before {
            self.fruitless = 0;
        }
        if heard == Heard::OutOfWindow {
            let text = "the Ack or Nak names a flit that is not awaiting one";
            let found = finding("CXL256-RTY-04", header.seq, "one that is not acknowledged yet, or the last", text);
            self.event(Severity::Protocol, found);
        }
        self.act_on(heard);
    }

    fn act_on(&mut self, heard: Heard) {
        match heard {
            Heard::Replay => {
                self.stats.replays += 1;
                self.fruitless += 1;
            }
            Heard::Train => {
                self.fruitless += u32::from(!self.train_wanted);
                self.stats.trainings += u64::from(!self.train_wanted);
                self.train_wanted = true;
            }
            Heard::Fine | Heard::OutOfWindow => (),
        }
    }

    // ---- transmitter ---------------------------------------------------------------------------------------------

    /// The flit of this flit clock, later than the last one; to be called only while the physical layer is in L0.
    pub fn transmit(&mut self, now_flits: u64) -> C::Flit {
        self.hooks.clock(now_flits);
        let left_out = self.sent_at.map_or(0, |at| now_flits.saturating_sub(at + 1));
        self.sent_at = Some(now_flits);
        self.transmitter.nops_left_out(left_out);
        let heard = self.transmitter.clock(&self.link);
        self.act_on(heard);
        let nak = self.transmitter.carries_nak(&self.receiver);
        let replayed = self.transmitter.next_replayed(nak);
        let is_replayed = replayed.is_some();
        self.stats.replayed += u64::from(is_replayed);
        let (mut flit, spoilt) = match replayed {
            // A NOP takes the place of one that a hook drops.
            Some(flit) => {
                (self.hooks_flit(HookPoint::ReplayOut, Direction::Tx, flit).unwrap_or_else(C::Flit::nop), [false; 2])
            }
            None if self.halted.is_none() && self.transmitter.has_room(&self.link, nak) => self.new_payload(now_flits),
            None => (C::Flit::nop(), [false; 2]),
        };
        self.uses = self.uses_of(&flit, is_replayed || spoilt != [false; 2], nak, now_flits);
        let header = self.transmitter.header(&flit, &mut self.receiver, &self.link);
        if header.command != ReplayCommand::Explicit {
            self.tells_ack(now_flits);
        }
        self.put_dllp(&mut flit, is_replayed, now_flits);
        self.stats.sent_naks +=
            u64::from(header.command == ReplayCommand::NakStandard || header.command == ReplayCommand::NakSelective);
        self.stats.sent += 1 + left_out;
        self.stats.modelled += 1;
        flit.put_header(&header);
        flit.seal(self.link.mode);
        if spoilt != [false; 2] {
            flit.spoil(self.link.mode, spoilt);
            self.stats.spoilt += 1;
        }
        flit
    }

    /// What this flit is for.
    fn uses_of(&self, flit: &C::Flit, again: bool, nak: bool, now_flits: u64) -> LineTimeParts {
        if again {
            return LineTimeParts::all(Use::Replay);
        }
        if is_payload(flit.header().flit_type) {
            return self.client.uses();
        }
        if self.transmitter.in_handshake() {
            return LineTimeParts::all(Use::Control);
        }
        let was_asked = self.halted.is_none() && self.transmitter.has_room(&self.link, nak);
        let wants = |end: &Self| end.client.wakes_at(now_flits).is_some_and(|at| at <= now_flits + 1);
        LineTimeParts::all(match was_asked {
            true => self.client.uses().empty(),
            false if wants(self) => Use::Replay,
            false => Use::Idle,
        })
    }

    /// An Ack or Nak goes out with the number of all payload that came well.
    fn tells_ack(&mut self, now_flits: u64) {
        if self.receiver.is_in_doubt() {
            return;
        }
        if let Some(since) = self.ack_waits_since.take() {
            let waited_flits = now_flits.saturating_sub(since);
            self.stats.ack_most_flits = self.stats.ack_most_flits.max(waited_flits);
            self.stats.acks_late += u64::from(waited_flits > self.link.ack_target_flits);
        }
    }

    /// New payload, or a NOP; the halves of which the CRC is to be spoilt.
    fn new_payload(&mut self, now_flits: u64) -> (C::Flit, [bool; 2]) {
        let new = self.follows.take().or_else(|| self.client.transmit(now_flits));
        let new = match new {
            Some(flit) if self.hooks.watches(HookPoint::PackerOut, Direction::Tx) => {
                self.hooks_flit(HookPoint::PackerOut, Direction::Tx, flit)
            }
            new => new,
        };
        let leaving = new.filter(|f| is_payload(f.header().flit_type));
        let (kept, sent, spoilt) = match (self.client.urgent(leaving.as_ref()), leaving) {
            (None, None) => return (C::Flit::nop(), [false; 2]),
            (None, Some(flit)) => {
                // One that a hook drops goes all the same: it has its number.
                let flit = match self.hooks.watches(HookPoint::ReplayIn, Direction::Tx) {
                    true => self.hooks_flit(HookPoint::ReplayIn, Direction::Tx, flit.clone()).unwrap_or(flit),
                    false => flit,
                };
                (flit.kept(), flit, [false; 2])
            }
            (Some(Urgent { flit, follows }), leaving) => {
                self.follows = follows;
                let repeats = |leaving: &C::Flit| leaving.even_half_differs(&flit).is_none();
                let even_goes_again = self.link.mode.is_lopt() && leaving.as_ref().is_some_and(repeats);
                (flit.kept(), leaving.unwrap_or(flit), [!even_goes_again, true])
            }
        };
        self.transmitter.keep(kept);
        self.stats.sent_payload += 1;
        (sent, spoilt)
    }

    /// Fresh DLLP bytes, where there are some.
    fn put_dllp(&mut self, flit: &mut C::Flit, replayed: bool, now_flits: u64) {
        if !carries_dllp(flit.header().flit_type) || self.transmitter.in_handshake() {
            return;
        }
        let fresh = self.client.dllp(now_flits).or(replayed.then_some([0; DLLP_BYTES]));
        if let Some(bytes) = fresh {
            flit.put_dllp(self.link.mode, bytes);
        }
    }
}

/// That the FEC has repaired a flit: which symbols, and by what.
pub fn repaired(repairs: &Corrections) -> Violation {
    let symbols: Vec<String> = repairs.iter().map(|c| format!("byte {} by {:#04x}", c.byte, c.xor)).collect();
    let found = match symbols.as_slice() {
        [one] => format!("1 wrong symbol: {one}"),
        all => format!("{} wrong symbols: {}", all.len(), all.join(", ")),
    };
    let at = repairs.iter().next().map_or(0, |first| first.byte);
    Violation::at_byte("CXL256-FEC-02", at, found, "no wrong symbol", "the FEC has repaired the flit")
}

/// Whether flits of a type have a DLLP field.
fn carries_dllp(flit_type: FlitType) -> bool {
    matches!(flit_type, FlitType::Nop | FlitType::Io)
}
