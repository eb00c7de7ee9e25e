//! Our own waves, read back through the maps that are shipped.

use crate::interchange::{read, repository, run};
use scalepool::inspect::{Map, inspect};
use scalepool::scenario::observe::Outputs;
use scalepool::trace::diff::{DiffInput, Policy, diff_of_kinds};
use scalepool::trace::jsonl::JsonlSink;
use scalepool::trace::{RecordKind, Sink, TraceFilter, TraceHeader};
use std::collections::HashSet;
use std::path::Path;

/// The trace of a wave.
pub fn trace_of(wave: &Path, map: &str) -> String {
    let inspection = inspect(wave, Map::read(&read(&repository(map)), map).expect("a map"), map).expect("a wave");
    let header = TraceHeader { model_version: "0.1.0".into(), run: None };
    let (mut hub, mut out) = (inspection.records(), Vec::new());
    let mut sink = JsonlSink::new(&mut out, &header, hub.places(), TraceFilter::default()).expect("a trace");
    hub.drain_into(&mut [&mut sink]).expect("memory");
    sink.finish().expect("memory");
    String::from_utf8(out).expect("text")
}

/// The flits of a wave are those that the golden trace of the same run has, at the same times and places.
#[test]
fn the_flits_of_a_wave_are_those_of_the_golden_trace() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let mask: Vec<String> = ["scenario_hash", "seed", "cycle"].map(str::to_owned).into();
    for (name, map) in [
        ("cxl68-expander", "waves_cxl68"),
        ("cxl68-retry", "waves_cxl68"),
        ("cxl256-retry", "waves_cxl256"),
        ("cxl256-lopt-expander", "waves_cxl256_lopt"),
        ("cxl-pbr-pair", "waves_cxlpbr"),
        ("ualink-pair", "waves_ualink"),
        ("nvlink-pair", "waves_nvlink"),
    ] {
        let golden = read(&repository(&format!("waves/{name}.jsonl")));
        // The map of an NVLink pair has the first of its links.
        let golden: String =
            golden.lines().filter(|line| !line.contains(".link[1]\",")).map(|line| format!("{line}\n")).collect();
        let wave = repository(&format!("waves/{name}.vcd"));
        let found = trace_of(&wave, &format!("testbenches/maps/{map}.toml"));
        let input = |name: &str, text: &'static str| DiffInput { name: name.into(), reader: text.as_bytes() };
        let (golden, found): (&'static str, &'static str) = (golden.leak(), found.leak());
        let by_place = Policy::ByKey(vec!["where".into()]);
        let compared =
            diff_of_kinds(input("golden", golden), input("wave", found), &by_place, &mask, &[RecordKind::Flit]);
        assert_eq!(compared.expect("two traces"), None, "{name}");
        assert!(found.lines().count() > 40, "{name}: {} lines", found.lines().count());
    }
    // FST is read as well.
    let path = dir.path().join("a.fst");
    run("cxl68-expander", &["host.accesses=8"], Outputs { fst: Some(path.clone()), ..Outputs::default() });
    let text = trace_of(&path, "testbenches/maps/waves_cxl68.toml");
    assert!(text.lines().count() > 60 && !text.contains("violation"), "{text}");
}

/// Rules that a unit breaks because bits were flipped on the wire.
const DAMAGE: [&str; 7] =
    ["CXL68-CRC-", "CXL68-PID-", "CXL256-CRC-", "CXL256-FEC-", "CXL256-LOP-04", "UAL-CRC-01", "NVL-CRC-"];

/// Waves of links that replay: damaged units are findings, and replayed ones are not.
#[test]
fn a_wave_of_a_link_with_bit_errors_shows_the_damage_and_nothing_else() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let amounts = [("host.accesses", 300), ("traffic.operations", 150), ("traffic.requests", 200)];
    let [host, operations, requests] = amounts.map(|(key, whole)| super::work(key, whole));
    for (scenario, map, work, ber) in [
        ("cxl68-expander", "waves_cxl68", &[host.as_str()][..], "2e-5"),
        ("cxl256-expander", "waves_cxl256", &[&host], "2e-4"),
        ("cxl256-lopt-expander", "waves_cxl256_lopt", &[&host], "2e-4"),
        ("cxl-pbr-pair", "waves_cxlpbr", &[&host], "2e-4"),
        ("ualink-pair", "waves_ualink", &[&operations], "1e-5"),
        ("nvlink-pair", "waves_nvlink", &[&requests, "link.count=1"], "2e-5"),
    ] {
        let path = dir.path().join("w.vcd");
        let errors = format!("link.ber={ber}");
        let outputs = Outputs { vcd: Some(path.clone()), ..Outputs::default() };
        let report = run(scenario, &[work, &[errors.as_str()]].concat(), outputs);
        assert_eq!(report.violations, [], "{scenario}");
        let map = format!("testbenches/maps/{map}.toml");
        let found = inspect(&path, Map::read(&read(&repository(&map)), &map).expect("a map"), &map).expect("a wave");
        let (mut damaged, mut again, mut sent) = (0, 0, HashSet::new());
        for seen in &found.seen {
            let form = seen.form.as_ref().unwrap_or_else(|| panic!("{scenario}: {:?}", seen.broken));
            for broken in &seen.broken {
                let rule = broken.violation.rule;
                let is_damage = DAMAGE.iter().any(|of| rule.starts_with(of));
                assert!(is_damage, "{scenario}, {} fs: {}: {form}", broken.t_fs, broken.violation);
            }
            damaged += usize::from(!seen.broken.is_empty());
            // What is mostly zeros is sent often without a replay.
            let full = seen.bytes.iter().filter(|&&byte| byte != 0).count() > 20;
            again += usize::from(full && !sent.insert((seen.interface, body(&seen.bytes).to_vec())));
        }
        assert!(damaged > 3 && again > 3, "{scenario}: {damaged} units damaged, {again} seen again");
    }
}

/// Bytes of a unit that are the same in a replay, as the header is not.
fn body(unit: &[u8]) -> &[u8] {
    match unit.len() {
        68 => &unit[2..66],
        256 => &unit[2..120],
        640 => &unit[..512],
        _ => &unit[16..],
    }
}
