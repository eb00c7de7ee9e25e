//! Hooks of link ends: functions and faults at every point, in the order of what passes.

use crate::calls::{last_error, open, start};
use crate::links::{PROTOCOLS, destroy, drive, event, link, sample, state, take, write};
use scalepool_capi::link::hook::*;
use scalepool_capi::link::*;
use scalepool_capi::status::*;
use scalepool_capi::stream::{SP_DOWN, SP_UP};
use std::ffi::{CStr, c_char, c_void};
use std::ptr::null_mut;

const POINTS: [&str; 6] = ["packer_in", "packer_out", "credit", "replay_in", "replay_out", "wire"];

/// What a function has seen, and what it is to answer.
#[derive(Default)]
struct Seen {
    items: Vec<(u64, String, Vec<u8>)>,
    answer: u32,
    /// Byte that a replacement inverts.
    invert: usize,
    /// A handle to be called from inside.
    calls: u64,
    inner: i32,
}

unsafe extern "C" fn see(
    user: *mut c_void,
    _point: u32,
    _way: u32,
    _flit_clock: u64,
    number: u64,
    name: *const c_char,
    bytes: *const u8,
    other: *mut u8,
    length: usize,
) -> u32 {
    // SAFETY: what the test gave to `attach`, and what the library promises of its pointers.
    let (seen, name, bytes, other) = unsafe {
        let other = std::slice::from_raw_parts_mut(other, length);
        (&mut *user.cast::<Seen>(), CStr::from_ptr(name), std::slice::from_raw_parts(bytes, length), other)
    };
    seen.items.push((number, name.to_string_lossy().into_owned(), bytes.to_vec()));
    if seen.answer == SP_HOOK_REPLACE {
        other[seen.invert] ^= 0xff;
    }
    if seen.calls != 0 {
        seen.inner = sp_link_step(seen.calls, 1);
    }
    seen.answer
}

fn attach(link: u64, point: &str, way: u32, seen: &mut Seen) -> (i32, u64) {
    let mut hook = 0;
    let user = std::ptr::from_mut(seen).cast();
    let status = unsafe { sp_hook_attach(link, start(point), point.len(), way, Some(see), user, &mut hook) };
    (status, hook)
}

fn fault(link: u64, point: &str, way: u32, fault: &str) -> i32 {
    let (at, fault) = ((start(point), point.len()), (start(fault), fault.len()));
    unsafe { sp_hook_fault(link, at.0, at.1, way, fault.0, fault.1, &mut 0) }
}

fn ends(protocol: &str) -> [u64; 2] {
    [SP_DOWN, SP_UP].map(|dir| link(protocol, dir, "", SP_ACTIVE).1)
}

/// Steps both ends, the first of which has `messages` messages to send when the link is up; all that the first one sends.
fn run(ends: [u64; 2], protocol: &str, messages: usize) -> Vec<Vec<u8>> {
    let message = write(protocol).to_string();
    let mut sent = Vec::new();
    for clock in 0..500 {
        if clock == 60 {
            for _ in 0..messages {
                assert_eq!(unsafe { sp_link_send(ends[0], start(&message), message.len()) }, SP_OK, "{}", last_error());
            }
        }
        for n in [0, 1] {
            assert_eq!(sp_link_step(ends[n], 1), SP_OK, "{}", last_error());
            while let Some(unit) = sample(ends[n]) {
                drive(ends[1 - n], SP_RX, &unit);
                if n == 0 {
                    sent.push(unit);
                }
            }
        }
    }
    sent
}

fn arrived(link: u64) -> usize {
    std::iter::from_fn(|| take(link)).count()
}

/// Functions that keep everything see every kind of item and change nothing.
#[test]
fn every_point_is_met_and_watching_changes_nothing() {
    open();
    for protocol in PROTOCOLS {
        let (bare, watched) = (ends(protocol), ends(protocol));
        let mut seen: Vec<(usize, &str, u32, Box<Seen>)> = Vec::new();
        for (n, link) in watched.into_iter().enumerate() {
            for point in POINTS.into_iter().filter(|&p| protocol != "ualink" || p != "credit") {
                for way in [SP_RX, SP_TX] {
                    let mut of = Box::<Seen>::default();
                    assert_eq!(attach(link, point, way, &mut of).0, SP_OK, "{}", last_error());
                    seen.push((n, point, way, of));
                }
            }
        }
        // Units with messages are bad, so that something goes again. A 68B link at rest sends nothing.
        let units = match protocol {
            "cxl-68b" => 12..13,
            "ualink" => 50..63,
            _ => 62..63,
        };
        for (link, unit) in
            [bare[0], watched[0]].into_iter().flat_map(|link| units.clone().map(move |unit| (link, unit)))
        {
            assert_eq!(fault(link, "wire", SP_TX, &format!("drop:{unit}")), SP_OK, "{}", last_error());
        }
        assert_eq!(run(bare, protocol, 9), run(watched, protocol, 9), "{protocol}");
        let counts = [bare[1], watched[1]].map(arrived);
        assert_eq!(counts, [9, 9], "{protocol}: {:?}", event(bare[1]));
        // Credits go back.
        assert_eq!(run(bare, protocol, 0), run(watched, protocol, 0), "{protocol}");
        for point in POINTS.into_iter().filter(|&p| protocol != "ualink" || p != "credit") {
            for way in [SP_RX, SP_TX] {
                let of = || seen.iter().filter(|s| (s.1, s.2) == (point, way));
                assert!(of().any(|s| !s.3.items.is_empty()), "{protocol}: {point} {way} has seen nothing");
                for items in of().map(|s| &s.3.items) {
                    assert!((0..).zip(items).all(|(n, item)| n == item.0), "{protocol}: {point} numbers");
                }
            }
        }
        let messages = |n, point, way| {
            let of = seen.iter().find(|s| (s.0, s.1, s.2) == (n, point, way));
            of.map_or(Vec::new(), |s| s.3.items.iter().map(|i| (i.1.clone(), i.2.clone())).collect())
        };
        assert_eq!(messages(0, "packer_in", SP_TX).len(), 9, "{protocol}");
        if protocol != "nvlink" {
            // NVLink: a message that keeps the AE in force comes without one of its own; spelled here it has one again.
            assert_eq!(messages(0, "packer_in", SP_TX), messages(1, "packer_out", SP_RX), "{protocol}");
        }
        assert_eq!(state(watched[0])["bad_answers"], 0);
        destroy(bare.into_iter().chain(watched));
    }
}

#[test]
fn what_a_function_drops_does_not_come_and_what_it_replaces_comes_changed() {
    open();
    for protocol in PROTOCOLS {
        for (end, point, way) in [(0, "packer_in", SP_TX), (1, "packer_out", SP_RX)] {
            let ends = ends(protocol);
            let mut drops = Seen { answer: SP_HOOK_DROP, ..Seen::default() };
            let (status, hook) = attach(ends[end], point, way, &mut drops);
            assert_eq!(status, SP_OK);
            run(ends, protocol, 3);
            assert_eq!((drops.items.len(), arrived(ends[1])), (3, 0), "{protocol}: {point}");
            assert_eq!((sp_hook_detach(ends[end], hook), sp_hook_detach(ends[end], hook)), (SP_OK, SP_ERR_RANGE));
            let last = drops.items[0].2.len() - 1;
            let mut changes = Seen { answer: SP_HOOK_REPLACE, invert: last, ..Seen::default() };
            assert_eq!(attach(ends[end], point, way, &mut changes).0, SP_OK);
            run(ends, protocol, 1);
            let message = take(ends[1]).expect("it comes");
            let data = if protocol == "ualink" { &message["upper"] } else { &message["data"] };
            let expected = if protocol == "ualink" { "00ff" } else { "5aa5" };
            assert!(data.as_str().is_some_and(|d| d.ends_with(expected)), "{protocol}: {message}");
            destroy(ends);
        }
    }
}

/// A flit that is changed between the retry buffer and its CRC goes again with other bytes; the link takes it for good.
#[test]
fn a_fault_as_a_text_hits_its_item() {
    open();
    for (point, way, text) in [
        ("packer_in", SP_TX, "drop:1"),
        ("packer_out", SP_RX, "vanish:0"),
        ("replay_in", SP_RX, "noise:70"),
        ("wire", SP_TX, "noise:70"),
        ("wire", SP_RX, "flip:70:200"),
    ] {
        let ends = ends("cxl-256b");
        let end = usize::from(way == SP_RX);
        assert_eq!(fault(ends[end], point, way, text), SP_OK, "{}", last_error());
        run(ends, "cxl-256b", 3);
        let lost = usize::from(point.starts_with("packer"));
        assert_eq!(arrived(ends[1]), 3 - lost, "{point} {text}");
        destroy(ends);
    }
    let [link, other] = ends("nvlink");
    for (point, text) in [("credit", "drop:0"), ("replay_in", "drop:0"), ("packer_in", "dup:0")] {
        assert_eq!(fault(link, point, SP_TX, text), SP_ERR_KIND, "{point} {text}");
    }
    for text in ["drop", "drop:x", "flip:0:128", "lose:3"] {
        assert_eq!(fault(link, "wire", SP_TX, text), SP_ERR_INPUT, "{text}");
    }
    destroy([link, other]);
}

/// A unit that the wire takes away or doubles is repaired, and the end that misses it blames nobody. Flits of 68B have no numbers: what
/// vanishes there is lost.
#[test]
fn a_unit_that_the_wire_hides_is_repaired_without_blame() {
    open();
    for protocol in PROTOCOLS.into_iter().filter(|protocol| *protocol != "cxl-68b") {
        // The flits of the messages lie somewhere behind the sixtieth.
        for (what, n) in ["vanish", "dup"].into_iter().flat_map(|what| (58..74).map(move |n| (what, n))) {
            let ends = ends(protocol);
            assert_eq!(fault(ends[1], "wire", SP_RX, &format!("{what}:{n}")), SP_OK, "{}", last_error());
            run(ends, protocol, 3);
            assert_eq!(arrived(ends[1]), 3, "{protocol} {what}:{n}");
            for event in ends.iter().flat_map(|&end| std::iter::from_fn(move || event(end))) {
                assert!(
                    ["corrected", "retrain"].contains(&event["severity"].as_str().expect("one")),
                    "{what}:{n}: {event}"
                );
            }
            destroy(ends);
        }
    }
}

/// Credits that are held do not go back, and the sender stops when it has none; they go when the hook is gone.
#[test]
fn held_credits_stop_the_peer() {
    open();
    for protocol in ["cxl-68b", "cxl-256b", "nvlink"] {
        let ends = [SP_DOWN, SP_UP].map(|dir| link(protocol, dir, "{\"buffers\":2}", SP_ACTIVE).1);
        run(ends, protocol, 0);
        let mut holds = Seen { answer: SP_HOOK_HOLD, ..Seen::default() };
        let (status, hook) = attach(ends[1], "credit", SP_TX, &mut holds);
        assert_eq!(status, SP_OK);
        run(ends, protocol, 6);
        let mut came = arrived(ends[1]);
        assert_eq!(came, 2, "{protocol}");
        run(ends, protocol, 0);
        assert_eq!(arrived(ends[1]), 0, "{protocol}: {} asked", holds.items.len());
        assert_eq!(sp_hook_detach(ends[1], hook), SP_OK);
        for _ in 0..4 {
            run(ends, protocol, 0);
            came += arrived(ends[1]);
        }
        assert_eq!(came, 6, "{protocol}");
        destroy(ends);
    }
}

#[test]
fn what_hooks_refuse() {
    open();
    let (mut seen, ends) = (Seen { answer: SP_HOOK_DROP, ..Seen::default() }, ends("ualink"));
    assert_eq!(attach(ends[0], "packer", SP_TX, &mut seen).0, SP_ERR_INPUT);
    assert_eq!(attach(ends[0], "wire", 2, &mut seen).0, SP_ERR_RANGE);
    assert_eq!(attach(ends[0], "credit", SP_RX, &mut seen).0, SP_ERR_KIND);
    assert_eq!(attach(0, "wire", SP_RX, &mut seen).0, SP_ERR_HANDLE);
    let bare = unsafe { sp_hook_attach(ends[0], start("wire"), 4, SP_RX, None, null_mut(), &mut 0) };
    assert_eq!((bare, sp_hook_detach(ends[0], 1)), (SP_ERR_NULL, SP_ERR_RANGE));
    // An answer that the point does not allow changes nothing and is told.
    seen.answer = SP_HOOK_HOLD;
    assert_eq!(attach(ends[0], "replay_out", SP_RX, &mut seen).0, SP_OK);
    // A call of the same handle from inside is refused.
    let mut inner = Seen { calls: ends[0], ..Seen::default() };
    assert_eq!(attach(ends[0], "wire", SP_TX, &mut inner).0, SP_OK);
    run([ends[1], ends[0]], "ualink", 2);
    assert_eq!((inner.inner, arrived(ends[0])), (SP_ERR_BUSY, 2));
    let state = state(ends[0]);
    assert_eq!(state["bad_answers"].as_u64(), Some(seen.items.len() as u64));
    assert_eq!(state["bad_answer"], "replay_out rx, item 0: found the answer hold, expected one of: keep ");
    // A reset keeps the hooks and counts anew.
    seen.items.clear();
    assert_eq!((sp_link_reset(ends[0]), sp_link_reset(ends[1])), (SP_OK, SP_OK));
    run([ends[1], ends[0]], "ualink", 2);
    assert_eq!(seen.items.first().map(|item| item.0), Some(0));
    destroy(ends);
    // A passive end has its wires.
    let (_, passive) = link("cxl-68b", SP_UP, "", SP_PASSIVE);
    assert_eq!(attach(passive, "replay_in", SP_RX, &mut seen).0, SP_ERR_KIND);
    assert_eq!(fault(passive, "wire", SP_RX, "drop:0"), SP_ERR_KIND);
    let mut watch = Seen::default();
    assert_eq!(attach(passive, "wire", SP_TX, &mut watch).0, SP_OK);
    drive(passive, SP_TX, &[0; 68]);
    assert_eq!((sp_link_step(passive, 2), watch.items.len()), (SP_OK, 1));
    destroy([passive]);
}
