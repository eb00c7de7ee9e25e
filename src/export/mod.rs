//! Derived artefacts; input is the layout table alone.
//!
//! Modelled: Markdown tables, SystemVerilog packages and assertions, C headers, GTKWave files, the verification plan. Left
//! out: what the tables do not hold. Invariants: the same
//! tables give the same bytes; a file is whole or not there.

pub mod c_header;
pub mod gtkwave;
pub mod markdown;
mod names;
pub mod plan;
mod slots;
pub mod sva;
pub mod systemverilog;

use scalepool_protocols::registry;
use scalepool_protocols::wire::LayoutDef;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A file by name and content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Name in its folder.
    pub name: String,
    /// Content.
    pub text: String,
}

/// All layouts by family, in the order of the registry.
fn families() -> BTreeMap<&'static str, Vec<&'static LayoutDef>> {
    let mut families: BTreeMap<&str, Vec<&LayoutDef>> = BTreeMap::new();
    for def in registry::layouts() {
        families.entry(def.family()).or_default().push(def);
    }
    families
}

/// A file or folder that could not be written.
#[derive(Debug, thiserror::Error)]
#[error("{}: cannot be written", path.display())]
pub struct WriteError {
    /// The file or folder.
    pub path: PathBuf,
    /// Why.
    #[source]
    pub source: io::Error,
}

/// Writes files into a folder, which is made if it is not there, and gives their names in sorted order. Each file is
/// written under another name first and then renamed, so a reader never sees half of one.
///
/// # Errors
/// The first file or folder that cannot be written; files before it are in place.
pub fn write(folder: &Path, files: &[File]) -> Result<Vec<String>, WriteError> {
    let error = |path: &Path| {
        let path = path.to_owned();
        move |source| WriteError { path, source }
    };
    fs::create_dir_all(folder).map_err(error(folder))?;
    let mut files: Vec<&File> = files.iter().collect();
    files.sort_by(|a, b| a.name.cmp(&b.name));
    for file in &files {
        let path = folder.join(&file.name);
        let part = folder.join(format!(".{}.part", file.name));
        let written = fs::write(&part, &file.text).and_then(|()| fs::rename(&part, &path));
        if written.is_err() {
            // The error that counts is the one above.
            let _ = fs::remove_file(&part);
        }
        written.map_err(error(&path))?;
    }
    Ok(files.into_iter().map(|f| f.name.clone()).collect())
}
