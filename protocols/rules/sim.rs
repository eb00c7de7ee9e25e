//! Rules of the model's own end-to-end checks: what a link layer cannot see, the two ends of a transaction do.

use super::Rule;

/// The rows.
pub static RULES: &[Rule] = &[
    Rule {
        id: "SIM-E2E-01",
        source: "architecture §5",
        choice: true,
        text: "a read returns the bytes of the last write, with their poison",
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
        text: "a link delivers a good payload unit before link.give_up trainings and replays in a row have failed",
    },
    Rule {
        id: "SIM-WAV-01",
        source: "architecture §6",
        choice: true,
        text: "no signal is x or z at a clock edge at which it is sampled",
    },
    Rule {
        id: "SIM-WAV-02",
        source: "architecture §6",
        choice: true,
        text: "a flit starts at each beat that is marked as its first, and at no other beat",
    },
    Rule {
        id: "SIM-WAV-03",
        source: "architecture §6",
        choice: true,
        text: "each beat of a bus with credits spends one that was granted at an edge before, from a reset on",
    },
    Rule {
        id: "SIM-WAV-04",
        source: "architecture §6",
        choice: true,
        text: "data is offered on a bus with states in the state Active alone",
    },
    Rule {
        id: "SIM-WAV-05",
        source: "architecture §6",
        choice: true,
        text: "an interface has an edge of its clock outside of reset",
    },
    Rule {
        id: "SIM-PLN-01",
        source: "architecture §4",
        choice: true,
        text: "a plain flit is of protocol or data: no control flit of a link layer, and no credit, acknowledgement or request of a replay",
    },
    Rule {
        id: "SIM-E2E-04",
        source: "architecture §4",
        choice: true,
        text: "every message sent into a fabric reaches its destination once, unchanged, in the order that the fabric guarantees",
    },
];
