//! What the tests of memories share: places, traces that are judged, traffic through a controller.

use scalepool::memory::LINE_BYTES;
use scalepool::memory::backend::{MemoryAccess, MemoryRequest};
use scalepool::memory::dram::channel::DramCounts;
use scalepool::memory::dram::controller::DramRefresh;
use scalepool::memory::dram::{
    DramCommand, DramConfig, DramController, DramFinding, DramMonitor, DramOperation, DramPlace, DramPreset,
};

pub type Op = DramOperation;

/// A bank.
pub const A: DramPlace = DramPlace { channel: 0, rank: 0, group: 0, bank: 0, row: 7, column: 0 };
/// A bank of another group.
pub const B: DramPlace = DramPlace { group: 1, ..A };
/// Another bank of the group of `A`.
pub const G: DramPlace = DramPlace { bank: 1, ..A };
/// A bank that is closed at the start of a case.
pub const FRESH: DramPlace = DramPlace { bank: 2, ..A };
/// Another one of its group.
pub const FRESH_GROUP: DramPlace = DramPlace { bank: 3, ..A };
/// One of another group.
pub const FRESH_OTHER: DramPlace = DramPlace { group: 1, bank: 2, ..A };

/// A bank of another rank.
pub fn other_rank() -> DramPlace {
    DramPlace { rank: 1, ..A }
}

/// A bank of another stack, where there is one.
pub fn other_stack(preset: &DramPreset) -> DramPlace {
    DramPlace { group: preset.organisation.bank_groups, ..A }
}

pub fn at(clock: u64, operation: Op, place: DramPlace) -> DramCommand {
    DramCommand { clock, operation, place }
}

/// Judges a trace without asking for refreshes.
pub fn judge(preset: &DramPreset, commands: &[DramCommand]) -> Vec<DramFinding> {
    let mut monitor = DramMonitor::new(preset, false);
    commands.iter().for_each(|command| monitor.judge(command));
    monitor.take_findings()
}

pub fn ids(findings: &[DramFinding]) -> Vec<&'static str> {
    findings.iter().map(|finding| finding.rule).collect()
}

/// A memory of one channel that keeps its commands.
pub fn one_channel(preset: &DramPreset) -> DramConfig {
    let mut config = DramConfig::new(preset);
    config.preset.organisation.channels = 1;
    config.keep_commands = true;
    config
}

pub fn line(line: u64, access: MemoryAccess) -> MemoryRequest {
    MemoryRequest { address: line * LINE_BYTES, bytes: LINE_BYTES, access }
}

/// What a run leaves behind.
pub struct Run {
    /// By request: when it was taken and when it was done \[fs\].
    pub times: Vec<(u64, u64)>,
    pub counts: DramCounts,
    pub commands: Vec<DramCommand>,
    /// When the last answer was there \[fs\].
    pub end_fs: u64,
}

impl Run {
    /// What the monitor says of it.
    pub fn findings(&self, config: &DramConfig) -> Vec<DramFinding> {
        let mut monitor = DramMonitor::new(&config.preset, config.refresh != DramRefresh::Off);
        self.commands.iter().for_each(|command| monitor.judge(command));
        monitor.finish(self.end_fs / config.preset.timing.tck_fs);
        monitor.take_findings()
    }

    /// Commands of a kind, as clocks.
    pub fn clocks(&self, operation: Op) -> Vec<u64> {
        self.commands.iter().filter(|command| command.operation == operation).map(|command| command.clock).collect()
    }
}

/// Hands requests over as soon as they have room, at most one each clock and none before its time \[fs\].
pub fn run(config: &DramConfig, requests: impl IntoIterator<Item = (u64, MemoryRequest)>) -> Run {
    let mut memory = DramController::new(config).expect("a legal memory");
    let tck = config.preset.timing.tck_fs;
    let (mut times, mut commands) = (Vec::<(u64, u64)>::new(), Vec::new());
    let mut requests = requests.into_iter().peekable();
    let (mut now, mut open) = (0_u64, 0_usize);
    loop {
        memory.advance(now);
        for (token, done) in memory.take_finished() {
            times[token as usize].1 = done;
            open -= 1;
        }
        commands.extend(memory.take_commands());
        let event = memory.next_event_fs();
        let next = match requests.peek() {
            Some((from, _)) if *from > now => event.map_or(*from, |event| event.min(*from)),
            Some((_, request)) if memory.has_room(request) => {
                let (_, request) = requests.next().expect("there is one");
                assert_eq!(memory.push(now, &request), times.len() as u64);
                times.push((now, 0));
                open += 1;
                now + tck
            }
            _ => match event {
                Some(event) => event,
                None => break,
            },
        };
        now = next.max(now + 1).div_ceil(tck) * tck;
    }
    assert_eq!(open, 0, "all requests are answered");
    let end_fs = times.iter().map(|(_, done)| *done).max().unwrap_or(0);
    Run { times, counts: memory.counts(), commands, end_fs }
}

/// A small generator of numbers that is the same everywhere.
pub struct Numbers(pub u64);

impl Numbers {
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}
