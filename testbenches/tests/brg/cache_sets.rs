//! Where blocks lie in the conversion cache and which of them leave (`bridge` §9.1, §9.2): against stack distances and victims by hand.

use super::common::*;
use scalepool::bridge::cache::policy::EvictionPolicy;
use scalepool::bridge::cache::stream::StreamDetector;
use scalepool::bridge::cache::{ConversionCacheError, DataCacheConfig};
use scalepool::bridge::window::WindowClass;
use scalepool_oracle::stack_distance;

const MN: WindowClass = WindowClass::Mn;

fn shape(sets: u64, ways: usize, block_bytes: u64, policy: EvictionPolicy) -> DataCacheConfig {
    DataCacheConfig { capacity_bytes: sets * ways as u64 * block_bytes, ways, block_bytes, policy, ..SMALL }
}

/// Whether each read of a trace of blocks hits.
fn hits(config: DataCacheConfig, trace: &[u64]) -> Vec<bool> {
    let mut bench = Bench::new(cached(MN, config));
    let hit = |block: &u64| {
        let before = bench.bridge.cache_counts().hits[0];
        bench.whole(read(BASE + config.block_bytes * block, 16));
        bench.bridge.cache_counts().hits[0] > before
    };
    trace.iter().map(hit).collect()
}

/// Four traces: in circles, back and forth, at random, at random with favourites.
fn traces() -> Vec<Vec<u64>> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = move |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    vec![
        (0..400).map(|n| n % 40).collect(),
        (0..400).map(|n| if n / 50 % 2 == 0 { n % 50 } else { 49 - n % 50 }).collect(),
        (0..600).map(|_| random(64)).collect(),
        (0..600).map(|_| if random(4) > 0 { random(12) } else { random(200) }).collect(),
    ]
}

/// Hits of LRU are those of the stack distances, one by one, on four traces and three capacities, with odd numbers of sets as well.
#[test]
fn brg_chc_25_p() {
    for trace in traces() {
        for (sets, ways) in [(4, 2), (3, 5), (8, 16)] {
            let expected = stack_distance::hits(&trace, sets, ways);
            assert_eq!(hits(shape(sets, ways, 64, EvictionPolicy::Lru), &trace), expected, "{sets} sets, {ways} ways");
        }
    }
}

/// A way less, a set more or another policy is seen.
#[test]
fn brg_chc_25_n() {
    let trace = &traces()[3];
    let expected = stack_distance::hits(trace, 4, 3);
    for config in [
        shape(4, 2, 64, EvictionPolicy::Lru),
        shape(5, 3, 64, EvictionPolicy::Lru),
        shape(4, 3, 64, EvictionPolicy::Srrip),
        shape(4, 3, 64, EvictionPolicy::Lfu),
    ] {
        assert_ne!(hits(config, trace), expected, "{config:?}");
    }
}

/// Each sector has its own state, whatever the block.
#[test]
fn brg_chc_13_p() {
    for block_bytes in [64, 128, 256] {
        let mut bench = Bench::new(cached(MN, shape(8, 2, block_bytes, EvictionPolicy::Lru)));
        bench.whole(read(BASE, 16));
        bench.whole(write_full(BASE + 64, 1, 1));
        let states: Vec<char> = (0..4).map(|line| bench.state(BASE + 64 * line)).collect();
        assert_eq!(states, ['V', 'D', 'I', 'I'], "{block_bytes}");
        assert_eq!(bench.bridge.cache_counts().misses, [1, 1, 0]);
    }
}

/// Other blocks are refused.
#[test]
fn brg_chc_13_n() {
    for block_bytes in [0, 32, 96, 512] {
        let config = DataCacheConfig { block_bytes, ..SMALL };
        assert_eq!(config.sets(), Err(ConversionCacheError::Block(block_bytes)));
    }
}

/// A cache takes just as many blocks as fit, and a block lies in the set of its number modulo the sets.
#[test]
fn brg_chc_14_p() {
    let config = shape(3, 4, 256, EvictionPolicy::Lru);
    let trace: Vec<u64> = (0..12).chain(0..12).collect();
    assert_eq!(hits(config, &trace), [[false; 12], [true; 12]].concat());
    // One block more takes the place of the first one of its set, and of no other.
    let trace: Vec<u64> = (0..13).chain(1..12).chain([0]).collect();
    assert_eq!(hits(config, &trace), [vec![false; 13], vec![true; 11], vec![false]].concat());
}

/// Shapes that cannot be.
#[test]
fn brg_chc_14_n() {
    for ways in [0, 17] {
        assert_eq!(DataCacheConfig { ways, ..SMALL }.sets(), Err(ConversionCacheError::Ways(ways)));
    }
    for capacity_bytes in [0, 513, 2 * 256 + 256] {
        let found = DataCacheConfig { capacity_bytes, ..SMALL }.sets();
        assert_eq!(found, Err(ConversionCacheError::Capacity { capacity_bytes, set_bytes: 512 }));
    }
    assert_eq!(DataCacheConfig::SHEET.sets(), Ok(256 << 10));
}

/// Victims by hand, in one set of four ways. SRRIP: 0 and 1 are hit, so 2 leaves first, then 3, then, all others being one older, 4.
/// LFU: 0 has three uses, 1 two, 2 and 3 one; 2 is the lowest way of those.
#[test]
fn brg_chc_15_p() {
    let one_set = |policy| shape(1, 4, 64, policy);
    let hits = |policy, trace: &[u64]| hits(one_set(policy), trace);
    let left = |policy, trace: &[u64], block: u64| {
        let trace: Vec<u64> = trace.iter().copied().chain([block]).collect();
        !hits(policy, &trace)[trace.len() - 1]
    };
    let gone = |policy, trace: &[u64]| (0..7).filter(|block| left(policy, trace, *block)).collect::<Vec<u64>>();
    let (lru, srrip, lfu) = (EvictionPolicy::Lru, EvictionPolicy::Srrip, EvictionPolicy::Lfu);
    assert_eq!(gone(lru, &[0, 1, 2, 3, 0, 1, 4]), [2, 5, 6]);
    assert_eq!(gone(lru, &[0, 1, 2, 3, 0, 1, 4, 5]), [2, 3, 6]);
    assert_eq!(gone(srrip, &[0, 1, 2, 3, 0, 1, 4]), [2, 5, 6]);
    assert_eq!(gone(srrip, &[0, 1, 2, 3, 0, 1, 4, 5]), [2, 3, 6]);
    assert_eq!(gone(srrip, &[0, 1, 2, 3, 0, 1, 4, 5, 6]), [2, 3, 4]);
    assert_eq!(gone(lfu, &[0, 1, 2, 3, 0, 0, 1, 4]), [2, 5, 6]);
    assert_eq!(gone(lfu, &[0, 1, 2, 3, 0, 0, 1, 3, 4, 5]), [2, 4, 6]);
}

/// Where policies part: what was used once, long ago, and what was used often, longer ago. Counts are halved in time, so that old fame
/// fades.
#[test]
fn brg_chc_15_n() {
    let trace = [0, 0, 0, 1, 2, 3, 4, 0];
    let last = |policy| hits(shape(1, 4, 64, policy), &trace)[7];
    assert_eq!(EvictionPolicy::ALL.map(last), [false, true, true]);
    // Block 0 has five uses and block 2 one; an age later, in which another set is used, block 2 has three more.
    let stays = |others: u64| {
        let mut bench = Bench::new(cached(MN, shape(2, 2, 256, EvictionPolicy::Lfu)));
        let mut reads = |block: u64, dwords, count| {
            (0..count).for_each(|_| _ = bench.whole(read(BASE + 256 * block, dwords)));
            bench.state(BASE) != 'I'
        };
        for (block, dwords, count) in [(0, 16, 5), (2, 16, 1), (1, 64, others), (2, 16, 3)] {
            reads(block, dwords, count);
        }
        reads(4, 16, 1)
    };
    assert_eq!([stays(1), stays((64 << 10) / 4)], [true, false]);
    let found = EvictionPolicy::NAMES.iter().map(|name| EvictionPolicy::find(name));
    assert!(found.eq(EvictionPolicy::ALL.map(Some)));
}

/// Blocks that enter of a stream of so many, then whether the one behind a gap does.
fn entered(blocks: u64, stream_blocks: u64) -> (u64, bool) {
    let config = DataCacheConfig { stream_blocks, ..shape(64, 2, 256, EvictionPolicy::Lru) };
    let mut bench = Bench::new(cached(WindowClass::Mc, config));
    (0..blocks).for_each(|block| _ = bench.whole(read(BASE + 256 * block, 64)));
    let there = (0..blocks).filter(|block| bench.state(BASE + 256 * block) != 'I').count();
    bench.whole(read(BASE + 256 * (blocks + 7), 64));
    (there as u64, bench.state(BASE + 256 * (blocks + 7)) != 'I')
}

#[test]
fn brg_chc_17_p() {
    assert_eq!(entered(7, 8), (7, true));
    assert_eq!(entered(8, 8), (8, true));
    assert_eq!(entered(9, 8), (8, true));
    assert_eq!(entered(20, 8), (8, true));
    assert_eq!(entered(20, 3), (3, true));
}

/// Without a look at streams all enter; a hit ends a stream; an atomic enters in any case; sources are told apart.
#[test]
fn brg_chc_17_n() {
    assert_eq!(entered(20, 0), (20, true));
    let mut streams = StreamDetector::new(2);
    let mut passes = |source, block, is_hit| streams.passes_by(source, block, is_hit);
    assert_eq!(
        [passes(1, 5, false), passes(1, 6, false), passes(1, 7, false), passes(1, 7, false)],
        [false, false, true, true]
    );
    assert_eq!([passes(2, 8, false), passes(1, 8, true), passes(1, 9, false)], [false; 3]);
    let config = DataCacheConfig { stream_blocks: 1, ..SMALL };
    let mut bench = Bench::new(cached(WindowClass::Mc, config));
    bench.whole(read(BASE, 16));
    bench.whole(add(scalepool_protocols::ualink::code::ReqCmd::AtomicR, BASE + 256, 1));
    assert_eq!(bench.state(BASE + 256), 'M');
}

/// Every line that is accessed is a hit, a miss or a bypass, whatever comes at once.
#[test]
fn brg_chc_24_p() {
    for class in [WindowClass::Mc, MN] {
        let mut bench = Bench::new(cached(class, DataCacheConfig { stream_blocks: 2, ..SMALL }));
        for (n, block) in traces()[3].iter().enumerate() {
            let address = BASE + 256 * (block % 50);
            let mut request = if n % 3 == 0 { write_full(address, 2, 1) } else { read(address, 64) };
            change(&mut request, |req| (req.src, req.tag) = (n as u16 % 4, n as u16));
            bench.ask(request);
            if n % 7 == 0 {
                bench.finish(n % 2 == 0);
            }
            if bench.bridge.open() > 40 {
                bench.finish(false);
            }
        }
        bench.finish(false);
        assert_eq!(bench.bridge.open(), 0);
        let counts = bench.bridge.cache_counts();
        let told = counts.hits.iter().sum::<u64>() + counts.misses.iter().sum::<u64>() + counts.bypasses;
        assert_eq!(told, bench.bridge.counts().children);
        assert!(counts.bypasses > 0 && counts.hits[0] > 0 && bench.bridge.counts().joined > 0, "{counts:?}");
    }
}

/// Lines of requests that are refused, and lines without an enabled byte, are no accesses.
#[test]
fn brg_chc_24_n() {
    let mut bench = Bench::new(cached(MN, SMALL));
    bench.whole(write_part(BASE, 0, 1));
    bench.whole(read(0, 16));
    bench.whole(read(BASE + 0xf8, 3));
    let counts = bench.bridge.cache_counts();
    assert_eq!((counts.hits, counts.misses, counts.bypasses, counts.saved), ([0; 3], [0; 3], 0, 0));
}
