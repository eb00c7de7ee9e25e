//! SystemVerilog: `scalepool_<family>_pkg.sv`, one package a family, and behind them [`super::class_package`] and
//! `scalepool_interfaces.sv`.
//!
//! A layout is a packed struct, highest field first, so that `$bits` and casts from and to a plain vector are those of the
//! sheet; its fields' positions stand beside it as constants for code that works on vectors. A code table is an enum. Struct
//! members are plain vectors: a reserved code is data, not an error. A slot format is a set of constants.

use super::names::{comment, short, upper_snake};
use super::{File, families, slots};
use scalepool_protocols::wire::{ByteOrder, CodeTable, LayoutDef};
use std::collections::BTreeSet;
use std::fmt::Write;

const HEAD: &str = "// Made by `scalepool export sv` from the layout tables; do not edit.\n";

/// All packages.
pub fn files() -> Vec<File> {
    let made = families()
        .into_iter()
        .map(|(family, layouts)| File { name: format!("scalepool_{family}_pkg.sv"), text: package(family, &layouts) });
    made.chain([super::class_package::file(), super::coverage_package::file(), super::interface_modules::file()])
        .collect()
}

// Writing to a string cannot fail; its result is dropped throughout.
macro_rules! line {
    ($text:expr) => { $text.push('\n') };
    ($text:expr, $($arg:tt)*) => {{ let _ = writeln!($text, $($arg)*); }};
}

fn package(family: &str, layouts: &[&LayoutDef]) -> String {
    let mut text = HEAD.to_owned();
    line!(text, "package scalepool_{family}_pkg;");
    let mut tables = BTreeSet::new();
    for layout in layouts {
        for table in layout.fields.iter().filter_map(|f| f.codes) {
            if tables.insert(table.name) {
                line!(text);
                enumeration(&mut text, table);
            }
        }
    }
    for layout in layouts {
        line!(text);
        structure(&mut text, layout);
    }
    let formats = slots::of_family(family);
    if !formats.is_empty() {
        line!(text, "\n  // Slot formats: format code, then first bit and width of each message in the slot.");
    }
    for format in formats {
        slot(&mut text, &format);
    }
    line!(text, "\nendpackage : scalepool_{family}_pkg");
    text
}

fn enumeration(text: &mut String, table: &CodeTable) {
    let prefix = upper_snake(table.name);
    let width = table.width;
    line!(text, "  // {} ({}).", table.name, comment(table.source));
    line!(text, "  typedef enum logic [{}:0] {{", width - 1);
    let mut seen = BTreeSet::new();
    let codes: Vec<_> = table.codes.iter().filter(|c| seen.insert(c.value)).collect();
    for (n, code) in codes.iter().enumerate() {
        let comma = if n + 1 < codes.len() { "," } else { "" };
        line!(text, "    {prefix}_{} = {width}'h{:x}{comma}", upper_snake(code.name), code.value);
    }
    line!(text, "  }} {}_e;", prefix.to_lowercase());
}

fn structure(text: &mut String, layout: &LayoutDef) {
    let name = short(layout.name);
    let prefix = upper_snake(name);
    line!(text, "  // {}: {}", layout.name, comment(layout.doc));
    let order = match layout.order {
        ByteOrder::Little => "byte 0 holds bits 7:0",
        ByteOrder::Big => "the last byte holds bits 7:0",
    };
    line!(text, "  // Source: {}. Basis: {}. On the wire {order}.", comment(layout.source), layout.basis.name());
    line!(text, "  localparam int {prefix}_BITS = {};", layout.bits);
    for field in layout.fields {
        let of = format!("{prefix}_{}", upper_snake(field.name));
        line!(text, "  localparam int {of}_LSB = {};", field.lsb);
        line!(text, "  localparam int {of}_WIDTH = {};", field.width);
    }
    line!(text, "  typedef struct packed {{");
    for field in layout.fields.iter().rev() {
        let address = match field.address_lsb {
            0 => String::new(),
            lsb => format!(" Byte address from bit {lsb} up."),
        };
        let codes = field.codes.map_or(String::new(), |t| format!(" Codes: {}_e.", upper_snake(t.name).to_lowercase()));
        line!(text, "    logic [{}:0] {}; // {}{address}{codes}", field.width - 1, field.name, comment(field.doc));
    }
    line!(text, "  }} {name}_t;");
}

fn slot(text: &mut String, format: &slots::ExportSlotFormat) {
    let dir = if format.dir.is_empty() { String::new() } else { format!("{}_", upper_snake(format.dir)) };
    let prefix = format!("SLOT_{dir}{}", upper_snake(format.name));
    line!(text, "  localparam logic [3:0] {prefix}_CODE = 4'h{:x};", format.code);
    for (n, place) in format.places.iter().enumerate() {
        let of = format!("{prefix}_{n}_{}", upper_snake(place.name));
        line!(text, "  localparam int {of}_LSB = {};", place.lsb);
        line!(text, "  localparam int {of}_WIDTH = {};", place.width);
    }
}
