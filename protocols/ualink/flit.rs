//! The 640 bytes that travel: byte map, sectors, header, CRC (`ualink` §2, §5).

use super::config::UalConfig;
use super::crc::crc;
use super::header::{SegmentHeader, UalHeader};
use crate::frame;
use crate::wire::{FieldError, FieldFault};

frame! {
    /// DL flit. Which sector stands in which payload byte says [`sector_byte`].
    pub mod map: 640 bytes = "ualink.dl_flit" {
        source: "ualink §2";
        /// Payload before the first segment header.
        DATA0 = [0 +: 67];
        /// Segment header 0.
        SH0 = [67 +: 1] as SegmentHeader;
        /// Payload.
        DATA1 = [68 +: 127];
        /// Segment header 1.
        SH1 = [195 +: 1] as SegmentHeader;
        /// Payload.
        DATA2 = [196 +: 127];
        /// Segment header 2.
        SH2 = [323 +: 1] as SegmentHeader;
        /// Payload.
        DATA3 = [324 +: 127];
        /// Segment header 3.
        SH3 = [451 +: 1] as SegmentHeader;
        /// Payload.
        DATA4 = [452 +: 127];
        /// Segment header 4.
        SH4 = [579 +: 1] as SegmentHeader;
        /// Payload.
        DATA5 = [580 +: 44];
        /// Flit header, low byte first.
        FH = [624 +: 3];
        /// Payload.
        DATA6 = [627 +: 9];
        /// CRC-32.
        CRC = [636 +: 4];
    }
}

/// Bytes of a DL flit.
pub const FLIT_BYTES: usize = map::LEN;
/// Bytes of a sector.
pub const SECTOR_BYTES: usize = 4;
/// Payload sectors of a DL flit.
pub const SECTORS: usize = 157;
/// Payload bytes of a DL flit.
pub const PAYLOAD_BYTES: usize = SECTORS * SECTOR_BYTES;
/// Segments of a DL flit.
pub const SEGMENTS: usize = 5;

/// Where the segment headers stand.
const SH_BYTES: [usize; SEGMENTS] = [map::SH0.start, map::SH1.start, map::SH2.start, map::SH3.start, map::SH4.start];

/// Runs of whole sectors: first sector, number of sectors, first byte. Payload is copied by them: a flit is judged and cut
/// up in 53 ns, in 218 ns when each byte is looked up in the map (`make bench`, Xeon, 2.3 GHz nominal).
const RUNS: [(usize, usize, u16); 11] = [
    (0, 16, 0),
    (16, 15, 68),
    (32, 15, 132),
    (48, 15, 196),
    (64, 15, 260),
    (80, 15, 324),
    (96, 15, 388),
    (112, 15, 452),
    (127, 16, 512),
    (143, 11, 580),
    (154, 2, 628),
];

/// Sectors that overhead bytes cut apart.
const CUT: [(usize, [u16; SECTOR_BYTES]); 7] = [
    (31, [64, 65, 66, 131]),
    (47, [128, 129, 130, 194]),
    (63, [192, 193, 258, 259]),
    (79, [256, 257, 321, 322]),
    (95, [320, 385, 386, 387]),
    (111, [384, 448, 449, 450]),
    (156, [576, 577, 578, 627]),
];

/// The map, put together from its runs.
static SECTOR_MAP: [[u16; SECTOR_BYTES]; SECTORS] = SECTOR_TABLE;

const SECTOR_TABLE: [[u16; SECTOR_BYTES]; SECTORS] = {
    let mut table = [[u16::MAX; SECTOR_BYTES]; SECTORS];
    let mut run = 0;
    while run < RUNS.len() {
        let (first, count, byte) = RUNS[run];
        let mut n = 0;
        while n < SECTOR_BYTES * count {
            table[first + n / SECTOR_BYTES][n % SECTOR_BYTES] = byte + n as u16;
            n += 1;
        }
        run += 1;
    }
    let mut cut = 0;
    while cut < CUT.len() {
        table[CUT[cut].0] = CUT[cut].1;
        cut += 1;
    }
    table
};

// Payload and overhead bytes cover the flit, each once.
const _: () = {
    let mut used = [false; FLIT_BYTES];
    let mut n = 0;
    while n < PAYLOAD_BYTES {
        let byte = SECTOR_TABLE[n / SECTOR_BYTES][n % SECTOR_BYTES] as usize;
        assert!(!used[byte], "a byte holds two sectors");
        used[byte] = true;
        n += 1;
    }
    let mut byte = 0;
    while byte < FLIT_BYTES {
        let overhead = byte % 128 == 67
            || byte >= map::FH.start && byte < map::FH.end
            || byte >= map::CRC.start && byte < map::CRC.end;
        assert!(used[byte] != overhead, "a byte is both payload and overhead, or neither");
        byte += 1;
    }
};

/// Flit byte of byte `k` (0 to 3) of sector `n` (0 to 156).
pub fn sector_byte(n: usize, k: usize) -> usize {
    SECTOR_MAP[n][k].into()
}

/// What a flit carries: segment headers and sectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Payload {
    /// The segment headers as they stand there.
    pub headers: [u8; SEGMENTS],
    /// The sectors, byte 0 first.
    pub sectors: [[u8; SECTOR_BYTES]; SECTORS],
}

impl Payload {
    /// Nothing starts, all sectors are 0.
    pub const ZERO: Payload = Payload { headers: [0; SEGMENTS], sectors: [[0; SECTOR_BYTES]; SECTORS] };
}

/// One flit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DlFlit(pub [u8; FLIT_BYTES]);

impl DlFlit {
    /// All bytes 0.
    pub const ZERO: DlFlit = DlFlit([0; FLIT_BYTES]);

    /// A flit of a header and a payload, sealed.
    ///
    /// # Errors
    /// A field of the header does not fit.
    pub fn new(header: &UalHeader, payload: &Payload, config: &UalConfig) -> Result<DlFlit, FieldError> {
        let mut flit = DlFlit::ZERO;
        flit.set_header_bits(header.to_bits()?);
        flit.set_payload(payload);
        flit.seal(config);
        Ok(flit)
    }

    /// Reads a byte string.
    ///
    /// # Errors
    /// The length is not 640.
    pub fn from_bytes(bytes: &[u8]) -> Result<DlFlit, FieldError> {
        let flit = bytes.try_into().map_err(|_| FieldError {
            layout: "ualink.dl_flit",
            fault: FieldFault::Length { found: bytes.len(), expected: FLIT_BYTES, bits: 8 * FLIT_BYTES as u32 },
        })?;
        Ok(DlFlit(flit))
    }

    /// FH\[23:0\].
    pub fn header_bits(&self) -> u32 {
        let at = map::FH.start;
        u32::from_le_bytes([self.0[at], self.0[at + 1], self.0[at + 2], 0])
    }

    /// Writes FH\[23:0\]; higher bits are lost.
    pub fn set_header_bits(&mut self, bits: u32) {
        self.0[map::FH].copy_from_slice(&bits.to_le_bytes()[..map::FH.len()]);
    }

    /// The flit header.
    pub fn header(&self) -> UalHeader {
        UalHeader::from_bits(self.header_bits())
    }

    /// Segment headers and sectors.
    pub fn payload(&self) -> Payload {
        let mut payload = Payload { headers: SH_BYTES.map(|at| self.0[at]), ..Payload::ZERO };
        for (first, count, byte) in RUNS {
            let (byte, sectors) = (usize::from(byte), &mut payload.sectors[first..first + count]);
            sectors.as_flattened_mut().copy_from_slice(&self.0[byte..byte + SECTOR_BYTES * count]);
        }
        for (n, places) in CUT {
            payload.sectors[n] = places.map(|at| self.0[usize::from(at)]);
        }
        payload
    }

    /// Writes segment headers and sectors.
    pub fn set_payload(&mut self, payload: &Payload) {
        for (at, header) in SH_BYTES.into_iter().zip(payload.headers) {
            self.0[at] = header;
        }
        for (first, count, byte) in RUNS {
            let (byte, sectors) = (usize::from(byte), &payload.sectors[first..first + count]);
            self.0[byte..byte + SECTOR_BYTES * count].copy_from_slice(sectors.as_flattened());
        }
        for (n, places) in CUT {
            for (at, byte) in places.into_iter().zip(payload.sectors[n]) {
                self.0[usize::from(at)] = byte;
            }
        }
    }

    /// The CRC that stands there, byte 636 lowest.
    pub fn crc(&self) -> u32 {
        self.0.last_chunk().map_or(0, |crc| u32::from_le_bytes(*crc))
    }

    /// The CRC that belongs there.
    pub fn expected_crc(&self, config: &UalConfig) -> u32 {
        crc(&self.0, config.crc_order, config.crc_coverage)
    }

    /// Writes a CRC.
    pub fn set_crc(&mut self, crc: u32) {
        self.0[map::CRC].copy_from_slice(&crc.to_le_bytes());
    }

    /// Computes the CRC.
    pub fn seal(&mut self, config: &UalConfig) {
        self.set_crc(self.expected_crc(config));
    }

    /// Inverts the CRC: tells the receiver that the flit is spoilt (`ualink` §5, error containment).
    pub fn poison(&mut self, config: &UalConfig) {
        self.set_crc(!self.expected_crc(config));
    }
}

/// Flit byte of a segment header.
pub fn segment_header_byte(segment: usize) -> usize {
    SH_BYTES[segment]
}

impl core::fmt::Debug for DlFlit {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.0.iter().try_for_each(|b| write!(f, "{b:02x}"))
    }
}
