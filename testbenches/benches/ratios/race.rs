//! Timing: variants in turn, best turn of each.

use std::time::{Duration, Instant};

use scalepool_protocols::check::{self, Simd};

use super::Effort;

/// One way to do the work; each call does all of it once.
pub type Variant<'a> = Box<dyn FnMut() + 'a>;

/// Best rate of each variant, in million items a second, `items` of them a call.
pub fn race<const N: usize>(effort: Effort, items: usize, mut variants: [Variant; N]) -> [f64; N] {
    let calls: [u32; N] = std::array::from_fn(|n| calls_of_a_turn(effort.turn, &mut variants[n]));
    let mut best = [0.0_f64; N];
    for _ in 0..effort.rounds {
        for n in 0..N {
            let seconds = time(calls[n], &mut variants[n]).as_secs_f64();
            best[n] = best[n].max(items as f64 * f64::from(calls[n]) / seconds / 1e6);
        }
    }
    best
}

fn time(calls: u32, variant: &mut Variant) -> Duration {
    let start = Instant::now();
    (0..calls).for_each(|_| variant());
    start.elapsed()
}

/// Doubles the calls until they fill a turn, three times in a row lest a disturbance ends it; that warms the caches, too.
fn calls_of_a_turn(turn: Duration, variant: &mut Variant) -> u32 {
    let mut calls = 1;
    while (0..3).any(|_| time(calls, variant) < turn) {
        calls *= 2;
    }
    calls
}

/// Does the work as a CPU would whose checksums have these instructions alone.
pub fn limited(simd: Simd, work: impl FnOnce()) {
    check::use_simd(simd);
    work();
    check::use_simd(Simd::All);
}

/// Numbers that look random and are the same in every run (a linear congruential sequence; the constants are Knuth's).
pub struct Numbers(pub u64);

impl Numbers {
    /// The next 128 bits.
    pub fn next(&mut self) -> u128 {
        (0..4).fold(0, |bits, _| {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            bits << 32 | u128::from(self.0 >> 32)
        })
    }
}
