//! Rules of links that go on: nobody waits for ever, and nothing between two ends does more than to pass flits on.

use super::Rule;

const fn row(id: &'static str, source: &'static str, text: &'static str) -> Rule {
    Rule { id, source, choice: true, text }
}

/// The rows. How long is too long is a choice of whoever watches.
pub static RULES: &[Rule] = &[
    row(
        "LIV-INI-01",
        "cxl-68b §6.4; cxl-256b §9; ualink §8",
        "initialisation of a link ends, or goes on, within the stated time",
    ),
    row(
        "LIV-CRD-01",
        "cxl-68b §5.4; cxl-256b §1.6; ualink §11; nvlink §6.3",
        "a channel that has messages to send gets credits within the stated time",
    ),
    row(
        "LIV-ACK-01",
        "cxl-68b §7.1; cxl-256b §9; ualink §7; nvlink §6.3",
        "numbered flits are acknowledged within the stated time",
    ),
    row(
        "LIV-RTY-01",
        "cxl-68b §7.3; cxl-256b §9; ualink §7; nvlink §6.3",
        "a replay that was asked for comes within the stated time",
    ),
    row("LIV-DUP-01", "cxl-256b §9; ualink §7", "what stands between two ends passes each flit on once"),
    row("LIV-SWP-01", "cxl-256b §9; ualink §7", "what stands between two ends keeps the order of flits"),
    row("LIV-LST-01", "cxl-256b §9; ualink §7", "what stands between two ends passes every flit on"),
    row("LIV-FEC-01", "cxl-256b §8", "what stands between two ends passes a flit on with the FEC of its bytes"),
];
