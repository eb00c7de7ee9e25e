//! What can be wrong with a stimulus.

use std::io;

use thiserror::Error;

/// A trace that cannot be used.
#[derive(Debug, Error)]
pub enum TraceError {
    /// The file cannot be read.
    #[error("{file}: cannot be read: {error}")]
    Unreadable {
        /// The file.
        file: String,
        /// What the system said.
        error: io::Error,
    },
    /// A gzip file ends too early.
    #[error("{file}: found a gzip stream that is cut off, expected one that ends with its checksum")]
    GzipCutOff {
        /// The file.
        file: String,
    },
    /// A gzip file with wrong bytes in it, or behind it.
    #[error("{file}: found a damaged gzip stream ({reason}), expected whole gzip members and nothing else")]
    GzipDamaged {
        /// The file.
        file: String,
        /// What the decompressor said.
        reason: String,
    },
    /// A line that is not of the format.
    #[error("{file}:{line}:{column}: found {found}, expected {expected}")]
    Malformed {
        /// The file.
        file: String,
        /// Line of the uncompressed text, from 1.
        line: usize,
        /// Character of the line, from 1.
        column: usize,
        /// The text there.
        found: String,
        /// What could have stood there.
        expected: &'static str,
    },
    /// A line without an end in sight.
    #[error("{file}:{line}: found more than {most} bytes, expected a line of at most that")]
    LongLine {
        /// The file.
        file: String,
        /// Line of the uncompressed text, from 1.
        line: usize,
        /// The limit.
        most: u64,
    },
    /// More accesses than are held.
    #[error("{file}:{line}: found more than {most} accesses, expected at most that in one file")]
    TooMany {
        /// The file.
        file: String,
        /// Line of the first access beyond, from 1.
        line: usize,
        /// The limit.
        most: usize,
    },
    /// An access to an address that the one who asks cannot use.
    #[error("{file}:{line}: found an access to {address:#x}, {reason}")]
    Hole {
        /// The file.
        file: String,
        /// Line of the uncompressed text, from 1.
        line: usize,
        /// Its first byte.
        address: u64,
        /// What is there, and what was expected.
        reason: String,
    },
    /// A file without a single access.
    #[error("{file}: found no access, expected at least one")]
    Empty {
        /// The file.
        file: String,
    },
}

/// A parameter of a generated stimulus that has no meaning.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("stimulus: found {parameter} = {found:#x}, expected {expected}")]
pub struct ParameterError {
    /// Its name.
    pub parameter: &'static str,
    /// Its value.
    pub found: u64,
    /// The values that have a meaning.
    pub expected: &'static str,
}

/// A name that no trace format has.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("trace format: found `{found}`, expected `lackey` or `csv`")]
pub struct UnknownFormat {
    /// The name.
    pub found: String,
}
