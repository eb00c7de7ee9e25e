//! Reading waveforms of any simulator, and captures of flits: flits are decoded from signals, and the rules that they break are reported.
//!
//! Modelled: interfaces with clock, reset, valid, ready and data signals, as a [`Map`] names them. The flits of each
//! interface form one stream ([`scalepool_forms::flit`]) that its decoder checks completely. Where the map names both
//! directions of a link, the watcher of a link end ([`scalepool_link::watch`]) judges them instead: sequence numbers,
//! acknowledgements, replays, credits, and the content of each flit once. Detail: every sampled unit, byte for byte, with
//! the time of its last beat. Left out: protocols below the flit level, and everything before the start of the waveform.
//!
//! Invariants: the same waveform and map give the same result. A waveform that cannot be sampled is an error that names
//! the signal; nothing is guessed. A value `x` or `z` where a known value is needed is a finding of its own
//! (`SIM-WAV-01`), and so are a unit that is cut short (`SIM-WAV-02`), a beat without a credit (`SIM-WAV-03`), data outside of Active
//! (`SIM-WAV-04`), and an interface whose clock has no edge outside of reset (`SIM-WAV-05`).
//!
//! A walk through one edge: `sample::beats` finds the clock edge, samples reset, valid and ready at the edge, and takes
//! the data. `stream` collects beats into a unit and fills in the parts that, according to the map, have no signals.
//! After the last edge, `link` passes the units of both directions to a watcher in order of time, and `stream` passes
//! each unit to the decoder of its stream. A decoder may deliver its result later than the unit that it belongs to
//! (UALink), so results are matched to units in order.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod bus;
pub mod capture;
mod coherence;
mod coverage;
mod declared;
mod decoded;
pub mod health;
mod link;
pub mod map;
mod page;
mod retimer;
mod sample;
mod stream;
pub mod told;
mod transactions;
mod vcd;
pub mod waiver;
mod wave;

use capture::{Capture, CapturedStreams};
use health::HealthHistory;
use map::Interface;
pub use map::Map;
use scalepool_link::coverage::Met;
use scalepool_link::health::LinkHealth;
use scalepool_link::hook::Direction;
use stream::Judged;
pub use stream::{SeenUnit, WaveViolation};
use waiver::CalendarDay;
pub use wave::is_fst;

use scalepool_protocols::wire::Violation;
use scalepool_trace::{Body, Hub, PlaceKind, RecordKind, Stamp, TimeAxis};
use std::path::Path;

/// Why a waveform or a map cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InspectError {
    /// The map cannot be used.
    #[error("{path}: {text}")]
    Map {
        /// The file.
        path: String,
        /// What is wrong with it.
        text: String,
    },
    /// The waveform cannot be used.
    #[error("{path}: cannot be read as a wave: {text}")]
    Wave {
        /// The file.
        path: String,
        /// What is wrong with it.
        text: String,
    },
    /// A capture of flits cannot be used.
    #[error("{path}: cannot be read as a capture of flits: {text}")]
    Capture {
        /// The file.
        path: String,
        /// What is wrong with it.
        text: String,
    },
    /// A signal that the map names cannot be used in the waveform.
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
pub struct InterfaceCount {
    /// Name of the interface.
    pub name: String,
    /// Edges of its clock outside reset.
    pub edges: u64,
    /// Whole units.
    pub units: u64,
    /// Broken rules.
    pub violations: u64,
    /// Broken rules that are waived or warnings.
    pub waived: u64,
    /// Beats of an incomplete unit at the end of the waveform.
    pub left_over_beats: usize,
}

/// The result of reading a waveform.
#[derive(Debug, Clone)]
pub struct Inspection {
    /// Units in order of time; at equal times in order of the map.
    pub seen: Vec<SeenUnit>,
    /// Counts of each interface, in order of the map.
    pub counts: Vec<InterfaceCount>,
    /// Figures of the end that each link of the map watches, since its last reset.
    pub health: Vec<(String, LinkHealth)>,
    /// How they went, where [`InspectDetail::history`] asks for it; else without a signal.
    pub history: Vec<(String, HealthHistory)>,
    /// Unit and end of the times of the wave.
    pub axis: TimeAxis,
    /// Bins of the protocols, where [`InspectDetail::coverage`] asks for them.
    pub coverage: Vec<Met>,
    /// What has to be said of waivers.
    pub remarks: Vec<String>,
    /// Signals of each interface, in order of the map, as viewers name them.
    pub signals: Vec<(String, Vec<String>)>,
    /// The map that was used.
    pub map: Map,
}

/// What is wanted beside units and findings; each part costs time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct InspectDetail {
    /// How the figures of the watched ends went.
    pub history: bool,
    /// Which bins were met.
    pub coverage: bool,
    /// The day for which waivers count; `None`: none has expired.
    pub today: Option<CalendarDay>,
}

/// Reads a waveform, or a capture of flits ([`capture`]), and judges it.
///
/// # Errors
/// See [`InspectError`].
pub fn inspect(path: &Path, map: Map, map_path: &str) -> Result<Inspection, InspectError> {
    inspect_in_detail(path, map, map_path, InspectDetail::default())
}

/// [`inspect`] with more of what it sees on the way.
///
/// # Errors
/// See [`InspectError`].
pub fn inspect_in_detail(
    path: &Path,
    map: Map,
    map_path: &str,
    detail: InspectDetail,
) -> Result<Inspection, InspectError> {
    if capture::is_capture(path) {
        return inspect_capture(&Capture::open(path)?, &path.display().to_string(), map, map_path, detail);
    }
    judge_wave(wave::OpenWave::open(path)?, map, map_path, detail)
}

/// Judges a wave in VCD that is in memory; `name` stands for its file in messages.
///
/// # Errors
/// See [`InspectError`].
pub fn inspect_dump(dump: String, name: &str, map: Map, map_path: &str) -> Result<Inspection, InspectError> {
    judge_wave(wave::OpenWave::of_dump(dump, name)?, map, map_path, InspectDetail::default())
}

/// Judges the interfaces of a wave.
fn judge_wave(
    mut wave: wave::OpenWave,
    map: Map,
    map_path: &str,
    detail: InspectDetail,
) -> Result<Inspection, InspectError> {
    let (mut streams, mut edges, mut shown) = (Vec::new(), Vec::new(), Vec::new());
    for (n, interface) in map.interface.iter().enumerate() {
        let signals = sample::InterfaceSignals::find(&mut wave, map.scope.as_deref(), interface, map_path)?;
        let mut stream = stream::UnitStream::new(n, interface, signals.shape());
        edges.push(sample::beats(&wave, interface, &signals, &mut stream));
        streams.push(stream);
        shown.push((interface.name.clone(), signals.shown(&wave)));
    }
    let sampled = Sampled { streams, edges, shown, axis: wave.axis(), remarks: Vec::new() };
    judge_sampled(sampled, map, map_path, detail)
}

/// Judges a capture that is in memory; `name` stands for its file in messages.
///
/// # Errors
/// See [`InspectError`].
pub fn inspect_capture(
    capture: &Capture,
    name: &str,
    map: Map,
    map_path: &str,
    detail: InspectDetail,
) -> Result<Inspection, InspectError> {
    let wrong = |text| InspectError::Capture { path: name.to_owned(), text };
    let CapturedStreams { streams, counts, remarks } = capture.streams(&map).map_err(wrong)?;
    let sampled = Sampled { streams, edges: counts, shown: Vec::new(), axis: capture.axis(), remarks };
    judge_sampled(sampled, map, map_path, detail)
}

/// The units of all interfaces, before anything is judged.
struct Sampled {
    streams: Vec<stream::UnitStream>,
    /// Edges of the clock of each outside of reset; lines of a capture.
    edges: Vec<u64>,
    /// Signals of each.
    shown: Vec<(String, Vec<String>)>,
    axis: TimeAxis,
    remarks: Vec<String>,
}

/// Judges what was sampled.
fn judge_sampled(
    sampled: Sampled,
    map: Map,
    map_path: &str,
    detail: InspectDetail,
) -> Result<Inspection, InspectError> {
    let Sampled { streams, edges, shown, axis, mut remarks } = sampled;
    let JudgedMap { mut judged, health, history } = judged(&map, map_path, &streams, detail)?;
    retimer::judge(&map, map_path, &streams, &mut judged)?;
    let coverage = if detail.coverage { coverage::of(&map.interface, &streams, &judged) } else { Vec::new() };
    let (mut seen, mut left_over) = (Vec::new(), Vec::new());
    for (stream, judged) in streams.into_iter().zip(judged) {
        let (of_interface, left_over_beats) = stream.finish(judged.as_ref());
        left_over.push(left_over_beats);
        seen.extend(of_interface);
    }
    remarks.extend(waiver::apply(&map, detail.today.unwrap_or(CalendarDay::FIRST), &mut seen));
    let of = |n: usize| seen.iter().filter(move |s| s.interface == n);
    let counts = map.interface.iter().enumerate().map(|(n, interface)| InterfaceCount {
        name: interface.name.clone(),
        edges: edges[n],
        units: of(n).filter(|s| s.form.is_some()).count() as u64,
        violations: of(n).map(|s| s.broken.len() as u64).sum(),
        waived: of(n).map(|s| s.waived.len() as u64).sum(),
        left_over_beats: left_over[n],
    });
    let counts = counts.collect();
    // The sort is stable: at one time and interface the order is that of the stream.
    scalepool_ordered::sort_by_key(&mut seen, |s| (s.t_fs, s.interface));
    Ok(Inspection { seen, counts, health, history, axis, coverage, remarks, signals: shown, map })
}

/// The findings for each interface, and the figures of each watched end by the name of its link.
struct JudgedMap {
    judged: Vec<Option<Judged>>,
    health: Vec<(String, LinkHealth)>,
    history: Vec<(String, HealthHistory)>,
}

/// The findings of the map's watchers for each interface. Where two watchers see one interface, the findings are those
/// of the watcher of the sending end. Beside them the figures of each watched end.
fn judged(
    map: &Map,
    map_path: &str,
    streams: &[stream::UnitStream],
    detail: InspectDetail,
) -> Result<JudgedMap, InspectError> {
    let mut judged = vec![None; streams.len()];
    let mut heard = judged.clone();
    let (mut said, mut health, mut history) = (Vec::new(), Vec::new(), Vec::new());
    for link in &map.link {
        let wrong = |text| InspectError::Map { path: map_path.to_owned(), text };
        let config = map.watch_config(link).map_err(wrong)?;
        let places = map.places(link).map_err(wrong)?;
        let [receives, sends] = places;
        let link::WatchedEnd { health: of_end, history: went, judged: [rx, tx], said: of_link } =
            link::watch(&config, &streams[receives], &streams[sends], detail.history);
        health.push((link.name.clone(), of_end));
        history.push((link.name.clone(), went));
        (heard[receives], judged[sends]) = (Some(rx), Some(tx));
        said.push((link.name.as_str(), places, of_link));
    }
    let mut judged: Vec<Option<Judged>> = judged.into_iter().zip(heard).map(|(sent, heard)| sent.or(heard)).collect();
    let of = |name: &String| said.iter().find(|(link, ..)| link == name);
    let mut keep = |found: Vec<(usize, Direction, usize, Violation)>, places: &[[usize; 2]]| {
        for (link, way, unit, violation) in found {
            let [receives, sends] = places[link];
            let interface = if way == Direction::Rx { receives } else { sends };
            if let Some(of_interface) = &mut judged[interface] {
                of_interface.broken.push((unit, violation));
            }
        }
    };
    for coherence in &map.coherence {
        let links: Vec<_> = coherence.links.iter().filter_map(of).collect();
        let messages: Vec<_> = links.iter().map(|(name, _, said)| (*name, said.as_slice())).collect();
        keep(coherence::judge(coherence, &messages), &links.iter().map(|(_, places, _)| *places).collect::<Vec<_>>());
    }
    for table in &map.transactions {
        let links: Vec<_> = table.links.iter().filter_map(of).collect();
        let judged_links = links.iter().map(|(name, places, said)| transactions::JudgedLink {
            name,
            streams: places.map(|place| &streams[place]),
            said,
        });
        // The links of a checked map have one protocol.
        let Ok(protocol) = map.protocol_of(&table.links) else { continue };
        let found = transactions::judge(table, protocol, &judged_links.collect::<Vec<_>>());
        keep(found, &links.iter().map(|(_, places, _)| *places).collect::<Vec<_>>());
    }
    Ok(JudgedMap { judged, health, history })
}

impl Inspection {
    /// The inspection as trace records: one flit record per unit, one violation record per broken rule.
    pub fn records(&self) -> Hub {
        let mut hub = Hub::new(true);
        let named = |i: &map::Interface| {
            let protocol = i.protocol().map_or("", |p| p.name);
            (protocol, i.direction().name())
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
                tap.record(at, RecordKind::Flit, 0, 0, || Body::Flit { protocol, dir, bytes: seen.bytes.clone() });
            }
            for broken in &seen.broken {
                tap.record(at, RecordKind::Violation, 0, 0, || Body::Violation(broken.violation.clone()));
            }
        }
        hub
    }
}
