//! Inter-switch links that are lost while hosts ask (scenario FAB-T06): what ends how, and the way around.

use super::edges::{BOUND, HOSTS};
use super::systems::resolved;
use crate::fab_hbr::systems::{count, on_threads, run};
use scalepool::fabric::cxl_switch::pbr::drt::Drts;
use scalepool::fabric::cxl_switch::pbr::{DrtEntry, PbrChange, PbrPort, PbrRoutes, PbrViral, Rgt};
use scalepool::fabric::cxl_switch::{Routed, Switching, Undelivered};
use scalepool::ordered::{OrderedMap, OrderedSet};
use scalepool::scenario::report::ScenarioReport;
use scalepool_protocols::cxl::message::{M2sReq, Message, S2mNdr};

/// Two switches with links between, of which some are lost.
fn with(links: usize, lost: &str) -> String {
    let pairs: Vec<String> = (0..links).map(|n| format!("[\"front.isl[{n}]\", \"back.isl[{n}]\"]")).collect();
    include_str!("../../systems/pbr_two_switches.toml")
        .replace("kind = \"cxl.host\"", "kind = \"cxl.host\"\ntimeout = \"5 us\"")
        .replace("fabric = 1", &format!("fabric = {links}"))
        .replace("[\"front.isl[0]\", \"back.isl[0]\"]", &format!("[{}]", pairs.join(", ")))
        .replace("hosts = 2\n", &format!("hosts = 2\nlost = [{lost}]\n"))
}

fn sum(report: &ScenarioReport, paths: [&str; 2], name: &str) -> u64 {
    paths.iter().map(|path| count(report, path, name)).sum()
}

/// Requests that timed out and messages that were lost. Each lost message is one request that ends by its time-out, and nothing else
/// does; everything is at rest at the end.
fn ended(text: &str, set: &[&str]) -> [u64; 2] {
    let report = run(text, set).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(report.violations, []);
    let hosts = |name| sum(&report, ["host[0]", "host[1]"], name);
    let switches = |name| sum(&report, ["front", "back"], name);
    let timed_out = hosts("requests timed out");
    let lost = switches("lost with links") + switches("no route");
    assert_eq!((timed_out, hosts("late answers")), (lost, 0));
    [timed_out, hosts("reads") + hosts("writes")]
}

/// Until the tables lead around the link, what was on it, is queued for it or comes for it is lost; then nothing is.
#[test]
fn requests_end_once_and_then_go_around() {
    let [short, _] = ended(&with(2, "{ at = \"2 us\", rerouted_after = \"200 ns\" }"), &["host.accesses=900"]);
    let [long, all] = ended(&with(2, "{ at = \"2 us\", rerouted_after = \"40 us\" }"), &["host.accesses=900"]);
    assert!(0 < short && short < long && long < all, "{short} and {long} of {all}");
    let [never, all] = ended(&with(2, "{ isl = 1, at = \"2 us\" }"), &["host.accesses=900"]);
    assert!(never > long && never < all, "only what goes over that link: {never} of {all}");
}

/// Without any way left, every request ends by its time-out.
#[test]
fn the_last_way_may_be_lost() {
    for rerouted in ["", ", rerouted_after = \"1 us\""] {
        let [timed_out, all] = ended(&with(1, &format!("{{ at = \"1 us\"{rerouted} }}")), &["host.accesses=300"]);
        assert!(timed_out > all / 2, "{timed_out} of {all}");
    }
}

/// Where messages may take several ways, a switch takes another one at once: only what was under way is lost.
#[test]
fn several_ways_lose_less() {
    let spread = |text: String| {
        let dealt = text.replace("hosts = 2\n", "hosts = 2\ndecode = \"ldst\"\nspread = \"random\"\n");
        dealt.replace("ports = 2\n", "ports = 2\nspread = \"random\"\n")
    };
    let text = with(2, "{ isl = 1, at = \"2 us\" }");
    let set = ["host.accesses=900", "host.pattern=reads"];
    let [one_way, _] = ended(&text, &set);
    let [several, _] = ended(&spread(text), &set);
    assert!(several < one_way / 3, "{several} instead of {one_way}");
}

#[test]
fn links_are_lost_alike_on_any_number_of_threads() {
    let text = with(2, "{ at = \"2 us\", rerouted_after = \"1 us\" }");
    let [one, two] =
        [1, 2].map(|threads| on_threads(&text, &["host.accesses=200", "link.between.ber=1e-5"], threads).json());
    assert_eq!(one, two);
}

#[test]
fn links_that_are_not_there_are_refused() {
    for (lost, expected) in [
        ("{ isl = 2 }", "found isl = 2, expected one of the 2 fabric ports"),
        ("{ isl = 1 }, { isl = 1 }", "found the link at `front.isl[1]` twice, expected it once"),
    ] {
        let found = resolved(&with(2, lost)).err().expect("it is refused");
        assert!(found.contains(expected), "{expected}\n{found}");
    }
}

/// A switch with two fabric ports that lead to the same places, of which the first is lost at cycle 10 and avoided from 20 on.
fn switch() -> PbrRoutes {
    let tables = |port: u8| {
        let mut tables = Drts::new(1, 3, Rgt::default());
        let table = tables.table(0).expect("there is one");
        for pid in HOSTS.into_iter().chain(BOUND) {
            table.set(pid.into(), &[DrtEntry::Port(port)]).expect("it is legal");
        }
        tables
    };
    PbrRoutes {
        ports: vec![PbrPort::Fabric; 3],
        tables: tables(1),
        claims: OrderedMap::new(),
        poison_on_decode_error: false,
        has_snoops: false,
        has_cache: false,
        seed: 1,
        lost: OrderedSet::new(),
        is_cut: false,
        viral: PbrViral::default(),
        changes: vec![(20, PbrChange::Rerouted(Box::new(tables(2)))), (10, PbrChange::Lost(1))],
    }
}

/// The port where a request and an answer leave.
fn leaving(switch: &PbrRoutes) -> [Result<usize, Undelivered>; 2] {
    let request = Message::M2sReq(M2sReq { dpid: BOUND[0], ..M2sReq::default() });
    let answer = Message::S2mNdr(S2mNdr { dpid: HOSTS[0], ..S2mNdr::default() });
    [request, answer].map(|message| match switch.route(0, &message) {
        Routed::Port { to, .. } => Ok(to),
        Routed::Dropped(why) | Routed::Answered { why, .. } => Err(why),
    })
}

/// Used until it is lost, dropped until the tables are written, not chosen afterwards.
#[test]
fn fab_isl_07_p() {
    let mut switch = switch();
    assert_eq!((leaving(&switch), switch.next_cycle()), ([Ok(1); 2], Some(10)));
    assert!(switch.manage(9).is_none() && switch.manage(10).is_some() && switch.manage(10).is_none());
    assert_eq!((leaving(&switch), switch.next_cycle()), ([Err(Undelivered::LostLink); 2], Some(20)));
    assert!(switch.manage(20).is_some());
    assert_eq!((leaving(&switch), switch.next_cycle()), ([Ok(2); 2], None));
}

/// Tables that still lead to the lost port deliver nothing there, and what comes from there is not taken either.
#[test]
fn fab_isl_07_n() {
    let mut switch = switch();
    switch.changes.remove(0);
    assert!(switch.manage(30).is_some() && switch.manage(40).is_none());
    assert_eq!(leaving(&switch), [Err(Undelivered::LostLink); 2]);
    let late = Message::S2mNdr(S2mNdr { dpid: HOSTS[0], ..S2mNdr::default() });
    let routed = switch.route(1, &late);
    assert_eq!(routed, Routed::Dropped(Undelivered::LostLink));
    assert_eq!(switch.judge(1, &late, &routed), None, "no peer broke a rule");
}
