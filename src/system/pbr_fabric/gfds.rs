//! G-FAM devices of a fabric (`fabric` §3.6): who asks them, and by which tables.
//!
//! Modelled: every host of the fabric that has no protocol of coherence is bound to a G-FAM device, unless bindings are given; a host
//! reaches it by a segment table, the LDST of at most 16 hosts or the FAST of any number. Left out: the management endpoint.

use super::{FabricPort, OwnTable, PbrFabric, decl_of, memory_map};
use crate::design::System;
use crate::kinds::gfd::PbrRequesters;
use crate::problem::Problems;

/// Most hosts that reach a device by LDST (`fabric` GFD-1).
const LDST_HOSTS: usize = 16;

impl PbrFabric {
    /// Whether a G-FAM device is at an edge port.
    pub(super) fn is_gfd(&self, system: &System, (switch, port): FabricPort) -> bool {
        let (component, _) = system.far(self.switches[switch], port);
        system.components[component].config.offer().is_gfd
    }

    /// Hosts that are bound to what is at an edge port.
    fn hosts_of(&self, device: FabricPort) -> impl Iterator<Item = usize> + '_ {
        self.bindings.iter().filter(move |binding| binding.device == device).map(|binding| binding.host)
    }

    /// Says which hosts do not reach their G-FAM devices.
    pub(super) fn judge_gfds(&self, system: &System, tables: &[OwnTable], problems: &mut Problems) {
        for &device in self.devices.iter().filter(|device| self.is_gfd(system, **device)) {
            let path = &system.components[self.switches[device.0]].ports[device.1].path;
            let mut by_ldst = 0;
            for host in self.hosts_of(device) {
                let (switch, port) = self.hosts[host];
                let component = self.switches[switch];
                let usp = &system.components[component].ports[port].path;
                if !self.has_segments(system, host) {
                    let text = format!(
                        "found HDM decoders for `{usp}`, which is bound to the G-FAM device at `{path}`, expected decode = \"ldst\" or \"fast\" (fabric §3.3)"
                    );
                    tables[component].judge(vec![("decode", text)], problems);
                }
                by_ldst += usize::from(decl_of(system, component).is_some_and(|decl| decl.is_ldst));
                if by_ldst == LDST_HOSTS + 1 {
                    by_ldst += 1;
                    let text = format!(
                        "found more than {LDST_HOSTS} hosts that reach the G-FAM device at `{path}` by LDST, `{usp}` the first of them, expected at most {LDST_HOSTS}, or decode = \"fast\" (fabric GFD-1)"
                    );
                    tables[component].judge(vec![("decode", text)], problems);
                }
            }
        }
    }

    /// Says which G-FAM devices have tables that they cannot have.
    pub(super) fn judge_requesters(&self, system: &System, tables: &[OwnTable], problems: &mut Problems) {
        let requesters = self.requesters(system);
        let views = if requesters.is_empty() { Vec::new() } else { memory_map::views(system) };
        for (component, requesters) in requesters {
            let (config, own) = (&system.components[component].config, &tables[component]);
            for (place, text) in config.check_requesters(&views[component], &requesters) {
                match place {
                    Some(place) => problems.add(place, own.key("gfd.access"), text),
                    None => own.judge(vec![("gfd", text)], problems),
                }
            }
        }
    }

    /// Who asks the G-FAM devices, by component.
    pub(super) fn requesters(&self, system: &System) -> Vec<(usize, PbrRequesters)> {
        let devices = self.devices.iter().enumerate().filter(|(_, device)| self.is_gfd(system, **device));
        let requesters = |(n, &device): (usize, &FabricPort)| {
            let (component, _) = system.far(self.switches[device.0], device.1);
            let host = |host: usize| {
                let (switch, port) = self.hosts[host];
                let path = system.components[self.switches[switch]].ports[port].path.clone();
                Some((path, self.pids.of_host(host)?.number()))
            };
            let way = |window: &crate::memory_map::MappedWindow| {
                let way = window.targets.iter().position(|target| target.component == component)?;
                Some((window.window.base, way as u64))
            };
            let (hosts, ways) = (self.hosts_of(device).filter_map(host), system.memory_map.iter().filter_map(way));
            let own = self.pids.of_device(n)?.number();
            Some((component, PbrRequesters { own, hosts: hosts.collect(), ways: ways.collect() }))
        };
        devices.filter_map(requesters).collect()
    }
}
