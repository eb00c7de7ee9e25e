//! A [`Pair`](crate::pair::Pair) of 256B ends.

use super::cachemem::Cachemem;
use super::config::{CachememConfig, LinkConfig};
use super::end::Cxl256End;
use super::port::Layer;
use crate::pair::Pair as AnyPair;

/// A link.
pub type Pair<C = Cachemem> = AnyPair<Cxl256End<C>>;

impl Pair {
    /// A link with CXL.cachemem at both ends, see [`Pair::new`].
    pub fn cachemem(
        link: LinkConfig,
        host: CachememConfig,
        device: CachememConfig,
        latency_flits: u64,
        retrain_flits: u64,
    ) -> Pair {
        Pair::new(Cxl256End::cachemem(link, host), Cxl256End::cachemem(link, device), latency_flits, retrain_flits)
    }
}

impl<C: Layer> Pair<C> {
    /// A link whose wires take `latency_flits` (at least 1) and whose training takes `retrain_flits`.
    pub fn new(host: Cxl256End<C>, device: Cxl256End<C>, latency_flits: u64, retrain_flits: u64) -> Pair<C> {
        Pair::of(host, device, latency_flits, retrain_flits)
    }
}
