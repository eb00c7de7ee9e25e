//! Sorting, for lists that are short or seldom sorted.
//!
//! The standard library's sort is made for each type, 8 to 12 kB of it each time. Here a short list is sorted by insertion, and a
//! longer one through the numbers of its items, by code that is compiled once; equal items always keep their order.

use std::cmp::Ordering;

/// Longest list that is sorted by insertion, as in the standard library.
const SHORT: usize = 20;

/// Sorts; equal items keep their order.
pub fn sort<T: Ord>(items: &mut [T]) {
    sort_by(items, T::cmp);
}

/// Sorts by a key; items with equal keys keep their order.
pub fn sort_by_key<T, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K) {
    sort_by(items, |a, b| key(a).cmp(&key(b)));
}

/// Sorts as `compare` says; items that it calls equal keep their order.
pub fn sort_by<T>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    if items.len() <= SHORT {
        for end in 1..items.len() {
            let belongs = items[..end].partition_point(|item| compare(item, &items[end]).is_le());
            (belongs..end).rev().for_each(|place| items.swap(place, place + 1));
        }
        return;
    }
    let mut order = ordered(items.len(), &|a, b| compare(&items[a], &items[b]));
    // The item that belongs at a place may have been moved on from there by an earlier exchange.
    for place in 0..items.len() {
        let mut from = order[place];
        while from < place {
            from = order[from];
        }
        order[place] = from;
        items.swap(place, from);
    }
}

/// Numbers from 0 in the order that `compare` says; equal ones in their own.
fn ordered(len: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..len).collect();
    order.sort_by(|&a, &b| compare(a, b));
    order
}
