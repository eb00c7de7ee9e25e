//! Configuration space of a CXL root port or downstream port: type 1 header and the DVSECs of a port.

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
