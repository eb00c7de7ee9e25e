//! Golden vectors: what the generator states against the model's checks, every committed vector against the oracles,
//! the committed set against the generator, and every way in which a set can be wrong.

mod flits256;
mod hex;
mod locate;
mod rsp;
mod xlinks;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use scalepool::golden::hex::parse_hex;
use scalepool::golden::rsp::{RspCase, RspFile, parse_rsp};
use scalepool::golden::{
    Context, MANIFEST, Manifest, SUMS, SetError, Spec, StreamCase, VectorContent, VectorSet, check_set, protocols,
    sha256, write_set,
};
use scalepool_oracle::cxl68_messages::{MessageOracle, message};
use scalepool_oracle::cxl68_slots;
use scalepool_oracle::cxl68_stream::{FlitFacts, FlitKind, StreamChecker};
use scalepool_protocols::cxl::cxl68::Dir;
use scalepool_protocols::cxl::cxl68::check;
use scalepool_protocols::cxl::cxl68::config::{Cxl68Config, Revision};
use scalepool_protocols::cxl::cxl68::message::Class;
use scalepool_protocols::cxl::cxl68::pid::Enabled;
use scalepool_protocols::cxl::cxl68::slot;
use scalepool_protocols::cxl::cxl68::stream::{Cxl68SlotRole, Cxl68UnitKind, Unpacker};
use scalepool_protocols::wire::{ByteOrder, CodeTable, LayoutDef};
use scalepool_protocols::{registry, rules};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

// ---- the generator ----

fn small() -> Spec {
    Spec { count: 8, ..Spec::default() }
}

fn sets() -> Vec<VectorSet> {
    let spec = small();
    spec.sources().into_iter().map(|s| s.vectors(&spec)).collect()
}

/// All cases of flits with file, direction and number.
fn streams(sets: &[VectorSet]) -> Vec<(&str, Dir, usize, &StreamCase)> {
    let mut all = Vec::new();
    for set in sets {
        if let VectorContent::Cxl68(dir, groups) = &set.content {
            let cases = groups.iter().flat_map(|g| &g.cases).enumerate();
            all.extend(cases.map(|(n, c)| (set.path.as_str(), *dir, n, c)));
        }
    }
    all
}

/// Rules that the model finds in a case.
fn found(dir: Dir, case: &StreamCase, enabled: Enabled, config: &Cxl68Config) -> Vec<&'static str> {
    let mut reader = Unpacker::new(dir, Revision::V2_0, enabled);
    let findings = case.units.iter().flat_map(|unit| check::unit(&reader.read(unit), config).violations);
    findings.map(|v| v.rule).collect::<BTreeSet<_>>().into_iter().collect()
}

/// Every message: the rule that the generator states is the first one that the layout's check finds.
#[test]
fn the_check_of_a_layout_agrees_with_the_stated_rule() {
    for set in sets() {
        let VectorContent::Messages(def, groups) = &set.content else { continue };
        for group in groups {
            for case in &group.cases {
                let mut found = Vec::new();
                def.check(case.bits, &mut found);
                let rule = found.first().map(|v| v.rule);
                assert_eq!(rule, case.rule, "{}, {}: {:#x}: {found:?}", def.name, group.what, case.bits);
            }
        }
    }
}

/// Every flit case that needs no context: the model finds the stated rule and no other. Nothing is owed at its end.
#[test]
fn the_check_of_flits_agrees_with_the_stated_rule() {
    for (path, dir, n, case) in streams(&sets()) {
        let mut reader = Unpacker::new(dir, Revision::V2_0, Enabled::ALL);
        for unit in &case.units {
            reader.read(unit);
        }
        assert_eq!(reader.rollover(), 0, "{path}, case {n}: data is owed at the end");
        if case.context.is_none() {
            let rules = found(dir, case, Enabled::ALL, &Cxl68Config::default());
            assert_eq!(rules, Vec::from_iter(case.rule), "{path}, case {n}");
        }
    }
}

/// Every case that needs context breaks its rule in that context, and looks legal without it.
#[test]
fn context_makes_the_break() {
    let sets = sets();
    let mut seen = BTreeSet::new();
    for (path, dir, n, case) in streams(&sets) {
        let (Some(context), Some(rule)) = (case.context, case.rule) else { continue };
        seen.insert(rule);
        let at = format!("{path}, case {n}: {context}");
        let default = Cxl68Config::default();
        let no_mdh = Cxl68Config { mdh: false, ..default };
        match context {
            Context::MdhOff => assert_eq!(found(dir, case, Enabled::ALL, &no_mdh), [rule], "{at}"),
            Context::CachememOff => {
                let enabled = Enabled { cachemem: false, ..Enabled::ALL };
                assert_eq!(found(dir, case, enabled, &default), [rule], "{at}");
            }
            Context::IoOff => {
                assert_eq!(found(dir, case, Enabled { io: false, ..Enabled::ALL }, &default), [rule], "{at}")
            }
            Context::MeantAllData(flit) | Context::MeantProtocol(flit) | Context::MeantControl(flit) => {
                let mut reader = Unpacker::new(dir, Revision::V2_0, Enabled::ALL);
                let rollover = case.units[..=flit].iter().map(|u| reader.read(u)).last().unwrap().rollover_before;
                // What the sender means is what the flit looks like where nothing is owed; all data has no look.
                let mut fresh = Unpacker::new(dir, Revision::V2_0, Enabled::ALL);
                let looks = fresh.read(&case.units[flit]).kind;
                let meant = if matches!(context, Context::MeantAllData(_)) { Cxl68UnitKind::AllData } else { looks };
                assert_eq!(check::intent(&meant, rollover).map(|v| v.rule), Some(rule), "{at}");
            }
            Context::Credits(class, granted) => {
                let mut reader = Unpacker::new(dir, Revision::V2_0, Enabled::ALL);
                let messages = case.units.iter().flat_map(|u| reader.read(u).messages().collect::<Vec<_>>());
                assert_eq!(messages.filter(|m| m.1 == class).count(), granted + 1, "{at}");
            }
            Context::NoRequestOpen => {
                let mut reader = Unpacker::new(dir, Revision::V2_0, Enabled::ALL);
                let kinds = case.units.iter().map(|u| reader.read(u).kind);
                let names: Vec<_> =
                    kinds.map(|k| if let Cxl68UnitKind::Control(c) = k { c.name() } else { "" }).collect();
                assert_eq!(names, [["RETRY.Frame"; 5].as_slice(), &["RETRY.Ack"]].concat(), "{at}");
            }
            Context::FirstSequence(_) => panic!("{at}: replays break no rule"),
            Context::Dropped(..) => panic!("{at}: no slot of 68B drops bits"),
        }
        // PID-06 cases have a damaged ID, which shows in any case.
        if !rule.starts_with("CXL68-PID-06") {
            assert!(found(dir, case, Enabled::ALL, &default).is_empty(), "{at}");
        }
    }
    let all = ["CRD-04", "FLT-02", "LLR-15", "PCK-04", "PCK-14", "PCK-15", "PID-05", "PID-06"];
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), all.map(|r| format!("CXL68-{r}")));
}

/// Each set holds what section 7 of the architecture asks for.
#[test]
fn a_layout_has_zeros_ones_walking_ones_codes_maxima_and_breaks() {
    for set in sets() {
        let VectorContent::Messages(def, groups) = &set.content else { continue };
        // A rule between fields may forbid a named code, and of wide fields not every reserved code is there.
        let strict = def.family() == "cxl68";
        let cases: Vec<_> = groups.iter().flat_map(|g| &g.cases).collect();
        let has = |bits: u128| cases.iter().any(|c| c.bits == bits);
        let ones = u128::MAX >> (128 - def.bits);
        assert!(has(0) && has(ones) && (0..def.bits).all(|i| has(1 << i)), "{}", def.name);
        for field in def.fields {
            // An absent message judges no code.
            let present = |bits: u128| def.fields[0].name != "valid" || bits & 1 == 1;
            let valid_with =
                |raw| cases.iter().any(|c| c.rule.is_none() && present(c.bits) && field.extract(c.bits) == raw);
            match field.codes {
                Some(table) => {
                    for raw in 0..=field.max_raw() {
                        let rule = field.codes_rule.unwrap_or(table.rule);
                        let broken = cases.iter().any(|c| c.rule == Some(rule) && field.extract(c.bits) == raw);
                        let there = cases.iter().any(|c| field.extract(c.bits) == raw);
                        let good = match table.name_of(raw) {
                            Some(_) => valid_with(raw) || !strict && (there || field.name == "tlp_type"),
                            None => broken || !strict && field.width >= 8 && raw % 16 != 15,
                        };
                        assert!(good, "{}.{}: {raw}", def.name, field.name);
                    }
                }
                None if !field.reserved => {
                    let there = cases.iter().any(|c| field.extract(c.bits) == field.max_raw());
                    assert!(valid_with(field.max_raw()) || !strict && there, "{}.{}", def.name, field.name);
                }
                None => {
                    assert!(cases.iter().any(|c| c.rule == Some(def.rule) && field.extract(c.bits) == field.max_raw()))
                }
            }
        }
    }
}

#[test]
fn every_slot_format_kind_of_flit_and_break_is_there() {
    let sets = sets();
    for dir in Dir::ALL {
        let all = streams(&sets);
        let of = |kind: &str| -> Vec<&StreamCase> {
            let path = format!("cxl68/{kind}_cxl-68b_{}", dir.name());
            all.iter().filter(|s| s.0 == path).map(|s| s.3).collect()
        };
        let rules = |kind: &str| of(kind).iter().filter_map(|c| c.rule).collect::<BTreeSet<_>>();
        let mut visible =
            vec!["CRC-01", "HDR-04", "PCK-06", "PCK-12", "PCK-13", "PID-02", "PID-03", "PID-04", "SLT-01"];
        visible.extend(if dir == Dir::Down { ["PCK-02", "HDR-03"].as_slice() } else { &["PCK-01"] });
        let flit = rules("flit");
        assert!(visible.iter().all(|r| flit.contains(format!("CXL68-{r}").as_str())), "{dir:?}: {flit:?}");
        // One break of every code table and every reserved field of the messages of the direction.
        for def in Class::ALL.iter().filter(|c| c.dir() == dir).map(|c| c.def()) {
            let open = |t: &CodeTable| t.codes.len() < 1 << t.width;
            let tables = def.fields.iter().filter_map(|f| f.codes).filter(|t| open(t)).map(|t| t.rule);
            let reserved = def.fields.iter().filter(|f| f.reserved).map(|_| def.rule);
            assert!(tables.chain(reserved).all(|r| flit.contains(r)), "{}", def.name);
        }
        // Every format stands in every slot that can hold it.
        let mut seen = BTreeSet::new();
        for case in of("flit") {
            let mut reader = Unpacker::new(dir, Revision::V2_0, Enabled::ALL);
            for unit in &case.units {
                for (n, role) in reader.read(unit).roles.into_iter().enumerate() {
                    seen.extend(if let Cxl68SlotRole::Format(f) = role { Some((n, f.name)) } else { None });
                }
            }
        }
        for n in 0..4 {
            let mut formats = slot::formats(Revision::V2_0, dir, n).iter();
            assert!(formats.all(|f| seen.contains(&(n, f.name))), "{dir:?}, slot {n}: {seen:?}");
        }
        let control = rules("control");
        let link = ["ALM-01", "ALM-02", "CRC-01", "CTL-02", "CTL-05", "FRM-02", "NUL-01"];
        assert!(link.iter().all(|r| control.contains(format!("CXL68-{r}").as_str())), "{dir:?}: {control:?}");
        assert!(rules("retry").is_empty());
    }
    for rule in sets.iter().flat_map(stated) {
        assert!(rules::find(rule).is_some(), "{rule}");
    }
}

/// Rules that a set states.
fn stated(set: &VectorSet) -> Vec<&'static str> {
    match &set.content {
        VectorContent::Messages(_, groups) => groups.iter().flat_map(|g| &g.cases).filter_map(|c| c.rule).collect(),
        VectorContent::Cxl68(_, groups) => groups.iter().flat_map(|g| &g.cases).filter_map(|c| c.rule).collect(),
        VectorContent::Flits256(_, groups) => groups.iter().flat_map(|g| &g.cases).filter_map(|c| c.rule).collect(),
        VectorContent::Ualink(_, groups) => groups.iter().flat_map(|g| &g.cases).filter_map(|c| c.rule).collect(),
        VectorContent::Nvlink(_, groups) => groups.iter().flat_map(|g| &g.cases).filter_map(|c| c.rule).collect(),
    }
}

// ---- the committed set ----

fn committed() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../golden")
}

fn manifest() -> Manifest {
    let path = committed().join(MANIFEST);
    Manifest::parse(&fs::read_to_string(&path).unwrap(), &path).unwrap()
}

fn read(path: &str) -> String {
    fs::read_to_string(committed().join(path)).unwrap()
}

fn read_rsp(path: &str) -> RspFile {
    parse_rsp(&read(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn number(hex: &str) -> u128 {
    u128::from_str_radix(hex, 16).unwrap()
}

fn bytes(hex: &str) -> Vec<u8> {
    (0..hex.len() / 2).map(|n| u8::from_str_radix(&hex[2 * n..2 * n + 2], 16).unwrap()).collect()
}

/// A released vector does not change. On purpose: raise the format version and run `scalepool golden --out golden`.
#[test]
fn the_committed_set_is_what_the_generator_makes() {
    let report = check_set(&committed(), &mut |_, _| ()).unwrap();
    let shown: Vec<String> = report.mismatches.iter().map(ToString::to_string).collect();
    assert!(shown.is_empty(), "{}", shown.join("\n"));
    assert_eq!(report.manifest.count, Spec::default().count);
    assert_eq!(report.manifest.seed, Spec::default().seed);
}

/// What `sha256sum -c SHA256SUMS` does; and the set stays small.
#[test]
fn the_sums_of_the_committed_set_fit() {
    let sums = read(SUMS);
    let mut total_bytes = sums.len();
    for line in sums.lines() {
        let (sum, path) = line.split_once("  ").unwrap();
        let file = fs::read(committed().join(path)).unwrap();
        assert_eq!(sha256(&file), sum, "{path}");
        assert!(file.len() < 1_400_000 && file.is_ascii() && !file.contains(&b'\r'), "{path}: {} bytes", file.len());
        total_bytes += file.len();
    }
    let listed: Vec<&str> = sums.lines().map(|l| l.split_once("  ").unwrap().1).collect();
    let files = manifest().files;
    assert_eq!(listed, files.iter().map(|f| f.path.as_str()).chain([MANIFEST]).collect::<Vec<_>>());
    assert!(total_bytes < 12_000_000, "{total_bytes} bytes");
}

/// A layout in the oracle's words. `cxl68.retry` is a RETRY.Req without payload; `cxl68.ide` has one payload field there.
fn oracle_of(def: &LayoutDef) -> &'static MessageOracle {
    message(if def.name == "cxl68.retry" { "cxl68.retry_req" } else { def.name })
}

/// The bits that the oracle gives to the fields of a case.
fn built(def: &LayoutDef, case: &RspCase) -> Vec<u8> {
    let oracle = || oracle_of(def);
    let values: Vec<u128> = case.values.iter().filter(|v| v.key != "Bytes").map(|v| number(&v.hex)).collect();
    match def.name {
        // No second spelling: the fields one behind the other.
        name if !name.starts_with("cxl68.") => {
            let raw = values.iter().zip(def.fields).map(|(v, f)| (v >> f.address_lsb, f.width));
            let (number, _) = raw.fold((0, 0), |(number, at), (v, width)| (number | v << at, at + width));
            let mut bytes = number.to_le_bytes()[..def.bits.div_ceil(8) as usize].to_vec();
            if def.order == ByteOrder::Big {
                bytes.reverse();
            }
            bytes
        }
        "cxl68.retry" => {
            // rsvd2 is 127:64 here, four fields there: their bits in order.
            let mut raw = values[..7].to_vec();
            let mut rest = values[7];
            for &(_, _, width) in &oracle().fields[7..] {
                raw.push(rest & ((1 << width) - 1));
                rest >>= width;
            }
            (oracle().build)(&raw)
        }
        "cxl68.ide" => {
            let mut raw = values[..7].to_vec();
            raw.push(values[7] | values[8] << 24);
            (oracle().build)(&raw)
        }
        _ => {
            // A byte address has 52 bits; those that do not fit the field are the ones below it.
            let raw = values.iter().zip(oracle().fields).map(|(v, &(name, _, width))| {
                let shift = if name == "address" { 52 - width } else { 0 };
                assert_eq!(v >> shift << shift, *v, "{}: address", def.name);
                v >> shift
            });
            (oracle().build)(&raw.collect::<Vec<_>>())
        }
    }
}

/// Every message of the set: fields, bytes, number and JSON say the same, and the oracle builds those bytes.
#[test]
fn the_oracle_builds_every_committed_message() {
    let released = Spec::default().protocols;
    let has_vectors = |l: &&LayoutDef| released.iter().any(|p| p.family == l.family());
    for def in registry::layouts().filter(has_vectors) {
        let path = def.name.replacen('.', "/", 1);
        let rsp = read_rsp(&format!("{path}.rsp"));
        let hex = parse_hex(&read(&format!("{path}.hex"))).unwrap();
        let json = read(&format!("{path}.jsonl"));
        assert_eq!((rsp.cases.len(), rsp.cases.len()), (hex.vectors.len(), json.lines().count()), "{path}");
        for (n, ((case, vector), line)) in rsp.cases.iter().zip(&hex.vectors).zip(json.lines()).enumerate() {
            let at = format!("{path}, case {n}");
            assert_eq!(case.groups, [("Layout".to_owned(), def.name.to_owned())], "{at}");
            let keys: Vec<&str> = case.values.iter().map(|v| v.key.as_str()).collect();
            assert_eq!(keys, def.fields.iter().map(|f| f.name).chain(["Bytes"]).collect::<Vec<_>>(), "{at}");
            let raw = bytes(&case.values.last().unwrap().hex);
            assert_eq!(built(def, case), raw, "{at}");

            assert_eq!(vector.digits.len(), (def.bits as usize).div_ceil(4), "{at}");
            let mut high_first = raw.clone();
            if def.order == ByteOrder::Little {
                high_first.reverse();
            }
            let from_bytes = high_first.iter().fold(0, |bits, b| bits << 8 | u128::from(*b));
            assert_eq!(number(&vector.digits), from_bytes, "{at}");

            let line: Value = serde_json::from_str(line).unwrap();
            assert_eq!(line["layout"], def.name, "{at}");
            assert_eq!(line["hex"], case.values.last().unwrap().hex.as_str(), "{at}");
            assert_eq!(line["result"], if case.rule.is_none() { "valid" } else { "invalid" }, "{at}");
            assert_eq!(line.get("rule").and_then(Value::as_str), case.rule.as_deref(), "{at}");
            for value in case.values.iter().filter(|v| v.key != "Bytes") {
                let field = def.field(&value.key).unwrap();
                let shown = &line["fields"][&value.key];
                let in_json = match shown.as_str() {
                    None => shown.as_u64().map(u128::from),
                    Some(text) => match text.strip_prefix("0x") {
                        Some(digits) => Some(number(digits)),
                        None => field.codes.and_then(|t| t.value_of(text)),
                    },
                };
                assert_eq!(in_json, Some(number(&value.hex)), "{at}: {}", value.key);
            }
        }
    }
}

fn units(case: &RspCase) -> Vec<[u8; 68]> {
    assert!(case.values.iter().all(|v| v.key == "Flit"), "line {}", case.line);
    case.values.iter().map(|v| bytes(&v.hex).try_into().unwrap()).collect()
}

fn group<'a>(case: &'a RspCase, key: &str) -> Option<&'a str> {
    case.groups.iter().find(|g| g.0 == key).map(|g| g.1.as_str())
}

/// The rule under which the oracle refuses a case that breaks `rule`; `None` for what it does not judge.
fn oracle_rule(rule: &str) -> Option<&str> {
    match rule {
        // Opcodes, reserved bits, credits, retry and ALMP codes are left out of it, and what only the sender knows.
        r if ["ENC", "MSG", "CRD", "LLR"].contains(&&r[6..9]) => None,
        "CXL68-ALM-02" | "CXL68-FLT-02" | "CXL68-PCK-04" | "CXL68-PCK-15" | "CXL68-PID-05" => None,
        r if r.starts_with("CXL68-PID") => Some("CXL68-PID-01"),
        "CXL68-PCK-06" => Some("CXL68-PCK-04"),
        // It reads the tail with the zeros before it.
        "CXL68-FRM-02" => Some("CXL68-NUL-01|CXL68-ALM-01"),
        r => Some(r),
    }
}

/// Every flit of the set, case by case: the oracle follows the legal ones to an end with nothing owed, and refuses the
/// others under the stated rule, as far as it judges it.
#[test]
fn the_oracle_follows_every_committed_stream() {
    let files = manifest().files;
    let streams = files.iter().filter(|f| f.path.contains("_cxl-68b_") && f.path.ends_with(".rsp"));
    let mut checked = 0;
    for file in streams {
        let dir = if file.path.contains("_down") { cxl68_slots::Dir::Down } else { cxl68_slots::Dir::Up };
        for (n, case) in read_rsp(&file.path).cases.iter().enumerate() {
            let at = format!("{}, case {n}", file.path);
            assert_eq!(group(case, "Protocol"), Some("cxl-68b"), "{at}");
            assert_eq!(group(case, "Dir").unwrap() == "down", dir == cxl68_slots::Dir::Down, "{at}");
            let mdh = group(case, "Context") != Some("several data headers in a slot are disabled");
            let mut checker = StreamChecker::new(dir, mdh);
            let mut errors = units(case).iter().filter_map(|u| checker.flit(u).err()).collect::<Vec<_>>();
            checked += case.values.len();
            match case.rule.as_deref().and_then(oracle_rule) {
                None => {
                    assert_eq!(errors, Vec::<String>::new(), "{at}");
                    checker.finish().unwrap_or_else(|e| panic!("{at}: {e}"));
                }
                Some(rules) => {
                    // After a refused data header the rest of the case means nothing to the checker.
                    errors.truncate(1);
                    let stated = errors.first().is_some_and(|e| rules.split('|').any(|r| e.starts_with(r)));
                    assert!(stated, "{at}: found {errors:?}, expected {rules}");
                }
            }
        }
    }
    assert!(checked > 1500, "{checked} flits");
}

/// The `.hex` and `.jsonl` files of flits hold the flits of the `.rsp` file; as one stream they mean to the oracle what
/// the JSON says.
#[test]
fn the_forms_of_a_stream_agree() {
    for file in manifest().files.iter().filter(|f| f.path.contains("_cxl-68b_") && f.path.ends_with(".rsp")) {
        let path = file.path.strip_suffix(".rsp").unwrap();
        let dir = if path.ends_with("down") { cxl68_slots::Dir::Down } else { cxl68_slots::Dir::Up };
        let rsp = read_rsp(&file.path);
        let flits: Vec<[u8; 68]> = rsp.cases.iter().flat_map(units).collect();
        let hex = parse_hex(&read(&format!("{path}.hex"))).unwrap();
        let json = read(&format!("{path}.jsonl"));
        assert_eq!((hex.vectors.len(), json.lines().count()), (flits.len(), flits.len()), "{path}");
        let mut checker = StreamChecker::new(dir, true);
        let mut in_step = true;
        for (n, ((flit, vector), line)) in flits.iter().zip(&hex.vectors).zip(json.lines()).enumerate() {
            let mut reversed = bytes(&vector.digits);
            reversed.reverse();
            assert_eq!(reversed, flit, "{path}, flit {n}");
            let line: Value = serde_json::from_str(line).unwrap();
            assert_eq!(bytes(line["hex"].as_str().unwrap()), flit, "{path}, flit {n}");
            assert_eq!((line["index"].as_u64(), line["dir"] == "down"), (Some(n as u64), path.ends_with("down")));
            // The oracle drops a flit that breaks a rule; its stream is no longer the model's from there on.
            match checker.flit(flit) {
                Ok(facts) if in_step => assert_facts(&line, &facts, &format!("{path}, flit {n}")),
                Err(e) if !e.starts_with("CXL68-CRC") => in_step = false,
                _ => (),
            }
        }
    }
}

/// Kind, messages and chunks of a flit in JSON are those that the oracle sees.
fn assert_facts(line: &Value, facts: &FlitFacts, at: &str) {
    let kind = match facts.kind {
        FlitKind::Protocol => "protocol",
        FlitKind::AllData => "all-data",
        FlitKind::Control => "control",
        FlitKind::Almp => "almp",
        FlitKind::Null => "null",
        FlitKind::Io => "io",
    };
    assert_eq!(line["kind"], kind, "{at}");
    if !["protocol", "all-data"].contains(&kind) {
        return;
    }
    let empty = Vec::new();
    let slots = line["slots"].as_array().unwrap_or(&empty);
    let mut messages = Vec::new();
    let mut chunks = Vec::new();
    for slot in slots {
        let n = slot["slot"].as_u64().unwrap() as usize;
        let in_slot = slot["messages"].as_array().unwrap_or(&empty);
        let valid = in_slot.iter().filter(|m| m["fields"]["valid"] == 1);
        messages.extend(valid.map(|m| (n, m["layout"].as_str().unwrap(), m["fields"].clone())));
        if let Some(data) = slot["data"].as_str()
            && !facts.stray_slots.contains(&n)
        {
            chunks.push((n, bytes(data)));
        }
    }
    let expected: Vec<_> = facts.chunks.iter().map(|c| (c.slot, c.bytes.to_vec())).collect();
    assert_eq!(chunks, expected, "{at}");
    assert_eq!(messages.len(), facts.messages.len(), "{at}");
    for ((slot, layout, fields), seen) in messages.into_iter().zip(&facts.messages) {
        assert_eq!((slot, layout), (seen.slot, seen.name), "{at}");
        let id = ["tag", "cqid", "uqid"].into_iter().find(|f| fields.get(*f).is_some()).unwrap();
        assert_eq!(fields[id].as_u64().map(u128::from), Some(message(layout).field_of(seen.raw, id)), "{at}");
    }
}

/// A replay sends the flits from Eseq on once more, bit for bit, and its RETRY.Ack says the truth about the buffer.
#[test]
fn replays_resend_what_the_acknowledgement_names() {
    let mut depths = BTreeSet::new();
    let mut wraps = 0;
    for dir in [cxl68_slots::Dir::Down, cxl68_slots::Dir::Up] {
        let name = if dir == cxl68_slots::Dir::Down { "down" } else { "up" };
        for case in read_rsp(&format!("cxl68/retry_cxl-68b_{name}.rsp")).cases {
            let Some(first) = group(&case, "Context").and_then(|c| c.rsplit_once(" has number ")) else { continue };
            let first: usize = first.1.parse().unwrap();
            let mut checker = StreamChecker::new(dir, true);
            let mut buffer: Vec<[u8; 68]> = Vec::new();
            let mut frames = 0;
            let mut replay: Option<(usize, usize)> = None;
            for flit in units(&case) {
                let facts = checker.flit(&flit).unwrap();
                let control = if facts.kind == FlitKind::Control { facts.messages[0].name } else { "" };
                match control {
                    "cxl68.retry_frame" => frames += 1,
                    "cxl68.retry_ack" => {
                        let field = |f| message("cxl68.retry_ack").field_of(facts.messages[0].raw, f) as usize;
                        assert!(frames >= 5 && replay.is_none());
                        assert_eq!(field("wr_ptr"), (first + buffer.len()) % 128);
                        assert_eq!(field("num_free_buf"), 128 - buffer.len());
                        let from = (field("eseq") + 128 - first) % 128;
                        assert_eq!(field("empty"), usize::from(from == buffer.len()));
                        depths.insert(buffer.len() - from);
                        wraps += usize::from(field("wr_ptr") < field("eseq"));
                        replay = Some((from, buffer.len()));
                    }
                    _ => match replay.as_mut() {
                        Some((next, last)) if *next < *last => {
                            assert_eq!(flit, buffer[*next]);
                            *next += 1;
                        }
                        _ => buffer.push(flit),
                    },
                }
            }
            let (next, last) = replay.unwrap();
            assert!(next == last && buffer.len() > last, "the whole buffer, then new flits");
        }
    }
    assert!(depths.len() > 5 && depths.contains(&0) && *depths.last().unwrap() >= 21, "{depths:?}");
    assert!(wraps > 0);
}

// ---- writing and verifying ----

/// A folder of this test alone, empty.
fn scratch(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("golden").join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

fn tiny() -> Spec {
    Spec { count: 1, ..Spec::default() }
}

/// The same of one family, for what is looked for in its files alone.
fn tiny_of(family: &str) -> Spec {
    Spec { protocols: protocols().filter(|p| p.family == family).collect(), ..tiny() }
}

fn write(spec: &Spec, dir: &Path) -> Result<Manifest, SetError> {
    write_set(spec, dir, &mut |_, _| ())
}

fn mismatches(dir: &Path) -> Vec<String> {
    check_set(dir, &mut |_, _| ()).unwrap().mismatches.iter().map(ToString::to_string).collect()
}

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(dir).unwrap().map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn the_same_command_gives_the_same_bytes() {
    let dir = scratch("same");
    let spec = tiny();
    let first = write(&spec, &dir.join("a")).unwrap();
    assert_eq!(first, write(&spec, &dir.join("b/c")).unwrap());
    for file in &first.files {
        assert_eq!(
            fs::read(dir.join("a").join(&file.path)).unwrap(),
            fs::read(dir.join("b/c").join(&file.path)).unwrap()
        );
    }
    let other = write(&Spec { seed: 2, ..spec }, &dir.join("d")).unwrap();
    let changed = first.files.iter().zip(&other.files).filter(|(a, b)| a.sha256 != b.sha256).count();
    assert_eq!(changed, first.files.len() - random_free(&first, &other), "every file with random vectors or a header");
    assert!(mismatches(&dir.join("a")).is_empty() && mismatches(&dir.join("d")).is_empty());
    assert_eq!(names(&dir), ["a", "b", "d"], "nothing is left over");
}

/// Files without a header whose layout has no random field: `cxl68.retry` has fixed and reserved fields alone.
fn random_free(a: &Manifest, b: &Manifest) -> usize {
    let same = a.files.iter().zip(&b.files).filter(|(a, b)| a.sha256 == b.sha256);
    let paths: Vec<&str> = same.map(|(a, _)| a.path.as_str()).collect();
    assert!(paths.iter().all(|p| p.ends_with(".jsonl")), "{paths:?}");
    paths.len()
}

#[test]
fn a_count_of_zero_leaves_the_directed_vectors() {
    let dir = scratch("zero");
    write(&Spec { count: 0, ..Spec::default() }, &dir).unwrap();
    assert!(mismatches(&dir).is_empty());
    for file in manifest().files.iter().filter(|f| f.path.ends_with(".rsp")) {
        let text = fs::read_to_string(dir.join(&file.path)).unwrap();
        assert!(!parse_rsp(&text).unwrap_or_else(|e| panic!("{}: {e}", file.path)).cases.is_empty());
    }
}

/// Each change of a set, and the message that names it.
#[test]
fn every_kind_of_mismatch_is_named() {
    let dir = scratch("mismatch");
    let spec = tiny_of("cxl68");
    let good = dir.join("good");
    write(&spec, &good).unwrap();
    let change = |path: &str, from: &str, to: &str| {
        let file = good.join(path);
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.contains(from), "{path} has no {from:?}");
        fs::write(&file, text.replacen(from, to, 1)).unwrap();
        let found = mismatches(&good);
        fs::write(&file, text).unwrap();
        found
    };
    let rows = [
        // Walking one, bit 1: becomes bits 1 and 0.
        (
            "cxl68/m2s_req.hex",
            "\n0000000000000000000002\n",
            "\n0000000000000000000003\n",
            "line ",
            "field `valid`: found 0x1, expected 0x0",
        ),
        (
            "cxl68/m2s_req.hex",
            "\n0000000000000000000002\n",
            "\n0000000000000000000004\n",
            "vector 3",
            "field `opcode`: found MemRdData (0x2), expected MemRd (0x1)",
        ),
        (
            "cxl68/m2s_req.hex",
            "\n0000000000000000000002\n",
            "\n",
            "vector 3",
            "field `opcode`: found MemRdData (0x2), expected MemRd (0x1)",
        ),
        (
            "cxl68/m2s_req.hex",
            "\n0000000000000000000002\n",
            "\n000000000000000000000g\n",
            "column 22",
            "found `g`, expected the end of the line",
        ),
        ("cxl68/m2s_req.hex", "// command", "// Command", "line 2", "expected `// command"),
        ("cxl68/s2m_ndr.rsp", "tag = ffff", "tag = fffe", "case 1, line ", "field `tag`: found fffe, expected ffff"),
        (
            "cxl68/s2m_ndr.rsp",
            "Bytes = 02000000",
            "Bytes = 03000000",
            "case 3, line ",
            "Bytes, field `valid`: found 0x1, expected 0x0",
        ),
        ("cxl68/s2m_ndr.rsp", "tag = ffff", "cqid = ffff", "case 1, line ", "found key `cqid`, expected `tag`"),
        ("cxl68/s2m_ndr.rsp", "tag = ffff\n", "", "case 1, line ", "found key `ld_id`, expected `tag`"),
        (
            "cxl68/s2m_ndr.rsp",
            "RULE = CXL68-ENC-05",
            "RULE = CXL68-ENC-04",
            "case 1, RESULT",
            "found invalid by CXL68-ENC-04, expected invalid by CXL68-ENC-05",
        ),
        (
            "cxl68/s2m_ndr.rsp",
            "RESULT = valid",
            "RESULT = invalid\nRULE = A",
            "case 0, RESULT",
            "found invalid by A, expected valid",
        ),
        (
            "cxl68/s2m_ndr.rsp",
            "[Layout = cxl68.s2m_ndr]",
            "[Layout = a]",
            "case 0",
            "found [Layout = a], expected [Layout = cxl68.s2m_ndr]",
        ),
        ("cxl68/s2m_ndr.jsonl", "\"tag\":65535", "\"tag\":65534", "line 2, /fields/tag", "found 65534, expected 65535"),
        ("cxl68/s2m_ndr.jsonl", "\"tag\":65535,", "", "line 2, /fields/tag", "found no key, expected one"),
        ("cxl68/s2m_ndr.jsonl", "{", "", "line 1, column ", "found malformed JSON, expected an object"),
        (
            "cxl68/context_cxl-68b_up.rsp",
            "Flit = 5555",
            "Flit = 5554",
            "case 0, line ",
            "flit 0, byte 1, protocol ID: found 5554, expected 5555",
        ),
        (
            "cxl68/control_cxl-68b_up.jsonl",
            "\"ok\":true",
            "\"ok\":false",
            "line 1, /crc/ok",
            "found false, expected true",
        ),
        (MANIFEST, "sha256 = \"", "sha256 = \"0", "sha256 of cxl68/m2s_req.hex", "found 0"),
        (MANIFEST, "# Golden", "# golden", "line 1", "found `# golden"),
        (MANIFEST, "--seed 1", "--seed 3", "command", "found scalepool golden --protocol cxl-68b --seed 3"),
        (SUMS, "  cxl68/m2s_req.hex", " *cxl68/m2s_req.hex", "line 1", "*cxl68/m2s_req.hex`, expected"),
    ];
    for (path, from, to, at, end) in rows {
        let found = change(path, from, to);
        let named = found.len() == 1 && found[0].starts_with(path) && found[0].contains(at) && found[0].contains(end);
        assert!(named, "{path}, {from:?} to {to:?}: found {found:?}, expected {at:?} and {end:?}");
    }
    let ndr = good.join("cxl68/s2m_ndr.hex");
    let text = fs::read_to_string(&ndr).unwrap();
    let vectors = parse_hex(&text).unwrap().vectors.len();
    fs::write(&ndr, text.clone() + "00000000\n").unwrap();
    assert_eq!(mismatches(&good), [format!("cxl68/s2m_ndr.hex: found {} vectors, expected {vectors}", vectors + 1)]);
    fs::write(&ndr, text).unwrap();

    fs::write(good.join("cxl68/extra"), "").unwrap();
    assert_eq!(mismatches(&good), ["cxl68/extra: found a file, expected none: the set has no such file"]);
    fs::remove_file(good.join("cxl68/extra")).unwrap();
    let almp = good.join("cxl68/almp.hex");
    fs::write(&almp, [0xff]).unwrap();
    assert_eq!(mismatches(&good), ["cxl68/almp.hex, byte 0: found a byte that is no text, expected text"]);
    fs::remove_file(almp).unwrap();
    assert!(mismatches(&good)[0].starts_with("cxl68/almp.hex: found no file, expected a file of"));
}

/// A changed bit of a flit is named by what stands there.
#[test]
fn a_bit_of_a_flit_is_named_by_its_field() {
    let dir = scratch("flit_bit");
    let spec = tiny_of("cxl68");
    write(&spec, &dir).unwrap();
    // Case 0 of the files and flit of it, bit of the 68 bytes, what is named.
    let rows = [
        ("control_cxl-68b_down", 0, 2 * 8 + 64, "slot 0, cxl68.llcrd, field `ack_low`"),
        ("control_cxl-68b_down", 0, 66 * 8, "byte 66, CRC"),
        ("flit_cxl-68b_down", 0, 2 * 8 + 2, "slot 0, cxl68.flit_header, field `ak`"),
    ];
    for (name, flit, bit, expected) in rows {
        let file = dir.join(format!("cxl68/{name}.hex"));
        let text = fs::read_to_string(&file).unwrap();
        let digits = parse_hex(&text).unwrap().vectors[flit].digits.clone();
        let mut raw = bytes(&digits);
        raw[67 - bit / 8] ^= 1 << (bit % 8);
        let changed: String = raw.iter().map(|b| format!("{b:02x}")).collect();
        fs::write(&file, text.replacen(&digits, &changed, 1)).unwrap();
        let found = mismatches(&dir);
        assert!(found.len() == 1 && found[0].contains(expected), "{name}, bit {bit}: {found:?}");
        fs::write(&file, text).unwrap();
    }
}

fn refusal<T: std::fmt::Debug>(result: Result<T, SetError>) -> String {
    result.expect_err("it must be refused").to_string()
}

#[test]
fn a_folder_with_anything_else_is_left_alone() {
    let dir = scratch("refuse");
    let spec = tiny();
    fs::create_dir(dir.join("docs")).unwrap();
    fs::write(dir.join("docs/a"), "a").unwrap();
    let message = refusal(write(&spec, &dir.join("docs")));
    assert!(
        message.ends_with("found `a` and no MANIFEST.toml, expected a new or empty folder, or a golden set to replace")
    );
    assert!(refusal(write(&spec, &dir.join("docs/a"))).contains("found a file, expected"));
    assert!(refusal(write(&spec, &dir.join("docs/a/b"))).contains("cannot find"));
    fs::write(dir.join("docs/MANIFEST.toml"), "name = 1\n").unwrap();
    assert!(refusal(write(&spec, &dir.join("docs"))).contains("found no format_version, expected format_version = 1"));
    assert_eq!(names(&dir.join("docs")), ["MANIFEST.toml", "a"]);

    write(&spec, &dir.join("set")).unwrap();
    fs::write(dir.join("set/notes"), "mine").unwrap();
    assert!(refusal(write(&spec, &dir.join("set"))).contains("found `notes`, which is not in its MANIFEST.toml"));
    fs::remove_file(dir.join("set/notes")).unwrap();
    let replaced = write(&Spec { seed: 5, ..spec }, &dir.join("set")).unwrap();
    assert_eq!(replaced.seed, 5);
    assert!(mismatches(&dir.join("set")).is_empty());
    assert_eq!(names(&dir), ["docs", "set"], "nothing is left over");
}

#[test]
fn a_manifest_that_cannot_be_used() {
    let dir = scratch("manifest");
    let check = |text: &str| {
        fs::write(dir.join(MANIFEST), text).unwrap();
        refusal(check_set(&dir, &mut |_, _| ()).map(|r| r.mismatches))
    };
    fs::remove_dir_all(&dir).unwrap();
    assert!(refusal(check_set(&dir, &mut |_, _| ()).map(|r| r.mismatches)).ends_with("MANIFEST.toml: cannot read"));
    fs::create_dir_all(&dir).unwrap();
    let head = "format_version = 1\nmodel_version = \"0\"\ncommand = \"\"\n";
    let rows = [
        ("".to_owned(), "found no format_version, expected format_version = 1"),
        ("format_version = 2\n".to_owned(), "found format_version 2, expected format_version = 1"),
        ("format_version = \n".to_owned(), "at line 1, column 18"),
        (format!("{head}protocols = []\nseed = 1\n"), "missing field `count`"),
        (format!("{head}protocols = []\nseed = -1\ncount = 1\n"), "at line 5, column 8"),
        (format!("{head}protocols = []\nseed = 1\ncount = 1\nmore = 1\n"), "unknown field `more`"),
        (format!("{head}protocols = [\"x\"]\nseed = 1\ncount = 1\n"), "found protocol `x`, expected one of: cxl-68b"),
        (format!("{head}protocols = []\nseed = 1\ncount = 10001\n"), "found count = 10001, expected at most 10000"),
    ];
    for (text, expected) in rows {
        let found = check(&text);
        assert!(
            found.contains(MANIFEST) && found.contains(expected),
            "{text:?}: found {found:?}, expected {expected:?}"
        );
    }
}

// ---- the readers ----

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..ProptestConfig::default() })]

    /// Text that is nearly a file is read or refused with its line, and never ends the program.
    #[test]
    fn the_readers_name_a_line_of_the_text(text in "(Count = [0-9]|tag = [0-9a-g]*|RESULT = (in)?valid|RULE = [A-Z]|# .|\\[.*\\]|//.|[0-9a-g]{2}|.|\n){0,12}") {
        for error in [parse_rsp(&text).err(), parse_hex(&text).err()].into_iter().flatten() {
            prop_assert!((1..=text.split('\n').count()).contains(&error.line), "{error}");
            prop_assert!(error.column >= 1 && !error.found.is_empty() && !error.expected.is_empty(), "{error}");
        }
    }
}
