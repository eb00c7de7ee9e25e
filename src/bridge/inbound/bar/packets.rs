//! Accesses to bytes of a block as NVLink spells them, model profile NVL-M1 (`bridge` §3.5, §5.3, §5.4). Basis: model.
//!
//! Modelled: READ, WRITE_NONPOSTED with or without a BE flit, ATOMIC_RETURN of one element, all of whole units of 16 bytes; answers, whose
//! units are put back into their lines. Left out: who is asked over which link, see [`nvlink`](crate::inbound::nvlink). A walk through a
//! read of bytes 0x58 to 0x67: READ of two units from 0x50 on; RSP_DATA of 32 bytes are bytes 16 to 31 of a line and 0 to 15 of the next one.

use super::access::{BlockAccess, BlockOperation};
use scalepool_coherence::content::CacheLine;
use scalepool_endpoint::tlp::TlpAtomic;
use scalepool_link::nvlink::NvlMessage;
use scalepool_memory::LINE_BYTES;
use scalepool_nodes::nvlink::link_group::global;
use scalepool_protocols::nvlink::{NvlConfig, Op};

/// Bytes of a unit.
const UNIT_BYTES: usize = 16;

/// Attributes of an atomic: operation, and element of 8 or 4 bytes (`bridge` §4.2, §4.4).
fn attributes(operation: TlpAtomic, size: usize) -> u8 {
    let code = match operation {
        TlpAtomic::FetchAdd => 0,
        TlpAtomic::Swap => 1,
        TlpAtomic::CompareSwap => 2,
    };
    code | u8::from(size == 8) << 4
}

/// Byte enables as a number, bit i for byte i.
fn number(enabled: impl Iterator<Item = bool>) -> u128 {
    enabled.take(128).enumerate().fold(0, |all, (n, is)| all | u128::from(is) << n)
}

/// The message of an access; `own` is who asks.
pub fn spelled(own: u16, tag: u16, access: &BlockAccess, codec: &NvlConfig) -> NvlMessage {
    let BlockAccess { target, bytes, operation, .. } = *access;
    let address = global(target, access.address);
    let of = |op| NvlMessage { rid: own, tag, address, ep: access.poison, ..NvlMessage::new(op, codec) };
    match operation {
        BlockOperation::Read => NvlMessage { size: (bytes / UNIT_BYTES - 1) as u8, ..of(Op::READ) },
        BlockOperation::Write => {
            let be = access.enables.as_ref().map(|enables| number(enables.iter().copied()));
            NvlMessage { be, data: access.data.clone(), ..of(Op::WRITE_NONPOSTED) }
        }
        BlockOperation::Atomic { operation, at, size } => {
            let mut data = vec![0; bytes];
            let from = if operation == TlpAtomic::CompareSwap { 0 } else { at };
            data[from..from + access.data.len()].copy_from_slice(&access.data);
            let be = Some(number((0..bytes).map(|byte| (at..at + size).contains(&byte))));
            NvlMessage { be, data, attr: attributes(operation, size), ..of(Op::ATOMIC_RETURN) }
        }
    }
}

/// The lines in which the bytes of an answer lie that begins at this address; bytes around them are zeros.
///
/// # Errors
/// Another number of bytes than the access has.
pub fn lines_of(address: u64, bytes: usize, message: &NvlMessage) -> Result<Vec<CacheLine>, String> {
    if message.data.len() != bytes {
        return Err(format!("{} bytes", message.data.len()));
    }
    let from = (address % LINE_BYTES) as usize;
    let mut all = vec![0; (from + bytes).next_multiple_of(LINE_BYTES as usize)];
    all[from..from + bytes].copy_from_slice(&message.data);
    let (lines, _) = all.as_chunks();
    Ok(lines.iter().map(|bytes| CacheLine { bytes: *bytes, poison: message.ep }).collect())
}
