//! Transactions in waves: the links of whole systems are silent, and one bit of a tag is heard at the flit that has it.

use super::coherence::{Ends, broken, inspected, judged};
use crate::interchange::{read, run, work};
use scalepool::forms::flit::{FlitDecoder, FlitEncoder};
use scalepool::inspect::{Inspection, Map, inspect};
use scalepool::link::hook::Direction;
use scalepool::link::protocol::LinkProtocol;
use scalepool::link::watch::{EndWatch, WatchConfig, WatchedContent};
use scalepool::scenario::observe::Outputs;
use scalepool_protocols::cxl::Dir;
use serde_json::{Value, json};

/// Every kind of memory, in each mode of its links; all runs end at rest, and a millisecond is longer than any of them waits.
#[test]
fn transactions_of_systems_are_silent() {
    const SHARE: &[Ends] = &[["dev[0].link[0]", "host[0].port[0]"], ["dev[0].link[1]", "host[1].port[0]"]];
    const HOST: &[Ends] = &[["dev[0].link", "host.port[0]"]];
    const MEMORY: &[Ends] = &[["device.cxl", "host.cxl"]];
    const DB: &str = "memory = \"hdm-db\"\n";
    const D: &str = "memory = \"hdm-d\"\n";
    const PORT: &[Ends] = &[["accel[1].port[0]", "accel[0].port[0]"]];
    const PAIR: &[Ends] = &[["dev[0].link", "host.port[0]"], ["dev[1].link", "host.port[1]"]];
    const IO: &[Ends] = &[["device.link", "host.link"]];
    const IO_KEYS: &str = "of = \"cxl-io\"\nall_writers_seen = true\n";
    const CACHE: &str = "of = \"cxl-cache\"\n";
    const SEEN: &str = "all_writers_seen = true\nunique_tags = true\n";
    for (scenario, protocol, links, keys) in [
        ("hdm-db-share", "cxl-256b", SHARE, DB),
        ("hdm-db-fabric", "cxl-256b-pbr", &[["dev[0].link[0]", "switch[0].trunk"]], DB),
        ("share-16", "cxl-256b", &[["dev.link[0]", "switch.dsp[0]"]], DB),
        ("bias-flip", "cxl-68b", HOST, D),
        ("bias-flip", "cxl-256b-lopt", HOST, D),
        ("cxl-cache-pair", "cxl-68b", PAIR, CACHE),
        ("cxl-cache-pair", "cxl-256b", PAIR, CACHE),
        ("bias-flip", "cxl-68b", HOST, CACHE),
        ("cxl68-expander", "cxl-68b", MEMORY, SEEN),
        ("cxl68-expander", "cxl-256b", MEMORY, SEEN),
        ("ualink-pair", "ualink", PORT, "all_writers_seen = true\nstrict = true\n"),
        ("ualink-pair relaxed", "ualink", PORT, "all_writers_seen = true\n"),
        ("cxlio-enumerate", "cxl-io", IO, IO_KEYS),
        ("cxlio-enumerate", "cxl-68b", IO, IO_KEYS),
        ("nvlink-pair", "nvlink", &[["gpu[1].link[0]", "gpu[0].link[0]"]], "all_writers_seen = true\n"),
    ] {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let wave = dir.path().join("w.vcd");
        let mode = format!("link.mode={protocol}");
        let [core, host] = [("core.accesses", 300), ("host.accesses", 1000)].map(|(key, whole)| work(key, whole));
        let [operations, requests] = ["traffic.operations", "traffic.requests"].map(|key| work(key, 400));
        let set = match scenario {
            "cxl68-expander" => {
                vec![host.as_str(), "host.region_lines=64", "host.cache_bytes=1KiB", mode.as_str()]
            }
            "cxlio-enumerate" if protocol == "cxl-io" => vec!["link.cachemem=off", "link.mode=cxl-256b"],
            "cxlio-enumerate" => vec!["link.cachemem=off", mode.as_str()],
            "hdm-db-fabric" => vec![core.as_str()],
            "share-16" => vec!["core.accesses=40"],
            "ualink-pair" => vec![operations.as_str()],
            "nvlink-pair" => vec![requests.as_str(), "link.count=1"],
            // Each beat by itself, the last one first.
            "ualink-pair relaxed" => vec![operations.as_str(), "link.order=relaxed", "accel.responses=single"],
            _ => vec![core.as_str(), mode.as_str()],
        };
        let name = scenario.split(' ').next().unwrap_or_default();
        run(name, &set, Outputs { vcd: Some(wave.clone()), ..Outputs::default() });
        let text =
            judged(protocol, links, "transactions", &format!("{keys}answer_ns = 1000000\nends_at_rest = true\n"));
        // In these waves a unit of NVLink is a packet.
        let text =
            text.replace(".raw\"\n", if protocol == "nvlink" { ".raw\"\nunit_bits = 2304\n" } else { ".raw\"\n" });
        let found = inspect(&wave, Map::read(&text, "m.toml").expect("a map"), "m.toml").expect("a wave");
        assert_eq!(broken(&found), [""; 0], "{scenario} {protocol}");
        assert!(found.counts.iter().all(|count| count.units > 100), "{scenario} {protocol}: {:?}", found.counts);
    }
}

/// A link whose ends have agreed on authentication is read with the option, and is not without it; both directions have the same.
#[test]
fn options_of_a_link_are_those_of_its_interfaces() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let wave = dir.path().join("w.vcd");
    let set = ["traffic.operations=100", "link.authentication=auth"];
    run("ualink-pair", &set, Outputs { vcd: Some(wave.clone()), ..Outputs::default() });
    let keys = "all_writers_seen = true\nstrict = true\n";
    let plain = judged("ualink", &[["accel[1].port[0]", "accel[0].port[0]"]], "transactions", keys);
    let option = "protocol = \"ualink\"\noptions = [\"authentication=on\"]\n";
    let agreed = plain.replace("protocol = \"ualink\"\n", option);
    for (text, is_silent) in [(&agreed, true), (&plain, false)] {
        let found = inspect(&wave, Map::read(text, "m.toml").expect("a map"), "m.toml").expect("a wave");
        assert_eq!(broken(&found).is_empty(), is_silent, "{text}");
    }
    for (wrong, words) in [
        (plain.replacen("protocol = \"ualink\"\n", option, 1), "expected the same of both directions"),
        (
            plain.replace("protocol = \"ualink\"\n", "protocol = \"ualink\"\noptions = [\"mdh=on\"]\n"),
            "expected an option of ualink",
        ),
        (
            plain.replace("protocol = \"ualink\"\n", "protocol = \"ualink\"\noptions = [\"encryption\"]\n"),
            "encryption=on or encryption=off",
        ),
    ] {
        let error = Map::read(&wrong, "m.toml").expect_err("a map that says what is no option").to_string();
        assert!(error.contains(words), "{error}");
    }
}

/// All messages of a flit.
fn messages(dir: Dir, bytes: &[u8]) -> Vec<Value> {
    let answers = FlitDecoder::new("cxl-68b", dir).expect("a decoder").read(Ok(bytes));
    let (form, _) = answers.into_iter().next().and_then(Result::ok).expect("a flit");
    let slots = form["slots"].as_array().cloned().unwrap_or_default();
    let all = slots.iter().flat_map(|slot| slot["messages"].as_array().cloned().unwrap_or_default());
    all.filter(|message| message["fields"]["valid"] == 1).collect()
}

/// The same flit with another tag in its first message of a layout, which has it in this field; all other messages are the same.
fn with_other_tag(dir: Dir, bytes: &[u8], layout: &str, field: &str) -> Option<(Vec<u8>, u64)> {
    let before = messages(dir, bytes);
    let at = before.iter().position(|message| message["layout"] == layout)?;
    (16..528).rev().find_map(|bit| {
        let mut other = bytes.to_vec();
        other[bit / 8] ^= 1 << (bit % 8);
        let after = messages(dir, &other);
        let mut restored = after.clone();
        restored.get_mut(at)?["fields"][field] = before[at]["fields"][field].clone();
        let is_it = restored == before && after != before;
        is_it.then(|| Some((other, after[at]["fields"][field].as_u64()?))).flatten()
    })
}

/// A wave of an expander without a cache, so that each access is seen.
fn expander() -> String {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let vcd = dir.path().join("w.vcd");
    let set =
        ["host.cache_bytes=0", "host.region_lines=8", "host.accesses=200", "host.pattern=mix", "host.outstanding=4"];
    run("cxl68-expander", &set, Outputs { vcd: Some(vcd.clone()), ..Outputs::default() });
    read(&vcd)
}

/// Slots alone have no CRC, so that nothing but the transactions is wrong.
fn slots(keys: &str) -> String {
    let map = judged("cxl-68b", &[["device.cxl", "host.cxl"]], "transactions", keys);
    map.replace(".raw\"\n", ".raw[527:16]\"\nunit_bits = 512\n")
}

/// Binary digits of slots in a wave.
fn digits(bytes: &[u8]) -> String {
    bytes[2..66].iter().rev().map(|byte| format!("{byte:08b}")).collect()
}

fn rules(inspection: &Inspection) -> Vec<(&'static str, usize, u64, String)> {
    let all = inspection.seen.iter().flat_map(|seen| seen.broken.iter().map(move |broken| (seen, broken)));
    all.map(|(seen, broken)| (broken.violation.rule, seen.interface, seen.t_fs, broken.violation.found.clone()))
        .collect()
}

#[test]
fn a_bit_of_a_tag_is_heard_at_its_flit() {
    let wave = expander();
    let whole = inspected(&wave, &slots("all_writers_seen = true\nends_at_rest = true\n"));
    assert_eq!(broken(&whole), [""; 0]);
    let mut of_host = whole
        .seen
        .iter()
        .filter(|seen| seen.interface == 1 && seen.form.as_ref().is_some_and(|f| f["kind"] == "protocol"));
    // One whose slots stand once in the wave.
    let (seen, other, tag) = of_host
        .find_map(|seen| {
            let (other, tag) = with_other_tag(Dir::Up, &seen.bytes, "cxl68.s2m_ndr", "tag")?;
            let is_alone = messages(Dir::Up, &seen.bytes).len() == 1;
            let is_once = wave.matches(digits(&seen.bytes).trim_start_matches('0')).count() <= 2;
            (tag >= 0x8000 && is_once && is_alone).then_some((seen, other, tag))
        })
        .expect("a completion");
    let changed = wave.replace(digits(&seen.bytes).trim_start_matches('0'), digits(&other).trim_start_matches('0'));
    assert_ne!(changed, wave);
    let found = rules(&inspected(&changed, &slots("")));
    let expected = ("TXN-TAG-02", 1, seen.t_fs, format!("NDR Cmp with tag {tag:#x}"));
    assert_eq!(found.as_slice(), std::slice::from_ref(&expected));
    // The request that it should have answered waits for ever, for a limit or at the end.
    for (keys, rule, words) in [
        ("answer_ns = 1000\n", "TXN-END-02", "no answer in 1000 ns to MemWr to 0x"),
        ("ends_at_rest = true\n", "TXN-END-01", "no answer at the end of the run to MemWr to 0x"),
    ] {
        let found = rules(&inspected(&changed, &slots(keys)));
        let [first, second] = &found[..] else { panic!("{found:#?}") };
        assert_eq!(first, &expected);
        assert_eq!((second.0, second.1), (rule, 1), "{found:#?}");
        assert!(second.3.starts_with(words) && second.2 > seen.t_fs, "{found:#?}");
    }
}

/// A wave of two devices that cache lines of one host, and the map of the link of one of them without CRCs.
fn caches(keys: &str) -> (String, String) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let vcd = dir.path().join("w.vcd");
    let set = ["core.accesses=100", "core.lines=4", "link.mode=cxl-68b"];
    run("cxl-cache-pair", &set, Outputs { vcd: Some(vcd.clone()), ..Outputs::default() });
    let keys = format!("of = \"cxl-cache\"\n{keys}");
    let map = judged("cxl-68b", &[["dev[0].link", "host.port[0]"]], "transactions", &keys);
    (read(&vcd), map.replace(".raw\"\n", ".raw[527:16]\"\nunit_bits = 512\n"))
}

#[test]
fn a_bit_of_a_cqid_is_heard_at_its_flit() {
    let (wave, map) = caches("ends_at_rest = true\n");
    let whole = inspected(&wave, &map);
    assert_eq!(broken(&whole), [""; 0]);
    let mut of_device = whole.seen.iter().filter(|seen| seen.interface == 0 && seen.form.is_some());
    let (seen, other, cqid) = of_device
        .find_map(|seen| {
            let (other, cqid) = with_other_tag(Dir::Down, &seen.bytes, "cxl68.h2d_data", "cqid")?;
            let [shown, then] = [&seen.bytes, &other].map(|bytes| digits(bytes).trim_start_matches('0').len());
            let is_once = wave.matches(digits(&seen.bytes).trim_start_matches('0')).count() <= 2;
            // Bytes of the line stand above the header, so that both numbers have the same digits.
            (cqid >= 0x800 && is_once && shown == then && shown > 200).then_some((seen, other, cqid))
        })
        .expect("data of the host");
    let changed = wave.replace(digits(&seen.bytes).trim_start_matches('0'), digits(&other).trim_start_matches('0'));
    assert_ne!(changed, wave);
    let found = rules(&inspected(&changed, &map));
    let (rule, interface, t_fs, said) = &found[0];
    assert_eq!((*rule, *interface), ("TXN-TAG-02", 0), "{found:#?}");
    // It is told at the flit with the last bytes of the line, the next one at the latest.
    const FLIT_FS: u64 = 1_062_500;
    assert!((seen.t_fs..=seen.t_fs + FLIT_FS).contains(t_fs), "{found:#?}");
    assert!(said.ends_with(&format!("with CQID {cqid:#x}")), "{found:#?}");
    // The request that it should have answered is used again, or waits at the end.
    assert!(
        found[1..].iter().all(|(rule, ..)| ["TXN-TAG-04", "TXN-END-01", "TXN-TAG-02"].contains(rule)),
        "{found:#?}"
    );
    assert!(found.len() > 1, "{found:#?}");
}

/// A flit of a device whose header says 32 B and that has 48 B of data behind it, as the watcher of the host takes it apart.
#[test]
fn data_that_no_header_announces_is_seen() {
    let watched = |sz: u8, filling: &str| {
        let drs = json!({"layout": "cxl68.s2m_drs", "fields": {"opcode": "MemData", "tag": 5, "meta_field": "NoOp"}});
        let data = |slot| json!({"slot": slot, "format": "G0", "data": "11".repeat(16)});
        let last = json!({"slot": 3, "format": "G0", "hex": filling.repeat(16)});
        let header = json!({"slot": 0, "format": "H3", "messages": [drs]});
        let slots = json!([header, data(1), data(2), if sz == 1 { data(3) } else { last }]);
        let form = json!({"kind": "protocol", "header": {"sz": sz}, "slots": slots});
        let encoded = FlitEncoder::new("cxl-68b", Some(Dir::Up)).expect("an encoder").encode(Ok(form));
        let (form, _) = encoded.into_iter().next().and_then(Result::ok).expect("a flit");
        let hex = form["hex"].as_str().expect("bytes");
        let bytes: Vec<u8> =
            (0..hex.len() / 2).map(|n| u8::from_str_radix(&hex[2 * n..2 * n + 2], 16).expect("hex")).collect();
        let config = WatchConfig { messages: true, ..WatchConfig::new(LinkProtocol::Cxl68, Dir::Down) };
        let mut watch = EndWatch::new(&config).expect("a watcher");
        watch.unit(Direction::Rx, &bytes, 1).expect("a unit");
        let all = watch.take_messages().into_iter().map(|message| message.message);
        all.filter(|content| matches!(content, WatchedContent::SpareData { .. })).collect::<Vec<_>>()
    };
    assert_eq!(watched(0, "11"), [WatchedContent::SpareData { slot: 3 }]);
    assert_eq!((watched(0, "00"), watched(1, "11")), (vec![], vec![]));
}

#[test]
fn maps_of_transactions_that_cannot_be_used_say_why() {
    let good = judged("cxl-68b", &[["device.cxl", "host.cxl"]], "transactions", "");
    for (text, expected) in [
        (good.replace("[\"link0\"]", "[]"), "transactions 0, key `links`: found none, expected"),
        (
            format!("{}memory = \"hdm-h\"\n", good.replace("cxl-68b", "nvlink")),
            "key `memory`: found `hdm-h`, expected links of CXL",
        ),
        (
            format!("{}strict = true\n", good.replace("cxl-68b", "nvlink")),
            "transactions 0, key `strict`: found true, expected links of ualink",
        ),
        (
            judged("ualink", &[["a", "b"]], "transactions", "").replace("[\"link0\"]", "[\"link0\", \"other\"]")
                + "[[interface]]\nname = \"c\"\nprotocol = \"nvlink\"\ndir = \"down\"\nclock = \"c\"\ndata = \"d\"\n\
                   [[interface]]\nname = \"e\"\nprotocol = \"nvlink\"\ndir = \"up\"\nclock = \"c\"\ndata = \"f\"\n\
                   [[link]]\nname = \"other\"\nsends = \"c\"\nreceives = \"e\"\n",
            "key `links`: found `other`, a link of nvlink, expected one of ualink",
        ),
        (format!("{good}strict = true\n"), "transactions 0, key `strict`: found true, expected links of ualink"),
        (
            format!("{}memory = \"hdm-h\"\n", good.replace("cxl-68b", "ualink")),
            "key `memory`: found `hdm-h`, expected links of CXL",
        ),
        (format!("{}unique_tags = true\n", good.replace("cxl-68b", "ualink")), "key `unique_tags`: found true"),
        (format!("{good}memory = \"dram\"\n"), "transactions 0, key `memory`: found `dram`, expected one of"),
        (format!("{good}of = \"cxl\"\n"), "unknown variant `cxl`"),
        (
            good.replace("cxl-68b", "cxl-io"),
            "key `links`: found `link0`, a link of cxl-io, expected `of` = \"cxl-io\" beside it",
        ),
        (
            format!("{}of = \"cxl-io\"\nmemory = \"hdm-h\"\n", good.replace("cxl-68b", "cxl-io")),
            "key `memory`: found a value, expected `of` = \"cxl-mem\" beside it",
        ),
        (
            format!("{good}of = \"cxl-cache\"\nall_writers_seen = true\n"),
            "found true, expected `of` = \"cxl-mem\" or \"cxl-io\" beside it, or links of UALink or NVLink",
        ),
        (
            format!("{good}of = \"cxl-cache\"\nunique_tags = true\n"),
            "transactions 0, key `unique_tags`: found a value, expected `of` = \"cxl-mem\" beside it",
        ),
        (
            format!("{}of = \"cxl-mem\"\n", good.replace("cxl-68b", "ualink")),
            "transactions 0, key `of`: found a value, expected links of CXL",
        ),
        (format!("{good}answer_ns = -1\n"), "answer_ns"),
        (format!("{good}tags = 4\n"), "unknown field `tags`"),
    ] {
        let found = Map::read(&text, "m.toml").expect_err("an error").to_string();
        assert!(found.contains(expected), "`{found}` does not say `{expected}`");
    }
}
