//! `scalepool run`: simulate a scenario.

use super::junit::{self, JunitCase, JunitFailure};
use super::table::TextTable;
use super::{CommandStatus, coverage, print_json};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use scalepool_export::coverage::CoverageReport;
use scalepool_kernel::Time;
use scalepool_scenario::observe::Outputs;
use scalepool_scenario::report::{
    COMPARED, PlacedViolation, ScenarioReport, TIME_HEAD, Timing, comparison_json, comparison_row,
};
use scalepool_scenario::{Modes, Scenario, ScenarioRequest};
use scalepool_trace::log::{LogFilter, LogTo};
use scalepool_trace::output::{FileError, PartFile};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Simulate a scenario and print a summary.
#[derive(Debug, Args)]
pub(super) struct RunArgs {
    /// Name of a scenario, as `list scenarios` shows it, or the file of a system description, FILE.toml.
    scenario: String,
    /// Seed of all random numbers.
    #[arg(long, default_value_t = scalepool_scenario::DEFAULT_SEED)]
    seed: u64,
    /// Stop after this many cycles of the reference clock [default: stop when the work is done].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    cycles: Option<u64>,
    /// Number of threads; it does not change the result.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: u16,
    /// Memory trace of a program, plain or .gz: valgrind lackey text, or CSV with the columns time, op, address, size, as
    /// `0,read,0x1000,64`. The time is in host cycles. The first line may be a header with these names.
    #[arg(long, value_name = "FILE")]
    stimulus: Option<PathBuf>,
    /// Write a value change dump, with GTKWave files beside it.
    #[arg(long, value_name = "FILE")]
    vcd: Option<PathBuf>,
    /// Write the wave as FST, about ten times smaller, with GTKWave files beside it.
    #[arg(long, value_name = "FILE")]
    fst: Option<PathBuf>,
    /// Write a transaction trace as JSON lines.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Write a message sequence chart with times, as a picture (.svg) or text (.txt); for coherent scenarios only.
    #[arg(long, value_name = "FILE")]
    chart: Option<PathBuf>,
    /// Write the commands of each DRAM into this folder, as `inspect --dram` and DRAM simulators read them: `PATH.txt`, of a memory with
    /// several DRAMs `PATH.dram[N].txt`, a buffer before what is behind it.
    #[arg(long, value_name = "DIR")]
    dram: Option<PathBuf>,
    /// Draw the system as an SVG picture. Each link shows its load, which is the share of its time spent on transactions.
    #[arg(long, value_name = "FILE")]
    drawing: Option<PathBuf>,
    /// Show only the cache line of this address in the chart.
    #[arg(long, value_name = "ADDRESS", requires = "chart", value_parser = address)]
    chart_line: Option<u64>,
    /// Limit traces and waves to these places; `*` stands for any text. May be repeated.
    #[arg(long, value_name = "GLOB")]
    wave_scope: Vec<String>,
    /// Start of the time window of traces, waves and charts, in femtoseconds.
    #[arg(long, value_name = "FS")]
    wave_from: Option<u64>,
    /// End of the time window of traces, waves and charts, in femtoseconds.
    #[arg(long, value_name = "FS")]
    wave_to: Option<u64>,
    /// Log to stderr, one line per event: LEVEL or LAYER=LEVEL,.. such as link=debug,scenario=info.
    #[arg(long, value_name = "FILTER", value_parser = LogFilter::parse)]
    log: Option<LogFilter>,
    /// Change a setting; `describe SCENARIO` lists them. KEY can also be a path in the system description, such as
    /// component.host[1].outstanding. May be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Print how each direction of each link spends its time; with --json this table is always included.
    #[arg(long, conflicts_with = "json")]
    where_time_goes: bool,
    /// Print the figures of every link end: states, replays, Naks, errors, repairs, credits; with --json as key `health`.
    /// `list health` explains them.
    #[arg(long)]
    health: bool,
    /// Write what was covered, bin by bin, to a file that `coverage` reads.
    #[arg(long, value_name = "FILE")]
    coverage: Option<PathBuf>,
    /// Write the result as JUnit XML, with the seed and the command that repeats the run.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    /// With --json: add the simulator's own speed as the last key.
    #[arg(long, requires = "json")]
    timing: bool,
}

/// A byte address, decimal or hexadecimal.
fn address(text: &str) -> Result<u64, String> {
    let parsed = match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16),
        None => text.parse(),
    };
    parsed.map_err(|_| format!("found `{text}`, expected a number or 0x and hexadecimal digits"))
}

/// Redraws of the progress line a second, few enough to cost nothing.
const PROGRESS_EVERY: Duration = Duration::from_millis(200);

impl RunArgs {
    pub fn run(mut self, out: &mut dyn Write) -> anyhow::Result<CommandStatus> {
        let request = ScenarioRequest {
            scenario: self.scenario.clone(),
            seed: self.seed,
            cycles: self.cycles,
            threads: self.threads.into(),
            stimulus: self.stimulus.take(),
            set: std::mem::take(&mut self.set),
            outputs: Outputs {
                vcd: self.vcd.take(),
                fst: self.fst.take(),
                trace: self.trace.take(),
                chart: self.chart.take(),
                dram: self.dram.take(),
                drawing: self.drawing.take(),
                chart_line: self.chart_line,
                scopes: std::mem::take(&mut self.wave_scope),
                from_fs: self.wave_from,
                to_fs: self.wave_to,
                log: self.log.take().map(|filter| {
                    // Nobody reads it any more: no reason to stop.
                    LogTo::new(filter, |line| drop(writeln!(io::stderr(), "{line}")))
                }),
            },
            modes: Modes::default(),
            external: None,
            description: None,
        };
        let own: Vec<&Path> = [&self.coverage, &self.junit].into_iter().flatten().map(PathBuf::as_path).collect();
        let inputs: Vec<&Path> =
            request.stimulus.iter().map(PathBuf::as_path).chain([Path::new(&self.scenario)]).collect();
        request.outputs.check_apart(&own, &inputs)?;
        let mut parts = own.iter().map(|path| PartFile::create(path)).collect::<Result<Vec<_>, _>>()?;
        // Draws on stderr, and only where that is a terminal.
        let bar = ProgressBar::new_spinner().with_style(
            ProgressStyle::with_template("{spinner} {msg} simulated, {elapsed}")
                .unwrap_or(ProgressStyle::default_spinner()),
        );
        let start = Instant::now();
        let mut drawn = start;
        let requests = scalepool_scenario::split(&request)?;
        let mut reports = Vec::new();
        for request in &requests {
            let mode = scalepool_scenario::find(&request.scenario).and_then(Scenario::mode).unwrap_or_default();
            let report = scalepool_scenario::run(request, &mut |t: Time| {
                if drawn.elapsed() > PROGRESS_EVERY {
                    drawn = Instant::now();
                    bar.set_message(format!("{:.1} us", t.as_fs() as f64 / 1e9));
                    bar.tick();
                }
            })?;
            reports.push((mode, report));
        }
        bar.finish_and_clear();
        for remark in reports.iter().flat_map(|(_, report)| &report.remarks) {
            let _ = writeln!(io::stderr(), "scalepool: {remark}");
        }
        self.write_files(&reports, &mut parts)?;
        let timing = timing_of(&reports, start.elapsed().as_secs_f64());
        if self.json {
            let mut form = match &reports[..] {
                [(_, report)] => report.json(),
                modes => comparison_json(request.seed, modes),
            };
            if self.health {
                let of_modes = || reports.iter().map(|(mode, report)| ((*mode).to_owned(), report.health_json()));
                let health = match &reports[..] {
                    [(_, report)] => report.health_json(),
                    _ => Value::Object(of_modes().collect()),
                };
                form.insert("health".into(), health);
            }
            if self.timing {
                form.insert("timing".into(), timing_json(&timing));
            }
            print_json(out, &Value::Object(form))?;
        } else {
            match &reports[..] {
                [(_, report)] => print(report, out)?,
                modes => print_modes(modes, out)?,
            }
            if self.where_time_goes {
                print_times(&reports, out)?;
            }
            if self.health {
                for (mode, report) in &reports {
                    let what = if reports.len() > 1 { format!("{mode}: end") } else { "end".to_owned() };
                    super::health::print(out, &what, report.links.iter().flat_map(|link| &link.health))?;
                }
            }
        }
        if !self.timing {
            let _ = writeln!(
                io::stderr(),
                "scalepool: {:.2} s, {:.2} M cycles/s, {:.2} M flits/s",
                timing.seconds,
                timing.cycles_per_s / 1e6,
                timing.flits_per_s / 1e6
            );
        }
        let broken: Vec<&PlacedViolation> = reports.iter().flat_map(|(_, report)| &report.violations).collect();
        Ok(CommandStatus::of(&broken))
    }
}

impl RunArgs {
    /// Writes coverage and results into the files that were made for them, in this order.
    fn write_files(&self, reports: &[(&str, ScenarioReport)], parts: &mut [(PartFile, File)]) -> anyhow::Result<()> {
        let named = |(mode, report): &(&str, ScenarioReport)| {
            let mode = if reports.len() > 1 { format!(", {mode}") } else { String::new() };
            format!("run {}{mode}, seed {}", self.scenario, report.seed)
        };
        let coverage = || {
            let mut all = CoverageReport::default();
            for report in reports {
                let mut one = CoverageReport::of(named(report));
                coverage::add(&mut one, &report.1.bins);
                report.1.violations.iter().for_each(|broken| one.add_broken(broken.violation.rule, 1));
                all.merge(&one);
            }
            all.to_json()
        };
        let results = || {
            let cases = reports.iter().map(|report| JunitCase {
                name: named(report),
                failures: report.1.violations.iter().map(failure).collect(),
                remarks: report.1.remarks.clone(),
            });
            junit::file(
                &format!("run {}", self.scenario),
                Some(self.seed),
                &junit::rerun_line(),
                &cases.collect::<Vec<_>>(),
            )
        };
        let texts = [self.coverage.as_ref().map(|_| coverage()), self.junit.as_ref().map(|_| results())];
        for ((part, file), text) in parts.iter_mut().zip(texts.into_iter().flatten()) {
            file.write_all(text.as_bytes()).map_err(FileError::of(part.path()))?;
            part.keep()?;
        }
        Ok(())
    }
}

fn failure(broken: &PlacedViolation) -> JunitFailure {
    JunitFailure { rule: broken.violation.rule.to_owned(), text: format!("{}: {}", broken.place, broken.violation) }
}

fn timing_of(reports: &[(&str, ScenarioReport)], seconds: f64) -> Timing {
    let flits = reports.iter().flat_map(|(_, report)| &report.flits).map(|(_, n)| n).sum();
    let cycles = reports.iter().map(|(_, report)| report.cycles).sum();
    let rate = |n: u64| if seconds > 0.0 { n as f64 / seconds } else { 0.0 };
    Timing { seconds, cycles_per_s: rate(cycles), flits_per_s: rate(flits) }
}

fn timing_json(t: &Timing) -> Value {
    json!({"seconds": t.seconds, "cycles_per_s": t.cycles_per_s.round(), "flits_per_s": t.flits_per_s.round()})
}

/// Violations shown one by one; the count above says how many there are.
const SHOWN_VIOLATIONS: usize = 20;

fn print(report: &ScenarioReport, out: &mut dyn Write) -> io::Result<()> {
    let mut table = TextTable::new(["figure", "value"]);
    for (name, value) in report.rows() {
        table.row([name, value]);
    }
    table.print(out)?;
    print_broken("", &report.violations, out)
}

/// Where the time of the lines goes: one table, a row a direction.
fn print_times(reports: &[(&str, ScenarioReport)], out: &mut dyn Write) -> io::Result<()> {
    let mut table = TextTable::new(TIME_HEAD);
    for (mode, report) in reports {
        for mut row in report.time_rows() {
            if reports.len() > 1 {
                row[0] = format!("{mode} {}", row[0]);
            }
            table.row(row);
        }
    }
    table.print(out)
}

/// One table of all modes, then what went wrong in each.
fn print_modes(modes: &[(&str, ScenarioReport)], out: &mut dyn Write) -> io::Result<()> {
    let mut table = TextTable::new(COMPARED);
    for (mode, report) in modes {
        table.row(comparison_row(mode, report));
    }
    table.print(out)?;
    for (mode, report) in modes {
        print_broken(&format!("{mode}: "), &report.violations, out)?;
    }
    Ok(())
}

fn print_broken(mode: &str, violations: &[PlacedViolation], out: &mut dyn Write) -> io::Result<()> {
    for broken in violations.iter().take(SHOWN_VIOLATIONS) {
        writeln!(out, "{mode}{}: {}", broken.place, broken.violation)?;
    }
    if violations.len() > SHOWN_VIOLATIONS {
        writeln!(out, "{mode}and {} more", violations.len() - SHOWN_VIOLATIONS)?;
    }
    Ok(())
}
