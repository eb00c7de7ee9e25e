//! Class BR of the bridge at its ports: TLPs of every kind as a host sends them, and what is completed.

use scalepool::bridge::inbound::InboundConfig;
use scalepool::bridge::inbound::bar::BarConfig;
use scalepool::bridge::inbound::bar::access::{AccessReach, BlockOperation};
use scalepool::bridge::inbound::bar::half::{BarHalf, BarHalfConfig, BarPort};
use scalepool::bridge::inbound::module::{InboundModule, InboundModuleConfig, InboundResult};
use scalepool::bridge::inbound::side::{AcceleratorAnswer, AcceleratorSide, SideAccess};
use scalepool::bridge::outbound::BridgeFinding;
use scalepool::bridge::timing::BridgeTiming;
use scalepool::bridge::waits::{AcceleratorClasses, WaitWatch};
use scalepool::bridge::window::{AccessRights, BridgeWindow, BridgeWindows, GROUPS, InboundClass, WindowLimits};
use scalepool::coherence::content::CacheLine;
use scalepool::endpoint::completer::{Completer, CompleterConfig};
use scalepool::endpoint::config_space::registers;
use scalepool::endpoint::config_space::type3::{Type3Config, type3};
use scalepool::endpoint::pm::{PmAgent, PmConfig, PmSide};
use scalepool::endpoint::tlp::{Enables, Tlp, TlpAtomic, TlpForm, TlpKind};
use scalepool::kernel::{Clock, Cx, In, Module, Next, Out, RunOptions, Simulation, Time};
use scalepool::link::io_ends::IoItem;
use scalepool::memory::store::{Background, Store};
use scalepool::ordered::OrderedMap;
use scalepool::trace::{Tap, TransactionHandle};
use scalepool_protocols::cxl::cxlio::code::{CplStatus, FmType};
use scalepool_protocols::cxl::message::MessageForm;
use scalepool_protocols::ualink::code::Status;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// Where the host places the BAR.
const BAR_AT: u64 = 0x10_0000_0000;
/// Bytes of the BAR and of its window.
const BAR_BYTES: u64 = 4 << 20;
/// Bus, device and function of the bridge.
const ID: u16 = 0x100;
/// Cycles from an access to its answer.
const ACCELERATOR: u64 = 50;

type Seen<T> = Arc<Mutex<Vec<T>>>;

/// An accelerator whose bytes all are 5; it has no room before a cycle.
struct Side {
    answers: VecDeque<(u64, AcceleratorAnswer)>,
    seen: Seen<BlockOperation>,
    room_from: u64,
}

impl AcceleratorSide for Side {
    fn has_room(&self, cx: &Cx, _: SideAccess<'_>) -> bool {
        cx.cycle() >= self.room_from
    }

    fn send(&mut self, cx: &mut Cx, tag: u16, access: SideAccess<'_>) -> Option<TransactionHandle> {
        let SideAccess::Block(access) = access else { panic!("no line is asked for: {access:?}") };
        self.seen.lock().expect("no panic").push(access.operation);
        let lines = (access.address + access.bytes as u64).div_ceil(64) - access.address / 64;
        let lines = if access.operation == BlockOperation::Write { 0 } else { lines };
        let lines = (0..lines).map(|_| CacheLine::of([5; 64])).collect();
        self.answers.push_back((cx.cycle() + ACCELERATOR, AcceleratorAnswer { tag, status: Status::OKAY, lines }));
        None
    }

    fn receive(&mut self, cx: &mut Cx, answers: &mut Vec<Result<AcceleratorAnswer, BridgeFinding>>) {
        if self.answers.front().is_some_and(|(due, _)| *due <= cx.cycle()) {
            answers.extend(self.answers.pop_front().map(|(_, answer)| Ok(answer)));
        }
    }

    fn is_due(&self, cx: &Cx) -> bool {
        // It has no channel that would wake the bridge.
        !self.answers.is_empty() || cx.cycle() < self.room_from
    }
}

/// A host that sends one TLP a cycle, and keeps what comes.
struct Host {
    asks: VecDeque<Tlp>,
    tx: Out<IoItem>,
    rx: In<IoItem>,
    seen: Seen<Tlp>,
}

impl Module for Host {
    fn eval(&mut self, cx: &mut Cx) -> Next {
        while let Some(item) = self.rx.pop(cx) {
            if let IoItem::Tlp(bytes) = item {
                let tlp = Tlp::decode(&bytes, TlpForm::Flit).expect("a TLP");
                if matches!(tlp.kind, TlpKind::Completion { .. }) {
                    self.seen.lock().expect("no panic").push(tlp);
                }
            }
        }
        if self.tx.has_room(cx, 1)
            && let Some(tlp) = self.asks.pop_front()
        {
            self.tx.push(cx, IoItem::Tlp(tlp.encode(TlpForm::Flit).expect("a TLP"))).expect("room");
        }
        Next::Busy
    }
}

/// What firmware writes, so that the BAR stands at [`BAR_AT`].
fn placing() -> Vec<Tlp> {
    let write = |register: usize, value: u32| {
        let kind = TlpKind::ConfigWrite { level: 0, target: ID, register: register as u16, enables: 0xf };
        Tlp { tag: 1023, ..Tlp::new(kind, 0, value.to_le_bytes().to_vec()) }
    };
    let command = u32::from(registers::COMMAND_MEMORY | registers::COMMAND_MASTER);
    let bar = registers::bar_at(0);
    vec![write(bar, BAR_AT as u32), write(bar + 4, (BAR_AT >> 32) as u32), write(registers::COMMAND.start, command)]
}

struct Ran {
    /// Completions of what was asked for, without those of [`placing`].
    completions: Vec<Tlp>,
    asked: Vec<BlockOperation>,
    result: InboundResult,
}

impl Ran {
    fn statuses(&self) -> Vec<(u16, CplStatus)> {
        let one = |tlp: &Tlp| {
            let TlpKind::Completion { status, completer, .. } = tlp.kind else { panic!("a completion") };
            assert_eq!((completer, tlp.requester), (ID, 0));
            (tlp.tag, status)
        };
        self.completions.iter().map(one).collect()
    }
}

fn run(asks: Vec<Tlp>, timeout_cycles: u64, room_from: u64) -> Ran {
    let (seen, asked, result) = (Seen::default(), Seen::default(), Arc::<Mutex<InboundResult>>::default());
    let (of_host, of_side, shared) = (seen.clone(), asked.clone(), result.clone());
    let mut sim = Simulation::new(1);
    sim.partition(move |p| {
        let clock = Clock::with_period_fs(1_000_000)?;
        let id = p.clock("bridge", clock)?;
        let (ask, ask_in) = p.channel::<IoItem>("requests", 4, 1)?;
        let (answer, answer_in) = p.channel::<IoItem>("completions", 2, 1)?;
        p.module("host", id, |bind| Host {
            asks: placing().into_iter().chain(asks).collect(),
            tx: bind.attach(ask),
            rx: bind.attach(answer_in),
            seen: of_host,
        })?;
        let window = BridgeWindow {
            base: 0,
            size: BAR_BYTES,
            out_base: 0,
            class: InboundClass::Br,
            ports: vec![0],
            granule: 256,
            rights: [AccessRights::ALL; GROUPS],
        };
        let windows = BridgeWindows::exporting(WindowLimits::INBOUND_UALINK, vec![window], OrderedMap::new(), 1);
        let windows = windows.expect("a window");
        let timing = BridgeTiming { timeout_cycles, ..BridgeTiming::SHEET };
        let classes = AcceleratorClasses { request: "request", posted: None, response: "response" };
        let waits = WaitWatch::new(classes, Vec::new());
        let config = InboundModuleConfig {
            place: "bridge".into(),
            inbound: InboundConfig { windows: windows.clone(), decoders: Vec::new(), entries: 1, cache: None },
            timing,
            merge_cycles: None,
            cache_cycles: 0,
            outages: Vec::new(),
            viral: Arc::default(),
            shown: MessageForm::Hbr,
            waits: waits.clone(),
            clock,
        };
        let side = Side { answers: VecDeque::new(), seen: of_side, room_from };
        p.module("bridge", id, |bind| {
            let space =
                type3(&Type3Config { bar_bytes: [BAR_BYTES, 0], range_bytes: [0, 0], ..Type3Config::default() });
            let space = space.expect("a device");
            let port = BarPort {
                tx: bind.attach(answer),
                rx: bind.attach(ask_in),
                form: TlpForm::Flit,
                completer: Completer::new(CompleterConfig::default(), space, Store::new(Background::Zero)),
                agent: PmAgent::new(PmConfig::new(PmSide::Device)),
                link: 0,
                tap: Tap::off(),
            };
            let bar = BarConfig { windows, reach: AccessReach::UPLI, tags: 1..9, payload_bytes: 0 };
            let bars = BarHalf::new(BarHalfConfig { bar, timing, waits, outages: Vec::new() }, vec![port]);
            InboundModule::new(config, Box::new(side), (Vec::new(), bars, None), Tap::off(), shared)
        })
    });
    let limit = Some(Time::from_fs(3_000_000_000));
    let options = RunOptions { limit, open_at_limit_allowed: false, ..RunOptions::default() };
    sim.run(&options, |_| ()).expect("nothing is left open");
    let placed = placing().len();
    let completions = seen.lock().expect("no panic")[placed..].to_vec();
    let (asked, result) = (asked.lock().expect("no panic").clone(), result.lock().expect("no panic").clone());
    Ran { completions, asked, result }
}

fn request(tag: u16, kind: TlpKind, data: &[u8]) -> Tlp {
    Tlp { tag, ..Tlp::new(kind, 0, data.to_vec()) }
}

fn read(tag: u16, address: u64) -> Tlp {
    request(tag, TlpKind::MemRead { address, dw: 1, enables: Enables::all(1) }, &[])
}

/// Each kind of request ends as the table says, with the bridge as completer, and accelerators hear of memory alone.
#[test]
fn every_kind_of_request_ends_at_the_port_of_a_bar() {
    let other = |code: FmType| TlpKind::Other { type_code: code.0 };
    let config = TlpKind::ConfigRead { level: 0, target: ID, register: 0, enables: 0xf };
    let add = |address| TlpKind::Atomic { operation: TlpAtomic::FetchAdd, address };
    let ran = run(
        vec![
            request(1, config, &[]),
            read(2, BAR_AT),
            request(3, add(BAR_AT + 8), &[1, 0, 0, 0]),
            request(0, TlpKind::MemWrite { address: BAR_AT + 64, enables: Enables::all(1) }, &[7; 4]),
            request(4, TlpKind::Atomic { operation: TlpAtomic::CompareSwap, address: BAR_AT }, &[0; 32]),
            read(5, BAR_AT + BAR_BYTES),
            read(6, BAR_AT - 4),
        ],
        BridgeTiming::SHEET.timeout_cycles,
        0,
    );
    let mut statuses = ran.statuses();
    statuses.sort_by_key(|(tag, _)| *tag);
    let (good, unknown, abort) = (CplStatus::SC, CplStatus::UR, CplStatus::CA);
    assert_eq!(statuses, [(1, good), (2, good), (3, good), (4, abort), (5, unknown), (6, unknown)]);
    assert_eq!(ran.asked.len(), 3, "{:?}", ran.asked);
    let data = |tag| ran.completions.iter().find(|tlp| tlp.tag == tag).map(|tlp| tlp.data.clone());
    assert_eq!((data(2), data(3)), (Some(vec![5; 4]), Some(vec![5; 4])));
    assert_eq!(ran.result.bars.counts.requests, [1, 1, 1], "reads, writes, atomics: that of 128 bits comes to none");
    // Locked reads and unordered I/O.
    for (code, status) in [(FmType::MRdLk64, unknown), (FmType::UIOMRd, abort)] {
        let tlp = request(7, other(code), &[]);
        if tlp.encode(TlpForm::Flit).is_err() {
            continue;
        }
        let ran = run(vec![tlp], BridgeTiming::SHEET.timeout_cycles, 0);
        assert_eq!((ran.statuses(), ran.asked.len()), (vec![(7, status)], 0), "{code:?}");
    }
}

/// A link without room for longer than the time-out: the access is given up before it has left, leaves all the same, and its answer frees
/// its tag and its line.
#[test]
fn an_access_that_is_given_up_before_it_leaves_frees_its_line() {
    let later = |tag| read(tag, BAR_AT);
    let ran = run(vec![read(1, BAR_AT), later(2)], 100, 400);
    assert_eq!(ran.statuses(), [(1, CplStatus::CA), (2, CplStatus::CA)]);
    assert_eq!((ran.result.bars.counts.timeouts, ran.result.bars.counts.late, ran.asked.len()), (1, 1, 1));
}
