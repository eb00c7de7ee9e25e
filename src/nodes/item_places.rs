//! Items that stay where they are until they are taken: a queue of their places moves a number instead of each of them.
//!
//! Modelled: nothing of the hardware. An answer with a line is 136 bytes, and it goes through the queue of a memory and that
//! of its port. Left out: an order; whoever puts an item there keeps its place.
//!
//! A walk through one item: it is put into a place that is free, or into a new one, and read there. When it is taken, it may
//! still be read until the next one is put.

/// Items by place.
#[derive(Debug)]
pub struct ItemPlaces<T> {
    items: Vec<T>,
    free: Vec<usize>,
}

impl<T> Default for ItemPlaces<T> {
    fn default() -> ItemPlaces<T> {
        ItemPlaces { items: Vec::new(), free: Vec::new() }
    }
}

impl<T> ItemPlaces<T> {
    /// Puts an item into a place, which it returns.
    pub fn put(&mut self, item: T) -> usize {
        match self.free.pop() {
            Some(place) => {
                self.items[place] = item;
                place
            }
            None => {
                self.items.push(item);
                self.items.len() - 1
            }
        }
    }

    /// The item at a place.
    pub fn at(&self, place: usize) -> &T {
        &self.items[place]
    }

    /// Takes the item at a place: it is free for another one.
    pub fn taken(&mut self, place: usize) -> &mut T {
        self.free.push(place);
        &mut self.items[place]
    }
}

#[cfg(test)]
mod tests {
    use super::ItemPlaces;

    #[test]
    fn places_are_used_again() {
        let mut places = ItemPlaces::default();
        let [a, b] = ["a", "b"].map(|item| places.put(item));
        assert_eq!((*places.at(a), *places.at(b)), ("a", "b"));
        assert_eq!(*places.taken(a), "a");
        assert_eq!((places.put("c"), places.put("d")), (a, 2));
        assert_eq!([a, b, 2].map(|place| *places.at(place)), ["c", "b", "d"]);
    }
}
