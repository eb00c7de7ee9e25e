//! What accesses do to sectors of the conversion cache, and what sectors send when they leave (`bridge` §9.2 to §9.4), row by row against
//! the oracle.

use super::common::*;
use super::judge::{Event, changed, last};
use scalepool::bridge::cache::{DataCacheConfig, StorePolicy};
use scalepool::bridge::window::WindowClass;
use scalepool::coherence::content::{CacheLine, LineAddr, LineContent};
use scalepool::coherence::message::Msg;
use scalepool_oracle::bridge as oracle;
use scalepool_protocols::cxl::cxl256::code::{DrsOpcode, M2sReqOpcode, MetaField, MetaValue, NdrOpcode, SnpType};
use scalepool_protocols::ualink::code::{ReqCmd, Status};
use scalepool_protocols::ualink::unpack::Transfer;

const MC: WindowClass = WindowClass::Mc;
const MN: WindowClass = WindowClass::Mn;
const CC: WindowClass = WindowClass::Cc;

fn word(class: WindowClass) -> &'static str {
    match class {
        WindowClass::Mc => "MC",
        WindowClass::Mn => "MN",
        WindowClass::Cc => "CC",
        WindowClass::Io => "IO",
        WindowClass::Hp => "HP",
    }
}

/// A request of an operation on one line.
fn request(op: &str, address: u64) -> Transfer {
    match op {
        "read" => read(address, 16),
        "full" => write_full(address, 1, 0x77),
        "part" => write_part(address, 0xff, 0x77),
        _ => add(ReqCmd::AtomicR, address, 5),
    }
}

/// Messages of an operation on a line in a state, and the state behind it; all that was written is found again.
fn done(class: WindowClass, op: &str, state: char, grant: char) -> (Vec<String>, char) {
    let mut bench = Bench::new(cached(class, SMALL));
    bench.bring(BASE, state);
    bench.shared = if grant == 'E' { NdrOpcode::CmpE } else { NdrOpcode::CmpS };
    let old = if matches!(state, 'M' | 'D') { [0xd1; 64] } else { [0; 64] };
    let response = bench.whole(request(op, BASE));
    assert_eq!(rsp(&response).status, Status::OKAY, "{class:?} {op} {state}");
    let (sent, end) = (bench.labels(), bench.state(BASE));
    let mut expected = old;
    match op {
        "full" => expected = [0x77; 64],
        "part" => expected[..8].fill(0x77),
        "atomic" => {
            let number = u64::from_le_bytes(std::array::from_fn(|k| old[k])).wrapping_add(5);
            expected[..8].copy_from_slice(&number.to_le_bytes());
            assert_eq!(beats(&response)[0][..8], old[..8]);
        }
        _ => (),
    }
    assert_eq!(beats(&bench.whole(read(BASE, 16))), [expected], "{class:?} {op} {state}");
    assert!(bench.findings.is_empty() && bench.bridge.open() == 0, "{:?}", bench.findings);
    (sent, end)
}

/// A table: message and state behind it, by class, operation, state and what memory grants.
type Table = fn(&str, &str, char, char) -> (Option<&'static str>, char);

/// Rows of operations on states in which the bridge differs from a table: those of MC, of CC but E, since a host grants E for a store alone,
/// and of MN.
fn differing(ops: &[&'static str], mc: &str, mn: &str, table: Table) -> Vec<(&'static str, &'static str, char)> {
    let mut found = Vec::new();
    for (class, states) in [(MC, mc), (MN, mn), (CC, &mc.replace('E', ""))] {
        for op in ops.iter().filter(|op| class != MN || **op != "atomic") {
            for state in states.chars() {
                let is_wrong = ['S', 'E'].iter().any(|grant| {
                    let (message, end) = table(word(class), op, state, *grant);
                    let expected: (Vec<String>, char) = (message.map(str::to_owned).into_iter().collect(), end);
                    done(class, op, state, *grant) != expected
                });
                if is_wrong {
                    found.push((word(class), *op, state));
                }
            }
        }
    }
    found
}

/// Rows of the oracle.
fn rows(ops: &[&'static str], mc: &str, mn: &str) {
    assert_eq!(differing(ops, mc, mn, oracle::cached), []);
}

/// A completion that the row does not have, or one that nobody waits for.
fn wrong_answer(op: &str, state: char, opcode: NdrOpcode) -> &'static str {
    let mut bench = Bench::new(cached(MC, SMALL));
    bench.bring(BASE, state);
    let entry = bench.ask(request(op, BASE));
    bench.deliver(cmp(4 * entry, opcode));
    bench.findings.first().unwrap_or_else(|| panic!("{op} {state}: no finding")).rule
}

#[test]
fn brg_chc_01_p() {
    rows(&["read"], "SEM", "VD");
}

/// A row by which a hit asks memory is found. A hit asks for nothing, so no answer belongs to it.
#[test]
fn brg_chc_01_n() {
    let wrong: Table = |class, op, state, grant| match (class, op, state) {
        ("MC", "read", 'S') => oracle::cached(class, op, 'I', grant),
        _ => oracle::cached(class, op, state, grant),
    };
    assert_eq!(differing(&["read"], "SEM", "VD", wrong), [("MC", "read", 'S')]);
    assert_eq!(wrong_answer("read", 'S', NdrOpcode::CmpS), "COH-IDS-01");
}

#[test]
fn brg_chc_02_p() {
    rows(&["read"], "I", "I");
}

/// One who shares is not answered by a plain Cmp.
#[test]
fn brg_chc_02_n() {
    assert_eq!(wrong_answer("read", 'I', NdrOpcode::Cmp), "BRG-SPL-08");
}

#[test]
fn brg_chc_03_p() {
    rows(&["full"], "EM", "VD");
}

/// A row by which a store leaves a clean line is found.
#[test]
fn brg_chc_03_n() {
    let wrong: Table = |class, op, state, grant| match (class, state) {
        ("MC", 'E') => (None, 'E'),
        ("MN", 'V') => (None, 'V'),
        _ => oracle::cached(class, op, state, grant),
    };
    assert_eq!(differing(&["full"], "EM", "VD", wrong), [("MC", "full", 'E'), ("MN", "full", 'V')]);
    assert_eq!(wrong_answer("full", 'E', NdrOpcode::CmpE), "COH-IDS-01");
}

#[test]
fn brg_chc_04_p() {
    rows(&["full"], "S", "");
}

/// Shared is not enough for a store.
#[test]
fn brg_chc_04_n() {
    assert_eq!(wrong_answer("full", 'S', NdrOpcode::CmpS), "BRG-SPL-08");
}

#[test]
fn brg_chc_05_p() {
    rows(&["full"], "I", "I");
}

#[test]
fn brg_chc_05_n() {
    assert_eq!(wrong_answer("full", 'I', NdrOpcode::CmpS), "BRG-SPL-08");
}

#[test]
fn brg_chc_06_p() {
    rows(&["part", "atomic"], "EM", "VD");
}

/// A row by which an atomic on an owned line asks for it is found.
#[test]
fn brg_chc_06_n() {
    let wrong: Table = |class, op, state, grant| match (op, state) {
        ("atomic", 'M') => oracle::cached(class, op, 'S', grant),
        _ => oracle::cached(class, op, state, grant),
    };
    assert_eq!(differing(&["part", "atomic"], "EM", "VD", wrong), [("MC", "atomic", 'M'), ("CC", "atomic", 'M')]);
    assert_eq!(wrong_answer("atomic", 'M', NdrOpcode::CmpE), "COH-IDS-01");
}

#[test]
fn brg_chc_07_p() {
    rows(&["part", "atomic"], "S", "");
}

#[test]
fn brg_chc_07_n() {
    assert_eq!(wrong_answer("part", 'S', NdrOpcode::CmpS), "BRG-SPL-08");
}

#[test]
fn brg_chc_08_p() {
    rows(&["part", "atomic"], "I", "I");
}

/// An atomic on memory without an owner is refused whatever the cache has.
#[test]
fn brg_chc_08_n() {
    assert_eq!(wrong_answer("atomic", 'I', NdrOpcode::Cmp), "BRG-SPL-08");
    for state in ['I', 'V', 'D'] {
        let mut bench = Bench::new(cached(MN, SMALL));
        bench.bring(BASE, state);
        assert_eq!(rsp(&bench.whole(add(ReqCmd::AtomicR, BASE, 1))).status, Status::TargetAbort);
        assert_eq!((bench.sent.len(), bench.state(BASE)), (0, state));
    }
}

/// Blocks of one set of SMALL: one every 512 bytes.
const NEXT: u64 = 512;

/// What a sector in a state sends when two other blocks of its set come, and what is in memory behind it.
fn evicts(class: WindowClass, state: char) -> (Vec<String>, [u8; 64]) {
    let mut bench = Bench::new(cached(class, SMALL));
    bench.bring(BASE, state);
    bench.whole(read(BASE + NEXT, 16));
    bench.sent.clear();
    bench.whole(read(BASE + 2 * NEXT, 16));
    assert!(bench.state(BASE) == 'I' && bench.state(BASE + NEXT) != 'I');
    let mut sent = bench.labels();
    assert_eq!(sent.pop(), oracle::cached(word(class), "read", 'I', 'S').0.map(str::to_owned), "the miss comes last");
    (sent, bench.memory.get(&OUT).map_or([0; 64], |line| line.bytes))
}

fn leaving(class: WindowClass, state: char) {
    let bytes = if matches!(state, 'M' | 'D') { [0xd1; 64] } else { [0; 64] };
    let expected: Vec<String> = match class {
        WindowClass::Cc => oracle::evicted_to_host(state).iter().map(|sent| (*sent).to_owned()).collect(),
        _ => oracle::evicted(state).map(str::to_owned).into_iter().collect(),
    };
    assert_eq!(evicts(class, state), (expected, bytes), "{class:?} {state}");
}

#[test]
fn brg_chc_09_p() {
    leaving(MC, 'S');
    leaving(MC, 'E');
    leaving(CC, 'S');
    leaving(MN, 'V');
}

/// Clean sectors bring no data; what MemClnEvct is answered by is a Cmp alone.
#[test]
fn brg_chc_09_n() {
    assert_eq!(evicts(MN, 'V').0, [""; 0]);
    let mut bench = full_set('S');
    let tag = bench.sent.last().and_then(|(.., msg)| match msg {
        scalepool::coherence::message::Msg::M2sReq { tag, .. } => Some(*tag),
        _ => None,
    });
    bench.deliver(cmp(tag.expect("MemClnEvct"), NdrOpcode::CmpE));
    assert_eq!(bench.findings[0].rule, "COH-IDS-01");
}

#[test]
fn brg_chc_10_p() {
    leaving(MC, 'M');
    leaving(CC, 'M');
    leaving(MN, 'D');
}

/// All dirty sectors of a block are written, each with its bytes, before the miss is asked for.
#[test]
fn brg_chc_10_n() {
    let mut bench = Bench::new(cached(MC, SMALL));
    bench.whole(write_full(BASE, 4, 3));
    bench.whole(read(BASE + NEXT, 16));
    bench.sent.clear();
    bench.whole(read(BASE + 2 * NEXT, 16));
    assert_eq!(bench.labels()[..4], ["MemWr Invalid/NoOp"; 4]);
    assert!((0..4).all(|line| bench.memory[&(OUT + 64 * line)].bytes == [3; 64]));
}

/// A bench whose set 0 is full of blocks in a state, with a read of a third block on its way.
fn full_set(state: char) -> Bench {
    let mut bench = Bench::new(cached(MC, SMALL));
    bench.bring(BASE, state);
    bench.bring(BASE + NEXT, state);
    bench.ask(read(BASE + 2 * NEXT, 16));
    bench
}

fn through(class: WindowClass) -> Bench {
    Bench::new(cached(class, DataCacheConfig { stores: StorePolicy::Through, ..SMALL }))
}

#[test]
fn brg_chc_11_p() {
    for (class, end) in [(MC, 'E'), (MN, 'V')] {
        for op in ["full", "part", "atomic"].into_iter().filter(|op| class == MC || *op != "atomic") {
            let mut bench = through(class);
            bench.whole(request(op, BASE));
            assert_eq!(bench.labels().last().map(String::as_str), Some("MemWr Any/NoOp"));
            assert_eq!((bench.state(BASE), bench.bridge.open()), (end, 0));
            let line = beats(&bench.whole(read(BASE, 16)))[0];
            assert_eq!(bench.memory[&OUT].bytes, line, "{class:?} {op}");
        }
    }
}

/// To a host a store goes by DirtyEvict, behind which nothing stays.
#[test]
fn a_host_gets_what_is_written_through() {
    for op in ["full", "part", "atomic"] {
        let mut bench = through(CC);
        bench.whole(request(op, BASE));
        assert_eq!(bench.labels()[1..], ["DirtyEvict", "Data"], "{op}");
        assert_eq!((bench.state(BASE), bench.bridge.open(), bench.findings.len()), ('I', 0, 0));
        let line = beats(&bench.whole(read(BASE, 16)))[0];
        assert_eq!(bench.memory[&OUT].bytes, line, "{op}");
    }
}

/// The response does not wait for memory; a second store does, since the line is in use.
#[test]
fn brg_chc_11_n() {
    let mut bench = through(MN);
    bench.ask(write_full(BASE, 1, 1));
    assert_eq!((bench.responses.len(), bench.state(BASE)), (1, 'D'), "dirty until the Cmp");
    bench.ask(write_full(BASE, 1, 2));
    assert_eq!((bench.responses.len(), bench.sent.len()), (1, 1));
    bench.finish(false);
    assert_eq!((bench.responses.len(), bench.memory[&OUT].bytes), (2, [2; 64]));
    assert_eq!(bench.state(BASE), 'V');
}

/// A stream passes by, but not a line of it that is there.
#[test]
fn brg_chc_18_p() {
    let mut bench = Bench::new(cached(MC, DataCacheConfig { stream_blocks: 1, ..SMALL }));
    bench.bring(BASE + 512, 'M');
    // Another source runs through the blocks.
    let of_other = |mut request: Transfer| {
        if let scalepool_protocols::ualink::control::ControlField::Request(req) = &mut request.field {
            req.src = 9;
        }
        request
    };
    for block in 0..3 {
        bench.whole(of_other(read(BASE + 256 * block, 16)));
    }
    let sent = ["MemRd Shared/SnpData", "MemRd Invalid/SnpCur"];
    assert_eq!((bench.labels(), bench.state(BASE + 512)), (sent.map(str::to_owned).into(), 'M'));
}

/// A read of a line that is there must not pass by; what does pass by leaves no copy.
#[test]
fn brg_chc_18_n() {
    let mut bench = Bench::new(cached(MC, SMALL));
    bench.bring(BASE, 'M');
    bench.whole(read(BASE, 16));
    let passes = |log: &mut Vec<Event>| {
        let (meta_field, meta, snp) = (MetaField::Meta0State, MetaValue::Invalid, SnpType::SnpCur);
        let line = LineAddr::of_address(OUT);
        let asked = Msg::M2sReq { opcode: M2sReqOpcode::MemRd, snp, meta_field, meta, line, tag: 0 };
        let data = drs(0, DrsOpcode::MemData, CacheLine::of([0; 64]));
        let at = log.len() - 1;
        log.splice(at..at, [Event::Sent(asked), Event::Came(cmp(0, NdrOpcode::Cmp)), Event::Came(data)]);
    };
    assert_eq!(changed(judged(MC), &bench.log, passes), ["BRG-CHC-18"].into());
    let mut bench = Bench::new(cached(MC, DataCacheConfig { stream_blocks: 1, ..SMALL }));
    bench.whole(read(BASE, 16));
    bench.whole(write_full(BASE + 256, 1, 4));
    assert_eq!((bench.state(BASE + 256), bench.memory[&(OUT + 256)].bytes), ('I', [4; 64]));
}

/// The way is empty before the miss leaves, and the line of the victim is in use until then.
#[test]
fn brg_chc_19_p() {
    for (state, message) in [('S', "MemClnEvct Invalid/NoOp"), ('M', "MemWr Invalid/NoOp")] {
        let mut bench = full_set(state);
        assert_eq!(bench.labels(), [message]);
        bench.answer(0);
        assert_eq!(bench.labels()[1..], ["MemRd Shared/SnpData"]);
        bench.finish(false);
        assert_eq!((bench.responses.len(), bench.state(BASE + 2 * NEXT)), (1, 'S'));
    }
}

/// Blocks in use do not leave: the third one waits until one of them is free, and gets its place then.
#[test]
fn brg_chc_19_n() {
    let mut bench = Bench::new(cached(MC, SMALL));
    for n in 0..3u16 {
        bench.ask(tagged(read(BASE + NEXT * u64::from(n), 16), n));
    }
    assert_eq!(bench.sent.len(), 2, "two ways, two misses under way");
    bench.finish(false);
    assert_eq!((bench.responses.len(), bench.bridge.open()), (3, 0));
    assert_eq!(bench.labels()[2..], ["MemClnEvct Invalid/NoOp", "MemRd Shared/SnpData"]);
    // A miss that leaves before the way of its block is empty.
    let early = |log: &mut Vec<Event>| {
        let asked = last(log, |event| matches!(event, Event::Sent(_)));
        log.swap(asked - 1, asked);
    };
    assert_eq!(changed(judged(MC), &bench.log, early), ["BRG-CHC-19"].into());
}

/// The answer comes with ownership and bytes, not before.
#[test]
fn brg_chc_20_p() {
    let mut bench = Bench::new(cached(MC, SMALL));
    bench.ask(write_part(BASE, 0xff, 0x77));
    bench.answer(0);
    assert_eq!((bench.responses.len(), bench.state(BASE)), (0, 'I'));
    bench.answer(0);
    assert_eq!((bench.responses.len(), bench.state(BASE)), (1, 'M'));
}

/// An answer before the last message that it needs is found. Memory that nobody keeps coherent has the bytes of a store only when its
/// block has left.
#[test]
fn brg_chc_20_n() {
    for request in [read(BASE, 16), write_part(BASE, 0xff, 0x77), write_full(BASE, 1, 1)] {
        let mut bench = Bench::new(cached(MC, SMALL));
        bench.whole(request);
        let early = |log: &mut Vec<Event>| {
            let answered = log.len() - 1;
            log.swap(answered - 1, answered);
        };
        assert_eq!(changed(judged(MC), &bench.log, early), ["BRG-CHC-20"].into());
    }
    let mut bench = Bench::new(cached(MN, SMALL));
    bench.whole(write_full(BASE, 1, 6));
    assert!(!bench.memory.contains_key(&OUT), "it is visible here alone");
    for n in 1..3 {
        bench.whole(read(BASE + n * NEXT, 16));
    }
    assert_eq!(bench.memory[&OUT].bytes, [6; 64]);
}

#[test]
fn brg_chc_21_p() {
    for (class, op) in [(MC, "read"), (MC, "part"), (MC, "full"), (MC, "atomic"), (MN, "read"), (MN, "part")] {
        let mut bench = Bench::new(cached(class, SMALL));
        bench.end = OUT;
        assert_eq!(rsp(&bench.whole(request(op, BASE))).status, Status::DecodeError, "{class:?} {op}");
        assert_eq!((bench.state(BASE), bench.bridge.open()), ('I', 0));
        assert!(bench.bridge.cache().expect("a cache").valid().is_empty());
    }
}

/// Behind it the way is free: two more blocks of its set find room without sending anything away.
#[test]
fn brg_chc_21_n() {
    let mut bench = Bench::new(cached(MC, SMALL));
    bench.end = OUT;
    bench.whole(read(BASE, 16));
    bench.end = u64::MAX;
    for n in 1..3 {
        bench.whole(read(BASE + n * NEXT, 16));
    }
    assert_eq!(bench.labels(), ["MemRd Shared/SnpData"; 3]);
    assert_eq!(bench.bridge.cache_counts().evicted_clean, 0);
}

#[test]
fn brg_chc_22_p() {
    for class in [MC, MN] {
        let mut bench = Bench::new(cached(class, SMALL));
        bench.memory.insert(OUT, CacheLine { bytes: [1; 64], poison: true });
        for _ in 0..2 {
            let response = bench.whole(read(BASE, 16));
            assert_eq!((rsp(&response).status, response.poisoned), (Status::OKAY, 1), "from memory and from the cache");
        }
        bench.whole(write_part(BASE, 0xff, 2));
        assert_eq!(bench.whole(read(BASE, 16)).poisoned, 1, "a part keeps it");
        bench.whole(write_full(BASE, 1, 3));
        assert_eq!(bench.whole(read(BASE, 16)).poisoned, 0);
    }
}

/// It is written back with its poison.
#[test]
fn brg_chc_22_n() {
    let mut bench = Bench::new(cached(MC, SMALL));
    bench.memory.insert(OUT, CacheLine { bytes: [1; 64], poison: true });
    bench.whole(write_part(BASE, 0xff, 2));
    bench.memory.clear();
    for n in 1..3 {
        bench.whole(read(BASE + n * NEXT, 16));
    }
    assert!(bench.memory[&OUT].poison);
}

/// What is told of a line that is held with its poison: by a read of it, by one behind a write of a part, by one behind a write of all of it,
/// and by what is written back when it leaves dirty.
fn told_of_poison(class: WindowClass, wrong: WrongBridge) -> [bool; 4] {
    let held = || {
        let mut bench = Bench { wrong, ..Bench::new(cached(class, SMALL)) };
        bench.memory.insert(OUT, CacheLine { bytes: [1; 64], poison: true });
        bench.whole(read(BASE, 16));
        bench
    };
    let mut bench = held();
    let is_poison = |response: Transfer| response.poisoned == 1;
    let [as_it_is, part, all] = [None, Some(write_part(BASE, 0xff, 2)), Some(write_full(BASE, 1, 3))].map(|write| {
        write.into_iter().for_each(|write| drop(bench.whole(write)));
        is_poison(bench.whole(read(BASE, 16)))
    });
    let mut bench = held();
    bench.whole(write_part(BASE, 0xff, 2));
    bench.memory.clear();
    for n in 1..3 {
        bench.whole(read(BASE + n * NEXT, 16));
    }
    [as_it_is, part, all, bench.memory[&OUT].poison]
}

#[test]
fn brg_psn_06_p() {
    for class in [MC, MN] {
        assert_eq!(told_of_poison(class, WrongBridge::NOTHING), [true, true, false, true], "{class:?}");
    }
}

/// Bridges that lose the mark on the way to the accelerator, or on the way to memory.
#[test]
fn brg_psn_06_n() {
    let hides = WrongBridge { responds: |_, response| Transfer { poisoned: 0, ..response }, ..WrongBridge::NOTHING };
    assert_eq!(told_of_poison(MC, hides), [false, false, false, true]);
    let cleans = WrongBridge {
        sends: |msg| match msg {
            Msg::M2sRwd { opcode, snp, meta_field, meta, line, tag, data, enables } => {
                let data = data.poisoned(false);
                Msg::M2sRwd { opcode, snp, meta_field, meta, line, tag, data, enables }
            }
            other => other,
        },
        ..WrongBridge::NOTHING
    };
    assert_eq!(told_of_poison(MC, cleans), [true, true, false, false]);
}
