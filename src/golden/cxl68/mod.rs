//! Flit vectors of `cxl-68b`.
//!
//! Every case starts and ends with no data owed, so a file is a set of cases and one stream at once: a reader that
//! takes its flits one after the other needs no reset between cases.

mod build;
pub mod context;
pub mod control;
pub mod flits;
pub mod retry;
