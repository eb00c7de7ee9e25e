//! A DLLP to its object and back.

use crate::{FormError, Object, message, number, object};
use scalepool_protocols::cxl::cxlio::dllp::Dllp;
use serde_json::Value;

/// The object of a DLLP; `header_bit_4` is the bit of the flit header that says which kinds of DLLP there are. Four zero
/// bytes say nothing without that bit, as in a NOP of the physical layer (`cxl-256b` §1.4): they are no Ack of number 0,
/// which flits carry in their header.
pub fn dllp_to_json(dllp: Dllp, header_bit_4: bool) -> Value {
    let mut form = Object::new();
    form.insert("hex".into(), number::hex(&dllp.0).into());
    if dllp == Dllp::default() && !header_bit_4 {
        return Value::Object(form);
    }
    if let Some(name) = dllp.name(header_bit_4) {
        form.insert("type".into(), name.into());
    }
    if let Some(def) = dllp.def(header_bit_4) {
        form.insert("message".into(), message::message_to_json(def, dllp.bits()));
    }
    Value::Object(form)
}

/// Reads a DLLP: `hex` first, then `message` over it; `type` is passed over.
///
/// # Errors
/// Unknown keys and fields, values that do not fit, a message of another family or length.
pub fn dllp_from_json(form: &Value, at: &str) -> Result<Dllp, FormError> {
    let form = object(form, at, &["hex", "type", "message"])?;
    let mut dllp = match form.get("hex") {
        Some(hex) => Dllp(number::array_of(hex, &format!("{at}.hex"))?),
        None => Dllp::default(),
    };
    if let Some(given) = form.get("message") {
        let at = format!("{at}.message");
        let given = object(given, &at, &["layout", "fields"])?;
        let def = message::layout_of(given).map_err(|e| e.within(&at))?;
        if !def.name.starts_with("cxlio.dllp_") {
            return Err(FormError::new(at, def.name, "a layout cxlio.dllp_*"));
        }
        let base = if form.contains_key("hex") { dllp.bits() } else { def.default_bits() };
        let bits = match given.get("fields") {
            Some(fields) => message::fields_from_json(def, base, fields).map_err(|e| e.within(&at))?,
            None => base,
        };
        dllp = Dllp((bits as u32).to_be_bytes());
    }
    Ok(dllp)
}
