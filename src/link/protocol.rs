//! The protocols that have a link layer here.

use scalepool_protocols::cxl::cxl68;
use scalepool_protocols::cxl::cxl256::{self, Mode};
use scalepool_protocols::{nvlink, ualink};

/// A protocol with a link layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// `cxl-68b`.
    Cxl68,
    /// The 256B modes.
    Cxl256(Mode),
    /// `nvlink`.
    Nvlink,
    /// `ualink`.
    Ualink,
}

impl Protocol {
    /// All.
    pub const ALL: [Protocol; 6] = [
        Protocol::Cxl68,
        Protocol::Cxl256(Mode::Standard),
        Protocol::Cxl256(Mode::LatencyOptimised),
        Protocol::Cxl256(Mode::Pbr),
        Protocol::Nvlink,
        Protocol::Ualink,
    ];

    /// Name of its flits in [`scalepool_protocols::registry::PROTOCOLS`].
    pub const fn name(self) -> &'static str {
        match self {
            Protocol::Cxl68 => "cxl-68b",
            Protocol::Cxl256(mode) => mode.protocol(),
            Protocol::Nvlink => "nvlink",
            Protocol::Ualink => "ualink",
        }
    }

    /// The one of a name.
    pub fn named(name: &str) -> Option<Protocol> {
        Protocol::ALL.into_iter().find(|protocol| protocol.name() == name)
    }

    /// Bytes of a wire unit; of NVLink, a flit.
    pub const fn unit_bytes(self) -> usize {
        match self {
            Protocol::Cxl68 => cxl68::unit::UNIT_BYTES,
            Protocol::Cxl256(_) => cxl256::flit::FLIT_BYTES,
            Protocol::Nvlink => nvlink::FLIT_BYTES,
            Protocol::Ualink => ualink::flit::FLIT_BYTES,
        }
    }
}
