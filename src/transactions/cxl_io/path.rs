//! Whose requests share a link: those of several hosts do on a link with port based routing, and on one to a device with several
//! logical devices (`cxl-io` §3.8).

use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxlio::DW_BYTES;
use scalepool_protocols::cxl::cxlio::code::FmType;
use scalepool_protocols::cxl::cxlio::flit_mode::Pth;
use scalepool_protocols::cxl::cxlio::tlp::TlpParts;
use scalepool_protocols::wire::Wire;

/// The high four bits of the first byte of a local prefix, in non-flit mode (`cxl-io` §1.2).
const PREFIX: u8 = 0b1000;

/// A link, and the pair of ports or the logical device that a TLP names beside it; the same for a request and its completions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Path {
    pub link: usize,
    /// PBR-ID of the port of the host, then of that of the device.
    ports: Option<[u16; 2]>,
    /// LD-ID or PBR-ID of the local prefix.
    id: Option<u16>,
}

impl Path {
    /// That of a TLP that goes in a direction.
    pub fn of(link: usize, dir: Dir, parts: &TlpParts) -> Path {
        let ports = parts.pth.first_chunk::<DW_BYTES>().map(|pth| {
            let Pth { spid, dpid, .. } = Pth::from_bits(u32::from_be_bytes(*pth).into());
            if dir == Dir::Down { [spid, dpid] } else { [dpid, spid] }
        });
        let mut prefixes = parts.prefixes.chunks_exact(DW_BYTES);
        let id = prefixes.find(|prefix| FmType(prefix[0]) == FmType::VendorPrefix0);
        Path { link, ports, id: id.map(|prefix| u16::from_be_bytes([prefix[1], prefix[2]])) }
    }

    /// That of a TLP of non-flit mode, and the TLP behind its local prefixes (`cxl-io` §1.2).
    pub fn of_non_flit(link: usize, tlp: &[u8]) -> (Path, &[u8]) {
        let (mut id, mut rest) = (None, tlp);
        while let Some((prefix, behind)) = rest.split_first_chunk::<DW_BYTES>().filter(|(dw, _)| dw[0] >> 4 == PREFIX) {
            if id.is_none() && FmType(prefix[0]) == FmType::VendorPrefix0 {
                id = Some(u16::from_be_bytes([prefix[1], prefix[2]]));
            }
            rest = behind;
        }
        (Path { link, ports: None, id }, rest)
    }

    /// What stands behind the name of a request; nothing on a link of one host.
    pub fn in_words(self) -> String {
        let ports =
            self.ports.map(|[host, device]| format!(" between ports {host:#x} and {device:#x}")).unwrap_or_default();
        format!("{ports}{}", self.id.map(|id| format!(" with ID {id:#x}")).unwrap_or_default())
    }
}
