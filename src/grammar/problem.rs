//! What is wrong with a description: all findings of a file, each with its place.

use std::fmt::{self, Display};

/// Where something stands in a description.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct TextPlace {
    /// The file: 0 is the description itself, others are files of parts.
    pub file: u16,
    /// Line, from 1; 0: not in the file, but in a setting of the command line.
    pub line: usize,
    /// Character of the line, from 1.
    pub column: usize,
}

impl TextPlace {
    /// The beginning of a file.
    pub fn start(file: u16) -> TextPlace {
        TextPlace { file, line: 1, column: 1 }
    }
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where.
    pub place: TextPlace,
    /// Path of the key, `component.host.outstanding`; empty for the file as a whole.
    pub key: String,
    /// What was found and what was expected.
    pub text: String,
}

/// All findings of a description.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Problems {
    /// The files, as they were given: the description, then those of parts.
    pub files: Vec<String>,
    /// In order of their places.
    pub list: Vec<Problem>,
}

impl Problems {
    /// No finding yet.
    pub fn of(file: &str) -> Problems {
        Problems { files: vec![file.to_owned()], list: Vec::new() }
    }

    /// The file of a place.
    fn file(&self, place: TextPlace) -> &str {
        self.files.get(usize::from(place.file)).map_or("", String::as_str)
    }

    /// Adds a finding.
    pub fn add(&mut self, place: TextPlace, key: impl Into<String>, text: impl Into<String>) {
        self.list.push(Problem { place, key: key.into(), text: text.into() });
    }

    /// Whether nothing is wrong.
    ///
    /// # Errors
    /// The findings, in order of their places, each once.
    pub fn none<T>(self, value: T) -> Result<T, Problems> {
        if self.list.is_empty() { Ok(value) } else { Err(self.sorted()) }
    }

    /// The findings in order of their places, each once.
    pub fn sorted(mut self) -> Problems {
        self.list.sort_by(|a, b| (a.place, &a.key).cmp(&(b.place, &b.key)));
        self.list.dedup();
        self
    }

    /// A finding as a line: file, line, column, key, text.
    fn line(&self, problem: &Problem) -> String {
        let Problem { place, key, text } = problem;
        let key = if key.is_empty() { String::new() } else { format!("{key}: ") };
        match place.line {
            0 => format!("{} {key}{text}", self.at(*place)),
            _ => format!("{}: {key}{text}", self.at(*place)),
        }
    }

    /// A place in words: file, line, column.
    pub fn at(&self, place: TextPlace) -> String {
        match place.line {
            0 => "--set".to_owned(),
            line => format!("{}:{line}:{}", self.file(place), place.column),
        }
    }

    /// The findings as lines.
    pub fn lines(&self) -> Vec<String> {
        self.list.iter().map(|p| self.line(p)).collect()
    }

    /// The findings as objects.
    pub fn json(&self) -> serde_json::Value {
        let object = |p: &Problem| {
            serde_json::json!({
                "file": self.file(p.place), "line": p.place.line, "column": p.place.column, "key": p.key, "text": p.text,
            })
        };
        self.list.iter().map(object).collect()
    }
}

impl Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.lines().join("\n"))
    }
}

impl std::error::Error for Problems {}
