//! Rules of the CXL.io side of switches (`fabric` §1.1, §1.4, §1.5).

use super::Rule;

const fn rule(id: &'static str, source: &'static str, text: &'static str) -> Rule {
    Rule { id, source, choice: false, text }
}

/// A rule that the sheet marks as our own choice.
const fn choice(id: &'static str, source: &'static str, text: &'static str) -> Rule {
    Rule { id, source, choice: true, text }
}

/// The rows.
pub static RULES: &[Rule] = &[
    rule(
        "FAB-ERR-02",
        "fabric §1.8",
        "a target that refuses aborts, what nobody claims is unsupported, what nobody answers times out, and bad data carry EP",
    ),
    choice(
        "FAB-VCS-07",
        "fabric §1.1",
        "vPPBs take function 0 of every device number first, then function 1, and so on up to function 7",
    ),
    rule(
        "FAB-RST-06",
        "fabric §1.4",
        "a function level reset passes a switch as a configuration write, and changes nothing in it",
    ),
    rule("FAB-VCS-08", "fabric §1.1", "the fabric manager sends CXL.io alone, and to no port that is bound"),
    rule(
        "FAB-RST-08",
        "fabric §1.4",
        "a switch answers a reset message of its host once, when all ports of the hierarchy have",
    ),
    rule(
        "FAB-IOR-01",
        "fabric §1.5",
        "configuration requests and completions go by bus numbers, memory requests by windows, messages by their routing",
    ),
    rule(
        "FAB-IOR-02",
        "fabric §1.5",
        "an address in a window of a downstream port goes down, one in the window of the upstream port alone is unsupported, one from below outside of it goes up",
    ),
    rule(
        "FAB-IOR-03",
        "fabric §1.5",
        "a type 1 configuration request becomes type 0 at the bus of a link; one for what is absent or not bound is unsupported",
    ),
    rule(
        "FAB-IOR-04",
        "fabric §1.5",
        "what nobody claims is completed as Unsupported Request without data where somebody waits, else dropped and counted",
    ),
    rule(
        "FAB-IOR-05",
        "fabric §1.5",
        "the LD-ID stands in front of a TLP on the link of a device with logical devices alone: added downwards, upwards it selects the vPPB and is taken off",
    ),
    rule(
        "FAB-IOR-06",
        "fabric §1.5",
        "unordered I/O to memory, from above or from a peer, goes to the vPPB that the HDM decoders of the upstream port name, if the decoder allows it",
    ),
    rule("FAB-MLD-09", "fabric §1.3", "what a logical device sends to a peer goes up through the upstream port"),
    rule(
        "FAB-ORD-01",
        "fabric §4.1",
        "nothing orders TLPs of different traffic classes, nor unordered I/O with anything",
    ),
    choice(
        "FAB-ORD-02",
        "fabric §4.1",
        "waiting TLPs pass only what they have to be able to pass with policy strict, and all that they may with policy relaxed",
    ),
    rule("FAB-ORD-03", "fabric §4.1", "a completion passes non-posted requests that wait for room"),
    rule(
        "FAB-ORD-09",
        "fabric §4.1",
        "a posted request passes a posted one only with RO, or IDO and another requester, and requests with a completion that wait always",
    ),
    rule(
        "FAB-ORD-10",
        "fabric §4.1",
        "a read request passes a posted request only with IDO and another requester; it may pass all others",
    ),
    rule(
        "FAB-ORD-11",
        "fabric §4.1",
        "a non-posted request with data passes a posted request only with RO, or IDO and another requester; it may pass all others",
    ),
    rule(
        "FAB-ORD-12",
        "fabric §4.1",
        "a completion passes a posted request only with RO, with IDO and another completer, or if it ends a write to I/O or configuration space, and never one of its own transaction",
    ),
];
