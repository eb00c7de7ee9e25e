//! A link end with its place in a simulation.
//!
//! Modelled: what every port has around its end ([`Frame`]), the channels of agents behind it, and the port of a CXL link as a
//! module of the kernel ([`LinkEndPort`]). The ports of [UALink](super::ualink::tl::port) and
//! [NVLink](super::nvlink::port) stand over the same frame, each with what its protocol alone does: code words and the
//! peer's wait for an answer, packets whose flits travel as one. Left out: what units and items mean.

mod agent;
mod end;
mod frame;
mod module;
mod wire;

pub use agent::{Channels, PACKER_DEPTH, PortAgent};
pub use end::{Carries, CxlEnd, LinkEnd, Reports};
pub use frame::{Frame, FrameConfig, GIVE_UP_RULE, PortResult};
pub use module::{LinkEndPort, PortConfig, Ports, WireItem};
pub use wire::Arriving;
pub(crate) use wire::{WayOut, on_wire};
