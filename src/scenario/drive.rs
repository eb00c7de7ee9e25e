//! A run of a scenario: built, advanced as far as its user wants, looked at, ended.
//!
//! Modelled: nothing. A [`Built`] is what a scenario makes of its settings; a [`Live`] runs it. Steps change nothing: what is
//! reported and recorded after some of them is what one run to the same cycle gives, to the byte.
//!
//! A walk through one run: the scenario is built; the outputs are opened, so a path that cannot be written is an error
//! before anything is simulated; records leave after every window; when the run is over the files get their names.

use super::observe::{self, Observer, OutputError, Outputs};
use super::report::ScenarioReport;
use super::{RunError, ScenarioRequest};
use scalepool_coherence::chart::Chart;
use scalepool_kernel::{RunOptions, RunReport, Running, SimError, Simulation, Stop, Time};
use scalepool_link::sim_port::SimPort;
use scalepool_nodes::tiers::caller::PlacementSlot;
use scalepool_system::draw::Drawing;
use scalepool_trace::filter::WatchedPlaces;
use scalepool_trace::output::PartFile;
use scalepool_trace::{Hub, TraceHeader, TracedRun};
use sha2::{Digest, Sha256};

/// How a run ended, or would if it ended where it stands.
pub(super) type Ended = Result<RunReport, SimError>;

/// Makes the report of a run from what its modules have left.
pub(super) type MakeReport = Box<dyn Fn(&ScenarioRequest, Ended) -> Result<ScenarioReport, RunError>>;

/// A scenario that is built and has not run.
pub struct Built {
    pub(super) sim: Simulation,
    /// The places of all modules.
    pub(super) hub: Hub,
    /// Name and settings in one spelling: what the hash of a run covers.
    pub(super) identity: String,
    /// Bit error rate of its links.
    pub(super) ber: f64,
    /// Period of the reference clock.
    pub(super) clock_fs: u64,
    /// A settling limit above all time-outs of the design.
    pub(super) stall_limit_fs: u64,
    /// Digest of a stimulus, empty where settings say it all.
    pub(super) stimulus: Vec<u8>,
    /// Ends of links that can be watched.
    pub(super) ports: Vec<SimPort>,
    /// Accelerators about whose pages a function of the caller decides, by path.
    pub(super) placements: Vec<(String, PlacementSlot)>,
    pub(super) report: MakeReport,
    /// Draws what was sent so far, if that was asked for.
    pub(super) chart: Option<Box<dyn Fn() -> Chart>>,
    /// Commands of memories with DRAM as text, by the path of the memory, if they are kept.
    pub(super) dram: Box<dyn Fn() -> Vec<(String, String)>>,
    /// The drawing of the system, if that was asked for.
    pub(super) drawing: Option<Drawing>,
}

impl Built {
    /// Runs it to the end of the request.
    ///
    /// # Errors
    /// An output that cannot be written, a mistake in the design. A run that goes wrong gives a report with violations.
    pub fn run(self, request: &ScenarioRequest, on_window: &mut dyn FnMut(Time)) -> Result<ScenarioReport, RunError> {
        Live::of(self, request)?.finish(on_window)
    }

    /// Head of traces and waves, with a hash of everything that decides the result, but the seed.
    fn header(&self, request: &ScenarioRequest) -> TraceHeader {
        let mut sha = Sha256::new();
        sha.update(&self.identity);
        sha.update(format!("\ncycles={:?}\n", request.cycles));
        sha.update(&self.stimulus);
        if let Some(external) = &request.external {
            sha.update(format!("\nexternal={external}"));
        }
        TraceHeader {
            model_version: env!("CARGO_PKG_VERSION").into(),
            run: Some(TracedRun { scenario_hash: scalepool_forms::number::hex(&sha.finalize()), seed: request.seed }),
        }
    }
}

/// Names the outputs of one call of [`Live::observe`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ObserverId(usize);

/// A scenario that runs.
pub struct Live {
    request: ScenarioRequest,
    ber: f64,
    running: Running,
    hub: Hub,
    header: TraceHeader,
    /// `None`: ended.
    observers: Vec<Option<Observer>>,
    clock_fs: u64,
    ports: Vec<SimPort>,
    placements: Vec<(String, PlacementSlot)>,
    report: MakeReport,
    chart: Option<Box<dyn Fn() -> Chart>>,
    dram: Box<dyn Fn() -> Vec<(String, String)>>,
    drawing: Option<Drawing>,
    /// How far it has been told to run.
    cycle: u64,
    begun: bool,
    over: bool,
}

impl Live {
    /// Builds a request for one mode; nothing runs yet.
    ///
    /// # Errors
    /// Anything that keeps it from running.
    pub fn new(request: &ScenarioRequest) -> Result<Live, RunError> {
        // Whoever steps through a run may attach hooks and outputs at any time.
        let (request, built) = super::build(request, WatchedPlaces::All)?;
        Live::of(built, &request)
    }

    fn of(built: Built, request: &ScenarioRequest) -> Result<Live, RunError> {
        let header = built.header(request);
        let options = RunOptions {
            limit: None,
            open_at_limit_allowed: true,
            stall_limit_fs: Some(built.stall_limit_fs),
            threads: request.threads.max(1),
            shuffle: request.modes.shuffle,
            evaluate_idle: request.modes.evaluate_idle,
        };
        let Built { sim, mut hub, ber, clock_fs, ports, placements, report, chart, dram, drawing, .. } = built;
        let first = Observer::open(&request.outputs, &request.inputs(), &header, &hub)?;
        hub.switch(first.is_open());
        Ok(Live {
            running: sim.start(&options).map_err(RunError::Build)?,
            request: request.clone(),
            ber,
            hub,
            header,
            observers: vec![Some(first)],
            clock_fs,
            ports,
            placements,
            report,
            chart,
            dram,
            drawing,
            cycle: 0,
            begun: false,
            over: false,
        })
    }

    /// Ends of links that can be watched, disturbed, and driven where they are external.
    pub fn ports(&self) -> &[SimPort] {
        &self.ports
    }

    /// Accelerators about whose pages a function of the caller decides, by path.
    pub fn placements(&self) -> &[(String, PlacementSlot)] {
        &self.placements
    }

    /// Where the function goes that decides about the pages of an accelerator.
    ///
    /// # Errors
    /// There is no such accelerator, or its policy is another one.
    pub fn placement(&self, name: &str) -> Result<&PlacementSlot, RunError> {
        self.placements.iter().find(|(path, _)| path == name).map(|(_, slot)| slot).ok_or_else(|| {
            let names: Vec<_> = self.placements.iter().map(|(path, _)| path.as_str()).collect();
            let expected = if names.is_empty() { "one with policy = \"caller\"".to_owned() } else { names.join(", ") };
            RunError::Placement { found: name.to_owned(), expected }
        })
    }

    /// The port of a name.
    ///
    /// # Errors
    /// There is none.
    pub fn port(&self, name: &str) -> Result<&SimPort, RunError> {
        self.ports.iter().find(|port| port.name == name).ok_or_else(|| {
            let names: Vec<_> = self.ports.iter().map(|port| port.name.as_str()).collect();
            RunError::Port { found: name.to_owned(), expected: names.join(", ") }
        })
    }

    /// The cycle of the reference clock up to which it has run.
    pub fn cycle(&self) -> u64 {
        self.cycle
    }

    /// Whether it has been told to run.
    pub fn has_begun(&self) -> bool {
        self.begun
    }

    /// Whether nothing is left to do: the work is done, the cycles of the request are over, or it stalled.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// Runs to a cycle of the reference clock, `None`: to the end of the request; `on_window` is told how far simulated time
    /// has come. A cycle that is past, or a run that is over: nothing happens.
    ///
    /// # Errors
    /// An output that cannot be written. What goes wrong in the simulation is in the report.
    pub fn run_until(&mut self, cycle: Option<u64>, on_window: &mut dyn FnMut(Time)) -> Result<(), RunError> {
        let last = self.request.cycles;
        let to = match (cycle, last) {
            (Some(cycle), Some(last)) => Some(cycle.min(last)),
            (cycle, last) => cycle.or(last),
        };
        let limit = to.map(|n| Time::from_fs(n.saturating_mul(self.clock_fs)));
        if self.over || to.is_some_and(|to| to < self.cycle) {
            return Ok(());
        }
        let (hub, observers, mut output) = (&mut self.hub, &mut self.observers, Ok(()));
        let stop = self.running.run_until(limit, |window_end| {
            on_window(window_end);
            if output.is_ok() {
                output = drain(hub, observers);
            }
        });
        self.begun = true;
        self.cycle = to.unwrap_or(self.cycle);
        self.over = stop != Ok(Stop::Limit) || to == last;
        output.map_err(RunError::from)
    }

    /// What a run that ends here reports; it may go on.
    ///
    /// # Errors
    /// None that a built run makes.
    pub fn report(&mut self) -> Result<ScenarioReport, RunError> {
        let ended = self.running.report();
        let given_up = match &ended {
            Err(SimError::GivenUp { rule, .. }) => Some(*rule),
            _ => None,
        };
        let mut report = (self.report)(&self.request, ended)?;
        if let Some(rule) = given_up {
            report.put_first(rule, self.ber);
        }
        Ok(report)
    }

    /// Runs to the end of the request and ends all outputs.
    ///
    /// # Errors
    /// An output that cannot be written.
    pub fn finish(mut self, on_window: &mut dyn FnMut(Time)) -> Result<ScenarioReport, RunError> {
        self.run_until(None, on_window)?;
        self.end_outputs()?;
        self.report()
    }

    /// Opens more outputs: they show what happens from here on.
    ///
    /// # Errors
    /// One that cannot be made.
    pub fn observe(&mut self, outputs: &Outputs) -> Result<ObserverId, RunError> {
        let observer = Observer::open(outputs, &self.request.inputs(), &self.header, &self.hub)?;
        self.observers.push(Some(observer));
        self.switch();
        Ok(ObserverId(self.observers.len() - 1))
    }

    /// Ends outputs of [`Live::observe`]: their files get their names.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn end_observer(&mut self, id: ObserverId) -> Result<(), RunError> {
        drain(&mut self.hub, &mut self.observers)?;
        if let Some(observer) = self.observers.get_mut(id.0).and_then(Option::take) {
            observer.finish(self.hub.places())?;
        }
        self.switch();
        Ok(())
    }

    /// Ends all outputs: their files get their names.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn end_outputs(&mut self) -> Result<(), RunError> {
        if let (Some(chart), Some(Some(first))) = (&self.chart, self.observers.first_mut()) {
            first.draw(&chart())?;
        }
        if let Some(folder) = self.request.outputs.dram.take() {
            // Memories show their commands when the run is looked at; what else it says is for `report`.
            drop(self.running.report());
            observe::write_dram(&folder, &(self.dram)())?;
        }
        if let (Some(path), Some(drawing)) = (self.request.outputs.drawing.take(), self.drawing.take()) {
            let loads = self.report()?.link_loads;
            PartFile::write(&path, drawing.loaded_svg(&loads).as_bytes()).map_err(OutputError::from)?;
        }
        (0..self.observers.len()).try_for_each(|n| self.end_observer(ObserverId(n)))
    }

    /// Modules record while somebody wants it.
    fn switch(&mut self) {
        self.hub.switch(self.observers.iter().flatten().any(Observer::is_open));
    }
}

/// Hands what the modules have recorded to all outputs.
fn drain(hub: &mut Hub, observers: &mut [Option<Observer>]) -> Result<(), OutputError> {
    if !hub.is_on() {
        return Ok(());
    }
    for record in hub.drain() {
        observers.iter_mut().flatten().try_for_each(|observer| observer.record(hub.places(), &record))?;
    }
    Ok(())
}
