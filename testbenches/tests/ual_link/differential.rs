//! UAL-T23: our replay machine against the second one (`oracle::ual_llr`), driven by the same event lists.

use super::rig::*;
use super::twin::*;

/// A header that a peer might send, or a bad one: mostly near the numbers that matter.
fn any_header(rng: &mut Rng, twin: &Twin) -> u32 {
    let last = twin.ours.last_taken();
    let own = match rng.below(8) {
        0 => rng.below(512) as u16,
        1 => last,
        2 => (last + rng.below(9) as u16) % 512,
        _ => next_seq(last),
    };
    let payload = if rng.below(8) == 0 { rng.below(2) == 0 } else { own != last };
    let kept = twin.ours.unacknowledged() as u64;
    let target = match rng.below(6) {
        0 => rng.below(512) as u16,
        1 => twin.ours.last_acknowledged(),
        _ => ((u64::from(twin.ours.last_acknowledged()) + rng.below(kept + 2)) % 511 + 1) as u16,
    };
    let header = match rng.below(20) {
        0 => return rng.next_u64() as u32 & 0xff_ffff,
        1 => explicit(FlitOp::Replayed, payload, own),
        2..=4 => explicit(FlitOp::Original, payload, own),
        5 => command(FlitOp::ReplayRequest, payload, target, own),
        _ => command(FlitOp::Ack, payload, target, own),
    };
    header.to_bits().expect("it fits")
}

/// Whether a header says something that a receiver uses.
fn is_usable(fh: u32) -> bool {
    UalHeader::from_bits(fh).is_usable()
}

fn random_events(seed: u64, config: impl Into<Machine>, flits: u64) -> Twin {
    let mut rng = Rng::for_name(seed, "events");
    let mut twin = Twin::new(config, 0);
    let (mut mood, mut bad) = (0, 0);
    for flit in 0..flits {
        if flit % 64 == 0 {
            mood = rng.below(4);
        }
        if rng.below(16) == 0 {
            bad = rng.below(12);
        }
        // Payload is offered, or not, for a while; bad flits come in bursts.
        twin.last = if mood == 0 { twin.next } else { twin.next + rng.below(mood + 1) };
        twin.transmit();
        let fh = any_header(&mut rng, &twin);
        twin.receive((bad == 0 && is_usable(fh)).then_some((fh, None)));
        bad = bad.saturating_sub(1);
        if twin.differs.is_some() {
            break;
        }
    }
    twin
}

#[test]
fn t23_random_headers() {
    for seed in 0..24 {
        let config = ReplayConfig {
            fec_group_flits: [1, 2, 4][seed as usize % 3],
            buffer_flits: [255, 20, 100, 1][seed as usize % 4],
            replay_limit_flits: [50, 12, 254][seed as usize % 3],
            ..ReplayConfig::default()
        };
        let twin = random_events(seed, config, 20_000);
        assert_eq!(twin.differs, None, "seed {seed}");
        let stats = twin.ours.stats();
        assert!(stats.requests > 50 && stats.taken > 1000 && stats.bad > 500, "{stats:?}");
        assert!(config.buffer_flits == 1 || stats.replays > 10, "{stats:?}");
    }
}

#[test]
fn t23_two_ends_over_a_bad_line() {
    for (seed, one_in, longest) in [(1, 7, 1), (2, 20, 9), (3, 60, 30), (4, 400, 3), (5, 3, 1)] {
        let mut rng = Rng::for_name(seed, "line");
        let mut burst = [0; 2];
        let mut link = Link::new(ReplayConfig::default(), [3000, 2000]);
        let came = link.run(400_000, &mut |from, _, _| {
            if burst[from] == 0 && rng.below(one_in) == 0 {
                burst[from] = 1 + rng.below(longest);
            }
            let bad = burst[from] > 0;
            burst[from] = burst[from].saturating_sub(1);
            bad
        });
        assert!(came, "seed {seed}");
        link.assert_clean();
    }
}

/// Every fault around the replay machine is seen by the second one.
#[test]
fn t23_sees_every_fault() {
    let faults = [
        ReplayFault::NopNumbered,
        ReplayFault::NeverAmbiguous,
        ReplayFault::RequestAcknowledges,
        ReplayFault::GapTaken,
        ReplayFault::AskedOnce,
        ReplayFault::ExplicitCounted,
        ReplayFault::AmbiguousUsed,
        ReplayFault::RequestFirst,
        ReplayFault::ExplicitEveryEight,
        ReplayFault::ReplayUnmarked,
        ReplayFault::RequestMoves,
        ReplayFault::CommandPayloadLost,
    ];
    for fault in faults {
        let config = ReplayConfig { replay_limit_flits: 12, ..ReplayConfig::default() };
        let machine = Machine { config, fault: Some(fault) };
        assert!((0..4).any(|seed| random_events(seed, machine, 20_000).differs.is_some()), "{fault:?}");
    }
    // Every request is heard.
    let hears = ReplayConfig { replay_limit_flits: 12, ignore_flits: 0, ..ReplayConfig::default() };
    assert!((0..4).any(|seed| random_events(seed, hears, 20_000).differs.is_some()));
    let full = ReplayConfig { buffer_flits: 3, ..ReplayConfig::default() };
    let full = Machine { config: full, fault: Some(ReplayFault::RoomIgnored) };
    assert!(random_events(1, full, 20_000).differs.is_some());
}
