//! The allocators of routers beside those of the arbiter crate, which are compared with plain references elsewhere.

use scalepool::arbiter::{ALLOCATOR_NAMES, AllocatorKind, Matching, Requests};
use scalepool::fabric::vc_router::RouterAllocator;
use scalepool::kernel::Rng;

/// Random requests of so many inputs and outputs, few or many of them.
fn requests(rng: &mut Rng, inputs: usize, outputs: usize) -> Vec<u64> {
    let mask = if outputs == 64 { u64::MAX } else { (1 << outputs) - 1 };
    let (asks, thin) = (rng.below(4), rng.below(3));
    let one = |rng: &mut Rng| (0..thin).fold(rng.next_u64() & mask, |set, _| set & rng.next_u64());
    (0..inputs).map(|_| if rng.below(4) <= asks { one(rng) } else { 0 }).collect()
}

#[test]
fn routers_decide_as_the_allocators_of_the_same_names() {
    for name in ALLOCATOR_NAMES {
        for (inputs, outputs) in [(1, 1), (2, 3), (5, 5), (20, 20), (7, 64), (64, 64)] {
            let kind = AllocatorKind::by_name(name).expect("a name of the list");
            let mut reference = (kind.make)(inputs, outputs).expect("a size");
            let mut own = RouterAllocator::by_name(name, inputs, outputs).expect("a size");
            let (mut rng, mut matching, mut pairs) = (Rng::from_seed(inputs as u64), Matching::new(), Vec::new());
            for slot in 0..500 {
                let words = requests(&mut rng, inputs, outputs);
                let sets: Vec<Requests> = words.iter().map(|&word| Requests::from(word)).collect();
                reference.arbitrate(&sets, &mut matching);
                reference.update(&sets, &matching);
                let asking = words.iter().enumerate().fold(0, |all, (n, word)| all | u64::from(*word != 0) << n);
                own.allocate(asking, &words, &mut pairs);
                pairs.sort_unstable();
                let expected: Vec<(u8, u8)> = matching.iter().map(|(i, o)| (i as u8, o as u8)).collect();
                assert_eq!(pairs, expected, "{name} {inputs} x {outputs}, slot {slot}: {words:x?}");
            }
        }
    }
}

#[test]
fn sizes_and_names_that_there_are_not_are_refused() {
    for (name, inputs, expected) in
        [("islip", 65, "65 requesters"), ("islip", 0, "0 requesters"), ("none", 4, "`none`")]
    {
        let error = RouterAllocator::by_name(name, inputs, 4).expect_err(expected).to_string();
        assert!(error.contains(expected), "{error}");
    }
}
