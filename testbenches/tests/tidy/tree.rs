//! The files of the repository.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// One file.
pub struct File {
    /// Path from the top, with `/`.
    pub path: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

impl File {
    /// Its text, or `None` for a binary file.
    pub fn text(&self) -> Option<&str> {
        std::str::from_utf8(&self.bytes).ok().filter(|t| !t.contains('\0'))
    }
}

/// The top of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Every file under version control; in a copy without history, every file that is not built.
pub fn files() -> Vec<File> {
    let root = root();
    let paths = tracked(&root).unwrap_or_else(|| {
        let mut found = Vec::new();
        walk(&root, "", &mut found);
        found.sort();
        found
    });
    // A file that is deleted and not committed yet is no concern.
    let files: Vec<_> = paths
        .into_iter()
        .filter_map(|path| fs::read(root.join(&path)).ok().map(|bytes| File { path, bytes }))
        .collect();
    assert!(files.len() > 50, "found {} files, expected the repository", files.len());
    files
}

fn tracked(root: &Path) -> Option<Vec<String>> {
    let out = Command::new("git").args(["ls-files", "-z"]).current_dir(root).output().ok()?;
    if !out.status.success() {
        return None;
    }
    let text = String::from_utf8(out.stdout).ok()?;
    Some(text.split_terminator('\0').map(str::to_owned).collect())
}

fn walk(root: &Path, folder: &str, found: &mut Vec<String>) {
    for entry in fs::read_dir(root.join(folder)).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
        if entry.path().is_dir() {
            if !["target", ".git", ".venv", "__pycache__"].contains(&name.as_str()) {
                walk(root, &path, found);
            }
        } else if name != ".git" {
            found.push(path);
        }
    }
}
