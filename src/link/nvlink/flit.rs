//! A flit on a wire, and what faults make of it.

use crate::fault::WireUnit;
use scalepool_forms::FormError;
use scalepool_kernel::Rng;
use scalepool_protocols::nvlink::FLIT_BYTES;

/// 16 bytes, byte 0 first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NvlFlit(pub [u8; FLIT_BYTES]);

impl NvlFlit {
    /// The flit of these bytes.
    ///
    /// # Errors
    /// They are not 16.
    pub fn from_bytes(bytes: &[u8]) -> Result<NvlFlit, FormError> {
        let length = || FormError::new("unit", format!("{} bytes", bytes.len()), "16 bytes");
        bytes.try_into().map(NvlFlit).map_err(|_| length())
    }

    /// The flit as a number.
    pub const fn bits(&self) -> u128 {
        u128::from_le_bytes(self.0)
    }
}

impl From<u128> for NvlFlit {
    fn from(bits: u128) -> NvlFlit {
        NvlFlit(bits.to_le_bytes())
    }
}

impl WireUnit for NvlFlit {
    fn bytes(&self) -> &[u8] {
        &self.0
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }

    /// Random bytes.
    fn make_noise(&mut self, rng: &mut Rng) {
        rng.fill_bytes(&mut self.0);
    }

    /// The lowest bit of the CRC, or of its place in payload, is wrong: always found.
    fn make_bad(&mut self, _: &mut Rng) {
        self.0[12] ^= 0x80;
    }

    /// A flit alone does not tell: its CRC may stand in the next packet. Tests compare what comes out.
    fn deceives(&self, _: &NvlFlit) -> bool {
        false
    }
}
