//! Where the time of every link goes: the parts are the whole, in every scenario with links, and they are what was sent.
//!
//! And what a link does that cannot work, or that noise keeps from coming to rest.

use scalepool::link::line_time::{LineTime, USES, Use};
use scalepool::scenario::report::ScenarioReport;
use scalepool::scenario::{self, ScenarioRequest};
use scalepool_testbenches::soak::is_soak;
use serde_json::Value;

fn run(scenario: &str, seed: u64, set: &[&str]) -> ScenarioReport {
    let request = ScenarioRequest {
        scenario: scenario.into(),
        seed,
        threads: 1,
        set: set.iter().map(|s| (*s).to_owned()).collect(),
        ..ScenarioRequest::default()
    };
    scenario::run(&request, &mut |_| ()).unwrap_or_else(|e| panic!("{scenario} {set:?}: {e}"))
}

/// The parts of every direction are its whole, in the JSON form, which is what a user adds up.
fn assert_sums(report: &ScenarioReport, what: &str) {
    let json = report.json();
    let directions =
        json["where_time_goes"]["directions"].as_object().unwrap_or_else(|| panic!("{what}: no directions"));
    assert_eq!(directions.len(), 2, "{what}");
    for (name, time) in directions {
        let of = |key: &str| time[key].as_u64().unwrap_or_else(|| panic!("{what}: {name} has no {key}"));
        let parts = ["payload", "headers", "packing", "credits", "control", "replay"].map(of);
        assert_eq!(of("offered"), parts.iter().sum::<u64>(), "{what}: {name}");
        assert_eq!(of("line"), of("offered") + of("idle"), "{what}: {name}");
        assert!(of("line") > 0 && of("offered") > 0, "{what}: {name} carries nothing");
        assert_eq!(time.as_object().map(serde_json::Map::len), Some(9), "{what}: {name}");
    }
    assert_eq!(json["where_time_goes"]["unit"], Value::from("bit times"));
}

fn times(report: &ScenarioReport) -> impl Iterator<Item = &LineTime> {
    report.where_time_goes.iter().map(|(_, time)| time)
}

fn sum(report: &ScenarioReport, of: Use) -> u64 {
    times(report).map(|time| time.of(of)).sum()
}

fn count(report: &ScenarioReport, name: &str) -> u64 {
    report.counts.iter().find(|(n, _)| n == name).map_or(0, |(_, n)| *n)
}

/// Bits of a line of 64 bytes.
const LINE_BITS: u64 = 512;

#[test]
fn the_parts_are_the_whole_of_every_expander() {
    // Of a unit of each kind, and how long one takes at x16 and 32 or 64 GT/s \[fs\].
    for scenario in ["cxl68-expander", "cxl256-expander", "cxl256-lopt-expander", "cxl-pbr-pair"] {
        for pattern in ["reads", "writes", "mix"] {
            let pattern = format!("host.pattern={pattern}");
            for more in [&[][..], &["link.ber=1e-5"], &["link.buffers=2"], &["link.credits_hold=500"]] {
                let set: Vec<&str> =
                    [pattern.as_str(), "host.accesses=600"].into_iter().chain(more.iter().copied()).collect();
                let report = run(scenario, 3, &set);
                let what = format!("{scenario} {set:?}");
                assert_eq!(report.violations, [], "{what}");
                assert_sums(&report, &what);
                let payload: Vec<u64> = times(&report).map(|time| time.of(Use::Payload)).collect();
                assert_eq!(
                    payload,
                    [count(&report, "writes") * LINE_BITS, count(&report, "reads") * LINE_BITS],
                    "{what}: lines written go down, lines read go up, each once"
                );
                if more.is_empty() {
                    assert_eq!(sum(&report, Use::Replay), 0, "{what}");
                }
                if more == ["link.ber=1e-5"] && scenario == "cxl68-expander" {
                    assert!(sum(&report, Use::Replay) > 0, "{what}");
                }
                if more == ["link.buffers=2"] {
                    assert!(sum(&report, Use::Credits) > 0, "{what}");
                }
            }
        }
    }
}

#[test]
fn the_parts_are_the_whole_of_every_coherent_link() {
    for scenario in ["cxl-cache-pair", "hdm-db-share", "snoop-filter-thrash", "bias-flip"] {
        for mode in ["cxl-68b", "cxl-256b", "cxl-256b-lopt"] {
            let mode = format!("link.mode={mode}");
            let set = [mode.as_str(), "core.accesses=200", "link.ber=1e-6"];
            let request = ScenarioRequest {
                scenario: scenario.into(),
                set: set.map(str::to_owned).into(),
                ..ScenarioRequest::default()
            };
            // Not every scenario has every mode.
            if scenario::check(&request).is_err() {
                continue;
            }
            let report = run(scenario, 1, &set);
            assert_eq!(report.violations, [], "{scenario} {mode}");
            assert_sums(&report, &format!("{scenario} {mode}"));
        }
    }
}

#[test]
fn the_parts_are_the_whole_of_cxl_io() {
    for mode in ["cxl-68b", "cxl-256b", "cxl-256b-lopt", "cxl-256b-pbr"] {
        for cachemem in ["off", "on"] {
            let (host, device) = (format!("link.mode={mode}"), format!("device.mode={mode}"));
            let cachemem = format!("link.cachemem={cachemem}");
            let report = run("cxlio-enumerate", 1, &[&host, &device, &cachemem, "host.accesses=20", "link.ber=1e-6"]);
            assert_eq!(report.violations, [], "{mode} {cachemem}");
            assert_sums(&report, &format!("{mode} {cachemem}"));
            assert!(sum(&report, Use::Payload) > 0 && sum(&report, Use::Control) > 0, "{mode} {cachemem}");
        }
    }
}

#[test]
fn the_parts_are_the_whole_of_every_ualink() {
    for mix in ["reads", "writes", "mix", "all"] {
        let mix = format!("traffic.mix={mix}");
        let small = ["link.pool_commands=4", "link.pool_data=8", "link.vc_commands=0", "link.vc_data=0"];
        for more in [&[][..], &["link.ber=1e-6"], &["link.authentication=auth"], &small] {
            let set: Vec<&str> =
                [mix.as_str(), "traffic.operations=300"].into_iter().chain(more.iter().copied()).collect();
            let report = run("ualink-pair", 1, &set);
            assert_eq!(report.violations, [], "{set:?}");
            assert_sums(&report, &format!("{set:?}"));
            if mix != "traffic.mix=all" {
                assert_eq!(sum(&report, Use::Payload), 2 * 300 * 256 * 8, "{set:?}");
            }
            if more == small {
                assert!(sum(&report, Use::Credits) > 0, "{set:?}");
            }
        }
    }
    let report = run("ualink-pod", 1, &["traffic.operations=50"]);
    assert_sums(&report, "ualink-pod");
}

#[test]
fn the_parts_are_the_whole_of_every_nvlink() {
    for pattern in ["mix", "reads", "writes", "stream"] {
        let pattern = format!("traffic.pattern={pattern}");
        for more in ["link.ber=0", "link.ber=1e-5", "link.headers=4", "link.generation=2"] {
            let report = run("nvlink-pair", 1, &[&pattern, more, "traffic.requests=100"]);
            assert_eq!(report.violations, [], "{pattern} {more}");
            assert_sums(&report, &format!("{pattern} {more}"));
        }
    }
    assert_sums(&run("nvlink-pod", 1, &["traffic.requests=20"]), "nvlink-pod");
}

/// DL flits in TL flits, and code words without a flit (`ualink` §15).
const BEHIND_TL: f64 = 628.0 / 640.0 * 1023.0 / 1024.0;

/// Shares of the uses of a line in steady state, both directions together: the difference of two runs has neither their start
/// nor their end.
fn steady(mix: &str, more: &[&str]) -> [f64; USES] {
    let uses = |operations: u64| {
        let operations = format!("traffic.operations={operations}");
        let mix = format!("traffic.mix={mix}");
        let set: Vec<&str> = [mix.as_str(), &operations].into_iter().chain(more.iter().copied()).collect();
        let report = run("ualink-pair", 1, &set);
        assert_eq!(report.violations, [], "{set:?}");
        Use::ALL.map(|of| sum(&report, of) as f64)
    };
    // Few operations of all kinds are not yet as many of each as the closed form has.
    let times = if is_soak() || mix == "all" { 2 } else { 1 };
    let (few, many) = (uses(times * 1000), uses(times * 4000));
    let bits: Vec<f64> = many.iter().zip(few).map(|(many, few)| many - few).collect();
    std::array::from_fn(|n| bits[n] / bits.iter().sum::<f64>())
}

/// Sheet `ualink` §15: 5 operations of 256 bytes in 21 TL flits, with the buffers of channels and pool as they are by default,
/// and with large ones.
#[test]
fn a_ualink_reaches_its_closed_form_with_every_mix() {
    let closed_form = 1280.0 / 1344.0 * BEHIND_TL;
    for mix in ["reads", "writes", "mix"] {
        for more in [&[][..], &["accel.outstanding=4096", "link.pool_commands=4096", "link.pool_data=16384"]] {
            let shares = steady(mix, more);
            let of = |of: Use| shares[of as usize];
            let what = format!("{mix} {more:?}: {shares:?}");
            assert!(of(Use::Payload) > 0.998 * closed_form, "expected {closed_form:.4}: {what}");
            assert!(of(Use::Packing) < 0.002 && of(Use::Credits) < 0.001, "{what}");
            assert!(of(Use::Idle).abs() < 0.001 && of(Use::Replay) == 0.0, "{what}");
        }
    }
}

/// Sectors of an operation of `traffic.mix=all` in mean: of its data, and of all with the response and one field of credits
/// for 7 commands of a kind, as many as it returns (`ualink` §9, §10).
fn sectors_of_all() -> [f64; 2] {
    /// Byte in the block, and bytes, each with its chance.
    type Extents = Vec<(f64, u32, u32)>;
    let within = |unit: u32| -> Extents {
        let units = 256 / unit;
        let from = |first: u32| (1..=units - first).map(move |n| (first, n, units - first));
        let each = (0..units).flat_map(from);
        each.map(|(first, n, rest)| (1.0 / f64::from(units) / f64::from(rest), unit * first, unit * n)).collect()
    };
    let whole = within(64);
    let any: Extents = whole.iter().map(|&(chance, at, bytes)| (0.75 * chance, at, bytes)).collect();
    let any = any.into_iter().chain(within(4).into_iter().map(|(chance, at, bytes)| (0.25 * chance, at, bytes)));
    let (any, atomic): (Extents, Extents) = (any.collect(), vec![(1.0, 0, 8)]);
    // In 8 operations: how many, where they go, whether they are compressed, times that their data go, byte enables.
    let kinds = [
        (3.0, &any, true, 1, false),
        (2.0, &whole, true, 1, false),
        (1.0, &any, true, 1, true),
        (1.0, &atomic, false, 2, true),
        (1.0, &atomic, false, 1, true),
    ];
    let (mut data, mut rest) = (0.0, 1.0 / 7.0);
    for (of_8, extents, compresses, times, enables) in kinds {
        for &(chance, at, bytes) in extents {
            let chance = of_8 / 8.0 * chance;
            let is_whole = at % 64 == 0 && bytes % 64 == 0;
            let request = if compresses && is_whole { 2 } else { 4 };
            data += chance * f64::from(16 * times * ((at + bytes).div_ceil(64) - at / 64));
            rest += chance * f64::from(request + 1 + if enables { 8 } else { 0 });
        }
    }
    [data, data + rest]
}

/// Operations of any size, half of them with byte enables or operands of a few bytes, in a closed form of the same numbers.
#[test]
fn a_ualink_reaches_the_closed_form_of_any_operations() {
    let [data, all] = sectors_of_all();
    let closed_form = data / all * BEHIND_TL;
    assert!((closed_form - 0.7827).abs() < 0.0001, "{closed_form}");
    let shares = steady("all", &["accel.outstanding=4096"]);
    let is = shares[Use::Payload as usize];
    assert!((is / closed_form - 1.0).abs() < 0.01, "{is:.4}, expected {closed_form:.4}: {shares:?}");
}

// ---- links that cannot work, or cannot rest ----------------------------------------------------------------------------

#[test]
fn sim_lnk_01_p() {
    // As noisy as the links of the sheets may be: nobody gives up, and the run ends although no instant is quiet.
    let seeds = if is_soak() { 1..=3 } else { 1..=1 };
    let [requests, accesses] = if is_soak() { [200, 300] } else { [100, 150] };
    for seed in seeds {
        let report = run("nvlink-pair", seed, &["link.ber=1e-4", &format!("traffic.requests={requests}")]);
        assert_eq!(report.violations, [], "seed {seed}");
        let set = ["link.ber=1e-4", "link.propagation_fs=300000000", &format!("host.accesses={accesses}")];
        let report = run("cxl68-expander", seed, &set);
        assert_eq!(report.violations, [], "seed {seed}");
        assert_eq!(count(&report, "line accesses"), accesses, "seed {seed}");
    }
}

/// A request without its answer is no goodput, a posted one that no FLUSH has covered neither; and a link with one fault, of which the
/// first replay brings what was lost, is not given up after one.
#[test]
fn what_was_not_answered_is_no_goodput() {
    for pattern in ["traffic.pattern=reads", "traffic.pattern=writes"] {
        let request = ScenarioRequest {
            scenario: "nvlink-pair".into(),
            set: vec![pattern.into()],
            cycles: Some(300),
            threads: 1,
            ..ScenarioRequest::default()
        };
        let report = scenario::run(&request, &mut |_| ()).expect("it runs");
        assert_eq!((report.goodput_bytes_per_s, report.efficiency), (0.0, 0.0), "{pattern}");
    }
    let report = run("nvlink-pair", 1, &["link.fault=flip:13:121", "link.give_up=1"]);
    assert_eq!(report.violations, []);
}

#[test]
fn sim_lnk_01_n() {
    let scenarios =
        ["cxl68-expander", "cxl256-expander", "cxl256-lopt-expander", "cxl-cache-pair", "ualink-pair", "nvlink-pair"];
    for scenario in scenarios {
        // One link of the pair of GPUs says what four of them say.
        let one = (scenario == "nvlink-pair").then_some("link.count=1");
        // One of the links tries as often as it does by default.
        let as_often = ["cxl68-expander", if is_soak() { "cxl256-expander" } else { "" }];
        let fewer = (!as_often.contains(&scenario)).then_some("link.give_up=16");
        let set: Vec<&str> = std::iter::once("link.ber=0.1").chain(one).chain(fewer).collect();
        let report = run(scenario, 1, &set);
        let first = report.violations.first().unwrap_or_else(|| panic!("{scenario} is broken"));
        assert_eq!(first.violation.rule, "SIM-LNK-01", "{scenario}: {}", first.violation);
        assert!(first.violation.text.contains("bit error rate of 1e-"), "{scenario}: {}", first.violation);
        assert_sums(&report, scenario);
        let simulation = report.violations.iter().find(|b| b.place == "simulation").expect("work is open");
        let text = &simulation.violation.text;
        assert!(text.starts_with("given up at"), "{text}");
        for line in text.lines().filter(|line| line.contains("link is down") || line.contains("link has stopped")) {
            assert!(!line.contains("since 0 fs"), "{scenario}: {line}");
        }
    }
}

/// Where every ALMP is damaged, no link layer gets as far as asking for a training itself: those that the ARB/MUX asks for
/// count too. Each takes 1 us, and 64 in vain are enough.
#[test]
fn trainings_that_an_arb_mux_asks_for_count() {
    let modes = ["link.mode=cxl-68b", "device.mode=cxl-68b", "link.retrain_fs=1000000000", "link.give_up=64"];
    let noisy = ["link.cachemem=on", "link.ber=0.01", "host.accesses=20"];
    let report = run("cxlio-enumerate", 1, &[&modes[..], &noisy[..]].concat());
    let first = report.violations.first().expect("the link is broken");
    assert_eq!(first.violation.rule, "SIM-LNK-01", "{}", first.violation);
    assert!(report.time_fs < 2 * 64 * 1_000_000_000, "{} fs", report.time_fs);
}
