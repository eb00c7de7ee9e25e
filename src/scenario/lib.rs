//! Scenarios: a description, settings and a stimulus to a built simulation, and its result to a report.
//!
//! Modelled: nothing; the built-in scenarios are descriptions as those of users are. Left out: what the modules do (see the
//! layers below). A walk through one run: settings and stimulus are read and checked whole; the
//! simulation is built from them, a partition a thread; records leave after every window for the trace and the waves;
//! counters and broken rules become the report.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod curve;
pub mod described;
pub mod drive;
pub mod litmus;
pub mod observe;
pub mod report;
pub mod settings;

use drive::Built;
use observe::Outputs;
use report::ScenarioReport;
use scalepool_kernel::Time;
use scalepool_system::build::AssemblyError;
use scalepool_system::builtin::{self, Builtin};
use scalepool_system::design::System;
use scalepool_system::problem::Problems;
use scalepool_trace::filter::WatchedPlaces;
use settings::{SettingError, SettingKey, SettingRange};
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, OnceLock};

/// A built-in scenario.
pub struct Scenario {
    /// Name on the command line, and of its file.
    pub name: &'static str,
    builtin: &'static Builtin,
    /// What its description says, read when somebody asks: reading all of them takes longer than a short run.
    told: OnceLock<described::ScenarioKeys>,
    doc: OnceLock<&'static str>,
}

/// Those that run in seconds, so that whoever goes over all of them may.
pub static SCENARIOS: LazyLock<Vec<Scenario>> = LazyLock::new(|| described::scenarios(&builtin::ALL));

/// Those of thousands of components, whose runs take minutes.
pub static LARGE: LazyLock<Vec<Scenario>> = LazyLock::new(|| described::scenarios(&builtin::LARGE));

/// All of them, the large ones last.
pub fn all() -> impl Iterator<Item = &'static Scenario> {
    SCENARIOS.iter().chain(LARGE.iter())
}

/// Names of all scenarios.
pub fn names() -> impl Iterator<Item = &'static str> {
    all().map(|s| s.name)
}

/// The scenario of a name.
pub fn find(name: &str) -> Option<&'static Scenario> {
    all().find(|s| s.name == name)
}

/// Key that names the flit mode of a link. Scenarios that differ in it alone are one another's choices, see [`split`].
const MODE: &str = "link.mode";

impl Scenario {
    /// Its flit mode, if it is one of those that differ in it alone: the default of a `link.mode` that takes a list.
    pub fn mode(&self) -> Option<&'static str> {
        self.key(MODE).filter(|k| matches!(k.range, SettingRange::List(_))).map(|k| k.default)
    }

    fn told(&self) -> &described::ScenarioKeys {
        self.told.get_or_init(|| described::told(self.builtin))
    }

    /// What it models.
    pub fn doc(&self) -> &'static str {
        self.doc.get_or_init(|| described::about(self.builtin))
    }

    /// Settings.
    pub fn keys(&self) -> &'static [SettingKey] {
        self.told().keys
    }

    /// The text of its description.
    pub fn description(&self) -> &'static str {
        self.builtin.text
    }

    fn key(&self, name: &str) -> Option<&'static SettingKey> {
        self.keys().iter().find(|k| k.name == name)
    }
}

/// What a user asks for.
#[derive(Debug, Clone, Default)]
pub struct ScenarioRequest {
    /// Scenario name, or the file of a description, which ends with `.toml`.
    pub scenario: String,
    /// Text of a description, which takes the place of the file.
    pub description: Option<String>,
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
    /// Port whose end is not built: a caller drives its units, see [`sim_port`](scalepool_link::sim_port).
    pub external: Option<String>,
}

/// Seed of a run that names none.
pub const DEFAULT_SEED: u64 = 1;

impl ScenarioRequest {
    /// Files that the run reads.
    fn inputs(&self) -> Vec<&Path> {
        self.stimulus.iter().map(PathBuf::as_path).collect()
    }

    /// Refuses outputs that would be written over one another or over what the run reads.
    ///
    /// # Errors
    /// The first of them.
    pub fn check_outputs(&self) -> Result<(), RunError> {
        Ok(self.outputs.check_apart(&[], &self.inputs())?)
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
    /// A setting between whose values there are no others.
    #[error("--key {key}: found a setting that takes {found}, expected a load between whose values there are others")]
    NoLoad {
        /// The setting.
        key: String,
        /// What it takes.
        found: String,
    },
    /// A run for the saturation load in which no latency was measured.
    #[error(
        "{key} = {load}: found a run that measured no latency, expected one; it ended before its warm-up was over, or before anything that counts arrived"
    )]
    NothingMeasured {
        /// The setting that stands for the load.
        key: String,
        /// The load.
        load: f64,
    },
    /// Several modes where there is one report.
    #[error("{MODE}: found {found} modes, expected one; `split` gives one request for each")]
    Modes {
        /// How many.
        found: usize,
    },
    /// A chart of something that has no coherence messages.
    #[error("--chart: found the scenario `{found}`, which has no coherent agents to draw, expected one of {expected}")]
    NoChart {
        /// The scenario.
        found: String,
        /// Those that have charts.
        expected: String,
    },
    /// No memory has DRAM commands.
    #[error(
        "--dram: found no memory with a DRAM preset in `{found}`, expected one, such as media = {{ preset = \"ddr5_4800b\" }}"
    )]
    NoDram {
        /// The scenario.
        found: String,
    },
    /// Traces or waves of several modes would be written over one another.
    #[error("{MODE}: found a trace, a wave, a drawing or DRAM commands of several modes, expected one mode")]
    OutputOfModes,
    /// No accelerator whose pages a caller places.
    #[error(
        "placement of `{found}`: found no accelerator of that name whose policy is \"caller\", expected one of: {expected}"
    )]
    Placement {
        /// The name given.
        found: String,
        /// All of them.
        expected: String,
    },
    /// No such port.
    #[error("port `{found}`: expected one of: {expected}")]
    Port {
        /// The name given.
        found: String,
        /// All ports of the run.
        expected: String,
    },
    /// An end that cannot be left to the caller.
    #[error("external: found `{found}`, expected the only port of a component that can stand outside: {expected}")]
    External {
        /// The port given.
        found: String,
        /// All ports; none where a scenario is no description.
        expected: String,
    },
    /// A description.
    #[error(transparent)]
    Description(#[from] Problems),
    /// A system that cannot be built.
    #[error(transparent)]
    Assembly(#[from] AssemblyError),
    /// A setting.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// An output.
    #[error(transparent)]
    Output(#[from] observe::OutputError),
    /// The design itself: a mistake of ours.
    #[error("the simulation cannot be built: {0}")]
    Build(scalepool_kernel::SimError),
}

impl RunError {
    fn no_chart(request: &ScenarioRequest) -> RunError {
        let charted = SCENARIOS.iter().filter(|scenario| scenario.told().has_chart).map(|scenario| scenario.name);
        RunError::NoChart { found: request.scenario.clone(), expected: charted.collect::<Vec<_>>().join(", ") }
    }
}

/// One request for each flit mode that `link.mode` names; without it the request itself.
///
/// Each goes to the scenario of its mode, which has settings of its own: a key that another of the modes has, and this one
/// has not, is left out.
///
/// # Errors
/// No such scenario or mode; traces or waves of more than one mode.
pub fn split(request: &ScenarioRequest) -> Result<Vec<ScenarioRequest>, RunError> {
    if described::is_description(request) {
        return Ok(vec![request.clone()]);
    }
    let Some(scenario) = find(&request.scenario) else {
        let expected = names().collect::<Vec<_>>().join(", ");
        return Err(RunError::Unknown { found: request.scenario.clone(), expected });
    };
    let is_mode = |text: &&String| text.split_once('=').is_some_and(|(key, _)| key.trim() == MODE);
    let Some(chosen) = request.set.iter().rfind(is_mode).filter(|_| scenario.mode().is_some()) else {
        return Ok(vec![request.clone()]);
    };
    let chosen = chosen.split_once('=').map(|(_, modes)| modes).unwrap_or_default();
    let refused = |found: &str| {
        let expected = SCENARIOS.iter().filter_map(Scenario::mode).collect::<Vec<_>>().join(", ");
        SettingError { key: MODE, found: found.to_owned(), expected }
    };
    let of_mode = |mode: &str| {
        let known =
            SCENARIOS.iter().find(|s| s.mode().is_some_and(|m| m == mode || m.strip_prefix("cxl-") == Some(mode)));
        known.ok_or_else(|| refused(mode))
    };
    let scenarios = settings::elements(chosen).map(of_mode).collect::<Result<Vec<_>, _>>()?;
    match scenarios.len() {
        0 => return Err(refused("").into()),
        1 => (),
        _ if request.outputs.files() || request.outputs.dram.is_some() || request.outputs.drawing.is_some() => {
            return Err(RunError::OutputOfModes);
        }
        _ => (),
    }
    let has = |s: &Scenario, text: &str| s.key(text.split('=').next().unwrap_or_default().trim()).is_some();
    let keep = |s: &Scenario, text: &&String| {
        let elsewhere = !has(s, text) && scenarios.iter().any(|other| has(other, text));
        !is_mode(text) && !elsewhere
    };
    let of_scenario = |s: &&Scenario| ScenarioRequest {
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
pub fn run(request: &ScenarioRequest, on_window: &mut dyn FnMut(Time)) -> Result<ScenarioReport, RunError> {
    let (request, built) = build(request, request.outputs.watched())?;
    built.run(&request, on_window)
}

/// Builds a scenario at whose flits somebody looks in these places. With it the request as its one mode has it.
///
/// # Errors
/// Anything that keeps it from running.
fn build(request: &ScenarioRequest, watched: WatchedPlaces) -> Result<(ScenarioRequest, Built), RunError> {
    let requests = split(request)?;
    let [request] = &requests[..] else { return Err(RunError::Modes { found: requests.len() }) };
    let built = described::build(request, builtin(request)?, watched)?;
    Ok((request.clone(), built))
}

/// The system of a request for one mode, with its settings; nothing is built.
///
/// # Errors
/// No such description, a setting that is refused, or all that is wrong with the description.
pub fn system(request: &ScenarioRequest) -> Result<System, RunError> {
    described::system(request, builtin(request)?)
}

/// Reads the settings of a request for one mode and makes nothing of them.
///
/// # Errors
/// No such scenario, a setting that is refused, a chart of what has none.
pub fn check(request: &ScenarioRequest) -> Result<(), RunError> {
    let system = system(request)?;
    if request.outputs.chart.is_some() && !system.is_coherent() {
        return Err(RunError::no_chart(request));
    }
    Ok(())
}

/// The description that a request names, if it comes with the program.
///
/// # Errors
/// No such scenario, or a chart of one that has none.
fn builtin(request: &ScenarioRequest) -> Result<Option<&'static Builtin>, RunError> {
    if described::is_description(request) {
        return Ok(None);
    }
    let Some(scenario) = find(&request.scenario) else {
        let expected = names().collect::<Vec<_>>().join(", ");
        return Err(RunError::Unknown { found: request.scenario.clone(), expected });
    };
    // Said first: settings that it has not may belong to a scenario with a chart.
    if request.outputs.chart.is_some() && !scenario.told().has_chart {
        return Err(RunError::no_chart(request));
    }
    Ok(Some(scenario.builtin))
}
