//! Messages of each class in a part of a flit, a byte a class: parts are added and compared as one number.

use super::Class;
use super::stream::ClassCounts;

/// The numbers. No part of a flit holds so many messages that a byte runs over.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct PerClass(u128);

impl PerClass {
    /// Highest bit of each number.
    const GUARDS: u128 = PerClass::most().0;
    /// Most messages of each class in 128 bytes below its guard: the guard goes when more are taken away.
    const MOST: u128 = PerClass::most().1;

    const fn most() -> (u128, u128) {
        let (mut guards, mut most, mut n) = (0, 0, 0);
        while n < Class::ALL.len() {
            guards |= 0x80 << (8 * n);
            most |= (0x80 | Class::ALL[n].max_per_window() as u128) << (8 * n);
            n += 1;
        }
        (guards, most)
    }

    /// A message of a class.
    #[inline]
    pub const fn one(class: Class) -> PerClass {
        PerClass(1 << (8 * class.index()))
    }

    /// The messages of a list.
    pub fn of(counts: &ClassCounts) -> PerClass {
        let mut bytes = [0; 16];
        bytes[..counts.len()].copy_from_slice(counts);
        PerClass(u128::from_le_bytes(bytes))
    }

    /// The messages of two parts.
    #[inline]
    pub const fn and(self, other: PerClass) -> PerClass {
        PerClass(self.0.wrapping_add(other.0))
    }

    /// The messages without those of a part that they hold.
    #[inline]
    pub const fn without(self, part: PerClass) -> PerClass {
        PerClass(self.0.wrapping_sub(part.0))
    }

    /// Messages of a class.
    #[inline]
    pub const fn get(self, class: Class) -> u8 {
        (self.0 >> (8 * class.index())) as u8
    }

    /// Whether no class has more than may stand in 128 bytes (`cxl-256b` §5.3).
    pub const fn may_stand(self) -> bool {
        (PerClass::MOST - self.0) & PerClass::GUARDS == PerClass::GUARDS
    }
}
