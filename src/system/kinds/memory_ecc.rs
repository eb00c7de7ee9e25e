//! The table `ecc` of a memory: its codes, faults of its cells, its patrol, see [`scalepool_memory::ecc`].
//!
//! Modelled: the settings of `memory §6`. A walk through one description: the flips are read, each for a line that the memory has; codes
//! and patrol are made for the clock of the memory.

use crate::field::{FieldRange, config};
use crate::kind::ConfigFinding;
use crate::kinds::media::CxlMedia;
use crate::problem::TextPlace;
use crate::quantity::Unit;
use scalepool_kernel::Clock;
use scalepool_memory::ecc::UpsetConfig;
use scalepool_memory::ecc::line::CELL_BITS;
use scalepool_memory::ecc::{EccConfig, EccScheme, LineEcc, OnDieEcc, Patrol};
use scalepool_memory::{LINE_BYTES, line_address};

/// Flips from the start.
const FLIPS: &str =
    "ADDRESS:BIT with an address in the memory and bits 0 to 511 of the line, or 512 to 639 of its check bits";
/// Bits of a line.
const DATA_BITS: usize = LINE_BYTES as usize * 8;

config! {
    /// Codes, faults and patrol of a memory.
    pub struct MemoryEcc {
        scheme: String = "none" [Unit::Of("-")] in FieldRange::Words(EccScheme::NAMES), "code of the controller: none, SECDED over 64 bits, or a symbol code that corrects one failed device of ten (memory §6)";
        on_die: String = "none" [Unit::Of("-")] in FieldRange::Words(OnDieEcc::NAMES), "correction inside the die: none, a bit (sec) or an aligned symbol of 16 bits (ssc) of a word of 128 bits, in HBM of 256 (memory §6)";
        flips: Vec<(String, TextPlace)> = "" [Unit::Of("-")] in FieldRange::Texts(FLIPS), "bits of cells that are wrong from the start, until their line is written";
        upset_every: u64 = "0" [Unit::Of("requests")] in FieldRange::Int(0, 1 << 40), "bits of the accessed line flip once in so many requests that touch memory; 0 = never";
        upset_bits: usize = "1" [Unit::Of("bits")] in FieldRange::Int(1, 64), "different bits that flip then";
        dead_device: Option<usize> = "" [Unit::Of("-")] in FieldRange::Int(0, 9), "device of the symbol code whose cells read as ones: 0 and 1 hold check symbols, 2 to 9 data; with scheme = \"symbol\" alone; left out, none";
        scrub: u64 = "0" [Unit::Time] in FieldRange::Int(0, 1 << 62), "time from one line of the patrol to the next, rounded up to clock cycles; 0 = no patrol, as the default of memory §6.4, a day for all lines, is longer than a run";
    }
}

impl MemoryEcc {
    fn scheme(&self) -> EccScheme {
        EccScheme::find(&self.scheme).unwrap_or_default()
    }

    /// Whether a write of a part of a line reads it first.
    pub fn has_code(&self) -> bool {
        self.scheme() != EccScheme::None
    }

    /// Codes and dead device, in front of these media.
    pub fn config(&self, media: Option<&CxlMedia>) -> EccConfig {
        let on_die = OnDieEcc::find(&self.on_die).unwrap_or_default();
        let die_word_bits = media.map_or(128, CxlMedia::die_word_bits);
        EccConfig { ecc: LineEcc { scheme: self.scheme(), on_die, die_word_bits }, dead_device: self.dead_device }
    }

    /// Bits of a line with its check bits.
    fn bits(&self) -> usize {
        DATA_BITS + self.scheme().check_bits()
    }

    /// Flips in the run.
    pub fn upsets(&self) -> UpsetConfig {
        UpsetConfig { every: self.upset_every, bits: self.upset_bits, of_bits: self.bits() }
    }

    /// Flips from the start: address and bit.
    pub fn flips(&self) -> Vec<(u64, usize)> {
        self.flips.iter().filter_map(|(text, _)| flip(text)).collect()
    }

    /// The patrol of so many bytes, if there is one.
    pub fn patrol(&self, size: u64, clock: Clock) -> Option<Patrol> {
        let (num, den) = clock.period();
        let cycles = (u128::from(self.scrub) * u128::from(den)).div_ceil(u128::from(num));
        (self.scrub > 0).then(|| Patrol::new(u64::try_from(cycles).unwrap_or(u64::MAX), size / LINE_BYTES))
    }

    /// What is wrong with it in a memory of so many bytes.
    pub fn check(&self, size: u64) -> Vec<ConfigFinding> {
        let is_good = |text: &str| flip(text).is_some_and(|(address, bit)| address < size && bit < self.bits());
        let wrong = self.flips.iter().filter(|(text, _)| !is_good(text));
        let text = |text: &str| {
            let bits = self.bits() - 1;
            format!(
                "found the flip `{text}`, expected ADDRESS:BIT with an address below {size:#x} and bits 0 to {bits}"
            )
        };
        let mut found: Vec<ConfigFinding> = wrong.map(|(flip, _)| ("ecc", text(flip))).collect();
        if self.dead_device.is_some() && self.scheme() != EccScheme::Symbol {
            let text = format!(
                "found `dead_device` with scheme = \"{}\", expected scheme = \"symbol\", whose devices it counts",
                self.scheme
            );
            found.push(("ecc", text));
        }
        if self.upset_every == 0 && self.upset_bits != 1 {
            found.push(("ecc", "found `upset_bits`, expected it only with `upset_every`".to_owned()));
        }
        found
    }
}

/// Reads `ADDRESS:BIT`.
fn flip(text: &str) -> Option<(u64, usize)> {
    let (address, bit) = text.trim().split_once(':')?;
    let address = match address.trim().strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok()?,
        None => address.trim().parse().ok()?,
    };
    let bit = bit.trim().parse().ok().filter(|bit| *bit < CELL_BITS)?;
    Some((line_address(address), bit))
}
