//! Poison: it stays with the line through every agent and every message, and only a store or write of the whole line takes
//! it away (`fabric` §1.8, `memory` §6.3).

use super::cache_bench::{
    Bench, CacheLineState, Flat, HomeAgent, LINE, Op, Snoop, WriteBytes, data_sent, rsp, token, uqid,
};
use super::hops;
use super::mem_bench::{X, bytes, device, drs, give, host, m2s, ndr, with, write};
use super::mem_explore::clean;
use super::scenarios::{MODES, below_a_switch, count, settings, sound};
use super::stress::runs;
use scalepool::coherence::agent::{Agent, AgentOutput, Effect};
use scalepool::coherence::bias::{Bias, BiasDevice, BiasHost};
use scalepool::coherence::cache::backing::Backing;
use scalepool::coherence::cache::state::HostAnswer;
use scalepool::coherence::config::{CleanEvictAnswer, CoherenceConfig, SnpCurOnClean};
use scalepool::coherence::content::{Age, CacheLine, LineAddr, LineContent, LineToken, WHOLE_LINE};
use scalepool::coherence::ids::IdSet;
use scalepool::coherence::mem::options::{MemConfig, NoRange};
use scalepool::coherence::mem::tables::Copy4;
use scalepool::coherence::mem::{DeviceOp, HdmH, Holders, HostAccess, HostReq};
use scalepool::coherence::message::from_link;
use scalepool::coherence::message::{Class, Msg};
use scalepool::proof::explore::killers;
use scalepool::proof::explore::{Limits, named};
use scalepool::proof::litmus::parse;
use scalepool::proof::mutant::CoherenceMutant;
use scalepool::proof::stress::{Stress, StressProtocol};
use scalepool::proof::systems::cache::{ALL_REQUESTS, Setup as CacheSetup, system as cache_system};
use scalepool::proof::systems::mem::{Setup as MemSetup, system as mem_system};
use scalepool_protocols::cxl::cxl256::code::{
    D2hReqOpcode, H2dRspOpcode, M2sReqOpcode, M2sRwdOpcode, MetaValue, NdrOpcode, SnpType,
};
use scalepool_protocols::cxl::message::Message;
use scalepool_protocols::cxl::message::PeerRoute;

/// Whether the data that left is poisoned, message by message.
fn poison_sent<D: LineContent>(out: &AgentOutput<D>) -> Vec<bool> {
    out.sends.iter().filter_map(|(_, m)| m.data().map(D::is_poisoned)).collect()
}

fn bad(b: u8) -> CacheLine {
    bytes(b).poisoned(true)
}

/// The exploration that the table of mutants names for a rule that is off finds the broken rule.
fn killed(mutant: CoherenceMutant, rule: &str) {
    let killer = killers::of(mutant).expect("a row");
    let (exploration, config) = killer.case().expect("an exploration");
    let found = exploration.start(config).search(Limits::default(), &mut |_| ());
    let violation = found.violation.unwrap_or_else(|| panic!("{mutant:?} lives"));
    assert_eq!(violation.event.rule, rule, "{mutant:?}: {}", violation.event);
}

/// Every order of messages with an agent that stores and writes poison: no state in which a value has lost it or got it.
#[test]
fn coh_psn_01_p() {
    for name in ["cxl-cache-2-poison", "hdm-db-2-poison", "hdm-d-poison"] {
        let start = named::find(name).expect("a name").start(CoherenceConfig::default());
        let report = start.search(Limits::default(), &mut |_| ());
        println!("{name}: {} states, {} transitions", report.states, report.transitions);
        assert!(report.complete && report.violation.is_none(), "{name}: {:?}", report.violation.map(|v| v.event));
    }
}

/// Lost where a copy is made, on the way to the home, and in memory.
#[test]
fn coh_psn_01_n() {
    for mutant in
        [CoherenceMutant::FillCleansPoison, CoherenceMutant::PoisonLeftBehind, CoherenceMutant::MemoryCleansPoison]
    {
        killed(mutant, "COH-PSN-01");
    }
    for (name, mutant) in [
        ("hdm-db-2-poison", CoherenceMutant::FillCleansPoison),
        ("hdm-db-2-poison", CoherenceMutant::MemoryCleansPoison),
        ("hdm-d-poison", CoherenceMutant::MemoryCleansPoison),
    ] {
        let config = CoherenceConfig { rules: mutant.rules(), ..CoherenceConfig::default() };
        let found = named::find(name).expect("a name").start(config).search(Limits::default(), &mut |_| ());
        assert_eq!(found.violation.map(|v| v.event.rule), Some("COH-PSN-01"), "{name} {mutant:?}");
    }
}

/// Every legal answer: dirty grants, pulled clean evicts, Cmp-M, forwarded clean lines.
#[test]
fn poison_stays_through_every_legal_answer() {
    let config = CoherenceConfig {
        alternatives: true,
        grant_dirty: true,
        clean_evict: CleanEvictAnswer::Pull,
        snp_cur_on_clean: SnpCurOnClean::Forward,
        ..CoherenceConfig::default()
    };
    let cache = CacheSetup { poisoners: IdSet::of_bits(0b01), ..CacheSetup::free(config.clone(), 2, ALL_REQUESTS) };
    clean("CXL.cache, poison", &cache_system(cache));
    let config = CoherenceConfig { mem: MemConfig { cmp_m: true, ..MemConfig::default() }, ..config };
    let device = vec![DeviceOp::ReadOnce, DeviceOp::ReadShared, DeviceOp::ReadOwn, DeviceOp::Evict];
    let requests = vec![HostReq::RD_ANY, HostReq::RD_SHARED, HostReq::RD_ONCE];
    let own = MemSetup { poisoners: IdSet::of_bits(0b100), device, requests, ..MemSetup::core(config, 2) };
    clean("HDM-DB, the device stores poison", &mem_system(own));
    let uio = MemSetup { poisoners: IdSet::of_bits(0b101), ..MemSetup::uio(CoherenceConfig::default()) };
    clean("HDM-DB, a peer writes poison", &mem_system(uio));
}

/// A header's Poison bit and the data's poison are one thing, both ways, in every class with data.
#[test]
fn coh_psn_02_p() {
    for class in hops::CLASSES {
        for poison in [false, true] {
            let mut msg = hops::message(class);
            if let Some(data) = msg.data_mut() {
                *data = data.poisoned(poison);
            }
            let message = msg.to_link(PeerRoute::default());
            let bit = match &message {
                Message::D2hData(m, _) => Some(m.poison),
                Message::H2dData(m, _) => Some(m.poison),
                Message::M2sRwd(m, _) => Some(m.poison),
                Message::S2mDrs(m, _) => Some(m.poison),
                _ => None,
            };
            assert_eq!(bit, msg.data().map(|_| poison), "{class:?}");
            assert_eq!(from_link(&message), msg, "{class:?}");
            assert_eq!(msg.label().ends_with(" Poison"), bit == Some(true), "{class:?}");
        }
    }
    // A line that nobody poisoned reads good.
    let config = CoherenceConfig::default();
    let out = give(&mut device(&config, 1, Holders::NONE), &config, 0, rd_any());
    assert_eq!(poison_sent(&out), [false]);
}

#[test]
fn coh_psn_02_n() {
    killed(CoherenceMutant::FillPoisons, "COH-PSN-02");
}

fn rd_any() -> Msg<CacheLine> {
    m2s(M2sReqOpcode::MemRd, Some(MetaValue::Any), SnpType::SnpInv)
}

/// MemWrPtl at a device: of a good part over poison, of poison over a good line.
#[test]
fn coh_psn_03_p() {
    let config = CoherenceConfig::default();
    for (line, part) in [(true, false), (false, true)] {
        let part_of = |data: CacheLine| {
            let mut msg = write(M2sRwdOpcode::MemWrPtl, Some(MetaValue::Invalid), SnpType::SnpInv, 0);
            if let Msg::M2sRwd { data: own, enables, .. } = &mut msg {
                (*own, *enables) = (data, 1);
            }
            msg
        };
        let mut db = device(&config, 1, Holders::NONE);
        db.set_poison(X, line);
        give(&mut db, &config, 0, part_of(bytes(2).poisoned(part)));
        assert_eq!(poison_sent(&give(&mut db, &config, 0, rd_any())), [true], "HDM-DB");

        let mut d = BiasDevice::new();
        d.preset(X, bytes(1).poisoned(line), Bias::Host, Copy4::I, None);
        give(&mut d, &config, 0, part_of(bytes(2).poisoned(part)));
        assert_eq!(poison_sent(&give(&mut d, &config, 0, rd_any())), [true], "HDM-D");

        let mut h = HdmH::new();
        let mut whole = write(M2sRwdOpcode::MemWr, Some(MetaValue::Any), SnpType::NoOp, 1);
        *whole.data_mut().expect("data") = bytes(1).poisoned(line);
        give(&mut h, &config, 0, whole);
        let mut msg = part_of(bytes(2).poisoned(part));
        if let Msg::M2sRwd { snp, .. } = &mut msg {
            *snp = SnpType::NoOp;
        }
        give(&mut h, &config, 0, msg);
        let read = m2s(M2sReqOpcode::MemRd, None, SnpType::NoOp);
        assert_eq!(poison_sent(&give(&mut h, &config, 0, read)), [true], "HDM-H");
        assert_eq!(h.memory(X).bytes[..2], [2, 1]);

        // A store of a part into a copy, of a device and of a host.
        let mut bench = Bench::new(CacheLineState::I);
        bench.device.preset(LINE, CacheLineState::E, token(Age::Current).poisoned(line));
        let store = WriteBytes { data: token(Age::New).poisoned(part), enables: 1 };
        assert!(bench.device.store(LINE, &store, &mut AgentOutput::default()));
        assert_eq!(poison_sent(&bench.snoop(Snoop::Inv, 0)), [true]);
        let mut owner = host(Copy4::I);
        owner.preset(X, Copy4::E, bytes(1).poisoned(line));
        assert!(owner.store(&config, X, bytes(2).poisoned(part), 1, &mut AgentOutput::default()));
        let mut out = AgentOutput::default();
        owner.write_back(X, Copy4::I, &mut out);
        assert_eq!(poison_sent(&out), [true]);
    }
}

#[test]
fn coh_psn_03_n() {
    killed(CoherenceMutant::PartClearsPoison, "COH-PSN-03");
}

#[test]
fn coh_psn_04_p() {
    let config = CoherenceConfig::default();
    let mut db = device(&config, 1, Holders::NONE);
    db.set_poison(X, true);
    give(&mut db, &config, 0, write(M2sRwdOpcode::MemWr, Some(MetaValue::Invalid), SnpType::SnpInv, 2));
    assert_eq!(poison_sent(&give(&mut db, &config, 0, rd_any())), [false]);
    let mut owner = host(Copy4::I);
    owner.preset(X, Copy4::E, bad(1));
    assert!(owner.store(&config, X, bytes(2), WHOLE_LINE, &mut AgentOutput::default()));
    assert_eq!(owner.load(&config, X, &mut AgentOutput::default()), Some(bytes(2)));
    let mut home = HomeAgent::new(Flat::<LineToken>::default());
    home.memory.write(LINE, &token(Age::Current).poisoned(true), WHOLE_LINE);
    let mut out = AgentOutput::default();
    for msg in [
        Msg::D2hReq { opcode: Op::ItoMWr, line: LINE, cqid: 0 },
        Msg::D2hData { uqid: uqid(0, 0), bogus: false, data: token(Age::New), enables: WHOLE_LINE },
    ] {
        home.take(&config, 0, msg, 0, &mut out);
    }
    assert_eq!((home.memory.read(LINE), out.events.len()), (token(Age::New), 0));
}

#[test]
fn coh_psn_04_n() {
    killed(CoherenceMutant::WholeKeepsPoison, "COH-PSN-04");
}

/// A poisoned fill is cached in S, E and M, served to loads, and handed on by every way out of the cache.
#[test]
fn coh_psn_05_p() {
    let config = CoherenceConfig::default();
    let poisoned = || Msg::H2dData { cqid: 0, go_err: false, data: token(Age::Current).poisoned(true) };
    for (go, at) in [
        (HostAnswer::GoS, CacheLineState::S),
        (HostAnswer::GoE, CacheLineState::E),
        (HostAnswer::GoM, CacheLineState::M),
    ] {
        for data_first in [false, true] {
            let mut bench = Bench::issued(CacheLineState::I, Op::RdAny);
            let msgs = if data_first { [poisoned(), rsp(go, 0)] } else { [rsp(go, 0), poisoned()] };
            for msg in msgs {
                assert!(bench.give(msg, 0).events.is_empty());
            }
            assert_eq!(bench.at(), at);
            let loaded = bench.device.load(&config, LINE).copied();
            assert_eq!(loaded, Some(token(Age::Current).poisoned(true)), "{at:?}");
            if at != CacheLineState::M {
                continue;
            }
            for snoop in [Snoop::Data, Snoop::Inv, Snoop::Cur] {
                assert_eq!(poison_sent(&bench.clone().snoop(snoop, 0)), [true], "{snoop:?}");
            }
            bench.issue(Op::DirtyEvict);
            let out = bench.answer(HostAnswer::GoPull);
            assert_eq!((poison_sent(&out), data_sent(&out)), (vec![true], vec![(0x21, false)]));
        }
    }
    // A value that is used once says it as well.
    let mut bench = Bench::issued(CacheLineState::I, Op::RdCurr);
    let used = bench.give(poisoned(), 0).effects;
    assert!(matches!(used[..], [Effect::Used { value: LineToken { poison: true, .. }, .. }, ..]), "{used:?}");

    // A host of HDM-DB.
    let mut reader = host(Copy4::I);
    reader.issue(X, HostReq::RD_ANY, HostAccess::Nothing, &mut AgentOutput::default());
    give(&mut reader, &config, 0, ndr(NdrOpcode::CmpE, 0));
    let mut data = drs(0, 3);
    *data.data_mut().expect("data") = bad(3);
    give(&mut reader, &config, 0, data);
    assert_eq!(reader.load(&config, X, &mut AgentOutput::default()), Some(bad(3)));
}

/// A load that hides the poison is seen by a litmus case and by the random tester.
#[test]
fn coh_psn_05_n() {
    assert_eq!(killers::of(CoherenceMutant::LoadHidesPoison).map(|k| k.rule), Some("COH-PSN-05"));
    let mut case = parse(LOADS_OVER_HDM_DB).expect("a case");
    case.config.rules = CoherenceMutant::LoadHidesPoison.rules();
    let violation = case.explore().expect("a legal case").violation.expect("a broken rule");
    assert_eq!(violation.event.rule, "COH-PSN-05", "{}", violation.event);
    let mut stress = Stress::new(StressProtocol::HdmDb(2), 1, 20_000);
    stress.config.rules = CoherenceMutant::LoadHidesPoison.rules();
    let failure = stress.run().expect_err("a broken rule");
    assert_eq!(failure.event.rule, "COH-PSN-05", "{failure}");
}

const LOADS_OVER_HDM_DB: &str = r#"
    kind = "hdm-db"
    start = "MI"
    programs = [[], ["MemRdS", "Load"]]
    poison = [0]
"#;

/// Each outcome: letters, `+` for a fresh home, whether it is poisoned, what each load got.
fn outcomes(text: &str) -> Vec<String> {
    let found = parse(text).and_then(|case| case.explore()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    if let Some(v) = &found.violation {
        panic!("{}\n{}", v.event, v.chart().text());
    }
    let outcome = |o: &scalepool::proof::litmus::LitmusOutcome| {
        let poison = o.poison.as_ref().expect("somebody poisons");
        let home = if poison.home { "P" } else { "c" };
        format!("{}{} {home} {}", o.letters, if o.fresh { '+' } else { '-' }, poison.loads.join(","))
    };
    found.outcomes.iter().map(outcome).collect()
}

/// The expected outcomes were derived by hand.
#[test]
fn final_outcomes_show_poison() {
    let case = |kind: &str, start: &str, programs: &str, poison: usize| {
        outcomes(&format!("kind = \"{kind}\"\nstart = \"{start}\"\nprograms = {programs}\npoison = [{poison}]\n"))
    };
    let cache = |start, programs| case("cxl-cache", start, programs, 0);
    // The dirty line goes to memory and to the reader, poison and all.
    assert_eq!(cache("MI", r#"[["Load"], ["RdShared", "Load"]]"#), ["SS+ P P,P"]);
    // Written back, then read: the reader gets E, or S when its read was first.
    assert_eq!(cache("MI", r#"[["DirtyEvict"], ["RdAny", "Load"]]"#), ["IE+ P ,P", "IS+ P ,P"]);
    // A store of a part leaves poison, a write of the whole line takes it away.
    assert_eq!(cache("MI", r#"[[], ["RdOwn", "Store", "Load"]]"#), ["IM- P ,P"]);
    assert_eq!(cache("MI", r#"[[], ["WrInv", "RdShared", "Load"]]"#), ["IS+ P ,P"]);
    assert_eq!(cache("MI", r#"[[], ["ItoMWr", "RdShared", "Load"]]"#), ["IS+ c ,c"]);
    // The write of a whole line by who poisons.
    assert_eq!(cache("II", r#"[["ItoMWr"], []]"#), ["II+ P ,"]);
    // Good before and poisoned behind the peer's store. Where the read took the E before the store was there, it is good
    // again, or used once and lost to the store that asks again.
    assert_eq!(
        cache("IS", r#"[["RdOwn", "Store"], ["Load", "RdShared", "Load"]]"#),
        ["MI- c ,c", "MI- c ,cc", "SS+ P ,cP"]
    );
    // CXL.mem: MemWr brings poison to memory, a store of the host writes the whole line.
    assert_eq!(outcomes(LOADS_OVER_HDM_DB), ["SS+ P ,P"]);
    assert_eq!(case("hdm-db", "MI", r#"[["MemWr"], ["MemRdA", "Store", "Load"]]"#, 0), ["IM- P ,c"]);
    assert_eq!(case("hdm-d", "IM", r#"[["RdOwn", "Load"], []]"#, 1), ["EI+ P P,"]);
    assert_eq!(case("hdm-d", "MI", r#"[["DirtyEvict"], ["MemRdS", "Load"]]"#, 0), ["IS+ P ,P"]);

    let refused = parse("kind = \"cxl-cache\"\nstart = \"II\"\nprograms = [[], []]\npoison = [2]\n");
    assert_eq!(
        refused.expect_err("no such agent").to_string(),
        "line 4: found `2`, expected the number of an agent, 0 to 1"
    );
    // Without the key the form of an outcome is as ever.
    let plain = parse("kind = \"cxl-cache\"\nstart = \"II\"\nprograms = [[], []]\n").expect("a case");
    assert_eq!(
        plain.explore().expect("legal").to_json()["outcomes"].to_string(),
        r#"[{"final":"II","fresh":true,"paths":1}]"#
    );
    let json = parse(LOADS_OVER_HDM_DB).expect("a case").explore().expect("legal").to_json();
    assert_eq!(
        (&json["outcomes"][0]["poisoned"], &json["outcomes"][0]["loads"]),
        (&true.into(), &["", "P"].as_slice().into())
    );
}

/// Bogus data is dropped with its poison, data of a clean evict is not written: memory stays good.
#[test]
fn poison_of_dropped_data_has_no_effect() {
    let config = CoherenceConfig { clean_evict: CleanEvictAnswer::Pull, ..CoherenceConfig::default() };
    for (op, holds, bogus) in [(Op::DirtyEvict, false, true), (Op::CleanEvict, true, false)] {
        let mut home = HomeAgent::new(Flat::<CacheLine>::default());
        home.memory.write(LINE, &bytes(1), WHOLE_LINE);
        let owner = holds.then_some(0);
        home.set_holders(LINE, super::cache_bench::Holders { owner, sharers: IdSet::of_bits(0) });
        let mut out = AgentOutput::default();
        for msg in [
            Msg::D2hReq { opcode: op, line: LINE, cqid: 0 },
            Msg::D2hData { uqid: uqid(0, 0), bogus, data: bad(1), enables: WHOLE_LINE },
        ] {
            home.take(&config, 0, msg, 0, &mut out);
        }
        assert_eq!((home.memory.read(LINE), out.events.len()), (bytes(1), 0), "{op:?}");
    }
}

/// HDM-D pulls the device's write over CXL.cache and writes it over CXL.mem.
#[test]
fn poison_crosses_from_cxl_cache_to_cxl_mem() {
    let config = CoherenceConfig::default();
    let mut bridge = BiasHost::new(0);
    let out = give(&mut bridge, &config, 0, Msg::D2hReq { opcode: D2hReqOpcode::WrInv, line: X, cqid: 0 });
    let [(_, Msg::H2dRsp { opcode: H2dRspOpcode::WritePull, rsp_data: uqid, .. })] = out.sends[..] else {
        panic!("{:?}", out.sends)
    };
    let out = give(&mut bridge, &config, 0, Msg::D2hData { uqid, bogus: false, data: bad(4), enables: 1 });
    assert!(matches!(out.sends[..], [(_, Msg::M2sRwd { data: CacheLine { poison: true, .. }, enables: 1, .. })]));
}

/// What the device has not: all ones, poisoned where the option says so.
#[test]
fn a_read_of_nothing_is_poisoned_if_enabled() {
    let range = vec![NoRange { first: X.address(), last: X.address() + 63 }];
    for poison in [false, true] {
        let mem = MemConfig { no_range: range.clone(), no_range_poison: poison, ..MemConfig::default() };
        let config = with(mem);
        let out = give(&mut device(&config, 1, Holders::NONE), &config, 0, rd_any());
        assert!(matches!(out.sends[..], [(_, Msg::S2mDrs { data, .. })] if data == CacheLine::ones().poisoned(poison)));
    }
}

/// Random runs: one store or write in five is poisoned, every load and every value is held against the last stores.
#[test]
fn poison_in_random_runs() {
    let protocols = [StressProtocol::Cache(4), StressProtocol::HdmDb(3), StressProtocol::HdmD];
    let sum = runs(&protocols, 12, 120_000);
    assert!(sum.loads > 0);
    for protocol in protocols {
        let run = |poison_every| {
            let stress = Stress { poison_every, ..Stress::new(protocol, 3, 20_000) };
            stress.run().unwrap_or_else(|failure| panic!("{protocol:?}\n{failure}"))
        };
        let (with, without) = (run(5), run(0));
        assert!(with.poisoned_loads > 100 && with.poisoned_loads < with.loads, "{protocol:?}: {with:?}");
        // No agent acts on poison: all else is equal.
        assert_eq!(scalepool::proof::stress::StressCounts { poisoned_loads: 0, ..with }, without);
    }
}

/// C14-12.1.3 and 12.1.5 end to end: over real links of every kind, through switches, and to a direct peer's memory.
#[test]
fn poison_crosses_real_links() {
    let common = ["core.poison_every=3", "core.accesses=150", "core.lines=6", "core.cache_lines=4"];
    let poisoned = |scenario: &str, more: &[&str]| {
        let set = settings(&[&common[..], more].concat());
        let report = sound(scenario, None, &set);
        let (loads, accesses) = (count(&report, "poisoned loads"), count(&report, "accesses"));
        assert!(loads > 0 && loads < accesses, "{scenario} {more:?}: {loads} of {accesses}");
    };
    for mode in MODES {
        let mode = format!("link.mode={mode}");
        poisoned("cxl-cache-pair", &[&mode, "core.pattern=migratory"]);
        poisoned("bias-flip", &[&mode, "core.pattern=migratory"]);
        if mode != "link.mode=cxl-68b" {
            poisoned("hdm-db-share", &[&mode, "core.pattern=migratory"]);
        }
    }
    poisoned("cxl-cache-switch", &["core.pattern=migratory"]);
    poisoned(&below_a_switch(), &["link.mode=cxl-256b-lopt", "core.pattern=migratory"]);
    poisoned("hdm-db-fabric", &["peers=1", "core.pattern=migratory"]);
    // Without the setting the report says nothing of it.
    let report = sound("bias-flip", None, &settings(&["core.accesses=20"]));
    assert!(report.counts.iter().all(|(name, _)| name != "poisoned loads"));
}

/// Classes that carry poison.
#[test]
fn four_classes_carry_data() {
    let with_data = hops::CLASSES.into_iter().filter(|class| hops::message(*class).data().is_some());
    assert_eq!(with_data.collect::<Vec<_>>(), [Class::D2hData, Class::H2dData, Class::M2sRwd, Class::S2mDrs]);
    assert_eq!(hops::message(Class::M2sRwd).line(), Some(LineAddr(4)));
}
