//! What a requester, a completer or a power management agent reports.

use super::tlp::TlpError;
use scalepool_protocols::cxl::cxlio::code::CplStatus;
use scalepool_protocols::wire::Violation;

/// Something that did not go as the TLPs before it promised.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EndpointEvent {
    /// Bytes that are no TLP of the model; they are dropped.
    #[error("a TLP is dropped: {0}")]
    Malformed(#[from] TlpError),
    /// A completion that nobody waits for; it is dropped.
    #[error("unexpected completion: found requester {requester:#06x} tag {tag:#x}: {text}")]
    UnexpectedCompletion {
        /// Requester ID in the completion.
        requester: u16,
        /// Its tag.
        tag: u16,
        /// What does not fit.
        text: &'static str,
    },
    /// A completion of a request that was given up; it is dropped.
    #[error("late completion: found requester {requester:#06x} tag {tag:#x}: its request was given up")]
    LateCompletion {
        /// Requester ID in the completion.
        requester: u16,
        /// Its tag.
        tag: u16,
    },
    /// A request without its completions in time; its tag is free again.
    #[error("completion time-out: tag {tag:#x}, sent at {since}, {missing_bytes} bytes missing")]
    CompletionTimeout {
        /// Tag of the request.
        tag: u16,
        /// When it was sent, in the unit of the requester's clock.
        since: u64,
        /// Bytes that have not come.
        missing_bytes: usize,
    },
    /// A request that was answered with an error or, if posted, dropped.
    #[error("request of {requester:#06x} tag {tag:#x}: {status:?}: {text}")]
    Refused {
        /// Requester ID in the request.
        requester: u16,
        /// Its tag.
        tag: u16,
        /// The answer that it gets or would get.
        status: CplStatus,
        /// Why.
        text: &'static str,
    },
    /// Data with the poison mark (EP) was taken; the bytes are kept and stay marked.
    #[error("poisoned data for {address:#x}")]
    Poisoned {
        /// Byte address of the first DW.
        address: u64,
    },
    /// A rule of power management was broken.
    #[error("{0}")]
    Rule(Violation),
}
