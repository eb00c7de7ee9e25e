//! The twelve message classes as the agents see them: only fields on which an agent acts.
//!
//! Poison is no field of its own: it stands in the data ([`Content`]) and becomes the Poison bit of the header on a link.
//! Left out: routing identifiers (a port of the agent stands for them: one port a CacheID, a host or a device), traffic
//! classes, hints without effect on coherence. Its agents never see a flit.

use super::content::{Content, LineAddr};
use scalepool_protocols::cxl::cxl256::code::{
    BirspOpcode, BisnpOpcode, D2hReqOpcode, D2hRspOpcode, DevLoad, DrsOpcode, H2dReqOpcode, H2dRspOpcode, M2sReqOpcode,
    M2sRwdOpcode, MetaField, MetaValue, NdrOpcode, SnpType,
};

/// One message. Field names are those of the specification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum Msg<D> {
    /// CXL.cache request, device to host.
    D2hReq { opcode: D2hReqOpcode, line: LineAddr, cqid: u16 },
    /// CXL.cache snoop answer.
    D2hRsp { opcode: D2hRspOpcode, uqid: u16 },
    /// CXL.cache data, device to host; `enables` has one bit a byte.
    D2hData { uqid: u16, bogus: bool, data: D, enables: u64 },
    /// CXL.cache snoop.
    H2dReq { opcode: H2dReqOpcode, line: LineAddr, uqid: u16 },
    /// CXL.cache answer; `rsp_data` is a GO state or a UQID, by opcode.
    H2dRsp { opcode: H2dRspOpcode, rsp_data: u16, cqid: u16 },
    /// CXL.cache data, host to device.
    H2dData { cqid: u16, go_err: bool, data: D },
    /// CXL.mem request without data.
    M2sReq { opcode: M2sReqOpcode, snp: SnpType, meta_field: MetaField, meta: MetaValue, line: LineAddr, tag: u16 },
    /// CXL.mem request with data.
    M2sRwd {
        opcode: M2sRwdOpcode,
        snp: SnpType,
        meta_field: MetaField,
        meta: MetaValue,
        line: LineAddr,
        tag: u16,
        data: D,
        enables: u64,
    },
    /// Answer to a back-invalidate snoop; `low_addr` is the line within its block, 0 to 3.
    M2sBirsp { opcode: BirspOpcode, bi_tag: u16, low_addr: u8 },
    /// Back-invalidate snoop; of a block, bits 1:0 of `line` name the part.
    S2mBisnp { opcode: BisnpOpcode, line: LineAddr, bi_tag: u16 },
    /// CXL.mem answer without data.
    S2mNdr { opcode: NdrOpcode, meta_field: MetaField, meta: MetaValue, tag: u16, devload: DevLoad },
    /// CXL.mem answer with data.
    S2mDrs { opcode: DrsOpcode, meta_field: MetaField, meta: MetaValue, tag: u16, data: D, devload: DevLoad },
}

/// Message class, one channel each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)]
pub enum Class {
    D2hReq,
    D2hRsp,
    D2hData,
    H2dReq,
    H2dRsp,
    H2dData,
    M2sReq,
    M2sRwd,
    M2sBirsp,
    S2mBisnp,
    S2mNdr,
    S2mDrs,
}

/// Direction of a message on its link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dir {
    /// Host to device: H2D and M2S.
    Down,
    /// Device to host: D2H and S2M.
    Up,
}

impl Class {
    /// All classes.
    pub const ALL: [Class; 12] = {
        use Class::*;
        [D2hReq, D2hRsp, D2hData, H2dReq, H2dRsp, H2dData, M2sReq, M2sRwd, M2sBirsp, S2mBisnp, S2mNdr, S2mDrs]
    };

    /// Name as the specification writes it.
    pub fn name(self) -> &'static str {
        match self {
            Class::D2hReq => "D2H Req",
            Class::D2hRsp => "D2H Rsp",
            Class::D2hData => "D2H Data",
            Class::H2dReq => "H2D Req",
            Class::H2dRsp => "H2D Rsp",
            Class::H2dData => "H2D Data",
            Class::M2sReq => "M2S Req",
            Class::M2sRwd => "M2S RwD",
            Class::M2sBirsp => "M2S BIRsp",
            Class::S2mBisnp => "S2M BISnp",
            Class::S2mNdr => "S2M NDR",
            Class::S2mDrs => "S2M DRS",
        }
    }

    /// Where it travels to.
    pub fn dir(self) -> Dir {
        use Class::*;
        match self {
            H2dReq | H2dRsp | H2dData | M2sReq | M2sRwd | M2sBirsp => Dir::Down,
            D2hReq | D2hRsp | D2hData | S2mBisnp | S2mNdr | S2mDrs => Dir::Up,
        }
    }
}

impl<D: Content> Msg<D> {
    /// Its class.
    pub fn class(&self) -> Class {
        match self {
            Msg::D2hReq { .. } => Class::D2hReq,
            Msg::D2hRsp { .. } => Class::D2hRsp,
            Msg::D2hData { .. } => Class::D2hData,
            Msg::H2dReq { .. } => Class::H2dReq,
            Msg::H2dRsp { .. } => Class::H2dRsp,
            Msg::H2dData { .. } => Class::H2dData,
            Msg::M2sReq { .. } => Class::M2sReq,
            Msg::M2sRwd { .. } => Class::M2sRwd,
            Msg::M2sBirsp { .. } => Class::M2sBirsp,
            Msg::S2mBisnp { .. } => Class::S2mBisnp,
            Msg::S2mNdr { .. } => Class::S2mNdr,
            Msg::S2mDrs { .. } => Class::S2mDrs,
        }
    }

    /// Line, for the classes that carry an address.
    pub fn line(&self) -> Option<LineAddr> {
        match *self {
            Msg::D2hReq { line, .. }
            | Msg::H2dReq { line, .. }
            | Msg::M2sReq { line, .. }
            | Msg::M2sRwd { line, .. }
            | Msg::S2mBisnp { line, .. } => Some(line),
            _ => None,
        }
    }

    /// The line's content, for the classes that carry data.
    pub fn data(&self) -> Option<&D> {
        match self {
            Msg::D2hData { data, .. }
            | Msg::H2dData { data, .. }
            | Msg::M2sRwd { data, .. }
            | Msg::S2mDrs { data, .. } => Some(data),
            _ => None,
        }
    }

    /// The line's content, to age it.
    pub fn data_mut(&mut self) -> Option<&mut D> {
        match self {
            Msg::D2hData { data, .. }
            | Msg::H2dData { data, .. }
            | Msg::M2sRwd { data, .. }
            | Msg::S2mDrs { data, .. } => Some(data),
            _ => None,
        }
    }

    /// Whether the message is an H2D Rsp that observes globally, so that later snoops stay behind it (`coherence` §2.6 O1).
    pub fn bears_go(&self) -> bool {
        match self {
            Msg::H2dRsp { opcode, .. } => ![H2dRspOpcode::WritePull, H2dRspOpcode::ExtCmp].contains(opcode),
            _ => false,
        }
    }
}

impl<D: Content> Msg<D> {
    /// Name for charts: class, opcode and what decides its meaning.
    pub fn label(&self) -> String {
        fn name(code: Option<&'static str>, raw: u8) -> String {
            code.map_or_else(|| format!("reserved {raw}"), str::to_owned)
        }
        fn poison(data: &impl Content) -> &'static str {
            if data.is_poisoned() { " Poison" } else { "" }
        }
        match self {
            Msg::D2hReq { opcode, .. } => name(opcode.name(), opcode.0),
            Msg::D2hRsp { opcode, .. } => name(opcode.name(), opcode.0),
            Msg::D2hData { bogus: true, .. } => "Data Bogus".into(),
            Msg::D2hData { data, .. } | Msg::H2dData { go_err: false, data, .. } => format!("Data{}", poison(data)),
            Msg::H2dData { .. } => "Data GO-Err".into(),
            Msg::H2dReq { opcode, .. } => name(opcode.name(), opcode.0),
            Msg::H2dRsp { opcode, rsp_data, .. } if *opcode == H2dRspOpcode::GO => {
                format!("GO-{}", super::cache::go_letter(*rsp_data))
            }
            Msg::H2dRsp { opcode, .. } => name(opcode.name(), opcode.0),
            Msg::M2sReq { opcode, meta_field, meta, snp, .. } => {
                let meta = if *meta_field == MetaField::Meta0State { name(meta.name(), meta.0) } else { "NoOp".into() };
                format!("{} {meta} {}", name(opcode.name(), opcode.0), name(snp.name(), snp.0))
            }
            Msg::M2sRwd { opcode, meta, snp, data, .. } => {
                let (meta, snp) = (name(meta.name(), meta.0), name(snp.name(), snp.0));
                format!("{} {meta} {snp}{}", name(opcode.name(), opcode.0), poison(data))
            }
            Msg::M2sBirsp { opcode, .. } => name(opcode.name(), opcode.0),
            Msg::S2mBisnp { opcode, .. } => name(opcode.name(), opcode.0),
            Msg::S2mNdr { opcode, .. } => name(opcode.name(), opcode.0),
            Msg::S2mDrs { opcode, data, .. } => format!("{}{}", name(opcode.name(), opcode.0), poison(data)),
        }
    }
}
