//! Where a TLP goes in a virtual hierarchy of a switch, without time (`fabric` §1.5).
//!
//! Modelled: the configuration spaces of the upstream port and of the virtual bridges (vPPB) towards devices, which decide alone:
//! configuration requests and completions go by bus numbers, memory requests by windows, messages by their routing: to the root, by
//! address, by the bus of an identifier, or from the root to everybody. The sheet calls bytes 8 to 15 of a message specific to its
//! code; the model reads an identifier where configuration requests have theirs, and an address where 64-bit requests have theirs.
//! A type 1 configuration request for the bus of a link becomes type 0 there. What nobody claims is Unsupported Request: completed
//! where somebody waits, else dropped and counted. What a logical device sends to a peer goes up, as the access control of its port
//! is fixed (`fabric` MLD-9). Requests of UIO go by the decoders of the upstream port and no window ([`UioRoutes`], `fabric` IOR-6).
//! Left out: other access control (peers reach one another), I/O space, of which the bridges have no windows, so that such requests
//! are not supported, and messages that are gathered on their way up.
//!
//! A walk through one read of a device: the address is in a window of the upstream port and in one of a vPPB, so the read leaves
//! at the port to which that is bound. Its completion carries the bus of the root, which is behind no vPPB, and goes up.

use scalepool_endpoint::config_space::ConfigSpace;
use scalepool_endpoint::config_space::port::{SwitchPort, switch_port};
use scalepool_endpoint::tlp::{Tlp, TlpKind};
use scalepool_fabric::cxl_switch::{UioFrom, UioRouted, UioRoutes};
use scalepool_protocols::cxl::cxlio::DW_BYTES;
use scalepool_protocols::cxl::cxlio::code::CplStatus;
use scalepool_protocols::cxl::cxlio::dvsec::{ConnectedMode, FlexBus};
use scalepool_protocols::wire::Violation;

/// Most functions of a device, so most vPPBs with one device number (`fabric` VCS-7).
pub const FUNCTIONS: usize = 8;

/// Device and function of the n-th vPPB towards a device, counted from 0, where the hierarchy uses so many device numbers: function 0 of
/// all devices first, then function 1, and so on (`fabric` VCS-7). `None`: no function is left for it.
pub fn vppb_function(n: usize, devices: usize) -> Option<(u8, u8)> {
    let (device, function) = (n.checked_rem(devices)?, n / devices);
    (function < FUNCTIONS && device < 32).then_some((device as u8, function as u8))
}

/// Routing of a message (`cxl-io` §1.2): to the root complex, by address, by identifier, from the root to everybody.
const ROUTING_TO_ROOT: u8 = 0;
const ROUTING_BY_ADDRESS: u8 = 1;
const ROUTING_BY_ID: u8 = 2;
const ROUTING_BROADCAST: u8 = 3;

/// The side of a hierarchy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum IoSide {
    /// The upstream port.
    Up,
    /// The vPPB of this number.
    Down(usize),
}

/// What becomes of a TLP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IoRouted {
    /// It leaves at a side, in this form.
    To(IoSide, Tlp),
    /// It leaves at all of these sides.
    ToAll(Vec<IoSide>, Tlp),
    /// The switch completes it where it came.
    Completed(Tlp),
    /// Unsupported Request, which is completed where it came.
    Unsupported(Tlp),
    /// Completer Abort, which is completed where it came: UIO to a peer from a port that is not enabled for it.
    Aborted(Tlp),
    /// Nobody claims it and nobody waits for it.
    Dropped,
}

/// A virtual bridge towards a device.
#[derive(Debug, Clone)]
pub struct IoBridge {
    space: ConfigSpace,
    device_function: u8,
    /// A port is bound to it, and the link there is up.
    is_bound: bool,
    /// What comes there for a peer goes up: a logical device is bound to it.
    is_redirected: bool,
    /// The space as it is after a reset.
    fresh: ConfigSpace,
}

/// A virtual hierarchy.
#[derive(Debug, Clone)]
pub struct IoHierarchy {
    upstream: ConfigSpace,
    /// Bus, device and function of the upstream port, learnt from configuration writes; 0 before.
    id: u16,
    bridges: Vec<IoBridge>,
    /// The space of the upstream port as it is after a reset.
    fresh: ConfigSpace,
    uio: UioSettings,
}

/// What a hierarchy does with UIO, as firmware has committed its decoders.
#[derive(Debug, Clone, Default)]
pub struct UioSettings {
    /// Ranges of vPPBs.
    pub routes: UioRoutes,
    /// Its ports may send UIO to peers.
    pub to_peers: bool,
}

impl IoHierarchy {
    /// The hierarchy after reset, with a vPPB for each of `bound`, which says whether a port is bound to it. The first `devices` vPPBs
    /// have device numbers of their own. What a port can do and the largest payload are those of all its ports.
    pub fn new(bound: &[bool], devices: usize, flex_bus: FlexBus, max_payload_bytes: usize) -> IoHierarchy {
        let bridges = bound.iter().enumerate().filter_map(|(n, is_bound)| {
            let (device, function) = vppb_function(n, devices)?;
            let mut space = switch_port(SwitchPort::Downstream, flex_bus, max_payload_bytes);
            if bound.len() > devices {
                space.has_siblings();
            }
            let (fresh, device_function) = (space.clone(), device << 3 | function);
            Some(IoBridge { space, device_function, is_bound: *is_bound, is_redirected: false, fresh })
        });
        let upstream = switch_port(SwitchPort::Upstream, flex_bus, max_payload_bytes);
        let (bridges, uio) = (bridges.collect(), UioSettings::default());
        IoHierarchy { fresh: upstream.clone(), upstream, id: 0, bridges, uio }
    }

    /// Its decoders may allow UIO, as these settings say.
    pub fn sets_uio(&mut self, uio: UioSettings) {
        self.uio = uio;
    }

    /// A reset reaches its upstream port: all that software has written in its ports is gone (`fabric` RST-3).
    pub fn reset(&mut self) {
        self.upstream.clone_from(&self.fresh);
        self.id = 0;
        for bridge in &mut self.bridges {
            bridge.space.clone_from(&bridge.fresh);
        }
    }

    /// The link at a side has trained with a peer of these capabilities.
    pub fn trained(&mut self, side: IoSide, peer: &FlexBus, mode: ConnectedMode) {
        match side {
            IoSide::Up => {
                self.upstream.trained(peer, mode);
                self.fresh.trained(peer, mode);
            }
            IoSide::Down(n) => {
                self.bridges[n].space.trained(peer, mode);
                self.bridges[n].fresh.trained(peer, mode);
            }
        }
    }

    /// A logical device is bound to this vPPB: requests and completions for peers go up (`fabric` MLD-9).
    pub fn redirects(&mut self, n: usize) {
        self.bridges[n].is_redirected = true;
    }

    /// Whether what came at a side goes up whatever peer it is for.
    fn is_redirected(&self, from: IoSide) -> bool {
        matches!(from, IoSide::Down(n) if self.bridges[n].is_redirected)
    }

    /// Configuration space of the upstream port.
    pub fn upstream(&self) -> &ConfigSpace {
        &self.upstream
    }

    /// Configuration space of a vPPB.
    pub fn bridge(&self, n: usize) -> Option<&ConfigSpace> {
        self.bridges.get(n).map(|bridge| &bridge.space)
    }

    /// A bus inside the switch, where the vPPBs are.
    fn inner_bus(&self) -> u8 {
        self.upstream.buses()[1]
    }

    /// The vPPB behind which something is, if a port is bound to it.
    fn behind(&self, holds: impl Fn(&ConfigSpace) -> bool) -> Option<usize> {
        self.bridges.iter().position(|bridge| bridge.is_bound && holds(&bridge.space))
    }

    /// What becomes of a TLP that came at a side.
    pub fn route(&mut self, from: IoSide, tlp: Tlp) -> IoRouted {
        match tlp.kind {
            TlpKind::ConfigRead { level, target, .. } | TlpKind::ConfigWrite { level, target, .. } => match from {
                IoSide::Up => self.configure(level, target, tlp),
                // Configuration requests come from the root alone.
                IoSide::Down(_) => self.refused(tlp),
            },
            TlpKind::MemRead { address, .. } | TlpKind::MemWrite { address, .. } | TlpKind::Atomic { address, .. } => {
                self.memory(from, address, tlp)
            }
            TlpKind::UioRead { .. } | TlpKind::UioWrite { .. } => match self.uio_route(from, &tlp) {
                Some(UioRouted::Down(n)) if self.bridges.get(n).is_some_and(|bridge| bridge.is_bound) => {
                    IoRouted::To(IoSide::Down(n), tlp)
                }
                Some(UioRouted::Up) => IoRouted::To(IoSide::Up, tlp),
                Some(UioRouted::Abort) => {
                    tlp.uio_ended(self.id, CplStatus::CA).map_or(IoRouted::Dropped, IoRouted::Aborted)
                }
                _ => self.refused(tlp),
            },
            TlpKind::Completion { .. } | TlpKind::UioCompletion { .. } => {
                self.by_bus(from, (tlp.requester >> 8) as u8, tlp)
            }
            TlpKind::Message { routing: ROUTING_TO_ROOT, .. } if from != IoSide::Up => IoRouted::To(IoSide::Up, tlp),
            TlpKind::Message { routing: ROUTING_BY_ADDRESS, dw2, dw3, .. } => {
                self.memory(from, u64::from(dw2) << 32 | u64::from(dw3), tlp)
            }
            // What is for a port of the switch itself is for no agent that it has.
            TlpKind::Message { routing: ROUTING_BY_ID, dw2, .. } if !self.is_own(dw2 >> 16) => {
                self.by_bus(from, (dw2 >> 24) as u8, tlp)
            }
            TlpKind::Message { routing: ROUTING_BROADCAST, .. } if from == IoSide::Up => {
                let bound = self.bridges.iter().enumerate().filter(|(_, bridge)| bridge.is_bound);
                IoRouted::ToAll(bound.map(|(n, _)| IoSide::Down(n)).collect(), tlp)
            }
            TlpKind::Message { .. } | TlpKind::Other { .. } => self.refused(tlp),
        }
    }

    /// What goes by the bus of an identifier: down where that is, else up, and never back.
    fn by_bus(&self, from: IoSide, bus: u8, tlp: Tlp) -> IoRouted {
        match self.behind(|space| space.has_behind(bus)) {
            Some(n) if from != IoSide::Down(n) && self.is_redirected(from) => IoRouted::To(IoSide::Up, tlp),
            Some(n) if from != IoSide::Down(n) => IoRouted::To(IoSide::Down(n), tlp),
            None if from != IoSide::Up => IoRouted::To(IoSide::Up, tlp),
            _ => IoRouted::Dropped,
        }
    }

    /// Whether an identifier, bus, device and function, is that of the upstream port or of a vPPB.
    fn is_own(&self, id: u32) -> bool {
        let inner = self.bridges.iter().map(|one| u32::from(self.inner_bus()) << 8 | u32::from(one.device_function));
        inner.chain([u32::from(self.id)]).any(|own| own == id)
    }

    /// A configuration request from the root.
    fn configure(&mut self, level: u8, target: u16, tlp: Tlp) -> IoRouted {
        let (bus, device_function) = ((target >> 8) as u8, target as u8);
        if level == 0 {
            // The upstream port is the only device at its link.
            return match device_function {
                0 => {
                    if matches!(tlp.kind, TlpKind::ConfigWrite { .. }) {
                        self.id = target;
                    }
                    IoRouted::Completed(accessed(&mut self.upstream, target, &tlp))
                }
                _ => self.refused(tlp),
            };
        }
        if bus != 0 && bus == self.inner_bus() {
            let own = self.bridges.iter_mut().find(|bridge| bridge.device_function == device_function);
            return match own {
                Some(bridge) => IoRouted::Completed(accessed(&mut bridge.space, target, &tlp)),
                None => self.refused(tlp),
            };
        }
        let Some(n) = self.behind(|space| space.has_behind(bus)) else { return self.refused(tlp) };
        let is_last = self.bridges[n].space.buses()[1] == bus;
        // At the end of a link there is device 0 alone.
        if is_last && device_function >> 3 != 0 {
            return self.refused(tlp);
        }
        let mut onward = tlp;
        if let TlpKind::ConfigRead { level, .. } | TlpKind::ConfigWrite { level, .. } = &mut onward.kind {
            *level = u8::from(!is_last);
        }
        IoRouted::To(IoSide::Down(n), onward)
    }

    /// Where a request of UIO comes from, for its decoders.
    fn uio_from(&self, from: IoSide) -> UioFrom {
        match from {
            IoSide::Up => UioFrom::Up,
            IoSide::Down(vppb) => UioFrom::Down { vppb, is_enabled: self.uio.to_peers },
        }
    }

    /// Where a request of UIO goes (`fabric` IOR-6); `None`: its port, or the upstream port, passes no requests.
    fn uio_route(&self, from: IoSide, tlp: &Tlp) -> Option<UioRouted> {
        let (address, bytes) = tlp.uio_span()?;
        if let IoSide::Down(own) = from
            && !self.bridges[own].space.passes_up()
        {
            return None;
        }
        let to = self.uio.routes.route(self.uio_from(from), address, bytes);
        // What a logical device sends to a peer goes up (`fabric` MLD-9), and is then none for this switch.
        let to = if self.is_redirected(from) && matches!(to, UioRouted::Down(_)) { UioRouted::Up } else { to };
        (to != UioRouted::Up || self.upstream.passes_up()).then_some(to)
    }

    /// The rule that was broken with a request of UIO that came at a side and was sent to another one.
    pub fn judge_uio(&self, from: IoSide, to: IoSide, tlp: &Tlp) -> Option<Violation> {
        let (address, bytes) = tlp.uio_span()?;
        let to = match to {
            IoSide::Up => UioRouted::Up,
            IoSide::Down(vppb) => UioRouted::Down(vppb),
        };
        self.uio.routes.judge(self.uio_from(from), address, bytes, to)
    }

    /// A memory request, or a message that goes by an address (`fabric` IOR-2).
    fn memory(&self, from: IoSide, address: u64, tlp: Tlp) -> IoRouted {
        let is_own = self.upstream.passes_down(address);
        match (from, self.behind(|space| space.passes_down(address))) {
            (IoSide::Up, Some(n)) if is_own => IoRouted::To(IoSide::Down(n), tlp),
            (IoSide::Down(own), _) if !self.bridges[own].space.passes_up() => self.refused(tlp),
            (IoSide::Down(own), Some(n)) if n != own && self.is_redirected(from) => match self.upstream.passes_up() {
                true => IoRouted::To(IoSide::Up, tlp),
                false => self.refused(tlp),
            },
            // What is in the window of the vPPB where it came is no business of this switch.
            (IoSide::Down(own), Some(n)) if n != own => IoRouted::To(IoSide::Down(n), tlp),
            (IoSide::Down(_), None) if !is_own && self.upstream.passes_up() => IoRouted::To(IoSide::Up, tlp),
            _ => self.refused(tlp),
        }
    }

    /// The link behind a vPPB goes down by surprise: from here on nothing is behind it (`fabric` PID-4).
    pub fn link_down(&mut self, n: usize) {
        if let Some(bridge) = self.bridges.get_mut(n) {
            bridge.is_bound = false;
        }
    }

    /// The link behind a vPPB is up again.
    pub fn link_up(&mut self, n: usize) {
        if let Some(bridge) = self.bridges.get_mut(n) {
            bridge.is_bound = true;
        }
    }

    /// The completion of a request that is not supported, from the upstream port.
    pub fn unsupported(&self, request: &Tlp) -> Tlp {
        let of_uio = request.uio_ended(self.id, CplStatus::UR);
        of_uio.unwrap_or_else(|| self.ended(request))
    }

    fn ended(&self, request: &Tlp) -> Tlp {
        completion(request, self.id, CplStatus::UR, Vec::new())
    }

    /// What nobody claims (`fabric` IOR-4).
    fn refused(&self, tlp: Tlp) -> IoRouted {
        match tlp.is_non_posted() {
            true => IoRouted::Unsupported(self.unsupported(&tlp)),
            false => IoRouted::Dropped,
        }
    }
}

/// Carries out a configuration request; its completion.
fn accessed(space: &mut ConfigSpace, completer: u16, tlp: &Tlp) -> Tlp {
    let data = match tlp.kind {
        TlpKind::ConfigRead { register, .. } => space.read(register).to_le_bytes().to_vec(),
        TlpKind::ConfigWrite { register, enables, .. } => {
            if let Some(dw) = tlp.data.first_chunk() {
                space.write(register, u32::from_le_bytes(*dw), enables);
            }
            Vec::new()
        }
        _ => Vec::new(),
    };
    completion(tlp, completer, CplStatus::SC, data)
}

/// A completion with all that is to come.
fn completion(request: &Tlp, completer: u16, status: CplStatus, data: Vec<u8>) -> Tlp {
    let kind = TlpKind::Completion { completer, status, byte_count: DW_BYTES, lower_address: 0 };
    Tlp { tag: request.tag, tc: request.tc, attr: request.attr, ..Tlp::new(kind, request.requester, data) }
}
