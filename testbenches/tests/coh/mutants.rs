//! Each rule turned off, one at a time: an exploration has to find a counterexample, and the one that the table names.

use super::cache_bench::{Op, counterexample};
use scalepool::coherence::config::CoherenceConfig;
use scalepool::proof::explore::killers::{KILLERS, Killer, SHAPE_KILLERS};
use scalepool::proof::explore::{ChartStep, Limits, search};
use scalepool::proof::flows::{FlowError, play};
use scalepool::proof::mutant::CoherenceMutant;
use scalepool::proof::replay;
use scalepool::proof::systems::cache::{ALL_REQUESTS, Setup, system as cache_system};
use scalepool::trace::jsonl::JsonlSink;
use scalepool::trace::vcd::VcdSink;
use scalepool::trace::{Hub, Sink, TraceFilter, TraceHeader};
use scalepool_testbenches::soak::is_soak;

#[test]
fn every_mutant_has_its_killer() {
    let order: Vec<usize> = KILLERS.iter().map(|k| k.mutant as usize).collect();
    let all: Vec<usize> = (0..=CoherenceMutant::ReqWaitsForOwnRequest as usize).collect();
    assert_eq!(order, all, "one row for each mutant, in their order");
}

#[test]
fn every_mutant_is_killed() {
    killed(KILLERS.iter());
}

/// Each with the rule that forbids it: there is a row for every exploration of a shape.
#[test]
fn every_forbidden_outcome_is_seen_over_cxl_cache() {
    killed(shapes_of("cxl-cache"));
}

#[test]
fn every_forbidden_outcome_is_seen_over_hdm_db() {
    killed(shapes_of("hdm-db"));
}

#[test]
fn every_forbidden_outcome_is_seen_over_hdm_d() {
    killed(shapes_of("hdm-d-"));
}

#[test]
fn every_forbidden_outcome_is_seen_over_a_bridge() {
    // Those of two lines take three quarters of the time; wrong bridges are seen by such programs in `bridge_litmus`.
    let of_one_line = ["bridge-corr", "bridge-coww", "bridge-cowr", "bridge-corw"];
    let is_run = |killer: &&Killer| is_soak() || killer.exploration.is_some_and(|name| of_one_line.contains(&name));
    killed(shapes_of("bridge-").filter(is_run));
}

fn shapes_of(protocol: &str) -> impl Iterator<Item = &'static Killer> {
    SHAPE_KILLERS.iter().filter(move |k| k.exploration.is_some_and(|e| e.starts_with(protocol)))
}

/// Finds what each row says, and that its script leads there again.
fn killed(killers: impl Iterator<Item = &'static Killer>) {
    for killer in killers {
        let Some((named, config)) = killer.case() else { continue };
        let start = named.start(config);
        // What never ends is looked for where that is what kills; with names from the beginning, since the way to a fault has names.
        let liveness = killer.rule == "COH-INV-10";
        let found = start.search(Limits { states: 800_000, liveness, ..Limits::default() }, &mut |_| ());
        let mutant = killer.mutant;
        let violation = found.violation.unwrap_or_else(|| panic!("{mutant:?} lives"));
        println!("{mutant:?}: {} after {} steps: {}", killer.rule, violation.steps.len(), violation.event);
        let chart = || format!("{mutant:?}\n{}", violation.chart().text());
        assert_eq!(violation.event.rule, killer.rule, "{}", chart());
        let words: Vec<&str> = violation.script.iter().map(String::as_str).collect();
        match start.follow(&words) {
            Err(FlowError::Broken { event, .. }) => assert!(
                event == violation.event.to_string() || ["COH-INV-09", "COH-INV-14"].contains(&killer.rule),
                "{event}\n{}",
                chart()
            ),
            other => panic!("found {other:?}, expected\n{}", chart()),
        }
    }
}

#[test]
fn a_counterexample_is_a_chart() {
    let violation = counterexample(CoherenceMutant::SharersNotSnooped, 2, false).expect("a counterexample");
    let chart = violation.chart();
    let (text, svg) = (chart.text(), chart.svg());
    // Every step has its row, the fault stands below.
    assert_eq!(text.lines().count(), violation.steps.len() + 2);
    assert!(text.contains("device 1") && text.ends_with(&format!("{}\n", violation.event)), "{text}");
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    assert_eq!(svg.matches("marker-end").count(), text.lines().filter(|l| l.contains('>') || l.contains('<')).count());
}

/// The way to the fault as trace and wave, with a message at each step, and followed again to the same end.
#[test]
fn a_counterexample_is_a_trace_and_a_wave_and_can_be_followed_again() {
    let config = CoherenceConfig { rules: CoherenceMutant::SharersNotSnooped.rules(), ..CoherenceConfig::default() };
    let start = cache_system(Setup { orders: false, ..Setup::free(config, 2, ALL_REQUESTS) });
    let violation = search(&start, Limits::default()).violation.expect("a counterexample");

    let mut hub = Hub::new(true);
    let mut places = replay::WayPlaces::new(&violation, &mut hub);
    places.record(&violation);
    let header = TraceHeader { model_version: "0".into(), run: None };
    let filter = || TraceFilter::new(&[], None, None).expect("everything");
    let (mut trace, mut wave) = (Vec::new(), Vec::new());
    {
        let mut jsonl = JsonlSink::new(&mut trace, &header, hub.places(), filter()).expect("a trace");
        let mut vcd = VcdSink::new(&mut wave, &header, hub.places(), filter()).expect("a wave");
        hub.drain_into(&mut [&mut jsonl, &mut vcd]).expect("written");
        jsonl.finish().expect("written");
        vcd.finish().expect("written");
    }
    let (trace, wave) = (String::from_utf8(trace).expect("UTF-8"), String::from_utf8(wave).expect("UTF-8"));
    let records: Vec<serde_json::Value> =
        trace.lines().skip(1).map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let taken = violation.steps.iter().filter(|s| matches!(s, ChartStep::Deliver { .. })).count();
    let of = |kind: &str| records.iter().filter(|r| r["kind"] == kind && r["message"].is_string()).count();
    assert_eq!(of("mark"), taken, "each delivery has its message");
    let sent = |step: &ChartStep| match step {
        ChartStep::Act { sent, .. } | ChartStep::Deliver { sent, .. } => sent.len(),
    };
    assert_eq!(
        of("begin"),
        violation.steps.iter().map(sent).sum::<usize>(),
        "each message that leaves, delivered or not"
    );
    let last = records.last().expect("records");
    assert_eq!(last["rule"], violation.event.rule, "{last}");
    assert_eq!(last["t_fs"], (violation.steps.len() as u64 + 1) * replay::STEP_FS);
    assert!(wave.contains("$scope module device_0 $end") && wave.contains("#1000000\n"), "{}", &wave[..2000]);

    let words: Vec<&str> = violation.script.iter().map(String::as_str).collect();
    match play("again", start, &words) {
        Err(FlowError::Broken { event, .. }) => assert_eq!(event, violation.event.to_string()),
        other => panic!("found {other:?}, expected {}", violation.event),
    }
}

/// The filter takes lines back from sharers that nobody asks: the entry leaves at once, and its copy is one without a
/// record. Neither a search nor a random run goes round in the home.
#[test]
fn a_victim_that_nobody_asks_leaves_once() {
    let rules = CoherenceMutant::SharersNotSnooped.rules();
    let config = CoherenceConfig { rules, home_filter_lines: 1, silent_drop_s: false, ..CoherenceConfig::default() };
    for queue in [0, 8] {
        let config = CoherenceConfig { home_queue_requests: queue, ..config.clone() };
        let menu = [Op::RdShared, Op::RdOwn];
        let setup = Setup { lines: 3, waiting_stores: false, orders: false, ..Setup::free(config, 2, &menu) };
        let found = search(&cache_system(setup), Limits { symmetry: true, ..Limits::default() });
        assert_eq!(found.violation.map(|v| v.event.rule), Some("COH-INV-04"));
    }
}
