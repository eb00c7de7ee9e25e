//! DRAM or HBM behind the trait of memories.
//!
//! Modelled: everything of [`dram`](crate::dram), with a clock of its own, and the latency of the owner behind it. Each command
//! is judged by the monitor as it goes. Left out: phases of the two clocks; both begin with cycle 0.
//!
//! A walk through one request: it is taken if the queues of its channels have a place; the controller has it from this cycle
//! on. The owner lets the memory advance whenever it runs, and wakes for what may happen next; once the data of the last burst
//! have gone, the cycle at which the handle is ready is known: the first one not before the end, and the owner's latency.
//!
//! Invariant: what happens up to a cycle depends on what was pushed before it, and on nothing else.

use super::{MemoryBackend, MemoryRequest, MemoryTiming, RequestPace};
use crate::dram::channel::DramCounts;
use crate::dram::controller::DramRefresh;
use crate::dram::{DramCommand, DramConfig, DramController, DramFinding, DramMapping, DramMonitor, DramPreset};
use crate::owner_clock::OwnerClock;
use scalepool_ordered::OrderedMap;

/// A memory that was checked, with the clock of its owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DramMedia {
    config: DramConfig,
    mapping: DramMapping,
    clock: OwnerClock,
    keeps_trace: bool,
}

impl DramMedia {
    /// A memory for an owner with this period, a fraction \[fs\]. `keeps_trace`: all commands are kept for the end of the run.
    ///
    /// # Errors
    /// Field and text of the first thing that is wrong.
    pub fn new(config: DramConfig, period: (u64, u64), keeps_trace: bool) -> Result<DramMedia, (&'static str, String)> {
        let config = DramConfig { keep_commands: true, ..config };
        if let Some(first) = config.check().into_iter().next() {
            return Err(first);
        }
        let mapping = config.mapping().map_err(|text| ("interleave", text))?;
        Ok(DramMedia { config, mapping, clock: OwnerClock::new(period), keeps_trace })
    }

    /// How it is built.
    pub fn config(&self) -> &DramConfig {
        &self.config
    }
}

/// Findings that are kept at most: a wrong model breaks a rule with every command.
const FINDINGS: usize = 100;

/// The backend.
pub struct Dram<H> {
    media: DramMedia,
    latency_cycles: u64,
    most: usize,
    pace: RequestPace,
    memory: DramController,
    monitor: DramMonitor,
    findings: Vec<DramFinding>,
    trace: Vec<DramCommand>,
    /// Handles by token whose end is not known.
    open: OrderedMap<u64, H>,
    /// Handles by the cycle at which they are ready and by their token.
    ended: OrderedMap<(u64, u64), H>,
    /// Number of handles that touch no memory; they have tokens of their own, above all others.
    untouched: u64,
}

/// First token of requests that touch no memory.
const UNTOUCHED: u64 = 1 << 63;

impl<H> Dram<H> {
    /// A memory at rest.
    pub fn new(timing: &MemoryTiming, media: DramMedia) -> Dram<H> {
        let MemoryTiming { latency_cycles, interval_cycles, in_flight, .. } = *timing;
        Dram {
            memory: DramController::of(&media.config, media.mapping),
            monitor: DramMonitor::new(&media.config.preset, media.config.refresh != DramRefresh::Off),
            media,
            latency_cycles,
            most: in_flight,
            pace: RequestPace::new(interval_cycles),
            findings: Vec::new(),
            trace: Vec::new(),
            open: OrderedMap::new(),
            ended: OrderedMap::new(),
            untouched: 0,
        }
    }

    fn take_finished(&mut self) {
        for (token, done_fs) in self.memory.take_finished() {
            if let Some(handle) = self.open.remove(&token) {
                self.ended.insert((self.media.clock.cycle(done_fs) + self.latency_cycles, token), handle);
            }
        }
    }

    /// The cycle of the next event for a request, which may be past.
    fn next_event(&self, later_fs: u64) -> Option<u64> {
        self.memory.next_event_fs().map(|fs| self.media.clock.cycle(fs.saturating_add(later_fs)))
    }
}

impl<H> MemoryBackend<H> for Dram<H> {
    fn advance(&mut self, cycle: u64) {
        self.memory.advance(self.media.clock.fs(cycle));
        self.take_finished();
        for command in self.memory.take_commands() {
            self.monitor.judge(&command);
            if self.media.keeps_trace {
                self.trace.push(command);
            }
        }
        let room = FINDINGS.saturating_sub(self.findings.len());
        self.findings.extend(self.monitor.take_findings().into_iter().take(room));
    }

    fn room_at(&self, cycle: u64, request: &MemoryRequest) -> Option<u64> {
        if self.in_flight() >= self.most {
            return None;
        }
        let from = self.pace.at(cycle);
        if from == cycle && !self.memory.has_room(request) {
            // A queue gets a place when a command goes.
            return Some(self.next_event(0).map_or(cycle + 1, |next| next.max(cycle + 1)));
        }
        Some(from)
    }

    fn push(&mut self, cycle: u64, request: &MemoryRequest, handle: H) -> Result<(), H> {
        self.advance(cycle);
        if !self.has_room(cycle, request) {
            return Err(handle);
        }
        self.pace.taken(cycle);
        if request.bytes == 0 {
            self.ended.insert((cycle + self.latency_cycles, UNTOUCHED + self.untouched), handle);
            self.untouched += 1;
            return Ok(());
        }
        let token = self.memory.push(self.media.clock.fs(cycle), request);
        self.open.insert(token, handle);
        self.take_finished();
        Ok(())
    }

    fn first(&self) -> Option<&H> {
        self.ended.first_key_value().map(|(_, handle)| handle)
    }

    fn oldest(&self) -> Option<&H> {
        self.open.first_key_value().map(|(_, handle)| handle).or_else(|| self.first())
    }

    fn ready_at(&self) -> Option<u64> {
        self.ended.first_key_value().map(|((ready, _), _)| *ready)
    }

    fn wake_at(&self, cycle: u64) -> Option<u64> {
        let ready = self.ready_at().filter(|ready| *ready > cycle);
        // Nothing is ready sooner than the back latency after what ends it.
        let event = self.next_event(self.media.config.back_fs).map(|next| next.max(cycle + 1));
        ready.into_iter().chain(event).min()
    }

    fn pop(&mut self, cycle: u64) -> Option<H> {
        if self.is_ready(cycle) { self.ended.pop_first().map(|(_, handle)| handle) } else { None }
    }

    fn in_flight(&self) -> usize {
        self.open.len() + self.ended.len()
    }

    fn is_idle(&self) -> bool {
        self.in_flight() == 0 && self.memory.next_event_fs().is_none()
    }

    fn dram(&self, n: usize) -> Option<DramView<'_>> {
        if n > 0 {
            return None;
        }
        let DramConfig { preset, .. } = self.media.config;
        let DramCounts { read_bursts, write_bursts, last_data, .. } = self.memory.counts();
        let bytes = (read_bursts + write_bursts) * u64::from(preset.organisation.burst_bytes);
        Some(DramView {
            counts: self.memory.counts(),
            bytes,
            last_data_fs: preset.fs(last_data),
            findings: &self.findings,
            preset: &self.media.config.preset,
            trace: self.media.keeps_trace.then_some(&*self.trace),
        })
    }
}

/// What a memory with DRAM behind it shows of it.
#[derive(Debug, Clone, Copy)]
pub struct DramView<'a> {
    /// What its channels have done.
    pub counts: DramCounts,
    /// Bytes that went over its data buses.
    pub bytes: u64,
    /// Time at which the last data ended \[fs\].
    pub last_data_fs: u64,
    /// Rules that its commands broke.
    pub findings: &'a [DramFinding],
    /// Its organisation and timing.
    pub preset: &'a DramPreset,
    /// Its commands, if they are kept; those of one channel in order.
    pub trace: Option<&'a [DramCommand]>,
}
