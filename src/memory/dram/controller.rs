//! The memory controller: all channels of a memory behind one address space.
//!
//! Modelled: splitting requests into bursts that lie in one row each, a front latency before the channels and a back
//! latency after them, and the order of requests to one line. Left out: the path between the controller and its owner.
//!
//! A walk through one request: the mapping places the bursts of each line. Bursts that follow each other in one row
//! become one request of a channel. The request is done when its last part is done, and not before older requests that
//! share a line with it.
//!
//! Time at this interface is in femtoseconds, because an owner has a clock of its own.

use super::channel::{DramAccess, DramChannel, DramCounts, DramLineRequest, DramScheduling};
use super::command::DramCommand;
use super::mapping::{DramMap, DramMapping};
use super::preset::DramPreset;
use crate::LINE_BYTES;
use crate::backend::{MemoryAccess, MemoryRequest};
use scalepool_ordered::OrderedMap;
use std::collections::VecDeque;

pub use super::channel::DramPagePolicy;
pub use super::refresh::DramRefresh;

/// Configuration of a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DramConfig {
    /// Device; its organisation says how many channels and ranks there are.
    pub preset: DramPreset,
    /// Order of the fields of an address.
    pub map: DramMap,
    /// Contiguous bytes before the next channel follows, with [`DramMap::Sp1`].
    pub interleave_bytes: u32,
    /// Whether bank group and bank are XORed with the low bits of the row.
    pub row_xor: bool,
    /// Refresh mode.
    pub refresh: DramRefresh,
    /// Parameters of the scheduler.
    pub scheduling: DramScheduling,
    /// Latency from acceptance of a request until its channel sees it \[fs\].
    pub front_fs: u64,
    /// Latency from the last data to the response \[fs\].
    pub back_fs: u64,
    /// Whether a write of part of a line reads the line first, as error correction requires.
    pub reads_before_partial_writes: bool,
    /// Whether commands are kept for a trace or a monitor.
    pub keep_commands: bool,
}

impl DramConfig {
    /// The defaults of `memory §4` and `§5`: an interleave of 256 bytes, a front latency of 10 ns and a back latency of
    /// 10 ns.
    pub fn new(preset: &DramPreset) -> DramConfig {
        DramConfig {
            preset: *preset,
            map: DramMap::Sp1,
            interleave_bytes: 256,
            row_xor: false,
            refresh: DramRefresh::All,
            scheduling: DramScheduling::default(),
            front_fs: 10_000_000,
            back_fs: 10_000_000,
            reads_before_partial_writes: false,
            keep_commands: false,
        }
    }

    /// Problems of the configuration: field and text.
    pub fn check(&self) -> Vec<(&'static str, String)> {
        let mut found = self.preset.check();
        if let Err(text) = self.mapping() {
            found.push(("interleave", text));
        }
        if self.refresh == DramRefresh::PerBank && !self.preset.has_bank_refresh() {
            let text = format!("found per_bank, expected all or none: {} has no refresh of banks", self.preset.key);
            found.push(("refresh", text));
        }
        let DramScheduling { reads, writes, drain_high_percent, drain_low_percent, .. } = self.scheduling;
        if reads == 0 || writes == 0 {
            found.push(("queue", format!("found {reads} reads and {writes} writes, expected at least 1 of each")));
        }
        if drain_low_percent >= drain_high_percent || drain_high_percent > 100 {
            let text =
                format!("found {drain_low_percent} and {drain_high_percent} percent, expected low < high <= 100");
            found.push(("drain", text));
        }
        found
    }

    /// The address mapping of the configuration.
    ///
    /// # Errors
    /// See [`DramMapping::new`].
    pub fn mapping(&self) -> Result<DramMapping, String> {
        DramMapping::new(self.map, &self.preset.organisation, self.interleave_bytes, self.row_xor)
    }
}

/// A request that has not been handed back.
#[derive(Debug, Clone)]
struct DramRequestParts {
    /// Number of parts in channels that are not done.
    parts: u32,
    /// Latest end of the finished parts \[fs\].
    done_fs: u64,
    first_line: u64,
    lines: u64,
}

/// Number of line end times that are kept before those in the past are dropped.
const ENDED_LINES: usize = 256;

/// The memory.
#[derive(Debug, Clone)]
pub struct DramController {
    config: DramConfig,
    mapping: DramMapping,
    channels: Vec<DramChannel>,
    open: OrderedMap<u64, DramRequestParts>,
    /// Outstanding requests by line, in the order in which they were accepted.
    by_line: OrderedMap<u64, VecDeque<u64>>,
    /// End of the last request of a line, where it may still lie in the future \[fs\].
    ended_by_line: OrderedMap<u64, u64>,
    next_token: u64,
    finished: Vec<(u64, u64)>,
}

impl DramController {
    /// A memory at rest.
    ///
    /// # Errors
    /// The first problem of [`DramConfig::check`].
    pub fn new(config: &DramConfig) -> Result<DramController, (&'static str, String)> {
        if let Some(first) = config.check().into_iter().next() {
            return Err(first);
        }
        let mapping = config.mapping().map_err(|text| ("interleave", text))?;
        Ok(DramController::of(config, mapping))
    }

    /// Makes a memory from a configuration that has been checked, and its mapping.
    pub(crate) fn of(config: &DramConfig, mapping: DramMapping) -> DramController {
        let channel = |number| {
            let DramConfig { scheduling, refresh, keep_commands, .. } = *config;
            DramChannel::new(number, &config.preset, scheduling, refresh, keep_commands)
        };
        DramController {
            config: *config,
            mapping,
            channels: (0..config.preset.organisation.channels).map(channel).collect(),
            open: OrderedMap::new(),
            by_line: OrderedMap::new(),
            ended_by_line: OrderedMap::new(),
            next_token: 0,
            finished: Vec::new(),
        }
    }

    /// The configuration.
    pub fn config(&self) -> &DramConfig {
        &self.config
    }

    /// Parts of a request: places with the number of bursts and the line. Bytes beyond the end of the memory are
    /// skipped.
    fn parts(&self, request: &MemoryRequest) -> Vec<(super::DramPlace, u32, u64)> {
        let burst = u64::from(self.config.preset.organisation.burst_bytes);
        let mut parts: Vec<(super::DramPlace, u32, u64)> = Vec::new();
        for line in lines(request) {
            let first = parts.len();
            for address in (line * LINE_BYTES..).step_by(burst as usize).take((LINE_BYTES / burst) as usize) {
                let Some(place) = self.mapping.place(address) else { continue };
                match parts[first..].last_mut() {
                    Some((before, bursts, _)) if follows(before, *bursts, &place) => *bursts += 1,
                    _ => parts.push((place, 1, line)),
                }
            }
        }
        parts
    }

    /// Whether the memory accepts a request now, provided that it has been advanced to the present time.
    pub fn has_room(&self, request: &MemoryRequest) -> bool {
        let is_write = request.access != MemoryAccess::Read;
        let parts = self.parts(request);
        let needed = |channel: u32| parts.iter().filter(|(place, ..)| place.channel == channel).count();
        parts.iter().all(|(place, ..)| {
            let channel = &self.channels[place.channel as usize];
            // A request with more parts than the queue has entries is accepted by an empty channel.
            channel.room(is_write) >= needed(place.channel) || channel.queued() == 0
        })
    }

    /// Accepts a request at a time \[fs\] to which the memory has been advanced, and returns the token of the request.
    pub fn push(&mut self, now_fs: u64, request: &MemoryRequest) -> u64 {
        let token = self.next_token;
        self.next_token += 1;
        if self.ended_by_line.len() > ENDED_LINES {
            self.ended_by_line.retain(|_, done_fs| *done_fs > now_fs);
        }
        let tck = self.config.preset.timing.tck_fs;
        let visible = now_fs.saturating_add(self.config.front_fs).div_ceil(tck);
        let access = match request.access {
            MemoryAccess::Read => DramAccess::Read,
            MemoryAccess::Write => DramAccess::Write,
            MemoryAccess::Modify if self.config.reads_before_partial_writes => DramAccess::ReadThenWrite,
            MemoryAccess::Modify => DramAccess::MaskedWrite,
        };
        let parts = self.parts(request);
        let (first_line, last_line) = (request.address / LINE_BYTES, lines(request).last());
        let count = last_line.map_or(0, |last| last - first_line + 1);
        for line in lines(request) {
            self.by_line.entry(line).or_default().push_back(token);
        }
        // A request that touches no memory takes the front and the back latency only.
        let done_fs = visible.saturating_mul(tck).saturating_add(self.config.back_fs);
        let open = DramRequestParts { parts: parts.len() as u32, done_fs, first_line, lines: count };
        self.open.insert(token, open);
        for (place, bursts, line) in parts {
            let request = DramLineRequest { token, place, bursts, line, access, visible };
            self.channels[place.channel as usize].push(request);
        }
        if self.open[&token].parts == 0 {
            self.end(token);
        }
        token
    }

    /// Advances the memory to a time \[fs\]; [`take_finished`](DramController::take_finished) returns the finished
    /// requests.
    pub fn advance(&mut self, now_fs: u64) {
        let tck = self.config.preset.timing.tck_fs;
        for n in 0..self.channels.len() {
            self.channels[n].advance(now_fs / tck);
            for (token, clock) in std::mem::take(&mut self.channels[n].done) {
                let done_fs = clock.saturating_mul(tck).saturating_add(self.config.back_fs);
                if let Some(open) = self.open.get_mut(&token) {
                    open.parts -= 1;
                    open.done_fs = open.done_fs.max(done_fs);
                    if open.parts == 0 {
                        self.end(token);
                    }
                }
            }
        }
    }

    /// Ends a request whose parts are done, and then the requests that waited for it, in the order of each line.
    fn end(&mut self, token: u64) {
        let mut ending = vec![token];
        while let Some(token) = ending.pop() {
            let Some(open) = self.open.get(&token) else { continue };
            let lines = open.first_line..open.first_line + open.lines;
            let is_first = lines.clone().all(|line| self.by_line[&line].front() == Some(&token));
            if open.parts > 0 || !is_first {
                continue;
            }
            let before = lines.clone().filter_map(|line| self.ended_by_line.get(&line)).max().copied();
            let done_fs = open.done_fs.max(before.unwrap_or(0));
            self.open.remove(&token);
            self.finished.push((token, done_fs));
            for line in lines {
                self.ended_by_line.insert(line, done_fs);
                let Some(waiting) = self.by_line.get_mut(&line) else { continue };
                waiting.pop_front();
                match waiting.front() {
                    Some(next) => ending.push(*next),
                    None => drop(self.by_line.remove(&line)),
                }
            }
        }
    }

    /// Requests that have ended since the last call: tokens and end times \[fs\], which may lie in the future.
    pub fn take_finished(&mut self) -> Vec<(u64, u64)> {
        std::mem::take(&mut self.finished)
    }

    /// The next time at which a channel may do something for a request \[fs\]; `None`: no request waits.
    pub fn next_event_fs(&self) -> Option<u64> {
        let tck = self.config.preset.timing.tck_fs;
        let busy = self.channels.iter().filter(|channel| channel.queued() > 0);
        busy.map(DramChannel::next_event).min().map(|clock| clock.saturating_mul(tck))
    }

    /// The sum of the counters of all channels.
    pub fn counts(&self) -> DramCounts {
        let mut counts = DramCounts::default();
        self.channels.iter().for_each(|channel| counts.add(&channel.counts()));
        counts
    }

    /// Commands since the last call, channel by channel, if commands are kept.
    pub fn take_commands(&mut self) -> Vec<DramCommand> {
        self.channels.iter_mut().flat_map(DramChannel::take_commands).collect()
    }
}

/// Numbers of the lines that a request touches.
fn lines(request: &MemoryRequest) -> std::ops::Range<u64> {
    let first = request.address / LINE_BYTES;
    let end = request.address.saturating_add(request.bytes).div_ceil(LINE_BYTES);
    if request.bytes == 0 { first..first } else { first..end }
}

/// Whether a burst directly follows `bursts` bursts from a first place on, in the same row.
fn follows(first: &super::DramPlace, bursts: u32, next: &super::DramPlace) -> bool {
    *next == super::DramPlace { column: first.column + bursts, ..*first }
}
