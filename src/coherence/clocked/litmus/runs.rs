//! The state that the cores of a litmus program share: the current phase, the random choices of the current batch of runs,
//! the outcomes so far.
//!
//! All cores of a program are in one partition of the kernel and on one clock. The order in which they are evaluated in
//! one cycle changes no result: cores check for the end of a phase only at every 16th cycle, and the next phase starts
//! for all cores at the first such cycle after the last core has finished the phase before.

use crate::content::LineAddr;
use crate::thread::ThreadProgram;
use scalepool_kernel::Rng;
use scalepool_ordered::OrderedMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Cycles between two checks for the end of a phase.
const RASTER_CYCLES: u64 = 16;

/// Runs of a batch, which are under way together on lines of their own. A batch takes little longer than one run, since a run
/// mostly waits for its links.
pub const RUNS_OF_A_BATCH: u64 = 20;

/// Number of lines from which each run of a batch draws its locations.
const POOL_LINES: u64 = 8;

/// Bytes of a line.
const LINE_BYTES: u64 = 64;

/// Upper bounds of start delays and access delays \[cycles\]; each batch draws one bound for either. They range from all
/// at once to longer than a round trip over links.
const SPREADS_CYCLES: [u64; 6] = [1, 4, 16, 64, 256, 1024];

/// A byte of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct BytePlace {
    /// The line.
    pub line: LineAddr,
    /// 0 to 63.
    pub byte: usize,
}

/// What a core does to a line before a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preparation {
    /// Loads the line.
    Load,
    /// Evicts the line, if the core's agent holds it and no transaction is outstanding on it.
    Evict,
}

/// The random choices of a run for one core.
#[derive(Debug, Clone, Default)]
pub struct CorePlan {
    /// The thread that the core runs.
    pub thread: Option<usize>,
    /// Actions on lines before the run.
    pub preparations: Vec<(LineAddr, Preparation)>,
    /// Delay before the core starts \[cycles\].
    pub skew_cycles: u64,
    /// Delay of each access, from when its predecessors are done until it issues \[cycles\].
    pub delays_cycles: Vec<u64>,
    /// Order in which accesses are tried within one cycle.
    pub order: Vec<usize>,
    /// A line that the core evicts while the program runs, and the delay after the core's start \[cycles\].
    pub evicts: Option<(u64, LineAddr)>,
}

/// Phases of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunPart {
    /// Cores load and evict lines, so that copies are where the random choices place them.
    Prepare,
    /// The threads run.
    Run,
    /// One core loads the final values.
    Read,
    /// All runs have ended.
    Over,
}

/// How often an outcome was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeenRuns {
    /// Number of runs with this outcome.
    pub runs: u64,
    /// The first of them, counted from 0.
    pub first: u64,
}

/// Values loaded, thread by thread, and the last value of each location.
pub type LoadedAndLast = (Vec<u8>, Vec<u8>);

/// A run of the current batch.
#[derive(Debug, Default)]
struct BatchRun {
    places: Vec<BytePlace>,
    /// Of each core.
    plans: Vec<CorePlan>,
    /// The core that loads the final values.
    reader: usize,
    /// Values loaded, by thread.
    loaded: Vec<Vec<u8>>,
}

#[derive(Debug)]
struct RunsState {
    rng: Rng,
    runs: u64,
    cores: usize,
    /// Runs that ended with the batches before.
    ended: u64,
    part: RunPart,
    /// Number of phases started so far.
    parts: u64,
    /// Cycle in which the current phase starts.
    starts_at: u64,
    /// Number of cores that have not finished the current phase.
    running: usize,
    batch: Vec<BatchRun>,
    /// Value of each byte when it was last read.
    held: OrderedMap<BytePlace, u8>,
    outcomes: OrderedMap<LoadedAndLast, SeenRuns>,
}

/// Runs of a program, shared by the cores of a system.
#[derive(Debug, Clone)]
pub struct LitmusRuns {
    program: Arc<ThreadProgram>,
    state: Arc<Mutex<RunsState>>,
}

/// What a core does in the current phase of one run.
#[derive(Debug)]
pub(super) struct BegunRun {
    /// Whether this core loads the final values.
    pub reads: bool,
    pub plan: CorePlan,
    pub places: Vec<BytePlace>,
    /// Byte that each location held at the start of the run.
    pub held: Vec<u8>,
}

/// The data of the current phase for one core.
#[derive(Debug)]
pub(super) struct CoreBatch {
    pub parts: u64,
    pub part: RunPart,
    pub starts_at: u64,
    /// The runs of the batch.
    pub batch: Vec<BegunRun>,
}

impl LitmusRuns {
    /// Prepares a number of runs of a program, with the given random seed.
    pub fn new(program: ThreadProgram, runs: u64, seed: u64) -> Self {
        let state = RunsState {
            rng: Rng::for_name(seed, "litmus"),
            runs,
            cores: 0,
            ended: 0,
            part: RunPart::Over,
            parts: 0,
            starts_at: 0,
            running: 0,
            batch: Vec::new(),
            held: OrderedMap::new(),
            outcomes: OrderedMap::new(),
        };
        Self { program: Arc::new(program), state: Arc::new(Mutex::new(state)) }
    }

    fn state(&self) -> MutexGuard<'_, RunsState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The program.
    pub fn program(&self) -> &ThreadProgram {
        &self.program
    }

    /// Registers one more core while the system is built; returns its number.
    pub(super) fn join(&self) -> usize {
        let mut state = self.state();
        state.cores += 1;
        if state.runs > 0 {
            state.draw(&self.program);
        }
        state.cores - 1
    }

    /// Outcomes with the runs in which they were seen.
    pub fn outcomes(&self) -> OrderedMap<LoadedAndLast, SeenRuns> {
        self.state().outcomes.clone()
    }

    /// Runs that ended with the batches before; at least the number of runs when all have ended.
    pub fn ended(&self) -> u64 {
        self.state().ended
    }

    /// Whether all runs have ended.
    pub fn are_over(&self) -> bool {
        let state = self.state();
        state.ended >= state.runs
    }

    /// The current phase, if it has started since the core saw phase number `parts`.
    pub(super) fn begun(&self, core: usize, parts: u64) -> Option<CoreBatch> {
        let state = self.state();
        if state.parts == parts {
            return None;
        }
        let held = |place| state.held.get(place).copied().unwrap_or(0);
        let batch = state.batch.iter().map(|run| BegunRun {
            reads: core == run.reader,
            plan: run.plans.get(core).cloned().unwrap_or_default(),
            places: run.places.clone(),
            held: run.places.iter().map(held).collect(),
        });
        let batch = batch.collect();
        Some(CoreBatch { parts: state.parts, part: state.part, starts_at: state.starts_at, batch })
    }

    /// Notes that a thread of a run of the batch has ended with these loaded values.
    pub(super) fn loaded(&self, run: usize, thread: usize, values: Vec<u8>) {
        self.state().batch[run].loaded[thread] = values;
    }

    /// Takes the final bytes of all locations of a run of the batch, which completes its outcome. The last batch may have runs
    /// that nobody asked for.
    pub(super) fn read(&self, run: usize, bytes: &[u8]) {
        let mut state = self.state();
        let RunsState { batch, held, .. } = &mut *state;
        let before = |place| held.get(place).copied().unwrap_or(0);
        let BatchRun { places, loaded, .. } = &batch[run];
        let values = places.iter().zip(bytes).zip(&self.program.initial);
        let last = values.map(|((place, byte), initial)| byte ^ before(place) ^ initial).collect();
        held.extend(places.iter().copied().zip(bytes.iter().copied()));
        let loaded = loaded.concat();
        let first = state.ended + run as u64;
        if first < state.runs {
            let seen = state.outcomes.entry((loaded, last)).or_insert(SeenRuns { runs: 0, first });
            (seen.runs, seen.first) = (seen.runs + 1, seen.first.min(first));
        }
    }

    /// Notes that a core has finished the current phase in this cycle.
    pub(super) fn ends(&self, cycle: u64) {
        let mut state = self.state();
        state.running = state.running.saturating_sub(1);
        if state.running == 0 {
            state.next(cycle, &self.program);
        }
    }
}

/// The next cycle in which cores check for the end of a phase.
pub(super) fn next_look(cycle: u64) -> u64 {
    (cycle / RASTER_CYCLES + 1) * RASTER_CYCLES
}

impl RunsState {
    /// Starts the next phase.
    fn next(&mut self, cycle: u64, program: &ThreadProgram) {
        self.part = match self.part {
            RunPart::Prepare => RunPart::Run,
            RunPart::Run => RunPart::Read,
            RunPart::Read | RunPart::Over => {
                self.ended += self.batch.len() as u64;
                RunPart::Prepare
            }
        };
        if self.part == RunPart::Prepare {
            if self.ended >= self.runs {
                self.part = RunPart::Over;
            } else {
                self.draw(program);
            }
        }
        (self.parts, self.starts_at, self.running) = (self.parts + 1, next_look(cycle), self.cores);
    }

    /// Draws all random choices of a batch. They are the same whether all of its runs count or not.
    fn draw(&mut self, program: &ThreadProgram) {
        (self.part, self.parts, self.running) = (RunPart::Prepare, self.parts.max(1), self.cores);
        let (rng, cores) = (&mut self.rng, self.cores);
        let spreads = [0, 1].map(|_| SPREADS_CYCLES[rng.below(SPREADS_CYCLES.len() as u64) as usize]);
        let pools = (0..RUNS_OF_A_BATCH).map(|n| n * POOL_LINES);
        self.batch = pools.map(|first_line| BatchRun::drawn(program, cores, first_line, spreads, rng)).collect();
    }
}

impl BatchRun {
    /// Draws the random choices of a run. `spreads`: bounds of the start delays and of the access delays \[cycles\].
    fn drawn(program: &ThreadProgram, cores: usize, first_line: u64, spreads: [u64; 2], rng: &mut Rng) -> Self {
        let mut places: Vec<BytePlace> = Vec::new();
        let shares = rng.ratio(1, 8);
        while places.len() < program.initial.len() {
            let line = match places.first() {
                Some(first) if shares && rng.ratio(1, 2) => first.line,
                _ => LineAddr(first_line + rng.below(POOL_LINES)),
            };
            let place = BytePlace { line, byte: rng.below(LINE_BYTES) as usize };
            let is_taken = |other: &BytePlace| if shares { *other == place } else { other.line == line };
            if !places.iter().any(is_taken) {
                places.push(place);
            }
        }
        let mut threads: Vec<Option<usize>> = (0..program.threads.len()).map(Some).collect();
        threads.resize(threads.len().max(cores), None);
        rng.shuffle(&mut threads);
        let [skews, delays] = spreads;
        let mut plan = |thread: Option<usize>| {
            let mut lines: Vec<LineAddr> = places.iter().map(|place| place.line).collect();
            rng.shuffle(&mut lines);
            let preparations = lines.iter().filter_map(|line| match rng.below(8) {
                0..4 => Some((*line, Preparation::Load)),
                4 => Some((*line, Preparation::Evict)),
                _ => None,
            });
            let preparations = preparations.collect();
            let accesses = thread.map_or(0, |thread| program.threads[thread].len());
            let mut order: Vec<usize> = (0..accesses).collect();
            rng.shuffle(&mut order);
            let evicted = lines.first().copied().filter(|_| rng.ratio(1, 4));
            CorePlan {
                thread,
                preparations,
                skew_cycles: rng.below(skews),
                delays_cycles: (0..accesses).map(|_| rng.below(delays)).collect(),
                order,
                evicts: evicted.map(|line| (rng.below(skews + delays), line)),
            }
        };
        let plans = threads.into_iter().map(&mut plan).collect();
        let reader = rng.below(cores as u64) as usize;
        Self { places, plans, reader, loaded: vec![Vec::new(); program.threads.len()] }
    }
}
