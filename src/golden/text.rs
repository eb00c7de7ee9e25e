//! A vector set as text: `.hex`, `.rsp` and `.jsonl`.
//!
//! LF endings, ASCII, integers, fixed order; no date, no path. The headers name versions, command and the ranges of cases.

use super::spec::{FORMAT_VERSION, Spec};
use super::vectors::{CaseGroup, Stream256, StreamCase, VectorContent, VectorSet};
use scalepool_forms::{flit_io, flit_nvl, flit_ual, flit68, flit256, message};
use scalepool_protocols::cxl::cxl68::check;
use scalepool_protocols::cxl::cxl68::config::{Cxl68Config, Revision};
use scalepool_protocols::cxl::cxl68::pid::Enabled;
use scalepool_protocols::cxl::cxl68::stream::Unpacker;
use scalepool_protocols::cxl::cxl68::unit::Cxl68Unit;
use scalepool_protocols::cxl::cxl256::flit::Cxl256Flit;
use scalepool_protocols::nvlink::Packet;
use scalepool_protocols::ualink::flit::DlFlit;
use scalepool_protocols::wire::{ByteOrder, FieldDef, LayoutDef};
use serde_json::{Map, Value};
use std::fmt::Write;
use std::ops::Range;

/// The three files of a vector set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VectorFileForm {
    /// `$readmemh` numbers.
    Hex,
    /// Cases with fields, bytes and result.
    Rsp,
    /// JSON lines.
    Jsonl,
}

impl VectorFileForm {
    /// All forms, in order of the manifest.
    pub const ALL: [VectorFileForm; 3] = [VectorFileForm::Hex, VectorFileForm::Rsp, VectorFileForm::Jsonl];

    /// File name extension.
    pub const fn extension(self) -> &'static str {
        match self {
            VectorFileForm::Hex => "hex",
            VectorFileForm::Rsp => "rsp",
            VectorFileForm::Jsonl => "jsonl",
        }
    }

    /// Path of a set's file.
    pub fn path(self, set: &VectorSet) -> String {
        format!("{}.{}", set.path, self.extension())
    }

    /// Vectors or cases in the file.
    pub fn count(self, set: &VectorSet) -> usize {
        match self {
            VectorFileForm::Hex => set.numbers(),
            VectorFileForm::Rsp => set.cases(),
            VectorFileForm::Jsonl => set.vectors(),
        }
    }

    /// The file.
    pub fn text(self, set: &VectorSet, spec: &Spec) -> String {
        match self {
            VectorFileForm::Hex => hex(set, spec),
            VectorFileForm::Rsp => rsp(set, spec),
            VectorFileForm::Jsonl => jsonl(set),
        }
    }
}

/// Bytes as hex, byte 0 first.
pub fn bytes_hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, b| {
        let _ = write!(text, "{b:02x}");
        text
    })
}

/// The number of a message, most significant digit first: ceil(bits / 4) digits.
pub fn message_number(def: &LayoutDef, bits: u128) -> String {
    format!("{bits:0digits$x}", digits = def.bits.div_ceil(4) as usize)
}

/// The number of a unit, most significant digit first: byte 67 to byte 0.
pub fn unit_number(unit: &Cxl68Unit) -> String {
    reversed_hex(&unit.0)
}

/// The number of a unit of any length, most significant digit first: last byte to byte 0.
fn reversed_hex(bytes: &[u8]) -> String {
    bytes_hex(&bytes.iter().rev().copied().collect::<Vec<_>>())
}

/// A field value of a `.rsp` case: the byte address for an address field, digits for all bits up to its highest.
pub fn field_hex(field: &FieldDef, bits: u128) -> String {
    let digits = (field.width + field.address_lsb).div_ceil(4) as usize;
    format!("{:0digits$x}", field.value(bits))
}

/// First lines of a `.hex` or `.rsp` file, each behind the comment sign.
fn header(set: &VectorSet, spec: &Spec, sign: &str, form: &[&str], ranges: &[(String, Range<usize>)]) -> String {
    let mut lines = vec![
        format!("scalepool golden vectors, format {FORMAT_VERSION}, model {}", spec.model_version),
        format!("command: {}", spec.command_of_files()),
        set.about.clone(),
    ];
    lines.extend(form.iter().map(|&line| line.to_owned()));
    lines.extend(ranges.iter().map(|(what, range)| match range.len() {
        1 => format!("{}: {what}", range.start),
        _ => format!("{} to {}: {what}", range.start, range.end - 1),
    }));
    lines.iter().fold(String::new(), |text, line| text + sign + " " + line + "\n")
}

/// What the groups hold, with their ranges; `size` gives the entries of a case.
fn ranges<C>(
    groups: &[CaseGroup<C>],
    size: impl Fn(&C) -> usize,
    legal: impl Fn(&C) -> bool,
) -> Vec<(String, Range<usize>)> {
    let mut next = 0;
    let rows = groups.iter().map(|group| {
        let from = next;
        next += group.cases.iter().map(&size).sum::<usize>();
        let invalid = if group.cases.iter().any(&legal) { "" } else { "invalid: " };
        (format!("{invalid}{}", group.what), from..next)
    });
    rows.collect()
}

/// Header line of a `.hex` file of flits.
const STREAM: &str = "the flits are one stream in order; cases and their results stand in the .rsp file; \
                      what each flit is, by its number from 0:";

fn hex(set: &VectorSet, spec: &Spec) -> String {
    let form = "for $readmemh: one vector a line, the whole as one number, most significant digit first, byte 0 lowest";
    match &set.content {
        VectorContent::Messages(def, groups) => {
            let result = "which vectors are valid stands in the .rsp file; what each vector is, by its number from 0:";
            let form = match def.order {
                ByteOrder::Little => form,
                ByteOrder::Big => {
                    "for $readmemh: one vector a line, the whole as one number, most significant digit first; big-endian: \
                     bit 0 is the lowest bit of the last byte, so the digits are those of Bytes in the .rsp file"
                }
            };
            let mut text = header(set, spec, "//", &[form, result], &ranges(groups, |_| 1, |c| c.rule.is_none()));
            for case in groups.iter().flat_map(|g| &g.cases) {
                text += &message_number(def, case.bits);
                text.push('\n');
            }
            text
        }
        VectorContent::Flits256(_, groups) => {
            let size = |c: &StreamCase<Cxl256Flit>| c.units.len();
            let mut text = header(set, spec, "//", &[form, STREAM], &ranges(groups, size, |c| c.rule.is_none()));
            for flit in groups.iter().flat_map(|g| &g.cases).flat_map(|c| &c.units) {
                text += &reversed_hex(&flit.0);
                text.push('\n');
            }
            text
        }
        VectorContent::Ualink(_, groups) => {
            let size = |c: &StreamCase<DlFlit>| c.units.len();
            let mut text = header(set, spec, "//", &[form, STREAM], &ranges(groups, size, |c| c.rule.is_none()));
            for flit in groups.iter().flat_map(|g| &g.cases).flat_map(|c| &c.units) {
                text += &reversed_hex(&flit.0);
                text.push('\n');
            }
            text
        }
        VectorContent::Nvlink(_, groups) => {
            let size = |c: &StreamCase<Packet>| c.units.iter().map(|packet| packet.flits().len()).sum();
            let form = "for $readmemh: one flit of 128 bits a line, most significant digit first, byte 0 lowest; \
                        packet behind packet, whose ends show in the .rsp and .jsonl file";
            let mut text = header(set, spec, "//", &[form, STREAM], &ranges(groups, size, |c| c.rule.is_none()));
            for packet in groups.iter().flat_map(|g| &g.cases).flat_map(|c| &c.units) {
                packet.flits().iter().for_each(|flit| {
                    let _ = writeln!(text, "{flit:032x}");
                });
            }
            text
        }
        VectorContent::Cxl68(_, groups) => {
            let size = |c: &StreamCase| c.units.len();
            let mut text = header(set, spec, "//", &[form, STREAM], &ranges(groups, size, |c| c.rule.is_none()));
            for unit in groups.iter().flat_map(|g| &g.cases).flat_map(|c| &c.units) {
                text += &unit_number(unit);
                text.push('\n');
            }
            text
        }
    }
}

/// `RESULT`, and `RULE` when invalid, and the blank line that ends a case.
fn result(text: &mut String, rule: Option<&str>) {
    match rule {
        None => text.push_str("RESULT = valid\n\n"),
        Some(rule) => {
            let _ = write!(text, "RESULT = invalid\nRULE = {rule}\n\n");
        }
    }
}

fn rsp(set: &VectorSet, spec: &Spec) -> String {
    match &set.content {
        VectorContent::Messages(def, groups) => {
            let mut form = vec![
                "fields as hex in layout order; an address field is the byte address; Bytes: byte 0 first",
                "RESULT judges the layout alone; RULE is the first rule broken, in layout order",
                "what each case is, by Count (decimal):",
            ];
            if def.order == ByteOrder::Big {
                let big = "big-endian: bit 0 of the layout is the lowest bit of the last byte; read from left to right, \
                           Bytes is the number of the .hex file";
                form.insert(1, big);
            }
            let mut text = header(set, spec, "#", &form, &ranges(groups, |_| 1, |c| c.rule.is_none()));
            let _ = write!(text, "\n[Layout = {}]\n\n", def.name);
            for (n, case) in groups.iter().flat_map(|g| &g.cases).enumerate() {
                let _ = writeln!(text, "Count = {n}");
                for field in def.fields {
                    let _ = writeln!(text, "{} = {}", field.name, field_hex(field, case.bits));
                }
                let _ = writeln!(text, "Bytes = {}", bytes_hex(&def.to_bytes(case.bits)));
                result(&mut text, case.rule);
            }
            text.pop();
            text
        }
        VectorContent::Cxl68(dir, groups) => {
            let form = [
                "Flit: 68 bytes in order of the wire, byte 0 first; every case begins and ends with no data owed",
                "RULE is the one rule the case breaks; [Context = ..] holds for the cases behind it",
                "what each case is, by Count (decimal):",
            ];
            let mut text = header(set, spec, "#", &form, &ranges(groups, |_| 1, |c| c.rule.is_none()));
            cases(&mut text, "cxl-68b", dir.name(), groups, |unit| bytes_hex(&unit.0));
            text
        }
        VectorContent::Ualink(dir, groups) => {
            let form = [
                "Flit: 640 bytes in order of the wire, byte 0 first; every case begins and ends with nothing left over or owed",
                "RULE is the rule the case breaks; the address cache is filled over the whole file",
                "what each case is, by Count (decimal):",
            ];
            let mut text = header(set, spec, "#", &form, &ranges(groups, |_| 1, |c| c.rule.is_none()));
            cases(&mut text, flit_ual::PROTOCOL, dir.name(), groups, |flit| bytes_hex(&flit.0));
            text
        }
        VectorContent::Nvlink(dir, groups) => {
            let form = [
                "Flit: a packet of 16 to 288 bytes in order of the wire, byte 0 first",
                "every case begins and ends with no payload that a CRC has yet to cover",
                "RULE is the rule the case breaks; a packet whose CRC does not fit changes nothing",
                "what each case is, by Count (decimal):",
            ];
            let mut text = header(set, spec, "#", &form, &ranges(groups, |_| 1, |c| c.rule.is_none()));
            cases(&mut text, flit_nvl::PROTOCOL, dir.name(), groups, |packet| {
                bytes_hex(&packet.bytes().collect::<Vec<_>>())
            });
            text
        }
        VectorContent::Flits256(stream, groups) => {
            let form = [
                "Flit: 256 bytes in order of the wire, byte 0 first; every case begins and ends with no data owed",
                "RULE is the rule the case breaks; a CRC that fails behind a failed FEC is not named besides",
                "seq counts on over the file; a flit that cannot be used is sent once more",
                "[Context = ..] holds for the cases behind it",
                "what each case is, by Count (decimal):",
            ];
            let mut text = header(set, spec, "#", &form, &ranges(groups, |_| 1, |c| c.rule.is_none()));
            cases(&mut text, stream.protocol, stream.dir.name(), groups, |flit| bytes_hex(&flit.0));
            text
        }
    }
}

/// The cases of a `.rsp` file of flits.
fn cases<U>(
    text: &mut String,
    protocol: &str,
    dir: &str,
    groups: &[CaseGroup<StreamCase<U>>],
    hex: impl Fn(&U) -> String,
) {
    let _ = write!(text, "\n[Protocol = {protocol}]\n[Dir = {dir}]\n\n");
    let mut context = None;
    for (n, case) in groups.iter().flat_map(|g| &g.cases).enumerate() {
        if case.context != context {
            context = case.context;
            let shown = context.map_or("none".to_owned(), |c| c.to_string());
            let _ = write!(text, "[Context = {shown}]\n\n");
        }
        let _ = writeln!(text, "Count = {n}");
        for unit in &case.units {
            let _ = writeln!(text, "Flit = {}", hex(unit));
        }
        result(text, case.rule);
    }
    text.pop();
}

fn jsonl(set: &VectorSet) -> String {
    let mut text = String::new();
    match &set.content {
        VectorContent::Messages(def, groups) => {
            for case in groups.iter().flat_map(|g| &g.cases) {
                let _ = writeln!(text, "{}", message_line(def, case.bits, case.rule));
            }
        }
        VectorContent::Flits256(stream, groups) => {
            let flits = groups.iter().flat_map(|g| &g.cases).flat_map(|c| c.units.iter().copied());
            objects(stream, flits, |value| {
                let _ = writeln!(text, "{value}");
            });
        }
        VectorContent::Ualink(dir, groups) => {
            let mut decoder = flit_ual::UalFlitDecoder::new(*dir);
            let flits = groups.iter().flat_map(|g| &g.cases).flat_map(|c| &c.units);
            let mut answers: Vec<_> = flits.flat_map(|flit| decoder.read(flit)).collect();
            answers.extend(decoder.finish());
            for (form, _) in answers.into_iter().flatten() {
                let _ = writeln!(text, "{form}");
            }
        }
        VectorContent::Nvlink(dir, groups) => {
            let mut decoder = flit_nvl::NvlPacketDecoder::default();
            let packets = groups.iter().flat_map(|g| &g.cases).flat_map(|c| &c.units);
            for (index, packet) in packets.enumerate() {
                let (decoded, findings) = decoder.read(packet);
                let _ = writeln!(text, "{}", flit_nvl::to_json(&decoded, &findings, *dir, index as u64));
            }
        }
        VectorContent::Cxl68(dir, groups) => {
            let mut reader = Unpacker::new(*dir, Revision::V2_0, Enabled::ALL);
            let units = groups.iter().flat_map(|g| &g.cases).flat_map(|c| &c.units);
            for (index, unit) in units.enumerate() {
                let decoded = reader.read(unit);
                let findings = check::unit(&decoded, &Cxl68Config::default());
                let _ = writeln!(text, "{}", flit68::to_json(&decoded, &findings, index as u64));
            }
        }
    }
    text
}

/// The objects of flits of 256 bytes, as `flit decode` prints them.
fn objects(stream: &Stream256, flits: impl Iterator<Item = Cxl256Flit>, mut line: impl FnMut(Value)) {
    if stream.protocol == flit_io::PROTOCOL {
        let mut decoder = flit_io::IoFlitDecoder::new(stream.dir);
        flits.zip(0..).for_each(|(flit, index)| line(decoder.read(&flit, index).0));
    } else {
        let mut decoder = flit256::Cxl256FlitDecoder::new(stream.mode, stream.dir);
        flits.zip(0..).for_each(|(flit, index)| {
            let (decoded, findings) = decoder.read(&flit);
            line(flit256::to_json(&decoded, &findings, index));
        });
    }
}

/// `{"layout":..,"fields":{..},"hex":..,"result":..,"rule":..}`, the rule when invalid.
fn message_line(def: &LayoutDef, bits: u128, rule: Option<&str>) -> Value {
    let mut line = Map::new();
    line.insert("layout".into(), def.name.into());
    line.insert("fields".into(), message::fields_to_json(def, bits));
    line.insert("hex".into(), bytes_hex(&def.to_bytes(bits)).into());
    line.insert("result".into(), if rule.is_none() { "valid" } else { "invalid" }.into());
    if let Some(rule) = rule {
        line.insert("rule".into(), rule.into());
    }
    line.into()
}
