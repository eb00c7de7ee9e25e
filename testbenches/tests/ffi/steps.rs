//! Simulations step by step: the same as one run, to the byte; ports that are sampled, compared, driven and disturbed.

use crate::calls::{last_error, open, start, text_of};
use scalepool_capi::link::hook::{SP_HOOK_DROP, SP_HOOK_KEEP, SP_HOOK_REPLACE};
use scalepool_capi::link::{SP_RX, SP_TX};
use scalepool_capi::message::sp_encode_json;
use scalepool_capi::sim::hook::*;
use scalepool_capi::sim::port::*;
use scalepool_capi::sim::*;
use scalepool_capi::status::*;
use serde_json::Value;
use std::ffi::{c_char, c_void};
use std::path::Path;
use std::ptr::{null, null_mut};

/// Scenarios of every family, with work for some hundred cycles.
const SCENARIOS: [(&str, &str); 6] = [
    ("cxl68-expander", "host.accesses = 40\nhost.pattern = \"mix\"\nlink.ber = 1e-5"),
    ("cxl256-lopt-expander", "host.accesses = 40\ncycles = 700"),
    ("cxl-cache-pair", "cycles = 700"),
    ("ualink-pair", "cycles = 700"),
    ("nvlink-pair", "cycles = 700"),
    ("cxlio-enumerate", "cycles = 700"),
];

fn sim(text: &str) -> u64 {
    let mut sim = 0;
    assert_eq!(unsafe { sp_sim_new(start(text), text.len(), &mut sim) }, SP_OK, "{text}: {}", last_error());
    sim
}

fn metrics(sim: u64) -> String {
    let (status, text) = text_of(|t, c, l| unsafe { sp_sim_metrics(sim, t, c, l) });
    assert_eq!(status, SP_OK, "{}", last_error());
    text
}

fn state(sim: u64) -> Value {
    let (status, text) = text_of(|t, c, l| unsafe { sp_sim_state(sim, t, c, l) });
    assert_eq!(status, SP_OK, "{}", last_error());
    serde_json::from_str(&text).expect("JSON")
}

fn show(sim: u64, folder: &Path) {
    let [wave, trace] = ["a.vcd", "a.jsonl"].map(|name| folder.join(name).to_string_lossy().into_owned());
    let status = unsafe { (sp_sim_wave(sim, start(&wave), wave.len()), sp_sim_trace(sim, start(&trace), trace.len())) };
    assert_eq!(status, (SP_OK, SP_OK), "{}", last_error());
}

fn written(folder: &Path) -> [Vec<u8>; 2] {
    ["a.vcd", "a.jsonl"].map(|name| std::fs::read(folder.join(name)).unwrap_or_else(|e| panic!("{name}: {e}")))
}

fn watch(sim: u64, port: &str, way: u32) {
    assert_eq!(unsafe { sp_sim_watch(sim, start(port), port.len(), way, 1) }, SP_OK, "{}", last_error());
}

fn sample(sim: u64, port: &str, way: u32) -> Option<(u64, Vec<u8>)> {
    let (mut unit, mut length, mut time_fs) = (vec![0; 640], 0, 0);
    let status = unsafe {
        sp_sim_sample(sim, start(port), port.len(), way, &mut time_fs, unit.as_mut_ptr(), unit.len(), &mut length)
    };
    assert!([SP_OK, SP_EMPTY].contains(&status), "{}", last_error());
    unit.truncate(length);
    (status == SP_OK).then_some((time_fs, unit))
}

fn samples(sim: u64, port: &str, way: u32) -> Vec<(u64, Vec<u8>)> {
    std::iter::from_fn(|| sample(sim, port, way)).collect()
}

fn drive(sim: u64, port: &str, unit: &[u8]) -> i32 {
    unsafe { sp_sim_drive(sim, start(port), port.len(), unit.as_ptr(), unit.len()) }
}

fn expect(sim: u64, port: &str, way: u32, unit: &[u8], mask: Option<&[u8]>) -> i32 {
    let mask = mask.map_or(null(), <[u8]>::as_ptr);
    unsafe { sp_sim_expect(sim, start(port), port.len(), way, unit.as_ptr(), mask, unit.len()) }
}

/// Metrics, wave and trace of a text, stepped by so many cycles; 0 runs at once.
fn outcome(text: &str, step: u64) -> (String, [Vec<u8>; 2]) {
    let folder = tempfile::tempdir().expect("a folder");
    let sim = sim(text);
    show(sim, folder.path());
    if step == 0 {
        assert_eq!(sp_sim_run(sim, 0), SP_OK, "{text}: {}", last_error());
    } else {
        let mut status = SP_OK;
        while status == SP_OK {
            status = sp_sim_step(sim, step);
        }
        assert_eq!(status, SP_EMPTY, "{}", last_error());
    }
    let found = (metrics(sim), written(folder.path()));
    assert_eq!(sp_sim_destroy(sim), SP_OK);
    found
}

#[test]
fn steps_are_the_same_as_one_run() {
    open();
    for (scenario, more) in SCENARIOS {
        for threads in [1, 2] {
            let text = format!("scenario = \"{scenario}\"\nseed = 5\nthreads = {threads}\n{more}");
            let at_once = outcome(&text, 0);
            assert!(at_once.1[1].len() > 1000, "{scenario}: a trace");
            // Steps know no threads; each of them costs a hand-over there.
            for step in if threads == 1 { &[1, 7, 1000][..] } else { &[7] } {
                let step = *step;
                let stepped = outcome(&text, step);
                assert_eq!(stepped.0, at_once.0, "{scenario}, {threads} threads, steps of {step}: metrics");
                assert!(stepped.1 == at_once.1, "{scenario}, {threads} threads, steps of {step}: wave or trace");
            }
        }
    }
}

/// Looking at a run changes nothing, and what it shows on the way is what a run to that cycle shows.
#[test]
fn metrics_on_the_way_are_those_of_a_shorter_run() {
    open();
    for (scenario, more) in SCENARIOS {
        let more = more.replace("cycles = 700", "");
        let text = format!("scenario = \"{scenario}\"\n{more}");
        let (live, shorter) = (sim(&text), sim(&text));
        for cycle in [1, 50, 333, 400] {
            let stands = state(live)["cycle"].as_u64().expect("a number");
            assert_eq!(sp_sim_step(live, cycle - stands), SP_OK, "{}", last_error());
            sp_sim_reset(shorter);
            sp_sim_run(shorter, cycle);
            assert_eq!(metrics(live), metrics(shorter), "{scenario} to cycle {cycle}");
        }
        // A cycle that is past begins at the start.
        sp_sim_run(live, 50);
        sp_sim_reset(shorter);
        sp_sim_run(shorter, 50);
        assert_eq!(metrics(live), metrics(shorter), "{scenario} again");
        assert_eq!((sp_sim_destroy(live), sp_sim_destroy(shorter)), (SP_OK, SP_OK));
    }
}

/// Waves that are switched on in the middle show the rest, and are whole when they are switched off.
#[test]
fn outputs_on_and_off_on_the_way() {
    open();
    let folder = tempfile::tempdir().expect("a folder");
    let sim = sim("scenario = \"cxl68-expander\"\nhost.accesses = 400");
    assert_eq!(sp_sim_step(sim, 600), SP_OK);
    show(sim, folder.path());
    assert_eq!(sp_sim_step(sim, 600), SP_OK);
    let path = folder.path().join("a.jsonl");
    assert!(!path.exists(), "nothing until it is whole");
    assert_eq!(unsafe { (sp_sim_wave(sim, start(""), 0), sp_sim_trace(sim, start(""), 0)) }, (SP_OK, SP_OK));
    let [wave, trace] = written(folder.path());
    assert!(!wave.is_empty());
    let trace = String::from_utf8(trace).expect("UTF-8");
    let times = trace.lines().skip(1).map(|line| {
        let record: Value = serde_json::from_str(line).expect("JSON");
        record["t_fs"].as_u64().expect("a time")
    });
    let (first, last) = times.fold((u64::MAX, 0), |(first, last), t| (first.min(t), last.max(t)));
    assert!((300_000_000..600_000_000).contains(&first) && last < 600_000_000, "{first} to {last} fs");
    let whole = outcome("scenario = \"cxl68-expander\"\nhost.accesses = 400", 0).0;
    assert_eq!((sp_sim_run(sim, 0), metrics(sim) == whole), (SP_OK, true));
    // Of the next run, since this one is over.
    std::fs::remove_file(&path).expect("it is there");
    show(sim, folder.path());
    assert_eq!((sp_sim_run(sim, 0), path.is_file()), (SP_OK, true));
    assert_eq!(sp_sim_destroy(sim), SP_OK);
}

/// A port for each link end; what one end sends is what the other one receives, in order and later.
#[test]
fn units_are_sampled_where_they_pass() {
    open();
    for (scenario, near, far, bytes) in [
        ("cxl68-expander", "host.cxl", "device.cxl", 68),
        ("cxl256-expander", "host.cxl", "device.cxl", 256),
        ("cxl256-lopt-expander", "device.cxl", "host.cxl", 256),
        ("cxl-cache-pair", "host.port[0]", "dev[0].link", 256),
        ("ualink-pair", "accel[0].port[0]", "accel[1].port[0]", 640),
        ("nvlink-pair", "gpu[0].link[1]", "gpu[1].link[1]", 16),
    ] {
        let sim = sim(&format!("scenario = \"{scenario}\""));
        let listed = state(sim);
        let names: Vec<_> = listed["ports"].as_array().expect("a list").iter().map(|p| p["name"].clone()).collect();
        assert!(names.contains(&near.into()) && names.contains(&far.into()), "{scenario}: {names:?}");
        let of = |name: &str| unsafe { sp_sim_watch(sim, start(name), name.len(), SP_TX, 1) };
        assert_eq!((of(near), of("nowhere")), (SP_OK, SP_ERR_INPUT));
        assert!(last_error().contains(near), "{}", last_error());
        watch(sim, far, SP_RX);
        assert_eq!(sp_sim_step(sim, 900), SP_OK, "{}", last_error());
        let (sent, received) = (samples(sim, near, SP_TX), samples(sim, far, SP_RX));
        assert!(received.len() > 20 && sent.len() >= received.len(), "{scenario}: {}", received.len());
        for (sent, received) in sent.iter().zip(&received) {
            assert_eq!((sent.1.len(), &sent.1), (bytes, &received.1), "{scenario}");
            assert!(sent.0 < received.0, "{scenario}: {} then {} fs", sent.0, received.0);
        }
        // Compared as they are taken: the twin of one end is the other.
        assert_eq!(sp_sim_step(sim, 400), SP_OK);
        let (unit, mut other) = (sample(sim, near, SP_TX).expect("one").1, sample(sim, near, SP_TX).expect("two").1);
        let skip = sent.len() - received.len();
        (0..skip).for_each(|_| drop(sample(sim, far, SP_RX)));
        assert_eq!(expect(sim, far, SP_RX, &unit, None), SP_OK, "{}", last_error());
        other[3] ^= 0x10;
        assert_eq!(expect(sim, far, SP_RX, &other, None), SP_FINDING);
        assert!(last_error().contains(", byte 3: found"), "{}", last_error());
        assert_eq!(expect(sim, far, SP_RX, &other[1..], None), SP_ERR_INPUT);
        samples(sim, far, SP_RX);
        assert_eq!(expect(sim, far, SP_RX, &unit, Some(&vec![0; bytes])), SP_EMPTY);
        assert_eq!(expect(sim, near, SP_RX, &unit, None), SP_ERR_KIND, "not watched");
        assert_eq!(drive(sim, near, &unit), SP_ERR_KIND, "not external");
        assert_eq!(sp_sim_destroy(sim), SP_OK);
    }
}

/// What the host says of itself in a report.
fn of_host(metrics: &str) -> Vec<Value> {
    let form: Value = serde_json::from_str(metrics).expect("JSON");
    let counts = &form["counts"];
    let of = ["line accesses", "cache hits", "reads", "writes", "host stall cycles"].map(|key| counts[key].clone());
    let all = ["latency_cycles", "latency_fs", "violations"].map(|key| form[key].clone());
    let flits = [form["flits"]["down"].clone(), form["flits"]["up"].clone()];
    all.into_iter().chain(of).chain(flits).collect()
}

/// The units that the device sends in a run of the model, driven in its place at the same times, serve the host the same way;
/// a bit that flips on the way is asked for again.
#[test]
fn a_driven_end_stands_for_that_of_the_model() {
    open();
    let port = "device.cxl";
    for scenario in ["cxl68-expander", "cxl256-expander", "cxl256-lopt-expander", "cxl-pbr-pair"] {
        let text = format!("scenario = \"{scenario}\"\nhost.accesses = 60\nhost.pattern = \"mix\"");
        let model = sim(&text);
        watch(model, port, SP_TX);
        watch(model, port, SP_RX);
        assert_eq!(sp_sim_run(model, 3000), SP_OK, "{}", last_error());
        let (sent, received) = (samples(model, port, SP_TX), samples(model, port, SP_RX));
        let filled = |n: &usize| sent[*n].1.iter().filter(|byte| **byte != 0).count();
        let fullest = (0..sent.len()).max_by_key(filled);
        for flip in [false, true] {
            let external = sim(&format!("{text}\nexternal = \"{port}\""));
            watch(external, port, SP_RX);
            let mut cycle = 0;
            for (n, (t_fs, unit)) in sent.iter().enumerate() {
                // A cycle is 500,000 fs; the unit leaves in the step that holds its time.
                let at = t_fs / 500_000;
                assert_eq!(sp_sim_step(external, at - cycle), SP_OK, "{}", last_error());
                cycle = at;
                let mut unit = unit.clone();
                // The one with most in it; more bits than the FEC can correct.
                if flip && Some(n) == fullest {
                    (8..40).for_each(|byte| unit[byte] ^= 0xff);
                }
                assert_eq!(drive(external, port, &unit), SP_OK, "{}", last_error());
            }
            assert_eq!(sp_sim_step(external, 3000 - cycle), SP_OK);
            let same = of_host(&metrics(external)) == of_host(&metrics(model));
            if flip {
                let form: Value = serde_json::from_str(&metrics(external)).expect("JSON");
                let asked = form["retries"].as_u64().max(form["counts"]["Nak flits"].as_u64());
                assert!(!same && asked > Some(0), "{scenario}: {form}");
            } else {
                assert_eq!(of_host(&metrics(external)), of_host(&metrics(model)), "{scenario}");
                assert_eq!(samples(external, port, SP_RX), received, "{scenario}: what comes to the device");
                assert_eq!(state(external)["ports"][1]["driven"], 0);
            }
            assert_eq!(drive(external, port, &[0; 67]), SP_ERR_INPUT);
            assert_eq!(sp_sim_destroy(external), SP_OK);
        }
        assert_eq!(sp_sim_destroy(model), SP_OK);
    }
    for (text, found) in [
        ("scenario = \"nvlink-pair\"\nexternal = \"gpu[1].link[0]\"", "gpu[1].link[0]"),
        ("scenario = \"cxl68-expander\"\nexternal = \"device\"", "device"),
    ] {
        assert_eq!(unsafe { sp_sim_new(start(text), text.len(), &mut 0) }, SP_ERR_INPUT);
        assert!(last_error().contains(&format!("external: found `{found}`")), "{}", last_error());
    }
}

/// Bytes of a message from its JSON form, with a payload behind it.
fn message(json: &str, payload: &[u8]) -> Vec<u8> {
    let (mut bytes, mut length) = (vec![0; 16], 0);
    let status = unsafe { sp_encode_json(start(json), json.len(), bytes.as_mut_ptr(), bytes.len(), &mut length) };
    assert_eq!(status, SP_OK, "{}", last_error());
    bytes.truncate(length);
    bytes.extend(payload);
    bytes
}

/// Data of 64 bytes, byte enables and metadata behind a header.
fn payload(byte: u8) -> Vec<u8> {
    [[byte; 64].as_slice(), &[0xff; 8], &[0; 4]].concat()
}

/// Messages are sampled and driven by the same calls as units: a write, and the read that shows it.
#[test]
fn messages_of_an_external_component() {
    open();
    for (scenario, family) in [("cxl68-expander", "cxl68"), ("cxl256-expander", "cxl256")] {
        let sim = sim(&format!("scenario = \"{scenario}\"\ncomponent.host.external = \"messages\""));
        let form = state(sim);
        let ports: Vec<&Value> = form["ports"].as_array().expect("a list").iter().collect();
        let names: Vec<&str> = ports.iter().filter_map(|port| port["name"].as_str()).collect();
        let channels = ["host.cxl.m2s_req", "host.cxl.m2s_rwd", "host.cxl.s2m_ndr", "host.cxl.s2m_drs"];
        assert_eq!(names, [&["host.cxl"][..], &channels, &["device.cxl"]].concat());
        assert_eq!(
            ports.iter().map(|p| p["external"] == true).collect::<Vec<_>>(),
            [false, true, true, true, true, false]
        );
        assert_eq!(ports[1]["layout"], format!("{family}.m2s_req"));
        let layout = |name: &str, more: &str| format!("{{\"layout\":\"{family}.{name}\",\"fields\":{{{more}}}}}");
        let write = message(
            &layout("m2s_rwd", "\"opcode\":\"MemWr\",\"meta_field\":\"Meta0State\",\"tag\":1,\"address\":\"0x1240\""),
            &payload(0x5a),
        );
        assert_eq!(ports[2]["unit_bytes"], write.len());
        assert_eq!(drive(sim, "host.cxl.m2s_rwd", &write), SP_OK, "{}", last_error());
        assert_eq!(state(sim)["ports"][2]["driven"], 1);
        assert_eq!((sp_sim_step(sim, 3000), state(sim)["ports"][2]["driven"].as_u64()), (SP_OK, Some(0)));
        let done = message(&layout("s2m_ndr", "\"opcode\":\"Cmp\",\"meta_field\":\"NoOp\",\"tag\":1"), &[]);
        assert_eq!(state(sim)["ports"][3]["rx"]["waiting"], 1);
        assert_eq!(sample(sim, "host.cxl.s2m_ndr", SP_RX).map(|(_, unit)| unit), Some(done));
        let read = message(
            &layout("m2s_req", "\"opcode\":\"MemRd\",\"meta_field\":\"NoOp\",\"tag\":2,\"address\":\"0x1240\""),
            &[],
        );
        assert_eq!((drive(sim, "host.cxl.m2s_req", &read), sp_sim_step(sim, 3000)), (SP_OK, SP_OK));
        let drs = layout("s2m_drs", "\"opcode\":\"MemData\",\"meta_field\":\"NoOp\",\"tag\":2");
        let (right, wrong) = (message(&drs, &payload(0x5a)), message(&drs, &payload(0x5b)));
        assert_eq!(expect(sim, "host.cxl.s2m_drs", SP_RX, &right, None), SP_OK, "{}", last_error());
        assert_eq!(expect(sim, "host.cxl.s2m_drs", SP_RX, &wrong, None), SP_EMPTY);
        assert!(metrics(sim).contains("\"violations\":[]"));
        // Faster than one a cycle, without a cycle between.
        let driven: Vec<i32> = (0..18).map(|_| drive(sim, "host.cxl.m2s_rwd", &write)).collect();
        assert_eq!(driven, [vec![SP_OK; 16], vec![SP_FULL; 2]].concat());
        assert!(last_error().contains("host.cxl.m2s_rwd: 16 messages wait"), "{}", last_error());
        assert_eq!(sp_sim_step(sim, 3000), SP_OK);
        assert_eq!(samples(sim, "host.cxl.s2m_ndr", SP_RX).len(), 16, "what was taken is answered");
        assert_eq!(sp_sim_destroy(sim), SP_OK);
    }
}

#[test]
fn what_is_no_message_of_a_port_is_refused() {
    open();
    let sim = sim("scenario = \"cxl68-expander\"\ncomponent.host.external = \"messages\"");
    let mut unit = message("{\"layout\":\"cxl68.m2s_rwd\",\"fields\":{\"opcode\":\"MemWr\"}}", &payload(1));
    let refused = |port: &str, unit: &[u8], status: i32, text: &str| {
        assert_eq!(drive(sim, port, unit), status, "{text}");
        assert!(last_error().contains(text), "found    {}\nexpected {text}", last_error());
        assert_eq!(state(sim)["ports"][2]["driven"], 0, "nothing was taken");
    };
    let port = "host.cxl.m2s_rwd";
    refused(
        "host.cxl",
        &unit,
        SP_ERR_KIND,
        "port: found host.cxl, which the model drives, expected one that is external",
    );
    refused(
        "host.cxl.s2m_drs",
        &unit,
        SP_ERR_KIND,
        "port: found messages of host.cxl.s2m_drs, which arrive for the component, expected those of host.cxl that it sends: \
         m2s_req, m2s_rwd",
    );
    refused(
        "host.cxl.m2s_birsp",
        &unit,
        SP_ERR_INPUT,
        "port `host.cxl.m2s_birsp`: expected one of: host.cxl, host.cxl.m2s_req",
    );
    refused(
        port,
        &unit[..11],
        SP_ERR_INPUT,
        "host.cxl.m2s_rwd: cxl68.m2s_rwd: found 11 bytes, expected 87: 11 of the header, 64 of data, 8 of byte enables, 4 of \
         metadata",
    );
    unit[10] |= 1 << 1;
    refused(port, &unit, SP_ERR_INPUT, "reserved field `rsvd` is not 0: found 0x1, expected 0");
    unit[10] = 0;
    unit[0] |= 0xf << 1;
    refused(port, &unit, SP_ERR_INPUT, "field `opcode` holds a reserved code: found 0xf");
    unit[0] = 0;
    refused(
        port,
        &unit,
        SP_ERR_INPUT,
        "host.cxl.m2s_rwd: cxl68.m2s_rwd: field `valid` at bits 0: found 0x0, expected 0x1",
    );
    let arrive = "port: found messages of host.cxl.m2s_rwd, which the component sends, expected those of host.cxl that arrive \
                  for it: s2m_ndr, s2m_drs";
    let mut length = 0;
    let status = unsafe {
        sp_sim_sample(sim, start(port), port.len(), SP_RX, &mut 0, unit.as_mut_ptr(), unit.len(), &mut length)
    };
    assert_eq!((status, last_error().as_str()), (SP_ERR_KIND, arrive));
    assert_eq!(expect(sim, port, SP_RX, &unit, None), SP_ERR_KIND);
    assert_eq!(expect(sim, "host.cxl.s2m_drs", SP_TX, &[0; 81], None), SP_ERR_KIND);
    assert_eq!(last_error(), "way: found SP_TX of host.cxl.s2m_drs, a channel of messages, expected SP_RX");
    assert_eq!(unsafe { sp_sim_watch(sim, start(port), port.len(), SP_RX, 1) }, SP_ERR_KIND);
    assert!(last_error().contains("a channel of messages, expected the end of a link"), "{}", last_error());
    assert_eq!(fault(sim, port, "wire", SP_RX, "drop:1"), SP_ERR_KIND);
    assert_eq!(sp_sim_destroy(sim), SP_OK);
}

/// What a function has seen, and what it is to answer.
#[derive(Default)]
struct Seen {
    items: u64,
    answer: u32,
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
    _name: *const c_char,
    _bytes: *const u8,
    other: *mut u8,
    length: usize,
) -> u32 {
    // SAFETY: what the test gave to `attach`, and what the library promises of its pointers.
    let (seen, other) = unsafe { (&mut *user.cast::<Seen>(), std::slice::from_raw_parts_mut(other, length)) };
    assert_eq!(number, seen.items, "items are counted");
    seen.items += 1;
    other.iter_mut().take(20).for_each(|byte| *byte ^= 0xff);
    if seen.calls != 0 {
        seen.inner = sp_sim_step(seen.calls, 1);
    }
    if number == 30 { seen.answer } else { SP_HOOK_KEEP }
}

fn attach(sim: u64, port: &str, point: &str, way: u32, seen: &mut Seen) -> (i32, u64) {
    let mut hook = 0;
    let (user, at) = (std::ptr::from_mut(seen).cast(), (start(point), point.len()));
    let status =
        unsafe { sp_sim_hook_attach(sim, start(port), port.len(), at.0, at.1, way, Some(see), user, &mut hook) };
    (status, hook)
}

fn fault(sim: u64, port: &str, point: &str, way: u32, fault: &str) -> i32 {
    let (at, what) = ((start(point), point.len()), (start(fault), fault.len()));
    unsafe { sp_sim_hook_fault(sim, start(port), port.len(), at.0, at.1, way, what.0, what.1, &mut 0) }
}

/// Functions at all points of all ports see every kind of item and change nothing, in steps as in one run.
#[test]
fn hooks_at_ports_watch_every_point() {
    open();
    for (scenario, near, far) in [
        ("cxl68-expander", "host.cxl", "device.cxl"),
        ("cxl256-expander", "host.cxl", "device.cxl"),
        ("cxl-cache-pair", "host.port[0]", "dev[0].link"),
        ("ualink-pair", "accel[0].port[0]", "accel[1].port[0]"),
        ("nvlink-pair", "gpu[0].link[0]", "gpu[1].link[0]"),
    ] {
        // UALink needs its time to come up.
        let cycles = if scenario == "ualink-pair" { 3000 } else { 800 };
        let sim = sim(&format!("scenario = \"{scenario}\"\ncycles = {cycles}"));
        assert_eq!(sp_sim_run(sim, 0), SP_OK, "{}", last_error());
        let bare = metrics(sim);
        assert_eq!(sp_sim_reset(sim), SP_OK);
        let points = ["packer_in", "packer_out", "credit", "replay_in", "wire"];
        let mut all: Vec<(&str, u32, Box<Seen>)> = Vec::new();
        for (port, point, way) in
            points.into_iter().flat_map(|p| [(near, p, SP_TX), (far, p, SP_RX), (near, p, SP_RX), (far, p, SP_TX)])
        {
            let mut seen = Box::<Seen>::default();
            assert_eq!(attach(sim, port, point, way, &mut seen).0, SP_OK, "{}", last_error());
            all.push((point, way, seen));
        }
        while sp_sim_step(sim, 13) == SP_OK {}
        assert_eq!(metrics(sim), bare, "{scenario}");
        let counts: Vec<_> = all.iter().map(|(point, way, seen)| (*point, *way, seen.items)).collect();
        for point in points {
            let met = |way| counts.iter().any(|c| (c.0, c.1) == (point, way) && c.2 > 0);
            assert!(met(SP_RX) && met(SP_TX), "{scenario}: {point}: {counts:?}");
        }
        // A reset keeps them and counts anew; the same run shows the same items.
        all.iter_mut().for_each(|(_, _, seen)| seen.items = 0);
        assert_eq!((sp_sim_reset(sim), sp_sim_run(sim, 0)), (SP_OK, SP_OK));
        assert_eq!(all.iter().map(|(point, way, seen)| (*point, *way, seen.items)).collect::<Vec<_>>(), counts);
        assert_eq!(sp_sim_destroy(sim), SP_OK);
    }
}

#[test]
fn hooks_at_ports_are_faults() {
    open();
    let sim = sim("scenario = \"cxl68-expander\"\nhost.accesses = 100");
    let retries = || {
        assert!([SP_OK, SP_FINDING].contains(&sp_sim_run(sim, 0)), "{}", last_error());
        let form: Value = serde_json::from_str(&metrics(sim)).expect("JSON");
        let rules = form["violations"].as_array().expect("a list").len();
        (form["retries"].as_u64().expect("a number"), rules)
    };
    assert_eq!(retries(), (0, 0));
    // Another bit on the wire is asked for again; a message that a function takes is missed.
    let mut seen = Seen { answer: SP_HOOK_REPLACE, calls: sim, ..Seen::default() };
    sp_sim_reset(sim);
    let (status, hook) = attach(sim, "device.cxl", "wire", SP_TX, &mut seen);
    let (again, rules) = retries();
    assert!(again > 0);
    assert_eq!((status, rules, seen.inner), (SP_OK, 0, SP_ERR_BUSY));
    let detach = |port: &str| unsafe { sp_sim_hook_detach(sim, start(port), port.len(), hook) };
    assert_eq!((detach("host.cxl"), detach("device.cxl"), detach("device.cxl")), (SP_ERR_RANGE, SP_OK, SP_ERR_RANGE));
    let mut drops = Seen { answer: SP_HOOK_DROP, ..Seen::default() };
    sp_sim_reset(sim);
    assert_eq!(attach(sim, "host.cxl", "packer_out", SP_RX, &mut drops).0, SP_OK);
    assert!(retries().1 > 0, "a lost answer is missed");
    assert_eq!(sp_sim_destroy(sim), SP_OK);

    let sim = self::sim("scenario = \"cxl68-expander\"\nhost.accesses = 100\nthreads = 2");
    assert_eq!(attach(sim, "host.cxl", "wire", SP_RX, &mut drops).0, SP_ERR_KIND, "functions need one thread");
    assert_eq!(fault(sim, "host.cxl", "wire", SP_RX, "drop:30"), SP_OK);
    assert_eq!(sp_sim_run(sim, 0), SP_OK, "{}", last_error());
    assert!(metrics(sim).contains("\"retries\":1"), "{}", metrics(sim));
    for (port, point, way, text, status) in [
        ("host", "wire", SP_RX, "drop:1", SP_ERR_INPUT),
        ("host.cxl", "wires", SP_RX, "drop:1", SP_ERR_INPUT),
        ("host.cxl", "wire", 2, "drop:1", SP_ERR_RANGE),
        ("host.cxl", "wire", SP_RX, "flip:1:544", SP_ERR_INPUT),
        ("host.cxl", "credit", SP_TX, "drop:1", SP_ERR_KIND),
    ] {
        assert_eq!(fault(sim, port, point, way, text), status, "{port} {point} {text}");
    }
    assert_eq!(sp_sim_destroy(sim), SP_OK);
    let sim = self::sim("scenario = \"cxl68-expander\"\nexternal = \"device.cxl\"");
    assert_eq!(fault(sim, "device.cxl", "replay_in", SP_RX, "drop:1"), SP_ERR_KIND, "the caller's end");
    assert_eq!(fault(sim, "device.cxl", "wire", SP_RX, "drop:1"), SP_OK);
    assert_eq!(sp_sim_destroy(sim), SP_OK);
}

#[test]
fn what_steps_refuse() {
    open();
    let sim = sim("scenario = \"cxl68-expander\"\nhost.accesses = 5");
    assert_eq!(text_of(|t, c, l| unsafe { sp_sim_metrics(sim, t, c, l) }).0, SP_EMPTY);
    assert_eq!(state(sim)["cycle"], 0);
    assert_eq!(text_of(|t, c, l| unsafe { sp_sim_metrics(sim, t, c, l) }).0, SP_EMPTY, "a look is no step");
    assert_eq!((sp_sim_step(sim, 10), sp_sim_step(sim, SP_MAX_CYCLES - 9)), (SP_OK, SP_ERR_RANGE));
    assert_eq!((sp_sim_step(sim, u64::MAX), sp_sim_step(0, 1)), (SP_ERR_RANGE, SP_ERR_HANDLE));
    assert_eq!((sp_sim_step(sim, SP_MAX_CYCLES - 10), sp_sim_step(sim, 1)), (SP_OK, SP_EMPTY), "the work is done");
    // Another seed begins anew, with the next step.
    assert_eq!((sp_sim_seed(sim, 2), sp_sim_step(sim, 3)), (SP_OK, SP_OK));
    assert_eq!(state(sim)["cycle"], 3);
    let name = "host.cxl";
    let null_unit = unsafe { sp_sim_sample(sim, start(name), name.len(), SP_RX, &mut 0, null_mut(), 0, null_mut()) };
    let null_time = unsafe { sp_sim_sample(sim, start(name), name.len(), SP_RX, null_mut(), null_mut(), 0, &mut 0) };
    assert_eq!((null_unit, null_time), (SP_ERR_NULL, SP_ERR_NULL));
    assert_eq!(unsafe { sp_sim_watch(sim, start(name), name.len(), SP_RX, 2) }, SP_ERR_RANGE);
    watch(sim, name, SP_TX);
    assert_eq!(sp_sim_step(sim, 200), SP_OK);
    let (mut unit, mut length) = ([0; 68], 0);
    let mut short = |capacity| unsafe {
        sp_sim_sample(sim, start(name), name.len(), SP_TX, &mut 0, unit.as_mut_ptr(), capacity, &mut length)
    };
    assert_eq!((short(67), short(0), short(68)), (SP_ERR_SHORT, SP_ERR_SHORT, SP_OK), "what waits still waits");
    assert_eq!((sp_sim_destroy(sim), sp_sim_step(sim, 1)), (SP_OK, SP_ERR_HANDLE));
}

/// A handle may go from thread to thread, with the run that is under way.
#[test]
fn a_run_goes_on_in_another_thread() {
    open();
    for threads in [1, 2] {
        let text = format!("scenario = \"cxl68-expander\"\nthreads = {threads}\nhost.accesses = 1000");
        let sim = sim(&text);
        for _ in 0..4 {
            let step = std::thread::spawn(move || sp_sim_step(sim, 300));
            assert_eq!(step.join().expect("no panic"), SP_OK);
        }
        assert_eq!((sp_sim_run(sim, 0), metrics(sim)), (SP_OK, outcome(&text, 0).0));
        std::thread::spawn(move || sp_sim_destroy(sim)).join().expect("no panic");
    }
}
