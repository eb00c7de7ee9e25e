//! The ARB/MUX of a CXL 256B link (`cxl-256b` section 6): two protocols above the numbers of one link.
//!
//! Modelled: a vLSM for CXL.io and one for CXL.cachemem, the Active handshake, power states that the upstream port asks for,
//! their refusal by Active.PMNAK, the way out of L1 and L2, the width of the link by L0p, what the two vLSMs ask of the
//! physical layer, weighted arbitration between the clients. Detail: one flit a flit clock in each direction. Left out:
//! the LTSSM and the lanes behind a width (their effects are inputs and outputs), Requests for Retrain, thermal throttling
//! and other reasons for a width: somebody asks for it.
//!
//! No Status is synchronised after recovery: ALMPs are numbered and repeated like payload, so both sides of a vLSM see the
//! same ALMPs in the same order, and training changes no state. Order is also why no payload meets a vLSM that is not
//! Active: a side sends payload only when its ALMPs that open the peer's vLSM have gone before, and stops before it asks
//! to close it.
//!
//! A walk through one flit clock of an [`ArbMux`], which is itself a [`Client`](crate::cxl256::client::Client) of
//! the link's end: `receive` sorts the flit that arrived by its Flit Type; an ALMP moves the vLSM that it names or the
//! width, payload goes to its client if the vLSM is Active and is an event if not. `transmit` lets both vLSMs act on what
//! their clients ask, sends an ALMP if one waits, and else gives the place to a client whose vLSM is Active, by the
//! weights. The physical layer is told what to do by [`ArbMux::phy_request`] and [`ArbMux::width`] and tells by
//! `phy_down`, `phy_up` and `link_reset`.

pub mod almp;
pub mod l0p;
pub mod mux;
pub mod port;
pub mod state;
pub mod vlsm;

pub use l0p::{L0pSide, LinkWidth, WidthMove, WidthRefused};
pub use mux::{ArbMux, ArbMuxConfig, ArbMuxStats};
pub use state::{Cause, State, Vlsm256Move};
pub use vlsm::Vlsm;
