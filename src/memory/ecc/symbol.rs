//! The symbol code RS(10,8): a device of ten corrected (`memory §6.2`, \[D\]).
//!
//! Modelled: the code over GF(256) with the polynomial 0x11D and the roots 1 and 2. Symbols 0 and 1 are check symbols, 2 to 9 data. Left
//! out: erasures, which a controller could use that knows of a dead device.
//!
//! A walk through one word: S0 is the XOR of all symbols, S1 that of each symbol times 2 to the power of its place. Both 0: the
//! word is good. An error e at place i makes S0 = e and S1 = e 2^i, so i is the logarithm of their quotient.

/// Symbols of a word.
pub const SYMBOLS: usize = 10;

/// Twice a symbol, modulo 0x11D.
const fn doubled(symbol: u8) -> u8 {
    symbol << 1 ^ if symbol & 0x80 != 0 { 0x1d } else { 0 }
}

/// A symbol times 2 to the power of a place.
fn shifted(symbol: u8, place: usize) -> u8 {
    (0..place).fold(symbol, |symbol, _| doubled(symbol))
}

/// The inverse of 3: 3 times 244 is 1 modulo 0x11D.
const THIRD: u8 = 244;

/// A product modulo 0x11D.
fn product(a: u8, b: u8) -> u8 {
    (0..8).filter(|bit| b >> bit & 1 == 1).fold(0, |sum, bit| sum ^ shifted(a, bit))
}

fn syndromes(symbols: &[u8; SYMBOLS]) -> (u8, u8) {
    let add = |(s0, s1): (u8, u8), (place, symbol): (usize, &u8)| (s0 ^ symbol, s1 ^ shifted(*symbol, place));
    symbols.iter().enumerate().fold((0, 0), add)
}

/// A word with the check symbols of its data.
pub fn encode(data: [u8; 8]) -> [u8; SYMBOLS] {
    let mut symbols = [0; SYMBOLS];
    symbols[2..].copy_from_slice(&data);
    // s0 ^ s1 = a and s0 ^ 2 s1 = b, so 3 s1 = a ^ b.
    let (a, b) = syndromes(&symbols);
    symbols[1] = product(a ^ b, THIRD);
    symbols[0] = a ^ symbols[1];
    symbols
}

/// What a word says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SymbolWord {
    /// No error.
    Good,
    /// One symbol is wrong: its place, and what to XOR it with.
    Error {
        /// Place of the symbol, 0 to 9.
        place: usize,
        /// Difference to the right one.
        by: u8,
    },
    /// More than one symbol is wrong.
    Lost,
}

/// Judges a word.
pub fn judge(symbols: &[u8; SYMBOLS]) -> SymbolWord {
    let (s0, s1) = syndromes(symbols);
    if (s0, s1) == (0, 0) {
        return SymbolWord::Good;
    }
    let place = (0..SYMBOLS).find(|place| s0 != 0 && shifted(s0, *place) == s1);
    place.map_or(SymbolWord::Lost, |place| SymbolWord::Error { place, by: s0 })
}
