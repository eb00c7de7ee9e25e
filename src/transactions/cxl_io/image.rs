//! The bytes behind the base address registers of a link, as writes and reads that pass down show them.
//!
//! A posted write has its effect before every read behind it, and a read that waits for its completion may bring it or not. A move of the
//! base addresses, or a request that may leave anything, makes all of its link unknown, from the request to its completion.

use super::changes::Changes;
use super::path::Path;
use crate::image::{DataImage, EnabledBytes, ImageMismatch, LINE_BYTES, LineOf};
use scalepool_ordered::OrderedMap;

/// A broken rule: its id, the line, what was found, what was expected.
pub(super) type RuleMismatch = (&'static str, u64, String, String);

/// The image, begun anew with each move.
#[derive(Debug, Default)]
pub(super) struct MemoryImage {
    images: OrderedMap<Path, DataImage>,
    /// Moves of the memory below each link.
    moves: Changes<usize>,
    /// Open reads, by the time of their request: the moves of their link by then.
    begun: OrderedMap<u64, Option<u64>>,
}

/// Address of the line of a byte.
pub(super) const fn line_of(address: u64) -> u64 {
    address & !(LINE_BYTES as u64 - 1)
}

/// The bytes of a request line by line.
fn by_line(
    address: u64,
    data: &[u8],
    poison: bool,
    is_enabled: impl Fn(usize) -> bool,
) -> OrderedMap<u64, EnabledBytes> {
    let mut lines: OrderedMap<u64, EnabledBytes> = OrderedMap::new();
    for (n, value) in data.iter().enumerate() {
        let at = address.wrapping_add(n as u64);
        let line = lines.entry(line_of(at)).or_insert(EnabledBytes { bytes: [0; LINE_BYTES], enables: 0, poison });
        let byte = (at % LINE_BYTES as u64) as usize;
        line.bytes[byte] = *value;
        line.enables |= u64::from(is_enabled(n)) << byte;
    }
    lines
}

/// The line in the image of its path.
const fn in_image(line: u64) -> LineOf {
    (0, line)
}

impl MemoryImage {
    /// A request passes behind which the memory below a link may lie elsewhere, or have changed.
    pub fn move_begins(&mut self, link: usize) {
        self.moves.begin(link);
        self.images.retain(|path, _| path.link != link);
    }

    /// The completion of such a request passes.
    pub fn move_ends(&mut self, link: usize) {
        self.moves.end(link);
        self.images.retain(|path, _| path.link != link);
    }

    /// A posted write passes at a time.
    pub fn write(
        &mut self,
        path: Path,
        now: u64,
        address: u64,
        data: &[u8],
        poison: bool,
        is_enabled: impl Fn(usize) -> bool,
    ) {
        let image = self.images.entry(path).or_default();
        for (line, bytes) in by_line(address, data, poison, is_enabled) {
            if bytes.enables != 0 {
                image.write_begins(in_image(line), now, bytes);
                image.write_ends(in_image(line), now, now);
            }
        }
    }

    /// A write of bytes from an address on passes of which nothing is known, not even when it is done.
    pub fn give_up(&mut self, path: Path, address: u64, bytes: usize) {
        let image = self.images.entry(path).or_default();
        for line in Self::lines(address, bytes.max(1)) {
            image.give_up(in_image(line));
        }
    }

    /// A read of bytes from an address on passes at a time.
    pub fn read_begins(&mut self, path: Path, now: u64, address: u64, bytes: usize) {
        self.begun.insert(now, self.moves.now(path.link));
        let image = self.images.entry(path).or_default();
        for line in Self::lines(address, bytes) {
            image.read_begins(in_image(line), now);
        }
    }

    fn lines(address: u64, bytes: usize) -> impl Iterator<Item = u64> {
        let last = line_of(address.saturating_add(bytes as u64 - 1));
        (line_of(address)..=last).step_by(LINE_BYTES)
    }

    /// The last completion of a read that began at a time passes now, with its data, of which bytes are enabled, and its poison, or
    /// `None`: nothing is to be learned.
    pub fn read_ends(
        &mut self,
        path: Path,
        begin: u64,
        now: u64,
        (address, bytes): (u64, usize),
        data: Option<(&[u8], bool)>,
        is_enabled: impl Fn(usize) -> bool,
    ) -> Vec<RuleMismatch> {
        let is_known = self.begun.remove(&begin).is_some_and(|then| self.moves.none_since(path.link, then));
        let data = data.filter(|_| is_known);
        let found = data.map(|(data, poison)| by_line(address, data, poison, is_enabled)).unwrap_or_default();
        let image = self.images.entry(path).or_default();
        let mut wrong = Vec::new();
        for line in Self::lines(address, bytes) {
            let came = found.get(&line);
            let mismatch = image.read_ends(in_image(line), begin, now, came);
            let (Some(mismatch), Some(came)) = (mismatch, came) else { continue };
            wrong.push(match mismatch {
                ImageMismatch::Bytes(byte, value, known) => {
                    let looks = image.likeness(in_image(line), begin, came);
                    let looks = looks.map(|likeness| format!(" ({likeness})")).unwrap_or_default();
                    let known: Vec<String> = known.iter().map(|value| format!("{value:#04x}")).collect();
                    ("TXN-DAT-01", line, format!("{value:#04x} in byte {byte}{looks}"), known.join(" or "))
                }
                ImageMismatch::PoisonLost(byte) => {
                    ("TXN-DAT-02", line, format!("byte {byte} without poison"), "poison".into())
                }
            });
        }
        wrong
    }
}
