//! Every choice that the sheet leaves open, in one place.
//!
//! The default of each is what the sheet marks \[D\] as ours. A scenario or a litmus case may set any of them.

use super::cache::home::{PORTS, SLOTS};
use super::clocked::waiting::WaitTable;
use super::content::{LineAddr, LineContent};
use super::ids::AgentPort;
use super::mem::options::MemConfig;
use super::names::BI_TAGS;
use super::rules::{PoisonStep, RuleSet};
use serde::{Deserialize, Serialize};

/// What a device does with SnpData on a line in M (`coherence` §2.3, all three legal).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SnpDataOnM {
    /// RspSFwdM, an S copy stays.
    #[default]
    Shared,
    /// RspSFwdM, but nothing stays.
    SharedThenInvalid,
    /// RspIFwdM, nothing stays.
    Invalid,
}

/// What a device does with SnpCur on a clean line (`coherence` §2.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SnpCurOnClean {
    /// RspVHitV, nothing changes.
    #[default]
    Keep,
    /// RspSHitSE, S stays.
    Shared,
    /// RspVFwdV with data, nothing changes; from S it is illegal, and the copy answers RspVHitV.
    Forward,
}

/// What a device does with SnpCur on a line in M (`coherence` §2.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SnpCurOnM {
    /// RspVFwdV, M stays.
    #[default]
    Keep,
    /// RspSFwdM, S stays.
    Shared,
    /// RspIFwdM, nothing stays.
    Invalid,
}

/// What a device or a host does that is granted ownership without bytes (`coherence` §2.4, §5 point 3). An access that needs
/// the bytes is never left to wait for a store of the whole line: the line is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WithoutBytes {
    /// Asks again with data (RdOwn, MemRd Any); a host whose store of the whole line waits makes it.
    #[default]
    Read,
    /// A waiting store of the whole line is made. Without one a device reads; a host keeps the ownership for such a store until
    /// another access comes, for which it reads.
    Write,
}

/// How the home answers a CleanEvict of the owner (`coherence` §2.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CleanEvictAnswer {
    /// GO_WritePull_Drop: the data is not wanted.
    #[default]
    Drop,
    /// GO_WritePull: the data comes and is not written, since memory has it.
    Pull,
}

/// What the home answers for lines that it cannot serve (`coherence` §2.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorAnswer {
    /// GO-I to reads.
    GoInvalid,
    /// GO-Err to reads.
    GoError,
}

/// Lines that the home answers with an error.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ErrorRange {
    /// First byte address.
    pub first: u64,
    /// Last byte address.
    pub last: u64,
    /// What reads get.
    pub answer: ErrorAnswer,
}

/// HDM-DB of a caching device, as the home knows it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct OwnMemory {
    /// First byte address.
    pub first: u64,
    /// Last byte address.
    pub last: u64,
    /// Whose it is: the device with this CacheID.
    pub device: AgentPort,
}

/// The choices. `deny_unknown_fields`: a name that is not here is an error of the file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct CoherenceConfig {
    /// An exploration tries every legal answer of §2.3 and §3.4, not only the default.
    pub alternatives: bool,
    /// A device may drop S without a message when it needs the place (§2.1).
    pub silent_drop_s: bool,
    /// A device may drop E without a message when it needs the place (§2.1; our default is off).
    pub silent_drop_e: bool,
    /// SnpData on M.
    pub snp_data_on_m: SnpDataOnM,
    /// SnpCur on S or E.
    pub snp_cur_on_clean: SnpCurOnClean,
    /// SnpCur on M.
    pub snp_cur_on_m: SnpCurOnM,
    /// Ownership without bytes.
    pub without_bytes: WithoutBytes,
    /// RdAny is granted E when nobody else holds the line; otherwise always S (§2.2, both legal).
    pub rd_any_exclusive: bool,
    /// The home hands dirty data over with GO-M instead of writing it to memory (§2.2).
    pub grant_dirty: bool,
    /// Answer to a CleanEvict of the owner.
    pub clean_evict: CleanEvictAnswer,
    /// Requests that the home takes while their line is busy; beyond it they stay in their channel (§2.8).
    pub home_queue_requests: usize,
    /// Transactions that the home has open at once, 1 to 255; beyond it requests wait (§2.8).
    pub home_transactions: usize,
    /// Lines that the home's snoop filter can track, 0 = all. A victim is taken back with SnpInv (§2.9).
    pub home_filter_lines: usize,
    /// Requests for its line that a waiting request may see go first, 0 = one for each other agent (§4 V10).
    pub progress_bound: u64,
    /// The choices of CXL.mem.
    pub mem: MemConfig,
    /// Lines that get error answers.
    pub error_ranges: Vec<ErrorRange>,
    /// Device memory that caching devices have themselves, below the home (§3.3).
    pub own_memory: Vec<OwnMemory>,
    /// Which class waits for which in a clocked node (§3.6).
    #[serde(skip)]
    pub waits: WaitTable,
    /// The decisions that are no choice. No file sets them.
    #[serde(skip)]
    pub rules: RuleSet,
}

impl Default for CoherenceConfig {
    fn default() -> Self {
        Self {
            alternatives: false,
            silent_drop_s: true,
            silent_drop_e: false,
            snp_data_on_m: SnpDataOnM::default(),
            snp_cur_on_clean: SnpCurOnClean::default(),
            snp_cur_on_m: SnpCurOnM::default(),
            without_bytes: WithoutBytes::default(),
            rd_any_exclusive: true,
            grant_dirty: false,
            clean_evict: CleanEvictAnswer::default(),
            home_queue_requests: 0,
            home_transactions: SLOTS,
            home_filter_lines: 0,
            progress_bound: 0,
            mem: MemConfig::default(),
            error_ranges: Vec::new(),
            own_memory: Vec::new(),
            waits: WaitTable::default(),
            rules: RuleSet::default(),
        }
    }
}

/// A number that is out of its range.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("found {found}, expected {expected}")]
pub struct OutOfRange {
    /// The option and its value.
    pub found: String,
    /// What it may be.
    pub expected: String,
}

/// Most lines, sets, ways and back-invalidates: as many as the scenarios have, and little enough memory.
const MOST_ENTRIES: usize = 1 << 20;

impl CoherenceConfig {
    /// Whether every number is in its range.
    ///
    /// # Errors
    /// The first that is not.
    pub fn check(&self) -> Result<(), OutOfRange> {
        let mem = &self.mem;
        let numbers = [
            ("home_queue_requests", self.home_queue_requests, 0, MOST_ENTRIES),
            ("home_transactions", self.home_transactions, 1, SLOTS),
            ("home_filter_lines", self.home_filter_lines, 0, MOST_ENTRIES),
            ("mem.filter_sets", mem.filter_sets, 0, MOST_ENTRIES),
            ("mem.filter_ways", mem.filter_ways, 1, MOST_ENTRIES),
            ("mem.trackers", mem.trackers, 1, BI_TAGS),
            ("mem.throughput_reduction", mem.throughput_reduction.into(), 0, 3),
        ];
        let devices = self.own_memory.iter().map(|r| ("own_memory.device", r.device.into(), 0, usize::from(PORTS - 1)));
        for (name, value, least, most) in numbers.into_iter().chain(devices) {
            if !(least..=most).contains(&value) {
                return Err(OutOfRange { found: format!("{name} = {value}"), expected: format!("{least} to {most}") });
            }
        }
        let mut ranges = (self.error_ranges.iter().map(|r| ("error_ranges", r.first, r.last)))
            .chain(self.own_memory.iter().map(|r| ("own_memory", r.first, r.last)))
            .chain(mem.no_range.iter().map(|r| ("mem.no_range", r.first, r.last)));
        match ranges.find(|(_, first, last)| first > last) {
            None => Ok(()),
            Some((name, first, last)) => {
                let found = format!("{name} from {first} to {last}");
                Err(OutOfRange { found, expected: "a first address that is not above the last".into() })
            }
        }
    }

    /// A value that is handed on, with the poison that the rules leave it.
    pub fn passed<D: LineContent>(&self, step: PoisonStep, value: D) -> D {
        let before = value.is_poisoned();
        let behind = self.rules.stays_poisoned(step, before);
        if behind == before { value } else { value.poisoned(behind) }
    }

    /// Whether a line is memory of this caching device.
    pub fn is_own_memory(&self, device: AgentPort, line: LineAddr) -> bool {
        let address = line.address();
        self.own_memory.iter().any(|r| r.device == device && (r.first..=r.last).contains(&address))
    }

    /// What a line that cannot be served is answered.
    pub fn error_of(&self, line: LineAddr) -> Option<ErrorAnswer> {
        let address = line.address();
        self.error_ranges.iter().find(|r| (r.first..=r.last).contains(&address)).map(|r| r.answer)
    }
}
