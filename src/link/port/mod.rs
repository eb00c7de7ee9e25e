//! Ports: a link end together with its place in a simulation.
//!
//! Modelled: the port of a link end of any protocol as a module of the kernel ([`Port`]), the logic that it has around its end
//! ([`Frame`]), and the channels to the agents behind it ([`PortAgent`]). What differs between protocols stands between end and
//! wire ([`PortPhy`]): CXL trains its links and may take units by halves ([`FlitPhy`]),
//! [UALink](super::ualink::tl::port) has code words that carry no flit and waits for the peer's answer,
//! [NVLink](super::nvlink::port) transfers the flits of a packet as one item. Left out: the meaning of units and items.

mod agent;
mod end;
mod flit_phy;
mod frame;
mod making;
mod module;
mod phy;
mod wire;

pub use agent::{Channels, PACKER_DEPTH, PortAgent};
pub use end::{Carries, CxlEnd, LinkEnd, Reports};
pub use flit_phy::{FlitPhy, FlitPhyConfig, WireItem};
pub use frame::{Frame, FrameConfig, GIVE_UP_RULE, PortResult};
pub use making::{MakesAgents, MakesIoAgents, MakesPort};
pub use module::{Port, PortConfig, PortSteps, Ports};
pub use phy::{PortEnd, PortPhy};
pub use wire::Arriving;
pub(crate) use wire::{WayOut, on_wire};
