//! Presets against the tables of the sheet, spelled here a second time, a line for each preset as the sheet's columns run.

use scalepool::memory::dram::preset::{self, DramPreset, DramTiming, PRESETS};

/// Columns of `memory §2.2` from tCK to the command clocks; RP and RPab, and the masked write after CCD_L_WR, stand apart.
const SHEET: &[(&str, [u32; 33])] = &[
    (
        "ddr4_3200aa",
        [
            625000, 4, 4, 22, 16, 22, 22, 22, 22, 52, 74, 4, 8, 34, 4, 8, 4, 8, 8, 0, 24, 4, 12, 12, 12, 1, 2, 560, 0,
            0, 0, 12480, 1,
        ],
    ),
    (
        "ddr5_4800b",
        [
            416667, 8, 8, 40, 38, 39, 39, 39, 39, 77, 116, 8, 12, 32, 8, 12, 8, 24, 48, 0, 72, 6, 24, 18, 14, 2, 2,
            708, 312, 72, 312, 9360, 2,
        ],
    ),
    (
        "ddr5_5600b",
        [
            357143, 8, 8, 46, 44, 45, 45, 45, 45, 90, 135, 8, 14, 32, 8, 14, 8, 28, 56, 0, 84, 7, 28, 21, 16, 2, 2,
            826, 364, 84, 364, 10920, 2,
        ],
    ),
    (
        "ddr5_6400b",
        [
            312500, 8, 8, 52, 50, 52, 52, 52, 52, 103, 155, 8, 16, 32, 8, 16, 8, 32, 64, 0, 96, 8, 32, 24, 16, 2, 2,
            944, 416, 96, 416, 12480, 2,
        ],
    ),
    (
        "lpddr5_6400",
        [
            1250000, 2, 4, 17, 9, 15, 15, 15, 17, 34, 49, 4, 4, 16, 2, 4, 2, 4, 4, 0, 28, 5, 10, 8, 12, 2, 2, 224, 112,
            6, 72, 3125, 2,
        ],
    ),
    (
        "lpddr5x_8533",
        [
            937500, 2, 4, 23, 12, 20, 20, 20, 23, 45, 65, 6, 6, 22, 2, 4, 2, 4, 4, 0, 37, 7, 13, 11, 15, 2, 2, 299,
            150, 8, 96, 4166, 2,
        ],
    ),
    (
        "hbm2e_3200",
        [
            625000, 2, 2, 28, 12, 20, 10, 23, 23, 45, 68, 7, 10, 26, 2, 4, 2, 4, 4, 3, 23, 7, 15, 8, 20, 1, 0, 720,
            320, 13, 13, 6240, 2,
        ],
    ),
    (
        "hbm3_6400",
        [
            625000, 2, 2, 20, 10, 31, 15, 26, 26, 45, 71, 4, 5, 24, 2, 4, 2, 4, 4, 3, 33, 7, 10, 9, 17, 2, 0, 560, 320,
            13, 13, 6240, 2,
        ],
    ),
    (
        "hbm3e_8000",
        [
            500000, 2, 2, 25, 13, 39, 19, 33, 33, 57, 90, 5, 7, 30, 2, 5, 2, 5, 5, 3, 42, 9, 13, 12, 20, 2, 0, 800,
            400, 16, 16, 7800, 2,
        ],
    ),
    (
        "hbm3e_9600",
        [
            416667, 2, 2, 30, 15, 47, 23, 39, 39, 68, 107, 6, 8, 36, 2, 6, 2, 6, 6, 3, 50, 11, 15, 14, 24, 2, 0, 960,
            480, 20, 20, 9360, 2,
        ],
    ),
];

fn columns(t: &DramTiming) -> [u32; 33] {
    [
        t.tck_fs as u32,
        t.bl,
        t.bl_array,
        t.cl,
        t.cwl,
        t.rcd_read,
        t.rcd_write,
        t.rp,
        t.rp_all,
        t.ras,
        t.rc,
        t.rrd_s,
        t.rrd_l,
        t.faw,
        t.ccd_s,
        t.ccd_l,
        t.ccd_s_wr,
        t.ccd_l_wr,
        t.ccd_l_wr_masked,
        t.ccd_stack,
        t.wr,
        t.wtr_s,
        t.wtr_l,
        t.rtp,
        t.rtw,
        t.ppd,
        t.cs,
        t.rfc_all,
        t.rfc_bank,
        t.refresh_to_act,
        t.refresh_to_refresh,
        t.refi,
        t.act_clocks,
    ]
}

fn find(key: &str) -> &'static DramPreset {
    preset::find(key).unwrap_or_else(|| panic!("no preset {key}"))
}

const GIB: u64 = 1 << 30;

/// Capacity of the shipped unit, data bus of a channel or pseudo-channel \[bits\], bytes of a burst.
const UNITS: &[(&str, u64, u32, u32)] = &[
    ("ddr4_3200aa", 8 * GIB, 64, 64),
    ("ddr5_4800b", 16 * GIB, 32, 64),
    ("ddr5_5600b", 16 * GIB, 32, 64),
    ("ddr5_6400b", 16 * GIB, 32, 64),
    ("lpddr5_6400", 8 * GIB, 16, 32),
    ("lpddr5x_8533", 8 * GIB, 16, 32),
    ("hbm2e_3200", 16 * GIB, 64, 32),
    ("hbm3_6400", 16 * GIB, 32, 32),
    ("hbm3e_8000", 24 * GIB, 32, 32),
    ("hbm3e_8000_12h", 36 * GIB, 32, 32),
    ("hbm3e_9600", 24 * GIB, 32, 32),
    ("hbm3e_9600_12h", 36 * GIB, 32, 32),
];

#[test]
fn mem_pre_01_p() {
    assert_eq!(UNITS.iter().map(|unit| unit.0).collect::<Vec<_>>(), preset::KEYS);
    assert_eq!(PRESETS.iter().map(|preset| preset.key).collect::<Vec<_>>(), preset::KEYS);
    for (key, capacity, bus_bits, burst_bytes) in UNITS {
        let o = &find(key).organisation;
        assert_eq!((o.capacity_bytes(), o.bus_bits, o.burst_bytes), (*capacity, *bus_bits, *burst_bytes), "{key}");
    }
}

#[test]
fn mem_pre_01_n() {
    // Rows a quarter off: the unit does not hold what it ships with.
    for (key, capacity, ..) in UNITS {
        let mut preset = *find(key);
        preset.organisation.rows -= preset.organisation.rows / 4;
        assert_eq!(preset.organisation.capacity_bytes(), capacity / 4 * 3, "{key}");
    }
}

#[test]
fn mem_pre_02_p() {
    for (key, sheet) in SHEET {
        assert_eq!(columns(&find(key).timing), *sheet, "{key}");
        // Reads and writes take two clocks of the command bus on DDR5 alone.
        assert_eq!(find(key).timing.column_clocks, if key.starts_with("ddr5") { 2 } else { 1 }, "{key}");
    }
}

#[test]
fn mem_pre_02_n() {
    for (key, sheet) in SHEET {
        for n in 0..sheet.len() {
            let mut other = *sheet;
            other[n] += 1;
            assert_ne!(columns(&find(key).timing), other, "{key}, column {n}");
        }
    }
}

/// Times that the sheet quotes for LPDDR5 \[ps\], least clocks, and the cells of both speeds.
const LPDDR5: &[(u32, u32, [u32; 2])] = &[
    (18_000, 0, [15, 20]),
    (21_000, 0, [17, 23]),
    (42_000, 0, [34, 45]),
    (34_000, 0, [28, 37]),
    (6_250, 0, [5, 7]),
    (12_000, 0, [10, 13]),
    (5_000, 0, [4, 6]),
    (20_000, 0, [16, 22]),
    (280_000, 0, [224, 299]),
    (140_000, 0, [112, 150]),
];

#[test]
fn mem_pre_03_p() {
    // A command clock of LPDDR5 is eight transfers: 6400 MT/s are 1.25 ns.
    for (ps, least, cells) in LPDDR5 {
        let rates = [1_600, 2_133];
        let exact = [u64::from(*ps).div_ceil(1250) as u32, (u64::from(*ps) * 1000).div_ceil(937_500) as u32];
        assert_eq!(exact, *cells, "{ps} ps");
        assert_eq!(preset::clocks(*least, *ps, rates[0]), cells[0], "{ps} ps");
    }
    // DDR5: max(12, 7.5 ns), max(16, 10 ns), 5 ns and 8 clocks (memory §2.3).
    for (rate, rtp, wtr_l, ccd_l) in [(4800, 18, 24, 12), (5600, 21, 28, 14), (6400, 24, 32, 16)] {
        let found = [(12, 7_500), (16, 10_000), (8, 5_000)].map(|(least, ps)| preset::clocks(least, ps, rate));
        assert_eq!(found, [rtp, wtr_l, ccd_l], "{rate}");
    }
}

#[test]
fn mem_pre_03_n() {
    // Division by a period that was rounded to femtoseconds or to picoseconds gives one clock too many.
    assert_eq!(preset::clocks(0, 295_000, 4800), 708);
    assert_ne!(295_000_000_u64.div_ceil(416_666), 708);
    assert_eq!(preset::clocks(8, 1, 4800), 8, "the least number binds");
}

#[test]
fn mem_pre_04_p() {
    assert_eq!(preset::interval_clocks(3_906_250, 937_500), 4166);
    assert_eq!(preset::interval_clocks(3_906_250, 1_250_000), 3125);
    assert_eq!(find("lpddr5x_8533").timing.refi, 4166);
}

#[test]
fn mem_pre_04_n() {
    assert_ne!(3_906_250_000_u64.div_ceil(937_500), u64::from(find("lpddr5x_8533").timing.refi));
}

#[test]
fn mem_pre_05_p() {
    let (fast, faster) = (find("ddr5_4800b"), find("ddr5_5600b"));
    assert_eq!((fast.fs(1), faster.fs(1)), (416_667, 357_143));
    assert_eq!(fast.fs(1_000_000), 416_667_000_000);
}

#[test]
fn mem_pre_05_n() {
    // Times that are summed in whole picoseconds drift.
    let preset = find("ddr5_4800b");
    let summed: u64 = (0..3000).map(|_| preset.fs(1) / 1000 * 1000).sum();
    assert_ne!(summed, preset.fs(3000));
}

/// `memory §2.4`: hit, closed, conflict \[10 ps\]; the share that refresh leaves \[1/100 percent\]; peak of a data bus \[MB/s\].
const DERIVED: &[(&str, [u64; 3], u64, u64)] = &[
    ("ddr4_3200aa", [1625, 3000, 4375], 9551, 25_600),
    ("ddr5_4800b", [2000, 3625, 5250], 9244, 19_200),
    ("ddr5_5600b", [1929, 3536, 5143], 9244, 22_400),
    ("ddr5_6400b", [1875, 3500, 5125], 9244, 25_600),
    ("lpddr5_6400", [2375, 4250, 6125], 9283, 12_800),
    ("lpddr5x_8533", [2344, 4219, 6094], 9282, 17_067),
    ("hbm2e_3200", [1875, 3125, 4563], 8846, 25_600),
    ("hbm3_6400", [1375, 3313, 4938], 9103, 25_600),
    ("hbm3e_8000", [1350, 3300, 4950], 8974, 32_000),
    ("hbm3e_9600", [1333, 3292, 4917], 8974, 38_400),
];

fn derived(p: &DramPreset) -> ([u64; 3], u64, u64) {
    let latencies = [p.hit_clocks(), p.closed_clocks(), p.conflict_clocks()];
    let rounded = |n: u64, d: u64| (2 * n + d) / (2 * d);
    let (refi, rfc) = (u64::from(p.timing.refi), u64::from(p.timing.rfc_all));
    // A burst of bytes in so many clocks, in bytes a microsecond.
    let peak = rounded(u64::from(p.organisation.burst_bytes) * 1_000_000_000, p.fs(u64::from(p.timing.bl)));
    (latencies.map(|clocks| rounded(p.fs(clocks.into()), 10_000)), rounded(10_000 * (refi - rfc), refi), peak)
}

#[test]
fn mem_pre_06_p() {
    for (key, latencies, share, peak) in DERIVED {
        assert_eq!(derived(find(key)), (*latencies, *share, *peak), "{key}");
    }
}

#[test]
fn mem_pre_06_n() {
    for (key, latencies, share, _) in DERIVED {
        let mut other = *find(key);
        other.timing.cl += 1;
        other.timing.rfc_all += 20;
        let (found, left, _) = derived(&other);
        assert!(found.iter().zip(latencies).all(|(a, b)| a != b) && left != *share, "{key}");
    }
}

#[test]
fn mem_pre_07_p() {
    assert_eq!(["hbm3e_8000_12h", "hbm3e_9600_12h"].map(|key| find(key).timing.rfc_all), [920, 1104]);
    // 460 ns and 400 ns.
    assert_eq!([460_000, 400_000].map(|ps| preset::clocks(0, ps, 4800)), [1104, 960]);
    assert_eq!(find("ddr4_3200aa").hot().timing.refi, 6240);
    // The general formula of read to write gives the cells of HBM3.
    let found = [("hbm3_6400", 625), ("hbm3e_8000", 500)].map(|(key, ps)| {
        let timing = &find(key).timing;
        (preset::hbm_read_to_write(timing, ps), i64::from(timing.rtw))
    });
    assert!(found.iter().all(|(formula, cell)| formula == cell), "{found:?}");
}

#[test]
fn mem_pre_07_n() {
    for (eight, twelve) in [("hbm3e_8000", "hbm3e_8000_12h"), ("hbm3e_9600", "hbm3e_9600_12h")] {
        assert_ne!(find(eight).timing.rfc_all, find(twelve).timing.rfc_all);
    }
}

#[test]
fn mem_pre_08_p() {
    assert_eq!(["ddr5_4800b", "ddr5_5600b", "ddr5_6400b"].map(|key| find(key).timing.rtw), [14, 16, 16]);
}

#[test]
fn mem_pre_08_n() {
    // CL + BL + 2 - CWL, which the cells are not.
    let t = &find("ddr5_4800b").timing;
    assert_eq!(t.cl + t.bl + 2 - t.cwl, 12);
    assert_ne!(t.rtw, 12);
}

#[test]
fn mem_pre_09_p() {
    assert!(PRESETS.iter().all(|preset| preset.check().is_empty()));
}

#[test]
fn mem_pre_09_n() {
    type Break = fn(&mut DramPreset);
    let broken: &[(&str, Break)] = &[
        ("rc", |p| p.timing.rc -= 1),
        ("faw", |p| p.timing.faw = p.timing.rrd_s - 1),
        ("refi", |p| p.timing.refi = p.timing.rfc_all),
        ("cl", |p| p.timing.cl = 0),
        ("tck_fs", |p| p.timing.tck_fs = 0),
        ("rows", |p| p.organisation.rows = 0),
        ("row_bytes", |p| p.organisation.burst_bytes = 48),
        ("row_bytes", |p| p.organisation.row_bytes = 1000),
    ];
    for (field, change) in broken {
        let mut preset = *find("ddr4_3200aa");
        change(&mut preset);
        assert_eq!(preset.check().first().map(|(name, _)| *name), Some(*field));
    }
}

#[test]
fn mem_pre_10_p() {
    use super::rig::{Op, line, one_channel, run};
    use scalepool::memory::backend::MemoryAccess;
    for preset in PRESETS.iter().filter(|preset| preset.organisation.burst_bytes == 32) {
        let run = run(&one_channel(preset), [(0, line(77, MemoryAccess::Read))]);
        let reads: Vec<_> = run.commands.iter().filter(|command| command.operation == Op::Read).collect();
        let [low, high] = reads[..] else { panic!("{}: {reads:?}", preset.key) };
        let mut second = low.place;
        second.column += 1;
        assert_eq!((low.place.column % 2, high.place), (0, second), "{}", preset.key);
        assert_eq!(run.clocks(Op::Act).len(), 1, "{}", preset.key);
    }
}

#[test]
fn mem_pre_10_n() {
    use scalepool::memory::dram::{DramMap, DramMapping};
    // A mapping with the channel lowest cuts a line in two: its halves lie in two rows, and both are moved.
    let preset = find("hbm3_6400");
    let map = DramMapping::new(DramMap::RoBaRaCoCh, &preset.organisation, 256, false).expect("a mapping");
    let [low, high] = [0, 32].map(|address| map.place(address).expect("it is there").channel);
    assert_ne!(low, high);
}
