//! Verifying a set: make it again, compare, and name the first difference of each file.

use super::error::SetError;
use super::hex::parse_hex;
use super::locate::{GoldenDifference, in_dl_flit, in_flit, in_message, in_packet, in_stream};
use super::manifest::{FILE_BYTES, FileEntry, MANIFEST, MANIFEST_BYTES, Manifest, SUMS, sha256};
use super::rsp::{RspCase, parse_rsp};
use super::text::VectorFileForm;
use super::vectors::{VectorContent, VectorSet};
use super::write::{Progress, files_of};
use scalepool_forms::input::{read_file, text_of};
use scalepool_protocols::cxl::cxl68::unit::Cxl68Unit;
use scalepool_protocols::cxl::cxl256::flit::Cxl256Flit;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::path::Path;

/// A file of a set that is not as it should be: its first difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// Path from the top of the set.
    pub file: String,
    /// What differs.
    pub difference: GoldenDifference,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let GoldenDifference { at, found, expected } = &self.difference;
        let comma = if at.is_empty() { "" } else { ", " };
        write!(f, "{}{comma}{at}: found {found}, expected {expected}", self.file)
    }
}

/// What a check looked at and found.
#[derive(Debug, Clone)]
pub struct CheckReport {
    /// The manifest of the set.
    pub manifest: Manifest,
    /// Files that differ, vector files in order of the manifest first; empty for a good set.
    pub mismatches: Vec<Mismatch>,
}

/// Makes the set of a folder again, from the seed and the count of its manifest, and compares every file.
///
/// A set of another model version is compared under that version: what counts is that no vector has changed.
///
/// # Errors
/// The manifest cannot be read or is none of this format; the file system refuses.
pub fn check_set(dir: &Path, progress: Progress) -> Result<CheckReport, SetError> {
    let path = dir.join(MANIFEST);
    let text = read_file(&path, MANIFEST_BYTES).and_then(text_of).map_err(SetError::io("read", &path))?;
    let manifest = Manifest::parse(&text, &path)?;
    let spec = manifest.spec(&path)?;

    let mut mismatches = Vec::new();
    let mut add = |file: &str, difference| mismatches.push(Mismatch { file: file.to_owned(), difference });
    let sources = spec.sources();
    let mut files = Vec::new();
    for (n, source) in sources.iter().enumerate() {
        progress(n, sources.len());
        let set = source.vectors(&spec);
        for form in VectorFileForm::ALL {
            let (path, expected) = (form.path(&set), form.text(&set, &spec));
            if let Some(difference) =
                read(dir, &path)?.difference(&expected, |found| compare(form, &set, found, &expected))
            {
                add(&path, difference);
            }
            let sha256 = sha256(expected.as_bytes());
            files.push(FileEntry { path, seed: spec.seed, count: form.count(&set), sha256 });
        }
    }
    progress(sources.len(), sources.len());

    let expected = Manifest::new(&spec, files);
    let known: BTreeSet<&str> = expected.files.iter().map(|f| f.path.as_str()).chain([MANIFEST, SUMS]).collect();
    for extra in files_of(dir)?.iter().filter(|f| !known.contains(f.as_str())) {
        add(extra, GoldenDifference::new("", "a file", "none: the set has no such file"));
    }
    if let Some(difference) = in_manifest(&manifest, &expected).or_else(|| in_lines(&text, &expected.to_text())) {
        add(MANIFEST, difference);
    }
    let sums = expected.sums();
    if let Some(difference) = read(dir, SUMS)?.difference(&sums, |found| in_lines(found, &sums)) {
        add(SUMS, difference);
    }
    Ok(CheckReport { manifest, mismatches })
}

/// A file of the set, as far as it is there.
enum FileContent {
    Missing,
    NotText(usize),
    Text(String),
}

fn read(dir: &Path, path: &str) -> Result<FileContent, SetError> {
    let path = dir.join(path);
    match read_file(&path, FILE_BYTES) {
        Ok(bytes) => Ok(match String::from_utf8(bytes) {
            Ok(text) => FileContent::Text(text),
            Err(e) => FileContent::NotText(e.utf8_error().valid_up_to()),
        }),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(FileContent::Missing),
        Err(e) => Err(SetError::io("read", &path)(e)),
    }
}

impl FileContent {
    fn difference(
        self,
        expected: &str,
        compare: impl FnOnce(&str) -> Option<GoldenDifference>,
    ) -> Option<GoldenDifference> {
        match self {
            FileContent::Missing => {
                Some(GoldenDifference::new("", "no file", format!("a file of {} bytes", expected.len())))
            }
            FileContent::NotText(at) => {
                Some(GoldenDifference::new(format!("byte {at}"), "a byte that is no text", "text"))
            }
            FileContent::Text(found) if found == expected => None,
            FileContent::Text(found) => compare(&found),
        }
    }
}

/// The first difference of a vector file that is known to differ.
fn compare(form: VectorFileForm, set: &VectorSet, found: &str, expected: &str) -> Option<GoldenDifference> {
    let difference = match form {
        VectorFileForm::Hex => in_hex(set, found, expected),
        VectorFileForm::Rsp => in_rsp(set, found, expected),
        VectorFileForm::Jsonl => in_jsonl(found, expected),
    };
    // Comments, order of keys and spaces are left.
    difference.or_else(|| in_lines(found, expected))
}

fn in_hex(set: &VectorSet, found: &str, expected: &str) -> Option<GoldenDifference> {
    let (found, expected) = match (parse_hex(found), parse_hex(expected)) {
        (Ok(found), Ok(expected)) => (found.vectors, expected.vectors),
        (Err(e), _) | (_, Err(e)) => return Some(malformed(e)),
    };
    for (n, (f, e)) in found.iter().zip(&expected).enumerate() {
        if f.digits != e.digits {
            let outer = format!("line {}, vector {n}", f.line);
            let inner = match &set.content {
                VectorContent::Messages(def, _) => {
                    let number = |digits: &str| u128::from_str_radix(digits, 16).ok();
                    number(&f.digits).zip(number(&e.digits)).map(|(f, e)| in_message(def, f, e))
                }
                VectorContent::Cxl68(dir, _) => {
                    unit_of(&f.digits, true).and_then(|unit| in_stream(*dir, units(set).take(n + 1), &unit))
                }
                VectorContent::Flits256(stream, _) => flit_of(&f.digits, true)
                    .zip(flit_of(&e.digits, true))
                    .and_then(|(f, e)| in_flit(stream.mode, &f, &e)),
                VectorContent::Ualink(..) => in_dl_flit(&bytes_of(&f.digits, true)?, &bytes_of(&e.digits, true)?),
                // Which flit of a packet it is, the .rsp file says.
                VectorContent::Nvlink(..) => None,
            };
            return Some(inner.unwrap_or_else(|| GoldenDifference::new("", &f.digits, &e.digits)).within(&outer));
        }
    }
    lengths("vectors", found.len(), expected.len())
}

fn malformed(e: super::FormatError) -> GoldenDifference {
    GoldenDifference::new(format!("line {}, column {}", e.line, e.column), e.found, e.expected)
}

fn lengths(what: &str, found: usize, expected: usize) -> Option<GoldenDifference> {
    (found != expected).then(|| GoldenDifference::new("", format!("{found} {what}"), expected.to_string()))
}

/// All units of a set of flits, in order.
fn units(set: &VectorSet) -> impl Iterator<Item = &Cxl68Unit> {
    let groups = match &set.content {
        VectorContent::Cxl68(_, groups) => groups.as_slice(),
        VectorContent::Messages(..)
        | VectorContent::Flits256(..)
        | VectorContent::Ualink(..)
        | VectorContent::Nvlink(..) => &[],
    };
    groups.iter().flat_map(|g| &g.cases).flat_map(|c| &c.units)
}

/// A unit of digits, byte 0 first or, when `reversed`, last.
fn unit_of(digits: &str, reversed: bool) -> Option<Cxl68Unit> {
    Cxl68Unit::from_bytes(&bytes_of(digits, reversed)?).ok()
}

/// As [`unit_of`], of 256 bytes.
fn flit_of(digits: &str, reversed: bool) -> Option<Cxl256Flit> {
    Cxl256Flit::from_bytes(&bytes_of(digits, reversed)?).ok()
}

fn bytes_of(digits: &str, reversed: bool) -> Option<Vec<u8>> {
    let mut bytes = scalepool_forms::number::bytes_of(digits, "").ok()?;
    if reversed {
        bytes.reverse();
    }
    Some(bytes)
}

fn in_rsp(set: &VectorSet, found: &str, expected: &str) -> Option<GoldenDifference> {
    let (found, expected) = match (parse_rsp(found), parse_rsp(expected)) {
        (Ok(found), Ok(expected)) => (found.cases, expected.cases),
        (Err(e), _) | (_, Err(e)) => return Some(malformed(e)),
    };
    let mut flits = 0;
    for (n, (f, e)) in found.iter().zip(&expected).enumerate() {
        if let Some(difference) = in_case(set, f, e, flits) {
            return Some(difference.within(&format!("case {n}")));
        }
        flits += e.values.len();
    }
    lengths("cases", found.len(), expected.len())
}

/// The first difference of two cases; `flits` flits stand before the case.
fn in_case(set: &VectorSet, found: &RspCase, expected: &RspCase, flits: usize) -> Option<GoldenDifference> {
    if found.groups != expected.groups {
        let shown = |groups: &[(String, String)]| {
            groups.iter().map(|(key, value)| format!("[{key} = {value}]")).collect::<Vec<_>>().join(" ")
        };
        return Some(GoldenDifference::new(
            format!("line {}", found.line),
            shown(&found.groups),
            shown(&expected.groups),
        ));
    }
    for (n, (f, e)) in found.values.iter().zip(&expected.values).enumerate() {
        let line = format!("line {}", f.line);
        if f.key != e.key {
            return Some(GoldenDifference::new(line, format!("key `{}`", f.key), format!("`{}`", e.key)));
        }
        if f.hex != e.hex {
            let inner = match &set.content {
                VectorContent::Cxl68(dir, _) => unit_of(&f.hex, false)
                    .and_then(|unit| in_stream(*dir, units(set).take(flits + n + 1), &unit))
                    .map(|d| d.within(&format!("flit {n}"))),
                VectorContent::Flits256(stream, _) => flit_of(&f.hex, false)
                    .zip(flit_of(&e.hex, false))
                    .and_then(|(f, e)| in_flit(stream.mode, &f, &e))
                    .map(|d| d.within(&format!("flit {n}"))),
                VectorContent::Ualink(..) => in_dl_flit(&bytes_of(&f.hex, false)?, &bytes_of(&e.hex, false)?)
                    .map(|d| d.within(&format!("flit {n}"))),
                VectorContent::Nvlink(..) => in_packet(&bytes_of(&f.hex, false)?, &bytes_of(&e.hex, false)?)
                    .map(|d| d.within(&format!("packet {n}"))),
                VectorContent::Messages(def, _) if f.key == "Bytes" => {
                    let bits = |hex| def.from_bytes(&scalepool_forms::number::bytes_of(hex, "").ok()?).ok();
                    bits(&f.hex).zip(bits(&e.hex)).map(|(f, e)| in_message(def, f, e).within("Bytes"))
                }
                VectorContent::Messages(..) => None,
            };
            let plain = || GoldenDifference::new(format!("field `{}`", f.key), &f.hex, &e.hex);
            return Some(inner.unwrap_or_else(plain).within(&line));
        }
    }
    let rule = |rule: &Option<String>| rule.as_ref().map_or("valid".to_owned(), |r| format!("invalid by {r}"));
    lengths("lines", found.values.len(), expected.values.len()).or_else(|| {
        (found.rule != expected.rule).then(|| GoldenDifference::new("RESULT", rule(&found.rule), rule(&expected.rule)))
    })
}

fn in_jsonl(found: &str, expected: &str) -> Option<GoldenDifference> {
    for (n, (f, e)) in found.lines().zip(expected.lines()).enumerate() {
        if f != e {
            let parsed = |line| serde_json::from_str::<Value>(line);
            let inner = match (parsed(f), parsed(e)) {
                (Ok(f), Ok(e)) => in_value("", &f, &e),
                (Err(e), _) | (_, Err(e)) => {
                    Some(GoldenDifference::new(format!("column {}", e.column()), "malformed JSON", "an object"))
                }
            };
            return inner.map(|d| d.within(&format!("line {}", n + 1)));
        }
    }
    lengths("lines", found.lines().count(), expected.lines().count())
}

/// The first difference of two JSON values, by its pointer (RFC 6901).
fn in_value(at: &str, found: &Value, expected: &Value) -> Option<GoldenDifference> {
    match (found, expected) {
        (Value::Object(f), Value::Object(e)) => {
            let extra = f.keys().filter(|key| !e.contains_key(*key));
            e.keys().chain(extra).find_map(|key| {
                let at = format!("{at}/{key}");
                match (f.get(key), e.get(key)) {
                    (Some(f), Some(e)) => in_value(&at, f, e),
                    (None, _) => Some(GoldenDifference::new(at, "no key", "one")),
                    (_, None) => Some(GoldenDifference::new(at, "a key", "none")),
                }
            })
        }
        (Value::Array(f), Value::Array(e)) => {
            let pairs = f.iter().zip(e).enumerate();
            let inner = pairs.map(|(n, (f, e))| in_value(&format!("{at}/{n}"), f, e)).find_map(|d| d);
            inner.or_else(|| lengths("items", f.len(), e.len()).map(|d| d.within(at)))
        }
        _ => (found != expected).then(|| GoldenDifference::new(at, found.to_string(), expected.to_string())),
    }
}

fn in_manifest(found: &Manifest, expected: &Manifest) -> Option<GoldenDifference> {
    if found.command != expected.command {
        return Some(GoldenDifference::new("command", &found.command, &expected.command));
    }
    for (f, e) in found.files.iter().zip(&expected.files) {
        if f.path != e.path {
            return Some(GoldenDifference::new("path of a file", &f.path, &e.path));
        }
        let row = |key: &str, found: String, expected: String| {
            (found != expected).then(|| GoldenDifference::new(format!("{key} of {}", e.path), found, expected))
        };
        let rows = row("sha256", f.sha256.clone(), e.sha256.clone())
            .or_else(|| row("count", f.count.to_string(), e.count.to_string()))
            .or_else(|| row("seed", f.seed.to_string(), e.seed.to_string()));
        if rows.is_some() {
            return rows;
        }
    }
    lengths("files", found.files.len(), expected.files.len())
}

/// The first line in which two texts differ.
fn in_lines(found: &str, expected: &str) -> Option<GoldenDifference> {
    let (mut f, mut e) = (found.split('\n'), expected.split('\n'));
    let mut number = 0;
    let shown = |line: Option<&str>| line.map_or("the end of the file".to_owned(), |l| format!("`{l}`"));
    loop {
        number += 1;
        match (f.next(), e.next()) {
            (None, None) => return None,
            (f, e) if f == e => (),
            (f, e) => return Some(GoldenDifference::new(format!("line {number}"), shown(f), shown(e))),
        }
    }
}
