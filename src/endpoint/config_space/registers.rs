//! Places and bits of the standard part of configuration space.
//!
//! The sheets of the project are about CXL, so the numbers here are general knowledge of PCI Express (basis: inferred).

use std::ops::Range;

/// Vendor ID.
pub const VENDOR: Range<usize> = 0x00..0x02;
/// Device ID.
pub const DEVICE: Range<usize> = 0x02..0x04;
/// Command.
pub const COMMAND: Range<usize> = 0x04..0x06;
/// Command bit 1: memory requests are answered.
pub const COMMAND_MEMORY: u8 = 0x02;
/// Command bit 2: the device may send requests.
pub const COMMAND_MASTER: u8 = 0x04;
/// Status.
pub const STATUS: Range<usize> = 0x06..0x08;
/// Status bit 4: there is a list of capabilities.
pub const STATUS_LIST: u8 = 0x10;
/// Class code: programming interface, subclass, class.
pub const CLASS: Range<usize> = 0x09..0x0c;
/// Class of a CXL memory device.
pub const CLASS_CXL_MEMORY: [u8; 3] = [0x10, 0x02, 0x05];
/// Class of a PCI bridge.
pub const CLASS_BRIDGE: [u8; 3] = [0x00, 0x04, 0x06];
/// Header type.
pub const HEADER_TYPE: usize = 0x0e;
/// Header type of a device.
pub const TYPE_DEVICE: u8 = 0;
/// Header type of a port.
pub const TYPE_BRIDGE: u8 = 1;
/// BAR bits 2:1: the address has 64 bits.
pub const BAR_64_BIT: u8 = 0x04;
/// Number of places for 64-bit BARs that are modelled.
pub const BARS: usize = 2;
/// Ports: primary, secondary, subordinate bus.
pub const BUSES: Range<usize> = 0x18..0x1b;
/// Ports: memory window, base and limit.
pub const WINDOW: Range<usize> = 0x20..0x24;
/// Ports: prefetchable memory window, base and limit with 64 bits: bits 31:20, then bits 63:32 of both.
pub const PREFETCHABLE: Range<usize> = 0x24..0x30;
/// Bit 0 of base and limit of the prefetchable window: they have 64 bits.
pub const PREFETCHABLE_64_BIT: u8 = 1;
/// Size of what a window counts in \[bytes\].
pub const WINDOW_STEP_BYTES: u64 = 1 << 20;
/// Header type bit 7: the device has more than one function.
pub const TYPE_MANY_FUNCTIONS: u8 = 0x80;
/// Where the first capability is.
pub const LIST: usize = 0x34;

/// The PCI Express capability, the only one in the list.
pub const PCIE_AT: usize = 0x40;
/// Its ID.
pub const PCIE_ID: u8 = 0x10;
/// Device capabilities: bits 2:0 largest payload.
pub const PCIE_DEVICE_CAPABILITIES: usize = 0x04;
/// PCI Express capabilities: bits 7:4 of the byte are the type of the port.
pub const PCIE_TYPE: usize = 0x02;
/// Type of the upstream port of a switch.
pub const PCIE_TYPE_UPSTREAM: u8 = 5;
/// Type of a downstream port of a switch.
pub const PCIE_TYPE_DOWNSTREAM: u8 = 6;
/// Device control: bits 7:5 largest payload, 14:12 largest read request.
pub const PCIE_DEVICE_CONTROL: usize = 0x08;

/// DVSEC ranges: bits 27:0 of the low half are state or reserved, the rest is address or size.
pub const RANGE_LOW_STATE: u64 = 0x0fff_ffff;
/// Second status of a device, high byte: power management initialisation is over.
pub const STATUS2_HIGH_PM_INIT: u8 = 0x80;
/// Kind of register block: component registers.
pub const BLOCK_COMPONENT: u32 = 1;

/// Where the n-th 64-bit BAR begins.
pub const fn bar_at(n: usize) -> usize {
    0x10 + 8 * n
}

/// Bytes of a payload code: 0 is 128, 5 is 4096; larger codes count as 5.
pub const fn payload_bytes(code: u8) -> usize {
    128 << (if code > 5 { 5 } else { code })
}

/// The largest payload code that stands for at most so many bytes.
pub fn payload_code(bytes: usize) -> u8 {
    (0..=5).rev().find(|&code| payload_bytes(code) <= bytes).unwrap_or(0)
}

/// Extended capability with the serial number of a device (PCI Express: Device Serial Number).
pub const SERIAL_ID: u16 = 0x0003;
/// Its length.
pub const SERIAL_BYTES: usize = 12;
/// Where the number begins in it, 64 bits.
pub const SERIAL_AT: usize = 4;
