//! Maps, sets and sorting of `scalepool::ordered`, beside those of the standard library.

use proptest::prelude::*;
use scalepool::ordered::{OrderedMap, OrderedSet, sort, sort_by_key};
use std::collections::BTreeMap;
use std::ops::Bound;

/// One call of a map.
#[derive(Debug, Clone)]
enum Call {
    Insert(u16, u32),
    Remove(u16),
    PopFirst,
    PopLast,
    Add(u16, u32),
    /// Keeps the keys with this remainder modulo 3.
    Retain(u16),
    /// Inserts this many keys from one on: chunks are filled and divided.
    Run(u16, u16),
    /// The same with falling keys.
    Falling(u16, u16),
    /// Removes this many keys from one on: chunks become short and are joined.
    Gap(u16, u16),
}

fn call() -> impl Strategy<Value = Call> {
    let key = 0..2000_u16;
    prop_oneof![
        4 => (key.clone(), any::<u32>()).prop_map(|(key, value)| Call::Insert(key, value)),
        3 => key.clone().prop_map(Call::Remove),
        1 => Just(Call::PopFirst),
        1 => Just(Call::PopLast),
        2 => (key.clone(), 0..100_u32).prop_map(|(key, more)| Call::Add(key, more)),
        1 => (0..3_u16).prop_map(Call::Retain),
        2 => (key.clone(), 1..700_u16).prop_map(|(from, count)| Call::Run(from, count)),
        1 => (key.clone(), 1..700_u16).prop_map(|(from, count)| Call::Falling(from, count)),
        2 => (key, 1..700_u16).prop_map(|(from, count)| Call::Gap(from, count)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn a_map_is_that_of_the_standard_library(calls in prop::collection::vec(call(), 1..60), at in 0..2000_u16, width in 0..900_u16) {
        let (mut own, mut std) = (OrderedMap::new(), BTreeMap::new());
        for call in calls {
            match call {
                Call::Insert(key, value) => prop_assert_eq!(own.insert(key, value), std.insert(key, value)),
                Call::Remove(key) => prop_assert_eq!(own.remove(&key), std.remove(&key)),
                Call::PopFirst => prop_assert_eq!(own.pop_first(), std.pop_first()),
                Call::PopLast => prop_assert_eq!(own.pop_last(), std.pop_last()),
                Call::Add(key, more) => {
                    let add = |value: &mut u32| *value = value.wrapping_add(more);
                    prop_assert_eq!(own.entry(key).and_modify(add).or_insert(more), std.entry(key).and_modify(add).or_insert(more));
                }
                Call::Retain(remainder) => {
                    own.retain(|key, _| key % 3 == remainder);
                    std.retain(|key, _| key % 3 == remainder);
                }
                Call::Run(from, count) => (from..from + count).for_each(|key| {
                    own.insert(key, u32::from(key));
                    std.insert(key, u32::from(key));
                }),
                Call::Falling(from, count) => (from..from + count).rev().for_each(|key| {
                    own.insert(key, u32::from(key));
                    std.insert(key, u32::from(key));
                }),
                Call::Gap(from, count) => (from..from + count).for_each(|key| {
                    own.remove(&key);
                    std.remove(&key);
                }),
            }
            prop_assert_eq!((own.len(), own.is_empty()), (std.len(), std.is_empty()));
            prop_assert!(own.iter().eq(&std));
            prop_assert!(own.iter().rev().eq(std.iter().rev()));
            prop_assert_eq!(own.first_key_value(), std.first_key_value());
            prop_assert_eq!(own.last_key_value(), std.last_key_value());
            prop_assert_eq!((own.get(&at), own.contains_key(&at)), (std.get(&at), std.contains_key(&at)));
        }
        let end = at + width;
        prop_assert!(own.range(at..end).eq(std.range(at..end)));
        prop_assert!(own.range(at..=end).rev().eq(std.range(at..=end).rev()));
        prop_assert!(own.range(at..).eq(std.range(at..)));
        prop_assert!(own.range(..=at).eq(std.range(..=at)));
        let behind = (Bound::Excluded(at), Bound::Unbounded);
        prop_assert!(own.range(behind).eq(std.range(behind)));
        own.values_mut().zip(std.values_mut()).for_each(|(own, std)| (*own, *std) = (own.wrapping_mul(3), std.wrapping_mul(3)));
        prop_assert!(own.clone().into_iter().eq(std.clone()));
        prop_assert_eq!(format!("{own:?}"), format!("{std:?}"));
        prop_assert_eq!(own, std.into_iter().rev().collect());
    }

    #[test]
    fn a_sort_is_that_of_the_standard_library(items in prop::collection::vec((0..30_u8, any::<u16>()), 0..200)) {
        let (mut own, mut std) = (items.clone(), items.clone());
        sort_by_key(&mut own, |(key, _)| *key);
        std.sort_by_key(|(key, _)| *key);
        prop_assert_eq!(&own, &std);
        sort(&mut own);
        std.sort();
        prop_assert_eq!(own, std);
    }
}

/// A range that ends before it starts is empty (the standard library panics).
#[test]
fn a_range_that_ends_before_it_starts_is_empty() {
    let members: OrderedSet<u8> = (0..10).collect();
    #[allow(clippy::reversed_empty_ranges)]
    let turned = 7..3;
    assert_eq!(members.range(turned).count(), 0);
    assert_eq!(members.range(3..7).copied().collect::<Vec<_>>(), [3, 4, 5, 6]);
}

#[test]
fn many_keys_in_any_order() {
    let mut mixed: OrderedMap<u64, ()> = OrderedMap::new();
    (0..20_000_u64).for_each(|n| {
        mixed.insert(n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20, ());
    });
    assert!(mixed.keys().is_sorted() && mixed.len() == 20_000);
}
