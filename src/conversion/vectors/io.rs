//! Cases from UALink and NVLink to CXL.io, windows of class IO (`bridge` §3.6, §4.1, §4.3, §4.4, §6.3, §8.1, §8.3).
//!
//! Modelled: reads, of UALink with byte enables, writes of every shape of enables, atomics of every operation and size, rights, every status of a
//! completion, completions in parts, poison both ways, posted writes with a FLUSH behind them. A walk: a write of bytes 5 to 27 is one MWr and a read of no byte; the completion of that
//! ends the case.

use super::nvlink::{self, asked as packet, with_atomic};
use super::peer::{Peer, fresh};
use super::ualink::{Asked, BASE, BEYOND, DEALT, LIMITED, config, element_or_shape, shape};
use super::{CaseWriter, ConversionVectors};
use crate::message::BridgeMessage;
use scalepool_coherence::content::LineAddr;
use scalepool_endpoint::tlp::{Tlp, TlpAtomic, TlpKind};
use scalepool_link::nvlink::NvlMessage;
use scalepool_ordered::OrderedMap;
use scalepool_protocols::cxl::cxlio::code::CplStatus;
use scalepool_protocols::nvlink::Op;
use scalepool_protocols::ualink::code::ReqCmd;

/// A device behind a port.
struct Device {
    status: CplStatus,
    /// Completions are poisoned.
    poison: bool,
    bytes: OrderedMap<u64, u8>,
}

/// Bytes of a completion that does not end its request end at a multiple of these.
const PART_BYTES: u64 = 64;

impl Device {
    fn of(status: CplStatus) -> Device {
        Device { status, poison: false, bytes: OrderedMap::new() }
    }

    fn good() -> Device {
        Device::of(CplStatus::SC)
    }

    fn byte(&self, address: u64) -> u8 {
        let of_line = || fresh(LineAddr(address / 64)).bytes[(address % 64) as usize];
        self.bytes.get(&address).copied().unwrap_or_else(of_line)
    }

    /// Completions of bytes from an address on, so many.
    fn parts(&self, tlp: &Tlp, from: u64, count: usize) -> Vec<BridgeMessage> {
        let (mut at, end) = (from, from + count as u64);
        let mut parts = Vec::new();
        while at < end {
            let next = ((at / PART_BYTES + 1) * PART_BYTES).min(end);
            let dws = at & !3..(next + 3) & !3;
            let lower_address = (at & 0x7f) as u8;
            let data = dws.map(|at| self.byte(at)).collect();
            parts.push(self.completion(tlp, (end - at) as usize, lower_address, data));
            at = next;
        }
        parts
    }

    fn completion(&self, tlp: &Tlp, byte_count: usize, lower_address: u8, data: Vec<u8>) -> BridgeMessage {
        let kind = TlpKind::Completion { completer: 0x100, status: self.status, byte_count, lower_address };
        let poison = self.poison && !data.is_empty();
        BridgeMessage::Tlp(Box::new(Tlp { tag: tlp.tag, poison, ..Tlp::new(kind, tlp.requester, data) }))
    }
}

/// A little-endian number.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |n, byte| n << 8 | u64::from(*byte))
}

impl Peer for Device {
    fn answers(&mut self, message: &BridgeMessage) -> Vec<BridgeMessage> {
        let BridgeMessage::Tlp(tlp) = message else { return Vec::new() };
        if tlp.is_non_posted() && self.status != CplStatus::SC {
            return vec![self.completion(tlp, 4, 0, Vec::new())];
        }
        match tlp.kind {
            TlpKind::MemWrite { address, enables } => {
                let dw = tlp.data.len() / 4;
                for (n, byte) in tlp.data.iter().enumerate().filter(|(n, _)| enables.has(*n, dw)) {
                    self.bytes.insert(address + n as u64, *byte);
                }
                Vec::new()
            }
            TlpKind::MemRead { address, dw, enables } => {
                let (first, count) = enables.bounds(dw);
                self.parts(tlp, address + first as u64, count)
            }
            TlpKind::Atomic { operation, address } => {
                let size = tlp.data.len() / operation.operands();
                let old: Vec<u8> = (0..size as u64).map(|n| self.byte(address + n)).collect();
                let [first, last] = [number(&tlp.data[..size]), number(&tlp.data[tlp.data.len() - size..])];
                let new = match operation {
                    TlpAtomic::FetchAdd => number(&old).wrapping_add(first),
                    TlpAtomic::CompareSwap if number(&old) != first => number(&old),
                    TlpAtomic::Swap | TlpAtomic::CompareSwap => last,
                };
                for (n, byte) in new.to_le_bytes().into_iter().enumerate().take(size) {
                    self.bytes.insert(address + n as u64, byte);
                }
                vec![self.completion(tlp, size, 0, old)]
            }
            _ => Vec::new(),
        }
    }
}

pub(super) fn files() -> Vec<ConversionVectors> {
    let mut writer =
        CaseWriter::new("ualink_to_cxl_io", "UALink to CXL.io, windows of class IO", config("ualink", "IO"));
    reads(&mut writer);
    writes(&mut writer);
    atomics(&mut writer);
    places(&mut writer);
    ends(&mut writer);
    vec![writer.vectors, of_nvlink()]
}

/// Offsets in a block and DWords.
const EXTENTS: [(u64, u64); 10] =
    [(0, 1), (0, 2), (4, 1), (60, 2), (64, 16), (0x38, 20), (124, 33), (192, 16), (252, 1), (0, 64)];

fn reads(writer: &mut CaseWriter) {
    for (offset, dwords) in EXTENTS.into_iter().chain([(252, 2)]) {
        for attr in [0xff, 0x1e, 0x8f, 0x3c, 0xf0, 0x0f, 0x00] {
            let asked = Asked { attr, ..Asked::of(ReqCmd::Read, BASE + 0x4_2000 + offset, dwords) };
            let message = asked.message(&mut writer.rng, None, 0);
            let what = format!("read of {dwords} DW at {offset:#x} with byte enables {attr:#04x}");
            writer.case(what, &[message], &mut Device::good());
        }
    }
}

fn writes(writer: &mut CaseWriter) {
    for (offset, dwords) in EXTENTS.into_iter().chain([(252, 2)]) {
        for (cmd, name, shapes) in [(ReqCmd::WriteFull, "write full", 1), (ReqCmd::Write, "write", 8)] {
            for n in 0..shapes {
                let enables = shape(n, &mut writer.rng);
                let asked = Asked { attr: 0xff, ..Asked::of(cmd, BASE + 0x4_2000 + offset, dwords) };
                let message = asked.message(&mut writer.rng, Some(enables), 0);
                let after = Asked { attr: 0xff, ..Asked::of(ReqCmd::Read, BASE + 0x4_2000, 64) };
                let after = after.message(&mut writer.rng, None, 0);
                let what = format!("{name} of {dwords} DW at {offset:#x}, enables {n}, and a read of the block");
                writer.case(what, &[message, after], &mut Device::good());
            }
        }
    }
}

fn atomics(writer: &mut CaseWriter) {
    for cmd in [ReqCmd::AtomicR, ReqCmd::AtomicNR] {
        for op in 0..32u8 {
            for size in 0..4u8 {
                for (offset, dwords, n) in [(8, 2, 0), (8, 2, 1), (16, 1, 0), (60, 2, 0)] {
                    let attr = (op & 15) << 4 | op >> 4 | size << 2;
                    let asked = Asked { attr, ..Asked::of(cmd, BASE + 0x100 + offset, dwords) };
                    let enables = element_or_shape(n, op, size, offset, &mut writer.rng);
                    let message = asked.message(&mut writer.rng, Some(enables), 0);
                    let what =
                        format!("command {:#04x}, operation {op}, size {size} at {offset:#x}, enables {n}", cmd.0);
                    writer.case(what, &[message], &mut Device::good());
                }
            }
        }
    }
}

/// Both ports of a window, rights, channels.
fn places(writer: &mut CaseWriter) {
    for cmd in [ReqCmd::Read, ReqCmd::WriteFull] {
        for address in [BASE, BASE - 256, DEALT + 0x100, DEALT + 0x200] {
            let message = Asked { attr: 0xff, ..Asked::of(cmd, address, 16) }.message(&mut writer.rng, None, 0);
            writer.case(format!("command {:#04x} to {address:#x}", cmd.0), &[message], &mut Device::good());
        }
        for (source, rights) in LIMITED {
            let asked = Asked { attr: 0xff, source, ..Asked::of(cmd, BASE, 16) };
            let message = asked.message(&mut writer.rng, None, 0);
            writer.case(format!("command {:#04x} with rights `{rights}`", cmd.0), &[message], &mut Device::good());
        }
        let message = Asked { attr: 0xff, vchan: 2, ..Asked::of(cmd, BASE, 16) }.message(&mut writer.rng, None, 0);
        writer.case(format!("command {:#04x} in channel 2", cmd.0), &[message], &mut Device::good());
    }
}

/// Every status of a completion, and poison.
fn ends(writer: &mut CaseWriter) {
    let commands = [(ReqCmd::Read, 0xff, 64), (ReqCmd::WriteFull, 0, 64), (ReqCmd::AtomicR, 1 << 2, 2)];
    for (cmd, attr, dwords) in commands {
        let asked = Asked { attr, ..Asked::of(cmd, BASE + 0x700, dwords) };
        for status in [CplStatus::UR, CplStatus::CA, CplStatus::CRS] {
            let message = asked.message(&mut writer.rng, None, 0);
            let what = format!("command {:#04x}, completion {status:?}", cmd.0);
            writer.case(what, &[message], &mut Device::of(status));
        }
        let message = asked.message(&mut writer.rng, None, 0);
        let what = format!("command {:#04x}, poisoned completions", cmd.0);
        writer.case(what, &[message], &mut Device { poison: true, ..Device::good() });
        if cmd == ReqCmd::WriteFull {
            for poisoned in [1, 2, 4, 8, 9] {
                let message = asked.message(&mut writer.rng, None, poisoned);
                writer.case(format!("write full, beats {poisoned:#x} poisoned"), &[message], &mut Device::good());
            }
        }
    }
}

/// The same of NVLink (model): operations on units of 16 bytes, with byte enables behind the data.
fn of_nvlink() -> ConversionVectors {
    let (name, about) = ("nvlink_to_cxl_io", "NVLink (model) to CXL.io, windows of class IO");
    let mut writer = CaseWriter::new(name, about, config("nvlink", "IO"));
    packets(&mut writer);
    packet_atomics(&mut writer);
    packet_places(&mut writer);
    packet_ends(&mut writer);
    packet_flushes(&mut writer);
    writer.vectors
}

const PACKET_OPS: [Op; 5] = [Op::READ, Op::WRITE_POSTED, Op::WRITE_NONPOSTED, Op::ATOMIC_RETURN, Op::ATOMIC_POSTED];

/// An operation that a completer can do: of an atomic, an ADD of 64 bits on its first element.
fn possible(op: Op, asked: NvlMessage) -> NvlMessage {
    let asked = with_atomic(op, asked);
    NvlMessage { be: asked.be.map(|_| 0xff), ..asked }
}

/// Reads and writes of every extent with every shape of enables, and what is in the block behind a write.
fn packets(writer: &mut CaseWriter) {
    for op in &PACKET_OPS[..3] {
        for (first, units) in [(0u64, 1usize), (0, 16), (1, 3), (3, 2), (7, 4), (8, 8), (15, 1), (15, 2), (4, 13)] {
            let shapes = if *op == Op::READ || units > 8 { 1 } else { 6 };
            for n in 0..shapes {
                let of = packet(*op, BASE + 0x4_2000 + 16 * first, units, &mut writer.rng);
                let random = u128::from(writer.rng.next_u64()) << 64 | u128::from(writer.rng.next_u64());
                let be = [None, Some(u128::MAX), Some(0), Some(0x0ff0_fffe), Some(0x7fff_ffff << 5), Some(random)][n];
                let after = packet(Op::READ, BASE + 0x4_2000, 16, &mut writer.rng);
                let what =
                    format!("operation {}, {units} units at {first}, enables {n}, and a read of the block", op.0);
                let asked = [NvlMessage { be, ..of }, after].map(nvlink::message);
                writer.case(what, &asked, &mut Device::good());
            }
        }
    }
}

/// Every operation and size, on the first element, the last one, two, none, and without byte enables.
fn packet_atomics(writer: &mut CaseWriter) {
    for op in [Op::ATOMIC_RETURN, Op::ATOMIC_POSTED] {
        for code in 0..16u8 {
            for size in 0..4u8 {
                let bytes = [4, 8, 2, 1][usize::from(size)];
                let one = (1u128 << bytes) - 1;
                let shapes =
                    [Some(one), Some(one << (48 - bytes)), Some(one | one << bytes), Some(one >> 1), Some(0), None];
                for (n, be) in shapes.into_iter().enumerate() {
                    let asked = packet(op, BASE + 0x110, 3, &mut writer.rng);
                    let asked = NvlMessage { attr: code | size << 4, be, ..asked };
                    let what = format!("operation {}, atomic {code}, size {size}, enables {n}", op.0);
                    writer.case(what, &[nvlink::message(asked)], &mut Device::good());
                }
            }
        }
    }
}

/// Both ports of a window, the end of it, rights.
fn packet_places(writer: &mut CaseWriter) {
    for op in PACKET_OPS.into_iter().chain([Op::REDUCE_READ]) {
        for address in [BASE, BASE - 256, DEALT + 0x100, DEALT + 0x200, BEYOND + (1 << 20)] {
            let asked = possible(op, packet(op, address, 4, &mut writer.rng));
            let what = format!("operation {} to {address:#x}", op.0);
            writer.case(what, &[nvlink::message(asked)], &mut Device::good());
        }
        for (rid, rights) in LIMITED {
            let asked = possible(op, packet(op, BASE, 4, &mut writer.rng));
            let what = format!("operation {} with rights `{rights}`", op.0);
            writer.case(what, &[nvlink::message(NvlMessage { rid, ..asked })], &mut Device::good());
        }
    }
}

/// Every status of a completion, and poison.
fn packet_ends(writer: &mut CaseWriter) {
    for op in PACKET_OPS {
        let units = if op == Op::ATOMIC_RETURN || op == Op::ATOMIC_POSTED { 4 } else { 16 };
        let mut asked = || possible(op, packet(op, BASE + 0x700, units, &mut writer.rng));
        let good = asked();
        let mut cases =
            vec![(good.clone(), "poisoned completions".to_owned(), Device { poison: true, ..Device::good() })];
        for status in [CplStatus::UR, CplStatus::CA, CplStatus::CRS] {
            cases.push((asked(), format!("completion {status:?}"), Device::of(status)));
        }
        if op != Op::READ {
            cases.push((NvlMessage { ep: true, ..good }, "poisoned".to_owned(), Device::good()));
        }
        for (asked, end, mut device) in cases {
            let what = format!("operation {}, {end}", op.0);
            writer.case(what, &[nvlink::message(asked)], &mut device);
        }
    }
}

/// FLUSH behind posted writes waits until their reads of no byte are completed, and tells of the first error once.
fn packet_flushes(writer: &mut CaseWriter) {
    for status in [CplStatus::SC, CplStatus::UR, CplStatus::CA] {
        let mut of = |op, address, count: u64| {
            let asked = packet(op, address, 4, &mut writer.rng);
            let is_flush = op == Op::FLUSH;
            let address = if is_flush { count << 4 } else { asked.address };
            nvlink::message(NvlMessage { address, size: if is_flush { 0 } else { asked.size }, ..asked })
        };
        let asked = [
            of(Op::WRITE_POSTED, BASE, 0),
            of(Op::WRITE_POSTED, BASE + 0x400, 0),
            of(Op::FLUSH, 0, 2),
            of(Op::FLUSH, 0, 2),
        ];
        writer.case(format!("two posted writes and two flushes: {status:?}"), &asked, &mut Device::of(status));
        writer.rounds(format!("the same together: {status:?}"), &[&asked], &mut Device::of(status));
    }
}
