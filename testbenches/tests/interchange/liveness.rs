//! Waits that never end and retimers that do more than pass flits on, in waves: each gets its line, and each link its figures.

use crate::interchange::bus::PERIOD_NS;
use scalepool::inspect::{Inspection, Map, inspect};
use scalepool::link::cxl256::{CachememConfig, Cxl256End, LinkConfig};
use scalepool::link::health::figures;
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl256::flit::Cxl256Flit;
use scalepool_protocols::cxl::cxl256::stream::Cxl256Message;
use scalepool_protocols::cxl::cxl256::{Class, Mode};
use std::collections::VecDeque;
use std::fmt::Write;
use std::ops::Range;

/// Clocks of a wave, and clocks that a flit is under way.
const CLOCKS: u64 = 900;
const LATENCY: usize = 8;

/// What stands on the interfaces in each clock: what the host sends, what of it comes to the device, what the device sends.
type Clocks = Vec<[Option<Vec<u8>>; 3]>;

/// What stands in the way of the host's flits: given the clock and a flit, what comes out.
type Line = Box<dyn FnMut(u64, Vec<u8>) -> Vec<Vec<u8>>>;

/// A read of the n-th line.
fn read(n: u64) -> Cxl256Message {
    let def = Class::M2sReq.def(Mode::Standard.routing());
    let bits = [("opcode", 1), ("tag", n), ("address", n << 6)].into_iter().fold(1, |bits, (name, value)| {
        let field = def.fields.iter().find(|field| field.name == name).expect("a field");
        field.insert(bits, value.into()).expect("a value that fits")
    });
    Cxl256Message { class: Class::M2sReq, bits, data: None }
}

/// A host that reads, and a device whose messages are taken if it works; `line` passes the host's flits on.
fn clocks(device_works: bool, line: &mut dyn FnMut(u64, Vec<u8>) -> Vec<Vec<u8>>) -> Clocks {
    let end = |dir| Cxl256End::cachemem(LinkConfig::default(), CachememConfig::mem(dir, Mode::Standard, 8));
    let (mut host, mut device) = (end(Dir::Down), end(Dir::Up));
    let [mut down, mut up] = [(); 2].map(|()| VecDeque::from([const { None }; LATENCY]));
    let (mut out, mut seen) = (VecDeque::new(), Clocks::new());
    for now in 1..=CLOCKS {
        if host.client.waiting(Class::M2sReq) < 4 {
            host.client.send(read(now)).expect("a read");
        }
        while device_works && device.client.take().is_some() {}
        let (sent, back) = (host.transmit(now), device.transmit(now));
        out.extend(line(now, sent.0.to_vec()));
        down.push_back(out.pop_front());
        up.push_back(Some(back.0.to_vec()));
        let came = down.pop_front().flatten();
        if let Some(unit) = &came {
            device.receive(&Cxl256Flit::from_bytes(unit).expect("a flit"), now);
        }
        if let Some(unit) = up.pop_front().flatten() {
            host.receive(&Cxl256Flit::from_bytes(&unit).expect("a flit"), now);
        }
        seen.push([Some(sent.0.to_vec()), came, Some(back.0.to_vec())]);
    }
    seen
}

/// The dump of three interfaces on one clock: `h` before the line, `d` behind it, `u` the way back. All of them are in reset in
/// the clocks `reset`.
fn dump(clocks: &Clocks, reset: &Range<usize>) -> String {
    let mut text = String::from("$timescale 1ns $end\n$scope module tb $end\n$var wire 1 c clk $end\n");
    text.push_str("$var wire 1 r reset $end\n");
    for name in ["h", "d", "u"] {
        let _ =
            writeln!(text, "$var wire 1 {name}v {name}_valid $end\n$var wire 2048 {name}d {name}_data [2047:0] $end");
    }
    text.push_str("$upscope $end\n$enddefinitions $end\n#0\n0c\n");
    for (n, units) in clocks.iter().enumerate() {
        let t = (n as u64 + 1) * PERIOD_NS;
        let _ = writeln!(text, "#{t}\n0c\n{}r", u8::from(reset.contains(&n)));
        for (name, unit) in ["h", "d", "u"].iter().zip(units) {
            let _ = writeln!(text, "{}{name}v", u8::from(unit.is_some()));
            if let Some(unit) = unit {
                let bits: String = unit.iter().rev().map(|byte| format!("{byte:08b}")).collect();
                let _ = writeln!(text, "b{bits} {name}d");
            }
        }
        let _ = writeln!(text, "#{}\n1c", t + PERIOD_NS / 2);
    }
    text
}

fn inspected(clocks: &Clocks, more: &str) -> Inspection {
    inspected_with(clocks, 0..0, more)
}

fn inspected_with(clocks: &Clocks, reset: Range<usize>, more: &str) -> Inspection {
    let interface = |name: &str, dir: &str| {
        format!(
            "[[interface]]\nname = \"{name}\"\nprotocol = \"cxl-256b\"\ndir = \"{dir}\"\nclock = \"clk\"\nreset = \"reset\"\nreset_active = \"high\"\nvalid = \
             \"{name}_valid\"\ndata = \"{name}_data\"\n"
        )
    };
    let interfaces = [("h", "down"), ("d", "down"), ("u", "up")].map(|(name, dir)| interface(name, dir)).concat();
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("w.vcd");
    std::fs::write(&path, dump(clocks, &reset)).expect("a wave");
    inspect(&path, Map::read(&(interfaces + more), "m.toml").expect("a map"), "m.toml").expect("a wave")
}

/// The device, and a retimer in front of it.
const DEVICE: &str = "[[link]]\nname = \"device\"\nsends = \"u\"\nreceives = \"d\"\nliveness_flits = 300\n\
                      [[retimer]]\nname = \"re\"\nbefore = \"h\"\nbehind = \"d\"\n";

fn found(inspection: &Inspection) -> Vec<(&'static str, String)> {
    let all = inspection.seen.iter().flat_map(|seen| &seen.broken);
    all.map(|broken| (broken.violation.rule, broken.violation.found.clone())).collect()
}

#[test]
fn a_link_that_goes_on_has_figures_and_no_findings() {
    let inspection = inspected(&clocks(true, &mut |_, unit| vec![unit]), DEVICE);
    assert_eq!(found(&inspection), []);
    let (name, health) = &inspection.health[0];
    assert_eq!(name, "device");
    assert_eq!(health.number_of(&figures::SENT_FLITS), CLOCKS);
    assert_eq!(health.number_of(&figures::RECEIVED_FLITS), CLOCKS - LATENCY as u64);
    assert!(health.json()["link_state_flits"]["up"].as_u64() > Some(CLOCKS / 2), "{:?}", health.json());
}

#[test]
fn a_device_that_gives_no_credits_back_gets_a_line() {
    for (limit, expected) in
        [("liveness_flits = 300", "300 flits"), ("liveness_flits = 0\nliveness_ns = 3000", "3,000 ns")]
    {
        let map = DEVICE.replace("liveness_flits = 300", limit);
        let inspection = inspected(&clocks(false, &mut |_, unit| vec![unit]), &map);
        let lines: Vec<_> = inspection.seen.iter().flat_map(|seen| &seen.broken).collect();
        let [line] = lines.as_slice() else { panic!("{:?}", found(&inspection)) };
        assert_eq!(line.violation.rule, "LIV-CRD-01");
        assert!(
            line.violation.found.starts_with("8 M2S Req have come, 0 M2S Req credits since flit "),
            "{:?}",
            line.violation
        );
        assert_eq!(line.violation.expected, format!("a credit within {expected}"));
        assert!(line.t_fs > 3_000_000_000 && line.signal == "tb.u_data[2047:0]", "{line:?}");
    }
    // Without a limit nobody judges how long it takes.
    let inspection = inspected(&clocks(false, &mut |_, unit| vec![unit]), &DEVICE.replace("300", "0"));
    assert_eq!(found(&inspection), []);
}

/// Nothing passes at all, or nothing behind a reset: both ends are waited for from the first edge on, and from the end of the reset on.
#[test]
fn a_dead_link_gets_a_line_for_each_end() {
    let silent = || vec![[None, None, None]; 3000];
    let limited = DEVICE.replace("liveness_flits = 300", "liveness_ns = 1000");
    let end_fs = |clocks: usize| (clocks as u64 * PERIOD_NS + PERIOD_NS / 2) * 1_000_000;
    let check = |inspection: &Inspection, clocks: usize| {
        let lines: Vec<_> = inspection.seen.iter().flat_map(|seen| &seen.broken).collect();
        assert_eq!(lines.len(), 2, "{lines:?}");
        for (line, (signal, who)) in
            lines.iter().zip([("tb.d_data[2047:0]", "the peer"), ("tb.u_data[2047:0]", "the end")])
        {
            assert_eq!((line.violation.rule, line.t_fs), ("LIV-INI-01", end_fs(clocks)), "{line:?}");
            assert_eq!(line.violation.found, "the link is not up, no progress since flit 0");
            assert_eq!(line.violation.expected, "initialisation within 1,000 ns");
            assert!(line.signal == signal && line.violation.text.contains(who), "{line:?}");
        }
        let counted: Vec<u64> = inspection.counts.iter().map(|count| count.violations).collect();
        assert_eq!(counted, [0, 1, 1]);
    };
    check(&inspected_with(&silent(), 0..0, &limited), 3000);
    // A link that works, a reset, and nothing.
    let mut stops = clocks(true, &mut |_, unit| vec![unit]);
    let reset_at = stops.len();
    stops.extend(silent());
    check(&inspected_with(&stops, reset_at..reset_at + 2, &limited), stops.len());
    // A link that is held in reset, or whose limit is longer than the wave, is not dead.
    assert_eq!(found(&inspected_with(&silent(), 0..2902, &limited.replace("1000", "5900"))), []);
    assert_eq!(found(&inspected_with(&silent(), 0..0, &DEVICE.replace("300", "0"))), []);
}

/// Silence that a reset ends is judged up to the beginning of the reset, of a link that never came up and of one that stopped in traffic; what
/// comes behind the reset is a link of its own.
#[test]
fn silence_before_a_reset_is_too_long() {
    let silent = || vec![[None, None, None]; 400];
    let limited = |ns: u64| DEVICE.replace("liveness_flits = 300", &format!("liveness_ns = {ns}"));
    let begins_fs = |clock: usize| ((clock as u64 + 1) * PERIOD_NS + PERIOD_NS / 2) * 1_000_000;
    let works = clocks(true, &mut |_, unit| vec![unit]);
    // A link that never comes up, twice, and then one that works.
    let (mut waits, reset) = (silent(), 350..352);
    waits.extend(works.clone());
    let inspection = inspected_with(&waits, reset.clone(), &limited(1000));
    let lines: Vec<_> = inspection.seen.iter().flat_map(|seen| &seen.broken).collect();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(
        lines.iter().all(|line| line.violation.rule == "LIV-INI-01" && line.t_fs == begins_fs(reset.start)),
        "{lines:?}"
    );
    let long_ns = reset.end as u64 * PERIOD_NS;
    assert_eq!(found(&inspected_with(&waits, reset, &limited(long_ns))), []);
    // One that stops in traffic: credits of what has come never go back.
    let mut stops = works[..300].to_vec();
    stops.extend(silent());
    let reset = stops.len()..stops.len() + 2;
    stops.extend(silent()[..2].iter().cloned());
    stops.extend(works);
    let late = found(&inspected_with(&stops, reset.clone(), &limited(1000)));
    assert!(late.len() == 1 && late[0].0 == "LIV-CRD-01", "{late:?}");
    assert_eq!(found(&inspected_with(&stops, reset, &limited(500 * PERIOD_NS))), []);
}

/// A device that answers no read, and then nothing passes any more: the clock that goes on shows that the answers are late. In a reset
/// nobody waits for them, however long it takes.
#[test]
fn answers_that_are_owed_when_all_falls_silent_are_late() {
    let mut stops = clocks(true, &mut |_, unit| vec![unit]);
    let last = 300;
    stops.truncate(last);
    stops.extend(vec![[None, None, None]; 400]);
    let wave_ns = stops.len() as u64 * PERIOD_NS;
    let map = |answer_ns: u64| {
        format!(
            "[[link]]\nname = \"device\"\nsends = \"u\"\nreceives = \"d\"\nliveness_flits = 0\n\
             [[transactions]]\nlinks = [\"device\"]\nmemory = \"hdm-h\"\nanswer_ns = {answer_ns}\n"
        )
    };
    // Longer than anything has passed, so that the silence alone is too long.
    let limit_ns = (last as u64 + 10) * PERIOD_NS;
    let late = found(&inspected_with(&stops, 0..0, &map(limit_ns)));
    assert!(late.len() > 20 && late.iter().all(|(rule, _)| *rule == "TXN-END-02"), "{}: {late:?}", late.len());
    assert!(late[0].1.starts_with(&format!("no answer in {limit_ns} ns to MemRd to 0x")), "{late:?}");
    assert_eq!(found(&inspected_with(&stops, 0..0, &map(wave_ns))), []);
    // A reset until shortly before the end, and a request behind it, which has time.
    assert_eq!(found(&inspected_with(&stops, last..last + 390, &map(limit_ns))), []);
    let again: Clocks = stops[..100].to_vec();
    stops.extend(again);
    assert_eq!(found(&inspected_with(&stops, last..last + 400, &map(limit_ns))), []);
}

#[test]
fn each_fault_of_a_retimer_gets_its_line() {
    let mut held = None;
    let mut faults: [(&str, Line); 4] = [
        ("LIV-DUP-01", Box::new(|now, unit| if now == 200 { vec![unit.clone(), unit] } else { vec![unit] })),
        ("LIV-LST-01", Box::new(|now, unit| if now == 200 { vec![] } else { vec![unit] })),
        (
            "LIV-SWP-01",
            Box::new(move |now, unit| match held.take() {
                Some(first) => vec![unit, first],
                None if now == 200 => {
                    held = Some(unit);
                    vec![]
                }
                None => vec![unit],
            }),
        ),
        (
            "LIV-FEC-01",
            Box::new(|now, mut unit| {
                if now >= 200 {
                    unit[250..].fill(0);
                }
                vec![unit]
            }),
        ),
    ];
    for (rule, line) in &mut faults {
        let inspection = inspected(&clocks(true, line), DEVICE);
        let of_retimer = inspection.seen.iter().flat_map(|seen| &seen.broken);
        let of_retimer: Vec<_> = of_retimer.filter(|broken| broken.violation.text.starts_with("re: ")).collect();
        let [one] = of_retimer.as_slice() else { panic!("{rule}: {:?}", found(&inspection)) };
        assert_eq!(one.violation.rule, *rule);
        // Units of a link at rest are alike, so the one that is lost may be called by a neighbour.
        let is_near = ["flit 19", "flit 20"].iter().any(|near| one.violation.found.contains(near));
        assert!(is_near, "{one:?}");
    }
}

#[test]
fn retimers_and_limits_that_cannot_be_used_say_why() {
    let refused = |more: &str| {
        let interface = |name: &str, dir: &str| {
            format!(
                "[[interface]]\nname = \"{name}\"\nprotocol = \"cxl-256b\"\ndir = \"{dir}\"\nclock = \"c\"\ndata = \"d\"\n"
            )
        };
        let text = interface("a", "down") + &interface("b", "up") + more;
        Map::read(&text, "m.toml").expect_err("an error").to_string()
    };
    for (more, expected) in [
        ("[[retimer]]\nname = \"re\"\nbefore = \"a\"\nbehind = \"c\"\n", "retimer `re`, key `behind`: found `c`"),
        ("[[retimer]]\nname = \"re\"\nbefore = \"a\"\nbehind = \"b\"\n", "expected two interfaces of one direction"),
        (
            "[[retimer]]\nname = \"re\"\nbefore = \"a\"\nbehind = \"a\"\n",
            "found `a` before and behind it, expected two interfaces",
        ),
        (
            "[[link]]\nname = \"l\"\nsends = \"a\"\nreceives = \"b\"\nliveness_flits = 4294967297\n",
            "key `liveness_flits`: found 4294967297, expected at most 4294967296",
        ),
    ] {
        let found = refused(more);
        assert!(found.contains(expected), "`{found}` does not say `{expected}`");
    }
}
