//! What only the consumer can see: byte enables, halves, hints, poison (CXL68-HDR, MSG, ENC, PSN).

use super::rig::{AgentFault, Rig, Space, quick};
use super::units::wire;
use scalepool::link::cxl68::fault::Fault;
use scalepool::link::hook::{Direction, HookAnswer, HookItem, HookPoint};
use scalepool_protocols::cxl::cxl68::Dir;
use scalepool_protocols::cxl::cxl68::message::Class;
use scalepool_protocols::cxl::cxl68::stream::{Data, Size};

/// A partial write, then a whole one, then a read, of a line of the device.
fn partial_then_whole(rig: &mut Rig) {
    rig.write(Space::Device, 0, Data { bytes: [1; 64], size: Size::Line, byte_enables: Some(0xff00) }, false);
    rig.write_line(Space::Device, 0, [2; 64]);
    rig.read(Space::Device, 0);
    rig.settle();
}

#[test]
fn cxl68_hdr_05_p2() {
    let mut rig = Rig::cachemem(quick());
    partial_then_whole(&mut rig);
    rig.assert_no_loss();
    assert_eq!(rig.reads, [(0, [2; 64], false)]);
}

#[test]
fn cxl68_hdr_05_n2() {
    let mut rig = Rig::cachemem(quick());
    rig.fault = Some(AgentFault::KeepsByteEnables);
    partial_then_whole(&mut rig);
    assert_eq!(rig.broken_rules().into_iter().collect::<Vec<_>>(), ["SIM-E2E-01"]);
    assert!(rig.rules().is_empty(), "only the bytes show it");
}

/// Both halves of a line of the host, one after the other.
fn halves(rig: &mut Rig) {
    for (size, value) in [(Size::LowerHalf, 3), (Size::UpperHalf, 4)] {
        let mut bytes = [0; 64];
        let at = if size == Size::UpperHalf { 32 } else { 0 };
        bytes[at..at + 32].fill(value);
        rig.write(Space::Host, 64, Data { bytes, size, byte_enables: None }, false);
    }
    rig.read(Space::Host, 64);
    rig.settle();
}

#[test]
fn cxl68_msg_12_p2() {
    let mut rig = Rig::cachemem(quick());
    halves(&mut rig);
    rig.assert_no_loss();
    let (_, bytes, _) = rig.reads[0];
    assert_eq!((&bytes[..32], &bytes[32..]), (&[3; 32][..], &[4; 32][..]));
}

#[test]
fn cxl68_msg_12_n2() {
    // The upper half of a transfer is stored low.
    let low = |item: &HookItem<'_>| {
        let mut bytes = item.bytes.to_vec();
        match bytes.len().checked_sub(64).map(|at| bytes[at..].split_at_mut(32)) {
            Some((lower, upper)) if lower.iter().all(|&b| b == 0) => lower.swap_with_slice(upper),
            _ => return HookAnswer::Keep,
        }
        HookAnswer::Replace(bytes)
    };
    let mut rig = Rig::with_hook(Dir::Down, (HookPoint::PackerOut, Direction::Rx), low, quick());
    halves(&mut rig);
    assert_eq!(rig.broken_rules().into_iter().collect::<Vec<_>>(), ["SIM-E2E-01"]);
    assert!(rig.rules().is_empty());
}

#[test]
fn cxl68_enc_14_p() {
    let mut rig = Rig::mem(quick());
    for n in 0..40 {
        rig.hint(64 * n);
        rig.read(Space::Device, 64 * n);
    }
    rig.assert_no_loss();
    assert_eq!(rig.reads.len(), 40, "one answer a pair");
    assert_eq!(rig.pair.device.stats().messages.iter().sum::<u64>(), 40);
}

#[test]
fn cxl68_enc_14_n() {
    let mut rig = Rig::mem(quick());
    rig.fault = Some(AgentFault::CompletesHints);
    rig.hint(0);
    rig.read(Space::Device, 64);
    rig.settle();
    assert_eq!(rig.broken_rules().into_iter().collect::<Vec<_>>(), ["CXL68-ENC-14"]);
    assert_eq!(rig.reads.len(), 1, "the real read is answered");
}

/// A poisoned write and its read back, in both spaces, among clean ones.
fn poisoned(rig: &mut Rig) {
    for space in [Space::Device, Space::Host] {
        for n in 0..12 {
            rig.write(space, 64 * n, Data::line([n as u8; 64]), n % 3 == 1);
        }
        for n in 0..12 {
            rig.read(space, 64 * n);
        }
    }
    rig.settle();
}

#[test]
fn cxl68_psn_01_p() {
    // Twice: with a clean link, and with retries in between.
    for faults in [vec![], (0..8).map(|n| Fault::Drop { unit: 40 + 11 * n }).collect()] {
        let mut rig = Rig::cachemem(quick());
        rig.pair.wires.put(Dir::Down, wire(faults.clone()));
        rig.pair.wires.put(Dir::Up, wire(faults));
        poisoned(&mut rig);
        rig.assert_no_loss();
        assert_eq!(rig.reads.len(), 24);
        for &(line, _, poison) in &rig.reads {
            assert_eq!(poison, line / 64 % 3 == 1, "line {line:#x}");
        }
        // A whole clean write ends it.
        rig.write_line(Space::Device, 64, [0; 64]);
        rig.read(Space::Device, 64);
        rig.assert_no_loss();
        assert_eq!(rig.reads.last(), Some(&(64, [0; 64], false)));
    }
}

/// A message without its poison.
fn without_poison(item: &HookItem<'_>) -> HookAnswer {
    let layout = Class::ALL.into_iter().map(|c| c.def()).find(|def| def.name == item.name).expect("a message");
    let Some(poison) = layout.fields.iter().find(|f| f.name == "poison") else { return HookAnswer::Keep };
    let mut bytes = item.bytes.to_vec();
    bytes[poison.lsb as usize / 8] &= !(1 << (poison.lsb % 8));
    HookAnswer::Replace(bytes)
}

#[test]
fn cxl68_psn_01_n() {
    // Lost on the way, in either direction.
    for dir in Dir::ALL {
        let mut rig = Rig::with_hook(dir, (HookPoint::PackerOut, Direction::Rx), without_poison, quick());
        poisoned(&mut rig);
        assert!(rig.broken_rules().contains("SIM-E2E-01"));
        assert!(rig.rules().is_empty());
    }
}

#[test]
fn cxl68_psn_01_n2() {
    // Poison on clean data.
    let mut rig = Rig::mem(quick());
    rig.fault = Some(AgentFault::PoisonsCleanData);
    rig.read(Space::Device, 0);
    rig.settle();
    assert_eq!(rig.broken_rules().into_iter().collect::<Vec<_>>(), ["SIM-E2E-01"]);
}
