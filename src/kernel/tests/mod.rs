//! The rules of the kernel, one test a rule, on modules that are closures.

mod channels;
mod design;
mod links;
mod scheduler;
mod wires;

use std::sync::{Arc, Mutex};

use super::*;

/// A module that is a function.
struct Act<F>(F);

impl<F: FnMut(&mut Cx) -> Next> Module for Act<F> {
    fn eval(&mut self, cx: &mut Cx) -> Next {
        (self.0)(cx)
    }
}

/// A module with something open.
struct Stuck(Pending, Next);

impl Module for Stuck {
    fn eval(&mut self, _: &mut Cx) -> Next {
        self.1
    }
    fn idle_ok(&self) -> Result<(), Pending> {
        Err(self.0.clone())
    }
    fn probes(&self, visit: &mut dyn FnMut(&str, u64)) {
        visit("credits", 3);
        visit("state", 1);
    }
}

/// What modules write down: (time \[fs\], text).
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<(u64, String)>>>);

impl Log {
    fn add(&self, cx: &Cx, text: impl ToString) {
        self.0.lock().unwrap().push((cx.now().as_fs(), text.to_string()));
    }

    /// The lines, those of one instant in alphabetical order.
    fn lines(&self) -> Vec<String> {
        let mut lines = self.0.lock().unwrap().clone();
        lines.sort();
        lines.into_iter().map(|(time, text)| format!("{time} {text}")).collect()
    }
}

fn period(fs: u64) -> Clock {
    Clock::with_period_fs(fs).unwrap()
}

fn until(limit_fs: u64) -> RunOptions {
    RunOptions { limit: Some(Time::from_fs(limit_fs)), open_at_limit_allowed: true, ..RunOptions::default() }
}

/// Runs one partition in every test mode, expects the same log each time, and returns it.
fn logged<B>(options: &RunOptions, build: B) -> Vec<String>
where
    B: Fn(&mut PartitionBuilder, &Log) -> Result<(), BuildError> + Clone + Send + 'static,
{
    let mut logs = Vec::new();
    for (shuffle, evaluate_idle) in [(None, false), (Some(1), false), (Some(2), true), (None, true)] {
        let log = Log::default();
        let (its, build) = (log.clone(), build.clone());
        let mut sim = Simulation::new(1);
        sim.partition(move |p| build(p, &its));
        let report = sim.run(&RunOptions { shuffle, evaluate_idle, ..options.clone() }, |_| ()).unwrap();
        logs.push((log.lines(), report.stop, report.end, report.clock_edges));
    }
    assert!(logs.iter().all(|log| *log == logs[0]), "{logs:#?}");
    logs.swap_remove(0).0
}
