//! Stars: hubs that own the lines, each with its leaves that cache them, a link from every leaf to its hub.
//!
//! Under CXL.cache the hub is the home agent of the host and a leaf is a device; under HDM-DB and HDM-D the hub is the
//! device and a leaf is a host, or an accelerator that reaches the device as a direct peer. Every leaf has a core; a hub
//! has one if its agent caches lines too. Lines of different hubs have nothing to do with one another, so each hub has a
//! watcher of its own. Instead of a link from every leaf to its hub there may be a switch in between, whose one link to
//! the hub carries the messages of all.

use super::build::{Links, Wants};
use super::crossing::{Crossing, TARGET, Target, by_ports, switched_routes};
use super::links::Kind;
use super::outcome::{Outcome, STALL_LIMIT_FS, Switched, Watching, locked, measured};
use super::stimulus;
use scalepool_nodes::cxl::coherent::wiring::NodeEnds;
use crate::drive::{Built, Ended, identity};
use crate::faults::faults;
use crate::settings::Settings;
use crate::{Request, RunError};
use scalepool_coherence::agent::Agent;
use scalepool_coherence::bias::BiasDevice;
use scalepool_coherence::cache::home::Home;
use scalepool_coherence::cache::route::Routes;
use scalepool_coherence::chart::Chart;
use scalepool_coherence::clocked::accessor::{Access, Accessor, Caching, Measured};
use scalepool_coherence::clocked::cache::Sparse;
use scalepool_coherence::clocked::core::{Core, NoCore};
use scalepool_coherence::clocked::node::{Node, NodeConfig, NodeResult, Reduction, Watch};
use scalepool_coherence::clocked::peer::{DIRECT, Divided};
use scalepool_coherence::clocked::program::Program;
use scalepool_coherence::clocked::sequence::{Extent, Recorded, Sequence};
use scalepool_coherence::clocked::switch::{SwitchResult, Table};
use scalepool_coherence::clocked::uio::UioPeer;
use scalepool_coherence::clocked::waiting::WaitTable;
use scalepool_coherence::clocked::watcher::{Handle, Watched, Watcher};
use scalepool_coherence::config::CoherenceConfig;
use scalepool_coherence::content::{self, LineAddr};
use scalepool_coherence::mem::dcoh::Dcoh;
use scalepool_coherence::mem::load::Steps;
use scalepool_coherence::wire::{Route, layouts, peer_layouts};
use scalepool_kernel::{Clock, SimError, Simulation};
use scalepool_protocols::cxl::message::Form;
use scalepool_trace::{Hub, PlaceKind};
use std::sync::{Arc, Mutex};

/// What may stand in front of a hub.
pub(super) trait HubCore<H>: Core<H> + Clone + Send + 'static {
    /// It does a part of the stimulus.
    const ACTS: bool;
    /// What it has measured.
    fn measured(&self) -> Option<Measured>;
    /// Accesses that it saw aborted.
    fn aborts(&self) -> u64 {
        0
    }
}

impl<H> HubCore<H> for NoCore {
    const ACTS: bool = false;

    fn measured(&self) -> Option<Measured> {
        None
    }
}

impl HubCore<Dcoh<content::Line>> for UioPeer {
    const ACTS: bool = false;

    fn measured(&self) -> Option<Measured> {
        Some(self.measured.clone())
    }

    fn aborts(&self) -> u64 {
        self.aborts
    }
}

impl<H: Caching> HubCore<H> for Accessor {
    const ACTS: bool = true;

    fn measured(&self) -> Option<Measured> {
        Some(self.measured.clone())
    }
}

/// An agent that can be a hub.
pub(super) trait HubAgent: Agent<content::Line> + Watched + Clone + Send + 'static {
    /// Its core.
    type Core: HubCore<Self>;
}

impl HubAgent for Home<content::Line, Sparse> {
    type Core = NoCore;
}

impl HubAgent for Dcoh<content::Line> {
    type Core = UioPeer;
}

impl HubAgent for BiasDevice<content::Line> {
    type Core = Accessor;
}

/// Where a node leaves its result.
type Ends<A, C> = Arc<Mutex<NodeResult<A, C>>>;

/// Name of a leaf by its hub and its number there.
pub(super) type LeafName = Arc<dyn Fn(usize, usize) -> String + Send + Sync>;

/// Makes the core of a hub by its number.
pub(super) type HubCores<H> = Box<dyn Fn(usize, Program<Access>, usize, usize) -> <H as HubAgent>::Core + Send>;

/// A star, or several.
pub(super) struct Star<L, H: HubAgent> {
    /// Number of hubs.
    pub hubs: usize,
    /// Leaves of each hub.
    pub leaves: usize,
    /// Those of them, the last ones, that are devices and reach the hub as direct peers.
    pub peers: usize,
    /// The host is at the hub's end of a link.
    pub host_is_hub: bool,
    /// Name of a hub.
    pub hub_name: fn(usize) -> String,
    /// Name of a leaf: hub, leaf.
    pub leaf_name: LeafName,
    /// Makes a hub.
    pub hub: fn(&CoherenceConfig, usize) -> H,
    /// Makes the core of a hub, with its part of the stimulus, its window and the lines of its cache.
    pub hub_core: HubCores<H>,
    /// Makes a leaf.
    pub leaf: fn(usize) -> L,
    /// Choices.
    pub config: CoherenceConfig,
    /// Times in which the throughput of the hubs is reduced.
    pub reductions: Vec<Reduction>,
    /// How leaves heed DevLoad.
    pub throttle: Option<Steps>,
    /// The link of a leaf.
    pub link: Box<dyn Kind>,
    /// A switch between a hub and its leaves.
    pub switch: Option<Trunk>,
    /// Links to one more device, whose memory the leaves of the only hub use directly.
    pub target: Option<Box<dyn Kind>>,
}

/// A switch and its link to the hub.
pub(super) struct Trunk {
    /// The link.
    pub link: Box<dyn Kind>,
    /// CacheID below a host; `None`: by ports of a fabric.
    pub cache_ids: Option<Routes>,
}

/// Both routes of link `index` between a leaf and its hub: of the hub, of the leaf.
fn direct(index: usize, form: Form, host_is_hub: bool) -> [Route; 2] {
    // The host is port 1, device n is 2 + n.
    let route = |host_side: bool| {
        let device = 2 + index as u16;
        let (spid, dpid) = match form {
            Form::Pbr if host_side => (1, device),
            Form::Pbr => (device, 1),
            _ => (0, 0),
        };
        Route { cache_id: index as u8, ld_id: 0, bi_id: index as u16, spid, dpid }
    };
    [route(host_is_hub), route(!host_is_hub)]
}

/// What a chart shall show.
fn extent(request: &Request) -> Extent {
    let outputs = &request.outputs;
    Extent {
        from_fs: outputs.from_fs.unwrap_or(0),
        to_fs: outputs.to_fs,
        line: outputs.chart_line.map(LineAddr::of_address),
    }
}

/// The watch of a node, which writes its messages down if there is a chart to draw.
fn recorded<A: 'static>(
    watch: Option<Box<dyn Watch<A>>>,
    sequence: &Option<Arc<Mutex<Sequence>>>,
    column: usize,
    peers: Vec<usize>,
) -> Option<Box<dyn Watch<A>>> {
    match sequence {
        Some(sequence) => Some(Box::new(Recorded { watch, sequence: sequence.clone(), column, peers })),
        None => watch,
    }
}

impl<L, H: HubAgent> Star<L, H> {
    /// Columns of a chart: the hubs, then the leaves.
    fn columns(&self) -> Vec<String> {
        let hubs = (0..self.hubs).map(self.hub_name);
        let leaves = (0..self.hubs * self.leaves).map(|n| (self.leaf_name)(n / self.leaves, n % self.leaves));
        hubs.chain(leaves).chain(self.target.is_some().then(|| TARGET.to_owned())).collect()
    }

    /// Positions of the hub and of the leaf at a link between them: the one that sends down is first.
    fn sides(&self) -> (usize, usize) {
        if self.host_is_hub { (0, 1) } else { (1, 0) }
    }

    /// Places of the ports of the leaf's link `index`.
    fn leaf_places(&self, index: usize) -> [String; 2] {
        let (hub, leaf) = (index / self.leaves, index % self.leaves);
        if self.switch.is_none() {
            return [format!("host.port[{index}]"), format!("dev[{index}].link")];
        }
        let mut places = [format!("switch[{hub}].port[{leaf}]"), format!("{}.link", (self.leaf_name)(hub, leaf))];
        if self.sides().0 == 1 {
            places.reverse();
        }
        places
    }

    /// Places of the ports of a hub's link to its switch.
    fn trunk_places(&self, hub: usize) -> [String; 2] {
        let mut places = [format!("{}.link", (self.hub_name)(hub)), format!("switch[{hub}].trunk")];
        if self.sides().0 == 1 {
            places.reverse();
        }
        places
    }

    /// How the switch of a hub finds its ways.
    fn table(&self, hub: usize, trunk: &Trunk) -> Table {
        match &trunk.cache_ids {
            Some(routes) => Table::CacheId(Box::new(routes.clone())),
            None => by_ports(hub, self.leaves),
        }
    }
}

impl<L, H> Star<L, H>
where
    L: Agent<content::Line> + Caching + Watched + Clone + Send + 'static,
    H: HubAgent,
{
    /// Builds it.
    ///
    /// # Errors
    /// Anything that keeps it from running.
    pub fn build(self, request: &Request, settings: &Settings) -> Result<Built, RunError> {
        let build_error = |e| RunError::Build(SimError::Build(e));
        let spec = self.link.spec();
        let faults = faults(settings, spec.unit_bytes)?;
        let mut hub = Hub::default();
        let mut sim = Simulation::new(request.seed);
        let agent_clock = Clock::with_period_fs(settings.int("host.clock_fs")).map_err(build_error)?;
        let shown = if self.target.is_some() { peer_layouts(spec.form) } else { layouts(spec.form) };

        let trunk_form = self.switch.as_ref().map_or(spec.form, |trunk| trunk.link.spec().form);
        let hub_taps: Vec<_> =
            (0..self.hubs).map(|n| hub.tap(&(self.hub_name)(n), PlaceKind::Messages(layouts(trunk_form)))).collect();
        let mut leaf_taps = Vec::new();
        let (mut links, mut all) = (Vec::new(), Links::default());
        for index in 0..self.hubs * self.leaves {
            let (at, leaf) = (index / self.leaves, index % self.leaves);
            leaf_taps.push(hub.tap(&(self.leaf_name)(at, leaf), PlaceKind::Messages(shown)));
            let faults = if index == 0 { faults.clone() } else { Default::default() };
            let wants = Wants { index, places: self.leaf_places(index), faults, settings };
            links.push(all.add(self.link.strand(&mut sim, &mut hub, wants).map_err(build_error)?));
        }
        let mut switches = Vec::new();
        for n in (0..self.hubs).filter(|_| self.switch.is_some()) {
            let Some(trunk) = &self.switch else { continue };
            let index = self.hubs * self.leaves + n;
            let name = format!("switch[{n}]");
            let tap = hub.tap(&name, PlaceKind::Messages(layouts(trunk_form)));
            let wants = Wants { index, places: self.trunk_places(n), faults: Default::default(), settings };
            let trunk_link = all.add(trunk.link.strand(&mut sim, &mut hub, wants).map_err(build_error)?);
            let (form, table, result) = (trunk_form, self.table(n, trunk), Arc::<Mutex<SwitchResult>>::default());
            switches.push(Crossing { name, trunk: trunk_link, form, table, tap, result });
        }
        let first = self.hubs * self.leaves + switches.len();
        let target = self
            .target
            .as_deref()
            .map(|link| Target::new(link, self.leaves, first, &mut all, &mut sim, &mut hub, settings));
        let (mut target, target_results) = target.transpose().map_err(build_error)?.unzip();
        let Links { summaries, ports } = all;
        let switch_results: Vec<_> = switches.iter().map(|crossing| crossing.result.clone()).collect();
        let hub_results: Vec<Ends<H, H::Core>> = (0..self.hubs).map(|_| Arc::default()).collect();
        let leaf_results: Vec<Ends<L, Accessor>> = (0..self.hubs * self.leaves).map(|_| Arc::default()).collect();

        let names_of = |hub: usize| {
            let own = <H::Core as HubCore<H>>::ACTS.then(|| (self.hub_name)(hub));
            own.into_iter().chain((0..self.leaves).map(|leaf| (self.leaf_name)(hub, leaf))).collect()
        };
        let programs = stimulus::programs(request, settings, (0..self.hubs).map(names_of).collect())?;
        let (mut lists, digest) = (programs.lists, programs.digest);
        if target.is_some() {
            // Odd lines are those of the other device.
            let divided = |line: LineAddr| if line.0 % 2 == 1 { LineAddr(line.0 | DIRECT.0) } else { line };
            for list in lists.iter_mut().flatten() {
                let whole = std::mem::take(list);
                *list = Program::new(whole.map(move |access| Access { line: divided(access.line), ..access }));
            }
        }
        let (window, cache_lines) =
            (settings.int("core.outstanding") as usize, settings.int("core.cache_lines") as usize);
        let poison_every = settings.int("core.poison_every");
        let watch = settings.is_on("watch");
        let sequence = request.outputs.chart.is_some().then(|| Sequence::new(self.columns(), extent(request)));
        let recorder = sequence.clone();
        let (at_hub, at_leaf) = self.sides();
        let names = (self.hub_name, self.leaf_name.clone());
        let results = (hub_results.clone(), leaf_results.clone());
        let target_column = self.hubs + self.hubs * self.leaves;
        sim.partition(move |p| {
            let core = p.clock("agents", agent_clock)?;
            let mut links = links.into_iter().zip(leaf_taps).zip(results.1).enumerate();
            let mut switches = switches.into_iter();
            let hubs = hub_taps.into_iter().zip(results.0).zip(lists).enumerate();
            for (n, ((tap, result), lists)) in hubs {
                let mut lists = lists.into_iter();
                let hub_list = if <H::Core as HubCore<H>>::ACTS { lists.next() } else { None };
                let hub_core = (self.hub_core)(n, hub_list.unwrap_or_default(), window, cache_lines);
                let name = (self.hub_name)(n);
                let all = std::iter::once(name.clone()).chain((0..self.leaves).map(|l| (self.leaf_name)(n, l)));
                let watcher = watch.then(|| Watcher::new(self.config.clone(), all.collect()));
                // The other device has its own.
                let names = std::iter::once(TARGET.to_owned()).chain((0..self.leaves).map(|l| (self.leaf_name)(n, l)));
                let direct_watcher =
                    target.as_ref().and_then(|_| watch.then(|| Watcher::new(self.config.clone(), names.collect())));
                let switched = switches.next();
                let (mut ends, mut target_ends) = (Vec::new(), Vec::new());
                for (index, ((build, tap), result)) in links.by_ref().take(self.leaves) {
                    let leaf = index % self.leaves;
                    let leaf_name = (self.leaf_name)(n, leaf);
                    let mut nodes = build(p)?.map(Some);
                    let own = nodes[at_leaf].take().expect("each end is used once");
                    let [at_hub_route, route] = match (&switched, spec.form) {
                        (None, form) => direct(index, form, self.host_is_hub),
                        (Some(_), _) => switched_routes(n, leaf),
                    };
                    ends.extend(nodes[at_hub].take().map(|end| (at_hub_route, end)));
                    let list = lists.next().unwrap_or_default();
                    let mut accessor = Accessor::new(list, window, cache_lines).poisoning(poison_every);
                    if let Some(steps) = self.throttle {
                        accessor = accessor.heeding(steps);
                    }
                    let mut watch = watcher.clone().map(|w| Box::new(Handle(w)) as Box<dyn Watch<L>>);
                    if let (Some(direct), Some(cache)) =
                        (direct_watcher.clone(), watch.take_if(|_| direct_watcher.is_some()))
                    {
                        watch = Some(Box::new(Divided { cache: Some(cache), mem: Some(Box::new(Handle(direct))) }));
                    }
                    let watch = recorded(watch, &recorder, self.hubs + index, vec![n, target_column]);
                    let mut second = None;
                    if let Some(target) = &mut target {
                        let (own, end) = target.link(p, leaf)?;
                        second = Some(own);
                        target_ends.push(end);
                    }
                    let mut config = self.config.clone();
                    if leaf + self.peers >= self.leaves {
                        config.waits = WaitTable::peer();
                    }
                    let agent = (self.leaf)(leaf);
                    p.module(&leaf_name, core, |bind| {
                        let mut links = vec![own.attach(bind, vec![route], spec.form, route.bi_id)];
                        links.extend(second.map(|(end, form, route)| end.attach(bind, vec![route], form, route.bi_id)));
                        Node::new(
                            NodeConfig {
                                number: leaf + 1,
                                agent,
                                core: accessor,
                                config,
                                reductions: Vec::new(),
                                links,
                                tap,
                                watch,
                            },
                            result,
                        )
                    })?;
                }
                let watch = watcher.map(|w| Box::new(Handle(w)) as Box<dyn Watch<H>>);
                let peers = (0..self.leaves).map(|leaf| self.hubs + n * self.leaves + leaf).collect();
                let watch = recorded(watch, &recorder, n, peers);
                let agent = (self.hub)(&self.config, self.leaves);
                let config = self.config.clone();
                let reductions = self.reductions.clone();
                let (mut trunk, mut hub_routes) = (None, Vec::new());
                if let Some(crossing) = switched {
                    let (routes, leaves) = std::mem::take(&mut ends).into_iter().unzip();
                    trunk = Some(crossing.build(p, core, at_hub, leaves, spec.form, config.clone())?);
                    hub_routes = routes;
                }
                p.module(&name, core, |bind| {
                    let links = match trunk {
                        Some(trunk) => vec![trunk.attach(bind, hub_routes, trunk_form, n as u16)],
                        None => {
                            let own = |(route, end): (Route, NodeEnds)| end.attach(bind, vec![route], spec.form, route.bi_id);
                            ends.into_iter().map(own).collect()
                        }
                    };
                    Node::new(
                        NodeConfig { number: 0, agent, core: hub_core, config, reductions, links, tap, watch },
                        result,
                    )
                })?;
                if let Some(target) = target.take() {
                    let watch = direct_watcher.map(|w| Box::new(Handle(w)) as Box<dyn Watch<Dcoh<content::Line>>>);
                    let peers = (0..self.leaves).map(|leaf| self.hubs + leaf).collect();
                    let watch = recorded(watch, &recorder, target_column, peers);
                    target.build(p, core, std::mem::take(&mut target_ends), self.config.clone(), watch)?;
                }
            }
            Ok(())
        });

        let (hubs, leaves) = (self.hubs, self.leaves);
        let drawn = sequence.clone();
        let of_report = settings.clone();
        let report = move |request: &Request, ended: Ended| {
            let settings = &of_report;
            let of_hubs = hub_results.iter().enumerate().map(|(n, r)| Watching::of(&names.0(n), r));
            let name = |n: usize| (names.1)(n / leaves, n % leaves);
            let of_leaves = leaf_results.iter().enumerate().map(|(n, r)| Watching::of(&name(n), r));
            let of_target = target_results.iter().map(|t| Watching::of(TARGET, &t.node));
            let nodes: Vec<_> = of_hubs.chain(of_leaves).chain(of_target).collect();
            let of_switch = |(n, result): (usize, &Arc<Mutex<SwitchResult>>)| {
                let leaves = &nodes[hubs + n * leaves..][..leaves];
                let waiting: Vec<_> = (0..leaves.len()).filter(|leaf| leaves[*leaf].waits).collect();
                locked(result, |r| Switched::of(&format!("switch[{n}]"), r, &waiting))
            };
            let of_fabric = target_results.iter().map(|t| locked(&t.switch, |r| Switched::of("fabric", r, &[])));
            let switches = switch_results.iter().enumerate().map(of_switch).chain(of_fabric).collect();
            let of_hubs = hub_results.iter().filter_map(|r| measured(r, HubCore::measured));
            let of_leaves = leaf_results.iter().filter_map(|r| measured(r, |core| Some(core.measured.clone())));
            let measured = of_hubs.chain(of_leaves).collect();
            let aborts =
                hub_results.iter().map(|r| locked(r, |r| r.end.as_ref().map_or(0, |(_, core)| core.aborts()))).sum();
            let ports = summaries.iter().flat_map(|summary| summary()).collect();
            let outcome = Outcome { request, settings, spec, ports, nodes, switches, measured, aborts };
            let mut report = outcome.report(ended)?;
            if drawn.as_deref().is_some_and(|s| locked(s, |s| s.is_empty())) {
                let line = request.outputs.chart_line.map_or(String::new(), |a| format!(" of the line of {a:#x}"));
                report.remarks.push(format!("the chart is empty: no message{line} in its window"));
            }
            Ok(report)
        };
        let chart = sequence.map(|s| Box::new(move || locked(&s, Sequence::chart)) as Box<dyn Fn() -> Chart>);
        Ok(Built {
            sim,
            hub,
            identity: identity(request, settings),
            ber: settings.real("link.ber"),
            clock_fs: settings.int("host.clock_fs"),
            stall_limit_fs: STALL_LIMIT_FS,
            stimulus: digest.to_vec(),
            ports,
            report: Box::new(report),
            chart,
        })
    }
}
