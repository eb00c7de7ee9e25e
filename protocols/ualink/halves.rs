//! Data halves of a transaction, in little room.
//!
//! Modelled: any bytes. Halves whose words of 8 bytes count up by 8 are kept as their first word: memory that nothing has
//! written reads so (each word its own address) wherever a model wants to see reads that went astray, and most data of a run
//! are such. There are hundreds of transactions under way for each accelerator: in a pod of 256 with 500 operations each, that
//! takes 18 kB off the 30 of their data for each accelerator, and most of them need no memory of their own.
//!
//! A walk: a half comes; if its words go on counting there is one half more, else all that came before is written out, and the
//! half behind it.

use super::half::{HALF_BYTES, Half};

/// Bytes of a word.
const WORD_BYTES: u64 = 8;
/// Words of a half.
const HALF_WORDS: u64 = HALF_BYTES as u64 / WORD_BYTES;

/// Data halves, two a beat. What they hold decides about their form, so equal halves are equal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Halves(Form);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Form {
    /// Little-endian words that count up from `first` on.
    Counting { first: u64, count: usize },
    /// Any others.
    Any(Vec<Half>),
}

/// A half whose words count up.
fn counting(first: u64) -> Half {
    let mut half = [0; HALF_BYTES];
    for (n, word) in half.as_chunks_mut().0.iter_mut().enumerate() {
        *word = first.wrapping_add(WORD_BYTES * n as u64).to_le_bytes();
    }
    half
}

/// First word of half `n` of those that count up from `first` on.
fn first_word(first: u64, n: usize) -> u64 {
    first.wrapping_add(WORD_BYTES * HALF_WORDS * n as u64)
}

impl Halves {
    /// None.
    pub const NONE: Halves = Halves(Form::Counting { first: 0, count: 0 });

    /// How many.
    pub fn len(&self) -> usize {
        match &self.0 {
            Form::Counting { count, .. } => *count,
            Form::Any(halves) => halves.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Half `n`.
    pub fn get(&self, n: usize) -> Option<Half> {
        match &self.0 {
            Form::Counting { first, count } => (n < *count).then(|| counting(first_word(*first, n))),
            Form::Any(halves) => halves.get(n).copied(),
        }
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = Half> + '_ {
        (0..self.len()).map_while(|n| self.get(n))
    }

    /// All of them.
    pub fn to_vec(&self) -> Vec<Half> {
        self.iter().collect()
    }

    /// Adds one. If they take memory, it is enough for `room` of them, and no more: they may wait for long.
    pub fn push(&mut self, half: Half, room: usize) {
        if let Form::Counting { first, count } = &mut self.0 {
            let due = match *count {
                0 => half.first_chunk().map_or(0, |word| u64::from_le_bytes(*word)),
                n => first_word(*first, n),
            };
            if half == counting(due) {
                *first = if *count == 0 { due } else { *first };
                *count += 1;
                return;
            }
            let mut halves = Vec::with_capacity(room.max(*count + 1));
            halves.extend((0..*count).map(|n| counting(first_word(*first, n))));
            self.0 = Form::Any(halves);
        }
        if let Form::Any(halves) = &mut self.0 {
            halves.push(half);
        }
    }

    /// Changes them.
    pub fn change(&mut self, change: impl FnOnce(&mut Vec<Half>)) {
        let mut halves = self.to_vec();
        change(&mut halves);
        *self = halves.into();
    }
}

impl From<Vec<Half>> for Halves {
    fn from(all: Vec<Half>) -> Halves {
        let first = all.first().and_then(|half| half.first_chunk()).map_or(0, |word| u64::from_le_bytes(*word));
        if all.iter().enumerate().all(|(n, half)| *half == counting(first_word(first, n))) {
            return Halves(Form::Counting { first, count: all.len() });
        }
        Halves(Form::Any(all))
    }
}

impl FromIterator<Half> for Halves {
    fn from_iter<I: IntoIterator<Item = Half>>(all: I) -> Halves {
        all.into_iter().collect::<Vec<_>>().into()
    }
}
