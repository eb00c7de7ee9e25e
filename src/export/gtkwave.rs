//! GTKWave: `<family>.gtkw`, which takes plain vectors of a design apart, and `<family>_<table>.txt`, the names of codes.
//!
//! The save file of a family has a closed group a layout. In it the vector `top.<layout>[msb:0]`, and each field as bits of
//! it, codes by name. Put the path of your signal in the place of `top.<layout>` and open the group: no design has to be
//! recompiled, and no wave needs the fields. The waves that the program writes have save files of their own. Left out:
//! whole flits, slots.

use super::names::short;
use super::{File, families};
use scalepool_protocols::wire::{CodeTable, FieldDef, LayoutDef};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Display flags of a save file (GTKWave 3.3): right-aligned plus a number format, a translate file.
const HEX: u32 = 0x22;
const BINARY: u32 = 0x28;
const TRANSLATED: u32 = 0x2000;
/// First and last line of a closed group.
const CLOSED: [u32; 2] = [0xc0_0200, 0x140_1200];

// Writing to a string cannot fail; its result is dropped throughout.
macro_rules! line {
    ($text:expr, $($arg:tt)*) => {{ let _ = writeln!($text, $($arg)*); }};
}

/// All files.
pub fn files() -> Vec<File> {
    let mut made = Vec::new();
    for (family, layouts) in families() {
        let mut tables = BTreeSet::new();
        for table in layouts.iter().flat_map(|l| l.fields).filter_map(|f| f.codes) {
            if tables.insert(table.name) {
                made.push(File { name: codes_name(family, table), text: codes(table) });
            }
        }
        let mut text = "[*] Made by `scalepool export gtkwave` from the layout tables.\n".to_owned();
        line!(text, "[*] Replace top.<layout> by the path of a signal.");
        layouts.iter().for_each(|layout| group(&mut text, family, layout));
        made.push(File { name: format!("{family}.gtkw"), text });
    }
    made
}

fn codes_name(family: &str, table: &CodeTable) -> String {
    format!("{family}_{}.txt", table.name)
}

/// The bits of each code and its name.
fn codes(table: &CodeTable) -> String {
    let width = table.width as usize;
    table.codes.iter().map(|c| format!("{:0width$b} {}\n", c.value, c.name)).collect()
}

fn group(text: &mut String, family: &str, layout: &LayoutDef) {
    let name = short(layout.name);
    let vector = match layout.bits {
        1 => format!("top.{name}"),
        bits => format!("top.{name}[{}:0]", bits - 1),
    };
    line!(text, "@{:x}\n-{}\n@{HEX:x}\n{vector}", CLOSED[0], layout.name);
    for field in layout.fields.iter().filter(|f| !f.reserved) {
        member(text, family, layout, field, &vector);
    }
    line!(text, "@{:x}\n-{}", CLOSED[1], layout.name);
}

/// A field as bits of the vector, counted from its highest one.
fn member(text: &mut String, family: &str, layout: &LayoutDef, field: &FieldDef, vector: &str) {
    match field.codes {
        Some(table) => line!(text, "@{:x}\n^1 {}", BINARY | TRANSLATED, codes_name(family, table)),
        None if field.width == 1 => line!(text, "@{BINARY:x}"),
        None => line!(text, "@{HEX:x}"),
    }
    let top = layout.bits - field.lsb - field.width;
    let bits: String = (top..top + field.width).map(|n| format!(" ({n}){vector}")).collect();
    line!(text, "#{{{}[{}:0]}}{bits}", field.name, field.width - 1);
}
