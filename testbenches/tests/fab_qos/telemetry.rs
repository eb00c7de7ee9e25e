//! Loads, shares and throttles, number by number.

use scalepool::coherence::mem::load::{Steps, Throttle};
use scalepool::nodes::cxl::memory::telemetry::{
    EgressSamples, LdShare, LdUse, Telemetry, TelemetryConfig, internal_load, over_allocation, over_limit, told,
};
use scalepool::system::description::Description;
use scalepool_protocols::cxl::cxl256::code::DevLoad;
use std::path::PathBuf;

const NOISY: &str = include_str!("../../systems/noisy_neighbour.toml");

/// What is said of a description with another telemetry.
pub fn refused(telemetry: &str) -> String {
    let from = NOISY.find("telemetry = {").expect("it has one");
    let length = NOISY[from..].find('\n').expect("a line");
    let text = format!("{}telemetry = {{ {telemetry} }}{}", &NOISY[..from], &NOISY[from + length..]);
    let description = Description::parse("f.toml", PathBuf::new(), &text).expect("it is TOML");
    description.resolve().err().map_or_else(String::new, |problems| problems.to_string())
}

fn fractions<const N: usize>(of: [u64; N]) -> [LdShare; N] {
    of.map(|fraction| LdShare { fraction, limit: 0 })
}

/// Telemetry of a device without logical devices that has seen so many samples with and without congestion.
fn sampled(congested: u64, free: u64) -> Telemetry {
    let config =
        TelemetryConfig { sample_cycles: 10, congestion_percent: [10, 25], interval_cycles: 0, shares: Vec::new() };
    let mut telemetry = Telemetry::new(config);
    telemetry.pass(0, true);
    telemetry.pass(10 * congested, false);
    telemetry.pass(10 * (congested + free), false);
    telemetry.taken(0);
    telemetry
}

#[test]
fn fab_qos_01_p() {
    for (queued, load) in [(0, 0), (24, 0), (25, 1), (59, 1), (60, 2), (84, 2), (85, 3), (100, 3)] {
        assert_eq!(internal_load(queued, 100), load, "{queued} of 100");
    }
    // The larger of both parts.
    for (congested, queued, load) in [(0, 100, 3), (30, 0, 3), (12, 0, 2), (12, 30, 2), (0, 30, 1)] {
        let found = sampled(congested, 100 - congested).answer(0, (queued, 100));
        assert_eq!(found, DevLoad(load), "{congested} samples, {queued} requests");
    }
}

/// Thresholds are those of the whole queue: a request less is a level less, whatever its size.
#[test]
fn fab_qos_01_n() {
    for size in [8, 64, 1000] {
        for (percent, load) in [(25, 1), (60, 2), (85, 3)] {
            let least = usize::div_ceil(percent * size, 100);
            assert_eq!((internal_load(least, size), internal_load(least - 1, size)), (load, load - 1), "{size}");
        }
    }
    assert_ne!(sampled(30, 70).answer(0, (0, 100)), DevLoad(0), "the smaller one is not told");
}

#[test]
fn fab_qos_02_p() {
    for (set, load) in [(0, 0), (9, 0), (10, 2), (24, 2), (25, 3), (100, 3)] {
        let mut samples = EgressSamples::new(8);
        samples.pass(8 * set, true);
        samples.pass(800, false);
        assert_eq!((samples.average_percent() as u64, samples.load(10, 25)), (set, load));
    }
    let mut off = EgressSamples::new(0);
    off.pass(1 << 40, true);
    assert_eq!(off.load(10, 25), 0);
}

/// A sample older than 100 counts no more; there are no 16 times 100 ns.
#[test]
fn fab_qos_02_n() {
    let mut samples = EgressSamples::new(8);
    samples.pass(800, true);
    samples.pass(8 * 176, false);
    assert_eq!((samples.average_percent(), samples.load(10, 25)), (24, 2));
    assert!(refused("sample = 16").contains("found 16, expected 0 to 15"));
    assert_eq!(refused("sample = 15, interval = 127"), "");
    assert!(refused("moderate = 30").contains("found 30 percent, expected at most the 25 of `severe`"));
}

const STEPS: Steps = Steps { normal_delta: 4, severe_delta: 16, most: 40, window_cycles: 100 };

#[test]
fn fab_qos_03_p() {
    let mut throttle = Throttle::new(STEPS);
    let mut level = |cycle, load| {
        throttle.answer(cycle, DevLoad(load));
        throttle.level(cycle)
    };
    // The first overload at once, then one step in each window.
    assert_eq!([level(10, 0), level(20, 3), level(120, 2), level(220, 1)], [0, 16, 20, 20]);
    assert_eq!([level(320, 3), level(420, 3), level(520, 3)], [36, 40, 40], "saturated above");
    assert_eq!((6..20).map(|n| level(100 * n + 20, 0)).last(), Some(0), "and below");
    // Windows without an answer relax it as those with answers of no load do.
    let mut silent = Throttle::new(STEPS);
    silent.answer(20, DevLoad(3));
    silent.answer(30, DevLoad(1));
    let levels = [119, 121, 220, 221, 321, 421, 521, 10_000].map(|cycle| silent.level(cycle));
    assert_eq!(levels, [16, 16, 16, 12, 8, 4, 0, 0], "the first window has seen an optimal load");
    silent.answer(10_001, DevLoad(2));
    assert_eq!(silent.level(10_001), 4, "overload acts at once behind a silence");
}

/// No second step inside a window, whatever is seen there.
#[test]
fn fab_qos_03_n() {
    let mut throttle = Throttle::new(STEPS);
    for cycle in 20..120 {
        throttle.answer(cycle, DevLoad(3));
        assert_eq!(throttle.level(cycle), 16, "cycle {cycle}");
    }
}

/// A host may name any LD-ID: a logical device that is not there uses nothing, and its answers tell the load of all.
#[test]
fn a_logical_device_that_is_not_there_counts_for_none() {
    let config = |devices: usize| TelemetryConfig {
        sample_cycles: 0,
        congestion_percent: [10, 25],
        interval_cycles: 0,
        shares: vec![LdShare { fraction: 64, limit: 0 }; devices],
    };
    for (devices, ld) in [(0, 1), (0, 255), (1, 1), (4, 4), (4, 255), (16, 16)] {
        let mut telemetry = Telemetry::new(config(devices));
        telemetry.taken(ld);
        assert_eq!(telemetry.answer(ld, (9, 10)).0, 3, "{devices} devices, LD {ld}");
        let mut used = LdUse::new(devices.max(1), 100);
        used.taken(ld);
        assert!(used.used().iter().all(|used| *used == 0), "{devices} devices, LD {ld}");
        used.answered(ld);
    }
}

#[test]
fn fab_qos_04_p() {
    let mut used = LdUse::new(2, 100);
    (0..3).for_each(|_| used.taken(0));
    used.taken(1);
    assert_eq!(used.used(), [3, 1]);
    used.pass(50);
    used.answered(0);
    used.pass(1599);
    used.answered(1);
    assert_eq!(used.used(), [3, 1], "one of the first interval, one of the sixteenth");
}

/// In the seventeenth interval those of the first are over; without intervals none count.
#[test]
fn fab_qos_04_n() {
    let mut used = LdUse::new(1, 100);
    used.taken(0);
    used.answered(0);
    used.pass(1599);
    assert_eq!(used.used(), [1]);
    used.pass(1600);
    assert_eq!(used.used(), [0]);
    let mut off = LdUse::new(1, 0);
    off.taken(0);
    off.answered(0);
    assert_eq!(off.used(), [0]);
    assert!(refused("interval = 128").contains("found 128, expected 0 to 127"));
}

#[test]
fn fab_qos_05_p() {
    // Half of all is nobody's, so a single claimant is over.
    assert_eq!(over_allocation(&[40, 0], &fractions([64, 64])), [true, false]);
    let share = |limit| LdShare { fraction: 0, limit };
    assert!(over_limit(33, share(128), 64) && !over_limit(32, share(128), 64), "half of 64");
    for (shares, text) in [
        ("{ ld = 4, fraction = 1 }", "found a share of LD 4, expected one of the 4 logical devices"),
        ("{ ld = 1 }, { ld = 1 }", "found two shares of LD 1, expected one"),
        ("{ ld = 0, fraction = 200 }, { ld = 1, fraction = 57 }", "found fractions of 257 256ths together"),
    ] {
        let found = refused(&format!("shares = [{shares}]"));
        assert!(found.contains(text), "{text}\n{found}");
    }
}

/// Nobody claims anything: a quotient would have no value. A limit of 0 is none.
#[test]
fn fab_qos_05_n() {
    assert_eq!(over_allocation(&[0, 0], &fractions([64, 64])), [false, false]);
    assert_eq!(over_allocation(&[9, 9], &fractions([0, 0])), [false, false]);
    assert!(!over_limit(u64::MAX / 256, LdShare::default(), 1));
}

/// The table of the sheet, over limit in the second and over allocation in the third place.
#[test]
fn fab_qos_06_p() {
    for over in [false, true] {
        assert_eq!([told(0, false, over), told(1, false, over)], [0, 1]);
        assert_eq!([told(0, true, over), told(1, true, over), told(2, true, over)], [2, 2, 2]);
        assert_eq!([told(3, over, false), told(3, over, true)], [2, 3]);
    }
    assert_eq!([told(2, false, false), told(2, false, true)], [1, 2]);
}

/// Nobody within share and limit is told of more than the device has, and of a severe overload only who is over its share.
#[test]
fn fab_qos_06_n() {
    for total in 0..4 {
        assert!(told(total, false, false) <= total);
        assert!(told(total, true, false) < 3 && told(total.min(2), true, true) < 3);
    }
}

#[test]
fn fab_qos_07_p() {
    let quarter = fractions([64; 4]);
    let over = over_allocation(&[40, 20, 0, 0], &quarter);
    assert_eq!(over, [true, false, false, false]);
    assert_eq!([told(3, false, over[0]), told(3, false, over[1])], [3, 2]);
    assert_eq!([told(2, false, over[0]), told(2, false, over[1])], [2, 1]);
}

/// One claimant with fractions of all: both products are equal, which is not over.
#[test]
fn fab_qos_07_n() {
    assert_eq!(over_allocation(&[41, 10, 0, 10], &fractions([64; 4])), [false; 4]);
    assert_eq!(over_allocation(&[1000, 0, 0, 0], &fractions([64; 4])), [false; 4]);
}

#[test]
fn fab_qos_08_p() {
    for used in [[1, 0], [500, 500], [0, 0]] {
        let over = over_allocation(&used, &fractions([0, 0]));
        assert_eq!(over, [false; 2]);
        assert!((0..4).all(|total| told(total, false, over[0]) < 3));
    }
}

/// A fraction too small for what is used is what it takes to be told of a severe overload.
#[test]
fn fab_qos_08_n() {
    let over = over_allocation(&[500, 0], &fractions([1, 0]));
    assert_eq!((over[0], told(3, false, over[0])), (true, 3));
}
