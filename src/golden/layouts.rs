//! Vectors of one layout.

use super::cross;
use super::legal::{first_broken, plain, random, with};
use super::vectors::{CaseGroup, MessageCase, VectorContent, VectorSet};
use scalepool_kernel::Rng;
use scalepool_protocols::cxl::cxl68::code::{GoState, H2dRspOpcode};
use scalepool_protocols::cxl::cxl68::message::H2dRsp;
use scalepool_protocols::wire::{CodeTable, FieldDef, LayoutDef, Wire};

/// The vectors of a layout: zeros, ones, walking ones, every code, field maxima, random, invalid.
pub fn vectors(def: &'static LayoutDef, seed: u64, count: u32) -> VectorSet {
    let legal = |bits| MessageCase { bits, rule: None };
    let pattern = |bits| MessageCase { bits, rule: first_broken(def, bits) };
    let breaks = |rule| move |bits| MessageCase { bits, rule: Some(rule) };
    let base = plain(def);
    // Whatever a rule over several fields says: a code, a maximum.
    let judged = |bits| MessageCase { bits, rule: first_broken(def, bits) };
    let ones = def.fields.iter().fold(0, |bits, f| bits | f.max_raw() << f.lsb);

    let mut groups = vec![
        CaseGroup::new("zeros", vec![pattern(0)]),
        CaseGroup::new("ones", vec![pattern(ones)]),
        CaseGroup::new("walking ones, bit 0 first", (0..def.bits).map(|i| pattern(1 << i)).collect()),
    ];
    for (field, table) in coded(def) {
        let codes = table
            .codes
            .iter()
            .filter(|c| cross::shows(def, field, c.value))
            .map(|c| judged(with(base, field, c.value)))
            .collect();
        groups.push(CaseGroup::new(format!("every code of {}", field.name), codes));
    }
    if def.name == H2dRsp::DEF.name {
        groups.push(CaseGroup::new(
            "every state of a GO",
            go(GoState::TABLE.codes.iter().map(|c| c.value as u16)).map(legal).collect(),
        ));
    }
    let free = def.fields.iter().filter(|f| !f.reserved && f.codes.is_none());
    groups.push(CaseGroup::new("maximum of each field", free.map(|f| judged(with(base, f, f.max_raw()))).collect()));
    groups.extend(cross::groups(def, base));
    let mut rng = Rng::for_name(seed, def.name);
    groups.push(CaseGroup::new("random", (0..count).map(|_| legal(random(def, &mut rng))).collect()));

    for (field, table) in coded(def) {
        let reserved = (0..=field.max_raw()).filter(|&raw| is_sample(field, table, raw));
        let cases =
            reserved.map(|raw| with(base, field, raw)).map(breaks(field.codes_rule.unwrap_or(table.rule))).collect();
        groups.push(CaseGroup::new(format!("reserved codes of {}", field.name), cases));
    }
    if def.name == H2dRsp::DEF.name {
        let no_state = (0..16).filter(|&s| GoState(s as u8).name().is_none());
        let above = [GoState::Shared.0 as u16 | 1 << 4, GoState::Shared.0 as u16 | 1 << 11];
        let cases = go(no_state.chain(above)).map(breaks(GoState::TABLE.rule)).collect();
        groups.push(CaseGroup::new("GO without a state", cases));
    }
    for field in def.fields.iter().filter(|f| f.reserved) {
        let mut raws = vec![1, 1 << (field.width - 1), field.max_raw()];
        raws.dedup();
        let cases = raws.into_iter().map(|raw| with(base, field, raw)).map(breaks(def.rule)).collect();
        groups.push(CaseGroup::new(format!("reserved field {} not 0", field.name), cases));
    }
    groups.retain(|g| !g.cases.is_empty());

    let source = def.source.replace('§', "section ");
    let basis = def.basis.name();
    VectorSet {
        path: def.name.replacen('.', "/", 1),
        about: format!("layout {}, {} bits, source {source}, basis {basis}", def.name, def.bits),
        content: VectorContent::Messages(def, groups),
    }
}

/// Fields with a code table.
fn coded(def: &'static LayoutDef) -> impl Iterator<Item = (&'static FieldDef, &'static CodeTable)> {
    def.fields.iter().filter_map(|f| f.codes.map(|table| (f, table)))
}

/// Whether a code is reserved and shown: of wide fields the highest of each sixteen.
fn is_sample(field: &FieldDef, table: &CodeTable, raw: u128) -> bool {
    let named = |raw| table.name_of(raw).is_some();
    !named(raw) && (field.width < WIDE || raw % 16 == 15)
}

/// Width from which reserved codes are sampled.
const WIDE: u32 = 8;

/// A GO with each of the numbers as RspData.
fn go(rsp_data: impl Iterator<Item = u16>) -> impl Iterator<Item = u128> {
    rsp_data.filter_map(|rsp_data| H2dRsp { opcode: H2dRspOpcode::GO, rsp_data, ..H2dRsp::default() }.to_bits().ok())
}
