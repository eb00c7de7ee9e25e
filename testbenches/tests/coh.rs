//! Coherence: rules of family COH, explorations, mutants and litmus cases. One file an area.

#[macro_use]
mod rows;
mod bias_rules;
mod c14;
mod cache_bench;
mod cache_explore;
mod cache_issue;
mod cache_orders;
mod cache_requests;
mod cache_snoops;
mod catalogue;
mod flows;
mod hops;
mod ids;
mod litmus;
mod liveness;
mod load;
mod many_hosts;
mod mem_bench;
mod mem_conflict;
mod mem_explore;
mod mem_filter;
mod mem_litmus;
mod mem_rows;
mod mem_rules;
mod mutants;
mod names;
mod peers;
mod poison;
mod reviewed;
mod routes;
mod scenarios;
mod shapes;
mod stress;
mod topology;
mod waits;
