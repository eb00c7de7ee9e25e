//! The allocators of [`scalepool_arbiter`] in a faster form for routers: at most 64 inputs and outputs, few of which
//! request in a slot.
//!
//! Modelled: the same decisions as the allocators of the same names, grant by grant
//! (`testbenches/tests/router/allocation.rs` compares them). Detail: the work is proportional to the number of requests,
//! not to the number of ports; a single request is granted after one look at the pointer of its input. Every pair of a
//! slot counts as used, so its pointers always move.

use scalepool_arbiter::{AllocatorKind, ArbiterError, Islip, Separable};

/// The algorithm of an allocator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AllocationAlgorithm {
    Islip,
    InputFirst,
    OutputFirst,
}

/// The allocator.
#[derive(Debug, Clone)]
pub struct RouterAllocator {
    rule: AllocationAlgorithm,
    inputs: u32,
    outputs: u32,
    /// For each input, the output with the highest priority.
    accept: Vec<u8>,
    /// For each output, the input with the highest priority.
    grant: Vec<u8>,
    /// For each output, the inputs that request it. Zero between slots.
    asking: Vec<u64>,
    /// For each input, the outputs that selected it. Zero between slots.
    picked_by: Vec<u64>,
}

/// The numbers of the set bits of a word, lowest first.
#[inline]
pub(super) fn bits(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        if word == 0 {
            return None;
        }
        let bit = word.trailing_zeros();
        word &= word - 1;
        Some(bit as usize)
    })
}

/// The first set bit of a word at or after bit `place`, with wrap-around. The word must not be 0.
#[inline]
pub(super) fn first_around(word: u64, place: u8) -> usize {
    let behind = word & (u64::MAX << place);
    (if behind == 0 { word } else { behind }).trailing_zeros() as usize
}

#[inline]
fn one_past(number: usize, of: u32) -> u8 {
    let next = number as u32 + 1;
    (if next == of { 0 } else { next }) as u8
}

impl RouterAllocator {
    /// Makes the allocator of a name for 1 to 64 inputs and outputs, with all pointers at 0.
    ///
    /// # Errors
    /// [`ArbiterError::UnknownAllocator`]; [`ArbiterError::Requesters`] if there are no inputs or outputs, or more than
    /// 64.
    pub fn by_name(name: &str, inputs: usize, outputs: usize) -> Result<RouterAllocator, ArbiterError> {
        let rule = match AllocatorKind::by_name(name)?.name {
            name if name == Islip::KIND.name => AllocationAlgorithm::Islip,
            name if name == Separable::INPUT_FIRST.name => AllocationAlgorithm::InputFirst,
            _ => AllocationAlgorithm::OutputFirst,
        };
        for found in [inputs, outputs] {
            if !(1..=super::MOST_LINES).contains(&found) {
                return Err(ArbiterError::Requesters { found });
            }
        }
        Ok(RouterAllocator {
            rule,
            inputs: inputs as u32,
            outputs: outputs as u32,
            accept: vec![0; inputs],
            grant: vec![0; outputs],
            asking: vec![0; outputs],
            picked_by: vec![0; inputs],
        })
    }

    /// Pairs inputs with outputs, and advances the pointers of the pairs. Bit i of `asking` is set if input i requests
    /// the outputs in `requests[i]`, of which there is at least one. The result replaces the content of `pairs`.
    pub fn allocate(&mut self, asking: u64, requests: &[u64], pairs: &mut Vec<(u8, u8)>) {
        pairs.clear();
        if asking & asking.wrapping_sub(1) == 0 {
            if asking != 0 {
                let input = asking.trailing_zeros() as usize;
                self.pair(input, first_around(requests[input], self.accept[input]), pairs);
            }
        } else if self.rule == AllocationAlgorithm::InputFirst {
            self.inputs_pick(asking, requests, pairs);
        } else {
            self.outputs_pick(asking, requests, pairs);
        }
    }

    #[inline]
    fn pair(&mut self, input: usize, output: usize, pairs: &mut Vec<(u8, u8)>) {
        self.accept[input] = one_past(output, self.outputs);
        self.grant[output] = one_past(input, self.inputs);
        pairs.push((input as u8, output as u8));
    }

    fn inputs_pick(&mut self, asking: u64, requests: &[u64], pairs: &mut Vec<(u8, u8)>) {
        let mut picked = 0;
        for input in bits(asking) {
            let output = first_around(requests[input], self.accept[input]);
            self.asking[output] |= 1 << input;
            picked |= 1 << output;
        }
        for output in bits(picked) {
            let input = first_around(std::mem::take(&mut self.asking[output]), self.grant[output]);
            self.pair(input, output, pairs);
        }
    }

    /// iSLIP with one iteration, and output-first separable allocation; with round-robin arbiters both give the same
    /// pairs.
    fn outputs_pick(&mut self, asking: u64, requests: &[u64], pairs: &mut Vec<(u8, u8)>) {
        // An output that one input requests picks that one, and most outputs are such: only the others are looked at one by one.
        let (mut asked, mut shared, mut picked) = (0, 0, 0);
        for input in bits(asking) {
            shared |= asked & requests[input];
            asked |= requests[input];
        }
        for input in bits(asking) {
            let own = requests[input] & !shared;
            self.picked_by[input] = own;
            picked |= u64::from(own != 0) << input;
            bits(requests[input] & shared).for_each(|output| self.asking[output] |= 1 << input);
        }
        for output in bits(shared) {
            let input = first_around(std::mem::take(&mut self.asking[output]), self.grant[output]);
            self.picked_by[input] |= 1 << output;
            picked |= 1 << input;
        }
        for input in bits(picked) {
            let output = first_around(std::mem::take(&mut self.picked_by[input]), self.accept[input]);
            self.pair(input, output, pairs);
        }
    }
}
