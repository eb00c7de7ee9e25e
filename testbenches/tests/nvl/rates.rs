//! NVL-GEN, NVL-EFF: rates of the generations, and what a saturated link makes of them.

use super::common::*;
use super::rig::*;
use scalepool_protocols::nvlink::{GENERATIONS, efficiency};

#[test]
fn nvl_gen_01_p() {
    // Per link and direction in GB/s, links, total of a GPU in GB/s, flit time in fs (`nvlink` §4).
    let sheet = [
        (20, 4, 160, 800_000),
        (25, 6, 300, 640_000),
        (25, 12, 600, 640_000),
        (25, 18, 900, 640_000),
        (50, 18, 1800, 320_000),
    ];
    for (n, (g, (link, links, gpu, flit_fs))) in GENERATIONS.iter().zip(sheet).enumerate() {
        assert_eq!((usize::from(g.number), g.link_mbps(), g.links), (n + 1, 1000 * link, links));
        assert_eq!((g.gpu_mbps(), g.flit_fs()), (1000 * gpu, flit_fs), "generation {}", g.number);
    }
    // The time-out of 2000 ns in flits; the default is that of generations 2 to 4.
    let timeouts: Vec<_> = GENERATIONS.iter().map(|g| LinkConfig::of(g).timeout_flits).collect();
    assert_eq!(timeouts, [2500, 3125, 3125, 3125, 6250]);
    assert_eq!(LinkConfig::of(&GENERATIONS[1]), LinkConfig::default());
}

/// Raw rates in their place differ; where two documents state raw bytes, they are these.
#[test]
fn nvl_gen_01_n() {
    let raw: Vec<_> = GENERATIONS.iter().map(|g| g.raw_link_mbps()).collect();
    assert_eq!(raw, [20_000, 25_781, 25_000, 26_562, 53_125]);
    let differ = GENERATIONS.iter().filter(|g| g.raw_link_mbps() != g.link_mbps());
    assert_eq!(differ.map(|g| g.number).collect::<Vec<_>>(), [2, 4, 5]);
}

/// `nvlink` §5: payload bytes, percent without and with one flit of AE or BE.
const SHEET: [(u32, f64, f64); 5] =
    [(16, 50.0, 33.33), (32, 66.67, 50.0), (64, 80.0, 66.67), (128, 88.89, 80.0), (256, 94.12, 88.89)];
/// Flit clocks that are measured, and before.
const FLITS: u64 = 20_000;
const WARM_UP: u64 = 500;

/// Percent of payload in the down direction of a link that is fed and emptied by `each_clock`, which gives the data bytes
/// that came out there.
fn measured(mut each_clock: impl FnMut(&mut Pair) -> u64) -> f64 {
    let mut pair = Pair::new(LinkConfig::default(), Buffers::default(), LATENCY_FLITS);
    let mut bytes = 0;
    for flit in 0..WARM_UP + FLITS {
        pair.step();
        let out = each_clock(&mut pair);
        bytes += if flit < WARM_UP { 0 } else { out };
    }
    100.0 * bytes as f64 / (16 * FLITS) as f64
}

/// Posted writes without end, each with an AE or BE flit or none.
fn one_way(payload_bytes: u32, extra: bool) -> f64 {
    let mut n = 0u64;
    measured(|pair| {
        while pair.host.waiting(Vc::CREQ1) < 4 {
            n += 1;
            // Beside 256 bytes there are no byte enables; there each packet lies in another region than the one before.
            let be = (extra && payload_bytes <= 128).then_some(u128::from(n));
            let address = if extra && payload_bytes > 128 { (1 + n % 2) << 38 } else { 0 };
            let write = NvlMessage { be, address, ..message(Op::WRITE_POSTED, 0, payload_bytes as usize / 16) };
            pair.host.send(write).expect("legal");
        }
        while pair.host.take(Vc::CREQ0).is_some() {}
        std::iter::from_fn(|| pair.device.take(Vc::CREQ1)).map(|m| m.data.len() as u64).sum()
    })
}

/// Reads in both directions: each carries requests and the answers of the other.
fn two_way(payload_bytes: u32) -> f64 {
    measured(|pair| {
        let mut bytes = 0;
        for dir in Dir::ALL {
            let end = pair.sender(dir);
            while end.waiting(Vc::CREQ0) < 2 {
                end.send(NvlMessage { size: (payload_bytes / 16 - 1) as u8, ..message(Op::READ, 0, 0) })
                    .expect("legal");
            }
            while end.waiting(Vc::RSP0) < 4 {
                let Some(read) = end.take(Vc::CREQ0) else { break };
                end.send(message(Op::RSP_DATA, read.tag, usize::from(read.size) + 1)).expect("legal");
            }
            while let Some(answer) = end.take(Vc::RSP0) {
                bytes += if dir == Dir::Up { answer.data.len() as u64 } else { 0 };
            }
        }
        bytes
    })
}

#[test]
fn nvl_eff_01_p() {
    for (payload, plain, extra) in SHEET {
        assert!(
            (100.0 * efficiency(payload, 0) - plain).abs() < 0.01
                && (100.0 * efficiency(payload, 1) - extra).abs() < 0.01
        );
        let found = [one_way(payload, false), one_way(payload, true), two_way(payload)];
        for (found, sheet) in found.into_iter().zip([plain, extra, extra]) {
            assert!((found - sheet).abs() < 0.1, "{payload} bytes: found {found:.2} %, expected {sheet} %");
        }
    }
}

/// A link that cannot keep up is outside: credits for half of what is under way.
#[test]
fn nvl_eff_01_n() {
    let mut pair = Pair::new(LinkConfig::default(), Buffers::of_default_channels(32, 16), LATENCY_FLITS);
    let mut bytes = 0;
    for _ in 0..FLITS {
        while pair.host.waiting(Vc::CREQ1) < 4 {
            pair.host.send(message(Op::WRITE_POSTED, 0, 16)).expect("legal");
        }
        pair.step();
        bytes += std::iter::from_fn(|| pair.device.take(Vc::CREQ1)).map(|m| m.data.len() as u64).sum::<u64>();
    }
    let found = 100.0 * bytes as f64 / (16 * FLITS) as f64;
    assert!(found > 1.0 && (found - 94.12).abs() > 0.1, "{found}");
}
