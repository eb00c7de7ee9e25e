//! Comma-separated accesses.
//!
//! ```text
//! # a comment; blank lines are skipped too
//! time,op,address,size         an optional header, before the first access
//! 0,read,0x1000,64
//! 12, W, 8192, 8
//! ```
//!
//! | column | holds |
//! | --- | --- |
//! | 1 | earliest host cycle, decimal; never less than in the line before (equal: ready in the same cycle) |
//! | 2 | `r`, `read`, `w` or `write`, in any case |
//! | 3 | byte address: hexadecimal after `0x`, else decimal |
//! | 4 | bytes: 1 to 4096, decimal |
//!
//! Header names: `time`, `time_cycles`, `cycle` or `cycles`; `op`, `rw`, `type` or `read|write`; `address`;
//! `size` or `size_bytes`, in any case. Another name is an error, so a column in nanoseconds is not taken for cycles.

use nom::Parser;
use nom::branch::alt;
use nom::bytes::complete::{is_not, tag_no_case};
use nom::character::complete::{alpha1, space0};
use nom::combinator::{cut, map_opt, verify};
use nom::error::context;
use nom::sequence::{delimited, preceded};

use super::parsing::{
    ParseFailure, ParseResult, check_end, parse_comma, parse_decimal, parse_end, parse_hex, parse_size, whole_line,
};
use super::{StimulusAccess, StimulusOp};

/// What a line means depends on those before it: a header may stand first, times never fall.
#[derive(Default)]
pub(super) struct Csv {
    has_begun: bool,
    last_cycles: u64,
}

impl Csv {
    /// The access of a line; `None` for a line without one.
    pub fn line<'a>(&mut self, line: &'a str) -> Result<Option<StimulusAccess>, ParseFailure<'a>> {
        let start = line.trim_start();
        if start.is_empty() || start.starts_with('#') {
            return Ok(None);
        }
        if !std::mem::replace(&mut self.has_begun, true) && start.starts_with(|c: char| c.is_ascii_alphabetic()) {
            whole_line(parse_header(line))?;
            return Ok(None);
        }
        let access = whole_line(parse_line(line))?;
        let cycles = access.at_cycles.unwrap_or_default();
        if cycles < self.last_cycles {
            return Err(ParseFailure { at: start, expected: "a time not before that of the access above" });
        }
        self.last_cycles = cycles;
        Ok(Some(access))
    }
}

fn parse_header(input: &str) -> ParseResult<'_, ()> {
    let (rest, _) = parse_name(&["time", "time_cycles", "cycle", "cycles"], "the column name `time`", input)?;
    let (rest, _) = parse_comma(rest)?;
    let (rest, _) = parse_name(&["op", "rw", "type", "read|write"], "the column name `op`", rest)?;
    let (rest, _) = parse_comma(rest)?;
    let (rest, _) = parse_name(&["address"], "the column name `address`", rest)?;
    let (rest, _) = parse_comma(rest)?;
    let (rest, _) = parse_name(&["size", "size_bytes"], "the column name `size`", rest)?;
    let (rest, _) = parse_end(rest)?;
    Ok((rest, ()))
}

fn parse_name<'a>(names: &[&str], expected: &'static str, input: &'a str) -> ParseResult<'a, &'a str> {
    let is_name = |found: &str| names.iter().any(|name| name.eq_ignore_ascii_case(found));
    padded(context(expected, verify(is_not(", \t"), is_name))).parse(input)
}

fn parse_line(input: &str) -> ParseResult<'_, StimulusAccess> {
    let (at_address, (time_cycles, _, op, _)) =
        (padded(parse_time), parse_comma, padded(parse_op), (parse_comma, space0)).parse(input)?;
    let (rest, (address, _, size_bytes, _)) =
        (padded(parse_address), parse_comma, padded(parse_size), parse_end).parse(at_address)?;
    Ok((rest, check_end(at_address, StimulusAccess { at_cycles: Some(time_cycles), op, address, size_bytes })?))
}

fn parse_time(input: &str) -> ParseResult<'_, u64> {
    context("a time in host cycles, decimal, below 2^64", parse_decimal).parse(input)
}

fn parse_op(input: &str) -> ParseResult<'_, StimulusOp> {
    let op_of = |word: &str| match word.to_ascii_lowercase().as_str() {
        "r" | "read" => Some(StimulusOp::Load),
        "w" | "write" => Some(StimulusOp::Store),
        _ => None,
    };
    context("`r`, `read`, `w` or `write`", map_opt(alpha1, op_of)).parse(input)
}

fn parse_address(input: &str) -> ParseResult<'_, u64> {
    let either = alt((preceded(tag_no_case("0x"), cut(parse_hex)), parse_decimal));
    context("an address below 2^64, `0x` and hexadecimal or decimal", either).parse(input)
}

fn padded<'a, T>(
    parser: impl Parser<&'a str, Output = T, Error = ParseFailure<'a>>,
) -> impl Parser<&'a str, Output = T, Error = ParseFailure<'a>> {
    delimited(space0, parser, space0)
}
