//! The allocators of [`scalepool_arbiter`], for routers: at most 64 inputs and outputs, of which few ask.
//!
//! Modelled: the same decisions as the allocators of the same names, grant by grant
//! (`testbenches/tests/router/allocation.rs` compares them). Detail: the work follows the requests and not the ports, and a
//! single requester takes no more than a look at its pointer. All pairs of a slot are used.

use scalepool_arbiter::{AllocatorKind, ArbiterError, Islip, Separable};

/// The rule of an allocator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    Islip,
    InputFirst,
    OutputFirst,
}

/// The allocator.
#[derive(Debug, Clone)]
pub struct RouterAllocator {
    rule: Rule,
    inputs: u32,
    outputs: u32,
    /// Of each input: the output that it asks first.
    accept: Vec<u8>,
    /// Of each output: the input that it asks first.
    grant: Vec<u8>,
    /// Of each output: inputs that ask. Zero between slots.
    asking: Vec<u64>,
    /// Of each input: outputs that picked it. Zero between slots.
    picked_by: Vec<u64>,
}

/// The bits of a word, lowest first.
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

/// The first bit of a word that is not 0 at a place or behind it, around the end.
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
    /// An allocator by the name of its kind, of 1 to 64 inputs and outputs, with all pointers at 0.
    ///
    /// # Errors
    /// [`ArbiterError::UnknownAllocator`]; [`ArbiterError::Requesters`] where there are none or more than 64.
    pub fn by_name(name: &str, inputs: usize, outputs: usize) -> Result<RouterAllocator, ArbiterError> {
        let rule = match AllocatorKind::by_name(name)?.name {
            name if name == Islip::KIND.name => Rule::Islip,
            name if name == Separable::INPUT_FIRST.name => Rule::InputFirst,
            _ => Rule::OutputFirst,
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

    /// Pairs inputs with outputs, and moves the pointers of the pairs. Inputs in `asking` ask for the outputs in `requests` at their
    /// places, at least one each; the pairs replace what is in `pairs`.
    pub fn allocate(&mut self, asking: u64, requests: &[u64], pairs: &mut Vec<(u8, u8)>) {
        pairs.clear();
        if asking & asking.wrapping_sub(1) == 0 {
            if asking != 0 {
                let input = asking.trailing_zeros() as usize;
                self.pair(input, first_around(requests[input], self.accept[input]), pairs);
            }
        } else if self.rule == Rule::InputFirst {
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

    /// iSLIP with one iteration, and separable allocation where outputs pick first: with round robin they are the same pairs.
    fn outputs_pick(&mut self, asking: u64, requests: &[u64], pairs: &mut Vec<(u8, u8)>) {
        let (mut asked, mut picked) = (0, 0);
        for input in bits(asking) {
            asked |= requests[input];
            bits(requests[input]).for_each(|output| self.asking[output] |= 1 << input);
        }
        for output in bits(asked) {
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
