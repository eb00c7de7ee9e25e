//! The protocols of which the C ABI has link ends: those with a link layer of their own, and CXL.io alone in 256B flits.

use scalepool::forms::{FormError, flit256, message};
use scalepool::link::protocol::{CXL_IO, LinkProtocol};
use scalepool_protocols::cxl::cxl256::Mode;
use scalepool_protocols::cxl::cxl256::flit::FLIT_BYTES;

/// A protocol of link ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CapiProtocol {
    /// One with a link layer of its own.
    Link(LinkProtocol),
    /// CXL.io alone in standard 256B flits.
    CxlIo,
}

impl CapiProtocol {
    /// The one of a name.
    ///
    /// # Errors
    /// A name that no protocol with a link layer has.
    pub fn named(name: &str) -> Result<CapiProtocol, FormError> {
        if name == CapiProtocol::CxlIo.name() {
            return Ok(CapiProtocol::CxlIo);
        }
        let known = flit256::mode_of(name).map(LinkProtocol::Cxl256).or(LinkProtocol::named(name));
        known.map(CapiProtocol::Link).ok_or_else(|| {
            let near = message::most_similar(name, LinkProtocol::ALL.into_iter().map(LinkProtocol::name));
            FormError::new(
                "protocol",
                format!("`{name}`"),
                format!("a protocol with a link layer, such as {}", near.join(", ")),
            )
        })
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            CapiProtocol::Link(protocol) => protocol.name(),
            CapiProtocol::CxlIo => CXL_IO,
        }
    }

    /// Bytes of a wire unit; of NVLink, a flit.
    pub const fn unit_bytes(self) -> usize {
        match self {
            CapiProtocol::Link(protocol) => protocol.unit_bytes(),
            CapiProtocol::CxlIo => FLIT_BYTES,
        }
    }

    /// The one whose watcher judges its flits.
    pub const fn watcher(self) -> LinkProtocol {
        match self {
            CapiProtocol::Link(protocol) => protocol,
            CapiProtocol::CxlIo => LinkProtocol::Cxl256(Mode::Standard),
        }
    }

    /// The one of its own messages; CXL.io has TLPs.
    pub const fn messages(self) -> Option<LinkProtocol> {
        match self {
            CapiProtocol::Link(protocol) => Some(protocol),
            CapiProtocol::CxlIo => None,
        }
    }
}
