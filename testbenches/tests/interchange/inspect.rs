//! Waves in: buses of other people, good, broken and unreadable.

use crate::interchange::bus::{PERIOD_NS, beats, dump};
use crate::interchange::{read, repository};
use scalepool::inspect::{InspectError, Inspection, Map, inspect};
use std::collections::BTreeSet;
use std::path::Path;

/// The flits of a golden set, byte 0 first, with the rule that their case breaks.
fn golden(set: &str) -> Vec<(Vec<u8>, Option<String>)> {
    let text = read(&repository(&format!("golden/{set}.rsp")));
    let mut found: Vec<(Vec<u8>, Option<String>)> = Vec::new();
    let mut of_case = 0;
    for line in text.lines() {
        if let Some(hex) = line.strip_prefix("Flit = ") {
            let byte = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).expect("hex");
            found.push(((0..hex.len()).step_by(2).map(byte).collect(), None));
        } else if let Some(rule) = line.strip_prefix("RULE = ") {
            for (_, of_flit) in &mut found[of_case..] {
                *of_flit = Some(rule.to_owned());
            }
        }
        if line.starts_with("Count = ") {
            of_case = found.len();
        }
    }
    found
}

/// Units of the cases of a golden set that break nothing.
fn good(set: &str) -> Vec<Vec<u8>> {
    golden(set).into_iter().filter(|(_, rule)| rule.is_none()).map(|(unit, _)| unit).collect()
}

fn map(protocol: &str, dir: &str, more: &str) -> String {
    format!(
        "[[interface]]\nname = \"port\"\nprotocol = \"{protocol}\"\ndir = \"{dir}\"\nclock = \"clk\"\nreset = \"rst_n\"\n\
         valid = \"valid\"\nready = \"ready\"\ndata = \"data\"\n{more}"
    )
}

fn inspected(wave: &str, map: &str) -> Result<Inspection, InspectError> {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("w.vcd");
    std::fs::write(&path, wave).expect("a wave");
    inspect(&path, Map::read(map, "m.toml")?, "m.toml")
}

fn units(inspection: &Inspection) -> Vec<Vec<u8>> {
    inspection.seen.iter().filter(|s| s.form.is_some()).map(|s| s.bytes.clone()).collect()
}

fn rules(inspection: &Inspection) -> Vec<&str> {
    inspection.seen.iter().flat_map(|s| &s.broken).map(|b| b.violation.rule).collect()
}

/// A pattern of waits that repeats after 35 cycles.
fn stalls(cycle: u64) -> (bool, bool) {
    (!cycle.is_multiple_of(5), cycle % 7 != 3)
}

#[test]
fn every_protocol_comes_through_a_bus_of_any_width() {
    for (protocol, set, dir, widths) in [
        ("cxl-68b", "cxl68/flit_cxl-68b", "down", &[68, 8, 4][..]),
        ("cxl-68b", "cxl68/flit_cxl-68b", "up", &[68, 17]),
        ("cxl-256b", "cxl256/flit_cxl-256b", "down", &[256, 64, 32]),
        ("cxl-256b-lopt", "cxl256/flit_cxl-256b-lopt", "up", &[128]),
        ("cxl-256b-pbr", "cxlpbr/flit_cxl-256b-pbr", "down", &[64]),
        ("cxl-io", "cxlio/flit_cxl-io", "up", &[64]),
        ("ualink", "ualink/flit_ualink", "down", &[640, 64]),
        ("nvlink", "nvlink/flit_nvlink", "up", &[16]),
    ] {
        let sent = good(&format!("{set}_{dir}"));
        assert!(sent.len() > 20, "{protocol}: {} flits", sent.len());
        for &width in widths {
            for more in ["", "first = \"first\"\n"] {
                let found = inspected(&dump(&beats(&sent, width), stalls), &map(protocol, dir, more)).expect("a wave");
                assert!(units(&found) == sent, "{protocol} {dir} {width}: other flits");
                assert_eq!(rules(&found), [""; 0], "{protocol} {dir} {width}");
                assert_eq!(found.counts[0].left_over_beats, 0);
            }
        }
    }
}

#[test]
fn what_a_flit_breaks_has_a_time_and_a_signal() {
    for (protocol, set) in [("cxl-68b", "cxl68/flit_cxl-68b_down"), ("ualink", "ualink/flit_ualink_down")] {
        let cases = golden(set);
        let sent: Vec<Vec<u8>> = cases.iter().map(|(unit, _)| unit.clone()).collect();
        let found = inspected(&dump(&beats(&sent, sent[0].len()), stalls), &map(protocol, "down", "")).expect("a wave");
        let expected: BTreeSet<&str> = cases.iter().filter_map(|(_, rule)| rule.as_deref()).collect();
        let broken: BTreeSet<&str> = rules(&found).into_iter().collect();
        assert!(expected.is_subset(&broken), "{protocol}: {expected:?} are not all in {broken:?}");
    }
    // In beats of 4 bytes the CRC of a 68-byte unit is in the upper half of beat 16.
    let mut sent = good("cxl68/flit_cxl-68b_down");
    sent.truncate(1);
    sent[0][67] ^= 0x80;
    let found = inspected(&dump(&beats(&sent, 4), |_| (true, true)), &map("cxl-68b", "down", "")).expect("a wave");
    let broken = &found.seen[0].broken[0];
    assert_eq!((broken.violation.rule, broken.signal.as_str()), ("CXL68-CRC-01", "tb.dut.data[23:16]"));
    // Three cycles of reset, sixteen beats, half a period.
    assert_eq!(broken.t_fs, ((3 + 16) * PERIOD_NS + PERIOD_NS / 2) * 1_000_000);
}

#[test]
fn slots_alone_get_their_id_and_crc() {
    let whole: Vec<Vec<u8>> = good("cxl68/flit_cxl-68b_down").into_iter().filter(|u| u[..2] == [0x55, 0x55]).collect();
    for (bits, cut) in [(512, 2..66), (528, 2..68)] {
        let sent: Vec<Vec<u8>> = whole.iter().map(|unit| unit[cut.clone()].to_vec()).collect();
        let more = format!("unit_bits = {bits}\n");
        let wave = dump(&beats(&sent, sent[0].len()), stalls);
        let found = inspected(&wave, &map("cxl-68b", "down", &more)).expect("a wave");
        assert!(units(&found) == whole, "{bits}: other flits");
        assert_eq!(rules(&found), [""; 0]);
    }
    let mut sent = vec![whole[0][2..68].to_vec()];
    sent[0][64] ^= 1;
    let wave = dump(&beats(&sent, 66), stalls);
    let found = inspected(&wave, &map("cxl-68b", "down", "unit_bits = 528\n")).expect("a wave");
    assert_eq!(found.seen[0].broken[0].signal, "tb.dut.data[519:512]");
}

#[test]
fn a_part_of_a_signal_another_edge_and_a_reset_that_is_high() {
    let sent = good("cxl68/flit_cxl-68b_up");
    let padded: Vec<Vec<u8>> = sent.iter().map(|u| [&[0xa5], &u[..], &[0x5a]].concat()).collect();
    let wave = dump(&beats(&padded, 70), stalls);
    let text = map("cxl-68b", "up", "").replace("\"data\"", "\"tb.dut.data[551:8]\"");
    assert!(units(&inspected(&wave, &text).expect("a wave")) == sent);
    // All edges the other way round; `scope` in the place of the path.
    let inverted = wave.replace("\n0c", "\nLc").replace("\n1c", "\n0c").replace("\nLc", "\n1c");
    let inverted = inverted.replace("\n0r", "\nLr").replace("\n1r", "\n0r").replace("\nLr", "\n1r");
    let text = format!("scope = \"tb.dut\"\n{text}edge = \"falling\"\nreset_active = \"high\"\n")
        .replace("tb.dut.data", "data");
    assert!(units(&inspected(&inverted, &text).expect("a wave")) == sent);
    // Values that change with the edge are those behind it when asked for.
    let text = map("cxl-68b", "up", "sample = \"after\"\n").replace("data = \"data\"", "data = \"data[551:8]\"");
    assert!(units(&inspected(&wave, &text).expect("a wave")) == sent);
}

#[test]
fn sim_wav_01_p() {
    // Without valid the bus is x all the time, and so is everything before the reset.
    let sent = good("cxl68/flit_cxl-68b_down");
    let found = inspected(&dump(&beats(&sent, 68), stalls), &map("cxl-68b", "down", "")).expect("a wave");
    assert_eq!(rules(&found), [""; 0]);
}

#[test]
fn sim_wav_01_n() {
    let sent = good("cxl68/flit_cxl-68b_down")[..4].to_vec();
    let wave = dump(&beats(&sent, 68), |_| (true, true));
    // The third unit has an x in its highest bits; a leading x stands for all of them.
    let start = format!("#{}\n", 5 * PERIOD_NS);
    let (before, behind) = wave.split_once(&start).expect("a sixth cycle");
    let spoilt = format!("{before}{start}{}", behind.replacen("\nb1", "\nbx", 1).replacen("\nb0", "\nbx", 1));
    let found = inspected(&spoilt, &map("cxl-68b", "down", "")).expect("a wave");
    assert_eq!(rules(&found), ["SIM-WAV-01"]);
    let broken = found.seen.iter().find(|s| s.form.is_none()).expect("no unit");
    assert_eq!(broken.t_fs, (5 * PERIOD_NS + PERIOD_NS / 2) * 1_000_000);
    assert!(broken.broken[0].signal.starts_with("tb.dut.data[543:"), "{}", broken.broken[0].signal);
    assert_eq!(units(&found).len(), 3, "the others are there");
    // A valid that is not known, in reset and behind it.
    let unknown = wave.replace("\n1v", "\nxv");
    let found = inspected(&unknown, &map("cxl-68b", "down", "")).expect("a wave");
    assert_eq!(rules(&found), ["SIM-WAV-01"; 4][..rules(&found).len()]);
    assert!(!found.seen.is_empty() && units(&found).is_empty());
}

#[test]
fn sim_wav_02_p() {
    let sent = good("cxl68/flit_cxl-68b_down");
    let text = map("cxl-68b", "down", "first = \"first\"\n");
    let found = inspected(&dump(&beats(&sent, 4), stalls), &text).expect("a wave");
    assert_eq!((rules(&found), units(&found).len()), (vec![], sent.len()));
}

#[test]
fn sim_wav_02_n() {
    let sent = good("cxl68/flit_cxl-68b_down")[..4].to_vec();
    let text = map("cxl-68b", "down", "first = \"first\"\n");
    let whole = beats(&sent, 4);
    let without =
        |at: usize| whole.iter().enumerate().filter(|(n, _)| *n != at).map(|(_, b)| b.clone()).collect::<Vec<_>>();
    // The second unit lacks a beat: it is not there, and nothing else is hurt.
    let found = inspected(&dump(&without(20), stalls), &text).expect("a wave");
    assert_eq!((rules(&found), units(&found)), (vec!["SIM-WAV-02"], [&sent[..1], &sent[2..]].concat()));
    // It lacks its first one.
    let found = inspected(&dump(&without(17), stalls), &text).expect("a wave");
    assert_eq!((rules(&found), units(&found)), (vec!["SIM-WAV-02"], [&sent[..1], &sent[2..]].concat()));
    // The end of the wave is no fault of the bus.
    let found = inspected(&dump(&whole[..20], stalls), &text).expect("a wave");
    assert_eq!((rules(&found), found.counts[0].left_over_beats), (vec![], 3));
}

#[test]
fn a_reset_in_the_middle_begins_anew() {
    let sent = good("cxl68/flit_cxl-68b_down")[..3].to_vec();
    let wave = dump(&beats(&sent[..2], 4), |_| (true, true));
    // The last beat of the second unit is in reset: the unit is not there, its beats are not left over.
    let at = format!("#{}\n0c", (3 + 33) * PERIOD_NS);
    let (before, behind) = wave.split_once(&at).expect("the last beat");
    let wave = format!("{before}{at}{}", behind.replacen("1r", "0r", 1));
    let found = inspected(&wave, &map("cxl-68b", "down", "")).expect("a wave");
    assert_eq!((units(&found), found.counts[0].left_over_beats), (sent[..1].to_vec(), 0));
}

#[test]
fn maps_and_waves_that_cannot_be_used_say_why() {
    let sent = good("cxl68/flit_cxl-68b_down")[..1].to_vec();
    let wave = dump(&beats(&sent, 68), |_| (true, true));
    let good = map("cxl-68b", "down", "");
    let error = |wave: &str, map: &str| inspected(wave, map).map(|i| i.counts).expect_err("an error").to_string();
    for (from, to, expected) in [
        ("\"valid\"", "\"vaild\"", "interface `port`, key `valid`: found `vaild`, expected a signal of "),
        ("\"valid\"", "\"vaild\"", "w.vcd; the nearest: tb.dut.valid, "),
        ("\"valid\"", "\"data\"", "key `valid`: found 544 bits in `tb.dut.data`, expected 1"),
        ("\"data\"", "\"data[544:1]\"", "found `data[544:1]`, expected a part of `tb.dut.data[543:0]`"),
        ("\"data\"", "\"data[542:0]\"", "found 543 bits in `tb.dut.data`, expected 544, or less in whole bytes"),
        ("cxl-68b", "cxl-69b", "key `protocol`: found `cxl-69b`, expected one of cxl-68b, "),
        ("\"down\"", "\"sideways\"", "key `dir`: found `sideways`, expected `down` or `up`"),
        ("valid =", "vaild =", "unknown field `vaild`"),
        ("clock =", "unit_bits = 100\nclock =", "key `unit_bits`: found 100, expected 544, 528 or 512"),
        ("clock =", "edge = \"left\"\nclock =", "unknown variant `left`"),
        ("name = \"port\"", "name = \"\"", "interface 0, key `name`: found ``, expected names joined by dots"),
        (&good, "", "found no [[interface]], expected at least one"),
        (&good, &format!("{good}{good}"), "interface 1, key `name`: found `port` again"),
    ] {
        let found = error(&wave, &good.replacen(from, to, 1));
        assert!(found.contains(expected), "`{found}` does not say `{expected}`");
    }
    for (broken, expected) in [
        (String::new(), "found an empty file, expected VCD"),
        ("\u{1f}\u{8}packed\n".into(), "found another start of the file, expected VCD"),
        ("\u{1f}\u{8}packed\n".into(), "a compressed file has to be unpacked first"),
        ("a text\n".into(), "line 1: found 2 words, expected TIME PLACE HEX, TIME PLACE DIR HEX or a JSON object"),
        (wave.replace("$timescale 1ns $end\n", ""), "found no timescale"),
    ] {
        let found = error(&broken, &good);
        assert!(found.contains(expected), "`{found}` does not say `{expected}`");
    }
    let missing = inspect(Path::new("no/such.vcd"), Map::read(&good, "m.toml").expect("a map"), "m.toml");
    assert!(missing.expect_err("no file").to_string().starts_with("no/such.vcd: cannot be read as a wave"));
    // The same name in two scopes.
    let twice = wave.replace(
        "$upscope $end\n$upscope",
        "$upscope $end\n$scope module other $end\n$var wire 1 z clk $end\n$upscope $end\n$upscope",
    );
    let found = error(&twice, &good);
    assert!(found.contains("found `clk`, which is 2 signals, such as tb.dut.clk and tb.other.clk"), "{found}");
}

/// A wave that is cut off or spoilt anywhere is read or refused, and nothing else.
#[test]
fn spoilt_waves_are_read_or_refused() {
    let sent = good("cxl68/flit_cxl-68b_down")[..3].to_vec();
    let wave = dump(&beats(&sent, 34), stalls);
    let text = map("cxl-68b", "down", "");
    let mut outcomes = [0, 0];
    for n in 0..400 {
        let mut bytes = wave.clone().into_bytes();
        match n % 4 {
            0 => bytes.truncate(bytes.len() * n / 400),
            1 => bytes[(n * 7919) % wave.len()] = b"$#bxz01 \n!"[n % 10],
            2 => drop(bytes.drain((n * 31) % 900..(n * 31) % 900 + 9)),
            _ => bytes[(n * 104_729) % 700] ^= 1 << (n % 7),
        }
        let spoilt = String::from_utf8_lossy(&bytes).into_owned();
        outcomes[usize::from(inspected(&spoilt, &text).is_ok())] += 1;
    }
    assert!(outcomes.iter().all(|n| *n > 20), "{outcomes:?}");
}

/// Dumps of stream_tb.sv by Icarus and Verilator, with a bad CRC and a reserved slot format behind six good flits. The
/// co-simulation makes such dumps of every protocol (testbenches/maps/check.py).
#[test]
fn dumps_of_simulators_are_read() {
    let map = "testbenches/maps/stream_cxl68.toml";
    let seen = ["icarus", "verilator"].map(|simulator| {
        let wave = repository(&format!("testbenches/tests/interchange/samples/{simulator}.vcd"));
        let found = inspect(&wave, Map::read(&read(&repository(map)), map).expect("a map"), map).expect("a wave");
        assert_eq!(rules(&found), ["CXL68-CRC-01", "CXL68-SLT-01"], "{simulator}");
        let places: Vec<&str> = found.seen.iter().flat_map(|s| &s.broken).map(|b| b.signal.as_str()).collect();
        assert_eq!(places, ["stream_tb.data[535:528]", "stream_tb.data[23:16]"], "{simulator}");
        units(&found)
    });
    let golden = good("cxl68/flit_cxl-68b_down");
    assert_eq!(seen[0][..6], golden[..6]);
    assert_eq!((&seen[0], seen[0].len()), (&seen[1], 8));
}

/// Dumps of samples/structures.sv: a stream in a struct, in a word of an array, in an escaped name, behind generated scopes.
#[test]
fn arrays_structs_enums_and_escaped_names_are_read() {
    let interface = |name: &str, valid: &str, data: &str| {
        format!(
            "[[interface]]\nname = \"{name}\"\nprotocol = \"cxl-68b\"\ndir = \"down\"\nclock = \"structures.clk\"\nreset = \"rst_n\"\n\
             valid = '{valid}'\ndata = '{data}'\n"
        )
    };
    let mut golden = golden("cxl68/flit_cxl-68b_down");
    golden.truncate(4);
    let mut expected: Vec<Vec<u8>> = golden.into_iter().map(|(unit, _)| unit).collect();
    // The last CRC is wrong.
    expected[3][67] ^= 0x10;
    for (file, valid, data) in [
        ("icarus.vcd", "beat[138]", "beat[135:0]"),
        ("icarus.fst", "beat[138]", "structures.beat[135:0]"),
        ("verilator.vcd", "beat[138:138]", "beat[135:0]"),
        ("verilator.fst", "beat.valid", "beat.data"),
    ] {
        let map = [
            interface("struct", valid, data),
            interface("array", valid, "words[1]"),
            interface("part", valid, "structures.words[1][135:0]"),
            interface("escaped", "\\bus.valid", "\\bus.data[0]"),
            interface("plain", "bus.valid", "bus.data[0]"),
            interface("lane", "lane[1].u_port.valid_q", "structures.lane[1].u_port.data_q"),
        ];
        let wave = repository(&format!("testbenches/tests/interchange/samples/structures/{file}"));
        let map = Map::read(&map.concat(), "m.toml").expect("a map");
        let found = inspect(&wave, map, "m.toml").unwrap_or_else(|e| panic!("{file}: {e}"));
        for (n, interface) in found.map.interface.iter().enumerate() {
            let seen = || found.seen.iter().filter(|seen| seen.interface == n);
            let units: Vec<Vec<u8>> = seen().map(|seen| seen.bytes.clone()).collect();
            assert_eq!(units, expected, "{file}: {}", interface.name);
            let rules: Vec<&str> = seen().flat_map(|seen| &seen.broken).map(|b| b.violation.rule).collect();
            assert_eq!(rules, ["CXL68-CRC-01"], "{file}: {}", interface.name);
        }
        // The other lane and word are silent, and an enum is a signal of its bits.
        let idle = [interface("lane", "lane[0].u_port.valid_q", "lane[0].u_port.data_q")].concat();
        let found = inspect(&wave, Map::read(&idle, "m.toml").expect("a map"), "m.toml").expect("a wave");
        assert_eq!((found.counts[0].units, found.counts[0].edges > 15), (0, true), "{file}");
        let state = interface("state", "structures.state[1]", "words[1]");
        let found = inspect(&wave, Map::read(&state, "m.toml").expect("a map"), "m.toml").expect("a wave");
        // REST has bit 1: 12 beats, of which 4 are a unit.
        assert_eq!(found.counts[0].units, 3, "{file}");
    }
}

/// A wave without the n-th flit that a place has seen: `seq` of its flit does not change then.
fn without(wave: &str, place: &str, n: usize) -> String {
    let mut scopes = Vec::new();
    let mut id = "";
    for line in wave.lines() {
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["$scope", _, name, _] => scopes.push(name),
            ["$upscope", _] => drop(scopes.pop()),
            ["$var", _, _, found, "seq", ..] if scopes.join(".") == format!("{place}.flit") => id = found,
            _ => (),
        }
    }
    let changes = |line: &str| line.starts_with('b') && line.split(' ').next_back() == Some(id);
    let mut seen = 0;
    let kept = wave.lines().filter(|line| {
        seen += usize::from(changes(line));
        !(changes(line) && seen == n)
    });
    kept.map(|line| format!("{line}\n")).collect()
}

/// Both ends of links in our own waves, whose flits are seen where they arrive: what an end sends is late by the wire.
#[test]
fn ends_of_links_are_watched() {
    // The flit that does not come to the host, the rule that is broken then, and where.
    for (name, map, n, rule, signal) in [
        ("cxl68-expander", "waves_cxl68", 46, "CXL68-LLR-05", "device.cxl."),
        ("cxl-pbr-pair", "waves_cxlpbr", 31, "CXL256-RTY-01", "host.cxl."),
        ("cxl256-lopt-expander", "waves_cxl256_lopt", 31, "CXL256-RTY-04", "device.cxl."),
    ] {
        let wave = read(&repository(&format!("waves/{name}.vcd")));
        let reaction = if name == "cxl68-expander" { "reaction_flits = 40\n" } else { "" };
        let link = |sends: &str, receives: &str| {
            format!("[[link]]\nname = \"end of {sends}\"\nsends = \"{sends}\"\nreceives = \"{receives}\"\n{reaction}")
        };
        let interfaces = read(&repository(&format!("testbenches/maps/{map}.toml")));
        let text = [interfaces, link("device.cxl", "host.cxl"), link("host.cxl", "device.cxl")].concat();
        let found = inspected(&wave, &text).expect("a wave");
        assert_eq!(rules(&found), [""; 0], "{name}");
        assert!(found.counts.iter().all(|count| count.units > 30), "{name}");
        let found = inspected(&without(&wave, "host.cxl", n), &text).expect("a wave");
        let broken = found.seen.iter().flat_map(|s| &s.broken).find(|b| b.violation.rule == rule);
        let broken = broken.unwrap_or_else(|| panic!("{name}: {:?}", rules(&found)));
        assert!(broken.t_fs > 0 && broken.signal.starts_with(signal), "{name}: {} {}", broken.t_fs, broken.signal);
    }
}

#[test]
fn links_of_maps_that_cannot_be_used_say_why() {
    let interface =
        |name: &str, protocol: &str, dir: &str| map(protocol, dir, "").replace("\"port\"", &format!("\"{name}\""));
    let [down, up] = [("tx", "down"), ("rx", "up")].map(|(name, dir)| interface(name, "cxl-68b", dir));
    let link = |more: &str| format!("{down}{up}[[link]]\nname = \"end\"\nsends = \"tx\"\nreceives = \"rx\"\n{more}");
    assert!(Map::read(&link("reaction_flits = 9\nretry_entries = 64\n"), "m.toml").is_ok());
    for (text, expected) in [
        (
            link("").replace("sends = \"tx\"", "sends = \"ty\""),
            "key `sends`: found `ty`, expected the name of an interface: tx, rx",
        ),
        (
            link("").replace("sends = \"tx\"", "sends = \"rx\""),
            "found cxl-68b up and cxl-68b up, expected both directions",
        ),
        (link("").replacen("cxl-68b", "cxl-io", 1), "expected both directions of one protocol"),
        (link("retry_entries = 3\n"), "link `end`, config"),
        (
            link("interleave = 3\n").replace("cxl-68b", "ualink"),
            "link `end`, interleave: found 3, expected 1, 2 or 4 code words",
        ),
        (link("interleave = 2\n"), "key `interleave`: found a value for a link of cxl-68b, expected one of ualink"),
        (
            link("selective_nak = true\n"),
            "key `selective_nak`: found a value for a link of cxl-68b, expected one of 256B flits",
        ),
        (
            link("timeout_flits = 9\n").replace("cxl-68b", "cxl-256b"),
            "key `timeout_flits`: found a value for a link of cxl-256b, expected one of cxl-68b",
        ),
        (
            link("reaction_flits = 9\n").replace("cxl-68b", "nvlink"),
            "key `reaction_flits`: found a value for a link of nvlink, expected one of cxl-68b or ualink",
        ),
        (
            link("[[link]]\nname = \"end\"\nsends = \"rx\"\nreceives = \"tx\"\n"),
            "link 1, key `name`: found `end` again, expected another name",
        ),
        (link("").replace("\"end\"", "\"\""), "link 0, key `name`: found ``, expected a name"),
        (
            link("[[coherence]]\nlinks = [\"end\"]\n").replace("cxl-68b", "cxl-io"),
            "found `end`, a link of cxl-io, expected one with messages of CXL.cachemem",
        ),
        (link("max = 3\n"), "unknown field `max`"),
    ] {
        let found = Map::read(&text, "m.toml").expect_err("an error").to_string();
        assert!(found.contains(expected), "`{found}` does not say `{expected}`");
    }
}

/// A dump of some signals, one row of values a cycle of the clock; values are binary digits.
fn dump_of(signals: &[(&str, usize)], rows: &[Vec<String>]) -> String {
    let id = |n: usize| char::from(b'd' + n as u8);
    let var = |(n, (name, width)): (usize, &(&str, usize))| format!("$var wire {width} {} {name} $end\n", id(n));
    let declared: String = signals.iter().enumerate().map(var).collect();
    let mut text = format!(
        "$timescale 1ns $end\n$scope module tb $end\n$var wire 1 c clk $end\n{declared}$upscope $end\n\
         $enddefinitions $end\n"
    );
    for (cycle, row) in rows.iter().enumerate() {
        let t = cycle as u64 * PERIOD_NS;
        let values: String = row.iter().enumerate().map(|(n, value)| format!("b{value} {}\n", id(n))).collect();
        text += &format!("#{t}\n0c\n{values}#{}\n1c\n", t + PERIOD_NS / 2);
    }
    text
}

fn binary(bytes: &[u8]) -> String {
    bytes.iter().rev().map(|byte| format!("{byte:08b}")).collect()
}

fn map_of_bus(keys: &str) -> String {
    format!("[[interface]]\nname = \"port\"\nprotocol = \"cxl-68b\"\ndir = \"down\"\nclock = \"clk\"\n{keys}")
}

const AXI: &[(&str, usize)] =
    &[("m_tvalid", 1), ("m_tready", 1), ("m_tdata", 256), ("m_tkeep", 32), ("m_tlast", 1), ("m_tuser", 1)];

/// Flits of 68 bytes on an AXI-Stream of 32 bytes: three beats, of which the last one keeps four. Every other cycle waits.
fn axi_rows(sent: &[Vec<u8>]) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for unit in sent {
        for (n, part) in unit.chunks(32).enumerate() {
            let mut beat = part.to_vec();
            beat.resize(32, 0xee);
            let keep = if n == 2 { "1111".into() } else { "1".repeat(32) };
            let last = u8::from(n == 2).to_string();
            let row =
                |ready: &str| vec!["1".into(), ready.into(), binary(&beat), keep.clone(), last.clone(), "x".into()];
            rows.extend([row("0"), row("1")]);
        }
    }
    rows
}

#[test]
fn an_axi_stream_is_read_by_its_prefix() {
    let sent = good("cxl68/flit_cxl-68b_down");
    let keys = "bus = \"axi-stream\"\nprefix = \"m\"\n";
    let found = inspected(&dump_of(AXI, &axi_rows(&sent)), &map_of_bus(keys)).expect("a wave");
    assert!(units(&found) == sent, "other flits");
    assert_eq!((rules(&found), found.counts[0].left_over_beats), (vec![], 0));
    // A tlast that is missing costs the next flit its beginning; one that is early cuts its flit.
    for (row, last) in [(5, "0"), (9, "1")] {
        let mut rows = axi_rows(&sent[..3]);
        rows[row][4] = last.into();
        let found = inspected(&dump_of(AXI, &rows), &map_of_bus(keys)).expect("a wave");
        assert!(!rules(&found).is_empty() && rules(&found).iter().all(|rule| *rule == "SIM-WAV-02"), "{row}");
        assert!(units(&found) == [sent[0].clone(), sent[2].clone()], "{row}: other flits");
    }
    // An early one is told at its beat, be it the last one of the wave, and a late one where the next flit should begin.
    for (left, row, last, told_at, words) in
        [(4, 3, "1", 3, ["1 in `last`", "64 of its 68 bytes"]), (8, 5, "0", 7, ["0 in `last`", "0 of its 68 bytes"])]
    {
        let mut rows = axi_rows(&sent[..2]);
        rows.truncate(left);
        rows[row][4] = last.into();
        let found = inspected(&dump_of(AXI, &rows), &map_of_bus(keys)).expect("a wave");
        let broken: Vec<_> = found.seen.iter().flat_map(|unit| &unit.broken).collect();
        let [broken] = broken[..] else { panic!("{broken:#?}") };
        let edge_fs = (told_at * PERIOD_NS + PERIOD_NS / 2) * 1_000_000;
        assert_eq!((broken.violation.rule, broken.t_fs), ("SIM-WAV-02", edge_fs));
        let said = format!("{} {}", broken.violation.found, broken.violation.text);
        assert!(words.iter().all(|word| said.contains(word)), "{said}");
    }
    // Null bytes may come first, stand between others, and fill a beat, even the one that ends the packet.
    let mut rows = axi_rows(&sent[..2]);
    let end = &sent[0][64..];
    rows[5][2] = binary(&[0xee, 0xee, end[0], 0xee, end[1], end[2], end[3], 0xee]);
    (rows[5][3], rows[5][4]) = ("1110100".into(), "0".into());
    let nothing = |last: &str| ["1", "1", &"x".repeat(256), "0", last, "x"].map(String::from).to_vec();
    rows.insert(6, nothing("1"));
    rows.insert(0, nothing("0"));
    let found = inspected(&dump_of(AXI, &rows), &map_of_bus(keys)).expect("a wave");
    assert_eq!((units(&found) == sent[..2], rules(&found)), (true, vec![]));
    // Whether a byte counts is not known where its bit is x.
    rows[6][3] = "x110100".into();
    let found = inspected(&dump_of(AXI, &rows), &map_of_bus(keys)).expect("a wave");
    assert_eq!((units(&found) == sent[1..2], rules(&found)), (true, vec!["SIM-WAV-01"]));
    // A beat that keeps too little cuts its flit as well.
    let mut rows = axi_rows(&sent[..3]);
    rows[7][3] = "111".into();
    assert!(rules(&inspected(&dump_of(AXI, &rows), &map_of_bus(keys)).expect("a wave")).contains(&"SIM-WAV-02"));
}

#[test]
fn other_buses_are_read_by_their_prefix() {
    let sent: Vec<Vec<u8>> =
        good("cxl68/flit_cxl-68b_down").into_iter().filter(|unit| unit[..2] == [0x55, 0x55]).collect();
    let one = || "1".to_owned();
    let whole = |unit: &Vec<u8>| binary(unit);
    let credited = [("p_valid", 1), ("p_data", 544), ("p_crdgnt", 1)];
    let rows: Vec<_> = sent.iter().map(|unit| vec![one(), whole(unit), "0".into()]).collect();
    let state = [("p_irdy", 1), ("p_valid", 1), ("p_trdy", 1), ("p_data", 544)];
    // Each flit is offered without irdy, without trdy, and passes then.
    let waits = ["011", "110", "111"];
    let of_state = sent
        .iter()
        .flat_map(|unit| waits.map(|levels| levels.chars().map(String::from).chain([whole(unit)]).collect::<Vec<_>>()));
    let slots = [("p_valid", 1), ("p_data", 512)];
    let of_slots = sent.iter().map(|unit| vec![one(), binary(&unit[2..66])]);
    for (bus, wave) in [
        ("credited", dump_of(&credited, &rows)),
        ("state", dump_of(&state, &of_state.collect::<Vec<_>>())),
        ("slots68", dump_of(&slots, &of_slots.collect::<Vec<_>>())),
    ] {
        let keys = format!("bus = \"{bus}\"\nprefix = \"p\"\n");
        let found = inspected(&wave, &map_of_bus(&keys)).expect("a wave");
        assert!(units(&found) == sent, "{bus}: other flits");
        assert_eq!(rules(&found), [""; 0], "{bus}");
    }
    // Bytes in another order.
    let order: Vec<usize> = (0..68).rev().collect();
    let turned =
        sent.iter().map(|unit| vec![one(), binary(&unit.iter().rev().copied().collect::<Vec<_>>()), "0".into()]);
    let keys = format!("bus = \"credited\"\nprefix = \"p\"\norder = {order:?}\n");
    let turned: Vec<_> = turned.collect();
    let found = inspected(&dump_of(&credited, &turned), &map_of_bus(&keys)).expect("a wave");
    assert!(units(&found) == sent, "other flits");
    // So on an AXI-Stream that has no tkeep.
    let axi = [("p_tvalid", 1), ("p_tdata", 544), ("p_tuser", 1)];
    let found =
        inspected(&dump_of(&axi, &turned), &map_of_bus(&keys.replace("credited", "axi-stream"))).expect("a wave");
    assert!(units(&found) == sent, "other flits");
}

/// Rows of a bus with credits: reset, valid, data, crdgnt. Each letter of `edges` is an edge: `r` reset, `g` a grant, `b` a beat, `x` a beat at
/// the edge of a grant, `u` a grant that is not known, `y` a beat at its edge, `.` nothing.
fn credit_rows(edges: &str) -> String {
    let unit = binary(&good("cxl68/flit_cxl-68b_down")[0]);
    let row = |edge: char| {
        let beat = ['b', 'x', 'y'].contains(&edge);
        let grant = match edge {
            'g' | 'x' => "1",
            'u' | 'y' => "x",
            _ => "0",
        };
        let bit = |is: bool| if is { "1" } else { "0" }.to_owned();
        vec![bit(edge != 'r'), bit(beat), if beat { unit.clone() } else { "x".repeat(544) }, grant.into()]
    };
    let signals = [("rst_n", 1), ("p_valid", 1), ("p_data", 544), ("p_crdgnt", 1)];
    dump_of(&signals, &edges.chars().map(row).collect::<Vec<_>>())
}

const CREDITED: &str = "reset = \"rst_n\"\nbus = \"credited\"\nprefix = \"p\"\n";

#[test]
fn sim_wav_03_p() {
    for (edges, flits) in [("rrgb", 1), ("rrggg.bxbb", 4), ("bbrgb", 3), ("bb", 2), ("rggrgb", 1)] {
        let found = inspected(&credit_rows(edges), &map_of_bus(CREDITED)).expect("a wave");
        assert_eq!((rules(&found), units(&found).len()), (vec![], flits), "{edges}");
    }
}

#[test]
fn sim_wav_03_n() {
    // Without a credit, with one of the same edge, with one of before the reset, and twice with one.
    for (edges, beat, told) in [("rb", 1, 1), ("rx", 1, 1), ("rgrb", 3, 1), ("rgbb", 3, 1), ("rbbgb", 1, 2)] {
        let found = inspected(&credit_rows(edges), &map_of_bus(CREDITED)).expect("a wave");
        assert_eq!(rules(&found), vec!["SIM-WAV-03"; told], "{edges}");
        let broken = found.seen.iter().flat_map(|seen| &seen.broken).next().expect("a finding");
        let edge_fs = (beat * PERIOD_NS + PERIOD_NS / 2) * 1_000_000;
        assert_eq!((broken.t_fs, broken.signal.as_str()), (edge_fs, "tb.p_crdgnt"), "{edges}");
        // The beat is taken all the same.
        assert_eq!(units(&found).len(), edges.matches(['b', 'x']).count(), "{edges}");
    }
    // A grant that is not known is told as such, and may have been one; a beat at its edge spends a credit of before.
    let (unknown, without) = ("SIM-WAV-01", "SIM-WAV-03");
    for (edges, told) in [
        ("rgub", vec![unknown]),
        ("rub", vec![unknown]),
        ("ruy", vec![unknown; 2]),
        ("ryb", vec![unknown, without]),
        ("rgybb", vec![unknown, without]),
    ] {
        let found = inspected(&credit_rows(edges), &map_of_bus(CREDITED)).expect("a wave");
        assert_eq!(rules(&found), told, "{edges}");
    }
}

/// Rows of a bus with states: irdy, valid, trdy, data, state_sts, of which each letter gives one: the levels, and the state.
fn state_wave(edges: &[(&str, &str)]) -> String {
    let unit = binary(&good("cxl68/flit_cxl-68b_down")[0]);
    let signals = [("p_irdy", 1), ("p_valid", 1), ("p_trdy", 1), ("p_data", 544), ("p_state_sts", 4)];
    let row = |(levels, state): &(&str, &str)| {
        levels.chars().map(String::from).chain([unit.clone(), (*state).to_owned()]).collect::<Vec<_>>()
    };
    dump_of(&signals, &edges.iter().map(row).collect::<Vec<_>>())
}

const STATES: &str = "bus = \"state\"\nprefix = \"p\"\n";

#[test]
fn sim_wav_04_p() {
    let edges = [("000", "0"), ("010", "0"), ("100", "0"), ("110", "1"), ("111", "1"), ("001", "10"), ("000", "x")];
    let found = inspected(&state_wave(&edges), &map_of_bus(STATES)).expect("a wave");
    assert_eq!((rules(&found), units(&found).len()), (vec![], 1));
}

#[test]
fn sim_wav_04_n() {
    // Data that waits outside of Active is told once, anew where Active was between, and where the state is not known.
    let edges = [
        ("110", "0"),
        ("110", "0"),
        ("110", "1"),
        ("111", "1"),
        ("111", "1001"),
        ("000", "1"),
        ("110", "xxxx"),
        ("000", "1"),
    ];
    let found = inspected(&state_wave(&edges), &map_of_bus(STATES)).expect("a wave");
    let broken: Vec<_> = found.seen.iter().flat_map(|seen| &seen.broken).collect();
    let said: Vec<_> =
        broken.iter().map(|b| (b.violation.rule, b.violation.found.as_str(), b.t_fs / 1_000_000)).collect();
    let state = |state: &'static str, edge: u64| ("SIM-WAV-04", state, edge * PERIOD_NS + PERIOD_NS / 2);
    assert_eq!(said, [state("data in state 0000", 0), state("data in state 1001", 4), state("data in state xxxx", 6)]);
    assert_eq!((broken[0].signal.as_str(), units(&found).len()), ("tb.p_state_sts[3:0]", 2));
}

/// An interface in reset, then out of it.
#[test]
fn sim_wav_05_p() {
    for edges in ["r.", ".", "rr."] {
        let found = inspected(&credit_rows(edges), &map_of_bus(CREDITED)).expect("a wave");
        assert_eq!((rules(&found), found.counts[0].edges), (vec![], 1), "{edges}");
    }
}

/// A wave that never leaves reset, one whose reset is never known, and one whose clock stands still: nothing was judged.
#[test]
fn sim_wav_05_n() {
    let unknown = credit_rows("...").replace("\nb1 d\n", "\nbx d\n");
    let still = credit_rows("...").replace("\n1c\n", "\n0c\n");
    for (wave, edges) in [(credit_rows("rrr"), "3 edges"), (unknown, "3 edges"), (still, "0 edges")] {
        let found = inspected(&wave, &map_of_bus(CREDITED)).expect("a wave");
        assert_eq!(rules(&found), ["SIM-WAV-05"], "{edges}");
        let broken = &found.seen[0].broken[0];
        let expected = format!("{edges}, all of them in reset");
        assert_eq!((broken.violation.found.as_str(), broken.signal.as_str()), (expected.as_str(), "tb.clk"));
    }
}

/// A reset that was 0 or 1 and is not known any more; it is told once, at the edge at which that is sampled.
#[test]
fn a_reset_that_is_not_known_any_more_is_told_once() {
    let wave = credit_rows("r.....");
    let lost: Vec<String> = wave
        .split("#")
        .enumerate()
        .map(|(n, part)| if n > 6 { part.replace("b1 d", "bx d") } else { part.to_owned() })
        .collect();
    let found = inspected(&lost.join("#"), &map_of_bus(CREDITED)).expect("a wave");
    assert_eq!((rules(&found), found.counts[0].edges), (vec!["SIM-WAV-01"], 2));
    let broken = &found.seen[0].broken[0];
    assert_eq!((broken.t_fs, broken.signal.as_str()), ((3 * PERIOD_NS + PERIOD_NS / 2) * 1_000_000, "tb.rst_n"));
}

#[test]
fn buses_that_cannot_be_used_say_why() {
    let wave = dump_of(AXI, &axi_rows(&good("cxl68/flit_cxl-68b_down")[..1]));
    for (keys, expected) in [
        ("", "key `data`: found none, expected a signal, or `bus` and `prefix`"),
        ("bus = \"credited\"\n", "key `bus`: found a value, expected `prefix` beside it"),
        ("data = \"m_tdata\"\nprefix = \"m\"\n", "key `prefix`: found a value, expected `bus` beside it"),
        ("bus = \"axi\"\nprefix = \"m\"\n", "key `bus`: found `axi`, expected one of `axi-stream`, `credited`"),
        ("bus = \"slots68\"\nprefix = \"m\"\nunit_bits = 528\n", "expected cxl-68b, 512 bits"),
        ("data = \"d\"\nfirst = \"f\"\nlast = \"l\"\n", "key `last`: found a value beside `first`"),
        ("bus = \"axi-stream\"\nprefix = \"m\"\norder = [0]\n", "key `order`: found a value beside `keep`"),
        ("bus = \"axi-stream\"\nprefix = \"s\"\n", "found `s_tvalid`, expected a signal of"),
        ("bus = \"axi-stream\"\nprefix = \"m\"\nkeep = \"m_tlast\"\n", "found 1 bits in `tb.m_tlast`, expected 32"),
        ("data = \"m_tdata\"\norder = [0, 0]\n", "found [0, 0], expected each of 0 to 31 once"),
    ] {
        let found = inspected(&wave, &map_of_bus(keys)).expect_err(keys).to_string();
        assert!(found.contains(expected), "`{found}` does not say `{expected}`");
    }
    // Two scopes have a tlast of this name, and they are not one signal.
    let again = "$scope module x $end\n$var wire 1 ! m_tlast $end\n$upscope $end\n\
                 $scope module y $end\n$var wire 1 \" m_tlast $end\n$upscope $end\n";
    let twice =
        wave.replacen("m_tlast", "m_other", 1).replacen("$enddefinitions", &format!("{again}$enddefinitions"), 1);
    let found = inspected(&twice, &map_of_bus("bus = \"axi-stream\"\nprefix = \"m\"\n")).expect_err("two signals");
    assert!(found.to_string().contains("found `m_tlast`, which is 2 signals"), "{found}");
}
