//! Everything that can be encoded and decoded by name.

use crate::wire::LayoutDef;

/// A flit format that encodes and decodes as a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Protocol {
    /// Name on the command line, e.g. `cxl-68b`.
    pub name: &'static str,
    /// Family of its layouts.
    pub family: &'static str,
    /// Bytes of one wire unit; of NVLink those of a flit, of which a packet has 1 to 18.
    pub unit_bytes: usize,
}

/// All layouts, family by family in order of the sheets.
pub fn layouts() -> impl Iterator<Item = &'static LayoutDef> {
    use crate::cxl::{cxl68, cxl256, cxlio};
    use crate::{nvlink, ualink};
    [cxl68::LAYOUTS, cxl256::LAYOUTS, cxl256::PBR_LAYOUTS, cxlio::LAYOUTS, ualink::LAYOUTS, nvlink::LAYOUTS]
        .into_iter()
        .flatten()
        .copied()
}

/// The layout of a name.
pub fn layout(name: &str) -> Option<&'static LayoutDef> {
    layouts().find(|l| l.name == name)
}

/// All flit protocols.
pub const PROTOCOLS: &[Protocol] = &[
    Protocol { name: "cxl-68b", family: "cxl68", unit_bytes: 68 },
    Protocol { name: "cxl-256b", family: "cxl256", unit_bytes: 256 },
    Protocol { name: "cxl-256b-lopt", family: "cxl256", unit_bytes: 256 },
    Protocol { name: "cxl-256b-pbr", family: "cxlpbr", unit_bytes: 256 },
    Protocol { name: "cxl-io", family: "cxlio", unit_bytes: 256 },
    Protocol { name: "ualink", family: "ualink", unit_bytes: 640 },
    Protocol { name: "nvlink", family: "nvlink", unit_bytes: 16 },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::At;

    /// Rules and places of reserved bits and codes, field by field.
    fn walked(def: &LayoutDef, bits: u128) -> Vec<(&'static str, At)> {
        let is_empty = def.fields[0].name == "valid" && def.fields[0].extract(bits) == 0;
        let mut found = Vec::new();
        for field in def.fields {
            let (raw, at) = (field.extract(bits), At::Bits { lsb: field.lsb, width: field.width });
            if field.reserved && raw != 0 {
                found.push((def.rule, at));
            }
            if let Some(table) = field.codes.filter(|table| !is_empty && table.name_of(raw).is_none()) {
                found.push((field.codes_rule.unwrap_or(table.rule), at));
            }
        }
        found
    }

    /// Whatever masks of a layout say, a message is judged as its table says, for any bits.
    #[test]
    fn a_message_is_judged_by_every_field() {
        let mut state = 1u64;
        let mut word = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            u128::from(state >> 32)
        };
        let mut sound = 0;
        for def in layouts() {
            for n in 0..2000 {
                let [any, other] = [0, 1].map(|_| word() << 96 | word() << 64 | word() << 32 | word());
                let near = def.default_bits() ^ 1 << (other % u128::from(def.bits));
                let bits = [any, any & other, near][n % 3] & (u128::MAX >> (128 - def.bits));
                let mut found = Vec::new();
                def.check(bits, &mut found);
                let expected = walked(def, bits);
                let judged: Vec<_> = found.iter().take(expected.len()).map(|v| (v.rule, v.at)).collect();
                assert_eq!(judged, expected, "{}: {bits:#x}", def.name);
                assert!(found.len() == expected.len() || def.cross_check.is_some(), "{}: {bits:#x}", def.name);
                sound += usize::from(found.is_empty());
            }
        }
        assert!(sound > 2000, "{sound}");
    }
}
