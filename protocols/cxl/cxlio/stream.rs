//! TLPs in the flits of a 256B link: where each begins and ends (`cxl-io` §3.7, §4).
//!
//! Modelled: the TLP bytes of one flit after another as one stream, cut into pieces: NOPs, whole TLPs, and parts of TLPs
//! that straddle flits; how many may start in each group. Behind a type of unknown size, and behind a TLP without PBR header
//! on a link with port based routing, the rest of the flit is dropped
//! (sheet mark \[D\]). [`TlpRegionReader`] joins the parts of straddling TLPs.
//!
//! A TLP region is a whole number of DW in every flit map, so the first DW of a TLP is never split and its size is known
//! where it begins.

use super::DW_BYTES;
use super::tlp::{self, Begin, Front, TlpParts, UnknownSize};
use crate::wire::{At, Violation};

/// What the flits before leave open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OpenTlp {
    /// Nothing: a TLP or NOP begins.
    #[default]
    Nothing,
    /// Prefixes or the PBR header have been read, the header is to come.
    Front(Front),
    /// So many DW of a TLP are to come.
    Rest(usize),
}

/// What a piece is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PieceKind {
    /// A filler of one DW.
    Nop,
    /// A TLP or a part of one.
    Tlp,
    /// Bytes behind a DW that tells no size, that DW included.
    Dropped(UnknownSize),
}

/// A piece of the TLP region of one flit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// What it is.
    pub kind: PieceKind,
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
    pbr: bool,
    at: usize,
    open: &'a mut OpenTlp,
}

impl<'a> Walker<'a> {
    /// The pieces of a region; `pbr`: of a link with port based routing. Bytes behind the last whole DW are passed over.
    pub fn new(region: &'a [u8], pbr: bool, open: &'a mut OpenTlp) -> Walker<'a> {
        let whole = region.len() - region.len() % DW_BYTES;
        Walker { region: &region[..whole], pbr, at: 0, open }
    }
}

impl Iterator for Walker<'_> {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        let (at, begins) = (self.at, *self.open == OpenTlp::Nothing);
        let mut kind = PieceKind::Tlp;
        while let Some(&dw) = self.region[self.at..].first_chunk() {
            let left_dw = (self.region.len() - self.at) / DW_BYTES;
            let front = match *self.open {
                OpenTlp::Front(front) => front,
                _ => Front::Nothing,
            };
            let rest_dw = match (*self.open, front.next(dw, self.pbr)) {
                (OpenTlp::Rest(dw), _) => dw,
                (_, Begin::Header(size)) => size.dw(),
                (_, Begin::More(front)) => {
                    *self.open = OpenTlp::Front(front);
                    self.at += DW_BYTES;
                    continue;
                }
                (_, Begin::Nop) => {
                    kind = PieceKind::Nop;
                    1
                }
                (_, Begin::Unknown(why)) => {
                    kind = PieceKind::Dropped(why);
                    left_dw
                }
            };
            let here_dw = rest_dw.min(left_dw);
            self.at += DW_BYTES * here_dw;
            *self.open = if here_dw == rest_dw { OpenTlp::Nothing } else { OpenTlp::Rest(rest_dw - here_dw) };
            break;
        }
        let ends = *self.open == OpenTlp::Nothing;
        (self.at > at).then_some(Piece { kind, at, len_bytes: self.at - at, begins, ends })
    }
}

/// TLP bytes of the first group (`cxl-256b` §1.2); the rest of the region is the second.
pub const GROUP_BYTES: usize = 128;
/// TLPs that may start in a group, NOPs not counted (`cxl-io` §3.7).
pub const STARTS_PER_GROUP: usize = 8;

/// Bytes up to which a straddling TLP is joined; the longest without prefixes has 4148: 4 DW of base, 7 of OHC, 1024 of
/// data, 5 of trailer, which leaves room for prefixes.
pub const JOINED_BYTES: usize = 8192;

/// A piece of a flit, and the TLP that ends with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundPiece {
    /// The piece.
    pub piece: Piece,
    /// The whole TLP, where the piece is its last part. `None` for NOPs and dropped bytes, and for a TLP whose beginning
    /// is not known or that is longer than [`JOINED_BYTES`].
    pub whole: Option<Vec<u8>>,
}

/// Reads the TLP regions of the flits of one direction.
#[derive(Debug, Clone, Default)]
pub struct TlpRegionReader {
    pbr: bool,
    open: OpenTlp,
    held: Vec<u8>,
}

impl TlpRegionReader {
    /// A stream of which nothing has been read; `pbr`: of a link with port based routing.
    pub fn new(pbr: bool) -> TlpRegionReader {
        TlpRegionReader { pbr, ..TlpRegionReader::default() }
    }

    /// The pieces of the next region, without gap.
    pub fn read(&mut self, region: &[u8]) -> Vec<FoundPiece> {
        let held = &mut self.held;
        let join = |piece: Piece| {
            if piece.begins {
                held.clear();
            }
            if held.len() <= JOINED_BYTES {
                held.extend(piece.of(region));
            }
            let whole = piece.kind == PieceKind::Tlp && piece.ends && held.len() <= JOINED_BYTES;
            FoundPiece { piece, whole: whole.then(|| std::mem::take(held)) }
        };
        Walker::new(region, self.pbr, &mut self.open).map(join).collect()
    }
}

/// Judges the pieces of one region: each TLP that ends in it, what was dropped, TLPs that start in each group.
/// Places are bytes of the region; what stands in an earlier flit counts as the first byte of its last part.
pub fn check(found: &[FoundPiece], region: &[u8], pbr: bool, violations: &mut Vec<Violation>) {
    for FoundPiece { piece, whole } in found {
        let first = violations.len();
        match whole.as_deref().map(|tlp| (tlp.len(), TlpParts::split(tlp, pbr))) {
            Some((len_bytes, Ok(parts))) => {
                tlp::check(&parts, violations);
                let earlier_bytes = len_bytes - piece.len_bytes;
                for violation in &mut violations[first..] {
                    if let At::Byte(at) = violation.at {
                        violation.at = At::Byte(piece.at + at.saturating_sub(earlier_bytes));
                    }
                }
            }
            // The walker cuts where the parts end.
            Some((_, Err(_))) => (),
            None => {
                if let PieceKind::Dropped(why) = piece.kind {
                    violations.push(why.violation(piece.at, piece.of(region)));
                }
            }
        }
    }
    check_starts(found.iter().map(|f| f.piece), violations);
}

/// PLC-04: judges the TLP region of a NOP flit, which carries none. Places are bytes of the region.
pub fn check_nop(region: &[u8], violations: &mut Vec<Violation>) {
    if let Some(at) = region.iter().position(|&b| b != 0) {
        let text = "a flit of type NOP carries TLP bytes";
        violations.push(Violation::at_byte("CXLIO-PLC-04", at, format!("{:#04x}", region[at]), 0, text));
    }
}

/// PLC-02: judges how many TLPs start in each group. Places are bytes of the region.
fn check_starts(pieces: impl Iterator<Item = Piece>, found: &mut Vec<Violation>) {
    let mut starts = [0; 2];
    for piece in pieces.filter(|p| p.begins && p.kind == PieceKind::Tlp) {
        let group = usize::from(piece.at >= GROUP_BYTES);
        starts[group] += 1;
        if starts[group] == STARTS_PER_GROUP + 1 {
            found.push(Violation {
                rule: "CXLIO-PLC-02",
                at: At::Byte(piece.at),
                found: format!("a ninth TLP in group {group}"),
                expected: format!("at most {STARTS_PER_GROUP}"),
                text: "too many TLPs start in one group of a flit".into(),
            });
        }
    }
}
