//! A switch: several links that share one on their way to a hub.
//!
//! Modelled: a table from ports of a fabric to links (§3.7), and, where agents are explored without time, from CacheIDs
//! ([`CacheRoutes`], `coherence` §2.9); a queue for each class of each link, so that no class holds another one; snoops behind the
//! responses that came before them (§2.6 O1). Detail: one message of each class of each link a cycle, a cycle in the
//! switch. Left out: decoders by address, arbitration other than turn by turn, configuration at run time.
//!
//! A walk through one cycle: of every class of every link the first message is looked up; what has no way is discarded
//! without answer; what has room in the queue of its class on the way out goes there; queues fill the channels of their
//! links. The link that comes first is another one in each cycle, so none starves.

use super::linked::{Linked, NodeLink};
use super::node::shown;
use super::tree::{TransactionPart, part};
use crate::cache::route::CacheRoutes;
use crate::config::CoherenceConfig;
use crate::event::CoherenceEvent;
use scalepool_kernel::{Cx, Module, Next, Pending, Time};
use scalepool_ordered::OrderedMap;
use scalepool_protocols::cxl::message::Message;
use scalepool_trace::{RecordKind, Stamp, Tap, TransactionNaming};
use std::sync::{Arc, Mutex, PoisonError};

/// The link towards the hub; the leaves' links follow in order.
const TRUNK: usize = 0;

/// How a message finds its link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SwitchTable {
    /// By CacheID: the hub is the host, a leaf is a caching device.
    CacheId(Box<CacheRoutes>),
    /// By ports of a fabric: the link of each port, as a destination routing table has it (`fabric` DRT-1).
    Ports(Arc<OrderedMap<u16, usize>>),
}

impl SwitchTable {
    /// By ports of a fabric, one for each link, the trunk's first.
    pub fn of_ports(ports: &[u16]) -> SwitchTable {
        SwitchTable::Ports(Arc::new(ports.iter().enumerate().map(|(link, port)| (*port, link)).collect()))
    }

    /// The link on which a message of link `from` goes on, and as what; `None`: it is discarded.
    pub fn way(
        &self,
        config: &CoherenceConfig,
        from: usize,
        message: Message,
        events: &mut Vec<CoherenceEvent>,
    ) -> Option<(usize, Message)> {
        match self {
            SwitchTable::CacheId(routes) if from == TRUNK => {
                let (device, passed) = routes.down(config, message).ok()?;
                events.extend(routes.foreign(message));
                Some((device + 1, passed))
            }
            SwitchTable::CacheId(routes) => routes.up(from - 1, message).ok().map(|message| (TRUNK, message)),
            SwitchTable::Ports(ports) => {
                ports.get(&message.route().dpid).filter(|to| **to != from).map(|to| (*to, message))
            }
        }
    }
}

/// What a switch has counted.
#[derive(Debug, Clone, Default)]
pub struct FabricSwitchResult {
    /// Messages handed on.
    pub forwarded: u64,
    /// Messages without a way.
    pub discarded: u64,
    /// Broken rules.
    pub events: Vec<CoherenceEvent>,
}

/// The module.
pub struct Switch {
    links: Vec<Linked>,
    table: SwitchTable,
    config: CoherenceConfig,
    tap: Tap,
    /// The link that is served first.
    turn: usize,
    busy_since: Option<Time>,
    shared: Arc<Mutex<FabricSwitchResult>>,
    result: FabricSwitchResult,
}

impl Switch {
    /// A switch whose first link leads to the hub; what it has counted is in `shared` when the run is looked at.
    pub fn new(
        links: Vec<NodeLink>,
        table: SwitchTable,
        config: CoherenceConfig,
        tap: Tap,
        shared: Arc<Mutex<FabricSwitchResult>>,
    ) -> Switch {
        let links = links.into_iter().map(Linked::new).collect();
        let result = FabricSwitchResult::default();
        Switch { links, table, config, tap, turn: 0, busy_since: None, shared, result }
    }

    /// Hands the first message of a class on if it has room; whether there was one.
    fn hand_on(&mut self, from: usize, place: usize, cx: &mut Cx, at: Stamp) -> bool {
        let Some(message) = self.links[from].offered(place, cx) else { return false };
        let class = self.links[from].link.rx[place].0;
        let way = self.table.way(&self.config, from, message, &mut self.result.events);
        if let Some((to, changed)) = way {
            if self.links[to].full().any(|full| full == class) {
                return true;
            }
            // As it is on the trunk, whose messages have all identifiers.
            let on_trunk = if from == TRUNK { message } else { changed };
            let of_link = |n: usize, message: &Message| part(self.links[n].link.link, self.links[n].link.form, message);
            let (part, handle) = of_link(TRUNK, &on_trunk);
            let named = match part {
                TransactionPart::Request | TransactionPart::Snoop | TransactionPart::Conflict => {
                    TransactionNaming::Through(of_link(from, &message).1, of_link(to, &changed).1)
                }
                TransactionPart::Answer | TransactionPart::SnoopAnswer => TransactionNaming::By(handle),
            };
            let form = self.links[TRUNK].link.form;
            self.tap.named(named, at, RecordKind::Mark, 0, 0, || shown(&on_trunk, form));
            self.links[to].post(class, changed);
            self.result.forwarded += 1;
        } else {
            self.result.discarded += 1;
        }
        self.links[from].take(place, cx);
        cx.progress();
        true
    }

    fn queued(&self) -> usize {
        self.links.iter().map(Linked::queued).sum()
    }
}

impl Module for Switch {
    fn eval(&mut self, cx: &mut Cx) -> Next {
        let at = Stamp { t_fs: cx.now().as_fs(), cycle: cx.cycle() };
        let (count, turn) = (self.links.len(), self.turn);
        let mut busy = false;
        for from in (0..count).map(|n| (turn + n) % count) {
            for place in 0..self.links[from].link.rx.len() {
                busy |= self.hand_on(from, place, cx, at);
            }
        }
        if busy {
            self.turn = (turn + 1) % count;
        }
        // What is still queued waits for room, which wakes the switch.
        let mut moved = false;
        for link in &mut self.links {
            moved |= link.flush(cx);
        }
        self.busy_since = if self.queued() > 0 { self.busy_since.or(Some(cx.now())) } else { None };
        Next::busy_if(busy || moved)
    }

    fn idle_ok(&self) -> Result<(), Pending> {
        match self.queued() {
            0 => Ok(()),
            queued => Err(Pending::new(format!("{queued} messages to send"), self.busy_since.unwrap_or(Time::ZERO))),
        }
    }
    fn publish(&self) {
        *self.shared.lock().unwrap_or_else(PoisonError::into_inner) = self.result.clone();
    }
}
