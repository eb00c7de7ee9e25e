//! Routes of a switch, message by message (`fabric` §1.6).

use scalepool::coherence::content::{CacheLine, LineAddr};
use scalepool::coherence::mem::hdm_h_host::{HdmHHost, Refusal};
use scalepool::coherence::message::from_link;
use scalepool::fabric::cxl_switch::{
    BindingError, Bindings, DspMode, DspModes, HbrRoute, HbrRoutes, SecondRcd, Undelivered, VppbBinding,
};
use scalepool::memory::bridge::{BridgeDecoder, BridgeDecoders};
use scalepool::ordered::{OrderedMap, OrderedSet};
use scalepool_oracle::hdm;
use scalepool_protocols::cxl::cxl256::code::{DrsOpcode, M2sReqOpcode, M2sRwdOpcode, NdrOpcode};
use scalepool_protocols::cxl::message::{
    Data, H2dReq, M2sBirsp, M2sReq, M2sRwd, Message, MessageForm, PeerRoute, S2mDrs, S2mNdr,
};

pub const GIB: u64 = 1 << 30;

pub fn binding(vcs: usize, vppb: usize, port: usize, ld: Option<u8>) -> VppbBinding {
    VppbBinding { vcs, vppb, port, ld }
}

/// Hierarchies whose vPPB n has the n-th GiB of addresses.
pub fn routes(hosts: usize, ports: usize, bound: &[VppbBinding]) -> HbrRoutes {
    let mut bindings = Bindings::new(hosts, 20, ports);
    bound.iter().for_each(|one| bindings.bind(*one).expect("it is free"));
    let mut decoders = BridgeDecoders::default();
    for n in 0..20 {
        let decoder = BridgeDecoder {
            back_invalidate: false,
            base: n as u64 * GIB,
            size: GIB,
            granularity: 256,
            targets: vec![n],
        };
        decoders.commit(decoder).expect("it is legal");
    }
    HbrRoutes {
        bindings,
        stopped: OrderedSet::new(),
        decoders: vec![decoders; hosts],
        bridges: OrderedMap::new(),
        caches: OrderedMap::new(),
        forms: vec![MessageForm::Hbr; hosts + ports],
        uncommitted: OrderedSet::new(),
        poison_on_decode_error: false,
    }
}

fn read(address: u64, tag: u16) -> Message {
    Message::M2sReq(M2sReq { opcode: M2sReqOpcode::MemRd, address, tag, ..M2sReq::default() })
}

fn write(address: u64, tag: u16) -> Message {
    Message::M2sRwd(M2sRwd { opcode: M2sRwdOpcode::MemWr, address, tag, ..M2sRwd::default() }, Data::line([1; 64]))
}

/// What the device answers to a request.
fn answer(request: &Message) -> Message {
    let ld_id = request.route().ld_id;
    match request {
        Message::M2sReq(header) => {
            Message::S2mDrs(S2mDrs { tag: header.tag, ld_id, ..S2mDrs::default() }, Data::line([2; 64]))
        }
        Message::M2sRwd(header, _) => Message::S2mNdr(S2mNdr { tag: header.tag, ld_id, ..S2mNdr::default() }),
        other => panic!("{other:?}"),
    }
}

fn ld_of(message: &Message) -> u8 {
    message.route().ld_id
}

/// Port and message of a route that leads somewhere.
pub fn led(route: HbrRoute) -> (usize, Message) {
    match route {
        HbrRoute::Port(port, message, _) => (port, message),
        other => panic!("{other:?}"),
    }
}

/// In several hierarchies each is as it is alone.
#[test]
fn fab_vcs_01_p() {
    let of = |hosts: usize| -> Vec<VppbBinding> { (0..hosts).map(|n| binding(n, 3, n, None)).collect() };
    for hosts in [1, 2, 4] {
        let all = routes(hosts, hosts, &of(hosts));
        for vcs in 0..hosts {
            let alone = routes(1, 1, &of(1)).route(0, &read(3 * GIB, 7));
            assert_eq!(led(all.route(vcs, &read(3 * GIB, 7))).1, led(alone).1);
            assert_eq!(led(all.route(vcs, &read(3 * GIB, 7))).0, hosts + vcs);
        }
    }
}

/// A shared port serves 16 hierarchies.
#[test]
fn fab_vcs_02_p() {
    let bound: Vec<_> = (0..16).map(|n| binding(n, 0, 0, Some(n as u8))).collect();
    assert_eq!(routes(16, 1, &bound).bindings.list().count(), 16);
}

#[test]
fn fab_vcs_02_n() {
    let mut bindings = Bindings::new(17, 1, 2);
    (0..16).for_each(|n| bindings.bind(binding(n, 0, 0, Some(n as u8))).expect("it is free"));
    let whole = BindingError::PortInUse { port: 0, ld: Some(0), vcs: 0, vppb: 0 };
    assert_eq!(bindings.bind(binding(16, 0, 0, None)), Err(whole));
    assert_eq!(bindings.bind(binding(16, 0, 0, Some(16))), Err(BindingError::Ld { found: 16 }));
    let mut single = Bindings::new(2, 1, 1);
    single.bind(binding(0, 0, 0, None)).expect("it is free");
    let second = BindingError::PortInUse { port: 0, ld: None, vcs: 0, vppb: 0 };
    assert_eq!(single.bind(binding(1, 0, 0, None)), Err(second));
}

/// Every hierarchy reaches its own ports alone, whatever the address.
#[test]
fn fab_vcs_03_p() {
    let bound: Vec<_> = (0..4).flat_map(|vcs| (0..3).map(move |n| binding(vcs, n, 3 * vcs + n, None))).collect();
    let all = routes(4, 12, &bound);
    for vcs in 0..4 {
        let reached = |n: u64| match all.route(vcs, &read(n * GIB / 2, 0)) {
            HbrRoute::Port(port, ..) => Some((port - 4) / 3),
            _ => None,
        };
        let reached: OrderedSet<_> = (0..44).filter_map(reached).collect();
        assert_eq!(reached, OrderedSet::from([vcs]));
    }
}

/// An address of another hierarchy is answered as one that nothing decodes.
#[test]
fn fab_vcs_03_n() {
    let mut all = routes(2, 2, &[binding(0, 0, 0, None), binding(1, 1, 1, None)]);
    let mut own = BridgeDecoders::default();
    own.commit(BridgeDecoder { back_invalidate: false, base: 0, size: GIB, granularity: 256, targets: vec![0] })
        .expect("it is legal");
    all.decoders[0] = own;
    assert_eq!(led(all.route(1, &read(GIB, 0))).0, 3);
    assert!(matches!(all.route(0, &read(GIB, 0)), HbrRoute::Answered(Undelivered::NotDecoded, Some(_))));
}

#[test]
fn fab_bnd_07_p() {
    let mut all = Bindings::new(2, 2, 2);
    all.bind(binding(0, 0, 0, Some(3))).expect("it is free");
    let before = all.clone();
    assert!(all.bind(binding(1, 0, 0, Some(3))).is_err() && all.unbind(1, 1).is_err());
    assert_eq!(all, before);
}

/// Everything that the rule lists is refused; one that moved the state would be seen by the comparison above.
#[test]
fn fab_bnd_07_n() {
    let mut all = Bindings::new(2, 2, 2);
    all.bind(binding(0, 0, 0, Some(3))).expect("it is free");
    let refused = [
        (binding(0, 0, 1, None), BindingError::VppbInUse { vcs: 0, vppb: 0, port: 0 }),
        (binding(2, 0, 1, None), BindingError::Vcs { found: 2, last: 1 }),
        (binding(0, 2, 1, None), BindingError::Vppb { found: 2, last: 1 }),
        (binding(0, 1, 2, None), BindingError::Port { found: 2, last: 1 }),
        (binding(0, 1, 0, Some(3)), BindingError::PortInUse { port: 0, ld: Some(3), vcs: 0, vppb: 0 }),
    ];
    for (one, error) in refused {
        assert_eq!(all.bind(one), Err(error));
    }
    assert_eq!(all.unbind(1, 1), Err(BindingError::NotBound { vcs: 1, vppb: 1 }));
}

#[test]
fn fab_mld_01_p() {
    let mut all = Bindings::new(1, 20, 1);
    (0..16).for_each(|ld| all.bind(binding(0, usize::from(ld), 0, Some(ld))).expect("there are 16"));
}

#[test]
fn fab_mld_01_n() {
    let mut all = Bindings::new(1, 20, 1);
    for ld in [16, 255] {
        assert_eq!(all.bind(binding(0, 0, 0, Some(ld))), Err(BindingError::Ld { found: ld }));
    }
}

/// 16 hosts with 16 logical devices of one device, all with the same tags.
#[test]
fn fab_mld_02_p() {
    let ld = |vcs: usize| (vcs * 7 % 16) as u8;
    let bound: Vec<_> = (0..16).map(|vcs| binding(vcs, 2, 0, Some(ld(vcs)))).collect();
    let all = routes(16, 1, &bound);
    for tag in 0..20 {
        for vcs in 0..16 {
            for request in [read(2 * GIB + 0x40, tag), write(2 * GIB + 0x40, tag)] {
                let (port, down) = led(all.route(vcs, &request));
                assert_eq!((port, ld_of(&down)), (16, ld(vcs)));
                let (port, up) = led(all.route(16, &answer(&down)));
                assert_eq!((port, ld_of(&up)), (vcs, 0));
                assert_eq!(up.identifier(), request.identifier(), "tags pass as they are");
            }
        }
    }
}

/// One that took the answer for that of another logical device would bring it to another host: it goes by the LD-ID alone.
#[test]
fn fab_mld_02_n() {
    let all = routes(2, 1, &[binding(0, 0, 0, Some(0)), binding(1, 0, 0, Some(1))]);
    let (_, down) = led(all.route(0, &read(0, 9)));
    let wrong = answer(&down).on_route(PeerRoute { ld_id: 1, ..PeerRoute::default() });
    let (port, message) = led(all.route(2, &wrong));
    assert_eq!(port, 1);
    // The host there has no such request, and says so.
    let mut host: HdmHHost<()> = HdmHHost::new();
    assert_eq!(host.answer(0, from_link(&message)), Err(Refusal::NoRequest { tag: 9 }));
}

#[test]
fn fab_mld_05_p() {
    let all = routes(1, 2, &[binding(0, 0, 0, Some(5)), binding(0, 1, 1, None)]);
    for (port, ld_id) in [(1, 5), (2, 0)] {
        let message = answer(&read(0, 0)).on_route(PeerRoute { ld_id, ..PeerRoute::default() });
        assert_eq!(led(all.route(port, &message)).0, 0);
    }
}

#[test]
fn fab_mld_05_n() {
    let all = routes(1, 2, &[binding(0, 0, 0, Some(5)), binding(0, 1, 1, None)]);
    for (port, ld_id) in [(1, 0), (1, 4), (2, 5)] {
        let message = answer(&read(0, 0)).on_route(PeerRoute { ld_id, ..PeerRoute::default() });
        assert_eq!(all.route(port, &message), HbrRoute::Dropped(Undelivered::UnknownLd), "LD-ID {ld_id} at {port}");
    }
}

/// Two vPPBs in turn.
fn in_turn(targets: Vec<usize>) -> HbrRoutes {
    let mut all = routes(1, 2, &[binding(0, 0, 1, None), binding(0, 1, 0, None)]);
    let mut decoders = BridgeDecoders::default();
    decoders
        .commit(BridgeDecoder { back_invalidate: false, base: GIB, size: GIB, granularity: 512, targets })
        .expect("it is legal");
    all.decoders[0] = decoders;
    all
}

/// Places at which a route leads elsewhere than decoder, target list and binding of the sheet.
fn astray(all: &HbrRoutes) -> usize {
    let wrong = |n: &u64| {
        let address = GIB + n * 64;
        let vppb = hdm::bridge_way(address, 2, 1);
        led(all.route(0, &read(address, 0))).0 != 1 + [1, 0][vppb as usize]
    };
    (0..256).filter(wrong).count()
}

#[test]
fn fab_cmr_01_p() {
    assert_eq!(astray(&in_turn(vec![0, 1])), 0);
}

/// A target list the other way round leads to the other port.
#[test]
fn fab_cmr_01_n() {
    assert_eq!(astray(&in_turn(vec![1, 0])), 256);
}

fn pair() -> HbrRoutes {
    routes(2, 2, &[binding(0, 0, 0, None), binding(1, 0, 1, None)])
}

#[test]
fn fab_cmr_02_p() {
    for vcs in 0..2 {
        let (port, down) = led(pair().route(vcs, &read(0, 1)));
        assert_eq!(led(pair().route(port, &answer(&down))).0, vcs);
    }
}

/// A switch that went by a table of tags would bring both answers to the host that asked last.
#[test]
fn fab_cmr_02_n() {
    let mut by_tag = scalepool::ordered::OrderedMap::new();
    let down: Vec<_> = (0..2)
        .map(|vcs| {
            let sent = led(pair().route(vcs, &read(0, 1)));
            by_tag.insert(sent.1.identifier(), vcs);
            sent
        })
        .collect();
    let wrong: Vec<bool> = down
        .iter()
        .map(|(port, message)| {
            let answer = answer(message);
            led(pair().route(*port, &answer)).0 != by_tag[&answer.identifier()]
        })
        .collect();
    assert_eq!(wrong, [true, false]);
}

/// What the switch answers where nothing decodes.
fn unmapped(form: MessageForm, poison: bool, request: &Message) -> Option<Message> {
    let mut all = routes(1, 1, &[binding(0, 0, 0, None)]);
    all.forms[0] = form;
    all.poison_on_decode_error = poison;
    match all.route(0, request) {
        HbrRoute::Answered(Undelivered::NotDecoded, answer) => answer,
        other => panic!("{other:?}"),
    }
}

const HOLE: u64 = 100 * GIB;

#[test]
fn fab_cmr_04_p() {
    for (form, opcode) in [(MessageForm::Cxl68, DrsOpcode::MemData), (MessageForm::Hbr, DrsOpcode::MemDataNXM)] {
        for poison in [false, true] {
            let Some(Message::S2mDrs(drs, data)) = unmapped(form, poison, &read(HOLE, 5)) else { panic!("{form:?}") };
            assert_eq!((drs.opcode, drs.poison, drs.tag, data.line), (opcode, poison, 5, [0xff; 64]));
            let Some(Message::S2mNdr(ndr)) = unmapped(form, poison, &write(HOLE, 6)) else { panic!("{form:?}") };
            assert_eq!((ndr.opcode, ndr.tag), (NdrOpcode::Cmp, 6));
        }
    }
    let hint = M2sReq { opcode: M2sReqOpcode::MemSpecRd, address: HOLE, ..M2sReq::default() };
    assert_eq!(unmapped(MessageForm::Hbr, false, &Message::M2sReq(hint)), None, "it has no answer");
}

/// Two answers, the other class, and none: the host says so, or waits for ever.
#[test]
fn fab_cmr_04_n() {
    let mut host: HdmHHost<()> = HdmHHost::new();
    let (tag, request) = host.read::<CacheLine>(0, LineAddr::of_address(HOLE), ()).expect("a free tag");
    let request = request.to_link(PeerRoute::default());
    let completion = Message::S2mNdr(S2mNdr { opcode: NdrOpcode::Cmp, tag, ..S2mNdr::default() });
    assert_eq!(host.answer(0, from_link(&completion)).err(), Some(Refusal::NoRequest { tag }));
    assert_eq!(host.open_count(), 1);
    let answer = unmapped(MessageForm::Hbr, false, &request).expect("it has one");
    let (_, data) = host.answer(0, from_link(&answer)).expect("its answer");
    assert_ne!(data.map(|line: CacheLine| line.bytes), Some([0; 64]), "zeros are memory that is there");
    assert_eq!(host.answer(0, from_link(&answer)).err(), Some(Refusal::NoRequest { tag }));
}

#[test]
fn fab_cmr_05_p() {
    let all = routes(1, 1, &[binding(0, 0, 0, None)]);
    for request in [read(GIB, 3), write(GIB, 3)] {
        let HbrRoute::Answered(Undelivered::NotBound, answer) = all.route(0, &request) else { panic!("{request:?}") };
        let hole = if matches!(request, Message::M2sReq(_)) { read(HOLE, 3) } else { write(HOLE, 3) };
        assert_eq!(answer, unmapped(MessageForm::Hbr, false, &hole));
    }
    let mut stopped = all;
    stopped.stopped.insert((0, 0));
    assert!(matches!(stopped.route(0, &read(0, 1)), HbrRoute::Answered(Undelivered::NotBound, Some(_))));
}

/// A request that vanished would stay open at its host, which the end of a run names.
#[test]
fn fab_cmr_05_n() {
    let mut host: HdmHHost<()> = HdmHHost::new();
    let (tag, _) = host.read::<CacheLine>(0, LineAddr::of_address(GIB), ()).expect("a free tag");
    assert_eq!(host.open().map(|(tag, _)| tag).collect::<Vec<_>>(), [tag]);
    assert!(host.give_up(tag).is_some() && host.open_count() == 0);
}

#[test]
fn fab_err_04_p() {
    let all = pair();
    for request in [read(0, 0), write(0, 0)] {
        let (port, down) = led(all.route(0, &request));
        assert_eq!(led(all.route(port, &answer(&down))).0, 0);
    }
}

/// Snoops and their answers, and messages that come from the wrong side.
#[test]
fn fab_err_04_n() {
    let snoop = Message::H2dReq(H2dReq::default());
    let birsp = Message::M2sBirsp(M2sBirsp::default());
    let drs = Message::S2mDrs(S2mDrs::default(), Data::line([0; 64]));
    for (port, message) in [(0, snoop), (1, birsp), (0, drs), (2, read(0, 0)), (3, write(0, 0))] {
        assert_eq!(pair().route(port, &message), HbrRoute::Dropped(Undelivered::Class), "{message:?}");
    }
}

/// Two hierarchies with two ports each, of which one is in another mode; one in PCIe mode has no message either way.
#[test]
fn fab_vcs_06_p() {
    let bound: Vec<_> = (0..4).map(|n| binding(n / 2, n % 2, n, None)).collect();
    let all = routes(2, 4, &bound);
    for mode in [DspMode::Cxl, DspMode::Rcd, DspMode::Pcie] {
        let mut modes = DspModes::default();
        modes.set(1, mode);
        // One of CXL 1.1 in the other hierarchy is no second one.
        modes.set(2, DspMode::Rcd);
        assert_eq!(modes.check(&bound), Ok(()), "{mode:?}");
        for (vcs, vppb) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            for request in [read(vppb as u64 * GIB, 3), write(vppb as u64 * GIB, 3)] {
                let routed = modes.route(&all, vcs, &request);
                if mode == DspMode::Pcie && (vcs, vppb) == (0, 1) {
                    assert_eq!(routed, HbrRoute::Dropped(Undelivered::Class), "FAB-ERR-04");
                    continue;
                }
                let (port, down) = led(routed);
                assert_eq!((port, led(all.route(vcs, &request)).1), (2 + 2 * vcs + vppb, down));
                assert_eq!(led(modes.route(&all, port, &answer(&down))).0, vcs);
            }
        }
    }
}

/// A second device of CXL 1.1 in a hierarchy; what a port in PCIe mode sends, which a switch that looked at bindings alone would pass.
#[test]
fn fab_vcs_06_n() {
    let bound: Vec<_> = (0..4).map(|n| binding(n / 2, n % 2, n, None)).collect();
    let mut modes = DspModes::default();
    (1..4).for_each(|port| modes.set(port, DspMode::Rcd));
    let second = SecondRcd { vcs: 1, ports: [2, 3] };
    assert_eq!(modes.check(&bound), Err(second));
    assert!(second.to_string().contains("dsp[2] and dsp[3] in VCS 1, expected at most one"), "{second}");
    let all = routes(2, 4, &bound);
    modes.set(3, DspMode::Pcie);
    assert_eq!(modes.check(&bound), Ok(()));
    let unasked = answer(&read(GIB, 3));
    assert!(matches!(all.route(5, &unasked), HbrRoute::Port(1, ..)));
    assert_eq!(modes.route(&all, 5, &unasked), HbrRoute::Dropped(Undelivered::Class));
    assert!(matches!(all.route(1, &read(GIB, 3)), HbrRoute::Port(5, ..)));
    assert_eq!(modes.route(&all, 1, &read(GIB, 3)), HbrRoute::Dropped(Undelivered::Class), "FAB-ERR-04");
}
