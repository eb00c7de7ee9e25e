//! Requests and responses of NVLink, model profile NVL-M1 (`bridge` §3.1, §3.2, §4.3, §4.4). Basis: model.
//!
//! Modelled: the table of operations; reads and writes in units of 16 bytes inside a block of 256, byte enables by payload, atomics with
//! their operation in the attributes, FLUSH, poison of whole packets. Left out: links; what a switch alone understands is refused.
//!
//! A walk: WRITE_POSTED of 48 bytes with a BE flit becomes a request of one line whose mask is that of its enables; nobody is answered. A
//! READ of 128 bytes is answered by one RSP_DATA of 128 bytes, marked if one of its lines is poisoned.

use super::request::{BridgeRequest, BridgeResponse, FlushCover, PostedRole, ReplyForm};
use crate::atomics::LineAtomic;
use crate::commands::{AccessKind, CommandAction};
use crate::lines::{self, BLOCK_BYTES, BLOCK_LINES};
use scalepool_coherence::content::CacheLine;
use scalepool_link::nvlink::NvlMessage;
use scalepool_nodes::nvlink::link_group::local;
use scalepool_protocols::nvlink::{NvlConfig, Op};
use scalepool_protocols::ualink::code::Status;

/// Bytes of a unit of sizes.
const UNIT_BYTES: u64 = 16;
/// Bytes of a line.
const LINE_BYTES: u64 = 64;

/// What becomes of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OperationRow {
    /// What is done.
    pub action: CommandAction,
    /// What it does to lines.
    pub access: AccessKind,
    /// Its response if all is well; `None`: it is posted.
    pub response: Option<Op>,
}

/// An operation and its row.
type OperationTableRow = (Op, CommandAction, AccessKind, Option<Op>);

/// Operations that are accepted, and those that are refused with an answer.
const ROWS: [OperationTableRow; 7] = {
    use AccessKind::{Atomic, Read, Write};
    use CommandAction::{Flush, Lines, Refused};
    [
        (Op::READ, Lines, Read, Some(Op::RSP_DATA)),
        (Op::WRITE_POSTED, Lines, Write, None),
        (Op::WRITE_NONPOSTED, Lines, Write, Some(Op::RSP_DONE)),
        (Op::ATOMIC_RETURN, Lines, Atomic, Some(Op::RSP_DATA)),
        (Op::ATOMIC_POSTED, Lines, Atomic, None),
        (Op::FLUSH, Flush, Read, Some(Op::RSP_DONE)),
        (Op::REDUCE_READ, Refused, Read, Some(Op::RSP_ERROR)),
    ]
};

/// The row of an operation; `None`: it is dropped, and the event is counted.
pub fn operation_row(op: Op) -> Option<OperationRow> {
    let row = ROWS.iter().find(|row| row.0 == op)?;
    Some(OperationRow { action: row.1, access: row.2, response: row.3 })
}

/// Byte enables of a block out of those of a payload that begins at a byte of it.
fn by_line(enables: u128, first: u64) -> [u64; BLOCK_LINES] {
    let bit = |byte: u64| byte.checked_sub(first).is_some_and(|n| n < 128 && enables >> n & 1 == 1);
    let line = |n: u64| (0..LINE_BYTES).fold(0, |bits, byte| bits | u64::from(bit(LINE_BYTES * n + byte)) << byte);
    std::array::from_fn(|n| line(n as u64))
}

/// Attributes of UPLI for those of NVLink: operation in bits 7:4, size in bits 3:2 (`bridge` §4.3, §4.4).
fn upli_attributes(attributes: u8) -> u8 {
    (attributes & 0xf) << 4 | (attributes >> 4 & 3) << 2
}

/// Attributes of NVLink for those of UPLI.
pub(crate) fn nvlink_attributes(attributes: u8) -> u8 {
    attributes >> 4 | (attributes >> 2 & 3) << 4
}

/// Code of compare and swap, whose operands stand at the beginning of the payload (`bridge` §4.4).
const CAS: u8 = 2;

/// The data of each line: byte i of the payload is byte i behind the first address. Operands of compare and swap are not moved.
fn data(message: &NvlMessage, address: u64, touched: &[lines::TouchedLine], is_swap: bool) -> Vec<CacheLine> {
    let line = |line: &lines::TouchedLine| {
        let first = if is_swap { line.address } else { address };
        let byte = |k: u64| {
            let at = (line.address + k).checked_sub(first);
            at.and_then(|at| message.data.get(at as usize)).copied().unwrap_or(0)
        };
        CacheLine { bytes: std::array::from_fn(|k| byte(k as u64)), poison: message.ep }
    };
    touched.iter().map(line).collect()
}

/// Buffers of 64 bytes that the data of a message take.
pub fn buffers(message: &NvlMessage) -> usize {
    let bytes = message.data.len() as u64;
    if bytes == 0 { 0 } else { lines::touched(local(message.address), bytes, None).count() }
}

/// Address of the first byte of a message; `None`: it has none, or is dropped.
pub fn place(message: &NvlMessage) -> Option<u64> {
    let row = operation_row(message.op)?;
    (row.action != CommandAction::Flush).then(|| local(message.address))
}

/// The request of a message that came over a link; `None`: it is dropped.
pub fn asked(message: &NvlMessage, link: usize) -> Option<BridgeRequest> {
    let row = operation_row(message.op)?;
    let address = local(message.address);
    let is_flush = row.action == CommandAction::Flush;
    let has_data = message.op.has_data() == Some(true);
    let bytes = if has_data { message.data.len() as u64 } else { UNIT_BYTES * (u64::from(message.size) + 1) };
    let is_atomic = row.access == AccessKind::Atomic;
    let enables = message.be.map(|enables| by_line(enables, address % BLOCK_BYTES));
    let enables = enables.filter(|_| row.access != AccessKind::Read);
    let touched: Vec<_> = match is_flush {
        true => Vec::new(),
        false => lines::touched(address, bytes, enables.as_ref()).collect(),
    };
    let is_swap = is_atomic && message.attr & 0xf == CAS;
    let atomic = touched.first().filter(|_| is_atomic && message.be.is_some());
    let atomic = atomic.and_then(|line| LineAtomic::of(upli_attributes(message.attr), line.covered, line.mask));
    let is_one = !is_atomic || touched.len() == 1 && atomic.is_some();
    let data = if has_data { data(message, address, &touched, is_swap) } else { Vec::new() };
    let posted = match row.response {
        None => PostedRole::Posted { link },
        Some(_) if is_flush => PostedRole::Flush(match address / UNIT_BYTES {
            0 => FlushCover::Arrived,
            count => FlushCover::Counted { link, count },
        }),
        Some(_) => PostedRole::Answered,
    };
    Some(BridgeRequest {
        source: message.rid,
        class: u8::from(row.response.is_none()),
        traffic_class: 0,
        address,
        bytes,
        action: row.action,
        access: row.access,
        is_legal: !lines::crosses(address, bytes) && is_one && bytes > 0 && address.is_multiple_of(UNIT_BYTES),
        ignored: if is_flush { 0 } else { lines::ignored(address, bytes, enables.as_ref()) },
        buffers: buffers(message),
        lines: touched,
        data,
        atomic,
        posted,
        reply: ReplyForm::Nvlink(message.op, message.tag),
    })
}

/// The answer to a request; `None`: it is posted, or none of NVLink.
pub fn answered(response: &BridgeResponse<'_>, codec: &NvlConfig) -> Option<NvlMessage> {
    let BridgeResponse { request, status, lines, .. } = response;
    let ReplyForm::Nvlink(op, tag) = request.reply else { return None };
    let kind = operation_row(op)?.response?;
    let of = |op| NvlMessage { tag, rid: request.source, ..NvlMessage::new(op, codec) };
    if *status != Status::OKAY {
        return Some(NvlMessage { size: status.0, ..of(Op::RSP_ERROR) });
    }
    if kind != Op::RSP_DATA {
        return Some(of(kind));
    }
    let first = (request.address % LINE_BYTES) as usize;
    let all = lines.iter().flat_map(|line| line.bytes);
    let data = all.skip(first).take(request.bytes as usize).collect();
    Some(NvlMessage { ep: lines.iter().any(|line| line.poison), data, ..of(Op::RSP_DATA) })
}
