//! How long a request of CXL.io and its completion are under way, so that no root complex gives up what could not be there yet.
//!
//! Modelled: the ways of the links, the latencies of the switches between a root complex and each of its devices, once in each direction,
//! and the latency of the device. Over switches with port based routing it is the shortest way. Left out: the time of the units
//! themselves, and waits for other TLPs, by which a completion may still be late.

use super::design::System;
use super::kind::{Carried, ConfigFinding, IoPassage, PortRole};
use super::problem::Problems;
use super::quantity::Unit;
use super::resolve::OwnTable;
use scalepool_ordered::OrderedMap;

/// A device below a root complex.
struct RootDevice {
    component: usize,
    /// From a request to its completion \[fs\].
    fs: u128,
}

/// Refuses completion time-outs that every completion of a device would miss, and those of unordered I/O that all would.
pub(super) fn check(system: &System, tables: &[OwnTable], problems: &mut Problems) {
    for (n, component) in system.components.iter().enumerate() {
        let (offer, role) = (component.config.offer(), component.ports.first().map(|port| port.decl.role));
        let mut found = Vec::new();
        if role == Some(PortRole::Host) {
            below(system, (n, 0), 0, system.components.len(), &mut found);
        }
        let slowest = found.iter().max_by_key(|below| below.fs);
        let of_requests = offer.power_timeout_fs.zip(slowest).and_then(|(timeout, slowest)| {
            let device = &system.components[slowest.component].path;
            short("timeout", timeout, slowest.fs, &format!("the time there and back of {device}"))
        });
        let nearest_fs = match role {
            Some(PortRole::Device) => nearest_fs(system, n),
            _ => found.iter().map(|below| below.fs).min(),
        };
        let of_uio = offer.uio_timeout_fs.zip(nearest_fs).and_then(|(timeout, nearest_fs)| {
            short("uio", timeout, nearest_fs, "the time there and back of what is nearest")
        });
        tables[n].judge(of_requests.into_iter().chain(of_uio).collect(), problems);
    }
}

/// A time-out of a field that is not longer than what it waits for.
fn short(field: &'static str, timeout_fs: u64, least_fs: u128, what: &str) -> Option<ConfigFinding> {
    (u128::from(timeout_fs) <= least_fs).then(|| {
        let least_fs = u64::try_from(least_fs).unwrap_or(u64::MAX);
        let [found, least] = [timeout_fs, least_fs].map(|fs| Unit::Time.shown(fs));
        (field, format!("found {found}, expected more than {least}, {what}"))
    })
}

/// Time there and back of what is nearest to a device: behind the switch at its link, or who is at that \[fs\].
fn nearest_fs(system: &System, device: usize) -> Option<u128> {
    let (to, _, fs) = over_link(system, (device, 0), 0)?;
    let clock = system.clocks[system.components[to].clock].1;
    let passage = system.components[to].config.io_passage(clock);
    Some(2 * (fs + passage.map_or(0, |passage| u128::from(passage.latency_fs))))
}

/// Collects what is below a port to which a request takes `fs`, over at most so many switches.
fn below(system: &System, from: (usize, usize), fs: u128, most: usize, found: &mut Vec<RootDevice>) {
    let Some((to, port, fs)) = over_link(system, from, fs) else { return };
    let (config, clock) = (&system.components[to].config, system.clocks[system.components[to].clock].1);
    let Some((passage, most)) = config.io_passage(clock).zip(most.checked_sub(1)) else {
        let answer_fs = u128::from(clock.periods_fs(config.offer().answer_cycles));
        found.push(RootDevice { component: to, fs: 2 * fs + answer_fs });
        return;
    };
    let IoPassage { latency_fs, below: ways } = passage;
    let Some(bound) = system.pbr.bound(system, to, port) else {
        let own = ways.into_iter().filter(|(above, _)| *above == port);
        own.for_each(|(_, down)| below(system, (to, down), fs + u128::from(latency_fs), most, found));
        return;
    };
    let leaves_fs = over_fabric(system, to, fs);
    for (port, device) in bound {
        let (edge, down) = system.far(device.target.component, port);
        if let Some(fs) = leaves_fs.get(&edge) {
            below(system, (edge, down), *fs, most, found);
        }
    }
}

/// Where the link of a port leads, and the time from there on; `None`: it carries no CXL.io.
fn over_link(system: &System, (component, port): (usize, usize), fs: u128) -> Option<(usize, usize, u128)> {
    let link = &system.links[system.components[component].ports[port].link];
    let Carried::CxlIo { way_fs, .. } = link.config.facts().carried else { return None };
    let (to, port) = system.far(component, port);
    Some((to, port, fs + u128::from(way_fs)))
}

/// When a request that comes to one of the switches of a fabric leaves each of them on its shortest way \[fs\].
fn over_fabric(system: &System, first: usize, fs: u128) -> OrderedMap<usize, u128> {
    let latency_fs = |component: usize| {
        let clock = system.clocks[system.components[component].clock].1;
        system.components[component].config.io_passage(clock).map(|passage| u128::from(passage.latency_fs))
    };
    let mut leaves = OrderedMap::new();
    let mut open: Vec<(usize, u128)> = latency_fs(first).map(|own| (first, fs + own)).into_iter().collect();
    while let Some((switch, fs)) = open.pop() {
        if leaves.get(&switch).is_some_and(|known| *known <= fs) {
            continue;
        }
        leaves.insert(switch, fs);
        let ports = system.components[switch].ports.iter().enumerate();
        let fabric = ports.filter(|(_, port)| port.decl.role == PortRole::SwitchFabric);
        let next = fabric.filter_map(|(port, _)| {
            let (to, _, fs) = over_link(system, (switch, port), fs)?;
            Some((to, fs + latency_fs(to)?))
        });
        open.extend(next);
    }
    leaves
}
