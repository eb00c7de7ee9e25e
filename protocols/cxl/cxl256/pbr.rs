//! The twelve messages of port based routing (`cxl-256b` §3.2): CacheID, LD-ID and BI-ID are gone, every message has a
//! DPID, those that need an answer an SPID.
//!
//! The widths are sure; the letter in each `source` says how sure the order of the fields is. This file is the only
//! place that knows it. Fixed points of any correction: [`FIXED_POINTS`].

use super::code::{
    BirspOpcode, BisnpOpcode, D2hReqOpcode, D2hRspOpcode, DevLoad, DrsOpcode, H2dReqOpcode, H2dRspOpcode, M2sReqOpcode,
    M2sRwdOpcode, MetaField, MetaValue, NdrOpcode, RspPre, SnpType,
};
use super::message::{GO_STATE_RULE, judge_chunk, judge_rwd_trailer};
use crate::cxl::cxl68::message::judge_go_state;
use crate::layout;
use crate::wire::{Violation, Wire};

layout! {
    /// CXL.cache snoop, host to device.
    pub struct H2dReq: 92 bits = "cxlpbr.h2d_req" {
        source: "cxl-256b §3.2 (C)", basis: Inferred, rule: "CXLPBR-MSG-01";
        /// 1: the message is present.
        valid: bool = [0 +: 1], default 1;
        /// What is asked or answered.
        opcode: H2dReqOpcode = [1 +: 3], rule "CXL256-ENC-03";
        /// Host physical byte address; bits 51:6 travel.
        address: u64 = [4 +: 46], address 6;
        /// Names the transaction at the host.
        uqid: u16 = [50 +: 12];
        /// Port that sent it.
        spid: u16 = [62 +: 12];
        /// Port it goes to.
        dpid: u16 = [74 +: 12];
        /// Reserved.
        rsvd: u8 = [86 +: 6], reserved;
    }
}

layout! {
    /// CXL.cache answer, host to device.
    pub struct H2dRsp: 48 bits = "cxlpbr.h2d_rsp" {
        source: "cxl-256b §3.2 (C)", basis: Inferred, rule: "CXLPBR-MSG-02", cross_check: go_state;
        /// 1: the message is present.
        valid: bool = [0 +: 1], default 1;
        /// What is asked or answered.
        opcode: H2dRspOpcode = [1 +: 4];
        /// UQID, or the state of a GO in bits 3:0, by opcode.
        rsp_data: u16 = [5 +: 12];
        /// Where the host found the line.
        rsp_pre: RspPre = [17 +: 2], rule "CXL256-ENC-05";
        /// Names the transaction at the device.
        cqid: u16 = [19 +: 12];
        /// Port it goes to.
        dpid: u16 = [31 +: 12];
        /// Reserved.
        rsvd: u8 = [43 +: 5], reserved;
    }
}

layout! {
    /// Header of CXL.cache data, host to device.
    pub struct H2dData: 36 bits = "cxlpbr.h2d_data" {
        source: "cxl-256b §3.2 (B)", basis: Spec, rule: "CXLPBR-MSG-03";
        /// 1: the message is present.
        valid: bool = [0 +: 1], default 1;
        /// Names the transaction at the device.
        cqid: u16 = [1 +: 12];
        /// The data is known to be wrong.
        poison: bool = [13 +: 1];
        /// The read failed; the data means nothing.
        go_err: bool = [14 +: 1];
        /// Port it goes to.
        dpid: u16 = [15 +: 12];
        /// Reserved.
        rsvd: u16 = [27 +: 9], reserved;
    }
}

layout! {
    /// CXL.cache request, device to host.
    pub struct D2hReq: 96 bits = "cxlpbr.d2h_req" {
        source: "cxl-256b §3.2 (B)", basis: Spec, rule: "CXLPBR-MSG-04";
        /// 1: the message is present.
        valid: bool = [0 +: 1], default 1;
        /// What is asked or answered.
        opcode: D2hReqOpcode = [1 +: 5], rule "CXL256-ENC-01";
        /// Names the transaction at the device.
        cqid: u16 = [6 +: 12];
        /// 1: place the line in LRU position.
        nt: bool = [18 +: 1];
        /// Host physical byte address; bits 51:6 travel.
        address: u64 = [19 +: 46], address 6;
        /// Port that sent it.
        spid: u16 = [65 +: 12];
        /// Port it goes to.
        dpid: u16 = [77 +: 12];
        /// Reserved.
        rsvd: u8 = [89 +: 7], reserved;
    }
}

layout! {
    /// CXL.cache snoop answer, device to host.
    pub struct D2hRsp: 36 bits = "cxlpbr.d2h_rsp" {
        source: "cxl-256b §3.2 (C)", basis: Inferred, rule: "CXLPBR-MSG-05";
        /// 1: the message is present.
        valid: bool = [0 +: 1], default 1;
        /// What is asked or answered.
        opcode: D2hRspOpcode = [1 +: 5], rule "CXL256-ENC-02";
        /// Names the transaction at the host.
        uqid: u16 = [6 +: 12];
        /// Port it goes to.
        dpid: u16 = [18 +: 12];
        /// Reserved.
        rsvd: u8 = [30 +: 6], reserved;
    }
}

layout! {
    /// Header of CXL.cache data, device to host.
    pub struct D2hData: 36 bits = "cxlpbr.d2h_data" {
        source: "cxl-256b §3.2 (C)", basis: Inferred, rule: "CXLPBR-MSG-06";
        /// 1: the message is present.
        valid: bool = [0 +: 1], default 1;
        /// Names the transaction at the host.
        uqid: u16 = [1 +: 12];
        /// The line was taken away meanwhile; the data means nothing.
        bogus: bool = [13 +: 1];
        /// The data is known to be wrong.
        poison: bool = [14 +: 1];
        /// A trailer with byte enables follows the data.
        bep: bool = [15 +: 1];
        /// Port it goes to.
        dpid: u16 = [16 +: 12];
        /// Reserved.
        rsvd: u8 = [28 +: 8], reserved;
    }
}

layout! {
    /// CXL.mem request without data, host to device.
    pub struct M2sReq: 120 bits = "cxlpbr.m2s_req" {
        source: "cxl-256b §3.2 (B/C)", basis: Inferred, rule: "CXLPBR-MSG-07";
        /// 1: the message is present.
        valid: bool = [0 +: 1], default 1;
        /// What is asked or answered.
        opcode: M2sReqOpcode = [1 +: 4];
        /// Snoop asked of the device.
        snp_type: SnpType = [5 +: 3], rule "CXL256-ENC-11";
        /// Meta field concerned.
        meta_field: MetaField = [8 +: 2];
        /// Value of the meta field.
        meta_value: MetaValue = [10 +: 2];
        /// Names the transaction; the answer carries it back.
        tag: u16 = [12 +: 16];
        /// Host physical byte address; bits 51:6 travel.
        address: u64 = [28 +: 46], address 6;
        /// Port that sent it.
        spid: u16 = [74 +: 12];
        /// Port it goes to.
        dpid: u16 = [86 +: 12];
        /// Key of memory encryption.
        ckid: u16 = [98 +: 13];
        /// Reserved.
        rsvd: u8 = [111 +: 7], reserved;
        /// Traffic class.
        tc: u8 = [118 +: 2];
    }
}

layout! {
    /// Header of a CXL.mem request with data, host to device.
    pub struct M2sRwd: 124 bits = "cxlpbr.m2s_rwd" {
        source: "cxl-256b §3.2 (B)", basis: Spec, rule: "CXLPBR-MSG-08", cross_check: rwd_trailer;
        /// 1: the message is present.
        valid: bool = [0 +: 1], default 1;
        /// What is asked or answered.
        opcode: M2sRwdOpcode = [1 +: 4];
        /// Snoop asked of the device.
        snp_type: SnpType = [5 +: 3], rule "CXL256-ENC-11";
        /// Meta field concerned.
        meta_field: MetaField = [8 +: 2];
        /// Value of the meta field.
        meta_value: MetaValue = [10 +: 2];
        /// Names the transaction; the answer carries it back.
        tag: u16 = [12 +: 16];
        /// Host physical byte address; bits 51:6 travel.
        address: u64 = [28 +: 46], address 6;
        /// The data is known to be wrong.
        poison: bool = [74 +: 1];
        /// A trailer follows the data.
        trp: bool = [75 +: 1];
        /// Port that sent it.
        spid: u16 = [76 +: 12];
        /// Port it goes to.
        dpid: u16 = [88 +: 12];
        /// Key of memory encryption.
        ckid: u16 = [100 +: 13];
        /// Reserved.
        rsvd: u16 = [113 +: 9], reserved;
        /// Traffic class.
        tc: u8 = [122 +: 2];
    }
}

layout! {
    /// CXL.mem answer to a back-invalidate snoop, host to device.
    pub struct M2sBirsp: 52 bits = "cxlpbr.m2s_birsp" {
        source: "cxl-256b §3.2 (C)", basis: Inferred, rule: "CXLPBR-MSG-09";
        /// 1: the message is present.
        valid: bool = [0 +: 1], default 1;
        /// What is asked or answered.
        opcode: BirspOpcode = [1 +: 4];
        /// Names the back-invalidate transaction.
        bi_tag: u16 = [5 +: 12];
        /// Address bits 7:6: which part of a block is answered.
        low_addr: u8 = [17 +: 2];
        /// Port that sent it.
        spid: u16 = [19 +: 12];
        /// Port it goes to.
        dpid: u16 = [31 +: 12];
        /// Reserved.
        rsvd: u16 = [43 +: 9], reserved;
    }
}

layout! {
    /// CXL.mem back-invalidate snoop, device to host.
    pub struct S2mBisnp: 96 bits = "cxlpbr.s2m_bisnp" {
        source: "cxl-256b §3.2 (B)", basis: Spec, rule: "CXLPBR-MSG-10", cross_check: bisnp_chunk;
        /// 1: the message is present.
        valid: bool = [0 +: 1], default 1;
        /// What is asked or answered.
        opcode: BisnpOpcode = [1 +: 4];
        /// Names the back-invalidate transaction.
        bi_tag: u16 = [5 +: 12];
        /// Host physical byte address; bits 51:6 travel. Bits 7:6 are a chunk code in the *Blk forms.
        address: u64 = [17 +: 46], address 6;
        /// Port that sent it.
        spid: u16 = [63 +: 12];
        /// Port it goes to.
        dpid: u16 = [75 +: 12];
        /// Reserved.
        rsvd: u16 = [87 +: 9], reserved;
    }
}

layout! {
    /// CXL.mem answer without data, device to host.
    pub struct S2mNdr: 48 bits = "cxlpbr.s2m_ndr" {
        source: "cxl-256b §3.2 (C)", basis: Inferred, rule: "CXLPBR-MSG-11";
        /// 1: the message is present.
        valid: bool = [0 +: 1], default 1;
        /// What is asked or answered.
        opcode: NdrOpcode = [1 +: 3];
        /// Meta field concerned.
        meta_field: MetaField = [4 +: 2];
        /// Value of the meta field.
        meta_value: MetaValue = [6 +: 2];
        /// Names the transaction; the answer carries it back.
        tag: u16 = [8 +: 16];
        /// Port it goes to.
        dpid: u16 = [24 +: 12];
        /// Load of the device.
        devload: DevLoad = [36 +: 2], rule "CXL256-ENC-11";
        /// Reserved.
        rsvd: u16 = [38 +: 10], reserved;
    }
}

layout! {
    /// Header of a CXL.mem answer with data, device to host.
    pub struct S2mDrs: 48 bits = "cxlpbr.s2m_drs" {
        source: "cxl-256b §3.2 (A)", basis: Spec, rule: "CXLPBR-MSG-12";
        /// 1: the message is present.
        valid: bool = [0 +: 1], default 1;
        /// What is asked or answered.
        opcode: DrsOpcode = [1 +: 3];
        /// Meta field concerned.
        meta_field: MetaField = [4 +: 2];
        /// Value of the meta field.
        meta_value: MetaValue = [6 +: 2];
        /// Names the transaction; the answer carries it back.
        tag: u16 = [8 +: 16];
        /// The data is known to be wrong.
        poison: bool = [24 +: 1];
        /// Load of the device.
        devload: DevLoad = [25 +: 2], rule "CXL256-ENC-11";
        /// Port it goes to.
        dpid: u16 = [27 +: 12];
        /// A trailer follows the data.
        trp: bool = [39 +: 1];
        /// Reserved.
        rsvd: u8 = [40 +: 8], reserved;
    }
}

/// Field of a layout and its lowest bit, as every correction must keep them (`cxl-256b` §3.2): the bits that the zero
/// extension of an RwD drops, and the order of the DRS.
pub const FIXED_POINTS: [(&str, &str, u32); 7] = [
    ("cxlpbr.m2s_rwd", "ckid", 100),
    ("cxlpbr.m2s_rwd", "rsvd", 113),
    ("cxlpbr.m2s_rwd", "tc", 122),
    ("cxlpbr.s2m_drs", "poison", 24),
    ("cxlpbr.s2m_drs", "devload", 25),
    ("cxlpbr.s2m_drs", "dpid", 27),
    ("cxlpbr.s2m_drs", "trp", 39),
];

fn go_state(bits: u128, found: &mut Vec<Violation>) {
    let rsp = H2dRsp::from_bits(bits);
    if rsp.opcode == H2dRspOpcode::GO {
        found.extend(judge_go_state(H2dRsp::DEF.name, GO_STATE_RULE, rsp.rsp_data));
    }
}

fn rwd_trailer(bits: u128, found: &mut Vec<Violation>) {
    found.extend(judge_rwd_trailer(M2sRwd::DEF, bits));
}

fn bisnp_chunk(bits: u128, found: &mut Vec<Violation>) {
    let snp = S2mBisnp::from_bits(bits);
    if snp.opcode.is_block() {
        found.extend(judge_chunk(S2mBisnp::DEF.name, 17, (snp.address >> 6 & 3) as u8));
    }
}
