//! The line: code words without flits, and how much of the rate TL flits have (`ualink` §13, §15).

use super::rig::*;

const LINES: [(LaneRate, UalWidth, u64); 6] = [
    (LaneRate::G100, UalWidth::X1, 4096),
    (LaneRate::G100, UalWidth::X2, 4096),
    (LaneRate::G100, UalWidth::X4, 8192),
    (LaneRate::G200, UalWidth::X1, 4096),
    (LaneRate::G200, UalWidth::X2, 8192),
    (LaneRate::G200, UalWidth::X4, 16384),
];

#[test]
fn ual_phy_02_p() {
    for (rate, width, every) in LINES {
        let line = UalLine { rate, width, interleave: 1 };
        for n in 0..5 * every {
            let expected = match (n % every, n % 1024) {
                (0, _) => CodeWord::Marker,
                (_, 0) => CodeWord::Idle,
                _ => CodeWord::Flit,
            };
            assert_eq!(line.code_word(n), expected, "{rate:?} {width:?}, code word {n}");
        }
    }
}

#[test]
fn ual_phy_02_n() {
    // One code word off at either distance is told from the line by a long run.
    let line = UalLine { rate: LaneRate::G200, width: UalWidth::X1, interleave: 1 };
    let differs = |marker: u64, idle: u64| {
        (0..20_000).any(|n| {
            let other = match (n % marker, n % idle) {
                (0, _) => CodeWord::Marker,
                (_, 0) => CodeWord::Idle,
                _ => CodeWord::Flit,
            };
            line.code_word(n) != other
        })
    };
    assert!(!differs(4096, 1024));
    for (marker, idle) in [(4095, 1024), (4097, 1024), (4096, 1023), (4096, 1025), (8192, 1024)] {
        assert!(differs(marker, idle), "{marker} {idle}");
    }
}

/// Share of a TL flit that is data at most: 5 transfers of 256 B in 21 TL flits (`ualink` §15).
const TL_SHARE: f64 = 1280.0 / 1344.0;

/// Share of the data rate that a saturated link hands on as data, in code words behind link-up.
fn efficiency(line: UalLine, code_words: u64, carries_flit: impl Fn(u64) -> bool) -> f64 {
    let [a, b] = configs().map(|config| EndConfig { line, ..config });
    let mut pair = pair_of([a, b], [u64::MAX, 0]);
    while pair.device.client.taken < 100 {
        pair.step();
    }
    let before = pair.device.client.taken;
    for n in 0..code_words {
        if carries_flit(n) {
            pair.step();
        }
    }
    assert_eq!(pair.device.client.wrong, 0);
    let taken = pair.device.client.taken - before;
    // A code word has the time of 640 bytes at the data rate (`ualink` §1).
    (taken * 64) as f64 * TL_SHARE / (code_words * 640) as f64
}

#[test]
fn ual_eff_01_p() {
    let line = UalLine { rate: LaneRate::G200, width: UalWidth::X1, interleave: 4 };
    let found = 100.0 * efficiency(line, 4096, |n| line.code_word(n) == CodeWord::Flit);
    let expected = 100.0 * TL_SHARE * 628.0 / 640.0 * 1023.0 / 1024.0;
    println!("{found:.4} % of 200 Gb/s a lane, expected {expected:.4} %");
    assert!((expected - 93.36).abs() < 0.01 && (found - 93.36).abs() < 0.02, "{found} {expected}");
}

#[test]
fn ual_eff_01_n() {
    // A line with twice as many idles is outside of the bound.
    let line = UalLine { rate: LaneRate::G200, width: UalWidth::X1, interleave: 4 };
    let found = 100.0 * efficiency(line, 2048, |n| n % 512 != 0);
    assert!((found - 93.36).abs() > 0.02, "{found}");
}
