//! `cxl.fabric-switch`: a switch whose one link to a home carries the messages of all its holders, told apart by ports of a fabric.

use super::figures::broken;
use crate::channels::{ChannelWait, Reach};
use crate::coherence::{Coherent, MOST_FABRIC_HOLDERS, fabric_ports};
use crate::field::{Config, FieldRange, config};
use crate::kind::{
    CoherenceProtocol, Component, ComponentKind, ComponentNode, ComponentPlug, ConfigFinding, CxlSide, NodeError,
    PortDecl, PortRole, Site, component,
};
use crate::kinds::published;
use crate::measured::ComponentMeasured;
use crate::metric::metrics;
use crate::quantity::Unit;
use scalepool_coherence::cache::home::PORTS;
use scalepool_coherence::clocked::switch::{FabricSwitchResult, Switch, SwitchTable};
use scalepool_coherence::message::Class;
use scalepool_protocols::cxl::message::MessageForm;
use scalepool_trace::{Hub, PlaceKind};
use std::sync::{Arc, Mutex};

metrics! {
    /// What a switch counts.
    static METRICS {
        SWITCHED = "switched" ["messages"] Sum, "messages that were sent on";
        DISCARDED = "discarded" ["messages"] Sum, "messages to a port that is not there";
    }
}

/// A switch of a fabric.
pub const FABRIC: ComponentKind = ComponentKind {
    name: "cxl.fabric-switch",
    about: "fabric switch in front of a device with HDM-DB, or below a host whose lines devices cache; its ports are `trunk` towards the home of the lines, `host[n]` and `peer[n]`, or `device[n]`",
    fields: FabricSwitch::fields,
    read: component::<FabricSwitch>,
    external: &["flits"],
    metrics: &[METRICS],
};

config! {
    /// A switch of a fabric in front of the home of lines.
    pub struct FabricSwitch {
        carries: String = "cxl.mem" [Unit::Of("-")] in FieldRange::Words(&["cxl.mem", "cxl.cache"]), "what keeps lines coherent: cxl.mem = those of a device with HDM-DB, cxl.cache = those of a host";
        devices: usize = "0" [Unit::Of("ports")] in FieldRange::Int(0, PORTS as u64), "ports for caching devices, with cxl.cache (coherence §2.9)";
        hosts: usize = "1" [Unit::Of("ports")] in FieldRange::Int(0, MOST_FABRIC_HOLDERS as u64), "ports for hosts; with those for peers as many as a fabric has (fabric PID-1)";
        peers: usize = "0" [Unit::Of("ports")] in FieldRange::Int(0, MOST_FABRIC_HOLDERS as u64), "ports for direct peers (coherence §3.7)";
    }
}

/// A link that only a fabric has.
const FABRIC_LINK: &[&str] = &["cxl-256b-pbr"];

impl Component for FabricSwitch {
    fn ports(&self) -> Vec<PortDecl> {
        let port = |name, len, protocol, side| PortDecl {
            name,
            len,
            links: FABRIC_LINK,
            role: PortRole::Coherent(protocol, side),
        };
        if self.is_cache() {
            return vec![
                port("trunk", None, CoherenceProtocol::Cache, CxlSide::Device),
                port("device", Some(self.devices), CoherenceProtocol::Cache, CxlSide::Host),
            ];
        }
        let port = |name, len, side| port(name, len, CoherenceProtocol::HdmDb, side);
        vec![
            port("trunk", None, CxlSide::Host),
            port("host", Some(self.hosts), CxlSide::Device),
            port("peer", Some(self.peers), CxlSide::Device),
        ]
    }

    fn check(&self) -> Vec<ConfigFinding> {
        if self.is_cache() {
            let text = || format!("found {} caching devices, expected 1 to {PORTS}", self.devices);
            return (self.devices == 0).then(|| ("devices", text())).into_iter().collect();
        }
        let all = self.hosts + self.peers;
        let most = MOST_FABRIC_HOLDERS;
        let text = || format!("found {} hosts and {} peers, expected 1 to {most} in all", self.hosts, self.peers);
        (!(1..=most).contains(&all)).then(|| ("peers", text())).into_iter().collect()
    }

    fn coherent(&self, _: &str) -> Option<Coherent> {
        Some(Coherent::Switch)
    }

    fn waits(&self) -> Option<Vec<ChannelWait>> {
        Some(Class::ALL.map(|class| ChannelWait::routed(class.name(), Reach::OtherPorts)).to_vec())
    }

    fn elaborate(self: Box<Self>, site: &Site<'_>, hub: &mut Hub) -> Result<ComponentNode, NodeError> {
        Ok(switch(SwitchTable::of_ports(&fabric_ports(site.ports.len() - 1)), site, hub))
    }
}

impl FabricSwitch {
    fn is_cache(&self) -> bool {
        self.carries == "cxl.cache"
    }
}

/// The switch with its table.
fn switch(table: SwitchTable, site: &Site<'_>, hub: &mut Hub) -> ComponentNode {
    let name = site.path.to_owned();
    let tap = hub.tap(&name, PlaceKind::Messages(MessageForm::Pbr.layouts()));
    let domain = site.ports[0].seat().domain.clone();
    let links: Vec<_> =
        site.ports.iter().map(|port| (port.link.cxl().0, (port.seat().link_number(), port.number))).collect();
    let result: Arc<Mutex<FabricSwitchResult>> = Arc::default();
    let (shared, place, config) = (result.clone(), name.clone(), domain.config().clone());
    ComponentNode {
        place: Box::new(move |p, clock, plugs| {
            p.module(&name, clock, |bind| {
                let ends = plugs.into_iter().map(ComponentPlug::coherent).zip(links);
                let links = ends.map(|(end, (form, number))| end.attach(bind, Vec::new(), form, number)).collect();
                Switch::new(links, table, config, tap, shared)
            })
        }),
        measure: Box::new(move || {
            let result = published(&result);
            ComponentMeasured {
                counts: vec![(&SWITCHED, result.forwarded), (&DISCARDED, result.discarded)],
                broken: result.events.iter().map(|event| broken(&place, event)).collect(),
                ..ComponentMeasured::default()
            }
        }),
        digest: Vec::new(),
        ledger: None,
    }
}
