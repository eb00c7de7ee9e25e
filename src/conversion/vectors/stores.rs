//! Cases of caches that write through, and of streams that pass a cache by (`bridge` §9.2, §9.4, conformance choice c16).
//!
//! Modelled: windows of class MC, MN and CC, both protocols of accelerators. Write-through: every operation in every state of a sector, each
//! store goes on to memory or to the host. Streams: one block of a row enters, so the next one is accessed as without a cache, until a line
//! that is there ends the row. Left out: both at once. A walk of a stream: a read of a block enters; a write of the block behind it is
//! MemInv and MemWr, as without a cache; a read of the first block finds its line; now the second block may enter.

use super::cached::{self, OPERATIONS};
use super::host::PeerHost;
use super::peer::{Memory, MemoryMood, Peer};
use super::ualink::{BASE, config};
use super::{CaseWriter, ConversionVectors};
use crate::message::BridgeMessage;
use scalepool_bridge::flows::LineOperation;
use scalepool_kernel::Rng;
use scalepool_protocols::cxl::cxl256::code::{GoState, NdrOpcode};
use serde_json::{Value, json};

/// The line of the cases, as accelerators name it.
const LINE: u64 = BASE + 0x2000;
/// The same line in the block behind it.
const NEXT: u64 = LINE + 256;

/// Makes a request for the line at an address.
type StoreMaker = fn(LineOperation, u64, &mut Rng) -> BridgeMessage;
/// A protocol: its name, how it is told, and how it asks for a line.
type Asking = (&'static str, &'static str, StoreMaker);

const PROTOCOLS: [Asking; 2] = [("ualink", "UALink", cached::upli), ("nvlink", "NVLink (model)", cached::packet)];

/// Names of the files of a class: written through, passed by; of UALink, then of NVLink.
const CLASSES: [(&str, [[&str; 2]; 2]); 3] = [
    ("MC", [["ualink_through_mc", "ualink_stream_mc"], ["nvlink_through_mc", "nvlink_stream_mc"]]),
    ("MN", [["ualink_through_mn", "ualink_stream_mn"], ["nvlink_through_mn", "nvlink_stream_mn"]]),
    ("CC", [["ualink_through_cc", "ualink_stream_cc"], ["nvlink_through_cc", "nvlink_stream_cc"]]),
];

pub(super) fn files() -> Vec<ConversionVectors> {
    let mut files = Vec::new();
    for (class, names) in CLASSES {
        for ((protocol, told, request), [through, stream]) in PROTOCOLS.into_iter().zip(names) {
            // Two sets of one way, so that a second block of a set drives out the first one.
            let of = |name, about: String, cache: Value| {
                let mut config = config(protocol, class);
                config["cache"] = cache;
                CaseWriter::new(name, about, config)
            };
            let about = format!("{told} to CXL, windows of class {class}, with a cache");
            let cache = json!({ "capacity_bytes": 512, "ways": 1, "stream_blocks": 0, "stores": "through" });
            let mut writer = of(through, format!("{about} that writes through"), cache);
            written_through(&mut writer, class, request);
            files.push(writer.vectors);
            let cache = json!({ "capacity_bytes": 512, "ways": 1, "stream_blocks": 1 });
            let mut writer = of(stream, format!("{about} that streams pass by behind one block"), cache);
            passed_by(&mut writer, class, request);
            files.push(writer.vectors);
        }
    }
    files
}

/// Who answers below a window, with a name: what one who asks to share a line, of a host to own one, is granted.
fn peers(class: &str, mood: MemoryMood) -> Vec<(&'static str, Box<dyn Peer>)> {
    let memory = |grant| Box::new(Memory::of(mood).granting(grant)) as Box<dyn Peer>;
    let host = |grant| Box::new(PeerHost::of(mood).granting(grant)) as Box<dyn Peer>;
    match class {
        "MC" => vec![("CmpS to sharers", memory(NdrOpcode::CmpS)), ("CmpE to sharers", memory(NdrOpcode::CmpE))],
        "MN" => vec![("nobody grants", memory(NdrOpcode::CmpS))],
        _ => vec![("Exclusive to owners", host(GoState::Exclusive)), ("Modified to owners", host(GoState::Modified))],
    }
}

const MOODS: [(&str, MemoryMood); 2] = [("", MemoryMood::Good), (", poisoned lines", MemoryMood::Poisoned)];

/// A request that brings a line into a state, one that finds it there, a read, and one that drives it out.
fn written_through(writer: &mut CaseWriter, class: &str, request: StoreMaker) {
    for (first, a) in OPERATIONS {
        for (second, b) in OPERATIONS {
            for (mood_name, mood) in MOODS {
                for (granted, mut peer) in peers(class, mood) {
                    let requests = cached::four([a, b], LINE, request, &mut writer.rng);
                    let what = format!("{first}, then {second}, a read, and another block; {granted}{mood_name}");
                    writer.case(what, &requests, peer.as_mut());
                }
            }
        }
    }
}

/// The second block of a row passes by, twice; the first one is still there, and ends the row; now the second one enters.
fn passed_by(writer: &mut CaseWriter, class: &str, request: StoreMaker) {
    for (first, a) in OPERATIONS {
        for (second, b) in OPERATIONS {
            for (mood_name, mood) in MOODS {
                for (granted, mut peer) in peers(class, mood) {
                    let read = LineOperation::Read;
                    let places = [(read, LINE), (a, NEXT), (b, NEXT), (read, LINE), (read, NEXT), (read, NEXT)];
                    let requests = places.map(|(operation, at)| request(operation, at, &mut writer.rng));
                    let what = format!("{first}, then {second} of a block that passes by; {granted}{mood_name}");
                    writer.case(what, &requests, peer.as_mut());
                }
            }
        }
    }
}
