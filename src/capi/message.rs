//! Messages: the layouts with their fields, and bytes to values and back, one or many.

use super::call::{Caller, Plain, call};
use super::status::{Failure, SP_FINDING, SP_OK};
use scalepool::forms::{self, FormError, layout, message};
use scalepool_protocols::registry;
use scalepool_protocols::wire::{FieldDef, LayoutDef};
use std::ffi::c_char;

/// A number of up to 128 bits.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SpNumber {
    /// Bits 63:0.
    pub lo: u64,
    /// Bits 127:64.
    pub hi: u64,
}

// SAFETY: two integers of the same size, no padding.
unsafe impl Plain for SpNumber {}

impl From<u128> for SpNumber {
    fn from(number: u128) -> SpNumber {
        SpNumber { lo: number as u64, hi: (number >> 64) as u64 }
    }
}

impl From<SpNumber> for u128 {
    fn from(number: SpNumber) -> u128 {
        u128::from(number.hi) << 64 | u128::from(number.lo)
    }
}

/// Size of a layout.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SpLayout {
    /// Bits of a message, 1 to 128.
    pub bits: u32,
    /// Bytes of a message on the wire.
    pub bytes: u32,
    /// Number of fields.
    pub fields: u32,
}

// SAFETY: three integers of the same size, no padding.
unsafe impl Plain for SpLayout {}

/// Position of a field in its message.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SpField {
    /// Value of the field when a JSON form leaves it out, as it is passed to sp_encode.
    pub default_value: SpNumber,
    /// Lowest bit of the field.
    pub lsb: u32,
    /// Width in bits.
    pub width: u32,
    /// Lowest address bit that is transmitted, for a byte address. Values are always whole byte addresses.
    pub address_lsb: u32,
    /// 1 for a reserved field, 0 for any other.
    pub reserved: u32,
}

// SAFETY: two 64-bit and four 32-bit integers, 32 bytes without padding.
unsafe impl Plain for SpField {}

/// Most messages of one call.
pub(super) const MAX_COUNT: usize = 1 << 20;

pub(super) fn check_count(count: usize) -> Result<(), Failure> {
    if count > MAX_COUNT {
        return Err(Failure::range("count", count, format!("at most {MAX_COUNT}")));
    }
    Ok(())
}

/// The layout with this number.
pub(super) fn def(id: u32) -> Result<&'static LayoutDef, Failure> {
    let found = registry::layouts().nth(id as usize);
    found.ok_or_else(|| Failure::range("layout", id, format!("below {}", registry::layouts().count())))
}

/// The number of a layout.
pub(super) fn number_of(def: &LayoutDef) -> u32 {
    registry::layouts().position(|l| l.name == def.name).unwrap_or(0) as u32
}

fn field(def: &'static LayoutDef, id: u32) -> Result<&'static FieldDef, Failure> {
    let found = def.fields.get(id as usize);
    found.ok_or_else(|| Failure::range(def.name, format!("field {id}"), format!("below {}", def.fields.len())))
}

/// Gives the number of layouts. Layouts are numbered from 0. The numbers are valid for one version of the library only,
/// so look them up by name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_layout_count(count: *mut u32) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        caller.place("count", count)?.set(registry::layouts().count() as u32);
        Ok(SP_OK)
    })
}

/// Gives the number of the layout with a name such as `cxl68.m2s_req`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_layout_find(name: *const c_char, name_length: usize, layout: *mut u32) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let layout = caller.place("layout", layout)?;
        let def = message::layout(&caller.text("name", name, name_length)?)?;
        layout.set(number_of(def));
        Ok(SP_OK)
    })
}

/// Gives the size of a layout.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_layout_size(layout: u32, size: *mut SpLayout) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let (size, def) = (caller.place("size", size)?, def(layout)?);
        size.set(SpLayout { bits: def.bits, bytes: def.len_bytes() as u32, fields: def.fields.len() as u32 });
        Ok(SP_OK)
    })
}

/// Gives the name of a layout.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_layout_name(
    layout: u32,
    name: *mut c_char,
    name_capacity: usize,
    name_length: *mut usize,
) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        caller.buffer("name", name, name_capacity, name_length)?.fill_text(def(layout)?.name)
    })
}

/// Gives the field table of a layout with codes, source and basis, as `scalepool describe LAYOUT --json` prints it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_layout_describe(
    layout: u32,
    json: *mut c_char,
    json_capacity: usize,
    json_length: *mut usize,
) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let text = layout::to_json(def(layout)?).to_string();
        caller.buffer("json", json, json_capacity, json_length)?.fill_text(&text)
    })
}

/// Gives the number of the field with this name. Fields are numbered from 0 in the order of the layout.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_field_find(layout: u32, name: *const c_char, name_length: usize, field: *mut u32) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let (field, def) = (caller.place("field", field)?, def(layout)?);
        let found = def.field(&caller.text("name", name, name_length)?).map_err(FormError::from)?.name;
        let id = def.fields.iter().position(|f| f.name == found).unwrap_or(0);
        field.set(id as u32);
        Ok(SP_OK)
    })
}

/// Gives the name of a field.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_field_name(
    layout: u32,
    field: u32,
    name: *mut c_char,
    name_capacity: usize,
    name_length: *mut usize,
) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let found = self::field(def(layout)?, field)?;
        caller.buffer("name", name, name_capacity, name_length)?.fill_text(found.name)
    })
}

/// Gives the position of a field.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_field_place(layout: u32, field: u32, place: *mut SpField) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let (place, f) = (caller.place("place", place)?, self::field(def(layout)?, field)?);
        place.set(SpField {
            default_value: (f.default << f.address_lsb).into(),
            lsb: f.lsb,
            width: f.width,
            address_lsb: f.address_lsb,
            reserved: f.reserved.into(),
        });
        Ok(SP_OK)
    })
}

/// Encodes `count` messages of a layout. `values` has one number for each field in the order of the layout, message
/// after message; `values_length` is the total. `bytes` receives the messages one after the other. The call is refused
/// at the first value that does not fit; sp_last_error names the message and the field.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_encode(
    layout: u32,
    values: *const SpNumber,
    values_length: usize,
    count: usize,
    bytes: *mut u8,
    bytes_capacity: usize,
    bytes_length: *mut usize,
) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let bytes = caller.buffer("bytes", bytes, bytes_capacity, bytes_length)?;
        let def = def(layout)?;
        check_count(count)?;
        let expected = count * def.fields.len();
        if values_length != expected {
            return Err(Failure::range(
                "values",
                values_length,
                format!("{expected}, one for each field of each message"),
            ));
        }
        let values = caller.items("values", values, values_length)?;
        let mut all = Vec::with_capacity(count * def.len_bytes());
        for (n, values) in values.chunks(def.fields.len()).enumerate() {
            let mut fields = def.fields.iter().zip(values);
            let bits = fields.try_fold(0, |bits, (field, &value)| field.insert(bits, value.into()));
            let bits = bits.map_err(|fault| FormError::from(def.error(fault)).within(format!("message {n}")))?;
            all.extend(def.to_bytes(bits));
        }
        bytes.fill(&all)
    })
}

/// Decodes `count` messages of a layout from `bytes`, where they stand one after the other. `values` receives one
/// number for each field in the order of the layout, message after message. Returns SP_FINDING if a message breaks a
/// rule: the values are written all the same, and sp_last_error names the first rule.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_decode(
    layout: u32,
    bytes: *const u8,
    bytes_length: usize,
    count: usize,
    values: *mut SpNumber,
    values_capacity: usize,
    values_length: *mut usize,
) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let values = caller.buffer("values", values, values_capacity, values_length)?;
        let def = def(layout)?;
        check_count(count)?;
        if bytes_length != count * def.len_bytes() {
            let expected = format!("{count} times {}", def.len_bytes());
            return Err(Failure::range("bytes", bytes_length, expected));
        }
        let bytes = caller.items("bytes", bytes, bytes_length)?;
        let mut all = Vec::with_capacity(count * def.fields.len());
        let mut violations = Vec::new();
        let mut first = None;
        for (n, bytes) in bytes.chunks(def.len_bytes()).enumerate() {
            let bits = def.from_bytes(bytes).map_err(|e| FormError::from(e).within(format!("message {n}")))?;
            all.extend(def.fields.iter().map(|f| SpNumber::from(f.value(bits))));
            if first.is_none() {
                def.check(bits, &mut violations);
                first = violations.first().map(|v| format!("message {n}: {v}"));
            }
        }
        values.fill(&all)?;
        first.map_or(Ok(SP_OK), |text| Err(Failure::new(SP_FINDING, text)))
    })
}

/// Encodes a message from its JSON form, `{"layout":..,"fields":{..}}`, as `scalepool encode` does. Fields that are
/// left out have their default value.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_encode_json(
    json: *const c_char,
    json_length: usize,
    bytes: *mut u8,
    bytes_capacity: usize,
    bytes_length: *mut usize,
) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let bytes = caller.buffer("bytes", bytes, bytes_capacity, bytes_length)?;
        let (def, bits) = message::message_from_json(&forms::parse(&caller.text("json", json, json_length)?)?)?;
        bytes.fill(&def.to_bytes(bits))
    })
}

/// Decodes a message into its JSON form together with the rules that it breaks, as `scalepool decode` does. Returns
/// SP_FINDING if it breaks one; the form is written all the same.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sp_decode_json(
    layout: u32,
    bytes: *const u8,
    bytes_length: usize,
    json: *mut c_char,
    json_capacity: usize,
    json_length: *mut usize,
) -> i32 {
    call(|| {
        // SAFETY: the caller's promise.
        let caller = unsafe { Caller::trusted() };
        let json = caller.buffer("json", json, json_capacity, json_length)?;
        let def = def(layout)?;
        let bits = def.from_bytes(&caller.items("bytes", bytes, bytes_length)?).map_err(FormError::from)?;
        let mut violations = Vec::new();
        def.check(bits, &mut violations);
        json.fill_text(&message::judged_to_json(def, bits, &violations).to_string())?;
        match violations.first() {
            Some(first) => Err(Failure::new(SP_FINDING, first.to_string())),
            None => Ok(SP_OK),
        }
    })
}
