//! `scalepool decode`: bytes to fields, and the rules they break.

use super::batch::{self, BatchAnswer};
use super::describe::title;
use super::table::TextTable;
use super::{CommandStatus, print_json};
use clap::Args;
use scalepool_forms::{FormError, message, number, object, text};
use scalepool_protocols::wire::{LayoutDef, Violation};
use std::io::{self, Write};

/// Decode a message and print every field, codes by name, and the rules that the message breaks.
#[derive(Debug, Args)]
pub(super) struct Decode {
    /// Name of a layout, as `list layouts` shows it.
    #[arg(required_unless_present = "jsonl", conflicts_with = "jsonl")]
    layout: Option<String>,
    /// Bytes of the message, byte 0 first.
    #[arg(required_unless_present = "jsonl", conflicts_with = "jsonl")]
    hex: Option<String>,
    /// Read `{"layout":..,"hex":..}` objects from stdin, one per line, and print one answer per line.
    #[arg(long)]
    jsonl: bool,
    /// Print a JSON object.
    #[arg(long)]
    json: bool,
}

impl Decode {
    pub fn run(self, out: &mut dyn Write) -> anyhow::Result<CommandStatus> {
        let (Some(layout), Some(hex)) = (self.layout, self.hex) else {
            return Ok(batch::stdin(out, |line: &str| {
                let form = scalepool_forms::parse(line)?;
                let form = object(&form, "message", &["layout", "bits", "hex"])?;
                let def = message::layout_of(form)?;
                let expected = "a string of hexadecimal digits";
                let hex = form.get("hex").ok_or_else(|| FormError::new("message", "no key `hex`", expected))?;
                let (bits, violations) = judge(def, text(hex, "hex", expected)?)?;
                let status = CommandStatus::of(&violations);
                Ok(BatchAnswer { form: message::judged_to_json(def, bits, &violations), status })
            })?);
        };
        let def = message::layout(&layout)?;
        let (bits, violations) = judge(def, &hex)?;
        if self.json {
            print_json(out, &message::judged_to_json(def, bits, &violations))?;
        } else {
            print(def, bits, &violations, out)?;
        }
        Ok(CommandStatus::of(&violations))
    }
}

fn judge(def: &'static LayoutDef, hex: &str) -> Result<(u128, Vec<Violation>), FormError> {
    let bits = def.from_bytes(&number::bytes_of(hex, "hex")?)?;
    let mut violations = Vec::new();
    def.check(bits, &mut violations);
    Ok((bits, violations))
}

fn print(def: &LayoutDef, bits: u128, violations: &[Violation], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}\n", title(def))?;
    let mut table = TextTable::new(["bits", "field", "value", "meaning"]);
    for f in def.fields {
        let raw = f.extract(bits);
        let code = f.codes.and_then(|table| table.codes.iter().find(|c| c.value == raw));
        let (value, meaning) = match code {
            Some(code) => (format!("{} ({raw})", code.name), code.doc),
            None if f.value(bits) < 10 => (f.value(bits).to_string(), f.doc),
            None => (format!("{:#x}", f.value(bits)), f.doc),
        };
        table.row([f.span(), f.name.into(), value, meaning.into()]);
    }
    table.print(out)?;
    if !violations.is_empty() {
        writeln!(out)?;
        let mut table = TextTable::new(["rule", "at", "violation"]);
        for v in violations {
            let text = format!("{}: found {}, expected {}", v.text, v.found, v.expected);
            table.row([v.rule.into(), v.at.to_string(), text]);
        }
        table.print(out)?;
    }
    Ok(())
}
