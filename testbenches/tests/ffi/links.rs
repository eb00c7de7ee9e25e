//! Link ends: two of them back to back, a twin that is compared, one that watches.

use crate::calls::{last_error, open, start, text_of};
use scalepool::ffi::link::*;
use scalepool::ffi::status::*;
use scalepool::ffi::stream::{SP_DOWN, SP_UP};
use serde_json::{Value, json};
use std::ptr::{null, null_mut};

pub const PROTOCOLS: [&str; 6] = ["cxl-68b", "cxl-256b", "cxl-256b-lopt", "cxl-256b-pbr", "nvlink", "ualink"];

pub fn link(protocol: &str, dir: u32, config: &str, mode: u32) -> (i32, u64) {
    let mut link = 0;
    let config = (start(config), config.len());
    (unsafe { sp_link_new(start(protocol), protocol.len(), dir, config.0, config.1, mode, &mut link) }, link)
}

pub fn sample(link: u64) -> Option<Vec<u8>> {
    let (mut unit, mut length) = (vec![0; 640], 0);
    match unsafe { sp_link_sample(link, unit.as_mut_ptr(), unit.len(), &mut length) } {
        SP_OK => Some(unit[..length].to_vec()),
        status => {
            assert_eq!(status, SP_EMPTY);
            None
        }
    }
}

pub fn drive(link: u64, port: u32, unit: &[u8]) {
    assert_eq!(unsafe { sp_link_drive(link, port, unit.as_ptr(), unit.len()) }, SP_OK, "{}", last_error());
}

pub fn form(ask: impl FnMut(*mut std::ffi::c_char, usize, *mut usize) -> i32) -> Option<Value> {
    let (status, text) = text_of(ask);
    (status == SP_OK).then(|| serde_json::from_str(&text).expect("JSON"))
}

pub fn event(link: u64) -> Option<Value> {
    form(|t, c, l| unsafe { sp_link_event(link, t, c, l) })
}

pub fn take(link: u64) -> Option<Value> {
    form(|t, c, l| unsafe { sp_link_take(link, t, c, l) })
}

pub fn state(link: u64) -> Value {
    form(|t, c, l| unsafe { sp_link_state(link, t, c, l) }).expect("there is always one")
}

pub fn write(protocol: &str) -> Value {
    let layout = match protocol {
        "cxl-68b" => "cxl68.m2s_rwd",
        "cxl-256b-pbr" => "cxlpbr.m2s_rwd",
        "nvlink" => return json!({"op": "WRITE_NONPOSTED", "tag": 5, "address": "0x1000", "data": "5a".repeat(64)}),
        "ualink" => return json!({"upper": "00".repeat(32)}),
        _ => "cxl256.m2s_rwd",
    };
    json!({"layout": layout, "fields": {"opcode": "MemWr", "tag": 5, "address": 4096}, "data": "5a".repeat(64)})
}

/// Two active ends beside two passive ones. `spoil` may change a unit on its way down.
fn run(protocol: &str, spoil: impl Fn(u64, &mut Vec<u8>)) -> ([u64; 2], [u64; 2]) {
    let both = |mode| {
        [SP_DOWN, SP_UP].map(|dir| link(protocol, dir, "", mode)).map(|(status, link)| {
            assert_eq!(status, SP_OK, "{}", last_error());
            link
        })
    };
    let (ends, watchers) = (both(SP_ACTIVE), both(SP_PASSIVE));
    let message = write(protocol).to_string();
    assert_eq!(unsafe { sp_link_send(ends[0], start(&message), message.len()) }, SP_OK, "{}", last_error());
    let mut units: [Vec<Vec<u8>>; 2] = Default::default();
    for clock in 0..400 {
        let mut sent = [0, 1].map(|n| {
            assert_eq!(sp_link_step(ends[n], 1), SP_OK, "{}", last_error());
            sample(ends[n])
        });
        for n in [0, 1] {
            if let Some(unit) = &mut sent[n] {
                drive(watchers[n], SP_TX, unit);
                units[n].push(unit.clone());
                if n == 0 {
                    spoil(clock, unit);
                }
                drive(ends[1 - n], SP_RX, unit);
            }
            assert_eq!(sp_link_step(watchers[n], 1), SP_OK);
            if let Some(unit) = &sent[n] {
                drive(watchers[1 - n], SP_RX, unit);
            }
        }
    }
    let arrived = take(ends[1]).expect("the message comes");
    if protocol == "ualink" {
        assert_eq!(arrived["upper"], "00".repeat(32));
        return (ends, watchers);
    }
    assert_eq!(arrived["data"], "5a".repeat(64), "{protocol}");
    let key = if protocol == "nvlink" { &arrived } else { &arrived["fields"] };
    assert_eq!((key["tag"].as_u64(), key["address"].as_u64()), (Some(5), Some(4096)), "{protocol}");
    (ends, watchers)
}

pub fn destroy(links: impl IntoIterator<Item = u64>) {
    links.into_iter().for_each(|link| assert_eq!(sp_link_destroy(link), SP_OK));
}

#[test]
fn a_message_goes_through_and_nobody_complains() {
    open();
    for protocol in PROTOCOLS {
        let (ends, watchers) = run(protocol, |_, _| ());
        for link in ends.into_iter().chain(watchers) {
            assert_eq!(event(link), None, "{protocol}");
        }
        let state = state(ends[0]);
        assert_eq!((&state["up"], &state["halted"]), (&json!(true), &Value::Null), "{protocol}");
        destroy(ends.into_iter().chain(watchers));
    }
}

/// A bad CRC is found by the watcher of the receiving end, and the ends repair it.
#[test]
fn a_damaged_unit_is_reported_and_repaired() {
    open();
    let spoil = |clock: u64, unit: &mut Vec<u8>| {
        if clock == 4 {
            let last = unit.len() - 16;
            unit[last..].iter_mut().for_each(|byte| *byte ^= 0xff);
        }
    };
    for (protocol, rule) in [("cxl-68b", "CXL68-CRC-01"), ("cxl-256b", "CXL256-"), ("nvlink", "NVL-CRC-01")] {
        let (ends, watchers) = run(protocol, spoil);
        let first = event(watchers[1]).unwrap_or_default();
        assert!(first["rule"].as_str().is_some_and(|r| r.starts_with(rule)), "{protocol}: {first}");
        assert_eq!(first["port"], "rx", "{protocol}");
        assert_eq!(event(watchers[0]), None, "{protocol}: what was sent was good");
        destroy(ends.into_iter().chain(watchers));
    }
}

/// The twin of a sender says the same, bit for bit, until one is changed.
#[test]
fn a_twin_is_compared() {
    open();
    for protocol in PROTOCOLS {
        let [(_, rtl), (_, twin)] = [link(protocol, SP_DOWN, "", SP_ACTIVE), link(protocol, SP_DOWN, "", SP_ACTIVE)];
        assert_eq!((sp_link_step(rtl, 8), sp_link_step(twin, 8)), (SP_OK, SP_OK));
        let expect = |unit: &[u8], mask: *const u8| unsafe { sp_link_expect(twin, unit.as_ptr(), mask, unit.len()) };
        let mut units = std::iter::from_fn(|| sample(rtl));
        assert_eq!(expect(&units.next().expect("a unit"), null()), SP_OK, "{protocol}");
        let mut wrong = units.next().expect("a unit");
        let last = wrong.len() - 1;
        wrong[last] ^= 1;
        assert_eq!(expect(&wrong, null()), SP_FINDING, "{protocol}");
        assert!(last_error().starts_with(&format!("unit 1, byte {last}: found")), "{}", last_error());
        let mut masked = units.next().expect("a unit");
        let mut mask = vec![0xff; masked.len()];
        (masked[last], mask[last]) = (masked[last] ^ 1, 0xfe);
        assert_eq!(expect(&masked, mask.as_ptr()), SP_OK, "{protocol}");
        assert_eq!((&state(twin)["compared"], &state(twin)["mismatches"]), (&json!(3), &json!(1)));
        assert_eq!((sp_link_reset(twin), &state(twin)["compared"]), (SP_OK, &json!(0)));
        assert_eq!(expect(&masked, null()), SP_EMPTY);
        destroy([rtl, twin]);
    }
}

#[test]
fn what_an_end_refuses() {
    open();
    assert_eq!(link("ualinc", SP_UP, "", SP_ACTIVE).0, SP_ERR_INPUT);
    assert_eq!(link("cxl-68b", SP_UP, "", 2).0, SP_ERR_RANGE);
    for config in ["{", "[]", "{\"buffer\":1}", "{\"buffers\":0}", "{\"classes\":\"io\"}", "{\"selective_nak\":true}"] {
        assert_eq!(link("cxl-68b", SP_UP, config, SP_ACTIVE).0, SP_ERR_INPUT, "{config}");
    }
    let config = "{\"buffers\":8,\"classes\":\"mem\",\"retry_entries\":64,\"max_num_retry\":3}";
    let (_, active) = link("cxl-68b", SP_DOWN, config, SP_ACTIVE);
    let (_, passive) = link("cxl-68b", SP_DOWN, "{\"reaction_flits\":9}", SP_PASSIVE);
    let unit = [0u8; 68];
    let drive = |link, port, length| unsafe { sp_link_drive(link, port, unit.as_ptr(), length) };
    assert_eq!(drive(active, SP_TX, 68), SP_ERR_KIND);
    assert_eq!((drive(active, SP_RX, 67), drive(active, 2, 68)), (SP_ERR_RANGE, SP_ERR_RANGE));
    assert_eq!(unsafe { sp_link_sample(passive, null_mut(), 0, &mut 0) }, SP_ERR_KIND);
    for message in [
        json!({"layout": "cxl68.s2m_ndr"}),
        json!({"layout": "cxl256.m2s_req"}),
        json!({"layout": "cxl68.m2s_rwd"}),
        json!({"layout": "cxl68.m2s_req", "be": 1}),
        json!({"layout": "cxl68.m2s_rwd", "data": "00"}),
    ] {
        let text = message.to_string();
        assert_eq!(unsafe { sp_link_send(active, start(&text), text.len()) }, SP_ERR_INPUT, "{text}");
    }
    assert_eq!(sp_link_step(active, SP_MAX_STEPS + 1), SP_ERR_RANGE);
    assert_eq!((sp_link_train(active, 0), sp_link_step(active, 9), sample(active)), (SP_OK, SP_OK, None));
    assert_eq!((sp_link_train(active, 1), sp_link_train(active, 2)), (SP_OK, SP_ERR_RANGE));
    destroy([active, passive]);
}
