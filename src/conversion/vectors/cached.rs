//! Cases from UALink to CXL with a cache of lines (`bridge` §9.4): every operation in every state of a sector.

use super::peer::{Memory, MemoryMood};
use super::ualink::{Asked, BASE, config};
use super::{CaseWriter, ConversionVectors};
use scalepool_protocols::cxl::cxl256::code::NdrOpcode;
use scalepool_protocols::ualink::code::ReqCmd;

pub(super) fn files() -> Vec<ConversionVectors> {
    let of = |name, about, class| {
        let mut config = config("ualink", class);
        // Two sets of one way, so that a second block of a set drives out the first one.
        config["cache"] = serde_json::json!({ "capacity_bytes": 512, "ways": 1, "stream_blocks": 0 });
        let mut writer = CaseWriter::new(name, about, config);
        states(&mut writer);
        writer.vectors
    };
    vec![
        of("ualink_cached_mc", "UALink to CXL.mem with a cache of lines, windows of class MC", "MC"),
        of("ualink_cached_mn", "UALink to CXL.mem with a cache of lines, windows of class MN", "MN"),
    ]
}

/// A request that brings a line into a state, one that finds it there, and one that drives it out.
fn states(writer: &mut CaseWriter) {
    let ops = [
        ("read", ReqCmd::Read, 16),
        ("write full", ReqCmd::WriteFull, 16),
        ("write part", ReqCmd::WriteFull, 3),
        ("atomic", ReqCmd::AtomicR, 2),
    ];
    for grant in [NdrOpcode::CmpS, NdrOpcode::CmpE] {
        for (first, a, dwords) in ops {
            for (second, b, others) in ops {
                for mood in [MemoryMood::Good, MemoryMood::Poisoned] {
                    let mut of = |cmd, address, dwords| {
                        let asked = Asked { attr: 1 << 2, ..Asked::of(cmd, address, dwords) };
                        asked.message(&mut writer.rng, None, 0)
                    };
                    let line = BASE + 0x2000;
                    let requests = [
                        of(a, line, dwords),
                        of(b, line, others),
                        of(ReqCmd::Read, line, 16),
                        // Another block of the same set.
                        of(ReqCmd::Read, line + 512, 16),
                    ];
                    let name = if mood == MemoryMood::Good { "" } else { ", poisoned memory" };
                    let what = format!("{first}, then {second}, a read, and another block; {grant:?} to sharers{name}");
                    writer.case(what, &requests, &mut Memory::of(mood).granting(grant));
                }
            }
        }
    }
}
