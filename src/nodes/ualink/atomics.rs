//! Atomics of UALink as accelerators and bridges compute them (`bridge` §4.4).
//!
//! Modelled: 13 operations on 8 to 64 bits, several elements of a line at once; compare and swap of one element, whose operands are not
//! where the element is. Left out: when one may compute, which for a bridge the line lock and the ownership of the line decide.
//!
//! A walk through two ADDs of 32 bits: bytes 8 to 15 of the line are enabled, which are two elements; each becomes the sum of itself and
//! of the operand at the same bytes; the old values go back in their own bytes, zeros around them.

use scalepool_memory::LineBytes;
use scalepool_protocols::ualink::code::AtomicSize;

/// What is computed from the old value and the operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AtomicOperation {
    /// Sum, without carry out.
    Add,
    /// The operand.
    Swap,
    /// The new value, if the old one is the one to compare with.
    CompareSwap,
    /// Bits of both.
    And,
    /// Bits of either.
    Or,
    /// Bits of one alone.
    Xor,
    /// The smaller one, with sign.
    MinSigned,
    /// The larger one, with sign.
    MaxSigned,
    /// The smaller one.
    MinUnsigned,
    /// The larger one.
    MaxUnsigned,
    /// IEEE sum, to nearest, ties to even.
    FloatAdd,
    /// One more, or 0 from the operand on.
    Increment,
    /// One less; the operand behind 0 and above the operand.
    Decrement,
}

/// Operations by their code (`bridge` §4.4, our own numbers).
pub const OPERATIONS: [AtomicOperation; 13] = {
    use AtomicOperation::*;
    [
        Add,
        Swap,
        CompareSwap,
        And,
        Or,
        Xor,
        MinSigned,
        MaxSigned,
        MinUnsigned,
        MaxUnsigned,
        FloatAdd,
        Increment,
        Decrement,
    ]
};

/// An atomic on one line that can be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LineAtomic {
    operation: AtomicOperation,
    /// Bytes of an element.
    size: usize,
    /// Bytes of the elements.
    mask: u64,
}

/// Bytes of an operand.
fn operand_bytes(size: AtomicSize) -> usize {
    match size {
        AtomicSize::Bits8 => 1,
        AtomicSize::Bits16 => 2,
        AtomicSize::Bits64 => 8,
        _ => 4,
    }
}

impl LineAtomic {
    /// The atomic that the attributes of a request ask for on a line: bit i of `covered` is set where its byte i lies between the first and
    /// the last byte of the request, that of `mask` where it is enabled as well. `None`: there is no such operation on that size, an
    /// element is enabled in part, or compare and swap has not exactly one.
    pub fn of(attributes: u8, covered: u64, mask: u64) -> Option<LineAtomic> {
        let code = attributes >> 4 | (attributes & 1) << 4;
        let operation = *OPERATIONS.get(usize::from(code))?;
        let size = operand_bytes(AtomicSize(attributes >> 2 & 3));
        let fits = match operation {
            AtomicOperation::FloatAdd => size > 1,
            AtomicOperation::Increment | AtomicOperation::Decrement => size > 2,
            _ => true,
        };
        let atomic = LineAtomic { operation, size, mask };
        let is_whole = |byte: usize| [0, atomic.element()].contains(&(mask >> byte & atomic.element()));
        let are_whole = (0..64).step_by(size).all(is_whole);
        let is_one = operation != AtomicOperation::CompareSwap || atomic.elements().count() == 1;
        // The size divides the length of the request (UAL-UPL-04).
        let divides = (covered.count_ones() as usize).is_multiple_of(size);
        (fits && are_whole && is_one && divides).then_some(atomic)
    }

    /// Bytes of the first element.
    fn element(&self) -> u64 {
        u64::MAX >> (64 - self.size)
    }

    /// First bytes of the active elements.
    fn elements(&self) -> impl Iterator<Item = usize> {
        let (mask, size) = (self.mask, self.size);
        (0..64).step_by(size).filter(move |byte| mask >> byte & 1 == 1)
    }

    /// Bytes of its elements.
    pub fn mask(&self) -> u64 {
        self.mask
    }

    /// The attributes of a UPLI request that ask for it: operation in bits 7:4 and 0, size of an element in bits 3:2.
    pub fn attributes(&self) -> u8 {
        let code = OPERATIONS.iter().position(|operation| *operation == self.operation).unwrap_or(0) as u8;
        let sizes = [AtomicSize::Bits8, AtomicSize::Bits16, AtomicSize::Bits32, AtomicSize::Bits64];
        let size = sizes.into_iter().find(|size| operand_bytes(*size) == self.size).unwrap_or_default();
        (code & 0xf) << 4 | code >> 4 | size.0 << 2
    }

    /// What is computed.
    pub fn operation(&self) -> AtomicOperation {
        self.operation
    }

    /// First byte and bytes of the element, if there is exactly one.
    pub fn only_element(&self) -> Option<(usize, usize)> {
        let mut elements = self.elements();
        let first = elements.next()?;
        elements.next().is_none().then_some((first, self.size))
    }

    /// Bytes of an element and the bytes of all elements, of a sum of floating point numbers.
    pub fn float_elements(&self) -> Option<(usize, u64)> {
        (self.operation == AtomicOperation::FloatAdd).then_some((self.size, self.mask))
    }

    /// The line behind it, and what goes back: old values in place, zeros around them. `operand` is the beat of the request.
    pub fn apply(&self, old: &LineBytes, operand: &LineBytes) -> (LineBytes, LineBytes) {
        let (mut new, mut before) = (*old, [0; 64]);
        for at in self.elements() {
            let place = at..at + self.size;
            before[place.clone()].copy_from_slice(&old[place.clone()]);
            let was = self.number(old, at);
            let is = match self.operation {
                // Its two operands stand at the beginning of the beat, wherever the element is.
                AtomicOperation::CompareSwap if was == self.number(operand, 0) => self.number(operand, self.size),
                AtomicOperation::CompareSwap => was,
                _ => self.computed(was, self.number(operand, at)),
            };
            new[place].copy_from_slice(&is.to_le_bytes()[..self.size]);
        }
        (new, before)
    }

    /// A little-endian number of the element's size.
    fn number(&self, line: &LineBytes, at: usize) -> u64 {
        let mut bytes = [0; 8];
        bytes[..self.size].copy_from_slice(&line[at..at + self.size]);
        u64::from_le_bytes(bytes)
    }

    /// The number with its sign.
    fn signed(&self, number: u64) -> i64 {
        let above = 64 - 8 * self.size as u32;
        (number << above) as i64 >> above
    }

    fn computed(&self, old: u64, operand: u64) -> u64 {
        use AtomicOperation::*;
        let by = |is_old: bool| if is_old { old } else { operand };
        match self.operation {
            Add => old.wrapping_add(operand),
            Swap | CompareSwap => operand,
            And => old & operand,
            Or => old | operand,
            Xor => old ^ operand,
            MinSigned => by(self.signed(old) <= self.signed(operand)),
            MaxSigned => by(self.signed(old) >= self.signed(operand)),
            MinUnsigned => old.min(operand),
            MaxUnsigned => old.max(operand),
            FloatAdd => float_sum(self.size, old, operand),
            Increment if old >= operand => 0,
            Increment => old + 1,
            Decrement if old == 0 || old > operand => operand,
            Decrement => old - 1,
        }
    }
}

/// IEEE sum of two numbers of 2, 4 or 8 bytes. Which of several NaNs a sum gives is up to the machine, so it is always the same one here.
fn float_sum(size: usize, a: u64, b: u64) -> u64 {
    match size {
        8 => {
            let sum = f64::from_bits(a) + f64::from_bits(b);
            if sum.is_nan() { 0x7ff8 << 48 } else { sum.to_bits() }
        }
        4 => {
            let sum = f32::from_bits(a as u32) + f32::from_bits(b as u32);
            if sum.is_nan() { 0x7fc0 << 16 } else { sum.to_bits().into() }
        }
        // The sum of two such numbers has at most 41 significant bits, so it is exact before it is rounded.
        _ => half_of(half_value(a as u16) + half_value(b as u16)).into(),
    }
}

/// The value of a binary16.
fn half_value(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
    let size = match exponent {
        0 => fraction * 2f64.powi(-24),
        0x1f if fraction == 0.0 => f64::INFINITY,
        0x1f => f64::NAN,
        _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    };
    if bits >> 15 == 1 { -size } else { size }
}

/// The binary16 next to a value, ties to even.
fn half_of(value: f64) -> u16 {
    if value.is_nan() {
        return 0x7e00;
    }
    let sign = u16::from(value.is_sign_negative()) << 15;
    let size = value.abs();
    // Halfway between the largest number and the next power of two.
    if size >= 65520.0 {
        return sign | 0x7c00;
    }
    // Numbers below 2^-14 have the distance of those just above it.
    let exponent = (size.to_bits() >> 52) as i32 - 1023;
    let step = exponent.max(-14) - 10;
    let count = (size * 2f64.powi(-step)).round_ties_even() as u16;
    // A count of 2048 is the next power of two, which the addition makes of it.
    let biased = if exponent < -14 { 0 } else { (exponent + 15) as u16 - 1 };
    let below = biased << 10;
    sign | (below + count)
}
