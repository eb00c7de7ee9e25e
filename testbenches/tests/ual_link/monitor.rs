//! The monitor beside an end: silent for our own ends whatever the line does, and every check of it fires.

use super::rig::*;
use super::twin::{ReplayFault, fh, head};
use super::wrong::WrongHeads;
use scalepool::link::event::Culprit;
use scalepool::link::hook::Direction;
use scalepool::link::ualink::replay::Head;
use scalepool::link::ualink::tl::transfer::destination;
use scalepool::link::ualink::tl::{Tl, TlClass, TlConfig, TlCreditCounts};
use scalepool::link::ualink::{Monitor, MonitorConfig};
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::ualink::control::{ControlField, Writer};
use scalepool_protocols::ualink::field::{TlFc, TlReq, TlRsp};
use scalepool_protocols::ualink::half::MessageHalf;
use scalepool_protocols::ualink::pack::with_data;
use std::collections::VecDeque;
use std::sync::Arc;

/// Flit times that a flit is under way.
const LATENCY_FLITS: usize = 12;

fn monitors() -> [Monitor; 2] {
    [Dir::Down, Dir::Up].map(|dir| Monitor::new(MonitorConfig::new(dir)))
}

/// A flit with another head.
fn with_head(sent: &DlFlit, head: &Head) -> OnLine {
    OnLine::Flit(Arc::new(flit(UalHeader::from_bits(fh(head)), &sent.payload())))
}

/// What leaves for a flit of an end; `again`: it is in a replay.
fn said(wrong: &mut Option<WrongHeads>, end: &UalEnd<Tl>, sent: OnLine, again: bool) -> OnLine {
    match (wrong, &sent) {
        (Some(wrong), OnLine::Flit(flit)) => {
            let says = head(flit.header().to_bits().expect("it fits"));
            with_head(flit, &wrong.says(end.replay(), says, again && says.payload))
        }
        _ => sent,
    }
}

/// What an end is shown for a flit that comes.
fn heard(wrong: &mut Option<WrongHeads>, end: &UalEnd<Tl>, arrives: OnLine) -> Vec<OnLine> {
    match (wrong, &arrives) {
        (Some(wrong), OnLine::Flit(came)) if came.crc() == came.expected_crc(&UalConfig::SHEET) => {
            let of = head(came.header().to_bits().expect("it fits"));
            let heads = wrong.hears(end.replay(), Some(of)).into_iter().flatten();
            let empty = |head: Head| OnLine::Flit(Arc::new(flit(UalHeader::from_bits(fh(&head)), &Payload::ZERO)));
            heads.map(|head| if head == of { with_head(came, &head) } else { empty(head) }).collect()
        }
        _ => vec![arrives],
    }
}

/// Writes of both ends and their answers, with a monitor beside each end; what the monitors say, and writes that were done.
/// `one_in`: flits of which one is hit on its way.
fn writes(seed: u64, one_in: u64, fault: Option<ReplayFault>, flits: u64) -> (Vec<(usize, Direction, LinkEvent)>, u64) {
    let mut rng = Rng::for_name(seed, "line");
    let buffers = TlCreditCounts::even([16, 64], [2, 8]);
    let tl = [TlConfig::accelerator(), TlConfig::switch_port()].map(|config| Tl::new(TlConfig { buffers, ..config }));
    let mut pair = tl.into_iter().zip(configs()).map(|(tl, config)| UalEnd::new(config, tl)).collect::<Vec<_>>();
    pair.iter_mut().for_each(|end| end.line_fault(None));
    let mut wrong = [(); 2].map(|()| fault.map(WrongHeads::new));
    let mut monitors = monitors();
    let mut lines = [(); 2].map(|()| VecDeque::new());
    let (mut found, mut done) = (Vec::new(), 0);
    for now in 0..flits {
        for n in 0..2 {
            let again = pair[n].replay().is_replaying();
            let sent = pair[n].transmit(now);
            let sent = said(&mut wrong[n], &pair[n], sent, again);
            monitors[n].sent(&sent);
            lines[n].push_back(if one_in > 0 && rng.ratio(1, one_in) { spoil(sent) } else { sent });
        }
        for n in 0..2 {
            if lines[1 - n].len() > LATENCY_FLITS
                && let Some(arrives) = lines[1 - n].pop_front()
            {
                monitors[n].received(&arrives);
                for flit in heard(&mut wrong[n], &pair[n], arrives) {
                    pair[n].receive(&flit, now);
                }
            }
            let (end, id) = (&mut pair[n].client, n as u16);
            if end.waiting(TlClass::Request) < 4 && rng.ratio(1, 2) {
                let (cmd, dst) = (ReqCmd::WriteFull, 1 - id);
                let req = TlReq { cmd, src: id, dst, address: 0x1000, len: 63, numbeats: 3, ..TlReq::default() };
                end.send(with_data(ControlField::Request(req), &[[7; 64]; 4], None)).expect("legal");
            }
            while let Some((request, held)) = end.take(TlClass::Request) {
                assert_eq!(destination(&request.field), id);
                end.release(&held.expect("it came over the link"));
                let rsp = TlRsp { dst: 1 - id, rdwr: RdWr::Write, ..TlRsp::default() };
                end.send(with_data(ControlField::Response(rsp), &[], None)).expect("legal");
            }
            while let Some((_, held)) = end.take(TlClass::Response) {
                held.into_iter().for_each(|held| end.release(&held));
                done += 1;
            }
            let events = monitors[n].take_events();
            found.extend(events.into_iter().map(|(way, event)| (n, way, event)));
        }
    }
    (found, done)
}

#[test]
fn our_own_ends_break_nothing_whatever_the_line_does() {
    for (seed, one_in) in [(1, 0), (2, 200), (3, 40), (4, 12)] {
        let (found, done) = writes(seed, one_in, None, 1500);
        // What the line spoils is seen by the watcher of the end that it comes to.
        let line = |way: Direction, e: &LinkEvent| e.culprit(way) == Culprit::Line && one_in > 0;
        let other = found.iter().find(|(_, way, e)| !line(*way, e));
        assert_eq!(other, None, "seed {seed}: {} of {}", found.len(), done);
        assert!(done > 50, "seed {seed}: {done} writes");
    }
}

/// A fault around an end that the watcher beside it sees, by the rule that is broken.
#[test]
fn faults_around_an_end_are_seen() {
    for (of, rule) in [
        (ReplayFault::NopNumbered, "UAL-SEQ-02"),
        (ReplayFault::ExplicitEveryEight, "UAL-TXS-02"),
        (ReplayFault::ReplayUnmarked, "UAL-TXS-04"),
        (ReplayFault::GapTaken, "UAL-RXR-06"),
    ] {
        let (found, _) = writes(5, 40, Some(of), 1000);
        let rules: Vec<_> =
            found.iter().filter(|(_, way, _)| *way == Direction::Tx).map(|f| f.2.violation.rule).collect();
        assert!(rules.contains(&rule), "{of:?}: {rules:?}");
    }
}

/// A monitor that is fed by hand.
struct Fed {
    monitor: Monitor,
    packers: [Packer; 2],
}

impl Fed {
    /// Beside an end that is up, and whose peer is.
    fn up() -> Fed {
        let mut fed = Fed { monitor: monitors()[0].clone(), packers: Default::default() };
        for _ in 0..2 {
            for _ in 0..6 {
                fed.nop(Direction::Tx, command(FlitOp::Ack, false, 511, 511));
            }
            fed.nop(Direction::Tx, explicit(FlitOp::Original, false, 511));
            fed.nop(Direction::Rx, explicit(FlitOp::Original, false, 511));
        }
        fed
    }

    fn flit(&mut self, way: Direction, flit: DlFlit) {
        let flit = OnLine::Flit(Arc::new(flit));
        match way {
            Direction::Rx => self.monitor.received(&flit),
            Direction::Tx => self.monitor.sent(&flit),
        };
    }

    fn nop(&mut self, way: Direction, header: UalHeader) {
        self.flit(way, flit(header, &Payload::ZERO));
    }

    /// The payload of TL flits that go in one flit.
    fn payload(&mut self, way: Direction, tl: Vec<TlFlit>) -> Payload {
        self.packers[usize::from(way == Direction::Tx)].pack(&mut Offers { words: Vec::new(), tl })
    }

    /// Payload with a number in full.
    fn number(&mut self, way: Direction, number: u16, tl: Vec<TlFlit>) {
        let payload = self.payload(way, tl);
        self.flit(way, flit(explicit(FlitOp::Original, true, number), &payload));
    }

    fn rules(&mut self) -> Vec<(Direction, &'static str)> {
        self.monitor.take_events().into_iter().map(|(way, event)| (way, event.violation.rule)).collect()
    }
}

/// What a hand-made story makes the monitor say of the end.
#[track_caller]
fn says(story: impl FnOnce(&mut Fed), expected: &[&'static str]) {
    let mut fed = Fed::up();
    assert_eq!(fed.rules(), []);
    story(&mut fed);
    let expected: Vec<_> = expected.iter().map(|rule| (Direction::Tx, *rule)).collect();
    // What the peer of the story breaks is said too, and is not asked for here.
    let of_end: Vec<_> = fed.rules().into_iter().filter(|(way, _)| *way == Direction::Tx).collect();
    assert_eq!(of_end, expected);
}

/// A TL flit whose lower half holds these fields.
fn fields(fields: &[ControlField]) -> TlFlit {
    let mut writer = Writer::default();
    fields.iter().for_each(|field| assert_eq!(writer.put(field), Ok(true)));
    let mut flit = TlFlit::default();
    flit.halves[0] = writer.half();
    flit
}

/// Message 0x01.
fn done() -> TlFlit {
    let mut flit = TlFlit::default();
    (flit.halves[0], flit.message[0]) = (MessageHalf::initial_credits_done(false).to_half(), true);
    flit
}

/// A message says of a number what the header says: all of it, or its low bits.
#[test]
fn numbers_are_told_as_on_the_wire() {
    let told = |header: UalHeader| {
        let mut fed = Fed::up();
        fed.number(Direction::Tx, 1, vec![]);
        let payload = fed.payload(Direction::Tx, vec![]);
        fed.flit(Direction::Tx, flit(header, &payload));
        let events = fed.monitor.take_events().into_iter().map(|(_, event)| event.violation);
        events.map(|violation| (violation.rule, violation.found, violation.expected)).collect::<Vec<_>>()
    };
    let row = |rule, found: &str, expected: &str| vec![(rule, found.to_owned(), expected.to_owned())];
    assert_eq!(told(command(FlitOp::Ack, true, 511, 12)), row("UAL-SEQ-01", "low bits 4", "low bits 2"));
    assert_eq!(told(command(FlitOp::Ack, false, 511, 12)), row("UAL-SEQ-02", "low bits 4", "low bits 1"));
    assert_eq!(told(explicit(FlitOp::Original, true, 12)), row("UAL-SEQ-01", "12", "2"));
    assert_eq!(told(explicit(FlitOp::Original, false, 12)), row("UAL-SEQ-02", "12", "1"));
}

#[test]
fn numbers_acks_and_requests() {
    let ack = |n| command(FlitOp::Ack, false, n, 511);
    let ask = |n| command(FlitOp::ReplayRequest, false, n, 511);
    says(
        |fed| {
            (1..=3).for_each(|n| fed.number(Direction::Rx, n, vec![]));
            [1, 3, 3].into_iter().for_each(|n| fed.nop(Direction::Tx, ack(n)));
        },
        &[],
    );
    says(|fed| fed.nop(Direction::Tx, ack(1)), &["UAL-RXR-06"]);
    says(|fed| fed.nop(Direction::Tx, ack(0)), &["UAL-RXR-03"]);
    says(
        |fed| {
            (1..=3).for_each(|n| fed.number(Direction::Rx, n, vec![]));
            [3, 2].into_iter().for_each(|n| fed.nop(Direction::Tx, ack(n)));
        },
        &["UAL-RXR-06"],
    );
    // Number 1 is missing.
    says(
        |fed| {
            fed.number(Direction::Rx, 2, vec![]);
            (0..3).for_each(|_| fed.nop(Direction::Tx, ask(1)));
        },
        &[],
    );
    says(|fed| fed.nop(Direction::Tx, ask(1)), &["UAL-RXR-08"]);
    says(
        |fed| {
            fed.number(Direction::Rx, 2, vec![]);
            fed.nop(Direction::Tx, ask(2));
        },
        &["UAL-TXS-05"],
    );
    says(|fed| (0..7).for_each(|_| fed.nop(Direction::Tx, ack(511))), &["UAL-TXS-02"]);
    says(|fed| fed.nop(Direction::Tx, explicit(FlitOp::Original, false, 0)), &["UAL-SEQ-01"]);
    says(|fed| fed.nop(Direction::Tx, explicit(FlitOp::Original, false, 1)), &["UAL-SEQ-02"]);
    says(|fed| [1, 2, 4].into_iter().for_each(|n| fed.number(Direction::Tx, n, vec![])), &["UAL-SEQ-01"]);
    says(|fed| (1..=255).for_each(|n| fed.number(Direction::Tx, n, vec![])), &[]);
    says(|fed| (1..=256).for_each(|n| fed.number(Direction::Tx, n, vec![])), &["UAL-SEQ-03"]);
}

#[test]
fn link_states() {
    let mut fed = Fed { monitor: monitors()[0].clone(), packers: Default::default() };
    fed.number(Direction::Tx, 1, vec![]);
    assert_eq!(fed.rules(), [(Direction::Tx, "UAL-LNK-06")]);
    let spoilt = |fed: &mut Fed| {
        let mut last = flit(explicit(FlitOp::Original, false, 511), &Payload::ZERO);
        last.poison(&UalConfig::SHEET);
        fed.flit(Direction::Tx, last);
    };
    says(
        |fed| {
            spoilt(fed);
            fed.monitor.sent(&OnLine::Idle);
            fed.nop(Direction::Tx, explicit(FlitOp::Original, false, 511));
        },
        &[],
    );
    says(
        |fed| {
            spoilt(fed);
            fed.nop(Direction::Tx, explicit(FlitOp::Original, false, 511));
        },
        &["UAL-CRC-04"],
    );
}

#[test]
fn replays() {
    let sent = |fed: &mut Fed| (1..=3u64).for_each(|n| fed.number(Direction::Tx, n as u16, vec![numbered(n)]));
    let asked = |fed: &mut Fed| fed.nop(Direction::Rx, command(FlitOp::ReplayRequest, false, 2, 511));
    let again = |fed: &mut Fed, op, payload: &[(u16, Payload)]| {
        payload.iter().for_each(|(n, payload)| fed.flit(Direction::Tx, flit(explicit(op, true, *n), payload)));
    };
    // The payload of the three flits.
    let mut packer = Packer::default();
    let all: Vec<(u16, Payload)> =
        (1..=3u64).map(|n| (n as u16, packer.pack(&mut Offers { words: Vec::new(), tl: vec![numbered(n)] }))).collect();
    let two_and_three = &all[1..];
    let start = |fed: &mut Fed| {
        // Content is judged elsewhere: these TL flits mean nothing.
        sent(fed);
        fed.rules();
    };
    says(
        |fed| {
            start(fed);
            asked(fed);
            again(fed, FlitOp::Replayed, two_and_three);
        },
        &[],
    );
    says(
        |fed| {
            start(fed);
            again(fed, FlitOp::Replayed, two_and_three);
        },
        &["UAL-RXR-04"],
    );
    says(
        |fed| {
            start(fed);
            asked(fed);
            again(fed, FlitOp::Original, &two_and_three[..1]);
        },
        &["UAL-TXS-04"],
    );
    says(
        |fed| {
            start(fed);
            asked(fed);
            again(fed, FlitOp::Replayed, &[(2, all[2].1)]);
        },
        &["UAL-TXS-06"],
    );
    says(
        |fed| {
            start(fed);
            asked(fed);
            fed.flit(Direction::Tx, flit(command(FlitOp::Ack, true, 511, 2), &all[1].1));
        },
        &["UAL-TXS-01"],
    );
    says(
        |fed| {
            start(fed);
            asked(fed);
            fed.nop(Direction::Tx, explicit(FlitOp::Original, false, 3));
            fed.number(Direction::Tx, 4, vec![]);
        },
        &["UAL-RXR-04"],
    );
}

#[test]
fn credits() {
    let fc = |req_cmd_cnt| ControlField::FlowControl(TlFc { req_cmd_cnt, ..TlFc::default() });
    let read =
        || ControlField::Request(TlReq { cmd: ReqCmd::Read, pool: true, attr: 0xff, len: 15, ..TlReq::default() });
    let response = || ControlField::Response(TlRsp { rdwr: RdWr::Write, pool: true, ..TlRsp::default() });
    let open = |fed: &mut Fed| {
        for way in [Direction::Tx, Direction::Rx] {
            fed.number(way, 1, vec![fields(&[fc(2)]), done()]);
        }
    };
    let reads = |n: usize| {
        move |fed: &mut Fed| {
            open(fed);
            (0..n).for_each(|k| fed.number(Direction::Tx, 2 + k as u16, vec![fields(&[read()])]));
        }
    };
    says(reads(2), &[]);
    says(reads(3), &["UAL-CRD-06"]);
    says(|fed| fed.number(Direction::Tx, 1, vec![fields(&[fc(2)]), fields(&[read()])]), &["UAL-CRD-05", "UAL-CRD-06"]);
    says(
        |fed| {
            open(fed);
            fed.number(Direction::Tx, 2, vec![fields(&[fc(1)])]);
        },
        &["UAL-CRD-01"],
    );
    says(
        |fed| {
            open(fed);
            fed.number(Direction::Rx, 2, vec![fields(&[read()])]);
            fed.number(Direction::Tx, 2, vec![fields(&[fc(1)])]);
        },
        &[],
    );
    says(|fed| fed.number(Direction::Tx, 1, vec![fields(&[fc(1), fc(1)])]), &["UAL-CRD-04"]);
    says(
        |fed| {
            open(fed);
            fed.number(Direction::Tx, 2, vec![done()]);
        },
        &["UAL-CRD-05"],
    );
    // Nobody has given credits for responses.
    says(
        |fed| {
            open(fed);
            fed.number(Direction::Tx, 2, vec![fields(&[response()])]);
        },
        &["UAL-CRD-06"],
    );
    // What the peer breaks is no fault of the end; the end notices it.
    let mut fed = Fed::up();
    fed.number(Direction::Rx, 1, vec![fields(&[read()])]);
    assert_eq!(fed.rules(), [(Direction::Rx, "UAL-CRD-05"), (Direction::Rx, "UAL-CRD-06")]);
}

/// Three Control halves with two requests each fill a catch buffer of four.
#[test]
fn catch_buffers() {
    let credits = ControlField::FlowControl(TlFc { req_cmd_cnt: 7, ..TlFc::default() });
    let read = ControlField::Request(TlReq { cmd: ReqCmd::Read, pool: true, attr: 0xff, len: 15, ..TlReq::default() });
    let story = |halves: usize| {
        move |fed: &mut Fed| {
            for way in [Direction::Tx, Direction::Rx] {
                fed.number(way, 1, vec![fields(&[credits]), fields(&[credits]), done()]);
            }
            (0..halves).for_each(|k| fed.number(Direction::Tx, 2 + k as u16, vec![fields(&[read, read])]));
        }
    };
    says(story(3), &[]);
    says(story(4), &["UAL-CRD-07"]);
}
