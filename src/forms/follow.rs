//! A stream of which some units go again: where it stood before each of them.
//!
//! Modelled: numbers that run around, the stream before every unit that may go again, and the one before the unit that is
//! next. Left out: how a protocol tells the number of a unit (its module `follow`).
//!
//! A walk through a replay: each unit that is read leaves the stream before it here. A unit with an older number puts that
//! stream back, so it is read as it was meant; the units behind it follow by themselves.

use std::ops::RangeInclusive;

/// Streams by the number of the unit that comes next.
#[derive(Debug, Clone)]
pub struct Kept<S> {
    numbers: RangeInclusive<usize>,
    /// Units that may go again.
    window: usize,
    before: Vec<Option<S>>,
    next: usize,
}

impl<S: Clone> Kept<S> {
    /// Nothing has been read; the first unit has the first number.
    pub fn new(numbers: RangeInclusive<usize>, window: usize) -> Kept<S> {
        let (next, before) = (*numbers.start(), vec![None; numbers.end() + 1]);
        Kept { numbers, window, before, next }
    }

    /// Number of the unit that is next.
    pub fn next(&self) -> usize {
        self.next
    }

    /// The number so many steps behind another one.
    pub fn plus(&self, number: usize, steps: usize) -> usize {
        let (first, count) = (*self.numbers.start(), self.numbers.end() - self.numbers.start() + 1);
        first + (number - first + steps) % count
    }

    /// The next unit has been read by a stream that stood so before it.
    pub fn taken(&mut self, before: S) {
        self.before[self.next] = Some(before);
        let count = self.numbers.end() - self.numbers.start() + 1;
        if self.window < count {
            let old = self.plus(self.next, count - self.window);
            self.before[old] = None;
        }
        self.next = self.plus(self.next, 1);
    }

    /// The unit with this number comes next: puts the stream where it stood before it. `false`: that is not known, and the
    /// stream stays where it is.
    pub fn goes_on(&mut self, number: usize, stream: &mut S) -> bool {
        if number == self.next {
            return true;
        }
        let Some(before) = self.before.get(number).cloned().flatten() else { return false };
        self.before[self.next] = Some(std::mem::replace(stream, before));
        self.next = number;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_goes_back_and_forth_within_the_window() {
        let (mut kept, mut stream) = (Kept::new(1..=7, 3), 0);
        for n in 1..=20 {
            assert_eq!(kept.next(), (n - 1) % 7 + 1);
            kept.taken(stream);
            stream = n;
        }
        // Units 18 to 20 have the numbers 4 to 6.
        assert!(!kept.goes_on(3, &mut stream) && !kept.goes_on(1, &mut stream));
        assert_eq!((kept.next(), stream), (7, 20));
        assert!(kept.goes_on(4, &mut stream));
        assert_eq!((kept.next(), stream), (4, 17));
        assert!(kept.goes_on(7, &mut stream));
        assert_eq!((kept.next(), stream), (7, 20));
        assert!(!kept.goes_on(99, &mut stream));
    }
}
