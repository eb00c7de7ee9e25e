//! A wave file of any simulator, VCD or FST, by the crate `wellen`.
//!
//! Modelled: signals by name, their values before and after an instant. Left out: reals, strings.

use super::declared::DeclaredRange;
use super::{InspectError, vcd};
use scalepool_forms::message::most_similar;
use scalepool_ordered::OrderedMap;
use scalepool_trace::TimeAxis;
use std::cell::Cell;
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::Once;
use wellen::simple::Waveform;
use wellen::{LoadOptions, Signal, SignalRef, SignalValueRef, TimescaleUnit, WellenError};

/// An open wave.
pub(super) struct OpenWave {
    file: String,
    waveform: Waveform,
    /// Signals by full path; aliases of one signal have its reference.
    names: OrderedMap<String, WaveSignal>,
    /// By the same paths: the names that a viewer gives them, as in the file, with the declared bits of a vector.
    shown: OrderedMap<String, String>,
    /// Femtoseconds of one step of time.
    step_fs: u64,
}

/// A signal of the file.
#[derive(Clone, Copy)]
struct WaveSignal {
    signal: SignalRef,
    bits: usize,
    declared: DeclaredRange,
}

/// A part of a signal.
pub(super) struct SignalPart {
    /// As the wave calls the signal.
    pub name: String,
    signal: SignalRef,
    /// Position of its lowest bit, from 0 at the right end of the signal.
    pub lsb: usize,
    /// Number of bits.
    pub bits: usize,
    /// How the design numbers the bits of the signal.
    pub declared: DeclaredRange,
}

/// One bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bit {
    Zero,
    One,
    Unknown,
}

/// The first bytes of an FST file: block type 0 and the length of the header block, 329 (seen in files of GTKWave).
const FST_START: [u8; 9] = [0, 0, 0, 0, 0, 0, 0, 1, 0x49];
/// First byte of an FST file that is packed as a whole.
const FST_PACKED: u8 = 254;

impl OpenWave {
    pub fn open(path: &Path) -> Result<OpenWave, InspectError> {
        let file = path.display().to_string();
        let unreadable = |text: String| InspectError::Wave { path: file.clone(), text };
        if !check_start(path).map_err(&unreadable)? {
            vcd::check(path).map_err(&unreadable)?;
        }
        let options = LoadOptions { multi_thread: false, remove_scopes_with_empty_name: true };
        OpenWave::read(&file, || wellen::simple::read_with_options(path, &options))
    }

    /// The wave of a dump that is in memory; `file` stands for its file in messages.
    pub fn of_dump(dump: String, file: &str) -> Result<OpenWave, InspectError> {
        OpenWave::read(file, || wellen::simple::read_from_reader(Cursor::new(dump.into_bytes())))
    }

    fn read(file: &str, read: impl FnOnce() -> Result<Waveform, WellenError>) -> Result<OpenWave, InspectError> {
        let file = file.to_owned();
        let unreadable = |text: String| InspectError::Wave { path: file.clone(), text };
        let damaged = |e: WellenError| {
            let text: String = e.to_string().escape_debug().take(MAX_TEXT).collect();
            format!("found a file that is damaged or cut, expected a whole one; its reader says: {text}")
        };
        let read = || read().map_err(damaged);
        let waveform = unpanicked(read).and_then(|read| read).map_err(&unreadable)?;
        let hierarchy = waveform.hierarchy();
        let scale = hierarchy.timescale().ok_or_else(|| unreadable("found no timescale, expected one".into()))?;
        let step_fs = fs_of(scale.unit).and_then(|fs| fs.checked_mul(scale.factor.into())).ok_or_else(|| {
            unreadable(format!("found timescale {} {:?}, expected 1 fs to 1000 s", scale.factor, scale.unit))
        })?;
        check_times(waveform.time_table(), step_fs).map_err(&unreadable)?;
        let vars = hierarchy.all_vars().map(|var| &hierarchy[var]);
        let (mut names, mut shown) = (OrderedMap::new(), OrderedMap::new());
        for (path, bits, signal, index) in
            vars.filter_map(|v| Some((v.full_name(hierarchy), v.length(hierarchy)?, v.signal_ref(), v.index())))
        {
            let range = index.filter(|_| bits > 1).map(|index| format!("[{}:{}]", index.msb(), index.lsb()));
            let in_viewer = format!("{path}{}", range.unwrap_or_default());
            // Where two paths are spelled alike, the second keeps the spelling of the file.
            let plain = Some(plain(&path)).filter(|plain| !names.contains_key(plain));
            let path = plain.unwrap_or(path);
            shown.insert(path.clone(), in_viewer);
            let bits = bits as usize;
            let declared = DeclaredRange::of(index.map(|index| (index.msb(), index.lsb())), bits);
            names.insert(path, WaveSignal { signal, bits, declared });
        }
        Ok(OpenWave { names, shown, file, waveform, step_fs })
    }

    /// The signal of a name, or of `name[msb:lsb]` a part of it.
    pub fn find(&self, asked: &str) -> Result<SignalPart, String> {
        if let Some((name, WaveSignal { signal, bits, declared })) = self.lookup(asked)? {
            return Ok(SignalPart { name, signal, lsb: 0, bits, declared });
        }
        if let Some((base, left, right)) = slice_of(asked)
            && let Some((name, WaveSignal { signal, bits, declared })) = self.lookup(base)?
        {
            let Some((lsb, bits)) = declared.part(left, right) else {
                return Err(format!("found `{asked}`, expected a part of `{name}{}`", declared.shown(0, bits)));
            };
            return Ok(SignalPart { name, signal, lsb, bits, declared });
        }
        let base = slice_of(asked).map_or(asked, |(base, ..)| base);
        let depth = base.split('.').count();
        // Ends of paths as long as the name are compared with it.
        let ends: OrderedMap<&str, &str> = self.names.keys().map(|path| (end_of(path, depth), path.as_str())).collect();
        let near: Vec<_> = most_similar(base, ends.keys().copied()).into_iter().map(|end| ends[end]).collect();
        let near = if near.is_empty() { "it has none".to_owned() } else { format!("the nearest: {}", near.join(", ")) };
        Err(format!("found `{asked}`, expected a signal of {}; {near}", self.file))
    }

    /// Whether a name says any signal; one that says several is there, and no use.
    pub fn is_there(&self, asked: &str) -> bool {
        !matches!(self.lookup(asked), Ok(None))
    }

    /// By the full path, else by an end of one; `None` when there is no such signal.
    fn lookup(&self, asked: &str) -> Result<Option<(String, WaveSignal)>, String> {
        let plain = plain(asked);
        for name in [asked, &plain] {
            if let Some(&found) = self.names.get(name) {
                return Ok(Some((name.to_owned(), found)));
            }
        }
        let is_end = |path: &str| path.strip_suffix(&*plain).is_some_and(|rest| rest.ends_with('.'));
        let found: Vec<_> = self.names.iter().filter(|(path, _)| is_end(path)).collect();
        match found[..] {
            [] => Ok(None),
            [(path, &found), ref others @ ..] if others.iter().all(|(_, other)| other.signal == found.signal) => {
                Ok(Some((path.clone(), found)))
            }
            [(a, _), .., (b, _)] => {
                Err(format!("found `{asked}`, which is {} signals, such as {a} and {b}; expected one", found.len()))
            }
            [_] => Ok(None),
        }
    }

    /// The axis of its times, to its last one.
    pub fn axis(&self) -> TimeAxis {
        let last = self.waveform.time_table().last().copied().unwrap_or_default();
        TimeAxis::of_step(self.step_fs, last * self.step_fs)
    }

    /// The name that a viewer gives to the signal of a part.
    pub fn shown(&self, part: &SignalPart) -> String {
        self.shown.get(&part.name).unwrap_or(&part.name).clone()
    }

    /// Reads the values of signals.
    pub fn load(&mut self, parts: &[&SignalPart]) -> Result<(), InspectError> {
        let signals: Vec<_> = parts.iter().map(|part| part.signal).collect();
        let loaded = unpanicked(|| self.waveform.load_signals(&signals));
        loaded.map_err(|text| InspectError::Wave { path: self.file.clone(), text })
    }

    /// Position and value of every change of a 1-bit signal, or every change alone of a wider one.
    pub fn changes(&self, part: &SignalPart) -> Vec<(u32, Bit)> {
        let signal = self.signal(part);
        let value = |value| if part.bits == 1 { bit(value, part.lsb) } else { Bit::Unknown };
        signal.into_iter().flat_map(Signal::iter_changes).map(|(at, v)| (at, value(v))).collect()
    }

    /// Bits of a part at the end of the instant of a position, lowest first; none before the first value.
    pub fn at(&self, part: &SignalPart, position: u32) -> Option<Vec<Bit>> {
        let signal = self.signal(part)?;
        let offset = signal.get_offset(position)?;
        let value = signal.get_value_at(&offset, offset.elements.saturating_sub(1));
        let digits = digits(value)?;
        // A vector that has shrunk is no signal of ours.
        let digits = digits.as_bytes();
        let digit = |n: usize| digits.len().checked_sub(n + 1).map_or(Bit::Unknown, |at| bit_of(digits[at]));
        Some((part.lsb..part.lsb + part.bits).map(digit).collect())
    }

    /// Time of a position.
    pub fn t_fs(&self, position: u32) -> u64 {
        self.waveform.time_table().get(position as usize).map_or(0, |t| t * self.step_fs)
    }

    fn signal(&self, part: &SignalPart) -> Option<&Signal> {
        self.waveform.get_signal(part.signal)
    }
}

thread_local! {
    /// This thread is in the crate, whose panics come back as errors: their own report is no use to anybody.
    static READS: Cell<bool> = const { Cell::new(false) };
}

/// Has panics of the crate report nothing, and all others what they did.
fn quiet_reader() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let report = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !READS.get() {
                report(info);
            }
        }));
    });
}

/// The answer of the crate, which panics at some files that are no waves, as at an unknown digit.
fn unpanicked<T>(call: impl FnOnce() -> T) -> Result<T, String> {
    quiet_reader();
    READS.set(true);
    // What the call may leave behind half done is not looked at again.
    let answer = panic::catch_unwind(AssertUnwindSafe(call));
    READS.set(false);
    answer.map_err(|cause| {
        let text = cause.downcast_ref::<String>().cloned();
        let text = text.or_else(|| cause.downcast_ref::<&str>().map(|text| text.to_string()));
        let text = text.unwrap_or_else(|| "unknown content".to_owned());
        // A message can hold a whole line of the file, or what is no text.
        let text: String = text.escape_debug().take(MAX_TEXT).collect();
        format!("found a damaged file, expected a whole one; its reader says: {text}")
    })
}

/// Characters of a message of the crate.
const MAX_TEXT: usize = 120;

/// The first bytes of a file.
fn start_of(path: &Path) -> io::Result<Vec<u8>> {
    let mut start = vec![0; 64];
    let n = File::open(path)?.read(&mut start)?;
    start.truncate(n);
    Ok(start)
}

/// Whether these bytes are the start of an FST file.
pub(super) fn starts_as_fst(start: &[u8]) -> bool {
    start.starts_with(&FST_START) || start.first() == Some(&FST_PACKED)
}

/// Whether a file begins as an FST does.
pub fn is_fst(path: &Path) -> bool {
    start_of(path).is_ok_and(|start| starts_as_fst(&start))
}

/// Refuses what is neither VCD nor FST by how it begins, and what cannot be read from its start more than once; whether it
/// is FST.
fn check_start(path: &Path) -> Result<bool, String> {
    if !path.metadata().map_err(|e| e.to_string())?.is_file() {
        return Err("found a folder, a pipe or a device, expected a file; a capture of flits has to be one too".into());
    }
    let start = start_of(path).map_err(|e| e.to_string())?;
    if starts_as_fst(&start) || start.trim_ascii_start().starts_with(b"$") {
        return Ok(starts_as_fst(&start));
    }
    let what = if start.is_empty() { "an empty file" } else { "another start of the file" };
    Err(format!(
        "found {what}, expected VCD, which begins with a keyword such as `$date`, FST, or a capture of flits as plain text; \
         a compressed file has to be unpacked first"
    ))
}

/// Refuses times that fall, and those past 2^64 fs.
fn check_times(times: &[u64], step_fs: u64) -> Result<(), String> {
    if let Some(pair) = times.windows(2).find(|pair| pair[0] > pair[1]) {
        return Err(format!("found time {} behind time {}, expected times that never fall", pair[1], pair[0]));
    }
    match times.last().filter(|last| last.checked_mul(step_fs).is_none()) {
        Some(last) => Err(format!("found time {last} of {step_fs} fs each, expected times before 2^64 fs")),
        None => Ok(()),
    }
}

fn fs_of(unit: TimescaleUnit) -> Option<u64> {
    let exponent = u32::try_from(unit.to_exponent()? + 15).ok()?;
    10_u64.checked_pow(exponent)
}

/// A path as it is written in Verilog, whichever simulator has made the file: elements of arrays directly behind their array,
/// escaped names without their backslash and the space that ends them.
fn plain(path: &str) -> String {
    let unescaped = path.split('.').map(|name| name.trim_end().strip_prefix('\\').unwrap_or(name.trim_end()));
    unescaped.collect::<Vec<_>>().join(".").replace(".[", "[")
}

/// `name[left:right]` as name, left and right.
fn slice_of(asked: &str) -> Option<(&str, i64, i64)> {
    let (base, range) = asked.strip_suffix(']')?.rsplit_once('[')?;
    let (left, right) = range.split_once(':').unwrap_or((range, range));
    // No range reaches the ends of 64 bits, so a number beyond them is outside of any.
    let number = |text: &str| -> Option<i64> {
        let digits = text.trim();
        let is_number = !digits.is_empty() && digits.trim_start_matches('-').bytes().all(|b| b.is_ascii_digit());
        digits.parse().ok().or_else(|| is_number.then_some(i64::MAX))
    };
    Some((base, number(left)?, number(right)?))
}

/// The last names of a path.
fn end_of(path: &str, depth: usize) -> &str {
    path.rmatch_indices('.').nth(depth.saturating_sub(1)).map_or(path, |(at, _)| &path[at + 1..])
}

fn digits(value: SignalValueRef<'_>) -> Option<String> {
    match value {
        SignalValueRef::BitVec(bits) => Some(bits.bit_string()),
        SignalValueRef::String(_) | SignalValueRef::Real(_) | SignalValueRef::Event => None,
    }
}

fn bit(value: SignalValueRef<'_>, lsb: usize) -> Bit {
    let digits = digits(value).unwrap_or_default();
    digits.bytes().rev().nth(lsb).map_or(Bit::Unknown, bit_of)
}

/// `h` and `l` are weak levels of VHDL.
fn bit_of(digit: u8) -> Bit {
    match digit {
        b'0' | b'l' | b'L' => Bit::Zero,
        b'1' | b'h' | b'H' => Bit::One,
        _ => Bit::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_spelled_as_in_verilog() {
        for (path, expected) in [
            ("tb.words.[1]", "tb.words[1]"),
            ("tb.\\bus.data.[0]", "tb.bus.data[0]"),
            ("tb.\\bus.data[0] ", "tb.bus.data[0]"),
            ("tb.lane[1].data", "tb.lane[1].data"),
        ] {
            assert_eq!(plain(path), expected);
        }
    }

    #[test]
    fn names_are_taken_apart() {
        assert_eq!(slice_of("tb.flit[543:16]"), Some(("tb.flit", 543, 16)));
        assert_eq!(slice_of("tb.port[3]"), Some(("tb.port", 3, 3)));
        assert_eq!(slice_of("tb.port[0:31]"), Some(("tb.port", 0, 31)));
        for no in ["tb.flit", "tb.flit[a:0]", "tb.flit]"] {
            assert_eq!(slice_of(no), None, "{no}");
        }
        assert_eq!((end_of("a.b.c", 1), end_of("a.b.c", 2), end_of("a.b.c", 9)), ("c", "b.c", "a.b.c"));
    }
}
