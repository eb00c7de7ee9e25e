//! Choices that decide what is legal or how bytes are laid out: what the sheet marks \[D\], and what two ends agree on.

use super::crc::{CrcBitOrder, CrcCoverage};

/// Choices and agreements, each named after its place in the sheet `ualink`. `Default` is what the sheet uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UalConfig {
    /// §5: which coefficient of the CRC is sent first.
    pub crc_order: CrcBitOrder,
    /// §5, X3: what the CRC covers.
    pub crc_coverage: CrcCoverage,
    /// §9: transactions are authenticated, so that tags follow a Control half with requests or responses.
    pub authentication: bool,
    /// §12: low address bits are ciphertext, so whether a request leaves its 256 bytes is not judged.
    pub encryption: bool,
    /// §9 \[D\]: a UPLI Write Message has a byte-enable half behind its data.
    pub write_message_enables: bool,
}

impl UalConfig {
    /// What the sheet uses.
    pub const SHEET: UalConfig = UalConfig {
        crc_order: CrcBitOrder::X0First,
        crc_coverage: CrcCoverage::WholeFlit,
        authentication: false,
        encryption: false,
        write_message_enables: true,
    };
}

impl Default for UalConfig {
    fn default() -> Self {
        UalConfig::SHEET
    }
}
