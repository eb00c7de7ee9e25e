//! Where the time of every link goes: the parts are the whole, in every scenario with links, and they are what was sent.
//!
//! And what a link does that cannot work, or that noise keeps from coming to rest.

use scalepool::link::line_time::{LineTime, Use};
use scalepool::scenario::report::Report;
use scalepool::scenario::{self, Request};
use serde_json::Value;

fn run(scenario: &str, seed: u64, set: &[&str]) -> Report {
    let request = Request {
        scenario: scenario.into(),
        seed,
        threads: 1,
        set: set.iter().map(|s| (*s).to_owned()).collect(),
        ..Request::default()
    };
    scenario::run(&request, &mut |_| ()).unwrap_or_else(|e| panic!("{scenario} {set:?}: {e}"))
}

/// The parts of every direction are its whole, in the JSON form, which is what a user adds up.
fn assert_sums(report: &Report, what: &str) {
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

fn times(report: &Report) -> impl Iterator<Item = &LineTime> {
    report.where_time_goes.iter().map(|(_, time)| time)
}

fn sum(report: &Report, of: Use) -> u64 {
    times(report).map(|time| time.of(of)).sum()
}

fn count(report: &Report, name: &str) -> u64 {
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
            let request =
                Request { scenario: scenario.into(), set: set.map(str::to_owned).into(), ..Request::default() };
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

/// Sheet `ualink` §15: 5 operations of 256 bytes in 21 TL flits, 628 of 640 bytes.
const CLOSED_FORM: f64 = 1280.0 / 1344.0 * 628.0 / 640.0;

#[test]
fn a_ualink_reaches_its_closed_form_with_every_mix() {
    for mix in ["reads", "writes", "mix"] {
        let mix = format!("traffic.mix={mix}");
        let report = run("ualink-pair", 1, &[&mix, "traffic.operations=4000", "accel.outstanding=4096"]);
        assert_eq!(report.violations, []);
        for (name, time) in &report.where_time_goes {
            // Without bringing the link up, and the first burst, which the peer's catch buffer holds up.
            let used = [Use::Payload, Use::Headers, Use::Packing].map(|of| time.of(of));
            let share = used[0] as f64 / used.iter().sum::<u64>() as f64;
            assert!(share > 0.99 * CLOSED_FORM, "{mix} {name}: {share:.4} of {CLOSED_FORM:.4}: {time:?}");
            assert!(used[2] * 100 < used[0], "{mix} {name}: 1 % is lost to packing: {time:?}");
        }
    }
}

// ---- links that cannot work, or cannot rest ----------------------------------------------------------------------------

#[test]
fn sim_lnk_01_p() {
    // As noisy as the links of the sheets may be: nobody gives up, and the run ends although no instant is quiet.
    for seed in 1..=3 {
        let report = run("nvlink-pair", seed, &["link.ber=1e-4", "traffic.requests=200"]);
        assert_eq!(report.violations, [], "seed {seed}");
        let set = ["link.ber=1e-4", "link.propagation_fs=300000000", "host.accesses=300"];
        let report = run("cxl68-expander", seed, &set);
        assert_eq!(report.violations, [], "seed {seed}");
        assert_eq!(count(&report, "line accesses"), 300, "seed {seed}");
    }
}

#[test]
fn sim_lnk_01_n() {
    for (scenario, rule) in [
        ("cxl68-expander", "SIM-LNK-01"),
        ("cxl256-expander", "SIM-LNK-01"),
        ("cxl256-lopt-expander", "SIM-LNK-01"),
        ("cxl-cache-pair", "SIM-LNK-01"),
        ("ualink-pair", "SIM-LNK-01"),
        ("nvlink-pair", "SIM-LNK-01"),
    ] {
        let report = run(scenario, 1, &["link.ber=0.1"]);
        let first = report.violations.first().unwrap_or_else(|| panic!("{scenario} is broken"));
        assert_eq!(first.violation.rule, rule, "{scenario}: {}", first.violation);
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
