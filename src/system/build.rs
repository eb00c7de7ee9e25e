//! A system to a simulation: wires first, then a partition for each component with its link ends.

use super::kind::{
    Clocks, Ending, LinkEndSite, LinkMeasured, LinkSite, Measured, Node, NodeError, Offer, Site, SitePort,
};
use super::system::System;
use crate::kernel::{BuildError, Clock, Simulation};
use crate::link::sim_port::SimPort;
use crate::trace::Hub;
use std::path::PathBuf;

/// A system that is built and has not run.
pub struct Assembly {
    /// The simulation.
    pub sim: Simulation,
    /// The places of all modules.
    pub hub: Hub,
    /// Ends of links, in the order of components.
    pub ports: Vec<SimPort>,
    /// Everything that decides what it does.
    pub canonical: String,
    /// Bytes that name the stimuli.
    pub digest: Vec<u8>,
    /// Its figures.
    pub figures: Figures,
}

/// Gives the figures of a system, whenever the run is looked at.
pub struct Figures {
    /// The reference clock.
    pub reference: Clock,
    /// Largest bit error rate of a link.
    pub ber: f64,
    components: Vec<(String, Box<dyn Fn() -> Measured>)>,
    links: Vec<(String, Box<dyn Fn(&Ending) -> LinkMeasured>)>,
    /// Rate of the ports of all components that ask \[B/s\].
    pub asked_bytes_per_s: f64,
}

impl Figures {
    /// Of components, by path.
    pub fn components(&self) -> Vec<(&str, Measured)> {
        self.components.iter().map(|(path, measure)| (path.as_str(), measure())).collect()
    }

    /// Of links, by path.
    pub fn links(&self, ending: &Ending) -> Vec<(&str, LinkMeasured)> {
        self.links.iter().map(|(path, measure)| (path.as_str(), measure(ending))).collect()
    }
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
}

/// Builds a system.
///
/// # Errors
/// A stimulus that cannot be used.
pub fn assemble(system: System, seed: u64, stimulus: Option<PathBuf>) -> Result<Assembly, AssemblyError> {
    let canonical = system.canonical();
    let takers = system.components.iter().filter(|c| c.config.takes_stimulus()).count();
    if stimulus.is_some() && takers != 1 {
        return Err(AssemblyError::Stimulus { found: takers });
    }
    let mut sim = Simulation::new(seed);
    let mut hub = Hub::default();
    let System { folder, clocks, components, links, .. } = system;
    let offers: Vec<Offer> = components.iter().map(|c| c.config.offer()).collect();
    let facts: Vec<_> = links.iter().map(|link| link.config.facts()).collect();
    let mut figures = Figures {
        reference: clocks[0].1,
        ber: links.iter().map(|link| link.config.ber()).fold(0.0, f64::max),
        components: Vec::new(),
        links: Vec::new(),
        asked_bytes_per_s: 0.0,
    };
    // Which component stands at the other end of each link end.
    let at: Vec<[usize; 2]> = links.iter().map(|link| link.ports.map(|(component, _)| component)).collect();
    let mut ends: Vec<[Option<Box<dyn LinkEndSite>>; 2]> = Vec::new();
    for link in links {
        let ports = link.ports.map(|(component, port)| components[component].ports[port].path.as_str());
        let external = link.ports.map(|(component, _)| components[component].external);
        let built = link.config.build(&mut sim, &LinkSite { path: &link.path, ports, external })?;
        ends.push(built.ends.map(Some));
        figures.links.push((link.path, built.measure));
    }
    let (mut ports, mut digest) = (Vec::new(), Vec::new());
    for component in components {
        let (clock_name, clock) = clocks[component.clock].clone();
        let site_port = |port: &super::system::JoinedPort| SitePort {
            path: port.path.clone(),
            link: facts[port.link],
            peer: offers[at[port.link][1 - port.end]],
        };
        let site_ports: Vec<SitePort> = component.ports.iter().map(site_port).collect();
        if component.config.asks() {
            figures.asked_bytes_per_s += site_ports.iter().map(|port| port.link.unit_bytes_per_s).sum::<f64>();
        }
        let stimulus = stimulus.clone().filter(|_| component.config.takes_stimulus());
        let site = Site { path: &component.path, clock, ports: &site_ports, stimulus, folder: folder.clone() };
        let node = component.config.elaborate(&site, &mut hub)?;
        let Node { place, measure, digest: own } = node;
        digest.extend(own);
        figures.components.push((component.path.clone(), measure));
        let mut own_ends = Vec::new();
        for port in &component.ports {
            let Some(mut end) = ends[port.link][port.end].take() else { unreachable!("a port has one end") };
            end.tap(&mut hub);
            ports.push(end.port());
            own_ends.push(end);
        }
        let external = component.external;
        sim.partition(move |p| {
            let mut of_partition = Clocks::default();
            let core = if external { None } else { Some(of_partition.id(p, &clock_name, clock)?) };
            let mut plugs = Vec::new();
            for end in own_ends {
                plugs.extend(end.place(p, &mut of_partition)?);
            }
            // The nodes of an external component are the caller's.
            core.map_or(Ok(()), |core| place(p, core, plugs))
        });
    }
    Ok(Assembly { sim, hub, ports, canonical, digest, figures })
}
