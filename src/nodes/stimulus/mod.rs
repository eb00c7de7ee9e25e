//! Stimulus: what a host is asked to do, read from a memory trace or generated.
//!
//! * [`read_trace`] reads a recorded trace: the text of valgrind's lackey tool, or CSV, plain or gzip. A file is judged
//!   as a whole: either every line of it is sound, or the first unsound place is the error and nothing is handed out. It
//!   has at most [`MAX_ACCESSES`] accesses.
//! * [`saturated`] makes endless-demand read, write and mixed traffic.
//! * [`alg1a`], [`alg1b`], [`alg2`] are the stress algorithms of the compliance chapter, for a single host.
//! * [`HostProgram`] is what a host does in a run: a trace or saturated traffic.
//! * [`line_accesses`] turns accesses of any size into the line accesses a host's cache sees.
//!
//! Modelled: addresses, sizes, directions, the earliest host cycle of each access. Left out: the data of a traced
//! access (no trace format records it), several hosts in one file, virtual memory: an address is used as it stands.
//!
//! # Time
//! Host cycles throughout. The lines of a lackey trace carry no time: each is one host cycle after the line before,
//! instruction fetches included, whether they are simulated or not. The first column of CSV is a host cycle.

mod algorithms;
mod csv;
mod error;
mod lackey;
mod lines;
mod parsing;
mod program;
mod saturated;
mod source;

pub use algorithms::{AlgorithmStep, ProducerConsumer, WriteStreams, alg1a, alg1b, alg2};
pub use error::{ParameterError, TraceError, UnknownFormat};
pub use lines::{LineAccess, in_memory, line_accesses};
pub use program::{HostProgram, LineSource, RegionTraffic, lines_from};
pub use saturated::{LineRegion, Mix, saturated};
pub use source::{MAX_ACCESSES, StimulusFormat, Within, parse_trace, read_trace, read_trace_within};

/// What an access does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StimulusOp {
    /// An instruction is fetched.
    Ifetch,
    /// Data is read.
    Load,
    /// Data is written.
    Store,
    /// Data is read and written back: a load, then a store, of one instruction.
    Modify,
}

/// One access of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StimulusAccess {
    /// The earliest host cycle; `None`: the access's place in the trace is its cycle.
    pub at_cycles: Option<u64>,
    /// What it does.
    pub op: StimulusOp,
    /// Address of its first byte.
    pub address: u64,
    /// 1 to [`MAX_ACCESS_BYTES`].
    pub size_bytes: u32,
}

/// The largest access of a trace: a page of 4096 bytes. lackey itself stops at 512; a CSV line may stand for a block
/// transfer. Basis: model.
pub const MAX_ACCESS_BYTES: u32 = 4096;
