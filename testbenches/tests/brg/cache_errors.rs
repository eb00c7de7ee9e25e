//! Errors of the memory in which the conversion cache lies (`bridge` §9.1, choice c29; `memory` §6.1).

use super::common::*;
use super::judge::Event;
use super::systems::resolves;
use scalepool::bridge::cache::cells::CacheEccConfig;
use scalepool::bridge::cache::{ConversionCacheCounts, DataCacheConfig};
use scalepool::bridge::outbound::OutboundConfig;
use scalepool::bridge::window::WindowClass;
use scalepool::coherence::content::{CacheLine, LineAddr};
use scalepool::coherence::message::Msg;
use scalepool::memory::ecc::EccScheme;
use scalepool::scenario::report::ScenarioReport;
use scalepool::scenario::{self, ScenarioRequest};
use scalepool_protocols::cxl::cxl256::code::BisnpOpcode;
use scalepool_protocols::ualink::code::{ReqCmd, Status};
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::unpack::Transfer;

const MC: WindowClass = WindowClass::Mc;
const MN: WindowClass = WindowClass::Mn;
/// What memory holds at first.
const OLD: u8 = 0x3c;

fn bench(class: WindowClass, scheme: EccScheme, data: DataCacheConfig) -> Bench {
    let ecc = CacheEccConfig { scheme, upset_every: 0, upset_bits: 0, seed: 1 };
    let mut bench = Bench::new(OutboundConfig { ecc: Some(ecc), ..cached(class, data) });
    for n in 0..64 {
        bench.memory.insert(OUT + 64 * n, CacheLine::of([OLD; 64]));
    }
    bench
}

/// A bridge whose sector of the first line is in a state.
fn in_state(class: WindowClass, state: char, scheme: EccScheme) -> Bench {
    let mut bench = bench(class, scheme, SMALL);
    bench.bring(BASE, state);
    bench
}

/// Bits of the sector of the first line flip.
fn flip(bench: &mut Bench, bits: &[usize]) {
    let place = (0, LineAddr::of_address(OUT));
    let address = bench.bridge.cache().and_then(|cache| cache.hbm_address(place)).expect("it is there");
    bits.iter().for_each(|bit| bench.bridge.cells_mut().expect("cells").flip(address, *bit));
}

fn counts(bench: &Bench) -> [u64; 4] {
    let ConversionCacheCounts { corrected, refetched, lost_dirty, lost_tags, .. } = bench.bridge.cache_counts();
    [corrected, refetched, lost_dirty, lost_tags]
}

/// The byte that a read of the first line brings, and whether it is poison.
fn told(bench: &mut Bench) -> (u8, bool) {
    let response = bench.whole(read(BASE, 16));
    assert_eq!(rsp(&response).status, Status::OKAY);
    (beats(&response)[0][0], response.poisoned != 0)
}

/// Bytes and poison of the last message with data.
fn written(bench: &Bench) -> (u8, bool) {
    let data = bench.sent.iter().rev().find_map(|(.., msg)| match msg {
        Msg::M2sRwd { data, .. } => Some(*data),
        _ => None,
    });
    let data = data.expect("a message with data");
    (data.bytes[1], data.poison)
}

/// One wrong bit is corrected in every state; two in a clean sector cost a message, and the line is had again as it was; two in a dirty one
/// are poison, which leaves with the line and ends with a store of all of it.
#[test]
fn brg_chc_27_p() {
    for (class, state) in [(MC, 'S'), (MC, 'E'), (MN, 'V'), (MC, 'M'), (MN, 'D')] {
        let mut bench = in_state(class, state, EccScheme::Secded);
        let is_dirty = "MD".contains(state);
        let held = if is_dirty { 0xd1 } else { OLD };
        flip(&mut bench, &[0, 64, 530]);
        assert_eq!((told(&mut bench), counts(&bench)), ((held, false), [1, 0, 0, 0]), "{state}");
        assert_eq!((told(&mut bench), counts(&bench)), ((held, false), [1, 0, 0, 0]), "{state}: it was written anew");
        assert_eq!(bench.labels().len(), 0);
        flip(&mut bench, &[0, 1]);
        let read = told(&mut bench);
        if is_dirty {
            assert_eq!((read.1, counts(&bench), bench.labels().len()), (true, [1, 0, 1, 0], 0), "{state}");
            bench.whole(write_part(BASE, 1, 0x77));
            assert!(told(&mut bench).1, "a part of a poisoned line");
            bench.whole(write_full(BASE, 1, 0x55));
            assert_eq!(told(&mut bench), (0x55, false), "{state}");
        } else {
            let asked = if class == MN { "MemRd NoOp/NoOp" } else { "MemRd Shared/SnpData" };
            assert_eq!((read, counts(&bench), bench.labels()), ((OLD, false), [1, 1, 0, 0], vec![asked.to_owned()]));
            assert_eq!((bench.state(BASE), told(&mut bench)), (state, (OLD, false)), "it is there again");
        }
        assert_eq!((bench.bridge.open(), bench.findings.len()), (0, 0));
    }
}

/// Three bits of one word look like one bit to the code: what it makes of them is what the sector holds from then on, whoever reads it, and
/// so is what a snoop takes.
#[test]
fn a_wrong_correction_stays() {
    for (class, state) in [(MC, 'S'), (MC, 'E'), (MN, 'V'), (MC, 'M'), (MN, 'D')] {
        let of_word = |bench: &mut Bench| beats(&bench.whole(read(BASE, 16)))[0];
        let mut good = in_state(class, state, EccScheme::Secded);
        let good = of_word(&mut good);
        let wrong = (2..64).find_map(|third| {
            let mut bench = in_state(class, state, EccScheme::Secded);
            flip(&mut bench, &[0, 1, third]);
            let read = of_word(&mut bench);
            (counts(&bench) == [1, 0, 0, 0]).then_some((bench, read))
        });
        let (mut bench, first) = wrong.expect("three bits that look like one");
        assert_ne!(first, good, "{state}");
        assert_eq!((of_word(&mut bench), counts(&bench)), (first, [1, 0, 0, 0]), "{state}");
        if state == 'M' {
            bench.deliver(Msg::S2mBisnp { opcode: BisnpOpcode::BISnpInv, line: LineAddr::of_address(OUT), bi_tag: 9 });
            assert_eq!(written(&bench), (first[1], false));
        }
    }
}

/// Stores of parts and atomics read what they merge with: a clean sector is asked for again with the right to write, a dirty one stays poison.
/// A store of all bytes reads nothing.
#[test]
fn stores_read_what_they_merge_with() {
    for (request, label) in [
        (write_part(BASE, 1, 0x77), vec!["MemRd Any/SnpInv".to_owned()]),
        (add(ReqCmd::AtomicR, BASE, 1), vec!["MemRd Any/SnpInv".to_owned()]),
        (write_full(BASE, 1, 0x77), vec![]),
    ] {
        let mut bench = in_state(MC, 'E', EccScheme::Secded);
        flip(&mut bench, &[8, 9]);
        bench.whole(request);
        assert_eq!((bench.labels(), bench.state(BASE), counts(&bench)[1]), (label.clone(), 'M', label.len() as u64));
        let response = bench.whole(read(BASE, 16));
        assert_eq!((response.poisoned, beats(&response)[0][63]), (0, if label.is_empty() { 0x77 } else { OLD }));
    }
}

/// A dirty sector that is lost leaves as poison: by a snoop that takes it, by one that leaves a copy, by an eviction.
#[test]
fn lost_stores_leave_as_poison() {
    for (opcode, state) in [(BisnpOpcode::BISnpInv, 'I'), (BisnpOpcode::BISnpData, 'S'), (BisnpOpcode::BISnpCur, 'E')] {
        let mut bench = in_state(MC, 'M', EccScheme::Secded);
        flip(&mut bench, &[3, 5]);
        bench.deliver(Msg::S2mBisnp { opcode, line: LineAddr::of_address(OUT), bi_tag: 9 });
        bench.finish(false);
        assert_eq!((written(&bench).1, counts(&bench), bench.state(BASE)), (true, [0, 0, 1, 0], state), "{opcode:?}");
        assert!(told(&mut bench).1, "what stays is poison, and so is what is in memory");
    }
    let mut bench = in_state(MN, 'D', EccScheme::Secded);
    flip(&mut bench, &[3, 5]);
    // Two sets of two ways: blocks 2 and 4 of 256 bytes are in the set of block 0.
    for n in [2, 4] {
        bench.whole(read(BASE + 256 * n, 16));
    }
    assert_eq!((bench.state(BASE), written(&bench).1, counts(&bench)), ('I', true, [0, 0, 1, 0]));
}

/// A snoop that comes while a lost sector is read finds nothing, and the read gets the line behind it.
#[test]
fn a_snoop_of_a_lost_sector_finds_nothing() {
    let mut bench = in_state(MC, 'E', EccScheme::Secded);
    flip(&mut bench, &[0, 1]);
    // The bytes are under way.
    let entry = bench.bridge.admit(0, asked(&read(BASE, 16))).expect("room");
    bench.bridge.start(entry, &mut bench.out);
    let begun = std::mem::take(&mut bench.out.steps);
    let snoop = Msg::S2mBisnp { opcode: BisnpOpcode::BISnpInv, line: LineAddr::of_address(OUT), bi_tag: 4 };
    bench.deliver(snoop);
    assert_eq!(bench.labels(), [""; 0], "it waits for HBM");
    bench.out.steps = begun;
    bench.collect();
    let labels = bench.labels();
    assert!(labels[0].contains("BIRspI") && labels[1] == "MemRd Shared/SnpData", "{labels:?}");
    bench.finish(false);
    assert_eq!((beats(&bench.responses[0])[0][0], bench.bridge.open(), bench.findings.len()), (OLD, 0, 0));
}

/// Without a code nobody sees what has flipped: the bytes are wrong, which a code that corrects or asks again never lets happen.
#[test]
fn brg_chc_27_n() {
    for state in ['S', 'E', 'M'] {
        let mut bench = in_state(MC, state, EccScheme::None);
        flip(&mut bench, &[0, 1]);
        let held = if state == 'M' { 0xd1 } else { OLD };
        assert_eq!((told(&mut bench), bench.labels().len()), ((held ^ 3, false), 0), "{state}");
    }
    // A lost sector that was not marked would be had as good from the copy that a snoop leaves.
    let mut bench = in_state(MC, 'M', EccScheme::Secded);
    flip(&mut bench, &[0, 1]);
    bench.deliver(Msg::S2mBisnp { opcode: BisnpOpcode::BISnpData, line: LineAddr::of_address(OUT), bi_tag: 9 });
    bench.finish(false);
    assert_eq!((bench.state(BASE), told(&mut bench).1), ('S', true));
}

/// Tags that are lost may be those of any line: requests end with status 2 and send nothing, what is given back is poison, and target ports
/// read as poison.
#[test]
fn lost_tags_make_the_ports_viral() {
    let data = DataCacheConfig { tags_in_hbm: true, ..SMALL };
    let tags = |bench: &mut Bench, bits: &[usize]| {
        let address = bench.bridge.cache().expect("a cache").hbm_tags((0, LineAddr::of_address(OUT)));
        bits.iter().for_each(|bit| bench.bridge.cells_mut().expect("cells").flip(address, *bit));
    };
    let mut bench = bench(MC, EccScheme::Secded, data);
    bench.whole(write_full(BASE, 1, 0xd1));
    tags(&mut bench, &[100]);
    assert_eq!((told(&mut bench), counts(&bench), bench.bridge.is_viral()), ((0xd1, false), [1, 0, 0, 0], false));
    tags(&mut bench, &[100, 101]);
    bench.sent.clear();
    for request in [read(BASE, 16), read(BASE + 4096, 16), write_full(BASE, 1, 1)] {
        assert_eq!(rsp(&bench.whole(request)).status, Status::TargetAbort);
    }
    assert_eq!((counts(&bench)[3], bench.bridge.is_viral(), bench.sent.len()), (1, true, 0));
    bench.deliver(Msg::S2mBisnp { opcode: BisnpOpcode::BISnpInv, line: LineAddr::of_address(OUT), bi_tag: 9 });
    bench.finish(false);
    assert!(written(&bench).1 && bench.bridge.open() == 0 && bench.findings.is_empty());
}

/// Statuses of a read, a write and an atomic at a bridge whose CXL ports have gone viral, and how many messages leave for them.
fn told_by_a_viral_bridge(wrong: WrongBridge) -> (Vec<Status>, usize) {
    let mut bench = bench(MC, EccScheme::Secded, DataCacheConfig { tags_in_hbm: true, ..SMALL });
    bench.wrong = wrong;
    bench.bring(BASE, 'E');
    let address = bench.bridge.cache().expect("a cache").hbm_tags((0, LineAddr::of_address(OUT)));
    [100, 101].into_iter().for_each(|bit| bench.bridge.cells_mut().expect("cells").flip(address, bit));
    bench.whole(read(BASE, 16));
    assert!(bench.bridge.is_viral());
    bench.sent.clear();
    let requests = [read(BASE + 4096, 16), write_full(BASE + 4096, 1, 1), add(ReqCmd::AtomicR, BASE + 4096, 1)];
    (requests.map(|request| rsp(&bench.whole(request)).status).to_vec(), bench.sent.len())
}

#[test]
fn brg_err_06_p() {
    assert_eq!(told_by_a_viral_bridge(WrongBridge::NOTHING), (vec![Status::TargetAbort; 3], 0));
}

/// A bridge that says that all is well.
#[test]
fn brg_err_06_n() {
    let responds = |_: &[Event], mut response: Transfer| {
        if let ControlField::Response(rsp) = &mut response.field {
            rsp.status = Status::OKAY;
        }
        response
    };
    let told = told_by_a_viral_bridge(WrongBridge { responds, ..WrongBridge::NOTHING });
    assert_ne!(told, (vec![Status::TargetAbort; 3], 0));
}

/// Reads that have joined one that ends since the ports are viral end as it does: nobody takes zeros for the line.
#[test]
fn reads_that_joined_one_of_a_viral_bridge_are_told() {
    let mut bench = bench(MC, EccScheme::Secded, DataCacheConfig { tags_in_hbm: true, ..SMALL });
    bench.bring(BASE, 'E');
    let address = bench.bridge.cache().expect("a cache").hbm_tags((0, LineAddr::of_address(OUT)));
    [100, 101].into_iter().for_each(|bit| bench.bridge.cells_mut().expect("cells").flip(address, bit));
    for source in 0..3 {
        let mut request = read(BASE, 16);
        change(&mut request, |req| req.src = source);
        let entry = bench.bridge.admit(0, asked(&request)).expect("room");
        bench.bridge.start(entry, &mut bench.out);
    }
    assert_eq!(bench.bridge.counts().joined, 2);
    bench.collect();
    let told: Vec<Status> = bench.responses.iter().map(|response| rsp(response).status).collect();
    assert_eq!((told, bench.bridge.open()), (vec![Status::TargetAbort; 3], 0));
}

const TEXT: &str = include_str!("../../../src/system/builtin/bridge-ualink.toml");
const COHERENT: &str = include_str!("../../systems/coherent_bridge.toml");

/// The built-in system with a small cache of these settings.
fn run(cache: &str) -> ScenarioReport {
    run_of(TEXT, cache, &["traffic.operations=150", "traffic.blocks=16"])
}

fn run_of(text: &str, cache: &str, set: &[&str]) -> ScenarioReport {
    let cache = format!("kind = \"bridge.ualink\"\ncache = {{ capacity = \"16 KiB\", ways = 4, {cache} }}");
    let text = text.replace("kind = \"bridge.ualink\"", &cache);
    if let Err(error) = resolves(&text) {
        panic!("{error}");
    }
    let set = set.iter().map(|set| (*set).to_owned()).collect();
    let request = ScenarioRequest { description: Some(text), seed: 1, set, ..ScenarioRequest::default() };
    scenario::run(&request, &mut |_| ()).unwrap_or_else(|error| panic!("{cache}: {error}"))
}

fn figure(report: &ScenarioReport, name: &str) -> u64 {
    report.json()["components"]["bridge"][name].as_u64().unwrap_or_else(|| panic!("no `{name}`"))
}

/// Upsets in a run: single bits, and pairs in a cache that is always clean, change no byte; without a code the accelerators find wrong bytes;
/// of lost tags they are told.
#[test]
fn upsets_in_a_run() {
    let report = run("ecc = \"secded\", upset_every = 5");
    assert_eq!((report.violations.len(), figure(&report, "sectors refetched")), (0, 0), "{:?}", report.violations);
    assert!(figure(&report, "cache errors corrected") > 5);
    // Two bits of 576 lie in one word once in eight times.
    let report = run("ecc = \"secded\", upset_every = 3, upset_bits = 2, write = \"through\"");
    assert_eq!((report.violations.len(), figure(&report, "dirty sectors lost")), (0, 0), "{:?}", report.violations);
    assert!(figure(&report, "sectors refetched") > 0);
    let report = run("upset_every = 5");
    assert!(report.violations.iter().any(|found| found.violation.rule == "SIM-E2E-01"), "{:?}", report.violations);
    let report = run("ecc = \"secded\", upset_every = 20, upset_bits = 20, tag_store = \"hbm\"");
    assert!(figure(&report, "viral CXL ports") == 1 && figure(&report, "requests refused") > 0);
    // Two bits are always seen: what a viral bridge brings is refused, which is told once, or poison, and never wrong.
    let report = run("ecc = \"secded\", upset_every = 3, upset_bits = 2, tag_store = \"hbm\"");
    assert!(figure(&report, "viral CXL ports") == 1 && figure(&report, "requests refused") > 0);
    let is_told = |rule: &str, found: &str| match rule {
        "SIM-E2E-01" => found.contains("poison 1"),
        rule => rule == "SIM-E2E-02" && found.contains("TargetAbort"),
    };
    let hidden = report.violations.iter().find(|found| !is_told(found.violation.rule, &found.violation.found));
    assert!(hidden.is_none(), "{hidden:?}");
}

/// Lines of a device that keeps them coherent, of which a host takes some: the bridge asks for a line again of which the device has it as the owner,
/// and the watchers find every copy and every value as they have to be.
#[test]
fn lost_lines_stay_coherent() {
    let report = run_of(COHERENT, "ecc = \"secded\", upset_every = 3, upset_bits = 2, write = \"through\"", &[]);
    assert_eq!(report.violations, []);
    assert!(figure(&report, "sectors refetched") > 0 && figure(&report, "snoop hits") > 0);
    assert_eq!((figure(&report, "dirty sectors lost"), figure(&report, "requests refused")), (0, 0));
}

/// Stores that are lost under the watchers of a device: the poison is the newest value of their lines, every request is answered, and nobody
/// is told of anything but poison.
#[test]
fn lost_stores_are_told_and_hold_up_nothing() {
    let report = run_of(COHERENT, "ecc = \"secded\", upset_every = 3, upset_bits = 2", &[]);
    assert!(figure(&report, "dirty sectors lost") > 0 && figure(&report, "time-outs") == 0);
    let other = report.violations.iter().find(|found| found.violation.rule != "SIM-E2E-01");
    assert!(other.is_none(), "{other:?}");
    assert!(
        report.violations.iter().all(|found| found.violation.found.contains("poison 1")),
        "{:?}",
        report.violations
    );
}
