//! Link ends with their wires, put into a simulation: the same for an accelerator and for a switch.

use super::end::PROTOCOL;
use super::external::ExternalPort;
use super::tl::port::{CodeWordPhy, UalReport, UalWireItem};
use super::tl::stall::TakeStall;
use super::tl::{Tl, TlConfig};
use super::{EndConfig, UalEnd};
use crate::external::Feed;
use crate::fault::{Fault, FaultyWire};
use crate::hook::Hooks;
use crate::port::{LinkEnd, Port, PortAgent, PortConfig, PortResult, PortSteps, Ports, WayOut};
use crate::sim_port::SimPort;
use scalepool_kernel::{Binder, BuildError, LinkInEnd, LinkOutEnd, Simulation, Time};
use scalepool_protocols::ualink::flit::FLIT_BYTES;
use scalepool_trace::{Hub, PlaceKind, Tap};
use std::sync::{Arc, Mutex};

/// What all link ends of a simulation have in common.
#[derive(Debug, Clone, Copy)]
pub struct SocketKind {
    /// Bit error rate.
    pub ber: f64,
    /// Replays in vain after which the run ends.
    pub give_up: u32,
    /// Percent of flit clocks in which received transactions of a class wait.
    pub stall_percent: u64,
}

/// One end of a link before it has a place.
pub struct Socket {
    name: String,
    end: EndConfig,
    tl: TlConfig,
    dir: &'static str,
    kind: SocketKind,
    /// Listed faults of what it sends.
    pub faults: Vec<Fault>,
    /// When the line of what it sends fails, and until when.
    pub outage: Option<(Time, Time)>,
    wire_out: LinkOutEnd<UalWireItem>,
    wire_in: LinkInEnd<UalWireItem>,
    taps: Option<[Tap; 2]>,
    result: Arc<Mutex<PortResult<UalReport>>>,
    hooks: Hooks,
}

/// Wires of a link by its name, `latency_fs` long each way: those of the first end, then those of the second.
///
/// # Errors
/// A name of the kernel's grammar that is used twice; a latency of 0.
#[allow(clippy::type_complexity)]
pub fn wires(
    sim: &mut Simulation,
    [out, back]: [&str; 2],
    latency_fs: u64,
) -> Result<[(LinkOutEnd<UalWireItem>, LinkInEnd<UalWireItem>); 2], BuildError> {
    let (there_out, there_in) = sim.link::<UalWireItem>(out, latency_fs)?;
    let (back_out, back_in) = sim.link::<UalWireItem>(back, latency_fs)?;
    Ok([(there_out, back_in), (back_out, there_in)])
}

impl Socket {
    /// An end of a name; `dir` is the direction of what it receives, in traces. With it the place where it is watched, and
    /// where its result will be.
    pub fn new(
        name: &str,
        (end, tl): (EndConfig, TlConfig),
        dir: &'static str,
        kind: SocketKind,
        (wire_out, wire_in): (LinkOutEnd<UalWireItem>, LinkInEnd<UalWireItem>),
    ) -> (Socket, SimPort, Arc<Mutex<PortResult<UalReport>>>) {
        let place = SimPort::new(name, PROTOCOL, FLIT_BYTES);
        let result: Arc<Mutex<PortResult<UalReport>>> = Arc::default();
        let socket = Socket {
            name: name.to_owned(),
            end: EndConfig { codec: tl.codec, ..end },
            tl,
            dir,
            kind,
            faults: Vec::new(),
            outage: None,
            wire_out,
            wire_in,
            taps: None,
            result: result.clone(),
            hooks: place.hooks.clone(),
        };
        (socket, place, result)
    }

    /// Name of the end.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Takes its places in traces.
    pub fn tap(&mut self, hub: &mut Hub) {
        let flits = hub.tap(&self.name, PlaceKind::Flits { protocol: PROTOCOL, dir: self.dir });
        self.taps = Some([flits, hub.tap(&self.name, PlaceKind::Values(UalEnd::<Tl>::SIGNALS))]);
    }

    /// When what it receives waits.
    pub fn stall(&self, bind: &Binder) -> TakeStall {
        TakeStall::new(self.kind.stall_percent, bind.rng_for(&format!("{}:stalls", self.name)))
    }

    /// The port. Without agents it is stepped by the module that binds it.
    pub fn bind(
        self,
        bind: &mut Binder,
        agents: Vec<Box<dyn PortAgent<UalEnd<Tl>>>>,
    ) -> Box<dyn PortSteps<UalEnd<Tl>>> {
        let [flits, signals] = self.taps.unwrap_or_else(|| unreachable!("places in traces are taken before"));
        let (wire_out, wire_in) = (bind.attach(self.wire_out), bind.attach(self.wire_in));
        let ports = Ports { agents, wire_out, wire_in, flits, signals };
        let wire = FaultyWire::new(self.faults, self.kind.ber, bind.rng_for(&self.name));
        let mut end = UalEnd::new(self.end, Tl::new(self.tl));
        end.attach_hooks(&self.hooks);
        let phy = CodeWordPhy::new(self.end.line, self.outage);
        let config = PortConfig { end, phy, wire, dir: self.dir, give_up: self.kind.give_up };
        Box::new(Port::new(config, ports, self.result))
    }

    /// The place of the end, whose flits a caller drives.
    pub fn bind_external(self, bind: &mut Binder, feed: Feed) -> ExternalPort {
        let [flits, _] = self.taps.unwrap_or_else(|| unreachable!("places in traces are taken before"));
        ExternalPort {
            line: self.end.line,
            dir: self.dir,
            wire_out: bind.attach(self.wire_out),
            wire_in: bind.attach(self.wire_in),
            flits,
            way_out: WayOut::new(FaultyWire::new(self.faults, self.kind.ber, bind.rng_for(&self.name))),
            hooks: self.hooks,
            feed,
            result: self.result,
        }
    }
}
