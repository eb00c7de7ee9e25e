//! Coherence over real links: agents of [`scalepool_coherence`], each a node of the kernel, with CXL links between them.
//!
//! Modelled: cores that load and store, their caches, the home with its memory, one CXL link to each device with packer,
//! credits and replay. Two clocks: that of all agents (the reference) and the flit clock. Left out: CXL.io, enumeration,
//! the caches of the host.
//!
//! A walk through one store: the core misses and its cache sends RdOwn; the link packs it into a flit; the home takes it
//! out of its buffer, snoops the other holders over their links and waits; their answers bring the line home; GO-E and
//! data travel to the device, which stores. Behind each of these steps the watcher checks the line.

mod bias_flip;
mod build;
mod cache_pair;
mod crossing;
mod db_share;
mod keys;
mod links;
mod outcome;
mod star;
mod stimulus;
mod wiring;

#[cfg(test)]
mod tests;

pub use bias_flip::BIAS_FLIP;
pub use cache_pair::CACHE_PAIR;
pub use db_share::{DB_SHARE, FILTER_THRASH};

/// Names of the coherent scenarios: those with messages for a chart.
pub const NAMES: [&str; 4] = [CACHE_PAIR.name, DB_SHARE.name, FILTER_THRASH.name, BIAS_FLIP.name];
