//! A coherent agent between its description and its module.

use super::figures::{Figures, figures, waits};
use crate::coherence::{AgentEnd, Seat, recorded};
use crate::kind::{ComponentNode, ComponentPlug, Site, SitePort};
use scalepool_coherence::clocked::core::AnyCore;
use scalepool_coherence::clocked::making::Clocked;
use scalepool_coherence::clocked::node::{AgentWatch, NodeConfig, NodeResult, Reduction};
use scalepool_coherence::clocked::waiting::WaitTable;
use scalepool_kernel::{BuildError, ClockId, PartitionBuilder};
use scalepool_nodes::cxl::coherent::wiring::NodeEnds;
use scalepool_protocols::cxl::message::MessageForm;
use scalepool_protocols::cxl::message::PeerRoute;
use scalepool_trace::Tap;
use std::sync::{Arc, Mutex};

/// A link of an agent: the ways to the peers behind it, how it spells messages, and its numbers in the log and in traces.
struct AgentLink {
    routes: Vec<PeerRoute>,
    form: MessageForm,
    number: (u16, u32),
}

/// Makes the watch of an agent for the domains of its ports; `None`: none of them is watched.
type MakeWatch<A> = fn(&[Seat]) -> Option<Box<dyn AgentWatch<A>>>;

/// An agent that is to become a module.
pub(in crate::kinds) struct Described<A> {
    /// Name of the module.
    pub name: String,
    /// The agent.
    pub agent: A,
    /// The core in front of it.
    pub core: AnyCore<A>,
    /// Times in which its throughput is reduced.
    pub reductions: Vec<Reduction>,
    /// Which class of messages waits for which.
    pub waits: WaitTable,
    /// Makes the watch of the agent for the domains of its ports.
    pub watch: MakeWatch<A>,
    /// Messages.
    pub tap: Tap,
}

/// The watch of an agent in one domain.
pub(super) fn one_watch<A: Clocked>(seats: &[Seat]) -> Option<Box<dyn AgentWatch<A>>> {
    seats[0].domain.watch()
}

/// Puts an agent into a partition.
pub(in crate::kinds) type PlaceAgent =
    Box<dyn FnOnce(&mut PartitionBuilder, ClockId, Vec<NodeEnds>) -> Result<(), BuildError> + Send>;

/// An agent that is ready to be built.
pub(in crate::kinds) struct Ready {
    /// Name of its module.
    pub name: String,
    /// Puts it into a partition.
    pub place: PlaceAgent,
    /// Gives its figures, whenever the run is looked at.
    pub figures: Box<dyn Fn() -> Figures>,
    /// Number of its ports.
    ports: usize,
}

impl<A: Clocked> Described<A> {
    /// An agent with a core: followed in the domain of its first port, with the wait table that every holder has.
    pub fn with_core(name: String, agent: A, core: AnyCore<A>, tap: Tap) -> Self {
        let (reductions, waits) = (Vec::new(), WaitTable::default());
        Described { name, agent, core, reductions, waits, watch: one_watch, tap }
    }

    /// The home of the lines of a domain; its ports lead to holders, but for one behind which its memory may be.
    pub fn home(self, ports: &[SitePort], is_host: bool) -> Ready {
        let domain = ports[0].seat().domain.clone();
        let end = AgentEnd { is_home: true, is_host };
        let link = |port: &SitePort| {
            let (form, port_ids) = port.link.cxl();
            let Some(seat) = &port.seat else {
                let [spid, dpid] = port_ids;
                let routes = vec![PeerRoute { spid, dpid, ..PeerRoute::default() }];
                return AgentLink { routes, form, number: (domain.memory_link_number(), port.number) };
            };
            let routes = seat.holders.clone().map(|holder| seat.route(holder, end, form, port_ids)).collect();
            AgentLink { routes, form, number: (seat.link_number(), port.number) }
        };
        let links = ports.iter().map(link).collect();
        self.ready(0, vec![ports[0].seat().clone()], links)
    }

    /// A holder of lines: each of its ports leads to another home.
    pub fn holder(self, ports: &[SitePort], is_host: bool) -> Ready {
        let end = AgentEnd { is_home: false, is_host };
        let link = |port: &SitePort| {
            let (form, port_ids) = port.link.cxl();
            let seat = port.seat();
            let route = seat.route(seat.holders.start, end, form, port_ids);
            AgentLink { routes: vec![route], form, number: (seat.link_number(), port.number) }
        };
        let links = ports.iter().map(link).collect();
        let seats: Vec<Seat> = ports.iter().map(|port| port.seat().clone()).collect();
        self.ready(seats[0].holders.start + 1, seats, links)
    }

    /// `number`: 0 for the home, n + 1 for holder n.
    fn ready(self, number: usize, seats: Vec<Seat>, links: Vec<AgentLink>) -> Ready {
        let Described { name, agent, core, reductions, waits: table, watch, tap } = self;
        let result: Arc<Mutex<NodeResult>> = Arc::default();
        if let Some(holder) = number.checked_sub(1) {
            for seat in &seats {
                let result = result.clone();
                seat.domain.add_waiting(holder, Box::new(move || waits(&result)));
            }
        }
        let (module, shared, ports) = (name.clone(), result.clone(), links.len());
        let place = move |p: &mut PartitionBuilder, clock: ClockId, ends: Vec<NodeEnds>| {
            let mut config = seats[0].domain.config().clone();
            config.waits = table;
            let watch = recorded(watch(&seats), number, &seats);
            p.module(&module, clock, |bind| {
                let attach = |(link, end): (AgentLink, NodeEnds)| end.attach(bind, link.routes, link.form, link.number);
                let links = links.into_iter().zip(ends).map(attach).collect();
                A::node(NodeConfig { number, agent, core, config, reductions, links, tap, shown: None, watch }, shared)
            })
        };
        Ready { name, place: Box::new(place), figures: Box::new(move || figures(&result)), ports }
    }
}

/// A component of agents, in the order of its ports; `is_poisoning`: stores of its cores are poisoned.
pub(super) fn component(agents: Vec<Ready>, site: &Site<'_>, is_poisoning: bool) -> ComponentNode {
    let (mut places, mut reads) = (Vec::new(), Vec::new());
    for Ready { name, place, figures, ports } in agents {
        places.push((place, ports));
        reads.push((name, figures));
    }
    let period = site.clock.period();
    ComponentNode {
        place: Box::new(move |p, clock, plugs| {
            let mut ends = plugs.into_iter().map(ComponentPlug::coherent);
            places.into_iter().try_for_each(|(place, ports)| place(p, clock, ends.by_ref().take(ports).collect()))
        }),
        measure: Box::new(move || {
            let figures: Vec<_> = reads.iter().map(|(name, read)| (name.as_str(), read())).collect();
            super::figures::measured(&figures, period, is_poisoning)
        }),
        digest: Vec::new(),
        ledger: None,
    }
}
