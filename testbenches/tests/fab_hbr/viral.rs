//! Viral through a switch (`fabric` §1.10): which hierarchies it reaches, what ports tell their links, and what ends it.

use super::module::{ToldRun, bench, read, run_told, write};
use super::systems::{POOLED, count, on_threads, refused, run};
use scalepool::fabric::cxl_switch::{
    Bindings, CommandError, ManagerCommand, ManagerEvent, ResetScope, TimedCommand, UnbindOption, ViralHierarchies,
    VppbBinding,
};
use scalepool::ordered::OrderedSet;
use scalepool::scenario::report::ScenarioReport;
use scalepool_protocols::cxl::message::Message;

/// Cycle at which a port goes viral.
const AT: u64 = 60;

/// Two hosts with a device each, both busy, while a port goes viral: what came at each port, what it was told of viral, counts.
fn goes_viral(at: ResetScope) -> ToldRun {
    let mut two = bench(2);
    two.commands = vec![TimedCommand { at_cycle: AT, command: ManagerCommand::Viral(at) }];
    for n in 0..100 {
        for host in 0..2 {
            two.sends[host].extend([(10 + 2 * u64::from(n), read(n, 0)), (11 + 2 * u64::from(n), write(200 + n))]);
        }
    }
    run_told(two)
}

/// Whether a port was told viral in front of every message that left the switch from `AT` on; a channel takes a cycle.
fn is_ahead(seen: &[(u64, Message)], told: &[(u64, Option<u16>)]) -> bool {
    let [(told_cycle, Some(0))] = told else { return false };
    seen.iter().all(|(cycle, _)| *cycle <= AT || told_cycle <= cycle)
}

const PLACES: [ResetScope; 6] = [
    ResetScope::Upstream(0),
    ResetScope::Upstream(1),
    ResetScope::Vppb((0, 0)),
    ResetScope::Vppb((1, 0)),
    ResetScope::Port(0),
    ResetScope::Port(1),
];

/// Hierarchy of a place.
fn hierarchy(at: ResetScope) -> usize {
    match at {
        ResetScope::Upstream(vcs) | ResetScope::Vppb((vcs, _)) | ResetScope::Port(vcs) => vcs,
        ResetScope::Switch => 0,
    }
}

/// Each port of each hierarchy: host and device of that hear of it before any later message, and everything is still answered.
#[test]
fn fab_vir_01_p() {
    for at in PLACES {
        let (seen, told, result) = goes_viral(at);
        let own = hierarchy(at);
        for port in [own, 2 + own] {
            assert!(is_ahead(&seen[port], &told[port]), "{at}: {:?}", told[port]);
            assert!(seen[port].iter().filter(|(cycle, _)| *cycle > AT).count() > 100, "{at}: messages go on");
        }
        assert_eq!(seen[own].len(), 200, "{at}: all are answered");
        assert_eq!(result.viral_told, 2, "{at}");
    }
}

/// A message in front of the status is seen, and so is a port that is not told.
#[test]
fn fab_vir_01_n() {
    let (seen, told, _) = goes_viral(ResetScope::Upstream(0));
    let (first, _) = *seen[0].iter().find(|(cycle, _)| *cycle > AT).expect("messages go on");
    assert!(is_ahead(&seen[0], &told[0]) && !is_ahead(&seen[0], &[(first + 1, Some(0))]));
    assert!(!is_ahead(&seen[1], &told[1]));
}

/// Everything of the hierarchy counts as viral from then on, and nothing of the other one does or is told so.
#[test]
fn fab_vir_02_p() {
    for at in PLACES {
        let (seen, told, result) = goes_viral(at);
        let (own, other) = (hierarchy(at), 1 - hierarchy(at));
        assert_eq!([&told[other], &told[2 + other]], [&vec![], &vec![]], "{at}");
        let of_own = [own, 2 + own].map(|port| seen[port].iter().filter(|(cycle, _)| *cycle > AT).count() as u64);
        assert_eq!(result.viral_messages, of_own.iter().sum::<u64>(), "{at}");
        assert!(
            matches!(result.events[..], [(_, ManagerEvent::Viral(vcs))] if vcs == own),
            "{at}: {:?}",
            result.events
        );
    }
}

/// With a fatal error inside the switch both are viral, which is seen in the same counts.
#[test]
fn fab_vir_02_n() {
    let (seen, told, result) = goes_viral(ResetScope::Switch);
    assert!(told.iter().all(|port| port.len() == 1));
    let later: usize = seen.iter().map(|port| port.iter().filter(|(cycle, _)| *cycle > AT).count()).sum();
    assert_eq!((result.viral_messages, result.viral_told), (later as u64, 4));
}

/// Sixteen hosts with a logical device each of the first port, and two of them with a port of their own beside.
fn shared() -> Bindings {
    let mut bindings = Bindings::new(16, 2, 3);
    for vcs in 0..16 {
        let own = VppbBinding { vcs, vppb: 0, port: 0, ld: Some(15 - vcs as u8) };
        bindings.bind(own).expect("it is free");
    }
    for (vcs, port) in [(3, 1), (9, 2)] {
        bindings.bind(VppbBinding { vcs, vppb: 1, port, ld: None }).expect("it is free");
    }
    bindings
}

/// Ports are numbered behind those of the hosts.
const MLD: usize = 16;

#[test]
fn fab_vir_03_p() {
    let bindings = shared();
    let mut viral = ViralHierarchies::default();
    let mut vector = 0;
    for vcs in [3, 9, 0, 15, 7] {
        assert_eq!(viral.declare(ResetScope::Upstream(vcs), &bindings), Some(vec![vcs]));
        vector |= 1 << (15 - vcs);
        let own_port = [(3, 17), (9, 18)].into_iter().find(|(of, _)| *of == vcs).map(|(_, port)| (port, Some(0)));
        let expected: Vec<_> = [(vcs, Some(0)), (MLD, Some(vector))].into_iter().chain(own_port).collect();
        assert_eq!(viral.to_tell(&bindings), expected, "VCS {vcs}");
        assert_eq!(viral.declare(ResetScope::Upstream(vcs), &bindings), Some(Vec::new()), "it is viral already");
        assert_eq!(viral.to_tell(&bindings), [], "nothing has changed");
    }
}

/// The bit of a logical device goes with its binding: in a healthy hierarchy it is healthy.
#[test]
fn fab_vir_03_n() {
    let mut bindings = shared();
    let mut viral = ViralHierarchies::default();
    viral.declare(ResetScope::Vppb((3, 0)), &bindings);
    viral.declare(ResetScope::Vppb((4, 0)), &bindings);
    let told = viral.to_tell(&bindings);
    assert!(told.contains(&(MLD, Some(1 << 12 | 1 << 11))), "{told:?}");
    let moved = bindings.unbind(3, 0).expect("it is bound");
    assert_eq!(viral.to_tell(&bindings), [(MLD, Some(1 << 11))]);
    bindings.bind(VppbBinding { vcs: 5, vppb: 1, ..moved }).expect("it is free");
    assert_eq!(viral.to_tell(&bindings), [], "VCS 5 is healthy");
}

/// What ends viral, and what does not.
#[test]
fn fab_vir_04_p() {
    let bindings = shared();
    let both = |by: ResetScope| {
        let mut viral = ViralHierarchies::default();
        viral.declare(ResetScope::Upstream(1), &bindings);
        viral.declare(ResetScope::Upstream(2), &bindings);
        viral.to_tell(&bindings);
        let over = viral.reset(by);
        assert_eq!(over.is_empty(), viral.to_tell(&bindings).is_empty(), "{by:?}: ports tell what has changed");
        over
    };
    assert_eq!(both(ResetScope::Upstream(1)), [1]);
    assert_eq!(both(ResetScope::Switch), [1, 2]);
    for by in [ResetScope::Upstream(5), ResetScope::Vppb((1, 0)), ResetScope::Port(0)] {
        assert!(both(by).is_empty(), "{by:?}");
    }
    let mut inside = ViralHierarchies::default();
    assert_eq!(
        inside.declare(ResetScope::Switch, &bindings),
        Some((0..16).collect()),
        "a fatal error inside the switch"
    );
}

/// A hierarchy that viral has left is healthy, and tells so to nobody: the link has been down.
#[test]
fn fab_vir_04_n() {
    let bindings = shared();
    let mut viral = ViralHierarchies::default();
    viral.declare(ResetScope::Upstream(3), &bindings);
    viral.to_tell(&bindings);
    assert!(viral.has(3) && viral.reset(ResetScope::Vppb((3, 1))).is_empty() && viral.has(3));
    viral.reset(ResetScope::Upstream(3));
    assert!(!viral.has(3));
    assert_eq!(viral.to_tell(&bindings), [(3, None), (MLD, None), (17, None)]);
}

/// Where Viral_Enable of a vPPB is off its port starts nothing and is told nothing.
#[test]
fn viral_is_enabled_by_vppb() {
    let bindings = shared();
    let mut viral = ViralHierarchies::new(OrderedSet::from_iter([(3, 1)]));
    assert_eq!(viral.declare(ResetScope::Vppb((3, 1)), &bindings), None);
    assert_eq!(viral.declare(ResetScope::Port(1), &bindings), None);
    assert_eq!(viral.declare(ResetScope::Vppb((3, 0)), &bindings), Some(vec![3]));
    assert_eq!(viral.to_tell(&bindings), [(3, Some(0)), (MLD, Some(1 << 12))]);
    let nothing = CommandError::NoHierarchy { found: ResetScope::Port(1) }.to_string();
    assert!(nothing.starts_with("found port 1 going viral, expected a port of a hierarchy"), "{nothing}");
}

/// `pooled-pair` with commands, and what each end of a link heard of viral: place, rule and what it heard.
fn pair(commands: &str, set: &[&str]) -> (Vec<[String; 3]>, ScenarioReport) {
    let text = POOLED
        .replace("preset = \"cxl_switch\"", &format!("commands = [{commands}]\npreset = \"cxl_switch\""))
        .replace("kind = \"cxl.host\"", "kind = \"cxl.host\"\ntimeout = \"5 us\"");
    let set = [&["host.accesses=1500"], set].concat();
    let report = run(&text, &set).unwrap_or_else(|error| panic!("{commands}: {error}"));
    let heard = |one: &scalepool::nodes::PlacedViolation| {
        [one.place.clone(), one.violation.rule.to_owned(), one.violation.found.clone()]
    };
    (report.violations.iter().map(heard).collect(), report)
}

/// On the links: the host of the hierarchy and its device hear of it in flits, with the bit of the logical device there; the other
/// host does not, and every access of both is done.
#[test]
fn links_carry_the_status() {
    for (mode, rule) in [("cxl-256b", "CXL256-VIR-01"), ("cxl-256b-lopt", "CXL256-VIR-01"), ("cxl-68b", "CXL68-VIR-02")]
    {
        let set = [format!("link.mode={mode}")];
        let (heard, report) = pair("{ at = \"2 us\", command = \"viral\", vcs = 1 }", &[&set[0]]);
        let expected = [("host[1].cxl", "0x0000"), ("memory.cxl", "0x0002")];
        let expected = expected
            .map(|(place, vector)| [place, rule, &format!("Viral, logical devices {vector}")].map(str::to_owned));
        assert_eq!(heard, expected, "{mode}");
        let of = |name: &str| count(&report, "switch", name);
        assert_eq!((of("hierarchies viral"), of("viral told"), of("commands refused")), (1, 2, 0), "{mode}");
        let passed: u64 =
            ["M2S Req", "M2S RwD", "S2M NDR", "S2M DRS"].iter().map(|c| of(&format!("switched {c}"))).sum();
        assert!(0 < of("viral messages") && of("viral messages") < passed / 2, "{mode}");
        for host in ["host[0]", "host[1]"] {
            assert_eq!(count(&report, host, "line accesses"), 1500, "{mode}");
            assert_eq!(count(&report, host, "requests timed out"), 0, "{mode}: requests go on");
        }
    }
}

/// A reset of the hierarchy ends viral in a run, so fewer messages count; one of the device does not, and its port tells it again.
#[test]
fn a_reset_of_the_hierarchy_ends_viral() {
    let viral = "{ at = \"2 us\", command = \"viral\", vcs = 1 }";
    let after = |scope: &str| {
        let (_, report) = pair(&format!("{viral}, {{ at = \"3 us\", command = \"reset\", {scope} }}"), &[]);
        ["viral messages", "viral told"].map(|name| count(&report, "switch", name))
    };
    let [upstream, vppb] = [after("scope = \"upstream\", vcs = 1"), after("scope = \"vppb\", vcs = 1")];
    assert!(upstream[0] < vppb[0], "{upstream:?} {vppb:?}");
    assert_eq!((upstream[1], vppb[1]), (2, 3));
}

/// Unbind, bind and reset of a vPPB leave viral of its hierarchy on in a running switch: messages count until the end (`fabric` VIR-4).
#[test]
fn bindings_and_a_reset_of_a_vppb_leave_viral_on() {
    for scope in [ResetScope::Vppb((0, 0)), ResetScope::Upstream(0)] {
        let at = |at_cycle, command| TimedCommand { at_cycle, command };
        let vppb = (0, 0);
        let binding = VppbBinding { vcs: 0, vppb: 0, port: 0, ld: None };
        let mut one = bench(1);
        one.commands = vec![
            at(AT, ManagerCommand::Viral(ResetScope::Upstream(0))),
            at(200, ManagerCommand::Unbind { vppb, option: UnbindOption::ManagedRemove }),
            at(400, ManagerCommand::Bind(binding)),
            at(600, ManagerCommand::Reset(scope)),
        ];
        one.sends[0].extend((0..4u16).map(|n| ([10, 100, 500, 700][usize::from(n)], read(n, 0))));
        let (seen, told, result) = run_told(one);
        assert_eq!(seen[0].len(), 4, "all are answered: {:?}", result.events);
        let is_over = result.events.iter().any(|(_, event)| matches!(event, ManagerEvent::ViralOver(0)));
        assert_eq!(is_over, scope == ResetScope::Upstream(0), "{:?}", result.events);
        let last = told[0].last().map(|(_, status)| *status);
        assert_eq!(last, Some((!is_over).then_some(0)), "{scope}: {:?}", told[0]);
        // The link of the device has been down at the unbind and at the reset.
        let of_device: Vec<_> = told[1].iter().map(|(_, status)| *status).collect();
        assert_eq!(of_device, [Some(0), None, Some(0), last.flatten()], "{scope}");
    }
}

#[test]
fn viral_is_the_same_on_any_number_of_threads() {
    let text = POOLED.replace(
        "preset = \"cxl_switch\"",
        "commands = [{ at = \"2 us\", command = \"viral\", scope = \"port\" }]\npreset = \"cxl_switch\"",
    );
    let [one, two] = [1, 2].map(|threads| on_threads(&text, &["host.accesses=800"], threads).json());
    assert_eq!(one, two);
    assert_eq!(one["components"]["switch"]["hierarchies viral"], 2, "the port serves both");
}

#[test]
fn fields_that_viral_has_no_use_for_are_refused() {
    let command = "commands = [{ at = \"5 us\", command = \"viral\", scope = \"port\", vcs = 1 }]";
    let found = refused(&POOLED.replace("preset = \"cxl_switch\"", command));
    assert!(
        found.contains("found vcs = 1 with scope = \"port\", expected no vcs: the whole port goes viral"),
        "{found}"
    );
}
