//! What a run says: the figures of `run --json` and of the summary table.

use scalepool_forms::violation;
use scalepool_link::coverage::Met;
use scalepool_link::health::LinkHealth;
use scalepool_link::line_time::{LineTime, Use};
use scalepool_link::port::GIVE_UP_RULE;
pub use scalepool_nodes::PlacedViolation;
use scalepool_nodes::value_counts::ValueCounts;
use scalepool_system::draw::LinkLoad;
use scalepool_system::metric::{Metric, MetricValue};
use serde_json::{Map, Value, json};

/// Spread of a set of latencies.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Spread {
    /// Smallest.
    pub min: u64,
    /// Arithmetic mean, rounded to a thousandth when it is printed.
    pub mean: f64,
    /// Median: the smallest value that at least half of all do not exceed.
    pub p50: u64,
    /// The smallest value that at least 99 % of all do not exceed.
    pub p99: u64,
    /// Largest.
    pub max: u64,
}

impl Spread {
    /// Of any number of values, in any order; all 0 for none.
    pub fn of(values: impl IntoIterator<Item = u64>) -> Spread {
        let mut counts = ValueCounts::default();
        values.into_iter().for_each(|value| counts.add(value, 1));
        Spread::of_counts(&counts)
    }

    /// Of values that have been counted; all 0 for none.
    pub fn of_counts(counts: &ValueCounts) -> Spread {
        let counts = counts.ascending();
        let (Some(&(min, _)), Some(&(max, _))) = (counts.first(), counts.last()) else { return Spread::default() };
        let count: u64 = counts.iter().map(|(_, n)| n).sum();
        let at = |percent: u64| {
            let (rank, mut passed) = ((count * percent).div_ceil(100).max(1), 0);
            let reached = counts.iter().find(|(_, n)| {
                passed += n;
                passed >= rank
            });
            reached.map_or(max, |(value, _)| *value)
        };
        let sum: u128 = counts.iter().map(|&(value, n)| u128::from(value) * u128::from(n)).sum();
        Spread { min, mean: sum as f64 / count as f64, p50: at(50), p99: at(99), max }
    }

    fn json(&self) -> Value {
        let mean = (self.mean * 1000.0).round() / 1000.0;
        json!({"min": self.min, "mean": mean, "p50": self.p50, "p99": self.p99, "max": self.max})
    }
}

/// How fast the simulator was; never part of what has to be reproducible.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Timing {
    /// Wall-clock seconds.
    pub seconds: f64,
    /// Simulated cycles of the reference clock a second.
    pub cycles_per_s: f64,
    /// Simulated flits a second.
    pub flits_per_s: f64,
}

/// What a fabric adds to a report.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct FabricFigures {
    /// Links from source to destination, arithmetic mean; of fabrics without a protocol routers passed, those at the source and the
    /// destination counted.
    pub hops_mean: f64,
    /// Flits that a node wanted to send, a cycle of the reference clock.
    pub offered_flits_per_node_cycle: f64,
    /// Flits that a node received, a cycle of the reference clock.
    pub accepted_flits_per_node_cycle: f64,
}

/// Figures of one component or link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportPart {
    /// Path in the description.
    pub path: String,
    /// What it has counted.
    pub counts: Vec<MetricValue>,
    /// Messages that it has sent, by name.
    pub messages: Vec<(String, u64)>,
    /// Of a link: figures of its ends, by their places.
    pub health: Vec<(String, LinkHealth)>,
}

impl ReportPart {
    /// All figures by name.
    fn json(&self) -> Value {
        let counts = self.counts.iter().map(|(metric, n)| (metric.name.to_owned(), json!(n)));
        Value::Object(counts.chain(self.messages.iter().map(|(name, n)| (name.clone(), json!(n)))).collect())
    }
}

/// Result of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct ScenarioReport {
    /// Scenario name.
    pub scenario: String,
    /// Seed.
    pub seed: u64,
    /// Cycles of the reference clock.
    pub cycles: u64,
    /// Simulated time \[fs\].
    pub time_fs: u64,
    /// Wire units of CXL.cachemem that were sent, by direction: name and count.
    pub flits: Vec<(String, u64)>,
    /// Messages packed, by layout.
    pub messages: Vec<(String, u64)>,
    /// Data of finished transactions over simulated time.
    pub goodput_bytes_per_s: f64,
    /// Goodput over the rate of whole units in one direction.
    pub efficiency: f64,
    /// Request to answer, in cycles of the reference clock.
    pub latency_cycles: Spread,
    /// The same \[fs\].
    pub latency_fs: Spread,
    /// Req sequences sent.
    pub retries: u64,
    /// Units that a fault input damaged and the link repaired.
    pub errors_repaired: u64,
    /// Flit clocks in which a message waited for a credit.
    pub credit_stalls: u64,
    /// Where the time of each direction of the links has gone, of all links together. Directions that a caller drives are left out.
    pub where_time_goes: Vec<(String, LineTime)>,
    /// Loads of all links, by path, for a drawing; the report itself has `where_time_goes`.
    pub link_loads: Vec<(String, LinkLoad)>,
    /// Figures of a fabric, if there is one.
    pub fabric: Option<FabricFigures>,
    /// Mean number of flits in buffers by class, of fabrics of routers.
    pub occupancy: Vec<(String, f64)>,
    /// Further counts of the scenario, by group.
    pub counts: Vec<(String, u64)>,
    /// Coverage points: group, rows met, rows in all.
    pub coverage: Vec<(String, u64, u64)>,
    /// The same bin by bin.
    pub bins: Vec<Met>,
    /// Figures of each component of a description.
    pub components: Vec<ReportPart>,
    /// Figures of each link of a description.
    pub links: Vec<ReportPart>,
    /// What a peer did against a rule, or what was not repaired.
    pub violations: Vec<PlacedViolation>,
    /// What the caller should know and no figure says; in no form of the report.
    pub remarks: Vec<String>,
}

/// Uses of the time that is offered to a line, in the order of reports; with idle it is all.
const OFFERED: [Use; 6] = [Use::Payload, Use::Headers, Use::Packing, Use::Credits, Use::Control, Use::Replay];

/// The form of `run --json` of a direction: bit times.
fn time_json(time: &LineTime) -> Value {
    let mut map = Map::new();
    map.insert("line".into(), json!(time.total()));
    map.insert("idle".into(), json!(time.of(Use::Idle)));
    map.insert("offered".into(), json!(time.total() - time.of(Use::Idle)));
    map.extend(OFFERED.map(|of| (of.name().into(), json!(time.of(of)))));
    Value::Object(map)
}

/// Head of the table of `--where-time-goes`; shares of the time of the line.
pub const TIME_HEAD: [&str; 9] = [
    "direction",
    "offered [%]",
    "payload [%]",
    "headers [%]",
    "packing [%]",
    "credits [%]",
    "control [%]",
    "replay [%]",
    "idle [%]",
];

impl FabricFigures {
    /// Keys of the JSON form and their values.
    fn pairs(&self) -> [(&'static str, f64); 3] {
        [
            ("hops_mean", self.hops_mean),
            ("offered_flits_per_node_cycle", self.offered_flits_per_node_cycle),
            ("accepted_flits_per_node_cycle", self.accepted_flits_per_node_cycle),
        ]
    }
}

impl ScenarioReport {
    /// The form of `run --json`, without timing.
    pub fn json(&self) -> Map<String, Value> {
        let counts = |list: &[(String, u64)]| Value::Object(list.iter().map(|(k, v)| (k.clone(), json!(v))).collect());
        let violations = self.violations.iter().map(|b| {
            let mut v = violation::to_json(&b.violation);
            if let Value::Object(map) = &mut v {
                map.insert("where".into(), json!(b.place));
            }
            v
        });
        let mut map = Map::new();
        map.insert("scenario".into(), json!(self.scenario));
        map.insert("seed".into(), json!(self.seed));
        map.insert("cycles".into(), json!(self.cycles));
        map.insert("time_fs".into(), json!(self.time_fs));
        let total = |list: &[(String, u64)]| json!(list.iter().map(|(_, n)| n).sum::<u64>());
        map.insert("flits".into(), total(&self.flits));
        map.insert("messages".into(), total(&self.messages));
        map.insert("goodput_bytes_per_s".into(), json!(self.goodput_bytes_per_s.round() as u64));
        map.insert("efficiency".into(), json!((self.efficiency * 1e6).round() / 1e6));
        map.insert("latency_cycles".into(), self.latency_cycles.json());
        map.insert("latency_fs".into(), self.latency_fs.json());
        map.insert("retries".into(), json!(self.retries));
        map.insert("errors_repaired".into(), json!(self.errors_repaired));
        map.insert("credit_stalls".into(), json!(self.credit_stalls));
        if let Some(fabric) = &self.fabric {
            for (key, value) in fabric.pairs() {
                map.insert(key.into(), json!((value * 1e6).round() / 1e6));
            }
        }
        if !self.occupancy.is_empty() {
            let means = self.occupancy.iter().map(|(class, mean)| (class.clone(), json!((mean * 1e6).round() / 1e6)));
            map.insert("occupancy".into(), Value::Object(means.collect()));
        }
        map.insert("flits_by_direction".into(), counts(&self.flits));
        map.insert("messages_by_class".into(), counts(&self.messages));
        map.insert("counts".into(), counts(&self.counts));
        let coverage = self.coverage.iter().map(|(g, met, of)| (g.clone(), json!({"met": met, "of": of}))).collect();
        map.insert("coverage".into(), Value::Object(coverage));
        let directions = self.where_time_goes.iter().map(|(name, time)| (name.clone(), time_json(time))).collect();
        map.insert("where_time_goes".into(), json!({"unit": "bit times", "directions": Value::Object(directions)}));
        for (key, parts) in [("components", &self.components), ("links", &self.links)] {
            let of_part = |part: &ReportPart| (part.path.clone(), part.json());
            if !parts.is_empty() {
                map.insert(key.into(), Value::Object(parts.iter().map(of_part).collect()));
            }
        }
        map.insert("metrics".into(), self.metrics_json());
        map.insert("violations".into(), violations.collect());
        map
    }

    /// The figures of every link end, by its place: what `run --json --health` adds.
    pub fn health_json(&self) -> Value {
        let ends = self.links.iter().flat_map(|link| &link.health);
        Value::Object(ends.map(|(end, health)| (end.clone(), Value::Object(health.json()))).collect())
    }

    /// Every count of a component or link in this report: its unit, and what the system makes of several of them.
    fn metrics_json(&self) -> Value {
        let mut all: Vec<&Metric> = Vec::new();
        for (metric, _) in self.components.iter().chain(&self.links).flat_map(|part| &part.counts) {
            if !all.iter().any(|known| known.name == metric.name) {
                all.push(metric);
            }
        }
        // A list, so that whoever looks for the key of a count in the text finds numbers alone.
        all.into_iter().map(|m| json!({"name": m.name, "unit": m.unit, "total": m.total.name()})).collect()
    }

    /// Moves the first finding of a rule in front of all others, and says with it at which bit error rate the links ran.
    pub fn put_first(&mut self, rule: &str, ber: f64) {
        let Some(at) = self.violations.iter().position(|b| b.violation.rule == rule) else { return };
        let mut first = self.violations.remove(at);
        if rule != GIVE_UP_RULE && ber > 0.0 {
            first.violation.text += &format!(", at a bit error rate of {ber:e}");
        }
        self.violations.insert(0, first);
    }

    /// Rows of the table of `--where-time-goes`, see [`TIME_HEAD`].
    pub fn time_rows(&self) -> Vec<[String; 9]> {
        let row = |(name, time): &(String, LineTime)| {
            let percent = |bits: u64| match time.total() {
                0 => "-".to_owned(),
                all => format!("{:.2}", 100.0 * bits as f64 / all as f64),
            };
            let [payload, headers, packing, credits, control, replay] = OFFERED.map(|of| percent(time.of(of)));
            let idle = time.of(Use::Idle);
            let offered = percent(time.total() - idle);
            [name.clone(), offered, payload, headers, packing, credits, control, replay, percent(idle)]
        };
        self.where_time_goes.iter().map(row).collect()
    }

    /// Rows of the summary table: name, value.
    pub fn rows(&self) -> Vec<(String, String)> {
        let spread =
            |s: &Spread| format!("min {}  mean {:.1}  p50 {}  p99 {}  max {}", s.min, s.mean, s.p50, s.p99, s.max);
        let ns = |s: &Spread| {
            let ns = |fs: u64| format!("{:.1}", fs as f64 / 1e6);
            let (min, p50, p99, max) = (ns(s.min), ns(s.p50), ns(s.p99), ns(s.max));
            format!("min {min}  mean {:.1}  p50 {p50}  p99 {p99}  max {max}", s.mean / 1e6)
        };
        let mut rows = vec![
            ("scenario".into(), self.scenario.clone()),
            ("seed".into(), self.seed.to_string()),
            ("cycles".into(), self.cycles.to_string()),
            ("time".into(), format!("{:.3} us", self.time_fs as f64 / 1e9)),
        ];
        rows.extend(self.flits.iter().map(|(k, v)| (format!("flits {k}"), v.to_string())));
        rows.extend(self.messages.iter().map(|(k, v)| (format!("messages {k}"), v.to_string())));
        rows.push(("goodput".into(), format!("{:.3} GB/s", self.goodput_bytes_per_s / 1e9)));
        rows.push(("efficiency".into(), format!("{:.2} %", 100.0 * self.efficiency)));
        rows.push(("latency [cycles]".into(), spread(&self.latency_cycles)));
        rows.push(("latency [ns]".into(), ns(&self.latency_fs)));
        rows.push(("retries".into(), self.retries.to_string()));
        rows.push(("errors repaired".into(), self.errors_repaired.to_string()));
        rows.push(("credit stalls [flit clocks]".into(), self.credit_stalls.to_string()));
        if let Some(fabric) = &self.fabric {
            rows.extend(fabric.pairs().map(|(key, value)| (key.replace('_', " "), format!("{value:.4}"))));
        }
        rows.extend(self.counts.iter().map(|(k, v)| (k.clone(), v.to_string())));
        let coverage = self.coverage.iter().map(|(g, met, of)| format!("{g} {met} of {of}"));
        rows.push(("coverage".into(), coverage.collect::<Vec<_>>().join(", ")));
        rows.push(("violations".into(), self.violations.len().to_string()));
        rows
    }
}

/// Head of the table of a comparison.
pub const COMPARED: [&str; 9] = [
    "mode",
    "goodput [GB/s]",
    "efficiency [%]",
    "latency mean [ns]",
    "p50 [ns]",
    "p99 [ns]",
    "flits down",
    "flits up",
    "retries",
];

/// The row of a mode in the table of a comparison.
pub fn comparison_row(mode: &str, r: &ScenarioReport) -> [String; 9] {
    let ns = |fs: u64| format!("{:.1}", fs as f64 / 1e6);
    let flits = |n: usize| r.flits.get(n).map_or(0, |(_, count)| *count).to_string();
    [
        mode.to_owned(),
        format!("{:.3}", r.goodput_bytes_per_s / 1e9),
        format!("{:.2}", 100.0 * r.efficiency),
        format!("{:.1}", r.latency_fs.mean / 1e6),
        ns(r.latency_fs.p50),
        ns(r.latency_fs.p99),
        flits(0),
        flits(1),
        r.retries.to_string(),
    ]
}

/// The form of `run --json` of a comparison: one object with the list `modes`.
pub fn comparison_json(seed: u64, reports: &[(&str, ScenarioReport)]) -> Map<String, Value> {
    let modes = reports.iter().map(|(mode, report)| {
        let mut map = Map::new();
        map.insert("mode".into(), json!(mode));
        map.extend(report.json());
        Value::Object(map)
    });
    let mut map = Map::new();
    map.insert("seed".into(), json!(seed));
    map.insert("modes".into(), modes.collect());
    map
}
