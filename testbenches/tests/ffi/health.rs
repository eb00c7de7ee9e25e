//! Health of link ends in `sp_link_state`, damage that is repaired, and waits that never end.

use crate::calls::{last_error, open, start};
use crate::links::{PROTOCOLS, destroy, drive, event, link, sample, state, take, write};
use scalepool_capi::link::*;
use scalepool_capi::status::*;
use scalepool_capi::stream::{SP_DOWN, SP_UP};
use serde_json::{Value, json};

/// Two active ends beside two passive ones, each told the same, in this many flit clocks. `spoil` may change what the first end
/// sends; the second one takes its messages if it `takes`. Gives the ends, the watchers, and the events of all of them.
fn run(
    protocol: &str,
    run: (&str, u64),
    takes: bool,
    spoil: impl Fn(u64, &mut Vec<u8>),
) -> ([u64; 2], [u64; 2], Vec<(u64, Value)>) {
    run_of(protocol, &write(protocol), run, takes, spoil)
}

/// As [`run`], with the message that goes down 200 times.
fn run_of(
    protocol: &str,
    message: &Value,
    (config, clocks): (&str, u64),
    takes: bool,
    spoil: impl Fn(u64, &mut Vec<u8>),
) -> ([u64; 2], [u64; 2], Vec<(u64, Value)>) {
    let both = |mode| {
        [SP_DOWN, SP_UP].map(|dir| {
            let (status, link) = link(protocol, dir, config, mode);
            assert_eq!(status, SP_OK, "{}", last_error());
            link
        })
    };
    let (ends, watchers) = (both(SP_ACTIVE), both(SP_PASSIVE));
    let message = message.to_string();
    for _ in 0..200 {
        assert_eq!(unsafe { sp_link_send(ends[0], start(&message), message.len()) }, SP_OK, "{}", last_error());
    }
    let mut events = Vec::new();
    for clock in 0..clocks {
        let sent = ends.map(|end| {
            assert_eq!(sp_link_step(end, 1), SP_OK, "{}", last_error());
            sample(end)
        });
        for (n, unit) in sent.into_iter().enumerate() {
            let Some(mut unit) = unit else { continue };
            drive(watchers[n], SP_TX, &unit);
            if n == 0 {
                spoil(clock, &mut unit);
            }
            drive(ends[1 - n], SP_RX, &unit);
            drive(watchers[1 - n], SP_RX, &unit);
        }
        watchers.iter().for_each(|&watcher| assert_eq!(sp_link_step(watcher, 1), SP_OK));
        while takes && take(ends[1]).is_some() {}
        for link in ends.into_iter().chain(watchers) {
            events.extend(std::iter::from_fn(|| event(link)).map(|event| (link, event)));
        }
    }
    (ends, watchers, events)
}

/// Small buffers, and a limit that is longer than credits take to come back.
const BUSY: &str = "{\"buffers\":8,\"liveness_flits\":200}";

#[test]
fn every_end_has_figures() {
    open();
    for protocol in PROTOCOLS {
        let (ends, watchers, events) = run(protocol, ("", 300), true, |_, _| ());
        assert!(events.is_empty(), "{protocol}: {events:?}");
        for (n, link) in ends.into_iter().chain(watchers).enumerate() {
            let health = &state(link)["health"];
            assert_eq!(health["crc_errors"], 0, "{protocol}: {health}");
            assert!(health["sent_flits"].as_u64() > Some(5), "{protocol}: {health}");
            assert!(health["received_flits"].as_u64() > Some(5), "{protocol}: {health}");
            for states in ["link_state_flits", "retry_state_flits"] {
                let times = health[states].as_object().expect("times of states");
                let sum: u64 = times.values().filter_map(Value::as_u64).sum();
                assert_eq!(sum, 300, "{protocol} {n}: {states} {times:?}");
            }
            if protocol.starts_with("cxl") {
                let host = link == ends[0] || link == watchers[0];
                let channel = if host { "m2s_rwd" } else { "s2m_ndr" };
                assert!(health["credits"][channel].as_u64() > Some(0), "{protocol}: {health}");
            }
        }
        destroy(ends.into_iter().chain(watchers));
    }
}

/// What the FEC of a 256B flit repairs is an event of an active and of a passive end, with the symbols; so is what it does not.
#[test]
fn repairs_of_the_fec_are_told_with_their_symbols() {
    open();
    let spoil = |clock: u64, unit: &mut Vec<u8>| match clock {
        60 => (unit[40], unit[41]) = (unit[40] ^ 0x11, unit[41] ^ 0x22),
        120 => unit[40..46].iter_mut().for_each(|byte| *byte ^= 0x33),
        _ => (),
    };
    for protocol in ["cxl-256b", "cxl-256b-lopt", "cxl-256b-pbr"] {
        let (ends, watchers, events) = run(protocol, ("", 300), true, spoil);
        for link in [ends[1], watchers[1]] {
            let of_link: Vec<&Value> = events.iter().filter(|(of, _)| *of == link).map(|(_, event)| event).collect();
            let [repaired, bad, ..] = of_link.as_slice() else { panic!("{protocol}: {events:?}") };
            assert_eq!(
                (&repaired["severity"], &repaired["rule"], &repaired["by"], &repaired["at"]),
                (&json!("corrected"), &json!("CXL256-FEC-02"), &json!("line"), &json!("byte 40")),
                "{protocol}: {repaired}"
            );
            assert_eq!(repaired["found"], "2 wrong symbols: byte 40 by 0x11, byte 41 by 0x22", "{protocol}");
            assert_eq!((&bad["severity"], &bad["by"]), (&json!("corrected"), &json!("line")), "{protocol}: {bad}");
            let health = &state(link)["health"];
            let counts = ["fec_repaired_flits", "fec_repaired_symbols", "crc_errors"].map(|key| &health[key]);
            assert_eq!(counts, [&json!(1), &json!(2), &json!(1)], "{protocol}: {health}");
        }
        destroy(ends.into_iter().chain(watchers));
    }
    let spoil = |clock: u64, unit: &mut Vec<u8>| {
        if clock == 60 {
            unit[30] ^= 1;
        }
    };
    let (ends, watchers, events) = run("cxl-68b", ("", 300), true, spoil);
    for link in [ends[1], watchers[1]] {
        let first = events.iter().find(|(of, _)| *of == link).map(|(_, event)| event);
        let first = first.unwrap_or_else(|| panic!("{events:?}"));
        assert_eq!((&first["rule"], &first["severity"]), (&json!("CXL68-CRC-01"), &json!("corrected")), "{first}");
    }
    destroy(ends.into_iter().chain(watchers));
}

/// A device that takes no messages gives no credits back: its host says so, and both watchers.
#[test]
fn credits_that_never_come_back_are_told() {
    open();
    for protocol in ["cxl-68b", "cxl-256b", "nvlink"] {
        let (ends, watchers, events) = run(protocol, ("{\"liveness_flits\":400}", 1200), false, |_, _| ());
        for (link, by) in [(ends[0], "peer"), (watchers[0], "peer"), (watchers[1], "end")] {
            let of_link = events.iter().filter(|(of, event)| *of == link && event["rule"] == "LIV-CRD-01");
            let of_link: Vec<&Value> = of_link.map(|(_, event)| event).collect();
            assert!(!of_link.is_empty(), "{protocol}: {events:?}");
            assert!(of_link.iter().all(|event| event["by"] == by), "{protocol}: {of_link:?}");
            let first = of_link[0];
            assert_eq!(first["expected"], "a credit within 400 flits", "{protocol}");
            assert!(first["found"].as_str().is_some_and(|text| text.contains(" credits since flit ")), "{first}");
        }
        destroy(ends.into_iter().chain(watchers));
        // Without a limit nobody says anything.
        let (ends, watchers, events) = run(protocol, ("{\"liveness_flits\":0}", 1200), false, |_, _| ());
        assert!(events.is_empty(), "{protocol}: {events:?}");
        destroy(ends.into_iter().chain(watchers));
    }
    for config in ["-1", "4294967297", "\"x\""] {
        let config = format!("{{\"liveness_flits\":{config}}}");
        assert_eq!(link("ualink", SP_UP, &config, SP_PASSIVE).0, SP_ERR_INPUT, "{config}");
    }
}

/// A busy link whose credits come and are spent in one flit clock, many requests in a flit: nobody waits for longer than until the
/// next credits.
#[test]
fn credits_that_come_and_go_in_one_flit_clock_are_progress() {
    open();
    for (protocol, family) in [("cxl-68b", "cxl68"), ("cxl-256b", "cxl256"), ("cxl-256b-pbr", "cxlpbr")] {
        let read =
            json!({"layout": format!("{family}.m2s_req"), "fields": {"opcode": "MemRd", "tag": 5, "address": 4096}});
        let (ends, watchers, events) = run_of(protocol, &read, (BUSY, 1200), true, |_, _| ());
        assert!(events.is_empty(), "{protocol}: {events:?}");
        destroy(ends.into_iter().chain(watchers));
    }
    let (ends, watchers, events) = run("nvlink", (BUSY, 1200), true, |_, _| ());
    assert!(events.is_empty(), "{events:?}");
    destroy(ends.into_iter().chain(watchers));
}

/// A link that trains for longer than anybody may wait. Nobody says anything, and all ends but those of ualink, whose training is
/// a fault of their line, are in the state `training`. Once it is over, waits begin anew.
#[test]
fn nobody_waits_while_a_link_trains() {
    open();
    for protocol in PROTOCOLS {
        let (ends, watchers, events) = run(protocol, ("{\"liveness_flits\":300}", 200), true, |_, _| ());
        assert!(events.is_empty(), "{protocol}: {events:?}");
        // An active end of nvlink knows no training.
        let all: Vec<u64> = if protocol == "nvlink" { watchers.to_vec() } else { [ends, watchers].concat() };
        let told = |link: u64| std::iter::from_fn(|| event(link)).collect::<Vec<_>>();
        for &link in &all {
            assert_eq!(sp_link_train(link, 0), SP_OK, "{}", last_error());
            assert_eq!(sp_link_step(link, 900), SP_OK, "{}", last_error());
            let waits =
                told(link).into_iter().filter(|event| event["rule"].as_str().is_some_and(|r| r.starts_with("LIV")));
            assert_eq!(waits.collect::<Vec<_>>(), Vec::<Value>::new(), "{protocol}");
            let (state, health) = (if protocol == "ualink" { "fault" } else { "training" }, &state(link)["health"]);
            assert_eq!(health["link_state"], state, "{protocol}");
            assert!(health["link_state_flits"][state].as_u64() >= Some(899), "{protocol}: {health}");
            assert_eq!(sp_link_train(link, 1), SP_OK, "{}", last_error());
            assert_eq!(sp_link_step(link, 299), SP_OK, "{}", last_error());
            let waits =
                told(link).into_iter().filter(|event| event["rule"].as_str().is_some_and(|r| r.starts_with("LIV")));
            assert_eq!(waits.collect::<Vec<_>>(), Vec::<Value>::new(), "{protocol}");
        }
        destroy(ends.into_iter().chain(watchers));
    }
}
