//! Maps and sets in the order of their keys, and sorting.
//!
//! [`OrderedMap`] and [`OrderedSet`] do what `BTreeMap` and `BTreeSet` of the standard library do, with the same names. Code of
//! the tree of the standard library is made for each pair of types, 12 to 20 kB of it: it was a fifth of all optimised code of
//! the model and of the time to compile it. Here the order is a list of slot numbers (`order.rs`) that knows no key, so it is
//! compiled once; what is made for each pair of types is 2 kB.
//!
//! Detail: all results come in the order of the keys, whatever was inserted when, so runs stay the same to the byte. Left out:
//! what the model does not use (cursors, splitting, entries with their state). Cost: a search compares as often as in a tree,
//! through one more reference; an insertion moves at most 256 numbers, and one in 128 also 24 bytes for every 128 to 256
//! entries behind it. The memory of entries that were removed is kept for others until the map is cleared. Where a run looks
//! up one value for every flit, a plain index of a vector is better than either; where states of an exploration are compared
//! and hashed by the million, `BTreeMap` is.
//!
//! A walk through one insertion: [`OrderedMap::insert`] asks the order where the key belongs, with a closure that compares the key
//! in a slot; if no slot has it, key and value go to a free slot and its number into the list of numbers, at that place.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod map;
mod order;
mod set;
mod sort;

pub use map::{Entry, Iter, Keys, OrderedMap, Values};
pub use set::OrderedSet;
pub use sort::{sort, sort_by, sort_by_key};
