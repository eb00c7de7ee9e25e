//! Unordered I/O (UIO) to host-managed memory: where a request goes at a downstream port, and what a device takes (`fabric` §2.6).
//!
//! Modelled: the UIO range of a downstream port with the interleave bits above its granularity, and the decoder of a device. Detail: one
//! request, without time; switches and devices of CXL.io ask it in runs.
//!
//! A walk through one request: a port compares all of its bytes with its range. If they all are of its place in the interleave, the
//! request turns to the peer below; if some are, or the decoder has UIO off, the host has to take it. A device refuses what crosses
//! into the chunk of another device, and nothing of that is written.

use crate::decoder::{ADDRESS_END, Arithmetic, GRANULARITIES, WINDOW_STEP_BYTES};

/// Ways of an interleave that UIO knows (`fabric` §2.6).
pub const UIO_WAYS: [u64; 5] = [1, 2, 4, 8, 16];

/// The addresses of a device, as the decoder of its port or its own says them; what [`UioRange::check`] refuses is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UioRange {
    /// First address.
    pub base: u64,
    /// Bytes.
    pub size: u64,
    /// Bytes in a row at one device (UIG).
    pub granularity: u64,
    /// Devices of the interleave (UIW).
    pub ways: u64,
    /// Place of the device in it (ISP).
    pub position: u64,
    /// How targets follow from addresses; UIO knows modulo alone.
    pub arithmetic: Arithmetic,
    /// The UIO bit of the decoder.
    pub allows_uio: bool,
}

/// Why a range is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UioError {
    /// A number of ways.
    #[error("found {found} ways, expected 1, 2, 4, 8 or 16 (fabric §2.6)")]
    Ways {
        /// What was given.
        found: u64,
    },
    /// An arithmetic.
    #[error("found {found}, expected modulo: no UIO request goes by XOR (fabric §2.6)")]
    Arithmetic {
        /// What was given.
        found: &'static str,
    },
    /// A granularity.
    #[error("found a granularity of {found} bytes, expected 256 to 16384, a power of two (fabric §2.1)")]
    Granularity {
        /// What was given.
        found: u64,
    },
    /// A place in the interleave.
    #[error("found position {found} of {ways} ways, expected one below them (fabric §2.6)")]
    Position {
        /// What was given.
        found: u64,
        /// The ways.
        ways: u64,
    },
    /// A range that decoder registers cannot hold.
    #[error("found {size:#x} bytes from {base:#x} on, expected multiples of 256 MiB, not 0 bytes (fabric §2.1)")]
    Alignment {
        /// First address.
        base: u64,
        /// Bytes.
        size: u64,
    },
    /// Addresses that there are not.
    #[error("found {size:#x} bytes from {base:#x} on, expected an end of at most {ADDRESS_END:#x} (fabric §2.1)")]
    Range {
        /// First address.
        base: u64,
        /// Bytes.
        size: u64,
    },
}

/// Where a request goes at a downstream port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UioWay {
    /// None of its bytes are of the range: it is for another port.
    Elsewhere,
    /// Straight to the device below.
    Peer,
    /// Toward the host.
    Host,
    /// It is completed as Completer Abort.
    Abort,
}

/// How much of a request is of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RangeMatch {
    None,
    Partial,
    Complete,
}

impl UioRange {
    /// Judges what registers cannot say.
    ///
    /// # Errors
    /// What is refused.
    pub fn check(self) -> Result<UioRange, UioError> {
        let UioRange { base, size, granularity, ways, position, arithmetic, .. } = self;
        if !UIO_WAYS.contains(&ways) {
            return Err(UioError::Ways { found: ways });
        }
        if arithmetic != Arithmetic::Modulo {
            return Err(UioError::Arithmetic { found: arithmetic.name() });
        }
        if !GRANULARITIES.contains(&granularity) {
            return Err(UioError::Granularity { found: granularity });
        }
        if position >= ways {
            return Err(UioError::Position { found: position, ways });
        }
        if size == 0 || !base.is_multiple_of(WINDOW_STEP_BYTES) || !size.is_multiple_of(WINDOW_STEP_BYTES) {
            return Err(UioError::Alignment { base, size });
        }
        if base.checked_add(size).is_none_or(|end| end > ADDRESS_END) {
            return Err(UioError::Range { base, size });
        }
        Ok(self)
    }

    fn has(&self, address: u64) -> bool {
        let is_in = address >= self.base && address - self.base < self.size;
        is_in && address / self.granularity % self.ways == self.position
    }

    /// How much of a request of `bytes`, at least 1, is of the range; it is looked at chunk by chunk.
    fn matching(&self, address: u64, bytes: u64) -> RangeMatch {
        let last = address.saturating_add(bytes.max(1) - 1);
        // A request may begin or end within a chunk. A range does not, so its ends lie between chunks.
        let chunks = address / self.granularity..=last / self.granularity;
        let ends = chunks.flat_map(|chunk| {
            let first = (chunk * self.granularity).max(address);
            let end = (chunk * self.granularity + (self.granularity - 1)).min(last);
            [first, end]
        });
        let found = ends.fold([false; 2], |[some, other], at| if self.has(at) { [true, other] } else { [some, true] });
        match found {
            [true, false] => RangeMatch::Complete,
            [true, true] => RangeMatch::Partial,
            _ => RangeMatch::None,
        }
    }

    /// Where a request goes at the port of this range; `is_enabled`: the port may send UIO to peers.
    pub fn way(&self, is_enabled: bool, address: u64, bytes: u64) -> UioWay {
        match (self.matching(address, bytes), self.allows_uio) {
            (RangeMatch::None, _) => UioWay::Elsewhere,
            (RangeMatch::Partial, _) | (_, false) => UioWay::Host,
            (RangeMatch::Complete, true) if is_enabled => UioWay::Peer,
            (RangeMatch::Complete, true) => UioWay::Abort,
        }
    }

    /// Whether the device of this range takes a request. What it does not take is completed as Completer Abort, and nothing of it is
    /// committed.
    pub fn takes(&self, address: u64, bytes: u64) -> bool {
        let is_in_chunk =
            self.ways == 1 || address / self.granularity == address.saturating_add(bytes.max(1) - 1) / self.granularity;
        self.allows_uio && is_in_chunk && self.matching(address, bytes) == RangeMatch::Complete
    }
}
