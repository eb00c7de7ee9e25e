//! Inputs to outputs: two-stage separable, iSLIP.

use super::explore::{Graph, explore};
use super::sets::{Bits, matched, sets, slot_of};
use scalepool::arbiter::{
    Allocator, ArbiterError, Islip, Match, Matching, Matrix, Requests, RoundRobin, Separable, Stage,
};
use scalepool_testbenches::legal::Random;
use scalepool_testbenches::soak::is_soak;

/// Every matrix of requests of n inputs and m outputs.
fn matrices(n: usize, m: usize) -> Vec<Vec<Bits>> {
    (0..1u32 << (n * m)).map(|code| (0..n).map(|i| Bits::from(code >> (m * i)) & ((1 << m) - 1)).collect()).collect()
}

/// Only pairs that were asked for, each output once, one pair at least while anybody asks.
pub fn assert_matching(requests: &[Bits], matched: &[Option<usize>]) {
    let mut taken: Bits = 0;
    for (input, output) in matched.iter().enumerate().filter_map(|(i, o)| Some((i, (*o)?))) {
        assert!(requests[input] >> output & 1 == 1, "{requests:?}: {matched:?}");
        assert!(taken >> output & 1 == 0, "{requests:?}: {matched:?}");
        taken |= 1 << output;
    }
    assert_eq!(taken != 0, requests.iter().any(|r| *r != 0), "{requests:?}: {matched:?}");
}

/// No pair could be added.
fn is_maximal(requests: &[Bits], matched: &[Option<usize>]) -> bool {
    let taken = matched.iter().flatten().fold(0, |set: Bits, o| set | 1 << o);
    requests.iter().zip(matched).all(|(asked, output)| output.is_some() || asked & !taken == 0)
}

/// What is asked in a slot, and what comes of it.
type Slot = (Vec<Bits>, Vec<Option<usize>>);

/// Most slots in a row in which an input that asks for an output does not get it.
fn longest_wait<S, Q>(graph: &Graph<S, Q, Slot>, n: usize, m: usize) -> Option<usize> {
    let pairs = (0..n).flat_map(|i| (0..m).map(move |o| (i, o)));
    let waits = pairs.map(|(i, o)| graph.longest(|_, (asked, got)| asked[i] >> o & 1 == 1 && got[i] != Some(o)));
    waits.collect::<Option<Vec<_>>>().and_then(|waits| waits.into_iter().max())
}

/// Bits in front of an allocator: each stands until it is served, as that of a queue does; others join it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Standing(Vec<Bits>);

impl Standing {
    /// The requests of a slot: those that stand and new ones.
    fn with(&mut self, new: &[Bits]) -> Vec<Bits> {
        self.0.iter_mut().zip(new).for_each(|(old, new)| *old |= new);
        self.0.clone()
    }

    fn serve(&mut self, matched: &[Option<usize>]) {
        for (standing, output) in self.0.iter_mut().zip(matched) {
            *standing &= !output.map_or(0, |o| 1 << o);
        }
    }
}

/// The first of `count` that fits, counted from a pointer.
fn first(pointer: usize, count: usize, fits: impl Fn(usize) -> bool) -> Option<usize> {
    (0..count).map(|k| (pointer + k) % count).find(|&x| fits(x))
}

/// Pointers of a reference: inputs, then outputs.
pub type Pointers = (Vec<usize>, Vec<usize>);

/// Plain separable allocation with pointers.
pub fn separable(order: Stage, pointers: &mut Pointers, requests: &[Bits]) -> Vec<Option<usize>> {
    separable_of(order, pointers, |i, o| requests[i] >> o & 1 == 1)
}

/// The same of any number of inputs and outputs.
pub fn separable_of(order: Stage, pointers: &mut Pointers, asks: impl Fn(usize, usize) -> bool) -> Vec<Option<usize>> {
    let (accept, grant) = pointers.clone();
    let (n, m) = (accept.len(), grant.len());
    let matched: Vec<Option<usize>> = match order {
        Stage::InputFirst => {
            let picked: Vec<_> = (0..n).map(|i| first(accept[i], m, |o| asks(i, o))).collect();
            let winners: Vec<_> = (0..m).map(|o| first(grant[o], n, |i| picked[i] == Some(o))).collect();
            (0..n).map(|i| picked[i].filter(|&o| winners[o] == Some(i))).collect()
        }
        Stage::OutputFirst => {
            let picked: Vec<_> = (0..m).map(|o| first(grant[o], n, |i| asks(i, o))).collect();
            (0..n).map(|i| first(accept[i], m, |o| picked[o] == Some(i))).collect()
        }
    };
    for (i, o) in matched.iter().enumerate().filter_map(|(i, o)| Some((i, (*o)?))) {
        (pointers.0[i], pointers.1[o]) = ((o + 1) % m, (i + 1) % n);
    }
    matched
}

#[test]
fn separable_in_every_state() {
    for order in [Stage::InputFirst, Stage::OutputFirst] {
        for (n, m) in [(1, 1), (2, 2), (2, 3), (3, 2), (5, 1), (1, 5)] {
            let allocator = Separable::new(order, n, m, RoundRobin::new).unwrap();
            let start = (allocator, (vec![0; n], vec![0; m]), Standing(vec![0; n]));
            let graph = explore(start, &matrices(n, m), |(own, reference, standing), new| {
                let requests = standing.with(new);
                let matched = slot_of(own, &requests);
                assert_matching(&requests, &matched);
                assert_eq!(matched, separable(order, reference, &requests), "{order:?} {requests:?}");
                standing.serve(&matched);
                (requests, matched)
            });
            let wait = longest_wait(&graph, n, m).expect("no pair starves");
            assert!(wait <= n * m, "{order:?} {n} x {m}: {wait}");
        }
    }
}

/// 4 x 4, 5 x 5 and 8 x 8: random walks with the bound.
#[test]
fn separable_in_larger_sizes() {
    let mut random = Random::new(13);
    for (order, n) in
        [Stage::InputFirst, Stage::OutputFirst].into_iter().flat_map(|order| [4, 5, 8].map(|n| (order, n)))
    {
        let mut own = Separable::new(order, n, n, RoundRobin::new).unwrap();
        let mut reference = (vec![0; n], vec![0; n]);
        let (mut standing, mut waited) = (Standing(vec![0; n]), vec![0; n * n]);
        for _ in 0..8000 {
            let new: Vec<Bits> = (0..n).map(|_| random.wide() & random.wide() & ((1 << n) - 1)).collect();
            let requests = standing.with(&new);
            let matched = slot_of(&mut own, &requests);
            assert_matching(&requests, &matched);
            assert_eq!(matched, separable(order, &mut reference, &requests), "{order:?} {requests:?}");
            for (pair, waited) in waited.iter_mut().enumerate() {
                let (i, o) = (pair / n, pair % n);
                let lost = requests[i] >> o & 1 == 1 && matched[i] != Some(o);
                *waited = if lost { *waited + 1 } else { 0 };
                assert!(*waited <= n * n, "{order:?} {n} x {n}: {i} to {o}");
            }
            standing.serve(&matched);
        }
    }
}

/// Least recently granted in both stages: no pair starves either.
#[test]
fn separable_with_matrices() {
    for order in [Stage::InputFirst, Stage::OutputFirst] {
        // More requesters or more resources, by the order of the stages; in `make soak` both.
        let wide = match order {
            _ if is_soak() => &[(2, 3), (3, 2)][..],
            Stage::InputFirst => &[(2, 3)],
            Stage::OutputFirst => &[(3, 2)],
        };
        for &(n, m) in [(2, 2)].iter().chain(wide) {
            let start = (Separable::new(order, n, m, Matrix::new).unwrap(), Standing(vec![0; n]));
            let graph = explore(start, &matrices(n, m), |(own, standing), new| {
                let requests = standing.with(new);
                let matched = slot_of(own, &requests);
                assert_matching(&requests, &matched);
                standing.serve(&matched);
                (requests, matched)
            });
            let wait = longest_wait(&graph, n, m).expect("no pair starves");
            assert!(wait <= n * m, "{order:?} {n} x {m}: {wait}");
        }
    }
}

/// A pair that was not used is offered again, and the arbiters of others have not moved.
#[test]
fn separable_keeps_what_was_not_used() {
    for order in [Stage::InputFirst, Stage::OutputFirst] {
        let mut own = Separable::new(order, 3, 3, RoundRobin::new).unwrap();
        let requests = sets(&[0b001, 0b010, 0b100]);
        let (before, mut matching) = (own.clone(), Matching::new());
        own.arbitrate(&requests, &mut matching);
        assert_eq!(matched(&matching), [Some(0), Some(1), Some(2)]);
        (0..3).for_each(|input| matching.drop_pair(input));
        own.update(&requests, &matching);
        assert_eq!(own, before);
        own.arbitrate(&requests, &mut matching);
        [0, 2, 9].into_iter().for_each(|input| matching.drop_pair(input));
        own.update(&requests, &matching);
        assert_ne!(own, before);
        own.arbitrate(&requests, &mut matching);
        assert_eq!(matched(&matching), [Some(0), Some(1), Some(2)]);
        own.arbitrate(&[], &mut matching);
        assert_eq!(matched(&matching), [None; 3]);
    }
    let refused = Separable::new(Stage::InputFirst, 0, 3, RoundRobin::new);
    assert_eq!(refused.map(drop), Err(ArbiterError::Requesters { found: 0 }));
}

/// Plain iSLIP.
pub fn islip(iterations: u32, pointers: &mut Pointers, requests: &[Bits]) -> Vec<Option<usize>> {
    islip_of(iterations, pointers, |i, o| requests[i] >> o & 1 == 1)
}

/// The same of any number of inputs and outputs.
pub fn islip_of(iterations: u32, pointers: &mut Pointers, asks: impl Fn(usize, usize) -> bool) -> Vec<Option<usize>> {
    let (accept, grant) = pointers.clone();
    let (n, m) = (accept.len(), grant.len());
    let mut matched: Vec<Option<usize>> = vec![None; n];
    for iteration in 0..iterations {
        let free = |o: usize, matched: &[Option<usize>]| matched.iter().all(|x| *x != Some(o));
        let grants: Vec<Option<usize>> = (0..m)
            .map(|o| {
                let fits = |i: usize| asks(i, o) && matched[i].is_none() && free(o, &matched);
                first(grant[o], n, fits)
            })
            .collect();
        for i in 0..n {
            if let Some(o) = first(accept[i], m, |o| grants[o] == Some(i)) {
                matched[i] = Some(o);
                if iteration == 0 {
                    (pointers.0[i], pointers.1[o]) = ((o + 1) % m, (i + 1) % n);
                }
            }
        }
    }
    matched
}

/// One slot of both.
fn slot(own: &mut Islip, reference: &mut Pointers, iterations: u32, requests: &[Bits]) -> Vec<Option<usize>> {
    let (mut matching, requests_of_own) = (Matching::new(), sets(requests));
    own.arbitrate(&requests_of_own, &mut matching);
    own.update(&requests_of_own, &matching);
    let (pairs, matched) = (matching.pairs(), matched(&matching));
    assert_matching(requests, &matched);
    assert_eq!(matched, islip(iterations, reference, requests), "{requests:?}");
    let most = pairs.iter().flatten().map(|p| p.iteration).max();
    assert!(most.is_none_or(|most| most < iterations));
    // As many iterations as inputs leave nothing out.
    assert!((iterations as usize) < requests.len() || is_maximal(requests, &matched), "{requests:?}: {matched:?}");
    matched
}

#[test]
fn islip_in_every_state() {
    for (n, m) in [(1, 1), (2, 2), (2, 3), (3, 2), (5, 1), (1, 5)] {
        for iterations in 1..=n as u32 {
            let start = (Islip::new(n, m, iterations).unwrap(), (vec![0; n], vec![0; m]), Standing(vec![0; n]));
            let graph = explore(start, &matrices(n, m), |(own, reference, standing), new| {
                let requests = standing.with(new);
                let matched = slot(own, reference, iterations, &requests);
                standing.serve(&matched);
                (requests, matched)
            });
            let wait = longest_wait(&graph, n, m).expect("no pair starves");
            assert!(wait <= n * m, "{n} x {m}, {iterations} iterations: {wait}");
        }
    }
}

/// 3 x 3: every matrix in every state that one iteration reaches, and a pair that starves when requests of others come and
/// go unserved, which no queue does; 4 x 4 and 5 x 5: random walks with the bound.
#[test]
fn islip_in_larger_sizes() {
    let start = (Islip::new(3, 3, 1).unwrap(), (vec![0; 3], vec![0; 3]));
    let graph = explore(start, &matrices(3, 3), |(own, reference), requests| {
        (requests.clone(), slot(own, reference, 1, requests))
    });
    assert_eq!(longest_wait(&graph, 3, 3), None);
    let mut random = Random::new(11);
    for n in [4, 5] {
        for iterations in 1..=n as u32 {
            let mut own = Islip::new(n, n, iterations).unwrap();
            let mut reference = (vec![0; n], vec![0; n]);
            let (mut standing, mut waited) = (Standing(vec![0; n]), vec![0; n * n]);
            for _ in 0..4000 {
                let new: Vec<Bits> = (0..n).map(|_| random.wide() & random.wide() & ((1 << n) - 1)).collect();
                let requests = standing.with(&new);
                let matched = slot(&mut own, &mut reference, iterations, &requests);
                for (pair, waited) in waited.iter_mut().enumerate() {
                    let (i, o) = (pair / n, pair % n);
                    let lost = requests[i] >> o & 1 == 1 && matched[i] != Some(o);
                    *waited = if lost { *waited + 1 } else { 0 };
                    assert!(*waited < n * n, "{n} x {n}, {iterations} iterations: {i} to {o}");
                }
                standing.serve(&matched);
            }
        }
    }
}

/// `fabric` §6.1: all queues full. From pointers of 0 the sizes are 1, 2, .., N, N; from any, N after at most N - 1 slots.
#[test]
fn islip_under_full_load() {
    let mut random = Random::new(12);
    let sizes = |mut own: Islip, n: usize| {
        let (requests, mut matching) = (vec![Requests::all(n); n], Matching::new());
        (0..2 * n)
            .map(|_| {
                own.arbitrate(&requests, &mut matching);
                own.update(&requests, &matching);
                matching.iter().count()
            })
            .collect::<Vec<_>>()
    };
    for n in [1, 2, 3, 4, 5, 8, 16, 64, 65, 128, 129] {
        let expected: Vec<_> = (1..=n).chain(std::iter::repeat_n(n, n)).collect();
        assert_eq!(sizes(Islip::new(n, n, 1).unwrap(), n), expected);
        for _ in 0..if n > 16 { 5 } else { 300 } {
            let mut any = || (0..n).map(|_| random.below(n)).collect::<Vec<_>>();
            let sizes = sizes(Islip::new(n, n, 1).unwrap().with_pointers(any(), any()), n);
            assert!(sizes[n - 1..].iter().all(|&s| s == n), "{n}: {sizes:?}");
        }
    }
}

/// A pair of a later iteration moves nothing, a pair that was not used neither.
#[test]
fn islip_moves_for_used_pairs_of_the_first_iteration() {
    let mut own = Islip::new(2, 2, 2).unwrap();
    let (requests, mut matching, before) = (sets(&[0b11, 0b11]), Matching::new(), own.clone());
    let pair = |output, iteration| Some(Match { output, iteration });
    own.arbitrate(&requests, &mut matching);
    assert_eq!(matching.pairs(), [pair(0, 0), pair(1, 1)]);
    matching.drop_pair(0);
    own.update(&requests, &matching);
    assert_eq!(own, before);
    own.arbitrate(&requests, &mut matching);
    matching.drop_pair(1);
    own.update(&requests, &matching);
    assert_eq!(own, before.with_pointers([1, 0], [1, 0]));
    assert_eq!(Islip::new(2, 2, 0), Err(ArbiterError::Iterations));
    assert_eq!(Islip::new(2, 1025, 1), Err(ArbiterError::Requesters { found: 1025 }));
}
