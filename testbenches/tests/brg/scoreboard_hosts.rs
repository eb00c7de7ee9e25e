//! The scoreboard on a bridge that asks hosts by CXL.cache, windows of class CC: seeded faults of such a bridge, its ports, its credits.

use super::scoreboard::{config_of, found, message_of, passes};
use scalepool::conversion::config::ReferenceConfig;
use scalepool::conversion::message::BridgeMessage;
use scalepool::conversion::model::{BridgeEvent, BridgePoint, ReferenceBridge};
use scalepool::conversion::scoreboard::BridgeScoreboard;
use scalepool::conversion::vectors::{self, ConversionVectors};
use serde_json::{Value, json};

/// A fault of a bridge, in a case of the vectors.
enum Fault {
    /// A message says something else: fields, or what stands beside them.
    Says(&'static [(&'static str, &'static str)]),
    /// A message leaves so many messages too early.
    Early(usize),
    /// A message does not leave, and nothing passes behind it.
    Lost,
    /// Another message leaves in front of it: an object of its layout and fields.
    Also(&'static str),
}

/// File, case, the message that is meant by its point and number there, and what is wrong.
type SeededFault = (&'static str, &'static str, (BridgePoint, usize), Fault);

const SENT: BridgePoint = BridgePoint::Sent;
const RESPONSE: BridgePoint = BridgePoint::Response;

/// Wrong bridges.
const FAULTS: [SeededFault; 21] = [
    // It answers snoops of a line that it has stored to as if it were not there, or gives it without its bytes, or others.
    (
        "ualink_cached_cc",
        "write full, SnpInv when it is there; Exclusive to owners",
        (SENT, 2),
        Fault::Says(&[("opcode", "RspIHitI")]),
    ),
    ("ualink_cached_cc", "write full, SnpInv when it is there; Exclusive to owners", (SENT, 3), Fault::Lost),
    (
        "ualink_cached_cc",
        "write full, SnpData when it is there; Exclusive to owners",
        (SENT, 3),
        Fault::Says(&[("data", "00")]),
    ),
    (
        "ualink_cached_cc",
        "write full, SnpCur when it is there; Exclusive to owners",
        (SENT, 2),
        Fault::Says(&[("opcode", "RspIFwdM")]),
    ),
    // It answers under a UQID of its own.
    (
        "ualink_cached_cc",
        "read, SnpInv when it is there; Exclusive to owners",
        (SENT, 2),
        Fault::Says(&[("uqid", "0")]),
    ),
    // R6: it answers by what it has only asked for.
    (
        "ualink_cached_cc",
        "read, SnpInv before the answer to RdShared; Exclusive to owners",
        (SENT, 2),
        Fault::Says(&[("opcode", "RspIHitSE")]),
    ),
    // R7: it waits with its answer, forwards what was there before the store, or keeps the line and gives it back later.
    (
        "ualink_cached_cc",
        "atomic, SnpInv behind the GO of RdOwn; Exclusive to owners",
        (SENT, 2),
        Fault::Says(&[("opcode", "RspIHitSE")]),
    ),
    (
        "ualink_cached_cc",
        "atomic, SnpInv behind the GO of RdOwn; Exclusive to owners",
        (SENT, 3),
        Fault::Says(&[("data", "80")]),
    ),
    (
        "ualink_to_cxl_cc",
        "atomic, SnpInv behind the GO of RdOwn, Exclusive to owners",
        (RESPONSE, 1),
        Fault::Also(r#"{"layout":"cxl256.d2h_req","fields":{"opcode":"DirtyEvict","cqid":0,"address":17179877376}}"#),
    ),
    // R8: it hides that a snoop has taken the line that it gives back.
    (
        "ualink_to_cxl_cc",
        "atomic, SnpInv before the answer to DirtyEvict, Exclusive to owners",
        (SENT, 5),
        Fault::Says(&[("bogus", "0")]),
    ),
    // An upgrade whose copy was lost goes on with the old bytes, or does not give up what it cannot use.
    ("ualink_cached_cc", "atomic of a shared line, SnpInv before its GO; Exclusive to owners", (SENT, 4), Fault::Lost),
    (
        "ualink_cached_cc",
        "atomic of a shared line, SnpInv before its GO; Exclusive to owners",
        (SENT, 5),
        Fault::Says(&[("opcode", "RdOwnNoData")]),
    ),
    // It asks otherwise than the table says.
    (
        "ualink_cached_cc",
        "read, then write full, a read, and another block; Exclusive to owners",
        (SENT, 1),
        Fault::Says(&[("opcode", "RdAny")]),
    ),
    (
        "ualink_cached_cc",
        "read, then write full, a read, and another block; Exclusive to owners",
        (SENT, 2),
        Fault::Says(&[("opcode", "RdOwn")]),
    ),
    (
        "ualink_cached_cc",
        "read, then write full, a read, and another block; Exclusive to owners",
        (SENT, 3),
        Fault::Says(&[("opcode", "CleanEvictNoData")]),
    ),
    // The data of a part has no byte enables; a write is answered before it is done.
    (
        "ualink_to_cxl_cc",
        "write part, SnpInv before the answer to WrInv, Exclusive to owners",
        (SENT, 3),
        Fault::Says(&[("enables", ""), ("bep", "0")]),
    ),
    (
        "ualink_to_cxl_cc",
        "write part, SnpInv before the answer to WrInv, Exclusive to owners",
        (RESPONSE, 1),
        Fault::Early(1),
    ),
    ("ualink_to_cxl_cc", "write full, WrCur refused by Error", (RESPONSE, 1), Fault::Early(1)),
    // It hides errors of the host.
    ("ualink_to_cxl_cc", "write full, WrCur refused by Error", (RESPONSE, 1), Fault::Says(&[("status", "OKAY")])),
    ("nvlink_to_cxl_cc", "atomic, RdOwn refused by Invalid", (RESPONSE, 1), Fault::Says(&[("size", "3")])),
    // It asks for a line before the one that leaves for it is given up.
    ("nvlink_cached_cc", "read, then read, a read, and another block; Exclusive to owners", (SENT, 3), Fault::Early(2)),
];

fn case(files: &[ConversionVectors], file: &str, what: &str) -> (ReferenceConfig, Vec<BridgeEvent>) {
    let file = files.iter().find(|of| of.name == file).expect("the file");
    let case = file.cases.iter().find(|case| case.what == what).unwrap_or_else(|| panic!("no case `{what}`"));
    (ReferenceConfig::from_json(&file.config).expect("a configuration"), case.events.clone())
}

fn with(message: &BridgeMessage, changes: &[(&str, &str)]) -> BridgeMessage {
    let mut form = message.to_json();
    for (name, value) in changes {
        match *name {
            "enables" => drop(form.as_object_mut().expect("an object").remove("enables")),
            "data" => {
                let old = form["data"].as_str().expect("bytes");
                form["data"] = format!("{value}{value}{}", &old[4..]).into();
            }
            _ => form["fields"][*name] = value.parse::<u64>().map_or_else(|_| json!(value), |number| json!(number)),
        }
    }
    BridgeMessage::from_json(&form).unwrap_or_else(|error| panic!("{error}: {form}"))
}

#[test]
fn faults_of_a_bridge_that_asks_hosts_are_found() {
    let files = vectors::all();
    for (file, what, (point, number), fault) in FAULTS {
        let (config, mut events) = case(&files, file, what);
        assert_eq!(found(config.clone(), &events), [""; 0], "{what}");
        let of_point = events.iter().enumerate().filter(|(_, event)| event.point == point).map(|(n, _)| n);
        let at = { of_point }.nth(number - 1).expect("such a message");
        match fault {
            Fault::Says(changes) => events[at].message = with(&events[at].message, changes),
            Fault::Early(steps) => {
                let event = events.remove(at);
                events.insert(at - steps, event);
            }
            Fault::Lost => events.truncate(at),
            Fault::Also(form) => events.insert(at, passes(SENT, 0, message_of(form))),
        }
        let rule = if matches!(fault, Fault::Lost) { "BRG-INT-03" } else { "BRG-INT-02" };
        assert!(found(config, &events).contains(&rule), "{file}, {what}: message {number} at {point:?}");
    }
}

fn host(rest: &str) -> String {
    let window = r#"{"class":"CC","base":0,"size":2097152,"out_base":0,"targets":[1]}"#;
    format!(r#"{{"protocol":"ualink","direction":"outbound","windows":[{window}]{rest}}}"#)
}

/// A port leads to a host or to memory, whatever is committed, and a cache of lines of hosts leaves CQIDs for what it gives back.
#[test]
fn ports_of_hosts_are_no_ports_of_memory() {
    let config = |text: &str| {
        ReferenceConfig::from_json(&scalepool::forms::parse(text).expect("JSON")).err().map(|error| error.to_string())
    };
    assert_eq!(config(&host("")), None);
    assert_eq!(config(&host(r#","cache":{},"entries":1007"#)), None);
    assert_eq!(config(&host(r#","entries":1024"#)), None);
    let two = |class: &str, port: u64| {
        let place = r#""base":2097152,"size":2097152,"out_base":2097152"#;
        let other = format!(r#"{{"class":"{class}",{place},"targets":[{port}]}}"#);
        // Windows of class IO are for bridges of few entries: tags of TLPs have 10 bits.
        host(r#","entries":64"#).replace("]}]", &format!("]}},{other}]"))
    };
    assert_eq!([two("MC", 0), two("IO", 1), two("CC", 2)].map(|text| config(&text)), [None, None, None]);
    for (text, word) in [
        (two("MC", 1), "window 1 of class MC or MN by port 1, expected no port from 1 to 1"),
        (host(r#","host_ports":[]"#), "no window of class CC"),
        (host(r#","host_ports":[2,3]"#), "window 0 of class CC by port 1, expected ports 2 to 3"),
        (host(r#","cache":{},"entries":1008"#), "at most 1007"),
        (host("").replace("ualink", "nvlink").replace("]}]", r#"]}],"single_beat":true"#), "one response"),
    ] {
        let error = config(&text).unwrap_or_else(|| panic!("{text} is taken"));
        assert!(error.contains(word), "{error}");
    }
    let moved = |class: &str, port: u64| json!({ "windows": [{ "class": class, "base": 0, "size": 2_097_152, "out_base": 0, "targets": [port] }] });
    let mut model = ReferenceBridge::new(config_of(&host(r#","host_ports":[1,2]"#)));
    assert_eq!((model.commit(&moved("CC", 2)), model.commit(&moved("MC", 0))), (Ok(true), Ok(true)));
    for (class, port) in [("CC", 0), ("MC", 2), ("MN", 1)] {
        let error = model.commit(&moved(class, port)).expect_err("another sort of port").to_string();
        assert!(error.contains("by port"), "{error}");
    }
}

const READ: &str = r#"{"layout":"ualink.tl_req","fields":{"cmd":"Read","len":15,"address":64,"tag":3}}"#;

fn h2d_data(cqid: u16, bytes: &str) -> BridgeMessage {
    message_of(&format!(r#"{{"layout":"cxl256.h2d_data","fields":{{"cqid":{cqid}}},"data":"{bytes}"}}"#))
}

/// What comes from a host has to come where one is, and under a CQID that is open: anything else is told and changes nothing.
#[test]
fn answers_that_are_no_hosts_are_found() {
    let mut model = ReferenceBridge::new(config_of(&host("")));
    let line = "5a".repeat(64);
    let sent = model.request(0, &message_of(READ)).expect("an entry").remove(0);
    assert_eq!((sent.port, sent.message.tag()), (1, Some(0)));
    let drs = r#"{"layout":"cxl256.s2m_drs","fields":{"opcode":"MemData","meta_field":"NoOp","tag":0},"data":"DATA"}"#;
    for (port, answer, rule) in [
        (1, message_of(&drs.replace("DATA", &line)), "COH-TYP-01"),
        (0, h2d_data(0, &line), "COH-TYP-01"),
        (1, h2d_data(4, &line), "COH-IDS-01"),
    ] {
        assert_eq!(model.answer(port, &answer), Ok(Vec::new()));
        assert_eq!(model.take_findings().iter().map(|finding| finding.rule).collect::<Vec<_>>(), [rule]);
    }
    let response = model.answer(1, &h2d_data(0, &line)).expect("an answer").remove(0);
    assert_eq!((response.point, model.open()), (BridgePoint::Response, 0));
    assert!(model.answer(1, &message_of(r#"{"layout":"cxl256.d2h_rsp","fields":{"opcode":"RspIHitI"}}"#)).is_err());

    let mut board = BridgeScoreboard::new(config_of(&host("")));
    for event in [passes(BridgePoint::Request, 0, message_of(READ)), sent.clone()] {
        board.pass(&BridgeEvent { message: event.message.clone(), ..event }).expect("it passes there");
    }
    board.pass(&passes(BridgePoint::Answer, 1, h2d_data(7, &line))).expect("it passes there");
    assert_eq!(board.finding().map(|finding| finding.rule), Some("BRG-TAG-02"));
}

/// A CQID under which an answer is still to come names one line; behind the last one it is free.
#[test]
fn a_cqid_is_used_by_one_request_at_a_time() {
    let line = "5a".repeat(64);
    for (again, is_right) in [(false, true), (true, false)] {
        let mut board = BridgeScoreboard::new(config_of(&host("")));
        let read =
            |address: u64| message_of(&READ.replace("64", &address.to_string()).replace(":3", &format!(":{address}")));
        let sent = |address: u64| {
            let fields = format!(r#""opcode":"RdCurr","cqid":9,"address":{address}"#);
            passes(SENT, 1, message_of(&format!(r#"{{"layout":"cxl256.d2h_req","fields":{{{fields}}}}}"#)))
        };
        let mut events = vec![passes(BridgePoint::Request, 0, read(256)), sent(256)];
        if !again {
            events.push(passes(BridgePoint::Answer, 1, h2d_data(9, &line)));
        }
        events.extend([passes(BridgePoint::Request, 0, read(512)), sent(512)]);
        for event in &events {
            board.pass(event).expect("it passes there");
        }
        assert_eq!(board.finding().map(|finding| finding.rule), if is_right { None } else { Some("BRG-TAG-02") });
    }
}

/// Of a sum that is no number any one will do in the data that a host pulls, and in those that it takes by a snoop.
#[test]
fn numbers_that_are_none_are_the_same_for_a_host() {
    let (nan, other, zero) = ("0100c07f", "0200c0ff", "00000000");
    let request = format!(
        r#"{{"layout":"ualink.tl_req","fields":{{"cmd":"AtomicNR","len":0,"attr":160,"address":64,"tag":3}},"data":["{nan}{}"],"enables":"0000000000000000ff{}"}}"#,
        zero.repeat(15),
        "00".repeat(23)
    );
    let rsp = |opcode: &str, data: u64| {
        message_of(&format!(
            r#"{{"layout":"cxl256.h2d_rsp","fields":{{"opcode":"{opcode}","rsp_data":{data},"cqid":0}}}}"#
        ))
    };
    let snoop = message_of(r#"{"layout":"cxl256.h2d_req","fields":{"opcode":"SnpInv","address":64,"uqid":9}}"#);
    let runs = [
        vec![rsp("GO", 2), h2d_data(0, &zero.repeat(16)), rsp("GO_WritePull", 9)],
        vec![rsp("GO", 2), snoop.clone(), h2d_data(0, &zero.repeat(16))],
        vec![rsp("GO", 2), h2d_data(0, &zero.repeat(16)), snoop, rsp("GO_WritePull", 10)],
    ];
    for answers in runs {
        let mut model = ReferenceBridge::new(config_of(&host("")));
        let request = passes(BridgePoint::Request, 0, message_of(&request));
        let mut events = vec![request.clone()];
        events.extend(model.request(0, &request.message).expect("an entry"));
        for message in answers {
            let followed = model.answer(1, &message).expect("an answer");
            events.push(passes(BridgePoint::Answer, 1, message));
            events.extend(followed);
        }
        assert_eq!(model.open(), 0, "{events:?}");
        for (first, is_right) in [(nan, true), (other, true), (zero, false)] {
            let changed = |event: &BridgeEvent| {
                let mut form = event.message.to_json();
                if form["layout"] == "cxl256.d2h_data" && form["fields"]["bogus"] == json!(0) {
                    form["data"] = format!("{first}{}", zero.repeat(15)).into();
                }
                BridgeEvent { message: message_of(&form.to_string()), ..event.clone() }
            };
            let changed: Vec<BridgeEvent> = events.iter().map(changed).collect();
            assert_eq!(found(config_of(&host("")), &changed).is_empty(), is_right, "{first}: {changed:?}");
        }
    }
}

/// Credits of CXL.cache are counted at both points of a host's port: one too few is found at the message that lacks it.
#[test]
fn credits_of_hosts_are_counted() {
    let files = vectors::all();
    let (_, events) =
        case(&files, "ualink_to_cxl_cc", "write part, SnpInv before the answer to WrInv, Exclusive to owners");
    let rows = [
        ("sent", "d2h_req", 2),
        ("sent", "d2h_rsp", 1),
        ("sent", "d2h_data", 1),
        ("answer", "h2d_req", 1),
        ("answer", "h2d_rsp", 2),
        ("answer", "h2d_data", 1),
    ];
    let mut form: Value = files.iter().find(|file| file.name == "ualink_to_cxl_cc").expect("the file").config.clone();
    form["credits"] =
        rows.iter().map(|(point, class, _)| json!({ "point": point, "class": class, "depth": 4 })).collect();
    for lacking in 0..=rows.len() {
        let mut board = BridgeScoreboard::new(ReferenceConfig::from_json(&form).expect("a configuration"));
        for (n, (point, class, count)) in rows.into_iter().enumerate() {
            let count = if n == lacking { count - 1 } else { 4 };
            if count > 0 {
                board.credit(&json!({ "point": point, "class": class, "count": count })).expect("a credit");
            }
        }
        events.iter().for_each(|event| board.pass(event).expect("it passes there"));
        let rule = board.finding().map(|finding| finding.rule);
        assert_eq!(rule, (lacking < rows.len()).then_some("BRG-CRD-01"), "{lacking}");
    }
    form["credits"] = json!([{ "point": "sent", "class": "h2d_req", "depth": 4 }]);
    let error = ReferenceConfig::from_json(&form).expect_err("hosts send it").to_string();
    assert!(error.contains("one of: m2s_req, m2s_rwd, m2s_birsp, d2h_req, d2h_rsp, d2h_data"), "{error}");
}
