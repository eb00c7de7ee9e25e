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
    let now = bench.pair.wires.now();
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
    bench.pair.wires.keep_log();
    for _ in 0..300 {
        bench.step();
    }
    let log = bench.pair.wires.take_log();
    for dir in Dir::ALL {
        let mut payload = log.iter().filter(|s| s.dir == dir && s.unit.flit.header().flit_type == FlitType::Cachemem);
        let first = payload.next().expect("payload was sent").unit.flit;
        assert_eq!(first.slot(Mode::Standard, 0) & 0xfff, 0x8c8, "INIT.Param comes first");
        assert!(payload.next().expect("more was sent").unit.flit.crd().credits().count() > 0, "then credits");
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

/// A link whose device takes snoops and answers of caches, so that data and response credits alone go back; the credit
/// flits that it has sent, and how many of them are marked as Empty.
fn credit_flits(ide_active: bool) -> (usize, usize) {
    let link = LinkConfig::default();
    let end = |dir| CachememConfig { ide_active, ..CachememConfig::cachemem(dir, link.mode, 32) };
    let mut bench = Bench::new(link, 32, 1);
    bench.pair = Pair::cachemem(link, end(Dir::Down), end(Dir::Up), LATENCY_FLITS, RETRAIN_FLITS);
    bench.phases = false;
    bench.pair.wires.keep_log();
    bench.produce[Class::H2dRsp.index()] = 64;
    bench.produce[Class::M2sRwd.index()] = 64;
    (0..1000).for_each(|_| bench.step());
    assert!(bench.rest(5000));
    bench.assert_clean();
    let log = bench.pair.wires.take_log();
    let with_credits: Vec<Crd> = log
        .iter()
        .filter(|s| s.dir == Dir::Up)
        .map(|s| s.unit.flit.crd())
        .filter(|c| c.credits().count() > 0)
        .collect();
    (with_credits.len(), with_credits.iter().filter(|c| c.marks_empty()).count())
}

#[test]
fn cxl256_typ_04_p() {
    let (all, empty) = credit_flits(false);
    assert!(empty > 50 && all > empty, "{empty} of {all}: all but those with the request credits of the beginning");
}

#[test]
fn cxl256_typ_04_n() {
    let (all, empty) = credit_flits(true);
    assert!(all > 50);
    assert_eq!(empty, 0, "the mark waits for the end of IDE, the credits do not");
}

#[test]
fn cxl256_crd_03_p() {
    // Both channels of every group are short of credits all the time, and both get on.
    let mut bench = quiet_link(4);
    bench.produce = [64; 12];
    (0..4000).for_each(|_| bench.step());
    assert!(bench.rest(5000));
    bench.assert_clean();
    for [a, b] in [[Class::M2sReq, Class::H2dReq], [Class::S2mDrs, Class::D2hData], [Class::S2mNdr, Class::D2hRsp]] {
        let [a, b] = [a, b].map(|c| bench.delivered[c.index()]);
        assert!(a > 100 && b > 100 && a < 8 * b && b < 8 * a, "{a} and {b}");
    }
}

#[test]
fn cxl256_crd_03_n() {
    // A peer that refills one channel of a group for ever and the other one never.
    let mut solo = Solo::up(LinkConfig::default());
    let mut rng = scalepool::kernel::Rng::from_seed(1);
    for class in [Class::D2hReq, Class::S2mBisnp] {
        solo.end.client.send(random_message(&mut rng, Routing::Hbr, class)).expect("legal");
    }
    for n in 0..600 {
        solo.payload_with(2 + n, one(Class::D2hReq));
        solo.transmit();
    }
    assert_eq!(solo.rules(), ["CXL256-CRD-03"], "once");
    assert_eq!(solo.end.client.waiting(Class::S2mBisnp), 1);
}
