//! Allocators in every state there is, reached or not: all pointers, all matrices of requests. The matching and the pointers
//! behind it are those of the plain references, and no request that stands until it is served loses more slots than the
//! bound says, whatever else comes.
//!
//! A state is the pointers and the requests that stand, both as one number. A slot is looked up once in a table. How many
//! slots a request can lose is found slot by slot: the states in which it can lose k are those that may grow, by requests
//! that join, into one where it loses and k - 1 more follow.

use super::matching::{Pointers, assert_matching, islip, separable};
use super::sets::{Bits, slot_of};
use scalepool::arbiter::{Islip, RoundRobin, Separable, Stage};
use scalepool_testbenches::soak::is_soak;
use std::cell::Cell;

/// Sizes of which every state is tried. Of 3 x 4 there are 21 million, of 4 x 4 four thousand million.
const SIZES: [(usize, usize); 7] = [(1, 1), (1, 5), (5, 1), (2, 2), (2, 3), (3, 2), (2, 4)];
/// More of them with `SCALEPOOL_SOAK`: up to 0.8 million states each.
const SOAK_SIZES: [(usize, usize); 4] = [(4, 2), (3, 3), (2, 5), (5, 2)];

fn sizes() -> Vec<(usize, usize)> {
    let soak = is_soak();
    SIZES.into_iter().chain(SOAK_SIZES.into_iter().filter(|_| soak)).collect()
}

/// What a request that stands loses at most, where outputs pick first: while each of the others is served once its output may
/// offer itself to inputs in vain, each time a newcomer in front of the last.
fn bound(n: usize, m: usize) -> usize {
    (n - 1).max((2 * n - 1) * (m - 1))
}

/// What a slot does to a state.
#[derive(Clone, Copy)]
struct Slot {
    pointers: u32,
    /// Pairs that were served, a bit each.
    served: u32,
}

/// Pointers of a number: those of inputs are below `m`, those of outputs below `n`.
fn pointers_of(mut number: u32, n: usize, m: usize) -> Pointers {
    let mut digit = |base: usize| {
        let digit = number as usize % base;
        number /= base as u32;
        digit
    };
    let accept = (0..n).map(|_| digit(m)).collect();
    (accept, (0..m).map(|_| digit(n)).collect())
}

fn number_of((accept, grant): &Pointers, n: usize, m: usize) -> u32 {
    let high = grant.iter().rev().fold(0, |number, &digit| number * n as u32 + digit as u32);
    accept.iter().rev().fold(high, |number, &digit| number * m as u32 + digit as u32)
}

/// Rows of a matrix of requests, m bits each.
fn rows(matrix: u32, n: usize, m: usize) -> Vec<Bits> {
    (0..n).map(|i| Bits::from(matrix >> (m * i)) & ((1 << m) - 1)).collect()
}

/// Every state with what a slot does to it, by pointers and matrix.
fn table(n: usize, m: usize, mut slot: impl FnMut(&mut Pointers, &[Bits]) -> Vec<Option<usize>>) -> Vec<Slot> {
    let states = (m as u32).pow(n as u32) * (n as u32).pow(m as u32);
    let mut table = Vec::with_capacity((states as usize) << (n * m));
    for number in 0..states {
        for matrix in 0..1u32 << (n * m) {
            let (mut pointers, requests) = (pointers_of(number, n, m), rows(matrix, n, m));
            let matched = slot(&mut pointers, &requests);
            assert_matching(&requests, &matched);
            let pairs = matched.iter().enumerate().filter_map(|(i, o)| Some(i * m + (*o)?));
            let served = pairs.fold(0, |set, pair| set | 1 << pair);
            table.push(Slot { pointers: number_of(&pointers, n, m), served });
        }
    }
    table
}

/// Most slots in a row that a pair can lose while it asks; `None`: more than the limit.
fn longest(table: &[Slot], bits: usize, pair: usize, limit: usize) -> Option<usize> {
    let mut can_lose = vec![true; table.len()];
    for slots in 0..=limit {
        // Not to be served in this slot, and then to lose `slots` more.
        let mut next: Vec<bool> = (0..table.len())
            .map(|state| {
                let (slot, matrix) = (table[state], state & ((1 << bits) - 1));
                let loses = matrix >> pair & 1 == 1 && slot.served >> pair & 1 == 0;
                loses && can_lose[(slot.pointers as usize) << bits | matrix & !(slot.served as usize)]
            })
            .collect();
        if next.iter().all(|can| !can) {
            return Some(slots);
        }
        // Bits that join in front of the slot, one bit after the other.
        for bit in 0..bits {
            for state in (0..next.len()).filter(|state| state >> bit & 1 == 0) {
                next[state] |= next[state | 1 << bit];
            }
        }
        can_lose = next;
    }
    None
}

/// Most slots that a request can lose. All pointers are there, so what is true of one pair is true of every other: inputs and
/// outputs can be numbered from any of them.
fn most_lost(name: &str, table: &[Slot], n: usize, m: usize) -> usize {
    let most = longest(table, n * m, 0, 4 * n * m);
    println!("{name} {n} x {m}: {} states, at most {most:?} slots lost", table.len());
    most.unwrap_or_else(|| panic!("{name} {n} x {m}: more than {} slots", 4 * n * m))
}

#[test]
fn islip_in_all_states() {
    for (n, m) in sizes() {
        for iterations in 1..=n.min(m) as u32 {
            let table = table(n, m, |pointers, requests| {
                let with = |(accept, grant): &Pointers| {
                    let new = Islip::new(n, m, iterations).expect("a legal size");
                    new.with_pointers(accept.iter().copied(), grant.iter().copied())
                };
                let mut own = with(pointers);
                let matched = slot_of(&mut own, requests);
                assert_eq!(matched, islip(iterations, pointers, requests), "{requests:?}");
                assert_eq!(own, with(pointers), "{requests:?}");
                matched
            });
            let most = most_lost(&format!("iSLIP, {iterations} iterations,"), &table, n, m);
            match iterations {
                1 => assert_eq!(most, bound(n, m), "{n} x {m}"),
                _ => assert!(most <= bound(n, m) + 1, "{n} x {m}, {iterations} iterations: {most}"),
            }
        }
    }
}

#[test]
fn separable_in_all_states() {
    for order in [Stage::InputFirst, Stage::OutputFirst] {
        for (n, m) in sizes() {
            let table = table(n, m, |pointers, requests| {
                let with = |(accept, grant): &Pointers| {
                    // Arbiters are made one after the other, those of inputs first.
                    let made = Cell::new(0);
                    let all: Vec<usize> = accept.iter().chain(grant).copied().collect();
                    let make = |of| {
                        made.set(made.get() + 1);
                        Ok(RoundRobin::new(of)?.starting_at(all[made.get() - 1]))
                    };
                    Separable::new(order, n, m, make).expect("a legal size")
                };
                let mut own = with(pointers);
                let matched = slot_of(&mut own, requests);
                assert_eq!(matched, separable(order, pointers, requests), "{requests:?}");
                assert_eq!(own, with(pointers), "{requests:?}");
                matched
            });
            let expected = if order == Stage::OutputFirst { bound(n, m) } else { bound(m, n) };
            assert_eq!(most_lost(&format!("{order:?}"), &table, n, m), expected, "{order:?} {n} x {m}");
        }
    }
}

/// The search finds a circle: served in turn, one of two pairs of an output loses one slot; never moved, it starves.
#[test]
fn a_request_that_starves_is_found() {
    let fair = table(2, 1, |pointers, requests| separable(Stage::InputFirst, pointers, requests));
    assert_eq!(longest(&fair, 2, 0, 2), Some(1));
    let stuck = table(2, 1, |pointers, requests| separable(Stage::InputFirst, &mut pointers.clone(), requests));
    assert_eq!(longest(&stuck, 2, 1, 100), None);
}
