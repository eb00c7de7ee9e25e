//! Translation at edges and routes of messages over two switches, message by message (`fabric` §3.4).

use scalepool::fabric::cxl_switch::pbr::drt::Drts;
use scalepool::fabric::cxl_switch::pbr::{
    AccessVector, DrtEntry, PbrClaim, PbrDevicePort, PbrHostPort, PbrOwner, PbrPid, PbrPort, PbrRoutes, PbrSharedPort,
    PbrViral, Rgt, SegmentTable,
};
use scalepool::fabric::cxl_switch::{Routed, Switching, Undelivered};
use scalepool::link::cxl256::cachemem::Cachemem;
use scalepool::link::cxl256::config::CachememConfig;
use scalepool::memory::bridge::{BridgeDecoder, BridgeDecoders};
use scalepool::ordered::{OrderedMap, OrderedSet};
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl256::code::{
    BirspOpcode, BisnpOpcode, DrsOpcode, M2sReqOpcode, M2sRwdOpcode, NdrOpcode,
};
use scalepool_protocols::cxl::cxl256::packer::Cxl256Refused;
use scalepool_protocols::cxl::cxl256::{Class, Mode, Routing};
use scalepool_protocols::cxl::message::{
    D2hReq, Data, H2dReq, M2sBirsp, M2sReq, M2sRwd, Message, MessageForm, S2mBisnp, S2mDrs, S2mNdr,
};

const GIB: u64 = 1 << 30;
/// PIDs of the hosts at `usp[0]` and `usp[1]`, and of the bindings of the device at `dsp[0]` and of LD 5 at `dsp[1]`.
pub(super) const HOSTS: [u16; 2] = [0x101, 0x202];
pub(super) const BOUND: [u16; 2] = [0x303, 0x404];
/// PIDs of `dsp[0]` and `dsp[1]`.
pub(super) const DEVICES: [u16; 2] = [0x505, 0x606];
/// The fabric port of both switches.
const ISL: usize = 2;
const LD: u8 = 5;

fn pid(number: u16) -> PbrPid {
    PbrPid::new(number).expect("it is none that is reserved")
}

fn decoders(list: &[(u64, usize)]) -> BridgeDecoders {
    let mut all = BridgeDecoders::default();
    for &(base, target) in list {
        all.commit(BridgeDecoder { back_invalidate: false, base, size: GIB, granularity: 256, targets: vec![target] })
            .expect("it is legal");
    }
    all
}

fn tables(ports: [usize; 6]) -> Drts {
    let mut tables = Drts::new(1, 3, Rgt::default());
    for (dpid, port) in HOSTS.into_iter().chain(BOUND).chain(DEVICES).zip(ports) {
        let table = tables.table(0).expect("there is one");
        table.set(dpid.into(), &[DrtEntry::Port(port as u8)]).expect("it is legal");
    }
    tables
}

/// Hosts at the first switch, devices at the second. Each host has the GiB at 4 GiB and, of the other device, the one at 8
/// GiB; but host 0 has only the device at `dsp[0]`, host 1 only LD 5 at `dsp[1]`, and nothing claims the rest.
fn switches() -> [PbrRoutes; 2] {
    let host = |n: usize, form| {
        let decoders = decoders(&[(4 * GIB, 0), (8 * GIB, 1)]);
        let bindings = if n == 0 { BOUND.to_vec() } else { vec![BOUND[1], BOUND[0]] };
        PbrPort::Host(PbrHostPort {
            pid: pid(HOSTS[n]),
            form,
            segments: Vec::new(),
            decoders,
            bindings: bindings.into_iter().map(pid).collect(),
            has_cache: false,
            has_snoops: false,
        })
    };
    let device = |ld_id: u8, host: u16| {
        let pid_of = pid(DEVICES[usize::from(ld_id == LD)]);
        let owner = PbrOwner { host: pid(host), own: pid(BOUND[usize::from(ld_id == LD)]) };
        PbrPort::Device(PbrDevicePort {
            pid: pid_of,
            owners: OrderedMap::from([(ld_id, owner)]),
            bus: None,
            has_snoops: false,
            has_cache: false,
        })
    };
    let claim = |port, ld_id| PbrClaim { port, ld_id, decoders: decoders(&[(4 * GIB, 0)]) };
    let front = PbrRoutes {
        ports: vec![host(0, MessageForm::Hbr), host(1, MessageForm::Cxl68), PbrPort::Fabric],
        tables: tables([0, 1, ISL, ISL, ISL, ISL]),
        claims: OrderedMap::new(),
        poison_on_decode_error: false,
        has_snoops: false,
        has_cache: false,
        seed: 1,
        lost: OrderedSet::new(),
        is_cut: false,
        viral: PbrViral::default(),
        changes: Vec::new(),
    };
    let back = PbrRoutes {
        ports: vec![device(0, HOSTS[0]), device(LD, HOSTS[1]), PbrPort::Fabric],
        tables: tables([ISL, ISL, 0, 1, 0, 1]),
        claims: OrderedMap::from([((HOSTS[0], BOUND[0]), claim(0, 0)), ((HOSTS[1], BOUND[1]), claim(1, LD))]),
        poison_on_decode_error: false,
        has_snoops: false,
        has_cache: false,
        seed: 1,
        lost: OrderedSet::new(),
        is_cut: false,
        viral: PbrViral::default(),
        changes: Vec::new(),
    };
    [front, back]
}

/// What becomes of a message that comes to a port: the switch and port where it leaves the fabric, and in which form; what
/// travelled between the switches; or where and why it is undelivered.
type Way = (Option<Message>, Result<(usize, usize, Message), (usize, Undelivered)>);

fn way(switches: &[PbrRoutes; 2], (mut switch, mut port): (usize, usize), message: Message) -> Way {
    let (mut message, mut between) = (message, None);
    // A message passes each of the two switches once.
    for _ in 0..2 {
        (port, message) = match switches[switch].route(port, &message) {
            Routed::Port { to, message, .. } => (to, message),
            Routed::Answered { why, answer: Some((to, message)) } => {
                assert_eq!(why, Undelivered::NotDecoded);
                (to, message)
            }
            Routed::Answered { why, .. } | Routed::Dropped(why) => return (between, Err((switch, why))),
        };
        if port != ISL {
            return (between, Ok((switch, port, message)));
        }
        between = Some(message);
        switch = 1 - switch;
    }
    panic!("it goes back and forth: {message:?}")
}

fn requests(tag: u16, address: u64) -> [(M2sReq, M2sRwd); 1] {
    let req = M2sReq { opcode: M2sReqOpcode::MemRd, tag, address, tc: 2, ..M2sReq::default() };
    [(req, M2sRwd { opcode: M2sRwdOpcode::MemWr, tag, address, poison: true, tc: 1, ..M2sRwd::default() })]
}

/// All fields of a request are written down once more, with PIDs between the switches and the LD-ID at the device.
#[test]
fn fab_edg_17_p() {
    for (host, ld_id) in [(0, 0), (1, LD)] {
        for (req, rwd) in [0, 1, 0x7fff, u16::MAX].into_iter().flat_map(|tag| requests(tag, 4 * GIB + 0x1c0)) {
            let (spid, dpid) = (HOSTS[host], BOUND[host]);
            let (between, left) = way(&switches(), (0, host), Message::M2sReq(req));
            assert_eq!(between, Some(Message::M2sReq(M2sReq { spid, dpid, ..req })));
            assert_eq!(left, Ok((1, host, Message::M2sReq(M2sReq { ld_id, ..req }))));
            let data = Data { line: [7; 64], byte_enables: Some(0xf0), metadata: None };
            let (between, left) = way(&switches(), (0, host), Message::M2sRwd(rwd, data));
            assert_eq!(between, Some(Message::M2sRwd(M2sRwd { spid, dpid, ..rwd }, data)));
            assert_eq!(left, Ok((1, host, Message::M2sRwd(M2sRwd { ld_id, ..rwd }, data))));
        }
    }
}

/// The switches with a segment table of 64 GiB at 1 TiB at each host, which leads to its device.
fn with_segments() -> [PbrRoutes; 2] {
    let mut all = switches();
    for (n, device) in DEVICES.into_iter().enumerate() {
        let mut access = AccessVector::default();
        access.set(pid(device), true);
        let mut table = SegmentTable::new(1 << 40, (1 << 40) + (64 << 30), 0, 1).expect("registers can say it");
        table.set(0, 256, &[pid(device)], &access).expect("it is enabled");
        let PbrPort::Host(host) = &mut all[0].ports[n] else { panic!("a host") };
        host.segments = vec![table];
    }
    all
}

#[test]
fn fab_edg_16_p() {
    for (host, ld_id) in [(0, 0), (1, LD)] {
        let (spid, dpid) = (HOSTS[host], DEVICES[host]);
        for (req, rwd) in [0, 1, u16::MAX].into_iter().flat_map(|tag| requests(tag, (1 << 40) + 0x1c0)) {
            let (between, left) = way(&with_segments(), (0, host), Message::M2sReq(req));
            assert_eq!(between, Some(Message::M2sReq(M2sReq { spid, dpid, ..req })));
            assert_eq!(left, Ok((1, host, Message::M2sReq(M2sReq { ld_id, ..req }))));
            let (between, left) = way(&with_segments(), (0, host), Message::M2sRwd(rwd, Data::line([7; 64])));
            assert_eq!(between, Some(Message::M2sRwd(M2sRwd { spid, dpid, ..rwd }, Data::line([7; 64]))));
            assert_eq!(left, Ok((1, host, Message::M2sRwd(M2sRwd { ld_id, ..rwd }, Data::line([7; 64])))));
        }
        // What no segment has the HDM decoders have.
        let (req, _) = requests(4, 4 * GIB)[0];
        let (between, _) = way(&with_segments(), (0, host), Message::M2sReq(req));
        assert_eq!(between.map(|message| message.route().dpid), Some(BOUND[host]));
    }
}

/// A host that has nothing at the device of the table: dropped, and reported; no LD-ID is guessed.
#[test]
fn fab_edg_16_n() {
    let message = |spid, dpid| Message::M2sReq(M2sReq { spid, dpid, address: 1 << 40, ..M2sReq::default() });
    for (spid, dpid) in [(HOSTS[1], DEVICES[0]), (HOSTS[0], DEVICES[1]), (0, DEVICES[0])] {
        let [_, mut back] = with_segments();
        let message = message(spid, dpid);
        let routed = back.route(ISL, &message);
        assert_eq!(routed, Routed::Dropped(Undelivered::UnknownLd));
        assert_eq!(back.judge(ISL, &message, &routed).map(|one| one.rule), Some("FAB-EDG-08"));
    }
}

/// A request with the PID of another edge port, or with that of another binding, comes to nothing.
#[test]
fn fab_edg_17_n() {
    let (req, _) = requests(3, 4 * GIB)[0];
    for n in 0..2 {
        let mut wrong = switches();
        let PbrPort::Host(host) = &mut wrong[0].ports[n] else { panic!("a host") };
        host.pid = pid(HOSTS[1 - n]);
        assert_eq!(way(&wrong, (0, n), Message::M2sReq(req)).1, Err((1, Undelivered::NotClaimed)));
        let mut wrong = switches();
        let PbrPort::Host(host) = &mut wrong[0].ports[n] else { panic!("a host") };
        host.bindings.reverse();
        assert_eq!(way(&wrong, (0, n), Message::M2sReq(req)).1, Err((1, Undelivered::NotClaimed)));
    }
}

#[test]
fn fab_edg_18_p() {
    for (host, ld_id) in [(0, 0), (1, LD)] {
        for tag in [0, 1, 0x7fff, u16::MAX] {
            let ndr = S2mNdr { opcode: NdrOpcode::CmpE, tag, ld_id, ..S2mNdr::default() };
            let (between, left) = way(&switches(), (1, host), Message::S2mNdr(ndr));
            let dpid = HOSTS[host];
            assert_eq!(between, Some(Message::S2mNdr(S2mNdr { ld_id: 0, dpid, ..ndr })));
            assert_eq!(left, Ok((0, host, Message::S2mNdr(S2mNdr { ld_id: 0, ..ndr }))));
            let drs = S2mDrs { opcode: DrsOpcode::MemDataNXM, tag, ld_id, poison: true, ..S2mDrs::default() };
            let (between, left) = way(&switches(), (1, host), Message::S2mDrs(drs, Data::line([9; 64])));
            assert_eq!(between, Some(Message::S2mDrs(S2mDrs { ld_id: 0, dpid, ..drs }, Data::line([9; 64]))));
            // A 68B link, that of host 1, has no MemDataNXM.
            let opcode = if host == 0 { DrsOpcode::MemDataNXM } else { DrsOpcode::MemData };
            let expected = Message::S2mDrs(S2mDrs { ld_id: 0, opcode, ..drs }, Data::line([9; 64]));
            assert_eq!(left, Ok((0, host, expected)));
        }
    }
}

/// Taken from the port alone, the host of an answer would be that of any logical device there.
#[test]
fn fab_edg_18_n() {
    let mut shared = switches();
    let PbrPort::Device(device) = &mut shared[1].ports[1] else { panic!("a device") };
    device.owners.insert(LD + 1, PbrOwner { host: pid(HOSTS[0]), own: pid(BOUND[0]) });
    let ends: Vec<_> = [LD, LD + 1]
        .map(|ld_id| way(&shared, (1, 1), Message::S2mNdr(S2mNdr { ld_id, tag: 4, ..S2mNdr::default() })).1)
        .map(|end| end.map(|(_, port, _)| port))
        .into();
    assert_eq!(ends, [Ok(1), Ok(0)]);
}

/// Both ends of the virtual link decode: what is in both decoders arrives.
#[test]
fn fab_edg_05_p() {
    for (host, address) in [(0, 4 * GIB), (1, 4 * GIB), (0, 5 * GIB - 64), (1, 5 * GIB - 64)] {
        let (req, _) = requests(9, address)[0];
        // The binding of host 1 to LD 5 is its first.
        let (_, left) = way(&switches(), (0, host), Message::M2sReq(req));
        assert_eq!(left.map(|(switch, port, _)| (switch, port)), Ok((1, host)));
    }
}

/// What the decoder of the host holds and that at the device does not is answered from there, and not delivered.
#[test]
fn fab_edg_05_n() {
    let mut wrong = switches();
    for claim in wrong[1].claims.values_mut() {
        claim.decoders = decoders(&[(6 * GIB, 0)]);
    }
    for (host, host_pid) in HOSTS.into_iter().enumerate() {
        let (req, rwd) = requests(0x77, 4 * GIB)[0];
        // It goes there, and its answer comes back: three passes.
        let Routed::Port { message, .. } = wrong[0].route(host, &Message::M2sReq(req)) else { panic!("it leaves") };
        let Routed::Answered { why: Undelivered::NotDecoded, answer: Some((ISL, answer)) } =
            wrong[1].route(ISL, &message)
        else {
            panic!("it is answered")
        };
        let Message::S2mDrs(drs, data) = answer else { panic!("{answer:?}") };
        assert_eq!((drs.opcode, drs.tag, drs.dpid), (DrsOpcode::MemDataNXM, 0x77, host_pid));
        assert_eq!(data.line, [0xff; 64]);
        let Routed::Port { to, message, .. } = wrong[0].route(ISL, &answer) else { panic!("it arrives") };
        assert_eq!((to, message.route().dpid, message.identifier().1), (host, 0, 0x77));
        let Routed::Port { message, .. } = wrong[0].route(host, &Message::M2sRwd(rwd, Data::line([1; 64]))) else {
            panic!("it leaves")
        };
        let answered = wrong[1].route(ISL, &message);
        let Routed::Answered { answer: Some((ISL, Message::S2mNdr(ndr))), .. } = answered else {
            panic!("{answered:?}")
        };
        assert_eq!((ndr.opcode, ndr.tag, ndr.dpid), (NdrOpcode::Cmp, 0x77, host_pid));
    }
    // No decoder of the host: its own switch answers, and nothing goes on.
    let (req, _) = requests(5, 6 * GIB)[0];
    let (between, left) = way(&switches(), (0, 0), Message::M2sReq(req));
    assert!(between.is_none() && matches!(left, Ok((0, 0, Message::S2mDrs(drs, _))) if drs.tag == 5));
}

#[test]
fn fab_pid_05_p() {
    for n in 0..2 {
        let req = M2sReq { spid: HOSTS[n], dpid: BOUND[n], address: 4 * GIB, ..M2sReq::default() };
        let routed = switches()[1].route(ISL, &Message::M2sReq(req));
        assert!(matches!(routed, Routed::Port { to, .. } if to == n), "{routed:?}");
    }
}

/// One PID differs: dropped, and reported.
#[test]
fn fab_pid_05_n() {
    for (spid, dpid) in [(HOSTS[0], BOUND[1]), (HOSTS[1], BOUND[0]), (0, BOUND[0]), (0xffe, BOUND[1])] {
        let message = Message::M2sReq(M2sReq { spid, dpid, address: 4 * GIB, ..M2sReq::default() });
        let [_, mut back] = switches();
        let routed = back.route(ISL, &message);
        assert_eq!(routed, Routed::Dropped(Undelivered::NotClaimed));
        let violation = back.judge(ISL, &message, &routed).expect("it is reported");
        assert_eq!(violation.rule, "FAB-PID-05");
        assert_eq!(violation.found, format!("M2S Req with SPID {spid:#05x} and DPID {dpid:#05x}"));
    }
}

#[test]
fn fab_drt_02_p() {
    for (from, message) in legal() {
        let (_, left) = way(&switches(), from, message);
        assert!(left.is_ok(), "{message:?}: {left:?}");
    }
}

/// No entry: no answer either, but a report; and so for every class.
#[test]
fn fab_drt_02_n() {
    for (from, message) in legal() {
        let mut cut = switches();
        cut[from.0].tables = Drts::new(1, 3, Rgt::default());
        let routed = cut[from.0].route(from.1, &message);
        assert_eq!(routed, Routed::Dropped(Undelivered::NoRoute), "{message:?}");
        let violation = cut[from.0].judge(from.1, &message, &routed).expect("it is reported");
        assert_eq!(violation.rule, "FAB-DRT-02");
    }
}

/// Messages that hosts and devices may send, with switch and port.
fn legal() -> Vec<((usize, usize), Message)> {
    let mut all = Vec::new();
    for (n, ld_id) in [(0, 0), (1, LD)] {
        let (req, rwd) = requests(1, 4 * GIB)[0];
        all.push(((0, n), Message::M2sReq(req)));
        all.push(((0, n), Message::M2sRwd(rwd, Data::line([1; 64]))));
        all.push(((1, n), Message::S2mNdr(S2mNdr { ld_id, ..S2mNdr::default() })));
        all.push(((1, n), Message::S2mDrs(S2mDrs { ld_id, ..S2mDrs::default() }, Data::line([2; 64]))));
    }
    all
}

#[test]
fn fab_edg_08_p() {
    for (from, message) in legal() {
        let mut all = switches();
        let routed = all[from.0].route(from.1, &message);
        assert_eq!(all[from.0].judge(from.1, &message, &routed), None, "{message:?}");
    }
}

/// An LD-ID without a host, as if it were guessed, would bring the answer to another one.
#[test]
fn fab_edg_08_n() {
    for (port, ld_id) in [(0, 1), (0, LD), (1, 0), (1, LD + 1), (1, 15)] {
        let [_, mut back] = switches();
        let message = Message::S2mNdr(S2mNdr { ld_id, ..S2mNdr::default() });
        let routed = back.route(port, &message);
        assert_eq!(routed, Routed::Dropped(Undelivered::UnknownLd));
        let violation = back.judge(port, &message, &routed).expect("it is reported");
        assert_eq!((violation.rule, violation.found), ("FAB-EDG-08", format!("LD-ID {ld_id}")));
    }
}

/// Every identifier of the other routing is 0 on each link, and what is none of them is what it was.
#[test]
fn fab_edg_09_p() {
    for (from, message) in legal() {
        let (between, left) = way(&switches(), from, message);
        let between = between.expect("it passes the link").route();
        assert_eq!((between.ld_id, between.cache_id, between.bi_id), (0, 0, 0));
        let (_, _, left) = left.expect("it arrives");
        assert_eq!((left.route().spid, left.route().dpid, left.route().cache_id), (0, 0, 0));
        assert_eq!(left.identifier(), message.identifier());
    }
}

/// With tags that a switch gave anew, answers would name requests that the host has not sent.
#[test]
fn fab_edg_09_n() {
    let renamed = |message: Message| match message {
        Message::M2sReq(req) => Message::M2sReq(M2sReq { tag: req.tag ^ 1, ..req }),
        other => other,
    };
    let (req, _) = requests(8, 4 * GIB)[0];
    let Routed::Port { message, .. } = switches()[0].route(0, &Message::M2sReq(req)) else { panic!("it leaves") };
    let Routed::Port { message, .. } = switches()[1].route(ISL, &renamed(message)) else { panic!("it arrives") };
    let answer = Message::S2mNdr(S2mNdr { tag: message.identifier().1, ..S2mNdr::default() });
    let (_, left) = way(&switches(), (1, 0), answer);
    assert_ne!(left.map(|(_, _, message)| message.identifier().1), Ok(8));
}

/// The switches with back-invalidates everywhere; `is_shared`: the device at `dsp[0]` has port based routing and both hosts.
pub(super) fn with_snoops(is_shared: bool) -> [PbrRoutes; 2] {
    let mut all = with_segments();
    for switch in &mut all {
        switch.has_snoops = true;
        for port in &mut switch.ports {
            match port {
                PbrPort::Host(host) => host.has_snoops = true,
                PbrPort::Device(device) => device.has_snoops = true,
                PbrPort::Shared(_) | PbrPort::Fabric => (),
            }
        }
    }
    if is_shared {
        let hosts = HOSTS.into_iter().map(pid).collect();
        all[1].ports[0] = PbrPort::Shared(PbrSharedPort { pid: pid(DEVICES[0]), hosts, is_gfd: false });
    }
    all
}

fn snoop(bi_tag: u16) -> S2mBisnp {
    S2mBisnp { opcode: BisnpOpcode::BISnpInv, bi_tag, address: 4 * GIB + 0x80, ..S2mBisnp::default() }
}

fn snoop_answer(bi_tag: u16) -> M2sBirsp {
    M2sBirsp { opcode: BirspOpcode::BIRspI, bi_tag, low_addr: 2, ..M2sBirsp::default() }
}

/// A snoop of a device without logical devices, and of one with them, whose BI-ID is the LD-ID there: at the host the BI-ID is
/// the SPID of the snoop, which is the PID by which the host reaches the device.
#[test]
fn fab_edg_19_p() {
    for (host, ld_id) in [(0, 0), (1, LD)] {
        for bi_tag in [0, 1, 0xfff] {
            let given = Message::S2mBisnp(S2mBisnp { bi_id: ld_id.into(), ..snoop(bi_tag) });
            let (between, left) = way(&with_snoops(false), (1, host), given);
            let (spid, dpid) = (BOUND[host], HOSTS[host]);
            assert_eq!(between, Some(Message::S2mBisnp(S2mBisnp { spid, dpid, ..snoop(bi_tag) })));
            let expected = Message::S2mBisnp(S2mBisnp { bi_id: spid, ..snoop(bi_tag) });
            assert_eq!(left, Ok((0, host, expected)));
        }
    }
    // A device with port based routing says itself whom it snoops.
    for (host, dpid) in HOSTS.into_iter().enumerate() {
        let given = Message::S2mBisnp(S2mBisnp { spid: DEVICES[0], dpid, ..snoop(7) });
        let (between, left) = way(&with_snoops(true), (1, 0), given);
        assert_eq!(between, Some(given));
        assert_eq!(left, Ok((0, host, Message::S2mBisnp(S2mBisnp { bi_id: DEVICES[0], ..snoop(7) }))));
    }
}

/// The snoop of a logical device without a host, of another device's PID, and to a host that does not share it.
#[test]
fn fab_edg_19_n() {
    for (is_shared, port, given, why, rule) in [
        (false, 1, S2mBisnp { bi_id: 1, ..snoop(3) }, Undelivered::UnknownLd, "FAB-EDG-08"),
        (false, 1, S2mBisnp { bi_id: 0x105, ..snoop(3) }, Undelivered::UnknownLd, "FAB-EDG-08"),
        (true, 0, S2mBisnp { spid: DEVICES[1], dpid: HOSTS[0], ..snoop(3) }, Undelivered::NotClaimed, "FAB-PID-05"),
        (true, 0, S2mBisnp { spid: DEVICES[0], dpid: BOUND[1], ..snoop(3) }, Undelivered::NotClaimed, "FAB-PID-05"),
    ] {
        let [_, mut back] = with_snoops(is_shared);
        let given = Message::S2mBisnp(given);
        let routed = back.route(port, &given);
        assert_eq!(routed, Routed::Dropped(why), "{given:?}");
        assert_eq!(back.judge(port, &given, &routed).map(|one| one.rule), Some(rule), "{given:?}");
    }
}

/// The answer goes back by its BI-ID: DPID at the host, and at the device the LD-ID of the SPID or the claim of both.
#[test]
fn fab_edg_20_p() {
    for (host, ld_id) in [(0, 0), (1, LD)] {
        // The PID of a binding, and that of the edge port, which a segment table names.
        for dpid in [BOUND[host], DEVICES[host]] {
            let given = Message::M2sBirsp(M2sBirsp { bi_id: dpid, ..snoop_answer(0xabc) });
            let (between, left) = way(&with_snoops(false), (0, host), given);
            let spid = HOSTS[host];
            assert_eq!(between, Some(Message::M2sBirsp(M2sBirsp { spid, dpid, ..snoop_answer(0xabc) })));
            let expected = Message::M2sBirsp(M2sBirsp { bi_id: ld_id.into(), ..snoop_answer(0xabc) });
            assert_eq!(left, Ok((1, host, expected)));
        }
    }
    for (host, spid) in HOSTS.into_iter().enumerate() {
        let given = Message::M2sBirsp(M2sBirsp { bi_id: DEVICES[0], ..snoop_answer(5) });
        let (_, left) = way(&with_snoops(true), (0, host), given);
        let expected = Message::M2sBirsp(M2sBirsp { spid, dpid: DEVICES[0], ..snoop_answer(5) });
        assert_eq!(left, Ok((1, 0, expected)));
    }
}

/// A BI-ID that is no PID of the fabric, FFFh, and the device of another host.
#[test]
fn fab_edg_20_n() {
    for (is_shared, bi_id, expected) in [
        (false, 3, (0, Undelivered::NoRoute)),
        (false, 0xfff, (0, Undelivered::NoRoute)),
        (false, BOUND[1], (1, Undelivered::NotClaimed)),
        (false, DEVICES[1], (1, Undelivered::UnknownLd)),
        (true, BOUND[0], (1, Undelivered::NotClaimed)),
    ] {
        let given = Message::M2sBirsp(M2sBirsp { bi_id, ..snoop_answer(9) });
        let (_, left) = way(&with_snoops(is_shared), (0, 0), given);
        assert_eq!(left, Err(expected), "BI-ID {bi_id:#x}");
    }
}

/// Bus number of a device below a switch with hierarchy based routing at `dsp[0]`.
const BUS: u8 = 5;

fn above_switch() -> [PbrRoutes; 2] {
    let mut all = with_snoops(false);
    let PbrPort::Device(device) = &mut all[1].ports[0] else { panic!("a device") };
    device.bus = Some(BUS);
    all
}

/// Above a switch with hierarchy based routing the BI-ID is a bus number: the PID of the device stands for it in the fabric, both ways.
#[test]
fn fab_edg_19_p2() {
    let given = Message::S2mBisnp(S2mBisnp { bi_id: BUS.into(), ..snoop(6) });
    let (between, left) = way(&above_switch(), (1, 0), given);
    let (spid, dpid) = (BOUND[0], HOSTS[0]);
    assert_eq!(between, Some(Message::S2mBisnp(S2mBisnp { spid, dpid, ..snoop(6) })));
    assert_eq!(left, Ok((0, 0, Message::S2mBisnp(S2mBisnp { bi_id: spid, ..snoop(6) }))));
    for bi_id in [BOUND[0], DEVICES[0]] {
        let given = Message::M2sBirsp(M2sBirsp { bi_id, ..snoop_answer(6) });
        let (_, left) = way(&above_switch(), (0, 0), given);
        assert_eq!(left, Ok((1, 0, Message::M2sBirsp(M2sBirsp { bi_id: BUS.into(), ..snoop_answer(6) }))));
    }
}

/// A bus that no device with back-invalidates has.
#[test]
fn fab_edg_19_n2() {
    let [_, mut back] = above_switch();
    for bi_id in [0, u16::from(BUS) + 1, BOUND[0]] {
        let given = Message::S2mBisnp(S2mBisnp { bi_id, ..snoop(3) });
        let routed = back.route(0, &given);
        assert_eq!(routed, Routed::Dropped(Undelivered::UnknownLd), "{bi_id:#x}");
        assert_eq!(back.judge(0, &given, &routed).map(|one| one.rule), Some("FAB-EDG-08"), "{bi_id:#x}");
    }
}

/// Classes that CXL.mem without back-invalidates does not have, and those that go the wrong way.
#[test]
fn other_classes_are_dropped_and_reported() {
    let others = [
        Message::H2dReq(H2dReq::default()),
        Message::D2hReq(D2hReq::default()),
        Message::M2sBirsp(M2sBirsp::default()),
        Message::S2mBisnp(S2mBisnp::default()),
    ];
    let down = Message::M2sReq(M2sReq { address: 4 * GIB, dpid: HOSTS[0], ..M2sReq::default() });
    let up = Message::S2mNdr(S2mNdr { dpid: BOUND[0], ..S2mNdr::default() });
    let mut cases: Vec<((usize, usize), Message)> = [(0, 0), (1, 0), (0, ISL), (1, ISL)]
        .into_iter()
        .flat_map(|from| others.map(|message| (from, message)))
        .collect();
    // An answer from a host, a request from a device; a request to a host, an answer to a device.
    cases.extend([((0, 0), up), ((1, 0), down), ((0, ISL), down), ((1, ISL), up)]);
    for ((switch, port), message) in cases {
        let mut all = switches();
        let routed = all[switch].route(port, &message);
        assert_eq!(routed, Routed::Dropped(Undelivered::Class), "{message:?} at {switch}.{port}");
        assert_eq!(all[switch].judge(port, &message, &routed).map(|one| one.rule), Some("FAB-ERR-04"));
    }
    // Back-invalidates travel between the switches, and the link of one host has none.
    let [mut front, _] = with_snoops(false);
    let PbrPort::Host(host) = &mut front.ports[0] else { panic!("a host") };
    host.has_snoops = false;
    let given = Message::S2mBisnp(S2mBisnp { spid: BOUND[0], dpid: HOSTS[0], ..snoop(1) });
    assert_eq!(front.route(ISL, &given), Routed::Dropped(Undelivered::Class));
    let above = Message::M2sReq(M2sReq { address: 4 * GIB, ld_id: 1, ..M2sReq::default() });
    let [mut front, _] = switches();
    let routed = front.route(0, &above);
    assert_eq!(front.judge(0, &above, &routed).map(|one| one.rule), Some("FAB-MLD-02"));
}

/// An end of a link for a direction, with or without the other one.
fn end(dir: Dir, both: bool) -> Cachemem {
    let of = if both { CachememConfig::mem_both_ways } else { CachememConfig::mem };
    Cachemem::new(of(dir, Mode::Pbr, 4))
}

/// Both ends send, and have buffers for, every class that passes a switch.
#[test]
fn fab_isl_01_p() {
    for dir in Dir::ALL {
        for (_, message) in legal() {
            let wire = message.to_cxl256(Routing::Pbr).expect("it fits");
            assert_eq!(end(dir, true).send(wire), Ok(()), "{message:?} {dir:?}");
            assert!(end(dir, true).config().buffers[message.class().index()] > 0);
        }
        let config = end(dir, true).config().clone();
        assert!(Class::ALL.iter().all(|class| config.sends[class.index()] == class.is_mem()));
    }
}

/// An ordinary link end refuses what goes the other way.
#[test]
fn fab_isl_01_n() {
    for (_, message) in legal() {
        let wire = message.to_cxl256(Routing::Pbr).expect("it fits");
        let against = message.class().dir().opposite();
        assert!(matches!(end(against, false).send(wire), Err(Cxl256Refused::Direction { .. })), "{message:?}");
    }
}
