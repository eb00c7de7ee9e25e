//! `ualink.switch`: a relay with a port for every accelerator, see [`scalepool_fabric::ualink_switch`].

use crate::channels::{ChannelWait, Reach};
use crate::field::{Config, FieldRange, config};
use crate::kind::{
    Carried, Component, ComponentKind, ComponentNode, ComponentPlug, ConfigFinding, DomainMember, NodeError, PortDecl,
    PortRole, Site, SitePort, component,
};
use crate::kinds::ualink_link::{REQUEST, RESPONSE};
use crate::measured::ComponentMeasured;
use crate::metric::metrics;
use crate::problem::TextPlace;
use crate::quantity::Unit;
use scalepool_arbiter::{ARBITER_NAMES, RoundRobin};
use scalepool_fabric::ualink_switch::core::CoreStats;
use scalepool_fabric::ualink_switch::{UalRoutes, UalSwitchCore, place_switch};
use scalepool_kernel::Clock;
use scalepool_link::ualink::security::Protection;
use scalepool_trace::Hub;
use std::sync::{Arc, Mutex};

/// The kind.
pub const KIND: ComponentKind = ComponentKind {
    name: "ualink.switch",
    about: "UALink switch; its ports are `port[n]`, and port n leads to accelerator n",
    fields: UalSwitch::fields,
    read: component::<UalSwitch>,
    external: &["flits"],
    metrics: &[METRICS],
};

metrics! {
    /// What a switch counts.
    static METRICS {
        REQUESTS = "relayed requests" ["transactions"] Sum, "requests that were sent on";
        RESPONSES = "relayed responses" ["transactions"] Sum, "responses that were sent on";
        DENIED = "denied" ["transactions"] Sum, "requests to an accelerator that the sender may not reach";
        OUT_OF_RANGE = "out of range" ["transactions"] Sum, "requests and responses to an accelerator that is not there";
    }
}

config! {
    /// A switch. Numbers without another source are of the model (basis: model).
    pub struct UalSwitch {
        ports: usize = "8" [Unit::Of("ports")] in FieldRange::Int(2, 1024), "ports, one for every accelerator (ualink §1)";
        latency: u64 = "200 ns" [Unit::Time] in FieldRange::Int(0, 1 << 40), "pin-to-pin latency of an idle switch (ualink §14)";
        egress_queue: u16 = "8" [Unit::Of("transactions")] in FieldRange::Int(1, 4096), "transactions of a class that an egress port can queue";
        arbiter: Option<String> = "" [Unit::Of("-")] in FieldRange::Words(ARBITER_NAMES), "arbiter of each egress port, which picks the next input; all inputs have the same weight (fabric §6.2); not given = round-robin";
        deny: Vec<(String, TextPlace)> = "" [Unit::Of("-")] in FieldRange::Texts("FROM:TO"), "pairs of accelerators whose routes are denied (ualink §14)";
    }
}

impl UalSwitch {
    /// Denied routes: from and to; or those that are none.
    fn routes_denied(&self) -> (Vec<(u16, u16)>, Vec<ConfigFinding>) {
        let (mut denied, mut wrong) = (Vec::new(), Vec::new());
        for (text, _) in &self.deny {
            let ends = text.split_once(':').and_then(|(a, b)| Some((a.parse::<u16>().ok()?, b.parse::<u16>().ok()?)));
            match ends.filter(|&(a, b)| usize::from(a.max(b)) < self.ports) {
                Some(pair) => denied.push(pair),
                None => {
                    wrong.push(("deny", format!("found `{text}`, expected FROM:TO, each 0 to {}", self.ports - 1)));
                }
            }
        }
        (denied, wrong)
    }
}

impl Component for UalSwitch {
    fn ports(&self) -> Vec<PortDecl> {
        vec![PortDecl { name: "port", len: Some(self.ports), links: &["ualink"], role: PortRole::Switch }]
    }

    fn own_wait_fs(&self, _: Clock) -> u64 {
        self.latency
    }

    fn check(&self) -> Vec<ConfigFinding> {
        self.routes_denied().1
    }

    fn check_joined(&self, _: Clock, member: DomainMember, ports: &[SitePort]) -> Vec<ConfigFinding> {
        // A port that has no link is a finding of its own.
        if ports.len() != self.ports {
            return Vec::new();
        }
        let nodes = member.nodes;
        let spare = (self.ports != usize::from(nodes))
            .then(|| format!("found {} ports for {nodes} accelerators, expected one for each", self.ports));
        let elsewhere = ports.iter().enumerate().find(|(n, port)| usize::from(port.peer_member.own) != *n);
        let elsewhere = elsewhere.filter(|_| spare.is_none()).map(|(n, port)| {
            format!(
                "found accelerator {} at {}, expected accelerator {n}: port n of a switch leads to accelerator n, in the order of the file",
                port.peer_member.own, port.path
            )
        });
        let is_protected = |port: &&SitePort| super::ualink_accelerator::protection(port) != Protection::Off;
        let other = ports.iter().filter(is_protected).find(|port| port.peer_port != ports[0].peer_port).map(|other| {
            format!(
                "found port {} of an accelerator at {} and port {} at {}, expected one number: ports of one number share keys",
                ports[0].peer_port, ports[0].path, other.peer_port, other.path
            )
        });
        spare.into_iter().chain(elsewhere).chain(other).map(|text| ("ports", text)).collect()
    }

    fn denied(&self) -> Vec<(u16, u16)> {
        self.routes_denied().0
    }

    fn waits(&self) -> Option<Vec<ChannelWait>> {
        // Port n leads to accelerator n.
        let denied = self.routes_denied().0.into_iter().map(|(from, to)| (from.into(), to.into())).collect();
        let reach = Reach::OtherPortsBut(denied);
        let routed = |class, reach| ChannelWait { queue: Some("egress queue"), ..ChannelWait::routed(class, reach) };
        Some(vec![routed(REQUEST, Reach::Asked(Box::new(reach.clone()))), routed(RESPONSE, reach)])
    }

    fn elaborate(self: Box<Self>, site: &Site<'_>, _: &mut Hub) -> Result<ComponentNode, NodeError> {
        let Carried::Ualink { code_word_fs: (num, den), lanes, .. } = site.one_kind_of_link()? else {
            unreachable!("a port takes the links that it declares")
        };
        let mut routes = UalRoutes::new(site.ports.len() as u16, lanes);
        routes.allow_all();
        self.routes_denied().0.into_iter().for_each(|(from, to)| routes.set_denied(from, to, true));
        // A clock to the core and one back are a part of the latency.
        let latency_cycles = (self.latency * den).div_ceil(num).saturating_sub(2);
        let arbiter = super::arbiter(self.arbiter.as_deref(), &RoundRobin::KIND);
        let middle = UalSwitchCore::new(routes, latency_cycles, self.egress_queue, arbiter);
        let middle = middle.unwrap_or_else(|e| unreachable!("at most 1024 ports: {e}"));
        let result: Arc<Mutex<CoreStats>> = Arc::default();
        let (name, seen) = (site.path.to_owned(), result.clone());
        Ok(ComponentNode {
            place: Box::new(move |p, clock, plugs| {
                let (sockets, clocks): (Vec<_>, Vec<_>) = plugs.into_iter().map(ComponentPlug::ualink).unzip();
                let sockets = sockets.into_iter().map(|socket| *socket).collect();
                let flit = clocks.first().copied().unwrap_or(clock);
                place_switch(p, &name, sockets, flit, middle, result)
            }),
            measure: Box::new(move || measured(&super::published(&seen))),
            digest: Vec::new(),
            ledger: None,
        })
    }
}

fn measured(stats: &CoreStats) -> ComponentMeasured {
    ComponentMeasured {
        counts: vec![
            (&REQUESTS, stats.granted[0]),
            (&RESPONSES, stats.granted[1]),
            (&DENIED, stats.denied),
            (&OUT_OF_RANGE, stats.out_of_range),
        ],
        // From an accelerator to the switch and from there to an accelerator.
        hops_mean: Some(2.0),
        ..ComponentMeasured::default()
    }
}
