//! The tables of CXL.cache as Markdown, and the state diagram that they make.
//!
//! Everything comes from the rows that the agents walk; nothing is written twice.

use scalepool_coherence::cache::answers::{self, Got};
use scalepool_coherence::cache::requests::{CacheRequestRow, REQUESTS, Snooped};
use scalepool_coherence::cache::snoops::{Forward, rows};
use scalepool_coherence::cache::state::{CacheLineState, HostAnswer};
use scalepool_ordered::OrderedSet;
use std::fmt::Write;

/// States, requests, snoops and answers, each a table; then the diagram of the device's states.
pub fn markdown() -> String {
    let mut out =
        String::from("# CXL.cache\n\n## States of a line in a device cache\n\n| state | meaning |\n|---|---|\n");
    for at in CacheLineState::ALL {
        let _ = writeln!(out, "| {} | {} |", at.name(), at.doc());
    }
    out.push_str("\n## Requests\n\n| rule | request | start | H2D Rsp | snoops |\n|---|---|---|---|---|\n");
    for row in REQUESTS {
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} |",
            row.rule,
            name(row),
            starts(row),
            names(row.answers),
            snooped(row)
        );
    }
    out.push_str("\n## Snoops\n\nThe default answer first; `+ data`: one line of D2H Data, `+ data later`: when it has come.\n\n");
    out.push_str("| rule | state | snoop | answers |\n|---|---|---|---|\n");
    for row in rows() {
        let replies: Vec<String> = row
            .replies
            .iter()
            .map(|r| {
                let data = match r.forward {
                    Forward::No => "",
                    Forward::Now => " + data",
                    Forward::Owed => " + data later",
                };
                format!("{}{data} → {}", r.rsp.name().unwrap_or("?"), r.next.name())
            })
            .collect();
        let text = if replies.is_empty() { format!("impossible: {}", row.never) } else { replies.join("; ") };
        let _ = writeln!(out, "| {} | {} | Snp{} | {text} |", row.rule, row.at.name(), row.snoop.name());
    }
    out.push_str("\n## Answers\n\nA pair that is not here is impossible.\n\n| rule | state | arrives | next |\n|---|---|---|---|\n");
    for row in answers::ROWS {
        let got = match row.got {
            Got::Answer(answer) => answer.name(),
            Got::Data => "Data",
        };
        let _ = writeln!(out, "| {} | {} | {got} | {} |", row.rule, row.at.name(), row.next.name());
    }
    out.push_str("\n## Diagram\n\n```mermaid\nstateDiagram-v2\n");
    for (from, to, label) in edges() {
        let _ = writeln!(out, "    {} --> {}: {label}", from.name(), to.name());
    }
    out.push_str("```\n");
    out
}

/// Every change of state that a row makes, once: from, to, by what.
pub fn edges() -> OrderedSet<(CacheLineState, CacheLineState, String)> {
    let issued = REQUESTS.iter().flat_map(|r| r.starts.iter().map(move |(from, to)| (*from, *to, name(r).to_owned())));
    let snooped = rows().flat_map(|r| r.replies.iter().map(move |p| (r.at, p.next, format!("Snp{}", r.snoop.name()))));
    let answered = answers::ROWS.iter().map(|r| {
        let label = match r.got {
            Got::Answer(answer) => answer.name(),
            Got::Data => "Data",
        };
        (r.at, r.next, label.to_owned())
    });
    issued.chain(snooped).chain(answered).filter(|(from, to, _)| from != to).collect()
}

fn name(row: &CacheRequestRow) -> &'static str {
    row.op.name().unwrap_or("?")
}

fn starts(row: &CacheRequestRow) -> String {
    if row.starts.is_empty() {
        return "whole cache I".into();
    }
    row.starts.iter().map(|(at, _)| at.name()).collect::<Vec<_>>().join(", ")
}

fn names(answers: &[HostAnswer]) -> String {
    if answers.is_empty() {
        return "none".into();
    }
    answers.iter().map(|a| a.name()).collect::<Vec<_>>().join(", ")
}

fn snooped(row: &CacheRequestRow) -> String {
    match row.snooped {
        Snooped::Nobody => "none".into(),
        Snooped::Owner(snoop) => format!("Snp{} to the owner", snoop.name()),
        Snooped::Everybody(snoop) => format!("Snp{} to all holders", snoop.name()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_can_be_reached_from_i_and_left() {
        let edges = edges();
        let mut reached = OrderedSet::from([CacheLineState::I]);
        // RdOnce, EvI and the like are reached by snoops; a store that waits makes RdGoESt of RdGoE, and M of E.
        loop {
            let mut next: OrderedSet<CacheLineState> =
                edges.iter().filter(|(f, _, _)| reached.contains(f)).map(|(_, t, _)| *t).collect();
            if next.contains(&CacheLineState::RdGoE) {
                next.extend([CacheLineState::RdGoESt, CacheLineState::M]);
            }
            if next.iter().all(|state| reached.contains(state)) {
                break;
            }
            reached.extend(next);
        }
        assert_eq!(reached, CacheLineState::ALL.iter().copied().collect());
        assert!(CacheLineState::ALL.iter().all(|at| edges.iter().any(|(from, _, _)| from == at)));
    }

    #[test]
    fn the_tables_are_complete_markdown() {
        let text = markdown();
        for row in text.lines().filter(|l| l.starts_with("| COH-")) {
            assert!(row.ends_with(" |") && !row.contains("| |"), "{row}");
        }
        assert_eq!(text.matches("| COH-REQ-").count(), text.lines().filter(|l| l.starts_with("| COH-REQ-")).count());
    }
}
