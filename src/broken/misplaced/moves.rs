//! What becomes of the bits of a unit. Bit n is bit n % 8 of byte n / 8; a range ends in front of its second number.

use crate::CaseError;
use std::ops::Range;

/// Bits of a byte.
const BYTE_BITS: usize = 8;

/// One step, `WORD RANGE NUMBER`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Move {
    /// `move 8..16 to 3`: the bits stand there, and what is between them closes up.
    To(Range<usize>, usize),
    /// `drop 8..9 of 64`: the bits are left out, what is behind them up to that bit comes sooner.
    Drop(Range<usize>, usize),
    /// `insert 8..9 of 64`: so many bits of 0 stand there, what is behind them up to that bit comes later.
    Insert(Range<usize>, usize),
    /// `swap 8..16 to 24`: the bits and as many from there on change places.
    Swap(Range<usize>, usize),
    /// `copy 8..16 to 24`: the bits stand there too.
    Copy(Range<usize>, usize),
    /// `set 8..16 to 0x5`: they have this value.
    Set(Range<usize>, u128),
    /// `mirror 8..16`: the last bit stands first.
    Mirror(Range<usize>),
    /// `turn 8..24`: the last byte stands first.
    Turn(Range<usize>),
}

impl Move {
    /// Reads a line.
    ///
    /// # Errors
    /// What is none.
    pub(super) fn read(line: &str) -> Result<Move, CaseError> {
        let wrong = || CaseError::of(format!("found `{line}`, expected bits and what becomes of them"));
        let words: Vec<&str> = line.split(' ').collect();
        let range = words.get(1).and_then(|range| range.split_once("..")).ok_or_else(wrong)?;
        let range = number(range.0).ok_or_else(wrong)? as usize..number(range.1).ok_or_else(wrong)? as usize;
        let value = words.get(3).and_then(|value| number(value));
        let place = || value.map(|value| value as usize).ok_or_else(wrong);
        Ok(match words[0] {
            "move" => Move::To(range, place()?),
            "drop" => Move::Drop(range, place()?),
            "insert" => Move::Insert(range, place()?),
            "swap" => Move::Swap(range, place()?),
            "copy" => Move::Copy(range, place()?),
            "set" => Move::Set(range, value.ok_or_else(wrong)?),
            "mirror" => Move::Mirror(range),
            "turn" => Move::Turn(range),
            _ => return Err(wrong()),
        })
    }

    /// Does it to a unit.
    ///
    /// # Errors
    /// Bits that the unit does not have.
    pub(super) fn apply(&self, unit: &mut [u8]) -> Result<(), CaseError> {
        let mut bits: Vec<bool> =
            (0..unit.len() * BYTE_BITS).map(|n| unit[n / BYTE_BITS] >> (n % BYTE_BITS) & 1 == 1).collect();
        let outside =
            || CaseError::of(format!("found {self:?}, expected bits of the {} bytes of the unit", unit.len()));
        self.change(&mut bits).ok_or_else(outside)?;
        for (byte, bits) in unit.iter_mut().zip(bits.chunks(BYTE_BITS)) {
            *byte = bits.iter().rev().fold(0, |byte, bit| byte << 1 | u8::from(*bit));
        }
        Ok(())
    }

    fn change(&self, bits: &mut [bool]) -> Option<()> {
        match self {
            Move::To(range, to) if *to <= range.start => bits.get_mut(*to..range.end)?.rotate_right(range.len()),
            Move::To(range, to) => bits.get_mut(range.start..to + range.len())?.rotate_left(range.len()),
            Move::Drop(range, end) => {
                let all = bits.get_mut(range.start..*end)?;
                all.rotate_left(range.len());
                let kept = all.len() - range.len();
                all[kept..].fill(false);
            }
            Move::Insert(range, end) => {
                let all = bits.get_mut(range.start..*end)?;
                all.rotate_right(range.len());
                all[..range.len()].fill(false);
            }
            Move::Swap(range, to) => {
                let other = *to..to + range.len();
                let (own, found) = (bits.get(range.clone())?.to_vec(), bits.get(other.clone())?.to_vec());
                bits[range.clone()].copy_from_slice(&found);
                bits[other].copy_from_slice(&own);
            }
            Move::Copy(range, to) => {
                let own = bits.get(range.clone())?.to_vec();
                bits.get_mut(*to..to + range.len())?.copy_from_slice(&own);
            }
            Move::Set(range, value) => {
                let range = bits.get_mut(range.clone())?;
                range.iter_mut().enumerate().for_each(|(n, bit)| *bit = value >> n & 1 == 1);
            }
            Move::Mirror(range) => bits.get_mut(range.clone())?.reverse(),
            Move::Turn(range) => {
                let range = bits.get_mut(range.clone())?;
                range.reverse();
                range.chunks_mut(BYTE_BITS).for_each(<[bool]>::reverse);
            }
        }
        Some(())
    }
}

fn number(text: &str) -> Option<u128> {
    scalepool_forms::number::parse(text)
}
