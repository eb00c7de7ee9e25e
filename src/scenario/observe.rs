//! Traces and waves of a run: files that appear whole or not at all.
//!
//! A walk: the files are opened under a temporary name before the run starts, so a path that cannot be written is an
//! error before anything is simulated; records go to them after every window; when the run is over they get their names,
//! and the save file and code files of GTKWave are written beside the wave. A pipe or a device cannot be replaced by a
//! file, so it is written as it is, and nothing beside it.

use scalepool_coherence::chart::Chart;
use scalepool_trace::filter::{FilterError, Glob, WatchedPlaces};
use scalepool_trace::fst::FstSink;
use scalepool_trace::jsonl::JsonlSink;
use scalepool_trace::log::{LogSink, LogTo};
use scalepool_trace::output::{self, FileError, PartFile, is_special};
use scalepool_trace::vcd::VcdSink;
use scalepool_trace::{Hub, OpenError, Places, Record, Sink, TraceFilter, TraceHeader, gtkw};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// What a user wants to see.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outputs {
    /// Value change dump; GTKWave files go beside it.
    pub vcd: Option<PathBuf>,
    /// The same wave as FST; GTKWave files go beside it.
    pub fst: Option<PathBuf>,
    /// Transaction trace, JSON lines.
    pub trace: Option<PathBuf>,
    /// Message sequence chart: a picture (`.svg`) or text (`.txt` or no ending).
    pub chart: Option<PathBuf>,
    /// Folder for the commands of each DRAM of each memory.
    pub dram: Option<PathBuf>,
    /// Drawing of the system with the load of each link, SVG.
    pub drawing: Option<PathBuf>,
    /// Byte address of the only line that the chart shows.
    pub chart_line: Option<u64>,
    /// Globs of places; none means all.
    pub scopes: Vec<String>,
    /// Start of the time window \[fs\].
    pub from_fs: Option<u64>,
    /// End of the time window \[fs\].
    pub to_fs: Option<u64>,
    /// Log; scopes and window do not concern it.
    pub log: Option<LogTo>,
}

impl Outputs {
    /// Whether files are written.
    pub fn files(&self) -> bool {
        self.waves().next().is_some() || self.trace.is_some()
    }

    /// Places at whose flits a run with them looks.
    pub fn watched(&self) -> WatchedPlaces {
        match self.files() {
            _ if self.log.is_some() => WatchedPlaces::All,
            true if self.scopes.is_empty() => WatchedPlaces::All,
            true => WatchedPlaces::Matching(self.scopes.iter().map(|scope| Glob::new(scope)).collect()),
            false => WatchedPlaces::Matching(Vec::new()),
        }
    }

    /// Refuses outputs that would be written over one another or over what the run reads: with the files of GTKWave beside
    /// a wave, and with `others`.
    ///
    /// # Errors
    /// The first of them.
    pub fn check_apart(&self, others: &[&Path], inputs: &[&Path]) -> Result<(), OutputError> {
        // Two waves of one name have one save file.
        let replaced = || self.waves().filter(|path| !is_special(path));
        let mut saves: Vec<PathBuf> = replaced().map(|path| gtkw::save_of(path)).collect();
        saves.dedup();
        let codes: Vec<PathBuf> =
            self.vcd.iter().filter(|path| !is_special(path)).map(|path| gtkw::codes_of(path)).collect();
        let files =
            self.waves().chain(&self.trace).chain(&self.chart).chain(&self.drawing).chain(&saves).map(PathBuf::as_path);
        let files: Vec<&Path> = files.chain(others.iter().copied()).collect();
        let folders: Vec<&Path> = codes.iter().chain(&self.dram).map(PathBuf::as_path).collect();
        Ok(output::check_apart(&files, &folders, inputs)?)
    }

    /// Files of waves.
    fn waves(&self) -> impl Iterator<Item = &PathBuf> {
        [&self.vcd, &self.fst].into_iter().flatten()
    }
}

/// An output that cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// A file.
    #[error(transparent)]
    File(#[from] FileError),
    /// A chart in a form that there is not.
    #[error("{path}: found a chart with this ending, expected .svg, .txt or none")]
    ChartForm {
        /// As it was given.
        path: String,
    },
    /// A scope or a window of nothing.
    #[error("{found}: found no output that it applies to, expected {expected}")]
    NoOutput {
        /// What was given.
        found: &'static str,
        /// Outputs that it is for.
        expected: &'static str,
    },
    /// Scope or window.
    #[error(transparent)]
    Filter(#[from] FilterError),
    /// A trace or a wave.
    #[error(transparent)]
    Open(#[from] OpenError),
}

/// Refuses what no output takes notice of, and a chart that nobody can draw.
fn check_used(outputs: &Outputs) -> Result<(), OutputError> {
    if !outputs.scopes.is_empty() && !outputs.files() {
        return Err(OutputError::NoOutput { found: "wave scope", expected: "a wave or a trace" });
    }
    if (outputs.from_fs.is_some() || outputs.to_fs.is_some()) && !outputs.files() && outputs.chart.is_none() {
        return Err(OutputError::NoOutput { found: "time window", expected: "a wave, a trace or a chart" });
    }
    let ending = outputs.chart.as_ref().and_then(|path| path.extension());
    match (&outputs.chart, ending) {
        (Some(path), Some(e)) if !["svg", "txt"].iter().any(|known| e.eq_ignore_ascii_case(known)) => {
            Err(OutputError::ChartForm { path: path.display().to_string() })
        }
        _ => Ok(()),
    }
}

/// Writes traces of DRAM commands into a folder, which is made: `FOLDER/PATH.txt` for each memory, `FOLDER/PATH.dram[N].txt` for each DRAM
/// of one that has several.
///
/// # Errors
/// A file that cannot be written.
pub(super) fn write_dram(folder: &Path, traces: &[(String, String)]) -> Result<(), OutputError> {
    std::fs::create_dir_all(folder).map_err(FileError::of(folder))?;
    for (path, text) in traces {
        PartFile::write(&folder.join(format!("{path}.txt")), text.as_bytes())?;
    }
    Ok(())
}

/// The open outputs of a run.
pub struct Observer {
    outputs: Outputs,
    filter: TraceFilter,
    files: Vec<(PartFile, Box<dyn Sink>)>,
    chart: Option<(PartFile, File)>,
    log: Option<LogSink>,
}

impl Observer {
    /// Opens all files; `inputs` are those that the run reads.
    ///
    /// # Errors
    /// A file that cannot be written or is read by the run, a glob that matches no place, an empty time window.
    pub fn open(outputs: &Outputs, inputs: &[&Path], header: &TraceHeader, hub: &Hub) -> Result<Observer, OutputError> {
        let scopes: Vec<&str> = outputs.scopes.iter().map(String::as_str).collect();
        let filter = TraceFilter::new(&scopes, outputs.from_fs, outputs.to_fs)?;
        filter.select(hub.places())?;
        check_used(outputs)?;
        outputs.check_apart(&[], inputs)?;
        let mut files: Vec<(PartFile, Box<dyn Sink>)> = Vec::new();
        if let Some(path) = &outputs.vcd {
            let (part, file) = PartFile::create(path)?;
            files.push((part, Box::new(VcdSink::new(file, header, hub.places(), filter.clone())?)));
        }
        if let Some(path) = &outputs.fst {
            let (part, file) = PartFile::create(path)?;
            let sink = FstSink::new(BufWriter::new(file), header, hub.places(), filter.clone())?;
            files.push((part, Box::new(sink)));
        }
        if let Some(path) = &outputs.trace {
            let (part, file) = PartFile::create(path)?;
            let sink = JsonlSink::new(BufWriter::new(file), header, hub.places(), filter.clone())?;
            files.push((part, Box::new(sink)));
        }
        let log = outputs.log.clone().map(LogSink::new);
        let chart = outputs.chart.as_deref().map(PartFile::create).transpose()?;
        Ok(Observer { outputs: outputs.clone(), filter, files, chart, log })
    }

    /// Writes the chart, if one is wanted, and gives it its name.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn draw(&mut self, chart: &Chart) -> Result<(), OutputError> {
        let Some((mut part, mut file)) = self.chart.take() else { return Ok(()) };
        let is_picture = part.path().extension().is_some_and(|e| e.eq_ignore_ascii_case("svg"));
        let text = if is_picture { chart.svg() } else { chart.text() };
        file.write_all(text.as_bytes()).map_err(FileError::of(part.path()))?;
        Ok(part.keep()?)
    }

    /// Whether modules have to record anything for it.
    pub fn is_open(&self) -> bool {
        !self.files.is_empty() || self.log.is_some()
    }

    /// Takes the next record of the modules.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn record(&mut self, places: &Places, record: &Record) -> Result<(), OutputError> {
        for (part, sink) in &mut self.files {
            sink.record(places, record).map_err(FileError::of(part.path()))?;
        }
        if let Some(log) = &mut self.log {
            log.record(places, record);
        }
        Ok(())
    }

    /// Ends all files and gives them their names.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn finish(mut self, places: &Places) -> Result<(), OutputError> {
        for (part, sink) in &mut self.files {
            sink.finish().map_err(FileError::of(part.path()))?;
            part.keep()?;
        }
        // Two waves of one name have one save file, that of the first.
        let is_first = |(n, path): &(usize, &PathBuf)| {
            !self.outputs.waves().take(*n).any(|before| gtkw::save_of(before) == gtkw::save_of(path))
        };
        let waves = self.outputs.waves().enumerate().filter(is_first);
        for (n, path) in waves.filter(|(_, path)| !is_special(path)) {
            // The files stand in the order of the waves.
            let Some(highlights) = self.files.get(n).and_then(|(_, sink)| sink.highlights()) else { continue };
            let wave = path.file_name().unwrap_or_default().to_string_lossy();
            let dir = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
            gtkw::write_gtkwave(dir, &wave, places, &self.filter, highlights)?;
        }
        Ok(())
    }
}
