//! Faults of the wire (`architecture` section 5): inputs, never accidents.
//!
//! Modelled: bits of unit n flipped, unit n replaced by noise (a *drop* on a real wire: its place carries no valid
//! unit), unit n sent twice, unit n lost without a trace (which this link layer cannot see), bit errors at a rate.
//! Left out: bursts over lanes.

use crate::kernel::Rng;
use scalepool_protocols::cxl::cxl68::unit::{UNIT_BYTES, Unit};
use std::str::FromStr;

/// One fault at one unit, counted from 0 in the order of transmission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// Flip a bit of a unit, bit 8n+b of the 544.
    Flip {
        /// Unit.
        unit: u64,
        /// Bit.
        bit: u16,
    },
    /// The place of a unit carries noise: random bytes without a valid ID.
    Noise {
        /// Unit.
        unit: u64,
    },
    /// The place of a unit carries its ID and noise with a bad CRC. The link layer repairs it without training.
    Drop {
        /// Unit.
        unit: u64,
    },
    /// A unit vanishes without a trace.
    Vanish {
        /// Unit.
        unit: u64,
    },
    /// A unit comes twice.
    Duplicate {
        /// Unit.
        unit: u64,
    },
}

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

/// What arrives for one unit that was sent.
pub type Arrivals = [Option<Unit>; 2];

/// The faulty wire of one direction.
#[derive(Debug, Clone)]
pub struct FaultyWire {
    faults: Vec<Fault>,
    rng: Rng,
    sent: u64,
    /// Bits until the next random error.
    next_error_bits: u64,
    ber: f64,
    /// Units that arrived changed: what a link layer repairs.
    pub damaged: u64,
    /// Units that vanished or came twice: what it cannot see.
    pub unseen: u64,
}

impl FaultyWire {
    /// A wire with listed faults and a bit error rate of 0 up to 1.
    pub fn new(faults: Vec<Fault>, ber: f64, rng: Rng) -> FaultyWire {
        let mut wire = FaultyWire { faults, rng, sent: 0, next_error_bits: 0, ber, damaged: 0, unseen: 0 };
        wire.next_error_bits = wire.draw_gap();
        wire
    }

    /// Bits to the next error: geometric distribution by inversion, so that a good unit costs one comparison.
    fn draw_gap(&mut self) -> u64 {
        if self.ber <= 0.0 {
            return u64::MAX;
        }
        if self.ber >= 1.0 {
            return 0;
        }
        // 53 random bits in (0, 1]; ln is not used, because its last bit may differ between machines.
        let uniform = (self.rng.next_u64() >> 11) + 1;
        gap_of(uniform, self.ber)
    }

    /// Sends a unit over the wire.
    pub fn send(&mut self, unit: Unit) -> Arrivals {
        let n = self.sent;
        self.sent += 1;
        let mut arrives = unit;
        let mut out: Arrivals = [None, None];
        let (mut lost, mut twice, mut hit) = (false, false, false);
        for fault in &self.faults {
            match *fault {
                Fault::Flip { unit, bit } if unit == n => {
                    arrives.0[usize::from(bit) / 8] ^= 1 << (bit % 8);
                    hit = true;
                }
                Fault::Noise { unit } if unit == n => {
                    self.rng.fill_bytes(&mut arrives.0);
                    // Whatever the draw: noise has no valid ID.
                    (arrives.0[0], arrives.0[1]) = (0, 0);
                    hit = true;
                }
                Fault::Drop { unit: at } if at == n => {
                    self.rng.fill_bytes(&mut arrives.0[2..]);
                    arrives.set_tail(!arrives.expected_crc());
                    hit = true;
                }
                Fault::Vanish { unit } if unit == n => lost = true,
                Fault::Duplicate { unit } if unit == n => twice = true,
                _ => (),
            }
        }
        let bits = 8 * UNIT_BYTES as u64;
        while self.next_error_bits < bits {
            let bit = self.next_error_bits as usize;
            arrives.0[bit / 8] ^= 1 << (bit % 8);
            hit = true;
            self.next_error_bits += 1 + self.draw_gap();
        }
        self.next_error_bits = self.next_error_bits.saturating_sub(bits);
        self.damaged += u64::from(hit);
        self.unseen += u64::from(lost || twice);
        if !lost {
            out[0] = Some(arrives);
        }
        if twice {
            out[1] = Some(arrives);
        }
        out
    }
}

/// floor(log(u) / log(1 - p)) for u = `uniform` / 2^53, by binary search over exact products of squares, with IEEE
/// multiplication alone: the same on every machine.
fn gap_of(uniform: u64, p: f64) -> u64 {
    let u = uniform as f64 / (1u64 << 53) as f64;
    // powers[k] = (1 - p)^(2^k)
    let mut powers = [0.0f64; 48];
    let mut q = 1.0 - p;
    for power in &mut powers {
        *power = q;
        q *= q;
    }
    // Largest n with (1 - p)^n >= u.
    let (mut n, mut product) = (0u64, 1.0f64);
    for k in (0..48).rev() {
        if product * powers[k] >= u {
            product *= powers[k];
            n += 1 << k;
        }
    }
    n
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_follow_the_rate() {
        for p in [0.5, 1e-2, 1e-4, 1e-6] {
            // The mean of evenly spaced quantiles is near the mean of the distribution, (1 - p) / p.
            let n = 20_000u64;
            let sum: f64 = (0..n).map(|i| gap_of((2 * i + 1) * ((1 << 53) / (2 * n)), p) as f64).sum();
            let (mean, want) = (sum / n as f64, (1.0 - p) / p);
            assert!((mean - want).abs() < 0.01 * want + 0.01, "rate {p}: mean {mean}, expected {want}");
        }
    }
}
