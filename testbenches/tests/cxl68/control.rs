//! CXL68-CTL, IDE, ALM and the configured part of LLR: control flits and ALMPs.

use super::common::*;
use scalepool_protocols::cxl::cxl68::code::{LlCtrl, VlsmInstance, VlsmState};
use scalepool_protocols::cxl::cxl68::config::{Cxl68Config, StaticBitFault};
use scalepool_protocols::cxl::cxl68::control::*;
use scalepool_protocols::cxl::cxl68::pid;
use scalepool_protocols::cxl::cxl68::slot::{self, SlotContent};
use scalepool_protocols::cxl::cxl68::stream::{Cxl68SlotRole, Cxl68UnitKind};
use scalepool_protocols::cxl::cxl68::unit::Cxl68Unit;
use scalepool_protocols::wire::{At, Wire};

/// `cxl-68b` §6.2: name, LLCTRL, SubType, CTL_FMT, takes an entry of the retry buffer.
const KINDS: [(&str, u128, u128, u128, bool); 9] = [
    ("LLCRD.Acknowledge", 0b0000, 0b0001, 0, true),
    ("RETRY.Idle", 0b0001, 0b0000, 0, false),
    ("RETRY.Req", 0b0001, 0b0001, 0, false),
    ("RETRY.Ack", 0b0001, 0b0010, 0, false),
    ("RETRY.Frame", 0b0001, 0b0011, 0, false),
    ("IDE.Idle", 0b0010, 0b0000, 1, true),
    ("IDE.Start", 0b0010, 0b0001, 1, true),
    ("IDE.TMAC", 0b0010, 0b0010, 1, true),
    ("INIT.Param", 0b1100, 0b1000, 0, true),
];

fn kinds() -> impl Iterator<Item = (Control, bool)> {
    KINDS.into_iter().map(|k| (Control::by_name(k.0).expect("a kind of the sheet"), k.3 == 1))
}

fn decoded(unit: Cxl68Unit) -> Control {
    match judge(Dir::Down, unit).decoded[0].kind {
        Cxl68UnitKind::Control(control) => control,
        other => panic!("not a control flit: {other:?}"),
    }
}

#[test]
fn cxl68_ctl_01_p() {
    layout_p::<Llcrd>();
    layout_p::<Retry>();
    layout_p::<Ide>();
    for (control, _) in kinds() {
        let slot = control.to_slot().expect("defaults fit");
        assert_eq!(Control::from_slot(slot), control);
        assert_eq!(control.def().map(|d| d.to_bytes(slot)), Some(slot.to_le_bytes().to_vec()));
    }
}

#[test]
fn cxl68_ctl_01_n() {
    layout_n::<Llcrd>("CXL68-CTL-01");
    layout_n::<Retry>("CXL68-CTL-01");
    layout_n::<Ide>("CXL68-CTL-01");
    let llcrd = Llcrd::default();
    refused(Llcrd { ctl_fmt: 8, ..llcrd }, "ctl_fmt");
    refused(Llcrd { rsp_crd: 16, ..llcrd }, "rsp_crd");
    refused(Llcrd { req_crd: 16, ..llcrd }, "req_crd");
    refused(Llcrd { data_crd: 16, ..llcrd }, "data_crd");
    refused(Llcrd { llctrl: LlCtrl(16), ..llcrd }, "llctrl");
    refused(Llcrd { sub_type: 16, ..llcrd }, "sub_type");
    refused(Llcrd { static0: 1 << 24, ..llcrd }, "static0");
    refused(Llcrd { ack_low: 8, ..llcrd }, "ack_low");
    refused(Llcrd { ack_high: 16, ..llcrd }, "ack_high");
    refused(Retry { sub_type: 16, ..Retry::default() }, "sub_type");
    refused(Ide { payload_mid: 1 << 24, ..Ide::default() }, "payload_mid");
}

#[test]
fn cxl68_ctl_02_p() {
    let names: Vec<&str> = KINDS.iter().map(|k| k.0).collect();
    assert_eq!(Control::NAMES.to_vec(), names);
    for (name, llctrl, sub_type, ctl_fmt, retryable) in KINDS {
        let control = Control::by_name(name).expect("listed");
        let slot = control.to_slot().expect("defaults fit");
        assert_eq!(slot, 1 | ctl_fmt << 5 | llctrl << 32 | sub_type << 36, "{name}");
        assert_eq!(control.name(), name);
        assert_eq!(control.is_retryable(), retryable, "{name}");
        let read = judge(Dir::Up, control_slot(slot));
        read.assert_clean();
        assert_eq!(read.decoded[0].kind, Cxl68UnitKind::Control(control));
        let class = name.split('.').next().expect("a name has two parts");
        assert!(format!("{control:?}").contains(class), "{control:?}");
        assert_eq!(LlCtrl(llctrl as u8).name(), Some(class));
    }
    assert_eq!(Control::by_name("RETRY.Nothing"), None);
}

#[test]
fn cxl68_ctl_02_n() {
    let mut reserved = 0;
    for llctrl in 0..16u128 {
        for sub_type in 0..16u128 {
            if KINDS.iter().any(|k| (k.1, k.2) == (llctrl, sub_type)) {
                continue;
            }
            reserved += 1;
            let slot = 1 | llctrl << 32 | sub_type << 36;
            assert_eq!(Control::from_slot(slot), Control::Reserved(slot));
            assert_eq!(Control::Reserved(slot).to_slot(), Ok(slot));
            assert_eq!(Control::Reserved(slot).name(), "reserved");
            let read = judge(Dir::Up, control_slot(slot));
            assert_eq!(read.rules(), ["CXL68-CTL-02"], "LLCTRL {llctrl:#x} SubType {sub_type:#x}");
            assert_eq!(read.violations()[0].at, At::Byte(6));
            assert!(!Control::static_bits_ok(slot));
        }
    }
    assert_eq!(reserved, 256 - 9);
    // A CTL_FMT that does not belong to the LLCTRL.
    for (name, llctrl, sub_type, own, _) in KINDS {
        for ctl_fmt in (0..8).filter(|f| *f != own) {
            let slot = 1 | ctl_fmt << 5 | llctrl << 32 | sub_type << 36;
            assert_eq!(judge(Dir::Up, control_slot(slot)).rules(), ["CXL68-CTL-05"], "{name} CTL_FMT {ctl_fmt}");
        }
    }
}

#[test]
fn cxl68_ctl_03_p() {
    layout_p::<RetryReq>();
    layout_p::<RetryAck>();
    layout_p::<InitParam>();
    // The payload of each field alone, at its bit of the sheet (payload bit 0 is slot bit 64).
    let at = |control: Control| control.to_slot().expect("fits") >> 64;
    assert_eq!(at(Control::RetryReq(RetryReq { eseq: 0xff, ..RetryReq::default() })), 0xff);
    assert_eq!(at(Control::RetryReq(RetryReq { num_retry: 0x1f, ..RetryReq::default() })), 0x1f << 16);
    assert_eq!(at(Control::RetryReq(RetryReq { num_phy_reinit: 0x1f, ..RetryReq::default() })), 0x1f << 21);
    let ack = RetryAck::default();
    assert_eq!(at(Control::RetryAck(RetryAck { empty: true, ..ack })), 1);
    assert_eq!(at(Control::RetryAck(RetryAck { viral: true, ..ack })), 1 << 1);
    assert_eq!(at(Control::RetryAck(RetryAck { num_retry: 0x1f, ..ack })), 0x1f << 3);
    assert_eq!(at(Control::RetryAck(RetryAck { wr_ptr: 0xff, ..ack })), 0xff << 8);
    assert_eq!(at(Control::RetryAck(RetryAck { eseq: 0xff, ..ack })), 0xff << 16);
    assert_eq!(at(Control::RetryAck(RetryAck { num_free_buf: 0xff, ..ack })), 0xff << 24);
    assert_eq!(at(Control::RetryAck(RetryAck { viral_ld_id: 0xffff, ..ack })), 0xffff << 32);
    assert_eq!(at(Control::InitParam(InitParam { version: 0xf, ..InitParam::default() })), 0xf);
    assert_eq!(at(Control::InitParam(InitParam { wrap: 0xff, ..InitParam::default() })), 0xff << 24);
}

#[test]
fn cxl68_ctl_03_n() {
    layout_n::<RetryReq>("CXL68-CTL-03");
    layout_n::<RetryAck>("CXL68-CTL-03");
    layout_n::<InitParam>("CXL68-CTL-03");
    refused(RetryReq { num_retry: 32, ..RetryReq::default() }, "num_retry");
    refused(RetryReq { num_phy_reinit: 32, ..RetryReq::default() }, "num_phy_reinit");
    refused(RetryAck { num_retry: 32, ..RetryAck::default() }, "num_retry");
    refused(InitParam { version: 16, ..InitParam::default() }, "version");
}

#[test]
fn cxl68_ctl_04_p() {
    for count in 0..=255u8 {
        let mut llcrd = Llcrd::default();
        llcrd.set_full_ack(count);
        assert_eq!(llcrd.full_ack(), count);
        let n = u128::from(count);
        let slot = llcrd.to_bits().expect("fits");
        assert_eq!(slot & 1 << 2, (n >> 3 & 1) << 2, "bit 3 is Ak");
        assert_eq!(slot >> 64, (n & 7) | (n >> 4) << 4, "payload bits 2:0 and 7:4; bit 3 reserved");
        let Control::LlcrdAcknowledge(back) = decoded(control(&Control::LlcrdAcknowledge(llcrd))) else {
            panic!("an LLCRD")
        };
        assert_eq!(back.full_ack(), count);
    }
}

#[test]
fn cxl68_ctl_04_n() {
    for count in 0..=255u8 {
        let mut llcrd = Llcrd::default();
        llcrd.set_full_ack(count);
        let dropped = Llcrd { ak: false, ..llcrd };
        assert_eq!(dropped.full_ack() == count, count & 8 == 0, "{count}");
        assert_eq!(dropped.full_ack(), count & !8);
        // Payload bit 3 is reserved: it is no part of the count.
        assert_eq!(Llcrd { rsvd3: 1, ..llcrd }.full_ack(), count);
    }
}

#[test]
fn cxl68_ctl_05_p() {
    for (control, _) in kinds() {
        let slot = control.to_slot().expect("defaults fit");
        assert!(Control::static_bits_ok(slot));
        judge(Dir::Down, control_slot(slot)).assert_clean();
    }
    assert_eq!(config().static_bit_fault, StaticBitFault::CrcError, "our choice");
}

#[test]
fn cxl68_ctl_05_n() {
    for choice in [StaticBitFault::CrcError, StaticBitFault::FatalInNormal] {
        let config = Cxl68Config { static_bit_fault: choice, ..config() };
        for (control, ide) in kinds() {
            let slot = control.to_slot().expect("defaults fit");
            for bit in (5..8).chain(40..64) {
                let bad = slot ^ 1 << bit;
                let payload = ide && bit >= 40;
                assert_eq!(Control::static_bits_ok(bad), payload, "{} bit {bit}", control.name());
                let unit = control_slot(bad);
                assert!(unit.crc_ok());
                let expected: &[&str] = if payload { &[] } else { &["CXL68-CTL-05"] };
                assert_eq!(read_as(Dir::Down, config, &[unit]).rules(), expected, "{} bit {bit}", control.name());
            }
            assert!(!Control::static_bits_ok(slot & !1), "Type is one of the static bits");
        }
    }
}

#[test]
fn cxl68_ctl_06_p() {
    // Every reserved bit at 1, INIT.Param among them: no event, the same content.
    for (control, _) in kinds() {
        let def = control.def().expect("a listed kind");
        let slot = control.to_slot().expect("defaults fit");
        let reserved = def.fields.iter().filter(|f| f.reserved && f.name != "static0");
        let noisy = reserved.clone().fold(slot, |s, f| s | f.max_raw() << f.lsb);
        let read = judge(Dir::Down, control_slot(noisy));
        read.assert_clean();
        let Cxl68UnitKind::Control(back) = read.decoded[0].kind else { panic!("a control flit") };
        assert_eq!(back.name(), control.name());
        assert_eq!(back.to_slot(), Ok(noisy), "decode keeps the bits");
        for f in def.fields.iter().filter(|f| !f.reserved) {
            assert_eq!(f.extract(noisy), f.extract(slot), "{}.{}", def.name, f.name);
        }
    }
}

#[test]
fn cxl68_ctl_06_n() {
    // One bit at a time: any event is a failure.
    let mut tried = 0;
    for (control, _) in kinds() {
        let def = control.def().expect("a listed kind");
        let slot = control.to_slot().expect("defaults fit");
        for f in def.fields.iter().filter(|f| f.reserved && f.name != "static0") {
            for bit in f.lsb..f.lsb + f.width {
                judge(Dir::Down, control_slot(slot | 1 << bit)).assert_clean();
                tried += 1;
            }
        }
    }
    assert!(tried > 9 * 20, "{tried}");
}

#[test]
fn cxl68_ctl_07_p() {
    for (c, _) in kinds() {
        let unit = control(&c);
        assert_eq!(unit.payload()[16..], [0; 48], "slots 1 to 3 are zero");
        let read = judge(Dir::Up, unit);
        assert_eq!(read.decoded[0].roles, [Cxl68SlotRole::Opaque; 4]);
        read.assert_clean();
    }
}

#[test]
fn cxl68_ctl_07_n() {
    for (control, _) in kinds() {
        let slot = control.to_slot().expect("defaults fit");
        for bit in 128..512 {
            let mut slots = [slot, 0, 0, 0];
            slots[bit / 128] |= 1 << (bit % 128);
            let unit = Cxl68Unit::from_slots(pid::CACHEMEM, &slots);
            let read = judge(Dir::Up, unit);
            read.assert_clean();
            assert_eq!(read.decoded[0].kind, Cxl68UnitKind::Control(control));
            assert_eq!(read.decoded[0].unit, unit, "decode keeps the bits");
            assert!(read.delivered.is_empty());
        }
    }
}

#[test]
fn cxl68_llr_06_p() {
    for llrb_entries in [22, 23, 128, 254, 255] {
        assert_eq!(Cxl68Config { llrb_entries, ..config() }.validate(), Ok(()));
    }
    assert_eq!(config().validate(), Ok(()));
}

#[test]
fn cxl68_llr_06_n() {
    for llrb_entries in [0, 1, 21, 256, u16::MAX] {
        let error = Cxl68Config { llrb_entries, ..config() }.validate().expect_err("outside 22 to 255");
        assert_eq!((error.rule, error.name, error.found), ("CXL68-LLR-06", "llrb_entries", llrb_entries.into()));
        assert!(error.to_string().contains("22 to 255"), "{error}");
    }
}

#[test]
fn cxl68_ide_01_p() {
    layout_p::<Ide>();
    // A MAC at its 96 bits of the slot: 7:0 at 24, the rest from 40 (`cxl-68b` §6.1).
    for bit in 0..96 {
        let mut ide = Ide { sub_type: 2, ..Ide::default() };
        ide.set_payload(1 << bit);
        assert_eq!(ide.payload(), 1 << bit);
        let at = if bit < 8 { 24 + bit } else { 32 + bit };
        let bare = Ide { sub_type: 2, ..Ide::default() }.to_bits().expect("fits");
        assert_eq!(ide.to_bits().expect("fits") ^ bare, 1 << at, "payload bit {bit}");
    }
    // H6 in both directions frames the MAC in bits 127:32.
    for dir in Dir::ALL {
        let h6 = slot::formats(config().revision, dir, 0).iter().find(|f| f.name == "H6").expect("listed");
        assert_eq!((h6.content, h6.code), (SlotContent::Mac, 6));
        assert_eq!(h6.places().len(), 0);
    }
}

#[test]
fn cxl68_ide_01_n() {
    // Whatever the MAC holds, nothing is judged and nothing taken for a message.
    for dir in Dir::ALL {
        for pattern in [u128::MAX, 0x5555_5555_5555_5555_5555_5555_5555_5555, 1 << 32] {
            let mut flit = Flit::new(dir).with(0, "H6", &[]);
            flit.slots[0] = pattern & !0xffff_ffff;
            let read = judge(dir, flit.unit());
            read.assert_clean();
            assert!(read.delivered.is_empty());
            assert_eq!(read.decoded[0].unit.slot(0) >> 32, pattern >> 32);
        }
        for name in ["IDE.Idle", "IDE.Start", "IDE.TMAC"] {
            let bare = Control::by_name(name).and_then(|c| c.to_slot().ok()).expect("listed");
            let payload = ((1u128 << 88) - 1) << 40 | 0xff << 24;
            let read = judge(dir, control_slot(bare | payload));
            read.assert_clean();
            let Cxl68UnitKind::Control(Control::IdeIdle(ide) | Control::IdeStart(ide) | Control::IdeTmac(ide)) =
                read.decoded[0].kind
            else {
                panic!("an IDE flit")
            };
            assert_eq!(ide.payload(), (1 << 96) - 1);
        }
    }
}

/// Request{Active} of CXL.cachemem: message code 8 in byte 1, state 1 and bit 7 in byte 2, instance 2 in byte 3.
const REQUEST_ACTIVE: u32 = u32::from_le_bytes([0x00, 0x08, 0x81, 0x02]);

#[test]
fn cxl68_alm_01_p() {
    let unit = almp(REQUEST_ACTIVE);
    let dword = [0x00, 0x08, 0x81, 0x02];
    assert_eq!(unit.0[..2], [0xcc, 0xcc]);
    assert_eq!(unit.0[2..18], [dword; 4].concat());
    assert_eq!(unit.0[18..], [0; 50]);
    let read = judge(Dir::Down, unit);
    read.assert_clean();
    assert_eq!(read.decoded[0].kind, Cxl68UnitKind::Almp);
    assert_eq!(read.decoded[0].crc_ok, None, "no link-layer CRC");
    assert_eq!(oracle(Dir::Down, true, &[unit]).expect("legal")[0].messages[0].raw, u128::from(REQUEST_ACTIVE));
}

#[test]
fn cxl68_alm_01_n() {
    for bit in 0..512 {
        let mut unit = almp(REQUEST_ACTIVE);
        unit.0[2 + bit / 8] ^= 1 << (bit % 8);
        let rules = judge(Dir::Down, unit).rules();
        let expected = if bit < 32 { 3 } else { 1 };
        // A changed first copy differs from the other three; its own codes may be wrong besides.
        assert_eq!(rules.iter().filter(|r| **r == "CXL68-ALM-01").count(), expected, "bit {bit}: {rules:?}");
        assert!(oracle(Dir::Down, true, &[unit]).is_err());
    }
}

/// `cxl-68b` §8.1, 2.0 meaning: code, name, legal as Request, legal as Status.
const STATES: [(u128, &str, bool, bool); 9] = [
    (0b0000, "Reset", false, true),
    (0b0001, "Active", true, true),
    (0b0011, "Dapm", true, false),
    (0b0100, "L1_0", true, true),
    (0b0101, "L1_1", true, true),
    (0b0110, "L1_2", true, true),
    (0b0111, "L1_3", true, true),
    (0b1000, "L2", true, true),
    (0b1011, "Retrain", false, true),
];

fn almp_of(state: u128, request: bool, instance: u128) -> Cxl68Unit {
    let bits = Almp::default().to_bits().expect("fits") & !(0xf << 16) & !(1 << 23) & !(0xf << 24);
    almp((bits | state << 16 | u128::from(request) << 23 | instance << 24) as u32)
}

#[test]
fn cxl68_alm_02_p() {
    layout_p::<Almp>();
    assert_eq!(VlsmState::TABLE.codes.len(), STATES.len());
    for (code, name, as_request, as_status) in STATES {
        assert_eq!(VlsmState::TABLE.name_of(code), Some(name));
        for (request, legal) in [(true, as_request), (false, as_status)] {
            for (instance, who) in [(1, "Io"), (2, "Cachemem")] {
                assert_eq!(VlsmInstance::TABLE.name_of(instance), Some(who));
                let read = judge(Dir::Up, almp_of(code, request, instance));
                assert_eq!(read.rules().is_empty(), legal, "{name} request {request}: {:?}", read.violations());
            }
        }
    }
}

#[test]
fn cxl68_alm_02_n() {
    layout_n::<Almp>("CXL68-ALM-02");
    refused(Almp { state: VlsmState(16), ..Almp::default() }, "state");
    refused(Almp { instance_id: VlsmInstance(16), ..Almp::default() }, "instance_id");
    let rules = |unit| judge(Dir::Up, unit).rules();
    for code in (0..16).filter(|c| STATES.iter().all(|s| s.0 != *c)) {
        for request in [false, true] {
            assert_eq!(rules(almp_of(code, request, 2)), ["CXL68-ALM-02"], "state {code:#x}");
        }
    }
    // Request and Status of states that travel in the other kind only.
    for (code, name, as_request, as_status) in STATES {
        for (request, legal) in [(true, as_request), (false, as_status)] {
            if !legal {
                assert_eq!(rules(almp_of(code, request, 2)), ["CXL68-ALM-02"], "{name} request {request}");
            }
        }
    }
    for instance in (0..16).filter(|i| ![1, 2].contains(i)) {
        assert_eq!(rules(almp_of(1, true, instance)), ["CXL68-ALM-02"], "instance {instance}");
    }
    for code in (0..=255).filter(|c| *c != 8) {
        let word = REQUEST_ACTIVE & !0xff00 | code << 8;
        assert_eq!(rules(almp(word)), ["CXL68-ALM-02"], "message code {code}");
    }
    for bit in (0..8).chain(20..23).chain(28..32) {
        assert_eq!(rules(almp(REQUEST_ACTIVE | 1 << bit)), ["CXL68-ALM-02"], "reserved bit {bit}");
    }
}
