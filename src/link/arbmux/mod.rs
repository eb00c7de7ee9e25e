//! ARB/MUX: CXL.io and CXL.cachemem on one link, each behind a virtual link state machine (vLSM).
//!
//! Shared by both flit modes: instances, states and what may be asked ([`state`]), how the clients share
//! the wire. Each mode has its own folder, because what happens on the wire is another protocol: 68B flits lose ALMPs and so
//! synchronise Status after every recovery, 256B flits are numbered below the ARB/MUX and have PMNAK and L0p instead. Left
//! out: the LTSSM; its effects are inputs.

pub mod cxl256;
pub mod cxl68;
mod share;
pub mod state;

pub use state::{ArbMuxInstance, Ask, L1Level, State};
