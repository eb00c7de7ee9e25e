//! Cases of reads from UALink that are answered beat by beat, as their lines come (`bridge` §3.3).
//!
//! Modelled: reads of one to four lines whose answers from CXL come in any order; lines that are not there or poisoned among them. A walk: a
//! read of two lines asks for both; the second line comes, and a beat with OFFSET 1 leaves; the first one comes, and its beat has LAST.

use super::peer::{Memory, MemoryMood, Peer};
use super::ualink::{Asked, BASE, LIMITED, config};
use super::{CaseWriter, ConversionVectors};
use crate::message::BridgeMessage;
use crate::model::{BridgeEvent, BridgePoint};
use scalepool_kernel::Rng;
use scalepool_protocols::ualink::code::ReqCmd;

/// Memory that answers when so many messages have come, in an order of its own.
struct LateMemory {
    memory: Memory,
    awaited: usize,
    answers: Vec<BridgeEvent>,
    rng: Rng,
}

impl Peer for LateMemory {
    fn answers(&mut self, message: &BridgeMessage) -> Vec<BridgeMessage> {
        self.memory.answers(message)
    }

    fn hears(&mut self, event: &BridgeEvent) -> Vec<BridgeEvent> {
        if event.point != BridgePoint::Sent {
            return Vec::new();
        }
        let answer = |message| BridgeEvent { point: BridgePoint::Answer, port: event.port, message };
        let answers = self.memory.answers(&event.message).into_iter().map(answer);
        self.answers.extend(answers);
        self.awaited = self.awaited.saturating_sub(1);
        if self.awaited > 0 {
            return Vec::new();
        }
        let mut answers = std::mem::take(&mut self.answers);
        self.rng.shuffle(&mut answers);
        answers
    }
}

/// Orders of answers of each read.
const ORDERS: u64 = 4;

pub(super) fn files() -> Vec<ConversionVectors> {
    let about = "UALink to CXL.mem, windows of class MC, reads answered beat by beat";
    let mut config = config("ualink", "MC");
    config["single_beat"] = true.into();
    let mut writer = CaseWriter::new("ualink_single_beats", about, config);
    let moods = [
        ("", MemoryMood::Good),
        (", poisoned memory", MemoryMood::Poisoned),
        (", no memory", MemoryMood::Absent),
        (", no memory from the second line on", MemoryMood::AbsentFrom(1)),
        (", no memory in the last line", MemoryMood::AbsentFrom(3)),
    ];
    let extents = [(0, 64), (0, 16), (60, 2), (0x38, 20), (64, 48), (128, 32), (252, 1)];
    for (offset, dwords) in extents {
        for (name, mood) in moods {
            for order in 0..ORDERS {
                let message = Asked::of(ReqCmd::Read, BASE + 0x700 + offset, dwords).message(&mut writer.rng, None, 0);
                let awaited = ((offset % 64 + 4 * dwords).div_ceil(64)) as usize;
                let rng = Rng::for_name(order, "beats");
                let mut memory = LateMemory { memory: Memory::of(mood), awaited, answers: Vec::new(), rng };
                let what = format!("read of {dwords} DW at {offset:#x}, order {order}{name}");
                writer.case(what, &[message], &mut memory);
            }
        }
    }
    others(&mut writer);
    vec![writer.vectors]
}

/// What is answered at once: requests that are refused, and those that are no reads.
fn others(writer: &mut CaseWriter) {
    for (source, rights) in LIMITED {
        let message = Asked { source, ..Asked::of(ReqCmd::Read, BASE, 64) }.message(&mut writer.rng, None, 0);
        writer.case(format!("read with rights `{rights}`"), &[message], &mut Memory::good());
    }
    for (what, cmd, address, dwords) in [
        ("read over the end of its block", ReqCmd::Read, BASE + 0xc0, 32),
        ("read of no window", ReqCmd::Read, 0, 64),
        ("write", ReqCmd::WriteFull, BASE, 64),
        ("atomic", ReqCmd::AtomicR, BASE + 8, 2),
    ] {
        let message = Asked { attr: 1 << 2, ..Asked::of(cmd, address, dwords) }.message(&mut writer.rng, None, 0);
        writer.case(what, &[message], &mut Memory::good());
    }
}
