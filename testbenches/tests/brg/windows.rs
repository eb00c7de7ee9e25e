//! Windows, translation, rights (`bridge` §2).

use super::common::*;
use scalepool::bridge::commands::AccessKind;
use scalepool::bridge::window::{
    AccessRights, BridgeWindow, BridgeWindows, CXL_END, GROUPS, LEAST_BYTES, WINDOW_GRANULES, WINDOW_WAYS, WindowClass,
    WindowError,
};
use scalepool::ordered::OrderedMap;
use scalepool_protocols::ualink::code::{RdWr, ReqCmd, Status};

fn status(bench: &mut Bench, address: u64) -> Status {
    let response = bench.whole(read(address, 16));
    rsp(&response).status
}

#[test]
fn brg_win_01_p() {
    let mut bench = Bench::of(WindowClass::Mn);
    for address in [BASE, BASE + SIZE - 64] {
        assert_eq!(status(&mut bench, address), Status::OKAY, "{address:#x}");
    }
    assert_eq!(bench.sent.len(), 2);
}

#[test]
fn brg_win_01_n() {
    let mut bench = Bench::of(WindowClass::Mn);
    for address in [0, BASE - 64, BASE + SIZE, 1 << 56] {
        assert_eq!(status(&mut bench, address), Status::DecodeError, "{address:#x}");
    }
    assert!(bench.sent.is_empty());
}

/// A bridge whose source is in a group with these rights.
fn with_rights(rights: AccessRights) -> Bench {
    let mut of_groups = [AccessRights::default(); GROUPS];
    of_groups[5] = rights;
    let windows = vec![BridgeWindow { rights: of_groups, ..window(WindowClass::Mc) }];
    let windows = BridgeWindows::new(windows, OrderedMap::from([(SOURCE, 5)]), 1).unwrap_or_else(|e| panic!("{e}"));
    Bench::new(scalepool::bridge::outbound::OutboundConfig { windows, ..config(WindowClass::Mc) })
}

/// Which of a read, a write and an atomic are allowed.
fn allowed(rights: AccessRights) -> [bool; 3] {
    let mut bench = with_rights(rights);
    [read(BASE, 16), write_full(BASE, 1, 1), add(ReqCmd::AtomicR, BASE, 1)].map(|request| {
        let before = bench.sent.len();
        let status = rsp(&bench.whole(request)).status;
        assert_eq!(status == Status::OKAY, bench.sent.len() > before);
        assert!([Status::OKAY, Status::ProtectionViolation].contains(&status));
        status == Status::OKAY
    })
}

#[test]
fn brg_win_02_p() {
    for n in 0..8 {
        let [read, write, atomic] = [0, 1, 2].map(|bit| n >> bit & 1 == 1);
        assert_eq!(allowed(AccessRights { read, write, atomic }), [read, write, read && write && atomic], "{n}");
    }
}

/// Other sources are in group 0, which has nothing here.
#[test]
fn brg_win_02_n() {
    let mut bench = with_rights(AccessRights::ALL);
    let mut request = read(BASE, 16);
    change(&mut request, |req| req.src = SOURCE + 1);
    assert_eq!(rsp(&bench.whole(request)).status, Status::ProtectionViolation);
    assert!(bench.sent.is_empty());
}

/// Of two faults the one that is looked for first is told.
#[test]
fn brg_win_03_p() {
    let mut bench = with_rights(AccessRights { read: true, ..AccessRights::default() });
    let mut told = |cmd, address| {
        let mut request = write_full(address, 1, 1);
        change(&mut request, |req| req.cmd = cmd);
        rsp(&bench.whole(request)).status
    };
    assert_eq!(told(ReqCmd::VendorWrite0, 0), Status::DecodeError, "no window, no right, no command");
    assert_eq!(told(ReqCmd::VendorWrite0, BASE), Status::ProtectionViolation, "no right, no command");
    assert_eq!(told(ReqCmd::VendorRead0, BASE), Status::TargetAbort, "no command");
}

/// Rights tell nothing about addresses: whoever may do nothing learns that an address lies in no window, as all others do.
#[test]
fn brg_win_03_n() {
    for rights in [AccessRights::default(), AccessRights::ALL] {
        assert_eq!(status(&mut with_rights(rights), BASE - 256), Status::DecodeError);
    }
}

/// The way is that of the offset, counted in granules; the address is moved and nothing is taken out of it.
#[test]
fn brg_win_04_p() {
    for ways in WINDOW_WAYS {
        for granule in WINDOW_GRANULES {
            let ports = (0..ways).rev().collect();
            let all = windows(vec![BridgeWindow { ports, granule, ..window(WindowClass::Mn) }]);
            for offset in [0, granule - 256, granule, 3 * granule + 64, 17 * granule, SIZE - 256] {
                let route = all.route(SOURCE, BASE + offset, AccessKind::Read).unwrap_or_else(|s| panic!("{s:?}"));
                let port = ways - 1 - (offset / granule) as usize % ways;
                assert_eq!((route.port, route.address), (port, OUT + offset), "{ways} ways of {granule}, {offset:#x}");
            }
        }
    }
}

fn refused(change: impl FnOnce(&mut BridgeWindow)) -> WindowError {
    let mut one = window(WindowClass::Mn);
    change(&mut one);
    BridgeWindows::new(vec![one], OrderedMap::new(), 16).expect_err("a window that cannot be")
}

#[test]
fn brg_win_04_n() {
    assert_eq!(refused(|w| w.ports = vec![0, 1, 2]), WindowError::Ways(0, 3));
    assert_eq!(refused(|w| w.ports.clear()), WindowError::Ways(0, 0));
    assert_eq!(refused(|w| w.granule = 384), WindowError::Granule(0, 384));
    assert_eq!(refused(|w| w.granule = 32 << 10), WindowError::Granule(0, 32 << 10));
}

#[test]
fn brg_win_05_p() {
    let least = |n: u64| BridgeWindow { base: n * LEAST_BYTES, size: LEAST_BYTES, ..window(WindowClass::Mn) };
    assert!(BridgeWindows::new((0..16).map(least).collect(), OrderedMap::new(), 1).is_ok());
}

#[test]
fn brg_win_05_n() {
    let least = |n: u64| BridgeWindow { base: n * LEAST_BYTES, size: LEAST_BYTES, ..window(WindowClass::Mn) };
    let all = |windows| BridgeWindows::new(windows, OrderedMap::new(), 1).expect_err("windows that cannot be");
    assert_eq!(all((0..17).map(least).collect()), WindowError::Count(17));
    let over = BridgeWindow { base: LEAST_BYTES - 256, ..least(0) };
    assert_eq!(all(vec![least(0), over]), WindowError::Overlap(0, 1));
    assert_eq!(refused(|w| w.base += 64), WindowError::Unaligned(0, "base", BASE + 64));
    assert_eq!(refused(|w| w.out_base += 64), WindowError::Unaligned(0, "out_base", OUT + 64));
    assert_eq!(refused(|w| w.size = LEAST_BYTES - 256), WindowError::Small(0, LEAST_BYTES - 256));
}

/// A window may reach beyond the addresses of CXL; what lies there has no memory.
#[test]
fn brg_win_07_p() {
    let all = windows(vec![BridgeWindow { out_base: CXL_END - SIZE / 2, ..window(WindowClass::Mn) }]);
    let told = |offset| all.route(SOURCE, BASE + offset, AccessKind::Read).map(|route| route.address);
    assert_eq!(told(SIZE / 2 - 64), Ok(CXL_END - 64));
    assert_eq!(told(SIZE / 2), Err(Status::DecodeError));
}

#[test]
fn brg_win_07_n() {
    assert_eq!(refused(|w| w.base = u64::MAX - 255), WindowError::Overflow(0));
    assert_eq!(refused(|w| w.out_base = u64::MAX - 255), WindowError::Overflow(0));
}

#[test]
fn brg_prt_01_p() {
    let all = vec![BridgeWindow { ports: vec![15], ..window(WindowClass::Mn) }];
    assert!(BridgeWindows::new(all, OrderedMap::from([(1023, 15)]), 16).is_ok());
}

#[test]
fn brg_prt_01_n() {
    assert_eq!(refused(|w| w.ports = vec![16]), WindowError::Port(0, 16, 15));
    let groups =
        |one| BridgeWindows::new(vec![window(WindowClass::Mn)], OrderedMap::from([one]), 1).expect_err("a group");
    assert_eq!(groups((1024, 0)), WindowError::Source(1024, 1023));
    assert_eq!(groups((0, 16)), WindowError::Group(16));
    assert_eq!(RdWr::Read.name(), Some("Read"));
}
