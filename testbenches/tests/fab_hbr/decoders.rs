//! HDM decoders from the root to the device (`fabric` §2), against the formulas of the sheet in the oracle.

use scalepool::memory::bridge::{BridgeDecoder, BridgeDecoders, CommitError};
use scalepool::memory::decoder::{Arithmetic, Decoders, GRANULARITIES, Interleave, WAYS, Window};
use scalepool_oracle::hdm::{self, Root};
use std::collections::BTreeSet;

const MIB_256: u64 = 256 << 20;
const GIB: u64 = 1 << 30;

/// A root of so many ways above bridges of so many ways.
#[derive(Debug, Clone, Copy)]
struct Levels {
    root: usize,
    below: usize,
    /// The granularity is 256 << g bytes.
    g: usize,
    arithmetic: Root,
}

impl Levels {
    fn interleave(self) -> Option<Interleave> {
        let arithmetic = if self.arithmetic == Root::Xor { Arithmetic::Xor } else { Arithmetic::Modulo };
        Interleave::new(self.root * self.below, GRANULARITIES[self.g], arithmetic)?.over_root(self.root)
    }

    /// Code of the granularity of the bridges: that of the root, and the bits that the root selects by.
    fn bridge_g(self) -> usize {
        self.g + self.root.trailing_zeros() as usize
    }

    /// Way of the root, way of the bridge there, device address by the sheet.
    fn walk(self, base: u64, address: u64) -> (u64, u64, u64) {
        let root = hdm::target(address, self.root as u64, self.g, self.arithmetic);
        let below = hdm::bridge_way(address, self.below as u64, self.bridge_g());
        (root, below, hdm::share_offset(address - base, (self.root * self.below) as u64, self.g))
    }
}

/// All levels that there are.
fn all() -> impl Iterator<Item = Levels> {
    let of_root = |root: usize| [1, 2, 4, 8].into_iter().map(move |below| (root, below));
    WAYS.into_iter().flat_map(of_root).flat_map(|(root, below)| {
        (0..GRANULARITIES.len())
            .flat_map(move |g| [Root::Modulo, Root::Xor].map(|arithmetic| Levels { root, below, g, arithmetic }))
    })
}

/// Those that registers can hold: a set of up to 16 ways with a code, bridges of up to 16 KiB.
fn sound() -> impl Iterator<Item = Levels> {
    all().filter(|one| {
        WAYS.contains(&(one.root * one.below)) && (one.below == 1 || one.bridge_g() < GRANULARITIES.len())
    })
}

fn window(levels: Levels, base: u64) -> Window {
    let interleave = levels.interleave().unwrap_or_else(|| panic!("{levels:?}"));
    Window { base, size: interleave.ways() * MIB_256, interleave }
}

/// The bridge below a way of the root, whose target n is vPPB 10 + n.
fn bridge(window: &Window) -> BridgeDecoders {
    let (ways, below) = window.interleave.below();
    // A single way has no bits to select by.
    let granularity = if ways == 1 { window.interleave.granularity() } else { below };
    let targets = (0..ways as usize).map(|n| 10 + n).collect();
    let mut decoders = BridgeDecoders::default();
    decoders
        .commit(BridgeDecoder { back_invalidate: false, base: window.base, size: window.size, granularity, targets })
        .unwrap_or_else(|error| panic!("{error}"));
    decoders
}

fn device(window: Window, address: u64) -> u64 {
    let mut decoders = Decoders::default();
    decoders.push(window);
    decoders.device_address(address).expect("it lies in the window")
}

/// Addresses of a window: its first and last chunks, and some between that visit all bits.
fn addresses(window: &Window) -> Vec<u64> {
    let (granularity, size) = (window.interleave.granularity(), window.size);
    let chunks = size / granularity;
    let mut all: Vec<u64> = (0..50).chain(chunks - 50..chunks).map(|chunk| chunk * granularity + chunk % 64).collect();
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    for _ in 0..60 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        all.push((state >> 16) % size);
    }
    all.into_iter().map(|offset| window.base + offset).collect()
}

/// Way of the root, way of the bridge, device address by the model.
fn walk(window: &Window, bridge: &BridgeDecoders, address: u64) -> (u64, u64, u64) {
    let root_ways = window.interleave.root_ways();
    let way = window.interleave.way(address) as u64;
    let vppb = bridge.target(address).expect("it lies in the window") as u64;
    assert_eq!(way / root_ways, vppb - 10, "host and switch agree on the target: {address:#x}");
    (way % root_ways, vppb - 10, device(*window, address))
}

/// Every set of levels, each with bases that are and are not multiples of three steps.
#[test]
fn every_walk_is_that_of_the_sheet() {
    let mut count = 0;
    for levels in sound() {
        for base in [0, 12 * GIB, 0x7_5000_0000] {
            let window = window(levels, base);
            let bridge = bridge(&window);
            for address in addresses(&window) {
                let found = walk(&window, &bridge, address);
                assert_eq!(found, levels.walk(base, address), "{levels:?} {address:#x} in {base:#x}");
                count += 1;
            }
        }
    }
    assert!(count > 50_000, "{count}");
}

/// Each place of each device is that of one address.
#[test]
fn every_walk_is_one_to_one() {
    for levels in sound() {
        let window = window(levels, 12 * GIB);
        let (bridge, granularity) = (bridge(&window), window.interleave.granularity());
        let chunks = (0..192).map(|chunk| window.base + chunk * granularity);
        let places: BTreeSet<_> = chunks.map(|address| walk(&window, &bridge, address)).collect();
        assert_eq!(places.len(), 192, "{levels:?}");
    }
}

const PLAIN: Levels = Levels { root: 1, below: 1, g: 0, arithmetic: Root::Modulo };

#[test]
fn fab_hdm_01_p() {
    let mut all = BridgeDecoders::default();
    let decoder = |base, size, target| BridgeDecoder {
        back_invalidate: false,
        base,
        size,
        granularity: 256,
        targets: vec![target],
    };
    all.commit(decoder(4 * GIB, GIB, 1)).expect("it is legal");
    all.commit(decoder(5 * GIB, 0, 2)).expect("a size of 0 is legal");
    assert_eq!([4 * GIB, 5 * GIB - 1].map(|at| all.target(at)), [Some(1); 2]);
}

#[test]
fn fab_hdm_01_n() {
    let mut all = BridgeDecoders::default();
    let decoder =
        BridgeDecoder { back_invalidate: false, base: 4 * GIB, size: GIB, granularity: 256, targets: vec![1, 1] };
    // What was not committed is not hit, and neither is the end or the front of what was, or size 0.
    assert!(all.commit(decoder.clone()).is_err());
    assert_eq!(all.target(4 * GIB), None);
    all.commit(BridgeDecoder { targets: vec![1], ..decoder.clone() }).expect("it is legal");
    all.commit(BridgeDecoder { base: 5 * GIB, size: 0, targets: vec![2], ..decoder }).expect("it is legal");
    assert_eq!([4 * GIB - 1, 5 * GIB].map(|at| all.target(at)), [None; 2]);
}

#[test]
fn fab_hdm_04_p() {
    let mut all = BridgeDecoders::default();
    for (n, ways) in [1, 2, 4, 8].into_iter().enumerate() {
        let (base, targets) = (n as u64 * GIB, (0..ways).collect());
        all.commit(BridgeDecoder { back_invalidate: false, base, size: GIB, granularity: 256, targets })
            .expect("it is legal");
    }
}

#[test]
fn fab_hdm_04_n() {
    let decoder = |base, ways| BridgeDecoder {
        back_invalidate: false,
        base,
        size: GIB,
        granularity: 256,
        targets: (0..ways).collect(),
    };
    let mut all = BridgeDecoders::default();
    all.commit(decoder(GIB, 2)).expect("it is legal");
    let before = all.clone();
    assert_eq!(all.commit(decoder(GIB + MIB_256, 1)), Err(CommitError::Order { base: GIB + MIB_256, least: 2 * GIB }));
    for ways in [0, 3, 5, 16] {
        assert_eq!(all.commit(decoder(4 * GIB, ways)), Err(CommitError::Ways { found: ways }));
    }
    assert_eq!(all, before);
}

/// Ways, address, target by modulo and by XOR, device address: the table of `fabric` §2.5, base 0 and chunks of 256 bytes.
const XOR: &[(usize, u64, u64, u64, u64)] = &[
    (2, 0x1234_5678, 0, 1, 0x91a_2b78),
    (4, 0x1234_5678, 2, 3, 0x48d_1578),
    (8, 0x1234_5678, 6, 7, 0x246_8a78),
    (16, 0x1234_5678, 6, 7, 0x123_4578),
    (6, 0x1234_5678, 0, 1, 0x308_b978),
    (12, 0x1234_5678, 6, 7, 0x184_5c78),
    (4, 0x202_0900, 1, 0, 0x80_8200),
    (4, 0x800, 0, 1, 0x200),
];

fn one_level(ways: usize, arithmetic: Root) -> Levels {
    Levels { root: ways, arithmetic, ..PLAIN }
}

fn found(levels: Levels, base: u64, address: u64) -> (u64, u64, u64) {
    let window = Window { size: 48 * MIB_256, ..window(levels, base) };
    walk(&window, &bridge(&window), address)
}

#[test]
fn fab_hdm_05_p() {
    for &(ways, address, _, xor, dpa) in XOR {
        assert_eq!(found(one_level(ways, Root::Xor), 0, address), (xor, 0, dpa), "{ways} {address:#x}");
    }
}

/// The target by modulo is another one, the device address is the same.
#[test]
fn fab_hdm_05_n() {
    for &(ways, address, modulo, xor, dpa) in XOR {
        assert_eq!(found(one_level(ways, Root::Modulo), 0, address), (modulo, 0, dpa), "{ways} {address:#x}");
        assert_ne!(modulo, xor);
    }
}

#[test]
fn fab_hdm_06_p() {
    let chunks = [0, 1, 2].map(|chunk| found(one_level(3, Root::Modulo), 4 * GIB, 4 * GIB + chunk * 256).0);
    assert_eq!(chunks, [1, 2, 0]);
}

/// A position that is taken from the offset is another one where the base is no multiple of three steps.
#[test]
fn fab_hdm_06_n() {
    let differs =
        |base: u64| (0..3).any(|chunk| found(one_level(3, Root::Modulo), base, base + chunk * 256).0 != chunk % 3);
    assert_eq!([12 * GIB, 4 * GIB].map(differs), [false, true]);
}

fn eight() -> BridgeDecoders {
    let mut all = BridgeDecoders::default();
    let targets = (10..18).collect();
    all.commit(BridgeDecoder { back_invalidate: false, base: 0, size: GIB, granularity: 256, targets })
        .expect("it is legal");
    all
}

#[test]
fn fab_hdm_07_p() {
    let ways: Vec<_> = (0..8).filter_map(|chunk| eight().target(chunk * 256)).collect();
    assert_eq!(ways, [10, 11, 12, 13, 14, 15, 16, 17]);
}

/// One who knows the low target register alone finds other targets for ways 4 to 7.
#[test]
fn fab_hdm_07_n() {
    let low = |chunk: u64| 10 + (chunk % 4) as usize;
    let differ: Vec<u64> = (0..8).filter(|&chunk| eight().target(chunk * 256) != Some(low(chunk))).collect();
    assert_eq!(differ, [4, 5, 6, 7]);
}

/// Root, bridge and switch of two ways each: address, their ways, device address (`fabric` §2.5).
const THREE_LEVELS: &[(u64, [u64; 3], u64)] = &[
    (0x100, [1, 0, 0], 0),
    (0x200, [0, 1, 0], 0),
    (0x400, [0, 0, 1], 0),
    (0x7ff, [1, 1, 1], 0xff),
    (0x800, [0, 0, 0], 0x100),
    (0x1234_5678, [0, 1, 1], 0x246_8a78),
];

#[test]
fn fab_hdm_08_p() {
    let levels = Levels { root: 2, below: 4, ..PLAIN };
    for &(offset, [root, bridge, switch], dpa) in THREE_LEVELS {
        let address = 16 * GIB + offset;
        // Bridge and switch together are four ways behind the root.
        assert_eq!(found(levels, 16 * GIB, address), (root, bridge + 2 * switch, dpa), "{offset:#x}");
    }
}

/// A bridge that takes the bits of the root, or leaves one out, brings several addresses to one place; one that would need more
/// than 16 KiB is refused.
#[test]
fn fab_hdm_08_n() {
    let window = window(Levels { root: 2, below: 2, ..PLAIN }, 0);
    for granularity in [256, 1024] {
        let mut other = BridgeDecoders::default();
        let decoder = BridgeDecoder { back_invalidate: false, base: 0, size: GIB, granularity, targets: vec![10, 11] };
        other.commit(decoder).expect("it is legal by itself");
        let place = |chunk: u64| {
            let address = chunk * 256;
            (window.interleave.way(address) % 2, other.target(address), device(window, address))
        };
        let places: BTreeSet<_> = (0..64).map(place).collect();
        assert!(places.len() < 64, "{granularity}");
    }
    assert!(Levels { root: 2, below: 2, g: 6, arithmetic: Root::Modulo }.interleave().is_none());
    assert!(Levels { root: 4, below: 2, g: 5, arithmetic: Root::Modulo }.interleave().is_none());
}

/// Ways of the root and of the region whose ratio is a power of two, with one granularity; bridges take what is left of both.
#[test]
fn fab_hdm_09_p() {
    let mut count = 0;
    for levels in sound() {
        let interleave = levels.interleave().unwrap_or_else(|| panic!("{levels:?}"));
        let (below, _) = interleave.below();
        assert_eq!((interleave.root_ways(), below), (levels.root as u64, levels.below as u64));
        assert_eq!((interleave.ways(), interleave.granularity()), (below * interleave.root_ways(), 256 << levels.g));
        count += 1;
    }
    assert!(count > 200, "{count}");
}

/// Device address, position, address: root of 4 ways, set of 8, XOR (`fabric` §2.5, published).
const ROOT_4_SET_8: &[(u64, u64, u64)] = &[
    (272, 1, 2064),
    (528, 2, 4112),
    (16400, 1, 131_088),
    (116_520_373, 3, 932_162_229),
    (344_295_715, 7, 2_754_367_011),
];

#[test]
fn fab_hdm_11_p() {
    let levels = Levels { root: 4, below: 2, g: 0, arithmetic: Root::Xor };
    for &(dpa, position, address) in ROOT_4_SET_8 {
        let (root, below, device) = found(levels, 0, address);
        assert_eq!((device, root + 4 * below), (dpa, position), "{address}");
    }
}

/// The outermost way counted highest is another position.
#[test]
fn fab_hdm_11_n() {
    let levels = Levels { root: 4, below: 2, g: 0, arithmetic: Root::Xor };
    let outermost = |address| {
        let (root, below, _) = found(levels, 0, address);
        root * 2 + below
    };
    assert!(ROOT_4_SET_8.iter().any(|&(_, position, address)| outermost(address) != position));
}

const THREE_BY_TWO: Levels = Levels { root: 3, below: 2, ..PLAIN };

#[test]
fn fab_hdm_12_p() {
    let window = window(THREE_BY_TWO, 12 * GIB);
    assert_eq!(window.interleave.below(), (2, 256));
    let place = |chunk: u64| found(THREE_BY_TWO, 12 * GIB, 12 * GIB + chunk * 256);
    let places: BTreeSet<_> = (0..600).map(place).collect();
    assert_eq!(places.len(), 600);
}

/// With twice the granularity chunks 1 and 4, and 7 and 10, are one place of one device.
#[test]
fn fab_hdm_12_n() {
    let window = window(THREE_BY_TWO, 12 * GIB);
    let place = |chunk: u64| {
        let address = 12 * GIB + chunk * 256;
        (window.interleave.way(address) % 3, hdm::bridge_way(address, 2, 1), device(window, address))
    };
    assert_eq!([place(1), place(7)], [place(4), place(10)]);
}

#[test]
fn fab_hdm_13_p() {
    let owner = |chunk: u64| {
        let (bridge, port, _) = found(THREE_BY_TWO, 12 * GIB, 12 * GIB + chunk * 256);
        (bridge, port)
    };
    assert_eq!([owner(1), owner(4)], [(1, 1), (1, 0)]);
}

/// The formula for powers of two names the chunks the other way round.
#[test]
fn fab_hdm_13_n() {
    let differ = (0..6).filter(|&chunk| {
        let (bridge, port, _) = found(THREE_BY_TWO, 12 * GIB, 12 * GIB + chunk * 256);
        port * 3 + bridge != chunk
    });
    assert_eq!(differ.collect::<Vec<_>>(), [1, 4]);
}

#[test]
fn fab_tgt_01_p() {
    for (ways, g, address, way) in
        [(2, 0, 0x1_0000_01ff, 1), (2, 6, 0x1_1234_5678, 1), (4, 0, 0x2_1234_5678, 2), (8, 4, 0x4_1234_5678, 5)]
    {
        let mut all = BridgeDecoders::default();
        let (size, granularity) = (64 * GIB, GRANULARITIES[g]);
        all.commit(BridgeDecoder { back_invalidate: false, base: 0, size, granularity, targets: (0..ways).collect() })
            .expect("it is legal");
        assert_eq!(all.target(address), Some(way), "{ways} ways");
    }
    // The published example: 4 ways of 512 bytes at 128 GB, 129 GB + 1028.
    let mut all = BridgeDecoders::default();
    let decoder = BridgeDecoder {
        back_invalidate: false,
        base: 128 * GIB,
        size: 4 * GIB,
        granularity: 512,
        targets: vec![0, 1, 2, 3],
    };
    all.commit(decoder).expect("it is legal");
    assert_eq!(all.target(129 * GIB + 1028), Some(2));
}

/// Bits one place beside lead elsewhere.
#[test]
fn fab_tgt_01_n() {
    let right = hdm::bridge_way(0x2_1234_5678, 4, 0);
    assert_eq!([1, 2].map(|g| hdm::bridge_way(0x2_1234_5678, 4, g) == right), [false, false]);
}

#[test]
fn fab_tgt_02_p() {
    for (ways, address, target) in [
        (3, 0x3_1234_5678, 0),
        (3, 0x3_0000_02ff, 2),
        (6, 0x3_0000_0700, 1),
        (12, 0x3_1234_5678, 6),
        (16, 0x4_1234_5678, 6),
    ] {
        let base = address & !(GIB - 1);
        assert_eq!(found(one_level(ways, Root::Modulo), base, address).0, target, "{ways} {address:#x}");
    }
}

/// The remainder of the chunk in place of that of the bits above the plain ones is another target.
#[test]
fn fab_tgt_02_n() {
    for (ways, plain) in [(6, 2), (12, 4)] {
        let wrong = |chunk: u64| chunk % plain + plain * (chunk % 3);
        let right = |chunk: u64| found(one_level(ways, Root::Modulo), 12 * GIB, 12 * GIB + chunk * 256).0;
        assert!((0..48).any(|chunk| right(chunk) != wrong(chunk)), "{ways}");
    }
}

#[test]
fn fab_tgt_03_p() {
    for &(ways, address, _, xor, _) in XOR {
        assert_eq!(found(one_level(ways, Root::Xor), 0, address).0, xor, "{ways}");
    }
    // One and three ways have no map.
    for ways in [1, 3] {
        let at = |root| (0..99).map(|n| found(one_level(ways, root), 0, n * 0x1_2345).0).collect::<Vec<_>>();
        assert_eq!(at(Root::Xor), at(Root::Modulo));
    }
}

/// With one map fewer or more, targets are missing or there are too many.
#[test]
fn fab_tgt_03_n() {
    let reached = |maps: usize| {
        let way = |n: u64| hdm::target(n * 256, 1 << maps, 0, Root::Xor);
        (0..4096).map(way).collect::<BTreeSet<_>>().len()
    };
    let model: BTreeSet<u64> = (0..4096).map(|n| found(one_level(4, Root::Xor), 0, n * 256).0).collect();
    assert_eq!([reached(1) < model.len(), reached(2) == model.len(), reached(3) > model.len()], [true; 3]);
}

#[test]
fn fab_tgt_04_p() {
    // Below a root with XOR the bridge has plain bits.
    let levels = Levels { root: 4, below: 2, g: 0, arithmetic: Root::Xor };
    for n in 0..200 {
        let address = n * 0x1_0100;
        assert_eq!(found(levels, 0, address).1, (address >> 10) & 1);
    }
}

/// A bridge has no ways for a remainder, and the root none that are no power of two times its own.
#[test]
fn fab_tgt_04_n() {
    let mut all = BridgeDecoders::default();
    let decoder =
        BridgeDecoder { back_invalidate: false, base: 0, size: 3 * GIB, granularity: 256, targets: vec![0, 1, 2] };
    assert_eq!(all.commit(decoder), Err(CommitError::Ways { found: 3 }));
    for (ways, root) in [(3, 1), (6, 2), (12, 4), (12, 2), (8, 3), (4, 8)] {
        let all = Interleave::new(ways, 256, Arithmetic::Modulo).expect("it is legal");
        assert_eq!(all.over_root(root), None, "{ways} over {root}");
    }
}

/// Ways, granularity, base, address, device address (`fabric` §2.5).
const BINARY: &[(usize, usize, u64, u64, u64)] = &[
    (1, 0, 0x1_0000_0000, 0x1_1234_5678, 0x1234_5678),
    (2, 0, 0x1_0000_0000, 0x1_1234_5678, 0x91a_2b78),
    (2, 6, 0x1_0000_0000, 0x1_1234_5678, 0x91a_1678),
    (4, 2, 0x2_0000_0000, 0x2_1234_5678, 0x48d_1678),
    (8, 4, 0x4_0000_0000, 0x4_1234_5678, 0x246_8678),
    (16, 3, 0x4_0000_0000, 0x4_1234_5678, 0x123_4678),
];

const THREES: &[(usize, usize, u64, u64, u64)] = &[
    (3, 0, 0x3_0000_0000, 0x3_1234_5678, 0x611_7278),
    (3, 6, 0x3_0000_0000, 0x3_1234_5678, 0x611_5678),
    (6, 1, 0x3_0000_0000, 0x3_1234_5678, 0x308_b878),
    (12, 5, 0x3_0000_0000, 0x3_1234_5678, 0x184_5678),
];

fn at(&(ways, g, base, address, _): &(usize, usize, u64, u64, u64)) -> u64 {
    found(Levels { root: ways, g, ..PLAIN }, base, address).2
}

#[test]
fn fab_dpa_01_p() {
    BINARY.iter().for_each(|row| assert_eq!(at(row), row.4, "{row:?}"));
}

/// The way's bits taken out one place beside give another address.
#[test]
fn fab_dpa_01_n() {
    let beside = |&(ways, g, base, address, _): &(usize, usize, u64, u64, u64)| {
        hdm::share_offset(address - base, ways as u64, g + 1)
    };
    assert!(BINARY.iter().filter(|row| row.0 > 1 && row.1 < 6).any(|row| beside(row) != at(row)));
}

#[test]
fn fab_dpa_02_p() {
    THREES.iter().for_each(|row| assert_eq!(at(row), row.4, "{row:?}"));
}

/// The whole address divided in place of the offset gives another address.
#[test]
fn fab_dpa_02_n() {
    for row in THREES {
        assert_ne!(hdm::share_offset(row.3, row.0 as u64, row.1), at(row), "{row:?}");
    }
}

#[test]
fn fab_dpa_04_p() {
    for &(dpa, position, address) in ROOT_4_SET_8 {
        assert_eq!(found(Levels { root: 4, below: 2, g: 0, arithmetic: Root::Xor }, 0, address).2, dpa);
        assert!(position < 8);
    }
    for levels in sound().filter(|levels| levels.below == 1) {
        let window = window(levels, 12 * GIB * levels.root as u64);
        for address in addresses(&window) {
            let (ways, position) = (levels.root as u64, window.interleave.way(address) as u64);
            let share = device(window, address);
            let back = hdm::window_offset(share, position, window.base, ways, levels.g, levels.arithmetic);
            assert_eq!(window.base + back, address, "{levels:?}");
        }
    }
}

/// The way back without the parities of XOR arithmetic leads to other addresses.
#[test]
fn fab_dpa_04_n() {
    let window = window(one_level(4, Root::Xor), 0);
    let differs = addresses(&window).into_iter().any(|address| {
        let (position, share) = (window.interleave.way(address) as u64, device(window, address));
        hdm::window_offset(share, position, 0, 4, 0, Root::Modulo) != address
    });
    assert!(differs);
}
