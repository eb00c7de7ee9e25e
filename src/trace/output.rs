//! Files that appear whole or not at all, and never in the place of another that counts.
//!
//! A walk: the file is opened under a temporary name beside its place, so a path that cannot be written is an error before
//! any work is done; [`Part::keep`] gives it its name; without that it is removed. A pipe or a device cannot be replaced
//! by a file, so it is written as it is.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// A file that cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The system refuses.
    #[error("{path}: {error}")]
    System {
        /// As it was given.
        path: String,
        /// What the system says.
        error: io::Error,
    },
    /// One would be written over the other.
    #[error("{path}: found another output of this run, expected a file of its own")]
    Twice {
        /// As it was given.
        path: String,
    },
    /// It would be written over what is read.
    #[error("{path}: found an input of this run, expected a file of its own for the output")]
    Input {
        /// As it was given.
        path: String,
    },
}

impl FileError {
    /// Says of which file an error is.
    pub fn of(path: &Path) -> impl Fn(io::Error) -> FileError + '_ {
        move |error| FileError::System { path: path.display().to_string(), error }
    }
}

/// A file under a temporary name beside its place; removed unless it is kept.
pub struct Part {
    /// The temporary name; `None` when the file has its own: it was kept, or it is a pipe or a device.
    part: Option<PathBuf>,
    path: PathBuf,
}

impl Part {
    /// Creates the file under its temporary name.
    ///
    /// # Errors
    /// A folder, or a place where nothing can be written.
    pub fn create(path: &Path) -> Result<(Part, File), FileError> {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        if name.is_empty() || path.is_dir() {
            return Err(FileError::of(path)(io::Error::new(
                io::ErrorKind::InvalidInput,
                "found a folder, expected a file",
            )));
        }
        if is_special(path) {
            let file = File::options().write(true).open(path).map_err(FileError::of(path))?;
            return Ok((Part { part: None, path: path.to_owned() }, file));
        }
        name.push(".part");
        let part = path.with_file_name(name);
        let file = File::create(&part).map_err(FileError::of(path))?;
        Ok((Part { part: Some(part), path: path.to_owned() }, file))
    }

    /// Its place, as it was given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// As the system says.
    pub fn keep(&mut self) -> Result<(), FileError> {
        if let Some(part) = &self.part {
            fs::rename(part, &self.path).map_err(FileError::of(&self.path))?;
            self.part = None;
        }
        Ok(())
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if let Some(part) = &self.part {
            // Nothing is left of an output that failed; a second failure here would hide the first.
            let _ = fs::remove_file(part);
        }
    }
}

/// Whether something stands there that is neither a file nor a folder: `/dev/null`, a pipe.
pub fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir())
}

/// The path with its folder resolved, so that two spellings of one file are equal.
pub fn resolved(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = fs::canonicalize(folder).unwrap_or(folder.to_owned());
    folder.join(path.file_name().unwrap_or_default())
}

/// Refuses outputs that are one another's file, or that of an input. Pipes and devices may stand twice.
///
/// # Errors
/// Which one.
pub fn check_apart<'a>(outputs: impl Iterator<Item = &'a Path>, inputs: &[&Path]) -> Result<(), FileError> {
    let inputs: Vec<PathBuf> = inputs.iter().map(|path| resolved(path)).collect();
    let mut taken = Vec::new();
    for path in outputs.filter(|path| !is_special(path)) {
        let place = resolved(path);
        let text = || path.display().to_string();
        if inputs.contains(&place) {
            return Err(FileError::Input { path: text() });
        }
        if taken.contains(&place) {
            return Err(FileError::Twice { path: text() });
        }
        taken.push(place);
    }
    Ok(())
}
