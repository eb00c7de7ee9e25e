//! What a user sees of a wave: the decoded wave beside it, the page, coverage, waivers.

use crate::interchange::bus::{beats, dump};
use crate::interchange::{read, repository};
use scalepool::export::coverage::{CoverageReport, html, xml};
use scalepool::inspect::waiver::CalendarDay;
use scalepool::inspect::{InspectDetail, Inspection, Map, inspect_in_detail, told};
use scalepool::trace::gtkw::{self, DecodedView};
use scalepool::trace::vcd::VcdSink;
use scalepool::trace::{Hub, Sink, TraceFilter, TraceHeader};
use scalepool_protocols::registry;
use serde_json::Value;
use std::collections::BTreeMap;

/// Flits of the good cases of a golden set.
fn good(set: &str) -> Vec<Vec<u8>> {
    let text = read(&repository(&format!("golden/{set}.rsp")));
    let mut found: Vec<Vec<u8>> = Vec::new();
    for case in text.split("\nCount = ").skip(1).filter(|case| !case.contains("RULE = ")) {
        for hex in case.lines().filter_map(|line| line.strip_prefix("Flit = ")) {
            found.push(bytes_of(hex));
        }
    }
    found
}

fn map(protocol: &str, dir: &str, more: &str) -> String {
    format!(
        "[[interface]]\nname = \"port\"\nprotocol = \"{protocol}\"\ndir = \"{dir}\"\nclock = \"clk\"\nreset = \"rst_n\"\n\
         valid = \"valid\"\nready = \"ready\"\ndata = \"data\"\n{more}"
    )
}

fn inspected(units: &[Vec<u8>], map: &str, today: &str) -> Inspection {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("w.vcd");
    std::fs::write(&path, dump(&beats(units, units[0].len()), |_| (true, true))).expect("a wave");
    let map = Map::read(map, "m.toml").expect("a map");
    let detail = InspectDetail { history: true, coverage: true, today: Some(CalendarDay::read(today).expect("a day")) };
    inspect_in_detail(&path, map, "m.toml", detail).expect("a wave")
}

const TODAY: &str = "2027-01-15";

/// The data of a page.
fn data_of(page: &str) -> Value {
    let (_, data) = page.split_once("<script type=\"application/json\" id=\"data\">").expect("data");
    let (data, _) = data.split_once("</script>").expect("its end");
    serde_json::from_str(data).expect("JSON")
}

/// The bits of a part that a field takes, out of the digits of the unit.
fn bits_of(unit: &[u8], part: &Value, lsb: u64, width: u64) -> u128 {
    let mut value = 0;
    for run in part[2].as_array().expect("runs") {
        let [unit_bit, part_bit, bits] = [0, 1, 2].map(|n| run[n].as_u64().expect("a number"));
        for bit in part_bit.max(lsb)..(part_bit + bits).min(lsb + width) {
            let at = (unit_bit + bit - part_bit) as usize;
            value |= u128::from(unit[at / 8] >> (at % 8) & 1) << (bit - lsb);
        }
    }
    value
}

fn bytes_of(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hex")).collect()
}

/// Messages of a unit by the parts of its bytes: layout, and the number of every field that is not 0.
fn messages_by_parts(unit: &[u8], entry: &Value, layouts: &Value) -> Vec<(String, BTreeMap<String, u128>)> {
    let parts = entry["p"].as_array().expect("parts").iter().filter(|part| !part[1].is_null());
    let read = parts.map(|part| {
        let layout = &layouts[part[1].as_u64().expect("a layout") as usize];
        let fields = layout["fields"].as_array().expect("fields").iter().map(|field| {
            let [lsb, width] = ["lsb", "width"].map(|key| field[key].as_u64().expect("a number"));
            (field["name"].as_str().expect("a name").to_owned(), bits_of(unit, part, lsb, width))
        });
        (layout["layout"].as_str().expect("a name").to_owned(), fields.filter(|(_, value)| *value != 0).collect())
    });
    read.collect()
}

/// The number of a field that the codec has named.
fn number_of(layout: &str, field: &str, value: &Value) -> u128 {
    let def = registry::layouts().find(|def| def.name == layout).expect("a layout");
    let def = def.fields.iter().find(|known| known.name == field).expect("a field");
    match (value.as_u64(), value.as_str()) {
        (Some(number), _) => u128::from(number) >> def.address_lsb,
        (_, Some(text)) => match text.strip_prefix("0x") {
            Some(digits) => u128::from_str_radix(digits, 16).expect("digits") >> def.address_lsb,
            None => def.codes.expect("codes").codes.iter().find(|code| code.name == text).expect("a code").value,
        },
        _ => panic!("{layout} {field}: {value}"),
    }
}

#[test]
fn the_bytes_of_a_page_hold_the_fields_that_the_codec_reads() {
    for (protocol, set, dir) in [
        ("cxl-68b", "cxl68/flit_cxl-68b_down", "down"),
        ("cxl-68b", "cxl68/flit_cxl-68b_up", "up"),
        ("cxl-256b", "cxl256/flit_cxl-256b_down", "down"),
        ("cxl-256b-lopt", "cxl256/flit_cxl-256b-lopt_up", "up"),
        ("cxl-256b-pbr", "cxlpbr/flit_cxl-256b-pbr_down", "down"),
        ("nvlink", "nvlink/flit_nvlink_up", "up"),
        ("ualink", "ualink/flit_ualink_down", "down"),
    ] {
        let mut units = good(set);
        // Packets of NVLink have several lengths, and one bus has one.
        units.retain(|unit| unit.len() == units_of(protocol));
        units.truncate(60);
        let found = inspected(&units, &map(protocol, dir, ""), TODAY);
        let page = found.page("w.vcd", &TraceFilter::default());
        assert_eq!(page, found.page("w.vcd", &TraceFilter::default()));
        let data = data_of(&page);
        let mut compared = 0;
        assert_eq!(data["units"].as_array().map(Vec::len), Some(found.seen.len()));
        for (seen, entry) in found.seen.iter().zip(data["units"].as_array().expect("units")) {
            let form = seen.form.as_ref().expect("whole units");
            // Behind the FEC, as the codec reads them.
            let bytes = entry["r"].as_str().map_or(seen.bytes.clone(), bytes_of);
            let by_parts = messages_by_parts(&bytes, entry, &data["layouts"]);
            for (layout, fields) in told::messages(form) {
                // TLPs and DLLPs have no parts of their own, nor have messages of the DL of UALink.
                if layout.starts_with("ualink.dl_") || layout.starts_with("cxlio.") || form.get("control").is_some() {
                    continue;
                }
                let numbers = fields.iter().map(|(name, value)| (name.clone(), number_of(layout, name, value)));
                let expected: BTreeMap<String, u128> = numbers.filter(|(_, value)| *value != 0).collect();
                let is_there = by_parts.iter().any(|(name, found)| name == layout && *found == expected);
                let in_control = form["slots"].to_string().contains("control");
                assert!(is_there || in_control, "{protocol} {layout} {expected:?}: {by_parts:?}");
                compared += usize::from(is_there);
            }
            let header = form["packet"].get("header").or(form.get("header"));
            if let Some(header) = header.and_then(Value::as_object).filter(|header| !header.is_empty()) {
                // Behind the protocol ID, where there is one, the header is the first part with fields.
                let (layout, found) = &by_parts[0];
                let numbers = header.iter().map(|(name, value)| (name.clone(), number_of(layout, name, value)));
                let expected: BTreeMap<String, u128> = numbers.filter(|(_, value)| *value != 0).collect();
                assert_eq!(found, &expected, "{protocol} {layout}");
                compared += 1;
            }
            // No byte is in no part, and none in two without fields.
            let mut in_parts = vec![0; seen.bytes.len()];
            for part in entry["p"].as_array().expect("parts") {
                for run in part[2].as_array().expect("runs") {
                    let [at, _, bits] = [0, 1, 2].map(|n| run[n].as_u64().expect("a number") as usize);
                    assert!(at + bits <= 8 * seen.bytes.len(), "{protocol}: {part}");
                    (at / 8..(at + bits).div_ceil(8)).for_each(|byte| in_parts[byte] += usize::from(part[1].is_null()));
                }
            }
            assert!(in_parts.iter().all(|n| *n <= 1), "{protocol}: {:?}", entry["p"]);
        }
        // Headers alone are fewer.
        let least = if protocol == "ualink" { 100 } else { 20 };
        assert!(compared > least, "{protocol}: {compared}");
        // What is not data asks no network.
        let (frame, behind) = page.split_once("id=\"data\">").expect("data");
        let script = behind.split_once("</script>").expect("its end").1;
        let links = ["http:", "https:", "src=", "@import", "url(", "fetch("];
        assert!(links.iter().all(|link| !frame.contains(link) && !script.contains(link)), "{protocol}");
    }
}

fn units_of(protocol: &str) -> usize {
    registry::PROTOCOLS.iter().find(|known| known.name == protocol).expect("a protocol").unit_bytes
}

#[test]
fn a_name_of_a_wave_ends_no_tag_of_the_page() {
    let units = good("cxl68/flit_cxl-68b_down")[..2].to_vec();
    let found = inspected(&units, &map("cxl-68b", "down", ""), TODAY);
    let page = found.page("</script><b>@data@", &TraceFilter::default());
    assert!(!page.contains("<b>") && page.matches("</script>").count() == 2);
    assert_eq!(data_of(&page)["wave"], "</script><b>@data@");
    let none = found.page("w", &TraceFilter::new(&[], Some(1), Some(2)).expect("a window"));
    assert_eq!(data_of(&none)["units"].as_array().map(Vec::len), Some(0));
}

/// The wave of the decoded channels, as text.
fn wave_of(found: &Inspection, hub: &mut Hub) -> String {
    let header = TraceHeader { model_version: "0".into(), run: None };
    let mut out = Vec::new();
    let mut sink =
        VcdSink::on_axis(&mut out, &header, hub.places(), TraceFilter::default(), found.axis).expect("a wave");
    hub.drain_into(&mut [&mut sink]).expect("memory");
    sink.finish().expect("memory");
    drop(sink);
    String::from_utf8(out).expect("text")
}

/// Values of a variable by time, in units of the wave.
fn values(wave: &str, scope: &str, name: &str) -> Vec<(u64, String)> {
    let (mut path, mut code, mut now, mut found) = (Vec::new(), String::new(), 0, Vec::new());
    for line in wave.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["$scope", _, name, "$end"] => path.push(name),
            ["$upscope", "$end"] => drop(path.pop()),
            ["$var", _, _, id, var, ..] if var == name && path.join(".") == scope => code = id.to_owned(),
            [time] if time.starts_with('#') => now = time[1..].parse().expect("a time"),
            [value, id] if id == code && value.starts_with('b') => found.push((now, value[1..].to_owned())),
            [value] if !code.is_empty() && value[1..] == code => found.push((now, value[..1].to_owned())),
            _ => {}
        }
    }
    found
}

#[test]
fn a_decoded_wave_has_the_axis_of_its_source() {
    let mut units = good("cxl68/flit_cxl-68b_down");
    units.truncate(40);
    // Behind it a receiver would wait for a replay.
    units[39][66] ^= 1;
    let found = inspected(&units, &map("cxl-68b", "down", ""), TODAY);
    let broken = found.seen.iter().find(|seen| !seen.broken.is_empty()).expect("a broken rule");
    let wave = wave_of(&found, &mut found.decoded());
    // The unit of the source is a nanosecond, and its last edge the last unit.
    assert!(wave.contains("$timescale 1 ns $end"), "{}", &wave[..300]);
    let at_ns = |t_fs: u64| t_fs / 1_000_000;
    let last = wave.lines().rev().find(|line| line.starts_with('#')).expect("a time");
    assert_eq!(last, format!("#{}", at_ns(found.seen.last().expect("units").t_fs)));
    // One step of the count at every unit, at its time.
    let steps: Vec<u64> = values(&wave, "port.flit", "seq").into_iter().map(|(t, _)| t).filter(|&t| t > 0).collect();
    let times: Vec<u64> = found.seen.iter().map(|seen| at_ns(seen.t_fs)).collect();
    assert_eq!(steps, times);
    // The rule by its code, when it is broken.
    let rule = values(&wave, "port", "rule");
    assert_eq!(rule.len(), 2, "none, then the rule: {rule:?}");
    assert_eq!((rule[0].1.as_str(), rule[1].0), ("0", at_ns(broken.t_fs)));
    // Tags of requests as the codec reads them, each where it differs from the one before.
    let of_units = found.seen.iter().filter(|seen| seen.broken.is_empty()).filter_map(|seen| {
        let messages = told::messages(seen.form.as_ref()?);
        let (_, fields) = messages.into_iter().find(|(layout, _)| *layout == "cxl68.m2s_req")?;
        Some((at_ns(seen.t_fs), fields["tag"].as_u64().expect("a number")))
    });
    let mut expected: Vec<(u64, u64)> = Vec::new();
    for (t, tag) in of_units {
        if expected.last().is_none_or(|(_, last)| *last != tag) {
            expected.push((t, tag));
        }
    }
    let tags = values(&wave, "port.m2s_req", "tag").into_iter().filter(|(_, bits)| bits != "x");
    let tags: Vec<(u64, u64)> = tags.map(|(t, bits)| (t, u64::from_str_radix(&bits, 2).expect("bits"))).collect();
    assert!(!expected.is_empty());
    assert_eq!(tags, expected);
}

#[test]
fn save_files_show_both_waves_at_the_first_broken_rule() {
    let mut units = good("cxl68/flit_cxl-68b_down");
    units.truncate(30);
    units[9][66] ^= 1;
    let found = inspected(&units, &map("cxl-68b", "down", ""), TODAY);
    let dir = tempfile::tempdir().expect("a temporary folder");
    let [source, decoded] = ["w.vcd", "d.vcd"].map(|name| dir.path().join(name));
    let mut hub = found.decoded();
    let header = TraceHeader { model_version: "0".into(), run: None };
    let mut sink =
        VcdSink::on_axis(Vec::new(), &header, hub.places(), TraceFilter::default(), found.axis).expect("a wave");
    hub.drain_into(&mut [&mut sink]).expect("memory");
    sink.finish().expect("memory");
    let view = DecodedView {
        source: &source,
        source_groups: &found.signals,
        decoded: &decoded,
        has_names: false,
        axis: found.axis,
        markers: &found.markers(),
    };
    let highlights = sink.highlights().expect("of a wave");
    let save = dir.path().join("both.gtkw");
    let files = gtkw::decoded_view(&save, &view, hub.places(), &TraceFilter::default(), highlights).expect("files");
    let broken = found.seen.iter().find(|seen| !seen.broken.is_empty()).expect("a broken rule");
    let (rule, at_ns) = (broken.broken[0].violation.rule, broken.t_fs / 1_000_000);
    for (text, wave) in [(&files.save, "d.vcd"), (&files.source, "w.vcd")] {
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some(format!("[dumpfile] \"{wave}\"").as_str()));
        let window = text.lines().find(|line| line.starts_with('*')).expect("a window");
        let times: Vec<&str> = window.split_whitespace().skip(1).collect();
        assert_eq!(times[..2], [at_ns.to_string(), at_ns.to_string()], "the marker, and marker A: {window}");
        assert_eq!(times.len(), 1 + gtkw::MOST_MARKERS);
        assert!(text.contains(&format!("[markername] A{rule}\n")), "{text}");
    }
    for signal in ["tb.dut.clk", "tb.dut.rst_n", "tb.dut.valid", "tb.dut.ready", "tb.dut.data[543:0]"] {
        assert!(files.source.lines().any(|line| line == signal), "{signal}: {}", files.source);
    }
    assert!(files.codes.keys().all(|path| path.starts_with("both.codes/")));
    let rules = &files.codes["both.codes/scalepool_Rule.txt"];
    assert!(rules.starts_with("000000000000 none\n") && rules.contains(&format!(" {rule}\n")));
}

#[test]
fn figures_of_a_watched_end_stand_in_the_decoded_wave() {
    let text = read(&repository("testbenches/maps/waves_cxl68.toml"));
    let mut map = Map::read(&text, "m.toml").expect("a map");
    let link = "[[link]]\nname = \"the host\"\nsends = \"SENDS\"\nreceives = \"RECEIVES\"\nreaction_flits = 5000\n";
    let of = |dir: &str| map.interface.iter().find(|i| i.dir == dir).expect("both directions").name.clone();
    let link = link.replace("SENDS", &of("down")).replace("RECEIVES", &of("up"));
    map = Map::read(&format!("{text}\n{link}"), "m.toml").expect("a map");
    let wave = repository("waves/cxl68-retry.vcd");
    let detail = InspectDetail { history: true, ..InspectDetail::default() };
    let found = inspect_in_detail(&wave, map, "m.toml", detail).expect("a wave");
    let wave = wave_of(&found, &mut found.decoded());
    let health = &found.health[0].1;
    for figure in ["sent_flits", "received_flits", "crc_errors", "replays", "naks_received"] {
        let last = values(&wave, "the_host.health", figure).pop().expect(figure).1;
        let of_end = health.json()[figure].as_u64().expect("a number");
        assert_eq!(u64::from_str_radix(&last, 2), Ok(of_end), "{figure}");
    }
    assert!(health.json()["replays"].as_u64() > Some(0) || health.json()["naks_sent"].as_u64() > Some(0));
    assert!(!values(&wave, "the_host.health.credits", "m2s_req").is_empty());
    let states = values(&wave, "the_host.health", "retry_state");
    assert!(states.len() > 2, "a retry has states: {states:?}");
}

#[test]
fn coverage_of_a_wave_counts_the_messages_in_it() {
    for (protocol, set, dir) in
        [("cxl-68b", "cxl68/flit_cxl-68b_down", "down"), ("cxl-256b", "cxl256/flit_cxl-256b_up", "up")]
    {
        let mut units = good(set);
        units.truncate(100);
        let found = inspected(&units, &map(protocol, dir, ""), TODAY);
        let mut expected: BTreeMap<String, u64> = BTreeMap::new();
        for seen in &found.seen {
            for (layout, fields) in told::messages(seen.form.as_ref().expect("whole units")) {
                if let Some(opcode) = fields.get("opcode").and_then(Value::as_str) {
                    *expected.entry(format!("{layout} {opcode}")).or_default() += 1;
                }
            }
        }
        let met = found.coverage.iter().find(|met| met.group == "opcode x channel").expect("a group");
        let hit: BTreeMap<String, u64> = met.bins.iter().filter(|(_, hits)| *hits > 0).cloned().collect();
        assert!(hit.len() > 5, "{protocol}: {hit:?}");
        assert_eq!(hit, expected, "{protocol}");
    }
}

#[test]
fn reports_that_are_merged_go_to_every_form() {
    let units = good("ualink/flit_ualink_down");
    let found = inspected(&units, &map("ualink", "down", ""), TODAY);
    let mut all = CoverageReport::of("one");
    for met in &found.coverage {
        all.add(met.protocol, met.group, met.bins.iter().map(|(name, hits)| (name.as_str(), *hits)));
    }
    let once: u64 = all.groups.iter().flat_map(|group| &group.bins).map(|bin| bin.hits).sum();
    all.merge(&all.clone());
    let twice: u64 = all.groups.iter().flat_map(|group| &group.bins).map(|bin| bin.hits).sum();
    assert!(once > 100 && twice == 2 * once);
    assert!(all.hits("ualink: code x field: ualink.fh_explicit op Original") > Some(0));
    let bins = all.groups.iter().map(|group| group.bins.len()).sum::<usize>();
    assert_eq!(xml::cocotb(&all).matches(" bin=\"").count(), bins);
    assert_eq!(xml::ucis(&all).matches("<coverpointBin ").count(), bins);
    assert_eq!(html::page(&all).matches("<td class=\"number\">").count(), bins);
}

/// A wave with one wrong CRC, inspected under more of a map.
fn waived(more: &str, today: &str) -> Inspection {
    let mut units = good("cxl68/flit_cxl-68b_down");
    units.truncate(10);
    units[3][66] ^= 1;
    inspected(&units, &map("cxl-68b", "down", more), today)
}

#[test]
fn a_waiver_holds_up_to_its_last_day() {
    let waiver =
        "[[waiver]]\nrule = \"CXL68-CRC-01\"\ninterface = \"port\"\nuntil = \"2027-01-15\"\nreason = \"issue 12\"\n";
    let found = waived(waiver, "2027-01-15");
    assert_eq!((found.counts[0].violations, found.counts[0].waived), (0, 1));
    let known = found.seen.iter().flat_map(|seen| &seen.waived).next().expect("a waived finding");
    assert_eq!((known.found.violation.rule, known.reason.as_deref()), ("CXL68-CRC-01", Some("issue 12")));
    assert!(found.remarks.is_empty());
    let expired = waived(waiver, "2027-01-16");
    assert_eq!((expired.counts[0].violations, expired.counts[0].waived), (1, 0));
    assert_eq!(expired.remarks, ["the waiver of CXL68-CRC-01 has expired on 2027-01-15: issue 12"]);
    let unused = waived(&waiver.replace("CRC-01", "PCK-06"), TODAY);
    assert_eq!((unused.counts[0].violations, unused.remarks.len()), (1, 1));
}

#[test]
fn severities_make_findings_warnings_or_nothing() {
    for (severity, violations, waived_count) in [("error", 1, 0), ("warning", 0, 1), ("ignore", 0, 0)] {
        let found = waived(&format!("[severity]\n\"CXL68-CRC-01\" = \"{severity}\"\n"), TODAY);
        assert_eq!((found.counts[0].violations, found.counts[0].waived), (violations, waived_count), "{severity}");
    }
}

#[test]
fn waivers_that_cannot_be_meant_are_refused() {
    for (more, expected) in [
        ("[[waiver]]\nrule = \"CXL68-NO-01\"\nreason = \"x\"\n", "waiver 0, key `rule`: found `CXL68-NO-01`"),
        ("[[waiver]]\nrule = \"CXL68-CRC-01\"\nreason = \" \"\n", "waiver 0, key `reason`: found none"),
        ("[[waiver]]\nrule = \"CXL68-CRC-01\"\nreason = \"x\"\nuntil = \"soon\"\n", "key `until`: found `soon`"),
        ("[[waiver]]\nrule = \"CXL68-CRC-01\"\nreason = \"x\"\ninterface = \"no\"\n", "key `interface`: found `no`"),
        ("[severity]\n\"X\" = \"warning\"\n", "severity: found `X`"),
        ("[severity]\n\"CXL68-CRC-01\" = \"fatal\"\n", "unknown variant `fatal`"),
    ] {
        let refused = Map::read(&map("cxl-68b", "down", more), "m.toml").expect_err("a map that cannot be used");
        assert!(refused.to_string().contains(expected), "{refused}");
    }
}
