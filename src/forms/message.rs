//! `{"layout":"cxl68.m2s_req","fields":{"valid":1,"opcode":"MemRd","address":"0x1000","tag":7}}`.

use super::{FormError, Object, number, object, shown, text, violation};
use scalepool_protocols::registry;
use scalepool_protocols::wire::{FieldDef, FieldFault, LayoutDef, Violation};
use serde_json::Value;

/// A field of a message: the name of its code, else the number; a byte address for an address field.
pub fn field_to_json(field: &FieldDef, message: u128) -> Value {
    match field.codes.and_then(|table| table.name_of(field.extract(message))) {
        Some(name) => name.into(),
        None => number::to_json(field.value(message)),
    }
}

/// All fields of a message, reserved ones too, in order of the layout.
pub fn fields_to_json(def: &LayoutDef, message: u128) -> Value {
    Value::Object(def.fields.iter().map(|f| (f.name.to_owned(), field_to_json(f, message))).collect())
}

/// A message.
pub fn message_to_json(def: &LayoutDef, message: u128) -> Value {
    let mut form = Object::new();
    form.insert("layout".into(), def.name.into());
    form.insert("fields".into(), fields_to_json(def, message));
    Value::Object(form)
}

/// A message with the rules that it breaks.
pub fn judged_to_json(def: &LayoutDef, message: u128, violations: &[Violation]) -> Value {
    let mut form = message_to_json(def, message);
    form["violations"] = violation::list_to_json(violations);
    form
}

/// Reads a message: the layout and its bits. Fields left out have their default. A `violations` list, as
/// [`judged_to_json`] writes one, is passed over.
///
/// # Errors
/// Unknown layout, field, code or key; a value that does not fit.
pub fn message_from_json(form: &Value) -> Result<(&'static LayoutDef, u128), FormError> {
    let form = object(form, "message", &["layout", "fields", "violations"])?;
    let def = layout_of(form)?;
    let bits = match form.get("fields") {
        Some(fields) => fields_from_json(def, def.default_bits(), fields)?,
        None => def.default_bits(),
    };
    Ok((def, bits))
}

/// The layout that the key `layout` names.
///
/// # Errors
/// No such key, or the name of no layout.
pub fn layout_of(form: &Object) -> Result<&'static LayoutDef, FormError> {
    let name =
        form.get("layout").ok_or_else(|| FormError::new("message", "no key `layout`", "the name of a layout"))?;
    layout(text(name, "layout", "the name of a layout")?)
}

/// Puts the fields of an object into a message that has a value for all others.
///
/// # Errors
/// Unknown field or code; a value that does not fit.
pub fn fields_from_json(def: &'static LayoutDef, message: u128, fields: &Value) -> Result<u128, FormError> {
    let fields = fields
        .as_object()
        .ok_or_else(|| FormError::new(format!("{}: fields", def.name), shown(fields), "an object"))?;
    fields.iter().try_fold(message, |message, (name, value)| set_field(def, message, name, value))
}

/// Puts one value into a message: a number, a `0x` string or the name of a code.
///
/// # Errors
/// Unknown field or code; a value that does not fit.
pub fn set_field(def: &'static LayoutDef, message: u128, name: &str, value: &Value) -> Result<u128, FormError> {
    let field = def.field(name)?;
    let number = match (field.codes, value) {
        (Some(table), Value::String(code)) => {
            table.value_of(code).or_else(|| number::parse(code)).ok_or_else(|| {
                let expected = table.codes.iter().map(|c| c.name).collect::<Vec<_>>().join(", ");
                def.error(FieldFault::UnknownCode { field: field.name, found: code.clone(), expected })
            })?
        }
        _ => number::from_json(value, &format!("{}: field `{name}` at bits {}", def.name, field.span()))?,
    };
    Ok(field.insert(message, number).map_err(|fault| def.error(fault))?)
}

/// The layout of a name.
///
/// # Errors
/// There is none; the message lists those with the most similar names.
pub fn layout(name: &str) -> Result<&'static LayoutDef, FormError> {
    registry::layout(name).ok_or_else(|| {
        let near = most_similar(name, registry::layouts().map(|l| l.name));
        let expected = format!("a name that `list layouts` shows, such as {}", near.join(", "));
        FormError::new("layout", shown(&name.into()), expected)
    })
}

/// The three names that need the fewest changes of a character to become `name`, best first.
pub fn most_similar<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    // Names are short; a long input is compared by its beginning only.
    let name: Vec<char> = name.chars().take(64).collect();
    let mut known: Vec<_> = known.map(|k| (changes(&name, k), k)).collect();
    known.sort();
    known.truncate(3);
    known.into_iter().map(|(_, k)| k).collect()
}

/// Characters to insert, delete or replace (Levenshtein distance), row by row.
fn changes(a: &[char], b: &str) -> usize {
    let mut row: Vec<usize> = (0..=a.len()).collect();
    for (i, cb) in b.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, &ca) in a.iter().enumerate() {
            let replaced = diagonal + usize::from(ca != cb);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[a.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_layout_reads_what_it_writes() {
        for def in registry::layouts() {
            for bits in [0, def.default_bits(), u128::MAX >> (128 - def.bits)] {
                let form = message_to_json(def, bits);
                let (read, again) = message_from_json(&form).unwrap();
                assert_eq!((read.name, again), (def.name, bits));
            }
        }
    }

    #[test]
    fn codes_by_name_and_number_and_addresses_in_bytes() {
        let read = |fields| message_from_json(&json!({"layout": "cxl68.m2s_req", "fields": fields})).map(|m| m.1);
        assert_eq!(read(json!({})), Ok(1), "valid is 1 when left out");
        assert_eq!(read(json!({"opcode": "MemRd", "address": "0x1000"})), Ok(1 | 1 << 1 | 0x80 << 28));
        assert_eq!(read(json!({"opcode": 1, "address": 4096})), read(json!({"opcode": "0x1", "address": "4096"})));
        assert_eq!(
            read(json!({"address": 1})).unwrap_err().to_string(),
            "cxl68.m2s_req: field `address` at bits 74:28: found 0x1, expected a byte address that is a multiple of 32"
        );
    }

    #[test]
    fn similar_names() {
        assert_eq!(most_similar("m2s_req", registry::layouts().map(|l| l.name))[0], "cxl68.m2s_req");
        assert_eq!(most_similar("", ["ab", "a", "abc", "b"].into_iter()), ["a", "b", "ab"]);
    }
}
