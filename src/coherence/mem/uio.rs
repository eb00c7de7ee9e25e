//! Accesses of CXL.io peers to device memory: which of them reach the DCOH (`coherence` §3.7).
//!
//! Modelled: the decoders of a device and the refusal of whatever one of them does not cover. Detail: addresses of the
//! system; an access that passes becomes one [`DeviceOp`](super::DeviceOp) a line. Left out: packets of CXL.io.

use crate::content::LineAddr;
use crate::event::CoherenceEvent;
use thiserror::Error;

/// Bytes of a line.
pub const LINE_BYTES: u64 = 64;

/// A decoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UioDecoder {
    /// First byte address.
    pub first: u64,
    /// Last byte address.
    pub last: u64,
    /// Bytes of an interleave granule; the whole range without interleave.
    pub granule_bytes: u64,
    /// UIO is allowed.
    pub uio: bool,
}

/// A completer abort: the access has no effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Abort {
    /// No decoder covers every byte.
    #[error("COH-UIO-02: {bytes} bytes at {address:#x} are not in one decoder")]
    NotCovered {
        /// First byte address.
        address: u64,
        /// Length.
        bytes: u64,
    },
    /// It crosses into another granule.
    #[error("COH-UIO-02: {bytes} bytes at {address:#x} cross an interleave boundary")]
    Crosses {
        /// First byte address.
        address: u64,
        /// Length.
        bytes: u64,
    },
    /// The decoder does not allow UIO.
    #[error("COH-UIO-02: the decoder of {address:#x} does not allow UIO")]
    NotAllowed {
        /// First byte address.
        address: u64,
    },
}

/// How an access ends: its lines, or an abort.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UioDecodedAccess {
    /// Lines that are accessed.
    pub lines: Vec<LineAddr>,
    /// Why it was refused.
    pub abort: Option<Abort>,
}

/// Decodes an access of 1 byte or more.
pub fn decode(decoders: &[UioDecoder], address: u64, bytes: u64) -> UioDecodedAccess {
    let last = address.saturating_add(bytes.saturating_sub(1));
    let hit = decoders.iter().find(|d| (d.first..=d.last).contains(&address));
    let abort = match hit {
        Some(d) if last > d.last => Some(Abort::NotCovered { address, bytes }),
        None => Some(Abort::NotCovered { address, bytes }),
        Some(d) if (address - d.first) / d.granule_bytes.max(1) != (last - d.first) / d.granule_bytes.max(1) => {
            Some(Abort::Crosses { address, bytes })
        }
        Some(d) if !d.uio => Some(Abort::NotAllowed { address }),
        Some(_) => None,
    };
    let lines = match abort {
        None => (address / LINE_BYTES..=last / LINE_BYTES).map(LineAddr).collect(),
        Some(_) => Vec::new(),
    };
    UioDecodedAccess { lines, abort }
}

impl UioDecodedAccess {
    /// A refused access with an effect.
    pub fn check(&self) -> Option<CoherenceEvent> {
        let abort = self.abort?;
        let line = *self.lines.first()?;
        let found = format!("{} lines accessed, and: {abort}", self.lines.len());
        Some(CoherenceEvent::new("COH-UIO-02", line, "device", found, "an abort without effect"))
    }
}
