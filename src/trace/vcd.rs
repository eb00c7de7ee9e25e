//! Waves as value change dump (IEEE 1364), readable by every viewer.
//!
//! The variables are those of [`super::signals`]; the time unit is 1 fs. At the start of the window, `$dumpvars` gives all
//! current values; from then on a variable stands in the file when it differs from what stands there, at most once a
//! time, in order of declaration. So the file depends on the values at the end of each instant alone; of several events
//! in one instant the last one is seen, and `seq` tells how many there were. Left out: `$dumpoff`, strength, real values.
//!
//! The header comes from the crate `vcd`; changes are written here, a byte of the value as a row of a table, because that
//! crate formats every bit on its own. Measured once: 620 000 changes (29 MB) took 75 ms here, taking flits apart
//! included, and 590 ms to print with the crate.

use std::io::{self, Write};

use super::filter::When;
use super::signals::{Signals, VarId};
use super::state::State;
use super::{Filter, Header, OpenError, Places, Record, Sink};

/// Bytes that are kept before they are given to the output; a size at which the cost of a system call is small.
const CHUNK_BYTES: usize = 64 * 1024;

/// Writes a value change dump. Buffers by itself: a plain file is a good output.
#[derive(Debug)]
pub struct VcdSink<W: Write> {
    out: W,
    buffer: Vec<u8>,
    filter: Filter,
    signals: Signals,
    state: State,
    /// Identifier codes, by variable.
    codes: Vec<Vec<u8>>,
    changes: Vec<VarId>,
    /// Time of the changes that are collected now.
    now_fs: u64,
    /// Last time in the file; `None` before the window.
    written_fs: Option<u64>,
}

impl<W: Write> VcdSink<W> {
    /// Begins a wave of all places that the filter takes: writes the header. Later places are not shown.
    ///
    /// # Errors
    /// The filter takes no place, a place cannot be shown, or the output cannot be written.
    pub fn new(mut out: W, header: &Header, places: &Places, filter: Filter) -> Result<VcdSink<W>, OpenError> {
        let signals = Signals::new(places, &filter)?;
        let mut declared = Vec::new();
        let codes = declare(&mut declared, header, &signals)?;
        out.write_all(&declared)?;
        let (state, buffer) = (State::new(signals.vars()), Vec::with_capacity(2 * CHUNK_BYTES));
        let sink =
            VcdSink { out, buffer, filter, signals, state, codes, changes: Vec::new(), now_fs: 0, written_fs: None };
        Ok(sink)
    }

    /// Writes the changes collected so far.
    fn flush_changes(&mut self) -> io::Result<()> {
        if self.filter.when(self.now_fs) != When::Within {
            return Ok(());
        }
        self.state.take_changes(&mut self.changes);
        if !self.changes.is_empty() {
            self.time(self.now_fs);
        }
        for var in &self.changes {
            change(&mut self.buffer, self.state.words(*var), self.state.width(*var), &self.codes[*var]);
        }
        if self.buffer.len() >= CHUNK_BYTES {
            self.out.write_all(&self.buffer)?;
            self.buffer.clear();
        }
        Ok(())
    }

    fn time(&mut self, t_fs: u64) {
        if self.written_fs != Some(t_fs) {
            self.written_fs = Some(t_fs);
            self.buffer.extend_from_slice(format!("#{t_fs}\n").as_bytes());
        }
    }

    /// Dumps all values, once.
    fn begin_window(&mut self) {
        if self.written_fs.is_some() {
            return;
        }
        // What changed before is part of the dump.
        self.state.take_changes(&mut self.changes);
        self.time(self.filter.from_fs());
        self.buffer.extend_from_slice(b"$dumpvars\n");
        for var in 0..self.state.len() {
            change(&mut self.buffer, self.state.words(var), self.state.width(var), &self.codes[var]);
        }
        self.buffer.extend_from_slice(b"$end\n");
    }
}

impl<W: Write> Sink for VcdSink<W> {
    fn record(&mut self, places: &Places, r: &Record) -> io::Result<()> {
        let t_fs = r.at.t_fs;
        if t_fs < self.now_fs {
            let text = format!("wave: found a record of {t_fs} fs, expected none before {} fs", self.now_fs);
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        if t_fs > self.now_fs {
            self.flush_changes()?;
            self.now_fs = t_fs;
        }
        match self.filter.when(t_fs) {
            When::After => Ok(()),
            When::Before => self.signals.apply(&mut self.state, places, r),
            When::Within => {
                self.begin_window();
                self.signals.apply(&mut self.state, places, r)
            }
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        self.flush_changes()?;
        self.begin_window();
        self.out.write_all(&self.buffer)?;
        self.buffer.clear();
        self.out.flush()
    }
}

/// Writes the header and gives the identifier codes.
fn declare(out: &mut Vec<u8>, header: &Header, signals: &Signals) -> io::Result<Vec<Vec<u8>>> {
    let mut writer = vcd::Writer::new(out);
    writer.version(&format!("scalepool {}", header.model_version))?;
    writer.comment(&format!("scenario_hash {} seed {}", header.scenario_hash, header.seed))?;
    writer.timescale(1, vcd::TimescaleUnit::FS)?;
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
