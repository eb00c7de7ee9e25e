//! SystemRDL 2.0: `scalepool_registers.rdl`, an address map for each block of registers, for tools that make documents, RTL or register
//! models of it.
//!
//! Modelled: offsets, widths, fields, codes as enumerations, what software may do, values after reset where they are fixed. A field that a
//! lock holds has the property `lockable` besides `sw = rw`. Left out: what hardware does between registers.

use super::File;
use super::names::{comment, upper_snake};
use scalepool_protocols::registers::{RegisterAccess, RegisterBlock, RegisterDef, RegisterField, RegisterFile, blocks};
use scalepool_protocols::wire::CodeTable;
use std::fmt::Write;

// Writing to a string cannot fail; its result is dropped throughout.
macro_rules! line {
    ($text:expr, $($arg:tt)*) => {{ let _ = writeln!($text, $($arg)*); }};
}

/// Words of the language that a field or register may be called; of today's names it is only `mem`.
const WORDS: &[&str] =
    &["mem", "reg", "field", "signal", "default", "enum", "property", "type", "this", "sw", "hw", "reset", "name"];

/// The file.
pub fn files() -> Vec<File> {
    let mut text = String::from(
        "// Made by `scalepool export systemrdl` from the tables of registers; do not edit.\n\n\
         // Software writes the field until a lock holds it: `lock` of dvsec_device, or a commit with lock_on_commit of a decoder.\n\
         property lockable { component = field; type = boolean; default = true; };\n",
    );
    for table in tables() {
        enumeration(&mut text, table);
    }
    blocks().for_each(|block| address_map(&mut text, block));
    vec![File { name: "scalepool_registers.rdl".into(), text }]
}

/// The code tables of all fields, each once.
fn tables() -> Vec<&'static CodeTable> {
    let mut found: Vec<&CodeTable> = Vec::new();
    let files = blocks().flat_map(|block| block.files);
    for table in files.flat_map(RegisterFile::registers).flat_map(|r| r.fields).filter_map(|field| field.codes) {
        if !found.iter().any(|other| other.name == table.name) {
            found.push(table);
        }
    }
    found
}

fn enum_name(table: &CodeTable) -> String {
    upper_snake(table.name).to_lowercase() + "_e"
}

fn enumeration(text: &mut String, table: &CodeTable) {
    line!(text, "\nenum {} {{", enum_name(table));
    for code in table.codes {
        line!(text, "    {} = {}'d{} {{ desc = \"{}\"; }};", code.name, table.width, code.value, quoted(code.doc));
    }
    line!(text, "}};");
}

fn address_map(text: &mut String, block: &RegisterBlock) {
    line!(text, "\naddrmap {} {{", block.name);
    line!(text, "    desc = \"{}\";", quoted(block.doc));
    line!(text, "    lsb0;\n    littleendian;");
    for file in block.files {
        if file.count == 1 {
            file.registers().iter().for_each(|r| register(text, "    ", r, file.at_byte));
            continue;
        }
        line!(text, "    regfile {{");
        file.registers().iter().for_each(|r| register(text, "        ", r, 0));
        line!(text, "    }} {}[{}] @ {:#x} += {:#x};", file.name, file.count, file.at_byte, file.stride_bytes);
    }
    line!(text, "}};");
}

fn register(text: &mut String, indent: &str, register: &RegisterDef, base: usize) {
    line!(text, "{indent}reg {{");
    line!(text, "{indent}    desc = \"{}\";", quoted(register.doc));
    line!(text, "{indent}    regwidth = {};", register.bits);
    register.fields.iter().for_each(|f| field(text, indent, f));
    line!(text, "{indent}}} {} @ {:#x};", identifier(&register.name), base + register.at_byte);
}

fn field(text: &mut String, indent: &str, field: &RegisterField) {
    let access = match field.access {
        RegisterAccess::Constant => "sw = r; hw = na;",
        RegisterAccess::ReadOnly => "sw = r; hw = w;",
        RegisterAccess::ReadWrite => "sw = rw; hw = r;",
        RegisterAccess::Lockable => "sw = rw; hw = r; lockable;",
        RegisterAccess::Starts => "sw = rw; hw = r; singlepulse;",
        RegisterAccess::WriteOneClears => "sw = rw; hw = r; hwset; onwrite = woclr;",
    };
    let codes = field.codes.map_or(String::new(), |table| format!(" encode = {};", enum_name(table)));
    let reset = field.reset.map_or(String::new(), |reset| format!(" = {}'h{reset:x}", field.width));
    let (name, high) = (identifier(field.name), field.lsb + field.width - 1);
    line!(
        text,
        "{indent}    field {{ desc = \"{}\"; {access}{codes} }} {name}[{high}:{}]{reset};",
        quoted(field.doc),
        field.lsb
    );
}

/// A name that may be a word of the language.
fn identifier(name: &str) -> String {
    if WORDS.contains(&name) { format!("\\{name}") } else { name.to_owned() }
}

/// A text inside of quotes.
fn quoted(text: &str) -> String {
    comment(text).replace('\\', "").replace('"', "'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_the_language_are_escaped() {
        assert_eq!((identifier("mem"), identifier("memory")), ("\\mem".to_owned(), "memory".to_owned()));
        let text = &files()[0].text;
        assert!(text.contains("sw = r; hw = w; } \\mem[2:2];"), "{text}");
        // Hardware sets a bit that software clears, and never overwrites it.
        assert!(text.contains("sw = rw; hw = r; hwset; onwrite = woclr; } even_half_failed"), "{text}");
        assert!(text.contains("} decoder[10] @ 0x10 += 0x20;"));
    }
}
