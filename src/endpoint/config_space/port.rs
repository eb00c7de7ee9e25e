//! Configuration space of a CXL root port, and of the ports of a switch: type 1 header and the DVSECs of a port.
//!
//! Modelled: bus numbers, memory windows, largest payload. Left out: the I/O window, hot-plug registers, what is behind BAR 0.

use super::{ConfigSpace, registers as reg};
use scalepool_protocols::cxl::cxlio::dvsec::{self, DvsecId, FlexBus};
use scalepool_protocols::cxl::cxlio::vdm::VENDOR_ID;

/// Time-outs of the flush phases: value 1, scale 6 stand for 1 s (basis: model).
const GPF_TIME_OUT: u16 = 0x0601;

/// Size of the component registers (general knowledge: 64 KiB).
const COMPONENT_REGISTER_BYTES: u64 = 64 << 10;

/// Builds the space as it is after reset; its bus numbers and memory window can be written.
pub fn port(flex_bus: FlexBus) -> ConfigSpace {
    let mut space = ConfigSpace::empty();
    space.set(reg::VENDOR.start, &VENDOR_ID.to_le_bytes());
    space.make_writable(reg::COMMAND.start, &[reg::COMMAND_MEMORY | reg::COMMAND_MASTER]);
    space.set(reg::STATUS.start, &[reg::STATUS_LIST]);
    space.set(reg::CLASS.start, &reg::CLASS_BRIDGE);
    space.set(reg::HEADER_TYPE, &[reg::TYPE_BRIDGE]);
    space.add_bar(0, COMPONENT_REGISTER_BYTES);
    space.make_writable(reg::BUSES.start, &[0xff; 3]);
    // Bits 3:0 of base and limit are no address.
    space.make_writable(reg::WINDOW.start, &[0xf0, 0xff, 0xf0, 0xff]);
    space.set(reg::LIST, &[reg::PCIE_AT as u8]);
    // Version 2 of the capability, a root port.
    space.set(reg::PCIE_AT, &[reg::PCIE_ID, 0, 0x42, 0]);
    let extensions = space.add_dvsec(DvsecId::PortExtensions, dvsec::port_extensions::LEN);
    space.make_writable(extensions + dvsec::port_extensions::ALTERNATE_BUSES.start, &[0xff; 2]);
    let gpf = space.add_dvsec(DvsecId::GpfPort, dvsec::gpf_port::LEN);
    for register in [dvsec::gpf_port::PHASE1_CONTROL, dvsec::gpf_port::PHASE2_CONTROL] {
        space.set(gpf + register.start, &GPF_TIME_OUT.to_le_bytes());
        space.make_writable(gpf + register.start, &[0x0f, 0x0f]);
    }
    space.add_flex_bus(FlexBus { io: true, ..flex_bus });
    space.add_register_locator();
    space
}

/// Which port of a switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SwitchPort {
    /// Towards the host.
    Upstream,
    /// Towards a device.
    Downstream,
}

/// Builds the space of a port of a switch as it is after reset: its windows with 64 bits can be written, and it takes payloads of so
/// many bytes, 128 to 4096.
pub fn switch_port(which: SwitchPort, flex_bus: FlexBus, max_payload_bytes: usize) -> ConfigSpace {
    let mut space = port(flex_bus);
    let kind = match which {
        SwitchPort::Upstream => reg::PCIE_TYPE_UPSTREAM,
        SwitchPort::Downstream => reg::PCIE_TYPE_DOWNSTREAM,
    };
    space.set(reg::PCIE_AT + reg::PCIE_TYPE, &[kind << 4 | 2]);
    space.set(reg::PCIE_AT + reg::PCIE_DEVICE_CAPABILITIES, &[reg::payload_code(max_payload_bytes)]);
    space.make_writable(reg::PCIE_AT + reg::PCIE_DEVICE_CONTROL, &[7 << 5]);
    let at = reg::PREFETCHABLE.start;
    for low in [at, at + 2] {
        space.set(low, &[reg::PREFETCHABLE_64_BIT]);
        space.make_writable(low, &[0xf0, 0xff]);
    }
    space.make_writable(at + 4, &[0xff; 8]);
    space
}

impl ConfigSpace {
    /// Primary, secondary and subordinate bus of a port.
    pub fn buses(&self) -> [u8; 3] {
        let bytes = self.bytes(reg::BUSES);
        [bytes[0], bytes[1], bytes[2]]
    }

    /// Whether a bus is behind a port: one of its secondary bus to its subordinate one; bus 0 is behind none.
    pub fn has_behind(&self, bus: u8) -> bool {
        let [_, secondary, subordinate] = self.buses();
        secondary != 0 && (secondary..=subordinate).contains(&bus)
    }

    /// Whether a port passes an address down: memory is enabled and one of its windows holds it.
    pub fn passes_down(&self, address: u64) -> bool {
        let half = |at: usize| self.number(at, 0..2) as u64 & 0xfff0;
        let (low, high) = (reg::WINDOW.start, reg::PREFETCHABLE.start);
        let upper = |at: usize| (self.number(at, 0..4) as u64) << 32;
        let windows = [
            (half(low) << 16, half(low + 2) << 16),
            (half(high) << 16 | upper(high + 4), half(high + 2) << 16 | upper(high + 8)),
        ];
        let holds = |(base, last): (u64, u64)| base <= address && address <= last | (reg::WINDOW_STEP_BYTES - 1);
        self.memory_enabled() && windows.into_iter().any(holds)
    }

    /// Whether a port passes memory requests up (command register).
    pub fn passes_up(&self) -> bool {
        self.bytes(reg::COMMAND)[0] & reg::COMMAND_MASTER != 0
    }

    /// The function is one of several of its device.
    pub fn has_siblings(&mut self) {
        self.set(reg::HEADER_TYPE, &[reg::TYPE_BRIDGE | reg::TYPE_MANY_FUNCTIONS]);
    }
}
