//! CXLPBR: port based routing. Places as `cxl-256b` §3.2 lists them; the letter in a layout's source says how sure its
//! order is.

use super::common::*;
use super::slots::{formats_p, reserved_format_n};
use scalepool_protocols::cxl::cxl256::check::zero_extension;
use scalepool_protocols::cxl::cxl256::pbr::{self, FIXED_POINTS};
use scalepool_protocols::cxl::cxl256::{PBR_LAYOUTS, slot};
use scalepool_protocols::wire::{Basis, FieldFault};
use serde_json::json;

const PBR: Mode = Mode::Pbr;

#[test]
fn cxlpbr_msg_01_p() {
    layout_p::<pbr::H2dReq>("valid 0, opcode 3:1, address 49:4, uqid 61:50, spid 73:62, dpid 85:74, rsvd 91:86");
}

#[test]
fn cxlpbr_msg_01_n() {
    layout_n::<pbr::H2dReq>("CXLPBR-MSG-01");
}

#[test]
fn cxlpbr_msg_02_p() {
    layout_p::<pbr::H2dRsp>("valid 0, opcode 4:1, rsp_data 16:5, rsp_pre 18:17, cqid 30:19, dpid 42:31, rsvd 47:43");
}

#[test]
fn cxlpbr_msg_02_n() {
    layout_n::<pbr::H2dRsp>("CXLPBR-MSG-02");
}

#[test]
fn cxlpbr_msg_03_p() {
    layout_p::<pbr::H2dData>("valid 0, cqid 12:1, poison 13, go_err 14, dpid 26:15, rsvd 35:27");
}

#[test]
fn cxlpbr_msg_03_n() {
    layout_n::<pbr::H2dData>("CXLPBR-MSG-03");
}

#[test]
fn cxlpbr_msg_04_p() {
    layout_p::<pbr::D2hReq>("valid 0, opcode 5:1, cqid 17:6, nt 18, address 64:19, spid 76:65, dpid 88:77, rsvd 95:89");
}

#[test]
fn cxlpbr_msg_04_n() {
    layout_n::<pbr::D2hReq>("CXLPBR-MSG-04");
}

#[test]
fn cxlpbr_msg_05_p() {
    layout_p::<pbr::D2hRsp>("valid 0, opcode 5:1, uqid 17:6, dpid 29:18, rsvd 35:30");
}

#[test]
fn cxlpbr_msg_05_n() {
    layout_n::<pbr::D2hRsp>("CXLPBR-MSG-05");
}

#[test]
fn cxlpbr_msg_06_p() {
    layout_p::<pbr::D2hData>("valid 0, uqid 12:1, bogus 13, poison 14, bep 15, dpid 27:16, rsvd 35:28");
}

#[test]
fn cxlpbr_msg_06_n() {
    layout_n::<pbr::D2hData>("CXLPBR-MSG-06");
}

#[test]
fn cxlpbr_msg_07_p() {
    layout_p::<pbr::M2sReq>(
        "valid 0, opcode 4:1, snp_type 7:5, meta_field 9:8, meta_value 11:10, tag 27:12, address 73:28, spid 85:74, dpid 97:86, ckid 110:98, rsvd 117:111, tc 119:118",
    );
}

#[test]
fn cxlpbr_msg_07_n() {
    layout_n::<pbr::M2sReq>("CXLPBR-MSG-07");
}

#[test]
fn cxlpbr_msg_08_p() {
    layout_p::<pbr::M2sRwd>(
        "valid 0, opcode 4:1, snp_type 7:5, meta_field 9:8, meta_value 11:10, tag 27:12, address 73:28, poison 74, trp 75, spid 87:76, dpid 99:88, ckid 112:100, rsvd 121:113, tc 123:122",
    );
}

#[test]
fn cxlpbr_msg_08_n() {
    layout_n::<pbr::M2sRwd>("CXLPBR-MSG-08");
}

#[test]
fn cxlpbr_msg_09_p() {
    layout_p::<pbr::M2sBirsp>("valid 0, opcode 4:1, bi_tag 16:5, low_addr 18:17, spid 30:19, dpid 42:31, rsvd 51:43");
}

#[test]
fn cxlpbr_msg_09_n() {
    layout_n::<pbr::M2sBirsp>("CXLPBR-MSG-09");
}

#[test]
fn cxlpbr_msg_10_p() {
    layout_p::<pbr::S2mBisnp>("valid 0, opcode 4:1, bi_tag 16:5, address 62:17, spid 74:63, dpid 86:75, rsvd 95:87");
}

#[test]
fn cxlpbr_msg_10_n() {
    layout_n::<pbr::S2mBisnp>("CXLPBR-MSG-10");
}

#[test]
fn cxlpbr_msg_11_p() {
    layout_p::<pbr::S2mNdr>(
        "valid 0, opcode 3:1, meta_field 5:4, meta_value 7:6, tag 23:8, dpid 35:24, devload 37:36, rsvd 47:38",
    );
}

#[test]
fn cxlpbr_msg_11_n() {
    layout_n::<pbr::S2mNdr>("CXLPBR-MSG-11");
}

#[test]
fn cxlpbr_msg_12_p() {
    layout_p::<pbr::S2mDrs>(
        "valid 0, opcode 3:1, meta_field 5:4, meta_value 7:6, tag 23:8, poison 24, devload 26:25, dpid 38:27, trp 39, rsvd 47:40",
    );
}

#[test]
fn cxlpbr_msg_12_n() {
    layout_n::<pbr::S2mDrs>("CXLPBR-MSG-12");
}

#[test]
fn cxlpbr_slt_01_p() {
    // `cxl-256b` §2.2: code and bits of the messages.
    let g = [
        (0, 92),
        (1, 96),
        (2, 96),
        (3, 108),
        (4, 120),
        (5, 104),
        (6, 96),
        (7, 96),
        (12, 108),
        (13, 108),
        (14, 124),
        (15, 96),
    ];
    formats_p(PBR, 1, "G", &g);
    formats_p(PBR, 0, "H", &g.map(|(code, bits)| (code, bits.min(108))));
}

#[test]
fn cxlpbr_slt_01_n() {
    reserved_format_n(PBR, 1, 8..12, "CXLPBR-SLT-01");
    reserved_format_n(PBR, 0, 9..12, "CXLPBR-SLT-01");
}

/// A format of slot 0 with its one place.
fn short(name: &str) -> (&'static slot::SlotFormat, slot::Cxl256SlotPlace) {
    let format = slot::formats(PBR, 0).iter().find(|f| f.name == name).expect("listed");
    (format, format.places().next().expect("one message"))
}

#[test]
fn cxlpbr_slt_02_p() {
    for (name, class, ckid) in [("H4", Class::M2sReq, 0x3ff), ("H14", Class::M2sRwd, 0xff)] {
        let (format, place) = short(name);
        assert_eq!(place.kept, 108);
        let most = message(PBR, class, 1, &[("ckid", ckid), ("spid", 0xfff), ("dpid", 0xfff)]);
        assert_eq!(zero_extension(&place, format, most), Ok(()));
        let flit = cachemem(PBR).with(0, name, &[(0, most)]).flit();
        assert_eq!(read(PBR, Dir::Down, &[flit]).decoded[0].messages().next(), Some((0, class, most)));
    }
}

#[test]
fn cxlpbr_slt_02_n() {
    for (name, class, ckid) in [("H4", Class::M2sReq, 1 << 10), ("H14", Class::M2sRwd, 1 << 8)] {
        let (format, place) = short(name);
        for field in [("ckid", ckid), ("ckid", 1 << 12), ("rsvd", 1), ("tc", 1), ("tc", 2)] {
            let dropped = zero_extension(&place, format, message(PBR, class, 1, &[field])).expect_err("a dropped bit");
            assert_eq!((dropped.rule, dropped.text.contains(field.0)), ("CXLPBR-SLT-02", true), "{name} {field:?}");
        }
        let def = class.def(PBR.routing()).name;
        let form = json!({"kind": "protocol", "slots": [{"slot": 0, "format": name, "messages": [
            {"layout": def, "fields": {"opcode": 1, "ckid": "0x1000"}}]}]});
        let error = encode(PBR, &form).expect_err("the slot drops CKID bit 12");
        assert!(error.contains("CXLPBR-SLT-02"), "{error}");
    }
}

#[test]
fn cxlpbr_msg_13_p() {
    use Class::*;
    for class in Class::ALL {
        let has = |name: &str| class.def(PBR.routing()).fields.iter().any(|f| f.name == name && f.width == 12);
        assert!(has("dpid"), "{class:?}");
        let answered = matches!(class, H2dReq | D2hReq | M2sReq | M2sRwd | M2sBirsp | S2mBisnp);
        assert_eq!(has("spid"), answered, "{class:?}");
    }
}

#[test]
fn cxlpbr_msg_13_n() {
    for class in Class::ALL {
        for gone in ["ld_id", "cache_id", "bi_id"] {
            let fault = class.def(PBR.routing()).field(gone).expect_err("no such field").fault;
            assert!(matches!(fault, FieldFault::UnknownField { .. }));
        }
    }
    let form = json!({"kind": "protocol", "slots": [{"slot": 1, "format": "G4", "messages": [
        {"layout": "cxlpbr.m2s_req", "fields": {"opcode": "MemRd", "ld_id": 1}}]}]});
    let error = encode(PBR, &form).expect_err("a message with port based routing has no LD-ID");
    assert!(error.contains("`ld_id`") && error.contains("dpid"), "{error}");
}

/// Widths, written a second time.
const WIDTHS: [(&str, u32); 12] = [
    ("h2d_req", 92),
    ("h2d_rsp", 48),
    ("h2d_data", 36),
    ("d2h_req", 96),
    ("d2h_rsp", 36),
    ("d2h_data", 36),
    ("m2s_req", 120),
    ("m2s_rwd", 124),
    ("m2s_birsp", 52),
    ("s2m_bisnp", 96),
    ("s2m_ndr", 48),
    ("s2m_drs", 48),
];

/// Whether the place of a field agrees with the fixed points.
fn keeps(layout: &str, field: &str, lsb: u32) -> bool {
    FIXED_POINTS.iter().all(|&(l, f, at)| (l, f) != (layout, field) || at == lsb)
}

#[test]
fn cxlpbr_msg_14_p() {
    for (def, (name, bits)) in PBR_LAYOUTS.iter().zip(WIDTHS) {
        assert_eq!((def.name.strip_prefix("cxlpbr."), def.bits), (Some(name), bits));
        assert!(def.fields.iter().all(|f| keeps(def.name, f.name, f.lsb)), "{name}");
        let letter = def.source.split(['(', ')']).nth(1).expect("a letter");
        assert_eq!(def.basis == Basis::Inferred, letter.contains('C'), "{name}");
    }
    // H14 drops CKID[12:8], the reserved bits and TC of an RwD, and nothing else.
    let (_, place) = short("H14");
    let rwd = Class::M2sRwd.def(PBR.routing());
    let dropped: Vec<_> = rwd.fields.iter().filter(|f| f.lsb + f.width > place.kept).map(|f| f.name).collect();
    assert_eq!(dropped, ["ckid", "rsvd", "tc"]);
    assert_eq!(place.kept - rwd.field("ckid").expect("listed").lsb, 8);
}

#[test]
fn cxlpbr_msg_14_n() {
    // Moving one of the fields by a bit is seen.
    for (layout, field, lsb) in FIXED_POINTS {
        assert!(keeps(layout, field, lsb) && !keeps(layout, field, lsb + 1) && !keeps(layout, field, lsb - 1));
    }
}

/// The PBR slot examples of `cxl-256b` §10.
#[test]
fn slot_examples_of_the_sheet() {
    let drs = plain(PBR, Class::S2mDrs, &[("meta_value", 3), ("tag", 0x55aa), ("devload", 3), ("dpid", 0x321)]);
    let rwd = [("opcode", 1), ("tag", 0xabcd), ("address", 0x40), ("spid", 0x111), ("dpid", 0x222)];
    let flit = cachemem(PBR).with(1, "G15", &[(0, drs)]).with(2, "G14", &[(0, plain(PBR, Class::M2sRwd, &rwd))]).flit();
    assert_eq!(flit.0[16..32], bytes("1F AC 5A E5 90 01 00 00 00 00 00 00 00 00 00 00"));
    assert_eq!(flit.0[32..48], bytes("3E 00 CD AB 01 00 00 00 00 00 11 21 22 00 00 00"));
}
