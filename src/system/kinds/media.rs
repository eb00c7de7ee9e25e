//! The table `media` of a component with memory: what stands behind its latency, see [`scalepool_memory::backend`].
//!
//! A table with a `preset` is DRAM or HBM, of which the preset gives organisation and timing (`memory §2`); its other fields
//! choose mapping, scheduler, refresh and queues (`memory §4`, `§5`). Or the preset is flash behind a buffer, memory with a latency and a
//! bandwidth, or non-volatile memory in banks (`memory §9`). DRAM with `buffer` is a memory box: its pages are kept in HBM, as
//! those of flash are in DRAM.

use crate::field::{FieldRange, config, defaults};
use crate::kind::{ConfigFinding, Site};
use crate::measured::ComponentMeasured;
use crate::metric::{MetricValue, metrics};
use crate::quantity::Unit;
use scalepool_kernel::Clock;
use scalepool_memory::LINE_BYTES;
use scalepool_memory::backend::{
    self, BanksConfig, BufferedMedia, DramMedia, InterleavedConfig, LineBufferConfig, MemoryTiming, ServerConfig,
};
use scalepool_memory::dram::channel::DramScheduling;
use scalepool_memory::dram::controller::{DramPagePolicy, DramRefresh};
use scalepool_memory::dram::preset::{self, DramOrganisation, DramPreset};
use scalepool_memory::dram::{DramConfig, DramMap};
use scalepool_memory::ecc::EccCounts;
use scalepool_memory::flash::FlashPreset;
use scalepool_memory::flash::preset as flash;
use scalepool_memory::owner_clock::OwnerClock;
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
        preset: Option<String> = "" [Unit::Of("-")] in FieldRange::Words(&PRESETS), "DRAM or HBM of this kind: a device with all its commands (memory §2); flash_*: flash behind a buffer; nvm_2400: non-volatile memory in banks; fixed: a latency and a bandwidth (memory §9); the fields below belong to it";
        latency: u64 = "60 ns" [Unit::Time] in FieldRange::Int(0, 1 << 50), "time until a request reaches the server, with preset = \"fixed\" (memory §9)";
        bandwidth: u64 = "64" [Unit::Of("GB/s")] in FieldRange::Int(1, 1 << 20), "bytes that the server passes on, with preset = \"fixed\" (memory §9)";
        buffer: Option<String> = "" [Unit::Of("-")] in FieldRange::Words(preset::KEYS), "DRAM or HBM in which pages are kept in front of the preset: with flash, left out, ddr4_3200aa (a choice); with DRAM, left out, none (memory §9)";
        buffer_size: u64 = "64 MiB" [Unit::Bytes] in FieldRange::Int(4096, 1 << 40), "bytes of the buffer, a multiple of its ways times the page (memory §9)";
        buffer_ways: u64 = "16" [Unit::Of("pages")] in FieldRange::Int(1, 64), "pages of a set of the buffer (memory §9)";
        page: Option<u64> = "" [Unit::Bytes] in FieldRange::OneOf(&[256, 512, 1024, 2048, 4096, 8192, 16384]), "bytes of a page of the buffer; left out, the page of the flash, in front of DRAM 4 KiB (memory §9)";
        lookup: u64 = "50 ns" [Unit::Time] in FieldRange::Int(0, 1 << 40), "time of a lookup in the buffer (memory §9)";
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

/// Presets that are no DRAM and no flash.
const OTHERS: [&str; 2] = ["nvm_2400", "fixed"];
const PRESETS: [&str; preset::KEYS.len() + flash::KEYS.len() + OTHERS.len()] = {
    let (mut all, mut n) = ([""; preset::KEYS.len() + flash::KEYS.len() + OTHERS.len()], 0);
    while n < all.len() {
        let (of_flash, of_others) =
            (n.wrapping_sub(preset::KEYS.len()), n.wrapping_sub(preset::KEYS.len() + flash::KEYS.len()));
        all[n] = if n < preset::KEYS.len() {
            preset::KEYS[n]
        } else if of_flash < flash::KEYS.len() {
            flash::KEYS[of_flash]
        } else {
            OTHERS[of_others]
        };
        n += 1;
    }
    all
};
/// DRAM in which pages of flash are kept, where the description names none (a choice).
const FLASH_BUFFER: &str = "ddr4_3200aa";
/// Page of a buffer in front of DRAM (a choice, that of flash).
const BOX_PAGE: u64 = 4096;
/// Pages that a request may wait for, one after the other, before a stall is suspected (a choice).
const FLASH_WAITING: u64 = 512;
/// nvm-2400: 16 banks with rows of 256 bytes, 150 ns for the array and 14.16 ns for an access, 500 ns for a write, 64 bits at
/// 2400 MT/s, so 64 bytes in 3.34 ns (memory §9).
const NVM_BANKS: u64 = 16;
const NVM_ROW_BYTES: u64 = 256;
const NVM_READ_FS: u64 = 150_000_000;
const NVM_ACCESS_FS: u64 = 14_160_000;
const NVM_WRITE_FS: u64 = 500_000_000;
const NVM_LINE_FS: u64 = 3_333_334;
/// Requests that a bank of it holds (a choice).
const NVM_QUEUE: usize = 8;

metrics! {
    /// What a memory with a buffer, flash or codes counts.
    pub static MEDIA_METRICS {
        BUFFER_HITS = "buffer hits" ["lines"] Sum, "requests whose page was in the buffer";
        BUFFER_MISSES = "buffer misses" ["pages"] Sum, "requests that asked the media for their page";
        BUFFER_JOINED = "buffer joined" ["lines"] Sum, "requests that waited for a page on its way";
        BUFFER_WRITTEN = "pages written behind" ["pages"] Sum, "dirty pages that left the buffer";
        PAGE_READS = "flash reads" ["pages"] Sum, "pages that dies have read";
        PROGRAMS = "flash programs" ["pages"] Sum, "pages that dies have programmed";
        ERASES = "flash erases" ["blocks"] Sum, "blocks that dies have erased";
        FLIPS = "bits flipped" ["bits"] Sum, "bits of cells that were flipped from outside";
        CORRECTED = "reads corrected" ["lines"] Sum, "lines that requests read and the code corrected";
        LOST = "lines lost" ["lines"] Sum, "lines that requests read and the code could not correct; they are poisoned";
        SCRUBBED = "lines scrubbed" ["lines"] Sum, "lines that the patrol has read";
        SCRUB_CORRECTED = "lines corrected by scrub" ["lines"] Sum, "lines that the patrol has corrected and written back";
        SCRUB_LOST = "lines lost to scrub" ["lines"] Sum, "lines that the patrol could not correct; they are poisoned";
    }
}

metrics! {
    /// What a memory with a DRAM preset counts.
    pub static DRAM_METRICS {
        ROW_HITS = "row hits" ["parts"] Sum, "parts of lines whose row was open and used before; a part is what a line has in one row: all of it, or one burst where the map or 32-byte bursts split it";
        ROW_MISSES = "row misses" ["parts"] Sum, "parts of lines that were the first in a row opened in a closed bank; a row that closes unused and is opened again counts once";
        ROW_CONFLICTS = "row conflicts" ["parts"] Sum, "parts of lines that were the first in a row for which another row was closed first";
        FORWARDED = "forwarded reads" ["parts"] Sum, "parts of reads that a queued write answered";
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
    /// The DRAM that the preset and the fields say; that of the buffer has its own channels.
    pub fn dram(&self) -> Option<DramConfig> {
        self.dram_of(self.preset.as_deref()?, self.channels)
    }

    /// The DRAM of the buffer, if there is one.
    fn buffer_dram(&self) -> Option<DramConfig> {
        let named = self.buffer.as_deref().or_else(|| self.flash().map(|_| FLASH_BUFFER));
        self.dram_of(named?, None)
    }

    /// The flash that the preset says.
    fn flash(&self) -> Option<&'static FlashPreset> {
        flash::find(self.preset.as_deref()?)
    }

    fn dram_of(&self, key: &str, channels: Option<u32>) -> Option<DramConfig> {
        let preset = preset::find(key)?;
        let preset = if self.hot { preset.hot() } else { *preset };
        let organisation = DramOrganisation {
            channels: channels.unwrap_or(preset.organisation.channels),
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

    /// Whether a run has commands of DRAM of it, which may be its buffer alone.
    pub fn has_commands(&self) -> bool {
        self.dram().is_some() || self.buffer_dram().is_some()
    }

    /// What is wrong with it in front of a memory of so many bytes.
    pub fn check(&self, size: u64) -> Vec<ConfigFinding> {
        let of_dram = |dram: &DramConfig, name: &str| -> Vec<ConfigFinding> {
            dram.check().into_iter().map(|(field, text)| ("media", format!("{name}{field}: {text}"))).collect()
        };
        let mut found = self.dram().map(|dram| of_dram(&dram, "")).unwrap_or_default();
        found.extend(self.without_use().map(|text| ("media", text)));
        if self.preset.is_some() && self.kind != "fixed" {
            found.push(("media", format!("found kind = \"{}\" with a preset, expected one of them", self.kind)));
        }
        if let Some(dram) = self.dram() {
            let capacity = dram.preset.organisation.capacity_bytes();
            if size > capacity {
                let DramOrganisation { channels, ranks, .. } = dram.preset.organisation;
                let of = format!("{channels} channels of {ranks} ranks of {}", dram.preset.key);
                found.push(("size", format!("found {size} bytes, expected at most {capacity}, which {of} hold")));
            }
        } else if self.buffer.is_some() && self.flash().is_none() {
            let text = "found a buffer without DRAM or flash behind it, expected a preset of one of these";
            found.push(("media", text.to_owned()));
        }
        let Some(buffer) = self.buffer_dram() else { return found };
        found.extend(of_dram(&buffer, "buffer: "));
        let capacity = buffer.preset.organisation.capacity_bytes();
        if self.buffer_size > capacity {
            let text = format!(
                "found buffer_size = {}, expected at most {capacity}, which {} holds",
                self.buffer_size, buffer.preset.key
            );
            found.push(("media", text));
        }
        let set = self.page_bytes() * self.buffer_ways;
        if !self.buffer_size.is_multiple_of(set) {
            let text = format!(
                "found buffer_size = {}, expected a multiple of {set}, a set of {} pages",
                self.buffer_size, self.buffer_ways
            );
            found.push(("media", text));
        }
        found
    }

    /// What is given and would change nothing, because what it belongs to is not.
    fn without_use(&self) -> impl Iterator<Item = String> {
        let of_preset = |name: &str| self.preset.as_deref() == Some(name);
        let any_dram = self.dram().is_some() || self.buffer_dram().is_some();
        let default: CxlMedia = defaults();
        // Whether these fields differ from their defaults, whether they are used, and with what.
        macro_rules! fields {
            ($($field:ident)*; $is_used:expr, $with:literal) => {
                [$((stringify!($field), self.$field != default.$field, $is_used, $with)),*]
            };
        }
        let all = [
            fields!(banks interleave busy queue; self.kind == "banks", "kind = \"banks\"").to_vec(),
            fields!(latency bandwidth; of_preset(OTHERS[1]), "preset = \"fixed\"").to_vec(),
            fields!(buffer_size buffer_ways page lookup; self.buffer_dram().is_some(), "flash or `buffer`").to_vec(),
            fields!(channels; self.dram().is_some(), "a preset of DRAM or HBM").to_vec(),
            fields!(ranks map row_xor refresh policy reads writes front back; any_dram, "a preset or a buffer of DRAM or HBM").to_vec(),
            fields!(map_bytes; any_dram && self.map == default.map, "a preset or a buffer of DRAM or HBM and map = \"sp1\"").to_vec(),
            fields!(hot; any_dram && self.refresh != DramRefresh::NAMES[2], "a preset or a buffer of DRAM or HBM that is refreshed").to_vec(),
        ];
        let ignored = all.into_iter().flatten().filter(|&(_, differs, is_used, _)| differs && !is_used);
        ignored.map(|(field, .., with)| format!("found `{field}`, expected it only with {with}"))
    }

    /// Whether pages are kept in front of DRAM, by a controller in front of all media.
    pub fn is_buffered_dram(&self) -> bool {
        self.flash().is_none() && self.buffer.is_some()
    }

    /// Bytes of a page of the buffer.
    pub fn page_bytes(&self) -> u64 {
        self.page.unwrap_or_else(|| self.flash().map_or(BOX_PAGE, |flash| flash.page_bytes))
    }

    /// Bits of a word that a die corrects by itself: 256 in HBM, else 128 (memory §6).
    pub fn die_word_bits(&self) -> usize {
        if self.preset.as_deref().is_some_and(|preset| preset.starts_with("hbm")) { 256 } else { 128 }
    }

    /// Longest time that it makes a request wait by itself \[fs\].
    pub fn own_wait_fs(&self) -> u64 {
        if let Some(flash) = self.flash() {
            // Each of the requests that a component queues at most may wait for a page and push another one out.
            return (flash.read_fs + flash.program_fs).saturating_mul(FLASH_WAITING).saturating_add(flash.erase_fs);
        }
        let Some(DramConfig { preset, scheduling, front_fs, back_fs, .. }) = self.dram() else {
            let named = match self.preset.as_deref() {
                Some("fixed") => self.latency,
                Some(_) => NVM_WRITE_FS * NVM_QUEUE as u64,
                None => self.busy,
            };
            return named.max(self.interval);
        };
        // Bound of memory §10, M6, with the size of the queues.
        let t = &preset.timing;
        let turn = u64::from(t.rc + t.cwl + t.bl + t.wtr_l);
        let queued = (scheduling.reads + scheduling.writes) as u64;
        let clocks = scheduling.age_limit_clocks + queued * turn + 5 * u64::from(t.rfc_all);
        (preset.fs(clocks) + front_fs + back_fs).max(self.interval)
    }
}

/// Media of one kind that share the addresses of a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SharedMedia {
    /// How many.
    pub count: usize,
    /// Bytes in a row at one of them.
    pub granule: u64,
}

impl SharedMedia {
    /// One alone.
    pub const ONE: SharedMedia = SharedMedia { count: 1, granule: LINE_BYTES };
}

/// When a memory with these settings answers, on the clock of the site. `has_code`: a write of a part of a line reads it first.
///
/// # Errors
/// What is wrong with the settings, see [`CxlMedia::check`].
pub fn timing(
    latency_cycles: u64,
    in_flight: usize,
    (media, shared): (Option<&CxlMedia>, SharedMedia),
    has_code: bool,
    site: &Site<'_>,
) -> Result<MemoryTiming, String> {
    let fixed = MemoryTiming { in_flight, ..MemoryTiming::fixed(latency_cycles) };
    let Some(media) = media else { return Ok(fixed) };
    let is_nvm = media.preset.as_deref() == Some(OTHERS[0]);
    let own_fs = if is_nvm { NVM_ACCESS_FS } else { 0 };
    let interval_fs = if is_nvm { media.interval.max(NVM_LINE_FS) } else { media.interval };
    Ok(MemoryTiming {
        latency_cycles: latency_cycles + cycles(own_fs, site.clock),
        interval_cycles: cycles(interval_fs, site.clock),
        media: media.behind(shared, has_code, site)?,
        ..fixed
    })
}

impl CxlMedia {
    /// What stands behind the latency.
    fn behind(&self, shared: SharedMedia, has_code: bool, site: &Site<'_>) -> Result<backend::Media, String> {
        let clock = OwnerClock::new(site.clock.period());
        let dram = |dram: DramConfig| {
            let dram = DramConfig { reads_before_partial_writes: has_code, ..dram };
            let checked = DramMedia::new(dram, site.clock.period(), site.keeps_dram_commands);
            checked.map(Box::new).map_err(|(field, text)| format!("media.{field}: {text}"))
        };
        let memory = match (self.dram(), self.preset.as_deref()) {
            (Some(of_preset), _) => backend::Media::Dram(dram(of_preset)?),
            (None, Some("fixed")) => {
                // A GB/s is a byte in a nanosecond.
                let byte_time = (1_000_000, self.bandwidth);
                backend::Media::Server(ServerConfig { latency_fs: self.latency, byte_time, clock })
            }
            (None, Some("nvm_2400")) => backend::Media::Banks(BanksConfig {
                banks: NVM_BANKS,
                interleave_bytes: NVM_ROW_BYTES,
                busy_cycles: cycles(NVM_READ_FS, site.clock),
                write_busy_cycles: cycles(NVM_WRITE_FS, site.clock),
                queue: NVM_QUEUE,
            }),
            _ if self.kind == "banks" => backend::Media::Banks(BanksConfig {
                banks: self.banks,
                interleave_bytes: self.interleave,
                busy_cycles: cycles(self.busy, site.clock),
                write_busy_cycles: cycles(self.busy, site.clock),
                queue: self.queue,
            }),
            _ => backend::Media::Fixed,
        };
        // Media of flash have a controller with a buffer each; DRAM has one in front of all.
        let several = |each: backend::Media| match shared {
            SharedMedia { count: 1, .. } => each,
            SharedMedia { count: media, granule } => {
                backend::Media::Interleaved(Box::new(InterleavedConfig { media, granule, each }))
            }
        };
        let Some(buffer) = self.buffer_dram() else { return Ok(several(memory)) };
        let buffered = |behind| -> Result<backend::Media, String> {
            Ok(backend::Media::Buffered(Box::new(LineBufferConfig {
                bytes: self.buffer_size,
                page_bytes: self.page_bytes(),
                ways: self.buffer_ways,
                lookup_fs: self.lookup,
                memory: backend::Media::Dram(dram(buffer)?),
                behind,
                clock,
            })))
        };
        match self.flash() {
            Some(flash) => Ok(several(buffered(BufferedMedia::Flash(*flash))?)),
            None => buffered(BufferedMedia::Memory(several(memory))),
        }
    }
}

/// Figures of a memory; with commands of its DRAMs, if they are kept.
pub fn measured(result: MemoryResult, is_kept: bool) -> ComponentMeasured {
    let mut counts = result.dram.as_ref().map(dram_counts).unwrap_or_default();
    if let Some((buffer, flash)) = result.buffer {
        counts.extend([
            (&BUFFER_HITS, buffer.hits),
            (&BUFFER_MISSES, buffer.misses),
            (&BUFFER_JOINED, buffer.joined),
            (&BUFFER_WRITTEN, buffer.written),
            (&PAGE_READS, flash.reads),
            (&PROGRAMS, flash.programs),
            (&ERASES, flash.erases),
        ]);
    }
    let EccCounts { flips, corrected, lost, scrubbed, scrub_corrected, scrub_lost } = result.ecc;
    if flips + scrubbed + corrected + lost > 0 {
        counts.extend([
            (&FLIPS, flips),
            (&CORRECTED, corrected),
            (&LOST, lost),
            (&SCRUBBED, scrubbed),
            (&SCRUB_CORRECTED, scrub_corrected),
            (&SCRUB_LOST, scrub_lost),
        ]);
    }
    let dram_commands = is_kept.then_some(result.commands);
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
