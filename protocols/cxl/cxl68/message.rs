//! The ten messages of 68B mode (`cxl-68b` section 2).

use super::code::{
    D2hReqOpcode, D2hRspOpcode, DevLoad, DrsOpcode, GoState, H2dReqOpcode, H2dRspOpcode, M2sReqOpcode, M2sRwdOpcode,
    MetaField, MetaValue, NdrOpcode, RspPre, SnpType,
};
use crate::layout;
use crate::wire::{At, LayoutDef, Violation, Wire};

layout! {
    /// CXL.mem request without data, host to device.
    pub struct M2sReq: 87 bits = "cxl68.m2s_req" {
        source: "cxl-68b §2.1", basis: Spec, rule: "CXL68-MSG-01";
        /// 1: the message is present.
        valid: bool = [0 +: 1], default 1;
        /// What is asked.
        opcode: M2sReqOpcode = [1 +: 4];
        /// Snoop asked of the device.
        snp_type: SnpType = [5 +: 3];
        /// Meta field concerned.
        meta_field: MetaField = [8 +: 2];
        /// Value of the meta field.
        meta_value: MetaValue = [10 +: 2];
        /// Names the transaction; the answer carries it back.
        tag: u16 = [12 +: 16];
        /// Host physical byte address; bits 51:5 travel. Bit 5 exists in 68B mode only and is reserved use (our choice).
        address: u64 = [28 +: 47], address 5;
        /// Traffic class.
        tc: u8 = [75 +: 2];
        /// Logical device; reserved in 1.1.
        ld_id: u8 = [77 +: 4];
        /// Reserved.
        rsvd: u8 = [81 +: 6], reserved;
    }
}

layout! {
    /// Header of a CXL.mem request with data, host to device.
    pub struct M2sRwd: 87 bits = "cxl68.m2s_rwd" {
        source: "cxl-68b §2.2", basis: Spec, rule: "CXL68-MSG-02";
        /// 1: the message is present.
        valid: bool = [0 +: 1], default 1;
        /// What is asked.
        opcode: M2sRwdOpcode = [1 +: 4];
        /// Snoop asked of the device.
        snp_type: SnpType = [5 +: 3];
        /// Meta field concerned.
        meta_field: MetaField = [8 +: 2];
        /// Value of the meta field.
        meta_value: MetaValue = [10 +: 2];
        /// Names the transaction; the answer carries it back.
        tag: u16 = [12 +: 16];
        /// Host physical byte address of the line; bits 51:6 travel.
        address: u64 = [28 +: 46], address 6;
        /// The data is known to be wrong.
        poison: bool = [74 +: 1];
        /// Traffic class.
        tc: u8 = [75 +: 2];
        /// Logical device; reserved in 1.1.
        ld_id: u8 = [77 +: 4];
        /// Reserved.
        rsvd: u8 = [81 +: 6], reserved;
    }
}

layout! {
    /// CXL.mem answer without data, device to host. 28 bits in 1.1; DevLoad is split off in some slots (§3.3).
    pub struct S2mNdr: 30 bits = "cxl68.s2m_ndr" {
        source: "cxl-68b §2.3", basis: Spec, rule: "CXL68-MSG-03";
        /// 1: the message is present.
        valid: bool = [0 +: 1], default 1;
        /// What is answered.
        opcode: NdrOpcode = [1 +: 3];
        /// Meta field concerned.
        meta_field: MetaField = [4 +: 2];
        /// Value of the meta field.
        meta_value: MetaValue = [6 +: 2];
        /// Tag of the request.
        tag: u16 = [8 +: 16];
        /// Logical device; reserved in 1.1.
        ld_id: u8 = [24 +: 4];
        /// Load of the device; absent in 1.1.
        devload: DevLoad = [28 +: 2];
    }
}

layout! {
    /// Header of a CXL.mem answer with data, device to host.
    pub struct S2mDrs: 40 bits = "cxl68.s2m_drs" {
        source: "cxl-68b §2.4", basis: Spec, rule: "CXL68-MSG-04";
        /// 1: the message is present.
        valid: bool = [0 +: 1], default 1;
        /// What is answered.
        opcode: DrsOpcode = [1 +: 3];
        /// Meta field concerned.
        meta_field: MetaField = [4 +: 2];
        /// Value of the meta field.
        meta_value: MetaValue = [6 +: 2];
        /// Tag of the request.
        tag: u16 = [8 +: 16];
        /// The data is known to be wrong.
        poison: bool = [24 +: 1];
        /// Logical device; reserved in 1.1.
        ld_id: u8 = [25 +: 4];
        /// Load of the device; reserved in 1.1.
        devload: DevLoad = [29 +: 2];
        /// Reserved.
        rsvd: u16 = [31 +: 9], reserved;
    }
}

layout! {
    /// CXL.cache request, device to host.
    pub struct D2hReq: 79 bits = "cxl68.d2h_req" {
        source: "cxl-68b §2.5", basis: Spec, rule: "CXL68-MSG-05";
        /// 1: the message is present.
        valid: bool = [0 +: 1], default 1;
        /// What is asked.
        opcode: D2hReqOpcode = [1 +: 5];
        /// Names the transaction at the device.
        cqid: u16 = [6 +: 12];
        /// 1: place the line in LRU position.
        nt: bool = [18 +: 1];
        /// Reserved.
        rsvd: u8 = [19 +: 7], reserved;
        /// Host physical byte address of the line; bits 51:6 travel.
        address: u64 = [26 +: 46], address 6;
        /// Reserved.
        rsvd1: u8 = [72 +: 7], reserved;
    }
}

layout! {
    /// CXL.cache snoop answer, device to host.
    pub struct D2hRsp: 20 bits = "cxl68.d2h_rsp" {
        source: "cxl-68b §2.6", basis: Spec, rule: "CXL68-MSG-06";
        /// 1: the message is present.
        valid: bool = [0 +: 1], default 1;
        /// What is answered.
        opcode: D2hRspOpcode = [1 +: 5];
        /// UQID of the snoop.
        uqid: u16 = [6 +: 12];
        /// Reserved.
        rsvd: u8 = [18 +: 2], reserved;
    }
}

layout! {
    /// Header of CXL.cache data, device to host.
    pub struct D2hData: 17 bits = "cxl68.d2h_data" {
        source: "cxl-68b §2.7", basis: Spec, rule: "CXL68-MSG-07";
        /// 1: the message is present.
        valid: bool = [0 +: 1], default 1;
        /// UQID that the host gave.
        uqid: u16 = [1 +: 12];
        /// Half of the line in a 32 B transfer: 0 lower, 1 upper; ignored for 64 B.
        chunk_valid: bool = [13 +: 1];
        /// The line was taken away meanwhile; the data means nothing.
        bogus: bool = [14 +: 1];
        /// The data is known to be wrong.
        poison: bool = [15 +: 1];
        /// Reserved.
        rsvd: u8 = [16 +: 1], reserved;
    }
}

layout! {
    /// CXL.cache snoop, host to device.
    pub struct H2dReq: 64 bits = "cxl68.h2d_req" {
        source: "cxl-68b §2.8", basis: Spec, rule: "CXL68-MSG-08";
        /// 1: the message is present.
        valid: bool = [0 +: 1], default 1;
        /// What is asked.
        opcode: H2dReqOpcode = [1 +: 3];
        /// Host physical byte address of the line; bits 51:6 travel.
        address: u64 = [4 +: 46], address 6;
        /// Names the snoop at the host.
        uqid: u16 = [50 +: 12];
        /// Reserved.
        rsvd: u8 = [62 +: 2], reserved;
    }
}

layout! {
    /// CXL.cache answer, host to device.
    pub struct H2dRsp: 32 bits = "cxl68.h2d_rsp" {
        source: "cxl-68b §2.9", basis: Spec, rule: "CXL68-MSG-09", cross_check: go_state;
        /// 1: the message is present.
        valid: bool = [0 +: 1], default 1;
        /// What is answered.
        opcode: H2dRspOpcode = [1 +: 4];
        /// UQID, or the state of a GO in bits 3:0, by opcode.
        rsp_data: u16 = [5 +: 12];
        /// Where the host found the line.
        rsp_pre: RspPre = [17 +: 2];
        /// CQID of the request.
        cqid: u16 = [19 +: 12];
        /// Reserved.
        rsvd: u8 = [31 +: 1], reserved;
    }
}

layout! {
    /// Header of CXL.cache data, host to device.
    pub struct H2dData: 24 bits = "cxl68.h2d_data" {
        source: "cxl-68b §2.10", basis: Spec, rule: "CXL68-MSG-10";
        /// 1: the message is present.
        valid: bool = [0 +: 1], default 1;
        /// CQID of the request.
        cqid: u16 = [1 +: 12];
        /// Half of the line in a 32 B transfer: 0 lower, 1 upper; ignored for 64 B.
        chunk_valid: bool = [13 +: 1];
        /// The data is known to be wrong.
        poison: bool = [14 +: 1];
        /// The read failed; the data means nothing.
        go_err: bool = [15 +: 1];
        /// Reserved.
        rsvd: u8 = [16 +: 8], reserved;
    }
}

/// ENC-12: RspData of a GO holds a state in bits 3:0 and 0 above (`cxl-68b` §4.11).
fn go_state(bits: u128, found: &mut Vec<Violation>) {
    let rsp = H2dRsp::from_bits(bits);
    if rsp.opcode == H2dRspOpcode::GO {
        found.extend(judge_go_state(H2dRsp::DEF.name, GoState::TABLE.rule, rsp.rsp_data));
    }
}

/// Judges the RspData of a GO; it stands in bits 16:5 of the H2D Rsp of every flit mode.
pub(in crate::cxl) fn judge_go_state(layout: &str, rule: &'static str, rsp_data: u16) -> Option<Violation> {
    let state = GoState((rsp_data & 0xf) as u8);
    (state.name().is_none() || rsp_data > 0xf).then(|| Violation {
        rule,
        at: At::Bits { lsb: 5, width: 12 },
        found: format!("{rsp_data:#x}"),
        expected: GoState::TABLE.codes.iter().map(|c| c.name).collect::<Vec<_>>().join("|"),
        text: format!("{layout}: field `rsp_data` of a GO holds no cache state"),
    })
}

/// Class of a message: one of the ten layouts, and the channel it travels on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// [`M2sReq`].
    M2sReq,
    /// [`M2sRwd`], with data.
    M2sRwd,
    /// [`S2mNdr`].
    S2mNdr,
    /// [`S2mDrs`], with data.
    S2mDrs,
    /// [`D2hReq`].
    D2hReq,
    /// [`D2hRsp`].
    D2hRsp,
    /// [`D2hData`], with data.
    D2hData,
    /// [`H2dReq`].
    H2dReq,
    /// [`H2dRsp`].
    H2dRsp,
    /// [`H2dData`], with data.
    H2dData,
}

impl Class {
    /// All classes, in order of the sheet.
    pub const ALL: [Class; 10] = [
        Class::M2sReq,
        Class::M2sRwd,
        Class::S2mNdr,
        Class::S2mDrs,
        Class::D2hReq,
        Class::D2hRsp,
        Class::D2hData,
        Class::H2dReq,
        Class::H2dRsp,
        Class::H2dData,
    ];

    /// Layout of the message or data header.
    pub const fn def(self) -> &'static LayoutDef {
        match self {
            Class::M2sReq => M2sReq::DEF,
            Class::M2sRwd => M2sRwd::DEF,
            Class::S2mNdr => S2mNdr::DEF,
            Class::S2mDrs => S2mDrs::DEF,
            Class::D2hReq => D2hReq::DEF,
            Class::D2hRsp => D2hRsp::DEF,
            Class::D2hData => D2hData::DEF,
            Class::H2dReq => H2dReq::DEF,
            Class::H2dRsp => H2dRsp::DEF,
            Class::H2dData => H2dData::DEF,
        }
    }

    /// The class of a layout, if it is one of the ten.
    pub fn of(def: &LayoutDef) -> Option<Class> {
        Class::ALL.into_iter().find(|c| c.def().name == def.name)
    }

    /// Direction it travels in.
    pub const fn dir(self) -> super::Dir {
        match self {
            Class::M2sReq | Class::M2sRwd | Class::H2dReq | Class::H2dRsp | Class::H2dData => super::Dir::Down,
            _ => super::Dir::Up,
        }
    }

    /// Whether data chunks follow.
    pub const fn has_data(self) -> bool {
        matches!(self, Class::M2sRwd | Class::S2mDrs | Class::D2hData | Class::H2dData)
    }

    /// Whether a 32 B transfer is legal (`cxl-68b` §1.5).
    pub const fn may_be_32_bytes(self) -> bool {
        matches!(self, Class::S2mDrs | Class::D2hData | Class::H2dData)
    }

    /// Whether a byte-enable chunk is legal (`cxl-68b` §1.5).
    pub const fn may_have_byte_enables(self) -> bool {
        matches!(self, Class::M2sRwd | Class::D2hData)
    }

    /// Most messages of the class in one flit, summed over slots (`cxl-68b` §5.1).
    pub const fn max_per_flit(self) -> u8 {
        match self {
            Class::D2hReq | Class::D2hData | Class::H2dRsp | Class::H2dData => 4,
            Class::S2mDrs => 3,
            Class::D2hRsp | Class::S2mNdr | Class::H2dReq | Class::M2sReq => 2,
            Class::M2sRwd => 1,
        }
    }

    /// Bits that 1.1 reserves and a sender of 1.1 leaves 0: LD-ID and DevLoad (`cxl-68b` §2.1 to §2.4).
    pub const fn reserved_in_1_1(self) -> u128 {
        match self {
            Class::M2sReq | Class::M2sRwd => 0xf << 77,
            Class::S2mNdr => 0x3f << 24,
            Class::S2mDrs => 0x3f << 25,
            _ => 0,
        }
    }

    /// Position in [`Class::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_stand_at_their_index_and_name_their_layout() {
        for (i, c) in Class::ALL.into_iter().enumerate() {
            assert_eq!(c.index(), i);
            assert_eq!(Class::of(c.def()), Some(c));
        }
    }
}
