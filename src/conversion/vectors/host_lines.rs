//! Cases of lines of a host, windows of class CC (`bridge` §4.1, §8.1, §9.4 to §9.6): what UALink and NVLink have in common.
//!
//! Modelled: errors of single requests of CXL.cache; with and without a cache of lines a snoop in each moment in which one may come. A walk:
//! an atomic without a cache asks by RdOwn; GO-E comes, then SnpInv, which is answered RspIFwdM at once, and then the data: the line leaves
//! as the data of the snoop, and no DirtyEvict follows.

use super::cached::{self, OPERATIONS};
use super::host::{PeerHost, PlannedSnoop, SnoopMoment};
use super::peer::MemoryMood;
use super::ualink::{BASE, config};
use super::{CaseWriter, ConversionVectors};
use crate::message::BridgeMessage;
use scalepool_bridge::flows::LineOperation;
use scalepool_coherence::content::LineAddr;
use scalepool_kernel::Rng;
use scalepool_protocols::cxl::cxl256::code::{D2hReqOpcode, GoState, H2dReqOpcode};

const SNOOPS: [H2dReqOpcode; 3] = [H2dReqOpcode::SnpInv, H2dReqOpcode::SnpData, H2dReqOpcode::SnpCur];

/// First address of the window of [`config`] on CXL.
const OUT: u64 = 0x4_0000_0000;

/// The line of the cases, as accelerators name it.
const LINE: u64 = BASE + 0x2000;

/// A snoop of that line.
fn snoop(moment: SnoopMoment, opcode: H2dReqOpcode) -> PlannedSnoop {
    PlannedSnoop { moment, opcode, line: LineAddr::of_address(OUT + LINE - BASE) }
}

/// Makes a request for the line at an address.
type RequestMaker = fn(LineOperation, u64, &mut Rng) -> BridgeMessage;

/// Files of a bridge with a cache of lines of a host.
pub(super) fn files() -> Vec<ConversionVectors> {
    let of = |name, about, protocol, request: RequestMaker| {
        let mut config = config(protocol, "CC");
        // Two sets of one way, so that a second block of a set drives out the first one.
        config["cache"] = serde_json::json!({ "capacity_bytes": 512, "ways": 1, "stream_blocks": 0 });
        let mut writer = CaseWriter::new(name, about, config);
        states(&mut writer, request);
        refusals(&mut writer, request);
        snoops(&mut writer, request);
        upgrades(&mut writer, request);
        writer.vectors
    };
    let about = "to a host by CXL.cache with a cache of lines, windows of class CC";
    vec![
        of("ualink_cached_cc", format!("UALink {about}"), "ualink", cached::upli),
        of("nvlink_cached_cc", format!("NVLink (model) {about}"), "nvlink", cached::packet),
    ]
}

/// Cases without a cache: each request of a line refused by itself, and snoops while one is under way.
pub(super) fn alone(writer: &mut CaseWriter, request: RequestMaker) {
    use D2hReqOpcode as Op;
    let sent = [
        (LineOperation::Read, &[Op::RdCurr][..]),
        (LineOperation::WriteFull, &[Op::WrCur]),
        (LineOperation::WritePart, &[Op::WrInv]),
        (LineOperation::Atomic, &[Op::RdOwn, Op::DirtyEvict]),
    ];
    for ((name, operation), (_, sent)) in OPERATIONS.into_iter().zip(sent) {
        for op in sent {
            // GO-I is an error of reads with a GO alone.
            let refusals = [GoState::Error, GoState::Invalid];
            for refusal in refusals.into_iter().take(if *op == Op::RdOwn { 2 } else { 1 }) {
                let message = request(operation, LINE, &mut writer.rng);
                let what = format!("{name}, {} refused by {refusal:?}", told(*op));
                writer.case(what, &[message], &mut PeerHost::of(MemoryMood::Good).refusing(&[*op], refusal));
            }
            let count = if *op == Op::RdOwn { 2 } else { 1 };
            let grants = [GoState::Exclusive, GoState::Modified];
            let grants = if operation == LineOperation::Atomic { &grants[..] } else { &grants[..1] };
            let moments =
                [("before the answer to", SnoopMoment::Before(*op)), ("behind the GO of", SnoopMoment::BehindGo(*op))];
            for opcode in SNOOPS {
                for (when, moment) in moments.into_iter().take(count) {
                    for grant in grants {
                        let requests = [operation, LineOperation::Read].map(|op| request(op, LINE, &mut writer.rng));
                        let mut host = PeerHost::of(MemoryMood::Good).granting(*grant).snooping(snoop(moment, opcode));
                        let what = format!("{name}, {} {when} {}, {grant:?} to owners", snooped(opcode), told(*op));
                        writer.case(what, &requests, &mut host);
                    }
                }
            }
        }
    }
}

fn told(opcode: D2hReqOpcode) -> &'static str {
    opcode.name().unwrap_or("a reserved request")
}

fn snooped(opcode: H2dReqOpcode) -> &'static str {
    opcode.name().unwrap_or("a reserved snoop")
}

/// A request that brings a line into a state, one that finds it there, a read, and one that drives it out.
fn states(writer: &mut CaseWriter, request: RequestMaker) {
    for grant in [GoState::Exclusive, GoState::Modified] {
        for (first, a) in OPERATIONS {
            for (second, b) in OPERATIONS {
                for (name, mood, data_first) in [
                    ("", MemoryMood::Good, false),
                    (", data before their GO", MemoryMood::Good, true),
                    (", poisoned lines", MemoryMood::Poisoned, false),
                ] {
                    let requests = cached::four([a, b], LINE, request, &mut writer.rng);
                    let what = format!("{first}, then {second}, a read, and another block; {grant:?} to owners{name}");
                    let mut host = PeerHost::of(mood).granting(grant).data_first(data_first);
                    writer.case(what, &requests, &mut host);
                }
            }
        }
    }
}

/// Each request that a line in each state may need, refused.
fn refusals(writer: &mut CaseWriter, request: RequestMaker) {
    use D2hReqOpcode as Op;
    for refused in [Op::RdShared, Op::RdOwn, Op::RdOwnNoData, Op::DirtyEvict] {
        let refusals = [GoState::Error, GoState::Invalid];
        let has_data = refused == Op::RdShared || refused == Op::RdOwn;
        for refusal in refusals.into_iter().take(if has_data { 2 } else { 1 }) {
            for (first, a) in OPERATIONS {
                for (second, b) in OPERATIONS {
                    let requests = cached::four([a, b], LINE, request, &mut writer.rng);
                    let what = format!(
                        "{first}, then {second}, a read, and another block; {} refused by {refusal:?}",
                        told(refused)
                    );
                    let mut host = PeerHost::of(MemoryMood::Good).refusing(&[refused], refusal);
                    writer.case(what, &requests, &mut host);
                }
            }
        }
    }
}

/// A snoop of a line at rest, of one that is asked for, between its GO and its data, and while it leaves.
fn snoops(writer: &mut CaseWriter, request: RequestMaker) {
    use D2hReqOpcode as Op;
    let moments = [
        ("when it is there", SnoopMoment::AtRest(1)),
        ("before the answer to RdShared", SnoopMoment::Before(Op::RdShared)),
        ("before the answer to RdOwn", SnoopMoment::Before(Op::RdOwn)),
        ("before the answer to RdOwnNoData", SnoopMoment::Before(Op::RdOwnNoData)),
        ("behind the GO of RdShared", SnoopMoment::BehindGo(Op::RdShared)),
        ("behind the GO of RdOwn", SnoopMoment::BehindGo(Op::RdOwn)),
        ("before the answer to DirtyEvict", SnoopMoment::Before(Op::DirtyEvict)),
        ("before the answer to CleanEvictNoData", SnoopMoment::Before(Op::CleanEvictNoData)),
    ];
    for (when, moment) in moments {
        for opcode in SNOOPS {
            for (name, operation) in OPERATIONS {
                for grant in [GoState::Exclusive, GoState::Modified] {
                    for mood in [MemoryMood::Good, MemoryMood::Poisoned] {
                        // The last one is behind the line, which has left.
                        let places = [
                            (operation, LINE),
                            (LineOperation::Read, LINE),
                            (LineOperation::Read, LINE + 512),
                            (LineOperation::Read, LINE),
                        ];
                        let requests = places.map(|(operation, at)| request(operation, at, &mut writer.rng));
                        let moods = if mood == MemoryMood::Good { "" } else { ", poisoned lines" };
                        let what = format!("{name}, {} {when}; {grant:?} to owners{moods}", snooped(opcode));
                        let mut host = PeerHost::of(mood).granting(grant).snooping(snoop(moment, opcode));
                        writer.case(what, &requests, &mut host);
                    }
                }
            }
        }
    }
}

/// A shared line that is to be owned, and a snoop that takes it meanwhile.
fn upgrades(writer: &mut CaseWriter, request: RequestMaker) {
    for opcode in SNOOPS {
        for (name, operation) in &OPERATIONS[1..] {
            for grant in [GoState::Exclusive, GoState::Modified] {
                let requests = cached::four([LineOperation::Read, *operation], LINE, request, &mut writer.rng);
                let moment = SnoopMoment::Before(D2hReqOpcode::RdOwnNoData);
                let mut host = PeerHost::of(MemoryMood::Good).granting(grant).snooping(snoop(moment, opcode));
                let what = format!("{name} of a shared line, {} before its GO; {grant:?} to owners", snooped(opcode));
                writer.case(what, &requests, &mut host);
            }
        }
    }
}
