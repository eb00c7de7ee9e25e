//! Who answers a bridge in a case: memory on CXL, or an accelerator.
//!
//! Modelled: answers by the tables of `coherence` §3.2 and of the protocols of accelerators, with the errors that a case asks for. Left
//! out: snoops. A walk: MemRd Shared/SnpData comes; data and Cmp-S go back, in the order that the case asks for.

use super::host::PeerHost;
use crate::message::{BridgeMessage, CxlMessage};
use crate::model::{BridgeEvent, BridgePoint};
use scalepool_coherence::content::{CacheLine, LINE_BYTES, LineAddr, LineContent};
use scalepool_coherence::message::Msg;
use scalepool_link::nvlink::NvlMessage;
use scalepool_nodes::nvlink::memory::GpuMemory;
use scalepool_nodes::ualink::atomics::LineAtomic;
use scalepool_nodes::ualink::read::lines_of;
use scalepool_ordered::OrderedMap;
use scalepool_protocols::cxl::cxl256::code::{DevLoad, DrsOpcode, M2sReqOpcode, MetaField, MetaValue, NdrOpcode};
use scalepool_protocols::nvlink::{NvlConfig, Op};
use scalepool_protocols::ualink::code::{RdWr, ReqCmd, Status};
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::field::TlRsp;
use scalepool_protocols::ualink::pack::with_data;
use scalepool_protocols::ualink::unpack::Transfer;

/// Who answers.
pub(super) trait Peer {
    /// The answers to a message, in their order.
    fn answers(&mut self, message: &BridgeMessage) -> Vec<BridgeMessage>;

    /// A request of the case comes to the bridge.
    fn asks(&mut self, _request: &BridgeEvent) {}

    /// A message leaves the bridge: what comes back for it.
    fn hears(&mut self, event: &BridgeEvent) -> Vec<BridgeEvent> {
        if event.point != BridgePoint::Sent {
            return Vec::new();
        }
        let answer = |message| BridgeEvent { point: BridgePoint::Answer, port: event.port, message };
        self.answers(&event.message).into_iter().map(answer).collect()
    }
}

/// Bytes that a line has before anybody writes it: different from line to line and from byte to byte.
pub(super) fn fresh(line: LineAddr) -> CacheLine {
    let seed = (line.0 ^ line.0 >> 16) as u8;
    CacheLine::of(std::array::from_fn(|k| (k as u8).wrapping_mul(37) ^ seed))
}

/// How memory on CXL behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MemoryMood {
    /// It has all lines.
    Good,
    /// It has none.
    Absent,
    /// All lines are poisoned.
    Poisoned,
    /// The lines of a block from this one on are not there.
    AbsentFrom(u64),
}

impl MemoryMood {
    /// Whether a line is not there.
    pub fn is_absent(self, line: LineAddr) -> bool {
        match self {
            MemoryMood::Absent => true,
            MemoryMood::AbsentFrom(first) => line.0 % 4 >= first,
            _ => false,
        }
    }
}

/// Who is behind the windows of a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WindowBacking {
    /// Memory on CXL.
    Memory,
    /// A host, whose lines are asked for by CXL.cache.
    Host,
}

impl WindowBacking {
    /// One of a mood.
    pub fn of_mood(self, mood: MemoryMood) -> Box<dyn Peer> {
        match self {
            WindowBacking::Memory => Box::new(Memory::of(mood)),
            WindowBacking::Host => Box::new(PeerHost::of(mood)),
        }
    }

    /// One that is good.
    pub fn good(self) -> Box<dyn Peer> {
        self.of_mood(MemoryMood::Good)
    }

    /// One whose data come before completions.
    pub fn data_first(self) -> Box<dyn Peer> {
        match self {
            WindowBacking::Memory => Box::new(Memory::good().data_first()),
            WindowBacking::Host => Box::new(PeerHost::of(MemoryMood::Good).data_first(true)),
        }
    }
}

/// Memory on CXL that a device keeps coherent, or nobody.
pub(super) struct Memory {
    mood: MemoryMood,
    /// Data come before the completion.
    data_first: bool,
    /// What one who asks to share a line is granted.
    grant: NdrOpcode,
    lines: OrderedMap<u64, CacheLine>,
}

impl Memory {
    /// Memory that is good.
    pub fn good() -> Memory {
        Memory::of(MemoryMood::Good)
    }

    /// Memory of a mood.
    pub fn of(mood: MemoryMood) -> Memory {
        Memory { mood, data_first: false, grant: NdrOpcode::CmpS, lines: OrderedMap::new() }
    }

    /// Whose data come before completions.
    pub fn data_first(self) -> Memory {
        Memory { data_first: true, ..self }
    }

    /// That grants this to one who asks to share.
    pub fn granting(self, grant: NdrOpcode) -> Memory {
        Memory { grant, ..self }
    }
}

impl Peer for Memory {
    fn answers(&mut self, message: &BridgeMessage) -> Vec<BridgeMessage> {
        let BridgeMessage::Cxl(CxlMessage { msg, .. }) = message else { return Vec::new() };
        let (meta_field, none, devload) = (MetaField::NoOp, MetaValue::Invalid, DevLoad(0));
        let done = |tag, opcode| Msg::S2mNdr { opcode, meta_field, meta: none, tag, devload };
        let read = |tag, opcode, data| Msg::S2mDrs { opcode, meta_field, meta: none, tag, data, devload };
        let mut made = Vec::new();
        match *msg {
            Msg::M2sReq { opcode, line, tag, .. } if self.mood.is_absent(line) => made.push(match opcode {
                M2sReqOpcode::MemRd => read(tag, DrsOpcode::MemDataNXM, CacheLine::ones()),
                // Whoever wants to own a line that is not there is completed without ownership.
                _ => done(tag, NdrOpcode::Cmp),
            }),
            Msg::M2sReq { opcode, meta_field: field, meta, line, tag, .. } => {
                let own = self.lines.get(&line.0).copied().unwrap_or_else(|| fresh(line));
                let data = own.poisoned(own.poison || self.mood == MemoryMood::Poisoned);
                if field == MetaField::Meta0State {
                    made.push(match meta {
                        MetaValue::Any => done(tag, NdrOpcode::CmpE),
                        MetaValue::Shared => done(tag, self.grant),
                        _ => done(tag, NdrOpcode::Cmp),
                    });
                }
                if opcode == M2sReqOpcode::MemRd {
                    made.push(read(tag, DrsOpcode::MemData, data));
                }
                if self.data_first {
                    made.reverse();
                }
            }
            Msg::M2sRwd { line, tag, data, enables, .. } => {
                if !self.mood.is_absent(line) {
                    self.lines.entry(line.0).or_insert_with(|| fresh(line)).merge(&data, enables);
                }
                made.push(done(tag, NdrOpcode::Cmp));
            }
            _ => (),
        }
        let cxl = |msg| BridgeMessage::Cxl(CxlMessage { msg, ld_id: 0, traffic_class: 0 });
        made.into_iter().map(cxl).collect()
    }
}

/// An accelerator.
pub(super) struct PeerAccelerator {
    /// Status of every answer; NVLink: an error unless it is 0.
    status: u8,
    /// What is read is poisoned.
    poison: bool,
    lines: OrderedMap<u64, CacheLine>,
}

impl PeerAccelerator {
    /// One whose answers have this status.
    pub fn with_status(status: u8) -> PeerAccelerator {
        PeerAccelerator { status, poison: false, lines: OrderedMap::new() }
    }

    /// One whose memory is poisoned.
    pub fn poisoned() -> PeerAccelerator {
        PeerAccelerator { poison: true, ..PeerAccelerator::with_status(0) }
    }

    fn line(&self, address: u64) -> CacheLine {
        let line = LineAddr::of_address(address);
        let own = self.lines.get(&line.0).copied().unwrap_or_else(|| fresh(line));
        own.poisoned(own.poison || self.poison)
    }

    /// Merges bytes that are enabled, from an address on, each into its line.
    fn merge(&mut self, address: u64, bytes: &[u8], enabled: impl Fn(usize) -> bool, poison: impl Fn(usize) -> bool) {
        let first = address / LINE_BYTES as u64;
        let end = (address + bytes.len() as u64).div_ceil(LINE_BYTES as u64);
        for (n, line) in (first..end).enumerate() {
            let (mut data, mut mask) = ([0; LINE_BYTES], 0);
            let places = (0..LINE_BYTES).map(|k| (k, (line * LINE_BYTES as u64 + k as u64).checked_sub(address)));
            for (k, from) in
                places.filter_map(|(k, from)| Some((k, from? as usize))).filter(|(_, from)| *from < bytes.len())
            {
                data[k] = bytes[from];
                mask |= u64::from(enabled(from)) << k;
            }
            let mut own = self.line(line * LINE_BYTES as u64);
            own.merge(&CacheLine { bytes: data, poison: poison(n) }, mask);
            self.lines.insert(line, own);
        }
    }

    fn upli(&mut self, transfer: &Transfer) -> Option<Transfer> {
        let ControlField::Request(req) = transfer.field else { return None };
        let status = Status(self.status);
        let rsp = TlRsp { dst: req.src, src: req.dst, tag: req.tag, vchan: req.vchan, status, ..TlRsp::default() };
        let end = req.address + 4 * (u64::from(req.len) + 1);
        let first = req.address / LINE_BYTES as u64;
        let lines = (first..end.div_ceil(LINE_BYTES as u64)).map(|line| self.line(line * LINE_BYTES as u64));
        let mut lines: Vec<CacheLine> = lines.collect();
        let is_enabled =
            |at: u64| transfer.enables.as_deref().is_none_or(|e| e[(at % 256 / 8) as usize] >> (at % 8) & 1 == 1);
        if req.cmd.is_atomic() && self.status == 0 {
            let operand = lines_of(&transfer.data).next()?;
            let base = first * LINE_BYTES as u64;
            let bits = |is: &dyn Fn(u64) -> bool| (0..64).fold(0, |all, k| all | u64::from(is(base + k)) << k);
            let covered = bits(&|at| (req.address..end).contains(&at));
            let atomic = LineAtomic::of(req.attr, covered, covered & bits(&is_enabled))?;
            let (new, old) = atomic.apply(&lines[0].bytes, &operand);
            self.lines.insert(first, CacheLine { bytes: new, ..lines[0] });
            lines[0].bytes = old;
        }
        if req.cmd == ReqCmd::Read || req.cmd == ReqCmd::AtomicR {
            let beats = lines.iter().map(|line| if self.status == 0 { line.bytes } else { [0xff; LINE_BYTES] });
            let beats: Vec<[u8; LINE_BYTES]> = beats.collect();
            let len = (beats.len() - 1) as u8;
            let field = ControlField::Response(TlRsp { rdwr: RdWr::Read, last: true, len, ..rsp });
            let poisoned = lines.iter().enumerate().fold(0, |all, (n, line)| all | u8::from(line.poison) << n);
            return Some(Transfer { poisoned, ..with_data(field, &beats, None) });
        }
        if self.status == 0 {
            let skip = (req.address % LINE_BYTES as u64) as usize;
            let beats: Vec<u8> = lines_of(&transfer.data).flatten().collect();
            let bytes = beats.get(skip..skip + (end - req.address) as usize).unwrap_or_default();
            let poison = |n: usize| transfer.poisoned >> n & 1 == 1;
            self.merge(req.address, bytes, |n| is_enabled(req.address + n as u64), poison);
        }
        Some(Transfer::new(ControlField::Response(TlRsp { rdwr: RdWr::Write, ..rsp })))
    }

    fn nvlink(&mut self, message: &NvlMessage) -> NvlMessage {
        let of = |op| NvlMessage { tag: message.tag, rid: message.rid, ..NvlMessage::new(op, &NvlConfig::default()) };
        if self.status != 0 {
            return NvlMessage { size: self.status, ..of(Op::RSP_ERROR) };
        }
        let bytes = if message.op == Op::READ { 16 * (usize::from(message.size) + 1) } else { message.data.len() };
        let at = |n: usize| message.address + n as u64;
        let old = (0..bytes).map(|n| self.line(at(n)).bytes[(at(n) % LINE_BYTES as u64) as usize]);
        let old: Vec<u8> = old.collect();
        let ep = (0..bytes).any(|n| self.line(at(n)).poison);
        let is_enabled = |n: usize| message.be.is_none_or(|be| be >> n & 1 == 1);
        match message.op {
            Op::READ => return NvlMessage { ep, data: old, ..of(Op::RSP_DATA) },
            Op::ATOMIC_RETURN => {
                let mut memory = GpuMemory::default();
                memory.write(message.address, &old, None);
                let be = message.be.unwrap_or(0);
                let Some(before) = memory.atomic(message.address, message.attr, be, &message.data) else {
                    return NvlMessage { size: Status::TargetAbort.0, ..of(Op::RSP_ERROR) };
                };
                self.merge(message.address, &memory.read(message.address, bytes), is_enabled, |_| false);
                return NvlMessage { ep, data: before, ..of(Op::RSP_DATA) };
            }
            _ => self.merge(message.address, &message.data, is_enabled, |_| message.ep),
        }
        of(Op::RSP_DONE)
    }
}

impl Peer for PeerAccelerator {
    fn answers(&mut self, message: &BridgeMessage) -> Vec<BridgeMessage> {
        match message {
            BridgeMessage::Upli(transfer) => {
                self.upli(transfer).map(|answer| BridgeMessage::Upli(Box::new(answer))).into_iter().collect()
            }
            BridgeMessage::Nvlink(message) => vec![BridgeMessage::Nvlink(Box::new(self.nvlink(message)))],
            BridgeMessage::Cxl(_) | BridgeMessage::Tlp(_) => Vec::new(),
        }
    }
}
