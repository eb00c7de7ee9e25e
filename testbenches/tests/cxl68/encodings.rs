//! CXL68-ENC: code tables. The lists here are the sheet's, written a second time.

use super::common::*;
use scalepool_protocols::cxl::cxl68::code::*;
use scalepool_protocols::cxl::cxl68::config::{Cxl68Config, Revision};
use scalepool_protocols::cxl::cxl68::message::*;
use scalepool_protocols::cxl::cxl68::packable::Cxl68Refused;
use scalepool_protocols::cxl::cxl68::packer::Packer;
use scalepool_protocols::cxl::cxl68::slot;
use scalepool_protocols::cxl::cxl68::stream::Cxl68Message;
use scalepool_protocols::wire::{CodeTable, FieldDef, FieldValue, LayoutDef, Violation, Wire};
use std::fmt::Debug;

type Listed = &'static [(u128, &'static str)];

fn field(def: &'static LayoutDef, name: &str, table: &'static CodeTable) -> &'static FieldDef {
    let field = def.field(name).expect("a field of the sheet");
    assert_eq!(field.codes.map(|t| t.name), Some(table.name), "{}.{name}", def.name);
    assert_eq!(field.width, table.width);
    field
}

fn check(def: &LayoutDef, bits: u128) -> Vec<Violation> {
    let mut found = Vec::new();
    def.check(bits, &mut found);
    found
}

/// E, obeys: every listed code encodes, decodes, prints its name and is no finding.
#[track_caller]
fn codes_p<M: Wire + Debug, C: FieldValue + Debug>(rule: &str, class: Class, name: &str, listed: Listed) {
    let table = C::CODES.expect("an enumerated type");
    assert_eq!(table.rule, rule);
    let field = field(M::DEF, name, table);
    assert_eq!(table.codes.len(), listed.len(), "{} lists other codes than the sheet", table.name);
    for &(value, code) in listed {
        assert_eq!((table.name_of(value), table.value_of(code)), (Some(code), Some(value)));
        assert_eq!(format!("{:?}", C::from_raw(value)), code);
        assert_eq!(C::from_raw(value).to_raw(), value);
        let bits = field.insert(legal(class, 1), value).expect("a code fits");
        assert_eq!(field.extract(bits), value);
        assert_eq!(M::from_bits(bits).to_bits(), Ok(bits));
        assert!(format!("{:?}", M::from_bits(bits)).contains(code), "{code} is not printed");
        // A GO asks for a state besides.
        assert!(check(M::DEF, bits).iter().all(|v| v.rule != rule), "{code}");
    }
}

/// E, breaks: every other code decodes as unknown, re-encodes to the same bits, and `check` names the rule.
#[track_caller]
fn codes_n<M: Wire + Debug, C: FieldValue + Debug>(rule: &str, class: Class, name: &str, listed: Listed) {
    let table = C::CODES.expect("an enumerated type");
    let field = field(M::DEF, name, table);
    let others: Vec<u128> = (0..=field.max_raw()).filter(|v| listed.iter().all(|(l, _)| l != v)).collect();
    assert_eq!(others.len(), (1 << table.width) - listed.len());
    for value in others {
        assert_eq!(table.name_of(value), None);
        assert_eq!(format!("{:?}", C::from_raw(value)), format!("reserved({value})"));
        let bits = field.insert(legal(class, 1), value).expect("a code fits");
        assert_eq!(M::from_bits(bits).to_bits(), Ok(bits), "{name} {value}");
        let named: Vec<_> = check(M::DEF, bits).into_iter().filter(|v| v.rule == rule).collect();
        assert_eq!(named.len(), 1, "{name} {value:#x}");
        assert_eq!(named[0].found, format!("{value:#x}"));
        assert!(named[0].text.contains(&format!("`{name}`")));
        // An empty place is not judged.
        assert!(check(M::DEF, bits & !1).is_empty());
    }
}

const M2S_REQ: Listed = &[
    (0b0000, "MemInv"),
    (0b0001, "MemRd"),
    (0b0010, "MemRdData"),
    (0b0011, "MemRdFwd"),
    (0b0100, "MemWrFwd"),
    (0b1000, "MemSpecRd"),
    (0b1001, "MemInvNT"),
];

#[test]
fn cxl68_enc_01_p() {
    codes_p::<M2sReq, M2sReqOpcode>("CXL68-ENC-01", Class::M2sReq, "opcode", M2S_REQ);
}

#[test]
fn cxl68_enc_01_n() {
    codes_n::<M2sReq, M2sReqOpcode>("CXL68-ENC-01", Class::M2sReq, "opcode", M2S_REQ);
    // TEE codes and MemClnEvct in a flit.
    for code in [5, 6, 7, 10, 12, 13] {
        let bits = legal(Class::M2sReq, 1) & !(0xf << 1) | code << 1;
        let read = judge(Dir::Down, Flit::new(Dir::Down).with(0, "H5", &[(0, bits)]).unit());
        assert_eq!(read.rules(), ["CXL68-ENC-01"]);
        assert_eq!(read.delivered[0].bits, bits, "decode keeps the bits");
    }
}

const M2S_RWD: Listed = &[(0b0001, "MemWr"), (0b0010, "MemWrPtl")];

#[test]
fn cxl68_enc_02_p() {
    codes_p::<M2sRwd, M2sRwdOpcode>("CXL68-ENC-02", Class::M2sRwd, "opcode", M2S_RWD);
}

#[test]
fn cxl68_enc_02_n() {
    codes_n::<M2sRwd, M2sRwdOpcode>("CXL68-ENC-02", Class::M2sRwd, "opcode", M2S_RWD);
}

const SNP_TYPE: Listed = &[(0b000, "NoOp"), (0b001, "SnpData"), (0b010, "SnpCur"), (0b011, "SnpInv")];

#[test]
fn cxl68_enc_03_p() {
    codes_p::<M2sReq, SnpType>("CXL68-ENC-03", Class::M2sReq, "snp_type", SNP_TYPE);
    codes_p::<M2sRwd, SnpType>("CXL68-ENC-03", Class::M2sRwd, "snp_type", SNP_TYPE);
}

#[test]
fn cxl68_enc_03_n() {
    codes_n::<M2sReq, SnpType>("CXL68-ENC-03", Class::M2sReq, "snp_type", SNP_TYPE);
    codes_n::<M2sRwd, SnpType>("CXL68-ENC-03", Class::M2sRwd, "snp_type", SNP_TYPE);
}

const META_FIELD: Listed = &[(0b00, "Meta0State"), (0b11, "NoOp")];
const META_VALUE: Listed = &[(0b00, "Invalid"), (0b10, "Any"), (0b11, "Shared")];

#[test]
fn cxl68_enc_04_p() {
    codes_p::<M2sReq, MetaField>("CXL68-ENC-04", Class::M2sReq, "meta_field", META_FIELD);
    codes_p::<M2sRwd, MetaField>("CXL68-ENC-04", Class::M2sRwd, "meta_field", META_FIELD);
    codes_p::<S2mNdr, MetaField>("CXL68-ENC-04", Class::S2mNdr, "meta_field", META_FIELD);
    codes_p::<S2mDrs, MetaField>("CXL68-ENC-04", Class::S2mDrs, "meta_field", META_FIELD);
    codes_p::<M2sReq, MetaValue>("CXL68-ENC-04", Class::M2sReq, "meta_value", META_VALUE);
    codes_p::<M2sRwd, MetaValue>("CXL68-ENC-04", Class::M2sRwd, "meta_value", META_VALUE);
    codes_p::<S2mNdr, MetaValue>("CXL68-ENC-04", Class::S2mNdr, "meta_value", META_VALUE);
    codes_p::<S2mDrs, MetaValue>("CXL68-ENC-04", Class::S2mDrs, "meta_value", META_VALUE);
}

#[test]
fn cxl68_enc_04_n() {
    codes_n::<M2sReq, MetaField>("CXL68-ENC-04", Class::M2sReq, "meta_field", META_FIELD);
    codes_n::<M2sRwd, MetaField>("CXL68-ENC-04", Class::M2sRwd, "meta_field", META_FIELD);
    codes_n::<S2mNdr, MetaField>("CXL68-ENC-04", Class::S2mNdr, "meta_field", META_FIELD);
    codes_n::<S2mDrs, MetaField>("CXL68-ENC-04", Class::S2mDrs, "meta_field", META_FIELD);
    codes_n::<M2sReq, MetaValue>("CXL68-ENC-04", Class::M2sReq, "meta_value", META_VALUE);
    codes_n::<M2sRwd, MetaValue>("CXL68-ENC-04", Class::M2sRwd, "meta_value", META_VALUE);
    codes_n::<S2mNdr, MetaValue>("CXL68-ENC-04", Class::S2mNdr, "meta_value", META_VALUE);
    codes_n::<S2mDrs, MetaValue>("CXL68-ENC-04", Class::S2mDrs, "meta_value", META_VALUE);
}

const NDR: Listed = &[(0, "Cmp"), (1, "CmpS"), (2, "CmpE")];

#[test]
fn cxl68_enc_05_p() {
    codes_p::<S2mNdr, NdrOpcode>("CXL68-ENC-05", Class::S2mNdr, "opcode", NDR);
}

#[test]
fn cxl68_enc_05_n() {
    codes_n::<S2mNdr, NdrOpcode>("CXL68-ENC-05", Class::S2mNdr, "opcode", NDR);
}

const DRS: Listed = &[(0, "MemData"), (1, "MemDataNXM")];

#[test]
fn cxl68_enc_06_p() {
    codes_p::<S2mDrs, DrsOpcode>("CXL68-ENC-06", Class::S2mDrs, "opcode", DRS);
    // A receiver decodes NXM whatever a sender is allowed; sending it is a choice that is off.
    assert!(!config().send_nxm, "our choice");
    let nxm = Cxl68Message { bits: legal(Class::S2mDrs, 1) | 1 << 1, ..message(Class::S2mDrs, 1) };
    let allowed = Cxl68Config { send_nxm: true, ..config() };
    let units = pack(Dir::Up, allowed, &[nxm]);
    for config in [config(), allowed] {
        let read = read_as(Dir::Up, config, &units);
        read.assert_clean();
        assert_eq!(read.delivered, [nxm]);
        assert_eq!(S2mDrs::from_bits(read.delivered[0].bits).opcode, DrsOpcode::MemDataNXM);
    }
}

#[test]
fn cxl68_enc_06_n() {
    codes_n::<S2mDrs, DrsOpcode>("CXL68-ENC-06", Class::S2mDrs, "opcode", DRS);
    let nxm = Cxl68Message { bits: legal(Class::S2mDrs, 1) | 1 << 1, ..message(Class::S2mDrs, 1) };
    let refused = Packer::new(Dir::Up, config()).push(&nxm).expect_err("not sent by default");
    assert_eq!(refused, Cxl68Refused::NotSent { layout: "cxl68.s2m_drs" });
    assert!(refused.to_string().contains("CXL68-ENC-06"));
}

const DEVLOAD: Listed = &[(0, "Light"), (1, "Optimal"), (2, "Moderate"), (3, "Severe")];

#[test]
fn cxl68_enc_07_p() {
    codes_p::<S2mNdr, DevLoad>("CXL68-ENC-07", Class::S2mNdr, "devload", DEVLOAD);
    codes_p::<S2mDrs, DevLoad>("CXL68-ENC-07", Class::S2mDrs, "devload", DEVLOAD);
}

#[test]
fn cxl68_enc_07_n() {
    // No free code; a sender of 1.1 has no DevLoad and yields 0.
    assert_eq!(DevLoad::TABLE.codes.len(), 4);
    let config = Cxl68Config { revision: Revision::V1_1, ..config() };
    for class in [Class::S2mNdr, Class::S2mDrs] {
        let severe = class.def().field("devload").expect("a field").insert(legal(class, 1), 3).expect("fits");
        let units = pack(Dir::Up, config, &[Cxl68Message { bits: severe, ..message(class, 1) }]);
        let sent = &read(Dir::Up, &units).decoded[0];
        let (_, _, bits) = sent.messages().next().expect("one message");
        assert_eq!(bits, legal(class, 1), "{}", class.def().name);
    }
    for format in slot::formats(Revision::V1_1, Dir::Up, 1).iter().chain(slot::formats(Revision::V1_1, Dir::Up, 0)) {
        for place in format.places().iter().filter(|p| p.class == Class::S2mNdr) {
            assert_eq!(place.insert(0, 3 << 28), 0, "{}", format.name);
        }
    }
}

const D2H_REQ: Listed = &[
    (0b00001, "RdCurr"),
    (0b00010, "RdOwn"),
    (0b00011, "RdShared"),
    (0b00100, "RdAny"),
    (0b00101, "RdOwnNoData"),
    (0b00110, "ItoMWr"),
    (0b00111, "WrCur"),
    (0b01000, "CLFlush"),
    (0b01001, "CleanEvict"),
    (0b01010, "DirtyEvict"),
    (0b01011, "CleanEvictNoData"),
    (0b01100, "WOWrInv"),
    (0b01101, "WOWrInvF"),
    (0b01110, "WrInv"),
    (0b10000, "CacheFlushed"),
];

#[test]
fn cxl68_enc_08_p() {
    codes_p::<D2hReq, D2hReqOpcode>("CXL68-ENC-08", Class::D2hReq, "opcode", D2H_REQ);
    for nt in [false, true] {
        let request = D2hReq { nt, opcode: D2hReqOpcode::RdOwn, ..D2hReq::default() };
        let bits = request.to_bits().expect("fits");
        assert_eq!(bits >> 18 & 1, u128::from(nt));
        assert_eq!(D2hReq::from_bits(bits), request);
        assert!(check(D2hReq::DEF, bits).is_empty());
    }
}

#[test]
fn cxl68_enc_08_n() {
    codes_n::<D2hReq, D2hReqOpcode>("CXL68-ENC-08", Class::D2hReq, "opcode", D2H_REQ);
}

const D2H_RSP: Listed = &[
    (0b00100, "RspIHitI"),
    (0b00110, "RspVHitV"),
    (0b00101, "RspIHitSE"),
    (0b00001, "RspSHitSE"),
    (0b00111, "RspSFwdM"),
    (0b01111, "RspIFwdM"),
    (0b10110, "RspVFwdV"),
];

#[test]
fn cxl68_enc_09_p() {
    codes_p::<D2hRsp, D2hRspOpcode>("CXL68-ENC-09", Class::D2hRsp, "opcode", D2H_RSP);
}

#[test]
fn cxl68_enc_09_n() {
    codes_n::<D2hRsp, D2hRspOpcode>("CXL68-ENC-09", Class::D2hRsp, "opcode", D2H_RSP);
}

const H2D_REQ: Listed = &[(1, "SnpData"), (2, "SnpInv"), (3, "SnpCur")];

#[test]
fn cxl68_enc_10_p() {
    codes_p::<H2dReq, H2dReqOpcode>("CXL68-ENC-10", Class::H2dReq, "opcode", H2D_REQ);
}

#[test]
fn cxl68_enc_10_n() {
    codes_n::<H2dReq, H2dReqOpcode>("CXL68-ENC-10", Class::H2dReq, "opcode", H2D_REQ);
}

const H2D_RSP: Listed = &[
    (0b0001, "WritePull"),
    (0b0100, "GO"),
    (0b0101, "GO_WritePull"),
    (0b0110, "ExtCmp"),
    (0b1000, "GO_WritePull_Drop"),
    (0b1100, "Fast_GO"),
    (0b1101, "Fast_GO_WritePull"),
    (0b1111, "GO_ERR_WritePull"),
];

#[test]
fn cxl68_enc_11_p() {
    codes_p::<H2dRsp, H2dRspOpcode>("CXL68-ENC-11", Class::H2dRsp, "opcode", H2D_RSP);
}

#[test]
fn cxl68_enc_11_n() {
    codes_n::<H2dRsp, H2dRspOpcode>("CXL68-ENC-11", Class::H2dRsp, "opcode", H2D_RSP);
}

const GO_STATE: Listed =
    &[(0b0011, "Invalid"), (0b0001, "Shared"), (0b0010, "Exclusive"), (0b0110, "Modified"), (0b0100, "Error")];

fn go(rsp_data: u16) -> u128 {
    H2dRsp { opcode: H2dRspOpcode::GO, rsp_data, cqid: 5, ..H2dRsp::default() }.to_bits().expect("fits")
}

#[test]
fn cxl68_enc_12_p() {
    assert_eq!(GoState::TABLE.codes.len(), GO_STATE.len());
    for &(value, name) in GO_STATE {
        assert_eq!((GoState::TABLE.name_of(value), GoState::TABLE.value_of(name)), (Some(name), Some(value)));
        assert_eq!(format!("{:?}", GoState(value as u8)), name);
        assert!(check(H2dRsp::DEF, go(value as u16)).is_empty(), "{name}");
    }
}

#[test]
fn cxl68_enc_12_n() {
    for rsp_data in 0..4096u16 {
        let found = check(H2dRsp::DEF, go(rsp_data));
        if GO_STATE.iter().any(|(v, _)| *v == u128::from(rsp_data)) {
            assert!(found.is_empty());
        } else {
            assert_eq!(found.len(), 1, "{rsp_data:#x}");
            assert_eq!((found[0].rule, found[0].found.as_str()), ("CXL68-ENC-12", format!("{rsp_data:#x}").as_str()));
        }
        assert_eq!(H2dRsp::from_bits(go(rsp_data)).to_bits(), Ok(go(rsp_data)));
        // Elsewhere RspData is a UQID or means nothing.
        for &(opcode, name) in H2D_RSP.iter().filter(|(_, name)| *name != "GO") {
            let bits = go(rsp_data) & !(0xf << 1) | opcode << 1;
            assert!(check(H2dRsp::DEF, bits).is_empty(), "{name} {rsp_data:#x}");
        }
    }
}

const RSP_PRE: Listed = &[(0b00, "MissLocal"), (0b01, "Hit"), (0b10, "MissRemote")];

#[test]
fn cxl68_enc_13_p() {
    codes_p::<H2dRsp, RspPre>("CXL68-ENC-13", Class::H2dRsp, "rsp_pre", RSP_PRE);
}

#[test]
fn cxl68_enc_13_n() {
    codes_n::<H2dRsp, RspPre>("CXL68-ENC-13", Class::H2dRsp, "rsp_pre", RSP_PRE);
}
