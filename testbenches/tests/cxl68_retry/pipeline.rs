//! The monitor beside an end that answers late: received units go through a pipeline before the end knows of them, as in
//! RTL. The monitor stands at the wire and is told how deep the pipeline is.

use crate::cxl68_retry::bench::{LATENCY_FLITS, link, random};
use crate::cxl68_retry::solo::rules;
use scalepool::kernel::Rng;
use scalepool::link::cxl68::fault::FaultyWire;
use scalepool::link::cxl68::{Cxl68End, EndConfig, Monitor, MonitorConfig};
use scalepool_protocols::cxl::cxl68::Dir;
use scalepool_protocols::cxl::cxl68::message::Class;
use scalepool_protocols::cxl::cxl68::unit::Cxl68Unit;
use std::collections::VecDeque;

/// One end with the wire that leads to it.
struct Side {
    end: Cxl68End,
    monitor: Monitor,
    wire: FaultyWire,
    /// Units on the wire and in the receiver's pipeline, with the flit clock in which each comes out.
    on_wire: VecDeque<(u64, Cxl68Unit)>,
    in_pipe: VecDeque<(u64, Cxl68Unit)>,
}

/// Rules that the two monitors saw broken; `depth_flits` is the pipeline, `told` what the monitors know of it.
fn run(depth_flits: u64, told: u64, flits: u64) -> Vec<&'static str> {
    let mut sides = Dir::ALL.map(|dir| {
        let config = EndConfig::cachemem(dir, link(), 40);
        let monitor = Monitor::new(MonitorConfig { reaction_flits: told, ..MonitorConfig::of(&config) });
        let wire = FaultyWire::new(Vec::new(), 3e-5, Rng::for_name(depth_flits, dir.name()));
        let end = Cxl68End::new(config).expect("legal configuration");
        Side { end, monitor, wire, on_wire: VecDeque::new(), in_pipe: VecDeque::new() }
    });
    let mut rng = Rng::for_name(depth_flits, "pipeline");
    let mut retries = 0;
    for now in 1..=flits {
        for class in Class::ALL {
            let end = &mut sides[usize::from(class.dir() == Dir::Up)].end;
            if rng.ratio(1, 12) && end.waiting(class) < 3 {
                end.send(random(class, now, &mut rng)).expect("legal");
            }
        }
        for side in &mut sides {
            while side.on_wire.front().is_some_and(|&(due, _)| due <= now) {
                let Some((_, unit)) = side.on_wire.pop_front() else { break };
                side.monitor.received(&unit, now);
                side.in_pipe.push_back((now + depth_flits, unit));
            }
            while side.in_pipe.front().is_some_and(|&(due, _)| due <= now) {
                let Some((_, unit)) = side.in_pipe.pop_front() else { break };
                side.end.receive(&unit, now);
            }
            while side.end.take().is_some() {}
        }
        for n in 0..2 {
            if let Some(unit) = sides[n].end.transmit(now) {
                sides[n].monitor.sent(&unit, now);
                let arrives = sides[n].wire.send(unit);
                let peer = &mut sides[1 - n];
                peer.on_wire.extend(arrives.into_iter().flatten().map(|u| (now + LATENCY_FLITS, u)));
            }
        }
        let wanted = sides.each_mut().map(|s| s.end.take_retrain_request());
        if wanted.contains(&true) || rng.ratio(1, 4000) {
            for side in &mut sides {
                // What has come in before training is still worked on; what is on the wires is lost.
                while let Some((_, unit)) = side.in_pipe.pop_front() {
                    side.end.receive(&unit, now);
                }
                side.end.take_retrain_request();
                side.on_wire.clear();
                side.end.phy_down();
                side.monitor.trained();
                side.end.phy_up();
            }
        }
        retries = sides.iter().map(|s| s.end.stats().retries).sum();
    }
    assert!(retries > 100, "the noise was repaired {retries} times");
    sides.iter_mut().flat_map(|s| rules(&s.monitor.take_events())).collect()
}

#[test]
fn a_pipeline_that_the_monitor_knows_is_no_fault() {
    for depth_flits in [0, 1, 5, 16] {
        assert_eq!(run(depth_flits, depth_flits, 60_000), [""; 0], "{depth_flits} flits deep");
    }
}

#[test]
fn an_answer_that_comes_too_late_is_seen() {
    let seen = run(8, 4, 20_000);
    assert!(seen.contains(&"CXL68-RRS-02") && seen.contains(&"CXL68-LLR-16"), "{seen:?}");
}
