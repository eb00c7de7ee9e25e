//! The first difference of two traces of [`super::jsonl`].
//!
//! The first trace is what is expected, the second one what is found. A line is an object; fields are compared by name, so
//! that the order of keys means nothing, and nested ones by dotted path (`fields.tag`). Policies:
//!
//! * in order: line n of one against line n of the other;
//! * by key: lines with the same values of the key fields are one sequence each, compared in order, wherever the
//!   lines stand. For traces whose interleaving may differ;
//! * with either, masked fields are left out: a mask `t_fs` takes that field, a mask `fields` takes all below it.
//! * with either, records of some kinds alone can be compared, as those of a wave, which has flits and violations.
//!
//! The first lines must be headers of this format version; differing seed, scenario hash or model version is a
//! difference like any other, and can be masked. Detail: all fields that differ in the first line that differs, and the
//! lines before it. By key, the second trace is read in order, so "first" is the first of its lines that does not fit;
//! lines that it lacks come last. In order, memory does not grow with the traces; by key, the first one is kept.

use scalepool_forms::shortened;
use scalepool_ordered::OrderedMap;
use std::collections::VecDeque;
use std::fmt;
use std::io::{self, BufRead, Read};

use serde_json::{Map, Value, json};

use super::RecordKind;
use super::jsonl::{FORMAT, FORMAT_VERSION};

/// Longest line; those of a trace have some kilobytes.
const MAX_LINE_BYTES: u64 = 1 << 20;

/// Most bytes of the first trace that are kept, by key.
const MAX_KEPT_BYTES: usize = 1 << 27;

/// Lines shown before a difference.
const CONTEXT_LINES: usize = 3;

/// Which lines are compared with which.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Policy {
    /// By position.
    InOrder,
    /// By the values of these fields (dotted paths).
    ByKey(Vec<String>),
}

/// One of the two traces.
#[derive(Debug)]
pub struct DiffInput<R> {
    /// Its name in messages.
    pub name: String,
    /// Its text.
    pub reader: R,
}

/// What makes a comparison impossible.
#[derive(Debug, thiserror::Error)]
pub enum DiffError {
    /// A file cannot be read.
    #[error("{file}: cannot be read: {error}")]
    Unreadable {
        /// The file.
        file: String,
        /// What the system said.
        error: io::Error,
    },
    /// A line is not a JSON object.
    #[error("{file}:{line}:{column}: found {found}, expected a JSON object")]
    Malformed {
        /// The file.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Column, from 1; 0 before the first character.
        column: usize,
        /// What is wrong there.
        found: String,
    },
    /// The first line is no header of a trace.
    #[error("{file}:1: found {found}, expected a header with \"format\":\"{FORMAT}\"")]
    NoHeader {
        /// The file.
        file: String,
        /// What stands there.
        found: String,
    },
    /// The format has another version.
    #[error("{file}:1: found format_version {found}, expected {FORMAT_VERSION}")]
    Version {
        /// The file.
        file: String,
        /// Its version.
        found: String,
    },
    /// By key: the first trace is too long to be kept.
    #[error(
        "{file}:{line}: found more than {most} bytes, expected at most that with --policy by-key; compare by --kind or in order"
    )]
    TooLong {
        /// The file.
        file: String,
        /// Line, from 1.
        line: usize,
        /// The limit.
        most: usize,
    },
    /// A key field that no line has.
    #[error("key: found `{field}`, expected a field that a line of the traces has")]
    UnknownKey {
        /// The field.
        field: String,
    },
}

/// A line of a trace, as it stands there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceLine {
    /// Number, from 1.
    pub number: usize,
    /// Text without line end.
    pub text: String,
}

/// A field that differs; `None` where a line does not have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldDifference {
    /// Dotted path.
    pub field: String,
    /// Value in the first trace.
    pub expected: Option<Value>,
    /// Value in the second trace.
    pub found: Option<Value>,
}

/// The first difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceDifference {
    /// Names of the two traces.
    pub names: [String; 2],
    /// The line of the first trace; `None`: the second one has a line too many.
    pub expected: Option<TraceLine>,
    /// The line of the second trace; `None`: it lacks a line.
    pub found: Option<TraceLine>,
    /// What differs, if there are two lines.
    pub fields: Vec<FieldDifference>,
    /// Key of the lines; empty in order.
    pub key: Vec<(String, Value)>,
    /// Up to three lines of the first trace before it, under the same key.
    pub context: Vec<TraceLine>,
}

/// Compares two traces; `None` when they are equal.
///
/// # Errors
/// See [`DiffError`]. What stands behind the first difference is not read.
pub fn diff<A: BufRead, B: BufRead>(
    expected: DiffInput<A>,
    found: DiffInput<B>,
    policy: &Policy,
    mask: &[String],
) -> Result<Option<TraceDifference>, DiffError> {
    diff_of_kinds(expected, found, policy, mask, &[])
}

/// As [`diff`], of records of these kinds alone; of all when there are none.
///
/// # Errors
/// See [`DiffError`].
pub fn diff_of_kinds<A: BufRead, B: BufRead>(
    expected: DiffInput<A>,
    found: DiffInput<B>,
    policy: &Policy,
    mask: &[String],
    kinds: &[RecordKind],
) -> Result<Option<TraceDifference>, DiffError> {
    let names = [expected.name.clone(), found.name.clone()];
    let (mut expected, mut found) = (Lines::new(expected, kinds), Lines::new(found, kinds));
    let headers = [expected.header()?, found.header()?];
    let difference = match between(headers, mask) {
        Some(difference) => Some(difference),
        None => match policy {
            Policy::InOrder => in_order(&mut expected, &mut found, mask)?,
            Policy::ByKey(key) => by_key(&mut expected, &mut found, key, mask)?,
        },
    };
    Ok(difference.map(|d| TraceDifference { names, ..d }))
}

fn in_order<A: BufRead, B: BufRead>(
    expected: &mut Lines<'_, A>,
    found: &mut Lines<'_, B>,
    mask: &[String],
) -> Result<Option<TraceDifference>, DiffError> {
    let mut context = VecDeque::new();
    loop {
        let lines = [expected.next()?, found.next()?];
        let difference = match lines {
            [None, None] => return Ok(None),
            [Some(a), Some(b)] => {
                let line = a.0.clone();
                let difference = between([a, b], mask);
                if difference.is_none() {
                    if context.len() == CONTEXT_LINES {
                        context.pop_front();
                    }
                    context.push_back(line);
                }
                difference
            }
            [a, b] => Some(lonely(a.map(|a| a.0), b.map(|b| b.0))),
        };
        if let Some(difference) = difference {
            return Ok(Some(TraceDifference { context: context.into(), ..difference }));
        }
    }
}

/// Lines of one key in the first trace, and how many of them have been found.
#[derive(Default)]
struct KeyLines {
    lines: Vec<TraceLine>,
    used: usize,
}

impl KeyLines {
    fn context(&self) -> Vec<TraceLine> {
        self.lines[self.used.saturating_sub(CONTEXT_LINES)..self.used].to_vec()
    }
}

fn by_key<A: BufRead, B: BufRead>(
    expected: &mut Lines<'_, A>,
    found: &mut Lines<'_, B>,
    key: &[String],
    mask: &[String],
) -> Result<Option<TraceDifference>, DiffError> {
    let mut sequences: OrderedMap<String, KeyLines> = OrderedMap::new();
    let mut keys = KeyFields { fields: key, seen: vec![false; key.len()], lines: 0 };
    let mut kept = 0;
    while let Some((line, object)) = expected.next()? {
        kept += line.text.len();
        if kept > MAX_KEPT_BYTES {
            let file = expected.input.name.clone();
            return Err(DiffError::TooLong { file, line: line.number, most: MAX_KEPT_BYTES });
        }
        sequences.entry(keys.of(&object)).or_default().lines.push(line);
    }
    while let Some(b) = found.next()? {
        let id = keys.of(&b.1);
        let sequence = sequences.entry(id.clone()).or_default();
        let difference = match sequence.lines.get(sequence.used) {
            Some(line) => between([(line.clone(), expected.parse(line)?), b], mask),
            None => Some(lonely(None, Some(b.0))),
        };
        if let Some(difference) = difference {
            keys.check()?;
            return Ok(Some(TraceDifference { context: sequence.context(), key: keys.values(&id), ..difference }));
        }
        sequence.used += 1;
    }
    keys.check()?;
    let missing = sequences.iter().filter(|(_, s)| s.used < s.lines.len());
    Ok(missing.min_by_key(|(_, s)| s.lines[s.used].number).map(|(id, s)| TraceDifference {
        context: s.context(),
        key: keys.values(id),
        ..lonely(Some(s.lines[s.used].clone()), None)
    }))
}

/// The key fields, and whether any line had them.
struct KeyFields<'a> {
    fields: &'a [String],
    seen: Vec<bool>,
    lines: usize,
}

impl KeyFields<'_> {
    /// The key of a line as JSON text; a field that it does not have is `null`.
    fn of(&mut self, object: &Value) -> String {
        self.lines += 1;
        let value = |(field, seen): (&String, &mut bool)| {
            let value = field.split('.').try_fold(object, |at, name| at.get(name));
            *seen |= value.is_some();
            value.cloned().unwrap_or(Value::Null)
        };
        Value::Array(self.fields.iter().zip(&mut self.seen).map(value).collect()).to_string()
    }

    /// Names and values of a key made by `of`.
    fn values(&self, id: &str) -> Vec<(String, Value)> {
        let values: Vec<Value> = serde_json::from_str(id).unwrap_or_default();
        self.fields.iter().cloned().zip(values).collect()
    }

    fn check(&self) -> Result<(), DiffError> {
        match self.seen.iter().position(|seen| !seen) {
            Some(n) if self.lines > 0 => Err(DiffError::UnknownKey { field: self.fields[n].clone() }),
            _ => Ok(()),
        }
    }
}

/// A line that stands in one trace only.
fn lonely(expected: Option<TraceLine>, found: Option<TraceLine>) -> TraceDifference {
    TraceDifference { names: Default::default(), expected, found, fields: vec![], key: vec![], context: vec![] }
}

/// The difference of two lines.
fn between([a, b]: [(TraceLine, Value); 2], mask: &[String]) -> Option<TraceDifference> {
    let mut fields = Vec::new();
    compare("", Some(&a.1), Some(&b.1), mask, &mut fields);
    (!fields.is_empty()).then(|| TraceDifference { fields, ..lonely(Some(a.0), Some(b.0)) })
}

/// Collects the fields that differ, in order of the first trace, then those that only the second one has.
fn compare(path: &str, a: Option<&Value>, b: Option<&Value>, mask: &[String], out: &mut Vec<FieldDifference>) {
    if a == b || mask.iter().any(|m| m == path) {
        return;
    }
    let none = Map::new();
    let (in_a, in_b) = match (a, b) {
        (Some(Value::Object(a)), Some(Value::Object(b))) => (a, b),
        // An object that one side lacks is taken apart, so that a mask of a field in it counts.
        (Some(Value::Object(a)), None) if !a.is_empty() => (a, &none),
        (None, Some(Value::Object(b))) if !b.is_empty() => (&none, b),
        _ => {
            out.push(FieldDifference { field: path.to_owned(), expected: a.cloned(), found: b.cloned() });
            return;
        }
    };
    for name in in_a.keys().chain(in_b.keys().filter(|name| !in_a.contains_key(*name))) {
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        compare(&path, in_a.get(name), in_b.get(name), mask, out);
    }
}

/// Reads a trace line by line.
pub(super) struct Lines<'a, R> {
    input: DiffInput<R>,
    number: usize,
    /// Kinds of records that count; none means all.
    kinds: &'a [RecordKind],
}

impl<R: BufRead> Lines<'_, R> {
    /// A trace that has not been read; `kinds` are those of the records that count, none means all.
    pub(super) fn new(input: DiffInput<R>, kinds: &[RecordKind]) -> Lines<'_, R> {
        Lines { input, number: 0, kinds }
    }

    /// The next record that counts.
    pub(super) fn next(&mut self) -> Result<Option<(TraceLine, Value)>, DiffError> {
        loop {
            match self.any()? {
                Some((_, value)) if !self.counts(&value) => (),
                line => return Ok(line),
            }
        }
    }

    fn counts(&self, record: &Value) -> bool {
        self.kinds.is_empty() || self.kinds.iter().any(|kind| record["kind"] == kind.name())
    }

    fn any(&mut self) -> Result<Option<(TraceLine, Value)>, DiffError> {
        let mut bytes = Vec::new();
        let n = self.input.reader.by_ref().take(MAX_LINE_BYTES + 1).read_until(b'\n', &mut bytes);
        let n = n.map_err(|error| DiffError::Unreadable { file: self.input.name.clone(), error })?;
        if n == 0 {
            return Ok(None);
        }
        self.number += 1;
        if n as u64 > MAX_LINE_BYTES {
            return Err(self.malformed(self.number, n, format!("more than {MAX_LINE_BYTES} bytes in a line")));
        }
        while matches!(bytes.last(), Some(b'\n' | b'\r')) {
            bytes.pop();
        }
        let text = String::from_utf8(bytes).map_err(|e| {
            let column = e.utf8_error().valid_up_to() + 1;
            self.malformed(self.number, column, "a byte that is not UTF-8".into())
        })?;
        let line = TraceLine { number: self.number, text };
        let value = self.parse(&line)?;
        Ok(Some((line, value)))
    }

    fn parse(&self, line: &TraceLine) -> Result<Value, DiffError> {
        match scalepool_forms::json::read(&line.text) {
            Ok(value @ Value::Object(_)) => Ok(value),
            Ok(other) => Err(self.malformed(line.number, 1, format!("`{other}`"))),
            Err(e) => {
                // The place stands in the message already, and there with a line number of its own.
                let text = e.to_string();
                let why = text.rsplit_once(" at line ").map_or(text.as_str(), |(what, _)| what);
                let found = format!("`{}` ({why})", shortened(&line.text));
                Err(self.malformed(line.number, e.column(), found))
            }
        }
    }

    fn malformed(&self, line: usize, column: usize, found: String) -> DiffError {
        DiffError::Malformed { file: self.input.name.clone(), line, column, found }
    }

    /// The first line.
    pub(super) fn header(&mut self) -> Result<(TraceLine, Value), DiffError> {
        let file = self.input.name.clone();
        let Some((line, header)) = self.any()? else {
            return Err(DiffError::NoHeader { file, found: "an empty file".into() });
        };
        if header.get("format").and_then(Value::as_str) != Some(FORMAT) {
            let found = header.get("format").map_or("an object without `format`".into(), |f| format!("format {f}"));
            return Err(DiffError::NoHeader { file, found });
        }
        match header.get("format_version") {
            Some(version) if version.as_u64() == Some(FORMAT_VERSION) => Ok((line, header)),
            other => {
                let found = other.map_or("nothing".into(), Value::to_string);
                Err(DiffError::Version { file, found })
            }
        }
    }
}

impl TraceDifference {
    /// Whether the headers differ.
    pub fn is_header(&self) -> bool {
        [&self.expected, &self.found].into_iter().flatten().all(|line| line.number == 1)
    }

    /// One object with `equal`, `what` (`header`, `record`, `missing`, `extra`), `files`, `key`, `fields`, the two lines and the
    /// context.
    pub fn to_json(&self) -> Value {
        let line = |l: &TraceLine| json!({ "line": l.number, "text": l.text });
        let key: Map<String, Value> = self.key.iter().cloned().collect();
        let field = |f: &FieldDifference| {
            let mut object = Map::from_iter([("field".to_owned(), json!(f.field))]);
            object.extend(f.expected.iter().map(|v| ("expected".to_owned(), v.clone())));
            object.extend(f.found.iter().map(|v| ("found".to_owned(), v.clone())));
            Value::Object(object)
        };
        json!({
            "equal": false,
            "what": self.what(),
            "files": self.names,
            "key": key,
            "fields": self.fields.iter().map(field).collect::<Vec<_>>(),
            "expected": self.expected.as_ref().map(line),
            "found": self.found.as_ref().map(line),
            "context": self.context.iter().map(line).collect::<Vec<_>>(),
        })
    }

    fn what(&self) -> &'static str {
        match (&self.expected, &self.found) {
            (Some(_), Some(_)) if self.is_header() => "header",
            (Some(_), None) => "missing",
            (None, Some(_)) => "extra",
            _ => "record",
        }
    }
}

impl fmt::Display for TraceDifference {
    /// For people: what differs, the fields, and the lines as in a unified diff.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b] = &self.names;
        let place = |name: &str, line: &Option<TraceLine>| match line {
            Some(line) => format!("{name}:{}", line.number),
            None => format!("{name}: no such line"),
        };
        let what = match self.what() {
            "header" => "the headers differ",
            "missing" => "a record is missing",
            "extra" => "there is an extra record",
            _ => "a record differs",
        };
        writeln!(f, "{what}")?;
        for (name, value) in &self.key {
            writeln!(f, "  key {name} = {value}")?;
        }
        writeln!(f, "  expected {}", place(a, &self.expected))?;
        writeln!(f, "  found    {}", place(b, &self.found))?;
        let text = |v: &Option<Value>| v.as_ref().map_or("nothing".to_owned(), Value::to_string);
        for d in &self.fields {
            writeln!(f, "  field {}: found {}, expected {}", d.field, text(&d.found), text(&d.expected))?;
        }
        let lines = self.context.iter().map(|l| (' ', l));
        let lines = lines.chain(self.expected.iter().map(|l| ('-', l))).chain(self.found.iter().map(|l| ('+', l)));
        for (mark, line) in lines {
            writeln!(f, "{mark}{:>6} {}", line.number, line.text)?;
        }
        Ok(())
    }
}
