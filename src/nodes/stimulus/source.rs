//! From a file to its accesses: decompression, choice of the format, places of errors. The text goes by line by line.

use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read};
use std::path::Path;
use std::str::FromStr;

use flate2::bufread::MultiGzDecoder;

use super::csv::Csv;
use super::parsing::ParseFailure;
use super::{StimulusAccess, TraceError, UnknownFormat, lackey};

/// Most accesses of a file: they are held while the run lasts, in 256 MB. Basis: model.
pub const MAX_ACCESSES: usize = 1 << 23;

/// Longest line; sound ones have some tens of bytes, comments may be longer. Basis: model.
const MAX_LINE_BYTES: u64 = 1 << 16;

/// The text formats of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StimulusFormat {
    /// The output of valgrind's lackey tool.
    Lackey,
    /// `time,read|write,address,size`.
    Csv,
}

impl StimulusFormat {
    /// The format that the first line which is not blank belongs to. Lackey: it starts with `==`, `--`, `I `, ` L `,
    /// ` S ` or ` M `. CSV: after blanks, it starts with `#` or a digit, or with a letter and has a comma.
    fn of(line: &str) -> Result<StimulusFormat, ParseFailure<'_>> {
        let start = line.trim_start();
        if ["==", "--", "I ", " L ", " S ", " M "].iter().any(|prefix| line.starts_with(prefix)) {
            Ok(StimulusFormat::Lackey)
        } else if start.starts_with(|c: char| c == '#' || c.is_ascii_digit())
            || start.starts_with(|c: char| c.is_ascii_alphabetic()) && start.contains(',')
        {
            Ok(StimulusFormat::Csv)
        } else {
            let expected = "a line of lackey (`==pid==`, `I  `, ` L `, ` S `, ` M `) or of CSV (time,op,address,size)";
            Err(ParseFailure { at: line, expected })
        }
    }
}

impl FromStr for StimulusFormat {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<StimulusFormat, UnknownFormat> {
        match name {
            "lackey" => Ok(StimulusFormat::Lackey),
            "csv" => Ok(StimulusFormat::Csv),
            _ => Err(UnknownFormat { found: name.to_owned() }),
        }
    }
}

/// Judges an access by its address.
pub type Within<'a> = dyn Fn(&StimulusAccess) -> Result<(), String> + 'a;

/// Reads a trace file, plain or gzip.
///
/// `format` `None` takes the format that the first line shows.
///
/// # Errors
/// [`TraceError`]; nothing of an unsound file is handed out.
pub fn read_trace(path: &Path, format: Option<StimulusFormat>) -> Result<Vec<StimulusAccess>, TraceError> {
    read_trace_within(path, format, &|_| Ok(()))
}

/// As [`read_trace`], for accesses that `within` takes; its error says what is at the address of an access, and what was
/// expected.
///
/// # Errors
/// [`TraceError`]; [`TraceError::Hole`] for the first access that is refused.
pub fn read_trace_within(
    path: &Path,
    format: Option<StimulusFormat>,
    within: &Within<'_>,
) -> Result<Vec<StimulusAccess>, TraceError> {
    let file = path.display().to_string();
    match File::open(path) {
        Ok(opened) => parse(&file, BufReader::new(opened), format, within),
        Err(error) => Err(TraceError::Unreadable { file, error }),
    }
}

/// As [`read_trace`], for the bytes of a file; `file` is its name in errors. Bytes that start with the gzip magic
/// 1f 8b (RFC 1952 §2.3.1) are decompressed first; several members in a row are one text (§2.2).
///
/// # Errors
/// [`TraceError`].
pub fn parse_trace(
    file: &str,
    bytes: &[u8],
    format: Option<StimulusFormat>,
) -> Result<Vec<StimulusAccess>, TraceError> {
    parse(file, bytes, format, &|_| Ok(()))
}

fn parse(
    file: &str,
    mut bytes: impl BufRead,
    format: Option<StimulusFormat>,
    within: &Within<'_>,
) -> Result<Vec<StimulusAccess>, TraceError> {
    let unreadable = |error| TraceError::Unreadable { file: file.to_owned(), error };
    let mut start = Vec::new();
    bytes.by_ref().take(2).read_to_end(&mut start).map_err(unreadable)?;
    let is_gzip = start == [0x1f, 0x8b];
    let whole = io::Cursor::new(start).chain(bytes);
    if !is_gzip {
        return lines(file, whole, format, within, unreadable);
    }
    let damaged = |error: io::Error| match error.kind() {
        ErrorKind::UnexpectedEof => TraceError::GzipCutOff { file: file.to_owned() },
        _ if error.raw_os_error().is_some() => unreadable(error),
        _ => TraceError::GzipDamaged { file: file.to_owned(), reason: error.to_string() },
    };
    lines(file, BufReader::new(MultiGzDecoder::new(whole)), format, within, damaged)
}

/// The accesses of a text; `broken` says what an error of its reader means.
fn lines(
    file: &str,
    mut text: impl BufRead,
    mut format: Option<StimulusFormat>,
    within: &Within<'_>,
    broken: impl Fn(io::Error) -> TraceError,
) -> Result<Vec<StimulusAccess>, TraceError> {
    let (mut accesses, mut csv, mut bytes) = (Vec::new(), Csv::default(), Vec::new());
    for number in 1.. {
        bytes.clear();
        if text.by_ref().take(MAX_LINE_BYTES + 1).read_until(b'\n', &mut bytes).map_err(&broken)? == 0 {
            break;
        }
        if bytes.len() as u64 > MAX_LINE_BYTES {
            return Err(TraceError::LongLine { file: file.to_owned(), line: number, most: MAX_LINE_BYTES });
        }
        let line = as_text(file, number, &bytes)?;
        if line.trim().is_empty() {
            continue;
        }
        let place = |fault| malformed(file, line, number, &fault);
        let access = match *format.get_or_insert(match format {
            Some(format) => format,
            None => StimulusFormat::of(line).map_err(place)?,
        }) {
            StimulusFormat::Lackey => lackey::line(line),
            StimulusFormat::Csv => csv.line(line),
        };
        let Some(access) = access.map_err(place)? else { continue };
        if accesses.len() == MAX_ACCESSES {
            return Err(TraceError::TooMany { file: file.to_owned(), line: number, most: MAX_ACCESSES });
        }
        within(&access).map_err(|reason| TraceError::Hole {
            file: file.to_owned(),
            line: number,
            address: access.address,
            reason,
        })?;
        accesses.push(access);
    }
    if accesses.is_empty() { Err(TraceError::Empty { file: file.to_owned() }) } else { Ok(accesses) }
}

/// A line without its end.
fn as_text<'a>(file: &str, number: usize, line: &'a [u8]) -> Result<&'a str, TraceError> {
    let line = line.strip_suffix(b"\n").map_or(line, |line| line.strip_suffix(b"\r").unwrap_or(line));
    std::str::from_utf8(line).map_err(|error| {
        let before = String::from_utf8_lossy(&line[..error.valid_up_to()]);
        TraceError::Malformed {
            file: file.to_owned(),
            line: number,
            column: 1 + before.chars().count(),
            found: format!("byte {:#04x}", line[error.valid_up_to()]),
            expected: "text in UTF-8",
        }
    })
}

fn malformed(file: &str, line: &str, number: usize, fault: &ParseFailure<'_>) -> TraceError {
    let before = &line[..line.len() - fault.at.len()];
    TraceError::Malformed {
        file: file.to_owned(),
        line: number,
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
