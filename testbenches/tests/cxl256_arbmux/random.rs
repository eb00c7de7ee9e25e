//! Random asks, widths, resets, trainings and payload: payload never meets a vLSM that is not Active, nothing is lost but
//! by Reset, and the link always comes back to Active. `SCALEPOOL_SOAK` multiplies the seeds.

use crate::cxl256_arbmux::rig::{Port, Rig, config, port, side};
use scalepool::kernel::Rng;
use scalepool::link::arbmux::cxl256::{ArbMuxConfig, Cause, LinkWidth, State};
use scalepool::link::arbmux::{ArbMuxInstance, Ask};
use scalepool::link::cxl256::client::{Client, FlitPart};
use scalepool_protocols::cxl::Dir;
use scalepool_protocols::cxl::cxl256::flit::Cxl256Flit;
use std::collections::{BTreeSet, VecDeque};

const SEEDS: u64 = 24;
const STEPS: u64 = 1200;

fn seeds() -> u64 {
    std::env::var("SCALEPOOL_SOAK").map_or(SEEDS, |text| {
        let factor: u64 = text.parse().unwrap_or_else(|_| panic!("SCALEPOOL_SOAK: found `{text}`, expected a number"));
        SEEDS * factor
    })
}

fn pick<T: Copy>(rng: &mut Rng, of: &[T]) -> T {
    of[rng.below(of.len() as u64) as usize]
}

/// Configurations of which some wait for too short a time, so that answers come late.
fn random_config(rng: &mut Rng, dir: Dir) -> ArbMuxConfig {
    ArbMuxConfig {
        pm_patience_flits: pick(rng, &[0, 5, 30, 60, 150]),
        pm_refusal_flits: pick(rng, &[None, Some(0), Some(20), Some(80)]),
        weights: [rng.below(4) as u16, rng.below(4) as u16],
        narrowest: pick(rng, &LinkWidth::ALL),
        ..config(dir)
    }
}

fn random_step(rig: &mut Rig, rng: &mut Rng) {
    let (dir, instance) = (pick(rng, &Dir::ALL), pick(rng, &ArbMuxInstance::ALL));
    match rng.below(1000) {
        0..40 => rig.ask(dir, instance, Some(pick(rng, &Ask::ALL))),
        40..60 => rig.ask_all(Some(pick(rng, &Ask::ALL))),
        60..70 => rig.ask_all(Some(Ask::Active)),
        70..80 => rig.ask(dir, instance, None),
        80..180 => rig.give(dir, instance, rng.below(4)),
        180..190 => {
            // Refused while another one is under way.
            let _ = rig.port(dir).ask_width(pick(rng, &LinkWidth::ALL), rng.below(2) == 0);
        }
        190..193 => rig.train(),
        193 => rig.reset(),
        _ => (),
    }
    rig.step();
}

/// Numbers may be left out where a Reset lost them, and never come twice or out of order.
fn assert_rising(numbers: &[u64], what: &str) {
    assert!(numbers.windows(2).all(|w| w[0] < w[1]), "{what}: {numbers:?}");
}

#[test]
fn always_back_to_active() {
    let mut changes = BTreeSet::new();
    for seed in 0..seeds() {
        let mut rng = Rng::for_name(seed, "arbmux256");
        let mut rig = Rig::with(random_config(&mut rng, Dir::Down), random_config(&mut rng, Dir::Up));
        rig.skips = seed % 2 == 1;
        rig.ask_all(Some(Ask::Active));
        for _ in 0..STEPS {
            random_step(&mut rig, &mut rng);
        }
        // A wish for a power state that is on its way comes first; so Active is asked for until all are there.
        for _ in 0..8 {
            rig.ask_all(Some(Ask::Active));
            rig.run(120);
        }
        rig.assert_states(State::Active, State::Active);
        rig.assert_no_events();
        for dir in Dir::ALL {
            for instance in ArbMuxInstance::ALL {
                let what = format!("seed {seed} {dir:?} {instance:?}");
                let numbers = rig.taken(dir, instance);
                assert_rising(&numbers, &what);
                let reset = rig.queue(dir, instance).resets + rig.queue(dir.opposite(), instance).resets > 0;
                if !reset {
                    assert_eq!(numbers.len() as u64, rig.given[side(dir)][instance.index()], "{what}");
                }
            }
        }
        assert_eq!(rig.host.client.width(), rig.device.client.width(), "seed {seed}");
        rig.assert_traffic();
        changes.extend(rig.moves.iter().map(|(dir, _, made)| (*dir, made.from, made.cause, made.to)));
    }
    // Every change of the machine was met.
    for dir in Dir::ALL {
        for cause in Cause::ALL {
            let met = changes.iter().any(|c| c.0 == dir && c.2 == cause);
            assert_eq!(met, dir == Dir::Up || cause != Cause::Refused, "{dir:?} {cause:?}");
        }
        for state in State::ALL {
            let met = changes.iter().any(|c| c.0 == dir && c.3 == state);
            assert_eq!(met, dir == Dir::Up || state != State::PmNak, "{dir:?} {state:?}");
        }
    }
}

/// Two ports and a wire each way that loses nothing, without numbers.
struct Pipe {
    ports: [Port; 2],
    wires: [VecDeque<(u64, Cxl256Flit)>; 2],
    now: u64,
    /// Ports are asked to send only when they said that they have something to send.
    skips: bool,
    skipped: u64,
    log: Vec<(u64, Dir, Cxl256Flit)>,
}

impl Pipe {
    fn step(&mut self) {
        self.now += 1;
        let now = self.now;
        for dir in Dir::ALL {
            while self.wires[side(dir)].front().is_some_and(|f| f.0 <= now) {
                if let Some((_, flit)) = self.wires[side(dir)].pop_front() {
                    self.ports[side(dir.opposite())].receive(&flit, FlitPart::Whole, now);
                }
            }
        }
        for dir in Dir::ALL {
            let port = &mut self.ports[side(dir)];
            if self.skips && port.wakes_at(now - 1) != Some(now) {
                self.skipped += 1;
            } else if let Some(flit) = port.transmit(now) {
                self.log.push((now, dir, flit));
                self.wires[side(dir)].push_back((now + 9, flit));
            }
        }
    }
}

/// A port that is left alone until the flit clock it named, or until something comes, does the same at the same time.
#[test]
fn idle_time_may_be_skipped() {
    let mut skipped = 0;
    for seed in 0..seeds() {
        let run = |skips| {
            let mut rng = Rng::for_name(seed, "arbmux256.idle");
            let ports = Dir::ALL.map(|dir| port(random_config(&mut rng, dir)));
            let (wires, log) = Default::default();
            let mut pipe = Pipe { ports, wires, now: 0, skips, skipped: 0, log };
            for n in 0..1500 {
                let (dir, instance) = (pick(&mut rng, &Dir::ALL), pick(&mut rng, &ArbMuxInstance::ALL));
                let port = &mut pipe.ports[side(dir)];
                match rng.below(300) {
                    0..10 => port.ask(instance, Some(pick(&mut rng, &Ask::ALL))),
                    10..20 => pipe.ports.iter_mut().for_each(|p| p.ask(instance, Some(Ask::Active))),
                    20..30 => port.io.outgoing.push_back(n),
                    30..40 => port.cachemem.outgoing.push_back(n),
                    40..45 => {
                        // Refused while another one is under way.
                        let _ = port.ask_width(pick(&mut rng, &LinkWidth::ALL), n % 2 == 0);
                    }
                    _ => (),
                }
                pipe.step();
            }
            pipe
        };
        let (mut all, mut some) = (run(false), run(true));
        assert_eq!(all.log, some.log, "seed {seed}");
        for n in 0..2 {
            assert_eq!(all.ports[n].take_moves(), some.ports[n].take_moves());
            assert_eq!(all.ports[n].take_width_moves(), some.ports[n].take_width_moves());
            assert_eq!(all.ports[n].take_events(), []);
            assert_eq!(all.ports[n].is_quiet(), some.ports[n].is_quiet());
        }
        skipped += some.skipped;
    }
    assert!(skipped > 1500 * seeds(), "{skipped}");
}

/// NOPs that the ends of the link say they need not send change nothing else that is sent, through trainings, resets and
/// power states.
#[test]
fn nops_may_be_left_out_below() {
    let mut left_out = 0;
    for seed in 0..8 {
        let run = |skips| {
            let mut rng = Rng::for_name(seed, "arbmux256.nops");
            let mut rig = Rig::with(random_config(&mut rng, Dir::Down), random_config(&mut rng, Dir::Up));
            rig.skips = skips;
            rig.ask_all(Some(Ask::Active));
            for n in 0..2400 {
                if n % 150 < 12 {
                    random_step(&mut rig, &mut rng)
                } else {
                    rig.step()
                }
                match n {
                    500 => rig.reset(),
                    1200 => rig.train(),
                    800 | 1600 => rig.ask_all(Some(Ask::Active)),
                    _ => (),
                }
            }
            rig
        };
        let (all, some) = (run(false), run(true));
        assert_eq!(all.log, some.log, "seed {seed}");
        assert_eq!((all.moves, all.slept, all.trainings), (some.moves, some.slept, some.trainings));
        left_out += some.left_out;
    }
    assert!(left_out > 8 * 2400, "{left_out}");
}
