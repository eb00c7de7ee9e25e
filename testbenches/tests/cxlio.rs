//! Conformance of CXL.io: for every rule a test that obeys it (`<rule>_p`) and one that breaks it (`<rule>_n`).
//!
//! Layouts are held against a second spelling: the tables of the sheet as text, a DW a string, placed byte by byte.
//! Checksums are held against the `crc` crate.

use crc::{Algorithm, CRC_32_ISO_HDLC, Crc};
use scalepool::forms::{flit_io, number};
use scalepool_protocols::check::pcie::{dllp_crc, ecrc, lcrc, lcrc_nullified};
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl256::flit::Cxl256Flit;
use scalepool_protocols::cxl::cxlio::code::{CplStatus, DllpType, FcType, FmType, LastTlp, PmOpcode, VdmCode};
use scalepool_protocols::cxl::cxlio::dllp::Dllp;
use scalepool_protocols::cxl::cxlio::flit_mode::{Base, FmMsg, PbrFirstByte};
use scalepool_protocols::cxl::cxlio::framing::{self, Framed, FramingToken, Stp, StpFault};
use scalepool_protocols::cxl::cxlio::non_flit_mode::{self, NfmMsg, TlpShape};
use scalepool_protocols::cxl::cxlio::stream::{self, PieceKind, TlpRegionReader};
use scalepool_protocols::cxl::cxlio::tlp::{self, TlpFault, TlpParts, UnknownSize};
use scalepool_protocols::cxl::cxlio::vdm::{self, Pm};
use scalepool_protocols::cxl::cxlio::{LAYOUTS, byte_count_bytes, byte_count_field, length_dw, length_field};
use scalepool_protocols::wire::{At, CodeTable, FieldFault, LayoutDef, Violation, Wire};
use serde_json::{Value, json};

// ---- the second spelling ----

const NFM_DW0: &str = "fmt 31:29,tlp_type 28:24,tag_9 23,tc 22:20,tag_8 19,attr_2 18,rsvd 17,th 16,td 15,ep 14,attr 13:12,\
                       at 11:10,length 9:0";
const NFM_DW1: &str = "requester 31:16,tag 15:8,last_be 7:4,first_be 3:0";
const FM_DW0: &str = "tlp_type 31:24,tc 23:21,ohc 20:16,ts 15:13,attr 12:10,length 9:0";
const FM_DW1: &str = "requester 31:16,ep 15,rsvd 14,tag 13:0";

/// `cxl-io` §1 to §3. `name hi:lo` within the DW; bits above 31 stand in the DW before; `rsvd..` is reserved.
const TABLES: [(&str, &[&str]); 21] = [
    ("cxlio.nfm_mem32", &[NFM_DW0, NFM_DW1, "address@2 31:2,ph 1:0"]),
    ("cxlio.nfm_mem64", &[NFM_DW0, NFM_DW1, "", "address@2 63:2,ph 1:0"]),
    ("cxlio.nfm_cfg", &[NFM_DW0, NFM_DW1, "completer 31:16,rsvd1 15:12,ext_reg 11:8,reg_dw 7:2,rsvd2 1:0"]),
    (
        "cxlio.nfm_cpl",
        &[
            NFM_DW0,
            "completer 31:16,status 15:13,bcm 12,byte_count 11:0",
            "requester 31:16,tag 15:8,rsvd1 7,lower_addr 6:0",
        ],
    ),
    ("cxlio.nfm_msg", &[NFM_DW0, "requester 31:16,tag 15:8,message_code 7:0", "dw2 31:0", "dw3 31:0"]),
    ("cxlio.fm_mem32", &[FM_DW0, FM_DW1, "address@2 31:2,at 1:0"]),
    ("cxlio.fm_mem64", &[FM_DW0, FM_DW1, "", "address@2 63:2,at 1:0"]),
    ("cxlio.fm_cfg", &[FM_DW0, FM_DW1, "completer 31:16,rsvd1 15:12,reg_dw 11:2,rsvd2 1:0"]),
    (
        "cxlio.fm_cpl",
        &[FM_DW0, "completer 31:16,ep 15,lower_addr_6 14,tag 13:0", "requester 31:16,lower_addr 15:12,byte_count 11:0"],
    ),
    ("cxlio.fm_msg", &[FM_DW0, "requester 31:16,ep 15,rsvd 14:8,message_code 7:0", "dw2 31:0", "dw3 31:0"]),
    ("cxlio.ohc_a1", &["nw 31,pv 30,pmr 29,er 28,pasid 27:8,last_be 7:4,first_be 3:0"]),
    ("cxlio.ohc_a2", &["rsvd 31:8,last_be 7:4,first_be 3:0"]),
    ("cxlio.ohc_a3", &["dest_segment 31:24,rsvd 23:16,dsv 15,rsvd1 14:8,last_be 7:4,first_be 3:0"]),
    ("cxlio.ohc_a5", &["dest_segment 31:24,completer_segment 23:16,dsv 15,rsvd 14:5,lower_addr 4:3,status 2:0"]),
    ("cxlio.ohc_c", &["requester_segment 31:24,pr_sent 23:16,stream_id 15:8,sub_stream 7:4,rsvd 3:2,k 1,t 0"]),
    ("cxlio.pth", &["marker 31:30,rsvd 29:27,hie 26,dsar 25,pif 24,spid 23:12,dpid 11:0"]),
    ("cxlio.dllp_ack_nak", &["dllp_type 31:24,rsvd 23:12,seq 11:0"]),
    ("cxlio.dllp_feature", &["dllp_type 31:24,feature_ack 23,feature 22:0"]),
    ("cxlio.dllp_fc", &["fc_type 31:28,shared 27,vc 26:24,hdr_scale 23:22,hdr_fc 21:14,data_scale 13:12,data_fc 11:0"]),
    ("cxlio.dllp_optimized_update_fc", &["marker 31,vc 30:28,np_hdr 27:20,p_hdr 19:12,p_data 11:0"]),
    ("cxlio.dllp_flit_marker", &["marker 31,last_tlp 30:29,ptm 28,rsvd 27:0"]),
];

struct Field {
    name: &'static str,
    address_lsb: u32,
    dw: usize,
    low: usize,
    width: usize,
}

impl Field {
    /// Byte and bit of the k-th bit of the field.
    fn place(&self, k: usize) -> (usize, usize) {
        let bit = self.low + k;
        (4 * (self.dw - bit / 32) + 3 - bit % 32 / 8, bit % 8)
    }

    fn put(&self, bytes: &mut [u8], number: u64) {
        for k in (0..self.width).filter(|k| number >> k & 1 == 1) {
            let (byte, bit) = self.place(k);
            bytes[byte] |= 1 << bit;
        }
    }

    fn get(&self, bytes: &[u8]) -> u64 {
        (0..self.width)
            .map(|k| (self.place(k), k))
            .fold(0, |n, ((byte, bit), k)| n | u64::from(bytes[byte] >> bit & 1) << k)
    }

    fn max(&self) -> u64 {
        u64::MAX >> (64 - self.width)
    }
}

fn table(name: &str) -> (usize, Vec<Field>) {
    let (_, dws) = TABLES.iter().find(|(n, _)| *n == name).expect("a table");
    let parse = |(dw, text): (usize, &&'static str)| {
        let parse = move |part: &'static str| {
            let (name, range) = part.split_once(' ').expect("name and range");
            let (name, address_lsb) = name.split_once('@').map_or((name, 0), |(n, l)| (n, l.parse().expect("a bit")));
            let (high, low) = range.split_once(':').unwrap_or((range, range));
            let (high, low): (usize, usize) = (high.parse().expect("a bit"), low.parse().expect("a bit"));
            Field { name, address_lsb, dw, low, width: high - low + 1 }
        };
        text.split(',').filter(|p| !p.is_empty()).map(parse).collect::<Vec<_>>()
    };
    (4 * dws.len(), dws.iter().enumerate().flat_map(parse).collect())
}

fn def(name: &str) -> &'static LayoutDef {
    LAYOUTS.iter().find(|l| l.name == name).expect("a layout")
}

/// Bytes of a message: the fields given, all others 0.
fn bytes_of(layout: &str, fields: &[(&str, u128)]) -> Vec<u8> {
    let def = def(layout);
    let put =
        |bits, &(name, value): &(&str, u128)| def.field(name).expect("a field").insert(bits, value).expect("it fits");
    def.to_bytes(fields.iter().fold(0, put))
}

fn hex(text: &str) -> Vec<u8> {
    number::bytes_of(&text.split_whitespace().collect::<String>(), "test").expect("hex")
}

fn judged(layout: &str, bits: u128) -> Vec<Violation> {
    let mut found = Vec::new();
    def(layout).check(bits, &mut found);
    found
}

fn rules(found: &[Violation]) -> Vec<&'static str> {
    found.iter().map(|v| v.rule).collect()
}

/// Zeros, ones, walking ones and field maxima are placed as the table says, both ways.
fn placed(layouts: &[&str]) {
    for name in layouts {
        let (def, (len_bytes, fields)) = (def(name), table(name));
        assert_eq!(def.len_bytes(), len_bytes, "{name}");
        assert_eq!(def.fields.len(), fields.len(), "{name}");
        assert_eq!(def.to_bytes(0), vec![0; len_bytes]);
        assert_eq!(def.from_bytes(&vec![0xff; len_bytes]).map(|bits| bits.count_ones()), Ok(def.bits));
        for f in &fields {
            let own = def.field(f.name).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!((own.width as usize, own.address_lsb), (f.width, f.address_lsb), "{name}.{}", f.name);
            assert_eq!(own.reserved, f.name.starts_with("rsvd"), "{name}.{}", f.name);
            for number in (0..f.width).map(|k| 1 << k).chain([f.max()]) {
                let mut want = vec![0; len_bytes];
                f.put(&mut want, number);
                let bits = own.insert(0, u128::from(number) << f.address_lsb).expect("it fits");
                assert_eq!(def.to_bytes(bits), want, "{name}.{} = {number:#x}", f.name);
                let read = def.from_bytes(&want).expect("the right length");
                for g in &fields {
                    let seen = def.field(g.name).expect("a field").extract(read);
                    assert_eq!(seen, u128::from(g.get(&want)), "{name}.{}", g.name);
                }
            }
        }
    }
}

/// A value too wide is refused by name; a reserved bit is kept and named; another length is refused.
fn refused(layouts: &[&str], rule: &str) {
    for name in layouts {
        let (def, (len_bytes, fields)) = (def(name), table(name));
        for f in &fields {
            let own = def.field(f.name).expect("a field");
            let fault = own.insert(0, (u128::from(f.max()) + 1) << f.address_lsb).expect_err("one too many");
            assert!(matches!(fault, FieldFault::TooWide { field, .. } if field == f.name), "{fault}");
            if f.address_lsb > 0 {
                assert!(matches!(own.insert(0, 1), Err(FieldFault::Misaligned { .. })));
            }
            for k in (0..f.width).filter(|_| own.reserved) {
                let mut bytes = def.to_bytes(def.default_bits());
                f.put(&mut bytes, 1 << k);
                let bits = def.from_bytes(&bytes).expect("the right length");
                assert_eq!(def.to_bytes(bits), bytes, "kept");
                let found = judged(name, bits);
                assert_eq!(rules(&found), [rule], "{name}.{} bit {k}", f.name);
                assert_eq!(found[0].at, At::Bits { lsb: own.lsb, width: own.width });
            }
        }
        assert!(def.from_bytes(&vec![0; len_bytes - 1]).is_err() && def.from_bytes(&vec![0; len_bytes + 1]).is_err());
        assert_eq!(judged(name, def.default_bits()), [], "{name}: the default breaks nothing");
    }
}

/// Every listed code has a name that leads back to it.
fn listed(table: &CodeTable, codes: &[u128]) {
    assert_eq!(table.codes.iter().map(|c| c.value).collect::<Vec<_>>(), codes, "{}", table.name);
    for code in codes {
        assert_eq!(table.name_of(*code).and_then(|name| table.value_of(name)), Some(*code));
    }
}

/// Every other code is kept and named by `rule`, in a field of a layout that is sound apart from it.
fn unlisted(layout: &str, field: &str, table: &CodeTable, rule: &str) {
    let def = def(layout);
    let own = def.field(field).expect("a field");
    for code in (0..1 << own.width).filter(|&code| table.name_of(code).is_none()) {
        let bits = own.insert(def.default_bits(), code).expect("it fits");
        assert_eq!(def.from_bytes(&def.to_bytes(bits)), Ok(bits));
        assert!(rules(&judged(layout, bits)).contains(&rule), "{layout}.{field} = {code:#x}");
    }
}

const NFM: [&str; 5] = ["cxlio.nfm_mem32", "cxlio.nfm_mem64", "cxlio.nfm_cfg", "cxlio.nfm_cpl", "cxlio.nfm_msg"];
const FM: [&str; 5] = ["cxlio.fm_mem32", "cxlio.fm_mem64", "cxlio.fm_cfg", "cxlio.fm_cpl", "cxlio.fm_msg"];
const OHC: [&str; 5] = ["cxlio.ohc_a1", "cxlio.ohc_a2", "cxlio.ohc_a3", "cxlio.ohc_a5", "cxlio.ohc_c"];

#[test]
fn every_layout_has_a_table() {
    let mut names: Vec<_> = LAYOUTS.iter().map(|l| l.name).collect();
    let mut tables: Vec<_> = TABLES.iter().map(|(name, _)| *name).collect();
    names.sort_unstable();
    tables.sort_unstable();
    assert_eq!(names, tables);
}

// ---- non-flit mode ----

#[test]
fn cxlio_nfm_01_p() {
    placed(&NFM);
    // §1.1: byte 1 is Tag[9], TC, Tag[8], Attr[2], reserved, TH; byte 2 TD, EP, Attr, AT, Length[9:8].
    let fields = [("tag_9", 1), ("tc", 5), ("th", 1), ("td", 1), ("attr", 2), ("length", 0x201)];
    assert_eq!(bytes_of("cxlio.nfm_mem32", &fields)[..4], [0x00, 0xd1, 0xa2, 0x01]);
}

#[test]
fn cxlio_nfm_01_n() {
    refused(&["cxlio.nfm_mem32", "cxlio.nfm_mem64", "cxlio.nfm_msg"], "CXLIO-NFM-01");
}

/// §1.2, the bytes as they stand there: 3 DW, 4 DW, with and without data.
const NFM_TYPES: &[u8] = &[
    0x00, 0x20, 0x01, 0x21, 0x40, 0x60, 0x02, 0x42, 0x04, 0x44, 0x05, 0x45, 0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x70,
    0x71, 0x72, 0x73, 0x74, 0x75, 0x0a, 0x4a, 0x0b, 0x4b, 0x4c, 0x6c, 0x4d, 0x6d, 0x4e, 0x6e, 0x5b, 0x7b,
];

#[test]
fn cxlio_nfm_02_p() {
    for &byte0 in NFM_TYPES {
        let shape = TlpShape::of(byte0).expect("listed");
        let layout = shape.def().expect("no prefix");
        assert!(!rules(&judged(layout.name, u128::from(byte0) << (layout.bits - 8))).contains(&"CXLIO-NFM-02"));
        // Fmt bit 0 says 4 DW, bit 1 data; two DW of data here.
        let data_dw = if byte0 & 0x40 != 0 { 2 } else { 0 };
        let header_dw = if byte0 & 0x20 != 0 { 4 } else { 3 };
        assert_eq!(layout.len_bytes(), 4 * header_dw);
        assert_eq!(non_flit_mode::tlp_bytes([byte0, 0, 0, 2]), Some(4 * (header_dw + data_dw)));
        assert_eq!(non_flit_mode::tlp_bytes([byte0, 0, 0x80, 2]), Some(4 * (header_dw + data_dw + 1)), "TD");
    }
    assert!((0x80..=0x9f).all(|byte0| TlpShape::of(byte0) == Some(TlpShape::Prefix)));
}

#[test]
fn cxlio_nfm_02_n() {
    for byte0 in (0..=0xff).filter(|b| !NFM_TYPES.contains(b) && !(0x80..=0x9f).contains(b)) {
        assert_eq!(TlpShape::of(byte0), None, "{byte0:#x}");
        assert_eq!(non_flit_mode::tlp_bytes([byte0, 0, 0, 1]), None);
        for name in NFM {
            let bits = u128::from(byte0) << (def(name).bits - 8);
            assert!(rules(&judged(name, bits)).contains(&"CXLIO-NFM-02"), "{name} {byte0:#x}");
            assert_eq!(def(name).to_bytes(bits)[0], byte0, "kept");
        }
    }
}

#[test]
fn cxlio_nfm_03_p() {
    placed(&NFM);
    let bytes =
        bytes_of("cxlio.nfm_cpl", &[("tlp_type", 0x0a), ("status", 1), ("byte_count", 0x123), ("lower_addr", 0x7c)]);
    assert_eq!(bytes, hex("0a000000 00002123 0000007c"));
}

#[test]
fn cxlio_nfm_03_n() {
    refused(&["cxlio.nfm_cfg", "cxlio.nfm_cpl"], "CXLIO-NFM-03");
    for name in NFM {
        // The type of a header that belongs to none but one layout.
        for byte0 in [0x00, 0x20, 0x04, 0x0a, 0x30] {
            let own = TlpShape::of(byte0).and_then(TlpShape::def).expect("listed").name;
            let found = judged(name, u128::from(byte0) << (def(name).bits - 8));
            assert_eq!(rules(&found), if own == name { vec![] } else { vec!["CXLIO-NFM-03"] }, "{name} {byte0:#x}");
        }
    }
}

#[test]
fn cxlio_nfm_04_p() {
    assert_eq!([0, 1, 1023].map(length_dw), [1024, 1, 1023]);
    assert_eq!([1, 1023, 1024].map(length_field), [Some(1), Some(1023), Some(0)]);
    assert_eq!([0, 1, 4095].map(byte_count_bytes), [4096, 1, 4095]);
    assert_eq!([1, 4095, 4096].map(byte_count_field), [Some(1), Some(4095), Some(0)]);
    assert_eq!(non_flit_mode::tlp_bytes([0x40, 0, 0, 0]), Some(12 + 4096));
}

#[test]
fn cxlio_nfm_04_n() {
    assert_eq!([0, 1025, usize::MAX].map(length_field), [None; 3]);
    assert_eq!([0, 4097, usize::MAX].map(byte_count_field), [None; 3]);
}

#[test]
fn cxlio_nfm_05_p() {
    listed(CplStatus::TABLE, &[0, 1, 2, 4]);
    assert_eq!([0, 1, 2, 4].map(|c| CplStatus(c).name()), ["SC", "UR", "CRS", "CA"].map(Some));
}

#[test]
fn cxlio_nfm_05_n() {
    unlisted("cxlio.nfm_cpl", "status", CplStatus::TABLE, "CXLIO-NFM-05");
    unlisted("cxlio.ohc_a5", "status", CplStatus::TABLE, "CXLIO-NFM-05");
}

/// Bytes, layout and fields of a header.
type Reference = (&'static str, &'static str, Vec<(&'static str, u128)>);

/// §8, headers that a public tool writes.
fn references() -> [Reference; 5] {
    [
        (
            "40 00 00 01 01 13 15 0F 12 34 56 78",
            "cxlio.nfm_mem32",
            vec![
                ("fmt", 2),
                ("length", 1),
                ("requester", 0x0113),
                ("tag", 0x15),
                ("first_be", 15),
                ("address", 0x1234_5678),
            ],
        ),
        (
            "20 88 00 10 00 FF A5 FF 00 00 12 34 56 78 9A B0",
            "cxlio.nfm_mem64",
            vec![
                ("fmt", 1),
                ("tag_9", 1),
                ("tag_8", 1),
                ("length", 16),
                ("requester", 0x00ff),
                ("tag", 0xa5),
                ("first_be", 15),
                ("last_be", 15),
                ("address", 0x1234_5678_9ab0),
            ],
        ),
        (
            "04 00 00 01 00 00 01 0F 05 00 01 04",
            "cxlio.nfm_cfg",
            vec![
                ("tlp_type", 4),
                ("length", 1),
                ("tag", 1),
                ("first_be", 15),
                ("completer", 0x0500),
                ("ext_reg", 1),
                ("reg_dw", 1),
            ],
        ),
        (
            "45 00 00 01 00 08 FE 03 06 1A 00 04",
            "cxlio.nfm_cfg",
            vec![
                ("fmt", 2),
                ("tlp_type", 5),
                ("length", 1),
                ("requester", 8),
                ("tag", 0xfe),
                ("first_be", 3),
                ("completer", 0x061a),
                ("reg_dw", 1),
            ],
        ),
        (
            "4A 00 00 01 05 00 00 04 00 00 01 00",
            "cxlio.nfm_cpl",
            vec![("fmt", 2), ("tlp_type", 10), ("length", 1), ("completer", 0x0500), ("byte_count", 4), ("tag", 1)],
        ),
    ]
}

#[test]
fn cxlio_nfm_06_p() {
    for (want, layout, fields) in references() {
        assert_eq!(bytes_of(layout, &fields), hex(want), "{layout}");
        let bits = def(layout).from_bytes(&hex(want)).expect("the right length");
        assert_eq!(judged(layout, bits), []);
        assert_eq!(TlpShape::of(hex(want)[0]).and_then(TlpShape::def).map(|d| d.name), Some(layout));
    }
}

#[test]
fn cxlio_nfm_06_n() {
    for (want, layout, fields) in references() {
        for n in 0..fields.len() {
            let mut other = fields.clone();
            other[n].1 ^= 1 << def(layout).field(other[n].0).expect("a field").address_lsb;
            assert_ne!(bytes_of(layout, &other), hex(want), "{layout}.{}", other[n].0);
        }
    }
}

// ---- LCRC, ECRC ----

fn crate_lcrc(sequence: u16, tlp: &[u8]) -> [u8; 4] {
    let crc = Crc::<u32>::new(&CRC_32_ISO_HDLC);
    let mut digest = crc.digest();
    digest.update(&sequence.to_be_bytes());
    digest.update(tlp);
    digest.finalize().to_le_bytes()
}

/// A plain linear congruential sequence.
fn random(seed: u64) -> impl FnMut() -> u8 {
    let mut x = seed;
    move || {
        x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (x >> 56) as u8
    }
}

#[test]
fn cxlio_lcr_01_p() {
    for (sequence, tlp, want) in [
        (0, "40 00 00 01 01 13 15 0F 12 34 56 78 DE AD BE EF", "5F 00 63 0A"),
        (1, "04 00 00 01 00 00 01 0F 05 00 01 04", "60 CE F4 78"),
        (2, "4A 00 00 01 05 00 00 04 00 00 01 00 98 1E 00 00", "51 78 23 D4"),
    ] {
        assert_eq!(lcrc(sequence, &hex(tlp))[..], hex(want));
    }
    let mut byte = random(1);
    for n in 0..300 {
        let tlp: Vec<u8> = (0..4 * n).map(|_| byte()).collect();
        assert_eq!(lcrc(n as u16, &tlp), crate_lcrc(n as u16, &tlp));
    }
}

#[test]
fn cxlio_lcr_01_n() {
    let tlp = hex("40 00 00 01 01 13 15 0F 12 34 56 78 DE AD BE EF");
    let (stp, crc) = framing::frame_tlp(7, &tlp).expect("whole DW");
    let framed = [&stp[..], &tlp, &crc].concat();
    assert_eq!(framing::unframe_tlp(&framed), Ok(Some(Framed::Good(7, &tlp))));
    for bit in 8 * stp.len()..8 * framed.len() {
        let mut wrong = framed.clone();
        wrong[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(framing::unframe_tlp(&wrong), Ok(Some(Framed::BadLcrc(7))), "bit {bit}");
    }
    assert_eq!(framing::unframe_tlp(&framed[..framed.len() - 4]), Ok(None), "another length");
}

#[test]
fn cxlio_lcr_02_p() {
    let tlp = hex("04000001 0000010f 05000104");
    for sequence in [1, 2, 0xabc, 0xfff] {
        let (stp, crc) = framing::frame_tlp(sequence, &tlp).expect("whole DW");
        assert_eq!(crc, crate_lcrc(sequence, &tlp));
        let framed = [&stp[..], &tlp, &crc].concat();
        assert_eq!(framing::unframe_tlp(&framed), Ok(Some(Framed::Good(sequence, &tlp))));
    }
}

#[test]
fn cxlio_lcr_02_n() {
    let tlp = hex("04000001 0000010f 05000104");
    let (stp, crc) = framing::frame_tlp(0x123, &tlp).expect("whole DW");
    for bit in 0..12 {
        let mut framed = [&stp[..], &tlp, &crc].concat();
        framed[3 - bit / 8] ^= 1 << (bit % 8);
        assert_eq!(framing::unframe_tlp(&framed), Ok(Some(Framed::BadLcrc(0x123 ^ 1 << bit))));
    }
}

#[test]
fn cxlio_lcr_03_p() {
    let tlp = hex("04000001 0000010f 05000104");
    let (stp, crc) = framing::frame_tlp(5, &tlp).expect("whole DW");
    let nullified = lcrc_nullified(5, &tlp);
    assert_eq!(nullified, crc.map(|b| !b));
    let framed = [&stp[..], &tlp, &nullified].concat();
    assert_eq!(framing::unframe_tlp(&framed), Ok(Some(Framed::Nullified(5))));
}

/// A complement with one more wrong bit is no nullified TLP, and a good one is delivered.
#[test]
fn cxlio_lcr_03_n() {
    let tlp = hex("04000001 0000010f 05000104");
    let (stp, crc) = framing::frame_tlp(5, &tlp).expect("whole DW");
    for bit in 0..32 {
        let mut framed = [&stp[..], &tlp, &crc.map(|b| !b)].concat();
        framed[16 + bit / 8] ^= 1 << (bit % 8);
        assert_eq!(framing::unframe_tlp(&framed), Ok(Some(Framed::BadLcrc(5))));
    }
}

#[test]
fn cxlio_lcr_04_p() {
    let tlp = hex("40008001 0113150f 12345678 deadbeef");
    let mut poisoned = tlp.clone();
    poisoned[2] ^= 0x40;
    assert_eq!(ecrc(&poisoned), ecrc(&tlp), "EP does not count");
    let mut routed = tlp.clone();
    routed[0] ^= 0x01;
    assert_eq!(ecrc(&routed), ecrc(&tlp), "bit 0 of the type does not count");
    let mut ones = tlp.clone();
    (ones[0], ones[2]) = (ones[0] | 1, ones[2] | 0x40);
    assert_eq!(ecrc(&tlp), Crc::<u32>::new(&CRC_32_ISO_HDLC).checksum(&ones).to_le_bytes());
}

#[test]
fn cxlio_lcr_04_n() {
    let tlp = hex("40008001 0113150f 12345678 deadbeef");
    for bit in (0..8 * tlp.len()).filter(|&bit| bit != 0 && bit != 8 * 2 + 6) {
        let mut other = tlp.clone();
        other[bit / 8] ^= 1 << (bit % 8);
        assert_ne!(ecrc(&other), ecrc(&tlp), "bit {bit}");
    }
}

// ---- DLLP ----

#[test]
fn cxlio_dll_01_p() {
    listed(DllpType::TABLE, &[0x00, 0x01, 0x02, 0x10, 0x20, 0x21, 0x23, 0x24, 0x30, 0x31]);
    listed(FcType::TABLE, &[0x4, 0x5, 0x6, 0x8, 0x9, 0xa, 0xc, 0xd, 0xe]);
    let kinds = [
        ("00000abc", "Ack"),
        ("02800001", "Feature"),
        ("31000000", "NOP"),
        ("47501200", "InitFc1P"),
        ("98501200", "UpdateFcNp"),
    ];
    for (bytes, name) in kinds {
        let dllp = Dllp::from_bytes(&hex(bytes)).expect("4 bytes");
        assert_eq!(dllp.name(false), Some(name));
        let mut found = Vec::new();
        dllp.check(false, &mut found);
        assert_eq!(found, []);
    }
}

#[test]
fn cxlio_dll_01_n() {
    let is_listed = |byte: u8| DllpType(byte).name().is_some() || FcType(byte >> 4).name().is_some();
    for byte in (0..=0xff).filter(|&b| !is_listed(b)) {
        let dllp = Dllp([byte, 1, 2, 3]);
        let mut found = Vec::new();
        dllp.check(false, &mut found);
        assert_eq!(rules(&found), ["CXLIO-DLL-01"], "{byte:#x}");
        assert_eq!((dllp.name(false), dllp.bits() >> 24), (None, byte.into()));
    }
    unlisted("cxlio.dllp_fc", "fc_type", FcType::TABLE, "CXLIO-DLL-01");
    unlisted("cxlio.dllp_ack_nak", "dllp_type", DllpType::TABLE, "CXLIO-DLL-01");
    // Listed, but with other content.
    assert_eq!(rules(&judged("cxlio.dllp_ack_nak", 0x31 << 24)), ["CXLIO-DLL-01"]);
    assert_eq!(rules(&judged("cxlio.dllp_feature", 0)), ["CXLIO-DLL-01"]);
}

#[test]
fn cxlio_dll_02_p() {
    placed(&["cxlio.dllp_fc"]);
    let fields = [("fc_type", 4), ("hdr_scale", 1), ("hdr_fc", 0x40), ("data_scale", 1), ("data_fc", 0x200)];
    assert_eq!(bytes_of("cxlio.dllp_fc", &fields), hex("40 50 12 00"));
}

#[test]
fn cxlio_dll_02_n() {
    refused(&["cxlio.dllp_fc"], "CXLIO-DLL-02");
}

/// §2.4.
const FRAMED_DLLPS: [&str; 8] = [
    "31 00 00 00 FB 32",
    "00 00 0A BC 90 AD",
    "10 00 00 01 F9 1E",
    "40 50 12 00 D3 29",
    "E0 50 12 00 7F 99",
    "90 50 12 00 FF 0E",
    "02 80 00 01 31 56",
    "20 00 00 00 65 AD",
];

#[test]
fn cxlio_dll_04_p() {
    // §2.3 in the terms of the crate.
    let algorithm: Algorithm<u16> = Algorithm {
        width: 16,
        poly: 0x100b,
        init: 0xffff,
        refin: true,
        refout: true,
        xorout: 0xffff,
        check: 0,
        residue: 0,
    };
    let algorithm: &'static _ = Box::leak(Box::new(algorithm));
    let crc = Crc::<u16>::new(algorithm);
    for framed in FRAMED_DLLPS.map(hex) {
        let (dllp, ok) = Dllp::from_framed(&framed).expect("6 bytes");
        assert!(ok);
        assert_eq!(dllp.framed()[..], framed);
        assert_eq!(framing::frame_dllp(dllp)[..], [&framing::SDP[..], &framed].concat());
    }
    let mut byte = random(2);
    for _ in 0..1000 {
        let dllp = std::array::from_fn(|_| byte());
        assert_eq!(dllp_crc(&dllp), crc.checksum(&dllp).to_le_bytes());
    }
}

#[test]
fn cxlio_dll_04_n() {
    for framed in FRAMED_DLLPS.map(hex) {
        for bit in 0..8 * framed.len() {
            let mut wrong = framed.clone();
            wrong[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Dllp::from_framed(&wrong).map(|(_, ok)| ok), Ok(false), "bit {bit}");
        }
    }
    assert!(Dllp::from_framed(&[0x31, 0, 0, 0]).is_err());
}

#[test]
fn cxlio_dll_05_p() {
    placed(&["cxlio.dllp_ack_nak", "cxlio.dllp_feature"]);
    let mut decoder = flit_io::IoFlitDecoder::new(Dir::Down);
    let mut encoder = flit_io::IoFlitEncoder::new(Some(Dir::Down));
    let message = json!({"layout": "cxlio.dllp_fc", "fields": {"fc_type": "UpdateFcNp", "hdr_fc": 64}});
    let encoded = encoder.encode(&json!({"kind": "io", "dllp": {"message": message}})).expect("a flit");
    assert_eq!(encoded.unit.0[238..242], hex("90 10 00 00"));
    let (form, findings) = decoder.read(&encoded.unit, 0);
    assert_eq!(findings.violations, []);
    assert_eq!(form["dllp"]["hex"], "90100000");
    assert_eq!(form["dllp"]["message"]["fields"]["hdr_fc"], 64);
}

#[test]
fn cxlio_dll_05_n() {
    refused(&["cxlio.dllp_ack_nak", "cxlio.dllp_feature"], "CXLIO-DLL-05");
    let fault = Dllp::from_bytes(&hex("31 00 00 00 FB 32")).expect_err("with CRC");
    assert!(matches!(fault.fault, FieldFault::Length { found: 6, expected: 4, .. }));
    let mut encoder = flit_io::IoFlitEncoder::new(Some(Dir::Down));
    let fault = encoder.encode(&json!({"kind": "io", "dllp": {"hex": "31000000fb32"}})).expect_err("with CRC");
    assert!(fault.at.starts_with("dllp"), "{fault}");
}

#[test]
fn cxlio_dll_07_p() {
    placed(&["cxlio.dllp_optimized_update_fc", "cxlio.dllp_flit_marker"]);
    listed(LastTlp::TABLE, &[0, 1, 2]);
    for (bytes, name) in
        [("10 10 20 03", "OptimizedUpdateFc"), ("a0 00 00 00", "FlitMarker"), ("d0 00 00 00", "FlitMarker")]
    {
        let dllp = Dllp::from_bytes(&hex(bytes)).expect("4 bytes");
        let mut found = Vec::new();
        dllp.check(true, &mut found);
        assert_eq!((dllp.name(true), found), (Some(name), vec![]));
    }
}

#[test]
fn cxlio_dll_07_n() {
    refused(&["cxlio.dllp_optimized_update_fc", "cxlio.dllp_flit_marker"], "CXLIO-DLL-07");
    unlisted("cxlio.dllp_flit_marker", "last_tlp", LastTlp::TABLE, "CXLIO-DLL-07");
    assert_eq!(rules(&judged("cxlio.dllp_optimized_update_fc", 1 << 31)), ["CXLIO-DLL-07"]);
    assert_eq!(rules(&judged("cxlio.dllp_flit_marker", 0)), ["CXLIO-DLL-07"]);
}

// ---- flit mode ----

/// A TLP of a type with the parts that its first DW announces; each part is filled with its own byte.
fn build(code: u8, ohc: u8, ts: u8, length: u16) -> (Vec<u8>, [usize; 7]) {
    let base_dw =
        if matches!(code, 0x20..=0x22 | 0x30..=0x37 | 0x60..=0x61 | 0x6c..=0x6e | 0x70..=0x77 | 0x7b) { 4 } else { 3 };
    let e_dw = [0, 1, 2, 4][usize::from(ohc >> 3)];
    let data_dw = match length {
        _ if code < 0x40 => 0,
        0 => 1024,
        n => usize::from(n),
    };
    let trailer_dw = [0, 1, 1, 2, 2, 3, 4, 5][usize::from(ts)];
    let bit = |n: u8| usize::from(ohc >> n & 1);
    let dws = [base_dw, bit(0), bit(1), bit(2), e_dw, data_dw, trailer_dw];
    let mut bytes: Vec<u8> = dws.iter().enumerate().flat_map(|(n, dw)| vec![0x10 + n as u8; 4 * dw]).collect();
    bytes[..4].copy_from_slice(&[code, ohc, ts << 5 | (length >> 8) as u8, length as u8]);
    (bytes, dws)
}

fn part_lengths(parts: &TlpParts) -> [usize; 7] {
    let [a, b, c, e] = parts.ohc.map(<[u8]>::len);
    [parts.header.len(), a, b, c, e, parts.data.len(), parts.trailer.len()].map(|bytes| bytes / 4)
}

fn check(bytes: &[u8]) -> Vec<Violation> {
    let mut found = Vec::new();
    tlp::check(&TlpParts::split(bytes, false).expect("a whole TLP"), &mut found);
    found
}

#[test]
fn cxlio_fmt_01_p() {
    for ohc in 0..32 {
        for (prefixes, ts) in [(0, 0), (1, 1), (3, 7)] {
            let (tlp, dws) = build(0x40, ohc, ts, 3);
            let bytes = [&[0x8d, 0, 0, 0].repeat(prefixes), &tlp[..]].concat();
            let parts = TlpParts::split(&bytes, false).expect("a whole TLP");
            assert_eq!((parts.prefixes.len(), part_lengths(&parts)), (4 * prefixes, dws));
            // Every part is the bytes that were meant for it.
            for (n, part) in parts.ohc.iter().enumerate() {
                assert!(part.iter().all(|&b| b == 0x11 + n as u8));
            }
            assert!(parts.data.iter().all(|&b| b == 0x15) && parts.trailer.iter().all(|&b| b == 0x16));
        }
    }
}

/// OHC-C before OHC-A: what stands in the place of OHC-A is judged as OHC-A.
#[test]
fn cxlio_fmt_01_n() {
    let header = bytes_of("cxlio.fm_mem32", &[("tlp_type", 3), ("ohc", 5), ("length", 1)]);
    let a = bytes_of("cxlio.ohc_a1", &[("first_be", 15)]);
    let c = bytes_of("cxlio.ohc_c", &[("stream_id", 9)]);
    assert_eq!(check(&[&header[..], &a, &c].concat()), []);
    let found = check(&[&header[..], &c, &a].concat());
    assert!(!found.is_empty(), "a stream ID in the place of the PASID");
    // A prefix behind the header is no prefix: the DWs are counted as they come.
    let late = [&header[..], &[0x8d, 0, 0, 0], &a, &c].concat();
    assert_eq!(TlpParts::split(&late, false), Err(TlpFault::Length { found: 24, expected: 20 }));
}

#[test]
fn cxlio_fmt_02_p() {
    placed(&FM);
    let fields = [("tlp_type", 0x40), ("tc", 5), ("ohc", 3), ("ts", 1), ("attr", 2), ("length", 0x201)];
    assert_eq!(bytes_of("cxlio.fm_mem32", &fields)[..4], [0x40, 0xa3, 0x2a, 0x01]);
}

#[test]
fn cxlio_fmt_02_n() {
    for name in FM {
        for field in ["tlp_type", "tc", "ohc", "ts", "attr", "length"] {
            let own = def(name).field(field).expect("a field");
            assert!(matches!(own.insert(0, own.max_raw() + 1), Err(FieldFault::TooWide { .. })));
        }
    }
}

/// §3.3 with the DW of each base.
const FM_TYPES: &[(u8, usize)] = &[
    (0x00, 1),
    (0x01, 3),
    (0x02, 3),
    (0x03, 3),
    (0x04, 3),
    (0x05, 3),
    (0x0a, 3),
    (0x0b, 3),
    (0x0c, 3),
    (0x0d, 3),
    (0x20, 4),
    (0x21, 4),
    (0x22, 4),
    (0x30, 4),
    (0x31, 4),
    (0x32, 4),
    (0x33, 4),
    (0x34, 4),
    (0x35, 4),
    (0x40, 3),
    (0x42, 3),
    (0x44, 3),
    (0x45, 3),
    (0x48, 3),
    (0x4a, 3),
    (0x4b, 3),
    (0x4c, 3),
    (0x4d, 3),
    (0x4e, 3),
    (0x5b, 3),
    (0x60, 4),
    (0x61, 4),
    (0x6c, 4),
    (0x6d, 4),
    (0x6e, 4),
    (0x70, 4),
    (0x71, 4),
    (0x72, 4),
    (0x73, 4),
    (0x74, 4),
    (0x75, 4),
    (0x7b, 4),
    (0x8d, 1),
    (0x8e, 1),
    (0x8f, 1),
];

#[test]
fn cxlio_fmt_03_p() {
    listed(FmType::TABLE, &FM_TYPES.iter().map(|&(code, _)| code.into()).collect::<Vec<_>>());
    assert_eq!(FmType(0x03).name(), Some("MRd32"));
    for (code, _) in FM_TYPES {
        let Some(layout) = Base::of(FmType(*code)).expect("sized").def() else { continue };
        assert_eq!(judged(layout.name, u128::from(*code) << (layout.bits - 8)), []);
    }
}

#[test]
fn cxlio_fmt_03_n() {
    for name in FM {
        unlisted(name, "tlp_type", FmType::TABLE, "CXLIO-FMT-03");
    }
    // The non-flit code 0 of a memory read is a NOP here: the address behind it is read as what comes next.
    let read = hex("00000001 0000000f 12345678");
    let found = TlpRegionReader::new(false).read(&read);
    assert_eq!((found[0].piece.kind, found[0].piece.len_bytes), (PieceKind::Nop, 4));
    // A reserved type that has a size, and one that has none.
    let message = [&[0x36, 0, 0, 0][..], &[0; 12]].concat();
    assert_eq!(rules(&check(&message)), ["CXLIO-FMT-03"]);
    assert_eq!(rules(&check(&[&[0x85, 0, 0, 0][..], &build(0x03, 0, 0, 1).0].concat()))[0], "CXLIO-FMT-03");
    let mut region = [0; 236];
    region[4] = 0x90;
    let mut broken = Vec::new();
    stream::check(&TlpRegionReader::new(false).read(&region), &region, false, &mut broken);
    assert_eq!((rules(&broken), broken[0].at), (vec!["CXLIO-FMT-03"], At::Byte(4)));
}

#[test]
fn cxlio_fmt_04_p() {
    for &(code, dw) in FM_TYPES {
        assert_eq!(Base::of(FmType(code)).map(Base::dw), Some(dw), "{code:#x}");
    }
    // Reserved, but of known size (§3.6, §9).
    assert!([0x36, 0x37, 0x76, 0x77].iter().all(|&c| Base::of(FmType(c)).map(Base::dw) == Some(4)));
    assert!((0x80..=0x8c).all(|c| Base::of(FmType(c)).map(Base::dw) == Some(1)));
}

#[test]
fn cxlio_fmt_04_n() {
    // A TLP one DW short: the one behind it is lost.
    let (tlp, _) = build(0x60, 0, 0, 2);
    let next = build(0x03, 0, 0, 1).0;
    let kinds = |bytes: &[u8]| -> Vec<usize> {
        TlpRegionReader::new(false)
            .read(bytes)
            .iter()
            .filter(|f| f.piece.kind == PieceKind::Tlp)
            .map(|f| f.piece.at)
            .collect()
    };
    assert_eq!(kinds(&[&tlp[..], &next].concat()), [0, 24]);
    assert_ne!(kinds(&[&tlp[..20], &next].concat()), [0, 20]);
    for name in FM {
        for code in [0x03, 0x20, 0x04, 0x0a, 0x30] {
            let own = Base::of(FmType(code)).and_then(Base::def).expect("listed").name;
            let found = judged(name, u128::from(code) << (def(name).bits - 8));
            assert_eq!(rules(&found), if own == name { vec![] } else { vec!["CXLIO-FMT-04"] }, "{name} {code:#x}");
        }
    }
}

#[test]
fn cxlio_fmt_05_p() {
    for (code, ohc) in [0x03, 0x20, 0x44, 0x4a, 0x70].into_iter().flat_map(|code| (0..32).map(move |ohc| (code, ohc))) {
        let (bytes, dws) = build(code, ohc, 0, 1);
        assert_eq!(TlpParts::split(&bytes, false).map(|p| part_lengths(&p)), Ok(dws));
    }
}

#[test]
fn cxlio_fmt_05_n() {
    for ohc in 1..32 {
        let (bytes, _) = build(0x03, ohc, 0, 1);
        let (found, expected) = (bytes.len() - 4, bytes.len());
        assert_eq!(TlpParts::split(&bytes[..found], false), Err(TlpFault::Length { found, expected }));
    }
}

#[test]
fn cxlio_fmt_06_p() {
    placed(&FM);
}

#[test]
fn cxlio_fmt_06_n() {
    refused(&FM, "CXLIO-FMT-06");
}

#[test]
fn cxlio_fmt_07_p() {
    placed(&OHC);
    // Which OHC-A belongs to which type (§3.4).
    let own = [(0x03, "a1"), (0x7b, "a1"), (0x30, "a1"), (0x02, "a2"), (0x45, "a3"), (0x4a, "a5"), (0x0c, "a5")];
    for (code, ohc) in own {
        let def = Base::of(FmType(code)).and_then(|b| b.ohc_a(FmType(code)));
        assert_eq!(def.map(|d| d.name), Some(format!("cxlio.ohc_{ohc}").as_str()));
    }
    assert_eq!(Base::Msg.ohc_a(FmType::MsgById).map(|d| d.name), None, "A4 is carried as bytes");
}

#[test]
fn cxlio_fmt_07_n() {
    refused(&OHC, "CXLIO-FMT-07");
}

#[test]
fn cxlio_fmt_08_p() {
    for (code, ohc) in [(0x02, "cxlio.ohc_a2"), (0x42, "cxlio.ohc_a2"), (0x04, "cxlio.ohc_a3"), (0x45, "cxlio.ohc_a3")]
    {
        let layout = Base::of(FmType(code)).and_then(Base::def).expect("a layout").name;
        let header = bytes_of(layout, &[("tlp_type", code.into()), ("ohc", 1), ("length", 1)]);
        let data = if code & 0x40 != 0 { vec![0; 4] } else { vec![] };
        assert_eq!(check(&[header, bytes_of(ohc, &[("first_be", 15)]), data].concat()), []);
    }
}

#[test]
fn cxlio_fmt_08_n() {
    for code in [0x02u8, 0x42, 0x04, 0x05, 0x44, 0x45] {
        let layout = Base::of(FmType(code)).and_then(Base::def).expect("a layout").name;
        let header = bytes_of(layout, &[("tlp_type", code.into()), ("length", 1)]);
        let data = if code & 0x40 != 0 { vec![0; 4] } else { vec![] };
        let found = check(&[header, data].concat());
        assert_eq!((rules(&found), found[0].at), (vec!["CXLIO-FMT-08"], At::Byte(1)));
    }
}

#[test]
fn cxlio_fmt_09_p() {
    let enables = |length, ohc: &[u8]| {
        let header =
            bytes_of("cxlio.fm_mem32", &[("tlp_type", 3), ("ohc", (ohc.len() / 4) as u128), ("length", length)]);
        TlpParts::split(&[&header[..], ohc].concat(), false).expect("a whole TLP").byte_enables()
    };
    assert_eq!((enables(1, &[]), enables(2, &[]), enables(0, &[])), ((15, 0), (15, 15), (15, 15)));
    assert_eq!(enables(3, &hex("00 00 00 1C")), (0xc, 1));
    let completion = |ohc: &[u8]| {
        let header = bytes_of("cxlio.fm_cpl", &[("tlp_type", 10), ("ohc", (ohc.len() / 4) as u128)]);
        TlpParts::split(&[&header[..], ohc].concat(), false).expect("a whole TLP").completion()
    };
    assert_eq!(completion(&[]), (CplStatus::SC, 0));
    assert_eq!(completion(&bytes_of("cxlio.ohc_a5", &[("status", 4), ("lower_addr", 3)])), (CplStatus::CA, 3));
}

/// A partial write whose OHC-A1 is forgotten writes all bytes.
#[test]
fn cxlio_fmt_09_n() {
    let with =
        [bytes_of("cxlio.fm_mem32", &[("tlp_type", 0x40), ("ohc", 1), ("length", 1)]), hex("00 00 00 03"), vec![0; 4]]
            .concat();
    let without = [bytes_of("cxlio.fm_mem32", &[("tlp_type", 0x40), ("length", 1)]), vec![0; 4]].concat();
    let enables = |bytes: &[u8]| TlpParts::split(bytes, false).expect("a whole TLP").byte_enables();
    assert_eq!((enables(&with), enables(&without)), ((3, 0), (15, 0)));
}

fn read_with_a1(at: u128, ohc: &[(&str, u128)]) -> Vec<u8> {
    let header = bytes_of("cxlio.fm_mem64", &[("tlp_type", 0x20), ("ohc", 1), ("length", 2), ("at", at)]);
    [header, bytes_of("cxlio.ohc_a1", ohc)].concat()
}

#[test]
fn cxlio_fmt_10_p() {
    assert_eq!(check(&read_with_a1(0, &[("pv", 1), ("pasid", 0x12345)])), []);
    let all = [("pv", 1), ("pasid", 1), ("er", 1), ("pmr", 1), ("nw", 1)];
    assert_eq!(check(&read_with_a1(1, &all)), [], "a translation request");
}

#[test]
fn cxlio_fmt_10_n() {
    for field in ["pasid", "er", "pmr"] {
        let found = check(&read_with_a1(1, &[(field, 1)]));
        assert_eq!(rules(&found), ["CXLIO-FMT-10"], "{field} without PV");
    }
    for field in ["nw", "er", "pmr"] {
        let found = check(&read_with_a1(0, &[("pv", 1), (field, 1)]));
        assert_eq!((rules(&found), found[0].at), (vec!["CXLIO-FMT-10"], At::Byte(16)), "{field} of a plain read");
    }
}

#[test]
fn cxlio_fmt_11_p() {
    for (code, ts) in [0x03, 0x20, 0x40, 0x7b].into_iter().flat_map(|code| (0..8).map(move |ts| (code, ts))) {
        let (bytes, dws) = build(code, 0, ts, 2);
        assert_eq!(TlpParts::split(&bytes, false).map(|p| part_lengths(&p)), Ok(dws));
    }
}

#[test]
fn cxlio_fmt_11_n() {
    for ts in 1..8 {
        let (bytes, _) = build(0x40, 0, ts, 2);
        let (found, expected) = (bytes.len() - 4, bytes.len());
        assert_eq!(TlpParts::split(&bytes[..found], false), Err(TlpFault::Length { found, expected }));
    }
}

/// §3.5, examples: bytes, and the objects that they are encoded from.
fn examples() -> [(&'static str, Value); 2] {
    [
        (
            "03 01 00 03 04 02 00 77 90 00 20 04 00 00 00 1C",
            json!({
                "header": {"layout": "cxlio.fm_mem32", "fields": {"tlp_type": "MRd32", "length": 3, "requester": 0x0402, "tag": 0x77, "address": 0x9000_2004u32}},
                "ohc": {"A": {"layout": "cxlio.ohc_a1", "fields": {"first_be": 12, "last_be": 1}}},
            }),
        ),
        (
            "44 01 00 01 00 00 00 01 07 08 00 20 00 00 00 0F F0 00 00 00",
            json!({
                "header": {"layout": "cxlio.fm_cfg", "fields": {"tlp_type": "CfgWr0", "tag": 1, "completer": 0x0708, "reg_dw": 8}},
                "ohc": {"A": {"layout": "cxlio.ohc_a3", "fields": {"first_be": 15}}},
                "data": "f0000000",
            }),
        ),
    ]
}

#[test]
fn cxlio_fmt_12_p() {
    for (bytes, form) in examples() {
        assert_eq!(flit_io::tlp_from_json(&form, "tlp", false).expect("a TLP"), hex(bytes));
        assert_eq!(check(&hex(bytes)), []);
    }
    assert_eq!(bytes_of("cxlio.ohc_a1", &[("pasid", 0x12345), ("first_be", 15)]), hex("01 23 45 0F"));
}

#[test]
fn cxlio_fmt_12_n() {
    for (bytes, form) in examples() {
        let good = hex(bytes);
        for nibble in 0..2 * good.len() {
            let mut other = good.clone();
            other[nibble / 2] ^= 0x10 >> (4 * (nibble % 2));
            // As hex under the form's parts: the parts win where they say something, so no other TLP passes as this one.
            let as_given = flit_io::tlp_from_json(&json!({"hex": number::hex(&other)}), "tlp", false).expect("bytes");
            assert_ne!(as_given, flit_io::tlp_from_json(&form, "tlp", false).expect("a TLP"));
        }
        // Parts that the header does not announce are refused.
        let mut longer = form.clone();
        longer["trailer"] = "00000000".into();
        longer["header"]["fields"]["ts"] = 0.into();
        assert!(flit_io::tlp_from_json(&longer, "tlp", false).is_err());
    }
}

// ---- places in flits ----

#[test]
fn cxlio_plc_02_p() {
    // Eight TLPs of 4 DW fill the first group, six more and a part of a seventh the second.
    let (tlp, _) = build(0x20, 0, 0, 1);
    let mut region = tlp.repeat(15);
    region.truncate(236);
    let mut broken = Vec::new();
    stream::check(&TlpRegionReader::new(false).read(&region), &region, false, &mut broken);
    assert!(!rules(&broken).contains(&"CXLIO-PLC-02"));
}

#[test]
fn cxlio_plc_02_n() {
    let (tlp, _) = build(0x0a, 0, 0, 1);
    for (front, at) in [(0, 8 * 12), (128, 128 + 8 * 12)] {
        let mut region = vec![0; front];
        region.extend(tlp.repeat(9));
        region.truncate(236);
        region.resize(236, 0);
        let mut broken = Vec::new();
        stream::check(&TlpRegionReader::new(false).read(&region), &region, false, &mut broken);
        let broken: Vec<_> = broken.iter().filter(|v| v.rule == "CXLIO-PLC-02").collect();
        assert_eq!((broken.len(), broken[0].at), (1, At::Byte(at)));
    }
}

/// A write of 75 DW behind 100 bytes of NOPs: through two flits and back.
#[test]
fn cxlio_plc_03_p() {
    let mut byte = random(3);
    let header = bytes_of("cxlio.fm_mem64", &[("tlp_type", 0x60), ("length", 75), ("address", 0x1_0000_0000)]);
    let tlp: Vec<u8> = header.into_iter().chain((0..300).map(|_| byte())).collect();
    let stream = [&[0; 100][..], &tlp].concat();
    let mut encoder = flit_io::IoFlitEncoder::new(Some(Dir::Up));
    let mut decoder = flit_io::IoFlitDecoder::new(Dir::Up);
    let mut pieces = Vec::new();
    for (n, region) in stream.chunks(236).enumerate() {
        let first = if n == 0 { 100 } else { 0 };
        let mut tlps = vec![json!({"hex": "00000000"}); first / 4];
        let mut part = json!({"hex": number::hex(&region[first..])});
        part[if n == 0 { "goes_on" } else { "continues" }] = true.into();
        tlps.push(part);
        let encoded =
            encoder.encode(&json!({"kind": "io", "tlps": tlps, "dllp": {"hex": "31000000"}})).expect("a flit");
        assert_eq!(encoded.unit.0[2..2 + region.len()], *region);
        let (form, findings) = decoder.read(&Cxl256Flit(encoded.unit.0), n as u64);
        assert_eq!(findings.violations, []);
        pieces.extend(form["tlps"].as_array().expect("a list").iter().filter(|t| t["type"] != "NOP").cloned());
    }
    assert_eq!((&pieces[0]["goes_on"], &pieces[1]["continues"]), (&true.into(), &true.into()));
    assert_eq!(pieces[1]["whole"], number::hex(&tlp));
    assert_eq!(pieces[1]["data"], number::hex(&tlp[16..]));
    assert_eq!(pieces[1]["header"]["fields"]["address"], 0x1_0000_0000u64);
}

/// The parts in the wrong order are another TLP.
#[test]
fn cxlio_plc_03_n() {
    let (tlp, _) = build(0x40, 0, 0, 100);
    let read = |regions: [&[u8]; 2]| {
        let mut reader = TlpRegionReader::new(false);
        regions.map(|r| reader.read(r)).concat().into_iter().find_map(|f| f.whole)
    };
    let (a, b) = tlp.split_at(236);
    assert_eq!(read([a, b]), Some(tlp.clone()));
    assert_ne!(read([b, a]), Some(tlp.clone()));
    let mut swapped = tlp.clone();
    swapped[12..].chunks_mut(4).for_each(<[u8]>::reverse);
    swapped[12] = !swapped[12];
    assert_ne!(read([&swapped[..236], &swapped[236..]]), Some(tlp));
}

#[test]
fn cxlio_pth_01_p() {
    placed(&["cxlio.pth"]);
    let pth = bytes_of("cxlio.pth", &[("marker", 3), ("spid", 0x123), ("dpid", 0x456)]);
    assert_eq!(pth, hex("C0 12 34 56"));
    let bytes = [&[0x8e, 0, 5, 0][..], &pth, &build(0x03, 0, 0, 1).0].concat();
    let parts = TlpParts::split(&bytes, true).expect("a whole TLP");
    assert_eq!((parts.prefixes, parts.pth), (&bytes[..4], &pth[..]));
}

#[test]
fn cxlio_pth_01_n() {
    refused(&["cxlio.pth"], "CXLIO-PTH-01");
    // Not on other links.
    let bytes = [hex("C0 12 34 56"), build(0x03, 0, 0, 1).0].concat();
    assert_eq!(TlpParts::split(&bytes, false), Err(TlpFault::Unknown { code: 0xc0, at: 0 }));
}

#[test]
fn cxlio_pth_03_p() {
    use PbrFirstByte::{Bare, Nop, Prefix, Pth, Reserved};
    let bytes = [0x00, 0x01, 0x3f, 0x40, 0x7f, 0x80, 0xbf, 0xc0, 0xff];
    let classes = [Nop, Bare, Bare, Reserved, Reserved, Prefix, Prefix, Pth, Pth];
    assert_eq!(bytes.map(PbrFirstByte::of), classes);
    let region = [&[0; 4][..], &hex("8E 00 00 05 C0 12 34 56"), &build(0x03, 0, 0, 1).0, &[0; 4]].concat();
    let kinds: Vec<_> =
        TlpRegionReader::new(true).read(&region).iter().map(|f| (f.piece.kind, f.piece.len_bytes)).collect();
    assert_eq!(kinds, [(PieceKind::Nop, 4), (PieceKind::Tlp, 20), (PieceKind::Nop, 4)]);
}

#[test]
fn cxlio_pth_03_n() {
    // Class 01, and a header base without its PBR header, drop the rest of the flit.
    for first in [0x03, 0x20, 0x34, 0x40, 0x60] {
        let tlp = build(first, 0, 0, 1).0;
        for front in [&[0; 4][..], &[0, 0, 0, 0, 0x8e, 0, 0, 5]] {
            let region = [front, &tlp].concat();
            let found = TlpRegionReader::new(true).read(&region);
            assert_eq!(found.len(), 2, "{first:#04x}");
            let dropped = (PieceKind::Dropped(UnknownSize::NoPth), region.len() - 4);
            assert_eq!((found[1].piece.kind, found[1].piece.len_bytes), dropped, "{first:#04x}");
            let mut broken = Vec::new();
            stream::check(&found, &region, true, &mut broken);
            assert_eq!(
                broken.iter().map(|v| (v.rule, v.at)).collect::<Vec<_>>(),
                [("CXLIO-PTH-02", At::Byte(front.len()))]
            );
        }
        // Behind a PBR header the type alone decides, as on other links.
        let region = [hex("C0 12 34 56"), vec![0x3f, 0, 0, 0]].concat();
        assert_eq!(TlpRegionReader::new(true).read(&region)[0].piece.kind, PieceKind::Dropped(UnknownSize::Type));
    }
    for marker in 0..3u32 {
        assert_eq!(rules(&judged("cxlio.pth", u128::from(marker << 30))), ["CXLIO-PTH-03"]);
    }
}

// ---- 68B framing ----

#[test]
fn cxlio_stp_01_p() {
    // §5.
    for (length_dw, sequence, bytes) in [(5, 0, "5F 00 60 00"), (6, 1, "6F 80 20 01"), (21, 0xabc, "5F 01 1A BC")] {
        let stp = Stp { length_dw, sequence };
        assert_eq!(stp.to_bytes()[..], hex(bytes));
    }
    for length_dw in 0..=0x7ff {
        let stp = Stp { length_dw, sequence: 0x5a5 };
        let bytes = stp.to_bytes();
        assert_eq!(Stp::from_bytes(bytes), Ok(stp));
        let parity = length_dw.count_ones() + u32::from(bytes[2] >> 4).count_ones() + u32::from(bytes[1] >> 7);
        assert_eq!(parity % 2, 0, "even parity over length, check and parity bit");
    }
}

#[test]
fn cxlio_stp_01_n() {
    for length_dw in 0..=0x7ff {
        let bytes = Stp { length_dw, sequence: 0x123 }.to_bytes();
        // Length in 7:4 of byte 0 and 6:0 of byte 1, parity in bit 7 of byte 1, check in 7:4 of byte 2.
        for bit in (4..16).chain(20..24) {
            let mut wrong = bytes;
            wrong[bit / 8] ^= 1 << (bit % 8);
            assert!(Stp::from_bytes(wrong).is_err(), "length {length_dw} bit {bit}");
        }
    }
    assert_eq!(Stp::from_bytes([0x5f, 0x80, 0x60, 0]), Err(StpFault::Parity));
}

#[test]
fn cxlio_stp_02_p() {
    let tokens = [
        ("F0 AC", FramingToken::Sdp),
        ("C0 C0 C0 C0", FramingToken::Edb),
        ("1F 80 90 00", FramingToken::Eds),
        ("00", FramingToken::Idl),
        ("5F 01 1A BC", FramingToken::Stp(Stp { length_dw: 21, sequence: 0xabc })),
    ];
    for (bytes, token) in tokens {
        let bytes = hex(bytes);
        assert_eq!(FramingToken::read(&[&bytes[..], &[0x77; 3]].concat()), Ok(Some((token, bytes.len()))));
        // With bytes missing more have to come.
        assert!((0..bytes.len()).all(|n| FramingToken::read(&bytes[..n]) == Ok(None)));
    }
}

#[test]
fn cxlio_stp_02_n() {
    for first in (1..=0xff).filter(|b| b & 0xf != 0xf) {
        let found = FramingToken::read(&[first, 0, 0, 0]);
        assert_eq!(found, Err(StpFault::Token { found: first }), "{first:#x}");
    }
    assert_eq!(FramingToken::read(&[0xf0, 0xad, 0, 0]), Err(StpFault::Token { found: 0xf0 }));
    assert_eq!(framing::frame_tlp(0, &[0; 6]), None, "no whole number of DW");
}

// ---- vendor-defined messages ----

#[test]
fn cxlio_vdm_01_p() {
    listed(VdmCode::TABLE, &[0x00, 0x68, 0x80, 0x90, 0xa0, 0xa1]);
    let (dw2, dw3) = vdm::words(VdmCode::Pm, 0);
    let header = bytes_of(
        "cxlio.nfm_msg",
        &[
            ("fmt", 3),
            ("tlp_type", 0x14),
            ("length", 4),
            ("message_code", 0x7e),
            ("dw2", dw2.into()),
            ("dw3", dw3.into()),
        ],
    );
    assert_eq!(header, hex("74000004 0000007E 00001E98 00000068"));
    let bits = def("cxlio.nfm_msg").from_bytes(&header).expect("the right length");
    assert_eq!(vdm::code_nfm(&NfmMsg::from_bits(bits)), Some(VdmCode::Pm));
    let (dw2, dw3) = vdm::words(VdmCode::Efn, 0x900);
    let message = FmMsg { message_code: vdm::MESSAGE_CODE, dw2, dw3, ..FmMsg::default() };
    assert_eq!((vdm::code_fm(&message), vdm::efn_vector(dw3)), (Some(VdmCode::Efn), 9));
}

#[test]
fn cxlio_vdm_01_n() {
    let (dw2, dw3) = vdm::words(VdmCode::Pm, 0);
    let own = FmMsg { message_code: vdm::MESSAGE_CODE, dw2, dw3, ..FmMsg::default() };
    for other in [FmMsg { dw2: 0x8086, ..own }, FmMsg { message_code: 0x7f, ..own }] {
        assert_eq!(vdm::code_fm(&other), None, "somebody else's message");
    }
    let unlisted = vdm::code_fm(&FmMsg { dw3: 0x69, ..own });
    assert_eq!((unlisted, unlisted.and_then(VdmCode::name)), (Some(VdmCode(0x69)), None));
}

#[test]
fn cxlio_vdm_02_p() {
    listed(PmOpcode::TABLE, &[0x00, 0x02, 0x04, 0x06, 0xfe]);
    // CREDIT_RTN: one credit for agent 7; RESETPREP: reset, request.
    let credit = Pm { opcode: PmOpcode::CreditRtn, agent: 0, parameter: 0, payload: 1 | 7 << 8 };
    assert_eq!(credit.to_bytes()[..], hex("FE000000 01070000 00000000 00000000"));
    let reset = Pm { opcode: PmOpcode::ResetPrep, agent: 0x7f, parameter: 1, payload: 0x10 };
    assert_eq!(reset.to_bytes()[..], hex("027F0100 10000000 00000000 00000000"));
    let gpf = Pm { opcode: PmOpcode::Gpf, agent: 1, parameter: 0x8001, payload: u128::MAX >> 32 };
    for pm in [credit, reset, gpf] {
        assert_eq!(Pm::from_bytes(pm.to_bytes()), pm);
    }
    assert!(reset.is_request() && !credit.is_request());
}

#[test]
fn cxlio_vdm_02_n() {
    for opcode in (0..=0xff).filter(|&o| PmOpcode(o).name().is_none()) {
        let pm = Pm { opcode: PmOpcode(opcode), ..Pm::default() };
        assert_eq!(Pm::from_bytes(pm.to_bytes()), pm, "kept, so that it can be dropped by name");
    }
    // Bit 7 of byte 1 is ignored.
    let mut bytes = Pm { agent: 5, ..Pm::default() }.to_bytes();
    bytes[1] |= 0x80;
    assert_eq!(Pm::from_bytes(bytes).agent, 5);
}
