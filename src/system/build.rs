//! A system to a simulation: wires first, then a partition for each component with its link ends.

use super::coherence::{Domains, domains, joined};
use super::design::System;
use super::kind::{
    Carried, Clocks, CoherenceProtocol, ComponentNode, ExternalComponent, LinkEndSite, LinkSite, NodeError, NodeLedger,
    Offer, PortRole, Shared, Site,
};
use super::measured::{ComponentMeasured, Ending, LinkMeasured, Measure, MeasureLink};
use super::{hierarchies, memory_map, neighbours, outside};
use scalepool_coherence::clocked::litmus::LitmusRuns;
use scalepool_coherence::clocked::sequence::{Extent, Sequence};
use scalepool_coherence::config::CoherenceConfig;
use scalepool_kernel::{BuildError, Clock, PartitionBuilder, Simulation};
use scalepool_link::sim_port::SimPort;
use scalepool_link::ualink::upli::Ordering;
use scalepool_nodes::PlacedViolation;
use scalepool_nodes::cxl::coherent::dealt::DealtTrace;
use scalepool_nodes::nvlink::ledger;
use scalepool_nodes::tiers::caller::PlacementSlot;
use scalepool_nodes::ualink::ledger::conservation;
use scalepool_ordered::{OrderedMap, OrderedSet};
use scalepool_protocols::wire::Violation;
use scalepool_trace::Hub;
use scalepool_trace::filter::WatchedPlaces;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// A system that is built and has not run.
pub struct Assembly {
    /// The simulation.
    pub sim: Simulation,
    /// The places of all modules.
    pub hub: Hub,
    /// Ends of links, in the order of components; behind each the channels of messages, if a caller takes them there.
    pub ports: Vec<SimPort>,
    /// Accelerators about whose pages a function of the caller decides, by path.
    pub placements: Vec<(String, PlacementSlot)>,
    /// Everything that decides what it does.
    pub canonical: String,
    /// Bytes that name the stimuli.
    pub digest: Vec<u8>,
    /// Its figures.
    pub figures: Figures,
    /// Messages of coherent agents as they passed, if there is a chart to draw.
    pub chart: Option<Arc<Mutex<Sequence>>>,
}

/// What a run adds to a description.
#[derive(Debug, Clone, Default)]
pub struct Run {
    /// Seed of all random numbers.
    pub seed: u64,
    /// File of the stimulus.
    pub stimulus: Option<PathBuf>,
    /// What a chart of coherent messages shows; `None`: there is none.
    pub chart: Option<Extent>,
    /// Where somebody may look at flits while it runs.
    pub watched: WatchedPlaces,
    /// A litmus program that the cores of coherent agents run in the place of their own stimulus.
    pub litmus: Option<LitmusRuns>,
    /// Memories with DRAM keep all their commands.
    pub keeps_dram_commands: bool,
}

/// Gives the figures of a system, whenever the run is looked at.
pub struct Figures {
    /// The reference clock.
    pub reference: Clock,
    /// Largest bit error rate of a link.
    pub ber: f64,
    components: Vec<(String, Measure)>,
    links: Vec<(String, [&'static str; 2], MeasureLink)>,
    /// A time above all time-outs, after which a run without progress is over \[fs\].
    pub settle_fs: u64,
    /// Rate of the ports of all components that ask \[B/s\].
    pub asked_bytes_per_s: f64,
    fabrics: Vec<Fabric>,
}

/// Nodes that links join, directly or over switches.
#[derive(Default)]
struct Fabric {
    /// Of nodes in the order of their numbers, and of switches.
    ledgers: Vec<(u16, NodeLedger)>,
    /// Pairs between which nothing may come.
    denied: Vec<(u16, u16)>,
    /// One of its components is the caller's, who alone knows what that has sent and taken.
    is_open: bool,
    /// A link of it promises no order but that of a channel inside 256 bytes.
    relaxed: bool,
}

impl Figures {
    /// Of components, by path.
    pub fn components(&self) -> Vec<(&str, ComponentMeasured)> {
        self.components.iter().map(|(path, measure)| (path.as_str(), measure())).collect()
    }

    /// Messages that one node has sent and another has not taken, or the other way round; looked for on so many threads.
    pub fn lost(&self, ending: &Ending, threads: usize) -> Vec<PlacedViolation> {
        self.fabrics.iter().flat_map(|fabric| fabric.lost(ending, threads)).collect()
    }

    /// Of links: path, names of their directions, figures.
    pub fn links(&self, ending: &Ending) -> Vec<(&str, [&'static str; 2], LinkMeasured)> {
        self.links.iter().map(|(path, names, measure)| (path.as_str(), *names, measure(ending))).collect()
    }
}

/// Most messages out of place that a report names one by one.
const MOST_FOUND: usize = 100;

impl Fabric {
    fn lost(&self, ending: &Ending, threads: usize) -> Vec<PlacedViolation> {
        if self.is_open {
            return Vec::new();
        }
        let (mut ualink, mut nvlink, mut of_switches) = (Vec::new(), Vec::new(), OrderedMap::new());
        let mut packets: Vec<[u64; 2]> = Vec::new();
        for (_, ledger) in &self.ledgers {
            match ledger {
                // These grow with a run, so they are looked at where they are.
                NodeLedger::Ualink(ledger) => ualink.push(ledger.lock().unwrap_or_else(PoisonError::into_inner)),
                NodeLedger::Nvlink(ledger) => nvlink.push(locked(ledger)),
                NodeLedger::Packets(result) => packets.push(locked(result).sums),
                NodeLedger::NvlinkSwitch(result, ends) => {
                    of_switches.extend(ends.iter().copied().zip(locked(result).own))
                }
            }
        }
        let mut broken = Vec::new();
        let ledgers: Vec<_> = ualink.iter().map(|ledger| &**ledger).collect();
        let ordering = if self.relaxed { Ordering::Default } else { Ordering::Strict };
        let found = conservation(&ledgers, ordering, &self.denied, ending.at_rest, threads);
        broken.extend(
            found.into_iter().take(MOST_FOUND).map(|violation| PlacedViolation { place: "fabric".into(), violation }),
        );
        let [made, taken] = [0, 1].map(|n| packets.iter().fold(0u64, |sum, sums| sum.wrapping_add(sums[n])));
        if ending.at_rest && made != taken {
            let text = "packets were lost, doubled or changed: the sums over those made and those taken differ";
            let violation = Violation::at_byte("SIM-E2E-03", 0, format!("{taken:#x}"), format!("{made:#x}"), text);
            broken.push(PlacedViolation { place: "fabric".into(), violation });
        }
        if ending.at_rest {
            let ledgers: Vec<_> = nvlink.iter().collect();
            broken.extend(ledger::compare(&ledgers, |gpu, link, channel| {
                of_switches.get(&(gpu, link)).map_or_else(Default::default, |own| own[channel])
            }));
        }
        broken
    }
}

fn locked<T: Clone>(result: &Mutex<T>) -> T {
    result.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Puts a component with its link ends into a partition.
type PlacePart = Box<dyn FnOnce(&mut PartitionBuilder, &mut Clocks) -> Result<(), BuildError> + Send>;

/// A component on its way into a partition.
struct PartitionedComponent {
    ports: usize,
    /// The work that it makes, see [`work`].
    work: u64,
    /// Parts with the same key stay together: they see one another at one instant.
    key: Option<usize>,
    place: PlacePart,
}

/// The work that a component makes, in tenths of that of an accelerator with one port. In a pod of 256 UALink accelerators at
/// full load an accelerator with its port takes 1.15 ms of a thread, three fifths of it in the port, and a port of the switch
/// 1.14 ms with its share of the core: fewer instructions, and more that wait for memory.
fn work(roles: impl Iterator<Item = PortRole>) -> u64 {
    const ITSELF: u64 = 4;
    const PORT: u64 = 6;
    const SWITCH_PORT: u64 = 10;
    let is_of_switch = |role| {
        use PortRole::{CachingFabric, Router, Switch, SwitchDownstream, SwitchFabric, SwitchUpstream};
        matches!(role, Switch | Router | SwitchUpstream | SwitchDownstream | SwitchFabric | CachingFabric)
    };
    let ports: Vec<u64> = roles.map(|role| if is_of_switch(role) { SWITCH_PORT } else { PORT }).collect();
    ITSELF + ports.iter().sum::<u64>()
}

/// Most partitions of a system: enough for the threads of a machine, few enough to be kept in step.
const MOST_PARTITIONS: usize = 16;

/// Components in the order of the description, cut into groups with about the same number of ports; with each group the work
/// that it makes.
fn groups(parts: Vec<PartitionedComponent>) -> Vec<(u64, Vec<PlacePart>)> {
    /// Ports with a number for the component itself, work, what is placed.
    type Joined = (usize, u64, Vec<PlacePart>);
    let mut joined: Vec<Joined> = Vec::new();
    let mut of_key: OrderedMap<usize, usize> = OrderedMap::new();
    for PartitionedComponent { ports, work, key, place } in parts {
        match key.and_then(|key| of_key.get(&key)) {
            Some(&n) => {
                joined[n].0 += 1 + ports;
                joined[n].1 += work;
                joined[n].2.push(place);
            }
            None => {
                key.map(|key| of_key.insert(key, joined.len()));
                joined.push((1 + ports, work, vec![place]));
            }
        }
    }
    let total: usize = joined.iter().map(|(size, ..)| size).sum();
    let count = joined.len().min(MOST_PARTITIONS);
    let mut groups: Vec<(u64, Vec<PlacePart>)> = (0..count).map(|_| (0, Vec::new())).collect();
    let mut before = 0;
    let has_room = joined.len() <= MOST_PARTITIONS;
    for (n, (size, work, places)) in joined.into_iter().enumerate() {
        let group = if has_room { n } else { before * count / total };
        groups[group].0 += work;
        groups[group].1.extend(places);
        before += size;
    }
    groups.retain(|(_, group)| !group.is_empty());
    groups
}

/// Why a system cannot be built.
#[derive(Debug, thiserror::Error)]
pub enum AssemblyError {
    /// A stimulus, or what else lies outside the description.
    #[error(transparent)]
    Node(#[from] NodeError),
    /// A mistake of ours.
    #[error("the simulation cannot be built: {0}")]
    Build(#[from] BuildError),
    /// A file for a stimulus that nobody takes.
    #[error("--stimulus: found {found} components that take a file, expected exactly one")]
    Stimulus {
        /// How many.
        found: usize,
    },
    /// Components that share a stimulus and take it in different portions.
    #[error(
        "--stimulus: found blocks of {found} and of {other} accesses, expected one length: the trace is dealt to all cores in turn"
    )]
    Blocks {
        /// Of one.
        found: u64,
        /// Of another.
        other: u64,
    },
    /// A litmus program that the cores cannot run.
    #[error("a litmus program: found {found}, expected {expected}")]
    Litmus {
        /// What was found.
        found: String,
        /// What would do.
        expected: String,
    },
}

/// Whether the cores of a system can run a litmus program: all of its lines have one home, and its cores one clock. Exclusive accesses
/// need CXL.cache: who owns a line of HDM for a store gives it up only behind that store, so a store exclusive could not fail there.
///
/// # Errors
/// What keeps them from it.
fn fits(system: &System, runs: &LitmusRuns) -> Result<(), AssemblyError> {
    let refused = |found: String, expected: String| Err(AssemblyError::Litmus { found, expected });
    let homes = joined(system)?;
    let [home] = homes.as_slice() else {
        return refused(format!("{} homes of lines", homes.len()), "a coherent system with exactly one".to_owned());
    };
    let acting = |n: usize| &system.components[n];
    let cores: Vec<usize> = home.holders.iter().map(|(component, ..)| *component).collect();
    let cores: Vec<usize> = cores.into_iter().chain(home.home.acts.then_some(home.component)).collect();
    let threads = runs.program().threads.len();
    if cores.len() < threads {
        return refused(format!("{} cores", cores.len()), format!("{threads}, one for each thread"));
    }
    if let Some(path) = cores.iter().map(|n| acting(*n)).find(|c| c.external.is_some()).map(|c| &c.path) {
        return refused(format!("{path} outside"), "all cores inside".to_owned());
    }
    let clocks: OrderedSet<usize> = cores.iter().map(|n| acting(*n).clock).collect();
    if clocks.len() > 1 {
        return refused(format!("cores on {} clocks", clocks.len()), "one clock for all cores".to_owned());
    }
    if runs.program().threads.iter().flatten().any(|access| access.exclusive.is_some()) {
        for (component, port, name) in &home.holders {
            let role = acting(*component).ports[*port].decl.role;
            if role.coherence() != Some(CoherenceProtocol::Cache) {
                let found = format!("exclusive accesses where {name} is a {}", role.name());
                return refused(
                    found,
                    "devices of CXL.cache alone, over whose lines a store exclusive may fail".to_owned(),
                );
            }
        }
    }
    Ok(())
}

/// The trace that all who share a stimulus get their accesses from.
///
/// # Errors
/// A file that cannot be read, or that nobody or several who do not share it would take.
fn dealt(system: &System, stimulus: Option<&PathBuf>) -> Result<Option<DealtTrace>, AssemblyError> {
    let Some(path) = stimulus else { return Ok(None) };
    let takers = system.components.iter().filter(|c| c.config.takes_stimulus()).count();
    let blocks: Vec<u64> = system.components.iter().filter_map(|c| c.config.shares_stimulus()).collect();
    let found = takers + usize::from(!blocks.is_empty());
    if found != 1 {
        return Err(AssemblyError::Stimulus { found });
    }
    let Some(&first) = blocks.first() else { return Ok(None) };
    if let Some(&other) = blocks.iter().find(|block| **block != first) {
        return Err(AssemblyError::Blocks { found: first, other });
    }
    let trace = scalepool_nodes::stimulus::read_trace(path, None).map_err(NodeError::from)?;
    Ok(Some(DealtTrace::new(trace)))
}

/// A settling limit where there is no link \[fs\].
const DEFAULT_SETTLE_FS: u64 = 20_000_000_000_000;

/// Builds a system.
///
/// # Errors
/// A stimulus that cannot be used.
pub fn assemble(system: System, run: Run) -> Result<Assembly, AssemblyError> {
    amended(system, run, &|_| ())
}

/// The same with other choices of coherent agents, which no description can make: a rule that is off has to be seen by the
/// others.
///
/// # Errors
/// A stimulus that cannot be used.
pub fn amended(system: System, run: Run, amend: &dyn Fn(&mut CoherenceConfig)) -> Result<Assembly, AssemblyError> {
    let canonical = system.canonical();
    let Run { seed, stimulus, chart, litmus, watched, keeps_dram_commands } = run;
    let dealt = dealt(&system, stimulus.as_ref())?;
    let Domains { seats, of_component, chart } = domains(&system, chart, amend)?;
    if let Some(runs) = &litmus {
        fits(&system, runs)?;
    }
    let mut neighbours = neighbours::of(&system);
    for ((component, port), seat) in seats {
        neighbours[component].ports[port].seat = Some(seat);
    }
    let views = memory_map::views(&system);
    let routes = system.pbr.routes(&system, &views);
    let mut requesters = system.pbr.requesters(&system);
    let hierarchies: Vec<_> = (0..system.components.len()).map(|n| hierarchies::numbers(&system, n)).collect();
    let viral = hierarchies::viral(&system);
    let is_cascade: Vec<bool> = system.links.iter().map(|link| hierarchies::is_cascade(&system, link)).collect();
    let roles: Vec<[PortRole; 2]> = system.links.iter().map(|link| system.roles_of(link)).collect();
    let mut fabrics: OrderedMap<usize, Fabric> = OrderedMap::new();
    let mut sim = Simulation::new(seed);
    let mut hub = Hub::default();
    let System { clocks, components, links, .. } = system;
    let settle_fs = links.iter().map(|link| link.config.settle_fs()).max().unwrap_or(DEFAULT_SETTLE_FS);
    // Four times: a component may wait for its own time and then for an answer, which passes links and a switch both ways.
    let way_fs = links.iter().map(|link| link.config.latency_fs(link.index)).max().unwrap_or(0);
    let own_wait_fs = components.iter().map(|one| one.config.own_wait_fs(clocks[one.clock].1)).max().unwrap_or(0);
    let hold_fs = links.iter().map(|link| link.config.hold_fs()).max().unwrap_or(0);
    let settle_fs = settle_fs.max(own_wait_fs.saturating_add(way_fs).saturating_mul(4)).max(hold_fs.saturating_mul(2));
    let mut figures = Figures {
        reference: clocks[0].1,
        ber: links.iter().map(|link| link.config.ber()).fold(0.0, f64::max),
        components: Vec::new(),
        links: Vec::new(),
        settle_fs,
        asked_bytes_per_s: 0.0,
        fabrics: Vec::new(),
    };
    let mut ends: Vec<[Option<Box<dyn LinkEndSite>>; 2]> = Vec::new();
    for ((link, roles), is_cascade) in links.into_iter().zip(roles).zip(is_cascade) {
        let ports = link.ports.map(|(component, port)| components[component].ports[port].path.as_str());
        let external = link.ports.map(|(component, _)| components[component].external);
        let members = link.ports.map(|(component, _)| neighbours[component].member);
        let offers = link.ports.map(|(component, port)| {
            let own = components[component].config.offer_at(port);
            Offer { declares_viral: own.declares_viral || viral.contains(&component), ..own }
        });
        let is_watched = external.iter().any(Option::is_some) || ports.iter().any(|port| watched.contains(port));
        let (path, index) = (&link.path[..], link.index);
        let site = LinkSite { path, index, ports, roles, members, offers, external, is_watched, is_cascade };
        let directions = link.config.directions(roles);
        let built = link.config.build(&mut sim, &site)?;
        ends.push(built.ends.map(Some));
        figures.links.push((link.path, directions, built.measure));
    }
    let (mut ports, shared) = (Vec::new(), Shared::default());
    let mut digest = dealt.as_ref().map_or_else(Vec::new, DealtTrace::digest);
    let mut parts: Vec<PartitionedComponent> = Vec::new();
    let known = views.into_iter().zip(hierarchies).zip(routes);
    for (n, (((component, neighbours::Neighbourhood { fabric, member, ports: site_ports }), domain), known)) in
        components.into_iter().zip(neighbours).zip(of_component).zip(known).enumerate()
    {
        let ((map, hierarchies), pbr) = known;
        let (clock_name, clock) = clocks[component.clock].clone();
        if component.config.asks() {
            figures.asked_bytes_per_s += site_ports.iter().map(|port| port.link.unit_bytes_per_s).sum::<f64>();
        }
        let stimulus = stimulus.clone().filter(|_| component.config.takes_stimulus());
        let site = Site {
            path: &component.path,
            clock,
            member,
            map,
            hierarchies,
            pbr,
            requesters: requesters.remove(&n),
            seed,
            ports: &site_ports,
            stimulus,
            dealt: dealt.clone(),
            litmus: litmus.as_ref(),
            keeps_dram_commands,
            folder: component.folder.clone(),
            shared: &shared,
            is_recorded: !watched.is_nowhere(),
        };
        let denied = component.config.denied();
        let ComponentNode { place, measure, digest: own, ledger } = component.config.elaborate(&site, &mut hub)?;
        digest.extend(own);
        if let Some(fabric) = fabric.map(|top| fabrics.entry(top).or_default()) {
            fabric.denied.extend(denied);
            fabric.ledgers.extend(ledger.map(|ledger| (member.own, ledger)));
            fabric.is_open |= component.external.is_some();
            let is_relaxed =
                site_ports.iter().any(|port| matches!(port.link.carried, Carried::Ualink { strict: false, .. }));
            fabric.relaxed |= is_relaxed;
        }
        let external = component.external;
        let (mut own_ends, mut mailboxes) = (Vec::new(), Vec::new());
        for (port, site_port) in component.ports.iter().zip(&site_ports) {
            let Some(mut end) = ends[port.link][port.end].take() else { unreachable!("a port has one end") };
            end.tap(&mut hub);
            let place = end.port();
            if let Some(seat) = &site_port.seat {
                hub.number_link(&place.name, seat.link_number());
            }
            let mailbox =
                (external == Some(ExternalComponent::Messages)).then(|| outside::mailbox(site_port, port.decl.role));
            let channels = mailbox.as_ref().map_or_else(Vec::new, |mailbox| mailbox.ports(&place));
            mailboxes.extend(mailbox.map(|mailbox| (place.name.clone(), mailbox)));
            ports.push(place);
            ports.extend(channels);
            own_ends.push(end);
        }
        let (place, measure) = match external {
            Some(ExternalComponent::Messages) => outside::node(mailboxes),
            _ => (place, measure),
        };
        figures.components.push((component.path.clone(), measure));
        let ports_placed = own_ends.len();
        let work = work(component.ports.iter().map(|port| port.decl.role));
        let part = move |p: &mut PartitionBuilder, clocks: &mut Clocks| {
            // Of a component whose link ends are the caller's nothing is left.
            let core = match external {
                Some(ExternalComponent::Flits) => None,
                _ => Some(clocks.id(p, &clock_name, clock)?),
            };
            let mut plugs = Vec::new();
            for end in own_ends {
                plugs.extend(end.place(p, clocks)?);
            }
            core.map_or(Ok(()), |core| place(p, core, plugs))
        };
        parts.push(PartitionedComponent { ports: ports_placed, work, key: domain, place: Box::new(part) });
    }
    for (work, group) in groups(parts) {
        sim.weighted_partition(work, move |p| {
            let mut clocks = Clocks::default();
            group.into_iter().try_for_each(|part| part(p, &mut clocks))
        });
    }
    figures.fabrics = fabrics.into_values().collect();
    figures.fabrics.iter_mut().for_each(|fabric| fabric.ledgers.sort_by_key(|(own, _)| *own));
    let placements = shared.placements().all();
    Ok(Assembly { sim, hub, ports, placements, canonical, digest, figures, chart })
}
