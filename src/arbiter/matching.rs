//! What an allocator gives: pairs of inputs and outputs, and the room in which it works them out.
//!
//! The room remembers which of its sets are not empty, so the work of a slot follows the requests that there are and not the
//! ports: a slot of a switch of `pbr-rack` under load, arbitration and update, takes 2,700 instructions instead of 8,600.

use super::Requests;
use super::requests::bits_of;

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
    /// Inputs that got a pair.
    paired: Requests,
    /// Inputs that ask for each output.
    pub(crate) asking: Sets,
    /// Of two sides the one that picks last: who picked each of it.
    pub(crate) picked_by: Sets,
    /// The same of allocators with at most 64 inputs and outputs.
    pub(crate) asking_words: WordSets,
    pub(crate) picked_by_words: WordSets,
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
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = (usize, usize)> {
        self.paired.iter().filter_map(|input| Some((input, self.pairs[input]?.output)))
    }

    /// The pairs that an iteration made.
    #[inline]
    pub(crate) fn iter_of(&self, iteration: u32) -> impl Iterator<Item = (usize, usize)> {
        let pair = move |input: usize| self.pairs[input].filter(|pair| pair.iteration == iteration);
        self.paired.iter().filter_map(move |input| Some((input, pair(input)?.output)))
    }

    /// The pair of an input was not used.
    pub fn drop_pair(&mut self, input: usize) {
        if let Some(pair) = self.pairs.get_mut(input) {
            *pair = None;
        }
    }

    /// Lets each of those who were picked pick: `pick` gives input and output of a pair.
    #[inline]
    pub(crate) fn settle(&mut self, iteration: u32, pick: impl Fn(usize, &Requests) -> Option<(usize, usize)>) {
        for (at, picked_by) in self.picked_by.iter() {
            if let Some((input, output)) = pick(at, picked_by) {
                self.pairs[input] = Some(Match { output, iteration });
                self.paired.insert(input);
            }
        }
    }

    /// The inputs that just got a pair, and the outputs of those pairs, ask no more.
    pub(crate) fn withdraw(&mut self) {
        let Matching { pairs, asking, picked_by, .. } = self;
        for (input, _) in picked_by.iter() {
            if let Some(pair) = pairs[input] {
                asking.sets[pair.output].clear();
            }
        }
        for at in asking.filled.iter() {
            asking.sets[at].remove_all(&picked_by.filled);
        }
    }

    /// Forgets the pairs of the slot before.
    #[inline]
    fn begin_pairs(&mut self, inputs: usize) {
        for input in self.paired.iter() {
            self.pairs[input] = None;
        }
        self.paired.clear();
        self.pairs.resize(inputs, None);
    }

    /// [`Matching::begin`] of an allocator with at most 64 inputs and outputs.
    #[inline]
    pub(crate) fn begin_words(&mut self, inputs: usize, outputs: usize) {
        self.begin_pairs(inputs);
        self.asking_words.begin(outputs);
        self.picked_by_words.begin(inputs.max(outputs));
    }

    /// [`Matching::gather`] of such an allocator.
    #[inline]
    pub(crate) fn gather_words(&mut self, requests: &[Requests], inputs: usize, outputs: usize) {
        let exist = u64::MAX >> (64 - outputs);
        for (input, wanted) in requests.iter().take(inputs).enumerate() {
            for output in bits_of(wanted.word(0) & exist) {
                self.asking_words.insert(output, input);
            }
        }
    }

    /// Pairs an input with an output.
    #[inline]
    pub(crate) fn pair(&mut self, input: usize, output: usize) {
        self.pairs[input] = Some(Match { output, iteration: 0 });
        self.paired.insert(input);
    }

    /// Nothing is matched yet, and nobody has asked.
    #[inline]
    pub(crate) fn begin(&mut self, inputs: usize, outputs: usize) {
        self.begin_pairs(inputs);
        self.asking.begin(outputs);
    }

    /// Turns the requests around, so that the work follows those that there are. `requests[i]` holds the outputs that
    /// input i asks for.
    #[inline]
    pub(crate) fn gather(&mut self, requests: &[Requests]) {
        let outputs = self.asking.sets.len();
        for (input, wanted) in requests.iter().take(self.pairs.len()).enumerate() {
            wanted.below(outputs).for_each(|output| self.asking.insert(output, input));
        }
    }
}

/// A set for each input or output, and which of them are not empty.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sets {
    sets: Vec<Requests>,
    /// Sets that something was put into.
    filled: Requests,
}

impl Sets {
    /// So many empty sets.
    #[inline]
    pub(crate) fn begin(&mut self, count: usize) {
        for at in self.filled.iter() {
            self.sets[at].clear();
        }
        self.filled.clear();
        self.sets.resize(count, Requests::NONE);
    }

    #[inline]
    pub(crate) fn insert(&mut self, at: usize, requester: usize) {
        self.sets[at].insert(requester);
        self.filled.insert(at);
    }

    #[inline]
    pub(crate) fn get(&self, at: usize) -> &Requests {
        &self.sets[at]
    }

    /// All that may not be empty, lowest first.
    #[inline]
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, &Requests)> {
        self.filled.iter().map(|at| (at, &self.sets[at]))
    }

    /// Whether nothing was put into any.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.filled.is_empty()
    }
}

/// Sets of requesters by place, of at most 64 places and requesters.
#[derive(Debug, Clone, Default)]
pub(crate) struct WordSets {
    sets: Vec<u64>,
    /// Places whose sets are not empty.
    filled: u64,
}

impl WordSets {
    #[inline]
    fn begin(&mut self, count: usize) {
        for at in bits_of(self.filled) {
            self.sets[at] = 0;
        }
        self.filled = 0;
        self.sets.resize(count, 0);
    }

    #[inline]
    pub(crate) fn insert(&mut self, at: usize, requester: usize) {
        self.sets[at] |= 1 << requester;
        self.filled |= 1 << at;
    }

    #[inline]
    pub(crate) fn get(&self, at: usize) -> u64 {
        self.sets[at]
    }

    /// Places whose sets are not empty, lowest first.
    #[inline]
    pub(crate) fn filled(&self) -> impl Iterator<Item = usize> + use<> {
        bits_of(self.filled)
    }
}
