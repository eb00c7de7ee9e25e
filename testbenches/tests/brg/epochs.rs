//! Windows and rights that change while requests are under way (`bridge` §2, §9.7).

use super::common::*;
use super::systems::resolves;
use scalepool::bridge::cache::templates::TemplateConfig;
use scalepool::bridge::outbound::epoch::CommitOutcome;
use scalepool::bridge::outbound::request::EntryNeed;
use scalepool::bridge::outbound::{Lacking, OutboundConfig};
use scalepool::bridge::window::{AccessRights, BridgeWindow, BridgeWindows, GROUPS, WindowClass};
use scalepool::coherence::content::LineAddr;
use scalepool::coherence::message::Msg;
use scalepool::scenario::observe::Outputs;
use scalepool::scenario::{self, ScenarioRequest};
use scalepool_protocols::ualink::code::Status;
use serde_json::Value;

const MN: WindowClass = WindowClass::Mn;
/// Where the window leads in the next epoch.
const MOVED: u64 = OUT + 2 * SIZE;
const TEXT: &str = include_str!("../../systems/epochs.toml");

fn moved() -> BridgeWindows {
    windows(vec![BridgeWindow { out_base: MOVED, ..window(MN) }])
}

/// The CXL address of each message that has left.
fn lines(bench: &Bench) -> Vec<u64> {
    bench.sent.iter().filter_map(|(.., msg)| msg.line()).map(|line| line.address()).collect()
}

/// What has an entry ends under the old windows, what comes meanwhile has none, and what comes behind goes to the new place.
#[test]
fn brg_win_06_p() {
    let mut bench = Bench::of(MN);
    let entry = bench.ask(read(BASE, 32));
    bench.bridge.write_shadow(moved());
    assert_eq!(
        bench.bridge.lacks(EntryNeed { class: 0, address: None, buffers: 0 }),
        None,
        "shadow tables change nothing"
    );
    assert_eq!(bench.bridge.commit(), CommitOutcome::Waits);
    assert_eq!((bench.bridge.epoch(), bench.bridge.is_committing()), (0, true));
    for class in 0..4 {
        assert_eq!(bench.bridge.lacks(EntryNeed { class, address: None, buffers: 0 }), Some(Lacking::Epoch));
    }
    assert_eq!(bench.bridge.admit(0, asked(&read(BASE, 16))), None);
    // The response is ready and has not left.
    bench.held = Some(Vec::new());
    bench.finish(true);
    assert_eq!((bench.bridge.epoch(), lines(&bench)), (0, vec![OUT, OUT + 64]));
    bench.held = None;
    bench.respond(entry);
    assert_eq!((bench.bridge.epoch(), bench.bridge.is_committing()), (1, false));
    bench.whole(read(BASE + 256, 16));
    assert_eq!(lines(&bench)[2..], [MOVED + 256]);
    // Nothing is under way: the epoch begins at once.
    bench.bridge.write_shadow(windows(vec![window(MN)]));
    assert_eq!((bench.bridge.commit(), bench.bridge.epoch()), (CommitOutcome::Done, 2));
    bench.whole(read(BASE, 16));
    assert_eq!(lines(&bench)[3..], [OUT]);
}

/// Neither an old window nor an old right is used behind a commit; a commit of nothing, and one beside another, are refused.
#[test]
fn brg_win_06_n() {
    let mut bench = Bench::of(MN);
    assert_eq!((bench.bridge.commit(), bench.bridge.epoch()), (CommitOutcome::Refused, 0));
    let entry = bench.ask(write_full(BASE, 1, 1));
    let readable = AccessRights { read: true, ..AccessRights::default() };
    bench.bridge.write_shadow(windows(vec![BridgeWindow { rights: [readable; GROUPS], ..window(MN) }]));
    assert_eq!(bench.bridge.commit(), CommitOutcome::Waits);
    bench.bridge.write_shadow(moved());
    assert_eq!(bench.bridge.commit(), CommitOutcome::Refused);
    bench.finish(false);
    assert_eq!((entry, rsp(&bench.responses[0]).status), (0, Status::OKAY), "it had the right when it was asked");
    let told = bench.whole(write_full(BASE, 1, 2));
    assert_eq!((bench.bridge.epoch(), rsp(&told).status), (1, Status::ProtectionViolation));
    // What was written meanwhile is committed by the next one.
    assert_eq!(bench.bridge.commit(), CommitOutcome::Done);
    bench.sent.clear();
    bench.whole(write_full(BASE, 1, 3));
    assert_eq!(lines(&bench), [MOVED]);
    // Without a window at all.
    bench.bridge.write_shadow(windows(Vec::new()));
    bench.bridge.commit();
    assert_eq!(rsp(&bench.whole(read(BASE, 16))).status, Status::DecodeError);
    assert_eq!(bench.sent.len(), 1);
}

/// A request that was given up is answered and under way no more; its late answer is taken in the next epoch.
#[test]
fn a_lost_answer_holds_up_no_epoch() {
    let mut bench = Bench::of(MN);
    bench.ask(read(BASE, 16));
    bench.bridge.write_shadow(moved());
    bench.bridge.commit();
    let (child, advances) = *bench.deadlines.last().expect("a deadline");
    bench.bridge.time_out(child, advances, &mut bench.out);
    bench.collect();
    assert_eq!((rsp(&bench.responses[0]).status, bench.bridge.epoch()), (Status::CompletionTimeout, 1));
    bench.finish(false);
    assert_eq!((bench.bridge.counts().late, bench.bridge.open(), bench.findings.len()), (1, 0, 0));
}

fn templated() -> Bench {
    Bench::new(OutboundConfig { templates: Some(TemplateConfig { entries: 16, ways: 2 }), ..config(MN) })
}

fn hits(bench: &Bench) -> u64 {
    bench.bridge.cache_counts().template_hits
}

/// The windows are those of before, and yet a conversion of the epoch before is a miss, in place of which a new one is kept.
#[test]
fn brg_tpl_02_p() {
    let mut bench = templated();
    let mut found = Vec::new();
    for epoch in 0..3 {
        for _ in 0..2 {
            bench.whole(read(BASE, 16));
            found.push(hits(&bench));
        }
        assert_eq!(bench.bridge.epoch(), epoch);
        bench.bridge.write_shadow(windows(vec![window(MN)]));
        bench.bridge.commit();
    }
    assert_eq!(found, [0, 1, 1, 2, 2, 3]);
}

/// A conversion that was found behind a commit would lead to the old place, or give an old right.
#[test]
fn brg_tpl_02_n() {
    let mut bench = templated();
    bench.whole(read(BASE, 16));
    bench.whole(read(BASE, 16));
    assert_eq!((hits(&bench), lines(&bench)), (1, vec![OUT, OUT]));
    bench.bridge.write_shadow(moved());
    bench.bridge.commit();
    bench.whole(read(BASE, 16));
    assert_eq!((hits(&bench), lines(&bench)[2]), (1, MOVED));
    bench.bridge.write_shadow(windows(vec![BridgeWindow { rights: [AccessRights::default(); GROUPS], ..window(MN) }]));
    bench.bridge.commit();
    assert_eq!(rsp(&bench.whole(read(BASE, 16))).status, Status::ProtectionViolation);
    assert_eq!((hits(&bench), bench.sent.len()), (1, 3));
}

/// Lines that a bridge asks for by a conversion that it keeps, before and behind a commit that moves them.
fn asked_around_a_commit(wrong: WrongBridge) -> Vec<u64> {
    let mut bench = Bench { wrong, ..templated() };
    bench.whole(read(BASE, 16));
    bench.bridge.write_shadow(moved());
    bench.bridge.commit();
    bench.whole(read(BASE, 16));
    bench.whole(read(BASE, 16));
    lines(&bench)
}

/// R11: one of the epoch before is a miss, and the new one is found in its epoch.
#[test]
fn brg_rac_11_p() {
    assert_eq!(asked_around_a_commit(WrongBridge::NOTHING), [OUT, MOVED, MOVED]);
}

/// A bridge whose conversions outlive their epoch asks at the old place.
#[test]
fn brg_rac_11_n() {
    let outlive = WrongBridge {
        sends: |msg| match msg {
            Msg::M2sReq { opcode, snp, meta_field, meta, line, tag } if line == LineAddr::of_address(MOVED) => {
                Msg::M2sReq { opcode, snp, meta_field, meta, line: LineAddr::of_address(OUT), tag }
            }
            other => other,
        },
        ..WrongBridge::NOTHING
    };
    assert_eq!(asked_around_a_commit(outlive), [OUT; 3]);
}

/// Records of the bridge in a run with a trace, and its figures.
fn traced(text: &str) -> (Vec<Value>, Value) {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = folder.path().join("t.jsonl");
    let outputs = Outputs { trace: Some(trace.clone()), ..Outputs::default() };
    let set = vec!["operations=200".to_owned()];
    let request =
        ScenarioRequest { description: Some(text.to_owned()), seed: 1, set, outputs, ..ScenarioRequest::default() };
    let report = scenario::run(&request, &mut |_| ()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(report.violations, []);
    let text = std::fs::read_to_string(trace).expect("a trace");
    let records = text.lines().filter(|line| line.contains("\"where\":\"bridge\""));
    let records = records.map(|line| serde_json::from_str(line).expect("a record")).collect();
    (records, report.json()["components"]["bridge"].clone())
}

fn marks(records: &[Value], name: &str) -> Vec<u64> {
    let marked =
        records.iter().filter(|record| record["kind"] == "mark" && record.to_string().contains(&format!("\"{name}\"")));
    marked.map(|record| record["t_fs"].as_u64().expect("a time")).collect()
}

/// Windows move to another port of the same memory and are then dealt between both, in traffic: every byte is right, requests that wait
/// say why, and from the mark of a commit to that of its epoch no request gets an entry.
#[test]
fn windows_change_in_traffic() {
    let (records, figures) = traced(TEXT);
    assert_eq!(figures["epochs"], 2);
    assert_eq!(figures["requests refused"], 0);
    assert!(figures["commit cycles"].as_u64() > Some(50), "{figures}");
    assert!(figures["epoch wait cycles"].as_u64() > Some(0), "{figures}");
    let (committed, begun, waits) =
        (marks(&records, "commit"), marks(&records, "epoch"), marks(&records, "wait_epoch"));
    assert_eq!((committed.len(), begun.len()), (2, 2));
    assert!(!waits.is_empty());
    let entered = |from: u64, to: u64| {
        let is_in = |record: &&Value| {
            let at = record["t_fs"].as_u64().expect("a time");
            record["kind"] == "begin" && record.to_string().contains("\"convert\"") && from < at && at < to
        };
        records.iter().filter(is_in).count()
    };
    for (from, to) in committed.iter().zip(&begun) {
        assert!(from < to && entered(*from, *to) == 0, "{from} to {to}");
    }
    let all = [entered(0, committed[0]), entered(begun[0], committed[1]), entered(begun[1], u64::MAX)];
    assert!(all.iter().all(|entered| *entered > 10), "{all:?}: {committed:?}, {begun:?}");
    // Without commits nothing waits and nothing is counted.
    let (before, rest) = TEXT.split_once("commits = [").expect("commits");
    let (_, rest) = rest.split_once("\n]\n").expect("their end");
    let (records, figures) = traced(&format!("{before}{rest}"));
    assert_eq!(
        (&figures["epochs"], &figures["commit cycles"], &figures["epoch wait cycles"]),
        (&0.into(), &0.into(), &0.into())
    );
    assert_eq!(marks(&records, "wait_epoch").len(), 0);
}

/// What a description says of commits is judged as its windows are, with the number of the commit.
#[test]
fn commits_that_cannot_be_are_refused() {
    let refused = |from: &str, to: &str| resolves(&TEXT.replacen(from, to, 1)).err().unwrap_or_else(|| panic!("{to}"));
    let error = refused("at = \"5 us\"", "at = \"0\"");
    assert!(error.contains("found commit 1 before commit 0"), "{error}");
    let error = refused("ports = [\"1\"] }] }", "ports = [\"2\"] }] }");
    assert!(error.contains("commit 0: found a window of class MN at port 2"), "{error}");
    let error = refused("mode = \"template\"", "mode = \"both\"");
    assert!(error.contains("found commit 0, which leads 0x0 by another port than before"), "{error}");
    let error = refused("ports = [\"1\"] }] }", "to = \"1 MiB\" }] }");
    assert!(error.contains("found commit 0, which leads 0x0 to 0x100000 instead of 0x0"), "{error}");
    let error = refused(
        "ports = [\"1\"] }] }",
        "ports = [\"1\"] }, { base = \"16 MiB\", size = \"2 GiB\", to = \"16 MiB\" }] }",
    );
    assert!(
        error.contains("found window 1 from 0x1000000") && error.contains("expected addresses of the memory there"),
        "{error}"
    );
}

/// Windows of a bridge of NVLink, behind a cache of lines, are replaced by the same ones with other rights: posted writes, FLUSHes and atomics of
/// GPUs are none the worse for it.
#[test]
fn epochs_pass_under_posted_writes() {
    let windows = "[{ base = \"0\", size = \"40 MiB\", to = \"32 GiB\", rights = [\"0:rwa\"] }, { base = \"40 MiB\", size = \"40 MiB\", to = \"512 MiB\", ports = [\"1\"] }]";
    let commits: Vec<String> = (1..4).map(|n| format!("{{ at = \"{n} us\", windows = {windows} }}")).collect();
    let changed = format!(
        "kind = \"bridge.nvlink\"\ncache = {{ mode = \"both\", capacity = \"8 KiB\", ways = 2 }}\ncommits = [{}]",
        commits.join(", ")
    );
    let text = include_str!("../../../src/system/builtin/supercluster-small.toml");
    let text = text.replace("kind = \"bridge.nvlink\"", &changed);
    let set = ["traffic.operations=30", "gpu.requests=60", "host.accesses=20"].map(str::to_owned).to_vec();
    let request = ScenarioRequest { description: Some(text), seed: 1, set, ..ScenarioRequest::default() };
    let report = scenario::run(&request, &mut |_| ()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(report.violations, []);
    let figures = &report.json()["components"]["nbridge"];
    assert_eq!((&figures["epochs"], &figures["requests refused"]), (&3.into(), &0.into()), "{figures}");
    assert!(figures["commit cycles"].as_u64() > Some(0), "{figures}");
}
