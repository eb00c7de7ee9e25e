//! The rules of arbiters (FAB-ARB), as judges of what was asked and granted: those of the library obey them, and an arbiter with one
//! mistake is found by the judge of its rule.

use super::matching::{Pointers, islip};
use super::sets::{Bits, matched, sets};
use scalepool::arbiter::{
    AgeBased, Allocator, Arbiter, DeficitRoundRobin, Islip, Matching, Matrix, Requests, RoundRobin, StrictPriority,
    WeightedRoundRobin,
};
use scalepool_testbenches::legal::Random;
use std::collections::BTreeSet;

/// Who asked in a slot, and who was granted.
type Slot = (BTreeSet<usize>, Option<usize>);

/// Numbers of requesters, those of one and of more words among them.
const SIZES: [usize; 6] = [2, 3, 5, 16, 64, 65];
const SLOTS: usize = 1500;

/// Slots of an arbiter, whose requesters begin to ask at random and then ask until they are served.
fn log(n: usize, seed: u64, mut grant: impl FnMut(&BTreeSet<usize>) -> Option<usize>) -> Vec<Slot> {
    let (mut random, mut waiting) = (Random::new(seed), BTreeSet::new());
    let slot = |slot| {
        // A hundred slots with more requests than slots, a hundred with fewer.
        let often = if slot / 100 % 2 == 0 { 3 } else { n + 1 };
        for requester in 0..n {
            if random.one_in(often) {
                waiting.insert(requester);
            }
        }
        let asking = waiting.clone();
        let granted = grant(&asking);
        granted.map(|granted| waiting.remove(&granted));
        (asking, granted)
    };
    (0..SLOTS).map(slot).collect()
}

/// The grants of an arbiter of the library.
fn granted_by(mut own: impl Arbiter) -> impl FnMut(&BTreeSet<usize>) -> Option<usize> {
    move |asking| {
        let requests: Requests = asking.iter().copied().collect();
        let granted = own.arbitrate(&requests)?;
        own.update(&requests, granted);
        Some(granted)
    }
}

/// FAB-ARB-01: slots in which somebody asked and nobody, or somebody else, was granted.
fn idle_slots(log: &[Slot]) -> usize {
    log.iter().filter(|(asking, granted)| granted.map_or(!asking.is_empty(), |one| !asking.contains(&one))).count()
}

/// FAB-ARB-02, FAB-ARB-03: most grants to others while one requester waited.
fn most_passed(log: &[Slot], n: usize) -> usize {
    let (mut passed, mut most) = (vec![0; n], 0);
    for (asking, granted) in log {
        for (requester, passed) in passed.iter_mut().enumerate() {
            let waits = asking.contains(&requester) && *granted != Some(requester);
            *passed = if waits { *passed + usize::from(granted.is_some()) } else { 0 };
            most = most.max(*passed);
        }
    }
    most
}

/// FAB-ARB-03: grants to another one than the least recently granted, of those never granted the lowest number.
fn not_least_recent(log: &[Slot], n: usize) -> usize {
    let mut last: Vec<usize> = vec![0; n];
    let mut wrong = 0;
    for (slot, (asking, granted)) in log.iter().enumerate() {
        let expected = asking.iter().copied().min_by_key(|requester| (last[*requester], *requester));
        wrong += usize::from(*granted != expected);
        granted.iter().for_each(|granted| last[*granted] = slot + 1);
    }
    wrong
}

#[test]
fn fab_arb_01_p() {
    for n in SIZES {
        assert_eq!(idle_slots(&log(n, 1, granted_by(RoundRobin::new(n).unwrap()))), 0);
        assert_eq!(idle_slots(&log(n, 2, granted_by(Matrix::new(n).unwrap()))), 0);
        assert_eq!(idle_slots(&log(n, 3, granted_by(WeightedRoundRobin::new(&vec![3; n]).unwrap()))), 0);
        assert_eq!(idle_slots(&log(n, 4, granted_by(StrictPriority::new(n, Some(2 * n as u32)).unwrap()))), 0);
    }
}

/// An arbiter by turns, which grants nobody where the one whose turn it is does not ask; and one that grants who did not ask.
#[test]
fn fab_arb_01_n() {
    for n in SIZES {
        let mut turn = 0;
        let by_turns = log(n, 5, |asking| {
            turn = (turn + 1) % n;
            asking.contains(&turn).then_some(turn)
        });
        assert!(idle_slots(&by_turns) > SLOTS / 100, "{n}");
        assert!(idle_slots(&log(n, 6, |asking| asking.iter().next().map(|first| (first + 1) % n))) > 0, "{n}");
    }
}

#[test]
fn fab_arb_02_p() {
    for n in SIZES {
        let log = log(n, 7, granted_by(RoundRobin::new(n).unwrap()));
        assert!(most_passed(&log, n) < n, "{n}");
    }
}

/// A pointer that stays on the requester that was served, and no pointer: the lowest number first.
#[test]
fn fab_arb_02_n() {
    for n in SIZES {
        let around =
            |asking: &BTreeSet<usize>, from: usize| (0..n).map(|k| (from + k) % n).find(|at| asking.contains(at));
        let mut pointer = 0;
        let stays = log(n, 8, |asking| {
            pointer = around(asking, pointer)?;
            Some(pointer)
        });
        // Who was served asks again soon, and is served again.
        assert!(most_passed(&stays, n) >= n, "{n}: {}", most_passed(&stays, n));
        let always_first = log(n, 9, |asking| asking.iter().next().copied());
        assert!(most_passed(&always_first, n) >= n, "{n}");
    }
}

#[test]
fn fab_arb_03_p() {
    for n in SIZES {
        let log = log(n, 10, granted_by(Matrix::new(n).unwrap()));
        assert_eq!((not_least_recent(&log, n), most_passed(&log, n) < n), (0, true), "{n}");
    }
}

/// A round robin serves others first; so does a matrix whose row is not cleared.
#[test]
fn fab_arb_03_n() {
    for n in SIZES.into_iter().filter(|n| *n > 2) {
        assert!(not_least_recent(&log(n, 11, granted_by(RoundRobin::new(n).unwrap())), n) > 0, "{n}");
        let mut matrix = Matrix::new(n).unwrap();
        let mut slot = 0;
        let forgets = log(n, 12, |asking| {
            let requests: Requests = asking.iter().copied().collect();
            let granted = matrix.arbitrate(&requests)?;
            slot += 1;
            if slot % 7 > 0 {
                matrix.update(&requests, granted);
            }
            Some(granted)
        });
        assert!(not_least_recent(&forgets, n) > 0, "{n}");
    }
}

/// FAB-ARB-04, grants: the largest number of grants by which a requester is away from its share of whole rounds, when all ask.
fn off_shares(weights: &[u16], mut grant: impl FnMut(&BTreeSet<usize>) -> Option<usize>) -> u64 {
    let sum: u64 = weights.iter().map(|w| u64::from(*w)).sum();
    let all: BTreeSet<usize> = (0..weights.len()).collect();
    let mut counts = vec![0u64; weights.len()];
    let mut off = 0;
    for round in 1..=8 {
        for _ in 0..sum {
            grant(&all).into_iter().for_each(|granted| counts[granted] += 1);
        }
        off = counts.iter().zip(weights).map(|(count, w)| count.abs_diff(round * u64::from(*w))).fold(off, u64::max);
    }
    off
}

/// FAB-ARB-04, bytes: the largest number of bytes by which two requesters that always wait are apart, in rounds of their quanta, above
/// a quantum and a packet.
fn bytes_beyond(quanta: &[u32], seed: u64, mut grant: impl FnMut(&[Option<u32>]) -> usize) -> f64 {
    const LARGEST: u32 = 900;
    let mut random = Random::new(seed);
    let mut packet = move || 1 + random.below(LARGEST as usize) as u32;
    let mut heads: Vec<Option<u32>> = quanta.iter().map(|_| Some(packet())).collect();
    let mut sent = vec![0.0; quanta.len()];
    let mut beyond: f64 = 0.0;
    for _ in 0..4000 {
        let granted = grant(&heads);
        sent[granted] += f64::from(heads[granted].unwrap());
        heads[granted] = Some(packet());
        let rounds = |n: usize| sent[n] / f64::from(quanta[n]);
        for one in 0..quanta.len() {
            for other in 0..quanta.len() {
                let allowed =
                    2.0 + f64::from(LARGEST) / f64::from(quanta[one]) + f64::from(LARGEST) / f64::from(quanta[other]);
                beyond = beyond.max(rounds(one) - rounds(other) - allowed);
            }
        }
    }
    beyond
}

const WEIGHTS: [&[u16]; 4] = [&[1, 1], &[7, 1], &[1, 2, 3, 4], &[65535, 1, 300]];
const QUANTA: [&[u32]; 3] = [&[1000, 1000], &[64, 256, 4096], &[1, 1, 1, 500]];

#[test]
fn fab_arb_04_p() {
    for weights in WEIGHTS {
        assert_eq!(off_shares(weights, granted_by(WeightedRoundRobin::new(weights).unwrap())), 0, "{weights:?}");
    }
    for quanta in QUANTA {
        let mut own = DeficitRoundRobin::new(quanta).unwrap();
        let beyond = bytes_beyond(quanta, 13, |heads| {
            let granted = own.arbitrate(heads).unwrap();
            own.update(heads, granted);
            granted
        });
        assert_eq!(beyond, 0.0, "{quanta:?}");
    }
}

/// Turns without weights, and turns that count packets in place of bytes.
#[test]
fn fab_arb_04_n() {
    for weights in &WEIGHTS[1..] {
        assert!(off_shares(weights, granted_by(RoundRobin::new(weights.len()).unwrap())) > 0, "{weights:?}");
    }
    for quanta in &QUANTA[1..] {
        let mut turn = 0;
        let beyond = bytes_beyond(quanta, 14, |heads| {
            turn = (turn + 1) % heads.len();
            turn
        });
        assert!(beyond > 0.0, "{quanta:?}");
    }
}

/// FAB-ARB-05: grants to another request than an oldest one.
fn not_oldest(n: usize, seed: u64, mut grant: impl FnMut(&[Option<u64>]) -> usize) -> usize {
    let (mut random, mut born, mut wrong) = (Random::new(seed), vec![None; n], 0);
    for slot in 0..SLOTS as u64 {
        for one in born.iter_mut().filter(|one| one.is_none()) {
            *one = random.one_in(2).then_some(slot);
        }
        let Some(oldest) = born.iter().flatten().min().copied() else { continue };
        let granted = grant(&born);
        wrong += usize::from(born[granted] != Some(oldest));
        born[granted] = None;
    }
    wrong
}

#[test]
fn fab_arb_05_p() {
    for n in SIZES {
        let mut own = AgeBased::new(n).unwrap();
        let wrong = not_oldest(n, 15, |born| {
            let granted = own.arbitrate(born).unwrap();
            own.update(granted);
            granted
        });
        assert_eq!(wrong, 0, "{n}");
    }
}

/// The youngest first, and the lowest number whatever the age.
#[test]
fn fab_arb_05_n() {
    for n in SIZES {
        let youngest = |born: &[Option<u64>]| (0..n).filter(|i| born[*i].is_some()).max_by_key(|i| born[*i]).unwrap();
        assert!(not_oldest(n, 16, youngest) > 0, "{n}");
        assert!(not_oldest(n, 17, |born| born.iter().position(Option::is_some).unwrap()) > 0, "{n}");
    }
}

/// FAB-ARB-06: the longest wait of the requester of lowest priority under full load, in slots up to the one that serves it.
fn longest_wait(n: usize, mut grant: impl FnMut(&BTreeSet<usize>) -> Option<usize>) -> usize {
    let all: BTreeSet<usize> = (0..n).collect();
    let (mut waited, mut longest) = (0, 0);
    for _ in 0..SLOTS {
        waited += 1;
        longest = longest.max(waited);
        if grant(&all) == Some(n - 1) {
            waited = 0;
        }
    }
    longest
}

#[test]
fn fab_arb_06_p() {
    for n in SIZES {
        // The least that is possible, our preset of 64, and more.
        for guard in [n, 64.max(n), 200.max(n)] {
            let own = StrictPriority::new(n, Some(guard as u32)).unwrap();
            assert_eq!(longest_wait(n, granted_by(own)), guard, "{n} {guard}");
        }
    }
}

/// Without a guard, and with one that is off by one.
#[test]
fn fab_arb_06_n() {
    for n in SIZES {
        assert_eq!(longest_wait(n, granted_by(StrictPriority::new(n, None).unwrap())), SLOTS, "it starves");
        let guard = 64.max(n);
        let late = StrictPriority::new(n, Some(guard as u32 + 1)).unwrap();
        assert!(longest_wait(n, granted_by(late)) > guard, "{n}");
    }
}

/// FAB-ARB-07: sizes of matchings in slots with full queues. With `moves_unaccepted` the pointer of an output
/// moves for grants that were not accepted too: that is the mistake.
fn sizes(n: usize, start: usize, moves_unaccepted: bool) -> Vec<usize> {
    let (mut grants, mut accepts) = (vec![start; n], vec![start; n]);
    let slot = |_| {
        let granted: Vec<usize> = grants.clone();
        let mut size = 0;
        let mut accepted_by = vec![None; n];
        for (input, accept) in accepts.iter_mut().enumerate() {
            let of_input = |output: &usize| granted[*output] == input;
            if let Some(output) = (0..n).map(|k| (*accept + k) % n).find(of_input) {
                accepted_by[output] = Some(input);
                *accept = (output + 1) % n;
                size += 1;
            }
        }
        for (output, grant) in grants.iter_mut().enumerate() {
            if accepted_by[output].is_some() || moves_unaccepted {
                *grant = (granted[output] + 1) % n;
            }
        }
        size
    };
    (0..2 * n).map(slot).collect()
}

/// Full queues of an allocator of the library.
fn own_sizes(mut own: Islip, n: usize) -> Vec<usize> {
    let (requests, mut matching) = (vec![Requests::all(n); n], Matching::new());
    let slot = |_| {
        own.arbitrate(&requests, &mut matching);
        own.update(&requests, &matching);
        matching.iter().count()
    };
    (0..2 * n).map(slot).collect()
}

/// Every pair of pointers of 3 x 3, every matrix of requests: pairs of the first of two iterations move the pointers, others do not.
#[test]
fn fab_arb_07_p() {
    const N: usize = 3;
    let mut random = Random::new(18);
    for _ in 0..4000 {
        let mut pointers: Pointers =
            ((0..N).map(|_| random.below(N)).collect(), (0..N).map(|_| random.below(N)).collect());
        let requests: Vec<Bits> = (0..N).map(|_| random.below(8) as Bits).collect();
        let start = Islip::new(N, N, 2).unwrap();
        let mut own = start.clone().with_pointers(pointers.0.clone(), pointers.1.clone());
        let (mut matching, of_own) = (Matching::new(), sets(&requests));
        own.arbitrate(&of_own, &mut matching);
        own.update(&of_own, &matching);
        assert_eq!(matched(&matching), islip(2, &mut pointers, &requests), "{requests:?}");
        assert_eq!(own, start.with_pointers(pointers.0, pointers.1), "{requests:?}");
    }
    for n in [2, 4, 16, 65] {
        assert_eq!(sizes(n, 0, false), own_sizes(Islip::new(n, n, 1).unwrap(), n), "{n}");
    }
}

/// Grant pointers that move without an acceptance stay together: one pair a slot for ever. Pointers that move for a pair of the second
/// iteration are elsewhere than those of the library.
#[test]
fn fab_arb_07_n() {
    let (mut random, mut seen) = (Random::new(20), 0);
    for _ in 0..400 {
        let requests: Vec<Bits> = (0..3).map(|_| random.below(8) as Bits).collect();
        let (mut pointers, of_own, mut matching): (Pointers, _, _) =
            ((vec![0; 3], vec![0; 3]), sets(&requests), Matching::new());
        let start = Islip::new(3, 3, 2).unwrap();
        let mut own = start.clone();
        own.arbitrate(&of_own, &mut matching);
        own.update(&of_own, &matching);
        for (input, output) in matching.iter() {
            (pointers.0[input], pointers.1[output]) = ((output + 1) % 3, (input + 1) % 3);
        }
        seen += usize::from(own != start.with_pointers(pointers.0, pointers.1));
    }
    assert!(seen > 20, "{seen}");
    for n in [2, 4, 16, 65] {
        assert!(sizes(n, 0, true).iter().all(|size| *size == 1), "{n}");
        assert_ne!(sizes(n, 0, true), own_sizes(Islip::new(n, n, 1).unwrap(), n), "{n}");
    }
}

/// FAB-ARB-08: from pointers of 0 the sizes are 1, 2, .., N, N, ..; from any, N after at most N-1 slots.
fn fills(sizes: &[usize], n: usize, is_from_zero: bool) -> bool {
    let rises = sizes.iter().enumerate().all(|(slot, size)| *size == (slot + 1).min(n));
    sizes[n - 1..].iter().all(|size| *size == n) && (!is_from_zero || rises)
}

#[test]
fn fab_arb_08_p() {
    let mut random = Random::new(19);
    for n in [1, 4, 5, 8, 16, 64] {
        assert!(fills(&own_sizes(Islip::new(n, n, 1).unwrap(), n), n, true), "{n}");
        for _ in 0..if n > 16 { 60 } else { 300 } {
            let mut any = || (0..n).map(|_| random.below(n)).collect::<Vec<_>>();
            let own = Islip::new(n, n, 1).unwrap().with_pointers(any(), any());
            assert!(fills(&own_sizes(own, n), n, false), "{n}");
        }
    }
}

/// Pointers that move without acceptance, and pointers that never move.
#[test]
fn fab_arb_08_n() {
    for n in [4, 5, 8, 16, 64] {
        assert!(!fills(&sizes(n, 0, true), n, false), "{n}");
        let mut own = Islip::new(n, n, 1).unwrap();
        let (requests, mut matching) = (vec![Requests::all(n); n], Matching::new());
        let slot = |_| {
            own.arbitrate(&requests, &mut matching);
            matching.iter().count()
        };
        let stuck: Vec<usize> = (0..2 * n).map(slot).collect();
        assert!(!fills(&stuck, n, false), "{n}");
        own.update(&requests, &matching);
    }
}
