//! A bridge with registers that is watched: what it answers to reads of them, and what it does behind writes to them.

use super::scoreboard::found;
use scalepool::conversion::config::{BridgeHalf, ReferenceConfig};
use scalepool::conversion::message::BridgeMessage;
use scalepool::conversion::model::{BridgeEvent, BridgePoint};
use serde_json::{Value, json};

/// First address of the registers.
const CONTROL: u64 = 0x4000_0000;

fn form(control: Value) -> Value {
    let window = json!({"class": "MN", "base": 0, "size": 2_097_152, "out_base": 0});
    json!({"protocol": "ualink", "direction": "outbound", "windows": [window], "cache": {"capacity_bytes": 1_048_576}, "control": control})
}

fn watched() -> ReferenceConfig {
    ReferenceConfig::from_json(&form(json!({"base": CONTROL, "ports": ["MN"]}))).expect("it can be")
}

fn event(point: BridgePoint, message: &Value) -> BridgeEvent {
    BridgeEvent { point, port: 0, message: BridgeMessage::from_json(message).expect("a message") }
}

fn line(registers: [u64; 8]) -> String {
    registers.iter().flat_map(|register| register.to_le_bytes()).map(|byte| format!("{byte:02x}")).collect()
}

fn write(address: u64, tag: u64, data: &str) -> [BridgeEvent; 2] {
    let fields = json!({"cmd": "WriteFull", "len": 15, "address": address, "tag": tag, "src": 0});
    let answer = json!({"rdwr": "Write", "status": "OKAY", "tag": tag});
    [
        event(BridgePoint::Request, &json!({"layout": "ualink.tl_req", "fields": fields, "data": [data]})),
        event(BridgePoint::Response, &json!({"layout": "ualink.tl_rsp", "fields": answer})),
    ]
}

fn read(address: u64, tag: u64, data: &str) -> [BridgeEvent; 2] {
    let fields = json!({"cmd": "Read", "len": 15, "address": address, "tag": tag, "src": 0});
    let answer = json!({"rdwr": "Read", "status": "OKAY", "tag": tag, "last": 1});
    [
        event(BridgePoint::Request, &json!({"layout": "ualink.tl_req", "fields": fields})),
        event(BridgePoint::Response, &json!({"layout": "ualink.tl_rsp", "fields": answer, "data": [data]})),
    ]
}

/// A store that is flushed, and what the registers say before and behind the Cmp of its line: 1 in `done`.
fn flushed(done: [u64; 2]) -> Vec<BridgeEvent> {
    let data = "5a".repeat(64);
    let registers = |done| line([1, 0, 512, 0, done, 0, 0, 0]);
    let write_back = json!({"opcode": "MemWr", "snp_type": "NoOp", "meta_field": "Meta0State", "meta_value": "Any", "tag": 9, "address": 64});
    let cmp = json!({"layout": "cxl256.s2m_ndr", "fields": {"opcode": "Cmp", "tag": 9}});
    let mut events = [write(64, 1, &data), write(CONTROL, 2, &line([1, 0, 512, 1, 0, 0, 0, 0]))].concat();
    events.push(event(BridgePoint::Sent, &json!({"layout": "cxl256.m2s_rwd", "fields": write_back, "data": data})));
    events.extend(read(CONTROL, 3, &registers(done[0])));
    events.push(event(BridgePoint::Answer, &cmp));
    events.extend(read(CONTROL, 4, &registers(done[1])));
    events
}

#[test]
fn brg_mng_01_p2() {
    assert_eq!(found(watched(), &flushed([0, 1])), [""; 0]);
}

#[test]
fn brg_mng_01_n2() {
    for wrong in [[1, 1], [0, 0]] {
        assert_eq!(found(watched(), &flushed(wrong)).first(), Some(&"BRG-INT-02"), "{wrong:?}");
    }
}

/// A window that software writes: it reads as written, and leads nowhere before its commit.
fn shadowed(read_back: u64) -> Vec<BridgeEvent> {
    let window = [0, 0x20_0000, 0x100_0000, 0x11, 0xffff_ffff_ffff, 0, 0, 0];
    let shown = [read_back, window[1], window[2], window[3], window[4], 0, 0, 0];
    let memory = json!({"opcode": "MemRd", "snp_type": "NoOp", "meta_field": "NoOp", "tag": 9, "address": 64});
    let mut events = [write(CONTROL + 0x800, 1, &line(window)), read(CONTROL + 0x800, 2, &line(shown))].concat();
    let data = "5a".repeat(64);
    let [request, response] = read(64, 3, &data);
    let came = json!({"layout": "cxl256.s2m_drs", "fields": {"opcode": "MemData", "tag": 9}, "data": data});
    events.push(request);
    events.push(event(BridgePoint::Sent, &json!({"layout": "cxl256.m2s_req", "fields": memory})));
    events.extend([event(BridgePoint::Answer, &came), response]);
    events
}

#[test]
fn brg_reg_02_p2() {
    assert_eq!(found(watched(), &shadowed(0)), [""; 0]);
}

#[test]
fn brg_reg_02_n2() {
    assert_eq!(found(watched(), &shadowed(0x1000)).first(), Some(&"BRG-INT-02"));
}

#[test]
fn ports_are_told_by_their_class() {
    let read = ReferenceConfig::from_json(&form(json!({"base": "0x40000000", "ports": ["MN", "MC", "MC", "IO"]})));
    let BridgeHalf::Outbound(half) = read.expect("it can be").half else { panic!("an outbound half") };
    let control = half.control.expect("registers");
    assert_eq!((control.base, control.ports, control.plain_ports), (CONTROL, 4, 1));
    assert_eq!((control.first_host, control.io_from, control.hairpin), (3, 3, None));
}

#[test]
fn registers_that_cannot_be_are_refused_with_their_place() {
    for (control, at) in [
        (json!({"base": 0x1000, "ports": ["MN"]}), "control.base"),
        (json!({"base": 0x4000_0100, "ports": ["MN"]}), "control.base"),
        (json!({"ports": ["MN"]}), "control.base"),
        (json!({"base": CONTROL, "ports": ["MC", "MN"]}), "control.ports"),
        (json!({"base": CONTROL, "ports": []}), "control.ports"),
        (json!({"base": CONTROL, "ports": ["HP"]}), "control.ports"),
    ] {
        let error = ReferenceConfig::from_json(&form(control.clone())).err().map(|error| error.to_string());
        assert!(error.as_ref().is_some_and(|error| error.contains(at)), "{control}: {error:?}");
    }
}
