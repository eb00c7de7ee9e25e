//! The flits of 256 bytes: stated rules against the checks, the three files of a set against each other, and CRC and FEC
//! against a spelling of their own in GF(256).

use super::{bytes, committed, group, manifest, number, read, read_rsp, sets, small};
use scalepool::forms::{flit_io, flit256};
use scalepool::golden::hex::parse_hex;
use scalepool::golden::{Context, Spec, Stream256, StreamCase, VectorContent, VectorSource, protocols, write_set};
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl256::check;
use scalepool_protocols::cxl::cxl256::config::Cxl256Config;
use scalepool_protocols::cxl::cxl256::flit::Cxl256Flit;
use scalepool_protocols::cxl::cxl256::slot;
use scalepool_protocols::cxl::cxl256::stream::{Cxl256SlotRole, Unpacker};
use scalepool_protocols::cxl::cxl256::{Mode, control};
use serde_json::Value;
use std::collections::BTreeSet;

/// All cases of a small set.
fn cases() -> Vec<(String, Stream256, usize, StreamCase<Cxl256Flit>)> {
    let mut all = Vec::new();
    for set in sets() {
        if let VectorContent::Flits256(stream, groups) = set.content {
            let cases = groups.into_iter().flat_map(|g| g.cases).enumerate();
            all.extend(cases.map(|(n, case)| (set.path.clone(), stream, n, case)));
        }
    }
    assert!(all.len() > 300, "{} cases", all.len());
    all
}

/// Rules that the model finds in a case read on its own.
fn found(stream: &Stream256, case: &StreamCase<Cxl256Flit>, config: &Cxl256Config) -> BTreeSet<&'static str> {
    let mut reader = Unpacker::new(stream.mode, stream.dir);
    let rules: BTreeSet<_> =
        case.units.iter().flat_map(|flit| check::flit(&reader.read(flit), config).violations).map(|v| v.rule).collect();
    assert_eq!(reader.owed_slots(), 0, "data is owed at the end");
    rules
}

#[test]
fn the_check_of_flits_agrees_with_the_stated_rule() {
    let mut wrong = Vec::new();
    for (path, stream, n, case) in cases() {
        let config = Cxl256Config { mdh: case.context != Some(Context::MdhOff), ..Cxl256Config::default() };
        let mut rules = found(&stream, &case, &config);
        if let Some("CXL256-FEC-02" | "CXL256-LOP-04") = case.rule {
            // The CRC behind a FEC that failed.
            rules.remove("CXL256-CRC-01");
            rules.remove("CXL256-CRC-04");
        }
        let stated = if matches!(case.context, Some(Context::Dropped(..))) { None } else { case.rule };
        if rules != BTreeSet::from_iter(stated) {
            wrong.push(format!("{path}, case {n}: found {rules:?}, stated {stated:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The whole file is one stream: the legal cases stay legal behind the others.
#[test]
fn a_file_is_one_stream() {
    let mut last: Option<(String, Unpacker)> = None;
    for (path, stream, n, case) in cases() {
        if last.as_ref().is_none_or(|(p, _)| *p != path) {
            last = Some((path.clone(), Unpacker::new(stream.mode, stream.dir)));
        }
        let Some((_, reader)) = last.as_mut() else { continue };
        for flit in &case.units {
            let findings = check::flit(&reader.read(flit), &Cxl256Config::default());
            if case.rule.is_none() {
                assert!(findings.violations.is_empty(), "{path}, case {n}: {findings:?}");
            }
        }
    }
}

/// Traffic of other seeds: legal, packed without gaps, every message of the direction in it.
#[test]
fn traffic_is_legal_and_tight() {
    for seed in 1..4 {
        let spec = Spec { seed, count: 960, ..Spec::default() };
        for source in
            spec.sources().into_iter().filter(|s| matches!(s, VectorSource::Flits256(..) | VectorSource::FlitsIo(_)))
        {
            let set = source.vectors(&spec);
            let VectorContent::Flits256(stream, groups) = set.content else { continue };
            for case in groups.iter().filter(|g| g.what.contains("traffic")).flat_map(|g| &g.cases) {
                let mut reader = Unpacker::new(stream.mode, stream.dir);
                let mut classes = BTreeSet::new();
                for flit in &case.units {
                    let decoded = reader.read(flit);
                    let findings = check::flit(&decoded, &Cxl256Config::default());
                    let clean = findings.violations.is_empty() && findings.lints.is_empty();
                    assert!(clean, "{}, seed {seed}: {findings:?}", set.path);
                    classes.extend(decoded.messages().map(|m| m.1));
                }
                assert!(
                    reader.owed_slots() == 0 && (classes.len() == 6 || stream.protocol == "cxl-io"),
                    "{}",
                    set.path
                );
            }
        }
    }
}

/// Bits that a short slot drops: the rule is the sender's, the flit looks legal.
#[test]
fn dropped_bits_break_the_rule_of_zero_extension() {
    let mut seen = BTreeSet::new();
    for (path, stream, n, case) in cases() {
        let Some(Context::Dropped(slot, field, value)) = case.context else { continue };
        let bits = case.units[0].slot(stream.mode, slot);
        let format = slot::format(stream.mode, slot, slot::code(bits)).unwrap();
        let place = format.places().next().unwrap();
        let def = place.class.def(format.routing);
        let meant = def.field(field).unwrap().insert(place.extract(bits), value.into()).unwrap();
        let broken = check::zero_extension(&place, format, meant).unwrap_err();
        assert_eq!(Some(broken.rule), case.rule, "{path}, case {n}");
        assert!(check::zero_extension(&place, format, place.extract(bits)).is_ok());
        seen.insert(broken.rule);
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["CXL256-SLT-05", "CXLPBR-SLT-02"]);
}

/// Every format of the direction, every control slot, every kind of flit, and the breaks that were asked for.
#[test]
fn every_slot_format_kind_and_break_is_there() {
    let all = cases();
    for mode in Mode::ALL {
        for dir in Dir::ALL {
            let of = || all.iter().filter(|(_, s, ..)| s.protocol == mode.protocol() && s.dir == dir);
            let (mut formats, mut kinds, mut controls) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
            for (.., case) in of().filter(|(.., c)| c.rule.is_none()) {
                let mut reader = Unpacker::new(mode, dir);
                for flit in &case.units {
                    let decoded = reader.read(flit);
                    kinds.insert(flit256::kind_name(&decoded.kind));
                    for (n, role) in decoded.roles.iter().enumerate() {
                        match role {
                            Cxl256SlotRole::Format(f) if f.any_valid(decoded.flit().slot(mode, n)) => {
                                _ = formats.insert(f.name)
                            }
                            Cxl256SlotRole::Control(Some(kind)) => _ = controls.insert(kind.name),
                            _ => (),
                        }
                    }
                }
            }
            for format in (0..15).flat_map(|n| slot::formats(mode, n)).filter(|f| !f.is_control()) {
                let own = format.classes.iter().all(|c| c.dir() == dir);
                assert_eq!(own, formats.contains(format.name), "{mode:?} {dir:?} {}", format.name);
            }
            assert_eq!(controls.len(), control::KINDS.len(), "{controls:?}");
            let expected = ["almp", "control", "empty", "idle", "io", "nop", "protocol"];
            assert_eq!(kinds.into_iter().collect::<Vec<_>>(), expected);
            let rules: BTreeSet<_> = of().filter_map(|(.., c)| c.rule).collect();
            let crc = if mode.is_lopt() { "CXL256-CRC-04" } else { "CXL256-CRC-01" };
            let slots = if mode == Mode::Pbr { "CXLPBR-SLT-01" } else { "CXL256-SLT-01" };
            for rule in
                [crc, slots, "CXL256-FEC-02", "CXL256-PCK-05", "CXL256-PCK-06", "CXL256-PCK-07", "CXL256-CTL-03"]
            {
                assert!(rules.contains(rule), "{mode:?} {dir:?} {rule}");
            }
        }
    }
}

// ---- the committed set ----

/// Vector files of 256-byte flits with protocol and direction.
fn files() -> Vec<(String, String, Dir)> {
    let of = |path: &str| {
        let stem = path.strip_suffix(".rsp")?;
        let (protocol, dir) = stem.split_once("/flit_")?.1.rsplit_once('_')?;
        let dir = Dir::ALL.into_iter().find(|d| d.name() == dir)?;
        (protocol.starts_with("cxl-") && protocol != "cxl-68b").then(|| (stem.to_owned(), protocol.to_owned(), dir))
    };
    manifest().files.iter().filter_map(|f| of(&f.path)).collect()
}

/// The three files of a set hold the same flits, and decoding those of the `.rsp` file gives the objects.
#[test]
fn decoding_gives_the_committed_objects() {
    let files = files();
    assert_eq!(files.len(), 8, "{files:?}");
    for (stem, protocol, dir) in files {
        let rsp = read_rsp(&format!("{stem}.rsp"));
        assert!(rsp.cases.iter().all(|c| group(c, "Protocol") == Some(protocol.as_str())));
        assert!(rsp.cases.iter().all(|c| group(c, "Dir") == Some(dir.name())));
        let flits: Vec<Vec<u8>> = rsp.cases.iter().flat_map(|c| &c.values).map(|v| bytes(&v.hex)).collect();
        let hex = parse_hex(&read(&format!("{stem}.hex"))).unwrap().vectors;
        let json = read(&format!("{stem}.jsonl"));
        assert_eq!((hex.len(), json.lines().count()), (flits.len(), flits.len()), "{stem}");
        let mut io = flit_io::IoFlitDecoder::new(dir);
        let mut slots = flit256::mode_of(&protocol).map(|mode| flit256::Cxl256FlitDecoder::new(mode, dir));
        for (n, ((raw, vector), line)) in flits.iter().zip(&hex).zip(json.lines()).enumerate() {
            let mut reversed = bytes(&vector.digits);
            reversed.reverse();
            assert_eq!(reversed, *raw, "{stem}, flit {n}");
            let flit = Cxl256Flit::from_bytes(raw).unwrap();
            let object = match slots.as_mut() {
                Some(decoder) => {
                    let (decoded, findings) = decoder.read(&flit);
                    flit256::to_json(&decoded, &findings, n as u64)
                }
                None => io.read(&flit, n as u64).0,
            };
            assert_eq!(serde_json::from_str::<Value>(line).unwrap(), object, "{stem}, flit {n}");
        }
    }
}

/// Product in GF(2)[x] modulo x^8 + x^5 + x^3 + x + 1 or x^8 + x^4 + x^3 + x^2 + 1, bit by bit.
fn times(mut a: u8, mut b: u8, polynomial: u16) -> u8 {
    let mut product = 0;
    while b != 0 {
        product ^= if b & 1 == 1 { a } else { 0 };
        a = (u16::from(a) << 1 ^ if a >> 7 == 1 { polynomial } else { 0 }) as u8;
        b >>= 1;
    }
    product
}

fn power(n: usize, polynomial: u16) -> u8 {
    (0..n).fold(1, |a, _| times(a, 2, polynomial))
}

/// Field of the CRC and of the FEC (`cxl-256b` §7, §8).
const CRC_FIELD: u16 = 0x12b;
const FEC_FIELD: u16 = 0x11d;

/// Remainder of message(x) x^n by the product of (x + alpha^i), i to n; highest coefficient first, answer lowest first.
fn remainder(message: &[u8], n: usize) -> Vec<u8> {
    let generator = (1..=n).fold(vec![1u8], |g, root| {
        let mut next = [g.as_slice(), &[0]].concat();
        g.iter().enumerate().for_each(|(i, &c)| next[i + 1] ^= times(c, power(root, CRC_FIELD), CRC_FIELD));
        next
    });
    let mut rest = [message, &vec![0; n]].concat();
    for i in 0..message.len() {
        let lead = rest[i];
        generator.iter().enumerate().for_each(|(j, &c)| rest[i + j] ^= times(lead, c, CRC_FIELD));
    }
    rest[message.len()..].iter().rev().copied().collect()
}

/// What is wrong with a flit: CRC parts, and groups of the FEC whose sums are not 0.
fn wrong(raw: &[u8], lopt: bool) -> (Vec<usize>, Vec<usize>) {
    let parts: Vec<(Vec<u8>, std::ops::Range<usize>)> = if lopt {
        vec![([&raw[..122], &[0; 8]].concat(), 122..128), ([&raw[128..244], &[0; 14]].concat(), 250..256)]
    } else {
        vec![(raw[..242].to_vec(), 242..250)]
    };
    let crc = (0..parts.len()).filter(|&n| remainder(&parts[n].0, parts[n].1.len()) != raw[parts[n].1.clone()]);
    let (protected, fec) =
        if lopt { ([&raw[..244], &raw[250..]].concat(), &raw[244..250]) } else { (raw[..250].to_vec(), &raw[250..]) };
    let fits = |g: usize| {
        // Wire order C1 C2 C0 P1 P2 P0.
        let at = (g + 2) % 3;
        let group: Vec<u8> = protected.iter().skip(g).step_by(3).copied().collect();
        let horner = |sum, b: u8| times(sum ^ b, 2, FEC_FIELD);
        // Groups 1 and 2 have an implied zero behind their 83 bytes.
        let check = group.iter().chain(&[0][..84 - group.len()]).fold(0, |sum, &b| horner(sum, b));
        check == fec[at] && group.iter().fold(0, |sum, b| sum ^ b) == fec[at + 3]
    };
    (crc.collect(), (0..3).filter(|&g| !fits(g)).collect())
}

/// Every committed flit: CRC and FEC fit, but for the flits whose case or group says otherwise.
#[test]
fn crc_and_fec_of_every_committed_flit() {
    let mut flits = 0;
    for (stem, protocol, _) in files() {
        let lopt = protocol.ends_with("lopt");
        let json = read(&format!("{stem}.jsonl"));
        let mut lines = json.lines();
        for (n, case) in read_rsp(&format!("{stem}.rsp")).cases.iter().enumerate() {
            for (k, value) in case.values.iter().enumerate() {
                let at = format!("{stem}, case {n}, flit {k}");
                let line: Value = serde_json::from_str(lines.next().unwrap()).unwrap();
                let (crc, fec) = wrong(&bytes(&value.hex), lopt);
                flits += 1;
                let corrected = line["fec"]["corrected"].as_array().unwrap();
                match case.rule.as_deref() {
                    // The damaged flit is the first, its retry the second.
                    Some("CXL256-CRC-01" | "CXL256-CRC-04" | "CXL256-FEC-02" | "CXL256-LOP-04") if k == 0 => {
                        assert!(!crc.is_empty() || !fec.is_empty(), "{at}");
                        assert!(line["crc"]["ok"] == false || line["fec"]["ok"] == false, "{at}");
                    }
                    // A repair; a latency-optimised flit with two good CRCs is not repaired.
                    None if !fec.is_empty() => {
                        let repaired = if lopt && crc.is_empty() { 0 } else { fec.len() };
                        assert_eq!(corrected.len(), repaired, "{at}");
                        for c in corrected {
                            let byte = c["byte"].as_u64().unwrap() as usize;
                            let found = number(c["found"].as_str().unwrap().trim_start_matches("0x"));
                            assert_eq!(found, u128::from(bytes(&value.hex)[byte]), "{at}");
                        }
                        assert_eq!((&line["crc"]["ok"], &line["fec"]["ok"]), (&true.into(), &true.into()), "{at}");
                    }
                    _ => assert!(crc.is_empty() && fec.is_empty() && corrected.is_empty(), "{at}: {crc:?}, {fec:?}"),
                }
            }
        }
    }
    assert!(flits > 500, "{flits} flits");
}

/// A set of one protocol holds its family and its flits, and checks as good.
#[test]
fn every_protocol_makes_a_set_of_its_own() {
    let dir = super::scratch("protocol");
    for protocol in protocols() {
        let spec = Spec { protocols: vec![protocol], ..small() };
        let path = dir.join(protocol.name);
        let manifest = write_set(&spec, &path, &mut |_, _| ()).unwrap();
        assert_eq!(
            manifest.command,
            format!("scalepool golden --protocol {} --seed 1 --count 8 --out DIR", protocol.name)
        );
        assert!(manifest.files.iter().all(|f| f.path.starts_with(&format!("{}/", protocol.family))));
        for dir in ["down", "up"] {
            let stem = format!("{}/flit_{}_{dir}.hex", protocol.family, protocol.name);
            assert!(manifest.files.iter().any(|f| f.path == stem), "{stem}");
        }
        assert!(super::mismatches(&path).is_empty());
    }
    assert!(committed().join("cxlio/flit_cxl-io_down.hex").is_file());
}

/// A changed byte of a flit is named by the part of the flit map.
#[test]
fn a_byte_of_a_flit_is_named_by_its_part() {
    let dir = super::scratch("flit256_byte");
    write_set(&super::tiny_of("cxl256"), &dir, &mut |_, _| ()).unwrap();
    let rows = [
        (0, "flit header"),
        (2, "slot 0"),
        (140, "slot 7"),
        (242, "slot 8"),
        (240, "credits"),
        (247, "FEC"),
        (255, "CRC"),
    ];
    let file = dir.join("cxl256/flit_cxl-256b-lopt_up.hex");
    let text = std::fs::read_to_string(&file).unwrap();
    let digits = parse_hex(&text).unwrap().vectors[1].digits.clone();
    for (byte, expected) in rows {
        let mut raw = bytes(&digits);
        raw[255 - byte] ^= 1;
        let changed: String = raw.iter().map(|b| format!("{b:02x}")).collect();
        std::fs::write(&file, text.replacen(&digits, &changed, 1)).unwrap();
        let found = super::mismatches(&dir);
        let named = format!("vector 1, byte {byte}, {expected}: found");
        assert!(found.len() == 1 && found[0].contains(&named), "{found:?}, expected {named}");
    }
}
