//! `scalepool coverage`: what runs, waves and link ends have covered, merged and shown.

use super::table::TextTable;
use super::{CommandStatus, export};
use anyhow::anyhow;
use clap::Args;
use scalepool_export::coverage::{CoverageReport, CoveredBin, CoveredGroup, html, xml};
use scalepool_export::plan;
use scalepool_forms::input::read_text;
use scalepool_link::coverage::Met;
use scalepool_link::cxl68::port::LRSM_ROWS;
use scalepool_link::protocol::LinkProtocol;
use scalepool_ordered::OrderedSet;
use scalepool_protocols::rules;
use scalepool_trace::output::{self, PartFile};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Most bytes of a file of coverage that is read.
const FILE_BYTES: u64 = 1 << 26;

/// Merge coverage files and show what was covered.
///
/// The files come from `run --coverage`, `inspect --coverage`, and link ends in C, Python and SystemVerilog.
///
/// Exit 0: done, 2: a file cannot be used.
#[derive(Debug, Args)]
pub(super) struct Coverage {
    /// Files to merge.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Write the merged file.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write the result as a page for a browser.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write the result as XML of cocotb-coverage.
    #[arg(long, value_name = "FILE")]
    cocotb: Option<PathBuf>,
    /// Write the result as UCIS XML.
    #[arg(long, value_name = "FILE")]
    ucis: Option<PathBuf>,
    /// Write the verification plan, as `export plan` does, with a column of hits.
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    /// Print the bins that were never hit.
    #[arg(long)]
    holes: bool,
    /// Print the merged file instead of a table.
    #[arg(long, conflicts_with = "holes")]
    json: bool,
}

impl Coverage {
    pub fn run(self, out: &mut dyn Write) -> anyhow::Result<CommandStatus> {
        let wanted = [&self.out, &self.html, &self.cocotb, &self.ucis, &self.plan];
        let outputs: Vec<&Path> = wanted.into_iter().flatten().map(PathBuf::as_path).collect();
        let inputs: Vec<&Path> = self.files.iter().map(PathBuf::as_path).collect();
        output::check_apart(&outputs, &[], &inputs)?;
        let mut report = CoverageReport::default();
        for file in &self.files {
            let name = file.display();
            let text = read_text(file, FILE_BYTES).map_err(|e| anyhow!("{name}: cannot be read: {e}"))?;
            let read = CoverageReport::read(&text).and_then(|read| known(&read).map(|()| read));
            report.merge(&read.map_err(|e| anyhow!("{name}: {e}"))?);
        }
        let plan =
            || plan::files(&export::extras(), Some(&report)).into_iter().map(|file| file.text).collect::<String>();
        let forms: [(&Option<PathBuf>, &dyn Fn() -> String); 5] = [
            (&self.out, &|| report.to_json()),
            (&self.html, &|| html::page(&report)),
            (&self.cocotb, &|| xml::cocotb(&report)),
            (&self.ucis, &|| xml::ucis(&report)),
            (&self.plan, &plan),
        ];
        for (path, form) in forms {
            if let Some(path) = path {
                PartFile::write(path, form().as_bytes())?;
            }
        }
        if self.json {
            out.write_all(report.to_json().as_bytes())?;
        } else {
            print(&report, self.holes, out)?;
        }
        Ok(CommandStatus::Good)
    }
}

/// Refuses bins and rules that this program does not have, as of a file of another version or one that was changed by hand.
fn known(report: &CoverageReport) -> Result<(), String> {
    let points: OrderedSet<(&str, String)> = export::extras().coverage.into_iter().collect();
    for group in &report.groups {
        let of_group = format!("{}: ", group.name);
        if !points.iter().any(|(protocol, point)| *protocol == group.protocol && point.starts_with(&of_group)) {
            // The rows of a state machine, which a port adds in a run, are not among them.
            if group.protocol == LinkProtocol::Cxl68.name() && group.name == LRSM_ROWS {
                continue;
            }
            return Err(format!("found the group `{}: {}`, expected one of this program", group.protocol, group.name));
        }
        let is_known =
            |bin: &&CoveredBin| points.contains(&(group.protocol.as_str(), format!("{}: {}", group.name, bin.name)));
        if let Some(bin) = group.bins.iter().find(|bin| !is_known(bin)) {
            let CoveredGroup { protocol, name, .. } = group;
            return Err(format!("found the bin `{protocol}: {name}: {}`, expected one of this program", bin.name));
        }
    }
    match report.broken.iter().find(|(rule, _)| rules::find(rule).is_none()) {
        Some((rule, _)) => Err(format!("found the rule `{rule}`, expected one that `list rules` shows")),
        None => Ok(()),
    }
}

fn print(report: &CoverageReport, holes: bool, out: &mut dyn Write) -> anyhow::Result<()> {
    let mut table = TextTable::new(["protocol", "group", "bins hit", "of", "share %", "hits"]);
    for group in &report.groups {
        let (met, of) = (group.met(), group.bins.len());
        let share = if of == 0 { 100.0 } else { 100.0 * met as f64 / of as f64 };
        let hits = group.bins.iter().map(|bin| bin.hits).fold(0, u64::saturating_add);
        let cells = [met.to_string(), of.to_string(), format!("{share:.1}"), hits.to_string()];
        let [met, of, share, hits] = cells;
        table.row([group.protocol.clone(), group.name.clone(), met, of, share, hits]);
    }
    table.print(out)?;
    if !report.broken.is_empty() {
        writeln!(out)?;
        let mut table = TextTable::new(["broken rule", "times"]);
        report.broken.iter().for_each(|(rule, times)| table.row([rule.clone(), times.to_string()]));
        table.print(out)?;
    }
    if holes {
        writeln!(out)?;
        for group in &report.groups {
            for bin in group.bins.iter().filter(|bin| bin.hits == 0) {
                writeln!(out, "never hit: {}: {}: {}", group.protocol, group.name, bin.name)?;
            }
        }
    }
    Ok(())
}

/// Adds what was met, as link ends and runs tell it.
pub(super) fn add(report: &mut CoverageReport, met: &[Met]) {
    for Met { protocol, group, bins } in met {
        report.add(protocol, group, bins.iter().map(|(name, hits)| (name.as_str(), *hits)));
    }
}
