//! A node of blocks on NVLink against a peer that does what a test says: packets as `nvlink` and `bridge` §8.3 spell them, poison of single
//! lines, refused messages, answers that nobody waits for.

use scalepool::kernel::{Clock, Cx, In, Module, Next, Out, Rng, RunOptions, Simulation, Time};
use scalepool::link::nvlink::NvlMessage;
use scalepool::nodes::blocks::BlockNodeConfig;
use scalepool::nodes::blocks::nvlink::NvlinkBlocks;
use scalepool::nodes::nvlink::gpu::LinkEnds;
use scalepool::nodes::tiers::accelerator::{TieredAccelerator, TieredConfig, TieredResult};
use scalepool::nodes::tiers::frames::{Tier, TierFrame, TierLayout};
use scalepool::nodes::tiers::messages::{NVLINK_CONTROL_BASE, PageMessage};
use scalepool::nodes::tiers::policy::PlacementPolicy;
use scalepool::nodes::tiers::traffic::{TieredGenerator, TieredTraffic};
use scalepool::trace::Tap;
use scalepool_protocols::nvlink::{NvlConfig, Op};
use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex};

/// GPU 0 manages pages 0 and 1, the peer is GPU 1 with pages 2 and 3.
const LAYOUT: TierLayout = TierLayout {
    accelerators: 2,
    pages: 2,
    page_bytes: 4096,
    frames: [2, 0, 1],
    bridge: 2,
    tier2_base: 0,
    control_base: NVLINK_CONTROL_BASE,
};
/// Address bits of a node (`nvlink` §5).
const LOCAL: u64 = (1 << 36) - 1;
/// Cycles of a run.
const CYCLES: u64 = 1000;

/// What the peer answers to a request; requests come in the order in which they were sent.
type Answers = Box<dyn FnMut(&NvlMessage) -> Option<NvlMessage> + Send>;

struct Peer {
    answers: Answers,
    /// What it sends by itself, by cycle and channel.
    sends: VecDeque<(u64, usize, NvlMessage)>,
    tx: [Out<NvlMessage>; 3],
    rx: [In<NvlMessage>; 3],
    seen: Arc<Mutex<Vec<NvlMessage>>>,
}

impl Module for Peer {
    fn eval(&mut self, cx: &mut Cx) -> Next {
        for (channel, rx) in self.rx.iter_mut().enumerate() {
            while let Some(message) = rx.pop(cx) {
                let answer = if channel == 2 { None } else { (self.answers)(&message) };
                self.sends.extend(answer.map(|answer| (0, 2, answer)));
                self.seen.lock().expect("no panic").push(message);
            }
        }
        while let Some(n) = self.sends.iter().position(|(at, ..)| *at <= cx.cycle()) {
            let (_, channel, message) = self.sends.remove(n).expect("it is there");
            self.tx[channel].push(cx, message).expect("a deep channel");
        }
        Next::Busy
    }
}

/// Runs a GPU that does so many copies, or nothing, on pages of the peer; what the peer has seen, and the result.
fn run(copies: u64, sends: Vec<(u64, usize, NvlMessage)>, answers: Answers) -> (Vec<NvlMessage>, TieredResult) {
    let seen: Arc<Mutex<Vec<NvlMessage>>> = Arc::default();
    let result: Arc<Mutex<TieredResult>> = Arc::default();
    let (of_peer, of_gpu) = (seen.clone(), result.clone());
    let mut sim = Simulation::new(1);
    sim.partition(move |p| {
        let clock = Clock::with_period_fs(1_000_000)?;
        let id = p.clock("core", clock)?;
        let mut channel = |name: &str| p.channel::<NvlMessage>(name, 64, 1);
        let [(a, came_a), (b, came_b), (c, came_c)] = [channel("asks")?, channel("posts")?, channel("replies")?];
        let [(d, came_d), (e, came_e), (f, came_f)] = [channel("asked")?, channel("posted")?, channel("replied")?];
        p.module("peer", id, |bind| Peer {
            answers,
            sends: sends.into(),
            tx: [d, e, f].map(|end| bind.attach(end)),
            rx: [came_a, came_b, came_c].map(|end| bind.attach(end)),
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
            place: "gpu".into(),
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
        p.module("gpu", id, |bind| {
            let ends = LinkEnds {
                tx: [a, b, c].map(|end| bind.attach(end)),
                rx: [came_d, came_e, came_f].map(|end| bind.attach(end)),
            };
            let node = NvlinkBlocks::new(of_node, vec![ends], Arc::default());
            TieredAccelerator::new(config, Box::new(node), Tap::off(), of_gpu)
        })
    });
    let limit = Some(Time::from_fs(CYCLES * 1_000_000));
    let options = RunOptions { limit, open_at_limit_allowed: true, ..RunOptions::default() };
    sim.run(&options, |_| ()).expect("it runs");
    let seen = seen.lock().expect("no panic").clone();
    let result = result.lock().expect("no panic").clone();
    (seen, result)
}

fn message(op: Op) -> NvlMessage {
    NvlMessage::new(op, &NvlConfig::default())
}

fn answer(request: &NvlMessage, op: Op, data: Vec<u8>, ep: bool) -> Option<NvlMessage> {
    Some(NvlMessage { tag: request.tag, rid: request.rid, data, ep, ..message(op) })
}

/// The place of a page of the peer, which is asked for at its control address.
fn place(request: &NvlMessage) -> Option<NvlMessage> {
    let page = ((request.address & LOCAL).checked_sub(1 << 35)? / 256) as u32;
    let place = TierFrame { tier: Tier::Hbm, frame: page - 2 };
    answer(request, Op::RSP_DATA, PageMessage::Place(place).line().to_vec(), false)
}

fn rules(result: &TieredResult) -> Vec<&str> {
    result.broken.iter().map(|broken| broken.violation.rule).collect()
}

/// A block of which the second line has poison is read whole, then line by line, each READ with a tag of its own, and written in three packets
/// with the mark of their lines.
#[test]
fn poison_of_a_line_stays_that_of_a_line() {
    let answers = |request: &NvlMessage| {
        let line = (request.address & LOCAL) / 64 % 4;
        match request.op {
            Op::READ if request.address & LOCAL >= 1 << 35 => place(request),
            Op::READ if request.size == 15 => answer(request, Op::RSP_DATA, vec![0xff; 256], true),
            Op::READ => answer(request, Op::RSP_DATA, vec![line as u8; 64], line == 1),
            _ => answer(request, Op::RSP_DONE, Vec::new(), false),
        }
    };
    let (seen, result) = run(1, Vec::new(), Box::new(answers));
    assert_eq!((rules(&result), result.copies), (vec![], 1), "{:?}", result.broken);
    let of_memory: Vec<&NvlMessage> = seen.iter().filter(|m| m.address & LOCAL < 1 << 35).collect();
    let start = of_memory[0].address;
    assert_eq!(start >> 36, 1, "the window of GPU 1");
    // The new block, the read of it as it is, and line by line.
    let spelled: Vec<_> = of_memory.iter().map(|m| (m.op, m.address & 0xff, m.size, m.data.len(), m.ep)).collect();
    let reads = (0..4).map(|n| (Op::READ, 64 * n, 3, 0, false));
    let writes = [(0, 64, false), (64, 64, true), (128, 128, false)];
    let writes = writes.map(|(offset, bytes, ep)| (Op::WRITE_NONPOSTED, offset, 0, bytes, ep));
    let first = [(Op::WRITE_NONPOSTED, 0, 0, 256, false), (Op::READ, 0, 15, 0, false)];
    let expected: Vec<_> = first.into_iter().chain(reads).chain(writes).collect();
    assert_eq!(spelled, expected);
    let tags: BTreeSet<u16> = of_memory[2..6].iter().map(|m| m.tag).collect();
    assert_eq!(tags.len(), 4, "{tags:?}");
    let written: Vec<u8> = of_memory[6..].iter().map(|m| m.data[0]).collect();
    assert_eq!((written[0], written[2]), (0, 2), "each packet has its own lines");
    assert!(of_memory.iter().all(|m| m.rid == 0 && m.be.is_none()));
}

/// A block that could not be read is written as poison: an error, too few bytes, an answer without data.
#[test]
fn blocks_that_failed_are_poison() {
    for (op, bytes) in [(Op::RSP_ERROR, 0), (Op::RSP_DATA, 64), (Op::RSP_DATA, 0), (Op::RSP_DONE, 0)] {
        let answers = move |request: &NvlMessage| match request.op {
            Op::READ => place(request).or_else(|| answer(request, op, vec![1; bytes], false)),
            _ => answer(request, Op::RSP_DONE, Vec::new(), false),
        };
        let (seen, result) = run(1, Vec::new(), Box::new(answers));
        assert_eq!((rules(&result), result.copies), (vec!["SIM-E2E-02"], 1), "{:?}", result.broken);
        let writes: Vec<_> = seen.iter().filter(|m| m.op == Op::WRITE_NONPOSTED).map(|m| m.ep).collect();
        assert_eq!(writes, [false, true], "{op:?}");
    }
}

/// Only the manager of a page says where it is, by a whole line without poison that is answered; all else at control addresses is refused, and
/// answered, unless it is posted. Memory beside them is served.
#[test]
fn messages_of_strangers_are_refused() {
    let control = |page: u64| (1 << 35) + 256 * page;
    let said = |rid, page, said: PageMessage, tag| NvlMessage {
        rid,
        tag,
        address: control(page),
        data: said.line().to_vec(),
        ..message(Op::WRITE_NONPOSTED)
    };
    let place = |frame| PageMessage::Switch(TierFrame { tier: Tier::Hbm, frame }, false);
    let read = |rid, page, size, tag| NvlMessage { rid, tag, size, address: control(page), ..message(Op::READ) };
    let wrong = [
        said(2, 2, PageMessage::Block, 1),
        said(1, 0, PageMessage::Block, 2),
        NvlMessage { ep: true, ..said(1, 2, PageMessage::Block, 3) },
        NvlMessage { be: Some(1), ..said(1, 2, PageMessage::Block, 4) },
        said(1, 2, place(2), 5),
        said(2, 0, PageMessage::Accesses(1), 6),
        read(1, 0, 0, 7),
        read(2, 0, 3, 8),
        NvlMessage { op: Op::ATOMIC_RETURN, ..said(1, 2, PageMessage::Block, 9) },
    ];
    let posted = NvlMessage { rid: 1, address: control(2), data: vec![0; 64], ..message(Op::WRITE_POSTED) };
    let well = [
        said(1, 2, PageMessage::Block, 10),
        said(1, 2, place(1), 11),
        said(1, 0, PageMessage::Accesses(u64::MAX), 12),
        read(1, 0, 3, 13),
        NvlMessage { address: 0x1000, ..read(1, 0, 15, 14) },
        NvlMessage { rid: 1, tag: 15, address: 1 << 4, ..message(Op::FLUSH) },
    ];
    let count = wrong.len() + 1;
    let asked = wrong.into_iter().chain(well).zip(10..).map(|(request, at)| (at, 0, request));
    let sends = [(5, 1, posted)].into_iter().chain(asked).collect();
    let (seen, result) = run(0, sends, Box::new(|_| None));
    assert_eq!(rules(&result), vec!["SIM-E2E-02"; count], "{:?}", result.broken);
    let answer = |tag| seen.iter().find(|m| m.tag == tag).unwrap_or_else(|| panic!("{tag} is not answered"));
    for tag in [1, 2, 3, 4, 5, 6, 10, 11, 12, 15] {
        assert_eq!(answer(tag).op, Op::RSP_DONE, "{tag}");
    }
    assert_eq!([7, 8].map(|tag| (answer(tag).data.len(), answer(tag).ep)), [(16, true), (64, true)]);
    assert_eq!(answer(9).op, Op::RSP_ERROR);
    let told = PageMessage::of_line(answer(13).data[..].try_into().expect("a line"));
    assert_eq!(told, Some(PageMessage::Place(TierFrame { tier: Tier::Hbm, frame: 0 })));
    let bytes: Vec<u8> = (0..32u64).flat_map(|n| (0x1000 + 8 * n).to_le_bytes()).collect();
    assert_eq!((answer(14).data.as_slice(), answer(14).ep), (bytes.as_slice(), false));
}

/// An answer to nobody, to another GPU and a second one are told of, and change nothing; a posted write with a wrong number is told of.
#[test]
fn answers_without_a_request_are_found() {
    let done = |rid, tag| NvlMessage { rid, tag, ..message(Op::RSP_DONE) };
    let late = NvlMessage { rid: 1, tag: 7, address: 0x2000, data: vec![0; 64], ..message(Op::WRITE_POSTED) };
    let sends = vec![(100, 2, done(0, 5)), (101, 2, done(0, 1023)), (102, 1, late), (110, 2, done(3, 0))];
    let answers = |request: &NvlMessage| match request.op {
        Op::READ => place(request).or_else(|| answer(request, Op::RSP_DATA, vec![1; 256], false)),
        _ => answer(request, Op::RSP_DONE, Vec::new(), false),
    };
    let (_, result) = run(1, sends, Box::new(answers));
    let found = ["NVL-TLR-01", "NVL-TLR-01", "NVL-TLR-03", "NVL-TLR-01"];
    assert_eq!((rules(&result), result.copies), (found.to_vec(), 1), "{:?}", result.broken);
}
