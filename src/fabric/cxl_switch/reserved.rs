//! Reserved bits of a message that passes a switch (`fabric` CMR-3).
//!
//! Modelled: which reserved bits of a header leave with it, for every class and pair of links. Detail: the header of one message. Left out:
//! runs; messages of the model have no reserved bits, so links send 0, and a switch that creates none has nothing to keep.
//!
//! A walk through one header: its reserved bits are read, lowest first. Toward another link of 256B flits, with port based routing or
//! without, they leave in the same order, as each class has as many of them in both layouts. Toward a link of 68B flits they are cleared, and
//! a message that came from one has none.

use super::violation;
use scalepool_protocols::cxl::message::{Class, MessageForm};
use scalepool_protocols::wire::{LayoutDef, Violation};

/// Places of the reserved bits of a layout, lowest first.
fn places(def: &LayoutDef) -> Vec<u32> {
    let mut all: Vec<u32> =
        def.fields.iter().filter(|field| field.reserved).flat_map(|field| field.lsb..field.lsb + field.width).collect();
    all.sort_unstable();
    all
}

/// The reserved bits of a header alone.
fn reserved_of(def: &LayoutDef, bits: u128) -> u128 {
    places(def).into_iter().fold(0, |all, place| all | bits & 1 << place)
}

/// The reserved bits with which a header that came as `bits` on a link of the first form leaves on one of the second form; all others are 0,
/// as they are where a link does not have the class.
pub fn kept_reserved(class: Class, [from, to]: [MessageForm; 2], bits: u128) -> u128 {
    if from == MessageForm::Cxl68 || to == MessageForm::Cxl68 {
        return 0;
    }
    let (Some(from), Some(to)) = (from.layout(class), to.layout(class)) else { return 0 };
    let moved = places(from).into_iter().zip(places(to));
    moved.fold(0, |all, (came, leaves)| all | (bits >> came & 1) << leaves)
}

/// The rule that a switch breaks which has sent on a header that came as `came` as `left`.
pub fn judge_reserved(class: Class, forms: [MessageForm; 2], [came, left]: [u128; 2]) -> Option<Violation> {
    let (expected, def) = (kept_reserved(class, forms, came), forms[1].layout(class)?);
    let found = reserved_of(def, left);
    (found != expected).then(|| {
        let link = match forms[1] {
            MessageForm::Cxl68 => "a link of 68B flits",
            MessageForm::Hbr => "a link of 256B flits",
            MessageForm::Pbr => "a link with port based routing",
        };
        let text = "reserved bits pass between links of 256B flits; toward and from one of 68B flits they are 0";
        violation(
            "FAB-CMR-03",
            format!("reserved bits {found:#x} in a header of {} toward {link}", class.name()),
            format!("{expected:#x}"),
            text,
        )
    })
}
