//! Systems of agents from a description: what is refused, switches and direct peers, renaming.

use scalepool::coherence::cache::route::{Below, CacheRoutes, Flits, Hdm, Hierarchy};
use scalepool::coherence::clocked::switch::SwitchTable;
use scalepool::coherence::config::CoherenceConfig;
use scalepool::coherence::content::{Age, LineAddr, LineToken};
use scalepool::coherence::ids::{AgentPort, IdSet};
use scalepool::coherence::mem::tables::Copy4;
use scalepool::coherence::monitor::{CopyView, LevelView, View, check_copies};
use scalepool::proof::explore::{ExplorationReport, Limits, search};
use scalepool::proof::mutant::CoherenceMutant;
use scalepool::proof::systems::composite::Composite;
use scalepool::proof::systems::menu::Menu;
use scalepool::proof::systems::part::{
    CacheDevicePart, CacheHomePart, DirectPeer, HdmCacheHome, HdmDbDevicePart, MemHostPart, Member, MemoryPart,
    SwitchNames, SwitchPart,
};
use scalepool::proof::systems::setup::{AgentDescription, SystemDescription};
use scalepool_protocols::cxl::message::PeerRoute;
use scalepool_testbenches::soak::is_soak;

fn agent(name: &str, member: impl Into<Member>) -> AgentDescription {
    let config = CoherenceConfig::default();
    AgentDescription { name: name.to_owned(), member: member.into(), config, program: Vec::new(), poisons: false }
}

fn cache(name: &str) -> AgentDescription {
    agent(name, CacheDevicePart::default())
}

/// One line, at agent 0.
fn described(agents: Vec<AgentDescription>, links: &[[(usize, AgentPort); 2]], ops: &str) -> SystemDescription {
    let menu = Menu::of_names(ops).expect("operations");
    SystemDescription { agents, links: links.to_vec(), lines: vec![0], menu, programs: false, orders: true }
}

fn direct(devices: usize, ops: &str) -> SystemDescription {
    let home = agent("home", CacheHomePart::new(devices as AgentPort));
    let agents = std::iter::once(home).chain((0..devices).map(|n| cache(&format!("device {n}")))).collect();
    let links: Vec<_> = (0..devices).map(|n| [(0, n as AgentPort), (n + 1, 0)]).collect();
    described(agents, &links, ops)
}

/// A switch with CacheIDs between a home and its devices; `missing` has no entry in its table.
fn switched(devices: usize, missing: Option<u8>, ops: &str) -> SystemDescription {
    let below = |n| Below { hdm: Hdm::None, link: Flits::B256, cache_id: Some(n), forward: false };
    let devices_below = (0..devices as u8).map(below).collect();
    let mut routes = CacheRoutes::new(&Hierarchy { devices: devices_below, upper: Flits::B256, cache_ids: true })
        .expect("a hierarchy");
    missing.into_iter().for_each(|id| routes.set_entry(id, None));
    let names =
        |n| SwitchNames { of_home: PeerRoute { cache_id: n, ..PeerRoute::default() }, of_holder: PeerRoute::default() };
    let switch = SwitchPart::new(SwitchTable::CacheId(Box::new(routes)), (0..devices as u8).map(names).collect());
    let mut description = direct(devices, ops);
    description.agents.push(agent("switch", switch));
    let (at, count) = (devices + 1, devices as AgentPort);
    let ways = (0..count).flat_map(|n| [[(0, n), (at, n)], [(at, n + count), (usize::from(n) + 1, 0)]]);
    description.links = ways.collect();
    description
}

fn explored(description: SystemDescription, symmetry: bool) -> ExplorationReport {
    let start = Composite::new(description).expect("a system");
    search(&start, Limits { states: 2_000_000, symmetry, ..Limits::default() })
}

#[track_caller]
fn clean(description: SystemDescription, symmetry: bool) -> ExplorationReport {
    let report = explored(description, symmetry);
    assert!(report.complete && report.violation.is_none(), "{report:?}");
    report
}

/// Every description that is no system is refused with who is wrong.
#[test]
fn what_does_not_fit_is_refused() {
    let mut lines = direct(1, "RdOwn");
    lines.lines = vec![0; 33];
    let mut nobody = direct(1, "RdOwn");
    nobody.lines = vec![1];
    let mut twice = direct(2, "RdOwn");
    twice.links[1] = [(0, 0), (2, 0)];
    let mut loose = direct(2, "RdOwn");
    loose.links.pop();
    let mut unknown = direct(1, "RdOwn");
    unknown.links.push([(1, 1), (1, 2)]);
    let mut round = switched(1, None, "RdOwn");
    let second = round.agents[2].clone();
    round.agents.push(AgentDescription { name: "second".to_owned(), ..second });
    round.links = vec![[(0, 0), (2, 0)], [(2, 1), (3, 0)], [(3, 1), (1, 0)]];
    assert!(Composite::new(round).is_ok(), "one switch behind another");
    let host = described(
        vec![agent("home", CacheHomePart::new(1)), agent("host", MemHostPart::new(0))],
        &[[(0, 0), (1, 0)]],
        "RdOwn",
    );
    let memory = || agent("memory", MemoryPart::default());
    let with = |home, second, links: &[_]| described(vec![agent("home", home), second, memory()], links, "RdOwn");
    let behind = CacheHomePart::without_memory;
    let beside = with(CacheHomePart::new(2), cache("device"), &[[(0, 0), (1, 0)], [(0, 1), (2, 0)]]);
    let upside = with(behind(1), cache("device"), &[[(0, 0), (1, 0)], [(2, 0), (0, 1)]]);
    let missing = with(behind(1), cache("device"), &[[(0, 0), (2, 0)], [(0, 1), (1, 0)]]);
    let fits = with(behind(1), cache("device"), &[[(0, 0), (1, 0)], [(0, 1), (2, 0)]]);
    assert!(Composite::new(fits).is_ok(), "a memory behind its port");
    for (description, expected) in [
        (beside, "memory: found home behind its port 0, expected a home upstream, by its port for a memory"),
        (upside, "memory: found home behind its port 0, expected a home upstream, by its port for a memory"),
        (missing, "memory: found home behind its port 0, expected a home upstream, by its port for a memory"),
        (lines, "lines: found 33 lines, expected 1 to 32"),
        (nobody, "line 0: found a home that owns no lines, expected an agent that owns lines"),
        (twice, "home: found two links at port 0, expected one link at each port"),
        (loose, "home: found no link at port 1, expected one link at each port"),
        (unknown, "link 1: found port 1 of device 0, expected a port of an agent"),
        (host, "home: found host behind port 0, expected a caching device"),
    ] {
        let error = Composite::new(description).expect_err(expected);
        assert_eq!(error.to_string(), expected);
    }
}

/// A switch adds places for messages and nothing else: whoever stands behind it ends in the same ways.
#[test]
fn devices_behind_a_switch_are_as_those_without_one() {
    let ops = "RdShared,RdOwn,CleanEvict,DirtyEvict";
    let (plain, behind) = (clean(direct(2, ops), true), clean(switched(2, None, ops), true));
    assert!(behind.states > plain.states && behind.depth > plain.depth, "{} {}", behind.states, plain.states);
    let all = clean(switched(2, None, ops), false);
    assert!(behind.states * 2 >= all.states && behind.states < all.states, "{} of {}", behind.states, all.states);
}

/// A message without an entry is discarded, and its request waits for ever.
#[test]
fn a_hole_in_a_table_is_found() {
    let report = explored(switched(2, Some(1), "RdShared"), false);
    let violation = report.violation.expect("the second device is never answered");
    assert_eq!((violation.event.rule, violation.steps.len()), ("COH-INV-09", 5));
}

/// Two switches one behind the other.
#[test]
fn two_switches_in_a_row_pass_everything_on() {
    let mut description = switched(1, None, "RdShared,RdOwn,DirtyEvict,CleanEvict");
    let second = description.agents[2].clone();
    description.agents.push(AgentDescription { name: "second".to_owned(), ..second });
    description.links = vec![[(0, 0), (2, 0)], [(2, 1), (3, 0)], [(3, 1), (1, 0)]];
    clean(description, false);
}

/// CXL.cache and CXL.mem in one system: two caching devices below a host, which use the memory of a third one directly.
fn peers(config: &CoherenceConfig, ops: &str) -> SystemDescription {
    let agents = vec![
        agent("host", CacheHomePart::new(2)),
        agent("target", HdmDbDevicePart::new(config, 2)),
        agent("peer 0", DirectPeer::new(0)),
        agent("peer 1", DirectPeer::new(1)),
    ];
    // Of CXL.mem the peer is upstream.
    let links = [[(0, 0), (2, 0)], [(0, 1), (3, 0)], [(2, 1), (1, 0)], [(3, 1), (1, 1)]];
    let mut description = described(agents, &links, ops);
    description.lines = vec![0, 1];
    description.agents.iter_mut().for_each(|agent| agent.config = config.clone());
    description
}

#[test]
fn direct_peers_use_both_homes_at_once() {
    let ops = "RdOwn,DirtyEvict,MemRdA,MemWr";
    let both = clean(peers(&CoherenceConfig::default(), ops), false);
    // The two protocols have no line in common: each pair of states is reached.
    let of = |ops: &str| clean(peers(&CoherenceConfig::default(), ops), false).states;
    assert_eq!(both.states, of("RdOwn,DirtyEvict") * of("MemRdA,MemWr"));
}

/// Rules that are off are found in a system of both protocols, each by its own.
#[test]
fn rules_that_are_off_are_found_in_a_system_of_both() {
    for (mutant, ops, family) in [
        (CoherenceMutant::SnoopPassesGo, "RdShared,RdOwn,DirtyEvict,MemRdA", "COH-"),
        (CoherenceMutant::SharersNotSnooped, "RdOwn,RdShared,MemRdA", "COH-"),
        (CoherenceMutant::HolderSkipped, "RdOwn,MemRdS,MemRdA,MemWr", "COH-"),
    ] {
        let config = CoherenceConfig { rules: mutant.rules(), ..CoherenceConfig::default() };
        let report = explored(peers(&config, ops), false);
        let violation = report.violation.unwrap_or_else(|| panic!("{mutant:?} lives: {} states", report.states));
        assert!(violation.event.rule.starts_with(family), "{mutant:?}: {}", violation.event);
        println!("{mutant:?}: {} after {} steps", violation.event.rule, violation.steps.len());
    }
}

/// Two levels: caching devices below hosts, which share the memory of a device with HDM-DB. `hosts`: how many devices each
/// host has, and one more host without any.
fn levels(config: &CoherenceConfig, hosts: &[AgentPort], plain: AgentPort, ops: &str) -> SystemDescription {
    let mut agents = vec![agent("memory", HdmDbDevicePart::new(config, hosts.len() as AgentPort + plain))];
    let mut links = Vec::new();
    for (port, &devices) in (0..).zip(hosts) {
        let host = agents.len();
        agents.push(agent(&format!("host {port}"), HdmCacheHome::new(devices, port)));
        links.push([(host, devices), (0, port)]);
        for n in 0..devices {
            links.push([(host, n), (agents.len(), 0)]);
            agents.push(cache(&format!("device {port}.{n}")));
        }
    }
    for port in (0..).skip(hosts.len()).take(plain.into()) {
        links.push([(agents.len(), 0), (0, port)]);
        agents.push(agent(&format!("host {port}"), MemHostPart::new(port)));
    }
    let mut description = described(agents, &links, ops);
    description.agents.iter_mut().for_each(|agent| agent.config = config.clone());
    description
}

/// A device below one host and another host take a line from each other over two levels; every wait ends.
#[test]
fn two_levels_keep_one_writer_and_lose_nothing() {
    let config = CoherenceConfig::default();
    let ops = "RdOwn,RdShared,DirtyEvict,CleanEvict,MemRdA,MemRdS,MemWr,MemClnEvct,Drop";
    for (hosts, plain, ops) in [
        (&[1][..], 0, ops),
        (&[2], 0, ops),
        (&[1], 1, ops),
        (&[1, 1], 0, "RdOwn,RdShared,DirtyEvict,Drop"),
        (&[2], 1, "RdOwn,RdShared,DirtyEvict,MemRdA,MemWr"),
    ] {
        let report = clean(levels(&config, hosts, plain, ops), false);
        println!("{hosts:?} and {plain}: {} states, {} transitions", report.states, report.transitions);
    }
}

/// Atomics of a device below a host, and of another host, of one line of a third one's memory.
#[test]
fn two_levels_lose_no_atomic_of_who_holds_the_line() {
    let config = CoherenceConfig::default();
    let ops = "RdOwn,DirtyEvict,MemRdA,MemWr,Drop";
    clean(levels(&config, &[1], 1, &format!("{ops},Atomic")), false);
    let lost = explored(levels(&config, &[1], 1, &format!("{ops},UnheldAtomic")), false).violation;
    assert_eq!(lost.map(|violation| violation.event.rule), Some("COH-INV-15"));
}

/// Devices below a host are told apart by nothing, and a search need not either.
#[test]
fn devices_below_a_host_are_alike() {
    let ops = "RdOwn,RdShared,DirtyEvict,MemRdA,MemWr";
    let description = || levels(&CoherenceConfig::default(), &[2], 1, ops);
    let (renamed, all) = (clean(description(), true), clean(description(), false));
    assert!(!renamed.by_name && all.by_name);
    assert!(renamed.states * 2 >= all.states && renamed.states * 4 < all.states * 3, "{renamed:?} of {}", all.states);
    assert_eq!(renamed.depth, all.depth);
}

/// Every state of two levels: whatever a device holds, its host holds.
#[test]
fn coh_inv_16_p() {
    clean(
        levels(&CoherenceConfig::default(), &[1], 1, "RdOwn,RdShared,DirtyEvict,CleanEvict,MemRdA,MemWr,Drop"),
        false,
    );
}

/// Two devices share a line of their host, and the host has given it up, or shares it with others while a device owns it.
#[test]
fn coh_inv_16_n() {
    let line = LineAddr(0);
    let value = LineToken::of(line, Age::Current);
    let rules = |owns: bool, holds: Copy4| {
        let copies: Vec<_> = [2, 3]
            .map(|agent| CopyView {
                agent,
                usable: !owns || agent == 2,
                writable: owns && agent == 2,
                dirty: false,
                value,
            })
            .into();
        let level = |home: usize, agents: IdSet, holds| LevelView {
            home,
            tracked: agents.clone(),
            agents,
            holds,
            value: Some(value),
            in_flight: Vec::new(),
        };
        let view = View {
            line,
            newest: value,
            home: value,
            copies,
            in_flight: Vec::new(),
            tracked: IdSet::EMPTY,
            levels: vec![level(0, IdSet::one(1), Copy4::M), level(1, IdSet::of_bits(0b1100), holds)],
        };
        let mut events = Vec::new();
        check_copies(&view, &|n| format!("agent {n}"), &mut events);
        events.into_iter().map(|event| (event.rule, event.at)).collect::<Vec<_>>()
    };
    let at = |agents: &[usize]| agents.iter().map(|n| ("COH-INV-16", format!("agent {n}"))).collect::<Vec<_>>();
    assert_eq!((rules(false, Copy4::S), rules(true, Copy4::E)), (at(&[]), at(&[])));
    assert_eq!(rules(false, Copy4::I), at(&[2, 3]));
    assert_eq!(rules(true, Copy4::S), at(&[2]));
}

/// Rules that are off are found over two levels: by the monitor of the rule, and with the monitors of steps off by the harm to
/// states, values and progress. A device below is caught like one of a flat host, a host above like one without devices.
#[test]
fn rules_that_are_off_are_found_over_two_levels() {
    use CoherenceMutant::*;
    let ops = "RdOwn,RdShared,DirtyEvict,CleanEvict,MemRdA,MemRdS,MemWr,MemClnEvct,Drop";
    for (mutant, said, harm) in [
        (SnoopPassesGo, "COH-ORD-01", "COH-ORD-06"),
        (SnoopDuringPull, "COH-REQ-20", "COH-REQ-20"),
        (SnoopBetweenDataAndGo, "COH-INV-09", "COH-INV-09"),
        (SnoopWaitsForRequest, "COH-INV-09", "COH-INV-09"),
        (GoBeforeAnswers, "COH-INV-04", "COH-INV-04"),
        (EvictUntracksAll, "COH-INV-04", "COH-INV-04"),
        (UseAfterEvict, "COH-INV-01", "COH-INV-01"),
        (BogusNotSet, "COH-BOG-01", "COH-EVT-03"),
        (BogusWritten, "COH-INV-02", "COH-INV-02"),
        (GrantedAnswersAsInvalid, "COH-TRN-03", "COH-INV-04"),
        (StaleEvictClearsOwner, "COH-INV-01", "COH-INV-01"),
        (SharersNotSnooped, "COH-INV-04", "COH-INV-04"),
        (DirtyDropped, "COH-STA-02", "COH-INV-03"),
        (CopyKeptUnderSnpInv, "COH-SNP-06", "COH-INV-04"),
        (AckPassesCmp, "COH-BIC-03", "COH-INV-04"),
        (HolderSkipped, "COH-MHO-01", "COH-INV-04"),
        (OwnerNotAsked, "COH-MHO-02", "COH-INV-01"),
        (AnswerBeforeWriteDone, "COH-SFI-05", "COH-MEM-42"),
        (DirtyHostNotWritten, "COH-SFI-05", "COH-INV-03"),
        (BisnpBlocksRwd, "COH-SFI-06", "COH-INV-09"),
        (ReqServedUnderBisnp, "COH-SFI-06", "COH-INV-04"),
        (ConflictOnReq, "COH-BIC-01", "COH-INV-09"),
        (AckWithheld, "COH-BIC-01", "COH-INV-09"),
        (ConflictRowSwapped, "COH-BIC-04", "COH-INV-04"),
    ] {
        // The harm takes most of the time, and `consequences` has that of every mutant: here every third, in `make soak` all.
        let harm = (is_soak() || (mutant as usize).is_multiple_of(3)).then_some((false, harm));
        for (orders, rule) in [(true, said)].into_iter().chain(harm) {
            let config = CoherenceConfig { rules: mutant.rules(), ..CoherenceConfig::default() };
            let description = SystemDescription { orders, ..levels(&config, &[2], 1, ops) };
            let start = Composite::new(description).expect("a system");
            // No rule of the table is about what never ends.
            let limits = Limits { states: 2_000_000, liveness: false, ..Limits::default() };
            let found = search(&start, limits).violation.map(|violation| violation.event.rule);
            assert_eq!(found, Some(rule), "{mutant:?}, monitors of steps: {orders}");
        }
    }
}

/// The choices that a host with devices below has, each on its own.
#[test]
fn two_levels_keep_their_rules_under_every_choice() {
    let ops = "RdOwn,RdShared,DirtyEvict,CleanEvict,MemRdA,MemRdS,MemWr,MemClnEvct,Drop";
    for choice in [
        "",
        "alternatives = true",
        "silent_drop_e = true",
        "silent_drop_s = false",
        "snp_data_on_m = 'invalid'",
        "grant_dirty = true",
        "clean_evict = 'pull'",
        "home_queue_requests = 1",
        "error_ranges = [{first = 0, last = 63, answer = 'go-error'}]",
        "mem.host_keeps = 'nothing'",
        "mem.shared_grants_exclusive = true",
        "mem.no_range = [{first = 0, last = 63}]",
    ] {
        let config = super::reviewed::configured(choice);
        let report = explored(levels(&config, &[1], 1, ops), false);
        println!("{choice}: {} states", report.states);
        assert!(
            report.complete && report.violation.is_none(),
            "{choice}: {:?}",
            report.violation.map(|v| v.chart().text())
        );
    }
}
