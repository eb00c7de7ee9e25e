//! DevLoad: thresholds, logical devices, the throttle of a host.

use super::mem_bench::*;
use super::mem_explore::{clean, explore};
use super::names::names;
use scalepool::coherence::agent::Out;
use scalepool::coherence::config::CoherenceConfig;
use scalepool::coherence::content::{Line, LineAddr};
use scalepool::coherence::mem::load::{Parts, Share, Steps, Throttle, of_depth};
use scalepool::coherence::mem::options::MemConfig;
use scalepool::coherence::mem::system::{Act, MemSystem, Setup};
use scalepool::coherence::mem::{Dcoh, DeviceOp, Holders, HostReq};
use scalepool::coherence::message::Msg;
use scalepool::coherence::mutant::Mutant;
use scalepool_protocols::cxl::cxl256::code::{DevLoad, M2sReqOpcode, SnpType};

/// DevLoad of an answer of a device with `open` back-invalidates under way.
fn told(config: &CoherenceConfig, open: u64) -> DevLoad {
    let mut dcoh = Dcoh::<Line>::new(config, 2);
    for line in (0..open).map(|l| LineAddr(100 + l)) {
        dcoh.preset(line, bytes(0), Holders::Owner(0));
        dcoh.issue(config, line, DeviceOp::ReadOwn, &mut Out::default());
    }
    let out = give(&mut dcoh, config, 0, m2s(M2sReqOpcode::MemRd, None, SnpType::NoOp));
    let load = |m: &M| match m {
        Msg::S2mNdr { devload, .. } | Msg::S2mDrs { devload, .. } => Some(*devload),
        _ => None,
    };
    let loads: Vec<_> = out.sends.iter().filter_map(|(_, m)| load(m)).collect();
    assert!(loads.len() == 2 && loads[0] == loads[1], "on NDR and DRS");
    loads[0]
}

fn loads() -> impl Iterator<Item = DevLoad> {
    (0..4).map(DevLoad)
}

#[test]
fn coh_qos_02_p() {
    // Thresholds of the internal load: a back-invalidate counts with its transaction.
    assert_eq!([0, 1, 2, 3, 4, 9].map(|depth| of_depth(depth, [1, 3, 4]).0), [0, 1, 1, 2, 3, 3]);
    for reduction in 0..4 {
        let config = with(MemConfig { devload: [1, 3, 5], throughput_reduction: reduction, ..MemConfig::default() });
        for (open, internal) in [(0, 0), (1, 1), (2, 2), (3, 3)] {
            assert_eq!(told(&config, open).0, internal.max(reduction), "{open} open, reduction {reduction}");
        }
    }
    for (internal, egress) in loads().flat_map(|i| loads().map(move |e| (i, e))) {
        let parts = Parts { internal, egress, reduction: DevLoad(0) };
        assert_eq!((parts.reported().0, parts.check(parts.reported())), (internal.0.max(egress.0), None));
    }
}

#[test]
fn coh_qos_02_n() {
    let parts = Parts { internal: DevLoad(1), egress: DevLoad(3), reduction: DevLoad(2) };
    for said in [0, 1, 2] {
        assert_eq!(parts.check(DevLoad(said)).map(|e| e.rule), Some("COH-QOS-02"), "lower than the maximum");
    }
    // A device whose reduced throughput is not told: what it says is judged by what it is.
    let config = with(MemConfig { devload: [1, 3, 5], ..MemConfig::default() });
    let hidden = Parts { internal: told(&config, 1), egress: DevLoad(0), reduction: DevLoad(2) };
    assert_eq!(hidden.check(told(&config, 1)).map(|e| e.rule), Some("COH-QOS-02"));
}

#[test]
fn coh_qos_03_p() {
    let over = Share { limit: 128, allocation: 64, used: 200 };
    let within = Share { used: 60, ..over };
    let between = Share { used: 100, ..over };
    assert_eq!(loads().map(|l| over.reported(l).0).collect::<Vec<_>>(), [2, 2, 2, 3]);
    assert_eq!(loads().map(|l| within.reported(l).0).collect::<Vec<_>>(), [0, 1, 1, 2]);
    assert_eq!(loads().map(|l| between.reported(l).0).collect::<Vec<_>>(), [0, 1, 2, 3]);
    for (share, load) in [over, within, between].iter().flat_map(|s| loads().map(move |l| (s, l))) {
        assert_eq!(share.check(load, share.reported(load)), None);
    }
}

#[test]
fn coh_qos_03_n() {
    let over = Share { limit: 128, allocation: 64, used: 200 };
    assert_eq!(over.check(DevLoad(0), DevLoad(0)).map(|e| e.rule), Some("COH-QOS-03"), "over its limit, told light");
    let within = Share { used: 60, ..over };
    assert_eq!(within.check(DevLoad(3), DevLoad(3)).map(|e| e.rule), Some("COH-QOS-03"), "the fault of others");
}

const STEPS: Steps = Steps { normal_delta: 2, severe_delta: 8, most: 20, window_cycles: 100 };

/// Levels after answers at these cycles.
fn levels(answers: &[(u64, u8)]) -> Vec<u32> {
    let mut throttle = Throttle::new(STEPS);
    let mut level = |&(cycle, load): &(u64, u8)| {
        throttle.answer(cycle, DevLoad(load));
        throttle.level()
    };
    answers.iter().map(&mut level).collect()
}

#[test]
fn coh_qos_04_p() {
    // Overload acts at once, then a window passes; the maximum of the window counts; the ends are not left.
    assert_eq!(levels(&[(10, 2), (20, 3), (109, 0), (110, 0)]), [2, 2, 2, 10]);
    assert_eq!(levels(&[(100, 1), (200, 0), (201, 3), (301, 3), (401, 3), (501, 3)]), [0, 0, 8, 16, 20, 20]);
    assert_eq!(levels(&[(0, 3), (100, 1), (200, 0), (300, 0), (400, 0), (500, 0), (600, 0)]), [8, 8, 6, 4, 2, 0, 0]);
    // The same outcomes whatever is told.
    let outcomes = |mem: MemConfig| {
        let programs = vec![
            vec![Act::Request(HostReq::RD_ANY), Act::Store],
            vec![Act::Request(HostReq::RD_SHARED), Act::Load, Act::Request(HostReq::INV), Act::Store],
        ];
        let setup = Setup { programs, ..Setup::core(with(mem), 2) };
        clean("load", &MemSystem::new(setup).begin()).outcomes
    };
    let light = outcomes(MemConfig::default());
    assert!(light.len() > 1, "{light:?}");
    assert_eq!(light, outcomes(MemConfig { devload: [1, 2, 3], ..MemConfig::default() }));
    assert_eq!(light, outcomes(MemConfig { throughput_reduction: 3, ..MemConfig::default() }));
}

#[test]
fn coh_qos_04_n() {
    let mem = MemConfig { throughput_reduction: 2, ..MemConfig::default() };
    let config = CoherenceConfig { mutant: Some(Mutant::LoadSkipsSnoops), ..with(mem) };
    let setup = Setup::core(config, 2);
    names(&MemSystem::new(setup.clone()), "COH-QOS-04");
    let start = MemSystem::new(Setup { orders: false, ..setup });
    let found = explore("LoadSkipsSnoops", &start).violation.expect("it is found");
    assert!(["COH-INV-01", "COH-INV-02", "COH-INV-04"].contains(&found.event.rule), "{}", found.event);
    // Not loaded, the same device is right: coherence depends on the load.
    let config = CoherenceConfig { mutant: Some(Mutant::LoadSkipsSnoops), ..CoherenceConfig::default() };
    clean("light", &MemSystem::new(Setup::core(config, 2)));
}
