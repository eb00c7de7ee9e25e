//! Completions of one request put together (`bridge` §4.1, §8.1).
//!
//! Modelled: completions in order of addresses, checked against byte count and lower address; what a status of CXL.io is to accelerators;
//! which bytes a poisoned completion has brought. Left out: tags, which name an entry. A walk through a read of 20 DWs from byte 0x38 on:
//! a completion of 8 bytes, one of 64 and one of 8; the last one ends the read.

use scalepool_endpoint::tlp::{Enables, Tlp, TlpKind};
use scalepool_protocols::cxl::cxlio::DW_BYTES;
use scalepool_protocols::cxl::cxlio::code::CplStatus;
use scalepool_protocols::ualink::code::Status;

/// The status with which a request ends whose completion has this one (`bridge` §8.1).
pub fn status(status: CplStatus) -> Status {
    match status {
        CplStatus::SC => Status::OKAY,
        CplStatus::UR => Status::DecodeError,
        // A memory request is never asked to come again.
        _ => Status::TargetAbort,
    }
}

/// A completion that is not the one that comes next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrongCompletion {
    /// Byte count, lower address and bytes of data that came.
    pub found: String,
    /// Those that come next.
    pub expected: String,
}

/// What comes for one request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IoExchange {
    /// Byte address of the next byte, low 7 bits; `None`: completions say no address.
    lower: Option<u8>,
    /// Bytes still to come.
    missing: usize,
    /// Bytes in front of the first one that is asked for.
    skip: usize,
    /// What has come, from the first byte that is asked for.
    pub bytes: Vec<u8>,
    /// Which bytes of it came with poison.
    pub poisoned: Vec<bool>,
}

impl IoExchange {
    /// Of a non-posted request.
    pub fn of(tlp: &Tlp) -> IoExchange {
        let (skip, missing, lower) = match tlp.kind {
            TlpKind::MemRead { address, dw, enables } => {
                let (first, bytes) = enables.bounds(dw);
                (first, bytes, Some(((address + first as u64) & 0x7f) as u8))
            }
            TlpKind::Atomic { operation, .. } => (0, tlp.data.len() / operation.operands(), None),
            _ => (0, 0, None),
        };
        IoExchange { lower, missing, skip, bytes: Vec::new(), poisoned: Vec::new() }
    }

    /// Bytes of the request in front of those that come.
    pub fn skipped(&self) -> usize {
        self.skip
    }

    /// Takes a completion of a request that is well: whether it was the last one.
    ///
    /// # Errors
    /// It is not the one that comes next.
    pub fn takes(&mut self, byte_count: usize, lower: u8, data: &[u8], poison: bool) -> Result<bool, WrongCompletion> {
        let skip = self.lower.map_or(0, |_| usize::from(lower) % DW_BYTES);
        let bytes = data.len().saturating_sub(skip).min(self.missing);
        if self.lower.is_some_and(|due| due != lower) || byte_count != self.missing || bytes == 0 {
            let said = |count, lower| format!("byte count {count}, lower address {lower:#x}");
            return Err(WrongCompletion {
                found: format!("{} with {} bytes", said(byte_count, lower), data.len()),
                expected: format!("{} with data", said(self.missing, self.lower.unwrap_or(lower))),
            });
        }
        self.bytes.extend(&data[skip..skip + bytes]);
        self.poisoned.extend(std::iter::repeat_n(poison, bytes));
        self.missing -= bytes;
        self.lower = self.lower.map(|lower| ((usize::from(lower) + bytes) & 0x7f) as u8);
        Ok(self.missing == 0)
    }
}

/// Enables of a request that reads no byte: its completion says that writes before it are done.
pub const NO_BYTE: Enables = Enables { first: 0, last: 0 };
