//! A litmus program on clocked cores, run many times from random initial states, in batches of runs on lines of their own.
//!
//! Modelled: in front of each caching agent, a core that runs one thread of the program. Any access whose predecessors
//! are done may issue after a random delay. A load takes the value of an earlier store of its own core that is not yet
//! done (store forwarding). Random in each run: which core runs which thread, the addresses of the locations (several may
//! share a line), which cores hold which lines at the start, when each core starts, when each access issues, and
//! evictions while the program runs. Runs of a batch disturb each other only by the links and agents that they share. Left
//! out: instructions, pipelines.
//!
//! [`runs`]: the state that the cores of a system share, the random choices of each run, and the outcomes.
//! [`core`](mod@core): one core. `run`: one run on one core.
//!
//! A walk through one batch, in three phases, each of which starts when all cores have finished the phase before: (1) cores
//! load and evict lines, so that copies are where the random choices place them; (2) the threads run; (3) of each run one
//! core loads every location. The outcome consists of the values that the threads loaded and of the values of the third
//! phase. The bytes in memory are not cleared between runs: each run stores values relative to the bytes that it finds.

pub mod core;
mod run;
pub mod runs;

pub use core::LitmusCore;
pub use runs::{LitmusRuns, RUNS_OF_A_BATCH, SeenRuns};
