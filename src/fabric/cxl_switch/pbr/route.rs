//! The output of a message and its translation at an edge, without time (`fabric` §3.4).
//!
//! A walk through one request of a host: a segment table, or else decoder, vPPB and binding give the DPID; the routing table gives the port. An edge
//! port towards a device claims the request by SPID and DPID, asks the decoder of the claim, and replaces both PIDs by the
//! LD-ID. A request that no decoder claims is answered where that is found: at the edge of the host, or at that of the device,
//! whose answer goes back by its DPID. A failed look-up drops the message (`fabric` EDG-8), and so does an invalid entry of
//! the table (`fabric` DRT-2).

use super::super::module::CxlSwitch;
use super::super::route::own_answer;
use super::super::switching::{Routed, Switching, Undelivered};
use super::super::violation;
use super::drt::Drts;
use super::pid::PbrPid;
use super::segments::SegmentTable;
use scalepool_memory::bridge::BridgeDecoders;
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl256::code::DrsOpcode;
use scalepool_protocols::cxl::message::{Class, Message, MessageForm, PeerRoute};
use scalepool_protocols::wire::Violation;
use std::collections::BTreeMap;

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
    /// PID of the binding of each vPPB.
    pub bindings: Vec<PbrPid>,
}

/// An edge port towards a device: the host that each logical device belongs to. A device without logical devices has only
/// LD-ID 0.
#[derive(Debug, Clone)]
pub struct PbrDevicePort {
    /// Its PID, which segment tables name.
    pub pid: PbrPid,
    /// PID of the host, by LD-ID.
    pub hosts: BTreeMap<u8, PbrPid>,
}

/// A port of a switch.
#[derive(Debug, Clone)]
pub enum PbrPort {
    /// Edge port towards a host.
    Host(PbrHostPort),
    /// Edge port towards a device.
    Device(PbrDevicePort),
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
    pub claims: BTreeMap<(u16, u16), PbrClaim>,
    /// Whether the data of a read that no decoder claims are poisoned (`fabric` §2.1, 4h).
    pub poison_on_decode_error: bool,
}

/// A switch with port based routing.
pub type PbrSwitch = CxlSwitch<PbrRoutes>;

/// Classes that pass a switch.
const fn is_passed(class: Class) -> bool {
    matches!(class, Class::M2sReq | Class::M2sRwd | Class::S2mNdr | Class::S2mDrs)
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
    /// A request of a host as it travels in the fabric; `None`: no decoder claims it.
    fn entered(host: &PbrHostPort, message: &Message) -> Option<Message> {
        let by_segment = || host.segments.iter().find_map(|table| table.dpid(address(message)));
        let by_decoder = || host.bindings.get(host.decoders.target(address(message))?).copied();
        let dpid = by_segment().or_else(by_decoder)?.number();
        Some(message.on_route(PeerRoute { spid: host.pid.number(), dpid, ..PeerRoute::default() }))
    }

    /// The output of a message with PIDs.
    fn output(&self, from: usize, message: &Message) -> Output {
        let PeerRoute { spid, dpid, .. } = message.route();
        let to = self.tables.port(from, dpid).ok_or(Undelivered::NoRoute)?;
        let is_down = message.class().dir() == Dir::Down;
        match self.ports.get(to) {
            None => Err(Undelivered::NoRoute),
            Some(PbrPort::Fabric) => Ok((to, *message)),
            Some(PbrPort::Host(_)) if is_down => Err(Undelivered::Class),
            Some(PbrPort::Host(host)) if host.pid.number() != dpid => Err(Undelivered::NotClaimed),
            Some(PbrPort::Host(host)) => {
                let mut message = message.on_route(PeerRoute::default());
                // On a 68B link the all-ones data are the only indication (`fabric` CMR-4).
                if let (Message::S2mDrs(header, _), MessageForm::Cxl68) = (&mut message, host.form)
                    && header.opcode == DrsOpcode::MemDataNXM
                {
                    header.opcode = DrsOpcode::MemData;
                }
                Ok((to, message))
            }
            Some(PbrPort::Device(_)) if !is_down => Err(Undelivered::Class),
            Some(PbrPort::Device(device)) if device.pid.number() == dpid => {
                let ld_id = device.hosts.iter().find(|(_, host)| host.number() == spid).map(|(ld_id, _)| *ld_id);
                let ld_id = ld_id.ok_or(Undelivered::UnknownLd)?;
                Ok((to, message.on_route(PeerRoute { ld_id, ..PeerRoute::default() })))
            }
            Some(PbrPort::Device(_)) => {
                let claim = self.claims.get(&(spid, dpid)).filter(|claim| claim.port == to);
                let claim = claim.ok_or(Undelivered::NotClaimed)?;
                claim.decoders.target(address(message)).ok_or(Undelivered::NotDecoded)?;
                Ok((to, message.on_route(PeerRoute { ld_id: claim.ld_id, ..PeerRoute::default() })))
            }
        }
    }

    /// The answer of this edge to a request with PIDs that reaches nothing behind it, if there is a way for it.
    fn answer(&self, from: usize, request: &Message) -> Option<(usize, Message)> {
        let answer = own_answer(MessageForm::Pbr, self.poison_on_decode_error, request)?;
        let answer = answer.on_route(PeerRoute { dpid: request.route().spid, ..PeerRoute::default() });
        self.output(from, &answer).ok()
    }

    /// What becomes of a message with PIDs.
    fn forward(&self, from: usize, message: &Message) -> Routed<PeerRoute> {
        match self.output(from, message) {
            Ok((to, sent)) => Routed::Port { to, message: sent, flow: message.route() },
            Err(why @ Undelivered::NotDecoded) => Routed::Answered { why, answer: self.answer(from, message) },
            Err(why) => Routed::Dropped(why),
        }
    }
}

impl Switching for PbrRoutes {
    /// SPID and DPID as the message has them in the fabric.
    type Flow = PeerRoute;

    fn route(&self, from: usize, message: &Message) -> Routed<PeerRoute> {
        let is_down = message.class().dir() == Dir::Down;
        match &self.ports[from] {
            _ if !is_passed(message.class()) => Routed::Dropped(Undelivered::Class),
            PbrPort::Fabric => self.forward(from, message),
            PbrPort::Host(host) if is_down => match PbrRoutes::entered(host, message) {
                Some(entered) => self.forward(from, &entered),
                None => {
                    let answer = own_answer(host.form, self.poison_on_decode_error, message);
                    Routed::Answered { why: Undelivered::NotDecoded, answer: answer.map(|answer| (from, answer)) }
                }
            },
            PbrPort::Device(device) if !is_down => match device.hosts.get(&message.route().ld_id) {
                Some(host) => {
                    let route = PeerRoute { dpid: host.number(), ..PeerRoute::default() };
                    self.forward(from, &message.on_route(route))
                }
                None => Routed::Dropped(Undelivered::UnknownLd),
            },
            _ => Routed::Dropped(Undelivered::Class),
        }
    }

    fn judge(&mut self, from: usize, message: &Message, routed: &Routed<PeerRoute>) -> Option<Violation> {
        let PeerRoute { ld_id, spid, dpid, .. } = message.route();
        let class = message.class().name();
        Some(match (routed, &self.ports[from]) {
            (Routed::Dropped(Undelivered::Class), port) => {
                let expected = match port {
                    PbrPort::Host(_) => "M2S Req or RwD",
                    PbrPort::Device(_) => "S2M NDR or DRS",
                    PbrPort::Fabric => "a class of CXL.mem that the port of its DPID takes",
                };
                violation("FAB-ERR-04", class, expected, "a class that the port has not negotiated is dropped")
            }
            (Routed::Dropped(Undelivered::UnknownLd), PbrPort::Host(_) | PbrPort::Fabric) => {
                let text = "a request of a host that has no logical device at the edge port is dropped";
                let found = format!("{class} with SPID {spid:#05x} and DPID {dpid:#05x}");
                violation("FAB-EDG-08", found, "the SPID of a host that has one", text)
            }
            (Routed::Dropped(Undelivered::UnknownLd), _) => {
                let text = "an answer of a logical device that is not bound is dropped";
                violation("FAB-EDG-08", format!("LD-ID {ld_id}"), "an LD-ID of a binding", text)
            }
            (Routed::Dropped(Undelivered::NotClaimed), _) => {
                let found = format!("{class} with SPID {spid:#05x} and DPID {dpid:#05x}");
                let text = "a message that no binding of the edge port claims is dropped";
                violation("FAB-PID-05", found, "both PIDs of a binding", text)
            }
            (Routed::Dropped(Undelivered::NoRoute), _) => {
                let text = "a message to a DPID without a valid entry of the routing table is dropped";
                violation("FAB-DRT-02", format!("{class} with DPID {dpid:#05x}"), "a DPID with an entry", text)
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
