//! HDM decoders of a bridge between the root and the devices: those of the upstream port of a switch.
//!
//! Modelled: base, size, ways, granularity and target list of each decoder, what a commit with lock checks, and what the model
//! refuses in every case (`fabric` HDM-2, HDM-4); the target of an address (`fabric` §2.2). Left out: the bits of the registers, UIO,
//! the time that a commit takes.
//!
//! A walk through one address: the decoder that holds it is looked up; address bits from that of its granularity on, as many as its ways
//! need, name the place in its target list. A bridge never takes a remainder and never a parity: both are the root's alone.

use crate::decoder::{ADDRESS_END, GRANULARITIES, WINDOW_STEP_BYTES};

/// Ways that a decoder of a bridge can have: codes 0 to 3 (`fabric` §2.1).
pub const BRIDGE_WAYS: [u64; 4] = [1, 2, 4, 8];
/// Decoders of a bridge: the largest count that the capability register can say (`fabric` §2.1, code Ch).
pub const BRIDGE_DECODERS: usize = 32;

/// A decoder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BridgeDecoder {
    /// First address.
    pub base: u64,
    /// Bytes; with 0 it never hits.
    pub size: u64,
    /// Bytes in a row at one target.
    pub granularity: u64,
    /// Target of each way.
    pub targets: Vec<usize>,
    /// Bit 13: devices may send back-invalidate snoops for its addresses.
    pub back_invalidate: bool,
}

impl BridgeDecoder {
    fn holds(&self, address: u64) -> bool {
        address >= self.base && address - self.base < self.size
    }

    fn target(&self, address: u64) -> usize {
        let way = (address / self.granularity) & (self.targets.len() as u64 - 1);
        self.targets[way as usize]
    }
}

/// Why a decoder is not committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CommitError {
    /// Base or size.
    #[error("found base {base:#x} and size {size:#x}, expected multiples of 256 MiB (fabric §2.1)")]
    Step {
        /// Its base.
        base: u64,
        /// Its size.
        size: u64,
    },
    /// It ends behind the last address.
    #[error("found the end {end:#x}, expected at most {ADDRESS_END:#x} (fabric HDM-2)")]
    Wraps {
        /// Its end.
        end: u64,
    },
    /// It does not lie above the decoder before it.
    #[error("found base {base:#x}, expected at least {least:#x}, the end of the decoder before (fabric HDM-2)")]
    Order {
        /// Its base.
        base: u64,
        /// End of the one before.
        least: u64,
    },
    /// A number of ways that no code says.
    #[error("found {found} ways, expected 1, 2, 4 or 8 (fabric §2.1)")]
    Ways {
        /// What was given.
        found: usize,
    },
    /// A granularity that no code says.
    #[error("found a granularity of {found} bytes, expected 256 to 16384, a power of two (fabric §2.1)")]
    Granularity {
        /// What was given.
        found: u64,
    },
    /// A target of two ways.
    #[error("found the target {found} twice, expected each once (fabric HDM-2)")]
    Target {
        /// Which.
        found: usize,
    },
    /// All decoders are in use.
    #[error("found no free decoder, expected at most {BRIDGE_DECODERS} (fabric §2.1)")]
    Count,
}

/// The committed decoders of a bridge, in the order of their bases.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BridgeDecoders {
    list: Vec<BridgeDecoder>,
}

impl BridgeDecoders {
    /// Commits the next decoder, with lock.
    ///
    /// # Errors
    /// What a commit checks; nothing has changed then.
    pub fn commit(&mut self, decoder: BridgeDecoder) -> Result<(), CommitError> {
        let BridgeDecoder { base, size, granularity, targets, .. } = &decoder;
        let (base, size) = (*base, *size);
        if self.list.len() == BRIDGE_DECODERS {
            return Err(CommitError::Count);
        }
        if !base.is_multiple_of(WINDOW_STEP_BYTES) || !size.is_multiple_of(WINDOW_STEP_BYTES) {
            return Err(CommitError::Step { base, size });
        }
        let end = base.saturating_add(size);
        if end > ADDRESS_END {
            return Err(CommitError::Wraps { end });
        }
        let least = self.list.last().map_or(0, |before| before.base + before.size);
        if base < least {
            return Err(CommitError::Order { base, least });
        }
        if !BRIDGE_WAYS.contains(&(targets.len() as u64)) {
            return Err(CommitError::Ways { found: targets.len() });
        }
        if !GRANULARITIES.contains(granularity) {
            return Err(CommitError::Granularity { found: *granularity });
        }
        if let Some(found) = (1..targets.len()).find(|&n| targets[..n].contains(&targets[n])) {
            return Err(CommitError::Target { found: targets[found] });
        }
        self.list.push(decoder);
        Ok(())
    }

    /// The decoders.
    pub fn list(&self) -> &[BridgeDecoder] {
        &self.list
    }

    /// The target of an address; `None`: no decoder is hit.
    pub fn target(&self, address: u64) -> Option<usize> {
        self.list.iter().find(|decoder| decoder.holds(address)).map(|decoder| decoder.target(address))
    }

    /// The target of an address for whose lines back-invalidate snoops may come (`fabric` BIR-1).
    pub fn snooping_target(&self, address: u64) -> Option<usize> {
        let decoder = self.list.iter().find(|decoder| decoder.holds(address))?;
        decoder.back_invalidate.then(|| decoder.target(address))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    fn decoder(base: u64, size: u64, granularity: u64, targets: &[usize]) -> BridgeDecoder {
        BridgeDecoder { base, size, granularity, targets: targets.into(), back_invalidate: false }
    }

    #[test]
    fn edges_of_decoders() {
        let mut all = BridgeDecoders::default();
        all.commit(decoder(4 * GIB, GIB, 256, &[3])).expect("it is legal");
        all.commit(decoder(5 * GIB, 0, 256, &[1])).expect("a size of 0 is legal");
        all.commit(decoder(5 * GIB, GIB, 512, &[7, 0, 2, 5])).expect("it is legal");
        let at = |address| all.target(address);
        assert_eq!([at(4 * GIB - 1), at(4 * GIB), at(5 * GIB - 1), at(6 * GIB)], [None, Some(3), Some(3), None]);
        assert_eq!([0, 511, 512, 1024, 1536, 2048].map(|n| at(5 * GIB + n)), [7, 7, 0, 2, 5, 7].map(Some));
    }

    #[test]
    fn what_a_commit_refuses_changes_nothing() {
        let mut all = BridgeDecoders::default();
        all.commit(decoder(4 * GIB, GIB, 256, &[0])).expect("it is legal");
        let before = all.clone();
        let refused = [
            (decoder(GIB / 8, GIB, 256, &[0]), CommitError::Step { base: GIB / 8, size: GIB }),
            (decoder(5 * GIB, 64, 256, &[0]), CommitError::Step { base: 5 * GIB, size: 64 }),
            (decoder(ADDRESS_END - GIB, 2 * GIB, 256, &[0]), CommitError::Wraps { end: ADDRESS_END + GIB }),
            (decoder(4 * GIB, GIB, 256, &[0]), CommitError::Order { base: 4 * GIB, least: 5 * GIB }),
            (decoder(5 * GIB, GIB, 256, &[0, 1, 2]), CommitError::Ways { found: 3 }),
            (decoder(5 * GIB, GIB, 256, &[]), CommitError::Ways { found: 0 }),
            (decoder(5 * GIB, GIB, 32768, &[0]), CommitError::Granularity { found: 32768 }),
            (decoder(5 * GIB, GIB, 256, &[0, 1, 2, 1]), CommitError::Target { found: 1 }),
        ];
        for (decoder, error) in refused {
            assert_eq!(all.commit(decoder), Err(error));
            assert_eq!(all, before);
        }
        for n in 1..BRIDGE_DECODERS as u64 {
            all.commit(decoder((4 + n) * GIB, GIB, 256, &[0])).expect("there is one left");
        }
        assert_eq!(all.commit(decoder(100 * GIB, GIB, 256, &[0])), Err(CommitError::Count));
    }
}
