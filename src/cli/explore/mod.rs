//! `scalepool explore`: every state that some order of messages reaches.
//!
//! Where rules can be turned off: `--mutant` and `--mutants` are there in builds with debug assertions, those that tests
//! run, and in no other.

mod described;

use crate::litmus::{MOST_BYTES, progress};
use crate::{CommandStatus, counted, print_json, report};
use anyhow::{Context, anyhow, bail};
use clap::Args;
use scalepool_coherence::config::CoherenceConfig;
use scalepool_forms::input::read_text;
use scalepool_proof::explore::named::{self, ExplorationScope, MOST_AGENTS};
use scalepool_proof::explore::{Counterexample, ExplorationReport, Explored, Limits, memory_limit};
use scalepool_proof::flows::FlowError;
use scalepool_proof::litmus::{LitmusResult, parse};
use scalepool_proof::replay::WayPlaces;
use scalepool_proof::systems::menu::{Menu, USUAL};
use scalepool_scenario::observe::{Observer, Outputs};
use scalepool_system::description::Description;
use scalepool_trace::output::{self, PartFile};
use scalepool_trace::{Hub, TraceHeader};
use serde_json::{Value, json};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

#[cfg(debug_assertions)]
use crate::table::TextTable;
#[cfg(debug_assertions)]
use scalepool_proof::explore::killers;
#[cfg(debug_assertions)]
use scalepool_proof::mutant::CoherenceMutant;

/// Explore a coherence protocol exhaustively and show a shortest counterexample if a rule is broken.
///
/// Exit 0: no rule is broken, 1: a rule is broken, 2: the input cannot be read, or the state limit was reached.
#[derive(Debug, Args)]
pub(super) struct Explore {
    /// Name of an exploration, as `list explorations` shows it, or of a scenario with coherent agents; or FILE.toml, a
    /// system description or a litmus case.
    what: Option<String>,
    /// Set an option that `[config]` of a litmus case can have, such as mem.one_access=false, or a setting of the system
    /// description, such as devices=3. May be repeated.
    #[arg(long, value_name = "OPTION=VALUE")]
    set: Vec<String>,
    /// Number of caching devices, or of hosts, in an exploration whose name has one.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=i64::from(MOST_AGENTS)))]
    agents: Option<u16>,
    /// Number of lines in each home of a system description or an exploration.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=32))]
    lines: Option<u8>,
    /// Operations that agents of a system description or an exploration may begin besides stores, separated by commas.
    #[arg(long, value_name = "A,B,..")]
    ops: Option<String>,
    /// Do not merge states that differ only in the names of equal agents.
    #[arg(long)]
    no_symmetry: bool,
    /// Do not check that every wait ends, only states and steps; this is faster and takes less memory.
    #[arg(long)]
    no_liveness: bool,
    /// Stop after this many states.
    #[arg(long, value_name = "N", default_value_t = Limits::default().states as u64, value_parser = clap::value_parser!(u64).range(1..))]
    states: u64,
    /// Stop when the program takes more memory than this many MiB; refused where the system does not tell (it does on Linux).
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(16..=1 << 30))]
    memory: Option<u64>,
    /// Partial-order reduction: of two deliveries that commute, try one order. Fewer transitions, the same states; liveness is
    /// checked in a second pass without the reduction.
    #[arg(long)]
    reduce: bool,
    /// Number of threads; it does not change the result.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: u16,
    /// Follow a script that `--script` wrote instead of exploring, and draw its chart.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["json", "chart", "trace", "vcd", "fst", "script"])]
    follow: Option<PathBuf>,
    /// Write the counterexample as a message sequence chart, as a picture (.svg) or text.
    #[arg(long, value_name = "FILE")]
    chart: Option<PathBuf>,
    /// Write the counterexample as a transaction trace, JSON lines, one step per nanosecond.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Write the counterexample as a value change dump, with GTKWave files beside it.
    #[arg(long, value_name = "FILE")]
    vcd: Option<PathBuf>,
    /// Write the counterexample as FST, with GTKWave files beside it.
    #[arg(long, value_name = "FILE")]
    fst: Option<PathBuf>,
    /// Write the counterexample as a script, one step per line, which `--follow` reads.
    #[arg(long, value_name = "FILE")]
    script: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    /// With --json: add the run time in seconds as the last key.
    #[arg(long, requires = "json")]
    timing: bool,
    /// Turn this rule off (test builds only); without WHAT, run the exploration that detects it.
    #[cfg(debug_assertions)]
    #[arg(long, value_name = "RULE", value_parser = mutant)]
    mutant: Option<CoherenceMutant>,
    /// Turn each rule off in turn and print what detects it (test builds only).
    #[cfg(debug_assertions)]
    #[arg(long, conflicts_with = "what")]
    mutants: bool,
}

/// What is explored.
struct ExploreCase {
    name: String,
    start: Box<dyn Explored>,
    is_litmus: bool,
}

impl Explore {
    fn most_states(&self) -> usize {
        usize::try_from(self.states).unwrap_or(usize::MAX)
    }

    pub fn run(self, out: &mut dyn Write) -> anyhow::Result<CommandStatus> {
        #[cfg(debug_assertions)]
        if self.mutants {
            return mutants(out);
        }
        let case = self.case()?;
        if let Some(path) = &self.follow {
            return follow(&case, path, out);
        }
        self.outputs().check_apart(&self.script.iter().map(PathBuf::as_path).collect::<Vec<_>>(), &self.inputs())?;
        // A search may take hours, and writes its files at the end.
        let files = self.outputs();
        let files = [&files.chart, &files.trace, &files.vcd, &files.fst, &self.script];
        files.into_iter().flatten().try_for_each(|path| output::check_folder(path))?;
        let bytes = self.memory.map(|mib| (mib << 20) as usize);
        let memory_bytes = bytes.map(memory_limit).transpose().map_err(|e| anyhow!("--memory: {e}"))?;
        let begun = Instant::now();
        let limits = Limits {
            states: self.most_states(),
            symmetry: !self.no_symmetry,
            liveness: !self.no_liveness,
            reduction: self.reduce,
            memory_bytes,
            threads: self.threads.into(),
        };
        let found = case.start.search(limits, &mut progress(self.most_states()));
        let seconds = begun.elapsed().as_secs_f64();
        if self.json {
            let mut form = json_of(&case, &found);
            if self.timing {
                form["seconds"] = json!(seconds);
            }
            print_json(out, &form)?;
        } else {
            print(&case, limits, &found, out)?;
        }
        if !self.timing {
            let rate = found.states as f64 / seconds.max(f64::MIN_POSITIVE) / 1e3;
            let bytes = found.kept_bytes / found.states.max(1);
            let _ = writeln!(
                io::stderr(),
                "scalepool: {seconds:.2} s, {rate:.0} k states/s, {bytes} bytes kept of a state"
            );
        }
        match &found.violation {
            Some(violation) => {
                self.write(violation)?;
                Ok(CommandStatus::Finding)
            }
            None if found.complete => Ok(CommandStatus::Good),
            None => {
                let which = if found.states < self.most_states() { "--memory" } else { "--states" };
                report(format_args!("{}: gave up after {} states; {which} sets this limit", case.name, found.states));
                Ok(CommandStatus::Refused)
            }
        }
    }

    fn case(&self) -> anyhow::Result<ExploreCase> {
        #[cfg(debug_assertions)]
        if let (None, Some(killer)) = (&self.what, self.mutant.and_then(killers::of)) {
            let Some((named, config)) = killer.case() else {
                bail!("{:?}: no exploration has this part; a test finds {}", killer.mutant, killer.rule);
            };
            return Ok(ExploreCase { name: named.name.to_owned(), start: named.start(config), is_litmus: false });
        }
        let Some(name) = self.what.clone() else {
            bail!("found no exploration, expected FILE.toml or a name that `list explorations` shows");
        };
        if let Some(named) = named::find(&name) {
            let mut config = options(&self.set)?;
            self.turn_off(&mut config);
            let menu = self.ops.as_deref().map(menu).transpose()?;
            let scope = ExplorationScope { agents: self.agents, lines: self.lines, menu };
            let start = named.begin(config, &scope).map_err(|e| anyhow!("{name}: {e}"))?;
            return Ok(ExploreCase { name, start, is_litmus: false });
        }
        if let Some(scenario) = scalepool_scenario::find(&name) {
            return self.system(name, Description::parse(scenario.name, PathBuf::new(), scenario.description())?);
        }
        if !name.ends_with(".toml") {
            bail!(
                "exploration: found {name:?}, expected FILE.toml, a scenario or a name that `list explorations` shows"
            );
        }
        let text = read_text(Path::new(&name), MOST_BYTES).map_err(|e| anyhow!("{name}: {e}"))?;
        if toml::from_str::<toml::Table>(&text).is_ok_and(|table| table.contains_key("system")) {
            let description = Description::open(Path::new(&name))?;
            return self.system(name, description);
        }
        let given =
            [("--agents", self.agents.is_some()), ("--lines", self.lines.is_some()), ("--ops", self.ops.is_some())];
        if let Some((option, _)) = given.iter().find(|(_, given)| *given) {
            bail!("{name}: found {option} beside a litmus case, expected its own agents, lines and operations");
        }
        if !self.set.is_empty() {
            bail!("{name}: found --set beside a litmus case, expected the options in its [config]");
        }
        let mut case = parse(&text).with_context(|| name.clone())?;
        self.turn_off(&mut case.config);
        let start = case.start().with_context(|| name.clone())?;
        Ok(ExploreCase { name, start, is_litmus: true })
    }

    /// The system of a description.
    fn system(&self, name: String, mut description: Description) -> anyhow::Result<ExploreCase> {
        if self.agents.is_some() {
            bail!("{name}: found --agents, expected the number of agents in the description or by --set");
        }
        self.set.iter().try_for_each(|text| description.set(text))?;
        let system = description.resolve()?;
        let menu = menu(self.ops.as_deref().unwrap_or(USUAL))?;
        let lines = self.lines.unwrap_or(1).into();
        let start = described::composite(&system, lines, menu, &|config| self.turn_off(config));
        Ok(ExploreCase { start: Box::new(start.with_context(|| name.clone())?), name, is_litmus: false })
    }

    /// Turns a rule off, in builds that can.
    #[cfg_attr(not(debug_assertions), expect(clippy::unused_self, reason = "no rule can be turned off"))]
    fn turn_off(&self, config: &mut CoherenceConfig) {
        #[cfg(debug_assertions)]
        {
            config.rules = self.mutant.map(CoherenceMutant::rules).unwrap_or_default();
        }
        #[cfg(not(debug_assertions))]
        let _ = config;
    }

    fn outputs(&self) -> Outputs {
        Outputs {
            vcd: self.vcd.clone(),
            fst: self.fst.clone(),
            trace: self.trace.clone(),
            chart: self.chart.clone(),
            ..Outputs::default()
        }
    }

    /// The case of a litmus file is not written over.
    fn inputs(&self) -> Vec<&Path> {
        self.what.as_deref().map(Path::new).into_iter().collect()
    }

    /// Writes the way to a broken rule in every form that was asked for.
    fn write(&self, violation: &Counterexample) -> anyhow::Result<()> {
        let outputs = self.outputs();
        if outputs.files() || outputs.chart.is_some() {
            let mut hub = Hub::new(true);
            let mut places = WayPlaces::new(violation, &mut hub);
            // An exploration has neither scenario nor seed.
            let model_version = env!("CARGO_PKG_VERSION").to_owned();
            let header = TraceHeader { model_version, run: None };
            let mut observer = Observer::open(&outputs, &self.inputs(), &header, &hub)?;
            places.record(violation);
            observer.draw(&violation.chart())?;
            for record in hub.drain() {
                observer.record(hub.places(), &record)?;
            }
            observer.finish(hub.places())?;
        }
        if let Some(path) = &self.script {
            let text: String = violation.script.iter().map(|word| format!("{word}\n")).collect();
            PartFile::write(path, text.as_bytes())?;
        }
        Ok(())
    }
}

/// The operations of `--ops`.
fn menu(names: &str) -> anyhow::Result<Menu> {
    Menu::of_names(names).map_err(|e| anyhow!("--ops: {e}"))
}

/// The configuration with some options set, written as TOML; a word without quotes is a string.
pub(super) fn options(set: &[String]) -> anyhow::Result<CoherenceConfig> {
    let mut text = String::new();
    for option in set {
        let Some((key, value)) = option.split_once('=') else { bail!("--set `{option}`: expected option=value") };
        let plain = format!("{key} = {value}\n");
        let is_toml = toml::from_str::<toml::Table>(&plain).is_ok();
        text += &if is_toml { plain } else { format!("{key} = {value:?}\n") };
    }
    toml::from_str(&text).map_err(|e| anyhow!("--set: {}", e.message()))
}

fn json_of(case: &ExploreCase, found: &ExplorationReport) -> Value {
    let litmus = LitmusResult::of(found).to_json();
    let mut form = json!({
        "exploration": case.name,
        "states": found.states,
        "transitions": found.transitions,
        "depth": found.depth,
        "complete": found.complete,
        "violations": litmus["violations"],
    });
    if case.is_litmus {
        form["outcomes"] = litmus["outcomes"].clone();
    } else if !found.outcomes.is_empty() {
        let outcomes = found.outcomes.iter().map(|(name, paths)| json!({"final": name, "paths": paths}));
        form["outcomes"] = outcomes.collect();
    }
    form
}

fn print(case: &ExploreCase, limits: Limits, found: &ExplorationReport, out: &mut dyn Write) -> io::Result<()> {
    let ExplorationReport { states, transitions, depth, .. } = found;
    writeln!(out, "{}: {states} states, {transitions} transitions, depth {depth}", case.name)?;
    if case.is_litmus {
        LitmusResult::of(found).print_outcomes(out)?;
    } else {
        found.outcomes.iter().try_for_each(|(name, paths)| writeln!(out, "{name} {paths}"))?;
    }
    match &found.violation {
        // The event stands under the chart.
        Some(violation) => write!(
            out,
            "{} is broken after {}\n{}",
            violation.event.rule,
            counted(violation.steps.len(), "step"),
            violation.chart().text()
        ),
        None if found.complete && !limits.liveness => writeln!(out, "no rule is broken; liveness was not checked"),
        None if found.complete => writeln!(out, "no rule is broken"),
        None => writeln!(out, "the search gave up; no rule is broken so far"),
    }
}

fn follow(case: &ExploreCase, path: &Path, out: &mut dyn Write) -> anyhow::Result<CommandStatus> {
    let place = || path.display().to_string();
    let text = read_text(path, MOST_BYTES).map_err(|e| anyhow!("{}: {e}", place()))?;
    let words: Vec<&str> = text.lines().collect();
    match case.start.follow(&words) {
        Ok(chart) => {
            write!(out, "{}", chart.text())?;
            Ok(CommandStatus::Good)
        }
        Err(FlowError::Broken { event, .. }) => {
            writeln!(out, "{event}")?;
            Ok(CommandStatus::Finding)
        }
        Err(step @ FlowError::Step { .. }) => Err(step).with_context(place),
    }
}

#[cfg(debug_assertions)]
fn mutant(name: &str) -> Result<CoherenceMutant, String> {
    let known = killers::KILLERS.iter().map(|k| k.mutant).find(|m| format!("{m:?}") == name);
    known.ok_or_else(|| format!("found `{name}`, expected a rule that `explore --mutants` shows"))
}

/// Every rule that can be turned off and what finds it; exit 1 when one is not found, or by something else.
#[cfg(debug_assertions)]
fn mutants(out: &mut dyn Write) -> anyhow::Result<CommandStatus> {
    let mut table = TextTable::new(["rule that is off", "exploration", "broken", "steps", "what is seen"]);
    let mut lives = Vec::new();
    for killer in killers::KILLERS.iter().chain(killers::SHAPE_KILLERS) {
        let name = format!("{:?}", killer.mutant);
        let Some((named, config)) = killer.case() else {
            table.row([name, "-".into(), killer.rule.into(), "-".into(), "a test of the part".into()]);
            continue;
        };
        let found = named.start(config).search(Limits { symmetry: true, ..Limits::default() }, &mut |_| ()).violation;
        let (rule, steps, text) = match &found {
            Some(v) => (v.event.rule, v.steps.len().to_string(), format!("{}: {}", v.event.at, v.event.found)),
            None => ("none", "-".into(), "it lives".into()),
        };
        if rule != killer.rule {
            lives.push(name.clone());
        }
        table.row([name, named.name.into(), rule.into(), steps, text]);
    }
    table.print(out)?;
    Ok(CommandStatus::of(&lives))
}
