//! Rules of the load that memories tell (`fabric` §4.3).

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
    choice(
        "FAB-QOS-01",
        "fabric §4.3",
        "DevLoad is the largest of internal load, which follows the fill of the queue at 25, 60 and 85 percent, and egress congestion",
    ),
    choice(
        "FAB-QOS-02",
        "fabric §4.3",
        "egress congestion is moderate or severe from so many of the last 100 samples on; 0 to 15 times 100 ns between two, 0 is off",
    ),
    rule(
        "FAB-QOS-03",
        "fabric §4.3",
        "a host takes one step of its throttle in each tH, and one at once when it first sees an overload; steps saturate",
    ),
    choice(
        "FAB-QOS-04",
        "fabric §4.3",
        "what a logical device uses is its open requests and its completions in the last 16 intervals of up to 127 ns",
    ),
    rule(
        "FAB-QOS-05",
        "fabric §4.3",
        "whether a logical device is over its allocation or its limit is decided by products, surplus of others included",
    ),
    rule(
        "FAB-QOS-06",
        "fabric §4.3",
        "what a logical device is told follows from the load of all, its limit and its allocation",
    ),
    rule("FAB-QOS-07", "fabric §4.3", "a single claimant is not over its allocation where fractions add up to all"),
    rule("FAB-QOS-08", "fabric §4.3", "without fractions nobody is over its allocation, so no severe overload is told"),
];
