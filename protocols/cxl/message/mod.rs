//! CXL.cache and CXL.mem messages as agents exchange them: what they say, whatever link carries them.
//!
//! Modelled: the twelve messages with the fields that hosts, devices, home agents and caches act on, and a line of 64
//! bytes with byte enables and metadata. Detail: values; codes are those of the 256B sheet, of which the 68B sheet has a
//! part. Left out: valid and reserved bits, CKID (no agent here has keys), credits, slots and flits.
//!
//! A message has every field that some link carries. [`form`] says how a link spells it: what the link has no field for
//! is lost (identifiers of the other routing) or refused (a code that its sheet does not have).

pub mod form;
pub mod packed;

pub use super::cxl256::class::Class;
pub use super::cxl256::stream::Data;
pub use form::{Form, FormError};
pub use packed::PackedError;

use super::cxl256::code::{
    BirspOpcode, BisnpOpcode, D2hReqOpcode, D2hRspOpcode, DevLoad, DrsOpcode, H2dReqOpcode, H2dRspOpcode, M2sReqOpcode,
    M2sRwdOpcode, MetaField, MetaValue, NdrOpcode, RspPre, SnpType,
};

/// Declares the messages: their fields, and which of them each form of a link carries.
macro_rules! messages {
    ($(
        $(#[doc = $doc:literal])*
        $name:ident {
            $($(#[doc = $field_doc:literal])* $field:ident: $type:ty,)*
        }
        $(cxl68 [$($of_68:ident)*])? hbr [$($of_hbr:ident)*] pbr [$($of_pbr:ident)*]
    )*) => {
        $(
            $(#[doc = $doc])*
            #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
            pub struct $name {
                $($(#[doc = $field_doc])* pub $field: $type,)*
            }

            form::spellings!($name $(cxl68 [$($of_68)*])? hbr [$($of_hbr)*] pbr [$($of_pbr)*]);
        )*
    };
}

messages! {
    /// CXL.cache snoop, host to device.
    H2dReq {
        /// What is asked.
        opcode: H2dReqOpcode,
        /// Byte address of the line.
        address: u64,
        /// Names the snoop at the host.
        uqid: u16,
        /// Cache behind the link.
        cache_id: u8,
        /// Port it comes from.
        spid: u16,
        /// Port it goes to.
        dpid: u16,
    }
    cxl68 [opcode address uqid] hbr [opcode address uqid cache_id] pbr [opcode address uqid spid dpid]

    /// CXL.cache answer, host to device.
    H2dRsp {
        /// What is answered.
        opcode: H2dRspOpcode,
        /// UQID, or the state of a GO in bits 3:0, by opcode.
        rsp_data: u16,
        /// Where the host found the line.
        rsp_pre: RspPre,
        /// CQID of the request.
        cqid: u16,
        /// Cache behind the link.
        cache_id: u8,
        /// Port it goes to.
        dpid: u16,
    }
    cxl68 [opcode rsp_data rsp_pre cqid] hbr [opcode rsp_data rsp_pre cqid cache_id]
    pbr [opcode rsp_data rsp_pre cqid dpid]

    /// Header of CXL.cache data, host to device.
    H2dData {
        /// CQID of the request.
        cqid: u16,
        /// The data is known to be wrong.
        poison: bool,
        /// The read failed; the data means nothing.
        go_err: bool,
        /// Cache behind the link.
        cache_id: u8,
        /// Port it goes to.
        dpid: u16,
    }
    cxl68 [cqid poison go_err] hbr [cqid poison go_err cache_id] pbr [cqid poison go_err dpid]

    /// CXL.cache request, device to host.
    D2hReq {
        /// What is asked.
        opcode: D2hReqOpcode,
        /// Names the transaction at the device.
        cqid: u16,
        /// Place the line in LRU position.
        nt: bool,
        /// Byte address of the line.
        address: u64,
        /// Cache behind the link.
        cache_id: u8,
        /// Port it comes from.
        spid: u16,
        /// Port it goes to.
        dpid: u16,
    }
    cxl68 [opcode cqid nt address] hbr [opcode cqid nt address cache_id] pbr [opcode cqid nt address spid dpid]

    /// CXL.cache snoop answer, device to host.
    D2hRsp {
        /// What is answered.
        opcode: D2hRspOpcode,
        /// UQID of the snoop.
        uqid: u16,
        /// Port it goes to.
        dpid: u16,
    }
    cxl68 [opcode uqid] hbr [opcode uqid] pbr [opcode uqid dpid]

    /// Header of CXL.cache data, device to host.
    D2hData {
        /// UQID that the host gave.
        uqid: u16,
        /// The line was taken away meanwhile; the data means nothing.
        bogus: bool,
        /// The data is known to be wrong.
        poison: bool,
        /// Port it goes to.
        dpid: u16,
    }
    cxl68 [uqid bogus poison] hbr [uqid bogus poison] pbr [uqid bogus poison dpid]

    /// CXL.mem request without data, host to device.
    M2sReq {
        /// What is asked.
        opcode: M2sReqOpcode,
        /// Snoop asked of the device.
        snp_type: SnpType,
        /// Meta field concerned.
        meta_field: MetaField,
        /// Value of the meta field.
        meta_value: MetaValue,
        /// Names the transaction; the answer carries it back.
        tag: u16,
        /// Byte address of the line.
        address: u64,
        /// Logical device.
        ld_id: u8,
        /// Traffic class.
        tc: u8,
        /// Port it comes from.
        spid: u16,
        /// Port it goes to.
        dpid: u16,
    }
    cxl68 [opcode snp_type meta_field meta_value tag address ld_id tc]
    hbr [opcode snp_type meta_field meta_value tag address ld_id tc]
    pbr [opcode snp_type meta_field meta_value tag address spid dpid tc]

    /// Header of a CXL.mem request with data, host to device.
    M2sRwd {
        /// What is asked.
        opcode: M2sRwdOpcode,
        /// Snoop asked of the device.
        snp_type: SnpType,
        /// Meta field concerned.
        meta_field: MetaField,
        /// Value of the meta field.
        meta_value: MetaValue,
        /// Names the transaction; the answer carries it back.
        tag: u16,
        /// Byte address of the line.
        address: u64,
        /// The data is known to be wrong.
        poison: bool,
        /// Logical device.
        ld_id: u8,
        /// Traffic class.
        tc: u8,
        /// Port it comes from.
        spid: u16,
        /// Port it goes to.
        dpid: u16,
    }
    cxl68 [opcode snp_type meta_field meta_value tag address poison ld_id tc]
    hbr [opcode snp_type meta_field meta_value tag address poison ld_id tc]
    pbr [opcode snp_type meta_field meta_value tag address poison spid dpid tc]

    /// Answer to a back-invalidate snoop, host to device.
    M2sBirsp {
        /// What is answered.
        opcode: BirspOpcode,
        /// Device that asked.
        bi_id: u16,
        /// Names the snoop.
        bi_tag: u16,
        /// Part of a block, address bits 7:6.
        low_addr: u8,
        /// Port it comes from.
        spid: u16,
        /// Port it goes to.
        dpid: u16,
    }
    hbr [opcode bi_id bi_tag low_addr] pbr [opcode bi_tag low_addr spid dpid]

    /// Back-invalidate snoop, device to host.
    S2mBisnp {
        /// What is asked.
        opcode: BisnpOpcode,
        /// Device that asks.
        bi_id: u16,
        /// Names the snoop.
        bi_tag: u16,
        /// Byte address of the line; of a block bits 7:6 name the part.
        address: u64,
        /// Port it comes from.
        spid: u16,
        /// Port it goes to.
        dpid: u16,
    }
    hbr [opcode bi_id bi_tag address] pbr [opcode bi_tag address spid dpid]

    /// CXL.mem answer without data, device to host.
    S2mNdr {
        /// What is answered.
        opcode: NdrOpcode,
        /// Meta field concerned.
        meta_field: MetaField,
        /// Value of the meta field.
        meta_value: MetaValue,
        /// Tag of the request.
        tag: u16,
        /// Logical device.
        ld_id: u8,
        /// Load of the device.
        devload: DevLoad,
        /// Port it goes to.
        dpid: u16,
    }
    cxl68 [opcode meta_field meta_value tag ld_id devload] hbr [opcode meta_field meta_value tag ld_id devload]
    pbr [opcode meta_field meta_value tag devload dpid]

    /// Header of a CXL.mem answer with data, device to host.
    S2mDrs {
        /// What is answered.
        opcode: DrsOpcode,
        /// Meta field concerned.
        meta_field: MetaField,
        /// Value of the meta field.
        meta_value: MetaValue,
        /// Tag of the request.
        tag: u16,
        /// The data is known to be wrong.
        poison: bool,
        /// Logical device.
        ld_id: u8,
        /// Load of the device.
        devload: DevLoad,
        /// Port it goes to.
        dpid: u16,
    }
    cxl68 [opcode meta_field meta_value tag poison ld_id devload]
    hbr [opcode meta_field meta_value tag poison ld_id devload]
    pbr [opcode meta_field meta_value tag poison devload dpid]
}

/// A whole message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Message {
    /// Snoop.
    H2dReq(H2dReq),
    /// Answer.
    H2dRsp(H2dRsp),
    /// Data.
    H2dData(H2dData, Data),
    /// Request.
    D2hReq(D2hReq),
    /// Snoop answer.
    D2hRsp(D2hRsp),
    /// Data.
    D2hData(D2hData, Data),
    /// Request.
    M2sReq(M2sReq),
    /// Request with data.
    M2sRwd(M2sRwd, Data),
    /// Answer to a back-invalidate snoop.
    M2sBirsp(M2sBirsp),
    /// Back-invalidate snoop.
    S2mBisnp(S2mBisnp),
    /// Answer.
    S2mNdr(S2mNdr),
    /// Answer with data.
    S2mDrs(S2mDrs, Data),
}

impl Message {
    /// Its class, and so the channel it travels on.
    pub const fn class(&self) -> Class {
        match self {
            Message::H2dReq(_) => Class::H2dReq,
            Message::H2dRsp(_) => Class::H2dRsp,
            Message::H2dData(..) => Class::H2dData,
            Message::D2hReq(_) => Class::D2hReq,
            Message::D2hRsp(_) => Class::D2hRsp,
            Message::D2hData(..) => Class::D2hData,
            Message::M2sReq(_) => Class::M2sReq,
            Message::M2sRwd(..) => Class::M2sRwd,
            Message::M2sBirsp(_) => Class::M2sBirsp,
            Message::S2mBisnp(_) => Class::S2mBisnp,
            Message::S2mNdr(_) => Class::S2mNdr,
            Message::S2mDrs(..) => Class::S2mDrs,
        }
    }

    /// Data of the classes that have some.
    pub const fn data(&self) -> Option<&Data> {
        match self {
            Message::H2dData(_, data)
            | Message::D2hData(_, data)
            | Message::M2sRwd(_, data)
            | Message::S2mDrs(_, data) => Some(data),
            _ => None,
        }
    }
}
