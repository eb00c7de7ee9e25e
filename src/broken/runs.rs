//! Runs in which one flit of a link is changed on its way, so that a rule of both directions is broken: credits, sequence numbers,
//! acknowledgements, replays, transactions, coherence, and links that stand still.
//!
//! Modelled: a short run of a built-in scenario whose flits are judged as those of a capture, both ends, the transactions and the
//! coherence; the first change of its kind, from a flit of the table on, whose first finding is the rule. A changed bit has the checks that
//! fit. Left out: what the peer would have done: the rest of the run goes on as if nothing had happened, so further findings may follow.

mod change;

use super::{BrokenCase, CaseError, flits};
use change::FlitChange;
pub(super) use change::sealed;
use scalepool_inspect::capture::{Capture, CapturedUnit};
use scalepool_inspect::{InspectDetail, Inspection, Map, inspect_capture};
use scalepool_protocols::cxl::Dir;
use scalepool_scenario::observe::Outputs;
use scalepool_scenario::{self as scenario, ScenarioRequest};
use scalepool_trace::output::Scratch;
use std::path::Path;

/// A run whose flits are changed.
pub struct SampleRun {
    /// Its scenario.
    pub scenario: &'static str,
    set: &'static [&'static str],
    protocol: &'static str,
    /// Places in the trace of what goes down and of what goes up.
    places: [&'static str; 2],
    /// Keys of both ends.
    keys: &'static str,
    /// Longest time for which anybody waits \[ns\], where nothing moves any more.
    limit_ns: u32,
    /// What judges its messages: tables of a map.
    judges: &'static str,
    /// Flits of both directions that are judged, from the first one on.
    most_flits: usize,
    /// Which ends are watched.
    ends: &'static [SampleEnd],
    /// Damaged flits are taken as they were before.
    is_restored: bool,
    /// What goes down passes a retimer, which is watched.
    is_retimed: bool,
}

/// An end of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SampleEnd {
    /// It sends down.
    Upper,
    /// It sends up.
    Lower,
}

const MEM_JUDGES: &str = "[[transactions]]\nlinks = [\"upper\"]\nall_writers_seen = true\n";

const EXPANDER: &[&str] = &["host.cache_bytes=0", "host.region_lines=4", "host.accesses=10"];

/// A link of CXL.mem in 68B flits.
const MEM_68: SampleRun = SampleRun {
    scenario: "cxl68-expander",
    set: EXPANDER,
    protocol: "cxl-68b",
    places: ["device.cxl", "host.cxl"],
    keys: "reaction_flits = 30\n",
    limit_ns: 60,
    judges: MEM_JUDGES,
    most_flits: 400,
    ends: &[SampleEnd::Upper, SampleEnd::Lower],
    is_restored: false,
    is_retimed: false,
};

/// Bit that the line inverts in runs of 68B flits.
const DAMAGED_BIT: usize = 300;

/// The same, whose answers have to come sooner than they do.
const TIMED_68: SampleRun = SampleRun { judges: "[[transactions]]\nlinks = [\"upper\"]\nanswer_ns = 50\n", ..MEM_68 };

/// The same, which ends with all requests answered.
const ENDED_68: SampleRun =
    SampleRun { judges: "[[transactions]]\nlinks = [\"upper\"]\nends_at_rest = true\n", ..MEM_68 };

/// The same with damaged flits down, which are said of it as warnings, at the end that asks for a replay.
const ASKS_68: SampleRun = SampleRun {
    set: &["host.cache_bytes=0", "host.region_lines=4", "host.accesses=10", "link.fault=flip:44:300,flip:85:300"],
    keys: "reaction_flits = 30\nretry_entries = 128\ntimeout_flits = 4096\nmax_num_retry = 10\nmax_num_phy_reinit = 10\n",
    judges: "[severity]\n\"CXL68-CRC-01\" = \"warning\"\n",
    ends: &[SampleEnd::Lower],
    ..MEM_68
};

/// The same at the end that replays: its flits before they are damaged.
const REPLAYS_68: SampleRun = SampleRun { judges: "", ends: &[SampleEnd::Upper], is_restored: true, ..ASKS_68 };

/// A link of CXL.mem in 256B flits.
const MEM_256: SampleRun =
    SampleRun { scenario: "cxl256-expander", protocol: "cxl-256b", keys: "", most_flits: 140, ..MEM_68 };

/// The same with a retimer, in front of which nothing is changed.
const RETIMED_256: SampleRun = SampleRun {
    set: &["host.cache_bytes=0", "host.region_lines=64", "host.accesses=200"],
    judges: "[[retimer]]\nname = \"retimer\"\nbefore = \"before.down\"\nbehind = \"link.down\"\n\
             [severity]\n\"CXL256-FEC-01\" = \"warning\"\n\"CXL256-FEC-02\" = \"warning\"\n",
    ends: &[],
    is_retimed: true,
    most_flits: 300,
    ..MEM_256
};

/// A link of a memory of HDM-DB that two hosts share, in 256B flits.
const SHARE_256: SampleRun = SampleRun {
    scenario: "hdm-db-share",
    set: &["core.accesses=30", "core.lines=4", "link.mode=cxl-256b"],
    places: ["dev[0].link[0]", "host[0].port[0]"],
    judges: "[[transactions]]\nlinks = [\"upper\"]\nmemory = \"hdm-db\"\n",
    most_flits: 400,
    ..MEM_256
};

/// Flits that are in the retimer at a time.
const RETIMER_FLITS: usize = 3;

/// Place of the flits in front of the retimer.
const RETIMER: &str = "retimer";

/// A link of CXL.cache.
const CACHE_68: SampleRun = SampleRun {
    scenario: "cxl-cache-pair",
    set: &["devices=1", "link.mode=cxl-68b", "core.accesses=40", "core.lines=4", "core.cache_lines=2"],
    places: ["dev[0].link", "host.port[0]"],
    judges: "[[coherence]]\nlinks = [\"lower\"]\nall_writers_seen = true\n[[transactions]]\nlinks = [\"lower\"]\nof = \"cxl-cache\"\n",
    ..MEM_68
};

/// A link of CXL.io in 256B flits.
const IO_256: SampleRun = SampleRun {
    scenario: "cxlio-enumerate",
    set: &["link.mode=cxl-256b", "host.accesses=4", "link.cachemem=off"],
    protocol: "cxl-io",
    places: ["device.link", "host.link"],
    keys: "",
    judges: "[[transactions]]\nlinks = [\"upper\"]\nof = \"cxl-io\"\n",
    most_flits: 220,
    ..MEM_68
};

/// A link of UALink.
const UALINK: SampleRun = SampleRun {
    scenario: "ualink-pair",
    set: &["traffic.operations=3", "traffic.mix=mix"],
    protocol: "ualink",
    places: ["accel[1].port[0]", "accel[0].port[0]"],
    most_flits: 260,
    ..MEM_68
};

/// A link of NVLink.
const NVLINK: SampleRun = SampleRun {
    scenario: "nvlink-pair",
    set: &["traffic.requests=6", "link.count=1", "traffic.region_bytes=256", "link.data_flits=64"],
    protocol: "nvlink",
    places: ["gpu[1].link[0]", "gpu[0].link[0]"],
    keys: "",
    judges: "[[transactions]]\nlinks = [\"upper\"]\n",
    most_flits: 400,
    ..MEM_68
};

/// The same with damaged flits, which are said of it as warnings.
const RETRY_NVLINK: SampleRun = SampleRun {
    set: &[
        "traffic.requests=6",
        "link.count=1",
        "traffic.region_bytes=256",
        "link.data_flits=64",
        "link.fault=noise:210,up:noise:230,up:noise:600",
    ],
    judges: "[severity]\n\"NVL-CRC-01\" = \"warning\"\n",
    ..NVLINK
};

/// A link of UALink with a damaged flit down, at the end that replays: its flits before they are damaged.
const REPLAYS_UALINK: SampleRun = SampleRun {
    set: &["traffic.operations=3", "traffic.mix=mix", "link.fault=flip:66:300"],
    keys: "reaction_flits = 30\n",
    ends: &[SampleEnd::Upper],
    is_restored: true,
    ..UALINK
};

/// The same at the end that asks for a replay, which is said of it as warnings.
const ASKS_UALINK: SampleRun = SampleRun {
    judges: "[severity]\n\"UAL-CRC-01\" = \"warning\"\n\"UAL-RXR-08\" = \"warning\"\n",
    ends: &[SampleEnd::Lower],
    is_restored: false,
    ..REPLAYS_UALINK
};

/// A link of CXL.cache of two devices, so that there are snoops.
const SNOOPS_68: SampleRun = SampleRun {
    set: &["devices=2", "link.mode=cxl-68b", "core.accesses=40", "core.lines=2", "core.cache_lines=2"],
    places: ["dev[0].link", "host.port[0]"],
    judges: "[[transactions]]\nlinks = [\"lower\"]\nof = \"cxl-cache\"\n",
    ..CACHE_68
};

/// Few entries of the retry buffer, at the end that writes.
const FULL_68: SampleRun = SampleRun {
    set: &[
        "host.cache_bytes=0",
        "host.region_lines=64",
        "host.accesses=200",
        "host.pattern=writes",
        "link.retry_entries=22",
    ],
    keys: "reaction_flits = 30\nretry_entries = 22\ntimeout_flits = 4096\nmax_num_retry = 10\nmax_num_phy_reinit = 10\nflush_flits = 32\n",
    judges: "",
    limit_ns: 100_000,
    ends: &[SampleEnd::Upper],
    ..MEM_68
};

/// CXL.io with reads of memory.
const READS_IO: SampleRun = SampleRun {
    set: &[
        "link.mode=cxl-256b",
        "host.accesses=4",
        "link.cachemem=off",
        "device.not_ready=0",
        "host.access_bytes=256",
        "device.boundary_bytes=64",
    ],
    most_flits: 6000,
    judges: "[[transactions]]\nlinks = [\"upper\"]\nof = \"cxl-io\"\nall_writers_seen = true\n",
    ..IO_256
};

/// Runs that break nothing as they are.
pub const RUNS: &[&SampleRun] = &[
    &MEM_68,
    &ENDED_68,
    &ASKS_68,
    &REPLAYS_68,
    &MEM_256,
    &RETIMED_256,
    &SHARE_256,
    &CACHE_68,
    &IO_256,
    &UALINK,
    &NVLINK,
    &RETRY_NVLINK,
    &FULL_68,
    &SNOOPS_68,
    &READS_IO,
    &REPLAYS_UALINK,
    &ASKS_UALINK,
];

/// A rule, and the change that breaks it.
struct RunBreak {
    rule: &'static str,
    run: &'static SampleRun,
    change: FlitChange,
    /// Flits of both directions that pass before the first one that may be changed.
    from: usize,
}

const fn row(rule: &'static str, run: &'static SampleRun, change: FlitChange, from: usize) -> RunBreak {
    RunBreak { rule, run, change, from }
}

/// The table, a rule once.
const BREAKS: &[RunBreak] = &[
    row("CXL68-CRD-04", &MEM_68, FlitChange::Bit(232), 80),
    row("CXL68-INI-02", &MEM_68, FlitChange::Twice, 36),
    row("CXL68-INI-03", &MEM_68, FlitChange::Last, 0),
    row("CXL68-INI-06", &MEM_68, FlitChange::Bit(111), 36),
    row("CXL68-LLR-05", &MEM_68, FlitChange::Lost, 72),
    row("CXL68-LLR-09", &MEM_68, FlitChange::Bit(18), 84),
    row("CXL256-HDR-02", &MEM_256, FlitChange::Swapped, 42),
    row("CXL256-RTY-01", &MEM_256, FlitChange::Lost, 66),
    row("CXL256-RTY-02", &MEM_256, FlitChange::Lost, 94),
    row("CXL256-RTY-06", &MEM_256, FlitChange::Twice, 70),
    row("CXL256-RTY-16", &MEM_256, FlitChange::Twice, 83),
    row("UAL-SEQ-01", &UALINK, FlitChange::Twice, 45),
    row("UAL-SEQ-02", &UALINK, FlitChange::Swapped, 43),
    row("UAL-TXS-02", &UALINK, FlitChange::Twice, 1),
    row("LIV-INI-01", &MEM_256, FlitChange::Last, 0),
    row("LIV-ACK-01", &MEM_68, FlitChange::Last, 36),
    row("TXN-REQ-01", &MEM_68, FlitChange::Bit(146), 82),
    row("TXN-TAG-02", &MEM_68, FlitChange::Bit(169), 82),
    row("TXN-TAG-03", &MEM_68, FlitChange::Bit(96), 90),
    row("TXN-ANS-01", &MEM_68, FlitChange::Bit(275), 80),
    row("TXN-ANS-02", &MEM_68, FlitChange::Bit(21), 90),
    row("TXN-DAT-01", &MEM_68, FlitChange::Bit(149), 88),
    row("CXL68-LLR-13", &ASKS_68, FlitChange::Swapped, 78),
    row("CXL68-LLR-12", &ASKS_68, FlitChange::Lost, 85),
    row("CXL68-LLR-15", &MEM_68, FlitChange::Bit(53), 0),
    row("CXL68-LLR-16", &ASKS_68, FlitChange::Damaged(275), 1),
    row("CXL68-LLR-02", &MEM_68, FlitChange::Bit(48), 74),
    row("CXL68-LRS-01", &ASKS_68, FlitChange::Lost, 84),
    row("CXL68-LRS-17", &ASKS_68, FlitChange::Twice, 90),
    row("CXL68-LRS-18", &ASKS_68, FlitChange::Twice, 90),
    row("CXL68-INI-05", &ASKS_68, FlitChange::Damaged(275), 1),
    row("CXL68-CRD-08", &MEM_68, FlitChange::Bit(16), 72),
    row("CXL256-RTY-04", &IO_256, FlitChange::Swapped, 123),
    row("CXLIO-FCC-01", &IO_256, FlitChange::Bit(1917), 0),
    row("CXLIO-DLL-03", &IO_256, FlitChange::Bit(1918), 0),
    row("LIV-CRD-01", &MEM_68, FlitChange::Last, 36),
    row("LIV-RTY-01", &ASKS_68, FlitChange::Last, 1),
    row("LIV-DUP-01", &RETIMED_256, FlitChange::Twice, 60),
    row("LIV-LST-01", &RETIMED_256, FlitChange::Lost, 60),
    row("LIV-SWP-01", &RETIMED_256, FlitChange::Swapped, 60),
    row("LIV-FEC-01", &RETIMED_256, FlitChange::NoFec, 60),
    row("TXN-TAG-01", &IO_256, FlitChange::Twice, 137),
    row("TXN-TAG-04", &CACHE_68, FlitChange::Twice, 76),
    row("TXN-ANS-03", &CACHE_68, FlitChange::Swapped, 96),
    row("COH-ORD-10", &CACHE_68, FlitChange::Twice, 76),
    row("COH-REQ-11", &CACHE_68, FlitChange::Lost, 77),
    row("COH-REQ-12", &CACHE_68, FlitChange::Lost, 91),
    row("COH-INV-02", &CACHE_68, FlitChange::Swapped, 99),
    row("UAL-LNK-06", &UALINK, FlitChange::Last, 0),
    row("UAL-RXR-06", &UALINK, FlitChange::Last, 1),
    row("UAL-SEG-07", &UALINK, FlitChange::Twice, 135),
    row("UAL-CRD-01", &UALINK, FlitChange::Twice, 137),
    row("UAL-CRD-03", &UALINK, FlitChange::Twice, 137),
    row("CXL68-LLR-14", &REPLAYS_68, FlitChange::Lost, 73),
    row("CXL68-LLR-11", &REPLAYS_68, FlitChange::Damaged(275), 122),
    row("NVL-CRD-04", &RETRY_NVLINK, FlitChange::Damaged(67), 0),
    row("TXN-END-01", &ENDED_68, FlitChange::Ends, 80),
    row("TXN-END-02", &TIMED_68, FlitChange::Ends, 80),
    row("NVL-ACK-01", &NVLINK, FlitChange::Bit(12), 0),
    row("NVL-CRD-03", &NVLINK, FlitChange::Bit(97), 0),
    row("UAL-RXR-08", &UALINK, FlitChange::Bit(5013), 0),
    row("CXL68-VIR-02", &ASKS_68, FlitChange::Bit(81), 120),
    row("CXL256-RTY-05", &MEM_256, FlitChange::As(44), 0),
    row("CXL68-RRS-01", &REPLAYS_68, FlitChange::Bit(80), 90),
    row("CXL68-LRS-03", &REPLAYS_68, FlitChange::Bit(48), 97),
    row("CXL68-RRS-04", &REPLAYS_68, FlitChange::Bit(80), 120),
    row("CXL68-VIR-01", &REPLAYS_68, FlitChange::Bit(81), 120),
    row("TXN-ANS-04", &SHARE_256, FlitChange::Bit(21), 195),
    row("TXN-ORD-01", &SHARE_256, FlitChange::Bit(17), 195),
    row("COH-IDS-04", &SHARE_256, FlitChange::Bit(37), 195),
    row("COH-MEM-36", &MEM_68, FlitChange::Bit(49), 88),
    row("COH-REQ-10", &CACHE_68, FlitChange::Bit(50), 81),
    row("COH-REQ-18", &CACHE_68, FlitChange::Bit(63), 77),
    row("CXL68-LLR-07", &FULL_68, FlitChange::Lost, 72),
    row("CXL68-LLR-08", &FULL_68, FlitChange::Twice, 114),
    row("CXL256-RTY-07", &IO_256, FlitChange::Bit(1), 154),
    row("CXL256-CRD-06", &SHARE_256, FlitChange::Bit(17), 162),
    row("TXN-ANS-06", &SNOOPS_68, FlitChange::Bit(69), 87),
    row("TXN-ANS-07", &READS_IO, FlitChange::Bit(24), 1506),
    row("TXN-ORD-04", &READS_IO, FlitChange::Bit(111), 1506),
    row("UAL-RXR-03", &UALINK, FlitChange::Bit(5003), 129),
    row("UAL-RXR-04", &ASKS_UALINK, FlitChange::Bit(5013), 131),
    row("UAL-SEQ-03", &REPLAYS_UALINK, FlitChange::Bit(5008), 219),
    row("UAL-TXS-01", &REPLAYS_UALINK, FlitChange::Twice, 182),
    row("UAL-TXS-04", &ASKS_UALINK, FlitChange::Bit(5014), 176),
    row("UAL-TXS-05", &ASKS_UALINK, FlitChange::Bit(5013), 174),
    row("UAL-TXS-06", &REPLAYS_UALINK, FlitChange::Traded, 219),
    row("UAL-CRD-04", &UALINK, FlitChange::Bit(32), 129),
    row("UAL-CRD-05", &UALINK, FlitChange::Bit(62), 129),
    row("UAL-CRD-06", &UALINK, FlitChange::Bit(62), 129),
    row("CXL256-CTL-05", &MEM_256, FlitChange::Traded, 44),
];

/// Rules that a run breaks.
pub fn rules() -> impl Iterator<Item = &'static str> {
    BREAKS.iter().map(|row| row.rule)
}

/// The run that breaks a rule; `None` where there is none.
///
/// # Errors
/// A run that does not begin, or in which no change breaks the rule.
pub(super) fn of(rule: &str, folder: &Path) -> Result<Option<BrokenCase>, CaseError> {
    BREAKS.iter().find(|row| row.rule == rule).map(|row| row.find(folder)).transpose()
}

impl SampleRun {
    /// The flits of its link; the run has a temporary folder in `folder`.
    ///
    /// # Errors
    /// A run that does not begin.
    pub fn capture(&self, folder: &Path) -> Result<Capture, CaseError> {
        let scratch = Scratch::beside(folder).map_err(CaseError::of)?;
        let trace = scratch.path().join("trace.jsonl");
        let outputs = Outputs { trace: Some(trace.clone()), ..Outputs::default() };
        let set = self.set.iter().map(|key| (*key).to_owned()).collect();
        let scenario = self.scenario.to_owned();
        let request = ScenarioRequest { scenario, seed: 1, threads: 1, set, outputs, ..ScenarioRequest::default() };
        scenario::run(&request, &mut |_| ()).map_err(|e| CaseError::of(format!("{}: {e}", self.scenario)))?;
        let mut capture = Capture::open(&trace).map_err(CaseError::of)?;
        capture.units.retain(|unit| self.places.contains(&unit.place.as_str()));
        capture.units.truncate(self.most_flits);
        if self.is_retimed {
            let is_down = |unit: &&CapturedUnit| unit.place == self.places[0];
            // A flit is under way in it when others go in, so that they can change places there.
            let mut goes_in = capture.units.iter().filter(is_down).cloned().collect::<Vec<_>>().into_iter();
            let (mut units, mut ahead) = (Vec::new(), RETIMER_FLITS);
            for unit in &capture.units {
                if is_down(&unit) {
                    let copies = goes_in.by_ref().take(std::mem::replace(&mut ahead, 1));
                    units.extend(copies.map(|of| CapturedUnit { place: RETIMER.to_owned(), t_fs: unit.t_fs, ..of }));
                }
                units.push(unit.clone());
            }
            capture.units = units;
        }
        if self.is_restored {
            capture.units.iter_mut().for_each(|unit| change::restore(&mut unit.bytes, DAMAGED_BIT));
        }
        Ok(capture)
    }

    /// Direction of a place.
    fn dir(&self, unit: &CapturedUnit) -> Dir {
        if unit.place == self.places[0] { Dir::Down } else { Dir::Up }
    }

    fn map(&self, stands_still: bool) -> String {
        let SampleRun { protocol, places: [lower, upper], keys, .. } = self;
        let interface = |name: &str, dir: &str, place: &str| {
            format!(
                "[[interface]]\nname = \"{name}.{dir}\"\nwhere = \"{place}\"\nprotocol = \"{protocol}\"\ndir = \"{dir}\"\n"
            )
        };
        let limit = if stands_still { format!("liveness_ns = {}\n", self.limit_ns) } else { String::new() };
        let link = |name: &str, sends: &str, receives: &str| {
            format!(
                "[[link]]\nname = \"{name}\"\nsends = \"link.{sends}\"\nreceives = \"link.{receives}\"\n{keys}{limit}"
            )
        };
        let mut interfaces = interface("link", "down", lower) + &interface("link", "up", upper);
        if self.is_retimed {
            interfaces += &interface("before", "down", RETIMER);
        }
        let links = self.ends.iter().map(|end| match end {
            SampleEnd::Upper => link("upper", "down", "up"),
            SampleEnd::Lower => link("lower", "up", "down"),
        });
        let links: String = links.collect();
        format!("{interfaces}{links}{}", self.judges)
    }
}

impl SampleRun {
    /// Judges its flits, or what became of them. `stands_still`: nobody may wait for long at the end.
    ///
    /// # Errors
    /// What cannot be judged.
    pub fn judged(&self, flits: &Capture, stands_still: bool, detail: InspectDetail) -> Result<Inspection, CaseError> {
        let name = self.scenario;
        let map = Map::read(&self.map(stands_still), name).map_err(CaseError::of)?;
        inspect_capture(flits, name, map, name, detail).map_err(CaseError::of)
    }
}

impl RunBreak {
    /// The first change whose first finding is the rule.
    fn find(&self, folder: &Path) -> Result<BrokenCase, CaseError> {
        let RunBreak { rule, run, change, from } = self;
        let whole = run.capture(folder)?;
        let detail = InspectDetail { history: true, ..InspectDetail::default() };
        for n in (*from..whole.units.len()).filter(|n| run.places.contains(&whole.units[*n].place.as_str())) {
            let Some(changed) = change.of(run.protocol, &whole, n) else { continue };
            let unit = &whole.units[n];
            let number = whole.units[..n].iter().filter(|other| other.place == unit.place).count();
            let (dir, scenario) = (run.dir(unit).name(), run.scenario);
            let what = format!("flit {number} {dir} of a run of {scenario} {}", change.said());
            let judged = run.judged(&changed, *change == FlitChange::Last, detail)?;
            if let Some(case) = flits::case_of(rule, &judged, what, Some(unit.t_fs)) {
                return Ok(case);
            }
        }
        Err(CaseError::breaks_nothing(rule, "changed flit of a run"))
    }
}
