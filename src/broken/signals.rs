//! Waves of an interface as a simulator dumps them, whose signals break a rule below the flits.
//!
//! Modelled: a clock, a reset and the signals of an interface of 68B flits in beats of 17 bytes, written as a VCD and judged by `inspect` with
//! a map; the first finding is that of the rule. The cases stand in `signals.txt`; the wave has the signals, and one that is x has no value there.
//! Left out: flits, which other cases have; no case has a whole one.
//!
//! A walk: `valid=1 data=x` changes both before the third edge of the clock, at 5 ns, where `inspect` finds 136 bits of x: SIM-WAV-01.

use super::case_file::CaseFile;
use super::timeline::told;
use super::{BrokenCase, CaseError, CaseStep};
use scalepool_inspect::{Map, inspect_dump};
use scalepool_trace::{Body, FigureSignal, Hub, PlaceKind, RecordKind, Stamp, TimeAxis};
use std::fmt::Write;

/// Its cases.
pub(super) static FILE: CaseFile = CaseFile { name: "signals.txt", text: include_str!("signals.txt"), judged };

/// Half a period of the clock \[ns\]: signals change with its falling edge.
const HALF_NS: u64 = 1;
/// Femtoseconds of a nanosecond.
const NS: u64 = 1_000_000;
/// Bits of a beat.
const DATA_BITS: u32 = 136;
/// Most bits of a signal in the wave of a case.
const MOST_BITS: u32 = 64;

/// Bits of a signal.
fn width(name: &str) -> u32 {
    match name {
        _ if name.ends_with("data") => DATA_BITS,
        _ if name.ends_with("state_sts") => 4,
        _ => 1,
    }
}

/// A change of a signal: its name, and its value unless it is x.
fn change(text: &str) -> Result<(&str, Option<u64>), CaseError> {
    let wrong = || CaseError::of(format!("found `{text}`, expected NAME=VALUE with hexadecimal digits or x"));
    let (name, value) = text.split_once('=').ok_or_else(wrong)?;
    if value == "x" {
        return Ok((name, None));
    }
    u64::from_str_radix(value, 16).map(|value| (name, Some(value))).map_err(|_| wrong())
}

/// When an edge comes \[ns\].
fn edge_ns(edge: usize) -> u64 {
    HALF_NS * (2 * edge as u64 + 1)
}

/// The names of all signals, and the dump of them.
fn dump<'a>(edges: &[Vec<(&'a str, Option<u64>)>]) -> (Vec<&'a str>, String) {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in edges.iter().flatten() {
        if !names.contains(name) {
            names.push(name);
        }
    }
    // Writing to a string cannot fail. The code of a signal is its name.
    let mut text = String::from("$timescale 1ns $end\n$scope module bench $end\n$var wire 1 clk clk $end\n");
    for name in &names {
        let _ = writeln!(text, "$var wire {} {name} {name} $end", width(name));
    }
    text += "$upscope $end\n$enddefinitions $end\n";
    for (n, changes) in edges.iter().enumerate() {
        let _ = writeln!(text, "#{}\nb0 clk", edge_ns(n) - HALF_NS);
        for (name, value) in changes {
            let _ = match value {
                Some(value) => writeln!(text, "b{value:b} {name}"),
                None => writeln!(text, "bx {name}"),
            };
        }
        let _ = writeln!(text, "#{}\nb1 clk", edge_ns(n));
    }
    (names, text)
}

fn judged(rule: &'static str, what: &str, text: &str) -> Result<BrokenCase, CaseError> {
    let mut lines = text.lines().filter(|line| !line.is_empty());
    // A key ends with the quote behind its value.
    let keys = lines.next().unwrap_or_default().replace("\" ", "\"\n");
    let lines: Vec<&str> = lines.collect();
    let edges: Vec<Vec<_>> =
        lines.iter().map(|line| line.split(' ').map(change).collect()).collect::<Result<_, CaseError>>()?;
    let (names, dump) = dump(&edges);
    let data = if keys.starts_with("bus") { "" } else { "data = \"data\"\n" };
    let map = format!(
        "scope = \"bench\"\n[[interface]]\nname = \"bus\"\nprotocol = \"cxl-68b\"\ndir = \"down\"\nclock = \"clk\"\n\
         reset = \"rst_n\"\n{data}{keys}\n"
    );
    let map = Map::read(&map, "map").map_err(CaseError::of)?;
    let seen = inspect_dump(dump, "the wave of the case", map, "map").map_err(CaseError::of)?.seen;
    let first = seen.into_iter().flat_map(|unit| unit.broken).next();
    let first = first.filter(|broken| broken.violation.rule == rule);
    let broken = first.ok_or_else(|| CaseError::breaks_nothing(rule, "edge"))?;

    let mut hub = Hub::new(true);
    let mut findings = hub.tap("bench", PlaceKind::Findings);
    let bits = |name: &str| width(name).min(MOST_BITS);
    let signal = |name: &&str| FigureSignal { name: (*name).to_owned(), width: bits(name), names: None };
    let clock = FigureSignal { name: "clk".to_owned(), width: 1, names: None };
    let signals: Vec<FigureSignal> = std::iter::once(clock).chain(names.iter().map(signal)).collect();
    let mut tap = hub.tap("bench.bus", PlaceKind::Figures(signals.into()));
    let mut steps = Vec::new();
    for (n, (changes, line)) in edges.iter().zip(&lines).enumerate() {
        let t_fs = edge_ns(n) * NS;
        if t_fs > broken.t_fs {
            break;
        }
        steps.push(CaseStep { t_fs, place: "bench".to_owned(), said: (*line).to_owned() });
        let mut value = |t_fs, signal, value| {
            let at = Stamp { t_fs, cycle: n as u64 };
            tap.record(at, RecordKind::Value, 0, 0, || Body::Figure { signal, value });
        };
        value(t_fs - HALF_NS * NS, 0, 0);
        for (name, known) in changes {
            let signal = names.iter().position(|other| other == name).map(|at| at + 1);
            if let (Some(signal), Some(known)) = (signal, known) {
                value(t_fs - HALF_NS * NS, signal, *known);
            }
        }
        value(t_fs, 0, 1);
    }
    let found = format!("{} at {}", told(&broken.violation), broken.signal);
    let at = Stamp { t_fs: broken.t_fs, cycle: 0 };
    findings.record(at, RecordKind::Violation, 0, 0, || Body::Violation(broken.violation));
    let axis = TimeAxis::of_step(1, broken.t_fs + NS);
    Ok(BrokenCase { what: what.to_owned(), t_fs: broken.t_fs, found, steps, records: Some(hub), axis })
}
