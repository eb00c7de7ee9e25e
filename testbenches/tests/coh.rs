//! Coherence: rules of family COH, explorations, mutants and litmus cases. One file an area.
#![forbid(unsafe_code)]

#[path = "coh/cache_explore.rs"]
mod cache_explore;
#[path = "coh/litmus.rs"]
mod litmus;
