//! The image of a memory: for every byte, the values that a read may bring.
//!
//! Modelled: bytes as writes and reads show them, unknown until one of them does; byte enables; poison. A write has its effect
//! somewhere between its passing and that of its completion, a read takes its bytes somewhere between its request and its data
//! (`coherence` §3.2: a write is visible only after its Cmp). So a read may bring the bytes of every write that may be the last one
//! before it. Left out: writers that do not pass here.
//!
//! Poison of a read alone is never wrong, for memory may fail. The bytes of a poisoned write mean nothing, but a read without
//! poison may not bring them.

use scalepool_ordered::OrderedMap;
use std::fmt;

/// Bytes of a line.
pub(crate) const LINE_BYTES: usize = 64;

/// Writes of one line that are remembered, behind which its bytes are unknown: a write without an answer would keep all that
/// follow. Basis: model.
const MOST_WRITES: usize = 64;

/// A line of a device: its LD-ID or its number, and the address of the line there.
pub(crate) type LineOf = (u16, u64);

/// Bytes of a line that travel: those that are enabled, and whether they are poisoned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EnabledBytes {
    pub bytes: [u8; LINE_BYTES],
    /// Bit n for byte n.
    pub enables: u64,
    pub poison: bool,
}

/// A write. Its times count messages.
#[derive(Debug, Clone)]
struct TimedWrite {
    begin: u64,
    end: Option<u64>,
    data: EnabledBytes,
}

impl TimedWrite {
    fn has(&self, byte: usize) -> bool {
        self.data.enables >> byte & 1 == 1
    }

    /// It is certainly done before a time.
    fn is_before(&self, time: u64) -> bool {
        self.end.is_some_and(|end| end < time)
    }
}

/// A byte that is settled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Byte {
    #[default]
    Unknown,
    Is(u8),
    Poisoned,
}

/// A line.
#[derive(Debug, Clone)]
struct ImageLine {
    /// What was settled before the newest writes that are.
    before: [Byte; LINE_BYTES],
    /// The newest write, as it passed.
    newest: Option<EnabledBytes>,
    /// What the writes below have been made over.
    settled: [Byte; LINE_BYTES],
    /// Oldest first.
    writes: Vec<TimedWrite>,
    /// When the open reads began.
    readers: Vec<u64>,
    /// When writes were dropped that reads from before may still bring.
    dropped: u64,
    /// Somebody writes it of whom nothing is known: nothing is said of it.
    given_up: bool,
}

impl Default for ImageLine {
    fn default() -> ImageLine {
        ImageLine {
            before: [Byte::Unknown; LINE_BYTES],
            newest: None,
            settled: [Byte::Unknown; LINE_BYTES],
            writes: Vec::new(),
            readers: Vec::new(),
            dropped: 0,
            given_up: false,
        }
    }
}

/// A read that brings what nothing explains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ImageMismatch {
    /// First byte with another value: its place, the value, and those that it may have.
    Bytes(usize, u8, Vec<u8>),
    /// Number of the first byte that was written with poison and is read without it.
    PoisonLost(usize),
}

/// What bytes that nothing explains look like: the mistake that most likely made them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Likeness {
    /// The right chunks of 16 bytes in this order.
    Chunks([usize; CHUNKS]),
    /// The line before its newest write.
    Older,
    /// The newest write without its byte enables.
    WithoutEnables,
}

const CHUNKS: usize = 4;
const CHUNK_BYTES: usize = LINE_BYTES / CHUNKS;

impl fmt::Display for Likeness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Likeness::Chunks([a, b, c, d]) => {
                write!(f, "the right chunks of 16 B come in the order {a}, {b}, {c}, {d}")
            }
            Likeness::Older => write!(f, "the line is as it was before the newest write"),
            Likeness::WithoutEnables => write!(f, "the newest write has changed bytes that it does not enable"),
        }
    }
}

/// The image.
#[derive(Debug, Clone, Default)]
pub(crate) struct DataImage {
    lines: OrderedMap<LineOf, ImageLine>,
}

impl ImageLine {
    /// Values that a byte may have in a read that began at a time.
    fn candidates(&self, byte: usize, begin: u64) -> impl Iterator<Item = Byte> {
        let of_byte = move || self.writes.iter().filter(move |write| write.has(byte));
        let settled = (!of_byte().any(|write| write.is_before(begin))).then_some(self.settled[byte]);
        let last = of_byte().filter(move |write| {
            // No other one that began behind its end is done, too.
            !write.end.is_some_and(|end| of_byte().any(|other| other.begin > end && other.is_before(begin)))
        });
        settled.into_iter().chain(last.map(move |write| match write.data.poison {
            true => Byte::Poisoned,
            false => Byte::Is(write.data.bytes[byte]),
        }))
    }

    /// Forgets what no read can bring any more.
    fn settle(&mut self, now: u64) {
        let oldest = self.readers.iter().copied().min().unwrap_or(u64::MAX);
        for n in 0..self.writes.len() {
            let Some(end) = self.writes[n].end else { continue };
            let over = self.writes.iter().filter(|other| other.begin > end && other.is_before(oldest));
            let over = over.fold(0, |bytes, other| bytes | other.data.enables);
            self.writes[n].data.enables &= !over;
        }
        self.writes.retain(|write| write.data.enables != 0);
        if self.writes.len() > MOST_WRITES {
            for write in &self.writes {
                (0..LINE_BYTES).filter(|&byte| write.has(byte)).for_each(|byte| self.settled[byte] = Byte::Unknown);
            }
            self.writes.retain(|write| write.end.is_none());
            self.dropped = now;
        }
        if self.readers.is_empty() && self.writes.iter().all(|write| write.end.is_some()) {
            if !self.writes.is_empty() {
                self.before = self.settled;
            }
            // Of writes that met, either may have been the last one.
            self.settled = std::array::from_fn(|byte| {
                let mut last = self.candidates(byte, u64::MAX);
                let first = last.next().unwrap_or_default();
                if last.all(|other| other == first) { first } else { Byte::Unknown }
            });
            self.writes.clear();
        }
    }

    fn is_unknown(&self) -> bool {
        !self.given_up
            && self.readers.is_empty()
            && self.writes.is_empty()
            && self.settled.iter().all(|byte| *byte == Byte::Unknown)
    }

    /// Whether a read that began at a time brings a value that is known for this byte.
    fn has(&self, byte: usize, begin: u64, value: u8) -> bool {
        self.candidates(byte, begin).any(|known| known == Byte::Is(value))
    }

    /// What bytes look like that a read should not have brought.
    fn likeness(&self, begin: u64, data: &EnabledBytes) -> Option<Likeness> {
        let found = &data.bytes;
        let differs = |byte: &usize| data.enables >> byte & 1 == 1 && !self.has(*byte, begin, found[*byte]);
        let is_older = |byte: usize| self.before[byte] == Byte::Is(found[byte]);
        if (0..LINE_BYTES).filter(differs).all(is_older) {
            return Some(Likeness::Older);
        }
        let is_not_enabled =
            |newest: &EnabledBytes, byte: usize| newest.enables >> byte & 1 == 0 && newest.bytes[byte] == found[byte];
        if self.newest.is_some_and(|newest| (0..LINE_BYTES).filter(differs).all(|byte| is_not_enabled(&newest, byte))) {
            return Some(Likeness::WithoutEnables);
        }
        if data.enables != u64::MAX {
            return None;
        }
        // Each chunk that comes, by the first one that it may be and that none before it is.
        let is_chunk = |at: usize, chunk: usize| {
            (0..CHUNK_BYTES).all(|n| self.has(CHUNK_BYTES * chunk + n, begin, found[CHUNK_BYTES * at + n]))
        };
        let mut order: Vec<usize> = Vec::new();
        for at in 0..CHUNKS {
            order.push((0..CHUNKS).find(|chunk| !order.contains(chunk) && is_chunk(at, *chunk))?);
        }
        order.try_into().ok().map(Likeness::Chunks)
    }

    /// Compares the bytes of a read with what they may be, and learns those that are unknown.
    fn compare(&mut self, begin: u64, data: &EnabledBytes) -> Option<ImageMismatch> {
        let mut learned = Vec::new();
        for byte in (0..LINE_BYTES).filter(|byte| data.enables >> byte & 1 == 1) {
            let found = data.bytes[byte];
            let candidates: Vec<Byte> = self.candidates(byte, begin).collect();
            if candidates == [Byte::Unknown] && begin > self.dropped {
                learned.push(byte);
            }
            if candidates.iter().any(|value| [Byte::Unknown, Byte::Is(found)].contains(value)) {
                continue;
            }
            if candidates.contains(&Byte::Poisoned) {
                return Some(ImageMismatch::PoisonLost(byte));
            }
            let known = |value: &Byte| if let Byte::Is(value) = value { Some(*value) } else { None };
            return Some(ImageMismatch::Bytes(byte, found, candidates.iter().filter_map(known).collect()));
        }
        learned.into_iter().for_each(|byte| self.settled[byte] = Byte::Is(data.bytes[byte]));
        None
    }
}

impl DataImage {
    fn line(&mut self, line: LineOf) -> &mut ImageLine {
        self.lines.entry(line).or_default()
    }

    /// A line has changed: settles it, and forgets it if nothing is known of it.
    fn changed(&mut self, line: LineOf, now: u64) {
        let Some(known) = self.lines.get_mut(&line) else { return };
        known.settle(now);
        if known.is_unknown() {
            self.lines.remove(&line);
        }
    }

    /// A request to read the line passes at a time.
    pub fn read_begins(&mut self, line: LineOf, begin: u64) {
        self.line(line).readers.push(begin);
    }

    /// The data of the read that began at a time passes now, or `None`: nothing is to be learned of it.
    pub fn read_ends(
        &mut self,
        line: LineOf,
        begin: u64,
        now: u64,
        data: Option<&EnabledBytes>,
    ) -> Option<ImageMismatch> {
        let known = self.line(line);
        if let Some(reader) = known.readers.iter().position(|reader| *reader == begin) {
            known.readers.remove(reader);
        }
        let mismatch = data.filter(|data| !data.poison && !known.given_up).and_then(|data| known.compare(begin, data));
        self.changed(line, now);
        mismatch
    }

    /// What bytes look like that differ from those of the line, if it looks like anything.
    pub fn likeness(&self, line: LineOf, begin: u64, data: &EnabledBytes) -> Option<Likeness> {
        self.lines.get(&line).and_then(|known| known.likeness(begin, data))
    }

    /// Whether bytes are those of a line that is known, as a read that began at a time brings it.
    pub fn is_line(&self, line: LineOf, begin: u64, data: &EnabledBytes) -> bool {
        let mut wanted = (0..LINE_BYTES).filter(|byte| data.enables >> byte & 1 == 1);
        let known = self.lines.get(&line);
        known.is_some_and(|known| wanted.all(|byte| known.has(byte, begin, data.bytes[byte])))
    }

    /// A write passes of which nothing is known, not even when it is done.
    pub fn give_up(&mut self, line: LineOf) {
        self.line(line).given_up = true;
    }

    /// A write passes at a time.
    pub fn write_begins(&mut self, line: LineOf, begin: u64, data: EnabledBytes) {
        let known = self.line(line);
        known.writes.push(TimedWrite { begin, end: None, data });
        known.newest = Some(data);
        self.changed(line, begin);
    }

    /// The completion of the write that began at a time passes now.
    pub fn write_ends(&mut self, line: LineOf, begin: u64, now: u64) {
        if let Some(write) = self.line(line).writes.iter_mut().find(|write| write.begin == begin) {
            write.end = Some(now);
        }
        self.changed(line, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: LineOf = (0, 0x40);

    fn bytes(value: u8) -> EnabledBytes {
        EnabledBytes { bytes: [value; LINE_BYTES], enables: u64::MAX, poison: false }
    }

    /// A whole write at a time, done at the next one.
    fn write(image: &mut DataImage, begin: u64, data: EnabledBytes) {
        image.write_begins(LINE, begin, data);
        image.write_ends(LINE, begin, begin + 1);
    }

    fn read(image: &mut DataImage, begin: u64, data: EnabledBytes) -> Option<ImageMismatch> {
        image.read_begins(LINE, begin);
        image.read_ends(LINE, begin, begin + 1, Some(&data))
    }

    #[test]
    fn bytes_are_unknown_until_they_are_written_or_read() {
        let mut image = DataImage::default();
        assert_eq!(read(&mut image, 1, bytes(7)), None);
        assert_eq!(read(&mut image, 3, bytes(8)), Some(ImageMismatch::Bytes(0, 8, vec![7])));
        write(&mut image, 5, EnabledBytes { enables: 0xf0, ..bytes(9) });
        let mut both = bytes(7);
        both.bytes[4..8].fill(9);
        assert_eq!(read(&mut image, 7, both), None);
        assert_eq!(read(&mut image, 9, bytes(7)), Some(ImageMismatch::Bytes(4, 7, vec![9])));
    }

    #[test]
    fn a_read_beside_a_write_may_bring_either_and_one_behind_it_the_new_bytes() {
        for value in [1, 2, 3] {
            let mut image = DataImage::default();
            write(&mut image, 1, bytes(1));
            image.read_begins(LINE, 3);
            write(&mut image, 4, bytes(2));
            let found = image.read_ends(LINE, 3, 6, Some(&bytes(value)));
            assert_eq!(found.is_some(), value == 3);
            assert_eq!(read(&mut image, 7, bytes(2)), None);
            assert!(read(&mut image, 9, bytes(1)).is_some());
        }
    }

    #[test]
    fn writes_that_meet_may_be_done_in_either_order() {
        for value in [1, 2] {
            let mut image = DataImage::default();
            image.write_begins(LINE, 1, bytes(1));
            image.write_begins(LINE, 2, bytes(2));
            image.write_ends(LINE, 1, 3);
            image.write_ends(LINE, 2, 4);
            assert_eq!(read(&mut image, 5, bytes(value)), None);
            assert!(read(&mut image, 7, bytes(3 - value)).is_some());
        }
    }

    #[test]
    fn poison_of_a_write_is_kept_until_good_bytes_come() {
        let mut image = DataImage::default();
        write(&mut image, 1, EnabledBytes { poison: true, ..bytes(1) });
        assert_eq!(read(&mut image, 3, EnabledBytes { poison: true, ..bytes(0) }), None);
        assert_eq!(read(&mut image, 5, bytes(1)), Some(ImageMismatch::PoisonLost(0)));
        write(&mut image, 7, EnabledBytes { enables: 1, ..bytes(1) });
        assert_eq!(read(&mut image, 9, bytes(1)), Some(ImageMismatch::PoisonLost(1)));
        write(&mut image, 11, bytes(1));
        assert_eq!(read(&mut image, 13, bytes(1)), None);
    }

    #[test]
    fn wrong_bytes_tell_what_they_look_like() {
        let mut image = DataImage::default();
        let line = |first: u8| EnabledBytes { bytes: std::array::from_fn(|n| first + n as u8), ..bytes(0) };
        write(&mut image, 1, line(0));
        write(&mut image, 3, line(100));
        assert_eq!(image.likeness(LINE, 5, &line(0)), Some(Likeness::Older));
        let mut swapped = line(100);
        (0..16).for_each(|n| swapped.bytes.swap(16 + n, 32 + n));
        assert_eq!(image.likeness(LINE, 5, &swapped), Some(Likeness::Chunks([0, 2, 1, 3])));
        assert_eq!(image.likeness(LINE, 5, &bytes(7)), None);
        write(&mut image, 5, EnabledBytes { enables: 0xff, ..bytes(7) });
        assert_eq!(image.likeness(LINE, 7, &bytes(7)), Some(Likeness::WithoutEnables));
        let right = EnabledBytes { bytes: std::array::from_fn(|n| if n < 8 { 7 } else { 100 + n as u8 }), ..bytes(0) };
        assert!(image.is_line(LINE, 7, &right));
        assert!(!image.is_line(LINE, 7, &bytes(7)) && !image.is_line((0, 0x80), 7, &bytes(0)));
        // Bytes that nobody asked for are like anything.
        assert!(image.is_line(LINE, 7, &EnabledBytes { enables: 0xff, ..bytes(7) }));
        assert_eq!(image.likeness(LINE, 7, &EnabledBytes { enables: 0xff, ..line(100) }), Some(Likeness::Older));
        // Nothing is like a line of which nothing is known.
        assert_eq!(image.likeness((0, 0x80), 7, &bytes(0)), None);
    }

    /// A line that is read and written all the time keeps no more than what its open reads may bring.
    #[test]
    fn a_busy_line_stays_short_and_known() {
        let mut image = DataImage::default();
        image.read_begins(LINE, 0);
        for n in 1..1000_u64 {
            let at = 10 * n;
            image.write_begins(LINE, at, bytes(n as u8));
            image.read_begins(LINE, at + 1);
            // The read of the round before, beside this write.
            let before = if n == 1 { 0 } else { at - 9 };
            assert_eq!(image.read_ends(LINE, before, at + 2, Some(&bytes((n - 1) as u8))), None, "{n}");
            image.write_ends(LINE, at, at + 3);
            assert!(image.line(LINE).writes.len() <= 3, "{n}");
        }
        image.read_begins(LINE, 20_000);
        let stale = image.read_ends(LINE, 20_000, 20_001, Some(&bytes(0)));
        assert_eq!(stale, Some(ImageMismatch::Bytes(0, 0, vec![231])));
    }

    /// Neither a read nor writes without an end make it grow for ever, and nothing wrong is said.
    #[test]
    fn what_never_ends_is_limited() {
        let mut image = DataImage::default();
        image.read_begins(LINE, 1);
        (0..1000).for_each(|n| write(&mut image, 10 + 2 * n, bytes(n as u8)));
        assert!(image.line(LINE).writes.len() <= MOST_WRITES);
        assert_eq!(image.read_ends(LINE, 1, 5000, Some(&bytes(0xee))), None);
        assert_eq!(read(&mut image, 6000, bytes(231)), None);
        assert!(read(&mut image, 6002, bytes(0xee)).is_some());
    }
}
