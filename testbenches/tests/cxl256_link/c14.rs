//! Chapter 14 of the CXL specification over 256B flits: the tests whose 68B twins stand in `c14`.

use super::rig::*;
use scalepool_protocols::cxl::cxl256::control::InitParam;
use scalepool_protocols::wire::Wire;

/// The host's INIT.Param with every reserved bit 1: the device initialises and reports nothing.
#[test]
fn c14_4_1_1_256b() {
    let mut solo = Solo::new(LinkConfig::default());
    solo.handshake();
    let reserved = InitParam::DEF.fields.iter().filter(|f| f.reserved);
    let slot =
        reserved.fold(InitParam::default().to_bits().expect("fits"), |bits, f| bits | ((1 << f.width) - 1) << f.lsb);
    assert_eq!(slot.count_ones(), InitParam::default().to_bits().expect("fits").count_ones() + 4 + 95);
    solo.payload(1, &[slot]);
    solo.nop(ReplayCommand::Ack, 1);
    assert!(solo.end.client.is_up());
    assert_eq!(solo.rules(), [""; 0]);
}

/// A device that goes viral in the middle of traffic. Nothing that it sends behind the spoilt flit reaches the host's agent
/// before the host knows, and the host reports a fatal event once.
fn viral(classes: &[Class], mode: Mode, vector: u16) {
    let mut bench = Bench::new(LinkConfig { mode, ..LinkConfig::default() }, 200, u64::from(vector) + 1);
    bench.phases = false;
    classes.iter().for_each(|c| bench.produce[c.index()] = 64);
    (0..300).for_each(|_| bench.step());
    bench.consume = [0; 2];
    bench.pair.wires.keep_log();
    bench.pair.device.client.set_viral(vector);
    let mut packed_before = None;
    for _ in 0..100 {
        let waiting: usize = classes.iter().map(|&c| bench.pair.device.client.waiting(c)).sum();
        let given: usize = classes.iter().map(|&c| bench.expected[c.index()].len()).sum();
        let taken: u64 = classes.iter().map(|&c| bench.delivered[c.index()]).sum();
        bench.step();
        let spoilt =
            bench.pair.wires.take_log().iter().any(|s| s.dir == Dir::Up && !s.unit.flit.receive(mode).is_good());
        if spoilt && packed_before.is_none() {
            packed_before = Some(taken + (given - waiting) as u64);
        }
        let host = &bench.pair.host.client;
        if let Some(packed) = packed_before.filter(|_| host.peer_viral().is_none()) {
            let delivered: u64 = classes.iter().map(|c| host.stats().messages[c.index()]).sum();
            assert!(delivered <= packed, "nothing of the spoilt flit or behind it is delivered");
        }
    }
    assert!(packed_before.is_some());
    assert_eq!(bench.pair.host.client.peer_viral(), Some(vector));
    assert_eq!(bench.pair.device.stats().replays, 1);
    assert!(bench.rest(5000));
    let fatal: Vec<LinkEvent> = bench.events.drain(..).collect();
    assert_eq!(fatal.len(), 1, "{fatal:?}");
    assert_eq!((fatal[0].severity, fatal[0].violation.rule), (Severity::Fatal, "CXL256-VIR-01"));
    let told = match mode {
        Mode::Pbr => format!("hierarchy of PID {vector:#05x}"),
        Mode::Standard | Mode::LatencyOptimised => format!("logical devices {vector:#06x}"),
    };
    assert!(fatal[0].violation.found.ends_with(&told), "{}", fatal[0].violation);
    bench.assert_clean();
}

#[test]
fn c14_9_10_256b() {
    for mode in [Mode::Standard, Mode::Pbr] {
        viral(&[Class::D2hReq, Class::D2hRsp, Class::D2hData], mode, 0);
    }
}

#[test]
fn c14_9_11_256b() {
    for vector in [0, 1, 0x8421, 0xffff] {
        viral(&[Class::S2mNdr, Class::S2mDrs, Class::S2mBisnp], Mode::Standard, vector);
    }
}

/// Two bits in three flits, again and again, in CXL.cache traffic of the device. Both are in one group of the FEC, which
/// therefore cannot repair them.
#[test]
fn c14_12_1_4_1_256b() {
    for mode in Mode::ALL {
        for selective_nak in [false, true] {
            let mut bench = Bench::new(LinkConfig { mode, selective_nak, ..LinkConfig::default() }, 32, 3);
            let faults = (0..12).flat_map(|round| {
                (0..3).flat_map(move |n| {
                    let byte = (13 * round + 41 * n) % 110 + 4;
                    [byte, byte + 3]
                        .map(|b| Fault::Flip { unit: 200 + 90 * u64::from(round) + u64::from(n), bit: 8 * b })
                })
            });
            bench.wire(Dir::Up, faults.collect(), 0.0, 1);
            bench.phases = false;
            for class in [Class::D2hReq, Class::D2hRsp, Class::D2hData, Class::H2dReq, Class::H2dRsp, Class::H2dData] {
                bench.produce[class.index()] = 64;
            }
            (0..1600).for_each(|_| bench.step());
            assert!(bench.rest(5000));
            bench.assert_clean();
            let (host, device) = (bench.pair.host.stats(), bench.pair.device.stats());
            assert!(host.bad == 36 && device.replays >= 12, "{host:?} {device:?}");
        }
    }
}
