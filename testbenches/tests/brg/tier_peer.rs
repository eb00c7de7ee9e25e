//! An accelerator with tiers against a peer that does what a test says: refused messages, bad answers, a link that goes down.

use scalepool::kernel::{Clock, Cx, In, Module, Next, Out, Rng, RunOptions, Simulation, Time};
use scalepool::nodes::blocks::BlockNodeConfig;
use scalepool::nodes::blocks::ualink::UalinkBlocks;
use scalepool::nodes::tiers::accelerator::{TieredAccelerator, TieredConfig, TieredResult};
use scalepool::nodes::tiers::frames::{Tier, TierFrame, TierLayout};
use scalepool::nodes::tiers::messages::{PageMessage, UALINK_CONTROL_BASE};
use scalepool::nodes::tiers::policy::PlacementPolicy;
use scalepool::nodes::tiers::traffic::{TieredGenerator, TieredTraffic};
use scalepool::nodes::ualink::accelerator::AcceleratorPortEnds;
use scalepool::nodes::ualink::read::Read;
use scalepool::trace::Tap;
use scalepool_protocols::ualink::code::{RdWr, ReqCmd, Status};
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::field::{TlReq, TlRsp};
use scalepool_protocols::ualink::unpack::Transfer;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// Accelerator 0 manages pages 0 and 1, the peer is accelerator 1 with pages 2 and 3, and also bridge 2.
const LAYOUT: TierLayout = TierLayout {
    accelerators: 2,
    pages: 2,
    page_bytes: 4096,
    frames: [2, 0, 1],
    bridge: 2,
    tier2_base: 0,
    control_base: UALINK_CONTROL_BASE,
};
/// Cycles of a run.
const CYCLES: u64 = 2000;

/// What the peer answers to a request; requests come in the order in which they were sent.
type Answers = Box<dyn FnMut(&TlReq) -> Option<Transfer> + Send>;

struct Peer {
    answers: Answers,
    /// What it sends by itself, by cycle.
    sends: VecDeque<(u64, Transfer)>,
    tx: [Out<Box<Transfer>>; 2],
    rx: [In<Box<Transfer>>; 2],
    seen: Arc<Mutex<Vec<(u64, Transfer)>>>,
}

impl Module for Peer {
    fn eval(&mut self, cx: &mut Cx) -> Next {
        for rx in &mut self.rx {
            while let Some(transfer) = rx.pop(cx) {
                let answer = match &transfer.field {
                    ControlField::Request(req) => (self.answers)(req),
                    _ => None,
                };
                self.sends.extend(answer.map(|answer| (0, answer)));
                self.seen.lock().expect("no panic").push((cx.cycle(), *transfer));
            }
        }
        while let Some(n) = self.sends.iter().position(|(at, _)| *at <= cx.cycle()) {
            let (_, transfer) = self.sends.remove(n).expect("it is there");
            let class = usize::from(matches!(transfer.field, ControlField::Response(_)));
            self.tx[class].push(cx, Box::new(transfer)).expect("a deep channel");
        }
        Next::Busy
    }
}

/// Runs an accelerator that does so many copies, or nothing, on pages of the peer; what the peer has seen, and the result.
fn run(copies: u64, sends: Vec<(u64, Transfer)>, answers: Answers) -> (Vec<(u64, Transfer)>, TieredResult) {
    let seen: Arc<Mutex<Vec<(u64, Transfer)>>> = Arc::default();
    let result: Arc<Mutex<TieredResult>> = Arc::default();
    let (of_peer, of_accelerator) = (seen.clone(), result.clone());
    let mut sim = Simulation::new(1);
    sim.partition(move |p| {
        let clock = Clock::with_period_fs(1_000_000)?;
        let id = p.clock("core", clock)?;
        let (asks, asked) = p.channel::<Box<Transfer>>("asks", 64, 1)?;
        let (replies, replied) = p.channel::<Box<Transfer>>("replies", 64, 1)?;
        let (requests, taken) = p.channel::<Box<Transfer>>("requests", 64, 1)?;
        let (responses, came) = p.channel::<Box<Transfer>>("responses", 64, 1)?;
        p.module("peer", id, |bind| Peer {
            answers,
            sends: sends.into(),
            tx: [requests, responses].map(|end| bind.attach(end)),
            rx: [asked, replied].map(|end| bind.attach(end)),
            seen: of_peer,
        })?;
        let traffic = TieredTraffic {
            own: 0,
            accelerators: LAYOUT.accelerators,
            pages: LAYOUT.pages,
            page_bytes: LAYOUT.page_bytes,
            blocks: 1,
            count: copies,
            foreign_percent: 100,
            hot_pages: 1,
            hot_percent: 0,
            phase: 0,
            copy_every: 1,
        };
        let config = TieredConfig {
            own: 0,
            place: "accel".into(),
            clock,
            layout: LAYOUT,
            policy: PlacementPolicy::FirstTouch,
            caller: Default::default(),
            changes: Default::default(),
            prefetch: (0, 0),
            interval_cycles: 1000,
            control: None,
            is_cached: false,
            operations: TieredGenerator::new(traffic, Rng::for_name(1, "operations")),
            start_cycle: 1,
            stop_cycle: None,
            outstanding: 4,
            copy_outstanding: 4,
            poison_every: 0,
        };
        let of_node = BlockNodeConfig { own: 0, fabric: 0, hbm_cycles: 5, control: LAYOUT.control_addresses() };
        p.module("accel", id, |bind| {
            let port = AcceleratorPortEnds {
                tx: [asks, replies].map(|end| bind.attach(end)),
                rx: [taken, came].map(|end| bind.attach(end)),
            };
            let node = UalinkBlocks::new(of_node, vec![port], Arc::default());
            TieredAccelerator::new(config, Box::new(node), Tap::off(), of_accelerator)
        })
    });
    let limit = Some(Time::from_fs(CYCLES * 1_000_000));
    let options = RunOptions { limit, open_at_limit_allowed: true, ..RunOptions::default() };
    sim.run(&options, |_| ()).expect("it runs");
    let seen = seen.lock().expect("no panic").clone();
    let result = result.lock().expect("no panic").clone();
    (seen, result)
}

/// A message of a node about a page.
fn message(src: u16, page: u32, said: PageMessage, tag: u16) -> Transfer {
    let cmd = ReqCmd::WriteFull;
    let req = TlReq { cmd, src, dst: 0, address: LAYOUT.control_address(page), len: 15, tag, ..TlReq::default() };
    let Read { data, poisoned } = vec![(said.line(), false)].into();
    Transfer { data, poisoned, ..Transfer::new(ControlField::Request(req)) }
}

fn answer(req: &TlReq, status: Status, lines: Vec<([u8; 64], bool)>) -> Transfer {
    let rdwr = if req.cmd == ReqCmd::Read { RdWr::Read } else { RdWr::Write };
    let len = lines.len().saturating_sub(1) as u8;
    let (dst, src, tag) = (req.src, req.dst, req.tag);
    let rsp = TlRsp { dst, src, tag, rdwr, len, status, last: true, ..TlRsp::default() };
    let Read { data, poisoned } = lines.into();
    Transfer { data, poisoned, ..Transfer::new(ControlField::Response(rsp)) }
}

/// The place of a page of the peer: page 2 is in its first frame of HBM, page 3 in the second one.
fn place(req: &TlReq) -> Option<Transfer> {
    let page = (req.address.checked_sub(LAYOUT.control_base)? / 256) as u32;
    let place = TierFrame { tier: Tier::Hbm, frame: page - 2 };
    Some(answer(req, Status::OKAY, vec![(PageMessage::Place(place).line(), false)]))
}

fn requests(seen: &[(u64, Transfer)]) -> Vec<(u64, TlReq, u8)> {
    let request = |(cycle, transfer): &(u64, Transfer)| match &transfer.field {
        ControlField::Request(req) => Some((*cycle, *req, transfer.poisoned)),
        _ => None,
    };
    seen.iter().filter_map(request).collect()
}

/// The cycle in which the request of a tag was answered.
fn answered(seen: &[(u64, Transfer)], tag: u16) -> Option<u64> {
    let is_meant = |transfer: &Transfer| matches!(&transfer.field, ControlField::Response(rsp) if rsp.tag == tag);
    seen.iter().find(|(_, transfer)| is_meant(transfer)).map(|(cycle, _)| *cycle)
}

fn rules(result: &TieredResult) -> Vec<&str> {
    result.broken.iter().map(|broken| broken.violation.rule).collect()
}

/// Only the manager of a page blocks it and tells its new place, by a whole line without poison; everything else is refused, and
/// answered.
#[test]
fn tiers_refuse_messages_of_others() {
    let with = |change: fn(&mut TlReq), poisoned, mut transfer: Transfer| {
        if let ControlField::Request(req) = &mut transfer.field {
            change(req);
        }
        Transfer { poisoned, ..transfer }
    };
    let place = |frame| PageMessage::Switch(TierFrame { tier: Tier::Hbm, frame }, false);
    let sends = vec![
        // As a write with byte enables; by the bridge; to the manager itself; poisoned.
        with(|req| req.cmd = ReqCmd::Write, 0, message(1, 2, PageMessage::Block, 1)),
        message(2, 2, PageMessage::Block, 2),
        message(1, 0, PageMessage::Block, 3),
        with(|_| (), 1, message(1, 2, PageMessage::Block, 4)),
        // By the bridge; to a frame that is not there; poisoned.
        message(2, 2, place(0), 5),
        message(1, 2, place(2), 6),
        with(|_| (), 1, message(1, 2, place(0), 7)),
        // Accesses of a node that has none; poisoned ones.
        message(2, 0, PageMessage::Accesses(u64::MAX), 8),
        with(|_| (), 1, message(1, 0, PageMessage::Accesses(3), 9)),
        // These are well.
        message(1, 2, PageMessage::Block, 10),
        message(1, 2, place(1), 11),
        message(1, 0, PageMessage::Accesses(u64::MAX), 12),
        message(1, 0, PageMessage::Accesses(u64::MAX), 13),
    ];
    let sends = sends.into_iter().zip(10..).map(|(transfer, at)| (at, transfer)).collect();
    let (seen, result) = run(0, sends, Box::new(|_| None));
    assert_eq!(rules(&result), ["SIM-E2E-02"; 9], "{:?}", result.broken);
    for tag in 1..=13 {
        assert!(answered(&seen, tag).is_some(), "message {tag} is not answered");
    }
}

/// A block that a copy could not read is written as poison, whether it was refused or came without beats.
#[test]
fn tiers_copy_poison_for_blocks_that_failed() {
    let ones = vec![([0xff; 64], false); 4];
    for (status, lines) in
        [(Status::TargetAbort, ones), (Status::OKAY, Vec::new()), (Status::OKAY, vec![([1; 64], false)])]
    {
        let answers = move |req: &TlReq| match place(req) {
            None if req.cmd == ReqCmd::Read => Some(answer(req, status, lines.clone())),
            None => Some(answer(req, Status::OKAY, Vec::new())),
            place => place,
        };
        let (seen, result) = run(1, Vec::new(), Box::new(answers));
        assert!(!result.broken.is_empty());
        assert_eq!(result.copies, 1, "{:?}", result.broken);
        let writes: Vec<u8> = requests(&seen)
            .iter()
            .filter(|(_, req, _)| req.cmd == ReqCmd::WriteFull)
            .map(|(_, _, poison)| *poison)
            .collect();
        // The block that is copied is written first, since it is new.
        assert_eq!(writes, [0, 0xf]);
    }
}

/// When the link goes down, a block that waits for an open access is answered, nothing more is asked for, and what comes late is
/// counted. Before that an answer for another accelerator is refused.
#[test]
fn tiers_isolated() {
    // The question for the place had tag 0, and so has the first access, which is never answered.
    let block = message(1, 2, PageMessage::Block, 20);
    let other = message(1, 3, PageMessage::Block, 21);
    let access = TlReq { cmd: ReqCmd::WriteFull, dst: 1, ..TlReq::default() };
    let wrong = answer(&TlReq { src: 5, ..access }, Status::OKAY, Vec::new());
    let isolates = answer(&access, Status::ISOLATE, Vec::new());
    let late = answer(&access, Status::OKAY, Vec::new());
    let sends = vec![(100, block), (100, other), (150, wrong), (300, isolates.clone()), (400, late), (500, isolates)];
    let (seen, result) = run(3, sends, Box::new(place));
    assert!(result.is_isolated && result.late == 1, "{:?}", result.broken);
    assert_eq!(rules(&result), ["SIM-E2E-02", "SIM-E2E-03"], "{:?}", result.broken);
    let last = requests(&seen).last().map(|(cycle, _, _)| *cycle);
    assert!(last < Some(100), "asked in cycle {last:?}");
    // One page is written and both are copied, which is never answered.
    let blocks = [20, 21].map(|tag| answered(&seen, tag).expect("it is answered"));
    assert!(blocks.iter().all(|cycle| *cycle > 300), "{blocks:?}");
}
