//! Pools of memories: mirrored ranges with loss of one copy, and memories that leave and come in traffic (MEM-MIR-01 to 05, MEM-RMV-01 to
//! 04).

use super::rig::Numbers;
use super::systems::count;
use scalepool::nodes::cxl::pool::agent::{PoolAgent, PoolCommand, PoolOutput, RemovalOption};
use scalepool::nodes::cxl::pool::ranges::{MemorySet, PoolRange};
use scalepool::nodes::cxl::pool::watch::{PoolEvent, PoolFinding, PoolWatch};
use scalepool::scenario::report::ScenarioReport;
use scalepool::scenario::{self, ScenarioRequest};
use scalepool_protocols::cxl::cxl256::code::{DrsOpcode, M2sReqOpcode, M2sRwdOpcode, NdrOpcode};
use scalepool_protocols::cxl::message::{Data, M2sReq, M2sRwd, Message, S2mDrs, S2mNdr};
use std::collections::BTreeMap;

const TEXT: &str = include_str!("../../systems/mirrored_tier2.toml");

fn ranges() -> Vec<PoolRange> {
    let range = |base, memories: &[usize]| PoolRange {
        base,
        size: 0x1000,
        to: 0,
        memories: memories.iter().copied().collect(),
    };
    vec![range(0, &[0, 1]), range(0x1000, &[2])]
}

fn pool() -> PoolAgent {
    PoolAgent::new(ranges(), 3, MemorySet::default(), 4)
}

fn read(tag: u16, address: u64) -> Message {
    Message::M2sReq(M2sReq { opcode: M2sReqOpcode::MemRd, tag, address, ..M2sReq::default() })
}

fn write(tag: u16, address: u64, byte: u8) -> Message {
    let header = M2sRwd { opcode: M2sRwdOpcode::MemWr, tag, address, ..M2sRwd::default() };
    Message::M2sRwd(header, Data::line([byte; 64]))
}

fn data(tag: u16, byte: u8, poison: bool) -> Message {
    let header = S2mDrs { opcode: DrsOpcode::MemData, tag, poison, ..S2mDrs::default() };
    Message::S2mDrs(header, Data::line([byte; 64]))
}

fn done(tag: u16) -> Message {
    Message::S2mNdr(S2mNdr { opcode: NdrOpcode::Cmp, tag, ..S2mNdr::default() })
}

/// Takes a request of its own address: its number, and the memories that it goes to.
fn take(pool: &mut PoolAgent, request: &Message, out: &mut PoolOutput) -> (u16, Vec<usize>) {
    let (Message::M2sReq(M2sReq { address, .. }) | Message::M2sRwd(M2sRwd { address, .. }, _)) = request else {
        panic!("{request:?}")
    };
    let id = pool.take(0, Some(*address), request, out).expect("it has an answer");
    (id as u16, std::mem::take(&mut out.down).into_iter().map(|(memory, ..)| memory).collect())
}

fn rules(findings: &[PoolFinding]) -> Vec<&'static str> {
    findings.iter().map(|finding| finding.rule).collect()
}

/// The rules that a row of events breaks.
fn broken(events: &[PoolEvent]) -> Vec<&'static str> {
    let mut watch = PoolWatch::new(ranges(), (0..3).collect());
    rules(&events.iter().filter_map(|event| watch.see(*event)).collect::<Vec<_>>())
}

fn line(byte: u8, poison: bool) -> Option<(Data, bool)> {
    Some((Data::line([byte; 64]), poison))
}

fn write_taken() -> PoolEvent {
    PoolEvent::Taken { id: 0, range: Some(0), is_read: false, written: line(1, false) }
}

fn read_taken() -> PoolEvent {
    PoolEvent::Taken { id: 1, range: Some(0), is_read: true, written: None }
}

fn writes(memory: usize) -> PoolEvent {
    PoolEvent::Asked { id: 0, memory, written: line(1, false) }
}

fn reads(memory: usize) -> PoolEvent {
    PoolEvent::Asked { id: 1, memory, written: None }
}

const LOST: PoolEvent = PoolEvent::Left { memory: 0, option: RemovalOption::Surprise };

fn wrote(memory: usize) -> PoolEvent {
    PoolEvent::Came { id: 0, memory, data: None }
}

const WRITTEN: PoolEvent = PoolEvent::Answered { id: 0, data: None };

/// The description with other ranges or other commands, `ranges=[..]` and `commands=[..]`; the rest of a list are settings.
fn request(text: &str, set: &[&str]) -> ScenarioRequest {
    let mut text = text.to_owned();
    let mut rest = Vec::new();
    for change in set {
        let Some((key, value)) = change.split_once("=[") else {
            rest.push((*change).to_owned());
            continue;
        };
        let from = text.find(&format!("\n{key} = [")).expect(key) + 1;
        let end = if key == "ranges" { "\n" } else { "\n]\n" };
        let to = from + text[from..].find(end).expect(end) + end.len();
        text.replace_range(from..to, &format!("{key} = [{value}\n"));
    }
    ScenarioRequest { description: Some(text), seed: 1, threads: 1, set: rest, ..ScenarioRequest::default() }
}

fn run_of(text: &str, set: &[&str]) -> ScenarioReport {
    scenario::run(&request(text, set), &mut |_| ()).unwrap_or_else(|error| panic!("{set:?}: {error}"))
}

fn run(set: &[&str]) -> ScenarioReport {
    run_of(TEXT, set)
}

/// Memories with bytes of their own, which answer in any order, behind a pool to which commands come at any time: what a read brings is
/// what the last write has left, of lines that are mirrored whatever is lost.
#[test]
fn mem_mir_01_p() {
    for seed in 1..40 {
        let mut numbers = Numbers(0x9e37_79b9 * seed);
        let (mut pool, mut out) = (PoolAgent::new(ranges(), 3, MemorySet::default(), 8), PoolOutput::default());
        let mut memories: [BTreeMap<u64, u8>; 3] = Default::default();
        let mut expected: BTreeMap<u64, u8> = BTreeMap::new();
        // Answers under way, with their memories; requests without an answer, by tag: address, and what is written.
        let mut under_way: Vec<(usize, Message)> = Vec::new();
        let mut open: BTreeMap<u16, (u64, Option<u8>)> = BTreeMap::new();
        let (mut tag, mut lost) = (0, 0);
        for step in 0..400_u64 {
            let is_last = step >= 300;
            if step == 100 + seed {
                lost = numbers.below(2) as usize;
                let option = if seed % 2 == 0 { RemovalOption::Managed } else { RemovalOption::Surprise };
                pool.command(PoolCommand::Remove(lost, option), &mut out);
            } else if step == 180 + seed && !pool.is_changing() {
                pool.command(PoolCommand::Insert(lost), &mut out);
            } else if !is_last && numbers.below(2) == 0 {
                let address = 64 * numbers.below(4);
                tag += 1;
                let byte = (numbers.below(2) == 0).then_some(tag as u8);
                let request = byte.map_or_else(|| read(tag, address), |byte| write(tag, address, byte));
                if pool.accepts(Some(address), &request) {
                    pool.take(0, Some(address), &request, &mut out);
                    open.insert(tag, (address, byte));
                }
            } else if !under_way.is_empty() {
                let (memory, answer) = under_way.remove(numbers.below(under_way.len() as u64) as usize);
                pool.answered(memory, &answer, &mut out);
            }
            for (memory, _, request) in std::mem::take(&mut out.down) {
                under_way.push(match request {
                    Message::M2sRwd(header, data) => {
                        memories[memory].insert(header.address, data.line[0]);
                        (memory, done(header.tag))
                    }
                    Message::M2sReq(header) => {
                        let byte = memories[memory].get(&header.address).copied().unwrap_or(0);
                        (memory, data(header.tag, byte, false))
                    }
                    other => panic!("{other:?}"),
                });
            }
            for (_, _, answer) in std::mem::take(&mut out.up) {
                match answer {
                    Message::S2mNdr(header) => {
                        let (address, byte) = open.remove(&header.tag).expect("one answer");
                        expected.insert(address, byte.expect("a write"));
                    }
                    Message::S2mDrs(header, data) => {
                        let (address, _) = open.remove(&header.tag).expect("one answer");
                        let known = expected.get(&address).copied().unwrap_or(0);
                        assert_eq!(
                            (header.opcode, data.line[0]),
                            (DrsOpcode::MemData, known),
                            "seed {seed}, {address:#x}"
                        );
                    }
                    other => panic!("{other:?}"),
                }
            }
        }
        assert_eq!((rules(&out.findings), open.len(), pool.open()), (vec![], 0, 0), "seed {seed}");
        assert_eq!(pool.counts.copies_lost, 1);
    }
    assert_eq!(broken(&[write_taken(), writes(0), writes(1), wrote(0), wrote(1), WRITTEN]), [""; 0]);
}

#[test]
fn mem_mir_01_n() {
    let other = PoolEvent::Asked { id: 0, memory: 1, written: line(1, true) };
    assert_eq!(broken(&[write_taken(), writes(0), other]), ["MEM-MIR-01"], "another poison");
    assert_eq!(broken(&[write_taken(), writes(2)]), ["MEM-MIR-01"], "a memory of another range");
    assert_eq!(broken(&[write_taken(), writes(0), wrote(0), WRITTEN]), ["MEM-MIR-01"], "one copy alone");
}

/// A write is answered by its last copy, and by the other one alone when a copy is lost in between.
#[test]
fn mem_mir_02_p() {
    let (mut pool, mut out) = (pool(), PoolOutput::default());
    let (id, asked) = take(&mut pool, &write(7, 0x40, 1), &mut out);
    assert_eq!(asked, [0, 1]);
    pool.answered(1, &done(id), &mut out);
    assert_eq!(out.up, []);
    pool.answered(0, &done(id), &mut out);
    assert_eq!(out.up, [(0, usize::from(id), done(7))]);
    out.up.clear();
    let (id, _) = take(&mut pool, &write(8, 0x40, 2), &mut out);
    pool.answered(1, &done(id), &mut out);
    pool.command(PoolCommand::Remove(0, RemovalOption::Surprise), &mut out);
    assert_eq!(out.up, [(0, usize::from(id), done(8))]);
    assert_eq!((pool.open(), pool.counts.late), (1, 0), "its tag is not free: an answer is due");
    pool.answered(0, &done(id), &mut out);
    assert_eq!((pool.open(), pool.counts.late, rules(&out.findings)), (0, 1, vec![]));
}

#[test]
fn mem_mir_02_n() {
    assert_eq!(broken(&[write_taken(), writes(0), writes(1), wrote(0), WRITTEN]), ["MEM-MIR-02"]);
    assert_eq!(broken(&[write_taken(), writes(0), writes(1), wrote(1), LOST, WRITTEN]), [""; 0]);
}

/// A read asks the first copy; the other one when that is lost, or answers with poison.
#[test]
fn mem_mir_03_p() {
    let (mut pool, mut out) = (pool(), PoolOutput::default());
    let (id, asked) = take(&mut pool, &read(7, 0x40), &mut out);
    assert_eq!(asked, [0]);
    pool.answered(0, &data(id, 5, true), &mut out);
    assert_eq!((out.up.len(), out.down.len()), (0, 1));
    pool.answered(1, &data(id, 5, false), &mut out);
    assert_eq!(out.up, [(0, usize::from(id), data(7, 5, false))]);
    (out.up, out.down) = (Vec::new(), Vec::new());
    let (id, _) = take(&mut pool, &read(8, 0x40), &mut out);
    pool.command(PoolCommand::Remove(0, RemovalOption::Surprise), &mut out);
    let asked: Vec<usize> = out.down.iter().map(|(memory, ..)| *memory).collect();
    assert_eq!((asked, pool.counts.further_reads), (vec![1], 2));
    pool.answered(1, &data(id, 6, false), &mut out);
    assert_eq!(out.up, [(0, usize::from(id), data(8, 6, false))]);
    assert_eq!(rules(&out.findings), [""; 0]);
}

#[test]
fn mem_mir_03_n() {
    assert_eq!(broken(&[read_taken(), reads(0), reads(1)]), ["MEM-MIR-03"], "two at a time");
    let came = PoolEvent::Came { id: 1, memory: 0, data: line(1, true) };
    assert_eq!(broken(&[read_taken(), reads(0), came, reads(0)]), ["MEM-MIR-03"], "the same one again");
}

/// In a running system: both copies are lost in turn and the bytes stay, a medium that is dead is read past, and links with bit errors
/// change nothing.
#[test]
fn mem_mir_04_p() {
    let report = run(&[]);
    assert_eq!(report.violations, []);
    let names = ["mirrored writes", "copies lost", "pages moved"];
    assert!(names.iter().all(|name| count(&report, name) > 0), "{:?}", report.json());
    assert_eq!((count(&report, "memories removed"), count(&report, "memories inserted")), (1, 1));
    let other = "commands=[{ at = \"9 us\", command = \"link-down\", memory = 1 }]";
    assert_eq!(run(&["operations=150", other, "link.ber=1e-6"]).violations, []);
    // Poison of a medium of the node, not of the bytes, is nothing that anybody sees.
    let tray = TEXT.replace(
        "node = { kind = \"memory.node\", clock = \"core\", ports = 1,",
        "node = { kind = \"memory.tray\", clock = \"core\", form = \"box\", media_count = 2, dead_medium = 1, ports = 1,",
    );
    let report = run_of(&tray, &["operations=150", "commands=[]"]);
    assert_eq!(report.violations, []);
    assert!(count(&report, "reads of another copy") > 10);
}

#[test]
fn mem_mir_04_n() {
    let came = |poison| PoolEvent::Came { id: 1, memory: 0, data: line(1, poison) };
    let answered = |data| PoolEvent::Answered { id: 1, data };
    assert_eq!(broken(&[read_taken(), reads(0), came(false), answered(line(2, false))]), ["MEM-MIR-04"], "other bytes");
    assert_eq!(
        broken(&[read_taken(), reads(0), came(true), answered(line(1, true))]),
        ["MEM-MIR-04"],
        "one copy asked"
    );
    assert_eq!(broken(&[read_taken(), reads(0), LOST, answered(None)]), ["MEM-MIR-04"], "one copy is there");
    // Without the mirror the same loss is seen by those who read.
    let single = "ranges=[{ base = \"0\", size = \"4 MiB\", memories = [\"0\"] }]";
    let report = run(&[single]);
    assert!(report.violations.iter().any(|placed| placed.place.starts_with("accel")), "{:?}", report.violations);
    assert!(count(&report, "pool unmapped") > 0);
}

/// A copy whose memory has returned stays out.
#[test]
fn mem_mir_05_p() {
    let (mut pool, mut out) = (pool(), PoolOutput::default());
    pool.command(PoolCommand::Remove(0, RemovalOption::Managed), &mut out);
    pool.command(PoolCommand::Insert(0), &mut out);
    assert_eq!((pool.counts.removed, pool.counts.inserted), (1, 1));
    assert_eq!(take(&mut pool, &read(1, 0x40), &mut out).1, [1]);
    assert_eq!(take(&mut pool, &write(2, 0x80, 1), &mut out).1, [1]);
    assert_eq!(rules(&out.findings), [""; 0]);
}

#[test]
fn mem_mir_05_n() {
    assert_eq!(broken(&[LOST, PoolEvent::Returned { memory: 0 }, read_taken(), reads(0)]), ["MEM-MIR-05"]);
}

/// A memory that leaves is asked nothing more.
#[test]
fn mem_rmv_01_p() {
    let (mut pool, mut out) = (pool(), PoolOutput::default());
    let (id, asked) = take(&mut pool, &read(1, 0x1040), &mut out);
    assert_eq!(asked, [2]);
    pool.command(PoolCommand::Remove(2, RemovalOption::Managed), &mut out);
    assert_eq!(take(&mut pool, &read(2, 0x1080), &mut out).1, [0; 0]);
    assert!(matches!(out.up[..], [(0, _, Message::S2mDrs(header, _))] if header.opcode == DrsOpcode::MemDataNXM));
    pool.answered(2, &data(id, 3, false), &mut out);
    assert_eq!((out.up[1].2, pool.open()), (data(1, 3, false), 0));
    // There again, it is asked again.
    pool.command(PoolCommand::Insert(2), &mut out);
    assert_eq!((take(&mut pool, &read(3, 0x1040), &mut out).1, rules(&out.findings)), (vec![2], vec![]));
}

#[test]
fn mem_rmv_01_n() {
    let taken = PoolEvent::Taken { id: 1, range: Some(1), is_read: true, written: None };
    assert_eq!(broken(&[PoolEvent::Leaves { memory: 2 }, taken, reads(2)]), ["MEM-RMV-01"]);
}

/// A managed removal waits for the last answer, a surprise does not: what is open ends at once, a read as unmapped and a write completed.
#[test]
fn mem_rmv_02_p() {
    let (mut pool, mut out) = (pool(), PoolOutput::default());
    take(&mut pool, &read(1, 0x1040), &mut out);
    pool.command(PoolCommand::Remove(2, RemovalOption::Managed), &mut out);
    assert_eq!((pool.is_changing(), pool.counts.removed), (true, 0));
    take(&mut pool, &write(2, 0x80, 1), &mut out);
    // What is about to leave in order can still be lost.
    pool.command(PoolCommand::Remove(2, RemovalOption::Surprise), &mut out);
    assert!(
        matches!(out.up[..], [(0, _, Message::S2mDrs(header, _))] if header.opcode == DrsOpcode::MemDataNXM && header.tag == 1)
    );
    out.up.clear();
    let (_, asked) = take(&mut pool, &write(3, 0x1080, 1), &mut out);
    assert!(asked.is_empty() && matches!(out.up[..], [(0, _, Message::S2mNdr(header))] if header.tag == 3));
    assert_eq!((out.dropped.len(), pool.counts.unmapped, rules(&out.findings)), (1, 2, vec![]));
}

#[test]
fn mem_rmv_02_n() {
    let left = PoolEvent::Left { memory: 0, option: RemovalOption::Managed };
    assert_eq!(broken(&[read_taken(), reads(0), left]), ["MEM-RMV-02"]);
    assert_eq!(broken(&[read_taken(), reads(0), LOST]), [""; 0]);
}

/// Every request has one answer over losses and returns, and a run with them ends at rest.
#[test]
fn mem_rmv_03_p() {
    for at in ["8500 ns", "9300 ns"] {
        let commands = format!(
            "commands=[{{ at = \"{at}\", command = \"remove\", memory = 0, option = \"surprise\" }}, {{ at = \"10 us\", command = \"insert\", memory = 0 }}, {{ at = \"11 us\", command = \"remove\", memory = 0 }}]"
        );
        let report = run(&["operations=150", &commands]);
        assert_eq!((report.violations.len(), count(&report, "memories removed")), (0, 2), "{at}");
    }
}

#[test]
fn mem_rmv_03_n() {
    let answered = PoolEvent::Answered { id: 1, data: None };
    let taken = PoolEvent::Taken { id: 1, range: None, is_read: true, written: None };
    assert_eq!(broken(&[taken, answered, answered]), ["MEM-RMV-03"]);
    assert_eq!(broken(&[taken, taken]), ["MEM-RMV-03"]);
    let (mut pool, mut out) = (pool(), PoolOutput::default());
    pool.answered(2, &data(3, 0, false), &mut out);
    assert_eq!(rules(&out.findings), ["MEM-RMV-03"], "nobody has asked");
}

/// A memory comes behind the answers that are due from before; one that comes first of all is not there before.
#[test]
fn mem_rmv_04_p() {
    let (mut pool, mut out) = (pool(), PoolOutput::default());
    let (id, _) = take(&mut pool, &read(1, 0x1040), &mut out);
    pool.command(PoolCommand::Remove(2, RemovalOption::Surprise), &mut out);
    pool.command(PoolCommand::Insert(2), &mut out);
    assert_eq!(take(&mut pool, &read(2, 0x1080), &mut out).1, [0; 0], "an answer is due");
    pool.answered(2, &data(id, 1, false), &mut out);
    assert_eq!(take(&mut pool, &read(3, 0x1080), &mut out).1, [2]);
    assert_eq!(rules(&out.findings), [""; 0]);
    let mut late = PoolAgent::new(ranges(), 3, MemorySet::one(2), 4);
    assert_eq!(take(&mut late, &read(1, 0x1040), &mut out).1, [0; 0]);
    late.command(PoolCommand::Insert(2), &mut out);
    assert_eq!(take(&mut late, &read(1, 0x1040), &mut out).1, [2]);
}

#[test]
fn mem_rmv_04_n() {
    let (mut pool, mut out) = (pool(), PoolOutput::default());
    pool.command(PoolCommand::Insert(2), &mut out);
    pool.command(PoolCommand::Remove(2, RemovalOption::Surprise), &mut out);
    pool.command(PoolCommand::Remove(2, RemovalOption::Managed), &mut out);
    assert_eq!((rules(&out.findings), pool.counts.refused), (vec!["MEM-RMV-04"; 2], 2));
    // Descriptions that cannot be are refused.
    for (set, expected) in [
        ("ranges=[{ base = \"0\", size = \"2 GiB\", memories = [\"0\", \"1\"] }]", "expected at most its size"),
        ("ranges=[{ base = \"0\", memories = [\"0\", \"0\"] }]", "once"),
        ("ranges=[{ base = \"0\", memories = [\"2\"] }]", "below 2"),
        ("ranges=[{ base = \"0\" }, { base = \"64 KiB\" }]", "none of the addresses of range 0"),
        ("commands=[{ memory = 2 }]", "one of 2 memories"),
        ("commands=[{ command = \"insert\", option = \"surprise\" }]", "at remove alone"),
    ] {
        let error = scenario::run(&request(TEXT, &[set]), &mut |_| ()).expect_err(expected).to_string();
        assert!(error.contains(expected), "{error}");
    }
}

/// Hosts reach mirrored memories as any other, over links of any kind, and lose none of their bytes with one of them.
#[test]
fn hosts_lose_nothing_with_a_copy() {
    const HOST: &str = r#"format = 1
[system]
name = "mirror"
[clock]
core = { period = "500 ps" }
[component]
host = { kind = "cxl.host", clock = "core", stimulus = { pattern = "mix", accesses = 400, region_lines = 64 } }
memory = { kind = "cxl.memory", count = 2, clock = "core", size = "64 MiB" }
[component.pool]
kind = "memory.pool"
clock = "core"
ranges = [{ base = "0", size = "64 MiB", memories = ["0", "1"] }]
commands = [
  { at = "3 us", command = "remove", memory = 0, option = "surprise" },
]
[link]
cxl = { kind = "KIND", between = ["host.cxl", "pool.cxl[0]"] }
memory = { kind = "KIND", between = ["pool.memory[i]", "memory[i].cxl"] }
"#;
    for kind in ["cxl-68b", "cxl-256b", "cxl-256b-pbr"] {
        let report = run_of(&HOST.replace("KIND", kind), &[]);
        assert_eq!(report.violations, [], "{kind}");
        assert!(count(&report, "mirrored writes") > 0 && count(&report, "copies lost") == 1, "{kind}");
    }
}

/// A pool with the fewest entries: an answer that waits keeps the next request out, which is taken when the answer has left. The
/// request stayed where it was before, and all accesses behind it were given up.
#[test]
fn mem_mir_01_p2() {
    for operations in ["policy=temperature", "policy=static"] {
        let report = run(&["entries=1", operations]);
        assert_eq!(report.violations.len(), 0, "{operations}: {:?}", report.violations);
    }
}
