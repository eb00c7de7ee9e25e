//! A map in the order of its keys.

use crate::order::{ChunkPosition, OrderedSlots, SlotOrder};
use std::borrow::Borrow;
use std::fmt::{Debug, Formatter, Result as FmtResult};
use std::hash::{Hash, Hasher};
use std::iter::{Flatten, Map};
use std::ops::{Bound, Index, RangeBounds};

/// A map in the order of its keys; see the head of the crate for how it differs from `BTreeMap`.
///
/// It holds fewer than 2^32 entries.
#[derive(Clone)]
pub struct OrderedMap<K, V> {
    order: SlotOrder,
    entries: Vec<Option<(K, V)>>,
    /// Slots without an entry.
    free: Vec<u32>,
}

impl<K, V> Default for OrderedMap<K, V> {
    fn default() -> OrderedMap<K, V> {
        OrderedMap::new()
    }
}

impl<K, V> OrderedMap<K, V> {
    /// An empty map.
    #[must_use]
    pub const fn new() -> OrderedMap<K, V> {
        OrderedMap { order: SlotOrder::new(), entries: Vec::new(), free: Vec::new() }
    }

    /// How many entries there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes all entries.
    pub fn clear(&mut self) {
        *self = OrderedMap::new();
    }

    /// All entries, in the order of their keys.
    #[must_use]
    pub fn iter(&self) -> Iter<'_, K, V> {
        Iter { slots: self.order.slots(), entries: &self.entries }
    }

    /// All entries, in the order of their keys, their values to be changed. This makes a list of them all: to change one that is
    /// looked for, find its key and ask [`get_mut`](OrderedMap::get_mut).
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&K, &mut V)> {
        let mut entries: Vec<_> =
            self.entries.iter_mut().map(|entry| entry.as_mut().map(|(key, value)| (&*key, value))).collect();
        self.order.slots().filter_map(move |slot| entries[slot as usize].take())
    }

    /// All keys, in their order.
    pub fn keys(&self) -> Keys<'_, K, V> {
        self.iter().map(|(key, _)| key)
    }

    /// All values, in the order of their keys.
    pub fn values(&self) -> Values<'_, K, V> {
        self.iter().map(|(_, value)| value)
    }

    /// All values, in the order of their keys, to be changed.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.iter_mut().map(|(_, value)| value)
    }

    /// All keys, in their order.
    pub fn into_keys(self) -> impl Iterator<Item = K> {
        self.into_iter().map(|(key, _)| key)
    }

    /// All values, in the order of their keys.
    pub fn into_values(self) -> impl Iterator<Item = V> {
        self.into_iter().map(|(_, value)| value)
    }

    /// The entry with the least key.
    #[must_use]
    pub fn first_key_value(&self) -> Option<(&K, &V)> {
        self.iter().next()
    }

    /// The entry with the greatest key.
    #[must_use]
    pub fn last_key_value(&self) -> Option<(&K, &V)> {
        self.iter().next_back()
    }

    /// Takes the entry with the least key.
    pub fn pop_first(&mut self) -> Option<(K, V)> {
        let first = self.order.first();
        self.order.slot(first)?;
        self.take(first)
    }

    /// Takes the entry with the greatest key.
    pub fn pop_last(&mut self) -> Option<(K, V)> {
        if self.is_empty() {
            return None;
        }
        self.take(self.order.before(self.order.end()))
    }

    /// Keeps the entries of which `keep` says so; it is asked in the order of the keys.
    pub fn retain(&mut self, mut keep: impl FnMut(&K, &mut V) -> bool) {
        let (entries, free) = (&mut self.entries, &mut self.free);
        self.order.retain(&mut |slot| {
            let entry = &mut entries[slot as usize];
            let kept = entry.as_mut().is_some_and(|(key, value)| keep(key, value));
            if !kept {
                *entry = None;
                free.push(slot);
            }
            kept
        });
    }

    /// Takes the entry at a place that was found.
    fn take(&mut self, at: ChunkPosition) -> Option<(K, V)> {
        let slot = self.order.remove(at);
        self.free.push(slot);
        self.entries[slot as usize].take()
    }

    /// Puts an entry at the place where it belongs; its slot.
    fn put(&mut self, at: ChunkPosition, key: K, value: V) -> usize {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.entries.push(None);
            u32::try_from(self.entries.len() - 1).expect("memory ends before 2^32 entries")
        });
        self.entries[slot as usize] = Some((key, value));
        self.order.insert(at, slot);
        slot as usize
    }
}

impl<K: Ord, V> OrderedMap<K, V> {
    fn find<Q: Ord + ?Sized>(&self, key: &Q) -> Result<ChunkPosition, ChunkPosition>
    where
        K: Borrow<Q>,
    {
        let entries = &self.entries;
        // A slot in the order always has an entry.
        self.order.find(&mut |slot| entries[slot as usize].as_ref().map(|(other, _)| other.borrow()).cmp(&Some(key)))
    }

    /// The slot of an entry.
    fn slot<Q: Ord + ?Sized>(&self, key: &Q) -> Option<usize>
    where
        K: Borrow<Q>,
    {
        // Tables of exceptions are empty nearly always.
        if self.is_empty() { None } else { self.find(key).ok().map(|at| self.order.found(at) as usize) }
    }

    /// The value of a key.
    #[must_use]
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.entries[self.slot(key)?].as_ref().map(|(_, value)| value)
    }

    /// The value of a key, to be changed.
    pub fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        let slot = self.slot(key)?;
        self.entries[slot].as_mut().map(|(_, value)| value)
    }

    /// Whether there is an entry with this key.
    #[must_use]
    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.find(key).is_ok()
    }

    /// Gives a key a value; the one that it had.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.find(&key) {
            Ok(at) => {
                let slot = self.order.found(at) as usize;
                self.entries[slot].as_mut().map(|(_, old)| std::mem::replace(old, value))
            }
            Err(at) => {
                self.put(at, key, value);
                None
            }
        }
    }

    /// Removes a key; the value that it had.
    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let at = self.find(key).ok()?;
        self.take(at).map(|(_, value)| value)
    }

    /// The entry of a key, which may have no value yet.
    pub fn entry(&mut self, key: K) -> Entry<'_, K, V> {
        let found = self.find(&key);
        Entry { map: self, key, found }
    }

    /// The entries whose keys lie in a range, in the order of the keys; none if the range ends before it starts.
    pub fn range(&self, range: impl RangeBounds<K>) -> Iter<'_, K, V> {
        let front = match range.start_bound() {
            Bound::Unbounded => self.order.first(),
            Bound::Included(key) => self.find(key).unwrap_or_else(|at| at),
            Bound::Excluded(key) => self.find(key).map_or_else(|at| at, |at| self.order.behind(at)),
        };
        let back = match range.end_bound() {
            Bound::Unbounded => self.order.end(),
            Bound::Included(key) => self.find(key).map_or_else(|at| at, |at| self.order.behind(at)),
            Bound::Excluded(key) => self.find(key).unwrap_or_else(|at| at),
        };
        Iter { slots: self.order.between(front, back), entries: &self.entries }
    }
}

/// The entry of a key in an [`OrderedMap`], which may have no value yet.
#[derive(Debug)]
pub struct Entry<'a, K, V> {
    map: &'a mut OrderedMap<K, V>,
    key: K,
    found: Result<ChunkPosition, ChunkPosition>,
}

impl<'a, K: Ord, V> Entry<'a, K, V> {
    /// The value, which is made if there is none.
    pub fn or_insert_with(self, make: impl FnOnce() -> V) -> &'a mut V {
        let Entry { map, key, found } = self;
        let slot = match found {
            Ok(at) => map.order.found(at) as usize,
            Err(at) => {
                let value = make();
                map.put(at, key, value)
            }
        };
        let Some((_, value)) = &mut map.entries[slot] else { unreachable!("a slot in the order has an entry") };
        value
    }

    /// Changes the value if there is one.
    pub fn and_modify(self, change: impl FnOnce(&mut V)) -> Self {
        if let Ok(at) = self.found {
            let slot = self.map.order.found(at) as usize;
            if let Some((_, value)) = &mut self.map.entries[slot] {
                change(value);
            }
        }
        self
    }

    /// The value, which is this one if there is none.
    pub fn or_insert(self, value: V) -> &'a mut V {
        self.or_insert_with(|| value)
    }

    /// The value, which is the default if there is none.
    pub fn or_default(self) -> &'a mut V
    where
        V: Default,
    {
        self.or_insert_with(V::default)
    }
}

/// Keys of an [`OrderedMap`], in their order.
pub type Keys<'a, K, V> = Map<Iter<'a, K, V>, fn((&'a K, &'a V)) -> &'a K>;

/// Values of an [`OrderedMap`], in the order of their keys.
pub type Values<'a, K, V> = Map<Iter<'a, K, V>, fn((&'a K, &'a V)) -> &'a V>;

/// Entries of an [`OrderedMap`], in the order of their keys.
pub struct Iter<'a, K, V> {
    slots: OrderedSlots<'a>,
    entries: &'a [Option<(K, V)>],
}

impl<K, V> Clone for Iter<'_, K, V> {
    fn clone(&self) -> Self {
        Iter { slots: self.slots.clone(), entries: self.entries }
    }
}

impl<'a, K, V> Iterator for Iter<'a, K, V> {
    type Item = (&'a K, &'a V);

    fn next(&mut self) -> Option<(&'a K, &'a V)> {
        self.entries[self.slots.next()? as usize].as_ref().map(|(key, value)| (key, value))
    }
}

impl<K, V> DoubleEndedIterator for Iter<'_, K, V> {
    fn next_back(&mut self) -> Option<Self::Item> {
        self.entries[self.slots.next_back()? as usize].as_ref().map(|(key, value)| (key, value))
    }
}

impl<'a, K, V> IntoIterator for &'a OrderedMap<K, V> {
    type Item = (&'a K, &'a V);
    type IntoIter = Iter<'a, K, V>;

    fn into_iter(self) -> Iter<'a, K, V> {
        self.iter()
    }
}

impl<K, V> IntoIterator for OrderedMap<K, V> {
    type Item = (K, V);
    type IntoIter = Flatten<std::vec::IntoIter<Option<(K, V)>>>;

    fn into_iter(mut self) -> Self::IntoIter {
        let entries: Vec<_> = self.order.slots().map(|slot| self.entries[slot as usize].take()).collect();
        entries.into_iter().flatten()
    }
}

impl<K: Ord, V> Extend<(K, V)> for OrderedMap<K, V> {
    fn extend<T: IntoIterator<Item = (K, V)>>(&mut self, entries: T) {
        for (key, value) in entries {
            self.insert(key, value);
        }
    }
}

impl<K: Ord, V> FromIterator<(K, V)> for OrderedMap<K, V> {
    fn from_iter<T: IntoIterator<Item = (K, V)>>(entries: T) -> OrderedMap<K, V> {
        let mut map = OrderedMap::new();
        map.extend(entries);
        map
    }
}

impl<K: Ord, V, const N: usize> From<[(K, V); N]> for OrderedMap<K, V> {
    fn from(entries: [(K, V); N]) -> OrderedMap<K, V> {
        entries.into_iter().collect()
    }
}

impl<K: Ord + Borrow<Q>, Q: Ord + ?Sized, V> Index<&Q> for OrderedMap<K, V> {
    type Output = V;

    /// # Panics
    /// If the map has no such key.
    fn index(&self, key: &Q) -> &V {
        self.get(key).expect("the key is in the map")
    }
}

impl<K: Debug, V: Debug> Debug for OrderedMap<K, V> {
    fn fmt(&self, f: &mut Formatter<'_>) -> FmtResult {
        f.debug_map().entries(self).finish()
    }
}

impl<K: PartialEq, V: PartialEq> PartialEq for OrderedMap<K, V> {
    fn eq(&self, other: &OrderedMap<K, V>) -> bool {
        self.len() == other.len() && self.iter().eq(other)
    }
}

impl<K: Eq, V: Eq> Eq for OrderedMap<K, V> {}

impl<K: Hash, V: Hash> Hash for OrderedMap<K, V> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_usize(self.len());
        self.iter().for_each(|entry| entry.hash(state));
    }
}
