//! Messages of the agents as links carry them, and back.
//!
//! Agents name a peer by a port; what a link needs to find it (CacheID, logical device, ports of a fabric) is the
//! [`Route`] of that port. Poison is part of the data for an agent and a bit of the header on a link. Left out: traffic classes and hints, which are 0.

use super::content::{Content, Line, LineAddr, WHOLE_LINE};
use super::message::Msg;
use scalepool_protocols::cxl::cxl256::code::M2sRwdOpcode;
use scalepool_protocols::cxl::message::{
    Class, D2hData, D2hReq, D2hRsp, Data, Form, H2dData, H2dReq, H2dRsp, M2sBirsp, M2sReq, M2sRwd, Message, S2mBisnp,
    S2mDrs, S2mNdr,
};
use scalepool_protocols::wire::LayoutDef;
use std::sync::OnceLock;

/// What a link needs to know of the peer behind a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Route {
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

/// Bytes with their enables; a whole line has no trailer.
fn data<D: Content>(line: &D, enables: u64) -> Data {
    Data { byte_enables: (enables != WHOLE_LINE).then_some(enables), ..Data::line(line.bytes()) }
}

impl Route {
    /// A message of an agent for the link.
    pub fn to_link<D: Content>(self, msg: &Msg<D>) -> Message {
        let Route { cache_id, ld_id, bi_id, spid, dpid } = self;
        match *msg {
            Msg::D2hReq { opcode, line, cqid } => {
                let address = line.address();
                Message::D2hReq(D2hReq { opcode, cqid, nt: false, address, cache_id, spid, dpid })
            }
            Msg::D2hRsp { opcode, uqid } => Message::D2hRsp(D2hRsp { opcode, uqid, dpid }),
            Msg::D2hData { uqid, bogus, data: ref line, enables } => {
                let poison = line.is_poisoned();
                Message::D2hData(D2hData { uqid, bogus, poison, dpid }, data(line, enables))
            }
            Msg::H2dReq { opcode, line, uqid } => {
                Message::H2dReq(H2dReq { opcode, address: line.address(), uqid, cache_id, spid, dpid })
            }
            Msg::H2dRsp { opcode, rsp_data, cqid } => {
                Message::H2dRsp(H2dRsp { opcode, rsp_data, cqid, cache_id, dpid, ..H2dRsp::default() })
            }
            Msg::H2dData { cqid, go_err, data: ref line } => {
                let poison = line.is_poisoned();
                Message::H2dData(H2dData { cqid, poison, go_err, cache_id, dpid }, data(line, WHOLE_LINE))
            }
            Msg::M2sReq { opcode, snp, meta_field, meta, line, tag } => Message::M2sReq(M2sReq {
                opcode,
                snp_type: snp,
                meta_field,
                meta_value: meta,
                tag,
                address: line.address(),
                ld_id,
                tc: 0,
                spid,
                dpid,
            }),
            Msg::M2sRwd { opcode, snp, meta_field, meta, line, tag, data: ref bytes, enables } => Message::M2sRwd(
                M2sRwd {
                    opcode,
                    snp_type: snp,
                    meta_field,
                    meta_value: meta,
                    tag,
                    address: line.address(),
                    poison: bytes.is_poisoned(),
                    ld_id,
                    tc: 0,
                    spid,
                    dpid,
                },
                // Byte enables travel with MemWrPtl only; BIConflict has bytes without a meaning.
                data(bytes, if opcode == M2sRwdOpcode::MemWrPtl { enables } else { WHOLE_LINE }),
            ),
            Msg::M2sBirsp { opcode, bi_tag, low_addr } => {
                Message::M2sBirsp(M2sBirsp { opcode, bi_id, bi_tag, low_addr, spid, dpid })
            }
            Msg::S2mBisnp { opcode, line, bi_tag } => {
                Message::S2mBisnp(S2mBisnp { opcode, bi_id, bi_tag, address: line.address(), spid, dpid })
            }
            Msg::S2mNdr { opcode, meta_field, meta, tag, devload } => {
                Message::S2mNdr(S2mNdr { opcode, meta_field, meta_value: meta, tag, ld_id, devload, dpid })
            }
            Msg::S2mDrs { opcode, meta_field, meta, tag, data: ref line, devload } => Message::S2mDrs(
                S2mDrs { opcode, meta_field, meta_value: meta, tag, poison: line.is_poisoned(), ld_id, devload, dpid },
                data(line, WHOLE_LINE),
            ),
        }
    }
}

/// Port of a fabric to which a message goes.
pub fn dpid(message: &Message) -> u16 {
    match message {
        Message::H2dReq(m) => m.dpid,
        Message::H2dRsp(m) => m.dpid,
        Message::H2dData(m, _) => m.dpid,
        Message::D2hReq(m) => m.dpid,
        Message::D2hRsp(m) => m.dpid,
        Message::D2hData(m, _) => m.dpid,
        Message::M2sReq(m) => m.dpid,
        Message::M2sRwd(m, _) => m.dpid,
        Message::M2sBirsp(m) => m.dpid,
        Message::S2mBisnp(m) => m.dpid,
        Message::S2mNdr(m) => m.dpid,
        Message::S2mDrs(m, _) => m.dpid,
    }
}

/// Messages of CXL.cache and CXL.mem, for waves; the list of a form is made once.
pub fn layouts(form: Form) -> &'static [&'static LayoutDef] {
    static LAYOUTS: [OnceLock<Vec<&LayoutDef>>; 3] = [const { OnceLock::new() }; 3];
    LAYOUTS[form as usize].get_or_init(|| Class::ALL.iter().filter_map(|class| form.layout(*class)).collect())
}

/// The same of a direct peer, whose CXL.mem travels in a fabric, whatever the form of its CXL.cache.
pub fn peer_layouts(form: Form) -> &'static [&'static LayoutDef] {
    static LAYOUTS: [OnceLock<Vec<&LayoutDef>>; 3] = [const { OnceLock::new() }; 3];
    let of = |class: &Class| {
        use Class::*;
        let is_mem = matches!(class, M2sReq | M2sRwd | M2sBirsp | S2mBisnp | S2mNdr | S2mDrs);
        (if is_mem { Form::Pbr } else { form }).layout(*class)
    };
    LAYOUTS[form as usize].get_or_init(|| Class::ALL.iter().filter_map(of).collect())
}

/// A message as traces show it, whoever its peer is.
pub fn shown<D: Content>(msg: &Msg<D>) -> Message {
    Route::default().to_link(msg)
}

/// A message of a link for the agent.
pub fn from_link(message: &Message) -> Msg<Line> {
    let bytes = |data: &Data, poison: bool| Line { bytes: data.line, poison };
    let enables = |data: &Data| data.byte_enables.unwrap_or(WHOLE_LINE);
    match message {
        Message::D2hReq(m) => Msg::D2hReq { opcode: m.opcode, line: LineAddr::of_address(m.address), cqid: m.cqid },
        Message::D2hRsp(m) => Msg::D2hRsp { opcode: m.opcode, uqid: m.uqid },
        Message::D2hData(m, d) => {
            Msg::D2hData { uqid: m.uqid, bogus: m.bogus, data: bytes(d, m.poison), enables: enables(d) }
        }
        Message::H2dReq(m) => Msg::H2dReq { opcode: m.opcode, line: LineAddr::of_address(m.address), uqid: m.uqid },
        Message::H2dRsp(m) => Msg::H2dRsp { opcode: m.opcode, rsp_data: m.rsp_data, cqid: m.cqid },
        Message::H2dData(m, d) => Msg::H2dData { cqid: m.cqid, go_err: m.go_err, data: bytes(d, m.poison) },
        Message::M2sReq(m) => Msg::M2sReq {
            opcode: m.opcode,
            snp: m.snp_type,
            meta_field: m.meta_field,
            meta: m.meta_value,
            line: LineAddr::of_address(m.address),
            tag: m.tag,
        },
        Message::M2sRwd(m, d) => Msg::M2sRwd {
            opcode: m.opcode,
            snp: m.snp_type,
            meta_field: m.meta_field,
            meta: m.meta_value,
            line: LineAddr::of_address(m.address),
            tag: m.tag,
            data: bytes(d, m.poison),
            enables: enables(d),
        },
        Message::M2sBirsp(m) => Msg::M2sBirsp { opcode: m.opcode, bi_tag: m.bi_tag, low_addr: m.low_addr },
        Message::S2mBisnp(m) => {
            Msg::S2mBisnp { opcode: m.opcode, line: LineAddr::of_address(m.address), bi_tag: m.bi_tag }
        }
        Message::S2mNdr(m) => Msg::S2mNdr {
            opcode: m.opcode,
            meta_field: m.meta_field,
            meta: m.meta_value,
            tag: m.tag,
            devload: m.devload,
        },
        Message::S2mDrs(m, d) => Msg::S2mDrs {
            opcode: m.opcode,
            meta_field: m.meta_field,
            meta: m.meta_value,
            tag: m.tag,
            data: bytes(d, m.poison),
            devload: m.devload,
        },
    }
}
