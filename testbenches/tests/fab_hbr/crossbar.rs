//! What the crossbar of a switch grants: a blocked output holds up no other one, and ports keep to their speed-up.

use scalepool::arbiter::{AllocatorKind, Islip, RoundRobin, Separable};
use scalepool::fabric::cxl_switch::{RoomLedger, VoqConfig, VoqCrossbar};
use std::collections::VecDeque;

const PORTS: usize = 4;
/// Bytes of an item, which a port moves in a cycle.
const BYTES: u64 = 16;
/// Depth of the queue of an input and output \[items\].
const QUEUE: usize = 4;
/// Room behind the grant for an output \[items\].
const OUTPUT_QUEUE: usize = 8;
const CYCLES: u64 = 200;

fn crossbar(speedup: u64, allocator: &'static AllocatorKind) -> VoqCrossbar<usize> {
    let config = VoqConfig {
        inputs: PORTS,
        outputs: PORTS,
        classes: 1,
        pushed: None,
        queue: QUEUE,
        output_queue: OUTPUT_QUEUE,
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

/// Kinds of messages that go from one input to one output.
const KINDS: usize = 4;

/// Items of each kind that leave an output which takes none of the closed kind; `classes` queues keep them apart.
fn past_a_closed_kind(classes: usize, closed: usize) -> [u64; KINDS] {
    let config = VoqConfig {
        inputs: PORTS,
        outputs: PORTS,
        classes,
        pushed: None,
        queue: QUEUE,
        output_queue: OUTPUT_QUEUE,
        bytes_per_cycle: BYTES * KINDS as u64,
        behind_cycles: 1,
        allocator: &Islip::KIND,
        arbiter: &RoundRobin::KIND,
    };
    let mut crossbar: VoqCrossbar<usize> =
        VoqCrossbar::new(config, &vec![1; classes]).expect("sizes that an allocator has");
    let mut left = [0; KINDS];
    for cycle in 0..CYCLES {
        for kind in 0..KINDS {
            if crossbar.has_room(0, 1, kind % classes) {
                crossbar.push((0, 1, kind % classes), cycle, BYTES, kind);
            }
        }
        crossbar.step(cycle);
        for class in 0..classes {
            while crossbar.leaving(1, class, cycle).is_some_and(|kind| *kind != closed) {
                left[crossbar.leave(1, class).expect("it is there")] += 1;
            }
        }
    }
    left
}

/// In one queue for all classes those behind the one that is not taken stay there; with one each they do not.
#[test]
fn fab_ord_04_n() {
    for closed in 0..KINDS {
        let of_others = |classes| past_a_closed_kind(classes, closed).iter().sum::<u64>();
        assert!(of_others(1) < 4 * KINDS as u64, "{closed}");
        assert!(of_others(KINDS) >= (KINDS as u64 - 1) * (CYCLES - 8), "{closed}");
    }
}

/// Items in a crossbar whose outputs take nothing, behind an input that looks for room or does not.
fn most_held(looks: bool) -> usize {
    let mut crossbar = crossbar(1, &Islip::KIND);
    for cycle in 0..CYCLES {
        if !looks || crossbar.has_room(0, 0, 0) {
            crossbar.push((0, 0, 0), cycle, BYTES, 0);
        }
        crossbar.step(cycle);
    }
    crossbar.queued()
}

/// What the ledger says of a crossbar whose input looks for room or does not, whose outputs take nothing at first, and from which so many
/// items are taken that the ledger is not told of.
fn judged(looks: bool, untold: usize) -> Vec<&'static str> {
    let mut crossbar = crossbar(1, &Islip::KIND);
    let mut ledger = RoomLedger::new(1, 1, 1, (QUEUE + OUTPUT_QUEUE) as u64);
    let mut found = Vec::new();
    for cycle in 0..CYCLES {
        if !looks || crossbar.has_room(0, 0, 0) {
            found.extend(ledger.take((0, 0, 0)));
            crossbar.push((0, 0, 0), cycle, BYTES, 0);
        }
        crossbar.step(cycle);
    }
    let (mut left, mut cycle) = (0, CYCLES);
    while crossbar.queued() > 0 {
        crossbar.step(cycle);
        while crossbar.leaving(0, 0, cycle).is_some() {
            crossbar.leave(0, 0);
            left += 1;
            if left > untold {
                found.extend(ledger.give_back((0, 0, 0)));
            }
        }
        cycle += 1;
    }
    found.extend(ledger.astray());
    let mut rules: Vec<&'static str> = found.iter().map(|violation| violation.rule).collect();
    rules.dedup();
    rules
}

/// A full crossbar that empties again takes what it has and gives all back.
#[test]
fn fab_swc_03_p() {
    assert_eq!(judged(true, 0), [""; 0]);
}

/// More than there is, one that is never given back, and one that is given back twice.
#[test]
fn fab_swc_03_n() {
    assert_eq!(judged(false, 0), ["FAB-SWC-03"]);
    assert_eq!(judged(true, 1), ["FAB-SWC-03"]);
    let mut ledger = RoomLedger::new(2, 2, 3, 4);
    assert_eq!(ledger.take((1, 0, 2)), None);
    assert_eq!(ledger.give_back((1, 0, 2)), None);
    assert_eq!(ledger.give_back((1, 0, 2)).map(|violation| violation.rule), Some("FAB-SWC-03"));
    assert!(
        ledger.take((0, 1, 1)).is_none() && ledger.astray()[0].text.contains("M2S RwD from input 0 to output 1"),
        "{:?}",
        ledger.astray()
    );
}

/// The queue of the input and that of the output, and no item more.
#[test]
fn fab_swc_04_p() {
    assert_eq!(most_held(true), QUEUE + OUTPUT_QUEUE);
}

/// An input that has its room back before an item has left takes more than there is room for.
#[test]
fn fab_swc_04_n() {
    assert!(most_held(false) > 10 * (QUEUE + OUTPUT_QUEUE));
}
