//! Configuration space: sizing, masks, the lock, the capability lists.

use super::rig::{BARS, FORMS, Rig};
use scalepool::endpoint::completer::CompleterConfig;
use scalepool::endpoint::config_space::port::port;
use scalepool::endpoint::config_space::registers as reg;
use scalepool::endpoint::config_space::type3::{Type3Config, Type3ConfigError, type3};
use scalepool::endpoint::config_space::{BYTES, ConfigSpace};
use scalepool_protocols::cxl::cxlio::dvsec::{DvsecId, FlexBus, device};

#[test]
fn bars_are_sized_by_writing_ones() {
    for form in FORMS {
        let mut rig = Rig::new(form);
        for (n, size) in Type3Config::default().bar_bytes.into_iter().enumerate() {
            let at = reg::bar_at(n) as u16;
            assert_eq!(rig.read_config(at), u32::from(reg::BAR_64_BIT));
            for half in [at, at + 4] {
                rig.write_config(half, u32::MAX, 0xf);
            }
            let mask = u64::from(rig.read_config(at + 4)) << 32 | u64::from(rig.read_config(at));
            assert_eq!((mask & !0xf).wrapping_neg(), size);
            assert_eq!(mask as u32 & 0xf, u32::from(reg::BAR_64_BIT), "type bits stay");
        }
        rig.enable();
        for (n, base) in BARS.into_iter().enumerate() {
            assert_eq!(rig.completer.space().bar(n).expect("there").start, base);
        }
    }
    let none = type3(&Type3Config { bar_bytes: [4096, 0], ..Type3Config::default() }).expect("legal");
    assert_eq!((none.bar(0).map(|r| r.end - r.start), none.bar(1), none.bar(2)), (Some(4096), None, None));
    assert_eq!(port(FlexBus::default()).bar(1), None, "bus numbers are no BAR");
}

/// Every bit of a space: what it becomes by writing ones and zeros.
fn written(space: &ConfigSpace, value: u32) -> Vec<u32> {
    let mut space = space.clone();
    (0..BYTES as u16)
        .step_by(4)
        .map(|at| {
            // Each DW on its own, so that the lock does not get into the way of the others.
            let before = space.clone();
            space.write(at, value, 0xf);
            let now = space.read(at);
            space = before;
            now
        })
        .collect()
}

#[test]
fn read_only_bits_stay_and_byte_enables_choose() {
    let space = type3(&Type3Config::default()).expect("legal");
    let (ones, zeros) = (written(&space, u32::MAX), written(&space, 0));
    let writable: Vec<(usize, u32)> =
        ones.iter().zip(&zeros).enumerate().filter(|(_, (a, b))| a != b).map(|(n, (a, b))| (4 * n, a ^ b)).collect();
    let device_at = space.dvsec(DvsecId::Device).expect("there");
    let flex_at = space.dvsec(DvsecId::FlexBusPort).expect("there");
    let expected = [
        (0x04, 0x6),
        (0x10, 0xffff_0000),
        (0x14, 0xffff_ffff),
        (0x18, 0xfff0_0000),
        (0x1c, 0xffff_ffff),
        (0x48, 0x70e0),
        // Mem_Enable and Viral_Enable; the lock; the base of the one range.
        (device_at + 0x0c, 0x4004),
        (device_at + 0x14, 0x1),
        (device_at + 0x20, 0xffff_ffff),
        (device_at + 0x24, 0xf000_0000),
        // CXL.mem and 68B flits may be switched off.
        (flex_at + 0x0c, 0x24),
    ];
    assert_eq!(writable, expected);
    let mut space = space;
    space.write(0x14, 0x1122_3344, 0b0101);
    assert_eq!(space.read(0x14), 0x0022_0044);
    space.write(0xffc, 1, 0xf);
    assert_eq!((space.read(0xffc), space.read(0x1000)), (0, u32::MAX));
}

#[test]
fn the_lock_holds_ranges_and_itself() {
    let mut rig = Rig::with(FORMS[0], &Type3Config::default(), CompleterConfig::default(), 8);
    let at = rig.completer.space().dvsec(DvsecId::Device).expect("there") as u16;
    let base = at + device::RANGE0_BASE_HIGH.start as u16;
    rig.write_config(base, 0x12, 0xf);
    rig.write_config(at + device::CONTROL.start as u16, 0x4, 0x3);
    rig.write_config(at + device::LOCK.start as u16, 1, 0x3);
    assert!(rig.completer.space().is_locked());
    for register in [base, at + device::CONTROL.start as u16, at + device::LOCK.start as u16] {
        let before = rig.read_config(register);
        rig.write_config(register, !before, 0xf);
        assert_eq!(rig.read_config(register), before, "{register:#x}");
    }
    assert!(rig.completer.space().cxl_mem_enabled());
    rig.enable();
    assert!(rig.completer.space().memory_enabled(), "the lock is about CXL alone");
}

#[test]
fn sizes_that_no_register_says_are_refused() {
    let config = Type3Config::default;
    let refused = |c: Type3Config| type3(&c).expect_err("not legal");
    assert_eq!(
        refused(Type3Config { bar_bytes: [0x3000, 0], ..config() }),
        Type3ConfigError::Bar { bar: 0, found: 0x3000 }
    );
    assert_eq!(
        refused(Type3Config { bar_bytes: [0, 2048], ..config() }),
        Type3ConfigError::Bar { bar: 1, found: 2048 }
    );
    let range = Type3Config { range_bytes: [1 << 28, 1 << 27], ..config() };
    assert_eq!(refused(range), Type3ConfigError::Range { range: 1, found: 1 << 27 });
    // The number of ranges says how many there are from the first one on.
    let second = Type3Config { range_bytes: [0, 1 << 28], ..config() };
    assert_eq!(refused(second), Type3ConfigError::SecondRangeAlone { found: 1 << 28 });
    for found in [0, 17] {
        let lds = Type3Config { logical_devices: found, ..config() };
        assert_eq!(refused(lds), Type3ConfigError::LogicalDevices { found });
    }
}

#[test]
fn ranges_read_back_as_they_were_programmed() {
    let config = Type3Config { range_bytes: [0x1_5000_0000, 1 << 28], ..Type3Config::default() };
    let mut space = type3(&config).expect("legal");
    let at = space.dvsec(DvsecId::Device).expect("there") as u16;
    for (n, size) in config.range_bytes.into_iter().enumerate() {
        let base = 0x40_3000_0000 + ((n as u64) << 40);
        let base_at = at + device::RANGE0_BASE_HIGH.start as u16 + 0x10 * n as u16;
        space.write(base_at, (base >> 32) as u32, 0xf);
        space.write(base_at + 4, base as u32 | 0xfff_ffff, 0xf);
        assert_eq!(space.memory_range(n), Some(base..base + size));
    }
    let one = type3(&Type3Config::default()).expect("legal");
    assert_eq!(one.memory_range(1), None);
}
