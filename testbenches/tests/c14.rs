//! Chapter 14 of the CXL specification, the tests that concern the 68B link layer; a name is a section number. Stimulus
//! and judgement are those of the conformance catalogue: fault inputs instead of an analyser, the scoreboard instead of
//! the host's software. A test whose verdict there is *partly* says which part.

use crate::cxl68_link::rig::{AgentFault, LATENCY_FLITS, PATIENCE_FLITS, RETRAIN_FLITS, Rig, Space, quick};
use crate::cxl68_link::units::{almp, control, flips, forged, named, protocol, sent, wire};
use scalepool::link::cxl68::fault::Fault;
use scalepool::link::cxl68::fill::IdleToL0;
use scalepool::link::cxl68::retry::Local;
use scalepool::link::cxl68::timing::LineRate;
use scalepool::link::cxl68::{EndConfig, Pair, Severity, phy_fill};
use scalepool::link::wires::SentUnit;
use scalepool::nodes::stimulus::{ProducerConsumer, WriteStreams, alg1a, alg1b, alg2};
use scalepool::scenario::report::ScenarioReport;
use scalepool::scenario::{self, ScenarioRequest};
use scalepool_protocols::cxl::cxl68::Dir;
use scalepool_protocols::cxl::cxl68::check;
use scalepool_protocols::cxl::cxl68::code::{D2hReqOpcode, GoState, H2dRspOpcode};
use scalepool_protocols::cxl::cxl68::config::Cxl68Config;
use scalepool_protocols::cxl::cxl68::control::{Control, Ide};
use scalepool_protocols::cxl::cxl68::header::FlitHeader;
use scalepool_protocols::cxl::cxl68::lanes::{Block, Cxl68Width, block_bytes, read_blocks};
use scalepool_protocols::cxl::cxl68::message::{Class, D2hData, D2hReq, H2dData, H2dRsp, M2sReq};
use scalepool_protocols::cxl::cxl68::pid::{self, Enabled, PidKind};
use scalepool_protocols::cxl::cxl68::stream::{Cxl68Message, Cxl68SlotRole, Cxl68UnitKind, Data, Size, Unpacker};
use scalepool_protocols::cxl::cxl68::unit::Cxl68Unit;
use scalepool_protocols::wire::Wire;
use std::collections::BTreeSet;

fn run(set: &[&str]) -> ScenarioReport {
    let request = ScenarioRequest {
        scenario: "cxl68-expander".into(),
        seed: 1,
        threads: 1,
        set: set.iter().map(|s| (*s).to_owned()).collect(),
        ..ScenarioRequest::default()
    };
    scenario::run(&request, &mut |_| ()).expect("a legal request")
}

// ---- 14.3 transactions ------------------------------------------------------------------------------------------------

/// The three stress algorithms, with partial lines and false sharing.
fn stress(rig: &mut Rig, space: Space) {
    let streams = WriteStreams { sets: 3, set_offset_bytes: 2048, loops: 3, ..WriteStreams::default() };
    let masked = WriteStreams { byte_mask: 0x00ff_f0f0_1234_8001, ..streams.clone() };
    let rounds = ProducerConsumer { loops: 6, ..ProducerConsumer::default() };
    for steps in [alg1a(&streams), alg1a(&masked), alg1b(&streams), alg1b(&masked), alg2(&rounds)] {
        rig.algorithm(space, &steps.expect("legal parameters"));
    }
}

/// Partly: HDM-H, one host.
#[test]
fn c14_3_6_1_4() {
    for faults in [vec![], (0..20).map(|n| Fault::Drop { unit: 50 + 37 * n }).collect()] {
        let mut rig = Rig::mem(quick());
        rig.pair.wires.put(Dir::Down, wire(faults.clone()));
        rig.pair.wires.put(Dir::Up, wire(faults));
        stress(&mut rig, Space::Device);
        rig.assert_no_loss();
        assert!(rig.events.is_empty());
    }
}

// ---- 14.4 link layer --------------------------------------------------------------------------------------------------

/// INIT.Param with every reserved bit at 1 (`cxl-68b` §6.1, §6.3), sent in a direction.
fn reserved_init(dir: Dir) {
    let mut clean = Rig::cachemem(quick());
    clean.pair.wires.keep_log();
    clean.bring_up();
    let log = clean.pair.wires.take_log();
    let at = log.iter().filter(|s| s.dir == dir).position(is_init).expect("INIT.Param is sent") as u64;
    let bits: Vec<u16> = (1..5).chain(8..32).chain(68..88).chain(96..512).collect();
    let mut rig = Rig::cachemem(quick());
    rig.pair.wires.put(dir, wire(forged(at, &bits)));
    rig.bring_up();
    assert_eq!(rig.pair.wires.damaged(), 1, "it was changed");
    rig.all_traffic(3, 1);
    rig.assert_no_loss();
    assert!(rig.events.is_empty());
    assert_eq!(rig.pair.host.stats().retries + rig.pair.device.stats().retries, 0);
}

fn is_init(seen: &SentUnit<Cxl68Unit>) -> bool {
    seen.unit.slot(0) & 1 == 1 && matches!(Control::from_slot(seen.unit.slot(0)), Control::InitParam(_))
}

#[test]
fn c14_4_1_1() {
    reserved_init(Dir::Down);
}

#[test]
fn c14_4_1_2() {
    reserved_init(Dir::Up);
}

/// What a run with spoiled replays has shown.
struct Replays {
    rig: Rig,
    /// Requests of the host: NUM_RETRY and NUM_PHY_REINIT.
    requests: Vec<(u8, u8)>,
    spoiled: u32,
    states: BTreeSet<Local>,
}

/// Cache traffic in which one bit is flipped in a flit of the device and then in the first flit of each of its replays,
/// up to `tries` times in all.
fn spoil_replays(link: Cxl68Config, tries: u32) -> Replays {
    let mut rig = Rig::cachemem(link);
    rig.bring_up();
    rig.pair.wires.keep_log();
    rig.traffic(Space::Host, 20, 1);
    rig.pair.wires.put(Dir::Up, wire(flips(0, [200])));
    let mut seen = Replays { rig, requests: Vec::new(), spoiled: 1, states: BTreeSet::new() };
    let (mut frames, mut frames_down) = (0, 0);
    for _ in 0..PATIENCE_FLITS {
        if seen.rig.open() == 0 && seen.rig.pair.is_quiet() || seen.rig.pair.host.halted().is_some() {
            break;
        }
        seen.rig.step();
        seen.states.insert(seen.rig.pair.host.local().state);
        for unit in seen.rig.pair.wires.take_log() {
            let count = if unit.dir == Dir::Up { &mut frames } else { &mut frames_down };
            let slot = unit.unit.slot(0);
            let control = (slot & 1 == 1 && Control::static_bits_ok(slot)).then(|| Control::from_slot(slot));
            let framed = *count;
            *count = if matches!(control, Some(Control::RetryFrame(_))) { framed + 1 } else { 0 };
            match control {
                Some(Control::RetryReq(req)) => {
                    assert_eq!(framed, 5, "Frames before a Req");
                    if unit.dir == Dir::Down {
                        seen.requests.push((req.num_retry, req.num_phy_reinit));
                    }
                }
                Some(Control::RetryAck(_)) => {
                    assert_eq!(framed, 5, "Frames before an Ack");
                    if unit.dir == Dir::Up && seen.spoiled < tries {
                        seen.spoiled += 1;
                        seen.rig.pair.wires.put(Dir::Up, wire(flips(0, [(17 * seen.spoiled % 512) as u16])));
                    }
                }
                _ => (),
            }
        }
    }
    seen
}

#[test]
fn c14_4_2() {
    for max_num_retry in [2, 10, 31] {
        let link = Cxl68Config { max_num_retry, ..quick() };
        let mut seen = spoil_replays(link, u32::from(max_num_retry) + 1);
        assert!(seen.states.contains(&Local::PhyReinit));
        assert_eq!((seen.rig.pair.host.stats().reinits, seen.rig.pair.trainings), (1, 1));
        // NUM_RETRY runs up to its maximum, then from 0 again with one reinitialisation counted.
        let expected: Vec<(u8, u8)> = (0..max_num_retry).map(|n| (n, 0)).chain([(0, 1)]).collect();
        assert_eq!(seen.requests, expected);
        seen.rig.assert_no_loss();
        assert!(seen.rig.events.is_empty(), "all repaired");
        assert_eq!(seen.rig.pair.host.local().num_phy_reinit, 0, "cleared by the first good flit");
        // One error less does not get there.
        let less = spoil_replays(link, u32::from(max_num_retry));
        assert_eq!((less.rig.pair.host.stats().reinits, less.rig.pair.trainings), (0, 0));
    }
}

#[test]
fn c14_4_3() {
    for (max_num_retry, max_num_phy_reinit) in [(2, 2), (10, 10), (31, 1), (1, 31)] {
        let link = Cxl68Config { max_num_retry, max_num_phy_reinit, ..quick() };
        let mut seen = spoil_replays(link, u32::MAX);
        let expected: Vec<(u8, u8)> =
            (0..=max_num_phy_reinit).flat_map(|p| (0..max_num_retry).map(move |n| (n, p))).collect();
        assert_eq!(seen.requests, expected);
        assert_eq!(seen.rig.pair.host.stats().reinits, u64::from(max_num_phy_reinit));
        assert_eq!(
            (seen.rig.pair.host.local().state, seen.rig.pair.host.halted()),
            (Local::Abort, Some("CXL68-LRS-06"))
        );
        let abort = &seen.rig.events.last().expect("reported").1;
        assert_eq!((abort.violation.rule, abort.severity), ("CXL68-LRS-06", Severity::Uncorrectable));
        // The link is down for good, and open work is reported.
        let sent = seen.rig.pair.host.stats().sent;
        assert!(!seen.rig.settle());
        assert_eq!(seen.rig.pair.host.stats().sent, sent);
        assert!(seen.rig.broken.iter().any(|b| b.rule == "SIM-E2E-03" && b.text.contains("open lines [0x")));
        assert!(!seen.rig.broken_rules().contains("SIM-E2E-01"), "no corruption");
    }
}

// ---- 14.6 physical layer ----------------------------------------------------------------------------------------------

#[test]
fn c14_6_1_1() {
    let mut rig = Rig::cachemem(quick());
    rig.pair.wires.keep_log();
    rig.all_traffic(3, 1);
    rig.assert_no_loss();
    let log = rig.pair.wires.take_log();
    assert!(log.iter().all(|s| s.unit.pid() == 0x5555));
    let ids = [(phy_fill(None), 0x9999, PidKind::Null), (almp(), 0xcccc, PidKind::Almp)];
    for (unit, id, kind) in ids {
        assert_eq!(unit.pid(), id);
        assert_eq!(pid::receive(id, Enabled::ALL).accept.map(|p| p.kind), Some(kind));
        rig.pair.inject(Dir::Down, &unit);
    }
    let io = Cxl68Unit::plain(pid::IO, &[0x77; 64]);
    assert_eq!((io.pid(), pid::receive(0xffff, Enabled::ALL).accept.map(|p| p.kind)), (0xffff, Some(PidKind::Io)));
    rig.pair.inject(Dir::Down, &io);
    rig.step();
    assert!(rig.events.is_empty());
}

#[test]
fn c14_6_1_2() {
    // The link layer is held back: it has stopped for training.
    let mut rig = Rig::cachemem(quick());
    rig.bring_up();
    rig.all_traffic(1, 1);
    rig.pair.train();
    for now in 0..50 {
        for dir in Dir::ALL {
            let unit = phy_fill(rig.pair.sender(dir).transmit(now));
            assert_eq!((unit.pid(), unit.tail()), (0x9999, 0));
            assert_eq!(*unit.payload(), [0; 64]);
        }
    }
    rig.assert_no_loss();
}

#[test]
fn c14_6_1_3() {
    // A block's worth of units, the last of them with implied EDS, then the ordered set; and the same in wrong places.
    for width in Cxl68Width::ALL {
        let block = block_bytes(width);
        let units = (1..).find(|n| n * 68 % block == 0).expect("the pattern repeats");
        let mut bytes: Vec<u8> = (0..units).flat_map(|_| named("RETRY.Idle").0).collect();
        let last = bytes.len() - 68;
        (bytes[last], bytes[last + 1]) = (0x87, 0x87);
        let data: Vec<Block> = bytes.chunks(block).map(|b| Block::Data(b.to_vec())).collect();
        let with = |at: usize| {
            let mut blocks = data.clone();
            blocks.insert(at, Block::OrderedSet);
            read_blocks(&blocks, width, false)
        };
        let good = with(data.len());
        assert_eq!((good.units.len(), good.violations.len()), (units, 0), "x{}", width.lanes());
        assert!(!read_blocks(&data, width, false).violations.is_empty(), "no ordered set");
        assert!(!with(0).violations.is_empty(), "too early");
    }
}

/// Cache and memory traffic with faults of the host's wire.
fn with_faults(faults: Vec<Fault>) -> Rig {
    let mut rig = Rig::cachemem(quick());
    rig.pair.wires.put(Dir::Down, wire(faults));
    rig.all_traffic(3, 5);
    rig.assert_no_loss();
    rig
}

#[test]
fn c14_6_1_4() {
    let rig = with_faults(vec![Fault::Flip { unit: 50, bit: 3 }, Fault::Flip { unit: 60, bit: 14 }]);
    let logged: Vec<_> = rig.events.iter().map(|(_, e)| (e.violation.rule, e.severity)).collect();
    assert_eq!(logged, [("CXL68-PID-02", Severity::Corrected); 2]);
    assert_eq!((rig.pair.trainings, rig.pair.device.stats().retries), (0, 0));
}

#[test]
fn c14_6_1_5() {
    let rig = with_faults(vec![Fault::Flip { unit: 50, bit: 3 }, Fault::Flip { unit: 50, bit: 14 }]);
    let logged: Vec<_> = rig.events.iter().map(|(_, e)| (e.violation.rule, e.severity)).collect();
    assert_eq!(logged, [("CXL68-PID-03", Severity::Retrain)]);
    assert_eq!((rig.pair.trainings, rig.pair.device.stats().pid_errors), (1, 1));
    assert!(rig.pair.device.stats().retries > 0);
}

#[test]
fn c14_6_1_6() {
    let mut device = EndConfig::cachemem(Dir::Up, quick(), 32);
    device.enabled = Enabled { io: false, cachemem: true };
    let mut rig = Rig::new(EndConfig::cachemem(Dir::Down, quick(), 32), device);
    rig.bring_up();
    rig.all_traffic(1, 5);
    rig.pair.inject(Dir::Down, &Cxl68Unit::plain(pid::IO, &[1; 64]));
    rig.all_traffic(1, 6);
    rig.assert_no_loss();
    let logged: Vec<_> = rig.events.iter().map(|(_, e)| (e.violation.rule, e.severity)).collect();
    assert_eq!(logged, [("CXL68-PID-05", Severity::Retrain)]);
    assert_eq!(rig.pair.trainings, 1);
}

/// Partly: NULL units are counted, there is no training state machine.
#[test]
fn c14_6_1_7() {
    // Two ends send NULLs from different moments on; a wire takes some flit clocks. Each is up when it has sent 8 and
    // received 4, and only then its link layer sends.
    for (delay, late) in [(1, 0), (3, 2), (5, 20), (12, 7)] {
        let mut phy = [IdleToL0::default(); 2];
        let mut counts = [[0; 2]; 2];
        for now in 0..100u64 {
            for side in 0..2 {
                let starts = |s: usize| if s == 1 { late } else { 0 };
                let other = 1 - side;
                if now >= delay + starts(other) {
                    phy[side].received(&phy_fill(None));
                    counts[side][1] += 1;
                }
                if now >= starts(side) && !phy[side].is_l0() {
                    phy[side].sent();
                    counts[side][0] += 1;
                }
                let expected = counts[side][0] >= 8 && counts[side][1] >= 4;
                assert_eq!(phy[side].is_l0(), expected, "clock {now}: {:?}", counts[side]);
            }
        }
        assert!(phy.iter().all(IdleToL0::is_l0));
    }
    // Seven sent, or three received, are not enough; anything else starts the count of received ones again.
    let mut phy = IdleToL0::default();
    (0..7).for_each(|_| phy.sent());
    (0..3).for_each(|_| phy.received(&phy_fill(None)));
    phy.received(&almp());
    phy.sent();
    (0..3).for_each(|_| phy.received(&phy_fill(None)));
    assert!(!phy.is_l0());
    phy.received(&phy_fill(None));
    assert!(phy.is_l0());
}

#[test]
fn c14_6_1_8() {
    // 0x55 becomes 0x99 by four flips: two valid bytes that differ.
    let faults = [2, 3, 6, 7].map(|bit| Fault::Flip { unit: 50, bit });
    let rig = with_faults(faults.to_vec());
    let logged: Vec<_> = rig.events.iter().map(|(_, e)| (e.violation.rule, e.severity)).collect();
    assert_eq!(logged, [("CXL68-PID-04", Severity::Retrain)]);
    assert_eq!((rig.pair.trainings, rig.pair.device.stats().pid_errors), (1, 1));
}

const X16: LineRate = LineRate {
    rate_gtps: 32,
    width: match Cxl68Width::new(16) {
        Some(w) => w,
        None => panic!(),
    },
    sync_headers: false,
    skip_ordered_sets: false,
};

/// Ratio of the unit times of two rates, as (numerator, denominator) in lowest terms.
fn ratio(slow: LineRate, fast: LineRate) -> (u64, u64) {
    let ((a, b), (c, d)) = (slow.unit_time_fs(), fast.unit_time_fs());
    let (num, den) = (u128::from(a) * u128::from(d), u128::from(b) * u128::from(c));
    let (mut x, mut y) = (num, den);
    while y > 0 {
        (x, y) = (y, x % y);
    }
    ((num / x) as u64, (den / x) as u64)
}

const TRAFFIC: [&str; 3] = ["host.pattern=mix", "host.accesses=4000", "host.region_lines=64"];

fn traffic(set: &[&str]) -> ScenarioReport {
    let set: Vec<&str> = TRAFFIC.into_iter().chain(set.iter().copied()).collect();
    let report = run(&set);
    assert_eq!(report.violations, [], "data are equal");
    report
}

/// Partly: the overhead in time, no ordered sets.
#[test]
fn c14_6_3() {
    assert_eq!(ratio(LineRate { skip_ordered_sets: true, ..X16 }, X16), (341, 340));
    let (without, with) = (traffic(&[]), traffic(&["link.skip_ordered_sets=on"]));
    assert!(with.time_fs > without.time_fs);
    assert_eq!(with.messages, without.messages);
}

/// Partly: the rate is lower from the start on, not in the middle of traffic.
#[test]
fn c14_6_8() {
    let mut slower = 0;
    let messages = traffic(&[]).messages;
    for rate in ["link.rate_gtps=32", "link.rate_gtps=16", "link.rate_gtps=8"] {
        let report = traffic(&[rate]);
        assert_eq!(report.messages, messages);
        assert!(report.time_fs > slower, "{rate}");
        slower = report.time_fs;
    }
    assert_eq!(ratio(LineRate { rate_gtps: 8, ..X16 }, X16), (4, 1));
}

/// Partly: overhead in time and the length of NULL with EDS, no negotiation.
#[test]
fn c14_6_13() {
    assert_eq!(ratio(LineRate { sync_headers: true, ..X16 }, X16), (65, 64));
    assert!(traffic(&["link.sync_headers=on"]).time_fs > traffic(&[]).time_fs);
    // A NULL with EDS in the last 20 bytes of a block: with sync headers it ends there, with bypass it is whole.
    let width = Cxl68Width::new(4).expect("x4");
    let block = block_bytes(width);
    let mut bytes = vec![0; 2 * block];
    let at = 68;
    bytes[..2].copy_from_slice(&[0x99; 2]);
    bytes[at..at + 2].copy_from_slice(&[0x4b; 2]);
    let cut: Vec<Block> = bytes.chunks(block).map(|b| Block::Data(b.to_vec())).chain([Block::OrderedSet]).collect();
    let lengths = |bypass| read_blocks(&cut, width, bypass).units.iter().map(Vec::len).collect::<Vec<_>>();
    assert_eq!(lengths(false), [68, block * 2 - at]);
    let mut whole = vec![0x99, 0x99];
    whole.resize(17 * block, 0);
    let count = whole.len() / 68;
    for n in 0..count {
        let id = if n == count - 1 { 0x4b } else { 0x99 };
        whole[68 * n..68 * n + 2].copy_from_slice(&[id; 2]);
    }
    let blocks: Vec<Block> = whole.chunks(block).map(|b| Block::Data(b.to_vec())).chain([Block::OrderedSet]).collect();
    let read = read_blocks(&blocks, width, true);
    assert_eq!((read.units.len(), read.violations.len()), (count, 0));
    assert_eq!(read.units.last().map(Vec::len), Some(68));
}

// ---- 14.9 viral -------------------------------------------------------------------------------------------------------

/// A device that goes viral in the middle of traffic. Nothing that it sends after the spoiled flit reaches the host's
/// agent before the host knows, and the host reports a fatal event once.
fn viral(mut rig: Rig, space: Space, vector: u16) {
    rig.bring_up();
    rig.traffic(space, 10, 1);
    rig.pair.wires.keep_log();
    rig.pair.device.set_viral(vector);
    let (mut spoiled_at, mut delivered) = (None, 0);
    for _ in 0..200 {
        // The agents wait, so that what has been delivered can be counted.
        rig.takes = false;
        rig.step();
        let spoiled = rig.pair.wires.take_log().iter().any(|s| s.dir == Dir::Up && !s.unit.crc_ok());
        spoiled_at = spoiled_at.or(spoiled.then(|| rig.pair.wires.now()));
        let contained = spoiled_at.is_some_and(|at| rig.pair.wires.now() >= at + LATENCY_FLITS);
        if contained && rig.pair.host.peer_viral().is_none() {
            assert_eq!(rig.pair.host.inbox_len(), delivered, "nothing behind the spoiled flit is delivered");
        }
        delivered = rig.pair.host.inbox_len();
    }
    assert!(spoiled_at.is_some());
    assert_eq!(rig.pair.host.peer_viral(), Some(vector));
    assert_eq!(rig.pair.host.stats().retries, 1);
    rig.assert_one_fatal(vector);
    rig.takes = true;
    rig.assert_no_loss();
}

#[test]
fn c14_9_10() {
    viral(Rig::cachemem(quick()), Space::Host, 0);
}

#[test]
fn c14_9_11() {
    for vector in [0, 1, 0x8421, 0xffff] {
        viral(Rig::mem(quick()), Space::Device, vector);
    }
}

// ---- 14.11 IDE: framing alone -----------------------------------------------------------------------------------------

fn read_down(units: &[Cxl68Unit]) -> Vec<scalepool_protocols::cxl::cxl68::stream::Cxl68DecodedUnit> {
    let mut unpacker = Unpacker::new(Dir::Down, quick().revision, Enabled::ALL);
    let read: Vec<_> = units.iter().map(|u| unpacker.read(u)).collect();
    for unit in &read {
        assert!(unit.is_good() && check::unit(unit, &quick()).violations.is_empty());
    }
    read
}

/// Partly: the MAC slot is in its place and opaque; nothing is held back for it.
#[test]
fn c14_11_3_7() {
    let request = M2sReq::default().to_bits().expect("fits");
    let mut unit = protocol(Dir::Down, FlitHeader::from_bits(0), &[(0, "H6"), (1, "G4")], &[(Class::M2sReq, request)]);
    let mac = 0x0123_4567_89ab_cdef_0011_2233_u128;
    for (n, byte) in mac.to_le_bytes()[..12].iter().enumerate() {
        unit.0[6 + n] = *byte;
    }
    unit.set_tail(unit.expected_crc());
    let read = read_down(&[unit]);
    let Cxl68SlotRole::Format(format) = read[0].roles[0] else { panic!("a format") };
    assert_eq!((format.name, unit.slot(0) >> 32), ("H6", mac));
    assert_eq!(read[0].messages().count(), 1, "the request in slot 1 alone");
}

/// Partly: framing of IDE.Start in the stream.
#[test]
fn c14_11_3_9() {
    let read = read_down(&[named("IDE.Idle"), named("IDE.Start"), named("IDE.Idle")]);
    let names: Vec<_> =
        read.iter().map(|u| if let Cxl68UnitKind::Control(c) = u.kind { c.name() } else { "" }).collect();
    assert_eq!(names, ["IDE.Idle", "IDE.Start", "IDE.Idle"]);
}

/// Partly: TMAC and Idle flits are framed and counted as flits of the link layer, without an event.
#[test]
fn c14_11_3_11() {
    let mut tmac = Ide { sub_type: 2, ..Ide::default() };
    tmac.set_payload(0xaabb_ccdd_eeff_0011_2233_4455);
    let tmac = control(Control::IdeTmac(tmac));
    let Cxl68UnitKind::Control(Control::IdeTmac(read)) = read_down(&[tmac])[0].kind else { panic!("a TMAC") };
    assert_eq!(read.payload(), 0xaabb_ccdd_eeff_0011_2233_4455);
    let mut rig = Rig::mem(quick());
    rig.bring_up();
    let (eseq, acks) = (rig.pair.device.eseq(), rig.pair.device.num_ack());
    for unit in [tmac, named("IDE.Idle"), named("IDE.Idle")] {
        rig.pair.inject(Dir::Down, &unit);
    }
    assert_eq!((rig.pair.device.eseq(), rig.pair.device.num_ack()), (eseq + 3, acks + 3));
    assert_eq!(rig.pair.device.take_events(), []);
}

// ---- 14.12 reliability ------------------------------------------------------------------------------------------------

#[test]
fn c14_12_1_3_1() {
    let mut rig = Rig::cachemem(quick());
    for n in 0..16 {
        rig.write(Space::Host, 64 * n, Data::line([n as u8; 64]), n % 2 == 1);
    }
    rig.settle();
    let poisoned: Vec<u64> = rig.host_memory.poisoned_lines().collect();
    assert_eq!(poisoned, (0..16).filter(|n| n % 2 == 1).map(|n| 64 * n).collect::<Vec<u64>>());
    for n in 0..16 {
        rig.read(Space::Host, 64 * n);
    }
    rig.assert_no_loss();
}

/// Sends a message and gives what arrives.
fn over(pair: &mut Pair, dir: Dir, message: Cxl68Message) -> Cxl68Message {
    pair.sender(dir).send(message).expect("legal");
    for _ in 0..500 {
        pair.step();
        if let Some(got) = pair.receiver(dir).take() {
            return got;
        }
    }
    panic!("{} does not arrive", message.class.def().name)
}

#[test]
fn c14_12_1_3_2() {
    for poison in [false, true] {
        let [host, device] = [Dir::Down, Dir::Up].map(|dir| EndConfig::cachemem(dir, quick(), 8));
        let mut pair = Pair::new(host, device, LATENCY_FLITS, RETRAIN_FLITS).expect("legal");
        let bits = |m: &dyn Fn() -> Result<u128, scalepool_protocols::wire::FieldError>| m().expect("fits");
        // RdOwn, GO-E with poisoned data.
        let req = D2hReq { opcode: D2hReqOpcode::RdOwn, cqid: 5, address: 0x1000, ..D2hReq::default() };
        over(&mut pair, Dir::Up, Cxl68Message::new(Class::D2hReq, bits(&|| req.to_bits())));
        let rsp_data = GoState::Exclusive.0.into();
        let go = H2dRsp { opcode: H2dRspOpcode::GO, rsp_data, cqid: 5, ..H2dRsp::default() };
        over(&mut pair, Dir::Down, Cxl68Message::new(Class::H2dRsp, bits(&|| go.to_bits())));
        let data = H2dData { cqid: 5, poison, ..H2dData::default() };
        let data = Cxl68Message::with_data(Class::H2dData, bits(&|| data.to_bits()), Data::line([9; 64]));
        let got = over(&mut pair, Dir::Down, data);
        let in_cache = H2dData::from_bits(got.bits).poison;
        assert_eq!(in_cache, poison, "the device sees it");
        // DirtyEvict, GO_WritePull, data back with the mark of the line.
        let req = D2hReq { opcode: D2hReqOpcode::DirtyEvict, cqid: 6, address: 0x1000, ..D2hReq::default() };
        over(&mut pair, Dir::Up, Cxl68Message::new(Class::D2hReq, bits(&|| req.to_bits())));
        let pull = H2dRsp { opcode: H2dRspOpcode::GO_WritePull, rsp_data: 3, cqid: 6, ..H2dRsp::default() };
        let pull = over(&mut pair, Dir::Down, Cxl68Message::new(Class::H2dRsp, bits(&|| pull.to_bits())));
        let uqid = H2dRsp::from_bits(pull.bits).rsp_data;
        let back = D2hData { uqid, poison: in_cache, ..D2hData::default() };
        let back = Cxl68Message::with_data(Class::D2hData, bits(&|| back.to_bits()), Data::line([9; 64]));
        let got = over(&mut pair, Dir::Up, back);
        assert_eq!(D2hData::from_bits(got.bits).poison, poison, "and returns it");
        assert_eq!(got.data, Some(Data::line([9; 64])));
        assert_eq!((pair.host.take_events(), pair.device.take_events()), (vec![], vec![]));
    }
}

/// Two bits in three flits, again and again, while the stress algorithms run.
fn crc_in_cache_traffic(dir: Dir) {
    let mut rig = Rig::cachemem(quick());
    let faults = (0..12).flat_map(|round| {
        (0..3).flat_map(move |n| {
            let bits = [(13 * round + 40 * n) % 512, (13 * round + 40 * n + 7) % 512];
            flips(u64::from(60 + 90 * round + n), bits)
        })
    });
    rig.pair.wires.put(dir, wire(faults.collect()));
    stress(&mut rig, Space::Host);
    rig.assert_no_loss();
    assert!(rig.events.is_empty());
    let receiver = rig.pair.receiver(dir).stats();
    assert!(receiver.crc_errors >= 30 && receiver.retries >= 12, "{receiver:?}");
    assert_eq!(rig.pair.wires.damaged(), 36);
}

#[test]
fn c14_12_1_4_1() {
    crc_in_cache_traffic(Dir::Up);
}

#[test]
fn c14_12_1_4_2() {
    crc_in_cache_traffic(Dir::Down);
}

#[test]
fn c14_12_1_5_1() {
    let mut rig = Rig::mem(quick());
    rig.write(Space::Device, 0x40, Data::line([7; 64]), true);
    rig.settle();
    assert_eq!(rig.device_memory.poisoned_lines().collect::<Vec<_>>(), [0x40]);
    rig.read(Space::Device, 0x40);
    rig.assert_no_loss();
    assert_eq!(rig.reads, [(0x40, [7; 64], true)]);
}

#[test]
fn c14_12_1_6_1() {
    // The clean run says which flit carries the write.
    let write_and_read = |rig: &mut Rig| {
        rig.bring_up();
        rig.steps(100);
        rig.write_line(Space::Device, 0x80, [1; 64]);
        rig.read(Space::Device, 0x80);
        rig.assert_no_loss();
        assert_eq!(rig.reads, [(0x80, [1; 64], false)]);
    };
    let mut clean = Rig::mem(quick());
    clean.pair.wires.keep_log();
    write_and_read(&mut clean);
    let units = sent(&clean.pair.wires.take_log(), Dir::Down);
    let carries =
        |u: &scalepool_protocols::cxl::cxl68::stream::Cxl68DecodedUnit| u.messages().any(|m| m.1 == Class::M2sRwd);
    let unit = units.iter().position(carries).expect("sent") as u64;
    let mut rig = Rig::mem(quick());
    rig.pair.wires.put(Dir::Down, wire(flips(unit, [150])));
    write_and_read(&mut rig);
    assert_eq!((rig.pair.device.stats().crc_errors, rig.pair.device.stats().retries), (1, 1));
    assert!(rig.events.is_empty());
}

#[test]
fn c14_12_1_9_1() {
    // The device swallows one request: the others are answered with the right bytes, this one is reported.
    let mut rig = Rig::mem(quick());
    rig.fault = Some(AgentFault::Swallows(7));
    for n in 0..20 {
        rig.write_line(Space::Device, 64 * n, [n as u8; 64]);
    }
    assert!(!rig.settle());
    assert_eq!(rig.broken.len(), 1);
    let broken = &rig.broken[0];
    assert_eq!((broken.rule, broken.text.contains("open lines [0x180]")), ("SIM-E2E-03", true), "{broken:?}");
    assert!(rig.events.is_empty());
    // In a simulation the watchdog of the kernel names the oldest open request.
    let report = run(&["host.pattern=reads", "host.accesses=200", "link.fault=up:vanish:60"]);
    let time_out = report.violations.iter().find(|b| b.place == "simulation").expect("a time-out");
    assert_eq!(time_out.violation.rule, "SIM-E2E-03");
    assert!(time_out.violation.text.contains("oldest: read of line"), "{}", time_out.violation.text);
}

/// Partly: no event log of the device.
#[test]
fn c14_12_1_10_1() {
    let mut rig = Rig::mem(quick());
    let line = 0xc0;
    rig.poison_media(line);
    let partial = Data { bytes: [3; 64], size: Size::Line, byte_enables: Some(0xff) };
    for _ in 0..2 {
        rig.read(Space::Device, line);
    }
    rig.write(Space::Device, line, partial, false);
    rig.read(Space::Device, line);
    rig.write_line(Space::Device, line, [4; 64]);
    rig.read(Space::Device, line);
    rig.assert_no_loss();
    let marks: Vec<bool> = rig.reads.iter().map(|r| r.2).collect();
    assert_eq!(marks, [true, true, true, false], "kept until the whole line is overwritten");
}
