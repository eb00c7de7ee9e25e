//! The inbound half on a clock: sums of stages, exact to the cycle, rates, rooms (`bridge` §7, §11).

use scalepool::bridge::cache::policy::EvictionPolicy;
use scalepool::bridge::flows::LineOperation;
use scalepool::bridge::inbound::bar::BarConfig;
use scalepool::bridge::inbound::bar::access::AccessReach;
use scalepool::bridge::inbound::bar::half::{BarHalf, BarHalfConfig};
use scalepool::bridge::inbound::module::{InboundModule, InboundModuleConfig, InboundResult};
use scalepool::bridge::inbound::port::TargetPort;
use scalepool::bridge::inbound::side::{AcceleratorAnswer, AcceleratorSide, SideAccess};
use scalepool::bridge::inbound::{AcceleratorAccess, InboundConfig};
use scalepool::bridge::outbound::BridgeFinding;
use scalepool::bridge::timing::BridgeTiming;
use scalepool::bridge::waits::{AcceleratorClasses, WaitWatch};
use scalepool::bridge::window::{AccessRights, BridgeWindow, BridgeWindows, GROUPS, InboundClass, WindowLimits};
use scalepool::coherence::clocked::linked::Received;
use scalepool::coherence::content::CacheLine;
use scalepool::kernel::{Clock, Cx, In, Module, Next, Out, RunOptions, Simulation, Time};
use scalepool::ordered::OrderedMap;
use scalepool::trace::{Tap, TransactionHandle};
use scalepool_protocols::cxl::cxl256::code::{M2sReqOpcode, M2sRwdOpcode, MetaField};
use scalepool_protocols::cxl::message::{Data, M2sReq, M2sRwd, Message, MessageForm};
use scalepool_protocols::ualink::code::Status;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

const SHEET: BridgeTiming = BridgeTiming::SHEET;
/// Cycles of a channel.
const CHANNEL: u64 = 1;
/// From an access at the accelerators to its answer there.
const ACCELERATOR: u64 = 70;

type Seen<T> = Arc<Mutex<Vec<(u64, T)>>>;

/// Accelerators that answer after a time, or never.
struct Side {
    answers: VecDeque<(u64, AcceleratorAnswer)>,
    seen: Seen<AcceleratorAccess>,
    is_silent: bool,
    /// Its link is reset in this cycle.
    reset_at: Option<u64>,
    /// Accesses that are lost with it, each with that cycle, and those that are not told yet.
    lost: Vec<(u16, u64)>,
    untold: Vec<u16>,
}

impl AcceleratorSide for Side {
    fn has_room(&self, _: &Cx, _: SideAccess<'_>) -> bool {
        true
    }

    fn send(&mut self, cx: &mut Cx, tag: u16, access: SideAccess<'_>) -> Option<TransactionHandle> {
        let SideAccess::Lines(access) = access else { panic!("no BAR is here: {access:?}") };
        self.seen.lock().expect("no panic").push((cx.cycle(), *access));
        let lines = if access.operation == LineOperation::Read { access.lines } else { 0 };
        let lines = (0..lines).map(|n| CacheLine::of([(access.line.0 + u64::from(n)) as u8; 64])).collect();
        self.answers.push_back((cx.cycle() + ACCELERATOR, AcceleratorAnswer { tag, status: Status::OKAY, lines }));
        None
    }

    fn receive(&mut self, cx: &mut Cx, answers: &mut Vec<Result<AcceleratorAnswer, BridgeFinding>>) {
        if !self.is_silent && self.answers.front().is_some_and(|(due, _)| *due <= cx.cycle()) {
            answers.extend(self.answers.pop_front().map(|(_, answer)| Ok(answer)));
        }
        if self.reset_at.is_some_and(|at| at <= cx.cycle()) {
            self.reset_at = None;
            self.untold = self.answers.drain(..).map(|(_, answer)| answer.tag).collect();
            self.lost = self.untold.iter().map(|tag| (*tag, cx.cycle())).collect();
        }
    }

    fn take_lost(&mut self) -> Vec<u16> {
        std::mem::take(&mut self.untold)
    }

    fn forgets(&mut self, tag: u16, lost_cycle: u64) -> bool {
        self.lost.contains(&(tag, lost_cycle))
    }

    fn is_due(&self, _: &Cx) -> bool {
        // It has no channel that would wake it.
        !self.answers.is_empty() && !self.is_silent || self.reset_at.is_some()
    }
}

/// A host that asks what it is told to, and takes answers when it is told to.
struct Host {
    asks: VecDeque<(u64, Message)>,
    tx: Out<Message>,
    rx: In<Message>,
    takes_from: u64,
    seen: Seen<Message>,
}

impl Module for Host {
    fn eval(&mut self, cx: &mut Cx) -> Next {
        while cx.cycle() >= self.takes_from
            && let Some(answer) = self.rx.pop(cx)
        {
            self.seen.lock().expect("no panic").push((cx.cycle(), answer));
        }
        while self.asks.front().is_some_and(|(at, _)| *at <= cx.cycle()) && self.tx.has_room(cx, 1) {
            let (_, message) = self.asks.pop_front().expect("one in front");
            self.tx.push(cx, message).expect("room");
        }
        Next::Busy
    }
}

struct Ran {
    answers: Vec<(u64, Message)>,
    accesses: Vec<(u64, AcceleratorAccess)>,
    result: InboundResult,
}

/// Names of classes at accelerators.
const CLASSES: AcceleratorClasses = AcceleratorClasses { request: "request", posted: None, response: "response" };

/// What is asked, and how the bridge is built.
struct Setup {
    timing: BridgeTiming,
    entries: usize,
    takes_from: u64,
    is_silent: bool,
    reset_at: Option<u64>,
    merge_cycles: Option<u64>,
    /// A cache in front of accelerators with this latency.
    cache_cycles: Option<u64>,
    listed: &'static [(&'static str, &'static str)],
}

const PLAIN: Setup = Setup {
    timing: SHEET,
    entries: 64,
    takes_from: 0,
    is_silent: false,
    reset_at: None,
    merge_cycles: None,
    cache_cycles: None,
    listed: &[],
};

fn run(setup: Setup, asks: Vec<(u64, Message)>) -> Ran {
    let Setup { timing, entries, takes_from, is_silent, reset_at, merge_cycles, cache_cycles, listed } = setup;
    let (answers, accesses, result) = (Seen::default(), Seen::default(), Arc::<Mutex<InboundResult>>::default());
    let (of_host, of_side, shared) = (answers.clone(), accesses.clone(), result.clone());
    let mut sim = Simulation::new(1);
    sim.partition(move |p| {
        let clock = Clock::with_period_fs(1_000_000)?;
        let id = p.clock("bridge", clock)?;
        let (ask, ask_in) = p.channel::<Message>("requests", 256, 1)?;
        let (answer, answer_in) = p.channel::<Message>("answers", 2, 1)?;
        p.module("host", id, |bind| Host {
            asks: asks.into(),
            tx: bind.attach(ask),
            rx: bind.attach(answer_in),
            takes_from,
            seen: of_host,
        })?;
        let window = BridgeWindow {
            base: 0,
            size: 1 << 30,
            out_base: 0,
            class: InboundClass::Nh,
            ports: vec![0],
            granule: 256,
            rights: [AccessRights::ALL; GROUPS],
        };
        let windows = BridgeWindows::within(WindowLimits::INBOUND_NVLINK, vec![window], OrderedMap::new(), 1);
        let cache = cache_cycles.map(|_| super::inbound_cache::cache(4, 1, EvictionPolicy::Lru));
        let inbound = InboundConfig { windows: windows.expect("a window"), decoders: vec![None], entries, cache };
        let config = InboundModuleConfig {
            place: "bridge".into(),
            inbound,
            timing,
            merge_cycles,
            cache_cycles: cache_cycles.unwrap_or(0),
            outages: Vec::new(),
            viral: Arc::default(),
            shown: MessageForm::Hbr,
            waits: WaitWatch::new(CLASSES, listed.to_vec()),
            clock,
        };
        // Without a port.
        let bar = BarConfig {
            windows: config.inbound.windows.clone(),
            reach: AccessReach::NVLINK,
            tags: 0..0,
            payload_bytes: 256,
        };
        let bars =
            BarHalf::new(BarHalfConfig { bar, timing, waits: config.waits.clone(), outages: Vec::new() }, Vec::new());
        let (answers, lost, untold) = Default::default();
        let side = Side { answers, seen: of_side, is_silent, reset_at, lost, untold };
        p.module("bridge", id, |bind| {
            let port = TargetPort {
                rx: Received::Link(bind.attach(ask_in)),
                tx: bind.attach(answer),
                own: 0,
                form: MessageForm::Hbr,
                link: 0,
            };
            InboundModule::new(config, Box::new(side), (vec![port], bars, None), Tap::off(), shared)
        })
    });
    let limit = Some(Time::from_fs(3_000_000_000));
    let options = RunOptions { limit, open_at_limit_allowed: true, ..RunOptions::default() };
    sim.run(&options, |_| ()).expect("it runs");
    let result = result.lock().expect("no panic").clone();
    let (answers, accesses) = (answers.lock().expect("no panic").clone(), accesses.lock().expect("no panic").clone());
    Ran { answers, accesses, result }
}

fn read(line: u64) -> Message {
    let meta_field = MetaField::NoOp;
    let (address, tag) = (64 * line, line as u16);
    Message::M2sReq(M2sReq { opcode: M2sReqOpcode::MemRd, meta_field, address, tag, ..M2sReq::default() })
}

fn write(line: u64) -> Message {
    let meta_field = MetaField::Meta0State;
    let (address, tag) = (64 * line, line as u16);
    let header = M2sRwd { opcode: M2sRwdOpcode::MemWr, meta_field, address, tag, ..M2sRwd::default() };
    Message::M2sRwd(header, Data::line([7; 64]))
}

/// Cycles in the bridge of a message on an idle system, without links and accelerator.
fn own_cycles(timing: BridgeTiming, message: Message) -> u64 {
    let ran = run(Setup { timing, ..PLAIN }, vec![(10, message)]);
    assert_eq!((ran.answers.len(), ran.result.broken.len()), (1, 0));
    let (at, _) = ran.answers[0];
    assert_eq!(ran.result.cycles + 2 * CHANNEL, at - 10, "what the bridge counts is what is seen");
    at - 10 - 2 * CHANNEL - ACCELERATOR
}

/// 5 + 3 + 8 + 4 there, 5 + 5 + 4 back: what the sheet gives for memory with a directory, less that.
#[test]
fn an_uncontended_message_takes_the_sum_of_its_stages() {
    for message in [read(3), write(3)] {
        assert_eq!(own_cycles(SHEET, message), 34);
        let with = |timing| own_cycles(timing, message) - 34;
        assert_eq!(with(BridgeTiming { deframe_cycles: SHEET.deframe_cycles + 1, ..SHEET }), 2);
        assert_eq!(with(BridgeTiming { lookup_cycles: SHEET.lookup_cycles + 1, ..SHEET }), 1);
        assert_eq!(with(BridgeTiming { convert_cycles: SHEET.convert_cycles + 1, ..SHEET }), 1);
        assert_eq!(with(BridgeTiming { frame_cycles: SHEET.frame_cycles + 1, ..SHEET }), 2);
        assert_eq!(with(BridgeTiming { response_cycles: SHEET.response_cycles + 1, ..SHEET }), 1);
        assert_eq!(with(BridgeTiming { alu_cycles: SHEET.alu_cycles + 1, ..SHEET }), 0);
    }
}

/// A line in the cache takes its latency in place of what is asked at the accelerator, 5 + 3 + 8 + 37 + 4; one that is read first takes what
/// it takes without a cache, behind a write of each dirty line whose place it gets.
#[test]
fn a_line_in_front_of_accelerators_takes_its_latency() {
    let cycles = |asks: &[Message]| {
        let asks = asks.iter().zip(0u64..).map(|(message, n)| (10 + 1000 * n, *message)).collect::<Vec<_>>();
        let (count, last) = (asks.len(), asks[asks.len() - 1].0);
        let ran = run(Setup { cache_cycles: Some(37), ..PLAIN }, asks);
        assert_eq!((ran.answers.len(), ran.result.broken.len()), (count, 0));
        ran.answers[count - 1].0 - last - 2 * CHANNEL
    };
    // Sets are 128 bytes apart, and there are four.
    let there_and_back = 34 + ACCELERATOR;
    assert_eq!(cycles(&[read(0)]), there_and_back);
    assert_eq!(cycles(&[read(0), read(0)]), 57);
    assert_eq!(cycles(&[write(0)]), 57);
    let written_back = SHEET.frame_cycles + ACCELERATOR + SHEET.answer_cycles();
    assert_eq!(cycles(&[write(0), read(8)]), there_and_back + written_back);
    assert_eq!(cycles(&[write(0), write(1), write(8)]), 57 + 2 * written_back);
    assert_eq!(cycles(&[read(0), write(8)]), 57, "a clean line leaves without a word");
}

/// One message enters a cycle and one answer leaves.
#[test]
fn messages_and_answers_pass_one_a_cycle() {
    let ran = run(PLAIN, (0..12).map(|n| (10, read(n))).collect());
    assert_eq!((ran.answers.len(), ran.accesses.len()), (12, 12));
    for cycles in
        [ran.answers.iter().map(|(at, _)| *at).collect::<Vec<_>>(), ran.accesses.iter().map(|(at, _)| *at).collect()]
    {
        assert!(cycles.windows(2).all(|pair| pair[0] < pair[1]), "{cycles:?}");
    }
}

/// A full table, and a host that takes nothing for long: all of it is done, only later.
#[test]
fn a_full_table_holds_messages_back_and_loses_none() {
    let ran = run(Setup { entries: 2, takes_from: 600, ..PLAIN }, (0..20).map(|n| (10, read(n))).collect());
    assert_eq!((ran.answers.len(), ran.result.done, ran.result.broken.len()), (20, 20, 0));
    assert!(ran.result.full_cycles > 500);
}

/// Answers to these messages that find no room, with these waits listed: what is told of.
fn told(message: fn(u64) -> Message, listed: &'static [(&'static str, &'static str)]) -> Vec<String> {
    let asks = (0..20).map(|n| (10, message(n))).collect();
    let ran = run(Setup { takes_from: 600, listed, ..PLAIN }, asks);
    assert_eq!(ran.answers.len(), 20);
    let told = ran.result.broken.into_iter().map(|broken| broken.violation);
    told.map(|violation| format!("{}: {}", violation.rule, violation.found)).collect()
}

/// Reads wait for room for data and writes for room for completions, as listed; the runs of all systems with bridges compare theirs.
#[test]
fn brg_dlk_05_p() {
    for message in [read, write] {
        assert_eq!(told(message, &[("M2S Req", "S2M DRS"), ("M2S RwD", "S2M NDR")]), [] as [String; 0]);
        assert_eq!(told(message, &[]), [] as [String; 0], "without a list nothing is known");
    }
}

/// Without one of them in the list its wait is told, once.
#[test]
fn brg_dlk_05_n() {
    assert_eq!(told(read, &[("M2S RwD", "S2M NDR")]), ["BRG-DLK-05: M2S Req waits for S2M DRS"]);
    assert_eq!(told(write, &[("M2S Req", "S2M DRS")]), ["BRG-DLK-05: M2S RwD waits for S2M NDR"]);
}

/// What no accelerator answers is answered after its time, counted from when the access has left.
#[test]
fn a_silent_accelerator_ends_messages_in_time() {
    let timing = BridgeTiming { timeout_cycles: 500, ..SHEET };
    let ran = run(Setup { timing, is_silent: true, ..PLAIN }, vec![(10, read(1))]);
    let left = 10 + CHANNEL + SHEET.request_cycles() + SHEET.frame_cycles;
    assert_eq!(ran.answers[0].0, left + 500 + SHEET.frame_cycles + CHANNEL);
    assert_eq!((ran.result.counts.timeouts, ran.result.done), (1, 1));
}

/// A link that is reset ends what was asked over it at once; the entry and the line are free when the time of a request has passed.
#[test]
fn a_reset_ends_messages_at_once() {
    let timing = BridgeTiming { timeout_cycles: 500, ..SHEET };
    let left = 10 + CHANNEL + SHEET.request_cycles() + SHEET.frame_cycles;
    let reset = left + 10;
    let asks = vec![(10, read(1)), (left + 20, read(1)), (left + 600, read(1))];
    let ran = run(Setup { timing, entries: 2, reset_at: Some(reset), ..PLAIN }, asks);
    assert_eq!(ran.answers[0].0, reset + SHEET.frame_cycles + CHANNEL);
    // The second one waits for the line, and leaves when nothing can come for the first one any more.
    assert_eq!((ran.accesses.len(), ran.accesses[1].0), (3, reset + 500 + SHEET.frame_cycles));
    assert_eq!((ran.result.counts.timeouts, ran.result.counts.late, ran.result.done), (1, 0, 3));
    assert!(ran.result.broken.is_empty());
}

/// The accesses of reads of these lines, each at a cycle, with so many cycles to wait for others: first line, lines, cycle since the first
/// could have left; what comes back is right.
fn merged(merge_cycles: Option<u64>, lines: &[(u64, u64)]) -> Vec<(u64, u8, u64)> {
    let asks = lines.iter().map(|(at, line)| (10 + at, read(*line))).collect();
    let ran = run(Setup { merge_cycles, ..PLAIN }, asks);
    assert_eq!((ran.answers.len(), ran.result.broken.len()), (lines.len(), 0));
    for (_, answer) in &ran.answers {
        let Message::S2mDrs(header, data) = answer else { panic!("{answer:?}") };
        assert_eq!(data.line, [header.tag as u8; 64]);
    }
    let counts = ran.result.counts;
    assert_eq!((counts.accesses, counts.merged), (lines.len() as u64, (lines.len() - ran.accesses.len()) as u64));
    let first = 10 + CHANNEL + SHEET.request_cycles() + SHEET.frame_cycles;
    ran.accesses.iter().map(|(at, access)| (access.line.0, access.lines, at - first)).collect()
}

/// A whole block leaves at once, half of one and a line alone when their time is over; what comes later, lies in another block or in the
/// other half does not leave with them.
#[test]
fn reads_side_by_side_leave_as_one() {
    let on = Some(8);
    assert_eq!(merged(on, &[(0, 4), (0, 5), (0, 6), (0, 7)]), [(4, 4, 3)]);
    assert_eq!(merged(on, &[(0, 7), (2, 5), (3, 4), (5, 6)]), [(4, 4, 5)]);
    assert_eq!(merged(on, &[(0, 5), (7, 4)]), [(4, 2, 8)]);
    assert_eq!(merged(on, &[(0, 4), (9, 5)]), [(4, 1, 8), (5, 1, 17)]);
    assert_eq!(merged(on, &[(0, 5), (1, 6)]), [(5, 1, 8), (6, 1, 9)], "they are of two halves");
    assert_eq!(merged(on, &[(0, 3), (1, 4)]), [(3, 1, 8), (4, 1, 9)], "they are of two blocks");
    assert_eq!(merged(on, &[(0, 4), (1, 9)]), [(4, 1, 8), (9, 1, 9)], "side by side in their blocks alone");
    assert_eq!(merged(on, &[(0, 4), (1, 5), (2, 6)]), [(4, 2, 8), (6, 1, 10)]);
    assert_eq!(merged(Some(0), &[(0, 4), (0, 5)]), [(4, 1, 0), (5, 1, 1)]);
}

/// Without the setting no read waits for another one, and none leaves with one.
#[test]
fn reads_leave_alone_without_the_setting() {
    let alone: Vec<_> = (0..4).map(|n| (4 + n, 1, n)).collect();
    assert_eq!(merged(None, &[(0, 4), (0, 5), (0, 6), (0, 7)]), alone);
}

/// Writes wait for nothing and stay alone.
#[test]
fn writes_are_not_merged() {
    let ran = run(Setup { merge_cycles: Some(8), ..PLAIN }, vec![(10, write(4)), (10, write(5))]);
    let first = 10 + CHANNEL + SHEET.request_cycles() + SHEET.frame_cycles;
    let seen: Vec<_> = ran.accesses.iter().map(|(at, access)| (at - first, access.lines)).collect();
    assert_eq!(seen, [(0, 1), (1, 1)]);
}
