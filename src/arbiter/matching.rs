//! What an allocator gives: pairs of inputs and outputs, and the room in which it works them out.

use super::Requests;

/// The output of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Match {
    /// Output of the input.
    pub output: usize,
    /// Iteration that made it, from 0; 0 where there are no iterations.
    pub iteration: u32,
}

/// A matching. Its owner keeps it from slot to slot, so no slot allocates.
#[derive(Debug, Clone, Default)]
pub struct Matching {
    /// The pair of each input.
    pairs: Vec<Option<Match>>,
    /// Inputs that ask for each output.
    pub(crate) asking: Vec<Requests>,
    /// Of two sides the one that picks last: who picked each of it.
    pub(crate) picked_by: Vec<Requests>,
}

impl Matching {
    /// A matching without pairs.
    pub fn new() -> Matching {
        Matching::default()
    }

    /// The pair of each input.
    pub fn pairs(&self) -> &[Option<Match>] {
        &self.pairs
    }

    /// Input and output of each pair, by input.
    pub fn iter(&self) -> impl Iterator<Item = (usize, usize)> {
        self.pairs.iter().enumerate().filter_map(|(input, pair)| Some((input, (*pair)?.output)))
    }

    /// The pair of an input was not used.
    pub fn drop_pair(&mut self, input: usize) {
        if let Some(pair) = self.pairs.get_mut(input) {
            *pair = None;
        }
    }

    pub(crate) fn set(&mut self, input: usize, output: usize, iteration: u32) {
        self.pairs[input] = Some(Match { output, iteration });
    }

    /// Nothing is matched yet, and nobody has asked.
    pub(crate) fn begin(&mut self, inputs: usize, outputs: usize) {
        self.pairs.clear();
        self.pairs.resize(inputs, None);
        reset(&mut self.asking, outputs);
    }

    /// Turns the requests around, so that the work follows those that there are. `requests[i]` holds the outputs that
    /// input i asks for.
    pub(crate) fn gather(&mut self, requests: &[Requests]) {
        let outputs = self.asking.len();
        for (input, wanted) in requests.iter().take(self.pairs.len()).enumerate() {
            wanted.below(outputs).for_each(|output| self.asking[output].insert(input));
        }
    }
}

/// So many empty sets.
pub(crate) fn reset(sets: &mut Vec<Requests>, count: usize) {
    sets.iter_mut().for_each(Requests::clear);
    sets.resize(count, Requests::NONE);
}
