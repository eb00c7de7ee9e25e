//! Choices of the replay machine: what the sheet sets by default or marks \[D\].

/// Choices. `Default` is what the sheet uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplayConfig {
    /// Payload flits that the buffer holds; more than 255 are not used (§7).
    pub buffer_flits: u16,
    /// Rx_replay_limit: flits behind a request after which it is repeated, about two round trips (§7). \[D\] The count
    /// begins again then, so that a lost request is repeated as often as it takes; and an end that has left Up stays away as long.
    pub replay_limit_flits: u8,
    /// Flits behind the start of a replay in which another request is not heard (§7).
    pub ignore_flits: u8,
    /// DL flits of one FEC interleave group: 1, 2 or 4; copies of a request go in different groups (§7).
    pub fec_group_flits: u8,
    /// Flit times without progress after which the link leaves Up: 1 ms of 25 ns (§7).
    pub watchdog_flits: u32,
    /// \[D\] The windows as printed in 1.0 (`<= 256`) instead of the exact ones (§7).
    pub literal_1_0: bool,
}

impl Default for ReplayConfig {
    fn default() -> Self {
        ReplayConfig {
            buffer_flits: 255,
            replay_limit_flits: 50,
            ignore_flits: 12,
            fec_group_flits: 4,
            watchdog_flits: 40_000,
            literal_1_0: false,
        }
    }
}
