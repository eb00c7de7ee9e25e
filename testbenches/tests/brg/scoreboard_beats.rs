//! The model and the scoreboard on a bridge that answers reads beat by beat (`bridge` §3.3).

use super::scoreboard::{config_of, found, message_of, passes};
use scalepool::conversion::message::BridgeMessage;
use scalepool::conversion::model::{BridgeEvent, BridgePoint, ReferenceBridge};
use serde_json::json;

const CONFIG: &str = r#"{"protocol":"ualink","direction":"outbound","single_beat":true,
    "windows":[{"class":"MN","base":0,"size":2097152,"out_base":0}]}"#;

fn data(tag: u16, byte: &str) -> BridgeMessage {
    let fields = format!(r#""opcode":"MemData","meta_field":"NoOp","tag":{tag}"#);
    message_of(&format!(r#"{{"layout":"cxl256.s2m_drs","fields":{{{fields}}},"data":"{}"}}"#, byte.repeat(64)))
}

/// A read of 24 bytes of three lines, whose lines come from the last one on.
fn events() -> Vec<BridgeEvent> {
    let mut model = ReferenceBridge::new(config_of(CONFIG));
    let read = message_of(r#"{"layout":"ualink.tl_req","fields":{"cmd":"Read","len":19,"address":120,"tag":5}}"#);
    let mut events = vec![passes(BridgePoint::Request, 0, read.clone())];
    events.extend(model.request(0, &read).expect("an entry"));
    for (tag, byte) in [(2, "33"), (1, "22"), (0, "11")] {
        events.push(passes(BridgePoint::Answer, 0, data(tag, byte)));
        events.extend(model.answer(0, &data(tag, byte)).expect("an answer"));
    }
    assert_eq!(model.open(), 0);
    events
}

fn beats(events: &[BridgeEvent]) -> Vec<usize> {
    (0..events.len()).filter(|n| events[*n].point == BridgePoint::Response).collect()
}

#[test]
fn each_line_is_answered_as_it_comes() {
    let events = events();
    let told: Vec<_> = beats(&events)
        .into_iter()
        .map(|n| {
            let form = events[n].message.to_json();
            (
                form["fields"]["offset"].clone(),
                form["fields"]["last"].clone(),
                form["data"][0].as_str().map(|d| d[..2].to_owned()),
            )
        })
        .collect();
    let beat = |offset: u8, last: u8, byte: &str| (json!(offset), json!(last), Some(byte.to_owned()));
    assert_eq!(told, [beat(2, 0, "33"), beat(1, 0, "22"), beat(0, 1, "11")]);
    assert_eq!(found(config_of(CONFIG), &events), [""; 0]);
}

/// Lines that are both there may leave in any order, and the last one that does has LAST.
#[test]
fn beats_of_lines_that_are_there_have_any_order() {
    let mut late = events();
    let at = beats(&late);
    let mut last = late.remove(at[2]);
    let mut second = late.remove(at[1]);
    for (event, is_last) in [(&mut last, 0), (&mut second, 1)] {
        let mut form = event.message.to_json();
        form["fields"]["last"] = json!(is_last);
        event.message = message_of(&form.to_string());
    }
    late.extend([last, second]);
    assert_eq!(found(config_of(CONFIG), &late), [""; 0]);
}

/// A beat that says wrongly whether others follow, has another number, is left out, comes twice, or brings other bytes of those that
/// were asked for, is found; bytes that nobody asked for are not compared.
#[test]
fn beats_that_say_otherwise_are_found() {
    let right = events();
    for at in beats(&right) {
        let changed = |change: &dyn Fn(&mut serde_json::Value)| {
            let mut form = right[at].message.to_json();
            change(&mut form);
            let mut events = right.clone();
            events[at].message = message_of(&form.to_string());
            found(config_of(CONFIG), &events)
        };
        let byte = |at: usize| {
            move |form: &mut serde_json::Value| {
                let mut line = form["data"][0].as_str().expect("a line").to_owned();
                line.replace_range(2 * at..2 * at + 2, "ee");
                form["data"][0] = line.into();
            }
        };
        let is_first = right[at].message.to_json()["fields"]["offset"] == json!(0);
        let turned = changed(&|form| form["fields"]["last"] = json!(1 - form["fields"]["last"].as_u64().unwrap_or(0)));
        assert!(turned.contains(&"BRG-RSP-03"), "{turned:?}");
        assert!(changed(&|form| form["fields"]["offset"] = json!(3)).contains(&"BRG-INT-02"));
        // The read begins at byte 56 of its first line.
        assert_eq!(changed(&byte(0)).contains(&"BRG-INT-02"), !is_first);
        assert!(changed(&byte(if is_first { 56 } else { 7 })).contains(&"BRG-INT-02"));
        let mut lost = right.clone();
        lost.remove(at);
        assert!(found(config_of(CONFIG), &lost).contains(&"BRG-INT-03"));
        let mut twice = right.clone();
        twice.insert(at, twice[at].clone());
        let rules = found(config_of(CONFIG), &twice);
        assert!(rules.contains(&"BRG-INT-02") || rules.contains(&"BRG-INT-03"), "{rules:?}");
    }
    // All at once is no answer beat by beat.
    let mut whole = right.clone();
    let at = beats(&right);
    let lines: Vec<String> = ["11", "22", "33"].map(|byte| byte.repeat(64)).to_vec();
    let fields = r#""rdwr":"Read","last":1,"len":2,"tag":5"#;
    let lines = json!(lines).to_string();
    whole[at[2]].message = message_of(&format!(r#"{{"layout":"ualink.tl_rsp","fields":{{{fields}}},"data":{lines}}}"#));
    whole.remove(at[1]);
    whole.remove(at[0]);
    assert!(found(config_of(CONFIG), &whole).contains(&"BRG-INT-02"));
}
