//! `bridge.ualink` and `bridge.nvlink`: bridge SoCs between accelerators and CXL, see [`scalepool_bridge`].
//!
//! Modelled: what descriptions say of windows, stages and the conversion cache, and how the two halves of a bridge become modules. A walk:
//! the windows of each direction are read and judged; the ports of both sides are dealt to the halves; one that stands in front of memory
//! says what that holds at first.

pub mod bar;
pub mod cache;
pub mod exported;
pub mod hairpin;
pub mod halves;
pub mod inbound;
pub mod inbound_cache;
pub mod io;
pub mod losses;
pub mod nvlink;
pub mod outbound;
pub mod stages;
pub mod ualink;
pub mod windows;

use crate::coherence::Seat;
use crate::kind::{ComponentPlug, IoPlug, Site};
use crate::measured::ComponentMeasured;
use inbound::InboundPart;
use losses::BridgeLosses;
use outbound::OutboundPart;
use scalepool_kernel::{InEnd, OutEnd};
use scalepool_nodes::cxl::coherent::wiring::NodeEnds;
use scalepool_nodes::first_lines::{FirstLines, LinesOfDevices};
use scalepool_protocols::cxl::message::Message;
use std::sync::Arc;

/// What the memory at the device's end of a CXL link holds at first, said by the device if its addresses do not say it.
pub(super) fn first_lines(site: &Site<'_>, link: u32) -> Arc<FirstLines> {
    site.shared.get(&format!("first lines of memory at CXL link {link}"), FirstLines::default)
}

/// What memory behind BARs of bridges holds at first, by their serial numbers.
pub(super) fn lines_of_devices(site: &Site<'_>) -> Arc<LinesOfDevices> {
    site.shared.get("first lines of devices", LinesOfDevices::default)
}

/// What the memory of a host holds at first, said by the host if that is not zeros.
pub(super) fn first_lines_of_home(site: &Site<'_>, seat: &Seat) -> Arc<FirstLines> {
    site.shared.get(&format!("first lines of home {}", seat.domain.number()), FirstLines::default)
}

/// Why traffic with atomics cannot be judged beside a bridge that refuses them; `others` are the choices without.
pub fn without_atomics(found: &str, others: &str) -> String {
    format!(
        "found \"{found}\" with atomics beside a bridge with a window of class MN or IO, which refuses them or most of them, expected {others}, or windows of class MC or CC"
    )
}

/// The ends of ports by which memory of accelerators is asked for.
pub struct TargetEnds {
    /// Those of target ports.
    targets: Vec<(OutEnd<Message>, InEnd<Message>)>,
    /// Those of ports of the home.
    homes: Vec<NodeEnds>,
    /// Those of ports of CXL.io.
    bars: Vec<IoPlug>,
}

/// The ends of its ports: those of links to accelerators as they come, those of CXL ports, the others.
type PortEnds = (Vec<ComponentPlug>, OutboundEnds, TargetEnds);

/// The ends of ports by which accelerators ask.
pub struct OutboundEnds {
    /// Those of CXL.mem.
    cxl: Vec<NodeEnds>,
    /// Those of CXL.io.
    io: Vec<IoPlug>,
}

/// Deals the ends of all ports, in the order of their declarations; so many of them are CXL ports of CXL.mem, and ports of CXL.io, by which
/// accelerators ask.
fn dealt(plugs: Vec<ComponentPlug>, [cxl_ports, io_ports]: [usize; 2]) -> PortEnds {
    let (mut x, mut cxl, mut io, mut targets) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for plug in plugs {
        match plug {
            ComponentPlug::Coherent(ends) => cxl.push(ends),
            ComponentPlug::CxlIo(plug) => io.push(plug),
            ComponentPlug::Cxl(tx, rx) => targets.push((tx, rx)),
            other => x.push(other),
        }
    }
    let (homes, bars) = (cxl.split_off(cxl_ports), io.split_off(io_ports));
    (x, OutboundEnds { cxl, io }, TargetEnds { targets, homes, bars })
}

/// Gives the figures of both halves together.
fn measure(
    outbound: &OutboundPart,
    inbound: Option<&InboundPart>,
    losses: &BridgeLosses,
) -> Box<dyn Fn() -> ComponentMeasured> {
    let (outbound, inbound) = (outbound.measure(), inbound.map(InboundPart::measure));
    let loses = losses.are_any();
    Box::new(move || {
        let (mut all, mut lost) = outbound();
        if let Some((inbound, of_inbound)) = inbound.as_ref().map(|inbound| inbound()) {
            lost.links += of_inbound.links;
            lost.messages += of_inbound.messages;
            let ComponentMeasured { counts, broken, messages, rows, has_stopped, .. } = inbound;
            all.counts.extend(counts);
            all.broken.extend(broken);
            all.messages.extend(messages);
            all.rows.extend(rows);
            all.has_stopped |= has_stopped;
        }
        if loses {
            all.counts.extend(lost.measured());
        }
        all
    })
}
