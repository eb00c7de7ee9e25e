//! What software wants of an HDM decoder, and the register writes that ask for it (`fabric` §2.1).
//!
//! Modelled: base, size, ways, granularity, lock, target type, and targets or skip, as numbers; they become writes in the order in
//! which software makes them, the control register with its commit bit last. Left out: UIO, the interleave set position.
//!
//! A walk: what no register can hold is refused here, before anything is written; what a register can hold but no decoder accepts is the
//! commit's business.

use super::DecoderOwner;
use scalepool_memory::decoder::WINDOW_STEP_BYTES;
use scalepool_protocols::cxl::hdm_decoder::{
    DECODER_STRIDE, DECODERS_AT, HdmControl, HdmGranularity, HdmTargetType, HdmWays, hdm_bridge_decoder as bridge,
    hdm_device_decoder as device,
};
use scalepool_protocols::wire::Wire;

/// A register that software writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HdmWrite {
    /// Where, from the beginning of the block \[bytes\].
    pub offset: usize,
    /// The 32 bits.
    pub value: u32,
}

/// What software wants of a decoder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HdmDecoderSetup {
    /// First address; a multiple of 256 MiB.
    pub base: u64,
    /// Bytes; a multiple of 256 MiB.
    pub size: u64,
    /// Number of targets.
    pub ways: HdmWays,
    /// Bytes in a row at one target.
    pub granularity: HdmGranularity,
    /// Whether the registers are locked once they are committed, and checked before.
    pub lock: bool,
    /// Port of each way, at most 8; of a bridge.
    pub targets: Vec<u8>,
    /// Bytes of the device that are left out below the share; of a device, a multiple of 256 MiB.
    pub skip: u64,
}

/// What no register can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HdmSetupError {
    /// Bits below 256 MiB.
    #[error("found {field} {found:#x}, expected a multiple of 256 MiB (FAB-HDM-14, fabric §2.1)")]
    Step {
        /// Of what.
        field: &'static str,
        /// What was given.
        found: u64,
    },
    /// A code without a meaning.
    #[error("found code {found} of the {field}, which means nothing (FAB-HDM-15, fabric §2.1)")]
    Code {
        /// Of what.
        field: &'static str,
        /// What was given.
        found: u8,
    },
    /// Codes 4 and 8 to 10 of the ways are for devices.
    #[error("found {found} ways of a bridge, expected 1, 2, 4 or 8 (FAB-HDM-15, fabric §2.1)")]
    Ways {
        /// What was given.
        found: usize,
    },
    /// Another number of targets than ways.
    #[error("found {found} targets, expected {expected} (fabric §2.1)")]
    Targets {
        /// What was given.
        found: usize,
        /// As many as the ways of a bridge; none in a device.
        expected: usize,
    },
}

impl HdmDecoderSetup {
    /// The writes for decoder `n`, control last.
    ///
    /// # Errors
    /// What no register can hold.
    pub fn writes(&self, owner: DecoderOwner, n: usize) -> Result<Vec<HdmWrite>, HdmSetupError> {
        let ways = self.ways.ways().ok_or(HdmSetupError::Code { field: "ways", found: self.ways.0 })?;
        if self.granularity.bytes().is_none() {
            return Err(HdmSetupError::Code { field: "granularity", found: self.granularity.0 });
        }
        if owner == DecoderOwner::Bridge && self.ways > HdmWays::Ways8 {
            return Err(HdmSetupError::Ways { found: ways });
        }
        for (field, found) in [("base", self.base), ("size", self.size), ("skip", self.skip)] {
            if !found.is_multiple_of(WINDOW_STEP_BYTES) {
                return Err(HdmSetupError::Step { field, found });
            }
        }
        let expected = if owner == DecoderOwner::Bridge { ways } else { 0 };
        if self.targets.len() != expected {
            return Err(HdmSetupError::Targets { found: self.targets.len(), expected });
        }
        let (low, high, last) = match owner {
            DecoderOwner::Device => (device::SKIP_LOW, device::SKIP_HIGH, self.skip),
            DecoderOwner::Bridge => {
                let mut ports = [0; 8];
                ports[..ways].copy_from_slice(&self.targets);
                (bridge::TARGETS_LOW, bridge::TARGETS_HIGH, u64::from_le_bytes(ports))
            }
        };
        let halves = |low: usize, high: usize, value: u64| [(low, value as u32), (high, (value >> 32) as u32)];
        let numbers = [
            halves(device::BASE_LOW.start, device::BASE_HIGH.start, self.base),
            halves(device::SIZE_LOW.start, device::SIZE_HIGH.start, self.size),
            halves(low.start, high.start, last),
        ];
        let registers = numbers.into_iter().flatten().chain([(device::CONTROL.start, self.control())]);
        let at = DECODERS_AT + DECODER_STRIDE * n;
        Ok(registers.map(|(register, value)| HdmWrite { offset: at + register, value }).collect())
    }

    /// The control register with its commit bit.
    fn control(&self) -> u32 {
        let control = HdmControl {
            granularity: self.granularity,
            ways: self.ways,
            lock_on_commit: self.lock,
            commit: true,
            target_type: HdmTargetType::HostOnly,
            ..HdmControl::default()
        };
        // Codes with a meaning fit.
        control.to_bits().unwrap_or_else(|e| unreachable!("{e}")) as u32
    }
}
