//! The flit header (`cxl-256b` §1.3).

use super::code::{FlitType, ReplayCommand};
use crate::layout;

layout! {
    /// Flit header, flit bytes 0 and 1, high byte first: example `A1 23`.
    pub struct FlitHeader: 16 bits = "cxl256.flit_header" {
        source: "cxl-256b §1.3 (A)", basis: Spec, rule: "CXL256-HDR-01", order: Big;
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

/// Largest sequence number of a payload flit; 1 follows (`cxl-256b` §9).
pub const MAX_SEQ: u16 = 1023;

impl FlitHeader {
    /// The first legal `seq` of a stream (`cxl-256b` §9, start values): 1 for a payload flit that states its number. A
    /// NOP states the number before that, which is 0 at the start alone. An Ack or Nak names the last number that came
    /// well, which before the first one is 1023.
    pub fn first_seq(&self) -> u16 {
        match self.command {
            ReplayCommand::Explicit => u16::from(self.flit_type != FlitType::Nop),
            _ => MAX_SEQ,
        }
    }

    /// Whether `seq` is the reserved number 0 in a payload flit, where neither the flit's own number nor an acknowledged
    /// one can be 0 (`cxl-256b` §9).
    pub fn names_zero(&self) -> bool {
        self.flit_type != FlitType::Nop && self.seq == 0
    }
}
