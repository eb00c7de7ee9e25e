//! Bandwidth against a calculator of its own: what data bus, bank groups, activates, banks and command bus allow, less
//! refresh. The calculator has the figures of `memory §2` a second time, in nanoseconds, and no code of the controller.

use super::rig::{Numbers, Run, line, one_channel, run};
use scalepool::memory::backend::MemoryAccess;
use scalepool::memory::dram::controller::DramRefresh;
use scalepool::memory::dram::{DramConfig, DramPlace, preset};
use std::sync::OnceLock;

/// Figures of one data bus.
struct Device {
    key: &'static str,
    tck_ns: f64,
    /// Bytes of a burst, and clocks of it.
    burst: (f64, f64),
    ccd_l: f64,
    faw: f64,
    rrd_s: f64,
    rc: f64,
    banks: f64,
    /// Clocks of ACT, of RD or WR, of PRE on the command bus that they share; HBM has a bus for columns.
    bus: (f64, f64),
    has_column_bus: bool,
    rfc_refi: (f64, f64),
    /// Data buses of a channel.
    buses: f64,
}

const fn device(
    key: &'static str,
    tck_ns: f64,
    burst: (f64, f64),
    [ccd_l, faw, rrd_s, rc, banks]: [f64; 5],
    bus: (f64, f64),
    rfc_refi: (f64, f64),
) -> Device {
    let has_column_bus = burst.0 == 32.0 && bus.1 == 0.0;
    let buses = if has_column_bus { 2.0 } else { 1.0 };
    Device { key, tck_ns, burst, ccd_l, faw, rrd_s, rc, banks, bus, has_column_bus, rfc_refi, buses }
}

const DEVICES: &[Device] = &[
    device("ddr4_3200aa", 0.625, (64.0, 4.0), [8.0, 34.0, 4.0, 74.0, 16.0], (1.0, 1.0), (350.0, 7800.0)),
    device("ddr5_4800b", 0.416_667, (64.0, 8.0), [12.0, 32.0, 8.0, 116.0, 32.0], (2.0, 2.0), (295.0, 3900.0)),
    device("ddr5_5600b", 0.357_143, (64.0, 8.0), [14.0, 32.0, 8.0, 135.0, 32.0], (2.0, 2.0), (295.0, 3900.0)),
    device("ddr5_6400b", 0.3125, (64.0, 8.0), [16.0, 32.0, 8.0, 155.0, 32.0], (2.0, 2.0), (295.0, 3900.0)),
    device("lpddr5_6400", 1.25, (32.0, 2.0), [4.0, 16.0, 4.0, 49.0, 16.0], (2.0, 1.0), (280.0, 3906.25)),
    device("lpddr5x_8533", 0.9375, (32.0, 2.0), [4.0, 22.0, 6.0, 65.0, 16.0], (2.0, 1.0), (280.0, 3906.25)),
    device("hbm2e_3200", 0.625, (32.0, 2.0), [4.0, 26.0, 7.0, 68.0, 32.0], (2.0, 0.0), (450.0, 3900.0)),
    device("hbm3_6400", 0.625, (32.0, 2.0), [4.0, 24.0, 4.0, 71.0, 32.0], (2.0, 0.0), (350.0, 3900.0)),
    device("hbm3e_8000", 0.5, (32.0, 2.0), [5.0, 30.0, 5.0, 90.0, 32.0], (2.0, 0.0), (400.0, 3900.0)),
    device("hbm3e_8000_12h", 0.5, (32.0, 2.0), [5.0, 30.0, 5.0, 90.0, 48.0], (2.0, 0.0), (460.0, 3900.0)),
    device("hbm3e_9600", 0.416_667, (32.0, 2.0), [6.0, 36.0, 6.0, 107.0, 32.0], (2.0, 0.0), (400.0, 3900.0)),
    device("hbm3e_9600_12h", 0.416_667, (32.0, 2.0), [6.0, 36.0, 6.0, 107.0, 48.0], (2.0, 0.0), (460.0, 3900.0)),
];

/// What a pattern of lines asks of a device.
#[derive(Clone, Copy)]
enum Pattern {
    Stream,
    OneGroup,
    Random,
}

impl Device {
    fn peak(&self) -> f64 {
        self.buses * self.burst.0 / (self.burst.1 * self.tck_ns)
    }

    /// What the constraints allow for reads, before refresh \[GB/s of a channel\].
    fn bound(&self, pattern: Pattern) -> f64 {
        let gbps = |bytes: f64, clocks: f64| bytes / (clocks * self.tck_ns);
        let bursts = 64.0 / self.burst.0;
        // Command clocks of a line: activate, precharge, columns, on the bus that they share.
        let columns = if self.has_column_bus { 0.0 } else { bursts * self.bus.1 };
        match pattern {
            Pattern::Stream => self.peak(),
            Pattern::OneGroup => self.buses * gbps(self.burst.0, self.ccd_l),
            Pattern::Random => {
                let window = gbps(4.0 * 64.0, self.faw.max(4.0 * self.rrd_s));
                let banks = gbps(self.banks * 64.0, self.rc);
                let commands = gbps(64.0, self.bus.0 + 1.0 + columns);
                (self.buses * window.min(banks)).min(self.peak()).min(commands)
            }
        }
    }

    fn left_by_refresh(&self) -> f64 {
        1.0 - self.rfc_refi.0 / self.rfc_refi.1
    }
}

/// Lines of a run: enough for some refreshes.
const LINES: u64 = 5000;

fn memory(device: &Device) -> DramConfig {
    one_channel(preset::find(device.key).expect("a preset"))
}

/// A stream of reads, run once for all that is asked of it.
fn streamed(device: &Device) -> &'static Run {
    static RUNS: [OnceLock<Run>; DEVICES.len()] = [const { OnceLock::new() }; DEVICES.len()];
    let place = DEVICES.iter().position(|one| one.key == device.key).expect("a device of the list");
    RUNS[place].get_or_init(|| reads(&memory(device), Pattern::Stream))
}

fn reads(config: &DramConfig, pattern: Pattern) -> Run {
    let o = config.preset.organisation;
    let lines = o.capacity_bytes() / 64;
    let mut numbers = Numbers(5);
    let mapping = config.mapping().expect("a mapping");
    let row_lines = u64::from(o.row_bytes / 64);
    let requests: Vec<_> = (0..LINES)
        .map(|n| match pattern {
            Pattern::Stream => n,
            Pattern::Random => numbers.below(lines),
            // The lines of one row.
            Pattern::OneGroup => {
                let column = (n % row_lines) as u32 * (64 / o.burst_bytes);
                mapping.address(&DramPlace { column, ..DramPlace::default() }) / 64
            }
        })
        .map(|n| (0, line(n, MemoryAccess::Read)))
        .collect();
    run(config, requests)
}

/// Bandwidth as measured over the time that refreshes left, so that a short run does not gain by those that are postponed.
fn measured(device: &Device, config: &DramConfig, run: &Run) -> f64 {
    let ns = run.counts.last_data as f64 * device.tck_ns;
    let refreshing = run.counts.refreshes as f64 / f64::from(config.preset.organisation.scopes()) * device.rfc_refi.0;
    LINES as f64 * 64.0 / (ns - refreshing) * device.left_by_refresh()
}

fn is_within(device: &Device, config: &DramConfig, pattern: Pattern, least: f64) {
    is_within_by(device, config, pattern, least, &reads(config, pattern));
}

fn is_within_by(device: &Device, config: &DramConfig, pattern: Pattern, least: f64, run: &Run) {
    let bound = device.bound(pattern) * device.left_by_refresh();
    let found = measured(device, config, run);
    assert!((least * bound..1.005 * bound).contains(&found), "{}: found {found:.2}, bound {bound:.2} GB/s", device.key);
}

#[test]
fn mem_bwd_01_p() {
    for device in DEVICES {
        is_within_by(device, &memory(device), Pattern::Stream, 0.95, streamed(device));
        // Activates of LPDDR5X may follow each other every six clocks and take two of them on the command bus. A column
        // command that goes first delays an activate by a clock, and RRD gives no clock back (FAW of 22 never binds), so
        // column before row (memory §4) costs up to a seventh.
        let least = if device.key == "lpddr5x_8533" { 6.0 / 7.0 - 0.01 } else { 0.95 };
        is_within(device, &memory(device), Pattern::Random, least);
    }
}

#[test]
fn mem_bwd_01_n() {
    // W9: a group alone has half of the peak on DDR4, and a stream of one is held to that.
    let device = &DEVICES[0];
    let config = memory(device);
    is_within(device, &config, Pattern::OneGroup, 0.95);
    let one_group = measured(device, &config, &reads(&config, Pattern::OneGroup));
    assert!(one_group < 0.55 * device.peak(), "{one_group}");
    // A controller with a shorter window is above the bound.
    let mut wrong = config;
    wrong.preset.timing.faw = 16;
    let found = measured(device, &wrong, &reads(&wrong, Pattern::Random));
    assert!(found > 1.005 * device.bound(Pattern::Random) * device.left_by_refresh(), "{found}");
}

/// W11: reads and writes in batches of 16, over all groups of DDR5-4800B.
fn mixed(config: &DramConfig) -> Run {
    let access = |n: u64| if (n / 16).is_multiple_of(2) { MemoryAccess::Read } else { MemoryAccess::Write };
    run(config, (0..LINES).map(|n| (0, line(n, access(n)))))
}

/// Busy clocks and those that each pair of turns costs at least, in all.
fn turning(run: &Run) -> f64 {
    let pairs = run.counts.turnarounds as f64 / 2.0;
    LINES as f64 * 8.0 + pairs * (6.0 + 44.0)
}

#[test]
fn mem_bwd_02_p() {
    let config = DramConfig { refresh: DramRefresh::Off, ..memory(&DEVICES[1]) };
    let run = mixed(&config);
    let (allowed, found) = (turning(&run), run.counts.last_data as f64);
    assert!(found >= 0.995 * allowed && found <= 1.05 * allowed, "found {found}, expected {allowed} clocks");
    assert!(run.counts.turnarounds > 100, "{:?}", run.counts);
}

#[test]
fn mem_bwd_02_n() {
    // A controller that turns for nothing is faster than the constraints allow.
    let mut wrong = memory(&DEVICES[1]);
    wrong.refresh = DramRefresh::Off;
    wrong.preset.timing.rtw = 8;
    wrong.preset.timing.wtr_s = 0;
    wrong.preset.timing.cwl = 1;
    let run = mixed(&wrong);
    assert!((run.counts.last_data as f64) < 0.995 * turning(&run));
}

#[test]
fn mem_bwd_03_p() {
    assert!(shared(include_str!("bandwidth.rs")).is_empty());
}

#[test]
fn mem_bwd_03_n() {
    assert_eq!(shared("impl Device {\n    preset.timing.faw\n}\n"), ["preset.timing.faw"]);
}

/// Lines of the calculator that use figures or code of the controller.
fn shared(source: &str) -> Vec<&str> {
    let calculator = source.lines().skip_while(|line| !line.starts_with("impl Device {"));
    let calculator = calculator.take_while(|line| *line != "}").map(str::trim);
    calculator.filter(|line| ["preset", "timing", "config", "memory"].iter().any(|word| line.contains(word))).collect()
}

#[test]
fn mem_mon_08_p() {
    for device in DEVICES {
        assert!(carries(device, streamed(device)), "{}", device.key);
    }
}

/// Whether the data buses can have moved the bytes in this time.
fn carries(device: &Device, run: &Run) -> bool {
    LINES as f64 * 64.0 / device.peak() <= run.counts.last_data as f64 * device.tck_ns
}

#[test]
fn mem_mon_08_n() {
    let device = &DEVICES[0];
    let mut wrong = memory(device);
    (wrong.preset.timing.bl, wrong.preset.timing.ccd_s, wrong.preset.timing.ccd_l) = (2, 2, 2);
    assert!(!carries(device, &reads(&wrong, Pattern::Stream)));
}
