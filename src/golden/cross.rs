//! Rules between the fields of one message, families `cxl256`, `cxlpbr`, `cxlio` and `ualink`: the generator's own statement, made
//! from the sheets by names of fields, so that both routings share a row.
//!
//! Left out: family `cxl68`, whose rules [`super::legal`] knows.

use super::legal::with;
use super::ualink::fields as ualink;
use super::vectors::{CaseGroup, MessageCase};
use scalepool_kernel::Rng;
use scalepool_protocols::wire::{FieldDef, LayoutDef};

/// First bytes of the TLP headers without flits, by layout (`cxl-io` §1.2).
const NFM_TYPES: [(&str, &[u8]); 5] = [
    ("cxlio.nfm_mem32", &[0x00, 0x01, 0x02, 0x40, 0x42, 0x4c, 0x4d, 0x4e, 0x5b]),
    ("cxlio.nfm_mem64", &[0x20, 0x21, 0x60, 0x6c, 0x6d, 0x6e, 0x7b]),
    ("cxlio.nfm_cfg", &[0x04, 0x05, 0x44, 0x45]),
    ("cxlio.nfm_cpl", &[0x0a, 0x0b, 0x4a, 0x4b]),
    ("cxlio.nfm_msg", &[0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x70, 0x71, 0x72, 0x73, 0x74, 0x75]),
];

/// First bytes of the TLP headers in flits, by layout (`cxl-io` §3.3).
pub const FM_TYPES: [(&str, &[u8]); 5] = [
    ("cxlio.fm_mem32", &[0x01, 0x02, 0x03, 0x40, 0x42, 0x4c, 0x4d, 0x4e, 0x5b]),
    ("cxlio.fm_mem64", &[0x20, 0x21, 0x22, 0x60, 0x61, 0x6c, 0x6d, 0x6e, 0x7b]),
    ("cxlio.fm_cfg", &[0x04, 0x05, 0x44, 0x45]),
    ("cxlio.fm_cpl", &[0x0a, 0x0b, 0x0c, 0x0d, 0x48, 0x4a, 0x4b]),
    ("cxlio.fm_msg", &[0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x70, 0x71, 0x72, 0x73, 0x74, 0x75]),
];

/// Types that a DLLP layout is for (`cxl-io` §2.1).
const DLLP_TYPES: [(&str, &[u8]); 2] = [("cxlio.dllp_ack_nak", &[0x00, 0x10]), ("cxlio.dllp_feature", &[0x02])];

fn types(rows: &[(&str, &'static [u8])], def: &LayoutDef) -> Option<&'static [u8]> {
    rows.iter().find(|r| r.0 == def.name).map(|r| r.1)
}

/// The field of a name, where the layout has it.
fn field(def: &LayoutDef, name: &str) -> Option<&'static FieldDef> {
    def.fields.iter().find(|f| f.name == name)
}

/// The raw number of a field; 0 where the layout has none of the name.
pub(super) fn raw(def: &LayoutDef, bits: u128, name: &str) -> u128 {
    field(def, name).map_or(0, |f| f.extract(bits))
}

/// The message with the raw number of a field; unchanged where the layout has none of the name.
pub fn set(def: &LayoutDef, bits: u128, name: &str, value: u128) -> u128 {
    field(def, name).map_or(bits, |f| with(bits, f, value))
}

/// Name of a layout without its family, in the families that this module knows.
pub(super) fn message(def: &LayoutDef) -> &'static str {
    match def.name.split_once('.') {
        Some(("cxl256" | "cxlpbr" | "cxlio" | "ualink", message)) => message,
        _ => "",
    }
}

/// Opcode GO of an H2D Rsp (`cxl-256b` §4.1).
const GO: u128 = 4;
/// States of a GO: invalid, error, shared, exclusive, modified (`cxl-256b` §4.1).
const GO_STATES: [u128; 5] = [3, 4, 1, 2, 6];

/// Whether the message is about a block of 256 bytes, with a chunk code (`cxl-256b` §4.3, §4.6).
fn is_block(def: &LayoutDef, bits: u128) -> bool {
    match message(def) {
        "m2s_birsp" => matches!(raw(def, bits, "opcode"), 4..=6),
        "s2m_bisnp" => matches!(raw(def, bits, "opcode"), 4..=6 | 12..=14),
        _ => false,
    }
}

/// Field whose low two bits are the chunk code of a block.
fn chunk_field(def: &LayoutDef) -> &'static str {
    if message(def) == "m2s_birsp" { "low_addr" } else { "address" }
}

/// The message with another chunk code.
fn with_chunk(def: &LayoutDef, bits: u128, chunk: u128) -> u128 {
    let name = chunk_field(def);
    set(def, bits, name, raw(def, bits, name) & !3 | chunk)
}

/// The rule between fields that a message breaks, whose codes are all listed.
pub fn broken(def: &LayoutDef, bits: u128) -> Option<&'static str> {
    let is = message(def);
    let first_byte = || (bits >> (def.bits - 8)) as u8;
    if is == "h2d_rsp" && raw(def, bits, "opcode") == GO && !GO_STATES.contains(&raw(def, bits, "rsp_data")) {
        return Some("CXL256-ENC-05");
    }
    // In an answer the field is reserved.
    if message(def) == "s2m_bisnp" && is_block(def, bits) && raw(def, bits, chunk_field(def)) & 3 == 0 {
        return Some("CXL256-ENC-12");
    }
    if is == "m2s_rwd" && has_trailer(def, bits).is_some_and(|trp| trp != (raw(def, bits, "trp") == 1)) {
        return Some("CXL256-TRL-01");
    }
    if let Some(own) = types(&NFM_TYPES, def).filter(|own| !own.contains(&first_byte())) {
        let prefix = first_byte() >> 5 == 4;
        let other = NFM_TYPES.iter().any(|r| r.1 != own && r.1.contains(&first_byte()));
        return Some(if prefix || other { "CXLIO-NFM-03" } else { "CXLIO-NFM-02" });
    }
    if types(&FM_TYPES, def).is_some_and(|own| !own.contains(&first_byte())) {
        return Some("CXLIO-FMT-04");
    }
    if types(&DLLP_TYPES, def).is_some_and(|own| !own.contains(&first_byte())) {
        return Some("CXLIO-DLL-01");
    }
    if def.family() == "ualink" {
        return ualink::broken(def, bits);
    }
    match is {
        "dllp_optimized_update_fc" if raw(def, bits, "marker") == 1 => Some("CXLIO-DLL-07"),
        "dllp_flit_marker" if raw(def, bits, "marker") == 0 => Some("CXLIO-DLL-07"),
        "ohc_a1" if raw(def, bits, "pv") == 0 && ["pasid", "er", "pmr"].iter().any(|f| raw(def, bits, f) != 0) => {
            Some("CXLIO-FMT-10")
        }
        "pth" if raw(def, bits, "marker") != 3 => Some("CXLIO-PTH-03"),
        _ => None,
    }
}

/// A plain message that stays legal when one of its other fields changes.
pub fn plain(def: &LayoutDef, bits: u128) -> u128 {
    match message(def) {
        "h2d_rsp" => set(def, bits, "rsp_data", GO_STATES[0]),
        "m2s_birsp" | "s2m_bisnp" => with_chunk(def, bits, 1),
        "ohc_a1" => set(def, bits, "pv", 1),
        _ => bits,
    }
}

/// Whether a code of a field may stand in a legal message of the layout.
pub fn may_be(def: &LayoutDef, field: &FieldDef, code: u128) -> bool {
    if def.family() == "ualink" {
        return ualink::may_be(def, field, code);
    }
    let own = types(&FM_TYPES, def).or_else(|| types(&DLLP_TYPES, def));
    field.lsb + 8 != def.bits || own.is_none_or(|own| own.contains(&(code as u8)))
}

/// Whether a code has a vector of its own: of the types of other TLP headers the first of each.
pub fn shows(def: &LayoutDef, field: &FieldDef, code: u128) -> bool {
    let first = FM_TYPES.iter().any(|row| u128::from(row.1[0]) == code);
    may_be(def, field, code) || first || types(&FM_TYPES, def).is_none()
}

/// Makes random fields obey the rules between them; a trailer bit says the truth about the opcode and MetaField.
pub fn obey(def: &LayoutDef, bits: u128, rng: &mut Rng) -> u128 {
    let mut pick = |from: &[u128]| from[rng.below(from.len() as u64) as usize];
    if let Some(own) = types(&NFM_TYPES, def) {
        let own: Vec<u128> = own.iter().map(|&t| t.into()).collect();
        let byte = pick(&own);
        return set(def, set(def, bits, "tlp_type", byte & 0x1f), "fmt", byte >> 5);
    }
    if def.family() == "ualink" {
        return ualink::obey(def, bits);
    }
    match message(def) {
        "h2d_rsp" if raw(def, bits, "opcode") == GO => set(def, bits, "rsp_data", pick(&GO_STATES)),
        "m2s_birsp" | "s2m_bisnp" if is_block(def, bits) => with_chunk(def, bits, pick(&[1, 2, 3])),
        "m2s_rwd" => set(def, bits, "trp", (has_byte_enables(def, bits) || raw(def, bits, "meta_field") == EMS).into()),
        "s2m_drs" => set(def, bits, "trp", (raw(def, bits, "meta_field") == EMS).into()),
        // An L0p ALMP is about the link.
        "almp_l0p" => set(def, bits, "instance_id", 4),
        "ohc_a1" => set(def, bits, "pv", 1),
        _ => bits,
    }
}

/// MetaField with extended metadata (`cxl-256b` §4.4).
pub const EMS: u128 = 1;

/// Whether an RwD is a partial write (`cxl-256b` §4.2).
pub fn has_byte_enables(def: &LayoutDef, bits: u128) -> bool {
    matches!(raw(def, bits, "opcode"), 2 | 10)
}

/// Whether a write announces a trailer; `None` for an RwD that is no write (`cxl-256b` §4.5).
fn has_trailer(def: &LayoutDef, bits: u128) -> Option<bool> {
    match raw(def, bits, "opcode") {
        1 | 9 => Some(raw(def, bits, "meta_field") == EMS),
        2 | 10 => Some(true),
        _ => None,
    }
}

/// Cases of the rules between fields; `base` is the plain message of the layout.
pub fn groups(def: &LayoutDef, base: u128) -> Vec<CaseGroup<MessageCase>> {
    let judged = |bits| MessageCase { bits, rule: super::legal::first_broken(def, bits) };
    let group = |what: &str, all: Vec<u128>| CaseGroup::new(what, all.into_iter().map(judged).collect());
    let byte = |byte: u8| set(def, set(def, base, "tlp_type", u128::from(byte) & 0x1f), "fmt", u128::from(byte) >> 5);
    if let Some(own) = types(&NFM_TYPES, def) {
        let unlisted = [0x03, 0x06, 0x1f, 0x22, 0x36, 0x41, 0x5a, 0x61, 0x76, 0xa0, 0xff];
        let other = NFM_TYPES.iter().filter(|r| r.0 != def.name).map(|r| byte(r.1[0])).chain([byte(0x80), byte(0x9f)]);
        return vec![
            group("every Fmt and Type", own.iter().map(|&t| byte(t)).collect()),
            group("Fmt and Type of another header", other.collect()),
            group("unlisted Fmt and Type", unlisted.map(byte).to_vec()),
        ];
    }
    let go = set(def, base, "opcode", GO);
    let state = |s| set(def, go, "rsp_data", s);
    match message(def) {
        "h2d_rsp" => vec![
            group("every state of a GO", GO_STATES.map(state).to_vec()),
            group("GO without a state", [0, 5, 7, 8, 15, 1 | 1 << 4, 1 | 1 << 11].map(state).to_vec()),
        ],
        "m2s_birsp" | "s2m_bisnp" => {
            let block = set(def, base, "opcode", 4);
            vec![
                group("every part of a block", [1, 2, 3].map(|c| with_chunk(def, block, c)).to_vec()),
                group("a block without its part", vec![with_chunk(def, block, 0)]),
            ]
        }
        "ohc_a1" => {
            let without = set(def, base, "pv", 0);
            let parts = ["pasid", "er", "pmr"].map(|f| set(def, without, f, 1));
            vec![group("no PASID", vec![without]), group("parts of a PASID that is not valid", parts.to_vec())]
        }
        "pth" => vec![group("another marker", [0, 1, 2].map(|m| set(def, base, "marker", m)).to_vec())],
        "dllp_flit_marker" => vec![group("the marker of the other form", vec![set(def, base, "marker", 0)])],
        _ => Vec::new(),
    }
}
