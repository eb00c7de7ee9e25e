//! Where TLPs begin and end in the TLP bytes of CXL.io flits (`cxl-io` §3).
//!
//! Modelled: sizes of prefixes, header bases, OHC, data and trailers; TLPs that run on into the next flit; the PTH in
//! front of every TLP on a link with port based routing. Left out: what the fields mean.
//!
//! A walk through the TLP bytes of one flit: a DWord that continues a TLP belongs to it; else its first byte says NOP
//! (one DWord), prefix or PTH (the header follows), or a type, whose size is known from that DWord. Behind a type of
//! unknown size nothing more of the flit can be read \[D\].

use super::class::Routing;
use core::ops::Range;

/// Bytes of a DWord.
const DW: usize = 4;

/// A run of TLP bytes in one flit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Bytes within the TLP bytes of the flit.
    pub bytes: Range<usize>,
    /// What it is.
    pub what: PieceKind,
    /// The TLP began in an earlier flit.
    pub continues: bool,
    /// The TLP goes on in a later flit.
    pub goes_on: bool,
}

/// What a piece is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PieceKind {
    /// One NOP TLP.
    Nop,
    /// A TLP with its prefixes and PTH.
    Tlp,
    /// Behind a DWord that tells no size.
    Unknown,
}

/// Where a stream of TLP bytes stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// A TLP may begin.
    Between,
    /// Prefixes or a PTH have been read, a header has to come.
    HeaderDue,
    /// DWords of the TLP to come.
    Inside(usize),
}

/// Finds the TLPs of one direction.
#[derive(Debug, Clone)]
pub struct TlpFinder {
    routing: Routing,
    state: State,
}

impl TlpFinder {
    /// A stream of which nothing has been read.
    pub fn new(routing: Routing) -> TlpFinder {
        TlpFinder { routing, state: State::Between }
    }

    /// The pieces of the TLP bytes of the next flit, without gap.
    pub fn read(&mut self, bytes: &[u8]) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let mut begin = 0;
        let mut continues = self.state != State::Between;
        for (n, dw) in bytes.chunks_exact(DW).enumerate() {
            let end = DW * (n + 1);
            let what = match self.state {
                State::Inside(more) => {
                    self.state = if more == 1 { State::Between } else { State::Inside(more - 1) };
                    PieceKind::Tlp
                }
                _ => match self.begin([dw[0], dw[1], dw[2], dw[3]]) {
                    Some(what) => what,
                    None => {
                        let bytes = begin..bytes.len();
                        pieces.push(Piece { bytes, what: PieceKind::Unknown, continues, goes_on: false });
                        self.state = State::Between;
                        return pieces;
                    }
                },
            };
            if self.state == State::Between {
                pieces.push(Piece { bytes: begin..end, what, continues, goes_on: false });
                (begin, continues) = (end, false);
            }
        }
        if begin < bytes.len() {
            pieces.push(Piece { bytes: begin..bytes.len(), what: PieceKind::Tlp, continues, goes_on: true });
        }
        pieces
    }

    /// Reads a DWord that is not inside a TLP; `None` when it tells no size.
    fn begin(&mut self, dw: [u8; DW]) -> Option<PieceKind> {
        let header_due = self.state == State::HeaderDue;
        let pbr_class = (self.routing == Routing::Pbr && !header_due).then_some(dw[0] >> 6);
        match (pbr_class, dw[0]) {
            (_, 0x00) if !header_due => {
                self.state = State::Between;
                return Some(PieceKind::Nop);
            }
            // Without a PTH nothing but a NOP or a prefix may begin on such a link.
            (Some(3), _) | (_, 0x80..=0x8f) => self.state = State::HeaderDue,
            (Some(_), _) => return None,
            _ => match header_dwords(dw)? {
                1 => self.state = State::Between,
                dwords => self.state = State::Inside(dwords - 1),
            },
        }
        Some(PieceKind::Tlp)
    }
}

/// DWords of a TLP from its header base on, `None` for a type of unknown size (`cxl-io` §3.2 to §3.6).
pub fn header_dwords(dw0: [u8; DW]) -> Option<usize> {
    let base = match dw0[0] {
        0x01..=0x05 | 0x0a..=0x0d | 0x40 | 0x42 | 0x44 | 0x45 | 0x48 | 0x4a..=0x4e | 0x5b => 3,
        0x20..=0x22 | 0x30..=0x37 | 0x60 | 0x61 | 0x6c..=0x6e | 0x70..=0x77 | 0x7b => 4,
        _ => return None,
    };
    let ohc = dw0[1] & 0x1f;
    let ohc_e = [0, 1, 2, 4][usize::from(ohc >> 3)];
    let ohc = (ohc & 7).count_ones() as usize + ohc_e;
    let has_data = dw0[0] & 0x40 != 0;
    let data = match usize::from(dw0[2] & 3) << 8 | usize::from(dw0[3]) {
        _ if !has_data => 0,
        0 => 1024,
        length => length,
    };
    let trailer = [0, 1, 1, 2, 2, 3, 4, 5][usize::from(dw0[2] >> 5)];
    Some(base + ohc + data + trailer)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `cxl-io` §3.5, examples.
    #[test]
    fn examples_of_the_sheet() {
        let mut read = vec![0x03, 1, 0, 3, 4, 2, 0, 0x77, 0x90, 0, 0x20, 4, 0, 0, 0, 0x1c];
        let write = [0x44, 1, 0, 1, 0, 0, 0, 1, 7, 8, 0, 0x20, 0, 0, 0, 0xf, 0xf0, 0, 0, 0];
        read.extend(write);
        read.extend([0; 8]);
        let pieces = TlpFinder::new(Routing::Hbr).read(&read);
        let ends: Vec<_> = pieces.iter().map(|p| (p.what, p.bytes.end)).collect();
        assert_eq!(ends, [(PieceKind::Tlp, 16), (PieceKind::Tlp, 36), (PieceKind::Nop, 40), (PieceKind::Nop, 44)]);
    }

    #[test]
    fn a_tlp_runs_on() {
        let mut finder = TlpFinder::new(Routing::Hbr);
        // MWr32 of 4 DWords: 7 in all, cut behind the fifth one.
        let first = finder.read(&[&[0x40, 0, 0, 4][..], &[0xff; 16]].concat());
        assert_eq!(first, [Piece { bytes: 0..20, what: PieceKind::Tlp, continues: false, goes_on: true }]);
        let second = finder.read(&[0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(second[0], Piece { bytes: 0..8, what: PieceKind::Tlp, continues: true, goes_on: false });
        assert_eq!(second[1].what, PieceKind::Nop);
    }

    #[test]
    fn a_pth_belongs_to_its_tlp() {
        let bytes = [0xc0, 0x12, 0x34, 0x56, 0x03, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0];
        let pieces = TlpFinder::new(Routing::Pbr).read(&bytes);
        assert_eq!(pieces, [Piece { bytes: 0..16, what: PieceKind::Tlp, continues: false, goes_on: false }]);
        let naked = TlpFinder::new(Routing::Pbr).read(&bytes[4..]);
        assert_eq!(naked[0].what, PieceKind::Unknown);
    }
}
