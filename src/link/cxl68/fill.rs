//! What the physical layer does where the link layer sends nothing (`cxl-68b` §1.2).
//!
//! Modelled: NULL units in the gaps, and how many of them open the link. Left out: ordered sets, scrambling.
//!
//! A walk: while the link comes up every unit is NULL; when 8 have been sent and 4 received it is in L0. From then on a
//! flit clock in which [`Cxl68End::transmit`](super::Cxl68End::transmit) gives nothing is filled.

use scalepool_protocols::cxl::cxl68::pid;
use scalepool_protocols::cxl::cxl68::unit::{Cxl68Unit, PAYLOAD_BYTES};

/// The unit that travels in a flit clock: what the link layer sends, else a NULL with zero payload (NUL-01).
pub fn phy_fill(unit: Option<Cxl68Unit>) -> Cxl68Unit {
    unit.unwrap_or_else(|| Cxl68Unit::plain(pid::NULL, &[0; PAYLOAD_BYTES]))
}

/// NULL units sent before L0. Source: `c14` 6.1.7.
const NULLS_SENT: u32 = 8;
/// NULL units received before L0. Source: `c14` 6.1.7.
const NULLS_RECEIVED: u32 = 4;

/// The step from Recovery.Idle or Config.Idle to L0, counted in NULL units.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct IdleToL0 {
    sent: u32,
    received: u32,
}

impl IdleToL0 {
    /// A NULL unit was sent.
    pub fn sent(&mut self) {
        self.sent += 1;
    }

    /// A unit came in; any but NULL starts the count again.
    pub fn received(&mut self, unit: &Cxl68Unit) {
        self.received = if unit.pid() == pid::NULL { self.received + 1 } else { 0 };
    }

    /// Whether the link layer may send.
    pub fn is_l0(&self) -> bool {
        self.sent >= NULLS_SENT && self.received >= NULLS_RECEIVED
    }
}
