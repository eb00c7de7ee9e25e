//! C: `scalepool_bits.h` with two functions on byte buffers, and `scalepool_<family>.h` with positions and codes.
//!
//! A field is read by position: `sp_bits_get(bytes, SP_CXL68_M2S_REQ_TAG)` takes the triple of order, first bit and width
//! that the name stands for. The headers are C99 and C++.

use super::names::{comment, short, upper_snake};
use super::{File, families, slots};
use scalepool_protocols::wire::{ByteOrder, CodeTable, LayoutDef};
use std::collections::BTreeSet;
use std::fmt::Write;

const HEAD: &str = "/* Made by `scalepool export c` from the layout tables; do not edit. */\n";

/// All headers.
pub fn files() -> Vec<File> {
    let made = families()
        .into_iter()
        .map(|(family, layouts)| File { name: format!("scalepool_{family}.h"), text: header(family, &layouts) });
    made.chain([File { name: "scalepool_bits.h".into(), text: format!("{HEAD}{BITS}") }]).collect()
}

const BITS: &str = r##"#ifndef SCALEPOOL_BITS_H
#define SCALEPOOL_BITS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bit i of a message of len bytes: byte i / 8 from the front, or from the back when big is not 0. */
static inline size_t sp_bits_byte(size_t len, int big, unsigned bit) {
    return big ? len - 1u - bit / 8u : bit / 8u;
}

/* The field of width bits (1 to 64) from bit lsb up; bits beyond 64 are not read. */
static inline uint64_t sp_bits_get(const uint8_t *bytes, size_t len, int big, unsigned lsb, unsigned width) {
    uint64_t value = 0;
    unsigned i;
    for (i = 0; i < width && i < 64u; i++) {
        unsigned bit = lsb + i;
        value |= (uint64_t)((bytes[sp_bits_byte(len, big, bit)] >> (bit % 8u)) & 1u) << i;
    }
    return value;
}

/* Puts the low width bits (1 to 64) of value into the field. */
static inline void sp_bits_set(uint8_t *bytes, size_t len, int big, unsigned lsb, unsigned width, uint64_t value) {
    unsigned i;
    for (i = 0; i < width && i < 64u; i++) {
        unsigned bit = lsb + i;
        size_t at = sp_bits_byte(len, big, bit);
        uint8_t mask = (uint8_t)(1u << (bit % 8u));
        bytes[at] = (uint8_t)((value >> i) & 1u ? bytes[at] | mask : bytes[at] & ~mask);
    }
}

/* SP_GET(bytes, SP_CXL68_M2S_REQ, TAG) and SP_SET(bytes, SP_CXL68_M2S_REQ, TAG, 7). */
#define SP_GET(bytes, layout, field) \
    sp_bits_get((bytes), layout##_BYTES, layout##_BIG_ENDIAN, layout##_##field##_LSB, layout##_##field##_WIDTH)
#define SP_SET(bytes, layout, field, value) \
    sp_bits_set((bytes), layout##_BYTES, layout##_BIG_ENDIAN, layout##_##field##_LSB, layout##_##field##_WIDTH, (value))

#ifdef __cplusplus
}
#endif

#endif /* SCALEPOOL_BITS_H */
"##;

macro_rules! line {
    ($text:expr) => { $text.push('\n') };
    ($text:expr, $($arg:tt)*) => {{ let _ = writeln!($text, $($arg)*); }};
}

fn header(family: &str, layouts: &[&LayoutDef]) -> String {
    let guard = format!("SCALEPOOL_{}_H", upper_snake(family));
    let mut text = format!("{HEAD}#ifndef {guard}\n#define {guard}\n\n#include \"scalepool_bits.h\"\n");
    let family_prefix = format!("SP_{}", upper_snake(family));
    let mut tables = BTreeSet::new();
    for table in layouts.iter().flat_map(|l| l.fields).filter_map(|f| f.codes) {
        if tables.insert(table.name) {
            enumeration(&mut text, &family_prefix, table);
        }
    }
    for layout in layouts {
        structure(&mut text, &family_prefix, layout);
    }
    for format in slots::of_family(family) {
        slot(&mut text, &family_prefix, &format);
    }
    line!(text, "\n#endif /* {guard} */");
    text
}

fn enumeration(text: &mut String, family: &str, table: &CodeTable) {
    line!(text, "\n/* {} ({}). */", table.name, comment(table.source));
    for code in table.codes {
        let name = format!("{family}_{}_{}", upper_snake(table.name), upper_snake(code.name));
        line!(text, "#define {name} 0x{:x}u", code.value);
    }
}

fn structure(text: &mut String, family: &str, layout: &LayoutDef) {
    let prefix = format!("{family}_{}", upper_snake(short(layout.name)));
    line!(text, "\n/* {}: {}", layout.name, comment(layout.doc));
    line!(text, " * Source: {}. Basis: {}. */", comment(layout.source), layout.basis.name());
    line!(text, "#define {prefix}_BITS {}u", layout.bits);
    line!(text, "#define {prefix}_BYTES {}u", layout.len_bytes());
    line!(text, "#define {prefix}_BIG_ENDIAN {}", u8::from(layout.order == ByteOrder::Big));
    for field in layout.fields {
        let of = format!("{prefix}_{}", upper_snake(field.name));
        line!(text, "#define {of}_LSB {}u", field.lsb);
        line!(text, "#define {of}_WIDTH {}u", field.width);
        if field.address_lsb > 0 {
            line!(text, "#define {of}_ADDRESS_LSB {}u", field.address_lsb);
        }
    }
}

fn slot(text: &mut String, family: &str, format: &slots::ExportSlotFormat) {
    let dir = if format.dir.is_empty() { String::new() } else { format!("{}_", upper_snake(format.dir)) };
    let prefix = format!("{family}_SLOT_{dir}{}", upper_snake(format.name));
    line!(text, "\n#define {prefix}_CODE 0x{:x}u", format.code);
    for (n, place) in format.places.iter().enumerate() {
        let of = format!("{prefix}_{n}_{}", upper_snake(place.name));
        line!(text, "#define {of}_LSB {}u", place.lsb);
        line!(text, "#define {of}_WIDTH {}u", place.width);
    }
}
