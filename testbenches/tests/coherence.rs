//! The coherence engine: rules, explorations, litmus programs, flows and stress; transactions judged beside it.
#![forbid(unsafe_code)]

mod coh;
mod txn;
