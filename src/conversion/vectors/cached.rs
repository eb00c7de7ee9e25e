//! Cases from UALink and NVLink to CXL with a cache of lines (`bridge` §9.4): every operation in every state of a sector.

use super::peer::{Memory, MemoryMood, PeerAccelerator};
use super::ualink::{Asked, BASE, config};
use super::{CaseWriter, ConversionVectors};
use super::{inbound, nvlink};
use crate::message::BridgeMessage;
use scalepool_bridge::flows::LineOperation;
use scalepool_kernel::Rng;
use scalepool_link::nvlink::NvlMessage;
use scalepool_protocols::cxl::cxl256::code::NdrOpcode;
use scalepool_protocols::nvlink::Op;
use scalepool_protocols::ualink::code::ReqCmd;

pub(super) fn files() -> Vec<ConversionVectors> {
    let of = |name, about, protocol, class| {
        let mut config = config(protocol, class);
        // Two sets of one way, so that a second block of a set drives out the first one.
        config["cache"] = serde_json::json!({ "capacity_bytes": 512, "ways": 1, "stream_blocks": 0 });
        let mut writer = CaseWriter::new(name, about, config);
        states(&mut writer, if protocol == "nvlink" { packet } else { upli });
        writer.vectors
    };
    let coherent = "to CXL.mem with a cache of lines, windows of class MC";
    let plain = "to CXL.mem with a cache of lines, windows of class MN";
    vec![
        of("ualink_cached_mc", format!("UALink {coherent}"), "ualink", "MC"),
        of("ualink_cached_mn", format!("UALink {plain}"), "ualink", "MN"),
        of("nvlink_cached_mc", format!("NVLink (model) {coherent}"), "nvlink", "MC"),
        of("nvlink_cached_mn", format!("NVLink (model) {plain}"), "nvlink", "MN"),
        of_memory(
            "cxl_to_ualink_nh_cached",
            "CXL.mem to UALink with a cache in front of it, a window of class NH",
            "ualink",
        ),
        of_memory("cxl_to_nvlink_nh_cached", "CXL.mem to NVLink (model) with a cache, a window of class NH", "nvlink"),
    ]
}

/// Makes a request for the line at an address.
type LineRequest = fn(&mut CaseWriter, u64) -> BridgeMessage;

/// The cache in front of the memory of accelerators (`inbound_cache`), whose dirty lines leave one after the other under the tag of who needs
/// their room: three messages to one line, and one that drives it out.
fn of_memory(name: &'static str, about: &str, protocol: &str) -> ConversionVectors {
    let mut config = inbound::config(protocol);
    config["cache"] = serde_json::json!({ "capacity_bytes": 512, "ways": 1 });
    let mut writer = CaseWriter::new(name, about, config);
    let ops: [(&str, LineRequest); 4] = [
        ("read", |writer, at| writer.read(at)),
        ("write full", |writer, at| writer.write(at, u64::MAX)),
        ("write part", |writer, at| writer.write(at, 0xff0f)),
        ("poisoned write", |writer, at| writer.write_poisoned(at)),
    ];
    let line = inbound::FROM + 0x2040;
    for (first, a) in ops {
        for (second, b) in ops {
            for (name, is_poisoned) in [("", false), (", poisoned memory", true)] {
                let requests = [
                    a(&mut writer, line),
                    b(&mut writer, line),
                    ops[0].1(&mut writer, line),
                    // Another line of the block, then another block of the set, and the first one again.
                    ops[1].1(&mut writer, line + 64),
                    ops[0].1(&mut writer, line + 512),
                    ops[0].1(&mut writer, line),
                ];
                let mut peer = if is_poisoned { PeerAccelerator::poisoned() } else { PeerAccelerator::with_status(0) };
                let what = format!("{first}, then {second}, a read, other lines{name}");
                writer.case(what, &requests, &mut peer);
            }
        }
    }
    writer.vectors
}

/// What is done to a line, with names.
pub(super) const OPERATIONS: [(&str, LineOperation); 4] = [
    ("read", LineOperation::Read),
    ("write full", LineOperation::WriteFull),
    ("write part", LineOperation::WritePart),
    ("atomic", LineOperation::Atomic),
];

/// Two requests for a line, a read of it, and a read of another block of its set.
pub(super) fn four(
    [first, second]: [LineOperation; 2],
    line: u64,
    request: fn(LineOperation, u64, &mut Rng) -> BridgeMessage,
    rng: &mut Rng,
) -> [BridgeMessage; 4] {
    let places = [(first, line), (second, line), (LineOperation::Read, line), (LineOperation::Read, line + 512)];
    places.map(|(operation, at)| request(operation, at, rng))
}

pub(super) fn upli(operation: LineOperation, address: u64, rng: &mut Rng) -> BridgeMessage {
    let (cmd, dwords) = match operation {
        LineOperation::Read => (ReqCmd::Read, 16),
        LineOperation::WriteFull => (ReqCmd::WriteFull, 16),
        LineOperation::WritePart => (ReqCmd::WriteFull, 3),
        LineOperation::Atomic => (ReqCmd::AtomicR, 2),
    };
    Asked { attr: 1 << 2, ..Asked::of(cmd, address, dwords) }.message(rng, None, 0)
}

pub(super) fn packet(operation: LineOperation, address: u64, rng: &mut Rng) -> BridgeMessage {
    let (op, units, be) = match operation {
        LineOperation::Read => (Op::READ, 4, None),
        LineOperation::WriteFull => (Op::WRITE_NONPOSTED, 4, None),
        LineOperation::WritePart => (Op::WRITE_NONPOSTED, 1, Some(0xfff)),
        LineOperation::Atomic => (Op::ATOMIC_RETURN, 1, Some(0xff)),
    };
    let asked = nvlink::with_atomic(op, nvlink::asked(op, address, units, rng));
    nvlink::message(NvlMessage { be, ..asked })
}

/// A request that brings a line into a state, one that finds it there, and one that drives it out.
fn states(writer: &mut CaseWriter, request: fn(LineOperation, u64, &mut Rng) -> BridgeMessage) {
    for grant in [NdrOpcode::CmpS, NdrOpcode::CmpE] {
        for (first, a) in OPERATIONS {
            for (second, b) in OPERATIONS {
                for mood in [MemoryMood::Good, MemoryMood::Poisoned] {
                    let requests = four([a, b], BASE + 0x2000, request, &mut writer.rng);
                    let name = if mood == MemoryMood::Good { "" } else { ", poisoned memory" };
                    let what = format!("{first}, then {second}, a read, and another block; {grant:?} to sharers{name}");
                    writer.case(what, &requests, &mut Memory::of(mood).granting(grant));
                }
            }
        }
    }
}
