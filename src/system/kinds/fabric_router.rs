//! `fabric.router`: a router with virtual channels, see [`scalepool_fabric::vc_router`].
//!
//! Modelled: one router of a topology; which one, and of which, a generator says. What a description leaves out is as the
//! topology has it. A walk: the topology gives the table of ways, and tells the check for deadlock which of them lead from
//! which virtual channel of a port to which of another one.

use crate::channels::{ChannelWait, PASSED_ON_SHORTEST, Reach};
use crate::field::{Config, FieldRange, config};
use crate::kind::{
    Carried, Component, ComponentKind, ComponentNode, ComponentPlug, ConfigFinding, DomainMember, NodeError, Offer,
    PortDecl, PortRole, Site, SitePort, component,
};
use crate::kinds::fabric_link::VC_NAMES;
use crate::measured::ComponentMeasured;
use crate::metric::metrics;
use crate::quantity::Unit;
use scalepool_arbiter::ALLOCATOR_NAMES;
use scalepool_fabric::topology::routing::{ROUTING_NAMES, RoutePolicy};
use scalepool_fabric::topology::{RouterDefaults, Topology};
use scalepool_fabric::vc_router::route_table::ways_through;
use scalepool_fabric::vc_router::{MOST_LINES, RouteTable, VcRouter, VcRouterConfig, VcRouterResult};
use scalepool_kernel::Clock;
use scalepool_nodes::PlacedViolation;
use scalepool_ordered::{OrderedMap, OrderedSet};
use scalepool_protocols::wire::Violation;
use scalepool_trace::Hub;
use std::sync::{Arc, Mutex};

/// The kind.
pub const KIND: ComponentKind = ComponentKind {
    name: "fabric.router",
    about: "input-queued router with virtual channels, of no protocol; its ports are `port[n]`",
    fields: FabricRouter::fields,
    read: component::<FabricRouter>,
    external: &[],
    metrics: &[METRICS],
};

metrics! {
    /// What a router counts.
    static METRICS {
        ROUTERS = "routers" ["routers"] Sum, "routers";
        FLITS = "flits switched" ["flits"] Sum, "flits that crossed the switch: flit-hops";
        VC_WAITS = "waits for a virtual channel" ["cycles"] Sum, "cycles that packets waited for an output virtual channel";
        SWITCH_WAITS = "waits for the switch" ["cycles"] Sum, "cycles that flits waited for a credit or the switch";
    }
}

config! {
    /// A router. Numbers are of the model (basis: model); those that are not given are those of the topology.
    pub struct FabricRouter {
        topology: String = "mesh:2x1" [Unit::Of("-")] in FieldRange::Text("a topology"), "topology that it is part of; a generator sets it";
        position: usize = "0" [Unit::Of("-")] in FieldRange::Int(0, 1 << 15), "its number in the topology; a generator sets it";
        ports: usize = "2" [Unit::Of("ports")] in FieldRange::Int(1, 64), "its ports; a generator sets it";
        vcs: Option<usize> = "" [Unit::Of("virtual channels")] in FieldRange::Int(1, MOST_LINES as u64), "virtual channels of each port; not given = 4";
        buffer_flits: Option<u32> = "" [Unit::Of("flits")] in FieldRange::Int(1, 1024), "buffer of each virtual channel, and so the credits of who sends to it; not given = 8, in a fat tree 16";
        allocator: Option<String> = "" [Unit::Of("-")] in FieldRange::Words(ALLOCATOR_NAMES), "allocator of virtual channels and of the switch; not given = islip, in a fat tree separable-input-first";
        routing: String = "minimal" [Unit::Of("-")] in FieldRange::Words(ROUTING_NAMES), "the shortest way (minimal, adaptive: among ports that are as good the one with the smallest backlog), over a random router or group (valiant), or over one where backlog times channels is less (ugal); the last two need virtual channels for each leg; the same in all routers of a topology";
        ugal_threshold: Option<u64> = "" [Unit::Of("flits times channels")] in FieldRange::Int(0, 1 << 20), "by how much backlog times channels has to be less over another router for routing = \"ugal\" to go there; the same in all routers of a topology; not given = 0 (fabric §6.5)";
        switching: Option<String> = "" [Unit::Of("-")] in FieldRange::Words(&["cut-through", "store-and-forward"]), "flits leave one behind the other (cut-through), or none of a packet before its last one has come, for which the buffer has to hold the whole packet (fabric §4.2); not given = cut-through";
        credit_delay: Option<u64> = "" [Unit::Of("cycles")] in FieldRange::Int(0, 1024), "from the arrival of a credit to its use; not given = 0, in a fat tree 2";
        routing_delay: Option<u64> = "" [Unit::Of("cycles")] in FieldRange::Int(0, 1024), "stages of route computation; not given = 1, in a fat tree 0";
    }
}

impl FabricRouter {
    fn topology(&self) -> Result<Topology, String> {
        Topology::parse(&self.topology).map_err(|error| error.to_string())
    }

    fn routing(&self) -> RoutePolicy {
        let policy = RoutePolicy::by_name(&self.routing).unwrap_or(RoutePolicy::Minimal);
        policy.with_threshold(self.ugal_threshold.unwrap_or(0))
    }

    fn vcs(&self, defaults: &RouterDefaults) -> usize {
        self.vcs.unwrap_or(defaults.vcs)
    }

    fn buffer_flits(&self, defaults: &RouterDefaults) -> u32 {
        self.buffer_flits.unwrap_or(defaults.buffer_flits)
    }

    /// A neighbour with another policy: a packet on its way to an intermediate place would come to a router that knows none.
    fn policies(&self, ports: &[SitePort]) -> Option<ConfigFinding> {
        ports.iter().find(|port| port.peer.routing.is_some_and(|other| other != self.routing())).map(|port| {
            let text = format!(
                "found {}, and another policy of the router behind {}, expected one policy in all routers of a topology",
                self.routing, port.path
            );
            ("routing", text)
        })
    }
}

/// A threshold of UGAL where another policy is chosen by a key.
pub(in crate::kinds) fn without_ugal(threshold: Option<u64>, key: &str, policy: &str) -> Option<ConfigFinding> {
    threshold.filter(|_| policy != "ugal").map(|_| {
        (
            "ugal_threshold",
            format!("found it with {key} = \"{policy}\", expected \"ugal\": no other policy has a threshold"),
        )
    })
}

/// A channel whose ends differ in what they know of it.
pub(super) fn mismatch(ports: &[SitePort], vcs: usize, clock: Clock) -> Option<ConfigFinding> {
    ports.iter().find_map(|port| match port.link.carried {
        Carried::Flits { vcs: found, .. } if found != vcs => {
            let text = format!("found {vcs} virtual channels at {}, expected {found} as the channel has", port.path);
            Some(("vcs", text))
        }
        Carried::Flits { clock: of_link, .. } if of_link.period() != clock.period() => {
            let text =
                format!("found another clock than that of the channel at {}, expected its cycle time", port.path);
            Some(("clock", text))
        }
        _ => None,
    })
}

impl Component for FabricRouter {
    fn ports(&self) -> Vec<PortDecl> {
        vec![PortDecl { name: "port", len: Some(self.ports), links: &["fabric"], role: PortRole::Router }]
    }

    fn offer(&self) -> Offer {
        let buffer_flits = self.topology().ok().map(|topology| self.buffer_flits(&topology.defaults()));
        Offer { routing: Some(self.routing()), buffer_flits, ..Offer::default() }
    }

    fn check(&self) -> Vec<ConfigFinding> {
        let topology = match self.topology() {
            Ok(topology) => topology,
            Err(text) => return vec![("topology", text)],
        };
        let mut found: Vec<ConfigFinding> =
            without_ugal(self.ugal_threshold, "routing", &self.routing).into_iter().collect();
        if self.position >= topology.routers() {
            let last = topology.routers() - 1;
            found.push(("position", format!("found {}, expected 0 to {last}", self.position)));
        } else if self.ports != topology.ports(self.position) {
            let expected = topology.ports(self.position);
            found.push(("ports", format!("found {}, expected {expected} as in {topology}", self.ports)));
        }
        if let Some(text) = self.routing().refusal(&topology) {
            found.push(("routing", format!("found {}, but {text}", self.routing)));
        }
        let vcs = self.vcs(&topology.defaults());
        if self.ports * vcs > MOST_LINES {
            let text = format!(
                "found {} ports with {vcs} virtual channels each, expected at most {MOST_LINES} in all",
                self.ports
            );
            found.push(("vcs", text));
        }
        found
    }

    fn check_joined(&self, clock: Clock, _: DomainMember, ports: &[SitePort]) -> Vec<ConfigFinding> {
        let Ok(topology) = self.topology() else { return Vec::new() };
        let of_channel = mismatch(ports, self.vcs(&topology.defaults()), clock);
        of_channel.into_iter().chain(self.policies(ports)).collect()
    }

    fn waits(&self) -> Option<Vec<ChannelWait>> {
        let topology = self.topology().ok()?;
        let vcs = self.vcs(&topology.defaults());
        // By pair of virtual channels, as links name them: from which port to which.
        let mut pairs: OrderedMap<(usize, usize), OrderedSet<(usize, usize)>> = OrderedMap::new();
        for ((from, incoming), (to, outgoing)) in ways_through(&topology, self.routing(), self.position, vcs) {
            for (a, b) in (0..vcs).flat_map(|a| (0..vcs).map(move |b| (a, b))) {
                if incoming >> a & outgoing >> b & 1 == 1 {
                    pairs.entry((a, b)).or_default().insert((from, to));
                }
            }
        }
        let waits = pairs.into_iter().map(|((a, b), ways)| ChannelWait {
            incoming: VC_NAMES[a],
            outgoing: VC_NAMES[b],
            reach: Reach::Ways(ways),
            queue: None,
            why: if topology.is_shortest_graph() { PASSED_ON_SHORTEST } else { "passes packets on" },
        });
        Some(waits.collect())
    }

    fn drawn_at(&self) -> Option<(usize, usize)> {
        self.topology().ok().map(|topology| topology.place(self.position))
    }

    fn elaborate(self: Box<Self>, site: &Site<'_>, _: &mut Hub) -> Result<ComponentNode, NodeError> {
        let topology = self.topology().map_err(|text| NodeError::Joined { path: site.path.to_owned(), text })?;
        let defaults = topology.defaults();
        let vcs = self.vcs(&defaults);
        let buffer_flits = self.buffer_flits(&defaults);
        let config = VcRouterConfig {
            vcs,
            buffer_flits,
            // A node takes whatever comes, so its own buffers are a measure as good as any.
            credits: site.ports.iter().map(|port| port.peer.buffer_flits.unwrap_or(buffer_flits)).collect(),
            allocator: self.allocator.clone().unwrap_or_else(|| defaults.allocator.to_owned()),
            credit_delay_cycles: self.credit_delay.unwrap_or(defaults.credit_delay_cycles),
            routing_delay_cycles: self.routing_delay.unwrap_or(defaults.routing_delay_cycles),
            stores_packets: self.switching.as_deref() == Some("store-and-forward"),
            table: RouteTable::new(&topology, self.routing(), self.position, vcs),
        };
        let result: Arc<Mutex<VcRouterResult>> = Arc::default();
        let (seen, name, path) = (result.clone(), format!("{}.router", site.path), site.path.to_owned());
        Ok(ComponentNode {
            place: Box::new(move |p, clock, plugs| {
                p.module(&name, clock, |bind| {
                    let ports = plugs.into_iter().map(|plug| ComponentPlug::flits(plug).attach(bind)).collect();
                    let rng = bind.rng();
                    VcRouter::new(config, ports, rng, result).unwrap_or_else(|e| unreachable!("checked: {e}"))
                })
            }),
            measure: Box::new(move || measured(&path, &super::published(&seen))),
            digest: Vec::new(),
            ledger: None,
        })
    }
}

fn measured(path: &str, result: &VcRouterResult) -> ComponentMeasured {
    let overflow = result.overflow.iter().map(|place| PlacedViolation {
        place: path.to_owned(),
        violation: Violation::at_byte("SIM-E2E-03", 0, place, "room for the flit", "a flit was sent without a credit"),
    });
    ComponentMeasured {
        counts: vec![
            (&ROUTERS, 1),
            (&FLITS, result.flits),
            (&VC_WAITS, result.vc_wait_cycles),
            (&SWITCH_WAITS, result.switch_wait_cycles),
        ],
        broken: overflow.collect(),
        buffered: VC_NAMES.iter().copied().zip(result.buffered_cycles.iter().copied()).collect(),
        ..ComponentMeasured::default()
    }
}
