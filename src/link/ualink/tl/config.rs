//! What a transaction layer is and has.

use super::credit::TlCreditCounts;
use scalepool_protocols::ualink::compress::CompressionRole;
use scalepool_protocols::ualink::config::UalConfig;

/// What a transaction layer is and has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TlConfig {
    /// Choices of the codec, authentication among them.
    pub codec: UalConfig,
    /// Which side of a switch port sends; its receiver has the other role.
    pub role: CompressionRole,
    /// Its receive buffers: all are given to the peer as credits when the link comes up.
    pub buffers: TlCreditCounts,
    /// One receive buffer for the data of both classes.
    pub shared_data_buffer: bool,
    /// Requests are compressed where the sheet allows it.
    pub compress_requests: bool,
    /// Responses are compressed where the sheet allows it.
    pub compress_responses: bool,
    /// Transactions of a class keep their order whatever their virtual channels (`ualink` §12, strict mode).
    pub strict_order: bool,
    /// An originator stands above, which is told by a response of status ISOLATE that the link is down.
    pub isolates: bool,
}

impl TlConfig {
    /// An accelerator, with buffers for a round trip of about 1 us at x4 (basis: model).
    pub fn accelerator() -> TlConfig {
        TlConfig {
            codec: UalConfig::SHEET,
            role: CompressionRole::ToSwitch,
            buffers: TlCreditCounts::even([256, 1024], [8, 32]),
            shared_data_buffer: false,
            compress_requests: true,
            compress_responses: true,
            strict_order: false,
            isolates: true,
        }
    }

    /// A port of a switch, whose order is strict (`ualink` §14).
    pub fn switch_port() -> TlConfig {
        TlConfig { role: CompressionRole::FromSwitch, strict_order: true, isolates: false, ..TlConfig::accelerator() }
    }

    /// The role of what it receives.
    pub(super) const fn peer_role(&self) -> CompressionRole {
        match self.role {
            CompressionRole::ToSwitch => CompressionRole::FromSwitch,
            CompressionRole::FromSwitch => CompressionRole::ToSwitch,
        }
    }
}
