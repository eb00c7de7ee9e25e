//! GTKWave: a save file that shows a wave readably, and files that give codes their names.
//!
//! Modelled: the save file `<base>.gtkw` for the wave `<base>.vcd` or `<base>.fst` beside it, and for a VCD one file a code
//! table under `<base>.codes/`, each line the bits of a code and its name; an FST has the names in itself. All come from the variables of [`super::signals`], so a new
//! field of a layout shows up by itself. Each place is a group, in it each message is one; groups of second and later
//! messages of a unit, of control slots and of headers are closed, and every group from the one on that would show more
//! than [`MOST_SIGNALS`]. Reserved fields, `valid`, the raw bits and what has shown nothing in this wave are not
//! listed (the tree of signals has them). Marker and window stand at the first event of interest, see [`super::highlights`],
//! and the groups around it come first; the window is wider where the events that follow it are further apart.
//! Paths are relative: start GTKWave in the folder of the files, `gtkwave <base>.gtkw`. Left out: colours.
//!
//! A wave that was decoded from another one gets two save files ([`decoded_view`]): its own, and one for the signals that it
//! was decoded from. Both have the same window, and named markers at the findings.

use scalepool_ordered::OrderedMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use super::highlights::HighlightEvent;
use super::output::{FileError, PartFile};
use super::signals::{Signals, Var};
use super::{Highlights, OpenError, Places, TimeAxis, TraceFilter};

/// Display flags of a save file (GTKWave 3.3, seen in files it writes): right-aligned plus a number format.
const DECIMAL: u32 = 0x24;
const HEX: u32 = 0x22;
const BINARY: u32 = 0x28;
/// Added to a format: values go through the translate file named above.
const TRANSLATED: u32 = 0x2000;
/// Added to a format: values go through the enumeration that an FST has for them. GTKWave 3.3 does not heed a translate file
/// at such a signal.
const ENUMERATED: u64 = 0x1_0000_0000;
/// 200 pixels are 2^ZOOM_LOG2_FS fs (seen in GTKWave 3.3.118): a window of 700 pixels shows some 55 flits at x16 and
/// 32 GT/s (1062.5 ps each), so initialisation and the first requests are in sight; names need a closer look.
const ZOOM_LOG2_FS: u32 = 24;
/// The widest window at first, 16 times as wide: events further apart than that do not fit into one view anyway.
const MOST_ZOOM_LOG2_FS: u32 = ZOOM_LOG2_FS + 4;
/// Pixels of the window before the first event of interest, a quarter of 700, and behind it.
const LEAD_PIXELS: u64 = 175;
const TAIL_PIXELS: u64 = 525;
/// The longest time \[fs\] behind the first event of interest that a window shows at first.
pub(super) const WIDEST_FS: u64 = (1 << MOST_ZOOM_LOG2_FS) / 200 * TAIL_PIXELS;
/// Signals in open groups: what a viewer shows before anything is opened or scrolled far.
pub const MOST_SIGNALS: usize = 60;
/// First and last line of an open and of a closed group.
const OPEN: [u32; 2] = [0x80_0200, 0x100_0200];
const CLOSED: [u32; 2] = [0xc0_0200, 0x140_1200];

/// Writes the save file and the code files of a wave (its file name) into its folder, which is made if it is not there.
/// `highlights` are those of its sink.
///
/// # Errors
/// The filter takes no place, a place cannot be shown, or a file cannot be written.
pub fn write_gtkwave(
    dir: &Path,
    wave: &str,
    places: &Places,
    filter: &TraceFilter,
    highlights: &Highlights,
) -> Result<(), OpenError> {
    let signals = Signals::new(places, filter)?;
    for (path, text) in gtkwave_files(wave, &signals, highlights) {
        let path = dir.join(path);
        path.parent().map_or(Ok(()), fs::create_dir_all).map_err(FileError::of(&path))?;
        PartFile::write(&path, text.as_bytes())?;
    }
    Ok(())
}

/// The same files as (path relative to the wave, text), in order of path.
pub fn gtkwave_files(wave: &str, signals: &Signals, highlights: &Highlights) -> OrderedMap<String, String> {
    let base_name = wave.rsplit_once('.').map_or(wave, |(base, _)| base);
    let names_of = if wave.ends_with(".fst") { NamesOf::Wave } else { NamesOf::Files(base_name) };
    let mut files = match names_of {
        NamesOf::Files(base_name) => code_files(base_name, signals),
        NamesOf::Wave => OrderedMap::new(),
    };
    let text = save_text(wave, names_of, TimeAxis::default(), &[], signals, highlights);
    files.insert(format!("{base_name}.gtkw"), text);
    files
}

/// The files with the names of codes, by their path.
fn code_files(base_name: &str, signals: &Signals) -> OrderedMap<String, String> {
    let mut files = OrderedMap::new();
    for names in signals.vars().iter().filter_map(|v| v.names.as_ref()) {
        files.entry(codes_path(base_name, &names.key)).or_insert_with(|| {
            let width = names.table.width as usize;
            names.table.codes.iter().map(|c| format!("{:0width$b} {}\n", c.value, c.name)).collect()
        });
    }
    files
}

/// The save file of all groups.
fn save_text(
    wave: &str,
    names_of: NamesOf<'_>,
    axis: TimeAxis,
    markers: &[NamedMarker],
    signals: &Signals,
    highlights: &Highlights,
) -> String {
    let text = head(wave, highlights.first_event(), axis, markers);
    let mut save = SaveFile { text, names_of, signals, highlights, open: 0 };
    for scope in save.in_order(&signals.scopes()[0].scopes) {
        save.group(scope, "", true);
    }
    save.text
}

/// A marker with a name, such as a broken rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedMarker {
    /// Where it stands \[fs\].
    pub t_fs: u64,
    /// Its name.
    pub name: String,
}

/// Markers that GTKWave 3.3 has names for, A to Z.
pub const MOST_MARKERS: usize = 26;

/// A wave that was decoded from another one, and what shows both.
#[derive(Debug, Clone)]
pub struct DecodedView<'a> {
    /// The wave that was decoded.
    pub source: &'a Path,
    /// Its signals in groups: name of the group, names of the signals as GTKWave writes them.
    pub source_groups: &'a [(String, Vec<String>)],
    /// The wave with what was decoded.
    pub decoded: &'a Path,
    /// It has the names of codes in itself, as an FST has.
    pub has_names: bool,
    /// Axis of both.
    pub axis: TimeAxis,
    /// At most [`MOST_MARKERS`] of them are shown, the first ones.
    pub markers: &'a [NamedMarker],
}

/// The save file of the wave that was decoded: beside `save`, with `.source` before its ending.
pub fn source_save_of(save: &Path) -> PathBuf {
    save.with_extension("source.gtkw")
}

/// The files that show a decoded wave beside its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecodedViewFiles {
    /// Save file of the decoded wave.
    pub save: String,
    /// Save file of its source.
    pub source: String,
    /// For a VCD the files of codes: path relative to the save file, text.
    pub codes: OrderedMap<String, String>,
}

/// The save file `save` of a decoded wave, that of its source ([`source_save_of`]), and for a VCD the files of codes.
///
/// # Errors
/// The filter takes no place, or a place cannot be shown.
pub fn decoded_view(
    save: &Path,
    view: &DecodedView<'_>,
    places: &Places,
    filter: &TraceFilter,
    highlights: &Highlights,
) -> Result<DecodedViewFiles, OpenError> {
    let signals = Signals::new(places, filter)?;
    let folder = save.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let base_name = save.file_stem().unwrap_or_default().to_string_lossy();
    let names_of = if view.has_names { NamesOf::Wave } else { NamesOf::Files(&base_name) };
    let decoded = seen_from(folder, view.decoded);
    let of_decoded = save_text(&decoded, names_of, view.axis, view.markers, &signals, highlights);
    let source = seen_from(folder, view.source);
    let mut text = head(&source, highlights.first_event(), view.axis, view.markers);
    for (name, signals) in view.source_groups {
        let _ = writeln!(text, "@{:x}\n-{name}", OPEN[0]);
        for signal in signals {
            let format = if signal.ends_with(']') { HEX } else { BINARY };
            let _ = writeln!(text, "@{format:x}\n{signal}");
        }
        let _ = writeln!(text, "@{:x}\n-{name}", OPEN[1]);
    }
    let codes = if view.has_names { OrderedMap::new() } else { code_files(&base_name, &signals) };
    Ok(DecodedViewFiles { save: of_decoded, source: text, codes })
}

/// A path as it is found from a folder: the name alone of a file in it, else the whole path.
fn seen_from(folder: &Path, path: &Path) -> String {
    let whole = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let of_path = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = path.file_name().filter(|_| whole(of_path) == whole(folder));
    name.map_or_else(|| whole(path).display().to_string(), |name| name.to_string_lossy().into_owned())
}

/// The wave, the size of the window, zoom and marker, the time at which the window begins, and the names of markers.
fn head(wave: &str, event: Option<HighlightEvent>, axis: TimeAxis, markers: &[NamedMarker]) -> String {
    let time_of = |pixels, zoom| (1_u64 << zoom) / 200 * pixels;
    let shown_fs = event.map_or(0, |event| event.until_fs - event.t_fs);
    let is_wide_enough = |zoom: &u32| shown_fs <= time_of(TAIL_PIXELS, *zoom);
    let zoom = (ZOOM_LOG2_FS..=MOST_ZOOM_LOG2_FS).find(is_wide_enough).unwrap_or(ZOOM_LOG2_FS);
    // A wave with a known end that is shorter than the window fills it.
    let fills = (axis.end_fs > 0).then(|| (axis.end_fs as f64 * 200.0 / (LEAD_PIXELS + TAIL_PIXELS) as f64).log2());
    let is_short = fills.is_some_and(|fills| fills < f64::from(zoom));
    let lead_fs = if is_short { u64::MAX } else { time_of(LEAD_PIXELS, zoom) };
    let start = axis.steps(event.map_or(0, |event| event.t_fs).saturating_sub(lead_fs));
    let zoom = fills.filter(|_| is_short).unwrap_or(f64::from(zoom)) - (axis.unit_fs() as f64).log2();
    let place = |t_fs: Option<u64>| t_fs.map_or_else(|| "-1".to_owned(), |t_fs| axis.steps(t_fs).to_string());
    let mut places = vec![place(event.map(|event| event.t_fs))];
    if !markers.is_empty() {
        places.extend((0..MOST_MARKERS).map(|n| place(markers.get(n).map(|marker| marker.t_fs))));
    }
    let mut text = format!("[dumpfile] \"{wave}\"\n[timestart] {start}\n[size] 1280 720\n[pos] -1 -1\n");
    // Writing to a String cannot fail.
    let _ = writeln!(text, "*{:.6} {}", -zoom, places.join(" "));
    for (letter, marker) in ('A'..='Z').zip(markers) {
        let _ = writeln!(text, "[markername] {letter}{}", marker.name);
    }
    text
}

/// Where the names of codes are.
#[derive(Clone, Copy)]
enum NamesOf<'a> {
    /// In the wave.
    Wave,
    /// In files below a folder that begins with this name.
    Files(&'a str),
}

/// The save file of a wave.
pub fn save_of(wave: &Path) -> PathBuf {
    wave.with_extension("gtkw")
}

/// The folder with the names of codes, of a VCD.
pub fn codes_of(wave: &Path) -> PathBuf {
    wave.with_extension("codes")
}

fn codes_path(base_name: &str, key: &str) -> String {
    format!("{base_name}.codes/{key}.txt")
}

/// A save file that is being written.
struct SaveFile<'a> {
    text: String,
    names_of: NamesOf<'a>,
    signals: &'a Signals,
    highlights: &'a Highlights,
    /// Signals in open groups so far.
    open: usize,
}

impl SaveFile<'_> {
    fn line(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to a String cannot fail.
        let _ = writeln!(self.text, "{text}");
    }

    /// Scopes in order of declaration, the one that shows the first event of interest before all others.
    fn in_order(&self, scopes: &[usize]) -> Vec<usize> {
        let event = self.highlights.first_event().map(|event| event.var);
        let mut ordered = scopes.to_vec();
        scalepool_ordered::sort_by_key(&mut ordered, |&scope| !event.is_some_and(|var| self.holds(scope, var)));
        ordered
    }

    /// Whether a variable stands in a scope or in one inside it.
    fn holds(&self, scope: usize, var: usize) -> bool {
        let scope = &self.signals.scopes()[scope];
        scope.vars.contains(&var) || scope.scopes.iter().any(|&inner| self.holds(inner, var))
    }

    /// Writes a scope: its variables, then the scopes in it. A scope that only leads to another one gets no group; `visible`
    /// says whether all groups around it are open.
    fn group(&mut self, scope: usize, parent: &str, visible: bool) {
        let signals = self.signals;
        let scope = &signals.scopes()[scope];
        let path = if parent.is_empty() { scope.name.clone() } else { format!("{parent}.{}", scope.name) };
        let is_listed = |v: &&usize| !signals.vars()[**v].is_detail && self.highlights.has_shown(**v);
        let listed: Vec<&Var> = scope.vars.iter().filter(is_listed).map(|&v| &signals.vars()[v]).collect();
        let is_open = visible && !scope.is_detail && self.open + listed.len() <= MOST_SIGNALS;
        let flags = if is_open { OPEN } else { CLOSED };
        if !listed.is_empty() {
            self.line(format_args!("@{:x}\n-{path}", flags[0]));
        }
        self.open += if is_open { listed.len() } else { 0 };
        for var in &listed {
            self.signal(&path, var);
        }
        for inner in self.in_order(&scope.scopes) {
            self.group(inner, &path, is_open || visible && listed.is_empty());
        }
        if !listed.is_empty() {
            self.line(format_args!("@{:x}\n-{path}", flags[1]));
        }
    }

    fn signal(&mut self, path: &str, var: &Var) {
        match &var.names {
            Some(names) => match self.names_of {
                NamesOf::Wave => self.line(format_args!("@{:x}", ENUMERATED | u64::from(BINARY))),
                NamesOf::Files(base_name) => {
                    let codes = codes_path(base_name, &names.key);
                    self.line(format_args!("@{:x}\n^1 {codes}", BINARY | TRANSLATED));
                }
            },
            None => {
                let format = if var.is_decimal { DECIMAL } else { HEX };
                self.line(format_args!("@{:x}", if var.width == 1 { BINARY } else { format }));
            }
        }
        match var.width {
            1 => self.line(format_args!("{path}.{}", var.name)),
            w => self.line(format_args!("{path}.{}[{}:0]", var.name, w - 1)),
        }
    }
}
