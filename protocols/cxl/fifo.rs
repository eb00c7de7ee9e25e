//! A queue whose first item is used where it lies.
//!
//! Modelled: nothing of the hardware. A message is 112 bytes or more, and it goes through a queue of a packer, of a reader and of
//! a link end; without taking it out of each it is moved three times less.
//!
//! A walk through one item: it is pushed behind the others, read in place when it is the first one, and dropped. Dropped items
//! keep their places until there are eight of them and no fewer than those that wait; then those that wait move to the front.

use std::ops::{Deref, DerefMut};

/// Dropped items for which those that wait do not move.
const KEPT_PLACES: usize = 8;

/// A queue, seen as a slice of what waits.
#[derive(Debug, Clone)]
pub struct Fifo<T> {
    items: Vec<T>,
    /// Items in front that have been dropped.
    dropped: usize,
}

impl<T> Default for Fifo<T> {
    fn default() -> Fifo<T> {
        Fifo { items: Vec::new(), dropped: 0 }
    }
}

impl<T: Copy> Fifo<T> {
    /// Items that wait.
    #[inline]
    pub fn len(&self) -> usize {
        self.items.len() - self.dropped
    }

    /// Whether none waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.items.len() == self.dropped
    }

    /// Puts an item behind the others.
    #[inline]
    pub fn push(&mut self, item: T) {
        self.items.push(item);
    }

    /// Puts items behind the others.
    #[inline]
    pub fn extend(&mut self, items: &[T]) {
        self.items.extend_from_slice(items);
    }

    /// Leaves the first `len` items, or all if there are no more.
    pub fn truncate(&mut self, len: usize) {
        self.items.truncate(self.dropped + len);
        if self.is_empty() {
            self.items.clear();
            self.dropped = 0;
        }
    }

    /// Takes an item out, wherever it stands.
    ///
    /// # Panics
    /// `at` is not below the number of items.
    pub fn remove(&mut self, at: usize) -> T {
        self.items.remove(self.dropped + at)
    }

    /// Drops the first item, if there is one.
    #[inline]
    pub fn drop_first(&mut self) {
        if self.is_empty() {
            return;
        }
        self.dropped += 1;
        if self.dropped == self.items.len() {
            self.items.clear();
            self.dropped = 0;
        } else if self.dropped >= KEPT_PLACES && 2 * self.dropped >= self.items.len() {
            self.items.drain(..self.dropped);
            self.dropped = 0;
        }
    }
}

impl<T> Deref for Fifo<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        &self.items[self.dropped..]
    }
}

impl<T> DerefMut for Fifo<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.items[self.dropped..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    /// It is a queue, at every length, and its places are at most twice those that wait, and a few.
    #[test]
    fn what_goes_in_first_comes_out_first() {
        let (mut fifo, mut queue, mut number) = (Fifo::default(), VecDeque::new(), 0u32);
        for longest in [1, 2, 7, 8, 9, 40, 3] {
            for _ in 0..100 {
                while queue.len() < longest {
                    number += 1;
                    fifo.push(number);
                    queue.push_back(number);
                }
                for _ in 0..1 + number % longest as u32 {
                    assert!(fifo.iter().eq(&queue));
                    assert!(fifo.items.len() <= 2 * fifo.len().max(KEPT_PLACES));
                    fifo.drop_first();
                    queue.pop_front();
                }
                if queue.len() > 2 {
                    assert_eq!(Some(fifo.remove(1)), queue.remove(1));
                }
                fifo.extend(&[0; 3]);
                fifo.truncate(queue.len());
                number += 2;
                fifo.extend(&[number - 1, number]);
                queue.extend([number - 1, number]);
            }
        }
        while !queue.is_empty() {
            fifo.drop_first();
            queue.pop_front();
        }
        fifo.drop_first();
        assert!(fifo.is_empty());
    }
}
