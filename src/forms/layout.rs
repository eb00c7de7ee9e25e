//! `{"layout":"cxl68.m2s_req","bits":87,"fields":[{"name":"valid","lsb":0,"width":1,..},..]}`: the table of a layout.

use super::{Object, number};
use scalepool_protocols::wire::{FieldDef, LayoutDef};
use serde_json::Value;

/// The layout with its fields.
pub fn to_json(def: &LayoutDef) -> Value {
    let mut form = Object::new();
    form.insert("layout".into(), def.name.into());
    form.insert("family".into(), def.family().into());
    form.insert("bits".into(), def.bits.into());
    form.insert("basis".into(), def.basis.name().into());
    form.insert("source".into(), def.source.into());
    form.insert("doc".into(), def.doc.into());
    form.insert("fields".into(), def.fields.iter().map(field_to_json).collect());
    Value::Object(form)
}

fn field_to_json(field: &FieldDef) -> Value {
    let mut form = Object::new();
    form.insert("name".into(), field.name.into());
    form.insert("lsb".into(), field.lsb.into());
    form.insert("width".into(), field.width.into());
    if field.address_lsb > 0 {
        form.insert("address_lsb".into(), field.address_lsb.into());
    }
    if let Some(table) = field.codes {
        let codes = table.codes.iter().map(|c| (c.name.to_owned(), number::to_json(c.value)));
        form.insert("codes".into(), Value::Object(codes.collect()));
    }
    if let Some(numbers) = field.numbers {
        let rows = numbers.rows.iter().map(|&(n, meaning)| (n.to_string(), meaning.into()));
        form.insert("numbers".into(), Value::Object(rows.collect()));
    }
    form.insert("reserved".into(), field.reserved.into());
    form.insert("doc".into(), field.doc.into());
    Value::Object(form)
}
