//! The wires of one cycle, and their parity.

use scalepool_protocols::ualink::upli::{
    UpliCredit, UpliOrigData, UpliRdRsp, UpliReq, UpliWrRsp, control_parity, data_parity,
};
use scalepool_protocols::wire::{FieldError, Wire};

/// Ports of a station at most (`ualink` §1).
pub const MAX_PORTS: usize = 4;
/// Bytes of a beat (`ualink` §1).
pub const BEAT_BYTES: usize = 64;

/// Request channel. A word whose `valid` is 0 is an idle channel, here and below.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReqWires {
    /// Signals with their parity.
    pub word: UpliReq,
    /// Authentication tag.
    pub auth_tag: u64,
}

/// Originator data channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataWires {
    /// Signals with the parity of the data.
    pub word: UpliOrigData,
    /// The beat.
    pub data: [u8; BEAT_BYTES],
}

/// Read response and data channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RdWires {
    /// Signals with the parity of the data.
    pub word: UpliRdRsp,
    /// Authentication tag.
    pub auth_tag: u64,
    /// The beat.
    pub data: [u8; BEAT_BYTES],
}

/// Write response channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrWires {
    /// Signals with their parity.
    pub word: UpliWrRsp,
    /// Authentication tag.
    pub auth_tag: u64,
}

/// Credit returns of one channel, a word a port.
pub type Returns = [UpliCredit; MAX_PORTS];

/// Returns of a cycle in which nothing is returned and no port has its initial credits.
pub fn no_returns() -> Returns {
    [UpliCredit { valid: false, ..UpliCredit::default() }; MAX_PORTS]
}

/// What the originator drives in one cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FromOriginator {
    /// Request channel.
    pub request: ReqWires,
    /// Originator data channel.
    pub data: DataWires,
    /// Credits of the read response channel.
    pub rd_credits: Returns,
    /// Credits of the write response channel.
    pub wr_credits: Returns,
}

/// What the completer drives in one cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FromCompleter {
    /// Read response and data channel.
    pub rd: RdWires,
    /// Write response channel.
    pub wr: WrWires,
    /// Credits of the request channel.
    pub req_credits: Returns,
    /// Credits of the originator data channel.
    pub data_credits: Returns,
}

impl Default for FromOriginator {
    fn default() -> FromOriginator {
        FromOriginator {
            request: ReqWires { word: UpliReq { valid: false, ..UpliReq::default() }, auth_tag: 0 },
            data: DataWires { word: UpliOrigData { valid: false, ..UpliOrigData::default() }, data: [0; BEAT_BYTES] },
            rd_credits: no_returns(),
            wr_credits: no_returns(),
        }
    }
}

impl Default for FromCompleter {
    fn default() -> FromCompleter {
        let rd = UpliRdRsp { valid: false, ..UpliRdRsp::default() };
        FromCompleter {
            rd: RdWires { word: rd, auth_tag: 0, data: [0; BEAT_BYTES] },
            wr: WrWires { word: UpliWrRsp { valid: false, ..UpliWrRsp::default() }, auth_tag: 0 },
            req_credits: no_returns(),
            data_credits: no_returns(),
        }
    }
}

/// Everything on the interface in one cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cycle {
    /// Driven by the originator.
    pub originator: FromOriginator,
    /// Driven by the completer.
    pub completer: FromCompleter,
}

/// A request with its parity.
///
/// # Errors
/// A field is too wide.
pub fn seal_request(word: UpliReq) -> Result<UpliReq, FieldError> {
    let bits = UpliReq { parity: false, ..word }.to_bits()?;
    Ok(UpliReq { parity: control_parity(bits), ..word })
}

/// A write response with its parity.
///
/// # Errors
/// A field is too wide.
pub fn seal_write_response(word: UpliWrRsp) -> Result<UpliWrRsp, FieldError> {
    let bits = UpliWrRsp { parity: false, ..word }.to_bits()?;
    Ok(UpliWrRsp { parity: control_parity(bits), ..word })
}

/// Whether a word of control signals has an even number of ones, its parity among them. One with a field that is too wide
/// has not.
pub fn control_is_even<W: Wire>(word: &W) -> bool {
    word.to_bits().is_ok_and(|bits| bits.count_ones() % 2 == 0)
}

/// Whether the parity of a beat fits.
pub fn data_is_even(data: &[u8; BEAT_BYTES], parity: u8) -> bool {
    data_parity(data) == parity
}
