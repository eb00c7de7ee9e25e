//! ARB/MUX link management packets: four bytes at flit bytes 2 to 5, rest of the body 0 (`cxl-256b` §6).

use super::code::{L0pWidth, VlsmInstance, VlsmState};
use crate::layout;
use crate::wire::{LayoutDef, Wire};

layout! {
    /// Request or Status of a virtual link state machine.
    pub struct Almp: 32 bits = "cxl256.almp" {
        source: "cxl-256b §6 [B]", basis: Spec, rule: "CXL256-ALM-01";
        /// Reserved.
        rsvd: u8 = [0 +: 8], reserved;
        /// Message code, 8: vLSM.
        code: u8 = [8 +: 8], default 8;
        /// vLSM state.
        state: VlsmState = [16 +: 4];
        /// Reserved.
        rsvd1: u8 = [20 +: 3], reserved;
        /// 1 Request, 0 Status.
        request: bool = [23 +: 1];
        /// Which vLSM.
        instance: VlsmInstance = [24 +: 4], rule "CXL256-ALM-02";
        /// Reserved.
        rsvd2: u8 = [28 +: 4], reserved;
    }
}

layout! {
    /// Request or answer about the width of the link (L0p).
    pub struct L0p: 32 bits = "cxl256.almp_l0p" {
        source: "cxl-256b §6 [B]", basis: Spec, rule: "CXL256-ALM-01";
        /// Reserved.
        rsvd: u8 = [0 +: 8], reserved;
        /// Message code, 1: L0p.
        code: u8 = [8 +: 8], default 1;
        /// Reserved.
        rsvd1: u8 = [16 +: 6], reserved;
        /// Priority of the request.
        prio: bool = [22 +: 1];
        /// 1 Request, 0 Status.
        request: bool = [23 +: 1];
        /// 4: the link.
        instance: u8 = [24 +: 4], default 4;
        /// Width that is asked or answered.
        width: L0pWidth = [28 +: 4];
    }
}

/// Message code of a vLSM ALMP.
pub const VLSM_CODE: u8 = 8;
/// Message code of an L0p ALMP.
pub const L0P_CODE: u8 = 1;
/// Bytes of an ALMP.
pub const ALMP_BYTES: usize = 4;

/// The layout of an ALMP by its message code; an unknown code is shown as vLSM.
pub fn def(word: u32) -> &'static LayoutDef {
    if word >> 8 & 0xff == u32::from(L0P_CODE) { L0p::DEF } else { Almp::DEF }
}
