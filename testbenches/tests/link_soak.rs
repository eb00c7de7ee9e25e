//! The 68B link under noise: nothing lost, nothing twice, nothing out of order, all credits home.
//!
//! Modelled: random traffic of all ten classes in both directions, credits held back now and then, link training from
//! outside, bit errors; then single faults at every place that matters. A drop means that the flit's place on the wire
//! carries noise, never that it vanishes. A monitor beside each end judges every unit. `SCALEPOOL_SOAK_FLITS` sets the
//! flits of each direction of the soak, default 50,000, a million in `make soak`.
//!
//! CRC-16 lets one of 65536 heavy error patterns through. Such a flit would be used as it is, here as in a real link,
//! and the scoreboard would see it. It is not hidden: the wires count the units that changed unseen, and a run that
//! meets one says so instead of blaming the link. The fixed seeds of the default runs meet none.

use crate::cxl68_retry::bench::{Bench, link, up};
use scalepool::link::cxl68::EndConfig;
use scalepool::link::cxl68::fault::Fault;
use scalepool::link::cxl68::retry::Local;
use scalepool::scenario::{self, ScenarioRequest};
use scalepool_protocols::cxl::cxl68::Dir;
use scalepool_protocols::cxl::cxl68::config::Cxl68Config;
use scalepool_protocols::cxl::cxl68::message::Class;
use scalepool_testbenches::soak::{is_soak, number_in};

/// Flits of each direction, unless the environment says otherwise.
const SOAK_FLITS: u64 = 50_000;
/// Flit clocks between two trainings from outside, on average.
const TRAIN_EVERY_FLITS: u64 = 10_000;

fn soak_flits() -> u64 {
    number_in("SCALEPOOL_SOAK_FLITS", SOAK_FLITS)
}

fn soak(ber: f64, host_entries: u16, device_entries: u16, seed: u64) {
    let flits = soak_flits();
    let with = |llrb_entries| Cxl68Config { llrb_entries, ..link() };
    let mut bench = Bench::new(with(host_entries), with(device_entries), seed);
    bench.holds = true;
    for dir in Dir::ALL {
        bench.wire(dir, Vec::new(), ber, seed);
    }
    let sent = |bench: &Bench| bench.pair.host.stats().sent.min(bench.pair.device.stats().sent);
    while sent(&bench) < flits && bench.findings.is_empty() {
        bench.step();
        if bench.rng.ratio(1, TRAIN_EVERY_FLITS) {
            bench.pair.train();
        }
    }
    let (rested, undetected) = (bench.pair.wires.now(), bench.pair.wires.undetected());
    assert_eq!(undetected, 0, "a CRC alias came through; choose another seed or fewer flits");
    bench.rest(100_000);
    bench.assert_clean(&format!("bit error rate {ber:e}"));
    let pair = &bench.pair;
    let (host, device) = (pair.host.stats(), pair.device.stats());
    println!(
        "bit error rate {ber:e}, buffers {host_entries} and {device_entries}: {} and {} units sent in {rested} flit \
         clocks, {} messages; {} units damaged, {} CRC errors, {} unusable IDs, {} and {} Req sequences, {} and {} units \
         replayed, {} trainings, {} asked for by retry, 0 undetected",
        host.sent,
        device.sent,
        bench.delivered.iter().sum::<u64>(),
        pair.wires.damaged(),
        host.crc_errors + device.crc_errors,
        host.pid_errors + device.pid_errors,
        host.retries,
        device.retries,
        host.replayed,
        device.replayed,
        pair.trainings,
        host.reinits + device.reinits,
    );
    assert!(pair.wires.damaged() > 0, "noise was on the wires");
    assert!(pair.trainings > 0, "links were trained from outside");
    assert!(bench.delivered.iter().all(|&n| n > flits / 1000), "every class has travelled: {:?}", bench.delivered);
}

#[test]
fn soak_at_1e_6() {
    soak(1e-6, 128, 128, 11);
}

#[test]
fn soak_at_1e_5() {
    soak(1e-5, 22, 255, 12);
}

#[test]
fn soak_at_1e_4() {
    soak(1e-4, 255, 22, 13);
}

/// Trainings of a link that damages nothing, at every phase of its traffic: all flits are acknowledged and all credits home at the end.
#[test]
fn trainings_without_an_error_leave_nothing_open() {
    for seed in 0..20 {
        let mut bench = Bench::new(link(), Cxl68Config { llrb_entries: 22, ..link() }, seed);
        bench.holds = true;
        for _ in 0..3000 {
            bench.step();
            if bench.rng.ratio(1, 20 + 17 * seed) {
                bench.pair.train();
            }
        }
        bench.rest(100_000);
        bench.assert_clean(&format!("seed {seed}"));
        let pair = &bench.pair;
        assert!(pair.trainings > 3, "seed {seed}: {} trainings", pair.trainings);
        for end in [&pair.host, &pair.device] {
            // A single flit is not acknowledged for its own sake.
            assert!(end.buffer().unacknowledged() <= 1, "seed {seed}: {}", end.buffer().unacknowledged());
            assert_eq!((end.stats().crc_errors, end.stats().trainings), (0, 0), "seed {seed}");
        }
    }
}

/// Longer than any buffer: everything that may be sent is under way before the first flit arrives.
const LONG_WIRE_FLITS: u64 = 280;

fn long_link(llrb_entries: u16, preamble: u16) -> Bench {
    let link = Cxl68Config { llrb_entries, timeout_flits: 4096, ..link() };
    let (host, device) = (EndConfig::cachemem(Dir::Down, link, 600), EndConfig::cachemem(Dir::Up, link, 600));
    let mut bench = Bench::with_latency(host, device, LONG_WIRE_FLITS, 1);
    for _ in 0..4 * LONG_WIRE_FLITS {
        bench.quiet_step();
    }
    // Moves the place where the numbers wrap through the cases.
    for _ in 0..preamble {
        bench.give_random(Class::M2sReq);
        bench.quiet_step();
    }
    while bench.pair.host.buffer().unacknowledged() > 1 || !bench.pair.is_quiet() {
        bench.quiet_step();
    }
    bench
}

/// `fill` flits are under way and unacknowledged, the one at `place` is lost: all behind it are sent again.
fn lost_at(clean: &Bench, fill: u16, place: u16, fault: fn(u64) -> Fault) -> u64 {
    let mut bench = clean.clone();
    bench.wire(Dir::Down, vec![fault(place.into())], 0.0, u64::from(fill));
    let sent = bench.pair.host.stats().sent;
    while bench.pair.host.stats().sent < sent + u64::from(fill) {
        // Reads and lines in turn, so that some of the flits are all data.
        let class = if bench.pair.wires.now().is_multiple_of(3) { Class::M2sRwd } else { Class::H2dReq };
        if bench.pair.host.waiting(class) == 0 {
            bench.give_random(class);
        }
        bench.quiet_step();
    }
    bench.rest(20 * LONG_WIRE_FLITS);
    bench.assert_clean(&format!("flit {place} of {fill} lost"));
    assert_eq!(bench.pair.wires.damaged(), 1);
    let replayed = bench.pair.host.stats().replayed;
    assert!(replayed >= u64::from(fill - place), "{replayed} flits again, {place} of {fill} lost");
    replayed
}

fn noise(unit: u64) -> Fault {
    Fault::Noise { unit }
}

fn drop(unit: u64) -> Fault {
    Fault::Drop { unit }
}

/// Every depth of a small buffer at every fill, the wrap at different places.
#[test]
fn loss_at_every_fill_and_depth_of_22_entries() {
    for &preamble in if is_soak() { &[0, 7, 15][..] } else { &[7] } {
        let clean = long_link(22, preamble);
        let free = clean.pair.host.buffer().num_free();
        for fill in 1..free - 1 {
            for place in 0..fill {
                lost_at(&clean, fill, place, drop);
                if preamble == 7 {
                    lost_at(&clean, fill, place, noise);
                }
            }
        }
    }
}

/// The largest buffer: every depth at the fullest, some depths at some fills.
#[test]
fn loss_at_every_depth_of_255_entries() {
    let clean = long_link(255, 100);
    let full = clean.pair.host.buffer().num_free() - 2;
    for fill in [1, 2, 8, 9, 100, full - 1, full] {
        let step = if fill == full && is_soak() { 1 } else { 1 + fill / 8 };
        for place in (0..fill).step_by(step.into()) {
            lost_at(&clean, fill, place, drop);
        }
    }
    lost_at(&clean, full, 0, noise);
    lost_at(&clean, full, full - 1, noise);
}

/// Traffic until the link has something of everything under way, a fault at one unit of either direction.
fn disturbed(down: &[Fault], up_faults: &[Fault], train_at: Option<u64>) -> Bench {
    let mut bench = Bench::new(link(), link(), 3);
    bench.wire(Dir::Down, down.to_vec(), 0.0, 3);
    bench.wire(Dir::Up, up_faults.to_vec(), 0.0, 4);
    for flit in 0..700 {
        if train_at == Some(flit) {
            bench.pair.train();
        }
        bench.step();
    }
    bench.rest(5000);
    bench
}

/// Training begins in each flit clock: while the link comes up, in data runs, in Req and Ack sequences, in replays.
#[test]
fn training_in_every_phase() {
    let mut cut = [0; 5];
    // A run of data takes four flits: every third flit meets each of its parts.
    for flit in (0..600).step_by(if is_soak() { 1 } else { 3 }) {
        let bench = disturbed(&[drop(100), drop(180)], &[drop(90), drop(200)], Some(flit));
        bench.assert_clean(&format!("training at {flit}"));
        assert_eq!(bench.pair.trainings, 1);
    }
    // What the trainings have met.
    let mut bench = Bench::new(link(), link(), 3);
    bench.wire(Dir::Down, vec![drop(100), drop(180)], 0.0, 3);
    bench.wire(Dir::Up, vec![drop(90), drop(200)], 0.0, 4);
    for _ in 0..600 {
        bench.step();
        let end = &bench.pair.host;
        cut[0] += u32::from(!end.is_up());
        cut[1] += u32::from(end.rollover() > 3);
        cut[2] += u32::from(end.local().state == Local::LlrReq);
        cut[3] += u32::from(end.remote() != scalepool::link::cxl68::retry::Remote::Normal);
        cut[4] += u32::from(end.buffer().replaying());
    }
    assert!(cut.iter().all(|&n| n > 0), "coming up, data run, Req, Ack, replay: {cut:?}");
}

/// Both ends lose a flit, at every distance of the two.
#[test]
fn both_ends_fail_at_once() {
    for fault in [drop, noise] {
        for offset in 0..60 {
            let bench = disturbed(&[fault(130)], &[fault(100 + offset)], None);
            bench.assert_clean(&format!("down 130, up {}", 100 + offset));
            assert_eq!(bench.pair.wires.damaged(), 2);
        }
    }
}

/// One direction talks; a flit of it is lost, and then one more unit of either direction.
fn lost_twice(down: &[Fault], up_faults: &[Fault]) -> Bench {
    let mut bench = Bench::new(link(), link(), 9);
    up(&mut bench);
    bench.wire(Dir::Down, down.to_vec(), 0.0, 9);
    bench.wire(Dir::Up, up_faults.to_vec(), 0.0, 9);
    for _ in 0..200 {
        if bench.pair.host.waiting(Class::M2sRwd) < 2 {
            bench.give_random(Class::M2sRwd);
        }
        bench.quiet_step();
    }
    bench.rest(5000);
    bench.assert_clean(&format!("lost {down:?} and {up_faults:?}"));
    bench
}

/// A lost flit in each place of the Req sequence: time-out, and asked again.
#[test]
fn req_sequence_lost_at_each_flit() {
    let again = |up_fault: u64| {
        let bench = lost_twice(&[drop(40)], &[drop(up_fault)]);
        u32::from(bench.pair.device.stats().retries == 2)
    };
    assert_eq!((0..30).map(again).sum::<u32>(), 6, "each of the six flits of the Req sequence, and no other one");
}

/// A lost flit in each place of the Ack sequence, and of what is sent around it.
#[test]
fn ack_sequence_lost_at_each_flit() {
    let again = |down_fault: u64| {
        let bench = lost_twice(&[drop(40), drop(down_fault)], &[]);
        u32::from(bench.pair.device.stats().retries == 2)
    };
    let hits: Vec<u32> = (41..120).map(again).collect();
    assert!(hits.iter().sum::<u32>() >= 6, "{hits:?}");
    // Between the lost flit and the Ack everything is discarded anyway: a second loss there costs nothing.
    assert_eq!(hits[..10], [0; 10]);
}

/// Data that looks like Frames, Reqs and Acks, four flits in a row, on a noisy link.
#[test]
fn data_that_looks_like_retry_flits() {
    let mut bench = Bench::new(link(), link(), 8);
    bench.lookalikes = true;
    for dir in Dir::ALL {
        bench.wire(dir, Vec::new(), 4e-5, 8);
    }
    for _ in 0..100_000 {
        bench.step();
        if bench.rng.ratio(1, 5000) {
            bench.pair.train();
        }
    }
    bench.rest(20_000);
    bench.assert_clean("lookalikes");
    assert!(bench.pair.host.stats().retries > 100);
}

/// Two link ends in a simulation train often, and training is over before what was under way has arrived.
#[test]
fn training_shorter_than_the_wire() {
    let faults: Vec<String> = (2..100)
        .map(|n| format!("drop:{},noise:{},up:noise:{}", 100 * n, 100 * n + n * 17 / 10 % 60, 100 * n + 50))
        .collect();
    let retries = ["1", "30000000", "1000000000"].map(|retrain_fs| {
        let set = [
            "host.accesses=3000".into(),
            format!("link.fault={}", faults.join(",")),
            format!("link.retrain_fs={retrain_fs}"),
        ];
        let scenario = "cxl68-expander".into();
        let request = ScenarioRequest { scenario, seed: 1, threads: 1, set: set.into(), ..ScenarioRequest::default() };
        let report = scenario::run(&request, &mut |_| ()).expect("a legal request");
        assert_eq!(report.violations, [], "training of {retrain_fs} fs");
        report.retries
    });
    assert!(retries.iter().all(|&n| n > 50), "{retries:?}");
}

/// Small buffers, and acknowledgements that nothing hurries: nobody starves.
#[test]
fn smallest_buffers_with_slow_acknowledgements() {
    let slow = Cxl68Config { llrb_entries: 22, llcrd_ack_threshold: 255, llcrd_flush_flits: 1023, ..link() };
    let fast = Cxl68Config { llrb_entries: 255, llcrd_ack_threshold: 16, llcrd_flush_flits: 1, ..link() };
    for (host, device, ber) in [(slow, slow, 0.0), (slow, slow, 3e-5), (slow, fast, 3e-5), (fast, slow, 3e-5)] {
        let mut bench = Bench::new(host, device, 10);
        for dir in Dir::ALL {
            bench.wire(dir, Vec::new(), ber, 10);
        }
        bench.run(if is_soak() { 100_000 } else { 40_000 });
        // The last acknowledgements wait for the flush timer.
        (0..20_000).for_each(|_| bench.quiet_step());
        bench.rest(5000);
        bench.assert_clean("slow acknowledgements");
        assert!(bench.delivered.iter().all(|&n| n > 300), "{:?}", bench.delivered);
    }
}

/// The link is cut: both ends train as often as they may, give up and say so. Nothing is delivered wrongly.
#[test]
fn a_cut_link_is_given_up_and_reported() {
    for cut_at in [3, 300, 5000] {
        let limits = Cxl68Config { max_num_retry: 3, max_num_phy_reinit: 2, ..link() };
        let mut bench = Bench::new(limits, limits, 14);
        bench.run(cut_at);
        // What is on its way is noise at the moment of the cut: both ends notice.
        for dir in Dir::ALL {
            bench.wire(dir, Vec::new(), 1.0, 14);
        }
        bench.run(100);
        bench.pair.cut = true;
        bench.run(20_000);
        for dir in Dir::ALL {
            let end = bench.pair.sender(dir);
            assert_eq!((end.local().state, end.halted()), (Local::Abort, Some("CXL68-LRS-06")), "cut at {cut_at}");
            assert_eq!((end.local().num_retry, end.local().num_phy_reinit), (3, 2));
            assert_eq!(end.transmit(0), None, "silent");
        }
        let rules: Vec<_> = bench.findings.ends.iter().map(|e| (e.violation.rule, e.severity)).collect();
        assert_eq!(rules, [("CXL68-LRS-06", scalepool::link::cxl68::Severity::Uncorrectable); 2]);
        assert!(bench.findings.monitor.is_empty(), "{}", bench.findings.monitor[0]);
        assert!(bench.findings.scoreboard.is_empty());
    }
}
