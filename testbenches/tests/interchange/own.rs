//! Our own waves, read back through the maps that are shipped.

use crate::interchange::{read, repository, run};
use scalepool::inspect::{Map, inspect};
use scalepool::scenario::observe::Outputs;
use scalepool::trace::diff::{Input, Policy, diff_of_kinds};
use scalepool::trace::jsonl::JsonlSink;
use scalepool::trace::{Filter, Header, Kind, Sink};
use std::path::Path;

/// The trace of a wave.
pub fn trace_of(wave: &Path, map: &str) -> String {
    let inspection = inspect(wave, Map::read(&read(&repository(map)), map).expect("a map"), map).expect("a wave");
    let header = Header { model_version: "0.1.0".into(), scenario_hash: String::new(), seed: 0 };
    let (mut hub, mut out) = (inspection.records(), Vec::new());
    let mut sink = JsonlSink::new(&mut out, &header, hub.places(), Filter::default()).expect("a trace");
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
    ] {
        let golden = read(&repository(&format!("waves/{name}.jsonl")));
        let wave = repository(&format!("waves/{name}.vcd"));
        let found = trace_of(&wave, &format!("testbenches/maps/{map}.toml"));
        let input = |name: &str, text: &'static str| Input { name: name.into(), reader: text.as_bytes() };
        let (golden, found): (&'static str, &'static str) = (golden.leak(), found.leak());
        let by_place = Policy::ByKey(vec!["where".into()]);
        let compared = diff_of_kinds(input("golden", golden), input("wave", found), &by_place, &mask, &[Kind::Flit]);
        assert_eq!(compared.expect("two traces"), None, "{name}");
        assert!(found.lines().count() > 40, "{name}: {} lines", found.lines().count());
    }
    // FST is read as well.
    let path = dir.path().join("a.fst");
    run("cxl68-expander", &["host.accesses=8"], Outputs { fst: Some(path.clone()), ..Outputs::default() });
    let text = trace_of(&path, "testbenches/maps/waves_cxl68.toml");
    assert!(text.lines().count() > 60 && !text.contains("violation"), "{text}");
}
