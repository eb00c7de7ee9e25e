//! Why a set cannot be written or judged at all.

use std::io;
use std::path::{Path, PathBuf};

/// Nothing has changed when this comes back, unless it says that a replaced set could not be removed or moved back.
#[derive(Debug, thiserror::Error)]
pub enum SetError {
    /// The file system refuses; the source says why.
    #[error("{}: cannot {action}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On which file or folder.
        path: PathBuf,
        /// Its answer.
        source: io::Error,
    },
    /// The output folder holds something else.
    #[error("{}: found {found}, expected a new or empty folder, or a golden set to replace", path.display())]
    Occupied {
        /// The output folder.
        path: PathBuf,
        /// What stands in the way.
        found: String,
    },
    /// The manifest is no manifest of this format.
    #[error("{}: found {found}, expected {expected}", path.display())]
    Manifest {
        /// The manifest.
        path: PathBuf,
        /// What stands there, and where.
        found: String,
        /// What should.
        expected: String,
    },
}

impl SetError {
    /// For `map_err` of file operations.
    pub(super) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> SetError {
        move |source| SetError::Io { action, path: path.to_owned(), source }
    }
}
