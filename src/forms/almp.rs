//! `{"kind":"request","state":"active","instance":"cachemem"}`, and L0p: `{"kind":"request","prio":0,"instance":4,"width":"x8"}`.

use super::{FormError, Object, number, object, shown};
use scalepool_protocols::wire::{FieldDef, LayoutDef};
use serde_json::Value;

/// Names of the request bit: 0 and 1.
const KINDS: [&str; 2] = ["status", "request"];
/// The field that `kind` stands for.
const KIND_FIELD: &str = "request";

/// Fields that have a key of their own; the message code says which layout it is.
fn keys(def: &'static LayoutDef) -> impl Iterator<Item = &'static FieldDef> {
    def.fields.iter().filter(|f| !f.reserved && ![KIND_FIELD, "code"].contains(&f.name))
}

/// The form of an ALMP word.
pub fn to_json(def: &'static LayoutDef, word: u32) -> Value {
    let bits = u128::from(word);
    let mut form = Object::new();
    let request = def.field(KIND_FIELD).map_or(0, |f| f.extract(bits));
    form.insert("kind".into(), KINDS[usize::from(request != 0)].into());
    for field in keys(def) {
        let value = match field.codes.and_then(|table| table.name_of(field.extract(bits))) {
            Some(name) => name.to_lowercase().into(),
            None => number::to_json(field.extract(bits)),
        };
        form.insert(field.name.into(), value);
    }
    Value::Object(form)
}

/// The word of an ALMP, written over `word`.
///
/// # Errors
/// Unknown key, name or a number that does not fit.
pub fn from_json(def: &'static LayoutDef, form: &Value, word: u32) -> Result<u32, FormError> {
    let known: Vec<&str> = ["kind"].into_iter().chain(keys(def).map(|f| f.name)).collect();
    let form = object(form, "almp", &known)?;
    let mut bits = u128::from(word);
    for (key, value) in form {
        let field = def.field(if key == "kind" { KIND_FIELD } else { key })?;
        let names: Vec<(u128, &str)> = match field.codes {
            Some(table) => table.codes.iter().map(|c| (c.value, c.name)).collect(),
            None if key == "kind" => (0..).zip(KINDS).collect(),
            None => Vec::new(),
        };
        let named = value
            .as_str()
            .and_then(|given| names.iter().find(|(_, name)| name.eq_ignore_ascii_case(given)).map(|(value, _)| *value));
        let value = match (named, value.as_str().filter(|s| number::parse(s).is_none())) {
            (Some(value), _) => value,
            (None, Some(found)) => {
                let expected = names.iter().map(|(_, name)| name.to_lowercase()).collect::<Vec<_>>().join(", ");
                let found = shown(&found.into());
                return Err(FormError::new(format!("almp.{key}"), found, format!("a number or one of: {expected}")));
            }
            (None, None) => number::from_json(value, &format!("almp.{key}"))?,
        };
        bits = field.insert(bits, value).map_err(|fault| def.error(fault))?;
    }
    Ok(bits as u32)
}
