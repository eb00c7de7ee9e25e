//! JSON of TLPs at the ports of a bridge.
//!
//! Modelled: memory requests, atomics and completions by the headers of non-flit mode, whose layouts name their fields, with the data behind
//! them. Left out: other TLPs, and other modes, in which the same fields stand elsewhere. A walk: an MWr of two DWs is the layout
//! `cxlio.nfm_mem64` with `"fmt":3`, `"length":2` and its byte enables, and `data` with 16 digits.

use super::message::{BridgeMessage, bits_of, head, only};
use scalepool_endpoint::tlp::{Tlp, TlpForm, TlpKind};
use scalepool_forms::{FormError, Object, number, text};
use scalepool_protocols::cxl::cxlio::DW_BYTES;
use scalepool_protocols::cxl::cxlio::non_flit_mode::{NfmCpl, NfmMem32, NfmMem64};
use scalepool_protocols::wire::{LayoutDef, Wire};
use serde_json::Value;

/// Entries of which TLPs can have tags in this form: 10 bits, four for each.
pub const MOST_ENTRIES: usize = 256;

/// Layout of the header.
pub(crate) fn layout(tlp: &Tlp) -> &'static LayoutDef {
    match tlp.kind {
        TlpKind::Completion { .. } => NfmCpl::DEF,
        // Bit 5 of the first byte: four DWs.
        _ if tlp.type_code() & 0x20 != 0 => NfmMem64::DEF,
        _ => NfmMem32::DEF,
    }
}

/// The JSON form.
pub(crate) fn to_json(tlp: &Tlp) -> Value {
    let def = layout(tlp);
    // TLPs of the model fit this form.
    let Ok(bytes) = tlp.encode(TlpForm::NonFlit) else { return Value::Null };
    let header = bytes.len() - tlp.data.len();
    let bits = bytes[..header].iter().fold(0, |bits, byte| bits << 8 | u128::from(*byte));
    let mut form = head(def, bits, |name| !def.fields.iter().any(|field| field.name == name && field.reserved));
    if !tlp.data.is_empty() {
        form.insert("data".into(), number::hex(&tlp.data).into());
    }
    Value::Object(form)
}

/// Whether a layout is that of a TLP which passes at a bridge.
pub(crate) fn is_tlp(def: &LayoutDef) -> bool {
    [NfmMem32::DEF, NfmMem64::DEF, NfmCpl::DEF].iter().any(|of| of.name == def.name)
}

/// Reads the JSON form.
pub(crate) fn from_json(def: &'static LayoutDef, form: &Object) -> Result<BridgeMessage, FormError> {
    only(form, &["layout", "fields", "data"])?;
    let mut bytes = def.to_bytes(bits_of(def, form, None)?);
    if let Some(data) = form.get("data") {
        bytes.extend(number::bytes_of(text(data, "data", "a string of hexadecimal digits")?, "data")?);
    }
    of_bytes(&bytes, TlpForm::NonFlit)
}

/// The message of the bytes of a TLP, as they stand in this mode.
///
/// # Errors
/// What is no TLP, or one that does not pass at a bridge.
pub fn of_bytes(bytes: &[u8], form: TlpForm) -> Result<BridgeMessage, FormError> {
    let wrong = |found: String| FormError::new("message", found, "a TLP whose header says what its data are");
    let tlp = Tlp::decode(bytes, form).map_err(|error| wrong(error.to_string()))?;
    let is_known = matches!(
        tlp.kind,
        TlpKind::MemRead { .. } | TlpKind::MemWrite { .. } | TlpKind::Atomic { .. } | TlpKind::Completion { .. }
    );
    if !is_known || !tlp.data.len().is_multiple_of(DW_BYTES) {
        return Err(wrong(format!("a TLP of type {:#04x}", tlp.type_code())));
    }
    Ok(BridgeMessage::Tlp(Box::new(tlp)))
}
