//! What atomics compute (`bridge` §4.4), against sums and comparisons written out here.

use super::common::*;
use scalepool::bridge::atomics::LineAtomic;
use scalepool::bridge::window::WindowClass;
use scalepool_protocols::ualink::code::{RdWr, ReqCmd, Status};
use scalepool_protocols::ualink::field::TlReq;
use scalepool_protocols::ualink::unpack::Transfer;
use scalepool_testbenches::legal::Random;

/// Attributes of an operation on elements of so many bytes.
fn attr(op: u8, size: usize) -> u8 {
    let code = match size {
        1 => 3,
        2 => 2,
        8 => 1,
        _ => 0,
    };
    (op & 15) << 4 | op >> 4 | code << 2
}

/// The atomic on the bytes of a line that a request covers whole.
fn atomic_of(attributes: u8, mask: u64) -> Option<LineAtomic> {
    LineAtomic::of(attributes, u64::MAX, mask)
}

/// One element at byte 16: what is there behind an operation.
fn computed(op: u8, size: usize, old: u64, operand: u64) -> Option<u64> {
    let mask = (u64::MAX >> (64 - size)) << 16;
    let atomic = atomic_of(attr(op, size), mask)?;
    let at = |value: u64| {
        let mut line = [0xa5; 64];
        line[16..16 + size].copy_from_slice(&value.to_le_bytes()[..size]);
        line
    };
    let mut beat = at(operand);
    if op == 2 {
        // Compare with the operand, and then its complement.
        beat[..size].copy_from_slice(&operand.to_le_bytes()[..size]);
        beat[size..2 * size].copy_from_slice(&(!operand).to_le_bytes()[..size]);
    }
    let (new, before) = atomic.apply(&at(old), &beat);
    let number = |line: &[u8; 64]| (0..size).fold(0, |sum, n| sum | u64::from(line[16 + n]) << (8 * n));
    assert_eq!(number(&before), old & u64::MAX >> (64 - 8 * size), "the old value goes back");
    assert!(before.iter().enumerate().all(|(n, byte)| (16..16 + size).contains(&n) || *byte == 0));
    assert!(new.iter().enumerate().all(|(n, byte)| (16..16 + size).contains(&n) || *byte == 0xa5));
    Some(number(&new))
}

#[test]
fn brg_atm_02_p() {
    let values = [0, 1, 0x7f, 0x80, 0xff, 0x7fff_ffff, 0x8000_0000, u64::MAX >> 1, 1 << 63, u64::MAX];
    for size in [1, 2, 4, 8] {
        let all = u64::MAX >> (64 - 8 * size);
        let signed = |n: u64| i128::from(n & all) - if n & all > all / 2 { i128::from(all) + 1 } else { 0 };
        for a in values.map(|n| n & all) {
            for b in values.map(|n| n & all) {
                let by = |is_a: bool| if is_a { a } else { b };
                let want = [
                    a.wrapping_add(b) & all,
                    b,
                    if a == b { !b & all } else { a },
                    a & b,
                    a | b,
                    a ^ b,
                    by(signed(a) < signed(b)),
                    by(signed(a) > signed(b)),
                    by(a < b),
                    by(a > b),
                ];
                for (op, want) in (0u8..).zip(want) {
                    assert_eq!(computed(op, size, a, b), Some(want), "op {op}, {size} bytes, {a:#x} {b:#x}");
                }
                if size >= 4 {
                    let (up, down) = (if a >= b { 0 } else { a + 1 }, if a == 0 || a > b { b } else { a - 1 });
                    assert_eq!([11, 12].map(|op| computed(op, size, a, b)), [Some(up), Some(down)], "{a:#x} {b:#x}");
                }
            }
        }
    }
    // binary16: 1 + 2^-11 is a tie and goes to even; the next one up is not; the largest and one half of its step overflow.
    let halves =
        [(0x3c00, 0x1000, 0x3c00), (0x3c01, 0x1000, 0x3c02), (0x7bff, 0x4c00, 0x7c00), (0x0001, 0x0001, 0x0002)];
    for (a, b, sum) in
        halves.into_iter().chain([(0x7c00, 0xfc00, 0x7e00), (0x8000, 0x8000, 0x8000), (0x03ff, 1, 0x0400)])
    {
        assert_eq!(computed(10, 2, a, b), Some(sum), "{a:#x} + {b:#x}");
    }
    assert_eq!(computed(10, 4, 1.5f32.to_bits().into(), 2.25f32.to_bits().into()), Some(3.75f32.to_bits().into()));
    assert_eq!(computed(10, 8, 1.5f64.to_bits(), (-1.5f64).to_bits()), Some(0));
}

/// Other operations, and sizes that an operation does not have.
#[test]
fn brg_atm_02_n() {
    for size in [1, 2, 4, 8] {
        assert!((13..32).all(|op| computed(op, size, 1, 1).is_none()), "{size}");
    }
    let mut missing = vec![(10, 1)];
    missing.extend([(11, 1), (11, 2), (12, 1), (12, 2)]);
    assert!(missing.into_iter().all(|(op, size)| computed(op, size, 1, 1).is_none()));
}

#[test]
fn brg_atm_03_p() {
    // Elements 0, 2 and 15 of 32 bits.
    let mask = 0xf | 0xf << 8 | 0xf << 60;
    let atomic = atomic_of(attr(0, 4), mask).expect("whole elements");
    let (new, before) = atomic.apply(&[0xff; 64], &[1; 64]);
    for (n, element) in new.as_chunks::<4>().0.iter().enumerate() {
        let is_active = [0, 2, 15].contains(&n);
        assert_eq!(*element, if is_active { [0, 1, 1, 1] } else { [0xff; 4] }, "{n}");
        assert_eq!(before[4 * n], if is_active { 0xff } else { 0 }, "{n}");
    }
}

#[test]
fn brg_atm_03_n() {
    for (size, mask) in [(2, 1), (4, 0x7), (4, 0x3c), (8, 0xffff_fff0), (8, 0xf)] {
        assert_eq!(atomic_of(attr(0, size), mask), None, "{size} bytes, {mask:#x}");
    }
    let mut bench = Bench::of(WindowClass::Mc);
    let mut request = add(ReqCmd::AtomicR, BASE, 1);
    request.enables = Some(Box::new([0x0f; 32]));
    assert_eq!(rsp(&bench.whole(request)).status, Status::TargetAbort);
    assert!(bench.sent.is_empty() && bench.memory.is_empty());
}

#[test]
fn brg_atm_04_p() {
    for size in [1, 2, 4, 8] {
        for lane in 0..64 / size {
            let mask = (u64::MAX >> (64 - size)) << (size * lane);
            let atomic = atomic_of(attr(2, size), mask).expect("one element");
            let mut beat = [0; 64];
            beat[..size].fill(7);
            beat[size..2 * size].fill(9);
            let new = atomic.apply(&[7; 64], &beat).0;
            let is_new = |(n, byte): (usize, &u8)| *byte == if n / size == lane { 9 } else { 7 };
            assert!(new.iter().enumerate().all(is_new), "{size} bytes in lane {lane}");
            assert_eq!(atomic.apply(&[8; 64], &beat).0, [8; 64]);
        }
    }
}

/// Two elements are refused; operands in the lane of the element are none.
#[test]
fn brg_atm_04_n() {
    assert_eq!(atomic_of(attr(2, 4), 0xff), None);
    assert_eq!(atomic_of(attr(2, 4), 0), None);
    let atomic = atomic_of(attr(2, 4), 0xf0).expect("one element");
    let mut beat = [0; 64];
    beat[4..8].fill(7);
    assert_eq!(atomic.apply(&[7; 64], &beat).0, [7; 64], "what stands in the lane is not compared with");
}

#[test]
fn brg_atm_05_p() {
    let mut bench = Bench::of(WindowClass::Mc);
    bench.whole(write_full(BASE, 1, 1));
    let response = bench.whole(add(ReqCmd::AtomicR, BASE + 8, 5));
    let mut old = [0; 64];
    old[8..16].fill(1);
    assert_eq!((rsp(&response).status, beats(&response)), (Status::OKAY, vec![old]));
    assert_eq!(bench.memory[&OUT].bytes[8..10], [6, 1]);
}

#[test]
fn brg_atm_05_n() {
    for cmd in [ReqCmd::AtomicR, ReqCmd::AtomicNR] {
        let mut bench = Bench::of(WindowClass::Mn);
        assert_eq!(rsp(&bench.whole(add(cmd, BASE, 5))).status, Status::TargetAbort);
        assert!(bench.sent.is_empty() && bench.memory.is_empty());
    }
}

fn poisoned() -> Bench {
    let mut bench = Bench::of(WindowClass::Mc);
    let line = scalepool::coherence::content::CacheLine { bytes: [3; 64], poison: true };
    bench.memory.insert(OUT, line);
    bench
}

#[test]
fn brg_atm_06_p() {
    let mut bench = poisoned();
    let response = bench.whole(add(ReqCmd::AtomicR, BASE, 5));
    assert_eq!((rsp(&response).status, response.poisoned), (Status::OKAY, 1));
    let line = bench.memory[&OUT];
    assert_eq!((line.bytes, line.poison), ([3; 64], true), "it is written back as it was");
}

/// The operand is not merged, so bad bytes do not become good ones.
#[test]
fn brg_atm_06_n() {
    let mut bench = poisoned();
    bench.whole(add(ReqCmd::AtomicNR, BASE, 5));
    let later = bench.whole(read(BASE, 16));
    assert_eq!((later.poisoned, beats(&later)), (1, vec![[3; 64]]));
}

/// Additions of each of two accelerators.
const ADDITIONS: u64 = 500;

/// Whether every value before an addition of 1 was seen once, and the sum is right.
fn is_exact(mut before: Vec<u64>, sum: u64) -> bool {
    before.sort_unstable();
    sum == 2 * ADDITIONS && before.into_iter().eq(0..sum)
}

fn number(line: &[u8; 64]) -> u64 {
    u64::from_le_bytes(*line.first_chunk().expect("eight bytes"))
}

/// The write of a line by a source that holds a number.
fn store(value: u64, source: u16) -> Transfer {
    let mut beat = [0; 64];
    beat[..8].copy_from_slice(&value.to_le_bytes());
    let req = TlReq { cmd: ReqCmd::WriteFull, address: BASE, len: 15, ..TlReq::default() };
    let mut request = transfer(req, &[beat], None);
    change(&mut request, |req| req.src = source);
    request
}

/// Two accelerators add to one element, with the answers of CXL in any order. A bridge that does them `in_two` reads, lets the line go,
/// and writes what it has computed by another access.
fn added(mut bench: Bench, seed: u64, in_two: bool) -> (Vec<u64>, u64) {
    let mut random = Random::new(seed);
    let (mut left, mut before) = ([ADDITIONS; 2], Vec::new());
    let mut is_writing = [false; 2];
    while left != [0; 2] || !bench.answers.is_empty() {
        let source = random.below(2);
        let mut request = if in_two { read(BASE, 16) } else { add(ReqCmd::AtomicR, BASE, 1) };
        change(&mut request, |req| req.src = source as u16);
        let has_room = bench.bridge.lacks(asked(&request).need()).is_none() && !(in_two && is_writing[source]);
        if left[source] > 0 && has_room && random.one_in(2) {
            is_writing[source] = true;
            bench.ask(request);
            left[source] -= 1;
        } else if !bench.answers.is_empty() {
            let place = random.below(bench.answers.len());
            bench.answer(place);
        }
        for response in std::mem::take(&mut bench.responses) {
            let source = rsp(&response).dst;
            if rsp(&response).rdwr == RdWr::Write {
                is_writing[usize::from(source)] = false;
                continue;
            }
            let value = number(&beats(&response)[0]);
            before.push(value);
            if in_two {
                bench.ask(store(value + 1, source));
            }
        }
    }
    let last = bench.whole(read(BASE, 16));
    (before, number(&beats(&last)[0]))
}

/// The bridge does them on a line that it owns, with and without a cache: nothing comes between.
#[test]
fn brg_atm_01_p() {
    for seed in 1..=4 {
        let (before, sum) = added(Bench::of(WindowClass::Mc), seed, false);
        assert!(is_exact(before, sum), "{seed}: {sum}");
        let (before, sum) = added(Bench::new(cached(WindowClass::Mc, SMALL)), seed, false);
        assert!(is_exact(before, sum), "{seed}: {sum}, cached");
    }
}

/// A bridge that lets the line go between what it reads and what it writes: a store of the other accelerator comes between.
#[test]
fn brg_atm_01_n() {
    for seed in 1..=4 {
        let (before, sum) = added(Bench::of(WindowClass::Mc), seed, true);
        assert!(!is_exact(before, sum), "{seed}: {sum}");
    }
}
