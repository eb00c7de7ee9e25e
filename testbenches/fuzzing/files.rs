//! Files of users: maps, waves, litmus cases, traces.

use scalepool::inspect::{Map, inspect};
use scalepool::proof::litmus::{LitmusError, parse};
use scalepool::trace::diff::{DiffInput, Policy, diff};
use std::io::Write;

/// A map: read, or refused with what is wrong with it.
pub fn maps(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match Map::read(text, "map") {
        Ok(map) => assert!(!map.interface.is_empty()),
        Err(e) => assert!(e.to_string().starts_with("map: ")),
    }
}

/// A litmus case: read and set up, or refused with a line of the text.
pub fn litmus(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let started = parse(text).and_then(|case| case.start().map(drop));
    if let Err(LitmusError::Toml { line, .. } | LitmusError::Value { line, .. }) = started {
        assert!((1..=text.lines().count() + 1).contains(&line), "line {line}");
    }
}

/// Two traces with a byte 0 in between, compared in order and by key: a trace that can be compared is equal to itself.
pub fn traces(bytes: &[u8]) {
    let mut parts = bytes.splitn(2, |b| *b == 0);
    let (a, b) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let input = |name: &str, reader| DiffInput { name: name.to_owned(), reader };
    for policy in [Policy::InOrder, Policy::ByKey(vec!["where".into(), "fields.tag".into()])] {
        let compare = |a, b| diff(input("a", a), input("b", b), &policy, &["t_fs".into()]);
        match compare(a, b) {
            Ok(Some(difference)) => assert!(!difference.to_string().is_empty() && difference.to_json().is_object()),
            Ok(None) => assert!(compare(b, a).is_ok_and(|other| other.is_none())),
            Err(e) => assert!(!e.to_string().is_empty()),
        }
        assert!(compare(a, a).map_or(true, |difference| difference.is_none()));
    }
}

/// The map of [`waves`].
const MAP: &str = r#"
[[interface]]
name = "x"
protocol = "cxl-68b"
dir = "down"
clock = "c"
valid = "v"
data = "d"
"#;

/// A value change dump. An FST is read by a process of its own, for its reader may ask for any amount of memory.
pub fn waves(bytes: &[u8]) {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(b"$date $end\n").and_then(|()| file.write_all(bytes)).expect("it is written");
    let map = Map::read(MAP, "map").expect("a sound map");
    match inspect(file.path(), map, "map") {
        Ok(inspection) => {
            assert!(inspection.seen.is_sorted_by_key(|seen| seen.t_fs));
            assert!(inspection.seen.iter().flat_map(|seen| &seen.broken).all(|broken| !broken.signal.is_empty()));
        }
        Err(e) => assert!(!e.to_string().is_empty()),
    }
}
