//! Back-invalidate snoops that meet what the bridge does with the line (`bridge` §9.6 R1 to R3, without a cache).

use super::common::*;
use scalepool::bridge::window::WindowClass;
use scalepool::coherence::content::{CacheLine, LineAddr};
use scalepool::coherence::message::Msg;
use scalepool_protocols::cxl::cxl256::code::{BirspOpcode, BisnpOpcode, M2sRwdOpcode, NdrOpcode};
use scalepool_protocols::ualink::code::Status;

const BI_TAG: u16 = 5;

fn snoop(bench: &mut Bench, opcode: BisnpOpcode, line: u64) {
    bench.deliver(Msg::S2mBisnp { opcode, line: LineAddr(line), bi_tag: BI_TAG });
}

/// The line of the window's first byte.
fn line() -> u64 {
    OUT >> 6
}

fn answers(bench: &Bench) -> usize {
    let is_answer =
        |msg: &Msg<CacheLine>| matches!(msg, Msg::M2sBirsp { opcode: BirspOpcode::BIRspI, bi_tag: BI_TAG, .. });
    bench.sent.iter().filter(|(.., msg)| is_answer(msg)).count()
}

fn conflict(bench: &Bench) -> Option<u16> {
    bench.sent.iter().find_map(|(.., msg)| match msg {
        Msg::M2sRwd { opcode: M2sRwdOpcode::BIConflict, tag, .. } => Some(*tag),
        _ => None,
    })
}

/// R1: the snoop of a line that is asked for is a conflict with the Tag of the request. An Ack before any Cmp: the snoop is answered, the
/// request goes on; one behind the Cmp: the access comes first.
#[test]
fn brg_rac_01_p() {
    for request in [read(BASE, 16), write_full(BASE, 1, 1), write_part(BASE, 1, 1)] {
        let mut bench = Bench::of(WindowClass::Mc);
        bench.ask(request.clone());
        snoop(&mut bench, BisnpOpcode::BISnpInv, line());
        assert_eq!((conflict(&bench), answers(&bench)), (Some(0), 0));
        bench.deliver(cmp(0, NdrOpcode::BIConflictAck));
        assert_eq!(answers(&bench), 1, "the snoop was first");
        bench.finish(false);
        assert_eq!((rsp(&bench.responses[0]).status, answers(&bench)), (Status::OKAY, 1));

        let mut bench = Bench::of(WindowClass::Mc);
        bench.ask(request);
        snoop(&mut bench, BisnpOpcode::BISnpInv, line());
        bench.finish(false);
        assert_eq!((bench.responses.len(), answers(&bench)), (0, 0), "its Tag is in use until the Ack");
        bench.deliver(cmp(0, NdrOpcode::BIConflictAck));
        bench.finish(false);
        assert_eq!((bench.responses.len(), answers(&bench), bench.bridge.open()), (1, 1, 0));
        let last = bench.sent.last().map(|(.., msg)| msg.class().name());
        assert_eq!(last, Some("M2S BIRsp"), "what was written is written before");
    }
}

/// An Ack without a conflict belongs to nothing; a snoop of another line meets none.
#[test]
fn brg_rac_01_n() {
    let mut bench = Bench::of(WindowClass::Mc);
    bench.ask(read(BASE, 16));
    bench.deliver(cmp(0, NdrOpcode::BIConflictAck));
    assert_eq!(bench.findings[0].rule, "COH-IDS-01");
    snoop(&mut bench, BisnpOpcode::BISnpInv, line() + 1);
    assert_eq!((conflict(&bench), answers(&bench)), (None, 1));
}

/// R2: the line is granted and its bytes are still to come; the store is done, and written back, before the answer.
#[test]
fn brg_rac_02_p() {
    let mut bench = Bench::of(WindowClass::Mc);
    bench.ask(write_part(BASE, 1, 1));
    bench.answer(0);
    snoop(&mut bench, BisnpOpcode::BISnpData, line());
    assert_eq!((conflict(&bench), answers(&bench)), (None, 0));
    bench.answer(0);
    assert_eq!((bench.labels().last().map(String::as_str), answers(&bench)), (Some("MemWr Invalid/NoOp"), 0));
    bench.answer(0);
    assert_eq!((answers(&bench), bench.responses.len()), (1, 1));
}

/// A read without a copy keeps nobody waiting: its data may come when they like.
#[test]
fn brg_rac_02_n() {
    let mut bench = Bench::of(WindowClass::Mc);
    bench.ask(read(BASE, 16));
    bench.answer(0);
    snoop(&mut bench, BisnpOpcode::BISnpInv, line());
    assert_eq!((conflict(&bench), answers(&bench)), (None, 1));
}

/// R3: a write back is under way; the answer waits for its Cmp.
#[test]
fn brg_rac_03_p() {
    let mut bench = Bench::of(WindowClass::Mc);
    bench.ask(write_full(BASE, 1, 1));
    bench.answer(0);
    snoop(&mut bench, BisnpOpcode::BISnpInv, line());
    assert_eq!((conflict(&bench), answers(&bench)), (None, 0));
    bench.answer(0);
    assert_eq!(answers(&bench), 1);
}

/// Behind it the bridge has nothing; a block is answered line by line.
#[test]
fn brg_rac_03_n() {
    let mut bench = Bench::of(WindowClass::Mc);
    bench.whole(write_full(BASE, 1, 1));
    snoop(&mut bench, BisnpOpcode::BISnpInvBlk, line() | 3);
    let low: Vec<u8> = bench
        .sent
        .iter()
        .filter_map(|(.., msg)| match msg {
            Msg::M2sBirsp { low_addr, .. } => Some(*low_addr),
            _ => None,
        })
        .collect();
    assert_eq!(low, [0, 1, 2, 3]);
    snoop(&mut bench, BisnpOpcode::BISnpInvBlk, line());
    assert_eq!(bench.findings[0].rule, "COH-BLK-01");
}
