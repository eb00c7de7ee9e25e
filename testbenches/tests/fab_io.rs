//! The CXL.io side of switches: where TLPs go, power management, and root complexes that find devices through a switch.

mod hierarchy;
mod logical_devices;
mod mem_beside;
mod silent_device;
mod systems;
mod uio;
