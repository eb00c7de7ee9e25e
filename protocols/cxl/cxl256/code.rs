//! Code tables of the 256B messages (`cxl-256b` section 4).
//!
//! Tables that 68B mode has in the same form are taken from there; the layouts name the rule of this mode. Where the
//! sheet says that a later revision withdraws a code, the code has its name here and [`WITHDRAWN`] lists it.

pub use crate::cxl::cxl68::code::{
    D2hReqOpcode, D2hRspOpcode, DevLoad, GoState, H2dReqOpcode, RspPre, SnpType, VlsmInstance,
};

use super::Class;
use crate::wire_enum;

wire_enum! {
    /// H2D Rsp opcode. Code 12 (Fast_GO) is reserved unless `Cxl256Config::fast_go` is set.
    pub H2dRspOpcode: 4 bits, rule "CXL256-ENC-04", source "cxl-256b §4.1" {
        /// Send the data; RspData is the UQID.
        WritePull = 1,
        /// Globally observed; RspData holds the state.
        GO = 4,
        /// Both; RspData is the UQID.
        GO_WritePull = 5,
        /// Write is visible in memory.
        ExtCmp = 6,
        /// Globally observed, data not wanted; RspData is the UQID.
        GO_WritePull_Drop = 8,
        /// Early GO and pull; RspData is the UQID.
        Fast_GO_WritePull = 13,
        /// Error, data is pulled and dropped; RspData is the UQID.
        GO_ERR_WritePull = 15,
    }
}

/// The H2D Rsp code that one source names Fast_GO and others reserve (`cxl-256b` §4.1, contradiction).
pub const FAST_GO: H2dRspOpcode = H2dRspOpcode(12);

wire_enum! {
    /// M2S Req opcode.
    pub M2sReqOpcode: 4 bits, rule "CXL256-ENC-06", source "cxl-256b §4.2" {
        /// Invalidate: ask for ownership, no data.
        MemInv = 0,
        /// Read with meta state.
        MemRd = 1,
        /// Read, data only.
        MemRdData = 2,
        /// The device forwards the data itself.
        MemRdFwd = 3,
        /// The device keeps the data of its write.
        MemWrFwd = 4,
        /// MemRd in a trusted environment.
        MemRdTEE = 5,
        /// MemRdData in a trusted environment.
        MemRdDataTEE = 6,
        /// MemInv in a trusted environment; withdrawn by a later revision.
        MemInvTEE = 7,
        /// Speculative read, no completion.
        MemSpecRd = 8,
        /// Invalidate, not temporal.
        MemInvNT = 9,
        /// The host evicted a clean line.
        MemClnEvct = 10,
        /// Invalidate of a private line in a trusted environment; withdrawn by a later revision.
        MemInvPTEE = 11,
        /// MemSpecRd in a trusted environment.
        MemSpecRdTEE = 12,
        /// Update of a trusted environment.
        TEUpdate = 13,
        /// MemClnEvct in a trusted environment; withdrawn by a later revision.
        MemClnEvctTEE = 14,
        /// MemClnEvct without knowledge; withdrawn by a later revision.
        MemClnEvctU = 15,
    }
}

wire_enum! {
    /// M2S RwD opcode.
    pub M2sRwdOpcode: 4 bits, rule "CXL256-ENC-07", source "cxl-256b §4.2" {
        /// Write of a whole line.
        MemWr = 1,
        /// Write under byte enables, which stand in the trailer.
        MemWrPtl = 2,
        /// The host saw a conflict; 64 bytes of zero follow.
        BIConflict = 4,
        /// Read that fills; 64 bytes of zero follow.
        MemRdFill = 5,
        /// MemWr in a trusted environment.
        MemWrTEE = 9,
        /// MemWrPtl in a trusted environment.
        MemWrPtlTEE = 10,
        /// MemRdFill in a trusted environment.
        MemRdFillTEE = 13,
    }
}

wire_enum! {
    /// Which meta field a CXL.mem message reads or updates.
    pub MetaField: 2 bits, rule "CXL256-ENC-11", source "cxl-256b §4.4" {
        /// Meta0-State.
        Meta0State = 0,
        /// Extended metadata, in the trailer.
        EMS = 1,
        /// None.
        NoOp = 3,
    }
}

wire_enum! {
    /// Value of Meta0-State.
    pub MetaValue: 2 bits, rule "CXL256-ENC-11", source "cxl-256b §4.4" {
        /// No host has a copy.
        Invalid = 0,
        /// No change is asked.
        ExplicitNoOp = 1,
        /// A host may have a copy in any state.
        Any = 2,
        /// A host may have a shared copy.
        Shared = 3,
    }
}

wire_enum! {
    /// S2M BISnp opcode.
    pub BisnpOpcode: 4 bits, rule "CXL256-ENC-09", source "cxl-256b §4.3" {
        /// Back-invalidate snoop for the current value.
        BISnpCur = 0,
        /// For a shared copy.
        BISnpData = 1,
        /// Invalidate.
        BISnpInv = 2,
        /// BISnpCur of a block; address bits 7:6 say which part of it.
        BISnpCurBlk = 4,
        /// BISnpData of a block.
        BISnpDataBlk = 5,
        /// BISnpInv of a block.
        BISnpInvBlk = 6,
        /// BISnpCur in a trusted environment; withdrawn by a later revision.
        BISnpCurTEE = 8,
        /// BISnpData in a trusted environment; withdrawn by a later revision.
        BISnpDataTEE = 9,
        /// BISnpInv in a trusted environment; withdrawn by a later revision.
        BISnpInvTEE = 10,
        /// BISnpCurBlk in a trusted environment; withdrawn by a later revision.
        BISnpCurBlkTEE = 12,
        /// BISnpDataBlk in a trusted environment; withdrawn by a later revision.
        BISnpDataBlkTEE = 13,
        /// BISnpInvBlk in a trusted environment; withdrawn by a later revision.
        BISnpInvBlkTEE = 14,
    }
}

impl BisnpOpcode {
    /// Whether it concerns a block of 256 bytes, so that address bits 7:6 are a chunk code (`cxl-256b` §4.6).
    pub const fn is_block(self) -> bool {
        matches!(self.0, 4..=6 | 12..=14)
    }
}

wire_enum! {
    /// M2S BIRsp opcode.
    pub BirspOpcode: 4 bits, rule "CXL256-ENC-09", source "cxl-256b §4.3" {
        /// The host has no copy.
        BIRspI = 0,
        /// The host has a shared copy.
        BIRspS = 1,
        /// The host has an exclusive copy.
        BIRspE = 2,
        /// BIRspI for a part of a block.
        BIRspIBlk = 4,
        /// BIRspS for a part of a block.
        BIRspSBlk = 5,
        /// BIRspE for a part of a block.
        BIRspEBlk = 6,
    }
}

impl BirspOpcode {
    /// Whether it concerns a block of 256 bytes (`cxl-256b` §4.6).
    pub const fn is_block(self) -> bool {
        matches!(self.0, 4..=6)
    }
}

wire_enum! {
    /// S2M NDR opcode.
    pub NdrOpcode: 3 bits, rule "CXL256-ENC-10", source "cxl-256b §4.3" {
        /// Completion.
        Cmp = 0,
        /// Completion, shared state granted.
        CmpS = 1,
        /// Completion, exclusive state granted.
        CmpE = 2,
        /// Completion, modified state granted.
        CmpM = 3,
        /// Answer to BIConflict.
        BIConflictAck = 4,
        /// Cmp in a trusted environment.
        CmpTEE = 5,
        /// CmpS in a trusted environment; withdrawn by a later revision.
        CmpSTEE = 6,
        /// CmpE in a trusted environment; withdrawn by a later revision.
        CmpETEE = 7,
    }
}

wire_enum! {
    /// S2M DRS opcode.
    pub DrsOpcode: 3 bits, rule "CXL256-ENC-10", source "cxl-256b §4.3" {
        /// Data.
        MemData = 0,
        /// Data of an address that does not exist.
        MemDataNXM = 1,
        /// MemData in a trusted environment.
        MemDataTEE = 2,
    }
}

wire_enum! {
    /// Which part of a 256-byte block a BISnp*Blk concerns, in address bits 7:6.
    pub BlockChunk: 2 bits, rule "CXL256-ENC-12", source "cxl-256b §4.6" {
        /// Lower 128 bytes.
        Lower128 = 1,
        /// Upper 128 bytes.
        Upper128 = 2,
        /// All 256 bytes.
        Whole = 3,
    }
}

wire_enum! {
    /// What a flit carries.
    pub FlitType: 2 bits, rule "CXL256-TYP-01", source "cxl-256b §1.4" {
        /// Nothing: NOP of the physical layer or of CXL.io, IDLE.
        Nop = 0,
        /// CXL.io payload.
        Io = 1,
        /// CXL.cachemem payload, or Empty.
        Cachemem = 2,
        /// ARB/MUX link management packet.
        Almp = 3,
    }
}

wire_enum! {
    /// What the sequence field of the flit header means.
    pub ReplayCommand: 2 bits, rule "CXL256-HDR-01", source "cxl-256b §1.3" {
        /// This flit's own number.
        Explicit = 0,
        /// The last number received well.
        Ack = 1,
        /// Resend everything behind this number.
        NakStandard = 2,
        /// Resend the one flit behind this number.
        NakSelective = 3,
    }
}

wire_enum! {
    /// Link-layer control class of a control slot.
    pub LlCtrl: 4 bits, rule "CXL256-CTL-02", source "cxl-256b §6" {
        /// Integrity and encryption.
        IDE = 2,
        /// In-band error.
        Error = 3,
        /// Link initialisation.
        INIT = 12,
    }
}

wire_enum! {
    /// State in an ALMP.
    pub VlsmState: 4 bits, rule "CXL256-ALM-02", source "cxl-256b §6" {
        /// Reset (Status only).
        Reset = 0,
        /// Active.
        Active = 1,
        /// Active, power management refused (Status only).
        ActivePMNAK = 2,
        /// Deepest allowable power state (Request only).
        Dapm = 3,
        /// L1.0.
        L1_0 = 4,
        /// L1.1.
        L1_1 = 5,
        /// L1.2.
        L1_2 = 6,
        /// L1.3.
        L1_3 = 7,
        /// L2.
        L2 = 8,
        /// Retrain.
        Retrain = 11,
    }
}

wire_enum! {
    /// Link width in an L0p ALMP.
    pub L0pWidth: 4 bits, rule "CXL256-ALM-02", source "cxl-256b §6" {
        /// 16 lanes.
        X16 = 0,
        /// 8 lanes.
        X8 = 1,
        /// 4 lanes.
        X4 = 2,
        /// 2 lanes.
        X2 = 3,
        /// 1 lane.
        X1 = 4,
        /// The request is refused.
        NAK = 8,
    }
}

/// Opcodes that a later revision withdraws (`cxl-256b` §4.2, §4.3); class, code, rule.
pub const WITHDRAWN: [(Class, u8, &str); 12] = [
    (Class::M2sReq, 7, "CXL256-ENC-06"),
    (Class::M2sReq, 11, "CXL256-ENC-06"),
    (Class::M2sReq, 14, "CXL256-ENC-06"),
    (Class::M2sReq, 15, "CXL256-ENC-06"),
    (Class::S2mBisnp, 8, "CXL256-ENC-09"),
    (Class::S2mBisnp, 9, "CXL256-ENC-09"),
    (Class::S2mBisnp, 10, "CXL256-ENC-09"),
    (Class::S2mBisnp, 12, "CXL256-ENC-09"),
    (Class::S2mBisnp, 13, "CXL256-ENC-09"),
    (Class::S2mBisnp, 14, "CXL256-ENC-09"),
    (Class::S2mNdr, 6, "CXL256-ENC-10"),
    (Class::S2mNdr, 7, "CXL256-ENC-10"),
];
