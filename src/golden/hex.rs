//! Reading `.hex` files.

use super::lines::{FormatError, Parsed, Wanted, lines, whole};
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

enum Line<'a> {
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
            Line::Comment(comment) => file.comments.push(comment.trim().to_owned()),
            Line::Digits(digits) => {
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

fn parse_line(line: &str) -> Parsed<'_, Line<'_>> {
    let comment = preceded(tag("//"), rest).map(Line::Comment);
    let digits = parse_digits.map(Line::Digits);
    context("`//` or hex digits", alt((comment, digits))).parse(line)
}

/// Lower-case hex digits, at least one.
pub(super) fn parse_digits(text: &str) -> Parsed<'_, &str> {
    take_while1::<_, _, Wanted>(|c: char| c.is_ascii_digit() || ('a'..='f').contains(&c)).parse(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_comments_and_vectors() {
        let file = parse_hex("// a\n//b\n00ff\n1234\n").unwrap();
        assert_eq!(file.comments, ["a", "b"]);
        let vector = |line, digits: &str| HexVector { line, digits: digits.into() };
        assert_eq!(file.vectors, [vector(3, "00ff"), vector(4, "1234")]);
        assert_eq!(parse_hex("").unwrap(), HexFile::default());
    }

    #[test]
    fn every_malformed_form() {
        let rows = [
            ("0g\n", "line 1, column 2: found `g`, expected the end of the line"),
            ("g0\n", "line 1, column 1: found `g`, expected `//` or hex digits"),
            ("// a\n\n00\n", "line 2, column 1: found the end of the line, expected `//` or hex digits"),
            ("/ a\n", "line 1, column 1: found `/`, expected `//` or hex digits"),
            ("00\n000\n", "line 2, column 3: found 3 digits, expected 2"),
            ("000\n00\n", "line 2, column 3: found 2 digits, expected 3"),
            ("00\n0A\n", "line 2, column 2: found `A`, expected the end of the line"),
            ("00\r\n", "line 1, column 3: found `\\r`, expected the end of the line"),
            (" 00\n", "line 1, column 1: found ` `, expected `//` or hex digits"),
            ("00 01\n", "line 1, column 3: found ` `, expected the end of the line"),
            ("é0\n", "line 1, column 1: found `\\u{e9}`, expected `//` or hex digits"),
            ("// é\n00\n0", "line 3, column 2: found the end of the file, expected a line end"),
        ];
        for (text, error) in rows {
            assert_eq!(parse_hex(text).unwrap_err().to_string(), error, "{text:?}");
        }
    }
}
