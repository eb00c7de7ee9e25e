//! Hook points: named places in a link end where a fault, a callback or a scoreboard attaches.
//!
//! Modelled: nothing of a link; a hook sees a [`HookItem`] at its [`HookPoint`] and says with a [`HookAnswer`] what
//! becomes of it. Every link end has the same points, for each way, what it sends ([`Direction::Tx`]) and what comes to
//! it ([`Direction::Rx`]):
//!
//! | point | Tx | Rx |
//! | --- | --- | --- |
//! | `packer_in` | a message that is queued | a payload unit that is about to be unpacked |
//! | `packer_out` | a new payload unit | a message that was unpacked |
//! | `credit` | credits are about to be returned; their number | credits that came, as they travel |
//! | `replay_in` | a unit that is kept and sent for the first time | a unit, before its number and CRC are judged |
//! | `replay_out` | a unit that goes again | a unit that was accepted: once, in order |
//! | `wire` | a unit that leaves | a unit that arrives |
//!
//! A unit is what the link numbers: a flit, NVLink: a packet (flits on the wire and at `replay_in` Rx); UALink: at
//! `packer_out`, `replay_in` Tx and `replay_out` the payload alone, segment headers and then sectors. A message is its
//! bits as `scalepool encode` gives them, and its 64 bytes of data if it has some; NVLink: its packet with an AE; UALink:
//! a TL flit, lower half first. What each point lets a hook do is [`RULES`]; another answer changes nothing and is kept as
//! a [`HookError`]. Left out: answers that make a unit longer or shorter.
//!
//! Invariants: without hooks a point costs one test of an option; hooks that keep everything change no result; hooks of a
//! point are asked in the order in which they were attached, and one that drops an item is the last to see it.
//!
//! A walk through one item: the end asks [`Hooks::watches`]; if someone does, it spells the item in bytes, [`Hooks::pass`]
//! counts it and shows it to each hook in turn, and the end goes on with what is left.

use super::fault::{Arrivals, Fault, FaultEffect, FaultError, WireUnit};
use super::sample::{Samples, WireSample};
use scalepool_kernel::Rng;
use scalepool_protocols::wire::LayoutDef;
use std::fmt;
use std::sync::atomic::{AtomicU16, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A place in a link end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum HookPoint {
    /// In front of packing or unpacking.
    PackerIn,
    /// Behind it.
    PackerOut,
    /// The credit book.
    Credit,
    /// In front of the replay machine.
    ReplayIn,
    /// Behind it.
    ReplayOut,
    /// The wire.
    Wire,
}

impl HookPoint {
    /// All of them.
    pub const ALL: [HookPoint; 6] = [
        HookPoint::PackerIn,
        HookPoint::PackerOut,
        HookPoint::Credit,
        HookPoint::ReplayIn,
        HookPoint::ReplayOut,
        HookPoint::Wire,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            HookPoint::PackerIn => "packer_in",
            HookPoint::PackerOut => "packer_out",
            HookPoint::Credit => "credit",
            HookPoint::ReplayIn => "replay_in",
            HookPoint::ReplayOut => "replay_out",
            HookPoint::Wire => "wire",
        }
    }

    /// The point of a name.
    ///
    /// # Errors
    /// There is none.
    pub fn of(name: &str) -> Result<HookPoint, HookError> {
        let known = HookPoint::ALL.into_iter().find(|p| p.name() == name);
        known.ok_or_else(|| HookError::Point { found: name.to_owned() })
    }
}

/// A direction, seen from the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// What comes to it.
    Rx,
    /// What it sends.
    Tx,
}

impl Direction {
    /// `rx` or `tx`.
    pub const fn name(self) -> &'static str {
        match self {
            Direction::Rx => "rx",
            Direction::Tx => "tx",
        }
    }
}

/// What a hook sees.
#[derive(Debug, Clone, Copy)]
pub struct HookItem<'a> {
    /// Where.
    pub point: HookPoint,
    /// Which way it goes.
    pub way: Direction,
    /// Flit clock of the end.
    pub now_flits: u64,
    /// Items that passed this point before, counted while somebody watches it.
    pub number: u64,
    /// Layout of a message, protocol of a unit, `credit` for credits.
    pub name: &'static str,
    /// Its bytes, byte 0 first.
    pub bytes: &'a [u8],
}

/// What becomes of an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookAnswer {
    /// It goes on as it is.
    Keep,
    /// It is gone.
    Drop,
    /// These bytes go on; as many as there were.
    Replace(Vec<u8>),
    /// Not in this flit clock; it is asked for again.
    Hold,
}

impl HookAnswer {
    const fn name(&self) -> &'static str {
        match self {
            HookAnswer::Keep => "keep",
            HookAnswer::Drop => "drop",
            HookAnswer::Replace(_) => "replace",
            HookAnswer::Hold => "hold",
        }
    }
}

/// What a hook may answer at a point, besides [`HookAnswer::Keep`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HookRule {
    /// The point.
    pub point: HookPoint,
    /// The way.
    pub way: Direction,
    /// `drop`, `replace`, `hold`.
    pub allowed: &'static [&'static str],
}

const fn rule(point: HookPoint, way: Direction, allowed: &'static [&'static str]) -> HookRule {
    HookRule { point, way, allowed }
}

/// One row a point and way. What was accepted cannot be taken back, so hooks behind the judgement only watch.
pub const RULES: [HookRule; 12] = [
    rule(HookPoint::PackerIn, Direction::Rx, &[]),
    rule(HookPoint::PackerIn, Direction::Tx, &["drop", "replace"]),
    rule(HookPoint::PackerOut, Direction::Rx, &["drop", "replace"]),
    rule(HookPoint::PackerOut, Direction::Tx, &["drop", "replace"]),
    rule(HookPoint::Credit, Direction::Rx, &["drop", "replace"]),
    rule(HookPoint::Credit, Direction::Tx, &["hold"]),
    rule(HookPoint::ReplayIn, Direction::Rx, &["drop", "replace"]),
    rule(HookPoint::ReplayIn, Direction::Tx, &["replace"]),
    rule(HookPoint::ReplayOut, Direction::Rx, &[]),
    rule(HookPoint::ReplayOut, Direction::Tx, &["drop", "replace"]),
    rule(HookPoint::Wire, Direction::Rx, &["drop", "replace"]),
    rule(HookPoint::Wire, Direction::Tx, &["drop", "replace"]),
];

/// Position of a point and way in [`RULES`] and in the lists of hooks.
const fn slot(point: HookPoint, way: Direction) -> usize {
    2 * point as usize + way as usize
}

/// Position of the samples of a wire behind the lists of hooks.
const fn sampled(way: Direction) -> usize {
    RULES.len() + way as usize
}

/// What cannot be attached, or cannot be done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HookError {
    /// No such point.
    #[error("hook point: found `{found}`, expected packer_in, packer_out, credit, replay_in, replay_out or wire")]
    Point {
        /// As it was given.
        found: String,
    },
    /// An answer that the point does not allow.
    #[error("{point} {way}, item {number}: found the answer {answer}, expected one of: keep {allowed}")]
    Answer {
        /// The point.
        point: &'static str,
        /// The way.
        way: &'static str,
        /// Number of the item; of a fault that is refused: of the item it names.
        number: u64,
        /// What was answered.
        answer: &'static str,
        /// What else may be.
        allowed: String,
    },
    /// Bytes of another length.
    #[error("{point} {way}, item {number}: found {found} bytes, expected {expected}")]
    Length {
        /// The point.
        point: &'static str,
        /// The way.
        way: &'static str,
        /// Number of the item.
        number: u64,
        /// Bytes of the answer.
        found: usize,
        /// Bytes of the item.
        expected: usize,
    },
    /// A fault that cannot be read.
    #[error(transparent)]
    Fault(#[from] FaultError),
    /// A hook of the end runs.
    #[error("hooks: found a call from inside a hook, expected one from outside")]
    Busy,
}

/// Names an attached hook.
pub type HookId = u64;

/// Bad answers that are kept one by one.
const MAX_ERRORS: usize = 16;

/// A callback.
type Call = Box<dyn FnMut(&HookItem<'_>) -> HookAnswer + Send>;

enum HookAction {
    Call(Call),
    Fault(Fault),
}

struct Hook {
    id: HookId,
    what: HookAction,
}

/// What is attached, and what came of it.
struct HookTable {
    hooks: [Vec<Hook>; RULES.len()],
    counts: [u64; RULES.len()],
    last_id: HookId,
    rng: Rng,
    errors: Vec<HookError>,
    bad_answers: u64,
    /// Of the wire, by way.
    samples: [Samples; 2],
}

struct SharedHooks {
    /// Bit n: somebody watches slot n; bit 12 and 13: units of the wire are kept, by way.
    watched: AtomicU16,
    /// Flit clock and time of what follows.
    now_flits: AtomicU64,
    now_fs: AtomicU64,
    /// `None`: nothing was ever attached or kept. It takes a kilobyte, and a big fabric has thousands of ends without.
    table: Mutex<Option<Box<HookTable>>>,
}

impl Default for HookTable {
    fn default() -> HookTable {
        HookTable {
            hooks: Default::default(),
            counts: [0; RULES.len()],
            last_id: 0,
            // Noise of faults; any fixed seed does.
            rng: Rng::from_seed(0),
            errors: Vec::new(),
            bad_answers: 0,
            samples: Default::default(),
        }
    }
}

/// The hooks of one end; a copy is the same hooks. `Default` has none and takes none.
#[derive(Clone, Default)]
pub struct Hooks(Option<Arc<SharedHooks>>);

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Hooks(attachable)" } else { "Hooks(none)" })
    }
}

/// What a point made of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passed {
    /// It goes on, perhaps with other bytes.
    On,
    /// It is gone.
    Dropped,
    /// Not now.
    Held,
}

impl Hooks {
    /// Hooks for an end; none so far.
    pub fn new() -> Hooks {
        Hooks(Some(Arc::new(SharedHooks {
            watched: AtomicU16::new(0),
            now_flits: AtomicU64::new(0),
            now_fs: AtomicU64::new(0),
            table: Mutex::default(),
        })))
    }

    /// Whether hooks can be attached.
    pub fn is_some(&self) -> bool {
        self.0.is_some()
    }

    fn change<R>(
        &self,
        work: impl FnOnce(&SharedHooks, &mut Option<Box<HookTable>>) -> Result<R, HookError>,
    ) -> Result<R, HookError> {
        let Some(shared) = &self.0 else { return Err(HookError::Busy) };
        match shared.table.try_lock() {
            Ok(mut table) => work(shared, &mut table),
            Err(std::sync::TryLockError::Poisoned(table)) => work(shared, &mut table.into_inner()),
            Err(std::sync::TryLockError::WouldBlock) => Err(HookError::Busy),
        }
    }

    fn insert(&self, point: HookPoint, way: Direction, what: HookAction) -> Result<HookId, HookError> {
        self.change(|shared, table| {
            let table = table.get_or_insert_default();
            table.last_id += 1;
            let id = table.last_id;
            table.hooks[slot(point, way)].push(Hook { id, what });
            shared.watched.fetch_or(1 << slot(point, way), Ordering::Relaxed);
            Ok(id)
        })
    }

    /// Attaches a callback.
    ///
    /// # Errors
    /// [`HookError::Busy`]: a hook of the end runs.
    pub fn attach(
        &self,
        point: HookPoint,
        way: Direction,
        hook: impl FnMut(&HookItem<'_>) -> HookAnswer + Send + 'static,
    ) -> Result<HookId, HookError> {
        self.insert(point, way, HookAction::Call(Box::new(hook)))
    }

    /// Attaches a fault; its number counts the items of the point. On the wire it is any [`Fault`]; elsewhere a drop or a
    /// vanishing drops the item, a flip or noise replaces its bytes.
    ///
    /// # Errors
    /// One that the point does not allow; [`HookError::Busy`]: a hook of the end runs.
    pub fn attach_fault(&self, point: HookPoint, way: Direction, fault: Fault) -> Result<HookId, HookError> {
        let (answer, number) = match fault {
            Fault::Drop { unit } | Fault::Vanish { unit } => ("drop", unit),
            Fault::Flip { unit, .. } | Fault::Noise { unit } => ("replace", unit),
            Fault::Duplicate { unit } => ("duplicate", unit),
        };
        let allowed = RULES[slot(point, way)].allowed;
        if point != HookPoint::Wire && !allowed.contains(&answer) {
            return Err(refused(point, way, number, answer));
        }
        self.insert(point, way, HookAction::Fault(fault))
    }

    /// Takes a hook off again; whether it was there.
    ///
    /// # Errors
    /// [`HookError::Busy`]: a hook of the end runs.
    pub fn detach(&self, id: HookId) -> Result<bool, HookError> {
        self.change(|shared, table| {
            let mut found = false;
            for (n, hooks) in table.iter_mut().flat_map(|table| &mut table.hooks).enumerate() {
                let before = hooks.len();
                hooks.retain(|hook| hook.id != id);
                found |= hooks.len() < before;
                if hooks.is_empty() {
                    shared.watched.fetch_and(!(1 << n), Ordering::Relaxed);
                }
            }
            Ok(found)
        })
    }

    /// The first bad answers since the last call, and how many there were in all.
    pub fn take_errors(&self) -> (Vec<HookError>, u64) {
        let taken = |table: &mut Box<HookTable>| (std::mem::take(&mut table.errors), table.bad_answers);
        self.change(|_, table| Ok(table.as_mut().map(taken).unwrap_or_default())).unwrap_or_default()
    }

    /// The end begins anew: items are counted from 0, hooks stay, samples are gone.
    pub fn reset(&self) {
        // A hook that runs is of an end that is not being reset.
        let _ = self.change(|shared, table| {
            if let Some(table) = table {
                (table.counts, table.samples) = ([0; RULES.len()], Default::default());
            }
            shared.now_flits.store(0, Ordering::Relaxed);
            Ok(())
        });
    }

    /// Keeps the units that pass the wire from here on, or no more; those that wait stay.
    ///
    /// # Errors
    /// [`HookError::Busy`]: a hook of the end runs.
    pub fn sample(&self, way: Direction, on: bool) -> Result<(), HookError> {
        self.change(|shared, _| {
            let bit = 1 << sampled(way);
            match on {
                true => shared.watched.fetch_or(bit, Ordering::Relaxed),
                false => shared.watched.fetch_and(!bit, Ordering::Relaxed),
            };
            Ok(())
        })
    }

    /// Whether units of the wire are kept.
    #[inline]
    pub fn is_sampled(&self, way: Direction) -> bool {
        self.is_set(sampled(way))
    }

    /// Works with the units that were kept.
    ///
    /// # Errors
    /// [`HookError::Busy`]: a hook of the end runs.
    pub fn samples<R>(&self, way: Direction, work: impl FnOnce(&mut Samples) -> R) -> Result<R, HookError> {
        self.change(|_, table| Ok(work(&mut table.get_or_insert_default().samples[way as usize])))
    }

    /// Takes over what is attached to the hooks of the end in whose place this one is built, before it runs.
    ///
    /// # Errors
    /// [`HookError::Busy`]: a hook of one of the ends runs.
    pub fn take_over(&self, before: &Hooks) -> Result<(), HookError> {
        let (attached, watched) = before.change(|shared, table| {
            let watched = shared.watched.swap(0, Ordering::Relaxed);
            Ok((table.as_mut().map(|table| (std::mem::take(&mut table.hooks), table.last_id)), watched))
        })?;
        self.change(|shared, table| {
            if let Some(attached) = attached {
                let table = table.get_or_insert_default();
                (table.hooks, table.last_id) = attached;
            }
            shared.watched.store(watched, Ordering::Relaxed);
            Ok(())
        })
    }

    /// Whether a hook is attached there.
    #[inline]
    pub fn watches(&self, point: HookPoint, way: Direction) -> bool {
        self.is_set(slot(point, way))
    }

    #[inline]
    fn is_set(&self, bit: usize) -> bool {
        self.0.as_ref().is_some_and(|shared| shared.watched.load(Ordering::Relaxed) >> bit & 1 == 1)
    }

    /// Tells the flit clock of what follows.
    #[inline]
    pub fn clock(&self, now_flits: u64) {
        if let Some(shared) = &self.0 {
            shared.now_flits.store(now_flits, Ordering::Relaxed);
        }
    }

    /// Tells flit clock and time of what follows, where an end has a place in a simulation.
    #[inline]
    pub fn instant(&self, now_flits: u64, t_fs: u64) {
        if let Some(shared) = &self.0 {
            shared.now_flits.store(now_flits, Ordering::Relaxed);
            shared.now_fs.store(t_fs, Ordering::Relaxed);
        }
    }

    /// Shows an item to the hooks of its point, which may change its bytes.
    #[inline]
    pub fn pass(&self, point: HookPoint, way: Direction, name: &'static str, bytes: &mut [u8]) -> Passed {
        if self.watches(point, way) { self.ask(point, way, name, bytes) } else { Passed::On }
    }

    fn ask(&self, point: HookPoint, way: Direction, name: &'static str, bytes: &mut [u8]) -> Passed {
        self.each(point, way, name, bytes, |fault, number, bytes, rng| match *fault {
            Fault::Drop { unit } | Fault::Vanish { unit } if unit == number => HookAnswer::Drop,
            Fault::Flip { unit, bit } if unit == number => {
                let mut bytes = bytes.to_vec();
                if let Some(byte) = bytes.get_mut(usize::from(bit) / 8) {
                    *byte ^= 1 << (bit % 8);
                }
                HookAnswer::Replace(bytes)
            }
            Fault::Noise { unit } if unit == number => {
                let mut noise = vec![0; bytes.len()];
                rng.fill_bytes(&mut noise);
                HookAnswer::Replace(noise)
            }
            _ => HookAnswer::Keep,
        })
    }

    fn each(
        &self,
        point: HookPoint,
        way: Direction,
        name: &'static str,
        bytes: &mut [u8],
        mut fault: impl FnMut(&Fault, u64, &[u8], &mut Rng) -> HookAnswer,
    ) -> Passed {
        if !self.watches(point, way) {
            return Passed::On;
        }
        let Some(shared) = &self.0 else { return Passed::On };
        let mut table = shared.table.lock().unwrap_or_else(PoisonError::into_inner);
        let now_flits = shared.now_flits.load(Ordering::Relaxed);
        let HookTable { hooks, counts, rng, errors, bad_answers, .. } = &mut **table.get_or_insert_default();
        let at = slot(point, way);
        let number = counts[at];
        counts[at] += 1;
        for hook in &mut hooks[at] {
            let answer = match &mut hook.what {
                HookAction::Call(call) => call(&HookItem { point, way, now_flits, number, name, bytes }),
                HookAction::Fault(of) => fault(of, number, bytes, rng),
            };
            let wrong = match answer {
                HookAnswer::Keep => continue,
                _ if !RULES[at].allowed.contains(&answer.name()) => refused(point, way, number, answer.name()),
                HookAnswer::Drop => return Passed::Dropped,
                HookAnswer::Hold => return Passed::Held,
                HookAnswer::Replace(other) if other.len() == bytes.len() => {
                    bytes.copy_from_slice(&other);
                    continue;
                }
                HookAnswer::Replace(other) => HookError::Length {
                    point: point.name(),
                    way: way.name(),
                    number,
                    found: other.len(),
                    expected: bytes.len(),
                },
            };
            *bad_answers += 1;
            if errors.len() < MAX_ERRORS {
                errors.push(wrong);
            }
        }
        Passed::On
    }

    /// Whether anybody looks at units on the wire; else they go on as they are.
    #[inline]
    pub fn looks_at_wire(&self, way: Direction) -> bool {
        // Both in one look.
        let bits = 1 << slot(HookPoint::Wire, way) | 1 << sampled(way);
        self.0.as_ref().is_some_and(|shared| shared.watched.load(Ordering::Relaxed) & bits != 0)
    }

    /// Shows a unit on the wire; what goes on: none, one, or a unit twice, each with whether its bytes are others.
    pub fn wire<U: WireUnit>(&self, way: Direction, name: &'static str, unit: U) -> Arrivals<(U, bool)> {
        if unit.bytes().is_empty() {
            return [Some((unit, false)), None];
        }
        let arrivals = self.behind_wire(way, name, unit);
        if let Some(shared) = self.0.as_ref().filter(|_| self.is_sampled(way)) {
            let mut table = shared.table.lock().unwrap_or_else(PoisonError::into_inner);
            let t_fs = shared.now_fs.load(Ordering::Relaxed);
            for (unit, _) in arrivals.iter().flatten() {
                table.get_or_insert_default().samples[way as usize]
                    .keep(WireSample { t_fs, unit: unit.bytes().to_vec() });
            }
        }
        arrivals
    }

    fn behind_wire<U: WireUnit>(&self, way: Direction, name: &'static str, mut unit: U) -> Arrivals<(U, bool)> {
        if !self.watches(HookPoint::Wire, way) {
            return [Some((unit, false)), None];
        }
        let mut effect = FaultEffect::default();
        // A fault works on the unit as its link layer knows it, and the bytes follow.
        let before = unit.bytes().to_vec();
        let mut bytes = before.clone();
        let passed = self.each(HookPoint::Wire, way, name, &mut bytes, |fault, number, bytes, rng| {
            unit.bytes_mut().copy_from_slice(bytes);
            fault.apply(number, &mut unit, rng, &mut effect);
            HookAnswer::Replace(unit.bytes().to_vec())
        });
        unit.bytes_mut().copy_from_slice(&bytes);
        let (arrives, there) = ((unit, bytes != before), passed == Passed::On);
        [(there && !effect.lost).then(|| arrives.clone()), (there && effect.twice).then_some(arrives)]
    }

    /// Shows a message of a layout: its bits and its data; `false`: it is gone.
    #[inline]
    pub fn message(
        &self,
        (point, way): (HookPoint, Direction),
        def: &'static LayoutDef,
        bits: &mut u128,
        data: Option<&mut [u8; 64]>,
    ) -> bool {
        !self.watches(point, way) || self.ask_message((point, way), def, bits, data)
    }

    fn ask_message(
        &self,
        (point, way): (HookPoint, Direction),
        def: &'static LayoutDef,
        bits: &mut u128,
        data: Option<&mut [u8; 64]>,
    ) -> bool {
        let length = def.bits.div_ceil(8) as usize;
        let mut bytes = bits.to_le_bytes()[..length].to_vec();
        bytes.extend(data.iter().flat_map(|line| line.iter()));
        if self.pass(point, way, def.name, &mut bytes) == Passed::Dropped {
            return false;
        }
        let (message, line) = bytes.split_at(length);
        let found = message.iter().rev().fold(0, |n, &b| n << 8 | u128::from(b));
        *bits = if def.bits < 128 { found & ((1 << def.bits) - 1) } else { found };
        if let Some(data) = data {
            data.copy_from_slice(line);
        }
        true
    }

    /// Asks whether credits may be returned now, where `pending` of them wait.
    pub fn holds_credits(&self, pending: u64) -> bool {
        self.watches(HookPoint::Credit, Direction::Tx)
            && self.pass(HookPoint::Credit, Direction::Tx, "credit", &mut pending.to_le_bytes()) == Passed::Held
    }

    /// Shows credits that came, as they travel; none if they are dropped.
    pub fn credits<const N: usize>(&self, mut codes: [u8; N]) -> [u8; N] {
        match self.pass(HookPoint::Credit, Direction::Rx, "credit", &mut codes) {
            Passed::On => codes,
            Passed::Dropped | Passed::Held => [0; N],
        }
    }
}

fn refused(point: HookPoint, way: Direction, number: u64, answer: &'static str) -> HookError {
    let allowed = RULES[slot(point, way)].allowed.join(" ");
    HookError::Answer { point: point.name(), way: way.name(), number, answer, allowed }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(hooks: &Hooks, point: HookPoint, way: Direction) -> (Passed, Vec<u8>) {
        let mut bytes = vec![1, 2, 3];
        (hooks.pass(point, way, "test", &mut bytes), bytes)
    }

    #[test]
    fn the_table_has_a_row_for_each_point_and_way_in_order() {
        for (n, rule) in RULES.iter().enumerate() {
            assert_eq!(slot(rule.point, rule.way), n, "{}", rule.point.name());
            assert_eq!(HookPoint::of(rule.point.name()), Ok(rule.point));
        }
        assert!(matches!(HookPoint::of("Wire"), Err(HookError::Point { .. })));
    }

    /// Every answer at every point: the allowed ones work, the others change nothing and are told.
    #[test]
    fn what_the_table_allows_works_and_nothing_else() {
        for rule in RULES {
            for answer in [HookAnswer::Drop, HookAnswer::Replace(vec![7, 7, 7]), HookAnswer::Hold] {
                let (hooks, of_hook) = (Hooks::new(), answer.clone());
                hooks.attach(rule.point, rule.way, move |_| of_hook.clone()).expect("no hook runs");
                let (passed, bytes) = ask(&hooks, rule.point, rule.way);
                let allowed = rule.allowed.contains(&answer.name());
                let expected = match answer {
                    HookAnswer::Drop if allowed => Passed::Dropped,
                    HookAnswer::Hold if allowed => Passed::Held,
                    _ => Passed::On,
                };
                assert_eq!(passed, expected, "{} {} {answer:?}", rule.point.name(), rule.way.name());
                assert_eq!(bytes == [7, 7, 7], allowed && answer.name() == "replace");
                assert_eq!(hooks.take_errors().1, u64::from(!allowed));
            }
        }
    }

    #[test]
    fn hooks_are_asked_in_order_and_can_be_taken_off() {
        let hooks = Hooks::new();
        assert!(!hooks.watches(HookPoint::Wire, Direction::Tx));
        let plus = |item: &HookItem<'_>| HookAnswer::Replace(item.bytes.iter().map(|b| b + 1).collect());
        let first = hooks.attach(HookPoint::Wire, Direction::Tx, plus).expect("no hook runs");
        let twice = |item: &HookItem<'_>| HookAnswer::Replace(item.bytes.iter().map(|b| b * 2).collect());
        hooks.attach(HookPoint::Wire, Direction::Tx, twice).expect("no hook runs");
        assert_eq!(ask(&hooks, HookPoint::Wire, Direction::Tx), (Passed::On, vec![4, 6, 8]));
        assert_eq!((hooks.detach(first), hooks.detach(first)), (Ok(true), Ok(false)));
        assert_eq!(ask(&hooks, HookPoint::Wire, Direction::Tx), (Passed::On, vec![2, 4, 6]));
        assert!(!hooks.watches(HookPoint::Wire, Direction::Rx));
    }

    #[test]
    fn a_fault_hits_its_item_alone_and_is_refused_where_it_cannot_be() {
        let hooks = Hooks::new();
        let way = Direction::Tx;
        hooks.attach_fault(HookPoint::ReplayOut, way, Fault::Drop { unit: 1 }).expect("allowed");
        hooks.attach_fault(HookPoint::ReplayOut, way, Fault::Flip { unit: 2, bit: 9 }).expect("allowed");
        let passed: Vec<(Passed, Vec<u8>)> = (0..3).map(|_| ask(&hooks, HookPoint::ReplayOut, way)).collect();
        assert_eq!(passed[0], (Passed::On, vec![1, 2, 3]));
        assert_eq!(passed[1].0, Passed::Dropped);
        assert_eq!(passed[2], (Passed::On, vec![1, 0, 3]));
        for (point, fault) in [
            (HookPoint::Credit, Fault::Drop { unit: 0 }),
            (HookPoint::ReplayIn, Fault::Vanish { unit: 0 }),
            (HookPoint::PackerIn, Fault::Duplicate { unit: 0 }),
        ] {
            assert!(matches!(hooks.attach_fault(point, way, fault), Err(HookError::Answer { .. })), "{point:?}");
        }
    }

    #[test]
    fn a_hook_cannot_change_the_hooks_that_run() {
        let hooks = Hooks::new();
        let inner = hooks.clone();
        let found = Arc::new(Mutex::new(None));
        let told = found.clone();
        let call = move |_: &HookItem<'_>| {
            *told.lock().expect("no panic") = Some(inner.detach(1));
            HookAnswer::Keep
        };
        hooks.attach(HookPoint::Credit, Direction::Rx, call).expect("no hook runs");
        ask(&hooks, HookPoint::Credit, Direction::Rx);
        assert_eq!(*found.lock().expect("no panic"), Some(Err(HookError::Busy)));
    }

    #[test]
    fn a_wrong_length_is_told() {
        let hooks = Hooks::new();
        hooks.attach(HookPoint::Wire, Direction::Rx, |_| HookAnswer::Replace(vec![1])).expect("no hook runs");
        assert_eq!(ask(&hooks, HookPoint::Wire, Direction::Rx), (Passed::On, vec![1, 2, 3]));
        let (errors, count) = hooks.take_errors();
        assert_eq!(count, 1);
        assert_eq!(errors[0].to_string(), "wire rx, item 0: found 1 bytes, expected 3");
    }
}
