//! The registers of a bridge (`bridge` §2, §9.1, §9.9): the table of registers against the bridge that has them, windows that software writes and commits,
//! tables that cannot be, and bits that flip. Places and codes are written out here, as the map has them.

use super::common::*;
use scalepool::bridge::cache::cells::CacheEccConfig;
use scalepool::bridge::outbound::OutboundConfig;
use scalepool::bridge::outbound::epoch::CommitOutcome;
use scalepool::bridge::outbound::request::EntryNeed;
use scalepool::bridge::registers::ControlWindow;
use scalepool::bridge::window::{AccessRights, BridgeWindow, BridgeWindows, GROUPS, WindowClass};
use scalepool::memory::ecc::EccScheme;
use scalepool::ordered::OrderedMap;
use scalepool_protocols::registers::bridge::BRIDGE;
use scalepool_protocols::registers::{RegisterAccess, RegisterDef};
use scalepool_protocols::ualink::code::{ReqCmd, Status};
use scalepool_protocols::ualink::field::TlReq;
use scalepool_protocols::ualink::unpack::Transfer;

/// First address of the registers.
const CONTROL: u64 = 0x4000_0000;
/// CXL ports of the bridge.
const PORTS: usize = 4;
/// The first of them lead to memory that nobody keeps coherent.
const PLAIN_PORTS: usize = 2;
const COMMIT: u64 = 0x48;
const STATUS: u64 = 0x50;
const EPOCH: u64 = 0x58;
const REFUSED: u64 = 0x60;
const FLIP_ADDRESS: u64 = 0x68;
const FLIP: u64 = 0x70;
const FLIPS: u64 = 0x78;
/// Group of sources 0 to 15.
const GROUP_0: u64 = 0x400;
const WINDOW_0: u64 = 0x800;
/// All groups may do everything.
const ALL: u64 = 0xffff_ffff_ffff;
/// A line of class MN, a granule of 256 bytes, one way, valid.
const MN: u64 = 0x11;

fn registers(config: OutboundConfig) -> Bench {
    let control = Some(ControlWindow {
        rights: [AccessRights::ALL; GROUPS],
        base: CONTROL,
        ports: PORTS,
        plain_ports: PLAIN_PORTS,
        first_host: PORTS,
        hairpin: None,
        io_from: PORTS,
    });
    Bench::new(OutboundConfig { control, ..config })
}

/// A bridge to which nothing leads.
fn empty() -> Bench {
    let windows = BridgeWindows::new(Vec::new(), OrderedMap::new(), PORTS).expect("no window");
    registers(OutboundConfig { windows, ..config(WindowClass::Mn) })
}

/// A write of registers of one line from an offset on.
fn written(at: u64, values: &[u64]) -> Transfer {
    let mut line = [0xee; 64];
    let mut mask = 0;
    for (n, value) in values.iter().enumerate() {
        let first = (at % 64) as usize + 8 * n;
        line[first..first + 8].copy_from_slice(&value.to_le_bytes());
        mask |= 0xff << first;
    }
    masked(at, line, mask)
}

/// A write of a line of registers under a mask of its bytes.
fn masked(at: u64, line: [u8; 64], mask: u64) -> Transfer {
    let address = (CONTROL + at) & !63;
    let mut enables = [0; 32];
    enables[(address % 256 / 64 * 8) as usize..][..8].copy_from_slice(&mask.to_le_bytes());
    tagged(transfer(TlReq { cmd: ReqCmd::Write, address, len: 15, ..TlReq::default() }, &[line], Some(enables)), 99)
}

fn set(bench: &mut Bench, at: u64, values: &[u64]) {
    assert_eq!(rsp(&bench.whole(written(at, values))).status, Status::OKAY);
}

fn get(bench: &mut Bench, at: u64) -> u64 {
    let line = beats(&bench.whole(read((CONTROL + at) & !63, 16)))[0];
    u64::from_le_bytes(std::array::from_fn(|n| line[(at % 64) as usize + n]))
}

/// A window as software writes it: control, base, size, base on the other side, ports of the first four ways.
fn set_window(bench: &mut Bench, n: u64, control: u64, [base, size, out_base]: [u64; 3], ports: u64) {
    set(bench, WINDOW_0 + 0x80 * n, &[base, size, out_base, control, ALL]);
    set(bench, WINDOW_0 + 0x80 * n + 0x40, &[ports]);
}

/// Commits; fault, where it was found, and whether it waits.
fn commit(bench: &mut Bench) -> (u64, u64, u64) {
    set(bench, COMMIT, &[1]);
    let status = get(bench, STATUS);
    (status >> 8 & 0xf, status >> 16 & 0xffff, status & 1)
}

/// Every register by its offset in the window.
fn all() -> Vec<(u64, RegisterDef)> {
    let of_file = |file: &'static scalepool_protocols::registers::RegisterFile| {
        let copies = (0..file.count).flat_map(|n| file.registers().into_iter().map(move |r| (n, r)));
        copies.map(|(n, r)| ((file.at_byte + n * file.stride_bytes + r.at_byte) as u64, r)).collect::<Vec<_>>()
    };
    BRIDGE.files.iter().flat_map(of_file).collect()
}

/// Bits of the fields of a register with an access.
fn bits(register: &RegisterDef, access: RegisterAccess) -> u64 {
    let fields = register.fields.iter().filter(|field| field.access == access);
    fields.fold(0, |all, field| all | u64::MAX >> (64 - field.width) << field.lsb)
}

/// Each register of the table in a running bridge: what it holds behind a reset, and which bits take what is written. Between them nothing is.
#[test]
fn brg_reg_01_p() {
    let registers = all();
    assert_eq!(registers.len(), 7 + 8 + 64 + 16 * 9);
    let mut fresh = empty();
    let mut places = Vec::new();
    for (at, register) in &registers {
        places.push(*at);
        let value = get(&mut fresh, *at);
        for field in &register.fields {
            let found = value >> field.lsb & u64::MAX >> (64 - field.width);
            assert_eq!(found, field.reset.unwrap_or(found), "{at:#x} {}.{} behind a reset", register.name, field.name);
        }
        // One bridge for each value: what starts something changes other registers.
        let held = |value: u64| {
            let mut bench = empty();
            set(&mut bench, *at, &[value]);
            get(&mut bench, *at)
        };
        let counted = bits(register, RegisterAccess::ReadOnly);
        let takes = (held(u64::MAX) ^ held(0)) & !counted;
        assert_eq!(takes, bits(register, RegisterAccess::ReadWrite), "{at:#x} {}", register.name);
        assert_eq!(held(u64::MAX) & bits(register, RegisterAccess::Starts), 0, "{at:#x} {}", register.name);
    }
    // 16 windows, 16 groups, 4 ports, 1024 sources; no cache whose bits could flip.
    assert_eq!(get(&mut fresh, 0x40), 0x0400_0004_1010);
    for at in (0..4096).step_by(8).filter(|at| !places.contains(at)) {
        set(&mut fresh, at, &[u64::MAX]);
        assert_eq!(get(&mut fresh, at), 0, "{at:#x}");
    }
}

/// A register that is not written whole stays, as do those beside it; a poisoned write is counted and changes nothing; atomics and more than
/// a line are refused.
#[test]
fn brg_reg_01_n() {
    let mut bench = empty();
    set(&mut bench, WINDOW_0, &[0x1000, 0x2000, 0x3000]);
    for mask in [0x7f, 0xff_0000_0001, 0xfe00, 0] {
        let mut line = [0xaa; 64];
        line[32..].fill(0);
        let before: Vec<u64> = (0..4).map(|n| get(&mut bench, WINDOW_0 + 8 * n)).collect();
        assert_eq!(rsp(&bench.whole(masked(WINDOW_0, line, mask))).status, Status::OKAY);
        let after: Vec<u64> = (0..4).map(|n| get(&mut bench, WINDOW_0 + 8 * n)).collect();
        assert_eq!(before, after, "{mask:#x}");
    }
    let mut poisoned = written(WINDOW_0, &[0x5000]);
    poisoned.poisoned = 1;
    assert_eq!(rsp(&bench.whole(poisoned)).status, Status::OKAY);
    assert_eq!((get(&mut bench, WINDOW_0), get(&mut bench, 0x28)), (0x1000, 1));
    for refused in [add(ReqCmd::AtomicR, CONTROL + WINDOW_0, 1), write_full(CONTROL + WINDOW_0, 2, 1)] {
        assert_eq!(rsp(&bench.whole(refused)).status, Status::TargetAbort);
    }
    assert_eq!(get(&mut bench, WINDOW_0), 0x1000);
}

/// A bridge without a window gets one by its registers: nothing leads there before the commit, everything does behind it, by class, ports, rights and
/// groups; what the configuration of a bridge says stands in the registers of another one, to the bit.
#[test]
fn brg_reg_02_p() {
    let mut bench = empty();
    // MC, 512 bytes in a row, 2 ways, over ports 3 and 2.
    set_window(&mut bench, 5, 0x1101, [BASE, 4 << 20, OUT], 0x0002_0003);
    set_window(&mut bench, 2, MN, [BASE + SIZE, 2 << 20, OUT + SIZE], 1);
    // Group 9 reads in window 2, and nothing else; source 3 is of group 9.
    set(&mut bench, WINDOW_0 + 0x100 + 0x20, &[0xfdff_fdff_ffff]);
    set(&mut bench, GROUP_0, &[9 << 12]);
    assert_eq!(rsp(&bench.whole(read(BASE, 16))).status, Status::DecodeError, "not committed");
    assert_eq!(get(&mut bench, EPOCH), 0);
    assert_eq!(commit(&mut bench), (0, 0, 0));
    assert_eq!(get(&mut bench, EPOCH), 1);
    bench.sent.clear();
    bench.whole(read(BASE, 16));
    bench.whole(read(BASE + 512, 16));
    bench.whole(read(BASE + 1024, 16));
    bench.whole(read(BASE + SIZE, 16));
    let sent: Vec<_> =
        bench.sent.iter().map(|(_, port, msg)| (*port, msg.line().expect("a line").address(), label(msg))).collect();
    let of = |port, address, label: &str| (port, address, label.to_owned());
    let expected = [
        of(3, OUT, "MemRd Invalid/SnpCur"),
        of(2, OUT + 512, "MemRd Invalid/SnpCur"),
        of(3, OUT + 1024, "MemRd Invalid/SnpCur"),
        of(1, OUT + SIZE, "MemRd NoOp/NoOp"),
    ];
    assert_eq!(sent, expected);
    assert_eq!(rsp(&bench.whole(write_full(BASE + SIZE, 1, 1))).status, Status::ProtectionViolation);
    assert_eq!(rsp(&bench.whole(write_full(BASE, 1, 1))).status, Status::OKAY);

    // The same tables by a configuration.
    let mut rights = [AccessRights::ALL; GROUPS];
    rights[9] = AccessRights { read: true, ..AccessRights::default() };
    let of_class = |class, base, size, out_base, ports, granule, rights| BridgeWindow {
        base,
        size,
        out_base,
        class,
        ports,
        granule,
        rights,
    };
    let listed = vec![
        of_class(WindowClass::Mn, BASE + SIZE, 2 << 20, OUT + SIZE, vec![1], 256, rights),
        of_class(WindowClass::Mc, BASE, 4 << 20, OUT, vec![3, 2], 512, [AccessRights::ALL; GROUPS]),
    ];
    let groups: OrderedMap<u16, usize> = [(SOURCE, 9)].into_iter().collect();
    let windows = BridgeWindows::new(listed, groups, PORTS).expect("windows");
    let mut configured = registers(OutboundConfig { windows, ..config(WindowClass::Mn) });
    let places = [0, 8, 0x10, 0x18, 0x20, 0x40, 0x48, 0x50, 0x58];
    for (own, other) in [(0, 2), (1, 5)] {
        for at in places {
            let (found, expected) =
                (get(&mut configured, WINDOW_0 + 0x80 * own + at), get(&mut bench, WINDOW_0 + 0x80 * other + at));
            assert_eq!(found, expected, "window {other} {at:#x}");
        }
    }
    assert_eq!((get(&mut configured, GROUP_0), get(&mut configured, WINDOW_0 + 0x80 * 2 + 0x18)), (9 << 12, 0));
}

/// What is written and not committed changes neither what is under way nor what comes; a commit waits for its old epoch, itself among it.
#[test]
fn brg_reg_02_n() {
    let mut bench = registers(config(WindowClass::Mn));
    set_window(&mut bench, 0, 0, [0; 3], 0);
    assert_eq!(rsp(&bench.whole(read(BASE, 16))).status, Status::OKAY, "the window is gone in the shadow alone");
    bench.ask(read(BASE + 64, 16));
    bench.held = Some(Vec::new());
    let entry = bench.ask(written(COMMIT, &[1]));
    assert!(
        bench.bridge.is_committing() && bench.bridge.lacks(EntryNeed { class: 0, address: None, buffers: 0 }).is_some()
    );
    bench.finish(false);
    assert_eq!(bench.bridge.epoch(), 0, "responses have still to leave");
    let held = bench.held.take().expect("entries");
    assert_eq!((held.len(), held[0]), (2, entry));
    held.into_iter().for_each(|entry| bench.respond(entry));
    assert_eq!((bench.bridge.epoch(), bench.bridge.is_committing()), (1, false));
    assert_eq!(rsp(&bench.whole(read(BASE, 16))).status, Status::DecodeError);
    // Tables that come another way stand in the registers too.
    bench.bridge.write_shadow(windows(vec![window(WindowClass::Mn)]));
    assert_eq!((get(&mut bench, WINDOW_0), get(&mut bench, WINDOW_0 + 0x18)), (BASE, MN));
    assert_eq!(rsp(&bench.whole(read(BASE, 16))).status, Status::DecodeError);
    assert_eq!((commit(&mut bench), get(&mut bench, EPOCH)), ((0, 0, 0), 2));
    assert_eq!(rsp(&bench.whole(read(BASE, 16))).status, Status::OKAY);
}

/// Tables behind a fault are taken once it is mended, and the status forgets it.
#[test]
fn brg_reg_03_p() {
    let mut bench = empty();
    set_window(&mut bench, 0, MN, [BASE, 1 << 20, OUT], 0);
    assert_eq!(commit(&mut bench), (3, 0, 0));
    set(&mut bench, WINDOW_0 + 8, &[2 << 20]);
    assert_eq!((commit(&mut bench), get(&mut bench, EPOCH), get(&mut bench, REFUSED)), ((0, 0, 0), 1, 1));
    assert_eq!(rsp(&bench.whole(read(BASE, 16))).status, Status::OKAY);
    // The last of all windows and sources.
    set_window(&mut bench, 15, MN, [1 << 40, 2 << 20, OUT], 1);
    set(&mut bench, GROUP_0 + 8 * 63, &[0xf << 60]);
    assert_eq!((commit(&mut bench), bench.bridge.epoch()), ((0, 0, 0), 2));
}

/// Each fault by its code and place; nothing changes, and the registers still read as written.
#[test]
fn brg_reg_03_n() {
    let size = 2 << 20;
    let faults: [(u64, [u64; 3], u64, u64); 17] = [
        (MN, [BASE + 64, size, OUT], 0, 2),
        (MN, [BASE, size + 64, OUT], 0, 2),
        (MN, [BASE, size, OUT + 64], 0, 2),
        (MN, [BASE, size - 256, OUT], 0, 3),
        (MN, [u64::MAX - 255, size, OUT], 0, 4),
        (MN, [BASE, size, OUT], 4, 5),
        (MN, [1 << 40 | 1 << 20, size, OUT], 0, 6),
        (0xf1, [BASE, size, OUT], 0, 7),
        (0x711, [BASE, size, OUT], 0, 7),
        (0x5011, [BASE, size, OUT], 0, 7),
        (MN, [CONTROL - size + 256, size, OUT], 0, 9),
        // MC at the last plain port, MN at the first coherent one, CC without a port to a host, and ways of which one alone is wrong.
        (0x01, [BASE, size, OUT], 1, 10),
        // IO at a port of CXL.mem.
        (0x31, [BASE, size, OUT], 0, 10),
        (MN, [BASE, size, OUT], 2, 10),
        (0x21, [BASE, size, OUT], 0, 10),
        (0x1001, [BASE, size, OUT], 0x1_0002, 10),
        (0x1011, [BASE, size, OUT], 0x2_0001, 10),
    ];
    for (n, (control, places, ports, fault)) in faults.into_iter().enumerate() {
        let mut bench = empty();
        set_window(&mut bench, 3, MN, [1 << 40, size, OUT], 0);
        set_window(&mut bench, 7, control, places, ports);
        assert_eq!(commit(&mut bench), (fault, 7, 0), "{n}");
        assert_eq!((get(&mut bench, REFUSED), get(&mut bench, EPOCH), bench.bridge.epoch()), (1, 0, 0), "{n}");
        assert_eq!(get(&mut bench, WINDOW_0 + 0x80 * 7), places[0], "{n}");
        assert_eq!(rsp(&bench.whole(read(1 << 40, 16))).status, Status::DecodeError, "{n}");
    }
    // Of more faults the one of the first window is named, whatever they are.
    for (n, [low, high]) in
        [[(MN, 64, 2), (0xf1, 0, 7)], [(MN, CONTROL, 9), (MN, BASE + 64, 2)]].into_iter().enumerate()
    {
        let mut bench = empty();
        set_window(&mut bench, 0, low.0, [low.1, size, OUT], 0);
        set_window(&mut bench, 5, high.0, [high.1, size, OUT], 0);
        assert_eq!(commit(&mut bench), (low.2, 0, 0), "{n}");
        set_window(&mut bench, 0, 0, [0; 3], 0);
        assert_eq!(commit(&mut bench), (high.2, 5, 0), "{n}");
    }
    // A source that GPUs of NVLink do not have; here 10 bits are all.
    let limits = scalepool::bridge::window::WindowLimits::OUTBOUND_NVLINK;
    let windows = BridgeWindows::within(limits, Vec::new(), OrderedMap::new(), PORTS).expect("no window");
    let mut bench = registers(OutboundConfig { windows, ..config(WindowClass::Mn) });
    set(&mut bench, GROUP_0 + 8 * 32, &[1 << 4]);
    assert_eq!(commit(&mut bench), (8, 513, 0));
}

/// A commit by the registers that is in the stages while another one waits is refused, and takes no entry of the next epoch with it.
#[test]
fn a_commit_beside_another_one_is_refused() {
    let mut bench = registers(config(WindowClass::Mn));
    let entry = bench.bridge.admit(0, asked(&written(COMMIT, &[1]))).expect("room");
    bench.bridge.write_shadow(windows(Vec::new()));
    assert_eq!(bench.bridge.commit(), CommitOutcome::Waits);
    bench.bridge.start(entry, &mut bench.out);
    bench.collect();
    assert_eq!((bench.bridge.epoch(), bench.bridge.is_committing()), (1, false));
    assert_eq!((get(&mut bench, STATUS), get(&mut bench, REFUSED), get(&mut bench, EPOCH)), (1 << 8, 1, 1));
    assert_eq!(rsp(&bench.whole(read(BASE, 16))).status, Status::DecodeError, "the other one was taken");
}

fn with_cells(scheme: EccScheme) -> Bench {
    let ecc = Some(CacheEccConfig { scheme, upset_every: 0, upset_bits: 1, seed: 1 });
    let mut bench = registers(OutboundConfig { ecc, ..cached(WindowClass::Mn, SMALL) });
    bench.bring(BASE, 'V');
    bench.bring(BASE + 64, 'D');
    bench
}

fn flip(bench: &mut Bench, address: u64, bit: u64) -> u64 {
    set(bench, FLIP_ADDRESS, &[address, bit | 1 << 16]);
    get(bench, FLIPS)
}

/// One bit is corrected; two of a clean sector have it asked for again, two of a dirty one are poison; without a code the byte is wrong.
#[test]
fn brg_reg_04_p() {
    let mut bench = with_cells(EccScheme::Secded);
    assert_eq!(get(&mut bench, 0x40) >> 48, 1);
    assert_eq!(flip(&mut bench, BASE, 511), 1);
    assert_eq!(beats(&bench.whole(read(BASE, 16))), [[0; 64]]);
    assert_eq!((bench.bridge.cache_counts().corrected, bench.sent.len()), (1, 0));
    flip(&mut bench, BASE, 0);
    assert_eq!(flip(&mut bench, BASE + 63, 1), 3);
    bench.whole(read(BASE, 16));
    assert_eq!((bench.bridge.cache_counts().refetched, bench.labels()), (1, vec!["MemRd NoOp/NoOp".to_owned()]));
    flip(&mut bench, BASE + 64, 0);
    flip(&mut bench, BASE + 64, 1);
    assert_eq!(bench.whole(read(BASE + 64, 16)).poisoned, 1);
    assert_eq!(bench.bridge.cache_counts().lost_dirty, 1);
    // The address is kept from one flip to the next.
    set(&mut bench, FLIP, &[2 | 1 << 16]);
    assert_eq!((get(&mut bench, FLIPS), get(&mut bench, FLIP_ADDRESS), get(&mut bench, FLIP)), (6, BASE + 64, 2));
    let mut bench = with_cells(EccScheme::None);
    flip(&mut bench, BASE + 64, 9);
    assert_eq!(beats(&bench.whole(read(BASE + 64, 16)))[0][..3], [0xd1, 0xd3, 0xd1]);
}

/// No bit flips outside of windows, of the cache or of a line, in a bridge without a cache, or without the start.
#[test]
fn brg_reg_04_n() {
    let mut bench = with_cells(EccScheme::Secded);
    let refused = |n: u64| n << 32;
    for (n, (address, bit)) in [(0, 0), (BASE + 128, 0), (BASE + 256, 0), (BASE, 576)].into_iter().enumerate() {
        assert_eq!(flip(&mut bench, address, bit), refused(n as u64 + 1));
    }
    assert_eq!(flip(&mut bench, BASE, 575), refused(4) + 1, "the last check bit");
    set(&mut bench, FLIP, &[3]);
    assert_eq!(get(&mut bench, FLIPS), refused(4) + 1);
    let mut bench = registers(config(WindowClass::Mn));
    assert_eq!((get(&mut bench, 0x40) >> 48, flip(&mut bench, BASE, 0)), (0, refused(1)));
}
