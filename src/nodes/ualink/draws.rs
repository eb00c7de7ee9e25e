//! The bytes that originators write: drawn from generators, found again by their position.
//!
//! Modelled: a generator of numbers for each originator, of 8 bytes each. Left out: what they mean.
//!
//! A walk: an originator draws the bytes of a write and says at which position; its state is marked now and then; whoever
//! has kept the position goes on from the mark before it to the same bytes. A position takes 8 bytes, a state 32.

use scalepool_kernel::Rng;
use scalepool_protocols::ualink::half::{HALF_BYTES, Half};
use scalepool_protocols::ualink::halves::Halves;

/// Bytes of a number.
const NUMBER_BYTES: usize = 8;
/// Numbers from one mark to the next, at least: four writes of 256 bytes. To pass over half of them takes 500 instructions.
const MARK_EVERY: u32 = 128;

/// Where bytes begin that were drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drawn {
    /// Originator whose generator has drawn them.
    pub originator: u16,
    /// Numbers that it had drawn before.
    pub position: u32,
}

/// A generator that counts what it draws.
#[derive(Debug, Clone)]
pub struct Draws {
    rng: Rng,
    position: u64,
}

impl Draws {
    /// Nothing has been drawn.
    pub fn new(rng: Rng) -> Draws {
        Draws { rng, position: 0 }
    }

    /// So many halves.
    pub fn halves(&mut self, count: usize) -> Halves {
        let mut halves = Halves::NONE;
        (0..count).for_each(|_| halves.push(self.half(), count));
        halves
    }

    /// One half.
    pub fn half(&mut self) -> Half {
        self.position += (HALF_BYTES / NUMBER_BYTES) as u64;
        bytes(&mut self.rng)
    }
}

/// The next bytes of a generator, a whole number of numbers.
pub fn bytes<const N: usize>(rng: &mut Rng) -> [u8; N] {
    let mut bytes = [0; N];
    // In place of `Rng::fill_bytes`, which may fill a part of a number: a third of the instructions.
    bytes.as_chunks_mut().0.iter_mut().for_each(|number| *number = rng.next_u64().to_le_bytes());
    bytes
}

/// States of a generator at some positions, ascending.
#[derive(Debug, Default)]
pub struct Marks(Vec<(u32, Rng)>);

impl Marks {
    /// Where a generator stands, and what it draws from here on can be found again; `None`: it is too far on for that.
    pub fn mark(&mut self, draws: &Draws) -> Option<u32> {
        let position = u32::try_from(draws.position).ok()?;
        if self.0.last().is_none_or(|(last, _)| position - last >= MARK_EVERY) {
            // There may be a thousand originators with a few marks each.
            self.0.reserve_exact(1 + self.0.len() / 8);
            self.0.push((position, draws.rng.clone()));
        }
        Some(position)
    }

    /// The generator as it was at a position that was given out.
    pub fn at(&self, position: u32) -> Option<Rng> {
        let next = self.0.partition_point(|(marked, _)| *marked <= position);
        let (marked, rng) = self.0.get(next.checked_sub(1)?)?;
        let mut rng = rng.clone();
        for _ in *marked..position {
            rng.next_u64();
        }
        Some(rng)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_drawn_is_drawn_again_at_its_position() {
        let mut draws = Draws::new(Rng::from_seed(7));
        let mut marks = Marks::default();
        let drawn: Vec<_> = (0..200).map(|n| (marks.mark(&draws).expect("few numbers"), draws.halves(n % 9))).collect();
        for (position, halves) in drawn {
            let mut rng = marks.at(position).expect("it was given out");
            assert!(halves.iter().all(|half| half == bytes(&mut rng)), "position {position}");
        }
        assert!(marks.0.len() < 30, "{} marks of 3,200 numbers", marks.0.len());
    }
}
