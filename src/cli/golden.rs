//! `scalepool golden`: write a set of vectors, or verify one.

use super::{CommandStatus, report};
use anyhow::bail;
use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish};
use scalepool_golden::{DEFAULT_COUNT, DEFAULT_SEED, MAX_COUNT, MAX_SEED, Spec, check_set, write_set};
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

/// Write golden vectors (.hex, .rsp, .jsonl, manifest and sums), or verify a set by generating it again.
#[derive(Debug, Args)]
pub(super) struct Golden {
    /// Write only this protocol and its layouts [default: every protocol that `list protocols` shows].
    #[arg(long, value_name = "P", conflicts_with = "check")]
    protocol: Option<String>,
    /// Seed of the random vectors.
    #[arg(long, value_name = "N", default_value_t = DEFAULT_SEED, conflicts_with = "check",
          value_parser = clap::value_parser!(u64).range(..=MAX_SEED))]
    seed: u64,
    /// Random vectors per 68B layout, each with four flits of traffic; the other families get a sixteenth of that.
    #[arg(long, value_name = "N", default_value_t = DEFAULT_COUNT, conflicts_with = "check",
          value_parser = clap::value_parser!(u32).range(..=i64::from(MAX_COUNT)))]
    count: u32,
    /// Folder to write to: new, empty, or a golden set, which is replaced.
    #[arg(long, value_name = "DIR", required_unless_present = "check", conflicts_with = "check")]
    out: Option<PathBuf>,
    /// Folder to verify; the exit status is 1 if a file differs.
    #[arg(long, value_name = "DIR")]
    check: Option<PathBuf>,
}

impl Golden {
    pub fn run(self, out: &mut dyn Write) -> anyhow::Result<CommandStatus> {
        match (&self.check, &self.out) {
            (Some(dir), _) => check(dir, out),
            (None, Some(dir)) => write(&self.spec()?, dir, out),
            (None, None) => bail!("golden: found no folder, expected --out DIR or --check DIR"),
        }
    }

    fn spec(&self) -> anyhow::Result<Spec> {
        let mut spec = Spec { seed: self.seed, count: self.count, ..Spec::default() };
        if let Some(name) = &self.protocol {
            spec.protocols = scalepool_golden::protocols().filter(|p| p.name == name).collect();
            if spec.protocols.is_empty() {
                let known: Vec<&str> = scalepool_golden::protocols().map(|p| p.name).collect();
                bail!("golden: found protocol `{name}`, expected one of: {}", known.join(", "));
            }
        }
        Ok(spec)
    }
}

fn write(spec: &Spec, dir: &Path, out: &mut dyn Write) -> anyhow::Result<CommandStatus> {
    let bar = bar();
    let manifest = write_set(spec, dir, &mut |done, all| show(&bar, done, all))?;
    bar.finish_and_clear();
    writeln!(out, "{} files written to {}", manifest.files.len(), dir.display())?;
    Ok(CommandStatus::Good)
}

fn check(dir: &Path, out: &mut dyn Write) -> anyhow::Result<CommandStatus> {
    let bar = bar();
    let verified = check_set(dir, &mut |done, all| show(&bar, done, all))?;
    bar.finish_and_clear();
    let (theirs, ours) = (&verified.manifest.model_version, Spec::default().model_version);
    if *theirs != ours {
        report(format_args!("golden: the set was made by model {theirs}, this is {ours}; its vectors are compared"));
    }
    for mismatch in &verified.mismatches {
        writeln!(out, "{mismatch}")?;
    }
    if verified.mismatches.is_empty() {
        writeln!(out, "all {} files of {} match", verified.manifest.files.len(), dir.display())?;
    }
    Ok(CommandStatus::of(&verified.mismatches))
}

/// On stderr, and only where somebody looks.
fn bar() -> ProgressBar {
    let target =
        if std::io::stderr().is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    ProgressBar::with_draw_target(Some(0), target).with_finish(ProgressFinish::AndClear)
}

fn show(bar: &ProgressBar, done: usize, all: usize) {
    bar.set_length(all as u64);
    bar.set_position(done as u64);
}
