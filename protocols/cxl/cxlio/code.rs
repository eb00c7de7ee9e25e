//! Code tables of CXL.io (`cxl-io` sections 1 to 3 and 6).

use crate::wire_enum;

wire_enum! {
    /// Completion status. The sheet lists RRS under its older name CRS too.
    pub CplStatus: 3 bits, rule "CXLIO-NFM-05", source "cxl-io §1.3" {
        /// Successful completion.
        SC = 0,
        /// Unsupported request.
        UR = 1,
        /// Request retry status: not ready yet.
        CRS = 2,
        /// Completer abort.
        CA = 4,
    }
}

wire_enum! {
    /// Type of a flit-mode TLP, the whole first byte.
    pub FmType: 8 bits, rule "CXLIO-FMT-03", source "cxl-io §3.3" {
        /// Filler, one DW.
        NOP = 0x00,
        /// Locked memory read, 32-bit address.
        MRdLk32 = 0x01,
        /// I/O read.
        IORd = 0x02,
        /// Memory read, 32-bit address; its code in non-flit mode is 0.
        MRd32 = 0x03,
        /// Configuration read, type 0.
        CfgRd0 = 0x04,
        /// Configuration read, type 1.
        CfgRd1 = 0x05,
        /// Completion without data.
        Cpl = 0x0a,
        /// Completion of a locked read without data.
        CplLk = 0x0b,
        /// Completion of a UIO write.
        UIOWrCpl = 0x0c,
        /// Completion of a UIO read without data.
        UIORdCpl = 0x0d,
        /// Memory read, 64-bit address.
        MRd64 = 0x20,
        /// Locked memory read, 64-bit address.
        MRdLk64 = 0x21,
        /// UIO memory read.
        UIOMRd = 0x22,
        /// Message to the root complex.
        MsgToRc = 0x30,
        /// Message by address.
        MsgByAddress = 0x31,
        /// Message by ID.
        MsgById = 0x32,
        /// Message broadcast from the root complex.
        MsgBroadcast = 0x33,
        /// Message that ends at the receiver.
        MsgLocal = 0x34,
        /// Message gathered and sent to the root complex.
        MsgGathered = 0x35,
        /// Memory write, 32-bit address.
        MWr32 = 0x40,
        /// I/O write.
        IOWr = 0x42,
        /// Configuration write, type 0.
        CfgWr0 = 0x44,
        /// Configuration write, type 1.
        CfgWr1 = 0x45,
        /// Completion of a UIO read with data.
        UIORdCplD = 0x48,
        /// Completion with data.
        CplD = 0x4a,
        /// Completion of a locked read with data.
        CplDLk = 0x4b,
        /// Fetch and add, 32-bit address.
        FetchAdd32 = 0x4c,
        /// Unconditional swap, 32-bit address.
        Swap32 = 0x4d,
        /// Compare and swap, 32-bit address.
        CAS32 = 0x4e,
        /// Deferrable memory write, 32-bit address.
        DMWr32 = 0x5b,
        /// Memory write, 64-bit address.
        MWr64 = 0x60,
        /// UIO memory write.
        UIOMWr = 0x61,
        /// Fetch and add, 64-bit address.
        FetchAdd64 = 0x6c,
        /// Unconditional swap, 64-bit address.
        Swap64 = 0x6d,
        /// Compare and swap, 64-bit address.
        CAS64 = 0x6e,
        /// Message with data to the root complex.
        MsgDToRc = 0x70,
        /// Message with data by address.
        MsgDByAddress = 0x71,
        /// Message with data by ID.
        MsgDById = 0x72,
        /// Message with data broadcast from the root complex.
        MsgDBroadcast = 0x73,
        /// Message with data that ends at the receiver.
        MsgDLocal = 0x74,
        /// Message with data gathered and sent to the root complex.
        MsgDGathered = 0x75,
        /// Deferrable memory write, 64-bit address.
        DMWr64 = 0x7b,
        /// Flit-mode prefix.
        FlitModePrefix = 0x8d,
        /// Vendor-defined local prefix 0; CXL carries LD-ID or PBR-ID in it.
        VendorPrefix0 = 0x8e,
        /// Vendor-defined local prefix 1.
        VendorPrefix1 = 0x8f,
    }
}

wire_enum! {
    /// Type of a DLLP that is not about flow control, the whole first byte.
    pub DllpType: 8 bits, rule "CXLIO-DLL-01", source "cxl-io §2.1" {
        /// Acknowledges TLPs up to a sequence number.
        Ack = 0x00,
        /// Initialises multi-root use.
        MRInit = 0x01,
        /// Data link features.
        Feature = 0x02,
        /// Asks for TLPs again, from the one behind a sequence number.
        Nak = 0x10,
        /// Asks for L1.
        PmEnterL1 = 0x20,
        /// Asks for L2 or L3.
        PmEnterL23 = 0x21,
        /// Asks for L1 while active.
        PmActiveStateRequestL1 = 0x23,
        /// Grants a power state.
        PmRequestAck = 0x24,
        /// Vendor-defined.
        Vendor = 0x30,
        /// Nothing.
        NOP = 0x31,
    }
}

wire_enum! {
    /// Type of a flow-control DLLP, the upper half of its first byte; P posted, Np non-posted, Cpl completions.
    pub FcType: 4 bits, rule "CXLIO-DLL-01", source "cxl-io §2.1" {
        /// First step of initialisation, posted.
        InitFc1P = 0x4,
        /// First step of initialisation, non-posted.
        InitFc1Np = 0x5,
        /// First step of initialisation, completions.
        InitFc1Cpl = 0x6,
        /// Credits returned, posted.
        UpdateFcP = 0x8,
        /// Credits returned, non-posted.
        UpdateFcNp = 0x9,
        /// Credits returned, completions.
        UpdateFcCpl = 0xa,
        /// Second step of initialisation, posted.
        InitFc2P = 0xc,
        /// Second step of initialisation, non-posted.
        InitFc2Np = 0xd,
        /// Second step of initialisation, completions.
        InitFc2Cpl = 0xe,
    }
}

wire_enum! {
    /// What a flit marker says about the last TLP of its flit.
    pub LastTlp: 2 bits, rule "CXLIO-DLL-07", source "cxl-io §2.5" {
        /// Nothing.
        Plain = 0,
        /// It is nullified.
        Nullified = 1,
        /// It is poisoned.
        Poisoned = 2,
    }
}

wire_enum! {
    /// Byte 15 of a vendor-defined message of CXL.
    pub VdmCode: 8 bits, rule "CXLIO-VDM-01", source "cxl-io §6" {
        /// Event or error firmware notification.
        Efn = 0x00,
        /// Power management.
        Pm = 0x68,
        /// Fabric message.
        Fabric80 = 0x80,
        /// Fabric message.
        Fabric90 = 0x90,
        /// Fabric message.
        FabricA0 = 0xa0,
        /// Fabric message.
        FabricA1 = 0xa1,
    }
}

wire_enum! {
    /// Opcode of a power management message.
    pub PmOpcode: 8 bits, rule "CXLIO-VDM-02", source "cxl-io §6" {
        /// Capabilities of a power management agent.
        AgentInfo = 0x00,
        /// A reset or a sleep state is coming.
        ResetPrep = 0x02,
        /// Latency tolerance and package states.
        PmReq = 0x04,
        /// Global persistent flush.
        Gpf = 0x06,
        /// Returns power management credits.
        CreditRtn = 0xfe,
    }
}
