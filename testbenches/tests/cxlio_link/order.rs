//! The simple path on every link, and the order of posted, non-posted and completion TLPs.

use super::rig::*;
use scalepool::link::cxlio::order::judge;
use scalepool::link::cxlio::queue::Queues;
use scalepool_protocols::cxl::cxlio::code::FmType;
use scalepool_protocols::cxl::cxlio::order::TlpOrderKind;

#[test]
fn tlps_of_every_kind_go_through() {
    for mut link in links() {
        let form = link.form();
        link.bring_up();
        for dir in Dir::ALL {
            let sent = [
                write(form, 1, 0x1000, &pattern(1, 64)),
                read(form, 2, 0x1000, 64),
                completion(form, 3, &pattern(3, 300)),
                write(form, 4, 0x2000, &pattern(4, 4)),
            ];
            sent.iter().for_each(|tlp| link.push(dir, tlp.clone()));
            assert_eq!(link.collect(dir, 200), sent);
        }
        link.rest();
        link.assert_no_events();
        for dir in Dir::ALL {
            assert!(link.end(dir).flow().is_home());
        }
    }
}

/// A link whose receiver at the far end of `Down` has room for one TLP of a kind.
fn with_room_for_one(kind: IoCreditClass) -> Vec<Box<dyn Link>> {
    with_room_for(kind, IoOrder::STRICT)
}

/// The same with a policy of both ends.
fn with_room_for(kind: IoCreditClass, order: IoOrder) -> Vec<Box<dyn Link>> {
    let mut narrow = config();
    narrow.buffers[kind.index()] = Buffers { headers: Advertised::x1(1), data: Advertised::x1(64) };
    links_of([IoConfig { order, ..config() }, IoConfig { order, ..narrow }])
}

#[test]
fn posted_and_completions_pass_requests_that_cannot_move() {
    for mut link in with_room_for_one(IoCreditClass::NonPosted) {
        let form = link.form();
        link.bring_up();
        let [first, second] = [1, 2].map(|tag| read(form, tag, 0, 4));
        let [posted, answer] = [write(form, 3, 0, &[3; 4]), completion(form, 4, &[4; 4])];
        [&first, &second, &posted, &answer].into_iter().for_each(|tlp| link.push(Dir::Down, tlp.clone()));
        link.steps(100);
        // The second read waits for the first to be taken; the others have overtaken it.
        let far = link.end(Dir::Up);
        assert_eq!(far.stats().received, [1, 1, 1]);
        assert_eq!(far.pop_if(&|kind| kind != IoCreditClass::NonPosted), Some(posted));
        assert_eq!(far.pop_if(&|kind| kind != IoCreditClass::NonPosted), Some(answer));
        assert_eq!(far.pop_if(&|kind| kind != IoCreditClass::NonPosted), None);
        assert_eq!(far.pop(), Some(first));
        assert_eq!(link.collect(Dir::Down, 100), [second]);
    }
}

#[test]
fn nothing_but_relaxed_completions_passes_posted_ones() {
    for mut link in with_room_for(IoCreditClass::Posted, IoOrder::RELAXED) {
        let form = link.form();
        link.bring_up();
        let [first, second] = [1, 2].map(|tag| write(form, tag, 0, &[tag as u8; 4]));
        let (request, answer) = (read(form, 3, 0, 4), completion(form, 4, &[4; 4]));
        let relaxed = {
            let mut bytes = completion(form, 5, &[5; 4]).into_bytes();
            let at = answer.front().len() + 2;
            bytes[at] |= if form == IoTlpForm::NonFlit { 0x20 } else { 0x08 };
            IoTlp::new(form, bytes).expect("an attribute changes no length")
        };
        assert!(relaxed.is_relaxed() && !answer.is_relaxed());
        // Behind the second write: read and answer wait with it.
        let sent = [&first, &second, &request, &answer];
        sent.into_iter().for_each(|tlp| link.push(Dir::Down, tlp.clone()));
        link.steps(100);
        assert_eq!(link.end(Dir::Up).stats().received, [1, 0, 0]);
        assert_eq!(link.collect(Dir::Down, 100), sent.map(IoTlp::clone));
        let sent = [&first, &second, &relaxed];
        sent.into_iter().for_each(|tlp| link.push(Dir::Down, tlp.clone()));
        link.steps(100);
        assert_eq!(link.end(Dir::Up).pop_if(&|kind| kind == IoCreditClass::Completion), Some(relaxed.clone()));
        assert_eq!(link.collect(Dir::Down, 100), [first, second]);
    }
}

#[test]
fn a_full_queue_gives_the_tlp_back() {
    for mut link in links_of([IoConfig { queue_tlps: [2; 3], ..config() }, config()]) {
        let form = link.form();
        // Before the link is up nothing leaves.
        (0..2).for_each(|n| link.push(Dir::Down, write(form, n, 0, &[1; 4])));
        let third = write(form, 2, 0, &[2; 4]);
        let refused = link.end(Dir::Down).push(third.clone()).expect_err("it is full");
        assert_eq!(refused, IoRefused { tlp: third, why: Why::Full });
        assert_eq!(link.end(Dir::Down).room(IoCreditClass::Posted), IoCreditRoom { headers: Some(0), data: Some(0) });
        // Another kind has its own places.
        link.push(Dir::Down, read(form, 3, 0, 4));
        link.bring_up();
        assert_eq!(link.collect(Dir::Down, 100).len(), 3);
    }
}

#[test]
fn a_link_reset_begins_again() {
    let mut link = Units::plain();
    link.bring_up();
    link.push(Dir::Down, write(IoTlpForm::NonFlit, 1, 0, &[1; 64]));
    link.steps(3);
    for dir in Dir::ALL {
        link.io(dir).link_reset();
        assert!(!link.io(dir).is_up());
    }
    link.steps(LATENCY_FLITS);
    for dir in Dir::ALL {
        while link.io(dir).pop().is_some() {}
        link.io(dir).link_reset();
    }
    link.bring_up();
    let again = write(IoTlpForm::NonFlit, 2, 0, &[2; 64]);
    link.push(Dir::Down, again.clone());
    assert_eq!(link.collect(Dir::Down, 100), [again]);
    link.rest();
}

// ---- the table of the sheet ----------------------------------------------------------------------------------------

const KINDS: [TlpOrderKind; 4] = TlpOrderKind::ALL;

/// The cells of the sheet for a row, as it spells them: N no, y may, M must be able.
const ROWS: [(TlpOrderKind, &str); 4] = [
    (TlpOrderKind::Posted, "NMMy"),
    (TlpOrderKind::Read, "Nyyy"),
    (TlpOrderKind::NonPostedData, "Nyyy"),
    (TlpOrderKind::Completion, "NMMy"),
];

/// A TLP of a row, of its own requester and completer, with attributes: bit 1 RO, bit 2 IDO.
fn of_kind(form: IoTlpForm, kind: TlpOrderKind, tag: u16, attr: u8) -> IoTlp {
    let (requester, completer) = (0x100 + tag, 0x300 + tag);
    let set = |mut tlp: Vec<u8>, front: usize| {
        let [request, answer] = [requester, completer].map(u16::to_be_bytes);
        if kind == TlpOrderKind::Completion {
            tlp[front + 4..front + 6].copy_from_slice(&answer);
            tlp[front + 8..front + 10].copy_from_slice(&request);
        } else {
            tlp[front + 4..front + 6].copy_from_slice(&request);
        }
        match form {
            IoTlpForm::NonFlit => {
                tlp[front + 2] |= (attr & 3) << 4;
                tlp[front + 1] |= attr & 4;
            }
            IoTlpForm::Flit { .. } => tlp[front + 2] |= attr << 2,
        }
        IoTlp::new(form, tlp).expect("attributes and identifiers change no length")
    };
    let plain = match kind {
        TlpOrderKind::Posted => write(form, tag, 0x1000, &pattern(tag as u8, 8)),
        TlpOrderKind::Read => read(form, tag, 0x1000, 8),
        TlpOrderKind::NonPostedData => config_write(form, tag),
        TlpOrderKind::Completion => completion(form, tag, &pattern(tag as u8, 8)),
    };
    let front = plain.front().len();
    set(plain.into_bytes(), front)
}

/// Whether the second of two TLPs leaves while there is no room for the first one, and what the judge says of that.
fn second_leaves(order: IoOrder, [first, second]: [&IoTlp; 2]) -> (bool, Option<&'static str>) {
    let mut waiting = Queues::new(order);
    waiting.push(first.clone());
    waiting.push(second.clone());
    let fits = |tlp: &IoTlp| tlp != first;
    let chosen = waiting.next(fits);
    assert_ne!(chosen, Some(0), "it has no room");
    (chosen.is_some(), judge(&order, &waiting, chosen, fits).map(|violation| violation.rule))
}

/// Every policy as the sheet has it, of a row: each cell, without attributes and with RO, IDO and both, between others and between
/// TLPs of one requester.
fn row(kind: TlpOrderKind) {
    let (_, cells) = ROWS[kind as usize];
    for form in FORMS {
        for (earlier, cell) in KINDS.into_iter().zip(cells.chars()) {
            for attr in [0, 2, 4, 6] {
                let [first, second] = [of_kind(form, earlier, 1, 0), of_kind(form, kind, 2, attr)];
                let (is_relaxed, is_by_id) = (attr & 2 != 0, attr & 4 != 0);
                let has_leave = match kind {
                    TlpOrderKind::Read => is_by_id,
                    _ => is_relaxed || is_by_id,
                };
                let may = cell != 'N' || has_leave;
                let what = format!("{form:?} {kind:?} behind {earlier:?}, attributes {attr}");
                assert_eq!(second_leaves(IoOrder::RELAXED, [&first, &second]), (may, None), "{what}");
                assert_eq!(second_leaves(IoOrder::STRICT, [&first, &second]), (cell == 'M', None), "{what}");
            }
        }
        // Of one requester, and a completion of the posted requester, IDO gives no leave.
        let mut bytes = of_kind(form, kind, 2, 4).into_bytes();
        let at = of_kind(form, kind, 2, 4).front().len() + 4;
        bytes[at..at + 2].copy_from_slice(&0x101_u16.to_be_bytes());
        let second = IoTlp::new(form, bytes).expect("a whole TLP");
        let first = of_kind(form, TlpOrderKind::Posted, 1, 0);
        assert_eq!(second_leaves(IoOrder::RELAXED, [&first, &second]), (false, None), "{form:?} {kind:?}");
    }
}

/// Whatever has room leaves, a completion in front of a posted request too.
const WRONG: IoOrder = IoOrder { name: "wrong", is_strict: false, passes: |_, _| true };
/// Nothing passes anything.
const FIFO: IoOrder = IoOrder { name: "fifo", is_strict: true, passes: |_, _| false };

/// A wrong policy is found where it lets a TLP of a row pass a posted request, on links too.
fn broken_row(kind: TlpOrderKind, rule: &'static str) {
    for form in FORMS {
        let [first, second] = [of_kind(form, TlpOrderKind::Posted, 1, 0), of_kind(form, kind, 2, 0)];
        assert_eq!(second_leaves(WRONG, [&first, &second]), (true, Some(rule)), "{form:?}");
    }
    if kind == TlpOrderKind::Posted {
        // Both need the same room there.
        return;
    }
    for mut link in with_room_for(IoCreditClass::Posted, WRONG) {
        let form = link.form();
        link.bring_up();
        (1..3).for_each(|tag| link.push(Dir::Down, of_kind(form, TlpOrderKind::Posted, tag, 0)));
        link.push(Dir::Down, of_kind(form, kind, 3, 0));
        link.steps(100);
        assert_eq!(rules(&link.events(Dir::Down)), [rule], "{form:?}");
    }
}

#[test]
fn fab_ord_09_p() {
    row(TlpOrderKind::Posted);
}

/// Posted requests stay in order, and do not wait for requests without room.
#[test]
fn fab_ord_09_n() {
    broken_row(TlpOrderKind::Posted, "FAB-ORD-09");
    for mut link in with_room_for(IoCreditClass::NonPosted, FIFO) {
        let form = link.form();
        link.bring_up();
        (1..3).for_each(|tag| link.push(Dir::Down, of_kind(form, TlpOrderKind::Read, tag, 0)));
        link.push(Dir::Down, of_kind(form, TlpOrderKind::Posted, 3, 0));
        link.steps(100);
        assert_eq!(rules(&link.events(Dir::Down)), ["FAB-ORD-09"], "named once");
    }
}

#[test]
fn fab_ord_10_p() {
    row(TlpOrderKind::Read);
}

/// Relaxed ordering does not help a read.
#[test]
fn fab_ord_10_n() {
    broken_row(TlpOrderKind::Read, "FAB-ORD-10");
    let form = IoTlpForm::NonFlit;
    let [first, second] = [of_kind(form, TlpOrderKind::Posted, 1, 0), of_kind(form, TlpOrderKind::Read, 2, 2)];
    assert_eq!(second_leaves(WRONG, [&first, &second]), (true, Some("FAB-ORD-10")));
}

#[test]
fn fab_ord_11_p() {
    row(TlpOrderKind::NonPostedData);
}

#[test]
fn fab_ord_11_n() {
    broken_row(TlpOrderKind::NonPostedData, "FAB-ORD-11");
}

/// The completion of a configuration write, which has no data, passes posted requests always; two completions of one transaction stay in order.
#[test]
fn fab_ord_12_p() {
    row(TlpOrderKind::Completion);
    for form in FORMS {
        let first = of_kind(form, TlpOrderKind::Posted, 1, 0);
        assert_eq!(second_leaves(IoOrder::RELAXED, [&first, &bare_completion(form, 2)]), (true, None), "{form:?}");
        let [one, two] = [0, 6].map(|attr| of_kind(form, TlpOrderKind::Completion, 2, attr));
        assert_eq!(second_leaves(IoOrder::RELAXED, [&one, &two]), (false, None), "{form:?}: of one transaction");
    }
}

#[test]
fn fab_ord_12_n() {
    broken_row(TlpOrderKind::Completion, "FAB-ORD-12");
    for form in FORMS {
        let mut waiting = Queues::new(WRONG);
        (0..2).for_each(|_| waiting.push(of_kind(form, TlpOrderKind::Completion, 2, 6)));
        let found = judge(&WRONG, &waiting, Some(1), |_| true).map(|violation| violation.rule);
        assert_eq!(found, Some("FAB-ORD-12"), "{form:?}: of one transaction");
    }
}

/// A write that waits for room is passed by one of another traffic class, and by unordered I/O, with policy relaxed.
#[test]
fn fab_ord_01_p() {
    for form in FORMS {
        let first = of_kind(form, TlpOrderKind::Posted, 1, 0);
        for kind in KINDS {
            let second = with_class(of_kind(form, kind, 2, 0), 5);
            assert_eq!(second_leaves(IoOrder::RELAXED, [&first, &second]), (true, None), "{form:?} {kind:?}");
        }
    }
    let form = IoTlpForm::Flit { pbr: false };
    let unordered = of_code(of_kind(form, TlpOrderKind::Posted, 2, 0), FmType::UIOMWr);
    assert_eq!(second_leaves(IoOrder::RELAXED, [&of_kind(form, TlpOrderKind::Posted, 1, 0), &unordered]), (true, None));
}

/// Who relies on an order between traffic classes is wrong: what was sent last comes first. Within a class such an order is broken.
#[test]
fn fab_ord_01_n() {
    for (class, expected, found) in [(5, [3, 2], None), (0, [3, 2], Some("FAB-ORD-12"))] {
        for form in FORMS {
            let second = with_class(of_kind(form, TlpOrderKind::Completion, 3, 0), class);
            let order = if class == 0 { WRONG } else { IoOrder::RELAXED };
            let mut waiting = Queues::new(order);
            [of_kind(form, TlpOrderKind::Posted, 2, 0), second].into_iter().for_each(|tlp| waiting.push(tlp));
            let has_room = |tlp: &IoTlp| tlp.kind() != IoCreditClass::Posted;
            let chosen = waiting.next(has_room);
            let broken = judge(&order, &waiting, chosen, has_room).map(|violation| violation.rule);
            let left = [waiting.pop(has_room), waiting.pop(|_| true)];
            let left = left.map(|tlp| tlp.expect("both leave").order().tag);
            assert_eq!((left, broken), (expected, found), "{form:?} class {class}");
        }
    }
}

/// With a strict policy reads stay behind a completion without room, with a relaxed one they pass it; a completion passes reads with both.
#[test]
fn fab_ord_02_p() {
    for (order, passed) in [(IoOrder::STRICT, 0), (IoOrder::RELAXED, 1)] {
        for mut link in with_room_for(IoCreditClass::Completion, order) {
            let form = link.form();
            link.bring_up();
            (1..3).for_each(|tag| link.push(Dir::Down, of_kind(form, TlpOrderKind::Completion, tag, 0)));
            link.push(Dir::Down, of_kind(form, TlpOrderKind::Read, 3, 0));
            link.steps(100);
            assert_eq!(link.end(Dir::Up).stats().received, [0, passed, 1], "{form:?} {}", order.name);
            assert_eq!(link.end(Dir::Down).stats().passed, passed);
            assert_eq!(link.collect(Dir::Down, 200).len(), 3, "nothing is lost");
            link.assert_no_events();
        }
    }
}

/// A policy that is called strict and passes what it only may is found.
#[test]
fn fab_ord_02_n() {
    let order = IoOrder { is_strict: true, ..IoOrder::RELAXED };
    for mut link in with_room_for(IoCreditClass::Completion, order) {
        let form = link.form();
        link.bring_up();
        (1..3).for_each(|tag| link.push(Dir::Down, of_kind(form, TlpOrderKind::Completion, tag, 0)));
        link.push(Dir::Down, of_kind(form, TlpOrderKind::Read, 3, 0));
        link.steps(100);
        assert_eq!(rules(&link.events(Dir::Down)), ["FAB-ORD-02"], "{form:?}");
    }
}

/// Reads without room at both ends, and the completions that the reads in front of them wait for: with both policies all end.
#[test]
fn fab_ord_03_p() {
    for order in [IoOrder::STRICT, IoOrder::RELAXED] {
        for mut link in with_room_for(IoCreditClass::NonPosted, order) {
            let form = link.form();
            link.bring_up();
            (1..3).for_each(|tag| link.push(Dir::Down, of_kind(form, TlpOrderKind::Read, tag, 0)));
            link.push(Dir::Down, of_kind(form, TlpOrderKind::Completion, 3, 0));
            link.steps(100);
            // The peer takes no request before it has its completion.
            let far = link.end(Dir::Up);
            let answer = far.pop_if(&|kind| kind != IoCreditClass::NonPosted);
            assert_eq!(answer.map(|tlp| tlp.order().tag), Some(3), "{form:?} {}", order.name);
            assert_eq!(link.collect(Dir::Down, 200).len(), 2);
            link.assert_no_events();
        }
    }
}

/// A table that forbids it: the peer waits for its completion, which waits for a request that the peer does not take, for good.
#[test]
fn fab_ord_03_n() {
    for mut link in with_room_for(IoCreditClass::NonPosted, FIFO) {
        let form = link.form();
        link.bring_up();
        (1..3).for_each(|tag| link.push(Dir::Down, of_kind(form, TlpOrderKind::Read, tag, 0)));
        link.push(Dir::Down, of_kind(form, TlpOrderKind::Completion, 3, 0));
        link.steps(10_000);
        assert_eq!(link.end(Dir::Up).pop_if(&|kind| kind != IoCreditClass::NonPosted), None, "{form:?}");
        assert!(rules(&link.events(Dir::Down)).contains(&"FAB-ORD-03"), "{form:?}");
    }
}

const FORMS: [IoTlpForm; 3] = [IoTlpForm::NonFlit, IoTlpForm::Flit { pbr: false }, IoTlpForm::Flit { pbr: true }];

/// A configuration write of one DW.
fn config_write(form: IoTlpForm, tag: u16) -> IoTlp {
    let plain = write(form, tag, 0x1000, &[1; 4]);
    let at = plain.front().len();
    let mut bytes = plain.into_bytes();
    match form {
        IoTlpForm::NonFlit => bytes[at] = 0x44,
        IoTlpForm::Flit { .. } => {
            // With OHC-A3, which its byte enables are in.
            (bytes[at], bytes[at + 1]) = (FmType::CfgWr0.0, bytes[at + 1] | 1);
            bytes.splice(at + 12..at + 12, [0, 0, 0, 0x0f]);
        }
    }
    IoTlp::new(form, bytes).expect("a whole TLP")
}

/// A successful completion without data.
fn bare_completion(form: IoTlpForm, tag: u16) -> IoTlp {
    let plain = completion(form, tag, &[0; 4]);
    let (at, header) = (plain.front().len(), plain.header().len());
    let mut bytes = plain.into_bytes();
    bytes.truncate(at + header);
    match form {
        IoTlpForm::NonFlit => bytes[at] = 0x0a,
        IoTlpForm::Flit { .. } => bytes[at] = FmType::Cpl.0,
    }
    (bytes[at + 2], bytes[at + 3]) = (bytes[at + 2] & !3, 0);
    IoTlp::new(form, bytes).expect("a whole TLP")
}

/// The same TLP in another traffic class.
fn with_class(tlp: IoTlp, class: u8) -> IoTlp {
    let (form, at) = (tlp.form(), tlp.front().len());
    let mut bytes = tlp.into_bytes();
    bytes[at + 1] |= match form {
        IoTlpForm::NonFlit => class << 4,
        IoTlpForm::Flit { .. } => class << 5,
    };
    IoTlp::new(form, bytes).expect("a traffic class changes no length")
}

/// The same 32-bit write as a write of unordered I/O, which has 64 bits of address.
fn of_code(tlp: IoTlp, code: FmType) -> IoTlp {
    let (form, at) = (tlp.form(), tlp.front().len());
    let mut bytes = tlp.into_bytes();
    bytes[at] = code.0;
    bytes.splice(at + 8..at + 8, [0; 4]);
    IoTlp::new(form, bytes).expect("a whole TLP")
}
