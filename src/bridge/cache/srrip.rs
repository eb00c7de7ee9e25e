//! Static re-reference interval prediction in 2 bits: a block enters with 2, a hit makes it 0, the first way with 3 leaves; if there is
//! none, all become one more (conformance choice c15).

use super::policy::Replacement;

/// The largest number: it is expected to be used latest.
const LATEST: u64 = 3;

#[derive(Debug)]
pub(super) struct Srrip;

impl Replacement for Srrip {
    fn entered(&self, _: u64) -> u64 {
        LATEST - 1
    }

    fn used(&self, number: u64, _: u64, is_hit: bool) -> u64 {
        if is_hit { 0 } else { number }
    }

    fn victim(&self, numbers: &mut [u64], _: u64, may_leave: &dyn Fn(usize) -> bool) -> Option<usize> {
        let candidates: Vec<usize> = (0..numbers.len()).filter(|way| may_leave(*way)).collect();
        let most = candidates.iter().map(|way| numbers[*way]).max()?;
        for number in &mut *numbers {
            *number = (*number + (LATEST - most)).min(LATEST);
        }
        candidates.into_iter().find(|way| numbers[*way] == LATEST)
    }
}
