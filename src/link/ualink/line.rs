//! The line under a UALink as rate and latency (`ualink` §1, §13).
//!
//! Modelled: the time of a code word by rate and width, code words that carry no DL flit (alignment markers and
//! rate-matching idles), the delay that interleaving adds. Left out: the Reed-Solomon code itself and the blocks.

/// Rate of the lanes, by the data rate of a station of four.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaneRate {
    /// 106.25 Gb/s serial.
    G100,
    /// 212.5 Gb/s serial.
    G200,
}

/// Lanes of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UalWidth {
    /// One.
    X1,
    /// Two.
    X2,
    /// Four.
    X4,
}

impl UalWidth {
    /// Lanes.
    pub const fn lanes(self) -> u64 {
        match self {
            UalWidth::X1 => 1,
            UalWidth::X2 => 2,
            UalWidth::X4 => 4,
        }
    }
}

/// What a code word carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeWord {
    /// A DL flit or a control flit in its place.
    Flit,
    /// Idle, for rate matching.
    Idle,
    /// Alignment marker.
    Marker,
}

/// Bits of a code word: RS(544,514) of 10-bit symbols (`ualink` §13).
pub const CODE_WORD_BITS: u64 = 5440;
/// Code words from one idle to the next (`ualink` §13).
const IDLE_EVERY: u64 = 1024;

/// Numbers of FEC code words that a line may interleave (`ualink` §13).
pub const INTERLEAVES: [u64; 3] = [1, 2, 4];

/// Rate, width and interleaving of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UalLine {
    /// Rate of a lane.
    pub rate: LaneRate,
    /// Lanes.
    pub width: UalWidth,
    /// Code words that are interleaved, one of [`INTERLEAVES`].
    pub interleave: u8,
}

impl UalLine {
    /// Time of one code word, as a fraction of femtoseconds (numerator, denominator): 25.6, 12.8, 6.4 ns at 200G.
    pub const fn code_word_fs(&self) -> (u64, u64) {
        // 212.5 Gb/s are 17/80 bits a picosecond; 5440 bits take 25,600,000 fs.
        let one_lane_fs = match self.rate {
            LaneRate::G200 => 25_600_000,
            LaneRate::G100 => 51_200_000,
        };
        (one_lane_fs, self.width.lanes())
    }

    /// Code words from one marker to the next, by the rate of the whole link (`ualink` §13).
    pub const fn marker_every(&self) -> u64 {
        match (self.rate, self.width) {
            (LaneRate::G100, UalWidth::X1 | UalWidth::X2) | (LaneRate::G200, UalWidth::X1) => 4096,
            (LaneRate::G100, UalWidth::X4) | (LaneRate::G200, UalWidth::X2) => 8192,
            (LaneRate::G200, UalWidth::X4) => 16384,
        }
    }

    /// What code word `n` carries, counted from link-up. Where both are due, the marker takes the place of the idle.
    pub const fn code_word(&self, n: u64) -> CodeWord {
        if n.is_multiple_of(self.marker_every()) {
            CodeWord::Marker
        } else if n.is_multiple_of(IDLE_EVERY) {
            CodeWord::Idle
        } else {
            CodeWord::Flit
        }
    }

    /// Share of the code words that carry flits, as a fraction.
    pub const fn usable(&self) -> (u64, u64) {
        (IDLE_EVERY - 1, IDLE_EVERY)
    }

    /// Delay of interleaving: the first code word of a group is there when the last one is \[fs\].
    pub const fn interleave_delay_fs(&self) -> u64 {
        let (num, den) = self.code_word_fs();
        (self.interleave as u64 - 1) * num / den
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usable_share_and_marker_distance() {
        for (width, every) in [(UalWidth::X1, 4096), (UalWidth::X2, 8192), (UalWidth::X4, 16384)] {
            let line = UalLine { rate: LaneRate::G200, width, interleave: 4 };
            let of = |kind| (0..every * 4).filter(|&n| line.code_word(n) == kind).count() as u64;
            assert_eq!(of(CodeWord::Marker), 4);
            assert_eq!(of(CodeWord::Flit) * line.usable().1, every * 4 * line.usable().0);
            let (num, den) = line.code_word_fs();
            assert_eq!(num / den, 25_600_000 / width.lanes());
        }
    }
}
