//! Address mappings: the examples of the sheet, one-to-one, and what is refused.

use super::rig::Numbers;
use scalepool::memory::dram::preset::{self, DramOrganisation, PRESETS};
use scalepool::memory::dram::{DramMap, DramMapping, DramPlace};
use std::collections::BTreeSet;

fn mapping(key: &str, map: DramMap, row_xor: bool) -> DramMapping {
    let preset = preset::find(key).expect("a preset");
    DramMapping::new(map, &preset.organisation, 256, row_xor).expect("a mapping")
}

/// A memory small enough to walk through, with three stacks and rows that are no power of two.
fn small(stacks: u32) -> DramOrganisation {
    DramOrganisation {
        channels: 2,
        pseudo_channels: 2,
        ranks: 1,
        stacks,
        bank_groups: 2,
        banks: 2,
        rows: 12,
        row_bytes: 256,
        burst_bytes: 32,
        bus_bits: 32,
    }
}

/// Every burst of a small memory has a place of its own, and its address comes back.
fn is_one_to_one(organisation: &DramOrganisation, map: DramMap, row_xor: bool) {
    let mapping = DramMapping::new(map, organisation, 64, row_xor).expect("a mapping");
    let bursts = organisation.capacity_bytes() / 32;
    let places: BTreeSet<DramPlace> = (0..bursts)
        .map(|burst| {
            let place = mapping.place(burst * 32).expect("it is there");
            assert_eq!(mapping.address(&place), burst * 32, "{map:?}");
            place
        })
        .collect();
    assert_eq!(places.len() as u64, bursts, "{map:?}");
    assert_eq!(mapping.place(bursts * 32), None);
}

#[test]
fn mem_map_01_p() {
    for preset in PRESETS {
        for map in DramMap::ALL {
            let end = preset.organisation.capacity_bytes();
            assert!(mapping(preset.key, map, false).place(end - 1).is_some(), "{} {map:?}", preset.key);
        }
    }
}

#[test]
fn mem_map_01_n() {
    for preset in PRESETS {
        for map in DramMap::ALL {
            let end = preset.organisation.capacity_bytes();
            assert_eq!(mapping(preset.key, map, false).place(end), None, "{} {map:?}", preset.key);
            assert_eq!(mapping(preset.key, map, false).place(u64::MAX), None);
        }
    }
}

#[test]
fn mem_map_02_p() {
    for map in DramMap::ALL {
        is_one_to_one(&small(3), map, false);
        for key in ["ddr5_4800b", "hbm3e_9600_12h"] {
            let (mapping, mut numbers) = (mapping(key, map, false), Numbers(9));
            let preset = preset::find(key).expect("a preset");
            let burst = u64::from(preset.organisation.burst_bytes);
            for _ in 0..20_000 {
                let address = numbers.below(preset.organisation.capacity_bytes() / burst) * burst;
                let place = mapping.place(address).expect("it is there");
                assert_eq!(mapping.address(&place), address, "{key} {map:?}");
            }
        }
    }
}

#[test]
fn mem_map_02_n() {
    // Slices of bits take two for three stacks: a fourth of all addresses names a stack that is not there.
    let bursts = small(3).capacity_bytes() / 32;
    assert_eq!((0..bursts).filter(|burst| burst & 3 == 3).count() as u64, bursts / 4);
}

#[test]
fn mem_map_03_p() {
    let place = |key: &str, map, address| mapping(key, map, false).place(address).expect("it is there");
    // HBM: the rank is the pseudo-channel, groups count through the stacks.
    let sp1 = DramPlace { channel: 6, rank: 1, group: 2, bank: 2, row: 291, column: 3 };
    assert_eq!(place("hbm3_6400", DramMap::Sp1, 0x1234_5678), sp1);
    let low = DramPlace { channel: 3, rank: 1, group: 0, bank: 1, row: 291, column: 21 };
    assert_eq!(place("hbm3_6400", DramMap::RoBaRaCoCh, 0x1234_5678), low);
    let ddr4 = DramPlace { channel: 0, rank: 0, group: 2, bank: 0, row: 2330, column: 85 };
    assert_eq!(place("ddr4_3200aa", DramMap::Sp1, 0x1234_5678), ddr4);
    let tall = DramPlace { row: 16_384, column: 2, ..DramPlace::default() };
    assert_eq!(place("hbm3e_9600_12h", DramMap::Sp1, 0x6_0000_0040), tall);
    // The last bursts of a channel and of a row show which field is where in the others.
    assert_eq!(place("ddr4_3200aa", DramMap::RoRaBaCoCh, 64 * 128).group, 1);
    assert_eq!(place("ddr4_3200aa", DramMap::RoCoRaBaCh, 64 * 16).column, 1);
    assert_eq!(place("ddr5_4800b", DramMap::ChRaBaRoCo, 8 << 30).channel, 1);
    assert_eq!(place("ddr4_3200aa", DramMap::RoBaRaCoCh, 64 * 128 * 4).bank, 1);
}

#[test]
fn mem_map_03_n() {
    let places: BTreeSet<_> =
        DramMap::ALL.iter().map(|map| mapping("hbm3_6400", *map, false).place(0x1234_5678)).collect();
    assert_eq!(places.len(), 5, "each order is another one");
}

#[test]
fn mem_map_04_p() {
    for map in DramMap::ALL {
        is_one_to_one(&small(2), map, true);
    }
    // Row 5 of eight groups: group 5 instead of 0; row 8: the first bit of the bank.
    let mapping = mapping("ddr5_4800b", DramMap::Sp1, true);
    let found = [5, 8].map(|row| {
        let place = DramPlace { group: (row % 8), bank: row / 8, row, ..DramPlace::default() };
        mapping.address(&place) % (4096 * 2 * 8 * 4)
    });
    assert_eq!(found, [0, 0]);
}

#[test]
fn mem_map_04_n() {
    let three = DramOrganisation { bank_groups: 3, ..small(2) };
    let refused = DramMapping::new(DramMap::Sp1, &three, 64, true).expect_err("three groups");
    assert!(refused.contains("found row_xor with a field of 3"), "{refused}");
}

#[test]
fn mem_map_05_p() {
    for preset in PRESETS {
        let (mapping, burst) = (mapping(preset.key, DramMap::Sp1, false), u64::from(preset.organisation.burst_bytes));
        for block in 0..4096_u64 {
            let places = (0..256 / burst).map(|n| mapping.place(block * 997 * 256 + n * burst).expect("it is there"));
            let rows: BTreeSet<_> = places.map(|place| DramPlace { column: 0, ..place }).collect();
            assert_eq!(rows.len(), 1, "{}", preset.key);
        }
    }
}

#[test]
fn mem_map_05_n() {
    for (key, interleave) in [("hbm3_6400", 2048), ("ddr4_3200aa", 32), ("ddr4_3200aa", 96), ("ddr4_3200aa", 0)] {
        let organisation = &preset::find(key).expect("a preset").organisation;
        let refused = DramMapping::new(DramMap::Sp1, organisation, interleave, false).expect_err(key);
        assert!(refused.contains("expected a multiple of"), "{refused}");
    }
}
