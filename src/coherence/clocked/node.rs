//! An agent with its links and its core as a module of the kernel.
//!
//! A walk through one cycle: of each class of each link the first message is offered to the agent, those that wait for
//! nothing first; it is taken if the agent accepts it and the classes that it may wait for have room ([`WaitTable`](super::waiting::WaitTable)).
//! A response is offered before the snoop behind it (`coherence` §2.6 O1), and of requests for a line that has been busy the
//! one that has waited longest, so that no link is passed again and again (§4 V10). Then the core sees what has ended and issues.
//! What the agent sent goes to the channels of its class as far as they have room; the rest stays in a queue.
//! While a link is lost nothing is taken from it and nothing goes to it: what is on its way waits at both ends until it is back, snoops too,
//! and no copy and no record changes. The sheets say nothing of an agent that loses a link; this is our choice \[D\].

use super::core::{AnyCore, CoreReport, Wants};
use super::coverage::Point;
use super::linked::{Linked, NodeLink};
use super::outages::{LinkChange, LinkOutage, LinkOutages};
use super::tree::{Passing, Tree, part};
use crate::agent::{Accept, Agent, AgentOutput, AgentPort, Effect};
use crate::config::CoherenceConfig;
use crate::content::{CacheLine, LineAddr};
use crate::event::CoherenceEvent;
use crate::message::{Class, Msg, ORDER, from_link};
use scalepool_kernel::{Cx, Module, Next, Pending, Time};
use scalepool_ordered::OrderedSet;
use scalepool_protocols::cxl::message::{Message, MessageForm, PeerRoute};
use scalepool_trace::{Body, RecordKind, Stamp, Tap, Wait};
use std::sync::{Arc, Mutex, PoisonError};

/// Sees every agent behind every step that changed it.
pub trait AgentWatch<A> {
    /// A step of node `node`, whose core has worked on some lines. What is wrong ends the run.
    fn step(
        &mut self,
        node: usize,
        agent: &A,
        effects: &[Effect<CacheLine>],
        worked: &[LineAddr],
        at: Stamp,
    ) -> Vec<CoherenceEvent>;

    /// The agent lets a message wait.
    fn waits(&mut self, _node: usize, _port: AgentPort, _msg: &Msg<CacheLine>) {}

    /// A message is about to be taken.
    fn before(&mut self, _agent: &A, _msg: &Msg<CacheLine>) {}

    /// Rows of tables by which messages were taken.
    fn met(&self) -> OrderedSet<Point> {
        OrderedSet::new()
    }

    /// An invariant is broken: nothing that follows means anything, the run ends.
    fn has_stopped(&self) -> bool;

    /// A message was sent (`false`) or taken (`true`) by node `node` on one of its links.
    fn message(&mut self, node: usize, port: AgentPort, msg: &Msg<CacheLine>, taken: bool, at: Stamp);
}

/// What a node leaves behind.
#[derive(Debug, Clone, Default)]
pub struct NodeResult {
    /// What the core said when the run was looked at; `None` before, and of a core that measures nothing.
    pub core: Option<CoreReport>,
    /// Agent or core had open work then.
    pub is_open: bool,
    /// Broken rules, with their time \[fs\].
    pub events: Vec<(u64, CoherenceEvent)>,
    /// Messages sent, by class in [`ORDER`].
    pub sent: [u64; Class::COUNT],
    /// Messages that the agent has answered without an effect.
    pub refusals: u64,
    /// Times that a link went down.
    pub lost_links: u64,
    /// Rows of tables that its watch has seen used.
    pub met: OrderedSet<Point>,
}

/// A while in which a device reports at least some load (`coherence` §3.8).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reduction {
    /// First cycle.
    pub from_cycle: u64,
    /// First cycle behind it.
    pub to_cycle: u64,
    /// DevLoad, 0 to 3.
    pub level: u8,
}

/// Inputs of a node.
pub struct NodeConfig<A> {
    /// Its number among the nodes that an [`AgentWatch`] sees.
    pub number: usize,
    /// The agent.
    pub agent: A,
    /// What issues operations to it.
    pub core: AnyCore<A>,
    /// Choices.
    pub config: CoherenceConfig,
    /// Times in which the throughput of a device is reduced.
    pub reductions: Vec<Reduction>,
    /// Its links; their peers in order are the agent's ports.
    pub links: Vec<NodeLink>,
    /// Messages and transactions.
    pub tap: Tap,
    /// How all messages are spelled there; `None`: as their links do.
    pub shown: Option<MessageForm>,
    /// Observer of its steps.
    pub watch: Option<Box<dyn AgentWatch<A>>>,
}

/// The module.
pub struct AgentNode<A> {
    number: usize,
    agent: A,
    core: AnyCore<A>,
    config: CoherenceConfig,
    reductions: Vec<Reduction>,
    links: Vec<Linked>,
    /// Requests that the agent let wait, the oldest first: line, link, place there.
    waiting: Vec<(LineAddr, usize, usize)>,
    /// Link and route of each port of the agent.
    ports: Vec<(usize, PeerRoute)>,
    tap: Tap,
    shown: Option<MessageForm>,
    watch: Option<Box<dyn AgentWatch<A>>>,
    out: AgentOutput<CacheLine>,
    /// Effects that the core has not seen.
    effects: Vec<Effect<CacheLine>>,
    /// Its transactions, for traces.
    tree: Tree,
    wants: Wants,
    busy_since: Option<Time>,
    /// A message was refused for want of room in this cycle: nothing but the node itself will offer it again.
    refused: bool,
    /// Links that go down, and come back.
    outages: LinkOutages,
    /// Forbidden waits that were reported.
    reported: Vec<(Class, Class)>,
    result: Arc<Mutex<NodeResult>>,
}

impl<A: Agent<CacheLine>> AgentNode<A> {
    /// A node; copies of agent and core are in `result` when the run is looked at.
    pub fn new(config: NodeConfig<A>, result: Arc<Mutex<NodeResult>>) -> Self {
        let ports = config.links.iter().enumerate().flat_map(|(n, link)| link.routes.iter().map(move |r| (n, *r)));
        AgentNode {
            number: config.number,
            agent: config.agent,
            core: config.core,
            config: config.config,
            reductions: config.reductions,
            ports: ports.collect(),
            waiting: Vec::new(),
            links: config.links.into_iter().map(Linked::new).collect(),
            tap: config.tap,
            shown: config.shown,
            watch: config.watch,
            out: AgentOutput::default(),
            effects: Vec::new(),
            tree: Tree::default(),
            wants: Wants::NextCycle,
            busy_since: None,
            refused: false,
            outages: LinkOutages::default(),
            reported: Vec::new(),
            result,
        }
    }

    /// The same with links that are lost, by their numbers here.
    #[must_use]
    pub fn losing(self, outages: &[LinkOutage]) -> Self {
        AgentNode { outages: LinkOutages::new(outages), ..self }
    }

    /// Links go down and come back that are due to.
    fn follow_links(&mut self, cx: &mut Cx, at: Stamp) {
        while let Some(change) = self.outages.next_at(at.cycle) {
            cx.progress();
            let name = match change {
                LinkChange::Down(_) => "link_lost",
                LinkChange::Up(_) => "link_back",
            };
            let lost = u64::from(matches!(change, LinkChange::Down(_)));
            self.result.lock().unwrap_or_else(PoisonError::into_inner).lost_links += lost;
            self.tap.record(at, RecordKind::Mark, 0, 0, || Body::Mark(name));
        }
    }

    fn report(&mut self, events: impl IntoIterator<Item = CoherenceEvent>, at: Stamp) {
        for event in events {
            let violation = event.violation();
            self.tap.record(at, RecordKind::Violation, 0, 0, || Body::Violation(violation));
            let mut result = self.result.lock().unwrap_or_else(PoisonError::into_inner);
            result.events.push((at.t_fs, event));
        }
    }

    /// The class without room that `class` waits for; `None`: it waits for nothing.
    fn full_for(&self, class: Class) -> Option<Class> {
        let waits = &self.config.waits;
        self.links.iter().flat_map(Linked::full).find(|full| waits.waits(class, *full))
    }

    /// V9: a wait that the tables do not have is reported, once a pair.
    fn watch_wait(&mut self, incoming: Class, outgoing: Class, at: Stamp) {
        let Some(rule) = self.config.waits.forbids(incoming, outgoing) else { return };
        if !self.reported.contains(&(incoming, outgoing)) {
            self.reported.push((incoming, outgoing));
            let found = format!("{} waits for {}", incoming.name(), outgoing.name());
            self.report(
                [CoherenceEvent::new(rule, None, format!("node {}", self.number), found, "it does not wait")],
                at,
            );
        }
    }

    /// Offers the first message of a class to the agent; whether it was taken.
    fn offer(&mut self, link: usize, place: usize, cx: &mut Cx, at: Stamp) -> bool {
        let Some(message) = self.links[link].offered(place, cx) else { return false };
        let class = self.links[link].link.rx[place].0;
        let msg = from_link(&message);
        let Some(peer) = self.links[link].peer(&message) else {
            self.links[link].take(place, cx);
            let (node, found) = (format!("node {}", self.number), format!("{} from an unknown sender", msg.label()));
            self.report([CoherenceEvent::new("COH-IDS-01", msg.line(), node, found, "a peer of the link")], at);
            cx.progress();
            return true;
        };
        let port = (self.ports.partition_point(|(n, _)| *n < link) + peer) as AgentPort;
        let NodeLink { form, number, link: system_link, .. } = self.links[link].link;
        let part = part(system_link, form, &message);
        let asks = msg.line().filter(|_| matches!(class, Class::D2hReq | Class::M2sReq));
        let first = asks.and_then(|line| self.waiting.iter().find(|(l, ..)| *l == line));
        let is_later = first.is_some_and(|(_, l, p)| (*l, *p) != (link, place));
        if is_later || self.agent.accepts(&self.config, port, &msg) == Accept::Wait {
            if let Some(line) = asks
                && !self.waiting.contains(&(line, link, place))
            {
                self.waiting.push((line, link, place));
            }
            if let Some(watch) = &mut self.watch {
                watch.waits(self.number, port, &msg);
            }
            self.tree.holds(at, &mut self.tap, (link, place), (Wait::Line, msg.line()), part);
            return false;
        }
        if let Some(full) = self.full_for(class) {
            self.refused = true;
            self.watch_wait(class, full, at);
            self.tree.holds(at, &mut self.tap, (link, place), (Wait::Link, None), part);
            return false;
        }
        self.links[link].take(place, cx);
        self.waiting.retain(|(_, l, p)| (*l, *p) != (link, place));
        if let Some(watch) = &mut self.watch {
            watch.message(self.number, port, &msg, true, at);
            watch.before(&self.agent, &msg);
        }
        self.core.heard(at.cycle, &msg);
        let passing = Passing { link: (number, false), port, message: &message, part, line: msg.line() };
        let spelled = self.shown.unwrap_or(form);
        self.tree.take(at, &mut self.tap, (link, place), &passing, || shown(&message, spelled));
        self.agent.take(&self.config, port, msg, 0, &mut self.out);
        self.settle(at);
        self.tree.stepped(at, &mut self.tap);
        cx.progress();
        true
    }

    /// Behind a step: what it sent goes to the queues, what it saw is reported.
    fn settle(&mut self, at: Stamp) {
        let AgentOutput { sends, events, effects, worked } = std::mem::take(&mut self.out);
        // A request that was open has ended before the agent sends the next one for its line.
        let ended = effects.iter().filter(|effect| matches!(effect, Effect::Done(_))).map(Effect::line);
        let done: Vec<LineAddr> = ended.filter(|line| !self.tree.done(at, &mut self.tap, *line)).collect();
        for (port, msg) in sends {
            if let Some(watch) = &mut self.watch {
                watch.message(self.number, port, &msg, false, at);
            }
            self.post(port, &msg, at);
        }
        for line in done {
            self.tree.done(at, &mut self.tap, line);
        }
        self.report(events, at);
        if let Some(watch) = &mut self.watch {
            let events = watch.step(self.number, &self.agent, &effects, &worked, at);
            self.report(events, at);
        }
        self.effects.extend(effects);
    }

    fn post(&mut self, port: AgentPort, msg: &Msg<CacheLine>, at: Stamp) {
        let Some(&(link, route)) = self.ports.get(usize::from(port)) else { return };
        let linked = &mut self.links[link];
        let class = msg.class();
        let message = msg.to_link(route);
        let NodeLink { form, number, link: system_link, .. } = linked.link;
        let part = part(system_link, form, &message);
        let passing = Passing { link: (number, true), port, message: &message, part, line: msg.line() };
        let spelled = self.shown.unwrap_or(form);
        self.tree.send(at, &mut self.tap, &passing, || shown(&message, spelled));
        linked.post(class, message);
        if let Some(n) = ORDER.iter().position(|c| *c == class) {
            self.result.lock().unwrap_or_else(PoisonError::into_inner).sent[n] += 1;
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
        self.wants = self.core.cycle(&mut self.agent, &self.config, cycle, &effects, &mut self.out);
        let told = self.core.told();
        self.tree.tell(at, &mut self.tap, &told);
        self.settle(at);
        self.tree.tell_ends(at, &mut self.tap, &told);
    }

    fn is_open(&self) -> bool {
        self.links.iter().any(|link| link.queued() > 0) || self.core.is_open() || !self.agent.is_idle()
    }

    fn open_work(&self) -> Option<String> {
        let queued: usize = self.links.iter().map(Linked::queued).sum();
        let agent_idle = self.agent.is_idle();
        let core = self.core.open_work();
        match (queued, agent_idle, core) {
            (0, true, None) => None,
            (0, true, Some(core)) => Some(core),
            (queued, _, core) => {
                let lines: Vec<_> = self.tree.lines().map(|l| format!("{:#x}", l.address())).collect();
                let core = core.map_or_else(String::new, |core| format!(", {core}"));
                Some(format!("{queued} messages to send, open lines [{}]{core}", lines.join(" ")))
            }
        }
    }
}

impl<A: Agent<CacheLine>> Module for AgentNode<A> {
    fn eval(&mut self, cx: &mut Cx) -> Next {
        let at = Stamp { t_fs: cx.now().as_fs(), cycle: cx.cycle() };
        if self.watch.as_ref().is_some_and(|w| w.has_stopped()) {
            return Next::Idle;
        }
        if !self.reductions.is_empty() {
            let now = self.reductions.iter().filter(|r| (r.from_cycle..r.to_cycle).contains(&at.cycle));
            self.config.mem.throughput_reduction = now.map(|r| r.level).max().unwrap_or(0);
        }
        self.follow_links(cx, at);
        let mut taken = false;
        for link in 0..self.links.len() {
            if self.outages.is_down(link) {
                continue;
            }
            for place in 0..self.links[link].link.rx.len() {
                if self.offer(link, place, cx, at) {
                    taken = true;
                    // A core uses what it was granted before a snoop of the same cycle takes it away (V10).
                    self.run_core(true, at);
                }
            }
        }
        self.run_core(false, at);
        let mut moved = false;
        for (n, link) in self.links.iter_mut().enumerate() {
            moved |= !self.outages.is_down(n) && link.flush(cx);
        }
        self.busy_since = self.is_open().then(|| self.busy_since.unwrap_or(cx.now()));
        // After a step anything may be acceptable that was not before, effects may be new; what was refused for want of room in
        // a queue may find some.
        let refused = std::mem::take(&mut self.refused);
        let more = taken || (refused && moved) || !self.effects.is_empty() || self.wants == Wants::NextCycle;
        let wanted = match self.wants {
            Wants::Cycle(when) => Some(when),
            _ => None,
        };
        match wanted.into_iter().chain(self.outages.due()).min() {
            _ if more => Next::Busy,
            Some(when) if when > at.cycle => Next::In(when - at.cycle),
            Some(_) => Next::Busy,
            None => Next::Idle,
        }
    }

    fn idle_ok(&self) -> Result<(), Pending> {
        match self.open_work() {
            None => Ok(()),
            Some(what) => Err(Pending::new(what, self.busy_since.unwrap_or(Time::ZERO))),
        }
    }

    fn publish(&self) {
        let mut result = self.result.lock().unwrap_or_else(PoisonError::into_inner);
        result.refusals = self.agent.refusals();
        result.core = self.core.report();
        result.is_open = !self.agent.is_idle() || self.core.is_open();
        result.met = self.watch.as_ref().map_or_else(OrderedSet::new, |w| w.met());
    }

    fn probes(&self, visit: &mut dyn FnMut(&str, u64)) {
        visit("open", self.tree.lines().count() as u64);
    }
}

/// A message as the trace shows it.
pub(super) fn shown(message: &Message, form: MessageForm) -> Body {
    let data = message.data().map(|d| d.line.to_vec());
    message.spell(form).map_or(Body::None, |(layout, bits)| Body::Message { layout, bits, data })
}
