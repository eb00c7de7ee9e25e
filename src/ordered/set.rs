//! A set in the order of its members.

use crate::{Keys, OrderedMap};
use std::borrow::Borrow;
use std::fmt::{Debug, Formatter, Result as FmtResult};
use std::iter::Map;
use std::ops::RangeBounds;

/// A set in the order of its members; see the head of the crate for how it differs from `BTreeSet`.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct OrderedSet<K>(OrderedMap<K, ()>);

impl<K> Default for OrderedSet<K> {
    fn default() -> OrderedSet<K> {
        OrderedSet::new()
    }
}

impl<K> OrderedSet<K> {
    /// An empty set.
    #[must_use]
    pub const fn new() -> OrderedSet<K> {
        OrderedSet(OrderedMap::new())
    }

    /// How many members there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Removes all members.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// All members, in their order.
    pub fn iter(&self) -> Keys<'_, K, ()> {
        self.0.keys()
    }

    /// The least member.
    #[must_use]
    pub fn first(&self) -> Option<&K> {
        self.0.first_key_value().map(|(key, ())| key)
    }

    /// The greatest member.
    #[must_use]
    pub fn last(&self) -> Option<&K> {
        self.0.last_key_value().map(|(key, ())| key)
    }

    /// Takes the least member.
    pub fn pop_first(&mut self) -> Option<K> {
        self.0.pop_first().map(|(key, ())| key)
    }

    /// Keeps the members of which `keep` says so; it is asked in their order.
    pub fn retain(&mut self, mut keep: impl FnMut(&K) -> bool) {
        self.0.retain(|key, ()| keep(key));
    }
}

impl<K: Ord> OrderedSet<K> {
    /// Whether this is a member.
    #[must_use]
    pub fn contains<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.0.contains_key(key)
    }

    /// Makes this a member; whether it was none.
    pub fn insert(&mut self, key: K) -> bool {
        self.0.insert(key, ()).is_none()
    }

    /// Makes this no member; whether it was one.
    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.0.remove(key).is_some()
    }

    /// The members in a range, in their order; none if the range ends before it starts.
    pub fn range(&self, range: impl RangeBounds<K>) -> impl DoubleEndedIterator<Item = &K> {
        self.0.range(range).map(|(key, ())| key)
    }
}

impl<'a, K> IntoIterator for &'a OrderedSet<K> {
    type Item = &'a K;
    type IntoIter = Keys<'a, K, ()>;

    fn into_iter(self) -> Keys<'a, K, ()> {
        self.iter()
    }
}

impl<K> IntoIterator for OrderedSet<K> {
    type Item = K;
    type IntoIter = Map<<OrderedMap<K, ()> as IntoIterator>::IntoIter, fn((K, ())) -> K>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter().map(|(key, ())| key)
    }
}

impl<K: Ord> Extend<K> for OrderedSet<K> {
    fn extend<T: IntoIterator<Item = K>>(&mut self, members: T) {
        self.0.extend(members.into_iter().map(|key| (key, ())));
    }
}

impl<'a, K: Ord + Copy + 'a> Extend<&'a K> for OrderedSet<K> {
    fn extend<T: IntoIterator<Item = &'a K>>(&mut self, members: T) {
        self.extend(members.into_iter().copied());
    }
}

impl<K: Ord> FromIterator<K> for OrderedSet<K> {
    fn from_iter<T: IntoIterator<Item = K>>(members: T) -> OrderedSet<K> {
        OrderedSet(members.into_iter().map(|key| (key, ())).collect())
    }
}

impl<K: Ord, const N: usize> From<[K; N]> for OrderedSet<K> {
    fn from(members: [K; N]) -> OrderedSet<K> {
        members.into_iter().collect()
    }
}

impl<K: Debug> Debug for OrderedSet<K> {
    fn fmt(&self, f: &mut Formatter<'_>) -> FmtResult {
        f.debug_set().entries(self.iter()).finish()
    }
}
