//! Accesses to bytes of a block as UALink spells them (`bridge` §5.3, §5.4).
//!
//! Modelled: Read, WriteFull of whole lines, Write with byte enables, AtomicR of one element. Left out: who is asked over which port, see
//! [`ualink`](crate::inbound::ualink). A walk through a FetchAdd of 32 bits at byte 8: AtomicR of one DWord there, operation 0, with the
//! enables of its 4 bytes; the operand stands at byte 8 of the beat.

use super::access::{BlockAccess, BlockOperation};
use crate::atomics::{AtomicOperation, OPERATIONS};
use crate::lines::BLOCK_BYTES;
use scalepool_endpoint::tlp::TlpAtomic;
use scalepool_memory::{LINE_BYTES, LineBytes};
use scalepool_protocols::cxl::cxlio::DW_BYTES;
use scalepool_protocols::ualink::code::{AtomicSize, ReqCmd};
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::field::TlReq;
use scalepool_protocols::ualink::half::Half;
use scalepool_protocols::ualink::pack::with_data;
use scalepool_protocols::ualink::unpack::Transfer;

/// Attributes of an AtomicR: operation and size of the element.
fn attributes(operation: TlpAtomic, size: usize) -> u8 {
    let of = match operation {
        TlpAtomic::FetchAdd => AtomicOperation::Add,
        TlpAtomic::Swap => AtomicOperation::Swap,
        TlpAtomic::CompareSwap => AtomicOperation::CompareSwap,
    };
    let code = OPERATIONS.iter().position(|other| *other == of).unwrap_or(0) as u8;
    let size = if size == 8 { AtomicSize::Bits64 } else { AtomicSize::Bits32 };
    (code & 0xf) << 4 | code >> 4 | size.0 << 2
}

/// The request of an access; `own` is who asks.
pub fn spelled(own: u16, tag: u16, access: &BlockAccess) -> Transfer {
    let BlockAccess { target, address, bytes, operation, vchan, .. } = *access;
    let req =
        TlReq { src: own, dst: target, tag, vchan, address, len: (bytes / DW_BYTES - 1) as u8, ..TlReq::default() };
    let line = address / LINE_BYTES * LINE_BYTES;
    let lines = (address + bytes as u64).div_ceil(LINE_BYTES) - address / LINE_BYTES;
    let in_lines = (address - line) as usize;
    let in_block = (address % BLOCK_BYTES) as usize;
    let mut beats = vec![[0; LINE_BYTES as usize]; lines as usize];
    let place = |beats: &mut Vec<LineBytes>, from: usize, bytes: &[u8]| {
        beats.as_flattened_mut()[from..from + bytes.len()].copy_from_slice(bytes);
    };
    let (cmd, attr, enabled) = match operation {
        // Every byte of a read is enabled (`ualink` §12).
        BlockOperation::Read => {
            return Transfer::new(ControlField::Request(TlReq { cmd: ReqCmd::Read, attr: 0xff, ..req }));
        }
        BlockOperation::Write => {
            place(&mut beats, in_lines, &access.data);
            let is_whole = access.enables.is_none() && in_lines == 0 && bytes as u64 == lines * LINE_BYTES;
            let enabled = access.enables.clone().unwrap_or_else(|| vec![true; bytes]);
            (if is_whole { ReqCmd::WriteFull } else { ReqCmd::Write }, 0, (!is_whole).then_some(enabled))
        }
        BlockOperation::Atomic { operation, at, size } => {
            // The operands of compare and swap stand at the beginning of the beat, wherever the element is (`bridge` §4.2).
            let from = if operation == TlpAtomic::CompareSwap { 0 } else { in_lines + at };
            place(&mut beats, from, &access.data);
            let enabled = (0..bytes).map(|byte| (at..at + size).contains(&byte)).collect();
            (ReqCmd::AtomicR, attributes(operation, size), Some(enabled))
        }
    };
    let enables = enabled.map(|enabled: Vec<bool>| {
        let mut half: Half = [0; (BLOCK_BYTES / 8) as usize];
        for byte in (0..bytes).filter(|byte| enabled[*byte]) {
            half[(in_block + byte) / 8] |= 1 << ((in_block + byte) % 8);
        }
        half
    });
    let req = TlReq { cmd, attr, numbeats: (lines - 1) as u8, ..req };
    let poisoned = if access.poison { (1 << lines) - 1 } else { 0 };
    Transfer { address: address.into(), poisoned, ..with_data(ControlField::Request(req), &beats, enables) }
}
