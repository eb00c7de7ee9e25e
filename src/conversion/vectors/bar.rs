//! Cases from CXL.io to memory of accelerators behind a BAR, windows of class BR (`bridge` §3.5, §5.3, §5.4, §6.4, §8.2, §8.3).
//!
//! Modelled: reads and writes of every shape, over blocks and out of the window, atomics of every operation and size at every place of a
//! unit, rights, every status of an accelerator, poison both ways, writes that wait for each other with and without relaxed ordering.
//! A walk: a read of 300 bytes is two Reads; each brings the completion of its block.

use super::peer::PeerAccelerator;
use super::{CaseWriter, ConversionVectors};
use crate::message::BridgeMessage;
use scalepool_endpoint::tlp::{Enables, Tlp, TlpAtomic, TlpKind};
use serde_json::json;

/// Bytes of the window, which begins at byte 0 of the BAR.
const WINDOW_BYTES: u64 = 16 << 20;
/// Requesters whose group may read alone, write alone, and do both but no atomics.
const LIMITED: [u16; 3] = [4, 5, 6];
/// Relaxed ordering (`cxl-io` §1).
const RELAXED: u8 = 2;

pub(super) fn files() -> Vec<ConversionVectors> {
    let of = |name, about, protocol| {
        let config = json!({
            "protocol": protocol, "direction": "inbound", "own": super::ualink::OWN,
            "windows": [{
                "class": "BR", "base": 0, "size": WINDOW_BYTES, "out_base": "0x100000000",
                "targets": [3, 1], "granule": 512, "rights": { "1": "r", "2": "w", "3": "rw" },
            }],
            "groups": { "4": 1, "5": 2, "6": 3 },
            "entries": 64,
        });
        let mut writer = CaseWriter::new(name, about, config);
        reads(&mut writer);
        writes(&mut writer);
        atomics(&mut writer);
        ends(&mut writer);
        order(&mut writer);
        writer.vectors
    };
    vec![
        of("cxl_io_to_ualink_br", "CXL.io to UALink behind a BAR, a window of class BR", "ualink"),
        of("cxl_io_to_nvlink_br", "CXL.io to NVLink (model) behind a BAR, a window of class BR", "nvlink"),
    ]
}

/// First byte and bytes.
const EXTENTS: [(u64, usize); 16] = [
    (0, 4),
    (0, 256),
    (0, 1024),
    (3, 1),
    (0x0e, 3),
    (0x3d, 6),
    (0x58, 16),
    (0x7c, 8),
    (0xfc, 8),
    (1, 255),
    (0x80, 128),
    (0x101, 510),
    (0x1fe, 4),
    (0xff0, 16),
    (WINDOW_BYTES - 300, 300),
    (WINDOW_BYTES - 4, 8),
];

impl CaseWriter {
    fn tag(&mut self) -> u16 {
        self.rng.below(1 << 10) as u16
    }

    fn bar_read(&mut self, requester: u16, at: u64, bytes: usize) -> BridgeMessage {
        let (enables, dw) = Enables::span(at, bytes);
        let kind = TlpKind::MemRead { address: at & !3, dw, enables };
        BridgeMessage::Tlp(Box::new(Tlp { tag: self.tag(), ..Tlp::new(kind, requester, Vec::new()) }))
    }

    fn bar_write(&mut self, requester: u16, at: u64, bytes: usize) -> Tlp {
        let (enables, dw) = Enables::span(at, bytes);
        let mut data = vec![0; 4 * dw];
        self.rng.fill_bytes(&mut data);
        Tlp::new(TlpKind::MemWrite { address: at & !3, enables }, requester, data)
    }

    fn bar_atomic(&mut self, requester: u16, operation: TlpAtomic, at: u64, size: usize) -> Tlp {
        let mut data = vec![0; size * operation.operands()];
        self.rng.fill_bytes(&mut data);
        let kind = TlpKind::Atomic { operation, address: at };
        Tlp { tag: self.tag(), ..Tlp::new(kind, requester, data) }
    }
}

fn boxed(tlp: Tlp) -> BridgeMessage {
    BridgeMessage::Tlp(Box::new(tlp))
}

fn reads(writer: &mut CaseWriter) {
    for (at, bytes) in EXTENTS {
        let read = writer.bar_read(0, at, bytes);
        writer.case(format!("read of {bytes} bytes at {at:#x}"), &[read], &mut PeerAccelerator::with_status(0));
    }
    // A request of several DWs has bytes of its first and of its last one (`cxl-io` §1.2).
    for (first, dw, last) in shapes(&[0xf, 0x6, 0x1]) {
        let kind = TlpKind::MemRead { address: 0x240, dw, enables: Enables { first, last } };
        let read = Tlp { tag: writer.tag(), ..Tlp::new(kind, 0, Vec::new()) };
        let what = format!("read of {dw} DW, byte enables {first:#x} and {last:#x}");
        writer.case(what, &[boxed(read)], &mut PeerAccelerator::with_status(0));
    }
}

/// Byte enables of one DW, and of two with these of the last one.
fn shapes(lasts: &[u8]) -> impl Iterator<Item = (u8, usize, u8)> {
    let one = (0..16).map(|first| (first, 1, 0));
    one.chain(lasts.iter().flat_map(|last| (1..16).map(move |first| (first, 2, *last))))
}

fn writes(writer: &mut CaseWriter) {
    for (at, bytes) in EXTENTS {
        for (name, poison) in [("write", false), ("poisoned write", true)] {
            let write = Tlp { poison, ..writer.bar_write(0, at, bytes) };
            let read = writer.bar_read(0, at & !255, 512);
            let what = format!("{name} of {bytes} bytes at {at:#x}, and a read of two blocks");
            writer.case(what, &[boxed(write), read], &mut PeerAccelerator::with_status(0));
        }
    }
    for (first, dw, last) in shapes(&[0x7, 0xf]) {
        let mut data = vec![0; 4 * dw];
        writer.rng.fill_bytes(&mut data);
        let kind = TlpKind::MemWrite { address: 0x3c, enables: Enables { first, last } };
        let what = format!("write of {dw} DW, byte enables {first:#x} and {last:#x}");
        writer.case(what, &[boxed(Tlp::new(kind, 0, data))], &mut PeerAccelerator::with_status(0));
    }
}

fn atomics(writer: &mut CaseWriter) {
    for (operation, sizes) in
        [(TlpAtomic::FetchAdd, &[4usize, 8][..]), (TlpAtomic::Swap, &[4, 8]), (TlpAtomic::CompareSwap, &[4, 8, 16])]
    {
        for size in sizes {
            for at in [0x40, 0x44, 0x48, 0x4c, 0x7c, 0x1f8] {
                let atomic = writer.bar_atomic(0, operation, at, *size);
                let read = writer.bar_read(0, at & !63, 64);
                let what = format!("{operation:?} of {size} bytes at {at:#x}, and a read of the line");
                writer.case(what, &[boxed(atomic), read], &mut PeerAccelerator::with_status(0));
            }
        }
    }
}

/// Rights, and every status of an accelerator.
fn ends(writer: &mut CaseWriter) {
    for requester in LIMITED {
        let read = writer.bar_read(requester, 0x300, 8);
        let write = boxed(writer.bar_write(requester, 0x300, 8));
        let atomic = boxed(writer.bar_atomic(requester, TlpAtomic::FetchAdd, 0x300, 8));
        for request in [read, write, atomic] {
            writer.case(format!("requester {requester}"), &[request], &mut PeerAccelerator::with_status(0));
        }
    }
    for status in 0..16 {
        let read = writer.bar_read(0, 0x1f0, 300);
        let write = boxed(writer.bar_write(0, 0x1f0, 300));
        let atomic = boxed(writer.bar_atomic(0, TlpAtomic::Swap, 0x208, 8));
        for request in [read, write, atomic] {
            writer.case(format!("status {status}"), &[request], &mut PeerAccelerator::with_status(status));
        }
    }
    let read = writer.bar_read(0, 0x30, 100);
    writer.case("what is read is poisoned", &[read], &mut PeerAccelerator::poisoned());
}

/// Requests that come together: who waits for whom.
fn order(writer: &mut CaseWriter) {
    for (second, relaxed) in [(0x40, false), (0x1000, false), (0x40, true), (0x1000, true)] {
        let first = boxed(writer.bar_write(0, 0, 16));
        let attr = if relaxed { RELAXED } else { 0 };
        let next = boxed(Tlp { attr, ..writer.bar_write(0, second, 16) });
        let read = writer.bar_read(0, second, 16);
        let relaxed = if relaxed { ", relaxed" } else { "" };
        let what = format!("two writes, the second one at {second:#x}{relaxed}, and a read of it");
        writer.rounds(what, &[&[first, next, read]], &mut PeerAccelerator::with_status(0));
    }
    let write = boxed(writer.bar_write(0, 0, 16));
    let other = writer.bar_read(7, 0x100, 16);
    writer.rounds("a write, and a read of another requester", &[&[write, other]], &mut PeerAccelerator::with_status(0));
}
