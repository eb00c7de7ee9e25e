//! Stars: hubs that own the lines, each with its leaves that cache them, a link from every leaf to its hub.
//!
//! Under CXL.cache the hub is the home agent of the host and a leaf is a device; under HDM-DB and HDM-D the hub is the
//! device and a leaf is a host. Every leaf has a core; a hub has one if its agent caches lines too. Lines of different hubs have nothing to do with one another, so each hub has a watcher of its own.

use super::build::{Common, Strand, attach};
use super::links::{Counted, Line};
use super::outcome::{Outcome, STALL_LIMIT_FS, Watching, locked, measured};
use super::stimulus;
use crate::coherence::agent::Agent;
use crate::coherence::bias::BiasDevice;
use crate::coherence::cache::home::Home;
use crate::coherence::clocked::accessor::{Access, Accessor, Caching, Measured};
use crate::coherence::clocked::cache::Sparse;
use crate::coherence::clocked::core::{Core, NoCore};
use crate::coherence::clocked::node::{Node, NodeConfig, NodeResult, Watch};
use crate::coherence::clocked::sequence::{Extent, Recorded, Sequence};
use crate::coherence::clocked::watcher::{Handle, Watched, Watcher};
use crate::coherence::config::CoherenceConfig;
use crate::coherence::content::{self, LineAddr};
use crate::coherence::mem::dcoh::Dcoh;
use crate::coherence::wire::layouts;
use crate::kernel::{Clock, SimError, Simulation, Time};
use crate::scenario::drive::Drive;
use crate::scenario::faults::faults;
use crate::scenario::report::Report;
use crate::scenario::settings::Settings;
use crate::scenario::{Request, RunError};
use crate::trace::{Hub, PlaceKind};
use std::sync::{Arc, Mutex};

/// What may stand in front of a hub.
pub(super) trait HubCore<H>: Core<H> + Send + 'static {
    /// It has accesses to do.
    const ACTS: bool;
    /// A core with its accesses, its window and the lines of its cache.
    fn new(accesses: Vec<Access>, window: usize, capacity_lines: usize) -> Self;
    /// What it has measured.
    fn measured(&self) -> Option<Measured>;
}

impl<H> HubCore<H> for NoCore {
    const ACTS: bool = false;

    fn new(_: Vec<Access>, _: usize, _: usize) -> Self {
        NoCore
    }

    fn measured(&self) -> Option<Measured> {
        None
    }
}

impl<H: Caching> HubCore<H> for Accessor {
    const ACTS: bool = true;

    fn new(accesses: Vec<Access>, window: usize, capacity_lines: usize) -> Self {
        Accessor::new(accesses, window, capacity_lines)
    }

    fn measured(&self) -> Option<Measured> {
        Some(self.measured.clone())
    }
}

/// An agent that can be a hub.
pub(super) trait HubAgent: Agent<content::Line> + Watched + Send + 'static {
    /// Its core.
    type Core: HubCore<Self>;
}

impl HubAgent for Home<content::Line, Sparse> {
    type Core = NoCore;
}

impl HubAgent for Dcoh<content::Line> {
    type Core = NoCore;
}

impl HubAgent for BiasDevice<content::Line> {
    type Core = Accessor;
}

/// Where a node leaves its result.
type Ends<A, C> = Arc<Mutex<NodeResult<A, C>>>;

/// A star, or several.
pub(super) struct Star<L, H> {
    /// Number of hubs.
    pub hubs: usize,
    /// Leaves of each hub.
    pub leaves: usize,
    /// The host is at the hub's end of a link.
    pub host_is_hub: bool,
    /// Name of a hub.
    pub hub_name: fn(usize) -> String,
    /// Name of a leaf: hub, leaf.
    pub leaf_name: fn(usize, usize) -> String,
    /// Makes a hub.
    pub hub: fn(&CoherenceConfig, usize) -> H,
    /// Makes a leaf.
    pub leaf: fn(usize) -> L,
    /// Choices.
    pub config: CoherenceConfig,
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

impl<L, H> Star<L, H> {
    /// Columns of a chart: the hubs, then the leaves.
    fn columns(&self) -> Vec<String> {
        let hubs = (0..self.hubs).map(self.hub_name);
        let leaves = (0..self.hubs * self.leaves).map(|n| (self.leaf_name)(n / self.leaves, n % self.leaves));
        hubs.chain(leaves).collect()
    }
}

impl<L, H> Star<L, H>
where
    L: Agent<content::Line> + Caching + Watched + Send + 'static,
    H: HubAgent,
{
    /// Runs it.
    ///
    /// # Errors
    /// Anything that keeps it from running.
    pub fn run<E: Counted>(
        self,
        line: Line<E>,
        request: &Request,
        settings: &Settings,
        on_window: &mut dyn FnMut(Time),
    ) -> Result<Report, RunError> {
        let faults = faults(settings, line.unit_bytes)?;
        let build_error = |e| RunError::Build(SimError::Build(e));
        let mut hub = Hub::new(request.outputs.any());
        let mut sim = Simulation::new(request.seed);
        let common = Common::of(settings, &line).map_err(build_error)?;
        let agent_clock = Clock::with_period_fs(settings.int("host.clock_fs")).map_err(build_error)?;
        let layouts = layouts(line.form);

        let hub_taps: Vec<_> =
            (0..self.hubs).map(|n| hub.tap(&(self.hub_name)(n), PlaceKind::Messages(layouts))).collect();
        let mut leaf_taps = Vec::new();
        let mut strands = Vec::new();
        for n in 0..self.hubs * self.leaves {
            let (at, leaf) = (n / self.leaves, n % self.leaves);
            leaf_taps.push(hub.tap(&(self.leaf_name)(at, leaf), PlaceKind::Messages(layouts)));
            let faults = if n == 0 { faults.clone() } else { Default::default() };
            strands.push(Strand::new(&mut sim, &mut hub, &common, n, &line, faults).map_err(build_error)?);
        }
        let ports: Vec<_> = strands.iter().map(|s| s.results.clone()).collect();
        let hub_results: Vec<Ends<H, H::Core>> = (0..self.hubs).map(|_| Arc::default()).collect();
        let leaf_results: Vec<Ends<L, Accessor>> = (0..self.hubs * self.leaves).map(|_| Arc::default()).collect();

        let names_of = |hub: usize| {
            let own = <H::Core as HubCore<H>>::ACTS.then(|| (self.hub_name)(hub));
            own.into_iter().chain((0..self.leaves).map(|leaf| (self.leaf_name)(hub, leaf))).collect()
        };
        let programs = stimulus::programs(request, settings, (0..self.hubs).map(names_of).collect())?;
        let (lists, digest) = (programs.lists, programs.digest);
        let (window, cache_lines) =
            (settings.int("core.outstanding") as usize, settings.int("core.cache_lines") as usize);
        let watch = settings.is_on("watch");
        let sequence = request.outputs.chart.is_some().then(|| Sequence::new(self.columns(), extent(request)));
        let recorder = sequence.clone();
        let (at_hub, at_leaf) = if self.host_is_hub { (0, 1) } else { (1, 0) };
        let names = (self.hub_name, self.leaf_name);
        let results = (hub_results.clone(), leaf_results.clone());
        sim.partition(move |p| {
            let core = p.clock("agents", agent_clock)?;
            let mut strands = strands.into_iter().zip(leaf_taps).zip(results.1).enumerate();
            let hubs = hub_taps.into_iter().zip(results.0).zip(lists).enumerate();
            for (n, ((tap, result), lists)) in hubs {
                let mut lists = lists.into_iter();
                let hub_list = if <H::Core as HubCore<H>>::ACTS { lists.next() } else { None };
                let hub_core = H::Core::new(hub_list.unwrap_or_default(), window, cache_lines);
                let name = (self.hub_name)(n);
                let all = std::iter::once(name.clone()).chain((0..self.leaves).map(|l| (self.leaf_name)(n, l)));
                let watcher = watch.then(|| Watcher::new(self.config.clone(), all.collect()));
                let mut ends = Vec::new();
                for (index, ((strand, tap), result)) in strands.by_ref().take(self.leaves) {
                    let leaf = index % self.leaves;
                    let leaf_name = (self.leaf_name)(n, leaf);
                    let mut nodes = strand.build(p, &common)?.map(Some);
                    let own = nodes[at_leaf].take().expect("each end is used once");
                    ends.extend(nodes[at_hub].take().map(|end| (index, end)));
                    let accessor = Accessor::new(lists.next().unwrap_or_default(), window, cache_lines);
                    let watch = watcher.clone().map(|w| Box::new(Handle(w)) as Box<dyn Watch<L>>);
                    let watch = recorded(watch, &recorder, self.hubs + index, vec![n]);
                    let config = self.config.clone();
                    let agent = (self.leaf)(leaf);
                    p.module(&leaf_name, core, |bind| {
                        let links = vec![attach(bind, own, index, common.form, !self.host_is_hub)];
                        Node::new(
                            NodeConfig { number: leaf + 1, agent, core: accessor, config, links, tap, watch },
                            result,
                        )
                    })?;
                }
                let watch = watcher.map(|w| Box::new(Handle(w)) as Box<dyn Watch<H>>);
                let peers = (0..self.leaves).map(|leaf| self.hubs + n * self.leaves + leaf).collect();
                let watch = recorded(watch, &recorder, n, peers);
                let agent = (self.hub)(&self.config, self.leaves);
                let config = self.config.clone();
                p.module(&name, core, |bind| {
                    let links = ends
                        .into_iter()
                        .map(|(index, end)| attach(bind, end, index, common.form, self.host_is_hub))
                        .collect();
                    Node::new(NodeConfig { number: 0, agent, core: hub_core, config, links, tap, watch }, result)
                })?;
            }
            Ok(())
        });

        let clock_fs = settings.int("host.clock_fs");
        let drive = Drive { request, settings, clock_fs, stall_limit_fs: STALL_LIMIT_FS, stimulus: &digest };
        let chart = || sequence.as_deref().map(|s| locked(s, Sequence::chart));
        let ended = drive.run_with_chart(sim, &mut hub, chart, on_window)?;
        let of_hubs = hub_results.iter().enumerate().map(|(n, r)| Watching::of(&names.0(n), r));
        let of_leaves =
            leaf_results.iter().enumerate().map(|(n, r)| Watching::of(&names.1(n / self.leaves, n % self.leaves), r));
        let nodes = of_hubs.chain(of_leaves).collect();
        let of_hubs = hub_results.iter().filter_map(|r| measured(r, HubCore::measured));
        let of_leaves = leaf_results.iter().filter_map(|r| measured(r, |core| Some(core.measured.clone())));
        let measured = of_hubs.chain(of_leaves).collect();
        let mut report = Outcome { request, settings, line: &line, ports: &ports }.report(ended, nodes, measured)?;
        if sequence.is_some_and(|s| locked(&s, |s| s.is_empty())) {
            let line = request.outputs.chart_line.map_or(String::new(), |a| format!(" of the line of {a:#x}"));
            report.remarks.push(format!("the chart is empty: no message{line} in its window"));
        }
        Ok(report)
    }
}
