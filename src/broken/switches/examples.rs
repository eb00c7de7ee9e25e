//! The switches of the cases.
//!
//! | name | ports |
//! | --- | --- |
//! | `tree` | hosts 0 and 1; `dsp[0]`, a device with logical devices 0 of host 0 and 1 of host 1; `dsp[1]` of host 0 and `dsp[2]` of host 1, a device each; decoder n of a host has the n-th GiB and leads to vPPB n, that of logical devices being vPPB 0, that of the other device vPPB 1, and vPPB 2 is not bound |
//! | `caches` | host 0 with two caching devices, CacheID 2 at `dsp[0]` and 5 at `dsp[1]`; host 1 without any |
//! | `cache` | host 0 with a caching device at `dsp[0]` and another device at `dsp[1]`, without CacheIDs |
//! | `edge` | PIDs: hosts 100h and 101h; devices 200h of host 100h at `dsp[0]`, 205h of host 101h, which is logical device 5 at `dsp[1]`; inter-switch links to 300h by `isl[0]`, to 301h by either, of which `isl[1]` is lost for `lost` |
//! | `segments` | the same, whose hosts have segment tables in front of their decoders, which lead to 300h |
//! | `cache_edge` | PIDs: host 100h with the caching devices 400h at `dsp[0]` and 401h behind `isl[0]`; 402h at `dsp[1]`, whose host 101h is behind `isl[0]` |

use super::CaseError;
use scalepool_coherence::cache::route::{Below, CacheRoutes, Flits, Hdm, Hierarchy};
use scalepool_coherence::config::CoherenceConfig;
use scalepool_fabric::cxl_switch::pbr::drt::{DrtEntry, Drts};
use scalepool_fabric::cxl_switch::pbr::pid::PbrPid;
use scalepool_fabric::cxl_switch::pbr::rgt::Rgt;
use scalepool_fabric::cxl_switch::pbr::route::{
    PbrClaim, PbrDevicePort, PbrHostPort, PbrOwner, PbrPort, PbrRoutes, PbrSharedPort,
};
use scalepool_fabric::cxl_switch::pbr::segments::SegmentTable;
use scalepool_fabric::cxl_switch::pbr::viral::PbrViral;
use scalepool_fabric::cxl_switch::{Bindings, CachingDevices, HbrRoutes, PassageRoutes, VppbBinding, VppbBridge};
use scalepool_fabric::spread::{SpreadGroup, SpreadPolicy, SpreadPort};
use scalepool_memory::bridge::{BridgeDecoder, BridgeDecoders};
use scalepool_ordered::{OrderedMap, OrderedSet};
use scalepool_protocols::cxl::message::MessageForm;

const GIB: u64 = 1 << 30;

/// First bus below a vPPB: vPPB n has this one and n more.
const BUS: u8 = 10;

/// Hosts of a fabric.
const HOSTS: [u16; 2] = [0x100, 0x101];
/// Bindings at the edge ports here, the second of logical device 5.
const BOUND: [u16; 2] = [0x200, 0x205];
/// Edge ports towards devices.
const EDGES: [u16; 2] = [0x500, 0x501];
/// Devices behind inter-switch links.
const FAR: [u16; 2] = [0x300, 0x301];
/// Caching devices.
const CACHES: [u16; 3] = [0x400, 0x401, 0x402];
/// A device with port based routing.
const SHARED: u16 = 0x600;
const LD: u8 = 5;

/// The switch of a name.
pub(super) fn of_name(name: &str) -> Result<PassageRoutes, CaseError> {
    match name {
        "tree" => tree().map(by_hierarchies),
        "caches" => caching(&[Some(2), Some(5)], Flits::B256).map(by_hierarchies),
        "cache" => caching(&[Some(0)], Flits::B68).map(by_hierarchies),
        "edge" => edge().map(by_ports),
        "lost" => edge().map(|edge| by_ports(PbrRoutes { lost: OrderedSet::from([ISLS[0]]), ..edge })),
        "segments" => segments().map(by_ports),
        "cache_edge" => cache_edge().map(by_ports),
        _ => Err(CaseError::of(format!(
            "found the switch `{name}`, expected tree, caches, cache, edge, lost, segments or cache_edge"
        ))),
    }
}

fn by_hierarchies(routes: HbrRoutes) -> PassageRoutes {
    PassageRoutes::Hierarchies(Box::new(routes))
}

fn by_ports(routes: PbrRoutes) -> PassageRoutes {
    PassageRoutes::Ports(Box::new(routes))
}

/// Decoders that lead to one target each.
fn decoders(count: usize, first: u64) -> Result<BridgeDecoders, CaseError> {
    let mut all = BridgeDecoders::default();
    for n in 0..count {
        let base = first + n as u64 * GIB;
        let decoder = BridgeDecoder { base, size: GIB, granularity: 256, targets: vec![n], back_invalidate: true };
        all.commit(decoder).map_err(CaseError::of)?;
    }
    Ok(all)
}

fn hierarchies(bound: &[VppbBinding], ports: usize) -> Result<HbrRoutes, CaseError> {
    let mut bindings = Bindings::new(HOSTS.len(), 3, ports);
    bound.iter().try_for_each(|one| bindings.bind(*one)).map_err(CaseError::of)?;
    Ok(HbrRoutes {
        bindings,
        stopped: OrderedSet::new(),
        decoders: vec![decoders(3, 0)?; HOSTS.len()],
        bridges: OrderedMap::new(),
        caches: OrderedMap::new(),
        forms: vec![MessageForm::Hbr; HOSTS.len() + ports],
        uncommitted: OrderedSet::new(),
        poison_on_decode_error: false,
    })
}

fn tree() -> Result<HbrRoutes, CaseError> {
    let bound = [
        VppbBinding { vcs: 0, vppb: 0, port: 0, ld: Some(0) },
        VppbBinding { vcs: 0, vppb: 1, port: 1, ld: None },
        VppbBinding { vcs: 1, vppb: 0, port: 0, ld: Some(1) },
        VppbBinding { vcs: 1, vppb: 1, port: 2, ld: None },
    ];
    let bridge = |one: &VppbBinding| ((one.vcs, one.vppb), VppbBridge::above_device(BUS + one.vppb as u8));
    Ok(HbrRoutes { bridges: bound.iter().map(bridge).collect(), ..hierarchies(&bound, 3)? })
}

fn caching(ids: &[Option<u8>], upper: Flits) -> Result<HbrRoutes, CaseError> {
    let bound = [0, 1].map(|n| VppbBinding { vcs: 0, vppb: n, port: n, ld: None });
    let mut all = hierarchies(&bound, 3)?;
    let below = |id: &Option<u8>| Below { hdm: Hdm::None, link: Flits::B256, cache_id: *id, forward: false };
    let cache_ids = upper == Flits::B256;
    let hierarchy = Hierarchy { devices: ids.iter().map(below).collect(), upper, cache_ids };
    let routes = CacheRoutes::new(&hierarchy).map_err(CaseError::of)?;
    let caches = CachingDevices { routes, vppbs: (0..ids.len()).collect(), config: CoherenceConfig::default() };
    all.caches.insert(0, caches);
    Ok(all)
}

fn pid(number: u16) -> Result<PbrPid, CaseError> {
    PbrPid::new(number).map_err(CaseError::of)
}

fn host(number: u16, bindings: &[u16], has_cache: bool) -> Result<PbrPort, CaseError> {
    Ok(PbrPort::Host(PbrHostPort {
        pid: pid(number)?,
        form: MessageForm::Hbr,
        segments: Vec::new(),
        decoders: decoders(bindings.len(), 0)?,
        bindings: bindings.iter().map(|number| pid(*number)).collect::<Result<_, _>>()?,
        has_cache,
        has_snoops: !has_cache,
    }))
}

fn device(edge: u16, ld: u8, [host, own]: [u16; 2], has_cache: bool) -> Result<PbrPort, CaseError> {
    let owners = OrderedMap::from([(ld, PbrOwner { host: pid(host)?, own: pid(own)? })]);
    Ok(PbrPort::Device(PbrDevicePort { pid: pid(edge)?, owners, bus: None, has_snoops: !has_cache, has_cache }))
}

/// The inter-switch links of `edge` behind its hosts, devices and the device with port based routing.
const ISLS: [usize; 2] = [5, 6];

fn routes(ports: Vec<PbrPort>, tables: Drts, has_cache: bool) -> PbrRoutes {
    PbrRoutes {
        ports,
        tables,
        claims: OrderedMap::new(),
        poison_on_decode_error: false,
        has_snoops: !has_cache,
        has_cache,
        seed: 1,
        lost: OrderedSet::new(),
        is_cut: false,
        viral: PbrViral::default(),
        changes: Vec::new(),
    }
}

fn edge() -> Result<PbrRoutes, CaseError> {
    let bindings = [BOUND[0], FAR[0], FAR[1], 0x3ff];
    let shared = PbrSharedPort { pid: pid(SHARED)?, hosts: OrderedSet::from([pid(HOSTS[0])?]), is_gfd: true };
    let ports = vec![
        host(HOSTS[0], &bindings, false)?,
        host(HOSTS[1], &[BOUND[1]], false)?,
        device(EDGES[0], 0, [HOSTS[0], BOUND[0]], false)?,
        device(EDGES[1], LD, [HOSTS[1], BOUND[1]], false)?,
        PbrPort::Shared(shared),
        PbrPort::Fabric,
        PbrPort::Fabric,
    ];
    let either = ISLS.map(|port| SpreadPort { port, links: 1 });
    let group = SpreadGroup { primary: either.to_vec(), secondary: Vec::new(), policy: SpreadPolicy::Random, mix: 7 };
    let groups = Rgt::new(vec![group]).map_err(CaseError::of)?;
    let mut tables = Drts::new(1, ports.len(), groups);
    let entries = [
        (HOSTS[0], DrtEntry::Port(0)),
        (HOSTS[1], DrtEntry::Port(1)),
        (BOUND[0], DrtEntry::Port(2)),
        (BOUND[1], DrtEntry::Port(3)),
        (SHARED, DrtEntry::Port(4)),
        (FAR[0], DrtEntry::Port(ISLS[0] as u8)),
        (FAR[1], DrtEntry::Group(0)),
    ];
    for (dpid, entry) in entries {
        tables.table(0).map_err(CaseError::of)?.set(dpid.into(), &[entry]).map_err(CaseError::of)?;
    }
    let mut all = routes(ports, tables, false);
    for (n, ld_id) in [(0, 0), (1, LD)] {
        let claim = PbrClaim { port: 2 + n, ld_id, decoders: decoders(1, 0)? };
        all.claims.insert((HOSTS[n], BOUND[n]), claim);
    }
    Ok(all)
}

fn segments() -> Result<PbrRoutes, CaseError> {
    let mut all = edge()?;
    if let Some(PbrPort::Host(host)) = all.ports.first_mut() {
        host.segments = vec![SegmentTable::of_all(pid(FAR[0])?)];
    }
    Ok(all)
}

fn cache_edge() -> Result<PbrRoutes, CaseError> {
    let ports = vec![
        host(HOSTS[0], &CACHES[..2], true)?,
        device(EDGES[0], 0, [HOSTS[0], CACHES[0]], true)?,
        device(EDGES[1], 0, [HOSTS[1], CACHES[2]], true)?,
        PbrPort::Fabric,
    ];
    let mut tables = Drts::new(1, ports.len(), Rgt::default());
    for (dpid, port) in [(HOSTS[0], 0), (CACHES[0], 1), (CACHES[2], 2), (CACHES[1], 3), (HOSTS[1], 3)] {
        tables.table(0).map_err(CaseError::of)?.set(dpid.into(), &[DrtEntry::Port(port)]).map_err(CaseError::of)?;
    }
    Ok(routes(ports, tables, true))
}
