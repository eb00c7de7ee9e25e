//! Random and regular traffic through whole memories, judged by the monitor and by formulas.

use super::controller::{DramPagePolicy, DramRefresh};
use super::preset::{self, DramPreset};
use super::*;
use crate::backend::{MemoryAccess, MemoryRequest};

const LINE: u64 = 64;

/// A small generator of numbers, so that runs are the same everywhere.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % below
    }
}

/// A memory of one channel, so that a run is short.
fn one_channel(preset: &DramPreset) -> DramConfig {
    let mut config = DramConfig::new(preset);
    config.preset.organisation.channels = 1;
    config.keep_commands = true;
    config
}

fn request(line: u64, access: MemoryAccess) -> MemoryRequest {
    MemoryRequest { address: line * LINE, bytes: LINE, access }
}

/// Ends of a run.
struct Run {
    /// By request: when it was taken and when it was done \[fs\].
    times: Vec<(u64, u64)>,
    commands: Vec<DramCommand>,
    end_fs: u64,
}

/// Hands requests over as soon as they have room, at most one each clock, and none before its time.
fn run(config: &DramConfig, requests: impl Iterator<Item = (u64, MemoryRequest)>) -> Run {
    let mut memory = DramController::new(config).expect("a legal memory");
    let tck = config.preset.timing.tck_fs;
    let mut times: Vec<(u64, u64)> = Vec::new();
    let mut commands = Vec::new();
    let (mut now, mut open) = (0_u64, 0_usize);
    let mut requests = requests.peekable();
    loop {
        memory.advance(now);
        for (token, done) in memory.take_finished() {
            times[token as usize].1 = done;
            open -= 1;
        }
        commands.extend(memory.take_commands());
        let mut next = memory.next_event_fs();
        if let Some((at, request)) = requests.peek() {
            if *at > now {
                next = Some(next.map_or(*at, |next| next.min(*at)));
            } else if memory.has_room(request) {
                let (_, request) = requests.next().expect("there is one");
                assert_eq!(memory.push(now, &request), times.len() as u64);
                times.push((now, 0));
                open += 1;
                next = Some(now + tck);
            }
        }
        match next {
            Some(next) => now = next.max(now + 1).div_ceil(tck) * tck,
            None if open == 0 => break,
            None => panic!("{open} requests are open and nothing is to happen"),
        }
        assert!(now < 1_000_000_000_000, "{open} open at the end of time");
    }
    for (token, done) in memory.take_finished() {
        times[token as usize].1 = done;
    }
    let end_fs = times.iter().map(|(_, done)| *done).max().unwrap_or(0);
    Run { times, commands, end_fs }
}

fn judge(config: &DramConfig, run: &Run) -> Vec<DramFinding> {
    let mut monitor = DramMonitor::new(&config.preset, config.refresh != DramRefresh::Off);
    for command in &run.commands {
        assert_eq!(monitor.misplaced(command), None);
        monitor.judge(command);
    }
    monitor.finish(run.end_fs / config.preset.timing.tck_fs);
    monitor.take_findings()
}

#[test]
fn random_traffic_breaks_no_rule_on_any_preset_with_any_policy() {
    for (n, preset) in preset::PRESETS.iter().enumerate() {
        let refreshes = [DramRefresh::All, DramRefresh::PerBank, DramRefresh::Off];
        for (k, refresh) in refreshes.into_iter().enumerate() {
            let mut config = one_channel(preset);
            config.refresh = if preset.has_bank_refresh() { refresh } else { DramRefresh::All };
            config.map = DramMap::ALL[(n + k) % 5];
            config.scheduling.policy =
                [DramPagePolicy::Open, DramPagePolicy::Closed, DramPagePolicy::Adaptive][(n + 2 * k) % 3];
            config.preset.organisation.ranks = if preset.has_two_command_buses() { 1 } else { 1 + k as u32 % 2 };
            config.reads_before_partial_writes = k == 2;
            let mut numbers = Numbers(1 + n as u64 * 7 + k as u64);
            let lines = config.preset.organisation.capacity_bytes() / LINE;
            let mut at = 0;
            let mut line = 0;
            let requests: Vec<_> = (0..1500)
                .map(|_| {
                    // Bursts of requests with pauses, near lines and far ones.
                    at += if numbers.next(64) == 0 { numbers.next(2_000_000_000) } else { numbers.next(4) * 500_000 };
                    line = match numbers.next(4) {
                        0 => numbers.next(lines),
                        1 => numbers.next(64),
                        _ => (line + 1) % lines,
                    };
                    let access = match numbers.next(6) {
                        0 | 1 => MemoryAccess::Write,
                        2 => MemoryAccess::Modify,
                        _ => MemoryAccess::Read,
                    };
                    (at, request(line, access))
                })
                .collect();
            let run = run(&config, requests.into_iter());
            let findings = judge(&config, &run);
            let shown: Vec<String> = findings.iter().take(4).map(|f| format!("{f} ({:?})", f.command)).collect();
            assert!(findings.is_empty(), "{} {refresh:?}: {} {shown:#?}", preset.key, findings.len());
            assert!(run.times.iter().all(|(taken, done)| done >= taken), "{}: all are answered", preset.key);
        }
    }
}
