//! CXL switches with hierarchy based routing: decoders of several levels, routes, and systems with a switch.

mod decoders;
mod manager;
mod module;
mod routes;
pub mod systems;
