//! TLPs in the flits of a 256B link: where each begins and ends (`cxl-io` §3.7, §4).
//!
//! Modelled: the TLP bytes of one flit after another as one stream, cut into pieces: NOPs, whole TLPs, and parts of TLPs
//! that straddle flits; how many may start in each group. Behind a type of unknown size the rest of the flit is dropped
//! (sheet mark \[D\]). Left out: the bytes themselves; whoever needs a straddling TLP whole joins its parts.
//!
//! A TLP region is a whole number of DW in every flit map, so the first DW of a TLP is never split and its size is known
//! where it begins.

use super::DW_BYTES;
use super::flit_mode::Base;
use super::tlp::Size;
use crate::wire::{At, Violation};

/// What the flits before leave open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Open {
    /// Nothing: a TLP or NOP begins.
    #[default]
    Nothing,
    /// Local prefixes have been read, the header is to come.
    Prefixes,
    /// So many DW of a TLP are to come.
    Rest(usize),
}

/// What a piece is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A filler of one DW.
    Nop,
    /// A TLP or a part of one.
    Tlp,
    /// Bytes behind a type of unknown size, that type included.
    Dropped,
}

/// A piece of the TLP region of one flit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// What it is.
    pub kind: Kind,
    /// First byte within the region.
    pub at: usize,
    /// Length in bytes, a whole number of DW.
    pub len_bytes: usize,
    /// The TLP begins here, and not in an earlier flit.
    pub begins: bool,
    /// The TLP ends here, and not in a later flit.
    pub ends: bool,
}

impl Piece {
    /// The bytes of the piece.
    pub fn of<'a>(&self, region: &'a [u8]) -> &'a [u8] {
        &region[self.at..self.at + self.len_bytes]
    }
}

/// Cuts the TLP region of a flit into pieces; `open` is left as the next flit finds it once all pieces are taken.
#[derive(Debug)]
pub struct Walker<'a> {
    region: &'a [u8],
    at: usize,
    open: &'a mut Open,
}

impl<'a> Walker<'a> {
    /// The pieces of a region. Bytes behind its last whole DW are passed over.
    pub fn new(region: &'a [u8], open: &'a mut Open) -> Walker<'a> {
        let whole = region.len() - region.len() % DW_BYTES;
        Walker { region: &region[..whole], at: 0, open }
    }
}

impl Iterator for Walker<'_> {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        let (at, begins) = (self.at, *self.open == Open::Nothing);
        let mut kind = Kind::Tlp;
        while let Some(&dw0) = self.region[self.at..].first_chunk::<DW_BYTES>() {
            let left_dw = (self.region.len() - self.at) / DW_BYTES;
            let rest_dw = match *self.open {
                Open::Rest(dw) => dw,
                before => match Size::of(dw0) {
                    Some(Size { base: Base::Prefix, .. }) => {
                        *self.open = Open::Prefixes;
                        self.at += DW_BYTES;
                        continue;
                    }
                    Some(size) => {
                        if size.base == Base::Nop && before == Open::Nothing {
                            kind = Kind::Nop;
                        }
                        size.dw()
                    }
                    None => {
                        kind = Kind::Dropped;
                        left_dw
                    }
                },
            };
            let here_dw = rest_dw.min(left_dw);
            self.at += DW_BYTES * here_dw;
            *self.open = if here_dw == rest_dw { Open::Nothing } else { Open::Rest(rest_dw - here_dw) };
            break;
        }
        let ends = *self.open == Open::Nothing;
        (self.at > at).then_some(Piece { kind, at, len_bytes: self.at - at, begins, ends })
    }
}

/// TLP bytes of the first group (`cxl-256b` §1.2); the rest of the region is the second.
pub const GROUP_BYTES: usize = 128;
/// TLPs that may start in a group, NOPs not counted (`cxl-io` §3.7).
pub const STARTS_PER_GROUP: usize = 8;

/// PLC-02: judges how many TLPs start in each group. Places are bytes of the region.
pub fn check_starts(pieces: impl Iterator<Item = Piece>, found: &mut Vec<Violation>) {
    let mut starts = [0; 2];
    for piece in pieces.filter(|p| p.begins && p.kind == Kind::Tlp) {
        let group = usize::from(piece.at >= GROUP_BYTES);
        starts[group] += 1;
        if starts[group] == STARTS_PER_GROUP + 1 {
            found.push(Violation {
                rule: "CXLIO-PLC-02",
                at: At::Byte(piece.at),
                found: format!("a ninth TLP in group {group}"),
                expected: format!("at most {STARTS_PER_GROUP}"),
                text: "TLPs that start in one group of a flit".into(),
            });
        }
    }
}

/// Bytes of a filler, a whole number of them.
pub const NOP: [u8; DW_BYTES] = [0; DW_BYTES];
