//! The bytes that originators write: drawn from generators, found again by their position.
//!
//! Modelled: a generator of numbers for each originator, of 8 bytes each. Left out: what they mean.
//!
//! A walk: an originator draws the halves of a write, which travel as their position; its state is marked now and then;
//! whoever asks for the bytes goes on from the mark before the position to the same bytes. A position takes 8 bytes, 256
//! bytes of data 256.

use scalepool_kernel::Rng;
use scalepool_protocols::ualink::half::{HALF_BYTES, Half};
use scalepool_protocols::ualink::halves::{HalfSource, Halves};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Numbers of 8 bytes in a half.
const HALF_NUMBERS: u32 = HALF_BYTES as u32 / 8;
/// Halves from one mark to the next, at least: eight writes of 256 bytes. Half of them are passed over on average where bytes are
/// asked for, which a link without bytes does not do (a choice).
const MARK_EVERY: u32 = 64;

/// Where halves begin that were drawn, in 6 bytes: memories keep one for each region that was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C, packed(2))]
pub struct Drawn {
    /// Originator whose generator has drawn them.
    pub originator: u16,
    /// Halves that it had drawn before. With 2^24 operations of 8 halves and byte enables, 32 bits are enough.
    pub position: u32,
}

/// A generator with its past.
#[derive(Debug)]
pub struct Draws {
    rng: Rng,
    /// Halves that were drawn.
    position: u32,
    log: DrawLog,
}

impl Draws {
    /// Nothing has been drawn; what will be can be found in a log that is empty.
    pub fn new(rng: Rng, log: DrawLog) -> Draws {
        Draws { rng, position: 0, log }
    }

    /// So many halves.
    pub fn halves(&mut self, count: u8) -> Halves {
        if count == 0 {
            return Halves::NONE;
        }
        let position = self.position;
        self.log.marks.mark(position, &self.rng);
        pass(&mut self.rng, count.into());
        self.position += u32::from(count);
        self.log.halves(position, count)
    }

    /// One half, as bytes.
    pub fn half(&mut self) -> Half {
        self.position += 1;
        half(&mut self.rng)
    }
}

/// The next half of a generator.
fn half(rng: &mut Rng) -> Half {
    let mut half = [0; HALF_BYTES];
    // In place of `Rng::fill_bytes`, which may fill a part of a number: a third of the instructions.
    half.as_chunks_mut().0.iter_mut().for_each(|number| *number = rng.next_u64().to_le_bytes());
    half
}

/// Passes over so many halves of a generator.
fn pass(rng: &mut Rng, halves: u32) {
    for _ in 0..HALF_NUMBERS * halves {
        rng.next_u64();
    }
}

/// What an originator has drawn.
#[derive(Debug, Clone)]
pub struct DrawLog {
    marks: Arc<RngMarks>,
    source: Arc<HalfSource>,
}

impl DrawLog {
    /// An originator has drawn nothing.
    pub fn new(originator: u16) -> DrawLog {
        let marks: Arc<RngMarks> = Arc::default();
        let marked = marks.clone();
        let source = HalfSource::new(originator, move |position, count| marked.read(position, count));
        DrawLog { marks, source: Arc::new(source) }
    }

    /// So many halves from a position on.
    fn halves(&self, position: u32, count: u8) -> Halves {
        Halves::drawn(self.source.clone(), position, count)
    }
}

/// States of a generator at some positions, ascending.
#[derive(Debug, Default)]
struct RngMarks(Mutex<Vec<(u32, Rng)>>);

impl RngMarks {
    fn open(&self) -> MutexGuard<'_, Vec<(u32, Rng)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The generator stands at a position: what it draws from here on can be found again.
    fn mark(&self, position: u32, rng: &Rng) {
        let mut marks = self.open();
        if marks.last().is_none_or(|(last, _)| position - last >= MARK_EVERY) {
            // There may be a thousand originators with a few marks each.
            let room = 1 + marks.len() / 8;
            marks.reserve_exact(room);
            marks.push((position, rng.clone()));
        }
    }

    fn read(&self, position: u32, count: usize) -> Vec<Half> {
        let marks = self.open();
        let next = marks.partition_point(|(marked, _)| *marked <= position);
        // The first mark stands at the first half of all.
        let Some((marked, rng)) = next.checked_sub(1).and_then(|at| marks.get(at)) else { return Vec::new() };
        let (mut rng, before) = (rng.clone(), position - marked);
        drop(marks);
        pass(&mut rng, before);
        std::iter::repeat_with(|| half(&mut rng)).take(count).collect()
    }
}

/// What the originators of a fabric have drawn, by their numbers.
#[derive(Debug)]
pub struct DrawLogs(Vec<DrawLog>);

impl DrawLogs {
    /// So many originators, of which none has drawn anything.
    pub fn new(originators: u16) -> DrawLogs {
        DrawLogs((0..originators).map(DrawLog::new).collect())
    }

    /// What one has drawn; `None`: there is no such originator.
    pub fn of(&self, originator: u16) -> Option<&DrawLog> {
        self.0.get(usize::from(originator))
    }

    /// So many halves from a place on.
    pub fn halves(&self, drawn: Drawn, count: u8) -> Option<Halves> {
        Some(self.of(drawn.originator)?.halves(drawn.position, count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_drawn_is_drawn_again_at_its_position() {
        let (mut rng, log) = (Rng::from_seed(7), DrawLog::new(3));
        let mut draws = Draws::new(rng.clone(), log.clone());
        // Byte enables are drawn between data, as bytes.
        let drawn: Vec<_> = (0..200).map(|n| (draws.halves(n % 9), draws.half())).collect();
        for (n, (halves, enables)) in drawn.into_iter().enumerate() {
            let mut next = || {
                let mut bytes = [0; HALF_BYTES];
                rng.fill_bytes(&mut bytes);
                bytes
            };
            let expected: Vec<Half> = (0..n % 9).map(|_| next()).collect();
            assert_eq!((halves.to_vec(), enables), (expected, next()), "draw {n}");
            assert!(halves.is_empty() || halves.drawn_at().is_some_and(|(originator, _)| originator == 3));
        }
        let marks = log.marks.open().len();
        assert!(marks < 20, "{marks} marks of 1,000 halves");
    }
}
