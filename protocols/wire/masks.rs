//! The rules of a layout's table as masks, made while compiling.
//!
//! Most messages break nothing. Their judgement is one test of all reserved bits and a look into a set of 64 bits for each
//! field with named codes, instead of a walk through all fields: a request of UALink takes 30 instructions that way, and
//! 480 by [`LayoutDef::check`], which names what is broken.

use super::{LayoutDef, Violation};

/// Most fields with named codes in a layout that has masks.
const MOST_CODED: usize = 4;
/// Widest of them, in bits: its codes are the places of a `u64`.
const WIDEST: u32 = 6;

/// A field with named codes.
#[derive(Debug, Clone, Copy)]
struct Coded {
    lsb: u32,
    /// Largest number that travels in the field.
    max: u64,
    /// Bit n: code n has a name.
    named: u64,
}

/// Masks of a layout.
#[derive(Debug, Clone, Copy)]
pub struct Masks {
    reserved: u128,
    coded: [Coded; MOST_CODED],
    /// How many of them there are.
    used: usize,
}

impl Masks {
    /// Of a table, for a `static`.
    ///
    /// # Panics
    /// It has more coded fields than masks have places, or one that is too wide. That stops the build.
    pub const fn of(def: &LayoutDef) -> Masks {
        let mut masks = Masks { reserved: 0, coded: [Coded { lsb: 0, max: 0, named: 1 }; MOST_CODED], used: 0 };
        let mut n = 0;
        while n < def.fields.len() {
            let field = &def.fields[n];
            if field.reserved {
                masks.reserved |= field.max_raw() << field.lsb;
            }
            if let Some(table) = field.codes {
                assert!(field.width <= WIDEST, "a coded field of 64 codes at most");
                let (mut named, mut code) = (0, 0);
                while code < table.codes.len() {
                    named |= 1u64 << table.codes[code].value;
                    code += 1;
                }
                // Where every number has a name there is nothing to judge.
                if table.codes.len() as u128 <= field.max_raw() {
                    masks.coded[masks.used] = Coded { lsb: field.lsb, max: field.max_raw() as u64, named };
                    masks.used += 1;
                }
            }
            n += 1;
        }
        masks
    }

    /// Whether a message has no reserved bit set and named codes alone.
    pub fn are_kept(&self, message: u128) -> bool {
        let is_named = |coded: &Coded| coded.named >> ((message >> coded.lsb) as u64 & coded.max) & 1 == 1;
        message & self.reserved == 0 && self.coded.iter().take(self.used).all(is_named)
    }

    /// Judges a message of a layout without `valid` bit as [`LayoutDef::check`] does.
    pub fn check(&self, def: &LayoutDef, message: u128, found: &mut Vec<Violation>) {
        if !self.are_kept(message) {
            def.check(message, found);
        } else if let Some(check) = def.cross_check {
            check(message, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ualink::field::{TlCreq, TlCrspMulti, TlCrspSingle, TlFc, TlReq, TlRsp};
    use crate::ualink::header::SegmentHeader;
    use crate::wire::Wire;

    /// Whatever the bits are, masks find what a walk through the table finds, in its words.
    #[test]
    fn masks_judge_as_the_table_does() {
        let defs = [
            TlFc::DEF,
            TlReq::DEF,
            TlRsp::DEF,
            TlCreq::DEF,
            TlCrspSingle::DEF,
            TlCrspMulti::DEF,
            SegmentHeader::DEF,
        ];
        let (mut kept, mut broken) = (0, 0);
        for def in defs {
            let masks = Masks::of(def);
            let mut bits = def.default_bits();
            for n in 0..20_000u128 {
                // The default with bits flipped, few at first: a linear congruence of Knuth's.
                let random = n.wrapping_mul(6_364_136_223_846_793_005 << 64 | 1_442_695_040_888_963_407).rotate_left(41);
                let message = (bits ^ random >> (n % 128)) & (u128::MAX >> (128 - def.bits));
                let (mut is, mut want) = (Vec::new(), Vec::new());
                masks.check(def, message, &mut is);
                def.check(message, &mut want);
                assert_eq!(is, want, "{}: {message:#x}", def.name);
                kept += usize::from(masks.are_kept(message));
                broken += usize::from(!masks.are_kept(message));
                bits = if n % 16 == 0 { def.default_bits() } else { message };
            }
        }
        assert!(kept > 10_000 && broken > 10_000, "{kept} kept, {broken} broken");
    }
}
