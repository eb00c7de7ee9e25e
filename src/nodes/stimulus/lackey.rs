//! The text that `valgrind --tool=lackey --trace-mem=yes --log-file=FILE PROGRAM` writes.
//!
//! ```text
//! ==41== Lackey, an example Valgrind tool      valgrind's own lines (`==pid==`, and `--pid--` with -v) are skipped
//! I  0023C790,2                                instruction fetch: address in hexadecimal, size in bytes in decimal
//!  L BE801950,4                                load
//!  S BE80199C,4                                store
//!  M 0421C7CC,1                                modify
//! ```
//!
//! The blanks are as shown. Without `--log-file` the program's own output may mix in, which is an error here.

use nom::Parser;
use nom::branch::alt;
use nom::bytes::complete::tag;
use nom::character::complete::digit1;
use nom::combinator::value;
use nom::error::context;
use nom::sequence::delimited;

use super::parsing::{
    ParseFailure, ParseResult, check_end, parse_comma, parse_end, parse_hex_address, parse_size, whole_line,
};
use super::{StimulusAccess, StimulusOp};

/// The access of a line; `None` for a line without one.
pub(super) fn line(line: &str) -> Result<Option<StimulusAccess>, ParseFailure<'_>> {
    if line.trim().is_empty() || parse_banner(line).is_ok() {
        return Ok(None);
    }
    whole_line(parse_line(line)).map(Some)
}

fn parse_banner(input: &str) -> ParseResult<'_, &str> {
    alt((delimited(tag("=="), digit1, tag("==")), delimited(tag("--"), digit1, tag("--")))).parse(input)
}

fn parse_line(input: &str) -> ParseResult<'_, StimulusAccess> {
    let (at_address, op) = parse_op(input)?;
    let (rest, (address, _, size_bytes, _)) =
        (parse_hex_address, parse_comma, parse_size, parse_end).parse(at_address)?;
    Ok((rest, check_end(at_address, StimulusAccess { at_cycles: None, op, address, size_bytes })?))
}

fn parse_op(input: &str) -> ParseResult<'_, StimulusOp> {
    let codes = alt((
        value(StimulusOp::Ifetch, tag("I  ")),
        value(StimulusOp::Load, tag(" L ")),
        value(StimulusOp::Store, tag(" S ")),
        value(StimulusOp::Modify, tag(" M ")),
    ));
    context("`I  `, ` L `, ` S `, ` M ` or valgrind's `==pid==`", codes).parse(input)
}
