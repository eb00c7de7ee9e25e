//! Load-latency curves: one run for each load, and the load at which a system saturates.
//!
//! Modelled: nothing; the runs are those of `scalepool run`. A walk through one curve: the setting that stands for the load gets each
//! value in turn; of each report the latency, the rates and the occupancy are kept. Saturation is the highest load at which
//! what is offered is accepted and the mean latency stays under a multiple of that without load, found by halving the range.

use super::report::{ScenarioReport, Spread};
use super::{RunError, ScenarioRequest, builtin, described};
use scalepool_link::line_time::Use;
use scalepool_system::field::FieldRange;
use std::fmt::Write;

/// The setting that stands for the load where nobody names another.
pub const LOAD_KEY: &str = "traffic.load";

/// Load at which there is next to no waiting: the mean latency there is that without load. Where the setting takes none as low,
/// the lowest that it takes.
pub const ZERO_LOAD: f64 = 0.005;

/// A stable load has at most this multiple of the mean latency without load (our own choice, as published simulations).
const STABLE_LATENCY: f64 = 3.0;

/// A stable load is accepted but for this share, which is what differs between the ends of a window.
const NOT_ACCEPTED: f64 = 0.02;

/// One run.
#[derive(Debug, Clone, PartialEq)]
pub struct CurvePoint {
    /// Value of the setting.
    pub load: f64,
    /// Flits a node and cycle that were offered and accepted, of fabrics.
    pub rates: Option<[f64; 2]>,
    /// Latency in cycles of the reference clock.
    pub latency: Spread,
    /// Mean occupancy by class: flits in buffers of a virtual channel, or the share of the time of a line.
    pub occupancy: Vec<(String, f64)>,
    /// Broken rules.
    pub violations: usize,
}

/// Why there is no such list of loads.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "found the loads `{0}`, expected FROM:TO:STEP such as 0.1:0.9:0.1 with at most 1000 values, or values separated by commas"
)]
pub struct LoadsError(pub String);

/// Loads of `0.1:0.9:0.1`, both ends included, or of `0.1,0.2`.
///
/// # Errors
/// Another form, or more than 1000 values.
pub fn loads(text: &str) -> Result<Vec<f64>, LoadsError> {
    let refused = || LoadsError(text.to_owned());
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|x| x.is_finite()).ok_or_else(refused);
    let parts = text.split(':').collect::<Vec<_>>();
    let [from, to, step] = parts[..] else {
        let all: Vec<f64> = text.split(',').map(number).collect::<Result<_, _>>()?;
        return if all.len() <= 1000 { Ok(all) } else { Err(refused()) };
    };
    let (from, to, step) = (number(from)?, number(to)?, number(step)?);
    // A step that does not quite divide the range still reaches its end.
    let count = ((to - from) / step + 1e-6).floor();
    if step <= 0.0 || !(0.0..1000.0).contains(&count) {
        return Err(refused());
    }
    Ok((0..=count as u32).map(|n| ((from + f64::from(n) * step) * 1e9).round() / 1e9).collect())
}

/// Runs a system at one load.
///
/// # Errors
/// Anything that keeps it from running.
pub fn point(request: &ScenarioRequest, key: &str, load: f64) -> Result<CurvePoint, RunError> {
    let mut request = request.clone();
    request.set.push(format!("{key}={load}"));
    let report = super::run(&request, &mut |_| ())?;
    Ok(CurvePoint {
        load,
        rates: report.fabric.map(|f| [f.offered_flits_per_node_cycle, f.accepted_flits_per_node_cycle]),
        latency: report.latency_cycles,
        occupancy: occupancy(&report),
        violations: report.violations.len(),
    })
}

/// Flits in buffers by class; of systems that count none how much of the time of each direction of their links is taken.
fn occupancy(report: &ScenarioReport) -> Vec<(String, f64)> {
    if !report.occupancy.is_empty() {
        return report.occupancy.clone();
    }
    let taken = report.where_time_goes.iter().map(|(direction, time)| {
        let all = time.total().max(1) as f64;
        (direction.clone(), 1.0 - time.of(Use::Idle) as f64 / all)
    });
    taken.collect()
}

/// The highest stable load, and the mean latency without load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Saturation {
    /// Highest load that was found stable.
    pub load: f64,
    /// Lowest load above it that was found not to be; the highest load there is if none was.
    pub above: f64,
    /// Mean latency without load \[cycles\].
    pub zero_load_cycles: f64,
}

/// The load at which the mean latency counts as that without load.
fn least_load(request: &ScenarioRequest, key: &str) -> Result<f64, RunError> {
    let description = described::description(request, builtin(request)?)?;
    match description.range_of(key) {
        Some(FieldRange::Real(low, _)) => Ok(ZERO_LOAD.max(low)),
        // The run says that there is no such key.
        None => Ok(ZERO_LOAD),
        Some(other) => Err(RunError::NoLoad { key: key.to_owned(), found: other.to_string() }),
    }
}

/// Looks for the highest stable load up to `most`, to within a step.
///
/// # Errors
/// Anything that keeps the system from running, a setting that takes no load, or a run that measured no latency.
pub fn saturation(request: &ScenarioRequest, key: &str, most: f64, step: f64) -> Result<Saturation, RunError> {
    let least = least_load(request, key)?.min(most);
    let measured = |load: f64| {
        let point = point(request, key, load)?;
        let is_empty = point.latency == Spread::default();
        if is_empty { Err(RunError::NothingMeasured { key: key.to_owned(), load }) } else { Ok(point) }
    };
    let zero_load_cycles = measured(least)?.latency.mean;
    let is_stable = |load: f64| -> Result<bool, RunError> {
        let point = measured(load)?;
        let is_accepted = point.rates.is_none_or(|[offered, accepted]| accepted >= (1.0 - NOT_ACCEPTED) * offered);
        Ok(is_accepted && point.latency.mean < STABLE_LATENCY * zero_load_cycles)
    };
    let (mut load, mut above) = (least, most);
    if is_stable(most)? {
        return Ok(Saturation { load: most, above: most, zero_load_cycles });
    }
    while above - load > step.max(1e-6) {
        let middle = (load + above) / 2.0;
        if is_stable(middle)? { load = middle } else { above = middle }
    }
    Ok(Saturation { load, above, zero_load_cycles })
}

/// A curve as CSV, with a head.
pub fn csv(points: &[CurvePoint]) -> String {
    let classes: Vec<&str> =
        points.first().map_or_else(Vec::new, |point| point.occupancy.iter().map(|(class, _)| class.as_str()).collect());
    let mut text = "load,offered_flits_per_node_cycle,accepted_flits_per_node_cycle,latency_mean_cycles,latency_p50_cycles,latency_p99_cycles".to_owned();
    classes.iter().for_each(|class| text += &format!(",occupancy_{}", class.replace([' ', ','], "_")));
    text.push('\n');
    for CurvePoint { load, rates, latency, occupancy, .. } in points {
        let [offered, accepted] = rates.map_or([String::new(), String::new()], |all| all.map(|x| format!("{x:.6}")));
        // Nothing was measured: a latency of 0 would be read as one.
        let _ = if *latency == Spread::default() {
            write!(text, "{load},{offered},{accepted},,,")
        } else {
            write!(text, "{load},{offered},{accepted},{:.3},{},{}", latency.mean, latency.p50, latency.p99)
        };
        occupancy.iter().for_each(|(_, mean)| text += &format!(",{mean:.6}"));
        text.push('\n');
    }
    text
}

/// Size of the picture, and where its axes lie.
const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 440.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 690.0;
const TOP: f64 = 50.0;
const BOTTOM: f64 = 390.0;

/// The lines of the picture: name, colour, value.
type CurveLine = (&'static str, &'static str, fn(&CurvePoint) -> f64);

const LINES: [CurveLine; 3] = [
    ("mean", "#1f5fa8", |point| point.latency.mean),
    ("p50", "#3a8f3a", |point| point.latency.p50 as f64),
    ("p99", "#b03030", |point| point.latency.p99 as f64),
];

/// A curve as a picture: mean, p50 and p99 of latency against load.
pub fn svg(title: &str, points: &[CurvePoint]) -> String {
    let most = |of: &dyn Fn(&CurvePoint) -> f64| points.iter().map(of).fold(0.0, f64::max).max(1e-9);
    let (right, high) = (most(&|point| point.load), most(&|point| (LINES[2].2)(point)));
    let x = |load: f64| LEFT + (RIGHT - LEFT) * load / right;
    let y = |cycles: f64| BOTTOM - (BOTTOM - TOP) * cycles / high;
    let escaped = title.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"{LEFT}\" y=\"30\" font-size=\"16\">{escaped}: latency [cycles] against load</text>\n\
         <path d=\"M{LEFT} {TOP} V{BOTTOM} H{RIGHT}\" fill=\"none\" stroke=\"#333\"/>\n"
    );
    for n in 0..=5 {
        let (load, cycles) = (right * f64::from(n) / 5.0, high * f64::from(n) / 5.0);
        let _ = writeln!(
            text,
            "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{load:.3}</text>\n\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{cycles:.0}</text>",
            x(load),
            BOTTOM + 18.0,
            LEFT - 8.0,
            y(cycles) + 4.0,
        );
    }
    for (n, (name, colour, of)) in LINES.into_iter().enumerate() {
        let places: Vec<String> = points.iter().map(|p| format!("{:.1},{:.1}", x(p.load), y(of(p)))).collect();
        let _ = writeln!(
            text,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>\n\
             <text x=\"{}\" y=\"{}\" fill=\"{colour}\">{name}</text>",
            places.join(" "),
            LEFT + 20.0,
            TOP + 18.0 + 16.0 * n as f64,
        );
    }
    text.push_str("</svg>\n");
    text
}
