//! Sets of ways, whatever lies in them.
//!
//! Modelled: which way of a set holds a key, which one is free, which one leaves. Sets that nothing has entered take no memory. Left out:
//! what the values are. A walk: a key is looked for in its set and is not there; the lowest free way is taken, or, without one, the way
//! that the policy names of those that may leave.

use super::policy::{EvictionPolicy, Replacement};
use scalepool_ordered::OrderedMap;
use std::hash::{Hash, Hasher};

#[derive(Debug, Clone, Hash)]
struct SetWay<K, V> {
    key: K,
    value: V,
}

#[derive(Debug, Clone, Hash)]
struct CacheSet<K, V> {
    ways: Vec<Option<SetWay<K, V>>>,
    numbers: Vec<u64>,
}

/// The place of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WayPlace {
    pub set: u64,
    pub way: usize,
}

/// Sets.
#[derive(Debug, Clone)]
pub(super) struct SetArray<K, V> {
    ways: usize,
    policy: &'static dyn Replacement,
    sets: OrderedMap<u64, CacheSet<K, V>>,
    /// Lookups so far.
    now: u64,
}

impl<K: Eq + Copy, V> SetArray<K, V> {
    pub fn new(ways: usize, policy: EvictionPolicy) -> SetArray<K, V> {
        SetArray { ways, policy: policy.replacement(), sets: OrderedMap::new(), now: 0 }
    }

    /// Where a key is; nothing changes.
    pub fn find(&self, set: u64, key: K) -> Option<WayPlace> {
        let ways = &self.sets.get(&set)?.ways;
        let way = ways.iter().position(|way| way.as_ref().is_some_and(|way| way.key == key))?;
        Some(WayPlace { set, way })
    }

    pub fn get(&self, place: WayPlace) -> Option<&V> {
        self.sets.get(&place.set)?.ways[place.way].as_ref().map(|way| &way.value)
    }

    pub fn get_mut(&mut self, place: WayPlace) -> Option<&mut V> {
        self.sets.get_mut(&place.set)?.ways[place.way].as_mut().map(|way| &mut way.value)
    }

    /// A lookup has found it.
    pub fn used(&mut self, place: WayPlace, is_hit: bool) {
        self.now += 1;
        if let Some(set) = self.sets.get_mut(&place.set) {
            let number = &mut set.numbers[place.way];
            *number = self.policy.used(*number, self.now, is_hit);
        }
    }

    /// The way in which something new can be put: a free one, or one that leaves, of those whose key may. `None`: none may.
    pub fn way_for(&mut self, set: u64, may_leave: impl Fn(&K) -> bool) -> Option<WayPlace> {
        let Some(of_set) = self.sets.get_mut(&set) else { return Some(WayPlace { set, way: 0 }) };
        let CacheSet { ways, numbers } = of_set;
        let way = ways.iter().position(Option::is_none).or_else(|| {
            let may = |way: usize| ways[way].as_ref().is_some_and(|way| may_leave(&way.key));
            self.policy.victim(numbers, self.now, &may)
        })?;
        Some(WayPlace { set, way })
    }

    /// Key and value at a place.
    pub fn entry(&self, place: WayPlace) -> Option<(K, &V)> {
        self.sets.get(&place.set)?.ways[place.way].as_ref().map(|way| (way.key, &way.value))
    }

    /// Puts something new in a way; what was there leaves.
    pub fn put(&mut self, place: WayPlace, key: K, value: V) -> Option<(K, V)> {
        self.now += 1;
        let ways = self.ways;
        let set = self.sets.entry(place.set);
        let set = set.or_insert_with(|| CacheSet { ways: (0..ways).map(|_| None).collect(), numbers: vec![0; ways] });
        set.numbers[place.way] = self.policy.entered(self.now);
        set.ways[place.way].replace(SetWay { key, value }).map(|way| (way.key, way.value))
    }

    /// Takes something out.
    pub fn remove(&mut self, place: WayPlace) {
        if let Some(set) = self.sets.get_mut(&place.set) {
            set.ways[place.way] = None;
        }
    }

    /// Shows sets and ways to `state`, with the numbers by which the policy says who leaves.
    pub fn hash_ways<H: Hasher>(&self, state: &mut H)
    where
        K: Hash,
        V: Hash,
    {
        (&self.sets, self.now).hash(state);
    }

    /// Everything that is held, by set and way.
    pub fn all(&self) -> impl Iterator<Item = (K, &V)> {
        self.sets.values().flat_map(|set| set.ways.iter().flatten().map(|way| (way.key, &way.value)))
    }
}
