//! Rules between the fields of one UALink message: the generator's own statement, made from the sheet by names of fields.

use crate::cross::{message, raw, set};
use scalepool_protocols::wire::{FieldDef, LayoutDef};

/// Class and type of the DL messages (`ualink` §6).
const KINDS: [(&str, u128, u128); 9] = [
    ("dl_noop", 0, 0),
    ("dl_tl_rate", 0, 4),
    ("dl_device_id", 0, 5),
    ("dl_port_number", 0, 6),
    ("dl_channel", 8, 4),
    ("dl_uart_transport", 1, 0),
    ("dl_uart_credit", 1, 1),
    ("dl_uart_reset_req", 1, 6),
    ("dl_uart_reset_rsp", 1, 7),
];
/// Types of the fields (`ualink` §9).
const FTYPES: [&str; 6] = ["tl_fc", "tl_req", "tl_rsp", "tl_creq", "tl_crsp_single", "tl_crsp_multi"];
/// Commands AtomicR and AtomicNR (`ualink` §12).
const ATOMICS: [u128; 2] = [0x30, 0x32];
/// Counts of returned credits.
const COUNTS: [&str; 4] = ["req_cmd_cnt", "rsp_cmd_cnt", "req_data_cnt", "rsp_data_cnt"];

/// Whether `op` belongs to the format of a header.
fn own_op(def: &LayoutDef, op: u128) -> bool {
    op >> 1 == u128::from(message(def) == "fh_command")
}

/// Byte in its 256-byte region, and bytes, of a request.
fn extent(def: &LayoutDef, bits: u128) -> (u128, u128) {
    match message(def) {
        "tl_creq" => (raw(def, bits, "address") % 4 * 64, 64 * (raw(def, bits, "len") + 1)),
        _ => (raw(def, bits, "address") % 64 * 4, 4 * (raw(def, bits, "len") + 1)),
    }
}

/// Whether an atomic has the length of its operand and no reserved bit in its attributes.
fn atomic_fits(def: &LayoutDef, bits: u128) -> bool {
    let attr = raw(def, bits, "attr");
    // Size 1 is 64 bits; the others divide every number of double words.
    let divides = attr >> 2 & 3 != 1 || raw(def, bits, "len") % 2 == 1;
    attr & 2 == 0 && divides
}

/// The rule between fields that a message breaks, whose codes are all listed.
pub fn broken(def: &LayoutDef, bits: u128) -> Option<&'static str> {
    let name = message(def);
    let field = |name| raw(def, bits, name);
    if let Some((_, class, kind)) = KINDS.iter().find(|k| k.0 == name) {
        return match () {
            () if field("compressed") == 1 => Some("UAL-MSG-01"),
            () if (field("mclass"), field("mtype")) != (*class, *kind) => Some("UAL-MSG-02"),
            () if name == "dl_port_number" && field("port") > 1023 => Some("UAL-MSG-15"),
            () => None,
        };
    }
    if FTYPES.iter().position(|n| *n == name).is_some_and(|own| field("ftype") != own as u128) {
        return Some("UAL-TLF-03");
    }
    let (first, bytes) = extent(def, bits);
    let write = field("rdwr") == 0;
    match name {
        "fh_explicit" | "fh_command" if !own_op(def, field("op")) => Some("UAL-FLH-03"),
        "fh_explicit" if field("op") == 1 && field("payload") == 0 => Some("UAL-FLH-03"),
        "tl_req" if first + bytes > 256 => Some("UAL-SIZ-02"),
        "tl_req" if ATOMICS.contains(&field("cmd")) && !atomic_fits(def, bits) => Some("UAL-UPL-04"),
        "tl_creq" if first + bytes > 256 => Some("UAL-FLD-07"),
        "tl_rsp" if write && field("len") + field("offset") + field("last") != 0 => Some("UAL-FLD-02"),
        "tl_crsp_multi" if write && field("len") != 0 => Some("UAL-FLD-05"),
        "tl_fc" if bits != 0 && COUNTS.iter().all(|c| field(c) == 0) => Some("UAL-TLF-04"),
        _ => None,
    }
}

/// Whether a code of a field may stand in a legal message of the layout.
pub fn may_be(def: &LayoutDef, field: &FieldDef, code: u128) -> bool {
    field.name != "op" || own_op(def, code)
}

/// Makes random fields obey the rules between them.
pub fn obey(def: &LayoutDef, bits: u128) -> u128 {
    let field = |name| raw(def, bits, name);
    let zero = |bits, names: &[&str]| names.iter().fold(bits, |bits, name| set(def, bits, name, 0));
    match message(def) {
        name if name.starts_with("dl_") => set(def, zero(bits, &["compressed"]), "port", field("port") & 1023),
        "fh_explicit" if field("payload") == 0 => zero(bits, &["op"]),
        "tl_req" => {
            // An atomic of 32 bits; other transfers begin at a region.
            let atomic = zero(set(def, bits, "attr", field("attr") & 0xf1), &["len"]);
            let bits = if ATOMICS.contains(&field("cmd")) { atomic } else { bits };
            set(def, bits, "address", field("address") & !63)
        }
        "tl_creq" => set(def, bits, "address", field("address") & !3),
        "tl_rsp" if field("rdwr") == 0 => zero(bits, &["len", "offset", "last"]),
        "tl_crsp_multi" if field("rdwr") == 0 => zero(bits, &["len"]),
        "tl_fc" => set(def, bits, "req_cmd_cnt", field("req_cmd_cnt") | 1),
        _ => bits,
    }
}
