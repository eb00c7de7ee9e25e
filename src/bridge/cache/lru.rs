//! Least recently used: each way keeps the number of the lookup that used it last.

use super::policy::Replacement;

#[derive(Debug)]
pub(super) struct Lru;

impl Replacement for Lru {
    fn entered(&self, now: u64) -> u64 {
        now
    }

    fn used(&self, _: u64, now: u64, _: bool) -> u64 {
        now
    }

    fn victim(&self, numbers: &mut [u64], _: u64, may_leave: &dyn Fn(usize) -> bool) -> Option<usize> {
        (0..numbers.len()).filter(|way| may_leave(*way)).min_by_key(|way| numbers[*way])
    }
}
