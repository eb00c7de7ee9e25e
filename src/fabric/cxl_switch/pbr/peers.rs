//! CXL.mem between peers in a fabric: who may ask whom, and the identifiers of such a request (`fabric` EDG-11).
//!
//! Modelled: what stands at the two ports, whether these are edge ports towards devices, the logical device that a target has for a
//! requester. Detail: one pair of ports, one request, without time. Left out: rights to addresses, and peers in any run.
//!
//! A walk through one request: a device without logical devices asks, and its edge port gives the request the PID of the
//! target as DPID and its own as SPID. At the edge of the target the SPID gives the logical device that the requester has there
//! for itself ([`EdgeIds::to_hbr`]).

use super::edge_ids::EdgeIds;
use super::pid::PbrPid;
use scalepool_protocols::cxl::message::{Class, Message, PeerRoute};

/// What stands at a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PeerKind {
    /// A device without logical devices.
    Sld,
    /// A device with logical devices: the PID of the requester of each LD-ID.
    Mld(Vec<(u8, PbrPid)>),
    /// A bridge of profile BRG-M1 to accelerators.
    Bridge,
    /// A device with port based routing.
    Gfd,
    /// A switch with hierarchy based routing, whatever is below it.
    Switch,
    /// A host.
    Host,
}

impl PeerKind {
    const fn name(&self) -> &'static str {
        match self {
            PeerKind::Sld => "a device without logical devices",
            PeerKind::Mld(_) => "a device with logical devices",
            PeerKind::Bridge => "a bridge",
            PeerKind::Gfd => "a device with port based routing",
            PeerKind::Switch => "a switch with hierarchy based routing",
            PeerKind::Host => "a host",
        }
    }
}

/// An end of the way between peers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeerEnd {
    /// What stands at the port.
    pub kind: PeerKind,
    /// The port is an edge port towards devices, and no port inside the fabric.
    pub is_edge_dsp: bool,
    /// PID of the port.
    pub pid: PbrPid,
}

/// Why a pair of ports is none of peers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PeerRefused {
    /// It does not ask.
    #[error(
        "found {found} as requester of peer CXL.mem, expected a device without logical devices or a bridge (fabric EDG-11)"
    )]
    Requester {
        /// What it is.
        found: &'static str,
    },
    /// It has no memory for peers.
    #[error("found {found} as target of peer CXL.mem, expected a device at an edge port (fabric EDG-11)")]
    Target {
        /// What it is.
        found: &'static str,
    },
    /// It stands elsewhere.
    #[error(
        "found the port of PID {found:#05x} inside the fabric, expected an edge port towards devices (fabric EDG-11)"
    )]
    Inner {
        /// The PID.
        found: u16,
    },
    /// It is its own peer.
    #[error("found the PID {found:#05x} for both ends, expected two ports (fabric EDG-11)")]
    Same {
        /// The PID.
        found: u16,
    },
    /// The target has no logical device for it alone.
    #[error("found {found} logical devices for the requester {pid:#05x} alone, expected one (fabric EDG-11)")]
    LogicalDevices {
        /// How many.
        found: usize,
        /// PID of the requester.
        pid: u16,
    },
}

/// Logical devices that one requester has for itself.
fn own_count(table: &[(u8, PbrPid)], pid: PbrPid) -> usize {
    let own = table.iter().filter(|(_, of)| *of == pid);
    own.filter(|(ld, _)| table.iter().all(|(other, of)| other != ld || *of == pid)).count()
}

impl PeerEnd {
    /// Judges whether this end may ask a target.
    ///
    /// # Errors
    /// Why it may not.
    pub fn may_ask(&self, target: &PeerEnd) -> Result<(), PeerRefused> {
        if !matches!(self.kind, PeerKind::Sld | PeerKind::Bridge) {
            return Err(PeerRefused::Requester { found: self.kind.name() });
        }
        if !matches!(target.kind, PeerKind::Sld | PeerKind::Mld(_) | PeerKind::Gfd) {
            return Err(PeerRefused::Target { found: target.kind.name() });
        }
        if let Some(inner) = [self, target].into_iter().find(|end| !end.is_edge_dsp) {
            return Err(PeerRefused::Inner { found: inner.pid.number() });
        }
        let pid = self.pid.number();
        if self.pid == target.pid {
            return Err(PeerRefused::Same { found: pid });
        }
        match &target.kind {
            PeerKind::Mld(table) => match own_count(table, self.pid) {
                1 => Ok(()),
                found => Err(PeerRefused::LogicalDevices { found, pid }),
            },
            _ => Ok(()),
        }
    }

    /// A request of this end as it travels in the fabric; `None`: it is no request of CXL.mem.
    pub fn request(&self, target: &PeerEnd, message: &Message) -> Option<Message> {
        let (spid, dpid) = (self.pid.number(), target.pid.number());
        let is_request = matches!(message.class(), Class::M2sReq | Class::M2sRwd);
        is_request.then(|| message.on_route(PeerRoute { spid, dpid, ..PeerRoute::default() }))
    }

    /// The identifiers of this end as the target of a requester, whose answers go back there.
    pub fn ids(&self, requester: PbrPid) -> EdgeIds {
        match &self.kind {
            PeerKind::Mld(table) => EdgeIds::Mld { own: self.pid, hosts: table.clone() },
            PeerKind::Gfd => EdgeIds::Gfd,
            _ => EdgeIds::Sld { own: self.pid, root: requester },
        }
    }
}
