//! Port based routing of CXL.io: what a switch of a fabric has beside its virtual hierarchies (`fabric` §3).
//!
//! Modelled: virtual links, each from a virtual downstream port (vDSP) at the edge of a host to a virtual upstream port (vUSP) at the
//! switch of a device; the header in front of every TLP on an inter-switch link (ISL), by which switches pass it on and the edges
//! claim it; first contact on each ISL; two streams, those that go down (DSAR 1) and those that go up, apart at every output; links
//! that are lost, whose virtual links the fabric manager takes down, and what agents of power management at the ends of virtual links
//! ask over a lost one, which is given up. Detail: whole TLPs. A fabric port takes what comes: credits of
//! a stream are those that PCI Express calls infinite, because the sheet does not say where UpdateFC names the stream. A logical
//! device has a virtual link of its own; its LD-ID stands on the link of the device alone. Left out: peers, UIO. Resets are [`super::reset`].
//!
//! A walk through one read: the edge of the host routes it to a vDSP, so it gets the PIDs of its virtual link, with DSAR and Hie,
//! and leaves at the ISL of its DPID. The last switch finds a virtual port with these PIDs, takes the header off, and the
//! hierarchy of that port routes it on. The completion comes the same way back, with DSAR 0.

use super::hierarchy::IoSide;
use super::reset::{LinkMessage, ResetWatch, VirtualReset};
use crate::io::tlps::{self, IoRequestNames};
use scalepool_endpoint::pm::PmAgent;
use scalepool_endpoint::tlp::{Tlp, TlpKind};
use scalepool_fabric::cxl_switch::pbr::PbrPid;
use scalepool_fabric::cxl_switch::pbr::drt::Drts;
use scalepool_fabric::cxl_switch::pbr::edge_ids::TlpSource;
use scalepool_ordered::{OrderedMap, OrderedSet};
use scalepool_protocols::cxl::cxlio::code::VdmCode;
use scalepool_protocols::cxl::cxlio::flit_mode::Pth;
use scalepool_protocols::cxl::cxlio::vdm;
use scalepool_protocols::wire::{At, Violation};
use scalepool_trace::TransactionHandle;

/// The DPID of what the next switch handles itself (`fabric` PID-1).
pub const HANDLE_HERE: u16 = 0xfff;
/// Bytes of the message of first contact (`fabric` ISL-6).
pub const CONTACT_BYTES: usize = 64;
/// Opcode of partner information, in the messages of code 90h (`fabric` ISL-6).
pub const PARTNER_INFORMATION: u8 = 0;
/// Routing of a message that ends at its receiver (`cxl-io` §1.2).
const ROUTING_LOCAL: u8 = 4;

/// A stream of TLPs on an inter-switch link: 0 goes up, 1 goes down.
pub const fn stream_of(header: &Pth) -> usize {
    header.dsar as usize
}

/// The header and the message by which a switch makes itself known on an inter-switch link. The sheet does not say what stands
/// behind its opcode; these bytes are 0.
pub fn first_contact(own: u16) -> (Pth, Tlp) {
    let (dw2, dw3) = vdm::words(VdmCode::Fabric90, 0);
    let mut data = vec![0; CONTACT_BYTES];
    data[0] = PARTNER_INFORMATION;
    let kind = TlpKind::Message { routing: ROUTING_LOCAL, code: vdm::MESSAGE_CODE, dw2, dw3 };
    (Pth { spid: own, dpid: HANDLE_HERE, ..Pth::default() }, Tlp::new(kind, 0, data))
}

/// Whether a TLP is that of first contact.
pub fn is_first_contact(header: &Pth, tlp: &Tlp) -> bool {
    let TlpKind::Message { code, dw2, dw3, .. } = tlp.kind else { return false };
    let is_own = code == vdm::MESSAGE_CODE && dw2 as u16 == vdm::VENDOR_ID && VdmCode(dw3 as u8) == VdmCode::Fabric90;
    let is_whole = tlp.data.len() == CONTACT_BYTES && tlp.data[0] == PARTNER_INFORMATION;
    header.dpid == HANDLE_HERE && is_own && is_whole
}

fn broken(rule: &'static str, found: impl Into<String>, expected: impl Into<String>, text: &str) -> Violation {
    Violation { rule, at: At::Byte(0), found: found.into(), expected: expected.into(), text: text.into() }
}

/// Sees that nothing comes over an inter-switch link before the message of first contact (`fabric` ISL-6).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ContactWatch {
    is_made: bool,
    is_reported: bool,
}

impl ContactWatch {
    /// Judges the next TLP that comes over the link.
    pub fn judge(&mut self, header: &Pth, tlp: Option<&Tlp>) -> Option<Violation> {
        self.is_made |= tlp.is_some_and(|tlp| is_first_contact(header, tlp));
        let is_early = !self.is_made && !std::mem::replace(&mut self.is_reported, !self.is_made);
        is_early.then(|| {
            broken(
                "FAB-ISL-06",
                format!("a TLP with SPID {:#05x} and DPID {:#05x}", header.spid, header.dpid),
                "partner information, message 90h with opcode 0 and 64 bytes, to DPID 0xfff",
                "traffic comes over an inter-switch link before first contact",
            )
        })
    }

    /// Whether the switch at the other end has made itself known.
    pub const fn is_made(&self) -> bool {
        self.is_made
    }
}

/// Sees that no stream waits for the other one at an output: of two whose TLPs may leave, each is behind one of the other stream
/// at most (`fabric` ISL-3).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StreamWatch {
    /// TLPs of the other stream that left while one of each stream was ready.
    passed_by: [u64; 2],
}

impl StreamWatch {
    /// A TLP of a stream leaves; whether one of the other stream may leave too.
    pub fn leaves(&mut self, stream: usize, other_is_ready: bool) -> Option<Violation> {
        self.passed_by[stream] = 0;
        let other = &mut self.passed_by[1 - stream];
        *other = if other_is_ready { *other + 1 } else { 0 };
        (*other == 2).then(|| {
            let names = ["that goes up", "that goes down"];
            broken(
                "FAB-ISL-03",
                format!("two TLPs of the stream {} in front of one of the other", names[stream]),
                "one at most",
                "a stream on an inter-switch link waits for the other one",
            )
        })
    }
}

/// What an edge may do with a request of its host for which the fabric has no way (`fabric` DRT-3).
///
/// `was_completed`: it was completed as Unsupported Request, and not dropped.
pub fn judge_unroutable(ur_on_unknown: bool, is_first_edge: bool, was_completed: bool) -> Option<Violation> {
    (was_completed && !(ur_on_unknown && is_first_edge)).then(|| {
        broken(
            "FAB-DRT-03",
            "Unsupported Request for what no way leads to",
            "no answer, so that the requester times out; `ur_on_unknown` has the first edge answer, and no other switch",
            "a switch answers a request that it cannot route",
        )
    })
}

/// Most switches that a host sees one below the other (`fabric` PID-4).
pub const EDGE_LAYERS: usize = 2;

/// A virtual link as one of its ends has it.
pub struct IoVirtualLink {
    /// Hierarchy and side that its port here is.
    pub place: (usize, IoSide),
    /// PID of this end.
    pub own: u16,
    /// PID of the other end.
    pub far: u16,
    /// Physical port of the hierarchy, whose routing table says where its TLPs leave.
    pub ingress: usize,
    /// Its agent of power management.
    pub agent: PmAgent,
    /// The reset that it carries, and what judges those that come.
    pub reset: (Option<VirtualReset>, ResetWatch),
}

impl IoVirtualLink {
    /// Who puts the header in front of what leaves on it.
    pub const fn source(&self) -> TlpSource {
        match self.place.1 {
            IoSide::Up => TlpSource::EdgeDsp,
            IoSide::Down(_) => TlpSource::EdgeUsp,
        }
    }

    /// The header of what leaves on it.
    pub fn header(&self) -> Pth {
        Pth { spid: self.own, dpid: self.far, dsar: self.source().dsar(), hie: true, ..Pth::default() }
    }

    /// Judges the header of what comes over it: the other end put it there (`fabric` ISL-2).
    pub fn judge(&self, header: &Pth) -> Option<Violation> {
        let far = if self.source() == TlpSource::EdgeUsp { TlpSource::EdgeDsp } else { TlpSource::EdgeUsp };
        far.judge(header)
    }
}

/// What happens to a switch while it runs.
#[derive(Debug, Clone)]
pub enum IoChange {
    /// The link at a fabric port goes down for good.
    Lost(usize),
    /// The fabric manager writes the tables.
    Rerouted(Box<Drts>),
    /// The fabric manager takes down the virtual link between these PIDs, of which the first one is of this switch (`fabric` ISL-7).
    Unbound(PbrPid, PbrPid),
    /// A reset comes to the upstream port of a hierarchy: PERST# or a hot reset, as this message says.
    Reset(usize, LinkMessage),
    /// An inter-switch link has an uncorrectable error, and is contained or stays up (`fabric` ISL-4).
    Error {
        /// It is contained.
        is_contained: bool,
    },
}

/// What a switch has beside its hierarchies.
pub struct IoFabric {
    /// Its own PID.
    pub own: u16,
    /// The first fabric port; all behind it are too.
    pub first_isl: usize,
    /// Where TLPs leave.
    pub tables: Drts,
    /// Its virtual links.
    pub links: Vec<IoVirtualLink>,
    /// Whether the edge of a host answers what it finds no way for.
    pub ur_on_unknown: bool,
    /// Links of the fabric are lost while it runs, at whatever switch.
    pub may_lose: bool,
    /// How long a reset is asserted, and how long it takes from one release to the next \[cycles\].
    pub reset_cycles: [u64; 2],
    /// What happens, the last first, each with its cycle.
    pub changes: Vec<(u64, IoChange)>,
    /// Fabric ports of a tree over all switches, along which they tell each other that their hosts are done (out of band).
    pub tree: OrderedSet<usize>,
}

/// Names requests on inter-switch links in traces, as both ends of a link count them.
#[derive(Debug, Clone, Default)]
pub struct IslNames {
    link: u32,
    of: OrderedMap<(u16, u16), IoRequestNames>,
}

impl IslNames {
    /// Of the link of this number.
    pub const fn new(link: u32) -> IslNames {
        IslNames { link, of: OrderedMap::new() }
    }

    /// The next request with these PIDs.
    pub fn handle(&mut self, header: &Pth, request: &Tlp) -> TransactionHandle {
        let pids = (header.spid, header.dpid);
        let link = self.link;
        let names = self.of.entry(pids).or_insert_with(|| IoRequestNames::new(link));
        let owner = 1 << 24 | u32::from(pids.0) << 12 | u32::from(pids.1);
        TransactionHandle { owner, ..names.handle(request) }
    }
}

/// What a switch with port based routing counts of its fabric.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IoFabricCounts {
    /// TLPs that came over one inter-switch link and left over another.
    pub forwarded: u64,
    /// TLPs lost with links.
    pub lost: u64,
    /// TLPs whose DPID has no valid entry.
    pub no_route: u64,
    /// TLPs whose PIDs no virtual link here has.
    pub not_claimed: u64,
    /// Virtual links of hosts that went down while they ran.
    pub surprise_downs: u64,
    /// Requests that the edge of a host completed because no way leads to their DPID.
    pub unknown_completed: u64,
    /// Inter-switch links on which the other switch made itself known.
    pub contacts: u64,
    /// Virtual links of hosts that were reset and are up again.
    pub resets: u64,
    /// Resets that virtual upstream ports here took.
    pub resets_taken: u64,
    /// Resets after which the link did not come up.
    pub resets_given_up: u64,
    /// Resets and phases of a flush over virtual links that were given up; `None`: no link of the fabric is lost.
    pub power_given_up: Option<u64>,
    /// Errors of inter-switch links at this switch that stay up, and of those that are contained.
    pub contained: [u64; 2],
}

/// Shows what a place of TLPs between switches looks like.
pub fn isl_body(bytes: &[u8], header: &Pth) -> scalepool_trace::Body {
    let form = scalepool_endpoint::tlp::TlpForm::Pbr { spid: header.spid, dpid: header.dpid };
    tlps::body(bytes, form)
}
