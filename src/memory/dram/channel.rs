//! One channel: its queues and its scheduler (`memory §4`).
//!
//! Modelled: a read queue and a write queue. Among the commands that timing allows, column commands precede row commands,
//! and then the oldest request wins. At most 16 column commands are issued per activate while another row of the bank is
//! requested. A request older than the age limit is served before all others. Writes drain in batches, reads of queued
//! writes are answered from the write queue, rows are closed by the page policy, and refreshes are sent. Left out: the
//! data itself, which a store holds.
//!
//! A walk through one clock at which something happens: requests whose front latency is over enter the queues. Refreshes
//! become due. The scheduler chooses between reads and writes. Each request of the chosen queue names its next command (a
//! precharge if another row is open, an activate, a read or a write) and the earliest clock of that command. The command
//! with the earliest clock is issued; where clocks are equal, class and then age decide. Clocks at which no command can
//! be issued are skipped.
//!
//! Invariants: a request for a line never overtakes an older request for the same line; the two bursts of a line that
//! takes two are served from one activate.

use super::command::{DramCommand, DramOperation, DramPlace};
use super::preset::DramPreset;
use super::refresh::{DramRefresh, RefreshDebt};
use super::timing::DramTimingState;
use std::collections::VecDeque;

/// When rows are closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DramPagePolicy {
    /// After [`DramScheduling::idle_close_clocks`] without a request for the bank.
    #[default]
    Open,
    /// With the last burst of each line.
    Closed,
    /// With a burst after which no queued request hits the row.
    Adaptive,
}

impl DramPagePolicy {
    /// Names, in the order of the declaration.
    pub const NAMES: &'static [&'static str] = &["open", "closed", "adaptive"];

    /// Finds the page policy of a name.
    pub fn find(name: &str) -> Option<DramPagePolicy> {
        let all = [DramPagePolicy::Open, DramPagePolicy::Closed, DramPagePolicy::Adaptive];
        DramPagePolicy::NAMES.iter().zip(all).find(|(known, _)| **known == name).map(|(_, policy)| policy)
    }
}

/// Parameters of the scheduler; the defaults are those of `memory §4`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DramScheduling {
    /// Entries of the read queue of a channel.
    pub reads: usize,
    /// Entries of the write queue of a channel.
    pub writes: usize,
    /// Fill level of the write queue at which draining starts \[percent of `writes`\].
    pub drain_high_percent: u32,
    /// Fill level of the write queue at which draining stops \[percent of `writes`\].
    pub drain_low_percent: u32,
    /// Minimum number of writes per batch, if so many are queued.
    pub batch: usize,
    /// Maximum number of column commands per activate while another row of the bank is requested.
    pub hit_cap: u32,
    /// Age from which the oldest request is served before all others \[clocks\].
    pub age_limit_clocks: u64,
    /// Time without a request after which a row is closed, with [`DramPagePolicy::Open`] \[clocks\].
    pub idle_close_clocks: u64,
    /// When rows are closed.
    pub policy: DramPagePolicy,
}

impl Default for DramScheduling {
    fn default() -> DramScheduling {
        DramScheduling {
            reads: 64,
            writes: 64,
            drain_high_percent: 75,
            drain_low_percent: 25,
            batch: 16,
            hit_cap: 16,
            age_limit_clocks: 2000,
            idle_close_clocks: 200,
            policy: DramPagePolicy::Open,
        }
    }
}

/// Counters of a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DramCounts {
    /// Requests that found their row open and used before. A request is what a line has in one row: all of it, or a burst.
    pub hits: u64,
    /// Requests that were the first in a row that was opened in a closed bank. A row that closes before it is used, and is opened
    /// again, counts once.
    pub misses: u64,
    /// The same where another row was closed first.
    pub conflicts: u64,
    /// Reads answered from the write queue.
    pub forwarded: u64,
    /// Refreshes, of all banks or of one.
    pub refreshes: u64,
    /// Bursts read.
    pub read_bursts: u64,
    /// Bursts written.
    pub write_bursts: u64,
    /// Turnarounds of the data bus between reads and writes.
    pub turnarounds: u64,
    /// Clock at which the last data ended.
    pub last_data: u64,
}

impl DramCounts {
    /// Adds the counters of another channel.
    pub fn add(&mut self, other: &DramCounts) {
        self.hits += other.hits;
        self.misses += other.misses;
        self.conflicts += other.conflicts;
        self.forwarded += other.forwarded;
        self.refreshes += other.refreshes;
        self.read_bursts += other.read_bursts;
        self.write_bursts += other.write_bursts;
        self.turnarounds += other.turnarounds;
        self.last_data = self.last_data.max(other.last_data);
    }
}

/// Kind of access to a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DramAccess {
    /// Reads it.
    Read,
    /// Writes all of it.
    Write,
    /// Writes some bytes by masked writes.
    MaskedWrite,
    /// Writes some bytes: reads the line first, then writes all of it, as error correction requires.
    ReadThenWrite,
}

/// A request for bursts that lie in one row.
#[derive(Debug, Clone, Copy)]
pub struct DramLineRequest {
    /// Token that is returned when the request is done.
    pub token: u64,
    /// Place of its first burst.
    pub place: DramPlace,
    /// Number of bursts from there on.
    pub bursts: u32,
    /// Number of the line.
    pub line: u64,
    /// Kind of access.
    pub access: DramAccess,
    /// Clock at which the request enters the channel.
    pub visible: u64,
}

/// A request in a queue.
#[derive(Debug, Clone, Copy)]
struct QueuedRequest {
    request: DramLineRequest,
    /// Order of arrival in the channel.
    age: u64,
    bank: usize,
    /// Bursts that are still to be read.
    reads_left: u32,
    /// Bursts that are still to be written.
    writes_left: u32,
    /// Clock before which the entry must not write, because its read data have not arrived.
    not_before: u64,
    /// Whether the queues held another request for the same line when this one arrived.
    shares_line: bool,
    /// Whether some bursts have been issued and others have not.
    has_begun: bool,
    /// Whether the request has been counted as hit, miss or conflict.
    was_counted: bool,
    /// Whether a row was opened for this request.
    has_opened: bool,
    /// Whether a row was closed for this request.
    has_closed: bool,
}

impl QueuedRequest {
    fn new(request: DramLineRequest, age: u64, bank: usize, shares_line: bool) -> QueuedRequest {
        let DramLineRequest { access, bursts, .. } = request;
        let reads = matches!(access, DramAccess::Read | DramAccess::ReadThenWrite);
        let writes = access != DramAccess::Read;
        QueuedRequest {
            request,
            age,
            bank,
            reads_left: if reads { bursts } else { 0 },
            writes_left: if writes { bursts } else { 0 },
            not_before: 0,
            shares_line,
            has_begun: false,
            was_counted: false,
            has_opened: false,
            has_closed: false,
        }
    }

    fn scope(&self) -> usize {
        self.request.place.rank as usize
    }

    /// The next column command of the request.
    fn column(&self) -> DramOperation {
        match self.request.access {
            _ if self.reads_left > 0 => DramOperation::Read,
            DramAccess::MaskedWrite => DramOperation::MaskedWrite,
            _ => DramOperation::Write,
        }
    }

    /// The place of the next column command.
    fn next_place(&self) -> DramPlace {
        let left = if self.reads_left > 0 { self.reads_left } else { self.writes_left };
        let place = self.request.place;
        DramPlace { column: place.column + self.request.bursts - left, ..place }
    }

    /// Bursts that are still to be transferred.
    fn total_left(&self) -> u32 {
        self.reads_left + self.writes_left
    }

    /// Column commands that the request still needs from its row before another row may be opened.
    fn bursts_left(&self) -> u32 {
        if self.reads_left > 0 { self.reads_left } else { self.writes_left }
    }
}

/// Demand for one bank, over all queue entries.
#[derive(Debug, Clone, Copy, Default)]
struct Demand {
    /// Age of the oldest request that hits the open row, among the requests that are being served.
    oldest_hit: Option<u64>,
    /// A request that is being served needs another row.
    other_row: bool,
    /// Any request needs the bank.
    any: bool,
    /// A request has been started and not finished.
    has_begun: bool,
}

/// The queue that is being served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ServedQueue {
    Reads,
    /// Writes: `done` is the number of writes issued, `least` the number that must be issued before a read may end the
    /// batch.
    Writes {
        done: usize,
        least: usize,
        to_low: bool,
    },
}

/// A command that could be issued.
#[derive(Debug, Clone, Copy)]
struct DramCandidate {
    /// Earliest clock, class and age: the candidate with the smallest key is issued.
    key: (u64, u8, u64),
    operation: DramOperation,
    place: DramPlace,
    cause: DramCommandCause,
}

/// The reason for a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DramCommandCause {
    Request { is_write: bool, index: usize },
    Refresh,
    Idle,
}

/// Priority classes of commands, the lowest number first.
mod class {
    pub const FORCED: u8 = 0;
    pub const OVERDUE: u8 = 1;
    pub const COLUMN: u8 = 2;
    pub const ROW: u8 = 3;
    pub const REFRESH: u8 = 4;
    pub const IDLE: u8 = 5;
}

/// A channel.
#[derive(Debug, Clone)]
pub struct DramChannel {
    number: u32,
    preset: DramPreset,
    scheduling: DramScheduling,
    timing: DramTimingState,
    now: u64,
    /// The next clock at which something may happen.
    next: u64,
    arriving: VecDeque<DramLineRequest>,
    arriving_writes: usize,
    reads: Vec<QueuedRequest>,
    writes: Vec<QueuedRequest>,
    next_age: u64,
    mode: ServedQueue,
    refreshes: Vec<Option<RefreshDebt>>,
    /// By scope and bank: column commands since the activate, and the clock of the last command that used the row.
    uses: Vec<(u32, u64)>,
    banks: usize,
    /// By scope and bank, recomputed for each choice.
    demand: Vec<Demand>,
    last_was_write: Option<bool>,
    counts: DramCounts,
    /// Finished requests, with the clock at which their data end, or at which the queue answers them.
    pub(super) done: Vec<(u64, u64)>,
    /// Commands since the last call of [`DramChannel::take_commands`], if commands are kept.
    commands: Option<Vec<DramCommand>>,
}

impl DramChannel {
    /// A channel at rest.
    pub fn new(
        number: u32,
        preset: &DramPreset,
        scheduling: DramScheduling,
        refresh: DramRefresh,
        keep: bool,
    ) -> DramChannel {
        let scopes = preset.organisation.scopes();
        let banks = preset.organisation.banks_of_scope() as usize;
        DramChannel {
            number,
            preset: *preset,
            scheduling,
            timing: DramTimingState::new(preset),
            now: 0,
            next: 0,
            arriving: VecDeque::new(),
            arriving_writes: 0,
            reads: Vec::new(),
            writes: Vec::new(),
            next_age: 0,
            mode: ServedQueue::Reads,
            refreshes: (0..scopes).map(|scope| RefreshDebt::new(preset, refresh, scope, scopes)).collect(),
            uses: vec![(0, 0); banks * scopes as usize],
            banks,
            demand: vec![Demand::default(); banks * scopes as usize],
            last_was_write: None,
            counts: DramCounts::default(),
            done: Vec::new(),
            commands: keep.then(Vec::new),
        }
    }

    /// Free entries in the read queue or in the write queue.
    pub fn room(&self, is_write: bool) -> usize {
        let (most, held) = if is_write {
            (self.scheduling.writes, self.writes.len() + self.arriving_writes)
        } else {
            (self.scheduling.reads, self.reads.len() + self.arriving.len() - self.arriving_writes)
        };
        most.saturating_sub(held)
    }

    /// Number of requests in the channel.
    pub fn queued(&self) -> usize {
        self.reads.len() + self.writes.len() + self.arriving.len()
    }

    /// Accepts a request, which must not become visible earlier than the requests before it.
    pub fn push(&mut self, request: DramLineRequest) {
        self.arriving_writes += usize::from(request.access != DramAccess::Read);
        self.next = self.next.min(request.visible);
        self.arriving.push_back(request);
    }

    /// The counters of the channel.
    pub fn counts(&self) -> DramCounts {
        self.counts
    }

    /// Commands since the last call, if commands are kept.
    pub fn take_commands(&mut self) -> Vec<DramCommand> {
        self.commands.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Advances the channel up to and including a clock.
    pub fn advance(&mut self, to: u64) {
        while self.next <= to {
            self.arrive();
            self.refreshes.iter_mut().flatten().for_each(|debt| debt.advance(self.now));
            self.choose_mode();
            let horizon = self.horizon();
            match self.choose() {
                Some(candidate) if candidate.key.0 <= to && candidate.key.0 < horizon => {
                    self.now = candidate.key.0;
                    self.issue(&candidate);
                }
                _ if horizon <= to => self.now = horizon,
                candidate => self.next = candidate.map_or(horizon, |candidate| candidate.key.0.min(horizon)),
            }
        }
    }

    /// The clock at which something may happen next, provided that the channel has been advanced to the present clock.
    pub fn next_event(&self) -> u64 {
        self.next
    }

    /// The first clock after the present one at which the set of possible commands changes without a new request.
    fn horizon(&self) -> u64 {
        let arrival = self.arriving.front().map(|request| request.visible);
        let refresh = self.refreshes.iter().flatten().map(RefreshDebt::next_due).min();
        let oldest = self.oldest().map(|entry| entry.request.visible + self.scheduling.age_limit_clocks + 1);
        [arrival, refresh, oldest].into_iter().flatten().filter(|clock| *clock > self.now).min().unwrap_or(u64::MAX)
    }

    fn oldest(&self) -> Option<&QueuedRequest> {
        self.reads.first().into_iter().chain(self.writes.first()).min_by_key(|entry| entry.age)
    }

    /// Moves requests that have become visible into the queues.
    fn arrive(&mut self) {
        while self.arriving.front().is_some_and(|request| request.visible <= self.now)
            && let Some(request) = self.arriving.pop_front()
        {
            let bank = request.place.bank_of_scope(&self.preset.organisation) as usize;
            let of_line = |entry: &QueuedRequest| entry.request.line == request.line;
            let shares_line = self.reads.iter().chain(&self.writes).any(of_line);
            let entry = QueuedRequest::new(request, self.next_age, bank, shares_line);
            self.next_age += 1;
            if request.access == DramAccess::Read {
                if self.is_queued_whole(request.line, request.place) {
                    self.counts.forwarded += 1;
                    self.done.push((request.token, self.now));
                } else {
                    self.reads.push(entry);
                }
            } else {
                self.arriving_writes -= 1;
                // A write is answered when it is queued.
                self.done.push((request.token, self.now));
                self.writes.push(entry);
            }
        }
    }

    /// Whether the last queued write to these bursts, or an earlier one that it extends, covers all their bytes. A
    /// partial write is merged with the data that are read.
    fn is_queued_whole(&self, line: u64, place: DramPlace) -> bool {
        self.writes.iter().any(|entry| {
            entry.request.line == line && entry.request.place == place && entry.request.access == DramAccess::Write
        })
    }

    fn limit(&self, percent: u32) -> usize {
        self.scheduling.writes * percent as usize / 100
    }

    /// Chooses between reads and writes.
    fn choose_mode(&mut self) {
        let (high, low) =
            (self.limit(self.scheduling.drain_high_percent), self.limit(self.scheduling.drain_low_percent));
        // A write that waits for an older read of the same line does not count, because the read goes first.
        let queued = self.writes.iter().filter(|entry| !self.is_behind(entry, true)).count();
        if let ServedQueue::Writes { done, least, to_low } = self.mode {
            let waits = !self.reads.is_empty();
            let is_over = if to_low { queued <= low && done >= least } else { waits && done >= least };
            if queued == 0 || is_over {
                self.mode = ServedQueue::Reads;
            }
        }
        if self.mode == ServedQueue::Reads {
            let batch = self.scheduling.batch;
            if queued >= high.max(1) {
                self.mode = ServedQueue::Writes { done: 0, least: batch.min(queued), to_low: true };
            } else if self.reads.is_empty() && queued > 0 {
                let least = if queued >= batch { batch } else { 0 };
                self.mode = ServedQueue::Writes { done: 0, least, to_low: false };
            }
        }
    }

    /// Age of the request that has to be served before all others.
    fn overdue(&self) -> Option<u64> {
        let oldest = self.oldest()?;
        (self.now > oldest.request.visible + self.scheduling.age_limit_clocks).then_some(oldest.age)
    }

    /// Whether an entry is being served.
    fn is_served(&self, entry: &QueuedRequest, is_write: bool, overdue: Option<u64>) -> bool {
        entry.has_begun || overdue == Some(entry.age) || is_write == matches!(self.mode, ServedQueue::Writes { .. })
    }

    /// Whether an older request for the same line has not been issued yet. A read does not wait for a write, because
    /// the bytes of the write are merged.
    fn is_behind(&self, entry: &QueuedRequest, is_write: bool) -> bool {
        if !entry.shares_line {
            return false;
        }
        let is_older = |other: &QueuedRequest| other.age < entry.age && other.request.line == entry.request.line;
        self.reads.iter().any(is_older) || is_write && self.writes.iter().any(is_older)
    }

    /// All queue entries: whether the entry is a write, its index in its queue, and the entry.
    fn entries(&self) -> impl Iterator<Item = (bool, usize, &QueuedRequest)> {
        let reads = self.reads.iter().enumerate().map(|(n, entry)| (false, n, entry));
        reads.chain(self.writes.iter().enumerate().map(|(n, entry)| (true, n, entry)))
    }

    fn slot(&self, scope: usize, bank: usize) -> usize {
        scope * self.banks + bank
    }

    fn gather_demand(&mut self, overdue: Option<u64>) {
        let mut demand = std::mem::take(&mut self.demand);
        demand.fill(Demand::default());
        for (is_write, _, entry) in self.entries() {
            let bank = &mut demand[self.slot(entry.scope(), entry.bank)];
            bank.any = true;
            bank.has_begun |= entry.has_begun;
            if self.is_served(entry, is_write, overdue) && !self.is_behind(entry, is_write) {
                if self.timing.open_row(entry.scope(), entry.bank) == Some(entry.request.place.row) {
                    bank.oldest_hit = Some(bank.oldest_hit.map_or(entry.age, |age| age.min(entry.age)));
                } else {
                    bank.other_row = true;
                }
            }
        }
        self.demand = demand;
    }

    /// The command that is issued next, provided that no new request arrives.
    fn choose(&mut self) -> Option<DramCandidate> {
        let overdue = self.overdue();
        self.gather_demand(overdue);
        let oldest = self.entries().find(|(.., entry)| overdue == Some(entry.age));
        let first = oldest.and_then(|(is_write, n, entry)| self.of_request(entry, is_write, n, overdue));
        let mut best = first;
        let mut offer = |candidate: DramCandidate| {
            let is_better = best.is_none_or(|best| candidate.key < best.key);
            if is_better && first.is_none_or(|first| self.leaves_alone(&candidate, &first)) {
                best = Some(candidate);
            }
        };
        for (is_write, index, entry) in self.entries() {
            if overdue != Some(entry.age) && self.is_served(entry, is_write, overdue) {
                self.of_request(entry, is_write, index, overdue).into_iter().for_each(&mut offer);
            }
        }
        for scope in 0..self.refreshes.len() {
            self.of_refresh(scope).into_iter().for_each(&mut offer);
            self.of_idle_rows(scope, &mut offer);
        }
        best
    }

    /// Whether a command may be issued before the command of an overdue request: either it does not delay that command,
    /// or it must not be delayed itself.
    fn leaves_alone(&self, candidate: &DramCandidate, overdue: &DramCandidate) -> bool {
        let begun = &self.demand[self.slot(candidate.place.rank as usize, self.bank_of(&candidate.place))];
        if candidate.key.1 == class::FORCED || begun.has_begun {
            return true;
        }
        let (own, other) = (&candidate.place, &overdue.place);
        if (own.rank, own.group, own.bank) == (other.rank, other.group, other.bank) {
            return false;
        }
        let mut then = self.timing.clone();
        then.issue(candidate.operation, own, candidate.key.0);
        then.earliest(overdue.operation, other) <= overdue.key.0
    }

    fn bank_of(&self, place: &DramPlace) -> usize {
        place.bank_of_scope(&self.preset.organisation) as usize
    }

    fn candidate(
        &self,
        operation: DramOperation,
        place: DramPlace,
        class: u8,
        age: u64,
        cause: DramCommandCause,
    ) -> DramCandidate {
        let clock = self.timing.earliest(operation, &place).max(self.now);
        DramCandidate { key: (clock, class, age), operation, place, cause }
    }

    /// Whether a forced refresh blocks new requests to a bank.
    fn is_held(&self, scope: usize, bank: usize) -> bool {
        self.refreshes[scope].as_ref().is_some_and(|debt| {
            debt.is_forced()
                && debt.bank().is_none_or(|named| {
                    let place = self.timing.bank_place(self.number, scope, named as usize);
                    self.timing.covered(&place).any(|covered| covered == bank)
                })
        })
    }

    /// The next command of a request.
    fn of_request(
        &self,
        entry: &QueuedRequest,
        is_write: bool,
        index: usize,
        overdue: Option<u64>,
    ) -> Option<DramCandidate> {
        let (scope, bank) = (entry.scope(), entry.bank);
        let demand = self.demand[self.slot(scope, bank)];
        if !entry.has_begun && (self.is_held(scope, bank) || self.is_behind(entry, is_write)) {
            return None;
        }
        let cause = DramCommandCause::Request { is_write, index };
        let is_overdue = overdue == Some(entry.age);
        let class = |class| if is_overdue { class::OVERDUE } else { class };
        let used = self.uses[self.slot(scope, bank)].0;
        let is_capped = |bursts: u32| demand.other_row && used + bursts > self.scheduling.hit_cap;
        match self.timing.open_row(scope, bank) {
            Some(row) if row == entry.request.place.row => {
                if !entry.has_begun && !is_overdue && is_capped(entry.bursts_left()) {
                    return None;
                }
                let mut operation = entry.column();
                if entry.total_left() == 1 && self.closes_with(entry) {
                    operation = operation.with_precharge();
                }
                let mut candidate =
                    self.candidate(operation, entry.next_place(), class(class::COLUMN), entry.age, cause);
                if entry.reads_left == 0 {
                    candidate.key.0 = candidate.key.0.max(entry.not_before);
                }
                Some(candidate)
            }
            Some(_) => {
                let waits = demand.oldest_hit.is_some_and(|age| age < entry.age) && !is_capped(entry.bursts_left());
                if demand.has_begun || waits {
                    return None;
                }
                Some(self.candidate(DramOperation::Pre, entry.request.place, class(class::ROW), entry.age, cause))
            }
            None => Some(self.candidate(DramOperation::Act, entry.request.place, class(class::ROW), entry.age, cause)),
        }
    }

    /// Whether the policy closes the row with the last burst of an entry.
    fn closes_with(&self, entry: &QueuedRequest) -> bool {
        match self.scheduling.policy {
            DramPagePolicy::Open => false,
            DramPagePolicy::Closed => true,
            DramPagePolicy::Adaptive => {
                let hits = |other: &QueuedRequest| {
                    other.age != entry.age
                        && other.scope() == entry.scope()
                        && other.bank == entry.bank
                        && other.request.place.row == entry.request.place.row
                };
                !self.reads.iter().chain(&self.writes).any(hits)
            }
        }
    }

    /// The next command of a refresh that is owed.
    fn of_refresh(&self, scope: usize) -> Option<DramCandidate> {
        let debt = self.refreshes[scope].as_ref().filter(|debt| debt.is_owed())?;
        let of_scope = &self.demand[self.slot(scope, 0)..self.slot(scope + 1, 0)];
        let class = if debt.is_forced() { class::FORCED } else { class::REFRESH };
        let offer = |operation, place| Some(self.candidate(operation, place, class, 0, DramCommandCause::Refresh));
        match debt.bank() {
            None => {
                let place = self.timing.bank_place(self.number, scope, 0);
                if of_scope.iter().any(|bank| bank.has_begun || bank.any && !debt.is_forced()) {
                    return None;
                }
                let is_open = self.timing.any_open(scope);
                offer(if is_open { DramOperation::PreAll } else { DramOperation::RefreshAll }, place)
            }
            Some(named) => {
                let place = self.timing.bank_place(self.number, scope, named as usize);
                let mut covered = self.timing.covered(&place);
                if covered.any(|n| of_scope[n].has_begun || of_scope[n].any && !debt.is_forced()) {
                    return None;
                }
                let open = self.timing.covered(&place).find(|n| self.timing.open_row(scope, *n).is_some());
                match open {
                    Some(open) => offer(DramOperation::Pre, self.timing.bank_place(self.number, scope, open)),
                    None => offer(DramOperation::RefreshBank, place),
                }
            }
        }
    }

    /// Precharges of rows that no request needs any more.
    fn of_idle_rows(&self, scope: usize, offer: &mut impl FnMut(DramCandidate)) {
        if self.scheduling.policy != DramPagePolicy::Open {
            return;
        }
        for bank in 0..self.banks {
            if self.timing.open_row(scope, bank).is_some() && !self.demand[self.slot(scope, bank)].any {
                let place = self.timing.bank_place(self.number, scope, bank);
                let mut candidate = self.candidate(DramOperation::Pre, place, class::IDLE, 0, DramCommandCause::Idle);
                let last_use = self.uses[self.slot(scope, bank)].1;
                candidate.key.0 = candidate.key.0.max(last_use + self.scheduling.idle_close_clocks);
                offer(candidate);
            }
        }
    }

    fn issue(&mut self, candidate: &DramCandidate) {
        let DramCandidate { operation, place, cause, .. } = *candidate;
        let (scope, clock) = (place.rank as usize, self.now);
        let slot = self.slot(scope, place.bank_of_scope(&self.preset.organisation) as usize);
        self.timing.issue(operation, &place, clock);
        if let Some(commands) = &mut self.commands {
            let shown = match operation {
                DramOperation::Act => DramPlace { column: 0, ..place },
                _ if operation.is_column() => place,
                _ => DramPlace { row: 0, column: 0, ..place },
            };
            commands.push(DramCommand { clock, operation, place: shown });
        }
        match operation {
            DramOperation::Act => self.uses[slot] = (0, clock),
            _ if operation.is_column() => self.uses[slot] = (self.uses[slot].0 + 1, clock),
            _ => {}
        }
        if matches!(operation, DramOperation::RefreshAll | DramOperation::RefreshBank) {
            self.counts.refreshes += 1;
            self.refreshes[scope].iter_mut().for_each(RefreshDebt::sent);
        }
        if let DramCommandCause::Request { is_write, index } = cause {
            self.serve(operation, is_write, index, clock);
        }
    }

    /// The first request that is served in a row counts as the one for which the row was opened, if that is another one, which
    /// finds the row used then, or has to have it opened again.
    fn take_opening(&mut self, is_write: bool, index: usize) {
        let own = if is_write { self.writes[index] } else { self.reads[index] };
        if own.was_counted || own.has_opened || self.uses[self.slot(own.scope(), own.bank)].0 != 1 {
            return;
        }
        let is_opener = |other: &&mut QueuedRequest| {
            other.has_opened
                && !other.was_counted
                && (other.scope(), other.bank, other.request.place.row)
                    == (own.scope(), own.bank, own.request.place.row)
        };
        let Some(opener) = self.reads.iter_mut().chain(&mut self.writes).find(is_opener) else { return };
        let has_closed = std::mem::take(&mut opener.has_closed);
        opener.has_opened = false;
        let own = if is_write { &mut self.writes[index] } else { &mut self.reads[index] };
        own.has_opened = true;
        own.has_closed |= has_closed;
    }

    /// Updates the request for which a command was issued.
    fn serve(&mut self, operation: DramOperation, is_write: bool, index: usize, clock: u64) {
        if operation.is_column() {
            self.take_opening(is_write, index);
        }
        let entries = if is_write { &mut self.writes } else { &mut self.reads };
        let entry = &mut entries[index];
        match operation {
            DramOperation::Pre => entry.has_closed = true,
            DramOperation::Act => entry.has_opened = true,
            _ => {
                let t = &self.preset.timing;
                let latency = if operation.is_read() { t.cl } else { t.cwl };
                let end = clock + u64::from(latency + t.bl);
                if !entry.was_counted {
                    match (entry.has_opened, entry.has_closed) {
                        (true, true) => self.counts.conflicts += 1,
                        (true, false) => self.counts.misses += 1,
                        (false, _) => self.counts.hits += 1,
                    }
                    entry.was_counted = true;
                }
                if operation.is_read() {
                    entry.reads_left -= 1;
                    entry.not_before = end;
                    self.counts.read_bursts += 1;
                } else {
                    entry.writes_left -= 1;
                    self.counts.write_bursts += 1;
                }
                // The row may be closed between the read and the write of a request; the bursts of each stay together.
                let half_done = entry.reads_left % entry.request.bursts + entry.writes_left % entry.request.bursts;
                entry.has_begun = half_done != 0;
                self.counts.last_data = self.counts.last_data.max(end);
                let turns = self.last_was_write.replace(operation.is_write());
                self.counts.turnarounds += u64::from(turns.is_some_and(|was| was != operation.is_write()));
                let entry = *entry;
                if entry.total_left() == 0 {
                    entries.remove(index);
                    if is_write {
                        if let ServedQueue::Writes { done, .. } = &mut self.mode {
                            *done += 1;
                        }
                    } else {
                        self.done.push((entry.request.token, end));
                    }
                }
            }
        }
    }
}
