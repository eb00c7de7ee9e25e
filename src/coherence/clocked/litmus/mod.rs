//! A litmus program on clocked cores: run many times, one run behind the other, from random beginnings.
//!
//! Modelled: a core with a thread of the program in front of each caching agent; any access whose predecessors are done may
//! go, after a random delay; a load takes the value of an own earlier store that is not done. Random in each run: which
//! core has which thread, where the locations lie (also in one line), which cores hold which lines at the start, when each core
//! begins, when each access goes, and evictions while the program runs. Left out: instructions, pipelines.
//!
//! [`runs`]: what the cores of a system share, the draw of each run and the outcomes. [`core`](mod@core): one core.
//!
//! A walk through one run, in three parts that each begin when all cores have ended the one before: cores load and evict lines
//! so that copies are where the draw wants them; the threads run; one core loads every location. Values loaded and these
//! last ones are the outcome. The bytes stay as they are: what a run stores is the difference from them.

pub mod core;
pub mod runs;

pub use core::LitmusCore;
pub use runs::{LitmusRuns, SeenRuns};
