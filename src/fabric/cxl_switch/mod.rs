//! The CXL switch with hierarchy based routing (HBR), for CXL.mem (`fabric` §1).
//!
//! Modelled: virtual hierarchies (VCS), each an upstream port with its virtual bridges (vPPB) and its HDM decoders;
//! bindings of vPPBs to downstream ports or to logical devices behind them; requests routed by decoder, vPPB and binding,
//! responses by port and LD-ID; a request that no decoder claims is answered by the switch; a crossbar with a queue for
//! each input, output and message class; named pipeline stages. Detail: whole messages; a pipeline stage is modelled as
//! its latency. Left out: CXL.cache and back-invalidates, CXL.io, and the individual flits of a message (the link ends
//! have already assembled the message, so there is no cut-through inside a message).
//!
//! | file | content |
//! | --- | --- |
//! | [`preset`] | pipeline stages and their latencies |
//! | [`binding`] | the bindings of vPPBs |
//! | [`route`] | the output of a message, without time |
//! | [`manager`] | commands that change bindings while the switch runs |
//! | [`crossbar`] | queues, allocation, room at the outputs |
//! | [`module`] | the kernel module |
//!
//! A walk through one read: an M2S Req of host 1 comes out of the link end at `usp[1]`. The decoders of VCS 1 select a
//! vPPB. The binding of the vPPB selects a downstream port and, behind a multi-logical device (MLD), a logical device,
//! whose LD-ID is written into the request. After the stages before the grant the request waits in the queue of
//! (`usp[1]`, that port, M2S Req) for a grant, passes the stages after the grant and leaves through the link end of the
//! port. The response carries the LD-ID of the device. Port and LD-ID identify the vPPB and its VCS, the LD-ID is
//! cleared, and the response leaves at `usp[1]`. Tags pass unchanged: the switch keeps no table of tags.
//!
//! # Invariants
//!
//! Every message that enters leaves once, or is answered, or is dropped and counted. Messages of one input, output and
//! class keep their order. A class without room blocks no other class, so requests never block responses. No message
//! passes from one VCS to another.

pub mod binding;
pub mod crossbar;
pub mod manager;
pub mod module;
pub mod preset;
pub mod route;

pub use binding::{BindingError, Bindings, VppbBinding};
pub use crossbar::{VoqConfig, VoqCrossbar};
pub use manager::{ManagerCommand, ManagerEvent, TimedCommand};
pub use module::{HbrSwitch, HbrSwitchConfig, HbrSwitchResult, PortCounts};
pub use preset::{HBR_PRESETS, HBR_STAGES, HbrPreset};
pub use route::{HbrRoute, HbrRoutes, Undelivered};
