//! Link ends: two of them back to back, a twin that is compared, one that watches.

use crate::calls::{last_error, open, start, text_of};
use scalepool::link::fault::WireUnit;
use scalepool_capi::link::*;
use scalepool_capi::status::*;
use scalepool_capi::stream::{SP_DOWN, SP_UP};
use scalepool_protocols::cxl::cxl68::unit::Cxl68Unit;
use scalepool_protocols::cxl::cxl68::{control, pid};
use scalepool_protocols::cxl::cxl256::Mode;
use scalepool_protocols::cxl::cxl256::code::{FlitType, ReplayCommand};
use scalepool_protocols::cxl::cxl256::control::InitParam;
use scalepool_protocols::cxl::cxl256::crd::{Crd, RequestCredit};
use scalepool_protocols::cxl::cxl256::flit::Cxl256Flit;
use scalepool_protocols::cxl::cxl256::header::FlitHeader;
use scalepool_protocols::cxl::cxlio::framing::frame_tlp;
use scalepool_protocols::wire::Wire;
use serde_json::{Value, json};
use std::ptr::{null, null_mut};

pub const PROTOCOLS: [&str; 6] = ["cxl-68b", "cxl-256b", "cxl-256b-lopt", "cxl-256b-pbr", "nvlink", "ualink"];

pub fn link(protocol: &str, dir: u32, config: &str, mode: u32) -> (i32, u64) {
    let mut link = 0;
    let config = (start(config), config.len());
    (unsafe { sp_link_new(start(protocol), protocol.len(), dir, config.0, config.1, mode, &mut link) }, link)
}

pub fn sample(link: u64) -> Option<Vec<u8>> {
    let (mut unit, mut length) = (vec![0; 640], 0);
    match unsafe { sp_link_sample(link, unit.as_mut_ptr(), unit.len(), &mut length) } {
        SP_OK => Some(unit[..length].to_vec()),
        status => {
            assert_eq!(status, SP_EMPTY);
            None
        }
    }
}

pub fn drive(link: u64, port: u32, unit: &[u8]) {
    assert_eq!(unsafe { sp_link_drive(link, port, unit.as_ptr(), unit.len()) }, SP_OK, "{}", last_error());
}

pub fn form(ask: impl FnMut(*mut std::ffi::c_char, usize, *mut usize) -> i32) -> Option<Value> {
    let (status, text) = text_of(ask);
    (status == SP_OK).then(|| serde_json::from_str(&text).expect("JSON"))
}

pub fn event(link: u64) -> Option<Value> {
    form(|t, c, l| unsafe { sp_link_event(link, t, c, l) })
}

pub fn take(link: u64) -> Option<Value> {
    form(|t, c, l| unsafe { sp_link_take(link, t, c, l) })
}

pub fn state(link: u64) -> Value {
    form(|t, c, l| unsafe { sp_link_state(link, t, c, l) }).expect("there is always one")
}

pub fn write(protocol: &str) -> Value {
    let layout = match protocol {
        "cxl-68b" => "cxl68.m2s_rwd",
        "cxl-256b-pbr" => "cxlpbr.m2s_rwd",
        "nvlink" => return json!({"op": "WRITE_NONPOSTED", "tag": 5, "address": "0x1000", "data": "5a".repeat(64)}),
        "ualink" => return json!({"upper": "00".repeat(32)}),
        _ => "cxl256.m2s_rwd",
    };
    json!({"layout": layout, "fields": {"opcode": "MemWr", "tag": 5, "address": 4096}, "data": "5a".repeat(64)})
}

/// Rules that a passive end of plain flits finds broken, once flits of these slots 0 have passed in either direction.
fn of_plain_flits(slots: &[u128]) -> Vec<String> {
    open();
    let (status, watch) = link("cxl-68b", SP_UP, "{\"plain_flits\":true}", SP_PASSIVE);
    assert_eq!(status, SP_OK, "{}", last_error());
    for (n, slot) in slots.iter().enumerate() {
        drive(watch, n as u32 % 2, Cxl68Unit::from_slots(pid::CACHEMEM, &[*slot, 0, 0, 0]).bytes());
        assert_eq!(sp_link_step(watch, 1), SP_OK, "{}", last_error());
    }
    let found =
        std::iter::from_fn(|| event(watch)).map(|event| event["rule"].as_str().expect("a rule").to_owned()).collect();
    destroy([watch]);
    found
}

/// Flits that an end of plain flits packs carry nothing of a link layer.
#[test]
fn sim_pln_01_p() {
    open();
    let (status, sends) = link("cxl-68b", SP_DOWN, "{\"plain_flits\":true}", SP_ACTIVE);
    let (_, watch) = link("cxl-68b", SP_UP, "{\"plain_flits\":true}", SP_PASSIVE);
    assert_eq!(status, SP_OK, "{}", last_error());
    let message = write("cxl-68b").to_string();
    assert_eq!(unsafe { sp_link_send(sends, start(&message), message.len()) }, SP_OK, "{}", last_error());
    let mut passed = 0;
    for _ in 0..8 {
        assert_eq!(sp_link_step(sends, 1), SP_OK);
        while let Some(unit) = sample(sends) {
            drive(watch, 0, &unit);
            passed += 1;
        }
        assert_eq!(sp_link_step(watch, 1), SP_OK);
    }
    assert!(passed > 0);
    assert_eq!(event(watch), None);
    destroy([sends, watch]);
}

/// Ends of plain flits count what passes, as those with a link layer do.
#[test]
fn plain_flits_are_covered_at_both_ends() {
    open();
    let of = |dir, mode| link("cxl-68b", dir, "{\"plain_flits\":true,\"coverage\":true}", mode);
    let ((status, sends), (_, takes), (_, watch)) =
        (of(SP_DOWN, SP_ACTIVE), of(SP_UP, SP_ACTIVE), of(SP_UP, SP_PASSIVE));
    assert_eq!(status, SP_OK, "{}", last_error());
    let message = write("cxl-68b").to_string();
    for wrong in [false, true] {
        assert_eq!(unsafe { sp_link_send(sends, start(&message), message.len()) }, SP_OK, "{}", last_error());
        for _ in 0..8 {
            assert_eq!(sp_link_step(sends, 1), SP_OK);
            while let Some(mut unit) = sample(sends) {
                // A flit with a wrong CRC brings nothing.
                unit[67] ^= u8::from(wrong);
                drive(takes, 0, &unit);
                drive(watch, 0, &unit);
            }
            assert_eq!([takes, watch].map(|end| sp_link_step(end, 1)), [SP_OK; 2]);
        }
    }
    let writes = |end| {
        let groups = state(end)["coverage"]["groups"].clone();
        let group = groups.as_array().expect("groups").iter().find(|group| group["group"] == "opcode x channel");
        group.expect("it is there")["bins"]["cxl68.m2s_rwd MemWr"].clone()
    };
    assert_eq!([sends, takes, watch].map(writes), [0, 1, 1].map(Value::from));
    destroy([sends, takes, watch]);
}

/// A flit of each kind that a link layer makes, in both directions, and headers with credits and an acknowledgement.
#[test]
fn sim_pln_01_n() {
    let control = [
        control::Control::LlcrdAcknowledge(control::Llcrd::default()),
        control::Control::RetryIdle(control::Retry::default()),
        control::Control::RetryReq(control::RetryReq::default()),
        control::Control::InitParam(control::InitParam::default()),
    ];
    // Credits of each kind, and Ak (`cxl-68b` §1.5).
    let headers = [1 << 20, 1 << 24, 1 << 28, 1 << 2];
    let slots: Vec<u128> = control.iter().map(|one| one.to_slot().expect("it fits")).chain(headers).collect();
    for slot in slots {
        let found = of_plain_flits(&[slot, slot]);
        assert_eq!(found.iter().filter(|rule| *rule == "SIM-PLN-01").count(), 2, "{slot:#x}: {found:?}");
    }
}

/// The same of 256-byte flits: INIT, Ack and Nak, credits, an Empty flit; and one with a number of its own, which is none of them.
#[test]
fn plain_flits_of_256_bytes_have_no_link_layer_either() {
    open();
    for (mode, protocol) in Mode::ALL.into_iter().zip(["cxl-256b", "cxl-256b-lopt", "cxl-256b-pbr"]) {
        let plain = FlitHeader { flit_type: FlitType::Cachemem, seq: 5, ..FlitHeader::default() };
        let with = |command| FlitHeader { command, ..plain };
        let credits = Crd { request: RequestCredit(0x14), ..Crd::default() };
        let init = InitParam::default().to_bits().expect("it fits");
        let cases = [
            (0, plain, Crd::default(), 0),
            (1, with(ReplayCommand::Ack), Crd::default(), 0),
            (1, with(ReplayCommand::NakStandard), Crd::default(), 0),
            (1, plain, credits, 0),
            (1, plain, Crd::default(), init),
        ];
        for (expected, header, crd, slot) in cases {
            let mut flit = Cxl256Flit::ZERO;
            flit.set_header(&header).expect("it fits");
            flit.set_crd(&crd).expect("it fits");
            flit.set_slot(mode, 0, slot);
            flit.seal(mode);
            let (status, watch) = link(protocol, SP_UP, "{\"plain_flits\":true}", SP_PASSIVE);
            assert_eq!(status, SP_OK, "{}", last_error());
            drive(watch, 1, &flit.0);
            assert_eq!(sp_link_step(watch, 1), SP_OK, "{}", last_error());
            let found: Vec<Value> = std::iter::from_fn(|| event(watch)).collect();
            let named = found.iter().filter(|event| event["rule"] == "SIM-PLN-01").count();
            assert_eq!(named, expected, "{protocol} {header:?} {crd:?} {slot:#x}: {found:?}");
            destroy([watch]);
        }
    }
}

/// A completion that nobody waits for, in a unit of CXL.io, is named once, however often its TLP is sent (`cxl-io` §1.3, §1.4).
#[test]
fn a_passive_end_of_68b_flits_judges_cxl_io() {
    open();
    let completion = [0x0a, 0, 0, 0, 1, 0, 0, 4, 0, 8, 5, 0];
    let (token, lcrc) = frame_tlp(0, &completion).expect("it fits");
    let framed = [&token[..], &completion, &lcrc].concat();
    let mut payload = [0; 64];
    payload[..framed.len()].copy_from_slice(&framed);
    let (status, watch) = link("cxl-68b", SP_UP, "{\"transactions\":\"cxl-io\"}", SP_PASSIVE);
    assert_eq!(status, SP_OK, "{}", last_error());
    for _ in 0..2 {
        drive(watch, 1, Cxl68Unit::plain(pid::IO, &payload).bytes());
        assert_eq!(sp_link_step(watch, 1), SP_OK, "{}", last_error());
    }
    let found: Vec<Value> = std::iter::from_fn(|| event(watch)).collect();
    let of_transactions: Vec<&Value> =
        found.iter().filter(|event| event["rule"].as_str().is_some_and(|rule| rule.starts_with("TXN-"))).collect();
    let [one] = of_transactions[..] else { panic!("{found:?}") };
    assert_eq!((&one["rule"], &one["unit"], &one["by"]), (&json!("TXN-TAG-02"), &json!(0), &json!("end")));
    destroy([watch]);
    for (config, mode) in [
        ("{\"transactions\":\"cxl-io\"}", SP_ACTIVE),
        ("{\"transactions\":\"cxl-io\",\"plain_flits\":true}", SP_PASSIVE),
        ("{\"transactions\":\"cxl-io\",\"unique_tags\":true}", SP_PASSIVE),
    ] {
        assert_eq!(link("cxl-68b", SP_UP, config, mode).0, SP_ERR_INPUT, "{config}");
        assert!(last_error().contains("expected"), "{}", last_error());
    }
}

/// Two active ends beside two passive ones. `spoil` may change a unit on its way down.
fn run(protocol: &str, spoil: impl Fn(u64, &mut Vec<u8>)) -> ([u64; 2], [u64; 2]) {
    run_configured(protocol, ["", ""], 1, spoil)
}

/// As [`run`], with what the active and the passive ends are told, and several messages.
fn run_configured(
    protocol: &str,
    [active, passive]: [&str; 2],
    messages: usize,
    spoil: impl Fn(u64, &mut Vec<u8>),
) -> ([u64; 2], [u64; 2]) {
    let both = |config, mode| {
        [SP_DOWN, SP_UP].map(|dir| link(protocol, dir, config, mode)).map(|(status, link)| {
            assert_eq!(status, SP_OK, "{}", last_error());
            link
        })
    };
    let (ends, watchers) = (both(active, SP_ACTIVE), both(passive, SP_PASSIVE));
    let message = write(protocol).to_string();
    for _ in 0..messages {
        assert_eq!(unsafe { sp_link_send(ends[0], start(&message), message.len()) }, SP_OK, "{}", last_error());
    }
    let mut units: [Vec<Vec<u8>>; 2] = Default::default();
    for clock in 0..400 {
        let mut sent = [0, 1].map(|n| {
            assert_eq!(sp_link_step(ends[n], 1), SP_OK, "{}", last_error());
            sample(ends[n])
        });
        for n in [0, 1] {
            if let Some(unit) = &mut sent[n] {
                drive(watchers[n], SP_TX, unit);
                units[n].push(unit.clone());
                if n == 0 {
                    spoil(clock, unit);
                }
                drive(ends[1 - n], SP_RX, unit);
            }
            assert_eq!(sp_link_step(watchers[n], 1), SP_OK);
            if let Some(unit) = &sent[n] {
                drive(watchers[1 - n], SP_RX, unit);
            }
        }
    }
    let arrived = take(ends[1]).expect("the message comes");
    if protocol == "ualink" {
        assert_eq!(arrived["upper"], "00".repeat(32));
        return (ends, watchers);
    }
    assert_eq!(arrived["data"], "5a".repeat(64), "{protocol}");
    let key = if protocol == "nvlink" { &arrived } else { &arrived["fields"] };
    assert_eq!((key["tag"].as_u64(), key["address"].as_u64()), (Some(5), Some(4096)), "{protocol}");
    (ends, watchers)
}

pub fn destroy(links: impl IntoIterator<Item = u64>) {
    links.into_iter().for_each(|link| assert_eq!(sp_link_destroy(link), SP_OK));
}

#[test]
fn a_message_goes_through_and_nobody_complains() {
    open();
    for protocol in PROTOCOLS {
        let (ends, watchers) = run(protocol, |_, _| ());
        for link in ends.into_iter().chain(watchers) {
            assert_eq!(event(link), None, "{protocol}");
        }
        let state = state(ends[0]);
        assert_eq!((&state["up"], &state["halted"]), (&json!(true), &Value::Null), "{protocol}");
        destroy(ends.into_iter().chain(watchers));
    }
}

/// A bad CRC is found by the watcher of the receiving end, and the ends repair it.
#[test]
fn a_damaged_unit_is_reported_and_repaired() {
    open();
    let spoil = |clock: u64, unit: &mut Vec<u8>| {
        if clock == 4 {
            let last = unit.len() - 16;
            unit[last..].iter_mut().for_each(|byte| *byte ^= 0xff);
        }
    };
    for (protocol, rule) in [("cxl-68b", "CXL68-CRC-01"), ("cxl-256b", "CXL256-"), ("nvlink", "NVL-CRC-01")] {
        let (ends, watchers) = run(protocol, spoil);
        let first = event(watchers[1]).unwrap_or_default();
        assert!(first["rule"].as_str().is_some_and(|r| r.starts_with(rule)), "{protocol}: {first}");
        assert_eq!(first["port"], "rx", "{protocol}");
        assert_eq!(event(watchers[0]), None, "{protocol}: what was sent was good");
        destroy(ends.into_iter().chain(watchers));
    }
}

/// The twin of a sender says the same, bit for bit, until one is changed.
#[test]
fn a_twin_is_compared() {
    open();
    for protocol in PROTOCOLS {
        let [(_, rtl), (_, twin)] = [link(protocol, SP_DOWN, "", SP_ACTIVE), link(protocol, SP_DOWN, "", SP_ACTIVE)];
        assert_eq!((sp_link_step(rtl, 8), sp_link_step(twin, 8)), (SP_OK, SP_OK));
        let expect = |unit: &[u8], mask: *const u8| unsafe { sp_link_expect(twin, unit.as_ptr(), mask, unit.len()) };
        let mut units = std::iter::from_fn(|| sample(rtl));
        assert_eq!(expect(&units.next().expect("a unit"), null()), SP_OK, "{protocol}");
        let mut wrong = units.next().expect("a unit");
        let last = wrong.len() - 1;
        wrong[last] ^= 1;
        assert_eq!(expect(&wrong, null()), SP_FINDING, "{protocol}");
        assert!(last_error().starts_with(&format!("unit 1, byte {last}: found")), "{}", last_error());
        let mut masked = units.next().expect("a unit");
        let mut mask = vec![0xff; masked.len()];
        (masked[last], mask[last]) = (masked[last] ^ 1, 0xfe);
        assert_eq!(expect(&masked, mask.as_ptr()), SP_OK, "{protocol}");
        assert_eq!((&state(twin)["compared"], &state(twin)["mismatches"]), (&json!(3), &json!(1)));
        assert_eq!((sp_link_reset(twin), &state(twin)["compared"]), (SP_OK, &json!(0)));
        assert_eq!(expect(&masked, null()), SP_EMPTY);
        destroy([rtl, twin]);
    }
}

/// The line of two ends interleaves as many code words as they are told: copies of a Replay Request go in groups of as many
/// flits. A watcher that is not told holds nobody to that.
#[test]
fn ualink_interleave() {
    open();
    let spoil = |clock: u64, unit: &mut Vec<u8>| {
        if (30..32).contains(&clock) {
            *unit.last_mut().expect("a byte") ^= 0x10;
        }
    };
    for (ends, watchers, is_seen) in
        [("1", "", false), ("4", "", false), ("4", "{\"interleave\":4}", false), ("1", "{\"interleave\":4}", true)]
    {
        let (ends, watchers) = run_configured("ualink", [&format!("{{\"interleave\":{ends}}}"), watchers], 1000, spoil);
        let found: Vec<_> = std::iter::from_fn(|| event(watchers[0])).map(|event| event["rule"].clone()).collect();
        assert_eq!(found.contains(&json!("UAL-TXS-05")), is_seen, "{found:?}");
        assert_eq!(found.len(), usize::from(is_seen), "{found:?}");
        destroy(ends.into_iter().chain(watchers));
    }
    for mode in [SP_ACTIVE, SP_PASSIVE] {
        for config in ["0", "3", "5", "256", "\"x\""] {
            let config = format!("{{\"interleave\":{config}}}");
            assert_eq!(link("ualink", SP_UP, &config, mode).0, SP_ERR_INPUT, "{config}");
        }
        assert_eq!(link("nvlink", SP_UP, "{\"interleave\":1}", mode).0, SP_ERR_INPUT);
    }
}

#[test]
fn what_an_end_refuses() {
    open();
    assert_eq!(link("ualinc", SP_UP, "", SP_ACTIVE).0, SP_ERR_INPUT);
    assert_eq!(link("cxl-68b", SP_UP, "", 2).0, SP_ERR_RANGE);
    for config in ["{", "[]", "{\"buffer\":1}", "{\"buffers\":0}", "{\"classes\":\"io\"}", "{\"selective_nak\":true}"] {
        assert_eq!(link("cxl-68b", SP_UP, config, SP_ACTIVE).0, SP_ERR_INPUT, "{config}");
    }
    let config = "{\"buffers\":8,\"classes\":\"mem\",\"retry_entries\":64,\"max_num_retry\":3}";
    let (_, active) = link("cxl-68b", SP_DOWN, config, SP_ACTIVE);
    let (_, passive) = link("cxl-68b", SP_DOWN, "{\"reaction_flits\":9}", SP_PASSIVE);
    let unit = [0u8; 68];
    let drive = |link, port, length| unsafe { sp_link_drive(link, port, unit.as_ptr(), length) };
    assert_eq!(drive(active, SP_TX, 68), SP_ERR_KIND);
    assert_eq!((drive(active, SP_RX, 67), drive(active, 2, 68)), (SP_ERR_RANGE, SP_ERR_RANGE));
    assert_eq!(unsafe { sp_link_sample(passive, null_mut(), 0, &mut 0) }, SP_ERR_KIND);
    for message in [
        json!({"layout": "cxl68.s2m_ndr"}),
        json!({"layout": "cxl256.m2s_req"}),
        json!({"layout": "cxl68.m2s_rwd"}),
        json!({"layout": "cxl68.m2s_req", "be": 1}),
        json!({"layout": "cxl68.m2s_rwd", "data": "00"}),
    ] {
        let text = message.to_string();
        assert_eq!(unsafe { sp_link_send(active, start(&text), text.len()) }, SP_ERR_INPUT, "{text}");
    }
    assert_eq!(sp_link_step(active, SP_MAX_STEPS + 1), SP_ERR_RANGE);
    assert_eq!((sp_link_train(active, 0), sp_link_step(active, 9), sample(active)), (SP_OK, SP_OK, None));
    assert_eq!((sp_link_train(active, 1), sp_link_train(active, 2)), (SP_OK, SP_ERR_RANGE));
    destroy([active, passive]);
}

/// Messages and units alike: what finds no room is out of range, and can be given again later.
#[test]
fn a_full_queue_is_out_of_range() {
    open();
    let (_, active) = link("cxl-68b", SP_DOWN, "", SP_ACTIVE);
    let text = json!({"layout": "cxl68.m2s_req", "fields": {"opcode": "MemRd"}}).to_string();
    let send = || unsafe { sp_link_send(active, start(&text), text.len()) };
    let unit = [0u8; 68];
    let drive = || unsafe { sp_link_drive(active, SP_RX, unit.as_ptr(), unit.len()) };
    let until_full = |call: &dyn Fn() -> i32| (0..=1 << 16).map(|_| call()).position(|status| status != SP_OK);
    assert_eq!((until_full(&send), send()), (Some(1 << 16), SP_ERR_RANGE));
    assert!(last_error().contains("65536 messages that wait"), "{}", last_error());
    assert_eq!((until_full(&drive), drive()), (Some(1 << 16), SP_ERR_RANGE));
    destroy([active]);
}

/// What a run of random messages both ways gives: what the watchers of both ends say, and how many flits were hit on their
/// way, which is one in `one_in`. In the middle the host sends `extra`.
fn noisy(seed: u64, one_in: u64, extra: Option<Value>) -> (Vec<Value>, u64) {
    let mut state_of_draw = seed;
    let mut draw = move |below: u64| {
        state_of_draw = state_of_draw.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state_of_draw >> 33) % below
    };
    // A Req that was hit is sent again soon.
    let config = "{\"timeout_flits\":100}";
    let both = |mode| [SP_DOWN, SP_UP].map(|dir| link("cxl-68b", dir, config, mode).1);
    let (ends, watchers) = (both(SP_ACTIVE), both(SP_PASSIVE));
    let kinds = [
        [("cxl68.m2s_req", "MemRd"), ("cxl68.m2s_rwd", "MemWr")],
        [("cxl68.s2m_ndr", "Cmp"), ("cxl68.s2m_drs", "MemData")],
    ];
    let send = |end: u64, message: &Value| {
        let message = message.to_string();
        assert_eq!(unsafe { sp_link_send(end, start(&message), message.len()) }, SP_OK, "{}", last_error());
    };
    let (mut found, mut hits) = (Vec::new(), 0);
    for clock in 0..2000 {
        if clock % 16 == 0 && ends.iter().any(|&end| state(end)["wants_training"] == true) {
            ends.into_iter().chain(watchers).for_each(|link| {
                assert_eq!((sp_link_train(link, 0), sp_link_train(link, 1)), (SP_OK, SP_OK));
            });
        }
        let mut sent = [None, None];
        for n in [0, 1] {
            if draw(4) == 0 {
                let with_data = draw(2) as usize;
                let (layout, opcode) = kinds[n][with_data];
                let mut message = json!({"layout": layout, "fields": {"opcode": opcode, "tag": draw(1 << 16)}});
                if with_data == 1 {
                    message["data"] = (0..64).map(|_| format!("{:02x}", draw(256))).collect::<String>().into();
                }
                send(ends[n], &message);
            }
            if let (0, 1000, Some(message)) = (n, clock, &extra) {
                send(ends[0], message);
            }
            assert_eq!(sp_link_step(ends[n], 1), SP_OK, "{}", last_error());
            sent[n] = sample(ends[n]);
            while take(ends[n]).is_some() {}
        }
        for n in [0, 1] {
            if let Some(unit) = &mut sent[n] {
                drive(watchers[n], SP_TX, unit);
                if draw(one_in) == 0 {
                    unit[2 + draw(66) as usize] ^= 1 << draw(8);
                    hits += 1;
                }
                drive(ends[1 - n], SP_RX, unit);
            }
        }
        // What is sent in a flit clock is sent without what arrives in it.
        for n in [0, 1] {
            assert_eq!(sp_link_step(watchers[n], 1), SP_OK);
            if let Some(unit) = &sent[1 - n] {
                drive(watchers[n], SP_RX, unit);
            }
            found.extend(std::iter::from_fn(|| event(watchers[n])));
        }
    }
    assert_eq!(state(ends[0])["halted"], Value::Null, "seed {seed}");
    destroy(ends.into_iter().chain(watchers));
    (found, hits)
}

/// Whether an event is said of a unit that was hit, or of the sequence that this has made void.
fn is_of_the_line(event: &Value) -> bool {
    let rule = event["rule"].as_str().unwrap_or_default();
    event["port"] == "rx" && event["by"] == "line" && ["CXL68-CRC-01", "CXL68-LLR-12"].contains(&rule)
}

/// Replays are no new flits: with bit errors both ways the watchers speak of the CRCs that were hit, and of the sequences of
/// which a Frame was, and of nothing else.
#[test]
fn replays_are_judged_once() {
    open();
    for seed in 1..=4 {
        let (found, hits) = noisy(seed, 40, None);
        assert!(hits >= 30, "seed {seed}: {hits}");
        let other: Vec<_> = found.iter().filter(|f| !is_of_the_line(f)).collect();
        assert!(other.is_empty(), "seed {seed}: {} of {}, the first {}", other.len(), found.len(), other[0]);
        let crcs = found.iter().filter(|f| f["rule"] == "CXL68-CRC-01").count();
        assert_eq!(crcs as u64, hits, "seed {seed}: each hit is seen, once");
    }
}

/// A message with a reserved code is found at both ends, once each, however often its flit is sent.
#[test]
fn content_is_judged_between_replays() {
    open();
    for seed in 1..=4 {
        let message = json!({"layout": "cxl68.m2s_rwd", "fields": {"opcode": 0}, "data": "00".repeat(64)});
        let (found, _) = noisy(seed, 40, Some(message));
        let ports = ["tx", "rx"]
            .map(|port| found.iter().filter(|f| f["port"] == port && !is_of_the_line(f)).collect::<Vec<_>>());
        assert_eq!(ports.each_ref().map(Vec::len), [1, 1], "seed {seed}: {ports:?}");
        assert!(ports.iter().flatten().all(|f| f["rule"] == "CXL68-ENC-02"), "seed {seed}: {ports:?}");
    }
}
