//! What the line parsers of all trace formats share.
//!
//! A parser names what it expects with nom's `context`; a [`ParseFailure`] keeps the place and the innermost such name, from
//! which `source` makes line, column, found and expected.

use nom::character::complete::{char, digit1, hex_digit1};
use nom::combinator::{eof, map_opt};
use nom::error::{ContextError, ErrorKind, ParseError, context};
use nom::{IResult, Parser};

use super::{MAX_ACCESS_BYTES, StimulusAccess};

/// Where a line stopped making sense.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ParseFailure<'a> {
    /// The rest of the line, from the place on.
    pub at: &'a str,
    /// What could have stood there.
    pub expected: &'static str,
}

impl<'a> ParseError<&'a str> for ParseFailure<'a> {
    fn from_error_kind(at: &'a str, _: ErrorKind) -> Self {
        ParseFailure { at, expected: "" }
    }

    fn append(_: &'a str, _: ErrorKind, inner: Self) -> Self {
        inner
    }
}

impl<'a> ContextError<&'a str> for ParseFailure<'a> {
    fn add_context(at: &'a str, expected: &'static str, inner: Self) -> Self {
        if inner.expected.is_empty() { ParseFailure { at, expected } } else { inner }
    }
}

/// The result of parsing a piece of a line.
pub(super) type ParseResult<'a, T> = IResult<&'a str, T, ParseFailure<'a>>;

/// Keeps the fault of a parser that was given a whole line.
pub(super) fn whole_line<T>(parsed: ParseResult<'_, T>) -> Result<T, ParseFailure<'_>> {
    match parsed {
        Ok((_, value)) => Ok(value),
        Err(nom::Err::Error(fault) | nom::Err::Failure(fault)) => Err(fault),
        // Only the streaming parsers of nom ask for more input, and none is used.
        Err(nom::Err::Incomplete(_)) => Err(ParseFailure { at: "", expected: "more text" }),
    }
}

/// Refuses an access whose last byte would lie past the end of the address space; `at` is where its address stands.
pub(super) fn check_end(at: &str, access: StimulusAccess) -> Result<StimulusAccess, nom::Err<ParseFailure<'_>>> {
    match access.address.checked_add(u64::from(access.size_bytes) - 1) {
        Some(_) => Ok(access),
        None => Err(nom::Err::Failure(ParseFailure { at, expected: "an access that ends below 2^64" })),
    }
}

/// An address as lackey prints it.
pub(super) fn parse_hex_address(input: &str) -> ParseResult<'_, u64> {
    context("a hexadecimal address below 2^64", parse_hex).parse(input)
}

/// Hexadecimal digits without `0x`.
pub(super) fn parse_hex(input: &str) -> ParseResult<'_, u64> {
    map_opt(hex_digit1, |digits| u64::from_str_radix(digits, 16).ok()).parse(input)
}

/// Decimal digits.
pub(super) fn parse_decimal(input: &str) -> ParseResult<'_, u64> {
    map_opt(digit1, |digits: &str| digits.parse().ok()).parse(input)
}

/// The size of an access in bytes.
pub(super) fn parse_size(input: &str) -> ParseResult<'_, u32> {
    let in_range = |size: u64| u32::try_from(size).ok().filter(|size| (1..=MAX_ACCESS_BYTES).contains(size));
    // The number is that of MAX_ACCESS_BYTES; a test compares them.
    context("a size of 1 to 4096 bytes", map_opt(parse_decimal, in_range)).parse(input)
}

pub(super) fn parse_comma(input: &str) -> ParseResult<'_, char> {
    context("a comma", char(',')).parse(input)
}

pub(super) fn parse_end(input: &str) -> ParseResult<'_, &str> {
    context("the end of the line", eof).parse(input)
}
