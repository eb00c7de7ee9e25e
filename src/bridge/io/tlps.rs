//! TLPs of the requests of class IO (`bridge` §4.1, §4.3, §4.4).
//!
//! Modelled: one MRd for the DWs of a read; an MWr for each run of a write, and behind the last one a read of no byte of the last DW;
//! FetchAdd, Swap and CAS on one element of 32 or 64 bits. All in traffic class 0 without relaxed ordering. Left out: requester and tag,
//! which are given when they leave. A run ends where lines with poison meet lines without: MWr marks all of its bytes or none. A walk: a
//! read of 20 DWs with the byte enables of UPLI becomes one MRd of 20 DWs with these enables.

use super::exchange::NO_BYTE;
use super::runs::{self, BLOCK_DW};
use crate::atomics::{AtomicOperation, LineAtomic};
use crate::commands::AccessKind;
use crate::lines::{BLOCK_BYTES, TouchedLine};
use crate::outbound::request::{BridgeRequest, ReplyForm};
use scalepool_coherence::content::CacheLine;
use scalepool_endpoint::tlp::{Enables, Tlp, TlpAtomic, TlpKind};
use scalepool_memory::LINE_BYTES;
use scalepool_protocols::cxl::cxlio::DW_BYTES;

/// When a write of class IO is acknowledged (`bridge` §4.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum IoAck {
    /// When a read of no byte behind it is completed: it is visible then.
    #[default]
    Flush,
    /// When its last MWr has left for the link.
    Sent,
}

/// Byte enables of the DWs of a read; `None`: no read has them.
fn enables_of(request: &BridgeRequest) -> Option<Enables> {
    let dw = request.bytes as usize / DW_BYTES;
    let all = Enables::all(dw);
    let ReplyForm::Upli(req) = &request.reply else { return Some(all) };
    // Enables of the last DW are of no meaning where it is the first one.
    let (first, last) = (req.attr & 0xf, if dw == 1 { 0 } else { req.attr >> 4 });
    (dw == 1 || first != 0 && last != 0).then_some(Enables { first, last })
}

/// What is asked of a completer on one element.
fn atomic_of(atomic: &LineAtomic) -> Option<(TlpAtomic, usize, usize)> {
    let operation = match atomic.operation() {
        AtomicOperation::Add => TlpAtomic::FetchAdd,
        AtomicOperation::Swap => TlpAtomic::Swap,
        AtomicOperation::CompareSwap => TlpAtomic::CompareSwap,
        _ => return None,
    };
    let (at, size) = atomic.only_element()?;
    matches!(size, 4 | 8).then_some((operation, at, size))
}

/// Whether a request of legal form fits TLPs: the enables of a read, the operation of an atomic.
pub fn fits(request: &BridgeRequest) -> bool {
    match request.access {
        AccessKind::Read => enables_of(request).is_some(),
        AccessKind::Write => true,
        // One without an enabled byte sends nothing.
        AccessKind::Atomic if request.lines.iter().all(|line| line.mask == 0) => true,
        AccessKind::Atomic => request.atomic.as_ref().and_then(atomic_of).is_some(),
    }
}

/// The TLPs of a request to an address of CXL, in their order.
pub fn tlps(request: &BridgeRequest, address: u64, ack: IoAck) -> Vec<Tlp> {
    let tlp = |kind, data| Tlp::new(kind, 0, data);
    match request.access {
        AccessKind::Read => {
            let dw = request.bytes as usize / DW_BYTES;
            let enables = enables_of(request).unwrap_or(Enables::all(dw));
            vec![tlp(TlpKind::MemRead { address, dw, enables }, Vec::new())]
        }
        AccessKind::Atomic => {
            let atomic = request.atomic.as_ref().and_then(atomic_of).zip(request.data.first());
            let Some(((operation, at, size), operand)) = atomic else { return Vec::new() };
            // Operands of compare and swap stand at the begin of the beat.
            let from = if operation == TlpAtomic::CompareSwap { 0 } else { at };
            let data = operand.bytes[from..from + size * operation.operands()].to_vec();
            let address = address - address % LINE_BYTES + at as u64;
            vec![Tlp { poison: operand.poison, ..tlp(TlpKind::Atomic { operation, address }, data) }]
        }
        AccessKind::Write => writes(request, address - address % BLOCK_BYTES, ack),
    }
}

/// Line of the block in which a DW lies.
fn line_of(dw: usize) -> usize {
    dw * DW_BYTES / LINE_BYTES as usize
}

/// A line of a block, with what it is written with.
fn in_block(line: &TouchedLine) -> usize {
    (line.address % BLOCK_BYTES / LINE_BYTES) as usize
}

fn writes(request: &BridgeRequest, block: u64, ack: IoAck) -> Vec<Tlp> {
    let (mut bytes, mut enables) = ([0; BLOCK_BYTES as usize], [0u8; BLOCK_DW]);
    let mut poisoned = [false; (BLOCK_BYTES / LINE_BYTES) as usize];
    let none = CacheLine::of([0; 64]);
    for (n, line) in request.lines.iter().enumerate() {
        let (place, data) = (in_block(line), request.data.get(n).unwrap_or(&none));
        let first = place * LINE_BYTES as usize;
        bytes[first..first + LINE_BYTES as usize].copy_from_slice(&data.bytes);
        poisoned[place] = data.poison;
        for (n, enables) in enables[first / DW_BYTES..][..LINE_BYTES as usize / DW_BYTES].iter_mut().enumerate() {
            *enables = (line.mask >> (DW_BYTES * n) & 0xf) as u8;
        }
    }
    let is_cut = |dw: usize| dw > 0 && poisoned[line_of(dw)] != poisoned[line_of(dw - 1)];
    let runs = runs::runs(&enables, is_cut);
    let writes = runs.iter().map(|run| {
        let from = run.first_dw * DW_BYTES;
        let kind =
            TlpKind::MemWrite { address: block + from as u64, enables: Enables { first: run.first, last: run.last } };
        let data = bytes[from..from + run.dw * DW_BYTES].to_vec();
        Tlp { poison: poisoned[line_of(run.first_dw)], ..Tlp::new(kind, 0, data) }
    });
    let flush = runs.last().filter(|_| ack == IoAck::Flush).map(|run| {
        let address = block + ((run.first_dw + run.dw - 1) * DW_BYTES) as u64;
        Tlp::new(TlpKind::MemRead { address, dw: 1, enables: NO_BYTE }, 0, Vec::new())
    });
    writes.chain(flush).collect()
}
