//! Runs of the scenarios, as they are and with mistakes in GPUs and switches.

use super::relay::{RelayFault, behind};
use scalepool::arbiter::{Allocator, AllocatorKind, Matching, Requests, Separable};
use scalepool::fabric::nvlink_switch::{CrossbarConfig, NvlTarget, RemapEntry, RemapTable};
use scalepool::scenario::report::ScenarioReport;
use scalepool::scenario::{RunError, ScenarioRequest, described};
use scalepool::system::builtin;
use scalepool::system::kind::{Component, ComponentNode, NodeError, Offer, PortDecl, Site};
use scalepool::system::kinds::nvlink_gpu::NvGpu;
use scalepool::system::kinds::nvlink_switch::NvSwitch;
use scalepool::trace::Hub;
use std::any::Any;
use std::sync::Arc;

/// A mistake of all GPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GpuFault {
    /// Posted writes are answered.
    AnswersPosted,
    /// Writes with answer are not answered.
    KeepsAnswers,
    /// A FLUSH is answered at once, and posted writes to every other block take effect late.
    FlushPasses,
    /// Messages go over the links in turn, whatever their block.
    LinksInTurn,
    /// Answers wait behind requests, which are not served while own requests are open.
    BlocksAnswers,
}

/// A mistake of all switches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SwitchFault {
    /// Priorities never move.
    Unfair,
    /// The copy of a multicast write for the last GPU is missing.
    LosesCopy,
    /// The one for the first GPU is sent twice.
    DoublesCopy,
    /// Answers overtake each other.
    SwapsAnswers,
    /// The last GPU is missing in the remap tables.
    NoEntry,
}

/// Mistakes of a system.
#[derive(Debug, Clone, Copy, Default)]
pub struct Wrong {
    pub gpu: Option<GpuFault>,
    pub switch: Option<SwitchFault>,
}

/// A GPU with a mistake.
struct WrongGpu(NvGpu, GpuFault);

impl Component for WrongGpu {
    fn ports(&self) -> Vec<PortDecl> {
        self.0.ports()
    }

    fn asks(&self) -> bool {
        self.0.asks()
    }

    fn elaborate(self: Box<Self>, site: &Site<'_>, hub: &mut Hub) -> Result<ComponentNode, NodeError> {
        let WrongGpu(gpu, fault) = *self;
        let node = Box::new(gpu).elaborate(site, hub)?;
        let fault = match fault {
            GpuFault::AnswersPosted => RelayFault::AnswersPosted,
            GpuFault::KeepsAnswers => RelayFault::KeepsAnswers,
            GpuFault::FlushPasses => RelayFault::FlushPasses,
            GpuFault::LinksInTurn => RelayFault::LinksInTurn,
            GpuFault::BlocksAnswers => RelayFault::BlocksAnswers,
        };
        Ok(ComponentNode { place: behind(node.place, site.path, fault), ..node })
    }
}

/// An allocator whose priorities never move.
#[derive(Debug)]
struct Unfair(Box<dyn Allocator>);

impl Unfair {
    const KIND: AllocatorKind = AllocatorKind {
        name: "unfair",
        about: "priorities never move",
        make: |inputs, outputs| Ok(Box::new(Unfair((Separable::OUTPUT_FIRST.make)(inputs, outputs)?))),
    };
}

impl Allocator for Unfair {
    fn inputs(&self) -> usize {
        self.0.inputs()
    }

    fn outputs(&self) -> usize {
        self.0.outputs()
    }

    fn arbitrate(&self, requests: &[Requests], matching: &mut Matching) {
        self.0.arbitrate(requests, matching);
    }

    fn update(&mut self, _: &[Requests], _: &Matching) {}
}

/// A switch with a mistake.
struct WrongSwitch(NvSwitch, SwitchFault);

impl WrongSwitch {
    /// A table with the memory of all GPUs but the last one, and the group.
    fn without_last_gpu(crossbar: &mut CrossbarConfig, nodes: u16) {
        let mut table = RemapTable::default();
        let gpus = (0..nodes - 1).map(|gpu| (gpu, NvlTarget::Endpoint(gpu)));
        for (select, target) in gpus.chain([(nodes, NvlTarget::Group(0))]) {
            table.set(select, RemapEntry::whole(target)).expect("a whole window");
        }
        crossbar.remap.fill(Arc::new(table));
    }
}

impl Component for WrongSwitch {
    fn ports(&self) -> Vec<PortDecl> {
        self.0.ports()
    }

    fn offer(&self) -> Offer {
        self.0.offer()
    }

    fn elaborate(self: Box<Self>, site: &Site<'_>, _: &mut Hub) -> Result<ComponentNode, NodeError> {
        let WrongSwitch(switch, fault) = *self;
        let nodes = site.member.nodes;
        let node = switch.elaborate_as(site, |crossbar| match fault {
            SwitchFault::Unfair => crossbar.allocator = &Unfair::KIND,
            SwitchFault::NoEntry => Self::without_last_gpu(crossbar, nodes),
            _ => (),
        })?;
        let port_of = |gpu| site.ports.iter().position(|port| port.peer_member.own == gpu).expect("a port of each GPU");
        let fault = match fault {
            SwitchFault::Unfair | SwitchFault::NoEntry => return Ok(node),
            SwitchFault::LosesCopy => RelayFault::LosesCopy(port_of(nodes - 1)),
            SwitchFault::DoublesCopy => RelayFault::DoublesCopy(port_of(0)),
            SwitchFault::SwapsAnswers => RelayFault::SwapsAnswers,
        };
        Ok(ComponentNode { place: behind(node.place, site.path, fault), ..node })
    }
}

/// The same component with its mistake, if its kind has one.
fn mistaken(config: Box<dyn Component>, wrong: Wrong) -> Box<dyn Component> {
    let config: Box<dyn Any> = config;
    match config.downcast::<NvGpu>() {
        Ok(own) => match wrong.gpu {
            Some(fault) => Box::new(WrongGpu(*own, fault)),
            None => own,
        },
        Err(config) => match (config.downcast::<NvSwitch>(), wrong.switch) {
            (Ok(own), Some(fault)) => Box::new(WrongSwitch(*own, fault)),
            (Ok(own), None) => own,
            (Err(_), _) => panic!("a GPU or a switch"),
        },
    }
}

pub fn request(scenario: &str, set: &[&str]) -> ScenarioRequest {
    let set = set.iter().map(|&text| text.to_owned()).collect();
    ScenarioRequest { scenario: scenario.into(), seed: 7, threads: 1, set, ..ScenarioRequest::default() }
}

fn run_with(request: &ScenarioRequest, wrong: Wrong) -> Result<ScenarioReport, RunError> {
    let is_it = |builtin: &&builtin::Builtin| builtin.file.strip_suffix(".toml") == Some(&request.scenario);
    let description = builtin::ALL.iter().find(is_it).expect("a built-in description");
    let mut system = described::system(request, Some(description))?;
    let components = std::mem::take(&mut system.components);
    let components = components.into_iter().map(|mut component| {
        component.config = mistaken(component.config, wrong);
        component
    });
    system.components = components.collect();
    described::build_system(request, system)?.run(request, &mut |_| ())
}

/// `nvlink-pair` with a mistake.
pub fn pair_with(gpu: GpuFault, set: &[&str]) -> ScenarioReport {
    run_with(&request("nvlink-pair", set), Wrong { gpu: Some(gpu), switch: None }).expect("it runs")
}

/// `nvlink-pair`, without broken rules.
pub fn run_pair(set: &[&str]) -> ScenarioReport {
    clean(run_with(&request("nvlink-pair", set), Wrong::default()).expect("it runs"))
}

/// `nvlink-pod` with mistakes.
pub fn pod_with(wrong: Wrong, set: &[&str]) -> ScenarioReport {
    try_pod(wrong, set).expect("it runs")
}

pub fn try_pod(wrong: Wrong, set: &[&str]) -> Result<ScenarioReport, RunError> {
    run_with(&request("nvlink-pod", set), wrong)
}

/// `nvlink-pod`, without broken rules.
pub fn run_pod(set: &[&str]) -> ScenarioReport {
    clean(pod_with(Wrong::default(), set))
}

/// The same on so many threads.
pub fn run_pod_on(threads: usize, set: &[&str]) -> ScenarioReport {
    let request = ScenarioRequest { threads, ..request("nvlink-pod", set) };
    clean(run_with(&request, Wrong::default()).expect("it runs"))
}

/// The same with another seed.
pub fn pod_of_seed(seed: u64, set: &[&str]) -> ScenarioReport {
    let request = ScenarioRequest { seed, ..request("nvlink-pod", set) };
    clean(run_with(&request, Wrong::default()).expect("it runs"))
}

fn clean(report: ScenarioReport) -> ScenarioReport {
    assert_eq!(rules(&report), Vec::<&str>::new(), "{}", report.violations[0].violation);
    report
}

/// Rules that were broken, each once, sorted.
pub fn rules(report: &ScenarioReport) -> Vec<&'static str> {
    let mut rules: Vec<_> = report.violations.iter().map(|b| b.violation.rule).collect();
    rules.sort_unstable();
    rules.dedup();
    rules
}

/// A count of a report.
pub fn count(report: &ScenarioReport, name: &str) -> u64 {
    let all = report.counts.iter().chain(&report.messages);
    all.clone().find(|(k, _)| k == name).unwrap_or_else(|| panic!("no count `{name}`")).1
}
