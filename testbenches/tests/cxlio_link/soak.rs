//! Noise: nothing lost, nothing twice, nothing out of order beyond what the ordering rules allow, all credits home; and
//! bytes that mean nothing. `SCALEPOOL_SOAK_FLITS` sets the flits of each run.

use super::rig::*;
use scalepool::kernel::Rng;
use scalepool::link::cxl68::{Cxl68End, EndConfig};
use scalepool_protocols::cxl::cxl68::config::Cxl68Config;
use scalepool_protocols::cxl::cxl68::message::{Class, M2sReq};
use scalepool_protocols::cxl::cxl68::pid::{self, Enabled};
use scalepool_protocols::cxl::cxl68::stream::Cxl68Message;
use scalepool_protocols::cxl::cxlio::dllp::Dllp;
use scalepool_protocols::cxl::cxlio::framing::{frame_dllp, frame_tlp};
use scalepool_protocols::wire::Wire;
use scalepool_testbenches::soak::{is_soak, number_in};
use std::collections::VecDeque;

/// Flits of each direction, unless the environment says otherwise.
const FLITS: u64 = 20_000;
/// Flit clocks for which producers and consumers keep their speed.
const PHASE_FLITS: u64 = 700;
/// Chances of 64 a flit clock.
const SPEEDS: [u64; 4] = [0, 3, 16, 64];

fn flits() -> u64 {
    number_in("SCALEPOOL_SOAK_FLITS", FLITS)
}

/// What was sent in one direction and has not come, by kind; the number tells the order.
#[derive(Default)]
struct Expected {
    sent: u64,
    came: [u64; 3],
    open: [VecDeque<(u64, IoTlp)>; 3],
}

impl Expected {
    fn sent(&mut self, tlp: IoTlp) {
        self.open[tlp.kind().index()].push_back((self.sent, tlp));
        self.sent += 1;
    }

    /// The next of its kind, and not before an older posted one unless it is posted itself.
    fn came(&mut self, tlp: &IoTlp) {
        let kind = tlp.kind();
        let (number, sent) = self.open[kind.index()].pop_front().expect("it was sent");
        assert_eq!(*tlp, sent, "{kind:?} number {number}");
        if let Some((older, _)) = self.open[0].front() {
            assert!(kind == IoCreditClass::Posted || *older > number, "{kind:?} {number} has passed posted {older}");
        }
        self.came[kind.index()] += 1;
    }
}

fn random_tlp(rng: &mut Rng, form: IoTlpForm, n: u16) -> IoTlp {
    let dw = match rng.below(8) {
        0 => 1,
        1 => 1 + rng.below(200),
        // Such as end with their unit or flit.
        2 => 11 + 16 * rng.below(4),
        _ => 1 + rng.below(32),
    };
    let mut data = vec![0; 4 * dw as usize];
    rng.fill_bytes(&mut data);
    let address = rng.below(1 << 28) << 4;
    match rng.below(3) {
        0 => write(form, n, address, &data),
        1 => read(form, n, address, data.len()),
        _ => completion(form, n, &data),
    }
}

/// Random TLPs in both directions, with producers and consumers that come and go.
fn traffic(link: &mut dyn Link, seed: u64, at_each_step: fn(&mut dyn Link, &mut Rng)) -> [Expected; 2] {
    let mut rng = Rng::for_name(seed, "traffic");
    let mut expected: [Expected; 2] = Default::default();
    let mut speeds = [[64; 2]; 2];
    // Kinds that a consumer does not take for a while.
    let mut stalled = [None; 2];
    link.bring_up();
    for flit in 0..flits() {
        if flit % PHASE_FLITS == 0 {
            speeds = std::array::from_fn(|_| std::array::from_fn(|_| SPEEDS[rng.below(4) as usize]));
            stalled = std::array::from_fn(|_| {
                [None, Some(IoCreditClass::NonPosted), Some(IoCreditClass::Completion)][rng.below(3) as usize]
            });
        }
        for dir in Dir::ALL {
            let [producer, consumer] = speeds[dir as usize];
            if rng.ratio(producer, 64) {
                let tlp = random_tlp(&mut rng, link.form(), (flit % (1 << 14)) as u16);
                match link.end(dir).push(tlp.clone()) {
                    Ok(()) => expected[dir as usize].sent(tlp),
                    Err(refused) => assert_eq!((refused.why, refused.tlp), (Why::Full, tlp)),
                }
            }
            if rng.ratio(consumer, 64) {
                let not = stalled[dir as usize];
                while let Some(tlp) = link.end(dir.opposite()).pop_if(&|kind| Some(kind) != not) {
                    expected[dir as usize].came(&tlp);
                }
            }
        }
        link.step();
        at_each_step(link, &mut rng);
    }
    for _ in 0..200_000 {
        if Dir::ALL.into_iter().all(|dir| link.end(dir).quiet()) && link.is_empty() {
            break;
        }
        for dir in Dir::ALL {
            while let Some(tlp) = link.end(dir.opposite()).pop() {
                expected[dir as usize].came(&tlp);
            }
        }
        link.step();
    }
    // An UpdateFC may have been lost; another one goes every 2.5 us.
    link.steps(20_000);
    for dir in Dir::ALL {
        let lost: usize = expected[dir as usize].open.iter().map(VecDeque::len).sum();
        assert_eq!(lost, 0, "{dir:?}: TLPs that never came");
        assert!(link.end(dir).quiet(), "{dir:?}");
        assert!(link.end(dir).flow().is_home(), "{dir:?}");
        for kind in IoCreditClass::ALL {
            assert!(expected[dir as usize].came[kind.index()] > 100, "{kind:?} has travelled");
            let IoCreditRoom { headers, data } = link.end(dir).room(kind);
            assert_eq!((headers, data), (Some(16), Some(256)), "{dir:?}: credits of {kind:?}");
        }
    }
    expected
}

#[test]
fn units_under_noise() {
    for (seed, ber) in [(1, 0.0), (2, 1e-5), (3, 2e-4)] {
        let mut link = Units::plain();
        for dir in Dir::ALL {
            link.wires.put(dir, FaultyWire::new(Vec::new(), ber, Rng::for_name(seed, dir.name())));
        }
        let expected = traffic(&mut link, seed, |_, _| ());
        let [near, far] = Dir::ALL.map(|dir| *link.io(dir).stats());
        println!(
            "bit error rate {ber:e}: {} flit clocks, {} TLPs, {} units damaged, {} bad packets, {} and {} replays, {} TLPs \
             replayed, {} duplicates, {} trainings",
            link.wires.now(),
            expected.iter().map(|e| e.sent).sum::<u64>(),
            link.wires.damaged(),
            near.bad + far.bad,
            near.replays,
            far.replays,
            near.replayed + far.replayed,
            near.duplicates + far.duplicates,
            link.trainings,
        );
        for dir in Dir::ALL {
            let events = link.events(dir);
            let wrong = events.iter().find(|e| !matches!(e.severity, Severity::Corrected | Severity::Retrain));
            assert!(wrong.is_none(), "{}", wrong.expect("there is one"));
        }
        assert_eq!(link.wires.damaged() > 0, ber > 0.0);
        if ber == 0.0 {
            assert_eq!((near.replays, far.replays, near.duplicates, link.trainings), (0, 0, 0, 0));
        }
        if ber > 1e-4 {
            assert!(near.replays > 0 && near.naks > 0 && link.trainings > 0);
        }
    }
}

#[test]
fn flits_with_lost_dllps() {
    for (seed, mode) in (10..).zip(Mode::ALL) {
        let mut link = Flits::plain(mode);
        link.dllp_loss = 8;
        let expected = traffic(&mut link, seed, |_, _| ());
        println!("{mode:?}: {} flit clocks, {} TLPs", link.now, expected.iter().map(|e| e.sent).sum::<u64>());
        // An end speaks of each of three kinds every 2,353 flits, four times in the longest silence. Where one DLLP in eight is
        // lost, four in a row are lost once in 4,681 times, which the other end has to say: 0.27 times in a million flits.
        for dir in Dir::ALL {
            let events = link.events(dir);
            let other = events.iter().find(|event| event.violation.rule != "CXLIO-DLL-08");
            assert!(other.is_none(), "{dir:?}: {}", events[0]);
            assert!(events.len() as u64 <= 2 + link.now / 1_000_000, "{dir:?}: {} silences", events.len());
        }
    }
}

#[test]
fn bytes_that_mean_nothing_hurt_nobody() {
    let mut rng = Rng::for_name(1, "bytes");
    for round in 0..40 {
        let mut end = NonFlitEnd::new(config(), ReplayConfig::default()).expect("legal choices");
        for now in 0..400 {
            let mut payload = [0; 64];
            rng.fill_bytes(&mut payload);
            // Most of the time something that looks like a begin.
            let mut bytes = vec![0; 4 * (3 + rng.below(20) as usize)];
            rng.fill_bytes(&mut bytes);
            match rng.below(6) {
                0 => payload[..2].copy_from_slice(&[0xf0, 0xac]),
                1 => {
                    let (token, _) = frame_tlp(now as u16, &bytes).expect("it fits");
                    payload[..4].copy_from_slice(&token);
                }
                2 => {
                    let (token, lcrc) = frame_tlp(0, &bytes).expect("it fits");
                    let all = token.iter().chain(&bytes).chain(&lcrc);
                    payload.iter_mut().zip(all).for_each(|(to, from)| *to = *from);
                }
                3 => {
                    let mut dllp = [0; 4];
                    rng.fill_bytes(&mut dllp);
                    payload = [0; 64];
                    payload[8 * (round % 8)..][..8].copy_from_slice(&frame_dllp(Dllp(dllp)));
                }
                _ => payload[4 * (round % 16)..].fill(0),
            }
            end.receive(&Cxl68Unit::plain(pid::IO, &payload), now);
            end.transmit(now);
            end.pop();
            if end.take_retrain_request() {
                end.phy_down();
                end.phy_up();
            }
            let _ = end.push(write(IoTlpForm::NonFlit, 1, 0, &[1; 4]));
        }
        for mode in Mode::ALL {
            let mut end = FlitEnd::new(config(), FlitConfig::new(mode)).expect("legal choices");
            for now in 0..200 {
                let mut flit = Cxl256Flit::ZERO;
                rng.fill_bytes(&mut flit.0);
                if rng.ratio(1, 2) {
                    flit.0[2..].iter_mut().step_by(4).for_each(|b| *b &= 0x47);
                }
                flit.0[0] = if rng.ratio(7, 8) { 0x40 } else { flit.0[0] };
                let part = [FlitPart::Whole, FlitPart::Even, FlitPart::Odd][rng.below(3) as usize];
                end.receive(&flit, part, now);
                let mut dllp = [0; 4];
                rng.fill_bytes(&mut dllp);
                end.receive_dllp(dllp, now);
                end.transmit(now);
                end.dllp(now);
                end.pop();
                end.wakes_at(now);
            }
        }
    }
}

/// CXL.io and CXL.mem over one wire: the ARB/MUX with both link layers, and training that both survive.
#[test]
fn units_of_two_protocols() {
    let link_config = Cxl68Config { timeout_flits: 256, ..Cxl68Config::default() };
    let second = Dir::ALL.map(|dir| Cxl68End::new(EndConfig::mem(dir, link_config, 64)).expect("legal choices"));
    let mut link = Units::with([config(), config()], ReplayConfig::default(), Enabled::ALL, second);
    for dir in Dir::ALL {
        link.wires.put(dir, FaultyWire::new(Vec::new(), 1e-5, Rng::for_name(4, dir.name())));
    }
    let mut rng = Rng::for_name(4, "two");
    let (mut expected, mut tags, mut came) = (Expected::default(), 0u16, 0u16);
    link.bring_up();
    for flit in 0..20_000 {
        if flit < 15_000 && rng.ratio(1, 8) {
            let tlp = random_tlp(&mut rng, IoTlpForm::NonFlit, flit as u16);
            if link.io(Dir::Down).push(tlp.clone()).is_ok() {
                expected.sent(tlp);
            }
        }
        if flit < 15_000 && link.ends[0].cachemem.waiting(Class::M2sReq) < 8 {
            let bits = M2sReq { tag: tags, ..M2sReq::default() }.to_bits().expect("fits");
            link.ends[0].cachemem.send(Cxl68Message::new(Class::M2sReq, bits)).expect("legal");
            tags = tags.wrapping_add(1);
        }
        link.step();
        while let Some(tlp) = link.io(Dir::Up).pop() {
            expected.came(&tlp);
        }
        while let Some(message) = link.ends[1].cachemem.take() {
            assert_eq!(M2sReq::from_bits(message.bits).tag, came);
            came = came.wrapping_add(1);
        }
    }
    assert!(expected.open.iter().all(VecDeque::is_empty), "{:?}", expected.open.each_ref().map(VecDeque::len));
    assert_eq!((came, expected.sent > 1000, link.trainings > 0), (tags, true, true));
}

#[test]
fn real_256b() {
    // The rate between is for `make soak`.
    let rates: &[f64] = if is_soak() { &[0.0, 1e-4, 4e-4] } else { &[0.0, 4e-4] };
    for (seed, mode) in (20..).zip(Mode::ALL) {
        for &ber in rates {
            let mut link = pair(mode, seed % 2 == 0);
            for dir in Dir::ALL {
                link.wires.put(
                    dir,
                    FaultyWire::new(
                        (1..100).map(|n| Fault::Drop { unit: n * 397 }).collect(),
                        ber,
                        Rng::for_name(seed, dir.name()),
                    ),
                );
            }
            let expected = traffic(&mut link, seed, |_, _| ());
            println!(
                "{mode:?} {ber}: {} flit clocks, {} TLPs {:?} {} trainings",
                link.wires.now(),
                expected.iter().map(|e| e.sent).sum::<u64>(),
                link.host.stats(),
                link.trainings
            );
            for end in [&mut link.host, &mut link.device] {
                for e in end.take_events() {
                    println!("{e}");
                }
            }
        }
    }
}
