//! Chapter 14 of the CXL specification, the tests of coherence; a name is a section number. Stimulus and judgement are
//! those of the conformance catalogue: the three stress algorithms on shared lines, with false sharing, by sequential
//! cores over the agents, in random order of all messages and with every monitor watching.

use super::hdm_h_pair::Pair as HdmHPair;
use super::stress::runs;
use scalepool::coherence::agent::{Agent, AgentOutput};
use scalepool::coherence::cache::backing::{Backing, Flat};
use scalepool::coherence::cache::device::{DeviceCache, WriteBytes};
use scalepool::coherence::cache::home::HomeAgent;
use scalepool::coherence::config::{CoherenceConfig, ErrorAnswer, ErrorRange};
use scalepool::coherence::content::{CacheLine, LineAddr, LineContent};
use scalepool::coherence::message::Msg;
use scalepool::nodes::stimulus::{AlgorithmStep, ProducerConsumer, WriteStreams, alg1a, alg1b, alg2};
use scalepool::proof::stress::litmus::{Work, play};
use scalepool::proof::stress::{Stress, StressProtocol};
use scalepool::scenario::report::ScenarioReport;
use scalepool::scenario::{self, ScenarioRequest};
use scalepool_protocols::cxl::cxl256::code::{D2hReqOpcode as Op, DevLoad, H2dRspOpcode};
use std::collections::BTreeSet;

/// An algorithm as a program: fences need nothing, since every access of a sequential core is visible when it ends.
fn program(steps: &[AlgorithmStep]) -> Vec<Work> {
    let work = |step: &AlgorithmStep| match step {
        AlgorithmStep::Write { address, data, byte_enables } => Some(Work {
            line: LineAddr::of_address(*address),
            store: Some(WriteBytes { data: CacheLine::of(*data), enables: *byte_enables }),
        }),
        AlgorithmStep::Read { address, .. } => Some(Work { line: LineAddr::of_address(*address), store: None }),
        AlgorithmStep::Fence => None,
    };
    steps.iter().filter_map(work).collect()
}

/// Algorithms 1a and 1b by every actor at once, each with bytes of its own in the same lines: what it reads is what it
/// wrote last, and never the bogus pattern. Then algorithm 2 by one writer and its readers.
fn algorithms(protocol: StressProtocol, actors: u64, seed: u64) {
    let mut stress = Stress::new(protocol, seed, 0);
    (stress.lines, stress.cache_lines, stress.byte_owners) = (8, 4, false);
    let streams = |n: u64| WriteStreams {
        increments: 3,
        set_offset_bytes: 256,
        loops: 2,
        pattern: 1 + 1000 * n as u32,
        byte_mask: (0..64).filter(|i| i % actors == n).fold(0, |mask, i| mask | 1 << i),
        ..WriteStreams::default()
    };
    for bogus in [false, true] {
        let steps = (0..actors).map(|n| if bogus { alg1b(&streams(n)) } else { alg1a(&streams(n)) });
        let steps: Vec<_> = steps.map(|s| s.expect("legal parameters")).collect();
        let programs: Vec<_> = steps.iter().map(|s| program(s)).collect();
        let played = play(&stress, &programs).unwrap_or_else(|f| panic!("{protocol:?}\n{f}")).expect("it ends");
        for (steps, loaded) in steps.iter().zip(&played.loaded) {
            let reads = steps.iter().filter_map(|s| match s {
                AlgorithmStep::Read { expected, byte_mask, .. } => Some((CacheLine::of(*expected), *byte_mask)),
                _ => None,
            });
            let reads: Vec<_> = reads.collect();
            assert!(!reads.is_empty() && reads.len() == loaded.len(), "every read of the program was made");
            for ((expected, mask), loaded) in reads.into_iter().zip(loaded) {
                let mut merged = *loaded;
                merged.merge(&expected, mask);
                assert_eq!(merged, *loaded, "{protocol:?}, seed {seed}, bytes {mask:#x}");
            }
        }
    }
    let rounds = ProducerConsumer { increments: 3, flag_address: 4 * 64, loops: 4, ..ProducerConsumer::default() };
    let steps = alg2(&rounds).expect("legal parameters");
    let writer: Vec<_> = program(&steps).into_iter().filter(|w| w.store.is_some()).collect();
    let reader: Vec<_> = program(&steps).into_iter().filter(|w| w.store.is_none()).collect();
    let programs: Vec<_> = (0..actors).map(|n| if n == 0 { writer.clone() } else { reader.clone() }).collect();
    let played = play(&stress, &programs).unwrap_or_else(|f| panic!("{protocol:?}\n{f}")).expect("it ends");
    let value = |line: &CacheLine| u32::from_le_bytes([line.bytes[0], line.bytes[1], line.bytes[2], line.bytes[3]]);
    for loaded in &played.loaded[1..] {
        // Flag, four lines, flag.
        assert!(!loaded.is_empty() && loaded.len() == reader.len() && loaded.len() % 6 == 0);
        for round in loaded.chunks_exact(6) {
            let values: Vec<u32> = round.iter().map(value).collect();
            let (first, last) = (values[0], values[5]);
            // The writer may be at the round after the flag.
            assert!(
                values[1..5].iter().all(|v| (first..=last + 1).contains(v)),
                "{protocol:?}, seed {seed}: {values:?}"
            );
        }
    }
}

#[test]
fn c14_3_6_1_2() {
    for (seed, devices) in [1, 2, 3, 5, 7].into_iter().enumerate() {
        // The host's core is one more actor.
        for repeat in 0..4 {
            algorithms(StressProtocol::Cache(devices), devices as u64 + 1, 5 * repeat + seed as u64);
        }
    }
}

/// COH-T11: the same algorithms at 2 to 8 agents.
#[test]
fn scenario_coh_t11() {
    for agents in 2..=8 {
        algorithms(StressProtocol::Cache(agents as usize - 1), agents, agents);
        algorithms(StressProtocol::HdmDb(agents as usize - 1), agents, agents);
    }
    algorithms(StressProtocol::HdmD, 2, 1);
}

/// A device and a home, with messages in order.
struct Pair {
    config: CoherenceConfig,
    device: DeviceCache<CacheLine>,
    home: HomeAgent<CacheLine, Flat<CacheLine>>,
    answers: BTreeSet<(H2dRspOpcode, u16)>,
}

impl Pair {
    /// Issues a request and lets everything arrive. Nobody may report anything.
    fn request(&mut self, op: Op, line: LineAddr, bytes: Option<WriteBytes<CacheLine>>) {
        let mut out = AgentOutput::default();
        assert!(self.device.issue(op, line, bytes, &mut out), "{op:?}");
        while !out.sends.is_empty() {
            let mut next = AgentOutput::default();
            for (_, msg) in std::mem::take(&mut out.sends) {
                if let Msg::H2dRsp { opcode, rsp_data, .. } = msg {
                    let state = if opcode == H2dRspOpcode::GO { rsp_data } else { 0 };
                    self.answers.insert((opcode, state));
                }
                match msg {
                    Msg::H2dReq { .. } | Msg::H2dRsp { .. } | Msg::H2dData { .. } => {
                        self.device.take(&self.config, 0, msg, 0, &mut next);
                    }
                    _ => self.home.take(&self.config, 0, msg, 0, &mut next),
                }
            }
            assert!(next.events.is_empty(), "{op:?}: {:?}", next.events);
            out = next;
        }
        assert!(self.device.is_idle() && self.home.is_idle(), "{op:?}");
    }
}

/// One set in a range that the host refuses: GO-Err and GO_ERR_WritePull, nothing cached, nothing written, and the
/// device goes on.
#[test]
fn c14_3_6_1_3() {
    let refused = LineAddr(4);
    let range = |answer| ErrorRange { first: refused.address(), last: refused.address() + 4 * 64 - 1, answer };
    for answer in [ErrorAnswer::GoError, ErrorAnswer::GoInvalid] {
        let config = CoherenceConfig { error_ranges: vec![range(answer)], ..CoherenceConfig::default() };
        let home = HomeAgent::new(Flat::default());
        let mut pair = Pair { config, device: DeviceCache::new(), home, answers: BTreeSet::new() };
        let streams = WriteStreams { increments: 3, set_offset_bytes: 256, loops: 1, ..WriteStreams::default() };
        for step in alg1a(&streams).expect("legal parameters") {
            match step {
                AlgorithmStep::Write { address, data, byte_enables } => {
                    let bytes = WriteBytes { data: CacheLine::of(data), enables: byte_enables };
                    let line = LineAddr::of_address(address);
                    let ops = [Op::RdOwn, Op::ItoMWr, Op::WrCur, Op::WOWrInvF, Op::WrInv];
                    let op = ops[line.0 as usize % ops.len()];
                    pair.request(op, line, Some(bytes));
                    let refuses = line >= refused;
                    assert_eq!(pair.device.entry(line).is_some(), op == Op::RdOwn && !refuses, "{op:?}");
                }
                AlgorithmStep::Read { address, expected, .. } => {
                    let line = LineAddr::of_address(address);
                    if line >= refused {
                        pair.request(Op::RdShared, line, None);
                        assert!(pair.device.entry(line).is_none(), "an error is never cached");
                        assert_eq!(pair.home.memory.read(line), CacheLine::initial(line), "the range is unchanged");
                    } else {
                        if pair.device.entry(line).is_none() {
                            pair.request(Op::RdShared, line, None);
                        }
                        assert_eq!(pair.device.load(&pair.config, line), Some(&CacheLine::of(expected)));
                    }
                }
                AlgorithmStep::Fence => {}
            }
        }
        assert!(pair.answers.iter().any(|a| a.0 == H2dRspOpcode::GO_ERR_WritePull));
        let state = if answer == ErrorAnswer::GoError { 4 } else { 3 };
        assert!(pair.answers.contains(&(H2dRspOpcode::GO, state)), "{:?}", pair.answers);
    }
}

/// HDM-DB with several hosts and the device's own cache, HDM-D, HDM-H.
#[test]
fn c14_3_6_1_4() {
    for (seed, hosts) in [1, 2, 3, 5, 7].into_iter().enumerate() {
        for repeat in 0..3 {
            algorithms(StressProtocol::HdmDb(hosts), hosts as u64 + 1, 5 * repeat + seed as u64);
        }
    }
    for seed in 0..8 {
        algorithms(StressProtocol::HdmD, 2, seed);
    }
    // HDM-H: the agents of the expanders; each read expects what was written before.
    let mut pair = HdmHPair::new();
    let streams = WriteStreams { byte_mask: 0x00ff_f0f0_1234_8001, ..WriteStreams::default() };
    for step in alg1b(&streams).expect("legal parameters") {
        let is_begun = match step {
            AlgorithmStep::Write { address, data, byte_enables } => {
                pair.write(LineAddr::of_address(address), CacheLine::of(data), byte_enables)
            }
            AlgorithmStep::Read { address, expected, byte_mask } => {
                let line = LineAddr::of_address(address);
                let begun = pair.read(line);
                let known = pair.host.request(line, false).expect("it is open").note;
                let mut merged = known;
                merged.merge(&CacheLine::of(expected), byte_mask);
                assert_eq!(merged, known);
                begun
            }
            AlgorithmStep::Fence => continue,
        };
        assert!(is_begun);
        pair.settle();
    }
}

fn scenario(name: &str, set: &[&str]) -> ScenarioReport {
    let set = set.iter().map(|s| (*s).to_owned()).collect();
    let request = ScenarioRequest { scenario: name.into(), seed: 1, threads: 1, set, ..ScenarioRequest::default() };
    scenario::run(&request, &mut |_| ()).expect("a legal request")
}

/// Partly: the average is taken from the link's credit stalls; there is no mailbox to read it from.
#[test]
fn c14_3_6_1_5() {
    let of = |hold: &str| {
        let hold = format!("link.credits_hold={hold}");
        scenario("hdm-db-share", &["core.accesses=300", "core.pattern=false-sharing", "link.buffers=4", &hold])
    };
    let (free, congested) = (of("0"), of("4000"));
    for report in [&free, &congested] {
        assert!(report.violations.is_empty(), "{:?}", report.violations);
    }
    let average = |r: &ScenarioReport| {
        let units: u64 = r.flits.iter().map(|f| f.1).sum();
        (r.credit_stalls * 100).checked_div(units.max(r.credit_stalls)).unwrap_or(0)
    };
    assert!(average(&congested) <= 100 && congested.time_fs > free.time_fs);
    assert!(congested.credit_stalls > free.credit_stalls);
}

/// Partly: the cut of the bandwidth is one back-invalidate at a time; DevLoad comes from the depth of the queues.
#[test]
fn c14_3_6_1_6() {
    let run = |devload| {
        let mut stress = Stress::new(StressProtocol::HdmDb(4), 2, 20_000);
        stress.config.mem.devload = devload;
        stress.run().unwrap_or_else(|failure| panic!("{failure}"))
    };
    let (silent, telling) = (run([0; 3]), run([1, 2, 3]));
    assert_eq!(DevLoad(silent.devload), DevLoad(0));
    assert_eq!(DevLoad(telling.devload), DevLoad(3));
    // Coherence does not depend on it: all else is equal.
    assert_eq!(scalepool::proof::stress::StressCounts { devload: 0, ..telling }, silent);
    runs(&[StressProtocol::HdmDb(2)], 4, 8_000);
}
