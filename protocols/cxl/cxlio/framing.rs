//! Framing of CXL.io on 68B links: tokens in the 64 bytes of a flit, and TLPs with sequence number and LCRC
//! (`cxl-io` §1.4, §5).
//!
//! Modelled: every token both ways, the start token with its check bits, a framed TLP and DLLP. Left out: how a receiver
//! walks the byte stream of a link over time.

use super::dllp::Dllp;
use super::{DW_BYTES, non_flit_mode};
use crate::check::pcie;
use thiserror::Error;

/// A TLP follows: its length and sequence number (`cxl-io` §5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stp {
    /// DW from this token to the LCRC, both included; 1 to 2047.
    pub length_dw: u16,
    /// Sequence number, 0 to 4095.
    pub sequence: u16,
}

/// Why four bytes are no start token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum StpFault {
    /// The low half of byte 0 is not 1111.
    #[error("CXLIO-STP-02: found {found:#04x} in byte 0, expected the low four bits set")]
    Token {
        /// Byte 0.
        found: u8,
    },
    /// The four check bits of the length do not fit.
    #[error("CXLIO-STP-01: found length check {found:#x}, expected {expected:#x}")]
    Check {
        /// Bits found.
        found: u8,
        /// Bits of the length found.
        expected: u8,
    },
    /// The parity bit does not fit.
    #[error("CXLIO-STP-01: found odd parity over length and check, expected even")]
    Parity,
}

/// Bits of Len\[10:0\] in each bit of the check, bit 0 first (`cxl-io` §5).
const CHECK: [u16; 4] = [
    1 << 10 | 1 << 7 | 1 << 6 | 1 << 4 | 1 << 2 | 1 << 1 | 1,
    1 << 10 | 1 << 9 | 1 << 7 | 1 << 5 | 1 << 4 | 1 << 3 | 1 << 2,
    1 << 9 | 1 << 8 | 1 << 6 | 1 << 4 | 1 << 3 | 1 << 2 | 1 << 1,
    1 << 8 | 1 << 7 | 1 << 5 | 1 << 3 | 1 << 2 | 1 << 1 | 1,
];

/// The four check bits of a length.
pub fn length_check(length_dw: u16) -> u8 {
    (0..4).fold(0, |check, n| check | ((length_dw & CHECK[n]).count_ones() as u8 & 1) << n)
}

impl Stp {
    /// The token as it goes out; higher bits of the two numbers are lost.
    pub fn to_bytes(self) -> [u8; DW_BYTES] {
        let length = self.length_dw & 0x7ff;
        let check = length_check(length);
        let parity = (length.count_ones() + check.count_ones()) as u8 & 1;
        let [high, low] = (self.sequence & 0xfff).to_be_bytes();
        [((length & 0xf) << 4) as u8 | 0xf, parity << 7 | (length >> 4) as u8, check << 4 | high, low]
    }

    /// Reads a token.
    ///
    /// # Errors
    /// Another token, or a length that its check bits do not confirm.
    pub fn from_bytes(bytes: [u8; DW_BYTES]) -> Result<Stp, StpFault> {
        if bytes[0] & 0xf != 0xf {
            return Err(StpFault::Token { found: bytes[0] });
        }
        let length_dw = u16::from(bytes[1] & 0x7f) << 4 | u16::from(bytes[0] >> 4);
        let (found, expected) = (bytes[2] >> 4, length_check(length_dw));
        if found != expected {
            return Err(StpFault::Check { found, expected });
        }
        if (length_dw.count_ones() + found.count_ones() + u32::from(bytes[1] >> 7)) % 2 == 1 {
            return Err(StpFault::Parity);
        }
        Ok(Stp { length_dw, sequence: u16::from_be_bytes([bytes[2] & 0xf, bytes[3]]) })
    }
}

/// A DLLP follows.
pub const SDP: [u8; 2] = [0xf0, 0xac];
/// The TLP before is bad: nullified.
pub const EDB: [u8; 4] = [0xc0; 4];
/// The data stream ends (sheet mark \[C\]).
pub const EDS: [u8; 4] = [0x1f, 0x80, 0x90, 0x00];
/// Nothing.
pub const IDL: u8 = 0x00;

/// A framing token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FramingToken {
    /// A TLP follows.
    Stp(Stp),
    /// A DLLP of six bytes follows.
    Sdp,
    /// The TLP before is nullified.
    Edb,
    /// The data stream ends.
    Eds,
    /// Nothing.
    Idl,
}

impl FramingToken {
    /// The token at the front of a byte string and its length in bytes; `None` where the bytes do not suffice.
    ///
    /// # Errors
    /// No token begins so (STP-02), or a start token with wrong check bits (STP-01).
    pub fn read(bytes: &[u8]) -> Result<Option<(FramingToken, usize)>, StpFault> {
        let Some(&first) = bytes.first() else { return Ok(None) };
        // EDS looks like a start token of length 1 whose check bits do not fit: it is told apart first.
        let whole = [
            (&SDP[..], FramingToken::Sdp),
            (&EDB[..], FramingToken::Edb),
            (&EDS[..], FramingToken::Eds),
            (&[IDL], FramingToken::Idl),
        ];
        for (token, kind) in whole {
            if bytes.starts_with(token) {
                return Ok(Some((kind, token.len())));
            }
            if first != IDL && token.starts_with(bytes) {
                return Ok(None);
            }
        }
        match bytes.first_chunk() {
            Some(&dw) => Stp::from_bytes(dw).map(|stp| Some((FramingToken::Stp(stp), DW_BYTES))),
            None if first & 0xf == 0xf => Ok(None),
            None => Err(StpFault::Token { found: first }),
        }
    }
}

/// What stands around a TLP on a 68B link: start token and LCRC.
///
/// `None` for a TLP that is no whole number of DW or does not fit the length of the token.
pub fn frame_tlp(sequence: u16, tlp: &[u8]) -> Option<([u8; DW_BYTES], [u8; DW_BYTES])> {
    let length_dw = u16::try_from(tlp.len() / DW_BYTES + 2).ok().filter(|&n| n <= 0x7ff)?;
    let whole = !tlp.is_empty() && tlp.len().is_multiple_of(DW_BYTES);
    whole.then(|| (Stp { length_dw, sequence }.to_bytes(), pcie::lcrc(sequence, tlp)))
}

/// What a framed TLP turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framed<'a> {
    /// Sequence number and TLP; its LCRC fits.
    Good(u16, &'a [u8]),
    /// The LCRC is complemented: drop it silently (`cxl-io` §1.4).
    Nullified(u16),
    /// The LCRC does not fit: ask for it again.
    BadLcrc(u16),
}

/// Takes start token and LCRC from a framed TLP of exactly the length that its token says.
///
/// # Errors
/// No start token; `None` in the answer: another length.
pub fn unframe_tlp(bytes: &[u8]) -> Result<Option<Framed<'_>>, StpFault> {
    let Some((&token, rest)) = bytes.split_first_chunk() else { return Ok(None) };
    let stp = Stp::from_bytes(token)?;
    let Some((tlp, &lcrc)) = rest.split_last_chunk() else { return Ok(None) };
    if bytes.len() != DW_BYTES * usize::from(stp.length_dw) {
        return Ok(None);
    }
    Ok(Some(match lcrc {
        l if l == pcie::lcrc(stp.sequence, tlp) => Framed::Good(stp.sequence, tlp),
        l if l == pcie::lcrc_nullified(stp.sequence, tlp) => Framed::Nullified(stp.sequence),
        _ => Framed::BadLcrc(stp.sequence),
    }))
}

/// Whether the length of a TLP without prefixes is what its own header says.
pub fn length_fits(tlp: &[u8]) -> bool {
    tlp.first_chunk().and_then(|&dw0| non_flit_mode::tlp_bytes(dw0)) == Some(tlp.len())
}

/// A DLLP as it goes out on a 68B link: token, DLLP, CRC-16.
pub fn frame_dllp(dllp: Dllp) -> [u8; 8] {
    let [a, b, c, d, e, f] = dllp.framed();
    [SDP[0], SDP[1], a, b, c, d, e, f]
}
