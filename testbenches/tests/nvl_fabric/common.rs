//! Runs of the scenarios, as they are and with mistakes in GPUs and switches.

use scalepool::fabric::nvlink_switch::SwitchMutant;
use scalepool::nodes::nvlink::gpu::GpuMutant;
use scalepool::scenario::report::ScenarioReport;
use scalepool::scenario::{RunError, ScenarioRequest, described};
use scalepool::system::builtin;
use scalepool::system::kind::{Component, ComponentNode, NodeError, Offer, PortDecl, Site};
use scalepool::system::kinds::nvlink_gpu::NvGpu;
use scalepool::system::kinds::nvlink_switch::{Mistakes, NvSwitch};
use scalepool::trace::Hub;
use std::any::Any;

/// Mistakes of all GPUs and of all switches.
#[derive(Debug, Clone, Copy, Default)]
pub struct Mutants {
    pub gpu: GpuMutant,
    pub switch: SwitchMutant,
    /// The last GPU is missing in the remap tables.
    pub no_entry: bool,
}

/// A GPU with a mistake.
struct WrongGpu(NvGpu, GpuMutant);

impl Component for WrongGpu {
    fn ports(&self) -> Vec<PortDecl> {
        self.0.ports()
    }

    fn asks(&self) -> bool {
        self.0.asks()
    }

    fn elaborate(self: Box<Self>, site: &Site<'_>, hub: &mut Hub) -> Result<ComponentNode, NodeError> {
        let WrongGpu(gpu, mutant) = *self;
        gpu.elaborate_with(site, hub, mutant)
    }
}

/// A switch with mistakes.
struct WrongSwitch(NvSwitch, Mistakes);

impl Component for WrongSwitch {
    fn ports(&self) -> Vec<PortDecl> {
        self.0.ports()
    }

    fn offer(&self) -> Offer {
        self.0.offer()
    }

    fn elaborate(self: Box<Self>, site: &Site<'_>, _: &mut Hub) -> Result<ComponentNode, NodeError> {
        let WrongSwitch(switch, mistakes) = *self;
        switch.elaborate_with(site, mistakes)
    }
}

/// The same component with its mistake.
fn mistaken(config: Box<dyn Component>, Mutants { gpu, switch, no_entry }: Mutants) -> Box<dyn Component> {
    let config: Box<dyn Any> = config;
    match config.downcast::<NvGpu>() {
        Ok(own) => Box::new(WrongGpu(*own, gpu)),
        Err(config) => match config.downcast::<NvSwitch>() {
            Ok(own) => Box::new(WrongSwitch(*own, Mistakes { crossbar: switch, no_entry })),
            Err(_) => panic!("a GPU or a switch"),
        },
    }
}

pub fn request(scenario: &str, set: &[&str]) -> ScenarioRequest {
    let set = set.iter().map(|&text| text.to_owned()).collect();
    ScenarioRequest { scenario: scenario.into(), seed: 7, threads: 1, set, ..ScenarioRequest::default() }
}

fn run_with(request: &ScenarioRequest, mutants: Mutants) -> Result<ScenarioReport, RunError> {
    let is_it = |builtin: &&builtin::Builtin| builtin.file.strip_suffix(".toml") == Some(&request.scenario);
    let description = builtin::ALL.iter().find(is_it).expect("a built-in description");
    let mut system = described::system(request, Some(description))?;
    let components = std::mem::take(&mut system.components);
    let wrong = components.into_iter().map(|mut component| {
        component.config = mistaken(component.config, mutants);
        component
    });
    system.components = wrong.collect();
    described::build_system(request, system)?.run(request, &mut |_| ())
}

/// `nvlink-pair` with a mistake.
pub fn pair_with(gpu: GpuMutant, set: &[&str]) -> ScenarioReport {
    run_with(&request("nvlink-pair", set), Mutants { gpu, ..Mutants::default() }).expect("it runs")
}

/// `nvlink-pair`, without broken rules.
pub fn run_pair(set: &[&str]) -> ScenarioReport {
    clean(pair_with(GpuMutant::None, set))
}

/// `nvlink-pod` with mistakes.
pub fn pod_with(mutants: Mutants, set: &[&str]) -> ScenarioReport {
    try_pod(mutants, set).expect("it runs")
}

pub fn try_pod(mutants: Mutants, set: &[&str]) -> Result<ScenarioReport, RunError> {
    run_with(&request("nvlink-pod", set), mutants)
}

/// `nvlink-pod`, without broken rules.
pub fn run_pod(set: &[&str]) -> ScenarioReport {
    clean(pod_with(Mutants::default(), set))
}

/// The same on so many threads.
pub fn run_pod_on(threads: usize, set: &[&str]) -> ScenarioReport {
    let request = ScenarioRequest { threads, ..request("nvlink-pod", set) };
    clean(run_with(&request, Mutants::default()).expect("it runs"))
}

/// The same with another seed.
pub fn pod_of_seed(seed: u64, set: &[&str]) -> ScenarioReport {
    let request = ScenarioRequest { seed, ..request("nvlink-pod", set) };
    clean(run_with(&request, Mutants::default()).expect("it runs"))
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
