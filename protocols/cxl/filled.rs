//! What a packer has put into its last flit, in bits.

/// Bits of the last flit by what they hold; the rest of its slots is empty.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Filled {
    /// Messages and headers of data, with the codes of their slots where a slot has one of its own.
    pub messages: u32,
    /// Data.
    pub data: u32,
    /// Byte enables and trailers.
    pub trailers: u32,
}
