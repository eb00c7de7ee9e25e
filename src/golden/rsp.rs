//! Reading `.rsp` files.

use super::hex::parse_digits;
use super::lines::{FormatError, Parsed, lines, whole};
use nom::Parser;
use nom::branch::alt;
use nom::bytes::complete::{tag, take_while, take_while1};
use nom::character::complete::{satisfy, u64};
use nom::combinator::{cut, eof, recognize, rest, value};
use nom::error::context;
use nom::sequence::{delimited, preceded, separated_pair, terminated};

/// A `.rsp` file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RspFile {
    /// Text behind the `#` of each comment line.
    pub comments: Vec<String>,
    /// The cases; `Count` is the index.
    pub cases: Vec<RspCase>,
}

/// One case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RspCase {
    /// Line of its `Count`, from 1.
    pub line: usize,
    /// `[Key = value]` pairs that hold for it, in order of their first line.
    pub groups: Vec<(String, String)>,
    /// `Key = hex` lines in order.
    pub values: Vec<RspValue>,
    /// Rule that it breaks; `None` for a valid case.
    pub rule: Option<String>,
}

/// One `Key = hex` line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RspValue {
    /// Line, from 1.
    pub line: usize,
    /// Field name, `Bytes` or `Flit`.
    pub key: String,
    /// Lower-case digits.
    pub hex: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RspLine<'a> {
    Blank,
    Comment(&'a str),
    Group(&'a str, &'a str),
    Count(u64),
    Value(&'a str, &'a str),
    Valid,
    Invalid,
    Rule(&'a str),
}

/// What may come next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ExpectedLine {
    /// Between cases.
    Count,
    /// Behind `Count`: a first value.
    Value,
    /// Behind a value: another one, or the result.
    ValueOrResult,
    /// Behind `RESULT = invalid`.
    Rule,
    /// Behind the last line of a case.
    End,
}

/// Reads a file.
///
/// # Errors
/// The first line that is malformed or stands where another kind of line is due; a file that ends inside a case.
pub fn parse_rsp(text: &str) -> Result<RspFile, FormatError> {
    let mut file = RspFile::default();
    let mut groups: Vec<(String, String)> = Vec::new();
    let mut open: Option<RspCase> = None;
    let mut next = ExpectedLine::Count;
    let mut last = 0;
    for line in lines(text) {
        let (number, line) = line?;
        last = number;
        let parsed = whole(number, line, parse_line)?;
        next = match (next, parsed, open.as_mut()) {
            (ExpectedLine::Count | ExpectedLine::End, RspLine::Blank, _) => {
                file.cases.extend(open.take());
                ExpectedLine::Count
            }
            (ExpectedLine::Count, RspLine::Comment(comment), _) => {
                file.comments.push(comment.trim().to_owned());
                ExpectedLine::Count
            }
            (ExpectedLine::Count, RspLine::Group(key, value), _) => {
                match groups.iter_mut().find(|g| g.0 == key) {
                    Some(group) => value.clone_into(&mut group.1),
                    None => groups.push((key.to_owned(), value.to_owned())),
                }
                ExpectedLine::Count
            }
            (ExpectedLine::Count, RspLine::Count(n), _) if n == file.cases.len() as u64 => {
                open = Some(RspCase { line: number, groups: groups.clone(), values: Vec::new(), rule: None });
                ExpectedLine::Value
            }
            (ExpectedLine::Value | ExpectedLine::ValueOrResult, RspLine::Value(key, hex), Some(case)) => {
                case.values.push(RspValue { line: number, key: key.to_owned(), hex: hex.to_owned() });
                ExpectedLine::ValueOrResult
            }
            (ExpectedLine::ValueOrResult, RspLine::Valid, _) => ExpectedLine::End,
            (ExpectedLine::ValueOrResult, RspLine::Invalid, _) => ExpectedLine::Rule,
            (ExpectedLine::Rule, RspLine::Rule(rule), Some(case)) => {
                case.rule = Some(rule.to_owned());
                ExpectedLine::End
            }
            _ => {
                let found = if line.is_empty() { "a blank line".to_owned() } else { format!("`{line}`") };
                return Err(FormatError::new(number, 1, found, expected(next, file.cases.len())));
            }
        };
    }
    if !matches!(next, ExpectedLine::Count | ExpectedLine::End) {
        return Err(FormatError::new(last + 1, 1, "the end of the file", expected(next, file.cases.len())));
    }
    file.cases.extend(open.take());
    Ok(file)
}

fn expected(next: ExpectedLine, cases: usize) -> String {
    match next {
        ExpectedLine::Count => format!("`Count = {cases}`"),
        ExpectedLine::Value => "`Key = hex`".into(),
        ExpectedLine::ValueOrResult => "`Key = hex` or `RESULT = valid|invalid`".into(),
        ExpectedLine::Rule => "`RULE = id`".into(),
        ExpectedLine::End => "a blank line".into(),
    }
}

fn parse_line(line: &str) -> Parsed<'_, RspLine<'_>> {
    let blank = value(RspLine::Blank, eof);
    let comment = preceded(tag("#"), rest).map(RspLine::Comment);
    context("`#`, `[` or a key", alt((blank, comment, parse_group, parse_entry))).parse(line)
}

/// `[Key = value]`
fn parse_group(line: &str) -> Parsed<'_, RspLine<'_>> {
    let value = context("a value", take_while1(|c| c != ']' && c != '['));
    let pair = separated_pair(context("a key", parse_key), equals, value);
    let end = context("`]`", tag("]"));
    delimited(tag("["), cut(pair), cut(end)).map(|(key, value)| RspLine::Group(key, value)).parse(line)
}

/// `Key = value`; what the value is depends on the key.
fn parse_entry(line: &str) -> Parsed<'_, RspLine<'_>> {
    let (rest, key) = terminated(parse_key, cut(equals)).parse(line)?;
    match key {
        "Count" => cut(context("a decimal number", u64.map(RspLine::Count))).parse(rest),
        "RESULT" => {
            let result = alt((value(RspLine::Invalid, tag("invalid")), value(RspLine::Valid, tag("valid"))));
            cut(context("`valid` or `invalid`", result)).parse(rest)
        }
        "RULE" => {
            let id = take_while1(|c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '-');
            cut(context("a rule id", id.map(RspLine::Rule))).parse(rest)
        }
        _ => cut(context("lower-case hex digits", parse_digits.map(|hex| RspLine::Value(key, hex)))).parse(rest),
    }
}

fn parse_key(text: &str) -> Parsed<'_, &str> {
    let first = satisfy(|c| c.is_ascii_alphabetic());
    recognize((first, take_while(|c: char| c.is_ascii_alphanumeric() || c == '_'))).parse(text)
}

fn equals(text: &str) -> Parsed<'_, &str> {
    context("` = `", tag(" = ")).parse(text)
}
