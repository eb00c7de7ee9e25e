//! An agent with its links and its core as a module of the kernel.
//!
//! A walk through one cycle: of each class of each link the first message is offered to the agent, those that wait for
//! nothing first; it is taken if the agent accepts it and the classes that it may wait for have room ([`WaitTable`](super::waiting::WaitTable)).
//! A response is offered before the snoop behind it (`coherence` §2.6 O1). Then the core sees what has ended and issues.
//! What the agent sent goes to the channels of its class as far as they have room; the rest stays in a queue.

use super::core::{Core, Wants};
use super::coverage::Point;
use crate::coherence::agent::{Accept, Agent, Effect, Out, Port};
use crate::coherence::config::CoherenceConfig;
use crate::coherence::content::{Line, LineAddr};
use crate::coherence::event::Event;
use crate::coherence::message::{Class, Msg};
use crate::coherence::wire::{Route, from_link};
use crate::kernel::{self, Cx, In, Module, Next, Pending, Time};
use crate::trace::{Body, Kind, Stamp, Tap};
use scalepool_protocols::cxl::message::{Form, Message};
use scalepool_protocols::wire::{At, Violation};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

/// Order in which the classes of a link are offered to the agent: what waits for nothing first.
pub const ORDER: [Class; 12] = [
    Class::H2dRsp,
    Class::H2dData,
    Class::M2sBirsp,
    Class::S2mNdr,
    Class::S2mDrs,
    Class::D2hRsp,
    Class::D2hData,
    Class::M2sRwd,
    Class::H2dReq,
    Class::S2mBisnp,
    Class::M2sReq,
    Class::D2hReq,
];

/// Most messages of a class in a queue on the way out for which another class still counts as free.
const QUEUE_MESSAGES: usize = 4;

/// A message with its place among all that its agent sent on this link, so that the link can keep the orders that cross
/// classes.
pub type Numbered = (u64, Message);

/// Kernel channels of one class in one direction.
type Rx = (Class, In<Message>);
type Tx = (Class, kernel::Out<Numbered>);

/// One link of a node.
pub struct NodeLink {
    /// Received messages, in [`ORDER`].
    pub rx: Vec<Rx>,
    /// Messages to send.
    pub tx: Vec<Tx>,
    /// How the link finds the peer.
    pub route: Route,
    /// How it spells messages, for traces.
    pub form: Form,
}

/// A link with what waits for it.
struct Linked {
    link: NodeLink,
    /// What the agent sent and a channel has not taken, by position in `link.tx`.
    queues: Vec<VecDeque<Numbered>>,
    /// Messages sent so far.
    sent: u64,
}

/// Sees every agent behind every step that changed it.
pub trait Watch<A> {
    /// A step of node `node`. What is wrong ends the run.
    fn step(&mut self, node: usize, agent: &A, effects: &[Effect<Line>], at: Stamp) -> Vec<Event>;

    /// A message is about to be taken.
    fn before(&mut self, _agent: &A, _msg: &Msg<Line>) {}

    /// Rows of tables by which messages were taken.
    fn met(&self) -> BTreeSet<Point> {
        BTreeSet::new()
    }

    /// An invariant is broken: nothing that follows means anything, the run ends.
    fn has_stopped(&self) -> bool;

    /// A message was sent (`false`) or taken (`true`) by node `node` on one of its links.
    fn message(&mut self, node: usize, port: Port, msg: &Msg<Line>, taken: bool, at: Stamp);
}

/// What a node leaves behind.
#[derive(Debug, Clone)]
pub struct NodeResult<A, C> {
    /// Agent and core as they were at the end; `None` while they run.
    pub end: Option<(A, C)>,
    /// Broken rules, with their time \[fs\].
    pub events: Vec<(u64, Event)>,
    /// Messages sent, by class in [`ORDER`].
    pub sent: [u64; 12],
    /// Rows of tables that its watch has seen used.
    pub met: BTreeSet<Point>,
}

impl<A, C> Default for NodeResult<A, C> {
    fn default() -> Self {
        Self { end: None, events: Vec::new(), sent: [0; 12], met: BTreeSet::new() }
    }
}

/// Inputs of a node.
pub struct NodeConfig<A, C> {
    /// Its number among the nodes that a [`Watch`] sees.
    pub number: usize,
    /// The agent.
    pub agent: A,
    /// What issues operations to it.
    pub core: C,
    /// Choices.
    pub config: CoherenceConfig,
    /// Its links; the position is the agent's port.
    pub links: Vec<NodeLink>,
    /// Messages and transactions.
    pub tap: Tap,
    /// Observer of its steps.
    pub watch: Option<Box<dyn Watch<A>>>,
}

/// The module.
pub struct Node<A, C> {
    number: usize,
    agent: Option<A>,
    core: Option<C>,
    config: CoherenceConfig,
    links: Vec<Linked>,
    tap: Tap,
    watch: Option<Box<dyn Watch<A>>>,
    out: Out<Line>,
    /// Effects that the core has not seen.
    effects: Vec<Effect<Line>>,
    /// Open transactions that this node began: id in the trace, by line.
    open: BTreeMap<LineAddr, u64>,
    wants: Wants,
    busy_since: Option<Time>,
    /// A message was refused for want of room in this cycle: nothing but the node itself will offer it again.
    refused: bool,
    /// Forbidden waits that were reported.
    reported: Vec<(Class, Class)>,
    result: Arc<Mutex<NodeResult<A, C>>>,
}

impl<A: Agent<Line>, C: Core<A>> Node<A, C> {
    /// A node; agent and core are in `result` when it is dropped.
    pub fn new(config: NodeConfig<A, C>, result: Arc<Mutex<NodeResult<A, C>>>) -> Self {
        let linked = |link: NodeLink| Linked { queues: vec![VecDeque::new(); link.tx.len()], link, sent: 0 };
        Node {
            number: config.number,
            agent: Some(config.agent),
            core: Some(config.core),
            config: config.config,
            links: config.links.into_iter().map(linked).collect(),
            tap: config.tap,
            watch: config.watch,
            out: Out::default(),
            effects: Vec::new(),
            open: BTreeMap::new(),
            wants: Wants::NextCycle,
            busy_since: None,
            refused: false,
            reported: Vec::new(),
            result,
        }
    }

    fn report(&mut self, events: impl IntoIterator<Item = Event>, at: Stamp) {
        for event in events {
            let violation = Violation {
                rule: event.rule,
                at: event.line.map_or(At::Message, |line| At::Line(line.address())),
                found: event.found.clone(),
                expected: event.expected.clone(),
                text: format!("{} breaks {}", event.at, event.rule),
            };
            self.tap.record(at, Kind::Violation, 0, 0, || Body::Violation(violation));
            let mut result = self.result.lock().unwrap_or_else(PoisonError::into_inner);
            result.events.push((at.t_fs, event));
        }
    }

    /// The class without room that `class` waits for; `None`: it waits for nothing.
    fn full_for(&self, class: Class) -> Option<Class> {
        let waits = &self.config.waits;
        let full = |((c, _), queue): (&Tx, &VecDeque<Numbered>)| {
            (queue.len() >= QUEUE_MESSAGES && waits.waits(class, *c)).then_some(*c)
        };
        self.links.iter().find_map(|l| l.link.tx.iter().zip(&l.queues).find_map(full))
    }

    /// V9: a wait that the tables do not have is reported, once a pair.
    fn watch_wait(&mut self, incoming: Class, outgoing: Class, at: Stamp) {
        let Some(rule) = self.config.waits.forbids(incoming, outgoing) else { return };
        if !self.reported.contains(&(incoming, outgoing)) {
            self.reported.push((incoming, outgoing));
            let found = format!("{} waits for {}", incoming.name(), outgoing.name());
            self.report([Event::new(rule, None, format!("node {}", self.number), found, "it does not wait")], at);
        }
    }

    /// Offers the first message of a class to the agent; whether it was taken.
    fn offer(&mut self, port: usize, place: usize, cx: &mut Cx, at: Stamp) -> bool {
        let (class, channel) = &mut self.links[port].link.rx[place];
        let class = *class;
        let Some(message) = channel.peek(cx).copied() else { return false };
        // O1: responses that came before the snoop are taken before it, however many a cycle takes.
        let is_response = |(c, channel): &Rx| *c == Class::H2dRsp && channel.is_due(cx);
        if class == Class::H2dReq && self.links[port].link.rx.iter().any(is_response) {
            return false;
        }
        let msg = from_link(&message);
        let agent = self.agent.as_mut().expect("it is there until the node is dropped");
        if agent.accepts(&self.config, port as Port, &msg) == Accept::Wait {
            return false;
        }
        if let Some(full) = self.full_for(class) {
            self.refused = true;
            self.watch_wait(class, full, at);
            return false;
        }
        self.links[port].link.rx[place].1.pop(cx);
        if let Some(watch) = &mut self.watch {
            watch.message(self.number, port as Port, &msg, true, at);
            watch.before(self.agent.as_ref().expect("it is there until the node is dropped"), &msg);
        }
        let line = msg.line();
        let NodeLink { form, route, .. } = self.links[port].link;
        let id = line.and_then(|line| self.open.get(&line)).copied().unwrap_or(0);
        self.tap.record_on((route.bi_id, false), at, Kind::Mark, id, || shown(&message, form));
        let agent = self.agent.as_mut().expect("it is there until the node is dropped");
        agent.take(&self.config, port as Port, msg, 0, &mut self.out);
        self.settle(at);
        cx.progress();
        true
    }

    /// Behind a step: what it sent goes to the queues, what it saw is reported.
    fn settle(&mut self, at: Stamp) {
        let Out { sends, events, effects } = std::mem::take(&mut self.out);
        for (port, msg) in sends {
            if let Some(watch) = &mut self.watch {
                watch.message(self.number, port, &msg, false, at);
            }
            self.post(port, &msg, at);
        }
        for effect in &effects {
            if let Effect::Done(line) = effect
                && let Some(id) = self.open.remove(line)
            {
                self.tap.record(at, Kind::End, id, 0, || Body::None);
            }
        }
        self.report(events, at);
        if let (Some(watch), Some(agent)) = (&mut self.watch, &self.agent) {
            let events = watch.step(self.number, agent, &effects, at);
            self.report(events, at);
        }
        self.effects.extend(effects);
    }

    fn post(&mut self, port: Port, msg: &Msg<Line>, at: Stamp) {
        let Some(linked) = self.links.get_mut(usize::from(port)) else { return };
        let class = msg.class();
        let message = linked.link.route.to_link(msg);
        let NodeLink { form, route, .. } = linked.link;
        let begins = matches!(class, Class::D2hReq | Class::M2sReq | Class::M2sRwd);
        let (kind, id) = match msg.line() {
            Some(line) if begins => {
                let fresh = !self.open.contains_key(&line);
                let id = *self.open.entry(line).or_insert_with(|| self.tap.new_id());
                (if fresh { Kind::Begin } else { Kind::Mark }, id)
            }
            Some(line) => (Kind::Mark, self.open.get(&line).copied().unwrap_or(0)),
            None => (Kind::Mark, 0),
        };
        self.tap.record_on((route.bi_id, true), at, kind, id, || shown(&message, form));
        let posted = (linked.sent, message);
        linked.sent += 1;
        if let Some(n) = linked.link.tx.iter().position(|(c, _)| *c == class) {
            linked.queues[n].push_back(posted);
        }
        if let Some(n) = ORDER.iter().position(|c| *c == class) {
            self.result.lock().unwrap_or_else(PoisonError::into_inner).sent[n] += 1;
        }
    }

    /// Gives the channels what they have room for; a snoop stays behind responses that were sent before it.
    fn flush(&mut self, cx: &mut Cx) {
        for Linked { link, queues, .. } in &mut self.links {
            for n in 0..queues.len() {
                while let Some(posted) = queues[n].front().copied() {
                    let class = link.tx[n].0;
                    let is_earlier = |(m, (c, _)): (usize, &Tx)| {
                        *c == Class::H2dRsp && queues[m].front().is_some_and(|r| r.0 < posted.0)
                    };
                    if class == Class::H2dReq && link.tx.iter().enumerate().any(is_earlier) {
                        break;
                    }
                    if link.tx[n].1.push(cx, posted).is_err() {
                        break;
                    }
                    queues[n].pop_front();
                }
            }
        }
    }

    fn run_core(&mut self, taken: bool, at: Stamp) {
        let cycle = at.cycle;
        let due = match self.wants {
            Wants::NextCycle => true,
            Wants::Cycle(when) => cycle >= when,
            Wants::Message => taken,
        };
        if !due && self.effects.is_empty() {
            return;
        }
        let effects = std::mem::take(&mut self.effects);
        if let (Some(agent), Some(core)) = (&mut self.agent, &mut self.core) {
            self.wants = core.cycle(agent, &self.config, cycle, &effects, &mut self.out);
        }
        self.settle(at);
    }

    fn open_work(&self) -> Option<String> {
        let queued: usize = self.links.iter().flat_map(|l| &l.queues).map(VecDeque::len).sum();
        let agent_idle = self.agent.as_ref().is_some_and(A::is_idle);
        let core = self.core.as_ref().and_then(C::open_work);
        match (queued, agent_idle, core) {
            (0, true, None) => None,
            (0, true, Some(core)) => Some(core),
            (queued, _, core) => {
                let lines: Vec<_> = self.open.keys().map(|l| format!("{:#x}", l.address())).collect();
                let core = core.map_or_else(String::new, |core| format!(", {core}"));
                Some(format!("{queued} messages to send, open lines [{}]{core}", lines.join(" ")))
            }
        }
    }
}

impl<A: Agent<Line>, C: Core<A>> Module for Node<A, C> {
    fn eval(&mut self, cx: &mut Cx) -> Next {
        let at = Stamp { t_fs: cx.now().as_fs(), cycle: cx.cycle() };
        if self.watch.as_ref().is_some_and(|w| w.has_stopped()) {
            return Next::Idle;
        }
        let mut taken = false;
        for port in 0..self.links.len() {
            for place in 0..self.links[port].link.rx.len() {
                if self.offer(port, place, cx, at) {
                    taken = true;
                    // A core uses what it was granted before a snoop of the same cycle takes it away (V10).
                    self.run_core(true, at);
                }
            }
        }
        self.run_core(false, at);
        self.flush(cx);
        self.busy_since = match self.open_work() {
            None => None,
            Some(_) => self.busy_since.or(Some(cx.now())),
        };
        // After a step anything may be acceptable that was not before, effects may be new.
        let more = taken
            || std::mem::take(&mut self.refused)
            || !self.effects.is_empty()
            || self.wants == Wants::NextCycle
            || self.links.iter().any(|l| l.queues.iter().any(|q| !q.is_empty()));
        match self.wants {
            _ if more => Next::Busy,
            Wants::Cycle(when) if when > at.cycle => Next::At(cx.in_cycles(when - at.cycle)),
            Wants::Cycle(_) => Next::Busy,
            _ => Next::Idle,
        }
    }

    fn idle_ok(&self) -> Result<(), Pending> {
        match self.open_work() {
            None => Ok(()),
            Some(what) => Err(Pending::new(what, self.busy_since.unwrap_or(Time::ZERO))),
        }
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, u64)) {
        visit("open", self.open.len() as u64);
    }
}

impl<A, C> Drop for Node<A, C> {
    /// The simulation is over, however it ended.
    fn drop(&mut self) {
        let mut result = self.result.lock().unwrap_or_else(PoisonError::into_inner);
        result.end = self.agent.take().zip(self.core.take());
        result.met = self.watch.as_ref().map_or_else(BTreeSet::new, |w| w.met());
    }
}

fn shown(message: &Message, form: Form) -> Body {
    let data = message.data().map(|d| d.line.to_vec());
    message.spell(form).map_or(Body::None, |(layout, bits)| Body::Message { layout, bits, data })
}
