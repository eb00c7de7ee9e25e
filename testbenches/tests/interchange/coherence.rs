//! Coherence in waves: the links of whole systems are silent, and one bit of data is heard.

use crate::interchange::{read, run, work};
use scalepool::inspect::{Inspection, Map, inspect};
use scalepool::scenario::observe::Outputs;

/// A link of our own waves, where flits are seen as they arrive: the places of its lower and its upper end.
pub type Ends = [&'static str; 2];

/// The map of some links, judged together for coherence.
fn map(protocol: &str, links: &[Ends], coherence: &str) -> String {
    judged(protocol, links, "coherence", coherence)
}

/// The map of some links, judged together by a table.
pub fn judged(protocol: &str, links: &[Ends], table: &str, keys: &str) -> String {
    let interface = |name: &str, dir: &str, place: &str| {
        format!(
            "[[interface]]\nname = \"{name}\"\nprotocol = \"{protocol}\"\ndir = \"{dir}\"\nclock = \"{place}.flit.seq\"\n\
             edge = \"any\"\ndata = \"{place}.flit.raw\"\n"
        )
    };
    let link = |(n, [lower, upper]): (usize, &Ends)| {
        let ends = [interface(&format!("down{n}"), "down", lower), interface(&format!("up{n}"), "up", upper)];
        format!("{}[[link]]\nname = \"link{n}\"\nsends = \"down{n}\"\nreceives = \"up{n}\"\n", ends.concat())
    };
    let names: Vec<String> = (0..links.len()).map(|n| format!("\"link{n}\"")).collect();
    let links: String = links.iter().enumerate().map(link).collect();
    format!("{links}[[{table}]]\nlinks = [{}]\n{keys}", names.join(", "))
}

pub fn inspected(wave: &str, map: &str) -> Inspection {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("w.vcd");
    std::fs::write(&path, wave).expect("a wave");
    inspect(&path, Map::read(map, "m.toml").expect("a map"), "m.toml").expect("a wave")
}

pub fn broken(inspection: &Inspection) -> Vec<String> {
    let broken = inspection.seen.iter().flat_map(|seen| &seen.broken);
    broken.map(|b| format!("{} {}", b.signal, b.violation)).collect()
}

/// Systems of every coherent protocol and topology, in each mode of their links.
#[test]
fn links_of_systems_are_silent() {
    const PAIR: &[Ends] = &[["dev[0].link", "host.port[0]"], ["dev[1].link", "host.port[1]"]];
    const SHARE: &[Ends] = &[["dev[0].link[0]", "host[0].port[0]"], ["dev[0].link[1]", "host[1].port[0]"]];
    const BELOW: &[Ends] = &[["dev[0].link", "switch.dsp[0]"], ["dev[1].link", "switch.dsp[1]"]];
    const HDM_DB: &str = "memory = \"hdm-db\"\n";
    for (scenario, protocol, links, coherence) in [
        ("cxl-cache-pair", "cxl-256b", PAIR, ""),
        ("cxl-cache-pair", "cxl-256b", PAIR, "all_writers_seen = true\n"),
        ("cxl-cache-pair", "cxl-68b", PAIR, ""),
        ("cxl-cache-switch", "cxl-256b", &[["switch.usp[0]", "host.port[0]"]], ""),
        ("cxl-cache-switch", "cxl-256b", BELOW, ""),
        ("hdm-db-share", "cxl-256b", SHARE, HDM_DB),
        ("hdm-db-fabric", "cxl-256b-pbr", &[["dev[0].link[0]", "switch[0].trunk"]], HDM_DB),
        // Sixteen hosts on one link, by LD-ID and BI-ID.
        ("share-16", "cxl-256b", &[["dev.link[0]", "switch.dsp[0]"]], HDM_DB),
        ("bias-flip", "cxl-68b", &[["dev[0].link", "host.port[0]"]], "memory = \"hdm-d\"\n"),
        ("bias-flip", "cxl-256b-lopt", &[["dev[0].link", "host.port[0]"]], "memory = \"hdm-d\"\n"),
        ("cxl68-expander", "cxl-68b", &[["device.cxl", "host.cxl"]], "all_writers_seen = true\n"),
    ] {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let wave = dir.path().join("w.vcd");
        let mode = format!("link.mode={protocol}");
        let [core, host] = [("core.accesses", 300), ("host.accesses", 1000)].map(|(key, whole)| work(key, whole));
        let set = match scenario {
            "cxl68-expander" => vec![host.as_str(), "host.region_lines=64", "host.cache_bytes=1KiB"],
            "hdm-db-fabric" => vec![core.as_str()],
            "share-16" => vec!["core.accesses=40"],
            _ => vec![core.as_str(), mode.as_str()],
        };
        run(scenario, &set, Outputs { vcd: Some(wave.clone()), ..Outputs::default() });
        let text = map(protocol, links, coherence);
        let found = inspect(&wave, Map::read(&text, "m.toml").expect("a map"), "m.toml").expect("a wave");
        assert_eq!(broken(&found), [""; 0], "{scenario} {protocol}");
        assert!(found.counts.iter().all(|count| count.units > 100), "{scenario} {protocol}: {:?}", found.counts);
    }
}

/// Slots alone have no CRC, so a bit of data that changes in them is for nobody to see but the monitor, where the line is read
/// or written a second time.
#[test]
fn a_bit_of_data_is_heard() {
    // A host without a cache, so that each access is seen.
    let dir = tempfile::tempdir().expect("a temporary folder");
    let vcd = dir.path().join("w.vcd");
    let set = ["host.cache_bytes=0", "host.region_lines=8", "host.accesses=200"];
    run("cxl68-expander", &set, Outputs { vcd: Some(vcd.clone()), ..Outputs::default() });
    let wave = read(&vcd);
    let slots = |map: String| map.replace(".raw\"\n", ".raw[527:16]\"\nunit_bits = 512\n");
    let ends: &[Ends] = &[["device.cxl", "host.cxl"]];
    let [deaf, hearing] = ["", "all_writers_seen = true\n"].map(|more| slots(map("cxl-68b", ends, more)));
    assert_eq!(broken(&inspected(&wave, &hearing)), [""; 0]);
    // Answers with data as the host gets them: the flits behind a header, all of whose slots are data.
    let all = inspected(&wave, &hearing);
    let of_host = all.seen.iter().filter(|seen| seen.interface == 1);
    let data: Vec<_> = of_host.filter(|s| s.form.as_ref().is_some_and(|f| f["kind"] == "all-data")).collect();
    assert!(data.len() > 11, "{} flits of data", data.len());
    let mut heard = Vec::new();
    for seen in data.iter().take(12) {
        let hex: String = seen.bytes[2..66].iter().rev().map(|byte| format!("{byte:08b}")).collect();
        let other = format!("{}{}", &hex[..511], if hex.ends_with('1') { '0' } else { '1' });
        // A wave leaves the zeros in front out.
        let changed = wave.replace(hex.trim_start_matches('0'), other.trim_start_matches('0'));
        assert_ne!(changed, wave, "the flit at {} fs", seen.t_fs);
        assert_eq!(broken(&inspected(&changed, &deaf)), [""; 0]);
        heard.extend(broken(&inspected(&changed, &hearing)));
    }
    assert!(!heard.is_empty() && heard.iter().all(|text| text.contains(" COH-INV-02 at line ")), "{heard:#?}");
}

#[test]
fn maps_that_cannot_be_used_say_why() {
    let good = map("cxl-68b", &[["device.cxl", "host.cxl"]], "");
    for (text, expected) in [
        (
            good.replace("[\"link0\"]", "[\"link1\"]"),
            "coherence 0, key `links`: found `link1`, expected the name of one [[link]]: link0",
        ),
        (good.replace("[\"link0\"]", "[]"), "coherence 0, key `links`: found none, expected"),
        (good.replace("[\"link0\"]", "[\"link0\", \"link0\"]"), "found `link0` again, expected another link"),
        (good.replace("cxl-68b", "nvlink"), "found `link0`, a link of nvlink, expected one of CXL"),
        (
            format!("{good}memory = \"hdm\"\n"),
            "coherence 0, key `memory`: found `hdm`, expected one of `hdm-h`, `hdm-db`, `hdm-d`",
        ),
        (format!("{good}closed = true\n"), "unknown field `closed`"),
    ] {
        let found = Map::read(&text, "m.toml").expect_err("an error").to_string();
        assert!(found.contains(expected), "`{found}` does not say `{expected}`");
    }
}
