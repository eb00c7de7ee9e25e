//! UAL-T01 to UAL-T13 of the catalogue, as far as the data link layer goes. A link of two ends, 10 flit times apart.

use super::rig::*;
use super::twin::{Link, Twin};
use std::cell::Cell;

#[test]
fn t01_bring_up() {
    let mut pair = pair_of(configs(), [50, 50]);
    let mut seen = [vec![State::Fault], vec![State::Fault]];
    let mut first_tl = [None; 2];
    let mut online = [None; 2];
    while !pair.is_quiet() {
        pair.step();
        for n in 0..2 {
            let (end, now) = (pair.ends()[n], pair.wires.now());
            if seen[n].last() != Some(&end.state()) {
                seen[n].push(end.state());
            }
            if end.stats().tl_sent > 0 {
                first_tl[n].get_or_insert(now);
            }
            if end.messages.channels().is_online(TL_CHANNEL) {
                online[n].get_or_insert(now);
            }
        }
        assert!(pair.wires.now() < 300);
    }
    // Idle is left within the flit time in which the fault goes.
    assert_eq!(seen, [(); 2].map(|()| vec![State::Fault, State::Nop, State::Up]));
    assert!(first_tl.iter().zip(&online).all(|(tl, on)| tl.zip(*on).is_some_and(|(tl, on)| tl >= on)));
    assert_all_came(&pair);
    assert_eq!(events(&mut pair), []);
}

/// Payload flits that carry 10, 10, 10, 10, 10, 9 starts.
#[test]
fn t02_saturated_stream() {
    let mut pair = pair_of(configs(), [100_000, 1000]);
    let (mut starts, mut most_carry) = (Vec::new(), 0);
    while !pair.is_quiet() {
        let before = pair.host.stats().tl_sent;
        pair.step();
        let end = &pair.host;
        starts.push(end.stats().tl_sent - before);
        most_carry = most_carry.max(end.carry());
        assert!(pair.wires.now() < 12_000);
    }
    assert_all_came(&pair);
    let begin = starts.iter().position(|&n| n == 10).expect("it begins");
    // What is left over shifts by 3 sectors a flit and is 0 again after 16 flits.
    let pattern: Vec<u64> = [10, 10, 10, 10, 10, 9, 10, 10, 10, 10, 9, 10, 10, 10, 10, 9].to_vec();
    let steady = &starts[begin + 16..begin + 16 + 160 * 16];
    assert_eq!(steady.iter().sum::<u64>(), 160 * 157, "9.8125 TL flits a DL flit");
    let rotated = (0..16).any(|r| (0..64).all(|n| steady[n] == pattern[(n + r) % 16]));
    assert!(rotated, "{:?}", &steady[..32]);
    assert_eq!((most_carry, events(&mut pair)), (15, vec![]));
}

#[test]
fn t03_single_crc_error() {
    for at in 100..110 {
        let mut pair = pair_of(configs(), [2000, 2000]);
        rest_with(&mut pair, 2000, &mut |from, now, flit| {
            Some(if from == 0 && now == at { spoil(flit) } else { flit })
        });
        assert_all_came(&pair);
        let [a, b] = pair.ends().map(|end| (*end.stats(), *end.replay().stats()));
        assert_eq!((b.0.bad_crc, b.1.requests, a.1.replays, b.1.replays), (1, 3, 1, 0), "flit {at}");
        let found = events(&mut pair);
        assert!(found.len() == 1 && found[0].violation.rule == "UAL-RXR-08", "{found:?}");
    }
}

#[test]
fn t04_error_burst() {
    for (length, ambiguous) in [(6, false), (7, true), (8, true)] {
        let mut pair = pair_of(configs(), [2000, 2000]);
        let mut seen = false;
        while !pair.is_quiet() {
            pair.step_with(&mut |from, now, flit| {
                Some(if from == 0 && (100..100 + length).contains(&now) { spoil(flit) } else { flit })
            });
            seen |= pair.device.replay().is_ambiguous();
            assert!(pair.wires.now() < 2000);
        }
        assert_eq!((seen, pair.device.stats().bad_crc), (ambiguous, length));
        assert_all_came(&pair);
    }
}

#[test]
fn t05_lost_requests() {
    for lost in 1..=3 {
        let mut pair = pair_of(configs(), [2000, 2000]);
        let left = Cell::new(lost);
        let asked = Cell::new(0);
        rest_with(&mut pair, 3000, &mut |from, now, flit| {
            let request = matches!(&flit, OnLine::Flit(f) if f.header().op() == FlitOp::ReplayRequest);
            asked.set(asked.get() + u32::from(from == 1 && request));
            let hit = from == 1 && request && left.get() > 0;
            left.set(left.get() - u32::from(hit));
            Some(if hit || from == 0 && now == 100 { spoil(flit) } else { flit })
        });
        assert_all_came(&pair);
        assert_eq!((asked.get() > 3, left.get()), (lost == 3, 0), "{lost} lost: {} requests", asked.get());
    }
}

#[test]
fn t06_lost_acks() {
    let replay = ReplayConfig { watchdog_flits: 600, ..ReplayConfig::default() };
    let mut pair = pair_of(configs_with(replay), [1_000_000, 0]);
    let mut line = |from: usize, now: u64, flit: OnLine| {
        let ack = matches!(&flit, OnLine::Flit(f) if f.header().op() == FlitOp::Ack);
        Some(if from == 1 && ack && (100..900).contains(&now) { spoil(flit) } else { flit })
    };
    let mut most = 0;
    while pair.host.state() != State::Idle || pair.wires.now() < 100 {
        pair.step_with(&mut line);
        most = most.max(pair.host.replay().unacknowledged());
        assert!(pair.wires.now() < 900, "the watchdog expires");
    }
    assert_eq!(most, 255, "the buffer is full, payload stops");
    while pair.wires.now() < 1500 {
        pair.step_with(&mut line);
    }
    assert!(pair.is_up(), "and both ends come up again: {:?}", states(&pair));
    assert_eq!(pair.ends().map(|end| end.stats().downs), [1, 1]);
    let rules: Vec<&str> =
        events(&mut pair).iter().filter(|e| e.severity == Severity::Retrain).map(|e| e.violation.rule).collect();
    assert_eq!(rules, ["UAL-TXS-07", "UAL-LNK-05"]);
}

/// The line is cut in traffic, with every limit as it is by default: both ends leave Up, say why, and tell their clients.
#[test]
fn t06_link_cut_at_default_limits() {
    assert_eq!(ReplayConfig::default().watchdog_flits, 40_000, "1 ms at x1");
    let mut pair = pair_of(configs(), [1_000_000, 1_000_000]);
    (0..200).for_each(|_| pair.step());
    assert!(pair.is_up());
    let cut_at = pair.wires.now();
    let mut left_at = [None; 2];
    while left_at.contains(&None) {
        pair.step_with(&mut |_, _, _| None);
        for (end, left_at) in pair.ends().into_iter().zip(&mut left_at) {
            if end.state() != State::Up {
                left_at.get_or_insert(pair.wires.now() - cut_at);
            }
        }
        assert!(pair.wires.now() < cut_at + 40_100, "the watchdogs expire: {:?}", states(&pair));
    }
    // What was on the line when it was cut still brings Acks.
    assert!(left_at.iter().flatten().all(|at| (40_000..40_060).contains(at)), "{left_at:?}");
    assert_eq!(states(&pair), [State::Idle; 2]);
    for end in pair.ends_mut() {
        assert_eq!((end.stats().downs, end.client.downs), (1, 1));
        let why: Vec<LinkEvent> = end.take_events().into_iter().filter(|e| e.severity == Severity::Retrain).collect();
        assert_eq!(why.iter().map(|e| e.violation.rule).collect::<Vec<_>>(), ["UAL-TXS-07"]);
    }
    // With the line whole again, both come up and go on.
    (0..300).for_each(|_| pair.step());
    assert!(pair.is_up(), "{:?}", states(&pair));
}

/// Errors while numbers 509 to 3 are on their way.
#[test]
fn t07_wrap_under_replay() {
    for bad in 505..520 {
        for length in [1, 3, 8] {
            let mut link = Link::new(ReplayConfig::default(), [700, 700]);
            assert!(link.run(2000, &mut |from, now, _| from == 0 && (bad..bad + length).contains(&now)));
            link.assert_clean();
            assert_eq!(link.ends[0].ours.stats().replays, 1);
        }
    }
}

#[test]
fn t08_window_edges() {
    // With so many outstanding: the numbers inside are used, those just outside are logged and nothing else happens.
    for (in_buffer, inside, outside) in [
        (0u16, vec![511], vec![1, 510]),
        (1, vec![511, 1], vec![2, 510]),
        (254, vec![511, 1, 254], vec![255, 510]),
        (255, vec![511, 1, 255], vec![256, 510]),
    ] {
        let is_logged = |op, number| {
            let mut twin = Twin::new(ReplayConfig::default(), in_buffer.into());
            twin.send(in_buffer.into());
            twin.hear(command(op, false, number, 511));
            assert_eq!(twin.differs, None);
            twin.logged.pop()
        };
        for number in inside {
            assert_eq!(is_logged(FlitOp::Ack, number), None);
            let acknowledged = number == 511;
            assert_eq!(is_logged(FlitOp::ReplayRequest, number), acknowledged.then_some("UAL-RXR-04"));
        }
        for number in outside {
            assert_eq!(is_logged(FlitOp::Ack, number), Some("UAL-RXR-06"));
            assert_eq!(is_logged(FlitOp::ReplayRequest, number), Some("UAL-RXR-04"));
        }
    }
}

#[test]
fn t09_error_in_replay() {
    // The first bad flit starts a replay; a second one, at each place of the replayed run, another.
    for second in 15..45 {
        let mut pair = pair_of(configs(), [3000, 3000]);
        rest_with(&mut pair, 3000, &mut |from, now, flit| {
            Some(if from == 0 && (now == 100 || now == 100 + second) { spoil(flit) } else { flit })
        });
        assert_all_came(&pair);
        let replays = pair.host.replay().stats().replays;
        assert!(replays >= 2 || second < 24, "{second} flits behind: {replays} replays");
    }
}

#[test]
fn t10_messages_in_traffic() {
    let mut pair = pair_of(configs(), [20_000, 20_000]);
    let mut rng = Rng::for_name(1, "errors");
    let mut got = [Vec::new(), Vec::new()];
    for end in pair.ends_mut() {
        (0..128).for_each(|n| end.messages.uart().send(0x1234_5600 + n));
        end.messages.ask_device_id();
        end.messages.ask_port_number();
    }
    pair.host.messages.change_rate(25_000).expect("an accelerator");
    let mut line = |_, _, flit| Some(if rng.below(60) == 0 { spoil(flit) } else { flit });
    while !(pair.is_quiet() && got.iter().all(|g| g.len() == 128)) {
        assert!(pair.wires.now() < 20_000);
        pair.step_with(&mut line);
        for (end, got) in pair.ends_mut().into_iter().zip(&mut got) {
            got.extend(std::iter::from_fn(|| end.messages.uart().take()));
        }
    }
    assert_all_came(&pair);
    let expected: Vec<u32> = (0..128).map(|n| 0x1234_5600 + n).collect();
    assert_eq!(got, [expected.clone(), expected]);
    let [a, b] = pair.ends();
    assert_eq!(a.messages.peer().device, Some((DeviceType::Switch, None)));
    assert_eq!(b.messages.peer().device, Some((DeviceType::Accelerator, Some(5))));
    assert_eq!((a.messages.peer().port, b.messages.peer().port), (Some(Some(7)), Some(Some(0))));
    assert_eq!((a.messages.rates_50khz()[0], b.messages.rates_50khz()[1]), (25_000, 25_000));
    assert!(events(&mut pair).iter().all(|e| e.severity == Severity::Corrected));
}

#[test]
fn t11_channel_off_and_on() {
    let mut pair = pair_of(configs(), [5_000, 5_000]);
    let online = |pair: &Pair<Numbers>| pair.ends().map(|end| end.messages.channels().is_online(TL_CHANNEL));
    (0..150).for_each(|_| pair.step());
    pair.host.messages.negotiate(TL_CHANNEL, false);
    (0..60).for_each(|_| pair.step());
    assert_eq!(online(&pair), [false; 2]);
    let taken = pair.ends().map(|end| end.client.taken);
    (0..100).for_each(|_| pair.step());
    assert_eq!(pair.ends().map(|end| end.client.taken), taken, "no delivery while it is off");
    pair.device.messages.negotiate(TL_CHANNEL, true);
    rest(&mut pair, 3000);
    assert_eq!(online(&pair), [true; 2]);
    let [a, b] = pair.ends();
    for (from, to) in [(a, b), (b, a)] {
        let (came, discarded) = (to.client.taken, to.stats().tl_discarded);
        assert_eq!(came + discarded, from.client.next, "what was on its way is discarded, the rest comes");
        assert!(to.client.wrong <= 1, "one gap at most, where the channel was off");
    }
    assert_eq!(a.client.due, 5_000);
    assert!(events(&mut pair).iter().all(|e| e.severity == Severity::Corrected));
}

#[test]
fn t12_rate_change() {
    let mut pair = pair_of(configs(), [40_000, 40_000]);
    (0..100).for_each(|_| pair.step());
    let mut per_flit = |rate: u16| {
        let asked = pair.wires.now();
        pair.host.messages.change_rate(rate).expect("an accelerator");
        while pair.host.messages.rates_50khz()[0] != rate || pair.device.messages.rates_50khz()[1] != rate {
            pair.step();
            assert!(pair.wires.now() < asked + 2 * MICROSECOND_FLITS, "each step is acknowledged in 1 us");
        }
        let before = pair.ends().map(|end| end.stats().tl_sent);
        (0..320).for_each(|_| pair.step());
        [0, 1].map(|n| (pair.ends()[n].stats().tl_sent - before[n]) as f64 / 320.0)
    };
    assert_eq!(per_flit(MIN_RATE), [1.0, 1.0], "156.25 MHz: a TL flit of 64 B a DL flit");
    assert_eq!(per_flit(15_625), [5.0, 5.0]);
    assert!(per_flit(NOMINAL_RATE).iter().all(|n| (n - 9.8125).abs() < 0.02));
    rest(&mut pair, 10_000);
    assert_all_came(&pair);
    assert_eq!(events(&mut pair), []);
}

#[test]
fn t13_link_fault() {
    // A fault at each moment of the way up, and in traffic; seen by one end, told to the other one.
    for at in (0..40).chain([100, 130]) {
        for first in 0..2 {
            let mut pair = pair_of(configs(), [3000, 3000]);
            (0..at).for_each(|_| pair.step());
            let was_up = pair.ends().map(|end| u64::from(end.state() == State::Up));
            pair.ends_mut()[first].line_fault(Some(Fault::Local));
            (0..12).for_each(|_| pair.step());
            pair.ends_mut()[1 - first].line_fault(Some(Fault::Remote));
            (0..12).for_each(|_| pair.step());
            assert_eq!(states(&pair), [State::Fault; 2]);
            let now = pair.wires.now();
            assert_eq!(pair.ends_mut()[first].transmit(now), OnLine::RemoteFault);
            pair.ends_mut()[first].line_fault(None);
            (0..12).for_each(|_| pair.step());
            pair.ends_mut()[1 - first].line_fault(None);
            let mut seen = Vec::new();
            while !pair.is_up() {
                pair.step();
                seen.push(states(&pair));
                assert!(seen.len() < 100, "fault at {at}: {seen:?}");
            }
            rest(&mut pair, 3000);
            for (end, was_up) in pair.ends().into_iter().zip(was_up) {
                assert!(end.client.downs >= was_up && end.client.downs == end.stats().downs, "the client hears of it");
                assert!(end.client.wrong <= 1, "one gap at most, where the link was down: {:?}", end.client);
            }
        }
    }
}

/// Every way out of Up, with flits on the line in both directions, near and far: both ends forget, and come up again.
#[test]
fn t13_ways_down() {
    type Break = fn(&mut Pair<Numbers>);
    let ways: [Break; 4] = [
        |pair| pair.host.contain_error(),
        |pair| pair.ends_mut().into_iter().for_each(UalEnd::contain_error),
        |pair| {
            pair.device.line_fault(Some(Fault::Local));
            pair.step();
            pair.device.line_fault(None);
        },
        |pair| {
            for _ in 0..12 {
                pair.step_with(&mut |from, _, flit| Some(if from == 0 { OnLine::Idle } else { flit }));
            }
        },
    ];
    for (n, way) in ways.iter().enumerate() {
        for latency in [1, 3, 10, 25, 60] {
            let numbers = || Numbers { last: 4000, ..Numbers::default() };
            // About two round trips.
            let replay_limit_flits = (4 * latency + 20).min(255) as u8;
            let configs = configs_with(ReplayConfig { replay_limit_flits, ..ReplayConfig::default() });
            let mut pair = Pair::new(configs, [numbers(), numbers()], latency);
            (0..300).for_each(|_| pair.step());
            way(&mut pair);
            rest(&mut pair, 4000);
            for end in pair.ends() {
                assert_eq!(end.stats().downs, 1, "way {n}, latency {latency}");
                assert!(end.client.wrong <= 1 && end.client.due == 4000, "{:?}", end.client);
            }
            let left = events(&mut pair).into_iter().filter(|e| e.severity == Severity::Retrain).count();
            assert_eq!(left, 2, "each end says why it left Up");
        }
    }
}
