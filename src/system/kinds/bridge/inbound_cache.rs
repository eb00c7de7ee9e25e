//! The table `inbound_cache` of a bridge: lines in front of the memory of accelerators, see [`scalepool_bridge::inbound::cached`].
//!
//! Modelled: its shape, who leaves a full set, one latency. A walk through one description: the shape is judged, and with it that a window
//! leads by the cache and that an access of it takes less than the time after which transactions are given up.

use crate::field::{FieldRange, config};
use crate::kind::ConfigFinding;
use crate::metric::{MetricValue, metrics};
use crate::quantity::Unit;
use scalepool_bridge::cache::data::DataCache;
use scalepool_bridge::cache::policy::EvictionPolicy;
use scalepool_bridge::cache::{BLOCK_BYTES, DataCacheConfig, MOST_WAYS, StorePolicy};
use scalepool_bridge::inbound::cached::InboundCacheCounts;

config! {
    /// The cache in front of the memory of accelerators.
    pub struct InboundCacheFields {
        capacity: u64 = "64 MiB" [Unit::Bytes] in FieldRange::Int(64, 1 << 40), "bytes of lines, a multiple of ways times block (bridge §9.1)";
        ways: usize = "16" [Unit::Of("blocks")] in FieldRange::Int(1, MOST_WAYS as u64), "blocks of a set (bridge §9.1)";
        block: u64 = "256 B" [Unit::Bytes] in FieldRange::OneOf(&BLOCK_BYTES), "bytes of a block; each of its lines of 64 bytes is there or not by itself (bridge §9.1)";
        policy: String = "lru" [Unit::Of("-")] in FieldRange::Words(EvictionPolicy::NAMES), "which block a full set replaces: lru, the least recently used; srrip, by 2 bits of re-reference prediction; lfu, the least frequently used, with counts halved every 65,536 lookups (bridge §9.1)";
        latency_cycles: u64 = "37" [Unit::Of("cycles")] in FieldRange::Int(1, 1 << 30), "latency of an access to 64 bytes, that of an open row of HBM3-6400 (bridge §11)";
    }
}

metrics! {
    /// What the cache counts.
    pub static INBOUND_CACHE_METRICS {
        READ_HITS = "inbound cache read hits" ["lines"] Sum, "lines read that were in the cache in front of accelerators";
        WRITE_HITS = "inbound cache write hits" ["lines"] Sum, "lines written that were in the cache in front of accelerators";
        READ_MISSES = "inbound cache read misses" ["lines"] Sum, "lines read that entered the cache in front of accelerators";
        WRITE_MISSES = "inbound cache write misses" ["lines"] Sum, "lines written that entered the cache in front of accelerators";
        BYPASSES = "inbound cache bypasses" ["lines"] Sum, "lines that passed by the cache in front of accelerators: every block of their set was in use, or a part was written of a line whose bytes were lost";
        WRITE_BACKS = "inbound write-backs" ["lines"] Sum, "dirty lines that left the cache in front of accelerators for their memory, among the accesses";
        LOST_WRITE_BACKS = "inbound write-backs lost" ["lines"] Sum, "those of them that an accelerator has not done, or not in time; their lines read as poison, and they are among the writes lost";
    }
}

/// The figures of a cache.
pub fn measured(counts: &InboundCacheCounts) -> Vec<MetricValue> {
    let InboundCacheCounts { hits: [read_hits, write_hits], misses: [read_misses, write_misses], .. } = *counts;
    vec![
        (&READ_HITS, read_hits),
        (&WRITE_HITS, write_hits),
        (&READ_MISSES, read_misses),
        (&WRITE_MISSES, write_misses),
        (&BYPASSES, counts.bypasses),
        (&WRITE_BACKS, counts.write_backs),
        (&LOST_WRITE_BACKS, counts.lost_write_backs),
    ]
}

impl InboundCacheFields {
    /// The cache, empty.
    ///
    /// # Errors
    /// A shape that cannot be.
    pub fn data(&self) -> Result<DataCache, String> {
        let config = DataCacheConfig {
            capacity_bytes: self.capacity,
            ways: self.ways,
            block_bytes: self.block,
            policy: EvictionPolicy::find(&self.policy).unwrap_or(EvictionPolicy::Lru),
            stores: StorePolicy::Back,
            stream_blocks: 0,
            tags_in_hbm: false,
        };
        DataCache::new(config).map_err(|error| error.to_string())
    }

    /// What is wrong with it, in front of windows of which some lead by it or none.
    pub fn check(&self, is_used: bool) -> Vec<ConfigFinding> {
        let shape = self.data().err();
        let unused =
            || "found no window of class NH or DB, expected one: nothing else is kept in front of accelerators";
        let unused = (!is_used).then(|| unused().to_owned());
        shape.into_iter().chain(unused).map(|text| ("inbound_cache", text)).collect()
    }
}
