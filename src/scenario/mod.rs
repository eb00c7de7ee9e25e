//! Scenarios: settings and a stimulus to a built simulation, and its result to a report.
//!
//! Modelled: the built-in scenarios, one folder each, with every number they use in one table of settings. Left out: what
//! the modules do (see the layers below). A walk through one run: settings and stimulus are read and checked whole; the
//! simulation is built from them, a partition a thread; records leave after every window for the trace and the waves;
//! counters and broken rules become the report.

pub mod coherent;
mod drive;
pub mod enumerate;
pub mod expander;
pub mod faults;
pub mod nvlink;
pub mod observe;
pub mod report;
pub mod settings;
pub mod stimulus;
pub mod ualink;

use crate::kernel::Time;
use crate::link::hook::Hooks;
use observe::Outputs;
use report::Report;
use settings::{Key, Range, SettingError, Settings};
use std::path::{Path, PathBuf};

/// Builds and runs a scenario; the callback is told how far simulated time has come.
type RunScenario = fn(&Request, &Settings, &mut dyn FnMut(Time)) -> Result<Report, RunError>;

/// A built-in scenario.
pub struct Scenario {
    /// Name on the command line.
    pub name: &'static str,
    /// What it models.
    pub doc: &'static str,
    /// Settings.
    pub keys: &'static [Key],
    run: RunScenario,
}

/// All of them.
pub static SCENARIOS: &[Scenario] = &[
    expander::CXL68,
    expander::CXL256,
    expander::CXL256_LOPT,
    expander::CXL_PBR,
    Scenario { name: ualink::NAMES[0], doc: ualink::DOCS[0], keys: ualink::PAIR_KEYS, run: ualink::run_pair },
    Scenario { name: ualink::NAMES[1], doc: ualink::DOCS[1], keys: ualink::POD_KEYS, run: ualink::run_pod },
    coherent::CACHE_PAIR,
    coherent::DB_SHARE,
    coherent::FILTER_THRASH,
    coherent::BIAS_FLIP,
    Scenario { name: enumerate::NAME, doc: enumerate::DOC, keys: enumerate::KEYS, run: enumerate::run },
    Scenario { name: nvlink::pair::NAME, doc: nvlink::pair::DOC, keys: nvlink::pair::KEYS, run: nvlink::pair::run },
    Scenario { name: nvlink::pod::NAME, doc: nvlink::pod::DOC, keys: nvlink::pod::KEYS, run: nvlink::pod::run },
];

/// Names of all scenarios.
pub fn names() -> impl Iterator<Item = &'static str> {
    SCENARIOS.iter().map(|s| s.name)
}

/// The scenario of a name.
pub fn find(name: &str) -> Option<&'static Scenario> {
    SCENARIOS.iter().find(|s| s.name == name)
}

/// Key that names the flit mode of a link. Scenarios that differ in it alone are one another's choices, see [`split`].
const MODE: &str = "link.mode";

impl Scenario {
    /// Its flit mode, if it is one of those that differ in it alone: the default of a `link.mode` that takes a list.
    pub fn mode(&self) -> Option<&'static str> {
        self.key(MODE).filter(|k| matches!(k.range, Range::List(_))).map(|k| k.default)
    }

    /// Places of link ends that take hooks. Scenarios that are no expander have none.
    pub fn hook_places(&self) -> &'static [&'static str] {
        if self.mode().is_some() { &expander::PORTS } else { &[] }
    }

    fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|k| k.name == name)
    }
}

/// What a user asks for.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Scenario name.
    pub scenario: String,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Cycles of the reference clock after which the run ends, `None`: when the work is done.
    pub cycles: Option<u64>,
    /// Threads, at least 1.
    pub threads: usize,
    /// Trace of a program.
    pub stimulus: Option<PathBuf>,
    /// `key=value` texts, in order.
    pub set: Vec<String>,
    /// Traces and waves.
    pub outputs: Outputs,
    /// Test modes of the kernel; they change no result.
    pub modes: Modes,
    /// Hooks of link ends, by their place, see [`Scenario::hook_places`].
    pub hooks: Vec<(String, Hooks)>,
}

impl Request {
    /// Files that the run reads.
    fn inputs(&self) -> Vec<&Path> {
        self.stimulus.iter().map(PathBuf::as_path).collect()
    }
}

/// Test modes of the kernel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Modes {
    /// Shuffle the order of evaluation within an edge.
    pub shuffle: Option<u64>,
    /// Evaluate idle modules.
    pub evaluate_idle: bool,
}

/// Why a run cannot be made or did not end well.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// No such scenario.
    #[error("scenario `{found}`: expected one of: {expected}")]
    Unknown {
        /// The name given.
        found: String,
        /// All names.
        expected: String,
    },
    /// Several modes where there is one report.
    #[error("{MODE}: found {found} modes, expected one; `split` gives one request for each")]
    Modes {
        /// How many.
        found: usize,
    },
    /// A chart of something that has no coherence messages.
    #[error("scenario `{found}`: found a chart to draw, expected a coherent scenario: {expected}")]
    NoChart {
        /// The scenario.
        found: String,
        /// Those that have charts.
        expected: String,
    },
    /// Traces or waves of several modes would be written over one another.
    #[error("{MODE}: found a trace or a wave of several modes, expected one mode")]
    OutputOfModes,
    /// Hooks at a place that takes none.
    #[error("hooks: found place `{found}`, expected one of: {expected}")]
    Hooks {
        /// The place given.
        found: String,
        /// All places of the scenario.
        expected: String,
    },
    /// A setting.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// The stimulus.
    #[error(transparent)]
    Stimulus(#[from] stimulus::TraceError),
    /// A generated stimulus.
    #[error(transparent)]
    Parameter(#[from] stimulus::ParameterError),
    /// The cache of the host.
    #[error(transparent)]
    Cache(#[from] crate::memory::cache::CacheConfigError),
    /// The link.
    #[error(transparent)]
    Link(#[from] scalepool_protocols::cxl::cxl68::config::ConfigError),
    /// An output.
    #[error(transparent)]
    Output(#[from] observe::OutputError),
    /// The design itself: a mistake of ours.
    #[error("the simulation cannot be built: {0}")]
    Build(crate::kernel::SimError),
}

/// One request for each flit mode that `link.mode` names; without it the request itself.
///
/// Each goes to the scenario of its mode, which has settings of its own: a key that another of the modes has, and this one
/// has not, is left out.
///
/// # Errors
/// No such scenario or mode; traces or waves of more than one mode.
pub fn split(request: &Request) -> Result<Vec<Request>, RunError> {
    let Some(scenario) = find(&request.scenario) else {
        let expected = names().collect::<Vec<_>>().join(", ");
        return Err(RunError::Unknown { found: request.scenario.clone(), expected });
    };
    let is_mode = |text: &&String| text.split_once('=').is_some_and(|(key, _)| key.trim() == MODE);
    let Some(chosen) = request.set.iter().rfind(is_mode).filter(|_| scenario.mode().is_some()) else {
        return Ok(vec![request.clone()]);
    };
    let mut settings = Settings::new(scenario.keys);
    settings.set(chosen)?;
    let of_mode = |mode: &str| {
        let known =
            SCENARIOS.iter().find(|s| s.mode().is_some_and(|m| m == mode || m.strip_prefix("cxl-") == Some(mode)));
        known.ok_or_else(|| settings.refuse(MODE, mode))
    };
    let scenarios = settings.list(MODE).map(of_mode).collect::<Result<Vec<_>, _>>()?;
    match scenarios.len() {
        0 => return Err(settings.refuse(MODE, "").into()),
        1 => (),
        _ if request.outputs.files() => return Err(RunError::OutputOfModes),
        _ => (),
    }
    let has = |s: &Scenario, text: &str| s.key(text.split('=').next().unwrap_or_default().trim()).is_some();
    let keep = |s: &Scenario, text: &&String| {
        let elsewhere = !has(s, text) && scenarios.iter().any(|other| has(other, text));
        !is_mode(text) && !elsewhere
    };
    let of_scenario = |s: &&Scenario| Request {
        scenario: s.name.into(),
        set: request.set.iter().filter(|text| keep(s, text)).cloned().collect(),
        ..request.clone()
    };
    Ok(scenarios.iter().map(of_scenario).collect())
}

/// Runs a scenario; `on_window` is told how far simulated time has come.
///
/// # Errors
/// Anything that keeps it from running. A run that goes wrong gives a report with violations.
pub fn run(request: &Request, on_window: &mut dyn FnMut(Time)) -> Result<Report, RunError> {
    let requests = split(request)?;
    let [request] = &requests[..] else { return Err(RunError::Modes { found: requests.len() }) };
    let (scenario, settings) = read(request)?;
    if let Some((place, _)) = request.hooks.iter().find(|(place, _)| !scenario.hook_places().contains(&place.as_str()))
    {
        return Err(RunError::Hooks { found: place.clone(), expected: scenario.hook_places().join(", ") });
    }
    (scenario.run)(request, &settings, on_window)
}

/// Reads the settings of a request for one mode and makes nothing of them.
///
/// # Errors
/// No such scenario, a setting that is refused.
pub fn check(request: &Request) -> Result<(), RunError> {
    read(request).map(|_| ())
}

fn read(request: &Request) -> Result<(&'static Scenario, Settings), RunError> {
    let Some(scenario) = find(&request.scenario) else {
        let expected = names().collect::<Vec<_>>().join(", ");
        return Err(RunError::Unknown { found: request.scenario.clone(), expected });
    };
    if request.outputs.chart.is_some() && !coherent::NAMES.contains(&scenario.name) {
        return Err(RunError::NoChart { found: scenario.name.into(), expected: coherent::NAMES.join(", ") });
    }
    let mut settings = Settings::new(scenario.keys);
    for text in &request.set {
        settings.set(text)?;
    }
    Ok((scenario, settings))
}
