//! Windows, translation, rights (`bridge` §2).

use super::common::*;
use super::systems::resolves;
use scalepool::bridge::commands::AccessKind;
use scalepool::bridge::window::{
    AccessRights, BridgeWindow, BridgeWindows, CXL_END, GROUPS, InboundClass, LEAST_BYTES, WINDOW_GRANULES,
    WINDOW_WAYS, WindowClass, WindowError, WindowLimits,
};
use scalepool::coherence::message::Msg;
use scalepool::ordered::OrderedMap;
use scalepool_protocols::cxl::cxl256::code::{MetaField, MetaValue, NdrOpcode, SnpType};
use scalepool_protocols::ualink::code::{RdWr, ReqCmd, Status};
use scalepool_testbenches::legal::Random;
use std::collections::BTreeSet;

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
    // Memory that is offered has to be there.
    for limits in [WindowLimits::INBOUND_UALINK, WindowLimits::INBOUND_NVLINK] {
        let end = limits.out_end;
        let exported = |out_base| {
            let BridgeWindow { base, size, ports, granule, rights, .. } = window(WindowClass::Mn);
            let windows = vec![BridgeWindow { base, size, out_base, class: InboundClass::Db, ports, granule, rights }];
            BridgeWindows::exporting(limits, windows, OrderedMap::new(), 1).err()
        };
        assert_eq!(exported(end - SIZE), None);
        assert_eq!(exported(end - SIZE + 256), Some(WindowError::Beyond(0, end + 256, end)));
    }
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

type Inbound = BridgeWindow<InboundClass>;

/// A window from CXL to accelerators.
fn inbound(base: u64, to: u64, accelerators: &[usize], granule: u64) -> Inbound {
    let rights = [AccessRights::ALL; GROUPS];
    let ports = accelerators.to_vec();
    BridgeWindow { base, size: LEAST_BYTES, out_base: to, class: InboundClass::Nh, ports, granule, rights }
}

fn exporting(windows: &[Inbound]) -> Result<BridgeWindows<InboundClass>, WindowError> {
    BridgeWindows::exporting(WindowLimits::INBOUND_UALINK, windows.to_vec(), OrderedMap::new(), 16)
}

/// All blocks of 256 bytes of accelerators to which windows lead, in the order of their addresses on CXL.
fn blocks(window: &Inbound) -> impl Iterator<Item = (usize, u64)> {
    let ways = window.ports.len() as u64;
    (0..window.size / 256).map(move |block| {
        let offset = 256 * block;
        (window.ports[(offset / window.granule % ways) as usize], window.out_base + offset)
    })
}

/// Two windows at random: two, four or more accelerators among few, bases that often meet.
fn pair(random: &mut Random) -> [Inbound; 2] {
    [0, 1].map(|n| {
        let ways = WINDOW_WAYS[random.below(4)];
        let accelerators: Vec<usize> = (0..ways).map(|_| random.below(16)).collect();
        let to = 256 * random.below(2 * LEAST_BYTES as usize / 256) as u64;
        inbound(n * LEAST_BYTES, to, &accelerators, WINDOW_GRANULES[random.below(7)])
    })
}

/// Windows are accepted where no byte of an accelerator lies in two of them: other accelerators, other addresses, or the chunks that the
/// other one leaves out.
#[test]
fn brg_hom_01_p() {
    let one = inbound(0, 0, &[0, 1], 4096);
    for other in [
        inbound(LEAST_BYTES, 0, &[2, 3], 4096),
        inbound(LEAST_BYTES, LEAST_BYTES, &[0, 1], 4096),
        inbound(LEAST_BYTES, 0, &[1, 0], 4096),
        inbound(LEAST_BYTES, 4096, &[0, 1], 4096),
    ] {
        assert!(exporting(&[one.clone(), other.clone()]).is_ok(), "{other:?}");
    }
}

/// A byte to which two windows lead is refused and named: block by block the same for pairs at random.
#[test]
fn brg_hom_01_n() {
    let one = inbound(0, 0, &[0, 1], 4096);
    for (other, accelerator, address) in [
        (inbound(LEAST_BYTES, 0, &[0], 256), 0, 0),
        (inbound(LEAST_BYTES, LEAST_BYTES - 256, &[1], 256), 1, LEAST_BYTES - 256),
        (inbound(LEAST_BYTES, 0, &[1, 0], 2048), 0, 2048),
    ] {
        let error = exporting(&[one.clone(), other]).expect_err("it is exported twice");
        assert_eq!(error, WindowError::Exported(0, 1, accelerator, address));
    }
    let (mut random, mut refused) = (Random::new(1), 0);
    for _ in 0..150 {
        let [one, other] = pair(&mut random);
        let mine: BTreeSet<(usize, u64)> = blocks(&one).collect();
        let twice = blocks(&other).filter(|block| mine.contains(block)).min_by_key(|(_, address)| *address);
        let found = match exporting(&[one.clone(), other.clone()]) {
            Ok(_) => None,
            Err(WindowError::Exported(0, 1, accelerator, address)) => Some((accelerator, address)),
            Err(error) => panic!("{error}"),
        };
        assert_eq!(found, twice, "{one:?} {other:?}");
        refused += usize::from(found.is_some());
    }
    assert!((20..130).contains(&refused), "{refused}");
    // Of two bridges of one cluster too, from the first byte in common on.
    for (base, accelerators, byte) in [("16 GiB", "\"3\"", Some(0x4_0000_3000u64)), ("18 GiB", "\"0\"", None)] {
        let found = resolves(&with_another_bridge(base, accelerators)).err();
        let expected =
            byte.map(|byte| format!("found byte {byte:#x} of accelerator 3 exported by nbridge and by obridge"));
        match (&found, expected) {
            (Some(error), Some(words)) => {
                assert!(error.contains(&words) && error.contains("obridge.inbound"), "{error}")
            }
            (None, None) => (),
            _ => panic!("{base}: {found:?}"),
        }
    }
}

/// Clusters whose GPUs have a second bridge, with one window to these accelerators.
fn with_another_bridge(to: &str, accelerators: &str) -> String {
    let other = format!(
        "[component.obridge]\nkind = \"bridge.nvlink\"\nclock = \"bridge\"\ncxl_ports = 0\ntarget_ports = 1\nwindows = []\n\
         inbound = [{{ base = \"16 GiB\", size = \"2 MiB\", to = \"{to}\", accelerators = [{accelerators}] }}]\n\n[memory_map]"
    );
    let replaced = [
        (
            "kind = \"nvlink.switch\", clock = \"bridge\", ports = 5",
            "kind = \"nvlink.switch\", clock = \"bridge\", ports = 6",
        ),
        ("cxl_ports = 2\ntarget_ports = 1", "cxl_ports = 3\ntarget_ports = 1"),
        (
            "[\"ubridge.cxl[1]\", \"nbridge.target[0]\"],",
            "[\"ubridge.cxl[1]\", \"nbridge.target[0]\"], [\"ubridge.cxl[2]\", \"obridge.target[0]\"],",
        ),
        (
            "[\"nbridge.x[0]\", \"nswitch.port[4]\"],",
            "[\"nbridge.x[0]\", \"nswitch.port[4]\"], [\"obridge.x[0]\", \"nswitch.port[5]\"],",
        ),
        ("[memory_map]", &other),
    ];
    let mut text = include_str!("../../../src/system/builtin/supercluster-small.toml").to_owned();
    for (from, to) in replaced {
        assert_eq!(text.matches(from).count(), 1, "{from}");
        text = text.replace(from, to);
    }
    text
}

/// Addresses at which a byte of an accelerator is found, of all that lead there.
fn found_at(all: &BridgeWindows<InboundClass>, address: u64) -> Vec<u64> {
    let route = all.route(0, address, AccessKind::Read).expect("it is mapped");
    all.leading_to(route.port, route.address).collect()
}

/// From an address to its byte, and back to that address alone.
#[test]
fn brg_sup_01_p() {
    let windows: Vec<Inbound> = (0..8u64)
        .map(|n| {
            inbound(n * LEAST_BYTES, (n / 2) << 28, &[2 * (n as usize % 2), 2 * (n as usize % 2) + 1], 256 << n.min(6))
        })
        .collect();
    let all = exporting(&windows).expect("windows");
    for address in (0..8 * LEAST_BYTES).step_by(256) {
        assert_eq!(found_at(&all, address), [address]);
    }
    assert_eq!(all.route(0, 8 * LEAST_BYTES, AccessKind::Read), Err(Status::DecodeError));
}

/// Bytes of a BAR are no addresses of CXL.mem: a window of class BR and one of another class may have the same ones.
#[test]
fn windows_overlap_with_those_that_the_same_addresses_reach() {
    let of = |class, to, port| BridgeWindow { class, ..inbound(0, to, &[port], 256) };
    for class in [InboundClass::Nh, InboundClass::Db] {
        let pair = [of(class, 0, 0), of(InboundClass::Br, 1 << 28, 1)];
        let parted = exporting(&pair).expect("windows").by_addresses();
        for (windows, window) in [(parted.memory, &pair[0]), (parted.bar, &pair[1])] {
            assert_eq!(windows.list(), std::slice::from_ref(window));
            let route = windows.translated(256).expect("it is inside");
            assert_eq!(
                (route.class, route.port, route.address),
                (window.class, window.ports[0], window.out_base + 256)
            );
        }
    }
    for (one, two) in [
        (InboundClass::Nh, InboundClass::Db),
        (InboundClass::Nh, InboundClass::Nh),
        (InboundClass::Br, InboundClass::Br),
    ] {
        assert_eq!(exporting(&[of(one, 0, 0), of(two, 1 << 28, 1)]), Err(WindowError::Overlap(0, 1)));
    }
}

/// An address in two windows is refused; where a byte has two addresses, the way back finds both, and such windows are refused too.
#[test]
fn brg_sup_01_n() {
    let two = [inbound(0, 0, &[0], 256), inbound(LEAST_BYTES - 256, 1 << 28, &[1], 256)];
    assert_eq!(exporting(&two), Err(WindowError::Overlap(0, 1)));
    let twice = [inbound(0, 0, &[0], 256), inbound(LEAST_BYTES, 0, &[0], 256)];
    assert_eq!(exporting(&twice), Err(WindowError::Exported(0, 1, 0, 0)));
    let all = BridgeWindows::within(WindowLimits::INBOUND_UALINK, twice.to_vec(), OrderedMap::new(), 16);
    assert_eq!(found_at(&all.expect("windows without that check"), 512), [512, LEAST_BYTES + 512]);
}

/// What a cache holds of a line behind accesses of all kinds, and the messages that brought it there.
fn held(class: WindowClass, wrong: WrongBridge) -> (BTreeSet<char>, BTreeSet<String>) {
    let (mut states, mut messages) = (BTreeSet::new(), BTreeSet::new());
    for first in 0..3 {
        for second in 0..3 {
            for shared in [NdrOpcode::CmpS, NdrOpcode::CmpE] {
                let mut bench = Bench { shared, wrong, ..Bench::new(cached(class, SMALL)) };
                for access in [first, second] {
                    bench.whole(match access {
                        0 => read(BASE, 16),
                        1 => write_full(BASE, 1, 1),
                        _ => write_part(BASE, 0xff, 2),
                    });
                    states.insert(bench.state(BASE));
                }
                messages.extend(bench.labels());
            }
        }
    }
    (states, messages)
}

/// The table of classes: form and what a cache holds of a line (`bridge` §2, §9.4).
fn is_of_class(class: WindowClass, (states, messages): &(BTreeSet<char>, BTreeSet<String>)) -> bool {
    // Those of CXL.mem have two more words; a host grants E for a store alone.
    let (of_class, form): (_, fn(&String) -> bool) = match class {
        WindowClass::Mc => ("SEM", |message| message.contains('/') && !message.ends_with("/NoOp")),
        WindowClass::Mn => ("VD", |message| message.ends_with("/NoOp")),
        WindowClass::Cc => ("SM", |message| !message.contains('/')),
        WindowClass::Io => ("", |_| false),
        WindowClass::Hp => ("", |message| message.contains(" Invalid/Snp")),
    };
    states.iter().copied().eq(of_class.chars().collect::<BTreeSet<_>>()) && messages.iter().all(form)
}

#[test]
fn brg_win_08_p() {
    for class in [WindowClass::Mc, WindowClass::Mn, WindowClass::Cc] {
        let held = held(class, WrongBridge::NOTHING);
        assert!(is_of_class(class, &held), "{class:?}: {held:?}");
    }
}

/// Bridges that take one class for the other, and one that asks with snoops where nobody has an owner.
#[test]
fn brg_win_08_n() {
    let [mc, mn] = [WindowClass::Mc, WindowClass::Mn].map(|class| held(class, WrongBridge::NOTHING));
    assert!(!is_of_class(WindowClass::Mn, &mc) && !is_of_class(WindowClass::Mc, &mn));
    assert!([&mc, &mn].iter().all(|held| !is_of_class(WindowClass::Cc, held)));
    let snooping = WrongBridge {
        sends: |msg| match msg {
            Msg::M2sReq { opcode, meta_field: MetaField::NoOp, line, tag, .. } => {
                let (meta_field, meta, snp) = (MetaField::NoOp, MetaValue::Invalid, SnpType::SnpCur);
                Msg::M2sReq { opcode, snp, meta_field, meta, line, tag }
            }
            other => other,
        },
        ..WrongBridge::NOTHING
    };
    let snooping = held(WindowClass::Mn, snooping);
    assert_eq!(snooping.0, mn.0, "it holds the same");
    assert!(!is_of_class(WindowClass::Mn, &snooping));
}
