//! SystemVerilog: `scalepool_coverage_pkg.sv`, a covergroup for each message of CXL, to sample what a link end sends and takes.
//!
//! From the layout tables: a coverpoint for each field with named codes, a bin for each code. Simulators without functional coverage
//! leave this file out, so it is a package of its own beside `scalepool_pkg`. Left out: crosses, and what stands in flits: a link end with
//! `coverage` in its configuration counts that (`sp_link_state`).

use super::File;
use super::class_package::{is_message, word};
use super::families;
use super::names::{comment, short};
use scalepool_protocols::wire::{Code, LayoutDef};
use std::fmt::Write;

const HEAD: &str = "\
// Made by `scalepool export sv` from the layout tables; do not edit.
//
// Functional coverage of messages: make one sp_message_coverage beside a link end and give it each message. Verilator, which has
// linted this file, ignores covergroups; no simulator that has them has run it.
package scalepool_coverage_pkg;
  import scalepool_pkg::*;

  // verilator lint_off COVERIGN
";

// Writing to a string cannot fail; its result is dropped throughout.
macro_rules! line {
    ($text:expr, $($arg:tt)*) => {{ let _ = writeln!($text, $($arg)*); }};
}

/// The package.
pub fn file() -> File {
    let messages: Vec<&LayoutDef> = families().into_values().flatten().filter(|def| is_message(def)).collect();
    let mut text = HEAD.to_owned();
    line!(text, "  class sp_message_coverage;");
    for def in &messages {
        group(&mut text, def);
    }
    line!(text, "    function new();");
    for def in &messages {
        line!(text, "      cg_{} = new();", word(def.name));
    }
    line!(text, "    endfunction\n");
    line!(text, "    // Counts a message that was sent or has come; one of another layout counts nowhere.");
    line!(text, "    function void sample(sp_message message);");
    line!(text, "      case (message.layout)");
    for def in &messages {
        let name = word(def.name);
        line!(text, "        \"{}\": begin", def.name);
        line!(text, "          {name} of_layout;");
        line!(text, "          if ($cast(of_layout, message)) cg_{name}.sample(of_layout.fields);");
        line!(text, "        end");
    }
    line!(text, "        default: ;");
    line!(text, "      endcase");
    line!(text, "    endfunction");
    line!(text, "  endclass");
    text += "  // verilator lint_on COVERIGN\n\nendpackage : scalepool_coverage_pkg\n";
    File { name: "scalepool_coverage_pkg.sv".into(), text }
}

fn group(text: &mut String, def: &LayoutDef) {
    let kind = format!("scalepool_{}_pkg::{}_t", def.family(), short(def.name));
    line!(text, "    // {}: {}", def.name, comment(def.doc));
    line!(text, "    covergroup cg_{} with function sample({kind} fields);", word(def.name));
    line!(text, "      option.per_instance = 1;");
    for field in def.fields.iter().filter(|field| !field.reserved) {
        let Some(table) = field.codes else {
            if field.width == 1 {
                line!(text, "      {0}: coverpoint fields.{0};", field.name);
            }
            continue;
        };
        line!(text, "      {0}: coverpoint fields.{0} {{", field.name);
        // Of several names of one value the first one has the bin.
        let is_first = |(n, code): &(usize, &Code)| table.codes[..*n].iter().all(|other| other.value != code.value);
        for (_, code) in table.codes.iter().enumerate().filter(is_first) {
            line!(text, "        bins {} = {{{}'h{:x}}};", code.name, field.width, code.value);
        }
        line!(text, "      }}");
    }
    line!(text, "    endgroup\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_has_a_bin_for_each_opcode_and_every_name_is_one() {
        let text = file().text;
        assert!(
            text.contains("covergroup cg_cxl68_m2s_req with function sample(scalepool_cxl68_pkg::m2s_req_t fields);")
        );
        assert!(text.contains("        bins MemRd = {4'h1};"));
        let names = text.lines().filter_map(|line| line.trim().strip_prefix("bins ")?.split(' ').next());
        for name in names {
            let is_identifier = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
            assert!(is_identifier && name.starts_with(|c: char| c.is_ascii_uppercase()), "{name}");
        }
        assert_eq!(text.matches("covergroup cg_").count(), text.matches(" = new();").count());
    }
}
