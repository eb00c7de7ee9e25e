//! Drop mode and isolation.

use super::rig::*;

fn statuses(rig: &Rig) -> Vec<(u16, u8)> {
    let mut all: Vec<_> = rig
        .got
        .iter()
        .map(|(_, t)| match &t.field {
            ControlField::Response(rsp) => (rsp.tag, rsp.status.0),
            _ => panic!("{t:?}"),
        })
        .collect();
    all.sort_unstable();
    all
}

/// The link goes down in traffic: ISOLATE, then a time-out for everything, on that port alone; afterwards it works again.
#[test]
fn ual_upl_14_p() {
    let mut rig = Rig::ports(2);
    rig.answering = false;
    for n in 0..6 {
        rig.submit(0, &if n % 2 == 0 { write(n, 256 * u64::from(n), 4) } else { read(n, 256 * u64::from(n), 3) });
    }
    rig.submit(1, &read(100, 0x8000, 1));
    rig.run(30);
    rig.completer.link_down(0);
    assert!(rig.completer.is_dropping(0) && !rig.completer.is_dropping(1));
    rig.answering = true;
    rig.run(30);
    assert!(rig.originator.is_isolated(0) && !rig.originator.is_isolated(1));
    assert_eq!(statuses(&rig), [(0, 8), (1, 8), (2, 8), (3, 8), (4, 8), (5, 8), (100, 0)]);
    // Dummies have the shape of real answers.
    let beats: usize = rig.got.iter().map(|(_, t)| t.data.len() / 2).sum();
    assert_eq!(beats, 3 * 3 + 1);
    // In isolation a request is answered without being sent.
    let sent = rig.request_cycles().len();
    rig.submit(0, &read(7, 0x700, 1));
    rig.run(10);
    assert_eq!((rig.request_cycles().len(), statuses(&rig)[6]), (sent, (7, 8)));
    rig.completer.link_up(0);
    rig.originator.leave_isolation(0);
    rig.monitor.leave_isolation(0);
    for n in 0..40 {
        rig.submit(0, &write(n, 256 * u64::from(n), 4));
    }
    rig.run(600);
    // Every credit has come back.
    rig.assert_quiet();
    assert_eq!(rig.got.len(), 8 + 40);
}

/// A request that is never answered: the watchdog of the originator and of the monitor.
#[test]
fn ual_upl_14_n() {
    let mut rig = Rig::new(UpliConfig { watchdog_cycles: 100, ..UpliConfig::default() });
    rig.answering = false;
    rig.submit(0, &read(3, 0x100, 2));
    rig.run(130);
    assert_eq!(ids(&rig.found), ["UAL-UPL-14"]);
    assert_eq!(statuses(&rig), [(3, 8)]);
    // One cycle before, nothing.
    let cycles = rig.request_cycles()[0] + 100;
    assert_eq!(rules(rig.config, &rig.cycles[..cycles]), Vec::<&str>::new());
    // A request of a port in isolation.
    let mut rig = Rig::ports(1);
    rig.submit(0, &read(3, 0x100, 2));
    rig.run(12);
    rig.completer.link_down(0);
    rig.run(10);
    rig.assert_clean();
    let (from, to) = (rig.request_cycles()[0], rig.cycles.len() - 1);
    let late = rig.replay(|cycles| cycles[to].originator.request = cycles[from].originator.request);
    assert_eq!(late, ["UAL-UPL-14"]);
}

/// A write response in the middle of a read's single beats: only what is missing is made up.
#[test]
fn what_is_missing_of_a_read_is_made_up() {
    let mut rig = Rig::ports(1);
    rig.answering = false;
    rig.submit(0, &read(3, 0x100, 4));
    rig.run(30);
    let (port, request) = rig.completer.take().expect("a request");
    let beats = answers(&request, true);
    rig.completer.answer(port, &beats[1]).expect("a response");
    rig.run(10);
    rig.originator.isolate(0);
    rig.run(1);
    let seen: Vec<_> = rig
        .got
        .iter()
        .map(|(_, t)| match &t.field {
            ControlField::Response(rsp) => (rsp.offset, rsp.last, rsp.status.0),
            _ => panic!("{t:?}"),
        })
        .collect();
    assert_eq!(seen, [(2, false, 0), (0, false, 8), (1, false, 8), (3, true, 8)]);
}

/// The same in the middle of a response of all beats: its first beats are dropped, their credits come back.
#[test]
fn a_response_that_is_cut_is_made_up_as_a_whole() {
    let mut rig = Rig::ports(1);
    rig.submit(0, &read(3, 0x100, 4));
    let begun = |rig: &Rig| rig.cycles.iter().filter(|c| c.completer.rd.word.valid).count();
    while begun(&rig) < 2 {
        rig.run(1);
    }
    rig.originator.isolate(0);
    rig.run(20);
    let [(0, Transfer { field: ControlField::Response(rsp), data, .. })] = &rig.got[..] else {
        panic!("{:?}", rig.got)
    };
    assert_eq!((rsp.status, rsp.len, rsp.last, data.len()), (Status::CompletionTimeout, 3, true, 8));
    rig.assert_quiet();
}

/// A bad control parity: all ports of the completer drop, all ports of the originator are told.
#[test]
fn a_bad_request_puts_all_ports_into_drop_mode() {
    let config = UpliConfig { ports: 2, ..UpliConfig::default() };
    let (mut originator, mut completer) =
        (Originator::new(config).expect("sound"), UpliCompleter::new(config).expect("sound"));
    originator.submit(0, &write(1, 0x100, 2)).expect("a request");
    let mut hit = false;
    for _ in 0..40 {
        let (mut up, down) = (originator.drive(), completer.drive());
        if up.request.word.valid {
            up.request.word.tag ^= 1;
            hit = true;
        }
        originator.sample(&down);
        completer.sample(&up);
    }
    assert!(hit && completer.is_dropping(0) && completer.is_dropping(1));
    assert!(originator.is_isolated(0) && originator.is_isolated(1));
    assert_eq!(ids(&completer.take_events()), ["UAL-UPL-13"]);
    assert_eq!(completer.take(), None);
    let (_, answer) = originator.take().expect("a dummy");
    assert!(matches!(answer.field, ControlField::Response(TlRsp { tag: 1, status: Status::CompletionTimeout, .. })));
}

/// A bad data parity poisons the beat, in both directions.
#[test]
fn a_bad_beat_is_poisoned() {
    let config = UpliConfig::default();
    let (mut originator, mut completer) =
        (Originator::new(config).expect("sound"), UpliCompleter::new(config).expect("sound"));
    originator.submit(0, &request(ReqCmd::AtomicR, 1, 0x100, 1)).expect("a request");
    let mut poisoned = Vec::new();
    for _ in 0..40 {
        let (mut up, mut down) = (originator.drive(), completer.drive());
        up.data.data[9] ^= 1;
        down.rd.data[60] ^= 0x80;
        originator.sample(&down);
        completer.sample(&up);
        if let Some((port, transfer)) = completer.take() {
            poisoned.push(transfer.poisoned);
            completer.answer(port, &answers(&transfer, false)[0]).expect("a response");
        }
        poisoned.extend(originator.take().map(|(_, transfer)| transfer.poisoned));
    }
    assert_eq!(poisoned, [1, 1]);
    assert_eq!(ids(&completer.take_events()), ["UAL-UPL-13"]);
    assert_eq!(ids(&originator.take_events()), ["UAL-UPL-13"]);
}
