//! The wave of a case that breaks a rule, and a save file of GTKWave beside it whose marker stands there.

use super::inspect_files::write_records;
use anyhow::bail;
use scalepool_broken::BrokenCase;
use scalepool_inspect::told::time_ns;
use scalepool_trace::output::PartFile;
use scalepool_trace::{TraceFilter, gtkw};
use serde_json::{Value, json};
use std::path::Path;

/// What was written, in words and as an object.
pub(super) struct WrittenWave {
    pub text: String,
    pub json: Value,
}

/// Writes the wave of a case, and a save file beside it.
///
/// # Errors
/// A file of another kind, one that cannot be written, or a case in which nothing moves.
pub(super) fn write(case: &mut BrokenCase, path: &Path) -> anyhow::Result<WrittenWave> {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    if !["vcd", "fst"].contains(&ending) {
        bail!("--wave: found {}, expected a name that ends in .vcd or .fst", path.display());
    }
    let Some(records) = &mut case.records else {
        bail!("--wave: found a case in which nothing moves ({}), expected a rule whose case has a wave", case.what);
    };
    let (mut part, file) = PartFile::create(path)?;
    let places = records.places().clone();
    let highlights = write_records(ending == "fst", path, file, records, case.axis, TraceFilter::default())?;
    part.keep()?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    gtkw::write_gtkwave(folder, &name, &places, &TraceFilter::default(), &highlights)?;
    let save = gtkw::save_of(path);
    let text = format!("wave:        {} with {}, marker at {} ns", path.display(), save.display(), time_ns(case.t_fs));
    let json = json!({
        "file": path.display().to_string(), "save": save.display().to_string(), "t_fs": case.t_fs,
        "what": case.what, "found": case.found,
    });
    Ok(WrittenWave { text, json })
}
