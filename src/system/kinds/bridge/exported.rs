//! The home of memory of accelerators that a bridge keeps coherent, as a description gives it, see [`scalepool_bridge::inbound::exported`].
//!
//! Modelled: ports at which lines are held, the filter, recalls, the latency of the directory; the home asks the inbound half by two
//! channels, one for reads and one for writes; links that are lost ([`losses`](super::losses)). Left out: a bridge as a device with logical devices. A walk through one description: the
//! ports of the home are followed to those that hold its lines, each of which is told apart by its SPID, or by its port alone; windows of
//! class DB and their rights are the home's.

use super::hairpin::HomeChannels;
use crate::coherence::{AgentEnd, LineOwner, MOST_FABRIC_HOLDERS, Seat, recorded};
use crate::field::{FieldRange, config};
use crate::kind::{CoherenceProtocol, ConfigFinding, CxlSide, PortDecl, PortRole, Site, SitePort};
use crate::kinds::cxl_coherent::figures::{figures, measured};
use crate::kinds::cxl_coherent::hdm_db_device::LINKS;
use crate::measured::ComponentMeasured;
use crate::quantity::Unit;
use scalepool_bridge::inbound::exported::ExportedHome;
use scalepool_bridge::window::{BridgeWindows, InboundClass};
use scalepool_coherence::clocked::core::NoCore;
use scalepool_coherence::clocked::linked::{NodeLink, Numbered};
use scalepool_coherence::clocked::node::{AgentNode, NodeConfig, NodeResult};
use scalepool_coherence::clocked::outages::LinkOutage;
use scalepool_coherence::config::CoherenceConfig;
use scalepool_coherence::mem::options::MemConfig;
use scalepool_coherence::message::Class;
use scalepool_kernel::{BuildError, ClockId, InEnd, OutEnd, PartitionBuilder};
use scalepool_nodes::cxl::coherent::wiring::NodeEnds;
use scalepool_nodes::cxl::memory::shown_form;
use scalepool_protocols::cxl::message::{Message, MessageForm, PeerRoute};
use scalepool_trace::{Hub, PlaceKind, Tap};
use std::sync::{Arc, Mutex, PoisonError};

/// How the home spells what it asks the inbound half.
pub const HOME_FORM: MessageForm = MessageForm::Hbr;

/// Messages between the home and the inbound half in each channel.
const CHANNEL_MESSAGES: u32 = 32;

config! {
    /// How lines are kept coherent.
    pub struct HomeFields {
        filter_entries: usize = "65_536" [Unit::Of("lines")] in FieldRange::Int(1, 1 << 20), "lines that may be held at a time, a multiple of filter_ways; for one more, another one is taken back; with few of them beside many requests, those that wait for one may time out in the bridges that ask (bridge §5.1)";
        filter_ways: usize = "16" [Unit::Of("lines")] in FieldRange::Int(1, 1 << 10), "lines of a set of the filter (bridge §5.1)";
        recalls: usize = "64" [Unit::Of("snoops")] in FieldRange::Int(1, 4096), "open back-invalidate snoops, at least one for each holder (bridge §7)";
        directory_cycles: u32 = "3" [Unit::Of("cycles")] in FieldRange::Int(2, 1 << 20), "the record of a line is looked up and changed (bridge §11)";
        watch: bool = "on" [Unit::Of("-")] in FieldRange::Switch, "check the invariants V1 to V4 after every step (coherence §4)";
    }
}

/// One channel by which the home asks the inbound half.
pub struct HomeAsks {
    /// What it asks.
    pub rx: InEnd<Numbered>,
    /// Answers.
    pub tx: OutEnd<Message>,
    /// Number of the channel among links, for traces.
    pub link: u32,
}

impl HomeFields {
    /// So many ports at which lines are held.
    pub fn ports(count: usize) -> PortDecl {
        let role = PortRole::Coherent(CoherenceProtocol::HdmDb, CxlSide::Device);
        PortDecl { name: "home", len: Some(count), links: LINKS, role }
    }

    /// Fields that do not go together.
    pub fn check(&self) -> Option<ConfigFinding> {
        let HomeFields { filter_entries, filter_ways, .. } = *self;
        let text = || {
            let text =
                format!("found filter_entries = {filter_entries} and filter_ways = {filter_ways}, expected whole sets");
            ("home", text)
        };
        (!filter_entries.is_multiple_of(filter_ways)).then(text)
    }

    /// What the bridge is to those that hold its lines; accelerators of its own cluster may ask for them too.
    pub fn owner(&self, path: &str, has_hairpin: bool) -> LineOwner {
        let mem = MemConfig {
            filter_sets: (self.filter_entries / self.filter_ways).max(1),
            filter_ways: self.filter_ways,
            trackers: self.recalls,
            ..MemConfig::default()
        };
        LineOwner {
            name: format!("{path}.home"),
            config: CoherenceConfig { mem, ..CoherenceConfig::default() },
            watch: self.watch,
            acts: false,
            most_holders: MOST_FABRIC_HOLDERS,
            requester: has_hairpin.then(|| format!("{path}.hairpin")),
        }
    }

    /// Makes the home ready to be built; `ports` are its ports.
    pub fn elaborate(
        &self,
        (windows, has_hairpin): (&BridgeWindows<InboundClass>, bool),
        ports: &[SitePort],
        site: &Site<'_>,
        hub: &mut Hub,
    ) -> HomePart {
        let name = format!("{}.home", site.path);
        let end = AgentEnd { is_home: true, is_host: false };
        let link = |port: &SitePort| {
            let ((form, port_ids), seat) = (port.link.cxl(), port.seat());
            let routes = seat.holders.clone().map(|holder| seat.route(holder, end, form, port_ids)).collect();
            (routes, form, (seat.link_number(), port.number))
        };
        let links: Vec<(Vec<PeerRoute>, MessageForm, (u16, u32))> = ports.iter().map(link).collect();
        // Where messages name no ports, who asks has the logical device to which it is bound, if any.
        let source = |form: MessageForm, route: &PeerRoute| match form {
            MessageForm::Pbr => route.dpid,
            _ => route.ld_id.into(),
        };
        let sources = links.iter().flat_map(|(routes, form, _)| routes.iter().map(|route| source(*form, route)));
        let seat = ports[0].seat().clone();
        let config = seat.domain.config();
        let new = if has_hairpin { ExportedHome::with_hairpin } else { ExportedHome::new };
        // One form spells what passes at any of its links, and what it asks the inbound half.
        let shown = shown_form(links.iter().map(|(_, form, _)| *form).chain([HOME_FORM]));
        HomePart {
            agent: new(config, Arc::new(windows.clone()), sources.collect()),
            tap: hub.tap(&name, PlaceKind::Messages(shown.layouts())),
            shown,
            name,
            // Links are numbered from 0 on.
            own_link: u32::MAX - ports[0].number,
            links,
            seat,
            directory_cycles: self.directory_cycles,
            outages: Vec::new(),
            period: site.clock.period(),
            result: Arc::default(),
        }
    }
}

/// A home that is ready to be built.
pub struct HomePart {
    name: String,
    agent: ExportedHome,
    /// Of each port the routes to those behind it, its form and its numbers.
    links: Vec<(Vec<PeerRoute>, MessageForm, (u16, u32))>,
    /// Number of its channels to the inbound half among links, for traces.
    own_link: u32,
    seat: Seat,
    directory_cycles: u32,
    /// Times in which links of its ports are down.
    outages: Vec<LinkOutage>,
    period: (u64, u64),
    tap: Tap,
    /// How it spells messages in traces.
    shown: MessageForm,
    result: Arc<Mutex<NodeResult>>,
}

impl HomePart {
    /// Gives its figures, whenever the run is looked at.
    pub fn measure(&self) -> impl Fn() -> ComponentMeasured + Send + 'static {
        let (name, result, period) = (self.name.clone(), self.result.clone(), self.period);
        move || measured(&[(name.as_str(), figures(&result))], period, false)
    }

    /// Messages that it has refused, and links that it has lost, whenever the run is looked at.
    pub fn losses(&self) -> impl Fn() -> [u64; 2] + Send + 'static {
        let result = self.result.clone();
        move || {
            let result = result.lock().unwrap_or_else(PoisonError::into_inner);
            [result.refusals, result.lost_links]
        }
    }

    /// Times in which links of its ports are down.
    pub fn set_outages(&mut self, outages: Vec<LinkOutage>) {
        self.outages = outages;
    }

    /// Puts it into a partition with its ports; the channels by which it asks the inbound half.
    ///
    /// # Errors
    /// A mistake of ours.
    pub fn place(
        self,
        p: &mut PartitionBuilder,
        clock: ClockId,
        (homes, hairpin): (Vec<NodeEnds>, Option<HomeChannels>),
    ) -> Result<[HomeAsks; 2], BuildError> {
        let HomePart { name, agent, links, own_link, seat, directory_cycles, outages, tap, shown, result, .. } = self;
        let shown = Some(shown);
        // A message takes one cycle of the directory on its way back.
        let cycles = directory_cycles - 1;
        let (read, read_rx) = p.channel::<Numbered>(&format!("{name}.reads"), CHANNEL_MESSAGES, cycles)?;
        let (write, write_rx) = p.channel::<Numbered>(&format!("{name}.writes"), CHANNEL_MESSAGES, cycles)?;
        let (line_tx, line) = p.channel::<Message>(&format!("{name}.lines"), CHANNEL_MESSAGES, 1)?;
        let (done_tx, done) = p.channel::<Message>(&format!("{name}.completions"), CHANNEL_MESSAGES, 1)?;
        let (config, memory_link) = (seat.domain.config().clone(), seat.domain.memory_link_number());
        let watch = recorded(seat.domain.watch(), 0, std::slice::from_ref(&seat));
        p.module(&name, clock, |bind| {
            let attach = |(ends, (routes, form, number)): (NodeEnds, _)| ends.attach(bind, routes, form, number);
            let mut links: Vec<NodeLink> = homes.into_iter().zip(links).map(attach).collect();
            links.extend(hairpin.map(|channels| channels.attach(bind, memory_link)));
            links.push(NodeLink {
                tells: None,
                hears: None,
                damage: None,
                rx: vec![(Class::S2mNdr, bind.attach(done).into()), (Class::S2mDrs, bind.attach(line).into())],
                tx: vec![(Class::M2sReq, bind.attach(read)), (Class::M2sRwd, bind.attach(write))],
                routes: vec![PeerRoute::default()],
                form: HOME_FORM,
                number: memory_link,
                link: own_link,
            });
            let (core, reductions) = (Box::new(NoCore), Vec::new());
            let config = NodeConfig { number: 0, agent, core, config, reductions, links, tap, shown, watch };
            AgentNode::new(config, result).losing(&outages)
        })?;
        let asks = |rx, tx| HomeAsks { rx, tx, link: own_link };
        Ok([asks(read_rx, line_tx), asks(write_rx, done_tx)])
    }
}
