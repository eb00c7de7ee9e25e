//! The fields of a Control half-flit (`ualink` §10).

use super::code::{CompressedCmd, CreditTarget, FieldType, RdWr, ReqCmd, Status};
use super::upli;
use crate::layout;
use crate::wire::{At, Violation, Wire};

layout! {
    /// Uncompressed request.
    pub struct TlReq: 128 bits = "ualink.tl_req" {
        source: "ualink §10 (A)", basis: Spec, rule: "UAL-FLD-01", cross_check: request;
        /// Data beats of 64 bytes, minus 1; means something where data follows.
        numbeats: u8 = [0 +: 2];
        /// Way of the address cache.
        cway: u8 = [2 +: 2];
        /// 1: the receiver loads the address into its cache.
        cload: bool = [4 +: 1];
        /// Destination accelerator.
        dst: u16 = [5 +: 10];
        /// Source accelerator.
        src: u16 = [15 +: 10];
        /// Byte address; bits 56:2 travel.
        address: u64 = [25 +: 55], address 2;
        /// Metadata.
        metadata: u8 = [80 +: 8];
        /// DWords, minus 1.
        len: u8 = [88 +: 6];
        /// Attributes: byte enables of a read, operation of an atomic.
        attr: u8 = [94 +: 8];
        /// 1: pool credits.
        pool: bool = [102 +: 1];
        /// Names the transaction.
        tag: u16 = [103 +: 11];
        /// Address space.
        asi: u8 = [114 +: 2];
        /// Virtual channel.
        vchan: u8 = [116 +: 2];
        /// Command.
        cmd: ReqCmd = [118 +: 6];
        /// Kind of field.
        ftype: FieldType = [124 +: 4], default 1;
    }
}

layout! {
    /// Uncompressed response.
    pub struct TlRsp: 64 bits = "ualink.tl_rsp" {
        source: "ualink §10 (A)", basis: Spec, rule: "UAL-FLD-02", cross_check: response;
        /// Spare, sent as 0.
        spare: u16 = [0 +: 16], reserved;
        /// Destination accelerator.
        dst: u16 = [16 +: 10];
        /// Source accelerator, or 0.
        src: u16 = [26 +: 10];
        /// Last beat of a read; 0 for writes.
        last: bool = [36 +: 1];
        /// What it answers.
        rdwr: RdWr = [37 +: 1];
        /// Status.
        status: Status = [38 +: 4];
        /// Beat, of a read response of one beat.
        offset: u8 = [42 +: 2];
        /// Beats, minus 1, of a read response of all beats; else 0.
        len: u8 = [44 +: 2];
        /// 1: pool credits.
        pool: bool = [46 +: 1];
        /// Names the transaction.
        tag: u16 = [47 +: 11];
        /// Virtual channel.
        vchan: u8 = [58 +: 2];
        /// Kind of field.
        ftype: FieldType = [60 +: 4], default 2;
    }
}

layout! {
    /// Compressed request.
    pub struct TlCreq: 64 bits = "ualink.tl_creq" {
        source: "ualink §10 (A)", basis: Spec, rule: "UAL-FLD-03", cross_check: compressed_request;
        /// Way of the address cache that holds the high bits of the address.
        cway: u8 = [0 +: 2];
        /// Destination accelerator.
        dst: u16 = [2 +: 10];
        /// Source accelerator.
        src: u16 = [12 +: 10];
        /// Low part of the byte address; bits 19:6 travel.
        address: u32 = [22 +: 14], address 6;
        /// Metadata bits 2:0.
        metadata: u8 = [36 +: 3];
        /// Beats of 64 bytes, minus 1.
        len: u8 = [39 +: 2];
        /// 1: pool credits.
        pool: bool = [41 +: 1];
        /// Names the transaction.
        tag: u16 = [42 +: 11];
        /// Address space.
        asi: u8 = [53 +: 2];
        /// Virtual channel.
        vchan: u8 = [55 +: 2];
        /// Command.
        cmd: CompressedCmd = [57 +: 3];
        /// Kind of field.
        ftype: FieldType = [60 +: 4], default 3;
    }
}

layout! {
    /// Compressed read response of one beat.
    pub struct TlCrspSingle: 32 bits = "ualink.tl_crsp_single" {
        source: "ualink §10 (A)", basis: Spec, rule: "UAL-FLD-04", cross_check: single;
        /// Spare, sent as 0.
        spare: bool = [0 +: 1], reserved;
        /// Last beat of the read.
        last: bool = [1 +: 1];
        /// Beat.
        offset: u8 = [2 +: 2];
        /// Destination accelerator.
        dst: u16 = [4 +: 10];
        /// 1: pool credits.
        pool: bool = [14 +: 1];
        /// Names the transaction.
        tag: u16 = [15 +: 11];
        /// Virtual channel.
        vchan: u8 = [26 +: 2];
        /// Kind of field.
        ftype: FieldType = [28 +: 4], default 4;
    }
}

layout! {
    /// Compressed write response, or read response of all beats.
    pub struct TlCrspMulti: 32 bits = "ualink.tl_crsp_multi" {
        source: "ualink §10 (A)", basis: Spec, rule: "UAL-FLD-05", cross_check: multi;
        /// Spare, sent as 0.
        spare: bool = [0 +: 1], reserved;
        /// What it answers.
        rdwr: RdWr = [1 +: 1];
        /// Beats, minus 1; 0 for writes.
        len: u8 = [2 +: 2];
        /// Destination accelerator.
        dst: u16 = [4 +: 10];
        /// 1: pool credits.
        pool: bool = [14 +: 1];
        /// Names the transaction.
        tag: u16 = [15 +: 11];
        /// Virtual channel.
        vchan: u8 = [26 +: 2];
        /// Kind of field.
        ftype: FieldType = [28 +: 4], default 5;
    }
}

layout! {
    /// Returned credits; all zero: NOP.
    pub struct TlFc: 32 bits = "ualink.tl_fc" {
        source: "ualink §10 (A)", basis: Spec, rule: "UAL-FLD-06", cross_check: flow_control;
        /// Response data credits.
        rsp_data_cnt: u8 = [0 +: 5];
        /// Their virtual channel, if they are not for the pool.
        rsp_data_vc: u8 = [5 +: 2];
        /// Where they belong.
        rsp_data_t: CreditTarget = [7 +: 1];
        /// Request data credits.
        req_data_cnt: u8 = [8 +: 5];
        /// Their virtual channel, if they are not for the pool.
        req_data_vc: u8 = [13 +: 2];
        /// Where they belong.
        req_data_t: CreditTarget = [15 +: 1];
        /// Response command credits.
        rsp_cmd_cnt: u8 = [16 +: 3];
        /// Their virtual channel, if they are not for the pool.
        rsp_cmd_vc: u8 = [19 +: 2];
        /// Where they belong.
        rsp_cmd_t: CreditTarget = [21 +: 1];
        /// Request command credits.
        req_cmd_cnt: u8 = [22 +: 3];
        /// Their virtual channel, if they are not for the pool.
        req_cmd_vc: u8 = [25 +: 2];
        /// Where they belong.
        req_cmd_t: CreditTarget = [27 +: 1];
        /// Kind of field.
        ftype: FieldType = [28 +: 4];
    }
}

/// Bytes that one transaction may not leave (`ualink` §1).
pub const REGION_BYTES: u64 = 256;

/// A finding in a message.
pub(super) fn finding(
    rule: &'static str,
    (lsb, width): (u32, u32),
    found: impl ToString,
    expected: impl ToString,
    text: &str,
) -> Violation {
    let (found, expected) = (found.to_string(), expected.to_string());
    Violation { rule, at: At::Bits { lsb, width }, found, expected, text: text.into() }
}

/// The type field is that of the layout; `lsb` is its place.
fn own_type(kind: FieldType, own: FieldType, lsb: u32, found: &mut Vec<Violation>) {
    if kind != own && kind.name().is_some() {
        found.push(finding("UAL-TLF-03", (lsb, 4), kind.0, own.0, "the type code is that of another field"));
    }
}

fn request(bits: u128, found: &mut Vec<Violation>) {
    let req = TlReq::from_bits(bits);
    own_type(req.ftype, FieldType::Request, 124, found);
    let end = req.address % REGION_BYTES + 4 * (u64::from(req.len) + 1);
    if end > REGION_BYTES {
        let found_end = format!("byte {} of its region", end - 1);
        found.push(finding(
            "UAL-SIZ-02",
            (25, 55),
            found_end,
            "at most byte 255",
            "ualink.tl_req: the transfer crosses a border of 256 bytes",
        ));
    }
    if req.cmd.name().is_some() && req.cmd.is_atomic() && req.cmd.0 < 0x3c {
        upli::check_atomic(req.attr, req.len, found);
    }
}

fn response(bits: u128, found: &mut Vec<Violation>) {
    let rsp = TlRsp::from_bits(bits);
    own_type(rsp.ftype, FieldType::Response, 60, found);
    if rsp.rdwr == RdWr::Write && (rsp.len, rsp.offset, rsp.last) != (0, 0, false) {
        let text = "ualink.tl_rsp: LEN, OFFSET and LAST are not 0 in a write response";
        found.push(finding("UAL-FLD-02", (36, 10), "not 0", "0", text));
    }
}

fn compressed_request(bits: u128, found: &mut Vec<Violation>) {
    let req = TlCreq::from_bits(bits);
    own_type(req.ftype, FieldType::CompressedRequest, 60, found);
    let beats = req.address / 64 % 4 + u32::from(req.len) + 1;
    if beats > 4 {
        found.push(finding(
            "UAL-FLD-07",
            (22, 14),
            format!("beat {} of its region", beats - 1),
            "at most beat 3",
            "ualink.tl_creq: the transfer crosses a boundary of 256 bytes",
        ));
    }
}

fn single(bits: u128, found: &mut Vec<Violation>) {
    own_type(TlCrspSingle::from_bits(bits).ftype, FieldType::CompressedSingle, 28, found);
}

fn multi(bits: u128, found: &mut Vec<Violation>) {
    let rsp = TlCrspMulti::from_bits(bits);
    own_type(rsp.ftype, FieldType::CompressedMulti, 28, found);
    if rsp.rdwr == RdWr::Write && rsp.len != 0 {
        found.push(finding("UAL-FLD-05", (2, 2), rsp.len, 0, "ualink.tl_crsp_multi: LEN is not 0 in a write response"));
    }
}

fn flow_control(bits: u128, found: &mut Vec<Violation>) {
    let fc = TlFc::from_bits(bits);
    own_type(fc.ftype, FieldType::FlowControl, 28, found);
    if bits != 0 && fc.ftype == FieldType::FlowControl && fc.is_empty() {
        found.push(finding(
            "UAL-TLF-04",
            (0, 28),
            format!("{bits:#x}"),
            0,
            "ualink.tl_fc: a flow-control field without credits is not all 0",
        ));
    }
}

impl TlFc {
    /// Whether it returns no credit.
    pub const fn is_empty(&self) -> bool {
        self.rsp_data_cnt | self.req_data_cnt | self.rsp_cmd_cnt | self.req_cmd_cnt == 0
    }
}
