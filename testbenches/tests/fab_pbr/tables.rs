//! PIDs, routing tables and minimal routes, without messages (`fabric` §3.1, §3.2).

use scalepool::fabric::cxl_switch::pbr::drt::Drts;
use scalepool::fabric::cxl_switch::pbr::management::{FabricTlp, FabricTlpWay, ManagementRefused, crawl, fabric_tlp};
use scalepool::fabric::cxl_switch::pbr::{
    AccessVector, Drt, DrtEntry, DrtError, IdentityError, PbrGraph, PbrIdentity, PbrPid, PbrRouting, PidCounts,
    PidError, PidHolder, PidPlan, Rgt, judge_pids,
};
use scalepool::fabric::spread::{SpreadGroup, SpreadPolicy, SpreadPort};
use std::collections::BTreeSet;

/// A fabric with 4095 PIDs has all of them but FFFh, each once.
#[test]
fn fab_pid_01_p() {
    let counts = PidCounts { switches: 20, hosts: 64, bindings: 4095 - 1 - 20 - 64 - 30, devices: 30 };
    let plan = PidPlan::new(counts).expect("4095 PIDs");
    let mut all = BTreeSet::from([PidPlan::MANAGER]);
    all.extend((0..counts.switches).map(|n| plan.of_switch(n).expect("it has one")));
    all.extend((0..counts.hosts).map(|n| plan.of_host(n).expect("it has one")));
    all.extend((0..counts.bindings).map(|n| plan.of_binding(n).expect("it has one")));
    all.extend((0..counts.devices).map(|n| plan.of_device(n).expect("it has one")));
    let numbers: Vec<u16> = all.iter().map(|pid| pid.number()).collect();
    assert_eq!(numbers, (0..0xfff).collect::<Vec<u16>>());
    let behind = [plan.of_switch(20), plan.of_host(64), plan.of_binding(counts.bindings), plan.of_device(30)];
    assert_eq!(behind, [None; 4]);
}

/// Everybody of a fabric has a PID, and no two the same, also with the most that there are.
#[test]
fn fab_pid_02_p() {
    for (switches, hosts, bindings, devices) in [(1, 1, 1, 1), (3, 2, 4, 4), (20, 64, 4095 - 1 - 20 - 64 - 30, 30)] {
        let plan = PidPlan::new(PidCounts { switches, hosts, bindings, devices }).expect("there are enough");
        let given = plan.given();
        let needed: Vec<PidHolder> = given.iter().map(|(holder, _)| *holder).collect();
        assert_eq!(given.len(), 1 + switches + hosts + bindings + devices);
        assert_eq!(judge_pids(&needed, &given), Ok(()));
    }
}

/// A switch, the manager or a binding without one, and two with the same one.
#[test]
fn fab_pid_02_n() {
    let plan = PidPlan::new(PidCounts { switches: 2, hosts: 1, bindings: 2, devices: 2 }).expect("there are enough");
    let needed = [PidHolder::Manager, PidHolder::Switch(0), PidHolder::Switch(1), PidHolder::Binding(1)];
    for missing in needed {
        let given: Vec<_> = plan.given().into_iter().filter(|(holder, _)| *holder != missing).collect();
        let found = judge_pids(&needed, &given).expect_err("one is missing");
        assert_eq!(found, PidError::Missing(missing));
        assert!(found.to_string().contains("fabric PID-2"), "{found}");
    }
    let mut given = plan.given();
    let (holder, first) = given[1];
    given[4].1 = first;
    let found = judge_pids(&needed, &given);
    assert_eq!(found, Err(PidError::Double { pid: first.number(), holders: [holder, given[4].0] }));
}

#[test]
fn fab_pid_01_n() {
    for found in [0xfff, 0x1000, u16::MAX] {
        assert_eq!(PbrPid::new(found), Err(PidError::Reserved { found }));
    }
    assert_eq!(PbrPid::new(0xffe).map(PbrPid::number), Ok(0xffe));
    let counts = PidCounts { switches: 20, hosts: 64, bindings: 4095 - 20 - 64 - 30, devices: 30 };
    let refused = PidPlan::new(counts).expect_err("4096 PIDs");
    assert_eq!(refused, PidError::TooMany(counts));
    assert!(
        refused
            .to_string()
            .starts_with("found 4096 PIDs (the manager, 20 switches, 64 host ports, 3981 bindings, 30 device ports)")
    );
}

fn pid(number: u16) -> PbrPid {
    PbrPid::new(number).expect("it is none that is reserved")
}

/// Codes of entries, both ways, for every DPID; inputs with tables of their own.
#[test]
fn fab_drt_01_p() {
    for kind in 0..3u8 {
        for value in [0, 1, 0x7f, 0xff] {
            let entry = DrtEntry::from_bytes([kind, value]).expect("a type that is not reserved");
            assert_eq!(entry.to_bytes(), if kind == 0 { [0, 0] } else { [kind, value] });
        }
    }
    let mut table = Drt::new(256, &Rgt::default());
    let entries: Vec<DrtEntry> = (0..4096).map(|n| DrtEntry::Port((n * 7 % 256) as u8)).collect();
    table.set(0, &entries).expect("all of them");
    for dpid in 0..0xfff {
        assert_eq!(table.port(dpid), Some(usize::from(dpid) * 7 % 256));
        assert_eq!(table.entry(pid(dpid)), entries[usize::from(dpid)]);
    }
    let mut tables = Drts::new(2, 3, Rgt::default());
    for (number, port) in [(0, 1), (1, 2)] {
        tables.table(number).and_then(|table| table.set(5, &[DrtEntry::Port(port)])).expect("it is legal");
    }
    tables.select(2, 1).expect("it exists");
    assert_eq!([0, 1, 2].map(|from| tables.port(from, 5)), [Some(1), Some(1), Some(2)]);
    assert_eq!((tables.count(), tables.port(3, 5), tables.port(0, 6)), (2, None, None));
}

/// Type 3; a switch that took the first table for every input would send elsewhere.
#[test]
fn fab_drt_01_n() {
    for reserved in [0u8, 0xf8] {
        assert_eq!(DrtEntry::from_bytes([reserved | 3, 9]), Err(DrtError::Reserved));
    }
    let mut tables = Drts::new(2, 2, Rgt::default());
    tables.table(1).and_then(|table| table.set(5, &[DrtEntry::Port(1)])).expect("it is legal");
    tables.select(1, 1).expect("it exists");
    assert_ne!(tables.port(1, 5), tables.port(0, 5));
}

#[test]
fn fab_drt_04_p() {
    let mut table = Drt::new(4, &Rgt::default());
    table.set(4094, &[DrtEntry::Port(3), DrtEntry::Port(0)]).expect("the last two");
    table.set(4096, &[]).expect("nothing");
    assert_eq!((table.port(4094), table.port(4095), table.port(4096)), (Some(3), Some(0), None));
    table.set(4094, &[DrtEntry::Invalid]).expect("it is legal");
    assert_eq!(table.port(4094), None);
}

#[test]
fn fab_drt_04_n() {
    let mut table = Drt::new(4, &Rgt::default());
    table.set(7, &[DrtEntry::Port(2)]).expect("it is legal");
    let before = table.clone();
    let (good, bad) = (DrtEntry::Port(0), DrtEntry::Port(4));
    for (first, entries, error) in [
        (4095, vec![good, good], DrtError::Range { first: 4095, count: 2 }),
        (usize::MAX, vec![good], DrtError::Range { first: usize::MAX, count: 1 }),
        (7, vec![good, bad], DrtError::Port { found: 4, last: 3 }),
        (7, vec![good, DrtEntry::Group(1)], DrtError::Group { found: 1, groups: 0 }),
    ] {
        assert_eq!(table.set(first, &entries), Err(error));
        assert_eq!(table, before);
    }
    let mut tables = Drts::new(1, 4, Rgt::default());
    assert_eq!(tables.table(1).err(), Some(DrtError::Table { found: 1, last: 0 }));
    assert_eq!(tables.select(0, 1), Err(DrtError::Table { found: 1, last: 0 }));
    assert_eq!(tables, Drts::new(1, 4, Rgt::default()));
}

/// Distances by relaxing all links again and again, which knows no queue.
fn relaxed(switches: usize, links: &[(usize, usize)]) -> Vec<Vec<Option<usize>>> {
    let mut all = vec![vec![None; switches]; switches];
    for (n, row) in all.iter_mut().enumerate() {
        row[n] = Some(0);
    }
    for _ in 0..switches {
        for &(a, b) in links {
            for (near, far) in [(a, b), (b, a)] {
                let over = all[far].clone();
                for (own, over) in all[near].iter_mut().zip(over) {
                    *own = [*own, over.map(|distance: usize| distance + 1)].into_iter().flatten().min();
                }
            }
        }
    }
    all
}

/// Two hundred graphs, connected or not: switches, links, the graph, and at each port of a switch who is there.
type Drawn = (usize, Vec<(usize, usize)>, PbrGraph, Vec<Vec<usize>>);

fn graphs() -> Vec<Drawn> {
    let mut state = 7u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % below
    };
    let mut all = Vec::new();
    for _ in 0..200 {
        let switches = 2 + random(9);
        let links: Vec<(usize, usize)> = (0..random(2 * switches + 1))
            .map(|_| (random(switches), random(switches)))
            .filter(|(a, b)| a != b)
            .collect();
        let mut graph = PbrGraph::new(switches);
        let mut far = vec![Vec::new(); switches];
        for &(a, b) in &links {
            for (near, other) in [(a, b), (b, a)] {
                graph.join(near, far[near].len(), other);
                far[near].push(other);
            }
        }
        all.push((switches, links, graph, far));
    }
    all
}

/// Any connected graph, and some that are not: every candidate is one link closer, and there is one wherever there is a way.
#[test]
fn minimal_routes_are_the_shortest_in_any_graph() {
    let mut apart = 0;
    for (switches, links, graph, far) in graphs() {
        let expected = relaxed(switches, &links);
        // Links go both ways, and so do distances.
        for (to, expected) in expected.iter().enumerate() {
            for (from, next) in graph.next(PbrRouting::Minimal, to).iter().enumerate() {
                let closer: Vec<usize> = (0..far[from].len())
                    .filter(|port| expected[far[from][*port]].map(|there| there + 1) == expected[from])
                    .filter(|_| expected[from].is_some())
                    .collect();
                let found: Vec<usize> = next.primary.iter().map(|port| port.port).collect();
                assert_eq!(found, closer, "{from} to {to} over {links:?}");
                assert!(
                    next.primary.iter().all(|port| Some(port.links) == expected[from]) && next.secondary.is_empty()
                );
                assert_eq!(found.is_empty(), from == to || expected[from].is_none());
                apart += usize::from(expected[from].is_none());
            }
        }
    }
    assert!(apart > 0);
}

/// Whatever candidate is taken, one of a longer way too, the way ends at its destination, and links that wait for the next one of a way are in no
/// circle: taken away one by one, as long as one is behind no other, none is left.
#[test]
fn routes_up_and_down_arrive_and_are_free_of_circles_in_any_graph() {
    let (mut longer, mut secondary) = (0, 0);
    for (switches, links, graph, far) in graphs() {
        let distances = relaxed(switches, &links);
        let mut waits = BTreeSet::new();
        for (to, distances) in distances.iter().enumerate() {
            let next = graph.next(PbrRouting::UpDown, to);
            for from in (0..switches).filter(|from| *from != to) {
                let is_cut = distances[from].is_none();
                assert_eq!(next[from].primary.is_empty(), is_cut, "{from} to {to} over {links:?}");
                let shortest = next[from].primary.iter().map(|port| port.links).max();
                assert!(next[from].secondary.iter().all(|port| Some(port.links) > shortest), "{from} to {to}");
                secondary += next[from].secondary.len();
                let mut open = vec![(from, None, 0)];
                while let Some((at, before, hops)) = open.pop() {
                    assert!(hops <= 2 * switches, "{from} to {to} over {links:?}");
                    longer += usize::from(at == to && Some(hops) > distances[from]);
                    let all = next[at].primary.iter().chain(&next[at].secondary).map(|port| port.port);
                    for port in all.filter(|_| at != to) {
                        waits.extend(before.map(|before| (before, (at, port))));
                        open.push((far[at][port], Some((at, port)), hops + 1));
                    }
                }
            }
        }
        while let Some(last) = waits.iter().map(|(_, to)| *to).find(|to| waits.iter().all(|(from, _)| from != to)) {
            waits.retain(|(_, to)| *to != last);
        }
        assert!(waits.is_empty(), "{links:?}: {waits:?}");
    }
    assert!(longer > 0 && secondary > 0, "some ways are not minimal");
}

fn groups(count: usize) -> Rgt {
    let port = |port| SpreadPort { port, links: 1 };
    let group = |n: usize| SpreadGroup {
        policy: SpreadPolicy::Random,
        mix: 0,
        primary: vec![port(n % 4)],
        secondary: vec![port((n + 1) % 4)],
    };
    Rgt::new((0..count).map(group).collect()).expect("it is legal")
}

#[test]
fn fab_rgt_06_p() {
    for (tables, own, entries) in [(1, 0, 0), (3, 5, 8), (2, 256, 256)] {
        let identity = PbrIdentity::of(&Drts::new(tables, 4, groups(own)));
        assert_eq!(identity, PbrIdentity { drts: tables, groups: entries, modes: 0xc7 });
        assert_eq!(identity.check(), Ok(identity));
    }
    assert_eq!(PbrIdentity::of(&Drts::new(0, 4, Rgt::default())).drts, 1, "there is one at least");
}

#[test]
fn fab_rgt_06_n() {
    let legal = PbrIdentity { drts: 1, groups: 4, modes: 0b1 };
    assert_eq!(legal.check(), Ok(legal));
    assert_eq!(PbrIdentity { drts: 0, ..legal }.check(), Err(IdentityError::Tables));
    for found in [0b1001, 0b10_0001] {
        assert_eq!(PbrIdentity { modes: found, ..legal }.check(), Err(IdentityError::Modes { found }));
    }
    assert_eq!(PbrIdentity { modes: 0x80, ..legal }.check(), Err(IdentityError::NoMode { groups: 4 }));
}

fn known() -> (Drts, PbrPid) {
    let mut tables = Drts::new(1, 4, Rgt::default());
    let pid = PbrPid::new(0x123).expect("it is none that is reserved");
    tables.table(0).and_then(|table| table.set(0x123, &[DrtEntry::Port(2)])).expect("it is legal");
    (tables, pid)
}

#[test]
fn fab_isl_08_p() {
    let (tables, pid) = known();
    for tunnels in 0..=2 {
        assert_eq!(crawl(&tables, 1, pid, tunnels), Ok(2));
    }
    let mut access = AccessVector::default();
    access.set(pid, true);
    for tlp in [FabricTlp::UioRequest, FabricTlp::Request, FabricTlp::Completion] {
        assert_eq!(fabric_tlp(&access, pid, tlp, false), FabricTlpWay::Forwarded);
    }
    assert_eq!(fabric_tlp(&access, pid, FabricTlp::UioRequest, true), FabricTlpWay::Forwarded);
}

#[test]
fn fab_isl_08_n() {
    let (tables, pid) = known();
    assert_eq!(crawl(&tables, 1, pid, 3), Err(ManagementRefused::Unsupported { found: 3 }));
    let other = PbrPid::new(0x124).expect("it is none that is reserved");
    assert_eq!(crawl(&tables, 1, other, 0), Err(ManagementRefused::InvalidInput { found: 0x124 }));
    let none = AccessVector::default();
    assert_eq!(fabric_tlp(&none, pid, FabricTlp::Request, false), FabricTlpWay::UnsupportedRequest);
    assert_eq!(fabric_tlp(&none, pid, FabricTlp::UioRequest, false), FabricTlpWay::UnsupportedRequest);
    assert_eq!(fabric_tlp(&none, pid, FabricTlp::Completion, false), FabricTlpWay::Dropped);
    let mut access = AccessVector::default();
    access.set(pid, true);
    assert_eq!(fabric_tlp(&access, pid, FabricTlp::Request, true), FabricTlpWay::UnsupportedRequest);
    assert_eq!(fabric_tlp(&access, pid, FabricTlp::Completion, true), FabricTlpWay::Dropped);
}
