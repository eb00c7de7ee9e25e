//! CXL.cache through a switch by CacheID, message by message (`fabric` §1.7).

use super::routes::{GIB, binding, led, routes};
use scalepool::coherence::cache::route::{Below, CacheRoutes, Flits, Hdm, Hierarchy};
use scalepool::coherence::config::CoherenceConfig;
use scalepool::fabric::cxl_switch::{CachingDevices, HbrRoute, HbrRoutes, HbrSwitching, Switching, Undelivered};
use scalepool_protocols::cxl::message::{
    D2hData, D2hReq, D2hRsp, Data, H2dData, H2dReq, H2dRsp, M2sRwd, Message, PeerRoute, S2mDrs,
};

const DISCARDED: HbrRoute = HbrRoute::Dropped(Undelivered::CacheId);

fn below(cache_id: Option<u8>, forward: bool) -> Below {
    Below { hdm: Hdm::None, link: Flits::B256, cache_id, forward }
}

/// One hierarchy with these devices: device n at vPPB n + 1, behind the last port but n.
fn caching(devices: &[Below]) -> HbrRoutes {
    let count = devices.len();
    let bound: Vec<_> = (0..count).map(|n| binding(0, n + 1, count - 1 - n, None)).collect();
    let mut all = routes(1, count, &bound);
    let hierarchy = Hierarchy { devices: devices.to_vec(), upper: Flits::B256, cache_ids: true };
    let routes = CacheRoutes::new(&hierarchy).expect("it may run");
    let vppbs = (1..=count).collect();
    all.caches.insert(0, CachingDevices { routes, vppbs, config: CoherenceConfig::default() });
    all
}

/// Port of device n.
fn port(all: &HbrRoutes, device: usize) -> usize {
    all.forms.len() - 1 - device
}

fn with_id(message: Message, cache_id: u8) -> Message {
    message.on_route(PeerRoute { cache_id, ..PeerRoute::default() })
}

fn down() -> [Message; 3] {
    let data = Data::line([7; 64]);
    [Message::H2dReq(H2dReq::default()), Message::H2dRsp(H2dRsp::default()), Message::H2dData(H2dData::default(), data)]
}

fn request() -> Message {
    Message::D2hReq(D2hReq { cqid: 9, ..D2hReq::default() })
}

/// Without several CacheIDs there is one caching device, and everything of the host goes there.
#[test]
fn fab_cid_01_p() {
    let mut all = caching(&[below(Some(0), false)]);
    let narrow = Hierarchy { devices: vec![below(Some(0), false)], upper: Flits::B68, cache_ids: false };
    if let Some(caches) = all.caches.get_mut(&0) {
        caches.routes = CacheRoutes::new(&narrow).expect("one device needs no CacheID");
    }
    for message in down() {
        assert_eq!(led(all.route(0, &message)), (1, message));
    }
    assert_eq!(led(all.route(1, &request())), (0, request()));
}

#[test]
fn fab_cid_01_n() {
    let two = vec![below(Some(0), false), below(Some(1), false)];
    let without = Hierarchy { devices: two, upper: Flits::B256, cache_ids: false };
    let refused = CacheRoutes::new(&without).expect_err("a second caching device").to_string();
    assert!(refused.contains("2 caching devices behind a link without CacheID, expected one"), "{refused}");
}

/// The rows of the table: what a port does with a request of its device, and with what the host sends.
#[test]
fn fab_cid_02_p() {
    let mut all = caching(&[below(Some(4), false), below(None, true), below(None, false)]);
    let routes = &mut all.caches.get_mut(&0).expect("it has caching devices").routes;
    routes.set_entry(6, Some(1));
    routes.set_entry(7, Some(2));
    let up = |device: usize, id| all.route(port(&all, device), &with_id(request(), id));
    assert_eq!(led(up(0, 0)), (0, with_id(request(), 4)), "the port assigns its own");
    assert_eq!(led(up(1, 6)), (0, with_id(request(), 6)), "the port forwards that of a switch below");
    assert_eq!(up(2, 0), DISCARDED);
    for message in down() {
        assert_eq!(led(all.route(0, &with_id(message, 4))), (port(&all, 0), with_id(message, 4)));
        assert_eq!(led(all.route(0, &with_id(message, 6))), (port(&all, 1), with_id(message, 6)));
        assert_eq!(all.route(0, &with_id(message, 7)), DISCARDED);
    }
    // A link with 68B flits has no CacheID.
    let all = caching(&[Below { link: Flits::B68, ..below(Some(3), false) }]);
    assert_eq!(led(all.route(0, &with_id(down()[1], 3))).1, down()[1]);
    assert_eq!(led(all.route(1, &request())).1, with_id(request(), 3));
}

/// Both bits are an illegal setting that discards both ways, and a foreign CacheID stops at the port.
#[test]
fn fab_cid_02_n() {
    let mut all = caching(&[below(Some(2), true), below(Some(5), false)]);
    all.caches.get_mut(&0).expect("it has caching devices").routes.set_entry(1, Some(1));
    assert_eq!(all.route(port(&all, 0), &request()), DISCARDED);
    for message in down() {
        assert_eq!(all.route(0, &with_id(message, 2)), DISCARDED);
        assert_eq!(all.route(0, &with_id(message, 1)), DISCARDED, "CacheID 1 at the port of CacheID 5");
    }
}

/// 16 devices, each found by its CacheID; answers to snoops, and data, always go up.
#[test]
fn fab_cid_03_p() {
    let devices: Vec<_> = (0..16).map(|n| below(Some(15 - n), false)).collect();
    let all = caching(&devices);
    for device in 0..16 {
        let id = 15 - device as u8;
        for message in down() {
            assert_eq!(led(all.route(0, &with_id(message, id))).0, port(&all, device));
        }
        let data = Data::line([1; 64]);
        for message in [Message::D2hRsp(D2hRsp::default()), Message::D2hData(D2hData::default(), data)] {
            assert_eq!(led(all.route(port(&all, device), &message)), (0, message));
        }
    }
}

/// Without an entry nothing comes back; who waits is named by the watchdog of the table.
#[test]
fn fab_cid_03_n() {
    let mut all = caching(&[below(Some(0), false), below(Some(1), false)]);
    let routes = &mut all.caches.get_mut(&0).expect("it has caching devices").routes;
    routes.set_entry(1, None);
    let named = routes.watchdog(&[(1, 1)], 3);
    assert_eq!((named.len(), named[0].at.as_str()), (1, "device 1"));
    let mut switching = HbrSwitching::new(all, Vec::new(), 0);
    for message in down() {
        let message = with_id(message, 1);
        let routed = switching.route(0, &message);
        assert_eq!(routed, scalepool::fabric::cxl_switch::Routed::Dropped(Undelivered::CacheId));
        assert_eq!(switching.judge(0, &message, &routed), None, "it is counted");
    }
}

/// Poisoned data of every class, with the port at which it comes in.
fn poisoned(all: &HbrRoutes) -> Vec<(usize, Message)> {
    let data = || Data::line([5; 64]);
    let below = port(all, 0);
    vec![
        (0, with_id(Message::H2dData(H2dData { poison: true, ..H2dData::default() }, data()), 0)),
        (below, Message::D2hData(D2hData { poison: true, ..D2hData::default() }, data())),
        (0, Message::M2sRwd(M2sRwd { poison: true, address: GIB, ..M2sRwd::default() }, data())),
        (below, Message::S2mDrs(S2mDrs { poison: true, ..S2mDrs::default() }, data())),
    ]
}

fn is_poisoned(message: &Message) -> bool {
    match message {
        Message::H2dData(m, _) => m.poison,
        Message::D2hData(m, _) => m.poison,
        Message::M2sRwd(m, _) => m.poison,
        Message::S2mDrs(m, _) => m.poison,
        other => panic!("{other:?}"),
    }
}

/// Poison is passed on with its data, and never answered by the switch.
#[test]
fn fab_err_03_p() {
    let all = caching(&[below(Some(0), false)]);
    for (from, message) in poisoned(&all) {
        let (_, passed) = led(all.route(from, &message));
        assert!(is_poisoned(&passed) && passed.data() == message.data(), "{message:?}");
    }
}

/// Good data stays good: poison that a switch made up, or lost, would differ from what came in.
#[test]
fn fab_err_03_n() {
    let all = caching(&[below(Some(0), false)]);
    let good = Message::S2mDrs(S2mDrs::default(), Data::line([5; 64]));
    let (_, passed) = led(all.route(port(&all, 0), &good));
    assert!(!is_poisoned(&passed));
    for (from, message) in poisoned(&all) {
        let (_, passed) = led(all.route(from, &message));
        let Message::S2mDrs(header, data) = passed else { continue };
        let lost = Message::S2mDrs(S2mDrs { poison: false, ..header }, data);
        assert_ne!((lost, is_poisoned(&lost)), (message, is_poisoned(&message)));
    }
}

/// CXL.cache on a link whose device has not negotiated it: of a multi-logical device, or of a memory.
#[test]
fn fab_mld_06_n() {
    let all = routes(1, 1, &[binding(0, 0, 0, Some(0))]);
    assert_eq!(all.route(1, &request()), HbrRoute::Dropped(Undelivered::Class));
    for message in down() {
        assert_eq!(all.route(0, &message), HbrRoute::Dropped(Undelivered::Class));
    }
    let text = super::sharing::MIXED.replace("vcs = 3, vppb = 9, port = 2", "vcs = 3, vppb = 9, port = 2, ld = 0");
    let found = super::systems::refused(&text);
    assert!(found.contains("the device there has no logical devices (fabric BND-7)"), "{found}");
}
