//! A stream of messages as two numbers, so that both ends of a way can be compared without keeping the messages.
//!
//! Modelled: count, and a hash that depends on every field, every byte and the order. Left out: which message differs. Two
//! streams that differ have the same hash with a chance of 2^-64.

use super::message::NvlMessage;

/// Bits of an address that travel unchanged; a switch takes those above them away (`nvlink` §5: bits 46:36 select).
const LOCAL_BITS: u32 = 36;

/// What has passed, in order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Chain {
    /// Messages.
    pub count: u64,
    hash: u64,
}

impl Chain {
    /// The next message.
    pub fn add(&mut self, message: &NvlMessage) {
        let NvlMessage { op, vc, tag, rid, size, ep, atag, address, attr, route, be, data } = message;
        let small = [op.0, vc.0, *size, u8::from(*ep), *atag, *attr, u8::from(be.is_some()), data.len() as u8];
        self.count += 1;
        self.word(u64::from_le_bytes(small));
        self.word(u64::from(*tag) << 48 | u64::from(*rid) << 32 | u64::from(*route));
        self.word(address & ((1 << LOCAL_BITS) - 1));
        let be = be.unwrap_or(0);
        self.word(be as u64);
        self.word((be >> 64) as u64);
        for word in data.as_chunks().0 {
            self.word(u64::from_le_bytes(*word));
        }
    }

    fn word(&mut self, word: u64) {
        // An odd factor and a shift: each step can be undone, so no two states fall together. 2^64 over the golden ratio.
        let mixed = (self.hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.hash = mixed ^ mixed >> 32;
    }
}
