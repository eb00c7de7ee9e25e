//! What a host does to find a CXL device and to make it answer: configuration accesses, one after the other.
//!
//! The algorithm is straight code over a [`Log`] of answers. It runs again from its start with every answer that comes and
//! stops where the log ends, so it needs no state between accesses and every decision can be read in order.
//!
//! Modelled: functions of one device, the list of capabilities, sizing and placing of BARs, the DVSECs of CXL, memory
//! ranges, the largest payload, the lock. Left out: bridges below, resource rebalancing, option ROMs.

use scalepool_endpoint::config_space::registers as reg;
use scalepool_endpoint::config_space::{BYTES, EXTENDED_AT};
use scalepool_protocols::cxl::cxlio::dvsec::{
    self, CAPABILITY_ID, DeviceCapability, DeviceControl, DvsecHeader, DvsecId, FlexBusStatus, check_header,
};
use scalepool_protocols::cxl::cxlio::vdm::VENDOR_ID;
use scalepool_protocols::wire::{Violation, Wire};
use std::fmt;
use std::ops::Range;

/// One access of a configuration space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConfigAccess {
    /// Bus, device, function.
    pub target: u16,
    /// Byte address of the register, a multiple of 4.
    pub register: u16,
    /// Value and byte enables of a write; `None`: a read.
    pub write: Option<(u32, u8)>,
}

/// As reports of runs have it.
impl fmt::Display for ConfigAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ConfigAccess { target, register, write } = self;
        write!(f, "Access {{ target: {target}, register: {register}, write: {write:?} }}")
    }
}

/// The algorithm waits for the answer to an access.
pub struct Pause(pub ConfigAccess);

/// Answers so far, in order: the DW of a read, anything for a write; `None`: Unsupported Request.
#[derive(Debug, Clone, Default)]
pub struct Log {
    answers: Vec<Option<u32>>,
    at: usize,
}

impl Log {
    /// Takes the answer to the access that the algorithm waits for.
    pub fn answer(&mut self, answer: Option<u32>) {
        self.answers.push(answer);
    }

    fn access(&mut self, access: ConfigAccess) -> Result<Option<u32>, Pause> {
        let answer = self.answers.get(self.at).copied().ok_or(Pause(access))?;
        self.at += 1;
        Ok(answer)
    }
}

/// One function under the eyes of the algorithm.
struct Function<'a> {
    log: &'a mut Log,
    target: u16,
}

impl Function<'_> {
    /// The DW of a register; all ones where nobody answers, as a host shows it to software.
    fn read(&mut self, register: usize) -> Result<u32, Pause> {
        let access = ConfigAccess { target: self.target, register: register as u16 & !3, write: None };
        Ok(self.log.access(access)?.unwrap_or(u32::MAX))
    }

    fn write(&mut self, register: usize, value: u32, enables: u8) -> Result<(), Pause> {
        let write = Some((value, enables));
        self.log.access(ConfigAccess { target: self.target, register: register as u16 & !3, write })?;
        Ok(())
    }

    /// A 16-bit register at any even byte address.
    fn read_half(&mut self, register: usize) -> Result<u16, Pause> {
        Ok((self.read(register)? >> (8 * (register % 4))) as u16)
    }

    fn write_half(&mut self, register: usize, value: u16) -> Result<(), Pause> {
        let shift = register % 4;
        self.write(register, u32::from(value) << (8 * shift), 0b11 << shift)
    }
}

/// Addresses that a host gives away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Windows {
    /// Bus behind the port.
    pub bus: u8,
    /// Where BARs go.
    pub mmio: u64,
    /// Where memory ranges go.
    pub memory: u64,
    /// Largest payload of the host \[bytes\].
    pub max_payload_bytes: usize,
}

/// What was found and what was made of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConfigWalkResult {
    /// Functions that answer, with vendor and device ID.
    pub functions: Vec<(u16, u16, u16)>,
    /// Capabilities of the first list.
    pub capabilities: u64,
    /// Extended capabilities: where and which.
    pub extended: Vec<(u16, u16)>,
    /// DVSECs of CXL: ID and length in bytes.
    pub dvsecs: Vec<(u16, u16)>,
    /// BARs as they were placed.
    pub bars: Vec<Range<u64>>,
    /// Memory ranges as they were placed.
    pub ranges: Vec<Range<u64>>,
    /// Largest payload that both can take \[bytes\].
    pub max_payload_bytes: usize,
    /// What the device says of its link.
    pub status: FlexBusStatus,
    /// Logical devices, 1 without an MLD DVSEC.
    pub logical_devices: u16,
    /// CXL.mem was switched on, and the lock set.
    pub mem_enabled: bool,
    /// What the device shows against the rules.
    pub broken: Vec<Violation>,
}

/// Runs the algorithm as far as the answers go.
///
/// # Errors
/// The access whose answer is missing.
pub fn enumerate(log: &mut Log, windows: &Windows) -> Result<ConfigWalkResult, Pause> {
    log.at = 0;
    let mut found = ConfigWalkResult { logical_devices: 1, ..ConfigWalkResult::default() };
    let mut functions = 1;
    let mut number = 0;
    while number < functions {
        let target = u16::from(windows.bus) << 8 | number;
        let mut function = Function { log, target };
        let id = function.read(reg::VENDOR.start)?;
        if id as u16 != u16::MAX {
            found.functions.push((target, id as u16, (id >> 16) as u16));
            let header = function.read(reg::HEADER_TYPE)? >> 16;
            // Bit 7: the device has more than one function.
            if number == 0 && header & 0x80 != 0 {
                functions = 8;
            }
            if header & 0x7f == u32::from(reg::TYPE_DEVICE) {
                device(&mut function, windows, &mut found)?;
            }
        }
        number += 1;
    }
    Ok(found)
}

fn device(function: &mut Function, windows: &Windows, found: &mut ConfigWalkResult) -> Result<(), Pause> {
    capabilities(function, windows, found)?;
    let first_bar = found.bars.len();
    bars(function, windows, found)?;
    let dvsecs = extended(function, found)?;
    for (id, at) in dvsecs {
        match id {
            DvsecId::Device => ranges(function, at, windows, found)?,
            DvsecId::FlexBusPort => {
                let status = function.read_half(at + dvsec::flex_bus_port::STATUS.start)?;
                found.status = FlexBusStatus::from_bits(status.into());
            }
            DvsecId::Mld => {
                found.logical_devices = function.read_half(at + dvsec::mld::LOGICAL_DEVICES.start)?;
            }
            _ => {}
        }
    }
    if found.bars.len() > first_bar {
        let command = u16::from(reg::COMMAND_MEMORY | reg::COMMAND_MASTER);
        function.write_half(reg::COMMAND.start, command)?;
    }
    Ok(())
}

/// Walks the first list and sets the largest payload.
fn capabilities(function: &mut Function, windows: &Windows, found: &mut ConfigWalkResult) -> Result<(), Pause> {
    found.max_payload_bytes = reg::payload_bytes(0);
    if function.read_half(reg::STATUS.start)? & u16::from(reg::STATUS_LIST) == 0 {
        return Ok(());
    }
    let mut at = function.read(reg::LIST)? as usize & 0xfc;
    // A list that runs in a circle is left after as many entries as fit.
    for _ in 0..48 {
        if at < reg::PCIE_AT {
            break;
        }
        let header = function.read(at)?;
        found.capabilities += 1;
        if header as u8 == reg::PCIE_ID {
            let supported = function.read(at + reg::PCIE_DEVICE_CAPABILITIES)? as u8 & 7;
            let code = supported.min(reg::payload_code(windows.max_payload_bytes));
            found.max_payload_bytes = reg::payload_bytes(code);
            function.write_half(at + reg::PCIE_DEVICE_CONTROL, u16::from(code) << 5)?;
        }
        at = (header >> 8) as usize & 0xfc;
    }
    Ok(())
}

/// Sizes every BAR by writing ones, then places it.
fn bars(function: &mut Function, windows: &Windows, found: &mut ConfigWalkResult) -> Result<(), Pause> {
    let mut free = found.bars.last().map_or(windows.mmio, |bar| bar.end);
    for n in 0..reg::BARS {
        let at = reg::bar_at(n);
        let kind = function.read(at)? as u8 & 0xf;
        function.write(at, u32::MAX, 0xf)?;
        function.write(at + 4, u32::MAX, 0xf)?;
        let mask = u64::from(function.read(at + 4)?) << 32 | u64::from(function.read(at)?);
        let size_bytes = (mask & !0xf).wrapping_neg();
        // No bit can be written, or the BAR has not 64 bits of memory.
        if size_bytes == 0 || kind & 0x7 != reg::BAR_64_BIT {
            continue;
        }
        let base = free.next_multiple_of(size_bytes);
        function.write(at, base as u32, 0xf)?;
        function.write(at + 4, (base >> 32) as u32, 0xf)?;
        free = base + size_bytes;
        found.bars.push(base..free);
    }
    Ok(())
}

/// Walks the extended list; the DVSECs of CXL with their places.
fn extended(function: &mut Function, found: &mut ConfigWalkResult) -> Result<Vec<(DvsecId, usize)>, Pause> {
    let mut dvsecs = Vec::new();
    let mut at = EXTENDED_AT;
    while (EXTENDED_AT..BYTES).contains(&at) && found.extended.len() < BYTES / 8 {
        let first = u128::from(function.read(at)?);
        let capability = DvsecHeader::from_bits(first);
        if capability.capability_id == 0 || capability.capability_id == u16::MAX {
            break;
        }
        found.extended.push((at as u16, capability.capability_id));
        if capability.capability_id == CAPABILITY_ID {
            let [second, third] = [function.read(at + 4)?, function.read(at + 8)?].map(u128::from);
            let header = DvsecHeader::from_bits(first | second << 32 | third << 64);
            if header.vendor == VENDOR_ID {
                found.broken.extend(check_header(&header));
                found.dvsecs.push((header.dvsec_id, header.length_bytes));
                dvsecs.extend(DvsecId::of(header.dvsec_id).map(|id| (id, at)));
            }
        }
        at = usize::from(capability.next_bytes);
    }
    Ok(dvsecs)
}

/// Places the memory ranges, switches CXL.mem on and locks both.
fn ranges(function: &mut Function, at: usize, windows: &Windows, found: &mut ConfigWalkResult) -> Result<(), Pause> {
    let capability = function.read_half(at + dvsec::device::CAPABILITY.start)?;
    let capability = DeviceCapability::from_bits(capability.into());
    let mut free = windows.memory;
    for n in 0..usize::from(capability.hdm_count.min(2)) {
        let at = at + dvsec::RANGE_STRIDE * n;
        let [high, low] = [
            function.read(at + dvsec::device::RANGE0_SIZE_HIGH.start)?,
            function.read(at + dvsec::device::RANGE0_SIZE_LOW.start)?,
        ];
        let size_bytes = u64::from(high) << 32 | u64::from(low) & !reg::RANGE_LOW_STATE;
        function.write(at + dvsec::device::RANGE0_BASE_HIGH.start, (free >> 32) as u32, 0xf)?;
        function.write(at + dvsec::device::RANGE0_BASE_LOW.start, free as u32, 0xf)?;
        found.ranges.push(free..free + size_bytes);
        free += size_bytes;
    }
    if capability.mem {
        let control_at = at + dvsec::device::CONTROL.start;
        let control = DeviceControl { mem_enable: true, ..DeviceControl::default() };
        function.write_half(control_at, control.to_bits().unwrap_or(0) as u16)?;
        function.write_half(at + dvsec::device::LOCK.start, 1)?;
        let control = function.read_half(control_at)?;
        found.mem_enabled = DeviceControl::from_bits(control.into()).mem_enable;
    }
    Ok(())
}
