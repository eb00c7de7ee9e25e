//! A system description as a system that can be explored.
//!
//! Each home, each port of a host and each caching device of the description is an agent of the search, each switch passes on by the
//! table that it has in a run. What stands between a home and one holder of its lines is one link of the search, whatever else
//! travels on the same wire.

use anyhow::{anyhow, bail};
use scalepool_coherence::clocked::switch::SwitchTable;
use scalepool_coherence::config::CoherenceConfig;
use scalepool_coherence::ids::AgentPort;
use scalepool_ordered::OrderedMap;
use scalepool_proof::systems::composite::Composite;
use scalepool_proof::systems::menu::Menu;
use scalepool_proof::systems::part::{
    CacheDevicePart, CacheHomePart, DirectPeer, HdmDDevicePart, HdmDHostPart, HdmDbDevicePart, MemHostPart, Member,
    MemoryPart, SwitchNames, SwitchPart,
};
use scalepool_proof::systems::setup::{AgentDescription, SystemDescription};
use scalepool_protocols::cxl::message::{MessageForm, PeerRoute};
use scalepool_system::coherence::{Joined, fabric_ports, joined};
use scalepool_system::design::{JoinedPort, System};
use scalepool_system::hierarchies;
use scalepool_system::kind::{CoherenceProtocol, PortRole};

/// What is found while the homes are followed.
#[derive(Default)]
struct FollowedSystem {
    agents: Vec<AgentDescription>,
    links: Vec<[(usize, AgentPort); 2]>,
    lines: Vec<usize>,
    /// Agent and port of a component's port.
    ports: OrderedMap<(usize, usize), (usize, AgentPort)>,
}

/// The system with so many lines in each home, whose agents may do what the menu says; `amend` is given the choices of each home
/// and its holders.
///
/// # Errors
/// A component that keeps no lines coherent or that a caller drives; agents that do not fit; too many lines.
pub(super) fn composite(
    system: &System,
    lines: usize,
    menu: Menu,
    amend: &dyn Fn(&mut CoherenceConfig),
) -> anyhow::Result<Composite> {
    for component in &system.components {
        if component.external.is_some() {
            bail!("{}: found a component that a caller drives, expected one of the model", component.path);
        }
        // At both ends of the link between a home and its memory stands a part of the search, and at both of one whose other
        // end keeps lines coherent.
        let is_part = |port: &JoinedPort| {
            let roles = system.roles_of(&system.links[port.link]);
            roles.iter().any(|role| role.coherence().is_some() || *role == PortRole::HomeMemory)
        };
        if !component.ports.iter().all(is_part) {
            let kind = component.kind.name;
            bail!("{}: found kind {kind}, expected kinds that keep lines coherent", component.path);
        }
    }
    let mut found = FollowedSystem::default();
    let mut menu = menu;
    for mut home in joined(system).map_err(|e| anyhow!("{e}"))? {
        amend(&mut home.home.config);
        found.follow(system, &home, lines, &mut menu)?;
    }
    let FollowedSystem { agents, links, lines, .. } = found;
    Ok(Composite::new(SystemDescription { agents, links, lines, menu, programs: false, orders: true })?)
}

fn agent(name: String, member: Member, config: &CoherenceConfig) -> AgentDescription {
    AgentDescription { name, member, config: config.clone(), program: Vec::new(), poisons: false }
}

/// How lines are kept coherent at a port.
fn lines_at(system: &System, component: usize, port: usize) -> Option<CoherenceProtocol> {
    match system.components[component].ports.get(port)?.decl.role {
        PortRole::Coherent(lines, _) => Some(lines),
        _ => None,
    }
}

impl FollowedSystem {
    /// A home, its holders and the links between them.
    fn follow(&mut self, system: &System, home: &Joined, lines: usize, menu: &mut Menu) -> anyhow::Result<()> {
        let (config, count) = (&home.home.config, home.holders.len() as AgentPort);
        let Some(kept) = lines_at(system, home.component, 0) else { bail!("{}: found no port", home.home.name) };
        let ports = &system.components[home.component].ports;
        let memory = ports.iter().position(|port| port.decl.role == PortRole::HomeMemory);
        let owner: Member = match kept {
            CoherenceProtocol::Cache if memory.is_some() => CacheHomePart::without_memory(count).into(),
            CoherenceProtocol::Cache => CacheHomePart::new(count).into(),
            CoherenceProtocol::HdmDb if memory.is_some() => HdmDbDevicePart::without_memory(config, count).into(),
            CoherenceProtocol::HdmDb => HdmDbDevicePart::new(config, count).into(),
            CoherenceProtocol::HdmD => HdmDDevicePart::default().into(),
        };
        let owner = self.push(agent(home.home.name.clone(), owner, config));
        self.lines.extend(vec![owner; lines]);
        if let Some(port) = memory {
            let (far, _) = system.far(home.component, port);
            let path = system.components[far].path.clone();
            let memory = self.push(agent(path, MemoryPart::default().into(), config));
            self.links.push([(owner, count), (memory, 0)]);
        }
        // Back-invalidates pass one with virtual hierarchies without a table, in every order that a link keeps: links stand
        // for it.
        let is_followed = |switch: &usize| {
            kept == CoherenceProtocol::Cache || system.components[*switch].config.hierarchies().is_none()
        };
        let switches: Vec<usize> = home.switches.iter().copied().filter(is_followed).collect();
        let switch = match switches[..] {
            [] => None,
            [switch] => Some(self.switch(system, home.component, switch, config, count)?),
            _ => {
                let (name, found) = (&home.home.name, switches.len());
                bail!(
                    "{name}: found {found} switches between it and its holders, expected one: cascades run, and are not explored"
                )
            }
        };
        for (n, (component, port, name)) in (0..).zip(&home.holders) {
            let holder = self.holder(system, (*component, *port), name, n, config);
            if kept == CoherenceProtocol::HdmDb && system.components[*component].kind.name.ends_with("-peer") {
                menu.peers.insert(n);
            }
            // Of CXL.cache the home is upstream, of CXL.mem the holder.
            let mut join = |home_side, holder_side| {
                self.links.push(if kept == CoherenceProtocol::Cache {
                    [home_side, holder_side]
                } else {
                    [holder_side, home_side]
                });
            };
            match switch {
                None => join((owner, n), holder),
                Some(switch) => {
                    join((owner, n), (switch, n));
                    join((switch, n + count), holder);
                }
            }
        }
        Ok(())
    }

    fn push(&mut self, agent: AgentDescription) -> usize {
        self.agents.push(agent);
        self.agents.len() - 1
    }

    /// The switch between a home and its holders.
    fn switch(
        &mut self,
        system: &System,
        home: usize,
        component: usize,
        config: &CoherenceConfig,
        holders: AgentPort,
    ) -> anyhow::Result<usize> {
        let instance = &system.components[component];
        let forms: Vec<MessageForm> =
            instance.ports.iter().map(|port| system.links[port.link].config.facts().cxl().0).collect();
        let ports = fabric_ports(holders.into());
        let table = match instance.config.hierarchies() {
            None => SwitchTable::of_ports(&ports),
            Some(_) => {
                let (_, vcs) = system.far(home, 0);
                let numbers = hierarchies::numbers(system, component);
                let routes = instance
                    .config
                    .cache_routes(vcs, &numbers[vcs], &forms)
                    .map_err(|e| anyhow!("{}: {e}", instance.path))?;
                SwitchTable::CacheId(Box::new(routes))
            }
        };
        let names = |n: AgentPort| match table {
            SwitchTable::CacheId(_) => SwitchNames {
                of_home: PeerRoute { cache_id: n as u8, ..PeerRoute::default() },
                of_holder: PeerRoute::default(),
            },
            SwitchTable::Ports(_) => {
                let (home, holder) = (ports[0], ports[usize::from(n) + 1]);
                let route = |spid, dpid| PeerRoute { spid, dpid, ..PeerRoute::default() };
                SwitchNames { of_home: route(home, holder), of_holder: route(holder, home) }
            }
        };
        let ways = (0..holders).map(names).collect();
        Ok(self.push(agent(instance.path.clone(), SwitchPart::new(table, ways).into(), config)))
    }

    /// Agent and port of a holder. A host has an agent for each device; a caching device that is a direct peer too has one for both
    /// of its ports, which goes by the choices of CXL.cache and of CXL.mem of its two homes.
    fn holder(
        &mut self,
        system: &System,
        (component, port): (usize, usize),
        name: &str,
        number: AgentPort,
        config: &CoherenceConfig,
    ) -> (usize, AgentPort) {
        if let Some(&(agent, port)) = self.ports.get(&(component, port)) {
            if lines_at(system, component, usize::from(port)) == Some(CoherenceProtocol::HdmDb) {
                self.agents[agent].config.mem = config.mem.clone();
            } else {
                let mem = std::mem::take(&mut self.agents[agent].config.mem);
                self.agents[agent].config = CoherenceConfig { mem, ..config.clone() };
            }
            return (agent, port);
        }
        let kinds: Vec<_> =
            (0..system.components[component].ports.len()).map(|p| lines_at(system, component, p)).collect();
        let member: Member = match kinds[port] {
            Some(CoherenceProtocol::Cache | CoherenceProtocol::HdmDb)
                if kinds.contains(&Some(CoherenceProtocol::Cache)) && kinds.len() > 1 =>
            {
                let peer = self.push(agent(name.to_owned(), DirectPeer::new(number).into(), config));
                self.ports.extend((0..kinds.len()).map(|p| ((component, p), (peer, p as AgentPort))));
                return (peer, port as AgentPort);
            }
            Some(CoherenceProtocol::Cache) => CacheDevicePart::default().into(),
            Some(CoherenceProtocol::HdmD) => HdmDHostPart::default().into(),
            _ => MemHostPart::new(number).into(),
        };
        (self.push(agent(name.to_owned(), member, config)), 0)
    }
}
