//! Faults of the wire as they concern 68B units: how they are written, and what a bad unit looks like.

pub use crate::link::fault::{Fault, FaultyWire};

use crate::kernel::Rng;
use crate::link::fault::OnWire;
use scalepool_protocols::cxl::cxl68::unit::{UNIT_BYTES, Unit};
use std::str::FromStr;

/// A fault that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("fault `{found}`: expected flip:FLIT:BIT (bit 0 to 543), noise:FLIT, drop:FLIT, dup:FLIT or vanish:FLIT")]
pub struct FaultError {
    found: String,
}

impl FromStr for Fault {
    type Err = FaultError;

    /// `flip:FLIT:BIT`, `noise:FLIT`, `drop:FLIT`, `dup:FLIT`, `vanish:FLIT`.
    fn from_str(text: &str) -> Result<Fault, FaultError> {
        let error = || FaultError { found: text.to_owned() };
        let number = |s: &str| s.parse::<u64>().map_err(|_| error());
        let parts: Vec<&str> = text.split(':').collect();
        match parts[..] {
            ["flip", unit, bit] => {
                let bit = number(bit)?;
                if bit >= 8 * UNIT_BYTES as u64 {
                    return Err(error());
                }
                Ok(Fault::Flip { unit: number(unit)?, bit: bit as u16 })
            }
            ["noise", unit] => Ok(Fault::Noise { unit: number(unit)? }),
            ["drop", unit] => Ok(Fault::Drop { unit: number(unit)? }),
            ["vanish", unit] => Ok(Fault::Vanish { unit: number(unit)? }),
            ["dup", unit] => Ok(Fault::Duplicate { unit: number(unit)? }),
            _ => Err(error()),
        }
    }
}

impl OnWire for Unit {
    fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }

    fn make_noise(&mut self, rng: &mut Rng) {
        rng.fill_bytes(&mut self.0);
        // Whatever the draw: noise has no valid ID.
        (self.0[0], self.0[1]) = (0, 0);
    }

    /// Its ID and noise with a bad CRC.
    fn make_bad(&mut self, rng: &mut Rng) {
        rng.fill_bytes(&mut self.0[2..]);
        self.set_tail(!self.expected_crc());
    }

    /// CRC-16 lets one of 65536 heavy patterns through.
    fn deceives(&self, sent: &Unit) -> bool {
        self.payload() != sent.payload() && self.crc_ok()
    }
}
