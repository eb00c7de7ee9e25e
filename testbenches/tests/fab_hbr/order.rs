//! Order across classes in the crossbar of a switch: a snoop pushes the responses before it (`fabric` ORD-5).

use scalepool::arbiter::{RoundRobin, Separable};
use scalepool::fabric::cxl_switch::crossbar::PushedClass;
use scalepool::fabric::cxl_switch::{VoqConfig, VoqCrossbar};
use scalepool::kernel::Rng;

const RSP: usize = 0;
const REQ: usize = 1;

/// Places of responses and snoops of each input in the order in which they left an output that takes both classes at random;
/// how many snoops left before a response that had come earlier.
fn overtaken(pushed: Option<PushedClass>) -> usize {
    let mut crossbar: VoqCrossbar<(usize, usize, u64)> = VoqCrossbar::new(
        VoqConfig {
            inputs: 3,
            outputs: 2,
            classes: 2,
            pushed,
            queue: 4,
            output_queue: 3,
            bytes_per_cycle: 64,
            behind_cycles: 2,
            allocator: &Separable::OUTPUT_FIRST,
            arbiter: &RoundRobin::KIND,
        },
        &[1; 2],
    )
    .expect("sizes that an allocator has");
    let (mut rng, mut sent, mut left) = (Rng::for_name(5, "order"), 0, Vec::new());
    for cycle in 0..4000 {
        for input in 0..3 {
            let (output, class) = (rng.below(2) as usize, rng.below(2) as usize);
            if cycle < 3000 && crossbar.has_room(input, output, class) {
                crossbar.push((input, output, class), cycle + 1, 16, (input, class, sent));
                sent += 1;
            }
        }
        crossbar.step(cycle);
        for output in 0..2 {
            for class in 0..2 {
                // One class has room for a while, then the other one; at the end both.
                let has_room = cycle >= 3000 || rng.below(3) == 0;
                while has_room && crossbar.leaving(output, class, cycle).is_some() {
                    left.extend(crossbar.leave(output, class).map(|item| (output, item)));
                }
            }
        }
    }
    assert_eq!((left.len() as u64, crossbar.queued()), (sent, 0), "everything leaves");
    let is_late = |at: usize| {
        let (output, (input, class, number)) = left[at];
        let earlier = |&(o, (i, c, n)): &(usize, (usize, usize, u64))| (o, i, c) == (output, input, RSP) && n < number;
        class == REQ && left[at..].iter().any(earlier)
    };
    (0..left.len()).filter(|at| is_late(*at)).count()
}

#[test]
fn fab_ord_05_p() {
    assert_eq!(overtaken(Some(PushedClass { class: REQ, behind: RSP })), 0);
}

/// A switch whose classes all pass one another lets snoops overtake.
#[test]
fn fab_ord_05_n() {
    assert!(overtaken(None) > 100);
}
