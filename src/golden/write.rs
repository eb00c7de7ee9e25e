//! Writing a set: all of it or nothing.
//!
//! The set is made in a folder beside the target and renamed when it is complete. A set that stands there is moved
//! aside, and removed when the new one is in its place.

use super::error::SetError;
use super::manifest::{FileEntry, MANIFEST, MANIFEST_BYTES, Manifest, SUMS, sha256};
use super::spec::Spec;
use super::text::VectorFileForm;
use scalepool_forms::input::{read_file, text_of};
use scalepool_trace::output::{Scratch, together};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Called with the sets done and the sets in all.
pub type Progress<'a> = &'a mut dyn FnMut(usize, usize);

/// Makes a set and writes it to a folder that is new, empty or a golden set. Returns its manifest.
///
/// # Errors
/// The folder holds anything else; the file system refuses. Then nothing in it has changed.
pub fn write_set(spec: &Spec, dir: &Path, progress: Progress) -> Result<Manifest, SetError> {
    let target = resolve(dir)?;
    let (Some(parent), Some(_)) = (target.parent(), target.file_name()) else {
        return Err(SetError::Occupied { path: target, found: "the root of the file system".into() });
    };
    check_free(&target)?;
    fs::create_dir_all(parent).map_err(SetError::io("create", parent))?;
    // It goes with all that is in it, which is the new set, and in the end the replaced one.
    let scratch = Scratch::beside(parent).map_err(SetError::io("create a folder in", parent))?;
    let (new, old) = (scratch.path().join("new"), scratch.path().join("old"));
    let manifest = fill(spec, &new, progress)?;
    together(|| replace(&target, &new, &old))?;
    Ok(manifest)
}

/// Moves a set aside, if there is one, and the new one to its place.
fn replace(target: &Path, new: &Path, old: &Path) -> Result<(), SetError> {
    let replaced = match fs::rename(target, old) {
        Ok(()) => true,
        Err(e) if e.kind() == io::ErrorKind::NotFound => false,
        Err(e) => return Err(SetError::io("move aside", target)(e)),
    };
    if let Err(e) = fs::rename(new, target) {
        if replaced {
            fs::rename(old, target).map_err(SetError::io("move back", old))?;
        }
        return Err(SetError::io("move the new set to", target)(e));
    }
    Ok(())
}

/// The folder without links and dots, whether or not it exists.
fn resolve(dir: &Path) -> Result<PathBuf, SetError> {
    match fs::canonicalize(dir) {
        Ok(path) => Ok(path),
        Err(e) if e.kind() == io::ErrorKind::NotFound => std::path::absolute(dir).map_err(SetError::io("find", dir)),
        Err(e) => Err(SetError::io("find", dir)(e)),
    }
}

/// Refuses to replace anything but an empty folder or a golden set without foreign files.
fn check_free(target: &Path) -> Result<(), SetError> {
    let occupied = |found: String| SetError::Occupied { path: target.to_owned(), found };
    if fs::symlink_metadata(target).is_err_and(|e| e.kind() == io::ErrorKind::NotFound) {
        return Ok(());
    }
    if !target.is_dir() {
        return Err(occupied("a file".into()));
    }
    let files = files_of(target)?;
    let Some(first) = files.first() else { return Ok(()) };
    let path = target.join(MANIFEST);
    if !files.iter().any(|f| f == MANIFEST) {
        return Err(occupied(format!("`{first}` and no {MANIFEST}")));
    }
    let text = read_file(&path, MANIFEST_BYTES).and_then(text_of).map_err(SetError::io("read", &path))?;
    let manifest = Manifest::parse(&text, &path)?;
    let known = |f: &str| f == MANIFEST || f == SUMS || manifest.files.iter().any(|e| e.path == f);
    match files.into_iter().find(|f| !known(f)) {
        None => Ok(()),
        Some(foreign) => Err(occupied(format!("`{foreign}`, which is not in its {MANIFEST}"))),
    }
}

/// Everything under a folder that is no folder, as paths from it with `/`, in order.
pub(super) fn files_of(dir: &Path) -> Result<Vec<String>, SetError> {
    fn walk(dir: &Path, prefix: &str, files: &mut Vec<String>) -> Result<(), SetError> {
        for entry in fs::read_dir(dir).map_err(SetError::io("read", dir))? {
            let entry = entry.map_err(SetError::io("read", dir))?;
            let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
            let kind = entry.file_type().map_err(SetError::io("read", &entry.path()))?;
            if kind.is_dir() {
                walk(&entry.path(), &format!("{path}/"), files)?;
            } else {
                files.push(path);
            }
        }
        Ok(())
    }
    let mut files = Vec::new();
    walk(dir, "", &mut files)?;
    files.sort();
    Ok(files)
}

/// Writes the set into a folder, which is made with its first file.
fn fill(spec: &Spec, dir: &Path, progress: Progress) -> Result<Manifest, SetError> {
    let put = |path: &str, text: &str| {
        let path = dir.join(path);
        together(|| {
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder).map_err(SetError::io("create", folder))?;
            }
            fs::write(&path, text).map_err(SetError::io("write", &path))
        })
    };
    let sources = spec.sources();
    let mut files = Vec::new();
    for (n, source) in sources.iter().enumerate() {
        progress(n, sources.len());
        let set = source.vectors(spec);
        for form in VectorFileForm::ALL {
            let text = form.text(&set, spec);
            put(&form.path(&set), &text)?;
            let sha256 = sha256(text.as_bytes());
            files.push(FileEntry { path: form.path(&set), seed: spec.seed, count: form.count(&set), sha256 });
        }
    }
    progress(sources.len(), sources.len());
    let manifest = Manifest::new(spec, files);
    put(MANIFEST, &manifest.to_text())?;
    put(SUMS, &manifest.sums())?;
    Ok(manifest)
}
