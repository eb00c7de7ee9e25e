//! Committed flits of UALink and packets of NVLink: the three files of a set against each other, and every CRC against the
//! oracle's.

use super::{bytes, read, read_rsp};
use scalepool::golden::hex::parse_hex;
use scalepool::golden::rsp::RspCase;
use scalepool_oracle::{nvlink, ual_flit};
use serde_json::Value;
use std::collections::BTreeSet;

/// A file's cases, the numbers of its `.hex` file with byte 0 first, and its objects.
fn forms(stem: &str) -> (Vec<RspCase>, Vec<Vec<u8>>, Vec<Value>) {
    let numbers = parse_hex(&read(&format!("{stem}.hex"))).unwrap().vectors.into_iter().map(|vector| {
        let mut raw = bytes(&vector.digits);
        raw.reverse();
        raw
    });
    let objects = read(&format!("{stem}.jsonl")).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (read_rsp(&format!("{stem}.rsp")).cases, numbers.collect(), objects)
}

/// Every unit of a file with its case, and the rule of that; its object says the same bytes and whether the CRC fits.
fn units(stem: &str, protocol: &str) -> Vec<(usize, Option<String>, Vec<u8>, bool)> {
    let (cases, numbers, objects) = forms(stem);
    let units: Vec<_> = cases
        .iter()
        .enumerate()
        .flat_map(|(n, case)| case.values.iter().map(move |v| (n, case.rule.clone(), bytes(&v.hex))))
        .collect();
    assert_eq!(units.len(), objects.len(), "{stem}");
    assert_eq!(numbers.concat(), units.iter().flat_map(|unit| unit.2.clone()).collect::<Vec<_>>(), "{stem}");
    let dir = stem.rsplit_once('_').unwrap().1;
    let judged = units.into_iter().zip(objects).enumerate().map(|(n, ((case, rule, unit), object))| {
        assert_eq!(bytes(object["hex"].as_str().unwrap()), unit, "{stem}, line {n}");
        assert_eq!((&object["protocol"], &object["dir"]), (&protocol.into(), &dir.into()), "{stem}, line {n}");
        assert_eq!(object["index"], n, "{stem}");
        (case, rule, unit, object["crc"]["ok"].as_bool().unwrap())
    });
    judged.collect()
}

#[test]
fn the_oracle_judges_every_committed_flit_of_ualink() {
    let mut rules = BTreeSet::new();
    for dir in ["down", "up"] {
        let stem = format!("ualink/flit_ualink_{dir}");
        for (n, (case, rule, unit, ok)) in units(&stem, "ualink").into_iter().enumerate() {
            let flit: [u8; 640] = unit.try_into().unwrap();
            assert_eq!(ual_flit::crc(&flit) == flit[636..], ok, "{stem}, case {case}, flit {n}");
            assert!(ok || rule.as_deref() == Some("UAL-CRC-01"), "{stem}, case {case}");
            rules.extend(rule);
        }
    }
    assert!(rules.len() >= 23, "{rules:?}");
}

/// A packet whose CRC does not fit is dropped: what the next one covers is the payload before it.
#[test]
fn the_oracle_judges_every_committed_packet_of_nvlink() {
    let mut rules = BTreeSet::new();
    for dir in ["down", "up"] {
        let stem = format!("nvlink/flit_nvlink_{dir}");
        assert!(read(&format!("{stem}.hex")).lines().take(4).any(|line| line.contains("basis model")));
        let mut payload: Vec<[u8; 16]> = Vec::new();
        for (case, rule, unit, ok) in units(&stem, "nvlink") {
            let flits = unit.as_chunks::<16>().0;
            let found = u32::from_le_bytes(*flits[0].last_chunk().unwrap()) >> 7;
            assert_eq!(nvlink::crc(&payload, flits[0]) == found, ok, "{stem}, case {case}");
            let crc = rule.as_deref().is_some_and(|rule| rule.starts_with("NVL-CRC"));
            assert!(ok || crc, "{stem}, case {case}");
            if ok {
                payload = flits[1..].to_vec();
            }
            rules.extend(rule);
        }
        assert!(payload.is_empty(), "{stem} ends with a payload that no CRC covers");
    }
    assert_eq!(rules.len(), 8, "{rules:?}");
}
