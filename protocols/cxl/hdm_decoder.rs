//! Registers of HDM decoders (`fabric` section 2.1): the capability, the global control and the map of one decoder, in a device and in
//! a switch or host bridge.
//!
//! Modelled: places, codes and byte maps. Left out: what a commit checks, which is state, and how an address is decoded (the memory
//! crate). Like the DVSECs these registers never travel on a link as they stand, so they are not among the messages of a
//! family; the register blocks take them from the byte maps here. Bit 0 of a layout is bit 0 of its first byte.

use crate::{frame, layout, wire_enum};

/// Decoders of a device, at most; a switch or host bridge has up to [`MAX_DECODERS`] (`fabric` §2.1).
pub const MAX_DEVICE_DECODERS: usize = 10;
/// Decoders that the capability can tell of.
pub const MAX_DECODERS: usize = 32;
/// Where the registers of decoder 0 begin.
pub const DECODERS_AT: usize = 0x10;
/// Bytes from the registers of one decoder to those of the next.
pub const DECODER_STRIDE: usize = 0x20;

wire_enum! {
    /// How many decoders there are.
    pub HdmDecoderCount: 4 bits, rule "FAB-HDM-15", source "fabric §2.1" {
        /// 1 decoder.
        Decoders1 = 0,
        /// 2 decoders.
        Decoders2 = 1,
        /// 4 decoders.
        Decoders4 = 2,
        /// 6 decoders.
        Decoders6 = 3,
        /// 8 decoders.
        Decoders8 = 4,
        /// 10 decoders, the most of a device.
        Decoders10 = 5,
        /// 12 decoders.
        Decoders12 = 6,
        /// 14 decoders.
        Decoders14 = 7,
        /// 16 decoders.
        Decoders16 = 8,
        /// 20 decoders.
        Decoders20 = 9,
        /// 24 decoders.
        Decoders24 = 10,
        /// 28 decoders.
        Decoders28 = 11,
        /// 32 decoders.
        Decoders32 = 12,
    }
}

wire_enum! {
    /// Bytes in a row at one target.
    pub HdmGranularity: 4 bits, rule "FAB-HDM-15", source "fabric §2.1" {
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
    /// Number of targets.
    pub HdmWays: 4 bits, rule "FAB-HDM-15", source "fabric §2.1" {
        /// One target.
        Ways1 = 0,
        /// 2 ways.
        Ways2 = 1,
        /// 4 ways.
        Ways4 = 2,
        /// 8 ways.
        Ways8 = 3,
        /// 16 ways, devices only.
        Ways16 = 4,
        /// 3 ways, devices only.
        Ways3 = 8,
        /// 6 ways, devices only.
        Ways6 = 9,
        /// 12 ways, devices only.
        Ways12 = 10,
    }
}

wire_enum! {
    /// Who keeps what lies behind a decoder coherent.
    pub HdmTargetType: 1 bits, rule "FAB-HDM-15", source "fabric §2.1" {
        /// The device: HDM-D or HDM-DB.
        DeviceCoherent = 0,
        /// The host alone: HDM-H.
        HostOnly = 1,
    }
}

wire_enum! {
    /// Which target types the decoders can have.
    pub HdmCoherency: 2 bits, rule "FAB-HDM-15", source "fabric §2.1" {
        /// It is not told.
        Unknown = 0,
        /// Device coherent.
        DeviceCoherent = 1,
        /// Host only.
        HostOnly = 2,
        /// Both.
        Both = 3,
    }
}

impl HdmDecoderCount {
    /// The number; `None`: the code is reserved.
    pub fn decoders(self) -> Option<usize> {
        match self.0 {
            code @ 0..=5 => Some(if code == 0 { 1 } else { 2 * usize::from(code) }),
            code @ 6..=8 => Some(2 * usize::from(code)),
            code @ 9..=12 => Some(4 * usize::from(code) - 16),
            _ => None,
        }
    }
}

impl HdmGranularity {
    /// The bytes in a row at one target; `None`: the code is reserved.
    pub fn bytes(self) -> Option<u64> {
        (self.0 <= Self::Bytes16384.0).then(|| 256 << self.0)
    }
}

impl HdmWays {
    /// The number of targets; `None`: the code is reserved.
    pub fn ways(self) -> Option<usize> {
        match self.0 {
            code @ 0..=4 => Some(1 << code),
            code @ 8..=10 => Some(3 << (code - 8)),
            _ => None,
        }
    }
}

layout! {
    /// What the decoders can do.
    pub struct HdmCapability: 32 bits = "hdm.capability" {
        source: "fabric §2.1", basis: Spec, rule: "FAB-HDM-14";
        /// Number of decoders.
        decoder_count: HdmDecoderCount = [0 +: 4];
        /// Targets that a decoder can have, 1, 2, 4 or 8; 0 in a device.
        target_count: u8 = [4 +: 4];
        /// Interleaving may use address bits 11 to 8.
        interleave_11_8: bool = [8 +: 1];
        /// Interleaving may use address bits 14 to 12.
        interleave_14_12: bool = [9 +: 1];
        /// What no decoder holds can be answered with poison.
        poison_on_decode_error: bool = [10 +: 1];
        /// 3, 6 and 12 ways, devices only.
        ways_3_6_12: bool = [11 +: 1];
        /// 16 ways, devices only.
        ways_16: bool = [12 +: 1];
        /// UIO to memory.
        uio: bool = [13 +: 1];
        /// Reserved.
        rsvd_14: u8 = [14 +: 2], reserved;
        /// Number of decoders that can do UIO.
        uio_decoder_count: u8 = [16 +: 4];
        /// MemData-NXM is an answer.
        mem_data_nxm: bool = [20 +: 1];
        /// Target types.
        coherency: HdmCoherency = [21 +: 2];
        /// Reserved.
        rsvd_23: u16 = [23 +: 9], reserved;
    }
}

layout! {
    /// Control of all decoders.
    pub struct HdmGlobalControl: 32 bits = "hdm.global_control" {
        source: "fabric §2.1", basis: Spec, rule: "FAB-HDM-14";
        /// Answer with poison what no decoder holds.
        poison_on_decode_error_enable: bool = [0 +: 1];
        /// Decoders of a device decode.
        decoder_enable: bool = [1 +: 1];
        /// Reserved.
        rsvd: u32 = [2 +: 30], reserved;
    }
}

layout! {
    /// Low half of the base of a decoder.
    pub struct HdmBaseLow: 32 bits = "hdm.base_low" {
        source: "fabric §2.1", basis: Spec, rule: "FAB-HDM-14";
        /// Reserved: a base is a multiple of 256 MiB.
        rsvd: u32 = [0 +: 28], reserved;
        /// Address bits 31:28.
        base_31_28: u8 = [28 +: 4];
    }
}

layout! {
    /// Low half of the size of a decoder.
    pub struct HdmSizeLow: 32 bits = "hdm.size_low" {
        source: "fabric §2.1", basis: Spec, rule: "FAB-HDM-14";
        /// Reserved: a size is a multiple of 256 MiB.
        rsvd: u32 = [0 +: 28], reserved;
        /// Size bits 31:28.
        size_31_28: u8 = [28 +: 4];
    }
}

layout! {
    /// Control of one decoder.
    pub struct HdmControl: 32 bits = "hdm.control" {
        source: "fabric §2.1", basis: Spec, rule: "FAB-HDM-14";
        /// Interleave granularity (IG).
        granularity: HdmGranularity = [0 +: 4];
        /// Interleave ways (IW).
        ways: HdmWays = [4 +: 4];
        /// The decoder is locked once it is committed, and a commit is checked.
        lock_on_commit: bool = [8 +: 1];
        /// Asks for a commit.
        commit: bool = [9 +: 1];
        /// The decoder is in use.
        committed: bool = [10 +: 1];
        /// The commit has failed.
        commit_error: bool = [11 +: 1];
        /// Who keeps it coherent.
        target_type: HdmTargetType = [12 +: 1];
        /// Back-invalidation.
        bi: bool = [13 +: 1];
        /// UIO.
        uio: bool = [14 +: 1];
        /// Reserved.
        rsvd_15: bool = [15 +: 1], reserved;
        /// Granularity of UIO.
        uio_granularity: HdmGranularity = [16 +: 4];
        /// Ways of UIO.
        uio_ways: HdmWays = [20 +: 4];
        /// Interleave set position.
        set_position: u8 = [24 +: 4];
        /// Reserved.
        rsvd_28: u8 = [28 +: 4], reserved;
    }
}

layout! {
    /// Low half of the DPA skip of a decoder of a device.
    pub struct HdmSkipLow: 32 bits = "hdm.skip_low" {
        source: "fabric §2.1", basis: Spec, rule: "FAB-HDM-14";
        /// Reserved: a skip is a multiple of 256 MiB.
        rsvd: u32 = [0 +: 28], reserved;
        /// Skip bits 31:28.
        skip_31_28: u8 = [28 +: 4];
    }
}

layout! {
    /// Ports of four ways of a decoder of a switch or host bridge.
    pub struct HdmTargets: 32 bits = "hdm.targets" {
        source: "fabric §2.1", basis: Spec, rule: "FAB-HDM-14";
        /// Way 0, or 4.
        way_0: u8 = [0 +: 8];
        /// Way 1, or 5.
        way_1: u8 = [8 +: 8];
        /// Way 2, or 6.
        way_2: u8 = [16 +: 8];
        /// Way 3, or 7.
        way_3: u8 = [24 +: 8];
    }
}

frame! {
    /// What stands before the decoders.
    pub mod hdm_head: 16 bytes = "hdm.head" {
        source: "fabric §2.1";
        /// What the decoders can do.
        CAPABILITY = [0x00 +: 4] as HdmCapability;
        /// Control of all decoders.
        GLOBAL_CONTROL = [0x04 +: 4] as HdmGlobalControl;
        /// Reserved.
        RSVD = [0x08 +: 8];
    }
}

frame! {
    /// One decoder of a device.
    pub mod hdm_device_decoder: 32 bytes = "hdm.device_decoder" {
        source: "fabric §2.1";
        /// Base, address bits 31:28.
        BASE_LOW = [0x00 +: 4] as HdmBaseLow;
        /// Base, address bits 63:32.
        BASE_HIGH = [0x04 +: 4];
        /// Size, bits 31:28.
        SIZE_LOW = [0x08 +: 4] as HdmSizeLow;
        /// Size, bits 63:32.
        SIZE_HIGH = [0x0c +: 4];
        /// Control.
        CONTROL = [0x10 +: 4] as HdmControl;
        /// DPA skip, bits 31:28.
        SKIP_LOW = [0x14 +: 4] as HdmSkipLow;
        /// DPA skip, bits 63:32.
        SKIP_HIGH = [0x18 +: 4];
        /// Reserved.
        RSVD = [0x1c +: 4];
    }
}

frame! {
    /// One decoder of a switch or host bridge.
    pub mod hdm_bridge_decoder: 32 bytes = "hdm.bridge_decoder" {
        source: "fabric §2.1";
        /// Base, address bits 31:28.
        BASE_LOW = [0x00 +: 4] as HdmBaseLow;
        /// Base, address bits 63:32.
        BASE_HIGH = [0x04 +: 4];
        /// Size, bits 31:28.
        SIZE_LOW = [0x08 +: 4] as HdmSizeLow;
        /// Size, bits 63:32.
        SIZE_HIGH = [0x0c +: 4];
        /// Control.
        CONTROL = [0x10 +: 4] as HdmControl;
        /// Ports of ways 0 to 3.
        TARGETS_LOW = [0x14 +: 4] as HdmTargets;
        /// Ports of ways 4 to 7.
        TARGETS_HIGH = [0x18 +: 4] as HdmTargets;
        /// Reserved.
        RSVD = [0x1c +: 4];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of codes are those of their names.
    #[test]
    fn codes_have_the_numbers_of_their_names() {
        let number = |name: &str| name.trim_start_matches(|c: char| !c.is_ascii_digit()).parse::<u64>().ok();
        for code in 0..16 {
            let named = |name: Option<&str>| name.and_then(number);
            assert_eq!(HdmDecoderCount(code).decoders().map(|n| n as u64), named(HdmDecoderCount(code).name()));
            assert_eq!(HdmGranularity(code).bytes(), named(HdmGranularity(code).name()));
            assert_eq!(HdmWays(code).ways().map(|n| n as u64), named(HdmWays(code).name()));
        }
    }
}
