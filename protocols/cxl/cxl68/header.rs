//! The 32-bit flit header of a protocol flit (`cxl-68b` §1.5).

use super::credit::CODES;
use crate::layout;

layout! {
    /// Flit header, flit bits 31:0. Credits stand in the order Rsp, Req, Data.
    pub struct FlitHeader: 32 bits = "cxl68.flit_header" {
        source: "cxl-68b §1.5", basis: Spec, rule: "CXL68-HDR-02";
        /// 0 protocol, 1 control.
        flit_type: bool = [0 +: 1];
        /// Reserved.
        rsvd: u8 = [1 +: 1], reserved;
        /// Acknowledges 8 received flits.
        ak: bool = [2 +: 1];
        /// A byte-enable chunk follows the data of the message that begins here.
        be: bool = [3 +: 1];
        /// 1: 64 B of data (4 chunks), 0: 32 B (2 chunks).
        sz: bool = [4 +: 1];
        /// H format of slot 0.
        slot0: u8 = [5 +: 3];
        /// G format of slot 1.
        slot1: u8 = [8 +: 3];
        /// G format of slot 2.
        slot2: u8 = [11 +: 3];
        /// G format of slot 3.
        slot3: u8 = [14 +: 3];
        /// Reserved.
        rsvd1: u8 = [17 +: 3], reserved;
        /// Response credits returned: for D2H Rsp and S2M NDR in a flit that travels down, for H2D Rsp in one up.
        rsp_crd: u8 = [20 +: 4], numbers CODES;
        /// Request credits returned: for D2H Req in a flit that travels down, for H2D Req and M2S Req in one up.
        req_crd: u8 = [24 +: 4], numbers CODES;
        /// Data credits returned: for D2H Data and S2M DRS in a flit that travels down, for H2D Data and M2S RwD in one up.
        data_crd: u8 = [28 +: 4], numbers CODES;
    }
}

impl FlitHeader {
    /// Format code of a slot, 0 to 3.
    pub const fn slot(&self, n: usize) -> u8 {
        [self.slot0, self.slot1, self.slot2, self.slot3][n]
    }

    /// Sets the format code of a slot, 0 to 3.
    pub fn set_slot(&mut self, n: usize, code: u8) {
        *[&mut self.slot0, &mut self.slot1, &mut self.slot2, &mut self.slot3][n] = code;
    }
}
