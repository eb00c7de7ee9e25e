//! Every row of the table of spacing rules on every preset that has its value: at the spacing and one clock sooner.

use super::rig::{A, B, FRESH, FRESH_GROUP, FRESH_OTHER, G, Op, at, ids, judge, other_rank, other_stack};
use scalepool::memory::dram::preset::{DramOrganisation, DramPreset, DramStandard, PRESETS};
use scalepool::memory::dram::{DramCommand, DramOperation, DramPlace};

/// A row of the table on one preset: what comes before, the earlier command, the later one, and the clocks between these.
struct Case {
    before: Vec<DramCommand>,
    earlier: (DramOperation, DramPlace),
    between: Vec<(u64, DramOperation, DramPlace)>,
    later: (DramOperation, DramPlace),
    clocks: u32,
}

/// Long before the commands that are judged.
fn opened(places: &[DramPlace]) -> Vec<DramCommand> {
    places.iter().enumerate().map(|(n, place)| at(n as u64 * 1000, Op::Act, *place)).collect()
}

fn case(open: &[DramPlace], earlier: (Op, DramPlace), later: (Op, DramPlace), clocks: u32) -> Case {
    Case { before: opened(open), earlier, between: Vec::new(), later, clocks }
}

/// Clock of the earlier command.
const START: u64 = 10_000;

/// The cases of a row on a preset; none where it has no such value. The clocks are spelled from the sheet's section 3.
fn cases(rule: &str, p: &DramPreset) -> Vec<Case> {
    let t = &p.timing;
    let write_end = t.cwl + t.bl;
    let (r, s) = (other_rank(), other_stack(p));
    let is_hbm = p.standard == DramStandard::Hbm;
    let (ranks, banks) = (p.organisation.ranks > 1, p.has_bank_refresh());
    let closed_later = |n: u32| vec![(u64::from(n), Op::Pre, FRESH)];
    match rule {
        "MEM-TIM-00" if is_hbm => vec![case(&[B], (Op::Act, FRESH), (Op::Pre, B), t.act_clocks)],
        "MEM-TIM-00" => vec![case(&[A, B], (Op::Read, A), (Op::Pre, B), t.column_clocks)],
        "MEM-TIM-01" => vec![case(&[A, B], (Op::Read, A), (Op::Read, B), t.ccd_s)],
        "MEM-TIM-02" => vec![case(&[A, G], (Op::Read, A), (Op::Read, G), t.ccd_l)],
        "MEM-TIM-03" => vec![case(&[A, B], (Op::Write, A), (Op::Write, B), t.ccd_s_wr)],
        "MEM-TIM-04" => vec![
            case(&[A, G], (Op::Write, A), (Op::Write, G), t.ccd_l_wr),
            case(&[A, G], (Op::Write, A), (Op::MaskedWrite, G), t.ccd_l_wr_masked),
        ],
        "MEM-TIM-05" => vec![case(&[A, B], (Op::Read, A), (Op::Write, B), t.rtw)],
        "MEM-TIM-06" => vec![case(&[A, B], (Op::Write, A), (Op::Read, B), write_end + t.wtr_s)],
        "MEM-TIM-07" => {
            let array = if p.standard == DramStandard::Lpddr5 { 4 } else { t.bl };
            vec![case(&[A, G], (Op::MaskedWrite, A), (Op::Read, G), t.cwl + array + t.wtr_l)]
        }
        "MEM-TIM-08" if is_hbm => vec![case(&[A, s], (Op::Read, A), (Op::Read, s), 3)],
        "MEM-TIM-09" if ranks => vec![case(&[A, r], (Op::Read, A), (Op::Read, r), t.bl + t.cs)],
        "MEM-TIM-10" if ranks => vec![case(&[A, r], (Op::Read, A), (Op::Write, r), t.cl + t.bl + t.cs - t.cwl)],
        "MEM-TIM-11" if ranks => {
            let clocks = i64::from(write_end + t.cs) - i64::from(t.cl);
            vec![case(&[A, r], (Op::Write, A), (Op::Read, r), clocks.max(1) as u32)]
        }
        "MEM-TIM-12" if ranks => vec![case(&[A, r], (Op::Write, A), (Op::Write, r), t.bl + t.cs)],
        "MEM-TIM-13" => vec![case(&[], (Op::Act, FRESH), (Op::Act, FRESH_OTHER), t.rrd_s)],
        "MEM-TIM-14" => vec![case(&[], (Op::Act, FRESH), (Op::Act, FRESH_GROUP), t.rrd_l)],
        // Where four times RRD_S are longer, the window never binds.
        "MEM-TIM-15" if t.faw >= 4 * t.rrd_s => {
            let act = |n: u32| (u64::from(n * t.rrd_s), Op::Act, DramPlace { group: n, bank: 2, ..A });
            let between = vec![act(1), act(2), act(3)];
            let fifth = DramPlace { group: 1, bank: 3, ..A };
            let mut all = vec![Case { between, ..case(&[], (Op::Act, FRESH), (Op::Act, fifth), t.faw) }];
            if is_hbm {
                let between = vec![act(1), act(2), act(3)];
                all.push(Case { between, ..case(&[], (Op::Act, FRESH), (Op::RefreshBank, fifth), t.faw) });
            }
            all
        }
        "MEM-TIM-16" => {
            let between = closed_later(t.ras);
            vec![Case { between, ..case(&[], (Op::Act, FRESH), (Op::Act, FRESH), t.rc) }]
        }
        "MEM-TIM-17" => vec![case(&[], (Op::Act, FRESH), (Op::ReadPre, FRESH), t.rcd_read)],
        "MEM-TIM-18" => vec![case(&[], (Op::Act, FRESH), (Op::WritePre, FRESH), t.rcd_write)],
        "MEM-TIM-19" => [Op::Pre, Op::PreAll].map(|pre| case(&[], (Op::Act, FRESH), (pre, FRESH), t.ras)).into(),
        "MEM-TIM-20" => {
            vec![case(&[A], (Op::Pre, A), (Op::Act, A), t.rp), case(&[A], (Op::PreAll, A), (Op::Act, A), t.rp_all)]
        }
        "MEM-TIM-21" => [Op::Pre, Op::PreAll].map(|pre| case(&[A], (Op::Read, A), (pre, A), t.rtp)).into(),
        "MEM-TIM-22" => [Op::Pre, Op::PreAll].map(|pre| case(&[A], (Op::Write, A), (pre, A), write_end + t.wr)).into(),
        "MEM-TIM-23" => vec![case(&[A], (Op::ReadPre, A), (Op::Act, A), t.rtp + t.rp)],
        "MEM-TIM-24" => [Op::WritePre, Op::MaskedWritePre]
            .map(|write| case(&[A], (write, A), (Op::Act, A), write_end + t.wr + t.rp))
            .into(),
        "MEM-TIM-25" => vec![case(&[A, B], (Op::Pre, A), (Op::Pre, B), t.ppd)],
        "MEM-TIM-26" => vec![
            case(&[A], (Op::Pre, A), (Op::RefreshAll, A), t.rp),
            case(&[A], (Op::PreAll, A), (Op::RefreshAll, A), t.rp_all),
        ],
        "MEM-TIM-27" => vec![case(&[A], (Op::ReadPre, A), (Op::RefreshAll, A), t.rtp + t.rp)],
        "MEM-TIM-28" => vec![case(&[A], (Op::WritePre, A), (Op::RefreshAll, A), write_end + t.wr + t.rp)],
        "MEM-TIM-29" => {
            let between = closed_later(t.ras);
            vec![Case { between, ..case(&[], (Op::Act, FRESH), (Op::RefreshAll, A), t.rc) }]
        }
        "MEM-TIM-30" => {
            let later = [(Op::Act, A), (Op::Pre, A), (Op::PreAll, A), (Op::RefreshAll, A)];
            later.into_iter().map(|later| case(&[], (Op::RefreshAll, A), later, t.rfc_all)).collect()
        }
        "MEM-TIM-31" if banks => {
            let later = [(Op::Act, A), (Op::RefreshBank, A)];
            later.into_iter().map(|later| case(&[], (Op::RefreshBank, A), later, t.rfc_bank)).collect()
        }
        "MEM-TIM-32" if banks => vec![
            case(&[A], (Op::Pre, A), (Op::RefreshBank, A), t.rp),
            case(&[A], (Op::PreAll, A), (Op::RefreshBank, A), t.rp_all),
            case(&[A], (Op::ReadPre, A), (Op::RefreshBank, A), t.rtp + t.rp),
            case(&[A], (Op::WritePre, A), (Op::RefreshBank, A), write_end + t.wr + t.rp),
        ],
        "MEM-TIM-33" if banks => {
            let between = closed_later(t.ras);
            vec![Case { between, ..case(&[], (Op::Act, FRESH), (Op::RefreshBank, FRESH), t.rc) }]
        }
        "MEM-TIM-34" if banks => vec![case(&[], (Op::RefreshBank, A), (Op::Act, G), t.refresh_to_act)],
        "MEM-TIM-35" if banks => vec![case(&[], (Op::RefreshBank, A), (Op::RefreshBank, G), t.refresh_to_refresh)],
        "MEM-TIM-36" if banks => vec![case(&[], (Op::RefreshBank, A), (Op::RefreshAll, A), t.rfc_bank)],
        "MEM-TIM-37" if banks => vec![case(&[], (Op::Act, FRESH), (Op::RefreshBank, A), t.rrd_s)],
        _ => Vec::new(),
    }
}

/// All presets, and those that can with two ranks.
fn presets() -> Vec<DramPreset> {
    let two = |p: &DramPreset| DramPreset { organisation: DramOrganisation { ranks: 2, ..p.organisation }, ..*p };
    let ranked = PRESETS.iter().filter(|p| p.standard != DramStandard::Hbm).map(two);
    PRESETS.iter().copied().chain(ranked).collect()
}

fn commands(case: &Case, clocks: u64) -> Vec<DramCommand> {
    let (earlier, later) = (case.earlier, case.later);
    let mut all = case.before.clone();
    all.push(at(START, earlier.0, earlier.1));
    all.extend(case.between.iter().map(|(clock, op, place)| at(START + clock, *op, *place)));
    all.push(at(START + clocks, later.0, later.1));
    all
}

fn obeys(rule: &str) {
    let mut seen = 0;
    for preset in presets() {
        for case in cases(rule, &preset) {
            let findings = judge(&preset, &commands(&case, case.clocks.into()));
            assert!(findings.is_empty(), "{rule} {}: {findings:?}", preset.key);
            seen += 1;
        }
    }
    assert!(seen >= 4, "{rule}: {seen} cases");
}

fn breaks(rule: &str) {
    for preset in presets() {
        for case in cases(rule, &preset) {
            let found = ids(&judge(&preset, &commands(&case, u64::from(case.clocks) - 1)));
            assert!(found.contains(&rule), "{rule} {}: found {found:?}", preset.key);
        }
    }
}

rule_tests! { obeys, breaks:
    mem_tim_00_p mem_tim_00_n "MEM-TIM-00"
    mem_tim_01_p mem_tim_01_n "MEM-TIM-01"
    mem_tim_02_p mem_tim_02_n "MEM-TIM-02"
    mem_tim_03_p mem_tim_03_n "MEM-TIM-03"
    mem_tim_04_p mem_tim_04_n "MEM-TIM-04"
    mem_tim_05_p mem_tim_05_n "MEM-TIM-05"
    mem_tim_06_p mem_tim_06_n "MEM-TIM-06"
    mem_tim_07_p mem_tim_07_n "MEM-TIM-07"
    mem_tim_08_p mem_tim_08_n "MEM-TIM-08"
    mem_tim_09_p mem_tim_09_n "MEM-TIM-09"
    mem_tim_10_p mem_tim_10_n "MEM-TIM-10"
    mem_tim_11_p mem_tim_11_n "MEM-TIM-11"
    mem_tim_12_p mem_tim_12_n "MEM-TIM-12"
    mem_tim_13_p mem_tim_13_n "MEM-TIM-13"
    mem_tim_14_p mem_tim_14_n "MEM-TIM-14"
    mem_tim_15_p mem_tim_15_n "MEM-TIM-15"
    mem_tim_16_p mem_tim_16_n "MEM-TIM-16"
    mem_tim_17_p mem_tim_17_n "MEM-TIM-17"
    mem_tim_18_p mem_tim_18_n "MEM-TIM-18"
    mem_tim_19_p mem_tim_19_n "MEM-TIM-19"
    mem_tim_20_p mem_tim_20_n "MEM-TIM-20"
    mem_tim_21_p mem_tim_21_n "MEM-TIM-21"
    mem_tim_22_p mem_tim_22_n "MEM-TIM-22"
    mem_tim_23_p mem_tim_23_n "MEM-TIM-23"
    mem_tim_24_p mem_tim_24_n "MEM-TIM-24"
    mem_tim_25_p mem_tim_25_n "MEM-TIM-25"
    mem_tim_26_p mem_tim_26_n "MEM-TIM-26"
    mem_tim_27_p mem_tim_27_n "MEM-TIM-27"
    mem_tim_28_p mem_tim_28_n "MEM-TIM-28"
    mem_tim_29_p mem_tim_29_n "MEM-TIM-29"
    mem_tim_30_p mem_tim_30_n "MEM-TIM-30"
    mem_tim_31_p mem_tim_31_n "MEM-TIM-31"
    mem_tim_32_p mem_tim_32_n "MEM-TIM-32"
    mem_tim_33_p mem_tim_33_n "MEM-TIM-33"
    mem_tim_34_p mem_tim_34_n "MEM-TIM-34"
    mem_tim_35_p mem_tim_35_n "MEM-TIM-35"
    mem_tim_36_p mem_tim_36_n "MEM-TIM-36"
    mem_tim_37_p mem_tim_37_n "MEM-TIM-37"
}

/// The worked examples W1 to W8 of the sheet: preset, and commands with the clock that is printed for each.
fn worked() -> Vec<(&'static str, Vec<(u64, Op, DramPlace)>)> {
    let bank = |group, bank| DramPlace { group, bank, ..A };
    let (x, y, z) = (bank(0, 0), bank(1, 0), bank(0, 1));
    let groups = |clock: u64, op| (0..5).map(move |n| (clock + 8 * u64::from(n), op, bank(n, 0)));
    vec![
        (
            "ddr4_3200aa",
            vec![(0, Op::Act, x), (22, Op::Read, x), (52, Op::Pre, x), (74, Op::Act, x), (96, Op::Read, x)],
        ),
        (
            "ddr4_3200aa",
            vec![(0, Op::Act, x), (4, Op::Act, y), (22, Op::Read, x), (30, Op::Read, x), (34, Op::Read, y)],
        ),
        (
            "ddr4_3200aa",
            vec![(0, Op::Act, x), (22, Op::Write, x), (54, Op::Read, x), (66, Op::Pre, x), (88, Op::Act, x)],
        ),
        ("ddr5_4800b", groups(0, Op::Act).chain(groups(39, Op::Read)).collect()),
        ("lpddr5_6400", vec![(0, Op::Act, x), (15, Op::Read, x), (19, Op::Read, x)]),
        ("hbm3_6400", vec![(0, Op::Act, x), (4, Op::Act, y), (15, Op::Write, x), (35, Op::Read, y), (37, Op::Read, x)]),
        (
            "hbm3_6400",
            vec![(0, Op::Act, x), (31, Op::ReadPre, x), (71, Op::RefreshBank, x), (84, Op::Act, z), (391, Op::Act, x)],
        ),
    ]
}

#[test]
fn mem_tim_38_p() {
    use scalepool::memory::dram::timing::DramTimingState;
    for (key, example) in worked() {
        let preset = scalepool::memory::dram::preset::find(key).expect("a preset");
        // What the scheduler takes for the earliest clock, and what the monitor lets pass, are what is printed.
        let mut state = DramTimingState::new(preset);
        let mut passed: Vec<DramCommand> = Vec::new();
        for (clock, op, place) in example {
            let before = passed.last().map_or(0, |command| command.clock);
            assert_eq!(state.earliest(op, &place).max(before), clock, "{key}: {op} {place:?}");
            state.issue(op, &place, clock);
            if clock > 0 {
                let sooner = [passed.clone(), vec![at(clock - 1, op, place)]].concat();
                assert!(!judge(preset, &sooner).is_empty(), "{key}: {op} at {}", clock - 1);
            }
            passed.push(at(clock, op, place));
            assert_eq!(judge(preset, &passed), [], "{key}");
        }
    }
}

#[test]
fn mem_tim_38_n() {
    // A scheduler that takes the row of the last command alone: W1's precharge after its read, not after its activate.
    let preset = &PRESETS[0];
    let t = &preset.timing;
    let read = u64::from(t.rcd_read);
    let sooner = [at(0, Op::Act, A), at(read, Op::Read, A), at(read + u64::from(t.rtp), Op::Pre, A)];
    assert_eq!(ids(&judge(preset, &sooner)), ["MEM-TIM-19"]);
    // A read with precharge that is not counted as a read.
    let reads = [at(0, Op::Act, A), at(1000, Op::Act, B), at(2000, Op::ReadPre, A), at(2001, Op::Read, B)];
    assert!(ids(&judge(preset, &reads)).contains(&"MEM-TIM-01"));
}
