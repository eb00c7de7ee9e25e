//! UPLI signals, security and physical layer (`ualink` §12, §13).

use super::common::*;
use scalepool_protocols::ualink::phy;
use scalepool_protocols::ualink::upli::*;
use scalepool_protocols::wire::Wire;

/// Widths of the table of §12.
#[test]
fn ual_upl_01_p() {
    let widths = |def: &scalepool_protocols::wire::LayoutDef, expected: &[(&str, u32)]| {
        for (name, width) in expected {
            let field = def.fields.iter().find(|f| f.name == *name).unwrap_or_else(|| panic!("{}.{name}", def.name));
            assert_eq!(field.width, *width, "{}.{name}", def.name);
        }
    };
    let shared = [("valid", 1), ("port", 2), ("vc", 2), ("pool", 1)];
    for def in [UpliReq::DEF, UpliOrigData::DEF, UpliRdRsp::DEF, UpliWrRsp::DEF] {
        widths(def, &shared);
    }
    for def in [UpliReq::DEF, UpliRdRsp::DEF, UpliWrRsp::DEF] {
        widths(def, &[("tag", 11), ("src", 10), ("dst", 10)]);
    }
    let request = [("address", 57), ("cmd", 6), ("len", 6), ("attr", 8), ("metadata", 8), ("asi", 2), ("numbeats", 2)];
    widths(UpliReq::DEF, &request);
    widths(UpliOrigData::DEF, &[("byte_en", 64), ("offset", 2), ("last", 1), ("error", 1), ("data_parity", 8)]);
    widths(UpliRdRsp::DEF, &[("status", 4), ("offset", 2), ("last", 1), ("error", 1), ("data_parity", 8)]);
    widths(UpliWrRsp::DEF, &[("status", 4)]);
    widths(UpliCredit::DEF, &[("valid", 1), ("pool", 1), ("vc", 2), ("num", 2), ("init_done", 1)]);
    assert_eq!(UpliCredit::DEF.bits, 7);
}

#[test]
fn ual_upl_01_n() {
    layout_n::<UpliReq>();
    layout_n::<UpliOrigData>();
    layout_n::<UpliRdRsp>();
    layout_n::<UpliWrRsp>();
    layout_n::<UpliCredit>();
}

/// Commands of §12.
const COMMANDS: [u8; 22] = [
    0x03, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x28, 0x29, 0x2a, 0x2c, 0x2d, 0x2e, 0x2f, 0x30, 0x32, 0x3c,
    0x3d, 0x3e, 0x3f,
];

#[test]
fn ual_upl_02_p() {
    for code in COMMANDS {
        let cmd = ReqCmd(code);
        assert!(cmd.name().is_some(), "{code:#x}");
        assert_eq!(cmd.has_data(), code >= 0x20);
        let req = TlReq { cmd, ..TlReq::default() };
        assert_eq!(broken(req), Vec::<&str>::new(), "{code:#x}");
        assert_eq!(ControlField::Request(req).owed(&SHEET).halves() > 0, code >= 0x20);
    }
}

#[test]
fn ual_upl_02_n() {
    for code in (0..64).filter(|code| !COMMANDS.contains(code)) {
        assert_eq!(broken(TlReq { cmd: ReqCmd(code), ..TlReq::default() }), ["UAL-UPL-02"], "{code:#x}");
        assert_eq!(broken(UpliReq { cmd: ReqCmd(code), ..UpliReq::default() }), ["UAL-UPL-02"], "{code:#x}");
    }
}

#[test]
fn ual_upl_03_p() {
    let names = [0, 2, 3, 6, 8, 15].map(|code| Status(code).name().unwrap_or("none"));
    assert_eq!(names, ["OKAY", "TargetAbort", "DecodeError", "ProtectionViolation", "CompletionTimeout", "ISOLATE"]);
}

#[test]
fn ual_upl_03_n() {
    for code in (0..16).filter(|code| ![0, 2, 3, 6, 8, 15].contains(code)) {
        assert_eq!(broken(TlRsp { status: Status(code), ..TlRsp::default() }), ["UAL-UPL-03"], "{code}");
    }
}

#[test]
fn ual_upl_04_p() {
    layout_p::<ReadAttr>("last 7:4, first 3:0");
    layout_p::<AtomicAttr>("op_low 7:4, size 3:2, rsvd 1, op_high 0");
    for (size, dwords) in [(0, 1), (0, 2), (0, 16), (1, 2), (1, 4), (1, 16), (2, 1), (2, 3), (3, 1), (3, 7)] {
        for cmd in [ReqCmd::AtomicR, ReqCmd::AtomicNR] {
            let req = TlReq { cmd, attr: 0xf1 | size << 2, len: dwords - 1, ..TlReq::default() };
            assert_eq!(broken(req), Vec::<&str>::new(), "{size}");
        }
    }
}

/// Elements that do not divide the length, and the reserved bit.
#[test]
fn ual_upl_04_n() {
    for dwords in [1, 3, 15] {
        let req = TlReq { cmd: ReqCmd::AtomicR, attr: 1 << 2, len: dwords - 1, ..TlReq::default() };
        assert_eq!(broken(req), ["UAL-UPL-04"], "{dwords}");
    }
    assert_eq!(broken(TlReq { cmd: ReqCmd::AtomicNR, attr: 2, ..TlReq::default() }), ["UAL-UPL-04"]);
    layout_n::<AtomicAttr>();
}

#[test]
fn ual_upl_13_p() {
    let mut data = [0; 64];
    assert_eq!(data_parity(&data), 0);
    for bit in 0..512 {
        data[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(data_parity(&data), 1 << (bit / 64));
        assert_eq!(check_data_parity(&data, 1 << (bit / 64)), None);
        data[bit / 8] ^= 1 << (bit % 8);
    }
    // A word with its parity has an even number of ones.
    let word = UpliReq { tag: 7, ..UpliReq::default() }.to_bits().expect("it fits");
    let with = word | u128::from(control_parity(word)) << 126;
    assert_eq!(with.count_ones() % 2, 0);
}

#[test]
fn ual_upl_13_n() {
    let data = beat(3);
    let good = data_parity(&data);
    for bit in 0..8 {
        assert_eq!(check_data_parity(&data, good ^ 1 << bit).map(|v| v.rule), Some("UAL-UPL-13"));
    }
    for bit in 0..512 {
        let mut flipped = data;
        flipped[bit / 8] ^= 1 << (bit % 8);
        assert!(check_data_parity(&flipped, good).is_some());
    }
}

#[test]
fn ual_sec_01_p() {
    let iv = Iv { counter: 0x0102_0304, ..Iv::default() }.to_bits().expect("it fits");
    assert_eq!(Iv::DEF.to_bytes(iv), [0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4]);
}

/// The content of a tag means nothing to the codec: no rule is broken by any.
#[test]
fn ual_sec_01_n() {
    layout_n::<Iv>();
    let field = ControlField::CompressedMulti(TlCrspMulti::default());
    for auth_tag in [0, 1, u64::MAX] {
        let sent = Transfer { auth_tag, ..transfer(field, 0, &WITH_TAGS) };
        let reads = read_tl(WITH_TAGS, &pack_all(WITH_TAGS, &[sent]));
        assert_clean(&reads);
        assert_eq!(delivered(&reads)[0].auth_tag, auth_tag);
    }
}

#[test]
fn ual_phy_01_p() {
    assert_eq!((phy::FLIT_BITS, phy::TRANSCODED_BITS, phy::CODE_WORD_BITS), (5120, 5140, 5440));
    // 25.6 ns, 12.8 ns, 6.4 ns.
    assert_eq!([1, 2, 4].map(phy::flit_time_fs), [25_600_000, 12_800_000, 6_400_000]);
}

#[test]
fn ual_phy_01_n() {
    assert_ne!(phy::CODE_WORD_BYTES, 640, "a code word is no flit");
    assert!(DlFlit::from_bytes(&[0; 680]).is_err());
}

#[test]
fn ual_phy_03_p() {
    let blocks = [0x1e, 0x4b, 0x78].map(|code| BlockType(code).name().unwrap_or("none"));
    assert_eq!(blocks, ["Idle", "OrderedSet", "Start"]);
    let faults = [1, 2, 3].map(|code| FaultCode(code).name().unwrap_or("none"));
    assert_eq!(faults, ["Local", "Remote", "LinkInterruption"]);
}

#[test]
fn ual_phy_03_n() {
    let unlisted = (0..=255).filter(|&code| BlockType(code).name().is_none()).count();
    assert_eq!(unlisted, 253);
    assert!([0, 4, 255].iter().all(|&code| FaultCode(code).name().is_none()));
}
