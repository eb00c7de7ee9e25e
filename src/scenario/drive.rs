//! Runs a built simulation with what a user wants to see of it.
//!
//! A walk through one run: the outputs are opened, so a path that cannot be written is an error before anything is
//! simulated; records leave after every window; when the run is over the files get their names.

use super::observe::Observer;
use super::settings::Settings;
use super::{Request, RunError};
use crate::coherence::chart::Chart;
use crate::kernel::{RunOptions, RunReport, SimError, Simulation, Time};
use crate::trace::{Header, Hub};
use sha2::{Digest, Sha256};

/// What a run depends on besides the simulation itself.
pub(super) struct Drive<'a> {
    pub request: &'a Request,
    pub settings: &'a Settings,
    /// Period of the reference clock.
    pub clock_fs: u64,
    /// A settling limit above all time-outs of the design.
    pub stall_limit_fs: u64,
    /// Digest of a stimulus, empty where settings say it all.
    pub stimulus: &'a [u8],
}

impl Drive<'_> {
    /// Runs `sim`; the places of `hub` are all there.
    ///
    /// # Errors
    /// An output that cannot be written. What goes wrong in the simulation is the inner result.
    pub fn run(
        &self,
        sim: Simulation,
        hub: &mut Hub,
        on_window: &mut dyn FnMut(Time),
    ) -> Result<Result<RunReport, SimError>, RunError> {
        self.run_with_chart(sim, hub, || None, on_window)
    }

    /// As [`Drive::run`]; `chart` is asked for when the run is over.
    ///
    /// # Errors
    /// As there.
    pub fn run_with_chart(
        &self,
        sim: Simulation,
        hub: &mut Hub,
        chart: impl FnOnce() -> Option<Chart>,
        on_window: &mut dyn FnMut(Time),
    ) -> Result<Result<RunReport, SimError>, RunError> {
        let request = self.request;
        let mut observer = Observer::open(&request.outputs, &request.inputs(), &self.header(), hub)?;
        let options = RunOptions {
            limit: request.cycles.map(|n| Time::from_fs(n.saturating_mul(self.clock_fs))),
            open_at_limit_allowed: true,
            stall_limit_fs: Some(self.stall_limit_fs),
            threads: request.threads.max(1),
            shuffle: request.modes.shuffle,
            evaluate_idle: request.modes.evaluate_idle,
        };
        let mut output = Ok(());
        let ended = sim.run(&options, |window_end| {
            on_window(window_end);
            if output.is_ok() {
                output = observer.drain(hub);
            }
        });
        output?;
        if let Some(chart) = chart() {
            observer.draw(&chart)?;
        }
        observer.finish(hub)?;
        Ok(ended)
    }

    /// Head of traces and waves, with a hash of everything that decides the result, but the seed.
    fn header(&self) -> Header {
        let mut sha = Sha256::new();
        sha.update(&self.request.scenario);
        for (key, value) in self.settings.iter() {
            sha.update(format!("\n{key}={value}"));
        }
        sha.update(format!("\ncycles={:?}\n", self.request.cycles));
        sha.update(self.stimulus);
        Header {
            model_version: env!("CARGO_PKG_VERSION").into(),
            scenario_hash: crate::forms::number::hex(&sha.finalize()),
            seed: self.request.seed,
        }
    }
}
