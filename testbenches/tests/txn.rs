//! Transactions judged from messages: each check obeyed and broken, and what is legal and looks odd.

mod cxl_cache;
mod cxl_io;
mod cxl_mem;
mod nvlink;
mod ualink;

use scalepool::transactions::TransactionFinding;
use scalepool_protocols::cxl::Dir;

const UP: Dir = Dir::Up;
const DOWN: Dir = Dir::Down;

/// One rule is broken, by a flit, by what was found where something else was expected.
fn one(all: &[TransactionFinding], rule: &str, place: (Dir, u64), [found, expected]: [&str; 2]) {
    let [finding] = all else { panic!("{all:#?}") };
    let violation = &finding.violation;
    assert_eq!((violation.rule, (finding.dir, finding.unit)), (rule, place), "{finding:#?}");
    assert!(violation.found.contains(found), "`{}` does not say `{found}`", violation.found);
    assert!(violation.expected.contains(expected), "`{}` does not say `{expected}`", violation.expected);
}
