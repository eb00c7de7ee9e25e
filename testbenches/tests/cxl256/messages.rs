//! CXL256-MSG: the twelve messages; places as `cxl-256b` §3.1 lists them.

use super::common::*;
use scalepool_protocols::cxl::cxl256::message::*;
use scalepool_protocols::cxl::cxl256::slot;
use serde_json::json;

#[test]
fn cxl256_msg_01_p() {
    layout_p::<H2dReq>("valid 0, opcode 3:1, address 49:4, uqid 61:50, cache_id 65:62, rsvd 71:66");
}

#[test]
fn cxl256_msg_01_n() {
    layout_n::<H2dReq>("CXL256-MSG-01");
}

#[test]
fn cxl256_msg_02_p() {
    layout_p::<H2dRsp>("valid 0, opcode 4:1, rsp_data 16:5, rsp_pre 18:17, cqid 30:19, cache_id 34:31, rsvd 39:35");
}

#[test]
fn cxl256_msg_02_n() {
    layout_n::<H2dRsp>("CXL256-MSG-02");
}

#[test]
fn cxl256_msg_03_p() {
    layout_p::<H2dData>("valid 0, cqid 12:1, poison 13, go_err 14, cache_id 18:15, rsvd 27:19");
}

#[test]
fn cxl256_msg_03_n() {
    layout_n::<H2dData>("CXL256-MSG-03");
}

#[test]
fn cxl256_msg_04_p() {
    layout_p::<D2hReq>("valid 0, opcode 5:1, cqid 17:6, nt 18, cache_id 22:19, rsvd 25:23, address 71:26, rsvd1 75:72");
}

#[test]
fn cxl256_msg_04_n() {
    layout_n::<D2hReq>("CXL256-MSG-04");
}

#[test]
fn cxl256_msg_05_p() {
    layout_p::<D2hRsp>("valid 0, opcode 5:1, uqid 17:6, rsvd 23:18");
}

#[test]
fn cxl256_msg_05_n() {
    layout_n::<D2hRsp>("CXL256-MSG-05");
}

#[test]
fn cxl256_msg_06_p() {
    layout_p::<D2hData>("valid 0, uqid 12:1, bogus 13, poison 14, bep 15, rsvd 23:16");
}

#[test]
fn cxl256_msg_06_n() {
    layout_n::<D2hData>("CXL256-MSG-06");
}

#[test]
fn cxl256_msg_07_p() {
    layout_p::<M2sReq>("valid 0, opcode 4:1, snp_type 7:5, meta_field 9:8, meta_value 11:10, tag 27:12, address 73:28, ld_id 77:74, ckid 90:78, rsvd 97:91, tc 99:98");
}

#[test]
fn cxl256_msg_07_n() {
    layout_n::<M2sReq>("CXL256-MSG-07");
}

#[test]
fn cxl256_msg_08_p() {
    layout_p::<M2sRwd>("valid 0, opcode 4:1, snp_type 7:5, meta_field 9:8, meta_value 11:10, tag 27:12, address 73:28, poison 74, trp 75, ld_id 79:76, ckid 92:80, rsvd 101:93, tc 103:102");
}

#[test]
fn cxl256_msg_08_n() {
    layout_n::<M2sRwd>("CXL256-MSG-08");
}

#[test]
fn cxl256_msg_09_p() {
    layout_p::<M2sBirsp>("valid 0, opcode 4:1, bi_id 16:5, bi_tag 28:17, low_addr 30:29, rsvd 39:31");
}

#[test]
fn cxl256_msg_09_n() {
    layout_n::<M2sBirsp>("CXL256-MSG-09");
}

#[test]
fn cxl256_msg_10_p() {
    layout_p::<S2mBisnp>("valid 0, opcode 4:1, bi_id 16:5, bi_tag 28:17, address 74:29, rsvd 83:75");
}

#[test]
fn cxl256_msg_10_n() {
    layout_n::<S2mBisnp>("CXL256-MSG-10");
}

#[test]
fn cxl256_msg_11_p() {
    layout_p::<S2mNdr>("valid 0, opcode 3:1, meta_field 5:4, meta_value 7:6, tag 23:8, ld_id 27:24, devload 29:28, rsvd 39:30");
}

#[test]
fn cxl256_msg_11_n() {
    layout_n::<S2mNdr>("CXL256-MSG-11");
}

#[test]
fn cxl256_msg_12_p() {
    layout_p::<S2mDrs>("valid 0, opcode 3:1, meta_field 5:4, meta_value 7:6, tag 23:8, poison 24, devload 26:25, ld_id 30:27, trp 31, rsvd 39:32");
}

#[test]
fn cxl256_msg_12_n() {
    layout_n::<S2mDrs>("CXL256-MSG-12");
}

#[test]
fn cxl256_msg_13_p() {
    // What is sent without a word about reserved bits has zeros there.
    for class in Class::ALL {
        let def = class.def(Mode::Standard.routing());
        let reserved = def.fields.iter().filter(|f| f.reserved);
        reserved.for_each(|f| assert_eq!(f.extract(def.default_bits()), 0, "{}.{}", def.name, f.name));
    }
}

#[test]
fn cxl256_msg_13_n() {
    // Set all the same: kept by decoding, and the message is delivered as if they were 0.
    let req = message(Mode::Standard, Class::M2sReq, 7, &[("rsvd", 0x7f)]);
    let read = read(Mode::Standard, Dir::Down, &[cachemem(Mode::Standard).with(0, "H4", &[(0, req)]).flit()]);
    assert_eq!(read.delivered[0].bits, req);
    assert_eq!(read.only().rule, "CXL256-MSG-07");
}

#[test]
fn cxl256_msg_14_p() {
    for class in [Class::H2dReq, Class::D2hReq, Class::M2sReq, Class::M2sRwd, Class::S2mBisnp] {
        let field = class.def(Mode::Standard.routing()).field("address").expect("an address");
        assert_eq!((field.address_lsb, field.width), (6, 46), "{class:?}");
        assert_eq!(field.insert(0, 0x40), Ok(1 << field.lsb));
        assert_eq!(field.insert(0, (1 << 52) - 0x40), Ok(field.max_raw() << field.lsb));
    }
}

#[test]
fn cxl256_msg_14_n() {
    for address in ["0x1020", "0x1"] {
        let form = json!({"kind": "protocol", "slots": [{"slot": 0, "format": "H4",
            "messages": [{"layout": "cxl256.m2s_req", "fields": {"address": address}}]}]});
        let error = encode(Mode::Standard, &form).expect_err("no line begins there");
        assert!(error.contains("a multiple of 64"), "{error}");
    }
}

/// The slot examples of `cxl-256b` §10: slot, format, messages with the fields that are not 0, bytes.
#[test]
fn slot_examples_of_the_sheet() {
    use Class::*;
    type Example<'a> = (usize, &'a str, &'a [(Class, &'a [(&'a str, u128)])], &'a str);
    let examples: [Example; 11] = [
        (
            1,
            "G4",
            &[(
                M2sReq,
                &[("opcode", 2), ("meta_field", 3), ("tag", 0x1234), ("address", 0x1_2345_6780), ("ld_id", 2)],
            )],
            "54 30 34 12 9E 15 8D 04 00 80 00 00 00 00 00 00",
        ),
        (
            0,
            "H14",
            &[(M2sRwd, &[("opcode", 1), ("snp_type", 3), ("tag", 0xabcd), ("address", 0x40), ("ld_id", 1)])],
            "3E 06 CD AB 01 00 00 00 00 00 01 00 00 00",
        ),
        (
            1,
            "G7",
            &[
                (S2mNdr, &[("meta_field", 3), ("tag", 1)]),
                (S2mNdr, &[("opcode", 2), ("meta_value", 2), ("tag", 2), ("ld_id", 1), ("devload", 1)]),
            ],
            "17 13 00 00 00 50 28 00 10 01 00 00 00 00 00 00",
        ),
        (
            1,
            "G15",
            &[(S2mDrs, &[("meta_value", 3), ("tag", 0x55aa), ("devload", 3), ("ld_id", 2)])],
            "1F AC 5A 65 01 00 00 00 00 00 00 00 00 00 00 00",
        ),
        (
            0,
            "H6",
            &[(S2mBisnp, &[("opcode", 2), ("bi_id", 0x123), ("bi_tag", 0x456), ("address", 0x1000)])],
            "56 46 C2 8A 80 00 00 00 00 00 00 00 00 00",
        ),
        (
            0,
            "H5",
            &[(M2sBirsp, &[("bi_id", 0x123), ("bi_tag", 0x456)])],
            "15 46 C2 8A 00 00 00 00 00 00 00 00 00 00",
        ),
        (
            1,
            "G0",
            &[
                (H2dReq, &[("opcode", 1), ("address", 0x2000), ("uqid", 0xa5), ("cache_id", 1)]),
                (H2dRsp, &[("opcode", 4), ("rsp_data", 2), ("cqid", 0x77), ("cache_id", 1)]),
            ],
            "30 80 00 00 00 00 40 29 04 90 04 80 3B 08 00 00",
        ),
        (
            0,
            "H2",
            &[
                (D2hReq, &[("opcode", 3), ("cqid", 0x77), ("cache_id", 1), ("address", 0x2000)]),
                (D2hRsp, &[("opcode", 4), ("uqid", 0xa5)]),
            ],
            "72 DC 81 00 20 00 00 00 00 00 49 29 00 00",
        ),
        (
            0,
            "H12",
            &[(H2dData, &[("cqid", 0x77)]), (H2dData, &[("cqid", 0x78), ("cache_id", 2)])],
            "FC 0E 00 00 F1 00 01 00 00 00 00 00 00 00",
        ),
        (
            8,
            "HS13",
            &[(D2hData, &[("uqid", 1)]), (D2hData, &[("uqid", 2)]), (D2hData, &[("uqid", 3)])],
            "3D 00 00 50 00 00 70 00 00 00 00 00",
        ),
        (
            8,
            "HS4",
            &[(M2sReq, &[("opcode", 1), ("tag", 7), ("address", 0x80), ("ld_id", 1)])],
            "34 00 07 00 02 00 00 00 00 40 00 00",
        ),
    ];
    for (n, format, messages, hex) in examples {
        let mode = if n == 8 { Mode::LatencyOptimised } else { Mode::Standard };
        let messages: Vec<_> = messages.iter().map(|(class, fields)| plain(mode, *class, fields)).enumerate().collect();
        let flit = cachemem(mode).with(n, format, &messages).flit();
        let want = bytes(hex);
        let is: Vec<u8> = (0..want.len()).map(|k| flit.0[flit::slot_byte(mode, n, k)]).collect();
        assert_eq!(is, want, "{format}");
        assert_eq!(slot::code(flit.slot(mode, n)), want[0] & 0xf);
    }
}
