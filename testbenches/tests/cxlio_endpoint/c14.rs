//! Chapter 14 of the specification, as far as one CXL.io endpoint and its port make a test of it.

use super::pm::{LATENCY, Talk, forged, one_rule};
use super::registers::{FLITS, NO_FLITS, can, dvsecs, mld};
use super::rig::{BARS, DEVICE, FORMS, ROOT, Rig, TIMEOUT, read_of};
use scalepool::endpoint::completer::CompleterConfig;
use scalepool::endpoint::config_space::port::port;
use scalepool::endpoint::config_space::type3::{Type3Config, type3};
use scalepool::endpoint::event::EndpointEvent;
use scalepool::endpoint::pm::{Happened, PmConfig, PmRequest, PmSide, ResetKind};
use scalepool::endpoint::requester::RequestFailure;
use scalepool::endpoint::tlp::{Tlp, TlpKind};
use scalepool_protocols::cxl::cxlio::code::{CplStatus, PmOpcode};
use scalepool_protocols::cxl::cxlio::dvsec::{
    ConnectedMode, DeviceCapability, DvsecHeader, DvsecId, FlexBus, check_header, device, flex_bus_port,
    mld as mld_dvsec, negotiate,
};
use scalepool_protocols::wire::Wire;

/// Header of a DVSEC as configuration reads over a link show it.
fn header_over_the_link(rig: &mut Rig, id: DvsecId) -> DvsecHeader {
    let mut at = 0x100u16;
    while at != 0 {
        let dws = [0, 4, 8].map(|n| u128::from(rig.read_config(at + n)));
        let header = DvsecHeader::from_bits(dws[0] | dws[1] << 32 | dws[2] << 64);
        if header.dvsec_id == id.number() {
            assert_eq!(check_header(&header), []);
            return header;
        }
        at = header.next_bytes;
    }
    panic!("{id:?} is not in the list");
}

/// Partly: the model's list of what a Type 3 device shows, no compliance of a product.
#[test]
fn c14_8_2() {
    for (logical_devices, ids) in [(1, vec![0, 2, 5, 7, 8]), (16, vec![0, 2, 5, 7, 8, 9])] {
        let space = type3(&Type3Config { logical_devices, ..Type3Config::default() }).expect("legal");
        let shown: Vec<u16> = dvsecs(&space).into_iter().map(|(id, _)| id).collect();
        assert_eq!(shown, ids);
    }
    let shown: Vec<u16> = dvsecs(&port(FlexBus::default())).into_iter().map(|(id, _)| id).collect();
    assert_eq!(shown, [3, 4, 7, 8], "a port shows no device DVSEC");
}

/// Partly: the exported header alone.
#[test]
fn c14_8_4() {
    for form in FORMS {
        let header = header_over_the_link(&mut Rig::new(form), DvsecId::Device);
        assert_eq!((header.vendor, header.dvsec_id, header.length_bytes, header.revision), (0x1e98, 0, 0x3c, 3));
    }
}

/// Partly: the exported bits alone.
#[test]
fn c14_8_5() {
    for (range_bytes, count) in [([0, 0], 0), ([1 << 30, 0], 1), ([1 << 30, 1 << 30], 2)] {
        let config = Type3Config { range_bytes, ..Type3Config::default() };
        let mut rig = Rig::with(FORMS[1], &config, CompleterConfig::default(), 8);
        let at = 0x100 + device::CAPABILITY.start as u16;
        let capability = DeviceCapability::from_bits(u128::from(rig.read_config(at) >> 16));
        assert!(capability.io);
        assert_eq!((capability.mem, capability.hdm_count), (count > 0, count));
    }
}

/// Header of one DVSEC: ID and length in bytes.
fn shows(id: DvsecId, number: u16, length_bytes: u16) {
    let device = Type3Config { logical_devices: 4, ..Type3Config::default() };
    for form in FORMS {
        let mut rig = Rig::with(form, &device, CompleterConfig::default(), 8);
        let header = header_over_the_link(&mut rig, id);
        assert_eq!((header.dvsec_id, header.length_bytes), (number, length_bytes));
    }
}

/// Header of one DVSEC of a port.
fn port_shows(id: DvsecId, number: u16, length_bytes: u16) {
    let space = port(FlexBus::default());
    let header = space.header_at(space.dvsec(id).expect("there"));
    assert_eq!((header.dvsec_id, header.length_bytes, check_header(&header)), (number, length_bytes, vec![]));
}

/// Partly: the exported header alone.
#[test]
fn c14_8_9() {
    shows(DvsecId::FunctionMap, 2, 0x2c);
}

/// Partly: the exported header alone.
#[test]
fn c14_8_10() {
    port_shows(DvsecId::PortExtensions, 3, 0x28);
}

/// Partly: the exported header alone.
#[test]
fn c14_8_12() {
    port_shows(DvsecId::GpfPort, 4, 0x10);
}

/// Partly: the exported header alone.
#[test]
fn c14_8_15() {
    shows(DvsecId::GpfDevice, 5, 0x10);
}

/// Partly: the exported header alone.
#[test]
fn c14_8_17() {
    shows(DvsecId::FlexBusPort, 7, 0x20);
    port_shows(DvsecId::FlexBusPort, 7, 0x20);
}

/// Partly: bits against the configured modes, nothing trains.
#[test]
fn c14_8_18() {
    for flex_bus in [can(true, false, false), can(true, true, false), can(true, false, true)] {
        let config = Type3Config { flex_bus, ..Type3Config::default() };
        let mut rig = Rig::with(FORMS[0], &config, CompleterConfig::default(), 8);
        let at = rig.completer.space().dvsec(DvsecId::FlexBusPort).expect("there") as u16;
        let bits = rig.read_config(at + flex_bus_port::CAPABILITY.start as u16) >> 16;
        assert_eq!(FlexBus::from_bits(u128::from(bits)), flex_bus);
        // A bit that is not set is never agreed on.
        let mode = negotiate(&flex_bus, &can(true, true, true), FLITS);
        assert_eq!(mode == Some(ConnectedMode::Pbr), flex_bus.pbr);
        assert_eq!(mode == Some(ConnectedMode::LatencyOptimised256b), flex_bus.lopt_256b);
    }
}

/// Partly: the exported header alone.
#[test]
fn c14_8_20() {
    shows(DvsecId::Mld, 9, 0x10);
}

/// Partly: the register alone; LD-IDs in messages belong to the link.
#[test]
fn c14_8_21() {
    for logical_devices in [2, 4, 16] {
        let config = Type3Config { logical_devices, ..Type3Config::default() };
        let space = type3(&config).expect("legal");
        let at = space.dvsec(DvsecId::Mld).expect("an MLD");
        assert_eq!(space.number(at, mld_dvsec::LOGICAL_DEVICES), logical_devices.into());
    }
    assert!(type3(&Type3Config { logical_devices: 17, ..Type3Config::default() }).is_err());
    assert_eq!(mld().dvsec(DvsecId::Device), Some(0x100));
}

/// RESETPREP of a kind, acknowledged in every mode.
fn reset(kind: ResetKind) {
    for form in FORMS {
        let mut talk = Talk::ready(form);
        talk.host.ask(PmRequest::ResetPrep(kind), talk.now);
        talk.settle();
        assert_eq!(talk.device.take_happened(), [Happened::ResetAnnounced(kind)]);
        assert_eq!(talk.host.take_happened(), [Happened::ResetAcknowledged]);
        assert!(talk.events().is_empty());
    }
}

/// Partly: the messages before the reset; no reset follows in the model.
#[test]
fn c14_9_1() {
    reset(ResetKind::Reset);
}

/// Partly: as the warm reset; what falls without power is not modelled.
#[test]
fn c14_9_2() {
    reset(ResetKind::S5);
    reset(ResetKind::Reset);
}

/// Partly: the message before the sleep state.
#[test]
fn c14_9_3() {
    reset(ResetKind::S3);
}

/// Partly: the host's messages; no switch, no loss of power.
#[test]
fn c14_9_8_1() {
    for form in FORMS {
        let mut talk = Talk::ready(form);
        talk.host.ask(PmRequest::Flush, talk.now);
        talk.settle();
        let gpf = PmOpcode::Gpf;
        let expected = [(true, gpf, 1), (false, gpf, 0), (true, gpf, 1), (false, gpf, 0)];
        assert_eq!(talk.said(), expected, "phase 1, answer, phase 2, answer");
        assert_eq!(talk.host.take_happened(), [Happened::FlushAnswered(1), Happened::FlushAnswered(2)]);
        assert!(talk.host.is_quiet() && talk.device.is_quiet());
    }
}

/// Partly: the device's messages; what it writes to its media is not modelled.
#[test]
fn c14_9_8_2() {
    for form in FORMS {
        let mut talk = Talk::ready(form);
        talk.host.ask(PmRequest::Flush, talk.now);
        talk.settle();
        assert!(!talk.device.may_request_cache(), "no request of CXL.cache after phase 1");
        assert_eq!(talk.device.take_happened(), [Happened::FlushPhase(1), Happened::FlushPhase(2)]);
        assert!(talk.events().is_empty());
        talk.host.saw_cache_request();
        assert_eq!(one_rule(talk.events()), "CXLIO-VDM-07");
    }
}

/// Partly: the messages; L1 follows in the ARB/MUX.
#[test]
fn c14_10_1() {
    for form in FORMS {
        let mut talk = Talk::ready(form);
        talk.device.ask(PmRequest::Sleep([LATENCY, LATENCY]), talk.now);
        talk.settle();
        let go = talk.said().iter().position(|m| *m == (true, PmOpcode::PmReq, 4)).expect("GO");
        let response = talk.said().iter().position(|m| *m == (true, PmOpcode::PmReq, 0)).expect("a response");
        assert!(response < go && talk.device.is_asleep());
        assert!(talk.events().is_empty());
    }
}

/// Partly: the messages; the link stays out of L1 because nobody asks for it.
#[test]
fn c14_10_2() {
    for form in FORMS {
        let busy = PmConfig { grants_sleep: false, ..PmConfig::new(PmSide::Host) };
        let mut talk = Talk::new(form, busy, PmConfig::new(PmSide::Device));
        talk.settle();
        talk.device.ask(PmRequest::Sleep([LATENCY, LATENCY]), talk.now);
        talk.settle();
        assert!(!talk.device.is_asleep());
        assert_eq!(talk.device.take_happened(), [Happened::Ready, Happened::SleepAnswered]);
        assert!(talk.said().iter().all(|m| m.2 & 4 == 0), "no GO");
        assert!(talk.events().is_empty());
    }
}

/// Partly: the message; either outcome is legal, ours is that nothing happens.
#[test]
fn c14_10_3() {
    for form in FORMS {
        let mut talk = Talk::ready(form);
        talk.host.ask(PmRequest::Go, talk.now);
        talk.settle();
        assert_eq!(talk.said(), [(true, PmOpcode::PmReq, 4)]);
        assert!(!talk.device.is_asleep());
        // A GO of before does not count for a later request.
        talk.device.ask(PmRequest::Sleep([LATENCY, LATENCY]), talk.now);
        talk.device.receive(&forged(PmOpcode::PmReq, 4, 0), talk.now);
        assert!(!talk.device.is_asleep());
        assert!(talk.events().is_empty());
    }
}

/// Partly: the table of modes; no ordered sets of training.
#[test]
fn c14_6_5() {
    // Host, device, with flit mode, expected (`cxl-io` §7).
    let rows = [
        (can(false, false, false), can(true, true, true), false, ConnectedMode::Rcd),
        (can(true, true, true), can(true, false, false), false, ConnectedMode::Vh68b),
        (can(true, true, true), can(true, false, false), true, ConnectedMode::Standard256b),
        (can(true, true, false), can(true, true, true), true, ConnectedMode::LatencyOptimised256b),
        (can(true, true, true), can(true, true, true), true, ConnectedMode::Pbr),
        (can(true, false, true), can(true, true, true), true, ConnectedMode::Pbr),
    ];
    for (host, device, flit_mode, expected) in rows {
        let trained = if flit_mode { FLITS } else { NO_FLITS };
        assert_eq!(negotiate(&host, &device, trained), Some(expected));
        let mut ends = [port(host), port(device)];
        for (n, peer) in [(0, device), (1, host)] {
            ends[n].trained(&peer, expected);
        }
        assert_eq!(ends[0].flex_bus_status(), ends[1].flex_bus_status(), "both ends say the same");
    }
    assert_eq!(negotiate(&FlexBus::default(), &can(true, true, true), FLITS), None, "PCI Express alone");
}

/// Partly: as 6.5, with the device exchanged while the port goes on.
#[test]
fn c14_6_6() {
    let mut host = port(can(true, true, false));
    let mine = host.flex_bus();
    let changes = [
        (can(true, true, false), ConnectedMode::LatencyOptimised256b),
        (can(true, false, false), ConnectedMode::Standard256b),
        (can(true, false, true), ConnectedMode::Standard256b),
    ];
    for (device, expected) in changes {
        assert_eq!(negotiate(&mine, &device, FLITS), Some(expected));
        host.trained(&device, expected);
        let status = host.flex_bus_status();
        assert_eq!(status.lopt_256b, expected == ConnectedMode::LatencyOptimised256b, "nothing is left of before");
        assert!(!status.pbr);
    }
}

/// The form of CXL.io; a completion of CXL.mem is tested beside the 68B link.
#[test]
fn c14_12_1_8_1() {
    for form in FORMS {
        let mut rig = Rig::enabled(form);
        rig.write(BARS[0], &[7; 16], false);
        let open = rig.send(read_of(BARS[0], 16), Vec::new());
        let good = rig.up.remove(0);
        let status = TlpKind::Completion { completer: DEVICE, status: CplStatus::SC, byte_count: 16, lower_address: 0 };
        let stray = Tlp { tag: open.tag + 1, ..Tlp::new(status, ROOT, vec![0xee; 16]) };
        rig.up = vec![stray.clone(), Tlp { requester: ROOT | 0x10, tag: open.tag, ..stray }, good];
        let done = rig.settle();
        assert_eq!(done.len(), 1);
        assert_eq!(done[0].outcome, Ok(vec![7; 16]), "dropped, and nothing else has changed");
        let events = rig.events();
        assert_eq!(events.len(), 2);
        assert!(events.iter().all(|e| matches!(e, EndpointEvent::UnexpectedCompletion { .. })), "{events:?}");
    }
}

/// The form of CXL.io.
#[test]
fn c14_12_1_9_1_io() {
    for form in FORMS {
        let mut rig = Rig::enabled(form);
        rig.write(BARS[0], &[3; 300], false);
        let tags: Vec<u16> = (0..4)
            .map(|n| {
                // Of the third read the second part vanishes.
                rig.swallow = (n == 2).then_some(1);
                rig.send(read_of(BARS[0], 300), Vec::new()).tag
            })
            .collect();
        let done: Vec<u16> = rig.settle().iter().map(|d| d.tag).collect();
        assert_eq!(done, [tags[0], tags[1], tags[3]]);
        // The parts behind the one that vanished do not fit.
        assert!(rig.events().iter().all(|e| matches!(e, EndpointEvent::UnexpectedCompletion { .. })));
        rig.now = TIMEOUT - 1;
        assert!(rig.requester.expire(rig.now).is_empty());
        rig.now = TIMEOUT;
        let late = rig.requester.expire(rig.now);
        assert_eq!((late.len(), late[0].tag, &late[0].outcome), (1, tags[2], &Err(RequestFailure::Timeout)));
        assert!(matches!(rig.events()[..], [EndpointEvent::CompletionTimeout { .. }]));
        assert_eq!(rig.read(BARS[0], 300), (vec![3; 300], false), "no corruption");
    }
}
