//! CRC and FEC of the 256-byte flit (`cxl-256b` §7, §8) against a second spelling: schoolbook division of polynomials over
//! GF(256), sums of powers from a table, and numbers that were computed elsewhere from the same sheet. Then what the two
//! are for: one wrong byte in each group is repaired, and nothing else is ever delivered as good.

use scalepool_protocols::check::crc256::{
    EVEN_BYTES, ODD_BYTES, STANDARD_BYTES, crc6_even, crc6_even_bytewise, crc6_odd, crc6_odd_bytewise, crc8,
    crc8_bytewise,
};
use scalepool_protocols::check::fec256::{self, Correction, PROTECTED_BYTES};
use scalepool_testbenches::soak::is_soak;
use std::collections::BTreeSet;

/// A 64-bit linear congruential sequence, its high bytes. What it yields is frozen: the vectors below were made with it.
struct Bytes(u64);

impl Bytes {
    fn byte(&mut self) -> u8 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 56) as u8
    }

    fn not_zero(&mut self) -> u8 {
        self.byte().max(1)
    }

    fn below(&mut self, n: usize) -> usize {
        (usize::from(self.byte()) << 8 | usize::from(self.byte())) % n
    }

    fn array<const N: usize>(&mut self) -> [u8; N] {
        std::array::from_fn(|_| self.byte())
    }
}

/// GF(256) by logarithms; alpha = 2 is primitive for both polynomials.
struct Field {
    power: [u8; 255],
    log: [usize; 256],
}

impl Field {
    fn new(polynomial: u32) -> Field {
        let (mut power, mut log) = ([0; 255], [0; 256]);
        let mut value = 1u32;
        for (n, p) in power.iter_mut().enumerate() {
            *p = value as u8;
            log[value as usize] = n;
            value *= 2;
            if value > 255 {
                value ^= polynomial;
            }
        }
        assert_eq!(value, 1, "alpha has order 255");
        Field { power, log }
    }

    fn mul(&self, a: u8, b: u8) -> u8 {
        if a == 0 || b == 0 { 0 } else { self.power[(self.log[usize::from(a)] + self.log[usize::from(b)]) % 255] }
    }
}

/// Coefficients of (x + alpha)(x + alpha^2)..(x + alpha^n), highest first.
fn generator(field: &Field, n: usize) -> Vec<u8> {
    (1..=n).fold(vec![1], |g, root| {
        let by_x = g.iter().copied().chain([0]);
        let by_root = std::iter::once(0).chain(g.iter().map(|&c| field.mul(c, field.power[root])));
        by_x.zip(by_root).map(|(a, b)| a ^ b).collect()
    })
}

/// message(x) * x^n mod divisor, both highest coefficient first: schoolbook division. The answer is lowest first.
fn remainder(field: &Field, message: &[u8], divisor: &[u8]) -> Vec<u8> {
    let n = divisor.len() - 1;
    let mut rest = message.to_vec();
    rest.resize(message.len() + n, 0);
    for i in 0..message.len() {
        let quotient = rest[i];
        for (j, &d) in divisor.iter().enumerate() {
            rest[i + j] ^= field.mul(quotient, d);
        }
    }
    rest[message.len()..].iter().rev().copied().collect()
}

/// The six FEC bytes as the sums of `cxl-256b` §8 stand there.
fn fec(field: &Field, protected: &[u8]) -> Vec<u8> {
    let check = |g: usize| {
        (0..84).fold(0, |sum, i| {
            let b = protected.get(3 * i + g).copied().unwrap_or(0);
            sum ^ field.mul(b, field.power[84 - i])
        })
    };
    let parity = |g: usize| protected.iter().skip(g).step_by(3).fold(0, |sum, b| sum ^ b);
    vec![check(1), check(2), check(0), parity(1), parity(2), parity(0)]
}

fn standard(message: &[u8; STANDARD_BYTES]) -> [u8; 256] {
    let mut flit = [0; 256];
    flit[..242].copy_from_slice(message);
    flit[242..250].copy_from_slice(&crc8(message).to_le_bytes());
    let parity = fec256::parity(flit.first_chunk().expect("250 bytes"));
    flit[250..].copy_from_slice(&parity);
    flit
}

fn half_crcs(flit: &[u8; 256]) -> [u64; 2] {
    let even = flit[..EVEN_BYTES].try_into().expect("122 bytes");
    let odd = flit[128..128 + ODD_BYTES].try_into().expect("116 bytes");
    [crc6_even(even), crc6_odd(odd)]
}

fn latency_optimised(bytes: [u8; 256]) -> [u8; 256] {
    let mut flit = bytes;
    let [even, odd] = half_crcs(&flit);
    flit[122..128].copy_from_slice(&even.to_le_bytes()[..6]);
    flit[250..].copy_from_slice(&odd.to_le_bytes()[..6]);
    let parity = fec256::parity_lopt(&flit);
    flit[244..250].copy_from_slice(&parity);
    flit
}

/// One of the two flit forms: how it is made, repaired and judged, and where the byte n of the FEC's sequence stands.
struct Form {
    name: &'static str,
    flit: fn(&mut Bytes) -> [u8; 256],
    correct: fn(&mut [u8; 256]) -> Result<fec256::Corrections, fec256::Uncorrectable>,
    crc_ok: fn(&[u8; 256]) -> bool,
    group: fn(usize) -> usize,
    is_fec: fn(usize) -> bool,
}

const FORMS: [Form; 2] = [
    Form {
        name: "standard",
        flit: |bytes| standard(&bytes.array()),
        correct: fec256::correct,
        crc_ok: |f| f[242..250] == crc8(f.first_chunk().expect("242 bytes")).to_le_bytes(),
        group: |byte| byte % 3,
        is_fec: |byte| byte >= 250,
    },
    Form {
        name: "latency-optimised",
        flit: |bytes| latency_optimised(bytes.array()),
        correct: fec256::correct_lopt,
        crc_ok: |f| {
            let [even, odd] = half_crcs(f);
            f[122..128] == even.to_le_bytes()[..6] && f[250..] == odd.to_le_bytes()[..6]
        },
        // The FEC bytes C1 C2 C0 P1 P2 P0 change places with the odd CRC, six bytes further on: the groups stay.
        group: |byte| byte % 3,
        is_fec: |byte| (244..250).contains(&byte),
    },
];

#[test]
fn crcs_are_remainders_over_gf256() {
    let field = Field::new(0x12b);
    let (g8, g6) = (generator(&field, 8), generator(&field, 6));
    // The factored forms of `cxl-256b` §7.1 and §7.2.
    assert_eq!(g8, [0x01, 0xd5, 0x68, 0xfe, 0xd5, 0x33, 0x41, 0x4d, 0x69]);
    assert_eq!(g6, [0x01, 0x7e, 0x47, 0xab, 0x1a, 0xa8, 0x32]);
    let log = |g: &[u8]| g.iter().map(|&c| field.log[usize::from(c)]).collect::<Vec<_>>();
    assert_eq!(log(&g8), [0, 172, 116, 186, 172, 195, 134, 199, 36]);
    assert_eq!(log(&g6), [0, 147, 107, 250, 114, 161, 21]);

    let mut bytes = Bytes(2024);
    for _ in 0..500 {
        let message = bytes.array();
        let want = remainder(&field, &message, &g8);
        assert_eq!(crc8(&message).to_le_bytes(), want[..]);
        assert_eq!(crc8_bytewise(&message).to_le_bytes(), want[..]);
        let (even, odd): ([u8; EVEN_BYTES], [u8; ODD_BYTES]) = (bytes.array(), bytes.array());
        for (half, crcs) in [
            (&even[..], [crc6_even(&even), crc6_even_bytewise(&even)]),
            (&odd[..], [crc6_odd(&odd), crc6_odd_bytewise(&odd)]),
        ] {
            let mut padded = half.to_vec();
            padded.resize(130, 0);
            let want = remainder(&field, &padded, &g6);
            for crc in crcs {
                assert_eq!(crc.to_le_bytes()[..6], want);
                assert_eq!(crc >> 48, 0);
            }
        }
    }
}

/// The other route of `cxl-256b` §7.2: a half inside a 242-byte message, through the 8-byte engine, then x^6 and x^7
/// reduced by the 6-byte generator.
#[test]
fn six_byte_crc_through_the_eight_byte_engine() {
    let field = Field::new(0x12b);
    let fold = |crc: u64| -> Vec<u8> {
        let r = crc.to_le_bytes();
        let alphas = [(21, 168), (161, 147), (114, 63), (250, 41), (107, 202), (147, 90)];
        let term = |(n, (a, b)): (usize, (usize, usize))| {
            r[n] ^ field.mul(field.power[a], r[6]) ^ field.mul(field.power[b], r[7])
        };
        alphas.into_iter().enumerate().map(term).collect()
    };
    let mut bytes = Bytes(5);
    for _ in 0..200 {
        let flit = latency_optimised(bytes.array());
        let (mut even, mut odd) = ([0; STANDARD_BYTES], [0; STANDARD_BYTES]);
        even[114..236].copy_from_slice(&flit[..122]);
        odd[114..230].copy_from_slice(&flit[128..244]);
        assert_eq!(fold(crc8(&even)), flit[122..128]);
        assert_eq!(fold(crc8(&odd)), flit[250..]);
    }
}

#[test]
fn fec_is_the_sums_of_the_sheet() {
    let field = Field::new(0x11d);
    let mut bytes = Bytes(99);
    for _ in 0..500 {
        let protected: [u8; PROTECTED_BYTES] = bytes.array();
        assert_eq!(fec256::parity(&protected), fec(&field, &protected)[..]);
        let flit = latency_optimised(bytes.array());
        let ordered: Vec<u8> = flit[..244].iter().chain(&flit[250..]).copied().collect();
        assert_eq!(flit[244..250], fec(&field, &ordered)[..]);
    }
}

/// Numbers of another program written from the same sheet; the input is `Bytes(seed)`.
#[test]
fn vectors_made_elsewhere() {
    let hex = |bytes: &[u8]| bytes.iter().map(|b| format!("{b:02x}")).collect::<String>();
    // seed: 8-byte CRC of 242 bytes, 6-byte CRC of the first 122 and 116, FEC of 250, end of a latency-optimised flit.
    let rows = [
        (1, "bee18e3a619fe768", "0d2337e86a59", "21c71ef50f26", "c449978613bd", "7fe16ac636f2b8e496c1a3a6"),
        (2, "64665d3690fa024f", "4ea0571b0e6b", "fe35d65e9fe1", "8b8329f7df6a", "553c2fbf9fa0e721cbd9c312"),
        (3, "99c8b67d5d3168ed", "99f0cd34dd21", "0fc79d9b40a3", "69b80af353d6", "2f4e6f7f58c56b1a7e783b44"),
        (4, "e40760a3da7e43fd", "311c7d137c40", "7d60503c5f27", "e52bac42b1fd", "220429af5b86dd3de15f3994"),
    ];
    for (seed, crc, even, odd, parity, end) in rows {
        let m: [u8; 256] = Bytes(seed).array();
        assert_eq!(hex(&crc8(m.first_chunk().expect("242")).to_le_bytes()), crc);
        assert_eq!(hex(&crc6_even(m.first_chunk().expect("122")).to_le_bytes()[..6]), even);
        assert_eq!(hex(&crc6_odd(m.first_chunk().expect("116")).to_le_bytes()[..6]), odd);
        assert_eq!(hex(&fec256::parity(m.first_chunk().expect("250"))), parity);
        assert_eq!(hex(&latency_optimised(m)[244..]), end);
    }
}

#[test]
fn every_wrong_byte_is_repaired() {
    for form in &FORMS {
        let good = (form.flit)(&mut Bytes(7));
        for byte in 0..256 {
            for xor in 1..=255 {
                let mut flit = good;
                flit[byte] ^= xor;
                let found = (form.correct)(&mut flit).expect("one wrong byte");
                assert_eq!(flit, good, "{} byte {byte} xor {xor:#x}", form.name);
                assert_eq!(found.iter().collect::<Vec<_>>(), [Correction { byte, xor }]);
            }
        }
    }
}

#[test]
fn every_pair_in_two_groups_is_repaired() {
    const VALUES: usize = 16;
    for form in &FORMS {
        let mut bytes = Bytes(11);
        let good = (form.flit)(&mut bytes);
        let mut pairs = 0;
        for a in 0..256 {
            for b in (a + 1..256).filter(|&b| (form.group)(a) != (form.group)(b)) {
                pairs += 1;
                for _ in 0..VALUES {
                    let mut flit = good;
                    flit[a] ^= bytes.not_zero();
                    flit[b] ^= bytes.not_zero();
                    (form.correct)(&mut flit).expect("one wrong byte in each of two groups");
                    assert_eq!(flit, good, "{} bytes {a} and {b}", form.name);
                }
            }
        }
        assert_eq!(pairs, 86 * 85 + 86 * 85 + 85 * 85, "256 bytes are 86 + 85 + 85");
    }
}

/// A burst of three bytes touches each group once.
#[test]
fn every_burst_of_three_is_repaired() {
    let form = &FORMS[0];
    let mut bytes = Bytes(13);
    let good = (form.flit)(&mut bytes);
    for first in 0..=253 {
        for _ in 0..16 {
            let mut flit = good;
            flit[first..first + 3].iter_mut().for_each(|b| *b ^= bytes.not_zero());
            let found = (form.correct)(&mut flit).expect("a burst of three");
            assert_eq!(found.iter().count(), 3);
            assert_eq!(flit, good, "burst at {first}");
        }
    }
}

/// 100,000 patterns, 10^6 in `make soak`, of 2 to 12 wrong bytes in a form: FEC, then CRC. Whatever comes through is what was sent.
#[test]
fn nothing_wrong_is_delivered() {
    let patterns = if is_soak() { 1_000_000 } else { 100_000 };
    for form in &FORMS {
        let mut bytes = Bytes(17);
        let (mut crowded, mut repaired, mut uncorrectable, mut only_crc) = (0, 0, 0, 0);
        let mut good = (form.flit)(&mut bytes);
        for n in 0..patterns {
            if n % 1000 == 0 {
                good = (form.flit)(&mut bytes);
            }
            let mut flit = good;
            let mut places = BTreeSet::new();
            let count = 2 + bytes.below(11);
            while places.len() < count {
                // Every second pattern begins with two wrong bytes in one group.
                let place = match places.first() {
                    Some(&first) if places.len() == 1 && n % 2 == 0 => (first + 3 * (1 + bytes.below(84))) % 255,
                    _ => bytes.below(256),
                };
                places.insert(place);
            }
            places.iter().for_each(|&p| flit[p] ^= bytes.not_zero());
            let mut in_group = [0; 3];
            places.iter().for_each(|&p| in_group[(form.group)(p)] += 1);
            crowded += usize::from(in_group.iter().any(|&n| n > 1));
            match (form.correct)(&mut flit) {
                Err(_) => uncorrectable += 1,
                Ok(_) => {
                    let same = (0..256).filter(|&b| !(form.is_fec)(b)).all(|b| flit[b] == good[b]);
                    let ok = (form.crc_ok)(&flit);
                    assert!(same || !ok, "{} delivers a wrong flit: wrong bytes {places:?}", form.name);
                    assert!(ok || !same, "{} refuses the flit that was sent", form.name);
                    if same { repaired += 1 } else { only_crc += 1 }
                }
            }
        }
        println!(
            "{}: {patterns} patterns, {crowded} with two or more wrong bytes in one group; {repaired} repaired, \
             {uncorrectable} named by the FEC, {only_crc} wrong repairs that only the CRC caught",
            form.name
        );
        assert!(3 * crowded >= patterns, "a third has two or more in one group");
        assert!(only_crc > 0);
        assert_eq!(repaired + uncorrectable + only_crc, patterns);
    }
}
