//! NVL-CRC: definition, coverage, and the two published properties, proved by syndromes.
//!
//! The CRC is linear, so a pattern of wrong bits is found exactly when the sum of the syndromes of its bits is not 0. The
//! syndromes are asked of the codec, one flipped bit at a time, over the longest code word: 17 flits behind one header and
//! the 128 bits of the next, 2304 bits (`nvlink` §6.2).

use super::common::*;
use scalepool_oracle::nvlink as oracle;
use scalepool_protocols::check::crc25::Crc25;
use scalepool_protocols::nvlink::header::CRC_LSB;

/// Flits of the longest payload.
const PAYLOAD: usize = 17;
/// Bits of the longest code word.
const WORD_BITS: usize = 128 * PAYLOAD + 128;

/// The difference of found and expected CRC when bit n of the code word is wrong; bit 0 is the first that enters the CRC.
fn syndromes(config: NvlConfig) -> Vec<u32> {
    let flits = [0; PAYLOAD];
    let clean = config.crc_of(&flits, 0);
    let word = (0..WORD_BITS).map(|n| {
        let (flit, bit) = (n / 128, 127 - n % 128);
        if flit < PAYLOAD {
            let mut wrong = flits;
            wrong[flit] = 1 << bit;
            config.crc_of(&wrong, 0) ^ clean
        } else if n - 128 * PAYLOAD < CRC_LSB as usize {
            config.crc_of(&flits, 1 << (CRC_LSB as usize - 1 - (n - 128 * PAYLOAD))) ^ clean
        } else {
            // A bit of the CRC itself, the highest first.
            1 << (WORD_BITS - 1 - n)
        }
    });
    word.collect()
}

/// A set of 25-bit numbers.
struct Set(Vec<u64>);

impl Set {
    fn new() -> Set {
        Set(vec![0; 1 << 19])
    }
    /// Whether it is new.
    fn insert(&mut self, n: u32) -> bool {
        let (word, bit) = (&mut self.0[n as usize / 64], 1 << (n % 64));
        let new = *word & bit == 0;
        *word |= bit;
        new
    }
    fn contains(&self, n: u32) -> bool {
        self.0[n as usize / 64] >> (n % 64) & 1 == 1
    }
}

/// Whether a number of syndromes sum to 0 only when none is taken.
fn independent(syndromes: impl Iterator<Item = u32>) -> bool {
    let mut basis = [0u32; 25];
    for mut s in syndromes {
        while s != 0 && basis[s.ilog2() as usize] != 0 {
            s ^= basis[s.ilog2() as usize];
        }
        if s == 0 {
            return false;
        }
        basis[s.ilog2() as usize] = s;
    }
    true
}

fn bytes(flits: &[u128]) -> Vec<[u8; 16]> {
    flits.iter().map(|flit| flit.to_le_bytes()).collect()
}

/// Known answers, and the oracle on random packets.
#[test]
fn nvl_crc_01_p() {
    let text = b"123456789".iter().fold(0, |text, &byte| text << 8 | u128::from(byte));
    for (init, want) in [(0x1ff_ffff, 0x1d5_6a14), (0, 0x17e_b263)] {
        let crc = Crc25 { init, ..Crc25::default() };
        assert_eq!(crc.finish(crc.update(crc.start(), text, 72)), want);
    }
    let (mut random, config) = (Random::new(1), NvlConfig::default());
    let mut previous = Packet::new(&[0]).expect("one flit");
    for n in 0..400 {
        let packet = random_packet(&mut random);
        let header = packet.header_bits();
        let want = oracle::crc(&bytes(previous.payload()), header.to_le_bytes());
        assert_eq!(config.crc_of(previous.payload(), header), want, "packet {n}");
        // Feeding the CRC after the message leaves 0.
        let covered =
            previous.payload().iter().fold(config.crc.start(), |crc, flit| config.crc.bitwise(crc, *flit, 128));
        let all = config.crc.bitwise(config.crc.bitwise(covered, header, 103), want.into(), 25);
        assert_eq!(all, 0, "packet {n}");
        previous = packet;
    }
}

#[test]
fn nvl_crc_01_n() {
    let good = first(&packet(Op::READ, 0));
    assert!(rules(&good).is_empty());
    for bit in 0..128 {
        let bad = good.with_header_bits(good.header_bits() ^ 1 << bit);
        assert_eq!(rules(&bad), ["NVL-CRC-01"], "bit {bit}");
    }
}

/// A payload, then an IDLE that closes it.
fn closed(flits: usize) -> [Packet; 2] {
    let mut packer = Packer::default();
    [packet(Op::WRITE_POSTED, flits), packet(Op::IDLE, 0)].map(|p| packer.seal(&p))
}

#[test]
fn nvl_crc_02_p() {
    for flits in 1..=16 {
        let (mut unpacker, [write, idle]) = (Unpacker::default(), closed(flits));
        assert!(unpacker.read(&write).is_good());
        let decoded = unpacker.read(&idle);
        assert_eq!((decoded.is_good(), decoded.covered_flits), (true, flits));
        assert_eq!(idle.crc(), oracle::crc(&bytes(write.payload()), idle.header_bits().to_le_bytes()));
        // Behind the IDLE there is no payload any more.
        assert_eq!(unpacker.crc_of_next(0), NvlConfig::default().crc_of(&[], 0));
    }
}

#[test]
fn nvl_crc_02_n() {
    let [write, idle] = closed(3);
    for bit in 0..3 * 128 {
        let mut bad = write;
        bad.payload_mut()[bit / 128] ^= 1 << (bit % 128);
        let mut unpacker = Unpacker::default();
        assert!(unpacker.read(&bad).is_good(), "its own header does not cover it");
        let decoded = unpacker.read(&idle);
        let findings = check::packet(&decoded, unpacker.config());
        assert_eq!(findings.violations.iter().map(|v| v.rule).collect::<Vec<_>>(), ["NVL-CRC-02"], "bit {bit}");
    }
    // Flits that change places, and one that is left out.
    let mut swapped = write;
    swapped.payload_mut().swap(0, 2);
    for bad in [swapped, Packet::new(&write.flits()[..3]).expect("three flits")] {
        let mut unpacker = Unpacker::default();
        unpacker.read(&bad);
        assert!(!unpacker.read(&idle).is_good());
    }
}

/// Exhaustive for weights 1 to 5 at full length.
#[test]
fn nvl_crc_03_p() {
    let s = syndromes(NvlConfig::default());
    assert_eq!(s.len(), 2304);
    let mut singles = Set::new();
    for (n, &a) in s.iter().enumerate() {
        assert!(a != 0, "weight 1: bit {n}");
        assert!(singles.insert(a), "weight 2: bit {n} and one before it");
    }
    let mut pairs = Set::new();
    for (n, &a) in s.iter().enumerate() {
        for &b in &s[..n] {
            assert!(!singles.contains(a ^ b), "weight 3: bit {n} and two others");
            assert!(pairs.insert(a ^ b), "weight 4: bit {n} and three others");
        }
    }
    // Every syndrome is the remainder of a power of x by a polynomial with the factor x + 1, so its value at 1 is 1: an
    // odd number of them does not sum to 0. That settles weights 1, 3 and 5 once more.
    assert!(s.iter().all(|s| s.count_ones() % 2 == 1), "weight 5");

    // Seeded patterns of weights 4 and 5 through the codec.
    let mut random = Random::new(45);
    let (clean, config) = ([packet(Op::WRITE_POSTED, 16), packet(Op::IDLE, 0)], NvlConfig::default());
    let mut packer = Packer::default();
    let [write, idle] = clean.map(|p| packer.seal(&p));
    for n in 0..20_000 {
        let (mut payload, mut header) = (write.payload().to_vec(), idle.header_bits());
        let mut bits = std::collections::BTreeSet::new();
        while bits.len() < 4 + n % 2 {
            bits.insert(random.below(128 * 17));
        }
        for bit in bits {
            match payload.get_mut(bit / 128) {
                Some(flit) => *flit ^= 1 << (bit % 128),
                None => header ^= 1 << (bit % 128),
            }
        }
        assert_ne!(config.crc_of(&payload, header), (header >> CRC_LSB) as u32, "pattern {n}");
    }
}

/// The proof fails where it should: there are patterns of weight 6, and a polynomial without the property is told apart.
#[test]
fn nvl_crc_03_n() {
    let s = syndromes(NvlConfig::default());
    // 96 bits are enough for a pattern of weight 6: two disjoint triples with one sum.
    let last = &s[s.len() - 96..];
    let mut triples = std::collections::BTreeMap::new();
    let mut six = None;
    for c in 0..96 {
        for b in 0..c {
            for a in 0..b {
                if let Some(other) = triples.insert(last[a] ^ last[b] ^ last[c], [a, b, c]) {
                    six.get_or_insert((other, [a, b, c]));
                }
            }
        }
    }
    let (one, other) = six.expect("the distance is 6");
    let sum = one.iter().chain(&other).fold(0, |sum, &n| sum ^ last[n]);
    assert_eq!(sum, 0, "{one:?} {other:?} stay unseen");
    // x^25 + 1: bit n and bit n + 25 cancel.
    let config = NvlConfig { crc: Crc25 { poly: 1, ..Crc25::default() }, ..NvlConfig::default() };
    let weak = syndromes(config);
    let mut singles = Set::new();
    assert!(!weak.iter().all(|&a| singles.insert(a)));
}

/// Bursts of up to 25 bits on a lane, at every offset: the 25 syndromes of the window are independent, so no pattern in
/// it sums to 0. Bits go to lanes in the order in which they enter the CRC.
#[test]
fn nvl_crc_04_p() {
    let s = syndromes(NvlConfig::default());
    for lanes in [1, 2, 4, 8, 16] {
        for start in 0..s.len() {
            assert!(independent(s[start..].iter().copied().step_by(lanes).take(25)), "{lanes} lanes, bit {start}");
        }
    }
}

#[test]
fn nvl_crc_04_n() {
    // The multiple g itself: a burst of 26 bits stays unseen.
    let s = syndromes(NvlConfig::default());
    let generator = oracle::generator();
    for lanes in [1, 2, 4, 8, 16] {
        let window = s.iter().step_by(lanes).take(26).enumerate();
        let sum = window.filter(|(n, _)| generator >> (25 - n) & 1 == 1).fold(0, |sum, (_, s)| sum ^ s);
        assert_eq!(sum, 0, "{lanes} lanes");
        assert!(!independent(s.iter().copied().step_by(lanes).take(26)));
    }
    // Bits on the lanes in the other order, bit 0 of a flit first, while bit 127 enters the CRC first: a burst over the
    // border of two flits is two bursts then, and may stay unseen. So the property holds for lanes in CRC order alone.
    let (head, last) = s.split_at(128 * PAYLOAD);
    let (covered, own) = last.split_at(CRC_LSB as usize);
    let flits = head.chunks(128).flat_map(|flit| flit.iter().rev());
    let reversed: Vec<u32> = flits.chain(covered.iter().rev()).chain(own.iter().rev()).copied().collect();
    for lanes in [1, 2, 4, 8, 16] {
        let open = (0..s.len()).filter(|&at| !independent(reversed[at..].iter().copied().step_by(lanes).take(25)));
        assert!(open.count() > 100, "{lanes} lanes");
    }
    // A polynomial with the factor x^2: a burst across the end of a window of 25 is lost.
    let config = NvlConfig { crc: Crc25 { poly: 4, ..Crc25::default() }, ..NvlConfig::default() };
    let weak = syndromes(config);
    assert!((0..weak.len()).any(|start| !independent(weak[start..].iter().copied().take(25))));
}

/// Settings other than the default, each on both ends.
fn settings() -> [NvlConfig; 4] {
    let own = NvlConfig::default();
    let crc = own.crc;
    [
        NvlConfig { crc: Crc25 { poly: 0x04c_11db, ..crc }, ..own },
        NvlConfig { crc: Crc25 { init: 0, ..crc }, ..own },
        NvlConfig { crc: Crc25 { xorout: 0x1ff_ffff, ..crc }, ..own },
        NvlConfig { cover_prev: false, ..own },
    ]
}

#[test]
fn nvl_crc_05_p() {
    for config in settings() {
        let (mut packer, mut unpacker) = (Packer::new(config), Unpacker::new(config));
        let mut random = Random::new(5);
        for n in 0..200 {
            assert!(unpacker.read(&packer.seal(&random_packet(&mut random))).is_good(), "{config:?} packet {n}");
        }
    }
    // The definition with the `crc` crate's register: a width of 25 bits, whole bytes.
    let theirs = crc::Algorithm {
        width: 25,
        poly: 0x1c2_60a7u32,
        init: 0x1ff_ffff,
        refin: false,
        refout: false,
        xorout: 0x0aa_aaaa,
        check: 0,
        residue: 0,
    };
    let theirs = crc::Crc::<u32>::new(Box::leak(Box::new(theirs)));
    let ours = Crc25 { xorout: 0x0aa_aaaa, ..Crc25::default() };
    let mut random = Random::new(6);
    for _ in 0..200 {
        let flit = random.wide();
        assert_eq!(ours.finish(ours.update(ours.start(), flit, 128)), theirs.checksum(&flit.to_be_bytes()));
    }
}

/// Two ends that differ in a setting do not understand each other.
#[test]
fn nvl_crc_05_n() {
    for config in settings() {
        let (mut packer, mut unpacker) = (Packer::new(config), Unpacker::default());
        let refused =
            [packet(Op::WRITE_POSTED, 2), packet(Op::IDLE, 0)].map(|p| !unpacker.read(&packer.seal(&p)).is_good());
        // Without cover only the header behind a payload shows it.
        assert_eq!(refused, if config.cover_prev { [true, true] } else { [false, true] }, "{config:?}");
    }
}
