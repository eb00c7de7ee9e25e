//! Nodes and links as one partition of a simulation, so that a watcher sees all agents at one instant.

use super::links::{Counted, Spec};
use scalepool_nodes::cxl::coherent::wiring::{NodeEnds, PortEnds, channels};
use crate::settings::{GIVE_UP, Settings};
use scalepool_coherence::message::Dir;
use scalepool_kernel::{BuildError, Clock, LinkInEnd, LinkOutEnd, PartitionBuilder, Simulation};
use scalepool_link::event::Event;
use scalepool_link::fault::{Fault, FaultyWire};
use scalepool_link::line_time::LineTime;
use scalepool_link::port::{OnWire, Port, PortConfig, PortResult, Ports};
use scalepool_link::sim_port::SimPort;
use scalepool_trace::{Hub, PlaceKind, Tap};
use std::sync::{Arc, Mutex, PoisonError};

/// What a strand shall be.
pub(super) struct Wants<'a> {
    /// Its number, in names of wires and clocks.
    pub index: usize,
    /// Places of its ports: of the one that sends down, of the one that sends up.
    pub places: [String; 2],
    /// Faults of what each of them sends.
    pub faults: [Vec<Fault>; 2],
    /// Numbers that all links share.
    pub settings: &'a Settings,
}

/// What a port has counted.
pub(super) struct PortSummary {
    /// Its place.
    pub place: String,
    /// Broken rules of its peer.
    pub violations: Vec<Event>,
    /// Units that faults changed.
    pub damaged: u64,
    /// Units sent, times that it asked for something again, flit clocks in which a message waited for a credit.
    pub counted: (u64, u64, u64),
    /// Its link layer has stopped.
    pub halted: bool,
    /// Where the time of what it sends has gone.
    pub time: LineTime,
}

/// Reads both ports of a strand when the run is over.
pub(super) type Summary = Box<dyn Fn() -> [PortSummary; 2]>;

/// Builds both ports of a strand; gives back the channels of the nodes: of the one above it, of the one below.
pub(super) type Build = Box<dyn FnOnce(&mut PartitionBuilder) -> Result<[NodeEnds; 2], BuildError> + Send>;

/// One link before it is built.
pub(super) struct Strand {
    /// Builds it.
    pub build: Build,
    /// Reads it.
    pub summary: Summary,
    /// Both ports as the user of a run sees them.
    pub ports: [SimPort; 2],
}

/// What is kept of all links while they are built into the simulation.
#[derive(Default)]
pub(super) struct Links {
    /// Reads them when the run is looked at.
    pub summaries: Vec<Summary>,
    /// Their ports as the user of a run sees them.
    pub ports: Vec<SimPort>,
}

impl Links {
    /// Keeps what is to be kept of a link.
    pub fn add(&mut self, strand: Strand) -> Build {
        self.summaries.push(strand.summary);
        self.ports.extend(strand.ports);
        strand.build
    }
}

/// Both ends of one direction of a wire.
type Wire<U> = (LinkOutEnd<OnWire<U>>, LinkInEnd<OnWire<U>>);

/// What becomes the ports of a strand.
struct Parts<E: Counted> {
    index: usize,
    places: [String; 2],
    ends: [E; 2],
    wires: [Wire<E::Unit>; 2],
    taps: [(Tap, Tap); 2],
    results: [Arc<Mutex<PortResult<E>>>; 2],
    faults: [Vec<Fault>; 2],
    spec: Spec,
    flit_clock: Clock,
    ber: f64,
    retrain_fs: u64,
    hold_credits_flits: u64,
    give_up: u32,
}

impl Strand {
    /// A link with these ends.
    ///
    /// # Errors
    /// A clock or a latency that the kernel refuses.
    pub fn new<E: Counted>(
        sim: &mut Simulation,
        hub: &mut Hub,
        spec: Spec,
        mut ends: [E; 2],
        wants: Wants,
    ) -> Result<Strand, BuildError> {
        let Wants { index, places, faults, settings } = wants;
        let ports = [0, 1].map(|n| {
            let port = SimPort::new(places[n].clone(), ends[n].protocol(), spec.unit_bytes);
            ends[n].attach_hooks(&port.hooks);
            port
        });
        let (num, den) = spec.unit_time_fs;
        let den = den * if spec.halves { 2 } else { 1 };
        let latency_fs = settings.int("link.tx_pipeline_fs")
            + settings.int("link.propagation_fs")
            + settings.int("link.rx_pipeline_fs")
            + num.div_ceil(den);
        let down = sim.link(&format!("wire[{index}].down"), latency_fs)?;
        let up = sim.link(&format!("wire[{index}].up"), latency_fs)?;
        let protocol = ends[0].protocol();
        let mut taps = |place: &str, dir: &'static str| {
            let flits = hub.tap(place, PlaceKind::Flits { protocol, dir });
            (flits, hub.tap(place, PlaceKind::Values(E::SIGNALS)))
        };
        // A port shows what it receives.
        let taps = [taps(&places[0], "up"), taps(&places[1], "down")];
        places.iter().for_each(|place| hub.number_link(place, index as u16));
        let results: [Arc<Mutex<PortResult<E>>>; 2] = Default::default();
        let (names, read) = (places.clone(), results.clone());
        let parts = Parts {
            index,
            places,
            ends,
            wires: [down, up],
            taps,
            results,
            faults,
            spec,
            flit_clock: Clock::new(num, den, 0)?,
            ber: settings.real("link.ber"),
            retrain_fs: settings.int("link.retrain_fs"),
            hold_credits_flits: settings.int("link.credits_hold"),
            give_up: settings.int(GIVE_UP.name) as u32,
        };
        let summary = move || [0, 1].map(|n| summary(&names[n], &read[n]));
        Ok(Strand { build: Box::new(move |p| parts.build(p)), summary: Box::new(summary), ports })
    }
}

impl<E: Counted> Parts<E> {
    fn build(self, p: &mut PartitionBuilder) -> Result<[NodeEnds; 2], BuildError> {
        let Spec { form, halves, .. } = self.spec;
        let flit = p.clock(&format!("flit[{}]", self.index), self.flit_clock)?;
        let edges = if halves { 2 } else { 1 };
        let [down, up] = self.wires;
        let wires = [(down.0, up.1), (up.0, down.1)];
        let mut nodes = Vec::new();
        let sides = self.ends.into_iter().zip(wires).zip(self.taps).zip(self.results).zip(self.faults).zip(self.places);
        for (n, (((((end, (wire_out, wire_in)), (flits, signals)), result), faults), name)) in sides.enumerate() {
            let sends = if n == 0 { Dir::Down } else { Dir::Up };
            let (node, port): (NodeEnds, PortEnds) = channels(p, &format!("{name}.node"), sends, form, edges)?;
            let hold = if n == 0 { 0 } else { self.hold_credits_flits };
            p.module(&name, flit, |bind| {
                let config = PortConfig {
                    end,
                    wire: FaultyWire::new(faults, self.ber, bind.rng()),
                    retrain_fs: self.retrain_fs,
                    hold_credits_flits: hold,
                    halves,
                    give_up: self.give_up,
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
        let below = nodes.pop();
        let above = nodes.pop();
        Ok([above, below].map(|node| node.expect("both ends were built")))
    }
}

fn summary<E: Counted>(place: &str, result: &Mutex<PortResult<E>>) -> PortSummary {
    let port = result.lock().unwrap_or_else(PoisonError::into_inner);
    PortSummary {
        place: place.to_owned(),
        violations: port.violations.clone(),
        damaged: port.damaged,
        counted: port.end.as_ref().map_or((0, 0, 0), Counted::counted),
        halted: port.end.as_ref().is_some_and(|end| end.halted().is_some()),
        time: port.time,
    }
}
