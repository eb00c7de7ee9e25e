//! The bridge SoC between accelerators and CXL (`bridge`): its tables against the oracle, its rules, its stages, its systems.

mod atomics;
mod baselines;
mod cache_errors;
mod cache_rooms;
mod cache_sets;
mod cache_snoops;
mod cache_states;
mod cache_time;
mod common;
mod control;
<<<<<<< HEAD
mod credits;
=======
mod deadlock;
>>>>>>> rowsbrg
mod epochs;
mod errors;
mod inbound;
mod inbound_time;
mod judge;
mod latency;
mod lines;
mod nvlink;
mod order;
mod path_latency;
mod registers;
mod scoreboard;
mod snoops;
mod supercluster;
mod systems;
mod tables;
mod templates;
mod tier_peer;
mod tiers;
mod windows;
