//! Runs in which one flit of a link is changed on its way, so that a rule of both directions is broken: credits, sequence numbers,
//! acknowledgements, replays, transactions, and links that stand still.
//!
//! Modelled: a short run of a built-in scenario whose flits are judged as those of a capture, both ends and the transactions; the first
//! change of its kind, from a flit of the table on, whose first finding is the rule. A changed bit has the CRC that fits. Left out: what
//! the peer would have done: the rest of the run goes on as if nothing had happened, so further findings may follow.

use anyhow::{Context, anyhow};
use scalepool_inspect::capture::{Capture, CapturedUnit};
use scalepool_inspect::{InspectDetail, Inspection, Map, inspect_capture};
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl68::unit::Cxl68Unit;
use scalepool_scenario::observe::Outputs;
use scalepool_scenario::{self as scenario, ScenarioRequest};
use scalepool_trace::output::Scratch;
use std::env;

/// What becomes of one flit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    /// It is lost.
    Lost,
    /// It comes twice.
    Twice,
    /// It changes places with the next one of its direction.
    Swapped,
    /// This bit of a 68B flit is inverted.
    Bit(usize),
    /// It is the last one of its direction.
    Last,
}

/// A run whose flits are changed.
struct SampleRun {
    scenario: &'static str,
    set: &'static [&'static str],
    protocol: &'static str,
    /// Places in the trace of what goes down and of what goes up.
    places: [&'static str; 2],
    /// Keys of both ends.
    keys: &'static str,
    /// Longest time for which anybody waits \[ns\], where nothing moves any more.
    limit_ns: u32,
}

const EXPANDER: &[&str] = &["host.cache_bytes=0", "host.region_lines=4", "host.accesses=10"];

const RUN_68: SampleRun = SampleRun {
    scenario: "cxl68-expander",
    set: EXPANDER,
    protocol: "cxl-68b",
    places: ["device.cxl", "host.cxl"],
    keys: "reaction_flits = 30\n",
    limit_ns: 60,
};

const RUN_256: SampleRun = SampleRun { scenario: "cxl256-expander", protocol: "cxl-256b", keys: "", ..RUN_68 };

const RUN_UAL: SampleRun = SampleRun {
    scenario: "ualink-pair",
    set: &["traffic.operations=1"],
    protocol: "ualink",
    places: ["accel[1].port[0]", "accel[0].port[0]"],
    ..RUN_68
};

/// A rule, and the change that breaks it.
struct RunBreak {
    rule: &'static str,
    run: &'static SampleRun,
    change: Change,
    /// Flits of both directions that pass before the first one that may be changed.
    from: usize,
}

const fn row(rule: &'static str, run: &'static SampleRun, change: Change, from: usize) -> RunBreak {
    RunBreak { rule, run, change, from }
}

/// The table, a rule once.
const BREAKS: &[RunBreak] = &[
    row("CXL68-CRD-04", &RUN_68, Change::Bit(232), 80),
    row("CXL68-INI-02", &RUN_68, Change::Twice, 36),
    row("CXL68-INI-03", &RUN_68, Change::Last, 0),
    row("CXL68-INI-06", &RUN_68, Change::Bit(111), 36),
    row("CXL68-LLR-05", &RUN_68, Change::Lost, 72),
    row("CXL68-LLR-09", &RUN_68, Change::Bit(18), 84),
    row("CXL256-HDR-02", &RUN_256, Change::Swapped, 42),
    row("CXL256-RTY-01", &RUN_256, Change::Lost, 66),
    row("CXL256-RTY-02", &RUN_256, Change::Lost, 94),
    row("CXL256-RTY-06", &RUN_256, Change::Twice, 70),
    row("CXL256-RTY-16", &RUN_256, Change::Twice, 83),
    row("UAL-SEQ-01", &RUN_UAL, Change::Twice, 45),
    row("UAL-SEQ-02", &RUN_UAL, Change::Swapped, 43),
    row("UAL-TXS-02", &RUN_UAL, Change::Twice, 1),
    row("LIV-INI-01", &RUN_256, Change::Last, 0),
    row("LIV-ACK-01", &RUN_68, Change::Last, 36),
    row("TXN-REQ-01", &RUN_68, Change::Bit(146), 82),
    row("TXN-TAG-02", &RUN_68, Change::Bit(169), 82),
    row("TXN-TAG-03", &RUN_68, Change::Bit(96), 90),
    row("TXN-ANS-01", &RUN_68, Change::Bit(275), 80),
    row("TXN-ANS-02", &RUN_68, Change::Bit(21), 90),
    row("TXN-DAT-01", &RUN_68, Change::Bit(149), 88),
];

/// A broken run, judged.
pub(super) struct BrokenRun {
    pub inspection: Inspection,
    /// What was changed, in words.
    pub what: String,
}

/// Rules that a run breaks.
pub(super) fn rules() -> impl Iterator<Item = &'static str> {
    BREAKS.iter().map(|row| row.rule)
}

/// The run that breaks a rule; `None` where there is none.
///
/// # Errors
/// A run that does not begin, or in which no change breaks the rule.
pub(super) fn of(rule: &str) -> anyhow::Result<Option<BrokenRun>> {
    BREAKS.iter().find(|row| row.rule == rule).map(RunBreak::find).transpose()
}

impl SampleRun {
    /// The flits of its link.
    fn capture(&self) -> anyhow::Result<Capture> {
        let scratch = Scratch::beside(&env::temp_dir()).context("found no folder for temporary files")?;
        let trace = scratch.path().join("trace.jsonl");
        let outputs = Outputs { trace: Some(trace.clone()), ..Outputs::default() };
        let set = self.set.iter().map(|key| (*key).to_owned()).collect();
        let scenario = self.scenario.to_owned();
        let request = ScenarioRequest { scenario, seed: 1, threads: 1, set, outputs, ..ScenarioRequest::default() };
        scenario::run(&request, &mut |_| ()).map_err(|e| anyhow!("{}: {e}", self.scenario))?;
        let mut capture = Capture::open(&trace)?;
        capture.units.retain(|unit| self.places.contains(&unit.place.as_str()));
        Ok(capture)
    }

    /// Direction of a place.
    fn dir(&self, unit: &CapturedUnit) -> Dir {
        if unit.place == self.places[0] { Dir::Down } else { Dir::Up }
    }

    fn map(&self, stands_still: bool) -> String {
        let SampleRun { protocol, places: [lower, upper], keys, .. } = self;
        let interface = |dir: &str, place: &str| {
            format!(
                "[[interface]]\nname = \"link.{dir}\"\nwhere = \"{place}\"\nprotocol = \"{protocol}\"\ndir = \"{dir}\"\n"
            )
        };
        let limit = if stands_still { format!("liveness_ns = {}\n", self.limit_ns) } else { String::new() };
        let link = |name: &str, sends: &str, receives: &str| {
            format!(
                "[[link]]\nname = \"{name}\"\nsends = \"link.{sends}\"\nreceives = \"link.{receives}\"\n{keys}{limit}"
            )
        };
        let interfaces = interface("down", lower) + &interface("up", upper);
        let links = link("upper", "down", "up") + &link("lower", "up", "down");
        format!("{interfaces}{links}[[transactions]]\nlinks = [\"upper\"]\nall_writers_seen = true\n")
    }
}

impl RunBreak {
    /// The first change whose first finding is the rule.
    fn find(&self) -> anyhow::Result<BrokenRun> {
        let RunBreak { rule, run, change, from } = self;
        let whole = run.capture()?;
        let map = run.map(*change == Change::Last);
        for n in *from..whole.units.len() {
            let Some(changed) = change.of(&whole, n) else { continue };
            let map = Map::read(&map, rule)?;
            let detail = InspectDetail { history: true, ..InspectDetail::default() };
            let inspection = inspect_capture(&changed, rule, map, rule, detail)?;
            let first = inspection.seen.iter().flat_map(|seen| &seen.broken).next();
            if first.is_some_and(|broken| broken.violation.rule == *rule) {
                let unit = &whole.units[n];
                let number = whole.units[..n].iter().filter(|other| other.place == unit.place).count();
                let what =
                    format!("flit {number} {} of a run of {} {}", run.dir(unit).name(), run.scenario, change.said());
                return Ok(BrokenRun { inspection, what });
            }
        }
        Err(anyhow!("{rule}: found no flit of {} whose change breaks it first, expected one", run.scenario))
    }
}

impl Change {
    /// The capture with a changed unit; `None` where it cannot be changed so.
    fn of(self, whole: &Capture, n: usize) -> Option<Capture> {
        let mut units = whole.units.clone();
        let place = units[n].place.clone();
        match self {
            Change::Lost => drop(units.remove(n)),
            Change::Twice => units.insert(n, units[n].clone()),
            Change::Swapped => {
                let next = n + 1 + units[n + 1..].iter().position(|unit| unit.place == place)?;
                let bytes = std::mem::take(&mut units[n].bytes);
                units[n].bytes = std::mem::replace(&mut units[next].bytes, bytes);
            }
            Change::Bit(bit) => {
                let mut unit = Cxl68Unit::from_bytes(&units[n].bytes).ok()?;
                unit.0[bit / 8] ^= 1 << (bit % 8);
                unit.set_tail(unit.expected_crc());
                units[n].bytes = unit.0.to_vec();
            }
            Change::Last => {
                let mut at = 0..;
                units.retain(|unit| at.next().is_none_or(|at| at <= n) || unit.place != place);
            }
        }
        Some(Capture { units })
    }

    fn said(self) -> String {
        match self {
            Change::Lost => "is lost".into(),
            Change::Twice => "comes twice".into(),
            Change::Swapped => "changes places with the next one".into(),
            Change::Bit(bit) => format!("has another bit {bit} and a CRC that fits"),
            Change::Last => "is the last one of its direction".into(),
        }
    }
}
