//! CXL switches with hierarchy based routing: decoders of several levels, routes, and systems with a switch.

mod back_invalidate;
mod cache_id;
mod crossbar;
mod decoders;
mod fairness;
mod isolation;
mod manager;
mod module;
mod order;
mod reset;
mod routes;
mod sharing;
mod slice_trace;
pub mod systems;
