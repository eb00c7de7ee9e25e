//! Back-invalidate snoops and their answers through a switch, message by message (`fabric` §1.7).

use super::routes::{GIB, binding, led, routes};
use scalepool::fabric::cxl_switch::{
    BiDecoder, ContainmentCause, HbrRoute, HbrRoutes, HbrSwitching, ManagerCommand, Routed, Switching, TimedCommand,
    Undelivered, VppbBinding, VppbBridge,
};
use scalepool::memory::bridge::{BridgeDecoder, BridgeDecoders};
use scalepool_protocols::cxl::message::{M2sBirsp, Message, S2mBisnp};

const LINE: u64 = 3 * GIB + 0x40;

fn snoop(address: u64, bi_id: u16) -> Message {
    Message::S2mBisnp(S2mBisnp { address, bi_id, bi_tag: 0x21, ..S2mBisnp::default() })
}

fn answer(bi_id: u16) -> Message {
    Message::M2sBirsp(M2sBirsp { bi_id, bi_tag: 0x21, ..M2sBirsp::default() })
}

fn bi_id(message: &Message) -> u16 {
    match message {
        Message::S2mBisnp(m) => m.bi_id,
        Message::M2sBirsp(m) => m.bi_id,
        other => panic!("{other:?}"),
    }
}

/// Port and BI-ID of a message that is passed on; `None`: a bridge discards it.
fn passed(route: HbrRoute) -> Option<(usize, u16)> {
    match route {
        HbrRoute::Dropped(Undelivered::BackInvalidate) => None,
        route => {
            let (port, message) = led(route);
            Some((port, bi_id(&message)))
        }
    }
}

/// Hierarchies whose vPPB n has the n-th GiB of addresses, with snoops, and bus 10 + n.
fn snooping(hosts: usize, ports: usize, bound: &[VppbBinding], bi: BiDecoder) -> HbrRoutes {
    let mut all = routes(hosts, ports, bound);
    let mut decoders = BridgeDecoders::default();
    for n in 0..20 {
        let base = n as u64 * GIB;
        let decoder = BridgeDecoder { base, size: GIB, granularity: 256, targets: vec![n], back_invalidate: true };
        decoders.commit(decoder).expect("it is legal");
    }
    all.decoders = vec![decoders; hosts];
    let bridge = |one: &VppbBinding| {
        let bus = 10 + one.vppb as u8;
        ((one.vcs, one.vppb), VppbBridge { bi, ..VppbBridge::above_device(bus) })
    };
    all.bridges = bound.iter().map(bridge).collect();
    all
}

const ENABLE: BiDecoder = BiDecoder { enable: true, forward: false };
const FORWARD: BiDecoder = BiDecoder { enable: false, forward: true };

/// All rows of the table, up and down, behind a port with one device and behind one of a multi-logical device.
#[test]
fn fab_bir_01_p() {
    let rows = [
        (BiDecoder { enable: false, forward: false }, None, None),
        (FORWARD, Some(5), Some(13)),
        (ENABLE, Some(13), Some(13)),
        (BiDecoder { enable: true, forward: true }, None, None),
    ];
    for (bi, up, down) in rows {
        let all = snooping(2, 2, &[binding(0, 3, 0, None), binding(1, 3, 1, None)], bi);
        for vcs in 0..2 {
            let found = passed(all.route(2 + vcs, &snoop(LINE, 5)));
            assert_eq!(found, up.map(|id| (vcs, id)), "{bi:?}");
            assert_eq!(passed(all.route(vcs, &answer(13))), down.map(|id| (2 + vcs, id)), "{bi:?}");
        }
    }
    // 16 hosts of one device: above the switch the bus of the device, below it the LD-ID.
    let ld = |vcs: usize| (vcs * 7 % 16) as u8;
    let bound: Vec<_> = (0..16).map(|vcs| binding(vcs, 3, 0, Some(ld(vcs)))).collect();
    let all = snooping(16, 1, &bound, ENABLE);
    for vcs in 0..16 {
        let own = u16::from(ld(vcs));
        assert_eq!(passed(all.route(16, &snoop(LINE, own))), Some((vcs, 13)));
        assert_eq!(passed(all.route(vcs, &answer(13))), Some((16, own)));
    }
    // Nothing else of a message changes.
    let (_, message) = led(all.route(16, &snoop(LINE, 0)));
    assert_eq!(message, snoop(LINE, 13));
}

/// A snoop whose address leads elsewhere, or to nothing that may be snooped, and an answer to a bus that is not the device's.
#[test]
fn fab_bir_01_n() {
    let all = snooping(1, 2, &[binding(0, 3, 0, None), binding(0, 4, 1, None)], ENABLE);
    assert_eq!(passed(all.route(1, &snoop(LINE, 0))), Some((0, 13)));
    for address in [LINE + GIB, LINE + 100 * GIB] {
        assert_eq!(passed(all.route(1, &snoop(address, 0))), None, "{address:#x} is not behind this port");
    }
    let mut silent = all.clone();
    let mut decoders = BridgeDecoders::default();
    let decoder =
        BridgeDecoder { base: 3 * GIB, size: GIB, granularity: 256, targets: vec![3], back_invalidate: false };
    decoders.commit(decoder).expect("it is legal");
    silent.decoders = vec![decoders];
    assert_eq!(passed(silent.route(1, &snoop(LINE, 0))), None, "the decoder has no BI bit");
    // A range of buses below a bridge: with a device there only the secondary bus is its.
    let mut range = all;
    range.bridges.entry((0, 3)).and_modify(|bridge| (bridge.secondary, bridge.subordinate) = (20, 25));
    assert_eq!([20, 21, 25].map(|bus| passed(range.route(0, &answer(bus)))), [Some((1, 20)), None, None]);
    range.bridges.entry((0, 3)).and_modify(|bridge| bridge.bi = FORWARD);
    assert_eq!([20, 21, 25].map(|bus| passed(range.route(0, &answer(bus)))), [20, 21, 25].map(|bus| Some((1, bus))));
    // An LD-ID that is not bound, and one that is none.
    let shared = snooping(1, 1, &[binding(0, 3, 0, Some(2))], ENABLE);
    for id in [1, 16, 0x102] {
        assert_eq!(shared.route(1, &snoop(LINE, id)), HbrRoute::Dropped(Undelivered::UnknownLd), "BI-ID {id}");
    }
}

/// The bridge whose range holds the bus gets the answer, whatever the numbers are now.
#[test]
fn fab_bir_02_p() {
    let bound: Vec<_> = (0..6).map(|n| binding(0, n, 5 - n, None)).collect();
    let mut all = snooping(1, 6, &bound, ENABLE);
    for bus in [10, 40, 200] {
        for n in 0..6_u8 {
            let own = VppbBridge::above_device(bus + 3 * n);
            all.bridges.insert((0, n.into()), own);
        }
        for n in 0..6_u16 {
            let bus = u16::from(bus) + 3 * n;
            assert_eq!(passed(all.route(0, &answer(bus))), Some((1 + 5 - usize::from(n), bus)));
            let up = snoop(u64::from(n) * GIB, 0);
            assert_eq!(passed(all.route(1 + 5 - usize::from(n), &up)), Some((0, bus)));
        }
    }
}

/// An answer to a bus that no bridge has, or had before it was numbered again, is dropped and reported.
#[test]
fn fab_bir_02_n() {
    let mut all = snooping(1, 2, &[binding(0, 3, 0, None), binding(0, 4, 1, None)], ENABLE);
    let lost = |all: &HbrRoutes, bus| {
        let mut switching = HbrSwitching::new(all.clone(), Vec::new(), 0);
        let routed = switching.route(0, &answer(bus));
        (routed, switching.judge(0, &answer(bus), &routed).map(|violation| violation.rule))
    };
    for bus in [0, 12, 15, 0x10d] {
        assert_eq!(lost(&all, bus), (Routed::Dropped(Undelivered::BackInvalidate), Some("FAB-BIR-02")), "bus {bus}");
    }
    assert_eq!(lost(&all, 13).1, None);
    all.bridges.insert((0, 3), VppbBridge::above_device(30));
    assert_eq!(lost(&all, 13).1, Some("FAB-BIR-02"), "the old number");
    assert_eq!(lost(&all, 30).1, None);
}

#[test]
fn fab_bir_03_p() {
    let all = snooping(1, 1, &[binding(0, 3, 0, None)], ENABLE);
    let mut switching = HbrSwitching::new(all, Vec::new(), 0);
    let routed = switching.route(1, &snoop(LINE, 0));
    assert!(matches!(routed, Routed::Port { to: 0, .. }));
    assert_eq!(switching.judge(1, &snoop(LINE, 0), &routed), None);
}

/// A discarded snoop is a mistake of the configuration: the finding names BITag and port. It is not answered.
#[test]
fn fab_bir_03_n() {
    for bi in [BiDecoder::default(), BiDecoder { enable: true, forward: true }] {
        let all = snooping(1, 1, &[binding(0, 3, 0, None)], bi);
        let mut switching = HbrSwitching::new(all, Vec::new(), 0);
        let routed = switching.route(1, &snoop(LINE, 0));
        assert_eq!(routed, Routed::Dropped(Undelivered::BackInvalidate), "and no answer");
        let found = switching.judge(1, &snoop(LINE, 0), &routed).expect("a finding");
        assert_eq!(found.rule, "FAB-BIR-03");
        assert!(found.found.contains("BITag 0x21") && found.found.contains("dsp[0]"), "{}", found.found);
    }
    // Containment of the logical device discards it too.
    let all = snooping(1, 1, &[binding(0, 3, 0, Some(2))], ENABLE);
    let command = ManagerCommand::Contain { vppb: (0, 3), cause: ContainmentCause::Software };
    let mut switching = HbrSwitching::new(all, vec![TimedCommand { at_cycle: 5, command }], 0);
    assert!(matches!(switching.route(1, &snoop(LINE, 2)), Routed::Port { to: 0, .. }));
    assert!(switching.manage(5).is_some(), "it is contained");
    let routed = switching.route(1, &snoop(LINE, 2));
    assert_eq!(routed, Routed::Dropped(Undelivered::Contained));
    let found = switching.judge(1, &snoop(LINE, 2), &routed).expect("a finding");
    assert_eq!((found.rule, found.expected.as_str()), ("FAB-BIR-03", "a vPPB that is not contained"));
}

/// The link of a multi-logical device has snoops and no CXL.cache.
#[test]
fn fab_mld_06_p() {
    let all = snooping(1, 1, &[binding(0, 3, 0, Some(2))], ENABLE);
    assert_eq!(passed(all.route(1, &snoop(LINE, 2))), Some((0, 13)));
}
