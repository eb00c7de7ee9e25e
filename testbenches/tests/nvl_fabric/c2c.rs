//! NVL-C2C: a preset without a wire format.

use super::common::*;
use scalepool_protocols::nvlink::{C2C, C2C_RATE, C2cError, Packet};

#[test]
fn nvl_c2c_01_p() {
    assert_eq!((C2C.link_mbps(), C2C.side_mbps(), C2C.links), (45_000, 450_000, 10));
    // 450 kB in 1 us, behind a latency of 5 ns.
    assert_eq!(C2C.transfer_fs(450_000), 1_000_000_000 + 5_000_000);
    assert_eq!(C2C.transfer_fs(0), C2C.latency_fs);
}

#[test]
fn nvl_c2c_01_n() {
    let packet = Packet::new(&[0; 3]).expect("three flits");
    assert_eq!(C2C.encode(&packet), Err(C2cError::NoWireFormat { found: 3 }));
}

const PRESET: &str = "link.generation=c2c";

/// 450 GB/s a side of whole packets, of which 16 in 17 flits are payload; one link has a tenth (`nvlink` §5).
#[test]
fn bandwidth_of_the_preset() {
    for (links, side_mbps) in [(&[][..], C2C.side_mbps()), (&["link.count=1"], C2C.link_mbps())] {
        let requests = format!("traffic.requests={}", side_mbps / 30);
        let set = [PRESET, "traffic.pattern=stream", "traffic.verify=off", &requests];
        let report = run_pair(&set.into_iter().chain(links.iter().copied()).collect::<Vec<_>>());
        let (found, wire) = (report.goodput_bytes_per_s / 2e6, side_mbps as f64);
        println!("C2C: {found:.0} MB/s of payload a direction, {wire} MB/s on the wire");
        let full = wire * 256.0 / 272.0;
        assert!((0.97 * full..=full * 1.00001).contains(&found), "{found} MB/s of {full} MB/s");
        // What the efficiency is told of: both directions at the rate of the sheet.
        let capacity = report.goodput_bytes_per_s / report.efficiency / 2e6;
        assert!((capacity / wire - 1.0).abs() < 1e-5, "{capacity} MB/s");
    }
}

/// Credits come over the link, then request and answer: three times 5 ns.
#[test]
fn latency_of_the_preset() {
    let probe = |more: &[&str]| {
        let one = [PRESET, "traffic.pattern=reads", "traffic.requests=1", "traffic.bytes=16", "traffic.verify=off"];
        // Few credits, so that saying them takes no longer than their way.
        let few = ["link.headers=1", "link.data_flits=16"];
        run_pair(&one.into_iter().chain(few).chain(more.iter().copied()).collect::<Vec<_>>()).latency_fs.min
    };
    let (preset, longer) = (probe(&[]), probe(&["link.latency_fs=60000000"]));
    assert_eq!(preset, probe(&["link.latency_fs=5000000"]));
    // Between two latencies everything else is the same, but for clocks that have to be waited for.
    let flit_fs = C2C_RATE.flit_fs();
    assert!((longer - preset).abs_diff(3 * 55_000_000) <= 3 * flit_fs, "{preset} fs, {longer} fs");
    // Beside the wire: 100 clocks in memory, the flits, a clock for each channel between modules.
    let own = preset - 3 * C2C.latency_fs;
    println!("C2C: a read of 16 bytes takes {preset} fs, {own} fs of them beside the wires");
    assert!((100 * flit_fs..150 * flit_fs).contains(&own), "{own} fs");
}
