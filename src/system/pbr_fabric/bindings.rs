//! Who has what in a fabric: bindings that a description gives, and those in turn.
//!
//! Modelled: a device or logical device belongs to one host, a device with port based routing to any number of them. Left out:
//! bindings that change while the system runs.
//!
//! A walk through one binding: the edge port of the device and that of the host are looked up, both have to be of one protocol,
//! and nobody else may have the device. The host counts its vPPBs in the order of its bindings; a binding has a PID of its own
//! unless a segment table names the port of the device.

use super::{Binding, FabricPort, OwnTable, PbrBindingConfig, PbrFabric};
use crate::design::System;
use crate::hierarchies;
use crate::kind::{CoherenceProtocol, PortRole};
use crate::kinds::cxl_switch::misfit;
use crate::memory_map::MemoryTarget;
use crate::problem::Problems;
use scalepool_coherence::cache::route::{Below, CacheRoutes, Flits, Hdm, Hierarchy};
use scalepool_protocols::cxl::message::MessageForm;

impl PbrFabric {
    pub(super) fn bind(&mut self, system: &System, device: FabricPort, ld: Option<u8>, host: usize) {
        let end = system.far(self.switches[device.0], device.1);
        let target = MemoryTarget { component: end.0, logical: ld };
        // Each of the caching devices below a switch has a PID of its own.
        let caching = hierarchies::caching(system, end).filter(|_| self.is_caching(system, device));
        for cache_id in 0..caching.map_or(1, |ways| ways.len()).min(usize::from(u8::MAX)) {
            self.bind_one(system, (device, ld, host), target, cache_id as u8);
        }
    }

    fn bind_one(
        &mut self,
        system: &System,
        (device, ld, host): (FabricPort, Option<u8>, usize),
        target: MemoryTarget,
        cache_id: u8,
    ) {
        let vppb = self.bindings.iter().filter(|binding| binding.host == host).count();
        // A CacheID stands for a PID of its own, and its messages keep one way (`fabric` §3.2, §3.4).
        let has_own =
            (self.is_caching(system, device) || !self.has_segments(system, host)) && !self.is_shared(system, device);
        let own_pid = has_own.then(|| self.bindings.iter().filter(|binding| binding.own_pid.is_some()).count());
        self.bindings.push(Binding { host, vppb, device, ld, target, cache_id, own_pid });
    }

    /// The role of what is at an edge port.
    pub(super) fn role(&self, system: &System, (switch, port): FabricPort) -> PortRole {
        let (component, port) = system.far(self.switches[switch], port);
        system.components[component].ports[port].decl.role
    }

    /// What keeps lines coherent at an edge port, or below switches with hierarchy based routing there.
    pub(super) fn coherence(&self, system: &System, (switch, port): FabricPort) -> Option<CoherenceProtocol> {
        hierarchies::coherence(system, system.far(self.switches[switch], port))
    }

    /// Whether an edge port has CXL.cache.
    pub(super) fn is_caching(&self, system: &System, port: FabricPort) -> bool {
        self.coherence(system, port) == Some(CoherenceProtocol::Cache)
    }

    /// Says which hosts have caching devices that their link cannot tell apart: CacheIDs have 4 bits, and 68B flits none.
    pub(super) fn judge_cache_ids(&self, system: &System, tables: &[OwnTable], problems: &mut Problems) {
        let form = |(switch, port): FabricPort| {
            let link = system.components[self.switches[switch]].ports[port].link;
            system.links[link].config.facts().message_form()
        };
        let flits = |port| if form(port) == MessageForm::Cxl68 { Flits::B68 } else { Flits::B256 };
        for (host, &port) in self.hosts.iter().enumerate() {
            if !self.is_caching(system, port) {
                continue;
            }
            let own = self.bindings.iter().filter(|binding| binding.host == host);
            let below = |(cache_id, binding): (u8, &Binding)| Below {
                hdm: Hdm::None,
                link: flits(binding.device),
                cache_id: Some(cache_id),
                forward: false,
            };
            let hierarchy =
                Hierarchy { devices: (0..).zip(own).map(below).collect(), upper: flits(port), cache_ids: true };
            if let Err(error) = CacheRoutes::new(&hierarchy) {
                tables[self.switches[port.0]].judge(vec![("bindings", error.to_string())], problems);
            }
        }
    }

    /// Whether the device at an edge port has port based routing, and so tells its hosts apart by their PIDs.
    pub(super) fn is_shared(&self, system: &System, (switch, port): FabricPort) -> bool {
        let link = system.components[self.switches[switch]].ports[port].link;
        system.links[link].config.facts().message_form() == MessageForm::Pbr
    }

    /// Binds what is behind an edge port to the next hosts of its protocol, or to all of them if it tells them apart by PIDs.
    pub(super) fn bind_in_turn(&mut self, system: &System, device: FabricPort) {
        let protocol = self.coherence(system, device);
        let is_fit = |host: &usize| self.coherence(system, self.hosts[*host]) == protocol;
        let hosts: Vec<usize> = (0..self.hosts.len()).filter(is_fit).collect();
        if self.is_shared(system, device) {
            return hosts.into_iter().for_each(|host| self.bind(system, device, None, host));
        }
        let (component, _) = system.far(self.switches[device.0], device.1);
        let lds: Vec<Option<u8>> = match system.components[component].config.offer().logical_devices {
            None => vec![None],
            Some(count) => (0..count).map(Some).collect(),
        };
        if hosts.is_empty() {
            return;
        }
        // They are in order.
        let is_of = |binding: &&Binding| hosts.binary_search(&binding.host).is_ok();
        let bound = self.bindings.iter().filter(is_of).count();
        for (n, ld) in lds.into_iter().enumerate() {
            self.bind(system, device, ld, hosts[(bound + n) % hosts.len()]);
        }
    }

    /// Binds what the description says; why it cannot be done.
    pub(super) fn bind_given(
        &mut self,
        system: &System,
        switch: usize,
        ports: &std::ops::Range<usize>,
        given: &PbrBindingConfig,
    ) -> Result<(), String> {
        let PbrBindingConfig { port, ld, usp } = given;
        if *port >= ports.len() {
            let expected = if ports.is_empty() { "none".to_owned() } else { format!("0 to {}", ports.len() - 1) };
            return Err(format!("found port {port}, expected {expected}"));
        }
        let path = |(switch, port): &FabricPort| system.components[self.switches[*switch]].ports[*port].path.as_str();
        let Some(host) = self.hosts.iter().position(|host| path(host) == usp) else {
            let known = match self.hosts.first() {
                None => "none: it has no host".to_owned(),
                Some(first) => format!("one such as `{}`", path(first)),
            };
            return Err(format!("found `{usp}`, which is no edge port of a host of this fabric, expected {known}"));
        };
        let device = (switch, ports.start + port);
        if self.coherence(system, self.hosts[host]) != self.coherence(system, device) {
            let [one, other] = [self.hosts[host], device].map(|port| self.role(system, port).name());
            return Err(format!(
                "found a {other} at `{}` for a {one} at `{usp}`, expected two of one protocol (fabric ERR-4)",
                path(&device)
            ));
        }
        let (component, _) = system.far(self.switches[switch], device.1);
        let offer = system.components[component].config.offer();
        let is_io = super::decl_of(system, self.switches[switch]).is_some_and(|decl| decl.is_io);
        let misfit = match (is_io, ld) {
            // One that is bound whole works as a device without logical devices (`fabric` MLD-4).
            (true, None) => None,
            (true, Some(_)) => {
                misfit(path(&device), *ld, offer.io_logical_devices.and_then(|count| u8::try_from(count).ok()))
            }
            (false, _) => misfit(path(&device), *ld, offer.logical_devices),
        };
        if let Some(text) = misfit {
            return Err(text);
        }
        let whole = |binding: &&Binding| binding.device == device && binding.ld.is_none() != ld.is_none();
        if let Some(other) = self.bindings.iter().find(whole) {
            return Err(format!(
                "found `{}` for `{usp}` as a whole and logical devices of it for `{}`, expected one of both (fabric MLD-4)",
                path(&device),
                path(&self.hosts[other.host])
            ));
        }
        let is_shared = self.is_shared(system, device);
        let is_taken =
            |binding: &&Binding| binding.device == device && binding.ld == *ld && (!is_shared || binding.host == host);
        if let Some(other) = self.bindings.iter().find(is_taken) {
            let of = ld.map_or(String::new(), |ld| format!(", LD {ld}"));
            return Err(format!(
                "found `{}`{of} for `{usp}`, which `{}` has, expected a free one (fabric VCS-2, BND-7)",
                path(&device),
                path(&self.hosts[other.host])
            ));
        }
        self.bind(system, device, *ld, host);
        Ok(())
    }
}
