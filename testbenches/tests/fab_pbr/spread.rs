//! Routing groups and what chooses among their ports (scenario FAB-T05), decision by decision and in systems.

use super::edges::{BOUND, DEVICES, HOSTS};
use super::sharing::shared;
use super::systems::{graph, resolved, ring};
use crate::fab_hbr::systems::{count, on_threads, run};
use scalepool::fabric::cxl_switch::Switching;
use scalepool::fabric::cxl_switch::pbr::drt::Drts;
use scalepool::fabric::cxl_switch::pbr::rgt::is_spread;
use scalepool::fabric::cxl_switch::pbr::{DrtEntry, PbrPort, PbrRoutes, PbrViral, Rgt, RgtError};
use scalepool::fabric::spread::{SPREAD_NAMES, SpreadGroup, SpreadPolicy, SpreadPort};
use scalepool::ordered::{OrderedMap, OrderedSet};
use scalepool_protocols::cxl::message::{Class, Data, M2sBirsp, M2sReq, M2sRwd, Message, S2mBisnp, S2mDrs, S2mNdr};

/// Primary ports 0 and 1 over two links, secondary ports 2 and 3 over three.
fn group(policy: SpreadPolicy, mix: u8) -> SpreadGroup {
    let ports = |first: usize, links: usize| (first..first + 2).map(|port| SpreadPort { port, links }).collect();
    SpreadGroup { primary: ports(0, 2), secondary: ports(2, 3), policy, mix }
}

/// What is chosen with each of so many draws, which are all numbers from 0 on.
fn chosen(group: &SpreadGroup, draws: u64, backlog: [Option<usize>; 4]) -> Vec<Option<usize>> {
    (0..draws).map(|draw| group.choose(draw, &|port| backlog[port])).collect()
}

fn set(all: Vec<Option<usize>>) -> OrderedSet<Option<usize>> {
    all.into_iter().collect()
}

fn rgt(ports: usize) -> Result<Rgt, RgtError> {
    let primary = (0..ports).map(|port| SpreadPort { port, links: 1 }).collect();
    Rgt::new(vec![SpreadGroup { primary, secondary: Vec::new(), policy: SpreadPolicy::Random, mix: 0 }])
}

#[test]
fn fab_rgt_01_p() {
    assert!(rgt(1).is_ok() && rgt(8).is_ok());
    for (groups, entries) in [(0, 0), (1, 1), (3, 4), (129, 256), (256, 256)] {
        let table = Rgt::new(vec![group(SpreadPolicy::Random, 0); groups]).expect("it is legal");
        assert_eq!(table.entries(), entries);
    }
}

#[test]
fn fab_rgt_01_n() {
    assert_eq!(rgt(9), Err(RgtError::Ports { found: 9 }));
    assert_eq!(rgt(0), Err(RgtError::Ports { found: 0 }));
    let groups = |groups| Rgt::new(vec![group(SpreadPolicy::Random, 0); groups]);
    assert_eq!(groups(257), Err(RgtError::Groups { found: 257 }));
    let none = SpreadGroup { primary: Vec::new(), ..group(SpreadPolicy::Random, 0) };
    assert_eq!(Rgt::new(vec![none]), Err(RgtError::Primary));
    assert_eq!(Rgt::new(vec![group(SpreadPolicy::Random, 8)]), Err(RgtError::Mix { found: 8 }));
}

/// Static traffic takes the first port of the list, however long its queue is.
#[test]
fn fab_rgt_02_p() {
    assert_eq!(
        set(chosen(&group(SpreadPolicy::Static, 0), 64, [Some(9), Some(0), Some(0), Some(0)])),
        [Some(0)].into()
    );
}

/// The second port is no way out when the first one has no room.
#[test]
fn fab_rgt_02_n() {
    assert_eq!(set(chosen(&group(SpreadPolicy::Static, 0), 64, [None, Some(0), Some(0), Some(0)])), [None].into());
}

#[test]
fn fab_rgt_03_p() {
    let idle = [Some(0); 4];
    // Any of the group that the mix picks: all with 4/8, primary ones alone with 7.
    assert_eq!(set(chosen(&group(SpreadPolicy::Random, 3), 64, idle)), [Some(0), Some(1), Some(2), Some(3)].into());
    assert_eq!(set(chosen(&group(SpreadPolicy::Random, 7), 64, idle)), [Some(0), Some(1)].into());
    // The least loaded one of that group.
    let loaded = [Some(4), Some(3), Some(2), Some(9)];
    assert_eq!(set(chosen(&group(SpreadPolicy::Congestion, 7), 64, loaded)), [Some(1)].into());
    assert_eq!(set(chosen(&group(SpreadPolicy::Congestion, 3), 64, loaded)), [Some(1), Some(2)].into());
    // Twice the backlog and one more against the backlog: a tie goes to the shorter way.
    for (loaded, expected) in
        [([5, 9, 2, 9], 0), ([6, 9, 2, 9], 2), ([0, 0, 0, 0], 0), ([9, 3, 1, 0], 3), ([2, 1, 0, 0], 1)]
    {
        let found = chosen(&group(SpreadPolicy::Advanced, 7), 64, loaded.map(Some));
        assert_eq!(set(found), [Some(expected)].into(), "{loaded:?}");
    }
}

/// The mix has no say in `advanced`; if it had, secondary ports would be taken with code 6 though they cost more.
#[test]
fn fab_rgt_03_n() {
    let loaded = [Some(1), Some(0), Some(0), Some(0)];
    for mix in 0..8 {
        assert_eq!(set(chosen(&group(SpreadPolicy::Advanced, mix), 64, loaded)), [Some(1)].into());
    }
    assert!(set(chosen(&group(SpreadPolicy::Congestion, 6), 64, loaded)).contains(&Some(2)));
}

/// Shares of the codes, in eighths: 7 of 8 for code 0, 1 of 8 for code 6.
#[test]
fn fab_rgt_04_p() {
    for mix in 0..7 {
        let found = chosen(&group(SpreadPolicy::Random, mix), 8000, [Some(0); 4]);
        let primary = found.iter().filter(|port| **port < Some(2)).count();
        assert_eq!(primary, 1000 * usize::from(7 - mix), "code {mix}");
    }
    // Preferred, and secondary on overflow; ignored without secondary ports.
    let overflow = chosen(&group(SpreadPolicy::Random, 7), 64, [None, None, Some(0), Some(5)]);
    assert_eq!(set(overflow), [Some(2), Some(3)].into());
    let alone = SpreadGroup { secondary: Vec::new(), ..group(SpreadPolicy::Random, 6) };
    assert_eq!(set(chosen(&alone, 64, [Some(0); 4])), [Some(0), Some(1)].into());
}

/// Where all ports that the mix picks are lost the others are taken: nothing would ever make room at a lost one.
#[test]
fn a_message_does_not_wait_for_ports_that_are_lost() {
    for policy in SPREAD_NAMES.iter().skip(1).filter_map(|name| SpreadPolicy::by_name(name)) {
        for mix in 0..8 {
            let all = group(policy, mix);
            let found = set(chosen(&all.without(|port| port < 2), 64, [Some(0); 4]));
            assert!(!found.contains(&None) && !found.contains(&Some(0)), "{policy:?} {mix}: {found:?}");
            let found = set(chosen(&all.without(|port| port >= 2), 64, [Some(0); 4]));
            assert!(found.iter().all(|port| *port < Some(2) && port.is_some()), "{policy:?} {mix}: {found:?}");
        }
    }
}

/// With code 7 no secondary port is taken as long as a primary one has room, and its neighbour's share is another one.
#[test]
fn fab_rgt_04_n() {
    let found = set(chosen(&group(SpreadPolicy::Random, 7), 4096, [None, Some(99), Some(0), Some(0)]));
    assert_eq!(found, [Some(1)].into());
}

/// A port is a candidate when its queue can take the message.
#[test]
fn fab_rgt_05_p() {
    for policy in [SpreadPolicy::Random, SpreadPolicy::Congestion] {
        let found = chosen(&group(policy, 3), 64, [None, Some(7), None, Some(7)]);
        assert_eq!(set(found), [Some(1), Some(3)].into(), "{policy:?}");
    }
}

/// The chosen group is full: the message waits, and does not take a port of the other one.
#[test]
fn fab_rgt_05_n() {
    for policy in [SpreadPolicy::Random, SpreadPolicy::Congestion] {
        let found = chosen(&group(policy, 3), 8, [None, None, Some(0), Some(0)]);
        assert_eq!(found.iter().filter(|port| port.is_none()).count(), 4, "{policy:?}: half of the draws");
    }
}

/// A shortest way is taken unless its backlog times its links is more than that of a longer one: 2 links against 3.
#[test]
fn fab_top_04_p() {
    for (primary, secondary, is_short) in
        [(0, 0, true), (3, 2, true), (4, 2, false), (1, 0, false), (9, 6, true), (10, 6, false)]
    {
        let loaded = [Some(primary), Some(primary), Some(secondary), Some(secondary)];
        let found = set(chosen(&group(SpreadPolicy::Ugal { threshold: 0 }, 0), 64, loaded));
        let expected: OrderedSet<_> = if is_short { [Some(0), Some(1)] } else { [Some(2), Some(3)] }.into();
        assert_eq!(found, expected, "{primary} against {secondary}");
    }
}

/// Backlogs alone, without the links, would choose otherwise; and a tie is no reason for a longer way.
#[test]
fn fab_top_04_n() {
    let found = set(chosen(&group(SpreadPolicy::Ugal { threshold: 0 }, 0), 64, [Some(3), Some(3), Some(2), Some(2)]));
    assert!(!found.contains(&Some(2)) && !found.contains(&Some(3)), "3 x 2 is not more than 2 x 3");
}

/// A threshold counts for the shortest way: 2 links against 3, and 4 more.
#[test]
fn fab_top_04_p2() {
    let ugal = SpreadPolicy::by_name("ugal").expect("it is a policy").with_threshold(4);
    for (primary, secondary, is_short) in [(2, 0, true), (3, 0, false), (8, 4, true), (9, 4, false)] {
        let loaded = [Some(primary), Some(primary), Some(secondary), Some(secondary)];
        let found = set(chosen(&group(ugal, 0), 64, loaded));
        let expected: OrderedSet<_> = if is_short { [Some(0), Some(1)] } else { [Some(2), Some(3)] }.into();
        assert_eq!(found, expected, "{primary} against {secondary}");
    }
}

/// Beside another policy, which would have no use for it, a threshold is refused.
#[test]
fn fab_top_04_n2() {
    for policy in ["advanced", "ugal"] {
        let spread = format!("spread = \"{policy}\"");
        let text = dealt(5, policy).replace(&spread, &format!("{spread}\nugal_threshold = 4"));
        let found = resolved(&text).err().unwrap_or_default();
        let expected = "ugal_threshold: found it with spread = \"advanced\", expected \"ugal\"";
        assert_eq!(found.contains(expected), policy == "advanced", "{found}");
    }
}

/// A switch with three fabric ports: two lead to both hosts and devices by a group, and one more to what is bound.
fn switch(policy: SpreadPolicy) -> PbrRoutes {
    let ports = |ports: [usize; 2]| ports.map(|port| SpreadPort { port, links: 2 }).to_vec();
    let group = SpreadGroup { primary: ports([1, 2]), secondary: Vec::new(), policy, mix: 7 };
    let mut tables = Drts::new(1, 3, Rgt::new(vec![group]).expect("it is legal"));
    let table = tables.table(0).expect("there is one");
    for pid in HOSTS.into_iter().chain(DEVICES) {
        table.set(pid.into(), &[DrtEntry::Group(0)]).expect("it is legal");
    }
    for pid in BOUND {
        table.set(pid.into(), &[DrtEntry::Port(2)]).expect("it is legal");
    }
    PbrRoutes {
        ports: vec![PbrPort::Fabric; 3],
        tables,
        claims: OrderedMap::new(),
        poison_on_decode_error: false,
        has_snoops: true,
        has_cache: false,
        seed: 7,
        lost: OrderedSet::new(),
        is_cut: false,
        viral: PbrViral::default(),
        changes: Vec::new(),
    }
}

/// Messages of each class of CXL.mem to a PID.
fn messages(dpid: u16) -> [Message; 6] {
    let data = Data::line([1; 64]);
    [
        Message::M2sReq(M2sReq { dpid, ..M2sReq::default() }),
        Message::M2sRwd(M2sRwd { dpid, ..M2sRwd::default() }, data),
        Message::M2sBirsp(M2sBirsp { dpid, ..M2sBirsp::default() }),
        Message::S2mNdr(S2mNdr { dpid, ..S2mNdr::default() }),
        Message::S2mDrs(S2mDrs { dpid, ..S2mDrs::default() }, data),
        Message::S2mBisnp(S2mBisnp { dpid, ..S2mBisnp::default() }),
    ]
}

/// Ports that so many messages of a kind take.
fn taken(switch: &PbrRoutes, message: &Message) -> OrderedSet<usize> {
    let to = switch.tables.port(0, message.route().dpid).expect("there is a way");
    (0..40).filter_map(|number| switch.spread(0, number, (to, message), &|_| Some(0))).collect()
}

/// A switch whose only port that the mix picks has lost its link takes the other one, and waits for nothing.
#[test]
fn a_lost_port_is_not_waited_for() {
    let mut switch = switch(SpreadPolicy::Random);
    let port = |port| vec![SpreadPort { port, links: 2 }];
    let group = SpreadGroup { primary: port(1), secondary: port(2), policy: SpreadPolicy::Random, mix: 0 };
    let mut tables = Drts::new(1, 3, Rgt::new(vec![group]).expect("it is legal"));
    let table = tables.table(0).expect("there is one");
    table.set(DEVICES[0].into(), &[DrtEntry::Group(0)]).expect("it is legal");
    switch.tables = tables;
    switch.lost.insert(1);
    let request = Message::M2sReq(M2sReq { dpid: DEVICES[0], ..M2sReq::default() });
    let found: OrderedSet<Option<usize>> =
        (0..200).map(|number| switch.spread(0, number, (1, &request), &|_| Some(0))).collect();
    assert_eq!(found, [Some(2)].into());
}

/// What has to keep its order keeps one port; everything else is dealt.
#[test]
fn fab_rgt_08_p() {
    let switch = switch(SpreadPolicy::Random);
    for message in [DEVICES[0], HOSTS[1]].into_iter().flat_map(messages) {
        let expected = if matches!(message, Message::S2mNdr(_)) { vec![1] } else { vec![1, 2] };
        assert_eq!(taken(&switch, &message).into_iter().collect::<Vec<_>>(), expected, "{message:?}");
    }
}

/// Snoops of CXL.cache, its answers to devices and S2M NDR are never dealt, and neither is anything of a virtual link.
#[test]
fn fab_rgt_08_n() {
    for class in [Class::H2dReq, Class::H2dRsp, Class::S2mNdr] {
        assert!(!is_spread(class), "{class:?}");
    }
    for message in BOUND.into_iter().flat_map(messages) {
        assert_eq!(taken(&switch(SpreadPolicy::Random), &message), [2].into(), "{message:?}");
    }
}

/// A ring with a segment table at every host, routes up and down, and a policy.
fn dealt(count: usize, policy: &str) -> String {
    let bound: Vec<usize> = (0..count).map(|n| (n + 2) % count).collect();
    let more = format!("hosts = 1\nrouting = \"up-down\"\ndecode = \"ldst\"\nmix = 3\nspread = \"{policy}\"\n");
    // A chord gives a switch several ways up.
    let edges: Vec<(usize, usize)> = ring(count).into_iter().chain([(0, 2), (1, 3)]).collect();
    graph(&edges, &bound, "").replace("hosts = 1\n", &more)
}

/// Every policy has its name, and with each of them everything arrives, once and with the right data.
#[test]
fn fab_rgt_07_p() {
    for policy in SPREAD_NAMES {
        assert!(SpreadPolicy::by_name(policy).is_some());
        let report = run(&dealt(5, policy), &["component.host.stimulus.accesses=40"]).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(report.violations, [], "{policy}");
        let of_hosts = |name: &str| (0..5).map(|n| count(&report, &format!("host[{n}]"), name)).sum::<u64>();
        assert_eq!((of_hosts("line accesses"), of_hosts("reads") + of_hosts("writes")), (200, 200), "{policy}");
    }
}

/// A name that is none, and policies of longer ways where the routing has none.
#[test]
fn fab_rgt_07_n() {
    let found = resolved(&dealt(5, "fastest")).err().expect("it is refused");
    assert!(found.contains("found `fastest`") || found.contains("found \"fastest\""), "{found}");
    for policy in ["valiant", "ugal"] {
        let text = dealt(5, policy).replace("routing = \"up-down\"\n", "");
        let found = resolved(&text).err().expect("it is refused");
        assert!(found.contains("found a policy for longer ways with routes that have none"), "{found}");
    }
}

/// Hosts share lines whatever way their messages take.
#[test]
fn lines_are_shared_over_several_ways() {
    for policy in ["random", "congestion", "advanced"] {
        let policy = format!("component.leaf.spread={policy}");
        shared(&["core.accesses=8", "core.lines=4", "core.pattern=false-sharing", &policy]);
    }
}

#[test]
fn what_is_drawn_is_the_same_on_any_number_of_threads() {
    let set = ["component.host.stimulus.accesses=30", "link.isl.ber=1e-5"];
    let [one, two] = [1, 2].map(|threads| on_threads(&dealt(5, "random"), &set, threads).json());
    assert_eq!(one, two);
}

/// Fabrics whose ways, all of them together, have no circle.
#[test]
fn fab_dlk_01_p() {
    for policy in SPREAD_NAMES {
        let system = resolved(&dealt(6, policy)).unwrap_or_else(|error| panic!("{policy}: {error}"));
        assert!(system.channels.edges() > 0);
    }
}

/// Shortest ways both round a ring of four, each for any message: refused, and the circle is named link by link.
#[test]
fn fab_dlk_01_n() {
    let bound: Vec<usize> = (0..4).map(|n| (n + 2) % 4).collect();
    let more = "hosts = 1\ndecode = \"ldst\"\nspread = \"random\"\n";
    let text = graph(&ring(4), &bound, "").replace("hosts = 1\n", more);
    let found = resolved(&text).err().expect("it is refused");
    assert!(found.contains("found channels that wait for each other in a circle"), "{found}");
    for n in 0..4 {
        assert!(found.contains(&format!("M2S Req on isl[{n}] ")), "isl[{n}]:\n{found}");
    }
}

/// A mesh of two by three switches whose messages may turn as they like.
#[test]
fn fab_dlk_03_n() {
    let edges = [(0, 1), (1, 2), (3, 4), (4, 5), (0, 3), (1, 4), (2, 5)];
    let more = "hosts = 1\ndecode = \"ldst\"\nspread = \"random\"\n";
    let text = graph(&edges, &[5, 4, 3, 2, 1, 0], "").replace("hosts = 1\n", more);
    let found = resolved(&text).err().expect("it is refused");
    assert!(found.contains("found channels that wait for each other in a circle"), "{found}");
    let up_down = text.replace("hosts = 1\n", "hosts = 1\nrouting = \"up-down\"\n");
    resolved(&up_down).unwrap_or_else(|error| panic!("{error}"));
}
