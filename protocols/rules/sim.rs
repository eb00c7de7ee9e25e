//! Rules of the model's own end-to-end checks: what a link layer cannot see, the two ends of a transaction do.

use super::Rule;

/// The rows.
pub static RULES: &[Rule] = &[
    Rule {
        id: "SIM-E2E-01",
        source: "architecture §5",
        choice: true,
        text: "a read returns the bytes that were written last, and their poison",
    },
    Rule {
        id: "SIM-E2E-02",
        source: "architecture §5",
        choice: true,
        text: "every answer belongs to an open request of its kind",
    },
    Rule {
        id: "SIM-E2E-03",
        source: "architecture §4",
        choice: true,
        text: "every request is answered and every credit returned before the run ends",
    },
    Rule {
        id: "SIM-LNK-01",
        source: "architecture §4",
        choice: true,
        text: "a link brings a good payload unit before so many trainings and replays in a row (link.give_up) have been in vain",
    },
    Rule {
        id: "SIM-WAV-01",
        source: "architecture §6",
        choice: true,
        text: "no signal that is sampled at a clock edge has x or z",
    },
    Rule {
        id: "SIM-WAV-02",
        source: "architecture §6",
        choice: true,
        text: "a flit begins with the beat marked as its first, and only there",
    },
    Rule {
        id: "SIM-E2E-04",
        source: "architecture §4",
        choice: true,
        text: "what one end of a fabric sends reaches its destination once, unchanged, in the promised order",
    },
];
