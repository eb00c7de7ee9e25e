//! FST out: the same wave as the value change dump, by a reader that neither of the two writers knows.

use crate::interchange::run;
use scalepool::scenario::observe::Outputs;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use wellen::simple::Waveform;

/// All values by full path: time and digits at the end of every instant at which they change, from a time on.
pub fn changes(path: &Path, from_fs: u64) -> BTreeMap<String, Vec<(u64, String)>> {
    let mut wave = wellen::simple::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let vars: Vec<_> = {
        let hierarchy = wave.hierarchy();
        hierarchy.all_vars().map(|v| (hierarchy[v].full_name(hierarchy), hierarchy[v].signal_ref())).collect()
    };
    wave.load_signals(&vars.iter().map(|v| v.1).collect::<Vec<_>>());
    let values = |wave: &Waveform, signal| {
        let signal = wave.get_signal(signal).expect("it is loaded");
        let value = |v: wellen::SignalValueRef| v.to_bit_string().expect("bits");
        let all = signal.iter_changes().map(|(at, v)| (wave.time_table()[at as usize], value(v)));
        let mut ends: Vec<(u64, String)> = Vec::new();
        for (t, digits) in all.filter(|(t, _)| *t >= from_fs) {
            // A dump gives all values at its first instant, and then what changes in it.
            if ends.last().is_some_and(|last| last.0 == t) {
                ends.pop();
            }
            // Before anything sets it, a value is x in all files, whether they say so or not.
            let is_news = ends.last().map_or(digits.contains(['0', '1']), |last| last.1 != digits);
            if is_news {
                ends.push((t, digits));
            }
        }
        ends
    };
    vars.into_iter().map(|(name, signal)| (name, values(&wave, signal))).collect()
}

const RUNS: [(&str, &[&str]); 4] = [
    ("cxl68-expander", &["host.accesses=40", "host.pattern=mix", "link.fault=flip:40:300"]),
    ("cxl256-lopt-expander", &["host.accesses=12"]),
    ("ualink-pair", &["traffic.operations=3", "link.pipeline_fs=1000000"]),
    ("nvlink-pair", &["traffic.requests=12"]),
];

#[test]
fn an_fst_holds_what_the_vcd_holds() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let file = |name: &str| dir.path().join(name);
    let window = Outputs { scopes: vec!["*.cxl".into()], from_fs: Some(40_000_000), ..Outputs::default() };
    let cases = RUNS.into_iter().map(|(scenario, set)| (scenario, set, Outputs::default()));
    for (scenario, set, filter) in cases.chain([("cxl68-expander", RUNS[0].1, window)]) {
        let outputs = Outputs { vcd: Some(file("a.vcd")), fst: Some(file("a.fst")), ..filter.clone() };
        run(scenario, set, outputs);
        let from_fs = filter.from_fs.unwrap_or(0);
        let (vcd, fst) = (changes(&file("a.vcd"), from_fs), changes(&file("a.fst"), from_fs));
        assert!(vcd.len() > 10 && vcd.values().map(Vec::len).sum::<usize>() > 500, "{scenario}: an empty wave");
        assert_eq!(vcd.keys().collect::<Vec<_>>(), fst.keys().collect::<Vec<_>>(), "{scenario}");
        for (name, expected) in &vcd {
            assert_eq!(&fst[name], expected, "{scenario}: {name}");
        }
        // The same bytes again, without the other wave.
        run(scenario, set, Outputs { fst: Some(file("b.fst")), ..filter });
        let [a, b] = ["a.fst", "b.fst"].map(|name| std::fs::read(file(name)).expect("a file"));
        assert!(a == b, "{scenario}: another FST for the same run");
        assert!(
            a.len() * 2 < std::fs::metadata(file("a.vcd")).expect("a file").len() as usize,
            "{scenario}: not packed"
        );
    }
}

#[test]
fn an_fst_names_its_codes() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("a.fst");
    run("cxl68-expander", &["host.accesses=2"], Outputs { fst: Some(path.clone()), ..Outputs::default() });
    let wave = wellen::simple::read(&path).expect("an FST");
    let hierarchy = wave.hierarchy();
    assert_eq!((hierarchy.date(), hierarchy.version()), ("", "scalepool 0.1.0"));
    let var = hierarchy
        .all_vars()
        .map(|v| &hierarchy[v])
        .find(|v| v.full_name(hierarchy) == "host.core.m2s_req.opcode")
        .expect("the opcode");
    let (table, codes) = var.enum_type(hierarchy).expect("names");
    assert_eq!(table, "cxl68_M2sReqOpcode");
    assert!(codes.contains(&("0001", "MemRd")), "{codes:?}");
    let tag = hierarchy
        .all_vars()
        .map(|v| &hierarchy[v])
        .find(|v| v.full_name(hierarchy) == "host.core.m2s_req.tag")
        .expect("the tag");
    assert!(tag.enum_type(hierarchy).is_none());
    // The save file stands beside it and opens it.
    let save = crate::interchange::read(&dir.path().join("a.gtkw"));
    assert!(save.starts_with("[dumpfile] \"a.fst\"\n"), "{save}");
}

/// Whether a tool is installed.
pub fn has(tool: &str) -> bool {
    Command::new("which").arg(tool).output().is_ok_and(|out| out.status.success())
}

/// GTKWave's own converters read both; what comes out is the same again.
#[test]
fn the_tools_of_gtkwave_read_both() {
    if !has("vcd2fst") || !has("fst2vcd") {
        return;
    }
    let dir = tempfile::tempdir().expect("a temporary folder");
    let file = |name: &str| dir.path().join(name);
    let outputs = Outputs { vcd: Some(file("a.vcd")), fst: Some(file("a.fst")), ..Outputs::default() };
    run(RUNS[0].0, RUNS[0].1, outputs);
    let tool = |name: &str, arguments: &[&str]| {
        let out = Command::new(name).args(arguments).current_dir(dir.path()).output().expect("the tool starts");
        assert!(out.status.success(), "{name}: {}", String::from_utf8_lossy(&out.stderr));
    };
    tool("vcd2fst", &["a.vcd", "from_vcd.fst"]);
    tool("fst2vcd", &["a.fst", "-o", "from_fst.vcd"]);
    let expected = changes(&file("a.vcd"), 0);
    for name in ["from_vcd.fst", "from_fst.vcd"] {
        assert!(changes(&file(name), 0) == expected, "{name} is another wave");
    }
}
