//! Rows of numbers that a node keeps until the end of a run, in a few bytes each.
//!
//! Modelled: nothing of the hardware; a run of millions of transactions leaves that many rows behind. A row is kept as
//! what it differs in from the row before. Left out: access out of order.
//!
//! A walk through one row: a byte says which of its numbers differ; each of those follows as its difference, small ones in
//! one byte, whatever their sign.

/// Bytes of a page, those of dozens of rows. A log of one piece is moved each time that it grows, and leaves a hole that the
/// next one is too large for: with 256 accelerators of 500 operations each that took 4 kB of memory an accelerator.
const PAGE_BYTES: usize = 240;
/// More than the longest row has \[bytes\]: eight numbers of ten bytes each, and a byte that says which of them differ. The
/// last number is written by 8 bytes at once.
const ROW_BYTES: usize = 96;
/// Bytes that are moved at once: most rows have no more.
const SHORT_ROW_BYTES: usize = 32;

/// Rows of `N` numbers, at most eight, in the order in which they were added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowLog<const N: usize> {
    /// All but the last one are full. They lie apart: a row of them would grow in one piece.
    #[allow(clippy::vec_box)]
    pages: Vec<Box<[u8; PAGE_BYTES]>>,
    /// Bytes of the last page that are written.
    filled: usize,
    rows: usize,
    last: [u64; N],
}

impl<const N: usize> Default for RowLog<N> {
    fn default() -> RowLog<N> {
        RowLog { pages: Vec::new(), filled: 0, rows: 0, last: [0; N] }
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
        self.rows == 0
    }

    /// Adds a row.
    pub fn add(&mut self, row: [u64; N]) {
        const { assert!(N <= 8, "a byte says which numbers differ") };
        let (mut bytes, mut end, mut differs, mut bit) = ([0; ROW_BYTES], 1, 0, 1);
        for (new, last) in row.iter().zip(&self.last) {
            if new != last {
                differs |= bit;
                end = put(&mut bytes, end, new.wrapping_sub(*last).cast_signed());
            }
            bit <<= 1;
        }
        bytes[0] = differs;
        let page = self.pages.last_mut().and_then(|page| page[self.filled..].first_chunk_mut::<SHORT_ROW_BYTES>());
        match (page, bytes.first_chunk::<SHORT_ROW_BYTES>()) {
            (Some(page), Some(short)) if end <= SHORT_ROW_BYTES => {
                // What stands behind the row is written over by the next one.
                *page = *short;
                self.filled += end;
            }
            _ => self.append(&bytes[..end]),
        }
        self.rows += 1;
        self.last = row;
    }

    /// Writes behind what is written, on as many pages as it takes.
    fn append(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.filled == PAGE_BYTES || self.pages.is_empty() {
                self.pages.push(Box::new([0; PAGE_BYTES]));
                self.filled = 0;
            }
            let Some(page) = self.pages.last_mut() else { return };
            let (now, later) = bytes.split_at(bytes.len().min(PAGE_BYTES - self.filled));
            page[self.filled..self.filled + now.len()].copy_from_slice(now);
            (self.filled, bytes) = (self.filled + now.len(), later);
        }
    }

    /// The rows, first to last.
    pub fn rows(&self) -> RowReader<'_, N> {
        RowReader { pages: self.pages.iter(), bytes: [].iter(), left: self.rows, last: [0; N] }
    }
}

/// Writes a difference from a byte of a row on, seven bits a byte, lowest first; the sign is the lowest one. The byte behind it.
///
/// Most differences have one byte. Those of addresses have five and more, which are written at once: byte by byte they take
/// twice the instructions.
#[inline]
fn put(row: &mut [u8; ROW_BYTES], mut at: usize, difference: i64) -> usize {
    let mut rest = (difference << 1 ^ difference >> 63).cast_unsigned();
    if rest < 0x80 {
        row[at] = rest as u8;
        return at + 1;
    }
    if rest >> 56 == 0
        && let Some(place) = row[at..].first_chunk_mut()
    {
        // 56 bits are spread over 8 bytes: halves of 28 bits into words of 32, those of 14 into words of 16, those of 7.
        let spread = rest & 0x0fff_ffff | (rest & 0x00ff_ffff_f000_0000) << 4;
        let spread = spread & 0x0000_3fff_0000_3fff | (spread & 0x0fff_c000_0fff_c000) << 2;
        let spread = spread & 0x007f_007f_007f_007f | (spread & 0x3f80_3f80_3f80_3f80) << 1;
        let bytes = (70 - rest.leading_zeros() as usize) / 7;
        // All bytes but the last one say that another one follows.
        let more = 0x8080_8080_8080_8080 & !(u64::MAX << (8 * (bytes - 1)));
        *place = (spread | more).to_le_bytes();
        return at + bytes;
    }
    while rest >= 0x80 {
        row[at] = rest as u8 | 0x80;
        (at, rest) = (at + 1, rest >> 7);
    }
    row[at] = rest as u8;
    at + 1
}

/// The lower seven bits of each of 8 bytes, side by side.
#[inline]
const fn gathered(bytes: u64) -> u64 {
    let halves = bytes & 0x007f_007f_007f_007f | (bytes & 0x7f00_7f00_7f00_7f00) >> 1;
    let halves = halves & 0x0000_3fff_0000_3fff | (halves & 0x3fff_0000_3fff_0000) >> 2;
    halves & 0x0fff_ffff | (halves & 0x0fff_ffff_0000_0000) >> 4
}

/// Reads the rows of a [`RowLog`].
#[derive(Debug, Clone)]
pub struct RowReader<'a, const N: usize> {
    pages: std::slice::Iter<'a, Box<[u8; PAGE_BYTES]>>,
    /// The rest of the page that is being read.
    bytes: std::slice::Iter<'a, u8>,
    /// Rows that are still to be read.
    left: usize,
    last: [u64; N],
}

impl<const N: usize> RowReader<'_, N> {
    fn byte(&mut self) -> Option<u8> {
        if self.bytes.len() == 0 {
            self.bytes = self.pages.next()?.iter();
        }
        self.bytes.next().copied()
    }

    /// Reads what [`put`] has written.
    fn difference(&mut self) -> Option<i64> {
        let rest = self.bytes.as_slice();
        if let Some(&short) = rest.first()
            && short < 0x80
        {
            self.bytes.next();
            return Some(i64::from(short >> 1) ^ -i64::from(short & 1));
        }
        if let Some(&bytes) = rest.first_chunk() {
            let bytes = u64::from_le_bytes(bytes);
            // The last byte is the first one whose highest bit is 0; with 9 and more there is none.
            let last = (!bytes & 0x8080_8080_8080_8080).trailing_zeros();
            if last < u64::BITS {
                self.bytes = rest[last as usize / 8 + 1..].iter();
                let value = gathered(bytes & (u64::MAX >> (63 - last)));
                return Some((value >> 1).cast_signed() ^ -(value & 1).cast_signed());
            }
        }
        let (mut value, mut at) = (0u64, 0);
        loop {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << at;
            at += 7;
            if byte & 0x80 == 0 {
                return Some((value >> 1).cast_signed() ^ -(value & 1).cast_signed());
            }
        }
    }
}

impl<const N: usize> Iterator for RowReader<'_, N> {
    type Item = [u64; N];

    fn next(&mut self) -> Option<[u64; N]> {
        self.left = self.left.checked_sub(1)?;
        let mut differs = self.byte()?;
        // From one that differs to the next.
        while differs != 0 {
            let difference = self.difference()?.cast_unsigned();
            let last = self.last.get_mut(differs.trailing_zeros() as usize)?;
            *last = last.wrapping_add(difference);
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
        let bytes = log.pages.len() * PAGE_BYTES;
        assert!(bytes < 5 * 1000, "{bytes} bytes");
    }
}
