//! Faults of the wire (`architecture` section 5): inputs, never accidents.
//!
//! Modelled: bits of unit n flipped, unit n replaced by noise (a *drop* on a real wire: its place carries no valid
//! unit), unit n sent twice, unit n lost without a trace (which a 68B link cannot see), bit errors at a rate.
//! The verdict about each unit that they hit is asked for twice, of its bytes and of the pattern of the errors alone (`fabric` BIT-3).
//! Left out: bursts over lanes.
//!
//! What a unit is, and what a bad one looks like, is told by its link layer: [`WireUnit`].

use scalepool_kernel::Rng;
use scalepool_protocols::wire::Violation;

/// One fault at one unit, counted from 0 in the order of transmission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// Flip a bit of a unit, bit 8n+b; bits behind its end hit nothing.
    Flip {
        /// Unit.
        unit: u64,
        /// Bit.
        bit: u16,
    },
    /// The place of a unit carries noise: nothing that looks like a unit.
    Noise {
        /// Unit.
        unit: u64,
    },
    /// The place of a unit carries noise that the link layer repairs without training.
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
#[error(
    "fault `{found}`: expected flip:FLIT:BIT (bit 0 to {last_bit}), noise:FLIT, drop:FLIT, dup:FLIT or vanish:FLIT"
)]
pub struct FaultError {
    found: String,
    last_bit: usize,
}

impl Fault {
    /// Reads `flip:FLIT:BIT`, `noise:FLIT`, `drop:FLIT`, `dup:FLIT`, `vanish:FLIT` of units of `unit_bytes`.
    ///
    /// # Errors
    /// Another text, or a bit behind the end of the unit.
    pub fn parse(text: &str, unit_bytes: usize) -> Result<Fault, FaultError> {
        let last_bit = 8 * unit_bytes - 1;
        let error = || FaultError { found: text.to_owned(), last_bit };
        let number = |s: &str| s.parse::<u64>().map_err(|_| error());
        let parts: Vec<&str> = text.split(':').collect();
        match parts[..] {
            ["flip", unit, bit] => {
                let bit = number(bit)?;
                if bit > last_bit as u64 {
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

    /// Listed faults of both ends of a link: of what the first sends, and (`up:` in front) of what the second sends. With them
    /// the texts that are none.
    pub fn of_ends<'a>(texts: impl Iterator<Item = &'a str>, unit_bytes: usize) -> ([Vec<Fault>; 2], Vec<&'a str>) {
        let (mut by_end, mut wrong) = ([Vec::new(), Vec::new()], Vec::new());
        for text in texts {
            let (end, fault) = match text.strip_prefix("up:") {
                Some(rest) => (1, rest),
                None => (0, text.strip_prefix("down:").unwrap_or(text)),
            };
            match Fault::parse(fault, unit_bytes) {
                Ok(fault) => by_end[end].push(fault),
                Err(_) => wrong.push(text),
            }
        }
        (by_end, wrong)
    }

    /// Does to unit `n` what it says, if it is about that one.
    pub(super) fn apply<U: WireUnit>(&self, n: u64, unit: &mut U, rng: &mut Rng, effect: &mut FaultEffect) {
        match *self {
            Fault::Flip { unit: at, bit } if at == n => {
                if let Some(byte) = unit.bytes_mut().get_mut(usize::from(bit) / 8) {
                    *byte ^= 1 << (bit % 8);
                    effect.hit = true;
                }
            }
            Fault::Noise { unit: at } if at == n => {
                unit.make_noise(rng);
                effect.hit = true;
            }
            Fault::Drop { unit: at } if at == n => {
                unit.make_bad(rng);
                effect.hit = true;
            }
            Fault::Vanish { unit: at } if at == n => effect.lost = true,
            Fault::Duplicate { unit: at } if at == n => effect.twice = true,
            _ => (),
        }
    }
}

/// What faults have done to a unit besides its bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct FaultEffect {
    /// It vanishes.
    pub lost: bool,
    /// It comes twice.
    pub twice: bool,
    /// It was changed.
    pub hit: bool,
}

/// A unit of a link layer, as a wire sees it. One without bytes stands for what the layer below sends in the place of a unit:
/// it has no number, no fault hits it and no hook sees it.
pub trait WireUnit: Clone {
    /// All bytes that travel.
    fn bytes(&self) -> &[u8];
    /// The same, to be changed.
    fn bytes_mut(&mut self) -> &mut [u8];
    /// Becomes noise, see [`Fault::Noise`].
    fn make_noise(&mut self, rng: &mut Rng);
    /// Becomes a unit that the link layer drops, see [`Fault::Drop`].
    fn make_bad(&mut self, rng: &mut Rng);
    /// Whether a receiver takes it for good though it is not what was sent.
    fn deceives(&self, sent: &Self) -> bool;
    /// The rule that is broken where the pattern of its errors alone decides differently from its bytes (`fabric` BIT-3); `None` also of
    /// units of which only the bytes are looked at.
    fn judge_pattern(&self, sent: &Self) -> Option<Violation> {
        let _ = sent;
        None
    }
    /// Whether it was good before any error; units of which only the bytes are looked at count as good.
    fn is_good(&self) -> bool {
        true
    }
}

/// What arrives for one unit that was sent.
pub type Arrivals<U> = [Option<U>; 2];

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
    /// Of them those that look good and are not what was sent: what it cannot see either.
    pub undetected: u64,
    /// Units that vanished or came twice: what a 68B link cannot see.
    pub unseen: u64,
    /// Rules that verdicts from patterns of errors broke.
    wrong: Vec<Violation>,
}

impl FaultyWire {
    /// A wire with listed faults and a bit error rate of 0 up to 1.
    pub fn new(faults: Vec<Fault>, ber: f64, rng: Rng) -> FaultyWire {
        let mut wire = FaultyWire {
            faults,
            rng,
            sent: 0,
            next_error_bits: 0,
            ber,
            damaged: 0,
            undetected: 0,
            unseen: 0,
            wrong: Vec::new(),
        };
        wire.next_error_bits = wire.draw_gap();
        wire
    }

    /// Its bit error rate.
    pub fn ber(&self) -> f64 {
        self.ber
    }

    /// A wire without faults.
    pub fn clean() -> FaultyWire {
        FaultyWire::new(Vec::new(), 0.0, Rng::from_seed(0))
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

    /// Whether a unit of so many bytes arrives as it is; then it is sent with this, and need not be handed over.
    pub fn sends_whole(&mut self, bytes: usize) -> bool {
        if bytes == 0 {
            return true;
        }
        let bits = 8 * bytes as u64;
        let is_whole = self.faults.is_empty() && self.next_error_bits >= bits;
        if is_whole {
            self.sent += 1;
            self.next_error_bits -= bits;
        }
        is_whole
    }

    /// Whether verdicts from patterns of errors broke rules since the last [`FaultyWire::take_wrong`].
    #[inline]
    pub fn has_wrong(&self) -> bool {
        !self.wrong.is_empty()
    }

    /// Rules that verdicts from patterns of errors broke since the last call.
    pub fn take_wrong(&mut self) -> Vec<Violation> {
        std::mem::take(&mut self.wrong)
    }

    /// Sends a unit over the wire.
    pub fn send<U: WireUnit>(&mut self, unit: U) -> Arrivals<U> {
        self.send_hooked(unit, false)
    }

    /// The same of a unit that a hook may have changed. An end spoils units itself, such as one that tells that it is viral: of these the verdict from the
    /// pattern of their errors is not asked for, but for those that a hook has changed (`hooked`).
    pub(crate) fn send_hooked<U: WireUnit>(&mut self, unit: U, hooked: bool) -> Arrivals<U> {
        if unit.bytes().is_empty() {
            return [Some(unit), None];
        }
        let n = self.sent;
        self.sent += 1;
        let mut arrives = unit.clone();
        let mut out: Arrivals<U> = [None, None];
        let mut effect = FaultEffect::default();
        for fault in &self.faults {
            fault.apply(n, &mut arrives, &mut self.rng, &mut effect);
        }
        let FaultEffect { lost, twice, mut hit } = effect;
        let bits = 8 * arrives.bytes().len() as u64;
        while self.next_error_bits < bits {
            let bit = self.next_error_bits as usize;
            arrives.bytes_mut()[bit / 8] ^= 1 << (bit % 8);
            hit = true;
            self.next_error_bits += 1 + self.draw_gap();
        }
        self.next_error_bits = self.next_error_bits.saturating_sub(bits);
        self.damaged += u64::from(hit);
        if hit && (hooked || unit.is_good()) {
            self.wrong.extend(arrives.judge_pattern(&unit));
        }
        self.undetected += u64::from(hit && arrives.deceives(&unit));
        self.unseen += u64::from(lost || twice);
        if !lost {
            out[0] = Some(arrives.clone());
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
