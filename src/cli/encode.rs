//! `scalepool encode`: fields to bytes.

use super::batch::{self, BatchAnswer};
use super::{CommandStatus, print_json};
use clap::Args;
use scalepool_forms::{FormError, Object, message, number};
use scalepool_protocols::wire::LayoutDef;
use serde_json::Value;
use std::io::Write;

/// Encode a message and print its bytes as hex, byte 0 first.
///
/// A field that is left out gets its default value. A value is a decimal number, a hexadecimal number with `0x`, or the
/// name of a code.
#[derive(Debug, Args)]
pub(super) struct Encode {
    /// Name of a layout, as `list layouts` shows it.
    #[arg(required_unless_present = "jsonl", conflicts_with = "jsonl")]
    layout: Option<String>,
    /// Field values, e.g. `opcode=MemRd address=0x1000`.
    #[arg(value_name = "FIELD=VALUE", conflicts_with = "jsonl")]
    fields: Vec<String>,
    /// Read message objects from stdin, one per line, and print one answer per line.
    #[arg(long)]
    jsonl: bool,
    /// Print a JSON object.
    #[arg(long)]
    json: bool,
}

impl Encode {
    pub fn run(self, out: &mut dyn Write) -> anyhow::Result<CommandStatus> {
        let Some(layout) = self.layout else {
            return Ok(batch::stdin(out, |line: &str| {
                let (def, bits) = message::message_from_json(&scalepool_forms::parse(line)?)?;
                Ok(BatchAnswer { form: answer(def, bits), status: CommandStatus::Good })
            })?);
        };
        let def = message::layout(&layout)?;
        let bits = read_arguments(def, &self.fields)?;
        if self.json {
            print_json(out, &answer(def, bits))?;
        } else {
            writeln!(out, "{}", number::hex(&def.to_bytes(bits)))?;
        }
        Ok(CommandStatus::Good)
    }
}

/// `field=value` arguments over the defaults; a field stands there at most once.
fn read_arguments(def: &'static LayoutDef, arguments: &[String]) -> Result<u128, FormError> {
    let mut bits = def.default_bits();
    let mut seen: Vec<&str> = Vec::new();
    for argument in arguments {
        let at = || format!("{}: argument `{argument}`", def.name);
        let (name, value) = argument.split_once('=').ok_or_else(|| FormError::new(at(), "no `=`", "field=value"))?;
        if seen.contains(&name) {
            return Err(FormError::new(at(), format!("field `{name}` again"), "each field once"));
        }
        seen.push(name);
        bits = message::set_field(def, bits, name, &value.into())?;
    }
    Ok(bits)
}

/// `{"layout":..,"bits":87,"hex":..}`.
fn answer(def: &'static LayoutDef, bits: u128) -> Value {
    let mut form = Object::new();
    form.insert("layout".into(), def.name.into());
    form.insert("bits".into(), def.bits.into());
    form.insert("hex".into(), number::hex(&def.to_bytes(bits)).into());
    Value::Object(form)
}
