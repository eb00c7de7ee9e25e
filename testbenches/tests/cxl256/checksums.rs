//! CXL256-CRC, FEC, LOP: checksums and the receive path. The checksums themselves are held against a polynomial division
//! in `check256.rs`; here they stand inside flits.

use super::common::*;
use scalepool_protocols::check::{crc256, fec256};
use serde_json::json;

const STD: Mode = Mode::Standard;
const LOPT: Mode = Mode::LatencyOptimised;

/// A flit whose byte n is n, sealed.
fn ramp(mode: Mode) -> Cxl256Flit {
    Build { mode, flit: Cxl256Flit(std::array::from_fn(|n| n as u8)) }.flit()
}

/// Seeded bytes.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n
    }
}

/// Receives a flit and gives the rules that it breaks.
fn received(mode: Mode, flit: &Cxl256Flit) -> Vec<&'static str> {
    read(mode, Dir::Down, &[*flit]).rules()
}

/// The flit with bytes changed.
fn changed(flit: &Cxl256Flit, bytes: &[(usize, u8)]) -> Cxl256Flit {
    let mut flit = *flit;
    bytes.iter().for_each(|&(at, xor)| flit.0[at] ^= xor);
    flit
}

#[test]
fn cxl256_crc_01_p() {
    // `cxl-256b` §10.
    assert_eq!(ramp(STD).0[242..], bytes("BC E5 2C 43 1B BA 50 56 15 A0 3D C7 FF A8"));
    let mut read_slot0 = Cxl256Flit::ZERO;
    read_slot0.0[..7].copy_from_slice(&bytes("A0 03 34 00 01 00 40"));
    read_slot0.seal(STD);
    assert_eq!(read_slot0.0[242..], bytes("31 B1 0A 6E 4D 36 74 EF 8E 03 B7 3E 1F F3"));
    assert!(ramp(STD).crc_ok(STD));
}

#[test]
fn cxl256_crc_01_n() {
    // Each of the 2000 bits before the FEC, the FEC made to fit, is named.
    let flit = ramp(STD);
    for bit in 0..2000 {
        let mut wrong = changed(&flit, &[(bit / 8, 1 << (bit % 8))]);
        wrong.seal_fec(STD);
        let read = read(STD, Dir::Down, &[wrong]);
        assert_eq!((read.only().rule, read.only().at.to_string()), ("CXL256-CRC-01", "byte 242".to_owned()));
    }
}

#[test]
fn cxl256_crc_02_p() {
    // Byte 241 = 01 alone: the lowest coefficient of the generator stands at byte 242.
    let flit = Build { mode: STD, flit: changed(&Cxl256Flit::ZERO, &[(241, 1)]) }.flit();
    assert_eq!(flit.0[242..250], bytes("69 4D 41 33 D5 FE 68 D5"));
}

#[test]
fn cxl256_crc_02_n() {
    let mut flit = ramp(STD);
    flit.0[242..250].reverse();
    flit.seal_fec(STD);
    assert_eq!(received(STD, &flit), ["CXL256-CRC-01"]);
}

/// Patterns of 1 to 8 wrong bytes below the FEC, none of which may pass the CRC.
fn patterns(n: usize) -> usize {
    let flit = ramp(STD);
    let mut random = Random(8);
    let passed = |random: &mut Random| {
        let mut wrong = flit;
        for _ in 0..1 + random.below(8) {
            wrong.0[random.below(250)] ^= 1 + random.below(255) as u8;
        }
        wrong.crc_ok(STD) && wrong.0[..250] != flit.0[..250]
    };
    (0..n).filter(|_| passed(&mut random)).count()
}

#[test]
fn cxl256_crc_03_p() {
    assert_eq!(patterns(100_000), 0);
}

#[test]
fn cxl256_crc_03_n() {
    // Nine wrong bytes can pass: the generator itself, highest coefficient at byte 241, its remainder behind it.
    let mut nine = [(241, 1); 9];
    let lowest_first = [0x69, 0x4d, 0x41, 0x33, 0xd5, 0xfe, 0x68, 0xd5];
    lowest_first.into_iter().enumerate().for_each(|(k, xor)| nine[k + 1] = (242 + k, xor));
    assert!(changed(&ramp(STD), &nine).crc_ok(STD));
    assert!(!changed(&ramp(STD), &nine[..8]).crc_ok(STD));
}

/// A latency-optimised flit whose even bytes count from 0 and odd bytes from 128.
fn lopt_crcs(flit: &Cxl256Flit) -> (Vec<u8>, Vec<u8>) {
    (flit.0[122..128].to_vec(), flit.0[250..].to_vec())
}

#[test]
fn cxl256_crc_04_p() {
    // `cxl-256b` §10.
    let ramp = ramp(LOPT);
    assert_eq!(lopt_crcs(&ramp), (bytes("60 5C 52 A8 EF 40"), bytes("18 6C 07 3F 48 90")));
    for (at, even, odd) in [
        (121, "71 B7 0D EE 19 61", "00 00 00 00 00 00"),
        (0, "59 16 20 2A 8E 62", "00 00 00 00 00 00"),
        (243, "00 00 00 00 00 00", "90 7C EA 19 BF EC"),
    ] {
        let flit = Build { mode: LOPT, flit: changed(&Cxl256Flit::ZERO, &[(at, 1)]) }.flit();
        assert_eq!(lopt_crcs(&flit), (bytes(even), bytes(odd)), "byte {at}");
    }
}

#[test]
fn cxl256_crc_04_n() {
    // Zeros in front instead of behind: another CRC, which is refused.
    let mut flit = ramp(LOPT);
    let mut message = [0; 242];
    message[120..].copy_from_slice(&flit.0[..122]);
    let even: [u8; 122] = message[120..].try_into().expect("122 bytes");
    let unpadded = shift_down(crc256::crc6_even(&even));
    flit.0[122..128].copy_from_slice(&unpadded.to_le_bytes()[..6]);
    flit.seal_fec(LOPT);
    assert_eq!(received(LOPT, &flit), ["CXL256-CRC-04"]);
    // Either half is named by its place.
    for (at, place) in [(5, "byte 122"), (200, "byte 250")] {
        let mut wrong = changed(&ramp(LOPT), &[(at, 0x10)]);
        wrong.seal_fec(LOPT);
        assert_eq!(read(LOPT, Dir::Down, &[wrong]).only().at.to_string(), place);
    }
}

/// The remainder without the eight zero bytes behind the message: eight steps back.
fn shift_down(crc: u64) -> u64 {
    let generator = crc256::GENERATOR_6.to_le_bytes();
    // The constant term of the generator is not 0, so each step has one inverse.
    let inverse = (1..=255).find(|&a| crc256::gf_mul(a, generator[0]) == 1).expect("a field");
    (0..8).fold(crc, |crc, _| {
        let top = crc256::gf_mul(crc as u8, inverse);
        let less = (0..6).fold(0, |r, k| r | u64::from(crc256::gf_mul(generator[k], top)) << (8 * k));
        (crc ^ less) >> 8 | u64::from(top) << 40
    })
}

/// alpha^n in the field of the CRC.
fn alpha(n: usize) -> u8 {
    (0..n).fold(1, |a, _| crc256::gf_mul(a, 2))
}

/// The 6-byte CRC through the 8-byte engine; powers of alpha for r6 and r7 (`cxl-256b` §7.2).
fn folded(half: &[u8], at: usize, fold: [(usize, usize); 6]) -> Vec<u8> {
    let mut message = [0; 242];
    message[at..at + half.len()].copy_from_slice(half);
    let r = crc256::crc8(&message).to_le_bytes();
    let term = |k: usize| {
        let (a, b) = fold[k];
        r[k] ^ crc256::gf_mul(alpha(a), r[6]) ^ crc256::gf_mul(alpha(b), r[7])
    };
    (0..6).map(term).collect()
}

const FOLD: [(usize, usize); 6] = [(21, 168), (161, 147), (114, 63), (250, 41), (107, 202), (147, 90)];

/// Halves with right CRCs.
fn halves(n: usize) -> Vec<Cxl256Flit> {
    let mut random = Random(3);
    (0..n)
        .map(|_| Build { mode: LOPT, flit: Cxl256Flit(std::array::from_fn(|_| random.below(256) as u8)) }.flit())
        .collect()
}

#[test]
fn cxl256_crc_05_p() {
    for flit in halves(300) {
        assert_eq!(folded(&flit.0[..122], 114, FOLD), flit.0[122..128]);
        assert_eq!(folded(&flit.0[128..244], 114, FOLD), flit.0[250..]);
    }
}

#[test]
fn cxl256_crc_05_n() {
    let mut wrong = FOLD;
    wrong[0].0 += 1;
    assert!(halves(300).iter().all(|flit| folded(&flit.0[..122], 114, wrong) != flit.0[122..128]));
}

#[test]
fn cxl256_crc_06_p() {
    for at in 244..250 {
        assert!(changed(&ramp(LOPT), &[(at, 0xff)]).crc_ok(LOPT), "byte {at} is FEC");
    }
}

#[test]
fn cxl256_crc_06_n() {
    for at in [243, 128, 250, 255] {
        assert!(!changed(&ramp(LOPT), &[(at, 0xff)]).crc_ok(LOPT), "byte {at} is covered");
    }
}

#[test]
fn cxl256_lop_02_p() {
    // One wrong byte in each half, in different groups: repaired, both CRCs fit, the flit is used.
    let flit = ramp(LOPT);
    for (even, odd) in [(0, 130), (60, 200), (121, 243), (127, 250)] {
        let odd = if even % 3 == odd % 3 { odd + 1 } else { odd };
        let read = read(LOPT, Dir::Down, &[changed(&flit, &[(even, 0x21), (odd, 0x84)])]);
        assert!(read.decoded[0].is_good(), "{even} {odd}");
        assert_eq!(read.decoded[0].flit(), &flit);
        let repaired: Vec<_> = read.decoded[0].received.fec.iter().flat_map(|c| c.iter()).map(|c| c.byte).collect();
        assert_eq!(repaired.len(), 2);
    }
}

#[test]
fn cxl256_lop_02_n() {
    // Two wrong bytes in one group: never used as they are.
    let flit = ramp(LOPT);
    let mut random = Random(5);
    for _ in 0..5000 {
        let (a, b) = (3 * random.below(40), 129 + 3 * random.below(38));
        let wrong = changed(&flit, &[(a, 1 + random.below(255) as u8), (b, 1 + random.below(255) as u8)]);
        assert!(!read(LOPT, Dir::Down, &[wrong]).decoded[0].is_good());
    }
}

/// A flit with two wrong bytes in the odd half which the FEC takes for one in the even half.
fn misleading() -> Cxl256Flit {
    let flit = ramp(LOPT);
    let mut random = Random(7);
    loop {
        let group = random.below(3);
        let byte = |random: &mut Random| 129 + group + 3 * random.below(37);
        let (a, b) = (byte(&mut random), byte(&mut random));
        let wrong = changed(&flit, &[(a, 1 + random.below(255) as u8), (b, 1 + random.below(255) as u8)]);
        let mut repaired = wrong.0;
        let byte = fec256::correct_lopt(&mut repaired).ok().and_then(|c| c.iter().next()).map(|c| c.byte);
        if a != b && byte.is_some_and(|at| at < 122) {
            return wrong;
        }
    }
}

#[test]
fn cxl256_lop_04_p() {
    // An even half that is good before the FEC and behind it.
    let flit = ramp(LOPT);
    let read = read(LOPT, Dir::Down, &[changed(&flit, &[(200, 1)])]);
    assert!(read.decoded[0].is_good() && !read.decoded[0].received.suspect);
}

#[test]
fn cxl256_lop_04_n() {
    let read = read(LOPT, Dir::Down, &[misleading()]);
    assert!(read.decoded[0].received.suspect && !read.decoded[0].is_good());
    assert!(read.rules().contains(&"CXL256-LOP-04"), "{:?}", read.rules());
}

#[test]
fn cxl256_fec_01_p() {
    for (header, fec) in [("A0 01", "9B 9A 3A 1A D4 C3"), ("04 05", "4A 20 10 17 E4 2B")] {
        let mut flit = Cxl256Flit::ZERO;
        flit.0[..2].copy_from_slice(&bytes(header));
        // The first is the Empty flit of `cxl-256b` §10.
        flit.0[240] = u8::from(header == "A0 01");
        flit.seal(STD);
        assert_eq!(flit.0[250..], bytes(fec));
    }
}

#[test]
fn cxl256_fec_01_n() {
    // Groups in another order: not what belongs to the flit.
    let mut flit = ramp(STD);
    flit.0[250..253].rotate_left(1);
    flit.0[253..].rotate_left(1);
    assert!(!read(STD, Dir::Down, &[flit]).decoded[0].is_good() || flit.receive(STD).flit != flit);
    assert_ne!(flit, ramp(STD));
}

#[test]
fn cxl256_fec_02_p() {
    for (mode, protected) in [(STD, (0..250).collect::<Vec<_>>()), (LOPT, (0..244).chain(250..256).collect())] {
        let flit = ramp(mode);
        for (k, &at) in protected.iter().enumerate() {
            let decoded = read(mode, Dir::Down, &[changed(&flit, &[(at, 1 + at as u8 % 255)])]).decoded.remove(0);
            assert!(decoded.is_good() && decoded.flit() == &flit, "byte {at}");
            // A burst of three, one byte a group.
            let burst: Vec<_> = protected.iter().skip(k).take(3).map(|&at| (at, 0x5a)).collect();
            let decoded = read(mode, Dir::Down, &[changed(&flit, &burst)]).decoded.remove(0);
            assert!(decoded.is_good() && decoded.flit() == &flit, "burst at {at}");
        }
    }
}

#[test]
fn cxl256_fec_02_n() {
    let mut random = Random(2);
    for mode in [STD, LOPT] {
        let flit = ramp(mode);
        for _ in 0..5000 {
            let group = random.below(3);
            let byte = |random: &mut Random| 3 * random.below(80) + group;
            let (a, b) = (byte(&mut random), byte(&mut random));
            let wrong = changed(&flit, &[(a, 1 + random.below(255) as u8), (b, 1 + random.below(255) as u8)]);
            let read = read(mode, Dir::Down, &[wrong]);
            let silent = read.decoded[0].is_good() && read.decoded[0].flit() != &flit;
            assert!(!silent && (a == b || !read.rules().is_empty()));
        }
    }
}

/// Syndromes (check, parity) of group 0 and what they mean.
fn located(check: u8, parity: u8) -> Result<Vec<usize>, ()> {
    // Wire order C1 C2 C0 P1 P2 P0.
    let found = fec256::locate(&[0, 0, check, 0, 0, parity]);
    found.map(|c| c.iter().map(|c| c.byte).collect()).map_err(|_| ())
}

#[test]
fn cxl256_fec_03_p() {
    assert_eq!(located(0, 0), Ok(vec![]));
    assert_eq!(located(0, 7), Ok(vec![255]), "parity byte");
    assert_eq!(located(7, 0), Ok(vec![252]), "check byte");
    // Row 83: check = alpha * parity; row 0: alpha^84.
    let alpha84 = (0..84).fold(1u16, |a, _| if a & 0x80 == 0 { a << 1 } else { a << 1 ^ 0x11d });
    assert_eq!(located(2, 1), Ok(vec![249]));
    assert_eq!(located(alpha84 as u8, 1), Ok(vec![0]));
}

#[test]
fn cxl256_fec_03_n() {
    // Both syndromes set never leaves the data alone: another byte, or nothing at all.
    for check in 1..=255 {
        let found = located(check, 1);
        assert!(found.is_err() || found.is_ok_and(|bytes| bytes.len() == 1 && bytes[0] < 250 && bytes[0] % 3 == 0));
    }
}

#[test]
fn cxl256_fec_04_p() {
    // 84 of the 255 quotients are rows.
    assert_eq!((1..=255).filter(|&check| located(check, 1).is_ok()).count(), 84);
}

#[test]
fn cxl256_fec_04_n() {
    assert_eq!((1..=255).filter(|&check| located(check, 1).is_err()).count(), 171, "not folded modulo 84");
    // The implied row 83 of group 1.
    let flit = changed(&ramp(STD), &[(250, 2), (253, 1)]);
    let read = read(STD, Dir::Down, &[flit]);
    assert_eq!((read.only().rule, read.only().at.to_string()), ("CXL256-FEC-02", "byte 250".to_owned()));
    assert_eq!(read.decoded[0].flit(), &flit, "unchanged");
}

#[test]
fn cxl256_fec_05_p() {
    // `cxl-256b` §10 under our order.
    assert_eq!(ramp(LOPT).0[244..250], bytes("21 89 D4 67 49 D2"));
}

#[test]
fn cxl256_fec_05_n() {
    // By physical position (FEC bytes as zeros, rows up to 85) it would be something else.
    let flit = ramp(LOPT);
    let by_position: [u8; 250] = std::array::from_fn(|n| if (244..250).contains(&n) { 0 } else { flit.0[n] });
    assert_ne!(fec256::parity(&by_position), flit.0[244..250]);
}

#[test]
fn cxl256_fec_06_p() {
    let flit = ramp(STD);
    assert!(flit.receive(STD).is_good());
    assert!(changed(&flit, &[(9, 1), (10, 1), (11, 1)]).receive(STD).is_good());
}

#[test]
fn cxl256_fec_06_n() {
    // The CRC fits, yet a group is uncorrectable; the FEC has nothing to do, yet the CRC does not fit.
    let uncorrectable = changed(&ramp(STD), &[(250, 2), (253, 1)]).receive(STD);
    assert!(uncorrectable.crc_ok && !uncorrectable.is_good());
    let forced = json!({"kind": "protocol", "crc": {"force": "0x1"}});
    let flit = encode(STD, &forced).expect("it can be sent");
    let received = flit.receive(STD);
    assert!(received.fec.is_ok() && !received.is_good());
}

/// A flit with a bad CRC changes nothing behind it.
#[test]
fn a_bad_flit_is_as_if_it_had_not_been() {
    for mode in Mode::ALL {
        let first = cachemem(mode).with(14, "G14", &[(0, legal(mode, Class::M2sRwd, 1))]).flit();
        let rest = cachemem(mode).run(1..5, 0x1234_5600).flit();
        let mut bad = changed(&rest, &[(20, 0xff)]);
        bad.seal_fec(mode);
        let read = read(mode, Dir::Down, &[first, bad, rest]);
        assert_eq!((read.delivered.len(), read.owed_slots), (1, 0));
        assert_eq!(read.decoded[1].roles.map(|r| format!("{r:?}")), read.decoded[2].roles.map(|r| format!("{r:?}")));
        assert_eq!(read.findings[2].violations, []);
    }
}
