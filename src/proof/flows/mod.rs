//! Every flow of the protocol as one way through the states: a chart each, for the documentation and as golden traces.
//!
//! Modelled: the agents that are explored and clocked, in small systems, with one order of their messages: the script of
//! a flow names the steps whose order matters, everything else is delivered oldest link first. Left out: time; charts
//! with times come from a clocked run (`clocked::sequence`).
//!
//! * [`cache`](mod@cache): requests, snoops and evicts of CXL.cache. [`mem`](mod@mem): HDM-DB with back-invalidation.
//!   [`memory`](mod@memory): a home whose memory is behind a port. [`levels`](mod@levels): HDM-DB below CXL.cache. [`bias`](mod@bias): HDM-D.
//! * [`play`]: a script to a chart. [`markdown`]: all charts as a page.

pub mod bias;
pub mod cache;
pub mod levels;
pub mod mem;
pub mod memory;
mod play;

pub use play::{FlowError, name, play};

use scalepool_coherence::chart::Chart;
use std::fmt::Write;

/// A flow: what it shows in one sentence, and its chart.
pub struct ChartedFlow {
    /// Name, for files.
    pub name: &'static str,
    /// One sentence.
    pub doc: &'static str,
    /// What its system makes of its script.
    pub chart: Result<Chart, FlowError>,
}

/// A group of flows.
pub struct FlowGroup {
    /// Its heading.
    pub title: &'static str,
    /// Its flows, in the order of the sheet.
    pub flows: Vec<ChartedFlow>,
}

/// All of them.
pub fn all() -> Vec<FlowGroup> {
    vec![
        FlowGroup { title: "CXL.cache: requests", flows: cache::requests() },
        FlowGroup { title: "CXL.cache: snoops", flows: cache::snoops() },
        FlowGroup { title: "CXL.cache: evicts and races", flows: cache::races() },
        FlowGroup { title: "CXL.cache: poison", flows: cache::poison() },
        FlowGroup { title: "CXL.cache: memory behind a port", flows: memory::memory() },
        FlowGroup { title: "HDM-DB: reads and ownership", flows: mem::requests() },
        FlowGroup { title: "HDM-DB: writes", flows: mem::writes() },
        FlowGroup { title: "HDM-DB: back-invalidate snoops", flows: mem::snoops() },
        FlowGroup { title: "HDM-DB: blocks and the snoop filter", flows: mem::blocks() },
        FlowGroup { title: "HDM-DB: conflicts", flows: mem::conflicts() },
        FlowGroup { title: "HDM-DB: poison", flows: mem::poison() },
        FlowGroup { title: "HDM-DB: two levels", flows: levels::levels() },
        FlowGroup { title: "HDM-D: requests of the device", flows: bias::requests() },
        FlowGroup { title: "HDM-D: flips and orders", flows: bias::flips() },
        FlowGroup { title: "HDM-D: poison", flows: bias::poison() },
    ]
}

/// All charts as one page of Markdown; with `has_pictures` each has a link to an SVG of its
/// name beside the page.
///
/// # Errors
/// A script that its system does not follow.
pub fn markdown(has_pictures: bool) -> Result<String, FlowError> {
    let mut text = String::from(
        "# Transactions of the coherence engine\n\n\
         Each chart is one way through the states of the agents that the simulations clock and the exploration searches. \
         Time goes down, one line a step; the number behind a message is the step in which it was sent; `home`, `device` \
         and `host` are the agents. The last line names the stable state of each agent and whether memory is current.\n",
    );
    for group in all() {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n## {}\n", group.title);
        for flow in group.flows {
            let chart = flow.chart?.text();
            let (name, doc) = (flow.name, flow.doc);
            let picture = if has_pictures { format!(" ([picture]({name}.svg))") } else { String::new() };
            let _ = write!(text, "\n### {name}\n\n{doc}{picture}\n\n```text\n{chart}```\n");
        }
    }
    Ok(text)
}
