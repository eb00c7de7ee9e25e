//! Registers of a bridge between UALink or NVLink and CXL (`bridge` §2, §9.1, §9.9): what manages lines that nobody keeps coherent, the
//! shadow tables of windows, rights and groups of sources, their commit, and errors to inject.
//!
//! Modelled: places and codes in the 4 KiB of the control window, little-endian, registers of 64 bits. The sheet names what they do; their
//! places and codes are our own choice. Left out: windows from CXL to accelerators, which stay as they are, and who may use the registers.
//! They never travel on a link as they stand, so they are not among the messages of a family; the register block takes them from the byte
//! maps here. Bit 0 of a layout is bit 0 of its first byte.
//!
//! A walk: software writes base, size, target and rights of window 3, then the commit; requests that are under way end under the old tables;
//! the epoch is one more, and window 3 is there.

use crate::{frame, layout, wire_enum};

/// Bytes of the control window (`bridge` §9.9).
pub const CONTROL_BYTES: u64 = 4096;
/// Bytes of a register.
pub const BRIDGE_REGISTER_BYTES: usize = 8;
/// Where the registers of windows that are not those of management begin.
pub const BRIDGE_TABLES_AT: usize = 0x40;
/// Where the groups of sources begin.
pub const BRIDGE_GROUPS_AT: usize = 0x400;
/// Sources of a register of groups.
pub const SOURCES_OF_REGISTER: usize = 16;
/// Registers of groups: sources have at most 10 bits (`bridge` §1.1).
pub const BRIDGE_GROUP_REGISTERS: usize = 64;
/// Where window 0 begins.
pub const BRIDGE_WINDOWS_AT: usize = 0x800;
/// Bytes from one window to the next.
pub const BRIDGE_WINDOW_STRIDE: usize = 0x80;
/// Windows of a direction (`bridge` §2).
pub const BRIDGE_WINDOWS: usize = 16;

wire_enum! {
    /// What lines behind a window are (`bridge` §2).
    pub BridgeWindowClass: 4 bits, rule "BRG-REG-03", source "bridge §2" {
        /// CXL.mem to memory that its device keeps coherent (HDM-DB).
        Mc = 0,
        /// CXL.mem to memory that nobody keeps coherent (HDM-H).
        Mn = 1,
        /// CXL.cache to memory of a host.
        Cc = 2,
        /// CXL.io, without coherence.
        Io = 3,
        /// Memory of accelerators of the own cluster that the bridge keeps coherent.
        Hp = 4,
    }
}

wire_enum! {
    /// Bytes in a row at one port of a window.
    pub BridgeGranule: 4 bits, rule "BRG-REG-03", source "bridge §2" {
        /// 256 bytes.
        Bytes256 = 0,
        /// 512 bytes.
        Bytes512 = 1,
        /// 1 KiB.
        Bytes1024 = 2,
        /// 2 KiB.
        Bytes2048 = 3,
        /// 4 KiB.
        Bytes4096 = 4,
        /// 8 KiB.
        Bytes8192 = 5,
        /// 16 KiB.
        Bytes16384 = 6,
    }
}

wire_enum! {
    /// Ports among which a window is dealt.
    pub BridgeWays: 4 bits, rule "BRG-REG-03", source "bridge §2" {
        /// One port.
        Ways1 = 0,
        /// 2 ports.
        Ways2 = 1,
        /// 4 ports.
        Ways4 = 2,
        /// 8 ports.
        Ways8 = 3,
        /// 16 ports.
        Ways16 = 4,
    }
}

wire_enum! {
    /// Why a commit was refused.
    pub BridgeCommitFault: 4 bits, rule "BRG-REG-03", source "bridge §2" {
        /// It was not.
        Taken = 0,
        /// An earlier one waits.
        Busy = 1,
        /// A base, a size or a base on the other side is no multiple of 256 bytes.
        Unaligned = 2,
        /// A window has less than 2 MiB.
        Small = 3,
        /// Addresses of a window do not fit 64 bits.
        Overflow = 4,
        /// A CXL port that there is not.
        Port = 5,
        /// Two windows have addresses in common.
        Overlap = 6,
        /// A class, granule or number of ways without a meaning.
        Code = 7,
        /// A group of a source that there cannot be.
        Source = 8,
        /// A window at the control window itself.
        Control = 9,
        /// A window at a port that takes another class.
        PortClass = 10,
    }
}

layout! {
    /// What is done to lines that nobody keeps coherent.
    pub struct BridgeManagementOp: 64 bits = "bridge.management_op" {
        source: "bridge §9.9", basis: Model, rule: "BRG-MNG-01";
        /// Stores go to memory.
        flush: bool = [0 +: 1];
        /// Lines leave.
        invalidate: bool = [1 +: 1];
        /// Reserved.
        rsvd: u64 = [2 +: 62], reserved;
    }
}

layout! {
    /// Starts an operation.
    pub struct BridgeStart: 64 bits = "bridge.start" {
        source: "bridge §9.9", basis: Model, rule: "BRG-MNG-01";
        /// The operation of these registers starts.
        start: bool = [0 +: 1];
        /// Reserved.
        rsvd: u64 = [1 +: 63], reserved;
    }
}

layout! {
    /// Whether an operation runs.
    pub struct BridgeDone: 64 bits = "bridge.done" {
        source: "bridge §9.9", basis: Model, rule: "BRG-MNG-01";
        /// None does.
        done: bool = [0 +: 1];
        /// Reserved.
        rsvd: u64 = [1 +: 63], reserved;
    }
}

layout! {
    /// What the bridge has.
    pub struct BridgeCapability: 64 bits = "bridge.capability" {
        source: "bridge §2", basis: Model, rule: "BRG-REG-01";
        /// Windows from accelerators to CXL.
        window_count: u8 = [0 +: 8];
        /// Groups of sources.
        group_count: u8 = [8 +: 8];
        /// CXL ports.
        port_count: u16 = [16 +: 16];
        /// Sources that can be in a group.
        source_count: u16 = [32 +: 16];
        /// It keeps lines, in memory whose bits can be made to flip.
        flips: bool = [48 +: 1];
        /// Reserved.
        rsvd: u16 = [49 +: 15], reserved;
    }
}

layout! {
    /// Commits the shadow tables.
    pub struct BridgeCommit: 64 bits = "bridge.commit" {
        source: "bridge §2", basis: Model, rule: "BRG-WIN-06";
        /// The windows, rights and groups of these registers are those of the next epoch.
        commit: bool = [0 +: 1];
        /// Reserved.
        rsvd: u64 = [1 +: 63], reserved;
    }
}

layout! {
    /// What became of the last commit.
    pub struct BridgeStatus: 64 bits = "bridge.status" {
        source: "bridge §2", basis: Model, rule: "BRG-REG-03";
        /// It waits for requests of the old epoch.
        committing: bool = [0 +: 1];
        /// The CXL ports are viral.
        viral: bool = [1 +: 1];
        /// Reserved.
        rsvd_2: u8 = [2 +: 6], reserved;
        /// Why it was refused.
        fault: BridgeCommitFault = [8 +: 4];
        /// Reserved.
        rsvd_12: u8 = [12 +: 4], reserved;
        /// Window, or source, at which that was found.
        fault_at: u16 = [16 +: 16];
        /// Reserved.
        rsvd_32: u32 = [32 +: 32], reserved;
    }
}

layout! {
    /// A bit of the memory of the cache that flips.
    pub struct BridgeFlip: 64 bits = "bridge.flip" {
        source: "bridge §9.1", basis: Model, rule: "BRG-REG-04";
        /// Which of a line: 0 to 511 are data, check bits follow.
        bit_number: u16 = [0 +: 10];
        /// Reserved.
        rsvd_10: u8 = [10 +: 6], reserved;
        /// It flips now.
        flip: bool = [16 +: 1];
        /// Reserved.
        rsvd_17: u64 = [17 +: 47], reserved;
    }
}

layout! {
    /// What became of bits that were to flip.
    pub struct BridgeFlips: 64 bits = "bridge.flips" {
        source: "bridge §9.1", basis: Model, rule: "BRG-REG-04";
        /// They have.
        flipped: u32 = [0 +: 32];
        /// They have not: no such bit, or the line is not in the cache.
        refused: u32 = [32 +: 32];
    }
}

layout! {
    /// Groups of 16 sources.
    pub struct BridgeGroups: 64 bits = "bridge.groups" {
        source: "bridge §2", basis: Model, rule: "BRG-REG-02";
        /// Of the first source of this register.
        group_0: u8 = [0 +: 4];
        /// Of the next one.
        group_1: u8 = [4 +: 4];
        /// Of the next one.
        group_2: u8 = [8 +: 4];
        /// Of the next one.
        group_3: u8 = [12 +: 4];
        /// Of the next one.
        group_4: u8 = [16 +: 4];
        /// Of the next one.
        group_5: u8 = [20 +: 4];
        /// Of the next one.
        group_6: u8 = [24 +: 4];
        /// Of the next one.
        group_7: u8 = [28 +: 4];
        /// Of the next one.
        group_8: u8 = [32 +: 4];
        /// Of the next one.
        group_9: u8 = [36 +: 4];
        /// Of the next one.
        group_10: u8 = [40 +: 4];
        /// Of the next one.
        group_11: u8 = [44 +: 4];
        /// Of the next one.
        group_12: u8 = [48 +: 4];
        /// Of the next one.
        group_13: u8 = [52 +: 4];
        /// Of the next one.
        group_14: u8 = [56 +: 4];
        /// Of the last one.
        group_15: u8 = [60 +: 4];
    }
}

layout! {
    /// What a window is.
    pub struct BridgeWindowControl: 64 bits = "bridge.window_control" {
        source: "bridge §2", basis: Model, rule: "BRG-REG-02";
        /// It is there; the other registers of one that is not mean nothing.
        valid: bool = [0 +: 1];
        /// Reserved.
        rsvd_1: u8 = [1 +: 3], reserved;
        /// What its lines are.
        line_class: BridgeWindowClass = [4 +: 4];
        /// Bytes in a row at one port.
        granule: BridgeGranule = [8 +: 4];
        /// Ports among which it is dealt.
        ways: BridgeWays = [12 +: 4];
        /// Reserved.
        rsvd_16: u64 = [16 +: 48], reserved;
    }
}

layout! {
    /// Rights in a window; bit n is that of group n.
    pub struct BridgeWindowRights: 64 bits = "bridge.window_rights" {
        source: "bridge §2", basis: Model, rule: "BRG-REG-02";
        /// Groups that may read.
        may_read: u16 = [0 +: 16];
        /// Groups that may write.
        may_write: u16 = [16 +: 16];
        /// Groups that may do atomics, which take the other two as well.
        may_atomic: u16 = [32 +: 16];
        /// Reserved.
        rsvd: u16 = [48 +: 16], reserved;
    }
}

layout! {
    /// CXL ports of four ways of a window.
    pub struct BridgeTargets: 64 bits = "bridge.targets" {
        source: "bridge §2", basis: Model, rule: "BRG-REG-02";
        /// Of the first way of this register.
        way_0: u16 = [0 +: 16];
        /// Of the next one.
        way_1: u16 = [16 +: 16];
        /// Of the next one.
        way_2: u16 = [32 +: 16];
        /// Of the last one.
        way_3: u16 = [48 +: 16];
    }
}

frame! {
    /// Flush and invalidate.
    pub mod bridge_management: 64 bytes = "bridge.management" {
        source: "bridge §9.9";
        /// What is done.
        OP = [0x00 +: 8] as BridgeManagementOp;
        /// First address of accelerators.
        BASE = [0x08 +: 8];
        /// Bytes.
        LENGTH = [0x10 +: 8];
        /// Starts it.
        START = [0x18 +: 8] as BridgeStart;
        /// Whether it is over.
        DONE = [0x20 +: 8] as BridgeDone;
        /// Starts that were refused: no operation is named, or one runs; and poisoned writes, which change nothing else.
        ERRORS = [0x28 +: 8];
        /// Lines whose stores were dropped by invalidates.
        LOST = [0x30 +: 8];
        /// Reserved.
        RSVD = [0x38 +: 8];
    }
}

frame! {
    /// Commit of the tables, and errors to inject.
    pub mod bridge_tables: 64 bytes = "bridge.tables" {
        source: "bridge §2 §9.1";
        /// What the bridge has.
        CAPABILITY = [0x00 +: 8] as BridgeCapability;
        /// Commits the shadow tables.
        COMMIT = [0x08 +: 8] as BridgeCommit;
        /// What became of the last commit.
        STATUS = [0x10 +: 8] as BridgeStatus;
        /// Commits that are done.
        EPOCH = [0x18 +: 8];
        /// Commits that were refused.
        REFUSED = [0x20 +: 8];
        /// Address of accelerators in the line of which a bit flips.
        FLIP_ADDRESS = [0x28 +: 8];
        /// The bit.
        FLIP = [0x30 +: 8] as BridgeFlip;
        /// Bits that have flipped, and that have not.
        FLIPS = [0x38 +: 8] as BridgeFlips;
    }
}

frame! {
    /// Groups of 16 sources, shadow.
    pub mod bridge_group: 8 bytes = "bridge.group" {
        source: "bridge §2";
        /// The groups.
        GROUPS = [0x00 +: 8] as BridgeGroups;
    }
}

frame! {
    /// A window from accelerators to CXL, shadow.
    pub mod bridge_window: 96 bytes = "bridge.window" {
        source: "bridge §2";
        /// First address of accelerators, a multiple of 256.
        BASE = [0x00 +: 8];
        /// Bytes, a multiple of 256, at least 2 MiB.
        SIZE = [0x08 +: 8];
        /// CXL address of the first byte, a multiple of 256.
        OUT_BASE = [0x10 +: 8];
        /// What it is.
        CONTROL = [0x18 +: 8] as BridgeWindowControl;
        /// Who may do what.
        RIGHTS = [0x20 +: 8] as BridgeWindowRights;
        /// Reserved.
        RSVD = [0x28 +: 24];
        /// CXL ports of ways 0 to 3.
        TARGETS_0 = [0x40 +: 8] as BridgeTargets;
        /// CXL ports of ways 4 to 7.
        TARGETS_1 = [0x48 +: 8] as BridgeTargets;
        /// CXL ports of ways 8 to 11.
        TARGETS_2 = [0x50 +: 8] as BridgeTargets;
        /// CXL ports of ways 12 to 15.
        TARGETS_3 = [0x58 +: 8] as BridgeTargets;
    }
}
