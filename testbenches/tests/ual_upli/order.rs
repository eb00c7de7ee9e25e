//! What must not pass what.

use super::rig::*;

fn strict() -> UpliConfig {
    UpliConfig { ordering: Ordering::Strict, ..UpliConfig::default() }
}

/// Runs requests through both ends; the check compares what was submitted with what arrived.
fn through(config: UpliConfig, requests: &[Transfer]) -> (OrderCheck, Vec<u16>, Vec<&'static str>) {
    let mut rig = Rig::new(config);
    let mut check = OrderCheck::new(config.ordering);
    for transfer in requests {
        check.sent(transfer);
        rig.submit(0, transfer);
    }
    rig.run(200);
    rig.assert_quiet();
    let found: Vec<_> = rig.requests.iter().filter_map(|(_, t)| check.arrived(t)).collect();
    (check, rig.requests.iter().map(|(_, t)| tag(t)).collect(), ids(&found))
}

fn tag(transfer: &Transfer) -> u16 {
    match &transfer.field {
        ControlField::Request(req) => req.tag,
        ControlField::Response(rsp) => rsp.tag,
        _ => panic!("{transfer:?}"),
    }
}

/// Two long writes and a read of another region: the read passes the second one; one of its region does not.
#[test]
fn ual_upl_05_p() {
    let (check, tags, found) =
        through(UpliConfig::default(), &[write(1, 0x100, 4), write(2, 0x200, 4), read(3, 0x300, 1), read(4, 0x200, 1)]);
    assert_eq!((check.under_way(), found), (0, vec![]));
    assert_eq!(tags, [1, 3, 2, 4], "allowed and seen: 3 passes 2");
}

/// Two writes to one region, swapped; a VC or a region apart, that is allowed.
#[test]
fn ual_upl_05_n() {
    let swapped = |a: &Transfer, b: &Transfer| {
        let mut check = OrderCheck::new(Ordering::Default);
        check.sent(a);
        check.sent(b);
        let found: Vec<_> = [b, a].into_iter().filter_map(|t| check.arrived(t)).collect();
        ids(&found)
    };
    assert_eq!(swapped(&write(1, 0x100, 1), &write(2, 0x140, 1)), ["UAL-UPL-05"]);
    assert_eq!(swapped(&write(1, 0x100, 1), &write(2, 0x200, 1)), Vec::<&str>::new());
    let mut other = write(2, 0x140, 1);
    let ControlField::Request(req) = &mut other.field else { panic!("a request") };
    req.vchan = 1;
    assert_eq!(swapped(&write(1, 0x100, 1), &other), Vec::<&str>::new());
    let responses = [1, 2].map(|tag| answers(&read(tag, 0x100, 1), false).remove(0));
    assert_eq!(swapped(&responses[0], &responses[1]), Vec::<&str>::new());
}

/// Nothing passes; reads and write responses are two streams.
#[test]
fn ual_upl_06_p() {
    let (check, tags, found) =
        through(strict(), &[write(1, 0x100, 4), write(2, 0x200, 4), read(3, 0x300, 1), read(4, 0x200, 1)]);
    assert_eq!((check.under_way(), found), (0, vec![]));
    assert_eq!(tags, [1, 2, 3, 4]);
    let mut rig = Rig::new(strict());
    let mut check = OrderCheck::new(Ordering::Strict);
    let transfers = [read(1, 0x100, 4), write(2, 0x200, 1), read(3, 0x300, 2), write(4, 0x400, 1)];
    for transfer in &transfers {
        answers(transfer, false).iter().for_each(|answer| check.sent(answer));
        rig.submit(0, transfer);
    }
    rig.run(60);
    rig.assert_quiet();
    let order: Vec<_> = rig.got.iter().map(|(_, t)| tag(t)).collect();
    let found: Vec<_> = rig.got.iter().filter_map(|(_, t)| check.arrived(t)).collect();
    assert_eq!(ids(&found), Vec::<&str>::new());
    assert_ne!(order, [1, 2, 3, 4], "allowed and seen: a write response passes a read response");
}

#[test]
fn ual_upl_06_n() {
    let [a, b] = [1, 2].map(|tag| answers(&read(tag, 0x100, 1), false).remove(0));
    for (a, b) in [(a, b), (write(1, 0x100, 1), read(2, 0x900, 1))] {
        let mut check = OrderCheck::new(Ordering::Strict);
        check.sent(&a);
        check.sent(&b);
        assert_eq!(check.arrived(&b).map(|v| v.rule), Some("UAL-UPL-06"));
        assert_eq!(check.arrived(&a), None);
    }
    // One that was never sent.
    assert_eq!(OrderCheck::new(Ordering::Strict).arrived(&read(1, 0, 1)).map(|v| v.rule), Some("UAL-UPL-09"));
}

/// The completer takes no request any more; responses of those it has go on.
#[test]
fn ual_upl_08_p() {
    let mut rig = Rig::ports(1);
    rig.answering = false;
    (0..64).for_each(|n| rig.submit(0, &read(n, 256 * u64::from(n), 1)));
    rig.run(60);
    assert_eq!(rig.originator.waiting(0), 64 - 16, "the queue is full");
    for _ in 0..4 {
        let (port, request) = rig.completer.take().expect("a request");
        rig.completer.answer(port, &answers(&request, false)[0]).expect("a response");
    }
    rig.run(20);
    rig.assert_clean();
    assert_eq!(rig.got.len(), 4);
}

/// An originator that takes no response before its requests are out.
#[test]
fn ual_upl_08_n() {
    let credits = [UpliCreditCounts { pool: 16, vc: [0; 4] }; 4];
    let mut rig = Rig::new(UpliConfig { watchdog_cycles: 300, credits, ..UpliConfig::default() });
    rig.taking = false;
    (0..40).for_each(|n| rig.submit(0, &read(n, 256 * u64::from(n), 1)));
    rig.run(400);
    assert_eq!(ids(&rig.found), ["UAL-UPL-08", "UAL-UPL-14"]);
    assert!(rig.found.iter().any(|v| v.rule == "UAL-UPL-08" && v.found.contains("no credit")));
}
