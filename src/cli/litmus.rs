//! `scalepool litmus`: every outcome of a coherence program.

use super::{Status, print_json};
use crate::coherence::chart::Chart;
use crate::coherence::litmus::parse;
use anyhow::Context;
use clap::Args;
use std::io::Write;
use std::path::PathBuf;

/// Explore a litmus case and print every reachable outcome.
///
/// Exit 0: explored, 1: a broken rule was found, 2: the case cannot be read.
#[derive(Debug, Args)]
pub(super) struct Litmus {
    /// The case, TOML
    file: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl Litmus {
    pub fn run(self, out: &mut dyn Write) -> anyhow::Result<Status> {
        let place = || self.file.display().to_string();
        let text = std::fs::read_to_string(&self.file).map_err(|e| anyhow::anyhow!("{}: {e}", place()))?;
        let found = parse(&text).and_then(|case| case.explore()).with_context(place)?;
        if self.json {
            print_json(out, &found.to_json())?;
        } else {
            writeln!(out, "{} states, {} transitions", found.states, found.transitions)?;
            found.print_outcomes(out)?;
            if let Some(v) = &found.violation {
                write!(out, "{}\n{}", v.event, Chart::of(v).text())?;
            }
        }
        Ok(if found.violation.is_some() { Status::Finding } else { Status::Good })
    }
}
