//! Unordered I/O (UIO) to host-managed memory in a virtual hierarchy: which vPPB takes a request (`fabric` IOR-6).
//!
//! Modelled: the HDM decoders of the upstream port, with the UIO bit of each, as the ranges of the vPPBs that they name; requests that come
//! from above and from peers. Detail: one request, without time. Left out: the virtual channel, and UIO in any run.
//!
//! A walk through one request: each way of each decoder is a range ([`UioRange`]) of the vPPB that it names. A request whose bytes
//! all are of one range goes to that vPPB; from a peer only if its own port is enabled for that, else it is aborted. Where a
//! part of it is of a range, or the decoder has UIO off, the host has to take it, and so it does what no decoder has.
//! Nothing that came from above goes up again: that is an unsupported request.

use scalepool_memory::bridge::BridgeDecoders;
use scalepool_memory::decoder::Arithmetic;
use scalepool_memory::uio::{UioRange, UioWay};

/// Where a request comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UioFrom {
    /// The upstream port.
    Up,
    /// The port of a vPPB.
    Down {
        /// Its vPPB.
        vppb: usize,
        /// The port may send UIO to peers.
        is_enabled: bool,
    },
}

/// Where it goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UioRouted {
    /// To the port of a vPPB.
    Down(usize),
    /// Toward the host.
    Up,
    /// It is completed as Completer Abort.
    Abort,
    /// It is completed as Unsupported Request.
    Unsupported,
}

/// The ranges of the vPPBs of a hierarchy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UioRoutes(Vec<(usize, UioRange)>);

impl UioRoutes {
    /// Those of the decoders of an upstream port, whose targets are vPPBs; `allows_uio`: the UIO bit of a decoder, by its number.
    pub fn new(decoders: &BridgeDecoders, allows_uio: impl Fn(usize) -> bool) -> UioRoutes {
        let of_decoder = |(n, decoder): (usize, &scalepool_memory::bridge::BridgeDecoder)| {
            let (base, size, granularity) = (decoder.base, decoder.size, decoder.granularity);
            let (ways, allows_uio) = (decoder.targets.len() as u64, allows_uio(n));
            let range = move |(position, vppb): (usize, &usize)| {
                let (position, arithmetic) = (position as u64, Arithmetic::Modulo);
                (*vppb, UioRange { base, size, granularity, ways, position, arithmetic, allows_uio })
            };
            decoder.targets.iter().enumerate().map(range).collect::<Vec<_>>()
        };
        UioRoutes(decoders.list().iter().enumerate().flat_map(of_decoder).collect())
    }

    /// Where a request of `bytes` goes.
    pub fn route(&self, from: UioFrom, address: u64, bytes: u64) -> UioRouted {
        let (own, is_enabled, back) = match from {
            UioFrom::Up => (None, true, UioRouted::Unsupported),
            UioFrom::Down { vppb, is_enabled } => (Some(vppb), is_enabled, UioRouted::Up),
        };
        let ways = self.0.iter().map(|(vppb, range)| (*vppb, range.way(is_enabled, address, bytes)));
        match ways.into_iter().find(|(_, way)| *way != UioWay::Elsewhere) {
            // No TLP goes back to where it came from (`fabric` IOR-2).
            Some((vppb, _)) if own == Some(vppb) => back,
            Some((vppb, UioWay::Peer)) => UioRouted::Down(vppb),
            Some((_, UioWay::Abort)) => UioRouted::Abort,
            Some((_, UioWay::Host | UioWay::Elsewhere)) | None => back,
        }
    }
}
