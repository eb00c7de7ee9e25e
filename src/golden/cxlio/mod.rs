//! `flit_cxl-io_<dir>`: TLPs of every type, header extensions, trailers, prefixes, TLPs that straddle flits, DLLPs of every
//! type, repairs, and breaks.
//!
//! Every case starts and ends with no part of a TLP owed.

use super::cross::{self, FM_TYPES};
use super::cxl256::content;
use super::cxl256::flits::wire;
use super::cxl256::send::Cxl256Sender;
use super::legal;
use super::vectors::{CaseGroup, Stream256, StreamCase, VectorContent, VectorSet};
use scalepool_forms::flit_io::PROTOCOL;
use scalepool_kernel::Rng;
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl256::Mode;
use scalepool_protocols::cxl::cxl256::code::FlitType;
use scalepool_protocols::cxl::cxl256::flit::Cxl256Flit;
use scalepool_protocols::cxl::cxlio::code::FmType;
use scalepool_protocols::cxl::cxlio::dllp::{DllpAckNak, DllpFc, DllpFeature, DllpFlitMarker, DllpOptimizedUpdateFc};
use scalepool_protocols::cxl::cxlio::flit_mode::{Base, OhcC, TRAILER_DW};
use scalepool_protocols::wire::{LayoutDef, Wire};

type Case = StreamCase<Cxl256Flit>;

/// TLP bytes of a standard flit (`cxl-256b` §1.2).
const TLP_BYTES: usize = 236;
/// DLLP NOP (`cxl-io` §2.1).
const DLLP_NOP: [u8; 4] = [0x31, 0, 0, 0];
/// Most types shown in one flit: at most 8 TLPs may start in its first 128 bytes.
const TLPS_PER_FLIT: usize = 4;

/// The vectors of one direction; about `4 * count` TLPs of random traffic.
pub fn vectors(dir: Dir, seed: u64, count: u32) -> VectorSet {
    let mode = Mode::Standard;
    let path = format!("cxlio/flit_{PROTOCOL}_{}", dir.name());
    let mut rng = Rng::for_name(seed, &path);
    let s = &mut Cxl256Sender::new(mode, dir, &mut rng);
    let mut groups = vec![
        CaseGroup::new("NOP", vec![StreamCase::legal(vec![s.of_body(FlitType::Nop, false, &[])])]),
        every_type(s),
        parts(s),
        straddling(s, count),
        dllps(s),
        content::repairs(mode, || one(s)),
    ];
    groups.extend(wire(mode, || one(s)));
    groups.extend(breaks(s));
    groups.retain(|g| !g.cases.is_empty());
    let about = "big-endian TLPs and DLLPs at their places in the flit, whose bytes count from 0";
    VectorSet {
        path,
        about: format!("flits of {PROTOCOL}, direction {}, 256 bytes from the flit header on; {about}", dir.name()),
        content: VectorContent::Flits256(Stream256 { protocol: PROTOCOL, mode, dir }, groups),
    }
}

/// What a TLP is made of, beside its random fields.
#[derive(Clone, Copy)]
struct Plan {
    code: u8,
    /// Presence bits: 0 A, 1 B, 2 C, 4:3 E (`cxl-io` §3.4).
    ohc: u8,
    /// Size code of the trailer (`cxl-io` §3.6).
    ts: u8,
    data_dw: u16,
}

fn plan(code: u8) -> Plan {
    // I/O and configuration requests need an OHC-A (`cxl-io` §3.5).
    let ohc = u8::from(matches!(Base::of(FmType(code)), Some(Base::Io | Base::Cfg)));
    Plan { code, ohc, ts: 0, data_dw: 1 }
}

fn random_bytes(rng: &mut Rng, count: usize) -> Vec<u8> {
    let mut bytes = vec![0; count];
    rng.fill_bytes(&mut bytes);
    bytes
}

fn random(def: &LayoutDef, rng: &mut Rng) -> u128 {
    let bits = legal::random(def, rng);
    // Flags of translation requests, which these are not (`cxl-io` §3.5).
    ["nw", "er", "pmr"].iter().fold(bits, |bits, name| cross::set(def, bits, name, 0))
}

/// A whole TLP.
fn tlp(plan: Plan, rng: &mut Rng) -> Vec<u8> {
    let base = Base::of(FmType(plan.code)).unwrap_or(Base::Msg);
    let Some(def) = base.def() else { unreachable!("a type with a header") };
    let fields = [
        ("tlp_type", plan.code.into()),
        ("ohc", plan.ohc.into()),
        ("ts", plan.ts.into()),
        ("length", plan.data_dw.into()),
    ];
    let bits = fields.iter().fold(random(def, rng), |bits, &(name, raw)| cross::set(def, bits, name, raw));
    let mut bytes = def.to_bytes(bits);
    if plan.ohc & 1 == 1 {
        match base.ohc_a(FmType(plan.code)) {
            Some(def) => bytes.extend(def.to_bytes(random(def, rng))),
            None => bytes.extend(random_bytes(rng, 4)),
        }
    }
    if plan.ohc >> 1 & 1 == 1 {
        bytes.extend(random_bytes(rng, 4));
    }
    if plan.ohc >> 2 & 1 == 1 {
        bytes.extend(OhcC::DEF.to_bytes(random(OhcC::DEF, rng)));
    }
    let e_dw = [0, 1, 2, 4][usize::from(plan.ohc >> 3 & 3)];
    let data_dw = if plan.code >> 6 == 1 { usize::from(plan.data_dw) } else { 0 };
    bytes.extend(random_bytes(rng, 4 * (e_dw + data_dw + TRAILER_DW[usize::from(plan.ts)])));
    bytes
}

/// A flit with TLP bytes, filled up with NOPs, and a DLLP.
fn flit(s: &mut Cxl256Sender, tlps: &[u8], dllp_type: bool, dllp: [u8; 4]) -> Cxl256Flit {
    let mut body = tlps.to_vec();
    body.resize(TLP_BYTES, 0);
    body.extend(dllp);
    s.of_body(FlitType::Io, dllp_type, &body)
}

/// A flit with one write.
fn one(s: &mut Cxl256Sender) -> Cxl256Flit {
    let write = tlp(Plan { data_dw: 4, ..plan(FmType::MWr64.0) }, s.rng);
    flit(s, &write, false, DLLP_NOP)
}

/// TLPs in order, each whole in its flit.
fn flits_of(s: &mut Cxl256Sender, tlps: &[Vec<u8>]) -> Case {
    let flits = tlps.chunks(TLPS_PER_FLIT).map(|tlps| flit(s, &tlps.concat(), false, DLLP_NOP));
    StreamCase::legal(flits.collect())
}

fn every_type(s: &mut Cxl256Sender) -> CaseGroup<Case> {
    let codes = FM_TYPES.iter().flat_map(|row| row.1.iter().copied());
    let tlps: Vec<Vec<u8>> = codes.map(|code| tlp(plan(code), s.rng)).collect();
    CaseGroup::new("every type of TLP", vec![flits_of(s, &tlps)])
}

/// Header extensions, trailers and prefixes.
fn parts(s: &mut Cxl256Sender) -> CaseGroup<Case> {
    let codes = [FmType::MRd32, FmType::MWr64, FmType::CplD, FmType::MsgById, FmType::CfgWr0].map(|c| c.0);
    let ohcs = [0b00001, 0b00010, 0b00100, 0b00111, 0b01000, 0b10001, 0b11111];
    let ohc: Vec<Vec<u8>> = ohcs
        .into_iter()
        .enumerate()
        .map(|(k, ohc)| {
            let plain = plan(codes[k % codes.len()]);
            tlp(Plan { ohc: ohc | plain.ohc, ..plain }, s.rng)
        })
        .collect();
    let trailers: Vec<Vec<u8>> = (0..8).map(|ts| tlp(Plan { ts, ..plan(codes[usize::from(ts) % 2]) }, s.rng)).collect();
    let prefixes = [0x8d, 0x8e, 0x8f].map(|code| {
        let mut bytes = random_bytes(s.rng, 4);
        bytes[0] = code;
        bytes.extend(tlp(plan(codes[0]), s.rng));
        bytes
    });
    CaseGroup::new(
        "OHC, trailers, local prefixes",
        vec![flits_of(s, &ohc), flits_of(s, &trailers), flits_of(s, &prefixes)],
    )
}

/// A write over two flits, one over three, and random traffic as one run of bytes.
fn straddling(s: &mut Cxl256Sender, count: u32) -> CaseGroup<Case> {
    let long = |data_dw| Plan { data_dw, ..plan(FmType::MWr32.0) };
    let mut runs = vec![vec![tlp(long(80), s.rng)], vec![tlp(long(150), s.rng)]];
    let codes: Vec<u8> = FM_TYPES.iter().flat_map(|row| row.1.iter().copied()).collect();
    let traffic = (0..4 * count).map(|_| {
        let plain = plan(codes[s.rng.below(codes.len() as u64) as usize]);
        let (ohc, ts) = (s.rng.below(32) as u8, s.rng.below(8) as u8);
        let data_dw = 12 + s.rng.below(24) as u16;
        // The shortest has 3 DW, so no more than 8 start in a group: NOPs keep them apart.
        let mut bytes = tlp(Plan { ohc: ohc | plain.ohc, ts, data_dw, ..plain }, s.rng);
        bytes.resize(bytes.len() + 4 * s.rng.below(3) as usize, 0);
        bytes.resize(bytes.len().max(MIN_APART), 0);
        bytes
    });
    runs.push(traffic.collect());
    let case = |run: &Vec<Vec<u8>>| {
        let flits = run.concat().chunks(TLP_BYTES).map(|part| flit(s, part, false, DLLP_NOP)).collect();
        StreamCase::legal(flits)
    };
    let cases: Vec<Case> = runs.iter().filter(|r| !r.is_empty()).map(case).collect();
    CaseGroup::new("TLPs that straddle flits, then random traffic", cases)
}

/// Bytes between the starts of two TLPs, so that at most 8 start in 128 bytes.
const MIN_APART: usize = 16;

fn dllps(s: &mut Cxl256Sender) -> CaseGroup<Case> {
    let dllp = |bits: u128| (bits as u32).to_be_bytes();
    let coded = |def: &'static LayoutDef, name: &str| -> Vec<u128> {
        let table = def.fields.iter().find(|f| f.name == name).and_then(|f| f.codes);
        table.map_or(Vec::new(), |t| t.codes.iter().map(|c| c.value).collect())
    };
    let mut rows: Vec<(bool, [u8; 4])> = Vec::new();
    for fc in coded(DllpFc::DEF, "fc_type") {
        rows.push((false, dllp(cross::set(DllpFc::DEF, random(DllpFc::DEF, s.rng), "fc_type", fc))));
    }
    for code in [0x00, 0x10] {
        let bits = random(DllpAckNak::DEF, s.rng);
        rows.push((false, dllp(cross::set(DllpAckNak::DEF, bits, "dllp_type", code))));
    }
    rows.push((false, dllp(random(DllpFeature::DEF, s.rng))));
    rows.extend([0x01, 0x20, 0x21, 0x23, 0x24, 0x30, 0x31].map(|code| (false, [code, 0, 0, 0])));
    rows.push((true, dllp(random(DllpOptimizedUpdateFc::DEF, s.rng))));
    for last in coded(DllpFlitMarker::DEF, "last_tlp") {
        let bits = random(DllpFlitMarker::DEF, s.rng);
        rows.push((true, dllp(cross::set(DllpFlitMarker::DEF, bits, "last_tlp", last))));
    }
    let cases = rows.into_iter().map(|(marker, dllp)| StreamCase::legal(vec![flit(s, &[], marker, dllp)]));
    CaseGroup::new("every type of DLLP, then those with header bit 4", cases.collect())
}

fn breaks(s: &mut Cxl256Sender) -> Vec<CaseGroup<Case>> {
    let mut tlps: Vec<(&'static str, Vec<u8>)> = Vec::new();
    // No size is known of these types: the rest of the flit is lost.
    tlps.extend([0x06, 0x3f, 0xc0].map(|code| ("CXLIO-FMT-03", vec![code, 0, 0, 0])));
    // Sized as a prefix and as a message.
    let read = tlp(plan(FmType::MRd32.0), s.rng);
    tlps.push(("CXLIO-FMT-03", [[0x80, 0, 0, 0].as_slice(), &read].concat()));
    tlps.push(("CXLIO-FMT-03", tlp(plan(0x36), s.rng)));
    for code in [FmType::IORd, FmType::CfgRd0, FmType::CfgWr1] {
        tlps.push(("CXLIO-FMT-08", tlp(Plan { ohc: 0, ..plan(code.0) }, s.rng)));
    }
    // The reserved bit of byte 6, then of every OHC.
    let mut reserved = read.clone();
    reserved[6] |= 0x40;
    tlps.push(("CXLIO-FMT-06", reserved));
    let mut change = |rule, code: FmType, ohc, byte: usize, set: u8, clear: u8| {
        // An untranslated address, so that the flags of translations stay wrong.
        let mut bytes = tlp(Plan { ohc, ..plan(code.0) }, s.rng);
        if matches!(code, FmType::MRd32) {
            bytes[11] &= !3;
        }
        bytes[byte] = bytes[byte] & !clear | set;
        tlps.push((rule, bytes));
    };
    change("CXLIO-FMT-07", FmType::IORd, 1, 12, 1, 0);
    change("CXLIO-FMT-07", FmType::CfgRd0, 1, 13, 1, 0);
    change("CXLIO-FMT-07", FmType::CplD, 1, 14, 0x7f, 0);
    change("CXLIO-FMT-07", FmType::MRd32, 4, 15, 0x0c, 0);
    // NW without a translation request; a PASID without PV.
    change("CXLIO-FMT-10", FmType::MRd32, 1, 12, 0x80, 0);
    change("CXLIO-FMT-10", FmType::MRd32, 1, 12, 0x01, 0x40);
    // Status 3 of a completion.
    change("CXLIO-NFM-05", FmType::CplD, 1, 15, 3, 7);
    let nine = (0..9).flat_map(|_| tlp(plan(FmType::MRd32.0), s.rng)).collect();
    tlps.push(("CXLIO-PLC-02", nine));
    let dllps: [(&'static str, bool, [u8; 4]); 6] = [
        ("CXLIO-DLL-01", false, [0x03, 0, 0, 0]),
        ("CXLIO-DLL-01", false, [0x11, 0, 0, 0]),
        ("CXLIO-DLL-01", false, [0xff, 0, 0, 0]),
        ("CXLIO-DLL-05", false, [0x00, 0x80, 0, 1]),
        ("CXLIO-DLL-07", true, [0xe0, 0, 0, 0]),
        ("CXLIO-DLL-07", true, [0x80, 0, 0, 1]),
    ];
    let of_tlps =
        tlps.iter().map(|(rule, tlp)| StreamCase::breaks(rule, vec![flit(s, tlp, false, DLLP_NOP)])).collect();
    let of_dllps = dllps.map(|(rule, marker, dllp)| StreamCase::breaks(rule, vec![flit(s, &[], marker, dllp)]));
    let mut body = vec![0; TLP_BYTES];
    body[2] = 1;
    vec![
        CaseGroup::new("TLPs", of_tlps),
        CaseGroup::new("DLLPs", of_dllps.to_vec()),
        CaseGroup::new(
            "a NOP with content",
            vec![StreamCase::breaks("CXL256-TYP-01", vec![s.of_body(FlitType::Nop, false, &body)])],
        ),
    ]
}
