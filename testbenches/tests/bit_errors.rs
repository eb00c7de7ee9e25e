//! Bit errors that are judged by their pattern alone, flit by flit.

use scalepool::link::bit_errors::{bytes_68, bytes_256, judge_verdict, pattern_68, pattern_256};
use scalepool_protocols::cxl::cxl68::pid::{CACHEMEM, Enabled, IO};
use scalepool_protocols::cxl::cxl68::unit::Cxl68Unit;
use scalepool_protocols::cxl::cxl256::Mode;
use scalepool_protocols::cxl::cxl256::flit::Cxl256Flit;
use scalepool_testbenches::soak::is_soak;

const ENABLED: Enabled = Enabled { io: true, cachemem: true };

/// A 64-bit linear congruential sequence, its high bits.
struct Draws(u64);

impl Draws {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % n
    }

    fn bytes<const N: usize>(&mut self) -> [u8; N] {
        std::array::from_fn(|_| self.below(256) as u8)
    }

    /// Bit errors at 1e-4, and many more in every second flit: single ones, and runs as in a burst.
    fn pattern<const N: usize>(&mut self, n: usize) -> [u8; N] {
        let mut pattern = [0; N];
        if n.is_multiple_of(2) {
            (0..8 * N).filter(|_| self.below(10_000) == 0).for_each(|bit| pattern[bit / 8] |= 1 << (bit % 8));
            return pattern;
        }
        for _ in 0..=self.below(6) {
            let (first, length) = (self.below(8 * N), 1 + self.below(20));
            (first..(first + length).min(8 * N)).for_each(|bit| pattern[bit / 8] ^= 1 << (bit % 8));
        }
        pattern
    }
}

fn flits() -> usize {
    if is_soak() { 20_000 } else { 1_000 }
}

/// Every kind of flit with random content: the verdict, the repairs and what is left of the errors.
#[test]
fn fab_bit_03_p() {
    let mut draws = Draws(7);
    for mode in Mode::ALL {
        let [mut good, mut repaired, mut bad] = [0; 3];
        for n in 0..flits() {
            let mut sent = Cxl256Flit(draws.bytes());
            sent.seal(mode);
            let pattern = Cxl256Flit(draws.pattern(n));
            let verdict = pattern_256(mode, &pattern);
            assert_eq!(judge_verdict(&verdict, &bytes_256(mode, &sent, &pattern)), None, "{mode:?} {pattern:?}");
            let is_touched = pattern.0 != [0; 256];
            match (verdict.is_good(), is_touched) {
                (true, false) => good += 1,
                (true, true) => repaired += 1,
                (false, _) => bad += 1,
            }
        }
        assert!([good, repaired, bad].iter().all(|count| *count > flits() / 50), "{mode:?}: {good} {repaired} {bad}");
    }
    let (mut bad, mut misread) = (0, 0);
    for n in 0..flits() {
        let sent = Cxl68Unit::cachemem(CACHEMEM, &draws.bytes());
        let pattern = Cxl68Unit(draws.pattern(n));
        let verdict = pattern_68(sent.pid(), &pattern, ENABLED);
        assert_eq!(judge_verdict(&verdict, &bytes_68(&sent, &pattern, ENABLED)), None, "{pattern:?}");
        bad += usize::from(!verdict.crc_ok);
        misread += usize::from(verdict.pid.log.is_some());
    }
    assert!(bad > flits() / 5 && misread > 0, "{bad} {misread}");
}

/// Flits that are not good when they are sent, such as those of an end that is viral: without an error on the wire the pattern calls them good.
#[test]
fn fab_bit_03_n() {
    let mut draws = Draws(9);
    let found = |violation: Option<scalepool_protocols::wire::Violation>| violation.map(|one| one.rule);
    for mode in Mode::ALL {
        let none = Cxl256Flit([0; 256]);
        let spoilt = Cxl256Flit(draws.bytes());
        let verdict = pattern_256(mode, &none);
        assert!(verdict.is_good());
        assert_eq!(found(judge_verdict(&verdict, &bytes_256(mode, &spoilt, &none))), Some("FAB-BIT-03"), "{mode:?}");
    }
    let mut spoilt = Cxl68Unit::cachemem(CACHEMEM, &draws.bytes());
    spoilt.set_tail(!spoilt.tail());
    let none = Cxl68Unit([0; 68]);
    let verdict = pattern_68(spoilt.pid(), &none, ENABLED);
    assert_eq!(found(judge_verdict(&verdict, &bytes_68(&spoilt, &none, ENABLED))), Some("FAB-BIT-03"));
    // A protocol ID is no sum: with that of another protocol the same error is another one.
    let mut error = Cxl68Unit([0; 68]);
    error.0[0] = 1;
    let good = Cxl68Unit::cachemem(CACHEMEM, &draws.bytes());
    let guessed = pattern_68(IO, &error, ENABLED);
    assert_eq!(found(judge_verdict(&guessed, &bytes_68(&good, &error, ENABLED))), Some("FAB-BIT-03"));
}
