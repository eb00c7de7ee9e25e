//! CXL ports of a bridge that lead to hosts, whose lines it asks for by CXL.cache (windows of class CC).
//!
//! Modelled: which ports they are, that windows lead to a host by them alone, and what a host has pulled from a bridge that is watched. Left
//! out: what is done with the lines. A walk: windows of class CC lead by ports 1 and 2, one of class MC by port 0; a commit that leads one
//! of class MC by port 2 is refused, since lines of a host may be held there.

use super::config::TARGETS;
use scalepool_bridge::outbound::table::ChildId;
use scalepool_bridge::window::{BridgeWindows, WindowClass};
use scalepool_coherence::content::CacheLine;
use scalepool_coherence::message::Msg;
use scalepool_forms::{FormError, Object};
use scalepool_ordered::OrderedMap;
use serde_json::Value;
use std::ops::Range;

/// Data that a host has pulled from another bridge and that have not left it, by port and UQID, with the request that they are of.
pub(crate) type PulledData = OrderedMap<(usize, u16), (ChildId, Msg<CacheLine>)>;

/// CXL ports that lead to hosts: `[1, 2]`, ports side by side. Left out: those of windows of class CC, and what is between them.
pub(crate) fn host_ports(form: &Object, windows: &BridgeWindows) -> Result<Range<usize>, FormError> {
    let ports = match form.get("host_ports") {
        Some(value) => {
            let expected = format!("a list of ports 0 to {}, side by side", TARGETS - 1);
            let wrong = || FormError::new("host_ports", value.to_string(), &*expected);
            let list = value.as_array().filter(|list| list.len() <= TARGETS).ok_or_else(wrong)?;
            let port = |port: &Value| port.as_u64().filter(|port| *port < TARGETS as u64).ok_or_else(wrong);
            let list = list.iter().map(port).collect::<Result<Vec<u64>, FormError>>()?;
            let first = list.first().copied().unwrap_or(0);
            if list.iter().zip(first..).any(|(port, next)| *port != next) {
                return Err(wrong());
            }
            first as usize..first as usize + list.len()
        }
        None => {
            let of_hosts = || windows.list().iter().filter(|w| w.class == WindowClass::Cc).flat_map(|w| &w.ports);
            let ends = of_hosts().min().zip(of_hosts().max());
            ends.map_or(0..0, |(first, last)| *first..last + 1)
        }
    };
    match other_sort(windows, &ports) {
        Some(wrong) => Err(wrong),
        None => Ok(ports),
    }
}

/// What is wrong with windows of which one leads by a port to a host that is none, or past the hosts by one of theirs: a port keeps lines by
/// CXL.cache or is asked by CXL.mem, and its lines are kept by their ports.
pub(crate) fn other_sort(windows: &BridgeWindows, hosts: &Range<usize>) -> Option<FormError> {
    let wrong = |class: WindowClass, port: &&usize| match class {
        WindowClass::Cc => !hosts.contains(port),
        WindowClass::Mc | WindowClass::Mn => hosts.contains(port),
        WindowClass::Io | WindowClass::Hp => false,
    };
    let mut found = windows.list().iter().enumerate();
    let (n, class, port) = found.find_map(|(n, window)| {
        let port = window.ports.iter().find(|port| wrong(window.class, port))?;
        Some((n, window.class, *port))
    })?;
    let name = if class == WindowClass::Cc { "CC" } else { "MC or MN" };
    let expected = match (class, hosts.is_empty()) {
        (_, true) => "no window of class CC: no port leads to a host, `host_ports` names some".to_owned(),
        (WindowClass::Cc, _) => format!("ports {} to {}, those of hosts", hosts.start, hosts.end - 1),
        _ => format!("no port from {} to {}, which lead to hosts", hosts.start, hosts.end - 1),
    };
    Some(FormError::new("windows", format!("window {n} of class {name} by port {port}"), expected))
}
