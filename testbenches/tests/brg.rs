//! The bridge SoC between UALink and CXL (`bridge`): its tables against the oracle, its rules, its stages, its systems.

mod atomics;
mod cache_rooms;
mod cache_sets;
mod cache_snoops;
mod cache_states;
mod cache_time;
mod common;
mod control;
mod errors;
mod latency;
mod lines;
mod order;
mod snoops;
mod systems;
mod tables;
mod templates;
mod windows;
