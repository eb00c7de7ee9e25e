//! Identifiers of CXL.cache and CXL.io at edges, by the table of all classes (`fabric` §3.4).

use scalepool::fabric::cxl_switch::pbr::{CompletionRoutes, EdgeDrop, EdgeIds, PbrPid, TlpSource};
use scalepool_protocols::cxl::cxlio::flit_mode::Pth;
use scalepool_protocols::cxl::message::{
    D2hData, D2hReq, D2hRsp, Data, H2dData, H2dReq, H2dRsp, M2sReq, Message, PeerRoute, S2mNdr,
};
use scalepool_protocols::wire::Wire;

const HOST: u16 = 0x101;
/// PIDs of a caching device at a port of its own, and of two below a switch, with their CacheIDs there.
const DEVICE: u16 = 0x202;
const BELOW: [(u8, u16); 2] = [(3, 0x303), (9, 0x404)];
/// PID of the port towards that switch.
const PORT: u16 = 0x505;

fn pid(number: u16) -> PbrPid {
    PbrPid::new(number).expect("it is none that is reserved")
}

fn caches(list: &[(u8, u16)]) -> Vec<(u8, PbrPid)> {
    list.iter().map(|(id, of)| (*id, pid(*of))).collect()
}

/// The edge of the host, which gives CacheID 1 to the device and others to those below the switch; that of the device; that of the switch.
fn edges() -> [EdgeIds; 3] {
    [
        EdgeIds::Usp { own: pid(HOST), caches: caches(&[(1, DEVICE), (5, BELOW[0].1), (6, BELOW[1].1)]) },
        EdgeIds::Sld { own: pid(DEVICE), root: pid(HOST) },
        EdgeIds::Switch { own: pid(PORT), root: pid(HOST), caches: caches(&BELOW), buses: vec![(7, pid(0x606))] },
    ]
}

/// Identifiers of a message in the fabric and behind the far edge.
fn over(message: Message, [near, far]: [&EdgeIds; 2]) -> Result<[PeerRoute; 2], EdgeDrop> {
    let between = near.to_pbr(&message, None)?;
    let behind = far.to_hbr(&between)?;
    assert_eq!((between.identifier(), behind.identifier()), (message.identifier(), message.identifier()), "FAB-EDG-09");
    Ok([between.route(), behind.route()])
}

const NONE: PeerRoute = PeerRoute { cache_id: 0, ld_id: 0, bi_id: 0, spid: 0, dpid: 0 };

#[test]
fn fab_edg_12_p() {
    let [usp, sld, switch] = edges();
    // The CacheID below is that of the switch alone; the one at the host comes from the SPID.
    for (cache_id, edge, spid, at_host) in
        [(0, &sld, DEVICE, 1), (7, &sld, DEVICE, 1), (3, &switch, BELOW[0].1, 5), (9, &switch, BELOW[1].1, 6)]
    {
        let request = Message::D2hReq(D2hReq { cqid: 0xabc, cache_id, ..D2hReq::default() });
        let expected = [PeerRoute { spid, dpid: HOST, ..NONE }, PeerRoute { cache_id: at_host, ..NONE }];
        assert_eq!(over(request, [edge, &usp]), Ok(expected));
    }
}

/// A CacheID that the switch has not, an SPID that the host has not; by the port of the switch as SPID nobody would be found.
#[test]
fn fab_edg_12_n() {
    let [usp, _, switch] = edges();
    let request = |cache_id| Message::D2hReq(D2hReq { cache_id, ..D2hReq::default() });
    assert_eq!(over(request(4), [&switch, &usp]), Err(EdgeDrop::Unknown { name: "CacheID", found: 4 }));
    for spid in [PORT, HOST, 0] {
        let sent = request(0).on_route(PeerRoute { spid, dpid: HOST, ..NONE });
        assert_eq!(usp.to_hbr(&sent), Err(EdgeDrop::Unknown { name: "SPID", found: spid }));
    }
    // A link of logical devices has no CXL.cache.
    let mld = EdgeIds::Mld { own: pid(DEVICE), hosts: vec![(0, pid(HOST))] };
    assert_eq!(mld.to_pbr(&request(0), None), Err(EdgeDrop::Class { class: "D2H Req" }));
}

#[test]
fn fab_edg_13_p() {
    let [usp, sld, switch] = edges();
    for (cache_id, edge, dpid, below) in
        [(1, &sld, DEVICE, 0), (5, &switch, BELOW[0].1, BELOW[0].0), (6, &switch, BELOW[1].1, BELOW[1].0)]
    {
        let snoop = Message::H2dReq(H2dReq { uqid: 0x7ff, cache_id, ..H2dReq::default() });
        let expected = [PeerRoute { spid: HOST, dpid, ..NONE }, PeerRoute { cache_id: below, ..NONE }];
        assert_eq!(over(snoop, [&usp, edge]), Ok(expected));
    }
}

/// The CacheIDs of one edge mean nothing at another one.
#[test]
fn fab_edg_13_n() {
    let [usp, _, switch] = edges();
    let snoop = |cache_id| Message::H2dReq(H2dReq { cache_id, ..H2dReq::default() });
    for (cache_id, _) in BELOW {
        assert_eq!(
            usp.to_pbr(&snoop(cache_id), None),
            Err(EdgeDrop::Unknown { name: "CacheID", found: cache_id.into() })
        );
    }
    // By SPID the switch would find no cache either.
    let swapped = snoop(0).on_route(PeerRoute { spid: BELOW[0].1, dpid: HOST, ..NONE });
    assert_eq!(switch.to_hbr(&swapped), Err(EdgeDrop::Unknown { name: "DPID", found: HOST }));
    assert_eq!(usp.to_hbr(&snoop(1)), Err(EdgeDrop::Class { class: "H2D Req" }), "snoops do not go up");
}

#[test]
fn fab_edg_14_p() {
    let [usp, sld, switch] = edges();
    for (cache_id, edge, dpid, below) in [(1, &sld, DEVICE, 0), (6, &switch, BELOW[1].1, BELOW[1].0)] {
        let answers = [
            Message::H2dRsp(H2dRsp { cqid: 0xfff, cache_id, ..H2dRsp::default() }),
            Message::H2dData(H2dData { cqid: 0xfff, cache_id, ..H2dData::default() }, Data::line([3; 64])),
        ];
        for answer in answers {
            // There is no SPID in these messages.
            let expected = [PeerRoute { dpid, ..NONE }, PeerRoute { cache_id: below, ..NONE }];
            assert_eq!(over(answer, [&usp, edge]), Ok(expected));
        }
    }
}

#[test]
fn fab_edg_14_n() {
    let [usp, _, switch] = edges();
    let answer = Message::H2dRsp(H2dRsp { cache_id: 2, ..H2dRsp::default() });
    assert_eq!(usp.to_pbr(&answer, None), Err(EdgeDrop::Unknown { name: "CacheID", found: 2 }));
    let astray = answer.on_route(PeerRoute { dpid: DEVICE, ..NONE });
    assert_eq!(switch.to_hbr(&astray), Err(EdgeDrop::Unknown { name: "DPID", found: DEVICE }));
}

#[test]
fn fab_edg_15_p() {
    let [usp, sld, switch] = edges();
    for edge in [&sld, &switch] {
        let answers = [
            Message::D2hRsp(D2hRsp { uqid: 0x801, ..D2hRsp::default() }),
            Message::D2hData(D2hData { uqid: 0x801, ..D2hData::default() }, Data::line([4; 64])),
        ];
        for answer in answers {
            assert_eq!(over(answer, [edge, &usp]), Ok([PeerRoute { dpid: HOST, ..NONE }, NONE]));
        }
    }
}

/// Answers of devices do not come out of the fabric at another device, and none come from a host.
#[test]
fn fab_edg_15_n() {
    let [usp, sld, switch] = edges();
    let answer = Message::D2hRsp(D2hRsp::default());
    let refused = Err(EdgeDrop::Class { class: "D2H Rsp" });
    assert_eq!([sld.to_hbr(&answer), switch.to_hbr(&answer), usp.to_pbr(&answer, None)], [refused, refused, refused]);
}

/// The bytes of the sheet's example, and those of the other stream.
#[test]
fn fab_edg_21_p() {
    let bits = |edge: &EdgeIds, decoded, hie| {
        edge.tlp_header(2, decoded, hie).map(|header| header.to_bits().expect("it fits"))
    };
    let sld = EdgeIds::Sld { own: pid(0x123), root: pid(0x456) };
    assert_eq!(bits(&sld, None, false), Ok(0xc012_3456));
    let usp = EdgeIds::Usp { own: pid(0x456), caches: Vec::new() };
    assert_eq!(bits(&usp, Some(pid(0x123)), true), Ok(0xc645_6123), "DSAR and Hie");
    let mld = EdgeIds::Mld { own: pid(0x123), hosts: vec![(2, pid(0x789))] };
    assert_eq!(bits(&mld, None, true), Ok(0xc412_3789));
    assert_eq!(bits(&edges()[2], None, false), Ok(0xc050_5101));
}

#[test]
fn fab_edg_21_n() {
    let mld = EdgeIds::Mld { own: pid(0x123), hosts: vec![(2, pid(0x789))] };
    assert_eq!(mld.tlp_header(3, None, false), Err(EdgeDrop::Unknown { name: "LD-ID", found: 3 }));
    assert_eq!(EdgeIds::Gfd.tlp_header(0, None, false), Err(EdgeDrop::Class { class: "CXL.io" }));
    assert!(edges()[0].tlp_header(0, None, false).is_err(), "a host does not say where to");
}

/// What of CXL.mem is not in `edges.rs`: a request without a DPID, and messages of a device with port based routing.
#[test]
fn the_table_has_cxl_mem_too() {
    let request = Message::M2sReq(M2sReq { tag: 9, ..M2sReq::default() });
    assert!(matches!(edges()[0].to_pbr(&request, None), Err(EdgeDrop::Unknown { .. })));
    let routed = edges()[0].to_pbr(&request, Some(pid(DEVICE))).expect("it has a DPID");
    assert_eq!(
        (routed.route(), EdgeIds::Gfd.to_hbr(&routed)),
        (PeerRoute { spid: HOST, dpid: DEVICE, ..NONE }, Ok(routed))
    );
    let answer = Message::S2mNdr(S2mNdr { tag: 9, ld_id: 4, ..S2mNdr::default() });
    let mld = EdgeIds::Mld { own: pid(DEVICE), hosts: vec![(4, pid(HOST))] };
    assert_eq!(over(answer, [&mld, &edges()[0]]), Ok([PeerRoute { dpid: HOST, ..NONE }, NONE]));
}

/// Two hierarchies with the same buses in segments of their own.
#[test]
fn fab_edg_07_p() {
    let mut routes = CompletionRoutes::default();
    for (segment, bus, of) in [(0, 5, HOST), (1, 5, DEVICE), (1, 6, HOST)] {
        routes.set(segment, bus, pid(of));
    }
    let dpid = |segment, bus| routes.dpid(segment, bus).map(PbrPid::number);
    assert_eq!([dpid(0, 5), dpid(1, 5), dpid(1, 6)], [Ok(HOST), Ok(DEVICE), Ok(HOST)]);
}

#[test]
fn fab_edg_07_n() {
    let mut routes = CompletionRoutes::default();
    routes.set(0, 5, pid(HOST));
    for (segment, bus) in [(0, 6), (1, 5), (5, 0)] {
        let found = u16::from(segment) << 8 | u16::from(bus);
        assert_eq!(routes.dpid(segment, bus), Err(EdgeDrop::Unknown { name: "segment and bus", found }));
    }
}

/// Headers of the edges, and those of the three sources that are no edge.
#[test]
fn fab_isl_02_p() {
    let sets = [false, false, true, true, true];
    for (source, dsar) in TlpSource::ALL.into_iter().zip(sets) {
        assert_eq!((source.dsar(), source.judge(&Pth { dsar, ..Pth::default() })), (dsar, None), "{source:?}");
    }
    let [usp, sld, switch] = edges();
    let header = |edge: &EdgeIds, decoded| edge.tlp_header(0, decoded, false).expect("it has a way");
    assert_eq!(TlpSource::EdgeUsp.judge(&header(&usp, Some(pid(DEVICE)))), None);
    for edge in [&sld, &switch] {
        assert_eq!(TlpSource::EdgeDsp.judge(&header(edge, None)), None);
    }
}

#[test]
fn fab_isl_02_n() {
    for source in TlpSource::ALL {
        let wrong = Pth { dsar: !source.dsar(), ..Pth::default() };
        assert_eq!(source.judge(&wrong).map(|violation| violation.rule), Some("FAB-ISL-02"), "{source:?}");
    }
}
