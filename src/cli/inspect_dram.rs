//! `scalepool inspect --dram`: a trace of DRAM commands, judged by the monitor.

use super::{CommandStatus, counted, print_json};
use anyhow::{Context, anyhow, bail};
use clap::Args;
use scalepool_memory::dram::preset::{self, DramOrganisation};
use scalepool_memory::dram::{DramFinding, DramMonitor, DramPreset, trace};
use serde_json::json;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

/// Longest line of a trace that is read \[bytes\].
const LINE_BYTES: u64 = 4096;

/// Options for checking a trace of commands.
#[derive(Debug, Args)]
pub(super) struct DramArgs {
    /// Trace of DRAM commands to check, one per line: time command channel rank bank-group bank row column. The time is in
    /// clocks, or has a unit (fs, ps, ns, us).
    #[arg(long, value_name = "TRACE", conflicts_with_all = ["wave", "map", "trace", "fst", "vcd", "gtkw", "html", "coverage", "junit", "all", "health", "today", "wave_from", "wave_to"], requires = "preset")]
    pub(super) dram: Option<PathBuf>,
    /// Device whose timing the trace has to meet, such as ddr5_4800b or hbm3_6400.
    #[arg(long, value_name = "PRESET", requires = "dram", conflicts_with_all = ["wave", "map"], value_parser = preset_of)]
    preset: Option<&'static DramPreset>,
    /// Number of ranks in each channel.
    #[arg(long, value_name = "N", requires = "dram", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    ranks: u32,
    /// Do not check that refreshes come in time.
    #[arg(long, requires = "dram")]
    no_refresh: bool,
}

fn preset_of(name: &str) -> Result<&'static DramPreset, String> {
    preset::find(name).ok_or_else(|| format!("found `{name}`, expected one of {}", preset::KEYS.join(", ")))
}

impl DramArgs {
    /// Judges a trace and prints what breaks a rule.
    pub(super) fn judge(&self, path: &Path, json: bool, out: &mut dyn Write) -> anyhow::Result<CommandStatus> {
        let preset = self.preset.context("found no preset, expected one")?;
        let ranks = self.ranks;
        let preset = &DramPreset { organisation: DramOrganisation { ranks, ..preset.organisation }, ..*preset };
        if let Some((field, text)) = preset.check().first() {
            bail!("--{field}: {text}");
        }
        let name = path.display();
        let file = File::open(path).map_err(|e| anyhow!("{name}: cannot be read: {e}"))?;
        let mut reader = BufReader::new(file);
        let mut monitor = DramMonitor::new(preset, !self.no_refresh);
        let (mut number, mut last, mut broken) = (0_u64, 0, 0_u64);
        let mut text = Vec::new();
        loop {
            text.clear();
            let read = std::io::Read::take(&mut reader, LINE_BYTES).read_until(b'\n', &mut text);
            if read.map_err(|e| anyhow!("{name}: cannot be read: {e}"))? == 0 {
                break;
            }
            number += 1;
            if text.len() as u64 == LINE_BYTES && text.last() != Some(&b'\n') {
                bail!("{name}:{number}: found a line of more than {LINE_BYTES} bytes, expected a command");
            }
            let line = std::str::from_utf8(&text)
                .map_err(|_| anyhow!("{name}:{number}: found bytes that are no UTF-8, expected text"))?;
            let command = trace::read_line(line, preset).map_err(|what| anyhow!("{name}:{number}: {what}"))?;
            let Some(command) = command else { continue };
            if let Some(what) = monitor.misplaced(&command) {
                bail!("{name}:{number}: {what}");
            }
            if let Some(before) = monitor.before(command.place.channel).filter(|before| *before > command.clock) {
                let clock = command.clock;
                bail!(
                    "{name}:{number}: found clock {clock} after clock {before} of its channel, expected no step back"
                );
            }
            last = last.max(command.clock);
            monitor.judge(&command);
            broken += print(&mut monitor, path, number, json, out)?;
        }
        monitor.finish(last);
        broken += print(&mut monitor, path, number, json, out)?;
        let commands = monitor.commands();
        if commands == 0 {
            bail!("{name}: found no command in the whole file, expected one a line");
        }
        if json {
            print_json(
                out,
                &json!({ "summary": { "preset": preset.key, "commands": commands, "violations": broken } }),
            )?;
        } else {
            writeln!(
                out,
                "{}: {}, {}",
                preset.key,
                counted(commands as usize, "command"),
                counted(broken as usize, "violation")
            )?;
        }
        Ok(if broken == 0 { CommandStatus::Good } else { CommandStatus::Finding })
    }
}

/// Prints what a command broke; how much that was.
fn print(monitor: &mut DramMonitor, path: &Path, line: u64, json: bool, out: &mut dyn Write) -> anyhow::Result<u64> {
    let findings = monitor.take_findings();
    for DramFinding { rule, command, found, expected } in &findings {
        let text = scalepool_protocols::rules::find(rule).map_or("", |rule| rule.text);
        if json {
            let object = json!({
                "line": line, "clock": command.clock, "command": command.operation.name(), "channel": command.place.channel,
                "rule": rule, "found": found, "expected": expected, "text": text,
            });
            print_json(out, &object)?;
        } else {
            writeln!(out, "{}:{line}: {rule}: found {found}, expected {expected} ({text})", path.display())?;
        }
    }
    Ok(findings.len() as u64)
}
