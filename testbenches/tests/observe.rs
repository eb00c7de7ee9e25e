//! Traces and waves, and who else reads them.
#![forbid(unsafe_code)]

mod interchange;
mod trace;
mod trees;
mod waves;
