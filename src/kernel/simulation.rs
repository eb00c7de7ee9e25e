//! A whole simulation: its partitions and links, how it runs, and when it stops.
//!
//! Time goes in *windows*. A window starts at the earliest instant at which anything can happen in any partition, and is no
//! longer than the smallest latency of a link between partitions. So no partition can send another one anything that is due
//! in the same window, and each runs it on its own. The windows follow from the design alone: the number of threads
//! changes nothing.

use super::crew::{Build, Crew, Group, Threads};
use super::error::{BuildError, Open, SimError};
use super::link::{self, LinkInEnd, LinkInfo, LinkOutEnd};
use super::partition::{Counts, Names, PartitionBuilder, enter};
use super::time::{FS_PER_US, Time};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The longest window: how much an observer has to buffer between two calls. 100 us; basis: model.
const LONGEST_WINDOW_FS: u64 = 100 * FS_PER_US;

/// The time without progress after which open work counts as stalled. 1 ms, far above every protocol timeout that the
/// models have; basis: model.
const STALL_LIMIT_FS: u64 = 1_000 * FS_PER_US;

/// How to run. None of `threads`, `shuffle` and `evaluate_idle` changes any result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunOptions {
    /// Stop before this time; without it the run goes on until nothing is left to do.
    pub limit: Option<Time>,
    /// Whether work may be open when the limit comes. If not, it is an error.
    pub open_at_limit_allowed: bool,
    /// The time without [`progress`](super::Cx::progress) after which open work is an error [fs]; `None`: never.
    pub stall_limit_fs: Option<u64>,
    /// Threads, at most one a partition; 0 counts as 1.
    pub threads: usize,
    /// Test mode: evaluate the modules of an instant in an order shuffled by this seed.
    pub shuffle: Option<u64>,
    /// Test mode: evaluate every module at every edge, even if it has nothing to do.
    pub evaluate_idle: bool,
}

impl Default for RunOptions {
    /// One thread, to the end, with a stall limit of 1 ms.
    fn default() -> RunOptions {
        RunOptions {
            limit: None,
            open_at_limit_allowed: false,
            stall_limit_fs: Some(STALL_LIMIT_FS),
            threads: 1,
            shuffle: None,
            evaluate_idle: false,
        }
    }
}

/// Why a run stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The time limit came.
    Limit,
    /// Nobody has anything to do any more.
    Quiescent,
}

/// What a run that ended well says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunReport {
    /// Why it stopped.
    pub stop: Stop,
    /// The limit, or the last instant at which a module had a reason to run.
    pub end: Time,
    /// Transactions completed: calls of [`progress`](super::Cx::progress).
    pub completed: u64,
    /// Edges of every clock in the run, skipped ones included. Clocks that are the same in several partitions are one.
    pub clock_edges: Vec<(String, u64)>,
    /// Evaluations of modules: the work of the simulator, which depends on `evaluate_idle`.
    pub evaluations: u64,
    /// Windows run.
    pub windows: u64,
}

/// A simulation under construction: partitions, and the links between them.
///
/// See the [module documentation](super) for an example.
pub struct Simulation {
    seed: u64,
    links: Vec<Arc<LinkInfo>>,
    link_names: BTreeSet<String>,
    partitions: Vec<Build>,
}

impl Simulation {
    /// An empty simulation; every random number in it derives from `seed`.
    pub fn new(seed: u64) -> Simulation {
        Simulation { seed, links: Vec::new(), link_names: BTreeSet::new(), partitions: Vec::new() }
    }

    /// Makes a link of `latency_fs` femtoseconds; its ends may go to two partitions or to one.
    ///
    /// # Errors
    /// A latency of 0, a name outside the grammar or used twice.
    pub fn link<T: Send + 'static>(
        &mut self,
        name: &str,
        latency_fs: u64,
    ) -> Result<(LinkOutEnd<T>, LinkInEnd<T>), BuildError> {
        enter(&mut self.link_names, "channel", name)?;
        if latency_fs == 0 {
            return Err(BuildError::Latency { name: name.into() });
        }
        let (writer, reader, info) = link::link(name, latency_fs);
        self.links.push(info);
        Ok((writer, reader))
    }

    /// Adds a partition; `build` puts it together, later, on the thread that will run it.
    pub fn partition(&mut self, build: impl FnOnce(&mut PartitionBuilder) -> Result<(), BuildError> + Send + 'static) {
        self.partitions.push(Box::new(build));
    }

    /// Builds and runs the simulation. `after_window` is called on this thread with the end of every window, while all
    /// partitions stand still.
    ///
    /// # Errors
    /// A mistake in the design, a stall, a deadlock, or work that is open at the limit.
    ///
    /// # Panics
    /// If a module panics: the panic is passed on.
    pub fn run(self, options: &RunOptions, mut after_window: impl FnMut(Time)) -> Result<RunReport, SimError> {
        let threads = options.threads.clamp(1, self.partitions.len().max(1));
        if threads == 1 {
            let mut running = self.start(options)?;
            let stop = running.0.advance(options.limit, &mut after_window)?;
            return running.0.finish(stop);
        }
        std::thread::scope(|scope| {
            let (crew, names) = Threads::build(scope, threads, self.seed, options, self.partitions)?;
            check_design(&self.links, self.link_names, names)?;
            let mut driver = Driver::new(crew, &self.links, options);
            let stop = driver.advance(options.limit, &mut after_window)?;
            driver.finish(stop)
        })
    }

    /// Builds the simulation on this thread, to be run step by step. The limit and the threads of the options do not apply.
    ///
    /// # Errors
    /// A mistake in the design.
    pub fn start(self, options: &RunOptions) -> Result<Running, SimError> {
        let builds = self.partitions.into_iter().enumerate().map(|(index, build)| (index as u32, build));
        let (group, names) = Group::build(self.seed, options, builds.collect()).map_err(|(_, error)| error)?;
        check_design(&self.links, self.link_names, names)?;
        Ok(Running(Driver::new(group, &self.links, options)))
    }
}

/// Names across partitions, and links with a free end.
fn check_design(links: &[Arc<LinkInfo>], mut channels: BTreeSet<String>, names: Vec<Names>) -> Result<(), BuildError> {
    let mut modules = BTreeSet::new();
    for partition in names {
        for name in partition.modules {
            enter(&mut modules, "module", &name)?;
        }
        for name in partition.channels {
            enter(&mut channels, "channel", &name)?;
        }
    }
    for link in links {
        if let Some(end) = link.unbound() {
            return Err(BuildError::Unbound { name: link.name.clone(), end });
        }
    }
    Ok(())
}

/// A simulation that was built and is run step by step, on the thread that built it.
pub struct Running(Driver<Group>);

impl Running {
    /// Runs everything before `limit`; returns early if nothing is left to do.
    ///
    /// # Errors
    /// A stall.
    pub fn run_until(&mut self, limit: Time, mut after_window: impl FnMut(Time)) -> Result<Stop, SimError> {
        self.0.advance(Some(limit), &mut after_window)
    }

    /// Ends the run where it stands.
    ///
    /// # Errors
    /// A deadlock, or work that is open at the limit.
    pub fn finish(mut self) -> Result<RunReport, SimError> {
        let stop = if self.0.crew.status().next == Time::MAX { Stop::Quiescent } else { Stop::Limit };
        self.0.finish(stop)
    }
}

/// Chooses the windows, and judges when and how the run ends.
struct Driver<C> {
    crew: C,
    window_fs: u64,
    stall_limit_fs: Option<u64>,
    open_at_limit_allowed: bool,
    /// The last time of which it is known that something got done, or that nothing was open.
    calm: Time,
    /// The largest limit so far.
    limit: Time,
    windows: u64,
}

impl<C: Crew> Driver<C> {
    fn new(crew: C, links: &[Arc<LinkInfo>], options: &RunOptions) -> Driver<C> {
        let latencies = links.iter().filter(|link| !link.is_local()).map(|link| link.latency_fs);
        Driver {
            crew,
            window_fs: latencies.min().unwrap_or(u64::MAX).min(LONGEST_WINDOW_FS),
            stall_limit_fs: options.stall_limit_fs,
            open_at_limit_allowed: options.open_at_limit_allowed,
            calm: Time::ZERO,
            limit: Time::ZERO,
            windows: 0,
        }
    }

    fn advance(&mut self, limit: Option<Time>, after_window: &mut dyn FnMut(Time)) -> Result<Stop, SimError> {
        let limit = limit.unwrap_or(Time::MAX);
        self.limit = self.limit.max(limit);
        loop {
            let status = self.crew.status();
            if status.next == Time::MAX {
                return Ok(Stop::Quiescent);
            }
            self.calm = self.calm.max(status.progress_at);
            self.check_stall(status.next.min(limit))?;
            if status.next >= limit {
                return Ok(Stop::Limit);
            }
            let end = status.next.plus_fs(self.window_fs).min(limit);
            self.crew.run(end);
            self.windows += 1;
            after_window(end);
        }
    }

    /// Nothing happens before `now`: is it too late already?
    fn check_stall(&mut self, now: Time) -> Result<(), SimError> {
        let Some(limit_fs) = self.stall_limit_fs else { return Ok(()) };
        if now.since_fs(self.calm) <= limit_fs {
            return Ok(());
        }
        let open = self.open();
        if !open.is_empty() {
            return Err(SimError::Stall { at: now, limit_fs, open });
        }
        self.calm = now;
        Ok(())
    }

    /// What is open, oldest first.
    fn open(&mut self) -> Vec<Open> {
        let mut open = self.crew.open();
        open.sort();
        open
    }

    fn finish(&mut self, stop: Stop) -> Result<RunReport, SimError> {
        let end = match stop {
            Stop::Quiescent => self.crew.status().last_event,
            Stop::Limit => self.limit,
        };
        if stop == Stop::Quiescent || !self.open_at_limit_allowed {
            let open = self.open();
            if !open.is_empty() {
                return Err(match stop {
                    Stop::Quiescent => SimError::Deadlock { at: end, open },
                    Stop::Limit => SimError::OpenAtLimit { at: end, open },
                });
            }
        }
        let counts = self.crew.counts();
        let mut clocks = Vec::new();
        for clock in counts.iter().flat_map(|partition| &partition.clocks) {
            if !clocks.contains(&clock) {
                clocks.push(clock);
            }
        }
        let edges = |clock: &super::Clock| match stop {
            Stop::Quiescent => clock.first_after(end),
            Stop::Limit => clock.first_at_or_after(end),
        };
        let sum = |count: fn(&Counts) -> u64| counts.iter().map(count).sum();
        Ok(RunReport {
            stop,
            end,
            completed: sum(|partition| partition.completed),
            clock_edges: clocks.iter().map(|(name, clock)| (name.clone(), edges(clock))).collect(),
            evaluations: sum(|partition| partition.evaluations),
            windows: self.windows,
        })
    }
}
