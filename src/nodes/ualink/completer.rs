//! The completer of an accelerator: its memory behind the links.
//!
//! Modelled: requests take effect in the order in which they arrive on a port; real bytes, byte enables, poison; a latency.
//! Left out: banks, address translation. Atomics are those of [`atomics`](super::atomics); AtomicR gives back
//! the old values; which operations there are is up to the vendor, so these are ours \[D\].

use super::atomics::LineAtomic;
use super::read::{Read, lines_of};
use scalepool_memory::store::Store;
use scalepool_memory::{ALL_BYTES, LineBytes};
use scalepool_protocols::ualink::code::{RdWr, ReqCmd, Status};
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::field::{REGION_BYTES, TlReq, TlRsp};
use scalepool_protocols::ualink::half::Half;
use scalepool_protocols::ualink::halves::Halves;
use scalepool_protocols::ualink::unpack::Transfer;

/// Addresses of one accelerator. 54 bits are more than any scenario uses, and 10 bits of accelerators stand above them.
pub const ADDRESSES: u64 = (1 << 54) - 1;

/// Address of a byte of an accelerator's memory in a store that holds the memories of all: what tells them apart stands
/// above the 57 bits of an address.
pub fn global(accelerator: u16, address: u64) -> u64 {
    u64::from(accelerator) << 54 | address & ADDRESSES
}

/// The accelerator to whose memory such an address belongs.
pub fn owner(global: u64) -> u16 {
    (global >> 54) as u16
}

/// Beats of 64 bytes that a request touches.
fn beats(req: &TlReq) -> u64 {
    (req.address % 64 + 4 * (u64::from(req.len) + 1)).div_ceil(64)
}

/// Bytes of the beat at an address that a request writes.
fn enabled(req: &TlReq, enables: Option<&Half>, line_address: u64) -> u64 {
    let bytes_before = |address: u64| address.saturating_sub(line_address).min(64) as u32;
    let up_to = |address: u64| u64::MAX.checked_shr(64 - bytes_before(address)).unwrap_or(0);
    let inside = up_to(req.address + 4 * (u64::from(req.len) + 1)) & !up_to(req.address);
    let first = (line_address % REGION_BYTES / 8) as usize;
    inside & enables.map_or(ALL_BYTES, |half| u64::from_le_bytes(std::array::from_fn(|k| half[first + k])))
}

/// What a request does to a store, and what it reads.
pub fn apply(store: &mut Store, owner: u16, request: &Transfer) -> Read {
    let ControlField::Request(req) = &request.field else { return Read::nothing() };
    let base = req.address & !63;
    let at = |n: u64| global(owner, base + 64 * n);
    let is_message = req.cmd == ReqCmd::WriteMessage;
    if !req.cmd.is_atomic() && !is_message && !req.cmd.has_data() {
        return Read::of(store, at, beats(req));
    }
    let poison = |n: u64| request.poisoned >> n & 1 == 1;
    // Zeros where data are missing.
    let mut data = lines_of(&request.data).chain(std::iter::repeat([0; 64]));
    if !req.cmd.is_atomic() && !is_message {
        let line = |(n, line): (u64, LineBytes)| {
            let enabled = enabled(req, request.enables.as_deref(), base + 64 * n);
            (line, enabled, poison(n))
        };
        store.write_lines(at(0), (0..beats(req)).zip(data).map(line));
        return Read::nothing();
    }
    let mut read = Vec::new();
    for n in 0..beats(req) {
        if req.cmd.is_atomic() {
            let data = data.next().unwrap_or([0; 64]);
            let old = store.read_line(at(n));
            let place = base + 64 * n;
            let mask = enabled(req, request.enables.as_deref(), place);
            // One that there is not on these bytes changes nothing.
            let atomic = LineAtomic::of(req.attr, enabled(req, None, place), mask);
            let (new, answer) = atomic.map_or((old.data, [0; 64]), |atomic| atomic.apply(&old.data, &data));
            store.write_line(at(n), &new, ALL_BYTES, old.poison || poison(n));
            if req.cmd == ReqCmd::AtomicR {
                read.push((answer, old.poison));
            }
        } else {
            // It says something, and writes nothing; that of type 2 is answered where reads are (`ualink` §12).
            read.extend((req.metadata == 2).then_some(([0; 64], false)));
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

/// An answer that waits for its time, in 24 bytes: there may be hundreds of them at each of a thousand accelerators.
#[derive(Debug, Clone)]
pub struct UalDelayedAnswer {
    /// What it carries; nothing: it answers a write.
    data: Halves,
    poisoned: u8,
    dst: u16,
    tag: u16,
    vchan: u8,
    /// The first of its beats that this answer carries.
    first: u8,
}

impl UalDelayedAnswer {
    /// The accelerator that has asked, and the tag of its request.
    pub fn asked_by(&self) -> (u16, u16) {
        (self.dst, self.tag)
    }

    /// Whether it ends its request: beats by themselves go last one first.
    pub fn is_last(&self) -> bool {
        self.first == 0
    }

    /// The answer as it leaves an accelerator.
    pub fn transfer(self, own: u16) -> Transfer {
        let last = self.is_last();
        let UalDelayedAnswer { data, poisoned, dst, tag, vchan, first } = self;
        let rsp = TlRsp { dst, src: own, tag, vchan, status: Status::OKAY, ..TlRsp::default() };
        if data.is_empty() {
            return Transfer::new(ControlField::Response(TlRsp { rdwr: RdWr::Write, ..rsp }));
        }
        // A request reads 256 bytes at most.
        let len = (data.len() / 2 - 1) as u8;
        let rsp = TlRsp { rdwr: RdWr::Read, last, offset: first, len, ..rsp };
        Transfer { data, poisoned, ..Transfer::new(ControlField::Response(rsp)) }
    }
}

/// The answers to a request that has read this.
pub fn answers(read: Read, req: &TlReq, responses: Responses) -> impl Iterator<Item = UalDelayedAnswer> + use<> {
    let TlReq { src: dst, tag, vchan, .. } = *req;
    let count = match responses {
        Responses::Single => read.beats().max(1),
        Responses::Multi => 1,
    };
    let each = read.beats() / count;
    (0..count).rev().map(move |n| {
        let Read { data, poisoned } = read.part(n * each, each);
        UalDelayedAnswer { data, poisoned, dst, tag, vchan, first: n * each }
    })
}
