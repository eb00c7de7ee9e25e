//! UALink accelerators, with their ports, UPLI stations, protection and traffic.
//!
//! Modelled: accelerators that read, write and update each other's memory with real bytes, checked end to end. Left out:
//! switches (see [`crate::fabric`]) and the node's own coherence. A walk through one write: the originator takes a tag and
//! sends the request with its data; the port packs it; the completer of the peer writes the bytes; the response frees the
//! tag.

pub mod accelerator;
pub mod check;
pub mod completer;
pub mod guard;
pub mod port;
pub mod station;
pub mod traffic;
