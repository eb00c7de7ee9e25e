//! The vector sets of `nvlink`: what the generator says of a case, the checks of the codec say too; and every file says
//! that it is a model.

use super::common::{NvlConfig, Packet, Unpacker, check};
use scalepool::golden::text::VectorFileForm;
use scalepool::golden::{Spec, VectorContent, VectorSet, protocols};
use scalepool_protocols::nvlink::LAYOUTS;
use std::collections::BTreeSet;

fn spec() -> Spec {
    Spec { protocols: protocols().filter(|p| p.name == "nvlink").collect(), ..Spec::default() }
}

fn sets() -> Vec<VectorSet> {
    spec().sources().into_iter().map(|source| source.vectors(&spec())).collect()
}

fn rules(reader: &mut Unpacker, packets: &[Packet]) -> Vec<&'static str> {
    let config = NvlConfig::default();
    let found = packets.iter().flat_map(|packet| check::packet(&reader.read(packet), &config).violations);
    found.map(|violation| violation.rule).collect::<BTreeSet<_>>().into_iter().collect()
}

#[test]
fn messages_are_judged_as_the_generator_says() {
    let mut layouts = 0;
    for set in sets() {
        let VectorContent::Messages(def, groups) = set.content else { continue };
        layouts += 1;
        for case in groups.iter().flat_map(|g| &g.cases) {
            let mut found = Vec::new();
            def.check(case.bits, &mut found);
            assert_eq!(found.first().map(|v| v.rule), case.rule, "{}: {:#x}", def.name, case.bits);
        }
    }
    assert_eq!(layouts, LAYOUTS.len());
}

/// Legal cases break no rule, the others the one that is stated, whether a case is read on its own or behind the others.
#[test]
fn packets_are_judged_as_the_generator_says() {
    let (mut broken, mut lengths) = (BTreeSet::new(), BTreeSet::new());
    for set in sets() {
        let VectorContent::Nvlink(_, groups) = set.content else { continue };
        let mut stream = Unpacker::default();
        for group in &groups {
            for (n, case) in group.cases.iter().enumerate() {
                let at = format!("{}, {}, case {n}", set.path, group.what);
                let stated = Vec::from_iter(case.rule);
                assert_eq!(rules(&mut stream, &case.units), stated, "{at}, behind the others");
                assert_eq!(rules(&mut Unpacker::default(), &case.units), stated, "{at}, on its own");
                assert!(case.units.last().is_some_and(|packet| packet.payload().is_empty()), "{at}: it ends open");
                broken.extend(case.rule);
                lengths.extend(case.units.iter().map(|packet| packet.flits().len()));
            }
        }
    }
    let all = ["CRC-01", "CRC-02", "HDR-01", "HDR-02", "OPC-01", "OPC-02", "PKT-03", "PKT-04"];
    assert_eq!(broken.into_iter().collect::<Vec<_>>(), all.map(|rule| format!("NVL-{rule}")));
    assert_eq!(lengths, (1..=18).collect());
}

/// NVL-OPC-03: the header of each file says model, and no file claims anything else.
#[test]
fn every_file_is_labelled_a_model() {
    for set in sets() {
        assert!(set.about.contains("basis model"), "{}", set.about);
        for form in VectorFileForm::ALL {
            let text = form.text(&set, &spec());
            assert!(
                form == VectorFileForm::Jsonl || text.lines().take(4).any(|line| line.contains("basis model")),
                "{}",
                set.path
            );
            assert!(!text.to_lowercase().contains("compliant"), "{}", form.path(&set));
        }
    }
}
