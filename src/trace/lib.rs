//! Probes, transaction traces, waves and the comparison of traces: everything that watches a simulation.
//!
//! Modelled: nothing. Modules hold a [`Tap`] and describe what happens in [`Record`]s; sinks write them down as JSON
//! lines ([`jsonl`]), as a log ([`log`]) or as a waveform ([`vcd`], with GTKWave files by [`gtkw`]); [`diff`] compares two traces, [`explain`] makes trees of transactions of one. Detail: an
//! observed flit is written byte for byte, a message with every field. Left out: the clock of each module as a signal,
//! the 64 bytes of a data transfer in a wave (they are in the raw flits and in JSON lines).
//!
//! Invariants: observers only, a simulation runs the same with taps on or off, ids included; times are plain
//! femtoseconds, no type of the kernel appears here; output is the same to the byte however records were created,
//! because they are ordered by (time, ordinal of the place, own sequence); no date, path or host name is written.
//!
//! A walk through one cycle: a module sees a flit and calls [`Tap::record`]; with taps off that is one test of a
//! switch. With taps on, the record goes to the buffer of its tap, behind a lock that nobody else wants. Between two
//! steps, with all partitions at the same time, the simulation calls [`Hub::drain_into`]: the buffers are taken, sorted,
//! joined to trees of transactions ([`handles`]) and shown to every sink.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod diff;
pub mod explain;
mod fields;
pub mod filter;
pub mod flits;
pub mod fst;
pub mod gtkw;
pub mod handles;
pub mod highlights;
pub mod hub;
mod instants;
pub mod jsonl;
mod link_ids;
pub mod log;
pub mod output;
pub mod record;
pub mod signals;
mod state;
pub mod vcd;
pub mod wait;

pub use filter::TraceFilter;
pub use handles::{RequestIdentifier, TransactionHandle, TransactionNaming};
pub use highlights::Highlights;
pub use hub::{Hub, PlaceKind, Places, Tap, TracePlace};
pub use record::{Body, Record, RecordKind, Stamp};
pub use wait::Wait;

use std::io;

/// Why a trace or a wave cannot be begun.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Nothing would be written.
    #[error(transparent)]
    Filter(#[from] filter::FilterError),
    /// A place cannot be shown.
    #[error(transparent)]
    Place(#[from] signals::PlaceError),
    /// The output cannot be written.
    #[error("trace output cannot be written")]
    Io(#[from] io::Error),
    /// A file beside it cannot be written.
    #[error(transparent)]
    File(#[from] output::FileError),
}

/// What a trace or a wave says about its run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceHeader {
    /// Version of the model, e.g. of this package.
    pub model_version: String,
    /// Hash of the scenario, lower-case hex.
    pub scenario_hash: String,
    /// Seed of the run.
    pub seed: u64,
}

/// Takes records in order and writes them down.
pub trait Sink {
    /// Takes the next record; times never fall.
    ///
    /// # Errors
    /// The output cannot be written, or the record does not fit its place.
    fn record(&mut self, places: &Places, record: &Record) -> io::Result<()>;

    /// Ends the output and flushes it.
    ///
    /// # Errors
    /// The output cannot be written.
    fn finish(&mut self) -> io::Result<()>;

    /// What is worth seeing in it, of a wave.
    fn highlights(&self) -> Option<&Highlights> {
        None
    }
}
