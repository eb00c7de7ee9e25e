//! Which acknowledged and requested numbers are believed (`ualink` §7).
//!
//! Exact: an Ack names the last acknowledged number or one that is kept, a request one that is kept. Literal: the terms
//! as printed, which with 0 or 1 flits kept accept a few numbers that were never sent.

use super::Replay;
use scalepool_protocols::ualink::sequence::{LAST, steps};

/// The bound that version 1.0 prints.
const LITERAL_BOUND: u16 = 256;

impl<P> Replay<P> {
    /// Whether an acknowledged number can be.
    pub(super) fn ack_fits(&self, number: u16) -> bool {
        let (behind, before) = (steps(self.acked, number), steps(number, self.tx_last));
        match self.config.literal_1_0 {
            true => behind <= LITERAL_BOUND && before <= LITERAL_BOUND,
            false => usize::from(behind) <= self.kept.len(),
        }
    }

    /// Whether a requested number can be.
    pub(super) fn request_fits(&self, number: u16) -> bool {
        let (behind, before) = (steps(self.acked, number), steps(number, self.tx_last));
        match self.config.literal_1_0 {
            true => (behind + LAST - 1) % LAST <= LITERAL_BOUND && before <= LITERAL_BOUND,
            false => behind >= 1 && usize::from(behind) <= self.kept.len(),
        }
    }
}
