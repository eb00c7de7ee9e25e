//! Messages of every layout.

use super::print;
use scalepool::forms::message::{judged_to_json, message_from_json};
use scalepool_protocols::registry;
use scalepool_protocols::wire::LayoutDef;

/// The first two bytes choose the layout, the others are a message.
pub fn message(bytes: &[u8]) {
    let Some((&choice, bytes)) = bytes.split_first_chunk() else { return };
    let defs: Vec<_> = registry::layouts().collect();
    let def = defs[usize::from(u16::from_le_bytes(choice)) % defs.len()];
    of_layout(def, bytes);
    let Some(front) = bytes.get(..def.len_bytes()) else { return };
    of_layout(def, front);
    // Padding of zeros, so that the bits get further than it.
    let mut clean = front.to_vec();
    let unused = 8 * clean.len() as u32 - def.bits;
    let pad = def.to_bytes(u128::MAX >> (128 - def.bits));
    assert_eq!(pad.iter().map(|b| b.count_zeros()).sum::<u32>(), unused);
    clean.iter_mut().zip(pad).for_each(|(byte, used)| *byte &= used);
    of_layout(def, &clean);
}

/// Decoded, judged, printed, and back to the same bytes; or refused.
pub(super) fn of_layout(def: &'static LayoutDef, bytes: &[u8]) {
    let bits = match def.from_bytes(bytes) {
        Ok(bits) => bits,
        Err(e) => return assert!(!e.to_string().is_empty()),
    };
    assert_eq!(def.to_bytes(bits), bytes, "{}", def.name);
    let mut found = Vec::new();
    def.check(bits, &mut found);
    print(&found);
    let form = judged_to_json(def, bits, &found);
    let (read, again) = message_from_json(&form).unwrap_or_else(|e| panic!("{form} is refused: {e}"));
    assert_eq!((read.name, again), (def.name, bits), "{form}");
}
