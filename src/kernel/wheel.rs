//! The timing wheel of one clock domain: which modules run at which of its edges.
//!
//! 64 slots of one bitset each cover the edges `base .. base + 64`; a wake-up further away waits in a heap. One word says
//! which slots are occupied, so that the next edge at which anything happens is a rotate and a count of zeros, and one word a
//! slot says which groups of its bitset are occupied, so that an idle module costs nothing. Setting a bit twice is setting
//! it once.
//!
//! A *wake-up* (something was sent, a slot got free) is never withdrawn. The *timer* of a module is: it has at most one,
//! and its next evaluation replaces it. Timers stand in a tree of minima, whose leaves are the modules and whose root is the edge
//! of the first timer. A timer is set, moved or taken away by the way from its leaf to the root, which ends where nothing changes:
//! a domain with one module has one node. With a heap, whose withdrawn entries were thrown out later, a flit of
//! `cxl68-expander` took 120 instructions more.

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Edges that the slots cover: the bits of one word.
const SLOTS: usize = 64;
/// An edge number that never comes.
pub(super) const NEVER: u64 = u64::MAX;

type Heap = RefCell<BinaryHeap<Reverse<(u64, u32)>>>;

pub(super) struct Wheel {
    /// The last edge evaluated; every wake-up is later.
    base: Cell<u64>,
    /// Bit s: slot s is not empty.
    occupied: Cell<u64>,
    /// The bitsets, the first word of each slot: the first 64 modules, which most domains do not exceed.
    first: [Cell<u64>; SLOTS],
    /// The other words: word w + 1 of slot s is `others[w][s]`.
    others: Box<[[Cell<u64>; SLOTS]]>,
    /// One a slot. Bit g: one of the other words of group g is not zero.
    groups: [Cell<u64>; SLOTS],
    /// A group is 2^shift words.
    group_shift: u32,
    /// Wake-ups beyond the slots, and the edge of the first of them.
    far: Heap,
    far_next: Cell<u64>,
    /// The first of `far_next` and of the timers, which every edge asks for.
    later: Cell<u64>,
    modules: usize,
    /// Timers: the edge that each module wants, from `leaves` on; node n below that has the first of those of 2n and 2n + 1.
    timers: Box<[Cell<u64>]>,
    /// A power of two, at least `modules`.
    leaves: usize,
}

impl Wheel {
    /// A wheel in which every one of `modules` modules runs at edge 0.
    pub(super) fn new(modules: usize) -> Wheel {
        let others = modules.saturating_sub(1) / 64;
        let nobody = || std::array::from_fn(|_| Cell::new(0));
        let leaves = modules.next_power_of_two();
        let wheel = Wheel {
            base: Cell::new(0),
            occupied: Cell::new(0),
            first: nobody(),
            others: (0..others).map(|_| nobody()).collect(),
            groups: nobody(),
            group_shift: others.div_ceil(64).next_power_of_two().trailing_zeros(),
            far: Heap::default(),
            far_next: Cell::new(NEVER),
            later: Cell::new(NEVER),
            modules,
            timers: (0..2 * leaves).map(|_| Cell::new(NEVER)).collect(),
            leaves,
        };
        for module in 0..modules {
            wheel.set(0, module as u32);
        }
        wheel
    }

    /// Modules in this domain.
    pub(super) fn modules(&self) -> usize {
        self.modules
    }

    /// Runs `module` at edge `cycle`, which is later than the last edge evaluated. `floor` gives an edge before which
    /// nobody will ask for anything any more; it is only called when the slots do not reach.
    #[inline]
    pub(super) fn wake(&self, cycle: u64, module: u32, floor: impl FnOnce() -> u64) {
        if cycle.wrapping_sub(self.base.get()) < SLOTS as u64 {
            self.set(cycle, module);
        } else {
            self.wake_far(cycle, module, floor);
        }
    }

    #[cold]
    #[inline(never)]
    fn wake_far(&self, cycle: u64, module: u32, floor: impl FnOnce() -> u64) {
        // An empty wheel may be turned forward: the domain slept.
        if self.occupied.get() == 0 {
            self.base.set(self.base.get().max(floor()));
            if cycle.wrapping_sub(self.base.get()) < SLOTS as u64 {
                return self.set(cycle, module);
            }
        }
        if cycle != NEVER {
            self.far.borrow_mut().push(Reverse((cycle, module)));
            self.far_next.set(self.far_next.get().min(cycle));
            self.note_later();
        }
    }

    #[inline]
    fn set(&self, cycle: u64, module: u32) {
        let slot = cycle as usize % SLOTS;
        if module < 64 {
            self.first[slot].set(self.first[slot].get() | 1 << module);
        } else {
            let word = module as usize / 64 - 1;
            let (cell, groups) = (&self.others[word][slot], &self.groups[slot]);
            cell.set(cell.get() | 1 << (module % 64));
            groups.set(groups.get() | 1 << (word >> self.group_shift));
        }
        self.occupied.set(self.occupied.get() | 1 << slot);
    }

    /// Replaces the timer of `module`: it runs at edge `cycle`; [`NEVER`] takes the timer away.
    #[inline]
    pub(super) fn set_timer(&self, module: u32, cycle: u64) {
        if self.timer(module) == cycle {
            return;
        }
        // The only module of a domain has the first timer, whatever it is.
        if self.leaves == 1 {
            self.timers[1].set(cycle);
            self.note_later();
        } else {
            self.move_timer(module, cycle);
        }
    }

    #[inline]
    fn timer(&self, module: u32) -> u64 {
        self.timers[self.leaves.wrapping_add(module as usize)].get()
    }

    /// The first timer.
    #[inline]
    fn timers_next(&self) -> u64 {
        self.timers[1].get()
    }

    #[inline(never)]
    fn move_timer(&self, module: u32, cycle: u64) {
        let (mut node, mut first) = (self.leaves + module as usize, cycle);
        while self.timers[node].replace(first) != first && node > 1 {
            first = first.min(self.timers[node ^ 1].get());
            node /= 2;
        }
        self.note_later();
    }

    #[inline]
    fn note_later(&self) {
        self.later.set(self.far_next.get().min(self.timers_next()));
    }

    /// Whether `module` will run at some edge.
    pub(super) fn is_set(&self, module: u32) -> bool {
        let word = if module < 64 { &self.first } else { &self.others[module as usize / 64 - 1] };
        let bit = 1 << (module % 64);
        self.timer(module) != NEVER
            || word.iter().any(|slot| slot.get() & bit != 0)
            || self.far.borrow().iter().any(|entry| entry.0.1 == module)
    }

    /// The next edge at which a module runs, or [`NEVER`].
    #[inline]
    pub(super) fn next(&self) -> u64 {
        let base = self.base.get();
        let occupied = self.occupied.get();
        let mut next = self.later.get();
        if occupied != 0 {
            let ahead = occupied.rotate_right(base as u32 % SLOTS as u32).trailing_zeros();
            // Edges have 64 bits, and one of the next 64 is occupied.
            next = next.min(base.wrapping_add(u64::from(ahead)));
        }
        next
    }

    /// Starts edge `cycle`: everything that is due at it is now in its slot.
    #[inline]
    pub(super) fn start(&self, cycle: u64) {
        self.base.set(cycle);
        if self.later.get() <= cycle {
            self.collect(cycle);
        }
    }

    #[inline(never)]
    fn collect(&self, cycle: u64) {
        while self.far_next.get() <= cycle {
            let mut far = self.far.borrow_mut();
            if let Some(Reverse((_, module))) = far.pop() {
                self.set(cycle, module);
            }
            self.far_next.set(far.peek().map_or(NEVER, |entry| entry.0.0));
        }
        while self.timers_next() <= cycle {
            let mut node = 1;
            while node < self.leaves {
                node *= 2;
                node += usize::from(self.timers[node].get() > cycle);
            }
            let module = (node - self.leaves) as u32;
            self.move_timer(module, NEVER);
            self.set(cycle, module);
        }
        self.note_later();
    }

    /// Takes the first 64 modules out of the slot of edge `cycle`, a bit each. The loop over them may set other slots; where there
    /// are more modules, [`Wheel::take_others`] follows.
    #[inline]
    pub(super) fn take(&self, cycle: u64) -> u64 {
        let slot = cycle as usize % SLOTS;
        self.occupied.set(self.occupied.get() & !(1 << slot));
        self.first[slot].replace(0)
    }

    /// Whether there are more than 64 modules.
    #[inline]
    pub(super) fn has_others(&self) -> bool {
        !self.others.is_empty()
    }

    /// Takes the other modules out of the slot, 64 a step, in elaboration order.
    pub(super) fn take_others(&self, cycle: u64) -> TakenSlot<'_> {
        TakenSlot { wheel: self, slot: cycle as usize % SLOTS, groups: 0, words: 0..0 }
    }

    /// Takes all modules out of the slot and calls `run` for each.
    pub(super) fn take_each(&self, cycle: u64, mut run: impl FnMut(u32)) {
        let first = [(0, self.take(cycle))];
        for (first, mut bits) in first.into_iter().chain(self.take_others(cycle)) {
            while bits != 0 {
                run(first + bits.trailing_zeros());
                bits &= bits - 1;
            }
        }
    }
}

/// The modules behind the first 64 of a slot that is being emptied: the number of the first of 64, and a bit for each of them; not
/// all words have one that is set. The first 64 have wake words of their own, and a loop of its own goes over them: the ring of
/// `make bench` takes 169 instructions an evaluation with 64 items and 224 with one item (callgrind).
pub(super) struct TakenSlot<'a> {
    wheel: &'a Wheel,
    slot: usize,
    /// Groups of the other words that are to come, and the rest of the one that is being emptied.
    groups: u64,
    words: std::ops::Range<usize>,
}

impl Iterator for TakenSlot<'_> {
    type Item = (u32, u64);

    fn next(&mut self) -> Option<(u32, u64)> {
        let wheel = self.wheel;
        loop {
            if let Some(word) = self.words.next() {
                return Some(((word as u32 + 1) * 64, wheel.others[word][self.slot].replace(0)));
            }
            if self.groups == 0 {
                // What a module sets is later, so nothing comes into this slot while it is emptied.
                self.groups = wheel.groups[self.slot].replace(0);
                if self.groups == 0 {
                    return None;
                }
            }
            let start = (self.groups.trailing_zeros() as usize) << wheel.group_shift;
            self.groups &= self.groups - 1;
            self.words = start..(start + (1 << wheel.group_shift)).min(wheel.others.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs the wheel and writes down who runs at which edge, to the end.
    fn drain(wheel: &Wheel) -> Vec<(u64, Vec<u32>)> {
        let mut log = Vec::new();
        while wheel.next() != NEVER {
            let cycle = wheel.next();
            log.push((cycle, edge(wheel, cycle)));
        }
        log
    }

    fn edge(wheel: &Wheel, cycle: u64) -> Vec<u32> {
        let mut ran = Vec::new();
        wheel.start(cycle);
        wheel.take_each(cycle, |module| ran.push(module));
        ran
    }

    #[test]
    fn everybody_runs_at_edge_0_in_elaboration_order() {
        for modules in [1, 64, 65, 5_000] {
            assert_eq!(drain(&Wheel::new(modules)), [(0, (0..modules as u32).collect())]);
        }
    }

    #[test]
    fn near_and_far_wake_ups_meet_in_one_slot() {
        let wheel = Wheel::new(200);
        edge(&wheel, 0);
        for (cycle, module) in [(1, 3), (63, 1), (64, 0), (1_000, 130), (1_000, 7), (1, 199), (1, 3)] {
            wheel.wake(cycle, module, || 0);
        }
        assert_eq!(wheel.next(), 1);
        assert_eq!(edge(&wheel, 1), [3, 199]);
        wheel.wake(64, 5, || 2);
        assert_eq!(drain(&wheel), [(63, vec![1]), (64, vec![0, 5]), (1_000, vec![7, 130])]);
    }

    #[test]
    fn an_empty_wheel_turns_forward() {
        let wheel = Wheel::new(2);
        edge(&wheel, 0);
        wheel.wake(1_000_005, 1, || 1_000_000);
        assert_eq!(wheel.far_next.get(), NEVER);
        wheel.wake(1_000_000, 0, || 1_000_000);
        assert_eq!(drain(&wheel), [(1_000_000, vec![0]), (1_000_005, vec![1])]);
    }

    #[test]
    fn a_timer_is_replaced_or_taken_away() {
        let wheel = Wheel::new(2);
        edge(&wheel, 0);
        for cycle in 100..1_100 {
            wheel.set_timer(0, cycle);
        }
        wheel.set_timer(1, 500);
        wheel.set_timer(1, 90);
        wheel.set_timer(1, 600);
        assert_eq!(drain(&wheel), [(600, vec![1]), (1_099, vec![0])]);
        wheel.set_timer(0, 2_000);
        wheel.set_timer(0, NEVER);
        assert_eq!(wheel.next(), NEVER);
        wheel.set_timer(0, 1_500);
        wheel.set_timer(1, 1_500);
        assert_eq!(drain(&wheel), [(1_500, vec![0, 1])]);
    }

    /// The first timer is the least of all, whatever was set, moved and taken away before.
    #[test]
    fn timers_of_any_number_of_modules_come_in_order() {
        for modules in [1, 2, 3, 5, 64, 65, 130] {
            let wheel = Wheel::new(modules as usize);
            edge(&wheel, 0);
            let mut plain = vec![NEVER; modules as usize];
            let mut number = 1u64;
            for _ in 0..500 {
                number = number.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                let (module, cycle) = (number >> 33 & 0xff, 1 + (number >> 42 & 0xff));
                let (module, cycle) = (module % modules, if cycle < 32 { NEVER } else { cycle });
                wheel.set_timer(module as u32, cycle);
                plain[module as usize] = cycle;
                assert_eq!(wheel.next(), plain.iter().copied().min().unwrap_or(NEVER));
            }
            let mut expected: Vec<(u64, Vec<u32>)> = Vec::new();
            let mut left: Vec<(u64, u32)> = plain.into_iter().zip(0..).filter(|timer| timer.0 != NEVER).collect();
            left.sort_unstable();
            for (cycle, module) in left {
                match expected.last_mut() {
                    Some((last, ran)) if *last == cycle => ran.push(module),
                    _ => expected.push((cycle, vec![module])),
                }
            }
            assert_eq!(drain(&wheel), expected, "{modules} modules");
        }
    }
}
