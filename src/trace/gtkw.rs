//! GTKWave: a save file that shows a wave readably, and files that give codes their names.
//!
//! Modelled: the save file `<base>.gtkw` for the wave `<base>.vcd` or `<base>.fst` beside it, and for a VCD one file a code
//! table under `<base>.codes/`, each line the bits of a code and its name; an FST has the names in itself. All come from the variables of [`super::signals`], so a new
//! field of a layout shows up by itself. Each place is a group, in it each message is one; groups of second and later
//! messages of a unit, of control slots and of headers are closed. Reserved fields, `valid` and the raw bits are not
//! listed (the tree of signals has them). Paths are relative: start GTKWave in the folder of the files,
//! `gtkwave <base>.gtkw`. Left out: colours, marker positions.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use super::output::{FileError, Part};
use super::signals::{Signals, Var};
use super::{Filter, OpenError, Places};

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
/// First and last line of an open and of a closed group.
const OPEN: [u32; 2] = [0x80_0200, 0x100_0200];
const CLOSED: [u32; 2] = [0xc0_0200, 0x140_1200];

/// Writes the save file and the code files of a wave (its file name) into its folder, which is made if it is not there.
///
/// # Errors
/// The filter takes no place, a place cannot be shown, or a file cannot be written.
pub fn write_gtkwave(dir: &Path, wave: &str, places: &Places, filter: &Filter) -> Result<(), OpenError> {
    let signals = Signals::new(places, filter)?;
    for (path, text) in gtkwave_files(wave, &signals) {
        let path = dir.join(path);
        path.parent().map_or(Ok(()), fs::create_dir_all).map_err(FileError::of(&path))?;
        Part::write(&path, text.as_bytes())?;
    }
    Ok(())
}

/// The same files as (path relative to the wave, text), in order of path.
pub fn gtkwave_files(wave: &str, signals: &Signals) -> BTreeMap<String, String> {
    let base_name = wave.rsplit_once('.').map_or(wave, |(base, _)| base);
    let names_of = if wave.ends_with(".fst") { NamesOf::Wave } else { NamesOf::Files(base_name) };
    let mut files = BTreeMap::new();
    let beside = signals.vars().iter().filter(|_| matches!(names_of, NamesOf::Files(_)));
    for names in beside.filter_map(|v| v.names.as_ref()) {
        files.entry(codes_path(base_name, &names.key)).or_insert_with(|| {
            let width = names.table.width as usize;
            names.table.codes.iter().map(|c| format!("{:0width$b} {}\n", c.value, c.name)).collect()
        });
    }
    let mut save = format!("[dumpfile] \"{wave}\"\n[size] 1280 720\n[pos] -1 -1\n*-{ZOOM_LOG2_FS}.000000 -1\n");
    for &scope in &signals.scopes()[0].scopes {
        group(&mut save, names_of, signals, scope, "");
    }
    files.insert(format!("{base_name}.gtkw"), save);
    files
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

/// Writes a scope: its variables, then the scopes in it. A scope that only leads to one other gets no group.
fn group(out: &mut String, names_of: NamesOf<'_>, signals: &Signals, scope: usize, parent: &str) {
    let scope = &signals.scopes()[scope];
    let path = if parent.is_empty() { scope.name.clone() } else { format!("{parent}.{}", scope.name) };
    let is_group = !scope.vars.is_empty();
    let flags = if scope.is_detail { CLOSED } else { OPEN };
    if is_group {
        line(out, format_args!("@{:x}\n-{path}", flags[0]));
    }
    for var in scope.vars.iter().map(|&v| &signals.vars()[v]).filter(|v| !v.is_detail) {
        signal(out, names_of, &path, var);
    }
    for &inner in &scope.scopes {
        group(out, names_of, signals, inner, &path);
    }
    if is_group {
        line(out, format_args!("@{:x}\n-{path}", flags[1]));
    }
}

fn signal(out: &mut String, names_of: NamesOf<'_>, path: &str, var: &Var) {
    match &var.names {
        Some(names) => match names_of {
            NamesOf::Wave => line(out, format_args!("@{:x}", ENUMERATED | u64::from(BINARY))),
            NamesOf::Files(base_name) => {
                let codes = codes_path(base_name, &names.key);
                line(out, format_args!("@{:x}\n^1 {codes}", BINARY | TRANSLATED));
            }
        },
        None => {
            let format = if var.is_decimal { DECIMAL } else { HEX };
            line(out, format_args!("@{:x}", if var.width == 1 { BINARY } else { format }));
        }
    }
    match var.width {
        1 => line(out, format_args!("{path}.{}", var.name)),
        w => line(out, format_args!("{path}.{}[{}:0]", var.name, w - 1)),
    }
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let _ = writeln!(out, "{text}");
}
