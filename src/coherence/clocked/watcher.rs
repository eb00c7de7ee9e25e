//! The invariants V1 to V4, V10 and V13 in a clocked run, and what is read without being cached: one view of all agents,
//! checked behind every step.
//!
//! All nodes of a watched run stand in one partition, so that the watcher sees them at one instant. Detail: the value of
//! the last store is taken from the copy in which it was done, or from the home where a write by message was taken. Left
//! out: invariants of order and shape, which the agents and [`crate::monitor`] judge message by message.
//!
//! A walk through one step: of the lines that the message concerned, that were sent about and that the core worked on, what
//! the agent holds now replaces what it held; every line that changed is checked against all other holders, the home's
//! value and the data under way. Other lines are not looked at, however many there are.

use super::coverage::Point;
use super::node::AgentWatch;
use crate::agent::{AgentPort, Effect};
use crate::config::CoherenceConfig;
use crate::content::{CacheLine, LineAddr, LineContent};
use crate::event::CoherenceEvent;
use crate::ids::IdSet;
use crate::message::{Class, Msg};
use crate::monitor::{CopyView, View, check_bias, check_copies};
use scalepool_ordered::{OrderedMap, OrderedSet};
use scalepool_protocols::cxl::cxl256::code::SnpType;
use scalepool_trace::Stamp;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a home says of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HomeView {
    /// Its value; `None`: the line is in a memory behind a port, where it is as the home left it.
    pub value: Option<CacheLine>,
    /// Nodes that it takes for holders.
    pub tracked: IdSet,
    /// Values that it has received and not put in place.
    pub kept: Vec<CacheLine>,
    /// Bias of the line, for a device with a bias table: device (`true`) or host.
    pub device_bias: Option<bool>,
}

/// An agent as the watcher reads it.
pub trait Watched {
    /// Its copy of a line; `agent` of it is 0, the watcher fills it in.
    fn copy(&self, config: &CoherenceConfig, line: LineAddr) -> Option<CopyView<CacheLine>>;

    /// The home's view of a line; `None`: it is no home.
    fn home(&self, line: LineAddr) -> Option<HomeView>;

    /// A value of a line that it has received and not made a copy of.
    fn early(&self, line: LineAddr) -> Option<CacheLine>;

    /// Lines that it may change when it takes a message, but for those of messages that it sends then.
    fn lines_of(&self, msg: &Msg<CacheLine>) -> Vec<LineAddr>;

    /// Of a home whose memory is behind a port: the line that a message brings from there, with its value.
    fn fetched(&self, _msg: &Msg<CacheLine>) -> Option<(LineAddr, CacheLine)> {
        None
    }

    /// Of a home: the rule that is broken where memory behind a port has changed and nothing went there by the home; `None`: it may.
    fn one_way_to_memory(&self) -> Option<&'static str> {
        None
    }

    /// Of a home: whether poisoned lines go to a memory that keeps their mark alone, so that their bytes are no value, and whose reads that
    /// fail or are given up bring poison too.
    fn drops_poisoned_bytes(&self) -> bool {
        false
    }

    /// Of a home whose memory is behind a port: the part of a line that goes on there by a message, with the bytes that it enables.
    fn passed_on(&self, _msg: &Msg<CacheLine>) -> Option<(LineAddr, CacheLine, u64)> {
        None
    }

    /// The row of a table by which it will take a message; `None`: no row, or the message needs none.
    fn row(&self, _msg: &Msg<CacheLine>) -> Option<Point> {
        None
    }
}

/// Messages that the watcher remembers, to show them with a violation.
const REMEMBERED: usize = 256;

/// Number of the node that is the home.
const HOME: usize = 0;

/// The node at a port of the home: the home is the first of all.
fn node_at(port: AgentPort) -> AgentPort {
    port + 1
}

/// The name of a node.
fn name_of(names: &[String], node: usize) -> String {
    names.get(node).map_or_else(|| format!("agent {node}"), String::clone)
}

/// The nodes at ports of the home.
pub fn nodes_at(ports: &IdSet) -> IdSet {
    ports.iter().map(node_at).collect()
}

/// Of them those that a violation shows.
const SHOWN: usize = 16;

/// What all nodes of a run are.
pub struct Watcher {
    config: CoherenceConfig,
    names: Vec<String>,
    copies: OrderedMap<LineAddr, OrderedMap<usize, CopyView<CacheLine>>>,
    early: OrderedMap<LineAddr, OrderedMap<usize, CacheLine>>,
    newest: OrderedMap<LineAddr, CacheLine>,
    /// Of lines that the home's core works on: the newest values since it began.
    since: OrderedMap<LineAddr, Vec<CacheLine>>,
    homes: OrderedMap<LineAddr, HomeView>,
    in_flight: Vec<CacheLine>,
    /// Lines of which a read of memory has brought poison since their last store: poisoned copies of them have no value.
    unread: OrderedSet<LineAddr>,
    /// Requests that the home lets wait, by line and port, with the requests for the line that it took since.
    waiting: OrderedMap<(LineAddr, AgentPort), u64>,
    /// What is wrong with the message that is being taken.
    overtaken: Vec<CoherenceEvent>,
    /// Lines to be read again behind the step that is under way.
    suspects: OrderedSet<LineAddr>,
    /// Lines to be checked.
    touched: OrderedSet<LineAddr>,
    last: VecDeque<SeenMessage>,
    /// Bytes of poisoned lines are no value.
    drops_poisoned_bytes: bool,
    stopped: bool,
    met: OrderedSet<Point>,
    /// Steps checked.
    pub checks: u64,
}

impl Watcher {
    /// Of nodes with these names.
    pub fn new(config: CoherenceConfig, names: Vec<String>) -> Arc<Mutex<Watcher>> {
        Arc::new(Mutex::new(Watcher {
            config,
            names,
            copies: OrderedMap::new(),
            early: OrderedMap::new(),
            newest: OrderedMap::new(),
            since: OrderedMap::new(),
            homes: OrderedMap::new(),
            in_flight: Vec::new(),
            unread: OrderedSet::new(),
            waiting: OrderedMap::new(),
            overtaken: Vec::new(),
            suspects: OrderedSet::new(),
            touched: OrderedSet::new(),
            last: VecDeque::new(),
            drops_poisoned_bytes: false,
            stopped: false,
            met: OrderedSet::new(),
            checks: 0,
        }))
    }

    /// V10: the home takes a request while others for the line wait.
    fn goes_first(&mut self, port: AgentPort, line: LineAddr) {
        self.waiting.remove(&(line, port));
        let others = self.names.len().saturating_sub(2) as u64;
        let bound = if self.config.progress_bound == 0 { others } else { self.config.progress_bound };
        let waiting: Vec<_> = self.waiting.range((line, 0)..=(line, AgentPort::MAX)).map(|(&key, _)| key).collect();
        for key in waiting {
            let Some(seen) = self.waiting.get_mut(&key) else { continue };
            *seen += 1;
            if *seen == bound + 1 {
                let (at, found) = (name_of(&self.names, node_at(key.1).into()), format!("{seen} requests went first"));
                self.overtaken.push(CoherenceEvent::new("COH-INV-10", line, at, found, format!("at most {bound}")));
            }
        }
    }

    /// Reads a line of a node again.
    fn read<A: Watched>(&mut self, node: usize, agent: &A, line: LineAddr) {
        let copy = agent.copy(&self.config, line).map(|copy| CopyView { agent: node, ..copy });
        let mut changed = put(&mut self.copies, line, node, copy);
        put(&mut self.early, line, node, agent.early(line));
        if let Some(mut home) = agent.home(line) {
            self.drops_poisoned_bytes |= agent.drops_poisoned_bytes();
            home.value = home.value.or_else(|| self.homes.get(&line)?.value);
            let before = self.homes.insert(line, home);
            changed |= before.as_ref() != self.homes.get(&line);
        }
        if changed {
            self.touched.insert(line);
        }
    }

    /// Checks the lines that were touched; `events` are those of the step itself.
    fn check(&mut self, mut events: Vec<CoherenceEvent>) -> Vec<CoherenceEvent> {
        if self.stopped {
            return Vec::new();
        }
        for line in std::mem::take(&mut self.touched) {
            let Some(home) = self.homes.get(&line) else { continue };
            let copies: Vec<_> = self.copies.get(&line).into_iter().flat_map(|c| c.values().cloned()).collect();
            let early = self.early.get(&line).into_iter().flat_map(OrderedMap::values);
            // What is not usable is on its way home: an evict whose end is under way.
            let leaving = copies.iter().filter(|c| !c.usable).map(|c| c.agent as AgentPort);
            let tracked = leaving.fold(home.tracked.clone(), IdSet::with);
            let mut view = View {
                line,
                newest: self.newest.get(&line).copied().unwrap_or_else(|| CacheLine::initial(line)),
                home: home.value.unwrap_or_else(|| CacheLine::initial(line)),
                in_flight: self.in_flight.iter().chain(&home.kept).chain(early).copied().collect(),
                copies,
                tracked,
                levels: Vec::new(),
            };
            if self.drops_poisoned_bytes {
                let View { newest, home, in_flight, copies, .. } = &mut view;
                let values = [newest, home].into_iter().chain(in_flight).chain(copies.iter_mut().map(|c| &mut c.value));
                values.filter(|value| value.is_poisoned()).for_each(|value| *value = CacheLine::ones().poisoned(true));
            }
            // Who has read nothing has no wrong value.
            if self.unread.contains(&line) {
                let View { newest, copies, .. } = &mut view;
                let without = copies.iter_mut().filter(|copy| !copy.dirty && copy.value.is_poisoned());
                without.for_each(|copy| copy.value = *newest);
            }
            self.checks += 1;
            check_copies(&view, &|n| name_of(&self.names, n), &mut events);
            if let Some(in_device_bias) = home.device_bias {
                check_bias(&view, HOME, in_device_bias, &|n| name_of(&self.names, n), &mut events);
            }
        }
        for event in &mut events {
            let states: Vec<_> = event
                .line
                .and_then(|line| self.copies.get(&line))
                .into_iter()
                .flat_map(OrderedMap::values)
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
            let of_line = self.last.iter().filter(|m| m.msg.line().is_none_or(|line| Some(line) == event.line));
            let mut last: Vec<_> = of_line.rev().take(SHOWN).map(|m| m.text(&self.names)).collect();
            last.reverse();
            event.found =
                format!("{}; holders [{}]; last messages: {}", event.found, states.join(", "), last.join("; "));
        }
        self.stopped |= !events.is_empty();
        events
    }
}

/// A message that a node has sent or taken.
#[derive(Debug)]
struct SeenMessage {
    t_fs: u64,
    node: usize,
    port: AgentPort,
    taken: bool,
    msg: Msg<CacheLine>,
}

impl SeenMessage {
    fn text(&self, names: &[String]) -> String {
        let name = names.get(self.node).map_or("", String::as_str);
        let way = if self.taken { "took" } else { "sent" };
        let line = self.msg.line().map_or_else(String::new, |l| format!(" {:#x}", l.address()));
        format!("{} fs: {name} {way} {}{line} at link {}", self.t_fs, self.msg.label(), self.port)
    }
}

/// The line of a request that a home may let wait.
fn request(msg: &Msg<CacheLine>) -> Option<LineAddr> {
    matches!(msg.class(), Class::D2hReq | Class::M2sReq).then(|| msg.line()).flatten()
}

/// Sets or removes what a node has of a line; whether that is something new.
fn put<T: PartialEq>(
    all: &mut OrderedMap<LineAddr, OrderedMap<usize, T>>,
    line: LineAddr,
    node: usize,
    now: Option<T>,
) -> bool {
    let of_line = all.entry(line).or_default();
    let changed = of_line.get(&node) != now.as_ref();
    match now {
        Some(now) => of_line.insert(node, now),
        None => of_line.remove(&node),
    };
    if of_line.is_empty() {
        all.remove(&line);
    }
    changed
}

/// A node's handle on the watcher.
pub struct WatcherHandle(pub Arc<Mutex<Watcher>>);

impl WatcherHandle {
    fn watcher(&self) -> MutexGuard<'_, Watcher> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<A: Watched> AgentWatch<A> for WatcherHandle {
    fn waits(&mut self, node: usize, port: AgentPort, msg: &Msg<CacheLine>) {
        if let (HOME, Some(line)) = (node, request(msg)) {
            self.watcher().waiting.entry((line, port)).or_insert(0);
        }
    }

    fn before(&mut self, agent: &A, msg: &Msg<CacheLine>) {
        let mut watcher = self.watcher();
        watcher.met.extend(agent.row(msg));
        let fetched = agent.fetched(msg);
        // A read that fails is poison, and says nothing of the bytes: neither then, nor of what the next one brings.
        let is_nothing = |(_, value): &(LineAddr, CacheLine)| agent.drops_poisoned_bytes() && value.is_poisoned();
        watcher.unread.extend(fetched.filter(is_nothing).map(|(line, _)| line));
        if let Some((line, value)) = fetched.filter(|fetched| !is_nothing(fetched)) {
            let (tracked, kept) = (IdSet::EMPTY, Vec::new());
            let unknown = HomeView { value: None, tracked, kept, device_bias: None };
            let left = watcher.homes.entry(line).or_insert(unknown).value.replace(value);
            if let Some((rule, left)) = agent.one_way_to_memory().zip(left)
                && left != value
                && !left.is_poisoned()
            {
                let at = watcher.names[HOME].clone();
                let expected = format!("{left:?}, as the home has left it: all accesses go by the home");
                watcher.overtaken.push(CoherenceEvent::new(rule, line, at, format!("{value:?} in memory"), expected));
            }
            // What was there before anybody wrote it nobody has told.
            if !watcher.newest.contains_key(&line) {
                watcher.newest.insert(line, value);
                if let Some(values) = watcher.since.get_mut(&line) {
                    values.push(value);
                }
            }
        }
        if let Some((line, part, enables)) = agent.passed_on(msg) {
            // Of a line that nobody has read, the other bytes are not known, and what is fetched later is its value.
            let home = watcher.homes.get_mut(&line).and_then(|home| home.value.as_mut());
            home.into_iter().for_each(|value| value.merge(&part, enables));
            // A part that its writer had not made its own before is a new value.
            let is_new = matches!(msg, Msg::M2sRwd { snp: SnpType::SnpInv, .. });
            let newest = watcher.newest.get_mut(&line).filter(|_| is_new);
            newest.into_iter().for_each(|value| value.merge(&part, enables));
        }
        watcher.suspects.extend(agent.lines_of(msg));
    }

    fn met(&self) -> OrderedSet<Point> {
        self.watcher().met.clone()
    }

    fn step(
        &mut self,
        node: usize,
        agent: &A,
        effects: &[Effect<CacheLine>],
        worked: &[LineAddr],
        _: Stamp,
    ) -> Vec<CoherenceEvent> {
        let mut watcher = self.watcher();
        let watcher = &mut *watcher;
        watcher.suspects.extend(worked);
        for line in worked.iter().filter(|_| node == HOME) {
            let newest = watcher.newest.get(line).copied().unwrap_or_else(|| CacheLine::initial(*line));
            watcher.since.insert(*line, vec![newest]);
        }
        let mut events = std::mem::take(&mut watcher.overtaken);
        for effect in effects {
            let (line, value) = match effect {
                Effect::Stored(line) => {
                    // A copy that has gone in the same step went to the agent's own memory, or left as data under way,
                    // which is the newest value there.
                    let here = agent.copy(&watcher.config, *line).map(|copy| copy.value);
                    let here = here.or_else(|| agent.home(*line)?.value);
                    (*line, here.or_else(|| watcher.in_flight.last().copied()))
                }
                Effect::Written(line) => (*line, agent.home(*line).and_then(|home| home.value)),
                Effect::Used { line, value, .. } => {
                    // It is kept by nobody: it has to be the newest of a moment between the beginning and now.
                    if let Some(values) = watcher.since.remove(line)
                        && !values.contains(value)
                    {
                        let (found, expected) = (value.to_string(), "the last store's value while it was read");
                        events.push(CoherenceEvent::new(
                            "COH-UIO-01",
                            *line,
                            name_of(&watcher.names, node),
                            found,
                            expected,
                        ));
                    }
                    (*line, None)
                }
                Effect::ChangedBehind(line) => {
                    watcher.newest.remove(line);
                    watcher.homes.remove(line);
                    (*line, None)
                }
                Effect::Refused(line) | Effect::Done(line) => (*line, None),
            };
            watcher.suspects.insert(line);
            if let Some(value) = value {
                watcher.newest.insert(line, value);
                watcher.unread.remove(&line);
                if let Some(values) = watcher.since.get_mut(&line) {
                    values.push(value);
                }
                watcher.touched.insert(line);
            }
        }
        for line in std::mem::take(&mut watcher.suspects) {
            watcher.read(node, agent, line);
        }
        watcher.check(events)
    }

    fn has_stopped(&self) -> bool {
        self.watcher().stopped
    }

    fn message(&mut self, node: usize, port: AgentPort, msg: &Msg<CacheLine>, taken: bool, at: Stamp) {
        let mut watcher = self.watcher();
        // What a home writes to a memory behind a port it has in hand until it is there, and what it reads nobody waits for.
        let of_memory = match msg.class() {
            Class::M2sRwd => node == HOME && !taken,
            Class::S2mDrs => node == HOME && taken,
            _ => false,
        };
        if let Some(data) = msg.data().filter(|_| !of_memory)
            && !matches!(msg, Msg::D2hData { bogus: true, .. })
        {
            if !taken {
                watcher.in_flight.push(*data);
            } else if let Some(n) = watcher.in_flight.iter().position(|d| d == data) {
                watcher.in_flight.remove(n);
            }
        }
        if let (HOME, true, Some(line)) = (node, taken, request(msg)) {
            watcher.goes_first(port, line);
        }
        watcher.suspects.extend(msg.line());
        watcher.touched.extend(msg.line());
        watcher.last.push_back(SeenMessage { t_fs: at.t_fs, node, port, taken, msg: *msg });
        if watcher.last.len() > REMEMBERED {
            watcher.last.pop_front();
        }
    }
}
