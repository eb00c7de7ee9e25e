//! Properties of whole flits: CRC, protocol ID, slot formats, and the messages that stand at places that do not depend on
//! the flits before.
//!
//! | module | unit_i | looks at |
//! | --- | --- | --- |
//! | `scalepool_cxl68_flit_down_sva`, `.._up_sva` | 544 bits | all of it; `all_data_i` is 1 in flits of data alone |
//! | `scalepool_cxl256_flit_sva`, `.._flit_lopt_sva`, `scalepool_cxlpbr_flit_sva` | 2048 bits | header, slot 0, CRC |
//! | `scalepool_ualink_flit_sva` | 5120 bits | header, CRC |
//! | `scalepool_nvlink_flit_sva` | header flit; `fresh_i` is 1 behind a packet without payload | header, CRC |
//!
//! Numbers that a rule's own code knows and no table does are asked for: the kinds of control flits, the channel of an
//! operation.

use super::{Properties, bits, checker, conditions, crc, label, line, ok_name};
use scalepool_protocols::cxl::cxl68::control::{Almp, Control, Retry};
use scalepool_protocols::cxl::cxl68::header::FlitHeader;
use scalepool_protocols::cxl::cxl68::pid::{PIDS, PidKind};
use scalepool_protocols::cxl::cxl68::{Dir, slot as slot68};
use scalepool_protocols::cxl::cxl256::code::FlitType;
use scalepool_protocols::cxl::cxl256::flit::{crc_parts, slot_byte};
use scalepool_protocols::cxl::cxl256::header::FlitHeader as FlitHeader256;
use scalepool_protocols::cxl::cxl256::{Mode, slot as slot256};
use scalepool_protocols::nvlink::code::Op;
use scalepool_protocols::nvlink::{MAX_FLITS, NvlConfig, NvlHeader};
use scalepool_protocols::ualink::flit::map as ual_map;
use scalepool_protocols::ualink::header::ExplicitHeader;
use scalepool_protocols::wire::{LayoutDef, Wire};
use std::collections::BTreeMap;
use std::fmt::Write;

/// By rule, what has to hold of a unit `u`.
type Conditions = BTreeMap<&'static str, Vec<String>>;

/// A flit: name of its module behind the family, inputs beside the unit, conditions.
struct Flit {
    name: &'static str,
    bits: usize,
    /// One more input, which the functions take as well.
    input: Option<&'static str>,
    protocol: &'static str,
    /// What is worked out once: names and what they stand for, each in terms of those before.
    terms: Terms,
    conditions: Conditions,
}

type Terms = Vec<(&'static str, String)>;

fn flits(family: &str) -> Vec<Flit> {
    let flit256 = |name, mode: Mode| {
        let (terms, conditions) = cxl256(mode);
        Flit { name, bits: 2048, input: None, protocol: mode.protocol(), terms, conditions }
    };
    let flit68 = |name, dir| {
        let (terms, conditions) = cxl68(dir);
        Flit { name, bits: 544, input: Some("all_data"), protocol: "cxl-68b", terms, conditions }
    };
    match family {
        "cxl68" => vec![flit68("flit_down", Dir::Down), flit68("flit_up", Dir::Up)],
        "cxl256" => vec![flit256("flit", Mode::Standard), flit256("flit_lopt", Mode::LatencyOptimised)],
        "cxlpbr" => vec![flit256("flit", Mode::Pbr)],
        "ualink" => {
            let (terms, conditions) = ualink();
            vec![Flit { name: "flit", bits: 5120, input: None, protocol: "ualink", terms, conditions }]
        }
        "nvlink" => {
            let (terms, conditions) = nvlink();
            vec![Flit { name: "flit", bits: 128, input: Some("fresh"), protocol: "nvlink", terms, conditions }]
        }
        _ => Vec::new(),
    }
}

/// Rules of the flits of a family.
pub fn rules(family: &str) -> Vec<&'static str> {
    flits(family).into_iter().flat_map(|flit| flit.conditions.into_keys()).collect()
}

/// Functions for the package of a family.
pub fn functions(text: &mut String, family: &str) {
    match family {
        "cxl68" => crc::cxl68(text),
        "cxl256" | "cxlpbr" => crc::cxl256(text),
        "ualink" => crc::ualink(text),
        "nvlink" => crc::nvlink(text),
        _ => (),
    }
    for flit in flits(family) {
        let more: String = flit.terms.iter().map(|(name, _)| format!(", input logic {name}")).collect();
        for (rule, conditions) in &flit.conditions {
            let name = name_of(&flit, rule);
            line!(text, "  function automatic logic {name}(input logic [{}:0] u{more});", flit.bits - 1);
            line!(text, "    return ({});", conditions.join(")\n        && ("));
            line!(text, "  endfunction\n");
        }
    }
}

/// Modules of a family.
pub fn modules(text: &mut String, family: &str) {
    for flit in flits(family) {
        let mut inputs = vec![format!("input logic [{}:0] unit_i", flit.bits - 1)];
        inputs.extend(flit.input.map(|name| format!("input logic {name}_i")));
        let more: String = flit.terms.iter().map(|(name, _)| format!(", {name}")).collect();
        let property = |rule: &&'static str| (*rule, format!("{}(unit_i{more})", name_of(&flit, rule)));
        let properties: Properties = flit.conditions.keys().map(property).collect();
        line!(text, "\n// Flits of {}.", flit.protocol);
        // A term speaks of the unit as a function does.
        let mut body = vec![("u".to_owned(), format!("logic [{}:0]", flit.bits - 1), "unit_i".to_owned())];
        body.extend(flit.input.map(|name| (name.to_owned(), "logic".to_owned(), format!("{name}_i"))));
        body.extend(flit.terms.iter().map(|(name, term)| (name.to_string(), "logic".to_owned(), term.clone())));
        let name = format!("scalepool_{family}_{}_sva", flit.name);
        checker(text, &name, family, &inputs, &body, flit.protocol, &properties);
    }
}

fn name_of(flit: &Flit, rule: &str) -> String {
    format!("ok_{}_{}", flit.name, label(rule).to_lowercase())
}

fn add(all: &mut Conditions, rule: &'static str, condition: String) {
    all.entry(rule).or_default().push(condition);
}

/// Adds the rules of a layout whose bits are `message`, where `when` holds. Slot 0 of a 256B flit keeps the first bits of a
/// message alone: a rule of the others could not be broken there.
fn add_layout(all: &mut Conditions, layout: &LayoutDef, kept_bits: u32, (when, message): (&str, &str)) {
    for rule in conditions(layout, kept_bits).into_keys() {
        add(all, rule, format!("!({when}) || {}({message})", ok_name(layout, rule)));
    }
}

/// Bits of a field of a layout that begins at a bit of the unit.
fn field(layout: &LayoutDef, name: &str, from: usize) -> String {
    let found = layout.fields.iter().find(|f| f.name == name);
    found.map_or(String::new(), |f| bits("u", from as u32 + f.lsb, f.width))
}

fn is_one_of(bits: &str, width: u32, values: impl Iterator<Item = u128>) -> String {
    let listed: Vec<_> = values.map(|v| format!("{width}'h{v:x}")).collect();
    format!("{bits} inside {{{}}}", listed.join(", "))
}

fn cxl68(dir: Dir) -> (Terms, Conditions) {
    let mut all = Conditions::new();
    let known = |bits: &str| is_one_of(bits, 8, PIDS.iter().map(|p| p.code.into()));
    let (low, high) = (known("u[7:0]"), known("u[15:8]"));
    add(&mut all, "CXL68-PID-02", format!("{low} == {high}"));
    add(&mut all, "CXL68-PID-03", format!("{low} || {high}"));
    add(&mut all, "CXL68-PID-04", format!("!({low}) || !({high}) || u[7:0] == u[15:8]"));
    // One valid byte is enough; two that differ are none.
    let is = |kind: PidKind| {
        let of_kind = |bits: &str| is_one_of(bits, 8, PIDS.iter().filter(|p| p.kind == kind).map(|p| p.code.into()));
        let (this_low, this_high) = (of_kind("u[7:0]"), of_kind("u[15:8]"));
        format!("({this_low} && (u[7:0] == u[15:8] || !({high})) || {this_high} && !({low}))")
    };
    let flit_type = field(FlitHeader::DEF, "flit_type", 16);
    let terms = vec![
        ("cachemem", is(PidKind::Cachemem)),
        ("null_unit", is(PidKind::Null)),
        ("almp", is(PidKind::Almp)),
        ("crc_ok", "u[543:528] == crc16(u[527:16])".into()),
        // Behind a bad CRC nothing else is judged.
        ("control", format!("cachemem && crc_ok && !all_data && {flit_type}")),
        ("protocol", format!("cachemem && crc_ok && !all_data && !{flit_type}")),
    ];
    add(&mut all, "CXL68-CRC-01", "!cachemem || crc_ok".into());
    add(&mut all, "CXL68-FRM-02", "!(null_unit || almp) || u[543:528] == '0".into());
    add(&mut all, "CXL68-NUL-01", "!null_unit || u[527:16] == '0".into());
    add(&mut all, "CXL68-ALM-01", "!almp || u[143:48] == {3{u[47:16]}} && u[527:144] == '0".into());
    add_layout(&mut all, Almp::DEF, Almp::DEF.bits, ("almp", "u[47:16]"));
    control(&mut all);
    for slot in 0..4 {
        let code = field(FlitHeader::DEF, &format!("slot{slot}"), 16);
        let formats: Vec<_> = slot68::all_formats().filter(|f| f.dir == dir && f.is_header() == (slot == 0)).collect();
        let listed = is_one_of(&code, 3, formats.iter().map(|f| f.code.into()));
        add(&mut all, "CXL68-SLT-01", format!("!protocol || {listed}"));
        let first = 16 + 128 * slot;
        for format in formats {
            for place in format.places() {
                let head = bits("u", first + u32::from(place.lsb), place.width.into());
                let message = match place.devload_lsb {
                    None => head,
                    Some(lsb) => format!("{{{}, {head}}}", bits("u", first + u32::from(lsb), 2)),
                };
                let valid = bits("u", first + u32::from(place.lsb), 1);
                let when = format!("protocol && {code} == 3'd{} && {valid}", format.code);
                add_layout(&mut all, place.class.def(), place.class.def().bits, (&when, &message));
            }
        }
    }
    (terms, all)
}

/// Control flits by their class and kind.
fn control(all: &mut Conditions) {
    let def = Retry::DEF;
    let kind = |llctrl: u128, sub_type: u128| {
        let value = |name: &str, value: u128| {
            let lsb = def.fields.iter().find(|f| f.name == name).map_or(0, |f| f.lsb);
            value << lsb
        };
        1 | value("llctrl", llctrl) | value("sub_type", sub_type)
    };
    let both = format!("{{{}, {}}}", field(def, "sub_type", 16), field(def, "llctrl", 16));
    let mut listed = Vec::new();
    for pair in 0..256 {
        let slot = kind(pair & 0xf, pair >> 4);
        if matches!(Control::from_slot(slot), Control::Reserved(_)) {
            continue;
        }
        listed.push(pair);
        // Which bits are fixed, and at what, shows in those that spoil the slot when they are set.
        let formats = (0..8).filter(|format| Control::static_bits_ok(slot | format << 5));
        let format = is_one_of("u[23:21]", 3, formats.clone());
        let with_format = slot | formats.clone().next().unwrap_or(0) << 5;
        let when = format!("!(control && {both} == 8'h{pair:x})");
        add(all, "CXL68-CTL-05", format!("{when} || {format}"));
        let fixed: Vec<u32> = (40..64).filter(|bit| !Control::static_bits_ok(with_format | 1 << bit)).collect();
        if let (Some(first), Some(last)) = (fixed.first(), fixed.last()) {
            add(all, "CXL68-CTL-05", format!("{when} || {} == '0", bits("u", 16 + first, last - first + 1)));
        }
    }
    let listed = is_one_of(&both, 8, listed.into_iter());
    add(all, "CXL68-CTL-02", format!("!control || {listed}"));
}

fn cxl256(mode: Mode) -> (Terms, Conditions) {
    let mut all = Conditions::new();
    let mut terms = Terms::new();
    for part in crc_parts(mode) {
        let found = bits("u", 8 * part.bytes.start as u32, 8 * part.bytes.len() as u32);
        let (name, data) = match part.half {
            "" => ("crc_ok", "crc8b(u[1935:0])"),
            "even" => ("even_ok", "crc6b({64'h0, u[975:0]})"),
            _ => ("odd_ok", "crc6b({112'h0, u[1951:1024]})"),
        };
        terms.push((name, format!("{found} == {data}")));
        add(&mut all, part.rule, name.into());
    }
    let good = terms.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(" && ");
    terms.push(("good", good));
    terms.push(("cachemem", format!("good && u[7:6] == 2'd{}", FlitType::Cachemem.0)));
    let good = "good";
    // High byte first.
    let header = "{u[7:0], u[15:8]}";
    add_layout(&mut all, FlitHeader256::DEF, FlitHeader256::DEF.bits, (good, header));
    add(&mut all, "CXL256-HDR-03", format!("!good || u[7:6] == 2'd{} || !u[4]", FlitType::Io.0));
    let slot = 8 * slot_byte(mode, 0, 0) as u32;
    let formats = slot256::formats(mode, 0);
    let code = bits("u", slot, 4);
    let rule = if mode == Mode::Pbr { "CXLPBR-SLT-01" } else { "CXL256-SLT-02" };
    let listed = is_one_of(&code, 4, formats.iter().map(|f| f.code.into()));
    add(&mut all, rule, format!("!cachemem || {listed}"));
    for format in formats {
        for place in format.places() {
            let def = place.class.def(format.routing);
            let kept = bits("u", slot + place.lsb, place.kept);
            let message = match def.bits - place.kept {
                0 => kept,
                lost => format!("{{{lost}'h0, {kept}}}"),
            };
            let valid = bits("u", slot + place.lsb, 1);
            let when = format!("cachemem && {code} == 4'd{} && {valid}", format.code);
            add_layout(&mut all, def, place.kept, (&when, &message));
        }
    }
    (terms, all)
}

fn ualink() -> (Terms, Conditions) {
    let mut all = Conditions::new();
    let terms = vec![("crc_ok", "u[5119:5088] == crc32(u[5087:0])".to_owned())];
    add(&mut all, "UAL-CRC-01", "crc_ok".into());
    let header = bits("u", 8 * ual_map::FH.start as u32, 24);
    // The two formats have these bits in common: the code itself, and what is reserved in both.
    let op = field(ExplicitHeader::DEF, "op", 8 * ual_map::FH.start);
    for rule in conditions(ExplicitHeader::DEF, ExplicitHeader::DEF.bits).into_keys() {
        let is_code = ExplicitHeader::DEF.rule != rule;
        let when = if is_code { "crc_ok".to_owned() } else { format!("crc_ok && !{}", op_is_command(&op)) };
        add(&mut all, rule, format!("!({when}) || {}({header})", ok_name(ExplicitHeader::DEF, rule)));
    }
    (terms, all)
}

/// Whether the code is one of the command format, by asking the model.
fn op_is_command(op: &str) -> String {
    let commands = (0..8).filter(|n| scalepool_protocols::ualink::code::FlitOp(*n).is_command());
    format!("({})", is_one_of(op, 3, commands.map(u128::from)))
}

fn nvlink() -> (Terms, Conditions) {
    let mut all = Conditions::new();
    let terms = vec![
        ("crc_ok", "!fresh || u[127:103] == crc25(u[102:0])".to_owned()),
        // Behind a payload only the whole stream knows whether the CRC fits.
        ("good", "fresh && crc_ok".to_owned()),
    ];
    add(&mut all, "NVL-CRC-01", "crc_ok".into());
    add_layout(&mut all, NvlHeader::DEF, NvlHeader::DEF.bits, ("good", "u"));
    let len = field(NvlHeader::DEF, "len", 0);
    add(&mut all, "NVL-PKT-01", format!("!good || {len} < 5'd{MAX_FLITS}"));
    let (op, vc) = (field(NvlHeader::DEF, "op", 0), field(NvlHeader::DEF, "vc", 0));
    let config = NvlConfig::default();
    for code in 0..64_u8 {
        if let Some(channel) = config.vc_of(Op(code)) {
            add(&mut all, "NVL-OPC-02", format!("!(good && {op} == 6'h{code:x}) || {vc} == 3'd{}", channel.0));
        }
    }
    (terms, all)
}
