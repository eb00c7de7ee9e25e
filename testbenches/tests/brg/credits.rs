//! Credits at both sides of a bridge of somebody else, and the order of its responses (`bridge` §6.2, §7).

use scalepool::conversion::config::ReferenceConfig;
use scalepool::conversion::message::BridgeMessage;
use scalepool::conversion::model::{BridgeEvent, BridgePoint, ReferenceBridge};
use scalepool::conversion::scoreboard::BridgeScoreboard;
use serde_json::{Value, json};

fn config(protocol: &str, direction: &str, credits: &Value) -> Value {
    let class = if direction == "outbound" { "MN" } else { "NH" };
    let windows = json!([{ "class": class, "base": 0, "size": 2_097_152, "out_base": 0 }]);
    json!({ "protocol": protocol, "direction": direction, "windows": windows, "credits": credits })
}

fn board(config: &Value) -> BridgeScoreboard {
    BridgeScoreboard::new(ReferenceConfig::from_json(config).unwrap_or_else(|error| panic!("{error}")))
}

fn message(form: &Value) -> BridgeMessage {
    BridgeMessage::from_json(form).unwrap_or_else(|error| panic!("{error}"))
}

/// Every message of some requests, each with what memory or an accelerator answers to it.
fn events(config: &Value, requests: &[Value], answer: impl Fn(&BridgeEvent) -> Vec<Value>) -> Vec<BridgeEvent> {
    let mut model = ReferenceBridge::new(ReferenceConfig::from_json(config).expect("a configuration"));
    let mut all = Vec::new();
    for request in requests {
        let request = message(request);
        let mut made = model.request(0, &request).expect("room");
        all.push(BridgeEvent { point: BridgePoint::Request, port: 0, message: request });
        while !made.is_empty() {
            let event = made.remove(0);
            if event.point == BridgePoint::Sent {
                for form in answer(&event) {
                    let message = message(&form).tagged(event.message.tag().expect("a tag"));
                    made.extend(model.answer(event.port, &message).expect("it is awaited"));
                    made.insert(0, BridgeEvent { point: BridgePoint::Answer, port: event.port, message });
                }
            }
            all.push(event);
        }
    }
    // What was answered at once stands behind what asked for it.
    all
}

/// Memory of CXL: a Cmp, or data.
fn of_memory(event: &BridgeEvent) -> Vec<Value> {
    match event.message.layout() {
        "cxl256.m2s_req" => {
            let fields = json!({ "opcode": "MemData", "meta_field": "NoOp" });
            vec![json!({ "layout": "cxl256.s2m_drs", "fields": fields, "data": "5a".repeat(64) })]
        }
        _ => vec![json!({ "layout": "cxl256.s2m_ndr", "fields": { "opcode": "Cmp", "meta_field": "NoOp" } })],
    }
}

/// A read of two lines and a write of one, on virtual channel 1.
fn requests() -> [Value; 2] {
    let read = json!({ "cmd": "Read", "address": 0x40, "len": 31, "tag": 3, "vchan": 1 });
    let write = json!({ "cmd": "WriteFull", "address": 0x100, "len": 15, "tag": 4, "vchan": 1 });
    [
        json!({ "layout": "ualink.tl_req", "fields": read }),
        json!({ "layout": "ualink.tl_req", "fields": write, "data": ["a5".repeat(64)] }),
    ]
}

/// Pools with what passes of each in [`requests`]: point, class, channel, how many.
const POOLS: [(&str, &str, Option<u64>, u64); 8] = [
    ("request", "request", Some(1), 2),
    ("request", "request_data", Some(1), 1),
    ("sent", "m2s_req", None, 2),
    ("sent", "m2s_rwd", None, 1),
    ("answer", "s2m_drs", None, 2),
    ("answer", "s2m_ndr", None, 1),
    ("response", "response", Some(1), 2),
    ("response", "response_data", Some(1), 2),
];

/// A credit, or a pool with a depth.
fn pool((point, class, vchan, _): (&str, &str, Option<u64>, u64), more: (&str, u64)) -> Value {
    let mut form = json!({ "point": point, "class": class, more.0: more.1 });
    if let Some(vchan) = vchan {
        form["vchan"] = json!(vchan);
    }
    form
}

/// All pools, each with 8 buffers.
fn pools() -> Value {
    POOLS.map(|row| pool(row, ("depth", 8))).into_iter().collect()
}

/// Runs with credits of one pool told in other numbers: at first, and behind the last message; all others are told as they have to be.
fn run(of: Option<(usize, u64, u64)>) -> Vec<&'static str> {
    let config = config("ualink", "outbound", &pools());
    let mut board = board(&config);
    let tell = |board: &mut BridgeScoreboard, is_first: bool| {
        for (n, row) in POOLS.into_iter().enumerate() {
            let counts = of.filter(|(pool, ..)| *pool == n).map_or((8, row.3), |(_, first, last)| (first, last));
            let count = if is_first { counts.0 } else { counts.1 };
            if count > 0 {
                board.credit(&pool(row, ("count", count))).expect("a credit");
            }
        }
    };
    tell(&mut board, true);
    let mut found = Vec::new();
    for event in events(&config, &requests(), of_memory) {
        board.pass(&event).expect("it passes there");
    }
    tell(&mut board, false);
    board.finish();
    while let Some(finding) = board.finding() {
        found.push(finding.rule);
        board.drop_finding();
    }
    found
}

/// Messages with credits, and all credits back: nothing is found, at no point; the last credit is enough, and pools that are not named are free.
#[test]
fn brg_crd_01_p() {
    assert_eq!(run(None), [""; 0]);
    for (n, row) in POOLS.into_iter().enumerate() {
        assert_eq!(run(Some((n, row.3, 8))), [""; 0], "{}", row.1);
    }
    let config = config("ualink", "outbound", &json!([]));
    let mut board = board(&config);
    for event in events(&config, &requests(), of_memory) {
        board.pass(&event).expect("it passes there");
    }
    board.finish();
    assert_eq!(board.finding(), None);
}

/// One credit too few at each point is found at the message that lacks it.
#[test]
fn brg_crd_01_n() {
    for (n, row) in POOLS.into_iter().enumerate() {
        assert_eq!(run(Some((n, row.3 - 1, 9))), ["BRG-CRD-01"], "{}", row.1);
    }
    // One credit that is never given is one finding: later messages spend credits that come back.
    let config_of_one = config("ualink", "outbound", &json!([pool(POOLS[2], ("depth", 2))]));
    let mut of_one = board(&config_of_one);
    let mut found = 0;
    for event in events(&config_of_one, &[requests()[0].clone(), requests()[0].clone()], of_memory) {
        of_one.pass(&event).expect("it passes there");
        if event.point == BridgePoint::Sent {
            of_one.credit(&pool(POOLS[2], ("count", 1))).expect("a credit");
        }
        while of_one.finding().is_some() {
            found += 1;
            of_one.drop_finding();
        }
    }
    assert_eq!(found, 1);
    // The number of the message is that of the second MemRd.
    let config = config("ualink", "outbound", &json!([pool(POOLS[2], ("depth", 1))]));
    let mut board = board(&config);
    board.credit(&pool(POOLS[2], ("count", 1))).expect("a credit");
    let events = events(&config, &requests()[..1], of_memory);
    events.iter().for_each(|event| board.pass(event).expect("it passes there"));
    let sent: Vec<_> = (0u64..).zip(&events).filter(|(_, e)| e.point == BridgePoint::Sent).map(|(n, _)| n).collect();
    let finding = board.finding().expect("a finding");
    assert_eq!((finding.message, finding.rule), (sent[1], "BRG-CRD-01"));
    assert_eq!(finding.found, "a message that spends 1 of 0 credits of m2s_req at the point `sent`, port 0");
}

/// As many credits as buffers are right, in one piece or in several.
#[test]
fn brg_crd_02_p() {
    let mut board =
        board(&config("nvlink", "inbound", &json!([{ "point": "sent", "class": "header", "vchan": 2, "depth": 3 }])));
    let credit = |count| json!({ "point": "sent", "class": "header", "vchan": 2, "count": count });
    board.credit(&credit(1)).expect("a credit");
    board.credit(&credit(2)).expect("a credit");
    board.finish();
    assert_eq!(board.finding(), None);
}

/// One more is found at once; at the point of requests, which pass behind the wire, at the end.
#[test]
fn brg_crd_02_n() {
    for (n, row) in POOLS.into_iter().enumerate() {
        let expected: &[&str] = if row.0 == "request" {
            &["BRG-CRD-02", "BRG-CRD-03"]
        } else {
            &["BRG-CRD-02", "BRG-CRD-02", "BRG-CRD-03"]
        };
        assert_eq!(run(Some((n, 9, row.3))), expected, "{}", row.1);
    }
}

/// Credits of requests that come before the request passes are right in the end.
#[test]
fn brg_crd_03_p() {
    for n in [0, 1] {
        assert_eq!(run(Some((n, 8 + POOLS[n].3, 0))), [""; 0]);
    }
}

/// A credit that is lost, or given back twice, is found at the end.
#[test]
fn brg_crd_03_n() {
    for (n, row) in POOLS.into_iter().enumerate() {
        assert_eq!(run(Some((n, 8, row.3 - 1))), ["BRG-CRD-03"], "{}: one lost", row.1);
    }
    assert_eq!(run(Some((0, 8, 3))), ["BRG-CRD-02", "BRG-CRD-03"]);
}

/// NVLink spends a header and its data flits, 16 bytes each, an inbound bridge of UALink commands and beats; each on the channel that is named.
#[test]
fn credits_of_other_sides() {
    let write = json!({ "op": "WRITE_NONPOSTED", "address": 0x100, "tag": 4, "vc": "CREQ0" });
    let write = json!({ "layout": "nvlink.header", "fields": write, "data": "a5".repeat(64) });
    let header = ("request", "header", Some(0), 1);
    let data = ("request", "data", Some(0), 4);
    for (flits, rules) in [(4, &[][..]), (3, &["BRG-CRD-01"][..])] {
        let config = config("nvlink", "outbound", &json!([pool(header, ("depth", 1)), pool(data, ("depth", flits))]));
        let mut board = board(&config);
        board.credit(&pool(header, ("count", 1))).expect("a credit");
        board.credit(&pool(data, ("count", flits))).expect("credits");
        for event in events(&config, std::slice::from_ref(&write), of_memory) {
            board.pass(&event).expect("it passes there");
        }
        let found: Vec<_> = board.finding().map(|finding| finding.rule).into_iter().collect();
        assert_eq!(found, rules, "{flits}");
    }
    let read = json!({ "opcode": "MemRd", "meta_field": "NoOp", "snp_type": "NoOp", "address": 256 });
    let read = json!({ "layout": "cxl256.m2s_req", "fields": read });
    let beats = ("answer", "response_data", Some(0), 1);
    let config = config("ualink", "inbound", &json!([pool(beats, ("depth", 1))]));
    let of_accelerator = |_: &BridgeEvent| {
        vec![json!({ "layout": "ualink.tl_rsp", "fields": { "rdwr": "Read" }, "data": ["5a".repeat(64)] })]
    };
    let mut board = board(&config);
    for event in events(&config, &[read], of_accelerator) {
        board.pass(&event).expect("it passes there");
    }
    assert_eq!(board.finding().map(|finding| finding.rule), Some("BRG-CRD-01"));
}

#[test]
fn pools_and_credits_that_cannot_be_are_refused() {
    let refused = |credits: Value, words: &str| {
        let error = ReferenceConfig::from_json(&config("ualink", "outbound", &credits)).expect_err(words).to_string();
        assert!(error.contains(words), "{error}");
    };
    refused(json!({}), "expected a list of at most");
    refused(json!([{ "point": "here", "class": "m2s_req", "depth": 1 }]), "`here`");
    refused(
        json!([{ "point": "sent", "class": "request", "depth": 1 }]),
        "expected one of: m2s_req, m2s_rwd, m2s_birsp",
    );
    refused(json!([{ "point": "sent", "class": "m2s_req", "depth": 0 }]), "depth: found 0, expected 1 to");
    refused(json!([{ "point": "sent", "class": "m2s_req", "vchan": 1, "depth": 1 }]), "vchan");
    refused(
        json!([{ "point": "request", "class": "request", "vchan": 4, "depth": 1 }]),
        "vchan: found 4, expected 0 to 3",
    );
    refused(
        json!([{ "point": "sent", "class": "m2s_req", "port": 1024, "depth": 1 }]),
        "port: found 1024, expected 0 to 1023",
    );
    // GPUs have no common pool, and 8 channels; an inbound half asks by the ports that it is told of.
    for (channel, words) in
        [(json!({}), "vchan: found no such key, expected 0 to 7"), (json!({ "vchan": 8 }), "found 8")]
    {
        let mut pool = json!({ "point": "request", "class": "header", "depth": 1 });
        pool.as_object_mut().expect("an object").extend(channel.as_object().expect("an object").clone());
        let form = config("nvlink", "outbound", &json!([pool]));
        let error = ReferenceConfig::from_json(&form).expect_err(words).to_string();
        assert!(error.contains(words), "{error}");
    }
    let asked = json!([{ "point": "sent", "class": "request", "port": 2, "depth": 1 }]);
    let mut form = config("ualink", "inbound", &asked);
    form["ports"] = json!(2);
    let error = ReferenceConfig::from_json(&form).expect_err("port 2 of two").to_string();
    assert!(error.contains("port: found 2, expected 0 to 1"), "{error}");
    form["ports"] = json!(3);
    assert!(ReferenceConfig::from_json(&form).is_ok());
    let twice = pool(POOLS[2], ("depth", 1));
    refused(json!([twice, twice]), "credits[1]: found m2s_req at the point `sent`, port 0 a second time");
    let mut board = board(&config("ualink", "outbound", &json!([twice])));
    for (credit, words) in [
        (json!({ "point": "sent", "class": "m2s_rwd" }), "a pool that `credits` of the configuration names"),
        (json!({ "point": "sent", "class": "m2s_req", "port": 1 }), "port 1"),
        (json!({ "point": "sent", "class": "m2s_req", "count": 0 }), "count: found 0"),
        (json!({ "point": "sent", "class": "m2s_req", "depth": 1 }), "key `depth`"),
    ] {
        let error = board.credit(&credit).expect_err(words).to_string();
        assert!(error.contains(words), "{error}");
    }
    assert_eq!(board.finding(), None);
}

/// In strict order two reads of one source are answered in their order: the other way round is found, unless the sources are two, one is a write, or the
/// order is that of blocks.
#[test]
fn responses_out_of_strict_order_are_found() {
    let read = |src: u64, tag: u64, block: u64| json!({ "layout": "ualink.tl_req", "fields": { "cmd": "Read", "src": src, "tag": tag, "address": 256 * block, "len": 15 } });
    let write = json!({ "layout": "ualink.tl_req", "data": ["a5".repeat(64)],
        "fields": { "cmd": "WriteFull", "src": 1, "tag": 2, "address": 512, "len": 15 } });
    for (order, second, is_found) in [
        ("sources", read(1, 2, 2), true),
        ("blocks", read(1, 2, 2), false),
        ("sources", read(2, 2, 2), false),
        ("sources", write, false),
    ] {
        let mut config = config("ualink", "outbound", &json!([]));
        config["order"] = json!(order);
        let mut all = events(&config, &[read(1, 1, 0), second], of_memory);
        let first = all.iter().position(|event| event.point == BridgePoint::Response).expect("a response");
        let late = all.remove(first);
        all.push(late);
        let mut board = board(&config);
        all.iter().for_each(|event| board.pass(event).expect("it passes there"));
        assert_eq!(board.finding().map(|finding| finding.rule), is_found.then_some("BRG-ORD-03"), "{order}");
    }
}

/// The classes of NVLink are judged apart, as those of UALink are: data that come early pass those of an earlier read, and no answer of a write.
#[test]
fn strict_order_of_nvlink_is_that_of_a_class() {
    let header = |op: &str, tag: u64, address: u64, more: Value| {
        let mut form =
            json!({ "layout": "nvlink.header", "fields": { "op": op, "address": address, "tag": tag, "vc": "CREQ0" } });
        form.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        form
    };
    let read = |tag: u64, address: u64| header("READ", tag, address, json!({}));
    let write = |tag: u64, address: u64| header("WRITE_NONPOSTED", tag, address, json!({ "data": "a5".repeat(64) }));
    for (requests, is_found) in [
        ([read(1, 0), read(2, 512)], true),
        ([write(1, 0), write(2, 512)], true),
        ([read(1, 0), write(2, 512)], false),
        ([write(1, 0), read(2, 512)], false),
    ] {
        let mut config = config("nvlink", "outbound", &json!([]));
        config["order"] = json!("sources");
        let mut all = events(&config, &requests, of_memory);
        let first = all.iter().position(|event| event.point == BridgePoint::Response).expect("a response");
        let late = all.remove(first);
        all.push(late);
        let mut board = board(&config);
        all.iter().for_each(|event| board.pass(event).expect("it passes there"));
        assert_eq!(board.finding().map(|finding| finding.rule), is_found.then_some("BRG-ORD-03"), "{requests:?}");
    }
}
