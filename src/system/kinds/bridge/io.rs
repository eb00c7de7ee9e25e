//! Ports of CXL.io of a bridge as a description gives them, see [`scalepool_bridge::io`] and [`scalepool_bridge::module::io`].
//!
//! Modelled: ports of a root, behind which a device stands whose memory firmware has placed; the mode that the link trains to, and the
//! tags that it has. Left out: switches of CXL.io behind a bridge. A walk: a window of class IO leads to port 0; the device there says where
//! its registers are, and that they lie in the window is checked with all windows.

use crate::kind::{Carried, ConfigFinding, IoPlug, NodeError, Offer, PortDecl, PortRole, Site, SitePort};
use crate::kinds::cxl_root::cycles;
use scalepool_bridge::io::tlps::IoAck;
use scalepool_bridge::module::io::BridgeIoPort;
use scalepool_endpoint::pm::{PmAgent, PmConfig, PmSide};
use scalepool_endpoint::tlp::TlpForm;
use scalepool_kernel::Binder;
use scalepool_nodes::io::mode::{self, FlexPort};
use scalepool_nodes::io::tlps;
use scalepool_trace::{Hub, Tap};

/// Best mode of a port, unless a description says another one.
pub const MODE: &str = "cxl-256b";
/// Entries whose tags a link of 68B units has: 10 bits (`bridge` §7).
const ENTRIES_OF_68B: usize = 256;
/// Time after which power management gives up what it has asked \[fs\]: that of a root complex.
const POWER_TIMEOUT_FS: u64 = 50_000_000_000;

/// What a description says of when writes are acknowledged.
pub fn ack(text: Option<&str>) -> IoAck {
    if text == Some("sent") { IoAck::Sent } else { IoAck::Flush }
}

/// The ports.
pub fn ports(count: usize) -> PortDecl {
    PortDecl { name: "io", len: Some(count), links: &["cxl-io"], role: PortRole::Host }
}

/// What it brings into training.
pub fn offer(mode: &str) -> Offer {
    Offer { flex_bus: Some(FlexPort::root(mode)), ..Offer::default() }
}

/// How TLPs are written at a port; `None`: no link comes up, which is a finding of the link.
fn form(mode: &str, port: &SitePort) -> Option<TlpForm> {
    let Carried::CxlIo { rate_gtps, port_ids: [own, device], .. } = port.link.carried else { return None };
    let agreed = FlexPort::root(mode).train(&port.peer.flex_bus?, rate_gtps)?;
    Some(mode::form(agreed, own, device))
}

/// What does not go with who is at these ports of a bridge with so many entries.
pub fn check_joined(mode: &str, entries: usize, ports: &[SitePort]) -> Vec<ConfigFinding> {
    let one = |port: &SitePort| {
        if let Carried::CxlIo { cachemem: true, .. } = port.link.carried {
            let text = format!("found a link with cachemem at {}, expected one of CXL.io alone", port.path);
            return Some(("io_ports", text));
        }
        if port.peer.memory_bytes.is_none() {
            let text = format!(
                "found a device at {} that firmware has not placed, expected one with `placed`: a bridge reads no configuration space",
                port.path
            );
            return Some(("io_ports", text));
        }
        let text = || {
            format!(
                "found {entries} entries and 68B units at {}, expected at most {ENTRIES_OF_68B}: tags there have 10 bits (bridge §7)",
                port.path
            )
        };
        (form(mode, port) == Some(TlpForm::NonFlit) && entries > ENTRIES_OF_68B).then(|| ("entries", text()))
    };
    ports.iter().filter_map(one).collect()
}

/// A port that is ready to be built.
pub struct IoPortPart {
    form: TlpForm,
    link: u32,
    power_cycles: u64,
    tap: Tap,
}

impl IoPortPart {
    /// The ports of a bridge.
    ///
    /// # Errors
    /// A link that does not come up.
    pub fn of(mode: &str, ports: &[SitePort], site: &Site<'_>, hub: &mut Hub) -> Result<Vec<IoPortPart>, NodeError> {
        let one = |port: &SitePort| {
            let text = || format!("found no CXL link at {}, expected one", port.path);
            let joined = || NodeError::Joined { path: site.path.to_owned(), text: text() };
            let form = form(mode, port).ok_or_else(joined)?;
            let tap = hub.tap(&port.path, tlps::shows(form));
            Ok(IoPortPart { form, link: port.number, power_cycles: cycles(POWER_TIMEOUT_FS, site.clock), tap })
        };
        ports.iter().map(one).collect()
    }

    /// The port with the ends of its link.
    pub fn place(self, plug: IoPlug, bind: &mut Binder<'_>) -> BridgeIoPort {
        let IoPortPart { form, link, power_cycles, tap } = self;
        let (tx, rx) = plug.io;
        let agent = PmAgent::new(PmConfig { timeout: power_cycles, ..PmConfig::new(PmSide::Host) });
        BridgeIoPort { tx: bind.attach(tx), rx: bind.attach(rx), form, agent, link, tap }
    }
}
