//! What the cores of a litmus program share: the part that is under way, the draw of the run, the outcomes so far.
//!
//! All cores of a program are in one partition of the kernel and on one clock. The order of their evaluation in one cycle
//! changes nothing: a part ends for all at a cycle of a raster behind the one in which the last core has ended it, and
//! cores look for its end only at the cycles of the raster.

use crate::content::LineAddr;
use crate::thread::ThreadProgram;
use scalepool_kernel::Rng;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Cycles between two looks at whether a part has ended.
const RASTER_CYCLES: u64 = 16;

/// Lines of which each run takes some.
const POOL_LINES: u64 = 16;

/// Bytes of a line.
const LINE_BYTES: u64 = 64;

/// Most cycles of a beginning or a delay, one of them in each run: from all at once to longer than a way over links and back.
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
    /// Loads it.
    Load,
    /// Gives it up, if it holds it and nothing is open on it.
    Evict,
}

/// What the draw of a run says of one core.
#[derive(Debug, Clone, Default)]
pub struct CorePlan {
    /// Its thread.
    pub thread: Option<usize>,
    /// Before the run.
    pub preparations: Vec<(LineAddr, Preparation)>,
    /// Cycles until it begins.
    pub skew_cycles: u64,
    /// Cycles of each access, from when it may go to when it goes.
    pub delays_cycles: Vec<u64>,
    /// Accesses in the order in which they are tried in one cycle.
    pub order: Vec<usize>,
    /// A line that it gives up while the program runs, so many cycles behind its begin.
    pub evicts: Option<(u64, LineAddr)>,
}

/// Parts of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunPart {
    /// Copies get to where they shall be.
    Prepare,
    /// The threads run.
    Run,
    /// A core loads the last values.
    Read,
    /// All runs are over.
    Over,
}

/// How often an outcome was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeenRuns {
    /// Runs.
    pub runs: u64,
    /// The first of them, counted from 0.
    pub first: u64,
}

/// Values loaded, thread by thread, and the last value of each location.
pub type LoadedAndLast = (Vec<u8>, Vec<u8>);

#[derive(Debug)]
struct State {
    rng: Rng,
    runs: u64,
    cores: usize,
    /// The run under way.
    run: u64,
    part: RunPart,
    /// Parts that have begun so far.
    parts: u64,
    /// Cycle in which the part begins.
    starts_at: u64,
    /// Cores that have not ended it.
    running: usize,
    places: Vec<BytePlace>,
    plans: Vec<CorePlan>,
    reader: usize,
    /// What each byte held when it was last read.
    held: BTreeMap<BytePlace, u8>,
    /// By thread.
    loaded: Vec<Vec<u8>>,
    outcomes: BTreeMap<LoadedAndLast, SeenRuns>,
}

/// Runs of a program, shared by the cores of a system.
#[derive(Debug, Clone)]
pub struct LitmusRuns {
    program: Arc<ThreadProgram>,
    state: Arc<Mutex<State>>,
}

/// What a core has to know of the part that is under way.
#[derive(Debug)]
pub(super) struct Begun {
    pub parts: u64,
    pub part: RunPart,
    pub starts_at: u64,
    /// The core is the one that reads.
    pub reads: bool,
    pub plan: CorePlan,
    pub places: Vec<BytePlace>,
    /// What each location held at the start of the run.
    pub held: Vec<u8>,
}

impl LitmusRuns {
    /// So many runs of a program, with random numbers of this seed.
    pub fn new(program: ThreadProgram, runs: u64, seed: u64) -> Self {
        let state = State {
            rng: Rng::for_name(seed, "litmus"),
            runs,
            cores: 0,
            run: 0,
            part: RunPart::Over,
            parts: 0,
            starts_at: 0,
            running: 0,
            places: Vec::new(),
            plans: Vec::new(),
            reader: 0,
            held: BTreeMap::new(),
            loaded: vec![Vec::new(); program.threads.len()],
            outcomes: BTreeMap::new(),
        };
        Self { program: Arc::new(program), state: Arc::new(Mutex::new(state)) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The program.
    pub fn program(&self) -> &ThreadProgram {
        &self.program
    }

    /// One core more, when the system is built; its number.
    pub(super) fn join(&self) -> usize {
        let mut state = self.state();
        state.cores += 1;
        if state.runs > 0 {
            state.draw(&self.program);
        }
        state.cores - 1
    }

    /// Outcomes with the runs in which they were seen.
    pub fn outcomes(&self) -> BTreeMap<LoadedAndLast, SeenRuns> {
        self.state().outcomes.clone()
    }

    /// Number of the run under way, from 0; as many as there are runs when all are over.
    pub fn run(&self) -> u64 {
        self.state().run
    }

    /// Whether all of them are over.
    pub fn are_over(&self) -> bool {
        let state = self.state();
        state.run >= state.runs
    }

    /// The part under way, if a core that knows `parts` of them does not know it.
    pub(super) fn begun(&self, core: usize, parts: u64) -> Option<Begun> {
        let state = self.state();
        (state.parts != parts).then(|| Begun {
            parts: state.parts,
            part: state.part,
            starts_at: state.starts_at,
            reads: core == state.reader,
            plan: state.plans.get(core).cloned().unwrap_or_default(),
            places: state.places.clone(),
            held: state.places.iter().map(|place| state.held.get(place).copied().unwrap_or(0)).collect(),
        })
    }

    /// A core has ended its thread with these values.
    pub(super) fn loaded(&self, thread: usize, values: Vec<u8>) {
        self.state().loaded[thread] = values;
    }

    /// The reading core has read what each location holds: the run has its outcome.
    pub(super) fn read(&self, bytes: &[u8]) {
        let mut state = self.state();
        let State { places, held, .. } = &mut *state;
        let before = |place| held.get(place).copied().unwrap_or(0);
        let values = places.iter().zip(bytes).zip(&self.program.initial);
        let last = values.map(|((place, byte), initial)| byte ^ before(place) ^ initial).collect();
        held.extend(places.iter().copied().zip(bytes.iter().copied()));
        let loaded = state.loaded.concat();
        let first = state.run;
        state.outcomes.entry((loaded, last)).or_insert(SeenRuns { runs: 0, first }).runs += 1;
    }

    /// A core has ended the part under way in this cycle.
    pub(super) fn ends(&self, cycle: u64) {
        let mut state = self.state();
        state.running = state.running.saturating_sub(1);
        if state.running == 0 {
            state.next(cycle, &self.program);
        }
    }
}

/// The next cycle of the raster.
pub(super) fn next_look(cycle: u64) -> u64 {
    (cycle / RASTER_CYCLES + 1) * RASTER_CYCLES
}

impl State {
    /// The next part begins.
    fn next(&mut self, cycle: u64, program: &ThreadProgram) {
        self.part = match self.part {
            RunPart::Prepare => RunPart::Run,
            RunPart::Run => RunPart::Read,
            RunPart::Read | RunPart::Over => {
                self.run += 1;
                RunPart::Prepare
            }
        };
        if self.part == RunPart::Prepare {
            if self.run >= self.runs {
                self.part = RunPart::Over;
            } else {
                self.draw(program);
            }
        }
        (self.parts, self.starts_at, self.running) = (self.parts + 1, next_look(cycle), self.cores);
    }

    /// A run with everything that is random in it.
    fn draw(&mut self, program: &ThreadProgram) {
        (self.part, self.parts, self.running) = (RunPart::Prepare, self.parts.max(1), self.cores);
        let rng = &mut self.rng;
        self.places.clear();
        let shares = rng.ratio(1, 8);
        while self.places.len() < program.initial.len() {
            let line = match self.places.first() {
                Some(first) if shares && rng.ratio(1, 2) => first.line,
                _ => LineAddr(rng.below(POOL_LINES)),
            };
            let place = BytePlace { line, byte: rng.below(LINE_BYTES) as usize };
            let is_taken = |other: &BytePlace| if shares { *other == place } else { other.line == line };
            if !self.places.iter().any(is_taken) {
                self.places.push(place);
            }
        }
        let mut threads: Vec<Option<usize>> = (0..program.threads.len()).map(Some).collect();
        threads.resize(threads.len().max(self.cores), None);
        rng.shuffle(&mut threads);
        let [skews, delays] = [0, 1].map(|_| SPREADS_CYCLES[rng.below(SPREADS_CYCLES.len() as u64) as usize]);
        let places = &self.places;
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
        self.plans = threads.into_iter().map(&mut plan).collect();
        self.reader = rng.below(self.cores as u64) as usize;
    }
}
