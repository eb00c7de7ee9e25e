//! What a request reads, as it is when the request takes effect.
//!
//! Modelled: beats of 64 bytes, each with its poison. Left out: which request. There may be a thousand of them open at each of
//! a thousand accelerators, so what is the rule takes least: most lines that are read were never written, and take 16
//! bytes whatever they hold.

use super::draws::bytes;
use scalepool_kernel::Rng;
use scalepool_memory::store::{Background, HeldPage, Store};
use scalepool_memory::{LINE_BYTES, LineBytes};

/// Content of memory that nothing has written: each 8 bytes hold their own address, so a wrong line is seen.
pub const BACKGROUND: Background = Background::OwnAddress;

/// What a request reads.
#[derive(Debug, Clone)]
pub struct Read(Source);

#[derive(Debug, Clone)]
enum Source {
    /// The request reads nothing.
    Nothing,
    /// Lines from an address on that nothing had written.
    Unwritten { address: u64, beats: u8 },
    /// Others.
    Kept(Box<Kept>),
}

#[derive(Debug, Clone)]
enum Kept {
    /// Lines of a page that is held, from its line `first` on.
    Page { page: HeldPage, first: u8, beats: u8 },
    /// Lines that were drawn one behind the other, from line `first` on.
    Drawn { from: Rng, first: u8, beats: u8 },
    /// Lines that stand nowhere in this form.
    Lines(Vec<(LineBytes, bool)>),
}

impl Read {
    /// So many lines of a store, whose addresses are given; they follow each other.
    pub fn of(store: &Store, address: impl Fn(u64) -> u64, beats: u64) -> Read {
        let page = store.hold(address(0));
        if beats > 0 && page.read_line(address(beats - 1)).is_some() {
            let first = (address(0) - page.address()) / LINE_BYTES;
            return match page.is_written() {
                true => Read(Source::Kept(Box::new(Kept::Page { page, first: first as u8, beats: beats as u8 }))),
                false => Read(Source::Unwritten { address: address(0), beats: beats as u8 }),
            };
        }
        let line = |n| store.read_line(address(n));
        (0..beats).map(|n| (line(n).data, line(n).poison)).collect::<Vec<_>>().into()
    }

    /// Nothing.
    pub fn nothing() -> Read {
        Read(Source::Nothing)
    }

    /// So many lines from an address on that nothing had written.
    pub fn unwritten(address: u64, beats: u8) -> Read {
        Read(Source::Unwritten { address, beats })
    }

    /// Whether it is just that.
    pub fn is_unwritten(&self, lines_from: u64, count: u8) -> bool {
        matches!(self.0, Source::Unwritten { address, beats } if (address, beats) == (lines_from, count))
    }

    /// So many lines from line `first` on of those that a generator draws next, none of them poisoned.
    pub fn drawn(from: Rng, first: u8, beats: u8) -> Read {
        Read(Source::Kept(Box::new(Kept::Drawn { from, first, beats })))
    }

    /// Beats; 0 for what reads nothing.
    pub fn beats(&self) -> usize {
        match &self.0 {
            Source::Nothing => 0,
            Source::Unwritten { beats, .. } => usize::from(*beats),
            Source::Kept(kept) => match &**kept {
                Kept::Page { beats, .. } | Kept::Drawn { beats, .. } => usize::from(*beats),
                Kept::Lines(lines) => lines.len(),
            },
        }
    }

    /// A beat with its poison; `None`: there are not so many.
    pub fn beat(&self, n: usize) -> Option<(LineBytes, bool)> {
        if n >= self.beats() {
            return None;
        }
        let kept = match &self.0 {
            Source::Nothing => return None,
            Source::Unwritten { address, .. } => {
                return Some((BACKGROUND.line(address + LINE_BYTES * n as u64), false));
            }
            Source::Kept(kept) => &**kept,
        };
        match kept {
            Kept::Page { page, first, .. } => {
                let line = page.read_line(page.address() + LINE_BYTES * (u64::from(*first) + n as u64));
                line.map(|line| (line.data, line.poison))
            }
            Kept::Drawn { from, first, .. } => drawn_lines(from).nth(usize::from(*first) + n).map(|line| (line, false)),
            Kept::Lines(lines) => lines.get(n).copied(),
        }
    }
}

impl Read {
    /// The beats from one on, each with its poison.
    pub fn lines(&self, first: usize) -> impl Iterator<Item = (LineBytes, bool)> + '_ {
        // What is drawn is drawn once for all beats.
        let mut drawn = match &self.0 {
            Source::Kept(kept) => match &**kept {
                Kept::Drawn { from, first: before, .. } => Some(drawn_lines(from).skip(usize::from(*before) + first)),
                _ => None,
            },
            _ => None,
        };
        (first..self.beats()).map_while(move |n| match &mut drawn {
            Some(lines) => lines.next().map(|line| (line, false)),
            None => self.beat(n),
        })
    }
}

impl From<Vec<(LineBytes, bool)>> for Read {
    fn from(lines: Vec<(LineBytes, bool)>) -> Read {
        Read(if lines.is_empty() { Source::Nothing } else { Source::Kept(Box::new(Kept::Lines(lines))) })
    }
}

/// The lines that a generator draws next.
pub fn drawn_lines(from: &Rng) -> impl Iterator<Item = LineBytes> + use<> {
    let mut rng = from.clone();
    std::iter::repeat_with(move || bytes(&mut rng))
}
