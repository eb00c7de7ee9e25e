//! The output of a message and its translation at an edge, without time (`fabric` §3.4).
//!
//! A walk through one request of a host: a segment table, or else decoder, vPPB and binding give the DPID; the routing table gives the port. An edge
//! port towards a device claims the request by SPID and DPID, asks the decoder of the claim, and replaces both PIDs by the
//! LD-ID; one towards a device with port based routing leaves them as they are. A back-invalidate snoop gets the PID of the edge
//! port as SPID, which is its BI-ID at the host, and the DPID of its answer. On CXL.cache the CacheID at a host stands for the PID of a
//! caching device; inside the fabric and at the device there is none, and below a switch with hierarchy based routing there is one again,
//! as there is a bus number in the place of the PID of a snoop. A request that no decoder claims is answered where that is found: at the edge of the host, or at that of the device,
//! whose answer goes back by its DPID. A failed look-up drops the message (`fabric` EDG-8), and so does an invalid entry of
//! the table (`fabric` DRT-2).

use super::super::command::ManagerEvent;
use super::super::module::{CxlSwitch, SwitchConfig, SwitchResult};
use super::super::route::own_answer;
use super::super::switching::{Managed, Routed, Switching, Undelivered};
use super::super::violation;
use super::drt::Drts;
use super::pid::PbrPid;
use super::rgt::is_spread;
use super::segments::SegmentTable;
use super::viral::{PbrViral, ViralWays};
use crate::spread::Backlog;
use scalepool_arbiter::ArbiterError;
use scalepool_coherence::clocked::linked::NodeLink;
use scalepool_kernel::{Module, Rng};
use scalepool_memory::bridge::BridgeDecoders;
use scalepool_ordered::{OrderedMap, OrderedSet};
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl256::code::DrsOpcode;
use scalepool_protocols::cxl::link_status::LinkStatus;
use scalepool_protocols::cxl::message::{Class, Message, MessageForm, PeerRoute};
use scalepool_protocols::wire::Violation;
use scalepool_trace::Tap;
use std::sync::{Arc, Mutex};

/// An edge port towards a host.
#[derive(Debug, Clone)]
pub struct PbrHostPort {
    /// Its PID.
    pub pid: PbrPid,
    /// Message form of its link.
    pub form: MessageForm,
    /// Segment tables of the host, which are asked in this order and before its decoders (`fabric` EDG-2).
    pub segments: Vec<SegmentTable>,
    /// Decoders of the host; their targets are vPPBs.
    pub decoders: BridgeDecoders,
    /// PID of the binding of each vPPB, or of the caching device of each CacheID, from 0 on.
    pub bindings: Vec<PbrPid>,
    /// Whether its link has CXL.cache.
    pub has_cache: bool,
    /// Whether its link has back-invalidates.
    pub has_snoops: bool,
}

/// The host that a device or logical device belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PbrOwner {
    /// PID of the host.
    pub host: PbrPid,
    /// PID by which the host reaches the device, the SPID of its back-invalidate snoops: that of the binding, or of the edge port
    /// where a segment table names it.
    pub own: PbrPid,
}

/// An edge port towards a device, or towards a switch with hierarchy based routing: the host that each logical device belongs to. A
/// device without logical devices has only LD-ID 0.
#[derive(Debug, Clone)]
pub struct PbrDevicePort {
    /// Its PID, which segment tables name.
    pub pid: PbrPid,
    /// Who has what is behind it, by LD-ID, or by CacheID where caching devices stand below a switch.
    pub owners: OrderedMap<u8, PbrOwner>,
    /// Bus number of the device with back-invalidates below the switch there; `None`: the device is at the port itself.
    pub bus: Option<u8>,
    /// Whether its link has back-invalidates.
    pub has_snoops: bool,
    /// Whether its link has CXL.cache, which it has alone then.
    pub has_cache: bool,
}

/// An edge port towards a device with port based routing, which tells its hosts apart by their PIDs (`fabric` §3.4, §3.6).
#[derive(Debug, Clone)]
pub struct PbrSharedPort {
    /// Its PID, which segment tables name.
    pub pid: PbrPid,
    /// PIDs of the hosts that share the device.
    pub hosts: OrderedSet<PbrPid>,
    /// Whether it is a G-FAM device, whose access errors are no holes (`fabric` GFD-5).
    pub is_gfd: bool,
}

/// A port of a switch.
#[derive(Debug, Clone)]
pub enum PbrPort {
    /// Edge port towards a host.
    Host(PbrHostPort),
    /// Edge port towards a device.
    Device(PbrDevicePort),
    /// Edge port towards a device with port based routing.
    Shared(PbrSharedPort),
    /// End of an inter-switch link.
    Fabric,
}

/// What an edge port claims for a device (`fabric` PID-5).
#[derive(Debug, Clone)]
pub struct PbrClaim {
    /// The edge port.
    pub port: usize,
    /// LD-ID of the logical device; 0 without any.
    pub ld_id: u8,
    /// Decoders of this end of the virtual link, which are asked again (`fabric` EDG-5).
    pub decoders: BridgeDecoders,
}

/// Routing state of a switch with port based routing.
#[derive(Debug, Clone)]
pub struct PbrRoutes {
    /// Its ports.
    pub ports: Vec<PbrPort>,
    /// Its routing tables.
    pub tables: Drts,
    /// What its edge ports claim, by SPID and DPID.
    pub claims: OrderedMap<(u16, u16), PbrClaim>,
    /// Whether the data of a read that no decoder claims are poisoned (`fabric` §2.1, 4h).
    pub poison_on_decode_error: bool,
    /// Whether back-invalidates travel in its fabric.
    pub has_snoops: bool,
    /// Whether CXL.cache travels in its fabric.
    pub has_cache: bool,
    /// Seed of what is drawn where a message may take several ways.
    pub seed: u64,
    /// Fabric ports whose links are lost.
    pub lost: OrderedSet<usize>,
    /// Whether links of the fabric were lost before the tables were written, so that some destinations may have no way.
    pub is_cut: bool,
    /// Hierarchies of hosts that are viral.
    pub viral: PbrViral,
    /// What changes while the switch runs, by cycle, the last one first.
    pub changes: Vec<(u64, PbrChange)>,
}

/// A change of a switch while it runs (`fabric` ISL-7).
#[derive(Debug, Clone)]
pub enum PbrChange {
    /// The link at a fabric port is lost: until the tables lead around it, what they send there is dropped.
    Lost(usize),
    /// The fabric manager writes tables that lead around lost links.
    Rerouted(Box<Drts>),
}

/// A switch with port based routing.
pub type PbrSwitch = CxlSwitch<PbrRoutes>;

/// Whether a message is a back-invalidate snoop, or the answer to one.
const fn is_snoop(class: Class) -> bool {
    matches!(class, Class::S2mBisnp | Class::M2sBirsp)
}

/// Byte address of a request.
fn address(message: &Message) -> u64 {
    match message {
        Message::M2sReq(header) => header.address,
        Message::M2sRwd(header, _) => header.address,
        _ => 0,
    }
}

/// Where a message leaves, and in which form.
type Output = Result<(usize, Message), Undelivered>;

impl PbrRoutes {
    /// A message of a host as it travels in the fabric; `None`: no decoder claims it, or its CacheID stands for nothing.
    fn entered(host: &PbrHostPort, message: &Message) -> Option<Message> {
        let by_segment = || host.segments.iter().find_map(|table| table.dpid(address(message)));
        let by_decoder = || host.bindings.get(host.decoders.target(address(message))?).copied();
        let dpid = match message {
            // A BI-ID at a host is the SPID of the snoop.
            Message::M2sBirsp(answer) => answer.bi_id,
            _ if !message.class().is_mem() => host.bindings.get(usize::from(message.route().cache_id))?.number(),
            _ => by_segment().or_else(by_decoder)?.number(),
        };
        Some(message.on_route(PeerRoute { spid: host.pid.number(), dpid, ..PeerRoute::default() }))
    }

    /// A message of a device as it travels in the fabric.
    fn sent(device: &PbrDevicePort, message: &Message) -> Option<Message> {
        let PeerRoute { ld_id, bi_id, cache_id, .. } = message.route();
        let number = match (message.class(), device.bus) {
            // Above a switch the BI-ID is the bus of the device, on the link of a device with logical devices an LD-ID (`fabric` BIR-1).
            (Class::S2mBisnp, Some(bus)) => (bi_id == u16::from(bus)).then_some(0)?,
            (Class::S2mBisnp, None) => u8::try_from(bi_id).ok()?,
            // Answers to snoops and data have none; everything of CXL.cache at the port belongs to one host.
            (Class::D2hReq | Class::D2hRsp | Class::D2hData, _) => cache_id,
            _ => ld_id,
        };
        let PbrOwner { host, own } = device.owners.get(&number)?;
        Some(message.on_route(PeerRoute { spid: own.number(), dpid: host.number(), ..PeerRoute::default() }))
    }

    /// Whether back-invalidates are negotiated at a port.
    fn has_snoops_at(&self, port: usize) -> bool {
        match &self.ports[port] {
            PbrPort::Host(host) => host.has_snoops,
            PbrPort::Device(device) => device.has_snoops,
            PbrPort::Shared(_) | PbrPort::Fabric => self.has_snoops,
        }
    }

    /// Whether CXL.cache is negotiated at a port. An edge has it alone: hosts and devices here have one protocol.
    fn has_cache_at(&self, port: usize) -> bool {
        match &self.ports[port] {
            PbrPort::Host(host) => host.has_cache,
            PbrPort::Device(device) => device.has_cache,
            PbrPort::Shared(_) => false,
            PbrPort::Fabric => self.has_cache,
        }
    }

    /// Whether a class is negotiated at a port.
    fn has(&self, port: usize, class: Class) -> bool {
        let is_fabric = matches!(self.ports[port], PbrPort::Fabric);
        match class.is_mem() {
            true => (is_fabric || !self.has_cache_at(port)) && (!is_snoop(class) || self.has_snoops_at(port)),
            false => self.has_cache_at(port),
        }
    }

    /// The output of a message with PIDs.
    fn output(&self, from: usize, message: &Message) -> Output {
        let PeerRoute { spid, dpid, .. } = message.route();
        let to = self.tables.port(from, dpid).ok_or(Undelivered::NoRoute)?;
        let is_down = message.class().dir() == Dir::Down;
        let port = self.ports.get(to).ok_or(Undelivered::NoRoute)?;
        let is_taken = match port {
            PbrPort::Fabric => true,
            PbrPort::Host(_) => !is_down,
            PbrPort::Device(_) | PbrPort::Shared(_) => is_down,
        };
        if !is_taken || !self.has(to, message.class()) {
            return Err(Undelivered::Class);
        }
        let logical = |device: &PbrDevicePort, ld_id: u8| {
            let bi_id = device.bus.unwrap_or(ld_id).into();
            (to, message.on_route(PeerRoute { ld_id, bi_id, ..PeerRoute::default() }))
        };
        match port {
            PbrPort::Fabric => Ok((to, *message)),
            PbrPort::Host(host) if host.pid.number() != dpid => Err(Undelivered::NotClaimed),
            PbrPort::Host(host) => {
                // Only requests of caching devices have their source (`fabric` §3.4).
                let device = |pid: &PbrPid| pid.number() == spid;
                let cache_id = match message.class() {
                    Class::D2hReq => host.bindings.iter().position(device).ok_or(Undelivered::CacheId)? as u8,
                    _ => 0,
                };
                let mut message = message.on_route(PeerRoute { bi_id: spid, cache_id, ..PeerRoute::default() });
                // On a 68B link the all-ones data are the only indication (`fabric` CMR-4).
                if let (Message::S2mDrs(header, _), MessageForm::Cxl68) = (&mut message, host.form)
                    && header.opcode == DrsOpcode::MemDataNXM
                {
                    header.opcode = DrsOpcode::MemData;
                }
                Ok((to, message))
            }
            PbrPort::Shared(device) => {
                let is_known = device.pid.number() == dpid && device.hosts.iter().any(|host| host.number() == spid);
                is_known.then_some((to, *message)).ok_or(Undelivered::NotClaimed)
            }
            PbrPort::Device(device) if device.pid.number() == dpid => {
                let owner = device.owners.iter().find(|(_, owner)| owner.host.number() == spid);
                owner.map(|(ld_id, _)| logical(device, *ld_id)).ok_or(Undelivered::UnknownLd)
            }
            // Answers and data for a caching device have no SPID.
            PbrPort::Device(device) if !message.class().is_mem() => {
                let is_own = |owner: &PbrOwner| {
                    owner.own.number() == dpid && (message.class() != Class::H2dReq || owner.host.number() == spid)
                };
                let claimed = device.owners.iter().find(|(_, owner)| is_own(owner));
                let (&cache_id, _) = claimed.ok_or(Undelivered::NotClaimed)?;
                Ok((to, message.on_route(PeerRoute { cache_id, ..PeerRoute::default() })))
            }
            PbrPort::Device(device) => {
                let claim = self.claims.get(&(spid, dpid)).filter(|claim| claim.port == to);
                let claim = claim.ok_or(Undelivered::NotClaimed)?;
                if !is_snoop(message.class()) {
                    claim.decoders.target(address(message)).ok_or(Undelivered::NotDecoded)?;
                }
                Ok(logical(device, claim.ld_id))
            }
        }
    }

    /// Whether all ports are lost at which a message may leave.
    fn is_lost(&self, from: usize, to: usize, message: &Message) -> bool {
        if self.lost.is_empty() {
            return false;
        }
        let group = self.tables.group(from, message.route().dpid).filter(|_| is_spread(message.class()));
        group.map_or_else(|| self.lost.contains(&to), |group| group.ports().all(|port| self.lost.contains(&port)))
    }

    /// The answer of this edge to a request with PIDs that reaches nothing behind it, if there is a way for it.
    fn answer(&self, from: usize, request: &Message) -> Option<(usize, Message)> {
        let answer = own_answer(MessageForm::Pbr, self.poison_on_decode_error, request)?;
        let answer = answer.on_route(PeerRoute { dpid: request.route().spid, ..PeerRoute::default() });
        self.output(from, &answer).ok().filter(|(to, answer)| !self.is_lost(from, *to, answer))
    }

    /// What becomes of a message with PIDs.
    fn forward(&self, from: usize, message: &Message) -> Routed<PeerRoute> {
        let flow = message.route();
        // Into the fabric a message goes as it is, and is copied once: 57 instructions less a look-up.
        if self.lost.is_empty()
            && let Some(to) = self.tables.port(from, flow.dpid)
            && let Some(PbrPort::Fabric) = self.ports.get(to)
            && self.has(to, message.class())
        {
            return Routed::Port { to, message: *message, flow };
        }
        match self.output(from, message) {
            Ok((to, sent)) if self.is_lost(from, to, &sent) => Routed::Dropped(Undelivered::LostLink),
            Ok((to, sent)) => Routed::Port { to, message: sent, flow: message.route() },
            Err(why @ Undelivered::NotDecoded) => Routed::Answered { why, answer: self.answer(from, message) },
            Err(why) => Routed::Dropped(why),
        }
    }
}

impl Switching for PbrRoutes {
    /// SPID and DPID as the message has them in the fabric.
    type Flow = PeerRoute;

    fn module(
        self,
        config: SwitchConfig,
        links: Vec<(NodeLink, Tap)>,
        tap: Tap,
        shared: Arc<Mutex<SwitchResult>>,
    ) -> Result<Box<dyn Module>, ArbiterError> {
        Ok(Box::new(CxlSwitch::new(self, config, links, tap, shared)?))
    }

    fn route(&self, from: usize, message: &Message) -> Routed<PeerRoute> {
        let is_down = message.class().dir() == Dir::Down;
        match &self.ports[from] {
            _ if !self.has(from, message.class()) => Routed::Dropped(Undelivered::Class),
            // It was still on the wire.
            PbrPort::Fabric if !self.lost.is_empty() && self.lost.contains(&from) => {
                Routed::Dropped(Undelivered::LostLink)
            }
            PbrPort::Fabric => self.forward(from, message),
            PbrPort::Host(host) if is_down => match PbrRoutes::entered(host, message) {
                Some(entered) => self.forward(from, &entered),
                None if !message.class().is_mem() => Routed::Dropped(Undelivered::CacheId),
                None => {
                    let answer = own_answer(host.form, self.poison_on_decode_error, message);
                    Routed::Answered { why: Undelivered::NotDecoded, answer: answer.map(|answer| (from, answer)) }
                }
            },
            PbrPort::Device(device) if !is_down => match PbrRoutes::sent(device, message) {
                Some(sent) => self.forward(from, &sent),
                None => Routed::Dropped(Undelivered::UnknownLd),
            },
            PbrPort::Shared(device) if !is_down => {
                let PeerRoute { spid, dpid, .. } = message.route();
                // Answers have no SPID.
                let is_own = !is_snoop(message.class()) || device.pid.number() == spid;
                match is_own && device.hosts.iter().any(|host| host.number() == dpid) {
                    true => self.forward(from, message),
                    false => Routed::Dropped(Undelivered::NotClaimed),
                }
            }
            _ => Routed::Dropped(Undelivered::Class),
        }
    }

    /// Ports and tables change with what is managed alone, and a message without a group has one way.
    fn keeps_way(&self, from: usize, message: &Message) -> bool {
        !self.tables.has_groups()
            || !is_spread(message.class())
            || self.tables.group(from, message.route().dpid).is_none()
    }

    fn spread(
        &self,
        from: usize,
        number: u64,
        (to, message): (usize, &Message),
        backlog: Backlog<'_>,
    ) -> Option<usize> {
        if !self.tables.has_groups() {
            return Some(to);
        }
        let group = self.tables.group(from, message.route().dpid).filter(|_| is_spread(message.class()));
        let Some(group) = group else { return Some(to) };
        // Every message of an input and class has a draw of its own, however often it is looked at.
        let stream = (from as u64) << 8 | message.class() as u64;
        let seed = self.seed ^ stream.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ number.wrapping_mul(0xd134_2543_de82_ef95);
        let draw = Rng::from_seed(seed).next_u64();
        // Ports without their links are no candidates: a group of which the mix picks only such ones would have nothing to wait for.
        // That another port is left was found with the route.
        match self.lost.is_empty() {
            true => group.choose(draw, backlog),
            false => group.without(|port| self.lost.contains(&port)).choose(draw, backlog),
        }
    }

    fn statuses_to_tell(&mut self) -> Vec<(usize, LinkStatus)> {
        self.viral.take_to_tell()
    }

    /// Statuses of an inter-switch link are for several edge ports.
    fn tells_all(&self, port: usize) -> bool {
        matches!(self.ports[port], PbrPort::Fabric)
    }

    /// Resets of hierarchies and the end of viral are told by no neighbour of such a switch.
    fn heard(&mut self, port: usize, status: LinkStatus) {
        if let LinkStatus::Viral(vector) = status {
            let PbrRoutes { ports, tables, claims, lost, viral, .. } = self;
            viral.hear(port, vector, ViralWays { ports, tables, claims, lost });
        }
    }

    fn is_viral(&self, port: usize, flow: Option<PeerRoute>) -> bool {
        match (flow, &self.ports[port]) {
            (Some(route), _) => self.viral.has(route),
            (None, PbrPort::Host(host)) => self.viral.has_host(host.pid),
            (None, _) => false,
        }
    }

    fn manage(&mut self, cycle: u64) -> Option<Managed<PeerRoute>> {
        if let Some(event) = self.viral.take_event() {
            return Some(Managed::Event(event));
        }
        let (_, change) = self.changes.pop_if(|(due, _)| *due <= cycle)?;
        Some(match change {
            PbrChange::Lost(port) => {
                self.lost.insert(port);
                Managed::LostLink(port)
            }
            PbrChange::Rerouted(tables) => {
                self.tables = *tables;
                self.is_cut = true;
                Managed::Event(ManagerEvent::Rerouted)
            }
        })
    }

    fn next_cycle(&self) -> Option<u64> {
        self.changes.last().map(|(due, _)| *due)
    }

    fn judge(&mut self, from: usize, message: &Message, routed: &Routed<PeerRoute>) -> Option<Violation> {
        // Nearly all messages: what came in a fabric or from a device and goes on.
        if let (Routed::Port { .. }, PbrPort::Fabric | PbrPort::Device(_)) = (routed, &self.ports[from]) {
            return None;
        }
        let PeerRoute { ld_id, spid, dpid, bi_id, cache_id } = message.route();
        let class = message.class().name();
        Some(match (routed, &self.ports[from]) {
            (Routed::Dropped(Undelivered::Class), port) => {
                let expected = match (port, self.has_snoops_at(from)) {
                    (PbrPort::Host(_), _) if self.has_cache_at(from) => "H2D Req, Rsp or Data",
                    (PbrPort::Device(_), _) if self.has_cache_at(from) => "D2H Req, Rsp or Data",
                    (PbrPort::Host(_), false) => "M2S Req or RwD",
                    (PbrPort::Host(_), true) => "M2S Req, RwD or BIRsp",
                    (PbrPort::Device(_), false) => "S2M NDR or DRS",
                    (PbrPort::Device(_) | PbrPort::Shared(_), _) => "S2M NDR, DRS or BISnp",
                    (PbrPort::Fabric, _) => "a class that the port of its DPID takes",
                };
                violation("FAB-ERR-04", class, expected, "a class that the port has not negotiated is dropped")
            }
            (Routed::Dropped(Undelivered::UnknownLd), PbrPort::Host(_) | PbrPort::Fabric) => {
                let text = "a request of a host that has no logical device at the edge port is dropped";
                let found = format!("{class} with SPID {spid:#05x} and DPID {dpid:#05x}");
                violation("FAB-EDG-08", found, "the SPID of a host that has one", text)
            }
            (Routed::Dropped(Undelivered::UnknownLd), _) => {
                let text = "a message of a logical device that is not bound is dropped";
                let found = if is_snoop(message.class()) { format!("BI-ID {bi_id}") } else { format!("LD-ID {ld_id}") };
                violation("FAB-EDG-08", found, "an LD-ID of a binding", text)
            }
            (Routed::Dropped(Undelivered::CacheId), PbrPort::Host(host)) => {
                let text = "a message for a caching device that the edge port of its host does not know is dropped";
                let found = format!("{class} with CacheID {cache_id}");
                violation("FAB-EDG-08", found, format!("a CacheID below {}", host.bindings.len()), text)
            }
            (Routed::Dropped(Undelivered::CacheId), _) => {
                let text = "a request of a caching device that the edge port of its host does not know is dropped";
                violation(
                    "FAB-EDG-08",
                    format!("{class} with SPID {spid:#05x}"),
                    "the PID of a device of the host",
                    text,
                )
            }
            (Routed::Dropped(Undelivered::NotClaimed), _) => {
                let found = format!("{class} with SPID {spid:#05x} and DPID {dpid:#05x}");
                let text = "a message that no binding of the edge port claims is dropped";
                violation("FAB-PID-05", found, "both PIDs of a binding", text)
            }
            // What led there was lost.
            (Routed::Dropped(Undelivered::NoRoute), _) if self.is_cut => return None,
            (Routed::Dropped(Undelivered::NoRoute), _) => {
                let text = "a message to a DPID without a valid entry of the routing table is dropped";
                violation("FAB-DRT-02", format!("{class} with DPID {dpid:#05x}"), "a DPID with an entry", text)
            }
            (Routed::Port { .. }, PbrPort::Shared(PbrSharedPort { is_gfd: true, .. })) if matches!(message, Message::S2mDrs(header, _) if header.opcode == DrsOpcode::MemDataNXM) =>
            {
                let text = "an access error of a G-FAM device is answered with poisoned data";
                violation("FAB-GFD-05", format!("MemDataNXM for {dpid:#05x}"), "MemData, poisoned", text)
            }
            (_, PbrPort::Host(_)) if ld_id != 0 => {
                let text = "there are no logical devices above the switch";
                violation("FAB-MLD-02", format!("LD-ID {ld_id}"), "LD-ID 0", text)
            }
            _ => return None,
        })
    }

    fn shown(&self, message: &Message, _: MessageForm, flow: Option<PeerRoute>) -> (Message, MessageForm) {
        (flow.map_or(*message, |flow| message.on_route(flow)), MessageForm::Pbr)
    }
}
