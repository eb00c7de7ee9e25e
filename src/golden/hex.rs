//! Reading `.hex` files.

use super::lines::{ExpectedText, FormatError, Parsed, lines, whole};
use nom::Parser;
use nom::branch::alt;
use nom::bytes::complete::{tag, take_while1};
use nom::combinator::rest;
use nom::error::context;
use nom::sequence::preceded;

/// A `.hex` file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HexFile {
    /// Text behind the `//` of each comment line.
    pub comments: Vec<String>,
    /// The vectors in order.
    pub vectors: Vec<HexVector>,
}

/// One line of digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HexVector {
    /// Line, from 1.
    pub line: usize,
    /// Digits, most significant first.
    pub digits: String,
}

enum HexLine<'a> {
    Comment(&'a str),
    Digits(&'a str),
}

/// Reads a file: `//` lines, and lines of hex digits that all have the same length.
///
/// # Errors
/// The first line that is neither, or that has another number of digits than the first vector.
pub fn parse_hex(text: &str) -> Result<HexFile, FormatError> {
    let mut file = HexFile::default();
    for line in lines(text) {
        let (number, line) = line?;
        match whole(number, line, parse_line)? {
            HexLine::Comment(comment) => file.comments.push(comment.trim().to_owned()),
            HexLine::Digits(digits) => {
                if let Some(first) = file.vectors.first()
                    && first.digits.len() != digits.len()
                {
                    let (found, expected) = (format!("{} digits", digits.len()), format!("{}", first.digits.len()));
                    let column = digits.len().min(first.digits.len()) + 1;
                    return Err(FormatError::new(number, column, found, expected));
                }
                file.vectors.push(HexVector { line: number, digits: digits.to_owned() });
            }
        }
    }
    Ok(file)
}

fn parse_line(line: &str) -> Parsed<'_, HexLine<'_>> {
    let comment = preceded(tag("//"), rest).map(HexLine::Comment);
    let digits = parse_digits.map(HexLine::Digits);
    context("`//` or hex digits", alt((comment, digits))).parse(line)
}

/// Lower-case hex digits, at least one.
pub(super) fn parse_digits(text: &str) -> Parsed<'_, &str> {
    take_while1::<_, _, ExpectedText>(|c: char| c.is_ascii_digit() || ('a'..='f').contains(&c)).parse(text)
}
