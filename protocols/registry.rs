//! Everything that can be encoded and decoded by name.

use crate::wire::LayoutDef;

/// A flit format that encodes and decodes as a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Protocol {
    /// Name on the command line, e.g. `cxl-68b`.
    pub name: &'static str,
    /// Family of its layouts.
    pub family: &'static str,
    /// Bytes of one wire unit; of NVLink those of a flit, of which a packet has 1 to 18.
    pub unit_bytes: usize,
}

/// All layouts, family by family in order of the sheets.
pub fn layouts() -> impl Iterator<Item = &'static LayoutDef> {
    use crate::cxl::{cxl68, cxl256, cxlio};
    use crate::{nvlink, ualink};
    [cxl68::LAYOUTS, cxl256::LAYOUTS, cxl256::PBR_LAYOUTS, cxlio::LAYOUTS, ualink::LAYOUTS, nvlink::LAYOUTS]
        .into_iter()
        .flatten()
        .copied()
}

/// The layout of a name.
pub fn layout(name: &str) -> Option<&'static LayoutDef> {
    layouts().find(|l| l.name == name)
}

/// All flit protocols.
pub const PROTOCOLS: &[Protocol] = &[
    Protocol { name: "cxl-68b", family: "cxl68", unit_bytes: 68 },
    Protocol { name: "cxl-256b", family: "cxl256", unit_bytes: 256 },
    Protocol { name: "cxl-256b-lopt", family: "cxl256", unit_bytes: 256 },
    Protocol { name: "cxl-256b-pbr", family: "cxlpbr", unit_bytes: 256 },
    Protocol { name: "cxl-io", family: "cxlio", unit_bytes: 256 },
    Protocol { name: "ualink", family: "ualink", unit_bytes: 640 },
    Protocol { name: "nvlink", family: "nvlink", unit_bytes: 16 },
];
