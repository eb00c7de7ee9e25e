//! Captures of flits: files that say when and where which flit passed, without signals.
//!
//! Modelled: lines with a time, a place and the bytes of a unit, from byte 0 on, in the two forms of [`Capture::read`]. Detail: a line is
//! a whole unit, of NVLink a flit or a packet. Left out: resets; where a link begins anew, a capture ends and another one begins.
//!
//! A walk through one interface: its lines are those whose `where` is that of the map and whose `dir`, if they have one, is that of the
//! interface. A trace that `inspect` has written has the names of interfaces as places, so these count too, unless another interface has
//! that place. Each line becomes one beat of its stream. A line that says no direction and that interfaces of both directions would take
//! is an error. A place that the map takes from nowhere is an error where the capture has a place that nobody takes, for one of the two
//! is a slip; else it is a direction in which nothing has passed.

use super::InspectError;
use super::declared::DeclaredRange;
use super::map::{Interface, Map};
use super::stream::{Beat, StreamShape, UnitStream};
use super::told::time_ns;
use super::wave::starts_as_fst;
use scalepool_forms::input::read_text;
use scalepool_forms::json;
use scalepool_forms::number::bytes_of;
use scalepool_protocols::nvlink::{FLIT_BYTES, MAX_FLITS};
use scalepool_trace::{RecordKind, TimeAxis};
use serde_json::Value;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Most bytes of a capture that is read.
const CAPTURE_BYTES: u64 = 1 << 32;

/// What some programs write at the start of a text.
const BYTE_ORDER_MARK: &str = "\u{feff}";

/// What a line may be, for messages.
const FORMS: &str = "TIME PLACE HEX, TIME PLACE DIR HEX or a JSON object";

/// Characters of a word that a message shows.
const MAX_SHOWN: usize = 40;

/// Femtoseconds of a nanosecond.
const FS_PER_NS: u64 = 1_000_000;

/// A flit, and when and where it passed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapturedUnit {
    /// Line of the file, from 1.
    pub line: usize,
    /// Time at which it was whole \[fs\].
    pub t_fs: u64,
    /// Cycles of a clock before it, where the capture counts them.
    pub cycle: Option<u64>,
    /// Where it passed.
    pub place: String,
    /// Its direction, where the capture says it.
    pub dir: Option<String>,
    /// Its bytes, byte 0 first.
    pub bytes: Vec<u8>,
}

/// A file of flits.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Capture {
    /// The flits, in the order of the file.
    pub units: Vec<CapturedUnit>,
}

/// The lines of a capture by the interfaces of a map.
pub(super) struct CapturedStreams {
    pub streams: Vec<UnitStream>,
    /// Lines of each.
    pub counts: Vec<u64>,
    /// What has to be said of those without a line.
    pub remarks: Vec<String>,
}

impl Capture {
    /// Reads a file.
    ///
    /// # Errors
    /// A file that cannot be read; those of [`Capture::read`].
    pub fn open(path: &Path) -> Result<Capture, InspectError> {
        let wrong = |text: String| InspectError::Capture { path: path.display().to_string(), text };
        let text = read_text(path, CAPTURE_BYTES).map_err(|e| wrong(e.to_string()))?;
        Capture::read(&text).map_err(wrong)
    }

    /// Reads the text of a capture. Lines that begin with `{` are objects with `t_fs` (femtoseconds), `where` or `dir`, and `hex`, as
    /// traces have them; other records of a trace are passed over. Every other line has three words, separated by blanks or commas: time
    /// in nanoseconds, place, hexadecimal digits; a direction, `down` or `up`, may stand before the digits. Empty lines and those that begin
    /// with `#` say nothing, nor does a byte order mark at the start.
    ///
    /// # Errors
    /// The first line that is neither; a text without any flit.
    pub fn read(text: &str) -> Result<Capture, String> {
        let mut units = Vec::new();
        for (n, line) in text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text).lines().enumerate() {
            let line = line.trim();
            let unit = match line.as_bytes().first() {
                None | Some(b'#') => continue,
                Some(b'{') => of_object(line),
                Some(_) => of_words(line).map(Some),
            };
            let unit = unit.map_err(|text| format!("line {}: {text}", n + 1))?;
            units.extend(unit.map(|unit| CapturedUnit { line: n + 1, ..unit }));
        }
        if units.is_empty() {
            return Err(format!("found no flit in the whole file, expected lines of {FORMS}"));
        }
        Ok(Capture { units })
    }

    /// The axis of its times, in femtoseconds.
    pub(super) fn axis(&self) -> TimeAxis {
        TimeAxis::of_step(1, self.units.iter().map(|unit| unit.t_fs).max().unwrap_or_default())
    }

    /// The streams of the interfaces of a map.
    pub(super) fn streams(&self, map: &Map) -> Result<CapturedStreams, String> {
        self.check_directions(map)?;
        let times = || self.units.iter().map(|unit| unit.t_fs);
        let (mut streams, mut counts) = (Vec::new(), Vec::new());
        for (n, interface) in map.interface.iter().enumerate() {
            let (unit_bits, holds) = interface.holds()?;
            let shape = StreamShape {
                unit_bits,
                holds,
                data: (interface.name.clone(), 0, unit_bits),
                declared: DeclaredRange::plain(unit_bits),
                has_signals: false,
            };
            let mut stream = UnitStream::new(n, interface, shape);
            // Whoever never says anything is waited for from the first line to the last one.
            times().min().into_iter().for_each(|t_fs| stream.edge(t_fs, 0));
            let mut count = 0;
            let mut before: Option<&CapturedUnit> = None;
            let places = places_of(interface, map);
            for unit in self.units.iter().filter(|unit| is_of(unit, interface, &places)) {
                if let Some(before) = before.filter(|before| unit.t_fs < before.t_fs) {
                    return Err(format!(
                        "line {}: found {} ns at `{}` after {} ns in line {}; times of one place may not decrease",
                        unit.line,
                        time_ns(unit.t_fs),
                        unit.place,
                        time_ns(before.t_fs),
                        before.line
                    ));
                }
                before = Some(unit);
                check_length(unit, interface, unit_bits / 8)?;
                let cycle = unit.cycle.unwrap_or(count);
                let parts = if interface.protocol == "nvlink" { FLIT_BYTES } else { unit.bytes.len() };
                for part in unit.bytes.chunks(parts) {
                    let (first, last, bytes) = (None, None, part.to_vec());
                    stream.beat(Beat { t_fs: unit.t_fs, cycle, first, last, bytes });
                }
                count += 1;
            }
            times().max().into_iter().for_each(|t_fs| stream.edge(t_fs, count));
            stream.end();
            streams.push(stream);
            counts.push(count);
        }
        let remarks = self.places_without_lines(map, &counts)?;
        Ok(CapturedStreams { streams, counts, remarks })
    }

    /// Refuses a line without a direction that interfaces of both directions would take.
    fn check_directions(&self, map: &Map) -> Result<(), String> {
        for (n, one) in map.interface.iter().enumerate() {
            for other in map.interface[..n].iter().filter(|other| other.dir != one.dir) {
                let places = [other, one].map(|interface| places_of(interface, map));
                let is_of_both = |unit: &&CapturedUnit| is_of(unit, other, &places[0]) && is_of(unit, one, &places[1]);
                if let Some(unit) = self.units.iter().find(is_of_both) {
                    return Err(format!(
                        "line {}: found no direction at `{}`, a place of interface `{}` ({}) and of interface `{}` ({}); \
                         expected key `dir` of a JSON object, or TIME PLACE DIR HEX, with `down` or `up`",
                        unit.line, unit.place, other.name, other.dir, one.name, one.dir
                    ));
                }
            }
        }
        Ok(())
    }

    /// What has to be said of interfaces without a line.
    fn places_without_lines(&self, map: &Map, counts: &[u64]) -> Result<Vec<String>, String> {
        let silent: Vec<&Interface> = map
            .interface
            .iter()
            .zip(counts)
            .filter(|(_, count)| **count == 0)
            .map(|(interface, _)| interface)
            .collect();
        let places: Vec<_> = map.interface.iter().map(|interface| (interface, places_of(interface, map))).collect();
        let is_taken = |unit: &&CapturedUnit| places.iter().any(|(interface, places)| is_of(unit, interface, places));
        let other = self.units.iter().find(|unit| !is_taken(unit));
        if let (Some(interface), Some(other)) = (silent.first(), other) {
            let dir = other.dir.as_ref().map_or_else(String::new, |dir| format!(", dir `{dir}`"));
            return Err(format!(
                "found no line for interface `{}` with where `{}`, dir `{}`; line {} has where `{}`{dir}, which no interface takes",
                interface.name,
                place_of(interface),
                interface.dir,
                other.line,
                other.place,
            ));
        }
        let remark = |interface: &&Interface| format!("interface `{}`: the capture has no flit of it", interface.name);
        Ok(silent.iter().map(remark).collect())
    }
}

/// What the lines of an interface have as place.
fn place_of(interface: &Interface) -> &str {
    interface.place.as_ref().unwrap_or(&interface.name)
}

/// All places whose lines are of an interface: that of the map, and its name, which traces of `inspect` have, unless another interface has
/// that place.
fn places_of<'a>(interface: &'a Interface, map: &Map) -> Vec<&'a str> {
    let is_free = !map.interface.iter().any(|other| place_of(other) == interface.name);
    let name = Some(interface.name.as_str()).filter(|_| is_free);
    [place_of(interface)].into_iter().chain(name).collect()
}

fn is_of(unit: &CapturedUnit, interface: &Interface, places: &[&str]) -> bool {
    places.contains(&unit.place.as_str()) && unit.dir.as_ref().is_none_or(|dir| *dir == interface.dir)
}

/// A line has a whole unit, of NVLink a flit or a packet.
fn check_length(unit: &CapturedUnit, interface: &Interface, unit_bytes: usize) -> Result<(), String> {
    let found = unit.bytes.len();
    let wrong = |expected: String| {
        let Interface { name, protocol, .. } = interface;
        format!("line {}: found {found} bytes for interface `{name}` of {protocol}, expected {expected}", unit.line)
    };
    if interface.protocol == "nvlink" {
        let flits = found / FLIT_BYTES;
        let is_whole = found.is_multiple_of(FLIT_BYTES) && (1..=MAX_FLITS).contains(&flits);
        let expected = || format!("{FLIT_BYTES} bytes a flit, 1 to {MAX_FLITS} flits");
        return if is_whole { Ok(()) } else { Err(wrong(expected())) };
    }
    if found != unit_bytes {
        return Err(wrong(unit_bytes.to_string()));
    }
    Ok(())
}

/// A record of a trace, or a line that has what counts of it; `None`: a record of something else.
fn of_object(line: &str) -> Result<Option<CapturedUnit>, String> {
    let object = match json::read(line).map_err(|e| format!("found no JSON object: {e}"))? {
        Value::Object(object) => object,
        other => return Err(format!("found {other}, expected a JSON object")),
    };
    let kind = object.get("kind").filter(|kind| **kind != RecordKind::Flit.name());
    let is_known = |kind: &Value| RecordKind::ALL.iter().any(|known| *kind == known.name());
    if let Some(kind) = kind.filter(|kind| object.contains_key("hex") && !is_known(kind)) {
        return Err(format!("key `kind`: found {kind} beside `hex`, expected \"flit\""));
    }
    if kind.is_some() || object.contains_key("format") {
        return Ok(None);
    }
    let text = |key: &str| match object.get(key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(other) => Err(format!("key `{key}`: found {other}, expected text")),
    };
    let number = |key: &str| match object.get(key) {
        None => Ok(None),
        Some(value) => {
            let wrong = || format!("key `{key}`: found {value}, expected a whole number from 0");
            value.as_u64().map(Some).ok_or_else(wrong)
        }
    };
    let missing = |key: &str| format!("key `{key}`: found none, expected a value");
    let dir = text("dir")?;
    if let Some(dir) = dir.as_ref().filter(|dir| !["down", "up"].contains(&dir.as_str())) {
        return Err(format!("key `dir`: found `{dir}`, expected `down` or `up`"));
    }
    let place = text("where")?.or_else(|| dir.clone()).ok_or_else(|| missing("where"))?;
    let hex = text("hex")?.ok_or_else(|| missing("hex"))?;
    let (t_fs, cycle) = (number("t_fs")?.ok_or_else(|| missing("t_fs"))?, number("cycle")?);
    let bytes = bytes_of(&hex, "hex").map_err(|e| e.to_string())?;
    Ok(Some(CapturedUnit { line: 0, t_fs, cycle, place, dir, bytes }))
}

/// Three words: time in nanoseconds, place, digits; or four with a direction before the digits.
fn of_words(line: &str) -> Result<CapturedUnit, String> {
    let all = line.split([' ', '\t', ',', ';']).filter(|word| !word.is_empty());
    // A comment goes to the end of the line.
    let words: Vec<&str> = all.take_while(|word| !word.starts_with('#')).collect();
    let (time, place, dir, hex) = match *words.as_slice() {
        [time, place, hex] => (time, place, None, hex),
        [time, place, dir @ ("down" | "up"), hex] => (time, place, Some(dir.to_owned()), hex),
        [_, _, dir, _] => {
            let dir: String = dir.chars().take(MAX_SHOWN).collect();
            return Err(format!("found `{dir}` as third of 4 words, expected `down` or `up`: {FORMS}"));
        }
        _ => return Err(format!("found {} words, expected {FORMS}", words.len())),
    };
    let shown: String = time.chars().take(MAX_SHOWN).collect();
    let wrong = || {
        format!("found time `{shown}`, expected nanoseconds with at most 6 decimals, before 2^64 fs; a line is {FORMS}")
    };
    let t_fs = fs_of(time).ok_or_else(wrong)?;
    let bytes = bytes_of(hex.strip_prefix("0x").unwrap_or(hex), "digits").map_err(|e| e.to_string())?;
    Ok(CapturedUnit { line: 0, t_fs, cycle: None, place: place.to_owned(), dir, bytes })
}

/// Decimal nanoseconds in femtoseconds, exact.
fn fs_of(time: &str) -> Option<u64> {
    let (whole, part) = time.split_once('.').unwrap_or((time, ""));
    let is_number = |digits: &str| digits.bytes().all(|b| b.is_ascii_digit());
    if time.len() == time.matches('.').count() || part.len() > 6 || !is_number(whole) || !is_number(part) {
        return None;
    }
    let part: u64 = format!("{part:0<6}").parse().ok()?;
    format!("0{whole}").parse::<u64>().ok()?.checked_mul(FS_PER_NS)?.checked_add(part)
}

/// Bytes at the start of a file that say whether it is text.
const START_BYTES: u64 = 1 << 12;

/// Whether a file is text that is no value change dump, as a capture is: it begins neither as VCD nor as FST, and has no control characters
/// at its start, which packed files have.
pub fn is_capture(path: &Path) -> bool {
    let start = || {
        let mut start = Vec::new();
        File::open(path)?.take(START_BYTES).read_to_end(&mut start).map(|_| start)
    };
    let Some(start) = path.is_file().then(start).and_then(Result::ok) else { return false };
    let text = start.strip_prefix(BYTE_ORDER_MARK.as_bytes()).unwrap_or(&start).trim_ascii_start();
    let is_text = !start.iter().any(|b| b.is_ascii_control() && !b.is_ascii_whitespace());
    is_text && !start.is_empty() && !starts_as_fst(&start) && !text.starts_with(b"$")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_read() {
        let text = "# an analyser\n{\"format\":\"scalepool-trace\"}\n{\"t_fs\":1500000,\"where\":\"a\",\"kind\":\"mark\"}\n\
                    {\"t_fs\":1500000,\"dir\":\"up\",\"hex\":\"00ff\"}\n\n1.5, up, 0x00FF\n2\tdown\t01\n";
        let capture = Capture::read(text).expect("a capture");
        let seen: Vec<_> =
            capture.units.iter().map(|u| (u.line, u.t_fs, u.place.as_str(), u.bytes.as_slice())).collect();
        assert_eq!(
            seen,
            [(4, 1_500_000, "up", &[0, 255][..]), (6, 1_500_000, "up", &[0, 255]), (7, 2_000_000, "down", &[1])]
        );
    }

    #[test]
    fn a_direction_and_a_mark_are_read() {
        let capture = Capture::read("\u{feff}.5 a up 00\n1. a down 01\n2 a 02\n").expect("a capture");
        let seen: Vec<_> = capture.units.iter().map(|u| (u.line, u.t_fs, u.dir.as_deref())).collect();
        assert_eq!(seen, [(1, 500_000, Some("up")), (2, 1_000_000, Some("down")), (3, 2_000_000, None)]);
    }

    #[test]
    fn what_is_no_line_of_a_capture_is_refused() {
        for (text, said) in [
            ("1 up", "line 1: found 2 words, expected TIME PLACE HEX, TIME PLACE DIR HEX or a JSON object"),
            ("1 a left 00", "line 1: found `left` as third of 4 words, expected `down` or `up`: TIME PLACE HEX"),
            ("time,place,hex\n1,a,00", "line 1: found time `time`, expected nanoseconds with at most 6 decimals"),
            (". a 00", "line 1: found time `.`, expected nanoseconds"),
            ("", "found no flit in the whole file, expected lines of TIME PLACE HEX"),
            ("# nothing\n\n", "found no flit in the whole file"),
            ("{\"t_fs\":1,\"where\":\"a\",\"kind\":\"mark\"}", "found no flit in the whole file"),
            (
                "{\"t_fs\":1,\"where\":\"a\",\"kind\":\"Flit\",\"hex\":\"00\"}",
                "line 1: key `kind`: found \"Flit\" beside `hex`, expected \"flit\"",
            ),
            (
                "1.0000001 up 00",
                "line 1: found time `1.0000001`, expected nanoseconds with at most 6 decimals, before 2^64 fs",
            ),
            ("18446744073709551615 up 00", "line 1: found time `18446744073709551615`, expected nanoseconds"),
            ("-1 up 00", "line 1: found time `-1`"),
            ("1 up 0", "line 1: digits: found 1 digits, expected two hexadecimal digits a byte"),
            ("#\n{", "line 2: found no JSON object: "),
            ("{\"where\":\"a\",\"hex\":\"00\"}", "line 1: key `t_fs`: found none, expected a value"),
            ("{\"t_fs\":1,\"hex\":\"00\"}", "line 1: key `where`: found none, expected a value"),
            ("{\"t_fs\":1,\"where\":\"a\"}", "line 1: key `hex`: found none, expected a value"),
            (
                "{\"t_fs\":-1,\"where\":\"a\",\"hex\":\"00\"}",
                "line 1: key `t_fs`: found -1, expected a whole number from 0",
            ),
            (
                "{\"t_fs\":1,\"dir\":\"left\",\"hex\":\"00\"}",
                "line 1: key `dir`: found `left`, expected `down` or `up`",
            ),
            ("{\"t_fs\":1,\"where\":1,\"hex\":\"00\"}", "line 1: key `where`: found 1, expected text"),
        ] {
            let found = Capture::read(text).expect_err(text);
            assert!(found.starts_with(said), "{text}: {found}");
        }
    }
}
