//! Commands of a DRAM that break a rule, judged by the monitor that judges traces of other controllers.
//!
//! The cases stand in `dram.txt`, in the form of command traces. The wave has a scope for each rank and bank with the command that it takes,
//! for one clock, and the row.

use super::{BrokenCase, CaseError, CaseStep};
use scalepool_memory::dram::preset::{self, DramOrganisation};
use scalepool_memory::dram::{DramCommand, DramMonitor, DramOperation, DramPlace, DramPreset, trace};
use scalepool_protocols::rules;
use scalepool_protocols::wire::{At, Code, CodeTable, Violation};
use scalepool_trace::{Body, FigureSignal, Hub, PlaceKind, RecordKind, Stamp, Tap, TimeAxis};

const TEXT: &str = include_str!("dram.txt");

/// Place of the findings in the wave.
const CHANNEL: &str = "dram";

/// Names of commands in the wave; 0 is no command.
const COMMANDS: &CodeTable = &CodeTable {
    name: "DramOperation",
    width: 4,
    rule: "MEM-TRC-01",
    source: "memory command trace",
    codes: {
        const NONE: Code = Code { value: 0, name: "none", doc: "no command" };
        const CODES: [Code; DramOperation::ALL.len() + 1] = {
            let mut codes = [NONE; DramOperation::ALL.len() + 1];
            let mut n = 1;
            while n < codes.len() {
                codes[n] = Code { value: n as u128, name: DramOperation::ALL[n - 1].name(), doc: "" };
                n += 1;
            }
            codes
        };
        &CODES
    },
};

/// The text of a case: its head and its commands.
fn cases() -> impl Iterator<Item = (&'static str, &'static str)> {
    TEXT.split("\n= ").skip(1).filter_map(|case| case.split_once('\n'))
}

/// Rules that a case breaks.
pub(super) fn rules() -> impl Iterator<Item = &'static str> {
    cases().filter_map(|(head, _)| head.split(' ').next())
}

/// The case of a rule.
pub(super) fn of(rule: &str) -> Result<Option<BrokenCase>, CaseError> {
    let mut found = cases().filter(|(head, _)| head.split(' ').next() == Some(rule));
    found.next().map(|(head, commands)| DramCase::read(head, commands)?.judged()).transpose()
}

/// A case of the file.
struct DramCase {
    rule: &'static str,
    preset: DramPreset,
    wants_refresh: bool,
    commands: Vec<DramCommand>,
}

impl DramCase {
    fn read(head: &'static str, lines: &str) -> Result<DramCase, CaseError> {
        let words: Vec<&str> = head.split(' ').collect();
        let (&[rule, key, ranks] | &[rule, key, ranks, _]) = words.as_slice() else {
            return Err(CaseError::of(format!("dram.txt: found `{head}`, expected RULE PRESET RANKS")));
        };
        let preset = preset::find(key);
        let preset = preset.ok_or_else(|| CaseError::of(format!("{rule}: found `{key}`, expected a preset")))?;
        let wrong_ranks = |_| CaseError::of(format!("{rule}: found `{ranks}`, expected a number of ranks"));
        let ranks = ranks.parse().map_err(wrong_ranks)?;
        let preset = DramPreset { organisation: DramOrganisation { ranks, ..preset.organisation }, ..*preset };
        let read = |line| trace::read_line(line, &preset).map_err(|what| CaseError::of(format!("{rule}: {what}")));
        let commands: Vec<Option<DramCommand>> = lines.lines().map(read).collect::<Result<_, _>>()?;
        let commands = commands.into_iter().flatten().collect();
        Ok(DramCase { rule, preset, wants_refresh: words.len() > 3, commands })
    }

    fn judged(&self) -> Result<BrokenCase, CaseError> {
        let rule = self.rule;
        let mut monitor = DramMonitor::new(&self.preset, self.wants_refresh);
        let mut found = Vec::new();
        for command in &self.commands {
            monitor.judge(command);
            found = monitor.take_findings();
            if !found.is_empty() {
                break;
            }
        }
        let finding = found.into_iter().find(|finding| finding.rule == rule);
        let finding = finding.ok_or_else(|| CaseError::breaks_nothing(rule, "command"))?;
        let text = rules::find(rule).map_or("", |rule| rule.text);
        let violation = Violation {
            rule,
            at: At::Message,
            found: finding.found,
            expected: finding.expected,
            text: text.to_owned(),
        };
        let t_fs = self.t_fs(finding.command.clock);
        let end = self.t_fs(self.commands.last().map_or(0, |last| last.clock) + 2);
        let DramPreset { key, timing, .. } = self.preset;
        Ok(BrokenCase {
            what: format!("commands for {key}, whose clock has {} fs", timing.tck_fs),
            t_fs,
            found: format!("{rule}: found {}, expected {} ({text})", violation.found, violation.expected),
            steps: self.commands.iter().map(|command| self.step(command)).collect(),
            records: Some(self.records(t_fs, violation)),
            axis: TimeAxis::of_step(1, end),
        })
    }

    fn t_fs(&self, clock: u64) -> u64 {
        clock * self.preset.timing.tck_fs
    }

    fn step(&self, command: &DramCommand) -> CaseStep {
        let DramCommand { clock, operation, place } = command;
        let DramPlace { channel, rank, group, bank, row, column } = place;
        let mut said = format!("clock {clock}: {operation} rank {rank}");
        if operation.has_bank() {
            said += &format!(", bank group {group}, bank {bank}");
        }
        if *operation == DramOperation::Act || operation.is_column() {
            said += &format!(", row {row}");
        }
        if operation.is_column() {
            said += &format!(", column {column}");
        }
        CaseStep { t_fs: self.t_fs(*clock), place: format!("channel {channel}"), said }
    }

    /// The wave, with the broken rule at its time.
    fn records(&self, broken_at_fs: u64, violation: Violation) -> Hub {
        let mut hub = Hub::new(true);
        let mut findings = hub.tap(CHANNEL, PlaceKind::Findings);
        let mut taps: Vec<(String, Tap)> = Vec::new();
        for command in &self.commands {
            let path = path_of(command);
            let known = taps.iter().position(|(of, _)| *of == path);
            let at = known.unwrap_or_else(|| {
                taps.push((path.clone(), hub.tap(&path, PlaceKind::Figures(signals().into()))));
                taps.len() - 1
            });
            let tap = &mut taps[at].1;
            let number = DramOperation::ALL.iter().position(|of| *of == command.operation).map_or(0, |n| n as u64 + 1);
            let mut show = |clock: u64, signal, value| {
                let at = Stamp { t_fs: self.t_fs(clock), cycle: clock };
                tap.record(at, RecordKind::Value, 0, 0, || Body::Figure { signal, value });
            };
            show(command.clock, 0, number);
            if command.operation == DramOperation::Act {
                show(command.clock, 1, command.place.row.into());
            }
            show(command.clock + 1, 0, 0);
        }
        let at = Stamp { t_fs: broken_at_fs, cycle: 0 };
        findings.record(at, RecordKind::Violation, 0, 0, || Body::Violation(violation));
        hub
    }
}

/// Signals of a rank or bank.
fn signals() -> Vec<FigureSignal> {
    const ROW_BITS: u32 = 32;
    let signal = |name: &str, width, names| FigureSignal { name: name.to_owned(), width, names };
    vec![signal("command", COMMANDS.width, Some(("dram", COMMANDS))), signal("row", ROW_BITS, None)]
}

/// Scope of what takes a command.
fn path_of(DramCommand { operation, place, .. }: &DramCommand) -> String {
    let DramPlace { rank, group, bank, .. } = place;
    let scope = format!("{CHANNEL}.rank{rank}");
    if operation.has_bank() { format!("{scope}.group{group}.bank{bank}") } else { scope }
}
