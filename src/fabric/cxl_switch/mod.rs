//! CXL switches: with hierarchy based routing (HBR, `fabric` §1), and with port based routing (PBR, [`pbr`]).
//!
//! Modelled, with hierarchy based routing: virtual hierarchies (VCS), each an upstream port with its virtual bridges (vPPB)
//! and its HDM decoders; bindings of vPPBs to downstream ports or to logical devices behind them; requests routed by decoder,
//! vPPB and binding, responses by port and LD-ID; a request that no decoder claims is answered by the switch; back-invalidates
//! by BI-ID and CXL.cache by CacheID. With either routing: a crossbar with a queue for each input, output and message class;
//! named pipeline stages. Detail: whole messages; a pipeline stage is modelled as its latency. Left out: CXL.io
//! (see `scalepool_nodes::io::switch`), and the individual flits of a message (the link ends have already assembled
//! the message, so there is no cut-through inside a message).
//!
//! | file | content |
//! | --- | --- |
//! | [`preset`] | pipeline stages and their latencies |
//! | [`binding`] | the bindings of vPPBs |
//! | [`route`] | the output of a message with hierarchy based routing, without time |
//! | [`back_invalidate`] | the bridges of vPPBs for back-invalidate snoops and their answers |
//! | [`cache_id`] | CXL.cache by CacheID |
//! | [`command`] | what the fabric manager is told to do, and how it ends |
//! | [`manager`] | commands that change bindings while the switch runs |
//! | [`reset`] | what a reset covers |
//! | [`hot_plug`] | ports that come and go, as hosts and the manager see them, step by step |
//! | [`plug`] | the ports of a running switch, with the times of hosts and links |
//! | [`plug_watch`] | what judges them while the switch runs |
//! | `away` | bindings that stand while nothing reaches what they are bound to |
//! | [`commit`] | the commit of a table and its limit |
//! | [`committing`] | the commits of a running switch |
//! | [`aer`] | which bridges record an error |
//! | [`viral`] | hierarchies in viral, and what their ports tell |
//! | [`reserved`] | reserved bits of messages that pass, as a reference |
//! | [`port_mode`] | ports in CXL and in PCIe mode, as a reference |
//! | [`passage`] | what judges a switch by the messages at its ports |
//! | [`hop_credits`] | credits of a class on both sides of a switch, and what is wrong with them at rest |
//! | [`cut_through`] | messages that leave before all of them has come, as a reference |
//! | [`uio_route`] | unordered I/O to memory below, and its judge |
//! | [`hbr`] | the routes, their bindings and the manager as a running switch uses them |
//! | [`pbr`] | port based routing |
//! | [`room`] | what judges the room that messages take inside a switch |
//! | [`switching`] | what a kind of routing decides |
//! | [`crossbar`] | queues, allocation, room at the outputs |
//! | [`module`] | the kernel module, the same for both |
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
//! class keep their order, and a snoop of CXL.cache stays behind the responses that came before it. Else a class without room blocks no other class, so requests never block responses. No message
//! passes from one VCS to another, and none from a host to a device that is not bound to it.

pub mod aer;
mod away;
pub mod back_invalidate;
pub mod binding;
pub mod cache_id;
pub mod command;
pub mod commit;
pub mod committing;
pub mod crossbar;
pub mod cut_through;
pub mod hbr;
pub mod hop_credits;
pub mod hot_plug;
pub mod manager;
pub mod module;
pub mod passage;
pub mod pbr;
pub mod plug;
pub mod plug_watch;
pub mod port_mode;
pub mod preset;
pub mod reserved;
pub mod reset;
pub mod room;
pub mod route;
pub mod switching;
pub mod uio_route;
pub mod viral;

pub use back_invalidate::{BiDecoder, VppbBridge};
pub use binding::{BindingError, Bindings, VppbBinding};
pub use cache_id::CachingDevices;
pub use command::{
    CommandError, ContainmentCause, ManagerCommand, ManagerEvent, PortError, TimedCommand, UnbindOption,
};
pub use committing::{TableCommit, TableKind};
pub use crossbar::{MOST_CROSSBAR_CLASSES, VoqConfig, VoqCrossbar};
pub use cut_through::{CutThrough, MessagePart};
pub use hbr::{HbrSwitch, HbrSwitching};
pub use hop_credits::{HopCreditError, HopCredits, credits_at_rest};
pub use module::{CxlSwitch, PortCounts, SwitchConfig, SwitchResult, SwitchTraffic};
pub use passage::{PassageRoutes, PassageWatch};
pub use plug::{PlugAction, PlugDelays, PlugStep, SharedPorts};
pub use port_mode::{DspMode, DspModes, SecondRcd};
pub use preset::{HBR_PRESETS, PBR_PRESETS, SWITCH_STAGES, SwitchPreset};
pub use reserved::{judge_reserved, kept_reserved};
pub use reset::ResetScope;
pub use room::RoomLedger;
pub use route::{HbrRoute, HbrRoutes};
pub use switching::{Routed, Switching, Undelivered};
pub use uio_route::{UioFrom, UioRouted, UioRoutes};
pub use viral::ViralHierarchies;

use scalepool_protocols::wire::{At, Violation};

/// A rule that a message breaks: what was found, what was expected, and what it means.
fn violation(
    rule: &'static str,
    found: impl Into<String>,
    expected: impl Into<String>,
    text: impl Into<String>,
) -> Violation {
    Violation { rule, at: At::Byte(0), found: found.into(), expected: expected.into(), text: text.into() }
}
