//! The table `cache` of a bridge: its conversion cache, see [`scalepool_bridge::cache`].
//!
//! Modelled: the settings of the sheet (`bridge` §9.1, §9.2, §9.7) and the memory in which the lines lie. A walk through one description: the
//! mode says what is kept, the shape is judged, the memory is made for the clock of the bridge.

use crate::field::{FieldRange, config};
use crate::kind::{ConfigFinding, Site};
use crate::kinds::media::{CxlMedia, SharedMedia, timing};
use crate::metric::{MetricValue, metrics};
use crate::quantity::Unit;
use scalepool_bridge::cache::cells::CacheEccConfig;
use scalepool_bridge::cache::data::DataCache;
use scalepool_bridge::cache::policy::EvictionPolicy;
use scalepool_bridge::cache::templates::TemplateConfig;
use scalepool_bridge::cache::{BLOCK_BYTES, ConversionCacheCounts, DataCacheConfig, MOST_WAYS, StorePolicy};
use scalepool_kernel::Rng;
use scalepool_memory::backend::MemoryTiming;
use scalepool_memory::ecc::EccScheme;

/// Cycles of an access without `media`: two bursts of one open row of HBM3-6400 and its controller, 36.25 ns (bridge §11).
const ACCESS_CYCLES: u64 = 37;
/// Accesses that the memory takes at once without a preset: as many as there may be lines under way, and write backs.
const MOST_ACCESSES: usize = 1 << 16;

config! {
    /// The conversion cache of a bridge.
    pub struct BridgeCacheFields {
        mode: String = "data" [Unit::Of("-")] in FieldRange::Words(&["off", "data", "template", "both"]), "data: lines are kept; template: conversions are; both (bridge §9.1)";
        capacity: u64 = "1 GiB" [Unit::Bytes] in FieldRange::Int(64, 1 << 40), "bytes of lines, a multiple of ways times block (bridge §9.1)";
        ways: usize = "16" [Unit::Of("blocks")] in FieldRange::Int(1, MOST_WAYS as u64), "blocks of a set (bridge §9.1)";
        block: u64 = "256 B" [Unit::Bytes] in FieldRange::OneOf(&BLOCK_BYTES), "bytes of a block; each of its sectors of 64 bytes has a state of its own (bridge §9.1)";
        policy: String = "lru" [Unit::Of("-")] in FieldRange::Words(EvictionPolicy::NAMES), "which block a full set replaces: lru, the least recently used; srrip, by 2 bits of re-reference prediction; lfu, the least frequently used, with counts halved every 65,536 lookups (bridge §9.1)";
        write: String = "back" [Unit::Of("-")] in FieldRange::Words(&["back", "through"]), "back: stores stay until their block leaves or somebody asks for it; through: they go to memory as well, behind the response (bridge §9.1, §9.4)";
        stream_blocks: u64 = "8" [Unit::Of("blocks")] in FieldRange::Int(0, 1 << 20), "consecutive ascending blocks of one source that enter the cache, further blocks of the stream bypass it; 0 = streams are not detected (bridge §9.2)";
        tag_store: String = "sram" [Unit::Of("-")] in FieldRange::Words(&["sram", "hbm"]), "hbm: the tags of a set are read from the memory before its data (bridge §9.1)";
        latency_cycles: Option<u64> = "" [Unit::Of("cycles")] in FieldRange::Int(1, 1 << 30), "latency of an access to 64 bytes; left out, 37 without `media`, and that of `media` alone with it (bridge §11)";
        media: Option<CxlMedia> = "" [Unit::Of("-")] in FieldRange::Table(CxlMedia::fields), "memory in which the cache lies, as with preset = \"hbm3_6400\"; left out, the latency is all (bridge §9.1)";
        ecc: String = "none" [Unit::Of("-")] in FieldRange::Words(&["none", "secded"]), "code of the memory in which the lines lie, and of tags that lie there: secded corrects a bit of 64; a clean sector that it cannot correct is asked for again, a dirty one is poison, and with tags that it cannot correct the CXL ports of the bridge go viral (bridge §9.1, memory §6.1)";
        upset_every: u64 = "0" [Unit::Of("reads")] in FieldRange::Int(0, 1 << 40), "bits of what is read flip once in so many reads of this memory; 0 = never";
        upset_bits: usize = "1" [Unit::Of("bits")] in FieldRange::Int(1, 64), "different bits that flip then";
        templates: usize = "65_536" [Unit::Of("conversions")] in FieldRange::Int(1, 1 << 24), "conversions that are kept, a multiple of template_ways (bridge §9.7)";
        template_cycles: u64 = "2" [Unit::Of("cycles")] in FieldRange::Int(0, 1 << 20), "latency of finding a kept conversion, in place of the lookup and conversion stages (bridge §11)";
        template_ways: usize = "8" [Unit::Of("conversions")] in FieldRange::Int(1, 64), "conversions of a set (bridge §9.7)";
    }
}

metrics! {
    /// What a conversion cache counts (bridge §9.10).
    pub static CACHE_METRICS {
        READ_HITS = "cache read hits" ["lines"] Sum, "lines read that were in the conversion cache, joined reads of them included";
        WRITE_HITS = "cache write hits" ["lines"] Sum, "lines written whose sector was in the conversion cache";
        ATOMIC_HITS = "cache atomic hits" ["lines"] Sum, "atomics whose sector was in the conversion cache";
        READ_MISSES = "cache read misses" ["lines"] Sum, "lines read that entered the conversion cache";
        WRITE_MISSES = "cache write misses" ["lines"] Sum, "lines written that entered the conversion cache";
        ATOMIC_MISSES = "cache atomic misses" ["lines"] Sum, "atomics whose line entered the conversion cache";
        BYPASSES = "cache bypasses" ["lines"] Sum, "lines that passed by the conversion cache: those of streams, and all of class IO";
        UPGRADES = "cache upgrades" ["lines"] Sum, "hits of stores on sectors that had to be owned first";
        TEMPLATE_HITS = "template hits" ["requests"] Sum, "requests whose conversion was kept";
        TEMPLATE_MISSES = "template misses" ["requests"] Sum, "requests whose conversion was looked for and not found";
        SAVED = "conversions saved" ["requests"] Sum, "requests that were answered without a conversion: by lines in the cache alone, or by a kept conversion";
        EVICTED_CLEAN = "clean evictions" ["lines"] Sum, "sectors that left the conversion cache without data";
        EVICTED_DIRTY = "dirty evictions" ["lines"] Sum, "sectors that left the conversion cache with their data, by MemWr or DirtyEvict";
        THROUGH = "lines written through" ["lines"] Sum, "stores to the conversion cache that went to memory as well";
        FLUSHED = "lines flushed" ["lines"] Sum, "lines of the conversion cache that software had written to memory";
        SNOOP_HITS = "snoop hits" ["snoops"] Sum, "snoops of devices and hosts of lines in the conversion cache";
        CORRECTED = "cache errors corrected" ["reads"] Sum, "reads of the memory of the conversion cache whose error was corrected";
        REFETCHED = "sectors refetched" ["lines"] Sum, "clean sectors that errors of the memory of the conversion cache have destroyed, asked for again";
        LOST_DIRTY = "dirty sectors lost" ["lines"] Sum, "dirty sectors that errors of the memory of the conversion cache have destroyed, which are poison";
        LOST_TAGS = "tags lost" ["reads"] Sum, "reads of tags in the memory of the conversion cache that could not be corrected: the bridge goes viral";
        ACCESSES = "cache accesses" ["accesses"] Sum, "accesses of 64 bytes to the memory of the conversion cache";
    }
}

/// The figures of a cache.
pub fn measured(counts: &ConversionCacheCounts) -> Vec<MetricValue> {
    let [read_hits, write_hits, atomic_hits] = counts.hits;
    let [read_misses, write_misses, atomic_misses] = counts.misses;
    vec![
        (&READ_HITS, read_hits),
        (&WRITE_HITS, write_hits),
        (&ATOMIC_HITS, atomic_hits),
        (&READ_MISSES, read_misses),
        (&WRITE_MISSES, write_misses),
        (&ATOMIC_MISSES, atomic_misses),
        (&BYPASSES, counts.bypasses),
        (&UPGRADES, counts.upgrades),
        (&TEMPLATE_HITS, counts.template_hits),
        (&TEMPLATE_MISSES, counts.template_misses),
        (&SAVED, counts.saved),
        (&EVICTED_CLEAN, counts.evicted_clean),
        (&EVICTED_DIRTY, counts.evicted_dirty),
        (&THROUGH, counts.written_through),
        (&FLUSHED, counts.flushed),
        (&SNOOP_HITS, counts.snoop_hits),
        (&CORRECTED, counts.corrected),
        (&REFETCHED, counts.refetched),
        (&LOST_DIRTY, counts.lost_dirty),
        (&LOST_TAGS, counts.lost_tags),
        (&ACCESSES, counts.hbm_accesses),
    ]
}

impl BridgeCacheFields {
    /// Whether it keeps lines of memory, and not only conversions.
    pub fn keeps_lines(&self) -> bool {
        matches!(self.mode.as_str(), "data" | "both")
    }

    fn data_config(&self) -> DataCacheConfig {
        DataCacheConfig {
            capacity_bytes: self.capacity,
            ways: self.ways,
            block_bytes: self.block,
            policy: EvictionPolicy::find(&self.policy).unwrap_or(EvictionPolicy::Lru),
            stores: if self.write == "through" { StorePolicy::Through } else { StorePolicy::Back },
            stream_blocks: self.stream_blocks,
            tags_in_hbm: self.tag_store == "hbm",
        }
    }

    /// The cache of lines, empty, if there is one. Its shape is judged in every mode, so that another mode finds it sound.
    ///
    /// # Errors
    /// A shape that cannot be.
    pub fn data(&self) -> Result<Option<DataCache>, String> {
        let data = DataCache::new(self.data_config()).map_err(|error| error.to_string())?;
        Ok(self.keeps_lines().then_some(data))
    }

    /// Errors of the memory in which the lines lie, if there are any, or registers can bring some.
    pub fn ecc(&self, site: &Site<'_>, has_registers: bool) -> Option<CacheEccConfig> {
        let scheme = EccScheme::find(&self.ecc).unwrap_or_default();
        let &BridgeCacheFields { upset_every, upset_bits, .. } = self;
        let seed = Rng::for_name(site.seed, site.path).next_u64();
        (self.keeps_lines() && (upset_every > 0 || has_registers)).then_some(CacheEccConfig {
            scheme,
            upset_every,
            upset_bits,
            seed,
        })
    }

    /// The cache of conversions, if there is one.
    pub fn templates(&self) -> Option<TemplateConfig> {
        let is_kept = matches!(self.mode.as_str(), "template" | "both");
        is_kept.then_some(TemplateConfig { entries: self.templates, ways: self.template_ways })
    }

    /// The memory in which the lines lie.
    ///
    /// # Errors
    /// What is wrong with its settings.
    pub fn memory(&self, site: &Site<'_>) -> Result<Option<MemoryTiming>, String> {
        let latency = self.latency_cycles.unwrap_or(if self.media.is_some() { 0 } else { ACCESS_CYCLES });
        self.keeps_lines()
            .then(|| timing(latency, MOST_ACCESSES, (self.media.as_ref(), SharedMedia::ONE), false, site))
            .transpose()
    }

    /// What is wrong with it.
    pub fn check(&self) -> Vec<ConfigFinding> {
        let shape = self.data().err().map(|text| ("cache", text));
        let is_whole = self.templates.is_multiple_of(self.template_ways);
        let text = || {
            let text =
                format!("found {} templates, expected a multiple of template_ways (bridge §9.7)", self.templates);
            ("cache", text)
        };
        let is_timed = self.latency_cycles.is_some()
            || self.media.as_ref().is_none_or(|media| media.dram().is_some() || media.kind == "banks");
        let untimed = || ("cache", "found media without a time, expected a preset, banks or latency_cycles".to_owned());
        let media = self.media.iter().flat_map(|media| media.check(self.data_config().hbm_bytes()));
        let media = media.map(|(_, text)| ("cache", text));
        let no_upsets = self.upset_every == 0 && self.upset_bits != 1;
        let ignored = || ("cache", "found `upset_bits`, expected it only with `upset_every`".to_owned());
        let own = (!is_whole).then(text).into_iter().chain((!is_timed).then(untimed)).chain(no_upsets.then(ignored));
        shape.into_iter().chain(own).chain(media).collect()
    }
}
