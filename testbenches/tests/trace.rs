//! Traces and waves: what is written is what was seen, whoever wrote first, whatever is filtered.

use std::collections::BTreeMap;

use proptest::prelude::*;
use scalepool::trace::diff::{DiffError, DiffInput, Policy, diff};
use scalepool::trace::gtkw::gtkwave_files;
use scalepool::trace::jsonl::JsonlSink;
use scalepool::trace::signals::Signals;
use scalepool::trace::vcd::VcdSink;
use scalepool::trace::{
    Body, Highlights, Hub, PlaceKind, RecordKind, Sink, Stamp, Tap, TraceFilter, TraceHeader, TracedRun,
};
use scalepool_protocols::cxl::cxl68::code::{DrsOpcode, M2sReqOpcode, M2sRwdOpcode, NdrOpcode};
use scalepool_protocols::cxl::cxl68::config::Cxl68Config;
use scalepool_protocols::cxl::cxl68::control::Control;
use scalepool_protocols::cxl::cxl68::message::{Class, D2hRsp, M2sReq, M2sRwd, S2mDrs, S2mNdr};
use scalepool_protocols::cxl::cxl68::packer::{Packed, Packer};
use scalepool_protocols::cxl::cxl68::pid::{self, Enabled};
use scalepool_protocols::cxl::cxl68::stream::{Cxl68Message, Data, Unpacker};
use scalepool_protocols::cxl::cxl68::unit::Cxl68Unit;
use scalepool_protocols::cxl::cxl68::{Dir, LAYOUTS};
use scalepool_protocols::wire::{At, LayoutDef, Violation, Wire};

/// Time of a 68-byte unit on x16 at 32 GT/s (architecture §4).
const UNIT_FS: u64 = 1_062_500;

const DOWN: PlaceKind = PlaceKind::Flits { protocol: "cxl-68b", dir: "down" };
const UP: PlaceKind = PlaceKind::Flits { protocol: "cxl-68b", dir: "up" };

fn header() -> TraceHeader {
    TraceHeader { model_version: "0.1.0".into(), run: Some(TracedRun { scenario_hash: "00ff".into(), seed: 7 }) }
}

fn at(n: u64) -> Stamp {
    Stamp { t_fs: n * UNIT_FS, cycle: n }
}

/// Units of one direction: requests, two in some flits, and writes; or completions and data.
fn units(dir: Dir, n_units: u64) -> Vec<Cxl68Unit> {
    let mut packer = Packer::new(dir, Cxl68Config::default());
    let push = |packer: &mut Packer, class, bits: Result<u128, _>, data: Option<Data>| {
        packer.push(&Cxl68Message { class, bits: bits.unwrap(), data }).unwrap();
    };
    let unit = |n: u64| {
        let tag = n as u16;
        match dir {
            Dir::Down => {
                let opcodes = [M2sReqOpcode::MemRd, M2sReqOpcode::MemInv, M2sReqOpcode::MemRdData];
                let opcode = opcodes[n as usize % 3];
                let req = M2sReq { opcode, tag, address: 0x1_0000 + 64 * n, ..M2sReq::default() };
                push(&mut packer, Class::M2sReq, req.to_bits(), None);
                if n % 3 == 1 {
                    let req = M2sReq { tag: tag | 0x8000, ..req };
                    push(&mut packer, Class::M2sReq, req.to_bits(), None);
                }
                if n % 5 == 2 {
                    let rwd = M2sRwd { opcode: M2sRwdOpcode::MemWr, tag, address: 64 * n, ..M2sRwd::default() };
                    push(&mut packer, Class::M2sRwd, rwd.to_bits(), Some(Data::line([0xa5; 64])));
                }
            }
            Dir::Up => {
                let ndr = S2mNdr { opcode: NdrOpcode::CmpE, tag, ..S2mNdr::default() };
                push(&mut packer, Class::S2mNdr, ndr.to_bits(), None);
                if n % 3 == 1 {
                    let ndr = S2mNdr { tag: tag | 0x8000, ..ndr };
                    push(&mut packer, Class::S2mNdr, ndr.to_bits(), None);
                }
                if n.is_multiple_of(4) {
                    let drs = S2mDrs { opcode: DrsOpcode::MemData, tag, ..S2mDrs::default() };
                    push(&mut packer, Class::S2mDrs, drs.to_bits(), Some(Data::line([tag as u8; 64])));
                }
            }
        }
        match packer.pack(&mut [10; 10], 4) {
            Packed::Nothing => Cxl68Unit::plain(pid::NULL, &[0; 64]),
            Packed::AllData(slots) => Cxl68Unit::from_slots(pid::CACHEMEM, &slots),
            Packed::Protocol(header, mut slots) => {
                slots[0] |= header.to_bits().unwrap();
                Cxl68Unit::from_slots(pid::CACHEMEM, &slots)
            }
        }
    };
    (0..n_units).map(unit).collect()
}

fn say_unit(tap: &mut Tap, at: Stamp, dir: &'static str, unit: &Cxl68Unit) {
    tap.record(at, RecordKind::Flit, 0, 0, || Body::Flit { protocol: "cxl-68b", dir, bytes: unit.0.to_vec() });
}

fn say_value(tap: &mut Tap, at: Stamp, signal: &'static str, value: u64) {
    tap.record(at, RecordKind::Value, 0, 0, || Body::Value { signal, value });
}

/// A hub with two links and a credit counter. `order` says in which order the taps speak.
fn scene(n_units: u64, order: &[usize]) -> Hub {
    let mut hub = Hub::new(true);
    let mut taps = [
        hub.tap("host.port[0].tx", DOWN),
        hub.tap("device.tx", UP),
        hub.tap("host.port[0]", PlaceKind::Values(&[("credits", 10), ("stalled", 1)])),
    ];
    let (down, up) = (units(Dir::Down, n_units), units(Dir::Up, n_units));
    for &who in order {
        for n in 0..n_units {
            let tap = &mut taps[who];
            match who {
                0 => say_unit(tap, at(n), "down", &down[n as usize]),
                1 => say_unit(tap, at(n), "up", &up[n as usize]),
                _ => {
                    say_value(tap, at(n), "credits", 100 - n % 9);
                    say_value(tap, at(n), "stalled", n & 1);
                }
            }
        }
    }
    hub
}

fn trace_of(hub: &mut Hub, filter: TraceFilter) -> String {
    let mut out = Vec::new();
    let mut sink = JsonlSink::new(&mut out, &header(), hub.places(), filter).unwrap();
    hub.drain_into(&mut [&mut sink]).unwrap();
    sink.finish().unwrap();
    String::from_utf8(out).unwrap()
}

fn wave_of(hub: &mut Hub, filter: TraceFilter) -> String {
    let mut out = Vec::new();
    let mut sink = VcdSink::new(&mut out, &header(), hub.places(), filter).unwrap();
    hub.drain_into(&mut [&mut sink]).unwrap();
    sink.finish().unwrap();
    String::from_utf8(out).unwrap()
}

/// A value change dump, read back by a reader of its own: values of all variables at the end of every instant.
struct Wave {
    /// Width by path.
    widths: BTreeMap<String, usize>,
    /// Full-width binary digits by path, at each time in the file.
    instants: Vec<(u64, BTreeMap<String, String>)>,
    /// Lines that change a value, without the first dump.
    n_changes: usize,
}

impl Wave {
    fn read(text: &str) -> Wave {
        let (head, body) = text.split_once("$enddefinitions $end\n").unwrap();
        assert!(head.contains("$timescale 1 fs $end\n"));
        let (mut scopes, mut vars, mut widths) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
        for line in head.lines() {
            match line.split(' ').collect::<Vec<_>>()[..] {
                ["$scope", "module", name, "$end"] => scopes.push(name),
                ["$upscope", "$end"] => assert!(scopes.pop().is_some()),
                ["$var", "wire", width, id, name, ref range @ .., "$end"] => {
                    let width: usize = width.parse().unwrap();
                    let expected = format!("[{}:0]", width - 1);
                    assert_eq!(range, if width == 1 { vec![] } else { vec![expected.as_str()] });
                    let path = format!("{}.{name}", scopes.join("."));
                    assert!(vars.insert(id.to_owned(), (path.clone(), width)).is_none());
                    assert!(widths.insert(path, width).is_none(), "a variable stands twice");
                }
                _ => (),
            }
        }
        assert!(scopes.is_empty());
        let (mut instants, mut values, mut n_changes, mut in_dump) = (vec![], BTreeMap::new(), 0, false);
        let mut now = None;
        for line in body.lines() {
            if let Some(time) = line.strip_prefix('#') {
                instants.extend(now.map(|t| (t, values.clone())));
                let time: u64 = time.parse().unwrap();
                assert!(now.is_none_or(|t| t < time));
                now = Some(time);
                continue;
            }
            if line.starts_with('$') {
                in_dump = line == "$dumpvars";
                continue;
            }
            n_changes += usize::from(!in_dump);
            let (digits, id) = match line.strip_prefix('b') {
                Some(vector) => vector.split_once(' ').unwrap(),
                None => line.split_at(1),
            };
            let (path, width) = &vars[id];
            let fill = if digits == "x" { 'x' } else { '0' };
            let value = fill.to_string().repeat(width - digits.len()) + digits;
            let before = values.insert(path.clone(), value.clone());
            assert!(in_dump || before.unwrap() != value, "{path} changes to the value it has");
        }
        instants.extend(now.map(|t| (t, values)));
        Wave { widths, instants, n_changes }
    }

    /// Digits of a variable at a time.
    fn digits(&self, t_fs: u64, path: &str) -> &str {
        let (_, values) = self.instants.iter().rev().find(|(t, _)| *t <= t_fs).unwrap();
        &values[path]
    }

    /// Number of a variable of at most 128 bits at a time.
    fn value(&self, t_fs: u64, path: &str) -> u128 {
        let digits = self.digits(t_fs, path);
        u128::from_str_radix(digits, 2).unwrap_or_else(|e| panic!("{path} at {t_fs}: {digits}: {e}"))
    }
}

fn assert_message(wave: &Wave, t_fs: u64, scope: &str, layout: &LayoutDef, bits: u128) {
    assert_eq!(wave.value(t_fs, &format!("{scope}.raw")), bits, "{scope} at {t_fs}");
    for field in layout.fields {
        let path = format!("{scope}.{}", field.name);
        assert_eq!(wave.value(t_fs, &path), field.value(bits), "{path} at {t_fs}");
        assert_eq!(wave.widths[&path], (field.width + field.address_lsb) as usize);
    }
}

#[test]
fn a_wave_read_back_holds_every_field_of_every_message() {
    const UNITS: u64 = 60;
    let wave = Wave::read(&wave_of(&mut scene(UNITS, &[0, 1, 2]), TraceFilter::default()));
    for (dir, place) in [(Dir::Down, "host.port[0].tx"), (Dir::Up, "device.tx")] {
        let mut unpacker = Unpacker::new(dir, Cxl68Config::default().revision, Enabled::ALL);
        let mut counts = BTreeMap::new();
        for (n, unit) in (0..).zip(units(dir, UNITS)) {
            let t_fs = n * UNIT_FS;
            let decoded = unpacker.read(&unit);
            let flit = |name: &str| wave.value(t_fs, &format!("{place}.flit.{name}"));
            let raw: String = unit.0.iter().rev().map(|b| format!("{b:08b}")).collect();
            assert_eq!(wave.digits(t_fs, &format!("{place}.flit.raw")), raw);
            assert_eq!(flit("seq"), u128::from(n) + 1);
            assert_eq!(flit("pid"), unit.pid().into());
            assert_eq!(flit("crc"), unit.tail().into());
            assert_eq!((flit("crc_ok"), flit("rollover")), (1, unpacker.rollover() as u128));
            let mut seen = [0; 10];
            for (_, class, bits) in decoded.messages() {
                let name = class.def().name.strip_prefix("cxl68.").unwrap();
                let nth = seen[class.index()];
                seen[class.index()] += 1;
                let scope = if nth == 0 { format!("{place}.{name}") } else { format!("{place}.{name}_{nth}") };
                assert_message(&wave, t_fs, &scope, class.def(), bits);
                let count = counts.entry(scope.clone()).or_insert(0u128);
                *count += 1;
                assert_eq!(wave.value(t_fs, &format!("{scope}.seq")), *count);
            }
        }
        let expected: &[(&str, u128)] = match dir {
            Dir::Down => &[("m2s_req", 40), ("m2s_rwd", 6)],
            Dir::Up => &[("s2m_ndr", 30), ("s2m_drs", 6)],
        };
        for (name, at_least) in expected {
            let count = counts[&format!("{place}.{name}")];
            assert!(count >= *at_least, "{name}: {count} seen");
        }
        let second = if dir == Dir::Down { "m2s_req_1" } else { "s2m_ndr_1" };
        assert!(counts[&format!("{place}.{second}")] > 0, "two messages of a class in one flit");
    }
    assert_eq!(wave.value(5 * UNIT_FS, "host.port[0].credits"), 95);
    assert_eq!(wave.value(5 * UNIT_FS, "host.port[0].stalled"), 1);
    assert_eq!(wave.digits(0, "host.port[0].tx.h2d_req.opcode"), "xxx", "never seen");
}

#[test]
fn the_order_in_which_records_are_made_changes_no_byte() {
    let filter = TraceFilter::default;
    let (trace, wave) = (trace_of(&mut scene(20, &[0, 1, 2]), filter()), wave_of(&mut scene(20, &[0, 1, 2]), filter()));
    for order in [[0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        assert_eq!(trace_of(&mut scene(20, &order), filter()), trace);
        assert_eq!(wave_of(&mut scene(20, &order), filter()), wave);
    }
    // Draining in steps is draining at once.
    let mut hub = scene(20, &[2, 1, 0]);
    let mut out = Vec::new();
    let mut sink = VcdSink::new(&mut out, &header(), hub.places(), filter()).unwrap();
    for until_fs in (0..=20).map(|n| n * UNIT_FS + 1) {
        for record in hub.drain_before(until_fs) {
            sink.record(hub.places(), &record).unwrap();
        }
    }
    sink.finish().unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), wave);
}

#[test]
fn a_window_shows_the_values_of_the_whole_wave() {
    let whole = Wave::read(&wave_of(&mut scene(40, &[0, 1, 2]), TraceFilter::default()));
    // Between two units, at a unit, and behind the last one.
    for (from_fs, to_fs) in [(9 * UNIT_FS + 1, 20 * UNIT_FS), (9 * UNIT_FS, 20 * UNIT_FS - 1), (99 * UNIT_FS, u64::MAX)]
    {
        let filter = TraceFilter::new(&[], Some(from_fs), Some(to_fs)).unwrap();
        let part = Wave::read(&wave_of(&mut scene(40, &[0, 1, 2]), filter.clone()));
        assert_eq!(part.widths, whole.widths);
        assert_eq!(part.instants[0].0, from_fs);
        assert!(part.instants.iter().all(|(t, _)| (from_fs..=to_fs).contains(t)));
        for (t_fs, values) in &part.instants {
            for (path, digits) in values {
                assert_eq!(digits, whole.digits(*t_fs, path), "{path} at {t_fs}");
            }
        }
        let trace = trace_of(&mut scene(40, &[0, 1, 2]), filter);
        let times: Vec<u64> = records_of(&trace).iter().map(|r| r["t_fs"].as_u64().unwrap()).collect();
        assert_eq!(times.len(), 4 * (0..40).filter(|n| (from_fs..=to_fs).contains(&(n * UNIT_FS))).count());
        assert!(times.iter().all(|t| (from_fs..=to_fs).contains(t)));
    }
}

#[test]
fn a_scope_filter_takes_places_and_leaves_their_values_alone() {
    let filter = || TraceFilter::new(&["host*.tx", "*.nothing*", "device"], None, None).unwrap();
    let error = JsonlSink::new(Vec::new(), &header(), scene(1, &[]).places(), filter()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "trace scope: found no place for `*.nothing*`, expected one of: device.tx, host.port[0], host.port[0].tx"
    );
    let filter = || TraceFilter::new(&["host*.tx"], None, None).unwrap();
    let part = Wave::read(&wave_of(&mut scene(10, &[0, 1, 2]), filter()));
    let whole = Wave::read(&wave_of(&mut scene(10, &[0, 1, 2]), TraceFilter::default()));
    assert!(part.widths.keys().all(|path| path.starts_with("host.port[0].tx.")));
    for (path, digits) in &part.instants.last().unwrap().1 {
        assert_eq!(digits, whole.digits(u64::MAX, path));
    }
    assert!(part.n_changes < whole.n_changes);
    let trace = trace_of(&mut scene(10, &[0, 1, 2]), filter());
    let records = records_of(&trace);
    assert_eq!(records.len(), 10);
    assert!(records.iter().all(|r| r["where"] == "host.port[0].tx"));
}

fn records_of(trace: &str) -> Vec<serde_json::Value> {
    trace.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// One record of every body.
fn one_of_each() -> Hub {
    let mut hub = Hub::new(true);
    let mut core = hub.tap("host.core", PlaceKind::Messages(&[M2sReq::DEF, S2mDrs::DEF]));
    let mut link = hub.tap("host.tx", DOWN);
    let mut credits = hub.tap("host", PlaceKind::Values(&[("credits", 64)]));
    let message = |layout, bits: u128, data| move || Body::Message { layout, bits, data };
    let req = M2sReq { opcode: M2sReqOpcode::MemRdData, tag: 0xffff, address: 0xf_ffff_ffff_ffc0, ..M2sReq::default() };
    let id = core.new_id();
    core.record(at(0), RecordKind::Begin, id, 0, message(M2sReq::DEF, req.to_bits().unwrap(), None));
    let child = link.new_id();
    link.record(at(1), RecordKind::Begin, child, id, || Body::None);
    link.record(at(1), RecordKind::Mark, child, id, || Body::Mark("credit"));
    say_unit(&mut link, at(2), "down", &units(Dir::Down, 1)[0]);
    let text = "an odd \"text\"\n".to_owned();
    let (rule, found, expected) = ("CXL68-CRC-01", "0x0001".to_owned(), "0x0002".to_owned());
    let violation = Violation { rule, at: At::Byte(66), found, expected, text };
    link.record(at(2), RecordKind::Violation, 0, 0, || Body::Violation(violation));
    say_value(&mut credits, at(3), "credits", (1 << 53) - 1);
    say_value(&mut credits, at(3), "credits", 1 << 53);
    // Opcode 7 is reserved: it stays a number.
    let drs = S2mDrs { opcode: DrsOpcode(7), tag: 0xffff, poison: true, ..S2mDrs::default() };
    core.record(at(4), RecordKind::End, id, 0, message(S2mDrs::DEF, drs.to_bits().unwrap(), Some(vec![0, 0x5a, 0xff])));
    hub
}

#[test]
fn a_trace_has_a_header_and_one_object_a_line() {
    insta::assert_snapshot!(trace_of(&mut one_of_each(), TraceFilter::default()));
}

#[test]
fn a_wave_of_every_kind_of_place() {
    let mut hub = one_of_each();
    let text = wave_of(&mut hub, TraceFilter::new(&["host.core", "host"], None, None).unwrap());
    let wave = Wave::read(&text);
    assert_eq!(wave.value(0, "host.core.m2s_req.address"), 0xf_ffff_ffff_ffc0);
    assert_eq!(wave.value(4 * UNIT_FS, "host.core.s2m_drs.opcode"), 7);
    assert_eq!(wave.value(2 * UNIT_FS, "host.tx.violations"), 1);
    assert_eq!(wave.value(3 * UNIT_FS, "host.credits"), 1 << 53, "the last value of an instant");
    let hub = {
        let mut hub = Hub::new(true);
        let mut core = hub.tap("core", PlaceKind::Messages(&[D2hRsp::DEF]));
        let mut values = hub.tap("core", PlaceKind::Values(&[("busy", 1), ("count", 12)]));
        say_value(&mut values, at(1), "busy", 1);
        say_value(&mut values, at(1), "count", 0xfff);
        let body = |bits| move || Body::Message { layout: D2hRsp::DEF, bits, data: None };
        core.record(at(2), RecordKind::Begin, 1, 0, body(0x2_abc9));
        core.record(at(3), RecordKind::Begin, 2, 0, body(0x2_abc9));
        hub
    };
    insta::assert_snapshot!("wave_text", wave_of(&mut { hub }, TraceFilter::default()));
}

#[test]
fn units_are_discarded_from_a_bad_crc_to_the_end_of_the_ack_sequence() {
    let control =
        |name| Cxl68Unit::from_slots(pid::CACHEMEM, &[Control::by_name(name).unwrap().to_slot().unwrap(), 0, 0, 0]);
    let good = units(Dir::Down, 12);
    let mut bad = good[3];
    bad.0[40] ^= 1;
    let (frame, ack) = (control("RETRY.Frame"), control("RETRY.Ack"));
    let null = Cxl68Unit::plain(pid::NULL, &[0; 64]);
    let mut seen: Vec<(Cxl68Unit, u128)> = Vec::new();
    let kind_of_good = |unit: &Cxl68Unit| {
        let mut kinds = good.iter().scan(Unpacker::new(Dir::Down, Default::default(), Enabled::ALL), |unpacker, u| {
            let all_data = unpacker.rollover() > 3;
            unpacker.read(u);
            Some((*u, u128::from(all_data)))
        });
        kinds.find(|(u, _)| u == unit).unwrap().1
    };
    seen.extend(good[..3].iter().map(|u| (*u, kind_of_good(u))));
    seen.push((bad, 6));
    seen.extend(good[4..7].iter().map(|u| (*u, 7)));
    seen.push((null, 4));
    // Too few frames: the Ack is dropped.
    seen.extend([(frame, 2), (frame, 2), (ack, 2)]);
    seen.push((good[7], 7));
    seen.extend([(frame, 2); 5]);
    seen.push((ack, 2));
    seen.extend(good[3..].iter().map(|u| (*u, kind_of_good(u))));

    let run = |units: &[Cxl68Unit]| {
        let mut hub = Hub::new(true);
        let mut tap = hub.tap("rx", DOWN);
        (0..).zip(units).for_each(|(n, unit)| say_unit(&mut tap, at(n), "down", unit));
        Wave::read(&wave_of(&mut hub, TraceFilter::default()))
    };
    let wave = run(&seen.iter().map(|(unit, _)| *unit).collect::<Vec<_>>());
    for (n, (unit, kind)) in (0..).zip(&seen) {
        assert_eq!(wave.value(n * UNIT_FS, "rx.flit.kind"), *kind, "unit {n}");
        assert_eq!(wave.value(n * UNIT_FS, "rx.flit.crc_ok"), u128::from(*unit != bad));
    }
    assert_eq!(wave.value(u64::MAX, "rx.retry.seq"), 7);
    assert_eq!(wave.value(u64::MAX, "rx.retry_ack.seq"), 2);
    let clean = run(&good);
    for class in Class::ALL.into_iter().filter(|c| c.dir() == Dir::Down) {
        let seq = format!("rx.{}.seq", class.def().name.strip_prefix("cxl68.").unwrap());
        assert_eq!(wave.value(u64::MAX, &seq), clean.value(u64::MAX, &seq), "{seq}: every message once");
    }
}

#[test]
fn short_long_and_senseless_units_are_shown_and_do_no_harm() {
    let mut hub = Hub::new(true);
    let mut tap = hub.tap("rx", DOWN);
    let unit = units(Dir::Down, 1)[0];
    let long = [&unit.0[..], &[0xff; 9]].concat();
    for (n, bytes) in [vec![0x4b, 0x4b, 0, 0], vec![], long].into_iter().enumerate() {
        tap.record(at(n as u64), RecordKind::Flit, 0, 0, || Body::Flit { protocol: "cxl-68b", dir: "down", bytes });
    }
    let wave = Wave::read(&wave_of(&mut hub, TraceFilter::default()));
    assert_eq!(wave.value(0, "rx.flit.kind"), 4, "NULL with EDS, cut short");
    assert_eq!(wave.value(UNIT_FS, "rx.flit.kind"), 6, "no usable ID");
    assert_eq!(wave.value(2 * UNIT_FS, "rx.flit.kind"), 7, "waits for a replay");
    assert_eq!(wave.value(2 * UNIT_FS, "rx.flit.crc_ok"), 1);
}

#[test]
fn what_a_wave_cannot_show_is_an_error_that_says_where() {
    let open = |path: &str, kind| {
        let mut hub = Hub::new(true);
        hub.tap(path, kind);
        VcdSink::new(Vec::new(), &header(), hub.places(), TraceFilter::default()).unwrap_err().to_string()
    };
    assert_eq!(
        open("a..b", DOWN),
        "wave place: found path `a..b`, expected printable ASCII names joined by dots, without spaces"
    );
    assert!(open("", DOWN).contains("found path ``"));
    assert!(open("a b", DOWN).contains("found path `a b`"));
    assert_eq!(
        open("a", PlaceKind::Flits { protocol: "cxl-68b", dir: "left" }),
        "wave place `a`: found flits of `cxl-68b`, `left`, expected protocol `cxl-68b`, `cxl-256b`, `cxl-256b-lopt`, `cxl-256b-pbr`, `ualink` or `nvlink` and `down` or `up`"
    );
    assert!(open("a", PlaceKind::Flits { protocol: "none", dir: "up" }).contains("found flits of `none`"));
    for width in [0, 65] {
        let signals: &'static [(&str, u32)] = if width == 0 { &[("n", 0)] } else { &[("n", 65)] };
        let text = format!("wave place `a`: found signal `n` of {width} bits, expected 1 to 64");
        assert_eq!(open("a", PlaceKind::Values(signals)), text);
    }

    let mut hub = Hub::new(true);
    let mut values = hub.tap("v", PlaceKind::Values(&[("n", 8), ("m", 8)]));
    let mut messages = hub.tap("m", PlaceKind::Messages(&[M2sReq::DEF]));
    let mut wave = VcdSink::new(Vec::new(), &header(), hub.places(), TraceFilter::default()).unwrap();
    say_value(&mut values, at(1), "k", 1);
    let error = hub.drain_into(&mut [&mut wave]).unwrap_err().to_string();
    assert_eq!(error, "wave place `v`: found signal `k`, expected one of: n, m");
    messages.record(at(1), RecordKind::Begin, 1, 0, || Body::Message { layout: S2mDrs::DEF, bits: 1, data: None });
    let error = hub.drain_into(&mut [&mut wave]).unwrap_err().to_string();
    assert_eq!(error, "wave place `m`: found layout `cxl68.s2m_drs`, expected one of: cxl68.m2s_req");
    say_value(&mut values, at(0), "n", 1);
    let error = hub.drain_into(&mut [&mut wave]).unwrap_err().to_string();
    assert_eq!(error, "wave: found a record of 0 fs, expected none before 1062500 fs");
}

#[test]
fn save_files_name_what_the_wave_has() {
    let places = {
        let mut hub = Hub::new(false);
        hub.tap("host.core", PlaceKind::Messages(&[M2sReq::DEF]));
        hub.tap("host.port[1]", PlaceKind::Values(&[("credits", 10), ("stalled", 1)]));
        hub.places().clone()
    };
    let signals = Signals::new(&places, &TraceFilter::default()).unwrap();
    let files = gtkwave_files("demo.vcd", &signals, &Highlights::all(&signals));
    let text: String = files.iter().map(|(path, text)| format!("--- {path}\n{text}")).collect();
    insta::assert_snapshot!(text);

    // Every signal and every code file of a large view exists, and bits of a code are as wide as its field.
    let mut hub = scene(1, &[0, 1, 2]);
    let signals = Signals::new(hub.places(), &TraceFilter::default()).unwrap();
    let files = gtkwave_files("w.vcd", &signals, &Highlights::all(&signals));
    let widths = Wave::read(&wave_of(&mut hub, TraceFilter::default())).widths;
    let names: Vec<String> =
        widths.iter().map(|(path, &w)| if w == 1 { path.clone() } else { format!("{path}[{}:0]", w - 1) }).collect();
    let (mut n_signals, mut codes) = (0, None);
    for line in files["w.gtkw"].lines().filter(|l| !l.starts_with(['@', '-', '*', '['])) {
        if let Some(path) = line.strip_prefix("^1 ") {
            codes = Some(&files[path]);
            continue;
        }
        assert!(names.iter().any(|n| n == line), "{line} is not in the wave");
        n_signals += 1;
        if let Some(codes) = codes.take() {
            let width = widths[line.rsplit_once('[').unwrap().0];
            assert!(codes.lines().all(|row| row.split_once(' ').unwrap().0.len() == width), "{line}");
        }
    }
    assert!(n_signals > 100);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    /// Any bytes, half of them with a good ID and CRC: each unit is one step of `seq`, its raw bits are kept.
    #[test]
    fn any_units_are_shown(units in prop::collection::vec((any::<bool>(), prop::array::uniform4(any::<u128>())), 1..30)) {
        let mut hub = Hub::new(true);
        let mut taps = [("down", hub.tap("a", DOWN)), ("up", hub.tap("b", UP))];
        let unit = |(good, slots): &(bool, [u128; 4])| match good {
            true => Cxl68Unit::from_slots(pid::CACHEMEM, slots),
            false => Cxl68Unit::plain(slots[0] as u16, &[slots[1] as u8; 64]),
        };
        for (n, made) in (0..).zip(&units) {
            taps.iter_mut().for_each(|(dir, tap)| say_unit(tap, at(n), dir, &unit(made)));
        }
        let wave = Wave::read(&wave_of(&mut hub, TraceFilter::default()));
        for (n, made) in (0..).zip(&units) {
            for place in ["a", "b"] {
                prop_assert_eq!(wave.value(n * UNIT_FS, &format!("{place}.flit.seq")), u128::from(n) + 1);
                let raw: String = unit(made).0.iter().rev().map(|b| format!("{b:08b}")).collect();
                prop_assert_eq!(wave.digits(n * UNIT_FS, &format!("{place}.flit.raw")), raw);
            }
        }
    }

    /// Every layout and every bit pattern: trace and wave hold the value of every field.
    #[test]
    fn any_message_is_written_as_it_decodes(messages in prop::collection::vec((0..LAYOUTS.len(), any::<u128>()), 1..8)) {
        let mut hub = Hub::new(true);
        let mut tap = hub.tap("a", PlaceKind::Messages(LAYOUTS));
        let message = |n: usize| (LAYOUTS[messages[n].0], messages[n].1 & u128::MAX >> (128 - LAYOUTS[messages[n].0].bits));
        for n in 0..messages.len() {
            let (layout, bits) = message(n);
            tap.record(at(n as u64), RecordKind::Mark, 0, 0, || Body::Message { layout, bits, data: None });
        }
        let records = hub.drain();
        let (mut wave, mut trace) = (Vec::new(), Vec::new());
        let mut sinks = (
            VcdSink::new(&mut wave, &header(), hub.places(), TraceFilter::default()).unwrap(),
            JsonlSink::new(&mut trace, &header(), hub.places(), TraceFilter::default()).unwrap(),
        );
        for record in &records {
            sinks.0.record(hub.places(), record).unwrap();
            sinks.1.record(hub.places(), record).unwrap();
        }
        sinks.0.finish().unwrap();
        sinks.1.finish().unwrap();
        drop(sinks);
        let wave = Wave::read(std::str::from_utf8(&wave).unwrap());
        let lines = records_of(std::str::from_utf8(&trace).unwrap());
        for (n, line) in lines.iter().enumerate() {
            let (layout, bits) = message(n);
            let scope = layout.name.replace("cxl68", "a");
            assert_message(&wave, n as u64 * UNIT_FS, &scope, layout, bits);
            prop_assert_eq!(&line["message"], layout.name);
            for field in layout.fields {
                let found = &line["fields"][field.name];
                let number = match found.as_str() {
                    None => found.as_u64().map(u128::from),
                    Some(text) => match text.strip_prefix("0x") {
                        Some(hex) => u128::from_str_radix(hex, 16).ok(),
                        None => field.codes.and_then(|codes| codes.value_of(text)),
                    },
                };
                prop_assert_eq!(number, Some(field.value(bits)), "{} {}", layout.name, field.name);
            }
        }
    }
}

const HEAD: &str = "{\"format\":\"scalepool-trace\",\"format_version\":1,\"model_version\":\"0.1.0\",\"scenario_hash\":\"aa\",\"seed\":1}\n";

fn compare(texts: [&str; 2], policy: Policy, mask: &[&str]) -> Result<String, DiffError> {
    let input = |name: &str, text| DiffInput { name: name.into(), reader: <&[u8]>::clone(&text) };
    let [a, b] = texts.map(str::as_bytes);
    let mask: Vec<String> = mask.iter().map(|m| (*m).to_owned()).collect();
    let difference = diff(input("a.jsonl", a), input("b.jsonl", b), &policy, &mask)?;
    Ok(difference.map_or("equal\n".into(), |d| format!("{d}{}\n", d.to_json())))
}

fn by_key(fields: &[&str]) -> Policy {
    Policy::ByKey(fields.iter().map(|f| (*f).to_owned()).collect())
}

fn record(t_fs: u64, place: &str, id: u64, tag: u64) -> String {
    format!("{{\"t_fs\":{t_fs},\"where\":\"{place}\",\"id\":{id},\"fields\":{{\"opcode\":\"MemRd\",\"tag\":{tag}}}}}\n")
}

fn with_head(records: &[String]) -> String {
    HEAD.to_owned() + &records.concat()
}

#[test]
fn diff_in_order() {
    let base: Vec<String> = (0..6).map(|n| record(10 * n, "x", n, n)).collect();
    let text = with_head(&base);
    assert_eq!(compare([&text, &text], Policy::InOrder, &[]).unwrap(), "equal\n");
    let mut changed = base.clone();
    changed[4] = record(41, "x", 4, 9);
    insta::assert_snapshot!("in_order", compare([&text, &with_head(&changed)], Policy::InOrder, &[]).unwrap());
    let masked = compare([&text, &with_head(&changed)], Policy::InOrder, &["t_fs", "fields.tag"]);
    assert_eq!(masked.unwrap(), "equal\n");
    let masked = compare([&text, &with_head(&changed)], Policy::InOrder, &["t_fs", "cycle"]);
    insta::assert_snapshot!("in_order_masked", masked.unwrap());
    insta::assert_snapshot!("missing", compare([&text, &with_head(&base[..5])], Policy::InOrder, &[]).unwrap());
    insta::assert_snapshot!("extra", compare([&with_head(&base[..1]), &text], Policy::InOrder, &[]).unwrap());
    // A field that one line lacks, and a mask inside an object that one line lacks.
    let bare = with_head(&["{\"t_fs\":0,\"where\":\"x\",\"id\":0}\n".to_owned()]);
    let first = with_head(&base[..1]);
    insta::assert_snapshot!("lacks_fields", compare([&first, &bare], Policy::InOrder, &["fields.tag"]).unwrap());
    let masked = compare([&bare, &first], Policy::InOrder, &["fields.tag", "fields.opcode"]);
    assert_eq!(masked.unwrap(), "equal\n");
}

#[test]
fn diff_by_key() {
    let (x, y) = (|n| record(10 * n, "x", 1, n), |n| record(10 * n, "y", 2, n));
    let a = with_head(&[x(0), y(0), x(1), y(1), x(2), y(2)]);
    let b = with_head(&[y(0), y(1), x(0), x(1), x(2), y(2)]);
    assert_ne!(compare([&a, &b], Policy::InOrder, &[]).unwrap(), "equal\n");
    let key = || by_key(&["where", "id"]);
    assert_eq!(compare([&a, &b], key(), &[]).unwrap(), "equal\n");
    let changed = with_head(&[y(0), y(1), x(0), x(1), x(7), y(2)]);
    insta::assert_snapshot!("by_key", compare([&a, &changed], key(), &[]).unwrap());
    let missing = with_head(&[y(0), y(1), x(0), y(2)]);
    insta::assert_snapshot!("by_key_missing", compare([&a, &missing], key(), &[]).unwrap());
    insta::assert_snapshot!("by_key_extra", compare([&missing, &a], key(), &[]).unwrap());
    let masked = compare([&a, &changed], key(), &["t_fs", "fields"]);
    assert_eq!(masked.unwrap(), "equal\n");
    assert_eq!(compare([&a, &b], by_key(&["fields.tag", "where"]), &[]).unwrap(), "equal\n");
    let error = compare([&a, &b], by_key(&["where", "tag"]), &[]).unwrap_err().to_string();
    assert_eq!(error, "key: found `tag`, expected a field that a line of the traces has");
    assert_eq!(compare([HEAD, HEAD], by_key(&["none"]), &[]).unwrap(), "equal\n");
}

#[test]
fn diff_of_headers() {
    let other = HEAD.replace("\"seed\":1", "\"seed\":2").replace("\"aa\"", "\"bb\"");
    insta::assert_snapshot!("header", compare([HEAD, &other], Policy::InOrder, &[]).unwrap());
    assert_eq!(compare([HEAD, &other], Policy::InOrder, &["seed", "scenario_hash"]).unwrap(), "equal\n");
}

#[test]
fn diff_of_what_is_no_trace() {
    let error = |text: &str| compare([HEAD, text], Policy::InOrder, &[]).unwrap_err().to_string();
    let head = |line: &str| format!("{HEAD}{line}\n");
    for (text, expected) in [
        ("", "b.jsonl:1: found an empty file, expected a header with \"format\":\"scalepool-trace\""),
        ("{}\n", "b.jsonl:1: found an object without `format`, expected a header with \"format\":\"scalepool-trace\""),
        (
            "{\"format\":\"other\"}\n",
            "b.jsonl:1: found format \"other\", expected a header with \"format\":\"scalepool-trace\"",
        ),
        ("{\"format\":\"scalepool-trace\",\"format_version\":2}\n", "b.jsonl:1: found format_version 2, expected 1"),
        ("{\"format\":\"scalepool-trace\"}\n", "b.jsonl:1: found format_version nothing, expected 1"),
        ("no json\n", "b.jsonl:1:2: found `no json` (expected ident), expected a JSON object"),
        (&head("[1]"), "b.jsonl:2:1: found `[1]`, expected a JSON object"),
        (&head("{\"a\":1,}"), "b.jsonl:2:8: found `{\"a\":1,}` (trailing comma), expected a JSON object"),
        (&head("{\"a\":1"), "b.jsonl:2:6: found `{\"a\":1` (EOF while parsing an object), expected a JSON object"),
        (&head(""), "b.jsonl:2:0: found `` (EOF while parsing a value), expected a JSON object"),
    ] {
        assert_eq!(error(text), expected);
    }
    let bad = [HEAD.as_bytes(), b"{\"a\":\"\xff\"}\n"].concat();
    let input = |bytes| DiffInput { name: "b.jsonl".into(), reader: bytes };
    let error = diff(input(&bad[..]), input(&bad[..]), &Policy::InOrder, &[]).unwrap_err().to_string();
    assert_eq!(error, "b.jsonl:2:7: found a byte that is not UTF-8, expected a JSON object");
}
