//! Vector files: make, write, read, compare.
//!
//! Modelled: sets of known-good vectors and known breaks for benches of other people: messages of every layout, flits of
//! every protocol as streams, retries, each break with the rule it breaks. Detail: to the byte, the same on every
//! machine. Left out: transaction traces (see [`scalepool_trace`]).
//!
//! The rule of a break is stated where the break is made, not asked of the model's checks; tests hold the two against
//! each other and every vector against oracles, so a wrong check shows.
//!
//! A walk through one set: a [`Spec`] lists its [`VectorSource`]s; each makes a [`VectorSet`], groups of cases, out of
//! the layout table, hand-built flits and the frozen random numbers of [`scalepool_kernel::Rng`], whose stream depends
//! on the seed and the name of the file alone; [`text::VectorFileForm`] turns it into a `.hex`, a `.rsp` and a `.jsonl`
//! file; [`write_set`] adds [`Manifest`] and `SHA256SUMS` and moves the whole into place; [`check_set`] does the same
//! in memory and names the first case and field that differ, with the readers [`hex`] and [`rsp`] and
//! [`GoldenDifference`].
//!
//! Invariants: a released vector never changes under the same format version; a set is written whole or not at all;
//! every case of flits begins and ends with no data owed.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod breaking;
mod check;
mod cross;
pub mod cxl256;
pub mod cxl68;
pub mod cxlio;
mod error;
pub mod fabric;
pub mod hex;
pub mod layouts;
pub mod legal;
mod lines;
pub mod locate;
mod manifest;
pub mod nvlink;
pub mod rsp;
mod spec;
pub mod text;
pub mod ualink;
mod vectors;
mod write;

pub use check::{CheckReport, Mismatch, check_set};
pub use error::SetError;
pub use lines::FormatError;
pub use locate::GoldenDifference;
pub use manifest::{FileEntry, MANIFEST, Manifest, SUMS, sha256};
pub use spec::{DEFAULT_COUNT, DEFAULT_SEED, FORMAT_VERSION, MAX_COUNT, MAX_SEED, Spec, VectorSource, protocols};
pub use vectors::{CaseGroup, Context, MessageCase, Stream256, StreamCase, VectorContent, VectorSet};
pub use write::{Progress, write_set};
