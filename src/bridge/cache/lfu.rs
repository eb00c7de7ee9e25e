//! Least frequently used, with ageing: a block enters with a count of 1, a hit adds one, all counts are halved every 65,536 lookups; of
//! equal counts the lowest way leaves (`bridge` §9.1, conformance choice c15).
//!
//! The number of a way is the count and, above it, the age in which it was counted, so that nobody has to go through all sets when an
//! age ends.

use super::policy::Replacement;

/// Lookups of an age (`bridge` §9.1).
const AGE_LOOKUPS: u64 = 64 << 10;
/// Bits of the count.
const COUNT_BITS: u32 = 32;

#[derive(Debug)]
pub(super) struct Lfu;

/// The count as it is now.
fn count(number: u64, now: u64) -> u64 {
    let ages = (now / AGE_LOOKUPS).saturating_sub(number >> COUNT_BITS);
    (number & u64::from(u32::MAX)).checked_shr(ages.min(64) as u32).unwrap_or(0)
}

fn number(count: u64, now: u64) -> u64 {
    ((now / AGE_LOOKUPS) << COUNT_BITS) | count.min(u64::from(u32::MAX))
}

impl Replacement for Lfu {
    fn entered(&self, now: u64) -> u64 {
        number(1, now)
    }

    fn used(&self, old: u64, now: u64, is_hit: bool) -> u64 {
        number(count(old, now) + u64::from(is_hit), now)
    }

    fn victim(&self, numbers: &mut [u64], now: u64, may_leave: &dyn Fn(usize) -> bool) -> Option<usize> {
        (0..numbers.len()).filter(|way| may_leave(*way)).min_by_key(|way| count(numbers[*way], now))
    }
}
