//! `cxl.cache-switch` and `cxl.fabric-switch`: a switch whose one link to a home carries the messages of all its holders, told apart
//! by CacheID or by ports of a fabric.

use super::figures::broken;
use crate::channels::{ChannelWait, Reach};
use crate::coherence::{Coherent, MOST_FABRIC_HOLDERS, fabric_ports};
use crate::field::{Config, FieldRange, config};
use crate::kind::{
    CoherenceProtocol, Component, ComponentKind, ComponentNode, ComponentPlug, ConfigFinding, CxlSide, NodeError,
    PortDecl, PortRole, Site, component,
};
use crate::kinds::cxl_links;
use crate::kinds::published;
use crate::measured::ComponentMeasured;
use crate::metric::metrics;
use crate::problem::TextPlace;
use crate::quantity::Unit;
use scalepool_coherence::cache::home::PORTS;
use scalepool_coherence::cache::route::{Below, CACHE_IDS, CacheRoutes, Flits, Hdm, Hierarchy};
use scalepool_coherence::clocked::switch::{CacheSwitchResult, Switch, SwitchTable};
use scalepool_coherence::message::Class;
use scalepool_protocols::cxl::message::MessageForm;
use scalepool_trace::{Hub, PlaceKind};
use std::sync::{Arc, Mutex};

/// A switch below a host.
pub const CACHE: ComponentKind = ComponentKind {
    name: "cxl.cache-switch",
    about: "switch between a host and its caching devices, by CacheID or, with cxl-256b-pbr, by port; its ports are `trunk` towards the host and `port[n]`",
    fields: CacheSwitch::fields,
    read: component::<CacheSwitch>,
    external: &["flits"],
    metrics: &[METRICS],
};

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
    about: "fabric switch in front of a device with HDM-DB; its ports are `trunk` towards the device, `host[n]` and `peer[n]`",
    fields: FabricSwitch::fields,
    read: component::<FabricSwitch>,
    external: &["flits"],
    metrics: &[METRICS],
};

config! {
    /// A switch between a host and its caching devices.
    pub struct CacheSwitch {
        ports: usize = "1" [Unit::Of("ports")] in FieldRange::Int(1, PORTS as u64), "ports, one for each caching device (coherence §2.9)";
        table: Vec<(String, TextPlace)> = "" [Unit::Of("-")] in FieldRange::Texts("CACHEID:DEVICE, CACHEID:none"), "routing entries that differ from CacheID n to device n; messages without an entry are discarded (coherence §2.9)";
    }
}

config! {
    /// A switch of a fabric in front of a device.
    pub struct FabricSwitch {
        hosts: usize = "1" [Unit::Of("ports")] in FieldRange::Int(0, MOST_FABRIC_HOLDERS as u64), "ports for hosts; with those for peers as many as a fabric has (fabric PID-1)";
        peers: usize = "0" [Unit::Of("ports")] in FieldRange::Int(0, MOST_FABRIC_HOLDERS as u64), "ports for direct peers (coherence §3.7)";
    }
}

/// A link that only a fabric has.
const FABRIC_LINK: &[&str] = &["cxl-256b-pbr"];

impl Component for CacheSwitch {
    fn ports(&self) -> Vec<PortDecl> {
        let port = |name, len, side| PortDecl {
            name,
            len,
            links: cxl_links::NAMES,
            role: PortRole::Coherent(CoherenceProtocol::Cache, side),
        };
        vec![port("trunk", None, CxlSide::Device), port("port", Some(self.ports), CxlSide::Host)]
    }

    fn check(&self) -> Vec<ConfigFinding> {
        let wrong = self.table.iter().find(|(text, _)| entry(text).is_none());
        let expected = "CACHEID:DEVICE or CACHEID:none, both 0 to 15";
        let finding = |(text, _): &(String, TextPlace)| ("table", format!("found `{text}`, expected {expected}"));
        wrong.map(finding).into_iter().collect()
    }

    fn coherent(&self, _: &str) -> Option<Coherent> {
        Some(Coherent::Switch)
    }

    fn waits(&self) -> Option<Vec<ChannelWait>> {
        Some(Class::ALL.map(|class| ChannelWait::routed(class.name(), Reach::OtherPorts)).to_vec())
    }

    fn switch_table(&self, forms: &[MessageForm]) -> Result<SwitchTable, String> {
        let (upper, below) = (forms[0], forms[1..].iter().copied());
        // A fabric has ports of its own in every message, and no CacheID.
        if upper == MessageForm::Pbr {
            if let Some(n) = below.into_iter().position(|form| form != MessageForm::Pbr) {
                return Err(format!(
                    "found a link of another kind at port[{n}], expected cxl-256b-pbr as at its trunk"
                ));
            }
            if !self.table.is_empty() {
                return Err("found a table of CacheIDs, expected none: a fabric goes by ports".to_owned());
            }
            return Ok(SwitchTable::of_ports(&fabric_ports(forms.len() - 1)));
        }
        let flits = |form| if form == MessageForm::Cxl68 { Flits::B68 } else { Flits::B256 };
        let device = |(n, form)| Below { hdm: Hdm::None, link: flits(form), cache_id: Some(n) };
        let devices = (0..).zip(below).map(device).collect();
        let hierarchy = Hierarchy { devices, upper: flits(upper), cache_ids: true };
        let mut routes = CacheRoutes::new(&hierarchy).map_err(|error| error.to_string())?;
        for (id, device) in self.table.iter().filter_map(|(text, _)| entry(text)) {
            routes.set_entry(id, device);
        }
        Ok(SwitchTable::CacheId(Box::new(routes)))
    }

    fn elaborate(self: Box<Self>, site: &Site<'_>, hub: &mut Hub) -> Result<ComponentNode, NodeError> {
        elaborated(&*self, site, hub)
    }
}

/// An entry of the table: CacheID and device; `None`: the text is no such entry.
fn entry(text: &str) -> Option<(u8, Option<usize>)> {
    let (id, device) = text.split_once(':')?;
    let id = id.parse::<u8>().ok().filter(|id| usize::from(*id) < CACHE_IDS)?;
    let device = match device {
        "none" => None,
        n => Some(n.parse::<usize>().ok().filter(|n| *n < CACHE_IDS)?),
    };
    Some((id, device))
}

impl Component for FabricSwitch {
    fn ports(&self) -> Vec<PortDecl> {
        let port = |name, len, side| PortDecl {
            name,
            len,
            links: FABRIC_LINK,
            role: PortRole::Coherent(CoherenceProtocol::HdmDb, side),
        };
        vec![
            port("trunk", None, CxlSide::Host),
            port("host", Some(self.hosts), CxlSide::Device),
            port("peer", Some(self.peers), CxlSide::Device),
        ]
    }

    fn check(&self) -> Vec<ConfigFinding> {
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

    fn switch_table(&self, forms: &[MessageForm]) -> Result<SwitchTable, String> {
        Ok(SwitchTable::of_ports(&fabric_ports(forms.len() - 1)))
    }

    fn elaborate(self: Box<Self>, site: &Site<'_>, hub: &mut Hub) -> Result<ComponentNode, NodeError> {
        elaborated(&*self, site, hub)
    }
}

/// A switch with the table that fits its links.
fn elaborated(config: &dyn Component, site: &Site<'_>, hub: &mut Hub) -> Result<ComponentNode, NodeError> {
    let forms: Vec<MessageForm> = (0..site.ports.len()).map(|n| form(site, n)).collect();
    let refused = |text| NodeError::Joined { path: site.path.to_owned(), text };
    Ok(switch(config.switch_table(&forms).map_err(refused)?, site, hub))
}

fn form(site: &Site<'_>, port: usize) -> MessageForm {
    site.ports[port].link.cxl().0
}

/// The switch with its table.
fn switch(table: SwitchTable, site: &Site<'_>, hub: &mut Hub) -> ComponentNode {
    let name = site.path.to_owned();
    let tap = hub.tap(&name, PlaceKind::Messages(form(site, 0).layouts()));
    let domain = site.ports[0].seat().domain.clone();
    let links: Vec<_> =
        site.ports.iter().map(|port| (port.link.cxl().0, (port.seat().link_number(), port.number))).collect();
    let result: Arc<Mutex<CacheSwitchResult>> = Arc::default();
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
            let mut events = result.events;
            if let Some(SwitchTable::CacheId(routes)) = &result.table {
                events.extend(routes.watchdog(&domain.waiting()));
            }
            ComponentMeasured {
                counts: vec![(&SWITCHED, result.forwarded), (&DISCARDED, result.discarded)],
                broken: events.iter().map(|event| broken(&place, event)).collect(),
                ..ComponentMeasured::default()
            }
        }),
        digest: Vec::new(),
        ledger: None,
    }
}
