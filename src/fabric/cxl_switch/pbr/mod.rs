//! Port based routing (PBR) for CXL.mem and CXL.cache (`fabric` §3).
//!
//! Modelled: edge ports towards hosts and devices, which translate messages with hierarchy based routing into messages with
//! SPID and DPID and back; inter-switch links (ISL), which carry these; a destination routing table (DRT); bindings of a
//! host's vPPB to a device or logical device behind any switch of the fabric; port identifiers (PID) and routes, minimal or up and then down,
//! computed from the switches and their links. Hosts decode by HDM decoders, or by a segment table for devices of a fabric
//! (LDST). Hosts share lines of a device by back-invalidates, by its logical devices or, where the device has port based routing
//! itself, by their PIDs. What segment tables name may take any of several ways (RGT). An
//! inter-switch link that is lost loses what was for it, until the fabric manager writes tables that lead around it. Detail: as for hierarchy based routing.
//! Devices cache lines of a host, which tells them apart by CacheIDs; a snoop stays behind the responses before it (`fabric` ORD-5).
//! Left out: CXL.io (see `scalepool_nodes::io::switch`), management messages, updates of CacheIDs and requests of peers while the system runs (EDG-10, EDG-11: references alone).
//!
//! | file | content |
//! | --- | --- |
//! | [`pid`] | port identifiers and their allocation |
//! | [`drt`] | the destination routing table |
//! | [`rgt`] | the routing group table |
//! | [`edge_ids`] | identifiers at an edge for every class, as a reference |
//! | [`cache_id_update`] | CacheIDs that edges keep in step, as a reference |
//! | [`peers`] | CXL.mem between peers, as a reference |
//! | [`segments`] | segment tables of hosts |
//! | [`identity`] | what a switch says of itself |
//! | [`management`] | requests of management that are not passed on |
//! | [`paths`] | routes between switches |
//! | [`route`] | the output of a message and its translation, without time |
//! | [`viral`] | viral of the hierarchies of hosts, without time |
//!
//! A walk through one read: an M2S Req of host 1 comes out of the link end at `usp[1]`. The HDM decoders of the host select a
//! vPPB, whose binding has a PID, the DPID; the SPID is the PID of `usp[1]`. The DRT entry of the DPID gives the output. At
//! the last switch that is `dsp[n]`: SPID and DPID together claim the binding, whose decoder is asked again, and the request
//! leaves with the LD-ID of the binding and without PIDs. With a segment table the DPID is that of `dsp[n]` itself, no decoder is
//! asked again, and the SPID alone gives the LD-ID. For the response, port and LD-ID give the binding, and that the
//! DPID, the PID of the host; at `usp[1]` the response leaves without it. Tags are never changed.

pub mod cache_id_update;
pub mod drt;
pub mod edge_ids;
pub mod identity;
pub mod management;
pub mod paths;
pub mod peers;
pub mod pid;
pub mod rgt;
pub mod route;
pub mod segments;
pub mod viral;

pub use cache_id_update::{CacheIdEdge, CacheIdUpdate, CacheIdUpdateError};
pub use drt::{Drt, DrtEntry, DrtError};
pub use edge_ids::{CompletionRoutes, EdgeDrop, EdgeIds, TlpSource};
pub use identity::{IdentityError, PbrIdentity};
pub use paths::{PbrCandidates, PbrGraph, PbrRouting, judge_containment};
pub use peers::{PeerEnd, PeerKind, PeerRefused};
pub use pid::{PbrPid, PidCounts, PidError, PidHolder, PidPlan, judge_pids};
pub use rgt::{Rgt, RgtError};
pub use route::{
    PbrChange, PbrClaim, PbrDevicePort, PbrHostPort, PbrOwner, PbrPort, PbrRoutes, PbrSharedPort, PbrSwitch,
};
pub use segments::{AccessVector, SegmentError, SegmentTable};
pub use viral::PbrViral;
