//! Scenarios: settings and a stimulus to a built simulation, and its result to a report.
//!
//! Modelled: the built-in scenarios, one folder each, with every number they use in one table of settings. Left out: what
//! the modules do (see the layers below). A walk through one run: settings and stimulus are read and checked whole; the
//! simulation is built from them, a partition a thread; records leave after every window for the trace and the waves;
//! counters and broken rules become the report.

pub mod enumerate;
pub mod expander;
pub mod observe;
pub mod report;
pub mod settings;
pub mod stimulus;
pub mod ualink;

use crate::kernel::Time;
use observe::Outputs;
use report::Report;
use settings::{Key, SettingError, Settings};
use std::path::PathBuf;

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
    Scenario { name: expander::NAME, doc: expander::DOC, keys: expander::KEYS, run: expander::run },
    Scenario { name: ualink::NAMES[0], doc: ualink::DOCS[0], keys: ualink::PAIR_KEYS, run: ualink::run_pair },
    Scenario { name: ualink::NAMES[1], doc: ualink::DOCS[1], keys: ualink::POD_KEYS, run: ualink::run_pod },
    Scenario { name: enumerate::NAME, doc: enumerate::DOC, keys: enumerate::KEYS, run: enumerate::run },
];

/// Names of all scenarios.
pub fn names() -> impl Iterator<Item = &'static str> {
    SCENARIOS.iter().map(|s| s.name)
}

/// The scenario of a name.
pub fn find(name: &str) -> Option<&'static Scenario> {
    SCENARIOS.iter().find(|s| s.name == name)
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

/// Runs a scenario; `on_window` is told how far simulated time has come.
///
/// # Errors
/// Anything that keeps it from running. A run that goes wrong gives a report with violations.
pub fn run(request: &Request, on_window: &mut dyn FnMut(Time)) -> Result<Report, RunError> {
    let Some(scenario) = find(&request.scenario) else {
        let expected = names().collect::<Vec<_>>().join(", ");
        return Err(RunError::Unknown { found: request.scenario.clone(), expected });
    };
    let mut settings = Settings::new(scenario.keys);
    for text in &request.set {
        settings.set(text)?;
    }
    (scenario.run)(request, &settings, on_window)
}
