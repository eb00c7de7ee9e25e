//! The completer of an accelerator: its memory behind the links.
//!
//! Modelled: requests take effect in the order in which they arrive on a port; real bytes, byte enables, poison; a latency.
//! Left out: banks, address translation. An atomic adds its operand to a little-endian number of 64 bits and gives back
//! the old one; which operations there are is up to the vendor, so this one is ours \[D\].

use super::read::Read;
use scalepool_memory::store::Store;
use scalepool_memory::{ALL_BYTES, Line};
use scalepool_protocols::ualink::code::{RdWr, ReqCmd, Status};
use scalepool_protocols::ualink::control::Field;
use scalepool_protocols::ualink::field::{REGION_BYTES, TlReq, TlRsp};
use scalepool_protocols::ualink::half::Half;
use scalepool_protocols::ualink::pack::with_data;
use scalepool_protocols::ualink::unpack::Transfer;
use std::ops::Range;

/// Address of a byte of an accelerator's memory in a store that holds the memories of all: what tells them apart stands
/// above the 57 bits of an address.
pub fn global(accelerator: u16, address: u64) -> u64 {
    // 54 bits of addresses are more than any scenario uses, and 10 bits of accelerators stand above them.
    u64::from(accelerator) << 54 | address & ((1 << 54) - 1)
}

/// Beats of 64 bytes that a request touches.
fn beats(req: &TlReq) -> u64 {
    (req.address % 64 + 4 * (u64::from(req.len) + 1)).div_ceil(64)
}

/// A beat of a transfer.
fn beat(data: &[Half], n: usize) -> Line {
    std::array::from_fn(|k| data.get(2 * n + k / 32).map_or(0, |half| half[k % 32]))
}

/// Beats of a transfer.
pub fn lines(transfer: &Transfer) -> impl Iterator<Item = Line> + '_ {
    (0..transfer.data.len() / 2).map(|n| beat(&transfer.data, n))
}

/// Bytes of the beat at an address that a request writes.
fn enabled(req: &TlReq, enables: Option<&Half>, line_address: u64) -> u64 {
    let (first, end) = (req.address, req.address + 4 * (u64::from(req.len) + 1));
    (0..64).filter(|k| (first..end).contains(&(line_address + k))).fold(0, |mask, k| {
        let bit = (line_address % REGION_BYTES + k) as usize;
        let on = enables.is_none_or(|half| half[bit / 8] >> (bit % 8) & 1 == 1);
        mask | u64::from(on) << k
    })
}

/// What a request does to a store, and what it reads. Used by the completer for what it has, and by the originator for what
/// it expects.
pub fn apply(store: &mut Store, owner: u16, request: &Transfer) -> Read {
    let Field::Request(req) = &request.field else { return Vec::new().into() };
    let base = req.address & !63;
    let at = |n: u64| global(owner, base + 64 * n);
    let is_message = req.cmd == ReqCmd::WriteMessage;
    if !req.cmd.is_atomic() && !is_message && !req.cmd.has_data() {
        return Read::of(store, at, beats(req));
    }
    let mut read = Vec::new();
    for n in 0..beats(req) {
        let (address, poison) = (base + 64 * n, request.poisoned >> n & 1 == 1);
        let data = beat(&request.data, n as usize);
        if req.cmd.is_atomic() {
            let old = store.read_line(at(n));
            let byte = (req.address % 64) as usize & !7;
            let word = |line: &Line| u64::from_le_bytes(std::array::from_fn(|k| line[byte + k]));
            let mut new = old.data;
            new[byte..byte + 8].copy_from_slice(&word(&old.data).wrapping_add(word(&data)).to_le_bytes());
            store.write_line(at(n), &new, ALL_BYTES, old.poison || poison);
            if req.cmd == ReqCmd::AtomicR {
                let mut answer = [0; 64];
                answer[byte..byte + 8].copy_from_slice(&old.data[byte..byte + 8]);
                read.push((answer, old.poison));
            }
        } else if is_message {
            // It says something, and writes nothing; that of type 2 is answered where reads are (`ualink` §12).
            read.extend((req.metadata == 2).then_some(([0; 64], false)));
        } else {
            store.write_line(at(n), &data, enabled(req, request.enables.as_deref(), address), poison);
        }
    }
    read.into()
}

/// How a read of several beats is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Responses {
    /// All beats at once.
    Multi,
    /// Each beat by itself, the last one first; `Last` stands on the one that ends it.
    Single,
}

/// An answer that waits for its time.
#[derive(Debug, Clone)]
pub struct Answer {
    rsp: TlRsp,
    read: Read,
    /// Those of its beats that this answer carries.
    beats: Range<u8>,
}

impl Answer {
    /// The answer as it leaves.
    pub fn transfer(&self) -> Transfer {
        let beats: Vec<_> = self.beats.clone().filter_map(|n| self.read.beat(n.into())).collect();
        let poisoned = beats.iter().enumerate().fold(0, |bits, (n, (_, poison))| bits | u8::from(*poison) << n);
        let data: Vec<Line> = beats.iter().map(|(line, _)| *line).collect();
        Transfer { poisoned, ..with_data(Field::Response(self.rsp), &data, None) }
    }
}

/// The answers to a request.
pub fn answers(store: &mut Store, own: u16, request: &Transfer, responses: Responses) -> Vec<Answer> {
    let Field::Request(req) = &request.field else { return Vec::new() };
    let read = apply(store, own, request);
    let rsp =
        TlRsp { dst: req.src, src: own, tag: req.tag, vchan: req.vchan, status: Status::OKAY, ..TlRsp::default() };
    // Of a request of at most 256 bytes.
    let beats = read.beats() as u8;
    if beats == 0 {
        return vec![Answer { rsp: TlRsp { rdwr: RdWr::Write, ..rsp }, read, beats: 0..0 }];
    }
    let rsp = TlRsp { rdwr: RdWr::Read, last: true, ..rsp };
    match responses {
        Responses::Multi => vec![Answer { rsp: TlRsp { len: beats - 1, ..rsp }, read, beats: 0..beats }],
        Responses::Single => {
            let single = |n: u8| TlRsp { offset: n, last: n == 0, ..rsp };
            (0..beats).rev().map(|n| Answer { rsp: single(n), read: read.clone(), beats: n..n + 1 }).collect()
        }
    }
}
