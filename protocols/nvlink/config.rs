//! The choices of NVL-M1 that decide what is legal, in one place (`nvlink` §6, all \[D\]).

use super::code::{Class, Op, Vc};
use crate::check::crc25::Crc25;

/// Choices that both ends of a link have to share. `Default` is what the sheet uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NvlConfig {
    /// §6.2: polynomial, initial value, final XOR.
    pub crc: Crc25,
    /// §6.2: the CRC covers the payload of the packet before; else the header alone.
    pub cover_prev: bool,
    /// §6.1 says "`len` = `ae` + `be` + data" and "`len` = 0 without data": `true` follows the first, so that a read
    /// reaches addresses above bit 37.
    pub ae_without_data: bool,
    /// §6.1: channel of requests with answer.
    pub nonposted_vc: Vc,
    /// §6.1: channel of requests without answer.
    pub posted_vc: Vc,
    /// §6.1: channel of answers.
    pub response_vc: Vc,
}

impl Default for NvlConfig {
    fn default() -> Self {
        NvlConfig {
            crc: Crc25::default(),
            cover_prev: true,
            ae_without_data: true,
            nonposted_vc: Vc::CREQ0,
            posted_vc: Vc::CREQ1,
            response_vc: Vc::RSP0,
        }
    }
}

impl NvlConfig {
    /// The channel of an operation; `None` where it has none: packets of the link itself and reserved codes. REDUCE_READ,
    /// which the map of §6.1 leaves out, goes with the reads.
    pub fn vc_of(&self, op: Op) -> Option<Vc> {
        match op.class()? {
            Class::Link => None,
            Class::NonPosted => Some(self.nonposted_vc),
            Class::Posted => Some(self.posted_vc),
            Class::Response => Some(self.response_vc),
        }
    }

    /// CRC of a header whose CRC bits do not count, behind the payload of the packet before.
    pub fn crc_of(&self, previous_payload: &[u128], header: u128) -> u32 {
        let covered = if self.cover_prev { previous_payload } else { &[] };
        let crc = self.crc.feed(self.crc.start(), covered);
        self.crc.finish(self.crc.update(crc, header, super::header::CRC_LSB))
    }
}
