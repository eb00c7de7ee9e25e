//! Sums over members, in a stated order: the members' order in their group, one after the other from the left.
//!
//! Modelled: 32-bit integers (modulo 2^32), binary32, bfloat16 (summed in binary32, rounded once at the end to nearest
//! even). All little-endian. Left out: other operations than the sum; the sheet names none.

/// Number type, stated in the attributes of a REDUCE_READ. Our own codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberType {
    /// 32-bit integer.
    Int32,
    /// IEEE binary32.
    F32,
    /// bfloat16.
    Bf16,
}

impl NumberType {
    /// Its code.
    pub const fn code(self) -> u8 {
        match self {
            NumberType::Int32 => 0,
            NumberType::F32 => 1,
            NumberType::Bf16 => 2,
        }
    }

    /// The type of a code.
    pub const fn of(code: u8) -> Option<NumberType> {
        match code {
            0 => Some(NumberType::Int32),
            1 => Some(NumberType::F32),
            2 => Some(NumberType::Bf16),
            _ => None,
        }
    }

    /// Bytes of a number.
    pub const fn bytes(self) -> usize {
        match self {
            NumberType::Bf16 => 2,
            _ => 4,
        }
    }
}

/// The upper half of a binary32, rounded to nearest even; a NaN stays one.
pub fn round_to_bf16(value: f32) -> u16 {
    let bits = value.to_bits();
    if value.is_nan() {
        return (bits >> 16) as u16 | 0x40;
    }
    ((u64::from(bits) + 0x7fff + u64::from(bits >> 16 & 1)) >> 16) as u16
}

/// The sum of the members' bytes, all of the first one's length; nothing for no members.
pub fn sum(number: NumberType, members: &[&[u8]]) -> Vec<u8> {
    let length = members.first().map_or(0, |m| m.len());
    let mut out = Vec::with_capacity(length);
    let word = |m: &[u8], at: usize| m.get(at..at + 4).map_or([0; 4], |b| [b[0], b[1], b[2], b[3]]);
    let half = |m: &[u8], at: usize| m.get(at..at + 2).map_or([0; 2], |b| [b[0], b[1]]);
    for at in (0..length).step_by(number.bytes()) {
        match number {
            NumberType::Int32 => {
                let total = members.iter().fold(0u32, |n, m| n.wrapping_add(u32::from_le_bytes(word(m, at))));
                out.extend(total.to_le_bytes());
            }
            NumberType::F32 => {
                let terms = members.iter().map(|m| f32::from_le_bytes(word(m, at)));
                out.extend(terms.reduce(|a, b| a + b).unwrap_or(0.0).to_le_bytes());
            }
            NumberType::Bf16 => {
                let terms = members.iter().map(|m| f32::from_bits(u32::from(u16::from_le_bytes(half(m, at))) << 16));
                out.extend(round_to_bf16(terms.reduce(|a, b| a + b).unwrap_or(0.0)).to_le_bytes());
            }
        }
    }
    out
}
