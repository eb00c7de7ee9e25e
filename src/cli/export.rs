//! `scalepool export`: derived artefacts.

use super::Status;
use crate::export;
use clap::{Args, Subcommand};
use std::io::Write;
use std::path::PathBuf;

/// Write files that are derived from the layouts.
#[derive(Debug, Args)]
pub(super) struct Export {
    #[command(subcommand)]
    format: Format,
}

#[derive(Debug, Subcommand)]
enum Format {
    /// Markdown: field tables of all layouts, slot formats, rules.
    Md {
        /// Folder, made if it is not there.
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
    },
}

impl Export {
    pub fn run(self, out: &mut dyn Write) -> anyhow::Result<Status> {
        let Format::Md { out: folder } = self.format;
        for name in export::write(&folder, &export::markdown::files())? {
            writeln!(out, "{}", folder.join(name).display())?;
        }
        Ok(Status::Good)
    }
}
