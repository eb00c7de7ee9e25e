//! The judgement of a message by masks that were made while compiling, against a walk through the fields of its table.

use scalepool::kernel::Rng;
use scalepool_protocols::registry;
use scalepool_protocols::wire::{At, LayoutDef};

/// Messages of each layout.
const MESSAGES: usize = 2_000;

/// Places that a plain walk finds wrong, in order of the fields.
fn walked(def: &LayoutDef, message: u128) -> Vec<At> {
    let is_empty = def.fields[0].name == "valid" && def.fields[0].extract(message) == 0;
    let mut found = Vec::new();
    for field in def.fields {
        let (at, raw) = (At::Bits { lsb: field.lsb, width: field.width }, field.extract(message));
        let is_named =
            |code: &scalepool_protocols::wire::CodeTable| code.codes.iter().any(|c| u128::from(c.value) == raw);
        found.extend((field.reserved && raw != 0).then_some(at));
        found.extend((!is_empty && field.codes.is_some_and(|codes| !is_named(codes))).then_some(at));
    }
    found
}

#[test]
fn every_layout_judges_as_a_walk_through_its_fields() {
    let mut rng = Rng::from_seed(7);
    let (mut sound, mut broken) = (0, 0);
    for def in registry::layouts() {
        let width = u128::MAX >> (128 - def.bits);
        for _ in 0..MESSAGES {
            // Few bits differ from a sound message, or all are random.
            let random = u128::from(rng.next_u64()) << 64 | u128::from(rng.next_u64());
            let flipped = (0..rng.below(4)).fold(0, |bits, _| bits | 1 << rng.below(u64::from(def.bits)));
            let noise = if rng.below(4) == 0 { random } else { flipped };
            let message = (def.default_bits() ^ noise) & width;
            let mut found = Vec::new();
            def.check(message, &mut found);
            let expected = walked(def, message);
            let of_fields = &found[..expected.len().min(found.len())];
            assert_eq!(of_fields.iter().map(|v| v.at).collect::<Vec<_>>(), expected, "{} {message:#x}", def.name);
            // What is found behind them is of rules over several fields.
            assert!(found.len() == expected.len() || def.cross_check.is_some(), "{} {message:#x}: {found:?}", def.name);
            sound += usize::from(expected.is_empty());
            broken += usize::from(!expected.is_empty());
        }
    }
    assert!(sound > 10_000 && broken > 10_000, "{sound} sound, {broken} broken");
}
