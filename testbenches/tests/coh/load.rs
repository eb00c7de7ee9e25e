//! DevLoad: thresholds, logical devices, the throttle of a host.

use super::mem_bench::*;
use super::mem_explore::{clean, explore};
use super::names::names;
use super::scenarios::{self, count, settings, sound};
use scalepool::coherence::agent::AgentOutput;
use scalepool::coherence::config::CoherenceConfig;
use scalepool::coherence::content::{CacheLine, LineAddr};
use scalepool::coherence::mem::load::{DevLoadParts, Share, Steps, Throttle, of_depth};
use scalepool::coherence::mem::options::MemConfig;
use scalepool::coherence::mem::{Dcoh, DeviceOp, Holders, HostReq};
use scalepool::coherence::message::Msg;
use scalepool::proof::mutant::CoherenceMutant;
use scalepool::proof::systems::mem::{Setup, system as mem_system};
use scalepool::proof::systems::menu::ProgramOperation;
use scalepool::scenario::report::ScenarioReport;
use scalepool::scenario::{self, ScenarioRequest};
use scalepool_protocols::cxl::cxl256::code::{DevLoad, M2sReqOpcode, SnpType};

/// DevLoad of an answer of a device with `open` back-invalidates under way.
fn told(config: &CoherenceConfig, open: u64) -> DevLoad {
    let mut dcoh = Dcoh::<CacheLine>::new(config, 2);
    for line in (0..open).map(|l| LineAddr(100 + l)) {
        dcoh.preset(line, bytes(0), Holders::Owner(0));
        dcoh.issue(config, line, DeviceOp::ReadOwn, &mut AgentOutput::default());
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
        let parts = DevLoadParts { internal, egress, reduction: DevLoad(0) };
        assert_eq!((parts.reported().0, parts.check(parts.reported())), (internal.0.max(egress.0), None));
    }
}

#[test]
fn coh_qos_02_n() {
    let parts = DevLoadParts { internal: DevLoad(1), egress: DevLoad(3), reduction: DevLoad(2) };
    for said in [0, 1, 2] {
        assert_eq!(parts.check(DevLoad(said)).map(|e| e.rule), Some("COH-QOS-02"), "lower than the maximum");
    }
    // A device whose reduced throughput is not told: what it says is judged by what it is.
    let config = with(MemConfig { devload: [1, 3, 5], ..MemConfig::default() });
    let hidden = DevLoadParts { internal: told(&config, 1), egress: DevLoad(0), reduction: DevLoad(2) };
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
        throttle.level(cycle)
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
            vec![ProgramOperation::Mem(HostReq::RD_ANY), ProgramOperation::Store],
            vec![
                ProgramOperation::Mem(HostReq::RD_SHARED),
                ProgramOperation::Load,
                ProgramOperation::Mem(HostReq::INV),
                ProgramOperation::Store,
            ],
        ];
        let setup = Setup { programs, ..Setup::core(with(mem), 2) };
        clean("load", &mem_system(setup).begin()).outcomes
    };
    let light = outcomes(MemConfig::default());
    assert!(light.len() > 1, "{light:?}");
    assert_eq!(light, outcomes(MemConfig { devload: [1, 2, 3], ..MemConfig::default() }));
    assert_eq!(light, outcomes(MemConfig { throughput_reduction: 3, ..MemConfig::default() }));
}

#[test]
fn coh_qos_04_n() {
    let mem = MemConfig { throughput_reduction: 2, ..MemConfig::default() };
    let config = CoherenceConfig { rules: CoherenceMutant::LoadSkipsSnoops.rules(), ..with(mem) };
    let setup = Setup::core(config, 2);
    names(&mem_system(setup.clone()), "COH-QOS-04");
    let start = mem_system(Setup { orders: false, ..setup });
    let found = explore("LoadSkipsSnoops", &start).violation.expect("it is found");
    assert!(["COH-INV-01", "COH-INV-02", "COH-INV-04"].contains(&found.event.rule), "{}", found.event);
    // Not loaded, the same device is right: coherence depends on the load.
    let config = CoherenceConfig { rules: CoherenceMutant::LoadSkipsSnoops.rules(), ..CoherenceConfig::default() };
    clean("light", &mem_system(Setup::core(config, 2)));
}

/// A walk over lines that nobody holds: every access is a request.
const WALK: [&str; 6] = [
    "hosts=1",
    "core.pattern=walk",
    "core.lines=1500",
    "core.accesses=1500",
    "core.cache_lines=2000",
    "core.outstanding=16",
];

/// Strong steps and short windows, so that a run of some thousand cycles shows them.
const HEED: [&str; 4] = ["throttle=on", "throttle.normal=50", "throttle.severe=50", "throttle.window=500"];

/// M2S Req of the host that leave in [0, 2000), [4000, 6000) and [10000, 12000), and the report.
fn rates(more: &[&str]) -> ([usize; 3], ScenarioReport) {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("trace.jsonl");
    let set = settings(&[&WALK[..], more].concat());
    let mut request =
        ScenarioRequest { scenario: "hdm-db-share".into(), seed: 3, threads: 1, set, ..ScenarioRequest::default() };
    request.outputs.trace = Some(path.clone());
    let report = scenario::run(&request, &mut |_| ()).expect("it runs");
    assert!(report.violations.is_empty(), "{:?}", report.violations.first());
    let text = std::fs::read_to_string(path).expect("a trace");
    let left = |line: &str| -> Option<u64> {
        let record: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let is_req = record["message"].as_str().is_some_and(|m| m.ends_with("m2s_req"));
        (is_req && record["where"] == "host[0].mem[0]").then(|| record["cycle"].as_u64()).flatten()
    };
    let cycles: Vec<_> = text.lines().filter_map(left).collect();
    let within = |from: u64| cycles.iter().filter(|c| (from..from + 2000).contains(*c)).count();
    ([within(0), within(4000), within(10_000)], report)
}

#[test]
fn an_overloaded_device_slows_its_host_which_recovers() {
    let reduced = "device.reduced=2000:6000:3";
    let ([before, during, after], report) = rates(&[&HEED[..], &["throttle.most=200", reduced]].concat());
    assert!(during * 4 < before, "{before} requests before, {during} while the device is overloaded");
    assert!(after * 5 >= before * 4, "{before} requests before, {after} when it has recovered");
    assert_eq!((count(&report, "throttle most"), count(&report, "throttle last")), (200, 0));
    assert!(count(&report, "answers of severe load") > 10 && count(&report, "requests spaced") > 10);
    // Who does not heed it goes on as fast as before, and so does who hears of no load.
    let ([before, during, after], deaf) = rates(&[reduced]);
    assert!(during * 10 >= before * 9 && after * 10 >= before * 9, "{before} {during} {after}");
    assert_eq!(count(&deaf, "requests spaced"), 0);
    let (light, report) = rates(&HEED);
    assert_eq!((light, count(&report, "throttle most")), (rates(&[]).0, 0));
    assert!(deaf.counts.iter().all(|(name, _)| !name.contains("load")), "no figure that nothing feeds");
}

/// Load from the depth of the queues: who fights for lines is slowed down, and loses nothing.
#[test]
fn the_depth_of_queues_throttles_hosts() {
    let fight = ["core.pattern=false-sharing", "core.lines=4", "core.accesses=200", "hosts=3", "throttle=on"];
    let run = |more: &[&str]| sound("hdm-db-share", None, &settings(&[&fight[..], more].concat()));
    let (light, loaded) = (run(&[]), run(&["device.devload=1,2,3", "throttle.window=300"]));
    assert_eq!(count(&light, "accesses"), count(&loaded, "accesses"));
    assert_eq!(count(&light, "answers of light load"), count(&light, "s2m_ndr") + count(&light, "s2m_drs"));
    for level in ["moderate", "severe"] {
        assert!(count(&loaded, &format!("answers of {level} load")) > 0, "{level}");
    }
    // How long the fight takes is bound by its one line at a time, not by the rate of requests.
    assert!(count(&loaded, "throttle most") > 0 && count(&loaded, "requests spaced") > 0);
    assert_eq!((count(&light, "throttle most"), count(&light, "requests spaced")), (0, 0));
    for bad in ["device.devload=1,2", "device.devload=3,2,1", "device.devload=0,1,2", "device.devload=a,b,c"] {
        assert!(scenarios::run("hdm-db-share", None, &settings(&[bad])).is_err(), "{bad}");
    }
    for bad in ["device.reduced=5:5:1", "device.reduced=1:2:4", "device.reduced=1:2", "device.reduced=x:2:1"] {
        assert!(scenarios::run("hdm-db-share", None, &settings(&[bad])).is_err(), "{bad}");
    }
}
