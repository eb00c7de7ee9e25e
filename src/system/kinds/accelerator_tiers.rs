//! Accelerators whose pages lie in their HBM, in HBM of a peer or in tier 2, whatever protocol their links have, see
//! [`scalepool_nodes::tiers`]; what a description says of them stands in
//! `tier_fields.rs`, the kinds are [`accelerator_ualink`](super::accelerator_ualink) and
//! [`accelerator_nvlink`](super::accelerator_nvlink).
//!
//! Modelled: all accelerators of a fabric are of one kind and have the same pages, beside bridges that lead to tier 2.
//! Left out: protection of transactions and UPLIs, see [`ualink_accelerator`](super::ualink_accelerator) for an accelerator with these. A
//! walk through one description: frames are counted against pages; the links say who is there; the first bridge behind the accelerators
//! leads to tier 2 unless another one is named.

use super::tier_fields::TieredFields;
use crate::channels::ChannelWait;
use crate::field::{Config, Field, TableReader};
use crate::kind::{
    Component, ComponentNode, ConfigFinding, DomainMember, NodeError, PortDecl, PortRole, Site, SitePort,
};
use crate::kinds::block_nodes::BlockNodeSite;
use crate::measured::ComponentMeasured;
use crate::metric::metrics;
use scalepool_kernel::{Clock, Rng, Time};
use scalepool_nodes::blocks::BlockNodeConfig;
use scalepool_nodes::tiers::accelerator::{TieredAccelerator, TieredConfig, TieredResult};
use scalepool_nodes::tiers::caller::PlacementSlot;
use scalepool_nodes::tiers::policy::PlacementPolicy;
use scalepool_nodes::tiers::traffic::{TieredGenerator, TieredTraffic};
use scalepool_trace::Hub;
use std::sync::{Arc, Mutex};

/// What the links of a kind mean for pages.
pub struct TierLinkFacts {
    /// Names of the kinds of links.
    pub links: &'static [&'static str],
    /// Bytes behind the addresses of a node.
    pub addresses: u128,
    /// These addresses in words.
    pub address_words: &'static str,
    /// First control address of an accelerator, behind all HBM.
    pub control_base: u64,
    /// Classes of messages: requests and answers.
    pub classes: [&'static str; 2],
}

/// Links of an accelerator with tiers.
pub trait TierLink: Config + Send + 'static {
    /// What they mean for pages.
    const FACTS: TierLinkFacts;

    /// How many there are.
    fn count(&self) -> usize;

    /// What is wrong with who is at their other ends.
    fn check_joined(&self, member: DomainMember, ports: &[SitePort]) -> Vec<ConfigFinding>;
}

/// An accelerator with such links.
pub struct TieredComponent<L> {
    link: L,
    tiers: TieredFields,
}

impl<L: TierLink> Config for TieredComponent<L> {
    fn fields() -> Vec<&'static Field> {
        [L::fields(), TieredFields::fields()].concat()
    }

    fn read(reader: &mut TableReader<'_>) -> Self {
        TieredComponent { link: L::read(reader), tiers: TieredFields::read(reader) }
    }
}

metrics! {
    /// What an accelerator with tiers counts.
    pub(super) static METRICS {
        OPERATIONS = "operations" ["operations"] Sum, "reads and writes that are done";
        IN_HBM = "accesses of HBM" ["accesses"] Sum, "reads and writes whose page lies in HBM of its manager";
        IN_PEER = "accesses of peer HBM" ["accesses"] Sum, "reads and writes whose page lies in HBM of the next accelerator";
        IN_TIER2 = "accesses of tier 2" ["accesses"] Sum, "reads and writes whose page lies in tier 2";
        COPIES = "copies" ["copies"] Sum, "explicit copies that are done";
        COPIED = "copied [bytes]" ["bytes"] Sum, "bytes of explicit copies that are done";
        PLACED = "pages placed" ["pages"] Sum, "pages that got their first frame";
        MOVES = "pages moved" ["pages"] Sum, "moves of pages that are over";
        MOVED = "moved [bytes]" ["bytes"] Sum, "bytes of pages that were moved, each read once and written once";
        WISHES_REFUSED = "decisions refused" ["decisions"] Sum, "decisions of a function of the caller that could not be: a page without a frame or one that has moved in the interval, its own tier, or one without a free frame";
        PREFETCHED = "pages prefetched" ["pages"] Sum, "moves into HBM by prefetch, without a demand";
        REQUESTS_REFUSED = "requests to lost frames" ["requests"] Sum, "requests that ended with an error, since their frame of tier 2 was lost (MEM-RMV-07)";
        LINES_LOST = "lines lost with frames" ["lines"] Sum, "lines that were read with poison, since they were lost with a frame of tier 2 (MEM-RMV-07)";
        FRAMES_LEFT = "frames removed" ["frames"] Sum, "frames of tier 2 that have left, with no page in them";
        FRAMES_CAME = "frames inserted" ["frames"] Sum, "frames of tier 2 that have come";
        MOVE_CYCLES = "cycles of moves" ["cycles"] Sum, "cycles in which a page that it manages moved";
        PAGE_WAITS = "cycles of page waits" ["cycles"] Sum, "cycles in which its next operation waited for the place of a page";
        MESSAGES = "page messages" ["requests"] Sum, "requests that it has sent about pages and to registers of a bridge";
        SERVED = "requests served" ["requests"] Sum, "requests of others";
    }
}

impl<L: TierLink> Component for TieredComponent<L> {
    fn own_wait_fs(&self, clock: Clock) -> u64 {
        let TieredFields { traffic, hbm_cycles, interval, .. } = &self.tiers;
        clock.periods_fs(traffic.start_cycles.max(*hbm_cycles)).max(*interval)
    }

    fn why_no_window(&self) -> &'static str {
        "whose memory other accelerators address by its number"
    }

    fn ports(&self) -> Vec<PortDecl> {
        let TierLinkFacts { links, .. } = L::FACTS;
        vec![PortDecl { name: "port", len: Some(self.link.count()), links, role: PortRole::Node }]
    }

    fn check(&self) -> Vec<ConfigFinding> {
        self.tiers.check(L::FACTS.control_base)
    }

    fn check_joined(&self, clock: Clock, member: DomainMember, ports: &[SitePort]) -> Vec<ConfigFinding> {
        let of_link = self.link.check_joined(member, ports);
        let wrong = of_link.into_iter().chain(self.tiers.check_joined(clock, member, &L::FACTS));
        let is_direct = ports.iter().any(|port| port.peer_role == PortRole::Node) && member.nodes != 2;
        let text = || "found a link to another accelerator among several, expected a switch with a port for each";
        wrong.chain(is_direct.then(|| ("ports", text().to_owned()))).collect()
    }

    fn waits(&self) -> Option<Vec<ChannelWait>> {
        let [request, response] = L::FACTS.classes;
        Some(vec![ChannelWait::answered(request, response)])
    }

    fn joint_traffic(&self) -> Option<String> {
        Some(self.tiers.joint_traffic())
    }

    fn tier2_bridge(&self) -> Option<u16> {
        let tier2 = &self.tiers.tier2;
        (tier2.pages > 0).then_some(tier2.bridge)
    }

    fn asks(&self) -> bool {
        true
    }

    fn elaborate(self: Box<Self>, site: &Site<'_>, hub: &mut Hub) -> Result<ComponentNode, NodeError> {
        self.tiers.elaborate(L::FACTS.control_base, site, hub)
    }
}

impl TieredFields {
    fn elaborate(self, control_base: u64, site: &Site<'_>, hub: &mut Hub) -> Result<ComponentNode, NodeError> {
        let (name, member) = (site.path.to_owned(), site.member);
        let layout = self.layout(member, control_base);
        let traffic = TieredTraffic {
            own: member.own,
            accelerators: member.peers,
            pages: self.pages,
            page_bytes: self.page,
            blocks: self.traffic.blocks,
            count: self.traffic.operations,
            foreign_percent: self.traffic.foreign,
            hot_pages: self.traffic.hot_pages,
            hot_percent: self.traffic.hot,
            phase: self.traffic.phase,
            copy_every: self.traffic.copy_every,
        };
        let caller = PlacementSlot::default();
        if self.policy() == PlacementPolicy::Caller {
            site.placements().add(&name, caller.clone());
        }
        let (num, den) = site.clock.period();
        let interval_cycles = (u128::from(self.interval) * u128::from(den) / u128::from(num)) as u64;
        let config = TieredConfig {
            own: member.own,
            place: name.clone(),
            clock: site.clock,
            layout,
            policy: self.policy(),
            caller,
            prefetch: (self.prefetch, self.warm_pages),
            interval_cycles: interval_cycles.max(1),
            control: self.tier2.control,
            is_cached: member.tier2_cache.keeps_lines,
            operations: TieredGenerator::new(traffic, Rng::for_name(site.seed, &format!("{name}:operations"))),
            start_cycle: self.traffic.start_cycles,
            stop_cycle: self.traffic.stop.map(|stop| site.clock.first_at_or_after(Time::from_fs(stop))),
            changes: self.changes(site.clock),
            outstanding: self.outstanding,
            copy_outstanding: self.copy_outstanding,
            poison_every: self.traffic.poison_every,
        };
        let of_node = BlockNodeConfig {
            own: member.own,
            fabric: member.fabric,
            hbm_cycles: self.hbm_cycles,
            control: layout.control_addresses(),
        };
        let node = BlockNodeSite::new(site.ports);
        let (tap, ledger) = (hub.tap(&name, node.shows()), node.ledger());
        let result: Arc<Mutex<TieredResult>> = Arc::default();
        let shared = result.clone();
        let from_fs = site.clock.edge(self.traffic.start_cycles).as_fs();
        let has_changes = !self.tier2.commands.is_empty();
        Ok(ComponentNode {
            place: Box::new(move |p, clock, plugs| {
                let node = node.place(p, &name, plugs, of_node)?;
                p.module(&name, clock, |bind| TieredAccelerator::new(config, node(bind), tap, shared))
            }),
            measure: Box::new(move || measured(from_fs, &super::published(&result), has_changes)),
            digest: Vec::new(),
            ledger: Some(ledger),
        })
    }
}

/// `has_changes`: frames leave or come in the run.
fn measured(from_fs: u64, result: &TieredResult, has_changes: bool) -> ComponentMeasured {
    let [hbm, peer, tier2] = result.by_tier;
    let [left, came] = result.frames;
    let of_changes = [
        (&REQUESTS_REFUSED, result.refused_requests),
        (&LINES_LOST, result.lost_lines),
        (&FRAMES_LEFT, left),
        (&FRAMES_CAME, came),
    ];
    let of_changes = of_changes.into_iter().filter(|_| has_changes);
    let counts = [
        (&OPERATIONS, result.done),
        (&IN_HBM, hbm),
        (&IN_PEER, peer),
        (&IN_TIER2, tier2),
        (&COPIES, result.copies),
        (&COPIED, result.copied_bytes),
        (&PLACED, result.placed.iter().sum()),
        (&MOVES, result.moves),
        (&MOVED, result.moved_bytes),
        (&WISHES_REFUSED, result.refused),
        (&PREFETCHED, result.prefetched),
        (&MOVE_CYCLES, result.move_cycles),
        (&PAGE_WAITS, result.page_wait_cycles),
        (&MESSAGES, result.messages),
        (&SERVED, result.served),
    ];
    ComponentMeasured {
        counts: counts.into_iter().chain(of_changes).collect(),
        bytes: result.bytes,
        latencies: result.latencies.clone(),
        broken: result.broken.clone(),
        is_isolated: result.is_isolated,
        from_fs,
        ..ComponentMeasured::default()
    }
}
