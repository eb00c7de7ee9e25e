//! Waves as value change dump (IEEE 1364), readable by every viewer.
//!
//! The variables are those of [`super::signals`], their instants those of `super::instants`; the time unit is 1 fs, or that of
//! the [`TimeAxis`]. At the start of the window, `$dumpvars` gives all current values. Left out: `$dumpoff`, strength, real values.
//!
//! The header comes from the crate `vcd`; changes are written here, a byte of the value as a row of a table, because that
//! crate formats every bit on its own. Measured once: 620 000 changes (29 MB) took 75 ms here, taking flits apart
//! included, and 590 ms to print with the crate.

use std::io::{self, Write};

use super::instants::{Instants, Target};
use super::signals::{Signals, VarId};
use super::state::SignalValues;
use super::{Highlights, OpenError, Places, Record, Sink, TimeAxis, TraceFilter, TraceHeader};

/// Bytes that are kept before they are given to the output; a size at which the cost of a system call is small.
const CHUNK_BYTES: usize = 64 * 1024;

/// Writes a value change dump. Buffers by itself: a plain file is a good output.
#[derive(Debug)]
pub struct VcdSink<W: Write>(Instants<Vcd<W>>);

/// The file.
#[derive(Debug)]
struct Vcd<W> {
    out: W,
    buffer: Vec<u8>,
    /// Identifier codes, by variable.
    codes: Vec<Vec<u8>>,
    axis: TimeAxis,
    /// Last time in the file, in units of its axis.
    written: Option<u64>,
}

impl<W: Write> VcdSink<W> {
    /// Begins a wave of all places that the filter takes: writes the header. Later places are not shown.
    ///
    /// # Errors
    /// The filter takes no place, a place cannot be shown, or the output cannot be written.
    pub fn new(out: W, header: &TraceHeader, places: &Places, filter: TraceFilter) -> Result<VcdSink<W>, OpenError> {
        VcdSink::on_axis(out, header, places, filter, TimeAxis::default())
    }

    /// [`VcdSink::new`] on another time axis.
    ///
    /// # Errors
    /// As there.
    pub fn on_axis(
        mut out: W,
        header: &TraceHeader,
        places: &Places,
        filter: TraceFilter,
        axis: TimeAxis,
    ) -> Result<VcdSink<W>, OpenError> {
        let signals = Signals::new(places, &filter)?;
        let mut declared = Vec::new();
        let codes = declare(&mut declared, header, &signals, axis)?;
        out.write_all(&declared)?;
        let vcd = Vcd { out, buffer: Vec::with_capacity(2 * CHUNK_BYTES), codes, axis, written: None };
        Ok(VcdSink(Instants::new(vcd, signals, filter)))
    }
}

impl<W: Write> Sink for VcdSink<W> {
    fn record(&mut self, places: &Places, record: &Record) -> io::Result<()> {
        self.0.record(places, record)
    }

    fn finish(&mut self) -> io::Result<()> {
        self.0.finish()?;
        let vcd = self.0.target();
        let end = vcd.axis.steps(vcd.axis.end_fs);
        if vcd.written.is_some_and(|written| written < end) {
            vcd.time(vcd.axis.end_fs);
        }
        vcd.out.write_all(&vcd.buffer)?;
        vcd.buffer.clear();
        vcd.out.flush()
    }

    fn highlights(&self) -> Option<&Highlights> {
        Some(self.0.highlights())
    }
}

impl<W> Vcd<W> {
    fn time(&mut self, t_fs: u64) {
        let time = self.axis.steps(t_fs);
        if self.written != Some(time) {
            self.written = Some(time);
            self.buffer.extend_from_slice(format!("#{time}\n").as_bytes());
        }
    }

    fn value(&mut self, state: &SignalValues, var: VarId) {
        change(&mut self.buffer, state.words(var), state.width(var), &self.codes[var]);
    }
}

impl<W: Write> Target for Vcd<W> {
    fn begin(&mut self, t_fs: u64, state: &SignalValues) -> io::Result<()> {
        self.time(t_fs);
        self.buffer.extend_from_slice(b"$dumpvars\n");
        (0..state.len()).for_each(|var| self.value(state, var));
        self.buffer.extend_from_slice(b"$end\n");
        Ok(())
    }

    fn changes(&mut self, t_fs: u64, state: &SignalValues, vars: &[VarId]) -> io::Result<()> {
        self.time(t_fs);
        vars.iter().for_each(|&var| self.value(state, var));
        if self.buffer.len() >= CHUNK_BYTES {
            self.out.write_all(&self.buffer)?;
            self.buffer.clear();
        }
        Ok(())
    }
}

/// Writes the header and gives the identifier codes.
fn declare(out: &mut Vec<u8>, header: &TraceHeader, signals: &Signals, axis: TimeAxis) -> io::Result<Vec<Vec<u8>>> {
    let mut writer = vcd::Writer::new(out);
    writer.version(&format!("scalepool {}", header.model_version))?;
    if let Some(run) = &header.run {
        writer.comment(&run.to_string())?;
    }
    let (factor, unit) = axis.timescale();
    writer.timescale(factor, unit)?;
    let mut codes = vec![Vec::new(); signals.vars().len()];
    let mut next = vcd::IdCode::FIRST;
    for &scope in &signals.scopes()[0].scopes {
        declare_scope(&mut writer, signals, scope, &mut next, &mut codes)?;
    }
    writer.enddefinitions()?;
    Ok(codes)
}

fn declare_scope(
    writer: &mut vcd::Writer<&mut Vec<u8>>,
    signals: &Signals,
    scope: usize,
    next: &mut vcd::IdCode,
    codes: &mut [Vec<u8>],
) -> io::Result<()> {
    let scope = &signals.scopes()[scope];
    writer.add_module(&scope.name)?;
    for &id in &scope.vars {
        let var = &signals.vars()[id];
        let range = (var.width > 1).then_some(vcd::ReferenceIndex::Range(var.width as i32 - 1, 0));
        writer.var_def(vcd::VarType::Wire, var.width, *next, &var.name, range)?;
        codes[id] = next.to_string().into_bytes();
        *next = next.next();
    }
    for &inner in &scope.scopes {
        declare_scope(writer, signals, inner, next, codes)?;
    }
    writer.upscope()
}

/// Writes all digits of a value, most significant first; `None` is unknown.
pub(super) fn digits(out: &mut Vec<u8>, words: Option<&[u64]>, width: u32) {
    let width = width as usize;
    let Some(words) = words else {
        out.resize(out.len() + width, b'x');
        return;
    };
    let start = out.len();
    for word in words.iter().rev() {
        word.to_be_bytes().iter().for_each(|&b| out.extend_from_slice(&DIGITS[usize::from(b)]));
    }
    // The words have whole bytes, the value need not.
    out.drain(start..out.len() - width);
}

/// The eight digits of every byte, most significant first.
static DIGITS: [[u8; 8]; 256] = {
    let mut rows = [[0; 8]; 256];
    let mut n = 0;
    while n < 256 * 8 {
        rows[n / 8][n % 8] = b'0' + (((n / 8) >> (7 - n % 8)) & 1) as u8;
        n += 1;
    }
    rows
};

/// Writes one change; leading zeros are left out, as the format allows. `None` is unknown.
fn change(out: &mut Vec<u8>, words: Option<&[u64]>, width: u32, code: &[u8]) {
    match (words, width) {
        (None, 1) => out.push(b'x'),
        (None, _) => out.extend_from_slice(b"bx "),
        (Some(words), 1) => out.push(b'0' + (words[0] & 1) as u8),
        (Some(words), _) => {
            out.push(b'b');
            let start = out.len();
            let mut words = words.iter().rev().skip_while(|&&word| word == 0);
            if let Some(top) = words.next() {
                let zeros = top.leading_zeros() as usize;
                let bytes = top.to_be_bytes();
                let first = zeros / 8;
                out.extend_from_slice(&DIGITS[usize::from(bytes[first])][zeros % 8..]);
                bytes[first + 1..].iter().for_each(|&b| out.extend_from_slice(&DIGITS[usize::from(b)]));
            }
            for word in words {
                word.to_be_bytes().iter().for_each(|&b| out.extend_from_slice(&DIGITS[usize::from(b)]));
            }
            if out.len() == start {
                out.push(b'0');
            }
            out.push(b' ');
        }
    }
    out.extend_from_slice(code);
    out.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes() {
        let line = |words: Option<&[u64]>, width| {
            let mut out = Vec::new();
            change(&mut out, words, width, b"!");
            String::from_utf8(out).unwrap()
        };
        assert_eq!(line(None, 1), "x!\n");
        assert_eq!(line(None, 2), "bx !\n");
        assert_eq!(line(Some(&[1]), 1), "1!\n");
        assert_eq!(line(Some(&[0]), 9), "b0 !\n");
        assert_eq!(line(Some(&[0x105]), 9), "b100000101 !\n");
        assert_eq!(line(Some(&[0x80]), 9), "b10000000 !\n");
        assert_eq!(line(Some(&[5, 0]), 128), "b101 !\n");
        assert_eq!(line(Some(&[5, 1]), 128), format!("b1{:064b} !\n", 5));
        assert_eq!(line(Some(&[0, u64::MAX]), 128), format!("b{}{} !\n", "1".repeat(64), "0".repeat(64)));
    }
}
