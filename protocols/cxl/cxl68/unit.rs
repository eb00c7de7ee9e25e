//! The 68 bytes that travel: protocol ID, 64 bytes of payload, CRC or tail (`cxl-68b` §1.1).

use crate::check::crc16;
use crate::frame;
use crate::wire::{FieldError, FieldFault};

frame! {
    /// Byte map of one wire unit. Bytes ascend on the wire, protocol ID low byte first.
    pub mod map: 68 bytes = "cxl68.unit" {
        source: "cxl-68b §1.1";
        /// Protocol ID, added by the physical layer.
        PID = [0 +: 2];
        /// Slot 0; in a protocol flit its bits 31:0 are the flit header.
        SLOT0 = [2 +: 16];
        /// Slot 1.
        SLOT1 = [18 +: 16];
        /// Slot 2.
        SLOT2 = [34 +: 16];
        /// Slot 3.
        SLOT3 = [50 +: 16];
        /// CRC of CXL.cachemem; zero in ALMP and NULL; reserved in CXL.io.
        TAIL = [66 +: 2];
    }
}

/// Bytes of one wire unit.
pub const UNIT_BYTES: usize = map::LEN;
/// Bytes of the payload: four slots.
pub const PAYLOAD_BYTES: usize = 64;
/// Bytes of a slot, and of a data chunk.
pub const SLOT_BYTES: usize = 16;
/// Place of the CRC, for messages to people.
pub const CRC_AT: &str = "byte 66";

const SLOTS: [core::ops::Range<usize>; 4] = [map::SLOT0, map::SLOT1, map::SLOT2, map::SLOT3];

/// One unit of the link.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cxl68Unit(pub [u8; UNIT_BYTES]);

impl Cxl68Unit {
    /// A unit with payload and protocol ID and a CRC over the payload.
    #[inline]
    pub fn cachemem(pid: u16, payload: &[u8; PAYLOAD_BYTES]) -> Cxl68Unit {
        let mut unit = Cxl68Unit::plain(pid, payload);
        unit.set_tail(crc16::cxl68(payload));
        unit
    }

    /// A unit with payload and protocol ID whose tail is zero (ALMP, NULL).
    #[inline]
    pub fn plain(pid: u16, payload: &[u8; PAYLOAD_BYTES]) -> Cxl68Unit {
        let mut bytes = [0; UNIT_BYTES];
        bytes[map::PID].copy_from_slice(&pid.to_le_bytes());
        bytes[map::SLOT0.start..map::SLOT3.end].copy_from_slice(payload);
        Cxl68Unit(bytes)
    }

    /// A unit of four slots, with protocol ID and CRC.
    // In line: the caller of a function would copy the unit out of stores that overlap the copy, 13 ns instead of 6.
    #[inline]
    pub fn from_slots(pid: u16, slots: &[u128; 4]) -> Cxl68Unit {
        let mut unit = Cxl68Unit::plain(pid, &payload_of(slots));
        unit.set_tail(crc16::cxl68_slots(slots));
        unit
    }

    /// Reads a byte string.
    ///
    /// # Errors
    /// The length is not 68.
    pub fn from_bytes(bytes: &[u8]) -> Result<Cxl68Unit, FieldError> {
        let unit = bytes.try_into().map_err(|_| FieldError {
            layout: map::FRAME.name,
            fault: FieldFault::Length { found: bytes.len(), expected: UNIT_BYTES, bits: 8 * UNIT_BYTES as u32 },
        })?;
        Ok(Cxl68Unit(unit))
    }

    /// Protocol ID, low byte first on the wire.
    #[inline]
    pub fn pid(&self) -> u16 {
        u16::from_le_bytes([self.0[0], self.0[1]])
    }

    /// The 64 payload bytes.
    #[inline]
    pub fn payload(&self) -> &[u8; PAYLOAD_BYTES] {
        self.0[map::SLOT0.start..map::SLOT3.end].try_into().expect("the map says 64 bytes")
    }

    /// The bytes of a slot, 0 to 3.
    #[inline]
    pub fn slot_bytes(&self, n: usize) -> &[u8; SLOT_BYTES] {
        self.0[SLOTS[n].clone()].try_into().expect("the map says 16 bytes")
    }

    /// A slot, 0 to 3; bit 0 of the number is bit 0 of the slot's first byte.
    #[inline]
    pub fn slot(&self, n: usize) -> u128 {
        u128::from_le_bytes(*self.slot_bytes(n))
    }

    /// First byte of a slot within the unit.
    pub const fn slot_byte(n: usize) -> usize {
        2 + SLOT_BYTES * n
    }

    /// The last two bytes, little-endian: the CRC of CXL.cachemem.
    #[inline]
    pub fn tail(&self) -> u16 {
        u16::from_le_bytes([self.0[66], self.0[67]])
    }

    /// Writes the last two bytes.
    #[inline]
    pub fn set_tail(&mut self, tail: u16) {
        self.0[map::TAIL].copy_from_slice(&tail.to_le_bytes());
    }

    /// The CRC that belongs to the payload.
    pub fn expected_crc(&self) -> u16 {
        crc16::cxl68(self.payload())
    }

    /// Whether the CRC fits the payload.
    pub fn crc_ok(&self) -> bool {
        self.tail() == self.expected_crc()
    }
}

impl core::fmt::Debug for Cxl68Unit {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.0.iter().try_for_each(|b| write!(f, "{b:02x}"))
    }
}

/// Payload bytes of four slots.
#[inline]
pub fn payload_of(slots: &[u128; 4]) -> [u8; PAYLOAD_BYTES] {
    let mut payload = [0; PAYLOAD_BYTES];
    for (bytes, slot) in payload.chunks_exact_mut(SLOT_BYTES).zip(slots) {
        bytes.copy_from_slice(&slot.to_le_bytes());
    }
    payload
}

/// Four slots of payload bytes.
pub fn slots_of(payload: &[u8; PAYLOAD_BYTES]) -> [u128; 4] {
    core::array::from_fn(|n| {
        u128::from_le_bytes(payload[SLOT_BYTES * n..][..SLOT_BYTES].try_into().expect("a slot is 16 bytes"))
    })
}
