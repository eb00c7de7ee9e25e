//! `nvlink.switch`: a switch of model profile NVL-M1, see [`scalepool_fabric::nvlink_switch`].
//!
//! Modelled: a crossbar with the ports of one of four generations; a remap table with the memory of every GPU, and of bridges, the same at
//! all inputs; from generation 3 on one multicast group, the first GPUs, whose window is that behind all GPUs. A walk: the
//! GPUs at the ports become routes and, for each place of a port among those of its GPU, a set of ports of the group.

use crate::channels::{ChannelWait, Reach};
use crate::field::{Config, FieldRange, config};
use crate::kind::{
    Carried, Component, ComponentKind, ComponentNode, ComponentPlug, ConfigFinding, DomainMember, NodeError,
    NodeLedger, Offer, PortDecl, PortRole, Site, SitePort, component,
};
use crate::kinds::nvlink_link::{POSTED, REQUEST, RESPONSE};
use crate::measured::ComponentMeasured;
use crate::metric::metrics;
use crate::quantity::Unit;
use scalepool_arbiter::{ALLOCATOR_NAMES, AllocatorKind, Separable};
use scalepool_fabric::nvlink_switch::routing::MAX_REPLICA_SETS;
use scalepool_fabric::nvlink_switch::{
    Crossbar, CrossbarConfig, CrossbarPortEnds, Groups, NvlRoutes, NvlSwitchResult, NvlTarget, PRESETS, RemapEntry,
    RemapTable, SwitchPreset,
};
use scalepool_kernel::Clock;
use scalepool_nodes::PlacedViolation;
use scalepool_ordered::OrderedMap;
use scalepool_trace::Hub;
use std::sync::{Arc, Mutex};

/// The kind.
pub const KIND: ComponentKind = ComponentKind {
    name: "nvlink.switch",
    about: "model NVL-M1: NVLink switch on the flit clock of its links; its ports are `port[n]`",
    fields: NvSwitch::fields,
    read: component::<NvSwitch>,
    external: &["flits"],
    metrics: &[METRICS],
};

metrics! {
    /// What a switch counts.
    static METRICS {
        SWITCHES = "switches" ["switches"] Sum, "switches";
        RECEIVED = "switch messages received" ["packets"] Sum, "packets that came in";
        SENT = "switch messages sent" ["packets"] Sum, "packets that went out";
        COPIES = "switch copies" ["packets"] Sum, "copies of writes to a group";
        SUMS = "switch sums" ["packets"] Sum, "answers to reads of a sum";
        MISSES = "switch misses" ["packets"] Sum, "packets to addresses that no entry leads to";
        STRAYS = "switch stray responses" ["packets"] Sum, "responses that belong to no request";
        FULL = "switch store full" ["cycles"] Sum, "cycles in which a packet waited since the store of open requests was full";
        MOST_LOST = "most grants lost in a row" ["grants"] Largest, "the longest series of arbitrations that one input lost";
        BUSIEST = "packets of the busiest input" ["packets"] Largest, "packets that came in at the input with the most of them";
    }
}

config! {
    /// A switch. Numbers without another source are of the model (basis: model).
    pub struct NvSwitch {
        generation: String = "4" [Unit::Of("-")] in FieldRange::Words(&["1", "2", "3", "4"]), "switch generation, with at most 18, 36, 64 or 72 ports (nvlink §5)";
        ports: usize = "2" [Unit::Of("ports")] in FieldRange::Int(1, 72), "ports in use";
        hop: u64 = "150 ns" [Unit::Time] in FieldRange::Int(0, 1 << 40), "latency from packet in to packet out (nvlink §5, a choice)";
        store_flits: u32 = "2048" [Unit::Of("flits")] in FieldRange::Int(32, 1 << 20), "buffer of each input and channel";
        allocator: Option<String> = "" [Unit::Of("-")] in FieldRange::Words(ALLOCATOR_NAMES), "which inputs send to which outputs (fabric §6.1); not given = separable-output-first";
        members: u16 = "0" [Unit::Of("GPUs")] in FieldRange::Int(0, 72), "GPUs of the multicast group, the first ones; 0 = all";
    }
}

/// The generation of a word of the field `generation`.
pub(crate) fn generation(word: &str) -> &'static SwitchPreset {
    let number = word.parse::<usize>().unwrap_or(PRESETS.len());
    &PRESETS[number.clamp(1, PRESETS.len()) - 1]
}

/// Links of each GPU at a switch, by number of the GPU, in the order of ports.
fn links_of_gpus(ports: &[SitePort]) -> OrderedMap<u16, Vec<usize>> {
    let mut all: OrderedMap<u16, Vec<usize>> = OrderedMap::new();
    for port in ports {
        all.entry(port.peer_member.own).or_default().push(port.peer_port);
    }
    all
}

impl NvSwitch {
    /// The remap table: each GPU's memory, and the group behind them.
    fn remap_table(nodes: u16) -> RemapTable {
        let mut table = RemapTable::default();
        let endpoints = (0..nodes).map(|gpu| (gpu, NvlTarget::Endpoint(gpu)));
        for (select, target) in endpoints.chain([(nodes, NvlTarget::Group(0))]) {
            table.set(select, RemapEntry::whole(target)).unwrap_or_else(|e| unreachable!("a whole window: {e}"));
        }
        table
    }

    fn allocator(&self) -> &'static AllocatorKind {
        let named =
            |name: &str| AllocatorKind::by_name(name).unwrap_or_else(|e| unreachable!("a word of the range: {e}"));
        self.allocator.as_deref().map_or(&Separable::OUTPUT_FIRST, named)
    }

    /// The multicast group: a set of ports for each place of a port among those of its GPU.
    fn groups(&self, routes: &NvlRoutes, gpus: u16) -> Groups {
        let mut groups = Groups::default();
        let members = if self.members == 0 { gpus } else { self.members.min(gpus) };
        let places = (0..members).map(|gpu| routes.ports(gpu).len()).max().unwrap_or(0).min(MAX_REPLICA_SETS);
        if generation(&self.generation).multicast && places > 0 {
            let port = |place: usize, gpu: u16| {
                let ports = routes.ports(gpu);
                ports.get(place % ports.len().max(1)).copied()
            };
            let set = |place: usize| (0..members).filter_map(|gpu| port(place, gpu)).collect();
            let sets: Vec<Vec<usize>> = (0..places).map(set).collect();
            groups.set(0, sets).unwrap_or_else(|e| unreachable!("one port a member: {e}"));
        }
        groups
    }

    /// Puts it together around the crossbar that `change` makes of its own.
    ///
    /// # Errors
    /// Links of different rates.
    pub fn elaborate_as(
        self,
        site: &Site<'_>,
        change: impl FnOnce(&mut CrossbarConfig),
    ) -> Result<ComponentNode, NodeError> {
        let Carried::Nvlink { flit_clock, .. } = site.one_kind_of_link()? else {
            unreachable!("a port takes the links that it declares")
        };
        let mut routes = NvlRoutes::default();
        for (n, port) in site.ports.iter().enumerate() {
            routes.add(port.peer_member.own, n);
        }
        let ends = site.ports.iter().map(|port| (usize::from(port.peer_member.own), port.peer_port)).collect();
        let remap = Arc::new(Self::remap_table(site.member.nodes));
        let (num, den) = flit_clock.period();
        let mut config = CrossbarConfig {
            name: site.path.to_owned(),
            hop_cycles: (u128::from(self.hop) * u128::from(den)).div_ceil(u128::from(num)) as u64,
            store_flits: self.store_flits,
            remap: vec![remap; site.ports.len()],
            groups: self.groups(&routes, site.member.peers),
            routes,
            allocator: self.allocator(),
        };
        change(&mut config);
        let result: Arc<Mutex<NvlSwitchResult>> = Arc::default();
        let (seen, ledger) = (result.clone(), NodeLedger::NvlinkSwitch(result.clone(), ends));
        let path = site.path.to_owned();
        let name = format!("{path}.crossbar");
        Ok(ComponentNode {
            place: Box::new(move |p, clock, plugs| {
                let (of_ports, clocks): (Vec<_>, Vec<_>) = plugs.into_iter().map(ComponentPlug::nvlink).unzip();
                let flit = clocks.first().copied().unwrap_or(clock);
                p.module(&name, flit, |bind| {
                    let ends = of_ports.into_iter().map(|plug| CrossbarPortEnds {
                        rx: plug.rx.map(|end| bind.attach(end)),
                        tx: plug.tx.map(|end| bind.attach(end)),
                    });
                    let ends = ends.collect();
                    Crossbar::new(config, ends, result).unwrap_or_else(|e| unreachable!("at most 72 ports: {e}"))
                })
            }),
            measure: Box::new(move || measured(&path, &super::published(&seen))),
            digest: Vec::new(),
            ledger: Some(ledger),
        })
    }
}

impl Component for NvSwitch {
    fn ports(&self) -> Vec<PortDecl> {
        vec![PortDecl { name: "port", len: Some(self.ports), links: &["nvlink"], role: PortRole::Switch }]
    }

    fn own_wait_fs(&self, _: Clock) -> u64 {
        self.hop
    }

    fn offer(&self) -> Offer {
        Offer { multicast: generation(&self.generation).multicast, ..Offer::default() }
    }

    fn check(&self) -> Vec<ConfigFinding> {
        let most = generation(&self.generation).ports;
        let text =
            || format!("found {}, expected at most the {most} ports of generation {}", self.ports, self.generation);
        (self.ports > most).then(|| ("ports", text())).into_iter().collect()
    }

    fn check_joined(&self, _: Clock, _: DomainMember, ports: &[SitePort]) -> Vec<ConfigFinding> {
        let links = links_of_gpus(ports);
        let mut all = links.iter();
        let Some((first, expected)) = all.next() else { return Vec::new() };
        let Some((gpu, found)) = all.find(|(_, found)| *found != expected) else { return Vec::new() };
        let text = format!(
            "found links {found:?} of GPU {gpu} in the order of ports, expected links {expected:?} as of GPU {first}: a block takes the link of its number at both GPUs"
        );
        vec![("ports", text)]
    }

    fn waits(&self) -> Option<Vec<ChannelWait>> {
        // A member of a group gets its own copies too, and a read of the group asks it as well.
        let asked = [REQUEST, POSTED].map(|class| ChannelWait::routed(class, Reach::Asked(Box::new(Reach::AnyPort))));
        // What has no way, or is a sum, the switch answers by itself.
        let own = [ChannelWait::routed(RESPONSE, Reach::AnyPort), ChannelWait::answered(REQUEST, RESPONSE)];
        Some(asked.into_iter().chain(own).collect())
    }

    fn elaborate(self: Box<Self>, site: &Site<'_>, _: &mut Hub) -> Result<ComponentNode, NodeError> {
        self.elaborate_as(site, |_| ())
    }
}

fn measured(path: &str, result: &NvlSwitchResult) -> ComponentMeasured {
    let broken = result.broken.iter();
    ComponentMeasured {
        counts: vec![
            (&SWITCHES, 1),
            (&RECEIVED, result.received),
            (&SENT, result.sent),
            (&COPIES, result.copies),
            (&SUMS, result.sums),
            (&MISSES, result.misses),
            (&STRAYS, result.strays),
            (&FULL, result.full_stalls),
            (&MOST_LOST, result.most_lost),
            (&BUSIEST, result.by_input.iter().copied().max().unwrap_or(0)),
        ],
        broken: broken
            .map(|event| PlacedViolation { place: path.to_owned(), violation: event.violation.clone() })
            .collect(),
        // GPU to switch, switch to GPU: whatever has arrived has passed one switch.
        hops_mean: Some(if result.sent > 0 { 2.0 } else { 0.0 }),
        ..ComponentMeasured::default()
    }
}
