//! Rules of arbiters and allocators (`fabric` §6.1, §6.2).

use super::Rule;

const fn rule(id: &'static str, source: &'static str, text: &'static str) -> Rule {
    Rule { id, source, choice: false, text }
}

/// The rows.
pub static RULES: &[Rule] = &[
    rule("FAB-ARB-01", "fabric §6.2", "a slot with a request has a grant"),
    rule("FAB-ARB-02", "fabric §6.2", "a requester of a round robin is served within N-1 grants to others"),
    rule(
        "FAB-ARB-03",
        "fabric §6.2",
        "a matrix grants the least recently granted requester, within N-1 grants to others",
    ),
    rule(
        "FAB-ARB-04",
        "fabric §6.2",
        "weighted requesters that all wait get their shares: w of every W grants, or bytes to within a quantum and a packet",
    ),
    rule("FAB-ARB-05", "fabric §6.2", "an arbiter by age grants the oldest request"),
    Rule {
        choice: true,
        ..rule(
            "FAB-ARB-06",
            "fabric §6.2",
            "with a guard of G slots a requester of low priority is served in slot G of its wait",
        )
    },
    rule(
        "FAB-ARB-07",
        "fabric §6.1",
        "pointers of iSLIP move for a pair of the first iteration that was used, and for no other one",
    ),
    rule(
        "FAB-ARB-08",
        "fabric §6.1",
        "under full load iSLIP matches 1, 2, .. N pairs from pointers of 0, and N after at most N-1 slots from any",
    ),
];
