//! The run of a handle: built when it is first needed, kept between calls.

use super::SP_MAX_CYCLES;
use crate::status::{Failure, SP_EMPTY, SP_OK};
use scalepool::link::hook::Direction;
use scalepool::link::sim_port::SimPort;
use scalepool::nodes::tiers::caller::PlacementSlot;
use scalepool::scenario::ScenarioRequest;
use scalepool::scenario::drive::{Live, ObserverId};
use scalepool::scenario::observe::Outputs;
use scalepool::scenario::report::ScenarioReport;
use serde_json::{Value, json};

/// A run with its outputs.
struct ObservedRun {
    live: Live,
    /// By [`RunOutput`]; `None`: off.
    outputs: [Option<ObserverId>; 3],
}

// SAFETY: what is not `Send` in a run are the channels inside a partition and what makes the report, counted pointers that
// are shared among the modules of one partition, or among that closure, and nobody else: they are made when it is built, all
// of them belong to this value, no function hands one out, and none is kept in thread-local storage. So they move from
// thread to thread all together or not at all, and the lock of the handle lets one thread at a time use them.
unsafe impl Send for ObservedRun {}

/// What a run writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RunOutput {
    Wave,
    Trace,
    Log,
}

impl RunOutput {
    const ALL: [RunOutput; 3] = [RunOutput::Wave, RunOutput::Trace, RunOutput::Log];

    /// Of all outputs this one alone; `None`: it is off.
    fn of(self, outputs: &Outputs) -> Option<Outputs> {
        let (vcd, trace, log) = (outputs.vcd.clone(), outputs.trace.clone(), outputs.log.clone());
        let alone = match self {
            RunOutput::Wave => Outputs { vcd, ..Outputs::default() },
            RunOutput::Trace => Outputs { trace, ..Outputs::default() },
            RunOutput::Log => Outputs { log, ..Outputs::default() },
        };
        (alone != Outputs::default()).then_some(alone)
    }
}

/// What a handle of a simulation names.
pub(super) struct Sim {
    /// As the text said.
    given: ScenarioRequest,
    pub request: ScenarioRequest,
    run: Option<ObservedRun>,
    /// The next step begins at the start.
    anew: bool,
    /// Ports of the last run that was built, with what is attached to them.
    ports: Vec<SimPort>,
    /// Places of functions that decide about pages, of that run, with the functions.
    placements: Vec<(String, PlacementSlot)>,
    /// Answers of hooks that were not allowed: the last ones.
    bad_answer: Option<String>,
}

impl Sim {
    pub fn new(request: ScenarioRequest) -> Sim {
        let given = request.clone();
        Sim { given, request, run: None, anew: false, ports: Vec::new(), placements: Vec::new(), bad_answer: None }
    }

    /// Other settings, for the next run.
    pub fn ask(&mut self, request: ScenarioRequest) {
        self.request = request;
        self.anew = true;
    }

    /// The run to go on with, built if there is none.
    fn running(&mut self) -> Result<&mut Live, Failure> {
        if self.run.is_none() || self.anew {
            self.build()?;
        }
        self.run.as_mut().map(|run| &mut run.live).ok_or_else(|| Failure::new(SP_EMPTY, "simulation: no run"))
    }

    fn build(&mut self) -> Result<(), Failure> {
        let outputs = self.request.outputs.clone();
        self.request.check_outputs()?;
        self.end()?;
        let mut live = Live::new(&ScenarioRequest { outputs: Outputs::default(), ..self.request.clone() })?;
        for port in live.ports() {
            if let Some(before) = self.ports.iter().find(|before| before.name == port.name) {
                port.hooks.take_over(&before.hooks)?;
            }
        }
        for (path, slot) in live.placements() {
            if let Some((_, before)) = self.placements.iter().find(|(before, _)| before == path) {
                slot.take_over(before);
            }
        }
        self.ports = live.ports().to_vec();
        self.placements = live.placements().to_vec();
        let mut ids = [None; 3];
        for (id, output) in ids.iter_mut().zip(RunOutput::ALL) {
            *id = output.of(&outputs).map(|alone| live.observe(&alone)).transpose()?;
        }
        (self.run, self.anew) = (Some(ObservedRun { live, outputs: ids }), false);
        Ok(())
    }

    /// Another output: of the run that is under way, from here on, or else of the next one.
    pub fn show(&mut self, output: RunOutput, outputs: Outputs) -> Result<(), Failure> {
        ScenarioRequest { outputs: outputs.clone(), ..self.request.clone() }.check_outputs()?;
        match &mut self.run {
            Some(run) if !self.anew && !run.live.is_over() => {
                let id = &mut run.outputs[output as usize];
                if let Some(id) = id.take() {
                    run.live.end_observer(id)?;
                }
                *id = output.of(&outputs).map(|alone| run.live.observe(&alone)).transpose()?;
            }
            // Who asks for an output of what is over wants it of another run.
            Some(_) if output.of(&outputs).is_some() => self.anew = true,
            _ => {}
        }
        self.request.outputs = outputs;
        Ok(())
    }

    /// Goes on to a cycle; no further than SP_MAX_CYCLES.
    fn advance(&mut self, cycle: u64) -> Result<(), Failure> {
        let live = self.running()?;
        let cycle = cycle.min(SP_MAX_CYCLES);
        live.run_until(Some(cycle), &mut |_| ())?;
        if live.is_over() { self.end() } else { Ok(()) }
    }

    pub fn step(&mut self, cycles: u64) -> Result<i32, Failure> {
        let live = self.running()?;
        if live.is_over() {
            return Err(Failure::new(SP_EMPTY, "simulation: nothing is left to do"));
        }
        let (stands, left) = (live.cycle(), SP_MAX_CYCLES - live.cycle());
        if cycles > left {
            return Err(Failure::range("cycles", cycles, format!("at most {left} behind cycle {stands}")));
        }
        self.advance(stands + cycles).map(|()| SP_OK)
    }

    pub fn run(&mut self, cycles: u64) -> Result<ScenarioReport, Failure> {
        self.anew |= self.run.as_ref().is_some_and(|run| run.live.cycle() > cycles);
        self.advance(cycles)?;
        self.end()?;
        Ok(self.running()?.report()?)
    }

    /// What the run reports; `None` before the first step.
    pub fn report(&mut self) -> Result<Option<ScenarioReport>, Failure> {
        match &mut self.run {
            Some(run) if run.live.has_begun() => Ok(Some(run.live.report()?)),
            _ => Ok(None),
        }
    }

    /// Completes the outputs of the run.
    pub fn end(&mut self) -> Result<(), Failure> {
        match &mut self.run {
            Some(run) => {
                run.outputs = [None; 3];
                Ok(run.live.end_outputs()?)
            }
            None => Ok(()),
        }
    }

    pub fn reset(&mut self) -> Result<(), Failure> {
        self.end()?;
        (self.request, self.run, self.anew, self.bad_answer) = (self.given.clone(), None, false, None);
        Ok(())
    }

    /// The port of a name, of the run to go on with.
    pub fn port(&mut self, name: &str) -> Result<&SimPort, Failure> {
        Ok(self.running()?.port(name)?)
    }

    /// Where the function goes that decides about the pages of an accelerator, of the run to go on with.
    pub fn placement(&mut self, name: &str) -> Result<&PlacementSlot, Failure> {
        Ok(self.running()?.placement(name)?)
    }

    /// The state as JSON.
    pub fn state(&mut self) -> Result<Value, Failure> {
        let (cycle, over) = {
            let live = self.running()?;
            (live.cycle(), live.is_over())
        };
        let mut bad_answers = 0;
        let mut ports = Vec::new();
        for port in &self.ports {
            let (bad, count) = port.hooks.take_errors();
            self.bad_answer = bad.last().map(ToString::to_string).or(self.bad_answer.take());
            bad_answers += count;
            let side = |way| -> Result<Value, Failure> {
                let (waiting, lost) = port.hooks.samples(way, |samples| (samples.len(), samples.lost()))?;
                Ok(json!({"watched": port.hooks.is_sampled(way), "waiting": waiting, "lost": lost}))
            };
            let mut form = json!({
                "name": port.name,
                "protocol": port.protocol,
                "unit_bytes": port.unit_bytes,
                "external": port.is_external(),
                "driven": port.driven(),
                "rx": side(Direction::Rx)?,
                "tx": side(Direction::Tx)?,
            });
            if let Some(channel) = &port.channel {
                form["layout"] = channel.layout.into();
                form["rx"] = json!({"watched": true, "waiting": channel.arrived(), "lost": 0});
            }
            ports.push(form);
        }
        Ok(json!({
            "cycle": cycle,
            "over": over,
            "ports": ports,
            "bad_answers": bad_answers,
            "bad_answer": self.bad_answer,
        }))
    }
}
