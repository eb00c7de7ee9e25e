//! The grammar of a flit-mode TLP: prefixes, header base, OHC, data, trailer, in this order (`cxl-io` §3.1).
//!
//! Modelled: the size of every part from the first four bytes, the parts of a whole TLP, what a missing OHC-A stands for,
//! and every rule that shows in one TLP. Left out: rules between TLPs, such as tags, credits and split completions.

use super::code::{CplStatus, FmType};
use super::flit_mode::{Base, FmMem32, FmMem64, OhcA1, OhcA5, OhcC, PbrFirstByte, Pth, TRAILER_DW, has_data, ohc_dw};
use super::{DW_BYTES, length_dw};
use crate::wire::{At, LayoutDef, Violation, Wire};
use thiserror::Error;

/// How the bytes of a TLP are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IoTlpForm {
    /// Headers with Fmt and Type, as 68B links carry them (`cxl-io` §1).
    NonFlit,
    /// Header base and OHC, as 256B links carry them (`cxl-io` §3).
    Flit {
        /// A PBR header stands before the header base (`cxl-io` §3.8).
        pbr: bool,
    },
}

/// The sizes that the first DW of a TLP announces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Type.
    pub code: FmType,
    /// Header base of that type.
    pub base: Base,
    /// DW of OHC A, B, C and E.
    pub ohc_dw: [usize; 4],
    /// DW of data.
    pub data_dw: usize,
    /// DW of the trailer.
    pub trailer_dw: usize,
}

impl Size {
    /// Reads the first DW of a header. `None` for a NOP, a prefix, and a type of unknown size.
    pub const fn of(dw0: [u8; DW_BYTES]) -> Option<Size> {
        let code = FmType(dw0[0]);
        let base = match Base::of(code) {
            None | Some(Base::Nop | Base::Prefix) => return None,
            Some(base) => base,
        };
        let data_dw = if has_data(code) { length_dw((dw0[2] as u16 & 3) << 8 | dw0[3] as u16) } else { 0 };
        let trailer_dw = TRAILER_DW[(dw0[2] >> 5) as usize];
        Some(Size { code, base, ohc_dw: ohc_dw(dw0[1] & 0x1f), data_dw, trailer_dw })
    }

    /// DW in all, prefixes and PBR header apart.
    pub const fn dw(&self) -> usize {
        let [a, b, c, e] = self.ohc_dw;
        self.base.dw() + a + b + c + e + self.data_dw + self.trailer_dw
    }
}

/// What has been read of a TLP when its next DW is no part of header, OHC, data or trailer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Front {
    /// Nothing.
    #[default]
    Nothing,
    /// Local prefixes.
    Prefixes,
    /// The PBR header; the header base is due.
    Pth,
}

/// What a DW is that is no part of header, OHC, data or trailer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begin {
    /// A NOP, one DW.
    Nop,
    /// A prefix or PBR header; more of the same TLP follows.
    More(Front),
    /// The first DW of a header.
    Header(Size),
    /// Nothing that tells how long it is.
    Unknown(UnknownSize),
}

/// Why a DW does not tell how long its TLP is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnknownSize {
    /// The type has no known size, or may not stand there.
    Type,
    /// A PBR header is due on a link with port based routing.
    NoPth,
}

impl UnknownSize {
    /// The finding about bytes that begin at `at` with this DW, or with the prefixes before it.
    pub fn violation(self, at: usize, bytes: &[u8]) -> Violation {
        let (rule, expected) = match self {
            UnknownSize::Type => ("CXLIO-FMT-03", "a NOP, a prefix or a TLP of known size"),
            UnknownSize::NoPth => ("CXLIO-PTH-02", "a NOP, or prefixes and a PBR header before each TLP"),
        };
        let (dws, _) = bytes.as_chunks::<DW_BYTES>();
        let is_prefix = |dw: &&[u8; DW_BYTES]| PbrFirstByte::of(dw[0]) == PbrFirstByte::Prefix;
        let prefixes = if self == UnknownSize::NoPth { dws.iter().take_while(is_prefix).count() } else { 0 };
        let found = format!("{:02x?}", dws.get(prefixes).unwrap_or(&[0; DW_BYTES]));
        let text = "the rest of the flit cannot be read";
        Violation::at_byte(rule, at + DW_BYTES * prefixes, found, expected, text)
    }
}

impl Front {
    /// Reads the next DW (`cxl-io` §3.1, on links with port based routing §3.8: every TLP but NOP has a PBR header
    /// directly before its header base).
    pub const fn next(self, dw: [u8; DW_BYTES], pbr: bool) -> Begin {
        if pbr && !matches!(self, Front::Pth) {
            return match (PbrFirstByte::of(dw[0]), self) {
                (PbrFirstByte::Nop, Front::Nothing) => Begin::Nop,
                (PbrFirstByte::Prefix, _) => Begin::More(Front::Prefixes),
                (PbrFirstByte::Pth, _) => Begin::More(Front::Pth),
                _ => Begin::Unknown(UnknownSize::NoPth),
            };
        }
        match (Base::of(FmType(dw[0])), self) {
            (Some(Base::Nop), Front::Nothing) => Begin::Nop,
            (Some(Base::Prefix), Front::Nothing | Front::Prefixes) => Begin::More(Front::Prefixes),
            _ => match Size::of(dw) {
                Some(size) => Begin::Header(size),
                None => Begin::Unknown(UnknownSize::Type),
            },
        }
    }
}

/// Why bytes are no whole TLP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum TlpFault {
    /// A DW tells no size: an unlisted type, a prefix out of place, no PBR header where one is due.
    #[error(
        "found first byte {code:#04x} at byte {at}, expected a prefix, a PBR header or a type that is allowed at this position"
    )]
    Unknown {
        /// First byte of the DW.
        code: u8,
        /// Where it stands.
        at: usize,
    },
    /// The parts that the header announces are longer or shorter than the bytes.
    #[error("found {found} bytes, expected {expected} as the header announces")]
    Length {
        /// Bytes given.
        found: usize,
        /// Bytes announced.
        expected: usize,
    },
}

/// A whole TLP, taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TlpParts<'a> {
    /// Local prefixes, a DW each.
    pub prefixes: &'a [u8],
    /// PBR header; empty on other links.
    pub pth: &'a [u8],
    /// The sizes.
    pub size: Size,
    /// Header base.
    pub header: &'a [u8],
    /// OHC A, B, C and E; empty where there is none.
    pub ohc: [&'a [u8]; 4],
    /// Data.
    pub data: &'a [u8],
    /// Trailer.
    pub trailer: &'a [u8],
}

impl<'a> TlpParts<'a> {
    /// Takes a TLP apart; `pbr`: it stands on a link with port based routing.
    ///
    /// # Errors
    /// A DW that tells no size; more or fewer bytes than the header announces. A NOP is no TLP here.
    pub fn split(bytes: &'a [u8], pbr: bool) -> Result<TlpParts<'a>, TlpFault> {
        let (mut front, mut at, mut pth_at) = (Front::Nothing, 0, None);
        let size = loop {
            let Some(&dw) = bytes[at..].first_chunk() else {
                return Err(TlpFault::Length { found: bytes.len(), expected: at + DW_BYTES });
            };
            match front.next(dw, pbr) {
                Begin::More(next) => {
                    front = next;
                    if next == Front::Pth {
                        pth_at = Some(at);
                    }
                    at += DW_BYTES;
                }
                Begin::Header(size) => break size,
                Begin::Nop | Begin::Unknown(_) => return Err(TlpFault::Unknown { code: dw[0], at }),
            }
        };
        let expected = at + DW_BYTES * size.dw();
        if bytes.len() != expected {
            return Err(TlpFault::Length { found: bytes.len(), expected });
        }
        let (before, mut rest) = bytes.split_at(at);
        let (prefixes, pth) = before.split_at(pth_at.unwrap_or(at));
        let mut take = |dw: usize| {
            let (part, behind) = rest.split_at(DW_BYTES * dw);
            rest = behind;
            part
        };
        let header = take(size.base.dw());
        let ohc = size.ohc_dw.map(&mut take);
        let (data, trailer) = (take(size.data_dw), take(size.trailer_dw));
        Ok(TlpParts { prefixes, pth, size, header, ohc, data, trailer })
    }

    /// Header layout and bits.
    pub fn header_bits(&self) -> Option<(&'static LayoutDef, u128)> {
        self.size.base.def().map(|def| (def, number(self.header)))
    }

    /// Layout and bits of the OHC in place n of A, B, C, E; `None` where it is absent or has no settled fields.
    pub fn ohc_bits(&self, n: usize) -> Option<(&'static LayoutDef, u128)> {
        let def = ohc_def(self.size.base, self.size.code, n)?;
        (!self.ohc[n].is_empty()).then(|| (def, number(self.ohc[n])))
    }

    /// First and last byte enables of a memory request; all bytes without OHC-A1 (`cxl-io` §3.5). A request of one DW
    /// has no last DW: its last byte enables are 0.
    pub fn byte_enables(&self) -> (u8, u8) {
        match self.ohc_bits(0) {
            Some((def, bits)) if def.name == OhcA1::DEF.name => {
                let ohc = OhcA1::from_bits(bits);
                (ohc.first_be, ohc.last_be)
            }
            _ if self.header.get(2..4).is_some_and(|h| h[0] & 3 == 0 && h[1] == 1) => (0xf, 0),
            _ => (0xf, 0xf),
        }
    }

    /// Status and low two address bits of a completion; successful and 0 without OHC-A5 (`cxl-io` §3.5).
    pub fn completion(&self) -> (CplStatus, u8) {
        match self.ohc_bits(0) {
            Some((def, bits)) if def.name == OhcA5::DEF.name => {
                let ohc = OhcA5::from_bits(bits);
                (ohc.status, ohc.lower_addr)
            }
            _ => (CplStatus::SC, 0),
        }
    }
}

/// Layout of the OHC in place n of A, B, C, E, where its fields are settled.
pub const fn ohc_def(base: Base, code: FmType, n: usize) -> Option<&'static LayoutDef> {
    match n {
        0 => base.ohc_a(code),
        2 => Some(OhcC::DEF),
        _ => None,
    }
}

/// At most 16 bytes as one number, byte 0 highest.
fn number(bytes: &[u8]) -> u128 {
    bytes.iter().fold(0, |n, &b| n << 8 | u128::from(b))
}

/// Judges a TLP. Places are bytes of the TLP, prefixes included.
pub fn check(tlp: &TlpParts, found: &mut Vec<Violation>) {
    let mut broken = |rule, at, is: String, expected: &str, text: &str| {
        found.push(Violation { rule, at: At::Byte(at), found: is, expected: expected.into(), text: text.into() });
    };
    for (n, prefix) in tlp.prefixes.chunks(DW_BYTES).enumerate() {
        if FmType(prefix[0]).name().is_none() {
            let is = format!("{:#04x}", prefix[0]);
            broken("CXLIO-FMT-03", DW_BYTES * n, is, "8d, 8e or 8f", "the local prefix has a reserved type");
        }
    }
    let header_at = tlp.prefixes.len() + tlp.pth.len();
    let ohc_at = header_at + tlp.header.len();
    let base = tlp.size.base;
    if matches!(base, Base::Io | Base::Cfg) && tlp.ohc[0].is_empty() {
        let text = "an I/O request lacks OHC-A2, or a configuration request OHC-A3";
        broken("CXLIO-FMT-08", header_at + 1, "no OHC-A".into(), "OHC-A", text);
    }
    if let (Base::Mem32 | Base::Mem64, Some((_, bits))) = (base, tlp.ohc_bits(0)) {
        let ohc = OhcA1::from_bits(bits);
        let translation = match base {
            Base::Mem32 => FmMem32::from_bits(number(tlp.header)).at == 1,
            _ => FmMem64::from_bits(number(tlp.header)).at == 1,
        };
        let flags = [("NW", ohc.nw), ("ER", ohc.pv && ohc.er), ("PMR", ohc.pv && ohc.pmr)];
        for (name, _) in flags.into_iter().filter(|&(_, set)| set && !translation) {
            broken(
                "CXLIO-FMT-10",
                ohc_at,
                format!("{name} = 1"),
                "0",
                "the flag is set although the request is of a kind that has none",
            );
        }
    }
    if !tlp.pth.is_empty() {
        of_layout(Pth::DEF, number(tlp.pth), tlp.prefixes.len(), found);
    }
    if let Some((def, bits)) = tlp.header_bits() {
        of_layout(def, bits, header_at, found);
    }
    if let Some((def, bits)) = tlp.ohc_bits(0) {
        of_layout(def, bits, ohc_at, found);
    }
    if let Some((def, bits)) = tlp.ohc_bits(2) {
        of_layout(def, bits, ohc_at + tlp.ohc[0].len() + tlp.ohc[1].len(), found);
    }
}

/// Findings of a layout that begins at a byte, with their places in bytes.
fn of_layout(def: &LayoutDef, bits: u128, at: usize, found: &mut Vec<Violation>) {
    let mut of_message = Vec::new();
    def.check(bits, &mut of_message);
    found.extend(of_message.into_iter().map(|v| v.in_unit(|bit| at + (def.bits - 1 - bit) as usize / 8)));
}
