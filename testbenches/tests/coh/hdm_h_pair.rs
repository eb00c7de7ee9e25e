//! Host and device of HDM-H, the agents of the expanders, with channels between them: messages of a class keep their
//! order, those of different classes do not.

use proptest::prelude::*;
use scalepool::coherence::agent::{Agent, AgentOutput, Effect};
use scalepool::coherence::config::CoherenceConfig;
use scalepool::coherence::content::{CacheLine, LineAddr, LineContent, WHOLE_LINE};
use scalepool::coherence::mem::hdm_h::HdmH;
use scalepool::coherence::mem::hdm_h_host::{HdmHHost, OpenAccess, Refusal};
use scalepool::coherence::message::Msg;
use scalepool_protocols::cxl::cxl256::code::{DevLoad, DrsOpcode, MetaField, MetaValue, NdrOpcode};
use std::collections::{BTreeMap, VecDeque};

type Host = HdmHHost<CacheLine>;

/// A host and a device; what a read expects stands beside its request.
pub struct Pair {
    pub host: Host,
    device: HdmH<CacheLine>,
    config: CoherenceConfig,
    /// M2S Req, M2S RwD, S2M NDR, S2M DRS.
    channels: [VecDeque<Msg<CacheLine>>; 4],
    /// What memory holds once every open write is done.
    expected: BTreeMap<LineAddr, CacheLine>,
}

impl Pair {
    /// Both with nothing open, over memory that nobody has written.
    pub fn new() -> Pair {
        let (host, device, config) = (Host::new(), HdmH::new(), CoherenceConfig::default());
        Pair { host, device, config, channels: Default::default(), expected: BTreeMap::new() }
    }

    fn expected(&self, line: LineAddr) -> CacheLine {
        self.expected.get(&line).copied().unwrap_or_else(|| CacheLine::initial(line))
    }

    /// Begins a read; `false`: it has to wait.
    pub fn read(&mut self, line: LineAddr) -> bool {
        let expected = self.expected(line);
        let sent = self.host.read(0, line, expected);
        sent.is_some_and(|(_, msg)| self.send(msg))
    }

    /// Begins a write; `false`: it has to wait.
    pub fn write(&mut self, line: LineAddr, data: CacheLine, enables: u64) -> bool {
        let mut value = self.expected(line);
        value.merge(&data, enables);
        let Some((_, msg)) = self.host.write(0, line, data, enables, value) else { return false };
        self.expected.insert(line, value);
        self.send(msg)
    }

    fn send(&mut self, msg: Msg<CacheLine>) -> bool {
        let channel = match msg {
            Msg::M2sReq { .. } => 0,
            Msg::M2sRwd { .. } => 1,
            Msg::S2mNdr { .. } => 2,
            _ => 3,
        };
        self.channels[channel].push_back(msg);
        true
    }

    /// Delivers a message of the channel that `choice` picks; `false`: nothing is under way.
    fn deliver(&mut self, choice: usize) -> bool {
        let full: Vec<usize> = (0..4).filter(|&n| !self.channels[n].is_empty()).collect();
        let Some(&channel) = full.get(choice % full.len().max(1)) else { return false };
        let msg = self.channels[channel].pop_front().expect("a message");
        if channel < 2 {
            let mut out = AgentOutput::default();
            self.device.take(&self.config, 0, msg, 0, &mut out);
            assert!(out.events.is_empty(), "{}", out.events[0]);
            out.sends.into_iter().for_each(|(_, answer)| assert!(self.send(answer)));
        } else {
            let (open, data) = self.host.answer(0, msg).expect("an answer of an open request");
            assert_eq!(open.write, data.is_none());
            assert_eq!(data.unwrap_or(open.note), open.note, "line {:?}", open.line);
        }
        true
    }

    /// Delivers everything.
    pub fn settle(&mut self) {
        while self.deliver(0) {}
        assert_eq!((self.host.open_count(), self.host.open_reads()), (0, 0));
    }
}

proptest! {
    /// Whatever the order of the classes, a read sees the writes before it and none behind it, and everything ends.
    #[test]
    fn reads_see_the_writes_before_them(
        work in prop::collection::vec((0..3u64, any::<bool>(), any::<u64>(), any::<u8>()), 1..80),
        order in prop::collection::vec(0..5usize, 200),
    ) {
        let (mut pair, mut order) = (Pair::new(), order.into_iter().cycle());
        for (n, (line, is_write, enables, byte)) in work.into_iter().enumerate() {
            let line = LineAddr(line);
            let enables = if n % 3 == 0 { WHOLE_LINE } else { enables };
            loop {
                // 4 issues; everything else delivers first, if there is something.
                let choice = order.next().expect("it goes round");
                if choice < 4 && pair.deliver(choice) {
                    continue;
                }
                let is_begun = if is_write { pair.write(line, CacheLine::of([byte; 64]), enables) } else { pair.read(line) };
                if is_begun {
                    break;
                }
                prop_assert!(pair.deliver(0), "what waits is waited for");
            }
        }
        pair.settle();
    }
}

/// The check above fires: requests of two hosts do not wait for each other, and a read passes a write of its line.
#[test]
fn a_read_that_does_not_wait_sees_the_old_value() {
    let (mut writer, mut reader) = (Host::new(), Host::new());
    let (mut device, config, line) = (HdmH::new(), CoherenceConfig::default(), LineAddr(7));
    let value = CacheLine::of([9; 64]);
    let (_, write) = writer.write(0, line, value, WHOLE_LINE, value).expect("it may");
    let (_, read) = reader.read(0, line, value).expect("it does not know of the write");
    assert!(writer.read::<CacheLine>(0, line, value).is_none(), "the host of the write waits");
    let mut out = AgentOutput::default();
    for msg in [read, write] {
        device.take(&config, 0, msg, 0, &mut out);
    }
    let (_, answer) = out.sends.remove(0);
    let (open, data) = reader.answer(0, answer).expect("an answer");
    assert_ne!(data, Some(open.note));
}

fn ndr(opcode: NdrOpcode, tag: u16) -> Msg<CacheLine> {
    Msg::S2mNdr { opcode, meta_field: MetaField::NoOp, meta: MetaValue::Invalid, tag, devload: DevLoad(0) }
}

fn drs(tag: u16) -> Msg<CacheLine> {
    let (opcode, data) = (DrsOpcode::MemData, CacheLine::of([1; 64]));
    Msg::S2mDrs { opcode, meta_field: MetaField::NoOp, meta: MetaValue::Invalid, tag, data, devload: DevLoad(0) }
}

/// Answers that belong to no request break a rule and change nothing.
#[test]
fn answers_without_a_request_are_refused() {
    let mut host = Host::new();
    let value = CacheLine::of([0; 64]);
    let (read, _) = host.read::<CacheLine>(0, LineAddr(1), value).expect("it may");
    let (write, msg) = host.write(0, LineAddr(2), value, 0xff, value).expect("it may");
    assert_eq!((read, write), (0, 1));
    let cases = [
        (0, ndr(NdrOpcode::Cmp, 2), Refusal::NoRequest { tag: 2 }, "COH-IDS-01"),
        (0, ndr(NdrOpcode::Cmp, read), Refusal::NoRequest { tag: read }, "COH-IDS-01"),
        (0, drs(write), Refusal::NoRequest { tag: write }, "COH-IDS-01"),
        (1, drs(read), Refusal::NoRequest { tag: read }, "COH-IDS-01"),
        (0, ndr(NdrOpcode::CmpE, write), Refusal::NotCmp { tag: write, opcode: NdrOpcode::CmpE }, "COH-MEM-33"),
        (0, msg, Refusal::NoAnswer, "COH-TYP-01"),
    ];
    for (port, msg, refusal, rule) in cases {
        let before = host.clone();
        assert_eq!(host.answer(port, msg), Err(refusal));
        let mut out = AgentOutput::default();
        host.take(&CoherenceConfig::default(), port, msg, 0, &mut out);
        assert_eq!(out.events.iter().map(|event| event.rule).collect::<Vec<_>>(), [rule]);
        assert_eq!(host, before);
    }
    let mut out = AgentOutput::default();
    host.take(&CoherenceConfig::default(), 0, drs(read), 0, &mut out);
    host.take(&CoherenceConfig::default(), 0, ndr(NdrOpcode::Cmp, write), 0, &mut out);
    assert!(out.events.is_empty() && Agent::<CacheLine>::is_idle(&host));
    let (line, value) = (LineAddr(1), CacheLine::of([1; 64]));
    let seen = [Effect::Used { line, value, current: false }, Effect::Done(line), Effect::Done(LineAddr(2))];
    assert_eq!(out.effects, seen);
}

/// 65,536 requests are open at once and none more; the tag that comes back is the one that is used next.
#[test]
fn all_tags_are_used_and_no_tag_twice() {
    let mut host = Host::new();
    let value = CacheLine::of([0; 64]);
    for n in 0..1 << 16 {
        let (tag, _) = host.read::<CacheLine>(0, LineAddr(n), value).expect("a tag is free");
        assert_eq!(u64::from(tag), n);
    }
    assert_eq!(host.free_tags(), 0);
    assert!(host.read::<CacheLine>(0, LineAddr(1 << 16), value).is_none());
    assert!(host.write(0, LineAddr(1 << 16), value, WHOLE_LINE, value).is_none());
    let (OpenAccess { line, .. }, _) = host.answer(0, drs(0x1234)).expect("an answer");
    assert_eq!((line, host.free_tags()), (LineAddr(0x1234), 1));
    let (tag, _) = host.write(0, line, value, WHOLE_LINE, value).expect("its tag is free again");
    assert_eq!(tag, 0x1234);
}

/// Against a plain map, beyond the first round of all tags: requests end in any order, some of them late, and are found by tag
/// and told in the order of tags.
#[test]
fn open_requests_are_found_in_whatever_order_they_end() {
    let (mut host, mut open, mut state) = (Host::new(), BTreeMap::new(), 1u64);
    let mut below = |n: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % n
    };
    let value = CacheLine::of([0; 64]);
    for n in 0..80_000u64 {
        let (tag, _) = host.read::<CacheLine>(0, LineAddr(n), value).expect("a tag is free");
        assert_eq!(open.insert(tag, n), None);
        // Few are open, then many, and now and then all but the last one end.
        let most = if n % 40_000 < 30_000 { 30 } else { 1_000 };
        let most = if n % 5_000 == 0 { 1 } else { most };
        while open.len() > most {
            let from = if below(4) > 0 { open.keys().next().copied().unwrap_or(0) } else { below(1 << 16) as u16 };
            let (&tag, &line) = open.range(from..).next().or(open.first_key_value()).expect("one is open");
            assert_eq!(host.answer(0, ndr(NdrOpcode::Cmp, tag)), Err(Refusal::NoRequest { tag }), "it reads");
            let request =
                if below(9) == 0 { host.give_up(tag) } else { host.answer(0, drs(tag)).ok().map(|(open, _)| open) };
            assert_eq!(request.map(|request| request.line), Some(LineAddr(line)));
            assert_eq!(host.answer(0, drs(tag)), Err(Refusal::NoRequest { tag }), "it has ended");
            open.remove(&tag);
        }
        assert_eq!(host.open_count(), open.len());
        if n % 256 == 0 {
            let told: Vec<_> = host.open().map(|(tag, request)| (tag, request.line.0)).collect();
            assert_eq!(told, open.iter().map(|(tag, line)| (*tag, *line)).collect::<Vec<_>>());
        }
    }
}
