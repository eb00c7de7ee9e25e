//! The bridge as a reference model: its messages as JSON, and a scoreboard that watches a bridge with tags of its own.

use scalepool::conversion::config::ReferenceConfig;
use scalepool::conversion::message::BridgeMessage;
use scalepool::conversion::model::{BridgeEvent, BridgePoint, ReferenceBridge, ReferenceError};
use scalepool::conversion::scoreboard::BridgeScoreboard;
use scalepool::conversion::vectors::{self, ConversionVectors};
use scalepool_protocols::ualink::code::RdWr;
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::field::TlRsp;
use scalepool_protocols::ualink::pack::with_data;
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};

/// Families of rules that the model finds broken by requests of the cases themselves.
const OF_REQUESTS: [&str; 2] = ["COH-TYP-", "COH-MEM-"];
/// One case in so many is looked at.
const EVERY: usize = 29;

fn cases(files: &[ConversionVectors]) -> impl Iterator<Item = (ReferenceConfig, &[BridgeEvent])> {
    files.iter().flat_map(|file| {
        let config = ReferenceConfig::from_json(&file.config).expect("a configuration");
        file.cases.iter().step_by(EVERY).map(move |case| (config.clone(), case.events.as_slice()))
    })
}

/// The events of a bridge whose tags are others than those of the model.
fn retagged(events: &[BridgeEvent]) -> Vec<BridgeEvent> {
    let retag = |event: &BridgeEvent| {
        let is_below = matches!(event.point, BridgePoint::Sent | BridgePoint::Answer);
        let tag = event.message.tag().filter(|_| is_below);
        let mut message = tag.map_or_else(|| event.message.clone(), |tag| event.message.clone().tagged(tag ^ 0x155));
        if let Some(tag) = message.snoop_tag() {
            message.set_snoop_tag(tag ^ 0x5);
        }
        BridgeEvent { message, ..event.clone() }
    };
    events.iter().map(retag).collect()
}

/// Rules that a run of a scoreboard has found broken.
pub fn found(config: ReferenceConfig, events: &[BridgeEvent]) -> Vec<&'static str> {
    let mut scoreboard = BridgeScoreboard::new(config);
    for event in events {
        scoreboard.pass(event).unwrap_or_else(|error| panic!("{error}: {event:?}"));
    }
    scoreboard.finish();
    let mut rules = Vec::new();
    while let Some(finding) = scoreboard.finding() {
        rules.push(finding.rule);
        scoreboard.drop_finding();
    }
    rules
}

/// Findings that the model itself has of messages that no row has.
fn of_requests(rules: &[&'static str]) -> bool {
    rules.iter().all(|rule| OF_REQUESTS.iter().any(|family| rule.starts_with(family)))
}

#[test]
fn messages_are_what_their_json_says() {
    let mut count = 0;
    for (_, events) in cases(&vectors::all()) {
        for event in events {
            let form = event.message.to_json();
            let read = BridgeMessage::from_json(&form).unwrap_or_else(|error| panic!("{error}: {form}"));
            assert_eq!(read.to_json(), form);
            count += 1;
        }
    }
    assert!(count > 800, "{count}");
}

#[test]
fn a_bridge_that_does_as_the_model_is_right_whatever_its_tags() {
    for (config, events) in cases(&vectors::all()) {
        let rules = found(config, &retagged(events));
        assert!(of_requests(&rules), "{rules:?}: {events:?}");
    }
}

/// A message with something else in one of its parts, if it has that part.
fn changed(part: &str, message: &BridgeMessage) -> Option<BridgeMessage> {
    let mut form = message.to_json();
    let is_request = form["fields"].get("address").is_some();
    let inverted = |text: &Value| -> Value {
        let digit = |c: char| char::from_digit(15 - c.to_digit(16).expect("a digit"), 16).expect("a digit");
        text.as_str().expect("digits").chars().map(digit).collect::<String>().into()
    };
    match part {
        "data" => {
            let data = form.get_mut("data")?;
            match data.as_array_mut() {
                Some(beats) => beats.iter_mut().for_each(|beat| *beat = inverted(beat)),
                None => *data = inverted(data),
            }
        }
        "enables" => {
            let key = ["enables", "be"].into_iter().find(|key| form.get(*key).is_some())?;
            form[key] = inverted(&form[key]);
        }
        "poison" => {
            form.get("data")?;
            let field = ["poison", "ep"].into_iter().find(|field| form["fields"].get(*field).is_some());
            match field {
                Some(field) => {
                    let is_set = form["fields"][field] == json!(1) || form["fields"][field] == json!(true);
                    form["fields"][field] = json!(u8::from(!is_set));
                }
                None if form.get("poison").is_some() => form["poison"] = json!([]),
                None => form["poison"] = json!([0]),
            }
        }
        "status" => {
            let is_refused = form["fields"].get("status")? == "TargetAbort";
            form["fields"]["status"] = if is_refused { json!(0) } else { json!(2) };
        }
        _ if is_request && form["layout"] != "nvlink.header" => {
            let other = if form["fields"]["address"] == json!("0x40") { "0x80" } else { "0x40" };
            form["fields"]["address"] = json!(other);
        }
        _ => return None,
    }
    Some(BridgeMessage::from_json(&form).unwrap_or_else(|error| panic!("{error}: {form}")))
}

/// Data for a host of a line that a snoop has taken before.
fn is_bogus(message: &BridgeMessage) -> bool {
    message.to_json()["fields"].get("bogus") == Some(&json!(1))
}

/// An atomic without an element.
fn asks_for_nothing(request: &BridgeMessage) -> bool {
    let form = request.to_json();
    let enables = form.get("enables").or(form.get("be")).and_then(Value::as_str);
    enables.is_some_and(|enables| enables.bytes().all(|digit| digit == b'0'))
}

/// What leaves is left out, comes twice, comes too early, or says something else: each is found.
#[test]
fn a_bridge_that_does_otherwise_is_found() {
    let mut tried = BTreeMap::new();
    for (config, events) in cases(&vectors::all()) {
        let leaving = |event: &BridgeEvent| matches!(event.point, BridgePoint::Sent | BridgePoint::Response);
        for n in (0..events.len()).filter(|n| leaving(&events[*n])) {
            let mut wrong: Vec<(&str, Vec<BridgeEvent>)> = Vec::new();
            let mut of = |name, change: &dyn Fn(&mut Vec<BridgeEvent>)| {
                let mut events = retagged(events);
                change(&mut events);
                wrong.push((name, events));
            };
            of("left out", &|events| {
                events.truncate(n);
            });
            of("twice", &|events| events.insert(n, events[n].clone()));
            of("before its request", &|events| {
                let event = events.remove(n);
                events.insert(0, event);
            });
            of("another port", &|events| events[n].port += 1);
            // BITags are the choice of the bridge.
            if let Some(tag) = events[n].message.tag().filter(|_| events[n].point == BridgePoint::Response) {
                of("another tag", &|events| events[n].message = events[n].message.clone().tagged(tag ^ 1));
            }
            for name in ["data", "enables", "poison", "status", "address"] {
                let Some(message) = changed(name, &events[n].message) else { continue };
                // Nobody asks for the bytes of an atomic without elements, and those of Bogus data mean nothing.
                if name == "data" && asks_for_nothing(&events[0].message) || is_bogus(&events[n].message) {
                    continue;
                }
                of(name, &|events| {
                    // Posted TLPs have no tag.
                    let tag = events[n].message.tag().unwrap_or(0);
                    events[n].message = message.clone().tagged(tag);
                });
            }
            for (name, events) in wrong {
                let rules = found(config.clone(), &events);
                assert!(!of_requests(&rules), "{name}, event {n}: {events:?}");
                *tried.entry(name).or_insert(0) += 1;
            }
        }
    }
    assert!(tried.len() == 10 && tried.values().all(|count| *count > 10), "{tried:?}");
}

/// TLPs of a request leave in their order: any two that change their places are found.
#[test]
fn tlps_that_pass_each_other_are_found() {
    let (mut tried, files) = (0, vectors::all());
    let of_io: Vec<ConversionVectors> = files.into_iter().filter(|file| file.name == "ualink_to_cxl_io").collect();
    for (config, events) in cases(&of_io) {
        let is_sent = |n: usize| events[n].point == BridgePoint::Sent;
        for n in (1..events.len()).filter(|n| is_sent(*n) && is_sent(n - 1) && events[*n] != events[n - 1]) {
            let mut wrong = retagged(events);
            wrong.swap(n - 1, n);
            assert!(!of_requests(&found(config.clone(), &wrong)), "{n}: {events:?}");
            tried += 1;
        }
    }
    assert!(tried > 10, "{tried}");
}

/// Snoops of a bridge have BITags of its own choice, but each of them joins one snoop with its answer.
#[test]
fn answers_to_snoops_that_nobody_sent_are_found() {
    let files = vectors::all();
    let file = files.iter().find(|file| file.name == "ualink_to_ualink_hp").expect("the file");
    let config = ReferenceConfig::from_json(&file.config).expect("a configuration");
    let case = file.cases.iter().find(|case| case.what == "write full, 1 and 2 share it, clean copies");
    let events = retagged(&case.expect("the case").events);
    let snoop = |event: &BridgeEvent| event.message.snoop_tag().filter(|_| event.point == BridgePoint::Request);
    let answer = events.iter().position(|event| snoop(event).is_some()).expect("an answer");
    assert!(found(config.clone(), &events).is_empty());
    let mut wrong = events.clone();
    wrong[answer].message.set_snoop_tag(9);
    assert_eq!(found(config.clone(), &wrong).first(), Some(&"BRG-TAG-02"));
    let mut twice = events;
    twice.insert(answer + 1, twice[answer].clone());
    assert_eq!(found(config, &twice).first(), Some(&"BRG-TAG-02"));
}

/// Holders have ports of CXL, accelerators ports of theirs: credits of both are counted at the point of requests.
#[test]
fn credits_of_a_hairpin_are_those_of_both_sides() {
    let files = vectors::all();
    let file = files.iter().find(|file| file.name == "ualink_to_ualink_hp").expect("the file");
    let case = file.cases.iter().find(|case| case.what == "write full, 1 owns it, dirty copies").expect("the case");
    let pool = |point, class| json!({ "point": point, "class": class, "port": 1, "depth": 1 });
    let own = |class| json!({ "point": "request", "class": class, "vchan": 0, "depth": 1 });
    let mut config = file.config.clone();
    config["credits"] = json!([pool("request", "m2s_birsp"), pool("response", "s2m_bisnp"), own("request")]);
    let config = ReferenceConfig::from_json(&config).expect("a configuration");
    assert_eq!(
        found(config, &case.events),
        ["BRG-CRD-01", "BRG-CRD-01", "BRG-CRD-01", "BRG-CRD-03", "BRG-CRD-03", "BRG-CRD-03"]
    );
    let mut outbound = files.iter().find(|file| file.name == "ualink_to_cxl_mc").expect("the file").config.clone();
    outbound["credits"] = json!([{ "point": "request", "class": "m2s_birsp", "depth": 1 }]);
    let error = ReferenceConfig::from_json(&outbound).expect_err("accelerators answer no snoop").to_string();
    assert!(error.contains("one of: request, request_data"), "{error}");
}

/// A tag under which an answer is still to come names one line.
#[test]
fn a_tag_that_is_used_twice_is_found() {
    let files = vectors::all();
    let file = files.iter().find(|file| file.name == "ualink_to_cxl_mn").expect("the file");
    let config = ReferenceConfig::from_json(&file.config).expect("a configuration");
    let case = file.cases.iter().find(|case| case.what == "read of 64 DW at 0x0, enables 0").expect("the case");
    let same = |event: &BridgeEvent| match event.point {
        BridgePoint::Sent => BridgeEvent { message: event.message.clone().tagged(7), ..event.clone() },
        _ => event.clone(),
    };
    let events: Vec<BridgeEvent> = case.events.iter().map(same).collect();
    assert!(found(config, &events).contains(&"BRG-TAG-02"));
}

/// What is no configuration, and what is no message, is refused with its place.
#[test]
fn what_cannot_be_read_is_refused() {
    let config = |text: &str| {
        ReferenceConfig::from_json(&scalepool::forms::parse(text).expect("JSON")).err().map(|error| error.to_string())
    };
    let window = r#"{"class":"MC","base":0,"size":2097152,"out_base":0}"#;
    let of = |rest: &str| format!(r#"{{"protocol":"ualink","direction":"outbound","windows":[{window}]{rest}}}"#);
    assert_eq!(config(&of("")), None);
    for (rest, word) in [
        (r#","entries":31"#, "32 to 1024"),
        (r#","entries":1025"#, "32 to 1024"),
        (r#","order":"lines""#, "one of: blocks, sources"),
        (r#","cache":{"ways":17}"#, "17 ways"),
        (r#","cache":{"capacity_bytes":1000}"#, "1000 bytes"),
        (r#","templates":{}"#, "key `templates`"),
        (r#","ports":2"#, "windows name its ports"),
        (r#","host_ports":[0]"#, "window 0 of class MC or MN by port 0"),
        (r#","host_ports":[1,3]"#, "side by side"),
        (r#","host_ports":[1024]"#, "0 to 1023"),
        (r#","single_beat":1"#, "true or false"),
        (r#","groups":{"1024":0}"#, "groups: found source 1024, expected 0 to 1023"),
        (r#","groups":{"1":16}"#, "group 16"),
        (r#","speed":1"#, "key `speed`"),
    ] {
        let error = config(&of(rest)).unwrap_or_else(|| panic!("{rest} is taken"));
        assert!(error.contains(word), "{error}");
    }
    let db = |rest: &str| {
        let window = r#"{"class":"DB","base":4194304,"size":4194304,"out_base":0}"#;
        format!(r#"{{"protocol":"ualink","direction":"inbound","windows":[{window}]{rest}}}"#)
    };
    let hp = |rest: &str| {
        db(&format!(r#","hairpin":{{"windows":[{{"class":"HP","base":0,"size":2097152,"out_base":4194304{rest}}}]}}"#))
    };
    assert_eq!((config(&db("")), config(&hp(""))), (None, None));
    for (text, word) in [
        (of(r#","home":{}"#), "key `home`"),
        (of(r#","hairpin":{}"#), "key `hairpin`"),
        (db("").replace("DB", "NH").replace("]}", r#"],"home":{}}"#), "without windows of class DB"),
        (db(r#","cache":{"stores":"back"}"#), "key `stores`"),
        (db(r#","cache":{"ways":17}"#), "17 ways"),
        (db(r#","cache":{}"#).replace("DB", "BR"), "without windows of class BR"),
        (db(r#","home":{"holders":[]}"#), "1 to 1024 SPIDs"),
        (db(r#","home":{"holders":[4096]}"#), "holders: found 4096"),
        (db(r#","home":{"holders":[3,3]}"#), "each once"),
        (db(r#","home":{"filter_entries":17,"filter_ways":16}"#), "whole sets of 16 ways"),
        (db(r#","home":{"holders":[1,2],"recalls":1}"#), "2 to 4096"),
        (db(r#","home":{"sets":1}"#), "key `sets`"),
        (db("").replace("out_base\":0", "out_base\":0,\"rights\":{\"1\":\"r\"}"), "who holds a line may write it back"),
        (hp(r#","targets":[1]"#), "no targets"),
        (hp("").replace("2097152", "4194560"), "window 0 with address 0x800000"),
        (hp("").replace("HP", "MC"), "one of: HP"),
        (hp("").replace("\"hairpin\":{", "\"hairpin\":{\"entries\":39,"), "40 to 1024"),
    ] {
        let error = config(&text).unwrap_or_else(|| panic!("{text} is taken"));
        assert!(error.contains(word), "{error}");
    }
    let line = "00".repeat(64);
    let rwd = |field: &str| format!(r#"{{"layout":"cxl256.m2s_rwd","fields":{{{field}}},"data":"{line}"}}"#);
    let message = |text: &str| {
        BridgeMessage::from_json(&scalepool::forms::parse(text).expect("JSON")).err().map(|error| error.to_string())
    };
    for (text, word) in [
        (r#"{"layout":"cxl68.d2h_req","fields":{}}"#, "CXL.mem or CXL.cache of cxl256"),
        (r#"{"layout":"cxl256.d2h_data","fields":{}}"#, "64 bytes"),
        (&format!(r#"{{"layout":"cxl256.d2h_data","fields":{{"bep":1}},"data":"{line}"}}"#), "0 without enables"),
        (
            &format!(r#"{{"layout":"cxl256.h2d_data","fields":{{}},"data":"{line}","enables":"{}"}}"#, "ff".repeat(8)),
            "none with this class",
        ),
        (r#"{"layout":"cxl256.m2s_rwd","fields":{}}"#, "64 bytes"),
        (r#"{"layout":"cxl256.m2s_req","fields":{},"data":"00"}"#, "1 bytes"),
        (r#"{"layout":"ualink.tl_req","fields":{},"poison":[0]}"#, "numbers of the 0 beats"),
        (r#"{"layout":"ualink.tl_req","fields":{},"be":"00"}"#, "key `be`"),
        (r#"{"layout":"nvlink.header","fields":{"op":"READ"},"data":"00"}"#, "no data with this operation"),
        (r#"{"layout":"nvlink.header","fields":{"op":"READ","crc":1}}"#, "key `crc`"),
        (r#"{"layout":"nvlink.header","fields":{"op":"RSP_DONE","vc":0}}"#, "the channel of"),
        (
            &format!(r#"{{"layout":"nvlink.header","fields":{{"op":"RSP_DATA","size":2}},"data":"{line}"}}"#),
            "expected 3",
        ),
        (r#"{"layout":"cxl256.m2s_req","fields":{"valid":0}}"#, "valid"),
        (&rwd(r#""ckid":5"#), "ckid: found 5"),
        (&rwd(r#""trp":1"#), "0 without enables"),
    ] {
        let error = message(text).unwrap_or_else(|| panic!("{text} is taken"));
        assert!(error.contains(word), "{error}");
    }
}

pub fn config_of(text: &str) -> ReferenceConfig {
    ReferenceConfig::from_json(&scalepool::forms::parse(text).expect("JSON")).expect("a configuration")
}

pub fn message_of(text: &str) -> BridgeMessage {
    BridgeMessage::from_json(&scalepool::forms::parse(text).expect("JSON")).expect("a message")
}

pub fn passes(point: BridgePoint, port: usize, message: BridgeMessage) -> BridgeEvent {
    BridgeEvent { point, port, message }
}

/// A bridge may use a tag again as soon as nothing is to come under it: 72 tags in turn, 9 reads open.
#[test]
fn tags_are_free_behind_their_last_answer() {
    let config = config_of(
        r#"{"protocol":"ualink","direction":"outbound","entries":64,
            "windows":[{"class":"MN","base":0,"size":2097152,"out_base":0}]}"#,
    );
    let (mut bridge, mut events, mut open) = (ReferenceBridge::new(config.clone()), Vec::new(), VecDeque::new());
    for n in 0..200u16 {
        // Each in a block of its own: those of one block go one after the other.
        let (tag, address) = (n % 1024, 256 * u64::from(n));
        let request = message_of(&format!(
            r#"{{"layout":"ualink.tl_req","fields":{{"cmd":"Read","len":15,"tag":{tag},"address":{address}}}}}"#
        ));
        let sent = bridge.request(0, &request).expect("a free entry").remove(0);
        events.push(passes(BridgePoint::Request, 0, request));
        events.push(BridgeEvent { message: sent.message.clone().tagged(n % 72), ..sent.clone() });
        open.push_back((n % 72, sent.message.tag().expect("a tag")));
        while open.len() > if n == 199 { 0 } else { 8 } {
            let (tag, own) = open.pop_front().expect("an open read");
            let drs = r#"{"layout":"cxl256.s2m_drs","fields":{"opcode":"MemData","meta_field":"NoOp"},"data":"DATA"}"#;
            let drs = message_of(&drs.replace("DATA", &"5a".repeat(64)));
            events.push(passes(BridgePoint::Answer, 0, drs.clone().tagged(tag)));
            events.extend(bridge.answer(0, &drs.tagged(own)).expect("an answer"));
        }
    }
    assert_eq!(found(config, &events), [""; 0]);
}

/// BIConflict has the tag of the read that is open.
#[test]
fn a_conflict_with_a_foreign_tag_is_found() {
    let config = config_of(
        r#"{"protocol":"ualink","direction":"outbound",
            "windows":[{"class":"MC","base":0,"size":2097152,"out_base":0}]}"#,
    );
    let mut bridge = ReferenceBridge::new(config.clone());
    let read = message_of(r#"{"layout":"ualink.tl_req","fields":{"cmd":"Read","len":15,"address":64}}"#);
    let snoop = message_of(r#"{"layout":"cxl256.s2m_bisnp","fields":{"opcode":"BISnpInv","address":64,"bi_tag":3}}"#);
    let sent = bridge.request(0, &read).expect("a free entry").remove(0);
    let conflict = bridge.answer(0, &snoop).expect("a snoop").remove(0);
    for (tag, is_right) in [(9, true), (10, false)] {
        let mut board = BridgeScoreboard::new(config.clone());
        for event in [
            passes(BridgePoint::Request, 0, read.clone()),
            BridgeEvent { message: sent.message.clone().tagged(9), ..sent.clone() },
            passes(BridgePoint::Answer, 0, snoop.clone()),
            BridgeEvent { message: conflict.message.clone().tagged(tag), ..conflict.clone() },
        ] {
            board.pass(&event).expect("a message that passes there");
        }
        let rule = board.finding().map(|finding| finding.rule);
        assert_eq!(rule, if is_right { None } else { Some("COH-IDS-03") });
    }
}

/// A read that is answered by the other channel ends as if the accelerator had given up, and its entry is free.
#[test]
fn an_answer_that_cannot_be_used_ends_its_access() {
    let config = config_of(
        r#"{"protocol":"ualink","direction":"inbound","entries":1,"ports":2,
            "windows":[{"class":"NH","base":0,"size":2097152,"out_base":0}]}"#,
    );
    let mut bridge = ReferenceBridge::new(config.clone());
    let read = message_of(
        r#"{"layout":"cxl256.m2s_req","fields":{"opcode":"MemRd","meta_field":"NoOp","snp_type":"NoOp","address":256}}"#,
    );
    let other = message_of(r#"{"layout":"ualink.tl_rsp","fields":{"rdwr":"Write","status":0}}"#);
    for _ in 0..2 {
        let sent = bridge.request(0, &read).expect("a free entry").remove(0);
        assert_eq!(sent.port, 1, "block 1 takes port 1 of 2");
        let own = sent.message.tag().expect("a tag");
        assert!(bridge.answer(0, &other.clone().tagged(own ^ 1)).expect("an answer").is_empty());
        assert_eq!(bridge.take_findings()[0].rule, "BRG-TAG-02");
        let response = bridge.answer(1, &other.clone().tagged(own)).expect("an answer").remove(0);
        assert_eq!(response.message.to_json()["fields"]["poison"], json!(1));
        assert_eq!(bridge.take_findings()[0].rule, "BRG-MAP-64");
        assert_eq!(bridge.open(), 0);
    }
    bridge.request(0, &read).expect("a free entry");
    assert_eq!(bridge.request(0, &read), Err(ReferenceError::Full));
    let events = vec![passes(BridgePoint::Request, 0, read.clone()), passes(BridgePoint::Request, 0, read)];
    assert!(found(config, &events).contains(&"BRG-BUF-03"));
}

/// New windows are valid behind what is under way: a bridge that takes a request meanwhile, or leads one to the old place later, is found.
#[test]
fn a_bridge_that_changes_windows_too_early_is_found() {
    let text = r#"{"protocol":"ualink","direction":"outbound","windows":[{"class":"MN","base":0,"size":2097152,"out_base":0}]}"#;
    let moved = json!({ "windows": [{ "class": "MN", "base": 0, "size": 2_097_152, "out_base": "0x400000" }] });
    let read = message_of(r#"{"layout":"ualink.tl_req","fields":{"cmd":"Read","address":"0x40","len":15,"tag":5}}"#);
    let data = "5a".repeat(64);
    let answer = message_of(&format!(
        r#"{{"layout":"cxl256.s2m_drs","fields":{{"opcode":"MemData","meta_field":"NoOp"}},"data":"{data}"}}"#
    ));
    let mut model = ReferenceBridge::new(config_of(text));
    let mut board = BridgeScoreboard::new(config_of(text));
    let old = model.request(0, &read).expect("an entry").remove(0);
    for event in [passes(BridgePoint::Request, 0, read.clone()), old.clone()] {
        board.pass(&event).expect("it passes there");
    }
    assert_eq!((model.commit(&moved), board.commit(&moved)), (Ok(false), Ok(false)));
    assert_eq!(model.request(0, &read), Err(ReferenceError::Epoch));
    let again = model.commit(&moved).expect_err("one waits").to_string();
    assert!(again.contains("an earlier commit that waits"), "{again}");
    assert_eq!(board.finding(), None);
    board.pass(&passes(BridgePoint::Request, 0, read.clone())).expect("it passes there");
    assert_eq!(board.finding().map(|finding| finding.rule), Some("BRG-WIN-06"));
    board.drop_finding();
    let response = model.answer(0, &answer).expect("it comes there").remove(0);
    board.pass(&passes(BridgePoint::Answer, 0, answer)).expect("it passes there");
    // The model has answered, the bridge has not.
    board.pass(&passes(BridgePoint::Request, 0, read.clone())).expect("it passes there");
    assert_eq!(board.finding().map(|finding| finding.rule), Some("BRG-WIN-06"));
    board.drop_finding();
    let again = board.commit(&moved).expect_err("one waits").to_string();
    assert!(again.contains("an earlier commit that waits"), "{again}");
    board.pass(&response).expect("it passes there");
    assert_eq!(board.finding(), None);
    let new = model.request(0, &read).expect("an entry").remove(0);
    assert_ne!(new.message.to_json()["fields"]["address"], old.message.to_json()["fields"]["address"]);
    board.pass(&passes(BridgePoint::Request, 0, read)).expect("it passes there");
    board.pass(&old).expect("it passes there");
    assert_eq!(board.finding().map(|finding| finding.rule), Some("BRG-INT-02"));
    board.drop_finding();
    board.pass(&new).expect("it passes there");
    assert_eq!(board.finding(), None);
}

/// With a cache of lines a commit leads no line of memory that nobody keeps coherent by another port, whether the last commit did so or the windows
/// at first: its line is still in the cache.
#[test]
fn a_commit_that_strands_lines_of_a_cache_is_refused() {
    let window = |class: &str, port: u64| json!([{ "class": class, "base": 0, "size": 2_097_152, "out_base": 0, "targets": [port] }]);
    let bridge = |class: &str, cache: Option<Value>| {
        let mut form = json!({ "protocol": "ualink", "direction": "outbound", "windows": window(class, 0) });
        if let Some(cache) = cache {
            form["cache"] = cache;
        }
        config_of(&form.to_string())
    };
    let commit = |class: &str, port: u64| json!({ "windows": window(class, port) });
    let mut model = ReferenceBridge::new(bridge("MN", Some(json!({}))));
    let mut board = BridgeScoreboard::new(bridge("MN", Some(json!({}))));
    assert_eq!((model.commit(&json!({ "windows": [] })), board.commit(&commit("MN", 0))), (Ok(true), Ok(true)));
    for error in [model.commit(&commit("MN", 1)), board.commit(&commit("MN", 1))] {
        let error = error.expect_err("port 0 has the line").to_string();
        assert!(
            error.contains("found windows that lead 0x0 by another port than before, expected the same one"),
            "{error}"
        );
    }
    assert_eq!((model.commit(&commit("MN", 0)), board.commit(&json!({ "windows": [] }))), (Ok(true), Ok(true)));
    for (class, cache) in [("MN", None), ("MC", Some(json!({})))] {
        assert_eq!(ReferenceBridge::new(bridge(class, cache)).commit(&commit(class, 1)), Ok(true), "{class}");
    }
}

/// Beats of a read that come one by one: the completion leaves behind the last one, and its tag is open until then.
#[test]
fn the_model_waits_for_all_beats_of_an_accelerator() {
    let form = r#"{"protocol":"ualink","direction":"inbound","windows":[{"class":"BR","base":0,"size":2097152,"out_base":0,"targets":[1]}]}"#;
    let mut model = ReferenceBridge::new(config_of(form));
    let asked = BridgeMessage::Tlp(Box::new(super::bar::read(0, 1, 0, 128)));
    let sent = model.request(0, &asked).expect("it is taken");
    let [BridgeEvent { point: BridgePoint::Sent, message, .. }] = &sent[..] else { panic!("{sent:?}") };
    let tag = message.tag().expect("an access has one");
    let beat = |offset: u8, last: bool| {
        let rsp = TlRsp { rdwr: RdWr::Read, tag, offset, last, ..TlRsp::default() };
        BridgeMessage::Upli(Box::new(with_data(ControlField::Response(rsp), &[[offset + 1; 64]], None)))
    };
    assert_eq!(model.answer(0, &beat(1, false)).expect("an answer"), []);
    assert!(model.awaits(0, tag));
    let done = model.answer(0, &beat(0, true)).expect("an answer");
    let [BridgeEvent { point: BridgePoint::Response, message: BridgeMessage::Tlp(tlp), .. }] = &done[..] else {
        panic!("{done:?}")
    };
    assert_eq!(tlp.data, [[1; 64], [2; 64]].concat());
    assert!(!model.awaits(0, tag) && model.take_findings().is_empty());
}
