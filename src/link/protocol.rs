//! The protocols that have a link layer here.

use scalepool_protocols::cxl::cxl68;
use scalepool_protocols::cxl::cxl256::{self, Mode};
use scalepool_protocols::{nvlink, ualink};

/// Name of CXL.io alone in standard 256B flits.
pub const CXL_IO: &str = "cxl-io";

/// A protocol with a link layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkProtocol {
    /// `cxl-68b`.
    Cxl68,
    /// The 256B modes.
    Cxl256(Mode),
    /// `nvlink`.
    Nvlink,
    /// `ualink`.
    Ualink,
}

impl LinkProtocol {
    /// All.
    pub const ALL: [LinkProtocol; 6] = [
        LinkProtocol::Cxl68,
        LinkProtocol::Cxl256(Mode::Standard),
        LinkProtocol::Cxl256(Mode::LatencyOptimised),
        LinkProtocol::Cxl256(Mode::Pbr),
        LinkProtocol::Nvlink,
        LinkProtocol::Ualink,
    ];

    /// Name of its flits in [`scalepool_protocols::registry::PROTOCOLS`].
    pub const fn name(self) -> &'static str {
        match self {
            LinkProtocol::Cxl68 => "cxl-68b",
            LinkProtocol::Cxl256(mode) => mode.protocol(),
            LinkProtocol::Nvlink => "nvlink",
            LinkProtocol::Ualink => "ualink",
        }
    }

    /// The one whose flits and sequence numbers a link of this name has: `cxl-io` is CXL.io alone in standard 256B flits.
    pub fn below(name: &str) -> Option<LinkProtocol> {
        if name == CXL_IO { Some(LinkProtocol::Cxl256(Mode::Standard)) } else { LinkProtocol::named(name) }
    }

    /// The one of a name.
    pub fn named(name: &str) -> Option<LinkProtocol> {
        LinkProtocol::ALL.into_iter().find(|protocol| protocol.name() == name)
    }

    /// Bytes of a wire unit; of NVLink, a flit.
    pub const fn unit_bytes(self) -> usize {
        match self {
            LinkProtocol::Cxl68 => cxl68::unit::UNIT_BYTES,
            LinkProtocol::Cxl256(_) => cxl256::flit::FLIT_BYTES,
            LinkProtocol::Nvlink => nvlink::FLIT_BYTES,
            LinkProtocol::Ualink => ualink::flit::FLIT_BYTES,
        }
    }
}
