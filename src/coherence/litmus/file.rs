//! Reading a case.

use super::{Case, Kind, Word};
use crate::coherence::config::CoherenceConfig;
use serde::Deserialize;
use toml::Spanned;

/// Why a case cannot be explored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LitmusError {
    /// Not TOML, or a field that is missing, unknown or of the wrong type.
    #[error("line {line}: {text}")]
    Toml {
        /// Line of the file, from 1.
        line: usize,
        /// What is wrong.
        text: String,
    },
    /// A value that means nothing.
    #[error("line {line}: found `{found}`, expected {expected}")]
    Value {
        /// Line of the file, from 1.
        line: usize,
        /// The value.
        found: String,
        /// What may stand there.
        expected: String,
    },
    /// The search was given up.
    #[error("found more than {states} states, expected a case that can be explored in full")]
    TooLarge {
        /// States visited.
        states: usize,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    kind: Spanned<String>,
    start: Spanned<String>,
    programs: Spanned<Vec<Vec<Spanned<String>>>>,
    #[serde(default)]
    config: CoherenceConfig,
}

/// The line of a byte offset, from 1.
fn line_of(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|b| *b == b'\n').count() + 1
}

fn refused(line: usize, found: impl ToString, expected: impl ToString) -> LitmusError {
    LitmusError::Value { line, found: found.to_string(), expected: expected.to_string() }
}

/// Reads a case; what is wrong is named with its line.
pub fn parse(text: &str) -> Result<Case, LitmusError> {
    let file: File = toml::from_str(text).map_err(|e| LitmusError::Toml {
        line: line_of(text, e.span().map_or(0, |s| s.start)),
        text: e.message().to_owned(),
    })?;
    let line = |span: std::ops::Range<usize>| line_of(text, span.start);
    let kind_name = file.kind.get_ref();
    let kind = Kind::ALL
        .into_iter()
        .find(|k| k.name() == kind_name)
        .ok_or_else(|| refused(line(file.kind.span()), kind_name, "`cxl-cache`, `hdm-db` or `hdm-d`"))?;
    let start = file.start.get_ref();
    let start_line = line(file.start.span());
    if start.is_empty() || !start.chars().all(|c| "MESI".contains(c)) {
        return Err(refused(start_line, start, "one letter an agent: M, E, S or I"));
    }
    let holders = start.chars().filter(|c| *c != 'I').count();
    if start.contains(['M', 'E']) && holders > 1 {
        return Err(refused(start_line, start, "no other copy beside E or M"));
    }
    let programs = file.programs.get_ref();
    if programs.len() != start.len() {
        let found = format!("{} programs", programs.len());
        return Err(refused(line(file.programs.span()), found, format!("{}, one a letter of `start`", start.len())));
    }
    let words = |program: &Vec<Spanned<String>>| {
        program.iter().map(|w| Word { text: w.get_ref().clone(), line: line(w.span()) }).collect()
    };
    Ok(Case {
        kind,
        start: start.clone(),
        start_line,
        programs: programs.iter().map(words).collect(),
        config: file.config,
    })
}
