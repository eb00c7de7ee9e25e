//! Unordered I/O (UIO) to host-managed memory in a virtual hierarchy: which vPPB takes a request (`fabric` IOR-6).
//!
//! Modelled: the HDM decoders of the upstream port, with the UIO bit of each, as the ranges of the vPPBs that they name; requests that come
//! from above and from peers; a judge that looks at what a switch did with one, by an arithmetic of its own. Detail: one request, without
//! time; a switch of CXL.io (`cxl.switch.io`, `cxl.switch.io-pbr`) gives it some.
//!
//! A walk through one request: each way of each decoder is a range ([`UioRange`]) of the vPPB that it names. A request whose bytes
//! all are of one range goes to that vPPB; from a peer only if its own port is enabled for that, else it is aborted. Where a
//! part of it is of a range, or the decoder has UIO off, the host has to take it, and so it does what no decoder has.
//! Nothing that came from above goes up again: that is an unsupported request.

use super::violation;
use scalepool_memory::bridge::BridgeDecoders;
use scalepool_memory::decoder::Arithmetic;
use scalepool_memory::uio::{UioRange, UioWay};
use scalepool_protocols::wire::Violation;

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
#[derive(Debug, Clone, Default, PartialEq, Eq)]
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

    /// These ranges, each of a vPPB.
    pub fn of_ranges(ranges: Vec<(usize, UioRange)>) -> UioRoutes {
        UioRoutes(ranges)
    }

    /// The rule that a switch breaks which has done this with a request of `bytes`, at least 1, looked at byte by byte of its ends and of each
    /// chunk: it goes down only to a vPPB that has all of it in a range that allows UIO, and from a peer only where that may send.
    pub fn judge(&self, from: UioFrom, address: u64, bytes: u64, routed: UioRouted) -> Option<Violation> {
        let last = address.saturating_add(bytes.max(1) - 1);
        let holds = |range: &UioRange, at: u64| {
            range.base <= at && at - range.base < range.size && (at / range.granularity) % range.ways == range.position
        };
        let of_whole = |vppb: usize| {
            self.0.iter().filter(move |(of, _)| *of == vppb).map(|(_, range)| range).find(|range| {
                let step = range.granularity as usize;
                (address..=last).step_by(step).chain([last]).all(|at| holds(range, at))
            })
        };
        let (found, expected, text) = match (routed, from) {
            (UioRouted::Down(vppb), UioFrom::Down { vppb: own, .. }) if vppb == own => {
                (format!("it left at vPPB {vppb}, where it came"), "another side", "a request of UIO went back")
            }
            (UioRouted::Down(vppb), _) if of_whole(vppb).is_none() => (
                format!("it left at vPPB {vppb}"),
                "a vPPB with all of its bytes in one range",
                "a request of UIO went to a vPPB without a range of it",
            ),
            (UioRouted::Down(vppb), _) if of_whole(vppb).is_some_and(|range| !range.allows_uio) => (
                format!("it left at vPPB {vppb}, whose decoder has UIO off"),
                "it to go toward the host",
                "a decoder that does not allow UIO was used for a request of UIO",
            ),
            (UioRouted::Down(vppb), UioFrom::Down { is_enabled: false, .. }) => (
                format!("it left at vPPB {vppb}"),
                "Completer Abort",
                "a port sent UIO to a peer without being enabled for that",
            ),
            _ => return None,
        };
        let text = format!("{text}: {bytes} bytes at {address:#x}");
        Some(violation("FAB-IOR-06", found, expected.to_owned(), &text))
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
