//! Waves of any simulator, read back: flits out of signals, with the rules that they break.
//!
//! Modelled: interfaces with clock, reset, valid, ready and data as a [`Map`] names them; the flits of each are one stream
//! ([`crate::forms::flit`]) with all checks of its decoder. Detail: every sampled unit, byte for byte, with the time of its
//! last beat. Left out: what only an end of a link knows (credits, acknowledgements, what a replay repeats), protocols below
//! flits.
//!
//! Invariants: the same wave and map give the same answer; a wave that cannot be sampled is an error that names the signal,
//! never a guess. A value `x` or `z` where one is needed is a finding of its own (`SIM-WAV-01`), and so is a unit that is
//! cut short (`SIM-WAV-02`).
//!
//! A walk through one edge: `sample::beats` finds the edge of the clock, looks at reset, valid and ready beside it and takes
//! the data; `stream` adds beats up to a unit, completes what the map says is not there, and hands it to the decoder.
//! A decoder may answer later (UALink), so answers meet their units in order.

pub mod map;
mod sample;
mod stream;
mod wave;

pub use map::Map;
pub use stream::{Broken, Seen};
pub use wave::is_fst;

use super::{Body, Hub, Kind, PlaceKind, Stamp};
use scalepool_protocols::cxl::Dir;
use std::path::Path;

/// A wave or a map that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InspectError {
    /// The map.
    #[error("{path}: {text}")]
    Map {
        /// The file.
        path: String,
        /// What is wrong with it.
        text: String,
    },
    /// The wave.
    #[error("{path}: cannot be read as a wave: {text}")]
    Wave {
        /// The file.
        path: String,
        /// What is wrong with it.
        text: String,
    },
    /// A signal of the map in the wave.
    #[error("{map}: interface `{interface}`, key `{key}`: {text}")]
    Signal {
        /// File of the map.
        map: String,
        /// Name of the interface.
        interface: String,
        /// Key of the map.
        key: &'static str,
        /// What was found, what was expected.
        text: String,
    },
}

/// What was seen at one interface, in numbers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Count {
    /// Name of the interface.
    pub name: String,
    /// Edges of its clock, those in reset left out.
    pub edges: u64,
    /// Whole units.
    pub units: u64,
    /// Broken rules.
    pub violations: u64,
    /// Beats of a unit that the end of the wave cuts off.
    pub left_over_beats: usize,
}

/// What is in a wave.
#[derive(Debug, Clone)]
pub struct Inspection {
    /// In order of time, at one time in order of the map.
    pub seen: Vec<Seen>,
    /// By interface, in order of the map.
    pub counts: Vec<Count>,
    /// The map.
    pub map: Map,
}

/// Reads a wave.
///
/// # Errors
/// See [`InspectError`].
pub fn inspect(path: &Path, map: Map, map_path: &str) -> Result<Inspection, InspectError> {
    let mut wave = wave::Wave::open(path)?;
    let mut seen = Vec::new();
    let mut counts = Vec::new();
    for (n, interface) in map.interface.iter().enumerate() {
        let signals = sample::Signals::find(&mut wave, map.scope.as_deref(), interface, map_path)?;
        let mut stream = stream::Stream::new(n, interface, &signals);
        let edges = sample::beats(&wave, interface, &signals, &mut stream);
        let (of_interface, left_over_beats) = stream.finish();
        counts.push(Count {
            name: interface.name.clone(),
            edges,
            units: of_interface.iter().filter(|s| s.form.is_some()).count() as u64,
            violations: of_interface.iter().map(|s| s.broken.len() as u64).sum(),
            left_over_beats,
        });
        seen.extend(of_interface);
    }
    // The sort is stable: at one time and interface the order is that of the stream.
    seen.sort_by_key(|s| (s.t_fs, s.interface));
    Ok(Inspection { seen, counts, map })
}

impl Inspection {
    /// The same as records of a trace: a flit each unit, a violation each broken rule.
    pub fn records(&self) -> Hub {
        let mut hub = Hub::new(true);
        let named = |i: &map::Interface| {
            let protocol = i.protocol().map_or("", |p| p.name);
            let dir = Dir::ALL.into_iter().map(Dir::name).find(|d| *d == i.dir).unwrap_or_default();
            (protocol, dir)
        };
        let mut taps: Vec<_> = self
            .map
            .interface
            .iter()
            .map(|i| {
                let (protocol, dir) = named(i);
                (hub.tap(&i.name, PlaceKind::Flits { protocol, dir }), protocol, dir)
            })
            .collect();
        for seen in &self.seen {
            let (tap, protocol, dir) = &mut taps[seen.interface];
            let at = Stamp { t_fs: seen.t_fs, cycle: seen.cycle };
            if seen.form.is_some() {
                tap.record(at, Kind::Flit, 0, 0, || Body::Flit { protocol, dir, bytes: seen.bytes.clone() });
            }
            for broken in &seen.broken {
                tap.record(at, Kind::Violation, 0, 0, || Body::Violation(broken.violation.clone()));
            }
        }
        hub
    }
}
