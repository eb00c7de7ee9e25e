//! Two-stage separable allocator: inputs to outputs, an arbiter for each input and each output (`nvlink` §5, `fabric` §6.1).
//!
//! Input first: each input picks one output it asks for, then each output picks one of the inputs that picked it. Output
//! first: each output picks one of the inputs that ask, then each input picks one of the outputs that picked it. Both give
//! a matching, at least one pair while anybody asks, and not always as many as there could be.
//!
//! State: that of the arbiters; those of a used pair move, no other. Bound: no pair starves while each request stands until it
//! is served, as that of a queue does. With N inputs and M outputs and [`super::RoundRobin`] in both stages such a request
//! loses (2N - 1)(M - 1) slots at most where outputs pick first, N - 1 with one output; where inputs pick first N and M change
//! places. That is the largest number over all pointers and all requests, tried exhaustively for N and M up to 3, 2 x 4, 4 x 2,
//! 1 x 5 and 5 x 1 (2 x 5 and 5 x 2 in the soak) against a plain reference; 4 x 4, 5 x 5 and 8 x 8 by seeded random walks,
//! beyond which nothing is proved. With [`super::Matrix`] in both stages it loses N M slots at most in every state that 2 x 2,
//! 2 x 3 and 3 x 2 reach. Requests that come and go unserved may starve another one.

use super::{Allocator, AllocatorKind, Arbiter, ArbiterError, Matching, Requests, RoundRobin, WORD_BITS};

/// Which side picks first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Inputs pick outputs, then outputs pick inputs.
    InputFirst,
    /// Outputs pick inputs, then inputs pick outputs.
    OutputFirst,
}

/// The allocator.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Separable<A> {
    order: Stage,
    inputs: Vec<A>,
    outputs: Vec<A>,
}

fn input_first(inputs: usize, outputs: usize) -> Result<Box<dyn Allocator>, ArbiterError> {
    Ok(Box::new(Separable::new(Stage::InputFirst, inputs, outputs, RoundRobin::new)?))
}

fn output_first(inputs: usize, outputs: usize) -> Result<Box<dyn Allocator>, ArbiterError> {
    Ok(Box::new(Separable::new(Stage::OutputFirst, inputs, outputs, RoundRobin::new)?))
}

impl Separable<RoundRobin> {
    /// What descriptions call the one in which inputs pick first, in turn.
    pub const INPUT_FIRST: AllocatorKind = AllocatorKind {
        name: "separable-input-first",
        about: "inputs pick outputs in turn, then outputs pick inputs in turn",
        make: input_first,
    };

    /// What descriptions call the one in which outputs pick first, in turn.
    pub const OUTPUT_FIRST: AllocatorKind = AllocatorKind {
        name: "separable-output-first",
        about: "outputs pick inputs in turn, then inputs pick outputs in turn",
        make: output_first,
    };
}

impl<A: Arbiter> Separable<A> {
    /// An allocator whose arbiters `make` builds: one for each input among all outputs, one for each output among all
    /// inputs.
    ///
    /// # Errors
    /// [`ArbiterError::Requesters`] and what `make` says.
    pub fn new(
        order: Stage,
        inputs: usize,
        outputs: usize,
        make: impl Fn(usize) -> Result<A, ArbiterError>,
    ) -> Result<Separable<A>, ArbiterError> {
        super::sized(inputs)?;
        super::sized(outputs)?;
        let many = |count: usize, of: usize| (0..count).map(|_| make(of)).collect::<Result<Vec<A>, _>>();
        Ok(Separable { order, inputs: many(inputs, outputs)?, outputs: many(outputs, inputs)? })
    }
}

impl<A: Arbiter> Separable<A> {
    /// Whether a word holds all inputs, and one all outputs.
    #[inline]
    fn is_of_words(&self) -> bool {
        self.inputs.len() <= WORD_BITS && self.outputs.len() <= WORD_BITS
    }

    /// [`Allocator::arbitrate`] on words: a slot of a switch of `pbr-rack` under load takes 1,500 instructions instead of 2,600.
    fn arbitrate_words(&self, requests: &[Requests], matching: &mut Matching) {
        let (inputs, outputs) = (self.inputs.len(), self.outputs.len());
        matching.begin_words(inputs, outputs);
        match self.order {
            Stage::InputFirst => {
                for (input, (arbiter, wanted)) in self.inputs.iter().zip(requests).enumerate() {
                    if let Some(output) = arbiter.arbitrate_word(wanted.word(0)) {
                        matching.picked_by_words.insert(output, input);
                    }
                }
                for output in matching.picked_by_words.filled() {
                    if let Some(input) = self.outputs[output].arbitrate_word(matching.picked_by_words.get(output)) {
                        matching.pair(input, output);
                    }
                }
            }
            Stage::OutputFirst => {
                matching.gather_words(requests, inputs, outputs);
                for output in matching.asking_words.filled() {
                    if let Some(input) = self.outputs[output].arbitrate_word(matching.asking_words.get(output)) {
                        matching.picked_by_words.insert(input, output);
                    }
                }
                for input in matching.picked_by_words.filled() {
                    if let Some(output) = self.inputs[input].arbitrate_word(matching.picked_by_words.get(input)) {
                        matching.pair(input, output);
                    }
                }
            }
        }
    }

    /// [`Allocator::update`] on words.
    fn update_words(&mut self, requests: &[Requests], used: &Matching) {
        for (input, output) in used.iter() {
            let (of_input, of_output) = match self.order {
                Stage::InputFirst => (requests[input].word(0), used.picked_by_words.get(output)),
                Stage::OutputFirst => (used.picked_by_words.get(input), used.asking_words.get(output)),
            };
            self.inputs[input].update_word(of_input, output);
            self.outputs[output].update_word(of_output, input);
        }
    }
}

impl<A: Arbiter> Allocator for Separable<A> {
    fn inputs(&self) -> usize {
        self.inputs.len()
    }

    fn outputs(&self) -> usize {
        self.outputs.len()
    }

    fn arbitrate(&self, requests: &[Requests], matching: &mut Matching) {
        let (inputs, outputs) = (self.inputs.len(), self.outputs.len());
        if self.is_of_words() {
            return self.arbitrate_words(requests, matching);
        }
        matching.begin(inputs, outputs);
        match self.order {
            Stage::InputFirst => {
                matching.picked_by.begin(outputs);
                for (input, (arbiter, wanted)) in self.inputs.iter().zip(requests).enumerate() {
                    if let Some(output) = arbiter.arbitrate(wanted) {
                        matching.picked_by.insert(output, input);
                    }
                }
                matching.settle(0, |output, picked_by| Some((self.outputs[output].arbitrate(picked_by)?, output)));
            }
            Stage::OutputFirst => {
                matching.gather(requests);
                let Matching { asking, picked_by, .. } = &mut *matching;
                picked_by.begin(inputs);
                for (output, asking) in asking.iter() {
                    if let Some(input) = self.outputs[output].arbitrate(asking) {
                        picked_by.insert(input, output);
                    }
                }
                matching.settle(0, |input, picked_by| Some((input, self.inputs[input].arbitrate(picked_by)?)));
            }
        }
    }

    fn update(&mut self, requests: &[Requests], used: &Matching) {
        if self.is_of_words() {
            return self.update_words(requests, used);
        }
        for (input, output) in used.iter() {
            let (of_input, of_output) = match self.order {
                Stage::InputFirst => (&requests[input], used.picked_by.get(output)),
                Stage::OutputFirst => (used.picked_by.get(input), used.asking.get(output)),
            };
            self.inputs[input].update(of_input, output);
            self.outputs[output].update(of_output, input);
        }
    }
}
