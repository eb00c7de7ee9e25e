//! The C ABI: the committed header is fresh, a C program and a C++ program use it, and no argument breaks it.

use std::path::PathBuf;

/// The top folder of the checkout; these tests belong to the package of the shared library.
fn root() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../.."))
}

mod bridge_bits;
mod c_programs;
mod calls;
mod coherence;
mod dpi;
mod header;
mod health;
mod hooks;
mod links;
mod rough;
mod sims;
mod steps;
mod table;
mod transactions;
mod typed;
mod ualink_transfers;
