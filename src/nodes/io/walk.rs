//! What a host does to find a CXL device and to make it answer: configuration accesses, one after the other.
//!
//! The algorithm is straight code over a [`Log`] of answers. It runs again from its start with every answer that comes and
//! stops where the log ends, so it needs no state between accesses and every decision can be read in order.
//!
//! Modelled: functions of a device, the list of capabilities, sizing and placing of BARs, the DVSECs of CXL, memory
//! ranges, the largest payload, the lock; the ports of switches: buses are numbered in depth, each port gets a window around what
//! is placed behind it, and one largest payload holds for the whole hierarchy. An access that ends without data is no value: the walk
//! of its function ends there, and it goes on with the next one. Left out: resource rebalancing, option ROMs, the
//! component registers of ports, so their BARs are not placed.

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
        let (bus, device, function) = (target >> 8, target >> 3 & 0x1f, target & 7);
        let of = format!("of register {register:#x} of {bus:02x}:{device:02x}.{function}");
        match write {
            None => write!(f, "read {of}"),
            Some((value, enables)) => write!(f, "write {of} with {value:#x} and byte enables {enables:#x}"),
        }
    }
}

/// The algorithm waits for the answer to an access.
pub struct Pause(pub ConfigAccess);

/// Why the algorithm stops at a function.
enum WalkStop {
    /// It waits for the answer to an access.
    Pause(Pause),
    /// This access ended without data.
    Unanswered(ConfigAccess),
}

/// Answers so far, in order: the DW of a read, anything for a write; `None`: it ended without data, by time-out or with another
/// status than success.
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
    fn access(&mut self, register: usize, write: Option<(u32, u8)>) -> Result<u32, WalkStop> {
        let access = ConfigAccess { target: self.target, register: register as u16 & !3, write };
        self.log.access(access).map_err(WalkStop::Pause)?.ok_or(WalkStop::Unanswered(access))
    }

    /// Vendor and device ID; `None`: nobody is there.
    fn id(&mut self) -> Result<Option<u32>, Pause> {
        match self.read(reg::VENDOR.start) {
            Ok(id) => Ok(Some(id).filter(|id| *id as u16 != u16::MAX)),
            Err(WalkStop::Unanswered(_)) => Ok(None),
            Err(WalkStop::Pause(pause)) => Err(pause),
        }
    }

    /// The DW of a register.
    fn read(&mut self, register: usize) -> Result<u32, WalkStop> {
        self.access(register, None)
    }

    fn write(&mut self, register: usize, value: u32, enables: u8) -> Result<(), WalkStop> {
        self.access(register, Some((value, enables)))?;
        Ok(())
    }

    /// A 16-bit register at any even byte address.
    fn read_half(&mut self, register: usize) -> Result<u16, WalkStop> {
        Ok((self.read(register)? >> (8 * (register % 4))) as u16)
    }

    fn write_half(&mut self, register: usize, value: u16) -> Result<(), WalkStop> {
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
    /// Ports of switches that answer: bus, device and function, then secondary and subordinate bus.
    pub bridges: Vec<(u16, [u8; 2])>,
    /// Largest payload that each function was told, and where it is written.
    payloads: Vec<(u16, usize, u8)>,
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
    /// The first BAR of each function that has one, and the function.
    pub first_bars: Vec<(u16, Range<u64>)>,
    /// Serial numbers of functions that say one.
    pub serial_numbers: Vec<(u16, u64)>,
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
    /// Most switches one below the other that were found.
    pub layers: usize,
    /// Accesses that ended without data at functions that are there: the walk of each of them ended there.
    pub unanswered: Vec<ConfigAccess>,
    /// What the device shows against the rules.
    pub broken: Vec<Violation>,
}

impl ConfigWalkResult {
    /// Takes how the walk of a function, or a step of it, ended.
    fn note<T>(&mut self, ended: Result<T, WalkStop>) -> Result<Option<T>, Pause> {
        match ended {
            Ok(value) => Ok(Some(value)),
            Err(WalkStop::Pause(pause)) => Err(pause),
            Err(WalkStop::Unanswered(access)) => {
                self.unanswered.push(access);
                Ok(None)
            }
        }
    }
}

impl ConfigWalkResult {
    /// First BARs of functions with a serial number, and the number.
    pub fn numbered_bars(&self) -> impl Iterator<Item = (u64, Range<u64>)> + '_ {
        self.first_bars.iter().filter_map(|(target, bar)| {
            let number = self.serial_numbers.iter().find(|(of, _)| of == target)?.1;
            Some((number, bar.clone()))
        })
    }
}

/// Runs the algorithm as far as the answers go.
///
/// # Errors
/// The access whose answer is missing.
pub fn enumerate(log: &mut Log, windows: &Windows) -> Result<ConfigWalkResult, Pause> {
    log.at = 0;
    let mut found = ConfigWalkResult { logical_devices: 1, ..ConfigWalkResult::default() };
    let mut last_bus = windows.bus;
    bus(log, windows, (windows.bus, 1, 0), &mut last_bus, &mut found)?;
    // All that is below takes what the least of them can take.
    let least = found.payloads.iter().map(|(.., code)| *code).min().unwrap_or(0);
    for (target, register, code) in std::mem::take(&mut found.payloads) {
        if code > least {
            let told = Function { log, target }.write_half(register, u16::from(least) << 5);
            found.note(told)?;
        }
    }
    found.max_payload_bytes = reg::payload_bytes(least);
    Ok(found)
}

/// Device numbers that a bus inside a switch has; behind a link there is one.
const INNER_DEVICES: u16 = 32;

/// Judges how many switches one below the other a host has found behind the edge of a fabric, whatever the number of switches
/// between (`fabric` PID-4).
pub fn judge_layers(found: &ConfigWalkResult, most: usize) -> Option<Violation> {
    (found.layers > most).then(|| {
        let text = "a host sees more of a fabric than its two edges";
        Violation::at_byte(
            "FAB-PID-04",
            0,
            format!("{} switches one below the other", found.layers),
            format!("{most} at most"),
            text,
        )
    })
}

/// Walks the devices of a bus, which has so many device numbers and so many switches above it, and what is behind them.
fn bus(
    log: &mut Log,
    windows: &Windows,
    (bus, devices, above): (u8, u16, usize),
    last_bus: &mut u8,
    found: &mut ConfigWalkResult,
) -> Result<(), Pause> {
    for first in (0..devices).map(|device| u16::from(bus) << 8 | device << 3) {
        let mut functions = 1;
        let mut number = 0;
        while number < functions {
            let target = first | number;
            let mut function = Function { log, target };
            if let Some(id) = function.id()? {
                found.functions.push((target, id as u16, (id >> 16) as u16));
                let header = function.read(reg::HEADER_TYPE);
                let Some(header) = found.note(header)?.map(|dw| (dw >> 16) as u8) else {
                    number += 1;
                    continue;
                };
                if number == 0 && header & reg::TYPE_MANY_FUNCTIONS != 0 {
                    functions = 8;
                }
                let ended = match header & !reg::TYPE_MANY_FUNCTIONS {
                    reg::TYPE_DEVICE => device(&mut function, windows, found),
                    reg::TYPE_BRIDGE => bridge(function, windows, above, last_bus, found),
                    _ => Ok(()),
                };
                found.note(ended)?;
            }
            number += 1;
        }
    }
    Ok(())
}

/// Numbers the bus behind a port, walks it, and gives the port the numbers and the window of what was found there.
fn bridge(
    mut function: Function<'_>,
    windows: &Windows,
    above: usize,
    last_bus: &mut u8,
    found: &mut ConfigWalkResult,
) -> Result<(), WalkStop> {
    let kind = match capabilities(&mut function, windows, found)? {
        Some(at) => (function.read(at)? >> (8 * reg::PCIE_TYPE + 4)) as u8 & 0xf,
        None => 0,
    };
    // There is no number left for what is behind it.
    let Some(secondary) = last_bus.checked_add(1) else { return Ok(()) };
    *last_bus = secondary;
    let target = function.target;
    let primary = (target >> 8) as u8;
    let numbers = |subordinate: u8| u32::from_le_bytes([primary, secondary, subordinate, 0]);
    // All higher numbers are behind it until it is known how many there are.
    function.write(reg::BUSES.start, numbers(u8::MAX), 0b0111)?;
    let (devices, layers) = if kind == reg::PCIE_TYPE_UPSTREAM { (INNER_DEVICES, above + 1) } else { (1, above) };
    found.layers = found.layers.max(layers);
    // What is behind it begins where a window can.
    let end = |found: &ConfigWalkResult| found.bars.last().map_or(windows.mmio, |bar| bar.end);
    let base = end(found).next_multiple_of(reg::WINDOW_STEP_BYTES);
    let (from, before) = (Windows { mmio: base, ..*windows }, found.bars.len());
    let all = std::mem::take(&mut found.bars);
    bus(function.log, &from, (secondary, devices, layers), last_bus, found).map_err(WalkStop::Pause)?;
    let below = std::mem::replace(&mut found.bars, all);
    let last = below.last().map(|bar| bar.end.next_multiple_of(reg::WINDOW_STEP_BYTES) - 1);
    found.bars.extend(below);
    function.write(reg::BUSES.start, numbers(*last_bus), 0b0111)?;
    found.bridges.push((target, [secondary, *last_bus]));
    // Windows that hold nothing end below their base.
    function.write(reg::WINDOW.start, 0x0000_fff0, 0xf)?;
    let (base, last) = if found.bars.len() > before { (base, last.unwrap_or(base)) } else { (u64::MAX, 0) };
    let half = |address: u64| (address >> 16) as u32 & 0xfff0;
    let at = reg::PREFETCHABLE.start;
    function.write(at, half(last) << 16 | half(base), 0xf)?;
    function.write(at + 4, (base >> 32) as u32, 0xf)?;
    function.write(at + 8, (last >> 32) as u32, 0xf)?;
    function.write_half(reg::COMMAND.start, u16::from(reg::COMMAND_MEMORY | reg::COMMAND_MASTER))
}

fn device(function: &mut Function, windows: &Windows, found: &mut ConfigWalkResult) -> Result<(), WalkStop> {
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

/// Walks the first list and sets the largest payload; where the PCI Express capability begins.
fn capabilities(
    function: &mut Function,
    windows: &Windows,
    found: &mut ConfigWalkResult,
) -> Result<Option<usize>, WalkStop> {
    let mut express = None;
    let has_list = function.read_half(reg::STATUS.start)? & u16::from(reg::STATUS_LIST) != 0;
    let mut at = if has_list { function.read(reg::LIST)? as usize & 0xfc } else { 0 };
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
            function.write_half(at + reg::PCIE_DEVICE_CONTROL, u16::from(code) << 5)?;
            found.payloads.push((function.target, at + reg::PCIE_DEVICE_CONTROL, code));
            express = Some(at);
        }
        at = (header >> 8) as usize & 0xfc;
    }
    if express.is_none() {
        // It can be told nothing, and takes what everything takes.
        found.payloads.push((function.target, 0, 0));
    }
    Ok(express)
}

/// Sizes every BAR by writing ones, then places it.
fn bars(function: &mut Function, windows: &Windows, found: &mut ConfigWalkResult) -> Result<(), WalkStop> {
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
        // One that finds no addresses any more is not placed.
        let placed = free.checked_next_multiple_of(size_bytes).and_then(|at| Some((at, at.checked_add(size_bytes)?)));
        let Some((base, end)) = placed else { continue };
        function.write(at, base as u32, 0xf)?;
        function.write(at + 4, (base >> 32) as u32, 0xf)?;
        free = end;
        if found.first_bars.last().is_none_or(|(target, _)| *target != function.target) {
            found.first_bars.push((function.target, base..free));
        }
        found.bars.push(base..free);
    }
    Ok(())
}

/// Walks the extended list; the DVSECs of CXL with their places.
fn extended(function: &mut Function, found: &mut ConfigWalkResult) -> Result<Vec<(DvsecId, usize)>, WalkStop> {
    let mut dvsecs = Vec::new();
    let mut at = EXTENDED_AT;
    while (EXTENDED_AT..BYTES).contains(&at) && found.extended.len() < BYTES / 8 {
        let first = u128::from(function.read(at)?);
        let capability = DvsecHeader::from_bits(first);
        if capability.capability_id == 0 || capability.capability_id == u16::MAX {
            break;
        }
        found.extended.push((at as u16, capability.capability_id));
        if capability.capability_id == reg::SERIAL_ID {
            let [low, high] = [function.read(at + reg::SERIAL_AT)?, function.read(at + reg::SERIAL_AT + 4)?];
            found.serial_numbers.push((function.target, u64::from(high) << 32 | u64::from(low)));
        }
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
fn ranges(function: &mut Function, at: usize, windows: &Windows, found: &mut ConfigWalkResult) -> Result<(), WalkStop> {
    let capability = function.read_half(at + dvsec::device::CAPABILITY.start)?;
    let capability = DeviceCapability::from_bits(capability.into());
    let mut free = found.ranges.last().map_or(windows.memory, |range| range.end);
    for n in 0..usize::from(capability.hdm_count.min(2)) {
        let at = at + dvsec::RANGE_STRIDE * n;
        let [high, low] = [
            function.read(at + dvsec::device::RANGE0_SIZE_HIGH.start)?,
            function.read(at + dvsec::device::RANGE0_SIZE_LOW.start)?,
        ];
        let size_bytes = u64::from(high) << 32 | u64::from(low) & !reg::RANGE_LOW_STATE;
        // One that finds no addresses any more is not placed.
        let Some(end) = free.checked_add(size_bytes) else { continue };
        function.write(at + dvsec::device::RANGE0_BASE_HIGH.start, (free >> 32) as u32, 0xf)?;
        function.write(at + dvsec::device::RANGE0_BASE_LOW.start, free as u32, 0xf)?;
        found.ranges.push(free..end);
        free = end;
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
