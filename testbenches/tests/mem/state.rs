//! States of rows and the data bus, the four kinds of findings of the monitor, and traces as text.

use super::rig::{A, B, G, Op, at, ids, judge, line, one_channel, run};
use scalepool::memory::backend::MemoryAccess;
use scalepool::memory::dram::preset::{self, PRESETS};
use scalepool::memory::dram::{DramCommand, DramMonitor, DramPlace, DramPreset, trace};

fn hbm() -> &'static DramPreset {
    preset::find("hbm3_6400").expect("a preset")
}

/// What obeys a rule and what breaks it, at clocks that no spacing rule forbids.
fn traces(rule: &str) -> (Vec<DramCommand>, Vec<DramCommand>) {
    let other_row = DramPlace { row: 8, ..A };
    let act = at(0, Op::Act, A);
    match rule {
        "MEM-STA-01" => (vec![act, at(1000, Op::Read, A)], vec![act, at(1000, Op::Read, other_row)]),
        "MEM-STA-02" => {
            (vec![act, at(1000, Op::Pre, A), at(2000, Op::Act, other_row)], vec![act, at(2000, Op::Act, other_row)])
        }
        "MEM-STA-03" => (
            vec![act, at(1000, Op::PreAll, A), at(2000, Op::RefreshAll, A)],
            vec![act, at(100, Op::Act, B), at(1000, Op::Pre, A), at(2000, Op::RefreshAll, A)],
        ),
        "MEM-STA-04" => (vec![act, at(2000, Op::RefreshBank, G)], vec![act, at(2000, Op::RefreshBank, A)]),
        _ => unreachable!("{rule}"),
    }
}

fn obeys(rule: &str) {
    assert_eq!(judge(hbm(), &traces(rule).0), []);
}

fn breaks(rule: &str) {
    assert_eq!(ids(&judge(hbm(), &traces(rule).1)), [rule]);
}

rule_tests! { obeys, breaks:
    mem_sta_01_p mem_sta_01_n "MEM-STA-01"
    mem_sta_02_p mem_sta_02_n "MEM-STA-02"
    mem_sta_03_p mem_sta_03_n "MEM-STA-03"
    mem_sta_04_p mem_sta_04_n "MEM-STA-04"
}

/// A device whose spacing rules let bursts overlap by one clock: then the data bus itself is what breaks.
fn overlapping() -> DramPreset {
    let mut preset = *hbm();
    preset.timing.ccd_s = preset.timing.bl - 1;
    preset
}

#[test]
fn mem_sta_05_p() {
    let bl = u64::from(hbm().timing.bl);
    let reads = [at(0, Op::Act, A), at(100, Op::Act, B), at(1000, Op::Read, A), at(1000 + bl, Op::Read, B)];
    assert_eq!(judge(&overlapping(), &reads), []);
}

#[test]
fn mem_sta_05_n() {
    let bl = u64::from(hbm().timing.bl);
    let reads = [at(0, Op::Act, A), at(100, Op::Act, B), at(1000, Op::Read, A), at(999 + bl, Op::Read, B)];
    assert_eq!(ids(&judge(&overlapping(), &reads)), ["MEM-STA-05"]);
}

#[test]
fn mem_sta_06_p() {
    assert!(PRESETS.iter().all(|preset| preset.check().is_empty() && preset.organisation.ranks == 1));
}

#[test]
fn mem_sta_06_n() {
    let mut preset = *hbm();
    preset.organisation.ranks = 2;
    assert_eq!(preset.check().iter().map(|(field, _)| *field).collect::<Vec<_>>(), ["ranks"]);
}

/// Traffic that shows most rules: near and far lines, reads and writes, pauses.
fn traffic() -> Vec<(u64, scalepool::memory::backend::MemoryRequest)> {
    let mut numbers = super::rig::Numbers(3);
    let kinds = [MemoryAccess::Read, MemoryAccess::Read, MemoryAccess::Write, MemoryAccess::Modify];
    let (mut at, mut near) = (0, 0);
    let mut next = |n: u64| {
        at += if n.is_multiple_of(8) { numbers.below(400_000_000) } else { 0 };
        near = if numbers.below(2) == 0 { near + 1 } else { numbers.below(1 << 14) };
        (at, line(near, kinds[numbers.below(4) as usize]))
    };
    (0..2500).map(&mut next).collect()
}

#[test]
fn mem_mon_01_p() {
    for preset in PRESETS {
        let config = one_channel(preset);
        assert_eq!(run(&config, traffic()).findings(&config), [], "{}", preset.key);
    }
}

/// Lowers one value of a preset by one clock.
type Lower = fn(&mut preset::DramTiming);

/// Values of the table, each with the rules that tell of it.
const LOWERED: &[(&[&str], Lower)] = &[
    (&["MEM-TIM-01", "MEM-STA-05"], |t| t.ccd_s -= 1),
    (&["MEM-TIM-02"], |t| t.ccd_l -= 1),
    (&["MEM-TIM-04"], |t| t.ccd_l_wr -= 1),
    (&["MEM-TIM-04"], |t| t.ccd_l_wr_masked -= 1),
    (&["MEM-TIM-05"], |t| t.rtw -= 1),
    (&["MEM-TIM-06"], |t| t.wtr_s -= 1),
    (&["MEM-TIM-07"], |t| t.wtr_l -= 1),
    (&["MEM-TIM-13"], |t| t.rrd_s -= 1),
    (&["MEM-TIM-14"], |t| t.rrd_l -= 1),
    (&["MEM-TIM-17"], |t| t.rcd_read -= 1),
    (&["MEM-TIM-18"], |t| t.rcd_write -= 1),
    (&["MEM-TIM-19"], |t| t.ras -= 1),
    (&["MEM-TIM-20"], |t| t.rp -= 1),
    (&["MEM-TIM-22"], |t| t.wr -= 1),
    (&["MEM-TIM-30"], |t| t.rfc_all -= 1),
    (&["MEM-TIM-26"], |t| t.rp_all -= 1),
];

#[test]
fn mem_mon_01_n() {
    // A scheduler that takes one value too low, and a monitor that does not.
    let truth = preset::find("ddr5_4800b").expect("a preset");
    for (rules, lower) in LOWERED {
        let mut wrong = one_channel(truth);
        lower(&mut wrong.preset.timing);
        let found = ids(&judge(truth, &run(&wrong, traffic()).commands));
        assert!(rules.iter().any(|rule| found.contains(rule)), "{rules:?}: found {found:?}");
    }
}

#[test]
fn mem_mon_02_p() {
    mem_sta_05_p();
}

#[test]
fn mem_mon_02_n() {
    mem_sta_05_n();
}

#[test]
fn mem_mon_03_p() {
    for rule in ["MEM-STA-01", "MEM-STA-02", "MEM-STA-03", "MEM-STA-04"] {
        obeys(rule);
    }
}

#[test]
fn mem_mon_03_n() {
    // Each command that a scheduler could forget to send makes the next ones illegal.
    let config = one_channel(hbm());
    let commands = run(&config, traffic()).commands;
    for operation in [Op::Act, Op::Pre] {
        let mut less = commands.clone();
        let forgotten = less.iter().position(|command| command.operation == operation).expect("there is one");
        less.remove(forgotten);
        assert!(ids(&judge(hbm(), &less)).iter().any(|rule| rule.starts_with("MEM-STA")), "{operation}");
    }
}

#[test]
fn mem_trc_01_p() {
    for preset in PRESETS {
        let config = one_channel(preset);
        let commands = run(&config, traffic()).commands;
        let text = commands.iter().fold(trace::header(preset), |text, command| text + &trace::line(command));
        let read: Vec<DramCommand> =
            text.lines().filter_map(|line| trace::read_line(line, preset).expect("a line")).collect();
        assert_eq!(read, commands, "{}", preset.key);
    }
    // As other simulators spell it.
    let preset = &PRESETS[0];
    let same = |text: &str| trace::read_line(text, preset).expect("a line").expect("a command");
    assert_eq!(same("2125ps, read_p, 0, 0, 0x1, 2, 0x10, 3"), same("3 RDA 0 0 1 2 16 3 # a comment"));
    assert_eq!(trace::read_line("  # nothing", preset), Ok(None));
}

#[test]
fn mem_trc_01_n() {
    let preset = &PRESETS[0];
    let read = |lines: &[&str]| -> Vec<DramCommand> {
        lines.iter().filter_map(|line| trace::read_line(line, preset).expect("a line")).collect()
    };
    assert_eq!(judge(preset, &read(&["0 ACT 0 0 0 0 7 -", "13.75ns RD 0 0 0 0 7 0"])), []);
    // One nanosecond earlier.
    assert_eq!(ids(&judge(preset, &read(&["0 ACT 0 0 0 0 7 -", "12.75ns RD 0 0 0 0 7 0"]))), ["MEM-TIM-17"]);
    let wrong = [
        ("x ACT 0 0 0 0 7", "found the time `x`"),
        ("0", "expected a command after it"),
        ("0 ACTS 0 0 0 0 7", "found the command `ACTS`, expected one of ACT, PRE"),
        ("0 ACT 0 0 0", "found no bank, expected a number"),
        ("0 ACT 0 0 0 - 7", "found the bank `-`"),
        ("0 RD 0 0 0 0 7 1 9", "found `9` behind the column"),
        ("1.5 ACT 0 0 0 0 7", "expected up to 4611686018427387904 clocks"),
        ("1ms ACT 0 0 0 0 7", "with fs, ps, ns or us"),
        ("0 ACT 0 0 0 0 4294967296", "of up to 32 bits"),
    ];
    for (text, expected) in wrong {
        let found = trace::read_line(text, preset).expect_err(text);
        assert!(found.contains(expected), "{text}: {found}");
    }
    let monitor = DramMonitor::new(preset, false);
    let beyond = at(0, Op::Act, DramPlace { group: 4, ..A });
    assert_eq!(monitor.misplaced(&beyond).as_deref(), Some("found bank group 4, expected 0 to 3"));
    assert!(monitor.misplaced(&at(0, Op::RefreshBank, A)).expect("DDR4 has none").contains("refreshes all banks"));
}
