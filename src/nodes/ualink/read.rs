//! What a request reads, as it is when the request takes effect.
//!
//! Modelled: beats of 64 bytes, each with its poison. Left out: which request. There may be a thousand of them open at each of
//! a thousand accelerators, so what is the rule takes least: lines that were never written, and regions that one write has
//! filled, take no memory for their bytes.

use scalepool_memory::store::{Background, Store};
use scalepool_memory::{LINE_BYTES, LineBytes};
use scalepool_protocols::ualink::half::Half;
use scalepool_protocols::ualink::halves::Halves;

/// Content of memory that nothing has written: each 8 bytes hold their own address, so a wrong line is seen.
pub const BACKGROUND: Background = Background::OwnAddress;

/// What a request reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Read {
    /// Its data, two halves a beat.
    pub data: Halves,
    /// Bit n: beat n is poisoned.
    pub poisoned: u8,
}

impl Read {
    /// So many lines of a store, whose addresses are given; they follow each other.
    pub fn of(store: &Store, address: impl Fn(u64) -> u64, beats: u64) -> Read {
        let first = address(0);
        let is_run = beats > 0 && address(beats - 1) == first + LINE_BYTES * (beats - 1);
        if is_run && !store.is_written(first, beats) {
            return Read::unwritten(first, beats as u8);
        }
        let line = |n| store.read_line(address(n));
        (0..beats).map(|n| (line(n).data, line(n).poison)).collect::<Vec<_>>().into()
    }

    /// Nothing.
    pub fn nothing() -> Read {
        Halves::NONE.into()
    }

    /// So many lines from an address on that nothing had written.
    pub fn unwritten(address: u64, beats: u8) -> Read {
        Halves::counting(address, 2 * beats).into()
    }

    /// Whether it is just that.
    pub fn is_unwritten(&self, address: u64, beats: u8) -> bool {
        self.poisoned == 0 && self.data.first_word() == Some(address) && self.beats() == beats
    }

    /// Beats; 0 for what reads nothing.
    pub fn beats(&self) -> u8 {
        // A request reads 256 bytes at most.
        (self.data.len() / 2) as u8
    }

    /// So many beats from one on.
    pub fn part(&self, first: u8, beats: u8) -> Read {
        let poisoned = (u16::from(self.poisoned) >> first & ((1 << beats) - 1)) as u8;
        Read { data: self.data.part(2 * first, 2 * beats), poisoned }
    }

    /// The beats from one on, each with its poison.
    pub fn lines(&self, first: usize) -> impl Iterator<Item = (LineBytes, bool)> + '_ {
        lines_of(&self.data).enumerate().skip(first).map(|(n, line)| (line, self.poisoned >> n & 1 == 1))
    }
}

impl From<Halves> for Read {
    /// Data of which nothing is poisoned.
    fn from(data: Halves) -> Read {
        Read { data, poisoned: 0 }
    }
}

impl From<Vec<(LineBytes, bool)>> for Read {
    fn from(lines: Vec<(LineBytes, bool)>) -> Read {
        let poisoned = lines.iter().enumerate().fold(0, |all, (n, (_, poison))| all | u8::from(*poison) << n);
        let halves = |(line, _): &(LineBytes, bool)| -> [Half; 2] {
            let (halves, _) = line.as_chunks();
            [halves[0], halves[1]]
        };
        Read { data: lines.iter().flat_map(halves).collect(), poisoned }
    }
}

/// Data of so many whole beats, as lines.
pub fn lines_of(data: &Halves) -> impl Iterator<Item = LineBytes> + use<> {
    let halves = data.to_vec();
    (0..halves.len() / 2).map(move |n| {
        let mut line = [0; LINE_BYTES as usize];
        line.as_chunks_mut().0.copy_from_slice(&halves[2 * n..2 * n + 2]);
        line
    })
}
