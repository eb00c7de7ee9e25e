//! The table `media` of a component with memory: what stands behind its latency, see [`scalepool_memory::backend`].
//!
//! A table with a `preset` is DRAM or HBM, of which the preset gives organisation and timing (`memory §2`); its other fields
//! choose mapping, scheduler, refresh and queues (`memory §4`, `§5`).

use crate::field::{FieldRange, config};
use crate::kind::{ConfigFinding, Site};
use crate::measured::ComponentMeasured;
use crate::metric::{MetricValue, metrics};
use crate::quantity::Unit;
use scalepool_kernel::Clock;
use scalepool_memory::backend::{self, BanksConfig, DramMedia, MemoryTiming};
use scalepool_memory::dram::channel::DramScheduling;
use scalepool_memory::dram::controller::{DramPagePolicy, DramRefresh};
use scalepool_memory::dram::preset::{self, DramOrganisation, DramPreset};
use scalepool_memory::dram::{DramConfig, DramMap};
use scalepool_nodes::cxl::memory::{DramFigures, MemoryResult};

config! {
    /// Media. Numbers without another source are of the model (basis: model).
    pub struct CxlMedia {
        kind: String = "fixed" [Unit::Of("-")] in FieldRange::Words(&["fixed", "banks"]), "fixed: the latency is all; banks: interleaved banks, each of which does one request at a time; left out with `preset`";
        interval: u64 = "0" [Unit::Time] in FieldRange::Int(0, 1 << 40), "least time from one request to the next, rounded up to clock cycles; 0 = none (a choice)";
        banks: u64 = "16" [Unit::Of("banks")] in FieldRange::Int(1, 4096), "number of banks, with kind = \"banks\" (a choice)";
        interleave: u64 = "64" [Unit::Bytes] in FieldRange::OneOf(&[64, 128, 256, 512, 1024, 2048, 4096]), "bytes in a row in one bank before the next one follows, with kind = \"banks\" (a choice)";
        busy: u64 = "48 ns" [Unit::Time] in FieldRange::Int(1, 1 << 40), "time that a bank is busy with a request, rounded up to clock cycles; a write of a part of a line takes it twice; with kind = \"banks\" (a choice: about tRC of memory §2.2)";
        queue: usize = "8" [Unit::Of("requests")] in FieldRange::Int(1, 1 << 16), "requests that a bank holds, with the one that it does, before its next one holds up all that come; with kind = \"banks\" (a choice)";
        preset: Option<String> = "" [Unit::Of("-")] in FieldRange::Words(preset::KEYS), "DRAM or HBM of this kind: a device with all its commands (memory §2); the fields below belong to it";
        channels: Option<u32> = "" [Unit::Of("channels")] in FieldRange::Int(1, 1024), "channels; left out, those of one module, package or stack (memory §2.1)";
        ranks: u32 = "1" [Unit::Of("ranks")] in FieldRange::Int(1, 8), "ranks of a channel; 1 for HBM (memory §2.1)";
        map: String = "sp1" [Unit::Of("-")] in FieldRange::Words(DramMap::NAMES), "order of the fields of an address, most significant first (memory §5)";
        map_bytes: u32 = "256" [Unit::Bytes] in FieldRange::OneOf(&[32, 64, 128, 256, 512, 1024, 2048, 4096, 8192]), "bytes in one row before the next channel follows, with map = \"sp1\" (memory §5)";
        row_xor: bool = "off" [Unit::Of("-")] in FieldRange::Switch, "bank group and bank are XORed with the low bits of the row (memory §5)";
        refresh: String = "all" [Unit::Of("-")] in FieldRange::Words(DramRefresh::NAMES), "refreshes: of all banks of a rank at once, of one bank after the other, or none (memory §4)";
        hot: bool = "off" [Unit::Of("-")] in FieldRange::Switch, "above 85 degrees Celsius: refreshes come twice as often (memory §2.3)";
        policy: String = "open" [Unit::Of("-")] in FieldRange::Words(DramPagePolicy::NAMES), "rows close 200 clocks after their last use, with each line, or when no queued request hits them (memory §4)";
        reads: usize = "64" [Unit::Of("requests")] in FieldRange::Int(1, 4096), "reads that a channel queues (memory §4)";
        writes: usize = "64" [Unit::Of("requests")] in FieldRange::Int(1, 4096), "writes that a channel queues; they drain from three quarters down to one (memory §4)";
        front: u64 = "10 ns" [Unit::Time] in FieldRange::Int(0, 1 << 40), "latency of the memory controller before a request is scheduled (memory §4)";
        back: u64 = "10 ns" [Unit::Time] in FieldRange::Int(0, 1 << 40), "latency of the memory controller after the last data (memory §4)";
    }
}

metrics! {
    /// What a memory with a DRAM preset counts.
    pub static DRAM_METRICS {
        ROW_HITS = "row hits" ["lines"] Sum, "lines whose row was open";
        ROW_MISSES = "row misses" ["lines"] Sum, "lines for which a closed bank was opened";
        ROW_CONFLICTS = "row conflicts" ["lines"] Sum, "lines for which another row was closed first";
        FORWARDED = "forwarded reads" ["lines"] Sum, "reads that a queued write answered";
        REFRESHES = "refreshes" ["commands"] Sum, "refreshes of a rank, of a pseudo-channel or of a bank";
        TURNAROUNDS = "turnarounds" ["turns"] Sum, "turns of the channels between reads and writes";
        DRAM_BYTES = "media bytes" ["bytes"] Sum, "bytes on the data buses of the memory";
        DRAM_BANDWIDTH = "media bandwidth" ["MB/s"] Sum, "bytes on the data buses by the time of the last of them";
    }
}

/// Cycles that cover a time.
fn cycles(fs: u64, clock: Clock) -> u64 {
    let (num, den) = clock.period();
    (u128::from(fs) * u128::from(den)).div_ceil(u128::from(num)) as u64
}

impl CxlMedia {
    /// The DRAM that a preset and the fields say.
    fn dram(&self) -> Option<DramConfig> {
        let preset = preset::find(self.preset.as_deref()?)?;
        let preset = if self.hot { preset.hot() } else { *preset };
        let organisation = DramOrganisation {
            channels: self.channels.unwrap_or(preset.organisation.channels),
            ranks: self.ranks,
            ..preset.organisation
        };
        let scheduling = DramScheduling {
            reads: self.reads,
            writes: self.writes,
            policy: DramPagePolicy::find(&self.policy).unwrap_or_default(),
            ..DramScheduling::default()
        };
        let preset = DramPreset { organisation, ..preset };
        Some(DramConfig {
            map: DramMap::find(&self.map).unwrap_or(DramMap::Sp1),
            interleave_bytes: self.map_bytes,
            row_xor: self.row_xor,
            refresh: DramRefresh::find(&self.refresh).unwrap_or_default(),
            scheduling,
            front_fs: self.front,
            back_fs: self.back,
            ..DramConfig::new(&preset)
        })
    }

    /// Organisation and timing of the DRAM, if it is that.
    pub fn preset(&self) -> Option<DramPreset> {
        self.dram().map(|dram| dram.preset)
    }

    /// What is wrong with it in front of a memory of so many bytes.
    pub fn check(&self, size: u64) -> Vec<ConfigFinding> {
        let Some(dram) = self.dram() else { return Vec::new() };
        let mut found: Vec<ConfigFinding> =
            dram.check().into_iter().map(|(field, text)| ("media", format!("{field}: {text}"))).collect();
        if self.kind != "fixed" {
            found.push(("media", format!("found kind = \"{}\" with a preset, expected one of them", self.kind)));
        }
        let capacity = dram.preset.organisation.capacity_bytes();
        if size > capacity {
            let DramOrganisation { channels, ranks, .. } = dram.preset.organisation;
            let of = format!("{channels} channels of {ranks} ranks of {}", dram.preset.key);
            found.push(("size", format!("found {size} bytes, expected at most {capacity}, which {of} hold")));
        }
        found
    }

    /// Longest time that it makes a request wait by itself \[fs\].
    pub fn own_wait_fs(&self) -> u64 {
        let Some(DramConfig { preset, scheduling, front_fs, back_fs, .. }) = self.dram() else {
            return self.busy.max(self.interval);
        };
        // Bound of memory §10, M6, with the size of the queues.
        let t = &preset.timing;
        let turn = u64::from(t.rc + t.cwl + t.bl + t.wtr_l);
        let queued = (scheduling.reads + scheduling.writes) as u64;
        let clocks = scheduling.age_limit_clocks + queued * turn + 5 * u64::from(t.rfc_all);
        (preset.fs(clocks) + front_fs + back_fs).max(self.interval)
    }
}

/// When a memory with these settings answers, on the clock of the site.
///
/// # Errors
/// What is wrong with the settings, see [`CxlMedia::check`].
pub fn timing(
    latency_cycles: u64,
    in_flight: usize,
    media: Option<&CxlMedia>,
    site: &Site<'_>,
) -> Result<MemoryTiming, String> {
    let clock = site.clock;
    let fixed = MemoryTiming { in_flight, ..MemoryTiming::fixed(latency_cycles) };
    let Some(media) = media else { return Ok(fixed) };
    let banks = || BanksConfig {
        banks: media.banks,
        interleave_bytes: media.interleave,
        busy_cycles: cycles(media.busy, clock),
        queue: media.queue,
    };
    let behind = match media.dram() {
        Some(dram) => {
            let checked = DramMedia::new(dram, clock.period(), site.keeps_dram_commands);
            backend::Media::Dram(Box::new(checked.map_err(|(field, text)| format!("media.{field}: {text}"))?))
        }
        None if media.kind == "banks" => backend::Media::Banks(banks()),
        None => backend::Media::Fixed,
    };
    Ok(MemoryTiming { interval_cycles: cycles(media.interval, clock), media: behind, ..fixed })
}

/// Figures of a memory; of one with this preset all commands.
pub fn measured(result: MemoryResult, kept: Option<DramPreset>) -> ComponentMeasured {
    let counts = result.dram.as_ref().map(dram_counts).unwrap_or_default();
    let dram_commands = kept.map(|preset| (preset, result.commands));
    ComponentMeasured { counts, broken: result.broken, dram_commands, ..ComponentMeasured::default() }
}

/// Figures of a DRAM.
pub fn dram_counts(figures: &DramFigures) -> Vec<MetricValue> {
    let DramFigures { counts, bytes, last_data_fs } = figures;
    // Bytes a femtosecond are 10^9 MB/s.
    let mb_per_s = u128::from(*bytes) * 1_000_000_000 / u128::from((*last_data_fs).max(1));
    vec![
        (&ROW_HITS, counts.hits),
        (&ROW_MISSES, counts.misses),
        (&ROW_CONFLICTS, counts.conflicts),
        (&FORWARDED, counts.forwarded),
        (&REFRESHES, counts.refreshes),
        (&TURNAROUNDS, counts.turnarounds),
        (&DRAM_BYTES, *bytes),
        (&DRAM_BANDWIDTH, u64::try_from(mb_per_s).unwrap_or(u64::MAX)),
    ]
}
