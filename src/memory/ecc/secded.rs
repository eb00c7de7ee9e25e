//! SECDED(72,64): single errors corrected, double errors detected (`memory §6.1`, \[D\]).
//!
//! Modelled: the code bit by bit. A column of the check matrix belongs to each of the 72 bits; the check byte is the XOR of the columns
//! of the data bits that are 1, and the syndrome that of all bits. Left out: which devices hold the bits.
//!
//! A walk through one word: the syndrome is 0 and the word is good; or it is the column of a bit, which is flipped back; or it is
//! no column, and the word is lost. Three flips may look like one, as with any code of distance 4.

/// Columns of the data bits: all bytes of weight 3 in ascending order, then the first eight of weight 5.
pub const COLUMNS: [u8; 64] = columns();

const fn columns() -> [u8; 64] {
    let (mut columns, mut count, mut weight) = ([0; 64], 0, 3);
    while weight <= 5 {
        let mut byte = 0_u32;
        while byte < 256 && count < 64 {
            if byte.count_ones() == weight {
                columns[count] = byte as u8;
                count += 1;
            }
            byte += 1;
        }
        weight += 2;
    }
    columns
}

/// The check byte of a word.
pub fn check_byte(data: u64) -> u8 {
    COLUMNS.iter().enumerate().filter(|(bit, _)| data >> bit & 1 == 1).fold(0, |check, (_, column)| check ^ column)
}

/// What a word says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecdedWord {
    /// No error.
    Good,
    /// The data with a bit of data or check flipped back.
    Corrected(u64),
    /// More errors than one.
    Lost,
}

/// Judges a word with its check byte.
pub fn judge(data: u64, check: u8) -> SecdedWord {
    let syndrome = check_byte(data) ^ check;
    if syndrome == 0 {
        return SecdedWord::Good;
    }
    if syndrome.is_power_of_two() {
        return SecdedWord::Corrected(data);
    }
    let bit = COLUMNS.iter().position(|column| *column == syndrome);
    bit.map_or(SecdedWord::Lost, |bit| SecdedWord::Corrected(data ^ 1 << bit))
}
