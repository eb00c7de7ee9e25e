//! Each rule of CXL.cache turned off, one at a time: the exploration has to find a counterexample.
//!
//! First states and values alone (V1 to V4, V9, V14 and what the agents report), so that the harm of the missing rule is
//! seen; where nothing comes of it, the monitors of the order rules (V6, V8).

use scalepool::coherence::cache::system::{ALL_REQUESTS, CacheSystem, Setup};
use scalepool::coherence::chart::Chart;
use scalepool::coherence::config::{CleanEvictAnswer, CoherenceConfig};
use scalepool::coherence::explore::{Limits, Step, Violation, search};
use scalepool::coherence::flows::{FlowError, play};
use scalepool::coherence::mutant::Mutant;
use scalepool::coherence::replay;
use scalepool::trace::jsonl::JsonlSink;
use scalepool::trace::vcd::VcdSink;
use scalepool::trace::{Filter, Header, Hub, Sink};

/// The way to the first fault of a mutant.
fn counterexample(mutant: Mutant, devices: usize, orders: bool) -> Option<Violation> {
    let config =
        CoherenceConfig { mutant: Some(mutant), clean_evict: CleanEvictAnswer::Pull, ..CoherenceConfig::default() };
    let mut setup = Setup::free(config, devices, ALL_REQUESTS);
    setup.orders = orders;
    search(&CacheSystem::new(setup), Limits { states: 400_000, symmetry: true }).violation
}

/// Mutant, the rule that the counterexample breaks, and whether only a monitor of the order rules sees it.
///
/// `GrantedHoldsSnoop` does no harm to states and values here: the data that the device waits for always comes, since a
/// snoop does not block H2D Data. It is against §2.4 all the same (a D2H Rsp depends on nothing), which O7's monitor says.
const KILLERS: &[(Mutant, &str, bool)] = &[
    (Mutant::SnoopPassesGo, "COH-ORD-06", false),
    (Mutant::HomeDoesNotBlock, "COH-REQ-20", false),
    (Mutant::SnoopDuringPull, "COH-REQ-20", false),
    (Mutant::SnoopBetweenDataAndGo, "COH-ORD-06", false),
    (Mutant::SnoopWaitsForRequest, "COH-INV-09", false),
    (Mutant::GoBeforeAnswers, "COH-INV-04", false),
    (Mutant::EvictUntracksAll, "COH-INV-04", false),
    (Mutant::UseAfterEvict, "COH-INV-01", false),
    (Mutant::BogusNotSet, "COH-EVT-03", false),
    (Mutant::BogusWritten, "COH-INV-03", false),
    (Mutant::GrantedAnswersAsInvalid, "COH-INV-04", false),
    (Mutant::GrantedHoldsSnoop, "COH-ORD-07", true),
    (Mutant::OldBytesKept, "COH-INV-02", false),
    (Mutant::StaleEvictClearsOwner, "COH-INV-04", false),
    (Mutant::CurrentDataCleansOwner, "COH-EVT-03", false),
    (Mutant::SharersNotSnooped, "COH-INV-04", false),
    (Mutant::DirtyDropped, "COH-INV-03", false),
    (Mutant::CopyKeptUnderSnpInv, "COH-INV-04", false),
];

#[test]
fn every_mutant_of_cxl_cache_is_killed() {
    for &(mutant, killer, orders) in KILLERS {
        let violation = counterexample(mutant, 2, orders).unwrap_or_else(|| panic!("{mutant:?} lives"));
        println!("{mutant:?}: {killer} after {} steps: {}", violation.steps.len(), violation.event);
        assert_eq!(violation.event.rule, killer, "{mutant:?}\n{}\n{}", violation.event, Chart::of(&violation).text());
    }
}

#[test]
fn a_counterexample_is_a_chart() {
    let violation = counterexample(Mutant::SharersNotSnooped, 2, false).expect("a counterexample");
    let chart = Chart::of(&violation);
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
    let config = CoherenceConfig { mutant: Some(Mutant::SharersNotSnooped), ..CoherenceConfig::default() };
    let start = CacheSystem::new(Setup { orders: false, ..Setup::free(config, 2, ALL_REQUESTS) });
    let violation = search(&start, Limits::default()).violation.expect("a counterexample");

    let mut hub = Hub::new(true);
    let mut taps = replay::places(&violation, &mut hub);
    replay::record(&violation, &mut taps);
    let header = Header { model_version: "0".into(), scenario_hash: String::new(), seed: 0 };
    let filter = || Filter::new(&[], None, None).expect("everything");
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
    let taken = violation.steps.iter().filter(|s| matches!(s, Step::Deliver { .. })).count();
    let of = |kind: &str| records.iter().filter(|r| r["kind"] == kind && r["message"].is_string()).count();
    assert_eq!(of("mark"), taken, "each delivery has its message");
    let last = records.last().expect("records");
    assert_eq!(last["rule"], violation.event.rule, "{last}");
    assert_eq!(last["t_fs"], (violation.steps.len() as u64 + 1) * replay::STEP_FS);
    assert!(wave.contains("$scope module device_0 $end") && wave.contains("#1000000\n"), "{}", &wave[..2000]);

    let script = replay::script(&violation);
    let words: Vec<&str> = script.iter().map(String::as_str).collect();
    match play("again", start, &words) {
        Err(FlowError::Broken { event, .. }) => assert_eq!(event, violation.event.to_string()),
        other => panic!("found {other:?}, expected {}", violation.event),
    }
}
