//! Calls without JSON say the same as those with it: what one spelling sends the other one takes, in every protocol.

use crate::calls::{last_error, open, start, text_of};
use crate::links::{PROTOCOLS, destroy, drive, event, link, sample, state, take, write};
use scalepool_capi::link::typed::*;
use scalepool_capi::link::*;
use scalepool_capi::message::{sp_encode_json, sp_layout_find};
use scalepool_capi::parts::*;
use scalepool_capi::status::*;
use scalepool_capi::stream::*;
use serde_json::{Value, json};
use std::ffi::c_char;
use std::ptr::null_mut;

/// A message as bits and bytes.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Bits {
    pub layout: u32,
    pub bits: Vec<u8>,
    pub data: Vec<u8>,
    pub enables: Vec<u8>,
    pub extra: u64,
}

pub fn layout(name: &str) -> u32 {
    let mut layout = u32::MAX;
    assert_eq!(unsafe { sp_layout_find(start(name), name.len(), &mut layout) }, SP_OK, "{}", last_error());
    layout
}

pub fn encoded(form: &Value) -> Vec<u8> {
    let (text, mut bytes, mut length) = (form.to_string(), [0; 16], 0);
    let status = unsafe { sp_encode_json(start(&text), text.len(), bytes.as_mut_ptr(), bytes.len(), &mut length) };
    assert_eq!(status, SP_OK, "{}", last_error());
    bytes[..length].to_vec()
}

pub fn bytes_of(hex: &Value) -> Vec<u8> {
    let hex = hex.as_str().unwrap_or_default();
    (0..hex.len()).step_by(2).map(|n| u8::from_str_radix(&hex[n..n + 2], 16).expect("hex")).collect()
}

/// The bits of a form, by the calls for single messages and the text of the header.
fn bits_of(protocol: &str, form: &Value) -> Bits {
    let data = bytes_of(&form["data"]);
    match protocol {
        "nvlink" => {
            let address = 0x1000;
            let header = json!({"layout": "nvlink.header",
                "fields": {"op": form["op"], "vc": form["vc"], "tag": form["tag"], "address": address}});
            let ae = json!({"layout": "nvlink.ae", "fields": {}});
            let bits = [encoded(&header), encoded(&ae)].concat();
            Bits { layout: layout("nvlink.header"), bits, data, ..Bits::default() }
        }
        "ualink" => Bits { layout: SP_NO_LAYOUT, data: vec![0; 64], ..Bits::default() },
        _ => {
            let name = form["layout"].as_str().expect("a name");
            let bits = encoded(&json!({"layout": name, "fields": form["fields"]}));
            let enables = form["be"].as_u64().map(|be| be.to_le_bytes().to_vec()).unwrap_or_default();
            let extra = match (form["half"].as_str(), form["metadata"].as_u64()) {
                (Some("lower"), _) => SP_LOWER_HALF,
                (Some("upper"), _) => SP_UPPER_HALF,
                (_, Some(metadata)) => SP_METADATA | metadata << 32,
                _ => 0,
            };
            Bits { layout: layout(name), bits, data, enables, extra }
        }
    }
}

pub fn send_bits(link: u64, m: &Bits) -> i32 {
    let (bits, data, enables) = (m.bits.as_ptr(), m.data.as_ptr(), m.enables.as_ptr());
    let lengths = [m.bits.len(), m.data.len(), m.enables.len()];
    unsafe { sp_link_send_bits(link, m.layout, bits, lengths[0], data, lengths[1], enables, lengths[2], m.extra) }
}

pub fn take_bits(link: u64) -> Option<Bits> {
    let (mut bits, mut data, mut enables) = ([0; 32], [0; 256], [0; 32]);
    let (mut layout, mut extra, mut lengths) = (0, 0, [0; 3]);
    let [b, d, e] = &mut lengths;
    let status = unsafe {
        let (bits, data, enables) = (bits.as_mut_ptr(), data.as_mut_ptr(), enables.as_mut_ptr());
        sp_link_take_bits(link, &mut layout, bits, 32, b, data, 256, d, enables, 32, e, &mut extra)
    };
    if status == SP_EMPTY {
        return None;
    }
    assert_eq!(status, SP_OK, "{}", last_error());
    let [b, d, e] = lengths;
    Some(Bits { layout, bits: bits[..b].into(), data: data[..d].into(), enables: enables[..e].into(), extra })
}

pub fn send_json(link: u64, form: &Value) -> i32 {
    let text = form.to_string();
    unsafe { sp_link_send(link, start(&text), text.len()) }
}

/// A message with everything that a protocol has, and plainer ones.
fn messages(protocol: &str) -> Vec<Value> {
    let plain = write(protocol);
    match protocol {
        "ualink" => vec![json!({"lower": "00".repeat(32), "upper": "00".repeat(32), "indicators": 0})],
        // What the end answers: of writes the size is not looked at.
        "nvlink" => {
            let mut form = plain;
            form["vc"] = "NCREQ".into();
            form["address"] = 4096.into();
            vec![form]
        }
        "cxl-68b" => {
            let mut part = plain.clone();
            (part["be"], part["fields"]["opcode"]) = (0xf0f0.into(), "MemWrPtl".into());
            vec![plain, part]
        }
        _ => {
            let mut part = plain.clone();
            (part["be"], part["fields"]["opcode"], part["fields"]["trp"]) =
                (0xf0f0.into(), "MemWrPtl".into(), 1.into());
            vec![plain, part]
        }
    }
}

/// Two ends that exchange what they send for some flit clocks.
pub fn exchange(ends: [u64; 2], clocks: usize) {
    for _ in 0..clocks {
        let sent = ends.map(|end| {
            assert_eq!(sp_link_step(end, 1), SP_OK, "{}", last_error());
            sample(end)
        });
        for n in [0, 1] {
            if let Some(unit) = &sent[n] {
                drive(ends[1 - n], SP_RX, unit);
            }
        }
    }
}

#[test]
fn both_spellings_are_the_same_message() {
    open();
    for protocol in PROTOCOLS {
        let ends = [SP_DOWN, SP_UP].map(|dir| link(protocol, dir, "", SP_ACTIVE).1);
        exchange(ends, 200);
        for mut form in messages(protocol) {
            // What the codec has as the channel of the operation.
            if protocol == "nvlink" {
                form.as_object_mut().expect("an object").remove("vc");
                assert_eq!(send_json(ends[0], &form), SP_OK, "{}", last_error());
                exchange(ends, 100);
                form = take(ends[1]).expect("it comes");
            }
            let bits = bits_of(protocol, &form);
            assert_eq!(send_bits(ends[0], &bits), SP_OK, "{protocol}: {}", last_error());
            exchange(ends, 100);
            let came = take(ends[1]).expect("it comes");
            for key in ["data", "be", "op", "tag", "address", "lower", "upper"] {
                assert_eq!(came[key], form[key], "{protocol}: {key}");
            }
            for (key, value) in form["fields"].as_object().into_iter().flatten() {
                assert_eq!(&came["fields"][key], value, "{protocol}: {key}");
            }
            assert_eq!(send_json(ends[0], &form), SP_OK, "{protocol}: {}", last_error());
            exchange(ends, 100);
            assert_eq!(take_bits(ends[1]), Some(bits), "{protocol}");
            assert_eq!((take(ends[1]), take_bits(ends[1])), (None, None));
        }
        destroy(ends);
    }
}

#[test]
fn wrong_bits_are_refused_and_nothing_is_queued() {
    open();
    let end = link("cxl-68b", SP_DOWN, "", SP_ACTIVE).1;
    let good = bits_of("cxl-68b", &write("cxl-68b"));
    let wrong: [(Bits, i32, &str); 7] = [
        (Bits { layout: 9999, ..good.clone() }, SP_ERR_RANGE, "layout"),
        (Bits { layout: layout("cxl256.m2s_rwd"), ..good.clone() }, SP_ERR_INPUT, "cxl256.m2s_rwd"),
        (Bits { bits: vec![0; 3], ..good.clone() }, SP_ERR_INPUT, "3 bytes"),
        (Bits { data: vec![0; 63], ..good.clone() }, SP_ERR_RANGE, "data: found 63 bytes, expected 64"),
        (Bits { enables: vec![0; 9], ..good.clone() }, SP_ERR_RANGE, "enables: found 9 bytes, expected 8"),
        (Bits { extra: 3, ..good.clone() }, SP_ERR_RANGE, "extra: found 0x3"),
        (Bits { data: Vec::new(), extra: 1, ..good }, SP_ERR_RANGE, "data: found none"),
    ];
    for (message, status, says) in wrong {
        assert_eq!(send_bits(end, &message), status, "{message:?}");
        assert!(last_error().contains(says), "{}", last_error());
    }
    assert_eq!(state(end)["health"]["messages_waiting"]["m2s_rwd"], 0);
    let watcher = link("cxl-68b", SP_DOWN, "", SP_PASSIVE).1;
    assert_eq!(send_bits(watcher, &Bits::default()), SP_ERR_KIND);
    destroy([end, watcher]);
}

/// A message stays where it is until there is room for all of it.
#[test]
fn a_short_buffer_takes_nothing() {
    open();
    let ends = [SP_DOWN, SP_UP].map(|dir| link("cxl-68b", dir, "", SP_ACTIVE).1);
    let message = bits_of("cxl-68b", &write("cxl-68b"));
    assert_eq!(send_bits(ends[0], &message), SP_OK);
    exchange(ends, 300);
    let (mut layout, mut extra, mut lengths) = (0, 0, [0; 3]);
    let [b, d, e] = &mut lengths;
    let status = unsafe {
        sp_link_take_bits(ends[1], &mut layout, null_mut(), 0, b, null_mut(), 0, d, null_mut(), 0, e, &mut extra)
    };
    assert_eq!((status, lengths), (SP_ERR_SHORT, [message.bits.len(), 64, 0]));
    assert_eq!(take_bits(ends[1]), Some(message));
    destroy(ends);
}

/// The oldest message that a watcher has seen: direction, unit, message.
fn seen_bits(link: u64) -> Option<(u32, u64, Bits)> {
    let (mut bits, mut data, mut enables) = ([0; 32], [0; 256], [0; 16]);
    let (mut port, mut unit, mut layout, mut extra, mut lengths) = (0, 0, 0, 0, [0; 3]);
    let [b, d, e] = &mut lengths;
    let status = unsafe {
        let (bits, data, enables) = (bits.as_mut_ptr(), data.as_mut_ptr(), enables.as_mut_ptr());
        let (port, unit) = (&mut port, &mut unit);
        sp_link_seen_bits(link, port, unit, &mut layout, bits, 32, b, data, 256, d, enables, 16, e, &mut extra)
    };
    let [b, d, e] = lengths;
    let bits = Bits { layout, bits: bits[..b].into(), data: data[..d].into(), enables: enables[..e].into(), extra };
    (status == SP_OK).then_some((port, unit, bits))
}

/// A watcher shows each message once, with its data, although flits are damaged and sent again.
#[test]
fn a_watcher_shows_the_messages_of_both_directions() {
    open();
    for protocol in ["cxl-68b", "cxl-256b", "cxl-256b-lopt", "cxl-256b-pbr"] {
        let ends = [SP_DOWN, SP_UP].map(|dir| link(protocol, dir, "{\"timeout_flits\":100}", SP_ACTIVE).1);
        let watcher = link(protocol, SP_DOWN, "{\"messages\":true}", SP_PASSIVE).1;
        let write = bits_of(protocol, &write(protocol));
        let family = if protocol == "cxl-256b" || protocol == "cxl-256b-lopt" { "cxl256" } else { protocol };
        let family = family.replace("cxl-68b", "cxl68").replace("cxl-256b-pbr", "cxlpbr");
        let answer = json!({"layout": format!("{family}.s2m_ndr"), "fields": {"opcode": "Cmp", "tag": 5}});
        for clock in 0..600 {
            if clock == 200 {
                assert_eq!(send_bits(ends[0], &write), SP_OK, "{}", last_error());
            }
            if clock == 300 {
                assert_eq!(send_json(ends[1], &answer), SP_OK, "{}", last_error());
            }
            for n in [0, 1] {
                assert_eq!(sp_link_step(ends[n], 1), SP_OK, "{}", last_error());
            }
            for n in [0, 1] {
                let Some(mut unit) = sample(ends[n]) else { continue };
                // Of what the host sends, the wire damages some behind the watcher, and some before it of what it receives.
                if n == 0 {
                    drive(watcher, SP_TX, &unit);
                }
                unit[40] ^= u8::from(clock % 41 == 5);
                drive(ends[1 - n], SP_RX, &unit);
                if n == 1 {
                    drive(watcher, SP_RX, &unit);
                }
            }
            assert_eq!(sp_link_step(watcher, 1), SP_OK, "{}", last_error());
        }
        let seen: Vec<_> = std::iter::from_fn(|| seen_bits(watcher)).collect();
        let ports: Vec<_> = seen.iter().map(|(port, ..)| *port).collect();
        assert_eq!(ports, [SP_TX, SP_RX], "{protocol}: {seen:?}");
        assert_eq!((&seen[0].2, &seen[1].2), (&write, &bits_of(protocol, &answer)), "{protocol}");
        assert_eq!(seen_bits(ends[0]), None);
        destroy([ends[0], ends[1], watcher]);
    }
    let quiet = link("cxl-68b", SP_DOWN, "", SP_PASSIVE).1;
    assert_eq!(seen_bits(quiet), None);
    assert!(last_error().contains("`messages`"), "{}", last_error());
    destroy([quiet]);
}

/// The parts of a flit are the bytes that stand in its JSON: a 68B flit with a request, and flits of both other shapes.
#[test]
fn parts_of_a_flit_are_those_of_its_object() {
    open();
    let request = json!({"layout": "cxl68.m2s_req", "fields": {"opcode": "MemRd", "tag": 7, "address": 4096}});
    let slot = json!({"slot": 0, "format": "H5", "messages": [request]});
    let cases = [
        ("cxl-68b", json!({"protocol": "cxl-68b", "dir": "down", "kind": "protocol", "slots": [slot]}), 1),
        ("nvlink", json!({"packet": {"header": {"op": "WRITE_NONPOSTED", "tag": 9}, "data": "5a".repeat(32)}}), 2),
    ];
    for (protocol, form, count) in cases {
        let [encoder, decoder] = [sp_encoder_new, sp_decoder_new].map(|make| {
            let mut stream = 0;
            assert_eq!(
                unsafe { make(start(protocol), protocol.len(), SP_DOWN, &mut stream) },
                SP_OK,
                "{}",
                last_error()
            );
            stream
        });
        let text = form.to_string();
        assert_eq!(unsafe { sp_stream_encode(encoder, start(&text), text.len()) }, SP_OK, "{}", last_error());
        let (mut flit, mut length, mut parts) = ([0; 640], 0, 9);
        let status = unsafe { sp_stream_take_parts(encoder, flit.as_mut_ptr(), 640, &mut length, &mut parts) };
        assert_eq!((status, length % 4), (SP_OK, 0), "{}", last_error());
        assert_eq!(unsafe { sp_stream_decode(decoder, flit.as_ptr(), length, 1) }, SP_OK, "{}", last_error());
        assert_eq!(sp_stream_finish(decoder), SP_OK);
        let status = unsafe { sp_stream_take_parts(decoder, null_mut(), 0, null_mut(), &mut parts) };
        assert_eq!((status, parts), (SP_OK, count), "{protocol}: {}", last_error());
        let mut found = Vec::new();
        for _ in 0..parts {
            let (mut layout, mut place, mut bytes, mut length) = (0, 9, [0; 256], 0);
            let (status, kind) = text_of(|t, c, l| unsafe {
                sp_stream_part(decoder, &mut layout, &mut place, t, c, l, bytes.as_mut_ptr(), 256, &mut length)
            });
            assert_eq!(status, SP_OK, "{}", last_error());
            found.push((layout, place, kind, bytes[..length].to_vec()));
        }
        if protocol == "cxl-68b" {
            let name = "cxl68.m2s_req";
            let fields = json!({"opcode": "MemRd", "tag": 7, "address": 4096});
            let message = encoded(&json!({"layout": name, "fields": fields}));
            assert_eq!(found[0], (layout(name), 0, "message".to_owned(), message));
        } else {
            assert_eq!((found[0].0, found[0].2.as_str()), (layout("nvlink.header"), "header"));
            assert_eq!(found[1], (SP_NO_LAYOUT, 0, "data".to_owned(), vec![0x5a; 32]));
        }
        for stream in [encoder, decoder] {
            assert_eq!(sp_stream_destroy(stream), SP_OK);
        }
    }
}

/// The numbers and texts of the oldest event.
fn event_fields(link: u64) -> Option<(SpEvent, [String; 5])> {
    let mut event = SpEvent::default();
    let (mut texts, mut lengths) = ([[0u8; 400]; 5], [0; 5]);
    let [t0, t1, t2, t3, t4] = texts.each_mut().map(|text| text.as_mut_ptr().cast::<c_char>());
    let [l0, l1, l2, l3, l4] = lengths.each_mut();
    let status = unsafe {
        sp_link_event_fields(link, &mut event, t0, 400, l0, t1, 400, l1, t2, 400, l2, t3, 400, l3, t4, 400, l4)
    };
    let text = |n: usize| String::from_utf8(texts[n][..lengths[n]].to_vec()).expect("UTF-8");
    (status == SP_OK).then(|| (event, std::array::from_fn(text)))
}

fn health(link: u64, figure: &str, part: &str) -> (i32, u64, String) {
    let mut value = u64::MAX;
    let (status, name) = text_of(|t, c, l| unsafe {
        sp_link_health(link, start(figure), figure.len(), start(part), part.len(), &mut value, t, c, l)
    });
    (status, value, name)
}

/// Two ends of the same history, one asked with JSON and one without: damaged units, an answer that nobody asked for.
#[test]
fn events_state_and_health_are_those_of_json() {
    open();
    let config = "{\"transactions\":\"hdm-h\",\"timeout_flits\":100}";
    let mut seen = 0;
    let mut told = [Vec::new(), Vec::new()];
    let mut states = Vec::new();
    for spelling in [0, 1] {
        let ends = [SP_DOWN, SP_UP].map(|dir| link("cxl-68b", dir, config, SP_ACTIVE).1);
        exchange(ends, 100);
        let fields = json!({"opcode": "MemData", "meta_field": "NoOp", "tag": 7});
        send_json(ends[1], &json!({"layout": "cxl68.s2m_drs", "fields": fields, "data": "00".repeat(64)}));
        for clock in 0..200 {
            let sent = ends.map(|end| {
                assert_eq!(sp_link_step(end, 1), SP_OK);
                sample(end)
            });
            for n in [0, 1] {
                if let Some(mut unit) = sent[n].clone() {
                    unit[30] ^= u8::from(clock % 3 == 1 && clock < 20);
                    drive(ends[1 - n], SP_RX, &unit);
                }
            }
            while take(ends[0]).is_some() {}
        }
        for end in ends {
            if spelling == 0 {
                states.push(state(end));
                told[0].extend(std::iter::from_fn(|| event(end)));
                continue;
            }
            let expected = &states[seen];
            seen += 1;
            let mut status = SpLinkStatus::default();
            let (answer, rule) = text_of(|t, c, l| unsafe { sp_link_state_fields(end, &mut status, t, c, l) });
            assert_eq!((answer, rule.as_str()), (SP_OK, ""));
            let numbers = [status.flit_clocks, status.driven, status.sent, status.events, status.events_lost];
            let keys = ["flit_clocks", "driven", "sent", "events", "events_lost"];
            assert_eq!(keys.map(|key| expected[key].as_u64().expect("a number")), numbers);
            let flags = [status.up, status.quiet, status.wants_training].map(|flag| flag == 1);
            assert_eq!(["up", "quiet", "wants_training"].map(|key| expected[key].as_bool().expect("a flag")), flags);
            for (figure, value) in expected["health"].as_object().expect("an object") {
                match value {
                    Value::Object(parts) => {
                        for (part, value) in parts {
                            let found = health(end, figure, part);
                            assert_eq!((found.0, Some(found.1)), (SP_OK, value.as_u64()), "{figure} {part}");
                        }
                        assert_eq!(health(end, figure, "").0, SP_EMPTY);
                    }
                    Value::String(name) => assert_eq!(health(end, figure, ""), (SP_OK, 0, name.clone())),
                    value => assert_eq!(health(end, figure, "").1, value.as_u64().expect("a number"), "{figure}"),
                }
            }
            told[1].extend(std::iter::from_fn(|| event_fields(end)).map(|(event, texts)| {
                let [rule, at, found, expected, text] = texts;
                let port = ["rx", "tx"][event.port as usize];
                let by = ["end", "peer", "line"][event.by as usize];
                let severity = ["corrected", "protocol", "retrain", "uncorrectable", "fatal"][event.severity as usize];
                let mut form = json!({
                    "unit": event.unit,
                    "port": port,
                    "by": by,
                    "severity": severity,
                    "rule": rule, "at": at, "found": found, "expected": expected, "text": text,
                });
                if event.tag >= 0 {
                    form["tag"] = event.tag.into();
                }
                form
            }));
        }
        destroy(ends);
    }
    assert_eq!(told[0], told[1]);
    let rules: Vec<_> = told[0].iter().map(|event| event["rule"].as_str().unwrap_or_default()).collect();
    assert!(rules.iter().any(|rule| rule.starts_with("TXN-")) && rules.contains(&"CXL68-CRC-01"), "{rules:?}");
    let end = link("ualink", SP_DOWN, "", SP_ACTIVE).1;
    assert_eq!(health(end, "credit_stalls", "").0, SP_EMPTY);
    assert_eq!(health(end, "credit", "").0, SP_ERR_INPUT);
    assert!(last_error().contains("credits"), "{}", last_error());
    assert_eq!(event_fields(end), None);
    destroy([end]);
}
