//! Reading a stream of DL flits: DL messages, TL flits and transfers, and what is wrong (`ualink` §2 to §10).
//!
//! Modelled: carry-over, UART payload and owed halves over the ends of flits. Left out: the order of sequence numbers,
//! replay and credits (a stream decodes without their history).
//!
//! A walk through one flit: CRC and header decide whether a receiver uses it; one that it does not use is taken apart for
//! show, is not judged any further, and changes no state. A NOP carries nothing. A payload flit is cut by [`segment::Unpacker`]; the TL flit that
//! began earlier comes first, then those that begin here, each read by [`TlUnpacker`] when it is whole.

use super::compress::CompressionRole;
use super::config::UalConfig;
use super::flit::{DlFlit, Payload, SEGMENTS, map, sector_byte, segment_header_byte};
use super::header::{MAX_SEQ, UalHeader};
use super::message::{self, UartTransport};
use super::segment::{self, BOUNDS, Piece};
use super::unpack::{TlRead, TlUnpacker};
use crate::wire::{LayoutDef, Violation, Wire};

/// What an alternative sector holds.
#[derive(Debug, Clone, Copy)]
pub enum DlItem {
    /// A message of a layout.
    Message(&'static LayoutDef),
    /// UART payload.
    Uart,
    /// An unlisted message, which is ignored.
    Unlisted,
}

/// An alternative sector.
#[derive(Debug, Clone, Copy)]
pub struct DlWord {
    /// Segment whose first sector it is.
    pub segment: usize,
    /// The DWord.
    pub word: u32,
    /// What it is.
    pub item: DlItem,
}

/// A TL flit with what it says.
#[derive(Debug, Clone)]
pub struct TlItem {
    /// Its bytes and where they stand.
    pub piece: Piece,
    /// What it says; `None` while sectors are still to come.
    pub read: Option<TlRead>,
}

impl TlItem {
    /// What is wrong with it, with places in the DL flit in which it began.
    pub fn violations(&self) -> impl Iterator<Item = Violation> + '_ {
        self.read.iter().flat_map(|read| &read.violations).map(|violation| {
            let mut moved = violation.clone();
            if let crate::wire::At::Byte(byte) = moved.at {
                moved.text = format!("{} (byte {byte} of the TL flit)", moved.text);
                moved.at = crate::wire::At::Byte(self.piece.flit_byte(byte));
            }
            moved
        })
    }
}

/// One flit, taken apart.
#[derive(Debug, Clone)]
pub struct UalDecodedFlit {
    /// As read.
    pub unit: DlFlit,
    /// The CRC that belongs there.
    pub expected_crc: u32,
    /// Flit header.
    pub header: UalHeader,
    /// Segment headers and sectors.
    pub payload: Payload,
    /// Alternative sectors.
    pub messages: Vec<DlWord>,
    /// The TL flit that began in an earlier flit and is whole now.
    pub finished: Option<TlItem>,
    /// TL flits that begin here; the last one may go on in the next payload flit.
    pub tl: Vec<TlItem>,
    /// What is wrong with the flit; that of its TL flits stands with them.
    pub violations: Vec<Violation>,
}

impl UalDecodedFlit {
    /// Whether the CRC fits.
    pub fn crc_ok(&self) -> bool {
        self.unit.crc() == self.expected_crc
    }

    /// Whether a receiver would use it.
    pub fn is_good(&self) -> bool {
        self.crc_ok() && self.header.is_usable() && self.header.zero_number().is_none()
    }

    /// Whether its last TL flit goes on.
    pub fn goes_on(&self) -> bool {
        self.tl.last().is_some_and(|tl| !tl.piece.is_whole())
    }
}

/// Takes a stream of flits of one direction apart.
#[derive(Debug, Clone)]
pub struct Unpacker {
    config: UalConfig,
    segments: segment::Unpacker,
    tl: TlUnpacker,
    /// UART payload DWords that are still to come.
    uart: usize,
}

impl Unpacker {
    /// A stream of which nothing has been read.
    pub fn new(config: UalConfig, role: CompressionRole) -> Unpacker {
        Unpacker { config, segments: segment::Unpacker::default(), tl: TlUnpacker::new(config, role), uart: 0 }
    }

    /// Whether nothing is left over or owed: no TL flit, no data, no UART payload.
    pub fn is_at_rest(&self) -> bool {
        self.segments.carry() == 0 && self.tl.owed_halves() == 0 && self.uart == 0
    }

    /// Takes the next flit.
    pub fn read(&mut self, unit: &DlFlit) -> UalDecodedFlit {
        let mut decoded = UalDecodedFlit {
            unit: *unit,
            expected_crc: unit.expected_crc(&self.config),
            header: unit.header(),
            payload: unit.payload(),
            messages: Vec::new(),
            finished: None,
            tl: Vec::new(),
            violations: Vec::new(),
        };
        if !decoded.crc_ok() {
            let word = |crc: u32| format!("{crc:#010x}");
            let (found, expected) = (word(unit.crc()), word(decoded.expected_crc));
            let text = "the CRC does not match the bytes of the flit";
            decoded.violations.push(Violation::at_byte("UAL-CRC-01", map::CRC.start, found, expected, text));
        }
        if decoded.crc_ok() {
            let mut found = Vec::new();
            decoded.header.def().check(unit.header_bits().into(), &mut found);
            decoded.violations.extend(found.into_iter().map(|v| v.in_unit(|bit| map::FH.start + bit as usize / 8)));
            if let Some((rule, text)) = decoded.header.zero_number() {
                let expected = format!("1 to {MAX_SEQ}");
                decoded.violations.push(Violation::at_byte(rule, map::FH.start + 1, 0, expected, text));
            }
        }
        if decoded.is_good() {
            if decoded.header.payload() {
                self.payload(&mut decoded);
            } else {
                no_payload(&mut decoded);
            }
        } else if decoded.header.payload() {
            // What is not used is not judged.
            let known = decoded.violations.len();
            self.clone().payload(&mut decoded);
            decoded.violations.truncate(known);
            let reads = decoded.finished.iter_mut().chain(&mut decoded.tl).filter_map(|tl| tl.read.as_mut());
            reads.for_each(|read| read.violations.clear());
        }
        decoded
    }

    fn payload(&mut self, decoded: &mut UalDecodedFlit) {
        let cut = self.segments.read(&decoded.payload);
        decoded.violations.extend(cut.violations);
        for (segment, word) in cut.messages {
            let item = self.dl_word(segment, word, &mut decoded.violations);
            decoded.messages.push(DlWord { segment, word, item });
        }
        decoded.finished = cut.finished.map(|piece| self.item(piece));
        for piece in cut.started {
            let item = self.item(piece);
            decoded.tl.push(item);
        }
    }

    fn item(&mut self, piece: Piece) -> TlItem {
        TlItem { piece, read: piece.is_whole().then(|| self.tl.read(&piece.flit)) }
    }

    fn dl_word(&mut self, segment: usize, word: u32, violations: &mut Vec<Violation>) -> DlItem {
        if self.uart > 0 {
            self.uart -= 1;
            return DlItem::Uart;
        }
        let at = |bit: u32| sector_byte(BOUNDS[segment].0, bit as usize / 8);
        let Some(def) = message::def_of(word) else {
            violations.push(message::unlisted(word).in_unit(at));
            return DlItem::Unlisted;
        };
        let mut found = Vec::new();
        def.check(word.into(), &mut found);
        violations.extend(found.into_iter().map(|v| v.in_unit(at)));
        if !message::is_ignored(word) && def.name == UartTransport::DEF.name {
            self.uart = usize::from(UartTransport::from_bits(word.into()).length) + 1;
        }
        DlItem::Message(def)
    }
}

/// Judges the sectors of a flit without payload (`ualink` §4 \[D\]).
fn no_payload(decoded: &mut UalDecodedFlit) {
    let payload = &decoded.payload;
    let header = (0..SEGMENTS).find(|&n| payload.headers[n] != 0).map(segment_header_byte);
    let sector = payload.sectors.iter().position(|s| *s != [0; 4]).map(|n| sector_byte(n, 0));
    if let Some(byte) = header.or(sector) {
        let text = "a NOP carries sectors of a TL flit";
        decoded.violations.push(Violation::at_byte("UAL-SEG-12", byte, "not 0", "0", text));
    }
}
