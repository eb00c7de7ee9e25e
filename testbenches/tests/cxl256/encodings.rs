//! CXL256-ENC: code tables, of both routings. The lists here are the sheet's, written a second time.

use super::common::*;
use scalepool_protocols::wire::{LayoutDef, Violation};

/// Code and name.
fn listed(sheet: &str) -> Vec<(u128, &str)> {
    let rows = sheet.split(',').map(|row| row.trim().split_once(' ').expect("code and name"));
    rows.map(|(code, name)| (code.parse().expect("a number"), name)).collect()
}

fn check(def: &LayoutDef, bits: u128) -> Vec<Violation> {
    let mut found = Vec::new();
    def.check(bits, &mut found);
    found
}

/// The layouts of a class in both routings, with a legal message each.
fn layouts(class: Class) -> [(&'static LayoutDef, u128); 2] {
    [Mode::Standard, Mode::Pbr].map(|mode| (class.def(mode.routing()), legal(mode, class, 1)))
}

/// E, obeys: every listed code has its name, no other name is listed, and it is no finding.
#[track_caller]
fn codes_p(class: Class, field: &str, sheet: &str, rule: &str) {
    for (def, message) in layouts(class) {
        let field = def.field(field).expect("listed");
        let table = field.codes.expect("an enumerated field");
        let listed = listed(sheet);
        assert_eq!(table.codes.len(), listed.len(), "{}.{}", def.name, field.name);
        for (value, name) in listed {
            assert_eq!((table.name_of(value), table.value_of(name)), (Some(name), Some(value)));
            let bits = field.insert(message, value).expect("a code fits");
            let about_field = |v: &Violation| v.rule == rule && v.text.contains(&format!("`{}`", field.name));
            assert!(!check(def, bits).iter().any(about_field), "{name}");
        }
    }
}

/// E, breaks: every other code has no name, is kept, and `check` names the rule; an empty place is not judged.
#[track_caller]
fn codes_n(class: Class, field: &str, sheet: &str, rule: &str) {
    for (def, message) in layouts(class) {
        let field = def.field(field).expect("listed");
        let listed = listed(sheet);
        for value in (0..=field.max_raw()).filter(|v| listed.iter().all(|(l, _)| l != v)) {
            assert_eq!(field.codes.and_then(|t| t.name_of(value)), None);
            let bits = field.insert(message, value).expect("a code fits");
            assert_eq!(field.extract(bits), value);
            let named: Vec<_> = check(def, bits).into_iter().filter(|v| v.rule == rule).collect();
            assert_eq!(named.len(), 1, "{}.{} {value:#x}", def.name, field.name);
            assert!(named[0].text.contains(&format!("`{}`", field.name)));
            assert!(check(def, bits & !1).is_empty());
        }
    }
}

const M2S_REQ: &str = "0 MemInv, 1 MemRd, 2 MemRdData, 3 MemRdFwd, 4 MemWrFwd, 5 MemRdTEE, 6 MemRdDataTEE, 7 MemInvTEE,
    8 MemSpecRd, 9 MemInvNT, 10 MemClnEvct, 11 MemInvPTEE, 12 MemSpecRdTEE, 13 TEUpdate, 14 MemClnEvctTEE, 15 MemClnEvctU";
const M2S_RWD: &str = "1 MemWr, 2 MemWrPtl, 4 BIConflict, 5 MemRdFill, 9 MemWrTEE, 10 MemWrPtlTEE, 13 MemRdFillTEE";
const D2H_REQ: &str =
    "1 RdCurr, 2 RdOwn, 3 RdShared, 4 RdAny, 5 RdOwnNoData, 6 ItoMWr, 7 WrCur, 8 CLFlush, 9 CleanEvict,
    10 DirtyEvict, 11 CleanEvictNoData, 12 WOWrInv, 13 WOWrInvF, 14 WrInv, 16 CacheFlushed";
const D2H_RSP: &str = "4 RspIHitI, 6 RspVHitV, 5 RspIHitSE, 1 RspSHitSE, 7 RspSFwdM, 15 RspIFwdM, 22 RspVFwdV";
const H2D_REQ: &str = "1 SnpData, 2 SnpInv, 3 SnpCur";
const H2D_RSP: &str = "1 WritePull, 4 GO, 5 GO_WritePull, 6 ExtCmp, 8 GO_WritePull_Drop, 13 Fast_GO_WritePull,
    15 GO_ERR_WritePull";
const BISNP: &str = "0 BISnpCur, 1 BISnpData, 2 BISnpInv, 4 BISnpCurBlk, 5 BISnpDataBlk, 6 BISnpInvBlk, 8 BISnpCurTEE,
    9 BISnpDataTEE, 10 BISnpInvTEE, 12 BISnpCurBlkTEE, 13 BISnpDataBlkTEE, 14 BISnpInvBlkTEE";
const BIRSP: &str = "0 BIRspI, 1 BIRspS, 2 BIRspE, 4 BIRspIBlk, 5 BIRspSBlk, 6 BIRspEBlk";
const NDR: &str = "0 Cmp, 1 CmpS, 2 CmpE, 3 CmpM, 4 BIConflictAck, 5 CmpTEE, 6 CmpSTEE, 7 CmpETEE";
const DRS: &str = "0 MemData, 1 MemDataNXM, 2 MemDataTEE";
const RSP_PRE: &str = "0 MissLocal, 1 Hit, 2 MissRemote";

#[test]
fn cxl256_enc_01_p() {
    codes_p(Class::D2hReq, "opcode", D2H_REQ, "CXL256-ENC-01");
}

#[test]
fn cxl256_enc_01_n() {
    codes_n(Class::D2hReq, "opcode", D2H_REQ, "CXL256-ENC-01");
}

#[test]
fn cxl256_enc_02_p() {
    codes_p(Class::D2hRsp, "opcode", D2H_RSP, "CXL256-ENC-02");
}

#[test]
fn cxl256_enc_02_n() {
    codes_n(Class::D2hRsp, "opcode", D2H_RSP, "CXL256-ENC-02");
}

#[test]
fn cxl256_enc_03_p() {
    codes_p(Class::H2dReq, "opcode", H2D_REQ, "CXL256-ENC-03");
}

#[test]
fn cxl256_enc_03_n() {
    codes_n(Class::H2dReq, "opcode", H2D_REQ, "CXL256-ENC-03");
}

/// A flit with one H2D Rsp.
fn one_rsp(fields: &[(&str, u128)]) -> Cxl256Flit {
    let rsp = message(Mode::Standard, Class::H2dRsp, 1, fields);
    cachemem(Mode::Standard).with(0, "H1", &[(0, rsp)]).flit()
}

const FAST_GO: Cxl256Config =
    Cxl256Config { fast_go: true, withdrawn_codes: true, mdh: true, direct_p2p: false, between_switches: false };

#[test]
fn cxl256_enc_04_p() {
    codes_p(Class::H2dRsp, "opcode", H2D_RSP, "CXL256-ENC-04");
    read_as(Mode::Standard, Dir::Down, FAST_GO, &[one_rsp(&[("opcode", 12)])]).assert_clean();
}

#[test]
fn cxl256_enc_04_n() {
    codes_n(Class::H2dRsp, "opcode", H2D_RSP, "CXL256-ENC-04");
    assert_eq!(read(Mode::Standard, Dir::Down, &[one_rsp(&[("opcode", 12)])]).only().rule, "CXL256-ENC-04");
    // The configuration is about one code alone.
    let other = read_as(Mode::Standard, Dir::Down, FAST_GO, &[one_rsp(&[("opcode", 2)])]);
    assert_eq!(other.only().rule, "CXL256-ENC-04");
}

#[test]
fn cxl256_enc_05_p() {
    codes_p(Class::H2dRsp, "rsp_pre", RSP_PRE, "CXL256-ENC-05");
    for state in [3, 1, 2, 6, 4] {
        read(Mode::Standard, Dir::Down, &[one_rsp(&[("opcode", 4), ("rsp_data", state)])]).assert_clean();
    }
    // RspData of the other answers is a UQID.
    read(Mode::Standard, Dir::Down, &[one_rsp(&[("opcode", 1), ("rsp_data", 0xfff)])]).assert_clean();
}

#[test]
fn cxl256_enc_05_n() {
    codes_n(Class::H2dRsp, "rsp_pre", RSP_PRE, "CXL256-ENC-05");
    for mode in [Mode::Standard, Mode::Pbr] {
        for data in (0..0x20).filter(|d| ![3, 1, 2, 6, 4].contains(d)) {
            let go = message(mode, Class::H2dRsp, 1, &[("opcode", 4), ("rsp_data", data)]);
            let found = check(Class::H2dRsp.def(mode.routing()), go);
            assert_eq!(found.iter().map(|v| v.rule).collect::<Vec<_>>(), ["CXL256-ENC-05"], "{data:#x}");
        }
    }
}

/// Judges one message under a configuration that knows the later revision.
fn judge_later(class: Class, opcode: u128) -> Read {
    let config = Cxl256Config { withdrawn_codes: false, ..Cxl256Config::default() };
    let (format, address) = match class {
        Class::M2sReq => ("H4", Some(("address", 0x40))),
        Class::S2mBisnp => ("H6", Some(("address", 0x40))),
        _ => ("H7", None),
    };
    let fields: Vec<_> = [("opcode", opcode)].into_iter().chain(address).collect();
    let bits = message(Mode::Standard, class, 1, &fields);
    read_as(Mode::Standard, class.dir(), config, &[cachemem(Mode::Standard).with(0, format, &[(0, bits)]).flit()])
}

#[test]
fn cxl256_enc_06_p() {
    codes_p(Class::M2sReq, "opcode", M2S_REQ, "CXL256-ENC-06");
    (0..16).filter(|c| ![7, 11, 14, 15].contains(c)).for_each(|c| judge_later(Class::M2sReq, c).assert_clean());
}

#[test]
fn cxl256_enc_06_n() {
    // All sixteen codes have a name; those that a later revision withdraws are named under its configuration.
    for code in [7, 11, 14, 15] {
        assert_eq!(judge_later(Class::M2sReq, code).only().rule, "CXL256-ENC-06");
    }
}

#[test]
fn cxl256_enc_07_p() {
    codes_p(Class::M2sRwd, "opcode", M2S_RWD, "CXL256-ENC-07");
}

#[test]
fn cxl256_enc_07_n() {
    codes_n(Class::M2sRwd, "opcode", M2S_RWD, "CXL256-ENC-07");
}

/// A request whose data means nothing, the four slots behind it, and another request.
fn zeros_behind(opcode: u128, fill: u128) -> Read {
    let rwd = message(Mode::Standard, Class::M2sRwd, 1, &[("opcode", opcode)]);
    let flit = cachemem(Mode::Standard).with(0, "H14", &[(0, rwd)]);
    let flit = (1..5).fold(flit, |flit, n| flit.bits(n, fill));
    read(Mode::Standard, Dir::Down, &[flit.with(5, "G4", &[(0, legal(Mode::Standard, Class::M2sReq, 2))]).flit()])
}

#[test]
fn cxl256_enc_08_p() {
    for opcode in [4, 5] {
        let read = zeros_behind(opcode, 0);
        assert_eq!(read.rules(), [""; 0]);
        let data = read.delivered.iter().find(|m| m.class == Class::M2sRwd).and_then(|m| m.data).expect("it has data");
        assert_eq!(data.line, [0; 64]);
        assert_eq!(read.delivered.len(), 2, "the request behind it is read");
    }
}

#[test]
fn cxl256_enc_08_n() {
    // Other data is ignored: no finding, and the stream stays in step.
    for opcode in [4, 5] {
        let read = zeros_behind(opcode, u128::MAX);
        assert_eq!(read.rules(), [""; 0]);
        assert_eq!((read.delivered.len(), read.owed_slots), (2, 0));
    }
}

#[test]
fn cxl256_enc_09_p() {
    codes_p(Class::S2mBisnp, "opcode", BISNP, "CXL256-ENC-09");
    codes_p(Class::M2sBirsp, "opcode", BIRSP, "CXL256-ENC-09");
    [0, 1, 2, 4, 5, 6].into_iter().for_each(|c| judge_later(Class::S2mBisnp, c).assert_clean());
}

#[test]
fn cxl256_enc_09_n() {
    codes_n(Class::S2mBisnp, "opcode", BISNP, "CXL256-ENC-09");
    codes_n(Class::M2sBirsp, "opcode", BIRSP, "CXL256-ENC-09");
    for code in [8, 9, 10, 12, 13, 14] {
        assert_eq!(judge_later(Class::S2mBisnp, code).only().rule, "CXL256-ENC-09");
    }
}

#[test]
fn cxl256_enc_10_p() {
    codes_p(Class::S2mNdr, "opcode", NDR, "CXL256-ENC-10");
    codes_p(Class::S2mDrs, "opcode", DRS, "CXL256-ENC-10");
    (0..6).for_each(|c| judge_later(Class::S2mNdr, c).assert_clean());
}

#[test]
fn cxl256_enc_10_n() {
    codes_n(Class::S2mDrs, "opcode", DRS, "CXL256-ENC-10");
    for code in [6, 7] {
        assert_eq!(judge_later(Class::S2mNdr, code).only().rule, "CXL256-ENC-10");
    }
}

/// Field, codes and the classes that have it (`cxl-256b` §4.4).
const SMALL: [(&str, &str, &[Class]); 4] = [
    ("meta_field", "0 Meta0State, 1 EMS, 3 NoOp", &[Class::M2sReq, Class::M2sRwd, Class::S2mNdr, Class::S2mDrs]),
    (
        "meta_value",
        "0 Invalid, 1 ExplicitNoOp, 2 Any, 3 Shared",
        &[Class::M2sReq, Class::M2sRwd, Class::S2mNdr, Class::S2mDrs],
    ),
    ("snp_type", "0 NoOp, 1 SnpData, 2 SnpCur, 3 SnpInv", &[Class::M2sReq, Class::M2sRwd]),
    ("devload", "0 Light, 1 Optimal, 2 Moderate, 3 Severe", &[Class::S2mNdr, Class::S2mDrs]),
];

#[test]
fn cxl256_enc_11_p() {
    for (field, sheet, classes) in SMALL {
        classes.iter().for_each(|&class| codes_p(class, field, sheet, "CXL256-ENC-11"));
    }
}

#[test]
fn cxl256_enc_11_n() {
    for (field, sheet, classes) in SMALL {
        classes.iter().for_each(|&class| codes_n(class, field, sheet, "CXL256-ENC-11"));
    }
}

/// Rules that a message with a chunk code breaks, in both routings.
fn chunk(class: Class, opcode: u128, code: u128) -> Vec<&'static str> {
    let judge = |mode: Mode| {
        let place = if class == Class::S2mBisnp { ("address", code << 6) } else { ("low_addr", code) };
        check(class.def(mode.routing()), message(mode, class, 1, &[("opcode", opcode), place]))
    };
    [Mode::Standard, Mode::Pbr].into_iter().flat_map(judge).map(|v| v.rule).collect()
}

#[test]
fn cxl256_enc_12_p() {
    for class in [Class::S2mBisnp, Class::M2sBirsp] {
        for opcode in [4, 5, 6] {
            (1..4).for_each(|code| assert!(chunk(class, opcode, code).is_empty()));
        }
        // In an answer the field is reserved: the block is as large as its snoop says.
        (4..7).for_each(|opcode| assert!(chunk(Class::M2sBirsp, opcode, 0).is_empty()));
        // Elsewhere the two bits are no chunk code.
        (0..3).for_each(|opcode| assert!(chunk(class, opcode, 0).is_empty()));
    }
}

#[test]
fn cxl256_enc_12_n() {
    [4, 5, 6].into_iter().for_each(|opcode| assert_eq!(chunk(Class::S2mBisnp, opcode, 0), ["CXL256-ENC-12"; 2]));
}
