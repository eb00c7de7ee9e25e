//! Choices of the link layer (`nvlink` §6.3, all \[D\]), and what an end has.

use scalepool_protocols::nvlink::{Generation, NvlConfig, Vc};

/// Choices of the link layer. `Default` is what the sheet uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkConfig {
    /// Choices of the codec.
    pub codec: NvlConfig,
    /// Flits that may be unacknowledged, at most 2048, half of the identifiers; more are not used (§6.3).
    pub window_flits: u16,
    /// Flit clocks without progress after which everything not acknowledged goes again: 2000 ns (§6.3) at 0.64 ns a flit
    /// (§4, generations 2 to 4).
    pub timeout_flits: u32,
    /// Identical acknowledgements that begin a replay (§6.3).
    pub equal_acks: u8,
    /// Times that REPLAY_INIT is sent (§6.3).
    pub replay_inits: u8,
    /// Replays without progress after which the link is down (§6.3).
    pub replay_tries: u8,
    /// Flit clocks that credits wait for a packet to go with; not in the sheet.
    pub carrier_flits: u32,
}

impl Default for LinkConfig {
    fn default() -> Self {
        LinkConfig {
            codec: NvlConfig::default(),
            window_flits: 2048,
            timeout_flits: 3125,
            equal_acks: 3,
            replay_inits: 3,
            replay_tries: 8,
            carrier_flits: 16,
        }
    }
}

/// Time without progress before a replay, in fs: 2000 ns (§6.3).
const TIMEOUT_FS: u64 = 2_000_000_000;

impl LinkConfig {
    /// The defaults with the time-out in flits of a generation.
    pub fn of(generation: &Generation) -> LinkConfig {
        LinkConfig { timeout_flits: (TIMEOUT_FS / generation.flit_fs()) as u32, ..LinkConfig::default() }
    }
}

/// Receive buffers of an end, by channel number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Buffers {
    /// Packets.
    pub headers: [u16; Vc::COUNT],
    /// Data flits.
    pub data_flits: [u16; Vc::COUNT],
}

impl Buffers {
    /// The same for each of the three channels that operations use by default; none for the others.
    pub fn of_default_channels(headers: u16, data_flits: u16) -> Buffers {
        let mut buffers = Buffers { headers: [0; Vc::COUNT], data_flits: [0; Vc::COUNT] };
        for vc in [Vc::CREQ0, Vc::CREQ1, Vc::RSP0] {
            buffers.headers[usize::from(vc.0)] = headers;
            buffers.data_flits[usize::from(vc.0)] = data_flits;
        }
        buffers
    }
}

impl Default for Buffers {
    /// 32 packets and 256 data flits a channel (`nvlink` §6.3).
    fn default() -> Self {
        Buffers::of_default_channels(32, 256)
    }
}
