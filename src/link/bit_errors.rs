//! Verdicts about bit errors of CXL flits from the pattern of the errors alone (`fabric` §6).
//!
//! Modelled: what a receiver makes of a flit that was good when it was sent: repairs of the FEC, CRCs, the protocol ID of a 68B unit. Detail: one
//! flit. In runs a link whose bits can be wrong has bytes, and each verdict from them is compared with that of the pattern where the wire
//! damages a flit ([`FaultyWire`](crate::fault::FaultyWire)).
//!
//! A walk through one pattern: CRC and FEC are linear and a flit of zeros is a good one, so a pattern put on any good flit has the syndromes
//! that it has alone. The receiver is given the pattern as if it were a flit; what it makes of it is what is left of the errors,
//! and its verdict is that of the flit. A protocol ID is a code and not linear, so the one that was sent is needed.

use scalepool_protocols::cxl::cxl68::pid::{self, Enabled, PidAction};
use scalepool_protocols::cxl::cxl68::unit::Cxl68Unit;
use scalepool_protocols::cxl::cxl256::Mode;
use scalepool_protocols::cxl::cxl256::flit::{Cxl256Flit, Cxl256Received};
use scalepool_protocols::wire::{At, Violation};

/// What a receiver makes of a damaged 256B flit; in the place of the flit stands what is left of its errors.
pub fn pattern_256(mode: Mode, pattern: &Cxl256Flit) -> Cxl256Received {
    pattern.receive(mode)
}

/// The same by the bytes of the flit that was sent.
pub fn bytes_256(mode: Mode, sent: &Cxl256Flit, pattern: &Cxl256Flit) -> Cxl256Received {
    let put = |on: &Cxl256Flit| Cxl256Flit(std::array::from_fn(|n| on.0[n] ^ sent.0[n]));
    let received = put(pattern).receive(mode);
    Cxl256Received { flit: put(&received.flit), ..received }
}

/// What a receiver makes of a damaged 68B unit of CXL.cache and CXL.mem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cxl68Verdict {
    /// What it makes of the protocol ID.
    pub pid: PidAction,
    /// Whether the CRC fits.
    pub crc_ok: bool,
}

/// The verdict about a unit that was sent with a protocol ID.
pub fn pattern_68(id: u16, pattern: &Cxl68Unit, enabled: Enabled) -> Cxl68Verdict {
    Cxl68Verdict { pid: pid::receive(id ^ pattern.pid(), enabled), crc_ok: pattern.crc_ok() }
}

/// The same by the bytes of the unit that was sent.
pub fn bytes_68(sent: &Cxl68Unit, pattern: &Cxl68Unit, enabled: Enabled) -> Cxl68Verdict {
    let came = Cxl68Unit(std::array::from_fn(|n| sent.0[n] ^ pattern.0[n]));
    Cxl68Verdict { pid: pid::receive(came.pid(), enabled), crc_ok: came.crc_ok() }
}

/// The rule that a verdict from a pattern breaks which differs from that of the bytes.
pub fn judge_verdict<V: PartialEq + std::fmt::Debug>(of_pattern: &V, of_bytes: &V) -> Option<Violation> {
    (of_pattern != of_bytes).then(|| Violation {
        rule: "FAB-BIT-03",
        at: At::Byte(0),
        found: format!("{of_pattern:?}"),
        expected: format!("{of_bytes:?}"),
        text:
            "the pattern of the errors alone decides differently from the bytes: the flit was not good when it was sent"
                .into(),
    })
}
