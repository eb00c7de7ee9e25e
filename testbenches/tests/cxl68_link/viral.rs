//! Viral (CXL68-VIR). A receiver cannot tell a spoiled flit from a damaged one, so what was sent is watched: [`Watch`]
//! sees every unit as it left and knows when its sender was told.

use super::rig::{Rig, Space, quick};
use super::units::wire;
use scalepool::link::cxl68::EndConfig;
use scalepool::link::cxl68::fault::Fault;
use scalepool::link::wires::SentUnit;
use scalepool_protocols::cxl::cxl68::Dir;
use scalepool_protocols::cxl::cxl68::config::{CrcSpoil, Cxl68Config};
use scalepool_protocols::cxl::cxl68::control::{Control, RetryAck};
use scalepool_protocols::cxl::cxl68::unit::Cxl68Unit;
use scalepool_testbenches::soak::is_soak;

/// Judges how one direction signals viral.
#[derive(Default)]
struct Watch {
    /// The sender was told; with this vector.
    told: Option<u16>,
    spoiled: bool,
    /// Viral was in an Ack.
    acked: bool,
    broken: Vec<&'static str>,
}

impl Watch {
    fn see(&mut self, log: &[SentUnit<Cxl68Unit>], dir: Dir) {
        for seen in log.iter().filter(|s| s.dir == dir) {
            let slot = seen.unit.slot(0);
            let control = (slot & 1 == 1 && Control::static_bits_ok(slot)).then(|| Control::from_slot(slot));
            let retry = control.is_some_and(|c| !c.is_retryable());
            if !seen.unit.crc_ok() {
                self.spoiled = true;
                if self.told.is_none() {
                    self.broken.push("CXL68-VIR-01");
                }
            } else if self.told.is_some() && !self.spoiled && !retry {
                // The first flit that could carry it left unspoiled.
                self.broken.push("CXL68-VIR-01");
            }
            if let Some(Control::RetryAck(ack)) = control
                && seen.unit.crc_ok()
            {
                let expected = self.told.unwrap_or(0);
                if ack.viral != self.told.is_some() || ack.viral_ld_id != expected {
                    self.broken.push("CXL68-VIR-02");
                }
                self.acked |= ack.viral;
            }
        }
    }
}

/// A device that goes viral, busy or idle; what the watch says, and the rig.
fn goes_viral(device: EndConfig, busy: bool, vector: u16) -> (Watch, Rig) {
    goes_viral_as(device, None, busy, vector)
}

/// The same, with what the device says instead of what its end says.
fn goes_viral_as(device: EndConfig, says: Option<fn(Cxl68Unit) -> Cxl68Unit>, busy: bool, vector: u16) -> (Watch, Rig) {
    let mut rig = Rig::new(EndConfig::cachemem(Dir::Down, device.link, 32), device);
    rig.says = says.map(|says| (Dir::Up, says));
    rig.bring_up();
    rig.steps(100);
    let mut watch = Watch::default();
    if busy {
        rig.all_traffic(1, 1);
    }
    rig.pair.wires.keep_log();
    rig.pair.device.set_viral(vector);
    watch.told = Some(vector);
    rig.steps(200);
    if busy {
        rig.all_traffic(1, 2);
    }
    rig.settle();
    watch.see(&rig.pair.wires.take_log(), Dir::Up);
    (watch, rig)
}

fn device(crc_spoil: CrcSpoil) -> EndConfig {
    EndConfig::cachemem(Dir::Up, Cxl68Config { crc_spoil, ..quick() }, 32)
}

/// A unit with its CRC: no flit is spoiled.
fn unspoiled(mut unit: Cxl68Unit) -> Cxl68Unit {
    unit.set_tail(unit.expected_crc());
    unit
}

/// Viral in every RETRY.Ack.
fn viral_unasked(unit: Cxl68Unit) -> Cxl68Unit {
    match Control::from_slot(unit.slot(0)) {
        Control::RetryAck(ack) if unit.slot(0) & 1 == 1 && Control::static_bits_ok(unit.slot(0)) => {
            let ack = Control::RetryAck(RetryAck { viral: true, ..ack });
            Cxl68Unit::from_slots(unit.pid(), &[ack.to_slot().expect("fits"), 0, 0, 0])
        }
        _ => unit,
    }
}

const SPOILS: [CrcSpoil; 2] = [CrcSpoil::InvertAll, CrcSpoil::InvertLowest];

#[test]
fn cxl68_vir_01_p() {
    for spoil in SPOILS {
        for busy in [false, true] {
            let (watch, mut rig) = goes_viral(device(spoil), busy, 0);
            assert_eq!(watch.broken, [] as [&str; 0]);
            assert!(watch.spoiled && watch.acked);
            assert_eq!(rig.pair.host.stats().crc_errors, 1, "one flit is spoiled");
            assert_eq!(rig.pair.host.peer_viral(), Some(0));
            rig.assert_one_fatal(0);
            rig.assert_no_loss();
        }
    }
}

#[test]
fn cxl68_vir_01_n() {
    for busy in [false, true] {
        let (watch, rig) = goes_viral_as(device(CrcSpoil::InvertAll), Some(unspoiled), busy, 0);
        assert!(watch.broken.contains(&"CXL68-VIR-01"), "{:?}", watch.broken);
        assert_eq!(rig.pair.host.peer_viral(), None, "and the host is not told");
    }
}

#[test]
fn cxl68_vir_02_p() {
    // A device of one logical device sends 0, one of many names those concerned.
    for vector in [0, 1, 0x8000, 0x00a5, 0xffff] {
        let (watch, mut rig) = goes_viral(device(CrcSpoil::InvertAll), true, vector);
        assert_eq!(watch.broken, [] as [&str; 0]);
        assert_eq!(rig.pair.host.peer_viral(), Some(vector));
        assert_eq!(rig.pair.device.peer_viral(), None);
        rig.assert_one_fatal(vector);
        rig.assert_no_loss();
    }
    // Without local viral a retry says nothing of it.
    let (watch, rig) = retry_of(None);
    assert_eq!((watch.broken, rig.pair.host.peer_viral()), (vec![], None));
}

/// A retry of the device's flits, without viral.
fn retry_of(says: Option<fn(Cxl68Unit) -> Cxl68Unit>) -> (Watch, Rig) {
    let mut rig = Rig::new(EndConfig::cachemem(Dir::Down, quick(), 32), device(CrcSpoil::InvertAll));
    rig.says = says.map(|says| (Dir::Up, says));
    rig.bring_up();
    rig.pair.wires.put(Dir::Up, wire(vec![Fault::Drop { unit: 3 }]));
    rig.pair.wires.keep_log();
    rig.traffic(Space::Device, 20, 7);
    rig.settle();
    let mut watch = Watch::default();
    watch.see(&rig.pair.wires.take_log(), Dir::Up);
    assert_eq!(rig.pair.host.stats().retries, 1);
    (watch, rig)
}

#[test]
fn cxl68_vir_02_n() {
    let (watch, rig) = retry_of(Some(viral_unasked));
    assert_eq!(watch.broken, ["CXL68-VIR-02"]);
    assert_eq!(rig.pair.host.peer_viral(), Some(0), "the host believes it");
}

#[test]
fn cxl68_vir_03_p() {
    for (spoil, pattern) in [(CrcSpoil::InvertAll, 0xffff), (CrcSpoil::InvertLowest, 1)] {
        let mut rig = Rig::new(EndConfig::cachemem(Dir::Down, quick(), 32), device(spoil));
        rig.bring_up();
        rig.steps(100);
        rig.pair.wires.keep_log();
        rig.pair.device.set_viral(0);
        rig.steps(5);
        let log = rig.pair.wires.take_log();
        let spoiled: Vec<_> = log.iter().filter(|s| !s.unit.crc_ok()).collect();
        assert_eq!(spoiled.len(), 1);
        assert_eq!(spoiled[0].unit.tail() ^ spoiled[0].unit.expected_crc(), pattern);
    }
}

#[test]
fn cxl68_vir_03_n() {
    // Whatever the way to spoil, no peer takes the flit: every difference of one bit and every 13th of 16 bits, in `make soak` all.
    let mut rig = Rig::cachemem(quick());
    rig.bring_up();
    for difference in (1..=0xffffu16).filter(|d| is_soak() || d.is_power_of_two() || d % 13 == 0) {
        let mut unit = super::units::llcrd([9, 0, 9], 3);
        unit.set_tail(unit.tail() ^ difference);
        let mut host = rig.pair.host.clone();
        host.receive(&unit, 0);
        assert_eq!((host.stats().crc_errors, host.eseq()), (1, rig.pair.host.eseq()));
        assert_eq!(host.credits().spend, rig.pair.host.credits().spend);
    }
}
