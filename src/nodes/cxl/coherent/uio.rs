//! What a peer on CXL.io does to a device: reads and writes all over its shared lines (UIO to HDM-DB, `coherence` §3.7).
//!
//! Modelled: places, times and data of the accesses. Left out: the packets of CXL.io and their way. A walk through one
//! access: its place and its time are drawn; what crosses the end of the lines is aborted by the device's only decoder.

use super::patterns::stamped;
use scalepool_coherence::clocked::program::CoreProgram;
use scalepool_coherence::clocked::uio::{UioAccess, UioPeer};
use scalepool_coherence::ids::AgentPort;
use scalepool_coherence::mem::uio::{LINE_BYTES, UioDecoder};
use scalepool_kernel::Rng;

/// Number of a writer on CXL.io; no core has it.
pub(super) const WRITER: AgentPort = 0xff;

/// Most cycles between two accesses.
const THINK_CYCLES: u64 = 200;

/// Accesses of a peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UioTraffic {
    /// Number of accesses.
    pub accesses: u64,
    /// Percent of them that write.
    pub writes: u64,
    /// Length of an access, at least 1.
    pub bytes: u64,
    /// Shared lines.
    pub lines: u64,
}

impl UioTraffic {
    /// The peer, with random numbers of its own. One decoder covers the shared lines and no more.
    pub fn peer(self, mut rng: Rng) -> UioPeer {
        let end = self.lines * LINE_BYTES;
        let decoder = UioDecoder { first: 0, last: end - 1, granule_bytes: end, uio: true };
        let access = move |n| UioAccess {
            address: rng.below(end),
            bytes: self.bytes,
            write: (rng.below(100) < self.writes).then(|| stamped(WRITER, n as u64)),
            think_cycles: rng.below(THINK_CYCLES),
        };
        UioPeer::new(vec![decoder], CoreProgram::new((0..self.accesses as usize).map(access)))
    }
}
