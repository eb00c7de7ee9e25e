//! Vendor-defined messages of CXL: the frame, and the payload of power management messages (`cxl-io` §6).
//!
//! Modelled: who is meant, the code, every field of the 16-byte power management payload. Left out: fabric payloads and
//! what agents do with a message.

use super::code::{PmOpcode, VdmCode};
use super::flit_mode::FmMsg;
use super::non_flit_mode::NfmMsg;

/// Message code of Vendor_Defined Type 0.
pub const MESSAGE_CODE: u8 = 0x7e;
/// Vendor ID of CXL, bytes 10 and 11 of the header.
pub const VENDOR_ID: u16 = 0x1e98;

/// The code of a vendor-defined message of CXL from the parts that both modes share; `None`: another message.
fn code_of(message_code: u8, dw2: u32, dw3: u32) -> Option<VdmCode> {
    (message_code == MESSAGE_CODE && dw2 as u16 == VENDOR_ID).then_some(VdmCode(dw3 as u8))
}

/// The code of a CXL message in non-flit mode; `None`: another message.
pub fn code_nfm(header: &NfmMsg) -> Option<VdmCode> {
    code_of(header.message_code, header.dw2, header.dw3)
}

/// The code of a CXL message in flit mode; `None`: another message.
pub fn code_fm(header: &FmMsg) -> Option<VdmCode> {
    code_of(header.message_code, header.dw2, header.dw3)
}

/// Third and fourth DW of a CXL message; `low` are bits 31:8 of the fourth, such as the vector of an EFN in bits 11:8.
pub const fn words(code: VdmCode, low: u32) -> (u32, u32) {
    (VENDOR_ID as u32, low & !0xff | code.0 as u32)
}

/// Firmware interrupt vector of an event or error notification: byte 14, bits 3:0.
pub const fn efn_vector(dw3: u32) -> u8 {
    (dw3 >> 8) as u8 & 0xf
}

/// Payload of a power management message: 16 bytes, byte 0 first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pm {
    /// Which message.
    pub opcode: PmOpcode,
    /// Power management agent, 0 to 127.
    pub agent: u8,
    /// Parameter: bit 0 request; AGENT_INFO has an index in 7:1, PMREQ has GO in bit 2.
    pub parameter: u16,
    /// Payload bits 95:0.
    pub payload: u128,
}

impl Pm {
    /// The bytes that travel; bits that do not fit are lost, bit 7 of byte 1 is 0.
    pub fn to_bytes(&self) -> [u8; 16] {
        let bits = self.payload << 32 | u128::from(self.parameter) << 16 | u128::from(self.agent & 0x7f) << 8;
        (bits | u128::from(self.opcode.0)).to_le_bytes()
    }

    /// Reads the payload; bit 7 of byte 1 is ignored. An unlisted opcode is kept: its receiver drops the message.
    pub fn from_bytes(bytes: [u8; 16]) -> Pm {
        let bits = u128::from_le_bytes(bytes);
        Pm {
            opcode: PmOpcode(bits as u8),
            agent: (bits >> 8) as u8 & 0x7f,
            parameter: (bits >> 16) as u16,
            payload: bits >> 32,
        }
    }

    /// Whether bit 0 of the parameter asks for an answer.
    pub const fn is_request(&self) -> bool {
        self.parameter & 1 == 1
    }
}
