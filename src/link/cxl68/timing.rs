//! Line rate: how long a unit takes on the lanes.
//!
//! Modelled: lanes times rate, the 2-bit sync header of every 130 bits where it is not bypassed, one ordered set every 340
//! blocks where asked for. Left out: jitter, clock tolerance.

use scalepool_protocols::cxl::cxl68::lanes::Cxl68Width;
use scalepool_protocols::cxl::cxl68::unit::UNIT_BYTES;

/// What the lanes do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineRate {
    /// Giga-transfers a second a lane: 8, 16 or 32 for 68B flits.
    pub rate_gtps: u32,
    /// Lanes.
    pub width: Cxl68Width,
    /// 128b/130b sync headers on the wire; off is sync-header bypass.
    pub sync_headers: bool,
    /// One block of ordered sets after every 340 data blocks (C14-6.3).
    pub skip_ordered_sets: bool,
}

/// Data blocks between two SKP ordered sets with bypass (`c14` 6.3).
const SKP_INTERVAL_BLOCKS: u64 = 340;

impl LineRate {
    /// Time of one unit as a fraction of femtoseconds, (numerator, denominator).
    ///
    /// x16 at 32 GT/s without sync headers: 1,062,500 fs.
    pub const fn unit_time_fs(&self) -> (u64, u64) {
        // 8 bits a byte; 10^6 fs over the rate in GT/s is the time of one bit on one lane.
        let mut num = UNIT_BYTES as u64 * 8 * 1_000_000;
        let mut den = self.rate_gtps as u64 * self.width.lanes() as u64;
        if self.sync_headers {
            num *= 130;
            den *= 128;
        }
        if self.skip_ordered_sets {
            num *= SKP_INTERVAL_BLOCKS + 1;
            den *= SKP_INTERVAL_BLOCKS;
        }
        (num, den)
    }

    /// Bytes a second of whole units, all 68 bytes counted.
    pub fn unit_bytes_per_s(&self) -> f64 {
        let (num, den) = self.unit_time_fs();
        UNIT_BYTES as f64 * 1e15 * den as f64 / num as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x16_at_32_gtps() {
        let rate = LineRate {
            rate_gtps: 32,
            width: Cxl68Width::new(16).expect("x16"),
            sync_headers: false,
            skip_ordered_sets: false,
        };
        let (num, den) = rate.unit_time_fs();
        assert_eq!(num / den, 1_062_500);
        assert_eq!(num % den, 0);
        let with = LineRate { sync_headers: true, ..rate };
        let (a, b) = with.unit_time_fs();
        assert_eq!(a * 128 * den, num * 130 * b);
    }
}
