//! Code tables (`ualink` §3, §6, §9, §10, §12).

use crate::wire_enum;

wire_enum! {
    /// What a flit header says. 00x is the explicit format, 01x the command format, 1xx is reserved.
    pub FlitOp: 3 bits, rule "UAL-FLH-03", source "ualink §3" {
        /// Explicit: sent for the first time, or a NOP.
        Original = 0,
        /// Explicit: payload that is sent again.
        Replayed = 1,
        /// Command: acknowledges up to a number.
        Ack = 2,
        /// Command: asks for everything from a number on.
        ReplayRequest = 3,
    }
}

impl FlitOp {
    /// Whether the header has the command format.
    pub const fn is_command(self) -> bool {
        self.0 >> 1 == 1
    }
}

wire_enum! {
    /// Class of a DL message.
    pub MsgClass: 4 bits, rule "UAL-MSG-02", source "ualink §6" {
        /// No-Op, rate, identities.
        Basic = 0,
        /// Byte stream between firmware.
        Uart = 1,
        /// Channel negotiation.
        Control = 8,
    }
}

wire_enum! {
    /// What a device is.
    pub DeviceType: 2 bits, rule "UAL-MSG-05", source "ualink §6" {
        /// Switch.
        Switch = 0,
        /// Accelerator.
        Accelerator = 1,
    }
}

wire_enum! {
    /// Command of a channel negotiation.
    pub ChannelCommand: 4 bits, rule "UAL-MSG-07", source "ualink §6" {
        /// Asks for a state.
        Request = 4,
        /// Agrees.
        Ack = 6,
        /// Refuses.
        Nack = 7,
        /// Decides later.
        Pending = 8,
    }
}

wire_enum! {
    /// Kind of a field in a Control half.
    pub FieldType: 4 bits, rule "UAL-TLF-03", source "ualink §9" {
        /// Credits; all zero: NOP.
        FlowControl = 0,
        /// Request, 4 sectors.
        Request = 1,
        /// Response, 2 sectors.
        Response = 2,
        /// Compressed request, 2 sectors.
        CompressedRequest = 3,
        /// Compressed read response of one beat, 1 sector.
        CompressedSingle = 4,
        /// Compressed write response or read response of all beats, 1 sector.
        CompressedMulti = 5,
    }
}

wire_enum! {
    /// Command of a request. Bit 5: originator data follows.
    pub ReqCmd: 6 bits, rule "UAL-UPL-02", source "ualink §12" {
        /// Read.
        Read = 0x03,
        /// Vendor read 0.
        VendorRead0 = 0x08,
        /// Vendor read 1.
        VendorRead1 = 0x09,
        /// Vendor read 2.
        VendorRead2 = 0x0a,
        /// Vendor read 3.
        VendorRead3 = 0x0b,
        /// Vendor read 4.
        VendorRead4 = 0x0c,
        /// Vendor read 5.
        VendorRead5 = 0x0d,
        /// Vendor read 6.
        VendorRead6 = 0x0e,
        /// Vendor read 7.
        VendorRead7 = 0x0f,
        /// Write under byte enables.
        Write = 0x28,
        /// Write of all bytes.
        WriteFull = 0x29,
        /// Message from UPLI to UPLI.
        WriteMessage = 0x2a,
        /// Vendor write 0.
        VendorWrite0 = 0x2c,
        /// Vendor write 1.
        VendorWrite1 = 0x2d,
        /// Vendor write 2.
        VendorWrite2 = 0x2e,
        /// Vendor write 3.
        VendorWrite3 = 0x2f,
        /// Atomic that returns the old value.
        AtomicR = 0x30,
        /// Atomic without return value.
        AtomicNR = 0x32,
        /// Vendor atomic 0.
        VendorAtomic0 = 0x3c,
        /// Vendor atomic 1.
        VendorAtomic1 = 0x3d,
        /// Vendor atomic 2.
        VendorAtomic2 = 0x3e,
        /// Vendor atomic 3.
        VendorAtomic3 = 0x3f,
    }
}

impl ReqCmd {
    /// Whether originator data follows: CMD\[5\] (`ualink` §12).
    pub const fn has_data(self) -> bool {
        self.0 >> 5 & 1 == 1
    }

    /// Whether it is of the atomic class: CMD\[5:4\] = 11 (`ualink` §12).
    pub const fn is_atomic(self) -> bool {
        self.0 >> 4 == 3
    }
}

wire_enum! {
    /// Command of a compressed request.
    pub CompressedCmd: 3 bits, rule "UAL-FLD-03", source "ualink §10" {
        /// Read.
        Read = 0,
        /// Write under byte enables.
        Write = 4,
        /// Write of all bytes.
        WriteFull = 6,
    }
}

wire_enum! {
    /// Whether a response answers a read or a write (polarity of the uncompressed form is our choice, \[D\]).
    pub RdWr: 1 bits, rule "UAL-FLD-10", source "ualink §10" {
        /// Answers a write.
        Write = 0,
        /// Answers a read.
        Read = 1,
    }
}

wire_enum! {
    /// Where a returned credit belongs: the opposite of the POOL bit of requests and responses (`ualink` §16 X14).
    pub CreditTarget: 1 bits, rule "UAL-FLD-09", source "ualink §10" {
        /// To the pool.
        Pool = 0,
        /// To the virtual channel in `vc`.
        Vc = 1,
    }
}

wire_enum! {
    /// Status of a response.
    pub Status: 4 bits, rule "UAL-UPL-03", source "ualink §12" {
        /// Good.
        OKAY = 0,
        /// The target gave up.
        TargetAbort = 2,
        /// Nobody has the address.
        DecodeError = 3,
        /// Not allowed.
        ProtectionViolation = 6,
        /// No answer in time.
        CompletionTimeout = 8,
        /// Write response from the TL to the accelerator originator: go into isolation.
        ISOLATE = 15,
    }
}

wire_enum! {
    /// Size of an atomic operand, in ReqAttr\[3:2\].
    pub AtomicSize: 2 bits, rule "UAL-UPL-04", source "ualink §12" {
        /// 32 bits.
        Bits32 = 0,
        /// 64 bits.
        Bits64 = 1,
        /// 16 bits.
        Bits16 = 2,
        /// 8 bits.
        Bits8 = 3,
    }
}

wire_enum! {
    /// Type of a message half-flit, its byte 0.
    pub HalfType: 8 bits, rule "UAL-SQN-08", source "ualink §9" {
        /// Nothing.
        NOP = 0x00,
        /// The initial credits are all there; payload bit 0: shared data buffer.
        InitialCreditsDone = 0x01,
        /// Stands for a data half that is known to be wrong.
        Poison = 0x20,
    }
}

wire_enum! {
    /// Type of a control block of 64B/66B that a UALink port sends.
    pub BlockType: 8 bits, rule "UAL-PHY-03", source "ualink §13" {
        /// Idle.
        Idle = 0x1e,
        /// Ordered set.
        OrderedSet = 0x4b,
        /// Start.
        Start = 0x78,
    }
}

wire_enum! {
    /// Lane-3 byte of a fault ordered set.
    pub FaultCode: 8 bits, rule "UAL-PHY-03", source "ualink §13" {
        /// Local fault.
        Local = 1,
        /// Remote fault.
        Remote = 2,
        /// Link interruption.
        LinkInterruption = 3,
    }
}
