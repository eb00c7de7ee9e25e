//! SystemVerilog assertions: `scalepool_<family>_sva.sv`, one file a family.
//!
//! Modelled: the static rules of the rule table, those that one message or one flit shows on its own: reserved bits that are
//! set, codes without a meaning, slot formats that are not listed, what must be zero, the CRC. A module a layout,
//! `scalepool_cxl68_m2s_req_sva`, with a message of it as `message_i`; a module a flit, `flits`. In each one property a
//! rule, whose label is the rule id with underlines and whose message is id, place and text of the rule. Left out: rules over
//! several fields that are no table, and all that needs the flits before.
//!
//! To bind one: `bind my_port scalepool_cxl68_flit_down_sva sva (.clk_i(clk), .rst_ni(rst_n), .valid_i(valid && ready), ..);`.
//! A unit is a vector whose bits 7:0 are byte 0.

mod crc;
mod flits;

use super::names::{comment, short};
use super::{File, families};
use scalepool_protocols::rules;
use scalepool_protocols::wire::{FieldDef, LayoutDef};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

const HEAD: &str = "// Made by `scalepool export sva` from the layout and rule tables; do not edit.\n";

/// All files.
pub fn files() -> Vec<File> {
    let made = families()
        .into_iter()
        .map(|(family, layouts)| File { name: format!("scalepool_{family}_sva.sv"), text: file(family, &layouts) });
    made.collect()
}

/// Ids of all rules that have a property in some module.
pub fn rules_with_properties() -> BTreeSet<&'static str> {
    let of_layouts = families().into_values().flatten().flat_map(|layout| conditions(layout, layout.bits).into_keys());
    of_layouts.chain(families().into_keys().flat_map(flits::rules)).collect()
}

// Writing to a string cannot fail; its result is dropped throughout.
macro_rules! line {
    ($text:expr) => { $text.push('\n') };
    ($text:expr, $($arg:tt)*) => {{ let _ = writeln!($text, $($arg)*); }};
}
use line;

fn file(family: &str, layouts: &[&LayoutDef]) -> String {
    let mut text = HEAD.to_owned();
    line!(text, "package scalepool_{family}_rules_pkg;");
    for layout in layouts {
        for (rule, conditions) in conditions(layout, layout.bits) {
            function(&mut text, layout, rule, &conditions);
        }
    }
    flits::functions(&mut text, family);
    line!(text, "endpackage : scalepool_{family}_rules_pkg");
    for layout in layouts {
        let rules: Vec<&str> = conditions(layout, layout.bits).into_keys().collect();
        if !rules.is_empty() {
            module(&mut text, family, layout, &rules);
        }
    }
    flits::modules(&mut text, family);
    text
}

/// By rule, what has to hold of a message `m` that is there, or of any where the condition does not say so. Fields beyond
/// the bits that are kept of it always hold: they are 0, and nothing is said of them.
fn conditions(layout: &LayoutDef, kept_bits: u32) -> BTreeMap<&'static str, Vec<String>> {
    let has_valid = layout.fields.first().is_some_and(|f| f.name == "valid");
    let mut found: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for field in layout.fields.iter().filter(|field| field.lsb < kept_bits) {
        let bits = bits("m", field.lsb, field.width);
        if field.reserved {
            found.entry(layout.rule).or_default().push(format!("{bits} == '0"));
        }
        if let Some((rule, legal)) = legal_codes(field, &bits) {
            let unless = if has_valid { "!m[0] || " } else { "" };
            found.entry(rule).or_default().push(format!("{unless}{legal}"));
        }
    }
    found
}

/// Rule and condition of a field's codes; `None` where all of them have a meaning.
fn legal_codes(field: &FieldDef, bits: &str) -> Option<(&'static str, String)> {
    let table = field.codes?;
    let mut values: Vec<u128> = table.codes.iter().map(|c| c.value).filter(|v| *v <= field.max_raw()).collect();
    values.sort_unstable();
    values.dedup();
    if values.len() as u128 > field.max_raw() {
        return None;
    }
    let listed: Vec<_> = values.iter().map(|v| format!("{}'h{v:x}", field.width)).collect();
    Some((field.codes_rule.unwrap_or(table.rule), format!("{bits} inside {{{}}}", listed.join(", "))))
}

fn bits(of: &str, lsb: u32, width: u32) -> String {
    match width {
        1 => format!("{of}[{lsb}]"),
        _ => format!("{of}[{}:{lsb}]", lsb + width - 1),
    }
}

/// `CXL68-ENC-01` as a label.
fn label(rule: &str) -> String {
    rule.replace('-', "_")
}

/// Name of the function for a layout and a rule.
fn ok_name(layout: &LayoutDef, rule: &str) -> String {
    format!("ok_{}_{}", short(layout.name), label(rule).to_lowercase())
}

fn function(text: &mut String, layout: &LayoutDef, rule: &str, conditions: &[String]) {
    line!(text, "  function automatic logic {}(input logic [{}:0] m);", ok_name(layout, rule), layout.bits - 1);
    line!(text, "    return ({});", conditions.join(")\n        && ("));
    line!(text, "  endfunction\n");
}

/// Properties of a module, in order: rule and condition.
type Properties = Vec<(&'static str, String)>;

fn module(text: &mut String, family: &str, layout: &LayoutDef, rules: &[&'static str]) {
    let name = format!("scalepool_{family}_{}_sva", short(layout.name));
    line!(text, "\n// {}: {}", layout.name, comment(layout.doc));
    let input = format!("input logic [{}:0] message_i", layout.bits - 1);
    let properties = rules.iter().map(|rule| (*rule, format!("{}(message_i)", ok_name(layout, rule)))).collect();
    checker(text, &name, family, &[input], &[], layout.name, &properties);
}

/// A module of properties that hold whenever `valid_i` is 1 at an edge of the clock outside of reset. `terms` are signals
/// inside: name, type, value.
fn checker(
    text: &mut String,
    name: &str,
    family: &str,
    inputs: &[String],
    terms: &[(String, String, String)],
    of: &str,
    properties: &Properties,
) {
    line!(text, "module {name}");
    line!(text, "  import scalepool_{family}_rules_pkg::*;");
    line!(text, "(\n    input logic clk_i,\n    input logic rst_ni,\n    input logic valid_i,");
    line!(text, "    {}\n);", inputs.join(",\n    "));
    for (name, kind, value) in terms {
        line!(text, "  {kind} {name};\n  assign {name} = {value};");
    }
    for (rule, condition) in properties {
        let told = rules::find(rule).map_or(String::new(), |row| comment(row.text).replace(['"', '\\', '%'], "'"));
        line!(text, "  {}: assert property (@(posedge clk_i) disable iff (!rst_ni)", label(rule));
        line!(text, "    valid_i |-> {condition})");
        line!(text, "  else $error(\"{rule} {of}: {told}\");");
    }
    line!(text, "endmodule : {name}");
}
