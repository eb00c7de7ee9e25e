//! CXL.mem beside CXL.io in one switch: each of its links carries both behind the ARB/MUX, and messages go by the bindings by which
//! TLPs go.
//!
//! Modelled: the crossbar of [`scalepool_fabric::cxl_switch`] with queues of its own, bindings of ports and of logical
//! devices, of which those of whole ports end and begin again as they do for CXL.io (`io_commands.rs`).
//! One HDM decoder at each upstream port, as if firmware had committed it, deals all addresses in chunks of 256 bytes to the 1, 2, 4 or 8
//! devices of its hierarchy (`fabric` §2.1). Left out: CXL.cache and back-invalidates, commits by the host that enumerates, and
//! removals by surprise.
//!
//! A walk: bindings and links are judged; decoders and forms of the links become the routes; the module is placed beside that of
//! CXL.io.

use super::{Hardware, SwitchModule, cycles, measured, switched};
use crate::kind::{Carried, ConfigFinding, Offer, Site, SitePort};
use crate::measured::ComponentMeasured;
use crate::metric::metrics;
use scalepool_fabric::cxl_switch::module::SWITCH_SIGNALS;
use scalepool_fabric::cxl_switch::{
    Bindings, HbrRoutes, HbrSwitching, SwitchResult, SwitchTraffic, TimedCommand, Undelivered, VppbBinding,
};
use scalepool_memory::bridge::{BRIDGE_WAYS, BridgeDecoder, BridgeDecoders};
use scalepool_memory::decoder::{ADDRESS_END, GRANULARITIES};
use scalepool_nodes::io::mode::{self, FlexPort};
use scalepool_ordered::{OrderedMap, OrderedSet};
use scalepool_protocols::cxl::cxlio::dvsec::ConnectedMode;
use scalepool_protocols::cxl::message::MessageForm;
use scalepool_trace::Hub;

metrics! {
    /// What it counts beside [`super::SWITCHED`].
    pub(super) static METRICS {
        NOT_BOUND = "requests without a port" ["requests"] Sum, "requests of CXL.mem for vPPBs that were unbound, which the switch answers as not decoded (fabric CMR-5), given where the links carry CXL.mem too";
    }
}

/// Time that an unbind waits for what is open, the default of switches without CXL.io (`fabric` BND-6).
const DRAIN_LIMIT_FS: u64 = 100_000_000_000;

/// Whether the link of a port carries CXL.mem.
pub(super) fn carries_mem(port: &SitePort) -> bool {
    matches!(port.link.carried, Carried::CxlIo { cachemem: true, .. })
}

/// The mode to which a port and the other end of its link train.
fn agreed(own: Offer, port: &SitePort) -> Option<ConnectedMode> {
    let Carried::CxlIo { rate_gtps, .. } = port.link.carried else { return None };
    own.flex_bus?.train(&port.peer.flex_bus?, rate_gtps)
}

/// vPPBs that a hierarchy has bound, in their order.
fn vppbs(bindings: &[VppbBinding], vcs: usize) -> Vec<usize> {
    let mut own: Vec<usize> = bindings.iter().filter(|one| one.vcs == vcs).map(|one| one.vppb).collect();
    scalepool_ordered::sort(&mut own);
    own
}

/// What is wrong with links and bindings of a switch with so many hosts for CXL.mem; `own` is what its ports offer.
pub(super) fn check(own: Offer, hosts: usize, bindings: &[VppbBinding], ports: &[SitePort]) -> Vec<ConfigFinding> {
    let Some(shared) = ports.iter().find(|port| carries_mem(port)) else { return Vec::new() };
    let alone = ports.iter().find(|port| !carries_mem(port)).map(|port| {
        let [path, other] = [&port.path, &shared.path];
        let text = format!(
            "found CXL.io alone on the link at {path}, and CXL.mem beside it at {other}, expected cachemem = true on all links of the switch, or on none"
        );
        ("kind", text)
    });
    let ways = (0..hosts).filter_map(|vcs| {
        let found = vppbs(bindings, vcs).len();
        let text = format!(
            "found {found} devices bound to VCS {vcs}, whose links carry CXL.mem, expected 1, 2, 4 or 8: a decoder of its upstream port deals addresses to them (fabric §2.1)"
        );
        (!BRIDGE_WAYS.contains(&(found as u64))).then_some(("bindings", text))
    });
    let short = bindings.iter().filter(|one| one.ld.is_some()).filter_map(|one| {
        let port = ports.get(hosts + one.port)?;
        let is_short = mode::flits(agreed(own, port)?).is_none();
        let text = format!(
            "found a logical device at {}, whose link has 68B flits, expected 256B flits: messages of CXL.mem have no LD-ID in 68B flits",
            port.path
        );
        is_short.then_some(("bindings", text))
    });
    alone.into_iter().chain(ways).chain(short).collect()
}

/// The decoder of a hierarchy: all addresses, dealt to its vPPBs.
fn decoders(targets: Vec<usize>) -> BridgeDecoders {
    let mut decoders = BridgeDecoders::default();
    let all =
        BridgeDecoder { base: 0, size: ADDRESS_END, granularity: GRANULARITIES[0], targets, back_invalidate: false };
    decoders.commit(all).unwrap_or_else(|error| unreachable!("it was checked: {error}"));
    decoders
}

/// The side of a switch that passes CXL.mem on, `own` is what its ports offer.
pub(super) fn module(
    (hardware, preset): (&Hardware, &str),
    own: &FlexPort,
    (mut bindings, commands): ((Bindings, Vec<VppbBinding>), Vec<TimedCommand>),
    hosts: usize,
    site: &Site<'_>,
    hub: &mut Hub,
) -> SwitchModule<HbrSwitching> {
    let offer = Offer { flex_bus: Some(*own), ..Offer::default() };
    let form = |port| mode::message_form(agreed(offer, port).unwrap_or_else(|| unreachable!("it was checked")));
    let forms: Vec<MessageForm> = site.ports.iter().map(form).collect();
    for binding in &bindings.1 {
        bindings.0.bind(*binding).unwrap_or_else(|error| unreachable!("it was checked: {error}"));
    }
    let routes = HbrRoutes {
        bindings: bindings.0,
        stopped: OrderedSet::new(),
        decoders: (0..hosts).map(|vcs| decoders(vppbs(&bindings.1, vcs))).collect(),
        bridges: OrderedMap::new(),
        caches: OrderedMap::new(),
        forms: forms.clone(),
        uncommitted: OrderedSet::new(),
        poison_on_decode_error: hardware.poison_on_decode_error,
    };
    let shown = routes.shown_form();
    let config = hardware.config(preset, site, SwitchTraffic::Mem);
    let signals = &SWITCH_SIGNALS[..SwitchTraffic::Mem.count()];
    let switching = HbrSwitching::new(routes, commands, cycles(site.clock, DRAIN_LIMIT_FS));
    SwitchModule::new(format!("{}.mem", site.path), switching, (config, signals), (shown, forms), site, hub)
}

/// What it has counted, and what was wrong.
pub(super) fn figures(place: &str, result: &SwitchResult) -> ComponentMeasured {
    let mut counts = switched(result).to_vec();
    let not_bound = result.undelivered.get(&Undelivered::NotBound).copied().unwrap_or(0);
    // Without a command every vPPB has its port.
    counts.extend((not_bound > 0).then_some((&NOT_BOUND, not_bound)));
    measured(place, result, counts, Vec::new())
}
