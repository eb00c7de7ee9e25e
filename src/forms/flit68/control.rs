//! `{"name":"RETRY.Req","fields":{..}}`.

use crate::{FormError, Object, message, number, object, shown, text};
use scalepool_protocols::cxl::cxl68::control::{Control, Ide, Llcrd};
use scalepool_protocols::wire::{LayoutDef, Wire};
use serde_json::Value;

/// Fields that the name of a control flit stands for.
const BY_NAME: [&str; 4] = ["flit_type", "ctl_fmt", "llctrl", "sub_type"];

/// A field whose bits stand in several places.
struct SplitField {
    name: &'static str,
    width: u32,
    parts: &'static [&'static str],
    get: fn(u128) -> u128,
    set: fn(u128, u128) -> u128,
}

/// Bits of a message whose own values always fit.
fn bits(message: &impl Wire) -> u128 {
    message.to_bits().expect("values of from_bits fit their fields")
}

static FULL_ACK: SplitField = SplitField {
    name: "full_ack",
    width: 8,
    parts: &["ak", "ack_low", "ack_high"],
    get: |slot| Llcrd::from_bits(slot).full_ack().into(),
    set: |slot, count| {
        let mut llcrd = Llcrd::from_bits(slot);
        llcrd.set_full_ack(count as u8);
        bits(&llcrd)
    },
};

static MAC: SplitField = SplitField {
    name: "mac",
    width: 96,
    parts: &["payload_low", "payload_mid", "payload_high"],
    get: |slot| Ide::from_bits(slot).payload(),
    set: |slot, mac| {
        let mut ide = Ide::from_bits(slot);
        ide.set_payload(mac);
        bits(&ide)
    },
};

/// The joined field of a kind, and the parts that mean nothing alone.
fn joined(control: &Control) -> (Option<&'static SplitField>, &'static [&'static str]) {
    match control {
        Control::LlcrdAcknowledge(_) => (Some(&FULL_ACK), FULL_ACK.parts),
        Control::IdeTmac(_) => (Some(&MAC), MAC.parts),
        // The payload is reserved (`cxl-68b` §6.3).
        Control::IdeIdle(_) | Control::IdeStart(_) => (None, MAC.parts),
        _ => (None, &[]),
    }
}

/// The form of slot 0 of a control flit.
pub fn to_json(slot: u128) -> Value {
    let control = Control::from_slot(slot);
    let mut form = Object::new();
    form.insert("name".into(), control.name().into());
    let Some(def) = control.def() else { return Value::Object(form) };
    let (joined, parts) = joined(&control);
    let mut fields = Object::new();
    if let Some(joined) = joined {
        fields.insert(joined.name.into(), number::to_json((joined.get)(slot)));
    }
    for f in def.fields.iter().filter(|f| !f.reserved && !BY_NAME.contains(&f.name) && !parts.contains(&f.name)) {
        fields.insert(f.name.into(), message::field_to_json(f, slot));
    }
    form.insert("fields".into(), Value::Object(fields));
    Value::Object(form)
}

/// Slot 0 of a form. `hex` is the slot that it is written over, if one is given.
///
/// # Errors
/// Unknown name or field; a value that does not fit; a reserved control flit without `hex`.
pub fn from_json(form: &Value, hex: Option<u128>) -> Result<u128, FormError> {
    let form = object(form, "control", &["name", "fields"])?;
    let expected = || format!("one of: {}, reserved", Control::NAMES.join(", "));
    let name = form.get("name").ok_or_else(|| FormError::new("control", "no key `name`", expected()))?;
    let name = text(name, "control.name", "a string")?;
    if name == "reserved" {
        return hex.ok_or_else(|| FormError::new("control", "a reserved control flit", "`hex` of slot 0"));
    }
    let control =
        Control::by_name(name).ok_or_else(|| FormError::new("control.name", shown(&name.into()), expected()))?;
    let (Some(def), Ok(own)) = (control.def(), control.to_slot()) else {
        return Err(FormError::new("control.name", name, expected()));
    };
    let mut slot = hex.map_or(own, |hex| named(def, own, hex));
    let (joined, _) = joined(&control);
    let fields = match form.get("fields") {
        Some(fields) => {
            fields.as_object().ok_or_else(|| FormError::new("control.fields", shown(fields), "an object"))?
        }
        None => &Object::new(),
    };
    for (name, value) in fields {
        slot = match joined {
            Some(joined) if joined.name == name => {
                let at = format!("control.fields.{name}");
                let value = number::from_json(value, &at)?;
                if value >> joined.width != 0 {
                    let max = u128::MAX >> (128 - joined.width);
                    return Err(FormError::new(at, format!("{value:#x}"), format!("at most {max:#x}")));
                }
                (joined.set)(slot, value)
            }
            _ => message::set_field(def, slot, name, value)?,
        };
    }
    Ok(slot)
}

/// `hex` with the class and kind of `own`: the name of a control flit counts, not the bits under it. What the class
/// does not decide (CTL_FMT, Type) stays as it was given.
fn named(def: &LayoutDef, own: u128, hex: u128) -> u128 {
    let of_name = def.fields.iter().filter(|f| ["llctrl", "sub_type"].contains(&f.name));
    let mask = of_name.fold(0, |mask, f| mask | f.max_raw() << f.lsb);
    hex & !mask | own & mask
}
