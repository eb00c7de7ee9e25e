//! The cache in front of the memory of accelerators: the same bytes with it and without, what is lost, what waits (`bridge` §2, BRG-CHC-26).

use super::inbound::{Bench, FROM, SIZE, TO, config, data, is_cmp, read, rwd, window, write, write_part};
use super::supercluster::sound;
use super::systems::resolves;
use scalepool::bridge::cache::data::DataCache;
use scalepool::bridge::cache::policy::EvictionPolicy;
use scalepool::bridge::cache::{DataCacheConfig, StorePolicy};
use scalepool::bridge::flows::LineOperation;
use scalepool::bridge::inbound::InboundConfig;
use scalepool::bridge::inbound::cached::InboundCacheCounts;
use scalepool::bridge::inbound::poison::MOST_LOST;
use scalepool::bridge::inbound::table::InboundSource;
use scalepool::coherence::content::{CacheLine, LineAddr, LineContent};
use scalepool::coherence::message::Msg;
use scalepool::kernel::Rng;
use scalepool::scenario::report::ScenarioReport;
use scalepool_protocols::cxl::cxl256::code::{BisnpOpcode, H2dReqOpcode, M2sRwdOpcode, MetaField, SnpType};
use scalepool_protocols::ualink::code::Status;

/// Blocks of 128 bytes in so many sets of so many ways.
pub fn cache(sets: u64, ways: usize, policy: EvictionPolicy) -> DataCache {
    let (block_bytes, stores) = (128, StorePolicy::Back);
    let capacity_bytes = sets * ways as u64 * block_bytes;
    let config = DataCacheConfig { capacity_bytes, ways, block_bytes, policy, stores, ..DataCacheConfig::SHEET };
    DataCache::new(DataCacheConfig { stream_blocks: 0, ..config }).expect("a shape")
}

fn with(cache: Option<DataCache>) -> Bench {
    Bench::new(InboundConfig { cache, ..config(vec![window()], 256) })
}

/// One set of one block of two lines.
fn smallest() -> Bench {
    with(Some(cache(1, 1, EvictionPolicy::Lru)))
}

fn counts(bench: &Bench) -> InboundCacheCounts {
    bench.bridge.cache_counts().expect("a cache")
}

/// What an accelerator does with an access: it is as it should be, or it loses this write.
type Wrong = fn(usize) -> bool;

/// The same messages in the same order, whose accesses end in an order that the seed says; answers by message, then all lines.
fn answers(seed: u64, cache: Option<DataCache>, loses: Wrong) -> (Vec<Option<Msg<CacheLine>>>, Bench) {
    const LINES: u64 = 12;
    let (mut of_messages, mut of_ends) = (Rng::from_seed(seed), Rng::from_seed(seed ^ 0xff));
    let mut bench = with(cache);
    let (mut asked, mut write_backs) = (0u16, 0);
    let mut end_one = |bench: &mut Bench, ends: &mut Rng| {
        let place = ends.below(bench.open.len() as u64) as usize;
        let (_, access) = bench.open[place];
        let at = (access.target, access.line.address());
        let before = bench.memory.get(&at).copied();
        bench.answer(place, Status::OKAY);
        if access.operation == LineOperation::WriteFull {
            write_backs += 1;
            // It has said that it is done.
            if loses(write_backs) {
                bench.memory.insert(at, before.unwrap_or(CacheLine::of([0; 64])));
            }
        }
    };
    for _ in 0..300 {
        let rng = &mut of_messages;
        let (address, value) = (FROM + 64 * rng.below(LINES), rng.below(256) as u8);
        let poisoned = CacheLine::of([value; 64]).poisoned(true);
        let enables = rng.next_u64() & rng.next_u64();
        let msg = match rng.below(8) {
            0..4 => read(address),
            4 | 5 => write(address, value),
            6 => write_part(address, value, enables),
            _ if value < 64 => {
                rwd(M2sRwdOpcode::MemWrPtl, MetaField::Meta0State, SnpType::NoOp, address, (poisoned, enables))
            }
            _ if value < 96 => {
                rwd(M2sRwdOpcode::MemWr, MetaField::Meta0State, SnpType::NoOp, address, (poisoned, u64::MAX))
            }
            _ => write(address, value),
        };
        bench.ask(numbered(msg, asked));
        asked += 1;
        while bench.open.len() > of_ends.below(5) as usize {
            end_one(&mut bench, &mut of_ends);
        }
    }
    for n in 0..LINES {
        bench.ask(numbered(read(FROM + 64 * n), asked));
        asked += 1;
    }
    while !bench.open.is_empty() {
        end_one(&mut bench, &mut of_ends);
    }
    assert_eq!((bench.bridge.open(), bench.findings.len()), (0, 0));
    let mut of_messages = vec![None; usize::from(asked)];
    for (_, answer) in &bench.answers {
        let (Msg::S2mDrs { tag, .. } | Msg::S2mNdr { tag, .. }) = answer else { panic!("{answer:?}") };
        // The load is that of the table, which is another one.
        of_messages[usize::from(*tag)] = Some(unloaded(*answer));
    }
    (of_messages, bench)
}

fn numbered(msg: Msg<CacheLine>, tag: u16) -> Msg<CacheLine> {
    match msg {
        Msg::M2sReq { opcode, snp, meta_field, meta, line, .. } => {
            Msg::M2sReq { opcode, snp, meta_field, meta, line, tag }
        }
        Msg::M2sRwd { opcode, snp, meta_field, meta, line, data, enables, .. } => {
            Msg::M2sRwd { opcode, snp, meta_field, meta, line, tag, data, enables }
        }
        other => other,
    }
}

fn unloaded(msg: Msg<CacheLine>) -> Msg<CacheLine> {
    match msg {
        Msg::S2mDrs { opcode, meta_field, meta, tag, data, .. } => {
            Msg::S2mDrs { opcode, meta_field, meta, tag, data, devload: Default::default() }
        }
        Msg::S2mNdr { opcode, meta_field, meta, tag, .. } => {
            Msg::S2mNdr { opcode, meta_field, meta, tag, devload: Default::default() }
        }
        other => other,
    }
}

/// Reads, writes and writes of parts, clean and poisoned, of more lines than the cache holds, under way together: every answer has the
/// bytes and the poison that it has without the cache.
#[test]
fn brg_chc_26_p() {
    for (sets, ways, policy) in [
        (1, 1, EvictionPolicy::Lru),
        (1, 2, EvictionPolicy::Srrip),
        (2, 1, EvictionPolicy::Lfu),
        (2, 2, EvictionPolicy::Lru),
        (16, 4, EvictionPolicy::Lru),
    ] {
        for seed in 0..6 {
            let (without, plain) = answers(seed, None, |_| false);
            let (within, bench) = answers(seed, Some(cache(sets, ways, policy)), |_| false);
            let other = within.iter().zip(&without).position(|(within, without)| within != without);
            assert!(other.is_none() && within.len() == without.len(), "{sets} {ways} {seed}: message {other:?}");
            let InboundCacheCounts { hits, misses, bypasses, write_backs, lost_write_backs } = counts(&bench);
            let all = hits.iter().chain(&misses).sum::<u64>() + bypasses + bench.bridge.counts().joined;
            assert!(all >= 300 && lost_write_backs == 0, "each access is one of them, but parts without a byte: {all}");
            assert!(sets * ways as u64 > 8 || write_backs > 0, "{sets} {ways}");
            assert!(sets * ways as u64 <= 8 || bench.sent.len() < plain.sent.len() / 4, "that is what it is for");
        }
    }
}

/// A write back that is lost changes bytes, which is seen; nobody snoops the cache, and who does is told of.
#[test]
fn brg_chc_26_n() {
    let small = || Some(cache(1, 2, EvictionPolicy::Lru));
    for lost in [(|n| n % 3 == 0) as Wrong, |n| n % 7 == 0, |n| n > 40] {
        assert!(answers(1, small(), lost).0 != answers(1, None, |_| false).0);
    }
    let mut bench = with(small());
    bench.whole(write(FROM, 7), Status::OKAY);
    let line = LineAddr::of_address(FROM);
    for snoop in [
        Msg::S2mBisnp { opcode: BisnpOpcode::BISnpInv, line, bi_tag: 0 },
        Msg::H2dReq { opcode: H2dReqOpcode::SnpInv, line, uqid: 0 },
    ] {
        assert_eq!(bench.bridge.admit(InboundSource::default(), snoop, &mut bench.out), None);
        bench.collect();
    }
    assert_eq!(bench.findings, ["BRG-CHC-26"; 2]);
    assert_eq!(data(bench.whole(read(FROM), Status::OKAY)).1, CacheLine::of([7; 64]), "the line is as it was");
}

/// A write of a line beside others that are dirty: they leave first, each as a write of the whole line, and then the line enters.
#[test]
fn dirty_lines_leave_before_another_block_enters() {
    let mut bench = smallest();
    bench.whole(write(FROM, 1), Status::OKAY);
    bench.whole(write(FROM + 64, 2), Status::OKAY);
    assert!(bench.sent.is_empty(), "nothing has left");
    let poisoned = (CacheLine::of([9; 64]).poisoned(true), 1);
    let part = rwd(M2sRwdOpcode::MemWrPtl, MetaField::Meta0State, SnpType::NoOp, FROM + 128, poisoned);
    assert!(is_cmp(bench.whole(part, Status::OKAY)));
    let seen: Vec<_> =
        bench.sent.iter().map(|(_, access)| (access.operation, access.line.address(), access.data.bytes[0])).collect();
    let (full, read_it) = (LineOperation::WriteFull, LineOperation::Read);
    assert_eq!(seen, [(full, TO, 1), (full, TO + 64, 2), (read_it, TO + 128, 0)]);
    assert_eq!(bench.memory.get(&(0, TO + 128)), Some(&CacheLine::of([0; 64])), "the part is in the cache");
    let poison = data(bench.whole(read(FROM + 128), Status::OKAY)).1;
    assert!(poison.poison && bench.sent.len() == 3);
    // It leaves with its poison.
    bench.whole(read(FROM), Status::OKAY);
    assert!(bench.memory[&(0, TO + 128)].poison);
    assert_eq!(counts(&bench).write_backs, 3);
}

/// A read of a line that is being given back waits for the answer, and then reads it at its accelerator.
#[test]
fn a_read_waits_for_the_write_back_of_its_line() {
    let mut bench = smallest();
    bench.whole(write(FROM, 5), Status::OKAY);
    let giving = bench.ask(read(FROM + 128));
    let reading = bench.ask(read(FROM));
    assert_eq!((bench.waiting.as_slice(), bench.open.len()), (&[reading][..], 1), "the write back is under way");
    assert_eq!(bench.open[0].0, giving, "with the tag of who needs the way");
    while !bench.open.is_empty() {
        bench.answer(0, Status::OKAY);
    }
    let lines: Vec<_> = bench.answers.iter().skip(1).map(|(_, answer)| data(Some(*answer)).1.bytes[0]).collect();
    assert!(lines == [0, 5] || lines == [5, 0], "{lines:?}");
    assert_eq!(bench.bridge.open(), 0);
}

/// Its way is in use by a line that is read, so another line passes by, and is written at its accelerator.
#[test]
fn without_a_way_lines_pass_by() {
    let mut bench = smallest();
    bench.ask(read(FROM));
    bench.ask(write(FROM + 128, 3));
    assert_eq!(counts(&bench).bypasses, 1);
    while !bench.open.is_empty() {
        bench.answer(0, Status::OKAY);
    }
    assert_eq!(bench.memory[&(0, TO + 128)], CacheLine::of([3; 64]));
    bench.whole(read(FROM), Status::OKAY);
    assert_eq!(counts(&bench).hits, [1, 0]);
}

/// Whatever the status of a write back, its line reads as poison, without its accelerator; a part does not cure it, the whole line does.
#[test]
fn a_line_whose_write_back_fails_is_poison() {
    for status in [Status::TargetAbort, Status::DecodeError, Status::ProtectionViolation, Status::CompletionTimeout] {
        let mut bench = smallest();
        bench.memory.insert((0, TO), CacheLine::of([1; 64]));
        bench.whole(write(FROM, 5), Status::OKAY);
        bench.ask(read(FROM + 128));
        bench.answer(0, status);
        bench.answer(0, Status::OKAY);
        assert!(!data(bench.answers.last().map(|(_, answer)| *answer)).1.poison, "who took the way is none the wiser");
        assert_eq!((counts(&bench).lost_write_backs, bench.bridge.lost().len()), (1, 1));
        let sent = bench.sent.len();
        assert!(data(bench.whole(read(FROM), Status::OKAY)).1.poison);
        assert_eq!(bench.sent.len(), sent);
        bench.whole(write_part(FROM, 6, 1), Status::OKAY);
        assert_eq!(counts(&bench).bypasses, 1);
        assert!(data(bench.whole(read(FROM), Status::OKAY)).1.poison);
        bench.whole(write(FROM, 7), Status::OKAY);
        assert_eq!(data(bench.whole(read(FROM), Status::OKAY)).1, CacheLine::of([7; 64]));
        assert!(bench.bridge.lost().is_empty());
    }
}

/// A list that is full makes every port viral: by which one the line was written is not known.
#[test]
fn a_write_back_without_room_on_the_list_makes_all_ports_viral() {
    let mut bench = smallest();
    for n in 0..=MOST_LOST as u64 + 1 {
        bench.ask(write(FROM + 128 * n, 1));
        while !bench.open.is_empty() {
            bench.answer(0, Status::TargetAbort);
        }
    }
    assert_eq!((bench.bridge.counts().viral_ports, counts(&bench).lost_write_backs), (2, MOST_LOST as u64 + 1));
    for port in [0, 1] {
        bench.ask_of(InboundSource { port, ..InboundSource::default() }, read(FROM + SIZE - 64));
        assert!(data(bench.answers.last().map(|(_, answer)| *answer)).1.poison);
    }
}

/// A transaction that is given up while it gives two lines back: both are lost, the second one is free at once, the first one when its
/// answer comes; then the way is free.
#[test]
fn what_is_given_up_loses_the_lines_that_it_gives_back() {
    let mut bench = smallest();
    bench.whole(write(FROM, 1), Status::OKAY);
    bench.whole(write(FROM + 64, 2), Status::OKAY);
    let giving = bench.ask(write_part(FROM + 128, 3, 1));
    let waiting = [bench.ask(read(FROM)), bench.ask(read(FROM + 64)), bench.ask(read(FROM + 128))];
    let answered = bench.answers.len();
    let advances = bench.bridge.transaction(giving).expect("it is open").advances;
    bench.bridge.time_out(giving, advances, &mut bench.out);
    bench.collect();
    assert_eq!(bench.answers.len(), answered + 2, "its own Cmp, and poison for the line that had not left");
    assert_eq!((bench.bridge.counts().lost_writes, counts(&bench).lost_write_backs), (3, 2));
    bench.answer(0, Status::OKAY);
    assert_eq!((bench.bridge.open(), bench.bridge.counts().late), (0, 1), "{waiting:?}");
    assert!(bench.answers[answered..].iter().all(|(_, answer)| is_cmp(Some(*answer)) || data(Some(*answer)).1.poison));
    // The way serves again.
    let before = counts(&bench).misses;
    bench.whole(write(FROM, 8), Status::OKAY);
    assert_eq!(data(bench.whole(read(FROM), Status::OKAY)).1, CacheLine::of([8; 64]));
    assert_eq!(counts(&bench).misses, [before[0], before[1] + 1]);
}

/// A line that cannot be read does not enter, a part of it that was to be written is lost, and its way is free.
#[test]
fn a_line_that_cannot_be_read_does_not_enter() {
    let mut bench = smallest();
    assert!(data(bench.whole(read(FROM), Status::TargetAbort)).1.poison);
    assert!(is_cmp(bench.whole(write_part(FROM + 64, 1, 1), Status::TargetAbort)));
    assert_eq!(bench.bridge.counts().lost_writes, 1);
    assert_eq!(data(bench.whole(read(FROM + 128), Status::OKAY)).1, CacheLine::of([0; 64]));
    assert_eq!(data(bench.whole(read(FROM), Status::OKAY)).1, CacheLine::of([0; 64]));
    assert_eq!((counts(&bench).bypasses, counts(&bench).write_backs), (0, 0));
}

/// Write backs, reads and writes that fail, and transactions that are given up while their accesses are under way: a line that is read
/// without poison is what was written last.
#[test]
fn whatever_fails_no_old_byte_is_read_without_poison() {
    const LINES: u64 = 8;
    let (mut poisoned, mut sound, mut lost) = (0, 0, 0);
    for (seed, ways) in (0..24).zip([1, 2].into_iter().cycle()) {
        let mut rng = Rng::from_seed(seed);
        let mut bench = with(Some(cache(1, ways, EvictionPolicy::Lru)));
        let mut newest = [CacheLine::of([0; 64]); LINES as usize];
        // What the read of a tag has to find.
        let mut expected = Vec::new();
        let mut asked: Vec<u16> = Vec::new();
        for tag in 0..400u16 {
            let line = rng.below(LINES);
            let (address, value, enables) = (FROM + 64 * line, tag as u8, rng.next_u64());
            let own = &mut newest[line as usize];
            let msg = match rng.below(6) {
                0..3 => read(address),
                3 | 4 => write(address, value),
                _ => write_part(address, value, enables),
            };
            match msg {
                Msg::M2sRwd { data, enables, .. } => own.merge(&data, enables),
                _ => expected.push((tag, *own)),
            }
            asked.push(bench.ask(numbered(msg, tag)));
            let is_last = tag == 399;
            while !bench.open.is_empty() && (is_last || bench.open.len() > rng.below(6) as usize) {
                let place = rng.below(bench.open.len() as u64) as usize;
                let failed = if rng.below(12) == 0 { Status::TargetAbort } else { Status::OKAY };
                bench.answer(place, failed);
            }
            if rng.below(10) == 0 {
                let entry = asked[rng.below(asked.len() as u64) as usize];
                if let Some(advances) = bench.bridge.transaction(entry).map(|open| open.advances) {
                    bench.bridge.time_out(entry, advances, &mut bench.out);
                    bench.collect();
                }
            }
            while is_last && !bench.open.is_empty() {
                bench.answer(0, Status::OKAY);
            }
        }
        assert_eq!((bench.bridge.open(), bench.findings.len()), (0, 0), "{seed}");
        for (tag, newest) in expected {
            let is_asked =
                |answer: &&(usize, Msg<CacheLine>)| matches!(answer.1, Msg::S2mDrs { tag: of, .. } if of == tag);
            let (_, answer) = bench.answers.iter().find(is_asked).unwrap_or_else(|| panic!("{seed}: no answer {tag}"));
            let (_, line) = data(Some(*answer));
            assert!(line.poison || line == newest, "{seed}: read {tag} is {line:?}, expected {newest:?}");
            *if line.poison { &mut poisoned } else { &mut sound } += 1;
        }
        lost += counts(&bench).lost_write_backs;
    }
    assert!(poisoned > 100 && sound > 1000 && lost > 20, "{poisoned} {sound} {lost}");
}

fn of_bridge(report: &ScenarioReport, bridge: &str, name: &str) -> u64 {
    let json = report.json();
    json["components"][bridge][name].as_u64().unwrap_or_else(|| panic!("no `{name}`"))
}

const TABLE: &str = "inbound_cache = { capacity = \"2 KiB\", ways = 2 }\ninbound = [";

/// Accelerators, GPUs and a host, and holders of coherent lines, find every byte right with caches in front of what is exported, of any policy,
/// with poison and errors on links.
#[test]
fn exported_memory_is_the_same_behind_a_cache() {
    let small = include_str!("../../../src/system/builtin/supercluster-small.toml").replace("inbound = [", TABLE);
    let shared = include_str!("../../systems/exported_hbm.toml").replace("inbound = [", TABLE);
    for (text, set, bridge) in [
        (
            &small,
            &["traffic.operations=60", "gpu.requests=60", "host.accesses=100", "traffic.poison_every=5"][..],
            "nbridge",
        ),
        (&small, &["traffic.operations=40", "gpu.requests=40", "host.accesses=60", "link.cxl_ber=1e-6"], "ubridge"),
        (&shared, &[], "ubridge"),
        (&shared.replace("inbound_cache", "merge_inbound = true\ninbound_cache"), &[], "ubridge"),
        (&shared.replace("ways = 2", "ways = 1, policy = \"srrip\", block = \"64 B\""), &[], "ubridge"),
    ] {
        let report = sound(text, set);
        let of = |name| of_bridge(&report, bridge, name);
        let hits = of("inbound cache read hits") + of("inbound cache write hits");
        assert!(hits > 5 && of("inbound write-backs") > 5 && of("inbound write-backs lost") == 0, "{set:?}");
    }
}

#[test]
fn caches_that_cannot_be_are_refused() {
    let shared = include_str!("../../systems/exported_hbm.toml").replace("inbound = [", TABLE);
    let bar = include_str!("../../systems/bar_memory.toml").replace("inbound = [", TABLE);
    for (text, expected) in [
        (shared.replace("2 KiB", "700"), "expected a multiple of the 512 bytes of a set"),
        (shared.replace("ways = 2", "latency_cycles = 50000"), "expected less than stages.timeout_cycles"),
        (bar, "found no window of class NH or DB"),
    ] {
        let error = resolves(&text).err().unwrap_or_else(|| panic!("{expected}: it is taken"));
        assert!(error.contains("inbound_cache") && error.contains(expected), "{expected}: {error}");
    }
}
