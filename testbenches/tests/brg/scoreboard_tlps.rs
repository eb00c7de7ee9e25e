//! TLPs at a bridge of somebody else: their order, and the credits of CXL.io (`bridge` §5.3, §6.2).

use super::scoreboard::{config_of, found, message_of, passes};
use scalepool::conversion::model::{BridgeEvent, BridgePoint, ReferenceBridge};
use serde_json::{Value, json};

const TO_IO: &str = r#"{"protocol":"ualink","direction":"outbound","io_ack":"sent","entries":256,"windows":[{"class":"IO","base":0,"size":2097152,"out_base":0}]}"#;
const BAR: &str =
    r#"{"protocol":"ualink","direction":"inbound","windows":[{"class":"BR","base":0,"size":2097152,"out_base":0}]}"#;

/// A write of one line of an accelerator.
fn write(source: u16, tag: u16, address: u64) -> BridgeEvent {
    let fields = json!({ "cmd": "WriteFull", "src": source, "tag": tag, "address": address, "len": 15 });
    let form = json!({ "layout": "ualink.tl_req", "fields": fields, "data": [format!("{tag:02x}").repeat(64)] });
    passes(BridgePoint::Request, 0, message_of(&form.to_string()))
}

/// Two writes, the second one of this source, and what the model does with them: both requests, then what follows.
fn two_writes(source: u16) -> Vec<BridgeEvent> {
    let mut model = ReferenceBridge::new(config_of(TO_IO));
    let requests = [write(1, 3, 0x100), write(source, 4, 0x200)];
    let followed = requests.iter().flat_map(|request| model.request(0, &request.message).expect("an entry"));
    let followed: Vec<BridgeEvent> = followed.collect();
    requests.iter().cloned().chain(followed).collect()
}

/// Numbers of what leaves through the CXL port.
fn sent(events: &[BridgeEvent]) -> Vec<usize> {
    (0..events.len()).filter(|n| events[*n].point == BridgePoint::Sent).collect()
}

/// TLPs of two requests of one source leave in the order of these; those of two sources as they like.
#[test]
fn tlps_of_requests_of_one_source_that_pass_each_other_are_found() {
    for (source, rules) in [(1, &["BRG-ORD-04"][..]), (2, &[])] {
        let mut events = two_writes(source);
        assert_eq!(found(config_of(TO_IO), &events), [""; 0]);
        let [first, second] = sent(&events)[..] else { panic!("two MWr: {events:?}") };
        // What is answered when a TLP has left stands behind both.
        events.swap(first, second);
        events.sort_by_key(|event| event.point == BridgePoint::Response);
        assert_eq!(found(config_of(TO_IO), &events), rules, "source {source}");
    }
}

/// Two writes of the same bytes are alike: neither has passed the other.
#[test]
fn tlps_that_are_alike_have_no_order() {
    let mut model = ReferenceBridge::new(config_of(TO_IO));
    let mut events = Vec::new();
    for source in [1, 2] {
        let request = write(source, 3, 0x100);
        events.extend(model.request(0, &request.message).expect("an entry"));
        events.insert(usize::from(source) - 1, request);
    }
    let [first, second] = sent(&events)[..] else { panic!("two MWr: {events:?}") };
    events.swap(first, second);
    assert_eq!(found(config_of(TO_IO), &events), [""; 0]);
}

/// A read of two blocks at a BAR, each answered by its accelerator.
fn read_of_two_blocks() -> Vec<BridgeEvent> {
    let mut model = ReferenceBridge::new(config_of(BAR));
    let fields = json!({ "length": 128, "first_be": 15, "last_be": 15, "tag": 9, "requester": 8, "address": 0 });
    let read = message_of(&json!({ "layout": "cxlio.nfm_mem32", "fields": fields }).to_string());
    let mut events = vec![passes(BridgePoint::Request, 0, read.clone())];
    let asked = model.request(0, &read).expect("an entry");
    events.extend(asked.iter().cloned());
    for request in &asked {
        let form = json!({
            "layout": "ualink.tl_rsp",
            "fields": { "rdwr": "Read", "len": 3, "last": 1, "tag": request.message.tag() },
            "data": vec!["5a".repeat(64); 4],
        });
        let answer = message_of(&form.to_string());
        events.push(passes(BridgePoint::Answer, request.port, answer.clone()));
        events.extend(model.answer(request.port, &answer).expect("it comes there"));
    }
    // Both completions behind both answers.
    events.sort_by_key(|event| event.point == BridgePoint::Response);
    events
}

/// Completions of one read leave in the order of addresses.
#[test]
fn completions_that_pass_each_other_are_found() {
    let mut events = read_of_two_blocks();
    assert_eq!(found(config_of(BAR), &events), [""; 0]);
    let n = events.len();
    assert!(events[n - 2..].iter().all(|event| event.point == BridgePoint::Response), "{events:?}");
    events.swap(n - 2, n - 1);
    assert_eq!(found(config_of(BAR), &events), ["BRG-MAP-59"]);
}

/// A configuration with pools of these classes and depths, all at one point.
fn with_credits(config: &str, point: &str, pools: &[(&str, u64)]) -> Value {
    let mut form: Value = serde_json::from_str(config).expect("JSON");
    let pool = |&(class, depth): &(&str, u64)| json!({ "point": point, "class": class, "depth": depth });
    form["credits"] = pools.iter().map(pool).collect();
    form
}

/// A header, and 16 bytes of data, are a credit each: with none too few nothing is found, with one too few the TLP that lacks it.
#[test]
fn credits_of_cxl_io_are_counted() {
    use scalepool::conversion::scoreboard::BridgeScoreboard;
    let writes = two_writes(1);
    let reads = read_of_two_blocks();
    // Two MWr of a line; two completions of 256 bytes; one MRd.
    for (config, point, events, pools) in [
        (TO_IO, "sent", &writes, [("p_header", 2), ("p_data", 8)].as_slice()),
        (BAR, "response", &reads, &[("cpl_header", 2), ("cpl_data", 32)]),
        (BAR, "request", &reads, &[("np_header", 1), ("np_data", 1)]),
    ] {
        let form = with_credits(config, point, pools);
        for short in 0..=pools.len() {
            let mut board = BridgeScoreboard::new(config_of(&form.to_string()));
            for (n, (class, depth)) in pools.iter().enumerate() {
                let count = depth - u64::from(n == short);
                let credit = json!({ "point": point, "class": class, "count": count.max(1) });
                if count > 0 {
                    board.credit(&credit).expect("a credit");
                }
            }
            for event in events {
                board.pass(event).expect("it passes there");
            }
            // An MRd has no data.
            let is_lacking = short < pools.len() && pools[short].0 != "np_data";
            let found = board.finding().map(|finding| finding.rule);
            assert_eq!(found, is_lacking.then_some("BRG-CRD-01"), "{point}, {short}");
        }
    }
    let error =
        scalepool::conversion::config::ReferenceConfig::from_json(&with_credits(BAR, "request", &[("m2s_req", 1)]));
    let error = error.expect_err("a BAR has no such class").to_string();
    assert!(error.contains("one of: p_header, p_data, np_header, np_data"), "{error}");
}
