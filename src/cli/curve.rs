//! `scalepool curve`: latency against load.

use super::{CommandStatus, counted};
use clap::Args;
use scalepool_scenario::ScenarioRequest;
use scalepool_scenario::curve::{self, CurvePoint, LOAD_KEY};
use scalepool_trace::output::{self, PartFile};
use std::io::{self, Write};
use std::path::PathBuf;

/// Run a system at several loads and print rates, latencies and occupancy by class as CSV.
#[derive(Debug, Args)]
pub(super) struct CurveArgs {
    /// Name of a scenario, as `list scenarios` shows it, or the file of a system description, FILE.toml.
    system: String,
    /// Loads: FROM:TO:STEP, both ends included, or values separated by commas.
    #[arg(long, value_name = "LOADS", default_value = "0.1:0.9:0.1", value_parser = loads)]
    load: Loads,
    /// Setting that stands for the load, as `run --set` takes it. A system without `traffic.load` needs another one, such as
    /// `host.outstanding`; `describe SYSTEM` shows what there is.
    #[arg(long, value_name = "KEY", default_value = LOAD_KEY)]
    key: String,
    /// Instead of the curve, find the saturation load to within this step, up to the largest of LOADS. A load is stable if the
    /// accepted rate equals the offered one and the mean latency is below 3 times that at a load of 0.005,
    /// or at the lowest that the setting takes.
    #[arg(long, value_name = "STEP", conflicts_with = "svg", value_parser = step)]
    saturation: Option<f64>,
    /// Seed of all random numbers.
    #[arg(long, default_value_t = scalepool_scenario::DEFAULT_SEED)]
    seed: u64,
    /// End each run after this many cycles of the reference clock [default: when the work is done].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    cycles: Option<u64>,
    /// Number of threads; it does not change the result.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=256))]
    threads: u16,
    /// Change a setting, as `run` does. May be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Draw mean, p50 and p99 against load as an SVG picture.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

/// Loads of the command line.
#[derive(Debug, Clone)]
struct Loads(Vec<f64>);

fn loads(text: &str) -> Result<Loads, String> {
    curve::loads(text).map(Loads).map_err(|error| error.to_string())
}

/// Least step of a saturation load: loads are printed with six decimals.
const LEAST_STEP: f64 = 0.00001;

fn step(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|x| *x >= LEAST_STEP && *x < 1.0);
    number.ok_or_else(|| format!("found `{text}`, expected a number of {LEAST_STEP} at least and below 1"))
}

impl CurveArgs {
    pub fn run(self, out: &mut dyn Write) -> anyhow::Result<CommandStatus> {
        let request = ScenarioRequest {
            scenario: self.system.clone(),
            seed: self.seed,
            cycles: self.cycles,
            threads: self.threads.into(),
            set: self.set.clone(),
            ..ScenarioRequest::default()
        };
        if let Some(step) = self.saturation {
            let most = self.load.0.iter().copied().fold(0.0, f64::max);
            let found = curve::saturation(&request, &self.key, most, step)?;
            writeln!(out, "saturation_load,next_load,zero_load_mean_cycles")?;
            writeln!(out, "{:.6},{:.6},{:.3}", found.load, found.above, found.zero_load_cycles)?;
            return Ok(CommandStatus::Good);
        }
        if let Some(path) = &self.svg {
            output::check_apart(&[path.as_path()], &[], &[])?;
        }
        let points = self.load.0.iter().map(|&load| curve::point(&request, &self.key, load));
        let points = points.collect::<Result<Vec<CurvePoint>, _>>()?;
        if let Some(path) = &self.svg {
            PartFile::write(path, curve::svg(&self.system, &points).as_bytes())?;
        }
        out.write_all(curve::csv(&points).as_bytes())?;
        let broken: Vec<&CurvePoint> = points.iter().filter(|point| point.violations > 0).collect();
        for point in &broken {
            let found = counted(point.violations, "broken rule");
            let _ = writeln!(io::stderr(), "scalepool: at a load of {}: {found}; `run` shows them", point.load);
        }
        Ok(CommandStatus::of(&broken))
    }
}
