//! TL flits and DL messages in the 157 sectors of a DL flit (`ualink` §4).
//!
//! Modelled: alternative sectors, carry-over, the two starts of a segment, zero-filling. A TL flit keeps its order:
//! sector k goes to the next free sector. Left out: which DL message is next, and when a TL flit is there (a
//! [`SegmentSource`] says so).
//!
//! A walk through one segment: a DL message that waits takes the first sector; then comes what is left of the TL flit
//! before; then a TL flit that is there begins (TL Flit\[0\]), or zeros fill the first half; then a second one begins
//! (TL Flit\[1\]), or zeros fill the rest. If the first half is full before anything begins, the first to begin is \[0\].

use super::content::{DlContent, TlContent};
use super::flit::{Payload, SECTOR_BYTES, SECTORS, SEGMENTS, sector_byte, segment_header_byte};
use super::half::{TL_SECTORS, TlFlit};
use super::header::SegmentHeader;
use super::spare::SpareBoxes;
use crate::wire::{Violation, Wire};

/// First sector, first sector of the second half, and end of each segment.
pub const BOUNDS: [(usize, usize, usize); SEGMENTS] =
    [(0, 16, 32), (32, 48, 64), (64, 80, 96), (96, 112, 127), (127, 143, SECTORS)];

/// Which start of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SegmentPlace {
    /// TL Flit\[0\].
    First,
    /// TL Flit\[1\].
    Second,
}

/// Where DL messages and TL flits come from.
pub trait SegmentSource<F = TlFlit> {
    /// The DL message DWord for a segment.
    fn message(&mut self, segment: usize) -> Option<u32>;

    /// The TL flit that can begin at this moment of a segment.
    fn tl_flit(&mut self, segment: usize, place: SegmentPlace) -> Option<F>;
}

/// Where what is packed goes.
trait PayloadSink<F> {
    /// A DL message takes a sector.
    fn word(&mut self, sector: usize, word: u32);

    /// Message indicators of a TL flit.
    fn indicators(flit: &F) -> u8;

    /// `count` sectors of a TL flit, from its sector `first` on, take those from `sector` on.
    fn sectors(&mut self, sector: usize, flit: &F, first: usize, count: usize);

    /// The last sector of a TL flit has gone.
    fn whole(&mut self, flit: F);

    /// The header of a segment that is not 0.
    fn header(&mut self, segment: usize, header: &SegmentHeader);
}

/// The TL flit that is being sent.
#[derive(Debug, Clone)]
struct Sending<F> {
    /// It; `None` when all of it has gone.
    flit: Option<F>,
    /// Its sectors that have not gone.
    left: usize,
}

impl<F> Default for Sending<F> {
    fn default() -> Self {
        Sending { flit: None, left: 0 }
    }
}

impl<F> Sending<F> {
    /// Begins a TL flit behind one that has gone.
    fn begin(&mut self, flit: F) {
        (self.flit, self.left) = (Some(flit), TL_SECTORS);
    }

    /// Hands on as many sectors as fit between two places; the next free one.
    fn put(&mut self, sink: &mut impl PayloadSink<F>, at: usize, end: usize) -> usize {
        let Some(flit) = &self.flit else { return at };
        let count = self.left.min(end - at);
        sink.sectors(at, flit, TL_SECTORS - self.left, count);
        self.left -= count;
        if self.left == 0 {
            self.flit.take().into_iter().for_each(|flit| sink.whole(flit));
        }
        at + count
    }
}

/// Fills a payload; `sending` is the TL flit that an earlier one has begun, then that which a later one goes on with.
fn pack<F, S: PayloadSink<F>>(sending: &mut Sending<F>, source: &mut dyn SegmentSource<F>, sink: &mut S) {
    // By reference: an iterator over arrays by value takes 100 instructions a flit more.
    for (segment, &(first, half, end)) in BOUNDS.iter().enumerate() {
        let mut header = SegmentHeader::default();
        let mut at = first;
        if let Some(word) = source.message(segment) {
            sink.word(at, word);
            header.alt = true;
            at += 1;
        }
        at = sending.put(sink, at, end);
        let full = at >= half;
        for &place in &[SegmentPlace::First, SegmentPlace::Second] {
            if at >= end || sending.left > 0 {
                break;
            }
            let Some(flit) = source.tl_flit(segment, place) else {
                at = at.max(half);
                continue;
            };
            if place == SegmentPlace::First || full && !header.start0 {
                (header.start0, header.message0) = (true, S::indicators(&flit));
            } else {
                (header.start1, header.message1) = (true, S::indicators(&flit));
            }
            sending.begin(flit);
            at = sending.put(sink, at, end);
        }
        if header.alt || header.start0 || header.start1 {
            sink.header(segment, &header);
        }
    }
}

impl PayloadSink<TlFlit> for Payload {
    fn word(&mut self, sector: usize, word: u32) {
        self.sectors[sector] = word.to_le_bytes();
    }

    fn indicators(flit: &TlFlit) -> u8 {
        flit.indicators()
    }

    fn sectors(&mut self, sector: usize, flit: &TlFlit, first: usize, count: usize) {
        let bytes = &flit.halves.as_flattened()[SECTOR_BYTES * first..][..SECTOR_BYTES * count];
        self.sectors[sector..sector + count].as_flattened_mut().copy_from_slice(bytes);
    }

    fn whole(&mut self, _: TlFlit) {}

    fn header(&mut self, segment: usize, header: &SegmentHeader) {
        // Indicators have two bits and everything else has one.
        self.headers[segment] = header.to_bits().map_or(0, |bits| bits as u8);
    }
}

/// Cuts TL flits into DL flits; keeps the rest of one between them.
#[derive(Debug, Clone, Default)]
pub struct Packer {
    sending: Sending<TlFlit>,
}

impl Packer {
    /// Sectors that are left of the TL flit before, 0 to 15.
    pub fn carry(&self) -> usize {
        self.sending.left
    }

    /// The payload of the next payload flit.
    pub fn pack(&mut self, source: &mut dyn SegmentSource) -> Payload {
        let mut payload = Payload::ZERO;
        pack(&mut self.sending, source, &mut payload);
        payload
    }
}

/// What is packed without bytes, and whether any header of a segment is not 0.
#[derive(Debug)]
struct ContentSink<'a> {
    /// `None`: nothing yet, so an empty flit takes no memory.
    content: Option<Box<DlContent>>,
    begins: bool,
    spare: &'a mut SpareBoxes<DlContent>,
}

impl ContentSink<'_> {
    fn content(&mut self) -> &mut DlContent {
        // Spare ones are empty.
        self.content.get_or_insert_with(|| self.spare.take().unwrap_or_default())
    }
}

impl PayloadSink<TlContent> for ContentSink<'_> {
    fn word(&mut self, _: usize, word: u32) {
        self.content().words.push(word);
    }

    fn indicators(_: &TlContent) -> u8 {
        0
    }

    fn sectors(&mut self, _: usize, _: &TlContent, _: usize, _: usize) {}

    fn whole(&mut self, flit: TlContent) {
        self.content().add(flit);
    }

    fn header(&mut self, _: usize, _: &SegmentHeader) {
        self.begins = true;
    }
}

/// The same for flits without bytes.
#[derive(Debug, Clone, Default)]
pub struct ContentPacker {
    sending: Sending<TlContent>,
    spare: SpareBoxes<DlContent>,
}

impl ContentPacker {
    /// Sectors that are left of the TL flit before, 0 to 15.
    pub fn carry(&self) -> usize {
        self.sending.left
    }

    /// What the next payload flit carries, and whether anything begins in it: a message or a TL flit.
    pub fn pack(&mut self, source: &mut dyn SegmentSource<TlContent>) -> (Option<Box<DlContent>>, bool) {
        let mut sink = ContentSink { content: None, begins: false, spare: &mut self.spare };
        pack(&mut self.sending, source, &mut sink);
        (sink.content, sink.begins)
    }

    /// Takes the box of a payload whose TL flits [`DlContent::drain`] has handed on.
    pub fn reuse(&mut self, drained: Box<DlContent>) {
        self.spare.keep(drained);
    }
}

/// A TL flit, as far as it has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// Its bytes and indicators; sectors that are still to come are 0.
    pub flit: TlFlit,
    /// Sectors that have come.
    pub sectors: usize,
    /// Segment in which it began.
    pub segment: usize,
    /// Which start it was.
    pub place: SegmentPlace,
    /// Payload sectors that hold it in the DL flit in which it began: first one and number. It lies in two segments at most,
    /// and a DL message may stand at the start of the second one.
    runs: [(u8, u8); 2],
}

impl Piece {
    fn new(segment: usize, place: SegmentPlace, indicators: u8) -> Piece {
        let mut flit = TlFlit::default();
        flit.set_indicators(indicators);
        Piece { flit, sectors: 0, segment, place, runs: [(0, 0); 2] }
    }

    /// Whether all sectors have come.
    pub const fn is_whole(&self) -> bool {
        self.sectors == TL_SECTORS
    }

    /// Byte of the DL flit in which it began that holds a byte of it; of one that came later, the byte where it begins.
    pub fn flit_byte(&self, byte: usize) -> usize {
        let [(first, count), (second, more)] = self.runs.map(|(at, count)| (usize::from(at), usize::from(count)));
        match byte / SECTOR_BYTES {
            n if n < count => sector_byte(first + n, byte % SECTOR_BYTES),
            n if n < count + more => sector_byte(second + n - count, byte % SECTOR_BYTES),
            _ => sector_byte(first, 0),
        }
    }
}

/// Most TL flits that begin in a payload: two a segment.
pub const MOST_STARTS: usize = 2 * SEGMENTS;

/// What a payload holds.
#[derive(Debug, Clone, Default)]
pub struct Segmented {
    /// DL message DWords with their segment.
    pub messages: Vec<(usize, u32)>,
    /// The TL flit that began in an earlier DL flit.
    pub finished: Option<Piece>,
    /// TL flits that begin here, of which the last one may go on.
    pub started: Vec<Piece>,
    /// What is wrong; places are bytes of the DL flit.
    pub violations: Vec<Violation>,
}

/// Puts TL flits together again.
#[derive(Debug, Clone, Default)]
pub struct Unpacker {
    /// A TL flit that began in an earlier DL flit.
    carried: Option<Piece>,
}

impl Unpacker {
    /// Sectors that are still to come of the last TL flit, 0 to 15.
    pub fn carry(&self) -> usize {
        self.carried.map_or(0, |piece| TL_SECTORS - piece.sectors)
    }

    /// Takes the payload of the next payload flit.
    pub fn read(&mut self, payload: &Payload) -> Segmented {
        let mut out = Segmented::default();
        self.read_into(payload, &mut out);
        out
    }

    /// The same into a place that was used before, whose room is used again.
    pub fn read_into(&mut self, payload: &Payload, out: &mut Segmented) {
        out.messages.clear();
        out.started.clear();
        out.started.reserve_exact(MOST_STARTS);
        out.violations.clear();
        out.finished = None;
        let mut reading = PayloadReading { payload, out, not_zero: None };
        for segment in 0..SEGMENTS {
            reading.segment(segment, &mut self.carried);
        }
        reading.judge_filling();
        self.carried = out.started.last().filter(|piece| !piece.is_whole()).copied();
    }
}

/// One payload while it is read.
struct PayloadReading<'a> {
    payload: &'a Payload,
    out: &'a mut Segmented,
    /// The first sector that is not 0 although it belongs to nothing.
    not_zero: Option<usize>,
}

impl PayloadReading<'_> {
    fn segment(&mut self, segment: usize, carried: &mut Option<Piece>) {
        let (first, half, end) = BOUNDS[segment];
        let header = self.header(segment);
        let mut at = first;
        if header.alt {
            self.out.messages.push((segment, u32::from_le_bytes(self.payload.sectors[at])));
            at += 1;
        }
        if let Some(mut piece) = carried.take() {
            at = fill(self.payload, &mut piece, at, end, false);
            // 15 sectors at most fit into any segment.
            self.out.finished = Some(piece);
        }
        at = self.go_on(at, end);
        let starts = [
            (SegmentPlace::First, header.start0, header.message0),
            (SegmentPlace::Second, header.start1, header.message1),
        ];
        for (place, start, indicators) in starts {
            let byte = segment_header_byte(segment);
            if !start {
                if indicators != 0 {
                    let text = format!("message indicators are set for TL Flit[{}], which does not start", place as u8);
                    self.out.violations.push(Violation::at_byte("UAL-SEG-02", byte, indicators, 0, text));
                }
                if place == SegmentPlace::First && at < half {
                    self.is_filled(at, half);
                    at = half;
                }
            } else if at >= end {
                let text = format!("TL Flit[{}] starts although it has no sector to start in", place as u8);
                self.out.violations.push(Violation::at_byte("UAL-SEG-07", byte, "a start bit", "none", text));
            } else {
                self.out.started.push(Piece::new(segment, place, indicators));
                at = self.go_on(at, end);
            }
        }
        self.is_filled(at, end);
    }

    /// Looks at sectors that belong to nothing.
    fn is_filled(&mut self, at: usize, end: usize) {
        let sectors = &self.payload.sectors[at..end];
        // All bytes at once first: many payloads are half empty.
        if sectors.as_flattened().iter().fold(0, |all, byte| all | byte) != 0 && self.not_zero.is_none() {
            self.not_zero = sectors.iter().position(|sector| *sector != [0; 4]).map(|n| at + n);
        }
    }

    fn header(&mut self, segment: usize) -> SegmentHeader {
        let bits = self.payload.headers[segment].into();
        let mut found = Vec::new();
        SegmentHeader::DEF.check(bits, &mut found);
        if !found.is_empty() {
            self.out.violations.extend(found.into_iter().map(|v| v.in_unit(|_| segment_header_byte(segment))));
        }
        SegmentHeader::from_bits(bits)
    }

    /// Reads on in the TL flit that began last in this payload, if it has sectors to come; the next free sector.
    fn go_on(&mut self, at: usize, end: usize) -> usize {
        match self.out.started.last_mut() {
            Some(piece) if !piece.is_whole() => fill(self.payload, piece, at, end, true),
            _ => at,
        }
    }

    /// Judges what belongs to nothing: it is filled with zeros.
    fn judge_filling(&mut self) {
        if let Some(n) = self.not_zero {
            self.out.violations.push(Violation::at_byte(
                "UAL-SEG-06",
                sector_byte(n, 0),
                format!("{:#010x}", u32::from_le_bytes(self.payload.sectors[n])),
                "0",
                format!("sector {n} is not 0 although it belongs to no TL flit and no message"),
            ));
        }
    }
}

/// Moves sectors into a TL flit; `here` when it began in this payload. The next free sector.
fn fill(payload: &Payload, piece: &mut Piece, at: usize, end: usize, here: bool) -> usize {
    let count = (TL_SECTORS - piece.sectors).min(end - at);
    let bytes = payload.sectors[at..at + count].as_flattened();
    let into = &mut piece.flit.halves.as_flattened_mut()[SECTOR_BYTES * piece.sectors..];
    into[..bytes.len()].copy_from_slice(bytes);
    if here {
        piece.runs[usize::from(piece.sectors > 0)] = (at as u8, count as u8);
    }
    piece.sectors += count;
    at + count
}
