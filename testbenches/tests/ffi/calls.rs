//! Every function does what the header says: answers, statuses, lengths, texts.

use scalepool_capi::arbiter::*;
use scalepool_capi::bridge::*;
use scalepool_capi::check::*;
use scalepool_capi::message::*;
use scalepool_capi::rules::*;
use scalepool_capi::status::*;
use scalepool_capi::stream::*;
use scalepool_capi::version::*;
use serde_json::Value;
use std::ffi::c_char;
use std::ptr::{null, null_mut};

/// Opens the library; every test does.
pub fn open() {
    assert_eq!(sp_open(SP_ABI_VERSION), SP_OK);
}

/// A text as the pointer that calls take.
pub fn start(text: &str) -> *const c_char {
    text.as_ptr().cast()
}

/// Asks for the needed length, then for the text.
pub fn text_of(mut ask: impl FnMut(*mut c_char, usize, *mut usize) -> i32) -> (i32, String) {
    let mut length = 0;
    let status = ask(null_mut(), 0, &mut length);
    if status != SP_ERR_SHORT {
        return (status, String::new());
    }
    let mut buffer = vec![1u8; length + 1];
    let (mut again, capacity) = (0, buffer.len());
    assert_eq!(ask(buffer.as_mut_ptr().cast(), capacity - 1, &mut again), SP_ERR_SHORT, "no room for the NUL");
    let status = ask(buffer.as_mut_ptr().cast(), capacity, &mut again);
    assert_eq!((again, buffer.pop()), (length, Some(0)), "the same length, and a NUL behind it");
    (status, String::from_utf8(buffer).expect("UTF-8"))
}

/// Text of the last failure.
pub fn last_error() -> String {
    text_of(|text, capacity, length| unsafe { sp_last_error(text, capacity, length) }).1
}

fn layout(name: &str) -> u32 {
    let mut layout = u32::MAX;
    assert_eq!(unsafe { sp_layout_find(start(name), name.len(), &mut layout) }, SP_OK);
    layout
}

#[test]
fn versions_are_compared() {
    open();
    assert_eq!(sp_version(), SP_ABI_VERSION);
    for wrong in [0, (SP_ABI_MAJOR + 1) << 16, SP_ABI_MAJOR << 16 | (SP_ABI_MINOR + 1) << 8, u32::MAX] {
        assert_eq!(sp_open(wrong), SP_ERR_VERSION, "{wrong:#x}");
    }
    let expected = format!("expected {SP_ABI_MAJOR}.0 to {SP_ABI_MAJOR}.{SP_ABI_MINOR}");
    assert!(last_error().contains(&expected), "{}", last_error());
    assert_eq!(sp_open(SP_ABI_VERSION | 0xff), SP_OK, "the patch does not matter");
}

#[test]
fn layouts_have_names_sizes_and_fields() {
    open();
    let mut count = 0;
    assert_eq!(unsafe { sp_layout_count(&mut count) }, SP_OK);
    for id in 0..count {
        let (status, name) = text_of(|t, c, l| unsafe { sp_layout_name(id, t, c, l) });
        assert_eq!((status, layout(&name)), (SP_OK, id));
        let mut size = SpLayout::default();
        assert_eq!(unsafe { sp_layout_size(id, &mut size) }, SP_OK);
        let mut next = 0;
        for field in 0..size.fields {
            let (_, name) = text_of(|t, c, l| unsafe { sp_field_name(id, field, t, c, l) });
            let mut found = u32::MAX;
            assert_eq!(unsafe { sp_field_find(id, start(&name), name.len(), &mut found) }, SP_OK);
            let mut place = SpField::default();
            assert_eq!(unsafe { sp_field_place(id, field, &mut place) }, SP_OK);
            assert_eq!((found, place.lsb), (field, next));
            next += place.width;
        }
        assert_eq!(next, size.bits);
    }
    let (_, table) = text_of(|t, c, l| unsafe { sp_layout_describe(layout("cxl68.m2s_req"), t, c, l) });
    let table: Value = serde_json::from_str(&table).expect("JSON");
    assert_eq!(table["fields"][1]["codes"]["MemRd"], 1);
    assert_eq!(unsafe { sp_layout_size(count, &mut SpLayout::default()) }, SP_ERR_RANGE);
    assert_eq!(unsafe { sp_layout_find(start("cxl68.m2s"), 9, &mut count) }, SP_ERR_INPUT);
    assert!(last_error().contains("cxl68.m2s_req"), "{}", last_error());
}

#[test]
fn rules_are_known_by_their_ids() {
    open();
    let known = |rule: &str| unsafe { sp_rule_known(start(rule), rule.len()) };
    assert!(scalepool_protocols::rules::all().all(|rule| known(rule.id) == SP_OK));
    for (wrong, near) in
        [("CXL68-CRC-1", "CXL68-CRC-01"), ("TXN_TAG_02", "TXN-TAG-02"), ("", "nearest"), ("liv-crd-01", "nearest")]
    {
        assert_eq!(known(wrong), SP_ERR_INPUT, "{wrong}");
        assert!(last_error().contains(&format!("found `{wrong}`")) && last_error().contains(near), "{}", last_error());
    }
}

/// A waiver holds on its last day, and not behind it.
#[test]
fn waivers_hold_up_to_their_last_day() {
    open();
    let holds = |last: &str, today: &str| {
        let mut holds = 7;
        let status = unsafe { sp_waiver_holds(start(last), last.len(), start(today), today.len(), &mut holds) };
        (status, holds)
    };
    for (last, today, expected) in [
        ("2027-03-31", "2027-03-31", 1),
        ("2027-03-31", "2026-12-31", 1),
        ("2027-03-31", "2027-04-01", 0),
        ("2028-02-29", "2028-03-01", 0),
    ] {
        assert_eq!(holds(last, today), (SP_OK, expected), "{last} on {today}");
    }
    for (last, today, what) in
        [("2027-02-29", "2027-01-01", "last_day"), ("2027-01-01", "", "today"), ("soon", "2027-01-01", "last_day")]
    {
        assert_eq!(holds(last, today), (SP_ERR_INPUT, 7), "{last} on {today}");
        assert!(last_error().starts_with(what), "{}", last_error());
    }
}

/// Two messages at once, by values and by JSON.
#[test]
fn messages_by_values_and_by_json() {
    open();
    let id = layout("cxl68.m2s_req");
    let json = r#"{"layout":"cxl68.m2s_req","fields":{"opcode":"MemRd","address":"0x1000","tag":7}}"#;
    let (mut bytes, mut length) = ([0u8; 22], 0);
    assert_eq!(unsafe { sp_encode_json(start(json), json.len(), bytes.as_mut_ptr(), 22, &mut length) }, SP_OK);
    assert_eq!(length, 11);
    bytes.copy_within(0..11, 11);
    let (mut values, mut fields) = ([SpNumber::default(); 64], 0);
    let answer = unsafe { sp_decode(id, bytes.as_ptr(), 22, 2, values.as_mut_ptr(), 64, &mut fields) };
    assert_eq!(answer, SP_OK);
    let mut address = 0;
    assert_eq!(unsafe { sp_field_find(id, start("address"), 7, &mut address) }, SP_OK);
    let at = fields / 2 + address as usize;
    assert_eq!(values[at], SpNumber { lo: 0x1000, hi: 0 });
    let mut again = [0u8; 22];
    let encode = |values: &[SpNumber], again: &mut [u8], length: &mut usize| unsafe {
        sp_encode(id, values.as_ptr(), values.len(), 2, again.as_mut_ptr(), again.len(), length)
    };
    assert_eq!(encode(&values[..fields], &mut again, &mut length), SP_OK);
    assert_eq!((length, again), (22, bytes));
    assert_eq!(encode(&values[..fields], &mut again[..21], &mut length), SP_ERR_SHORT);
    assert_eq!(length, 22);
    values[at].lo = 1;
    assert_eq!(encode(&values[..fields], &mut again, &mut length), SP_ERR_INPUT);
    assert!(last_error().starts_with("message 1: cxl68.m2s_req: field `address`"), "{}", last_error());
    assert_eq!(encode(&values[..fields - 1], &mut again, &mut length), SP_ERR_RANGE);

    // A reserved opcode breaks a rule; the values are there all the same.
    bytes[0] = 0x1f;
    let answer = unsafe { sp_decode(id, bytes.as_ptr(), 22, 2, values.as_mut_ptr(), 64, &mut fields) };
    assert_eq!((answer, values[1].lo), (SP_FINDING, 15));
    let (status, form) = text_of(|t, c, l| unsafe { sp_decode_json(id, bytes.as_ptr(), 11, t, c, l) });
    let form: Value = serde_json::from_str(&form).expect("JSON");
    assert_eq!((status, form["fields"]["opcode"].as_u64()), (SP_FINDING, Some(15)));
    assert_eq!(form["violations"].as_array().map(Vec::len), Some(1));
}

/// Known answers of the checksums, which have tests of their own; here each kind is what it says.
#[test]
fn checksums() {
    open();
    let crc = |kind: u32, data: &[u8], item: usize, count: usize| {
        let mut crcs = vec![0u64; count];
        let status = unsafe { sp_crc(kind, data.as_ptr(), item, count, crcs.as_mut_ptr()) };
        (status, crcs)
    };
    // `cxl-io` §2.4.
    let dllps = [0x31, 0, 0, 0, 0x00, 0x00, 0x0a, 0xbc];
    assert_eq!(crc(SP_CRC_DLLP, &dllps, 4, 2), (SP_OK, vec![0x32fb, 0xad90]));
    for (kind, bytes, bits) in [
        (SP_CRC_CXL68, 64, 16),
        (SP_CRC_CXL256, 242, 64),
        (SP_CRC_LOPT_EVEN, 122, 48),
        (SP_CRC_LOPT_ODD, 116, 48),
        (SP_CRC_UALINK, 640, 32),
        (SP_CRC_NVLINK, 32, 25),
        (SP_CRC_DLLP, 4, 16),
        (SP_CRC_LCRC, 14, 32),
        (SP_CRC_ECRC, 12, 32),
    ] {
        let mut data = vec![0x5a; 2 * bytes];
        data[bytes + 1] ^= 1;
        let (status, crcs) = crc(kind, &data, bytes, 2);
        assert_eq!(status, SP_OK, "{kind}");
        assert!(crcs[0] != crcs[1] && crcs.iter().all(|c| bits == 64 || c >> bits == 0), "{kind}: {crcs:x?}");
        let fixed = ![SP_CRC_LCRC, SP_CRC_ECRC].contains(&kind);
        assert_eq!(crc(kind, &data, bytes + 1, 1).0, if fixed { SP_ERR_RANGE } else { SP_OK }, "{kind}");
    }
    assert_eq!(crc(0, &dllps, 4, 2).0, SP_ERR_RANGE);
    assert_eq!(crc(SP_CRC_LCRC, &[], 0, 1).0, SP_ERR_RANGE);
    assert_eq!(unsafe { sp_crc(SP_CRC_DLLP, null(), 4, 0, null_mut()) }, SP_OK, "nothing to do");
}

#[test]
fn the_fec_repairs() {
    open();
    for kind in [SP_FEC_STANDARD, SP_FEC_LOPT] {
        let mut flits: Vec<u8> = (0..512).map(|n| (n * n / 7) as u8).collect();
        assert_eq!(unsafe { sp_fec_encode(kind, flits.as_mut_ptr(), 2) }, SP_OK);
        let good = flits.clone();
        (flits[3], flits[256], flits[257]) = (!flits[3], !flits[256], !flits[257]);
        let mut corrected = [9; 2];
        let repair = |flits: &mut [u8], corrected: &mut [i32; 2]| unsafe {
            sp_fec_correct(kind, flits.as_mut_ptr(), 2, corrected.as_mut_ptr())
        };
        assert_eq!(repair(&mut flits, &mut corrected), SP_OK);
        assert_eq!((corrected, &flits), ([1, 2], &good));
        // Two wrong bytes of one group: for most of them the sums point nowhere.
        let refused = (1..=255u8).any(|wrong| {
            let mut spoilt = good.clone();
            (spoilt[0], spoilt[3]) = (!spoilt[0], spoilt[3] ^ wrong);
            let before = spoilt.clone();
            let status = repair(&mut spoilt, &mut corrected);
            status == SP_FINDING && corrected == [-1, 0] && spoilt == before
        });
        assert!(refused, "it stays as it is");
    }
}

/// Every protocol: an object to bytes, the bytes to an object, and to the same bytes again.
#[test]
fn streams_of_every_protocol() {
    open();
    for protocol in scalepool_protocols::registry::PROTOCOLS.iter().map(|p| p.name) {
        let bytes: Vec<u8> = match protocol {
            "cxl-68b" => vec![0; 68],
            "nvlink" => vec![0; 16],
            "ualink" => vec![0; 640],
            _ => vec![0; 256],
        };
        let (mut decoder, mut encoder) = (0, 0);
        let name = start(protocol);
        assert_eq!(unsafe { sp_decoder_new(name, protocol.len(), SP_UP, &mut decoder) }, SP_OK);
        assert_eq!(unsafe { sp_encoder_new(name, protocol.len(), SP_UP, &mut encoder) }, SP_OK);
        let two = [bytes.clone(), bytes.clone()].concat();
        assert_eq!(unsafe { sp_stream_decode(decoder, two.as_ptr(), bytes.len(), 2) }, SP_OK);
        assert_eq!(sp_stream_finish(decoder), SP_OK);
        let take = |stream, t, c, l| unsafe { sp_stream_take(stream, t, c, l, null_mut(), 0, null_mut()) };
        for _ in 0..2 {
            // A flit of zeros has a wrong CRC: the object is there all the same.
            let (status, form) = text_of(|t, c, l| take(decoder, t, c, l));
            assert!([SP_OK, SP_FINDING].contains(&status), "{protocol}: {status}");
            assert_eq!(unsafe { sp_stream_encode(encoder, start(&form), form.len()) }, SP_OK);
        }
        assert_eq!(text_of(|t, c, l| take(decoder, t, c, l)).0, SP_EMPTY, "{protocol}");
        assert_eq!(sp_stream_finish(encoder), SP_OK);
        let (mut flit, mut length) = (vec![1; 700], 0);
        let status =
            unsafe { sp_stream_take(encoder, null_mut(), 0, null_mut(), flit.as_mut_ptr(), flit.len(), &mut length) };
        assert!([SP_OK, SP_FINDING].contains(&status), "{protocol}: {status} {}", last_error());
        assert_eq!(length, bytes.len(), "{protocol}");
        let mut waiting = 0;
        assert_eq!(unsafe { sp_stream_waiting(encoder, &mut waiting) }, SP_OK);
        assert_eq!(waiting, 1);
        assert_eq!(unsafe { sp_stream_decode(encoder, bytes.as_ptr(), 1, 1) }, SP_ERR_KIND);
        assert_eq!(unsafe { sp_stream_encode(decoder, start("x"), 1) }, SP_ERR_KIND);
        assert_eq!(unsafe { sp_stream_decode(decoder, bytes.as_ptr(), 15, 1) }, SP_OK);
        assert_eq!(take(decoder, null_mut(), 0, null_mut()), SP_UNREADABLE, "15 bytes are no flit");
        assert_eq!((sp_stream_destroy(decoder), sp_stream_destroy(encoder)), (SP_OK, SP_OK));
        assert_eq!(sp_stream_destroy(decoder), SP_ERR_HANDLE);
    }
    let mut handle = 0;
    assert_eq!(unsafe { sp_decoder_new(start("cxl"), 3, SP_UP, &mut handle) }, SP_ERR_INPUT);
    assert_eq!(unsafe { sp_decoder_new(start("cxl-68b"), 7, 2, &mut handle) }, SP_ERR_RANGE);
}

#[test]
fn arbiters_grant_what_the_model_does() {
    open();
    use scalepool::arbiter::{Arbiter, Matrix, RoundRobin, WeightedRoundRobin};
    let weights: [u32; 5] = [3, 0, 65535, 1, 2];
    let models: [(u32, usize, Box<dyn Arbiter>); 3] = [
        (SP_ARBITER_ROUND_ROBIN, 0, Box::new(RoundRobin::new(5).expect("fits"))),
        (SP_ARBITER_MATRIX, 0, Box::new(Matrix::new(5).expect("fits"))),
        (SP_ARBITER_WEIGHTED, 5, Box::new(WeightedRoundRobin::new(&weights.map(|w| w as u16)).expect("fits"))),
    ];
    let new = |kind, requesters, length| {
        let mut arbiter = 0;
        (unsafe { sp_arbiter_new(kind, requesters, weights.as_ptr(), length, &mut arbiter) }, arbiter)
    };
    for (kind, length, mut model) in models {
        let (status, arbiter) = new(kind, 5, length);
        assert_eq!(status, SP_OK, "{}", last_error());
        for slot in 0..200u64 {
            // Bits beyond the requesters are set at times, and not every grant is used.
            let (requests, used) = ((slot * 0x9e37) >> 5 & 0x7f, u32::from(slot % 3 != 0));
            let mut granted = 0;
            assert_eq!(unsafe { sp_arbiter_grant(arbiter, requests, used, &mut granted) }, SP_OK);
            let winner = model.arbitrate(&requests.into());
            assert_eq!(granted, winner.map_or(0, |winner| 1 << winner), "kind {kind}, slot {slot}");
            winner.filter(|_| used == 1).into_iter().for_each(|winner| model.update(&requests.into(), winner));
        }
        let mut granted = 7;
        assert_eq!(unsafe { sp_arbiter_grant(arbiter, 1, 2, &mut granted) }, SP_ERR_RANGE);
        assert_eq!(unsafe { sp_arbiter_grant(arbiter, 1, 1, null_mut()) }, SP_ERR_NULL);
        assert_eq!(sp_stream_destroy(arbiter), SP_ERR_HANDLE, "another kind of handle");
        assert_eq!((sp_arbiter_destroy(arbiter), sp_arbiter_destroy(arbiter)), (SP_OK, SP_ERR_HANDLE));
        assert_eq!(unsafe { sp_arbiter_grant(arbiter, 1, 1, &mut granted) }, SP_ERR_HANDLE);
        assert_eq!(granted, 7, "a refusal writes nothing");
    }
    for (kind, requesters, length) in [(0, 1, 0), (4, 1, 0), (1, 0, 0), (2, 65, 0), (3, 0, 0), (3, 4, 5), (1, 5, 5)] {
        assert_eq!(new(kind, requesters, length), (SP_ERR_RANGE, 0), "kind {kind}, {requesters}, {length}");
    }
    let mut arbiter = 0;
    assert_eq!(unsafe { sp_arbiter_new(3, 1, [65536].as_ptr(), 1, &mut arbiter) }, SP_ERR_RANGE);
    assert_eq!(unsafe { sp_arbiter_new(3, 1, std::ptr::null(), 1, &mut arbiter) }, SP_ERR_NULL);
}

/// The model converts a read, a scoreboard knows its messages, and one that says something else is found.
#[test]
fn bridges_convert_and_are_watched() {
    open();
    let config = r#"{"protocol":"ualink","direction":"outbound","windows":[
        {"class":"MN","base":0,"size":2097152,"out_base":"0x100000000"}]}"#;
    let new = |watches| {
        let mut bridge = 0;
        (unsafe { sp_bridge_new(start(config), config.len(), watches, &mut bridge) }, bridge)
    };
    let ((model_made, model), (board_made, board)) = (new(0), new(1));
    assert_eq!((model_made, board_made, new(2).0), (SP_OK, SP_OK, SP_ERR_RANGE));
    let pass = |bridge, point, text: &str| unsafe { sp_bridge_pass(bridge, point, 0, start(text), text.len()) };
    let next = || {
        let (mut point, mut port) = (9, 9);
        let (status, text) = text_of(|t, c, l| unsafe { sp_bridge_next(model, &mut point, &mut port, t, c, l) });
        (status, point, text)
    };
    let request = r#"{"layout":"ualink.tl_req","fields":{"cmd":"Read","address":"0x40","len":15,"tag":5}}"#;
    assert_eq!((pass(model, SP_BRIDGE_REQUEST, request), pass(board, SP_BRIDGE_REQUEST, request)), (SP_OK, SP_OK));
    let (status, point, sent) = next();
    assert_eq!((status, point), (SP_OK, SP_BRIDGE_SENT));
    assert!(sent.contains(r#""opcode":"MemRd""#) && sent.contains("4294967360"), "{sent}");
    assert_eq!(next().0, SP_EMPTY);
    let other = sent.replace("4294967360", "4294967424");
    assert_eq!(pass(board, SP_BRIDGE_SENT, &other), SP_FINDING);
    let finding = || text_of(|t, c, l| unsafe { sp_bridge_finding(board, t, c, l) });
    let (status, found) = finding();
    assert_eq!((status, finding().0), (SP_OK, SP_EMPTY));
    let found: Value = serde_json::from_str(&found).expect("JSON");
    assert_eq!((&found["rule"], &found["message"]), (&"BRG-INT-02".into(), &1.into()));
    assert_eq!(pass(board, SP_BRIDGE_SENT, &sent), SP_OK);
    let data = "5a".repeat(64);
    let answer =
        format!(r#"{{"layout":"cxl256.s2m_drs","fields":{{"opcode":"MemData","meta_field":"NoOp"}},"data":"{data}"}}"#);
    assert_eq!((pass(model, SP_BRIDGE_ANSWER, &answer), pass(board, SP_BRIDGE_ANSWER, &answer)), (SP_OK, SP_OK));
    let (status, point, response) = next();
    assert_eq!((status, point), (SP_OK, SP_BRIDGE_RESPONSE));
    assert!(response.contains(&data), "{response}");
    assert_eq!(sp_bridge_finish(board), SP_FINDING, "the response has not left");
    assert_eq!(pass(model, SP_BRIDGE_SENT, &sent), SP_ERR_RANGE, "the model makes it");
    assert_eq!(pass(model, 4, &sent), SP_ERR_RANGE);
    assert_eq!(pass(model, SP_BRIDGE_REQUEST, &answer), SP_ERR_INPUT, "it comes from the other side");
    assert_eq!(pass(model, SP_BRIDGE_REQUEST, "{}"), SP_ERR_INPUT);
    let commit = |bridge, text: &str| unsafe { sp_bridge_commit(bridge, start(text), text.len()) };
    let windows = r#"{"windows":[{"class":"MN","base":0,"size":2097152,"out_base":0}]}"#;
    assert_eq!(commit(model, windows), SP_OK, "nothing is under way");
    assert_eq!((pass(model, SP_BRIDGE_REQUEST, request), next().1), (SP_OK, SP_BRIDGE_SENT));
    assert_eq!((commit(model, windows), pass(model, SP_BRIDGE_REQUEST, request)), (SP_FULL, SP_FULL));
    assert_eq!((commit(model, windows), commit(board, r#"{"own":1}"#)), (SP_ERR_INPUT, SP_ERR_INPUT));
    let credit = |bridge, text: &str| unsafe { sp_bridge_credit(bridge, start(text), text.len()) };
    let two = r#"{"point":"sent","class":"m2s_req","count":2}"#;
    assert_eq!((credit(model, two), credit(board, two)), (SP_ERR_RANGE, SP_ERR_INPUT), "no pool is named");
    let pools = r#""credits":[{"point":"sent","class":"m2s_req","depth":1}],"protocol""#;
    let pooled = config.replacen("\"protocol\"", pools, 1);
    let made = |watches| {
        let mut bridge = 0;
        (unsafe { sp_bridge_new(start(&pooled), pooled.len(), watches, &mut bridge) }, bridge)
    };
    let (status, pools) = made(1);
    assert_eq!((status, made(0).0), (SP_OK, SP_ERR_RANGE));
    assert_eq!((credit(pools, two), sp_bridge_destroy(pools)), (SP_FINDING, SP_OK));
    assert_eq!((sp_bridge_destroy(model), sp_bridge_destroy(model)), (SP_OK, SP_ERR_HANDLE));
    assert_eq!((sp_arbiter_destroy(board), sp_bridge_destroy(board)), (SP_ERR_HANDLE, SP_OK));
}
