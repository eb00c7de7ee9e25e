//! What was decoded, as the records of a wave that stands beside the one that it was decoded from.
//!
//! Modelled: the messages, fields and states of every flit as in the wave of a run, the last broken rule of each interface by its
//! name, and the figures of each watched end over time. Left out: interfaces of `cxl-io`, whose TLPs have no signals.
//!
//! A walk through one unit: its bytes are recorded at the time of its last beat, then what it breaks; the sinks take the unit
//! apart again as they do in a run. Figures stand under the name of their link, in a scope `health`.

use super::{Inspection, Interface};
use scalepool_trace::gtkw::NamedMarker;
use scalepool_trace::{Body, Hub, PlaceKind, RecordKind, Stamp, Tap};

/// Protocol whose flits have no signals.
const WITHOUT_SIGNALS: &str = "cxl-io";

/// Where an interface shows its units and what they break.
struct Taps {
    protocol: &'static str,
    dir: &'static str,
    flits: Option<Tap>,
    findings: Tap,
}

impl Taps {
    fn new(hub: &mut Hub, interface: &Interface) -> Taps {
        let protocol = interface.protocol().map_or("", |protocol| protocol.name);
        let dir = interface.direction().name();
        let is_shown = protocol != WITHOUT_SIGNALS;
        let flits = is_shown.then(|| hub.tap(&interface.name, PlaceKind::Flits { protocol, dir }));
        Taps { protocol, dir, flits, findings: hub.tap(&interface.name, PlaceKind::Findings) }
    }
}

/// A name as a path of scopes: what viewers cannot take becomes `_`.
fn path_of(name: &str) -> String {
    let plain: String = name.chars().map(|c| if c.is_ascii_graphic() { c } else { '_' }).collect();
    let parts = plain.split('.').map(|part| if part.is_empty() { "_" } else { part });
    parts.collect::<Vec<_>>().join(".")
}

impl Inspection {
    /// The inspection as records of a wave. [`Inspection::records`] are those of a trace.
    pub fn decoded(&self) -> Hub {
        let mut hub = Hub::new(true);
        let mut taps: Vec<Taps> = self.map.interface.iter().map(|interface| Taps::new(&mut hub, interface)).collect();
        for seen in &self.seen {
            let taps = &mut taps[seen.interface];
            let at = Stamp { t_fs: seen.t_fs, cycle: seen.cycle };
            if let (Some(flits), true) = (&mut taps.flits, seen.form.is_some()) {
                let (protocol, dir) = (taps.protocol, taps.dir);
                flits.record(at, RecordKind::Flit, 0, 0, || Body::Flit { protocol, dir, bytes: seen.bytes.clone() });
            }
            for broken in &seen.broken {
                taps.findings.record(at, RecordKind::Violation, 0, 0, || Body::Violation(broken.violation.clone()));
            }
        }
        for (link, history) in self.history.iter().filter(|(_, history)| !history.signals().is_empty()) {
            let path = format!("{}.health", path_of(link));
            let mut tap = hub.tap(&path, PlaceKind::Figures(history.signals().into()));
            for change in history.changes() {
                let at = Stamp { t_fs: change.t_fs, cycle: 0 };
                let (signal, value) = (change.signal, change.value);
                tap.record(at, RecordKind::Value, 0, 0, || Body::Figure { signal, value });
            }
        }
        hub
    }

    /// A marker at each broken rule, in the order of time.
    pub fn markers(&self) -> Vec<NamedMarker> {
        let broken = self.seen.iter().flat_map(|seen| seen.broken.iter().map(move |broken| (seen.t_fs, broken)));
        broken.map(|(t_fs, broken)| NamedMarker { t_fs, name: broken.violation.rule.to_owned() }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_links_become_paths() {
        for (name, path) in [("host", "host"), ("my host", "my_host"), ("a..b", "a._.b"), ("", "_"), ("é.x", "_.x")] {
            assert_eq!(path_of(name), path);
        }
    }
}
