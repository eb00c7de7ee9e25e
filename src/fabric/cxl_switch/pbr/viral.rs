//! Viral of the hierarchies of hosts in a fabric with port based routing (`fabric` §1.10, PID-4).
//!
//! Modelled: the hierarchy of a host is its edge port and all edge ports towards devices that are bound to it, at whatever switch. A switch
//! with hierarchy based routing below an edge port that declares viral makes the hierarchies of the hosts viral that have it; the edge port of such a
//! host tells the host, and all edge ports of the hierarchy tell what is there. On the way between edge ports a status names the one for
//! which it is: links between switches belong to all hierarchies, and so that others stay untouched (VIR-2) a status without a name must not pass
//! there. The sheet gives no form of it; ours has the DPID in the place of the vector of logical devices, which such a link has no use for
//! \[D\]. Detail: without time; the [module](super::super::module) tells a status in front of the messages that leave later, on the ways on which
//! those go. Left out: the end of viral, as switches of the model with port based routing have no resets of hierarchies, and devices with port based routing,
//! which are told nothing: they tell hosts apart by PIDs, and a status has none at an edge.
//!
//! A walk: `dsp[0]` hears viral from the switch below. That is bound to host 1, whose edge port is behind `isl[0]`: viral leaves there with the
//! PID of this edge port. At the switch of the host it is told to the host, and leaves for each binding of it with the PID of that; back at the
//! first switch `dsp[0]` tells it to the switch below, which is viral already.

use super::super::command::ManagerEvent;
use super::drt::Drts;
use super::pid::PbrPid;
use super::route::{PbrClaim, PbrPort};
use scalepool_ordered::{OrderedMap, OrderedSet};
use scalepool_protocols::cxl::link_status::LinkStatus;
use scalepool_protocols::cxl::message::PeerRoute;
use std::collections::VecDeque;

/// What a switch knows of viral.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PbrViral {
    /// Edge ports towards devices with logical devices, which are told one bit for each (`fabric` VIR-3).
    pub logical_ports: OrderedSet<usize>,
    /// PIDs of edge ports of hosts, and of bindings, of viral hierarchies, as far as this switch has heard of them.
    known: OrderedSet<u16>,
    /// The vector that each port of [`PbrViral::logical_ports`] has told last.
    vectors: OrderedMap<usize, u16>,
    /// What ports have to tell.
    to_tell: Vec<(usize, LinkStatus)>,
    /// Hierarchies that have gone viral, by the edge port of their host.
    events: VecDeque<ManagerEvent>,
}

/// What of a switch says where a status goes.
#[derive(Debug, Clone, Copy)]
pub struct ViralWays<'a> {
    /// Its ports.
    pub ports: &'a [PbrPort],
    /// Its routing tables.
    pub tables: &'a Drts,
    /// What its edge ports claim.
    pub claims: &'a OrderedMap<(u16, u16), PbrClaim>,
    /// Fabric ports whose links are lost.
    pub lost: &'a OrderedSet<usize>,
}

impl PbrViral {
    /// Of a switch where nothing is viral, with these edge ports towards devices with logical devices.
    pub fn new(logical_ports: OrderedSet<usize>) -> PbrViral {
        PbrViral { logical_ports, ..PbrViral::default() }
    }

    /// What is at a port has declared viral; `vector` as it came.
    pub fn hear(&mut self, from: usize, vector: u16, ways: ViralWays<'_>) {
        match &ways.ports[from] {
            PbrPort::Fabric => self.pass(from, vector, ways),
            PbrPort::Host(host) => self.pass(from, host.pid.number(), ways),
            PbrPort::Device(device) => {
                let is_meant = |ld: u8| vector == 0 || vector >> (ld & 15) & 1 == 1;
                let hosts: OrderedSet<PbrPid> =
                    device.owners.iter().filter(|(ld, _)| is_meant(**ld)).map(|(_, owner)| owner.host).collect();
                hosts.iter().for_each(|host| self.pass(from, host.number(), ways));
            }
            PbrPort::Shared(_) => (),
        }
    }

    /// A status for an edge port that came at a port, or begins there. Each goes on once.
    fn pass(&mut self, from: usize, dpid: u16, ways: ViralWays<'_>) {
        let Some(to) = ways.tables.port(from, dpid).filter(|to| !ways.lost.contains(to)) else { return };
        if !self.known.insert(dpid) {
            return;
        }
        match ways.ports.get(to) {
            Some(PbrPort::Fabric) => self.to_tell.push((to, LinkStatus::Viral(dpid))),
            Some(PbrPort::Host(host)) if host.pid.number() == dpid => {
                self.events.push_back(ManagerEvent::Viral(to));
                self.to_tell.push((to, LinkStatus::Viral(0)));
                host.bindings.iter().for_each(|binding| self.pass(to, binding.number(), ways));
            }
            Some(PbrPort::Device(_)) => {
                let claimed = ways.claims.iter().find(|((_, own), claim)| *own == dpid && claim.port == to);
                let Some(((host, _), claim)) = claimed else { return };
                // Answers have the PID of the host alone.
                self.known.insert(*host);
                self.tell_device(to, claim.ld_id);
            }
            Some(PbrPort::Host(_) | PbrPort::Shared(_)) | None => (),
        }
    }

    fn tell_device(&mut self, port: usize, ld: u8) {
        let vector = if self.logical_ports.contains(&port) {
            let vector = self.vectors.entry(port).or_default();
            *vector |= 1 << (ld & 15);
            *vector
        } else {
            0
        };
        self.to_tell.push((port, LinkStatus::Viral(vector)));
    }

    /// Whether a message with these PIDs is one of a viral hierarchy (`fabric` VIR-2).
    pub fn has(&self, route: PeerRoute) -> bool {
        !self.known.is_empty() && [route.spid, route.dpid].iter().any(|pid| self.known.contains(pid))
    }

    /// Whether the hierarchy of the host with a PID is viral.
    pub fn has_host(&self, pid: PbrPid) -> bool {
        self.known.contains(&pid.number())
    }

    /// The next hierarchy that has gone viral at the edge port of its host.
    pub fn take_event(&mut self) -> Option<ManagerEvent> {
        self.events.pop_front()
    }

    /// What ports have to tell since the last call, in order.
    pub fn take_to_tell(&mut self) -> Vec<(usize, LinkStatus)> {
        std::mem::take(&mut self.to_tell)
    }
}
