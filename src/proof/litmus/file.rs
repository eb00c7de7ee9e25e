//! Reading a case.

use super::{LitmusCase, LitmusKind, LitmusWord};
use scalepool_coherence::config::CoherenceConfig;
use scalepool_coherence::content::LineAddr;
use scalepool_coherence::ids::{AgentPort, IdSet};
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
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LitmusCaseFile {
    kind: Spanned<String>,
    start: Spanned<String>,
    programs: Spanned<Vec<Vec<Spanned<String>>>>,
    #[serde(default)]
    poison: Vec<Spanned<usize>>,
    config: Option<Spanned<CoherenceConfig>>,
}

/// More agents than any kind takes.
const MOST_AGENTS: usize = 64;

/// Most operations of a program: systems count them in eight bits.
const MOST_OPERATIONS: usize = 255;

/// The line of a byte offset, from 1.
fn line_of(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|b| *b == b'\n').count() + 1
}

fn refused(line: usize, found: impl ToString, expected: impl ToString) -> LitmusError {
    LitmusError::Value { line, found: found.to_string(), expected: expected.to_string() }
}

/// Reads a case; what is wrong is named with its line.
pub fn parse(text: &str) -> Result<LitmusCase, LitmusError> {
    let file: LitmusCaseFile = toml::from_str(text).map_err(|e| LitmusError::Toml {
        line: line_of(text, e.span().map_or(0, |s| s.start)),
        text: e.message().to_owned(),
    })?;
    let line = |span: std::ops::Range<usize>| line_of(text, span.start);
    let kind_name = file.kind.get_ref();
    let kind = LitmusKind::ALL
        .into_iter()
        .find(|k| k.name() == kind_name)
        .ok_or_else(|| refused(line(file.kind.span()), kind_name, "`cxl-cache`, `hdm-db` or `hdm-d`"))?;
    let start = file.start.get_ref();
    let start_line = line(file.start.span());
    if start.len() > MOST_AGENTS {
        return Err(refused(start_line, format!("{} letters", start.len()), format!("at most {MOST_AGENTS}")));
    }
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
    if let Some(long) = programs.iter().find(|p| p.len() > MOST_OPERATIONS) {
        let place = line(long[MOST_OPERATIONS].span());
        return Err(refused(
            place,
            format!("{} operations", long.len()),
            format!("at most {MOST_OPERATIONS} a program"),
        ));
    }
    let mut poisoners = IdSet::EMPTY;
    for agent in &file.poison {
        let number = *agent.get_ref();
        if number >= start.len().min(16) {
            let expected = format!("the number of an agent, 0 to {}", start.len().min(16) - 1);
            return Err(refused(line(agent.span()), number, expected));
        }
        poisoners.insert(number as AgentPort);
    }
    let (config, config_line) = match file.config {
        Some(config) => (config.get_ref().clone(), line(config.span())),
        None => (CoherenceConfig::default(), 1),
    };
    config.check().map_err(|e| refused(config_line, e.found, e.expected))?;
    // Nobody can have got a copy of what the device does not have.
    if kind != LitmusKind::CxlCache && holders > 0 && config.mem.is_outside(LineAddr(0)) {
        return Err(refused(start_line, start, "I for every agent: line 0 is in `mem.no_range`"));
    }
    let words = |program: &Vec<Spanned<String>>| {
        program.iter().map(|w| LitmusWord { text: w.get_ref().clone(), line: line(w.span()) }).collect()
    };
    Ok(LitmusCase {
        kind,
        start: start.clone(),
        start_line,
        programs: programs.iter().map(words).collect(),
        poisoners,
        config,
        config_line,
    })
}
