//! CXL.cache and CXL.mem messages as agents exchange them: what they say, whatever link carries them.
//!
//! Modelled: the twelve messages with the fields that hosts, devices, home agents and caches act on, and a line of 64
//! bytes with byte enables and metadata. Detail: values; codes are those of the 256B sheet, of which the 68B sheet has a
//! part. Left out: valid and reserved bits, CKID (no agent here has keys), credits, slots and flits.
//!
//! A message has every field that some link carries. [`form`] says how a link spells it: what the link has no field for
//! is lost (identifiers of the other routing) or refused (a code that its sheet does not have).

mod declare;
pub mod form;
pub mod packed;

pub use super::cxl256::stream::Data;
pub use form::{MessageForm, MessageFormError};

use super::cxl256::Routing;
use super::cxl256::code::{
    BirspOpcode, BisnpOpcode, D2hReqOpcode, D2hRspOpcode, DevLoad, DrsOpcode, H2dReqOpcode, H2dRspOpcode, M2sReqOpcode,
    M2sRwdOpcode, MetaField, MetaValue, NdrOpcode, RspPre, SnpType,
};
use super::{Dir, cxl68, cxl256};
use crate::wire::{LayoutDef, Wire};

/// What a link needs to know of the peer behind a port of an agent. A message has a field for a part of it, by its class and
/// by the routing of the link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PeerRoute {
    /// Caching device below the host (`coherence` §2.9).
    pub cache_id: u8,
    /// Logical device.
    pub ld_id: u8,
    /// Source of back-invalidate snoops.
    pub bi_id: u16,
    /// Own port of a fabric, 0 without one.
    pub spid: u16,
    /// The peer's port of a fabric, 0 without one.
    pub dpid: u16,
}

/// What a message is to its transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransactionRole {
    /// It begins it.
    Request,
    /// It answers a request.
    Answer,
    /// It is a snoop.
    Snoop,
    /// It answers a snoop, or brings the data of a write that was pulled.
    SnoopAnswer,
}

/// Field by which both ends of a link know a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MessageIdentifier {
    /// Of a device's request of CXL.cache.
    Cqid,
    /// Of a host's snoop or pull of CXL.cache.
    Uqid,
    /// Of a request of CXL.mem.
    Tag,
    /// Of a back-invalidate snoop.
    BiTag,
}

declare::messages! {
    /// CXL.cache snoop, host to device.
    H2dReq ("H2D Req", Down, cache, Snoop, 2) {
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
    H2dRsp ("H2D Rsp", Down, cache, Answer, 6) {
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
    H2dData ("H2D Data", Down, cache, Answer, 4, data) {
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
    D2hReq ("D2H Req", Up, cache, Request, 4) {
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
    D2hRsp ("D2H Rsp", Up, cache, SnoopAnswer, 4) {
        /// What is answered.
        opcode: D2hRspOpcode,
        /// UQID of the snoop.
        uqid: u16,
        /// Port it goes to.
        dpid: u16,
    }
    cxl68 [opcode uqid] hbr [opcode uqid] pbr [opcode uqid dpid]

    /// Header of CXL.cache data, device to host.
    D2hData ("D2H Data", Up, cache, SnoopAnswer, 4, data) {
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
    M2sReq ("M2S Req", Down, mem, Request, 4) {
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
    M2sRwd ("M2S RwD", Down, mem, Request, 2, data) {
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
    M2sBirsp ("M2S BIRsp", Down, mem, SnoopAnswer, 3) {
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
    S2mBisnp ("S2M BISnp", Up, mem, Snoop, 2) {
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
    S2mNdr ("S2M NDR", Up, mem, Answer, 6) {
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
    S2mDrs ("S2M DRS", Up, mem, Answer, 3, data) {
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

impl Class {
    /// The class of a layout, if it is a message of that routing.
    pub fn of(def: &LayoutDef, routing: Routing) -> Option<Class> {
        Class::ALL.into_iter().find(|c| c.def(routing).name == def.name)
    }

    /// Layouts of all classes, in order of the sheet.
    pub const fn layouts(routing: Routing) -> [&'static LayoutDef; Class::COUNT] {
        let mut defs = [Class::ALL[0].def(routing); Class::COUNT];
        let mut n = 1;
        while n < Class::COUNT {
            defs[n] = Class::ALL[n].def(routing);
            n += 1;
        }
        defs
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
            for routing in [Routing::Hbr, Routing::Pbr] {
                assert_eq!(Class::of(c.def(routing), routing), Some(c));
            }
            assert_eq!(Class::of(c.def(Routing::Pbr), Routing::Hbr), None);
        }
    }

    /// A message has the part of a route that one of its links carries.
    #[test]
    fn a_route_is_read_as_far_as_a_message_has_fields_for_it() {
        let route = PeerRoute { cache_id: 1, ld_id: 2, bi_id: 3, spid: 4, dpid: 5 };
        let request = Message::D2hReq(D2hReq::default()).on_route(route);
        assert_eq!(request.route(), PeerRoute { ld_id: 0, bi_id: 0, ..route });
        let answer = Message::S2mNdr(S2mNdr::default()).on_route(route);
        assert_eq!(answer.route(), PeerRoute { ld_id: 2, dpid: 5, ..PeerRoute::default() });
    }
}
