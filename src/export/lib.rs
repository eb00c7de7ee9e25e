//! Derived artefacts; the input is the tables of layouts, rules and registers alone.
//!
//! Modelled: Markdown tables, SystemVerilog packages and assertions, C headers, GTKWave and Surfer files, register models, the
//! verification plan. Left out: what the tables do not hold. Invariants: the same
//! tables give the same bytes; a file is whole or not there.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod c_header;
pub mod class_package;
pub mod coverage;
pub mod coverage_package;
pub mod gtkwave;
mod interface_modules;
pub mod markdown;
mod names;
pub mod plan;
mod slots;
pub mod surfer;
pub mod sva;
pub mod systemrdl;
pub mod systemverilog;
pub mod uvm_registers;

use scalepool_protocols::registry;
use scalepool_protocols::wire::LayoutDef;
use scalepool_trace::output::{FileError, PartFile};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

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

/// Writes files into a folder, which is made if it is not there, and gives their names in sorted order. Each file is
/// written under another name first and then renamed, so a reader never sees half of one.
///
/// # Errors
/// The first file or folder that cannot be written; files before it are in place.
pub fn write(folder: &Path, files: &[File]) -> Result<Vec<String>, FileError> {
    fs::create_dir_all(folder).map_err(FileError::of(folder))?;
    let mut files: Vec<&File> = files.iter().collect();
    files.sort_by(|a, b| a.name.cmp(&b.name));
    for file in &files {
        PartFile::write(&folder.join(&file.name), file.text.as_bytes())?;
    }
    Ok(files.into_iter().map(|f| f.name.clone()).collect())
}
