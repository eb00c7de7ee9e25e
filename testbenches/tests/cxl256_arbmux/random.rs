//! Random asks, widths, resets, trainings and payload: payload never meets a vLSM that is not Active, nothing is lost but
//! by Reset, and the link always comes back to Active. `SCALEPOOL_SOAK` multiplies the seeds.

use crate::cxl256_arbmux::rig::{Rig, config, side};
use scalepool::kernel::Rng;
use scalepool::link::arbmux::cxl256::{ArbMuxConfig, Cause, State, Width};
use scalepool::link::arbmux::{Ask, Instance};
use scalepool_protocols::cxl::Dir;
use std::collections::BTreeSet;

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
        narrowest: pick(rng, &Width::ALL),
        ..config(dir)
    }
}

fn random_step(rig: &mut Rig, rng: &mut Rng) {
    let (dir, instance) = (pick(rng, &Dir::ALL), pick(rng, &Instance::ALL));
    match rng.below(1000) {
        0..40 => rig.ask(dir, instance, Some(pick(rng, &Ask::ALL))),
        40..60 => rig.ask_all(Some(pick(rng, &Ask::ALL))),
        60..70 => rig.ask_all(Some(Ask::Active)),
        70..80 => rig.ask(dir, instance, None),
        80..180 => rig.give(dir, instance, rng.below(4)),
        180..190 => {
            // Refused while another one is under way.
            let _ = rig.port(dir).ask_width(pick(rng, &Width::ALL), rng.below(2) == 0);
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
            for instance in Instance::ALL {
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

/// NOPs that the ends say they need not send change nothing else that is sent, and when.
#[test]
fn idle_time_may_be_skipped() {
    let mut left_out = 0;
    for seed in 0..6 {
        let run = |skips| {
            let mut rng = Rng::for_name(seed, "arbmux256.idle");
            let mut rig = Rig::with(random_config(&mut rng, Dir::Down), random_config(&mut rng, Dir::Up));
            rig.skips = skips;
            rig.ask_all(Some(Ask::Active));
            for n in 0..1500 {
                if n % 150 < 12 { random_step(&mut rig, &mut rng) } else { rig.step() }
            }
            rig
        };
        let (mut all, mut skipped) = (run(false), run(true));
        let what = |rig: &Rig| rig.log.iter().map(|f| (f.0, f.1, f.2.0[2..242].to_vec())).collect::<Vec<_>>();
        assert!(what(&all) == what(&skipped), "seed {seed}");
        assert_eq!(all.moves, skipped.moves);
        for dir in Dir::ALL {
            for instance in Instance::ALL {
                assert_eq!(all.taken(dir, instance), skipped.taken(dir, instance));
            }
        }
        left_out += skipped.left_out;
    }
    assert!(left_out > 6000, "{left_out}");
}
