//! iSLIP: round-robin matching of inputs to outputs in iterations (`fabric` §6.1).
//!
//! An iteration: each output that is still free grants the first input at or behind its pointer that asks and is free;
//! each input accepts the first output at or behind its pointer that granted. A pair that was made in the first iteration
//! and used moves both pointers one past it; nothing else does. All iterations of a slot see the pointers as they were at
//! its beginning (our choice; the sheet is silent).
//!
//! State: one pointer an output, one an input. Bounds: with N inputs and outputs that all ask for all, at most N - 1 slots
//! pass until every slot has N pairs; from pointers of 0 the first slots have 1, 2, .., N. As many iterations as inputs
//! give a maximal matching. No pair starves while each request stands until it is served, as that of a queue does: with N
//! inputs, M outputs and one iteration it loses (2N - 1)(M - 1) slots at most, N - 1 with one output, and at most one slot more
//! with more iterations (3 x 3: 10 and 11). That is over all pointers and all requests, tried exhaustively for N and M up to 3,
//! 2 x 4, 4 x 2, 1 x 5 and 5 x 1 (2 x 5 and 5 x 2 in the soak) against a plain reference; 4 x 4 and 5 x 5 by seeded random
//! walks, beyond which nothing is proved. Requests that come and go unserved may starve another one.

use super::{ArbiterError, Requests, at_or_behind, sized};

/// A pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Match {
    /// Output of the input.
    pub output: usize,
    /// Iteration that made it, from 0.
    pub iteration: u32,
}

/// The allocator.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Islip {
    iterations: u32,
    /// Of each input: the output that it asks first.
    accept: Vec<usize>,
    /// Of each output: the input that it asks first.
    grant: Vec<usize>,
}

impl Islip {
    /// An allocator with all pointers at 0.
    ///
    /// # Errors
    /// [`ArbiterError::Requesters`], [`ArbiterError::Iterations`].
    pub fn new(inputs: usize, outputs: usize, iterations: u32) -> Result<Islip, ArbiterError> {
        if iterations == 0 {
            return Err(ArbiterError::Iterations);
        }
        Ok(Islip { iterations, accept: vec![0; sized(inputs)?], grant: vec![0; sized(outputs)?] })
    }

    /// The same with pointers elsewhere, counted around the end: `accept` of the inputs, `grant` of the outputs.
    #[must_use]
    pub fn with_pointers(
        mut self,
        accept: impl IntoIterator<Item = usize>,
        grant: impl IntoIterator<Item = usize>,
    ) -> Islip {
        let (inputs, outputs) = (self.accept.len(), self.grant.len());
        self.accept.iter_mut().zip(accept).for_each(|(to, pointer)| *to = pointer % outputs);
        self.grant.iter_mut().zip(grant).for_each(|(to, pointer)| *to = pointer % inputs);
        self
    }

    /// The pair of each input. `requests[i]` holds the outputs that input i asks for; inputs that are left out at the end
    /// ask for none.
    pub fn arbitrate(&self, requests: &[Requests]) -> Vec<Option<Match>> {
        let mut matched: Vec<Option<Match>> = vec![None; self.accept.len()];
        // Inputs that ask for each output and are free.
        let mut asking = vec![0; self.grant.len()];
        for (input, outputs) in requests.iter().take(self.accept.len()).enumerate() {
            asking.iter_mut().enumerate().for_each(|(o, set)| *set |= (outputs >> o & 1) << input);
        }
        for iteration in 0..self.iterations {
            let mut granted = vec![0; self.accept.len()];
            for (output, inputs) in asking.iter().enumerate() {
                if let Some(input) = at_or_behind(*inputs, self.grant[output]) {
                    granted[input] |= 1 << output;
                }
            }
            let mut made = 0;
            for (input, outputs) in granted.into_iter().enumerate() {
                if let Some(output) = at_or_behind(outputs, self.accept[input]) {
                    matched[input] = Some(Match { output, iteration });
                    asking[output] = 0;
                    made |= 1 << input;
                }
            }
            if made == 0 {
                break;
            }
            asking.iter_mut().for_each(|inputs: &mut Requests| *inputs &= !made);
        }
        matched
    }

    /// These pairs of what [`Islip::arbitrate`] gave were used.
    pub fn update(&mut self, used: &[Option<Match>]) {
        let (inputs, outputs) = (self.accept.len(), self.grant.len());
        let first = used.iter().enumerate().filter_map(|(input, pair)| Some((input, (*pair)?)));
        for (input, pair) in first.filter(|(input, pair)| pair.iteration == 0 && *input < inputs) {
            if let Some(grant) = self.grant.get_mut(pair.output) {
                (*grant, self.accept[input]) = ((input + 1) % inputs, (pair.output + 1) % outputs);
            }
        }
    }
}
