//! The sizes at which a set of requesters takes another word, and the largest one: random walks beside plain references.

use super::matching::{Pointers, islip_of, separable_of};
use super::sets::matched;
use scalepool::arbiter::{
    AgeBased, Allocator, Arbiter, DeficitRoundRobin, Islip, Matching, Matrix, Requests, RoundRobin, Separable, Stage,
    StrictPriority, WeightedRoundRobin,
};
use scalepool_testbenches::legal::Random;
use std::collections::BTreeSet;

/// Around each number of words that the library could have taken for the largest one.
const SIZES: [usize; 5] = [64, 65, 128, 129, 1024];

/// Who asks: nobody, a few, half, or all.
fn some(random: &mut Random, n: usize) -> BTreeSet<usize> {
    match random.below(8) {
        0 => BTreeSet::new(),
        1 => (0..n).collect(),
        2 => (0..n).filter(|_| random.one_in(2)).collect(),
        _ => (0..1 + random.below(4)).map(|_| random.below(n)).collect(),
    }
}

/// Walks an arbiter beside a reference that says who is next and is told who was.
fn walk(mut own: impl Arbiter, seed: u64, mut expected: impl FnMut(&BTreeSet<usize>, Option<usize>) -> Option<usize>) {
    let (n, mut random) = (own.requesters(), Random::new(seed));
    for slot in 0..200 {
        let asking = some(&mut random, n);
        let mut requests: Requests = asking.iter().copied().collect();
        // Requesters that there are not do not count.
        (n..n + 70).for_each(|beyond| requests.insert(beyond));
        let granted = own.arbitrate(&requests);
        assert_eq!(granted, expected(&asking, None), "{n} requesters, slot {slot}: {asking:?}");
        assert_eq!(granted.is_some(), !asking.is_empty());
        if let Some(granted) = granted.filter(|_| !random.one_in(5)) {
            own.update(&requests, granted);
            expected(&asking, Some(granted));
        }
    }
}

/// A queue; `behind` says how many go to its end with the one that was served.
fn queue(n: usize, behind: impl Fn(usize) -> usize) -> impl FnMut(&BTreeSet<usize>, Option<usize>) -> Option<usize> {
    let mut queue: Vec<usize> = (0..n).collect();
    move |asking, used| {
        if let Some(used) = used {
            let at = queue.iter().position(|&i| i == used).unwrap();
            queue[at + 1 - behind(at)..].rotate_left(behind(at));
        }
        queue.iter().copied().find(|i| asking.contains(i))
    }
}

#[test]
fn round_robin_and_matrix() {
    for n in SIZES {
        walk(RoundRobin::new(n).unwrap(), n as u64, queue(n, |at| at + 1));
        walk(Matrix::new(n).unwrap(), n as u64, queue(n, |_| 1));
    }
}

#[test]
fn weighted_round_robin() {
    for n in SIZES {
        let weights: Vec<u16> = (0..n).map(|i| 1 + (i * 7 % 13) as u16).collect();
        let mut owed = vec![0i64; n];
        walk(WeightedRoundRobin::new(&weights).unwrap(), n as u64, |asking, used| {
            let weight = |i: usize| i64::from(weights[i]);
            if let Some(used) = used {
                asking.iter().for_each(|&i| owed[i] += weight(i));
                owed[used] -= asking.iter().map(|&i| weight(i)).sum::<i64>();
            }
            asking.iter().copied().min_by_key(|&i| (-(owed[i] + weight(i)), i))
        });
    }
}

#[test]
fn strict_priority() {
    for n in SIZES {
        walk(StrictPriority::new(n, None).unwrap(), n as u64, |asking, _| asking.first().copied());
        let mut lost = vec![0u32; n];
        let guard = n as u32 + 20;
        walk(StrictPriority::new(n, Some(guard)).unwrap(), n as u64, |asking, used| {
            if let Some(used) = used {
                (0..n).for_each(|i| lost[i] = if asking.contains(&i) && i != used { lost[i] + 1 } else { 0 });
            }
            let overdue = |i: usize| if lost[i] > guard - n as u32 { lost[i] } else { 0 };
            asking.iter().copied().min_by_key(|&i| (u32::MAX - overdue(i), i))
        });
    }
}

/// By age and by size: those of the highest numbers get what is theirs too.
#[test]
fn age_and_bytes() {
    for n in SIZES {
        let mut random = Random::new(n as u64);
        let (mut by_age, mut pointer) = (AgeBased::new(n).unwrap(), 0);
        let mut by_bytes = DeficitRoundRobin::new(&vec![100; n]).unwrap();
        for _ in 0..50 {
            let asking = some(&mut random, n);
            let born: Vec<Option<u64>> = (0..n).map(|i| asking.contains(&i).then(|| random.below(3) as u64)).collect();
            let granted = by_age.arbitrate(&born);
            assert_eq!(granted, asking.iter().copied().min_by_key(|&i| (born[i], (i + n - pointer) % n)));
            granted.into_iter().for_each(|i| {
                by_age.update(i);
                pointer = (i + 1) % n;
            });
        }
        // Every packet has one quantum: all in their turn.
        for i in (0..n).chain(0..n) {
            let heads = vec![Some(100); n];
            assert_eq!(by_bytes.arbitrate(&heads), Some(i));
            by_bytes.update(&heads, i);
        }
    }
}

/// Few requests of each input, and all of one for all.
fn matrix(random: &mut Random, n: usize, m: usize) -> Vec<BTreeSet<usize>> {
    let full = random.below(n);
    (0..n)
        .map(|i| if i == full { (0..m).collect() } else { (0..random.below(4)).map(|_| random.below(m)).collect() })
        .collect()
}

fn beside(
    mut own: impl Allocator,
    seed: u64,
    mut reference: impl FnMut(&mut Pointers, &[BTreeSet<usize>]) -> Vec<Option<usize>>,
) {
    let (n, m) = (own.inputs(), own.outputs());
    let (mut random, mut matching, mut pointers) = (Random::new(seed), Matching::new(), (vec![0; n], vec![0; m]));
    for slot in 0..if n > 200 { 3 } else { 20 } {
        let asked = matrix(&mut random, n, m);
        let mut requests: Vec<Requests> = asked.iter().map(|outputs| outputs.iter().copied().collect()).collect();
        // Outputs and inputs that there are not do not count.
        requests[0].insert(m);
        requests.push(Requests::all(m));
        own.arbitrate(&requests, &mut matching);
        own.update(&requests, &matching);
        assert_eq!(matched(&matching), reference(&mut pointers, &asked), "{n} x {m}, slot {slot}");
    }
}

#[test]
fn allocators() {
    for (n, m) in [(64, 65), (65, 64), (128, 129), (129, 128), (1024, 1024)] {
        for order in [Stage::InputFirst, Stage::OutputFirst] {
            let own = Separable::new(order, n, m, RoundRobin::new).unwrap();
            beside(own, 1, |pointers, asked| separable_of(order, pointers, |i, o| asked[i].contains(&o)));
        }
        for iterations in [1, 3] {
            let own = Islip::new(n, m, iterations).unwrap();
            beside(own, 2, |pointers, asked| islip_of(iterations, pointers, |i, o| asked[i].contains(&o)));
        }
    }
}

/// The set itself, beside that of the standard library.
#[test]
fn sets_of_requesters() {
    let mut random = Random::new(3);
    for n in SIZES.into_iter().chain([1, 63, 127, 1023]) {
        assert_eq!(Requests::all(n).iter().collect::<Vec<_>>(), (0..n).collect::<Vec<_>>());
        let mut sets = [Requests::NONE, Requests::NONE];
        let mut plain = [BTreeSet::new(), BTreeSet::new()];
        for _ in 0..300 {
            let (which, requester) = (random.below(2), random.below(n));
            match random.below(40) {
                0 => (sets[which].clear(), plain[which].clear()).0,
                1 => {
                    let other = plain[1 - which].clone();
                    plain[which].retain(|i| !other.contains(i));
                    let other = sets[1 - which];
                    sets[which].remove_all(&other);
                }
                2..15 => {
                    sets[which].remove(requester);
                    plain[which].remove(&requester);
                }
                _ => {
                    sets[which].insert(requester);
                    plain[which].insert(requester);
                }
            }
            let ([one, other], [plain_one, plain_other]) = (&sets, &plain);
            assert!(one.iter().eq(plain_one.iter().copied()));
            assert!(one.intersection(other).eq(plain_one.intersection(plain_other).copied()));
            assert_eq!((one.is_empty(), one.first()), (plain_one.is_empty(), plain_one.first().copied()));
            assert_eq!(one.contains(requester), plain_one.contains(&requester));
            assert_eq!(one == other, plain_one == plain_other);
            assert_eq!(one.first_from(requester), plain_one.range(requester..).next().copied());
            assert_eq!(one.first_around(requester, n), plain_one.range(requester..).chain(plain_one).next().copied());
            assert!(one.below(requester).eq(plain_one.range(..requester).copied()));
        }
    }
    let mut beyond = Requests::all(2000);
    beyond.insert(1024);
    assert_eq!((beyond, beyond.contains(1024), beyond.first_from(1024)), (Requests::all(1024), false, None));
    beyond.remove(5000);
    assert_eq!(format!("{:?}", Requests::from(0b1001u64)), "{0, 3}");
}
