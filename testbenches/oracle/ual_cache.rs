//! The UALink compression address cache as a history: every load ever made, looked through from the newest on.
//!
//! Modelled: which requests may go compressed, the compressed form of a request, and the address that a field on the wire
//! stands for (sheet ualink §10). Fields are plain bit strings, numbered as the sheet numbers them. There is no table: what a
//! way of a row holds is what the latest load of that way and row said. Left out: which way a sender replaces, which is its
//! own affair; how fields stand in half-flits.

/// Which way requests go; it decides which accelerator id is the row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Toward {
    /// From an accelerator to a switch: row = DSTACCID.
    Switch,
    /// From a switch to an accelerator: row = SRCACCID.
    Accelerator,
}

/// One load.
#[derive(Debug, Clone, Copy)]
struct Load {
    row: u128,
    way: u128,
    region: u128,
}

/// What a link in one direction has loaded, oldest first.
#[derive(Debug, Clone)]
pub struct History {
    toward: Toward,
    loads: Vec<Load>,
}

/// Bits high..=low of a field.
fn bits(field: u128, high: u32, low: u32) -> u128 {
    field >> low & ((1 << (high - low + 1)) - 1)
}

impl History {
    /// Nothing is loaded yet.
    pub fn new(toward: Toward) -> History {
        History { toward, loads: Vec::new() }
    }

    fn row(&self, src: u128, dst: u128) -> u128 {
        match self.toward {
            Toward::Switch => dst,
            Toward::Accelerator => src,
        }
    }

    fn region(&self, row: u128, way: u128) -> Option<u128> {
        self.loads.iter().rev().find(|load| load.row == row && load.way == way).map(|load| load.region)
    }

    /// An uncompressed request passes: its byte address; with CLOAD it is a load from here on.
    pub fn full(&mut self, field: u128) -> u64 {
        assert_eq!(bits(field, 127, 124), 1, "FTYPE of an uncompressed request");
        // ADDR[79:25] is ReqAddr[56:2], so ReqAddr[56:20] is its upper 37 bits.
        if bits(field, 4, 4) == 1 {
            let row = self.row(bits(field, 24, 15), bits(field, 14, 5));
            let load = Load { row, way: bits(field, 3, 2), region: bits(field, 79, 43) };
            // What it covers can not be found again, so it need not be kept.
            self.loads.retain(|old| (old.row, old.way) != (load.row, load.way));
            self.loads.push(load);
        }
        (bits(field, 79, 25) << 2) as u64
    }

    /// A compressed request passes: its byte address; `None`: nothing was ever loaded there.
    pub fn short(&self, field: u64) -> Option<u64> {
        let field = u128::from(field);
        assert_eq!(bits(field, 63, 60), 3, "FTYPE of a compressed request");
        let region = self.region(self.row(bits(field, 21, 12), bits(field, 11, 2)), bits(field, 1, 0))?;
        Some((region << 20 | bits(field, 35, 22) << 6) as u64)
    }

    /// The ways in which the region of an uncompressed request can be found now.
    pub fn ways(&self, field: u128) -> Vec<u8> {
        let row = self.row(bits(field, 24, 15), bits(field, 14, 5));
        (0..4).filter(|&way| self.region(row, u128::from(way)) == Some(bits(field, 79, 43))).collect()
    }
}

/// The compressed form of an uncompressed request by way 0, `None` if it has none, whatever the cache holds.
pub fn shorten(field: u128) -> Option<u64> {
    let bytes = 4 * (bits(field, 93, 88) + 1);
    let address = bits(field, 79, 25) << 2;
    let (cmd, attr) = match bits(field, 123, 118) {
        0x03 => (0b000, 0xff),
        0x28 => (0b100, 0x00),
        0x29 => (0b110, 0x00),
        _ => return None,
    };
    let is_allowed = address.is_multiple_of(64)
        && bytes.is_multiple_of(64)
        && address % 256 + bytes <= 256
        && bits(field, 101, 94) == attr
        && bits(field, 87, 83) == 0;
    if !is_allowed {
        return None;
    }
    let mut short = 3 << 60 | cmd << 57;
    short |= bits(field, 117, 116) << 55; // VCHAN
    short |= bits(field, 115, 114) << 53; // ASI
    short |= bits(field, 113, 103) << 42; // TAG
    short |= bits(field, 102, 102) << 41; // POOL
    short |= (bytes / 64 - 1) << 39; // LEN
    short |= bits(field, 82, 80) << 36; // METADATA
    short |= (address >> 6 & 0x3fff) << 22; // ADDR
    short |= bits(field, 24, 15) << 12; // SRCACCID
    short |= bits(field, 14, 5) << 2; // DSTACCID
    Some(short as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A WriteFull of 64 bytes to accelerator 5 from 9.
    fn write(address: u128, load: u128, way: u128) -> u128 {
        1 << 124 | 0x29 << 118 | 15 << 88 | (address >> 2) << 25 | 9 << 15 | 5 << 5 | load << 4 | way << 2
    }

    #[test]
    fn the_newest_load_of_a_way_counts() {
        let mut history = History::new(Toward::Switch);
        let short = shorten(write(0x12_3456_7880, 0, 0)).expect("it is aligned");
        assert_eq!(history.short(short), None);
        history.full(write(0x99_9990_0000, 1, 0));
        history.full(write(0x12_3450_0000, 1, 0));
        assert_eq!(history.short(short), Some(0x12_3456_7880));
        assert_eq!(history.ways(write(0x12_345f_ffc0, 0, 0)), [0]);
        assert!(history.ways(write(0x99_9990_0000, 0, 0)).is_empty());
    }

    #[test]
    fn what_is_not_whole_has_no_short_form() {
        assert_eq!(shorten(write(0x44, 0, 0)), None);
        assert_eq!(shorten(write(0x40, 0, 0) | 1 << 83), None);
        assert_eq!(shorten(write(0x40, 0, 0) | 1 << 94), None);
        assert!(shorten(write(0x40, 0, 0) | 1 << 82).is_some());
    }
}
