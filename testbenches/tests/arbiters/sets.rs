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
