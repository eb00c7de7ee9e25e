//! Identifiers at edges: messages of every class before and behind an edge port of each kind, both ways (`fabric` §3.4).
//!
//! Modelled: every identifier that the tables of an edge have, and some that they have not, which drop the message; TLPs of CXL.io
//! by their header for the fabric. Left out: what decoders say, which is given as the DPID of a request.

use super::{FabricVectors, SEED, pid};
use scalepool_fabric::cxl_switch::pbr::{EdgeIds, PbrPid};
use scalepool_kernel::Rng;
use scalepool_protocols::cxl::message::{
    Class, D2hData, D2hReq, D2hRsp, Data, H2dData, H2dReq, H2dRsp, M2sBirsp, M2sReq, M2sRwd, Message, PeerRoute,
    S2mBisnp, S2mDrs, S2mNdr,
};
use scalepool_protocols::wire::Wire;
use serde_json::{Value, json};

/// Edge ports of each kind.
const EDGES: usize = 3;
/// Identifiers of each table, and how many numbers of an LD-ID or a CacheID there are.
const KNOWN: usize = 5;
const IDS: u64 = 16;

pub(super) fn vectors() -> FabricVectors {
    let mut rng = Rng::for_name(SEED, "edge_ids");
    let edges: Vec<EdgePort> = (0..EDGES).flat_map(|_| edges(&mut rng)).collect();
    FabricVectors {
        name: "edge_ids",
        about: "edge ports between hierarchy and port based routing: identifiers of messages before and behind them",
        cases: edges.iter().map(|edge| case(edge, &mut rng)).collect(),
    }
}

/// An edge port, with its tables by name.
struct EdgePort {
    kind: &'static str,
    ids: EdgeIds,
    own: PbrPid,
    root: Option<PbrPid>,
    caches: Vec<(u8, PbrPid)>,
    hosts: Vec<(u8, PbrPid)>,
    buses: Vec<(u8, PbrPid)>,
}

/// One of each kind. No PID stands for two things.
fn edges(rng: &mut Rng) -> Vec<EdgePort> {
    let mut free: Vec<u16> = (1..0xfff).collect();
    let mut next = |rng: &mut Rng| pid(free.swap_remove(rng.below(free.len() as u64) as usize));
    let (own, root) = (next(rng), next(rng));
    let mut table = |rng: &mut Rng, of: u64| {
        let mut ids: Vec<u8> = (0..of).map(|id| id as u8).collect();
        let mut drawn: Vec<(u8, PbrPid)> =
            (0..KNOWN).map(|_| (ids.swap_remove(rng.below(ids.len() as u64) as usize), next(rng))).collect();
        drawn.sort_by_key(|(id, _)| *id);
        drawn
    };
    let (caches, hosts, buses) = (table(rng, IDS), table(rng, IDS), table(rng, 256));
    let edge =
        |kind, ids| EdgePort { kind, ids, own, root: None, caches: Vec::new(), hosts: Vec::new(), buses: Vec::new() };
    vec![
        EdgePort { caches: caches.clone(), ..edge("usp", EdgeIds::Usp { own, caches: caches.clone() }) },
        EdgePort { root: Some(root), ..edge("sld", EdgeIds::Sld { own, root }) },
        EdgePort { hosts: hosts.clone(), ..edge("mld", EdgeIds::Mld { own, hosts }) },
        EdgePort {
            root: Some(root),
            caches: caches.clone(),
            buses: buses.clone(),
            ..edge("switch", EdgeIds::Switch { own, root, caches, buses })
        },
        edge("gfd", EdgeIds::Gfd),
    ]
}

/// A message of a class with a tag.
fn message(class: Class, tag: u16) -> Message {
    let line = Data::line([0; 64]);
    match class {
        Class::H2dReq => Message::H2dReq(H2dReq { uqid: tag, ..H2dReq::default() }),
        Class::H2dRsp => Message::H2dRsp(H2dRsp { cqid: tag, ..H2dRsp::default() }),
        Class::H2dData => Message::H2dData(H2dData { cqid: tag, ..H2dData::default() }, line),
        Class::D2hReq => Message::D2hReq(D2hReq { cqid: tag, ..D2hReq::default() }),
        Class::D2hRsp => Message::D2hRsp(D2hRsp { uqid: tag, ..D2hRsp::default() }),
        Class::D2hData => Message::D2hData(D2hData { uqid: tag, ..D2hData::default() }, line),
        Class::M2sReq => Message::M2sReq(M2sReq { tag, ..M2sReq::default() }),
        Class::M2sRwd => Message::M2sRwd(M2sRwd { tag, ..M2sRwd::default() }, line),
        Class::M2sBirsp => Message::M2sBirsp(M2sBirsp { bi_tag: tag, ..M2sBirsp::default() }),
        Class::S2mBisnp => Message::S2mBisnp(S2mBisnp { bi_tag: tag, ..S2mBisnp::default() }),
        Class::S2mNdr => Message::S2mNdr(S2mNdr { tag, ..S2mNdr::default() }),
        Class::S2mDrs => Message::S2mDrs(S2mDrs { tag, ..S2mDrs::default() }, line),
    }
}

/// Identifiers of a message, those that its class has none of as 0.
fn ids(message: &Message) -> Value {
    let PeerRoute { cache_id, ld_id, bi_id, spid, dpid } = message.route();
    let (_, tag) = message.identifier();
    json!({ "cache_id": cache_id, "ld_id": ld_id, "bi_id": bi_id, "spid": spid, "dpid": dpid, "tag": tag })
}

/// What comes before an edge: every identifier of its tables, and one more that is in none.
fn case(edge: &EdgePort, rng: &mut Rng) -> Value {
    let unknown = || pid(0xffe);
    let known = |table: &[(u8, PbrPid)]| table.iter().map(|(id, pid)| (*id, *pid)).collect::<Vec<_>>();
    let mut conversions = Vec::new();
    for class in Class::ALL {
        let mut rows: Vec<(u8, PbrPid)> =
            [&edge.caches, &edge.hosts, &edge.buses].into_iter().flat_map(|t| known(t)).collect();
        // At most ten of the sixteen are in a table.
        let is_free = |id: &u8| rows.iter().all(|(known, _)| known != id);
        let free = (0..IDS as u8).find(is_free).unwrap_or_default();
        rows.push((free, unknown()));
        for (id, pid_of) in rows {
            let tag = rng.below(1 << 12) as u16;
            // On a link of the edge: a host has BI-IDs that are PIDs.
            let bi_id = if edge.kind == "usp" { pid_of.number() } else { id.into() };
            let (cache_id, ld_id) = (id % IDS as u8, id % IDS as u8);
            let route = match edge.ids {
                EdgeIds::Gfd => PeerRoute { spid: pid_of.number(), dpid: 1, ..PeerRoute::default() },
                _ => PeerRoute { cache_id, ld_id, bi_id, ..PeerRoute::default() },
            };
            let before = message(class, tag).on_route(route);
            let decoded = (rng.below(8) > 0).then(|| pid(rng.below(0xfff) as u16));
            conversions.push(json!({
                "class": class.name(), "towards": "pbr", "decoded": decoded.map(PbrPid::number), "before": ids(&before),
                "after": edge.ids.to_pbr(&before, decoded).ok().map(|after| ids(&after)),
            }));
            // In the fabric, the PID that a table has once as source and once as destination.
            let other = rng.below(0xfff) as u16;
            for (spid, dpid) in [(pid_of.number(), other), (other, pid_of.number())] {
                let before = message(class, tag).on_route(PeerRoute { spid, dpid, ..PeerRoute::default() });
                conversions.push(json!({
                    "class": class.name(), "towards": "hbr", "decoded": null, "before": ids(&before),
                    "after": edge.ids.to_hbr(&before).ok().map(|after| ids(&after)),
                }));
            }
        }
    }
    let tlps = (0..IDS as u16).flat_map(|ld_id| [false, true].map(|is_hierarchical| (ld_id, is_hierarchical)));
    let tlps = tlps.map(|(ld_id, is_hierarchical)| {
        let decoded = pid(rng.below(0xfff) as u16);
        let header = edge.ids.tlp_header(ld_id, Some(decoded), is_hierarchical).ok();
        let bytes = header.and_then(|header| header.to_bits().ok()).map(|bits| bits as u32);
        let pth = bytes.map(|bits| format!("{bits:08x}"));
        json!({ "ld_id": ld_id, "decoded": decoded.number(), "hierarchical": is_hierarchical, "pth": pth })
    });
    let table = |of: &[(u8, PbrPid)]| of.iter().map(|(id, pid)| json!([id, pid.number()])).collect::<Vec<_>>();
    json!({
        "edge": edge.kind, "own": edge.own.number(), "root": edge.root.map(PbrPid::number),
        "caches": table(&edge.caches), "hosts": table(&edge.hosts), "buses": table(&edge.buses),
        "tlps": tlps.collect::<Vec<_>>(), "conversions": conversions,
    })
}
