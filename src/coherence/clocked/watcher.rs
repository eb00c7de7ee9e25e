//! The invariants V1 to V4 and V13 in a clocked run: one view of all agents, checked behind every step.
//!
//! All nodes of a watched run stand in one partition, so that the watcher sees them at one instant. Detail: the value of
//! the last store is taken from the copy in which it was done, or from the home where a write by message was taken. Left
//! out: invariants of order and shape, which the agents and [`crate::coherence::monitor`] judge message by message.
//!
//! A walk through one step: what the agent holds now replaces what it held; every line that changed is checked against all
//! other holders, the home's value and the data under way.

use super::coverage::Point;
use super::node::Watch;
use crate::coherence::agent::{Effect, Port};
use crate::coherence::config::CoherenceConfig;
use crate::coherence::content::{Content, Line, LineAddr};
use crate::coherence::event::Event;
use crate::coherence::message::Msg;
use crate::coherence::monitor::{CopyView, View, check_bias, check_copies};
use crate::trace::Stamp;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

/// What a home says of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HomeView {
    /// Its value.
    pub value: Line,
    /// Agents that it takes for holders, a bit each.
    pub tracked: u32,
    /// Values that it has received and not put in place.
    pub kept: Vec<Line>,
    /// Bias of the line, for a device with a bias table: device (`true`) or host.
    pub device_bias: Option<bool>,
}

/// An agent as the watcher reads it.
pub trait Watched {
    /// Copies by line; `agent` of each is 0, the watcher fills it in.
    fn copies(&self, config: &CoherenceConfig) -> Vec<(LineAddr, CopyView<Line>)>;

    /// The home's view of a line; `None`: it is no home.
    fn home(&self, line: LineAddr) -> Option<HomeView>;

    /// Values that it has received and not made a copy of.
    fn early(&self) -> Vec<Line>;

    /// The row of a table by which it will take a message; `None`: no row, or the message needs none.
    fn row(&self, _msg: &Msg<Line>) -> Option<Point> {
        None
    }
}

/// Messages that the watcher remembers, to show them with a violation.
const REMEMBERED: usize = 256;

/// Number of the node that is the home.
const HOME: usize = 0;

/// Of them those that a violation shows.
const SHOWN: usize = 16;

/// What all nodes of a run are.
pub struct Watcher {
    config: CoherenceConfig,
    names: Vec<String>,
    copies: BTreeMap<LineAddr, BTreeMap<usize, CopyView<Line>>>,
    early: BTreeMap<usize, Vec<Line>>,
    newest: BTreeMap<LineAddr, Line>,
    homes: BTreeMap<LineAddr, HomeView>,
    in_flight: Vec<Line>,
    touched: BTreeSet<LineAddr>,
    last: VecDeque<(Option<LineAddr>, String)>,
    stopped: bool,
    met: BTreeSet<Point>,
    /// Steps checked.
    pub checks: u64,
}

impl Watcher {
    /// Of nodes with these names.
    pub fn new(config: CoherenceConfig, names: Vec<String>) -> Rc<RefCell<Watcher>> {
        Rc::new(RefCell::new(Watcher {
            config,
            names,
            copies: BTreeMap::new(),
            early: BTreeMap::new(),
            newest: BTreeMap::new(),
            homes: BTreeMap::new(),
            in_flight: Vec::new(),
            touched: BTreeSet::new(),
            last: VecDeque::new(),
            stopped: false,
            met: BTreeSet::new(),
            checks: 0,
        }))
    }

    fn take_copies(&mut self, node: usize, copies: Vec<(LineAddr, CopyView<Line>)>) {
        let now: BTreeMap<_, _> = copies.into_iter().collect();
        for (line, holders) in &mut self.copies {
            if holders.contains_key(&node) && !now.contains_key(line) {
                holders.remove(&node);
                self.touched.insert(*line);
            }
        }
        for (line, copy) in now {
            let copy = CopyView { agent: node, ..copy };
            let holders = self.copies.entry(line).or_default();
            if holders.get(&node) != Some(&copy) {
                holders.insert(node, copy);
                self.touched.insert(line);
            }
        }
    }

    fn check(&mut self) -> Vec<Event> {
        if self.stopped {
            return Vec::new();
        }
        let mut events = Vec::new();
        for line in std::mem::take(&mut self.touched) {
            let Some(home) = self.homes.get(&line) else { continue };
            let copies: Vec<_> = self.copies.get(&line).into_iter().flat_map(|c| c.values().cloned()).collect();
            let early = self.early.values().flatten();
            // What is not usable is on its way home: an evict whose end is under way.
            let tracked = copies.iter().filter(|c| !c.usable).fold(home.tracked, |bits, c| bits | 1 << c.agent);
            let view = View {
                line,
                newest: self.newest.get(&line).copied().unwrap_or_else(|| Line::initial(line)),
                home: home.value,
                in_flight: self.in_flight.iter().chain(&home.kept).chain(early).copied().collect(),
                copies,
                tracked,
            };
            self.checks += 1;
            check_copies(&view, &mut events);
            if let Some(in_device_bias) = home.device_bias {
                check_bias(&view, HOME, in_device_bias, &mut events);
            }
        }
        for event in &mut events {
            if let Some(n) = event.at.strip_prefix("agent ").and_then(|n| n.parse::<usize>().ok())
                && let Some(name) = self.names.get(n)
            {
                event.at.clone_from(name);
            }
            let states: Vec<_> = event
                .line
                .and_then(|line| self.copies.get(&line))
                .into_iter()
                .flat_map(BTreeMap::values)
                .map(|c| {
                    let letter = if c.dirty {
                        'M'
                    } else if c.writable {
                        'E'
                    } else {
                        'S'
                    };
                    format!("{} {letter}", self.names.get(c.agent).map_or("?", String::as_str))
                })
                .collect();
            // Answers carry no address, so those of all lines are shown.
            let of_line = self.last.iter().filter(|(line, _)| line.is_none() || *line == event.line);
            let mut last: Vec<_> = of_line.rev().take(SHOWN).map(|(_, text)| text.as_str()).collect();
            last.reverse();
            event.found =
                format!("{}; holders [{}]; last messages: {}", event.found, states.join(", "), last.join("; "));
        }
        self.stopped |= !events.is_empty();
        events
    }
}

/// A node's handle on the watcher.
pub struct Handle(pub Rc<RefCell<Watcher>>);

impl<A: Watched> Watch<A> for Handle {
    fn before(&mut self, agent: &A, msg: &Msg<Line>) {
        self.0.borrow_mut().met.extend(agent.row(msg));
    }

    fn met(&self) -> BTreeSet<Point> {
        self.0.borrow().met.clone()
    }

    fn step(&mut self, node: usize, agent: &A, effects: &[Effect<Line>], _: Stamp) -> Vec<Event> {
        let mut watcher = self.0.borrow_mut();
        let watcher = &mut *watcher;
        let copies = agent.copies(&watcher.config);
        for effect in effects {
            let value = match effect {
                Effect::Stored(line) => {
                    // A copy that has gone in the same step went to the agent's own memory, or left as data under way,
                    // which is the newest value there.
                    let here = copies.iter().find(|(l, _)| l == line).map(|(_, c)| c.value);
                    let here = here.or_else(|| agent.home(*line).map(|home| home.value));
                    here.or_else(|| watcher.in_flight.last().copied()).map(|value| (*line, value))
                }
                Effect::Written(line) => agent.home(*line).map(|home| (*line, home.value)),
                Effect::Used { .. } | Effect::Done(_) => None,
            };
            if let Some((line, value)) = value {
                watcher.newest.insert(line, value);
                watcher.touched.insert(line);
            }
        }
        watcher.early.insert(node, agent.early());
        watcher.take_copies(node, copies);
        let lines: Vec<_> = watcher.touched.iter().chain(watcher.homes.keys()).copied().collect();
        for line in lines {
            if let Some(home) = agent.home(line)
                && watcher.homes.get(&line) != Some(&home)
            {
                watcher.homes.insert(line, home);
                watcher.touched.insert(line);
            }
        }
        watcher.check()
    }

    fn has_stopped(&self) -> bool {
        self.0.borrow().stopped
    }

    fn message(&mut self, node: usize, port: Port, msg: &Msg<Line>, taken: bool, at: Stamp) {
        let mut watcher = self.0.borrow_mut();
        if let Some(data) = msg.data()
            && !matches!(msg, Msg::D2hData { bogus: true, .. })
        {
            if !taken {
                watcher.in_flight.push(*data);
            } else if let Some(n) = watcher.in_flight.iter().position(|d| d == data) {
                watcher.in_flight.remove(n);
            }
        }
        watcher.touched.extend(msg.line());
        let name = watcher.names.get(node).cloned().unwrap_or_default();
        let way = if taken { "took" } else { "sent" };
        let line = msg.line().map_or_else(String::new, |l| format!(" {:#x}", l.address()));
        let text = format!("{} fs: {name} {way} {}{line} at link {port}", at.t_fs, msg.label());
        watcher.last.push_back((msg.line(), text));
        if watcher.last.len() > REMEMBERED {
            watcher.last.pop_front();
        }
    }
}
