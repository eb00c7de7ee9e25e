//! Coherence by CXL beside bulk by XLink: flags that are stored behind the answers to their bulk, and before them (`bridge` §1.4, BRG-TIR-03).

use super::systems::resolves;
use crate::fab_hbr::systems::{count, on_threads, run};
use scalepool::kernel::{Clock, Cx, In, Module, Next, Out, RunOptions, Simulation, Time};
use scalepool::nodes::blocks::BlockNodeConfig;
use scalepool::nodes::blocks::ualink::UalinkBlocks;
use scalepool::nodes::handover::bulk::{BulkConfig, BulkHalf, BulkResult};
use scalepool::nodes::handover::{FlagOrder, HandoverDesk, SharedDesk};
use scalepool::nodes::ualink::accelerator::AcceleratorPortEnds;
use scalepool::scenario::observe::Outputs;
use scalepool::scenario::report::ScenarioReport;
use scalepool::scenario::{self, ScenarioRequest};
use scalepool::trace::Tap;
use scalepool_protocols::ualink::code::{RdWr, ReqCmd, Status};
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::field::{TlReq, TlRsp};
use scalepool_protocols::ualink::unpack::Transfer;
use std::sync::{Arc, Mutex};

const TEXT: &str = include_str!("../../systems/handover.toml");
const NVLINK: &str = include_str!("../../systems/handover_nvlink.toml");

/// Two accelerators, without a switch.
fn two() -> String {
    let (text, _) = TEXT.split_once("[settings]").expect("settings");
    text.replace("count = 3", "count = 2")
        .replace("switch = { kind = \"ualink.switch\", clock = \"accel\", ports = 3 }\n", "")
        .replace("ports = 3 }", "ports = 2 }")
        .replace("[\"accel[i].port[0]\", \"switch.port[i]\"]", "[\"accel[0].port[0]\", \"accel[1].port[0]\"]")
}

fn of(report: &ScenarioReport, name: &str) -> u64 {
    let json = report.json();
    let each = json["components"].as_object().expect("components").iter().filter(|(name, _)| name.starts_with("accel"));
    each.map(|(_, figures)| figures[name].as_u64().unwrap_or_else(|| panic!("no `{name}`: {figures:?}"))).sum()
}

/// Three threads of a litmus program of many rounds: whoever sees the flag of a round finds the whole of its bulk, over links of any kind, with errors,
/// slow memory and looks in every cycle.
#[test]
fn brg_tir_03_p() {
    for set in [
        &[][..],
        &["accel.blocks=1", "accel.rounds=60", "accel.poll_cycles=1"],
        &["accel.blocks=300", "accel.rounds=4", "accel.outstanding=1024", "accel.hbm_cycles=900"],
        &["accel.outstanding=1", "accel.blocks=8"],
        &["link.cxl_kind=cxl-68b", "link.cxl_ber=1e-6", "link.fabric_ber=1e-6", "accel.rounds=10"],
        &["link.cxl_kind=cxl-256b-pbr", "accel.rounds=5"],
    ] {
        let report = run(TEXT, set).unwrap_or_else(|error| panic!("{set:?}: {error}"));
        assert_eq!(report.violations, [], "{set:?}");
        let [given, checked] = ["rounds given", "rounds checked"].map(|name| of(&report, name));
        assert!(given == checked && given >= 12 && of(&report, "stale blocks") == 0, "{set:?}: {given} {checked}");
        assert!(of(&report, "accesses") >= 2 * given, "{set:?}: flags pass by CXL.cache");
        assert_eq!(of(&report, "requests served"), of(&report, "blocks written"), "{set:?}");
    }
    let report = run(&two(), &[]).expect("two accelerators");
    assert_eq!((report.violations.as_slice(), count(&report, "accel[0]", "rounds checked")), (&[][..], 20));
}

/// The flag first: old bulk is read behind it, which is told of, and nothing else is wrong.
#[test]
fn brg_tir_03_n() {
    for (text, set) in [
        (TEXT, &["accel.flag=first"][..]),
        (
            TEXT,
            &["accel.flag=first", "accel.hbm_cycles=1", "accel.poll_cycles=1", "accel.blocks=256", "accel.rounds=5"],
        ),
        (&two().replace("blocks = 64", "flag = \"first\", blocks = 64"), &[]),
    ] {
        let report = run(text, set).unwrap_or_else(|error| panic!("{set:?}: {error}"));
        let rules: Vec<_> = report.violations.iter().map(|broken| broken.violation.rule).collect();
        assert!(!rules.is_empty() && rules.iter().all(|rule| *rule == "BRG-TIR-03"), "{set:?}: {rules:?}");
        assert!(of(&report, "stale blocks") > 0, "{set:?}");
        let found = &report.violations[0].violation.found;
        assert!(found.contains("blocks of another round"), "{found}");
        assert_eq!(of(&report, "rounds checked"), of(&report, "rounds given"), "{set:?}: all of it ends");
    }
}

/// Over NVLink bulk is posted, and a FLUSH behind it keeps the flag back: over any switch and wire, with errors, over two links, with the smallest buffers.
#[test]
fn flags_wait_for_the_flush_over_nvlink() {
    for set in [
        &[][..],
        &["accel.blocks=1", "accel.rounds=60", "accel.poll_cycles=1"],
        &["accel.blocks=300", "accel.rounds=4", "accel.hbm_cycles=900"],
        &["link.fabric.latency=900 ns", "accel.rounds=5"],
        &["link.cxl_kind=cxl-68b", "link.cxl_ber=1e-6", "link.fabric_ber=1e-6", "accel.rounds=10"],
        &["link.fabric.headers=1", "link.fabric.data_flits=16", "accel.rounds=4"],
    ] {
        let report = run(NVLINK, set).unwrap_or_else(|error| panic!("{set:?}: {error}"));
        assert_eq!(report.violations, [], "{set:?}");
        let [given, checked] = ["rounds given", "rounds checked"].map(|name| of(&report, name));
        assert!(given == checked && given >= 12 && of(&report, "stale blocks") == 0, "{set:?}: {given} {checked}");
        // Each round has a FLUSH over its one link.
        assert_eq!(of(&report, "requests served"), of(&report, "blocks written") + given, "{set:?}");
    }
    let pairs: Vec<String> =
        (0..6).map(|n| format!("[\"accel[{}].port[{}]\", \"switch.port[{n}]\"]", n / 2, n % 2)).collect();
    let two_links = NVLINK
        .replace("blocks = 64", "ports = 2, blocks = 64")
        .replace("\"nvlink.switch\", clock = \"gpu\", ports = 3", "\"nvlink.switch\", clock = \"gpu\", ports = 6")
        .replace("[\"accel[i].port[0]\", \"switch.port[i]\"]", &format!("[{}]", pairs.join(", ")));
    let report = run(&two_links, &["accel.rounds=5"]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(report.violations, []);
    assert_eq!(of(&report, "requests served"), of(&report, "blocks written") + 2 * of(&report, "rounds given"));
    let set = ["accel.rounds=4"];
    assert_eq!(on_threads(NVLINK, &set, 1).json(), on_threads(NVLINK, &set, 2).json());
    // Chunks of collectives go around the same way.
    for kind in ["all-reduce", "broadcast"] {
        let text = NVLINK.replace("blocks = 64", &format!("blocks = 4, collective = {{ kind = \"{kind}\" }}"));
        let report = run(&text, &["accel.rounds=2"]).unwrap_or_else(|error| panic!("{kind}: {error}"));
        assert_eq!((report.violations.as_slice(), of(&report, "collectives")), (&[][..], 6), "{kind}");
    }
}

/// Without a FLUSH the flag overtakes what was posted: old bulk is read, which is told of, and nothing else is wrong. On UALink the same is a
/// flag that does not wait for answers.
#[test]
fn flags_without_a_flush_overtake_the_bulk() {
    for (text, set) in [
        (NVLINK, &["accel.flag=sent"][..]),
        (NVLINK, &["accel.flag=sent", "link.fabric.latency=900 ns", "accel.rounds=4"]),
        (NVLINK, &["accel.flag=first", "accel.rounds=4"]),
        (TEXT, &["accel.flag=sent", "accel.rounds=4"]),
    ] {
        let report = run(text, set).unwrap_or_else(|error| panic!("{set:?}: {error}"));
        let rules: Vec<_> = report.violations.iter().map(|broken| broken.violation.rule).collect();
        assert!(!rules.is_empty() && rules.iter().all(|rule| *rule == "BRG-TIR-03"), "{set:?}: {rules:?}");
        assert!(of(&report, "stale blocks") > 0, "{set:?}");
        assert_eq!(of(&report, "rounds checked"), of(&report, "rounds given"), "{set:?}: all of it ends");
    }
}

/// Neither threads nor who looks change anything.
#[test]
fn handing_over_is_the_same_however_it_runs() {
    let set = ["accel.rounds=4"];
    let [one, two] = [1, 2].map(|threads| on_threads(TEXT, &set, threads).json());
    assert_eq!(one, two);
    let folder = tempfile::tempdir().expect("a folder");
    let trace = folder.path().join("t.jsonl");
    let outputs = Outputs { trace: Some(trace.clone()), fst: Some(folder.path().join("w.fst")), ..Outputs::default() };
    let set = set.iter().map(|s| (*s).to_owned()).collect();
    let request = ScenarioRequest {
        description: Some(TEXT.to_owned()),
        seed: 1,
        threads: 1,
        set,
        outputs,
        ..ScenarioRequest::default()
    };
    assert_eq!(scenario::run(&request, &mut |_| ()).expect("a run").json(), one);
    let text = std::fs::read_to_string(trace).expect("a trace");
    let begun = text.lines().filter(|line| line.contains("\"kind\":\"begin\"")).count();
    let ended = text.lines().filter(|line| line.contains("\"kind\":\"end\"")).count();
    assert!(begun == ended && begun > 500, "{begun} begun and {ended} ended");
}

#[test]
fn accelerators_that_cannot_hand_over_are_refused() {
    let other = TEXT.replace("rounds = 20 }", "rounds = 20, at = { 1 = { blocks = 5 } } }");
    for (text, expected) in [
        (other, "expected what the first accelerator of the fabric has"),
        (TEXT.replace("order = \"relaxed\"", "authentication = \"auth\""), "does not check tags"),
        (TEXT.replace("blocks = 64", "flag = \"never\""), "expected behind, sent, first"),
        (TEXT.replace("blocks = 64", "ports = 19"), "expected 1 to 18"),
    ] {
        let error = resolves(&text).err().unwrap_or_else(|| panic!("{expected}: it is taken"));
        assert!(error.contains(expected), "{expected}: {error}");
    }
}

/// An accelerator that answers writes when it is told to.
struct Peer {
    /// Answers from this cycle on, but to the request of this number.
    answers: (u64, u64),
    /// That one is answered in this cycle.
    last_at: u64,
    asked: Vec<TlReq>,
    tx: [Out<Box<Transfer>>; 2],
    rx: [In<Box<Transfer>>; 2],
    sent: Vec<bool>,
}

impl Module for Peer {
    fn eval(&mut self, cx: &mut Cx) -> Next {
        while let Some(transfer) = self.rx[0].pop(cx) {
            if let ControlField::Request(req) = &transfer.field {
                assert_eq!(req.cmd, ReqCmd::WriteFull);
                self.asked.push(*req);
                self.sent.push(false);
            }
        }
        let (from, kept) = self.answers;
        for n in 0..self.asked.len() {
            let is_due = cx.cycle() >= if n as u64 == kept { self.last_at } else { from };
            if is_due && !self.sent[n] && self.tx[1].has_room(cx, 1) {
                let TlReq { src: dst, dst: src, tag, .. } = self.asked[n];
                let (rdwr, status) = (RdWr::Write, Status::OKAY);
                let rsp = TlRsp { dst, src, tag, rdwr, status, last: true, ..TlRsp::default() };
                self.tx[1].push(cx, Box::new(Transfer::new(ControlField::Response(rsp)))).expect("room");
                self.sent[n] = true;
            }
        }
        Next::Busy
    }
}

/// What lies on the desk when so many cycles are over, of an accelerator that writes eight blocks, all of them answered from cycle 50 on but the one
/// of this number, which is answered in cycle 300.
fn desk(order: FlagOrder, kept: u64, cycles: u64) -> (HandoverDesk, BulkResult) {
    let (desk, result) = (SharedDesk::default(), Arc::<Mutex<BulkResult>>::default());
    let (of_half, shared) = (desk.clone(), result.clone());
    let mut sim = Simulation::new(1);
    sim.partition(move |p| {
        let clock = Clock::with_period_fs(1_000_000)?;
        let id = p.clock("core", clock)?;
        let mut channel = |name: &str| p.channel::<Box<Transfer>>(name, 64, 1);
        let ((asks, asked), (replies, replied)) = (channel("asks")?, channel("replies")?);
        let ((requests, taken), (responses, came)) = (channel("requests")?, channel("responses")?);
        p.module("peer", id, |bind| Peer {
            answers: (50, kept),
            last_at: 300,
            asked: Vec::new(),
            tx: [requests, responses].map(|end| bind.attach(end)),
            rx: [asked, replied].map(|end| bind.attach(end)),
            sent: Vec::new(),
        })?;
        let config = BulkConfig {
            own: 0,
            neighbours: [1, 1],
            place: "accel".into(),
            clock,
            blocks: 8,
            rounds: 2,
            ring: None,
            order,
            outstanding: 64,
            start_cycle: 1,
            hbm_cycles: 5,
        };
        p.module("accel", id, |bind| {
            let port = AcceleratorPortEnds {
                tx: [asks, replies].map(|end| bind.attach(end)),
                rx: [taken, came].map(|end| bind.attach(end)),
            };
            let of_node = BlockNodeConfig { own: 0, fabric: 0, hbm_cycles: 5, control: 0..0 };
            let node = UalinkBlocks::new(of_node, vec![port], Arc::default());
            BulkHalf::new(config, Box::new(node), of_half, Tap::off(), shared)
        })
    });
    let limit = Some(Time::from_fs(cycles * 1_000_000));
    let options = RunOptions { limit, open_at_limit_allowed: true, ..RunOptions::default() };
    sim.run(&options, |_| ()).expect("it runs");
    let desk = *desk.lock().expect("no panic");
    (desk, result.lock().expect("no panic").clone())
}

/// One answer of eight that is missing keeps the flag back, whichever it is; without the rule the flag comes first.
#[test]
fn a_flag_waits_for_the_last_answer() {
    for kept in [0, 3, 7] {
        assert_eq!(desk(FlagOrder::Behind, kept, 290).0.given, 0, "{kept}");
        let (after, result) = desk(FlagOrder::Behind, kept, 320);
        assert_eq!((after.given, result.given, result.blocks), (1, 1, 8), "{kept}");
    }
    assert_eq!(desk(FlagOrder::First, 0, 10).0.given, 1);
}
