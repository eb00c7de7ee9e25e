//! The time axis of a wave: the unit in which its times are written, and how far it reaches.
//!
//! A run writes femtoseconds. What is decoded from the wave of another simulator has the unit of that wave, so that viewers
//! which follow each other by their numbers of time steps (twinwave) show the same instant, and it ends where that wave ends.

/// Unit and end of a time axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeAxis {
    /// The unit is 10^exponent s, -15 to 0.
    exponent: i8,
    /// The axis goes on to this time at least \[fs\].
    pub end_fs: u64,
}

/// Exponent of a femtosecond.
const FS_EXPONENT: i8 = -15;

impl Default for TimeAxis {
    fn default() -> TimeAxis {
        TimeAxis { exponent: FS_EXPONENT, end_fs: 0 }
    }
}

impl TimeAxis {
    /// The axis of a wave with a step of so many femtoseconds: the largest power of ten that divides it, at most a second.
    pub fn of_step(step_fs: u64, end_fs: u64) -> TimeAxis {
        let divides =
            |exponent: &i8| step_fs > 0 && step_fs.is_multiple_of(TimeAxis { exponent: *exponent, end_fs }.unit_fs());
        let exponent = (FS_EXPONENT..=0).rev().find(divides).unwrap_or(FS_EXPONENT);
        TimeAxis { exponent, end_fs }
    }

    /// Exponent of the unit, of 10 s.
    pub fn exponent(self) -> i8 {
        self.exponent
    }

    /// Femtoseconds of a unit.
    pub fn unit_fs(self) -> u64 {
        10_u64.pow(u32::from((self.exponent - FS_EXPONENT).unsigned_abs()))
    }

    /// A time in units; what is left over is cut off.
    pub fn steps(self, t_fs: u64) -> u64 {
        t_fs / self.unit_fs()
    }

    /// The unit as a value change dump spells it: 1, 10 or 100, and a power of 1000.
    pub(super) fn timescale(self) -> (u32, vcd::TimescaleUnit) {
        use vcd::TimescaleUnit::{FS, MS, NS, PS, S, US};
        let above = (self.exponent - FS_EXPONENT).unsigned_abs();
        let unit = [FS, PS, NS, US, MS, S][usize::from(above / 3)];
        (10_u32.pow(u32::from(above % 3)), unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_common_waves() {
        for (step_fs, exponent, scale) in [
            (1, -15, "1 fs"),
            (100, -13, "100 fs"),
            (1_000, -12, "1 ps"),
            (10_000, -11, "10 ps"),
            (1_000_000, -9, "1 ns"),
            (25_000_000, -9, "1 ns"),
            (1_000_000_000_000_000, 0, "1 s"),
            (10_000_000_000_000_000, 0, "1 s"),
            (0, -15, "1 fs"),
        ] {
            let axis = TimeAxis::of_step(step_fs, 7);
            let (factor, unit) = axis.timescale();
            assert_eq!((axis.exponent(), format!("{factor} {unit}")), (exponent, scale.to_owned()), "{step_fs}");
        }
        assert_eq!(TimeAxis::of_step(1_000, 0).steps(5_999), 5);
        assert_eq!(TimeAxis::default().steps(5_999), 5_999);
    }
}
