//! Who answers a bridge in a case: memory on CXL, or an accelerator.
//!
//! Modelled: answers by the tables of `coherence` §3.2 and of the protocols of accelerators, with the errors that a case asks for. Left
//! out: snoops. A walk: MemRd Shared/SnpData comes; data and Cmp-S go back, in the order that the case asks for.

use crate::message::{BridgeMessage, CxlMessage};
use scalepool_coherence::content::{CacheLine, LINE_BYTES, LineAddr, LineContent};
use scalepool_coherence::message::Msg;
use scalepool_link::nvlink::NvlMessage;
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

    fn is_absent(&self, line: LineAddr) -> bool {
        match self.mood {
            MemoryMood::Absent => true,
            MemoryMood::AbsentFrom(first) => line.0 % 4 >= first,
            _ => false,
        }
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
            Msg::M2sReq { opcode, line, tag, .. } if self.is_absent(line) => made.push(match opcode {
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
                if !self.is_absent(line) {
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
pub(super) struct Accelerator {
    /// Status of every answer; NVLink: an error unless it is 0.
    status: u8,
    /// What is read is poisoned.
    poison: bool,
    lines: OrderedMap<u64, CacheLine>,
}

impl Accelerator {
    /// One whose answers have this status.
    pub fn with_status(status: u8) -> Accelerator {
        Accelerator { status, poison: false, lines: OrderedMap::new() }
    }

    /// One whose memory is poisoned.
    pub fn poisoned() -> Accelerator {
        Accelerator { poison: true, ..Accelerator::with_status(0) }
    }

    fn line(&self, address: u64) -> CacheLine {
        let line = LineAddr::of_address(address);
        let own = self.lines.get(&line.0).copied().unwrap_or_else(|| fresh(line));
        own.poisoned(own.poison || self.poison)
    }

    fn upli(&mut self, transfer: &Transfer) -> Option<Transfer> {
        let ControlField::Request(req) = transfer.field else { return None };
        let status = Status(self.status);
        let rsp = TlRsp { dst: req.src, src: req.dst, tag: req.tag, vchan: req.vchan, status, ..TlRsp::default() };
        if req.cmd == ReqCmd::Read {
            let line = self.line(req.address);
            let bytes = if self.status == 0 { line.bytes } else { [0xff; LINE_BYTES] };
            let field = ControlField::Response(TlRsp { rdwr: RdWr::Read, last: true, ..rsp });
            return Some(Transfer { poisoned: u8::from(line.poison), ..with_data(field, &[bytes], None) });
        }
        let first = (req.address % 256 / 8) as usize;
        let enabled = |e: &[u8; 32]| u64::from_le_bytes(std::array::from_fn(|k| e[first + k]));
        let mask = transfer.enables.as_deref().map_or(u64::MAX, enabled);
        if let Some(bytes) = lines_of(&transfer.data).next().filter(|_| self.status == 0) {
            let mut line = self.line(req.address);
            line.merge(&CacheLine { bytes, poison: transfer.poisoned != 0 }, mask);
            self.lines.insert(req.address / 64, line);
        }
        Some(Transfer::new(ControlField::Response(TlRsp { rdwr: RdWr::Write, ..rsp })))
    }

    fn nvlink(&mut self, message: &NvlMessage) -> NvlMessage {
        let of = |op| NvlMessage { tag: message.tag, rid: message.rid, ..NvlMessage::new(op, &NvlConfig::default()) };
        if self.status != 0 {
            return NvlMessage { size: self.status, ..of(Op::RSP_ERROR) };
        }
        if message.op == Op::READ {
            let line = self.line(message.address);
            return NvlMessage { ep: line.poison, data: line.bytes.to_vec(), ..of(Op::RSP_DATA) };
        }
        if let Ok(bytes) = message.data.as_slice().try_into() {
            let mut line = self.line(message.address);
            let mask = message.be.map_or(u64::MAX, |be| be as u64);
            line.merge(&CacheLine { bytes, poison: message.ep }, mask);
            self.lines.insert(message.address / 64, line);
        }
        of(Op::RSP_DONE)
    }
}

impl Peer for Accelerator {
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
