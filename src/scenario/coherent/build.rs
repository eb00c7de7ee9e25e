//! Nodes and links as one partition of a simulation, so that a watcher sees all agents at one instant.

use super::links::{Counted, Line};
use super::wiring::{NodeEnds, PortEnds, channels};
use crate::coherence::clocked::node::NodeLink;
use crate::coherence::message::Dir;
use crate::coherence::wire::Route;
use crate::kernel::{Binder, BuildError, Clock, LinkInEnd, LinkOutEnd, PartitionBuilder, Simulation};
use crate::link::fault::{Fault, FaultyWire};
use crate::link::port::{OnWire, Port, PortConfig, PortResult, Ports};
use crate::scenario::ports::SimPort;
use crate::scenario::settings::Settings;
use crate::trace::{Hub, PlaceKind, Tap};
use scalepool_protocols::cxl::message::Form;
use std::sync::{Arc, Mutex};

/// Both ends of one direction of a wire.
type Wire<U> = (LinkOutEnd<OnWire<U>>, LinkInEnd<OnWire<U>>);

/// One link before it is built: its ends, its wires, what watches it.
pub(super) struct Strand<E: Counted> {
    index: usize,
    ends: [E; 2],
    wires: [Wire<E::Unit>; 2],
    taps: [(Tap, Tap); 2],
    /// Results of the host's port and the device's.
    pub results: [Arc<Mutex<PortResult<E>>>; 2],
    faults: [Vec<Fault>; 2],
}

/// Numbers that all links share.
#[derive(Clone, Copy)]
pub(super) struct Common {
    pub form: Form,
    pub halves: bool,
    pub flit_clock: Clock,
    pub latency_fs: u64,
    pub ber: f64,
    pub retrain_fs: u64,
    pub hold_credits_flits: u64,
}

impl Common {
    /// Of the settings.
    ///
    /// # Errors
    /// A clock that the kernel refuses.
    pub fn of<E>(settings: &Settings, line: &Line<E>) -> Result<Common, BuildError> {
        let (num, den) = line.unit_time_fs;
        let parts = if line.halves { 2 } else { 1 };
        Ok(Common {
            form: line.form,
            halves: line.halves,
            flit_clock: Clock::new(num, den * parts, 0)?,
            latency_fs: settings.int("link.tx_pipeline_fs")
                + settings.int("link.propagation_fs")
                + settings.int("link.rx_pipeline_fs")
                + num.div_ceil(den * parts),
            ber: settings.real("link.ber"),
            retrain_fs: settings.int("link.retrain_fs"),
            hold_credits_flits: settings.int("link.credits_hold"),
        })
    }
}

/// Place of a port: `host.port[i]` or `dev[i].link`.
pub(super) fn place(index: usize, end: usize) -> String {
    if end == 0 { format!("host.port[{index}]") } else { format!("dev[{index}].link") }
}

impl<E: Counted> Strand<E> {
    /// Link number `index`.
    ///
    /// # Errors
    /// A latency that the kernel refuses.
    pub fn new(
        sim: &mut Simulation,
        hub: &mut Hub,
        common: &Common,
        index: usize,
        line: &Line<E>,
        faults: [Vec<Fault>; 2],
    ) -> Result<Self, BuildError> {
        let down = sim.link(&format!("wire[{index}].down"), common.latency_fs)?;
        let up = sim.link(&format!("wire[{index}].up"), common.latency_fs)?;
        let protocol = line.ends[0].protocol();
        let mut taps = |end: usize, dir: &'static str| {
            let flits = hub.tap(&place(index, end), PlaceKind::Flits { protocol, dir });
            (flits, hub.tap(&place(index, end), PlaceKind::Values(E::SIGNALS)))
        };
        // A port shows what it receives.
        let taps = [taps(0, "up"), taps(1, "down")];
        Ok(Strand { index, ends: line.ends.clone(), wires: [down, up], taps, results: Default::default(), faults })
    }

    /// Both ends as ports, with their hooks.
    pub fn ports(&mut self, unit_bytes: usize) -> [SimPort; 2] {
        let index = self.index;
        let mut end = 0;
        self.ends.each_mut().map(|of| {
            let port = SimPort::new(place(index, end), of.protocol(), unit_bytes);
            of.attach_hooks(&port.hooks);
            end += 1;
            port
        })
    }

    /// Builds both ports and gives back the channels of the nodes: of the one at the host, of the one at the device.
    ///
    /// # Errors
    /// What the kernel refuses.
    pub fn build(self, p: &mut PartitionBuilder, common: &Common) -> Result<[NodeEnds; 2], BuildError> {
        let flit = p.clock(&format!("flit[{}]", self.index), common.flit_clock)?;
        let edges = if common.halves { 2 } else { 1 };
        let [down, up] = self.wires;
        let wires = [(down.0, up.1), (up.0, down.1)];
        let mut nodes = Vec::new();
        let sides = self.ends.into_iter().zip(wires).zip(self.taps).zip(self.results).zip(self.faults);
        for (n, ((((end, (wire_out, wire_in)), (flits, signals)), result), faults)) in sides.enumerate() {
            let name = place(self.index, n);
            let sends = if n == 0 { Dir::Down } else { Dir::Up };
            let (node, port): (NodeEnds, PortEnds) = channels(p, &format!("{name}.node"), sends, common.form, edges)?;
            let hold = if n == 0 { 0 } else { common.hold_credits_flits };
            p.module(&name, flit, |bind| {
                let config = PortConfig {
                    end,
                    wire: FaultyWire::new(faults, common.ber, bind.rng()),
                    retrain_fs: common.retrain_fs,
                    hold_credits_flits: hold,
                    halves: common.halves,
                };
                let ports = Ports {
                    agents: vec![Box::new(port.attach(bind))],
                    wire_out: bind.attach(wire_out),
                    wire_in: bind.attach(wire_in),
                    flits,
                    signals,
                };
                Port::new(config, ports, result)
            })?;
            nodes.push(node);
        }
        let device = nodes.pop();
        let host = nodes.pop();
        Ok([host, device].map(|node| node.expect("both ends were built")))
    }
}

/// Attaches a node's end of link `index`.
pub(super) fn attach(bind: &mut Binder, node: NodeEnds, index: usize, form: Form, host_side: bool) -> NodeLink {
    // Ports of a fabric: the host is 1, device n is 2 + n.
    let device = 2 + index as u16;
    let (spid, dpid) = match form {
        Form::Pbr if host_side => (1, device),
        Form::Pbr => (device, 1),
        _ => (0, 0),
    };
    let route = Route { cache_id: index as u8, ld_id: 0, bi_id: index as u16, spid, dpid };
    node.attach(bind, route, form)
}
