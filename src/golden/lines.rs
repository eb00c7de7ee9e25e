//! What the text readers share: a file line by line, and where it is malformed.

use nom::error::{ContextError, ErrorKind, ParseError};
use nom::{IResult, Parser};

/// A malformed vector file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: found {found}, expected {expected}")]
pub struct FormatError {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What stands there.
    pub found: String,
    /// What should.
    pub expected: String,
}

impl FormatError {
    pub(super) fn new(
        line: usize,
        column: usize,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> FormatError {
        FormatError { line, column, found: found.into(), expected: expected.into() }
    }
}

/// Where a parser of one line stopped, and what it wanted there.
#[derive(Debug)]
pub(super) struct ExpectedText<'a> {
    rest: &'a str,
    what: &'static str,
}

/// Result of a parser of one line.
pub(super) type Parsed<'a, T> = IResult<&'a str, T, ExpectedText<'a>>;

impl<'a> ParseError<&'a str> for ExpectedText<'a> {
    fn from_error_kind(rest: &'a str, _: ErrorKind) -> Self {
        ExpectedText { rest, what: "" }
    }

    fn append(_: &'a str, _: ErrorKind, inner: Self) -> Self {
        inner
    }

    /// Of two alternatives the one that came further knows better.
    fn or(self, other: Self) -> Self {
        if self.rest.len() < other.rest.len() { self } else { other }
    }
}

impl<'a> ContextError<&'a str> for ExpectedText<'a> {
    /// The innermost name stays.
    fn add_context(_: &'a str, what: &'static str, inner: Self) -> Self {
        if inner.what.is_empty() { ExpectedText { what, ..inner } } else { inner }
    }
}

/// The lines of a file with their number from 1; each must end with a line feed.
pub(super) fn lines(text: &str) -> impl Iterator<Item = Result<(usize, &str), FormatError>> {
    text.split_inclusive('\n').enumerate().map(|(n, line)| match line.strip_suffix('\n') {
        Some(line) => Ok((n + 1, line)),
        None => Err(FormatError::new(n + 1, line.chars().count() + 1, "the end of the file", "a line end")),
    })
}

/// Runs a parser over a whole line.
pub(super) fn whole<'a, T>(
    number: usize,
    line: &'a str,
    mut parser: impl Parser<&'a str, Output = T, Error = ExpectedText<'a>>,
) -> Result<T, FormatError> {
    let wanted = match parser.parse(line) {
        Ok(("", value)) => return Ok(value),
        Ok((rest, _)) => ExpectedText { rest, what: "the end of the line" },
        Err(nom::Err::Error(wanted) | nom::Err::Failure(wanted)) => wanted,
        // Complete parsers never ask for more.
        Err(nom::Err::Incomplete(_)) => ExpectedText { rest: "", what: "more characters" },
    };
    let column = line[..line.len() - wanted.rest.len()].chars().count() + 1;
    let found = match wanted.rest.chars().next() {
        Some(c) => format!("`{}`", c.escape_default()),
        None => "the end of the line".to_owned(),
    };
    Err(FormatError::new(number, column, found, wanted.what))
}
