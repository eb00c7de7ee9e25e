//! Sequence numbers: 9 bits, 1 to 511 and around to 1; 0 is reserved (`ualink` §7).

pub use super::header::{MAX_SEQ as LAST, next_seq as next, seq_of_low_bits as from_low_bits};

/// Most payload flits that may be unacknowledged: one less than half of the numbers.
pub const MOST_UNACKED: u16 = 255;

/// Steps from one number (1 to 511) on to another one, 0 to 510.
pub const fn steps(from: u16, to: u16) -> u16 {
    (to + LAST - from) % LAST
}

/// `n` moved on by `steps`.
pub const fn plus(n: u16, steps: u16) -> u16 {
    (n - 1 + steps) % LAST + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_seven_numbers_are_found_from_three_bits() {
        for last in 1..=LAST {
            for ahead in 1..=7 {
                let number = plus(last, ahead);
                assert_eq!(from_low_bits(last, (number % 8) as u8, true), number, "{ahead} behind {last}");
            }
            assert_eq!(from_low_bits(last, (last % 8) as u8, false), last, "a NOP repeats {last}");
        }
    }

    #[test]
    fn around_the_end() {
        assert_eq!((next(511), next(1), plus(511, 1), plus(1, 510)), (1, 2, 1, 511));
        assert_eq!((steps(511, 1), steps(1, 511), steps(7, 7)), (1, 510, 0));
    }
}
