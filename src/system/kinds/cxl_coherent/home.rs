//! `cxl.home`: a host with its home agent, whose lines devices cache over CXL.cache. They live in the home, or in a device behind
//! its port `memory`.

use super::agent::{Described, component as agents, one_watch};
use super::figures::METRICS;
use super::{coherent_waits, memory_port, shown};
use crate::channels::{ChannelWait, Reach};
use crate::coherence::{Coherent, LineOwner};
use crate::field::{Config, FieldRange, config};
use crate::kind::{
    CoherenceProtocol, Component, ComponentKind, ComponentNode, CxlSide, NodeError, PortDecl, PortRole, Site, component,
};
use crate::kinds::bridge::first_lines_of_home;
use crate::kinds::cxl_links;
use crate::quantity::Unit;
use scalepool_coherence::agent::AgentPort;
use scalepool_coherence::cache::backing::HomeMemory;
use scalepool_coherence::cache::home::{HomeAgent, PORTS};
use scalepool_coherence::clocked::cache::Sparse;
use scalepool_coherence::clocked::core::NoCore;
use scalepool_coherence::clocked::waiting::WaitTable;
use scalepool_coherence::config::CoherenceConfig;
use scalepool_nodes::cxl::BACKGROUND;
use scalepool_trace::Hub;

/// The kind.
pub const KIND: ComponentKind = ComponentKind {
    name: "cxl.home",
    about: "host with home agent and memory, whose lines devices cache over CXL.cache; its ports are `port[n]`, and `memory` where that is outside",
    fields: CxlHome::fields,
    read: component::<CxlHome>,
    external: &["flits"],
    metrics: &[METRICS],
};

config! {
    /// A host as home of lines. Numbers without another source are of the model (basis: model).
    pub struct CxlHome {
        ports: usize = "1" [Unit::Of("ports")] in FieldRange::Int(1, PORTS as u64), "root ports, one for each caching device (coherence §2.9), or one for a switch";
        memory: String = "own" [Unit::Of("-")] in FieldRange::Words(&["own", "port"]), "where the lines live: own = in the home, read and written at once; port = in a device behind the port `memory`, such as cxl.memory";
        filter_lines: usize = "0" [Unit::Of("lines")] in FieldRange::Int(0, 1 << 20), "lines that the home can track; 0 = all (coherence §2.9)";
        watch: bool = "on" [Unit::Of("-")] in FieldRange::Switch, "check the invariants V1 to V4 after every step (coherence §4)";
    }
}

impl Component for CxlHome {
    fn ports(&self) -> Vec<PortDecl> {
        let role = PortRole::Coherent(CoherenceProtocol::Cache, CxlSide::Host);
        let holders = PortDecl { name: "port", len: Some(self.ports), links: cxl_links::NAMES, role };
        std::iter::once(holders).chain(memory_port(&self.memory)).collect()
    }

    fn why_no_window(&self) -> &'static str {
        "whose lines its devices number from 0"
    }

    fn coherent(&self, path: &str) -> Option<Coherent> {
        let config = CoherenceConfig { home_filter_lines: self.filter_lines, ..CoherenceConfig::default() };
        let (name, watch) = (format!("{path}.home"), self.watch);
        Some(Coherent::Home(Box::new(LineOwner {
            name,
            config,
            watch,
            acts: false,
            most_holders: PORTS.into(),
            requester: None,
        })))
    }

    fn waits(&self) -> Option<Vec<ChannelWait>> {
        Some(coherent_waits(&WaitTable::default(), &Reach::AnyPort))
    }

    fn elaborate(self: Box<Self>, site: &Site<'_>, hub: &mut Hub) -> Result<ComponentNode, NodeError> {
        let name = format!("{}.home", site.path);
        let tap = hub.tap(&name, shown(site.ports));
        // The agent's ports are the holders of its lines, and then the memory.
        let holders = site.ports[0].seat().domain.holders();
        if memory_port(&self.memory).is_some() {
            let lines = Box::new(|address| Some(BACKGROUND.line(address)));
            first_lines_of_home(site, site.ports[0].seat()).are(lines);
        }
        let memory = match memory_port(&self.memory) {
            None => HomeMemory::Own(Sparse::default()),
            Some(_) => HomeMemory::behind(holders as AgentPort),
        };
        let home = Described {
            name,
            agent: HomeAgent::new(memory),
            core: Box::new(NoCore),
            reductions: Vec::new(),
            waits: WaitTable::default(),
            watch: one_watch,
            tap,
        };
        Ok(agents(vec![home.home(site.ports, true)], site, false))
    }
}
