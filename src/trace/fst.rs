//! Waves as FST, the packed format of GTKWave, with names of codes in the file.
//!
//! Modelled: the same variables and instants as in a value change dump ([`super::vcd`]), some ten times smaller. Values are
//! written by the crate `fst-writer`. It has no names for values, which the format has, so the table of scopes and variables
//! is written here (`hierarchy`) in place of the crate's: an enumeration for each code table, a comment with scenario hash
//! and seed. Left out: real values, strings, aliases.
//!
//! Invariants: the bytes depend on the records alone; the date in the header is empty.
//!
//! A walk: the crate writes header, table and geometry into memory; the table is replaced; all of it goes to the output, and
//! from then on what the crate writes goes there as well (`Spool`).

use std::cell::RefCell;
use std::fmt;
use std::io::{self, Cursor, Seek, SeekFrom, Write};
use std::rc::Rc;

use flate2::Compression;
use flate2::write::GzEncoder;
use fst_writer::{
    FstBodyWriter, FstFileType, FstHeaderWriter, FstInfo, FstScopeType, FstSignalId, FstSignalType, FstVarDirection,
    FstVarType, FstWriteError,
};

use super::instants::{Instants, Target};
use super::signals::{Signals, VarId};
use super::state::SignalValues;
use super::vcd::digits;
use super::{Highlights, OpenError, Places, Record, Sink, TimeAxis, TraceFilter, TraceHeader};

/// Estimated bytes of changes after which they are written out.
const CHUNK_BYTES: usize = 32 << 20;

/// Writes an FST file. Give it a buffered writer.
#[derive(Debug)]
pub struct FstSink<W: Write + Seek>(Instants<Fst<W>>);

/// The file.
struct Fst<W: Write + Seek> {
    spool: Spool<W>,
    /// `None` once it is finished.
    body: Option<FstBodyWriter<Spool<W>>>,
    /// By variable.
    ids: Vec<FstSignalId>,
    digits: Vec<u8>,
    axis: TimeAxis,
    /// Last time in the file, in units of its axis.
    written: u64,
}

impl<W: Write + Seek> fmt::Debug for Fst<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fst of {} variables", self.ids.len())
    }
}

fn to_io(error: FstWriteError) -> io::Error {
    match error {
        FstWriteError::Io(error) => error,
        error => io::Error::new(io::ErrorKind::InvalidData, error.to_string()),
    }
}

impl<W: Write + Seek> FstSink<W> {
    /// Begins a wave of all places that the filter takes: writes the header. Later places are not shown.
    ///
    /// # Errors
    /// The filter takes no place, a place cannot be shown, or the output cannot be written.
    pub fn new(out: W, header: &TraceHeader, places: &Places, filter: TraceFilter) -> Result<FstSink<W>, OpenError> {
        FstSink::on_axis(out, header, places, filter, TimeAxis::default())
    }

    /// [`FstSink::new`] on another time axis.
    ///
    /// # Errors
    /// As there.
    pub fn on_axis(
        out: W,
        header: &TraceHeader,
        places: &Places,
        filter: TraceFilter,
        axis: TimeAxis,
    ) -> Result<FstSink<W>, OpenError> {
        let signals = Signals::new(places, &filter)?;
        let spool = Spool::new(out);
        let info = FstInfo {
            start_time: 0,
            timescale_exponent: axis.exponent(),
            version: format!("scalepool {}", header.model_version),
            date: String::new(),
            file_type: FstFileType::Verilog,
        };
        let mut writer = FstHeaderWriter::new(spool.clone(), &info).map_err(to_io)?;
        let ids = declare(&mut writer, &signals).map_err(to_io)?;
        let body = writer.finish().map_err(to_io)?;
        spool.release(&hierarchy::block(header, &signals)?)?;
        let fst = Fst { spool, body: Some(body), ids, digits: Vec::new(), axis, written: 0 };
        Ok(FstSink(Instants::new(fst, signals, filter)))
    }
}

impl<W: Write + Seek> Sink for FstSink<W> {
    fn record(&mut self, places: &Places, record: &Record) -> io::Result<()> {
        self.0.record(places, record)
    }

    fn finish(&mut self) -> io::Result<()> {
        self.0.finish()?;
        let fst = self.0.target();
        if let Some(mut body) = fst.body.take() {
            let end = fst.axis.steps(fst.axis.end_fs);
            if end > fst.written {
                body.time_change(end).map_err(to_io)?;
            }
            body.finish().map_err(to_io)?;
        }
        fst.spool.flush()
    }

    fn highlights(&self) -> Option<&Highlights> {
        Some(self.0.highlights())
    }
}

impl<W: Write + Seek> Fst<W> {
    fn write(
        &mut self,
        t_fs: u64,
        state: &SignalValues,
        vars: impl Iterator<Item = VarId>,
    ) -> Result<(), FstWriteError> {
        let Some(body) = &mut self.body else { return Ok(()) };
        // Only between two instants.
        if body.size() > CHUNK_BYTES {
            body.flush()?;
        }
        self.written = self.axis.steps(t_fs);
        body.time_change(self.written)?;
        for var in vars {
            self.digits.clear();
            digits(&mut self.digits, state.words(var), state.width(var));
            body.signal_change(self.ids[var], &self.digits)?;
        }
        Ok(())
    }
}

impl<W: Write + Seek> Target for Fst<W> {
    fn begin(&mut self, t_fs: u64, state: &SignalValues) -> io::Result<()> {
        self.write(t_fs, state, 0..state.len()).map_err(to_io)
    }

    fn changes(&mut self, t_fs: u64, state: &SignalValues, vars: &[VarId]) -> io::Result<()> {
        self.write(t_fs, state, vars.iter().copied()).map_err(to_io)
    }
}

/// Tells the crate of all variables, in the order of the table; the names that count are those of `hierarchy`.
fn declare<W: Write + Seek>(
    writer: &mut FstHeaderWriter<W>,
    signals: &Signals,
) -> Result<Vec<FstSignalId>, FstWriteError> {
    let mut ids = Vec::new();
    for var in order(signals) {
        let width = FstSignalType::bit_vec(signals.vars()[var].width);
        ids.push((var, writer.var("", width, FstVarType::Wire, FstVarDirection::Implicit, None)?));
    }
    // The counts of the header.
    for _ in 1..signals.scopes().len() {
        writer.scope("", "", FstScopeType::Module)?;
        writer.up_scope()?;
    }
    scalepool_ordered::sort(&mut ids);
    Ok(ids.into_iter().map(|(_, id)| id).collect())
}

/// Variables as they come in the table: those of a scope, then the scopes in it.
fn order(signals: &Signals) -> Vec<VarId> {
    let mut found = Vec::new();
    let mut open = vec![0];
    while let Some(scope) = open.pop() {
        let scope = &signals.scopes()[scope];
        found.extend(&scope.vars);
        open.extend(scope.scopes.iter().rev());
    }
    found
}

/// Output that first goes to memory, then to a file.
struct Spool<W>(Rc<RefCell<FstOutput<W>>>);

struct FstOutput<W> {
    /// What has been written so far; `None` when it goes to the output.
    head: Option<Cursor<Vec<u8>>>,
    out: W,
}

impl<W> Clone for Spool<W> {
    fn clone(&self) -> Self {
        Spool(Rc::clone(&self.0))
    }
}

impl<W: Write> Spool<W> {
    fn new(out: W) -> Spool<W> {
        Spool(Rc::new(RefCell::new(FstOutput { head: Some(Cursor::new(Vec::new())), out })))
    }

    /// Writes what is in memory with another table, and lets everything else through.
    fn release(&self, table: &[u8]) -> io::Result<()> {
        let mut stage = self.0.borrow_mut();
        let head = stage.head.take().map(Cursor::into_inner).unwrap_or_default();
        let mut rest = &head[..];
        while let Some((block, behind)) = hierarchy::split(rest) {
            stage.out.write_all(if block[0] == hierarchy::LZ4 { table } else { block })?;
            rest = behind;
        }
        stage.out.write_all(rest)
    }
}

impl<W: Write> Write for Spool<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let FstOutput { head, out } = &mut *self.0.borrow_mut();
        head.as_mut().map_or_else(|| out.write(bytes), |head| head.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.borrow_mut().out.flush()
    }
}

impl<W: Seek> Seek for Spool<W> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let FstOutput { head, out } = &mut *self.0.borrow_mut();
        head.as_mut().map_or_else(|| out.seek(to), |head| head.seek(to))
    }
}

/// Blocks of the file, and the table of scopes and variables as one of them. Numbers are those of the format as GTKWave 3.3
/// writes it.
mod hierarchy {
    use super::*;

    /// A table packed with LZ4, as the crate writes it.
    pub const LZ4: u8 = 6;
    /// A table packed with gzip.
    const GZIP: u8 = 4;
    /// Type and length of a block.
    const HEAD_BYTES: usize = 9;

    const ATTRIBUTE: u8 = 252;
    const MISC: u8 = 0;
    const COMMENT: u8 = 0;
    const ENUM_TABLE: u8 = 7;
    const SCOPE: u8 = 254;
    const UP_SCOPE: u8 = 255;

    /// The first block and what is behind it. The length counts itself and what follows.
    pub fn split(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
        let length: [u8; 8] = bytes.get(1..HEAD_BYTES)?.try_into().ok()?;
        let end = usize::try_from(u64::from_be_bytes(length)).ok()?.checked_add(1)?;
        (end >= HEAD_BYTES && end <= bytes.len()).then(|| bytes.split_at(end))
    }

    /// The block of the table.
    pub fn block(header: &TraceHeader, signals: &Signals) -> io::Result<Vec<u8>> {
        let table = table(header, signals);
        let mut packer = GzEncoder::new(Vec::new(), Compression::default());
        packer.write_all(&table)?;
        let packed = packer.finish()?;
        let mut block = vec![GZIP];
        block.extend_from_slice(&(16 + packed.len() as u64).to_be_bytes());
        block.extend_from_slice(&(table.len() as u64).to_be_bytes());
        block.extend_from_slice(&packed);
        Ok(block)
    }

    fn table(header: &TraceHeader, signals: &Signals) -> Vec<u8> {
        let mut out = Vec::new();
        if let Some(run) = &header.run {
            attribute(&mut out, COMMENT, &run.to_string(), 0);
        }
        let mut keys: Vec<&str> = Vec::new();
        for names in signals.vars().iter().filter_map(|v| v.names.as_ref()) {
            if !keys.contains(&names.key.as_str()) {
                keys.push(&names.key);
                // Of several names of one value the first one is shown.
                let codes = names.table.codes;
                let is_first = |&n: &usize| codes[..n].iter().all(|row| row.value != codes[n].value);
                let rows: Vec<_> = (0..codes.len()).filter(is_first).map(|n| &codes[n]).collect();
                let width = names.table.width as usize;
                let mut text = format!("{} {}", names.key, rows.len());
                rows.iter().for_each(|row| text.push_str(&format!(" {}", row.name)));
                rows.iter().for_each(|row| text.push_str(&format!(" {:0width$b}", row.value)));
                attribute(&mut out, ENUM_TABLE, &text, keys.len() as u64);
            }
        }
        for &scope in &signals.scopes()[0].scopes {
            self::scope(&mut out, signals, scope, &keys);
        }
        out
    }

    fn scope(out: &mut Vec<u8>, signals: &Signals, scope: usize, keys: &[&str]) {
        let scope = &signals.scopes()[scope];
        out.extend_from_slice(&[SCOPE, FstScopeType::Module as u8]);
        text(out, &scope.name);
        text(out, "");
        for &id in &scope.vars {
            let var = &signals.vars()[id];
            if let Some(n) = var.names.as_ref().and_then(|names| keys.iter().position(|key| *key == names.key)) {
                attribute(out, ENUM_TABLE, "", n as u64 + 1);
            }
            out.extend_from_slice(&[FstVarType::Wire as u8, FstVarDirection::Implicit as u8]);
            match var.width {
                1 => text(out, &var.name),
                width => text(out, &format!("{} [{}:0]", var.name, width - 1)),
            }
            number(out, var.width.into());
            // No alias: the next signal.
            number(out, 0);
        }
        for &inner in &scope.scopes {
            self::scope(out, signals, inner, keys);
        }
        out.push(UP_SCOPE);
    }

    fn attribute(out: &mut Vec<u8>, kind: u8, name: &str, argument: u64) {
        out.extend_from_slice(&[ATTRIBUTE, MISC, kind]);
        text(out, name);
        number(out, argument);
    }

    fn text(out: &mut Vec<u8>, text: &str) {
        out.extend_from_slice(text.as_bytes());
        out.push(0);
    }

    /// Seven bits a byte, lowest first.
    fn number(out: &mut Vec<u8>, mut value: u64) {
        while value >= 0x80 {
            out.push(value as u8 | 0x80);
            value >>= 7;
        }
        out.push(value as u8);
    }
}
