//! Passive ends that judge coherence: the messages of a link with bit errors, judged once each.

use crate::calls::{last_error, open, start};
use crate::links::{destroy, drive, event, link, sample, take};
use scalepool_capi::link::*;
use scalepool_capi::status::*;
use scalepool_capi::stream::{SP_DOWN, SP_UP};
use serde_json::{Value, json};

const CONFIG: &str = "{\"coherence\":\"hdm-h\",\"all_writers_seen\":true}";

/// A host reads a line twice, a device answers with these bytes; what the watchers of host and device say, but for the units
/// that were damaged on their way.
fn read_twice(protocol: &str, config: &str, answers: [&str; 2]) -> [Vec<Value>; 2] {
    let both = |config, mode| [SP_DOWN, SP_UP].map(|dir| link(protocol, dir, config, mode).1);
    let (ends, watchers) = (both("{\"timeout_flits\":100}", SP_ACTIVE), both(config, SP_PASSIVE));
    let family = if protocol == "cxl-68b" { "cxl68" } else { "cxl256" };
    let send = |end: u64, message: Value| {
        let text = message.to_string();
        assert_eq!(unsafe { sp_link_send(end, start(&text), text.len()) }, SP_OK, "{}", last_error());
    };
    let mut found: [Vec<Value>; 2] = Default::default();
    for clock in 0..1200_usize {
        if clock % 300 == 100 && clock / 300 < 2 {
            let fields = json!({"opcode": "MemRd", "tag": clock / 300, "address": 4096});
            send(ends[0], json!({"layout": format!("{family}.m2s_req"), "fields": fields}));
        }
        let mut sent = [None, None];
        for n in [0, 1] {
            assert_eq!(sp_link_step(ends[n], 1), SP_OK, "{}", last_error());
            sent[n] = sample(ends[n]);
            while let Some(message) = take(ends[n]) {
                if let (1, Some(tag)) = (n, message["fields"]["tag"].as_u64()) {
                    let fields = json!({"opcode": "MemData", "tag": tag});
                    let data = answers[tag as usize].repeat(64);
                    send(ends[1], json!({"layout": format!("{family}.s2m_drs"), "fields": fields, "data": data}));
                }
            }
        }
        for n in [0, 1] {
            if let Some(unit) = &mut sent[n] {
                drive(watchers[n], SP_TX, unit);
                if (clock + 7 * n) % 23 == 11 {
                    unit[20 + clock % 30] ^= 0x55;
                    unit[60] ^= 0x0f;
                }
                drive(ends[1 - n], SP_RX, unit);
            }
        }
        for n in [0, 1] {
            assert_eq!(sp_link_step(watchers[n], 1), SP_OK);
            if let Some(unit) = &sent[1 - n] {
                drive(watchers[n], SP_RX, unit);
            }
            found[n].extend(std::iter::from_fn(|| event(watchers[n])).filter(|event| event["by"] != "line"));
        }
    }
    destroy(ends.into_iter().chain(watchers));
    found
}

#[test]
fn a_read_that_brings_other_data_is_found_at_both_ends() {
    open();
    for protocol in ["cxl-68b", "cxl-256b", "cxl-256b-lopt"] {
        assert_eq!(read_twice(protocol, CONFIG, ["5a", "5a"]), [[], []] as [[Value; 0]; 2], "{protocol}");
        assert_eq!(read_twice(protocol, "", ["5a", "5b"]), [[], []] as [[Value; 0]; 2], "{protocol}");
        let [host, device] = read_twice(protocol, CONFIG, ["5a", "5b"]);
        for (found, port, by) in [(host, "rx", "peer"), (device, "tx", "end")] {
            let [event] = &found[..] else { panic!("{protocol} {port}: {found:?}") };
            assert_eq!(
                (&event["rule"], &event["port"], &event["by"]),
                (&json!("COH-INV-02"), &json!(port), &json!(by))
            );
            assert_eq!(event["at"], "line 0x1000", "{event}");
            assert!(event["found"].as_str().is_some_and(|text| text.starts_with("data 5b5b")), "{event}");
        }
    }
}

#[test]
fn keys_of_coherence_are_for_passive_ends_of_cxl() {
    open();
    for (protocol, mode, config) in [
        ("cxl-68b", SP_ACTIVE, "{\"coherence\":\"hdm-h\"}"),
        ("ualink", SP_PASSIVE, "{\"coherence\":\"hdm-h\"}"),
        ("cxl-68b", SP_PASSIVE, "{\"coherence\":\"hdm\"}"),
        ("cxl-68b", SP_PASSIVE, "{\"coherence\":true}"),
        ("cxl-68b", SP_PASSIVE, "{\"all_writers_seen\":1}"),
        ("cxl-68b", SP_PASSIVE, "{\"all_writers_seen\":true}"),
    ] {
        assert_eq!(link(protocol, SP_UP, config, mode).0, SP_ERR_INPUT, "{protocol} {config}");
    }
}
