//! Legal messages, and the generator's own judgement of patterns.

use super::cross;
use scalepool_kernel::Rng;
use scalepool_protocols::cxl::cxl68::code::{
    DrsOpcode, GoState, H2dRspOpcode, M2sReqOpcode, MetaField, MetaValue, SnpType,
};
use scalepool_protocols::cxl::cxl68::message::{H2dRsp, M2sReq, S2mDrs};
use scalepool_protocols::wire::{FieldDef, LayoutDef, Wire};

/// Fields that say what the message is: they keep the value of the layout where the rest is free.
const KIND_FIELDS: [&str; 11] =
    ["valid", "flit_type", "ctl_fmt", "llctrl", "sub_type", "code", "slot_fmt", "marker", "ftype", "mclass", "mtype"];

/// Uniform bits, `width` of them.
pub fn random_bits(rng: &mut Rng, width: u32) -> u128 {
    let bits = u128::from(rng.next_u64()) | u128::from(rng.next_u64()) << 64;
    if width < 128 { bits & ((1 << width) - 1) } else { bits }
}

/// The message with the raw number of one field replaced.
pub fn with(bits: u128, field: &FieldDef, raw: u128) -> u128 {
    bits & !(field.max_raw() << field.lsb) | (raw & field.max_raw()) << field.lsb
}

/// A present message with every field at its default, or at its first code where the default is a reserved one.
pub fn plain(def: &LayoutDef) -> u128 {
    let mut bits = def.default_bits();
    for field in def.fields {
        if let Some(table) = field.codes
            && table.name_of(field.extract(bits)).is_none()
        {
            bits = with(bits, field, table.codes[0].value);
        }
    }
    if def.name == H2dRsp::DEF.name {
        // Makes every opcode legal: a GO needs a state, the others take any number.
        let go = H2dRsp { rsp_data: GoState::Invalid.0.into(), ..H2dRsp::from_bits(bits) };
        bits = go.to_bits().unwrap_or(bits);
    }
    cross::plain(def, bits)
}

/// A present message with random fields: reserved ones 0, codes out of their tables, rules between fields obeyed.
pub fn random(def: &LayoutDef, rng: &mut Rng) -> u128 {
    let mut bits = def.default_bits();
    for field in def.fields {
        if field.reserved || KIND_FIELDS.contains(&field.name) {
            continue;
        }
        let raw = match field.codes {
            Some(table) => {
                let codes: Vec<u128> =
                    table.codes.iter().map(|c| c.value).filter(|&c| cross::may_be(def, field, c)).collect();
                codes[rng.below(codes.len() as u64) as usize]
            }
            None => random_bits(rng, field.width),
        };
        bits = with(bits, field, raw);
    }
    obey(def, bits, rng)
}

/// Rules between the fields of one message, and codes that are decoded and not sent.
fn obey(def: &LayoutDef, bits: u128, rng: &mut Rng) -> u128 {
    let settled = if def.name == H2dRsp::DEF.name {
        let mut rsp = H2dRsp::from_bits(bits);
        if rsp.opcode == H2dRspOpcode::GO {
            // CXL68-ENC-12
            let states = GoState::TABLE.codes;
            rsp.rsp_data = states[rng.below(states.len() as u64) as usize].value as u16;
        }
        rsp.to_bits()
    } else if def.name == M2sReq::DEF.name {
        let mut req = M2sReq::from_bits(bits);
        if req.opcode == M2sReqOpcode::MemSpecRd {
            // CXL68-ENC-14
            (req.tag, req.snp_type) = (0, SnpType::NoOp);
            (req.meta_field, req.meta_value) = (MetaField::Meta0State, MetaValue::Invalid);
        }
        req.to_bits()
    } else if def.name == S2mDrs::DEF.name {
        // CXL68-ENC-06: MemDataNXM is not sent.
        S2mDrs { opcode: DrsOpcode::MemData, ..S2mDrs::from_bits(bits) }.to_bits()
    } else {
        return cross::obey(def, bits, rng);
    };
    settled.unwrap_or(bits)
}

/// The first rule that a bare pattern breaks, in layout order: reserved bits that are set and, unless the message is
/// absent, reserved codes and rules between fields. Meant for patterns of `cxl68` that no rule between fields touches.
///
/// This is the generator's own statement; tests hold it against [`LayoutDef::check`].
pub fn first_broken(def: &LayoutDef, bits: u128) -> Option<&'static str> {
    let absent = def.fields[0].name == "valid" && bits & 1 == 0;
    let of_field = def.fields.iter().find_map(|field| {
        let raw = field.extract(bits);
        match field.codes {
            _ if field.reserved && raw != 0 => Some(def.rule),
            Some(table) if !absent && table.codes.iter().all(|c| c.value != raw) => {
                Some(field.codes_rule.unwrap_or(table.rule))
            }
            _ => None,
        }
    });
    of_field.or_else(|| if absent { None } else { cross::broken(def, bits) })
}
