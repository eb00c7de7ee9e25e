//! Ports: a link end together with its place in a simulation.
//!
//! Modelled: the logic that every port has around its link end ([`Frame`]), the channels to the agents behind the port,
//! and the port of a CXL link as a module of the kernel ([`LinkEndPort`]). The ports of [UALink](super::ualink::tl::port)
//! and [NVLink](super::nvlink::port) use the same frame and add what only their protocol does: UALink adds code words and
//! waits for the peer's answer, NVLink transfers the flits of a packet as one unit. Left out: the meaning of units and
//! items.

mod agent;
mod end;
mod frame;
mod making;
mod module;
mod wire;

pub use agent::{Channels, PACKER_DEPTH, PortAgent};
pub use end::{Carries, CxlEnd, LinkEnd, Reports};
pub use frame::{Frame, FrameConfig, GIVE_UP_RULE, PortResult};
pub use making::{MakesAgents, MakesIoAgents, MakesPort};
pub use module::{LinkEndPort, PortConfig, Ports, WireItem};
pub use wire::Arriving;
pub(crate) use wire::{WayOut, on_wire};
