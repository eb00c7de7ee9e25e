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

use super::{Arbiter, ArbiterError, Requests, askers};

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

    /// The output of each input. `requests[i]` holds the outputs that input i asks for; inputs that are left out at the
    /// end ask for none.
    pub fn arbitrate(&self, requests: &[Requests]) -> Vec<Option<usize>> {
        let second = self.second_stage(requests);
        match self.order {
            Stage::InputFirst => {
                let mut matched = vec![None; self.inputs.len()];
                for (output, (arbiter, inputs)) in self.outputs.iter().zip(second).enumerate() {
                    if let Some(input) = arbiter.arbitrate(inputs) {
                        matched[input] = Some(output);
                    }
                }
                matched
            }
            Stage::OutputFirst => self.inputs.iter().zip(second).map(|(a, outputs)| a.arbitrate(outputs)).collect(),
        }
    }

    /// These pairs of what [`Separable::arbitrate`] gave for these requests were used.
    pub fn update(&mut self, requests: &[Requests], used: &[Option<usize>]) {
        let second = self.second_stage(requests);
        for (input, output) in used.iter().enumerate().filter_map(|(input, output)| Some((input, (*output)?))) {
            if input >= self.inputs.len() || output >= self.outputs.len() {
                continue;
            }
            let (of_input, of_output) = match self.order {
                Stage::InputFirst => (self.of(requests, input), second[output]),
                Stage::OutputFirst => (second[input], askers(self.known(requests), output)),
            };
            self.inputs[input].update(of_input, output);
            self.outputs[output].update(of_output, input);
        }
    }

    /// What the arbiters of the second stage see: for each of them, who picked it in the first.
    fn second_stage(&self, requests: &[Requests]) -> Vec<Requests> {
        match self.order {
            Stage::InputFirst => {
                let mut seen = vec![0; self.outputs.len()];
                for (input, arbiter) in self.inputs.iter().enumerate() {
                    if let Some(output) = arbiter.arbitrate(self.of(requests, input)) {
                        seen[output] |= 1 << input;
                    }
                }
                seen
            }
            Stage::OutputFirst => {
                // Turned around once, so that the work follows the requests there are.
                let mut asking: Vec<Requests> = vec![0; self.outputs.len()];
                for (input, outputs) in self.known(requests).iter().enumerate() {
                    for output in super::members(outputs & super::all(self.outputs.len())) {
                        asking[output] |= 1 << input;
                    }
                }
                let mut seen = vec![0; self.inputs.len()];
                for (output, (arbiter, inputs)) in self.outputs.iter().zip(asking).enumerate() {
                    if let Some(input) = arbiter.arbitrate(inputs) {
                        seen[input] |= 1 << output;
                    }
                }
                seen
            }
        }
    }

    /// The requests of inputs that there are.
    fn known<'a>(&self, requests: &'a [Requests]) -> &'a [Requests] {
        &requests[..requests.len().min(self.inputs.len())]
    }

    fn of(&self, requests: &[Requests], input: usize) -> Requests {
        requests.get(input).copied().unwrap_or(0)
    }
}
