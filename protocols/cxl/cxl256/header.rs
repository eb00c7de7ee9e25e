//! The flit header (`cxl-256b` §1.3).

use super::code::{FlitType, ReplayCommand};
use crate::layout;

layout! {
    /// Flit header, flit bytes 0 and 1, high byte first: example `A1 23`.
    pub struct FlitHeader: 16 bits = "cxl256.flit_header" {
        source: "cxl-256b §1.3 [A]", basis: Spec, rule: "CXL256-HDR-01", order: Big;
        /// Sequence number, this flit's or the one that the command names.
        seq: u16 = [0 +: 10];
        /// What `seq` means.
        command: ReplayCommand = [10 +: 2];
        /// 1: the DLLP field holds Optimized_Update_FC or Flit_Marker; 0 in flits other than CXL.io.
        dllp_type: bool = [12 +: 1];
        /// 1: the flit before was payload, 0: it was NOP or IDLE.
        prior: bool = [13 +: 1];
        /// What the flit carries.
        flit_type: FlitType = [14 +: 2];
    }
}
