//! Coherence: rules of family COH, explorations, mutants and litmus cases. One file an area.
#![forbid(unsafe_code)]

#[macro_use]
#[path = "coh/rows.rs"]
mod rows;
#[path = "coh/bias_rules.rs"]
mod bias_rules;
#[path = "coh/c14.rs"]
mod c14;
#[path = "coh/cache_bench.rs"]
mod cache_bench;
#[path = "coh/cache_explore.rs"]
mod cache_explore;
#[path = "coh/cache_issue.rs"]
mod cache_issue;
#[path = "coh/cache_orders.rs"]
mod cache_orders;
#[path = "coh/cache_requests.rs"]
mod cache_requests;
#[path = "coh/cache_snoops.rs"]
mod cache_snoops;
#[path = "coh/catalogue.rs"]
mod catalogue;
#[path = "coh/flows.rs"]
mod flows;
#[path = "coh/hops.rs"]
mod hops;
#[path = "coh/litmus.rs"]
mod litmus;
#[path = "coh/liveness.rs"]
mod liveness;
#[path = "coh/load.rs"]
mod load;
#[path = "coh/mem_bench.rs"]
mod mem_bench;
#[path = "coh/mem_conflict.rs"]
mod mem_conflict;
#[path = "coh/mem_explore.rs"]
mod mem_explore;
#[path = "coh/mem_filter.rs"]
mod mem_filter;
#[path = "coh/mem_litmus.rs"]
mod mem_litmus;
#[path = "coh/mem_rows.rs"]
mod mem_rows;
#[path = "coh/mem_rules.rs"]
mod mem_rules;
#[path = "coh/mutants.rs"]
mod mutants;
#[path = "coh/names.rs"]
mod names;
#[path = "coh/peers.rs"]
mod peers;
#[path = "coh/poison.rs"]
mod poison;
#[path = "coh/reviewed.rs"]
mod reviewed;
#[path = "coh/routes.rs"]
mod routes;
#[path = "coh/scenarios.rs"]
mod scenarios;
#[path = "coh/shapes.rs"]
mod shapes;
#[path = "coh/stress.rs"]
mod stress;
#[path = "coh/topology.rs"]
mod topology;
#[path = "coh/waits.rs"]
mod waits;
