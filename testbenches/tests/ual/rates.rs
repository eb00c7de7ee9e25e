//! UAL-SIZ-04 and UAL-SIZ-05: times of a flit, and commands that do not exist.

use scalepool::forms::message::message_from_json;
use scalepool::link::ualink::line::{CODE_WORD_BITS, LaneRate, UalLine, UalWidth};
use scalepool_protocols::ualink::field::{TlCreq, TlReq};
use scalepool_protocols::wire::Wire;
use serde_json::json;

/// Lanes and the time that the sheet gives \[ps\].
const TIMES_PS: [(UalWidth, u64, u64); 3] =
    [(UalWidth::X1, 1, 25_600), (UalWidth::X2, 2, 12_800), (UalWidth::X4, 4, 6_400)];

fn time_ps(width: UalWidth) -> u64 {
    let (num, den) = UalLine { rate: LaneRate::G200, width, interleave: 1 }.code_word_fs();
    num / den / 1000
}

#[test]
fn ual_siz_04_p() {
    for (width, lanes, expected_ps) in TIMES_PS {
        // 212.5 Gb/s are 17 bits in 80 ps.
        assert_eq!(CODE_WORD_BITS * 80 / 17 / lanes, expected_ps);
        assert_eq!(time_ps(width), expected_ps);
    }
}

/// The 25 ns that the time-out arithmetic of the specification rounds to is not the time of a flit.
#[test]
fn ual_siz_04_n() {
    assert_ne!(time_ps(UalWidth::X1), 25_000);
}

/// The commands that there are: reads, writes, atomics, the write message and those of vendors.
#[test]
fn ual_siz_05_p() {
    for def in [TlReq::DEF, TlCreq::DEF] {
        let codes = def.field("cmd").expect("listed").codes.expect("enumerated").codes;
        assert!(!codes.is_empty());
        for code in codes {
            let known = ["Read", "Write", "Atomic", "Vendor", "Message"].iter().any(|k| code.name.contains(k));
            assert!(known && !code.name.to_lowercase().contains("snoop"), "{}", code.name);
        }
    }
}

#[test]
fn ual_siz_05_n() {
    for (layout, name) in [("ualink.tl_req", "Snoop"), ("ualink.tl_req", "SnpInv"), ("ualink.tl_creq", "Snoop")] {
        let refused =
            message_from_json(&json!({"layout": layout, "fields": {"cmd": name}})).expect_err("no such command");
        assert!(refused.to_string().contains(name), "{refused}");
    }
}
