//! CXL switches with port based routing: tables, translation at edges, routes, and systems of several switches.

mod cache;
mod cache_id_updates;
mod edge_ids;
mod edges;
mod gfd;
mod io;
mod io_isl;
mod io_logical;
mod io_losses;
mod lost;
mod over_hbr;
mod peers;
mod racks;
mod segments;
mod sharing;
mod spread;
mod systems;
mod tables;
mod topologies;
mod viral;
