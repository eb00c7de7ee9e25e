//! CXL 256-byte flit mode: the slot formats G, H and HS of both identifier spaces, spelled with `bitvec`.
//!
//! Modelled: which bits of a slot carry which message, for every format (sheet cxl-256b §2), with the messages that a
//! short slot cuts off and the receiver zero-extends (§2.3). A row names the messages and the bits the sheet says they
//! use; positions are found by laying the messages end to end from bit 4. Left out: control payloads, rules of packing.

use std::ops::Range;

use bitvec::prelude::*;

use super::cxl256_messages::message;

/// Bits of a message or a slot; bit i is bit i % 8 of byte i / 8.
pub type Bits = BitSlice<u8, Lsb0>;

/// Which messages travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Space {
    /// Hierarchy-based routing, `cxl256.*`.
    Hbr,
    /// Port-based routing, `cxlpbr.*`.
    Pbr,
}

/// Kind of a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// 16 bytes.
    G,
    /// 14 bytes: slot 0.
    H,
    /// 12 bytes: slot 8 of a latency-optimised flit.
    Hs,
}

impl Kind {
    /// Length in bytes.
    pub fn bytes(self) -> usize {
        match self {
            Kind::G => 16,
            Kind::H => 14,
            Kind::Hs => 12,
        }
    }
}

/// One slot format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlotOracle {
    /// Identifier space.
    pub space: Space,
    /// Slot kind.
    pub kind: Kind,
    /// SlotFmt, 0..=15.
    pub code: u8,
    /// Names of the messages, in order from bit 4.
    pub messages: &'static [&'static str],
    /// Column "bits" of the sheet: what the slot carries of them.
    pub used_bits: usize,
}

impl SlotOracle {
    /// The slot bits of each message; the last one is shorter than its message if the slot cuts it off.
    pub fn places(&self) -> Vec<Range<usize>> {
        let mut start = 4;
        let end = 8 * self.kind.bytes();
        let mut place = |name: &&str| {
            let range = start..(start + message(name).bits as usize).min(end);
            start = range.end;
            range
        };
        self.messages.iter().map(&mut place).collect()
    }

    /// A slot with SlotFmt, that message at that place and zeros elsewhere; `None` if the slot would lose a one of it.
    /// Panics when the length of the message is wrong.
    pub fn place(&self, index: usize, message_bits: &Bits) -> Option<Vec<u8>> {
        assert_eq!(message_bits.len(), message(self.messages[index]).bits as usize, "{self:?}");
        let range = self.places()[index].clone();
        let (kept, dropped) = message_bits.split_at(range.len());
        if dropped.any() {
            return None;
        }
        let mut slot = vec![0; self.kind.bytes()];
        let bits = slot.view_bits_mut::<Lsb0>();
        bits[..4].store_le(self.code);
        bits[range].copy_from_bitslice(kept);
        Some(slot)
    }

    /// The message at that place, valid or not, zero-extended to its full length.
    pub fn extract(&self, slot: &[u8], index: usize) -> BitVec<u8, Lsb0> {
        let mut bits = slot.view_bits::<Lsb0>()[self.places()[index].clone()].to_bitvec();
        bits.resize(message(self.messages[index]).bits as usize, false);
        bits
    }
}

/// All formats that carry messages, in the order of the sheet.
pub fn slots() -> &'static [SlotOracle] {
    SLOTS
}

/// The format of a code; `None` for a control slot and for a reserved code.
pub fn slot(space: Space, kind: Kind, code: u8) -> Option<&'static SlotOracle> {
    SLOTS.iter().find(|s| s.space == space && s.kind == kind && s.code == code)
}

/// SlotFmt of a control slot, LLCTRL: kinds H and HS only (§2.1, §6).
pub const CONTROL: u8 = 8;

use Kind::{G, H, Hs};

const fn hbr(kind: Kind, code: u8, messages: &'static [&'static str], used_bits: usize) -> SlotOracle {
    SlotOracle { space: Space::Hbr, kind, code, messages, used_bits }
}

const fn pbr(kind: Kind, code: u8, messages: &'static [&'static str], used_bits: usize) -> SlotOracle {
    SlotOracle { space: Space::Pbr, kind, code, messages, used_bits }
}

const H2D_REQ: &str = "cxl256.h2d_req";
const H2D_RSP: &str = "cxl256.h2d_rsp";
const H2D_DH: &str = "cxl256.h2d_data";
const D2H_REQ: &str = "cxl256.d2h_req";
const D2H_RSP: &str = "cxl256.d2h_rsp";
const D2H_DH: &str = "cxl256.d2h_data";
const M2S_REQ: &str = "cxl256.m2s_req";
const M2S_RWD: &str = "cxl256.m2s_rwd";
const BIRSP: &str = "cxl256.m2s_birsp";
const BISNP: &str = "cxl256.s2m_bisnp";
const NDR: &str = "cxl256.s2m_ndr";
const DRS: &str = "cxl256.s2m_drs";

const P_H2D_REQ: &str = "cxlpbr.h2d_req";
const P_H2D_RSP: &str = "cxlpbr.h2d_rsp";
const P_H2D_DH: &str = "cxlpbr.h2d_data";
const P_D2H_REQ: &str = "cxlpbr.d2h_req";
const P_D2H_RSP: &str = "cxlpbr.d2h_rsp";
const P_D2H_DH: &str = "cxlpbr.d2h_data";
const P_M2S_REQ: &str = "cxlpbr.m2s_req";
const P_M2S_RWD: &str = "cxlpbr.m2s_rwd";
const P_BIRSP: &str = "cxlpbr.m2s_birsp";
const P_BISNP: &str = "cxlpbr.s2m_bisnp";
const P_NDR: &str = "cxlpbr.s2m_ndr";
const P_DRS: &str = "cxlpbr.s2m_drs";

#[rustfmt::skip] // one row a format, as in the sheet
static SLOTS: &[SlotOracle] = &[
    // HBR, §2.1: G, H, HS of one code in a row
    hbr(G, 0, &[H2D_REQ, H2D_RSP], 112), hbr(H, 0, &[H2D_REQ], 72), hbr(Hs, 0, &[H2D_REQ], 72),
    hbr(G, 1, &[H2D_RSP; 3], 120), hbr(H, 1, &[H2D_RSP; 2], 80), hbr(Hs, 1, &[H2D_RSP; 2], 80),
    hbr(G, 2, &[D2H_REQ, D2H_RSP, D2H_RSP], 124), hbr(H, 2, &[D2H_REQ, D2H_RSP], 100), hbr(Hs, 2, &[D2H_REQ], 76),
    hbr(G, 3, &[D2H_RSP; 4], 96), hbr(H, 3, &[D2H_RSP; 4], 96), hbr(Hs, 3, &[D2H_RSP; 3], 72),
    hbr(G, 4, &[M2S_REQ], 100), hbr(H, 4, &[M2S_REQ], 100), hbr(Hs, 4, &[M2S_REQ], 92),
    hbr(G, 5, &[BIRSP; 3], 120), hbr(H, 5, &[BIRSP; 2], 80), hbr(Hs, 5, &[BIRSP; 2], 80),
    hbr(G, 6, &[BISNP, NDR], 124), hbr(H, 6, &[BISNP], 84), hbr(Hs, 6, &[BISNP], 84),
    hbr(G, 7, &[NDR; 3], 120), hbr(H, 7, &[NDR; 2], 80), hbr(Hs, 7, &[NDR; 2], 80),
    hbr(G, 12, &[H2D_DH; 4], 112), hbr(H, 12, &[H2D_DH; 3], 84), hbr(Hs, 12, &[H2D_DH; 3], 84),
    hbr(G, 13, &[D2H_DH; 4], 96), hbr(H, 13, &[D2H_DH; 4], 96), hbr(Hs, 13, &[D2H_DH; 3], 72),
    hbr(G, 14, &[M2S_RWD], 104), hbr(H, 14, &[M2S_RWD], 104), hbr(Hs, 14, &[M2S_RWD], 92),
    hbr(G, 15, &[DRS; 3], 120), hbr(H, 15, &[DRS; 2], 80), hbr(Hs, 15, &[DRS; 2], 80),
    // PBR, §2.2: G and H; there is no HS
    pbr(G, 0, &[P_H2D_REQ], 92), pbr(H, 0, &[P_H2D_REQ], 92),
    pbr(G, 1, &[P_H2D_RSP; 2], 96), pbr(H, 1, &[P_H2D_RSP; 2], 96),
    pbr(G, 2, &[P_D2H_REQ], 96), pbr(H, 2, &[P_D2H_REQ], 96),
    pbr(G, 3, &[P_D2H_RSP; 3], 108), pbr(H, 3, &[P_D2H_RSP; 3], 108),
    pbr(G, 4, &[P_M2S_REQ], 120), pbr(H, 4, &[P_M2S_REQ], 108),
    pbr(G, 5, &[P_BIRSP; 2], 104), pbr(H, 5, &[P_BIRSP; 2], 104),
    pbr(G, 6, &[P_BISNP], 96), pbr(H, 6, &[P_BISNP], 96),
    pbr(G, 7, &[P_NDR; 2], 96), pbr(H, 7, &[P_NDR; 2], 96),
    pbr(G, 12, &[P_H2D_DH; 3], 108), pbr(H, 12, &[P_H2D_DH; 3], 108),
    pbr(G, 13, &[P_D2H_DH; 3], 108), pbr(H, 13, &[P_D2H_DH; 3], 108),
    pbr(G, 14, &[P_M2S_RWD], 124), pbr(H, 14, &[P_M2S_RWD], 108),
    pbr(G, 15, &[P_DRS; 2], 96), pbr(H, 15, &[P_DRS; 2], 96),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// The column "bits", and 124, 108 and 92 as what the kinds can hold.
    #[test]
    fn used_bits_are_those_of_the_sheet() {
        for format in slots() {
            let used: usize = format.places().iter().map(Range::len).sum();
            assert_eq!(used, format.used_bits, "{format:?}");
        }
    }

    /// A format that cuts its message off, with the name and the lost width of each field.
    type Cut = (Space, Kind, u8, &'static [(&'static str, u32)]);

    /// §2.3: the four formats that cut their message off, and the fields that must then be 0.
    #[test]
    fn the_cut_messages_lose_the_fields_of_the_sheet() {
        let cut = |s: &&SlotOracle| s.places()[0].len() < message(s.messages[0]).bits as usize;
        let found: Vec<_> = slots().iter().filter(cut).collect();
        let lost: Vec<Vec<(&str, u32)>> = found.iter().map(|s| lost_fields(s)).collect();
        let expected: [Cut; 4] = [
            (Space::Hbr, Hs, 4, &[("rsvd", 6), ("tc", 2)]),
            (Space::Hbr, Hs, 14, &[("ckid", 1), ("rsvd", 9), ("tc", 2)]),
            (Space::Pbr, H, 4, &[("ckid", 3), ("rsvd", 7), ("tc", 2)]),
            (Space::Pbr, H, 14, &[("ckid", 5), ("rsvd", 9), ("tc", 2)]),
        ];
        assert_eq!(found.len(), expected.len());
        for ((format, lost), (space, kind, code, fields)) in found.iter().zip(&lost).zip(expected) {
            assert_eq!((format.space, format.kind, format.code), (space, kind, code));
            assert_eq!(lost, fields, "{format:?}");
        }
    }

    /// Name and lost width of every field that reaches above what the slot keeps.
    fn lost_fields(format: &SlotOracle) -> Vec<(&'static str, u32)> {
        let kept = format.places()[0].len() as u32;
        let fields = message(format.messages[0]).fields.iter();
        fields.filter(|f| f.1 + f.2 > kept).map(|f| (f.0, f.2.min(f.1 + f.2 - kept))).collect()
    }

    /// One message of an example: its place, and the fields that are not 0 besides `valid`.
    type Example = (usize, &'static [(&'static str, u128)]);
    /// A slot of §10: its format, its messages, its first bytes.
    type SlotExample = (Space, Kind, u8, &'static [Example], &'static [u8]);

    /// The slot with those messages; each is placed alone, and the slots are laid over each other.
    fn filled(space: Space, kind: Kind, code: u8, examples: &[Example]) -> Vec<u8> {
        let format = slot(space, kind, code).unwrap();
        let mut slot = vec![0; kind.bytes()];
        for (index, fields) in examples {
            let m = message(format.messages[*index]);
            let known = |name: &str| m.fields.iter().any(|f| f.0 == name);
            assert!(fields.iter().all(|(name, _)| known(name)), "{}: {fields:?}", m.name);
            let value = |name: &str| match fields.iter().find(|f| f.0 == name) {
                Some((_, value)) => *value,
                None => u128::from(name == "valid"),
            };
            let bytes = (m.build)(&m.fields.iter().map(|f| value(f.0)).collect::<Vec<_>>());
            let one = format.place(*index, &bytes.view_bits::<Lsb0>()[..m.bits as usize]).unwrap();
            slot.iter_mut().zip(one).for_each(|(byte, one)| *byte |= one);
        }
        slot
    }

    /// All slot examples of §10; the bytes behind those given are 0. Addresses are written without their low 6 bits.
    #[test]
    #[rustfmt::skip] // one example a line or two, as in the sheet
    fn the_examples_of_the_sheet() {
        use Space::{Hbr, Pbr};
        let examples: [SlotExample; 13] = [
            (Hbr, G, 4, &[(0, &[("opcode", 2), ("meta_field", 3), ("tag", 0x1234),
                ("address", 0x1_2345_6780 >> 6), ("ld_id", 2)])],
                &[0x54, 0x30, 0x34, 0x12, 0x9E, 0x15, 0x8D, 0x04, 0x00, 0x80]),
            (Hbr, H, 14, &[(0, &[("opcode", 1), ("snp_type", 3), ("tag", 0xABCD),
                ("address", 0x40 >> 6), ("ld_id", 1)])],
                &[0x3E, 0x06, 0xCD, 0xAB, 0x01, 0, 0, 0, 0, 0, 0x01]),
            (Hbr, G, 7, &[(0, &[("opcode", 0), ("meta_field", 3), ("tag", 1)]),
                (1, &[("opcode", 2), ("meta_value", 2), ("tag", 2), ("ld_id", 1), ("devload", 1)])],
                &[0x17, 0x13, 0x00, 0x00, 0x00, 0x50, 0x28, 0x00, 0x10, 0x01]),
            (Hbr, G, 15, &[(0, &[("meta_value", 3), ("tag", 0x55AA), ("devload", 3), ("ld_id", 2)])],
                &[0x1F, 0xAC, 0x5A, 0x65, 0x01]),
            (Hbr, H, 6, &[(0, &[("opcode", 2), ("bi_id", 0x123), ("bi_tag", 0x456), ("address", 0x1000 >> 6)])],
                &[0x56, 0x46, 0xC2, 0x8A, 0x80]),
            (Hbr, H, 5, &[(0, &[("bi_id", 0x123), ("bi_tag", 0x456)])], &[0x15, 0x46, 0xC2, 0x8A]),
            (Hbr, G, 0, &[(0, &[("opcode", 1), ("address", 0x2000 >> 6), ("uqid", 0x0A5), ("cache_id", 1)]),
                (1, &[("opcode", 4), ("rsp_data", 2), ("cqid", 0x077), ("cache_id", 1)])],
                &[0x30, 0x80, 0x00, 0x00, 0x00, 0x00, 0x40, 0x29, 0x04, 0x90, 0x04, 0x80, 0x3B, 0x08]),
            (Hbr, H, 2, &[(0, &[("opcode", 3), ("cqid", 0x077), ("cache_id", 1), ("address", 0x2000 >> 6)]),
                (1, &[("opcode", 4), ("uqid", 0x0A5)])],
                &[0x72, 0xDC, 0x81, 0x00, 0x20, 0x00, 0x00, 0x00, 0x00, 0x00, 0x49, 0x29]),
            (Hbr, H, 12, &[(0, &[("cqid", 0x077)]), (1, &[("cqid", 0x078), ("cache_id", 2)])],
                &[0xFC, 0x0E, 0x00, 0x00, 0xF1, 0x00, 0x01]),
            (Hbr, Hs, 13, &[(0, &[("uqid", 1)]), (1, &[("uqid", 2)]), (2, &[("uqid", 3)])],
                &[0x3D, 0x00, 0x00, 0x50, 0x00, 0x00, 0x70]),
            (Hbr, Hs, 4, &[(0, &[("opcode", 1), ("tag", 7), ("address", 0x80 >> 6), ("ld_id", 1)])],
                &[0x34, 0x00, 0x07, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x40]),
            (Pbr, G, 15, &[(0, &[("meta_value", 3), ("tag", 0x55AA), ("devload", 3), ("dpid", 0x321)])],
                &[0x1F, 0xAC, 0x5A, 0xE5, 0x90, 0x01]),
            (Pbr, G, 14, &[(0, &[("opcode", 1), ("tag", 0xABCD),
                ("address", 0x40 >> 6), ("spid", 0x111), ("dpid", 0x222)])],
                &[0x3E, 0x00, 0xCD, 0xAB, 0x01, 0, 0, 0, 0, 0, 0x11, 0x21, 0x22]),
        ];
        for (space, kind, code, messages, bytes) in examples {
            let mut expected = bytes.to_vec();
            expected.resize(kind.bytes(), 0);
            assert_eq!(filled(space, kind, code, messages), expected, "{space:?} {kind:?}{code}");
        }
    }
}
