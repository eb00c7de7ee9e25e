//! Decisions as text, slot by slot: what a piece of hardware with the same registers has to do.

use super::sets::{Bits, slot_of};
use scalepool::arbiter::{
    AgeBased, Arbiter, DeficitRoundRobin, Islip, Matrix, RoundRobin, Separable, Stage, StrictPriority,
    WeightedRoundRobin,
};
use scalepool_testbenches::legal::Random;
use std::fmt::Write;

/// Requesters of every trace.
const N: usize = 4;
/// Slots of every trace.
const SLOTS: usize = 24;

/// Sets of requesters: all for the first third, then random ones.
fn sets(seed: u64) -> Vec<Bits> {
    let mut random = Random::new(seed);
    (0..SLOTS).map(|slot| if slot < SLOTS / 3 { 0b1111 } else { random.wide() & 0b1111 }).collect()
}

fn name(granted: Option<usize>) -> String {
    granted.map_or("-".into(), |i| i.to_string())
}

/// One line a slot: requesters 3 to 0 as bits, the granted one. A grant in a slot that is a multiple of 5 is not used.
fn trace(mut arbiter: impl Arbiter, seed: u64) -> String {
    let mut text = String::from("slot asks grant\n");
    for (slot, requests) in sets(seed).into_iter().enumerate() {
        let granted = arbiter.arbitrate(&requests.into());
        let used = slot % 5 != 4;
        writeln!(text, "{slot:4} {requests:04b} {}{}", name(granted), if used { "" } else { " not used" }).unwrap();
        if let Some(granted) = granted.filter(|_| used) {
            arbiter.update(&requests.into(), granted);
        }
    }
    text
}

#[test]
fn single() {
    insta::assert_snapshot!("round_robin", trace(RoundRobin::new(N).unwrap(), 1));
    insta::assert_snapshot!("matrix", trace(Matrix::new(N).unwrap(), 2));
    insta::assert_snapshot!("weighted_5_1_1_2", trace(WeightedRoundRobin::new(&[5, 1, 1, 2]).unwrap(), 3));
    insta::assert_snapshot!("strict_priority_guard_6", trace(StrictPriority::new(N, Some(6)).unwrap(), 4));
}

#[test]
fn by_age() {
    let (mut arbiter, mut random) = (AgeBased::new(N).unwrap(), Random::new(5));
    let mut text = String::from("slot born grant\n");
    for slot in 0..SLOTS {
        let born: Vec<_> = (0..N).map(|_| (!random.one_in(3)).then(|| random.below(4) as u64)).collect();
        let granted = arbiter.arbitrate(&born);
        let shown: Vec<_> = born.iter().map(|b| b.map_or("-".into(), |b| b.to_string())).collect();
        writeln!(text, "{slot:4} {} {}", shown.join(" "), name(granted)).unwrap();
        granted.into_iter().for_each(|i| arbiter.update(i));
    }
    insta::assert_snapshot!("age_based", text);
}

#[test]
fn by_size() {
    let (mut arbiter, mut random) = (DeficitRoundRobin::new(&[128, 64, 64, 32]).unwrap(), Random::new(6));
    let mut text = String::from("slot bytes_in_front grant bytes_left\n");
    let mut size = || [16, 32, 96, 272][random.below(4)];
    let mut heads: Vec<_> = (0..N).map(|_| Some(size())).collect();
    for slot in 0..SLOTS {
        let granted = arbiter.arbitrate(&heads);
        let shown: Vec<_> = heads.iter().map(|h| h.map_or("-".into(), |h: u32| h.to_string())).collect();
        granted.into_iter().for_each(|i| arbiter.update(&heads, i));
        writeln!(text, "{slot:4} {} grant {} left {:?}", shown.join(" "), name(granted), arbiter.deficits_bytes())
            .unwrap();
        for (i, head) in heads.iter_mut().enumerate() {
            if granted == Some(i) || head.is_none() {
                *head = (slot % 7 != 3).then(&mut size);
            }
        }
    }
    insta::assert_snapshot!("deficit", text);
}

/// One line a slot: outputs 3 to 0 that each input asks for, the output of each.
fn matching_trace(seed: u64, mut one_slot: impl FnMut(&[Bits]) -> Vec<Option<usize>>) -> String {
    let (mut text, mut random) = (String::from("slot asks_of_inputs_0_to_3 outputs\n"), Random::new(seed));
    for slot in 0..SLOTS {
        let requests: Vec<Bits> =
            (0..N).map(|_| if slot < SLOTS / 3 { 0b1111 } else { random.wide() & 0b1111 }).collect();
        let matched: Vec<_> = one_slot(&requests).into_iter().map(name).collect();
        let shown: Vec<_> = requests.iter().map(|r| format!("{r:04b}")).collect();
        writeln!(text, "{slot:4} {}  {}", shown.join(" "), matched.join(" ")).unwrap();
    }
    text
}

#[test]
fn matchings() {
    for (title, order) in [("separable_input_first", Stage::InputFirst), ("separable_output_first", Stage::OutputFirst)]
    {
        let mut own = Separable::new(order, N, N, RoundRobin::new).unwrap();
        let text = matching_trace(7, |requests| slot_of(&mut own, requests));
        insta::assert_snapshot!(title, text);
    }
    for iterations in [1, 2, 4] {
        let mut own = Islip::new(N, N, iterations).unwrap();
        let text = matching_trace(8, |requests| slot_of(&mut own, requests));
        insta::assert_snapshot!(format!("islip_{iterations}"), text);
    }
}
