//! Clocks whose period is a fraction, so that no edge ever drifts.

use super::error::BuildError;
use super::time::Time;

/// A clock: edge `k` stands at `phase + floor(k * num / den)` femtoseconds, for every `k >= 0`.
///
/// Two edges of one clock never share a point in time, because a period is at least 1 fs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    num: u64,
    den: u64,
    phase_fs: u64,
    /// `num / den`, and its remainder.
    whole: u64,
    rest: u64,
    /// Edges before this one are worked out in 64 bits, and nothing wraps.
    plain_edges: u64,
}

impl Clock {
    /// A clock with a period of `num / den` fs, first edge at `phase_fs`.
    ///
    /// # Errors
    /// [`BuildError::Period`] if the period is zero, not a number, or below 1 fs.
    pub fn new(num: u64, den: u64, phase_fs: u64) -> Result<Clock, BuildError> {
        if den == 0 || num < den {
            return Err(BuildError::Period { num, den });
        }
        let (whole, rest) = (num / den, num % den);
        let plain_edges = match u64::MAX.checked_div(rest) {
            None => (u64::MAX - phase_fs) / whole,
            // With a remainder `whole` is at most half of the largest number.
            Some(edges) => edges.min((u64::MAX - phase_fs) / (whole + 1)),
        };
        Ok(Clock { num, den, phase_fs, whole, rest, plain_edges })
    }

    /// A clock with a period of `period_fs` whole femtoseconds and its first edge at time 0.
    ///
    /// # Errors
    /// [`BuildError::Period`] if the period is zero.
    pub fn with_period_fs(period_fs: u64) -> Result<Clock, BuildError> {
        Clock::new(period_fs, 1, 0)
    }

    /// The period as (numerator, denominator), in fs.
    pub fn period(&self) -> (u64, u64) {
        (self.num, self.den)
    }

    /// The time of so many periods, in fs, without a part of one; `u64::MAX` if it lies beyond all time.
    pub fn periods_fs(&self, count: u64) -> u64 {
        Clock { phase_fs: 0, ..*self }.edge(count).as_fs()
    }

    /// The time of edge 0, in fs.
    pub fn phase_fs(&self) -> u64 {
        self.phase_fs
    }

    /// The time of edge `k`; [`Time::MAX`] if it lies beyond all time.
    #[inline]
    pub fn edge(&self, k: u64) -> Time {
        if k >= self.plain_edges {
            return self.exact_edge(k);
        }
        let whole = k.wrapping_mul(self.whole).wrapping_add(self.phase_fs);
        // Most clocks of components have no remainder, so they pay for no division.
        let rest = if self.rest == 0 { 0 } else { k.wrapping_mul(self.rest) / self.den };
        Time::from_fs(whole.wrapping_add(rest))
    }

    #[cold]
    fn exact_edge(&self, k: u64) -> Time {
        let exact = u128::from(k) * u128::from(self.num) / u128::from(self.den) + u128::from(self.phase_fs);
        Time::from_fs(u64::try_from(exact).unwrap_or(u64::MAX))
    }

    /// The number of the first edge at or after `t`.
    #[inline]
    pub fn first_at_or_after(&self, t: Time) -> u64 {
        // floor(k num/den) >= d, for a whole d, exactly when k >= d den/num.
        let d = t.as_fs().saturating_sub(self.phase_fs);
        match d.checked_mul(self.den) {
            Some(scaled) => scaled.div_ceil(self.num),
            None => {
                let exact = (u128::from(d) * u128::from(self.den)).div_ceil(u128::from(self.num));
                u64::try_from(exact).unwrap_or(u64::MAX)
            }
        }
    }

    /// The number of the first edge after `t`.
    #[inline]
    pub fn first_after(&self, t: Time) -> u64 {
        self.first_at_or_after(t.plus_fs(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_of_a_fraction_do_not_drift_over_a_billion_edges() {
        // A 68-byte flit at x16 32 GT/s takes 1062.5 ps: with den = 3 the period has a third as well.
        let clock = Clock::new(3_187_501, 3, 17).unwrap();
        assert_eq!(clock.edge(0).as_fs(), 17);
        assert_eq!(clock.edge(1).as_fs(), 17 + 1_062_500);
        assert_eq!(clock.edge(2).as_fs(), 17 + 2_125_000);
        assert_eq!(clock.edge(3).as_fs(), 17 + 3_187_501);
        assert_eq!(clock.edge(3_000_000_000).as_fs(), 17 + 3_187_501 * 1_000_000_000);
        for k in [0, 1, 2, 3, 1_000_000_000, 1_000_000_001] {
            let t = clock.edge(k);
            assert_eq!(clock.first_at_or_after(t), k);
            assert_eq!(clock.first_after(t), k + 1);
            assert_eq!(clock.first_at_or_after(t.plus_fs(1)), k + 1);
        }
    }

    #[test]
    fn searches_agree_with_a_plain_walk() {
        for (num, den, phase) in [(1, 1, 0), (7, 3, 0), (7, 3, 5), (10, 1, 3), (11, 10, 2), (5, 4, 0)] {
            let clock = Clock::new(num, den, phase).unwrap();
            for t in 0..60 {
                let t = Time::from_fs(t);
                let walk = |late: &dyn Fn(Time) -> bool| (0..100).find(|k| late(clock.edge(*k))).unwrap();
                assert_eq!(clock.first_at_or_after(t), walk(&|e| e >= t), "{num}/{den}+{phase} at {t}");
                assert_eq!(clock.first_after(t), walk(&|e| e > t), "{num}/{den}+{phase} at {t}");
            }
        }
    }

    #[test]
    fn the_far_end_of_time_saturates() {
        let clock = Clock::new(u64::MAX, 2, 1).unwrap();
        assert_eq!(clock.edge(u64::MAX), Time::MAX);
        assert_eq!(clock.first_at_or_after(clock.edge(1)), 1);
        let fine = Clock::new(u64::MAX, u64::MAX - 1, 0).unwrap();
        assert_eq!(fine.edge(12).as_fs(), 12);
        assert_eq!(fine.first_at_or_after(Time::from_fs(12)), 12);
    }

    /// On both sides of the last edge that is worked out in 64 bits.
    #[test]
    fn both_ways_to_an_edge_agree() {
        let largest = u64::MAX;
        for (num, den, phase) in
            [(1, 1, 0), (1_000_000, 1, 7), (3_187_501, 3, 17), (largest, largest - 1, 9), (largest, 2, 1)]
        {
            let clock = Clock::new(num, den, phase).unwrap();
            let last = clock.plain_edges;
            for k in
                [0, 1, last / 3, last / 2, last.saturating_sub(2), last.saturating_sub(1), last, last.saturating_add(1)]
            {
                assert_eq!(clock.edge(k), clock.exact_edge(k), "edge {k} of {num}/{den}+{phase}");
            }
        }
    }

    #[test]
    fn a_period_below_one_femtosecond_is_refused() {
        for (num, den) in [(0, 1), (1, 0), (0, 0), (2, 3)] {
            assert_eq!(Clock::new(num, den, 0), Err(BuildError::Period { num, den }));
        }
    }
}
