//! The ARB/MUX of a CXL 68B link (`cxl-68b` section 8): two protocols on one wire.
//!
//! Modelled: a virtual link state machine (vLSM) for CXL.io and one for CXL.cachemem, the Active handshake, power states
//! that the upstream port asks for, the way out of L1 and L2, the exchange of Status after every recovery with its
//! resolution table, what the two vLSMs ask of the physical layer, weighted arbitration between the clients. Detail: one
//! unit a flit clock in each direction. Left out: the LTSSM (its effect and duration are inputs), LinkReset, LinkError and
//! LinkDisable (no ALMP of 2.0 carries them), replay of CXL.io.
//!
//! A walk through one flit clock of an [`ArbMux`]: [`ArbMux::receive`] sorts the unit that arrived by its protocol ID; an
//! ALMP moves the vLSM that it names, a payload unit goes to its client if the vLSM is Active and is an event if not.
//! [`ArbMux::transmit`] lets both vLSMs act on what their clients ask, sends an ALMP if one waits, and else gives the
//! place to a client whose vLSM is Active, by the weights. The physical layer is told what to do by
//! [`ArbMux::phy_request`] and [`ArbMux::take_retrain_request`] and tells by [`ArbMux::phy_down`] and [`ArbMux::phy_up`].

pub mod almp;
pub mod client;
pub mod mux;
pub mod table;
pub mod vlsm;

pub use client::{Client, IoQueue};
pub use mux::{ArbMux, ArbMuxConfig, ArbMuxStats};
pub use vlsm::{PhysicalLinkEntry, Vlsm};
