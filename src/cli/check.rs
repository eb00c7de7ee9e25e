//! `scalepool check`: judge a system description without running it.

use super::{Status, counted, print_json};
use clap::Args;
use scalepool_system::description::Description;
use scalepool_system::design::System;
use scalepool_system::draw;
use scalepool_system::problem::Problems;
use scalepool_trace::output::{self, FileError, Part};
use serde_json::json;
use std::io::{self, Write};
use std::path::PathBuf;

/// Judge a system description: everything that is wrong with it, or what it holds.
#[derive(Debug, Args)]
pub(super) struct Check {
    /// The description, FILE.toml.
    file: PathBuf,
    /// Change a setting, as `run` does. May be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    /// Draw the system: components, ports and links.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

impl Check {
    pub fn run(self, out: &mut dyn Write) -> anyhow::Result<Status> {
        let system = match self.system() {
            Ok(system) => system,
            Err(problems) if self.json => {
                print_json(out, &json!({"file": problems.files.first(), "problems": problems.json()}))?;
                return Ok(Status::Refused);
            }
            Err(problems) => {
                let _ = writeln!(io::stderr(), "{problems}");
                return Ok(Status::Refused);
            }
        };
        if let Some(path) = &self.svg {
            output::check_apart(&[path.as_path()], &[], &[self.file.as_path()])?;
            let (mut part, mut file) = Part::create(path)?;
            file.write_all(draw::svg(&system).as_bytes()).map_err(FileError::of(part.path()))?;
            part.keep()?;
        }
        if self.json {
            let components = system.components.iter().map(|c| json!({"path": c.path, "kind": c.kind.name}));
            let links = system
                .links
                .iter()
                .map(|link| json!({"path": link.path, "kind": link.kind.name, "between": system.ports_of(link)}));
            let (components, links): (Vec<_>, Vec<_>) = (components.collect(), links.collect());
            let name = &system.name;
            print_json(out, &json!({"system": name, "components": components, "links": links, "problems": []}))?;
        } else {
            let (components, links) = (system.components.len(), system.links.len());
            writeln!(out, "{}: {}, {}", system.name, counted(components, "component"), counted(links, "link"))?;
        }
        Ok(Status::Good)
    }

    fn system(&self) -> Result<System, Problems> {
        let mut description = Description::open(&self.file)?;
        self.set.iter().try_for_each(|text| description.set(text))?;
        description.resolve()
    }
}
