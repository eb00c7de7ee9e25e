//! Weights of classes at the outputs of a switch.

use crate::fab_hbr::systems::{count, run};
use scalepool::arbiter::{ArbiterKind, RoundRobin, Separable, WeightedRoundRobin};
use scalepool::fabric::cxl_switch::{VoqConfig, VoqCrossbar};
use scalepool::system::description::Description;
use std::path::PathBuf;

/// Messages of each of three classes that leave an output in so many slots, all of them waiting for it all the time.
fn shares(arbiter: &'static ArbiterKind, weights: [u16; 3], slots: u64) -> [u64; 3] {
    let config = VoqConfig {
        inputs: 2,
        outputs: 1,
        classes: 3,
        pushed: None,
        queue: 2,
        output_queue: 4,
        bytes_per_cycle: 64,
        behind_cycles: 1,
        allocator: &Separable::OUTPUT_FIRST,
        arbiter,
    };
    let mut crossbar: VoqCrossbar<usize> = VoqCrossbar::new(config, &weights).expect("sizes that an allocator has");
    let mut left = [0; 3];
    for cycle in 0..slots {
        for (input, class) in (0..2).flat_map(|input| (0..3).map(move |class| (input, class))) {
            while crossbar.has_room(input, 0, class) {
                crossbar.push((input, 0, class), cycle, 64, class);
            }
        }
        crossbar.step(cycle);
        for (class, count) in left.iter_mut().enumerate() {
            while crossbar.leaving(0, class, cycle).is_some() {
                *count += u64::from(crossbar.leave(0, class).is_some());
            }
        }
    }
    left
}

/// While all classes wait each gets its share, to within one turn of all weights; an arbiter that knows no weights shares alike.
#[test]
fn classes_get_their_weights() {
    for weights in [[1, 1, 1], [5, 2, 1], [1, 30, 1]] {
        let sum: u64 = weights.iter().map(|weight| u64::from(*weight)).sum();
        let slots = 100 * sum;
        let found = shares(&WeightedRoundRobin::KIND, weights, slots);
        for (weight, found) in weights.into_iter().zip(found) {
            let expected = 100 * u64::from(weight);
            assert!(found.abs_diff(expected) <= sum, "weights {weights:?}: {found} instead of {expected}");
        }
    }
    let found = shares(&RoundRobin::KIND, [5, 2, 1], 300);
    assert!(found.iter().all(|count| count.abs_diff(100) <= 3), "{found:?}");
}

#[test]
fn weights_that_mean_nothing_are_refused() {
    const LINE: &str = include_str!("../../systems/head_of_line.toml");
    let refused = |more: &str| {
        let text = LINE.replace("output_queue = 16\n", &format!("output_queue = 16\n{more}\n"));
        let description = Description::parse("f.toml", PathBuf::new(), &text).expect("it is TOML");
        description.resolve().err().map_or_else(String::new, |problems| problems.to_string())
    };
    let weighted = "arbiter = \"weighted-round-robin\"\nclass_weights = ";
    assert_eq!(refused(&format!("{weighted}[\"S2M DRS:4\", \"M2S Req:65535\"]")), "");
    for (weights, expected) in [
        ("[\"S2M DRS:0\"]", "expected a weight of 1 to 65535"),
        ("[\"S2M DRS:65536\"]", "expected a weight of 1 to 65535"),
        ("[\"DRS:1\"]", "expected CLASS:WEIGHT with one of M2S Req"),
        ("[\"S2M DRS\"]", "expected CLASS:WEIGHT with one of M2S Req"),
        ("[\"S2M DRS:1\", \"S2M DRS:2\"]", "expected one weight for each class"),
    ] {
        let found = refused(&format!("{weighted}{weights}"));
        assert!(found.contains(expected), "{weights}: {expected}\n{found}");
    }
    let found = refused("class_weights = [\"S2M DRS:4\"]");
    assert!(found.contains("expected them with arbiter = \"weighted-round-robin\""), "{found}");
}

/// Cycles of the reader and of the writer of the description that shows weights.
fn needed(weights: &str) -> [u64; 2] {
    const WEIGHTS: &str = include_str!("../../systems/class_weights.toml");
    let report = run(WEIGHTS, &["accesses=600", weights]).unwrap_or_else(|error| panic!("{weights}: {error}"));
    assert_eq!(report.violations, [], "{weights}");
    ["host[0]", "host[1]"].map(|host| count(&report, host, "host stall cycles"))
}

/// With equal weights 600 reads and 600 writes need 4,936 cycles each; with eight writes for each read the writes need 4,332 and
/// the reads 9,652.
#[test]
fn a_description_gives_a_class_more_of_a_port() {
    let equal = needed("weights=M2S Req:1,M2S RwD:1");
    let [reads, writes] = needed("weights=M2S Req:1,M2S RwD:8");
    assert!(equal[0].abs_diff(equal[1]) <= equal[0] / 20, "{equal:?}");
    assert!(writes < equal[1] * 9 / 10 && reads > equal[0] * 15 / 10, "{reads} {writes}, {equal:?} with equal weights");
}
