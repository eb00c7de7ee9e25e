//! The monitor beside the links: silent whatever legal agents do, wherever it looks; what it sees of agents that break a rule;
//! each of its checks, by the messages that make it speak.

use super::stress::soak;
use scalepool::coherence::content::{CacheLine, LineAddr, WHOLE_LINE};
use scalepool::coherence::mem::tables::HdmRegion;
use scalepool::coherence::message::{Msg, shown};
use scalepool::coherence::passive::{PassiveConfig, PassiveMonitor};
use scalepool::proof::mutant::CoherenceMutant::{self, *};
use scalepool::proof::stress::{
    Stress,
    StressProtocol::{self, *},
};
use scalepool_protocols::cxl::cxl256::code::{
    BirspOpcode, BisnpOpcode, D2hReqOpcode as Op, D2hRspOpcode as Rsp, DevLoad, DrsOpcode, GoState, H2dReqOpcode,
    H2dRspOpcode, M2sReqOpcode, M2sRwdOpcode, MetaField, MetaValue, NdrOpcode, SnpType,
};
use scalepool_protocols::cxl::message::{Message, PeerRoute};

const PROTOCOLS: [StressProtocol; 7] = [
    StressProtocol::Cache(2),
    StressProtocol::Cache(3),
    StressProtocol::Cache(8),
    StressProtocol::HdmDb(2),
    StressProtocol::HdmDb(3),
    StressProtocol::HdmDb(8),
    StressProtocol::HdmD,
];

/// Where nobody else writes every value is known, which is the sharper half of the monitor. With other writers it runs in
/// every other test of the tester.
#[test]
fn silent_where_all_writers_are_seen() {
    for protocol in PROTOCOLS {
        for seed in 0..8 * soak() {
            let stress = Stress { hub_acts: false, ..Stress::new(protocol, seed, 4_000) };
            stress.run().unwrap_or_else(|failure| panic!("{protocol:?}\n{failure}"));
        }
    }
}

/// Mutants whose harm links show, where, and the rule that the monitor names first in one of few runs. The others do theirs
/// inside an agent: a device that loads old bytes, say, tells nobody.
const SEEN: &[(CoherenceMutant, StressProtocol, &str)] = &[
    (SnoopPassesGo, Cache(3), "COH-INV-01"),
    (HomeDoesNotBlock, Cache(2), "COH-INV-02"),
    (SnoopDuringPull, Cache(8), "COH-INV-02"),
    (SnoopBetweenDataAndGo, Cache(2), "COH-ORD-06"),
    (GoBeforeAnswers, Cache(2), "COH-INV-01"),
    (EvictUntracksAll, Cache(8), "COH-INV-01"),
    (BogusNotSet, Cache(3), "COH-BOG-01"),
    (BogusWritten, Cache(8), "COH-INV-02"),
    (GrantedAnswersAsInvalid, Cache(3), "COH-BOG-01"),
    (StaleEvictClearsOwner, Cache(3), "COH-INV-01"),
    (CurrentDataCleansOwner, Cache(8), "COH-INV-01"),
    (SharersNotSnooped, Cache(2), "COH-INV-01"),
    (DirtyDropped, Cache(2), "COH-SNP-08"),
    (MemoryCleansPoison, HdmD, "COH-PSN-01"),
    (PartClearsPoison, Cache(2), "COH-PSN-01"),
    (FillPoisons, Cache(8), "COH-PSN-01"),
    (AckPassesCmp, HdmDb(3), "COH-INV-01"),
    (ReqPassesFwd, HdmD, "COH-MEM-42"),
    (FilledWithoutData, HdmDb(8), "COH-INV-02"),
    (HolderSkipped, HdmDb(2), "COH-INV-01"),
    (OwnerNotAsked, HdmDb(2), "COH-INV-01"),
    (EntryLeavesEarly, HdmDb(2), "COH-INV-02"),
    (AnswerBeforeWriteDone, HdmDb(2), "COH-INV-02"),
    (ReqServedUnderBisnp, HdmDb(2), "COH-INV-01"),
    (BlockAnswerEarly, HdmDb(3), "COH-INV-02"),
    (ConflictRowSwapped, HdmDb(8), "COH-MEM-42"),
    (LocalUseInHostBias, HdmD, "COH-INV-02"),
    (BackFlipUnsnooped, HdmD, "COH-INV-02"),
];

#[test]
fn sees_the_mutants_whose_harm_links_show() {
    for &(mutant, protocol, rule) in SEEN {
        let runs = (0..8).flat_map(|seed| [false, true].map(|hub_acts| (seed, hub_acts)));
        let mut named = runs.filter_map(|(seed, hub_acts)| {
            let mut stress = Stress { hub_acts, watch: false, ..Stress::new(protocol, seed, 4_000) };
            stress.config.rules = mutant.rules();
            let event = stress.run().err()?.event;
            event.at.starts_with("passive monitor").then_some(event.rule)
        });
        assert_eq!(named.next(), Some(rule), "{mutant:?} over {protocol:?}");
    }
}

// ---- each check, by messages -----------------------------------------------------------------------------------------

const LINE: LineAddr = LineAddr(4);

fn bytes(value: u8) -> CacheLine {
    CacheLine::of([value; 64])
}

fn req(opcode: Op, cqid: u16) -> Msg<CacheLine> {
    Msg::D2hReq { opcode, line: LINE, cqid }
}

fn go(state: GoState, cqid: u16) -> Msg<CacheLine> {
    Msg::H2dRsp { opcode: H2dRspOpcode::GO, rsp_data: state.0.into(), cqid }
}

fn pull(opcode: H2dRspOpcode, uqid: u16, cqid: u16) -> Msg<CacheLine> {
    Msg::H2dRsp { opcode, rsp_data: uqid, cqid }
}

fn down(cqid: u16, value: u8) -> Msg<CacheLine> {
    Msg::H2dData { cqid, go_err: false, data: bytes(value) }
}

fn snp(opcode: H2dReqOpcode, uqid: u16) -> Msg<CacheLine> {
    Msg::H2dReq { opcode, line: LINE, uqid }
}

fn rsp(opcode: Rsp, uqid: u16) -> Msg<CacheLine> {
    Msg::D2hRsp { opcode, uqid }
}

fn up(uqid: u16, bogus: bool, value: u8) -> Msg<CacheLine> {
    Msg::D2hData { uqid, bogus, data: bytes(value), enables: WHOLE_LINE }
}

fn m2s(opcode: M2sReqOpcode, meta: MetaValue, snp: SnpType, tag: u16) -> Msg<CacheLine> {
    Msg::M2sReq { opcode, snp, meta_field: MetaField::Meta0State, meta, line: LINE, tag }
}

fn write(meta: MetaValue, snp: SnpType, tag: u16, value: u8) -> Msg<CacheLine> {
    let (opcode, meta_field, enables) = (M2sRwdOpcode::MemWr, MetaField::Meta0State, WHOLE_LINE);
    Msg::M2sRwd { opcode, snp, meta_field, meta, line: LINE, tag, data: bytes(value), enables }
}

fn cmp(opcode: NdrOpcode, tag: u16) -> Msg<CacheLine> {
    Msg::S2mNdr { opcode, meta_field: MetaField::NoOp, meta: MetaValue::Invalid, tag, devload: DevLoad(0) }
}

fn drs(tag: u16, value: u8) -> Msg<CacheLine> {
    let (opcode, meta_field, meta) = (DrsOpcode::MemData, MetaField::NoOp, MetaValue::Invalid);
    Msg::S2mDrs { opcode, meta_field, meta, tag, devload: DevLoad(0), data: bytes(value) }
}

fn bisnp(opcode: BisnpOpcode, bi_tag: u16) -> Msg<CacheLine> {
    Msg::S2mBisnp { opcode, line: LINE, bi_tag }
}

fn birsp(opcode: BirspOpcode, bi_tag: u16) -> Msg<CacheLine> {
    Msg::M2sBirsp { opcode, bi_tag, low_addr: (LINE.0 & 3) as u8 }
}

/// Messages as they pass, each with its link.
type Passed = Vec<(usize, Msg<CacheLine>)>;

/// Rules that the last message breaks; no message before it breaks any.
fn last(config: PassiveConfig, messages: &[(usize, Msg<CacheLine>)]) -> Vec<&'static str> {
    let mut monitor = PassiveMonitor::new(config, vec!["a".into(), "b".into()]);
    let (last, before) = messages.split_last().expect("messages");
    for (link, msg) in before {
        assert_eq!(monitor.see(*link, &shown(msg)), [], "{msg:?}");
    }
    monitor.see(last.0, &shown(&last.1)).iter().map(|event| event.rule).collect()
}

/// A read of link 0 for this state, with its data.
fn granted(op: Op, state: GoState, value: u8) -> Passed {
    vec![(0, req(op, 1)), (0, go(state, 1)), (0, down(1, value))]
}

/// The same with more messages behind it.
fn then(mut first: Passed, more: &[(usize, Msg<CacheLine>)]) -> Passed {
    first.extend_from_slice(more);
    first
}

#[test]
fn each_check_of_cxl_cache_speaks() {
    use GoState as Go;
    let owned = || granted(Op::RdOwn, Go::Exclusive, 7);
    let dirty = || granted(Op::RdOwn, Go::Modified, 7);
    let shared = || granted(Op::RdShared, Go::Shared, 7);
    let snooped = |snoop, answer| [(0, snp(snoop, 16)), (0, rsp(answer, 16))];
    let evicted =
        |op, bogus, value| [(0, req(op, 2)), (0, pull(H2dRspOpcode::GO_WritePull, 32, 2)), (0, up(32, bogus, value))];
    let cases: Vec<(&str, Passed)> = vec![
        // Single writer.
        ("COH-INV-01", then(owned(), &[(1, req(Op::RdShared, 1)), (1, go(Go::Shared, 1))])),
        ("COH-INV-01", then(shared(), &[(1, req(Op::RdOwn, 1)), (1, go(Go::Exclusive, 1))])),
        ("COH-INV-01", then(shared(), &[(1, req(Op::ItoMWr, 1)), (1, pull(H2dRspOpcode::GO_WritePull, 16, 1))])),
        // Value: of a copy that stays, of a use without one, of a clean evict.
        ("COH-INV-02", then(shared(), &[(1, req(Op::RdShared, 1)), (1, go(Go::Shared, 1)), (1, down(1, 8))])),
        ("COH-INV-02", then(shared(), &[(1, req(Op::RdShared, 1)), (1, down(1, 8)), (1, go(Go::Shared, 1))])),
        ("COH-INV-02", then(shared(), &[(1, req(Op::RdCurr, 1)), (1, down(1, 8))])),
        ("COH-INV-02", then(owned(), &evicted(Op::CleanEvict, false, 8))),
        // Right of a request.
        ("COH-REQ-12", then(shared(), &[(0, req(Op::DirtyEvict, 2))])),
        ("COH-REQ-10", vec![(0, req(Op::CleanEvict, 2))]),
        ("COH-STA-02", then(dirty(), &[(0, req(Op::RdShared, 2))])),
        ("COH-REQ-27", then(dirty(), &[(0, req(Op::CacheFlushed, 2))])),
        ("COH-ORD-10", vec![(0, req(Op::RdShared, 1)), (0, req(Op::RdOwn, 2))]),
        // Answers to snoops.
        ("COH-SNP-05", snooped(H2dReqOpcode::SnpInv, Rsp::RspIFwdM).to_vec()),
        ("COH-SNP-02", then(shared(), &snooped(H2dReqOpcode::SnpData, Rsp::RspSFwdM))),
        ("COH-SNP-08", then(dirty(), &snooped(H2dReqOpcode::SnpInv, Rsp::RspIHitI))),
        ("COH-BOG-02", then(owned(), &[(0, snp(H2dReqOpcode::SnpInv, 16)), (0, up(16, true, 8))])),
        // Order.
        ("COH-ORD-04", then(shared(), &[(0, snp(H2dReqOpcode::SnpData, 16)), (0, snp(H2dReqOpcode::SnpInv, 17))])),
        (
            "COH-ORD-03",
            then(
                owned(),
                &[
                    evicted(Op::DirtyEvict, false, 8)[0],
                    evicted(Op::DirtyEvict, false, 8)[1],
                    (0, snp(H2dReqOpcode::SnpInv, 16)),
                ],
            ),
        ),
        ("COH-ORD-06", vec![(0, req(Op::RdShared, 1)), (0, down(1, 7)), (0, snp(H2dReqOpcode::SnpInv, 16))]),
        // Bogus.
        ("COH-BOG-02", then(owned(), &evicted(Op::DirtyEvict, true, 8))),
        (
            "COH-BOG-01",
            then(
                then(
                    owned(),
                    &[
                        (0, req(Op::DirtyEvict, 2)),
                        (0, snp(H2dReqOpcode::SnpInv, 16)),
                        (0, rsp(Rsp::RspIFwdM, 16)),
                        (0, up(16, false, 8)),
                    ],
                ),
                &evicted(Op::DirtyEvict, false, 8)[1..],
            ),
        ),
    ];
    for (rule, messages) in cases {
        assert_eq!(last(PassiveConfig::default(), &messages), [rule], "{messages:?}");
    }
}

/// A 68B link may bring a line in two messages of 32 bytes, whose other bytes are 0: only both are the line.
#[test]
fn halves_of_a_line_are_judged_together() {
    const LOWER: u64 = 0xffff_ffff;
    let half = |msg: Msg<CacheLine>, enables: u64| {
        let mut message = shown(&msg);
        if let Message::H2dData(_, data) | Message::D2hData(_, data) = &mut message {
            data.byte_enables = Some(enables);
            data.line.iter_mut().enumerate().for_each(|(i, byte)| *byte *= u8::from(enables >> i & 1 == 1));
        }
        (0, message)
    };
    let whole = |msg: Msg<CacheLine>| (0, shown(&msg));
    let rules = |messages: &[(usize, Message)]| {
        let mut monitor = PassiveMonitor::new(PassiveConfig::default(), vec!["a".into()]);
        let all = messages.iter().flat_map(|(link, message)| monitor.see(*link, message));
        all.map(|event| event.rule).collect::<Vec<_>>()
    };
    // A read, a store that makes M of E, a snoop that gets it, and a read of the same bytes: all in halves.
    let read = |value: u8| {
        let (request, go) = (whole(req(Op::RdOwn, 1)), whole(go(GoState::Exclusive, 1)));
        vec![request, half(down(1, value), !LOWER), go, half(down(1, value), LOWER)]
    };
    let stored = [
        read(1),
        vec![whole(snp(H2dReqOpcode::SnpInv, 5)), half(up(5, false, 2), LOWER), whole(rsp(Rsp::RspIFwdM, 5))],
        vec![half(up(5, false, 2), !LOWER)],
    ]
    .concat();
    let evict = |value: u8| {
        let (request, answer) = (req(Op::DirtyEvict, 2), pull(H2dRspOpcode::GO_WritePull, 6, 2));
        vec![whole(request), whole(answer), half(up(6, false, value), LOWER), half(up(6, false, value), !LOWER)]
    };
    assert_eq!(rules(&[stored.clone(), read(2), evict(3)].concat()), [""; 0]);
    let watched = PassiveConfig { all_writers_seen: true, ..PassiveConfig::default() };
    let mut monitor = PassiveMonitor::new(watched, vec!["a".into()]);
    let all = [stored, read(2), evict(3), read(4)].concat();
    let found: Vec<_> = all
        .iter()
        .enumerate()
        .flat_map(|(n, (link, m))| monitor.see(*link, m).into_iter().map(move |e| (n, e)))
        .collect();
    // The last read brings the bytes of nobody, which is known with its second half.
    assert_eq!(found.iter().map(|(n, event)| (*n, event.rule)).collect::<Vec<_>>(), [(all.len() - 1, "COH-INV-02")]);
    let text = format!("{:?}", found[0].1);
    assert!(text.contains("04"), "{text}");
}

#[test]
fn each_check_of_cxl_mem_speaks() {
    const MEM_RD: M2sReqOpcode = M2sReqOpcode::MemRd;
    const ANY: MetaValue = MetaValue::Any;
    const SHARED: MetaValue = MetaValue::Shared;
    const INVALID: MetaValue = MetaValue::Invalid;
    let read = |link, meta, snp, grant, value| {
        [(link, m2s(MEM_RD, meta, snp, 1)), (link, cmp(grant, 1)), (link, drs(1, value))]
    };
    let own = |link, value| read(link, ANY, SnpType::SnpInv, NdrOpcode::CmpE, value);
    let share = |link, value| read(link, SHARED, SnpType::SnpData, NdrOpcode::CmpS, value);
    let snooped = |answer| [(0, bisnp(BisnpOpcode::BISnpInv, 3)), (0, birsp(answer, 3))];
    let cases: Vec<(&str, Passed)> = vec![
        ("COH-INV-01", then(own(0, 7).to_vec(), &share(1, 7)[..2])),
        ("COH-INV-01", then(share(0, 7).to_vec(), &own(1, 7)[..2])),
        ("COH-INV-02", then(share(0, 7).to_vec(), &share(1, 8))),
        (
            "COH-INV-02",
            then(
                own(0, 7).to_vec(),
                &[
                    (0, write(SHARED, SnpType::NoOp, 2, 8)),
                    (0, cmp(NdrOpcode::Cmp, 2)),
                    (1, m2s(MEM_RD, SHARED, SnpType::SnpData, 1)),
                    (1, drs(1, 7)),
                    (1, cmp(NdrOpcode::CmpS, 1)),
                ],
            ),
        ),
        ("COH-MEM-42", then(share(0, 7).to_vec(), &[(0, write(INVALID, SnpType::NoOp, 2, 8))])),
        ("COH-MEM-41", vec![(0, m2s(M2sReqOpcode::MemClnEvct, INVALID, SnpType::NoOp, 2))]),
        (
            "COH-MEM-38",
            then(
                read(0, ANY, SnpType::SnpInv, NdrOpcode::CmpM, 7).to_vec(),
                &[(0, m2s(MEM_RD, SHARED, SnpType::SnpData, 2))],
            ),
        ),
        ("COH-SFI-02", then(read(0, ANY, SnpType::SnpInv, NdrOpcode::CmpM, 7).to_vec(), &snooped(BirspOpcode::BIRspI))),
        ("COH-SFI-02", then(share(0, 7).to_vec(), &snooped(BirspOpcode::BIRspE))),
        (
            "COH-SFI-08",
            then(share(0, 7).to_vec(), &[(0, bisnp(BisnpOpcode::BISnpData, 3)), (0, bisnp(BisnpOpcode::BISnpInv, 4))]),
        ),
    ];
    for (rule, messages) in cases {
        assert_eq!(last(PassiveConfig::default(), &messages), [rule], "{messages:?}");
    }
}

/// HDM-H: the monitor is an image of the memory. A read may pass a write that has no Cmp.
#[test]
fn memory_of_one_host_gives_back_what_was_written() {
    let config = PassiveConfig { all_writers_seen: true, region: HdmRegion::HdmH };
    let read = |tag, value| [(0, m2s(M2sReqOpcode::MemRd, MetaValue::Any, SnpType::NoOp, tag)), (0, drs(tag, value))];
    let written = [(0, write(MetaValue::Any, SnpType::NoOp, 2, 8)), (0, cmp(NdrOpcode::Cmp, 2))];
    let behind = |value| then(written.to_vec(), &read(3, value));
    assert_eq!(last(config, &behind(8)), [""; 0]);
    assert_eq!(last(config, &behind(7)), ["COH-INV-02"]);
    let beside = |value| {
        let [asked, data] = read(3, value);
        then(read(1, 7).to_vec(), &[written[0], asked, written[1], data])
    };
    assert_eq!(last(config, &beside(7)), [""; 0]);
    assert_eq!(last(config, &beside(8)), [""; 0]);
    assert_eq!(last(config, &beside(9)), ["COH-INV-02"]);
    // What nobody has written is what the first read says.
    assert_eq!(last(config, &then(read(1, 5).to_vec(), &read(2, 6))), ["COH-INV-02"]);
}

/// Two devices behind one link are two holders.
#[test]
fn devices_behind_one_link_are_told_apart() {
    let mut monitor = PassiveMonitor::new(PassiveConfig::default(), vec!["switch".into()]);
    let of =
        |cache_id: u8, msg: Msg<CacheLine>| -> Message { msg.to_link(PeerRoute { cache_id, ..PeerRoute::default() }) };
    for cache_id in [1, 2] {
        assert_eq!(monitor.see(0, &of(cache_id, req(Op::RdShared, 1))), []);
        assert_eq!(monitor.see(0, &of(cache_id, go(GoState::Shared, 1))), []);
        assert_eq!(monitor.see(0, &of(cache_id, down(1, 7))), []);
    }
    assert_eq!(monitor.see(0, &of(2, req(Op::RdOwnNoData, 2))), []);
    let events = monitor.see(0, &of(2, go(GoState::Exclusive, 2)));
    insta::assert_snapshot!(events[0].to_string(), @"COH-INV-01: switch, device 2, line 0x100: found GO-E while switch, device 1 may hold S, expected no other copy");
}

/// A request for the device's own memory ends with a forward of CXL.mem, which does not name the device.
#[test]
fn a_forward_ends_the_request_of_a_device_with_a_cache_id() {
    let config = PassiveConfig { region: HdmRegion::HdmD, ..PassiveConfig::default() };
    let mut monitor = PassiveMonitor::new(config, vec!["link".into()]);
    let ask = |cqid| req(Op::RdOwn, cqid).to_link(PeerRoute { cache_id: 3, ..PeerRoute::default() });
    assert_eq!(monitor.see(0, &ask(1)), []);
    assert_eq!(monitor.see(0, &shown(&m2s(M2sReqOpcode::MemRdFwd, MetaValue::Invalid, SnpType::NoOp, 1))), []);
    assert_eq!(monitor.see(0, &ask(2)), []);
    let beside = monitor.see(0, &ask(4));
    assert_eq!(beside.iter().map(|event| event.rule).collect::<Vec<_>>(), ["COH-ORD-10"], "the second is open");
}

/// Of a line of HDM-D several flips may be open, of memory of the host only one.
#[test]
fn several_flips_of_a_line_may_be_open() {
    for (region, rules) in [(HdmRegion::HdmD, &[][..]), (HdmRegion::HdmDb, &["COH-ORD-10"])] {
        let config = PassiveConfig { region, ..PassiveConfig::default() };
        assert_eq!(last(config, &[(0, req(Op::RdOwnNoData, 1)), (0, req(Op::RdOwnNoData, 2))]), rules, "{region:?}");
    }
}

/// What is over is forgotten, so that a long run costs no more than a short one.
#[test]
fn forgets_lines_that_nobody_holds() {
    let mut monitor = PassiveMonitor::new(PassiveConfig::default(), vec!["a".into()]);
    for line in (0..100).map(LineAddr) {
        let messages = [
            Msg::D2hReq { opcode: Op::RdShared, line, cqid: 1 },
            go(GoState::Shared, 1),
            down(1, 7),
            Msg::D2hReq { opcode: Op::CleanEvictNoData, line, cqid: 2 },
            go(GoState::Invalid, 2),
        ];
        messages.iter().for_each(|msg| assert_eq!(monitor.see(0, &shown(msg)), []));
        assert_eq!(monitor.known_lines(), 0);
    }
}
