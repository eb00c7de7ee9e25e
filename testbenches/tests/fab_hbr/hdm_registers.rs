//! Registers of HDM decoders and their commit (`fabric` §2.1): each rule obeyed and broken, at the edges of every number.
//!
//! `testbenches/fabric/compare.py` holds long sequences of writes and reads against a spelling of the sheet in Python.

use scalepool::fabric::hdm_registers::{
    DecoderOwner, HdmDecoderRegisters, HdmDecoderSetup, HdmHit, HdmRegisterError, HdmSetupError, HdmTarget,
};
use scalepool_oracle::hdm;
use scalepool_protocols::cxl::hdm_decoder::{HdmGranularity, HdmWays};
use scalepool_protocols::wire::Findings;

const STEP: u64 = 256 << 20;
/// Everything that the sheet lets the capability of a part say, with 4 decoders (code 2).
const DEVICE: u32 = 2 | 1 << 8 | 1 << 9 | 1 << 11 | 1 << 12;
const BRIDGE: u32 = 2 | 8 << 4 | 1 << 8 | 1 << 9;
const LOCK: u32 = 1 << 8;
const COMMIT: u32 = 1 << 9;
const COMMITTED: u32 = 1 << 10;
const ERROR: u32 = 1 << 11;

fn device() -> HdmDecoderRegisters {
    let mut registers = HdmDecoderRegisters::new(DecoderOwner::Device, DEVICE).expect("a legal capability");
    registers.write(0x4, 2).expect("the global control");
    registers
}

fn bridge() -> HdmDecoderRegisters {
    HdmDecoderRegisters::new(DecoderOwner::Bridge, BRIDGE).expect("a legal capability")
}

fn one_way(owner: DecoderOwner, base: u64, size: u64) -> HdmDecoderSetup {
    let targets = if owner == DecoderOwner::Bridge { vec![3] } else { Vec::new() };
    let (ways, granularity) = (HdmWays::Ways1, HdmGranularity::Bytes256);
    HdmDecoderSetup { base: base * STEP, size: size * STEP, ways, granularity, lock: true, targets, skip: 0 }
}

/// Writes the registers of a decoder; what the write of the control register found.
fn set(registers: &mut HdmDecoderRegisters, n: usize, setup: &HdmDecoderSetup) -> Findings {
    let writes = setup.writes(registers.owner(), n).expect("registers can hold it");
    let found: Vec<_> = writes.iter().map(|w| registers.write(w.offset, w.value).expect("a register")).collect();
    let (last, before) = found.split_last().expect("seven writes");
    assert!(before.iter().all(|one| *one == Findings::default()), "nothing is judged before the commit");
    last.clone()
}

/// The texts of what a commit with lock found, each with its rule.
fn reasons(registers: &HdmDecoderRegisters, n: usize, setup: &HdmDecoderSetup) -> Vec<String> {
    let found = set(&mut registers.clone(), n, setup);
    found.violations.into_iter().map(|one| format!("{}: {}", one.rule, one.text)).collect()
}

fn rules(findings: &Findings) -> Vec<&'static str> {
    findings.violations.iter().map(|violation| violation.rule).collect()
}

/// Committed and Error of a decoder.
fn state(registers: &HdmDecoderRegisters, n: usize) -> (bool, bool) {
    let control = registers.read(HdmDecoderRegisters::control_at(n)).expect("a register");
    (control & COMMITTED != 0, control & ERROR != 0)
}

/// Commits a decoder that has to be refused by these rules, and nothing is in use then.
fn refused(registers: &HdmDecoderRegisters, n: usize, setup: &HdmDecoderSetup) -> Vec<&'static str> {
    let mut registers = registers.clone();
    let found = set(&mut registers, n, setup);
    assert_eq!(state(&registers, n), (false, true), "{setup:?}");
    assert!(registers.look_up(setup.base).is_none_or(|hit| hit.decoder != n));
    rules(&found)
}

fn accepted(registers: &mut HdmDecoderRegisters, n: usize, setup: &HdmDecoderSetup) {
    assert_eq!(set(registers, n, setup), Findings::default(), "{setup:?}");
    assert_eq!(state(registers, n), (true, false));
}

#[test]
fn only_a_committed_decoder_is_hit_up_to_its_end() {
    for (mut registers, owner) in [(device(), DecoderOwner::Device), (bridge(), DecoderOwner::Bridge)] {
        let setup = one_way(owner, 16, 2);
        let writes = setup.writes(owner, 0).expect("registers can hold it");
        for write in &writes[..6] {
            registers.write(write.offset, write.value).expect("a register");
            assert_eq!(registers.look_up(16 * STEP), None, "not committed");
        }
        registers.write(writes[6].offset, writes[6].value).expect("a register");
        let at = |address| registers.look_up(address).map(|hit| hit.decoder);
        assert_eq!([16 * STEP - 1, 16 * STEP, 18 * STEP - 1, 18 * STEP].map(at), [None, Some(0), Some(0), None]);
        accepted(&mut registers, 1, &one_way(owner, 18, 0));
        assert_eq!(registers.look_up(18 * STEP), None, "size 0");
    }
}

/// All decoders of a device and of a bridge side by side, with lock.
#[test]
fn fab_hdm_02_p() {
    for (mut registers, owner) in [(device(), DecoderOwner::Device), (bridge(), DecoderOwner::Bridge)] {
        for n in 0..4 {
            accepted(&mut registers, n, &one_way(owner, 16 + n as u64, 1));
        }
        let hit = |n: u64| registers.look_up((16 + n) * STEP + 77).map(|hit| hit.decoder);
        assert_eq!([0, 1, 2, 3, 4].map(hit), [Some(0), Some(1), Some(2), Some(3), None]);
    }
}

/// Each check of a commit with lock, the last commit of each kind obeys all of them.
#[test]
fn fab_hdm_02_n() {
    let (owner, mut registers) = (DecoderOwner::Device, device());
    assert_eq!(refused(&registers, 1, &one_way(owner, 16, 1)), ["FAB-HDM-02"], "decoder 0 is not committed");
    let threes = |size| HdmDecoderSetup { ways: HdmWays::Ways12, ..one_way(owner, 16, size) };
    for size in [1, 2, 4, 767] {
        assert_eq!(refused(&registers, 0, &threes(size)), ["FAB-HDM-02"], "{size} steps for 12 ways");
    }
    accepted(&mut registers, 0, &threes(3));
    assert_eq!(refused(&registers, 1, &one_way(owner, 15, 1)), ["FAB-HDM-02"], "below decoder 0");
    let last = (1 << 36) - 1;
    assert_eq!(refused(&registers, 1, &one_way(owner, last, 2)), ["FAB-HDM-02"], "behind 2^64");
    accepted(&mut registers, 1, &one_way(owner, last, 1));
    assert_eq!(registers.look_up(u64::MAX).map(|hit| hit.decoder), Some(1));

    // Each for its own reason, and several together.
    let reason = |text: &str| format!("FAB-HDM-02: {text}");
    let before = reason("the base lies below the end of the decoder before");
    assert_eq!(reasons(&registers, 2, &one_way(owner, 24, 1)), [before]);
    assert_eq!(reasons(&registers, 3, &one_way(owner, 20, 1)), [reason("the decoder before is not committed")]);
    assert_eq!(reasons(&device(), 0, &one_way(owner, last, 2)), [reason("the range wraps")]);
    assert_eq!(reasons(&device(), 0, &threes(1)), [reason("the size cannot be dealt to a multiple of three ways")]);
    let mut registers = bridge();
    assert_eq!(
        reasons(
            &registers,
            0,
            &HdmDecoderSetup {
                ways: HdmWays::Ways4,
                targets: vec![1, 1, 2, 3],
                ..one_way(DecoderOwner::Bridge, 16, 1)
            }
        ),
        [reason("two ways have one target")]
    );
    let over =
        |targets: Vec<u8>| HdmDecoderSetup { ways: HdmWays::Ways4, targets, ..one_way(DecoderOwner::Bridge, 16, 1) };
    for targets in [vec![1, 1, 2, 3], vec![1, 2, 3, 1], vec![9, 9, 9, 9]] {
        assert_eq!(refused(&registers, 0, &over(targets)), ["FAB-HDM-02"]);
    }
    accepted(&mut registers, 0, &over(vec![3, 1, 2, 255]));
}

/// Without lock none of that is checked.
#[test]
fn commits_without_lock() {
    let owner = DecoderOwner::Device;
    let without = |setup| HdmDecoderSetup { lock: false, ..setup };
    let mut registers = device();
    accepted(&mut registers, 0, &without(one_way(owner, 32, 1)));
    accepted(&mut registers, 1, &without(one_way(owner, 16, 1)));
    accepted(&mut registers, 2, &without(HdmDecoderSetup { ways: HdmWays::Ways3, ..one_way(owner, 48, 1) }));
    accepted(&mut registers, 3, &without(one_way(owner, (1 << 36) - 1, 2)));
}

#[test]
fn a_locked_decoder_takes_no_write() {
    let mut registers = device();
    accepted(&mut registers, 0, &one_way(DecoderOwner::Device, 16, 1));
    let before = registers.clone();
    for offset in (0x10..0x30).step_by(4) {
        for value in [0, u32::MAX, COMMIT] {
            assert_eq!(registers.write(offset, value), Ok(Findings::default()));
            assert_eq!(registers, before, "offset {offset:#x}");
        }
    }
    // A failed commit does not lock.
    assert_eq!(rules(&set(&mut registers, 1, &one_way(DecoderOwner::Device, 2, 1))), ["FAB-HDM-02"]);
    registers.write(0x10 + 0x20, 20 << 28).expect("a register");
    registers.write(0x30 + 4, 1).expect("a register");
    registers.write(0x30 + 0x10, LOCK).expect("a register");
    assert_eq!(state(&registers, 1), (false, false));
    accepted(&mut registers, 1, &one_way(DecoderOwner::Device, 20, 1));
}

/// All decoders committed in rising order, then ended in falling order.
#[test]
fn fab_hdm_03_p() {
    let (owner, mut registers) = (DecoderOwner::Device, device());
    for n in 0..4 {
        accepted(&mut registers, n, &HdmDecoderSetup { lock: false, ..one_way(owner, 16 + 4 * n as u64, 4) });
    }
    for n in (0..4).rev() {
        assert_eq!(registers.write(HdmDecoderRegisters::control_at(n), 0), Ok(Findings::default()));
        assert_eq!(state(&registers, n), (false, false));
    }
}

/// Another order is a lint, and the commit holds.
#[test]
fn fab_hdm_03_n() {
    let (owner, mut registers) = (DecoderOwner::Device, device());
    let setup = |base| HdmDecoderSetup { lock: false, ..one_way(owner, base, 1) };
    let lints = |found: &Findings| found.lints.iter().map(|lint| lint.rule).collect::<Vec<_>>();
    let found = set(&mut registers, 1, &setup(18));
    assert_eq!((lints(&found), state(&registers, 1)), (vec!["FAB-HDM-03"], (true, false)), "1 before 0");
    accepted(&mut registers, 0, &setup(16));
    accepted(&mut registers, 2, &setup(20));
    let end = |registers: &mut HdmDecoderRegisters, n| {
        registers.write(HdmDecoderRegisters::control_at(n), 0).expect("a register")
    };
    assert_eq!(lints(&end(&mut registers, 1)), ["FAB-HDM-03"], "1 before 2");
    for n in [2, 0] {
        assert_eq!(end(&mut registers, n), Findings::default(), "in falling order");
    }
    assert_eq!(registers.look_up(16 * STEP), None);
}

#[test]
fn what_is_refused_without_lock_too() {
    let without = |setup| HdmDecoderSetup { lock: false, ..setup };
    for (mut registers, owner) in [(device(), DecoderOwner::Device), (bridge(), DecoderOwner::Bridge)] {
        accepted(&mut registers, 0, &without(one_way(owner, 16, 4)));
        for (base, size) in [(16, 4), (19, 1), (15, 2), (10, 20), (17, 1)] {
            let setup = without(one_way(owner, base, size));
            assert_eq!(refused(&registers, 1, &setup), ["FAB-HDM-04"], "{base} {size}");
        }
        for (base, size) in [(20, 1), (15, 1), (17, 0)] {
            accepted(&mut registers.clone(), 1, &without(one_way(owner, base, size)));
        }
    }
    let all = [HdmWays::Ways2, HdmWays::Ways4, HdmWays::Ways8];
    for (targets, most) in [(1u32, 1), (2, 2), (4, 4), (8, 8)] {
        for (code, ways) in all.into_iter().zip([2, 4, 8]) {
            let capability = BRIDGE & !0xf0 | targets << 4;
            let registers = HdmDecoderRegisters::new(DecoderOwner::Bridge, capability).expect("a legal capability");
            let setup = HdmDecoderSetup {
                ways: code,
                targets: (0..ways).collect(),
                ..without(one_way(DecoderOwner::Bridge, 16, 8))
            };
            match ways > most {
                true => assert_eq!(refused(&registers, 0, &setup), ["FAB-HDM-04"], "{ways} ways, {targets} targets"),
                false => accepted(&mut registers.clone(), 0, &setup),
            }
        }
    }
}

/// Ways and granularities of whole sets, with the one group of bits that they need; the device finds its share by them.
#[test]
fn fab_hdm_10_p() {
    let ways = [2, 4, 8, 16, 3, 6, 12];
    let codes = [
        HdmWays::Ways2,
        HdmWays::Ways4,
        HdmWays::Ways8,
        HdmWays::Ways16,
        HdmWays::Ways3,
        HdmWays::Ways6,
        HdmWays::Ways12,
    ];
    for (code, (n, of_set)) in (0..7u8).flat_map(|code| ways.into_iter().enumerate().map(move |n| (code, n))) {
        let other_group = if code <= 3 { 1 << 9 } else { 1 << 8 };
        let mut registers =
            HdmDecoderRegisters::new(DecoderOwner::Device, DEVICE & !other_group).expect("a legal capability");
        registers.write(0x4, 2).expect("the global control");
        let (ways, granularity) = (codes[n], HdmGranularity(code));
        accepted(&mut registers, 0, &HdmDecoderSetup { ways, granularity, ..one_way(DecoderOwner::Device, 24, 48) });
        for offset in [0, 77, 5 << 20, 48 * STEP - 1] {
            let found = registers.look_up(24 * STEP + offset).map(|hit| hit.target);
            let share = hdm::share_offset(offset, of_set, usize::from(code));
            assert_eq!(found, Some(HdmTarget::Device(share)), "{of_set} ways, code {code}: {offset:#x}");
        }
    }
}

/// A group of bits or a number of ways that the capability does not have is refused with and without lock.
#[test]
fn fab_hdm_10_n() {
    let without = |setup| HdmDecoderSetup { lock: false, ..setup };
    for (missing, refuses) in [(1 << 8, [true, true, true, true, false]), (1 << 9, [false, false, false, false, true])]
    {
        let registers = HdmDecoderRegisters::new(DecoderOwner::Device, DEVICE & !missing).expect("a legal capability");
        for (code, is_refused) in refuses.into_iter().enumerate() {
            let granularity = HdmGranularity(code as u8);
            let over = |ways| HdmDecoderSetup { ways, granularity, ..without(one_way(DecoderOwner::Device, 24, 12)) };
            match is_refused {
                true => assert_eq!(refused(&registers, 0, &over(HdmWays::Ways2)), ["FAB-HDM-04"], "{code}"),
                false => accepted(&mut registers.clone(), 0, &over(HdmWays::Ways2)),
            }
            // One way selects by no bit.
            accepted(&mut registers.clone(), 0, &over(HdmWays::Ways1));
        }
    }
    for (missing, ways) in
        [(1 << 11, vec![HdmWays::Ways3, HdmWays::Ways6, HdmWays::Ways12]), (1 << 12, vec![HdmWays::Ways16])]
    {
        let registers = HdmDecoderRegisters::new(DecoderOwner::Device, DEVICE & !missing).expect("a legal capability");
        for ways in ways {
            let setup = HdmDecoderSetup { ways, ..without(one_way(DecoderOwner::Device, 24, 48)) };
            assert_eq!(refused(&registers, 0, &setup), ["FAB-HDM-04"], "{ways:?}");
            accepted(&mut device(), 0, &setup);
        }
    }
}

/// Bases, sizes and skips of one step and of all bits above.
#[test]
fn fab_hdm_14_p() {
    let most = !(STEP - 1);
    for number in [0, STEP, 0x1234_5670 << 28, most] {
        let setup = HdmDecoderSetup { base: number, size: number, skip: number, ..one_way(DecoderOwner::Device, 0, 0) };
        let mut registers = device();
        for write in &setup.writes(DecoderOwner::Device, 3).expect("registers can hold it")[..6] {
            registers.write(write.offset, write.value).expect("a register");
        }
        for at in [0x70, 0x78, 0x84] {
            let (low, high) = (registers.read(at).expect("a register"), registers.read(at + 4).expect("a register"));
            assert_eq!(u64::from(high) << 32 | u64::from(low), number, "{at:#x}");
        }
    }
}

/// What lies below a step is refused before it is written, and not kept.
#[test]
fn fab_hdm_14_n() {
    let setup = one_way(DecoderOwner::Device, 16, 1);
    for low in [1, 1 << 27, STEP - 1] {
        for (field, changed) in [
            ("base", HdmDecoderSetup { base: setup.base + low, ..setup.clone() }),
            ("size", HdmDecoderSetup { size: setup.size + low, ..setup.clone() }),
            ("skip", HdmDecoderSetup { skip: low, ..setup.clone() }),
        ] {
            let error = changed.writes(DecoderOwner::Device, 0).expect_err("no register holds it");
            assert!(matches!(error, HdmSetupError::Step { field: found, .. } if found == field), "{error}");
        }
    }
    // What lies below is reserved: it is not kept.
    for (mut registers, last) in [(device(), 0xf000_0000), (bridge(), u32::MAX)] {
        for (at, kept) in [(0x10, 0xf000_0000), (0x14, u32::MAX), (0x18, 0xf000_0000), (0x1c, u32::MAX), (0x24, last)] {
            registers.write(at, u32::MAX).expect("a register");
            assert_eq!(registers.read(at), Ok(kept), "{at:#x}");
        }
        for at in [0x0, 0x8, 0xc, 0x2c] {
            let before = registers.read(at);
            registers.write(at, u32::MAX).expect("a register");
            assert_eq!(registers.read(at), before, "{at:#x}");
        }
        registers.write(0x4, u32::MAX).expect("a register");
        registers.write(0x20, !COMMIT).expect("a register");
        assert_eq!((registers.read(0x4), registers.read(0x20)), (Ok(3), Ok(0x0fff_71ff)));
    }
}

/// Codes without a meaning, in registers and before.
#[test]
fn fab_hdm_15_n() {
    let write_codes = |registers: &HdmDecoderRegisters, ways: u32, granularity: u32| {
        let mut registers = registers.clone();
        for (at, value) in [(0x14, 8), (0x1c, 12), (0x24, 0x0302_0100), (0x28, 0x0706_0504)] {
            registers.write(at, value).expect("a register");
        }
        let found = registers.write(0x20, COMMIT | ways << 4 | granularity).expect("a register");
        (rules(&found), state(&registers, 0))
    };
    for ways in 0..16 {
        for granularity in 0..16 {
            for (registers, known) in [(device(), &[0, 1, 2, 3, 4, 8, 9, 10][..]), (bridge(), &[0, 1, 2, 3])] {
                let wrong = usize::from(!known.contains(&ways)) + usize::from(granularity > 6);
                let expected = (vec!["FAB-HDM-15"; wrong], (wrong == 0, wrong > 0));
                assert_eq!(write_codes(&registers, ways, granularity), expected, "{ways} {granularity}");
            }
        }
    }
    let setup = one_way(DecoderOwner::Bridge, 16, 1);
    let of = |ways, granularity| HdmDecoderSetup { ways, granularity, ..setup.clone() }.writes(DecoderOwner::Bridge, 0);
    assert_eq!(of(HdmWays::Ways16, setup.granularity), Err(HdmSetupError::Ways { found: 16 }));
    assert_eq!(of(HdmWays(7), setup.granularity), Err(HdmSetupError::Code { field: "ways", found: 7 }));
    assert_eq!(of(setup.ways, HdmGranularity(7)), Err(HdmSetupError::Code { field: "granularity", found: 7 }));
    assert_eq!(of(HdmWays::Ways2, setup.granularity), Err(HdmSetupError::Targets { found: 1, expected: 2 }));
}

/// Every code of the number of decoders.
#[test]
fn fab_hdm_15_p() {
    let counts = [1, 2, 4, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32];
    for code in 0..16 {
        let of = |owner, capability: u32| HdmDecoderRegisters::new(owner, capability & !0xf | code);
        let count =
            |found: Result<HdmDecoderRegisters, HdmRegisterError>| found.map(|registers| registers.count()).ok();
        let expected = counts.get(code as usize).copied();
        assert_eq!(count(of(DecoderOwner::Bridge, BRIDGE)), expected);
        assert_eq!(count(of(DecoderOwner::Device, DEVICE)), expected.filter(|count| *count <= 10));
    }
    for targets in 0..16 {
        let found = HdmDecoderRegisters::new(DecoderOwner::Bridge, BRIDGE & !0xf0 | targets << 4);
        assert_eq!(found.is_ok(), [1, 2, 4, 8].contains(&targets), "{targets} targets");
    }
    for (offset, is_there) in
        [(0x0, true), (0x2, false), (0xc, true), (0x8c, true), (0x90, false), (usize::MAX - 3, false)]
    {
        assert_eq!(device().read(offset).is_ok(), is_there, "{offset:#x}");
        assert_eq!(device().write(offset, 0).is_ok(), is_there, "{offset:#x}");
    }
}

const GIB: u64 = 1 << 30;

/// Device addresses of the example of the sheet, with or without its skip.
fn shares(skip: u64) -> [Option<u64>; 4] {
    let mut registers = device();
    for (n, (base, size, ways, granularity, skip)) in [
        (4 * GIB, GIB, HdmWays::Ways2, 0, 0),
        (12 * GIB, 3 * STEP, HdmWays::Ways3, 2, skip),
        (32 * GIB, 2 * GIB, HdmWays::Ways4, 4, 0),
    ]
    .into_iter()
    .enumerate()
    {
        let (lock, granularity) = (true, HdmGranularity(granularity));
        let setup = HdmDecoderSetup { base, size, ways, granularity, lock, targets: Vec::new(), skip };
        accepted(&mut registers, n, &setup);
    }
    [0x1_0000_1234, 0x3_1fed_cba8, 0x8_4000_4abc, 0x1_4000_0000].map(|address| match registers.look_up(address) {
        Some(HdmHit { target: HdmTarget::Device(address), .. }) => Some(address),
        Some(HdmHit { target: HdmTarget::Port(_), .. }) | None => None,
    })
}

/// The example of the sheet: shares of three decoders behind one another, one of them behind a skip.
#[test]
fn fab_dpa_03_p() {
    assert_eq!(shares(STEP), [Some(0x934), Some(0x3aa4_9ba8), Some(0x5000_1abc), None]);
}

/// Without the skip its share and all above lie too low.
#[test]
fn fab_dpa_03_n() {
    let (right, wrong) = (shares(STEP), shares(0));
    assert_eq!(right[0], wrong[0], "below the skip");
    assert_eq!([1, 2].map(|n| right[n].zip(wrong[n]).map(|(right, wrong)| right - wrong)), [Some(STEP); 2]);
}

/// What is in use are the registers as they were committed; the shares of a device follow one another with their skips.
#[test]
fn in_use_is_what_was_committed() {
    let (owner, mut registers) = (DecoderOwner::Device, device());
    let setup = |base, size, skip| HdmDecoderSetup { lock: false, skip: skip * STEP, ..one_way(owner, base, size) };
    accepted(&mut registers, 0, &setup(16, 4, 1));
    accepted(&mut registers, 1, &HdmDecoderSetup { ways: HdmWays::Ways4, ..setup(32, 8, 2) });
    let to = |registers: &HdmDecoderRegisters, address| match registers.look_up(address) {
        Some(HdmHit { target: HdmTarget::Device(address), .. }) => Some(address),
        Some(HdmHit { target: HdmTarget::Port(_), .. }) | None => None,
    };
    assert_eq!(to(&registers, 16 * STEP + 5), Some(STEP + 5));
    assert_eq!(to(&registers, 32 * STEP + 4 * 256 + 9), Some((1 + 4 + 2) * STEP + 256 + 9));
    // Written again with Commit as 1: no commit, and no change.
    set(&mut registers, 0, &setup(64, 1, 0));
    assert_eq!((to(&registers, 16 * STEP), to(&registers, 64 * STEP)), (Some(STEP), None));
    registers.write(0x20, 0).expect("a register");
    registers.write(0x20, COMMIT).expect("a register");
    assert_eq!((to(&registers, 16 * STEP), to(&registers, 64 * STEP)), (None, Some(0)));
    assert_eq!(to(&registers, 32 * STEP), Some(3 * STEP), "the share below has 1 step and no skip now");
    registers.write(0x4, 0).expect("a register");
    assert_eq!(to(&registers, 64 * STEP), None, "the decoders are not enabled");
}
