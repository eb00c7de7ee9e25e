//! Link ends that judge transactions: watchers of both ends of a link with bit errors, and the ends themselves.

use crate::calls::{last_error, open, start};
use crate::links::{destroy, drive, event, link, sample, state, take};
use scalepool_capi::link::*;
use scalepool_capi::status::*;
use scalepool_capi::stream::{SP_DOWN, SP_UP};
use scalepool_protocols::ualink::code::{RdWr, ReqCmd};
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::field::{TlReq, TlRsp};
use serde_json::{Value, json};

const CONFIG: &str = "{\"transactions\":\"hdm-h\",\"all_writers_seen\":true,\"answer_flits\":400}";

fn send(end: u64, message: &Value) -> i32 {
    let text = message.to_string();
    unsafe { sp_link_send(end, start(&text), text.len()) }
}

/// What a device answers to a request; the fields are those of the request.
type Answers = fn(&str, &Value) -> Vec<Value>;

fn drs(family: &str, tag: u64, data: &str) -> Value {
    let fields = json!({"opcode": "MemData", "meta_field": "NoOp", "tag": tag});
    json!({"layout": format!("{family}.s2m_drs"), "fields": fields, "data": data.repeat(64)})
}

fn ndr(family: &str, opcode: &str, tag: u64) -> Value {
    let fields = json!({"opcode": opcode, "meta_field": "NoOp", "tag": tag});
    json!({"layout": format!("{family}.s2m_ndr"), "fields": fields})
}

fn good(family: &str, request: &Value) -> Vec<Value> {
    let tag = request["tag"].as_u64().expect("a tag");
    if request["opcode"] == "MemWr" { vec![ndr(family, "Cmp", tag)] } else { vec![drs(family, tag, "5a")] }
}

/// A host writes a line and reads it, a device answers. What is told by host, device, and the watchers of both, but for the units that were
/// damaged on their way.
fn write_and_read(protocol: &str, answers: Answers) -> [Vec<Value>; 4] {
    let family = if protocol == "cxl-68b" { "cxl68" } else { "cxl256" };
    let active = CONFIG.replace("}", ",\"timeout_flits\":100}");
    let all = [(&active[..], SP_ACTIVE), (CONFIG, SP_PASSIVE)]
        .map(|(config, mode)| [SP_DOWN, SP_UP].map(|dir| link(protocol, dir, config, mode).1));
    let (ends, watchers) = (all[0], all[1]);
    let mut found: [Vec<Value>; 4] = Default::default();
    for clock in 0..1300_usize {
        if clock == 100 {
            let fields = json!({"opcode": "MemWr", "tag": 1, "address": 4096, "meta_value": "Any"});
            let write = json!({"layout": format!("{family}.m2s_rwd"), "fields": fields, "data": "5a".repeat(64)});
            assert_eq!(send(ends[0], &write), SP_OK, "{}", last_error());
        }
        if clock == 400 {
            let fields = json!({"opcode": "MemRd", "tag": 2, "address": 4096, "meta_field": "NoOp"});
            assert_eq!(send(ends[0], &json!({"layout": format!("{family}.m2s_req"), "fields": fields})), SP_OK);
        }
        let mut sent = [None, None];
        for n in [0, 1] {
            assert_eq!(sp_link_step(ends[n], 1), SP_OK, "{}", last_error());
            sent[n] = sample(ends[n]);
            while let Some(message) = take(ends[n]) {
                if n == 1 {
                    answers(family, &message["fields"])
                        .iter()
                        .for_each(|answer| assert_eq!(send(ends[1], answer), SP_OK));
                }
            }
        }
        for n in [0, 1] {
            if let Some(unit) = &mut sent[n] {
                drive(watchers[n], SP_TX, unit);
                if (clock + 7 * n) % 23 == 11 {
                    unit[20 + clock % 30] ^= 0x55;
                    unit[60] ^= 0x0f;
                }
                drive(ends[1 - n], SP_RX, unit);
            }
        }
        for n in [0, 1] {
            assert_eq!(sp_link_step(watchers[n], 1), SP_OK);
            if let Some(unit) = &sent[1 - n] {
                drive(watchers[n], SP_RX, unit);
            }
        }
        for (n, judge) in ends.into_iter().chain(watchers).enumerate() {
            found[n].extend(std::iter::from_fn(|| event(judge)).filter(|event| event["by"] != "line"));
        }
    }
    for (n, judge) in ends.into_iter().chain(watchers).enumerate() {
        let status = sp_link_finish(judge);
        let last: Vec<Value> = std::iter::from_fn(|| event(judge)).collect();
        assert_eq!(status, if last.is_empty() { SP_OK } else { SP_FINDING });
        assert_eq!((sp_link_finish(judge), event(judge)), (SP_OK, None), "each is told once");
        found[n].extend(last);
    }
    destroy(ends.into_iter().chain(watchers));
    found
}

#[test]
fn a_wrong_answer_is_found_at_both_ends_and_by_both_watchers() {
    open();
    let wrong: [(&str, u64, &str, Answers); 7] = [
        ("", 0, "", good),
        ("TXN-TAG-03", 2, "DRS MemData of 64 B with tag 0x2", |family, request| {
            [good(family, request), if request["tag"] == 2 { good(family, request) } else { vec![] }].concat()
        }),
        ("TXN-TAG-02", 0x102, "with tag 0x102", |family, request| {
            let also = if request["tag"] == 2 { vec![drs(family, 0x102, "5a")] } else { vec![] };
            [good(family, request), also].concat()
        }),
        ("TXN-ANS-01", 1, "DRS MemData of 64 B with tag 0x1", |family, request| {
            let before = if request["tag"] == 1 { vec![drs(family, 1, "5a")] } else { vec![] };
            [before, good(family, request)].concat()
        }),
        ("TXN-ANS-03", 1, "NDR CmpE", |family, request| match request["tag"] == 1 {
            true => vec![ndr(family, "CmpE", 1)],
            false => good(family, request),
        }),
        ("TXN-DAT-01", 2, "0x5b in byte 0", |family, request| match request["tag"] == 2 {
            true => vec![drs(family, 2, "5b")],
            false => good(family, request),
        }),
        ("TXN-END-02", 2, "no answer in 400 flit clocks to MemRd", |family, request| match request["tag"] == 2 {
            true => vec![],
            false => good(family, request),
        }),
    ];
    for protocol in ["cxl-68b", "cxl-256b"] {
        for (rule, tag, said, answers) in wrong {
            let found = write_and_read(protocol, answers);
            for (n, found) in found.iter().enumerate() {
                if rule.is_empty() {
                    assert_eq!(found, &[] as &[Value], "{protocol}, judge {n}");
                    continue;
                }
                let [event] = &found[..] else { panic!("{protocol} {rule}, judge {n}: {found:#?}") };
                let place = if n % 2 == 0 { ("rx", "peer") } else { ("tx", "end") };
                let at = (&event["port"], &event["by"]);
                assert_eq!((&event["rule"], at), (&json!(rule), (&json!(place.0), &json!(place.1))), "{n} {event:#}");
                assert_eq!(event["tag"], tag, "{event:#}");
                assert!(event["found"].as_str().is_some_and(|text| text.contains(said)), "{event:#}");
            }
        }
    }
}

/// What the watcher of a device says of five lines that are written back to back and read, when the unit with this number behind the first
/// write is damaged on its way to the device.
fn five_lines_with_damage(damaged: u64) -> Vec<Value> {
    let active = CONFIG.replace("}", ",\"timeout_flits\":100}");
    let ends = [SP_DOWN, SP_UP].map(|dir| link("cxl-68b", dir, &active, SP_ACTIVE).1);
    let watcher = link("cxl-68b", SP_UP, CONFIG, SP_PASSIVE).1;
    let (mut found, mut number, mut read) = (Vec::new(), 0, 0);
    for clock in 0..400 {
        for n in (1..6_u64).filter(|_| [50, 250].contains(&clock)) {
            let request = json!({"opcode": "MemRd", "tag": n, "address": 64 * n, "meta_field": "NoOp"});
            let write = json!({"opcode": "MemWr", "tag": n, "address": 64 * n, "meta_value": "Any"});
            let message = match clock {
                50 => json!({"layout": "cxl68.m2s_rwd", "fields": write, "data": format!("1{n}").repeat(64)}),
                _ => json!({"layout": "cxl68.m2s_req", "fields": request}),
            };
            assert_eq!(send(ends[0], &message), SP_OK, "{}", last_error());
        }
        ends.iter().for_each(|end| assert_eq!(sp_link_step(*end, 1), SP_OK, "{}", last_error()));
        while let Some(message) = take(ends[1]) {
            let (tag, is_read) = (message["fields"]["tag"].as_u64().expect("a tag"), clock > 250);
            let answer = if is_read { drs("cxl68", tag, &format!("1{tag}")) } else { ndr("cxl68", "Cmp", tag) };
            assert_eq!(send(ends[1], &answer), SP_OK, "{}", last_error());
        }
        read += usize::from(take(ends[0]).is_some_and(|message| message["layout"] == "cxl68.s2m_drs"));
        let units = ends.map(sample);
        if let Some(unit) = &units[1] {
            drive(watcher, SP_TX, unit);
            drive(ends[0], SP_RX, unit);
        }
        if let Some(mut unit) = units[0].clone() {
            if clock >= 50 {
                unit[40] ^= u8::from(number == damaged);
                number += 1;
            }
            drive(ends[1], SP_RX, &unit);
            assert_eq!(sp_link_step(watcher, 1), SP_OK);
            drive(watcher, SP_RX, &unit);
        } else {
            assert_eq!(sp_link_step(watcher, 1), SP_OK);
        }
        found.extend(std::iter::from_fn(|| event(watcher)).filter(|event| event["by"] != "line"));
    }
    assert_eq!((read, sp_link_finish(watcher)), (5, SP_OK), "unit {damaged}: {found:#?}");
    destroy(ends.into_iter().chain([watcher]));
    found
}

/// Behind a damaged unit of a run of data come RETRY flits, which a watcher does not take for its chunks.
#[test]
fn a_run_of_data_that_is_damaged_is_read_from_its_replay() {
    open();
    for damaged in 0..12 {
        assert_eq!(five_lines_with_damage(damaged), [] as [Value; 0], "unit {damaged}");
    }
}

/// The rest of a run that ends too early: an answer that may still come is told at the end alone.
#[test]
fn what_is_owed_at_the_end_is_told_by_finish() {
    open();
    let (_, host) = link("cxl-256b", SP_DOWN, "{\"transactions\":\"hdm-db\"}", SP_ACTIVE);
    assert_eq!(state(host)["transactions"], "hdm-db");
    let read = json!({"opcode": "MemRd", "tag": 2, "address": 4096, "meta_value": "Any", "snp_type": "SnpInv"});
    assert_eq!(send(host, &json!({"layout": "cxl256.m2s_req", "fields": read})), SP_OK);
    assert_eq!(sp_link_step(host, 10_000), SP_OK);
    assert_eq!(event(host), None);
    assert_eq!(sp_link_finish(host), SP_FINDING);
    assert!(
        last_error().starts_with("TXN-END-01: line 0x1000: found no answer at the end of the run to MemRd"),
        "{}",
        last_error()
    );
    let told = event(host).expect("an event");
    assert_eq!((&told["expected"], &told["tag"]), (&json!("CmpE or CmpM and MemData"), &json!(2)));
    // What the end itself queues is judged, too, and a reset forgets all.
    let bad = json!({"opcode": "MemClnEvct", "tag": 3, "meta_field": "NoOp"});
    assert_eq!(send(host, &json!({"layout": "cxl256.m2s_req", "fields": bad})), SP_OK);
    let told = event(host).expect("an event");
    assert_eq!((&told["rule"], &told["by"], &told["port"]), (&json!("TXN-REQ-01"), &json!("end"), &json!("tx")));
    assert_eq!((sp_link_reset(host), sp_link_finish(host), event(host)), (SP_OK, SP_OK, None));
    assert_eq!(sp_link_finish(0), SP_ERR_HANDLE);
    let (_, nvlink) = link("nvlink", SP_DOWN, "", SP_ACTIVE);
    assert_eq!((sp_link_finish(nvlink), &state(nvlink)["transactions"]), (SP_OK, &Value::Null));
    destroy([host, nvlink]);
}

#[test]
fn keys_of_transactions_are_for_ends_of_cxl() {
    open();
    for (protocol, mode, config) in [
        ("ualink", SP_PASSIVE, "{\"transactions\":\"hdm-h\"}"),
        ("ualink", SP_ACTIVE, "{\"transactions\":\"ualink\"}"),
        ("ualink", SP_PASSIVE, "{\"transactions\":\"ualink\",\"unique_tags\":true}"),
        ("ualink", SP_PASSIVE, "{\"strict\":true}"),
        ("ualink", SP_PASSIVE, "{\"layer\":\"tl\"}"),
        ("ualink", SP_ACTIVE, "{\"layer\":\"dl\",\"transactions\":\"ualink\"}"),
        ("ualink", SP_ACTIVE, "{\"buffers\":4}"),
        ("nvlink", SP_ACTIVE, "{\"layer\":\"tl\"}"),
        ("nvlink", SP_ACTIVE, "{\"transactions\":\"ualink\"}"),
        ("nvlink", SP_PASSIVE, "{\"transactions\":\"nvlink\",\"strict\":true}"),
        ("cxl-68b", SP_PASSIVE, "{\"transactions\":\"ualink\"}"),
        ("cxl-68b", SP_PASSIVE, "{\"transactions\":\"hdm-h\",\"strict\":true}"),
        ("nvlink", SP_ACTIVE, "{\"transactions\":\"hdm-h\"}"),
        ("cxl-68b", SP_PASSIVE, "{\"transactions\":\"hdm\"}"),
        ("cxl-68b", SP_ACTIVE, "{\"transactions\":1}"),
        ("cxl-68b", SP_ACTIVE, "{\"unique_tags\":true}"),
        ("cxl-68b", SP_ACTIVE, "{\"answer_flits\":9}"),
        ("cxl-68b", SP_ACTIVE, "{\"transactions\":\"hdm-h\",\"answer_flits\":0}"),
        ("cxl-68b", SP_ACTIVE, "{\"transactions\":\"hdm-h\",\"unique_tags\":1}"),
    ] {
        assert_eq!(link(protocol, SP_UP, config, mode).0, SP_ERR_INPUT, "{protocol} {config}");
    }
}

/// A TL flit of a field in the lowest sectors and a data half above it.
fn tl_flit(field: &ControlField, upper: u8) -> Value {
    let mut lower = [0; 32];
    lower[..16].copy_from_slice(&field.to_bits().expect("a field in range").to_le_bytes());
    let hex = |half: [u8; 32]| half.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    json!({"lower": hex(lower), "upper": hex([upper; 32])})
}

/// An accelerator reads a beat twice; a response comes once, and then with another byte, and once again. The ends send TL flits as they are,
/// without the credits of a transaction layer, which is another matter.
#[test]
fn responses_of_ualink_are_judged_by_watchers() {
    open();
    let ends = [SP_DOWN, SP_UP].map(|dir| link("ualink", dir, "", SP_ACTIVE).1);
    let config = "{\"transactions\":\"ualink\",\"all_writers_seen\":true,\"answer_flits\":1000}";
    let watchers = [SP_DOWN, SP_UP].map(|dir| link("ualink", dir, config, SP_PASSIVE).1);
    let request =
        TlReq { cmd: ReqCmd::Read, tag: 5, address: 0x1000, len: 15, attr: 0xff, src: 1, dst: 2, ..TlReq::default() };
    let response = TlRsp { tag: 5, rdwr: RdWr::Read, last: true, src: 2, dst: 1, ..TlRsp::default() };
    let mut found: [Vec<Value>; 2] = Default::default();
    for clock in 0..1000 {
        let (asks, answers) = ([200, 300].contains(&clock), [250, 350, 400].iter().position(|at| *at == clock));
        if asks {
            assert_eq!(send(ends[0], &tl_flit(&ControlField::Request(request), 0)), SP_OK);
        }
        if let Some(n) = answers {
            // The last half stands in the next TL flit, beside a Control half that says nothing.
            for flit in [tl_flit(&ControlField::Response(response), 7), json!({"upper": format!("{n:02x}").repeat(32)})]
            {
                assert_eq!(send(ends[1], &flit), SP_OK, "{}", last_error());
            }
        }
        let mut sent = [None, None];
        for n in [0, 1] {
            assert_eq!(sp_link_step(ends[n], 1), SP_OK, "{}", last_error());
            sent[n] = sample(ends[n]);
            while take(ends[n]).is_some() {}
        }
        for n in [0, 1] {
            if let Some(unit) = &sent[n] {
                drive(watchers[n], SP_TX, unit);
                drive(ends[1 - n], SP_RX, unit);
            }
        }
        for n in [0, 1] {
            assert_eq!(sp_link_step(watchers[n], 1), SP_OK);
            if let Some(unit) = &sent[1 - n] {
                drive(watchers[n], SP_RX, unit);
            }
            let of_transactions = |event: &Value| event["rule"].as_str().is_some_and(|rule| rule.starts_with("TXN"));
            found[n].extend(std::iter::from_fn(|| event(watchers[n])).filter(of_transactions));
        }
    }
    for (found, port, by) in [(&found[0], "rx", "peer"), (&found[1], "tx", "end")] {
        let told: Vec<_> = found.iter().map(|event| (event["rule"].as_str(), event["tag"].as_u64())).collect();
        assert_eq!(told, [(Some("TXN-DAT-01"), Some(5)), (Some("TXN-TAG-03"), Some(5))], "{found:#?}");
        assert!(found.iter().all(|event| event["port"] == port && event["by"] == by), "{found:#?}");
        let said = "0x01 in byte 32 of beat 0 for Read of 64 B at 0x1000 of accelerator 2";
        assert!(found[0]["found"].as_str().is_some_and(|text| text.starts_with(said)), "{found:#?}");
    }
    assert_eq!(watchers.map(|watcher| sp_link_finish(watcher)), [SP_OK; 2]);
    destroy(ends.into_iter().chain(watchers));
}
