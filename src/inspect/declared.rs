//! The range that a design declares for a vector, `[551:8]` or `[0:31]`: a map and findings count bits as the design does, a wave
//! counts them from 0 at the right end.

/// Numbers of the leftmost and of the rightmost bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DeclaredRange {
    left: i64,
    right: i64,
}

impl DeclaredRange {
    /// `[bits-1:0]`, of a vector that declares nothing else.
    pub const fn plain(bits: usize) -> DeclaredRange {
        DeclaredRange { left: bits as i64 - 1, right: 0 }
    }

    /// The declared range of a vector with so many bits; a range of another width does not count.
    pub fn of(declared: Option<(i64, i64)>, bits: usize) -> DeclaredRange {
        let fits = |&(left, right): &(i64, i64)| left.abs_diff(right).checked_add(1) == Some(bits as u64);
        declared.filter(fits).map_or(DeclaredRange::plain(bits), |(left, right)| DeclaredRange { left, right })
    }

    /// Whether the numbers rise from left to right.
    fn rises(self) -> bool {
        self.left < self.right
    }

    /// Position of the rightmost bit of a part, from 0, and its bits; `None` if the part is not in the range, or turned around.
    pub fn part(self, left: i64, right: i64) -> Option<(usize, usize)> {
        let (low, high) = (self.left.min(self.right), self.left.max(self.right));
        let is_inside = [left, right].iter().all(|bit| (low..=high).contains(bit));
        let is_turned = if self.rises() { left > right } else { left < right };
        (is_inside && !is_turned).then(|| (right.abs_diff(self.right) as usize, left.abs_diff(right) as usize + 1))
    }

    /// Bits from a position on, `[543:16]`, as the design numbers them.
    pub fn shown(self, position: usize, bits: usize) -> String {
        let step = if self.rises() { -1 } else { 1 };
        let bit = |position: usize| self.right + step * position as i64;
        format!("[{}:{}]", bit(position + bits - 1), bit(position))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_counted_as_declared() {
        let plain = DeclaredRange::plain(32);
        let above = DeclaredRange::of(Some((551, 8)), 544);
        let rising = DeclaredRange::of(Some((0, 31)), 32);
        let negative = DeclaredRange::of(Some((3, -4)), 8);
        for (range, (left, right), expected) in [
            (plain, (31, 0), Some((0, 32))),
            (plain, (7, 4), Some((4, 4))),
            (plain, (4, 7), None),
            (plain, (32, 0), None),
            (above, (551, 8), Some((0, 544))),
            (above, (15, 8), Some((0, 8))),
            (above, (543, 0), None),
            (rising, (3, 3), Some((28, 1))),
            (rising, (24, 31), Some((0, 8))),
            (rising, (31, 24), None),
            (negative, (0, -4), Some((0, 5))),
        ] {
            assert_eq!(range.part(left, right), expected, "{range:?} {left}:{right}");
        }
        assert_eq!((above.shown(0, 8), above.shown(536, 8)), ("[15:8]".into(), "[551:544]".into()));
        assert_eq!((rising.shown(0, 8), rising.shown(28, 1)), ("[24:31]".into(), "[3:3]".into()));
        // A range of another width is not that of the values.
        assert_eq!(DeclaredRange::of(Some((7, 0)), 16), DeclaredRange::plain(16));
    }
}
