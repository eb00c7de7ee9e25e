//! Decoded flits without JSON: a flit is a list of parts, messages and pieces of data as bytes.
//!
//! Read out of the same answers as [`super::stream`] gives as JSON, so both say the same.

use super::call::{Caller, call};
use super::link::typed::SP_NO_LAYOUT;
use super::message::number_of;
use super::status::{Failure, SP_EMPTY, SP_OK};
use super::stream::{STREAMS, taken};
use scalepool::forms::{FormError, message, number};
use scalepool_protocols::nvlink::{Ae, NvlHeader};
use scalepool_protocols::wire::{LayoutDef, Wire};
use serde_json::{Value, json};
use std::ffi::c_char;

/// A part of a flit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PartRecord {
    layout: u32,
    place: u32,
    kind: String,
    bytes: Vec<u8>,
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn of_message(form: &Value, place: usize, kind: &str) -> Result<Option<PartRecord>, FormError> {
    if form["fields"]["valid"] == json!(0) || !form["layout"].is_string() {
        return Ok(None);
    }
    let (def, bits) = message::message_from_json(form)?;
    Ok(Some(PartRecord::of(def, bits, place, kind)))
}

fn of_bytes(hex: &Value, place: usize, kind: &str) -> Result<Option<PartRecord>, FormError> {
    let Some(text) = hex.as_str() else { return Ok(None) };
    let bytes = number::bytes_of(text, "hex")?;
    Ok(Some(PartRecord { layout: SP_NO_LAYOUT, place: place as u32, kind: kind.to_owned(), bytes }))
}

impl PartRecord {
    fn of(def: &LayoutDef, bits: u128, place: usize, kind: &str) -> PartRecord {
        let bytes = def.to_bytes(bits);
        PartRecord { layout: number_of(def), place: place as u32, kind: kind.to_owned(), bytes }
    }

    /// All parts of a flit, in its order.
    pub(super) fn all(form: &Value) -> Result<Vec<PartRecord>, FormError> {
        let mut parts = Vec::new();
        for (n, slot) in items(&form["slots"]).enumerate() {
            for message in items(&slot["messages"]) {
                parts.extend(of_message(message, n, "message")?);
            }
            parts.extend(of_bytes(&slot["data"], n, "data")?);
        }
        for word in items(&form["messages"]) {
            parts.extend(of_message(word, 0, "dl_message")?);
        }
        for flit in items(&form["tl_flits"]) {
            for (n, half) in [&flit["lower"], &flit["upper"]].into_iter().enumerate() {
                if let Some(kind) = half["kind"].as_str() {
                    parts.extend(of_bytes(&half["hex"], n, kind)?);
                }
                for field in items(&half["messages"]) {
                    parts.extend(of_message(field, n, "field")?);
                }
            }
        }
        let packet = &form["packet"];
        for (key, def) in [("header", NvlHeader::DEF), ("ae", Ae::DEF)] {
            if packet[key].is_object() {
                let bits = message::fields_from_json(def, 0, &packet[key])?;
                parts.push(PartRecord::of(def, bits, 0, key));
            }
        }
        parts.extend(of_bytes(&packet["be"], 0, "byte_enables")?);
        parts.extend(of_bytes(&packet["data"], 0, "data")?);
        Ok(parts)
    }
}

/// Takes the oldest answer of a stream, as sp_stream_take does, without its JSON object: the bytes of the flit, and the number of its
/// parts, which sp_stream_part takes one by one until the next answer is taken. To leave the bytes out, pass null,
/// 0 and null for `flit`, its capacity and its length.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_stream_take_parts(
    stream: u64,
    flit: *mut u8,
    flit_capacity: usize,
    flit_length: *mut usize,
    parts: *mut usize,
) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let flit = caller.wanted("flit", flit, flit_capacity, flit_length)?;
        let parts = caller.place("parts", parts)?;
        STREAMS.with(stream, |stream| {
            let found = match stream.oldest()? {
                Ok((form, _)) => PartRecord::all(form)?,
                Err(_) => Vec::new(),
            };
            let status = taken(stream, None, flit);
            // An answer that has no room stays, and so do the parts of the one before it.
            if !matches!(&status, Err(failure) if failure.status < 0) {
                parts.set(found.len());
                stream.parts = found.into();
            }
            status
        })
    })
}

/// Takes the next part of the answer that sp_stream_take_parts has taken. `kind` says what it is:
///
/// * CXL: `message`, with the number of its `layout`, or `data`, 16 bytes; `place` is the slot
/// * ualink: a half of a TL flit by its kind, such as `control`, `data`, `byte_enables` or `message`, 32 bytes; `place` is 0 for the lower
///   half, 1 for the upper one. A control half is followed by its fields, of kind `field`, with their layouts. Messages of the DL are
///   of kind `dl_message`.
/// * nvlink: `header` and `ae` with their layouts, `byte_enables`, `data`
///
/// `layout` is SP_NO_LAYOUT for a part that has none. Returns SP_EMPTY if no part is left.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_stream_part(
    stream: u64,
    layout: *mut u32,
    place: *mut u32,
    kind: *mut c_char,
    kind_capacity: usize,
    kind_length: *mut usize,
    bytes: *mut u8,
    bytes_capacity: usize,
    bytes_length: *mut usize,
) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let (layout, place) = (caller.place("layout", layout)?, caller.place("place", place)?);
        let kind = caller.buffer("kind", kind, kind_capacity, kind_length)?;
        let bytes = caller.buffer("bytes", bytes, bytes_capacity, bytes_length)?;
        STREAMS.with(stream, |stream| {
            let part = stream.parts.front().ok_or_else(|| Failure::new(SP_EMPTY, "stream: no part is left"))?;
            // Both lengths are written before either is too short.
            let fits = [kind.fits_text(&part.kind), bytes.fits(part.bytes.len())];
            fits.into_iter().collect::<Result<(), _>>()?;
            kind.fill_text(&part.kind)?;
            bytes.fill(&part.bytes)?;
            layout.set(part.layout);
            place.set(part.place);
            stream.parts.pop_front();
            Ok(SP_OK)
        })
    })
}
