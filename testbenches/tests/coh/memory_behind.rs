//! A home whose memory is behind a port: the same protocol below, with reads and writes of memory that take their time. First
//! explored, then message by message, then clocked over links with a memory device.

use super::scenarios::{PATTERNS, count, settings, sound};
use scalepool::coherence::agent::{Agent, AgentOutput};
use scalepool::coherence::cache::backing::{Backing, LinesInHand};
use scalepool::coherence::cache::home::{HomeAgent, Phase};
use scalepool::coherence::config::CoherenceConfig;
use scalepool::coherence::content::{CacheLine, LineAddr, LineContent, WHOLE_LINE};
use scalepool::coherence::ids::IdSet;
use scalepool::coherence::mem::{Dcoh, DeviceOp};
use scalepool::coherence::message::Msg;
use scalepool::proof::explore::{ExplorationReport, Limits, search};
use scalepool::proof::mutant::CoherenceMutant;
use scalepool::proof::systems::cache::{ALL_REQUESTS, HINTED_REQUESTS, Setup, system};
use scalepool::proof::systems::mem::{Setup as MemSetup, system as mem_system};
use scalepool::scenario::{self, ScenarioRequest};
use scalepool_protocols::cxl::cxl256::code::{
    D2hReqOpcode as Op, DevLoad, DrsOpcode, M2sReqOpcode, M2sRwdOpcode, MetaField, MetaValue, NdrOpcode, SnpType,
};
use scalepool_testbenches::soak::is_soak;
use std::path::Path;

fn behind(config: CoherenceConfig, devices: u16, menu: &[Op]) -> Setup {
    Setup { memory_behind: true, ..Setup::free(config, devices, menu) }
}

fn explored(setup: Setup) -> ExplorationReport {
    search(&system(setup), Limits { states: 3_000_000, ..Limits::default() })
}

/// For a rule that is off: no rule here is about what never ends.
const SAFETY: Limits =
    Limits { states: 3_000_000, symmetry: false, liveness: false, reduction: false, memory_bytes: None, threads: 1 };

#[track_caller]
fn clean(setup: Setup) -> ExplorationReport {
    let report = explored(setup);
    assert!(report.complete && report.violation.is_none(), "{:?}", report.violation.map(|v| v.chart().text()));
    report
}

/// Memory that takes its time adds states and takes no outcome away.
#[test]
fn programs_end_as_they_do_with_memory_at_the_home() {
    let config = CoherenceConfig::default;
    let own = clean(Setup { core: true, ..Setup::free(config(), 2, ALL_REQUESTS) });
    let other = clean(Setup { core: true, ..behind(config(), 2, ALL_REQUESTS) });
    assert!(other.states > own.states && other.depth > own.depth, "{} {}", other.states, own.states);
    let three = clean(Setup { waiting_stores: false, ..behind(config(), 3, &HINTED_REQUESTS[..3]) });
    println!("{} and {} states with a core, {} with three devices", own.states, other.states, three.states);
}

#[test]
fn rules_are_kept_under_every_choice() {
    for choice in [
        "alternatives = true",
        "silent_drop_e = true",
        "snp_data_on_m = 'invalid'",
        "grant_dirty = true",
        "clean_evict = 'pull'",
        "rd_any_exclusive = false",
        "home_queue_requests = 1",
        "error_ranges = [{first = 0, last = 63, answer = 'go-error'}]",
        "error_ranges = [{first = 0, last = 63, answer = 'go-invalid'}]",
        "mem.meta_stored = true",
        "mem.no_range = [{first = 0, last = 63}]",
    ] {
        let setup = behind(super::reviewed::configured(choice), 2, MENU);
        println!("{choice}: {} states", clean(setup).states);
    }
}

/// Two lines, so that transactions are open beside each other and may come back in any order.
#[test]
fn two_lines_are_fetched_and_stored_beside_each_other() {
    for transactions in [1, 255] {
        let config = CoherenceConfig { home_transactions: transactions, ..CoherenceConfig::default() };
        let setup =
            Setup { lines: 2, waiting_stores: false, ..behind(config, 1, &[Op::RdOwn, Op::ItoMWr, Op::DirtyEvict]) };
        println!("{transactions} transactions: {} states", clean(setup).states);
    }
}

/// Reads, a write of a part, and both evicts.
const MENU: &[Op] = &[Op::RdCurr, Op::RdAny, Op::RdOwn, Op::WrInv, Op::CleanEvict, Op::DirtyEvict];

/// Poison comes back from memory with the bytes, and a write of a part keeps it.
#[test]
fn poison_stays_with_the_line_in_memory() {
    let poisoners = IdSet::of_bits(0b10);
    let config = CoherenceConfig::default;
    clean(Setup { poisoners: poisoners.clone(), core: true, ..behind(config(), 2, MENU) });
    for (mutant, rule) in
        [(CoherenceMutant::MemoryCleansPoison, "COH-PSN-01"), (CoherenceMutant::PartClearsPoison, "COH-PSN-03")]
    {
        let config = CoherenceConfig { rules: mutant.rules(), ..config() };
        let setup = Setup { poisoners: poisoners.clone(), core: true, ..behind(config, 2, ALL_REQUESTS) };
        assert_eq!(search(&system(setup), SAFETY).violation.map(|v| v.event.rule), Some(rule), "{mutant:?}");
    }
}

/// By the monitor of the rule, and with the monitors of steps off by the harm to states, values and progress.
#[test]
fn rules_that_are_off_are_found() {
    use CoherenceMutant::*;
    for (mutant, said, harm) in [
        (SnoopPassesGo, "COH-ORD-01", "COH-ORD-06"),
        (HomeDoesNotBlock, "COH-HOM-01", "COH-REQ-20"),
        (SnoopDuringPull, "COH-HOM-01", "COH-REQ-20"),
        (SnoopBetweenDataAndGo, "COH-HOM-01", "COH-ORD-06"),
        (SnoopWaitsForRequest, "COH-ORD-07", "COH-INV-09"),
        (GoBeforeAnswers, "COH-ORD-08", "COH-SNP-13"),
        (EvictUntracksAll, "COH-ORD-12", "COH-INV-04"),
        (UseAfterEvict, "COH-STA-04", "COH-INV-02"),
        (BogusNotSet, "COH-BOG-01", "COH-EVT-03"),
        (BogusWritten, "COH-BOG-03", "COH-INV-03"),
        (GrantedAnswersAsInvalid, "COH-TRN-03", "COH-INV-04"),
        (OldBytesKept, "COH-TRN-02", "COH-INV-02"),
        (StaleEvictClearsOwner, "COH-EVT-04", "COH-INV-04"),
        (CurrentDataCleansOwner, "COH-HOM-04", "COH-EVT-03"),
        (SharersNotSnooped, "COH-HOM-02", "COH-INV-04"),
        (DirtyDropped, "COH-STA-02", "COH-INV-03"),
        (CopyKeptUnderSnpInv, "COH-SNP-06", "COH-INV-04"),
        (CleanGrantedDirty, "COH-REQ-17", "COH-REQ-17"),
        (WriteEndsBeforeData, "COH-ORD-13", "COH-ORD-13"),
        (StoreNotAwaited, "COH-HOM-01", "COH-INV-03"),
    ] {
        // The harm takes most of the time, and `consequences` has that of every mutant: here every third, in `make soak` all.
        let harm = (is_soak() || (mutant as usize).is_multiple_of(3)).then_some((false, harm));
        for (orders, rule) in [(true, said)].into_iter().chain(harm) {
            let config =
                CoherenceConfig { rules: mutant.rules(), ..super::reviewed::configured("clean_evict = 'pull'") };
            let report = search(&system(Setup { orders, ..behind(config, 2, ALL_REQUESTS) }), SAFETY);
            let found = report.violation.map(|violation| violation.event.rule);
            assert_eq!(found, Some(rule), "{mutant:?}, monitors of steps: {orders}");
        }
    }
}

fn device_behind(config: CoherenceConfig) -> MemSetup {
    MemSetup { memory_behind: true, device: OWN.to_vec(), ..MemSetup::core(config, 2) }
}

const OWN: &[DeviceOp] = &[DeviceOp::ReadOnce, DeviceOp::ReadShared, DeviceOp::ReadOwn, DeviceOp::Evict];

fn mem_explored(setup: MemSetup) -> ExplorationReport {
    search(&mem_system(setup), Limits { states: 3_000_000, ..Limits::default() })
}

#[track_caller]
fn mem_clean(setup: MemSetup) -> ExplorationReport {
    let report = mem_explored(setup);
    assert!(report.complete && report.violation.is_none(), "{:?}", report.violation.map(|v| v.chart().text()));
    report
}

/// A device with HDM-DB whose memory is behind a port, in each of the systems in which its own memory is explored.
#[test]
fn devices_with_back_invalidation_fetch_and_store() {
    let config = CoherenceConfig::default;
    let own = mem_clean(MemSetup { memory_behind: false, ..device_behind(config()) });
    let other = mem_clean(device_behind(config()));
    assert!(other.states > own.states && other.depth > own.depth, "{} {}", other.states, own.states);
    let behind = |setup: MemSetup| MemSetup { memory_behind: true, ..setup };
    let poisoners = IdSet::of_bits(0b010);
    for (name, setup) in [
        ("uio", MemSetup::uio(config())),
        ("one entry of the filter", MemSetup::one_entry(config())),
        ("waiting accesses", MemSetup::waiting_accesses(config(), 2)),
        ("blocks", MemSetup { device: vec![DeviceOp::Evict], ..MemSetup::blocks(config(), 1, &[DeviceOp::ReadOwn]) }),
        ("poison", MemSetup { poisoners, ..MemSetup::core(config(), 2) }),
        ("every request of one host", MemSetup::everything(config(), 1)),
    ] {
        println!("{name}: {} states", mem_clean(behind(setup)).states);
    }
}

#[test]
fn devices_keep_their_rules_under_every_choice() {
    for choice in [
        "alternatives = true",
        "mem.cmp_m = true",
        "mem.device_keeps_shared = true",
        "mem.shared_grants_exclusive = true",
        "mem.host_keeps = 'nothing'",
        "mem.no_range = [{first = 0, last = 63}]",
        "without_bytes = 'write'",
    ] {
        let setup = MemSetup {
            device: vec![DeviceOp::ReadOwn, DeviceOp::Evict],
            ..device_behind(super::reviewed::configured(choice))
        };
        println!("{choice}: {} states", mem_clean(setup).states);
    }
}

/// As for the home: by the monitor of the rule, and by the harm.
#[test]
fn rules_of_the_device_that_are_off_are_found() {
    use CoherenceMutant::*;
    for (mutant, said, harm) in [
        (AckPassesCmp, "COH-BIC-03", "COH-INV-04"),
        (FilledWithoutData, "COH-MEM-47", "COH-MEM-47"),
        (HolderSkipped, "COH-MHO-01", "COH-INV-04"),
        (OwnerNotAsked, "COH-MHO-02", "COH-INV-01"),
        (AnswerBeforeWriteDone, "COH-SFI-05", "COH-MEM-42"),
        (DirtyHostNotWritten, "COH-SFI-05", "COH-INV-02"),
        (BisnpBlocksRwd, "COH-SFI-06", "COH-INV-09"),
        (ReqServedUnderBisnp, "COH-SFI-06", "COH-INV-01"),
        (ConflictOnReq, "COH-BIC-01", "COH-INV-09"),
        (AckWithheld, "COH-BIC-01", "COH-INV-09"),
        (ConflictRowSwapped, "COH-BIC-04", "COH-INV-04"),
    ] {
        for (orders, rule) in [(true, said), (false, harm)] {
            let config = CoherenceConfig { rules: mutant.rules(), ..CoherenceConfig::default() };
            let found = search(&mem_system(MemSetup { orders, ..device_behind(config) }), SAFETY).violation;
            let found = found.map(|violation| violation.event.rule);
            assert_eq!(found, Some(rule), "{mutant:?}, monitors of steps: {orders}");
        }
    }
}

type Home = HomeAgent<CacheLine, LinesInHand<CacheLine>>;
const LINE: LineAddr = LineAddr(5);
/// The port behind which the memory is.
const MEMORY: u16 = 2;

fn asked(home: &mut Home, opcode: Op, cqid: u16) -> Vec<(u16, Msg<CacheLine>)> {
    took(home, 0, Msg::D2hReq { opcode, line: LINE, cqid })
}

#[track_caller]
fn took(home: &mut Home, port: u16, msg: Msg<CacheLine>) -> Vec<(u16, Msg<CacheLine>)> {
    let mut out = AgentOutput::default();
    home.take(&CoherenceConfig::default(), port, msg, 0, &mut out);
    assert!(out.events.is_empty(), "{:?}", out.events);
    out.sends
}

fn read_of(tag: u16) -> Msg<CacheLine> {
    let (meta_field, meta) = (MetaField::NoOp, MetaValue::Invalid);
    Msg::M2sReq { opcode: M2sReqOpcode::MemRd, snp: SnpType::NoOp, meta_field, meta, line: LINE, tag }
}

fn data(tag: u16, opcode: DrsOpcode, data: CacheLine) -> Msg<CacheLine> {
    Msg::S2mDrs { opcode, meta_field: MetaField::NoOp, meta: MetaValue::Invalid, tag, data, devload: DevLoad(0) }
}

fn done(tag: u16) -> Msg<CacheLine> {
    let (meta_field, meta) = (MetaField::NoOp, MetaValue::Invalid);
    Msg::S2mNdr { opcode: NdrOpcode::Cmp, meta_field, meta, tag, devload: DevLoad(0) }
}

/// Every message of a read, a write of a part and an evict: what is sent, in which order, and with which bytes.
#[test]
fn each_message_by_hand() {
    let mut home = Home::new(LinesInHand::of(MEMORY));
    let old = CacheLine::of([7; 64]);
    // A read: MemRd under the number of the transaction, then data and GO of what came.
    assert_eq!(asked(&mut home, Op::RdOwn, 3), [(MEMORY, read_of(0))]);
    assert_eq!(home.open()[0].phase, Phase::Fetching);
    let sent = took(&mut home, MEMORY, data(0, DrsOpcode::MemData, old));
    assert!(
        matches!(sent[..], [(0, Msg::H2dData { cqid: 3, data, .. }), (0, Msg::H2dRsp { cqid: 3, .. })] if data == old)
    );
    assert!(home.is_idle() && !home.memory.has(LINE), "nothing stays at the home");
    // The evict of a dirty line: pulled, stored, and only then is the line free.
    let pull = asked(&mut home, Op::DirtyEvict, 4);
    let [(0, Msg::H2dRsp { rsp_data: uqid, .. })] = pull[..] else { panic!("{pull:?}") };
    let dirty = CacheLine::of([8; 64]);
    let sent = took(&mut home, 0, Msg::D2hData { uqid, bogus: false, data: dirty, enables: WHOLE_LINE });
    let (meta_field, meta) = (MetaField::Meta0State, MetaValue::Invalid);
    let (opcode, snp) = (M2sRwdOpcode::MemWr, SnpType::NoOp);
    let write = |data| Msg::M2sRwd { opcode, snp, meta_field, meta, line: LINE, tag: 0, data, enables: WHOLE_LINE };
    assert_eq!(sent, [(MEMORY, write(dirty))]);
    assert_eq!(home.open()[0].phase, Phase::Storing { ends: true });
    assert_eq!(took(&mut home, MEMORY, done(0)), []);
    assert!(home.is_idle());
    // A write of a part: the line is fetched before the pull, and what is stored is old bytes with the new ones in them.
    assert_eq!(asked(&mut home, Op::WrInv, 5), [(MEMORY, read_of(0))]);
    let pull = took(&mut home, MEMORY, data(0, DrsOpcode::MemData, dirty));
    let [(0, Msg::H2dRsp { rsp_data: uqid, .. })] = pull[..] else { panic!("{pull:?}") };
    let sent = took(&mut home, 0, Msg::D2hData { uqid, bogus: false, data: CacheLine::of([9; 64]), enables: 0b11 });
    let mut merged = dirty;
    merged.bytes[..2].fill(9);
    assert_eq!(sent, [(MEMORY, write(merged))]);
    let end = took(&mut home, MEMORY, done(0));
    assert!(matches!(end[..], [(0, Msg::H2dRsp { cqid: 5, .. })]), "{end:?}");
    assert!(home.is_idle());
    // A write of a whole line needs nothing from memory.
    let pull = asked(&mut home, Op::ItoMWr, 6);
    assert!(matches!(pull[..], [(0, Msg::H2dRsp { .. })]), "{pull:?}");
}

/// A line that the memory does not have: an error for whoever asked.
#[test]
fn a_line_that_is_not_there_is_an_error() {
    let mut home = Home::new(LinesInHand::of(MEMORY));
    asked(&mut home, Op::RdCurr, 1);
    let sent = took(&mut home, MEMORY, data(0, DrsOpcode::MemDataNXM, CacheLine::of([0xff; 64])));
    assert_eq!(sent, [(0, Msg::H2dData { cqid: 1, go_err: true, data: CacheLine::ones() })]);
    assert!(home.is_idle());
}

/// Answers that nobody waits for are told and change nothing.
#[test]
fn answers_of_memory_without_a_transaction_are_told() {
    let mut home = Home::new(LinesInHand::of(MEMORY));
    asked(&mut home, Op::RdShared, 1);
    let before = home.clone();
    for (msg, found, expected) in [
        (data(1, DrsOpcode::MemData, CacheLine::of([1; 64])), "S2M DRS with tag 1", "the tag of an open read"),
        (done(0), "S2M NDR with tag 0", "the tag of an open write"),
    ] {
        let mut out = AgentOutput::default();
        home.take(&CoherenceConfig::default(), MEMORY, msg, 0, &mut out);
        let event = &out.events[0];
        assert_eq!((event.rule, event.found.as_str(), event.expected.as_str()), ("COH-IDS-01", found, expected));
        assert!(home == before && out.sends.is_empty());
    }
    let mut own =
        HomeAgent::<CacheLine, scalepool::coherence::cache::backing::Flat<CacheLine>>::new(Default::default());
    let mut out = AgentOutput::default();
    own.take(&CoherenceConfig::default(), MEMORY, done(0), 0, &mut out);
    assert_eq!(out.events[0].rule, "COH-TYP-01", "a home with its own memory asks nobody");
}

fn with_memory() -> String {
    example("home_with_memory_device.toml")
}

fn example(file: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("systems").join(file).display().to_string()
}

const SMALL: [&str; 3] = ["core.accesses=60", "core.lines=6", "core.cache_lines=2"];

/// Every line that a device asks for is read from the memory device, and every one that comes home dirty is written there.
#[test]
fn a_memory_device_serves_a_home() {
    for pattern in PATTERNS {
        let pattern = format!("core.pattern={pattern}");
        for more in [
            &[][..],
            &["link.ber=1e-5"],
            &["component.host.filter_lines=1"],
            &["devices=16", "core.accesses=10"],
            &["link.mem.kind=cxl-68b", "link.mem.rate=32"],
            &["link.mem.kind=cxl-256b-pbr", "mem.latency_cycles=1"],
        ] {
            let report = sound(&with_memory(), None, &settings(&[&SMALL[..], &[pattern.as_str()], more].concat()));
            let of =
                |class: &str| report.messages.iter().filter(|(name, _)| name.ends_with(class)).map(|(_, n)| *n).max();
            assert!(
                of("m2s_req") > Some(0) && of("m2s_req") == of("s2m_drs"),
                "{pattern} {more:?}: {:?}",
                report.messages
            );
            assert_eq!(of("m2s_rwd"), of("s2m_ndr"), "{pattern} {more:?}");
            assert_eq!(count(&report, "refused accesses"), 0, "{pattern} {more:?}");
        }
    }
}

/// The run is the same with two threads, and where nobody watches; the memory is a partition of its own.
#[test]
fn threads_and_watchers_change_nothing() {
    let run = |threads, more: &[&str]| {
        let set = settings(&[&SMALL[..], &["core.pattern=migratory"], more].concat());
        let request = ScenarioRequest { scenario: with_memory(), seed: 3, threads, set, ..ScenarioRequest::default() };
        scenario::run(&request, &mut |_| ()).expect("it runs")
    };
    let report = run(1, &[]);
    assert_eq!(run(2, &[]).json(), report.json());
    let unseen = run(2, &["watch=off"]);
    assert_eq!((&unseen.messages, unseen.time_fs), (&report.messages, report.time_fs));
    let slow = run(1, &["mem.latency_cycles=800"]);
    assert!(slow.time_fs > report.time_fs, "{} {}", slow.time_fs, report.time_fs);
}

/// A memory of two lines for cores that use six: whoever asks for another line is told, and the run ends.
#[test]
fn lines_that_the_memory_does_not_have_are_refused() {
    for pattern in PATTERNS {
        let pattern = format!("core.pattern={pattern}");
        let report = sound(
            &with_memory(),
            None,
            &settings(&[&SMALL[..], &[pattern.as_str(), "component.mem.size=128"]].concat()),
        );
        let (done, refused) = (count(&report, "accesses"), count(&report, "refused accesses"));
        assert!(done > 0 && refused > 0 && done + refused >= 120, "{pattern}: {done} done, {refused} refused");
    }
    // A 68B link has no answer for a line that is not there, so that what is written is lost, and the watcher says so.
    let set = ["component.mem.size=128", "core.pattern=migratory", "link.mem.kind=cxl-68b", "link.mem.rate=32"];
    let set = settings(&[&SMALL[..], &set].concat());
    let request = ScenarioRequest { scenario: with_memory(), seed: 3, threads: 1, set, ..ScenarioRequest::default() };
    let report = scenario::run(&request, &mut |_| ()).expect("it runs");
    assert_eq!(report.violations.first().map(|b| b.violation.rule), Some("COH-INV-03"));
}

/// Descriptions that join the memory in another way are refused, and so is the port without a link.
#[test]
fn a_memory_stands_behind_its_port() {
    let text = std::fs::read_to_string(with_memory()).expect("a description");
    for (from, to, why) in [
        ("memory = \"port\"\n", "", "found the port `memory`, expected one of port"),
        ("between = [\"host.memory\", \"mem.cxl\"]", "between = [\"host.memory\", \"dev[0].link\"]", "expected"),
        ("memory = \"port\"", "memory = \"elsewhere\"", "found `elsewhere`, expected own, port"),
    ] {
        assert!(text.contains(from), "{from}");
        let description = Some(text.replacen(from, to, 1));
        let request = ScenarioRequest { description, seed: 1, threads: 1, ..ScenarioRequest::default() };
        let error = scenario::check(&request).expect_err("refused").to_string();
        println!("{error}");
        assert!(error.contains(why), "{to}: {error}");
    }
}

/// The same for a device with back-invalidation, with the accesses of a peer on CXL.io beside those of its hosts.
#[test]
fn a_memory_device_serves_a_device_with_back_invalidation() {
    let file = example("shared_memory_device.toml");
    for pattern in PATTERNS {
        let pattern = format!("core.pattern={pattern}");
        for more in [
            &[][..],
            &["link.ber=1e-5"],
            &["component.dev.filter_sets=1"],
            &["component.dev.uio.accesses=40", "component.dev.uio.bytes=7"],
            &["component.host.count=9", "component.dev.ports=9", "core.accesses=10"],
            &["mem.latency_cycles=1", "component.host.core.poison_every=5"],
        ] {
            let report = sound(&file, None, &settings(&[&SMALL[..], &[pattern.as_str()], more].concat()));
            assert_eq!(count(&report, "refused accesses"), 0, "{pattern} {more:?}");
        }
        // Two lines of memory: whoever asks for another line is told, the peer on CXL.io too, and the run ends.
        let set = ["component.mem.size=128", "component.dev.uio.accesses=40", "component.dev.uio.bytes=7", &pattern];
        let report = sound(&file, None, &settings(&[&SMALL[..], &set].concat()));
        assert!(count(&report, "refused accesses") > 0 && count(&report, "uio aborts") > 0, "{pattern}");
        // With a small filter the victim of a refused request gives its place back.
        let set = ["component.mem.size=256", "component.dev.filter_sets=1", "component.dev.filter_ways=2", &pattern];
        let report = sound(
            &file,
            None,
            &settings(&[&["core.accesses=200", "core.lines=12", "core.cache_lines=3"], &set[..]].concat()),
        );
        assert!(count(&report, "refused accesses") > 0, "{pattern}");
    }
}

/// A write of a part at a device whose memory is behind a port: fetched, merged, stored, and only then answered. While the line
/// is on its way another write comes, which is stored behind it.
#[test]
fn each_message_of_the_device_by_hand() {
    let config = CoherenceConfig::default();
    let mut dcoh = Dcoh::<CacheLine>::without_memory(&config, 1);
    let mut took = |port, msg| {
        let mut out = AgentOutput::default();
        dcoh.take(&config, port, msg, 0, &mut out);
        assert!(out.events.is_empty(), "{:?}", out.events);
        out.sends
    };
    const BEHIND: u16 = 1;
    let none = (MetaField::NoOp, MetaValue::Invalid);
    let write = |tag, fill: u8, enables| Msg::M2sRwd {
        opcode: if enables == WHOLE_LINE { M2sRwdOpcode::MemWr } else { M2sRwdOpcode::MemWrPtl },
        snp: SnpType::SnpInv,
        meta_field: MetaField::Meta0State,
        meta: MetaValue::Invalid,
        line: LINE,
        tag,
        data: CacheLine::of([fill; 64]),
        enables,
    };
    let stored = |data| {
        let (meta_field, meta) = (MetaField::Meta0State, MetaValue::Invalid);
        let (opcode, snp) = (M2sRwdOpcode::MemWr, SnpType::NoOp);
        (BEHIND, Msg::M2sRwd { opcode, snp, meta_field, meta, line: LINE, tag: 0, data, enables: WHOLE_LINE })
    };
    let cmp = |tag| (0, done(tag));
    assert_eq!(took(0, write(7, 1, 0b11)), [(BEHIND, read_of(0))]);
    let mut merged = CacheLine::of([9; 64]);
    merged.bytes[..2].fill(1);
    assert_eq!(took(BEHIND, data(0, DrsOpcode::MemData, CacheLine::of([9; 64]))), [stored(merged)]);
    // The line is on its way.
    merged.bytes[2] = 2;
    assert_eq!(took(0, write(8, 2, 0b100)), []);
    assert_eq!(took(BEHIND, done(0)), [stored(merged)]);
    assert_eq!(took(BEHIND, done(0)), [cmp(7), cmp(8)]);
    // A write of the whole line needs nothing from memory.
    assert_eq!(took(0, write(9, 3, WHOLE_LINE)), [stored(CacheLine::of([3; 64]))]);
    assert_eq!(took(BEHIND, done(0)), [cmp(9)]);
    // A read is fetched, and nothing stays here.
    let (meta_field, meta) = none;
    let (opcode, snp) = (M2sReqOpcode::MemRd, SnpType::NoOp);
    let read = Msg::M2sReq { opcode, snp, meta_field, meta, line: LINE, tag: 4 };
    assert_eq!(took(0, read), [(BEHIND, read_of(0))]);
    let sent = took(BEHIND, data(0, DrsOpcode::MemData, merged));
    assert!(
        matches!(sent[..], [(0, Msg::S2mNdr { tag: 4, .. }), (0, Msg::S2mDrs { tag: 4, data, .. })] if data == merged),
        "{sent:?}"
    );
    // Answers that nobody waits for.
    for (msg, found) in [(data(3, DrsOpcode::MemData, merged), "S2M DRS with tag 3"), (done(3), "S2M NDR with tag 3")] {
        let (before, mut out) = (dcoh.clone(), AgentOutput::default());
        dcoh.take(&config, BEHIND, msg, 0, &mut out);
        assert_eq!((out.events[0].rule, out.events[0].found.as_str()), ("COH-IDS-01", found));
        assert!(dcoh == before && out.sends.is_empty() && dcoh.is_idle() && !dcoh.has(LINE));
    }
}
