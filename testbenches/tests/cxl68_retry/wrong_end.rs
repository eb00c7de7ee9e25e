//! A link end that does something wrong: the model's end with a layer around it that changes what comes and what leaves.
//!
//! Modelled: one [`RetryFault`] at a time, each as its peer and its consumer would see it. Without a fault the layer passes
//! everything on. Left out: faults that need two ends.
//!
//! A walk: [`WrongEnd::receive`] shows the end the unit as the fault reads it, and keeps the messages that the fault
//! delivers besides; [`WrongEnd::transmit`] takes the unit of the end and says it as the fault would. New flits are changed
//! by hooks in front of the retry buffer, so that their replay is the flit as it left.

use crate::cxl68_retry::solo::{ack, bad, framed, unit_of};
use scalepool::link::cxl68::retry::{Local, Remote};
use scalepool::link::cxl68::{Cxl68End, EndConfig, LinkEvent};
use scalepool::link::fault;
use scalepool::link::hook::{Direction, HookAnswer, HookItem, HookPoint, Hooks};
use scalepool::link::line_time::LineTimeParts;
use scalepool::link::port::LinkEnd;
use scalepool_protocols::cxl::cxl68::config::Cxl68ConfigError;
use scalepool_protocols::cxl::cxl68::control::{Control, RetryAck, RetryReq};
use scalepool_protocols::cxl::cxl68::header::FlitHeader;
use scalepool_protocols::cxl::cxl68::pid::Enabled;
use scalepool_protocols::cxl::cxl68::stream::{Cxl68Message, Cxl68UnitKind, Unpacker};
use scalepool_protocols::cxl::cxl68::unit::Cxl68Unit;
use scalepool_protocols::wire::Wire;
use std::collections::{BTreeSet, VecDeque};
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU16, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

/// One fault, named after what goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryFault {
    /// LLR-01: RETRY.Idle takes an entry of the retry buffer.
    IdleStored,
    /// LLR-02: flits are counted while ESeq is frozen.
    CountedWhileFrozen,
    /// LLR-03: a replayed flit takes its acknowledgements off again.
    ReplayedAkDecrements,
    /// LLR-04: replay starts one flit late.
    ReplayOffByOne,
    /// LLR-07: the last entry of the retry buffer is used.
    LastEntryUsed,
    /// LLR-09: Ak is sent with seven flits to acknowledge.
    AkTooEarly,
    /// LLR-10: acknowledgements and credits are never forced out.
    FlushTimerOff,
    /// LLR-11: a replayed flit is changed (its credits are left out).
    ReplayAltered,
    /// LLR-12: four Frames before a Req or Ack.
    FourFrames,
    /// LLR-14: new flits go before the rest of the replay.
    ReplayOrderChanged,
    /// LLR-16: the Req sequence goes before the Ack sequence.
    ReqBeforeAck,
    /// LRS-02: a RETRY flit counts as a retryable one.
    RetryFlitCounted,
    /// LRS-03: a Req sequence moves the local machine.
    ReqMovesLocal,
    /// LRS-04: the bad flit is delivered.
    BadFlitDelivered,
    /// LRS-08: ordinary flits are delivered in LLRREQ.
    DeliversInLlrReq,
    /// LRS-09, LRS-14: the time-out never runs.
    NoTimeout,
    /// LRS-11: NUM_RETRY is kept over a PHY reinitialisation.
    ReinitKeepsCount,
    /// LRS-13: an Ack with another echo is accepted.
    StaleAckAccepted,
    /// LRS-15: ordinary flits are delivered in LOCAL_IDLE.
    DeliversInLocalIdle,
    /// LRS-16: RETRY_ABORT is left when a good flit comes.
    AbortLeaves,
    /// RRS-02: flits go before the Ack sequence.
    DataBeforeAck,
    /// RRS-03: the pending Ack survives a retrain.
    AckAfterRetrain,
    /// RRS-04: Empty is set although flits follow.
    EmptyWithData,
}

use RetryFault::*;

/// Highest NUM_RETRY: five bits (`cxl-68b` §4.2).
const MAX_NUM_RETRY: u16 = 31;

/// The end.
#[derive(Debug, Clone)]
pub struct WrongEnd {
    end: Cxl68End,
    fault: Option<RetryFault>,
    /// Units that leave before the next one of the end.
    ahead: VecDeque<Cxl68Unit>,
    /// Messages that must not come out.
    inbox: VecDeque<Cxl68Message>,
    /// Frames that left directly before.
    frames: u16,
    /// By how much the count that the fault touches is off.
    off: Arc<AtomicU16>,
    /// NumAck of the end before it sends.
    num_ack: Arc<AtomicU16>,
    /// A pending Ack that training should have dropped: NUM_RETRY and Eseq.
    owed: Option<(u8, u8)>,
    /// First credits are out.
    granted: bool,
    /// The end as it last was in NORMAL.
    normal: Option<Box<Cxl68End>>,
}

impl WrongEnd {
    /// An end with a fault, or a good one.
    ///
    /// # Errors
    /// A choice outside its range.
    pub fn new(mut config: EndConfig, fault: Option<RetryFault>) -> Result<WrongEnd, Cxl68ConfigError> {
        if fault == Some(NoTimeout) {
            config.link.timeout_flits = u32::MAX;
        }
        let (off, num_ack) = (Arc::<AtomicU16>::default(), Arc::<AtomicU16>::default());
        let stream = Unpacker::new(config.dir, config.link.revision, Enabled::ALL);
        let mut end = Cxl68End::new(config)?;
        if let Some(hooks) = fault.and_then(|fault| hooks_of(fault, stream, &off, &num_ack)) {
            end.attach_hooks(&hooks);
        }
        Ok(WrongEnd {
            end,
            fault,
            ahead: VecDeque::new(),
            inbox: VecDeque::new(),
            frames: 0,
            off,
            num_ack,
            owed: None,
            granted: false,
            normal: None,
        })
    }

    /// Takes the next message that the end, or its fault, delivers.
    pub fn take(&mut self) -> Option<Cxl68Message> {
        self.inbox.pop_front().or_else(|| self.end.take())
    }

    fn has(&self, fault: RetryFault) -> bool {
        self.fault == Some(fault)
    }

    fn off(&self) -> u16 {
        self.off.load(Relaxed)
    }

    /// Sequence number of the end's retry buffer, `n` flits behind another one.
    fn before(&self, seq: u8, n: u16) -> u8 {
        let modulus = self.end.buffer().modulus();
        self.end.buffer().after(seq, modulus - n % modulus)
    }

    /// Hands over the messages of a unit that ought to be discarded.
    fn deliver(&mut self, unit: &Cxl68Unit) {
        let config = self.end.config();
        let mut stream = Unpacker::new(config.dir.opposite(), config.link.revision, config.enabled);
        stream.read(unit);
        self.inbox.extend(stream.delivered().iter().copied());
    }

    /// What becomes of a unit that comes, besides what the end makes of it.
    fn hears(&mut self, unit: &Cxl68Unit) {
        let (state, control) = (self.end.local().state, retry_flit(unit));
        let plain = unit.crc_ok() && control.is_none();
        match self.fault {
            Some(CountedWhileFrozen) if control.is_none() && (state != Local::Normal || !unit.crc_ok()) => {
                self.off.fetch_add(1, Relaxed);
            }
            Some(RetryFlitCounted) if state == Local::Normal && control.is_some() => {
                self.off.fetch_add(1, Relaxed);
            }
            Some(BadFlitDelivered) if state == Local::Normal && !unit.crc_ok() => self.deliver(&repaired(unit)),
            Some(DeliversInLlrReq) if state == Local::LlrReq && plain => self.deliver(unit),
            Some(DeliversInLocalIdle) if state == Local::LocalIdle && plain => self.deliver(unit),
            Some(AbortLeaves) if state == Local::Normal && !unit.crc_ok() => {
                self.normal = Some(Box::new(self.end.clone()));
            }
            Some(AbortLeaves) if state == Local::Abort && unit.crc_ok() => {
                self.end = *self.normal.take().expect("it was in NORMAL before");
            }
            _ => (),
        }
    }

    /// A unit that comes, as the fault reads it.
    fn read(&mut self, unit: &Cxl68Unit) -> Cxl68Unit {
        let off = self.off();
        match (self.fault, retry_flit(unit)) {
            (Some(IdleStored), Some(Control::RetryReq(req))) => {
                unit_of(Control::RetryReq(RetryReq { eseq: self.before(req.eseq, off), ..req }))
            }
            (Some(CountedWhileFrozen), Some(Control::RetryAck(ack))) => {
                unit_of(Control::RetryAck(RetryAck { eseq: self.before(ack.eseq, off), ..ack }))
            }
            (Some(ReinitKeepsCount), Some(Control::RetryAck(ack))) => {
                let num_retry = ack.num_retry.wrapping_sub(off as u8) & 0x1f;
                unit_of(Control::RetryAck(RetryAck { num_retry, ..ack }))
            }
            (Some(StaleAckAccepted), Some(Control::RetryAck(ack))) if self.end.local().state == Local::LocalIdle => {
                let num_retry = self.end.local().num_retry.saturating_sub(1);
                unit_of(Control::RetryAck(RetryAck { num_retry, ..ack }))
            }
            (Some(LastEntryUsed), None) => self.acknowledged(unit),
            _ => *unit,
        }
    }

    /// An LLCRD that acknowledges a flit more than it says, once: an entry counts as free that is not.
    fn acknowledged(&mut self, unit: &Cxl68Unit) -> Cxl68Unit {
        let Some(mut llcrd) = llcrd_flit(unit) else { return *unit };
        let acks = u16::from(llcrd.full_ack()) + 1;
        if self.off() > 0 || self.end.local().state != Local::Normal || acks > self.end.buffer().unacknowledged() {
            return *unit;
        }
        self.off.store(1, Relaxed);
        llcrd.set_full_ack(acks as u8);
        unit_of(Control::LlcrdAcknowledge(llcrd))
    }

    /// A unit of the end, as the fault says it.
    fn says(&mut self, unit: Cxl68Unit) -> Cxl68Unit {
        let off = self.off();
        match (self.fault, retry_flit(&unit)) {
            (Some(IdleStored), Some(Control::RetryIdle(_))) if self.end.buffer().num_free() > 2 => {
                self.off.fetch_add(1, Relaxed);
                unit
            }
            (Some(CountedWhileFrozen), Some(Control::RetryReq(req))) => {
                let eseq = self.end.buffer().after(req.eseq, off);
                unit_of(Control::RetryReq(RetryReq { eseq, ..req }))
            }
            (Some(ReinitKeepsCount), Some(Control::RetryReq(req))) => {
                let num_retry = (u16::from(req.num_retry) + off).min(MAX_NUM_RETRY) as u8;
                unit_of(Control::RetryReq(RetryReq { num_retry, ..req }))
            }
            (Some(EmptyWithData), Some(Control::RetryAck(ack))) => {
                unit_of(Control::RetryAck(RetryAck { empty: true, ..ack }))
            }
            _ => unit,
        }
    }

    /// The next unit, with what the fault leaves out or lets go first.
    fn next(&mut self, now_flits: u64) -> Option<Cxl68Unit> {
        let (replayed, asks) = (self.end.stats().replayed, self.end.local().state == Local::LlrReq);
        let unit = self.end.transmit(now_flits)?;
        let replays = |end: &Cxl68End| end.stats().replayed > replayed;
        let begins = self.frames == 0 && matches!(retry_flit(&unit), Some(Control::RetryFrame(_)));
        match (self.fault, self.end.remote()) {
            (Some(FourFrames), _) if begins => self.end.transmit(now_flits),
            (Some(FlushTimerOff), _) if llcrd_flit(&unit).is_some() => {
                let first = !self.granted;
                self.granted |= self.end.credits().pending() == 0;
                first.then_some(unit)
            }
            (Some(ReqBeforeAck), Remote::LlrAck { .. }) if begins && asks => {
                let mut sequence = |first: Option<Cxl68Unit>| {
                    let rest = std::iter::from_fn(|| self.end.transmit(now_flits));
                    first.into_iter().chain(rest).take(6).collect::<VecDeque<_>>()
                };
                let ack = sequence(Some(unit));
                self.ahead = sequence(None);
                self.ahead.extend(ack);
                self.ahead.pop_front()
            }
            (Some(DataBeforeAck), Remote::LlrAck { eseq, .. }) if begins && self.end.buffer().replaying() => {
                self.ahead.push_back(unit);
                self.end.buffer().entry(eseq).map(|flit| flit.unit)
            }
            (Some(ReplayOrderChanged), _) if replays(&self.end) && !self.end.buffer().replaying() => {
                // The last flit of the replay, and the one behind it.
                let next = self.end.transmit(now_flits);
                if next.as_ref().is_some_and(|next| retry_flit(next).is_none()) {
                    self.ahead.push_back(unit);
                    return next;
                }
                self.ahead.extend(next);
                Some(unit)
            }
            _ => Some(unit),
        }
    }
}

/// The RETRY flit that a good unit is, if it is one.
fn retry_flit(unit: &Cxl68Unit) -> Option<Control> {
    control_flit(unit).filter(|control| !control.is_retryable())
}

/// The LLCRD that a good unit is, if it is one.
fn llcrd_flit(unit: &Cxl68Unit) -> Option<scalepool_protocols::cxl::cxl68::control::Llcrd> {
    match control_flit(unit) {
        Some(Control::LlcrdAcknowledge(llcrd)) => Some(llcrd),
        _ => None,
    }
}

/// The control flit that a good unit looks like: the other slots of one are empty, those of data hardly ever.
fn control_flit(unit: &Cxl68Unit) -> Option<Control> {
    let slot = unit.slot(0);
    let empty = (1..4).all(|n| unit.slot(n) == 0);
    (unit.crc_ok() && empty && slot & 1 == 1 && Control::static_bits_ok(slot)).then(|| Control::from_slot(slot))
}

fn repaired(unit: &Cxl68Unit) -> Cxl68Unit {
    let mut good = *unit;
    good.set_tail(unit.expected_crc());
    good
}

/// A flit with another Ak.
fn with_ak(unit: &Cxl68Unit, ak: bool) -> Cxl68Unit {
    let mut slots = [0, 1, 2, 3].map(|n| unit.slot(n));
    let header = FlitHeader { ak, ..FlitHeader::from_bits(slots[0] & 0xffff_ffff) };
    slots[0] = slots[0] >> 32 << 32 | header.to_bits().expect("fits");
    Cxl68Unit::from_slots(unit.pid(), &slots)
}

fn answer(unit: Cxl68Unit) -> HookAnswer {
    HookAnswer::Replace(unit.0.to_vec())
}

fn unit_at(item: &HookItem<'_>) -> Cxl68Unit {
    Cxl68Unit::from_bytes(item.bytes).expect("68 bytes")
}

/// Acknowledgements that a flit carries.
fn acks_of(unit: &Cxl68Unit, kind: Cxl68UnitKind) -> u16 {
    match kind {
        Cxl68UnitKind::Protocol(header) if header.ak => 8,
        Cxl68UnitKind::Control(_) => llcrd_flit(unit).map_or(0, |llcrd| llcrd.full_ack().into()),
        _ => 0,
    }
}

/// A new flit with fewer acknowledgements, by those of `off`; an Ak carries all eight or none.
fn with_fewer_acks(unit: &Cxl68Unit, kind: Cxl68UnitKind, off: &AtomicU16) -> HookAnswer {
    let (acks, fewer) = (acks_of(unit, kind), off.load(Relaxed));
    if let Some(mut llcrd) = llcrd_flit(unit) {
        llcrd.set_full_ack(acks.saturating_sub(fewer) as u8);
        off.store(fewer.saturating_sub(acks), Relaxed);
        return answer(unit_of(Control::LlcrdAcknowledge(llcrd)));
    }
    if acks == 0 || fewer < acks {
        return HookAnswer::Keep;
    }
    off.store(fewer - acks, Relaxed);
    answer(with_ak(unit, false))
}

/// The hooks of a fault that changes flits in front of the retry buffer or behind it.
fn hooks_of(fault: RetryFault, mut stream: Unpacker, off: &Arc<AtomicU16>, num_ack: &Arc<AtomicU16>) -> Option<Hooks> {
    let (hooks, tx) = (Hooks::new(), Direction::Tx);
    let (off, num_ack) = (off.clone(), num_ack.clone());
    // What a flit is, its stream alone knows.
    let mut kind_of = move |unit: &Cxl68Unit| stream.read(unit).kind;
    match fault {
        ReplayOffByOne => {
            hooks.attach_fault(HookPoint::ReplayOut, tx, fault::Fault::Drop { unit: 0 }).expect("allowed");
        }
        ReplayAltered => {
            let protocol = Arc::new(Mutex::new(BTreeSet::new()));
            let known = protocol.clone();
            let learn = move |item: &HookItem<'_>| {
                if matches!(kind_of(&unit_at(item)), Cxl68UnitKind::Protocol(_)) {
                    protocol.lock().expect("no panic").insert(item.bytes.to_vec());
                }
                HookAnswer::Keep
            };
            hooks.attach(HookPoint::ReplayIn, tx, learn).expect("no hook runs");
            let alter = move |item: &HookItem<'_>| {
                if !known.lock().expect("no panic").contains(item.bytes) {
                    return HookAnswer::Keep;
                }
                let mut unit = unit_at(item);
                unit.0[4] &= 0x0f;
                unit.0[5] = 0;
                answer(repaired(&unit))
            };
            hooks.attach(HookPoint::ReplayOut, tx, alter).expect("no hook runs");
        }
        ReplayedAkDecrements => {
            let acks = Arc::new(Mutex::new(std::collections::BTreeMap::new()));
            let (known, more) = (acks.clone(), off.clone());
            let leaves = move |item: &HookItem<'_>| {
                let unit = unit_at(item);
                let kind = kind_of(&unit);
                let answer = with_fewer_acks(&unit, kind, &off);
                let sent = match &answer {
                    HookAnswer::Replace(bytes) => Cxl68Unit::from_bytes(bytes).expect("68 bytes"),
                    _ => unit,
                };
                acks.lock().expect("no panic").insert(sent, acks_of(&unit, kind));
                answer
            };
            hooks.attach(HookPoint::ReplayIn, tx, leaves).expect("no hook runs");
            let again = move |item: &HookItem<'_>| {
                let again = known.lock().expect("no panic").get(&unit_at(item)).copied().unwrap_or(0);
                more.fetch_add(again, Relaxed);
                HookAnswer::Keep
            };
            hooks.attach(HookPoint::ReplayOut, tx, again).expect("no hook runs");
        }
        AkTooEarly => {
            let leaves = move |item: &HookItem<'_>| {
                let unit = unit_at(item);
                let kind = kind_of(&unit);
                let waits = num_ack.load(Relaxed).saturating_sub(off.load(Relaxed));
                if matches!(kind, Cxl68UnitKind::Protocol(header) if !header.ak) && waits == 7 {
                    off.fetch_add(7, Relaxed);
                    return answer(with_ak(&unit, true));
                }
                with_fewer_acks(&unit, kind, &off)
            };
            hooks.attach(HookPoint::ReplayIn, tx, leaves).expect("no hook runs");
        }
        RetryFlitCounted => {
            let leaves = move |item: &HookItem<'_>| {
                let Some(mut llcrd) = llcrd_flit(&unit_at(item)) else { return HookAnswer::Keep };
                let acks = (u16::from(llcrd.full_ack()) + off.swap(0, Relaxed)).min(255);
                llcrd.set_full_ack(acks as u8);
                answer(unit_of(Control::LlcrdAcknowledge(llcrd)))
            };
            hooks.attach(HookPoint::ReplayIn, tx, leaves).expect("no hook runs");
        }
        _ => return None,
    }
    Some(hooks)
}

impl Deref for WrongEnd {
    type Target = Cxl68End;

    fn deref(&self) -> &Cxl68End {
        &self.end
    }
}

impl DerefMut for WrongEnd {
    fn deref_mut(&mut self) -> &mut Cxl68End {
        &mut self.end
    }
}

impl LinkEnd for WrongEnd {
    type Unit = Cxl68Unit;

    const SIGNALS: &'static [(&'static str, u32)] = <Cxl68End>::SIGNALS;

    fn protocol(&self) -> &'static str {
        self.end.protocol()
    }

    fn unit(&self, bytes: &[u8]) -> Result<Cxl68Unit, scalepool::forms::FormError> {
        self.end.unit(bytes)
    }

    fn receive(&mut self, unit: &Cxl68Unit, now_flits: u64) {
        self.hears(unit);
        let read = self.read(unit);
        let due = self.end.remote();
        self.end.receive(&read, now_flits);
        if self.has(ReqMovesLocal) && self.end.remote() != due {
            // Only an error leads to LLRREQ.
            self.end.receive(&bad(), now_flits);
        }
        if self.has(ReinitKeepsCount) && (self.end.local().state, self.end.local().num_retry) == (Local::Normal, 0) {
            self.off.store(0, Relaxed);
        }
    }

    fn transmit(&mut self, now_flits: u64) -> Option<Cxl68Unit> {
        self.num_ack.store(self.end.num_ack(), Relaxed);
        let unit = match self.ahead.pop_front() {
            Some(unit) => unit,
            None => self.next(now_flits)?,
        };
        let is_frame = matches!(retry_flit(&unit), Some(Control::RetryFrame(_)));
        self.frames = if is_frame { self.frames + 1 } else { 0 };
        if self.has(ReplayedAkDecrements) {
            // NumAck stops at 0.
            self.off.fetch_min(self.end.num_ack(), Relaxed);
        }
        Some(self.says(unit))
    }

    fn uses(&self) -> LineTimeParts {
        self.end.uses()
    }

    fn fruitless(&self) -> u32 {
        self.end.fruitless()
    }

    fn phy_down(&mut self) {
        self.ahead.clear();
        self.frames = 0;
        if let (Remote::LlrAck { num_retry, eseq }, true) = (self.end.remote(), self.has(AckAfterRetrain)) {
            self.owed = Some((num_retry, eseq));
        }
        self.end.phy_down();
    }

    fn phy_up(&mut self) {
        if self.has(ReinitKeepsCount) {
            self.off.fetch_add(self.end.local().num_retry.into(), Relaxed);
        }
        if let Some((num_retry, eseq)) = self.owed.take() {
            self.ahead.extend(framed(5, ack(eseq, num_retry, false)));
        }
        self.end.phy_up();
    }

    fn take_retrain_request(&mut self) -> bool {
        self.end.take_retrain_request()
    }

    fn attach_hooks(&mut self, hooks: &Hooks) {
        self.end.attach_hooks(hooks);
    }

    fn hooks(&self) -> &Hooks {
        self.end.hooks()
    }

    fn take_events(&mut self) -> Vec<LinkEvent> {
        self.end.take_events()
    }

    fn halted(&self) -> Option<&'static str> {
        self.end.halted()
    }

    fn is_quiet(&self) -> bool {
        self.end.is_quiet() && self.ahead.is_empty() && self.inbox.is_empty()
    }

    fn values(&self) -> Vec<u64> {
        self.end.values()
    }

    fn open_work(&self) -> String {
        self.end.open_work()
    }
}
