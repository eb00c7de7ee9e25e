//! SystemVerilog: `scalepool_pkg.sv`, classes over the C ABI, so that a bench has no text to search.
//!
//! From the tables come a class for each message of CXL, with the struct of its layout, its defaults, and constraints on
//! reserved bits and codes for `randomize()`, rules over several fields being left to `solve_legal()`; and a struct for each flit. The
//! classes of link ends, transactions and bridges stand in `classes/` as they are. The package needs `scalepool_dpi_pkg` and the packages
//! of the families. Left out: coverage, see [`super::coverage_package`], and
//! flits of CXL.io.

use super::names::{comment, short};
use super::{File, families, interface_modules};
use scalepool_protocols::cxl::cxl256::Routing;
use scalepool_protocols::cxl::message::Class as AnyClass;
use scalepool_protocols::cxl::{cxl68, cxl256};
use scalepool_protocols::ualink;
use scalepool_protocols::wire::{FieldDef, FrameDef, LayoutDef, Wire};
use std::collections::BTreeSet;
use std::fmt::Write;

/// What stands in front of everything.
const HEAD: &str = "\
// Made by `scalepool export sv` from the layout tables; do not edit.
//
// Link ends, messages, events and transactions of the model as classes. Compile scalepool_dpi_pkg (with its C file and the shared
// library) and the packages of the families first.
package scalepool_pkg;
";
const BASE: &str = include_str!("classes/base.sv");
const LINKS: &str = include_str!("classes/links.sv");
const WAIVERS: &str = include_str!("classes/waivers.sv");
const FLITS: &str = include_str!("classes/flits.sv");
const TRANSACTIONS: &str = include_str!("classes/transactions.sv");
const REQUESTS: &str = include_str!("classes/requests.sv");
const IO: &str = include_str!("classes/io.sv");
const CACHE: &str = include_str!("classes/cache.sv");
const BRIDGE: &str = include_str!("classes/bridge.sv");
const INTERFACES: &str = include_str!("classes/interfaces.sv");

/// The package.
pub fn file() -> File {
    let mut text = HEAD.to_owned();
    text += BASE;
    for frame in [
        &cxl68::unit::map::FRAME,
        &cxl256::flit::standard::FRAME,
        &cxl256::flit::lopt::FRAME,
        &ualink::flit::map::FRAME,
    ] {
        flit(&mut text, frame);
    }
    let messages: Vec<&LayoutDef> = families().into_values().flatten().filter(|def| is_message(def)).collect();
    for def in &messages {
        class(&mut text, def, "sp_message");
    }
    let of_transactions = [ualink::field::TlReq::DEF, ualink::field::TlRsp::DEF];
    for def in of_transactions {
        class(&mut text, def, "ualink_tl_message");
    }
    factory(&mut text, &messages, &of_transactions);
    text += LINKS;
    text += WAIVERS;
    text += FLITS;
    text += TRANSACTIONS;
    text += CACHE;
    text += REQUESTS;
    text += IO;
    text += BRIDGE;
    interface_modules::structs(&mut text);
    text += INTERFACES;
    text += "\nendpackage : scalepool_pkg\n";
    File { name: "scalepool_pkg.sv".into(), text }
}

/// Whether a layout is that of a message of CXL.cache or CXL.mem.
pub(super) fn is_message(def: &LayoutDef) -> bool {
    let of_256 =
        [Routing::Hbr, Routing::Pbr].into_iter().any(|r| AnyClass::ALL.into_iter().any(|c| c.def(r).name == def.name));
    of_256 || cxl68::message::Class::of(def).is_some()
}

// Writing to a string cannot fail; its result is dropped throughout.
macro_rules! line {
    ($text:expr) => { $text.push('\n') };
    ($text:expr, $($arg:tt)*) => {{ let _ = writeln!($text, $($arg)*); }};
}

/// The name of a layout as one word: `cxl68_m2s_req`.
pub(super) fn word(name: &str) -> String {
    name.replace('.', "_")
}

fn flit(text: &mut String, frame: &FrameDef) {
    line!(text, "\n  // Flit {} ({}), byte 0 in bits 7:0.", frame.name, comment(frame.source));
    line!(text, "  typedef struct packed {{");
    for segment in frame.segments.iter().rev() {
        let bits = 8 * segment.len_bytes;
        line!(text, "    bit [{}:0] {}; // {}", bits - 1, segment.name.to_lowercase(), comment(segment.doc));
    }
    line!(text, "  }} {}_t;", word(frame.name));
}

/// What a field of a message without a broken rule may be; empty: anything.
fn constraint(field: &FieldDef) -> String {
    let width = field.width;
    if field.reserved {
        return format!("fields.{} == {width}'h0;", field.name);
    }
    if field.name == "valid" {
        return "fields.valid == 1'h1;".into();
    }
    let Some(table) = field.codes else { return String::new() };
    let values: BTreeSet<u128> = table.codes.iter().map(|code| code.value).collect();
    if values.len() as u128 == 1 << width {
        return String::new();
    }
    let values: Vec<String> = values.into_iter().map(|value| format!("{width}'h{value:x}")).collect();
    format!("fields.{} inside {{{}}};", field.name, values.join(", "))
}

/// The class of a message, derived from another one.
fn class(text: &mut String, def: &LayoutDef, base: &str) {
    let (name, package) = (word(def.name), format!("scalepool_{}_pkg", def.family()));
    let kind = format!("{package}::{}_t", short(def.name));
    let top = def.bits - 1;
    line!(text, "\n  // {}: {}", def.name, comment(def.doc));
    line!(text, "  class {name} extends {base};");
    line!(text, "    rand {kind} fields;\n");
    line!(text, "    constraint legal {{");
    for rule in def.fields.iter().map(constraint).filter(|rule| !rule.is_empty()) {
        line!(text, "      {rule}");
    }
    line!(text, "    }}\n");
    line!(text, "    function new();");
    line!(text, "      super.new(\"{}\");", def.name);
    line!(text, "      fields = {kind}'({}'h{:x});", def.bits, def.default_bits());
    line!(text, "    endfunction\n");
    line!(text, "    virtual function int unsigned bits_bytes();");
    line!(text, "      return {};", def.len_bytes());
    line!(text, "    endfunction\n");
    let reserved = def.fields.iter().filter(|f| f.reserved).fold(0, |bits, f| bits | ((1u128 << f.width) - 1) << f.lsb);
    line!(text, "    virtual function bit [255:0] reserved_bits();");
    line!(text, "      return 256'h{reserved:x};");
    line!(text, "    endfunction\n");
    if let Some(valid) = def.fields.iter().find(|field| field.name == "valid") {
        line!(text, "    virtual function bit [255:0] valid_bit();");
        line!(text, "      return 256'h{:x};", 1u128 << valid.lsb);
        line!(text, "    endfunction\n");
    }
    line!(text, "    virtual function void pack();");
    line!(text, "      bits = 256'(fields);");
    line!(text, "    endfunction\n");
    line!(text, "    virtual function void unpack();");
    line!(text, "      fields = {kind}'(bits[{top}:0]);");
    line!(text, "    endfunction");
    line!(text, "  endclass");
}

fn factory(text: &mut String, messages: &[&LayoutDef], others: &[&LayoutDef]) {
    line!(text, "\n  // Makes messages by the names of their layouts.");
    line!(text, "  class sp_message_factory;");
    line!(text, "    // A message of the class of a layout; of sp_message if it has none of its own.");
    line!(text, "    static function sp_message create(string layout);");
    line!(text, "      case (layout)");
    for def in messages.iter().chain(others) {
        let name = word(def.name);
        line!(text, "        \"{}\": begin {name} m; m = new(); return m; end", def.name);
    }
    line!(text, "        \"nvlink.header\": begin nvlink_message m; m = new(); return m; end");
    line!(text, "        \"tlp\": begin cxlio_tlp m; m = new(); return m; end");
    line!(text, "        \"\": begin ualink_tl_flit m; m = new(); return m; end");
    line!(text, "        default: begin sp_message m; m = new(layout); return m; end");
    line!(text, "      endcase");
    line!(text, "    endfunction\n");
    line!(text, "    // Names of the layouts of all messages of CXL.");
    line!(text, "    static function void names(ref string all[$]);");
    let names: Vec<String> = messages.iter().map(|def| format!("\"{}\"", def.name)).collect();
    let rows: Vec<String> = names.chunks(5).map(|row| row.join(", ")).collect();
    line!(text, "      all = '{{");
    line!(text, "        {}", rows.join(",\n        "));
    line!(text, "      }};");
    line!(text, "    endfunction");
    line!(text, "  endclass");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_message_has_a_class_and_the_factory_makes_it() {
        let text = file().text;
        assert!(text.matches("extends sp_message").count() > 30, "{}", text.matches("extends sp_message").count());
        for name in ["cxl68_m2s_req", "cxl256_s2m_bisnp", "cxlpbr_m2s_rwd"] {
            assert!(text.contains(&format!("class {name} extends sp_message;")), "{name}");
            assert!(text.contains(&format!("begin {name} m; m = new(); return m; end")), "{name}");
        }
        assert!(text.is_ascii());
    }
}
