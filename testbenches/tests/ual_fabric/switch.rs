//! The switch by itself: routes, deny bits, arbitration, order (`ualink` §14).

use super::pods::{rules_of, run, set};
use super::rig::{on_vc, read, response, tag, write};
use scalepool::arbiter::RoundRobin;
use scalepool::fabric::ualink_switch::core::CoreStats;
use scalepool::fabric::ualink_switch::{UalPassageWatch, UalRouteRefused, UalRoutes, UalSwitchCore};
use scalepool::kernel::Rng;
use scalepool::link::ualink::client::Client;
use scalepool::link::ualink::tl::{Tl, TlClass, TlConfig, TlHeldBuffers};
use scalepool::nodes::ualink::check::CompleterWatch;
use scalepool_protocols::ualink::code::ReqCmd;
use scalepool_protocols::ualink::control::ControlField;
use scalepool_protocols::ualink::unpack::Transfer;

/// A transaction from port to port.
fn between(mut transfer: Transfer, from: u16, to: u16) -> Transfer {
    match &mut transfer.field {
        ControlField::Request(req) => (req.src, req.dst) = (from, to),
        ControlField::Response(rsp) => (rsp.src, rsp.dst) = (from, to),
        _ => (),
    }
    transfer
}

/// What it holds at its input port, as a transaction layer would tell.
fn held(transfer: &Transfer) -> TlHeldBuffers {
    // The only way to buffers is over a link: the same transaction goes over one.
    let [mut a, mut b] = [TlConfig::accelerator(), TlConfig::switch_port()].map(Tl::new);
    a.send(transfer.clone()).expect("legal");
    for now in 0..400 {
        if let Some(flit) = a.transmit(now) {
            b.receive(&flit, now);
        }
        if let Some(flit) = b.transmit(now) {
            a.receive(&flit, now);
        }
    }
    TlClass::ALL.into_iter().find_map(|class| b.take(class)).expect("it came").1.expect("over the link")
}

/// A core with everything allowed and room for `room` of each class.
fn core(ports: u16, room: u16) -> UalSwitchCore {
    let mut routes = UalRoutes::new(ports, 4);
    routes.allow_all();
    UalSwitchCore::new(routes, 0, room, &RoundRobin::KIND).expect("it has ports")
}

/// Ports and tags of what is granted now.
fn granted(core: &mut UalSwitchCore, now: u64) -> Vec<(u16, u16, u16)> {
    let mut list = Vec::new();
    core.grant(now, |grant| list.push((grant.input, grant.output, tag(&grant.transfer))));
    list
}

#[test]
fn ual_swi_01_p() {
    for (ports, lanes) in [(4, 4), (72, 2), (1024, 1)] {
        let mut routes = UalRoutes::new(ports, lanes);
        routes.allow_all();
        for (from, to) in (0..ports).flat_map(|from| [(from, 0), (from, ports - 1 - from), (0, from)]) {
            assert_eq!(routes.route(from, to), Ok(to), "{ports} ports x{lanes}: {from} to {to}");
        }
    }
}

#[test]
fn ual_swi_01_n() {
    // A transaction at the wrong port is seen by the accelerator there.
    let ControlField::Request(req) = read(0, 1, 1).field else { panic!("a request") };
    assert_eq!(CompleterWatch::new(5, 4).request(0, &req), []);
    let found = CompleterWatch::new(6, 4).request(0, &req);
    assert_eq!(found.iter().map(|v| v.rule).collect::<Vec<_>>(), ["UAL-SWI-01"]);
}

#[test]
fn ual_swi_02_p() {
    let mut routes = UalRoutes::new(8, 2);
    let allowed = |routes: &UalRoutes| {
        (0..8).flat_map(|a| (0..8).map(move |b| (a, b))).filter(|&(a, b)| routes.route(a, b).is_ok()).count()
    };
    assert_eq!(allowed(&routes), 0, "all denied at reset");
    routes.set_denied(3, 6, false);
    assert_eq!((allowed(&routes), routes.route(3, 6)), (1, Ok(6)), "one bit a port of a station");
    routes.allow_all();
    assert_eq!(allowed(&routes), 64);
}

#[test]
fn ual_swi_02_n() {
    let mut core = UalSwitchCore::new(UalRoutes::new(8, 2), 0, 4, &RoundRobin::KIND).expect("it has ports");
    let transfer = between(read(0, 1, 1), 3, 6);
    let held = held(&transfer);
    assert_eq!(core.arrive(3, transfer, held, 0), Err(UalRouteRefused::Denied { port: 3, dst: 6 }));
    assert_eq!((core.stats().denied, core.inside()), (1, 0), "dropped and counted");
}

#[test]
fn ual_swi_03_p() {
    let report = run("ualink-pod", &[set("traffic.operations=20")]);
    assert_eq!(rules_of(&report), [""; 0]);
    assert!(report.counts.contains(&("out of range".to_owned(), 0)));
}

#[test]
fn ual_swi_03_n() {
    let mut core = core(8, 4);
    let transfer = between(read(0, 1, 1), 3, 8);
    let held = held(&transfer);
    assert_eq!(core.arrive(3, transfer, held, 0), Err(UalRouteRefused::OutOfRange { dst: 8, entries: 8 }));
    assert_eq!((core.stats().out_of_range, core.inside()), (1, 0));
}

/// Random traffic through a core whose outputs take one of each class a cycle; checks that everything comes out once, in
/// order within its pair and class, and gives counters.
fn conserved(routes: UalRoutes, n: u64, seed: u64) -> CoreStats {
    let ports = routes.ports();
    let mut core = UalSwitchCore::new(routes.clone(), 5, 2, &RoundRobin::KIND).expect("it has ports");
    // The watcher of the ports finds nothing in a switch that does right.
    let mut watch = UalPassageWatch::new(routes.clone());
    let mut rng = Rng::from_seed(seed);
    let kinds = [read(0, 1, 0), response(0, 0)].map(|t| (held(&t), t));
    let mut waiting: Vec<Vec<(u16, TlClass, u16)>> = vec![Vec::new(); usize::from(ports)];
    let mut next = vec![[0u16; 2]; usize::from(ports) * usize::from(ports)];
    let mut seen = next.clone();
    let mut sent = 0;
    let mut now = 0;
    while sent < n || core.inside() > 0 {
        for port in 0..ports {
            if sent < n && rng.ratio(1, 2) {
                let (held, kind) = kinds[rng.below(2) as usize].clone();
                let to = rng.below(u64::from(ports)) as u16;
                let mut transfer = between(kind, port, to);
                let pair = usize::from(port) * usize::from(ports) + usize::from(to);
                let number = next[pair][held.class.index()];
                match &mut transfer.field {
                    ControlField::Request(req) => req.tag = number,
                    ControlField::Response(rsp) => rsp.tag = number,
                    _ => (),
                }
                let expected = routes.route(port, to);
                watch.comes(port, &transfer);
                assert_eq!(core.arrive(port, transfer, held, now).is_ok(), expected.is_ok());
                next[pair][held.class.index()] += u16::from(expected.is_ok());
                sent += 1;
            }
        }
        core.grant(now, |grant| {
            let pair = usize::from(grant.input) * usize::from(ports) + usize::from(grant.output);
            let class = grant.held.class;
            assert_eq!(watch.leaves(grant.output, &grant.transfer), None);
            assert_eq!(tag(&grant.transfer), seen[pair][class.index()], "in order");
            seen[pair][class.index()] += 1;
            waiting[usize::from(grant.output)].push((grant.input, class, 0));
        });
        for (port, list) in waiting.iter_mut().enumerate() {
            for class in TlClass::ALL {
                if let Some(at) = list.iter().position(|w| w.1 == class) {
                    list.remove(at);
                    core.give_room(port as u16, class);
                }
            }
        }
        now += 1;
        assert!(now < 100_000, "it hangs");
    }
    assert_eq!(next, seen, "each once");
    assert_eq!(watch.finish(), []);
    *core.stats()
}

#[test]
fn ual_swi_04_p() {
    let mut routes = UalRoutes::new(16, 4);
    routes.allow_all();
    let stats = conserved(routes, 5000, 4);
    assert_eq!(stats.arrived, stats.granted);
    // U-turn.
    let mut core = core(4, 4);
    let transfer = between(read(0, 1, 9), 2, 2);
    let held = held(&transfer);
    assert_eq!(core.arrive(2, transfer, held, 0), Ok(()));
    assert_eq!(granted(&mut core, 0), [(2, 2, 9)]);
}

#[test]
fn ual_swi_04_n() {
    // A line that fails loses what was on its way, and the report says so.
    let settings = ["link.outage_fs=3000000000", "accel.timeout_fs=20000000000", "traffic.operations=600"];
    let report = run("ualink-pod", &settings.map(set));
    assert!(rules_of(&report).contains(&"SIM-E2E-03"));
}

/// UAL-T19: a deny matrix.
#[test]
fn t19_all_to_all_with_a_deny_matrix() {
    for seed in 0..4 {
        let mut routes = UalRoutes::new(12, 1);
        let mut rng = Rng::from_seed(seed);
        for (from, to) in (0..12).flat_map(|a| (0..12).map(move |b| (a, b))) {
            routes.set_denied(from, to, rng.ratio(1, 3));
        }
        let stats = conserved(routes, 3000, seed);
        assert!(stats.denied > 500);
        assert_eq!(stats.granted[0] + stats.granted[1] + stats.denied, 3000);
    }
}

#[test]
fn ual_swi_05_p() {
    // Output 0 has no room for requests; responses go on.
    let mut core = core(4, 1);
    let (request, answer) = (between(read(0, 1, 1), 1, 0), between(response(0, 2), 2, 0));
    let (hold_request, hold_answer) = (held(&request), held(&answer));
    (0..3).for_each(|_| core.arrive(1, request.clone(), hold_request, 0).expect("allowed"));
    assert_eq!(granted(&mut core, 0), [(1, 0, 1)]);
    core.arrive(2, answer, hold_answer, 1).expect("allowed");
    assert_eq!(granted(&mut core, 1), [(2, 0, 2)], "a response passes requests that wait");
    // No starvation: with one place at a time all inputs have their turn.
    let mut served = [0; 4];
    (0..4).for_each(|port| {
        (0..50).for_each(|_| core.arrive(port, between(read(0, 1, port), port, 0), hold_request, 2).expect("allowed"))
    });
    for now in 2..102 {
        core.give_room(0, TlClass::Request);
        granted(&mut core, now).iter().for_each(|&(input, ..)| served[usize::from(input)] += 1);
    }
    assert!(served.iter().all(|&n| (24..=26).contains(&n)), "{served:?}");
}

#[test]
fn ual_swi_05_n() {
    // Room for requests is none for responses: a response without room waits, and is seen waiting.
    let mut core = core(4, 1);
    let answer = between(response(0, 2), 2, 0);
    let hold = held(&answer);
    (0..2).for_each(|_| core.arrive(2, answer.clone(), hold, 0).expect("allowed"));
    assert_eq!(granted(&mut core, 0).len(), 1);
    core.give_room(0, TlClass::Request);
    assert_eq!((granted(&mut core, 1).len(), core.inside()), (0, 1));
}

#[test]
fn ual_swi_06_p() {
    let mut core = core(4, 64);
    let transfer = |n: u16| on_vc(between(read(0, 1, n), 1, 3), (n % 4) as u8);
    let hold = held(&transfer(0));
    (0..40).for_each(|n| core.arrive(1, transfer(n), hold, 0).expect("allowed"));
    let tags: Vec<u16> = granted(&mut core, 0).iter().map(|g| g.2).collect();
    assert_eq!(tags, (0..40).collect::<Vec<u16>>(), "whatever the channels");
}

#[test]
fn ual_swi_06_n() {
    // A port with relaxed order lets channels pass each other, a port as it is by default does not.
    for (strict_order, swapped) in [(true, false), (false, true)] {
        let mut tl = Tl::new(TlConfig { strict_order, ..TlConfig::switch_port() });
        let mut peer = Tl::new(TlConfig::accelerator());
        for (n, vc) in [0, 0, 1].into_iter().enumerate() {
            tl.send(on_vc(write(ReqCmd::WriteFull, 0, 4, n as u16), vc)).expect("legal");
        }
        for now in 0..500 {
            if let Some(flit) = tl.transmit(now) {
                peer.receive(&flit, now);
            }
            if let Some(flit) = peer.transmit(now) {
                tl.receive(&flit, now);
            }
        }
        let tags: Vec<u16> = std::iter::from_fn(|| peer.take(TlClass::Request)).map(|(t, _)| tag(&t)).collect();
        assert_eq!(tags != [0, 1, 2], swapped, "{tags:?}");
    }
}

#[test]
fn ual_swi_07_p() {
    let mut core = core(4, 64);
    for vc in 0..4 {
        for transfer in [read(0x40, 3, 7), write(ReqCmd::Write, 0x80, 2, 8), response(2, 9)] {
            let transfer = on_vc(between(transfer, 1, 3), vc);
            let hold = held(&transfer);
            core.arrive(1, transfer.clone(), hold, 0).expect("allowed");
            core.grant(0, |grant| assert_eq!(*grant.transfer, transfer, "as it came, channel included"));
        }
    }
    assert_eq!(core.inside(), 0, "no state of transactions is kept");
}

#[test]
fn ual_swi_07_n() {
    // Another channel is another transaction to whoever compares.
    let transfer = between(read(0x40, 3, 7), 1, 3);
    assert_ne!(on_vc(transfer.clone(), 2), transfer);
    // Nothing of a transaction remains: the same tag again is no error to a switch.
    let mut core = core(4, 64);
    let hold = held(&transfer);
    (0..2).for_each(|_| core.arrive(1, transfer.clone(), hold, 0).expect("allowed"));
    assert_eq!(granted(&mut core, 0), [(1, 3, 7), (1, 3, 7)]);
}

/// Latency of one write of 64 bytes with a link that is up, for a latency of the switch \[ns\].
fn probe_fs(latency_ns: u64) -> u64 {
    let latency = format!("switch.latency_fs={}", latency_ns * 1_000_000);
    let settings = ["traffic.mix=writes", "traffic.bytes=64", "traffic.operations=4", "traffic.pattern=ring"];
    let mut settings: Vec<String> = settings.map(set).into();
    settings.extend([set("traffic.interval_cycles=5000"), set(&latency)]);
    run("ualink-pod", &settings).latency_fs.min
}

#[test]
fn ual_swi_08_p() {
    // There and back: two more passes of 200 ns, in clocks of 6.4 ns.
    let (without, with) = (probe_fs(0), probe_fs(200));
    // A latency of 0 still has the two clocks to the core and back.
    let expected = 2 * (200_000_000 - 2 * 6_400_000);
    assert!((with - without).abs_diff(expected) <= 2 * 6_400_000, "{} fs", with - without);
}

#[test]
fn ual_swi_08_n() {
    let (usual, over) = (probe_fs(200), probe_fs(300));
    assert!(over - usual > 180_000_000, "what is over is in the report: {usual} and {over} fs");
}

/// A switch with four ports that sends what came otherwise than it has to: the watcher of its ports names the rule.
#[test]
fn the_watcher_of_the_ports_names_what_a_switch_does_wrong() {
    let request = |n| between(read(0, 1, n), 1, 3);
    let found = |came: &[Transfer], left: &[(u16, Transfer)]| {
        let mut routes = UalRoutes::new(4, 4);
        routes.allow_all();
        routes.set_denied(1, 2, true);
        let mut watch = UalPassageWatch::new(routes);
        came.iter().for_each(|transfer| watch.comes(1, transfer));
        let mut rules: Vec<_> = left.iter().filter_map(|(port, transfer)| watch.leaves(*port, transfer)).collect();
        rules.extend(watch.finish());
        rules.into_iter().map(|violation| violation.rule).collect::<Vec<_>>()
    };
    let both = [request(1), request(2)];
    let in_order = [(3, request(1)), (3, request(2))];
    assert_eq!(found(&both, &in_order), [""; 0]);
    // Requests and responses of one pair pass each other.
    let answer = between(response(1, 7), 1, 3);
    assert_eq!(found(&[request(1), answer.clone()], &[(3, answer), (3, request(1))]), [""; 0]);
    assert_eq!(found(&both[..1], &[(2, request(1))]), ["UAL-SWI-01"]);
    let denied = between(read(0, 1, 1), 1, 2);
    assert_eq!(found(std::slice::from_ref(&denied), &[]), [""; 0]);
    assert_eq!(found(std::slice::from_ref(&denied), &[(2, denied.clone())]), ["UAL-SWI-02"]);
    let outside = between(read(0, 1, 1), 1, 9);
    assert_eq!(found(std::slice::from_ref(&outside), &[(1, outside.clone())]), ["UAL-SWI-03"]);
    assert_eq!(found(&both, &in_order[..1]), ["UAL-SWI-04"], "lost");
    assert_eq!(found(&both[..1], &[(3, request(1)), (3, request(1))]), ["UAL-SWI-04"], "doubled");
    assert_eq!(found(&[], &[(3, request(1))]), ["UAL-SWI-04"], "of nobody");
    assert_eq!(found(&both[..1], &[(3, between(read(256, 1, 1), 1, 3))]), ["UAL-SWI-04"], "another address");
    assert_eq!(found(&both, &[(3, request(2)), (3, request(1))]), ["UAL-SWI-06"]);
    assert_eq!(found(&both[..1], &[(3, on_vc(request(1), 2))]), ["UAL-SWI-07"]);
}
