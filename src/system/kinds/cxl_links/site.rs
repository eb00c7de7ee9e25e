//! Both ends of a link, put into the partitions of their components: a port of the model, or the place of an end that a
//! caller drives.

use super::{Classes, CxlLink, Reported, is_between_switches};
use crate::kind::{BuiltLink, Clocks, ComponentPlug, ExternalComponent, LinkEndSite, LinkSite, Offer, PortRole};
use crate::kinds::{broken as broken_at, published};
use crate::measured::{Ending, LinkMeasured};
use scalepool_fabric::cxl_switch::credits_at_rest;
use scalepool_kernel::{BuildError, Clock, LinkInEnd, LinkOutEnd, PartitionBuilder, Simulation};
use scalepool_link::external::{ExternalConfig, ExternalWires, Feed};
use scalepool_link::fault::{Fault, FaultyWire};
use scalepool_link::port::{FlitPhy, FlitPhyConfig, PortConfig, PortResult, Ports, WireItem};
use scalepool_link::sim_port::SimPort;
use scalepool_nodes::PlacedViolation;
use scalepool_nodes::cxl::coherent::wiring::LinkExtras;
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::wire::Violation;
use scalepool_trace::{Hub, PlaceKind, Tap};
use std::sync::{Arc, Mutex};

/// One end of a link and its wires.
struct CxlLinkEnd<E: Reported> {
    /// Where it is watched and driven.
    port: SimPort,
    /// Direction of what it receives.
    dir: &'static str,
    clock_name: String,
    flit_clock: Clock,
    wire_out: LinkOutEnd<WireItem<E::Unit>>,
    wire_in: LinkInEnd<WireItem<E::Unit>>,
    end: E,
    faults: Vec<Fault>,
    ber: f64,
    retrain_fs: u64,
    hold_credits_flits: u64,
    give_up: u32,
    halves: bool,
    classes: Option<Classes>,
    taps: Option<[Tap; 2]>,
    result: Arc<Mutex<PortResult<E::Report>>>,
}

impl<E: Reported> LinkEndSite for CxlLinkEnd<E> {
    fn port(&self) -> SimPort {
        self.port.clone()
    }

    fn tap(&mut self, hub: &mut Hub) {
        let flits = PlaceKind::Flits { protocol: self.port.protocol, dir: self.dir };
        let name = &self.port.name;
        self.taps = Some([hub.tap(name, flits), hub.tap(name, PlaceKind::Values(E::SIGNALS))]);
    }

    fn place(
        self: Box<Self>,
        p: &mut PartitionBuilder,
        clocks: &mut Clocks,
    ) -> Result<Option<ComponentPlug>, BuildError> {
        let CxlLinkEnd {
            port,
            dir,
            clock_name,
            flit_clock,
            wire_out,
            wire_in,
            end,
            taps,
            result,
            faults,
            ber,
            retrain_fs,
            halves,
            hold_credits_flits,
            give_up,
            classes,
            ..
        } = *self;
        let wire = |rng| FaultyWire::new(faults, ber, rng);
        let flit = clocks.id(p, &clock_name, flit_clock)?;
        let name = port.name;
        let [flits, signals] = taps.unwrap_or_else(|| unreachable!("places in traces are taken before"));
        if let Some(feed) = port.feed {
            p.module(&name, flit, |bind| {
                let (wire_out, wire_in) = E::attach(bind, wire_out, wire_in);
                let wires = ExternalWires { wire_out, wire_in, flits };
                let config = ExternalConfig { end, wire: wire(bind.rng()), dir, retrain_fs, halves, feed };
                E::external(config, wires, result)
            })?;
            return Ok(None);
        }
        // One flit clock too where the port has two edges of it.
        let edges = if halves { 2 } else { 1 };
        let (plug, attach) = E::plug(p, &name, edges, classes)?;
        p.module(&name, flit, |bind| {
            let agents = attach(bind);
            let (wire_out, wire_in) = E::attach(bind, wire_out, wire_in);
            let ports = Ports { agents, wire_out, wire_in, flits, signals };
            let phy = FlitPhy::new(FlitPhyConfig { retrain_fs, hold_credits_flits, halves });
            let config = PortConfig { end, phy, wire: wire(bind.rng()), dir, give_up };
            E::port(config, ports, result)
        })?;
        Ok(Some(plug))
    }
}

/// Makes both ends of a link and its wires.
///
/// # Errors
/// A mistake of ours.
pub(super) fn build<E: Reported>(
    link: CxlLink<E>,
    sim: &mut Simulation,
    site: &LinkSite<'_>,
) -> Result<BuiltLink, BuildError> {
    let CxlLink { host, device, line, unit_bytes, unit_time_fs, halves, form, is_coherent } = link;
    let (num, den) = unit_time_fs;
    // A unit is there when its last byte is; one that is used by halves, when the last byte of its even half is.
    let parts = if halves { 2 } else { 1 };
    let flit_clock = Clock::new(num, den * parts, 0)?;
    let latency_fs = line.way_fs() + num.div_ceil(den * parts);
    let (down_out, down_in) = sim.link::<WireItem<E::Unit>>(&format!("{}.down", site.path), latency_fs)?;
    let (up_out, up_in) = sim.link::<WireItem<E::Unit>>(&format!("{}.up", site.path), latency_fs)?;
    let ([down_faults, up_faults], _) = line.faults(unit_bytes);
    let end = |n: usize, mut end: E, faults, wire_out, wire_in| {
        let feed = (site.external[n] == Some(ExternalComponent::Flits)).then(Feed::default);
        // A caller takes and gives the messages of each class by themselves, as those who keep lines coherent do.
        let by_class =
            is_coherent || site.roles[n].takes_classes() || site.external[n] == Some(ExternalComponent::Messages);
        let sends = if is_between_switches(site.roles) { &Dir::ALL[..] } else { &Dir::ALL[n..=n] };
        let port = SimPort { feed, ..SimPort::new(site.ports[n], end.protocol(), unit_bytes) };
        end.attach_hooks(&port.hooks);
        CxlLinkEnd {
            port,
            dir: [Dir::Up, Dir::Down][n].name(),
            clock_name: format!("{}.flit", site.path),
            flit_clock,
            wire_out,
            wire_in,
            end,
            faults,
            ber: line.ber,
            retrain_fs: line.retrain,
            hold_credits_flits: if n == 1 { line.credits_hold } else { 0 },
            give_up: line.give_up,
            halves,
            classes: by_class.then_some(Classes {
                form,
                sends,
                beside: if site.external[n].is_none() {
                    let Offer { declares_viral, hears_damage, .. } = site.offers[n];
                    // Viral and hot resets pass from switch to switch, viral through fabrics with port based routing too.
                    let tells = declares_viral || site.is_cascade && n == 0;
                    let hears = site.is_cascade || site.offers.iter().all(|offer| offer.declares_viral);
                    LinkExtras { tells, hears, hears_damage }
                } else {
                    LinkExtras::default()
                },
            }),
            taps: None,
            result: Arc::default(),
        }
    };
    let host = end(0, host, down_faults, down_out, up_in);
    let device = end(1, device, up_faults, up_out, down_in);
    let results = [host.result.clone(), device.result.clone()];
    let ports = [host.port.clone(), device.port.clone()];
    let roles = site.roles;
    Ok(BuiltLink {
        ends: [Box::new(host), Box::new(device)],
        measure: Box::new(move |ending| {
            measured::<E>(&results, &ports, (unit_bytes, unit_time_fs), is_coherent, roles, ending)
        }),
    })
}

fn measured<E: Reported>(
    results: &[Arc<Mutex<PortResult<E::Report>>>; 2],
    places: &[SimPort; 2],
    (unit_bytes, unit_time_fs): (usize, (u64, u64)),
    is_coherent: bool,
    roles: [PortRole; 2],
    ending: &Ending,
) -> LinkMeasured {
    let ports = results.each_ref().map(published);
    // The kernel publishes every module before anybody looks at the run.
    let [Some(host), Some(device)] = ports.each_ref().map(|port| port.end.as_ref()) else {
        return LinkMeasured::default();
    };
    let figures = E::figures([host, device], is_coherent);
    let line_bits = ending.clocks(unit_time_fs) * 8 * unit_bytes as u64;
    let is_driven = |n: usize| places[n].feed.is_some();
    let (mut broken, mut astray) = (Vec::new(), Vec::new());
    for (n, (end, peer)) in [(host, device), (device, host)].into_iter().enumerate() {
        let place = &places[n].name;
        broken.extend(broken_at(place, &ports[n].violations));
        if !is_driven(0) && !is_driven(1) {
            let text = "credits or requests are still open at the end of the run";
            let left = E::astray(end, peer).into_iter();
            astray.extend(left.map(|(found, expected)| PlacedViolation {
                place: place.clone(),
                violation: Violation::at_byte("SIM-E2E-03", 0, found, expected, text),
            }));
            // A switch takes and gives credits hop by hop, so none of its buffers waits for what lies behind it.
            let held = E::held(end).into_iter().filter(|_| roles[n].is_of_cxl_switch());
            let kept = held.filter_map(|(class, held)| credits_at_rest(class, held));
            astray.extend(kept.map(|violation| PlacedViolation { place: place.clone(), violation }));
        }
    }
    LinkMeasured {
        unit_slots: 0,
        units: [0, 1].map(|n| places[n].feed.as_ref().map_or(figures.units[n], Feed::sent)),
        messages: figures.messages,
        is_counted_by_agents: is_coherent,
        retries: figures.retries,
        credit_stalls: figures.credit_stalls,
        damaged: ports.iter().map(|port| port.damaged).sum(),
        is_whole: [host, device].into_iter().all(|end| E::stopped_by(end).is_none()),
        times: [0, 1].map(|n| (!is_driven(n)).then(|| ports[n].time.of_line(line_bits))),
        counts: figures.counts,
        coverage: figures.coverage,
        rows: Vec::new(),
        health: (0..2).filter(|&n| !is_driven(n)).map(|n| (places[n].name.clone(), ports[n].health.clone())).collect(),
        broken,
        astray,
    }
}
