//! The order of slots: numbers in chunks, each chunk short enough to be moved at every insertion.

use std::cmp::Ordering;

/// Longest chunk, in slots: 1 KiB, which is moved in the time of a few comparisons.
pub(crate) const CHUNK: usize = 256;

/// A place in the order: a chunk, and a place in it. The place behind the last is `(number of chunks, 0)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ChunkPosition {
    chunk: usize,
    place: usize,
}

/// Numbers of slots in an order that the caller knows. No chunk is empty.
#[derive(Debug, Clone, Default)]
pub(crate) struct SlotOrder {
    chunks: Vec<Vec<u32>>,
    len: usize,
}

impl SlotOrder {
    pub const fn new() -> SlotOrder {
        SlotOrder { chunks: Vec::new(), len: 0 }
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// The place of what is looked for, or else where it belongs; `compare` says how a slot stands to it.
    pub fn find(&self, compare: &mut dyn FnMut(u32) -> Ordering) -> Result<ChunkPosition, ChunkPosition> {
        let behind = self.chunks.partition_point(|chunk| compare(chunk[0]).is_le());
        let Some(chunk) = behind.checked_sub(1) else {
            return Err(ChunkPosition { chunk: 0, place: 0 });
        };
        match self.chunks[chunk].binary_search_by(|&slot| compare(slot)) {
            Ok(place) => Ok(ChunkPosition { chunk, place }),
            Err(place) => Err(ChunkPosition { chunk, place }),
        }
    }

    /// The slot at a place; `None` behind the last.
    pub fn slot(&self, at: ChunkPosition) -> Option<u32> {
        self.chunks.get(at.chunk)?.get(at.place).copied()
    }

    /// The slot at a place that was found.
    pub fn found(&self, at: ChunkPosition) -> u32 {
        self.chunks[at.chunk][at.place]
    }

    /// Puts a slot where `find` said that it belongs.
    pub fn insert(&mut self, ChunkPosition { chunk, mut place }: ChunkPosition, slot: u32) {
        self.len += 1;
        let is_last = chunk + 1 >= self.chunks.len();
        let Some(slots) = self.chunks.get_mut(chunk) else {
            self.chunks.push(vec![slot]);
            return;
        };
        if slots.len() < CHUNK {
            slots.insert(place, slot);
            return;
        }
        // Behind a full chunk the next one may have room at its start: falling keys come there one by one.
        if place == CHUNK && !is_last && self.chunks[chunk + 1].len() < CHUNK {
            self.chunks[chunk + 1].insert(0, slot);
            return;
        }
        // Rising keys fill each chunk to its end.
        let at = if place == CHUNK && is_last { CHUNK } else { CHUNK / 2 };
        let mut upper = self.chunks[chunk].split_off(at);
        let slots = &mut self.chunks[chunk];
        if place < at {
            slots.insert(place, slot);
        } else {
            place -= at;
            upper.insert(place, slot);
        }
        self.chunks.insert(chunk + 1, upper);
    }

    /// Takes the slot at a place that was found.
    pub fn remove(&mut self, ChunkPosition { chunk, place }: ChunkPosition) -> u32 {
        self.len -= 1;
        let slot = self.chunks[chunk].remove(place);
        self.tidy(chunk);
        slot
    }

    /// Joins a chunk that has become shorter with that before or behind it if both together fill no more than half of one, so
    /// that any two neighbours do.
    fn tidy(&mut self, chunk: usize) {
        if self.chunks[chunk].is_empty() {
            self.chunks.remove(chunk);
        } else if !self.join(chunk) && chunk > 0 {
            self.join(chunk - 1);
        }
    }

    /// Joins a chunk with that behind it if they are short; whether they were.
    fn join(&mut self, chunk: usize) -> bool {
        let is_short = |next: &Vec<u32>| self.chunks[chunk].len() + next.len() <= CHUNK / 2;
        let are_short = self.chunks.get(chunk + 1).is_some_and(is_short);
        if are_short {
            let next = self.chunks.remove(chunk + 1);
            self.chunks[chunk].extend(next);
        }
        are_short
    }

    /// Keeps the slots of which `keep` says so; asks in order.
    pub fn retain(&mut self, keep: &mut dyn FnMut(u32) -> bool) {
        let mut joined: Vec<Vec<u32>> = Vec::new();
        for mut chunk in std::mem::take(&mut self.chunks) {
            chunk.retain(|&slot| keep(slot));
            match joined.last_mut() {
                Some(last) if last.len() + chunk.len() <= CHUNK / 2 => last.extend(chunk),
                _ if chunk.is_empty() => {}
                _ => joined.push(chunk),
            }
        }
        self.chunks = joined;
        self.len = self.chunks.iter().map(Vec::len).sum();
    }

    /// The place of the first.
    pub fn first(&self) -> ChunkPosition {
        ChunkPosition { chunk: 0, place: 0 }
    }

    /// The place behind the last.
    pub fn end(&self) -> ChunkPosition {
        ChunkPosition { chunk: self.chunks.len(), place: 0 }
    }

    /// The same place, with the end of a chunk written as the start of the next.
    pub fn proper(&self, at: ChunkPosition) -> ChunkPosition {
        match self.chunks.get(at.chunk) {
            Some(chunk) if at.place < chunk.len() => at,
            Some(_) => ChunkPosition { chunk: at.chunk + 1, place: 0 },
            None => self.end(),
        }
    }

    /// The place behind one that has a slot.
    pub fn behind(&self, at: ChunkPosition) -> ChunkPosition {
        self.proper(ChunkPosition { chunk: at.chunk, place: at.place + 1 })
    }

    /// The place before one that is not the first.
    pub fn before(&self, at: ChunkPosition) -> ChunkPosition {
        match at.place.checked_sub(1) {
            Some(place) => ChunkPosition { chunk: at.chunk, place },
            None => ChunkPosition { chunk: at.chunk - 1, place: self.chunks[at.chunk - 1].len() - 1 },
        }
    }

    /// All slots, in order.
    pub fn slots(&self) -> OrderedSlots<'_> {
        OrderedSlots { order: self, front: self.first(), back: self.end() }
    }

    /// The slots from a place to the one before another, in order; none if the second is not behind the first.
    pub fn between(&self, front: ChunkPosition, back: ChunkPosition) -> OrderedSlots<'_> {
        OrderedSlots { order: self, front: self.proper(front), back: self.proper(back) }
    }
}

/// Slots in order, from both sides.
#[derive(Debug, Clone)]
pub(crate) struct OrderedSlots<'a> {
    order: &'a SlotOrder,
    front: ChunkPosition,
    back: ChunkPosition,
}

impl Iterator for OrderedSlots<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        if self.front >= self.back {
            return None;
        }
        let slot = self.order.found(self.front);
        self.front = self.order.behind(self.front);
        Some(slot)
    }
}

impl DoubleEndedIterator for OrderedSlots<'_> {
    fn next_back(&mut self) -> Option<u32> {
        if self.front >= self.back {
            return None;
        }
        self.back = self.order.before(self.back);
        Some(self.order.found(self.back))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Slots are numbers in their own order here.
    fn insert(order: &mut SlotOrder, slot: u32) {
        let at = order.find(&mut |other| other.cmp(&slot)).expect_err("a new number");
        order.insert(at, slot);
    }

    fn remove(order: &mut SlotOrder, slot: u32) {
        let at = order.find(&mut |other| other.cmp(&slot)).expect("a number that is there");
        assert_eq!(order.remove(at), slot);
    }

    /// Whatever order the keys come in and go away in.
    #[test]
    fn two_chunks_are_half_full_together() {
        let is_sound = |order: &SlotOrder| {
            assert!(order.chunks.iter().all(|chunk| (1..=CHUNK).contains(&chunk.len())));
            assert!(order.slots().is_sorted() && order.slots().count() == order.len());
            let chunks = order.chunks.len();
            assert!(chunks <= 2 + 4 * order.len() / CHUNK, "{} in {chunks} chunks", order.len());
        };
        let mut rising = SlotOrder::new();
        (0..10_000).for_each(|slot| insert(&mut rising, slot));
        assert_eq!(rising.chunks.len(), 10_000usize.div_ceil(CHUNK));
        // A heap that grows up and a stack that grows down.
        let mut both = SlotOrder::new();
        (0..300).for_each(|slot| insert(&mut both, slot));
        (2_000..12_000).rev().for_each(|slot| insert(&mut both, slot));
        is_sound(&both);
        // All but one in 256 go, in rising order, in falling order, and at once.
        let (mut falling, mut at_once) = (rising.clone(), rising.clone());
        (0..10_000).filter(|slot| slot % 256 != 255).for_each(|slot| remove(&mut rising, slot));
        is_sound(&rising);
        (0..10_000).rev().filter(|slot| slot % 256 != 0).for_each(|slot| remove(&mut falling, slot));
        is_sound(&falling);
        at_once.retain(&mut |slot| slot % 256 == 255);
        is_sound(&at_once);
        assert!(at_once.slots().eq(rising.slots()));
    }
}
