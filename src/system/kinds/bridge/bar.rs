//! Ports of CXL.io at which a bridge is a device, as a description gives them, see [`scalepool_bridge::inbound::bar`].
//!
//! Modelled: ports of a device whose BAR 0 leads to the windows of class BR; the mode that the link trains to; what the memory behind the
//! BAR holds at first, which a root complex that compares bytes is told. A root complex may stand behind switches of CXL.io: it knows the bridge by the
//! serial number of its port. Left out: several ports of a bridge of which one is behind a switch. A walk: a
//! window begins at byte 0 of the BAR, whose size is the next power of two behind the end of the last window; the root complex places it,
//! and reads memory of accelerators there.

use super::inbound::MemoryOf;
use crate::kind::{Carried, ConfigFinding, IoPlug, NodeError, Offer, PortDecl, PortRole, Site, SitePort};
use scalepool_bridge::inbound::bar::half::BarPort;
use scalepool_bridge::window::{BridgeWindow, BridgeWindows, InboundClass};
use scalepool_endpoint::completer::{Completer, CompleterConfig};
use scalepool_endpoint::config_space::ConfigSpace;
use scalepool_endpoint::config_space::type3::{Type3Config, type3};
use scalepool_endpoint::pm::{PmAgent, PmConfig, PmSide};
use scalepool_endpoint::tlp::TlpForm;
use scalepool_kernel::Binder;
use scalepool_memory::store::{Background, Store};
use scalepool_nodes::io::mode::{self, FlexPort};
use scalepool_nodes::io::root::USED_BYTES;
use scalepool_nodes::io::tlps;
use scalepool_trace::{Hub, Tap};

/// Best mode of a port, unless a description says another one.
pub const MODE: &str = "cxl-256b";

/// Largest payload of the bridge: a block.
const MAX_PAYLOAD: usize = 256;

/// The ports.
pub fn ports(count: usize) -> PortDecl {
    PortDecl { name: "bar", len: Some(count), links: &["cxl-io"], role: PortRole::Device }
}

/// What it brings into training.
pub fn offer(mode: &str) -> Offer {
    Offer { flex_bus: Some(FlexPort::device(mode)), ..Offer::default() }
}

/// Bytes of the BAR that leads to these windows.
fn bar_bytes(windows: &BridgeWindows<InboundClass>) -> u64 {
    windows.end().next_power_of_two()
}

/// What does not go with who is at these ports.
pub fn check_joined(windows: &[BridgeWindow<InboundClass>], ports: &[SitePort]) -> Option<ConfigFinding> {
    let port = ports.iter().find(|port| port.peer.uses_bars).or(ports.first())?;
    let carried = ports.iter().find(|port| matches!(port.link.carried, Carried::CxlIo { cachemem: true, .. }));
    if let Some(port) = carried {
        let text = format!("found a link with cachemem at {}, expected one of CXL.io alone", port.path);
        return Some(("bar_ports", text));
    }
    let is_switch = |port: &&SitePort| port.peer_role == PortRole::SwitchDownstream;
    // A root complex says how long its power management waits, a bridge does not.
    let is_host = |port: &&SitePort| port.peer.power_timeout_fs.is_some() || is_switch(port);
    if let Some(port) = ports.iter().find(|port| !is_host(port)) {
        let text =
            format!("found no root complex at {}, expected one, or a switch to one: it places the BAR", port.path);
        return Some(("bar_ports", text));
    }
    // Who uses the BAR behind a switch is not known here, and may be another one later.
    let behind_switch = ports.iter().find(is_switch);
    if let (Some(port), true) = (behind_switch, ports.len() > 1) {
        let text = format!(
            "found a switch at {} and {} ports, expected one port alone: root complexes at both would each judge bytes by their own writes",
            port.path,
            ports.len()
        );
        return Some(("bar_ports", text));
    }
    // All of them see the same memory.
    if let [one, two, ..] = ports.iter().filter(|port| port.peer.uses_bars).collect::<Vec<_>>()[..] {
        let text = format!(
            "found root complexes at {} and {} that both use the BAR, expected one, and others with accesses = 0: each judges bytes by its own writes",
            one.path, two.path
        );
        return Some(("bar_ports", text));
    }
    let is_used = |window: &BridgeWindow<InboundClass>| {
        window.class == InboundClass::Br && window.base == 0 && window.size >= USED_BYTES
    };
    let text = || {
        format!(
            "found no window of class BR at byte 0 of the BAR, expected one: the root complex at {} uses its first {USED_BYTES} bytes",
            port.path
        )
    };
    let is_missing = (port.peer.uses_bars || is_switch(&port)) && !windows.iter().any(is_used);
    is_missing.then(|| ("inbound", text()))
}

/// A port that is ready to be built.
pub struct BarPortPart {
    form: TlpForm,
    space: ConfigSpace,
    link: u32,
    tap: Tap,
}

impl BarPortPart {
    /// The ports of a bridge with these windows of class BR, behind which memory holds these lines at first.
    ///
    /// # Errors
    /// A link that does not come up.
    pub fn of(
        (mode, memory): (&str, MemoryOf),
        windows: &BridgeWindows<InboundClass>,
        ports: &[SitePort],
        site: &Site<'_>,
        hub: &mut Hub,
    ) -> Result<Vec<BarPortPart>, NodeError> {
        let one = |port: &SitePort| {
            let joined = |text| NodeError::Joined { path: site.path.to_owned(), text };
            let no_link = || joined(format!("found no CXL link at {}, expected one", port.path));
            let own = FlexPort::device(mode);
            let Carried::CxlIo { rate_gtps, port_ids: [host, device], .. } = port.link.carried else {
                return Err(no_link());
            };
            let peer = port.peer.flex_bus.ok_or_else(no_link)?;
            let agreed = peer.train(&own, rate_gtps).ok_or_else(no_link)?;
            let described = Type3Config {
                flex_bus: own.can,
                bar_bytes: [bar_bytes(windows), 0],
                range_bytes: [0, 0],
                logical_devices: 1,
                max_payload_bytes: MAX_PAYLOAD,
                // No two ports are the same: a root complex knows by it what is behind the BAR, whatever is between them.
                serial_number: Some(port.number.into()),
                ..Type3Config::default()
            };
            let mut space = type3(&described).map_err(|error| joined(error.to_string()))?;
            space.trained(&peer.can, agreed);
            let form = mode::form(agreed, device, host);
            let behind = windows.clone();
            super::lines_of_devices(site).of(port.number.into()).are(Box::new(move |offset| {
                behind.translated(offset).map(|route| memory(route.port as u16, route.address))
            }));
            let tap = hub.tap(&port.path, tlps::shows(form));
            Ok(BarPortPart { form, space, link: port.number, tap })
        };
        ports.iter().map(one).collect()
    }

    /// The port with the ends of its link.
    pub fn place(self, plug: IoPlug, bind: &mut Binder<'_>) -> BarPort {
        let BarPortPart { form, space, link, tap } = self;
        let (tx, rx) = plug.io;
        // No request comes to the store: what lies behind the BAR is memory of accelerators.
        let completer = Completer::new(CompleterConfig::default(), space, Store::new(Background::Zero));
        let agent = PmAgent::new(PmConfig::new(PmSide::Device));
        BarPort { tx: bind.attach(tx), rx: bind.attach(rx), form, completer, agent, link, tap }
    }
}
