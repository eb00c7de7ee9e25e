//! Who asks: a set of requesters, one bit each, as the request lines of a piece of hardware.
//!
//! It has room for the 1,024 requesters of the largest switch and stands by value, so no slot allocates. Every operation
//! looks at the words up to the highest requester that was put in and at no others: up to 64 requesters cost one word.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

/// Most requesters of a piece: as many ports as the largest UALink switch has (`ualink` §1).
pub const MAX_REQUESTERS: usize = 1024;

/// Requesters of one word, see [`Requests::word`].
pub const WORD_BITS: usize = u64::BITS as usize;
const WORDS: usize = MAX_REQUESTERS / WORD_BITS;

/// Who asks; requesters are counted from 0 and below [`MAX_REQUESTERS`].
#[derive(Clone, Copy)]
pub struct Requests {
    words: [u64; WORDS],
    /// Words that may hold a bit; those behind are 0.
    used: usize,
}

impl Requests {
    /// Nobody asks.
    pub const NONE: Requests = Requests { words: [0; WORDS], used: 0 };

    /// All of so many requesters, at most [`MAX_REQUESTERS`].
    pub const fn all(requesters: usize) -> Requests {
        let mut set = Requests::NONE;
        let mut left = if requesters < MAX_REQUESTERS { requesters } else { MAX_REQUESTERS };
        while left > 0 {
            let bits = if left < WORD_BITS { left } else { WORD_BITS };
            set.words[set.used] = u64::MAX >> (WORD_BITS - bits);
            set.used += 1;
            left -= bits;
        }
        set
    }

    #[inline]
    fn words(&self) -> &[u64] {
        &self.words[..self.used]
    }

    /// Words that may hold a bit, lowest requesters first.
    #[inline]
    pub fn used_words(&self) -> usize {
        self.used
    }

    /// The requesters of a word, bit n for requester n behind the words before; 0 where there are none.
    #[inline]
    pub fn word(&self, at: usize) -> u64 {
        self.words.get(at).copied().unwrap_or(0)
    }

    /// Exactly these requesters of a word ask.
    #[inline]
    pub fn set_word(&mut self, at: usize, requesters: u64) {
        if let Some(word) = self.words.get_mut(at) {
            *word = requesters;
            if requesters != 0 {
                self.used = self.used.max(at + 1);
            }
        }
    }

    /// A requester asks. One that there cannot be is left out.
    #[inline]
    pub fn insert(&mut self, requester: usize) {
        let at = requester / WORD_BITS;
        if let Some(word) = self.words.get_mut(at) {
            *word |= 1 << (requester % WORD_BITS);
            self.used = self.used.max(at + 1);
        }
    }

    /// A requester does not ask.
    #[inline]
    pub fn remove(&mut self, requester: usize) {
        if let Some(word) = self.words.get_mut(requester / WORD_BITS) {
            *word &= !(1 << (requester % WORD_BITS));
        }
    }

    /// None of `others` asks.
    pub fn remove_all(&mut self, others: &Requests) {
        self.words.iter_mut().zip(others.words()).for_each(|(word, other)| *word &= !other);
    }

    /// Nobody asks any more.
    #[inline]
    pub fn clear(&mut self) {
        // One word is a store, more of them a call.
        match self.used {
            0 | 1 => self.words[0] = 0,
            used => self.words[..used].fill(0),
        }
        self.used = 0;
    }

    /// Whether a requester asks.
    #[inline]
    pub fn contains(&self, requester: usize) -> bool {
        let word = self.words.get(requester / WORD_BITS);
        word.is_some_and(|word| word >> (requester % WORD_BITS) & 1 == 1)
    }

    /// Whether nobody asks.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.words().iter().all(|&word| word == 0)
    }

    /// The lowest requester that asks.
    #[inline]
    pub fn first(&self) -> Option<usize> {
        self.first_from(0)
    }

    /// The lowest requester that asks, at a place or behind it.
    #[inline]
    pub fn first_from(&self, place: usize) -> Option<usize> {
        let mut mask = u64::MAX << (place % WORD_BITS);
        for at in place / WORD_BITS..self.used {
            let word = self.words[at] & mask;
            if word != 0 {
                return Some(at * WORD_BITS + word.trailing_zeros() as usize);
            }
            mask = u64::MAX;
        }
        None
    }

    /// The lowest requester that asks here and in `other`, at a place or behind it.
    #[inline]
    pub fn first_in(&self, other: &Requests, place: usize) -> Option<usize> {
        let mut mask = u64::MAX << (place % WORD_BITS);
        for at in place / WORD_BITS..self.used.min(other.used) {
            let word = self.words[at] & other.words[at] & mask;
            if word != 0 {
                return Some(at * WORD_BITS + word.trailing_zeros() as usize);
            }
            mask = u64::MAX;
        }
        None
    }

    /// The first of so many requesters that asks at a place or behind it, around the end.
    #[inline]
    pub fn first_around(&self, place: usize, requesters: usize) -> Option<usize> {
        // A single word is turned instead of looked at twice.
        if self.used <= 1 && place < WORD_BITS {
            return first_around_word(self.words[0], place, requesters);
        }
        let exists = |requester: &usize| *requester < requesters;
        self.first_from(place).filter(exists).or_else(|| self.first().filter(exists))
    }

    /// All who ask, lowest first.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = usize> {
        members(self.used, |at| self.words[at])
    }

    /// All who ask of so many requesters, lowest first.
    #[inline]
    pub fn below(&self, requesters: usize) -> impl Iterator<Item = usize> {
        self.iter().take_while(move |&requester| requester < requesters)
    }

    /// All who ask here and in `other`, lowest first.
    #[inline]
    pub fn intersection(&self, other: &Requests) -> impl Iterator<Item = usize> {
        members(self.used.min(other.used), |at| self.words[at] & other.words[at])
    }
}

/// The bits of so many words, lowest first.
#[inline]
fn members(used: usize, word_at: impl Fn(usize) -> u64) -> impl Iterator<Item = usize> {
    let (mut at, mut word) = (0, if used == 0 { 0 } else { word_at(0) });
    std::iter::from_fn(move || {
        while word == 0 {
            if at + 1 >= used {
                return None;
            }
            at += 1;
            word = word_at(at);
        }
        let requester = at * WORD_BITS + word.trailing_zeros() as usize;
        word &= word - 1;
        Some(requester)
    })
}

/// Bit i of the number stands for requester i.
impl From<u128> for Requests {
    #[inline]
    fn from(bits: u128) -> Requests {
        let mut set = Requests::from(bits as u64);
        set.words[1] = (bits >> WORD_BITS) as u64;
        set.used += usize::from(set.words[1] != 0);
        set
    }
}

/// Bit i of the number stands for requester i.
impl From<u64> for Requests {
    #[inline]
    fn from(bits: u64) -> Requests {
        let mut set = Requests::NONE;
        (set.words[0], set.used) = (bits, 1);
        set
    }
}

/// The first of so many requesters that asks at a place or behind it, around the end: bit n of the word stands for requester n.
#[inline]
pub(crate) fn first_around_word(word: u64, place: usize, requesters: usize) -> Option<usize> {
    let exist = if requesters < WORD_BITS { !(u64::MAX << requesters) } else { u64::MAX };
    let word = word & exist;
    let behind = if place < WORD_BITS { word & u64::MAX << place } else { 0 };
    let first = if behind == 0 { word } else { behind }.trailing_zeros();
    (word != 0).then_some(first as usize)
}

/// The numbers of the set bits of a word, lowest first.
#[inline]
pub(crate) fn bits_of(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = word.trailing_zeros();
        word &= word.wrapping_sub(1);
        (bit < u64::BITS).then_some(bit as usize)
    })
}

impl FromIterator<usize> for Requests {
    #[inline]
    fn from_iter<T: IntoIterator<Item = usize>>(requesters: T) -> Requests {
        let mut set = Requests::NONE;
        requesters.into_iter().for_each(|requester| set.insert(requester));
        set
    }
}

impl Default for Requests {
    fn default() -> Requests {
        Requests::NONE
    }
}

// How many words were looked at is no part of who asks.

impl PartialEq for Requests {
    fn eq(&self, other: &Requests) -> bool {
        self.words == other.words
    }
}

impl Eq for Requests {}

impl PartialOrd for Requests {
    fn partial_cmp(&self, other: &Requests) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Requests {
    fn cmp(&self, other: &Requests) -> Ordering {
        self.words.cmp(&other.words)
    }
}

impl Hash for Requests {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.words.hash(state);
    }
}

impl fmt::Debug for Requests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}
