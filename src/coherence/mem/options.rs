//! The choices of the sheet that concern CXL.mem, a part of [`CoherenceConfig`](crate::config::CoherenceConfig).

use crate::content::LineAddr;
use serde::{Deserialize, Serialize};

/// What a host keeps of a line that it could keep (`coherence` §3.4, all legal).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Keep {
    /// As much as the snoop allows: S under BISnpData, E under BISnpCur.
    #[default]
    Most,
    /// At most S.
    Shared,
    /// Nothing.
    Nothing,
}

/// How a host answers a block snoop (`coherence` §3.4, all legal).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BlockAnswer {
    /// One answer a line, each as soon as its line is resolved.
    #[default]
    Lines,
    /// One answer for the block when all lines are resolved; it names the strongest state left.
    Whole,
    /// One answer for the block if all lines are left in one state, otherwise one a line, when all are resolved.
    WholeIfEqual,
}

/// When the device lets requests to an answered line of an open block go on (`coherence` §3.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BlockRelease {
    /// With the whole block.
    #[default]
    Together,
    /// Line by line.
    Early,
}

/// Bytes that no range of the device holds.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct NoRange {
    /// First byte address.
    pub first: u64,
    /// Last byte address.
    pub last: u64,
}

/// The choices of CXL.mem.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct MemConfig {
    /// What a host keeps under BISnpData and BISnpCur.
    pub host_keeps: Keep,
    /// How a host answers a block snoop.
    pub block_answer: BlockAnswer,
    /// When the device releases the answered lines of a block.
    pub block_release: BlockRelease,
    /// A host uses a granted line at least once before it gives it up (§3.5).
    pub one_access: bool,
    /// A sole reader that asks for S gets E (§3.2, allowed but not recommended).
    pub shared_grants_exclusive: bool,
    /// The device's own cache keeps S when a host asks for S.
    pub device_keeps_shared: bool,
    /// Dirty data of the device's own cache goes to the host with Cmp-M instead of to memory (§3.2, §5 point 9).
    pub cmp_m: bool,
    /// Sets of the snoop filter; 0 = it tracks every line.
    pub filter_sets: usize,
    /// Entries of a set.
    pub filter_ways: usize,
    /// Back-invalidates that may be open at once. At least one a host.
    pub trackers: usize,
    /// The device stores the two bits of Meta0 and returns them.
    pub meta_stored: bool,
    /// Bytes that the device does not have.
    pub no_range: Vec<NoRange>,
    /// Data of an address that the device does not have comes poisoned.
    pub no_range_poison: bool,
    /// Open back-invalidates and transactions at which DevLoad becomes optimal, moderate and severe; 0 = never (§3.8).
    pub devload: [usize; 3],
    /// DevLoad that a throughput reduced for a while asks for, 0 to 3; the most loaded part is reported (§3.8).
    pub throughput_reduction: u8,
    /// The host keeps an S copy under CLFlush of HDM-D; the device assumes one anyway (§3.3).
    pub flush_keeps_shared: bool,
    /// GO-E is taken as the answer to a bias flip (§3.3, §5 point 2).
    pub flip_by_go: bool,
}

impl Default for MemConfig {
    fn default() -> Self {
        Self {
            host_keeps: Keep::default(),
            block_answer: BlockAnswer::default(),
            block_release: BlockRelease::default(),
            one_access: true,
            shared_grants_exclusive: false,
            device_keeps_shared: true,
            cmp_m: false,
            filter_sets: 0,
            filter_ways: 1,
            trackers: 64,
            meta_stored: false,
            no_range: Vec::new(),
            no_range_poison: false,
            devload: [0; 3],
            throughput_reduction: 0,
            flush_keeps_shared: false,
            flip_by_go: false,
        }
    }
}

impl MemConfig {
    /// Whether the device has no memory for a line.
    pub fn is_outside(&self, line: LineAddr) -> bool {
        self.no_range.iter().any(|r| (r.first..=r.last).contains(&line.address()))
    }
}
