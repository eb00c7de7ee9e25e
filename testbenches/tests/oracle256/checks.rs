//! CRC and FEC over flits of every mode.

use super::common::Bytes;
use scalepool_oracle::cxl256_checks as oracle;
use scalepool_protocols::check::crc256;
use scalepool_protocols::check::fec256;
use scalepool_protocols::cxl::cxl256::flit::Cxl256Flit;
use scalepool_protocols::cxl::cxl256::mode::Mode;

/// Zeros, ones, a ramp, each bit of a stride alone, and flits of the sequence.
fn contents() -> Vec<[u8; 256]> {
    let mut bytes = Bytes(0x256);
    let mut contents = vec![[0; 256], [0xff; 256], std::array::from_fn(|n| n as u8)];
    contents.extend((0..2048).step_by(7).map(|bit| std::array::from_fn(|n| u8::from(n == bit / 8) << (bit % 8))));
    contents.extend((0..256).map(|_| bytes.array()));
    contents
}

/// The flit with the oracle's CRC and FEC.
fn sealed(mode: Mode, mut flit: [u8; 256]) -> [u8; 256] {
    if mode == Mode::LatencyOptimised {
        let (even, odd) = (oracle::even_crc(&flit), oracle::odd_crc(&flit));
        flit[122..128].copy_from_slice(&even);
        flit[250..256].copy_from_slice(&odd);
        let fec = oracle::latency_optimised_fec(&flit);
        flit[244..250].copy_from_slice(&fec);
    } else {
        let crc = oracle::standard_crc(&flit);
        flit[242..250].copy_from_slice(&crc);
        let fec = oracle::standard_fec(&flit);
        flit[250..256].copy_from_slice(&fec);
    }
    flit
}

/// What the oracle's decoder makes of a flit: flit bytes and differences outside the FEC, or the groups beyond repair.
fn corrected(mode: Mode, flit: &mut [u8; 256]) -> Result<Vec<(usize, u8)>, Vec<usize>> {
    let lopt = mode == Mode::LatencyOptimised;
    let order: Vec<usize> = if lopt { (0..244).chain(250..256).collect() } else { (0..250).collect() };
    let mut protected: [u8; 250] = std::array::from_fn(|n| flit[order[n]]);
    let at = if lopt { 244 } else { 250 };
    let fec = std::array::from_fn(|n| flit[at + n]);
    let found = oracle::correct(&mut protected, fec)?;
    order.iter().zip(protected).for_each(|(&at, byte)| flit[at] = byte);
    Ok(found.into_iter().map(|(n, difference)| (order[n], difference)).collect())
}

#[test]
fn seals_are_equal() {
    for mode in Mode::ALL {
        for content in contents() {
            let expected = sealed(mode, content);
            let mut found = Cxl256Flit(content);
            found.seal(mode);
            assert_eq!(found, Cxl256Flit(expected), "{mode:?}");
            assert!(found.crc_ok(mode));
        }
    }
}

/// The table path and the definition of the model, each against the division.
#[test]
fn both_paths_of_the_crc() {
    for flit in contents() {
        let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |n, byte| n << 8 | u64::from(*byte));
        let standard = flit.first_chunk().unwrap();
        let crc = number(&oracle::standard_crc(&flit));
        assert_eq!((crc256::crc8(standard), crc256::crc8_bytewise(standard)), (crc, crc));
        let even = flit.first_chunk().unwrap();
        let crc = number(&oracle::even_crc(&flit));
        assert_eq!((crc256::crc6_even(even), crc256::crc6_even_bytewise(even)), (crc, crc));
        let odd = flit[128..].first_chunk().unwrap();
        let crc = number(&oracle::odd_crc(&flit));
        assert_eq!((crc256::crc6_odd(odd), crc256::crc6_odd_bytewise(odd)), (crc, crc));
        let protected = flit.first_chunk().unwrap();
        let fec = oracle::standard_fec(&flit);
        assert_eq!((fec256::parity(protected), fec256::parity_bytewise(protected)), (fec, fec));
    }
}

/// Decodes a damaged flit with both and compares repairs, the flit afterwards, and the groups beyond repair.
#[track_caller]
fn same_repair(mode: Mode, damaged: &[u8; 256], case: &str) -> bool {
    let fec_at = if mode == Mode::LatencyOptimised { 244..250 } else { 250..256 };
    let (mut found, mut expected) = (*damaged, *damaged);
    let theirs = corrected(mode, &mut expected);
    let ours = match mode {
        Mode::LatencyOptimised => fec256::correct_lopt(&mut found),
        Mode::Standard | Mode::Pbr => fec256::correct(&mut found),
    };
    match (ours, theirs) {
        (Ok(ours), Ok(theirs)) => {
            let outside = ours.iter().filter(|c| !fec_at.contains(&c.byte)).map(|c| (c.byte, c.xor));
            assert_eq!(outside.collect::<Vec<_>>(), theirs, "{mode:?} {case}");
            // The oracle leaves wrong FEC bytes alone; the model repairs those too.
            found[fec_at.clone()].copy_from_slice(&expected[fec_at]);
            assert_eq!(found, expected, "{mode:?} {case}");
            true
        }
        (Err(ours), Err(theirs)) => {
            assert!(theirs.contains(&ours.group), "{mode:?} {case}: {ours:?}, {theirs:?}");
            assert_eq!(found, *damaged, "{mode:?} {case}");
            false
        }
        (ours, theirs) => panic!("{mode:?} {case}: the model says {ours:?}, the oracle {theirs:?}"),
    }
}

/// Every byte wrong alone, and every run of three, comes back as it was sent.
#[test]
fn one_wrong_byte_a_group() {
    for mode in Mode::ALL {
        let mut bytes = Bytes(3);
        let good = sealed(mode, bytes.array());
        for at in 0..256 {
            for length in 1..=3 {
                let mut damaged = good;
                damaged.iter_mut().skip(at).take(length).for_each(|byte| *byte ^= bytes.not_zero());
                let case = format!("{length} bytes from {at}");
                // Runs over an edge of the FEC of a latency-optimised flit may hit a group twice.
                let edge = mode == Mode::LatencyOptimised && (242..250).contains(&at);
                let repaired = same_repair(mode, &damaged, &case);
                assert!(edge || repaired, "{mode:?} {case}");
                let received = Cxl256Flit(damaged).receive(mode);
                assert!(edge || received.is_good() && received.flit.0[..242] == good[..242], "{mode:?} {case}");
            }
        }
    }
}

/// Up to six wrong bytes anywhere: repairs, wrong repairs and refusals are the same.
#[test]
fn many_wrong_bytes() {
    for mode in Mode::ALL {
        let mut bytes = Bytes(6);
        let good = sealed(mode, bytes.array());
        let mut refused = 0;
        for n in 0..500 {
            let mut damaged = good;
            for _ in 0..=n % 6 {
                damaged[bytes.below(256)] ^= bytes.not_zero();
            }
            refused += u32::from(!same_repair(mode, &damaged, &format!("case {n}")));
        }
        assert!((1..499).contains(&refused), "{mode:?}: {refused} refused; both answers are compared");
    }
}
