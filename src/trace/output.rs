//! Files that appear whole or not at all, and never in the place of another that counts.
//!
//! A walk: all outputs of a run are judged together before any work is done ([`check_apart`]), by the files that they are:
//! device and inode, or those of the folder and the name where there is no file yet. Each is opened under a new temporary
//! name beside its place, so a path that cannot be written is an error before any work is done; [`PartFile::keep`]
//! gives it its name; without that it is removed, also when a signal ends the program ([`end_by_signal`]). A link is
//! followed: the file that it names is replaced. A pipe or a device cannot be replaced by a file, so it is written as
//! it is.

use scalepool_ordered::OrderedSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::{Builder, TempDir, TempPath};

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
    /// Standard output or error goes there.
    #[error("{path}: found the file that standard output or standard error goes to, expected a file of its own")]
    Standard {
        /// As it was given.
        path: String,
    },
    /// Something of the wrong kind stands there.
    #[error("{path}: found {found}, expected {expected}")]
    Kind {
        /// As it was given.
        path: String,
        /// What stands there.
        found: &'static str,
        /// What may stand there.
        expected: &'static str,
    },
}

impl FileError {
    /// Says of which file an error is.
    pub fn of(path: &Path) -> impl Fn(io::Error) -> FileError + '_ {
        move |error| FileError::System { path: path.display().to_string(), error }
    }

    fn kind(path: &Path, found: &'static str, expected: &'static str) -> FileError {
        FileError::Kind { path: path.display().to_string(), found, expected }
    }
}

/// Temporary files and folders that are there now.
static UNKEPT: Mutex<OrderedSet<PathBuf>> = Mutex::new(OrderedSet::new());

fn unkept() -> MutexGuard<'static, OrderedSet<PathBuf>> {
    UNKEPT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes all temporary files and folders and calls `end`, which ends the program. From then on nothing gets its name.
pub fn end_by_signal(end: impl FnOnce()) {
    let unkept = unkept();
    for path in unkept.iter() {
        // Nobody is left to hear of a failure.
        let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    }
    end();
}

/// Does several changes of files that belong together; a signal waits for their end.
pub fn together<T>(changes: impl FnOnce() -> T) -> T {
    let _unkept = unkept();
    changes()
}

/// A temporary file or folder: in [`UNKEPT`] from when it is made until it is removed or kept.
///
/// Whoever makes or removes one holds the lock meanwhile, so a signal finds it listed, or not there.
struct Listed<T: AsRef<Path>>(Option<T>);

impl<T: AsRef<Path>> Listed<T> {
    /// Lists what was made under this lock.
    fn new(unkept: &mut OrderedSet<PathBuf>, made: T) -> Listed<T> {
        unkept.insert(made.as_ref().to_owned());
        Listed(Some(made))
    }

    /// Lists it no more. `None` when that was done before.
    fn take(&mut self, unkept: &mut OrderedSet<PathBuf>) -> Option<T> {
        let made = self.0.take()?;
        unkept.remove(made.as_ref());
        Some(made)
    }

    fn path(&self) -> &Path {
        self.0.as_ref().map_or(Path::new(""), AsRef::as_ref)
    }
}

impl<T: AsRef<Path>> Drop for Listed<T> {
    fn drop(&mut self) {
        // What was taken is the taker's, who may hold the lock.
        if self.0.is_some() {
            let mut unkept = unkept();
            drop(self.take(&mut unkept));
        }
    }
}

/// Refuses a file whose folder is not there.
///
/// # Errors
/// [`FileError::System`].
pub fn check_folder(path: &Path) -> Result<(), FileError> {
    if folder_of(path).is_dir() { Ok(()) } else { Err(FileError::of(path)(io::ErrorKind::NotFound.into())) }
}

/// Temporary names begin with it.
const PREFIX: &str = ".scalepool.";

/// A new temporary folder, which is removed with all that is in it when it is dropped. What is written into it is written
/// in [`together`], so that nothing is added while a signal has it removed.
pub struct Scratch(Listed<TempDir>);

impl Scratch {
    /// Makes it in a folder that is there.
    ///
    /// # Errors
    /// As the system says.
    pub fn beside(parent: &Path) -> io::Result<Scratch> {
        // Those of a folder of the user: his mask takes from them.
        let permissions = fs::Permissions::from_mode(0o777);
        let mut unkept = unkept();
        let folder = Builder::new().prefix(PREFIX).permissions(permissions).tempdir_in(parent)?;
        Ok(Scratch(Listed::new(&mut unkept, folder)))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

/// A file under a temporary name beside its place; removed unless it is kept.
pub struct PartFile {
    /// The temporary name; `None` when the file has its own: it was kept, or it is a pipe or a device.
    part: Option<Listed<TempPath>>,
    path: PathBuf,
    /// The file that gets replaced: the path with links followed.
    place: PathBuf,
}

impl PartFile {
    /// Creates the file under a new temporary name.
    ///
    /// # Errors
    /// A folder, a link to nothing, or a place where nothing can be written.
    pub fn create(path: &Path) -> Result<(PartFile, File), FileError> {
        check_kind(path)?;
        if is_special(path) {
            let file = File::options().write(true).open(path).map_err(FileError::of(path))?;
            return Ok((PartFile { part: None, path: path.to_owned(), place: path.to_owned() }, file));
        }
        let place = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        // Those of a file of the user: his mask takes from them.
        let permissions = fs::Permissions::from_mode(0o666);
        let mut unkept = unkept();
        let new = Builder::new().prefix(PREFIX).suffix(".part").permissions(permissions).tempfile_in(folder_of(&place));
        // The message of the crate names the temporary file.
        let plain = |e: io::Error| e.raw_os_error().map_or_else(|| e.kind().into(), io::Error::from_raw_os_error);
        let (file, temporary) = new.map_err(plain).map_err(FileError::of(path))?.into_parts();
        let part = Some(Listed::new(&mut unkept, temporary));
        Ok((PartFile { part, path: path.to_owned(), place }, file))
    }

    /// Its place, as it was given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where it is written until it is kept.
    pub fn written_at(&self) -> &Path {
        self.part.as_ref().map_or(&self.path, Listed::path)
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// As the system says.
    pub fn keep(&mut self) -> Result<(), FileError> {
        let mut unkept = unkept();
        let Some(temporary) = self.part.take().and_then(|mut part| part.take(&mut unkept)) else { return Ok(()) };
        temporary.persist(&self.place).map_err(|e| FileError::of(&self.path)(e.error))
    }

    /// Writes a whole file.
    ///
    /// # Errors
    /// As the system says, and those of [`PartFile::create`].
    pub fn write(path: &Path, text: &[u8]) -> Result<(), FileError> {
        let (mut part, mut file) = PartFile::create(path)?;
        io::Write::write_all(&mut file, text).map_err(FileError::of(path))?;
        part.keep()
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Refuses a path at which no file can stand.
fn check_kind(path: &Path) -> Result<(), FileError> {
    if path.file_name().is_none() || path.is_dir() {
        return Err(FileError::kind(path, "a folder", "a file"));
    }
    if path.is_symlink() && !path.exists() {
        return Err(FileError::kind(path, "a link to nothing", "a file, or a link to one"));
    }
    Ok(())
}

/// Whether something stands there that is neither a file nor a folder: `/dev/null`, a pipe.
pub fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir())
}

/// What a path means, however it is spelled.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    /// What stands there: device and inode.
    There(u64, u64),
    /// Nothing stands there: device and inode of the folder, the name in it.
    New(u64, u64, OsString),
    /// There is not even the folder.
    Nowhere(PathBuf),
}

impl Place {
    fn of(path: &Path) -> Place {
        if let Ok(found) = fs::metadata(path) {
            return Place::There(found.dev(), found.ino());
        }
        match (fs::metadata(folder_of(path)), path.file_name()) {
            (Ok(folder), Some(name)) => Place::New(folder.dev(), folder.ino(), name.to_owned()),
            _ => Place::Nowhere(path.to_owned()),
        }
    }

    /// Where standard output and error go, as far as these are files.
    fn standard() -> Vec<Place> {
        let (out, err) = (io::stdout(), io::stderr());
        let files = [out.as_fd().try_clone_to_owned(), err.as_fd().try_clone_to_owned()];
        let found = files.into_iter().flatten().filter_map(|fd| File::from(fd).metadata().ok());
        found.filter(|m| m.is_file()).map(|m| Place::There(m.dev(), m.ino())).collect()
    }
}

/// Refuses outputs that are one another's file, that of an input, or that of standard output, and places where none can
/// stand. Pipes and devices may stand twice. Into each of `folders` a run writes several files, so no file may stand in
/// its place, and no input in it.
///
/// # Errors
/// Which one.
pub fn check_apart(files: &[&Path], folders: &[&Path], inputs: &[&Path]) -> Result<(), FileError> {
    let read: Vec<Place> = inputs.iter().map(|path| Place::of(path)).collect();
    let read_in: Vec<Place> = inputs.iter().map(|path| Place::of(folder_of(path))).collect();
    let standard = Place::standard();
    let mut taken = Vec::new();
    for path in files.iter().filter(|path| !is_special(path)) {
        let (place, text) = (Place::of(path), path.display().to_string());
        if read.contains(&place) {
            return Err(FileError::Input { path: text });
        }
        if taken.contains(&place) {
            return Err(FileError::Twice { path: text });
        }
        if standard.contains(&place) {
            return Err(FileError::Standard { path: text });
        }
        check_kind(path)?;
        taken.push(place);
    }
    for path in folders {
        let (place, text) = (Place::of(path), path.display().to_string());
        if read.contains(&place) || read_in.contains(&place) {
            return Err(FileError::Input { path: text });
        }
        if taken.contains(&place) || files.iter().any(|file| Place::of(folder_of(file)) == place) {
            return Err(FileError::Twice { path: text });
        }
        if path.exists() && !path.is_dir() {
            return Err(FileError::kind(path, "a file", "a folder, or nothing"));
        }
    }
    Ok(())
}
