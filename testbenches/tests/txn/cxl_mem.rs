//! CXL.mem.

use super::{DOWN, UP, one};
use scalepool::coherence::mem::tables::HdmRegion::{self, *};
use scalepool::transactions::cxl_mem::{CxlMemConfig, CxlMemTransactions};
use scalepool::transactions::{AnswerLimit, TransactionFinding};
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl256::code::{
    BirspOpcode, BisnpOpcode, DrsOpcode, M2sReqOpcode as Op, M2sRwdOpcode as Wr, MetaField, MetaValue,
    NdrOpcode as Ndr, SnpType,
};
use scalepool_protocols::cxl::message::{Data, M2sBirsp, M2sReq, M2sRwd, Message, S2mBisnp, S2mDrs, S2mNdr};

const LINE: u64 = 0x1000;

fn req(opcode: Op, meta: Option<MetaValue>, snp_type: SnpType, tag: u16) -> Message {
    let (meta_field, meta_value) = meta.map_or((MetaField::NoOp, MetaValue::Invalid), |m| (MetaField::Meta0State, m));
    Message::M2sReq(M2sReq { opcode, snp_type, meta_field, meta_value, tag, address: LINE, ..M2sReq::default() })
}

/// A plain read of HDM-H.
fn read(tag: u16) -> Message {
    req(Op::MemRd, None, SnpType::NoOp, tag)
}

/// A read of HDM-DB for ownership.
fn own(tag: u16) -> Message {
    req(Op::MemRd, Some(MetaValue::Any), SnpType::SnpInv, tag)
}

fn rwd(opcode: Wr, tag: u16, value: u8, enables: Option<u64>, poison: bool) -> Message {
    let message = M2sRwd { opcode, tag, poison, address: LINE, meta_value: MetaValue::Any, ..M2sRwd::default() };
    Message::M2sRwd(message, Data { byte_enables: enables, ..Data::line([value; 64]) })
}

fn write(tag: u16, value: u8) -> Message {
    rwd(Wr::MemWr, tag, value, None, false)
}

fn conflict(tag: u16) -> Message {
    let message =
        M2sRwd { opcode: Wr::BIConflict, tag, address: LINE, meta_field: MetaField::NoOp, ..M2sRwd::default() };
    Message::M2sRwd(message, Data::line([0; 64]))
}

fn ndr(opcode: Ndr, tag: u16) -> Message {
    Message::S2mNdr(S2mNdr { opcode, tag, meta_field: MetaField::NoOp, ..S2mNdr::default() })
}

fn drs(tag: u16, value: u8) -> Message {
    Message::S2mDrs(S2mDrs { tag, meta_field: MetaField::NoOp, ..S2mDrs::default() }, Data::line([value; 64]))
}

fn half(tag: u16, value: u8) -> Message {
    let Message::S2mDrs(message, data) = drs(tag, value) else { unreachable!("a DRS") };
    Message::S2mDrs(message, Data { byte_enables: Some(0xffff_ffff), ..data })
}

fn poisoned(tag: u16) -> Message {
    let Message::S2mDrs(message, data) = drs(tag, 0) else { unreachable!("a DRS") };
    Message::S2mDrs(S2mDrs { poison: true, ..message }, data)
}

fn nxm(tag: u16) -> Message {
    let Message::S2mDrs(message, data) = drs(tag, 0xff) else { unreachable!("a DRS") };
    Message::S2mDrs(S2mDrs { opcode: DrsOpcode::MemDataNXM, ..message }, data)
}

fn bisnp(opcode: BisnpOpcode, bi_tag: u16, address: u64) -> Message {
    Message::S2mBisnp(S2mBisnp { opcode, bi_tag, address, ..S2mBisnp::default() })
}

fn birsp(opcode: BirspOpcode, bi_tag: u16, low_addr: u8) -> Message {
    Message::M2sBirsp(M2sBirsp { opcode, bi_tag, low_addr, ..M2sBirsp::default() })
}

fn checker(config: CxlMemConfig) -> CxlMemTransactions {
    CxlMemTransactions::new(config, vec!["link".into()])
}

/// What is said of some messages, each in a flit of its own, and at the end of the run.
fn said(config: CxlMemConfig, messages: &[Message]) -> Vec<TransactionFinding> {
    let mut checker = checker(config);
    let mut units = [0; 2];
    let mut all = Vec::new();
    for message in messages {
        let unit = &mut units[usize::from(message.class().dir() == Dir::Up)];
        all.extend(checker.see(0, *unit, message));
        *unit += 1;
    }
    all.extend(checker.finish());
    all
}

fn config(region: HdmRegion) -> CxlMemConfig {
    CxlMemConfig { all_writers_seen: region == HdmH, ..CxlMemConfig::new(region) }
}

fn silent(region: HdmRegion, messages: &[Message]) {
    assert_eq!(said(config(region), messages), [], "{messages:#?}");
}

/// One rule is broken, by a flit, by what was found where something else was expected.
fn broken(region: HdmRegion, messages: &[Message], rule: &str, (dir, unit): (Dir, u64), words: [&str; 2]) {
    one(&said(config(region), messages), rule, (dir, unit), words);
}

#[test]
fn txn_req_01_p() {
    silent(HdmH, &[read(1), drs(1, 0), req(Op::MemInv, None, SnpType::NoOp, 2), ndr(Ndr::Cmp, 2)]);
    silent(HdmDb, &[own(1), ndr(Ndr::CmpE, 1), drs(1, 0), req(Op::MemSpecRd, None, SnpType::NoOp, 0)]);
}

#[test]
fn txn_req_01_n() {
    // What answers it all the same is not judged, however much of it comes.
    let answers = [drs(1, 0), ndr(Ndr::CmpS, 1), drs(1, 0)];
    let snooped = [&[own(1)], &answers[..]].concat();
    let words = ["MemRd with SnpType SnpInv, MetaField Meta0State, MetaValue Any", "a request of HDM-H (COH-MEM-29: "];
    broken(HdmH, &snooped, "TXN-REQ-01", (DOWN, 0), words);
    let evict = req(Op::MemClnEvct, Some(MetaValue::Invalid), SnpType::NoOp, 1);
    broken(HdmD, &[evict], "TXN-REQ-01", (DOWN, 0), ["MemClnEvct", "a request of HDM-D (COH-MEM-18: "]);
    let Message::M2sRwd(message, data) = write(3, 0) else { unreachable!("a write") };
    let without_meta = Message::M2sRwd(M2sRwd { meta_field: MetaField::NoOp, ..message }, data);
    broken(HdmH, &[without_meta, ndr(Ndr::Cmp, 3)], "TXN-REQ-01", (DOWN, 0), ["MemWr", "COH-MEM-33"]);
    let words = ["MetaField NoOp", "with SnpType NoOp and MetaField Meta0State)"];
    broken(HdmH, &[without_meta, ndr(Ndr::Cmp, 3)], "TXN-REQ-01", (DOWN, 0), words);
}

#[test]
fn txn_tag_01_p() {
    let messages = [read(1), drs(1, 0), read(1), read(2), drs(1, 0), drs(2, 0)];
    assert_eq!(said(CxlMemConfig { unique_tags: true, ..config(HdmH) }, &messages), []);
    // Tags need not be unique.
    silent(HdmH, &[read(1), write(1, 0), read(1), drs(1, 0), ndr(Ndr::Cmp, 1), drs(1, 0)]);
}

#[test]
fn txn_tag_01_n() {
    let messages = [read(1), read(1), drs(1, 0), drs(1, 0)];
    let all = said(CxlMemConfig { unique_tags: true, ..config(HdmH) }, &messages);
    one(&all, "TXN-TAG-01", (DOWN, 1), ["MemRd with tag 0x1", "MemRd to 0x1000 in flit 0 down waits for MemData"]);
}

#[test]
fn txn_tag_02_p() {
    silent(HdmH, &[write(7, 1), read(8), drs(8, 1), ndr(Ndr::Cmp, 7)]);
    silent(HdmDb, &[bisnp(BisnpOpcode::BISnpInv, 7, LINE), birsp(BirspOpcode::BIRspI, 7, 0)]);
}

#[test]
fn txn_tag_02_n() {
    broken(HdmH, &[drs(7, 0)], "TXN-TAG-02", (UP, 0), ["DRS MemData of 64 B with tag 0x7", "the tag of a request"]);
    let wrong = [write(7, 1), ndr(Ndr::Cmp, 7), ndr(Ndr::Cmp, 0x107)];
    broken(HdmH, &wrong, "TXN-TAG-02", (UP, 1), ["NDR Cmp with tag 0x107", "the tag of a request"]);
    let Message::S2mNdr(message) = ndr(Ndr::Cmp, 7) else { unreachable!("an NDR") };
    let of_other = Message::S2mNdr(S2mNdr { ld_id: 3, ..message });
    let wrong = [write(7, 1), of_other, ndr(Ndr::Cmp, 7)];
    broken(HdmH, &wrong, "TXN-TAG-02", (UP, 0), ["NDR Cmp with tag 0x7 of LD 3", "the tag of a request"]);
    let ack = [ndr(Ndr::BIConflictAck, 7)];
    broken(HdmDb, &ack, "TXN-TAG-02", (UP, 0), ["NDR BIConflictAck with tag 0x7", "the tag of a BIConflict"]);
    let spare = [birsp(BirspOpcode::BIRspI, 7, 0)];
    broken(HdmDb, &spare, "TXN-TAG-02", (DOWN, 0), ["BIRspI with BITag 0x7", "without its BIRsp"]);
}

#[test]
fn txn_tag_03_p() {
    silent(HdmDb, &[own(1), drs(1, 0), ndr(Ndr::CmpE, 1), own(1), ndr(Ndr::CmpM, 1), drs(1, 0)]);
    silent(HdmH, &[read(1), half(1, 0), half(1, 0)]);
    let snoop = bisnp(BisnpOpcode::BISnpInvBlk, 1, LINE + 0x40);
    silent(HdmDb, &[snoop, birsp(BirspOpcode::BIRspI, 1, 1), birsp(BirspOpcode::BIRspI, 1, 0)]);
    silent(HdmDb, &[snoop, birsp(BirspOpcode::BIRspIBlk, 1, 0)]);
}

#[test]
fn txn_tag_03_n() {
    let twice = [read(1), drs(1, 5), drs(1, 5)];
    let expected = "none: MemRd to 0x1000 in flit 0 down had its last answer in flit 0 up";
    broken(HdmH, &twice, "TXN-TAG-03", (UP, 1), ["DRS MemData of 64 B with tag 0x1", expected]);
    let twice = [write(1, 5), ndr(Ndr::Cmp, 1), ndr(Ndr::Cmp, 1)];
    broken(HdmH, &twice, "TXN-TAG-03", (UP, 1), ["NDR Cmp", "none: MemWr to 0x1000"]);
    // While the other answer is still owed.
    let twice = [own(1), drs(1, 5), drs(1, 5), ndr(Ndr::CmpE, 1)];
    broken(HdmDb, &twice, "TXN-TAG-03", (UP, 1), ["DRS MemData", "CmpE or CmpM for MemRd"]);
    let twice = [own(1), ndr(Ndr::CmpE, 1), ndr(Ndr::CmpE, 1), drs(1, 5)];
    broken(HdmDb, &twice, "TXN-TAG-03", (UP, 1), ["NDR CmpE", "MemData for MemRd"]);
    let snoop = bisnp(BisnpOpcode::BISnpInvBlk, 1, LINE + 0x40);
    let line = birsp(BirspOpcode::BIRspI, 1, 0);
    let twice = [snoop, line, line, birsp(BirspOpcode::BIRspI, 1, 1)];
    broken(HdmDb, &twice, "TXN-TAG-03", (DOWN, 1), ["for line 0 of the block", "BIRsp to 1 line of it"]);
}

#[test]
fn txn_ans_01_p() {
    silent(HdmH, &[read(1), drs(1, 0), read(2), half(2, 0), half(2, 0), read(3), nxm(3)]);
}

#[test]
fn txn_ans_01_n() {
    let data = [write(1, 5), drs(1, 5), ndr(Ndr::Cmp, 1)];
    broken(HdmH, &data, "TXN-ANS-01", (UP, 0), ["DRS MemData of 64 B with tag 0x1", "Cmp for MemWr to 0x1000"]);
    let data = [write(1, 5), ndr(Ndr::Cmp, 1), drs(1, 5)];
    broken(HdmH, &data, "TXN-ANS-01", (UP, 1), ["DRS MemData of 64 B", "none: MemWr to 0x1000 in flit 0 down had its"]);
    // Half of it has come: the size of the second transfer is wrong.
    let data = [read(1), half(1, 5), drs(1, 5)];
    broken(HdmH, &data, "TXN-ANS-01", (UP, 1), ["DRS MemData of 64 B", "32 B, the other half of MemData for MemRd"]);
}

/// A header of 32 B with 64 B behind it, as the watcher of a link tells it: the last slots are nobody's.
#[test]
fn data_behind_a_size_of_32_bytes_is_told_at_its_flit() {
    let mut checker = checker(config(HdmH));
    assert_eq!([checker.see(0, 3, &read(5)), checker.see(0, 8, &half(5, 1))], [[], []]);
    let expected = "no data is owed, behind S2M DRS of 32 B with tag 0x5 in flit 8 up";
    one(&checker.see_spare_data(0, UP, 8, 3), "TXN-ANS-01", (UP, 8), ["16 B of data in slot 3 of flit 8 up", expected]);
    one(&checker.finish(), "TXN-END-01", (UP, 8), ["to MemRd", "the other half of MemData"]);
}

#[test]
fn txn_ans_02_p() {
    silent(HdmH, &[req(Op::MemInvNT, None, SnpType::NoOp, 1), ndr(Ndr::Cmp, 1)]);
}

#[test]
fn txn_ans_02_n() {
    let completed = [read(1), ndr(Ndr::Cmp, 1), drs(1, 5)];
    broken(HdmH, &completed, "TXN-ANS-02", (UP, 0), ["NDR Cmp with tag 0x1", "MemData for MemRd to 0x1000"]);
    let completed = [read(1), drs(1, 5), ndr(Ndr::Cmp, 1)];
    broken(HdmH, &completed, "TXN-ANS-02", (UP, 1), ["NDR Cmp with tag 0x1", "none: MemRd to 0x1000"]);
}

#[test]
fn txn_ans_03_p() {
    silent(HdmDb, &[own(1), ndr(Ndr::CmpE, 1), drs(1, 5), write(2, 5), ndr(Ndr::Cmp, 2)]);
    // At an address without memory a grant is a plain Cmp, and a read has no completion.
    let inv = req(Op::MemInv, Some(MetaValue::Any), SnpType::SnpInv, 1);
    silent(HdmDb, &[inv, ndr(Ndr::Cmp, 1), inv, ndr(Ndr::CmpE, 1), own(2), nxm(2)]);
}

#[test]
fn txn_ans_03_n() {
    let wrong = [write(1, 5), ndr(Ndr::CmpE, 1)];
    broken(HdmH, &wrong, "TXN-ANS-03", (UP, 0), ["NDR CmpE with tag 0x1", "Cmp for MemWr to 0x1000 in flit 0 down"]);
    let wrong = [own(1), drs(1, 5), ndr(Ndr::Cmp, 1)];
    broken(HdmDb, &wrong, "TXN-ANS-03", (UP, 1), ["NDR Cmp with", "CmpE or CmpM for MemRd"]);
    let shared = req(Op::MemInv, Some(MetaValue::Shared), SnpType::SnpData, 1);
    broken(HdmD, &[shared, ndr(Ndr::CmpE, 1)], "TXN-ANS-03", (UP, 0), ["NDR CmpE with", "Cmp or CmpS for MemInv"]);
}

#[test]
fn txn_ans_04_p() {
    silent(HdmDb, &[bisnp(BisnpOpcode::BISnpData, 1, LINE), birsp(BirspOpcode::BIRspS, 1, 0)]);
}

#[test]
fn txn_ans_04_n() {
    let wrong = [bisnp(BisnpOpcode::BISnpInv, 1, LINE), birsp(BirspOpcode::BIRspS, 1, 0)];
    broken(HdmDb, &wrong, "TXN-ANS-04", (DOWN, 0), ["BIRspS with BITag 0x1", "an answer to BISnpInv; COH-SFI-02"]);
    let wrong = [bisnp(BisnpOpcode::BISnpInv, 1, LINE), birsp(BirspOpcode::BIRspIBlk, 1, 0)];
    broken(HdmDb, &wrong, "TXN-ANS-04", (DOWN, 0), ["BIRspIBlk", "COH-BLK-03"]);
}

/// In a block answer LowAddr is reserved (`coherence` §1).
#[test]
fn coh_ids_04_p2() {
    let at = |address, low| [bisnp(BisnpOpcode::BISnpInv, 1, address), birsp(BirspOpcode::BIRspI, 1, low)];
    (0..4).for_each(|low| silent(HdmDb, &at(LINE + 64 * u64::from(low), low)));
    let block = bisnp(BisnpOpcode::BISnpInvBlk, 1, LINE + 0xc0);
    (0..4).for_each(|low| silent(HdmDb, &[block, birsp(BirspOpcode::BIRspIBlk, 1, low)]));
}

#[test]
fn coh_ids_04_n2() {
    for low in 0..4 {
        for other in (0..4).filter(|other| *other != low) {
            let address = LINE + 64 * u64::from(low);
            let wrong = [bisnp(BisnpOpcode::BISnpInv, 1, address), birsp(BirspOpcode::BIRspI, 1, other)];
            let found = format!("BIRspI with BITag 0x1 of BI-ID 0x0 and LowAddr {other}");
            let expected = format!("LowAddr {low}, Addr[7:6] of BISnpInv of {address:#x} in flit 0 up");
            broken(HdmDb, &wrong, "COH-IDS-04", (DOWN, 0), [&found, &expected]);
        }
    }
}

#[test]
fn coh_blk_02_n2() {
    let block = bisnp(BisnpOpcode::BISnpInvBlk, 1, LINE + 0xc0);
    for low in 0..4 {
        let mixed = [block, birsp(BirspOpcode::BIRspI, 1, low), birsp(BirspOpcode::BIRspIBlk, 1, 3)];
        let expected = "a plain BIRsp for each line, 3 lines without one, for BISnpInvBlk of 0x10c0 in flit 0 up";
        broken(HdmDb, &mixed, "COH-BLK-02", (DOWN, 1), ["BIRspIBlk with BITag 0x1", expected]);
    }
    let plain = [3, 1, 0, 2].map(|low| birsp(BirspOpcode::BIRspI, 1, low));
    silent(HdmDb, &[&[block], &plain[..]].concat());
}

/// Two snoops under one BITag: both are told, and their answers are told apart by the line.
#[test]
fn a_bitag_in_use_is_told() {
    let [first, second] = [bisnp(BisnpOpcode::BISnpInv, 9, LINE), bisnp(BisnpOpcode::BISnpData, 9, LINE + 64)];
    let [of_first, of_second] = [birsp(BirspOpcode::BIRspI, 9, 0), birsp(BirspOpcode::BIRspS, 9, 1)];
    let expected = "a BITag that is free: BISnpInv of 0x1000 in flit 0 up waits for BIRsp to 1 line";
    for answers in [[of_first, of_second], [of_second, of_first]] {
        let again = [&[first, second], &answers[..]].concat();
        broken(HdmDb, &again, "TXN-TAG-04", (UP, 1), ["BISnpData with BITag 0x9 of BI-ID 0x0", expected]);
    }
    silent(HdmDb, &[first, of_first, second, of_second]);
    // Another BI-ID is another device.
    let Message::S2mBisnp(message) = second else { unreachable!("a BISnp") };
    let Message::M2sBirsp(answer) = of_second else { unreachable!("a BIRsp") };
    let other =
        [Message::S2mBisnp(S2mBisnp { bi_id: 4, ..message }), Message::M2sBirsp(M2sBirsp { bi_id: 4, ..answer })];
    silent(HdmDb, &[first, other[0], other[1], of_first]);
}

/// A write-back of a copy.
fn write_back(tag: u16, meta_value: MetaValue) -> Message {
    let Message::M2sRwd(message, data) = write(tag, 5) else { unreachable!("a write") };
    Message::M2sRwd(M2sRwd { meta_value, snp_type: SnpType::NoOp, ..message }, data)
}

#[test]
fn coh_sfi_05_p2() {
    let snoop = bisnp(BisnpOpcode::BISnpInv, 4, LINE);
    let (back, answer) = (write_back(8, MetaValue::Invalid), birsp(BirspOpcode::BIRspI, 4, 0));
    silent(HdmDb, &[own(7), ndr(Ndr::CmpE, 7), drs(7, 1), snoop, back, ndr(Ndr::Cmp, 8), answer]);
    // A write behind BIRspE may pass it, and so may one of a host without a copy.
    let kept = [bisnp(BisnpOpcode::BISnpCur, 4, LINE), write_back(8, MetaValue::Any), birsp(BirspOpcode::BIRspE, 4, 0)];
    silent(HdmDb, &[&kept[..], &[ndr(Ndr::Cmp, 8)]].concat());
    let Message::M2sRwd(message, data) = back else { unreachable!("a write") };
    let from_nothing = Message::M2sRwd(M2sRwd { snp_type: SnpType::SnpInv, ..message }, data);
    silent(HdmDb, &[snoop, from_nothing, answer, ndr(Ndr::Cmp, 8)]);
    // Another line.
    let other = Message::M2sRwd(M2sRwd { address: LINE + 64, ..message }, data);
    silent(HdmDb, &[snoop, other, answer, ndr(Ndr::Cmp, 8)]);
}

#[test]
fn coh_sfi_05_n2() {
    let snoop = bisnp(BisnpOpcode::BISnpInv, 4, LINE);
    let (back, answer) = (write_back(8, MetaValue::Invalid), birsp(BirspOpcode::BIRspI, 4, 0));
    let early = [own(7), ndr(Ndr::CmpE, 7), drs(7, 1), snoop, back, answer, ndr(Ndr::Cmp, 8)];
    let expected = "Cmp before it, for MemWr to 0x1000 in flit 1 down with tag 0x8";
    broken(HdmDb, &early, "COH-SFI-05", (DOWN, 2), ["BIRspI with BITag 0x4", expected]);
    // For a block, too.
    let block = [
        bisnp(BisnpOpcode::BISnpDataBlk, 4, LINE + 0xc0),
        write_back(8, MetaValue::Shared),
        birsp(BirspOpcode::BIRspSBlk, 4, 0),
        ndr(Ndr::Cmp, 8),
    ];
    broken(HdmDb, &block, "COH-SFI-05", (DOWN, 1), ["BIRspSBlk with BITag 0x4", "Cmp before it, for MemWr"]);
}

fn of_line(message: Message, address: u64) -> Message {
    match message {
        Message::M2sReq(request) => Message::M2sReq(M2sReq { address, ..request }),
        Message::M2sRwd(request, data) => Message::M2sRwd(M2sRwd { address, ..request }, data),
        other => other,
    }
}

#[test]
fn coh_ids_03_p2() {
    let snoop = bisnp(BisnpOpcode::BISnpInv, 4, LINE);
    let [answer, ack] = [birsp(BirspOpcode::BIRspI, 4, 0), ndr(Ndr::BIConflictAck, 1)];
    silent(HdmDb, &[own(1), snoop, conflict(1), ack, answer, ndr(Ndr::CmpE, 1), drs(1, 5)]);
    // The request is over where the probe is, and the host does not know it yet.
    silent(HdmDb, &[own(1), snoop, ndr(Ndr::CmpE, 1), drs(1, 5), conflict(1), ack, answer]);
    // Another line has a request of its own; a BIConflict without any is tolerated (`coherence` §3.5).
    silent(HdmDb, &[of_line(own(2), LINE + 64), ndr(Ndr::CmpE, 2), drs(2, 5), snoop, conflict(1), ack, answer]);
}

#[test]
fn coh_ids_03_n2() {
    let snoop = bisnp(BisnpOpcode::BISnpInv, 4, LINE);
    let answer = birsp(BirspOpcode::BIRspI, 4, 0);
    let done = [ndr(Ndr::CmpE, 7), drs(7, 5)];
    let fresh = [&[own(7), snoop, conflict(9), ndr(Ndr::BIConflictAck, 9), answer], &done[..]].concat();
    let words = ["BIConflict with tag 0x9", "tag 0x7, that of MemRd to 0x1000 in flit 0 down"];
    broken(HdmDb, &fresh, "COH-IDS-03", (DOWN, 1), words);
    let other = [of_line(own(7), LINE + 64), snoop, conflict(7), ndr(Ndr::BIConflictAck, 7), answer];
    let words = ["BIConflict with tag 0x7", "a request to the same line: MemRd to 0x1040 in flit 0 down has the tag"];
    broken(HdmDb, &[&other[..], &done[..]].concat(), "COH-IDS-03", (DOWN, 1), words);
}

/// The host answers before its BIConflict is acknowledged: it is blamed, and the device, which ends the request, is not.
#[test]
fn coh_bic_01_n2() {
    let snoop = bisnp(BisnpOpcode::BISnpInv, 4, LINE);
    let [answer, ack] = [birsp(BirspOpcode::BIRspI, 4, 0), ndr(Ndr::BIConflictAck, 1)];
    let early = [own(1), snoop, conflict(1), answer, ack, ndr(Ndr::CmpE, 1), drs(1, 5)];
    let words = ["BIRspI with BITag 0x4", "BIConflictAck before it, for BIConflict in flit 1 down with tag 0x1"];
    broken(HdmDb, &early, "COH-BIC-01", (DOWN, 2), words);
}

#[test]
fn coh_mem_36_n2() {
    let Message::S2mDrs(message, data) = nxm(1) else { unreachable!("a DRS") };
    let mut line = data.line;
    line[63] = 0xfe;
    let wrong = Message::S2mDrs(message, Data { line, ..data });
    let words = ["DRS MemDataNXM of 64 B with tag 0x1 and 0xfe in byte 63", "ones in all bytes for MemRd to 0x1000"];
    broken(HdmH, &[read(1), wrong], "COH-MEM-36", (UP, 0), words);
    broken(HdmDb, &[own(1), wrong], "COH-MEM-36", (UP, 0), words);
    // It is the only answer, whatever the region.
    let words = ["DRS MemDataNXM of 64 B with tag 0x1", "no completion beside it, for MemRd to 0x1000 in flit 0 down"];
    broken(HdmDb, &[own(1), ndr(Ndr::CmpE, 1), nxm(1)], "COH-MEM-36", (UP, 1), words);
    silent(HdmDb, &[own(1), own(1), ndr(Ndr::CmpE, 1), nxm(1), drs(1, 5)]);
    // Of half a line the other bytes are not there.
    let half = |enables: u64| {
        let line = std::array::from_fn(|n| if enables >> n & 1 == 1 { 0xff } else { 0 });
        Message::S2mDrs(message, Data { line, byte_enables: Some(enables), ..data })
    };
    silent(HdmH, &[read(1), half(0xffff_ffff), half(0xffff_ffff << 32)]);
}

#[test]
fn txn_ord_01_p() {
    let snoop = bisnp(BisnpOpcode::BISnpInv, 4, LINE);
    let [answer, ack] = [birsp(BirspOpcode::BIRspI, 4, 0), ndr(Ndr::BIConflictAck, 1)];
    // The snoop won: the request is completed behind the answer to it.
    let early = [own(1), snoop, conflict(1), ack, answer, ndr(Ndr::CmpE, 1), drs(1, 5)];
    silent(HdmDb, &early);
    // The request won: its completion comes before the acknowledgement.
    silent(HdmDb, &[own(1), snoop, conflict(1), ndr(Ndr::CmpE, 1), ack, drs(1, 5), answer]);
}

#[test]
fn txn_ord_01_n() {
    let snoop = bisnp(BisnpOpcode::BISnpInv, 4, LINE);
    let [answer, ack] = [birsp(BirspOpcode::BIRspI, 4, 0), ndr(Ndr::BIConflictAck, 1)];
    let passed = [own(1), snoop, conflict(1), ack, ndr(Ndr::CmpE, 1), drs(1, 5), answer];
    let expected = "BIRsp before it: the BIConflict of MemRd to 0x1000 in flit 0 down was acknowledged in flit 1 up";
    broken(HdmDb, &passed, "TXN-ORD-01", (UP, 2), ["NDR CmpE with tag 0x1", expected]);
}

#[test]
fn txn_dat_01_p() {
    let cmp = |tag| ndr(Ndr::Cmp, tag);
    silent(HdmH, &[read(1), drs(1, 3), read(1), drs(1, 3), write(2, 4), cmp(2), read(1), drs(1, 4)]);
    // A read beside a write brings either.
    for value in [3, 4] {
        silent(HdmH, &[read(1), drs(1, 3), read(1), write(2, 4), cmp(2), drs(1, value), read(1), drs(1, 4)]);
    }
    // Of two requests under one tag nobody knows whose data it is; of what an agent may have written, nobody knows the bytes.
    silent(HdmH, &[read(1), drs(1, 3), read(1), read(1), drs(1, 4), drs(1, 4)]);
    silent(HdmDb, &[write(1, 3), cmp(1), own(1), ndr(Ndr::CmpE, 1), drs(1, 4)]);
    // Logical devices have lines of their own.
    let [Message::M2sReq(request), Message::S2mDrs(answer, data)] = [read(1), drs(1, 9)] else { unreachable!() };
    let other = [Message::M2sReq(M2sReq { ld_id: 1, ..request }), Message::S2mDrs(S2mDrs { ld_id: 1, ..answer }, data)];
    silent(HdmH, &[&[read(1), drs(1, 3)], &other[..], &[read(1), drs(1, 3)]].concat());
    // Bytes in a trusted environment are written by messages that are not looked into.
    silent(HdmH, &[read(1), drs(1, 3), rwd(Wr::MemWrTEE, 2, 9, None, false), cmp(2), read(1), drs(1, 9)]);
}

#[test]
fn txn_dat_01_n() {
    let cmp = |tag| ndr(Ndr::Cmp, tag);
    let stale = [write(2, 4), cmp(2), write(2, 5), cmp(2), read(1), drs(1, 4)];
    broken(
        HdmH,
        &stale,
        "TXN-DAT-01",
        (UP, 2),
        [
            "0x04 in byte 0 for MemRd to 0x1000 in flit 2 down with tag 0x1 (the line is as it was before the newest write)",
            "0x05",
        ],
    );
    let changed = [read(1), drs(1, 3), read(1), drs(1, 7)];
    broken(HdmH, &changed, "TXN-DAT-01", (UP, 1), ["0x07 in byte 0", "0x03"]);
    // Byte enables: one byte more than they say.
    let part = [write(2, 4), cmp(2), rwd(Wr::MemWrPtl, 2, 5, Some(!1), false), cmp(2), read(1), drs(1, 5)];
    let said = "0x05 in byte 0 for MemRd to 0x1000 in flit 2 down with tag 0x1 (the newest write has changed bytes that it does not enable)";
    broken(HdmH, &part, "TXN-DAT-01", (UP, 2), [said, "0x04"]);
    // The bytes of another read.
    let behind = |message: Message| match message {
        Message::M2sReq(request) => Message::M2sReq(M2sReq { address: LINE + 64, ..request }),
        Message::M2sRwd(request, data) => Message::M2sRwd(M2sRwd { address: LINE + 64, ..request }, data),
        other => other,
    };
    let writes = [write(2, 4), cmp(2), behind(write(3, 5)), cmp(3)];
    let swapped = [&writes[..], &[read(1), behind(read(6)), drs(1, 5), drs(6, 5)]].concat();
    let said = "with tag 0x1 (these are the bytes for MemRd to 0x1040 in flit 3 down with tag 0x6)";
    broken(HdmH, &swapped, "TXN-DAT-01", (UP, 2), [said, "0x04"]);
    let beside = [read(1), drs(1, 3), read(1), write(2, 4), cmp(2), drs(1, 5)];
    broken(HdmH, &beside, "TXN-DAT-01", (UP, 2), ["0x05 in byte 0", "0x03 or 0x04"]);
}

#[test]
fn txn_dat_02_p() {
    let cmp = |tag| ndr(Ndr::Cmp, tag);
    silent(HdmH, &[rwd(Wr::MemWr, 2, 4, None, true), cmp(2), read(1), poisoned(1)]);
    silent(HdmH, &[rwd(Wr::MemWr, 2, 4, None, true), cmp(2), write(2, 4), cmp(2), read(1), drs(1, 4)]);
    // Memory may fail, and be repaired.
    silent(HdmH, &[write(2, 4), cmp(2), read(1), poisoned(1), read(1), drs(1, 4)]);
}

#[test]
fn txn_dat_02_n() {
    let lost = [rwd(Wr::MemWr, 2, 4, None, true), ndr(Ndr::Cmp, 2), read(1), drs(1, 4)];
    broken(HdmH, &lost, "TXN-DAT-02", (UP, 1), ["byte 0 without poison for MemRd", "poison"]);
}

#[test]
fn txn_end_01_p() {
    silent(HdmH, &[read(1), write(2, 1), ndr(Ndr::Cmp, 2), drs(1, 1)]);
    assert_eq!(checker(config(HdmH)).open(), 0);
}

#[test]
fn txn_end_01_n() {
    let found = "no answer at the end of the run to MemRd to 0x1000 in flit 1 down with tag 0x9";
    broken(HdmH, &[write(2, 1), read(9), ndr(Ndr::Cmp, 2)], "TXN-END-01", (UP, 0), [found, "MemData"]);
    broken(HdmH, &[read(9), half(9, 0)], "TXN-END-01", (UP, 0), ["to MemRd", "the other half of MemData"]);
    broken(HdmDb, &[own(9), drs(9, 0)], "TXN-END-01", (UP, 0), ["to MemRd", "CmpE or CmpM"]);
    broken(HdmDb, &[own(9)], "TXN-END-01", (UP, 0), ["to MemRd", "CmpE or CmpM and MemData"]);
    broken(HdmDb, &[conflict(9)], "TXN-END-01", (UP, 0), ["to BIConflict in flit 0 down", "BIConflictAck"]);
    let block = [bisnp(BisnpOpcode::BISnpInvBlk, 1, LINE + 0xc0), birsp(BirspOpcode::BIRspI, 1, 2)];
    broken(HdmDb, &block, "TXN-END-01", (DOWN, 0), ["to BISnpInvBlk in flit 0 up", "BIRsp to 3 lines"]);
}

/// A checker with a limit of 100 flit clocks, of which a read has passed at time 1000.
fn limited() -> CxlMemTransactions {
    let limit = Some(AnswerLimit { time: 100, unit: "flit clocks", steps: 1 });
    let mut checker = checker(CxlMemConfig { limit, ..config(HdmH) });
    assert_eq!(checker.clock(1000), []);
    assert_eq!(checker.see(0, 0, &read(1)), []);
    checker
}

#[test]
fn txn_end_02_p() {
    let mut checker = limited();
    assert_eq!(checker.clock(1100), []);
    assert_eq!(checker.see(0, 40, &drs(1, 0)), []);
    assert_eq!([checker.clock(9000), checker.finish()], [[], []]);
}

#[test]
fn txn_end_02_n() {
    let mut checker = limited();
    checker.unit(0, UP, 41);
    let found = "no answer in 100 flit clocks to MemRd to 0x1000 in flit 0 down with tag 0x1";
    one(&checker.clock(1101), "TXN-END-02", (UP, 41), [found, "MemData"]);
    // It is told once, and may still come.
    assert_eq!(checker.clock(2000), []);
    assert_eq!(checker.open(), 1);
    assert_eq!(checker.see(0, 42, &drs(1, 0)), []);
    assert_eq!(checker.finish(), []);
}

/// Messages of CXL.cache, and requests without an answer, are passed over; a link that nobody named breaks nothing.
#[test]
fn what_owes_nothing_is_passed_over() {
    let forward = req(Op::MemRdFwd, Some(MetaValue::Invalid), SnpType::NoOp, 1);
    let cache = Message::D2hReq(scalepool_protocols::cxl::message::D2hReq::default());
    silent(HdmD, &[forward, cache, req(Op::MemSpecRd, None, SnpType::NoOp, 0)]);
    let mut checker = checker(config(HdmH));
    assert_eq!(checker.see(7, 0, &read(1)), []);
    assert_eq!(checker.see(7, u64::MAX, &drs(1, 0)), []);
}
