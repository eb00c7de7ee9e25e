//! What the crossbar of a switch grants: a blocked output holds up no other one, and ports keep to their speed-up.

use scalepool::arbiter::{AllocatorKind, Islip, RoundRobin, Separable};
use scalepool::fabric::cxl_switch::{VoqConfig, VoqCrossbar};
use std::collections::VecDeque;

const PORTS: usize = 4;
/// Bytes of an item, which a port moves in a cycle.
const BYTES: u64 = 16;
/// Depth of the queue of an input and output \[items\].
const QUEUE: usize = 4;
const CYCLES: u64 = 200;

fn crossbar(speedup: u64, allocator: &'static AllocatorKind) -> VoqCrossbar<usize> {
    let config = VoqConfig {
        inputs: PORTS,
        outputs: PORTS,
        classes: 1,
        pushed: None,
        queue: QUEUE,
        output_queue: 8,
        bytes_per_cycle: BYTES * speedup,
        behind_cycles: 1,
        allocator,
        arbiter: &RoundRobin::KIND,
    };
    VoqCrossbar::new(config, &[1]).expect("sizes that an allocator has")
}

/// A switch that takes the items of an input in order.
trait Inputs {
    /// Takes an item of an input for an output, if there is room.
    fn push(&mut self, input: usize, output: usize, cycle: u64) -> bool;
    /// Moves items for a cycle; output 0 takes none. Returns how many left at the others.
    fn step(&mut self, cycle: u64) -> usize;
}

impl Inputs for VoqCrossbar<usize> {
    fn push(&mut self, input: usize, output: usize, cycle: u64) -> bool {
        let has_room = self.has_room(input, output, 0);
        if has_room {
            VoqCrossbar::push(self, (input, output, 0), cycle, BYTES, output);
        }
        has_room
    }

    fn step(&mut self, cycle: u64) -> usize {
        VoqCrossbar::step(self, cycle);
        let leaves = |output: &usize| self.leaving(*output, 0, cycle).is_some() && self.leave(*output, 0).is_some();
        (1..PORTS).filter(leaves).count()
    }
}

/// A switch with one queue for each input, as deep as all of the crossbar's together: what must not be.
#[derive(Default)]
struct OneQueue([VecDeque<usize>; PORTS]);

impl Inputs for OneQueue {
    fn push(&mut self, input: usize, output: usize, _: u64) -> bool {
        let has_room = self.0[input].len() < PORTS * QUEUE;
        if has_room {
            self.0[input].push_back(output);
        }
        has_room
    }

    fn step(&mut self, _: u64) -> usize {
        let mut is_used = [false; PORTS];
        for queue in &mut self.0 {
            if let Some(&output) = queue.front()
                && output != 0
                && !std::mem::replace(&mut is_used[output], true)
            {
                queue.pop_front();
            }
        }
        is_used.into_iter().filter(|is| *is).count()
    }
}

/// Items that left in so many cycles. Each input has an endless list of items, in turn for every output but with one for output 0 first;
/// one that finds no room holds up no item for another output that the switch could take.
fn passed(mut switch: impl Inputs) -> usize {
    (0..CYCLES)
        .map(|cycle| {
            for input in 0..PORTS {
                for output in (0..PORTS).map(|n| (n + input) % PORTS) {
                    switch.push(input, output, cycle);
                }
            }
            switch.step(cycle)
        })
        .sum()
}

/// While one output takes nothing, every other one works in every cycle, but for the first ones.
#[test]
fn fab_swc_01_p() {
    let found = passed(crossbar(1, &Islip::KIND));
    assert!(found as u64 >= (PORTS as u64 - 1) * (CYCLES - 8), "{found} items");
}

/// With one queue for each input, the blocked output stops all of them.
#[test]
fn fab_swc_01_n() {
    let found = passed(OneQueue::default());
    assert!(found < 2 * PORTS * PORTS * QUEUE, "{found} items");
}

/// Most items that an input, and an output, of the crossbar moved in a cycle, while all have something for all.
fn most_grants(speedup: u64, allocator: &'static AllocatorKind) -> [usize; 2] {
    let (mut crossbar, mut most) = (crossbar(speedup, allocator), [0; 2]);
    for cycle in 0..CYCLES {
        for (input, output) in (0..PORTS).flat_map(|input| (0..PORTS).map(move |output| (input, output))) {
            while crossbar.has_room(input, output, 0) {
                crossbar.push((input, output, 0), cycle, BYTES, output);
            }
        }
        let held =
            |crossbar: &VoqCrossbar<usize>| -> [usize; PORTS] { std::array::from_fn(|n| crossbar.queued_at(n, 0)) };
        let before = held(&crossbar);
        crossbar.step(cycle);
        let after = held(&crossbar);
        most[0] = before.iter().zip(after).map(|(before, after)| before - after).chain([most[0]]).max().unwrap_or(0);
        // What was granted in this cycle leaves in the next one, and no other item is there.
        for output in 0..PORTS {
            let mut count = 0;
            while crossbar.leaving(output, 0, cycle + 1).is_some() && crossbar.leave(output, 0).is_some() {
                count += 1;
            }
            most[1] = most[1].max(count);
        }
    }
    most
}

#[test]
fn fab_swc_08_p() {
    for speedup in [1, 2, 3] {
        for allocator in [&Separable::OUTPUT_FIRST, &Separable::INPUT_FIRST, &Islip::KIND] {
            assert_eq!(most_grants(speedup, allocator), [speedup as usize; 2], "{}, {speedup}", allocator.name);
        }
    }
}

/// A crossbar that is faster than its ports say moves more.
#[test]
fn fab_swc_08_n() {
    for speedup in [1, 2] {
        assert!(most_grants(speedup + 1, &Islip::KIND).into_iter().all(|most| most > speedup as usize));
    }
}
