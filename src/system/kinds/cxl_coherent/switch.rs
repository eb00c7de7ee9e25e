//! `cxl.cache-switch` and `cxl.fabric-switch`: a switch whose one link to a home carries the messages of all its holders, told apart
//! by CacheID or by ports of a fabric.

use super::figures::broken;
use crate::channels::{Reach, Wait};
use crate::coherence::{Coherent, MOST_FABRIC_HOLDERS, fabric_ports};
use crate::field::{Config, Range, config};
use crate::kind::{
    Component, ComponentKind, Finding, Lines, Node, NodeError, Plug, PortDecl, Role, Side, Site, component,
};
use crate::kinds::cxl_links;
use crate::kinds::published;
use crate::measured::Measured;
use crate::metric::metrics;
use crate::problem::Place;
use crate::quantity::Unit;
use scalepool_coherence::cache::home::PORTS;
use scalepool_coherence::cache::route::{Below, CACHE_IDS, Flits, Hdm, Hierarchy, Routes};
use scalepool_coherence::clocked::switch::{Switch, SwitchResult, Table};
use scalepool_coherence::message::Class;
use scalepool_protocols::cxl::message::Form;
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
        ports: usize = "1" [Unit::Of("ports")] in Range::Int(1, PORTS as u64), "ports, one for each caching device (coherence §2.9)";
        table: Vec<(String, Place)> = "" [Unit::Of("-")] in Range::Texts("CACHEID:DEVICE, CACHEID:none"), "routing entries that differ from CacheID n to device n; messages without an entry are discarded (coherence §2.9)";
    }
}

config! {
    /// A switch of a fabric in front of a device.
    pub struct FabricSwitch {
        hosts: usize = "1" [Unit::Of("ports")] in Range::Int(0, MOST_FABRIC_HOLDERS as u64), "ports for hosts; with those for peers as many as a fabric has (fabric PID-1)";
        peers: usize = "0" [Unit::Of("ports")] in Range::Int(0, MOST_FABRIC_HOLDERS as u64), "ports for direct peers (coherence §3.7)";
    }
}

/// A link that only a fabric has.
const FABRIC_LINK: &[&str] = &["cxl-256b-pbr"];

impl Component for CacheSwitch {
    fn ports(&self) -> Vec<PortDecl> {
        let port =
            |name, len, side| PortDecl { name, len, links: cxl_links::NAMES, role: Role::Coherent(Lines::Cache, side) };
        vec![port("trunk", None, Side::Device), port("port", Some(self.ports), Side::Host)]
    }

    fn check(&self) -> Vec<Finding> {
        let wrong = self.table.iter().find(|(text, _)| entry(text).is_none());
        let expected = "CACHEID:DEVICE or CACHEID:none, both 0 to 15";
        let finding = |(text, _): &(String, Place)| ("table", format!("found `{text}`, expected {expected}"));
        wrong.map(finding).into_iter().collect()
    }

    fn coherent(&self, _: &str) -> Option<Coherent> {
        Some(Coherent::Switch)
    }

    fn waits(&self) -> Option<Vec<Wait>> {
        Some(Class::ALL.map(|class| Wait::routed(class.name(), Reach::OtherPorts)).to_vec())
    }

    fn switch_table(&self, forms: &[Form]) -> Result<Table, String> {
        let (upper, below) = (forms[0], forms[1..].iter().copied());
        // A fabric has ports of its own in every message, and no CacheID.
        if upper == Form::Pbr {
            if let Some(n) = below.into_iter().position(|form| form != Form::Pbr) {
                return Err(format!(
                    "found a link of another kind at port[{n}], expected cxl-256b-pbr as at its trunk"
                ));
            }
            if !self.table.is_empty() {
                return Err("found a table of CacheIDs, expected none: a fabric goes by ports".to_owned());
            }
            return Ok(Table::of_ports(&fabric_ports(forms.len() - 1)));
        }
        let flits = |form| if form == Form::Cxl68 { Flits::B68 } else { Flits::B256 };
        let device = |(n, form)| Below { hdm: Hdm::None, link: flits(form), cache_id: Some(n) };
        let devices = (0..).zip(below).map(device).collect();
        let hierarchy = Hierarchy { devices, upper: flits(upper), cache_ids: true };
        let mut routes = Routes::new(&hierarchy).map_err(|error| error.to_string())?;
        for (id, device) in self.table.iter().filter_map(|(text, _)| entry(text)) {
            routes.set_entry(id, device);
        }
        Ok(Table::CacheId(Box::new(routes)))
    }

    fn elaborate(self: Box<Self>, site: &Site<'_>, hub: &mut Hub) -> Result<Node, NodeError> {
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
        let port =
            |name, len, side| PortDecl { name, len, links: FABRIC_LINK, role: Role::Coherent(Lines::HdmDb, side) };
        vec![
            port("trunk", None, Side::Host),
            port("host", Some(self.hosts), Side::Device),
            port("peer", Some(self.peers), Side::Device),
        ]
    }

    fn check(&self) -> Vec<Finding> {
        let all = self.hosts + self.peers;
        let most = MOST_FABRIC_HOLDERS;
        let text = || format!("found {} hosts and {} peers, expected 1 to {most} in all", self.hosts, self.peers);
        (!(1..=most).contains(&all)).then(|| ("peers", text())).into_iter().collect()
    }

    fn coherent(&self, _: &str) -> Option<Coherent> {
        Some(Coherent::Switch)
    }

    fn waits(&self) -> Option<Vec<Wait>> {
        Some(Class::ALL.map(|class| Wait::routed(class.name(), Reach::OtherPorts)).to_vec())
    }

    fn switch_table(&self, forms: &[Form]) -> Result<Table, String> {
        Ok(Table::of_ports(&fabric_ports(forms.len() - 1)))
    }

    fn elaborate(self: Box<Self>, site: &Site<'_>, hub: &mut Hub) -> Result<Node, NodeError> {
        elaborated(&*self, site, hub)
    }
}

/// A switch with the table that fits its links.
fn elaborated(config: &dyn Component, site: &Site<'_>, hub: &mut Hub) -> Result<Node, NodeError> {
    let forms: Vec<Form> = (0..site.ports.len()).map(|n| form(site, n)).collect();
    let refused = |text| NodeError::Joined { path: site.path.to_owned(), text };
    Ok(switch(config.switch_table(&forms).map_err(refused)?, site, hub))
}

fn form(site: &Site<'_>, port: usize) -> Form {
    site.ports[port].link.cxl().0
}

/// The switch with its table.
fn switch(table: Table, site: &Site<'_>, hub: &mut Hub) -> Node {
    let name = site.path.to_owned();
    let tap = hub.tap(&name, PlaceKind::Messages(form(site, 0).layouts()));
    let domain = site.ports[0].seat().domain.clone();
    let links: Vec<_> =
        site.ports.iter().map(|port| (port.link.cxl().0, (port.seat().link_number(), port.number))).collect();
    let result: Arc<Mutex<SwitchResult>> = Arc::default();
    let (shared, place, config) = (result.clone(), name.clone(), domain.config().clone());
    Node {
        place: Box::new(move |p, clock, plugs| {
            p.module(&name, clock, |bind| {
                let ends = plugs.into_iter().map(Plug::coherent).zip(links);
                let links = ends.map(|(end, (form, number))| end.attach(bind, Vec::new(), form, number)).collect();
                Switch::new(links, table, config, tap, shared)
            })
        }),
        measure: Box::new(move || {
            let result = published(&result);
            let mut events = result.events;
            if let Some(Table::CacheId(routes)) = &result.table {
                events.extend(routes.watchdog(&domain.waiting()));
            }
            Measured {
                counts: vec![(&SWITCHED, result.forwarded), (&DISCARDED, result.discarded)],
                broken: events.iter().map(|event| broken(&place, event)).collect(),
                ..Measured::default()
            }
        }),
        digest: Vec::new(),
        ledger: None,
    }
}
