//! Conformance of DRAM and HBM: the rules of `memory`, each obeyed and broken.

#[macro_use]
#[path = "coh/rows.rs"]
mod rows;

mod bandwidth;
mod ecc;
mod flash;
mod latency;
mod mapping;
mod poison;
mod pool;
mod presets;
mod refresh;
mod removal;
mod rig;
mod scheduling;
mod spacing;
mod state;
mod systems;
mod trays;
