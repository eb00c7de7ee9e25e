//! A request cut into lines (`bridge` §3.1, §3.2).

use super::common::*;
use scalepool::bridge::lines::{crosses, touched};
use scalepool::bridge::window::WindowClass;
use scalepool_protocols::ualink::code::{RdWr, ReqCmd, Status};
use scalepool_protocols::ualink::field::TlReq;

/// Every byte of every offset and size stands in one line, the right one.
#[test]
fn brg_spl_01_p() {
    for first in 0..64u64 {
        for dwords in 1..=64u8 {
            let all: Vec<_> = touched(BASE + 4 * first, 4 * u64::from(dwords), None).collect();
            for byte in 0..256u64 {
                let inside = byte >= 4 * first && byte < 4 * (first + u64::from(dwords));
                let lines = all.iter().filter(|line| {
                    let at = (BASE + byte).wrapping_sub(line.address);
                    at < 64 && line.covered >> at & 1 == 1
                });
                assert_eq!(lines.count(), usize::from(inside), "{first} {dwords} {byte}");
            }
            assert!(all.is_sorted_by_key(|line| line.address) && all.len() <= 4);
        }
    }
}

/// No line is asked for twice, and none that no byte lies in.
#[test]
fn brg_spl_01_n() {
    let mut bench = Bench::of(WindowClass::Mn);
    bench.whole(read(BASE + 0x38, 20));
    let mut lines: Vec<u64> = bench.sent.iter().filter_map(|(.., msg)| msg.line()).map(|line| line.address()).collect();
    lines.dedup();
    assert_eq!(lines, [OUT, OUT + 0x40, OUT + 0x80]);
}

#[test]
fn brg_spl_02_p() {
    let mut bench = Bench::of(WindowClass::Mn);
    bench.whole(write_full(BASE, 4, 0x11));
    bench.whole(write_part(BASE + 64, 0xf0f, 0x22));
    let line = bench.memory[&(OUT + 64)].bytes;
    for (n, byte) in line.into_iter().enumerate() {
        assert_eq!(byte, if 0xf0fu64 >> n & 1 == 1 { 0x22 } else { 0x11 }, "{n}");
    }
}

/// Bytes that are enabled outside of the request stay as they are, and are counted.
#[test]
fn brg_spl_02_n() {
    let mut bench = Bench::of(WindowClass::Mn);
    let req = TlReq { cmd: ReqCmd::Write, address: BASE + 64, len: 1, ..TlReq::default() };
    bench.whole(transfer(req, &[[0x33; 64]], Some([0xff; 32])));
    assert_eq!(bench.memory.keys().copied().collect::<Vec<_>>(), [OUT + 64]);
    assert_eq!(bench.memory[&(OUT + 64)].bytes.iter().filter(|byte| **byte == 0x33).count(), 8);
    assert_eq!(bench.bridge.counts().ignored_bytes, 256 - 8);
}

#[test]
fn brg_spl_03_p() {
    for first in 0..64u64 {
        let most = (64 - first) as u8;
        assert!(!crosses(BASE + 4 * first, 4 * u64::from(most)), "{first}");
        assert!(most == 64 || crosses(BASE + 4 * first, 4 * u64::from(most + 1)), "{first}");
    }
}

/// One that leaves its block is refused, with as many beats as it has lines inside (E3).
#[test]
fn brg_spl_03_n() {
    let mut bench = Bench::of(WindowClass::Mn);
    let response = bench.whole(read(BASE + 0xf8, 3));
    assert_eq!((verdict(&response), beats(&response)), ((Status::TargetAbort, RdWr::Read), vec![[0xff; 64]]));
    let response = bench.whole(read(BASE + 0x40, 64));
    assert_eq!((rsp(&response).status, beats(&response).len()), (Status::TargetAbort, 3));
    assert!(bench.sent.is_empty());
}

/// A line without an enabled byte is not touched, and the write is done.
#[test]
fn brg_spl_04_p() {
    for class in [WindowClass::Mn, WindowClass::Mc] {
        let mut bench = Bench::of(class);
        assert_eq!(verdict(&bench.whole(write_part(BASE, 0, 1))), (Status::OKAY, RdWr::Write));
        assert!(bench.sent.is_empty());
    }
}

/// It lies in a window all the same.
#[test]
fn brg_spl_04_n() {
    let mut bench = Bench::of(WindowClass::Mn);
    assert_eq!(rsp(&bench.whole(write_part(BASE - 256, 0, 1))).status, Status::DecodeError);
}
