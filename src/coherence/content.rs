//! What a line holds: real bytes in a simulation, a token in an exploration.
//!
//! Agents are generic over [`LineContent`], so the code that is clocked is the code that is explored. A token says only
//! how old a value is, which is all that the invariants ask: a store makes a new value and ages every other one of the
//! line, so the number of values, and with it the number of states, stays finite. What is computed from a value, as an
//! atomic does, knows whether that value is still the last one, so that two atomics of one value are seen as a lost one.
//!
//! A value carries its poison: whoever has the bytes knows whether they are bad, and no agent can hand one on without the
//! other (`fabric` §1.8, `memory` §6.3). Only a store or write of the whole line takes poison away.

use std::fmt::{self, Debug, Display};
use std::hash::Hash;

/// Bytes of a line.
pub const LINE_BYTES: usize = 64;

/// Byte enables of a whole line.
pub const WHOLE_LINE: u64 = u64::MAX;

/// Number of a line: address bits 51:6.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct LineAddr(pub u64);

impl LineAddr {
    /// The line of a byte address.
    pub fn of_address(address: u64) -> Self {
        Self(address >> 6)
    }

    /// Byte address of the line's first byte.
    pub fn address(self) -> u64 {
        self.0 << 6
    }
}

/// The line of a byte address.
impl From<u64> for LineAddr {
    fn from(address: u64) -> LineAddr {
        LineAddr::of_address(address)
    }
}

/// The byte address of its first byte.
impl From<LineAddr> for u64 {
    fn from(line: LineAddr) -> u64 {
        line.address()
    }
}

/// What a line can hold.
pub trait LineContent: Clone + Eq + Ord + Hash + Debug + Display {
    /// The value of memory that nobody has written.
    fn initial(line: LineAddr) -> Self;
    /// The value of an answer that reports an error: all ones (`coherence` §2.2).
    fn ones() -> Self;
    /// The 64 bytes that stand for it in a trace.
    fn bytes(&self) -> [u8; LINE_BYTES];
    /// Whether it is known to be bad.
    fn is_poisoned(&self) -> bool;
    /// The same bytes, poisoned or not.
    #[must_use]
    fn poisoned(self, poison: bool) -> Self;
    /// Takes over the bytes of `other` that `enables` selects, bit i for byte i. Poison goes by [`merged_poison`].
    fn merge(&mut self, other: &Self, enables: u64);
}

/// Poison of a line behind a store or write of the bytes that `enables` selects: a whole line brings its own, a part
/// keeps that of the line, and a poisoned part poisons all of it (`memory` §6.3).
pub fn merged_poison(line: bool, part: bool, enables: u64) -> bool {
    part || line && enables != WHOLE_LINE
}

/// 64 real bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CacheLine {
    /// Values, byte 0 first.
    pub bytes: [u8; LINE_BYTES],
    /// Whether they are known to be bad.
    pub poison: bool,
}

impl CacheLine {
    /// Good bytes.
    pub const fn of(bytes: [u8; LINE_BYTES]) -> Self {
        Self { bytes, poison: false }
    }
}

impl Display for CacheLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.bytes.iter().try_for_each(|b| write!(f, "{b:02x}"))?;
        f.write_str(if self.poison { " poisoned" } else { "" })
    }
}

/// As for a reader.
impl Debug for CacheLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(self, f)
    }
}

impl LineContent for CacheLine {
    fn initial(_: LineAddr) -> Self {
        Self::of([0; LINE_BYTES])
    }

    fn ones() -> Self {
        Self::of([0xff; LINE_BYTES])
    }

    fn bytes(&self) -> [u8; LINE_BYTES] {
        self.bytes
    }

    fn is_poisoned(&self) -> bool {
        self.poison
    }

    fn poisoned(self, poison: bool) -> Self {
        Self { poison, ..self }
    }

    fn merge(&mut self, other: &Self, enables: u64) {
        for (i, (own, new)) in self.bytes.iter_mut().zip(other.bytes).enumerate() {
            if enables >> i & 1 == 1 {
                *own = new;
            }
        }
        self.poison = merged_poison(self.poison, other.poison, enables);
    }
}

/// How old a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Age {
    /// The last store in coherence order.
    Current,
    /// Any value before it.
    Stale,
    /// Written by a core and not yet in coherence order: it becomes [`Age::Current`] when its place is known.
    New,
    /// Error data.
    Ones,
    /// Computed from the value of the last store and not yet in coherence order, as the result of an atomic.
    Based,
    /// Computed from a value that another store has made old since, and not yet in coherence order: with it in place, that
    /// store is lost.
    Outdated,
}

/// The value of a line in an exploration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineToken {
    /// Line it belongs to, so that a store ages values of its own line only.
    pub line: u8,
    /// How old it is.
    pub age: Age,
    /// Whether it is known to be bad.
    pub poison: bool,
}

impl Display for LineToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.age {
            Age::Current => "the value of the last store",
            Age::Stale => "the value of an earlier store",
            Age::New => "a value that has just been written",
            Age::Ones => "error data",
            Age::Based => "a value computed from that of the last store",
            Age::Outdated => "a value computed from that of an earlier store",
        })?;
        f.write_str(if self.poison { ", poisoned" } else { "" })
    }
}

impl LineToken {
    /// The token of a line.
    pub fn of(line: LineAddr, age: Age) -> Self {
        Self { line: line.0 as u8, age, poison: false }
    }

    /// A value that is computed from this one.
    #[must_use]
    pub fn computed(self) -> Self {
        let age = if self.age == Age::Current { Age::Based } else { Age::Outdated };
        Self { age, ..self }
    }

    /// A store to `line` has happened somewhere: this value is no longer the newest, or it is based on one that is not.
    pub fn grow_old(&mut self, line: LineAddr) {
        if u64::from(self.line) == line.0 {
            self.age = match self.age {
                Age::Current => Age::Stale,
                Age::Based => Age::Outdated,
                age => age,
            };
        }
    }

    /// The place of this value in coherence order is known: it is the last one now.
    pub fn settle(&mut self) {
        if matches!(self.age, Age::New | Age::Based | Age::Outdated) {
            self.age = Age::Current;
        }
    }
}

impl LineContent for LineToken {
    fn initial(line: LineAddr) -> Self {
        Self::of(line, Age::Current)
    }

    fn ones() -> Self {
        Self { line: u8::MAX, age: Age::Ones, poison: false }
    }

    /// Every byte is its age: 0 stale, 1 the last store, 2 a store that has no place yet, 3 one that is computed from the last
    /// store, 4 one that is computed from an old value, ff error data.
    fn bytes(&self) -> [u8; LINE_BYTES] {
        let byte = match self.age {
            Age::Stale => 0,
            Age::Current => 1,
            Age::New => 2,
            Age::Based => 3,
            Age::Outdated => 4,
            Age::Ones => 0xff,
        };
        [byte; LINE_BYTES]
    }

    fn is_poisoned(&self) -> bool {
        self.poison
    }

    fn poisoned(self, poison: bool) -> Self {
        Self { poison, ..self }
    }

    /// A part of a new value over a part of an old one is neither: only over the current value is the mix a new value.
    fn merge(&mut self, other: &Self, enables: u64) {
        self.poison = merged_poison(self.poison, other.poison, enables);
        match enables {
            0 => {}
            WHOLE_LINE => *self = *other,
            _ => {
                self.age = match (self.age, other.age) {
                    (a, b) if a == b => a,
                    (Age::Current, new @ (Age::New | Age::Based | Age::Outdated)) => new,
                    (Age::New, Age::Current) => Age::New,
                    _ => Age::Stale,
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A result knows whether what it was computed from is still the last store, wherever it is, until it has its place.
    #[test]
    fn a_result_grows_old_with_the_value_it_is_based_on() {
        let line = LineAddr(0);
        let value = |age| LineToken::of(line, age);
        let mut result = value(Age::Current).computed();
        assert_eq!((result.age, value(Age::Stale).computed().age), (Age::Based, Age::Outdated));
        result.grow_old(LineAddr(1));
        assert_eq!(result.age, Age::Based, "a store to another line");
        let mut first = result;
        first.settle();
        result.grow_old(line);
        assert_eq!((first.age, result.age), (Age::Current, Age::Outdated), "two results of one value");
        let mut memory = value(Age::Current);
        memory.merge(&result, 1);
        assert_eq!(memory.age, Age::Outdated, "a part of a line");
    }

    #[test]
    fn a_part_keeps_poison_or_brings_it_and_a_whole_line_replaces_it() {
        for (line, part, enables, expected) in [
            (false, false, 1, false),
            (true, false, 1, true),
            (false, true, 1, true),
            (true, true, 1, true),
            (true, false, 0, true),
            (true, false, WHOLE_LINE, false),
            (false, true, WHOLE_LINE, true),
        ] {
            let mut bytes = CacheLine::of([1; LINE_BYTES]).poisoned(line);
            bytes.merge(&CacheLine::of([2; LINE_BYTES]).poisoned(part), enables);
            let mut token = LineToken::of(LineAddr(0), Age::Current).poisoned(line);
            token.merge(&LineToken::of(LineAddr(0), Age::New).poisoned(part), enables);
            assert_eq!((bytes.poison, token.poison), (expected, expected), "{line} {part} {enables:#x}");
        }
    }
}
