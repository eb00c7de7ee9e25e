//! Random numbers that never change: xoshiro256** seeded through SplitMix64 from (seed, full name).
//!
//! The algorithms are those of Blackman and Vigna (xoshiro256** 1.0, SplitMix64) and FNV-1a (64 bits). They are frozen:
//! released vectors and traces depend on every bit of them.

/// A stream of pseudo-random numbers with 256 bits of state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rng {
    state: [u64; 4],
}

impl Rng {
    /// The stream of the instance `name` in a run with `seed`. Streams of other names do not move when one is added.
    pub fn for_name(seed: u64, name: &str) -> Rng {
        let mut mix = seed;
        let salt = split_mix(&mut mix);
        Rng::from_seed(salt ^ fnv1a(name.as_bytes()))
    }

    /// The stream of a bare number.
    pub fn from_seed(seed: u64) -> Rng {
        let mut mix = seed;
        Rng { state: std::array::from_fn(|_| split_mix(&mut mix)) }
    }

    /// 64 uniform bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[1].wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// A uniform number in `0..n`, without bias (Lemire's multiply and reject); 0 if `n` is 0.
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        if n == 0 {
            return 0;
        }
        let mut product = u128::from(self.next_u64()) * u128::from(n);
        // The low half below 2^64 mod n belongs to the numbers that would come once too often.
        if (product as u64) < n {
            let rejected = n.wrapping_neg() % n;
            while (product as u64) < rejected {
                product = u128::from(self.next_u64()) * u128::from(n);
            }
        }
        (product >> 64) as u64
    }

    /// True with probability `hits / of` exactly; always true if `hits >= of`. Takes at least one number unless `of` is 0.
    #[inline]
    pub fn ratio(&mut self, hits: u64, of: u64) -> bool {
        if of == 0 { hits > 0 } else { self.below(of) < hits }
    }

    /// True with probability `p`, rounded to a multiple of 2^-64; takes one number. Not-a-number counts as 0.
    #[inline]
    pub fn chance(&mut self, p: f64) -> bool {
        // The product with a power of two is exact and the cast saturates, so every machine has the same threshold.
        let threshold = (p * 18_446_744_073_709_551_616.0) as u64;
        let drawn = self.next_u64();
        p >= 1.0 || drawn < threshold
    }

    /// Fills `bytes` with uniform bytes, eight of each number, lowest first.
    pub fn fill_bytes(&mut self, bytes: &mut [u8]) {
        let (numbers, rest) = bytes.as_chunks_mut();
        numbers.iter_mut().for_each(|number| *number = self.next_u64().to_le_bytes());
        if !rest.is_empty() {
            let number: [u8; 8] = self.next_u64().to_le_bytes();
            rest.copy_from_slice(&number[..rest.len()]);
        }
    }

    /// Puts `items` into a uniformly random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}

/// One step of SplitMix64.
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// FNV-1a over 64 bits.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_answers_of_the_parts() {
        // SplitMix64 from 0 and from 1234567; FNV-1a of "", "a", "foobar"; xoshiro256** from the state 1, 2, 3, 4.
        let mut state = 0;
        assert_eq!(split_mix(&mut state), 0xe220_a839_7b1d_cdaf);
        assert_eq!(split_mix(&mut state), 0x6e78_9e6a_a1b9_65f4);
        let mut state = 1_234_567;
        assert_eq!(split_mix(&mut state), 6_457_827_717_110_365_317);
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
        let mut rng = Rng { state: [1, 2, 3, 4] };
        let drawn: Vec<u64> = (0..5).map(|_| rng.next_u64()).collect();
        assert_eq!(drawn, [11520, 0, 1_509_978_240, 1_215_971_899_390_074_240, 1_216_172_134_540_287_360]);
    }

    #[test]
    fn frozen_answers_of_named_streams() {
        let draw = |seed, name| {
            let mut rng = Rng::for_name(seed, name);
            [rng.next_u64(), rng.next_u64()]
        };
        assert_eq!(draw(0, "a"), [0x894a_a84d_bb85_37b6, 0xaf41_2583_c5f9_2589]);
        assert_eq!(draw(1, "a"), [0x80ff_0c14_f91a_9c55, 0x94af_0db7_e786_1065]);
        assert_eq!(draw(1, "pod0.sw0.port[3].rx"), [0x1235_d6a4_6e9d_2b99, 0xc02f_af86_c913_392d]);
        let mut rng = Rng::for_name(7, "bytes");
        let mut bytes = [0; 11];
        rng.fill_bytes(&mut bytes);
        assert_eq!(bytes, [85, 142, 18, 47, 21, 168, 169, 191, 196, 249, 170]);
        let mut rng = Rng::for_name(7, "dice");
        assert_eq!([(); 12].map(|()| rng.below(6)), [4, 4, 3, 2, 5, 0, 3, 1, 1, 4, 3, 0]);
        let mut order = [0, 1, 2, 3, 4, 5, 6, 7];
        rng.shuffle(&mut order);
        assert_eq!(order, [0, 4, 5, 1, 2, 6, 7, 3]);
    }
    #[test]
    fn helpers_keep_their_limits() {
        let mut rng = Rng::from_seed(3);
        assert_eq!(rng.below(0), 0);
        assert_eq!(rng.below(1), 0);
        assert!((0..1000).all(|_| rng.below((1 << 63) + 1) <= 1 << 63));
        assert!((0..100).all(|_| rng.ratio(5, 5) && !rng.ratio(0, 5)));
        assert!(rng.ratio(1, 0) && !rng.ratio(0, 0));
        assert!((0..100).all(|_| rng.chance(1.0) && rng.chance(2.0) && !rng.chance(0.0) && !rng.chance(-1.0)));
        assert!(!rng.chance(f64::NAN));
        let mut counts = [0; 3];
        for _ in 0..30_000 {
            counts[rng.below(3) as usize] += 1;
        }
        assert!(counts.iter().all(|n| (9_500..10_500).contains(n)), "{counts:?}");
        let hits = (0..40_000).filter(|_| rng.chance(0.25)).count();
        assert!((9_500..10_500).contains(&hits), "{hits}");
        let hits = (0..40_000).filter(|_| rng.ratio(1, 4)).count();
        assert!((9_500..10_500).contains(&hits), "{hits}");
    }
}
