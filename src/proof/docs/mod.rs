//! The tables of the agents as Markdown: state diagrams, and every pair of state and event with its rule.
//!
//! Made from the rows by which the agents act, so the page cannot say anything else.

use crate::explore::{ChartStep, ExploredSystem};
use crate::systems::mem::{self as systems, Setup};
use crate::systems::part::Member;
use scalepool_coherence::bias::tables as bias;
use scalepool_coherence::cache::state::{CacheLineState, Snoop};
use scalepool_coherence::cache::{answers, requests, snoops};
use scalepool_coherence::config::CoherenceConfig;
use scalepool_coherence::content::LineAddr;
use scalepool_coherence::mem::HostReq;
use scalepool_coherence::mem::tables::{self as mem, DirectoryRecord};
use scalepool_ordered::OrderedMap;
use std::collections::HashSet;
use std::fmt::Write;

pub mod cache_pages;
pub mod mem_pages;

/// Edges of a diagram: what leads from one state to another.
type Edges = OrderedMap<(String, String), Vec<String>>;

fn edge(edges: &mut Edges, from: &str, to: &str, label: String) {
    let labels = edges.entry((from.to_owned(), to.to_owned())).or_default();
    if !labels.contains(&label) {
        labels.push(label);
    }
}

/// A diagram that Markdown viewers with Mermaid draw.
fn diagram(edges: &Edges) -> String {
    let mut text = String::from("```mermaid\nstateDiagram-v2\n");
    for ((from, to), labels) in edges {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "    {from} --> {to}: {}", labels.join(", "));
    }
    text + "```\n"
}

fn table(head: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut text = format!("| {} |\n|{}\n", head.join(" | "), "---|".repeat(head.len()));
    for row in rows {
        let _ = writeln!(text, "| {} |", row.join(" | "));
    }
    text
}

fn code(name: Option<&'static str>) -> String {
    name.unwrap_or("?").to_owned()
}

fn got(got: answers::Got) -> String {
    match got {
        answers::Got::Answer(answer) => answer.name().to_owned(),
        answers::Got::Data => "Data".to_owned(),
    }
}

fn device_diagrams() -> String {
    let (mut own, mut snooped) = (Edges::new(), Edges::new());
    for r in requests::REQUESTS {
        for (from, to) in r.starts {
            edge(&mut own, from.name(), to.name(), code(r.op.name()));
        }
    }
    for r in answers::ROWS {
        edge(&mut own, r.at.name(), r.next.name(), got(r.got));
    }
    for r in snoops::rows() {
        if let Some(reply) = r.replies.first().filter(|reply| reply.next != r.at) {
            edge(&mut snooped, r.at.name(), reply.next.name(), code(r.snoop.code().name()));
        }
    }
    format!("Its own requests:\n\n{}\nSnoops, with the default answer:\n\n{}", diagram(&own), diagram(&snooped))
}

fn device_tables() -> String {
    let states = CacheLineState::ALL.iter().map(|at| vec![at.name().to_owned(), at.doc().to_owned()]);
    let requests = requests::REQUESTS.iter().map(|r| {
        let starts: Vec<_> = r.starts.iter().map(|(from, to)| format!("{} -> {}", from.name(), to.name())).collect();
        let answers: Vec<_> = r.answers.iter().map(|a| a.name()).collect();
        let snooped = match r.snooped {
            requests::Snooped::Nobody => "nobody".to_owned(),
            requests::Snooped::Owner(s) => format!("{} to the owner", code(s.code().name())),
            requests::Snooped::Everybody(s) => format!("{} to all holders", code(s.code().name())),
        };
        vec![r.rule.to_owned(), code(r.op.name()), starts.join(", "), answers.join(", "), snooped]
    });
    let answers = answers::ROWS
        .iter()
        .map(|r| vec![r.rule.to_owned(), r.at.name().into(), got(r.got), r.next.name().into(), format!("{:?}", r.act)]);
    let snoops =
        CacheLineState::ALL.iter().flat_map(|&at| Snoop::ALL.iter().map(move |&s| snoops::row_of(at, s))).map(|r| {
            let replies = r.replies.iter().map(|reply| {
                let data = match reply.forward {
                    snoops::Forward::No => "",
                    snoops::Forward::Now => " + data",
                    snoops::Forward::Owed => " + data later",
                };
                format!("{}{data} -> {}", code(reply.rsp.name()), reply.next.name())
            });
            let replies: Vec<_> = replies.collect();
            let cell = if replies.is_empty() { format!("impossible: {}", r.never) } else { replies.join("; ") };
            vec![r.rule.to_owned(), r.at.name().into(), code(r.snoop.code().name()), cell]
        });
    let readings = snoops::READINGS.iter().map(|r| {
        let to: Vec<_> = r.to.iter().map(|s| code(s.code().name())).collect();
        let data = match (r.data, r.written) {
            (true, true) => "yes, memory takes it",
            (true, false) => "yes, for the requester only",
            _ => "no",
        };
        vec![code(r.rsp.name()), to.join(", "), format!("{:?}", r.left), data.to_owned()]
    });
    format!(
        "### States\n\n{}\n### Requests\n\n{}\n### Answers\n\nA pair that is not here is impossible.\n\n{}\n\
         ### Snoops\n\nThe default answer stands first.\n\n{}\n### Snoop answers at the home\n\n{}",
        table(&["state", "meaning"], states),
        table(&["rule", "request", "start", "answers", "home snoops"], requests),
        table(&["rule", "state", "what comes", "next", "action"], answers),
        table(&["rule", "state", "snoop", "answers"], snoops),
        table(&["answer", "to", "holder keeps", "data"], readings),
    )
}

/// What became of a line in every reachable state of two hosts, so the diagram holds what the table leaves to the agent.
fn host_diagram() -> String {
    let line = LineAddr(0);
    let requests = vec![HostReq::RD_ANY, HostReq::RD_SHARED, HostReq::INV, HostReq::CLN_EVCT];
    let start = systems::system(Setup {
        requests,
        device: Vec::new(),
        drops: false,
        ..Setup::everything(CoherenceConfig::default(), 2)
    });
    let mut edges = Edges::new();
    let (mut seen, mut open) = (HashSet::from([start.clone()]), vec![start]);
    let mut moves = Vec::new();
    while let Some(system) = open.pop() {
        moves.clear();
        system.moves(&mut moves);
        for &mv in &moves {
            let mut after = system.clone();
            after.apply(mv, &mut Vec::new());
            let label = match system.describe(mv) {
                ChartStep::Deliver { label, .. } => label,
                ChartStep::Act { text, .. } => text.split([' ', ',']).next().unwrap_or_default().to_owned(),
            };
            for (old, new) in system.agents().zip(after.agents()) {
                let (Member::Host(old), Member::Host(new)) = (old, new) else { continue };
                let (from, to) = (old.agent.phase(line), new.agent.phase(line));
                if from != to {
                    edge(&mut edges, &format!("{from:?}"), &format!("{to:?}"), label.clone());
                }
            }
            if seen.insert(after.clone()) {
                open.push(after);
            }
        }
    }
    edges.values_mut().for_each(|labels| labels.sort());
    diagram(&edges)
}

fn bias_diagram() -> String {
    let mut edges = Edges::new();
    for r in bias::ROWS {
        for (meta, state, _) in r.grants.iter().filter(|g| g.2) {
            for op in r.opcodes {
                let label = format!("{} answered {} -> {}", code(op.name()), code(meta.name()), state.letter());
                edge(&mut edges, "HostBias", "DeviceBias", label);
            }
        }
    }
    for r in
        mem::REQ_ROWS.iter().filter(|r| r.hdm_d && matches!(r.record, DirectoryRecord::Any | DirectoryRecord::Shared))
    {
        for op in r.opcodes {
            let meta = r.meta.map_or("NoOp".to_owned(), |m| code(m.name()));
            edge(&mut edges, "DeviceBias", "HostBias", format!("{} {meta}", code(op.name())));
        }
    }
    diagram(&edges)
}

/// All tables as one page.
pub fn markdown() -> String {
    format!(
        "# Tables of the coherence engine\n\n\
         Made by `scalepool export md` from the rows by which the agents act; do not edit. Rules are those of \
         `scalepool list rules`.\n\n\
         ## Device cache of CXL.cache\n\n{}\n{}\n\
         # CXL.mem\n\n## Host of HDM-DB: a line under events\n\nEvery change in the reachable states of two hosts on one line:\n\n{}\n\
         {}\n\
         # HDM-D\n\n## Bias of a line\n\n{}\n{}",
        device_diagrams(),
        device_tables(),
        host_diagram(),
        mem_pages::markdown(),
        bias_diagram(),
        bias::markdown(),
    )
}
