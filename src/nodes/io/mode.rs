//! What ports of CXL bring into training, and what follows from the mode that they agree on.
//!
//! Modelled: a port is described by its best flit mode and can do everything up to it. Left out: CXL.cache, links of
//! revision 1.1.

use scalepool_endpoint::tlp::TlpForm;
use scalepool_protocols::cxl::cxl256::Mode;
use scalepool_protocols::cxl::cxlio::dvsec::{ConnectedMode, FlexBus, Trained, negotiate};
use scalepool_protocols::cxl::message::MessageForm;

/// Best flit modes of a port, by name.
pub const MODES: &[&str] = &["cxl-68b", "cxl-256b", "cxl-256b-lopt", "cxl-256b-pbr"];

/// A port before training.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlexPort {
    /// What it can do.
    pub can: FlexBus,
    /// It takes part in PCIe flit mode.
    pub flit_mode: bool,
}

impl FlexPort {
    /// A root port that reaches one of [`MODES`].
    pub fn root(mode: &str) -> FlexPort {
        let can = FlexBus {
            io: true,
            mem: true,
            vh_68b: true,
            lopt_256b: mode == "cxl-256b-lopt",
            pbr: mode == "cxl-256b-pbr",
            ..FlexBus::default()
        };
        FlexPort { can, flit_mode: mode != "cxl-68b" }
    }

    /// The port of a device whose best mode is one of [`MODES`]; one with port based routing can use even halves early too.
    pub fn device(mode: &str) -> FlexPort {
        let root = FlexPort::root(mode);
        FlexPort { can: FlexBus { lopt_256b: root.can.lopt_256b || root.can.pbr, ..root.can }, ..root }
    }

    /// The mode of a link to a peer at a rate; `None`: no CXL link comes up.
    pub fn train(&self, peer: &FlexPort, rate_gtps: u32) -> Option<ConnectedMode> {
        let trained = Trained { flit_mode: self.flit_mode && peer.flit_mode, rate_gtps };
        negotiate(&self.can, &peer.can, trained)
    }
}

/// Format of 256B flits; `None`: 68B units.
pub fn flits(mode: ConnectedMode) -> Option<Mode> {
    match mode {
        ConnectedMode::Rcd | ConnectedMode::Vh68b => None,
        ConnectedMode::Standard256b => Some(Mode::Standard),
        ConnectedMode::LatencyOptimised256b => Some(Mode::LatencyOptimised),
        ConnectedMode::Pbr => Some(Mode::Pbr),
    }
}

/// How TLPs of the end with port identifier `spid` are written.
pub fn form(mode: ConnectedMode, spid: u16, dpid: u16) -> TlpForm {
    match flits(mode) {
        None => TlpForm::NonFlit,
        Some(Mode::Standard | Mode::LatencyOptimised) => TlpForm::Flit,
        Some(Mode::Pbr) => TlpForm::Pbr { spid, dpid },
    }
}

/// How a link of a mode spells messages of CXL.cachemem.
pub fn message_form(mode: ConnectedMode) -> MessageForm {
    flits(mode).map_or(MessageForm::Cxl68, |mode| mode.routing().into())
}

/// The identifier of a port in messages of CXL.cachemem: 0 where nothing is routed by it.
pub fn routed_id(mode: ConnectedMode, id: u16) -> u16 {
    if mode == ConnectedMode::Pbr { id } else { 0 }
}
