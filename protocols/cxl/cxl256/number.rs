//! Sequence numbers: 10 bits, 1 to 1023 and around to 1 (`cxl-256b` §9).

use super::code::FlitType;

/// Whether flits of a type take a number and stand in the retry buffer (`cxl-256b` §1.4).
pub fn is_payload(flit_type: FlitType) -> bool {
    flit_type != FlitType::Nop
}

/// Highest number, and how many there are.
pub const LAST: u16 = 1023;
/// How far a number may lie before or behind another one.
pub const WINDOW: u16 = 511;

/// The number behind `n`.
pub const fn next(n: u16) -> u16 {
    if n >= LAST { 1 } else { n + 1 }
}

/// The number before `n`.
pub const fn previous(n: u16) -> u16 {
    if n <= 1 { LAST } else { n - 1 }
}

/// Steps from one number (1 to 1023) on to another one, 0 to 1022.
pub const fn steps(from: u16, to: u16) -> u16 {
    (to + LAST - from) % LAST
}

/// `n` moved on by `steps`.
pub const fn plus(n: u16, steps: u16) -> u16 {
    (n - 1 + steps) % LAST + 1
}

/// Where a received number stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberPlace {
    /// It is the one that is due.
    Expected,
    /// 1 to 511 further: something before it is missing.
    Future,
    /// 1 to 511 before: it has been here.
    Duplicate,
}

/// Where `n` stands while `expected` is due.
pub const fn place(expected: u16, n: u16) -> NumberPlace {
    match steps(expected, n) {
        0 => NumberPlace::Expected,
        1..=WINDOW => NumberPlace::Future,
        _ => NumberPlace::Duplicate,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_round_without_0() {
        assert_eq!((next(LAST), previous(1), steps(LAST, 1), steps(1, LAST)), (1, LAST, 1, LAST - 1));
        for n in 1..=LAST {
            assert_eq!((previous(next(n)), plus(n, 0), plus(n, 1), plus(n, LAST)), (n, n, next(n), n));
            assert_eq!(place(n, plus(n, 0)), NumberPlace::Expected);
            assert_eq!(place(n, plus(n, WINDOW)), NumberPlace::Future);
            assert_eq!(place(n, plus(n, WINDOW + 1)), NumberPlace::Duplicate);
            assert_eq!(place(n, previous(n)), NumberPlace::Duplicate);
        }
    }
}
