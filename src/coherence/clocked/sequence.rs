//! The messages of a clocked run as a chart with times: one column an agent.
//!
//! Modelled: each message of each link when its sender posts it and when its receiver takes it, which are the times that
//! traces and waves show. Detail: a class of a link keeps its order, so departures and arrivals are paired first in, first
//! out. Answers carry no address; their line is that of the transaction whose identifier they echo. Left out: the state
//! of the agents.

use super::coverage::Point;
use super::node::AgentWatch;
use crate::agent::{AgentPort, Effect};
use crate::cache::requests::names_uqid;
use crate::chart::{Chart, Passing};
use crate::content::{CacheLine, LineAddr};
use crate::event::CoherenceEvent;
use crate::message::{Class, Msg};
use scalepool_ordered::{OrderedMap, OrderedSet};
use scalepool_protocols::cxl::message::MessageIdentifier;
use scalepool_trace::Stamp;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// What a chart shows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Extent {
    /// First time \[fs\].
    pub from_fs: u64,
    /// Last time \[fs\]; `None`: to the end.
    pub to_fs: Option<u64>,
    /// One line; `None`: all, each message with its address.
    pub line: Option<LineAddr>,
}

/// A link, by the columns of its ends, the smaller first.
type ColumnPair = (usize, usize);

/// A message that has left and not arrived.
struct MessageUnderWay {
    t_fs: u64,
    label: String,
    shown: bool,
}

/// Collects the messages of a run.
pub struct Sequence {
    columns: Vec<String>,
    extent: Extent,
    lines: OrderedMap<(ColumnPair, (MessageIdentifier, u16)), LineAddr>,
    under_way: OrderedMap<(usize, usize, Class), VecDeque<MessageUnderWay>>,
    passing: Vec<Passing>,
}

impl Sequence {
    /// Of agents with these names.
    pub fn new(columns: Vec<String>, extent: Extent) -> Arc<Mutex<Sequence>> {
        let (lines, under_way, passing) = Default::default();
        Arc::new(Mutex::new(Sequence { columns, extent, lines, under_way, passing }))
    }

    /// The line of a message, and what its identifiers mean from now on.
    fn line_of(&mut self, link: ColumnPair, msg: &Msg<CacheLine>) -> Option<LineAddr> {
        let id = msg.identifier();
        let line = msg.line().or_else(|| self.lines.get(&(link, id)).copied());
        let begins = match *msg {
            // A pull names the UQID of the data that it asks for.
            Msg::H2dRsp { opcode, rsp_data, .. } => names_uqid(opcode).then_some((MessageIdentifier::Uqid, rsp_data)),
            _ => msg.line().map(|_| id),
        };
        if let (Some(id), Some(line)) = (begins, line) {
            self.lines.insert((link, id), line);
        }
        line
    }

    fn sent(&mut self, from: usize, to: usize, msg: &Msg<CacheLine>, t_fs: u64) {
        let line = self.line_of((from.min(to), from.max(to)), msg);
        let label = match line {
            Some(line) if self.extent.line.is_none() => format!("{} {:#x}", msg.label(), line.address()),
            _ => msg.label(),
        };
        let shown = self.extent.line.is_none() || self.extent.line == line;
        if shown && self.covers(t_fs) {
            self.passing.push(Passing { t_fs, from, to, label: label.clone(), sent_fs: None });
        }
        self.under_way.entry((from, to, msg.class())).or_default().push_back(MessageUnderWay { t_fs, label, shown });
    }

    fn taken(&mut self, from: usize, to: usize, class: Class, t_fs: u64) {
        let left = self.under_way.get_mut(&(from, to, class)).and_then(VecDeque::pop_front);
        if let Some(left) = left.filter(|left| left.shown && self.covers(t_fs)) {
            self.passing.push(Passing { t_fs, from, to, label: left.label, sent_fs: Some(left.t_fs) });
        }
    }

    fn covers(&self, t_fs: u64) -> bool {
        t_fs >= self.extent.from_fs && self.extent.to_fs.is_none_or(|to| t_fs <= to)
    }

    /// Whether the chart shows no message.
    pub fn is_empty(&self) -> bool {
        self.passing.is_empty()
    }

    /// The chart so far.
    pub fn chart(&self) -> Chart {
        let mut passing = self.passing.clone();
        // Within a time by column, so that the order in which nodes take their cycles does not show.
        scalepool_ordered::sort_by_key(&mut passing, |p| (p.t_fs, if p.sent_fs.is_none() { p.from } else { p.to }));
        let caption = match self.extent.line {
            Some(line) => format!("line {:#x}; behind a message: when it was sent [ns]", line.address()),
            None => "behind a message: when it was sent [ns]".to_owned(),
        };
        Chart::timed(&self.columns, &passing, caption)
    }
}

/// A watch that writes a node's messages down and passes everything on.
pub struct Recorded<A> {
    /// What else watches the node.
    pub watch: Option<Box<dyn AgentWatch<A>>>,
    /// Where to.
    pub sequence: Arc<Mutex<Sequence>>,
    /// Column of the node.
    pub column: usize,
    /// Columns of its peers, by port.
    pub peers: Vec<usize>,
}

impl<A> AgentWatch<A> for Recorded<A> {
    fn step(
        &mut self,
        node: usize,
        agent: &A,
        effects: &[Effect<CacheLine>],
        worked: &[LineAddr],
        at: Stamp,
    ) -> Vec<CoherenceEvent> {
        self.watch.as_mut().map_or_else(Vec::new, |w| w.step(node, agent, effects, worked, at))
    }

    fn waits(&mut self, node: usize, port: AgentPort, msg: &Msg<CacheLine>) {
        if let Some(watch) = &mut self.watch {
            watch.waits(node, port, msg);
        }
    }

    fn before(&mut self, agent: &A, msg: &Msg<CacheLine>) {
        if let Some(watch) = &mut self.watch {
            watch.before(agent, msg);
        }
    }

    fn met(&self) -> OrderedSet<Point> {
        self.watch.as_ref().map_or_else(OrderedSet::new, |w| w.met())
    }

    fn has_stopped(&self) -> bool {
        self.watch.as_ref().is_some_and(|w| w.has_stopped())
    }

    fn message(&mut self, node: usize, port: AgentPort, msg: &Msg<CacheLine>, taken: bool, at: Stamp) {
        if let Some(&peer) = self.peers.get(usize::from(port)) {
            let mut sequence = self.sequence.lock().unwrap_or_else(PoisonError::into_inner);
            if taken {
                sequence.taken(peer, self.column, msg.class(), at.t_fs);
            } else {
                sequence.sent(self.column, peer, msg, at.t_fs);
            }
        }
        if let Some(watch) = &mut self.watch {
            watch.message(node, port, msg, taken, at);
        }
    }
}
