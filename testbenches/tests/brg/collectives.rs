//! Collectives of accelerators with CXL.cache beside XLink: by the ring and by coherent loads and stores (BRG-TIR-06).

use crate::fab_hbr::systems::run;
use scalepool::fabric::nvlink_switch::reduction::NumberType;
use scalepool::nodes::handover::collective::{CollectiveKind, CollectiveResult, CollectiveTask, RingMember};
use scalepool::scenario::report::ScenarioReport;

const TEXT: &str = include_str!("../../systems/collectives.toml");

/// A figure of each accelerator.
fn of(report: &ScenarioReport, name: &str) -> Vec<u64> {
    let json = report.json();
    let each = json["components"].as_object().expect("components").iter().filter(|(name, _)| name.starts_with("accel"));
    each.map(|(_, figures)| figures[name].as_u64().unwrap_or_else(|| panic!("no `{name}`: {figures:?}"))).collect()
}

/// Both kinds by both ways, with all numbers, errors on links and one access at a time, among two and more accelerators: what everybody gets is
/// the plain sum, bit for bit. By CXL nothing passes over UALink.
#[test]
fn brg_tir_06_p() {
    for set in [
        &[][..],
        &["collective.by=cxl"],
        &["collective.kind=broadcast"],
        &["collective.kind=broadcast", "collective.by=cxl"],
        &["collective.number=bf16", "collective.by=cxl", "link.cxl_ber=1e-6", "accel.rounds=1"],
        &["collective.number=int32", "link.fabric_ber=1e-6", "accel.outstanding=1"],
        &["collective.by=cxl", "accel.outstanding=1", "accel.blocks=1", "accel.rounds=3"],
    ] {
        let report = run(TEXT, set).unwrap_or_else(|error| panic!("{set:?}: {error}"));
        assert_eq!(report.violations, [], "{set:?}");
        let rounds =
            set.iter().find_map(|set| set.strip_prefix("accel.rounds=")).map_or(2, |n| n.parse().expect("a number"));
        assert_eq!((of(&report, "collectives"), of(&report, "wrong sums")), (vec![rounds; 4], vec![0; 4]), "{set:?}");
        assert!(of(&report, "collective cycles").iter().all(|cycles| *cycles > 100), "{set:?}");
        let served: u64 = of(&report, "requests served").iter().sum();
        assert_eq!(served == 0, set.contains(&"collective.by=cxl"), "{set:?}");
    }
    for by in ["collective.by=xlink", "collective.by=cxl"] {
        let two = TEXT.replace("count = 4", "count = 2").replace("ports = 4", "ports = 2");
        assert_eq!(run(&two, &[by]).expect("two accelerators").violations, [], "{by}");
    }
}

/// A bit that is wrong in what comes is told, and so is a chunk that its flag has overtaken.
#[test]
fn brg_tir_06_n() {
    let task =
        CollectiveTask { kind: CollectiveKind::AllReduce, number: NumberType::F32, members: 3, blocks: 2, seed: 1 };
    let [before, right] = [0, 1].map(|own| RingMember::new(task, own));
    let sent: Vec<[u8; 64]> = (0..2).flat_map(|block| before.passed_on(1, block)).collect();
    let arrives = |flip: u8| {
        let mut member = RingMember::new(task, 1);
        member.arrives(1, |line| {
            let mut bytes = sent[line as usize];
            bytes[3] ^= if line == 5 { flip } else { 0 };
            bytes
        })
    };
    assert_eq!((right.blocks(1), arrives(0).wrong, arrives(1).wrong), (2, vec![], vec![1]));
    let mut result = CollectiveResult::default();
    result.is_wrong("round 1", &arrives(1).wrong);
    assert_eq!((result.wrong_blocks, result.wrong), (1, vec!["1 wrong blocks in round 1, the first one 1".to_owned()]));
    let report = run(TEXT, &["accel.flag=first", "accel.blocks=64"]).expect("it runs");
    let rules: Vec<_> = report.violations.iter().map(|broken| broken.violation.rule).collect();
    assert!(!rules.is_empty() && rules.iter().all(|rule| *rule == "BRG-TIR-06"), "{rules:?}");
}
