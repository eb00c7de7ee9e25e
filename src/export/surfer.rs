//! Surfer: `<family>_<table>.map`, the names of codes as a mapping translator of the waveform viewer Surfer.
//!
//! Modelled: name and width of each code table, and a line for each code. Left out: fields of vectors, which Surfer takes apart by itself, and
//! whole flits. The files are written from the description of their form; no Surfer has read them here.

use super::{File, families};
use scalepool_protocols::wire::CodeTable;
use std::collections::BTreeSet;
use std::fmt::Write;

/// All files.
pub fn files() -> Vec<File> {
    let mut made = Vec::new();
    for (family, layouts) in families() {
        let mut names = BTreeSet::new();
        for table in layouts.iter().flat_map(|layout| layout.fields).filter_map(|field| field.codes) {
            if names.insert(table.name) {
                made.push(File { name: format!("{family}_{}.map", table.name), text: mapping(family, table) });
            }
        }
    }
    made
}

fn mapping(family: &str, table: &CodeTable) -> String {
    let mut text = format!("Name = {family} {}\nBits = {}\n", table.name, table.width);
    for code in table.codes {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "0b{:0width$b} {}", code.value, code.name, width = table.width as usize);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_by_hand() {
        let files = files();
        let status = files.iter().find(|file| file.name == "cxlio_CplStatus.map").expect("a table of the sheet");
        assert_eq!(status.text, "Name = cxlio CplStatus\nBits = 3\n0b000 SC\n0b001 UR\n0b010 CRS\n0b100 CA\n");
    }
}
