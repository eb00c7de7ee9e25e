//! The coherence engine: rules, explorations, litmus programs, flows and stress.
#![forbid(unsafe_code)]

mod coh;
