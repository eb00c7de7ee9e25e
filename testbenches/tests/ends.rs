//! Every setting of every scenario at the ends of its range: a run ends well, or with a named reason, and with nothing else.
//!
//! The profile that tests are built in checks arithmetic, so an overflow is a panic here.

use scalepool::nodes::PlacedViolation;
use scalepool::scenario::drive::Live;
use scalepool::scenario::settings::{SettingKey, SettingRange};
use scalepool::scenario::{RunError, SCENARIOS, Scenario, ScenarioRequest};
use scalepool_testbenches::soak::is_soak;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Cycles of the reference clock of each run, in `make soak` three times as many.
const CYCLES: u64 = 500;
/// The same where links with large buffers take so long to come up.
const CYCLES_UALINK: u64 = 2500;
/// Cycles between two looks at the time.
const STEP: u64 = 1;
/// Longest time of a run; all settings at their upper ends together simulate a thousand links for seconds of their time.
const LONGEST: Duration = Duration::from_secs(2);

/// Values at the ends of a range; of words all.
fn ends(key: &SettingKey) -> Vec<String> {
    match key.range {
        SettingRange::Int(low, high) => vec![low.to_string(), high.to_string()],
        SettingRange::Real(low, high) => vec![low.to_string(), high.to_string()],
        SettingRange::Words(words) => words.iter().map(|word| word.to_string()).collect(),
        SettingRange::List(_) => Vec::new(),
    }
}

/// Whether a run says that it has stalled. A link that cannot work has a rule of its own, which stands first, and behind it
/// what is open; a time-out or a link that has left Up is told by the component that saw it.
fn is_stall(broken: &PlacedViolation) -> bool {
    broken.place == "simulation" && !broken.violation.text.starts_with("given up at")
}

/// Runs a scenario; what is wrong with how it ends.
fn wrong(scenario: &Scenario, set: &[String]) -> Option<String> {
    let times = if is_soak() { 3 } else { 1 };
    let cycles = times * if scenario.name.starts_with("ualink") { CYCLES_UALINK } else { CYCLES };
    let request = ScenarioRequest {
        scenario: scenario.name.into(),
        seed: 1,
        cycles: Some(cycles),
        set: set.to_vec(),
        ..ScenarioRequest::default()
    };
    let begun = Instant::now();
    let run = || -> Result<Option<String>, RunError> {
        let mut live = Live::new(&request)?;
        while !live.is_over() && begun.elapsed() < LONGEST {
            live.run_until(Some(live.cycle() + STEP), &mut |_| ())?;
        }
        let found = live.report()?.violations;
        Ok(found.iter().find(|broken| is_stall(broken)).map(|broken| format!("{}: {}", broken.place, broken.violation)))
    };
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(Ok(stalled)) => stalled,
        Ok(Err(RunError::Build(e))) => Some(format!("not refused: {e}")),
        // A setting that is refused, with its name.
        Ok(Err(_)) => None,
        Err(cause) => {
            let text = cause.downcast_ref::<String>().cloned();
            Some(text.or_else(|| cause.downcast_ref::<&str>().map(|text| text.to_string())).unwrap_or_default())
        }
    }
}

/// Runs all cases on two threads; fails with those that end as none may.
fn all(cases: Vec<(&'static Scenario, Vec<String>)>) {
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some((scenario, set)) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            let begun = Instant::now();
            let wrong = wrong(scenario, set);
            if std::env::var_os("ENDS_VERBOSE").is_some() && (wrong.is_some() || begun.elapsed().as_secs() > 1) {
                eprintln!("{} {} {:?}: {:?}", scenario.name, set.join(" "), begun.elapsed(), wrong);
            }
            found.lock().unwrap().extend(wrong.map(|text| format!("{} {}: {text}", scenario.name, set.join(" "))));
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        scope.spawn(work);
    });
    let found = found.into_inner().unwrap();
    assert!(found.is_empty(), "{} of {} runs:\n{}", found.len(), cases.len(), found.join("\n"));
}

fn set(key: &SettingKey, value: &str) -> String {
    format!("{}={value}", key.name)
}

/// What a scenario is made smaller by, where the setting that is looked at is another one: fewer parts, and no more accesses than
/// the cycles of a run have time for, since all of them are named when it begins. `make soak` has it whole.
fn smaller(scenario: &Scenario) -> Vec<String> {
    if is_soak() {
        return Vec::new();
    }
    let settings: &[&str] = match scenario.name {
        "pbr-rack" => &["rack.leaves=2", "rack.spines=2", "rack.per_leaf=2", "host.accesses=600"],
        _ if scenario.keys().iter().any(|key| key.name == "host.accesses") => &["host.accesses=600"],
        _ => &[],
    };
    settings.iter().map(|&text| text.to_owned()).collect()
}

#[test]
fn each_setting_at_both_ends_of_its_range() {
    // The same setting of the same component or link belongs to many scenarios: it is tried in one of them, in `make soak` in all.
    let (mut cases, mut tried) = (Vec::new(), BTreeSet::new());
    for scenario in SCENARIOS.iter() {
        for key in scenario.keys() {
            // What it is, and so of which component, is in its text.
            if tried.insert((key.name, key.doc, ends(key))) || is_soak() {
                let with = |end: String| smaller(scenario).into_iter().chain([set(key, &end)]).collect();
                cases.extend(ends(key).into_iter().map(|end| (scenario, with(end))));
            }
        }
    }
    all(cases);
}

/// A scenario with every setting at one of its ends.
fn together(s: &'static Scenario, of: fn(Vec<String>) -> Option<String>) -> (&'static Scenario, Vec<String>) {
    (s, s.keys().iter().filter_map(|key| of(ends(key)).map(|end| set(key, &end))).collect())
}

/// At its upper ends it has 16,384 links and cycles of 1 us, of which one takes minutes: that is for `make soak`.
const LARGE: &str = "ualink-pod";

#[test]
fn all_settings_at_the_same_end() {
    let lower = SCENARIOS.iter().map(|s| together(s, |ends| ends.first().cloned()));
    let upper = SCENARIOS.iter().filter(|s| s.name != LARGE).map(|s| together(s, |ends| ends.last().cloned()));
    all(lower.chain(upper).collect());
}

/// Every two settings of a scenario at all ends of both; some 40,000 runs, for `make soak`.
#[test]
fn soak_every_two_settings_at_their_ends() {
    if !is_soak() {
        return;
    }
    let mut cases = Vec::new();
    for scenario in SCENARIOS.iter() {
        cases.extend((scenario.name == LARGE).then(|| together(scenario, |ends| ends.last().cloned())));
        for (n, one) in scenario.keys().iter().enumerate() {
            for two in &scenario.keys()[n + 1..] {
                let pairs = ends(one).into_iter().flat_map(|a| ends(two).into_iter().map(move |b| (a.clone(), b)));
                cases.extend(pairs.map(|(a, b)| (scenario, vec![set(one, &a), set(two, &b)])));
            }
        }
    }
    all(cases);
}

/// Time that a setting asks for is no stall, however slow the clock is in which it counts: a late start, a pause between operations, a
/// slow memory, a slow switch or link, a long training.
#[test]
fn a_long_wait_of_its_own_is_no_stall() {
    let cases: [(&str, &[&str]); 7] = [
        ("nvlink-pod", &["traffic.requests=2", "switch.hop_fs=1099511627776"]),
        ("ualink-pod", &["traffic.operations=2", "accel.timeout_fs=9000000000000", "switch.latency_fs=1099511627776"]),
        (
            "cxl68-expander",
            &["host.accesses=30", "link.ber=1e-4", "link.max_num_retry=1", "link.retrain_fs=50000000000000"],
        ),
        ("bias-flip", &["core.accesses=60", "link.ber=2e-4", "link.retrain_fs=30000000000000"]),
        ("ualink-pair", &["traffic.operations=3", "traffic.start_cycles=1073741824"]),
        ("ualink-pair", &["traffic.operations=3", "traffic.interval_cycles=9000000"]),
        ("cxl68-expander", &["host.accesses=3", "device.latency_cycles=1073741824"]),
    ];
    for (scenario, set) in cases {
        let set: Vec<String> = set.iter().map(|text| text.to_string()).collect();
        let request =
            ScenarioRequest { scenario: scenario.into(), seed: 1, set: set.clone(), ..ScenarioRequest::default() };
        let report = scalepool::scenario::run(&request, &mut |_| ()).expect("it runs");
        assert_eq!(report.violations, [], "{scenario} {set:?}");
    }
}

/// A time-out is said under the rule of the watchdog, by a run that ends and answers every operation. Where the UPLI is
/// modelled, its watchdog says it too.
#[test]
fn isolation_is_reported_under_its_rule() {
    for (upli, of_upli) in [("on", 8), ("off", 0)] {
        let set = ["accel.timeout_fs=1", "traffic.operations=50", &format!("upli.model={upli}")];
        let set = set.map(str::to_owned).into();
        let request = ScenarioRequest { scenario: "ualink-pair".into(), seed: 1, set, ..ScenarioRequest::default() };
        let report = scalepool::scenario::run(&request, &mut |_| ()).expect("it runs");
        assert!(report.violations.iter().all(|b| b.violation.rule == "UAL-UPL-14"), "{:?}", report.violations);
        let places: Vec<&str> = report.violations.iter().map(|b| b.place.as_str()).collect();
        let own: Vec<&str> = places.iter().copied().filter(|place| ["accel[0]", "accel[1]"].contains(place)).collect();
        assert_eq!((own, places.len()), (vec!["accel[0]", "accel[1]"], 2 + of_upli), "upli.model={upli}");
        let count = |name: &str| report.counts.iter().find(|(n, _)| n == name).expect("counted").1;
        assert_eq!(count("operations") + count("dummy answers"), 100);
    }
}
