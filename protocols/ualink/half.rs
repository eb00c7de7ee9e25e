//! TL flits, their half-flits, and message halves (`ualink` §9).

use super::code::HalfType;

/// Bytes of a TL flit.
pub const TL_BYTES: usize = 64;
/// Bytes of a half-flit.
pub const HALF_BYTES: usize = 32;
/// Sectors of a TL flit.
pub const TL_SECTORS: usize = 16;
/// Sectors of a half-flit.
pub const HALF_SECTORS: usize = 8;
/// Bits of a sector.
pub const SECTOR_BITS: u32 = 32;
/// Authentication tags of a half-flit.
pub const TAGS: usize = 4;

/// Bytes of a half-flit, sector 0 first.
pub type Half = [u8; HALF_BYTES];

/// A TL flit: lower half, upper half, and their message indicators, which travel in the segment header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TlFlit {
    /// Lower and upper half.
    pub halves: [Half; 2],
    /// Whether each is a message half.
    pub message: [bool; 2],
}

impl TlFlit {
    /// A sector, 0 to 15.
    pub fn sector(&self, n: usize) -> [u8; 4] {
        let at = 4 * (n % HALF_SECTORS);
        core::array::from_fn(|k| self.halves[n / HALF_SECTORS][at + k])
    }

    /// Writes a sector, 0 to 15.
    pub fn set_sector(&mut self, n: usize, sector: [u8; 4]) {
        let at = 4 * (n % HALF_SECTORS);
        self.halves[n / HALF_SECTORS][at..at + 4].copy_from_slice(&sector);
    }

    /// The indicators as a segment header holds them: bit 0 M0, bit 1 M1.
    pub const fn indicators(&self) -> u8 {
        self.message[0] as u8 | (self.message[1] as u8) << 1
    }

    /// Sets the indicators from the two bits of a segment header.
    pub const fn set_indicators(&mut self, bits: u8) {
        self.message = [bits & 1 == 1, bits >> 1 & 1 == 1];
    }
}

/// A message half: type and 31 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageHalf {
    /// Byte 0.
    pub kind: HalfType,
    /// Bytes 1 to 31.
    pub payload: [u8; HALF_BYTES - 1],
}

impl MessageHalf {
    /// A message without content.
    pub const fn new(kind: HalfType) -> MessageHalf {
        MessageHalf { kind, payload: [0; HALF_BYTES - 1] }
    }

    /// The end of credit initialisation; `shared` asks for the shared data buffer.
    pub const fn initial_credits_done(shared: bool) -> MessageHalf {
        let mut half = MessageHalf::new(HalfType::InitialCreditsDone);
        half.payload[0] = shared as u8;
        half
    }

    /// Reads a half whose indicator is set.
    pub fn from_half(half: &Half) -> MessageHalf {
        MessageHalf { kind: HalfType(half[0]), payload: core::array::from_fn(|k| half[k + 1]) }
    }

    /// Its bytes.
    pub fn to_half(&self) -> Half {
        core::array::from_fn(|k| if k == 0 { self.kind.0 } else { self.payload[k - 1] })
    }
}
