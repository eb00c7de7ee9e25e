//! The stages of the bridge on a clock: sums of latencies, exact to the cycle, and rates (`bridge` §11).

use super::common::*;
use scalepool::bridge::load::{FEWEST_LINES, IssueWindow, MOST_LINES};
use scalepool::bridge::module::ualink::{UalinkRequestEnds, UalinkRequesters, VCHANS};
use scalepool::bridge::module::{Bridge, BridgeConfig, BridgeCxlPort, BridgeResult};
use scalepool::bridge::outbound::OutboundConfig;
use scalepool::bridge::timing::BridgeTiming;
use scalepool::bridge::waits::WaitWatch;
use scalepool::bridge::window::WindowClass;
use scalepool::coherence::clocked::linked::{NodeLink, Numbered};
use scalepool::coherence::content::{CacheLine, LineAddr};
use scalepool::coherence::message::Msg;
use scalepool::conversion::message::{BridgeMessage, CxlMessage};
use scalepool::conversion::model::{BridgeEvent, BridgePoint};
use scalepool::kernel::{Clock, Cx, In, Module, Next, Out, RunOptions, Simulation, Time};
use scalepool::memory::backend::MemoryTiming;
use scalepool::trace::Tap;
use scalepool_protocols::cxl::cxl256::code::{
    D2hReqOpcode, DevLoad, GoState, H2dReqOpcode, H2dRspOpcode, M2sReqOpcode, MetaField, MetaValue, NdrOpcode,
};
use scalepool_protocols::cxl::message::{
    Class, Data, H2dData, H2dRsp, Message, MessageForm, PeerRoute, S2mDrs, S2mNdr,
};
use scalepool_protocols::ualink::code::{ReqCmd, Status};
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::unpack::Transfer;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// Cycles of a channel, of which there is one on each way.
pub const CHANNEL: u64 = 1;
/// From a message at the link of the bridge to its answer there.
pub const MEMORY: u64 = 2 * CHANNEL + 40;

type Seen<T> = Arc<Mutex<Vec<(u64, T)>>>;

/// All messages at both sides of the bridge: when what comes takes effect, behind the stages of the bridge, and when its peers see what leaves.
/// In one cycle answers take effect before requests.
#[derive(Clone, Default)]
struct Passed(Arc<Mutex<Vec<((u64, BridgePoint), BridgeEvent)>>>);

impl Passed {
    fn note(&self, cycle: u64, point: BridgePoint, message: BridgeMessage) {
        let first = if point == BridgePoint::Answer { BridgePoint::Request } else { BridgePoint::Sent };
        self.0.lock().expect("no panic").push(((cycle, first), BridgeEvent { point, port: 0, message }));
    }

    fn note_cxl(&self, cycle: u64, point: BridgePoint, message: &Message) {
        let msg = scalepool::coherence::message::from_link(message);
        self.note(cycle, point, BridgeMessage::Cxl(CxlMessage { msg, ld_id: 0, traffic_class: 0 }));
    }

    fn in_order(&self) -> Vec<BridgeEvent> {
        let mut all = self.0.lock().expect("no panic").clone();
        all.sort_by_key(|(at, _)| *at);
        all.into_iter().map(|(_, event)| event).collect()
    }
}

/// An accelerator that asks what it is told to.
struct Asker {
    asks: VecDeque<(u64, Transfer)>,
    /// By virtual channel.
    tx: [Out<Box<Transfer>>; VCHANS],
    rx: In<Box<Transfer>>,
    /// From the channel to the lookup of a line.
    start_cycles: u64,
    /// When the last request got into the bridge, one a cycle.
    entered: u64,
    seen: Seen<Transfer>,
    passed: Passed,
}

/// The virtual channel of a request.
fn vchan(request: &Transfer) -> usize {
    match &request.field {
        ControlField::Request(req) => req.vchan.into(),
        _ => 0,
    }
}

impl Module for Asker {
    fn eval(&mut self, cx: &mut Cx) -> Next {
        while let Some(response) = self.rx.pop(cx) {
            self.passed.note(cx.cycle(), BridgePoint::Response, BridgeMessage::Upli(response.clone()));
            self.seen.lock().expect("no panic").push((cx.cycle(), *response));
        }
        let is_due = |(at, request): &(u64, Transfer), tx: &[Out<Box<Transfer>>; VCHANS], cx: &Cx| {
            *at <= cx.cycle() && tx[vchan(request)].has_room(cx, 1)
        };
        while self.asks.front().is_some_and(|ask| is_due(ask, &self.tx, cx)) {
            let (_, request) = self.asks.pop_front().expect("one in front");
            self.entered = (cx.cycle() + CHANNEL).max(self.entered + 1);
            let looked_up = self.entered + self.start_cycles;
            self.passed.note(looked_up, BridgePoint::Request, BridgeMessage::Upli(Box::new(request.clone())));
            self.tx[vchan(&request)].push(cx, Box::new(request)).expect("room");
        }
        Next::Busy
    }
}

/// Memory, or a host, that answers everything after a time; a silent one does not.
struct Memory {
    rx: Vec<In<Numbered>>,
    tx: Vec<(Class, Out<Message>)>,
    /// What the host has pulled data for, by the UQID of the pull, which is the CQID of the request.
    pulls: Vec<(u16, D2hReqOpcode)>,
    answers: VecDeque<(u64, Message)>,
    /// Snoops of the host, with the cycles in which they are due.
    snoops: VecDeque<(u64, Message)>,
    /// The UQID of the snoop that is open: the host answers nothing before it is answered.
    snoop: Option<u16>,
    /// From the channel to the effect of an answer.
    answer_cycles: u64,
    /// When the last message of a class got into the bridge, one a cycle.
    entered: Vec<(Class, u64)>,
    is_silent: bool,
    seen: Seen<Message>,
    passed: Passed,
}

/// An H2D Rsp.
fn h2d_rsp(opcode: H2dRspOpcode, rsp_data: u16, cqid: u16) -> Message {
    Message::H2dRsp(H2dRsp { opcode, rsp_data, cqid, ..H2dRsp::default() })
}

impl Memory {
    /// What a host answers (`coherence` §2.2); `None`: it is no message for one.
    fn of_host(&mut self, message: &Message) -> Option<Vec<Message>> {
        let go = |cqid, state: GoState| h2d_rsp(H2dRspOpcode::GO, state.0.into(), cqid);
        let data = |cqid| Message::H2dData(H2dData { cqid, ..H2dData::default() }, Data::line([7; 64]));
        match message {
            Message::D2hReq(m) if m.opcode == D2hReqOpcode::RdCurr => Some(vec![data(m.cqid)]),
            Message::D2hReq(m) if m.opcode == D2hReqOpcode::RdShared => {
                Some(vec![go(m.cqid, GoState::Shared), data(m.cqid)])
            }
            Message::D2hReq(m) if m.opcode == D2hReqOpcode::RdOwn => {
                Some(vec![go(m.cqid, GoState::Exclusive), data(m.cqid)])
            }
            Message::D2hReq(m) if m.opcode == D2hReqOpcode::RdOwnNoData => Some(vec![go(m.cqid, GoState::Exclusive)]),
            Message::D2hReq(m) if m.opcode == D2hReqOpcode::CleanEvictNoData => {
                Some(vec![go(m.cqid, GoState::Invalid)])
            }
            Message::D2hReq(m) => {
                self.pulls.push((m.cqid, m.opcode));
                let is_strong = m.opcode == D2hReqOpcode::WrInv;
                let opcode = if is_strong { H2dRspOpcode::WritePull } else { H2dRspOpcode::GO_WritePull };
                Some(vec![h2d_rsp(opcode, m.cqid, m.cqid)])
            }
            Message::D2hRsp(m) => {
                self.snoop = self.snoop.filter(|open| *open != m.uqid);
                Some(Vec::new())
            }
            // The line that a snoop has taken.
            Message::D2hData(m, _) if m.uqid >= SNOOPS => Some(Vec::new()),
            Message::D2hData(m, _) => {
                let at = self.pulls.iter().position(|(uqid, _)| *uqid == m.uqid).expect("a pull");
                let (cqid, opcode) = self.pulls.remove(at);
                Some((opcode == D2hReqOpcode::WrInv).then(|| go(cqid, GoState::Invalid)).into_iter().collect())
            }
            _ => None,
        }
    }

    /// Sends a message to the bridge.
    fn tell(&mut self, cx: &mut Cx, message: Message) {
        let (class, now) = (message.class(), cx.cycle() + CHANNEL);
        let of = |class: Class| self.entered.iter().find(|(of, _)| *of == class).map(|(_, at)| *at);
        // A snoop stays behind the responses before it.
        let behind = of(Class::H2dRsp).filter(|_| class == Class::H2dReq);
        let at = now.max(of(class).map_or(0, |at| at + 1)).max(behind.unwrap_or(0));
        self.entered.retain(|(of, _)| *of != class);
        self.entered.push((class, at));
        self.passed.note_cxl(at + self.answer_cycles, BridgePoint::Answer, &message);
        let out = self.tx.iter_mut().find(|(of, _)| *of == class);
        out.expect("its channel").1.push(cx, message).expect("a deep channel");
    }
}

impl Module for Memory {
    fn eval(&mut self, cx: &mut Cx) -> Next {
        let due = cx.cycle() + MEMORY - 2 * CHANNEL;
        for n in 0..self.rx.len() {
            while let Some((_, message)) = self.rx[n].pop(cx) {
                self.passed.note_cxl(cx.cycle(), BridgePoint::Sent, &message);
                self.seen.lock().expect("no panic").push((cx.cycle(), message));
                if let Some(answers) = self.of_host(&message) {
                    self.answers.extend(answers.into_iter().map(|answer| (due, answer)));
                    continue;
                }
                let (tag, opcode, has_data) = match message {
                    Message::M2sReq(m) => {
                        let is_owned = m.meta_field == MetaField::Meta0State && m.meta_value == MetaValue::Any;
                        let grant = match m.meta_value {
                            _ if is_owned => NdrOpcode::CmpE,
                            MetaValue::Shared => NdrOpcode::CmpS,
                            _ => NdrOpcode::Cmp,
                        };
                        let completes = m.meta_field == MetaField::Meta0State;
                        (m.tag, completes.then_some(grant), m.opcode == M2sReqOpcode::MemRd)
                    }
                    Message::M2sRwd(m, _) => (m.tag, Some(NdrOpcode::Cmp), false),
                    _ => continue,
                };
                let ndr = opcode.map(|opcode| Message::S2mNdr(S2mNdr { opcode, tag, ..S2mNdr::default() }));
                let drs =
                    has_data.then(|| Message::S2mDrs(S2mDrs { tag, ..S2mDrs::default() }, Data::line([tag as u8; 64])));
                self.answers.extend(ndr.into_iter().chain(drs).map(|answer| (due, answer)));
            }
        }
        let is_due = |queue: &VecDeque<(u64, Message)>| queue.front().is_some_and(|(at, _)| *at <= cx.cycle());
        let (mut due, is_snooping) = (Vec::new(), self.snoop.is_some());
        while !self.is_silent && !is_snooping && is_due(&self.answers) {
            due.extend(self.answers.pop_front());
        }
        if !is_snooping && is_due(&self.snoops) {
            due.extend(self.snoops.pop_front());
        }
        for (_, message) in due {
            if let Message::H2dReq(m) = &message {
                self.snoop = Some(m.uqid);
            }
            self.tell(cx, message);
        }
        Next::Busy
    }
}

pub struct Ran {
    pub responses: Vec<(u64, Transfer)>,
    pub messages: Vec<(u64, Message)>,
    pub result: BridgeResult,
    /// All messages at both sides of the bridge.
    pub passed: Vec<BridgeEvent>,
}

fn run(class: WindowClass, timing: BridgeTiming, asks: Vec<(u64, Transfer)>, is_silent: bool) -> Ran {
    run_of((config(class), None), timing, asks, is_silent)
}

/// A run of a bridge and the memory of its cache, if it has one.
pub fn run_of(
    bridge: (OutboundConfig, Option<MemoryTiming>),
    timing: BridgeTiming,
    asks: Vec<(u64, Transfer)>,
    is_silent: bool,
) -> Ran {
    run_snooped(bridge, timing, asks, Vec::new(), is_silent)
}

/// UQIDs of snoops begin here; those of pulls are CQIDs.
const SNOOPS: u16 = 0x800;

/// The same with snoops of the host: cycle, opcode, address.
pub fn run_snooped(
    (outbound, cache_memory): (OutboundConfig, Option<MemoryTiming>),
    timing: BridgeTiming,
    asks: Vec<(u64, Transfer)>,
    snoops: Vec<(u64, H2dReqOpcode, u64)>,
    is_silent: bool,
) -> Ran {
    let snoops = snoops.into_iter().zip(SNOOPS..).map(|((at, opcode, address), uqid)| {
        let snoop: Msg<CacheLine> = Msg::H2dReq { opcode, line: LineAddr::of_address(address), uqid };
        (at, snoop.to_link(PeerRoute::default()))
    });
    let snoops: VecDeque<(u64, Message)> = snoops.collect();
    let start_cycles = timing.start_cycles(outbound.data.is_some(), outbound.templates.is_some());
    let (responses, messages, result) = (Seen::default(), Seen::default(), Arc::<Mutex<BridgeResult>>::default());
    let (of_asker, of_memory, shared) = (responses.clone(), messages.clone(), result.clone());
    // Three microseconds, or one behind the last request; one snoop comes after the other.
    let limit_cycles = asks.last().map_or(0, |(at, _)| at + 1000).max(3000) + 64 * snoops.len() as u64;
    let passed = Passed::default();
    let (by_asker, by_memory) = (passed.clone(), passed.clone());
    let mut sim = Simulation::new(1);
    sim.partition(move |p| {
        let clock = Clock::with_period_fs(1_000_000)?;
        let id = p.clock("bridge", clock)?;
        let (ask, ask_in) = p.channel::<Box<Transfer>>("requests", 256, 1)?;
        let mut vchan = |n: usize| p.channel::<Box<Transfer>>(&format!("requests.vchan[{n}]"), 256, 1);
        let [(ask1, ask1_in), (ask2, ask2_in), (ask3, ask3_in)] = [vchan(1)?, vchan(2)?, vchan(3)?];
        let (unused, unused_in) = p.channel::<Box<Transfer>>("never", 1, 1)?;
        let (answer, answer_in) = p.channel::<Box<Transfer>>("responses", 256, 1)?;
        let (never, never_in) = p.channel::<Box<Transfer>>("never_asked", 1, 1)?;
        let name = |class: Class| class.name().replace(' ', "_").to_lowercase();
        let (mut asked, mut asked_in, mut told, mut told_in) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for class in [Class::M2sReq, Class::M2sRwd, Class::D2hReq, Class::D2hRsp, Class::D2hData] {
            let (out, end) = p.channel::<Numbered>(&name(class), 64, 1)?;
            asked.push((class, out));
            asked_in.push(end);
        }
        for class in [Class::S2mNdr, Class::S2mDrs, Class::H2dRsp, Class::H2dData, Class::H2dReq] {
            let (out, end) = p.channel::<Message>(&name(class), 256, 1)?;
            told.push((class, out));
            told_in.push((class, end));
        }
        p.module("asker", id, |bind| {
            // Never used, but every channel has two ends.
            drop((bind.attach(unused), bind.attach(never_in)));
            Asker {
                asks: asks.into(),
                tx: [ask, ask1, ask2, ask3].map(|end| bind.attach(end)),
                rx: bind.attach(answer_in),
                start_cycles,
                entered: 0,
                seen: of_asker,
                passed: by_asker,
            }
        })?;
        p.module("memory", id, |bind| Memory {
            rx: asked_in.into_iter().map(|end| bind.attach(end)).collect(),
            tx: told.into_iter().map(|(class, end)| (class, bind.attach(end))).collect(),
            pulls: Vec::new(),
            answers: VecDeque::new(),
            snoops,
            snoop: None,
            answer_cycles: timing.answer_cycles(),
            entered: Vec::new(),
            is_silent,
            seen: of_memory,
            passed: by_memory,
        })?;
        let config = BridgeConfig {
            place: "bridge".into(),
            outbound,
            timing,
            commits: Vec::new(),
            outages: Vec::new(),
            viral: Arc::default(),
            cache_memory,
            waits: WaitWatch::default(),
            clock,
        };
        p.module("bridge", id, |bind| {
            drop(bind.attach(never));
            let x = UalinkRequestEnds {
                requests: [ask_in, ask1_in, ask2_in, ask3_in].map(|end| bind.attach(end)),
                responses: bind.attach(answer),
                unasked: Some(bind.attach(unused_in)),
            };
            let side = UalinkRequesters::new(OWN, 0, vec![x], Arc::default());
            let link = NodeLink {
                tells: None,
                hears: None,
                damage: None,
                rx: told_in.into_iter().map(|(class, end)| (class, bind.attach(end).into())).collect(),
                tx: asked.into_iter().map(|(class, end)| (class, bind.attach(end))).collect(),
                routes: Vec::new(),
                form: MessageForm::Pbr,
                number: 0,
                link: 0,
            };
            Bridge::new(
                config,
                Box::new(side),
                vec![BridgeCxlPort { link, is_coherent: false, watch: None }],
                (Vec::new(), None),
                Tap::off(),
                shared,
            )
        })
    });
    let limit = Some(Time::from_fs(limit_cycles * 1_000_000));
    let options = RunOptions { limit, open_at_limit_allowed: true, ..RunOptions::default() };
    sim.run(&options, |_| ()).expect("it runs");
    let taken = |seen: &Seen<Transfer>| seen.lock().expect("no panic").clone();
    let result = result.lock().expect("no panic").clone();
    let passed = passed.in_order();
    Ran { responses: taken(&responses), messages: messages.lock().expect("no panic").clone(), result, passed }
}

/// Cycles in the bridge of a request on an idle system, without its links: from its port in to its port out, less the memory,
/// which is passed once a step.
fn own_cycles(class: WindowClass, timing: BridgeTiming, request: Transfer, steps: u64) -> u64 {
    let ran = run(class, timing, vec![(10, request)], false);
    assert_eq!(ran.responses.len(), 1);
    let (at, response) = &ran.responses[0];
    assert_eq!(rsp(response).status, Status::OKAY);
    assert_eq!(ran.result.broken, []);
    assert_eq!(ran.result.cycles + 2 * CHANNEL, at - 10, "what the bridge counts is what is seen");
    at - 10 - 2 * CHANNEL - steps * MEMORY
}

const SHEET: BridgeTiming = BridgeTiming::SHEET;

/// Requests of each kind with the steps that they take and the cycles of the sheet.
fn kinds() -> Vec<(WindowClass, Transfer, u64, u64)> {
    let (mc, mn) = (WindowClass::Mc, WindowClass::Mn);
    vec![
        (mc, read(BASE, 16), 1, 34),
        (mn, read(BASE, 16), 1, 34),
        (mn, write_full(BASE, 1, 1), 1, 34),
        (mn, write_part(BASE, 1, 1), 1, 34),
        (mc, write_full(BASE, 1, 1), 2, 48 - 1),
        (mc, write_part(BASE, 1, 1), 2, 48 - 1),
        (mc, add(ReqCmd::AtomicR, BASE, 1), 2, 48 - 1 + 2),
    ]
}

/// A second step passes framing, the way in and the match once more: 4 + 5 + 5.
#[test]
fn brg_lat_01_p() {
    for (class, request, steps, cycles) in kinds() {
        let second = if steps == 2 { SHEET.frame_cycles + SHEET.answer_cycles() } else { 0 };
        let alu = if cycles == 49 { 2 } else { 0 };
        assert_eq!(own_cycles(class, SHEET, request.clone(), steps), 34 + second + alu, "{class:?} {request:?}");
    }
}

/// Each stage counts as often as it is passed, and no other one does.
#[test]
fn brg_lat_01_n() {
    for (class, request, steps, _) in kinds() {
        let is_atomic = matches!(&request.field, scalepool_protocols::ualink::control::ControlField::Request(req) if req.cmd.is_atomic());
        let base = own_cycles(class, SHEET, request.clone(), steps);
        let with = |timing| own_cycles(class, timing, request.clone(), steps) - base;
        assert_eq!(with(BridgeTiming { deframe_cycles: SHEET.deframe_cycles + 1, ..SHEET }), 1 + steps);
        assert_eq!(with(BridgeTiming { lookup_cycles: SHEET.lookup_cycles + 1, ..SHEET }), 1);
        assert_eq!(with(BridgeTiming { convert_cycles: SHEET.convert_cycles + 1, ..SHEET }), 1);
        assert_eq!(with(BridgeTiming { frame_cycles: SHEET.frame_cycles + 1, ..SHEET }), 1 + steps);
        assert_eq!(with(BridgeTiming { response_cycles: SHEET.response_cycles + 1, ..SHEET }), steps);
        assert_eq!(with(BridgeTiming { alu_cycles: SHEET.alu_cycles + 1, ..SHEET }), u64::from(is_atomic));
    }
}

/// Most messages that left for CXL in one cycle.
fn most_in_a_cycle(timing: BridgeTiming) -> usize {
    let asks = (0..12).map(|n| (10, tagged(read(BASE + 256 * n, 64), n as u16))).collect();
    let ran = run(WindowClass::Mn, timing, asks, false);
    assert_eq!((ran.responses.len(), ran.messages.len()), (12, 48));
    let in_cycle = |cycle| ran.messages.iter().filter(|(at, _)| *at == cycle).count();
    // One request enters a cycle, one response leaves.
    let cycles: Vec<u64> = ran.responses.iter().map(|(at, _)| *at).collect();
    assert!(cycles.windows(2).all(|pair| pair[0] < pair[1]), "{cycles:?}");
    ran.messages.iter().map(|(at, _)| in_cycle(*at)).max().unwrap_or(0)
}

#[test]
fn brg_lat_02_p() {
    for children_per_cycle in [1, 2, 3] {
        assert_eq!(most_in_a_cycle(BridgeTiming { children_per_cycle, ..SHEET }), children_per_cycle);
    }
}

/// Without the limit all four lines of a request leave at once.
#[test]
fn brg_lat_02_n() {
    assert_eq!(most_in_a_cycle(BridgeTiming { children_per_cycle: 64, ..SHEET }), 4);
}

/// Answers enter one by one, so n lines take n - 1 cycles more. A host pulls what is written: a whole line is done when its data is framed, a
/// part with the GO behind it; an atomic passes a second step and its unit, and its data is framed.
#[test]
fn brg_lat_03_p() {
    for lines in 1..=4u8 {
        let more = u64::from(lines) - 1;
        assert_eq!(own_cycles(WindowClass::Mn, SHEET, read(BASE, 16 * lines), 1), 34 + more);
        assert_eq!(own_cycles(WindowClass::Mn, SHEET, write_full(BASE, lines, 1), 1), 34 + more);
        assert_eq!(own_cycles(WindowClass::Cc, SHEET, read(BASE, 16 * lines), 1), 34 + more);
    }
    assert_eq!(own_cycles(WindowClass::Cc, SHEET, write_full(BASE, 1, 1), 1), 38);
    assert_eq!(own_cycles(WindowClass::Cc, SHEET, write_part(BASE, 1, 1), 2), 48);
    assert_eq!(own_cycles(WindowClass::Cc, SHEET, add(ReqCmd::AtomicR, BASE, 1), 2), 48 + 2 + 4);
}

/// Lines without an enabled byte take none.
#[test]
fn brg_lat_03_n() {
    let mut request = write_full(BASE, 4, 1);
    change(&mut request, |req| req.cmd = ReqCmd::Write);
    let mut enables = [0; 32];
    enables[0] = 1;
    request.enables = Some(Box::new(enables));
    assert_eq!(own_cycles(WindowClass::Mn, SHEET, request, 1), 34);
}

/// A request that nobody answers ends after its time, counted from its message, and one that is refused after the stages alone.
#[test]
fn what_nobody_answers_ends_in_time() {
    let timing = BridgeTiming { timeout_cycles: 500, ..SHEET };
    let ran = run(WindowClass::Mn, timing, vec![(10, read(BASE, 16)), (10, tagged(read(0, 16), 1))], true);
    let told: Vec<_> = ran.responses.iter().map(|(at, response)| (*at, rsp(response).status)).collect();
    let entered = 10 + CHANNEL;
    let through = entered + SHEET.request_cycles();
    let out = SHEET.frame_cycles + CHANNEL;
    assert_eq!(told, [(through + 1 + out, Status::DecodeError), (through + 500 + out, Status::CompletionTimeout)]);
    assert_eq!((ran.result.counts.timeouts, ran.result.done), (1, 2));
}

/// What a window comes to behind answers with these loads, a growth time apart.
fn behind(loads: &[u8]) -> usize {
    let mut window = IssueWindow::default();
    for (n, load) in (0..).zip(loads) {
        window.told(DevLoad(*load), 1000 * n, 1000);
    }
    window.lines()
}

#[test]
fn brg_qos_01_p() {
    for (loads, lines) in
        [(&[][..], 64), (&[2], 32), (&[3, 3], 16), (&[2, 1, 1], 32), (&[2, 0, 0, 0], 35), (&[0, 0], 64)]
    {
        assert_eq!(behind(loads), lines, "{loads:?}");
    }
    // With more to do than may be under way, just as much is.
    let asks = (0..40).map(|n| (10, tagged(read(BASE + 256 * n, 64), n as u16))).collect();
    let timing = BridgeTiming { children_per_cycle: 64, ..SHEET };
    let ran = run(WindowClass::Mn, timing, asks, false);
    assert_eq!(ran.messages.len(), 160);
    let until_ended = MEMORY + timing.answer_cycles();
    let under_way = |from: u64| ran.messages.iter().filter(|(at, _)| (from..from + until_ended).contains(at)).count();
    let most = ran.messages.iter().map(|(at, _)| under_way(*at)).max();
    assert_eq!(most, Some(MOST_LINES));
}

/// Never below 4, and light load does not add a line before its time.
#[test]
fn brg_qos_01_n() {
    assert_eq!(behind(&[3; 20]), FEWEST_LINES);
    let mut window = IssueWindow::default();
    [2, 0, 0, 0].into_iter().for_each(|load| window.told(DevLoad(load), 5, 1000));
    assert_eq!(window.lines(), 33);
    (0..33).for_each(|_| window.issued());
    assert!(!window.has_room());
    window.ended();
    assert!(window.has_room());
}

#[test]
fn brg_win_09_p() {
    for vchan in 0..4 {
        for request in [read(BASE, 16), write_full(BASE, 1, 1)] {
            let mut request = request;
            change(&mut request, |req| req.vchan = vchan);
            let ran = run(WindowClass::Mn, SHEET, vec![(10, request)], false);
            let (is, ld_id) = match ran.messages[0].1 {
                Message::M2sReq(m) => (m.tc, m.ld_id),
                Message::M2sRwd(m, _) => (m.tc, m.ld_id),
                other => panic!("{other:?}"),
            };
            assert_eq!((is, ld_id, rsp(&ran.responses[0].1).vchan), (vchan, 0, vchan));
        }
    }
}

/// Requests of a channel that find no entry, because memory answers nothing, stay in front of the bridge; those of another channel have
/// entries of their own and go on (BRG-BUF-02).
#[test]
fn a_channel_without_entries_holds_up_no_other() {
    let asks = |late: u8| -> Vec<(u64, Transfer)> {
        let flood = (0..80).map(|n| (10, tagged(read(BASE + 256 * n, 16), n as u16)));
        let mut last = tagged(read(BASE + 256 * 90, 16), 90);
        change(&mut last, |req| req.vchan = late);
        flood.chain([(400, last)]).collect()
    };
    for (late, is_asked) in [(0, false), (1, true), (3, true)] {
        let ran = run(WindowClass::Mn, SHEET, asks(late), true);
        let asked = ran.messages.iter().filter(|(_, m)| matches!(m, Message::M2sReq(m) if m.tc == late)).count();
        let flooded = ran.messages.len() - usize::from(is_asked);
        assert_eq!(flooded, 64 - 3 * 8, "channel {late}: what others do not have is taken");
        assert_eq!(asked == 1, is_asked, "channel {late}: {asked}");
    }
}

/// What UALink says beside it does not travel.
#[test]
fn brg_win_09_n() {
    let mut plain = read(BASE, 16);
    let mut other = plain.clone();
    change(&mut plain, |req| req.vchan = 2);
    change(&mut other, |req| (req.vchan, req.asi, req.metadata, req.attr) = (2, 3, 0xff, 0x5a));
    let sent = |request| run(WindowClass::Mn, SHEET, vec![(10, request)], false).messages;
    assert_eq!(sent(plain), sent(other));
}
