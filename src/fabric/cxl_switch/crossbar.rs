//! A crossbar with virtual output queues (VOQ): one queue per input, output and class, and one output queue per output
//! and class behind the grant.
//!
//! Modelled: an allocator that pairs inputs with outputs, an arbiter at each output that selects the class, ports and a
//! crossbar that move a set number of bytes per cycle, and an output queue in front of a pipeline of a set number of
//! cycles. Detail: an item is granted as a whole; its input and its output are then busy for the cycles that its bytes
//! take. Left out: the meaning of an item.
//!
//! A walk through one cycle: an input requests every output for which an item of any class is ready and has room at the
//! output. The allocator pairs inputs with outputs. The arbiter of each paired output selects a class, and the item moves
//! to the output queue. These steps repeat until no further grant is possible in this cycle. A class can be told to push
//! another one ahead of itself: its items are granted, and leave, behind those that came before them on the same way.
//!
//! Of the many queues few hold an item. Masks say which, and each pair of an input and an output knows whose first items are
//! ready, and from which cycle on another one is, so a cycle looks at the items that can move and at no other queue. An item
//! is moved when it enters and when it leaves; in between the queues hold its place.

use scalepool_arbiter::{Allocator, AllocatorKind, Arbiter, ArbiterError, ArbiterKind, Matching, Requests, WORD_BITS};
use std::collections::VecDeque;

/// Most classes of a crossbar: a mask of 32 bits holds the classes of a pair.
pub const MOST_CROSSBAR_CLASSES: usize = 32;

/// A class whose items do not overtake those of another one between the same input and output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PushedClass {
    /// The class that stays behind.
    pub class: usize,
    /// The class that it stays behind.
    pub behind: usize,
}

/// Configuration of a crossbar.
#[derive(Clone, Copy)]
pub struct VoqConfig {
    /// Number of inputs.
    pub inputs: usize,
    /// Number of outputs.
    pub outputs: usize,
    /// Number of classes that do not block one another, at most [`MOST_CROSSBAR_CLASSES`].
    pub classes: usize,
    /// A class that pushes another one ahead of itself; `None`: every class passes every other one.
    pub pushed: Option<PushedClass>,
    /// Depth of the queue of an input, output and class \[items\].
    pub queue: usize,
    /// Depth of the output queue of an output and class \[items\].
    pub output_queue: usize,
    /// Bytes that each input and each output of the crossbar moves per cycle.
    pub bytes_per_cycle: u64,
    /// Cycles from a grant until the item can leave.
    pub behind_cycles: u64,
    /// Allocator that pairs inputs with outputs.
    pub allocator: &'static AllocatorKind,
    /// Arbiter that selects the class at an output.
    pub arbiter: &'static ArbiterKind,
}

/// The occupancy of a resource that moves a set number of bytes per cycle.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Pace {
    /// End of the current transfer, in byte times since the start (cycle times bytes per cycle).
    busy_until: u64,
}

impl Pace {
    /// Whether the resource can start a transfer in a cycle.
    #[inline]
    pub fn is_free(self, cycle: u64, bytes_per_cycle: u64) -> bool {
        self.busy_until < (cycle + 1) * bytes_per_cycle
    }

    /// Occupies the resource for a number of bytes from a cycle on.
    #[inline]
    pub fn take(&mut self, cycle: u64, bytes_per_cycle: u64, bytes: u64) {
        self.busy_until = self.busy_until.max(cycle * bytes_per_cycle) + bytes;
    }
}

/// An item in front of the grant.
#[derive(Clone, Copy)]
struct WaitingItem {
    /// First cycle in which the item may be granted.
    ready: u64,
    /// Number of the item among all that were queued.
    number: u64,
    bytes: u64,
    /// Its place among the items.
    place: u32,
}

/// An item behind the grant.
#[derive(Clone, Copy)]
struct Granted {
    /// First cycle in which it can leave.
    due: u64,
    /// Number of the grant.
    number: u64,
    /// Its place among the items.
    place: u32,
}

/// Items at places that stay the same while they are held.
struct ItemSlab<T> {
    items: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> ItemSlab<T> {
    #[inline]
    fn put(&mut self, item: T) -> u32 {
        match self.free.pop() {
            Some(place) => {
                self.items[place as usize] = Some(item);
                place
            }
            None => {
                self.items.push(Some(item));
                (self.items.len() - 1) as u32
            }
        }
    }

    #[inline]
    fn get(&self, place: u32) -> Option<&T> {
        self.items[place as usize].as_ref()
    }

    #[inline]
    fn take(&mut self, place: u32) -> Option<T> {
        self.free.push(place);
        self.items[place as usize].take()
    }
}

/// The queues of an input and an output.
#[derive(Debug, Clone, Copy)]
struct VoqPair {
    /// Cycle from which on another first item may be ready than those that are known to be.
    ready: u64,
    /// Classes with an item.
    held: u32,
    /// Classes whose first item is ready.
    risen: u32,
}

impl VoqPair {
    const EMPTY: VoqPair = VoqPair { ready: u64::MAX, held: 0, risen: 0 };
}

/// The numbers of the set bits of a word, lowest first.
#[inline]
pub(super) fn classes_of(mut word: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let class = word.trailing_zeros();
        word &= word.wrapping_sub(1);
        (class < u32::BITS).then_some(class as usize)
    })
}

/// The crossbar.
pub struct VoqCrossbar<T> {
    config: VoqConfig,
    /// By input, output, class.
    queues: Vec<VecDeque<WaitingItem>>,
    /// By input, output.
    held: Vec<VoqPair>,
    /// Outputs with an item in any queue, by input.
    waiting: Vec<Requests>,
    /// Inputs with an item in any queue.
    occupied: Requests,
    /// Items in the queues of an output and behind its grants.
    toward: Vec<usize>,
    /// By output, class.
    behind: Vec<VecDeque<Granted>>,
    /// Classes with an item behind the grant, by output.
    granted: Vec<u32>,
    /// Classes without room behind the grant, by output.
    full: Vec<u32>,
    /// Outputs with an item behind the grant.
    granted_outputs: Requests,
    inputs: Vec<Pace>,
    outputs: Vec<Pace>,
    allocator: Box<dyn Allocator>,
    arbiters: Vec<Box<dyn Arbiter>>,
    requests: Vec<Requests>,
    /// Outputs that can begin a transfer in the cycle that is stepped.
    open: Requests,
    matching: Matching,
    pairs: Vec<(usize, usize)>,
    items: ItemSlab<T>,
    queued: usize,
    /// Words that hold the outputs.
    words: usize,
    /// Items that were queued, and grants that were made.
    numbers: [u64; 2],
}

impl<T> VoqCrossbar<T> {
    /// An empty crossbar, with a weight for each class, which an arbiter by weights looks at.
    ///
    /// # Errors
    /// The allocator or the arbiter does not support the number of inputs, outputs or classes; more than
    /// [`MOST_CROSSBAR_CLASSES`].
    pub fn new(config: VoqConfig, weights: &[u16]) -> Result<VoqCrossbar<T>, ArbiterError> {
        let VoqConfig { inputs, outputs, classes, allocator, arbiter, .. } = config;
        if classes > MOST_CROSSBAR_CLASSES {
            return Err(ArbiterError::Requesters { found: classes });
        }
        Ok(VoqCrossbar {
            queues: (0..inputs * outputs * classes).map(|_| VecDeque::new()).collect(),
            held: vec![VoqPair::EMPTY; inputs * outputs],
            waiting: vec![Requests::NONE; inputs],
            occupied: Requests::NONE,
            toward: vec![0; outputs],
            behind: (0..outputs * classes).map(|_| VecDeque::new()).collect(),
            granted: vec![0; outputs],
            full: vec![if config.output_queue == 0 { u32::MAX } else { 0 }; outputs],
            granted_outputs: Requests::NONE,
            inputs: vec![Pace::default(); inputs],
            outputs: vec![Pace::default(); outputs],
            allocator: (allocator.make)(inputs, outputs)?,
            arbiters: (0..outputs).map(|_| (arbiter.make)(weights)).collect::<Result<_, _>>()?,
            requests: vec![Requests::NONE; inputs],
            open: Requests::NONE,
            matching: Matching::new(),
            pairs: Vec::new(),
            items: ItemSlab { items: Vec::new(), free: Vec::new() },
            queued: 0,
            words: outputs.div_ceil(WORD_BITS),
            numbers: [0; 2],
            config,
        })
    }

    #[inline]
    fn queue_at(&self, input: usize, output: usize, class: usize) -> usize {
        (input * self.config.outputs + output) * self.config.classes + class
    }

    /// Whether a queue has room for one more item.
    #[inline]
    pub fn has_room(&self, input: usize, output: usize, class: usize) -> bool {
        self.queues[self.queue_at(input, output, class)].len() < self.config.queue
    }

    /// Queues an item that may be granted from cycle `ready` on; its queue has to have room.
    pub fn push(&mut self, (input, output, class): (usize, usize, usize), ready: u64, bytes: u64, item: T) {
        let at = self.queue_at(input, output, class);
        let place = self.items.put(item);
        self.queues[at].push_back(WaitingItem { ready, number: self.numbers[0], bytes, place });
        self.numbers[0] += 1;
        let pair = &mut self.held[input * self.config.outputs + output];
        // Behind another item of its class it waits for that one.
        if pair.held >> class & 1 == 0 {
            pair.held |= 1 << class;
            pair.ready = pair.ready.min(ready);
            self.waiting[input].insert(output);
            self.occupied.insert(input);
        }
        self.toward[output] += 1;
        self.queued += 1;
    }

    /// Number of items that wait for an output or are on their way to it.
    pub fn backlog(&self, output: usize) -> usize {
        self.toward[output]
    }

    /// Number of items in the crossbar and its queues.
    pub fn queued(&self) -> usize {
        self.queued
    }

    /// Output, class and item of the one that was granted first of all that have not left, or where none is granted of the one that
    /// entered first.
    pub fn first_held(&self) -> Option<(usize, usize, &T)> {
        let (outputs, classes) = (self.config.outputs, self.config.classes);
        let granted = self.behind.iter().enumerate();
        let granted = granted.filter_map(|(n, queue)| queue.front().map(|one| (one.number, n, one.place)));
        let granted = granted.min_by_key(|(number, ..)| *number);
        if let Some((_, n, place)) = granted {
            return Some((n / classes, n % classes, self.items.get(place)?));
        }
        let waiting = self.queues.iter().enumerate();
        let waiting = waiting.filter_map(|(n, queue)| queue.front().map(|one| (one.number, n, one.place)));
        let (_, n, place) = waiting.min_by_key(|(number, ..)| *number)?;
        Some((n / classes % outputs, n % classes, self.items.get(place)?))
    }

    /// All items in the queues and behind the grants.
    pub fn items(&self) -> impl Iterator<Item = &T> {
        let waiting = self.queues.iter().flatten().map(|waiting| waiting.place);
        waiting
            .chain(self.behind.iter().flatten().map(|granted| granted.place))
            .filter_map(|place| self.items.get(place))
    }

    /// Items of a class in the queues of an input.
    pub fn queued_at(&self, input: usize, class: usize) -> usize {
        (0..self.config.outputs).map(|output| self.queues[self.queue_at(input, output, class)].len()).sum()
    }

    /// Whether the first item of a class between an input and an output stays behind an earlier one of another class.
    #[inline(never)]
    fn is_behind(&self, input: usize, output: usize, class: usize) -> bool {
        let Some(PushedClass { behind, .. }) = self.config.pushed.filter(|pushed| pushed.class == class) else {
            return false;
        };
        let first =
            |class: usize| self.queues[self.queue_at(input, output, class)].front().map(|waiting| waiting.number);
        first(behind).is_some_and(|earlier| first(class).is_some_and(|own| earlier < own))
    }

    /// Classes of an input whose first items can go to an output once they are ready, with the cycles from which they are.
    #[inline]
    fn placed(&self, input: usize, output: usize) -> impl Iterator<Item = (usize, u64)> + '_ {
        let first = self.queue_at(input, output, 0);
        let with_room = self.held[input * self.config.outputs + output].held & !self.full[output];
        classes_of(with_room).filter_map(move |class| {
            let front = self.queues[first + class].front()?;
            (!self.is_behind(input, output, class)).then_some((class, front.ready))
        })
    }

    /// Finds the first items between an input and an output that have become ready.
    #[inline(never)]
    fn rise(&mut self, input: usize, output: usize, cycle: u64) {
        let (first, at) = (self.queue_at(input, output, 0), input * self.config.outputs + output);
        let pair = &mut self.held[at];
        pair.ready = u64::MAX;
        for class in classes_of(pair.held & !pair.risen) {
            if let Some(front) = self.queues[first + class].front() {
                if front.ready <= cycle {
                    pair.risen |= 1 << class;
                } else {
                    pair.ready = pair.ready.min(front.ready);
                }
            }
        }
    }

    /// Classes of an input that may go to an output in a cycle, bit n for class n.
    // In line, with what is rare in functions of its own: 20 instructions instead of 56.
    #[inline(always)]
    fn eligible(&mut self, input: usize, output: usize, cycle: u64) -> u32 {
        let at = input * self.config.outputs + output;
        if self.held[at].ready <= cycle {
            self.rise(input, output, cycle);
        }
        let classes = self.held[at].risen & !self.full[output];
        match self.config.pushed {
            Some(PushedClass { class, .. }) if classes >> class & 1 == 1 && self.is_behind(input, output, class) => {
                classes & !(1 << class)
            }
            _ => classes,
        }
    }

    /// Looks again at what the queues of an input and an output hold, after items have left them.
    fn count_pair(&mut self, input: usize, output: usize) {
        let (first, at) = (self.queue_at(input, output, 0), input * self.config.outputs + output);
        let mut pair = VoqPair::EMPTY;
        for class in classes_of(self.held[at].held) {
            if let Some(front) = self.queues[first + class].front() {
                pair.held |= 1 << class;
                pair.ready = pair.ready.min(front.ready);
            }
        }
        self.held[at] = pair;
        if pair.held == 0 {
            self.empty_pair(input, output);
        }
    }

    /// Looks again at one class between an input and an output, whose first item has left.
    #[inline]
    fn count_class(&mut self, input: usize, output: usize, class: usize) {
        let front = self.queues[self.queue_at(input, output, class)].front().map(|front| front.ready);
        let pair = &mut self.held[input * self.config.outputs + output];
        pair.risen &= !(1 << class);
        match front {
            Some(ready) => pair.ready = pair.ready.min(ready),
            None => {
                pair.held &= !(1 << class);
                if pair.held == 0 {
                    self.empty_pair(input, output);
                }
            }
        }
    }

    /// Notes that nothing waits between an input and an output any more.
    fn empty_pair(&mut self, input: usize, output: usize) {
        self.waiting[input].remove(output);
        if self.waiting[input].is_empty() {
            self.occupied.remove(input);
            self.requests[input].clear();
        }
    }

    /// Notes whether a class of an output has items and room behind the grant, after some have left.
    #[inline]
    fn count_granted(&mut self, output: usize, class: usize) {
        let left = self.behind[output * self.config.classes + class].len();
        if left < self.config.output_queue {
            self.full[output] &= !(1 << class);
        }
        if left == 0 {
            self.granted[output] &= !(1 << class);
            if self.granted[output] == 0 {
                self.granted_outputs.remove(output);
            }
        }
    }

    /// Makes all grants of a cycle; returns the number of items granted.
    ///
    /// Inputs and outputs that cannot begin a transfer any more in this cycle drop out of it: under load that is all of them
    /// after one or two rounds, while nearly every pair has an item.
    pub fn step(&mut self, cycle: u64) -> usize {
        let (rate, mut granted) = (self.config.bytes_per_cycle, 0);
        if self.occupied.is_empty() {
            return 0;
        }
        self.open.clear();
        for output in 0..self.outputs.len() {
            if self.outputs[output].is_free(cycle, rate) {
                self.open.insert(output);
            }
        }
        loop {
            let mut is_asked = false;
            for at in 0..self.occupied.used_words() {
                let mut left = self.occupied.word(at);
                while left != 0 {
                    let input = at * WORD_BITS + left.trailing_zeros() as usize;
                    left &= left - 1;
                    self.requests[input].clear();
                    if self.inputs[input].is_free(cycle, rate) {
                        is_asked |= self.ask(input, cycle);
                    }
                }
            }
            if !is_asked {
                return granted;
            }
            self.allocator.arbitrate(&self.requests, &mut self.matching);
            self.pairs.clear();
            self.matching.iter().for_each(|pair| self.pairs.push(pair));
            self.allocator.update(&self.requests, &self.matching);
            for n in 0..self.pairs.len() {
                let (input, output) = self.pairs[n];
                granted += usize::from(self.grant(input, output, cycle));
                if !self.outputs[output].is_free(cycle, rate) {
                    self.open.remove(output);
                }
            }
        }
    }

    /// Requests all outputs that an input has an item for; returns whether there is one.
    #[inline]
    fn ask(&mut self, input: usize, cycle: u64) -> bool {
        let mut is_asked = false;
        for at in 0..self.words {
            let (mut left, mut asked) = (self.waiting[input].word(at) & self.open.word(at), 0u64);
            if left == 0 {
                continue;
            }
            while left != 0 {
                let bit = left & left.wrapping_neg();
                left ^= bit;
                let output = at * WORD_BITS + bit.trailing_zeros() as usize;
                if self.eligible(input, output, cycle) != 0 {
                    asked |= bit;
                }
            }
            self.requests[input].set_word(at, asked);
            is_asked |= asked != 0;
        }
        is_asked
    }

    /// Moves an item of an input-output pair to the output queue; returns `false` if no class is eligible.
    fn grant(&mut self, input: usize, output: usize, cycle: u64) -> bool {
        let classes = u64::from(self.eligible(input, output, cycle));
        let Some(class) = self.arbiters[output].arbitrate_word(classes) else { return false };
        self.arbiters[output].update_word(classes, class);
        let at = self.queue_at(input, output, class);
        let Some(WaitingItem { bytes, place, .. }) = self.queues[at].pop_front() else { return false };
        let rate = self.config.bytes_per_cycle;
        self.inputs[input].take(cycle, rate, bytes);
        self.outputs[output].take(cycle, rate, bytes);
        self.count_class(input, output, class);
        let granted = Granted { due: cycle + self.config.behind_cycles, number: self.numbers[1], place };
        self.numbers[1] += 1;
        let behind = &mut self.behind[output * self.config.classes + class];
        behind.push_back(granted);
        self.full[output] |= u32::from(behind.len() >= self.config.output_queue) << class;
        self.granted[output] |= 1 << class;
        self.granted_outputs.insert(output);
        true
    }

    /// Removes items from all queues, which are asked for by output and item.
    pub fn remove(&mut self, is_removed: impl Fn(usize, &T) -> bool) -> Vec<T> {
        let VoqConfig { outputs, classes, .. } = self.config;
        let mut removed = Vec::new();
        let VoqCrossbar { queues, behind, items, toward, .. } = self;
        let mut is_kept = |output: usize, place: u32| {
            let is_gone = items.get(place).is_some_and(|item| is_removed(output, item));
            if is_gone {
                removed.extend(items.take(place));
                toward[output] -= 1;
            }
            !is_gone
        };
        for (n, queue) in queues.iter_mut().enumerate() {
            queue.retain(|waiting| is_kept(n / classes % outputs, waiting.place));
        }
        for (n, queue) in behind.iter_mut().enumerate() {
            queue.retain(|granted| is_kept(n / classes, granted.place));
        }
        for pair in 0..self.held.len() {
            self.count_pair(pair / outputs, pair % outputs);
        }
        for queue in 0..self.behind.len() {
            self.count_granted(queue / self.config.classes, queue % self.config.classes);
        }
        self.queued -= removed.len();
        removed
    }

    /// Outputs with an item behind the grant, which can leave now or later.
    pub fn granted_outputs(&self) -> &Requests {
        &self.granted_outputs
    }

    /// Classes of an output with an item behind the grant, bit n for class n.
    #[inline]
    pub fn granted_classes(&self, output: usize) -> u32 {
        self.granted[output]
    }

    /// Classes whose first item leaves or stays by what is first in a class, bit n for class n: that class, and what it pushes.
    #[inline]
    pub fn decided_by(&self, class: usize) -> u32 {
        let pushed = self.config.pushed.filter(|pushed| pushed.behind == class);
        1 << class | pushed.map_or(0, |pushed| 1 << pushed.class)
    }

    /// The first item of an output and class, if it can leave in this cycle.
    #[inline]
    pub fn leaving(&self, output: usize, class: usize, cycle: u64) -> Option<&T> {
        if self.granted[output] >> class & 1 == 0 {
            return None;
        }
        let first = |class: usize| self.behind[output * self.config.classes + class].front();
        let front = first(class).filter(|granted| granted.due <= cycle)?;
        let pushed = self.config.pushed.filter(|pushed| pushed.class == class);
        let earlier = pushed.and_then(|pushed| first(pushed.behind)).filter(|earlier| earlier.number < front.number);
        if earlier.is_none() { self.items.get(front.place) } else { None }
    }

    /// Removes the first item of an output and class.
    #[inline]
    pub fn leave(&mut self, output: usize, class: usize) -> Option<T> {
        let granted = self.behind[output * self.config.classes + class].pop_front()?;
        self.queued -= 1;
        self.toward[output] -= 1;
        self.count_granted(output, class);
        self.items.take(granted.place)
    }

    /// The first later cycle in which an item can be granted, or can leave, by the passing of time alone. An item that
    /// waits for room is woken by the pop that makes room.
    pub fn next_cycle(&self, cycle: u64) -> Option<u64> {
        if self.queued == 0 {
            return None;
        }
        let mut next = u64::MAX;
        for input in self.occupied.iter() {
            for output in self.waiting[input].iter() {
                let pair = &self.held[input * self.config.outputs + output];
                if pair.risen == 0 && pair.ready >= next {
                    continue;
                }
                next = self.placed(input, output).map(|(_, ready)| ready).fold(next, u64::min);
                if next <= cycle + 1 {
                    return Some(cycle + 1);
                }
            }
        }
        for output in self.granted_outputs.iter() {
            let fronts = classes_of(self.granted[output])
                .filter_map(|class| self.behind[output * self.config.classes + class].front());
            next = fronts.map(|granted| granted.due).filter(|due| *due > cycle).fold(next, u64::min);
        }
        (next != u64::MAX).then_some(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use scalepool_arbiter::{RoundRobin, Separable};

    fn crossbar(ports: usize, bytes_per_cycle: u64, output_queue: usize) -> VoqCrossbar<u32> {
        VoqCrossbar::new(
            VoqConfig {
                inputs: ports,
                outputs: ports,
                classes: 2,
                pushed: None,
                queue: 4,
                output_queue,
                bytes_per_cycle,
                behind_cycles: 3,
                allocator: &Separable::OUTPUT_FIRST,
                arbiter: &RoundRobin::KIND,
            },
            &[1; 2],
        )
        .expect("sizes that an allocator has")
    }

    /// Items that leave an output and class in a cycle.
    fn left(crossbar: &mut VoqCrossbar<u32>, output: usize, class: usize, cycle: u64) -> Vec<u32> {
        let mut all = Vec::new();
        while crossbar.leaving(output, class, cycle).is_some() {
            all.extend(crossbar.leave(output, class));
        }
        all
    }

    #[test]
    fn an_item_waits_until_it_is_ready_and_then_for_the_stages_behind() {
        let mut crossbar = crossbar(2, 64, 8);
        crossbar.push((0, 1, 0), 5, 16, 7);
        assert_eq!((crossbar.step(4), crossbar.next_cycle(4)), (0, Some(5)));
        assert_eq!((crossbar.step(5), crossbar.next_cycle(5)), (1, Some(8)));
        assert_eq!((crossbar.leaving(1, 0, 7), crossbar.leaving(1, 0, 8)), (None, Some(&7)));
        assert_eq!(left(&mut crossbar, 1, 0, 8), [7]);
        assert_eq!((crossbar.queued(), crossbar.next_cycle(8)), (0, None));
    }

    #[test]
    fn a_full_output_holds_up_its_class_alone() {
        let mut crossbar = crossbar(2, 1 << 20, 1);
        for n in 0..3 {
            crossbar.push((0, 1, 0), 0, 16, n);
            crossbar.push((0, 1, 1), 0, 16, 10 + n);
            crossbar.push((1, 0, 0), 0, 16, 20 + n);
        }
        // Class 0 of output 1 is never taken away; everything else goes on.
        let mut seen = [Vec::new(), Vec::new()];
        for cycle in 0..20 {
            crossbar.step(cycle);
            seen[0].extend(left(&mut crossbar, 1, 1, cycle));
            seen[1].extend(left(&mut crossbar, 0, 0, cycle));
        }
        assert_eq!(seen, [[10, 11, 12], [20, 21, 22]]);
        assert_eq!((crossbar.queued(), crossbar.queued_at(0, 0), crossbar.next_cycle(20)), (3, 2, None));
        assert!(crossbar.has_room(0, 1, 1) && crossbar.has_room(0, 1, 0));
    }

    #[test]
    fn ports_move_no_more_bytes_than_they_can() {
        let mut crossbar = crossbar(3, 64, 64);
        for cycle in 0..40 {
            for input in 0..2 {
                for class in 0..2 {
                    while crossbar.has_room(input, 2, class) {
                        crossbar.push((input, 2, class), 0, 80, 0);
                    }
                }
            }
            crossbar.step(cycle);
        }
        let left: usize = (0..2).map(|class| left(&mut crossbar, 2, class, 100).len()).sum();
        // 80 bytes each, 64 a cycle; the last one has begun.
        assert_eq!(left, 40 * 64 / 80);
    }
}
