//! GPUs on NVLink in front of the bridge: operations against the oracle, FLUSH, sticky errors, poison (`bridge` §4.3, §6.3, §8.3).

use super::common::{BASE, Bench, OUT, SMALL, cached, config, label};
use scalepool::bridge::commands::CommandAction;
use scalepool::bridge::outbound::nvlink::{answered, asked, buffers, operation_row};
use scalepool::bridge::outbound::request::EntryNeed;
use scalepool::bridge::outbound::{BridgeStep, OutboundConfig};
use scalepool::bridge::window::WindowClass;
use scalepool::coherence::content::{CacheLine, LineContent};
use scalepool::coherence::message::Msg;
use scalepool::link::nvlink::NvlMessage;
use scalepool_oracle::bridge::{LineConversion, NvlinkConversion, NvlinkRequest, told_nvlink};
use scalepool_protocols::nvlink::{NvlConfig, Op};
use std::collections::BTreeMap;

const CLASSES: [(WindowClass, &str); 3] = [(WindowClass::Mc, "MC"), (WindowClass::Mn, "MN"), (WindowClass::Cc, "CC")];
/// The GPU that asks.
const GPU: u16 = 2;

fn message(op: Op, address: u64) -> NvlMessage {
    NvlMessage { rid: GPU, tag: 5, address, ..NvlMessage::new(op, &NvlConfig::default()) }
}

fn read(address: u64, units: u8) -> NvlMessage {
    NvlMessage { size: units - 1, ..message(Op::READ, address) }
}

fn write(op: Op, address: u64, units: usize, value: u8) -> NvlMessage {
    NvlMessage { data: vec![value; 16 * units], ..message(op, address) }
}

/// GPUs in front of a bridge without time, in front of memory that answers when it is told to.
struct Gpus {
    bench: Bench,
    /// Entries whose response is ready, in that order.
    ready: Vec<u16>,
}

impl Gpus {
    fn new(config: OutboundConfig) -> Gpus {
        let mut bench = Bench::new(config);
        bench.held = Some(Vec::new());
        Gpus { bench, ready: Vec::new() }
    }

    fn of(class: WindowClass) -> Gpus {
        Gpus::new(config(class))
    }

    fn collect(&mut self) {
        self.bench.collect();
        self.ready.append(self.bench.held.as_mut().expect("they are held"));
    }

    /// A message over a link; its entry.
    fn ask(&mut self, message: &NvlMessage, link: usize) -> u16 {
        let request = asked(message, link).expect("a request");
        assert!(request.buffers == buffers(message) && request.buffers <= 4);
        let input = 2 * link + usize::from(request.class);
        let entry = self.bench.bridge.admit(input, request).expect("room");
        self.bench.bridge.start(entry, &mut self.bench.out);
        self.collect();
        entry
    }

    /// The answer at a place of the list comes.
    fn answer(&mut self, place: usize) {
        let (port, msg) = self.bench.answers.remove(place);
        self.bench.bridge.receive(port, msg, &mut self.bench.out);
        self.collect();
    }

    fn finish(&mut self) {
        while !self.bench.answers.is_empty() {
            self.answer(0);
        }
    }

    /// What the first entry that is ready is answered with.
    fn respond(&mut self) -> Option<NvlMessage> {
        let entry = self.ready.remove(0);
        let (_, response) = self.bench.bridge.response(entry).expect("a response");
        let answer = answered(&response, &NvlConfig::default());
        self.bench.bridge.left(entry);
        answer
    }

    /// One message, from its arrival to its answer.
    fn whole(&mut self, message: &NvlMessage) -> Option<NvlMessage> {
        self.ask(message, 0);
        self.finish();
        self.respond()
    }
}

/// A message for what the oracle is asked.
fn spelled(of: &NvlinkRequest) -> NvlMessage {
    let op = Op(of.op);
    let data: Vec<u8> = if op == Op::READ { Vec::new() } else { (0..16 * of.units).map(|n| n as u8 ^ 0x5a).collect() };
    let be = of
        .enables
        .as_ref()
        .map(|enables| enables.iter().enumerate().fold(0u128, |bits, (n, is_on)| bits | u128::from(*is_on) << n));
    let size = if op == Op::READ { of.units as u8 - 1 } else { 0 };
    NvlMessage { size, attr: of.attr, be, data, ..message(op, of.address) }
}

/// What the bridge does about a request, in the words of the oracle.
fn converted(class: WindowClass, of: &NvlinkRequest) -> NvlinkConversion {
    let mut gpus = Gpus::of(class);
    let answer = gpus.whole(&spelled(of));
    let bench = &gpus.bench;
    assert_eq!((bench.bridge.open(), bench.bridge.buffers_free(), bench.findings.len()), (0, 64, 0), "{of:?}");
    let mut lines: BTreeMap<u64, LineConversion> = BTreeMap::new();
    for (.., msg) in &bench.sent {
        let line = bench.line_of(msg).address() - OUT + BASE;
        let none = || LineConversion { line, bytes: Vec::new(), messages: Vec::new(), answers: Vec::new() };
        let told = lines.entry(line).or_insert_with(none);
        told.messages.push(label(msg).leak());
        if let Msg::M2sRwd { enables, .. } | Msg::D2hData { enables, .. } = msg {
            told.bytes = (0..64).filter(|byte| enables >> byte & 1 == 1).collect();
        }
    }
    let row = operation_row(Op(of.op)).expect("it stands in a row");
    let name = row.response.map(|op| match op {
        Op::RSP_DATA => "RSP_DATA",
        Op::RSP_DONE => "RSP_DONE",
        other => panic!("{other:?}"),
    });
    let refused = match &answer {
        Some(answer) if answer.op == Op::RSP_ERROR => Some(answer.size),
        Some(answer) => {
            assert_eq!((Some(answer.op), answer.tag, answer.rid), (row.response, 5, GPU));
            assert_eq!(answer.data.len() as u64, if name == Some("RSP_DATA") { 16 * of.units } else { 0 });
            None
        }
        // A posted one says so to the next FLUSH.
        None => {
            gpus.whole(&message(Op::FLUSH, 1 << 4)).and_then(|flush| (flush.op == Op::RSP_ERROR).then_some(flush.size))
        }
    };
    NvlinkConversion { answer: name, refused, lines: lines.into_values().collect() }
}

/// What the oracle tells, as messages show it: a line that is fetched is written whole.
fn visible(told: NvlinkConversion) -> NvlinkConversion {
    let line = |line: LineConversion| LineConversion {
        bytes: match line.messages[0] {
            "MemRd Any/SnpInv" | "MemInv Any/SnpInv" | "RdOwn" => (0..64).collect(),
            _ => line.bytes,
        },
        answers: Vec::new(),
        ..line
    };
    NvlinkConversion { lines: told.lines.into_iter().map(line).collect(), ..told }
}

/// All places and sizes of these operations, with enables of several shapes and without; how many.
fn walk(ops: &[u8]) -> usize {
    let mut count = 0;
    let shapes: [fn(usize) -> bool; 4] = [|_| true, |_| false, |n| n % 3 == 0, |n| n / 16 % 2 == 1];
    for (class, name) in CLASSES {
        for (first, units) in (0..16u64).flat_map(|first| (1..=16u64).map(move |units| (16 * first, units))) {
            for &op in ops {
                // A BE flit goes with up to 128 bytes.
                let with_enables = shapes.iter().filter(|_| op != 1 && units <= 8);
                let all = with_enables.map(|shape| Some((0..16 * units as usize).map(shape).collect::<Vec<bool>>()));
                for enables in all.chain([None]) {
                    let of = NvlinkRequest { op, attr: 0, address: BASE + 0x4200 + first, units, enables };
                    assert_eq!(converted(class, &of), visible(told_nvlink(name, &of)), "{name} {of:?}");
                    count += 1;
                }
            }
        }
    }
    count
}

#[test]
fn brg_map_23_p() {
    assert_eq!(walk(&[1]), 3 * 256);
    let mut gpus = Gpus::of(WindowClass::Mn);
    gpus.bench.memory.insert(OUT, CacheLine::of(std::array::from_fn(|n| n as u8)));
    let answer = gpus.whole(&read(BASE + 32, 2)).expect("an answer");
    assert_eq!(answer.data, (32..64).collect::<Vec<u8>>());
}

/// One that leaves its block is refused, and nothing is sent.
#[test]
fn brg_map_23_n() {
    let mut gpus = Gpus::of(WindowClass::Mn);
    let answer = gpus.whole(&read(BASE + 0xf0, 2)).expect("an answer");
    assert_eq!((answer.op, answer.size, gpus.bench.sent.len()), (Op::RSP_ERROR, 2, 0));
}

#[test]
fn brg_map_24_p() {
    assert!(walk(&[2]) > 1000);
}

/// Nobody is answered, whatever it ends with.
#[test]
fn brg_map_24_n() {
    let mut gpus = Gpus::of(WindowClass::Mn);
    assert_eq!(gpus.whole(&write(Op::WRITE_POSTED, BASE, 4, 1)), None);
    assert_eq!(gpus.whole(&write(Op::WRITE_POSTED, 0, 4, 1)), None);
}

#[test]
fn brg_map_25_p() {
    assert!(walk(&[3]) > 1000);
}

/// It is answered when memory has answered, and not before.
#[test]
fn brg_map_25_n() {
    let mut gpus = Gpus::of(WindowClass::Mn);
    gpus.ask(&write(Op::WRITE_NONPOSTED, BASE, 8, 1), 0);
    gpus.answer(0);
    assert!(gpus.ready.is_empty(), "a line is still to come");
    gpus.answer(0);
    assert_eq!(gpus.respond().map(|answer| answer.op), Some(Op::RSP_DONE));
}

#[test]
fn brg_map_26_p() {
    for (class, name) in CLASSES {
        for attr in 0..64 {
            for (first, shape) in [(0usize, 0xffu128), (4, 0xf0), (0, 0xf), (8, 0xff00), (0, 0xff0f), (0, 0x3)] {
                let enables: Vec<bool> = (0..16).map(|n| shape >> n & 1 == 1).collect();
                for op in [4, 5] {
                    let address = BASE + 0x80 + 16 * (first as u64 / 8);
                    let of = NvlinkRequest { op, attr, address, units: 1, enables: Some(enables.clone()) };
                    assert_eq!(converted(class, &of), visible(told_nvlink(name, &of)), "{name} {of:?}");
                }
            }
        }
    }
    // ADD of 32 bits at byte 20 of the line; then CAS there, whose operands stand at the beginning of the payload.
    let mut gpus = Gpus::of(WindowClass::Mc);
    gpus.bench.memory.insert(OUT, CacheLine::of([1; 64]));
    let mut add = NvlMessage { be: Some(0xf0), ..write(Op::ATOMIC_RETURN, BASE + 16, 1, 0) };
    add.data[4] = 9;
    assert_eq!(gpus.whole(&add).expect("an answer").data[4..8], [1; 4]);
    let mut cas = NvlMessage { be: Some(0xf0), attr: 2, ..write(Op::ATOMIC_RETURN, BASE + 16, 1, 0) };
    cas.data[..8].copy_from_slice(&[10, 1, 1, 1, 7, 7, 7, 7]);
    assert_eq!(gpus.whole(&cas).expect("an answer").data[4..8], [10, 1, 1, 1]);
    assert_eq!(gpus.bench.memory[&OUT].bytes[16..26], [1, 1, 1, 1, 7, 7, 7, 7, 1, 1]);
}

/// Without byte enables, or on two lines, it is refused.
#[test]
fn brg_map_26_n() {
    let mut gpus = Gpus::of(WindowClass::Mc);
    for (address, units, be) in [(BASE, 1, None), (BASE + 48, 2, Some(0xff))] {
        let atomic = NvlMessage { be, ..write(Op::ATOMIC_RETURN, address, units, 1) };
        let answer = gpus.whole(&atomic).expect("an answer");
        assert_eq!((answer.op, answer.size), (Op::RSP_ERROR, 2));
    }
    assert!(gpus.bench.sent.is_empty());
}

/// A FLUSH of so many posted requests over a link.
fn flush(count: u64) -> NvlMessage {
    message(Op::FLUSH, count << 4)
}

#[test]
fn brg_map_27_p() {
    let mut gpus = Gpus::of(WindowClass::Mn);
    assert_eq!(gpus.whole(&flush(0)).map(|answer| answer.op), Some(Op::RSP_DONE), "nothing was posted");
    gpus.whole(&write(Op::WRITE_POSTED, 0, 4, 1));
    let answer = gpus.whole(&flush(1)).expect("an answer");
    assert_eq!((answer.op, answer.size), (Op::RSP_ERROR, 3), "outside of all windows");
}

/// It never goes to CXL, and is no request to memory.
#[test]
fn brg_map_27_n() {
    let mut gpus = Gpus::of(WindowClass::Mn);
    gpus.whole(&flush(0));
    assert!(gpus.bench.sent.is_empty());
    assert_eq!(operation_row(Op::FLUSH).map(|row| row.action), Some(CommandAction::Flush));
}

#[test]
fn brg_map_28_p() {
    let mut gpus = Gpus::of(WindowClass::Mn);
    let answer = gpus.whole(&NvlMessage { size: 3, ..message(Op::REDUCE_READ, BASE) }).expect("an answer");
    assert_eq!((answer.op, answer.size, gpus.bench.sent.len()), (Op::RSP_ERROR, 2, 0));
    for code in (0..64).filter(|code| !(1..=6).contains(code) && *code != 8) {
        assert_eq!(asked(&message(Op(code), BASE), 0), None, "{code:#x} is dropped");
    }
}

/// Those that a bridge takes are not dropped.
#[test]
fn brg_map_28_n() {
    for code in 1..=6 {
        let of = NvlMessage { data: vec![0; 16], ..message(Op(code), BASE) };
        assert!(asked(&of, 0).is_some(), "{code:#x}");
    }
}

#[test]
fn brg_ord_05_p() {
    let mut gpus = Gpus::of(WindowClass::Mn);
    gpus.ask(&write(Op::WRITE_POSTED, BASE, 4, 1), 0);
    gpus.ask(&write(Op::WRITE_POSTED, BASE + 256, 4, 2), 0);
    gpus.ask(&flush(2), 0);
    gpus.ask(&write(Op::WRITE_POSTED, BASE + 512, 4, 3), 0);
    assert!(gpus.ready.is_empty());
    // The second one is done first.
    gpus.answer(1);
    assert_eq!(gpus.ready.len(), 1, "and that is all");
    gpus.answer(0);
    assert_eq!(gpus.ready.len(), 3, "the first one and the FLUSH; the third write is not waited for");
    let answers: Vec<Option<Op>> = (0..3).map(|_| gpus.respond().map(|answer| answer.op)).collect();
    assert_eq!(answers, [None, None, Some(Op::RSP_DONE)]);
}

/// A FLUSH that states no count, as one of a GPU may be that knows nothing of counts, covers what has come before it over any link.
#[test]
fn brg_ord_05_p2() {
    let mut gpus = Gpus::of(WindowClass::Mn);
    gpus.ask(&flush(0), 0);
    assert_eq!(gpus.respond().map(|answer| answer.op), Some(Op::RSP_DONE), "nothing has come");
    gpus.ask(&write(Op::WRITE_POSTED, BASE, 4, 1), 0);
    gpus.ask(&write(Op::WRITE_POSTED, BASE + 256, 4, 2), 1);
    gpus.ask(&flush(0), 0);
    gpus.ask(&write(Op::WRITE_POSTED, BASE + 512, 4, 3), 0);
    gpus.answer(1);
    assert_eq!(gpus.ready.len(), 1, "the other write is open");
    gpus.answer(0);
    assert_eq!(gpus.ready.len(), 3, "both writes and the FLUSH; the third write is not waited for");
}

/// It waits for what has not come yet, and for no other link and no other GPU.
#[test]
fn brg_ord_05_n() {
    let mut gpus = Gpus::of(WindowClass::Mn);
    gpus.ask(&flush(1), 0);
    gpus.ask(&write(Op::WRITE_POSTED, BASE, 4, 1), 1);
    gpus.ask(&NvlMessage { rid: GPU + 1, ..write(Op::WRITE_POSTED, BASE + 256, 4, 1) }, 0);
    gpus.finish();
    assert_eq!(gpus.ready.len(), 2, "the FLUSH waits on");
    gpus.ask(&write(Op::WRITE_POSTED, BASE + 512, 4, 1), 0);
    gpus.finish();
    assert_eq!(gpus.ready.len(), 4);
}

#[test]
fn brg_ord_09_p() {
    let mut gpus = Gpus::of(WindowClass::Mn);
    for address in [0, BASE + 0xf0] {
        gpus.whole(&write(Op::WRITE_POSTED, address, 4, 1));
    }
    let told: Vec<u8> = (0..2).map(|_| gpus.whole(&flush(2)).map_or(99, |answer| answer.size)).collect();
    assert_eq!(told, [3, 0], "the first error, once");
}

/// Another GPU is not told of it.
#[test]
fn brg_ord_09_n() {
    let mut gpus = Gpus::of(WindowClass::Mn);
    gpus.whole(&write(Op::WRITE_POSTED, 0, 4, 1));
    let other = gpus.whole(&NvlMessage { rid: GPU + 1, ..flush(0) });
    assert_eq!(other.map(|answer| answer.op), Some(Op::RSP_DONE));
    assert_eq!(gpus.whole(&flush(1)).map(|answer| answer.op), Some(Op::RSP_ERROR));
}

#[test]
fn brg_rsp_04_p() {
    for units in 1..=16 {
        let mut gpus = Gpus::of(WindowClass::Mn);
        let answer = gpus.whole(&read(BASE, units)).expect("an answer");
        assert_eq!((answer.data.len(), gpus.ready.len()), (16 * usize::from(units), 0));
    }
}

/// Lines that come in another order change nothing in it, and make no second answer.
#[test]
fn brg_rsp_04_n() {
    let mut gpus = Gpus::of(WindowClass::Mn);
    for n in 0..4 {
        gpus.bench.memory.insert(OUT + 64 * n, CacheLine::of([n as u8; 64]));
    }
    gpus.ask(&read(BASE, 16), 0);
    while !gpus.bench.answers.is_empty() {
        gpus.answer(gpus.bench.answers.len() - 1);
    }
    assert_eq!(gpus.ready.len(), 1);
    let data = gpus.respond().expect("an answer").data;
    assert!((0..4usize).all(|n| data[64 * n..64 * n + 64] == [n as u8; 64]));
}

#[test]
fn brg_psn_03_p() {
    let mut gpus = Gpus::of(WindowClass::Mn);
    gpus.bench.memory.insert(OUT + 64, CacheLine::of([1; 64]).poisoned(true));
    assert!(gpus.whole(&read(BASE, 16)).is_some_and(|answer| answer.ep && answer.op == Op::RSP_DATA));
}

/// A read beside it is not marked.
#[test]
fn brg_psn_03_n() {
    let mut gpus = Gpus::of(WindowClass::Mn);
    gpus.bench.memory.insert(OUT + 64, CacheLine::of([1; 64]).poisoned(true));
    assert!(gpus.whole(&read(BASE, 4)).is_some_and(|answer| !answer.ep));
}

/// Poison of what has left.
fn poison_sent(ep: bool) -> Vec<bool> {
    let mut gpus = Gpus::of(WindowClass::Mn);
    gpus.whole(&NvlMessage { ep, ..write(Op::WRITE_POSTED, BASE, 12, 1) });
    let poison = |msg: &Msg<CacheLine>| match msg {
        Msg::M2sRwd { data, .. } => data.poison,
        other => panic!("{other:?}"),
    };
    gpus.bench.sent.iter().map(|(.., msg)| poison(msg)).collect()
}

#[test]
fn brg_psn_04_p() {
    assert_eq!(poison_sent(true), [true; 3]);
}

/// A clean write is not marked.
#[test]
fn brg_psn_04_n() {
    assert_eq!(poison_sent(false), [false; 3]);
}

/// A posted write of a line into a cache, and its FLUSH.
fn flushed_cache() -> Gpus {
    let mut gpus = Gpus::new(cached(WindowClass::Mn, SMALL));
    gpus.whole(&write(Op::WRITE_POSTED, BASE, 4, 7));
    assert_eq!(gpus.whole(&flush(1)).map(|answer| answer.op), Some(Op::RSP_DONE));
    gpus
}

#[test]
fn brg_mng_04_p() {
    let gpus = flushed_cache();
    assert_eq!((gpus.bench.sent.len(), gpus.bench.state(BASE)), (0, 'D'), "it is in order, and stays in the cache");
}

/// Memory behind the bridge does not have it yet.
#[test]
fn brg_mng_04_n() {
    let mut gpus = flushed_cache();
    assert!(!gpus.bench.memory.contains_key(&OUT));
    assert_eq!(gpus.whole(&read(BASE, 4)).map(|answer| answer.data), Some(vec![7; 64]));
}

/// Requests of one class do not take the entries of the other one.
#[test]
fn posted_requests_have_entries_of_their_own() {
    let mut gpus = Gpus::new(OutboundConfig { entries: 32, ..config(WindowClass::Mn) });
    let mut n = 0;
    while gpus.bench.bridge.lacks(EntryNeed { class: 1, address: None, buffers: 1 }).is_none() {
        gpus.ask(&write(Op::WRITE_POSTED, BASE + 256 * n, 4, 1), 0);
        n += 1;
    }
    gpus.ask(&flush(n), 0);
    let is_sent = |step: &BridgeStep| matches!(step, BridgeStep::Send { .. });
    assert!(!gpus.bench.out.steps.iter().any(is_sent) && gpus.ready.is_empty());
    gpus.finish();
    assert_eq!(gpus.ready.len() as u64, n + 1, "all of them, and the FLUSH");
}

/// Worked example E4 of `bridge` §13: a posted write of four lines of a host, then a FLUSH, which is answered when the host has pulled the
/// last data.
#[test]
fn a_flush_waits_for_what_a_host_pulls() {
    let mut gpus = Gpus::of(WindowClass::Cc);
    gpus.ask(&write(Op::WRITE_POSTED, BASE, 16, 7), 0);
    gpus.ask(&message(Op::FLUSH, 1 << 4), 0);
    assert_eq!(gpus.bench.labels(), ["WrCur"; 4]);
    while gpus.bench.answers.len() > 1 {
        gpus.answer(0);
    }
    assert!(gpus.ready.is_empty(), "one line is not done");
    gpus.finish();
    assert_eq!(gpus.bench.labels()[4..], ["Data"; 4]);
    let answers: Vec<_> = (0..2).filter_map(|_| gpus.respond()).map(|answer| answer.op).collect();
    assert_eq!(answers, [Op::RSP_DONE]);
    assert!((0..4).all(|line| gpus.bench.memory[&(OUT + 64 * line)].bytes == [7; 64]));
}
