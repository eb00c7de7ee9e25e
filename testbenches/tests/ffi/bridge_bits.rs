//! Bridges without JSON: their messages as bits and bytes, their findings as texts.

use crate::calls::{open, start};
use scalepool_capi::bridge::*;
use scalepool_capi::bridge_bits::*;
use scalepool_capi::link::typed::SP_NO_LAYOUT;
use scalepool_capi::message::*;
use scalepool_capi::status::*;
use scalepool_protocols::cxl::cxl256::code::MetaField;
use scalepool_protocols::cxl::cxl256::message::{M2sReq, S2mDrs};
use scalepool_protocols::nvlink::{NvlHeader, Op};
use scalepool_protocols::ualink::code::ReqCmd;
use scalepool_protocols::ualink::field::TlReq;
use scalepool_protocols::wire::Wire;
use serde_json::{Value, json};

/// The number of a layout.
fn layout(name: &str) -> u32 {
    let mut number = 0;
    assert_eq!(unsafe { sp_layout_find(start(name), name.len(), &mut number) }, SP_OK, "{name}");
    number
}

/// A message as the typed calls have it: layout, bits, data, enables, extra.
type Typed = (u32, Vec<u8>, Vec<u8>, Vec<u8>, u64);

/// What the model makes as bits is what a scoreboard takes as bits, for every protocol at its ports; TLPs are those of flit mode.
#[test]
fn bridges_take_and_give_bits() {
    open();
    let pass = |bridge, point, message: &Typed| {
        let (layout, bits, data, enables, extra) = message;
        let [bits, data, enables] = [bits, data, enables].map(|bytes| (bytes.as_ptr(), bytes.len()));
        unsafe {
            sp_bridge_pass_bits(bridge, point, 0, *layout, bits.0, bits.1, data.0, data.1, enables.0, enables.1, *extra)
        }
    };
    let next = |bridge| {
        let (mut point, mut port, mut layout, mut extra) = (9, 9, 0, 0);
        let (mut bits, mut data, mut enables) = (vec![0; 32], vec![0; 4352], vec![0; 32]);
        let mut lengths = [0; 3];
        let status = unsafe {
            sp_bridge_next_bits(
                bridge,
                &mut point,
                &mut port,
                &mut layout,
                bits.as_mut_ptr(),
                bits.len(),
                &mut lengths[0],
                data.as_mut_ptr(),
                data.len(),
                &mut lengths[1],
                enables.as_mut_ptr(),
                enables.len(),
                &mut lengths[2],
                &mut extra,
            )
        };
        bits.truncate(lengths[0]);
        data.truncate(lengths[1]);
        enables.truncate(lengths[2]);
        (status, point, (layout, bits, data, enables, extra))
    };
    let new = |class: &str, protocol: &str, watches| {
        let config = format!(
            r#"{{"protocol":"{protocol}","direction":"outbound","entries":64,"windows":[{{"class":"{class}","base":0,"size":2097152,"out_base":4096}}]}}"#
        );
        let mut bridge = 0;
        assert_eq!(unsafe { sp_bridge_new(start(&config), config.len(), watches, &mut bridge) }, SP_OK, "{config}");
        bridge
    };
    let encoded = |form: Value| {
        let text = form.to_string();
        let model = new("MN", if text.contains("nvlink") { "nvlink" } else { "ualink" }, 0);
        assert_eq!(unsafe { sp_bridge_pass(model, SP_BRIDGE_REQUEST, 0, start(&text), text.len()) }, SP_OK, "{text}");
        let made = next(model).2;
        assert_eq!(sp_bridge_destroy(model), SP_OK);
        made
    };
    // Reads of 64 bytes at 0x40, by their bits.
    let asked = |of: &str| -> Typed {
        let (def, bits): (_, u128) = match of {
            "ualink" => {
                let request =
                    TlReq { cmd: ReqCmd::Read, address: 0x40, len: 15, attr: 0xff, tag: 5, ..TlReq::default() };
                (TlReq::DEF, request.to_bits().expect("it fits"))
            }
            _ => {
                let read = NvlHeader { op: Op::READ, size: 3, address: 0x40, tag: 5, ..NvlHeader::default() };
                (NvlHeader::DEF, read.to_bits().expect("it fits"))
            }
        };
        let mut bits = def.to_bytes(bits);
        bits.resize(if of == "ualink" { 16 } else { 32 }, 0);
        (layout(def.name), bits, Vec::new(), Vec::new(), 0)
    };
    let json = json!({"layout": "ualink.tl_req", "fields": {"cmd": "Read", "address": "0x40", "len": 15, "tag": 5}});
    let by_json = encoded(json);
    for protocol in ["ualink", "nvlink"] {
        let (model, board) = (new("MN", protocol, 0), new("MN", protocol, 1));
        let request = asked(protocol);
        assert_eq!(
            (pass(model, SP_BRIDGE_REQUEST, &request), pass(board, SP_BRIDGE_REQUEST, &request)),
            (SP_OK, SP_OK)
        );
        let (status, point, sent) = next(model);
        assert_eq!((status, point, &sent), (SP_OK, SP_BRIDGE_SENT, &by_json), "{protocol}");
        assert_eq!((next(model).0, next(board).0), (SP_EMPTY, SP_EMPTY));
        let mut other = sent.clone();
        other.1[9] ^= 1;
        assert_eq!((pass(board, SP_BRIDGE_SENT, &other), pass(board, SP_BRIDGE_SENT, &sent)), (SP_FINDING, SP_FINDING));
        let mut message = 0;
        let mut texts = [[0; 400]; 3];
        let mut lengths = [0; 3];
        let [rule, found, expected] = texts.each_mut().map(|text| text.as_mut_ptr());
        let [rule_length, found_length, expected_length] = lengths.each_mut();
        let status = unsafe {
            sp_bridge_finding_fields(
                board,
                &mut message,
                rule,
                400,
                rule_length,
                found,
                400,
                found_length,
                expected,
                400,
                expected_length,
            )
        };
        let rule: String = texts[0][..lengths[0]].iter().map(|byte| *byte as u8 as char).collect();
        assert_eq!((status, message, rule.trim_end_matches('\0')), (SP_OK, 1, "BRG-INT-02"), "{protocol}");
        let answer = S2mDrs {
            meta_field: MetaField::NoOp,
            tag: M2sReq::from_bits(M2sReq::DEF.from_bytes(&sent.1).expect("a header")).tag,
            ..S2mDrs::default()
        };
        let answer = (
            layout(S2mDrs::DEF.name),
            S2mDrs::DEF.to_bytes(answer.to_bits().expect("it fits")),
            vec![0x5a; 64],
            vec![],
            0,
        );
        assert_eq!((pass(model, SP_BRIDGE_ANSWER, &answer), pass(board, SP_BRIDGE_ANSWER, &answer)), (SP_OK, SP_OK));
        let (status, point, response) = next(model);
        assert_eq!((status, point, &response.2), (SP_OK, SP_BRIDGE_RESPONSE, &vec![0x5a; 64]), "{protocol}");
        assert_eq!((pass(board, SP_BRIDGE_RESPONSE, &response), sp_bridge_finish(board)), (SP_OK, SP_OK), "{protocol}");
        assert_eq!((sp_bridge_destroy(model), sp_bridge_destroy(board)), (SP_OK, SP_OK));
    }
    // A read of class IO leaves as a TLP.
    let (model, board) = (new("IO", "ualink", 0), new("IO", "ualink", 1));
    let request = asked("ualink");
    assert_eq!((pass(model, SP_BRIDGE_REQUEST, &request), pass(board, SP_BRIDGE_REQUEST, &request)), (SP_OK, SP_OK));
    let (status, point, tlp) = next(model);
    assert_eq!((status, point, tlp.0), (SP_OK, SP_BRIDGE_SENT, SP_NO_LAYOUT));
    assert_eq!((&tlp.1, pass(board, SP_BRIDGE_SENT, &tlp)), (&Vec::new(), SP_OK));
    let short = (SP_NO_LAYOUT, Vec::new(), vec![0; 3], Vec::new(), 0);
    assert_eq!(pass(model, SP_BRIDGE_ANSWER, &short), SP_ERR_INPUT, "three bytes are no TLP");
    assert_eq!((sp_bridge_destroy(model), sp_bridge_destroy(board)), (SP_OK, SP_OK));
}
