//! Latency of a request alone: the arithmetic of `memory §2.4`, on every preset.

use super::rig::{Numbers, Run, line, one_channel, run};
use scalepool::memory::backend::MemoryAccess;
use scalepool::memory::dram::controller::DramRefresh;
use scalepool::memory::dram::preset::{DramPreset, PRESETS};
use scalepool::memory::dram::{DramConfig, DramMapping, DramPlace};

const NS: u64 = 1_000_000;

/// A read of a closed bank, one of its row, and one of another row of the bank, each long after the one before, but before
/// the row is closed for want of use.
fn three(config: &DramConfig) -> Run {
    let mapping: DramMapping = config.mapping().expect("a mapping");
    let address = |row, column| mapping.address(&DramPlace { row, column, ..DramPlace::default() });
    let tck = config.preset.timing.tck_fs;
    let read = |n: u64, row, column| (n * 180 * tck, line(address(row, column) / 64, MemoryAccess::Read));
    run(config, [read(1, 3, 0), read(2, 3, 4), read(3, 9, 0)])
}

fn still(preset: &DramPreset) -> DramConfig {
    DramConfig { refresh: DramRefresh::Off, ..one_channel(preset) }
}

/// Latencies of the three \[fs\], from the cells of the preset.
fn expected(config: &DramConfig) -> [u64; 3] {
    let (p, t) = (&config.preset, &config.preset.timing);
    let second = if p.organisation.burst_bytes == 32 { t.ccd_l } else { 0 };
    let front = config.front_fs.div_ceil(t.tck_fs) * t.tck_fs;
    let data = [t.rcd_read + t.cl + t.bl, t.cl + t.bl, t.rp + t.rcd_read + t.cl + t.bl];
    data.map(|clocks| front + u64::from(clocks + second) * t.tck_fs + config.back_fs)
}

fn latencies(run: &Run) -> Vec<u64> {
    run.times.iter().map(|(taken, done)| done - taken).collect()
}

#[test]
fn mem_lat_01_p() {
    for preset in PRESETS {
        let run = three(&still(preset));
        assert_eq!(latencies(&run), expected(&still(preset)), "{}", preset.key);
        assert_eq!((run.counts.misses, run.counts.hits, run.counts.conflicts), (1, 1, 1), "{}", preset.key);
    }
}

#[test]
fn mem_lat_01_n() {
    // One clock in any part of the path shows.
    type Change = fn(&mut DramConfig);
    let changes: [Change; 3] = [|c| c.preset.timing.cl += 1, |c| c.front_fs += NS, |c| c.back_fs += NS];
    for change in changes {
        let mut other = still(&PRESETS[0]);
        change(&mut other);
        let found = latencies(&three(&other));
        assert!(found.iter().zip(expected(&still(&PRESETS[0]))).all(|(a, b)| *a != b));
    }
}

#[test]
fn mem_lat_02_p() {
    // W6: ACT 0, RD 15, RD 19, last data 38 = 47.5 ns.
    let preset = PRESETS.iter().find(|preset| preset.key == "lpddr5_6400").expect("a preset");
    let run = three(&DramConfig { front_fs: 0, back_fs: 0, ..still(preset) });
    assert_eq!(latencies(&run)[0], 47 * NS + NS / 2);
}

#[test]
fn mem_lat_02_n() {
    let preset = PRESETS.iter().find(|preset| preset.key == "lpddr5_6400").expect("a preset");
    let run = three(&DramConfig { front_fs: 0, back_fs: 0, ..still(preset) });
    assert_ne!(latencies(&run)[0], preset.fs(preset.closed_clocks().into()), "one burst is not a line");
}

#[test]
fn mem_lat_03_p() {
    let preset = &PRESETS[0];
    for (front, back) in [(0, 0), (10, 0), (0, 10), (10, 10), (25, 25), (10, 25)] {
        let config = DramConfig { front_fs: front * NS, back_fs: back * NS, ..still(preset) };
        assert_eq!(latencies(&three(&config))[1], preset.fs(26) + (front + back) * NS, "{front} {back}");
    }
}

#[test]
fn mem_lat_03_n() {
    let preset = &PRESETS[0];
    let found = latencies(&three(&still(preset)))[1];
    assert!([preset.fs(26), preset.fs(26) + 10 * NS, preset.fs(26) + 40 * NS].iter().all(|wrong| *wrong != found));
}

#[test]
fn mem_mon_07_p() {
    mem_lat_01_p();
}

#[test]
fn mem_mon_07_n() {
    // Traffic in front of a request is seen in its latency.
    let config = still(&PRESETS[0]);
    let busy = run(&config, (0..32).map(|n| (0, line(n * 512, MemoryAccess::Read))));
    assert!(latencies(&busy)[31] > expected(&config)[2]);
}

#[test]
fn mem_mon_05_p() {
    // `run` panics if a request is not answered; requests of a line are done in the order in which they were taken.
    for preset in PRESETS {
        let mut numbers = Numbers(11);
        let lines: Vec<u64> = (0..1500).map(|_| numbers.below(24)).collect();
        let access = |n: u64| if n % 3 == 0 { MemoryAccess::Write } else { MemoryAccess::Read };
        let requests: Vec<_> = lines.iter().map(|n| (0, line(*n, access(numbers.below(6))))).collect();
        let run = run(&one_channel(preset), requests);
        assert_eq!(swapped(&lines, &run.times), None, "{}", preset.key);
    }
}

/// A request that was done before an older one of its line.
fn swapped(lines: &[u64], times: &[(u64, u64)]) -> Option<usize> {
    let mut done = std::collections::BTreeMap::new();
    (0..lines.len()).find(|n| done.insert(lines[*n], times[*n].1).is_some_and(|before| before > times[*n].1))
}

#[test]
fn mem_mon_05_n() {
    assert_eq!(swapped(&[1, 2, 1], &[(0, 9), (0, 5), (0, 8)]), Some(2));
}

#[test]
fn mem_sch_08_p() {
    mem_mon_05_p();
}

#[test]
fn mem_sch_08_n() {
    mem_mon_05_n();
}
