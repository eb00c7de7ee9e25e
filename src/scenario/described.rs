//! Scenarios that are descriptions: those that come with the program, and files of users.
//!
//! A walk through one: the description is read and its settings applied; the system is built; its figures become the
//! report, those of components first, then those of links.

use super::drive::{Built, Ended};
use super::report::{FabricFigures, PlacedViolation, ReportPart, ScenarioReport, Spread};
use super::settings::{ON_OFF, SettingKey, SettingRange};
use super::{MODE, RunError, Scenario, ScenarioRequest};
use scalepool_coherence::chart::Chart;
use scalepool_coherence::clocked::sequence::{Extent, Sequence};
use scalepool_coherence::content::LineAddr;
use scalepool_kernel::SimError;
use scalepool_link::coverage::Met;
use scalepool_link::line_time::LineTime;
use scalepool_memory::dram::trace;
use scalepool_nodes::cxl::memory::KeptCommands;
use scalepool_nodes::value_counts::ValueCounts;
use scalepool_protocols::wire::Violation;
use scalepool_system::build::{Figures, Run, assemble};
use scalepool_system::builtin::{self, Builtin};
use scalepool_system::description::{Description, Short};
use scalepool_system::design::System;
use scalepool_system::draw::Drawing;
use scalepool_system::field::FieldRange;
use scalepool_system::kind::ExternalComponent;
use scalepool_system::measured::{ComponentMeasured, Ending, LinkMeasured, NodeTraffic, Offered, PacketTraffic};
use scalepool_system::metric::{self, Totals};
use scalepool_system::problem::Problems;
use scalepool_trace::filter::WatchedPlaces;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// A file of a description, and no name of a scenario.
pub fn is_file(scenario: &str) -> bool {
    scenario.ends_with(".toml")
}

/// A description of the user, as a file or as a text.
pub fn is_description(request: &ScenarioRequest) -> bool {
    request.description.is_some() || is_file(&request.scenario)
}

/// A text that lives as long as the program: scenarios are made once.
fn kept(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

/// A short name as a key of a scenario.
pub fn key_of(short: &Short) -> SettingKey {
    let range = match short.field.range {
        FieldRange::Int(low, high) => SettingRange::Int(low, high),
        FieldRange::Real(low, high) => SettingRange::Real(low, high),
        FieldRange::Words(words) => SettingRange::Words(words),
        FieldRange::OneOf(numbers) => {
            let words: Vec<&'static str> = numbers.iter().map(|n| kept(n.to_string())).collect();
            SettingRange::Words(Vec::leak(words))
        }
        FieldRange::Switch => ON_OFF,
        FieldRange::Text(what) | FieldRange::Texts(what) => SettingRange::List(what),
        FieldRange::Table(_) | FieldRange::Tables(_) => SettingRange::List("fields"),
    };
    SettingKey {
        name: kept(short.name.clone()),
        default: kept(short.default.clone()),
        unit: short.field.unit.name(),
        range,
        doc: short.field.doc,
    }
}

/// What a description of the program says of its scenario.
#[derive(Debug)]
pub struct ScenarioKeys {
    /// Settings.
    pub keys: &'static [SettingKey],
    /// Whether there is a chart of its messages.
    pub has_chart: bool,
}

/// Scenarios of descriptions that come with the program.
pub fn scenarios(of: &'static [Builtin]) -> Vec<Scenario> {
    let name = |builtin: &Builtin| builtin.file.trim_end_matches(".toml");
    of.iter()
        .map(|one| Scenario { name: name(one), builtin: one, told: OnceLock::new(), doc: OnceLock::new() })
        .collect()
}

fn resolved(builtin: &Builtin) -> System {
    let sound = |problems| unreachable!("the descriptions of the program are sound: {problems}");
    parse(builtin).resolve().unwrap_or_else(sound)
}

/// What a scenario models.
pub fn about(builtin: &Builtin) -> &'static str {
    kept(parse(builtin).title().1)
}

/// Whether another scenario differs from this one in the kinds of its links alone: same components, same values, same joints.
fn is_one_of_several(builtin: &Builtin, system: &System) -> bool {
    // Most have other components, which their texts show; to resolve all of them takes nine tenths of a short run.
    let components =
        |one: &Builtin| one.text.lines().filter(|line| line.starts_with("[component.")).collect::<Vec<_>>();
    let has_mode = |one: &Builtin| parse(one).shorts().iter().any(|short| short.name == MODE);
    let (own, shape) = (components(builtin), system.shape());
    let is_like = |one: &&Builtin| one.file != builtin.file && components(one) == own && has_mode(one);
    builtin::ALL.iter().filter(is_like).any(|one| resolved(one).shape() == shape)
}

/// Reads the description of a scenario.
pub fn told(builtin: &'static Builtin) -> ScenarioKeys {
    let (description, system) = (parse(builtin), resolved(builtin));
    let key = |short: &Short| {
        let key = key_of(short);
        // Where several scenarios differ in the kind of a link alone, each stands for one kind.
        let range = kinds(&system, &short.paths[0]).filter(|_| !is_one_of_several(builtin, &system));
        SettingKey { range: range.unwrap_or(key.range), ..key }
    };
    let keys: Vec<SettingKey> = description.shorts().iter().map(key).collect();
    ScenarioKeys { keys: Vec::leak(keys), has_chart: system.is_coherent() }
}

/// The kinds that a link can have, if that is what a path stands for.
fn kinds(system: &System, path: &str) -> Option<SettingRange> {
    let name = path.strip_prefix("link.")?.strip_suffix(".kind")?;
    let link = system.links.iter().find(|link| link.path.split('[').next() == Some(name))?;
    let [taken, also] = link.ports.map(|(component, port)| system.components[component].ports[port].decl.links);
    Some(SettingRange::Words(Vec::leak(taken.iter().copied().filter(|kind| also.contains(kind)).collect())))
}

fn parse(builtin: &Builtin) -> Description {
    Description::parse(builtin.file, PathBuf::new(), builtin.text)
        .unwrap_or_else(|problems| unreachable!("the descriptions of the program are sound: {problems}"))
}

/// The description of a request, with its settings.
///
/// # Errors
/// A file that cannot be read, or a setting that is refused.
pub fn description(request: &ScenarioRequest, builtin: Option<&'static Builtin>) -> Result<Description, Problems> {
    let mut description = match (builtin, &request.description) {
        (Some(builtin), _) => parse(builtin),
        (None, Some(text)) => Description::parse("text", PathBuf::new(), text)?,
        (None, None) => Description::open(Path::new(&request.scenario))?,
    };
    request.set.iter().try_for_each(|text| description.set(text))?;
    Ok(description)
}

/// The system of a request.
///
/// # Errors
/// All that is wrong with the description.
pub fn system(request: &ScenarioRequest, builtin: Option<&'static Builtin>) -> Result<System, RunError> {
    let mut system = description(request, builtin)?.resolve()?;
    if let Some(found) = &request.external {
        let ports = || system.components.iter().flat_map(|c| c.ports.iter().map(|port| port.path.as_str()));
        let expected = ports().collect::<Vec<_>>().join(", ");
        let refused = || RunError::External { found: found.clone(), expected };
        let is_it =
            |c: &&mut scalepool_system::design::ComponentInstance| c.ports.iter().any(|port| port.path == *found);
        match system.components.iter_mut().find(is_it) {
            Some(component) if component.ports.len() == 1 => {
                component.external = ExternalComponent::of(component.kind, ExternalComponent::Flits.name());
                component.external.ok_or_else(refused)?;
            }
            _ => return Err(refused()),
        }
    }
    Ok(system)
}

/// Builds a description.
///
/// # Errors
/// Anything that keeps it from running.
pub fn build(
    request: &ScenarioRequest,
    builtin: Option<&'static Builtin>,
    watched: WatchedPlaces,
) -> Result<Built, RunError> {
    build_watched(request, system(request, builtin)?, watched)
}

/// Builds a system that runs to its end with the outputs of the request.
///
/// # Errors
/// A stimulus that cannot be used, or links that lead to the wrong components.
pub fn build_system(request: &ScenarioRequest, system: System) -> Result<Built, RunError> {
    build_watched(request, system, request.outputs.watched())
}

fn build_watched(request: &ScenarioRequest, system: System, watched: WatchedPlaces) -> Result<Built, RunError> {
    if request.outputs.chart.is_some() && !system.is_coherent() {
        return Err(RunError::no_chart(request));
    }
    let (name, warnings) = (system.name.clone(), system.warnings.lines());
    let chart = request.outputs.chart.is_some().then(|| extent(request));
    let (seed, stimulus) = (request.seed, request.stimulus.clone());
    let keeps_dram_commands = request.outputs.dram.is_some();
    let drawing = request.outputs.drawing.is_some().then(|| Drawing::of(&system));
    let assembly = assemble(system, Run { seed, stimulus, chart, litmus: None, watched, keeps_dram_commands })?;
    let (chart, drawn) = (assembly.chart.clone(), assembly.chart);
    let (num, den) = assembly.figures.reference.period();
    let figures = Rc::new(assembly.figures);
    let has_dram = || figures.components().iter().any(|(_, measured)| measured.dram_commands.is_some());
    if keeps_dram_commands && !has_dram() {
        return Err(RunError::NoDram { found: request.scenario.clone() });
    }
    let with_dram = figures.clone();
    let (ber, stall_limit_fs) = (figures.ber, figures.settle_fs);
    Ok(Built {
        sim: assembly.sim,
        hub: assembly.hub,
        identity: assembly.canonical,
        ber,
        clock_fs: num.div_ceil(den),
        stall_limit_fs,
        stimulus: assembly.digest,
        ports: assembly.ports,
        placements: assembly.placements,
        report: Box::new(move |request, ended| {
            let mut report = report(&name, request, &figures, ended)?;
            report.remarks.extend_from_slice(&warnings);
            if drawn.as_deref().is_some_and(|drawn| open(drawn).is_empty()) {
                let line = request.outputs.chart_line.map_or(String::new(), |a| format!(" of the line of {a:#x}"));
                report.remarks.push(format!("the chart is empty: no message{line} in its window"));
            }
            Ok(report)
        }),
        chart: chart.map(|chart| Box::new(move || open(&chart).chart()) as Box<dyn Fn() -> Chart>),
        dram: Box::new(move || dram_traces(&with_dram)),
        drawing,
    })
}

/// Commands of the memories that keep them, as the text of a trace, by path; of a memory with several DRAMs also by their number, in which a
/// buffer comes before what is behind it.
fn dram_traces(figures: &Figures) -> Vec<(String, String)> {
    let kept = figures.components().into_iter().filter_map(|(path, measured)| Some((path, measured.dram_commands?)));
    let texts = kept.flat_map(|(path, of_memory)| {
        let is_one = of_memory.len() == 1;
        of_memory.into_iter().enumerate().map(move |(n, KeptCommands { preset, commands })| {
            let name = if is_one { path.to_owned() } else { format!("{path}.dram[{n}]") };
            (name, std::iter::once(trace::header(&preset)).chain(commands.iter().map(trace::line)).collect())
        })
    });
    texts.collect()
}

/// What a chart shall show.
fn extent(request: &ScenarioRequest) -> Extent {
    let outputs = &request.outputs;
    Extent {
        from_fs: outputs.from_fs.unwrap_or(0),
        to_fs: outputs.to_fs,
        line: outputs.chart_line.map(LineAddr::of_address),
    }
}

fn open(sequence: &Mutex<Sequence>) -> MutexGuard<'_, Sequence> {
    sequence.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds counts to counts, by name, in the order in which names come first.
fn add<'a>(all: &mut Vec<(String, u64)>, more: impl IntoIterator<Item = (&'a str, u64)>) {
    for (name, n) in more {
        match all.iter_mut().find(|(known, _)| known == name) {
            Some((_, sum)) => *sum += n,
            None => all.push((name.to_owned(), n)),
        }
    }
}

fn part_of_component(path: &str, measured: &ComponentMeasured) -> ReportPart {
    let mut figures = Totals::default();
    figures.add(measured.counts.iter().copied());
    figures.add([(&metric::BYTES, measured.bytes), (&metric::VIOLATIONS, measured.broken.len() as u64)]);
    let messages = measured.messages.iter().filter(|(_, n)| *n > 0).cloned().collect();
    ReportPart { path: path.to_owned(), counts: figures.counts().collect(), messages, health: Vec::new() }
}

fn part_of_link(path: &str, measured: &LinkMeasured) -> ReportPart {
    let [down, up] = measured.units;
    let mut figures = Totals::default();
    figures.add([
        (&metric::UNITS_DOWN, down),
        (&metric::UNITS_UP, up),
        (&metric::RETRIES, measured.retries),
        (&metric::DAMAGED, measured.damaged),
        (&metric::CREDIT_STALLS, measured.credit_stalls),
    ]);
    figures.add(measured.counts.iter().copied());
    figures.add([(&metric::LINK_VIOLATIONS, measured.broken.len() as u64)]);
    ReportPart {
        path: path.to_owned(),
        counts: figures.counts().collect(),
        messages: measured.messages.clone(),
        health: measured.health.clone(),
    }
}

fn report(name: &str, request: &ScenarioRequest, figures: &Figures, ended: Ended) -> Result<ScenarioReport, RunError> {
    if let Err(SimError::Build(e)) = ended {
        return Err(RunError::Build(SimError::Build(e)));
    }
    let ending = Ending::of(&ended);
    let (components, links) = (figures.components(), figures.links(&ending));
    let of_links = || links.iter().map(|(.., link)| link);
    let of_components = || components.iter().map(|(_, component)| component);
    let mut violations: Vec<PlacedViolation> = of_links().flat_map(|link| link.broken.iter().cloned()).collect();
    violations.extend(of_components().flat_map(|component| component.broken.iter().cloned()));
    if ending.at_rest {
        violations.extend(of_links().flat_map(|link| link.astray.iter().cloned()));
        violations.extend(of_components().flat_map(|component| component.astray.iter().cloned()));
    }
    // What is lost with a link is told by its ends, and what is lost in isolation by its originator.
    let is_whole = of_links().all(|link| link.is_whole);
    if ending.well && is_whole && !of_components().any(|component| component.is_isolated) {
        violations.extend(figures.lost(&ending, request.threads));
    }
    // A check that ends the run leaves work open, which is no news.
    let has_stopped = of_components().any(|component| component.has_stopped);
    if let (Err(e), false) = (&ended, has_stopped) {
        let violation = Violation::at_byte("SIM-E2E-03", 0, "open work", "none", e.to_string());
        violations.push(PlacedViolation { place: "simulation".into(), violation });
    }
    let time_fs = ending.at.as_fs();
    let (num, den) = figures.reference.period();
    let bytes: u64 = of_components().map(|component| component.bytes).sum();
    // From the first request to the last answer: the time in which links come up is no traffic.
    let asking = || of_components().filter(|component| !component.latencies.is_empty() || component.to_fs.is_some());
    let from_fs = asking().map(|component| component.from_fs).min().unwrap_or(0);
    let to_fs = asking().map(|component| component.to_fs.unwrap_or(time_fs)).max().unwrap_or(time_fs);
    let active_fs = to_fs.saturating_sub(from_fs);
    let goodput = if active_fs == 0 { 0.0 } else { bytes as f64 / (active_fs as f64 / 1e15) };
    let asked = figures.asked_bytes_per_s;
    let (mut messages, mut coverage, mut totals) = (Vec::new(), Vec::new(), Totals::default());
    for component in of_components() {
        totals.add(component.counts.iter().copied());
        add(&mut messages, component.messages.iter().map(|(name, n)| (name.as_str(), *n)));
    }
    messages.retain(|(_, n)| *n > 0);
    let (mut flits, mut where_time_goes) = (Vec::new(), Vec::new());
    for (n, (_, names, link)) in [0, 1].into_iter().flat_map(|n| links.iter().map(move |link| (n, link))) {
        add(&mut flits, [(names[n], link.units[n])]);
        link.times[n].into_iter().for_each(|time| add_time(&mut where_time_goes, names[n], &time));
    }
    for link in of_links() {
        if !link.is_counted_by_agents {
            add(&mut messages, link.messages.iter().map(|(name, n)| (name.as_str(), *n)));
        }
        totals.add(link.counts.iter().copied());
        add_coverage(&mut coverage, &link.coverage);
    }
    let rows = of_components().flat_map(|component| &component.rows).chain(of_links().flat_map(|link| &link.rows));
    let rows = sums(rows);
    coverage.extend(rows.iter().map(|met| (met.group.to_owned(), met.count(), met.bins.len() as u64)));
    let mut bins = sums(of_links().flat_map(|link| &link.coverage));
    bins.extend(rows);
    let (mut latency_cycles, mut latency_fs) = (ValueCounts::default(), ValueCounts::default());
    of_components().for_each(|component| component.latencies.count(&mut latency_cycles, &mut latency_fs));
    let cycles = (u128::from(time_fs) * u128::from(den) / u128::from(num)) as u64;
    let mut buffered = Vec::new();
    of_components().for_each(|component| add(&mut buffered, component.buffered.iter().copied()));
    let repaired = ending.well && is_whole;
    let sum = |of: fn(&LinkMeasured) -> u64| of_links().map(of).sum::<u64>();
    Ok(ScenarioReport {
        remarks: Vec::new(),
        scenario: name.to_owned(),
        seed: request.seed,
        cycles,
        time_fs,
        flits,
        messages,
        goodput_bytes_per_s: goodput,
        efficiency: if asked > 0.0 { goodput / asked } else { 0.0 },
        latency_cycles: Spread::of_counts(&latency_cycles),
        latency_fs: Spread::of_counts(&latency_fs),
        retries: sum(|link| link.retries),
        errors_repaired: if repaired { sum(|link| link.damaged) } else { 0 },
        credit_stalls: sum(|link| link.credit_stalls),
        where_time_goes,
        link_loads: links.iter().map(|(path, _, link)| ((*path).to_owned(), link.load())).collect(),
        fabric: packets(&components, ending.clocks((num, den)))
            .or_else(|| fabric(&components, active_fs * den / num.max(1))),
        occupancy: buffered.into_iter().map(|(class, spent)| (class, spent as f64 / cycles.max(1) as f64)).collect(),
        counts: totals.counts().map(|(metric, n)| (metric.name.to_owned(), n)).collect(),
        coverage,
        bins,
        components: components.iter().map(|(path, measured)| part_of_component(path, measured)).collect(),
        links: links.iter().map(|(path, _, measured)| part_of_link(path, measured)).collect(),
        violations,
    })
}

/// Figures of nodes around switches; `cycles` of the reference clock from the first request to the last answer.
fn fabric(components: &[(&str, ComponentMeasured)], cycles: u64) -> Option<FabricFigures> {
    let hops_mean = components.iter().filter_map(|(_, component)| component.hops_mean).reduce(f64::max)?;
    let nodes: Vec<NodeTraffic> = components.iter().filter_map(|(_, component)| component.traffic).collect();
    let per_cycle = |flits: u64| if cycles == 0 { 0.0 } else { flits as f64 / cycles as f64 };
    // The sum of no numbers is -0.
    let sum = |of: &dyn Fn(&NodeTraffic) -> f64| nodes.iter().map(of).fold(0.0, |sum, one| sum + one);
    let mean = |of: &dyn Fn(&NodeTraffic) -> f64| sum(of) / nodes.len().max(1) as f64;
    Some(FabricFigures {
        hops_mean,
        offered_flits_per_node_cycle: mean(&|node| match node.offered {
            Offered::PerCycle(flits) => flits,
            Offered::Flits(flits) => per_cycle(flits),
        }),
        accepted_flits_per_node_cycle: mean(&|node| per_cycle(node.accepted_flits)),
    })
}

/// Figures of nodes without a protocol, in their window of time; `cycles` edges of the reference clock were run.
fn packets(components: &[(&str, ComponentMeasured)], cycles: u64) -> Option<FabricFigures> {
    let all = components.iter().filter_map(|(_, component)| component.packets);
    let PacketTraffic { nodes, from_cycle, cycles: window, offered_flits, accepted_flits, packets, hops } = all
        .reduce(|sum, one| PacketTraffic {
            nodes: sum.nodes + one.nodes,
            from_cycle: sum.from_cycle.min(one.from_cycle),
            cycles: sum.cycles.max(one.cycles),
            offered_flits: sum.offered_flits + one.offered_flits,
            accepted_flits: sum.accepted_flits + one.accepted_flits,
            packets: sum.packets + one.packets,
            hops: sum.hops + one.hops,
        })?;
    // A run that was cut short has had less time.
    let node_cycles = nodes * window.min(cycles.saturating_sub(from_cycle));
    let share = |n: u64, of: u64| if of == 0 { 0.0 } else { n as f64 / of as f64 };
    Some(FabricFigures {
        hops_mean: share(hops, packets),
        offered_flits_per_node_cycle: share(offered_flits, node_cycles),
        accepted_flits_per_node_cycle: share(accepted_flits, node_cycles),
    })
}

fn add_time(all: &mut Vec<(String, LineTime)>, name: &str, time: &LineTime) {
    match all.iter_mut().find(|(known, _)| known == name) {
        Some((_, sum)) => sum.merge(time),
        None => all.push((name.to_owned(), *time)),
    }
}

/// Hits of groups of one name are summed.
fn sums<'a>(parts: impl Iterator<Item = &'a Met>) -> Vec<Met> {
    let mut all: Vec<Met> = Vec::new();
    for met in parts {
        match all.iter_mut().find(|known| (known.protocol, known.group) == (met.protocol, met.group)) {
            Some(known) => known.add(met),
            None => all.push(met.clone()),
        }
    }
    all
}

/// Rows met of links of one kind are summed with all their rows.
fn add_coverage(all: &mut Vec<(String, u64, u64)>, more: &[Met]) {
    for met in more {
        let (count, of) = (met.count(), met.bins.len() as u64);
        match all.iter_mut().find(|(known, ..)| known == met.group) {
            Some((_, all_met, all_of)) => {
                *all_met += count;
                *all_of += of;
            }
            None => all.push((met.group.to_owned(), count, of)),
        }
    }
}
