//! Deficit round robin: packets of every size in every state.

use super::explore::explore;
use scalepool::arbiter::{ArbiterError, DeficitRoundRobin};

/// The textbook, one visit at a time.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Textbook {
    quanta: Vec<u32>,
    counters: Vec<u32>,
    visiting: usize,
    new_visit: bool,
}

impl Textbook {
    fn serve(&mut self, heads: &[Option<u32>]) -> Option<usize> {
        if heads.iter().all(Option::is_none) {
            return None;
        }
        loop {
            let i = self.visiting;
            if heads[i].is_some() && self.new_visit {
                self.counters[i] += self.quanta[i];
                self.new_visit = false;
            }
            match heads[i] {
                Some(size) if size <= self.counters[i] => {
                    self.counters[i] -= size;
                    return Some(i);
                }
                Some(_) => {}
                None => self.counters[i] = 0,
            }
            self.visiting = (i + 1) % heads.len();
            self.new_visit = true;
        }
    }
}

/// Every mix of heads: nothing, or a packet of 1 to `longest` bytes.
fn heads(requesters: usize, longest: u32) -> Vec<Vec<Option<u32>>> {
    let base = longest as usize + 1;
    let digit = |code: usize, i: usize| code / base.pow(i as u32) % base;
    (0..base.pow(requesters as u32))
        .map(|code| (0..requesters).map(|i| (digit(code, i) as u32).checked_sub(1).map(|s| s + 1)).collect())
        .collect()
}

#[test]
fn every_state_and_every_packet() {
    for (quanta, longest) in [
        (vec![2], 5),
        (vec![1, 1], 4),
        (vec![3, 2], 5),
        (vec![4, 1, 2], 3),
        (vec![1, 1, 1, 1], 2),
        (vec![2, 1, 1, 3, 1], 1),
    ] {
        let n = quanta.len();
        let start = Textbook { quanta: quanta.clone(), counters: vec![0; n], visiting: 0, new_visit: true };
        let graph =
            explore((DeficitRoundRobin::new(&quanta).unwrap(), start), &heads(n, longest), |(own, book), heads| {
                let granted = own.arbitrate(heads);
                if let Some(granted) = granted {
                    own.update(heads, granted);
                    assert!(heads[granted].is_some());
                }
                assert_eq!(granted, book.serve(heads), "{heads:?}");
                let counters: Vec<u64> = book.counters.iter().map(|&c| c.into()).collect();
                assert!(granted.is_none() || own.deficits_bytes() == counters, "{heads:?}");
                granted
            });
        for (own, book) in &graph.states {
            for (i, left) in own.deficits_bytes().iter().enumerate() {
                let quantum = if i == book.visiting { u64::from(quanta[i]) } else { 0 };
                assert!(*left < u64::from(longest) + quantum, "{quanta:?}: {left} bytes left of {i}");
            }
        }
        for i in 0..n {
            // One that always asks, whatever its packets: an end to the waiting.
            let waits = graph.longest(|heads, got| heads[i].is_some() && *got != Some(i));
            assert!(waits.is_some(), "{quanta:?}: {i} starves");
        }
    }
}

/// Backlogged requesters: what each sent is its turns times its quantum, less than a packet off.
#[test]
fn shares_of_bytes() {
    let (quanta, sizes) = ([1500, 500, 700], [64, 1500, 9, 600, 1000, 1499, 300]);
    let mut arbiter = DeficitRoundRobin::new(&quanta).unwrap();
    let (mut next, mut sent, mut turns, mut last) = ([0, 2, 5], [0u64; 3], [0u64; 3], None);
    for _ in 0..5000 {
        let heads = next.map(|n: usize| Some(sizes[n % sizes.len()]));
        let granted = arbiter.arbitrate(&heads).unwrap();
        arbiter.update(&heads, granted);
        sent[granted] += u64::from(heads[granted].unwrap());
        next[granted] += 1;
        if last != Some(granted) {
            // A turn without a packet is a turn all the same: count by what was earned.
            let earned = sent[granted] + arbiter.deficits_bytes()[granted];
            turns[granted] = earned / u64::from(quanta[granted]);
            assert_eq!(earned % u64::from(quanta[granted]), 0);
            last = Some(granted);
        }
        let rounds = turns.iter().min().unwrap();
        for i in 0..3 {
            let due = rounds * u64::from(quanta[i]);
            assert!(sent[i].abs_diff(due) <= u64::from(quanta[i]) * 3 + 1500, "{sent:?} after {rounds} rounds");
            assert!(due.saturating_sub(sent[i]) < 1500 || turns[i] == *rounds, "{sent:?} after {rounds} rounds");
        }
    }
}

/// A packet of many quanta costs no more decisions than a small one, and comes in its turn.
#[test]
fn packets_larger_than_a_quantum() {
    let mut arbiter = DeficitRoundRobin::new(&[1, 1]).unwrap();
    let heads = [Some(u32::MAX), Some(u32::MAX - 1)];
    for (winner, left) in [(1, [u64::from(u32::MAX) - 1, 0]), (0, [0, 0])] {
        assert_eq!(arbiter.arbitrate(&heads), Some(winner));
        arbiter.update(&heads, winner);
        assert_eq!(arbiter.deficits_bytes(), left);
    }
    assert_eq!(arbiter.arbitrate(&[]), None);
    assert_eq!(arbiter.arbitrate(&[None, None, Some(1)]), None);
    let before = arbiter.clone();
    arbiter.update(&heads, 7);
    assert_eq!(arbiter, before, "a grant that was not given");
    assert_eq!(DeficitRoundRobin::new(&[5, 0]), Err(ArbiterError::Quantum { requester: 1 }));
    assert_eq!(DeficitRoundRobin::new(&[]), Err(ArbiterError::Requesters { found: 0 }));
}
