//! Decisions of the crossbar of a switch at one output, cycle by cycle: what a port slice in hardware has to do. The RTL of
//! `testbenches/rtl/switch_port_slice.sv` follows the committed trace.

use scalepool::arbiter::{RoundRobin, Separable};
use scalepool::fabric::cxl_switch::{VoqConfig, VoqCrossbar};
use scalepool_testbenches::legal::Random;
use std::fmt::Write;

const INPUTS: usize = 4;
const CLASSES: usize = 3;
/// The last class has data: five times 16 bytes.
const BYTES: [u64; CLASSES] = [16, 16, 80];
/// Cycles, of which the last third has no new messages, so that the queues run empty.
const CYCLES: usize = 600;

/// Messages in the queues of all inputs and classes.
fn queues(crossbar: &VoqCrossbar<u16>) -> [usize; INPUTS * CLASSES] {
    std::array::from_fn(|place| crossbar.queued_at(place / CLASSES, place % CLASSES))
}

/// One line a cycle: the egress credits that come back, class 2 first; for each input the class and the word that it pushes, or `-`; the
/// input, class and word of the grant, or `-`. A grant sees what was pushed, and which credits came back, in earlier cycles.
fn trace() -> String {
    let config = VoqConfig {
        inputs: INPUTS,
        outputs: 1,
        classes: CLASSES,
        pushed: None,
        queue: 4,
        output_queue: 3,
        bytes_per_cycle: 16,
        behind_cycles: 1,
        allocator: &Separable::OUTPUT_FIRST,
        arbiter: &RoundRobin::KIND,
    };
    let mut crossbar: VoqCrossbar<u16> = VoqCrossbar::new(config, &[1; CLASSES]).expect("sizes that an allocator has");
    let (mut random, mut words, mut text) = (Random::new(7), 0, String::from("cycle credits pushes grant\n"));
    // Words in the queues by input and class, and behind the grant by class.
    let mut held: [Vec<u16>; INPUTS * CLASSES] = Default::default();
    let mut behind: [Vec<u16>; CLASSES] = Default::default();
    for cycle in 0..CYCLES {
        let before = queues(&crossbar);
        crossbar.step(cycle as u64);
        // The queue that has one message less was granted its first one.
        let after = queues(&crossbar);
        let place = (0..INPUTS * CLASSES).find(|place| after[*place] < before[*place]);
        let granted = place.map(|place| (held[place].remove(0), place));
        let mut credits = String::new();
        for class in (0..CLASSES).rev() {
            let comes = random.one_in(4) && crossbar.leaving(0, class, cycle as u64).is_some();
            if comes {
                let first = behind[class].remove(0);
                assert_eq!(crossbar.leave(0, class), Some(first), "messages leave in the order of the grants");
            }
            credits.push(if comes { '1' } else { '0' });
        }
        if let Some((word, place)) = granted {
            behind[place % CLASSES].push(word);
        }
        let mut pushes = Vec::new();
        for input in 0..INPUTS {
            let class = random.below(CLASSES);
            let pushes_now = cycle < 2 * CYCLES / 3 && !random.one_in(3) && crossbar.has_room(input, 0, class);
            if pushes_now {
                crossbar.push((input, 0, class), cycle as u64 + 1, BYTES[class], words);
                held[input * CLASSES + class].push(words);
                pushes.push(format!("{class}:{words}"));
                words += 1;
            } else {
                pushes.push("-".into());
            }
        }
        let show = |(word, place): (u16, usize)| format!("{}:{}:{word}", place / CLASSES, place % CLASSES);
        let grant = granted.map_or_else(|| "-".into(), show);
        writeln!(text, "{cycle:5} {credits} {} {grant}", pushes.join(" ")).unwrap();
    }
    assert_eq!(crossbar.queued(), 0, "everything has left");
    text
}

#[test]
fn slice() {
    insta::assert_snapshot!("switch_port_slice", trace());
}
