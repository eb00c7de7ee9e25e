//! The bytes behind the base address registers of a link, as writes and reads that pass down show them.
//!
//! A posted write has its effect before every read behind it, and a read that waits for its completion may bring it or not. A move of the
//! base addresses makes all unknown.

use crate::image::{DataImage, ImageMismatch, LINE_BYTES, LineBytes, LineOf};
use std::collections::BTreeMap;

/// A broken rule: its id, the line, what was found, what was expected.
pub(super) type Mismatch = (&'static str, u64, String, String);

/// The image, begun anew with each move.
#[derive(Debug, Default)]
pub(super) struct MemoryImage {
    image: DataImage,
    /// How often the memory below each link has moved.
    moves: BTreeMap<usize, u64>,
    /// Open reads, by the time of their request: how often the memory of their link had moved by then.
    begun: BTreeMap<u64, u64>,
}

/// Address of the line of a byte.
const fn line_of(address: u64) -> u64 {
    address & !(LINE_BYTES as u64 - 1)
}

/// The bytes of a request line by line.
fn by_line(address: u64, data: &[u8], poison: bool, is_enabled: impl Fn(usize) -> bool) -> BTreeMap<u64, LineBytes> {
    let mut lines: BTreeMap<u64, LineBytes> = BTreeMap::new();
    for (n, value) in data.iter().enumerate() {
        let at = address.wrapping_add(n as u64);
        let line = lines.entry(line_of(at)).or_insert(LineBytes { bytes: [0; LINE_BYTES], enables: 0, poison });
        let byte = (at % LINE_BYTES as u64) as usize;
        line.bytes[byte] = *value;
        line.enables |= u64::from(is_enabled(n)) << byte;
    }
    lines
}

impl MemoryImage {
    fn line(link: usize, line: u64) -> LineOf {
        (link as u16, line)
    }

    /// The memory below a link may lie elsewhere, or have changed.
    pub fn moved(&mut self, link: usize) {
        *self.moves.entry(link).or_default() += 1;
        self.image = DataImage::default();
    }

    /// A posted write passes at a time.
    pub fn write(
        &mut self,
        link: usize,
        now: u64,
        address: u64,
        data: &[u8],
        poison: bool,
        is_enabled: impl Fn(usize) -> bool,
    ) {
        for (line, bytes) in by_line(address, data, poison, is_enabled) {
            if bytes.enables != 0 {
                let line = Self::line(link, line);
                self.image.write_begins(line, now, bytes);
                self.image.write_ends(line, now, now);
            }
        }
    }

    /// A read of bytes from an address on passes at a time.
    pub fn read_begins(&mut self, link: usize, now: u64, address: u64, bytes: usize) {
        self.begun.insert(now, self.moves.get(&link).copied().unwrap_or_default());
        for line in Self::lines(address, bytes) {
            self.image.read_begins(Self::line(link, line), now);
        }
    }

    fn lines(address: u64, bytes: usize) -> impl Iterator<Item = u64> {
        let last = line_of(address.saturating_add(bytes as u64 - 1));
        (line_of(address)..=last).step_by(LINE_BYTES)
    }

    /// The last completion of a read that began at a time passes now, with its data and its poison, or `None`: nothing is to be learned.
    pub fn read_ends(
        &mut self,
        link: usize,
        begin: u64,
        now: u64,
        address: u64,
        bytes: usize,
        data: Option<(&[u8], bool)>,
    ) -> Vec<Mismatch> {
        let moves = self.moves.get(&link).copied().unwrap_or_default();
        if self.begun.remove(&begin) != Some(moves) {
            return Vec::new();
        }
        let found = data.map(|(data, poison)| by_line(address, data, poison, |_| true)).unwrap_or_default();
        let mut wrong = Vec::new();
        for line in Self::lines(address, bytes) {
            let of = Self::line(link, line);
            let came = found.get(&line);
            let mismatch = self.image.read_ends(of, begin, now, came);
            let (Some(mismatch), Some(came)) = (mismatch, came) else { continue };
            wrong.push(match mismatch {
                ImageMismatch::Bytes(byte, value, known) => {
                    let looks = self.image.likeness(of, begin, came);
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
