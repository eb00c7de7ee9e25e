//! CXL switches with hierarchy based routing: decoders of several levels, routes, and systems with a switch.

mod aer;
mod back_invalidate;
mod cache_id;
mod cascades;
mod commits;
mod crossbar;
mod decoders;
mod error_records;
mod errors;
mod fairness;
mod hdm_registers;
mod hot_plug;
mod isolation;
mod manager;
mod module;
mod order;
mod plug;
mod plug_meets;
mod plug_traffic;
mod relayed;
mod reset;
mod routes;
mod sharing;
mod slice_trace;
pub mod systems;
mod uio;
mod viral;
