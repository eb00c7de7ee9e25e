//! The CXL switch with hierarchy based routing (HBR), for CXL.mem (`fabric` §1).
//!
//! Modelled: virtual hierarchies (VCS), each an upstream port with its virtual bridges (vPPB) and its HDM decoders; bindings of
//! vPPBs to downstream ports or to logical devices of one; requests routed by decoder, vPPB and binding, answers by port
//! and LD-ID; what nothing decodes is answered by the switch; a crossbar with a queue for each input, output and message
//! class; pipeline stages with names. Detail: whole messages; what a stage does inside takes its latency. Left out:
//! CXL.cache and back-invalidates, CXL.io, the flits of a message one by one (link ends have put them together, so
//! nothing is cut through inside a message).
//!
//! | file | what |
//! | --- | --- |
//! | [`preset`] | stages and their latencies |
//! | [`binding`] | vPPBs and what they are bound to |
//! | [`route`] | a message to its output, without time |
//! | [`manager`] | commands that change bindings while the switch runs |
//! | [`crossbar`] | queues, allocation, room at the outputs |
//! | [`module`] | the module |
//!
//! A walk through one read: M2S Req of host 1 comes out of the link end at `usp[1]`. The decoders of VCS 1 name a vPPB, its
//! binding a downstream port and, behind a multi-logical device (MLD), a logical device, whose LD-ID the request gets. Behind
//! the stages in front it waits in the queue of (`usp[1]`, that port, M2S Req) for a grant, passes the stages behind and leaves
//! through the link end of the port. The answer has the LD-ID of the device; port and LD-ID name the vPPB and its VCS, the
//! LD-ID is cleared, and the answer leaves at `usp[1]`. Tags pass as they are: the switch has no table of them.
//!
//! # Invariants
//!
//! What comes in goes out once, or is answered, or is dropped and counted; messages of one input, output and class
//! keep their order; a class without room holds up no other class, so requests never block responses; nothing passes from
//! one VCS to another.

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
