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

use super::{Allocator, AllocatorKind, ArbiterError, Matching, Requests, sized};

/// The allocator.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Islip {
    iterations: u32,
    /// Of each input: the output that it asks first.
    accept: Vec<usize>,
    /// Of each output: the input that it asks first.
    grant: Vec<usize>,
}

fn make(inputs: usize, outputs: usize) -> Result<Box<dyn Allocator>, ArbiterError> {
    Ok(Box::new(Islip::new(inputs, outputs, 1)?))
}

impl Islip {
    /// What descriptions call it: one iteration.
    pub const KIND: AllocatorKind = AllocatorKind {
        name: "islip",
        about: "outputs grant, inputs accept, both by pointers that move only for accepted grants",
        make,
    };

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
}

impl Allocator for Islip {
    fn inputs(&self) -> usize {
        self.accept.len()
    }

    fn outputs(&self) -> usize {
        self.grant.len()
    }

    fn arbitrate(&self, requests: &[Requests], matching: &mut Matching) {
        let (inputs, outputs) = (self.accept.len(), self.grant.len());
        matching.begin(inputs, outputs);
        matching.gather(requests);
        for iteration in 0..self.iterations {
            // Outputs that grant, by input.
            let Matching { asking, picked_by, .. } = &mut *matching;
            picked_by.begin(inputs);
            for (output, asking) in asking.iter() {
                if let Some(input) = asking.first_around(self.grant[output], inputs) {
                    picked_by.insert(input, output);
                }
            }
            if picked_by.is_empty() {
                break;
            }
            matching
                .settle(iteration, |input, granted| Some((input, granted.first_around(self.accept[input], outputs)?)));
            if iteration + 1 < self.iterations {
                matching.withdraw();
            }
        }
    }

    fn update(&mut self, _requests: &[Requests], used: &Matching) {
        let (inputs, outputs) = (self.accept.len(), self.grant.len());
        for (input, output) in used.iter_of(0) {
            self.grant[output] = (input + 1) % inputs;
            self.accept[input] = (output + 1) % outputs;
        }
    }
}
