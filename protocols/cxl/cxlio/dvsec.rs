//! Designated vendor-specific capabilities (DVSEC) of CXL in PCI Express configuration space (`cxl-io` section 7).
//!
//! Modelled: the header that all share, the byte map of every DVSEC that a Type 3 device and a CXL port show, the registers
//! in them that decide something in a model. Registers of a map without a layout are carried as bytes. Left out: test
//! capability, and what a write does (that is state).
//!
//! Configuration space is little-endian: bit 0 of a layout is bit 0 of its first byte. These layouts never travel on a
//! link as they stand, a DW at a time does, so they are in [`LAYOUTS`] here and not among the messages of the family.
//!
//! The sheet gives IDs, the map of the device DVSEC and the bits of the Flex Bus port; lengths of the others and bits
//! beyond are general knowledge of the field (`Inferred`).

use crate::wire::{LayoutDef, Violation, Wire};
use crate::{frame, layout};

/// Registers of the DVSECs.
pub static LAYOUTS: &[&LayoutDef] = &[
    DvsecHeader::DEF,
    DeviceCapability::DEF,
    DeviceControl::DEF,
    DeviceLock::DEF,
    RangeSizeLow::DEF,
    RangeBaseLow::DEF,
    GpfTimeOut::DEF,
    FlexBus::DEF,
    FlexBusStatus::DEF,
];

/// Extended capability ID of every DVSEC.
pub const CAPABILITY_ID: u16 = 0x0023;

layout! {
    /// Header of a DVSEC: the extended capability and who defined it.
    pub struct DvsecHeader: 80 bits = "cxlio.dvsec_header" {
        source: "cxl-io §7", basis: Spec, rule: "CXLIO-DVS-01";
        /// Extended capability ID.
        capability_id: u16 = [0 +: 16], default 0x23;
        /// Version of the extended capability.
        version: u8 = [16 +: 4], default 1;
        /// Where the next extended capability begins, 0 for none.
        next_bytes: u16 = [20 +: 12];
        /// Vendor that defines the content.
        vendor: u16 = [32 +: 16], default 0x1e98;
        /// Revision of the content.
        revision: u8 = [48 +: 4];
        /// Length from the first byte of the header on.
        length_bytes: u16 = [52 +: 12];
        /// Which DVSEC of that vendor.
        dvsec_id: u16 = [64 +: 16];
    }
}

layout! {
    /// CXL capability of a device, byte 0Ah of its DVSEC.
    pub struct DeviceCapability: 16 bits = "cxlio.dvsec_capability" {
        source: "cxl-io §7", basis: Inferred, rule: "CXLIO-DVS-02";
        /// CXL.cache.
        cache: bool = [0 +: 1];
        /// CXL.io, always 1.
        io: bool = [1 +: 1], default 1;
        /// CXL.mem.
        mem: bool = [2 +: 1];
        /// Memory comes up without software.
        mem_hw_init: bool = [3 +: 1];
        /// Number of memory ranges, 1 or 2 with CXL.mem.
        hdm_count: u8 = [4 +: 2];
        /// Not modelled: cache write-back, resets, trusted execution.
        other: u8 = [6 +: 7];
        /// More than one logical device.
        mld: bool = [13 +: 1];
        /// Viral is handled.
        viral: bool = [14 +: 1];
        /// The end of power management initialisation is reported.
        pm_init_report: bool = [15 +: 1];
    }
}

layout! {
    /// CXL control of a device, byte 0Ch of its DVSEC.
    pub struct DeviceControl: 16 bits = "cxlio.dvsec_control" {
        source: "cxl-io §7", basis: Inferred, rule: "CXLIO-DVS-02";
        /// CXL.cache may be used.
        cache_enable: bool = [0 +: 1];
        /// CXL.io may be used, always 1.
        io_enable: bool = [1 +: 1], default 1;
        /// CXL.mem may be used.
        mem_enable: bool = [2 +: 1];
        /// Not modelled: snoop filter hints.
        other: u16 = [3 +: 11];
        /// Viral is handled.
        viral_enable: bool = [14 +: 1];
        /// Reserved.
        rsvd: bool = [15 +: 1], reserved;
    }
}

layout! {
    /// Low half of the size of a memory range.
    pub struct RangeSizeLow: 32 bits = "cxlio.dvsec_range_size_low" {
        source: "cxl-io §7", basis: Inferred, rule: "CXLIO-DVS-02";
        /// Size and class are valid.
        info_valid: bool = [0 +: 1];
        /// The memory answers.
        active: bool = [1 +: 1];
        /// Not modelled: media, class, interleave, time to become active.
        other: u32 = [2 +: 26];
        /// Size bits 31:28 \[256 MiB\].
        size_low: u8 = [28 +: 4];
    }
}

layout! {
    /// Low half of the base of a memory range.
    pub struct RangeBaseLow: 32 bits = "cxlio.dvsec_range_base_low" {
        source: "cxl-io §7", basis: Inferred, rule: "CXLIO-DVS-02";
        /// Reserved: a base is a multiple of 256 MiB.
        rsvd: u32 = [0 +: 28], reserved;
        /// Address bits 31:28.
        base_31_28: u8 = [28 +: 4];
    }
}

layout! {
    /// Lock of a device.
    pub struct DeviceLock: 16 bits = "cxlio.dvsec_lock" {
        source: "cxl-io §7", basis: Inferred, rule: "CXLIO-DVS-02";
        /// Locks the registers that can be locked, itself included.
        config_lock: bool = [0 +: 1];
        /// Reserved.
        rsvd: u16 = [1 +: 15], reserved;
    }
}

layout! {
    /// Time-out of a phase of global persistent flush.
    pub struct GpfTimeOut: 16 bits = "cxlio.dvsec_gpf_time_out" {
        source: "cxl-io §7", basis: Inferred, rule: "CXLIO-DVS-02";
        /// Time in units of the scale.
        time_out: u8 = [0 +: 4];
        /// Reserved.
        rsvd_4: u8 = [4 +: 4], reserved;
        /// Scale.
        scale: u8 = [8 +: 4];
        /// Reserved.
        rsvd_12: u8 = [12 +: 4], reserved;
    }
}

layout! {
    /// Capability and control of a Flex Bus port: what it can do, what it may do.
    pub struct FlexBus: 16 bits = "cxlio.flex_bus" {
        source: "cxl-io §7", basis: Spec, rule: "CXLIO-DVS-03";
        /// CXL.cache.
        cache: bool = [0 +: 1];
        /// CXL.io.
        io: bool = [1 +: 1];
        /// CXL.mem.
        mem: bool = [2 +: 1];
        /// Not modelled: sync header bypass, drift buffer.
        other_3: u8 = [3 +: 2];
        /// 68B flits with virtual hierarchy.
        vh_68b: bool = [5 +: 1];
        /// Several logical devices.
        mld: bool = [6 +: 1];
        /// Not modelled.
        other_7: u8 = [7 +: 6];
        /// Latency-optimised 256B flits.
        lopt_256b: bool = [13 +: 1];
        /// 256B flits with port based routing.
        pbr: bool = [14 +: 1];
        /// Reserved.
        rsvd: bool = [15 +: 1], reserved;
    }
}

layout! {
    /// Status of a Flex Bus port: what was agreed, and errors, each cleared by writing 1.
    pub struct FlexBusStatus: 16 bits = "cxlio.flex_bus_status" {
        source: "cxl-io §7", basis: Spec, rule: "CXLIO-DVS-04";
        /// CXL.cache.
        cache: bool = [0 +: 1];
        /// CXL.io.
        io: bool = [1 +: 1];
        /// CXL.mem.
        mem: bool = [2 +: 1];
        /// Not modelled: sync header bypass, drift buffer.
        other_3: u8 = [3 +: 2];
        /// 68B flits with virtual hierarchy.
        vh_68b: bool = [5 +: 1];
        /// Several logical devices.
        mld: bool = [6 +: 1];
        /// The even half of a latency-optimised flit failed.
        even_half_failed: bool = [7 +: 1];
        /// A protocol ID with one bad byte was corrected.
        pid_corrected: bool = [8 +: 1];
        /// A protocol ID could not be read.
        pid_uncorrectable: bool = [9 +: 1];
        /// A flit of a protocol that is not enabled was dropped.
        pid_unexpected: bool = [10 +: 1];
        /// Not modelled: retimers, second phase of training.
        other_11: u8 = [11 +: 2];
        /// Latency-optimised 256B flits.
        lopt_256b: bool = [13 +: 1];
        /// 256B flits with port based routing.
        pbr: bool = [14 +: 1];
        /// Reserved.
        rsvd: bool = [15 +: 1], reserved;
    }
}

frame! {
    /// DVSEC of a CXL device, ID 0.
    pub mod device: 60 bytes = "cxlio.dvsec_device" {
        source: "cxl-io §7";
        /// Header.
        HEADER = [0x00 +: 10] as DvsecHeader;
        /// What the device can do.
        CAPABILITY = [0x0a +: 2] as DeviceCapability;
        /// What it may do.
        CONTROL = [0x0c +: 2] as DeviceControl;
        /// Viral status.
        STATUS = [0x0e +: 2];
        /// Cache and reset commands.
        CONTROL2 = [0x10 +: 2];
        /// Their outcome; bit 15: power management initialisation is over.
        STATUS2 = [0x12 +: 2];
        /// Locks registers.
        LOCK = [0x14 +: 2] as DeviceLock;
        /// Size of the cache.
        CAPABILITY2 = [0x16 +: 2];
        /// Size of range 0, bits 63:32.
        RANGE0_SIZE_HIGH = [0x18 +: 4];
        /// Size of range 0, bits 31:28, and its state.
        RANGE0_SIZE_LOW = [0x1c +: 4] as RangeSizeLow;
        /// Base of range 0, bits 63:32.
        RANGE0_BASE_HIGH = [0x20 +: 4];
        /// Base of range 0, bits 31:28.
        RANGE0_BASE_LOW = [0x24 +: 4] as RangeBaseLow;
        /// Size of range 1, bits 63:32.
        RANGE1_SIZE_HIGH = [0x28 +: 4];
        /// Size of range 1, bits 31:28, and its state.
        RANGE1_SIZE_LOW = [0x2c +: 4] as RangeSizeLow;
        /// Base of range 1, bits 63:32.
        RANGE1_BASE_HIGH = [0x30 +: 4];
        /// Base of range 1, bits 31:28.
        RANGE1_BASE_LOW = [0x34 +: 4] as RangeBaseLow;
        /// Resets and memory clearing.
        CAPABILITY3 = [0x38 +: 2];
        /// Reserved.
        RSVD = [0x3a +: 2];
    }
}

/// Bytes from the registers of one memory range to those of the next.
pub const RANGE_STRIDE: usize = 0x10;

frame! {
    /// DVSEC that says which functions take part in no CXL.cache and CXL.mem, ID 2.
    pub mod function_map: 44 bytes = "cxlio.dvsec_function_map" {
        source: "cxl-io §7";
        /// Header.
        HEADER = [0x00 +: 10] as DvsecHeader;
        /// Reserved.
        RSVD = [0x0a +: 2];
        /// One bit a device and function.
        FUNCTIONS = [0x0c +: 32];
    }
}

frame! {
    /// DVSEC of a CXL port, ID 3.
    pub mod port_extensions: 40 bytes = "cxlio.dvsec_port_extensions" {
        source: "cxl-io §7";
        /// Header.
        HEADER = [0x00 +: 10] as DvsecHeader;
        /// Bit 0: power management initialisation is over.
        STATUS = [0x0a +: 2];
        /// Port control.
        CONTROL = [0x0c +: 2];
        /// Alternate buses, first and last.
        ALTERNATE_BUSES = [0x0e +: 2];
        /// Alternate memory windows.
        ALTERNATE_MEMORY = [0x10 +: 16];
        /// Base of the registers of a restricted host.
        RCRB = [0x20 +: 8];
    }
}

frame! {
    /// DVSEC of a port about global persistent flush, ID 4.
    pub mod gpf_port: 16 bytes = "cxlio.dvsec_gpf_port" {
        source: "cxl-io §7";
        /// Header.
        HEADER = [0x00 +: 10] as DvsecHeader;
        /// Reserved.
        RSVD = [0x0a +: 2];
        /// Time-out of phase 1.
        PHASE1_CONTROL = [0x0c +: 2] as GpfTimeOut;
        /// Time-out of phase 2.
        PHASE2_CONTROL = [0x0e +: 2] as GpfTimeOut;
    }
}

frame! {
    /// DVSEC of a device about global persistent flush, ID 5.
    pub mod gpf_device: 16 bytes = "cxlio.dvsec_gpf_device" {
        source: "cxl-io §7";
        /// Header.
        HEADER = [0x00 +: 10] as DvsecHeader;
        /// Duration of phase 2: value 3:0, scale 11:8.
        PHASE2_DURATION = [0x0a +: 2];
        /// Power that phase 2 takes \[mW\].
        PHASE2_POWER = [0x0c +: 4];
    }
}

frame! {
    /// DVSEC of a Flex Bus port, ID 7.
    pub mod flex_bus_port: 32 bytes = "cxlio.dvsec_flex_bus_port" {
        source: "cxl-io §7";
        /// Header.
        HEADER = [0x00 +: 10] as DvsecHeader;
        /// What the port can do.
        CAPABILITY = [0x0a +: 2] as FlexBus;
        /// What it may do.
        CONTROL = [0x0c +: 2] as FlexBus;
        /// What was agreed, and errors.
        STATUS = [0x0e +: 2] as FlexBusStatus;
        /// What training received.
        RECEIVED = [0x10 +: 4];
        /// More capabilities.
        CAPABILITY2 = [0x14 +: 4];
        /// More controls.
        CONTROL2 = [0x18 +: 4];
        /// More status.
        STATUS2 = [0x1c +: 4];
    }
}

frame! {
    /// DVSEC that tells where register blocks are, ID 8; one block.
    pub mod register_locator: 20 bytes = "cxlio.dvsec_register_locator" {
        source: "cxl-io §7";
        /// Header.
        HEADER = [0x00 +: 10] as DvsecHeader;
        /// Reserved.
        RSVD = [0x0a +: 2];
        /// Block 1: BAR number in 2:0, kind in 15:8, offset bits 31:16.
        BLOCK1_LOW = [0x0c +: 4];
        /// Block 1: offset bits 63:32.
        BLOCK1_HIGH = [0x10 +: 4];
    }
}

frame! {
    /// DVSEC of a device with several logical devices, ID 9.
    pub mod mld: 16 bytes = "cxlio.dvsec_mld" {
        source: "cxl-io §7";
        /// Header.
        HEADER = [0x00 +: 10] as DvsecHeader;
        /// Number of logical devices, 1 to 16.
        LOGICAL_DEVICES = [0x0a +: 2];
        /// Logical devices under reset.
        HOT_RESET = [0x0c +: 2];
        /// Reserved.
        RSVD = [0x0e +: 2];
    }
}

/// DVSECs of CXL by their ID.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DvsecId {
    /// PCIe DVSEC for CXL devices.
    Device,
    /// Non-CXL function map.
    FunctionMap,
    /// CXL extensions for ports.
    PortExtensions,
    /// Global persistent flush, port.
    GpfPort,
    /// Global persistent flush, device.
    GpfDevice,
    /// Flex Bus port.
    FlexBusPort,
    /// Register locator.
    RegisterLocator,
    /// Multiple logical devices.
    Mld,
    /// Test capability; its content is not modelled.
    Test,
}

impl DvsecId {
    /// All of them, by ID.
    pub const ALL: [DvsecId; 9] = [
        DvsecId::Device,
        DvsecId::FunctionMap,
        DvsecId::PortExtensions,
        DvsecId::GpfPort,
        DvsecId::GpfDevice,
        DvsecId::FlexBusPort,
        DvsecId::RegisterLocator,
        DvsecId::Mld,
        DvsecId::Test,
    ];

    /// The number in the header.
    pub const fn number(self) -> u16 {
        match self {
            DvsecId::Device => 0,
            DvsecId::FunctionMap => 2,
            DvsecId::PortExtensions => 3,
            DvsecId::GpfPort => 4,
            DvsecId::GpfDevice => 5,
            DvsecId::FlexBusPort => 7,
            DvsecId::RegisterLocator => 8,
            DvsecId::Mld => 9,
            DvsecId::Test => 0xa,
        }
    }

    /// The DVSEC of a number, `None` for an unlisted one.
    pub fn of(number: u16) -> Option<DvsecId> {
        DvsecId::ALL.into_iter().find(|id| id.number() == number)
    }

    /// Length in bytes; `None` where it is not fixed or not known. A register locator has 8 bytes a block behind 12.
    pub const fn length_bytes(self) -> Option<usize> {
        match self {
            DvsecId::Device => Some(device::LEN),
            DvsecId::FunctionMap => Some(function_map::LEN),
            DvsecId::PortExtensions => Some(port_extensions::LEN),
            DvsecId::GpfPort => Some(gpf_port::LEN),
            DvsecId::GpfDevice => Some(gpf_device::LEN),
            DvsecId::FlexBusPort => Some(flex_bus_port::LEN),
            DvsecId::Mld => Some(mld::LEN),
            DvsecId::RegisterLocator | DvsecId::Test => None,
        }
    }

    /// Revision of the content at the level of the model: 3 for the device (`cxl-io` §7), 2 for the Flex Bus port
    /// (general knowledge), 0 elsewhere.
    pub const fn revision(self) -> u8 {
        match self {
            DvsecId::Device => 3,
            DvsecId::FlexBusPort => 2,
            _ => 0,
        }
    }

    /// The header of this DVSEC with a given length; `next_bytes` is filled in where it is placed.
    pub fn header(self, length_bytes: usize) -> DvsecHeader {
        DvsecHeader {
            revision: self.revision(),
            length_bytes: length_bytes as u16,
            dvsec_id: self.number(),
            ..DvsecHeader::default()
        }
    }
}

/// Judges the header of a DVSEC of CXL (CXLIO-DVS-01); places are bytes of the DVSEC.
pub fn check_header(header: &DvsecHeader) -> Vec<Violation> {
    let mut found = Vec::new();
    let mut broken = |at, is: String, expected: String, text: &str| {
        found.push(Violation::at_byte("CXLIO-DVS-01", at, is, expected, text));
    };
    if header.capability_id != CAPABILITY_ID {
        let (is, expected) = (format!("{:#06x}", header.capability_id), format!("{CAPABILITY_ID:#06x}"));
        broken(0, is, expected, "the extended capability is not a DVSEC");
    }
    if header.vendor != super::vdm::VENDOR_ID {
        let (is, expected) = (format!("{:#06x}", header.vendor), format!("{:#06x}", super::vdm::VENDOR_ID));
        broken(4, is, expected, "the DVSEC is not one of the CXL vendor ID");
    }
    let length_bytes = usize::from(header.length_bytes);
    match DvsecId::of(header.dvsec_id) {
        None => {
            broken(8, format!("{:#x}", header.dvsec_id), "0, 2 to 5 or 7 to a".into(), "the DVSEC has an unlisted ID")
        }
        Some(DvsecId::RegisterLocator) if length_bytes < 20 || !(length_bytes - 12).is_multiple_of(8) => {
            broken(
                6,
                format!("{length_bytes:#x}"),
                "12 bytes and 8 per block".into(),
                "the length of the DVSEC is not a whole number of register blocks",
            );
        }
        Some(id) => {
            if let Some(expected) = id.length_bytes().filter(|&n| n != length_bytes) {
                broken(
                    6,
                    format!("{length_bytes:#x}"),
                    format!("{expected:#x}"),
                    "the length is not that of this DVSEC",
                );
            }
        }
    }
    found
}

/// An error of the link that a Flex Bus port remembers (`cxl-io` §7, status bits 7 to 10).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkError {
    /// The even half of a latency-optimised flit failed.
    EvenHalfFailed,
    /// A protocol ID with one bad byte was corrected.
    PidCorrected,
    /// A protocol ID could not be read.
    PidUncorrectable,
    /// A flit of a protocol that is not enabled was dropped.
    PidUnexpected,
}

impl LinkError {
    /// The error that an event of a link stands for, by the rule that was broken (`cxl-68b` §1.2, `cxl-256b` §7.3).
    pub fn of_rule(rule: &str) -> Option<LinkError> {
        Some(match rule {
            "CXL68-PID-02" => LinkError::PidCorrected,
            "CXL68-PID-03" | "CXL68-PID-04" => LinkError::PidUncorrectable,
            "CXL68-PID-05" | "CXL68-PID-06" => LinkError::PidUnexpected,
            "CXL256-LOP-04" => LinkError::EvenHalfFailed,
            _ => return None,
        })
    }
}

/// What a link of CXL is after training ("connected device mode", `cxl-io` §7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConnectedMode {
    /// Restricted CXL device of revision 1.1, 68B flits.
    Rcd = 1,
    /// 68B flits with virtual hierarchy.
    Vh68b = 2,
    /// Standard 256B flits.
    Standard256b = 3,
    /// Latency-optimised 256B flits.
    LatencyOptimised256b = 4,
    /// 256B flits with port based routing.
    Pbr = 5,
}

/// What one end brings into training besides its Flex Bus bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trained {
    /// PCIe flit mode was agreed.
    pub flit_mode: bool,
    /// Line rate \[GT/s a lane\].
    pub rate_gtps: u32,
}

/// Slowest line rate of CXL \[GT/s\] (`cxl-io` §7: 256B flits are usable from there on).
pub const MIN_RATE_GTPS: u32 = 8;
/// Line rate from which flit mode is mandatory \[GT/s\] (`cxl-io` §7).
pub const FLIT_MODE_RATE_GTPS: u32 = 64;

/// The mode that two ports agree on (CXLIO-DVS-03): the best that both can do. `None`: no CXL link comes up.
///
/// 256B flits need PCIe flit mode; port based routing goes before latency optimisation, because a PBR link never uses it
/// (`cxl-256b` §1.5).
pub const fn negotiate(a: &FlexBus, b: &FlexBus, trained: Trained) -> Option<ConnectedMode> {
    let too_slow = trained.rate_gtps < MIN_RATE_GTPS;
    let no_flits = trained.rate_gtps >= FLIT_MODE_RATE_GTPS && !trained.flit_mode;
    if !(a.io && b.io) || too_slow || no_flits {
        return None;
    }
    Some(match trained.flit_mode {
        true if a.pbr && b.pbr => ConnectedMode::Pbr,
        true if a.lopt_256b && b.lopt_256b => ConnectedMode::LatencyOptimised256b,
        true => ConnectedMode::Standard256b,
        false if a.vh_68b && b.vh_68b => ConnectedMode::Vh68b,
        false => ConnectedMode::Rcd,
    })
}
