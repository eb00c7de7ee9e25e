//! The bridge SoC between accelerators and CXL (`bridge`): its tables against the oracle, its rules, its stages, its systems.

mod atomics;
mod baselines;
mod cache_rooms;
mod cache_sets;
mod cache_snoops;
mod cache_states;
mod cache_time;
mod common;
mod control;
mod errors;
mod inbound;
mod inbound_time;
mod judge;
mod latency;
mod lines;
mod nvlink;
mod order;
mod path_latency;
mod scoreboard;
mod snoops;
mod supercluster;
mod systems;
mod tables;
mod templates;
mod tiers;
mod windows;
