//! CXL256-MAP, HDR, TYP, CRD: byte maps, flit header, flit types, credit field.

use super::common::*;
use scalepool::forms::flit256::{Cxl256FlitDecoder, Cxl256FlitEncoder, to_json};
use scalepool_protocols::cxl::cxl256::code::{FlitType, ReplayCommand};
use scalepool_protocols::cxl::cxl256::crd::{Crd, DataCredit, RequestCredit, ResponseCredit};
use scalepool_protocols::cxl::cxl256::header::FlitHeader;
use scalepool_protocols::cxl::cxl256::stream::Cxl256FlitKind;
use scalepool_protocols::wire::{FieldFault, Wire};
use serde_json::{Value, json};

/// The object of one flit.
fn object(mode: Mode, flit: &Cxl256Flit) -> Value {
    let (decoded, findings) = Cxl256FlitDecoder::new(mode, Dir::Down).read(flit);
    to_json(&decoded, &findings, 0)
}

/// A flit whose byte n is n.
fn ramp() -> Cxl256Flit {
    Cxl256Flit(std::array::from_fn(|n| n as u8))
}

/// Flit bytes of every slot, written a second time.
fn slot_map(mode: Mode, n: usize) -> Vec<usize> {
    match (mode, n) {
        (_, 0) => (2..16).collect(),
        (Mode::LatencyOptimised, 7) => (112..122).chain(138..144).collect(),
        (Mode::LatencyOptimised, 8) => (128..138).chain(242..244).collect(),
        _ => (16 * n..16 * n + 16).collect(),
    }
}

/// Slots, credits and header stand where the sheet says.
fn map_p(mode: Mode) {
    let flit = ramp();
    for n in 0..15 {
        let want = slot_map(mode, n).iter().rev().fold(0u128, |bits, &at| bits << 8 | at as u128);
        assert_eq!(flit.slot(mode, n), want, "slot {n}");
        let mut copy = Cxl256Flit::ZERO;
        copy.set_slot(mode, n, want);
        let set: Vec<usize> = (0..256).filter(|&at| copy.0[at] != 0).collect();
        let mut places = slot_map(mode, n);
        places.sort_unstable();
        assert_eq!(set, places, "slot {n}");
    }
    assert_eq!(flit.crd().to_bits(), Ok(0xf1f0));
    assert_eq!(flit.header().to_bits(), Ok(0x0001));
}

#[test]
fn cxl256_map_01_p() {
    map_p(Mode::Standard);
    map_p(Mode::Pbr);
}

#[test]
fn cxl256_map_01_n() {
    for found in [0, 255, 257] {
        let error = Cxl256Flit::from_bytes(&vec![0; found]).expect_err("256 bytes alone make a flit");
        assert_eq!(error.fault, FieldFault::Length { found, expected: 256, bits: 2048 });
    }
}

/// The TLP and DLLP bytes of an io flit, as its object shows them.
fn tlps_and_dllp(mode: Mode, flit: &Cxl256Flit) -> (String, String) {
    let object = object(mode, flit);
    let tlps = object["tlps"].as_array().expect("a list");
    let hex: String = tlps.iter().map(|t| t["hex"].as_str().expect("hex")).collect();
    (hex, object["dllp"]["hex"].as_str().expect("hex").to_owned())
}

fn hex(bytes: impl IntoIterator<Item = usize>) -> String {
    bytes.into_iter().map(|b| format!("{b:02x}")).collect()
}

/// An io flit whose other bytes are a ramp.
fn io_ramp(mode: Mode) -> Cxl256Flit {
    let mut flit = Build { mode, flit: ramp() };
    flit.flit.set_header(&FlitHeader { flit_type: FlitType::Io, seq: 1, ..FlitHeader::default() }).expect("it fits");
    flit.flit()
}

#[test]
fn cxl256_map_02_p() {
    let want = (hex(2..238), hex(238..242));
    assert_eq!(tlps_and_dllp(Mode::Standard, &io_ramp(Mode::Standard)), want);
}

#[test]
fn cxl256_map_02_n() {
    // PCI Express's own map begins at byte 0: other TLP bytes.
    let (tlps, dllp) = tlps_and_dllp(Mode::Standard, &io_ramp(Mode::Standard));
    assert_ne!(tlps, hex(0..236));
    assert_ne!(dllp, hex(236..240));
}

#[test]
fn cxl256_map_03_p() {
    map_p(Mode::LatencyOptimised);
    let mode = Mode::LatencyOptimised;
    assert_eq!(tlps_and_dllp(mode, &io_ramp(mode)), (hex((2..122).chain(128..240)), hex(240..244)));
}

#[test]
fn cxl256_map_03_n() {
    // A standard flit read as a latency-optimised one: no half has its CRC.
    let flit = Build { mode: Mode::Standard, flit: ramp() }.flit();
    let read = read(Mode::LatencyOptimised, Dir::Down, &[flit]);
    assert!(!read.decoded[0].is_good());
    let crc = read.rules().into_iter().filter(|&r| r == "CXL256-CRC-04").count();
    assert_eq!(crc, 2, "{:?}", read.rules());
}

#[test]
fn cxl256_hdr_01_p() {
    // `cxl-256b` §1.3: type 10b, prior 1, command 00, sequence 123h.
    let header = FlitHeader {
        flit_type: FlitType::Cachemem,
        prior: true,
        dllp_type: false,
        command: ReplayCommand::Explicit,
        seq: 0x123,
    };
    let mut flit = Cxl256Flit::ZERO;
    flit.set_header(&header).expect("it fits");
    assert_eq!(flit.0[..2], [0xa1, 0x23]);
    assert_eq!(flit.header(), header);
    // Walking ones: high byte first.
    for bit in 0..16 {
        let mut flit = Cxl256Flit::ZERO;
        flit.set_header(&FlitHeader::from_bits(1 << bit)).expect("it fits");
        assert_eq!(u16::from_be_bytes([flit.0[0], flit.0[1]]), 1 << bit);
    }
    for (code, name) in [(0, "Explicit"), (1, "Ack"), (2, "NakStandard"), (3, "NakSelective")] {
        assert_eq!(ReplayCommand(code).name(), Some(name));
    }
}

#[test]
fn cxl256_hdr_01_n() {
    let mut flit = Cxl256Flit::ZERO;
    for header in [
        FlitHeader { seq: 1 << 10, ..FlitHeader::default() },
        FlitHeader { command: ReplayCommand(4), ..FlitHeader::default() },
        FlitHeader { flit_type: FlitType(4), ..FlitHeader::default() },
    ] {
        assert!(flit.set_header(&header).is_err(), "{header:?}");
        assert_eq!(flit, Cxl256Flit::ZERO);
    }
}

/// A flit of a type with the DLLP type bit.
fn with_dllp_bit(flit_type: FlitType) -> Cxl256Flit {
    let mut build = of_type(Mode::Standard, flit_type);
    let header = FlitHeader { dllp_type: true, ..build.flit.header() };
    build.flit.set_header(&header).expect("it fits");
    build.flit()
}

#[test]
fn cxl256_hdr_03_p() {
    assert_eq!(read(Mode::Standard, Dir::Down, &[with_dllp_bit(FlitType::Io)]).rules(), [""; 0]);
    for flit_type in [FlitType::Nop, FlitType::Cachemem] {
        read(Mode::Standard, Dir::Down, &[of_type(Mode::Standard, flit_type).flit()]).assert_clean();
    }
}

#[test]
fn cxl256_hdr_03_n() {
    for flit_type in [FlitType::Nop, FlitType::Cachemem, FlitType::Almp] {
        let read = read(Mode::Standard, Dir::Down, &[with_dllp_bit(flit_type)]);
        assert!(read.rules().contains(&"CXL256-HDR-03"), "{flit_type:?}");
    }
}

#[test]
fn cxl256_typ_01_p() {
    let kind = |flit: Cxl256Flit| read(Mode::Standard, Dir::Down, &[flit]).decoded.remove(0).kind;
    assert_eq!(kind(Cxl256Flit::ZERO), Cxl256FlitKind::Idle);
    assert_eq!(kind(of_type(Mode::Standard, FlitType::Nop).flit()), Cxl256FlitKind::Nop);
    assert!(matches!(kind(of_type(Mode::Standard, FlitType::Io).flit()), Cxl256FlitKind::Io(_)));
    assert_eq!(kind(cachemem(Mode::Standard).flit()), Cxl256FlitKind::Protocol);
    assert_eq!(kind(of_type(Mode::Standard, FlitType::Almp).flit()), Cxl256FlitKind::Almp);
    // A NOP may have a DLLP.
    let dllp = of_type(Mode::Standard, FlitType::Nop).byte(238, 0x31).flit();
    read(Mode::Standard, Dir::Down, &[dllp]).assert_clean();
}

#[test]
fn cxl256_typ_01_n() {
    for mode in Mode::ALL {
        for at in [2, 100, 237] {
            let flit = of_type(mode, FlitType::Nop).byte(at, 0x60).flit();
            let read = read(mode, Dir::Down, &[flit]);
            assert_eq!(read.only().rule, "CXL256-TYP-01");
            assert_eq!(read.only().at.to_string(), format!("byte {at}"));
        }
    }
}

const EMPTY: Crd = Crd { request: RequestCredit::EmptyFlit, data: DataCredit(0), response: ResponseCredit(0), rsvd: 0 };

#[test]
fn cxl256_typ_03_p() {
    // `cxl-256b` §10: Empty, explicit sequence number 1.
    let mut flit = Cxl256Flit::ZERO;
    flit.0[..2].copy_from_slice(&[0xa0, 0x01]);
    flit.0[240] = 1;
    flit.seal(Mode::Standard);
    assert_eq!(flit.0[242..], bytes("05 0B 1D D0 2F 06 01 46 9B 9A 3A 1A D4 C3"));
    let write = legal(Mode::Standard, Class::M2sRwd, 1);
    let first = cachemem(Mode::Standard).with(13, "G14", &[(0, write)]).bits(14, 5).flit();
    let rest = cachemem(Mode::Standard).run(1..4, 0x77 << 8).flit();
    // Inside a data run it is dropped; the run goes on behind it.
    let read = read(Mode::Standard, Dir::Down, &[first, flit, rest]);
    assert_eq!((read.rules(), &read.decoded[1].kind), (vec![], &Cxl256FlitKind::Empty));
    assert_eq!((read.delivered.len(), read.owed_slots), (1, 0));
}

#[test]
fn cxl256_typ_03_n() {
    let req = legal(Mode::Standard, Class::M2sReq, 1);
    let flit = cachemem(Mode::Standard).with(0, "H4", &[(0, req)]).crd(EMPTY).flit();
    let read = read(Mode::Standard, Dir::Down, &[flit]);
    assert_eq!((read.only().rule, read.only().at.to_string()), ("CXL256-TYP-03", "byte 240".to_owned()));
    assert_eq!(read.decoded[0].kind, Cxl256FlitKind::Protocol);
}

#[test]
fn cxl256_crd_01_p() {
    for (bit, name) in [(0, "request"), (4, "request"), (5, "data"), (9, "data"), (10, "response"), (14, "response")] {
        let field = Crd::DEF.field(name).expect("listed");
        assert_eq!(field.extract(1 << bit), 1 << (bit - field.lsb));
        let mut flit = Cxl256Flit::ZERO;
        flit.set_crd(&Crd::from_bits(1 << bit)).expect("it fits");
        assert_eq!(u16::from_le_bytes([flit.0[240], flit.0[241]]), 1 << bit);
    }
}

#[test]
fn cxl256_crd_01_n() {
    // Bit 15: no event, and kept.
    let flit = cachemem(Mode::Standard).byte(241, 0x80).flit();
    read(Mode::Standard, Dir::Down, &[flit]).assert_clean();
    let again = encode(
        Mode::Standard,
        &json!({"kind": "protocol", "crd": object(Mode::Standard, &flit)["crd"],
        "header": {"seq": 1}}),
    );
    assert_eq!(again, Ok(flit));
}

/// Groups with their channels and first codes (`cxl-256b` §1.6).
const CREDITS: [[(Class, u8); 4]; 3] = [
    [(Class::H2dReq, 4), (Class::D2hReq, 9), (Class::M2sReq, 0x14), (Class::S2mBisnp, 0x19)],
    [(Class::H2dData, 4), (Class::D2hData, 9), (Class::M2sRwd, 0x14), (Class::S2mDrs, 0x19)],
    [(Class::H2dRsp, 4), (Class::D2hRsp, 9), (Class::M2sBirsp, 0x14), (Class::S2mNdr, 0x19)],
];

#[test]
fn cxl256_crd_02_p() {
    for (group, channels) in CREDITS.iter().enumerate() {
        for &(class, first) in channels {
            for (n, count) in [1, 4, 8, 12, 16].into_iter().enumerate() {
                let crd = Crd::from_bits(u128::from(first + n as u8) << (5 * group));
                assert_eq!(crd.credits().collect::<Vec<_>>(), [(class, count)]);
            }
        }
    }
}

#[test]
fn cxl256_crd_02_n() {
    for group in 0..3 {
        for code in [2, 3, 0xe, 0xf, 0x10, 0x13, 0x1e, 0x1f] {
            let crd = Crd::from_bits(code << (5 * group));
            assert_eq!(crd.credits().count(), 0, "ignored");
            assert_eq!(crd.to_bits(), Ok(code << (5 * group)), "kept");
            read(Mode::Standard, Dir::Down, &[cachemem(Mode::Standard).crd(crd).flit()]).assert_clean();
            let mut found = Vec::new();
            Crd::DEF.check(code << (5 * group), &mut found);
            assert_eq!(found.iter().map(|v| v.rule).collect::<Vec<_>>(), ["CXL256-CRD-02"], "named when asked for");
        }
    }
}

/// Any 256 bytes decode, and encode to the same bytes but for CRC and FEC; seeded.
#[test]
fn any_flit_comes_back() {
    let mut x = 256u64;
    let mut next = || {
        x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (x >> 56) as u8
    };
    for mode in Mode::ALL {
        let mut decoder = Cxl256FlitDecoder::new(mode, Dir::Down);
        for round in 0..2000 {
            let mut flit = Cxl256Flit(std::array::from_fn(|_| next()));
            if round % 3 == 0 {
                flit.0[2..242].fill(0);
            }
            let raw = flit;
            if round % 4 != 0 {
                flit.seal(mode);
            }
            let (decoded, findings) = decoder.read(&flit);
            let mut form = to_json(&decoded, &findings, round);
            let object = form.as_object_mut().expect("an object");
            object.retain(|key, _| !["hex", "crc", "fec", "violations", "lints"].contains(&key.as_str()));
            let again = encode(mode, &form).expect("what was decoded can be encoded");
            if decoded.received.fec.is_ok_and(|c| !c.is_empty()) {
                continue;
            }
            let body = |f: &Cxl256Flit| (f.0[..2].to_vec(), f.body(mode).collect::<Vec<_>>());
            assert_eq!(body(&again), body(&raw), "{form}");
        }
    }
}

/// §9: payload flits have the numbers 1 to 1023, and acknowledge no other. A NOP may have 0: before the first payload flit.
#[test]
fn number_zero_in_a_payload_flit_is_named() {
    for mode in Mode::ALL {
        for flit_type in [FlitType::Nop, FlitType::Io, FlitType::Cachemem, FlitType::Almp] {
            for command in (0..4).map(ReplayCommand) {
                for (seq, payload_is_wrong) in [(0, true), (1, false), (1023, false)] {
                    let mut build = of_type(mode, flit_type);
                    build.flit.set_header(&FlitHeader { flit_type, command, seq, ..FlitHeader::default() }).unwrap();
                    let wrong = payload_is_wrong && flit_type != FlitType::Nop;
                    let found = read(mode, Dir::Down, &[build.flit()]);
                    let named: Vec<_> =
                        found.findings[0].violations.iter().filter(|v| v.rule == "CXL256-RTY-01").collect();
                    assert_eq!(named.len(), usize::from(wrong), "{mode:?} {flit_type:?} {command:?} {seq}");
                    assert!(
                        named.iter().all(|v| v.at.to_string() == "byte 1" && v.expected == "1 to 1023"),
                        "{named:?}"
                    );
                }
            }
        }
    }
}

/// What an object does not say is the first legal number of a stream, and no stream begins with a broken rule.
#[test]
fn numbers_that_an_object_leaves_out() {
    let kinds = [
        (json!({"kind": "protocol"}), 1),
        (json!({"kind": "empty"}), 1),
        (json!({"kind": "control", "control": {"name": "INIT.Param"}}), 1),
        (json!({"kind": "io"}), 1),
        (json!({"kind": "almp", "almp": {"state": "active", "instance": "io", "kind": "request"}}), 1),
        (json!({"kind": "nop", "dllp": {"hex": "31000000"}}), 0),
        (json!({"kind": "idle"}), 0),
        (json!({"kind": "protocol", "header": {"prior": 1}}), 1),
        (json!({"kind": "protocol", "header": {"command": "Ack"}}), 1023),
        (json!({"kind": "nop", "header": {"command": "NakStandard"}}), 1023),
        (json!({"kind": "protocol", "header": {"seq": 77}}), 77),
        (json!({"kind": "protocol", "header": {"seq": 77, "command": "Ack"}}), 77),
    ];
    for mode in Mode::ALL {
        for (object, seq) in &kinds {
            let encoded = Cxl256FlitEncoder::new(mode, Some(Dir::Down)).encode(object).expect("it can be sent");
            assert_eq!(encoded.form["header"]["seq"], *seq, "{object}");
            assert_eq!(encoded.findings.violations, [], "{object}");
        }
    }
}
