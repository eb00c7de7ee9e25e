//! What a line holds: real bytes in a simulation, a token in an exploration.
//!
//! Agents are generic over [`Content`], so the code that is clocked is the code that is explored. A token says only how
//! old a value is, which is all that the invariants ask: a store makes a new value and ages every other one of the line,
//! so the number of values, and with it the number of states, stays finite.

use std::fmt::Debug;
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

/// What a line can hold.
pub trait Content: Clone + Eq + Ord + Hash + Debug {
    /// The value of memory that nobody has written.
    fn initial(line: LineAddr) -> Self;
    /// The value of an answer that reports an error: all ones (`coherence` §2.2).
    fn ones() -> Self;
    /// The 64 bytes that stand for it in a trace.
    fn bytes(&self) -> [u8; LINE_BYTES];
    /// Takes over the bytes of `other` that `enables` selects, bit i for byte i.
    fn merge(&mut self, other: &Self, enables: u64);
}

/// 64 real bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Line(pub [u8; LINE_BYTES]);

impl Debug for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|b| write!(f, "{b:02x}"))
    }
}

impl Content for Line {
    fn initial(_: LineAddr) -> Self {
        Self([0; LINE_BYTES])
    }

    fn ones() -> Self {
        Self([0xff; LINE_BYTES])
    }

    fn bytes(&self) -> [u8; LINE_BYTES] {
        self.0
    }

    fn merge(&mut self, other: &Self, enables: u64) {
        for (i, (own, new)) in self.0.iter_mut().zip(other.0).enumerate() {
            if enables >> i & 1 == 1 {
                *own = new;
            }
        }
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
}

/// The value of a line in an exploration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token {
    /// Line it belongs to, so that a store ages values of its own line only.
    pub line: u8,
    /// How old it is.
    pub age: Age,
}

impl Token {
    /// The token of a line.
    pub fn of(line: LineAddr, age: Age) -> Self {
        Self { line: line.0 as u8, age }
    }

    /// A store to `line` has happened somewhere: this value is no longer the newest.
    pub fn grow_old(&mut self, line: LineAddr) {
        if u64::from(self.line) == line.0 && self.age == Age::Current {
            self.age = Age::Stale;
        }
    }

    /// The place of this value in coherence order is known: it is the last one now.
    pub fn settle(&mut self) {
        if self.age == Age::New {
            self.age = Age::Current;
        }
    }
}

impl Content for Token {
    fn initial(line: LineAddr) -> Self {
        Self::of(line, Age::Current)
    }

    fn ones() -> Self {
        Self { line: u8::MAX, age: Age::Ones }
    }

    /// Every byte is its age: 0 stale, 1 the last store, 2 a store that has no place yet, ff error data.
    fn bytes(&self) -> [u8; LINE_BYTES] {
        let byte = match self.age {
            Age::Stale => 0,
            Age::Current => 1,
            Age::New => 2,
            Age::Ones => 0xff,
        };
        [byte; LINE_BYTES]
    }

    /// A part of a new value over a part of an old one is neither: only over the current value is the mix a new value.
    fn merge(&mut self, other: &Self, enables: u64) {
        match enables {
            0 => {}
            WHOLE_LINE => *self = *other,
            _ => {
                self.age = match (self.age, other.age) {
                    (a, b) if a == b => a,
                    (Age::Current, Age::New) | (Age::New, Age::Current) => Age::New,
                    _ => Age::Stale,
                }
            }
        }
    }
}
