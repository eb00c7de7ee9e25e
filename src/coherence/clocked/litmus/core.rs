//! A core that runs threads of a litmus program, one in each run of a batch.
//!
//! A walk through one cycle: if a phase has begun since the last one, the core takes its part of it. It works on each run of
//! the batch (`run`). When it has ended the phase in all of them it polls until all other cores have, too.

use super::run::CoreRun;
use super::runs::{LitmusRuns, RunPart, next_look};
use crate::agent::{AgentOutput, Effect};
use crate::clocked::accessor::Caching;
use crate::clocked::core::{Core, Wants};
use crate::config::CoherenceConfig;
use crate::content::CacheLine;
use crate::message::Msg;

/// The litmus core.
#[derive(Debug)]
pub struct LitmusCore {
    runs: LitmusRuns,
    core: usize,
    /// Number of the phase that it has seen begin, and what the phase is.
    parts: u64,
    part: RunPart,
    /// First cycle of the phase.
    starts_at: u64,
    /// Whether the work of this core in the phase is done.
    has_ended: bool,
    batch: Vec<CoreRun>,
}

impl LitmusCore {
    /// Makes one more core of these runs.
    pub fn new(runs: &LitmusRuns) -> Self {
        Self {
            core: runs.join(),
            runs: runs.clone(),
            parts: 0,
            part: RunPart::Over,
            starts_at: 0,
            has_ended: true,
            batch: Vec::new(),
        }
    }
}

impl<A: Caching> Core<A> for LitmusCore {
    fn cycle(
        &mut self,
        agent: &mut A,
        config: &CoherenceConfig,
        cycle: u64,
        effects: &[Effect<CacheLine>],
        out: &mut AgentOutput<CacheLine>,
    ) -> Wants {
        if let Some(begun) = self.runs.begun(self.core, self.parts) {
            (self.parts, self.part, self.starts_at, self.has_ended) = (begun.parts, begun.part, begun.starts_at, false);
            let runs = begun.batch.into_iter().enumerate();
            let runs = runs.map(|(n, run)| CoreRun::new(&self.runs, n, run, begun.part, begun.starts_at));
            self.batch = runs.collect();
        }
        if self.part == RunPart::Over {
            return Wants::Message;
        }
        if self.has_ended {
            return Wants::Cycle(next_look(cycle));
        }
        let works = self.batch.iter_mut().filter_map(|run| run.cycle(cycle, (&mut *agent, config), effects, out));
        if let Some(next) = works.min() {
            return Wants::Cycle(next);
        }
        self.has_ended = true;
        self.runs.ends(cycle);
        Wants::Cycle(next_look(cycle))
    }

    fn heard(&mut self, _cycle: u64, msg: &Msg<CacheLine>) {
        self.batch.iter_mut().for_each(|run| run.heard(msg));
    }

    fn open_work(&self) -> Option<String> {
        Core::<A>::is_open(self).then(|| format!("run {} of the litmus program", self.runs.ended() + 1))
    }

    fn is_open(&self) -> bool {
        self.part != RunPart::Over || !self.runs.are_over()
    }
}
