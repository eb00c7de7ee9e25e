//! Both halves of a bridge beside each other, the same for every protocol of accelerators.
//!
//! Modelled: ports, checks and waits of a bridge of which the protocol says only its limits and its classes ([`AcceleratorLink`]). Left out:
//! what a protocol has alone, which stands in its kind. A walk through one check: each half judges its own windows; with the ports known,
//! links to accelerators have to be of one kind, and each half judges its windows with the partners.

use super::hairpin::ExportedMemory;
use super::inbound::{InboundFields, MemoryOf};
use super::losses::{BridgeLosses, HalvesOutages};
use super::outbound::OutboundFields;
use crate::channels::ChannelWait;
use crate::coherence::Coherent;
use crate::kind::{ConfigFinding, DomainMember, NodeError, NodePart, Offer, PortDecl, PortRole, Site, SitePort};
use scalepool_bridge::waits::{AcceleratorClasses, WaitWatch};
use scalepool_bridge::window::WindowLimits;
use scalepool_kernel::Clock;
use std::sync::Arc;

/// What a bridge has to know of the links to its accelerators.
pub struct AcceleratorLink {
    /// Kind of link.
    pub links: &'static [&'static str],
    /// Limits of windows to CXL.
    pub outbound: WindowLimits,
    /// Limits of windows from CXL.
    pub inbound: WindowLimits,
    /// Class of requests with an answer.
    pub request: &'static str,
    /// Class of posted requests, if there is one.
    pub posted: Option<&'static str>,
    /// Class of answers.
    pub response: &'static str,
}

/// The halves of one bridge.
pub struct BridgeHalves<'a> {
    /// Its links.
    pub link: &'static AcceleratorLink,
    /// How many there are.
    pub x_ports: usize,
    /// From accelerators to CXL.
    pub outbound: &'a OutboundFields,
    /// From CXL to accelerators.
    pub inbound: &'a InboundFields,
    /// CXL links that are lost.
    pub losses: &'a BridgeLosses,
}

impl BridgeHalves<'_> {
    /// All ports: those to accelerators, those of CXL, targets, those of the home, and those of BARs.
    pub fn ports(&self) -> Vec<PortDecl> {
        let x = PortDecl { name: "x", len: Some(self.x_ports), links: self.link.links, role: PortRole::Node };
        [x].into_iter().chain(self.outbound.ports()).chain(self.inbound.ports()).collect()
    }

    /// Joined ports in these five parts.
    pub fn split<'p>(&self, ports: &'p [SitePort]) -> [&'p [SitePort]; 5] {
        let (x, rest) = ports.split_at(self.x_ports);
        let (cxl, rest) = rest.split_at(self.outbound.count());
        let (targets, rest) = rest.split_at(self.inbound.target_ports);
        let (homes, bars) = rest.split_at(self.inbound.home_ports);
        [x, cxl, targets, homes, bars]
    }

    /// What it tells its neighbour at a port: of memory, what is behind ports of its class.
    pub fn offer_at(&self, port: usize) -> Offer {
        let io_from = self.x_ports + self.outbound.message_ports();
        if (io_from..self.x_ports + self.outbound.count()).contains(&port) {
            return self.outbound.io_offer();
        }
        let homes_from = self.x_ports + self.outbound.count() + self.inbound.target_ports;
        if port >= homes_from + self.inbound.home_ports {
            return self.inbound.bar_offer();
        }
        self.inbound.offer_of(if port < homes_from { "NH" } else { "DB" })
    }

    /// Fields that do not go together.
    pub fn check(&self) -> Vec<ConfigFinding> {
        let outbound = self.outbound.check(self.link.outbound);
        let hairpin = self.outbound.check_hairpin(self.link.outbound, &self.inbound.exported());
        let losses = self.losses.check(self.outbound, self.lost_inbound());
        outbound.into_iter().chain(self.inbound.check(self.link.inbound)).chain(hairpin).chain(losses).collect()
    }

    /// Fields that do not go with who is at the ports.
    pub fn check_joined(&self, member: DomainMember, ports: &[SitePort]) -> Vec<ConfigFinding> {
        let [x, cxl, targets, homes, bars] = self.split(ports);
        let other = x.iter().find(|port| port.link.carried != x[0].link.carried).map(|port| {
            let text = format!("found another kind of link at {} than at the first port, expected one kind", port.path);
            ("x_ports", text)
        });
        let outbound = self.outbound.check_joined(self.link.outbound, cxl);
        let inbound = self.inbound.check_joined(self.link.inbound, member, [targets, homes, bars]);
        let losses = self.losses.check_joined(targets);
        other.into_iter().chain(outbound).chain(inbound).chain(losses).collect()
    }

    /// What it is to devices that keep their memory coherent, and to those that hold lines of its own.
    pub fn coherent(&self, path: &str) -> Option<Coherent> {
        let (home, held) =
            (self.inbound.home(path, self.outbound.has_hairpin()), self.outbound.held(path, &self.ports()));
        match (home.map(Box::new), held) {
            (Some(home), Some(held)) => Some(Coherent::Both(home, held)),
            (Some(home), None) => Some(Coherent::Home(home)),
            (None, held) => held.map(Coherent::Holder),
        }
    }

    /// What the outbound half has to know of the memory of the own cluster, if windows lead there; `homes` are ports of the home.
    ///
    /// # Errors
    /// Windows from CXL that cannot be.
    pub fn exported<'p>(
        &self,
        memory: MemoryOf,
        homes: &'p [SitePort],
        site: &Site<'_>,
    ) -> Result<Option<ExportedMemory<'p>>, NodeError> {
        let Some(home) = homes.first().filter(|_| self.outbound.has_hairpin()) else { return Ok(None) };
        let windows = self.inbound.windows(self.link.inbound, site.member.peers.into());
        let windows = windows.map_err(|(_, text)| NodeError::Joined { path: site.path.to_owned(), text })?;
        Ok(Some(ExportedMemory { windows: Arc::new(windows.by_addresses().memory), memory, home }))
    }

    /// Ports of the inbound half whose links may be lost, by their names.
    fn lost_inbound(&self) -> [usize; 3] {
        [self.inbound.target_ports, self.inbound.home_ports, self.inbound.bar_ports]
    }

    /// Times in which CXL links are down.
    pub fn outages(&self, clock: Clock) -> HalvesOutages {
        self.losses.outages(self.outbound, self.lost_inbound(), clock)
    }

    /// The longest time for which a message may stay in it: what it waits for may be behind a link that is down \[fs\].
    pub fn own_wait_fs(&self, timeout_cycles: u64, clock: Clock) -> u64 {
        clock.periods_fs(timeout_cycles).saturating_add(self.losses.longest_fs())
    }

    /// What it is to accelerators: without a window to CXL it asks alone.
    pub fn node_part(&self) -> NodePart {
        if self.outbound.has_windows() { NodePart::Memory } else { NodePart::Requester }
    }

    /// The same for a run, which compares it with the waits that it sees.
    pub fn wait_watch(&self) -> WaitWatch {
        let AcceleratorLink { request, posted, response, .. } = *self.link;
        let listed = self.waits().iter().map(|wait| (wait.incoming, wait.outgoing)).collect();
        WaitWatch::new(AcceleratorClasses { request, posted, response }, listed)
    }

    /// What messages of both sides wait for.
    pub fn waits(&self) -> Vec<ChannelWait> {
        let AcceleratorLink { request, posted, response, .. } = *self.link;
        let outbound = self.outbound.waits(request, posted, response);
        outbound.into_iter().chain(self.inbound.waits(request)).collect()
    }
}
