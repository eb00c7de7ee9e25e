//! What becomes of a TLP that comes to memory of accelerators behind a BAR (`bridge` §5.3), and what their status becomes (`bridge` §8.2):
//! the tables.
//!
//! Modelled: every TLP and every status. Left out: windows and rights, see [`window`](crate::window); what the bridge says to what it
//! handles by itself. A walk: MRd becomes accesses of accelerators; one of them is answered with status 6, so its part of the
//! completions is one with CA, and nothing follows.

use scalepool_endpoint::tlp::{Tlp, TlpKind};
use scalepool_protocols::cxl::cxlio::code::{CplStatus, FmType};
use scalepool_protocols::ualink::code::Status;

/// What becomes of a TLP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlpAction {
    /// Accelerators are asked.
    Accesses,
    /// The bridge handles it by itself: configuration, messages, I/O.
    Local,
    /// It has no effect and ends with this status.
    Refused(CplStatus),
}

/// Requests that end at the bridge, by the first byte of their header; others that are not taken apart are I/O.
const REFUSED: [(FmType, CplStatus); 4] = [
    (FmType::MRdLk32, CplStatus::UR),
    (FmType::MRdLk64, CplStatus::UR),
    // Unordered I/O is not said to reach accelerators, so it ends here.
    (FmType::UIOMRd, CplStatus::CA),
    (FmType::UIOMWr, CplStatus::CA),
];

/// What becomes of a TLP.
pub fn action(tlp: &Tlp) -> TlpAction {
    match tlp.kind {
        TlpKind::MemRead { .. } | TlpKind::MemWrite { .. } => TlpAction::Accesses,
        TlpKind::Atomic { operation, address } => {
            let size = tlp.data.len() / operation.operands();
            let has_element = matches!(size, 4 | 8) && address.is_multiple_of(size as u64);
            if has_element { TlpAction::Accesses } else { TlpAction::Refused(CplStatus::CA) }
        }
        TlpKind::UioRead { .. } | TlpKind::UioWrite { .. } | TlpKind::Other { .. } => {
            let found = REFUSED.iter().find(|(code, _)| code.0 == tlp.type_code());
            found.map_or(TlpAction::Local, |(_, status)| TlpAction::Refused(*status))
        }
        TlpKind::ConfigRead { .. }
        | TlpKind::ConfigWrite { .. }
        | TlpKind::Message { .. }
        | TlpKind::Completion { .. }
        | TlpKind::UioCompletion { .. } => TlpAction::Local,
    }
}

/// A status, and what it says to a request of CXL.io.
const STATUS_ROWS: [(Status, CplStatus); 2] = [(Status::OKAY, CplStatus::SC), (Status::DecodeError, CplStatus::UR)];

/// The status of a completion by that of an accelerator: 2, 6, 8, 15, reserved ones, and a link that is down are aborts.
pub fn completion_status(status: Status) -> CplStatus {
    STATUS_ROWS.iter().find(|(of, _)| *of == status).map_or(CplStatus::CA, |(_, of)| *of)
}
