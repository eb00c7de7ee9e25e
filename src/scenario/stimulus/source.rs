//! From a file to its accesses: decompression, choice of the format, places of errors.

use std::fs;
use std::io::{ErrorKind, Read};
use std::path::Path;
use std::str::FromStr;

use flate2::read::MultiGzDecoder;

use super::parsing::Fault;
use super::{Access, TraceError, UnknownFormat, csv, lackey};

/// The text formats of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// The output of valgrind's lackey tool.
    Lackey,
    /// `time,read|write,address,size`.
    Csv,
}

impl Format {
    /// The format that the first line which is not blank belongs to. Lackey: it starts with `==`, `--`, `I `, ` L `,
    /// ` S ` or ` M `. CSV: after blanks, it starts with `#` or a digit, or with a letter and has a comma.
    fn of(text: &str) -> Result<Format, (usize, Fault<'_>)> {
        let first = text.lines().enumerate().find(|(_, line)| !line.trim().is_empty());
        let (number, line) = first.unwrap_or((0, ""));
        let start = line.trim_start();
        if ["==", "--", "I ", " L ", " S ", " M "].iter().any(|prefix| line.starts_with(prefix)) {
            Ok(Format::Lackey)
        } else if start.starts_with(|c: char| c == '#' || c.is_ascii_digit())
            || start.starts_with(|c: char| c.is_ascii_alphabetic()) && start.contains(',')
        {
            Ok(Format::Csv)
        } else {
            let expected = "a line of lackey (`==pid==`, `I  `, ` L `, ` S `, ` M `) or of CSV (time,op,address,size)";
            Err((number, Fault { at: line, expected }))
        }
    }
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Format, UnknownFormat> {
        match name {
            "lackey" => Ok(Format::Lackey),
            "csv" => Ok(Format::Csv),
            _ => Err(UnknownFormat { found: name.to_owned() }),
        }
    }
}

/// Reads a trace file, plain or gzip. The whole text is held in memory while it is judged.
///
/// `format` `None` takes the format that the first line shows.
///
/// # Errors
/// [`TraceError`]; nothing of an unsound file is handed out.
pub fn read_trace(path: &Path, format: Option<Format>) -> Result<Vec<Access>, TraceError> {
    let file = path.display().to_string();
    let bytes = fs::read(path).map_err(|error| TraceError::Unreadable { file: file.clone(), error })?;
    parse_trace(&file, &bytes, format)
}

/// As [`read_trace`], for the bytes of a file; `file` is its name in errors. Bytes that start with the gzip magic
/// 1f 8b (RFC 1952 §2.3.1) are decompressed first; several members in a row are one text (§2.2).
///
/// # Errors
/// [`TraceError`].
pub fn parse_trace(file: &str, bytes: &[u8], format: Option<Format>) -> Result<Vec<Access>, TraceError> {
    let unpacked;
    let bytes = if bytes.starts_with(&[0x1f, 0x8b]) {
        unpacked = gunzip(file, bytes)?;
        &unpacked
    } else {
        bytes
    };
    let text = as_text(file, bytes)?;
    if text.trim().is_empty() {
        return Err(TraceError::Empty { file: file.to_owned() });
    }
    let place = |(number, fault)| malformed(file, text, number, fault);
    let accesses = match format.map_or_else(|| Format::of(text), Ok).map_err(place)? {
        Format::Lackey => lackey::parse_text(text),
        Format::Csv => csv::parse_text(text),
    }
    .map_err(place)?;
    if accesses.is_empty() { Err(TraceError::Empty { file: file.to_owned() }) } else { Ok(accesses) }
}

fn gunzip(file: &str, bytes: &[u8]) -> Result<Vec<u8>, TraceError> {
    let mut text = Vec::new();
    match MultiGzDecoder::new(bytes).read_to_end(&mut text) {
        Ok(_) => Ok(text),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Err(TraceError::GzipCutOff { file: file.to_owned() }),
        Err(error) => Err(TraceError::GzipDamaged { file: file.to_owned(), reason: error.to_string() }),
    }
}

fn as_text<'a>(file: &str, bytes: &'a [u8]) -> Result<&'a str, TraceError> {
    std::str::from_utf8(bytes).map_err(|error| {
        let before = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
        TraceError::Malformed {
            file: file.to_owned(),
            line: 1 + before.matches('\n').count(),
            column: 1 + before.chars().rev().take_while(|&c| c != '\n').count(),
            found: format!("byte {:#04x}", bytes[error.valid_up_to()]),
            expected: "text in UTF-8",
        }
    })
}

fn malformed(file: &str, text: &str, number: usize, fault: Fault<'_>) -> TraceError {
    let line = text.lines().nth(number).unwrap_or_default();
    let before = &line[..line.len() - fault.at.len()];
    TraceError::Malformed {
        file: file.to_owned(),
        line: number + 1,
        column: before.chars().count() + 1,
        found: found_text(fault.at),
        expected: fault.expected,
    }
}

/// The word at a place, with the blanks before it, up to a comma or blank; a long one is cut.
fn found_text(at: &str) -> String {
    /// Enough for the longest sound field, a 20-digit decimal.
    const SHOWN_CHARS: usize = 24;
    let word_start = at.len() - at.trim_start().len();
    let ends_word = |c: char| c == ',' || c.is_whitespace();
    let word_len = at[word_start..].find(ends_word).unwrap_or(at.len() - word_start);
    let word = match &at[..word_start + word_len] {
        "" => at.get(..1).unwrap_or_default(), // a comma where a field should be
        word => word,
    };
    if word.is_empty() {
        return "the end of the line".to_owned();
    }
    let shown: String = word.chars().take(SHOWN_CHARS).flat_map(char::escape_debug).collect();
    let more = if word.chars().count() > SHOWN_CHARS { ".." } else { "" };
    format!("`{shown}{more}`")
}
