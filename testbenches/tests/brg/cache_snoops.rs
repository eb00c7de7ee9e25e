//! Back-invalidate snoops that meet lines of the conversion cache (`bridge` §9.5, §9.6), against the oracle and in both orders.

use super::common::*;
use super::judge::{Event, changed, ids, last};
use scalepool::bridge::cache::{DataCacheConfig, StorePolicy};
use scalepool::bridge::outbound::OutboundConfig;
use scalepool::bridge::window::{BridgeWindow, WindowClass};
use scalepool::coherence::content::{CacheLine, LineAddr};
use scalepool::coherence::message::Msg;
use scalepool_oracle::bridge as oracle;
use scalepool_protocols::cxl::cxl256::code::{BisnpOpcode, M2sRwdOpcode, NdrOpcode};
use scalepool_protocols::ualink::code::Status;

const BI_TAG: u16 = 5;
const MC: WindowClass = WindowClass::Mc;

/// The line of the window's first byte.
fn line() -> u64 {
    OUT >> 6
}

fn bench(state: char) -> Bench {
    let class = if matches!(state, 'V' | 'D') { WindowClass::Mn } else { MC };
    let mut bench = Bench::new(cached(class, SMALL));
    bench.bring(BASE, state);
    bench
}

fn snoop(bench: &mut Bench, opcode: BisnpOpcode, line: u64) {
    bench.deliver(Msg::S2mBisnp { opcode, line: LineAddr(line), bi_tag: BI_TAG });
}

/// Messages so far, snoop answers by their opcodes.
fn told(bench: &Bench) -> Vec<String> {
    let word = |msg: &Msg<CacheLine>| match msg {
        Msg::M2sBirsp { opcode, bi_tag, .. } => {
            assert_eq!(*bi_tag, BI_TAG);
            opcode.name().expect("a name").to_owned()
        }
        Msg::M2sRwd { opcode: M2sRwdOpcode::BIConflict, tag, .. } => format!("BIConflict {tag}"),
        other => label(other),
    };
    bench.sent.iter().map(|(.., msg)| word(msg)).collect()
}

/// What a snoop does in a state: the message that writes back, the answer, the state behind it.
type Cell = (Option<&'static str>, &'static str, char);

/// States in which a snoop is answered by other cells than those of a table.
fn differing(name: &str, opcode: BisnpOpcode, table: impl Fn(&str, char) -> Cell) -> String {
    let is_wrong = |state: &char| {
        let mut bench = bench(*state);
        let (written, answer, end) = table(name, *state);
        snoop(&mut bench, opcode, line());
        let before = told(&bench);
        bench.finish(false);
        let is_kept = written.is_none() || bench.memory.get(&OUT).is_some_and(|line| line.bytes == [0xd1; 64]);
        before != Vec::from_iter(written.or(Some(answer)))
            || told(&bench) != Vec::from_iter(written.into_iter().chain([answer]))
            || (bench.state(BASE), bench.bridge.open()) != (end, 0)
            || !is_kept
    };
    "ISEMVD".chars().filter(is_wrong).collect()
}

fn row(name: &str, opcode: BisnpOpcode) {
    assert_eq!(differing(name, opcode, oracle::snooped), "");
}

#[test]
fn brg_snp_01_p() {
    row("Inv", BisnpOpcode::BISnpInv);
}

/// Behind it the line has to be asked for again.
#[test]
fn brg_snp_01_n() {
    let wrong = |name: &str, state| if state == 'M' { (None, "BIRspI", 'I') } else { oracle::snooped(name, state) };
    assert_eq!(differing("Inv", BisnpOpcode::BISnpInv, wrong), "M", "a wrong cell is found");
    let mut bench = bench('M');
    snoop(&mut bench, BisnpOpcode::BISnpInv, line());
    bench.finish(false);
    bench.sent.clear();
    assert_eq!(beats(&bench.whole(read(BASE, 16))), [[0xd1; 64]]);
    assert_eq!(bench.labels(), ["MemRd Shared/SnpData"]);
}

#[test]
fn brg_snp_02_p() {
    row("Data", BisnpOpcode::BISnpData);
}

/// Behind it a store has to own the line again.
#[test]
fn brg_snp_02_n() {
    let wrong = |name: &str, state| if state == 'E' { (None, "BIRspE", 'E') } else { oracle::snooped(name, state) };
    assert_eq!(differing("Data", BisnpOpcode::BISnpData, wrong), "E", "a wrong cell is found");
    let mut bench = bench('M');
    snoop(&mut bench, BisnpOpcode::BISnpData, line());
    bench.finish(false);
    bench.sent.clear();
    bench.whole(read(BASE, 16));
    bench.whole(write_full(BASE, 1, 1));
    assert_eq!(bench.labels(), ["MemInv Any/SnpInv"]);
}

#[test]
fn brg_snp_03_p() {
    row("Cur", BisnpOpcode::BISnpCur);
}

/// Behind it a store needs nothing.
#[test]
fn brg_snp_03_n() {
    let wrong = |name: &str, state| {
        if state == 'M' { (Some("MemWr Any/NoOp"), "BIRspI", 'I') } else { oracle::snooped(name, state) }
    };
    assert_eq!(differing("Cur", BisnpOpcode::BISnpCur, wrong), "M", "a wrong cell is found");
    let mut bench = bench('M');
    snoop(&mut bench, BisnpOpcode::BISnpCur, line());
    bench.finish(false);
    bench.sent.clear();
    bench.whole(write_full(BASE, 1, 1));
    assert_eq!((bench.sent.len(), bench.state(BASE)), (0, 'M'));
}

/// Each line of a block is answered by itself.
#[test]
fn brg_snp_04_p() {
    let mut bench = bench('M');
    bench.whole(read(BASE + 64, 16));
    bench.sent.clear();
    snoop(&mut bench, BisnpOpcode::BISnpDataBlk, line() | 3);
    bench.finish(false);
    assert_eq!(told(&bench), ["BIRspS", "BIRspI", "BIRspI", "MemWr Shared/NoOp", "BIRspS"]);
    let low: Vec<u8> = bench
        .sent
        .iter()
        .filter_map(|(.., msg)| match msg {
            Msg::M2sBirsp { low_addr, .. } => Some(*low_addr),
            _ => None,
        })
        .collect();
    assert_eq!(low, [1, 2, 3, 0]);
    assert_eq!((bench.state(BASE), bench.state(BASE + 64)), ('S', 'S'));
}

/// A part of a block leaves the other part as it is.
#[test]
fn brg_snp_04_n() {
    let mut bench = bench('M');
    snoop(&mut bench, BisnpOpcode::BISnpInvBlk, line() | 2);
    bench.finish(false);
    assert_eq!((told(&bench), bench.state(BASE)), (vec!["BIRspI".to_owned(); 2], 'M'));
}

/// A snoop takes away bytes that had this poison in memory.
fn taken_away(opcode: BisnpOpcode, poison: bool) -> Bench {
    taken_away_from(WrongBridge::NOTHING, opcode, poison)
}

fn taken_away_from(wrong: WrongBridge, opcode: BisnpOpcode, poison: bool) -> Bench {
    let mut bench = Bench { wrong, ..bench('I') };
    bench.memory.insert(OUT, CacheLine { bytes: [1; 64], poison });
    bench.whole(write_part(BASE, 1, 2));
    bench.memory.clear();
    snoop(&mut bench, opcode, line());
    bench.finish(false);
    bench
}

/// Poison goes to memory with the bytes.
#[test]
fn brg_snp_08_p() {
    for opcode in [BisnpOpcode::BISnpInv, BisnpOpcode::BISnpData, BisnpOpcode::BISnpCur] {
        assert!(taken_away(opcode, true).memory[&OUT].poison, "{opcode:?}");
    }
}

/// A write back that loses the mark is found. A line that was stored whole is good again.
#[test]
fn brg_snp_08_n() {
    assert!(!taken_away(BisnpOpcode::BISnpInv, false).memory[&OUT].poison);
    // A bridge that loses it.
    let loses = WrongBridge {
        sends: |mut msg| {
            if let Msg::M2sRwd { data, .. } = &mut msg {
                data.poison = false;
            }
            msg
        },
        ..WrongBridge::NOTHING
    };
    let log = taken_away_from(loses, BisnpOpcode::BISnpInv, true).log;
    assert_eq!(ids(judged(MC), &log), ["BRG-SNP-08"].into());
    let mut bench = bench('I');
    bench.memory.insert(OUT, CacheLine { bytes: [1; 64], poison: true });
    bench.whole(write_part(BASE, 1, 2));
    bench.whole(write_full(BASE, 1, 2));
    snoop(&mut bench, BisnpOpcode::BISnpInv, line());
    bench.finish(false);
    assert!(!bench.memory[&OUT].poison);
}

/// Misses under way, a full set and requests in front keep no snoop of another line waiting.
#[test]
fn brg_snp_09_p() {
    for (state, first) in [('S', "BIRspI"), ('M', "MemWr Invalid/NoOp")] {
        let mut bench = bench(state);
        for n in 1..8 {
            bench.ask(tagged(write_part(BASE + 256 + 512 * n, 1, 1), n as u16));
        }
        bench.sent.clear();
        snoop(&mut bench, BisnpOpcode::BISnpInv, line());
        assert_eq!(told(&bench), [first]);
        bench.finish(false);
        assert_eq!((bench.responses.len(), bench.bridge.open()), (7, 0));
    }
}

/// More dirty lines are snooped than there are buffers for it: all are answered, one after the other.
#[test]
fn brg_snp_09_n() {
    let config = DataCacheConfig { capacity_bytes: 1 << 20, ..SMALL };
    let mut bench = Bench::new(cached(MC, config));
    for n in 0..80 {
        bench.whole(write_full(BASE + 64 * n, 1, n as u8));
    }
    bench.sent.clear();
    for n in 0..80 {
        snoop(&mut bench, BisnpOpcode::BISnpInv, line() + n);
    }
    assert_eq!(bench.sent.len(), 66, "as many as there are buffers");
    bench.finish(false);
    assert_eq!((bench.sent.len(), bench.bridge.open()), (160, 0));
    assert!((0..80).all(|n| bench.memory[&(OUT + 64 * n)].bytes == [n as u8; 64]));
}

/// R1 with a cache: behind the Cmp the access comes first and the snoop finds the new state; before it the snoop finds the old one.
#[test]
fn a_conflict_finds_the_new_state_or_the_old_one() {
    for (op, state, before, behind, end) in [
        ("read", 'I', "BIRspI", vec!["BIRspI"], 'I'),
        ("part", 'I', "BIRspI", vec!["MemWr Invalid/NoOp", "BIRspI"], 'I'),
        ("full", 'S', "BIRspI", vec!["MemWr Invalid/NoOp", "BIRspI"], 'I'),
    ] {
        let request = || match op {
            "read" => read(BASE, 16),
            "part" => write_part(BASE, 1, 1),
            _ => write_full(BASE, 1, 1),
        };
        let (mut first, mut last) = (bench(state), bench(state));
        for bench in [&mut first, &mut last] {
            let entry = bench.ask(request());
            bench.sent.clear();
            snoop(bench, BisnpOpcode::BISnpInv, line());
            assert_eq!(told(bench), [format!("BIConflict {}", 4 * entry)]);
            bench.sent.clear();
        }
        let tag = |bench: &Bench| 4 * (bench.bridge.counts().children as u16 - 1);
        let ack = tag(&first);
        first.deliver(cmp(ack, NdrOpcode::BIConflictAck));
        assert_eq!(told(&first), [before]);
        first.finish(false);
        assert_eq!((first.responses.len(), told(&first).len()), (1, 1), "{op} goes on");
        assert_ne!(first.state(BASE), 'I');
        last.finish(false);
        assert_eq!((last.responses.len(), last.sent.len()), (0, 0), "its Tag is in use until the Ack");
        last.deliver(cmp(ack, NdrOpcode::BIConflictAck));
        last.finish(false);
        assert_eq!(
            (told(&last), last.responses.len(), last.state(BASE)),
            (behind.iter().map(|w| (*w).to_owned()).collect(), 1, end)
        );
    }
}

/// A bench whose line leaves for another block, by MemClnEvct or MemWr.
fn leaving(state: char) -> Bench {
    let mut bench = bench(state);
    bench.bring(BASE + 512, state);
    bench.ask(read(BASE + 1024, 16));
    bench
}

/// Tag of the message that has left last.
fn last_tag(bench: &Bench) -> u16 {
    match bench.sent.last().map(|(.., msg)| msg) {
        Some(Msg::M2sReq { tag, .. } | Msg::M2sRwd { tag, .. }) => *tag,
        other => panic!("{other:?}"),
    }
}

/// R4: a line that is given up is a conflict too; the answer comes with the Ack, the way is free with the Cmp.
#[test]
fn brg_rac_04_p() {
    for cmp_first in [false, true] {
        let mut bench = leaving('S');
        let tag = last_tag(&bench);
        bench.sent.clear();
        snoop(&mut bench, BisnpOpcode::BISnpInv, line());
        assert_eq!(told(&bench), [format!("BIConflict {tag}")]);
        bench.sent.clear();
        if cmp_first {
            bench.answer(0);
            assert_eq!(told(&bench), [""; 0]);
        }
        bench.deliver(cmp(tag, NdrOpcode::BIConflictAck));
        assert_eq!(told(&bench)[0], "BIRspI");
        bench.finish(false);
        assert_eq!(told(&bench)[1..], ["MemRd Shared/SnpData"], "the miss leaves when the way is empty");
        assert_eq!((bench.responses.len(), bench.bridge.open()), (1, 0));
    }
}

/// An Ack that belongs to no conflict.
#[test]
fn brg_rac_04_n() {
    let mut bench = leaving('E');
    let tag = last_tag(&bench);
    bench.deliver(cmp(tag, NdrOpcode::BIConflictAck));
    assert_eq!(bench.findings[0].rule, "COH-IDS-01");
}

/// R5: the shared copy is lost while MemInv is under way; all bytes are stored all the same.
#[test]
fn brg_rac_05_p() {
    let mut bench = bench('S');
    let entry = bench.ask(write_full(BASE, 1, 9));
    snoop(&mut bench, BisnpOpcode::BISnpInv, line());
    bench.deliver(cmp(4 * entry, NdrOpcode::BIConflictAck));
    assert_eq!(bench.state(BASE), 'I');
    bench.finish(false);
    assert_eq!((bench.state(BASE), beats(&bench.whole(read(BASE, 16)))), ('M', vec![[9; 64]]));
}

/// A store of a part does not trust the lost copy: it takes the bytes that come with ownership.
#[test]
fn brg_rac_05_n() {
    let mut bench = bench('S');
    let entry = bench.ask(write_part(BASE, 1, 9));
    snoop(&mut bench, BisnpOpcode::BISnpInv, line());
    bench.deliver(cmp(4 * entry, NdrOpcode::BIConflictAck));
    // Another holder has stored meanwhile.
    for (_, msg) in &mut bench.answers {
        if let Msg::S2mDrs { data, .. } = msg {
            data.bytes = [7; 64];
        }
    }
    bench.finish(false);
    let mut expected = [7; 64];
    expected[0] = 9;
    assert_eq!(beats(&bench.whole(read(BASE, 16))), [expected]);
    // A bridge that asks once more, though it writes all bytes of the line.
    let mut bench = self::bench('S');
    let entry = bench.ask(write_full(BASE, 1, 9));
    snoop(&mut bench, BisnpOpcode::BISnpInv, line());
    bench.deliver(cmp(4 * entry, NdrOpcode::BIConflictAck));
    bench.finish(false);
    let asks_again = |log: &mut Vec<Event>| {
        let asked = last(log, |event| matches!(event, Event::Sent(Msg::M2sReq { .. })));
        log.insert(log.len() - 1, log[asked].clone());
    };
    assert_eq!(changed(judged(MC), &bench.log, asks_again), ["BRG-RAC-05"].into());
}

/// R9: a read of a line that is being written back waits, and is a new miss then.
#[test]
fn brg_rac_09_p() {
    let mut bench = leaving('M');
    bench.ask(tagged(read(BASE, 16), 1));
    assert_eq!(told(&bench), ["MemWr Invalid/NoOp"]);
    bench.finish(false);
    assert_eq!((bench.responses.len(), bench.bridge.open()), (2, 0));
    let of_line = bench.responses.iter().find(|response| rsp(response).tag == 1).expect("its response");
    assert_eq!(beats(of_line), [[0xd1; 64]]);
    assert_eq!(bench.bridge.cache_counts().misses[0], 2);
}

/// A line that is asked for while it is written back is found. A read of a line that stays does not wait.
#[test]
fn brg_rac_09_n() {
    let mut bench = self::bench('I');
    bench.whole(read(BASE, 16));
    let asked = bench.log[last(&bench.log, |event| matches!(event, Event::Sent(_)))].clone();
    let mut bench = leaving('M');
    bench.ask(tagged(read(BASE, 16), 1));
    assert_eq!(changed(judged(MC), &bench.log, |log| log.push(asked)), ["BRG-RAC-09"].into());
    let mut bench = leaving('M');
    bench.ask(tagged(read(BASE + 512, 16), 1));
    assert_eq!((bench.responses.len(), bench.bridge.cache_counts().hits[0]), (1, 1));
}

/// R10: a store that comes while BISnpData is answered waits, and owns the line again then.
#[test]
fn brg_rac_10_p() {
    let mut bench = bench('M');
    snoop(&mut bench, BisnpOpcode::BISnpData, line());
    bench.ask(write_full(BASE, 1, 8));
    assert_eq!((told(&bench), bench.responses.len()), (vec!["MemWr Shared/NoOp".to_owned()], 0));
    bench.finish(false);
    assert_eq!(told(&bench), ["MemWr Shared/NoOp", "BIRspS", "MemInv Any/SnpInv"]);
    assert_eq!((bench.memory[&OUT].bytes, bench.state(BASE), bench.responses.len()), ([0xd1; 64], 'M', 1));
}

/// A store that owns the line before the snoop is answered, or is answered itself, is found. Without a dirty copy the snoop is answered at
/// once, and the store is an upgrade.
#[test]
fn brg_rac_10_n() {
    let mut bench = self::bench('M');
    snoop(&mut bench, BisnpOpcode::BISnpData, line());
    bench.ask(write_full(BASE, 1, 8));
    bench.finish(false);
    let passes = |log: &mut Vec<Event>| {
        let asked = last(log, |event| matches!(event, Event::Sent(Msg::M2sReq { .. })));
        log.swap(asked - 1, asked);
    };
    assert_eq!(changed(judged(MC), &bench.log, passes), ["BRG-RAC-10"].into());
    let mut bench = self::bench('E');
    snoop(&mut bench, BisnpOpcode::BISnpData, line());
    bench.whole(write_full(BASE, 1, 8));
    assert_eq!(told(&bench), ["BIRspS", "MemInv Any/SnpInv"]);
    assert_eq!(bench.bridge.cache_counts().upgrades, 1);
}

/// R3 with a cache: a snoop that meets a store on its way to memory waits for its Cmp and finds the state behind it.
#[test]
fn a_store_that_is_written_through_comes_before_the_snoop() {
    let mut bench = Bench::new(cached(MC, DataCacheConfig { stores: StorePolicy::Through, ..SMALL }));
    bench.ask(write_full(BASE, 1, 1));
    bench.answer(0);
    snoop(&mut bench, BisnpOpcode::BISnpCur, line());
    assert_eq!(told(&bench).last().map(String::as_str), Some("MemWr Any/NoOp"));
    bench.finish(false);
    assert_eq!(told(&bench).last().map(String::as_str), Some("BIRspE"));
    assert_eq!(rsp(&bench.responses[0]).status, Status::OKAY);
}

/// R2 of a store that passes by the cache: between ownership and MemWr the snoop waits, also where tags lie in HBM, which are read once.
#[test]
fn a_store_that_passes_by_keeps_its_line() {
    for tags_in_hbm in [false, true] {
        let config = DataCacheConfig { stream_blocks: 1, tags_in_hbm, ..SMALL };
        let mut bench = Bench::new(cached(MC, config));
        bench.whole(read(BASE, 16));
        let before = bench.bridge.cache_counts().hbm_accesses;
        bench.ask(write_part(BASE + 256, 1, 9));
        assert_eq!(bench.bridge.cache_counts().bypasses, 1);
        bench.sent.clear();
        // Nothing that follows from the grant is done before the snoop comes.
        for (port, msg) in std::mem::take(&mut bench.answers) {
            bench.bridge.receive(port, msg, &mut bench.out);
        }
        snoop(&mut bench, BisnpOpcode::BISnpInv, line() + 4);
        assert_eq!(told(&bench), ["MemWr Invalid/NoOp"], "tags in HBM: {tags_in_hbm}");
        bench.finish(false);
        assert_eq!(told(&bench), ["MemWr Invalid/NoOp", "BIRspI"]);
        assert_eq!((bench.memory[&(OUT + 256)].bytes[0], bench.bridge.open()), (9, 0));
        assert_eq!(bench.bridge.cache_counts().hbm_accesses - before, u64::from(tags_in_hbm));
    }
}

/// A bridge with a coherent window and a window without coherence behind it, at two ports, and the rules that a snoop at one breaks.
fn snooped_at(port: usize, address: u64) -> (Vec<&'static str>, Vec<String>) {
    let private = BridgeWindow { base: BASE + SIZE, out_base: OUT, ports: vec![1], ..window(WindowClass::Mn) };
    let windows = windows(vec![window(WindowClass::Mc), private]);
    let mut bench = Bench::new(OutboundConfig { windows, ..cached(WindowClass::Mc, SMALL) });
    bench.whole(read(BASE, 16));
    bench.whole(read(BASE + SIZE, 16));
    bench.sent.clear();
    let msg = Msg::S2mBisnp { opcode: BisnpOpcode::BISnpInv, line: LineAddr::of_address(address), bi_tag: BI_TAG };
    bench.bridge.receive(port, msg, &mut bench.out);
    bench.collect();
    (bench.findings.iter().map(|finding| finding.rule).collect(), told(&bench))
}

/// Lines of a coherent window are snooped, and so are others that the bridge never had.
#[test]
fn brg_tir_02_p() {
    for (port, address) in [(0, OUT), (0, OUT + 64), (1, OUT + SIZE)] {
        assert_eq!(snooped_at(port, address), (vec![], vec!["BIRspI".to_owned()]), "{port} {address:#x}");
    }
}

/// A snoop of memory that nobody keeps coherent is told, and answered so that its sender goes on.
#[test]
fn brg_tir_02_n() {
    for address in [OUT, OUT + SIZE - 64] {
        assert_eq!(snooped_at(1, address), (vec!["BRG-TIR-02"], vec!["BIRspI".to_owned()]), "{address:#x}");
    }
}
