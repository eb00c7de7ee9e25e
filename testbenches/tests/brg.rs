//! The bridge SoC between UALink and CXL (`bridge`): its tables against the oracle, its rules, its stages, its systems.

mod atomics;
mod common;
mod errors;
mod latency;
mod lines;
mod order;
mod snoops;
mod systems;
mod tables;
mod windows;
