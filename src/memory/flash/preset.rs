//! Presets of flash (`memory §9`).
//!
//! Modelled: the times and the shape of three typical devices. Left out: vendors; the figures are those of public simulators.
//!
//! A walk: a description names a preset; its page is the line of the buffer.

/// A device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlashPreset {
    /// Name in descriptions.
    pub key: &'static str,
    /// Time in which a die reads a page \[fs\].
    pub read_fs: u64,
    /// Time in which a die programs a page \[fs\].
    pub program_fs: u64,
    /// Time in which a die erases a block \[fs\].
    pub erase_fs: u64,
    /// Bytes of a page.
    pub page_bytes: u64,
    /// Channels; each carries one page at a time.
    pub channels: u64,
    /// Dies behind each channel.
    pub dies_per_channel: u64,
}

const US: u64 = 1_000_000_000;

/// All of them, in the order of [`KEYS`].
pub const PRESETS: &[FlashPreset] = &[
    // Low-latency flash: read 3 us, program 100 us, erase 1 ms (memory §9, MQ).
    FlashPreset {
        key: "flash_ull",
        read_fs: 3 * US,
        program_fs: 100 * US,
        erase_fs: 1000 * US,
        page_bytes: 4096,
        channels: 8,
        dies_per_channel: 8,
    },
    // Read 75 us, program 750 us, erase 3.8 ms, pages of 8 KiB (memory §9, MQ).
    FlashPreset {
        key: "flash_mlc",
        read_fs: 75 * US,
        program_fs: 750 * US,
        erase_fs: 3800 * US,
        page_bytes: 8192,
        channels: 8,
        dies_per_channel: 8,
    },
    // Read 25 us, program 200 us, erase 1.5 ms (memory §9, SSD).
    FlashPreset {
        key: "flash_slc",
        read_fs: 25 * US,
        program_fs: 200 * US,
        erase_fs: 1500 * US,
        page_bytes: 4096,
        channels: 8,
        dies_per_channel: 8,
    },
];

/// Names in descriptions.
pub const KEYS: &[&str] = &["flash_ull", "flash_mlc", "flash_slc"];

/// Bytes of the buffer in front of each preset: 64 MiB (memory §9).
pub const BUFFER_BYTES: u64 = 64 << 20;
/// Ways of that buffer (memory §9).
pub const BUFFER_WAYS: u64 = 16;
/// Time of a lookup in it: 50 ns (memory §9) \[fs\].
pub const LOOKUP_FS: u64 = 50_000_000;

/// By name.
pub fn find(key: &str) -> Option<&'static FlashPreset> {
    PRESETS.iter().find(|preset| preset.key == key)
}
