//! Captures of flits: judged as the wave that they come from, in both forms, and refused where they cannot be used.

use super::coherence::{broken, judged};
use super::own::trace_of;
use crate::interchange::{read, repository, run};
use scalepool::forms::flit::FlitEncoder;
use scalepool::forms::number::hex;
use scalepool::inspect::capture::Capture;
use scalepool::inspect::{Inspection, Map, inspect};
use scalepool::scenario::observe::Outputs;
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl68::control::{Control, Retry};
use scalepool_protocols::cxl::cxl68::pid;
use scalepool_protocols::cxl::cxl68::unit::Cxl68Unit;
use serde_json::{Value, json};
use std::path::Path;

fn inspected_capture(text: &str, map: &str) -> Result<Inspection, String> {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("flits");
    std::fs::write(&path, text).expect("a capture");
    let map = Map::read(map, "m.toml").map_err(|e| e.to_string())?;
    let wrong = |e: scalepool::inspect::InspectError| e.to_string().replace(&path.display().to_string(), "flits");
    inspect(&path, map, "m.toml").map_err(wrong)
}

/// What was found, by interface, with its time.
fn findings(inspection: &Inspection) -> Vec<(usize, u64, String)> {
    let all = inspection.seen.iter().flat_map(|seen| seen.broken.iter().map(move |broken| (seen.interface, broken)));
    all.map(|(interface, broken)| (interface, broken.t_fs, broken.violation.to_string())).collect()
}

/// The same map without a word of signals.
fn without_signals(map: &str) -> String {
    const KEYS: [&str; 10] =
        ["scope", "clock", "edge", "sample", "reset", "valid", "ready", "first", "data", "reset_active"];
    let is_signal = |line: &&str| line.split_once(" = ").is_some_and(|(key, _)| KEYS.contains(&key.trim()));
    map.lines().filter(|line| !is_signal(line)).map(|line| format!("{line}\n")).collect()
}

#[test]
fn a_trace_is_judged_as_its_wave() {
    for (name, map) in [
        ("cxl68-retry", "waves_cxl68"),
        ("cxl256-retry", "waves_cxl256"),
        ("cxl256-expander", "health_cxl256"),
        ("ualink-pair", "waves_ualink"),
        ("nvlink-pair", "waves_nvlink"),
    ] {
        let map = read(&repository(&format!("testbenches/maps/{map}.toml")));
        let judged = |file: &str, map: &str| {
            inspect(&repository(file), Map::read(map, "m.toml").expect("a map"), "m.toml").expect(file)
        };
        let of_wave = judged(&format!("waves/{name}.vcd"), &map);
        // The map may go on naming signals.
        for map in [map.clone(), without_signals(&map)] {
            let of_trace = judged(&format!("waves/{name}.jsonl"), &map);
            assert_eq!(findings(&of_trace), findings(&of_wave), "{name}");
            assert_eq!(of_trace.health, of_wave.health, "{name}");
            let flits = |inspection: &Inspection| {
                inspection.seen.iter().map(|s| (s.t_fs, s.interface, s.form.clone())).collect::<Vec<_>>()
            };
            assert!(flits(&of_trace) == flits(&of_wave) && of_trace.seen.len() > 40, "{name}");
        }
    }
}

#[test]
fn what_inspect_writes_it_reads_again() {
    let map = "testbenches/maps/stream_cxl68.toml";
    let wave = repository("testbenches/tests/interchange/samples/verilator.vcd");
    let of_wave = inspect(&wave, Map::read(&read(&repository(map)), map).expect("a map"), map).expect("a wave");
    let again = inspected_capture(&trace_of(&wave, map), &without_signals(&read(&repository(map)))).expect("a trace");
    assert_eq!(findings(&again), findings(&of_wave));
    assert_eq!(broken(&again).len(), 2);
    // The trace has the name of the interface, whatever place the map gives it.
    let placed = without_signals(&read(&repository(map))).replace("protocol =", "where = \"analyser.1\"\nprotocol =");
    let placed = inspected_capture(&trace_of(&wave, map), &placed).expect("a trace");
    assert_eq!(findings(&placed), findings(&of_wave));
    // A finding in a capture names no bits of a signal, for there is none.
    assert_eq!(again.seen.iter().flat_map(|seen| &seen.broken).next().expect("a finding").signal, "stream");
}

/// Two interfaces at one place: lines that say their direction go to the one of it.
#[test]
fn lines_of_one_place_say_their_direction() {
    let interface = |dir: &str| {
        format!("[[interface]]\nname = \"{dir}\"\nwhere = \"link\"\nprotocol = \"cxl-68b\"\ndir = \"{dir}\"\n")
    };
    let map = interface("down") + &interface("up");
    let unit = "55".repeat(68);
    let counted = |text: String| {
        inspected_capture(&text, &map).map(|found| found.counts.iter().map(|count| count.edges).collect::<Vec<_>>())
    };
    assert_eq!(counted(format!("1 link up {unit}\n2 link down {unit}\n3 link up {unit}\n")), Ok(vec![1, 2]));
    let object = format!("{{\"t_fs\":1,\"where\":\"link\",\"dir\":\"up\",\"hex\":\"{unit}\"}}\n");
    assert_eq!(counted(object.clone()), Ok(vec![0, 1]));
    let said = "line 2: found no direction at `link`, a place of interface `down` (down) and of interface `up` (up); \
                expected key `dir` of a JSON object, or TIME PLACE DIR HEX";
    let found = counted(format!("{object}1 link {unit}\n")).expect_err("no direction");
    assert!(found.contains(said), "{found}");
}

/// The flits of an expander in words, and a map of its link.
fn expander() -> (String, String) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let trace = dir.path().join("t.jsonl");
    let set = ["host.cache_bytes=0", "host.region_lines=8", "host.accesses=40", "host.pattern=mix"];
    run("cxl68-expander", &set, Outputs { trace: Some(trace.clone()), ..Outputs::default() });
    let line = |unit: &scalepool::inspect::capture::CapturedUnit| {
        let hex: String = unit.bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{}.{:06} {} {hex}\n", unit.t_fs / 1_000_000, unit.t_fs % 1_000_000, unit.place)
    };
    let capture = Capture::open(&trace).expect("a trace");
    let keys = "all_writers_seen = true\nends_at_rest = true\n";
    let map = without_signals(&judged("cxl-68b", &[["device.cxl", "host.cxl"]], "transactions", keys));
    let map = map
        .replace("\"down\"\n", "\"down\"\nwhere = \"device.cxl\"\n")
        .replace("\"up\"\n", "\"up\"\nwhere = \"host.cxl\"\n");
    (capture.units.iter().map(line).collect(), map)
}

#[test]
fn words_are_judged_up_to_transactions() {
    let (text, map) = expander();
    let whole = inspected_capture(&text, &map).expect("a capture");
    assert_eq!(broken(&whole), [""; 0]);
    assert!(whole.counts.iter().all(|count| count.units > 60) && whole.remarks.is_empty(), "{:?}", whole.counts);
    // The last completion never comes: the flit that carries it is an empty one.
    let answer = whole.seen.iter().rev().find(|seen| {
        let form = seen.form.as_ref().map_or_else(String::new, ToString::to_string);
        seen.interface == 1 && form.contains("\"valid\":1") && form.contains("s2m_ndr")
    });
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let answer = hex(&answer.expect("a completion").bytes);
    let idle = whole.seen.iter().find(|seen| seen.interface == 1 && !seen.bytes[2..].iter().any(|b| *b != 0));
    let found = match idle {
        Some(idle) => inspected_capture(&text.replace(&answer, &hex(&idle.bytes)), &map),
        None => inspected_capture(
            &text.lines().filter(|line| !line.contains(&answer)).map(|l| format!("{l}\n")).collect::<String>(),
            &map,
        ),
    };
    let found = findings(&found.expect("a capture"));
    assert!(found.iter().any(|(_, _, said)| said.starts_with("TXN-END-01") && said.contains("MemWr")), "{found:#?}");
}

#[test]
fn a_silent_direction_is_waited_for() {
    let (text, map) = expander();
    let map = map.replace("[[transactions]]", "liveness_ns = 100\n[[transactions]]");
    let down: String = text.lines().filter(|line| line.contains(" device.cxl ")).map(|l| format!("{l}\n")).collect();
    let found = inspected_capture(&down, &map).expect("a capture");
    assert_eq!(found.remarks, ["interface `up0`: the capture has no flit of it"]);
    let found = findings(&found);
    assert!(found.iter().any(|(.., said)| said.starts_with("LIV-")), "{found:#?}");
}

#[test]
fn captures_that_cannot_be_used_are_refused() {
    let map =
        |dir: &str, more: &str| format!("[[interface]]\nname = \"a\"\nprotocol = \"cxl-68b\"\ndir = \"{dir}\"\n{more}");
    let unit = "55".repeat(68);
    for (text, map, said) in [
        (
            format!("1 a {unit}\n0.5 a {unit}\n"),
            map("up", ""),
            "line 2: found 0.500000 ns at `a` after 1.000000 ns in line 1; times of one place may not decrease",
        ),
        (format!("1 a {unit}00\n"), map("up", ""), "line 1: found 69 bytes for interface `a` of cxl-68b, expected 68"),
        (
            format!("1 b {unit}\n"),
            map("up", ""),
            "found no line for interface `a` with where `a`, dir `up`; line 1 has where `b`, which",
        ),
        (
            format!("1 b {unit}\n"),
            map("up", "where = \"c\"\n"),
            "with where `c`, dir `up`; line 1 has where `b`, which no interface",
        ),
        (
            format!("{{\"t_fs\":1,\"where\":\"a\",\"dir\":\"down\",\"hex\":\"{unit}\"}}\n"),
            map("up", ""),
            "with where `a`, dir `up`; line 1 has where `a`, dir `down`, which no interface takes",
        ),
        (
            "1 a 00\n".into(),
            map("up", "").replace("cxl-68b", "nvlink"),
            "line 1: found 1 bytes for interface `a` of nvlink, expected 16 bytes a flit",
        ),
        ("# nothing\n".into(), map("up", ""), "found no flit in the whole file, expected lines of TIME PLACE HEX"),
        ("time,place,hex\n".into(), map("up", ""), "line 1: found time `time`, expected nanoseconds"),
        ("1 a 00\n".into(), map("up", "order = [0]\n"), "interface `a`, key `order`: found a setting of signals where"),
        ("1 a 00\n".into(), map("up", "edge = \"any\"\n"), "interface `a`, key `edge`: found a setting of signals"),
        ("1 a 00\n".into(), map("up", "sample = \"after\"\n"), "interface `a`, key `sample`: found a setting"),
        ("1 a 00\n".into(), map("up", "reset_active = \"high\"\n"), "interface `a`, key `reset_active`: found a"),
        ("1 a 00\n".into(), map("up", "data = \"d\"\n"), "interface `a`, key `clock`: found none, expected a signal"),
    ] {
        let found = inspected_capture(&text, &map).expect_err(said);
        assert!(found.contains(said), "{found}");
    }
    // A wave needs signals.
    let wave = repository("waves/cxl68-retry.vcd");
    let found = inspect(Path::new(&wave), Map::read(&map("up", ""), "m.toml").expect("a map"), "m.toml");
    let said = "m.toml: interface `a`, key `clock`: found none, expected a signal: this is a wave";
    assert_eq!(found.expect_err("no signals").to_string(), said);
}

/// Flits without a link layer: a read and its answer are silent, an answer to nobody is heard by the transactions, and a control flit of a
/// link layer is one too many. Keys that speak of a link layer are refused beside.
#[test]
fn plain_flits_have_messages_and_no_link_layer() {
    const MAP: &str = "[[interface]]\nname = \"down\"\nprotocol = \"cxl-68b\"\ndir = \"down\"\n\
                       [[interface]]\nname = \"up\"\nprotocol = \"cxl-68b\"\ndir = \"up\"\n\
                       [[link]]\nname = \"host\"\nsends = \"down\"\nreceives = \"up\"\nplain_flits = true\n";
    const JUDGED: &str = "[[transactions]]\nlinks = [\"host\"]\nends_at_rest = true\n";
    let flit = |dir: Dir, format: &str, message: Value| {
        let slot = json!({"slot": 0, "format": format, "messages": [message]});
        let form = json!({"protocol": "cxl-68b", "dir": dir.name(), "kind": "protocol", "slots": [slot]});
        let mut encoder = FlitEncoder::new("cxl-68b", Some(dir)).expect("an encoder");
        let (form, _) = encoder.encode(Ok(form)).into_iter().next().and_then(Result::ok).expect("a flit");
        form["hex"].as_str().expect("its bytes").to_owned()
    };
    let write = json!({"layout": "cxl68.m2s_req", "fields": {"opcode": "MemInv", "meta_field": "Meta0State", "meta_value": "Any", "snp_type": "NoOp", "tag": 7, "address": 4096}});
    let answer =
        |tag: u16| flit(Dir::Up, "H3", json!({"layout": "cxl68.s2m_ndr", "fields": {"opcode": "Cmp", "tag": tag}}));
    let asked = flit(Dir::Down, "H5", write);
    let slot = Control::RetryIdle(Retry::default()).to_slot().expect("it fits");
    let control = hex(&Cxl68Unit::from_slots(pid::CACHEMEM, &[slot, 0, 0, 0]).0);
    let map = format!("{MAP}{JUDGED}");
    for (lines, rules) in [
        (vec![("down", &asked), ("up", &answer(7))], vec![]),
        (vec![("down", &asked), ("up", &answer(8))], vec!["TXN-TAG-02", "TXN-END-01"]),
        (vec![("down", &asked), ("up", &control), ("up", &answer(7))], vec!["SIM-PLN-01"]),
    ] {
        let text: String = lines.iter().zip(1..).map(|((place, hex), n)| format!("{n} {place} {hex}\n")).collect();
        let found = inspected_capture(&text, &map).expect("a capture");
        let broken: Vec<&str> = found.seen.iter().flat_map(|seen| &seen.broken).map(|one| one.violation.rule).collect();
        assert_eq!(broken, rules, "{text}");
    }
    // What the ends have agreed on counts here too: two data headers in a slot, which `mdh` allows; their data does not follow.
    let two = json!({"layout": "cxl68.s2m_drs", "fields": {"opcode": "MemData", "tag": 1}});
    let slot = json!({"slot": 0, "format": "H5", "messages": [two, two]});
    let form = json!({"protocol": "cxl-68b", "dir": "up", "kind": "protocol", "slots": [slot]});
    let mut encoder = FlitEncoder::new("cxl-68b", Some(Dir::Up)).expect("an encoder");
    let (form, _) = encoder.encode(Ok(form)).into_iter().next().and_then(Result::ok).expect("a flit");
    let line = format!("1 up {}\n", form["hex"].as_str().expect("its bytes"));
    let without = MAP.replace("protocol = \"cxl-68b\"\n", "protocol = \"cxl-68b\"\noptions = [\"mdh=off\"]\n");
    let [allowed, refused] = [MAP, &without].map(|map| {
        let found = inspected_capture(&line, map).expect("a capture");
        found.seen.iter().map(|seen| seen.broken.len()).sum::<usize>()
    });
    assert!(refused > allowed, "{allowed} and {refused} findings");
    for (key, words) in
        [("liveness_ns = 5\n", "beside `plain_flits`"), ("retry_entries = 30\n", "beside `plain_flits`")]
    {
        let error = inspected_capture("", &format!("{MAP}{key}")).expect_err("a key of a link layer");
        assert!(error.contains(words), "{error}");
    }
    let error = inspected_capture("", &MAP.replace("cxl-68b", "nvlink")).expect_err("no CXL");
    assert!(error.contains("expected one of CXL.cachemem"), "{error}");
}
