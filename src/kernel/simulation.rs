//! A whole simulation: its partitions and links, how it runs, and when it stops.
//!
//! Time goes in *windows*. A window starts at the earliest instant at which anything can happen in any partition, and is no
//! longer than the smallest latency of a link between partitions. So no partition can send another one anything that is due
//! in the same window, and each runs it on its own. The windows follow from the design alone: the number of threads
//! changes nothing.

use super::crew::{Build, Crew, Group, Threads};
use super::error::{BuildError, SimError, Unfinished};
use super::link::{self, LinkInEnd, LinkInfo, LinkOutEnd};
use super::partition::{Counts, PartitionBuilder, TakenNames, enter};
use super::time::{FS_PER_US, Time};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The longest window: how much an observer has to buffer between two calls. 100 us; basis: model.
const LONGEST_WINDOW_FS: u64 = 100 * FS_PER_US;

/// The time without progress after which open work counts as stalled. 1 ms, far above every protocol timeout that the
/// models have; basis: model.
const STALL_LIMIT_FS: u64 = 1_000 * FS_PER_US;

/// The time without progress after which a run whose work is done ends, though links do not come to rest: 100 us, many round
/// trips; basis: model.
const DONE_AFTER_FS: u64 = 100 * FS_PER_US;

/// How to run. None of `threads`, `shuffle` and `evaluate_idle` changes any result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunOptions {
    /// Stop before this time; without it the run goes on until nothing is left to do.
    pub limit: Option<Time>,
    /// Whether work may be open when the limit comes. If not, it is an error.
    pub open_at_limit_allowed: bool,
    /// The time without [`progress`](super::Cx::progress) after which open work is an error, in fs; `None`: never.
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
    /// All work is done; links that noise keeps from coming to rest would go on for themselves.
    Done,
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
    /// With their weights.
    partitions: Vec<(u64, Build)>,
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
        self.weighted_partition(1, build);
    }

    /// The same with the work that it is expected to make, in any unit that is the same for all partitions: threads get about
    /// the same weight. It changes no result.
    pub fn weighted_partition(
        &mut self,
        weight: u64,
        build: impl FnOnce(&mut PartitionBuilder) -> Result<(), BuildError> + Send + 'static,
    ) {
        self.partitions.push((weight, Box::new(build)));
    }

    /// Builds and runs the simulation, see [`Running::run_until`] and [`Running::report`].
    ///
    /// # Errors
    /// A mistake in the design, a stall, a deadlock, or work that is open at the limit.
    ///
    /// # Panics
    /// If a module panics: the panic is passed on.
    pub fn run(self, options: &RunOptions, after_window: impl FnMut(Time)) -> Result<RunReport, SimError> {
        let mut running = self.start(options)?;
        // A stall is told by the report too, when the modules have left what they measured.
        let _ = running.run_until(options.limit, after_window);
        running.report()
    }

    /// Builds the simulation, to be run step by step. The limit of the options does not apply.
    ///
    /// # Errors
    /// A mistake in the design.
    pub fn start(self, options: &RunOptions) -> Result<Running, SimError> {
        let threads = options.threads.clamp(1, self.partitions.len().max(1));
        let (crew, names): (Box<dyn Crew>, _) = if threads == 1 {
            let builds = self.partitions.into_iter().enumerate().map(|(index, (_, build))| (index as u32, build));
            let (group, names) = Group::build(self.seed, options, builds.collect()).map_err(|(_, error)| error)?;
            (Box::new(group), names)
        } else {
            let (threads, names) = Threads::build(threads, self.seed, options, self.partitions)?;
            (Box::new(threads), names)
        };
        check_design(&self.links, self.link_names, names)?;
        Ok(Running::new(crew, &self.links, options))
    }
}

/// Names across partitions, and links with a free end.
fn check_design(
    links: &[Arc<LinkInfo>],
    mut channels: BTreeSet<String>,
    names: Vec<TakenNames>,
) -> Result<(), BuildError> {
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

/// A simulation that was built and is run step by step: chooses the windows, and judges when and how the run ends.
///
/// Steps change nothing: a window that a limit cuts goes on in the next step, and what is judged at the end of windows is
/// judged at the ends that it would have without limits.
pub struct Running {
    crew: Box<dyn Crew>,
    window_fs: u64,
    stall_limit_fs: Option<u64>,
    open_at_limit_allowed: bool,
    /// The last time of which it is known that something got done, or that nothing was open.
    calm: Time,
    /// The largest limit so far.
    limit: Time,
    /// End of the last window; it may be behind a limit that cut it.
    window_end: Time,
    windows: u64,
    /// The run is over: all work is done.
    done: bool,
    /// The run is over: nothing gets done any more.
    stalled: Option<SimError>,
}

impl Running {
    fn new(crew: Box<dyn Crew>, links: &[Arc<LinkInfo>], options: &RunOptions) -> Running {
        let latencies = links.iter().filter(|link| !link.is_local()).map(|link| link.latency_fs);
        // A stall is looked for between windows, so they are no longer than its limit.
        let longest = LONGEST_WINDOW_FS.min(options.stall_limit_fs.unwrap_or(u64::MAX)).max(1);
        Running {
            crew,
            window_fs: latencies.min().unwrap_or(u64::MAX).min(longest),
            stall_limit_fs: options.stall_limit_fs,
            open_at_limit_allowed: options.open_at_limit_allowed,
            calm: Time::ZERO,
            limit: Time::ZERO,
            window_end: Time::ZERO,
            windows: 0,
            done: false,
            stalled: None,
        }
    }

    /// Runs everything before `limit`, without one to the end; returns early if nothing is left to do. `after_window` is
    /// called with the end of every window, while all partitions stand still.
    ///
    /// # Errors
    /// A stall; the run is over then.
    ///
    /// # Panics
    /// If a module panics: the panic is passed on.
    pub fn run_until(
        &mut self,
        limit: impl Into<Option<Time>>,
        mut after_window: impl FnMut(Time),
    ) -> Result<Stop, SimError> {
        let limit = limit.into().unwrap_or(Time::MAX);
        self.limit = self.limit.max(limit);
        if let Some(stall) = &self.stalled {
            return Err(stall.clone());
        }
        loop {
            let next = self.crew.status().next;
            if next == Time::MAX {
                return Ok(Stop::Quiescent);
            }
            if self.done {
                return Ok(Stop::Done);
            }
            if next >= limit {
                return Ok(Stop::Limit);
            }
            if next >= self.window_end {
                match self.calm_at(next) {
                    Ok(calm) => self.calm = calm,
                    Err(stall) => {
                        self.stalled = Some(stall.clone());
                        return Err(stall);
                    }
                }
                // Links without noise have come to rest by then, and end the run by themselves.
                self.done = next.since_fs(self.crew.status().progress_at) > DONE_AFTER_FS && self.crew.is_done();
                if self.done {
                    return Ok(Stop::Done);
                }
                self.window_end = next.plus_fs(self.window_fs);
                self.windows += 1;
            }
            let end = self.window_end.min(limit);
            self.crew.run(end);
            after_window(end);
        }
    }

    /// Until when something got done, if nothing happens before `now`.
    ///
    /// # Errors
    /// A stall: that is too long ago, and something is open.
    fn calm_at(&mut self, now: Time) -> Result<Time, SimError> {
        self.given_up()?;
        let status = self.crew.status();
        let calm = self.calm.max(status.progress_at).max(status.waits_until);
        let Some(limit_fs) = self.stall_limit_fs.filter(|limit_fs| now.since_fs(calm) > *limit_fs) else {
            return Ok(calm);
        };
        let open = self.open();
        if open.is_empty() { Ok(now) } else { Err(SimError::Stall { at: now, limit_fs, open }) }
    }

    /// # Errors
    /// A module gave up.
    fn given_up(&mut self) -> Result<(), SimError> {
        let status = self.crew.status();
        let Some((since, rule)) = status.given_up else { return Ok(()) };
        Err(SimError::GivenUp { at: status.last_event, since, rule, open: self.open() })
    }

    /// What is open, oldest first.
    fn open(&mut self) -> Vec<Unfinished> {
        let mut open = self.crew.open();
        scalepool_ordered::sort(&mut open);
        open
    }

    /// What the run says if it ends where it stands; it may go on. Modules leave what they have measured,
    /// [`Module::publish`](super::Module::publish), however it ends.
    ///
    /// # Errors
    /// A stall, a deadlock, or work that is open at the limit.
    pub fn report(&mut self) -> Result<RunReport, SimError> {
        let counts = self.crew.publish();
        if let Some(stall) = &self.stalled {
            return Err(stall.clone());
        }
        let status = self.crew.status();
        let (stop, end) = match status.next {
            Time::MAX => (Stop::Quiescent, status.last_event),
            _ if self.done => (Stop::Done, status.last_event),
            _ => (Stop::Limit, self.limit),
        };
        self.given_up()?;
        if stop == Stop::Limit {
            self.calm_at(end)?;
        }
        if stop == Stop::Quiescent || stop == Stop::Limit && !self.open_at_limit_allowed {
            let open = self.open();
            if !open.is_empty() {
                return Err(match stop {
                    Stop::Quiescent => SimError::Deadlock { at: end, open },
                    Stop::Limit | Stop::Done => SimError::OpenAtLimit { at: end, open },
                });
            }
        }
        let mut clocks = Vec::new();
        for clock in counts.iter().flat_map(|partition| &partition.clocks) {
            if !clocks.contains(&clock) {
                clocks.push(clock);
            }
        }
        let edges = |clock: &super::Clock| match stop {
            Stop::Quiescent | Stop::Done => clock.first_after(end),
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
