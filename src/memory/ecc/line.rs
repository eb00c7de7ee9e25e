//! A line of 64 bytes under a code: what its cells hold, and what the controller makes of that (`memory §6`).
//!
//! Modelled: eight words of SECDED, or eight words of the symbol code of which device d holds bytes 8d to 8d + 7; correction inside
//! the die, which sees words of 128 bits, or of 256 in HBM. Left out: the check bits of the die itself.
//!
//! A walk through one line: see the module text of [`ecc`](super).

use super::secded::{self, SecdedWord};
use super::symbol::{self, SymbolWord};
use crate::{LINE_BYTES, LineBytes};

/// Bytes of check bits that a line can have: two devices of the symbol code. SECDED uses the first eight.
pub const CHECK_BYTES: usize = 16;
/// Bits of a line with its check bits: data bits 0 to 511, then check bits.
pub const CELL_BITS: usize = (LINE_BYTES as usize + CHECK_BYTES) * 8;

/// The code of the controller.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum EccScheme {
    /// None: what flips stays unseen.
    #[default]
    None,
    /// SECDED(72,64).
    Secded,
    /// RS(10,8), a device corrected.
    Symbol,
}

impl EccScheme {
    /// Names in descriptions.
    pub const NAMES: &'static [&'static str] = &["none", "secded", "symbol"];

    /// By name.
    pub fn find(name: &str) -> Option<EccScheme> {
        let all = [EccScheme::None, EccScheme::Secded, EccScheme::Symbol];
        Self::NAMES.iter().position(|n| *n == name).map(|n| all[n])
    }

    /// Check bits of a line.
    pub fn check_bits(self) -> usize {
        match self {
            EccScheme::None => 0,
            EccScheme::Secded => 64,
            EccScheme::Symbol => 128,
        }
    }
}

/// Correction inside the die.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OnDieEcc {
    /// None.
    #[default]
    None,
    /// A bit of a word.
    Sec,
    /// An aligned symbol of 16 bits of a word.
    Ssc,
}

impl OnDieEcc {
    /// Names in descriptions.
    pub const NAMES: &'static [&'static str] = &["none", "sec", "ssc"];

    /// By name.
    pub fn find(name: &str) -> Option<OnDieEcc> {
        let all = [OnDieEcc::None, OnDieEcc::Sec, OnDieEcc::Ssc];
        Self::NAMES.iter().position(|n| *n == name).map(|n| all[n])
    }

    /// Takes the flips out of a word that the die repairs: those of one unit, where no other unit of the word has any.
    fn repair(self, word: &mut [u8]) {
        let wrong = match self {
            OnDieEcc::None => return,
            OnDieEcc::Sec => word.iter().map(|byte| byte.count_ones() as usize).sum(),
            OnDieEcc::Ssc => word.chunks(2).filter(|symbol| symbol.iter().any(|byte| *byte != 0)).count(),
        };
        if wrong <= 1 {
            word.fill(0);
        }
    }
}

/// Data and check bits of a line, as cells hold them; also a difference between two of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineCells {
    /// Data.
    pub data: LineBytes,
    /// Check bits.
    pub check: [u8; CHECK_BYTES],
}

impl Default for LineCells {
    fn default() -> LineCells {
        LineCells { data: [0; LINE_BYTES as usize], check: [0; CHECK_BYTES] }
    }
}

impl LineCells {
    /// Inverts a bit, see [`CELL_BITS`]; one beyond them does nothing.
    pub fn flip(&mut self, bit: usize) {
        let (byte, mask) = (bit / 8, 1 << (bit % 8));
        if let Some(byte) = self.data.iter_mut().chain(&mut self.check).nth(byte) {
            *byte ^= mask;
        }
    }

    /// These cells with the flips of others.
    pub fn with(mut self, flips: &LineCells) -> LineCells {
        let cells = self.data.iter_mut().chain(&mut self.check);
        cells.zip(flips.data.iter().chain(&flips.check)).for_each(|(cell, flip)| *cell ^= flip);
        self
    }

    /// Whether no bit is 1: of flips, whether there is none.
    pub fn is_zero(&self) -> bool {
        self.data.iter().chain(&self.check).all(|byte| *byte == 0)
    }

    /// The bytes of a device of the symbol code: 0 and 1 hold check symbols, 2 to 9 data.
    pub fn device_mut(&mut self, device: usize) -> &mut [u8] {
        match device.checked_sub(2) {
            Some(data) => &mut self.data[8 * data..8 * data + 8],
            None => &mut self.check[8 * device..8 * device + 8],
        }
    }

    /// Word `n` of the symbol code.
    fn symbols(&self, n: usize) -> [u8; symbol::SYMBOLS] {
        let data = (0..8).map(|device| self.data[8 * device + n]);
        let mut symbols = [self.check[n], self.check[8 + n]].into_iter().chain(data);
        std::array::from_fn(|_| symbols.next().unwrap_or(0))
    }
}

/// What the controller found in a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EccOutcome {
    /// No error that it could see.
    Good,
    /// Errors that it corrected.
    Corrected,
    /// Errors that it saw and could not correct.
    Uncorrectable,
}

/// The codes of a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineEcc {
    /// That of the controller.
    pub scheme: EccScheme,
    /// That of the die.
    pub on_die: OnDieEcc,
    /// Bits of a word of the die: 128, in HBM 256.
    pub die_word_bits: usize,
}

impl LineEcc {
    /// Cells of a line that is written.
    pub fn encode(&self, data: &LineBytes) -> LineCells {
        let mut check = [0; CHECK_BYTES];
        for n in 0..8 {
            match self.scheme {
                EccScheme::None => {}
                EccScheme::Secded => check[n] = secded::check_byte(word(data, n)),
                EccScheme::Symbol => {
                    let symbols = symbol::encode(std::array::from_fn(|device| data[8 * device + n]));
                    (check[n], check[8 + n]) = (symbols[0], symbols[1]);
                }
            }
        }
        LineCells { data: *data, check }
    }

    /// Flips that are left behind the correction inside the die.
    pub fn behind_die(&self, flips: &LineCells) -> LineCells {
        let mut left = *flips;
        let bytes = self.die_word_bits / 8;
        left.data.chunks_mut(bytes).chain(left.check.chunks_mut(bytes)).for_each(|word| self.on_die.repair(word));
        left
    }

    /// What the controller makes of cells: data, and what it found. Data that it cannot correct are as they are.
    pub fn decode(&self, cells: &LineCells) -> (LineBytes, EccOutcome) {
        match self.scheme {
            EccScheme::None => (cells.data, EccOutcome::Good),
            EccScheme::Secded => decode_secded(cells),
            EccScheme::Symbol => decode_symbol(cells),
        }
    }
}

/// Word `n` of SECDED.
fn word(data: &LineBytes, n: usize) -> u64 {
    u64::from_le_bytes(data.as_chunks().0[n])
}

fn decode_secded(cells: &LineCells) -> (LineBytes, EccOutcome) {
    let (mut data, mut outcome) = (cells.data, EccOutcome::Good);
    for n in 0..8 {
        match secded::judge(word(&cells.data, n), cells.check[n]) {
            SecdedWord::Good => {}
            SecdedWord::Corrected(word) => {
                data.as_chunks_mut().0[n] = word.to_le_bytes();
                outcome = EccOutcome::Corrected;
            }
            SecdedWord::Lost => return (cells.data, EccOutcome::Uncorrectable),
        }
    }
    (data, outcome)
}

/// Corrected symbols of one line that name two devices are more than the code can tell apart from two bad devices.
fn decode_symbol(cells: &LineCells) -> (LineBytes, EccOutcome) {
    let (mut right, mut bad) = (*cells, None);
    for n in 0..8 {
        match symbol::judge(&cells.symbols(n)) {
            SymbolWord::Good => {}
            SymbolWord::Error { place, by } if *bad.get_or_insert(place) == place => right.device_mut(place)[n] ^= by,
            SymbolWord::Error { .. } | SymbolWord::Lost => return (cells.data, EccOutcome::Uncorrectable),
        }
    }
    (right.data, if bad.is_some() { EccOutcome::Corrected } else { EccOutcome::Good })
}
