//! What a root complex knows of the bytes behind its BARs.
//!
//! Modelled: each byte by itself, which has one known value, one of several, or any. Writes have no answer (`bridge` §4.3), so where they may
//! be lost or refused, a byte that was written has its old value or the new one until a read shows which. Left out: what others write there.
//!
//! A walk: a byte is known to be 1, and 2 is written to it; a read may bring 1 or 2, and brings 1: the write was refused, and from then on the
//! byte is 1.

use crate::first_lines::FirstLines;
use scalepool_memory::{LINE_BYTES, line_address};
use scalepool_ordered::OrderedMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// What a byte may hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeldByte {
    /// This value.
    One(u8),
    /// One of these, in the order in which they were written.
    OneOf(Vec<u8>),
    /// Nothing is known of it.
    Any,
}

impl HeldByte {
    /// Whether it may hold a value.
    pub fn allows(&self, value: u8) -> bool {
        match self {
            HeldByte::One(one) => *one == value,
            HeldByte::OneOf(values) => values.contains(&value),
            HeldByte::Any => true,
        }
    }

    /// Its value, if there is one alone.
    pub fn known(&self) -> Option<u8> {
        if let HeldByte::One(value) = self { Some(*value) } else { None }
    }

    /// What it may hold when a value was written that it may not have taken.
    fn perhaps(self, value: u8) -> HeldByte {
        match self {
            held if held.allows(value) && held.known().is_some() => held,
            HeldByte::One(old) => HeldByte::OneOf(vec![old, value]),
            HeldByte::OneOf(mut values) => {
                if !values.contains(&value) {
                    values.push(value);
                }
                HeldByte::OneOf(values)
            }
            HeldByte::Any => HeldByte::Any,
        }
    }
}

/// As findings have it.
impl fmt::Display for HeldByte {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let values = match self {
            HeldByte::One(value) => std::slice::from_ref(value),
            HeldByte::OneOf(values) => values,
            HeldByte::Any => return f.write_str("any value"),
        };
        let values: Vec<_> = values.iter().map(|value| format!("{value:#04x}")).collect();
        f.write_str(&values.join(" or "))
    }
}

/// What it knows of all bytes.
pub struct HeldBytes {
    /// Bytes that were written or read.
    bytes: OrderedMap<u64, HeldByte>,
    /// What memory behind BARs holds at first, of those of which somebody says it; else zeros.
    first: Vec<(Range<u64>, Arc<FirstLines>)>,
    /// Whether bytes that were neither written nor read are as at first.
    is_as_at_first: bool,
    /// Writes may be lost or refused.
    may_lose: bool,
}

impl HeldBytes {
    /// All bytes are as at first. `may_lose`: writes may be lost or refused.
    pub fn new(may_lose: bool) -> HeldBytes {
        HeldBytes { bytes: OrderedMap::new(), first: Vec::new(), is_as_at_first: true, may_lose }
    }

    /// BARs lie here, behind which memory holds this at first.
    pub fn place(&mut self, first: Vec<(Range<u64>, Arc<FirstLines>)>) {
        self.first = first;
    }

    /// Nothing is known any more.
    pub fn forget_all(&mut self) {
        self.bytes.clear();
        self.is_as_at_first = false;
    }

    /// Nothing is known any more of these bytes.
    pub fn forget(&mut self, address: u64, bytes: usize) {
        self.bytes.extend((address..).take(bytes).map(|at| (at, HeldByte::Any)));
    }

    fn at(&self, address: u64) -> HeldByte {
        match self.bytes.get(&address) {
            Some(held) => held.clone(),
            None if self.is_as_at_first => HeldByte::One(self.first_at(address)),
            None => HeldByte::Any,
        }
    }

    fn first_at(&self, address: u64) -> u8 {
        let at = self.first.iter().find(|(bar, _)| bar.contains(&address));
        let line = at.and_then(|(bar, lines)| lines.get()?(line_address(address - bar.start)));
        line.map_or(0, |line| line[(address % LINE_BYTES) as usize])
    }

    /// What these bytes may hold.
    pub fn of(&self, address: u64, bytes: usize) -> Vec<HeldByte> {
        (address..).take(bytes).map(|at| self.at(at)).collect()
    }

    /// These bytes are written.
    pub fn write(&mut self, address: u64, data: &[u8]) {
        for (at, value) in (address..).zip(data) {
            let held = if self.may_lose { self.at(at).perhaps(*value) } else { HeldByte::One(*value) };
            self.bytes.insert(at, held);
        }
    }

    /// These bytes were read, behind all writes to them.
    pub fn read(&mut self, address: u64, data: &[u8]) {
        self.bytes.extend((address..).zip(data.iter().map(|value| HeldByte::One(*value))));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(may_lose: bool) -> HeldBytes {
        HeldBytes::new(may_lose)
    }

    #[test]
    fn a_write_that_may_be_lost_leaves_both_values_until_it_is_read() {
        let mut bytes = held(true);
        bytes.write(8, &[1]);
        bytes.write(8, &[2]);
        assert_eq!(bytes.of(8, 2), [HeldByte::OneOf(vec![0, 1, 2]), HeldByte::One(0)]);
        assert_eq!(bytes.of(8, 1)[0].to_string(), "0x00 or 0x01 or 0x02");
        bytes.read(8, &[1]);
        assert_eq!(bytes.of(8, 1), [HeldByte::One(1)]);
    }

    #[test]
    fn a_write_that_cannot_be_lost_is_there() {
        let mut bytes = held(false);
        bytes.write(8, &[1, 2]);
        assert_eq!(bytes.of(8, 2), [HeldByte::One(1), HeldByte::One(2)]);
        bytes.forget(9, 1);
        assert_eq!(bytes.of(8, 2), [HeldByte::One(1), HeldByte::Any]);
        bytes.forget_all();
        assert_eq!(bytes.of(8, 1), [HeldByte::Any]);
    }

    #[test]
    fn bytes_of_which_nothing_is_known_stay_so_if_a_write_may_be_lost() {
        for (may_lose, expected) in [(true, HeldByte::Any), (false, HeldByte::One(3))] {
            let mut bytes = held(may_lose);
            bytes.forget_all();
            bytes.write(0, &[3]);
            assert_eq!(bytes.of(0, 1), [expected]);
        }
    }
}
