//! Where TLPs go in a virtual hierarchy, one by one, and the agents of power management of a switch.

use scalepool::endpoint::config_space::registers as reg;
use scalepool::endpoint::pm::{Happened, PmAgent, PmConfig, PmRequest, PmSide, ResetKind};
use scalepool::endpoint::tlp::{Enables, Tlp, TlpKind};
use scalepool::nodes::io::switch::hierarchy::{IoHierarchy, IoRouted, IoSide, vppb_function};
use scalepool_protocols::cxl::cxlio::code::CplStatus;
use scalepool_protocols::cxl::cxlio::dvsec::FlexBus;

/// Windows begin here, 1 MiB for each vPPB.
const BASE: u64 = 0x10_0000_0000;
const MIB: u64 = 1 << 20;
/// What the host sends.
const ROOT: u16 = 0;

fn config(write: Option<u32>, target: u16, register: usize, level: u8) -> Tlp {
    let (register, enables) = (register as u16, 0xf);
    match write {
        None => Tlp::new(TlpKind::ConfigRead { level, target, register, enables }, ROOT, Vec::new()),
        Some(value) => {
            let kind = TlpKind::ConfigWrite { level, target, register, enables };
            Tlp::new(kind, ROOT, value.to_le_bytes().to_vec())
        }
    }
}

fn read(address: u64, requester: u16) -> Tlp {
    let kind = TlpKind::MemRead { address, dw: 1, enables: Enables::all(1) };
    Tlp { tag: 0x155, ..Tlp::new(kind, requester, Vec::new()) }
}

fn write(address: u64) -> Tlp {
    Tlp::new(TlpKind::MemWrite { address, enables: Enables::all(1) }, ROOT, vec![1, 2, 3, 4])
}

fn completion(requester: u16) -> Tlp {
    let kind = TlpKind::Completion { completer: 0x300, status: CplStatus::SC, byte_count: 4, lower_address: 0 };
    Tlp::new(kind, requester, vec![0; 4])
}

/// Writes bus numbers, a window of 64 bits and the command of a port.
pub fn program(switch: &mut IoHierarchy, target: u16, [secondary, subordinate]: [u8; 2], base: u64, bytes: u64) {
    let level = u8::from(target >> 8 != 1);
    let last = base + bytes - 1;
    let half = |address: u64| (address >> 16) as u32 & 0xfff0;
    let buses = u32::from_le_bytes([(target >> 8) as u8, secondary, subordinate, 0]);
    let at = reg::PREFETCHABLE.start;
    for (register, value) in [
        (reg::BUSES.start, buses),
        (reg::WINDOW.start, 0xfff0),
        (at, half(last) << 16 | half(base)),
        (at + 4, (base >> 32) as u32),
        (at + 8, (last >> 32) as u32),
        (reg::COMMAND.start, u32::from(reg::COMMAND_MEMORY | reg::COMMAND_MASTER)),
    ] {
        let routed = switch.route(IoSide::Up, config(Some(value), target, register, level));
        assert!(matches!(routed, IoRouted::Completed(_)), "{target:#x} {register:#x}: {routed:?}");
    }
}

/// Three vPPBs, of which the last one is not bound. Buses: 1 the link of the host, 2 inside, 3 behind the first vPPB, 4 and 5 behind the
/// second one, 6 behind the third one. Each has a window of 1 MiB; that of the upstream port has one more.
fn switch() -> IoHierarchy {
    let mut switch = IoHierarchy::new(&[true, true, false], 32, FlexBus::default(), 512);
    program(&mut switch, 0x100, [2, 6], BASE, 4 * MIB);
    for (n, buses) in [[3, 3], [4, 5], [6, 6]].into_iter().enumerate() {
        program(&mut switch, 0x200 | (n as u16) << 3, buses, BASE + n as u64 * MIB, MIB);
    }
    switch
}

/// Where a TLP leaves; `None`: nowhere.
fn side(routed: IoRouted) -> Option<IoSide> {
    match routed {
        IoRouted::To(side, _) => Some(side),
        _ => None,
    }
}

fn unsupported(routed: &IoRouted) -> bool {
    matches!(routed, IoRouted::Unsupported(_))
}

/// The examples of the sheet, of which the first vPPB is that of the upstream port.
#[test]
fn fab_vcs_07_p() {
    for (vppb, place) in [(1, (0, 0)), (32, (31, 0)), (33, (0, 1)), (64, (31, 1)), (65, (0, 2))] {
        assert_eq!(vppb_function(vppb - 1, 32), Some(place), "vPPB {vppb}");
    }
    let found: Vec<_> = (0..8).filter_map(|n| vppb_function(n, 3)).collect();
    assert_eq!(found, [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1), (0, 2), (1, 2)]);
}

/// All functions of one device first would be another order; a ninth function does not exist.
#[test]
fn fab_vcs_07_n() {
    assert_ne!(vppb_function(1, 3), Some((0, 1)));
    assert_eq!((vppb_function(7, 1), vppb_function(8, 1)), (Some((0, 7)), None));
    assert_eq!((vppb_function(255, 32), vppb_function(256, 32)), (Some((31, 7)), None));
}

#[test]
fn fab_ior_01_p() {
    let mut switch = switch();
    for (bus, to) in [(3, 0), (4, 1), (5, 1)] {
        let routed = switch.route(IoSide::Up, config(None, bus << 8, 0, 1));
        assert_eq!(side(routed), Some(IoSide::Down(to)), "bus {bus}");
        let routed = switch.route(IoSide::Up, completion(bus << 8 | 8));
        assert_eq!(side(routed), Some(IoSide::Down(to)), "completion for bus {bus}");
    }
    for from in [0, 1] {
        assert_eq!(side(switch.route(IoSide::Down(from), completion(ROOT))), Some(IoSide::Up));
    }
    // A peer asked.
    assert_eq!(side(switch.route(IoSide::Down(0), completion(0x400))), Some(IoSide::Down(1)));
    for (n, address) in [(0, BASE), (1, BASE + MIB)] {
        assert_eq!(side(switch.route(IoSide::Up, read(address, ROOT))), Some(IoSide::Down(n)));
    }
    let message = Tlp::new(TlpKind::Message { routing: 0, code: 0x30, dw2: 0, dw3: 0 }, 0x300, Vec::new());
    assert_eq!(side(switch.route(IoSide::Down(0), message)), Some(IoSide::Up));
}

/// A message with this routing, for an identifier or an address.
fn message(routing: u8, dw2: u32, dw3: u32) -> Tlp {
    Tlp::new(TlpKind::Message { routing, code: 0x7f, dw2, dw3 }, 0x300, Vec::new())
}

/// Messages by address go by windows, those by identifier by buses, and one from the root to everybody to each port that is bound.
#[test]
fn fab_ior_01_p2() {
    let mut switch = switch();
    let by_id = |bus: u32| message(2, bus << 24 | 8 << 16, 0);
    let by_address = |address: u64| message(1, (address >> 32) as u32, address as u32);
    for (from, to) in [(IoSide::Up, 1), (IoSide::Down(0), 1), (IoSide::Up, 0), (IoSide::Down(1), 0)] {
        assert_eq!(side(switch.route(from, by_address(BASE + to as u64 * MIB + 8))), Some(IoSide::Down(to)));
        assert_eq!(side(switch.route(from, by_id([3, 5][to]))), Some(IoSide::Down(to)), "{from:?}");
    }
    for up in [by_id(0), by_id(9), by_address(BASE + 4 * MIB)] {
        assert_eq!(side(switch.route(IoSide::Down(0), up)), Some(IoSide::Up));
    }
    let to_all = message(3, 0, 0);
    let sides = [0, 1].map(IoSide::Down).to_vec();
    assert_eq!(switch.route(IoSide::Up, to_all.clone()), IoRouted::ToAll(sides, to_all));
    // What a logical device sends to a peer goes up (fabric MLD-9).
    switch.redirects(0);
    assert_eq!(side(switch.route(IoSide::Down(0), by_id(4))), Some(IoSide::Up));
}

/// Messages for nobody, for ports of the switch, back to where they came, to everybody from below, and of other routings.
#[test]
fn fab_ior_01_n2() {
    let mut switch = switch();
    let id = |target: u32| message(2, target << 16, 0);
    for (from, wrong) in [
        (IoSide::Up, id(0x700)),
        (IoSide::Up, id(0x600)),
        (IoSide::Up, id(0x200)),
        (IoSide::Up, id(0x100)),
        (IoSide::Down(0), id(0x208)),
        (IoSide::Down(0), id(0x300)),
        (IoSide::Up, message(1, 0x10, 3 * MIB as u32)),
        (IoSide::Down(0), message(1, 0x10, 0)),
        (IoSide::Down(0), message(3, 0, 0)),
        (IoSide::Up, message(4, 0, 0)),
        (IoSide::Down(0), message(5, 0, 0)),
    ] {
        assert_eq!(switch.route(from, wrong.clone()), IoRouted::Dropped, "{from:?} {wrong:?}");
    }
}

/// What belongs to no port goes to none.
#[test]
fn fab_ior_01_n() {
    let mut switch = switch();
    assert!(unsupported(&switch.route(IoSide::Up, config(None, 0x700, 0, 1))));
    assert_eq!(switch.route(IoSide::Up, completion(0x700)), IoRouted::Dropped);
    assert_eq!(switch.route(IoSide::Down(0), completion(0x300)), IoRouted::Dropped);
    assert!(unsupported(&switch.route(IoSide::Down(0), config(None, 0x400, 0, 1))), "not from below");
    let message = Tlp::new(TlpKind::Message { routing: 0, code: 0x30, dw2: 0, dw3: 0 }, ROOT, Vec::new());
    assert_eq!(switch.route(IoSide::Up, message), IoRouted::Dropped, "the root is above");
}

#[test]
fn fab_ior_02_p() {
    let mut switch = switch();
    for (address, to) in [
        (BASE, Some(IoSide::Down(0))),
        (BASE + MIB - 4, Some(IoSide::Down(0))),
        (BASE + MIB, Some(IoSide::Down(1))),
        (BASE + 2 * MIB - 4, Some(IoSide::Down(1))),
    ] {
        assert_eq!(side(switch.route(IoSide::Up, write(address))), to, "{address:#x}");
    }
    // In the window of the upstream port alone, from both sides.
    for from in [IoSide::Up, IoSide::Down(0)] {
        assert!(unsupported(&switch.route(from, read(BASE + 3 * MIB, ROOT))));
    }
    for address in [0, BASE - 4, BASE + 4 * MIB] {
        assert_eq!(side(switch.route(IoSide::Down(0), write(address))), Some(IoSide::Up), "{address:#x}");
    }
    assert_eq!(side(switch.route(IoSide::Down(0), write(BASE + MIB))), Some(IoSide::Down(1)), "to a peer");
}

/// Nothing from above goes up again, nothing goes back where it came, nor past a port that is not enabled.
#[test]
fn fab_ior_02_n() {
    let mut switch = switch();
    for address in [0, BASE - 4, BASE + 4 * MIB] {
        assert!(unsupported(&switch.route(IoSide::Up, read(address, ROOT))), "{address:#x}");
    }
    assert!(unsupported(&switch.route(IoSide::Down(0), read(BASE, 0x300))));
    assert!(unsupported(&switch.route(IoSide::Up, read(BASE + 2 * MIB, ROOT))), "not bound");
    let mut command = |target, value: u8| {
        let level = u8::from(target != 0x100);
        switch.route(IoSide::Up, config(Some(value.into()), target, reg::COMMAND.start, level));
        let down = side(switch.route(IoSide::Up, read(BASE, ROOT)));
        let up = side(switch.route(IoSide::Down(0), read(0, 0x300)));
        switch.route(IoSide::Up, config(Some(6), target, reg::COMMAND.start, level));
        (down, up)
    };
    for target in [0x100, 0x200] {
        assert_eq!(command(target, reg::COMMAND_MASTER), (None, Some(IoSide::Up)), "{target:#x}");
        assert_eq!(command(target, reg::COMMAND_MEMORY), (Some(IoSide::Down(0)), None), "{target:#x}");
    }
}

#[test]
fn fab_ior_03_p() {
    let mut switch = switch();
    for (target, expected) in [(0x300, 0), (0x307, 0), (0x400, 0), (0x500, 1), (0x5f8, 1)] {
        let IoRouted::To(_, tlp) = switch.route(IoSide::Up, config(Some(7), target, 0x10, 1)) else {
            panic!("{target:#x} is behind a port")
        };
        let kind = TlpKind::ConfigWrite { level: expected, target, register: 0x10, enables: 0xf };
        assert_eq!((tlp.kind, tlp.data), (kind, vec![7, 0, 0, 0]));
    }
}

/// Device 1 at the end of a link, a bus behind a port that is not bound, a vPPB that does not exist, device 1 beside the upstream port.
#[test]
fn fab_ior_03_n() {
    let mut switch = switch();
    for (target, level) in [(0x308, 1), (0x600, 1), (0x218, 1), (0x201, 1), (0x108, 0), (0x101, 0)] {
        assert!(unsupported(&switch.route(IoSide::Up, config(None, target, 0, level))), "{target:#x}");
    }
    // Before buses are numbered nothing is behind anything.
    let mut reset = IoHierarchy::new(&[true], 32, FlexBus::default(), 512);
    assert!(unsupported(&reset.route(IoSide::Up, config(None, 0, 0, 1))));
}

/// The requester gets its own tag back, no data, and the status that says why.
#[test]
fn fab_ior_04_p() {
    let mut switch = switch();
    let IoRouted::Unsupported(answer) = switch.route(IoSide::Up, read(0, 0x17)) else { panic!("nobody has address 0") };
    let TlpKind::Completion { completer, status, .. } = answer.kind else { panic!("a completion") };
    assert_eq!((completer, status, answer.requester, answer.tag), (0x100, CplStatus::UR, 0x17, 0x155));
    assert_eq!(switch.route(IoSide::Up, write(0)), IoRouted::Dropped);
}

/// An unmapped read is not completed with zeros, and neither is a configuration read.
#[test]
fn fab_ior_04_n() {
    let mut switch = switch();
    for tlp in [read(0, ROOT), config(None, 0x700, 0, 1)] {
        let IoRouted::Unsupported(answer) = switch.route(IoSide::Up, tlp) else { panic!("it is completed") };
        assert!(answer.data.is_empty());
    }
}

/// Requests and completions of a logical device for a peer go up; those of a whole device turn to it.
#[test]
fn fab_mld_09_p() {
    let mut switch = switch();
    switch.redirects(0);
    for (n, to) in [(0, IoSide::Up), (1, IoSide::Down(0))] {
        let [address, bus] = [[BASE + MIB, 0x400], [BASE, 0x300]][n];
        assert_eq!(side(switch.route(IoSide::Down(n), read(address, 0x300))), Some(to), "LD {n}");
        assert_eq!(side(switch.route(IoSide::Down(n), write(address))), Some(to));
        assert_eq!(side(switch.route(IoSide::Down(n), completion(bus as u16))), Some(to));
    }
    // What the root sends back to the peer goes down.
    assert_eq!(side(switch.route(IoSide::Up, read(BASE + MIB, 0x300))), Some(IoSide::Down(1)));
    assert_eq!(side(switch.route(IoSide::Up, completion(0x400))), Some(IoSide::Down(1)));
    // Not past an upstream port that may not ask.
    switch.route(IoSide::Up, config(Some(u32::from(reg::COMMAND_MEMORY)), 0x100, reg::COMMAND.start, 0));
    assert!(unsupported(&switch.route(IoSide::Down(0), read(BASE + MIB, 0x300))));
}

/// What a hierarchy does with TLPs for everything that it knows.
fn behaviour(switch: &IoHierarchy) -> Vec<IoRouted> {
    let mut switch = switch.clone();
    let targets = [(0x100, 0), (0x200, 1), (0x208, 1), (0x300, 1), (0x400, 1), (0x500, 1), (0x600, 1)];
    let registers =
        [reg::COMMAND.start, reg::BUSES.start, reg::PREFETCHABLE.start, reg::PCIE_AT + reg::PCIE_DEVICE_CONTROL];
    let configs = targets.into_iter().flat_map(|(target, level)| registers.map(|at| config(None, target, at, level)));
    let reads = (0..5).map(|n| read(BASE + n * MIB, ROOT));
    let all: Vec<Tlp> = configs.chain(reads).collect();
    all.into_iter().map(|tlp| switch.route(IoSide::Up, tlp)).collect()
}

/// Initiate Function Level Reset, bit 15 of the device control register, goes to the device, and the switch is as before.
#[test]
fn fab_rst_06_p() {
    let mut switch = switch();
    let before = behaviour(&switch);
    for (target, to) in [(0x300, 0), (0x400, 1)] {
        let flr = config(Some(1 << 15), target, reg::PCIE_AT + reg::PCIE_DEVICE_CONTROL, 1);
        let IoRouted::To(side, onward) = switch.route(IoSide::Up, flr.clone()) else { panic!("it goes to the device") };
        assert_eq!((side, &onward.data), (IoSide::Down(to), &flr.data));
        assert_eq!(behaviour(&switch), before, "{target:#x}");
    }
}

/// A reset of the upstream port does change it, and so does a link that goes down; one that comes up again is as before.
#[test]
fn fab_rst_06_n() {
    let before = behaviour(&switch());
    let mut reset = switch();
    reset.reset();
    assert_ne!(behaviour(&reset), before);
    let mut down = switch();
    down.link_down(0);
    assert_ne!(behaviour(&down), before);
    down.link_up(0);
    assert_eq!(behaviour(&down), before);
}

fn agent(side: PmSide, is_of_switch: bool) -> PmAgent {
    PmAgent::new(PmConfig { is_of_switch, ..PmConfig::new(side) })
}

/// Both agents say what they have to say.
fn talk(one: &mut PmAgent, other: &mut PmAgent) {
    for _ in 0..8 {
        while let Some(message) = one.next_message() {
            assert!(other.receive(&message, 0));
        }
        while let Some(message) = other.next_message() {
            assert!(one.receive(&message, 0));
        }
    }
}

/// The agent of a switch answers once, when it is told that all below have.
#[test]
fn fab_rst_08_p() {
    let (mut host, mut port) = (agent(PmSide::Host, false), agent(PmSide::Device, true));
    talk(&mut host, &mut port);
    host.ask(PmRequest::ResetPrep(ResetKind::Reset), 0);
    talk(&mut host, &mut port);
    assert!(port.take_happened().contains(&Happened::ResetAnnounced(ResetKind::Reset)));
    port.release();
    talk(&mut host, &mut port);
    let acknowledged = host.take_happened().into_iter().filter(|one| *one == Happened::ResetAcknowledged).count();
    assert_eq!((acknowledged, host.take_events(), port.is_quiet()), (1, Vec::new(), true));
}

/// Before that it says nothing, and the host gives up; a device answers at once.
#[test]
fn fab_rst_08_n() {
    for (is_of_switch, is_answered) in [(true, false), (false, true)] {
        let (mut host, mut port) = (agent(PmSide::Host, false), agent(PmSide::Device, is_of_switch));
        talk(&mut host, &mut port);
        host.ask(PmRequest::ResetPrep(ResetKind::S3), 0);
        talk(&mut host, &mut port);
        assert_eq!(host.take_happened().contains(&Happened::ResetAcknowledged), is_answered);
        assert_eq!(port.is_quiet(), is_answered);
        host.expire(1_000_000);
        assert_eq!(host.take_events().is_empty(), is_answered);
    }
}
