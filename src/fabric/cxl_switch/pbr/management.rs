//! Requests of fabric management on their way, and what a switch answers that does not pass them on (`fabric` ISL-8).
//!
//! Modelled: the way of a crawl request, how deep tunnels go, and which PIDs may be reached by fabric messages. Detail: one message,
//! without time. Left out: the messages themselves; no component sends them.
//!
//! A walk through one crawl: the table of its input gives the port of its PID; without a valid entry it is refused. A tunnel holds at
//! most one other.

use super::drt::Drts;
use super::pid::PbrPid;
use super::segments::AccessVector;

/// Most levels of tunnels (`fabric` ISL-8).
pub const TUNNEL_LEVELS: usize = 2;

/// Why a command of management ends without effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ManagementRefused {
    /// Invalid Input.
    #[error(
        "Invalid Input: found a crawl to {found:#05x}, which no valid entry of the routing table leads to (fabric ISL-8)"
    )]
    InvalidInput {
        /// The PID.
        found: u16,
    },
    /// Unsupported.
    #[error("Unsupported: found {found} levels of tunnels, expected at most {TUNNEL_LEVELS} (fabric ISL-8)")]
    Unsupported {
        /// How many.
        found: usize,
    },
}

/// A TLP with a vendor prefix, or a fabric message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FabricTlp {
    /// A request of the unordered channel.
    UioRequest,
    /// Another request.
    Request,
    /// A completion.
    Completion,
}

/// What becomes of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FabricTlpWay {
    /// It goes on.
    Forwarded,
    /// It is completed as Unsupported Request.
    UnsupportedRequest,
    /// It is dropped, as an unexpected completion.
    Dropped,
}

/// The port at which a crawl request leaves that came with so many levels of tunnels.
///
/// # Errors
/// Why it does not.
pub fn crawl(tables: &Drts, from: usize, pid: PbrPid, tunnels: usize) -> Result<usize, ManagementRefused> {
    if tunnels > TUNNEL_LEVELS {
        return Err(ManagementRefused::Unsupported { found: tunnels });
    }
    let found = pid.number();
    tables.port(from, found).ok_or(ManagementRefused::InvalidInput { found })
}

/// What becomes of a TLP to a PID; `has_prefix`: it has a vendor prefix, which requests of the unordered channel alone may have.
pub fn fabric_tlp(access: &AccessVector, pid: PbrPid, tlp: FabricTlp, has_prefix: bool) -> FabricTlpWay {
    let is_refused = !access.has(pid) || has_prefix && tlp != FabricTlp::UioRequest;
    match (is_refused, tlp) {
        (false, _) => FabricTlpWay::Forwarded,
        (true, FabricTlp::Completion) => FabricTlpWay::Dropped,
        (true, _) => FabricTlpWay::UnsupportedRequest,
    }
}
