//! `scalepool export`: derived artefacts.

use super::Status;
use crate::coherence::{docs, flows};
use crate::export::{self, File};
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
    /// Markdown: field tables of all layouts, slot formats, rules, tables and flows of the coherence engine.
    Md(Out),
    /// SystemVerilog: a package a family with packed structs, enums, positions, slot formats.
    Sv(Out),
    /// C: a header a family with positions and codes, and one that reads and writes fields in byte buffers.
    C(Out),
}

#[derive(Debug, Args)]
struct Out {
    /// Folder, made if it is not there.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

impl Export {
    pub fn run(self, out: &mut dyn Write) -> anyhow::Result<Status> {
        let (folder, files) = match self.format {
            Format::Md(to) => {
                let mut files = export::markdown::files();
                files.push(File { name: "coherence_flows.md".into(), text: flows::markdown()? });
                files.push(File { name: "coherence_tables.md".into(), text: docs::markdown() });
                files.sort_by(|a, b| a.name.cmp(&b.name));
                (to.out, files)
            }
            Format::Sv(to) => (to.out, export::systemverilog::files()),
            Format::C(to) => (to.out, export::c_header::files()),
        };
        for name in export::write(&folder, &files)? {
            writeln!(out, "{}", folder.join(name).display())?;
        }
        Ok(Status::Good)
    }
}
