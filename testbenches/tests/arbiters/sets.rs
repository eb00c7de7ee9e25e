//! Sets of requesters as plain numbers, which the references compute with, and as the library has them.

use scalepool::arbiter::{Allocator, Matching, Requests};

/// Bit i stands for requester i.
pub type Bits = u128;

/// The sets that the library takes.
pub fn sets(bits: &[Bits]) -> Vec<Requests> {
    bits.iter().map(|&bits| bits.into()).collect()
}

/// The output of each input.
pub fn matched(matching: &Matching) -> Vec<Option<usize>> {
    matching.pairs().iter().map(|pair| pair.map(|pair| pair.output)).collect()
}

/// One slot whose pairs are all used: the output of each input.
pub fn slot_of(allocator: &mut dyn Allocator, requests: &[Bits]) -> Vec<Option<usize>> {
    let (requests, mut matching) = (sets(requests), Matching::new());
    allocator.arbitrate(&requests, &mut matching);
    allocator.update(&requests, &matching);
    matched(&matching)
}

#[test]
fn what_two_sets_share_is_found() {
    let bits = |set: &[usize]| {
        set.iter().fold(Requests::NONE, |mut all, &one| {
            all.insert(one);
            all
        })
    };
    let sets = [&[][..], &[0], &[63, 64], &[1, 63, 127, 128, 1023], &[0, 64, 128, 192, 1022, 1023], &[5, 1023]];
    for (a, b) in sets.iter().flat_map(|a| sets.iter().map(move |b| (a, b))) {
        let both: Vec<usize> = a.iter().copied().filter(|one| b.contains(one)).collect();
        assert_eq!(bits(a).intersection(&bits(b)).collect::<Vec<_>>(), both, "{a:?} and {b:?}");
    }
}
