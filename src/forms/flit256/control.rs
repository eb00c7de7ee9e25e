//! `{"name":"Viral","fields":{"ld_ids":"0x1"}}`.

use crate::{FormError, Object, message, object, shown, text};
use scalepool_protocols::cxl::cxl256::control::{self, ControlKind, KINDS};
use scalepool_protocols::cxl::cxl256::slot;
use scalepool_protocols::wire::FieldDef;
use serde_json::Value;

/// Name of a kind that the table does not list.
const UNLISTED: &str = "reserved";

/// Fields that the name does not stand for.
fn fields(kind: &ControlKind) -> impl Iterator<Item = &'static FieldDef> {
    let payload = kind.has_payload;
    let by_name = ["slot_fmt", "llctrl", "sub_type"];
    kind.def.fields.iter().filter(move |f| payload && !f.reserved && !by_name.contains(&f.name))
}

/// The form of a control slot.
pub fn to_json(slot: u128) -> Value {
    let mut form = Object::new();
    let Some(kind) = control::kind(slot) else {
        form.insert("name".into(), UNLISTED.into());
        return Value::Object(form);
    };
    form.insert("name".into(), kind.name.into());
    let fields = fields(kind).map(|f| (f.name.to_owned(), message::field_to_json(f, slot)));
    form.insert("fields".into(), Value::Object(fields.collect()));
    Value::Object(form)
}

/// The slot of a form. `hex` is the slot that it is written over, if one is given.
///
/// # Errors
/// Unknown name or field; a value that does not fit; an unlisted kind without `hex`.
pub fn from_json(form: &Value, hex: Option<u128>) -> Result<u128, FormError> {
    let form = object(form, "control", &["name", "fields"])?;
    let expected = || format!("one of: {}, {UNLISTED}", KINDS.each_ref().map(|k| k.name).join(", "));
    let name = form.get("name").ok_or_else(|| FormError::new("control", "no key `name`", expected()))?;
    let name = text(name, "control.name", "a string")?;
    if name == UNLISTED {
        let hex = hex.ok_or_else(|| FormError::new("control", "an unlisted control slot", "`hex` of the slot"))?;
        let unlisted = slot::code(hex) == slot::CONTROL && control::kind(hex).is_none();
        let listed = || FormError::new("control.name", UNLISTED, "`hex` of a control slot whose kind is unlisted");
        return unlisted.then_some(hex).ok_or_else(listed);
    }
    let kind = control::by_name(name).ok_or_else(|| FormError::new("control.name", shown(&name.into()), expected()))?;
    // Format, class and kind are the low 12 bits; the name decides them.
    const BY_NAME: u128 = 0xfff;
    let own = kind.default_slot();
    let slot = hex.map_or(own, |hex| hex & !BY_NAME | own & BY_NAME);
    match form.get("fields") {
        Some(fields) => message::fields_from_json(kind.def, slot, fields),
        None => Ok(slot),
    }
}
