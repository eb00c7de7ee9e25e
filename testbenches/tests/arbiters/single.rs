//! One resource: round robin, matrix, weighted round robin, strict priority, age.

use super::explore::{Graph, explore};
use super::sets::Bits;
use scalepool::arbiter::{
    AgeBased, Arbiter, ArbiterError, Matrix, Requests, RoundRobin, StrictPriority, WeightedRoundRobin,
};

/// Largest number of requesters that is walked through.
const MOST: usize = 5;

type Walked<S> = Graph<S, Bits, Option<usize>>;

/// Every set of requesters.
fn sets(requesters: usize) -> Vec<Bits> {
    (0..1 << requesters).collect()
}

/// Walks an arbiter beside a reference; both see every set in every state that they reach together.
fn walk<A: Arbiter + Clone + Ord, R: Clone + Ord>(
    arbiter: A,
    reference: R,
    expected: impl Fn(&R, Bits) -> Option<usize>,
    used: impl Fn(&mut R, Bits, usize),
) -> Walked<(A, R)> {
    let requesters = arbiter.requesters();
    explore((arbiter, reference), &sets(requesters), |(arbiter, reference), &requests| {
        let granted = arbiter.arbitrate(&requests.into());
        assert_eq!(granted, expected(reference, requests), "{requests:#b}");
        assert_eq!(granted.is_some(), requests != 0, "somebody is served while somebody asks");
        assert!(granted.is_none_or(|i| requests >> i & 1 == 1), "only who asks is served");
        // Others do not count, and asking twice is asking once.
        assert_eq!(arbiter.arbitrate(&(requests | Bits::MAX << requesters).into()), granted);
        if let Some(granted) = granted {
            arbiter.update(&requests.into(), granted);
            used(reference, requests, granted);
        }
        granted
    })
}

/// Most grants in a row to others while requester i keeps asking.
fn wait<S>(graph: &Walked<S>, i: usize) -> Option<usize> {
    graph.longest(|asked, got| asked >> i & 1 == 1 && *got != Some(i))
}

fn asks(requests: Bits, i: usize) -> bool {
    requests >> i & 1 == 1
}

/// Reference: a queue in which the served one and all before it go to the end.
#[test]
fn round_robin() {
    for n in 1..=MOST {
        let graph = walk(
            RoundRobin::new(n).unwrap(),
            (0..n).collect::<Vec<_>>(),
            |queue, requests| queue.iter().copied().find(|&i| asks(requests, i)),
            |queue, _, granted| {
                let at = queue.iter().position(|&i| i == granted).unwrap();
                queue.rotate_left((at + 1) % n);
            },
        );
        assert_eq!(graph.states.len(), n);
        assert!((0..n).all(|i| wait(&graph, i) == Some(n - 1)));
        let moved = RoundRobin::new(n).unwrap().starting_at(n + 1);
        assert_eq!((moved.pointer(), moved.arbitrate(&Requests::all(128))), (1 % n, Some(1 % n)));
    }
}

/// Reference: a queue in which the served one alone goes to the end.
#[test]
fn matrix() {
    for n in 1..=MOST {
        let graph = walk(
            Matrix::new(n).unwrap(),
            (0..n).collect::<Vec<_>>(),
            |queue, requests| queue.iter().copied().find(|&i| asks(requests, i)),
            |queue, _, granted| {
                queue.retain(|&i| i != granted);
                queue.push(granted);
            },
        );
        assert_eq!(graph.states.len(), (1..=n).product::<usize>(), "every order of them");
        assert!((0..n).all(|i| wait(&graph, i) == Some(n - 1)));
        for (matrix, queue) in &graph.states {
            for (place, &one) in queue.iter().enumerate() {
                assert!(queue[place + 1..].iter().all(|&other| matrix.goes_before(one, other)));
                assert!(queue[..=place].iter().all(|&other| !matrix.goes_before(one, other)));
            }
        }
    }
    // The full size: every bit of a row.
    let (mut matrix, all) = (Matrix::new(1024).unwrap(), Requests::all(1024));
    for i in (0..1024).chain(0..1024) {
        assert_eq!(matrix.arbitrate(&all), Some(i));
        matrix.update(&all, i);
    }
}

/// Earned and paid of each, kept apart, with what both share taken off so that there is an end to the states.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Account {
    earned: Vec<u64>,
    paid: Vec<u64>,
}

fn weighted_walk(weights: &[u16]) -> Walked<(WeightedRoundRobin, Account)> {
    let n = weights.len();
    let sum = |requests: Bits| (0..n).filter(|&i| asks(requests, i)).map(|i| u64::from(weights[i])).sum::<u64>();
    walk(
        WeightedRoundRobin::new(weights).unwrap(),
        Account { earned: vec![0; n], paid: vec![0; n] },
        |account, requests| {
            let asking = (0..n).filter(|&i| asks(requests, i));
            let due = |i: usize| account.earned[i] + u64::from(weights[i]);
            asking.reduce(|best, i| if due(i) + account.paid[best] > due(best) + account.paid[i] { i } else { best })
        },
        |account, requests, granted| {
            (0..n).filter(|&i| asks(requests, i)).for_each(|i| account.earned[i] += u64::from(weights[i]));
            account.paid[granted] += sum(requests);
            for i in 0..n {
                let both = account.earned[i].min(account.paid[i]);
                (account.earned[i], account.paid[i]) = (account.earned[i] - both, account.paid[i] - both);
            }
        },
    )
}

/// All weights from 1 to 3 of up to 3 requesters, some sets of 4 and 5.
fn weights() -> Vec<Vec<u16>> {
    let mut all = vec![vec![]];
    for _ in 0..3 {
        all = all
            .iter()
            .flat_map(|w: &Vec<u16>| [vec![], vec![1], vec![2], vec![3]].map(|more| [w.clone(), more].concat()))
            .collect();
    }
    all.extend([vec![1, 1, 1, 1], vec![1, 2, 3, 4], vec![5, 1, 1, 1], vec![3, 3, 1, 2], vec![1, 1, 1, 1, 1]]);
    all.retain(|w| !w.is_empty());
    all.sort();
    all.dedup();
    all
}

#[test]
fn weighted_round_robin() {
    for weights in weights() {
        let (n, sum) = (weights.len(), weights.iter().map(|&w| i64::from(w)).sum::<i64>());
        let graph = weighted_walk(&weights);
        for (arbiter, _) in &graph.states {
            assert_eq!(arbiter.owed().iter().sum::<i64>(), 0);
            let bounds = -sum..=(n as i64 - 1) * sum;
            assert!(arbiter.owed().iter().all(|o| bounds.contains(o)), "{weights:?}: {:?}", arbiter.owed());
        }
        for (i, &w) in weights.iter().enumerate() {
            let wait = wait(&graph, i).expect("nobody starves");
            assert!(wait <= n * sum as usize / usize::from(w), "{weights:?}: {i} waits {wait}");
        }
    }
}

/// All ask: exact shares, spread evenly.
#[test]
fn weighted_shares() {
    for weights in weights() {
        let (n, sum) = (weights.len(), weights.iter().map(|&w| i64::from(w)).sum::<i64>());
        let mut arbiter = WeightedRoundRobin::new(&weights).unwrap();
        assert_eq!(arbiter.weights(), weights);
        let mut granted = vec![0i64; n];
        for slot in 1..=2 * sum {
            let winner = arbiter.arbitrate(&Bits::MAX.into()).unwrap();
            arbiter.update(&Bits::MAX.into(), winner);
            granted[winner] += 1;
            for (&w, &g) in weights.iter().zip(&granted) {
                let ahead = g * sum - slot * i64::from(w);
                assert!((1 - n as i64) * sum <= ahead && ahead < sum, "{weights:?} slot {slot}: {ahead}");
                assert!(slot % sum != 0 || ahead == 0, "{weights:?} slot {slot}");
            }
        }
    }
    // Weight 0: what others leave.
    let mut arbiter = WeightedRoundRobin::new(&[0, 2, 0]).unwrap();
    for (requests, winner) in [(0b111u64, 1), (0b101, 0), (0b111, 1), (0b100, 2), (0b110, 1)] {
        assert_eq!(arbiter.arbitrate(&requests.into()), Some(winner));
        arbiter.update(&requests.into(), winner);
        assert_eq!(arbiter.owed(), [0, 0, 0]);
    }
}

/// The places of two clients on the wire of a CXL link (`cxl-68b` §8.2), one after the other.
#[derive(Default)]
struct Places {
    owed: [i64; 2],
}

impl Places {
    fn first(&self, weights: [u16; 2]) -> usize {
        let [io, cachemem] = [0, 1].map(|n| self.owed[n] + i64::from(weights[n]));
        usize::from(io < cachemem)
    }

    fn taken(&mut self, weights: [u16; 2], by: usize) {
        (0..2).for_each(|n| self.owed[n] += i64::from(weights[n]));
        self.owed[by] -= weights.map(i64::from).iter().sum::<i64>();
    }
}

/// Two that ask for every place, of which one leaves some: how the ARB/MUX shares the wire.
#[test]
fn weighted_for_two_shares_the_places_of_the_arb_mux() {
    let both = Requests::all(2);
    for weights in [[1, 1], [3, 1], [2, 5], [0, 1], [1, 0], [0, 0], [65535, 1]] {
        let (mut own, mut places) = (WeightedRoundRobin::new(&weights).unwrap(), Places::default());
        for slot in 0..2000 {
            let first = own.arbitrate(&both).unwrap();
            assert_eq!(places.first(weights), first, "{weights:?} slot {slot}");
            if slot % 7 == 3 {
                // A place that the first leaves counts for nobody; one that asks alone pays what it earns, which is the same.
                let (before, other) = (own.clone(), 1 - first);
                own.update(&[other].into_iter().collect(), other);
                assert_eq!(own, before);
            } else {
                own.update(&both, first);
                places.taken(weights, first);
            }
        }
    }
}

/// Reference: the overdue sorted by their wait, then the numbers.
fn priority_walk(n: usize, guard: u32) -> Walked<(StrictPriority, Vec<u32>)> {
    let overdue = guard - n as u32 + 1;
    walk(
        StrictPriority::new(n, Some(guard)).unwrap(),
        vec![0; n],
        |lost, requests| {
            let mut asking: Vec<usize> = (0..n).filter(|&i| asks(requests, i)).collect();
            asking.sort_by_key(|&i| (u32::MAX - if lost[i] >= overdue { lost[i] } else { 0 }, i));
            asking.first().copied()
        },
        |lost, requests, granted| {
            for (i, lost) in lost.iter_mut().enumerate() {
                *lost = if asks(requests, i) && i != granted { *lost + 1 } else { 0 };
            }
        },
    )
}

#[test]
fn strict_priority_with_a_guard() {
    for n in 1..=MOST {
        for guard in [n as u32, n as u32 + 1, n as u32 + 3] {
            let graph = priority_walk(n, guard);
            let waits: Vec<_> = (0..n).map(|i| wait(&graph, i).expect("nobody starves")).collect();
            assert!(waits.iter().all(|&w| w < guard as usize), "{n} requesters, guard {guard}: {waits:?}");
            // The bound is reached, so it could not be smaller.
            let least = if n < 3 { n as u32 - 1 } else { guard - 1 };
            assert!(waits.iter().any(|&w| w >= least as usize), "{n} requesters, guard {guard}: {waits:?}");
            assert!(graph.states.iter().all(|(a, lost)| a.lost_slots() == lost));
        }
    }
}

#[test]
fn strict_priority_without_a_guard() {
    for n in 2..=MOST {
        let graph = walk(
            StrictPriority::new(n, None).unwrap(),
            (),
            |(), requests| (0..n).find(|&i| asks(requests, i)),
            |(), _, _| (),
        );
        assert_eq!((graph.states.len(), wait(&graph, 0)), (1, Some(0)));
        assert!((1..n).all(|i| wait(&graph, i).is_none()), "the others may starve");
    }
}

/// Every mix of ages, every pointer: the oldest, of equals the first at or behind the pointer.
#[test]
fn age_based() {
    for n in 1..=MOST {
        let ages = if n < 5 { 4 } else { 3 };
        for pointer in 0..n {
            for code in 0..usize::pow(ages, n as u32) {
                let born: Vec<_> = (0..n).map(|i| (code / usize::pow(ages, i as u32) % ages).checked_sub(1)).collect();
                let born: Vec<Option<u64>> = born.into_iter().map(|b| b.map(|b| b as u64)).collect();
                let mut arbiter = AgeBased::new(n).unwrap();
                arbiter.update((pointer + n - 1) % n);
                let order = (0..n).map(|k| (pointer + k) % n);
                let expected = order.filter(|&i| born[i].is_some()).min_by_key(|&i| born[i]);
                assert_eq!(arbiter.arbitrate(&born), expected, "{born:?} from {pointer}");
            }
        }
    }
    let mut arbiter = AgeBased::new(2).unwrap();
    assert_eq!(arbiter.arbitrate(&[]), None);
    assert_eq!(arbiter.arbitrate(&[None, Some(9), Some(1)]), Some(1), "there is no requester 2");
    arbiter.update(0);
    assert_eq!(arbiter.arbitrate(&[Some(4), Some(4)]), Some(1));
}

#[test]
fn what_cannot_be_built() {
    for found in [0, 1025] {
        let error = Err::<(), _>(ArbiterError::Requesters { found });
        assert_eq!(RoundRobin::new(found).map(drop), error);
        assert_eq!(Matrix::new(found).map(drop), error);
        assert_eq!(WeightedRoundRobin::new(&vec![1; found]).map(drop), error);
        assert_eq!(StrictPriority::new(found, None).map(drop), error);
        assert_eq!(AgeBased::new(found).map(drop), error);
    }
    let refused = StrictPriority::new(4, Some(3)).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "strict priority: found a guard of 3 slots, expected at least 4, one for each requester"
    );
}
