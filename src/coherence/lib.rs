//! The coherence engine: device caches and home agent of CXL.cache, and the coherent part of CXL.mem.
//!
//! Modelled: stable and transient states, messages and their order for cache lines of 64 bytes, as the fact sheet
//! `coherence` defines them. Detail: every agent is a pure state machine that takes one message and returns messages; it
//! knows neither time nor flits. The same code runs in simulations, with 64 real bytes per line, and in the exhaustive
//! search of `scalepool_proof`, with tokens as values. Left out: the trusted-execution opcodes, which are treated as
//! reserved, and what a host does inside its own caches.
//!
//! * Agents: [`cache`] (CXL.cache), [`mem`] (HDM-DB and HDM-H), [`bias`] (HDM-D). Each transition is a row of a table; a
//!   message that no row allows is reported as an [`event::CoherenceEvent`].
//! * [`config::CoherenceConfig`]: every choice that the fact sheet leaves open. [`rules`]: every decision that it prescribes.
//! * [`ids`]: ports and sets of ports. [`lines`]: what an agent stores for each line, in a search and in a simulation.
//! * [`order`]: which messages may pass which. [`monitor`]: the invariants V1 to V14. [`chart`]: message sequence charts.
//! * [`clocked`]: agents as modules of the kernel. [`passive`]: checks that need only the messages of links.
//! * [`thread`]: programs of cores, for litmus tests.
//!
//! Invariants: an agent never panics on a message; a wrong message changes nothing and is reported; equal inputs give
//! equal outputs.
//!
//! A walk through one request: a core asks its device cache for ownership of a line. The device cache sends RdOwn and
//! records the open request. The home agent accepts the request when no other transaction is open on the line, sends SnpInv
//! to every other holder and waits. Each holder responds at once, with data if its copy is dirty. When the last response
//! has arrived, memory is current. The home agent sends GO-E and the data, in either order, records the owner and frees the
//! line. The device cache has the line when both have arrived.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod agent;
pub mod bias;
pub mod cache;
pub mod chart;
pub mod clocked;
pub mod config;
pub mod content;
pub mod event;
pub mod ids;
pub mod lines;
pub mod mem;
pub mod message;
pub mod monitor;
pub mod names;
pub mod order;
pub mod passing;
pub mod passive;
pub mod rules;
pub mod thread;
