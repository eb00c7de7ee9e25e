//! `scalepool check`: judge a system description without running it.

use super::{CommandStatus, counted, print_json};
use clap::Args;
use scalepool_system::description::Description;
use scalepool_system::design::System;
use scalepool_system::draw::Drawing;
use scalepool_system::memory_map::MappedWindow;
use scalepool_system::problem::Problems;
use scalepool_trace::output::{self, PartFile};
use serde_json::{Value, json};
use std::io::{self, Write};
use std::path::PathBuf;

/// Check a system description and print every error in it, or a summary of the system if there is none.
#[derive(Debug, Args)]
pub(super) struct Check {
    /// File of the system description, FILE.toml.
    file: PathBuf,
    /// Change a setting, as for `run`. May be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    /// Draw the components, ports and links of the system as an SVG picture.
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
}

impl Check {
    pub fn run(self, out: &mut dyn Write) -> anyhow::Result<CommandStatus> {
        let system = match self.system() {
            Ok(system) => system,
            Err(problems) if self.json => {
                print_json(out, &json!({"file": problems.files.first(), "problems": problems.json()}))?;
                return Ok(CommandStatus::Refused);
            }
            Err(problems) => {
                let _ = writeln!(io::stderr(), "{problems}");
                return Ok(CommandStatus::Refused);
            }
        };
        for warning in system.warnings.lines().iter().filter(|_| !self.json) {
            let _ = writeln!(io::stderr(), "warning: {warning}");
        }
        if let Some(path) = &self.svg {
            output::check_apart(&[path.as_path()], &[], &[self.file.as_path()])?;
            PartFile::write(path, Drawing::of(&system).svg().as_bytes())?;
        }
        if self.json {
            let components = system.components.iter().map(|c| json!({"path": c.path, "kind": c.kind.name}));
            let links = system
                .links
                .iter()
                .map(|link| json!({"path": link.path, "kind": link.kind.name, "between": system.ports_of(link)}));
            let (components, links): (Vec<_>, Vec<_>) = (components.collect(), links.collect());
            let windows: Vec<Value> = system.memory_map.iter().map(|window| window_json(&system, window)).collect();
            let form = json!({
                "system": system.name, "components": components, "links": links, "memory_map": windows,
                "channels": system.channels.json(&system), "problems": [], "warnings": system.warnings.json(),
            });
            print_json(out, &form)?;
        } else {
            let (components, links) = (system.components.len(), system.links.len());
            write!(out, "{}: {}, {}", system.name, counted(components, "component"), counted(links, "link"))?;
            match system.memory_map.len() {
                0 => writeln!(out)?,
                windows => writeln!(out, ", {}", counted(windows, "window"))?,
            }
            for window in &system.memory_map {
                writeln!(out, "{}", shown(&system, window))?;
            }
        }
        Ok(CommandStatus::Good)
    }

    fn system(&self) -> Result<System, Problems> {
        let mut description = Description::open(&self.file)?;
        self.set.iter().try_for_each(|text| description.set(text))?;
        description.resolve()
    }
}

fn targets(system: &System, window: &MappedWindow) -> Vec<String> {
    window.targets.iter().map(|target| target.name(&system.components[target.component].path)).collect()
}

/// A window as a line: its name, its addresses, where they lead.
fn shown(system: &System, mapped: &MappedWindow) -> String {
    let (window, targets) = (&mapped.window, targets(system, mapped).join(", "));
    let interleave = match &window.interleave {
        one if one.ways() == 1 => String::new(),
        several => format!(", {} bytes each in turn, {}", several.granularity(), several.arithmetic().name()),
    };
    format!("{}: {:#x} to {:#x} at {targets}{interleave}", mapped.name, window.base, window.end() - 1)
}

fn window_json(system: &System, mapped: &MappedWindow) -> Value {
    let window = &mapped.window;
    json!({
        "name": mapped.name, "base": window.base, "size": window.size, "targets": targets(system, mapped),
        "granularity": window.interleave.granularity(), "arithmetic": window.interleave.arithmetic().name(),
    })
}
