//! CXL256-CRD and CXL256-CTL over time: credits and initialisation.

use super::rig::*;

fn quiet_link(messages: u16) -> Bench {
    let mut bench = Bench::new(LinkConfig::default(), messages, 1);
    bench.phases = false;
    for _ in 0..200 {
        bench.step();
    }
    bench
}

/// A slot with one request.
fn request() -> u128 {
    4 | 1 << 4 | 1 << 5
}

/// A CRD field that returns one credit.
fn one(class: Class) -> Crd {
    let mut crd = Crd::default();
    assert_eq!(crd.give(class, 1), 1);
    crd
}

#[test]
fn cxl256_crd_04_p() {
    for class in classes(Dir::Up) {
        let mut solo = Solo::up(LinkConfig::default());
        let before = solo.end.client.credits().spend[class.index()];
        solo.flit(FlitType::Cachemem, ReplayCommand::Explicit, 2, &[], one(class));
        assert_eq!(solo.end.client.credits().spend[class.index()], before + 1);
        assert_eq!(solo.rules(), [""; 0]);
    }
}

#[test]
fn cxl256_crd_04_n() {
    for class in classes(Dir::Down) {
        let mut solo = Solo::up(LinkConfig::default());
        solo.flit(FlitType::Cachemem, ReplayCommand::Explicit, 2, &[], one(class));
        assert_eq!(solo.end.client.credits().spend, [0; 12]);
        assert_eq!(solo.rules(), ["CXL256-CRD-04"]);
    }
}

#[test]
fn cxl256_crd_05_p() {
    // Lines with and without trailers: one credit each, and all come home.
    let mut bench = quiet_link(20);
    for class in Class::ALL.into_iter().filter(|c| c.has_data()) {
        bench.produce[class.index()] = 64;
    }
    for _ in 0..2000 {
        bench.step();
    }
    assert!(bench.rest(5000));
    bench.assert_clean();
    assert!(bench.delivered.iter().sum::<u64>() > 1000);
}

#[test]
fn cxl256_crd_05_n() {
    // A device that returns one credit more, as if for a trailer: the books no longer agree.
    let mut bench = quiet_link(20);
    assert!(bench.rest(5000));
    assert_eq!(bench.astray(), []);
    let seq = bench.pair.host.receiver().expected;
    let header = FlitHeader { flit_type: FlitType::Cachemem, seq, ..FlitHeader::default() };
    let now = bench.pair.now();
    bench.pair.host.receive(&sealed(header, &[], one(Class::M2sRwd)), now);
    assert_eq!(bench.astray(), [Class::M2sRwd]);
}

#[test]
fn cxl256_crd_06_p() {
    let mut bench = quiet_link(1);
    bench.produce = [64; 12];
    for _ in 0..3000 {
        bench.step();
    }
    assert!(bench.rest(5000));
    bench.assert_clean();
}

#[test]
fn cxl256_crd_06_n() {
    let mut solo = Solo::up(LinkConfig::default());
    // The end has granted nothing so far.
    assert_eq!(solo.end.client.credits().granted(Class::M2sReq), 0);
    solo.payload(2, &[request()]);
    assert_eq!(solo.rules(), ["CXL256-CRD-06"]);
}

#[test]
fn cxl256_crd_07_p() {
    // Snoops alone, nothing in the other direction: their credits come back with credit flits.
    let mut bench = quiet_link(32);
    let before = bench.pair.device.client.stats().sent_credits;
    bench.produce[Class::H2dReq.index()] = 64;
    for _ in 0..2000 {
        bench.step();
    }
    assert!(bench.rest(5000));
    bench.assert_clean();
    assert!(bench.delivered[Class::H2dReq.index()] > 1000);
    assert!(bench.pair.device.client.stats().sent_credits > before);
    assert_eq!(bench.pair.device.client.stats().sent_protocol, 0);
}

#[test]
fn cxl256_crd_07_n() {
    let mut bench = quiet_link(32);
    bench.pair.device.client.hold_credits(true);
    bench.produce[Class::H2dReq.index()] = 64;
    for _ in 0..2000 {
        bench.step();
    }
    // Thirty-two have gone, then the messages wait for ever.
    assert_eq!(bench.delivered[Class::H2dReq.index()], 32);
    assert!(bench.pair.host.client.waiting(Class::H2dReq) > 0);
}

#[test]
fn cxl256_ctl_05_p() {
    let mut bench = Bench::new(LinkConfig::default(), 32, 1);
    bench.produce = [64; 12];
    bench.phases = false;
    bench.pair.keep_log();
    for _ in 0..300 {
        bench.step();
    }
    let log = bench.pair.take_log();
    for dir in Dir::ALL {
        let mut payload = log.iter().filter(|s| s.dir == dir && s.flit.header().flit_type == FlitType::Cachemem);
        let first = payload.next().expect("payload was sent").flit;
        assert_eq!(first.slot(Mode::Standard, 0) & 0xfff, 0x8c8, "INIT.Param comes first");
        assert!(payload.next().expect("more was sent").flit.crd().credits().count() > 0, "then credits");
    }
    assert!(bench.rest(5000));
    bench.assert_clean();
}

#[test]
fn cxl256_ctl_05_n() {
    let mut solo = Solo::new(LinkConfig::default());
    solo.handshake();
    solo.payload(1, &[request()]);
    let events = solo.end.take_events();
    assert_eq!(events.len(), 1, "{events:?}");
    assert_eq!((events[0].violation.rule, events[0].severity), ("CXL256-CTL-05", Severity::Uncorrectable));
    assert_eq!(solo.end.client.halted(), Some("CXL256-CTL-05"));
}
