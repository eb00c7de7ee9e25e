//! `scalepool litmus`: every outcome of a coherence program, or those of many runs on clocked cores.

use super::{CommandStatus, print_json, report};
use anyhow::Context;
use clap::Args;
use scalepool_coherence::config::CoherenceConfig;
use scalepool_forms::input::read_text;
use scalepool_forms::violation;
use scalepool_proof::explore::ExplorationReport;
use scalepool_proof::litmus::herd::{HerdTest, OutcomeSet, SeenOutcome};
use scalepool_proof::litmus::program::LitmusAgents;
use scalepool_proof::litmus::{MOST_STATES, herd, parse};
use scalepool_proof::stress::StressProtocol;
use scalepool_scenario::ScenarioRequest;
use scalepool_scenario::litmus::litmus;
use scalepool_scenario::report::PlacedViolation;
use serde_json::{Value, json};
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Explore a litmus case or a .litmus file and print every reachable outcome.
///
/// Of a .litmus file of herd7 (X86, AArch64 or LISA) the threads run on cores over coherent agents: those of the line
/// `Protocol=cxl-cache`, `hdm-db`, `hdm-d` or `bridge`, whose last core is that of a host, or its first one, and the others are
/// those of accelerators. The output has herd's form.
///
/// Of a case each line of the output is one outcome: the final state of each agent as a letter; `fresh` if memory has the value that
/// was stored last, else `old`; the number of transitions that end in this outcome; and, if the case uses poison, whether
/// memory is poisoned and which loads returned poison.
///
/// With --runs the threads of a .litmus file run on the cores of a simulated system, over its links, from random beginnings; the
/// output is the histogram of litmus7, and each outcome outside the explored set is named with the seed that repeats it.
///
/// Exit 0: every state was explored, or every run ended inside the set, 1: a broken rule or an outcome outside was found, or a
/// `~exists` or `forall` does not hold, 2: the case cannot be read, or it has more states than
/// --max-states, and the output is incomplete.
#[derive(Debug, Args)]
pub(super) struct LitmusArgs {
    /// File with the litmus case, TOML, or .litmus file.
    file: PathBuf,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    /// Stop at this many states. A state takes about 0.8 kB of memory with 8 agents, and twice as much with 16.
    #[arg(long, value_name = "N", default_value_t = MOST_STATES as u64, value_parser = clap::value_parser!(u64).range(1..))]
    max_states: u64,
    /// Run the program of a .litmus file N times on clocked cores over links.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=MOST_RUNS))]
    runs: Option<u64>,
    /// Seed of the first simulation; each of 1000 runs has the next one.
    #[arg(long, requires = "runs", default_value_t = scalepool_scenario::DEFAULT_SEED)]
    seed: u64,
    /// Number of threads; it does not change the result.
    #[arg(long, requires = "runs", value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: u16,
    /// System whose cores run the program: a scenario, or the file of a description, FILE.toml, with one home of lines and
    /// a core for each thread [default: by the protocol, cxl-cache-pair, hdm-db-share or bias-flip].
    #[arg(long, requires = "runs", value_name = "SYSTEM")]
    system: Option<String>,
    /// Change a setting of the system, such as link.ber=1e-6; `describe SYSTEM` lists them. May be repeated.
    #[arg(long, requires = "runs", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Take the allowed outcomes from a log of herd7 or litmus7 instead of exploring the program.
    #[arg(long, requires = "runs", value_name = "LOG")]
    allowed: Option<PathBuf>,
}

/// Most runs of a program: they take days, and what each thousand of them has seen still fits into memory.
const MOST_RUNS: u64 = 1_000_000_000;

/// Most bytes of a file that is read: cases, scripts.
pub(super) const MOST_BYTES: u64 = 1 << 20;

/// Time between two lines of progress.
const PROGRESS_EVERY: Duration = Duration::from_secs(2);

/// Prints the progress of a search, with its largest number of states, to stderr.
pub(super) fn progress(most: usize) -> impl FnMut(&ExplorationReport) {
    let (mut said, mut states) = (Instant::now(), 0);
    move |so_far| {
        if said.elapsed() > PROGRESS_EVERY {
            // A second pass, which tells agents apart, counts from 0.
            let new = so_far.states.checked_sub(states).unwrap_or(so_far.states);
            let rate = new as f64 / said.elapsed().as_secs_f64() / 1e3;
            (said, states) = (Instant::now(), so_far.states);
            let pass = if so_far.by_name { "agents told apart: " } else { "" };
            report(format_args!(
                "{pass}{} states so far (limit {most}), depth {}, {} in the next level, {rate:.0} k states/s",
                so_far.states, so_far.depth, so_far.frontier
            ));
        }
    }
}

/// Most broken rules of runs that are printed one by one.
const MOST_SHOWN: usize = 20;

/// A broken rule of a simulation.
fn broken_json(seed: u64, broken: &PlacedViolation) -> Value {
    let mut form = violation::to_json(&broken.violation);
    form["where"] = json!(broken.place);
    form["seed"] = json!(seed);
    form
}

impl LitmusArgs {
    /// The system whose cores run a test.
    fn request(&self, test: &HerdTest) -> anyhow::Result<ScenarioRequest> {
        let (scenario, set) = match (&self.system, test.agents) {
            (Some(system), _) => (system.as_str(), None),
            (None, LitmusAgents::Caching(StressProtocol::Cache(devices))) => {
                ("cxl-cache-pair", Some(format!("devices={devices}")))
            }
            (None, LitmusAgents::Caching(StressProtocol::HdmDb(hosts))) => {
                ("hdm-db-share", Some(format!("hosts={hosts}")))
            }
            (None, LitmusAgents::Caching(StressProtocol::HdmD)) => ("bias-flip", None),
            (None, LitmusAgents::Bridge(_)) => anyhow::bail!(
                "{}: --runs: found Protocol=bridge, expected --system with a core for each thread: cores of accelerators are explored",
                self.file.display()
            ),
        };
        Ok(ScenarioRequest {
            scenario: scenario.to_owned(),
            set: set.into_iter().chain(self.set.iter().cloned()).collect(),
            seed: self.seed,
            threads: self.threads.into(),
            ..ScenarioRequest::default()
        })
    }

    /// Runs on clocked cores, held against the outcomes that are allowed.
    fn run_often(
        &self,
        test: &HerdTest,
        allowed: OutcomeSet,
        runs: u64,
        out: &mut dyn Write,
    ) -> anyhow::Result<CommandStatus> {
        let simulations = litmus(&self.request(test)?, &test.threads(), runs)?;
        let mut seen = Vec::new();
        for of in &simulations {
            for (values, runs, run) in &of.outcomes {
                seen.push((values, SeenOutcome { runs: *runs, seed: of.seed, run: *run }));
            }
        }
        let histogram = test.histogram(allowed, seen);
        let violations: Vec<_> = simulations.iter().flat_map(|s| s.violations.iter().map(|v| (s.seed, v))).collect();
        if self.json {
            let mut form = histogram.to_json();
            form["violations"] = violations.iter().map(|(seed, broken)| broken_json(*seed, broken)).collect();
            print_json(out, &form)?;
        } else {
            histogram.print(out)?;
            for (seed, broken) in violations.iter().take(MOST_SHOWN) {
                writeln!(out, "seed {seed}: {}: {}", broken.place, broken.violation)?;
            }
        }
        if violations.len() > MOST_SHOWN && !self.json {
            report(format_args!("{} broken rules, {MOST_SHOWN} of them shown", violations.len()));
        }
        let is_wrong = histogram.outside().next().is_some() || histogram.is_refuted() || !violations.is_empty();
        Ok(if is_wrong { CommandStatus::Finding } else { CommandStatus::Good })
    }

    /// A file of herd7's language.
    fn herd(&self, text: &str, out: &mut dyn Write) -> anyhow::Result<CommandStatus> {
        let place = || self.file.display().to_string();
        let test = herd::parse(text).with_context(place)?;
        if let (Some(runs), Some(log)) = (self.runs, &self.allowed) {
            let place = || log.display().to_string();
            let text = read_text(log, MOST_BYTES).map_err(|e| anyhow::anyhow!("{}: {e}", place()))?;
            let allowed = test.allowed_by(&text).with_context(place)?;
            return self.run_often(&test, allowed, runs, out);
        }
        let most = usize::try_from(self.max_states).unwrap_or(usize::MAX);
        let found = test.explore(CoherenceConfig::default(), most, &mut progress(most)).with_context(place)?;
        if let (Some(runs), false, None) = (self.runs, found.gave_up(), &found.violation) {
            return self.run_often(&test, found.allowed(), runs, out);
        }
        if self.json {
            print_json(out, &found.to_json())?
        } else {
            found.print(out)?
        }
        if found.gave_up() {
            report(format_args!("{}: found more than {most} states; outcomes are incomplete (--max-states)", place()));
            return Ok(CommandStatus::Refused);
        }
        let is_wrong = found.violation.is_some() || found.is_refuted();
        Ok(if is_wrong { CommandStatus::Finding } else { CommandStatus::Good })
    }

    pub fn run(self, out: &mut dyn Write) -> anyhow::Result<CommandStatus> {
        let place = || self.file.display().to_string();
        let text = read_text(&self.file, MOST_BYTES).map_err(|e| anyhow::anyhow!("{}: {e}", place()))?;
        if herd::is_herd(&text) {
            return self.herd(&text, out);
        }
        anyhow::ensure!(self.runs.is_none(), "{}: --runs: found a case in TOML, expected a .litmus file", place());
        let case = parse(&text).with_context(place)?;
        let most = usize::try_from(self.max_states).unwrap_or(usize::MAX);
        let found = case.explore_within(most, &mut progress(most)).with_context(place)?;
        if self.json {
            print_json(out, &found.to_json())?;
        } else {
            writeln!(out, "{} states, {} transitions", found.states, found.transitions)?;
            found.print_outcomes(out)?;
            if let Some(v) = &found.violation {
                write!(out, "{}\n{}", v.event, v.chart().text())?;
            }
        }
        if found.gave_up() {
            report(format_args!(
                "{}: found more than {most} states; outcomes are incomplete, broken rules may be unseen (--max-states)",
                place()
            ));
        }
        Ok(match found.violation {
            Some(_) => CommandStatus::Finding,
            None if found.complete => CommandStatus::Good,
            None => CommandStatus::Refused,
        })
    }
}
