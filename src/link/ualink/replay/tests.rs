//! Two replay machines over a line that spoils flits.

use super::{Head, Replay, ReplayConfig, Says, UalFlitOutcome, UalReceived};
use scalepool_kernel::Rng;
use std::collections::VecDeque;

const DELAY_FLITS: usize = 20;

/// A flit: what its header says, and its payload.
type Flit = (Head, Option<u64>);

/// One end with what it has to send and has received.
struct End {
    replay: Replay<u64>,
    next: u64,
    last: u64,
    got: u64,
    line: VecDeque<Option<Flit>>,
}

impl End {
    fn new(config: ReplayConfig, last: u64) -> End {
        End { replay: Replay::new(config), next: 0, last, got: 0, line: VecDeque::new() }
    }

    fn send(&mut self) -> Flit {
        let (next, last) = (&mut self.next, self.last);
        let sent = self.replay.transmit(|| {
            (*next < last).then(|| {
                *next += 1;
                *next - 1
            })
        });
        (sent.head, sent.payload.copied())
    }

    fn take(&mut self, sent: Option<Flit>) -> UalReceived {
        let received = self.replay.receive(sent.map(|(head, _)| head));
        if received.taken == UalFlitOutcome::Payload {
            let payload = sent.and_then(|(_, payload)| payload).expect("a payload flit carries payload");
            assert_eq!(payload, self.got, "in order, each once");
            self.got += 1;
        }
        received
    }
}

/// Runs until both have everything; `spoil` says which flits arrive bad.
fn run(config: ReplayConfig, each: u64, mut spoil: impl FnMut(u64, bool) -> bool) -> [End; 2] {
    let mut ends = [End::new(config, each), End::new(config, each)];
    for now in 0.. {
        assert!(now < each * 40 + 100_000, "it hangs");
        let sent = ends.each_mut().map(End::send);
        let [a, b] = &mut ends;
        for (n, (to, flit)) in [b, a].into_iter().zip(sent).enumerate() {
            to.line.push_back((!spoil(now, n == 1)).then_some(flit));
            if to.line.len() > DELAY_FLITS {
                let arrives = to.line.pop_front().flatten();
                to.take(arrives);
            }
        }
        if ends.iter().all(|e| e.got == each && e.replay.is_quiet()) {
            break;
        }
    }
    ends
}

#[test]
fn from_reset_with_nothing_to_send() {
    let mut replay = Replay::<()>::new(ReplayConfig::default());
    let kinds: Vec<bool> = (0..21).map(|_| matches!(replay.transmit(|| None).head.says, Says::Number { .. })).collect();
    let expected: Vec<bool> = (0..21).map(|n| n % 7 == 6).collect();
    assert_eq!(kinds, expected, "six Acks, then a number in full");
    let mut replay = Replay::<()>::new(ReplayConfig::default());
    let first = replay.transmit(|| None).head;
    assert_eq!(
        first,
        Head { payload: false, says: Says::Ack { number: 511, own_low: 7 } },
        "the flit of the CRC anchor"
    );
}

#[test]
fn one_bad_flit_is_one_replay() {
    for at in 25..35 {
        let [a, b] = run(ReplayConfig::default(), 200, |now, up| now == at && !up);
        assert_eq!((a.replay.stats().replays, b.replay.stats().requests), (1, 3), "flit {at}");
    }
}

#[test]
fn seven_bad_flits_are_ambiguous_and_six_are_not() {
    for (bad, ambiguous) in [(6, false), (7, true), (8, true)] {
        let mut seen = false;
        let mut ends = [End::new(ReplayConfig::default(), 100), End::new(ReplayConfig::default(), 0)];
        for now in 0..100 {
            let flit = ends[0].send();
            ends[1].take((!(10..10 + bad).contains(&now)).then_some(flit));
            seen |= ends[1].replay.is_ambiguous();
            let back = ends[1].send();
            ends[0].take(Some(back));
        }
        assert_eq!(seen, ambiguous, "{bad}");
        assert!(ends[1].got > 50, "it went on");
    }
}

#[test]
fn bursts_and_single_errors_lose_nothing() {
    for (seed, one_in) in [(1, 10), (2, 30), (3, 300), (4, 5)] {
        let mut rng = Rng::for_name(seed, "line");
        let mut burst = [0u32; 2];
        let ends = run(ReplayConfig::default(), 3000, |_, up| {
            let burst = &mut burst[usize::from(up)];
            if *burst == 0 && rng.below(one_in) == 0 {
                *burst = 1 + rng.below(9) as u32;
            }
            *burst = burst.saturating_sub(1);
            *burst > 0
        });
        assert!(ends.iter().all(|e| e.replay.stats().replays > 0));
    }
}

#[test]
fn without_acks_the_buffer_fills_and_the_watchdog_expires() {
    let config = ReplayConfig { watchdog_flits: 1000, ..ReplayConfig::default() };
    let mut end = End::new(config, 10_000);
    for now in 0..1000 {
        assert!(!end.replay.has_expired(), "{now}");
        end.send();
    }
    assert!(end.replay.has_expired());
    assert_eq!((end.next, end.replay.unacknowledged()), (255, 255));
}

#[test]
fn numbers_outside_the_windows_are_not_believed() {
    let rule = |replay: &mut Replay<u64>, says| {
        let received = replay.receive(Some(Head { payload: false, says }));
        received.found.map(|(_, v)| v.rule)
    };
    for kept in [0u16, 1, 100, 255] {
        for number in 1..=511 {
            let mut end = End::new(ReplayConfig::default(), kept.into());
            for _ in 0..kept {
                end.send();
            }
            let ack = rule(&mut end.replay, Says::Ack { number, own_low: 7 });
            let fits = number == 511 || number <= kept;
            assert_eq!(ack, (!fits).then_some("UAL-RXR-06"), "Ack {number} with {kept} kept");

            let mut end = End::new(ReplayConfig::default(), kept.into());
            for _ in 0..kept {
                end.send();
            }
            let request = rule(&mut end.replay, Says::Request { number, own_low: 7 });
            assert_eq!(request, (number > kept).then_some("UAL-RXR-04"), "request {number} with {kept} kept");
            assert_eq!(end.replay.unacknowledged(), usize::from(kept), "a request acknowledges nothing");
        }
    }
    let literal = ReplayConfig { literal_1_0: true, ..ReplayConfig::default() };
    let mut replay = Replay::<u64>::new(literal);
    assert_eq!(rule(&mut replay, Says::Ack { number: 255, own_low: 7 }), None, "the printed window lets it pass");
}
