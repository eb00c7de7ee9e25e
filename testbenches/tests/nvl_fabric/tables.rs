//! Tables of the switch alone.

use scalepool::fabric::nvlink_switch::routing::{ENTRIES, MAX_UNITS, UNIT_LSB};
use scalepool::fabric::nvlink_switch::{Groups, NvlRoutes, NvlTarget, PRESETS, RemapEntry, RemapTable, RoutingError};

#[test]
fn presets_are_those_of_the_sheet() {
    let found: Vec<_> = PRESETS.iter().map(|p| (p.ports, p.total_mbps(), p.multicast)).collect();
    assert_eq!(found, [(18, 900_000, false), (36, 1_800_000, false), (64, 3_200_000, true), (72, 7_200_000, true)]);
}

#[test]
fn addresses_are_remapped_in_their_window() {
    let mut table = RemapTable::default();
    let entry = RemapEntry { target: NvlTarget::Endpoint(3), base: 2, limit: 5, offset: 7 };
    table.set(9, entry).expect("a legal window");
    let at = |select: u64, unit: u64, low: u64| select << 36 | unit << UNIT_LSB | low;
    assert_eq!(table.remap(at(9, 2, 0x40)), Some((NvlTarget::Endpoint(3), at(0, 9, 0x40))));
    assert_eq!(table.remap(at(9, 5, 0xf_fff0)), Some((NvlTarget::Endpoint(3), at(0, 12, 0xf_fff0))));
    for miss in [at(9, 1, 0xf_fff0), at(9, 6, 0), at(8, 3, 0), at(0x1000 + 9, 3, 0)] {
        assert_eq!(table.remap(miss), None, "{miss:#x}");
    }
    assert_eq!(table.target(at(9, 0, 0)), Some(NvlTarget::Endpoint(3)), "a FLUSH names no memory");
    let bad = RemapEntry { limit: MAX_UNITS, ..entry };
    assert!(matches!(table.set(9, bad), Err(RoutingError::Window { .. })));
    assert_eq!(table.set(ENTRIES, entry), Err(RoutingError::Select { found: ENTRIES }));
}

#[test]
fn ports_follow_the_place_of_the_input() {
    let mut routes = NvlRoutes::default();
    for (port, endpoint) in [4, 4, 7, 7, 9].into_iter().enumerate() {
        routes.add(endpoint, port);
    }
    // The second link of one endpoint goes to the second link of another, or to the one that there is.
    assert_eq!([0, 1].map(|from| routes.port(7, from)), [Some(2), Some(3)]);
    assert_eq!([2, 3].map(|from| routes.port(9, from)), [Some(4), Some(4)]);
    assert_eq!((routes.port(5, 0), routes.endpoint(3), routes.place(3)), (None, Some(7), 1));
}

#[test]
fn groups_have_one_to_sixteen_replica_sets() {
    let mut groups = Groups::default();
    groups.set(1, vec![vec![0, 2], vec![1, 3]]).expect("two sets");
    assert_eq!([0, 1, 2].map(|place| groups.replicas(1, place)), [Some(&[0, 2][..]), Some(&[1, 3]), Some(&[0, 2])]);
    assert_eq!(groups.replicas(2, 0), None);
    assert_eq!(groups.set(1, vec![vec![0]; 17]), Err(RoutingError::ReplicaSets { group: 1, found: 17 }));
    assert_eq!(groups.set(1, vec![vec![]]), Err(RoutingError::ReplicaSets { group: 1, found: 0 }));
    assert_eq!(groups.set(1, vec![vec![5, 5]]), Err(RoutingError::Twice { group: 1, port: 5 }));
}
