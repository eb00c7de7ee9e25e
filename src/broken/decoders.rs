//! Writes to the registers of HDM decoders that break a rule, judged by the reference of these registers.
//!
//! The cases stand in `decoders.txt`; a write each nanosecond. The wave has a scope for each decoder that is written, with its registers.

use super::case_file::CaseFile;
use super::{BrokenCase, CaseError, CaseStep};
use scalepool_fabric::hdm_registers::{DecoderOwner, HdmDecoderRegisters};
use scalepool_protocols::registers::cxl::{BRIDGE_DECODERS, DEVICE_DECODERS};
use scalepool_protocols::registers::{RegisterBlock, RegisterFile};
use scalepool_protocols::wire::Violation;
use scalepool_trace::{Body, FigureSignal, Hub, PlaceKind, RecordKind, Stamp, Tap, TimeAxis};

/// Its cases.
pub(super) static FILE: CaseFile = CaseFile { name: "decoders.txt", text: include_str!("decoders.txt"), judged };

/// Place of the findings in the wave.
const BLOCK: &str = "decoders";

/// Time from write to write \[fs\].
const STEP_FS: u64 = 1_000_000;

/// Two words of a line.
fn words(line: &str) -> Result<(&str, &str), CaseError> {
    line.split_once(' ').ok_or_else(|| CaseError::of(format!("found `{line}`, expected two words")))
}

fn number(digits: &str) -> Result<u32, CaseError> {
    u32::from_str_radix(digits, 16).map_err(|_| CaseError::of(format!("found `{digits}`, expected hexadecimal digits")))
}

fn judged(rule: &str, what: &str, text: &str) -> Result<BrokenCase, CaseError> {
    let mut lines = text.lines().filter(|line| !line.is_empty());
    let (owner, capability) = words(lines.next().unwrap_or_default())?;
    let known = DecoderOwner::ALL.into_iter().find(|known| known.name() == owner);
    let owner = known.ok_or_else(|| CaseError::of(format!("found `{owner}`, expected device or bridge")))?;
    let mut registers = HdmDecoderRegisters::new(owner, number(capability)?).map_err(CaseError::of)?;
    let (mut steps, mut wave) = (Vec::new(), Wave::new(owner));
    for (n, line) in lines.enumerate() {
        let t_fs = STEP_FS * (n as u64 + 1);
        let (offset, value) = words(line)?;
        let (offset, value) = (number(offset)? as usize, number(value)?);
        let findings = registers.write(offset, value).map_err(CaseError::of)?;
        let (place, said) = wave.write(t_fs, offset, value)?;
        steps.push(CaseStep { t_fs, place, said });
        // What software should not do is a lint, for the hardware does it.
        let mut found = findings.violations.into_iter().chain(findings.lints).peekable();
        if found.peek().is_none() {
            continue;
        }
        let violation = found.find(|violation| violation.rule == rule);
        let violation = violation.ok_or_else(|| CaseError::breaks_nothing(rule, "write"))?;
        return Ok(BrokenCase {
            what: what.to_owned(),
            t_fs,
            found: violation.to_string(),
            steps,
            records: Some(wave.records(t_fs, violation)),
            axis: TimeAxis::of_step(1, t_fs + STEP_FS),
        });
    }
    Err(CaseError::breaks_nothing(rule, "write"))
}

/// The wave: a scope for each decoder.
struct Wave {
    hub: Hub,
    findings: Tap,
    block: &'static RegisterBlock,
    decoders: Vec<(String, Tap)>,
}

impl Wave {
    fn new(owner: DecoderOwner) -> Wave {
        let block = match owner {
            DecoderOwner::Device => &DEVICE_DECODERS,
            DecoderOwner::Bridge => &BRIDGE_DECODERS,
        };
        let mut hub = Hub::new(true);
        let findings = hub.tap(BLOCK, PlaceKind::Findings);
        Wave { hub, findings, block, decoders: Vec::new() }
    }

    /// A register is written: its place and the write in words.
    fn write(&mut self, t_fs: u64, offset: usize, value: u32) -> Result<(String, String), CaseError> {
        let of_file = |file: &&'static RegisterFile| {
            (file.at_byte..file.at_byte + file.count * file.stride_bytes).contains(&offset)
        };
        let file = self.block.files.iter().find(of_file);
        let unknown = || CaseError::of(format!("found offset {offset:#x}, expected a register of a decoder"));
        let file = file.ok_or_else(unknown)?;
        let (n, at) = ((offset - file.at_byte) / file.stride_bytes, (offset - file.at_byte) % file.stride_bytes);
        let all = file.registers();
        let register = all.iter().position(|register| register.at_byte == at).ok_or_else(unknown)?;
        let place = format!("{} {n}", file.name);
        let path = format!("{BLOCK}.{}{n}", file.name);
        let known = self.decoders.iter().position(|(of, _)| *of == path);
        let decoder = known.unwrap_or_else(|| {
            let signal = |name: &String, width| FigureSignal { name: name.clone(), width, names: None };
            let signals: Vec<_> = all.iter().map(|register| signal(&register.name, register.bits)).collect();
            let tap = self.hub.tap(&path, PlaceKind::Figures(signals.into()));
            self.decoders.push((path, tap));
            self.decoders.len() - 1
        });
        let at = Stamp { t_fs, cycle: t_fs / STEP_FS };
        let tap = &mut self.decoders[decoder].1;
        tap.record(at, RecordKind::Value, 0, 0, || Body::Figure { signal: register, value: value.into() });
        Ok((place, format!("{} = {value:#x}", all[register].name)))
    }

    fn records(mut self, t_fs: u64, violation: Violation) -> Hub {
        let at = Stamp { t_fs, cycle: t_fs / STEP_FS };
        self.findings.record(at, RecordKind::Violation, 0, 0, || Body::Violation(violation));
        self.hub
    }
}
