//! UAL-T20 and UAL-T24 of the catalogue.

use super::pods::{rules_of, run, set};
use scalepool::scenario::report::ScenarioReport;
use scalepool_testbenches::soak::is_soak;

fn pod(text: &str) -> ScenarioReport {
    let report = run("ualink-pod", &text.split_whitespace().map(set).collect::<Vec<String>>());
    assert_eq!(rules_of(&report), [""; 0], "{text}");
    report
}

/// UAL-T20: all write to one port while responses cross; what waits there is served fairly.
#[test]
fn t20_hot_spot() {
    let hot = pod("traffic.pattern=hot-spot traffic.mix=writes traffic.operations=150 pod.accelerators=6");
    // Five write to accelerator 0 over one port: its line is the limit, whatever else happens.
    let ring = pod("traffic.pattern=ring traffic.mix=writes traffic.operations=150 pod.accelerators=6");
    let [hot_rate, ring_rate] = [&hot, &ring].map(|report| report.goodput_bytes_per_s);
    assert!(1.7 * hot_rate < ring_rate, "{hot_rate} and {ring_rate} bytes/s");
    // Fair: the last answer of any is not far from the median of all, which all wait behind the same line.
    assert!(hot.latency_fs.max < 3 * hot.latency_fs.p50, "{:?}", hot.latency_fs);
}

/// Bytes a second and port of a pair in steady state, as a part of 100 GB/s: the difference of two runs has neither start
/// nor end.
fn steady_part(text: &str) -> f64 {
    let soak = is_soak();
    let (few, many) = if soak { (20_000, 100_000) } else { (2000, 8000) };
    let time = |operations: u64| {
        let text = format!("link.vc_commands=0 link.vc_data=0 traffic.operations={operations} {text}");
        let report = run("ualink-pair", &text.split_whitespace().map(set).collect::<Vec<String>>());
        assert_eq!(rules_of(&report), [""; 0]);
        report.time_fs as f64
    };
    // Both directions have as many.
    256.0 * (many - few) as f64 / (time(many) - time(few)) * 1e15 / 100e9
}

/// UAL-T24: the fractions of `ualink` §15 behind TL flits are reached: 5 writes of 256 bytes in 21 of them, with
/// authentication 2 in 9; 628 of 640 bytes, 1023 of 1024 code words: 93.36 % of the line. The sheet returns credits with 5
/// operations, a field returns up to 7 commands: 7 operations of 64 sectors of data and 3 of fields in 470 sectors with it.
#[test]
fn t24_efficiency() {
    let behind_tl = 628.0 / 640.0 * 1023.0 / 1024.0;
    let (most, protected) = ([1280.0 / 1344.0, 448.0 / 470.0], [512.0 / 576.0; 2]);
    for (text, [sheet, full]) in
        [("traffic.mix=writes", most), ("traffic.mix=writes link.authentication=auth", protected)]
    {
        let (is, want) = (steady_part(text), full * behind_tl);
        assert!((is / want - 1.0).abs() < 0.001, "{text}: {is}, expected {want}");
        assert!(is > 0.999 * sheet * behind_tl, "{text}: {is}, expected {}", sheet * behind_tl);
    }
}
