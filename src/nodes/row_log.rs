//! Rows of numbers that a node keeps until the end of a run, in a few bytes each.
//!
//! Modelled: nothing of the hardware; a run of millions of transactions leaves that many rows behind. A row is kept as
//! what it differs in from the row before. Left out: access out of order.
//!
//! A walk through one row: a byte says which of its numbers differ; each of those follows as its difference, small ones in
//! one byte, whatever their sign.

/// More than the longest row has \[bytes\].
const ROW_ROOM: usize = 96;
/// Room that a full log gets at least \[bytes\]: that of dozens of rows.
const LEAST_ROOM: usize = 256;

/// Rows of `N` numbers, at most eight, in the order in which they were added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowLog<const N: usize> {
    bytes: Vec<u8>,
    rows: usize,
    last: [u64; N],
}

impl<const N: usize> Default for RowLog<N> {
    fn default() -> RowLog<N> {
        RowLog { bytes: Vec::new(), rows: 0, last: [0; N] }
    }
}

impl<const N: usize> RowLog<N> {
    /// The row that was added last; zeros before the first one.
    pub fn last(&self) -> [u64; N] {
        self.last
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Adds a row.
    pub fn add(&mut self, row: [u64; N]) {
        const { assert!(N <= 8, "a byte says which numbers differ") };
        if self.bytes.capacity() - self.bytes.len() < ROW_ROOM {
            // An eighth more, not twice as much: there may be as many logs as ports.
            self.bytes.reserve_exact(LEAST_ROOM.max(self.bytes.len() / 8));
        }
        let first = self.bytes.len();
        self.bytes.push(0);
        let mut differs = 0;
        for (n, (new, last)) in row.iter().zip(self.last).enumerate() {
            if *new != last {
                differs |= 1 << n;
                self.put(new.wrapping_sub(last).cast_signed());
            }
        }
        self.bytes[first] = differs;
        self.rows += 1;
        self.last = row;
    }

    /// Seven bits a byte, lowest first; the sign is the lowest one.
    fn put(&mut self, difference: i64) {
        let mut rest = (difference << 1 ^ difference >> 63).cast_unsigned();
        while rest >= 0x80 {
            self.bytes.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        self.bytes.push(rest as u8);
    }

    /// The rows, first to last.
    pub fn rows(&self) -> RowReader<'_, N> {
        RowReader { bytes: self.bytes.iter(), last: [0; N] }
    }
}

/// Reads the rows of a [`RowLog`].
#[derive(Debug, Clone)]
pub struct RowReader<'a, const N: usize> {
    bytes: std::slice::Iter<'a, u8>,
    last: [u64; N],
}

/// Reads what [`RowLog::put`] has written.
fn difference(bytes: &mut std::slice::Iter<'_, u8>) -> i64 {
    let (mut value, mut at) = (0u64, 0);
    for &byte in bytes {
        value |= u64::from(byte & 0x7f) << at;
        at += 7;
        if byte & 0x80 == 0 {
            break;
        }
    }
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}

impl<const N: usize> Iterator for RowReader<'_, N> {
    type Item = [u64; N];

    fn next(&mut self) -> Option<[u64; N]> {
        let mut differs = *self.bytes.next()?;
        // From one that differs to the next.
        while differs != 0 {
            let last = self.last.get_mut(differs.trailing_zeros() as usize)?;
            *last = last.wrapping_add(difference(&mut self.bytes).cast_unsigned());
            differs &= differs - 1;
        }
        Some(self.last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_as_they_were_added() {
        let mut log = RowLog::<3>::default();
        assert!(log.is_empty() && log.rows().next().is_none());
        let ends = [0, 1, 63, 64, 127, 128, u64::MAX >> 1, 1 << 63, u64::MAX];
        let mut rows: Vec<[u64; 3]> = ends.iter().flat_map(|&a| ends.map(|b| [a, b, a ^ b])).collect();
        rows.insert(0, [0; 3]);
        rows.push(rows[rows.len() - 1]);
        rows.iter().for_each(|&row| log.add(row));
        assert_eq!(log.rows().collect::<Vec<_>>(), rows);
        assert_eq!(log.last(), rows[rows.len() - 1]);
    }

    #[test]
    fn rows_alike_take_few_bytes() {
        let mut log = RowLog::<3>::default();
        (0..1000).for_each(|n| log.add([7, n, 1_000_000 + n % 2]));
        assert!(log.bytes.capacity() < 5 * 1000, "{} bytes", log.bytes.capacity());
    }
}
