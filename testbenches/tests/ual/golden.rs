//! The vector sets of `ualink`: what the generator says of a case, the checks of the codec say too.

use super::common::{CompressionRole, SHEET, Unpacker, rules};
use scalepool::golden::{Spec, VectorContent, VectorSet, protocols};
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::ualink::stream::UalDecodedFlit;
use scalepool_protocols::wire::LayoutDef;
use std::collections::BTreeSet;

/// All sets, small.
fn sets() -> Vec<VectorSet> {
    let protocols = protocols().filter(|p| p.name == "ualink").collect();
    let spec = Spec { protocols, count: 64, ..Spec::default() };
    spec.sources().into_iter().map(|source| source.vectors(&spec)).collect()
}

/// The first rule that a message breaks.
fn first_broken(def: &LayoutDef, bits: u128) -> Option<&'static str> {
    let mut found = Vec::new();
    def.check(bits, &mut found);
    found.first().map(|v| v.rule)
}

#[test]
fn messages_are_judged_as_the_generator_says() {
    let mut layouts = 0;
    for set in sets() {
        let VectorContent::Messages(def, groups) = set.content else { continue };
        layouts += 1;
        for group in &groups {
            for case in &group.cases {
                assert_eq!(first_broken(def, case.bits), case.rule, "{}, {}: {:#x}", def.name, group.what, case.bits);
            }
        }
        assert!(groups.iter().flat_map(|g| &g.cases).any(|c| c.rule.is_none()), "{}: nothing legal", def.name);
    }
    assert_eq!(layouts, scalepool_protocols::ualink::LAYOUTS.len());
}

/// Legal cases break no rule, the others the one that is stated, and every case ends with nothing left over or owed.
#[test]
fn flits_are_judged_as_the_generator_says() {
    let mut broken = BTreeSet::new();
    let (mut flits, mut open) = (0, 0);
    for set in sets() {
        let VectorContent::Ualink(dir, groups) = set.content else { continue };
        let role = if dir == Dir::Down { CompressionRole::ToSwitch } else { CompressionRole::FromSwitch };
        let mut reader = Unpacker::new(SHEET, role);
        for group in &groups {
            for (n, case) in group.cases.iter().enumerate() {
                let mut decoded: Vec<UalDecodedFlit> = Vec::new();
                for unit in &case.units {
                    open += usize::from(!reader.is_at_rest());
                    decoded.push(reader.read(unit));
                }
                let found: BTreeSet<_> = decoded.iter().flat_map(rules).collect();
                let at = format!("{}, {}, case {n}", set.path, group.what);
                assert_eq!(found.into_iter().collect::<Vec<_>>(), Vec::from_iter(case.rule), "{at}");
                assert!(reader.is_at_rest(), "{at}: something is left over or owed");
                broken.extend(case.rule);
                flits += case.units.len();
            }
        }
    }
    assert!(open > 0, "in some case a flit leaves something over or owes it");
    assert!(broken.len() >= 23 && flits > 150, "{} rules, {flits} flits", broken.len());
}
