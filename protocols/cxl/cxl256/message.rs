//! The twelve messages of hierarchy based routing (`cxl-256b` §3.1), the default of 256B mode.

use super::code::{
    BirspOpcode, BisnpOpcode, BlockChunk, D2hReqOpcode, D2hRspOpcode, DevLoad, DrsOpcode, H2dReqOpcode, H2dRspOpcode,
    M2sReqOpcode, M2sRwdOpcode, MetaField, MetaValue, NdrOpcode, RspPre, SnpType,
};
use crate::cxl::cxl68::message::judge_go_state;
use crate::layout;
use crate::wire::{At, LayoutDef, Violation, Wire};

layout! {
    /// CXL.cache snoop, host to device.
    pub struct H2dReq: 72 bits = "cxl256.h2d_req" {
        source: "cxl-256b §3.1 (A)", basis: Spec, rule: "CXL256-MSG-01";
        /// 1: the message is present.
        valid: bool = [0 +: 1], default 1;
        /// What is asked or answered.
        opcode: H2dReqOpcode = [1 +: 3], rule "CXL256-ENC-03";
        /// Host physical byte address; bits 51:6 travel.
        address: u64 = [4 +: 46], address 6;
        /// Names the transaction at the host.
        uqid: u16 = [50 +: 12];
        /// Cache of the device that is concerned.
        cache_id: u8 = [62 +: 4];
        /// Reserved.
        rsvd: u8 = [66 +: 6], reserved;
    }
}

layout! {
    /// CXL.cache answer, host to device.
    pub struct H2dRsp: 40 bits = "cxl256.h2d_rsp" {
        source: "cxl-256b §3.1 (A)", basis: Spec, rule: "CXL256-MSG-02", cross_check: go_state;
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
        /// Cache of the device that is concerned.
        cache_id: u8 = [31 +: 4];
        /// Reserved.
        rsvd: u8 = [35 +: 5], reserved;
    }
}

layout! {
    /// Header of CXL.cache data, host to device.
    pub struct H2dData: 28 bits = "cxl256.h2d_data" {
        source: "cxl-256b §3.1 (B)", basis: Spec, rule: "CXL256-MSG-03";
        /// 1: the message is present.
        valid: bool = [0 +: 1], default 1;
        /// Names the transaction at the device.
        cqid: u16 = [1 +: 12];
        /// The data is known to be wrong.
        poison: bool = [13 +: 1];
        /// The read failed; the data means nothing.
        go_err: bool = [14 +: 1];
        /// Cache of the device that is concerned.
        cache_id: u8 = [15 +: 4];
        /// Reserved.
        rsvd: u16 = [19 +: 9], reserved;
    }
}

layout! {
    /// CXL.cache request, device to host.
    pub struct D2hReq: 76 bits = "cxl256.d2h_req" {
        source: "cxl-256b §3.1 (B)", basis: Spec, rule: "CXL256-MSG-04";
        /// 1: the message is present.
        valid: bool = [0 +: 1], default 1;
        /// What is asked or answered.
        opcode: D2hReqOpcode = [1 +: 5], rule "CXL256-ENC-01";
        /// Names the transaction at the device.
        cqid: u16 = [6 +: 12];
        /// 1: place the line in LRU position.
        nt: bool = [18 +: 1];
        /// Cache of the device that is concerned.
        cache_id: u8 = [19 +: 4];
        /// Reserved.
        rsvd: u8 = [23 +: 3], reserved;
        /// Host physical byte address; bits 51:6 travel.
        address: u64 = [26 +: 46], address 6;
        /// Reserved.
        rsvd1: u8 = [72 +: 4], reserved;
    }
}

layout! {
    /// CXL.cache snoop answer, device to host.
    pub struct D2hRsp: 24 bits = "cxl256.d2h_rsp" {
        source: "cxl-256b §3.1 (A)", basis: Spec, rule: "CXL256-MSG-05";
        /// 1: the message is present.
        valid: bool = [0 +: 1], default 1;
        /// What is asked or answered.
        opcode: D2hRspOpcode = [1 +: 5], rule "CXL256-ENC-02";
        /// Names the transaction at the host.
        uqid: u16 = [6 +: 12];
        /// Reserved.
        rsvd: u8 = [18 +: 6], reserved;
    }
}

layout! {
    /// Header of CXL.cache data, device to host.
    pub struct D2hData: 24 bits = "cxl256.d2h_data" {
        source: "cxl-256b §3.1 (A)", basis: Spec, rule: "CXL256-MSG-06";
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
        /// Reserved.
        rsvd: u8 = [16 +: 8], reserved;
    }
}

layout! {
    /// CXL.mem request without data, host to device.
    pub struct M2sReq: 100 bits = "cxl256.m2s_req" {
        source: "cxl-256b §3.1 (A)", basis: Spec, rule: "CXL256-MSG-07";
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
        /// Logical device.
        ld_id: u8 = [74 +: 4];
        /// Key of memory encryption.
        ckid: u16 = [78 +: 13];
        /// Reserved.
        rsvd: u8 = [91 +: 7], reserved;
        /// Traffic class.
        tc: u8 = [98 +: 2];
    }
}

layout! {
    /// Header of a CXL.mem request with data, host to device.
    pub struct M2sRwd: 104 bits = "cxl256.m2s_rwd" {
        source: "cxl-256b §3.1 (A)", basis: Spec, rule: "CXL256-MSG-08", cross_check: rwd_trailer;
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
        /// Logical device.
        ld_id: u8 = [76 +: 4];
        /// Key of memory encryption.
        ckid: u16 = [80 +: 13];
        /// Reserved.
        rsvd: u16 = [93 +: 9], reserved;
        /// Traffic class.
        tc: u8 = [102 +: 2];
    }
}

layout! {
    /// CXL.mem answer to a back-invalidate snoop, host to device.
    pub struct M2sBirsp: 40 bits = "cxl256.m2s_birsp" {
        source: "cxl-256b §3.1 (A)", basis: Spec, rule: "CXL256-MSG-09";
        /// 1: the message is present.
        valid: bool = [0 +: 1], default 1;
        /// What is asked or answered.
        opcode: BirspOpcode = [1 +: 4];
        /// Device that back-invalidates.
        bi_id: u16 = [5 +: 12];
        /// Names the back-invalidate transaction.
        bi_tag: u16 = [17 +: 12];
        /// Address bits 7:6: which part of a block is answered.
        low_addr: u8 = [29 +: 2];
        /// Reserved.
        rsvd: u16 = [31 +: 9], reserved;
    }
}

layout! {
    /// CXL.mem back-invalidate snoop, device to host.
    pub struct S2mBisnp: 84 bits = "cxl256.s2m_bisnp" {
        source: "cxl-256b §3.1 (A)", basis: Spec, rule: "CXL256-MSG-10", cross_check: bisnp_chunk;
        /// 1: the message is present.
        valid: bool = [0 +: 1], default 1;
        /// What is asked or answered.
        opcode: BisnpOpcode = [1 +: 4];
        /// Device that back-invalidates.
        bi_id: u16 = [5 +: 12];
        /// Names the back-invalidate transaction.
        bi_tag: u16 = [17 +: 12];
        /// Host physical byte address; bits 51:6 travel. Bits 7:6 are a chunk code in the *Blk forms.
        address: u64 = [29 +: 46], address 6;
        /// Reserved.
        rsvd: u16 = [75 +: 9], reserved;
    }
}

layout! {
    /// CXL.mem answer without data, device to host.
    pub struct S2mNdr: 40 bits = "cxl256.s2m_ndr" {
        source: "cxl-256b §3.1 (A)", basis: Spec, rule: "CXL256-MSG-11";
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
        /// Logical device.
        ld_id: u8 = [24 +: 4];
        /// Load of the device.
        devload: DevLoad = [28 +: 2], rule "CXL256-ENC-11";
        /// Reserved.
        rsvd: u16 = [30 +: 10], reserved;
    }
}

layout! {
    /// Header of a CXL.mem answer with data, device to host.
    pub struct S2mDrs: 40 bits = "cxl256.s2m_drs" {
        source: "cxl-256b §3.1 (A)", basis: Spec, rule: "CXL256-MSG-12";
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
        /// Logical device.
        ld_id: u8 = [27 +: 4];
        /// A trailer follows the data.
        trp: bool = [31 +: 1];
        /// Reserved.
        rsvd: u8 = [32 +: 8], reserved;
    }
}

/// Rule of the states in a GO.
pub(super) const GO_STATE_RULE: &str = "CXL256-ENC-05";

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
        found.extend(judge_chunk(S2mBisnp::DEF.name, 29, (snp.address >> 6 & 3) as u8));
    }
}

/// Whether a write of this opcode and MetaField has a trailer; `None` for what is no write (`cxl-256b` §4.5).
pub(super) fn has_trailer(opcode: M2sRwdOpcode, meta_field: MetaField) -> Option<bool> {
    match opcode {
        M2sRwdOpcode::MemWrPtl | M2sRwdOpcode::MemWrPtlTEE => Some(true),
        M2sRwdOpcode::MemWr | M2sRwdOpcode::MemWrTEE => Some(meta_field == MetaField::EMS),
        _ => None,
    }
}

/// Judges TRP of an RwD of either routing: opcode, MetaField and TRP stand at the same places in both. A receiver finds
/// the next slot by TRP alone, so a wrong one is blamed here and not on what follows.
pub(super) fn judge_rwd_trailer(def: &LayoutDef, bits: u128) -> Option<Violation> {
    let rwd = M2sRwd::from_bits(bits);
    let expected = has_trailer(rwd.opcode, rwd.meta_field).filter(|&expected| expected != rwd.trp)?;
    Some(Violation {
        rule: "CXL256-TRL-01",
        at: At::Bits { lsb: 75, width: 1 },
        found: format!("TRP = {}", u8::from(rwd.trp)),
        expected: format!("TRP = {}", u8::from(expected)),
        text: format!("{}: a MemWrPtl has a trailer, a MemWr has one exactly when MetaField is EMS", def.name),
    })
}

/// Judges the chunk code of a BISnp*Blk, whose lowest bit stands at `lsb` (`cxl-256b` §4.6).
///
/// \[C\] `cxl-256b` §4.6 has the code in BIRsp*Blk as well, `coherence` §1 and §3.4 call the field reserved there: the block is
/// as large as its BISnp says. Two sources against one, so it is reserved: any value passes, and nobody reads it.
pub(super) fn judge_chunk(layout: &str, lsb: u32, code: u8) -> Option<Violation> {
    BlockChunk(code).name().is_none().then(|| Violation {
        rule: BlockChunk::TABLE.rule,
        at: At::Bits { lsb, width: 2 },
        found: format!("{code:#x}"),
        expected: BlockChunk::TABLE.codes.iter().map(|c| c.name).collect::<Vec<_>>().join("|"),
        text: format!("{layout}: address bits 7:6 of a block message name no part of the block"),
    })
}
