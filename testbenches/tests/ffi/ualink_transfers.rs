//! Requests and responses of UALink at ends with a transaction layer: as JSON and as bits they are the same, and what does not fit is refused.

use crate::calls::{last_error, open};
use crate::links::{destroy, event, link, state, take};
use crate::typed::{Bits, bytes_of, encoded, exchange, layout, send_bits, send_json, take_bits};
use scalepool_capi::link::typed::*;
use scalepool_capi::link::*;
use scalepool_capi::status::*;
use scalepool_capi::stream::{SP_DOWN, SP_UP};
use serde_json::{Value, json};

/// An accelerator and a switch whose transaction layers have exchanged credits.
fn ends(more: &str) -> [u64; 2] {
    let config = format!("{{\"layer\":\"tl\"{more}}}");
    let ends = [SP_DOWN, SP_UP].map(|dir| link("ualink", dir, &config, SP_ACTIVE).1);
    exchange(ends, 200);
    ends
}

/// Bytes that all differ from their neighbours.
fn beats(count: usize) -> String {
    (0..64 * count).map(|n| format!("{:02x}", n * 7 % 251)).collect()
}

/// A request with the number of its beats and of its DWords.
fn request(cmd: &str, address: impl Into<Value>, beats: u64, dwords: u64) -> Value {
    let address: Value = address.into();
    let fields = json!({"cmd": cmd, "tag": 0x5a5, "address": address, "numbeats": beats - 1, "len": dwords - 1, "attr": 0xff,
        "src": 1, "dst": 1023, "vchan": 3});
    json!({"layout": "ualink.tl_req", "fields": fields})
}

/// A response to it; compressed ones do not say who sends them.
fn response(rdwr: &str, beats: u64) -> Value {
    let last = u8::from(rdwr == "Read");
    let fields = json!({"rdwr": rdwr, "tag": 0x5a5, "len": beats - 1, "last": last, "src": 0, "dst": 1, "vchan": 3});
    json!({"layout": "ualink.tl_rsp", "fields": fields})
}

fn with(mut form: Value, more: &[(&str, Value)]) -> Value {
    for (key, value) in more {
        form[*key] = value.clone();
    }
    form
}

/// The bits of a form, by the calls for single messages and the text of the header.
fn bits_of(form: &Value) -> Bits {
    let name = form["layout"].as_str().expect("a name");
    Bits {
        layout: layout(name),
        bits: encoded(&json!({"layout": name, "fields": form["fields"]})),
        data: bytes_of(&form["data"]),
        enables: bytes_of(&form["be"]),
        extra: form["poisoned"].as_u64().unwrap_or_default(),
    }
}

/// The beats that are not poisoned, and the number of all; the bytes of a poisoned one mean nothing.
fn good_beats(data: &[u8], poisoned: u64) -> (usize, Vec<&[u8]>) {
    let good = data.chunks(64).enumerate().filter(|(n, _)| poisoned >> n & 1 == 0).map(|(_, beat)| beat);
    (data.len(), good.collect())
}

/// Byte enables of bytes 60 to 68 of a block.
fn enables() -> Value {
    let mut bytes = [0; 32];
    (bytes[7], bytes[8]) = (0xf0, 0x1f);
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>().into()
}

#[test]
fn transfers_are_the_same_in_both_spellings() {
    open();
    let ends = ends("");
    let requests = [
        request("Read", 0x1000, 1, 64),
        // The highest address.
        with(request("WriteFull", "0x1ffffffffffffc0", 1, 16), &[("data", beats(1).into())]),
        with(request("WriteFull", 0x1_0000, 4, 64), &[("data", beats(4).into()), ("poisoned", 0b1010.into())]),
        with(request("Write", 0x203c, 2, 3), &[("data", beats(2).into()), ("be", enables()), ("poisoned", 2.into())]),
    ];
    let responses = [
        response("Write", 1),
        with(response("Read", 1), &[("data", beats(1).into()), ("poisoned", 1.into())]),
        with(response("Read", 4), &[("data", beats(4).into()), ("poisoned", 0b1001.into())]),
    ];
    for (n, form) in requests.iter().map(|form| (0, form)).chain(responses.iter().map(|form| (1, form))) {
        let bits = bits_of(form);
        assert_eq!(send_bits(ends[n], &bits), SP_OK, "{form}: {}", last_error());
        exchange(ends, 20);
        let came = take(ends[1 - n]).unwrap_or_else(|| panic!("{form} comes"));
        assert_eq!(good_beats(&bytes_of(&came["data"]), bits.extra), good_beats(&bits.data, bits.extra), "{form}");
        assert_eq!((&came["be"], &came["poisoned"]), (&form["be"], &form["poisoned"]), "{form}");
        for (key, value) in form["fields"].as_object().expect("fields") {
            assert_eq!(&came["fields"][key], value, "{form}: {key}");
        }
        assert_eq!(send_json(ends[n], form), SP_OK, "{form}: {}", last_error());
        exchange(ends, 20);
        let mut came = take_bits(ends[1 - n]).unwrap_or_else(|| panic!("{form} comes"));
        assert_eq!(good_beats(&came.data, bits.extra), good_beats(&bits.data, bits.extra), "{form}");
        came.data.clone_from(&bits.data);
        assert_eq!(came, bits, "{form}");
        assert_eq!((take(ends[1 - n]), take_bits(ends[1 - n])), (None, None));
    }
    assert_eq!((event(ends[0]), event(ends[1])), (None, None));
    destroy(ends);
}

#[test]
fn transfers_that_do_not_fit_are_refused_and_nothing_is_queued() {
    open();
    let ends = ends("");
    let full = bits_of(&with(request("WriteFull", 0x1000, 1, 16), &[("data", beats(1).into())]));
    let part = bits_of(&with(request("Write", 0x1000, 1, 16), &[("data", beats(1).into()), ("be", enables())]));
    let read = bits_of(&request("Read", 0x1000, 1, 16));
    let mut kind = full.clone();
    kind.bits[15] = kind.bits[15] & 0xf | 0x50;
    let wrong: [(Bits, i32, &str); 16] = [
        (Bits { layout: 9999, ..full.clone() }, SP_ERR_RANGE, "layout"),
        (Bits { layout: layout("cxl68.m2s_req"), ..full.clone() }, SP_ERR_INPUT, "cxl68.m2s_req"),
        (Bits { layout: SP_NO_LAYOUT, bits: Vec::new(), ..full.clone() }, SP_ERR_INPUT, "`layer` = `tl`"),
        (Bits { bits: vec![0; 15], ..full.clone() }, SP_ERR_INPUT, "15 bytes"),
        (Bits { bits: vec![0; 17], ..full.clone() }, SP_ERR_INPUT, "17 bytes"),
        (kind, SP_ERR_INPUT, "ftype"),
        (Bits { data: vec![0; 63], ..full.clone() }, SP_ERR_RANGE, "data: found 63 bytes, expected 64 for each beat"),
        (Bits { data: Vec::new(), ..full.clone() }, SP_ERR_INPUT, "found 0 data halves, expected 2"),
        (Bits { data: vec![0; 128], ..full.clone() }, SP_ERR_INPUT, "found 4 data halves, expected 2"),
        (Bits { data: vec![0; 64 * 2000], ..full.clone() }, SP_ERR_INPUT, "found 4000 data halves, expected 2"),
        (Bits { enables: vec![0; 31], ..part.clone() }, SP_ERR_RANGE, "enables: found 31 bytes, expected 32"),
        (Bits { enables: Vec::new(), ..part }, SP_ERR_INPUT, "byte enables"),
        (Bits { enables: vec![0; 32], ..full.clone() }, SP_ERR_INPUT, "byte enables"),
        (Bits { extra: 2, ..full.clone() }, SP_ERR_INPUT, "poison"),
        (Bits { extra: 0x101, ..full }, SP_ERR_RANGE, "extra: found 0x101"),
        (Bits { data: vec![0; 64], ..read }, SP_ERR_INPUT, "found 2 data halves, expected 0"),
    ];
    for (message, status, says) in wrong {
        let found = send_bits(ends[0], &message);
        assert!(found == status && last_error().contains(says), "{found} for {says}: {}", last_error());
    }
    let mut kind = request("Read", 0x1000, 1, 16);
    kind["fields"]["ftype"] = 2.into();
    assert_eq!(send_json(ends[0], &kind), SP_ERR_INPUT);
    assert!(last_error().contains("message.fields.ftype: found 2, expected 1"), "{}", last_error());
    exchange(ends, 50);
    assert_eq!(take(ends[1]), None);
    assert_eq!(state(ends[0])["quiet"], true);
    let flits = link("ualink", SP_DOWN, "", SP_ACTIVE).1;
    assert_eq!(send_json(flits, &request("Read", 0x1000, 1, 16)), SP_ERR_INPUT);
    assert!(last_error().contains("expected a TL flit"), "{}", last_error());
    destroy([ends[0], ends[1], flits]);
}

/// A request that is queued while the link is down is lost: nobody owes an answer to it, while one of a link that is up is owed one.
#[test]
fn what_is_lost_with_the_link_is_owed_no_answer() {
    open();
    let ends = ends(",\"transactions\":\"ualink\",\"answer_flits\":100");
    let read = request("Read", 0x1000, 1, 16);
    assert_eq!(send_json(ends[0], &read), SP_OK, "{}", last_error());
    assert_eq!(sp_link_train(ends[0], 0), SP_OK);
    for _ in 0..3 {
        assert_eq!(sp_link_step(ends[0], 1), SP_OK);
        assert_eq!(send_json(ends[0], &read), SP_OK, "{}", last_error());
    }
    assert_eq!(sp_link_train(ends[0], 1), SP_OK);
    exchange(ends, 1000);
    let told: Vec<_> = std::iter::from_fn(|| event(ends[0])).map(|event| event["rule"].clone()).collect();
    assert!(!told.iter().any(|rule| rule.as_str().is_some_and(|rule| rule.starts_with("TXN-"))), "{told:?}");
    assert_eq!(sp_link_finish(ends[0]), SP_OK, "{}", last_error());
    assert_eq!(state(ends[0])["up"], true);
    assert_eq!(send_json(ends[0], &read), SP_OK, "{}", last_error());
    exchange(ends, 50);
    assert_eq!(sp_link_finish(ends[0]), SP_FINDING);
    destroy(ends);
}
