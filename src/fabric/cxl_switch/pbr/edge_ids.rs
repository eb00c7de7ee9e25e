//! Identifiers of messages at an edge of a fabric, for every class and kind of edge, in both directions (`fabric` §3.4).
//!
//! Modelled: which identifier of a message becomes which at an edge port, and the tables that say so. Detail: one message, without time.
//! It is the table of the sheet, as a reference for the edge ports of others and for vectors. [`route`](super::route) translates messages for the
//! switches here, and finds what belongs together by bindings; CXL.io goes through `scalepool_nodes::io::switch`. Left out: decoders, which give the DPID of a request; route updates, which are in [`cache_id_update`](super::cache_id_update).
//!
//! | edge | a port towards | its tables |
//! | --- | --- | --- |
//! | [`EdgeIds::Usp`] | a host | the PID of each CacheID |
//! | [`EdgeIds::Sld`] | a device | none |
//! | [`EdgeIds::Mld`] | a device with logical devices | the host of each LD-ID |
//! | [`EdgeIds::Switch`] | a switch with hierarchy based routing | the PIDs of CacheIDs and of bus numbers |
//! | [`EdgeIds::Gfd`] | a device with port based routing | none: messages stay as they are |
//!
//! A walk through one message: [`EdgeIds::to_pbr`] takes it from the link of the edge, and CacheID, LD-ID or BI-ID become PIDs;
//! [`EdgeIds::to_hbr`] takes it out of the fabric at another edge. All that is no identifier stays, tags too (`fabric` EDG-9), and an
//! identifier that no table has drops the message (`fabric` EDG-8).

use super::pid::PbrPid;
use scalepool_ordered::OrderedMap;
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxlio::flit_mode::Pth;
use scalepool_protocols::cxl::message::{Class, Message, PeerRoute};
use scalepool_protocols::wire::Violation;

/// An edge port with its tables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EdgeIds {
    /// Towards a host.
    Usp {
        /// PID of the port.
        own: PbrPid,
        /// PID of each CacheID, 0 to 15.
        caches: Vec<(u8, PbrPid)>,
    },
    /// Towards a device without logical devices.
    Sld {
        /// PID of the port.
        own: PbrPid,
        /// PID of its host.
        root: PbrPid,
    },
    /// Towards a device with logical devices.
    Mld {
        /// PID of the port.
        own: PbrPid,
        /// PID of the host of each LD-ID, 0 to 15.
        hosts: Vec<(u8, PbrPid)>,
    },
    /// Towards a switch with hierarchy based routing.
    Switch {
        /// PID of the port.
        own: PbrPid,
        /// PID of the host.
        root: PbrPid,
        /// PID of each CacheID, 0 to 15.
        caches: Vec<(u8, PbrPid)>,
        /// PID of each bus number of a device with back-invalidates.
        buses: Vec<(u8, PbrPid)>,
    },
    /// Towards a device with port based routing.
    Gfd,
}

/// Why a message does not pass an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EdgeDrop {
    /// An identifier is in no table (`fabric` EDG-8).
    #[error("found the {name} {found:#x}, expected one that the tables of the edge port have (fabric EDG-8)")]
    Unknown {
        /// Its name.
        name: &'static str,
        /// Its value.
        found: u16,
    },
    /// The class does not go this way at this kind of edge.
    #[error("found {class}, expected a class that goes this way at this kind of edge (fabric §3.4)")]
    Class {
        /// Name of the class.
        class: &'static str,
    },
}

/// Who puts the header in front of a TLP (`fabric` ISL-2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlpSource {
    /// An edge port towards a device or a switch, which takes in what goes up.
    EdgeDsp,
    /// A device with port based routing.
    Gfd,
    /// An edge port towards a host.
    EdgeUsp,
    /// The port above a device with port based routing.
    DspAboveGfd,
    /// A virtual downstream port that sends traffic of peers down again.
    ForwardingVdsp,
}

impl TlpSource {
    /// All of them.
    pub const ALL: [TlpSource; 5] =
        [TlpSource::EdgeDsp, TlpSource::Gfd, TlpSource::EdgeUsp, TlpSource::DspAboveGfd, TlpSource::ForwardingVdsp];

    /// DSAR of the header: set in the stream that goes down.
    pub const fn dsar(self) -> bool {
        matches!(self, TlpSource::EdgeUsp | TlpSource::DspAboveGfd | TlpSource::ForwardingVdsp)
    }

    /// The rule that a header breaks which this source has put in front of a TLP.
    pub fn judge(self, header: &Pth) -> Option<Violation> {
        let (found, expected) = (header.dsar, self.dsar());
        (found != expected).then(|| {
            let text = "DSAR names the stream of a TLP, whose credits are apart from those of the other one";
            super::super::violation(
                "FAB-ISL-02",
                format!("DSAR {}", u8::from(found)),
                format!("{}", u8::from(expected)),
                text,
            )
        })
    }
}

/// Where completions of unordered I/O to other hierarchies go, by segment and bus number (`fabric` EDG-7).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CompletionRoutes(OrderedMap<(u8, u8), PbrPid>);

impl CompletionRoutes {
    /// Completions to a segment and bus go to a PID from here on.
    pub fn set(&mut self, segment: u8, bus: u8, pid: PbrPid) {
        self.0.insert((segment, bus), pid);
    }

    /// The DPID of a completion.
    ///
    /// # Errors
    /// There is none, and it is dropped (`fabric` EDG-8).
    pub fn dpid(&self, segment: u8, bus: u8) -> Result<PbrPid, EdgeDrop> {
        let found = u16::from(segment) << 8 | u16::from(bus);
        self.0.get(&(segment, bus)).copied().ok_or(EdgeDrop::Unknown { name: "segment and bus", found })
    }
}

/// The PID of an identifier.
fn pid_of(table: &[(u8, PbrPid)], name: &'static str, found: u16) -> Result<u16, EdgeDrop> {
    let pid = table.iter().find(|(id, _)| u16::from(*id) == found);
    pid.map(|(_, pid)| pid.number()).ok_or(EdgeDrop::Unknown { name, found })
}

/// The identifier of a PID.
fn id_of(table: &[(u8, PbrPid)], name: &'static str, found: u16) -> Result<u8, EdgeDrop> {
    let id = table.iter().find(|(_, pid)| pid.number() == found);
    id.map(|(id, _)| *id).ok_or(EdgeDrop::Unknown { name, found })
}

impl EdgeIds {
    /// A message from the link of the edge as it travels in the fabric. `decoded` is the DPID that a segment table gives to the address of
    /// a request, or the PID of the binding that an HDM decoder selects.
    ///
    /// # Errors
    /// Why it is dropped.
    pub fn to_pbr(&self, message: &Message, decoded: Option<PbrPid>) -> Result<Message, EdgeDrop> {
        let (class, given) = (message.class(), message.route());
        let refused = Err(EdgeDrop::Class { class: class.name() });
        let is_down = class.dir() == Dir::Down;
        let (spid, dpid) = match (self, class) {
            // Such a device has CXL.mem alone (`fabric` §3.6).
            (EdgeIds::Gfd, _) => return if is_down || !class.is_mem() { refused } else { Ok(*message) },
            (EdgeIds::Usp { .. }, _) if !is_down => return refused,
            (EdgeIds::Usp { own, .. }, Class::M2sReq | Class::M2sRwd) => match decoded {
                Some(dpid) => (own.number(), dpid.number()),
                None => return Err(EdgeDrop::Unknown { name: "address without a DPID", found: 0 }),
            },
            (EdgeIds::Usp { own, .. }, Class::M2sBirsp) => (own.number(), given.bi_id),
            (EdgeIds::Usp { own, caches }, _) => (own.number(), pid_of(caches, "CacheID", given.cache_id.into())?),
            _ if is_down => return refused,
            (EdgeIds::Sld { own, root }, _) => (own.number(), root.number()),
            (EdgeIds::Mld { own, hosts }, Class::S2mBisnp) => (own.number(), pid_of(hosts, "BI-ID", given.bi_id)?),
            (EdgeIds::Mld { own, hosts }, Class::S2mNdr | Class::S2mDrs) => {
                (own.number(), pid_of(hosts, "LD-ID", given.ld_id.into())?)
            }
            // A link of logical devices has no CXL.cache (`fabric` MLD-6).
            (EdgeIds::Mld { .. }, _) => return refused,
            (EdgeIds::Switch { root, caches, .. }, Class::D2hReq) => {
                (pid_of(caches, "CacheID", given.cache_id.into())?, root.number())
            }
            (EdgeIds::Switch { root, buses, .. }, Class::S2mBisnp) => {
                (pid_of(buses, "bus number", given.bi_id)?, root.number())
            }
            (EdgeIds::Switch { root, .. }, _) => (0, root.number()),
        };
        Ok(message.on_route(PeerRoute { spid, dpid, ..PeerRoute::default() }))
    }

    /// The header in front of a TLP of CXL.io that comes from the link of the edge: of logical device `ld_id` at an edge that has them, and
    /// from a host to the port `decoded`. DSAR tells the streams apart (`fabric` ISL-2). At the other edge the header is taken away.
    ///
    /// # Errors
    /// Why the TLP is dropped.
    pub fn tlp_header(&self, ld_id: u16, decoded: Option<PbrPid>, is_hierarchical: bool) -> Result<Pth, EdgeDrop> {
        let (own, dpid) = match self {
            EdgeIds::Usp { own, .. } => match decoded {
                Some(dpid) => (own, dpid.number()),
                None => return Err(EdgeDrop::Unknown { name: "TLP without a DPID", found: 0 }),
            },
            EdgeIds::Sld { own, root } | EdgeIds::Switch { own, root, .. } => (own, root.number()),
            EdgeIds::Mld { own, hosts } => (own, pid_of(hosts, "LD-ID", ld_id)?),
            // Such a device has no CXL.io (`fabric` GFD-1).
            EdgeIds::Gfd => return Err(EdgeDrop::Class { class: "CXL.io" }),
        };
        let source = if matches!(self, EdgeIds::Usp { .. }) { TlpSource::EdgeUsp } else { TlpSource::EdgeDsp };
        let dsar = source.dsar();
        Ok(Pth { spid: own.number(), dpid, dsar, hie: is_hierarchical, ..Pth::default() })
    }

    /// A message out of the fabric as it leaves on the link of the edge.
    ///
    /// # Errors
    /// Why it is dropped.
    pub fn to_hbr(&self, message: &Message) -> Result<Message, EdgeDrop> {
        let (class, PeerRoute { spid, dpid, .. }) = (message.class(), message.route());
        let is_down = class.dir() == Dir::Down;
        let none = PeerRoute::default();
        let route = match (self, class) {
            (EdgeIds::Gfd, _) if is_down && class.is_mem() => return Ok(*message),
            (EdgeIds::Usp { caches, .. }, Class::D2hReq) => {
                PeerRoute { cache_id: id_of(caches, "SPID", spid)?, ..none }
            }
            (EdgeIds::Usp { .. }, Class::S2mBisnp) => PeerRoute { bi_id: spid, ..none },
            (EdgeIds::Usp { .. }, _) if !is_down => none,
            (EdgeIds::Usp { .. } | EdgeIds::Gfd, _) => return Err(EdgeDrop::Class { class: class.name() }),
            _ if !is_down => return Err(EdgeDrop::Class { class: class.name() }),
            (EdgeIds::Mld { hosts, .. }, Class::M2sReq | Class::M2sRwd) => {
                PeerRoute { ld_id: id_of(hosts, "SPID", spid)?, ..none }
            }
            // The BI-ID on a link of logical devices is the LD-ID (`fabric` BIR-1).
            (EdgeIds::Mld { hosts, .. }, Class::M2sBirsp) => {
                PeerRoute { bi_id: id_of(hosts, "SPID", spid)?.into(), ..none }
            }
            (EdgeIds::Mld { .. }, _) => return Err(EdgeDrop::Class { class: class.name() }),
            (EdgeIds::Switch { caches, .. }, Class::H2dReq | Class::H2dRsp | Class::H2dData) => {
                PeerRoute { cache_id: id_of(caches, "DPID", dpid)?, ..none }
            }
            (EdgeIds::Switch { buses, .. }, Class::M2sBirsp) => {
                PeerRoute { bi_id: id_of(buses, "DPID", dpid)?.into(), ..none }
            }
            (EdgeIds::Switch { .. } | EdgeIds::Sld { .. }, _) => none,
        };
        Ok(message.on_route(route))
    }
}
