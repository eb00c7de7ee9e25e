//! Probes, transaction traces, waveforms and the comparison of traces: everything that observes a simulation.
//!
//! Modelled: no hardware. Modules hold a [`Tap`] and describe events in [`Record`]s; sinks write the records as JSON
//! lines ([`jsonl`]), as a log ([`log`]) or as a waveform ([`vcd`], with GTKWave files by [`gtkw`]). [`diff`] compares
//! two traces, [`explain`] builds the transaction trees of one trace, and [`tree_chart`] draws one. Detail: an observed flit is written byte for
//! byte, a message with every field. Left out: the clock of each module as a signal, and the 64 bytes of a data transfer
//! in a waveform (they are in the raw flits and in JSON lines).
//!
//! Invariants: the crate only observes; a simulation runs identically, ids included, with taps on or off. Times are plain
//! femtoseconds, and no type of the kernel appears here. Output is reproducible to the byte in whatever order records
//! were created, because they are sorted by (time, ordinal of the place, sequence number within the place). No date, path
//! or host name is written.
//!
//! A walk through one cycle: a module sees a flit and calls [`Tap::record`]. With taps off, the call tests one flag and
//! returns. With taps on, the record goes into the buffer of the tap, under an uncontended lock. Between two steps, when
//! all partitions are at the same time, the simulation calls [`Hub::drain_into`], which empties the buffers, sorts the
//! records, links them into transaction trees ([`handles`]) and passes them to every sink.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod axis;
pub mod diff;
pub mod explain;
mod fields;
pub mod filter;
pub mod flits;
pub mod fst;
pub mod gtkw;
pub mod handles;
pub mod highlights;
pub mod hops;
pub mod hub;
mod instants;
pub mod jsonl;
mod link_ids;
pub mod log;
pub mod output;
pub mod record;
mod rule_names;
pub mod signals;
mod state;
pub mod tree_chart;
pub mod vcd;
pub mod wait;

pub use axis::TimeAxis;
pub use filter::TraceFilter;
pub use handles::{RequestIdentifier, TransactionHandle, TransactionNaming};
pub use highlights::Highlights;
pub use hub::{FigureSignal, Hub, PlaceKind, Places, Tap, TracePlace};
pub use record::{Body, Record, RecordKind, Stamp, TraceVppb};
pub use wait::Wait;

use std::{fmt, io};

/// Why a trace or a waveform cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The filter is invalid, or it would let nothing be written.
    #[error(transparent)]
    Filter(#[from] filter::FilterError),
    /// A place cannot be shown as signals.
    #[error(transparent)]
    Place(#[from] signals::PlaceError),
    /// The output cannot be written.
    #[error("trace output cannot be written")]
    Io(#[from] io::Error),
    /// A companion file cannot be written.
    #[error(transparent)]
    File(#[from] output::FileError),
}

/// What a trace or a wave says about its run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceHeader {
    /// Version of the model, e.g. of this package.
    pub model_version: String,
    /// Which run it is of; `None` where there is none, as of an exploration or of what somebody else has recorded.
    pub run: Option<TracedRun>,
}

/// By what a run is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TracedRun {
    /// Hash of the scenario, lower-case hex.
    pub scenario_hash: String,
    /// Seed of the run.
    pub seed: u64,
}

/// As a comment of a wave.
impl fmt::Display for TracedRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "scenario_hash {} seed {}", self.scenario_hash, self.seed)
    }
}

/// Takes records in order and writes them down.
pub trait Sink {
    /// Takes the next record; times never decrease.
    ///
    /// # Errors
    /// The output cannot be written, or the record does not fit its place.
    fn record(&mut self, places: &Places, record: &Record) -> io::Result<()>;

    /// Ends the output and flushes it.
    ///
    /// # Errors
    /// The output cannot be written.
    fn finish(&mut self) -> io::Result<()>;

    /// The signals of a waveform that a viewer should show first; `None` for other outputs.
    fn highlights(&self) -> Option<&Highlights> {
        None
    }
}
