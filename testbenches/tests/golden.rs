//! Golden vectors: the generator's word against the model's checks and the oracles.

use scalepool::golden::{Content, Context, Source, Spec, StreamCase, VectorSet};
use scalepool_protocols::cxl::cxl68::Dir;
use scalepool_protocols::cxl::cxl68::check;
use scalepool_protocols::cxl::cxl68::config::{Cxl68Config, Revision};
use scalepool_protocols::cxl::cxl68::pid::{self, Enabled};
use scalepool_protocols::cxl::cxl68::stream::{Kind, Unpacker};
use std::collections::BTreeSet;

fn small() -> Spec {
    Spec { count: 8, ..Spec::default() }
}

fn sets() -> Vec<VectorSet> {
    let spec = small();
    spec.sources().into_iter().map(|s| s.vectors(&spec)).collect()
}

fn streams(sets: &[VectorSet]) -> impl Iterator<Item = (&str, Dir, usize, &StreamCase)> {
    sets.iter().flat_map(|set| match &set.content {
        Content::Cxl68(dir, groups) => {
            let cases = groups.iter().flat_map(|g| &g.cases).enumerate();
            cases.map(|(n, c)| (set.path.as_str(), *dir, n, c)).collect()
        }
        Content::Messages(..) => Vec::new(),
    })
}

/// Every message: the rule that the generator states is the first one that the layout's check finds.
#[test]
fn the_check_of_a_layout_agrees_with_the_stated_rule() {
    for set in sets() {
        let Content::Messages(def, groups) = &set.content else { continue };
        for group in groups {
            for case in &group.cases {
                let mut found = Vec::new();
                def.check(case.bits, &mut found);
                let rule = found.first().map(|v| v.rule);
                assert_eq!(rule, case.rule, "{}, {}: {:#x}: {found:?}", def.name, group.what, case.bits);
            }
        }
    }
}

/// Every flit case that needs no context: the model finds the stated rule and no other, and nothing is owed at its end.
#[test]
fn the_check_of_flits_agrees_with_the_stated_rule() {
    for (path, dir, n, case) in streams(&sets()) {
        let mut reader = Unpacker::new(dir, Revision::V2_0, Enabled::ALL);
        let mut rules = BTreeSet::new();
        for unit in &case.units {
            let decoded = reader.read(unit);
            rules.extend(check::unit(&decoded, &Cxl68Config::default()).violations.iter().map(|v| v.rule));
        }
        assert_eq!(reader.rollover(), 0, "{path}, case {n}: data is owed at the end");
        if case.context.is_none() {
            assert_eq!(rules.into_iter().collect::<Vec<_>>(), Vec::from_iter(case.rule), "{path}, case {n}");
        }
    }
}
