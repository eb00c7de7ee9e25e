//! `MANIFEST.toml` and `SHA256SUMS`.

use super::error::SetError;
use super::spec::{FORMAT_VERSION, MAX_COUNT, MAX_SEED, Spec, protocols};
use super::text::bytes_hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::path::Path;

/// Name of the manifest in a set.
pub const MANIFEST: &str = "MANIFEST.toml";

/// Name of the list that `sha256sum -c` reads.
pub const SUMS: &str = "SHA256SUMS";

/// Most bytes of a manifest that is read.
pub(super) const MANIFEST_BYTES: u64 = 1 << 20;

/// Most bytes of any other file of a set that is read: more than a set of [`MAX_COUNT`] has.
pub(super) const FILE_BYTES: u64 = 1 << 28;

/// Comment at the top of the manifest.
const ABOUT: &str = "# Golden vectors of scalepool. `scalepool golden --check DIR` makes them again and compares;\n\
                     # `sha256sum -c SHA256SUMS` compares the sums. `count` at the top: random vectors of each layout;\n\
                     # `count` of a file: its vectors (.hex, .jsonl) or cases (.rsp).\n";

/// What a set is, and what its files must be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Version of the file formats.
    pub format_version: u32,
    /// Version of the model that made the set.
    pub model_version: String,
    /// The command that made it.
    pub command: String,
    /// Protocols that it holds.
    pub protocols: Vec<String>,
    /// Seed of the random vectors.
    pub seed: u64,
    /// Random vectors of each layout.
    pub count: u32,
    /// Its files, in the order in which they are made.
    #[serde(rename = "file", default)]
    pub files: Vec<FileEntry>,
}

/// One file of a set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileEntry {
    /// Path from the top of the set.
    pub path: String,
    /// Seed of its random vectors.
    pub seed: u64,
    /// Its vectors or cases.
    pub count: usize,
    /// SHA-256 of its bytes, lower-case hex.
    pub sha256: String,
}

/// SHA-256 as lower-case hex.
pub fn sha256(bytes: &[u8]) -> String {
    bytes_hex(&Sha256::digest(bytes))
}

impl Manifest {
    /// The manifest of a set whose files have been made.
    pub fn new(spec: &Spec, files: Vec<FileEntry>) -> Manifest {
        Manifest {
            format_version: FORMAT_VERSION,
            model_version: spec.model_version.clone(),
            command: spec.command(),
            protocols: spec.protocols.iter().map(|p| p.name.to_owned()).collect(),
            seed: spec.seed,
            count: spec.count,
            files,
        }
    }

    /// The file.
    pub fn to_text(&self) -> String {
        let toml = toml::to_string(self).unwrap_or_else(|_| unreachable!("strings and numbers below 2^63 are TOML"));
        format!("{ABOUT}{toml}")
    }

    /// The companion for `sha256sum -c`: the files, and the manifest itself.
    pub fn sums(&self) -> String {
        let own = sha256(self.to_text().as_bytes());
        let rows = self.files.iter().map(|f| (f.sha256.as_str(), f.path.as_str())).chain([(own.as_str(), MANIFEST)]);
        rows.map(|(sum, path)| format!("{sum}  {path}\n")).collect()
    }

    /// Reads a manifest.
    ///
    /// # Errors
    /// The text is no manifest, or one of another format version. `path` is for the message.
    pub fn parse(text: &str, path: &Path) -> Result<Manifest, SetError> {
        let wrong = |found: String, expected: String| SetError::Manifest { path: path.to_owned(), found, expected };
        // The version first: another format may have other keys.
        let table: toml::Table = text.parse().map_err(|e| wrong(place(text, &e), "TOML".into()))?;
        let version = table.get("format_version").and_then(toml::Value::as_integer);
        if version != Some(FORMAT_VERSION.into()) {
            let found = version.map_or("no format_version".to_owned(), |v| format!("format_version {v}"));
            return Err(wrong(found, format!("format_version = {FORMAT_VERSION}")));
        }
        toml::from_str(text).map_err(|e| wrong(place(text, &e), "a manifest of a golden set".into()))
    }

    /// What the set was made from.
    ///
    /// # Errors
    /// A protocol that this model does not know; a seed or a count out of range.
    pub fn spec(&self, path: &Path) -> Result<Spec, SetError> {
        let wrong = |found: String, expected: String| SetError::Manifest { path: path.to_owned(), found, expected };
        let known = || protocols().map(|p| p.name).collect::<Vec<_>>().join(", ");
        let protocol = |name: &String| {
            let found = protocols().find(|p| p.name == name);
            found.ok_or_else(|| wrong(format!("protocol `{name}`"), format!("one of: {}", known())))
        };
        if self.seed > MAX_SEED {
            return Err(wrong(format!("seed = {}", self.seed), format!("at most {MAX_SEED}")));
        }
        if self.count > MAX_COUNT {
            return Err(wrong(format!("count = {}", self.count), format!("at most {MAX_COUNT}")));
        }
        Ok(Spec {
            protocols: self.protocols.iter().map(protocol).collect::<Result<_, _>>()?,
            seed: self.seed,
            count: self.count,
            model_version: self.model_version.clone(),
        })
    }
}

/// What TOML objects to, with line and column.
fn place(text: &str, error: &toml::de::Error) -> String {
    let message = error.message();
    match error.span().and_then(|span| text.get(..span.start)) {
        None => message.to_owned(),
        Some(before) => {
            let line = before.matches('\n').count() + 1;
            let column = before.rsplit('\n').next().map_or(0, |l| l.chars().count()) + 1;
            format!("{message} at line {line}, column {column}")
        }
    }
}
