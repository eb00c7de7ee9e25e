//! Command traces as text in the form that DRAM simulators read and write: one line per command.
//!
//! `time command channel rank bank-group bank row column`, with blanks or commas between the fields. The time is a whole
//! number of clocks of the command clock, or a decimal number with one of the units `fs`, `ps`, `ns`, `us`, which is
//! rounded to the nearest clock. Fields that a command does not have may be `-`, or may be omitted at the end of a line.
//! `#` begins a comment. For HBM the rank is the pseudo-channel, and bank groups are numbered through the stacks.
//!
//! A walk through one line: the comment is removed and the rest split into fields. The command is looked up by its name
//! or by a spelling of another simulator. Numbers are read as decimal, or as hexadecimal after `0x`.

use super::command::{DramCommand, DramOperation, DramPlace};
use super::preset::DramPreset;
use std::fmt::Write;

/// Command names of other simulators, in addition to [`DramOperation::name`]; lower case.
const SPELLINGS: &[(&str, DramOperation)] = &[
    ("activate", DramOperation::Act),
    ("precharge", DramOperation::Pre),
    ("preab", DramOperation::PreAll),
    ("precharge_all", DramOperation::PreAll),
    ("read", DramOperation::Read),
    ("read_p", DramOperation::ReadPre),
    ("write", DramOperation::Write),
    ("write_p", DramOperation::WritePre),
    ("refab", DramOperation::RefreshAll),
    ("refresh", DramOperation::RefreshAll),
    ("refpb", DramOperation::RefreshBank),
    ("refsb", DramOperation::RefreshBank),
    ("refresh_bank", DramOperation::RefreshBank),
];

/// The header of a trace: the kind of file and the names of the fields.
pub fn header(preset: &DramPreset) -> String {
    let DramPreset { key, timing, .. } = preset;
    format!(
        "# DRAM commands, {key}; time in clocks of {} fs\n# time command channel rank bank_group bank row column\n",
        timing.tck_fs
    )
}

/// A command as a line, with its line end.
pub fn line(command: &DramCommand) -> String {
    let DramCommand { clock, operation, place } = command;
    let DramPlace { channel, rank, group, bank, row, column } = place;
    let mut text = format!("{clock} {operation} {channel} {rank}");
    // Formatting into a string does not fail.
    let _ = match operation {
        DramOperation::PreAll | DramOperation::RefreshAll => writeln!(text, " - - - -"),
        DramOperation::Pre | DramOperation::RefreshBank => writeln!(text, " {group} {bank} - -"),
        DramOperation::Act => writeln!(text, " {group} {bank} {row} -"),
        _ => writeln!(text, " {group} {bank} {row} {column}"),
    };
    text
}

/// Reads a line; returns `None` if it holds no command.
///
/// # Errors
/// What was found and what was expected.
pub fn read_line(text: &str, preset: &DramPreset) -> Result<Option<DramCommand>, String> {
    let text = text.split('#').next().unwrap_or_default();
    let mut fields = text.split(|c: char| c.is_whitespace() || c == ',').filter(|field| !field.is_empty());
    let Some(time) = fields.next() else { return Ok(None) };
    let clock = clock(time, preset)?;
    let name = fields.next().ok_or("found a time alone, expected a command after it")?;
    let operation = operation(name)?;
    let names = ["channel", "rank", "bank group", "bank", "row", "column"];
    let needed = match operation {
        DramOperation::PreAll | DramOperation::RefreshAll => 2,
        DramOperation::Pre | DramOperation::RefreshBank => 4,
        DramOperation::Act => 5,
        _ => 6,
    };
    let mut numbers = [0; 6];
    for (n, (name, number)) in names.into_iter().zip(&mut numbers).enumerate() {
        let field = fields.next();
        if n < needed {
            *number = whole(name, field)?;
        }
    }
    if let Some(more) = fields.next() {
        return Err(format!("found `{more}` behind the column, expected the end of the line"));
    }
    let [channel, rank, group, bank, row, column] = numbers;
    Ok(Some(DramCommand { clock, operation, place: DramPlace { channel, rank, group, bank, row, column } }))
}

fn operation(name: &str) -> Result<DramOperation, String> {
    let lower = name.to_lowercase();
    let own = DramOperation::ALL.into_iter().find(|operation| operation.name().eq_ignore_ascii_case(name));
    let spelled = || SPELLINGS.iter().find(|(known, _)| *known == lower).map(|(_, operation)| *operation);
    own.or_else(spelled).ok_or_else(|| {
        let names: Vec<&str> = DramOperation::ALL.iter().map(|operation| operation.name()).collect();
        format!("found the command `{name}`, expected one of {}", names.join(", "))
    })
}

fn whole(name: &str, field: Option<&str>) -> Result<u32, String> {
    let field = field.ok_or_else(|| format!("found no {name}, expected a number"))?;
    let number = match field.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => field.parse(),
    };
    number.map_err(|_| format!("found the {name} `{field}`, expected a number of up to 32 bits"))
}

/// Latest clock of a trace: what a command occupies ends before 2^64.
const LAST_CLOCK: u64 = 1 << 62;

/// Converts a time to clocks.
fn clock(text: &str, preset: &DramPreset) -> Result<u64, String> {
    let expected = || {
        format!(
            "found the time `{text}`, expected up to {LAST_CLOCK} clocks, or up to 9999999999999999999 fs with fs, ps, ns or us"
        )
    };
    let end = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let digits = match unit {
        "" => return number.parse().ok().filter(|clock| *clock <= LAST_CLOCK).ok_or_else(expected),
        "fs" => 0,
        "ps" => 3,
        "ns" => 6,
        "us" => 9,
        _ => return Err(expected()),
    };
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    // Digits below a femtosecond are ignored.
    let part: String = part.chars().chain("000000000".chars()).take(digits).collect();
    let all = [whole, &part].concat();
    let is_number = !whole.is_empty() && all.len() <= 19 && all.bytes().all(|b| b.is_ascii_digit());
    let fs: u64 = is_number.then(|| all.parse().ok()).flatten().ok_or_else(expected)?;
    let tck = preset.timing.tck_fs;
    Ok(fs / tck + u64::from(fs % tck >= tck.div_ceil(2)))
}
