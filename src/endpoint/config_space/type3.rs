//! Configuration space of a CXL Type 3 device: type 0 header, one PCI Express capability, the DVSECs that it has to show.

use super::{ConfigSpace, bytes_of, registers as reg};
use scalepool_protocols::cxl::cxlio::dvsec::{self, DeviceCapability, DeviceControl, DvsecId, FlexBus, RangeSizeLow};
use scalepool_protocols::cxl::cxlio::vdm::VENDOR_ID;

/// What a device is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Type3Config {
    /// Device ID; the vendor is CXL itself, because the model is nobody's product.
    pub device_id: u16,
    /// What its Flex Bus port can do.
    pub flex_bus: FlexBus,
    /// Sizes of the BARs \[bytes\]: powers of two from 4096 to 2^56, 0 for none.
    pub bar_bytes: [u64; reg::BARS],
    /// Sizes of the memory ranges \[bytes\]: multiples of 256 MiB, 0 for none; no second one without a first one.
    pub range_bytes: [u64; 2],
    /// Logical devices, 1 to 16; more than one make it an MLD.
    pub logical_devices: u16,
    /// Largest payload that it can send or take \[bytes\], 128 to 4096.
    pub max_payload_bytes: usize,
    /// Serial number, if it says one.
    pub serial_number: Option<u64>,
}

impl Default for Type3Config {
    fn default() -> Type3Config {
        Type3Config {
            device_id: 1,
            flex_bus: FlexBus { io: true, mem: true, vh_68b: true, ..FlexBus::default() },
            bar_bytes: [64 << 10, 1 << 20],
            range_bytes: [16 << 30, 0],
            logical_devices: 1,
            max_payload_bytes: 512,
            serial_number: None,
        }
    }
}

/// A device that no registers can describe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Type3ConfigError {
    /// A BAR.
    #[error("BAR {bar}: found {found} bytes, expected 0 or a power of two from 4096 to 2^56")]
    Bar {
        /// Which.
        bar: usize,
        /// Size given.
        found: u64,
    },
    /// A memory range.
    #[error("memory range {range}: found {found} bytes, expected a multiple of 256 MiB")]
    Range {
        /// Which.
        range: usize,
        /// Size given.
        found: u64,
    },
    /// A second memory range without a first one: the number of ranges says how many there are from the first one on.
    #[error(
        "memory range 1: found {found} bytes beside memory range 0 of 0 bytes, expected 0: the first range comes first"
    )]
    SecondRangeAlone {
        /// Size given.
        found: u64,
    },
    /// Logical devices.
    #[error("found {found} logical devices, expected 1 to 16")]
    LogicalDevices {
        /// Number given.
        found: u16,
    },
}

/// Largest BAR \[bytes\]: far beyond what a host could place (basis: model).
pub const MAX_BAR_BYTES: u64 = 1 << 56;

/// Unit of sizes and bases of memory ranges: bits 27:0 do not travel (`cxl-io` §7).
const RANGE_UNIT_BYTES: u64 = 1 << 28;

/// Builds the space as it is after reset.
///
/// # Errors
/// Sizes that the registers cannot say.
pub fn type3(config: &Type3Config) -> Result<ConfigSpace, Type3ConfigError> {
    for (bar, &found) in config.bar_bytes.iter().enumerate() {
        if found != 0 && !(found.is_power_of_two() && (4096..=MAX_BAR_BYTES).contains(&found)) {
            return Err(Type3ConfigError::Bar { bar, found });
        }
    }
    for (range, &found) in config.range_bytes.iter().enumerate() {
        if !found.is_multiple_of(RANGE_UNIT_BYTES) {
            return Err(Type3ConfigError::Range { range, found });
        }
    }
    if let [0, found] = config.range_bytes
        && found > 0
    {
        return Err(Type3ConfigError::SecondRangeAlone { found });
    }
    if !(1..=16).contains(&config.logical_devices) {
        return Err(Type3ConfigError::LogicalDevices { found: config.logical_devices });
    }
    let mut space = ConfigSpace::empty();
    header(&mut space, config);
    device_dvsec(&mut space, config);
    space.add_dvsec(DvsecId::FunctionMap, dvsec::function_map::LEN);
    let gpf = space.add_dvsec(DvsecId::GpfDevice, dvsec::gpf_device::LEN);
    space.set(gpf + dvsec::gpf_device::PHASE2_DURATION.start, &GPF_PHASE2_DURATION.to_le_bytes());
    space.set(gpf + dvsec::gpf_device::PHASE2_POWER.start, &GPF_PHASE2_POWER_MW.to_le_bytes());
    let mut flex_bus = config.flex_bus;
    flex_bus.io = true;
    flex_bus.mld = config.logical_devices > 1;
    space.add_flex_bus(flex_bus);
    space.add_register_locator();
    if config.logical_devices > 1 {
        let mld = space.add_dvsec(DvsecId::Mld, dvsec::mld::LEN);
        space.set(mld + dvsec::mld::LOGICAL_DEVICES.start, &config.logical_devices.to_le_bytes());
    }
    if let Some(number) = config.serial_number {
        space.add_serial_number(number);
    }
    Ok(space)
}

/// Duration of the second flush phase: value 1, scale 6 stand for 1 s (basis: model).
const GPF_PHASE2_DURATION: u16 = 0x0601;
/// Power of the second flush phase \[mW\] (basis: model).
const GPF_PHASE2_POWER_MW: u32 = 25_000;

fn header(space: &mut ConfigSpace, config: &Type3Config) {
    space.set(reg::VENDOR.start, &VENDOR_ID.to_le_bytes());
    space.set(reg::DEVICE.start, &config.device_id.to_le_bytes());
    space.make_writable(reg::COMMAND.start, &[reg::COMMAND_MEMORY | reg::COMMAND_MASTER]);
    space.set(reg::STATUS.start, &[reg::STATUS_LIST]);
    space.set(reg::CLASS.start, &reg::CLASS_CXL_MEMORY);
    space.set(reg::HEADER_TYPE, &[reg::TYPE_DEVICE]);
    for (n, &size_bytes) in config.bar_bytes.iter().enumerate().filter(|(_, size)| **size != 0) {
        space.add_bar(n, size_bytes);
    }
    space.set(reg::LIST, &[reg::PCIE_AT as u8]);
    // Version 2 of the capability, an endpoint.
    space.set(reg::PCIE_AT, &[reg::PCIE_ID, 0, 0x02, 0]);
    space.set(reg::PCIE_AT + reg::PCIE_DEVICE_CAPABILITIES, &[reg::payload_code(config.max_payload_bytes)]);
    // Largest payload and largest read request.
    space.make_writable(reg::PCIE_AT + reg::PCIE_DEVICE_CONTROL, &[0xe0, 0x70]);
}

fn device_dvsec(space: &mut ConfigSpace, config: &Type3Config) {
    let at = space.add_dvsec(DvsecId::Device, dvsec::device::LEN);
    let ranges = config.range_bytes.iter().filter(|&&bytes| bytes != 0).count();
    let capability = DeviceCapability {
        cache: config.flex_bus.cache,
        mem: ranges > 0,
        mem_hw_init: true,
        hdm_count: ranges as u8,
        mld: config.logical_devices > 1,
        viral: true,
        pm_init_report: true,
        ..DeviceCapability::default()
    };
    space.set(at + dvsec::device::CAPABILITY.start, &bytes_of(&capability));
    space.set(at + dvsec::device::CONTROL.start, &bytes_of(&DeviceControl::default()));
    let control = DeviceControl {
        cache_enable: capability.cache,
        io_enable: false,
        mem_enable: capability.mem,
        viral_enable: true,
        ..DeviceControl::default()
    };
    space.make_lockable(at + dvsec::device::CONTROL.start, &bytes_of(&control));
    // The lock holds itself: once set, it stays.
    let lock = at + dvsec::device::LOCK.start;
    space.make_lockable(lock, &[1]);
    space.lock_at = Some(lock);
    for (n, &bytes) in config.range_bytes.iter().enumerate().filter(|(_, bytes)| **bytes != 0) {
        let at = at + dvsec::RANGE_STRIDE * n;
        let low = RangeSizeLow {
            info_valid: true,
            active: true,
            size_low: (bytes >> 28 & 0xf) as u8,
            ..RangeSizeLow::default()
        };
        space.set(at + dvsec::device::RANGE0_SIZE_HIGH.start, &((bytes >> 32) as u32).to_le_bytes());
        space.set(at + dvsec::device::RANGE0_SIZE_LOW.start, &bytes_of(&low));
        space.make_lockable(at + dvsec::device::RANGE0_BASE_HIGH.start, &[0xff; 4]);
        space.make_lockable(at + dvsec::device::RANGE0_BASE_LOW.start, &[0, 0, 0, 0xf0]);
    }
}
