//! Refreshes: when they come, how long they are postponed, which banks they cover.

use super::rig::{A, FRESH_OTHER, G, Numbers, Op, Run, at, ids, line, one_channel, run};
use scalepool::memory::backend::{MemoryAccess, MemoryRequest};
use scalepool::memory::dram::controller::DramRefresh;
use scalepool::memory::dram::preset::{self, PRESETS};
use scalepool::memory::dram::{DramCommand, DramConfig, DramMonitor, DramPreset};

fn config(key: &str, refresh: DramRefresh) -> DramConfig {
    DramConfig { refresh, ..one_channel(preset::find(key).expect("a preset")) }
}

/// One read now and one after so many intervals.
fn idle(config: &DramConfig, intervals: u64) -> Run {
    let end = config.preset.fs(intervals * u64::from(config.preset.timing.refi) + 100);
    run(config, [(0, line(0, MemoryAccess::Read)), (end, line(0, MemoryAccess::Read))])
}

/// Random reads without a pause.
fn loaded(config: &DramConfig, lines: u64) -> Run {
    let mut numbers = Numbers(3);
    let requests: Vec<(u64, MemoryRequest)> =
        (0..lines).map(|_| (0, line(numbers.below(1 << 20), MemoryAccess::Read))).collect();
    run(config, requests)
}

fn judge(preset: &DramPreset, commands: &[DramCommand], end: u64) -> Vec<&'static str> {
    let mut monitor = DramMonitor::new(preset, true);
    commands.iter().for_each(|command| monitor.judge(command));
    monitor.finish(end);
    ids(&monitor.take_findings())
}

#[test]
fn mem_ref_01_p() {
    // At rest each comes when it is due, those of two pseudo-channels half an interval apart.
    let config = config("hbm3_6400", DramRefresh::All);
    let run = idle(&config, 10);
    let refi = u64::from(config.preset.timing.refi);
    for rank in 0..2 {
        let of_rank = run.commands.iter().filter(|c| c.operation == Op::RefreshAll && c.place.rank == rank);
        let expected: Vec<u64> = (1..=9).map(|n| n * refi + u64::from(rank) * refi / 2).collect();
        assert_eq!(of_rank.map(|c| c.clock).take(9).collect::<Vec<_>>(), expected);
    }
}

#[test]
fn mem_ref_01_n() {
    let clocks = idle(&config("hbm3_6400", DramRefresh::All), 10).clocks(Op::RefreshAll);
    assert!(clocks.windows(2).all(|pair| pair[0] != pair[1]), "no two at once");
}

#[test]
fn mem_ref_02_p() {
    let config = config("ddr4_3200aa", DramRefresh::All);
    let run = loaded(&config, 9500);
    let refi = u64::from(config.preset.timing.refi);
    let clocks = run.clocks(Op::RefreshAll);
    // Under load the first one comes when a fifth is due, and then one in each interval.
    for (n, clock) in clocks.iter().enumerate() {
        let due = (n as u64 + 5) * refi;
        assert!((due..due + refi / 10).contains(clock), "refresh {n} at {clock}, due at {due}");
    }
    assert!(!clocks.is_empty() && run.findings(&config).is_empty());
}

#[test]
fn mem_ref_02_n() {
    // One more that is postponed.
    let config = config("ddr4_3200aa", DramRefresh::All);
    let run = loaded(&config, 9500);
    let without: Vec<DramCommand> =
        run.commands.iter().copied().filter(|command| command.operation != Op::RefreshAll).collect();
    let end = run.end_fs / config.preset.timing.tck_fs;
    assert!(end > 6 * u64::from(config.preset.timing.refi));
    assert!(judge(&config.preset, &without, end).contains(&"MEM-MON-04"));
}

#[test]
fn mem_ref_03_p() {
    let intervals =
        [("lpddr5_6400", 390), ("hbm3_6400", 195), ("hbm3e_8000", 243), ("hbm3e_9600", 292), ("ddr5_4800b", 1170)];
    for (key, interval) in intervals {
        let run = idle(&config(key, DramRefresh::PerBank), 3);
        let first: Vec<&DramCommand> =
            run.commands.iter().filter(|c| c.operation == Op::RefreshBank && c.place.rank == 0).collect();
        // The first one waits for the row of the read to be closed.
        let first = &first[1..];
        for (n, pair) in first.windows(2).enumerate() {
            assert_eq!(pair[1].clock - pair[0].clock, interval, "{key}, {n}");
            let bank = |c: &DramCommand| 4 * c.place.group + c.place.bank;
            assert!(bank(pair[1]) == bank(pair[0]) + 1 || bank(pair[1]) == 0, "{key}, {n}");
        }
        assert_eq!(run.clocks(Op::RefreshAll), [0_u64; 0], "{key}");
    }
}

#[test]
fn mem_ref_03_n() {
    // A bank that is always skipped.
    let config = config("hbm3_6400", DramRefresh::PerBank);
    let run = idle(&config, 12);
    let skips = |c: &DramCommand| c.operation == Op::RefreshBank && (c.place.group, c.place.bank) == (0, 1);
    let without: Vec<DramCommand> = run.commands.iter().copied().filter(|c| !skips(c)).collect();
    let end = run.end_fs / config.preset.timing.tck_fs;
    assert_eq!(judge(&config.preset, &run.commands, end), [] as [&str; 0]);
    assert!(judge(&config.preset, &without, end).contains(&"MEM-MON-04"));
}

/// A bank that a refresh covers besides the one that it names, and one that it does not.
fn covered(key: &str) -> (DramPreset, scalepool::memory::dram::DramPlace, scalepool::memory::dram::DramPlace) {
    let preset = *preset::find(key).expect("a preset");
    let group = if key.starts_with("ddr5") { 5 } else { 2 };
    (preset, scalepool::memory::dram::DramPlace { group, ..A }, FRESH_OTHER)
}

#[test]
fn mem_ref_04_p() {
    for key in ["lpddr5_6400", "ddr5_4800b"] {
        let (preset, _, other) = covered(key);
        let trace = [at(0, Op::Act, other), at(500, Op::RefreshBank, A), at(900, Op::Read, other)];
        assert_eq!(super::rig::judge(&preset, &trace), [], "{key}");
    }
}

#[test]
fn mem_ref_04_n() {
    for key in ["lpddr5_6400", "ddr5_4800b"] {
        let (preset, both, _) = covered(key);
        let trace = [at(0, Op::Act, both), at(500, Op::RefreshBank, A)];
        assert_eq!(ids(&super::rig::judge(&preset, &trace)), ["MEM-STA-04"], "{key}");
        let sooner = [at(0, Op::RefreshBank, A), at(u64::from(preset.timing.rfc_bank) - 1, Op::Act, both)];
        assert_eq!(ids(&super::rig::judge(&preset, &sooner)), ["MEM-TIM-31"], "{key}");
    }
}

#[test]
fn mem_ref_05_p() {
    // Banks of a refresh rest while others are opened.
    let config = config("hbm3_6400", DramRefresh::PerBank);
    let run = loaded(&config, 6000);
    let rfc = u64::from(config.preset.timing.rfc_bank);
    let refreshed = run.clocks(Op::RefreshBank);
    let works = |from: u64| run.clocks(Op::Act).iter().any(|clock| (from..from + rfc).contains(clock));
    assert!(refreshed.len() > 10 && refreshed.iter().take(10).all(|clock| works(*clock)));
    assert_eq!(run.findings(&config), []);
    let config = DramConfig { refresh: DramRefresh::Off, ..config };
    assert_eq!(loaded(&config, 6000).counts.refreshes, 0);
    assert_eq!(DramConfig::new(&PRESETS[0]).refresh, DramRefresh::All);
}

#[test]
fn mem_ref_05_n() {
    let wrong = config("ddr4_3200aa", DramRefresh::PerBank);
    assert_eq!(wrong.check().first().map(|(field, _)| *field), Some("refresh"));
    assert!(idle(&config("ddr4_3200aa", DramRefresh::All), 3).counts.refreshes > 0);
}

/// The device when it is hot.
fn hot() -> DramConfig {
    one_channel(&preset::find("ddr4_3200aa").expect("a preset").hot())
}

#[test]
fn mem_ref_06_p() {
    let run = idle(&hot(), 20);
    assert_eq!(judge(&hot().preset, &run.commands, run.end_fs / 625_000), [] as [&str; 0]);
    assert_eq!(run.clocks(Op::RefreshAll)[..2], [6240, 12_480]);
}

#[test]
fn mem_ref_06_n() {
    let cold = idle(&config("ddr4_3200aa", DramRefresh::All), 20);
    assert!(judge(&hot().preset, &cold.commands, cold.end_fs / 625_000).contains(&"MEM-MON-04"));
}

#[test]
fn mem_mon_04_p() {
    let refi = u64::from(PRESETS[0].timing.refi);
    // Five intervals late, in the middle of a trace.
    let clocks = (1..20).filter(|n| !(5..10).contains(n)).map(|n| at(n * refi, Op::RefreshAll, G));
    assert_eq!(judge(&PRESETS[0], &clocks.collect::<Vec<_>>(), 20 * refi), [] as [&str; 0]);
}

#[test]
fn mem_mon_04_n() {
    let refi = u64::from(PRESETS[0].timing.refi);
    let clocks: Vec<_> = (1..20).filter(|n| !(5..11).contains(n)).map(|n| at(n * refi, Op::RefreshAll, G)).collect();
    assert!(judge(&PRESETS[0], &clocks, 20 * refi).contains(&"MEM-MON-04"));
}
