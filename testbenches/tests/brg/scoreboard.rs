//! The bridge as a reference model: its messages as JSON, and a scoreboard that watches a bridge with tags of its own.

use scalepool::conversion::config::ReferenceConfig;
use scalepool::conversion::message::BridgeMessage;
use scalepool::conversion::model::{BridgeEvent, BridgePoint};
use scalepool::conversion::scoreboard::BridgeScoreboard;
use scalepool::conversion::vectors::{self, ConversionVectors};
use std::collections::BTreeMap;

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
        let message = tag.map_or_else(|| event.message.clone(), |tag| event.message.clone().tagged(tag ^ 0x155));
        BridgeEvent { message, ..event.clone() }
    };
    events.iter().map(retag).collect()
}

/// Rules that a run of a scoreboard has found broken.
fn found(config: ReferenceConfig, events: &[BridgeEvent]) -> Vec<&'static str> {
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
    rules.iter().all(|rule| rule.starts_with("COH-"))
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
            if events[n].point == BridgePoint::Response {
                of("another tag", &|events| {
                    let tag = events[n].message.tag().expect("a tag");
                    events[n].message = events[n].message.clone().tagged(tag ^ 1);
                });
            }
            for (name, events) in wrong {
                let rules = found(config.clone(), &events);
                assert!(!of_requests(&rules), "{name}, event {n}: {events:?}");
                *tried.entry(name).or_insert(0) += 1;
            }
        }
    }
    assert!(tried.len() == 5 && tried.values().all(|count| *count > 100), "{tried:?}");
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
        (r#","templates":{"entries":9,"ways":2}"#, "a multiple of the 2 ways"),
        (r#","groups":{"1024":0}"#, "source 1024"),
        (r#","groups":{"1":16}"#, "group 16"),
        (r#","speed":1"#, "key `speed`"),
    ] {
        let error = config(&of(rest)).unwrap_or_else(|| panic!("{rest} is taken"));
        assert!(error.contains(word), "{error}");
    }
    let message = |text: &str| {
        BridgeMessage::from_json(&scalepool::forms::parse(text).expect("JSON")).err().map(|error| error.to_string())
    };
    for (text, word) in [
        (r#"{"layout":"cxl256.d2h_req","fields":{}}"#, "CXL.mem"),
        (r#"{"layout":"cxl256.m2s_rwd","fields":{}}"#, "64 bytes"),
        (r#"{"layout":"cxl256.m2s_req","fields":{},"data":"00"}"#, "1 bytes"),
        (r#"{"layout":"ualink.tl_req","fields":{},"poison":[0]}"#, "numbers of the 0 beats"),
        (r#"{"layout":"ualink.tl_req","fields":{},"be":"00"}"#, "key `be`"),
        (r#"{"layout":"nvlink.header","fields":{"op":"READ"},"data":"00"}"#, "no data with this operation"),
        (r#"{"layout":"nvlink.header","fields":{"op":"READ","crc":1}}"#, "key `crc`"),
    ] {
        let error = message(text).unwrap_or_else(|| panic!("{text} is taken"));
        assert!(error.contains(word), "{error}");
    }
}
