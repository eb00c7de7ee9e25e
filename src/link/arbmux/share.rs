//! Who has the next place on the wire, decided by an arbiter at flit boundaries (`cxl-68b` §8.2: the policy is free).
//!
//! Modelled: both clients ask for every place, whether or not they have a flit. The one that wins is asked for its flit
//! first; a place that it leaves goes to the other one and moves no priority. Left out: priorities inside a client.

use super::state::ArbMuxInstance;
use scalepool_arbiter::{Arbiter, ArbiterKind, Requests};

/// Both clients, by [`ArbMuxInstance::index`].
const BOTH: Requests = Requests::all(ArbMuxInstance::ALL.len());

/// How the clients share the wire.
#[derive(Debug, Clone)]
pub(crate) struct WireShare {
    arbiter: Box<dyn Arbiter>,
}

impl WireShare {
    /// An arbiter with places for CXL.io and for CXL.cachemem while both have flits, 0 to 65535. A client of weight 0 gets
    /// only places that the other one leaves.
    pub(crate) fn new(kind: &ArbiterKind, weights: [u16; 2]) -> WireShare {
        let arbiter = (kind.make)(&weights);
        WireShare { arbiter: arbiter.unwrap_or_else(|e| unreachable!("two clients: {e}")) }
    }

    /// Who is asked first for the next place, and who second.
    pub(crate) fn order(&self) -> [ArbMuxInstance; 2] {
        match self.arbiter.arbitrate(&BOTH) {
            Some(1) => [ArbMuxInstance::Cachemem, ArbMuxInstance::Io],
            _ => [ArbMuxInstance::Io, ArbMuxInstance::Cachemem],
        }
    }

    /// The client that was asked first has taken the place.
    pub(crate) fn taken_by(&mut self, first: ArbMuxInstance) {
        self.arbiter.update(&BOTH, first.index());
    }
}
