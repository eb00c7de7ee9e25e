//! Code tables of the 68B messages (`cxl-68b` section 4). Only codes that are legal in 68B mode have a row: a code that
//! the sheet reserves in this mode is reserved here.

use crate::wire_enum;

wire_enum! {
    /// M2S Req opcode. TEE codes, MemClnEvct and later additions are reserved in 68B mode.
    pub M2sReqOpcode: 4 bits, rule "CXL68-ENC-01", source "cxl-68b §4.1" {
        /// Invalidate: ask for ownership, no data.
        MemInv = 0,
        /// Read with meta state.
        MemRd = 1,
        /// Read, data only.
        MemRdData = 2,
        /// Answer to a D2H read: data is forwarded by the device itself; Tag is the CQID.
        MemRdFwd = 3,
        /// Answer to a D2H write: the device keeps the data; Tag is the CQID.
        MemWrFwd = 4,
        /// Speculative read, no completion; Tag, Meta and SnpType reserved.
        MemSpecRd = 8,
        /// Invalidate, not temporal.
        MemInvNT = 9,
    }
}

wire_enum! {
    /// M2S RwD opcode.
    pub M2sRwdOpcode: 4 bits, rule "CXL68-ENC-02", source "cxl-68b §4.2" {
        /// Write of a whole line.
        MemWr = 1,
        /// Write under byte enables.
        MemWrPtl = 2,
    }
}

wire_enum! {
    /// Snoop that a CXL.mem request asks of the device.
    pub SnpType: 3 bits, rule "CXL68-ENC-03", source "cxl-68b §4.3" {
        /// No snoop.
        NoOp = 0,
        /// Snoop for a shared copy.
        SnpData = 1,
        /// Snoop for the current value.
        SnpCur = 2,
        /// Snoop and invalidate.
        SnpInv = 3,
    }
}

wire_enum! {
    /// Which meta field a CXL.mem message reads or updates.
    pub MetaField: 2 bits, rule "CXL68-ENC-04", source "cxl-68b §4.4" {
        /// Meta0-State.
        Meta0State = 0,
        /// None.
        NoOp = 3,
    }
}

wire_enum! {
    /// Value of Meta0-State.
    pub MetaValue: 2 bits, rule "CXL68-ENC-04", source "cxl-68b §4.4" {
        /// No host has a copy.
        Invalid = 0,
        /// A host may have a copy in any state.
        Any = 2,
        /// A host may have a shared copy.
        Shared = 3,
    }
}

wire_enum! {
    /// S2M NDR opcode.
    pub NdrOpcode: 3 bits, rule "CXL68-ENC-05", source "cxl-68b §4.5" {
        /// Completion.
        Cmp = 0,
        /// Completion, shared state granted.
        CmpS = 1,
        /// Completion, exclusive state granted.
        CmpE = 2,
    }
}

wire_enum! {
    /// S2M DRS opcode.
    pub DrsOpcode: 3 bits, rule "CXL68-ENC-06", source "cxl-68b §4.6" {
        /// Data.
        MemData = 0,
        /// Data of an address that does not exist; of later revisions, decoded and not sent by default.
        MemDataNXM = 1,
    }
}

wire_enum! {
    /// Load that a memory device reports.
    pub DevLoad: 2 bits, rule "CXL68-ENC-07", source "cxl-68b §4.7" {
        /// Light load.
        Light = 0,
        /// Optimal load.
        Optimal = 1,
        /// Moderate overload.
        Moderate = 2,
        /// Severe overload.
        Severe = 3,
    }
}

wire_enum! {
    /// D2H Req opcode.
    pub D2hReqOpcode: 5 bits, rule "CXL68-ENC-08", source "cxl-68b §4.8" {
        /// Read the current value, no state.
        RdCurr = 1,
        /// Read for ownership.
        RdOwn = 2,
        /// Read shared.
        RdShared = 3,
        /// Read, any state.
        RdAny = 4,
        /// Ownership without data.
        RdOwnNoData = 5,
        /// Write of a whole line.
        ItoMWr = 6,
        /// Write of a current value (MemWr in 1.1 and 2.0).
        WrCur = 7,
        /// Flush a line.
        CLFlush = 8,
        /// Evict a clean line with data.
        CleanEvict = 9,
        /// Evict a modified line.
        DirtyEvict = 10,
        /// Evict a clean line without data.
        CleanEvictNoData = 11,
        /// Weakly ordered write and invalidate, partial.
        WOWrInv = 12,
        /// Weakly ordered write and invalidate, full line.
        WOWrInvF = 13,
        /// Write and invalidate.
        WrInv = 14,
        /// The device's cache is empty.
        CacheFlushed = 16,
    }
}

wire_enum! {
    /// D2H Rsp opcode: state seen, state left.
    pub D2hRspOpcode: 5 bits, rule "CXL68-ENC-09", source "cxl-68b §4.9" {
        /// Miss, I left.
        RspIHitI = 4,
        /// V seen, V left.
        RspVHitV = 6,
        /// S or E seen, I left.
        RspIHitSE = 5,
        /// S or E seen, S left.
        RspSHitSE = 1,
        /// M forwarded, S left.
        RspSFwdM = 7,
        /// M forwarded, I left.
        RspIFwdM = 15,
        /// Value forwarded, state kept.
        RspVFwdV = 22,
    }
}

wire_enum! {
    /// H2D Req opcode (snoops).
    pub H2dReqOpcode: 3 bits, rule "CXL68-ENC-10", source "cxl-68b §4.10" {
        /// Snoop for a shared copy.
        SnpData = 1,
        /// Snoop and invalidate.
        SnpInv = 2,
        /// Snoop for the current value.
        SnpCur = 3,
    }
}

wire_enum! {
    /// H2D Rsp opcode.
    pub H2dRspOpcode: 4 bits, rule "CXL68-ENC-11", source "cxl-68b §4.11" {
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
        /// Early GO.
        Fast_GO = 12,
        /// Early GO and pull; RspData is the UQID.
        Fast_GO_WritePull = 13,
        /// Error, data is pulled and dropped; RspData is the UQID.
        GO_ERR_WritePull = 15,
    }
}

wire_enum! {
    /// Cache state of a GO, in RspData bits 3:0.
    pub GoState: 4 bits, rule "CXL68-ENC-12", source "cxl-68b §4.11" {
        /// Shared.
        Shared = 1,
        /// Exclusive.
        Exclusive = 2,
        /// Invalid.
        Invalid = 3,
        /// Error.
        Error = 4,
        /// Modified.
        Modified = 6,
    }
}

wire_enum! {
    /// Where the host found the line (RSP_PRE).
    pub RspPre: 2 bits, rule "CXL68-ENC-13", source "cxl-68b §4.11" {
        /// Host miss, local memory.
        MissLocal = 0,
        /// Host hit.
        Hit = 1,
        /// Host miss, remote memory.
        MissRemote = 2,
    }
}

wire_enum! {
    /// Link-layer control class of a control flit.
    pub LlCtrl: 4 bits, rule "CXL68-CTL-02", source "cxl-68b §6.2" {
        /// Credits and acknowledgements.
        LLCRD = 0,
        /// Retry.
        RETRY = 1,
        /// Integrity and encryption.
        IDE = 2,
        /// Link initialisation.
        INIT = 12,
    }
}

wire_enum! {
    /// Rows of an ALMP's state field that 2.0 defines.
    pub VlsmState: 4 bits, rule "CXL68-ALM-02", source "cxl-68b §8.1" {
        /// Reset (Status only).
        Reset = 0,
        /// Active.
        Active = 1,
        /// Deepest allowable power state (Request only).
        Dapm = 3,
        /// L1.0.
        L1_0 = 4,
        /// L1.1, future use.
        L1_1 = 5,
        /// L1.2, future use.
        L1_2 = 6,
        /// L1.3, future use.
        L1_3 = 7,
        /// L2.
        L2 = 8,
        /// Retrain (Status only).
        Retrain = 11,
    }
}

wire_enum! {
    /// Protocol instance of an ALMP.
    pub VlsmInstance: 4 bits, rule "CXL68-ALM-02", source "cxl-68b §8.1" {
        /// CXL.io.
        Io = 1,
        /// CXL.cache and CXL.mem.
        Cachemem = 2,
    }
}
