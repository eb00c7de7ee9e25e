//! Files that `scalepool inspect` writes: a trace, a decoded wave with save files of GTKWave, a page, coverage, JUnit.
//!
//! All of them appear whole or not at all: they are opened under temporary names before the wave is read. Where the wave is read
//! in a process of its own, the process outside makes the temporary files and this one writes into them.

use super::coverage;
use super::junit::{self, JunitCase, JunitFailure};
use anyhow::Context;
use clap::Args;
use scalepool_export::coverage::CoverageReport;
use scalepool_inspect::capture::is_capture;
use scalepool_inspect::map::Interface;
use scalepool_inspect::told::time_ns;
use scalepool_inspect::{InspectDetail, Inspection, WaveViolation};
use scalepool_trace::fst::FstSink;
use scalepool_trace::gtkw::{self, DecodedView};
use scalepool_trace::jsonl::JsonlSink;
use scalepool_trace::output::{self, FileError, PartFile, is_special};
use scalepool_trace::vcd::VcdSink;
use scalepool_trace::{Highlights, Hub, Sink, TimeAxis, TraceFilter, TraceHeader};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// What is written beside what is printed.
#[derive(Debug, Args)]
pub(super) struct InspectFiles {
    /// Write the flits and violations as a trace of JSON lines, which `diff` reads.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Write what was decoded as a wave on the time axis of WAVE: messages, fields, states, credits, the last broken rule; as FST.
    #[arg(long, value_name = "FILE")]
    fst: Option<PathBuf>,
    /// The same as a value change dump.
    #[arg(long, value_name = "FILE")]
    vcd: Option<PathBuf>,
    /// Write a save file of GTKWave for the decoded wave, with markers at broken rules, and another one for WAVE (FILE with the
    /// ending .source.gtkw). Needs --fst or --vcd.
    #[arg(long, value_name = "FILE")]
    gtkw: Option<PathBuf>,
    /// Write a page for a browser: all units with filters, the bytes of each with the fields in them, findings. It needs no network.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write what was covered, bin by bin, to a file that `coverage` reads.
    #[arg(long, value_name = "FILE")]
    coverage: Option<PathBuf>,
    /// Write the result as JUnit XML: one case per interface, with the command that runs the same again.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Start of the time window of these files, in femtoseconds.
    #[arg(long, value_name = "FS")]
    wave_from: Option<u64>,
    /// End of the time window of these files, in femtoseconds.
    #[arg(long, value_name = "FS")]
    wave_to: Option<u64>,
}

/// What a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileKind {
    Trace,
    Vcd,
    Fst,
    Save,
    SourceSave,
    Page,
    Coverage,
    Junit,
}

/// The open files, in the order of [`InspectFiles::wanted`].
pub(super) struct OpenFiles(Vec<File>);

impl InspectFiles {
    /// The files that are asked for.
    fn wanted(&self) -> Vec<(FileKind, PathBuf)> {
        let source_save = self.gtkw.as_ref().map(|save| gtkw::source_save_of(save));
        let all = [
            (FileKind::Trace, self.trace.clone()),
            (FileKind::Vcd, self.vcd.clone()),
            (FileKind::Fst, self.fst.clone()),
            (FileKind::Save, self.gtkw.clone()),
            (FileKind::SourceSave, source_save),
            (FileKind::Page, self.html.clone()),
            (FileKind::Coverage, self.coverage.clone()),
            (FileKind::Junit, self.junit.clone()),
        ];
        all.into_iter().filter_map(|(kind, path)| Some((kind, path?))).collect()
    }

    /// Whether any file is asked for.
    pub fn any(&self) -> bool {
        !self.wanted().is_empty()
    }

    /// What has to be looked at for them.
    pub fn detail(&self) -> InspectDetail {
        let history = self.vcd.is_some() || self.fst.is_some();
        InspectDetail { history, coverage: self.coverage.is_some(), today: None }
    }

    /// Refuses files that would be written over one another or over an input, and options without the file that they are for.
    ///
    /// # Errors
    /// The first of them.
    pub fn check(&self, inputs: &[&Path]) -> anyhow::Result<()> {
        let wave = self.fst.as_ref().or(self.vcd.as_ref());
        if let (Some(save), None) = (&self.gtkw, wave) {
            anyhow::bail!("{}: found a save file without a wave, expected --fst or --vcd beside it", save.display());
        }
        if let Some(wave) = inputs.first().filter(|wave| self.gtkw.is_some() && is_capture(wave)) {
            anyhow::bail!(
                "--gtkw: found a capture, {}, expected a wave to stand beside the decoded one",
                wave.display()
            );
        }
        if let Some(save) = self.gtkw.as_ref().filter(|save| is_special(save)) {
            anyhow::bail!("{}: found a pipe or a device for a save file, expected a file", save.display());
        }
        if (self.wave_from.is_some() || self.wave_to.is_some()) && !self.any() {
            anyhow::bail!("time window: found no output that it applies to, expected a wave, a trace or a page");
        }
        self.filter()?;
        let wanted = self.wanted();
        let files: Vec<&Path> = wanted.iter().map(|(_, path)| path.as_path()).collect();
        let codes: Vec<PathBuf> = self.code_folder().into_iter().collect();
        let folders: Vec<&Path> = codes.iter().map(PathBuf::as_path).collect();
        Ok(output::check_apart(&files, &folders, inputs)?)
    }

    /// Folder of the names of codes, which a save file for a VCD needs.
    fn code_folder(&self) -> Option<PathBuf> {
        self.gtkw.as_ref().filter(|_| self.fst.is_none()).map(|save| gtkw::codes_of(save))
    }

    fn filter(&self) -> anyhow::Result<TraceFilter> {
        Ok(TraceFilter::new(&[], self.wave_from, self.wave_to)?)
    }

    /// Makes all files under temporary names.
    ///
    /// # Errors
    /// A file that cannot be made.
    pub fn create(&self) -> anyhow::Result<(Vec<PartFile>, OpenFiles)> {
        let made: Result<Vec<_>, _> = self.wanted().iter().map(|(_, path)| PartFile::create(path)).collect();
        let (parts, files) = made?.into_iter().unzip();
        Ok((parts, OpenFiles(files)))
    }

    /// Opens what another process has made.
    ///
    /// # Errors
    /// A file that cannot be opened.
    pub fn open_made(made: impl IntoIterator<Item = PathBuf>) -> anyhow::Result<OpenFiles> {
        let open = |path: PathBuf| File::options().write(true).open(&path).map_err(FileError::of(&path));
        Ok(OpenFiles(made.into_iter().map(open).collect::<Result<_, _>>()?))
    }

    /// Writes all of them.
    ///
    /// # Errors
    /// A file that cannot be written, an interface that cannot be shown.
    pub fn write(&self, files: OpenFiles, wave: &Path, inspection: &Inspection) -> anyhow::Result<()> {
        let wanted = self.wanted();
        let (mut view, mut highlights) = (None, None);
        for ((kind, path), file) in wanted.iter().zip(files.0) {
            let wrong = FileError::of(path);
            match kind {
                FileKind::Trace => self.write_trace(file, inspection).with_context(|| path.display().to_string())?,
                FileKind::Vcd | FileKind::Fst => highlights = Some(self.write_wave(*kind, path, file, inspection)?),
                FileKind::Save => {
                    let of_wave = highlights.as_ref().context("found no wave, expected one")?;
                    let made = self.view(path, wave, inspection, of_wave)?;
                    (&file).write_all(made.save.as_bytes()).map_err(&wrong)?;
                    let folder = path.parent().unwrap_or(Path::new(""));
                    for (name, text) in &made.codes {
                        let code = folder.join(name);
                        code.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(FileError::of(&code))?;
                        PartFile::write(&code, text.as_bytes())?;
                    }
                    view = Some(made);
                }
                FileKind::Page => {
                    let name = wave.file_name().unwrap_or_default().to_string_lossy();
                    let page = inspection.page(&name, &self.filter()?);
                    (&file).write_all(page.as_bytes()).map_err(&wrong)?;
                }
                FileKind::Coverage => {
                    let text = covered(wave, inspection).to_json();
                    (&file).write_all(text.as_bytes()).map_err(&wrong)?;
                }
                FileKind::Junit => {
                    let text = junit::file(&source(wave), None, &junit::rerun_line(), &cases(inspection));
                    (&file).write_all(text.as_bytes()).map_err(&wrong)?;
                }
                FileKind::SourceSave => {
                    let text = view.as_ref().map_or("", |view| view.source.as_str());
                    (&file).write_all(text.as_bytes()).map_err(&wrong)?;
                }
            }
        }
        Ok(())
    }

    fn view(
        &self,
        save: &Path,
        wave: &Path,
        inspection: &Inspection,
        highlights: &Highlights,
    ) -> anyhow::Result<gtkw::DecodedViewFiles> {
        let view = DecodedView {
            source: wave,
            source_groups: &inspection.signals,
            decoded: self.fst.as_ref().or(self.vcd.as_ref()).context("found no wave, expected one")?,
            has_names: self.fst.is_some(),
            axis: inspection.axis,
            markers: &inspection.markers(),
        };
        Ok(gtkw::decoded_view(save, &view, inspection.decoded().places(), &self.filter()?, highlights)?)
    }

    fn write_trace(&self, file: File, inspection: &Inspection) -> anyhow::Result<()> {
        let mut hub = inspection.records();
        let mut sink = JsonlSink::new(BufWriter::new(file), &header(), hub.places(), self.filter()?)?;
        hub.drain_into(&mut [&mut sink])?;
        Ok(sink.finish()?)
    }

    /// Writes the decoded wave; what is worth seeing in it.
    fn write_wave(
        &self,
        kind: FileKind,
        path: &Path,
        file: File,
        inspection: &Inspection,
    ) -> anyhow::Result<Highlights> {
        let mut records = inspection.decoded();
        write_records(kind == FileKind::Fst, path, file, &mut records, inspection.axis, self.filter()?)
    }
}

/// Writes records as a wave; what is worth seeing in it.
///
/// # Errors
/// A file that cannot be written, a place that cannot be shown.
pub(super) fn write_records(
    is_fst: bool,
    path: &Path,
    file: File,
    records: &mut Hub,
    axis: TimeAxis,
    filter: TraceFilter,
) -> anyhow::Result<Highlights> {
    let wrong = FileError::of(path);
    let mut sink: Box<dyn Sink> = if is_fst {
        Box::new(FstSink::on_axis(BufWriter::new(file), &header(), records.places(), filter, axis)?)
    } else {
        Box::new(VcdSink::on_axis(file, &header(), records.places(), filter, axis)?)
    };
    records.drain_into(&mut [&mut *sink]).map_err(&wrong)?;
    sink.finish().map_err(&wrong)?;
    sink.highlights().cloned().context("a wave knows what is worth seeing in it")
}

/// What was inspected, in words.
fn source(wave: &Path) -> String {
    format!("inspect {}", wave.file_name().unwrap_or_default().to_string_lossy())
}

fn covered(wave: &Path, inspection: &Inspection) -> CoverageReport {
    let mut report = CoverageReport::of(source(wave));
    coverage::add(&mut report, &inspection.coverage);
    let broken = inspection.seen.iter().flat_map(|seen| &seen.broken);
    broken.for_each(|broken| report.add_broken(broken.violation.rule, 1));
    report
}

/// A case for each interface.
fn cases(inspection: &Inspection) -> Vec<JunitCase> {
    let of = |n: usize| inspection.seen.iter().filter(move |seen| seen.interface == n);
    let text = |found: &WaveViolation| format!("{} ns {} {}", time_ns(found.t_fs), found.signal, found.violation);
    let case = |(n, interface): (usize, &Interface)| JunitCase {
        name: interface.name.clone(),
        failures: of(n)
            .flat_map(|seen| &seen.broken)
            .map(|found| JunitFailure { rule: found.violation.rule.to_owned(), text: text(found) })
            .collect(),
        remarks: of(n)
            .flat_map(|seen| &seen.waived)
            .map(|waived| {
                let why =
                    waived.reason.as_ref().map_or_else(|| "warning".to_owned(), |reason| format!("waived, {reason}"));
                format!("{why}: {}", text(&waived.found))
            })
            .collect(),
    };
    inspection.map.interface.iter().enumerate().map(case).collect()
}

/// A wave knows neither scenario nor seed; `diff --mask scenario_hash,seed` leaves those of a run out.
fn header() -> TraceHeader {
    TraceHeader { model_version: env!("CARGO_PKG_VERSION").to_owned(), run: None }
}
