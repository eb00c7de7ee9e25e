//! Pages in tiers of memory (BRG-MIG-01 to 05): placement, moves in traffic, copies, and what they cost.

use super::systems::resolves;
use scalepool::nodes::tiers::frames::{FrameBook, Tier, TierFrame};
use scalepool::nodes::tiers::manager::{ManagerAct, PageManager};
use scalepool::nodes::tiers::policy::{PageDecision, PageUse, PlacementPolicy, next_fill, next_move, next_prefetch};
use scalepool::nodes::tiers::watch::{MigrationWatch, TierEvent};
use scalepool::scenario::observe::Outputs;
use scalepool::scenario::report::{PlacedViolation, ScenarioReport};
use scalepool::scenario::{self, ScenarioRequest};
use serde_json::Value;
use std::collections::BTreeMap;

/// Two accelerators and a bridge with a cache around a switch; each has four pages, frames for one in HBM, one in HBM of the other one,
/// and three in tier 2.
const TEXT: &str = include_str!("../../systems/tiers.toml");
const PAGE_BYTES: u64 = 4096;
const FRAMES: [u32; 3] = [1, 1, 3];

fn request(set: &[&str], threads: usize) -> ScenarioRequest {
    let set = set.iter().map(|s| (*s).to_owned()).collect();
    ScenarioRequest { description: Some(TEXT.to_owned()), seed: 1, threads, set, ..ScenarioRequest::default() }
}

fn run(set: &[&str], threads: usize) -> ScenarioReport {
    scenario::run(&request(set, threads), &mut |_| ()).unwrap_or_else(|error| panic!("{set:?}: {error}"))
}

/// What both accelerators have counted together.
fn count(report: &ScenarioReport, name: &str) -> u64 {
    let json = report.json();
    let of = |n| json["components"][format!("accel[{n}]")][name].as_u64();
    of(0).zip(of(1)).map_or_else(|| panic!("no `{name}`: {json:?}"), |(a, b)| a + b)
}

/// A run in which every byte that is read is the one that was written last.
fn sound(set: &[&str]) -> ScenarioReport {
    let report = run(set, 1);
    assert_eq!(report.violations, [], "{set:?}");
    report
}

/// The rules that a row of events breaks.
fn broken(events: &[TierEvent]) -> Vec<&'static str> {
    let mut watch = MigrationWatch::new(512, FRAMES, true);
    events.iter().filter_map(|event| watch.see(event.clone())).map(|finding| finding.rule).collect()
}

const HBM: TierFrame = TierFrame { tier: Tier::Hbm, frame: 0 };
const FAR: TierFrame = TierFrame { tier: Tier::Tier2, frame: 2 };

/// A page of two blocks moves, as it has to.
fn good_move() -> Vec<TierEvent> {
    let lines = |n: u8| vec![([n; 64], n == 1)];
    vec![
        TierEvent::Placed(3, FAR),
        TierEvent::Answers(0, 3),
        TierEvent::Moves(3, HBM),
        TierEvent::Blocks(0, 3),
        TierEvent::Drained(0, 3),
        TierEvent::Flushed(3),
        TierEvent::CopyRead(3, 0, lines(0)),
        TierEvent::CopyRead(3, 1, lines(1)),
        TierEvent::CopyWrite(3, 1, lines(1)),
        TierEvent::CopyWrite(3, 0, lines(0)),
        TierEvent::Switches(0, 3),
        TierEvent::Moved(3),
    ]
}

/// Moves under load change no byte and no poison: with bit errors, with one block under way in each copy engine, with pages of 16 KiB.
#[test]
fn brg_mig_01_p() {
    assert_eq!(broken(&good_move()), [""; 0]);
    let report = sound(&[]);
    assert!(count(&report, "pages moved") > 4 && count(&report, "copies") > 5, "{:?}", report.json());
    sound(&["operations=150", "copies=1", "ber=2e-6"]);
    sound(&["operations=100", "page=16 KiB"]);
    // With the most blocks under way, and with no frame in HBM.
    sound(&["operations=100", "copies=512"]);
    let without = sound(&["operations=100", "component.accel.hbm_pages=0", "component.accel.tier2.pages=4"]);
    assert_eq!(count(&without, "accesses of HBM"), 0);
    // With two links of each accelerator and of the bridge, over two switches.
    let switch = "switch = { kind = \"ualink.switch\", clock = \"accel\", ports = 3 }\n";
    let second = ["accel[0].port", "accel[1].port", "bridge.x"].into_iter().enumerate();
    let second: String = second.map(|(n, end)| format!("  [\"{end}[1]\", \"second.port[{n}]\"],\n")).collect();
    let text = TEXT.replace(switch, &format!("{switch}second{}", &switch["switch".len()..]));
    let text = text.replace("switch.port[2]\"],\n]", &format!("switch.port[2]\"],\n{second}]"));
    let text = text
        .replace("pages = 4\n", "pages = 4\nports = 2\n")
        .replace("\"bridge.ualink\"", "\"bridge.ualink\", x_ports = 2");
    let request = ScenarioRequest { description: Some(text), ..self::request(&["operations=100"], 1) };
    let report = scenario::run(&request, &mut |_| ()).unwrap_or_else(|error| panic!("{error}"));
    assert!(report.violations.is_empty() && count(&report, "pages moved") > 1, "{:?}", report.violations);
    // On whatever threads.
    assert_eq!(run(&["operations=100"], 2).json(), run(&["operations=100"], 1).json());
}

/// When a link goes down in a move, its accelerator and the other one end what can end; what the link has lost is all that stays open.
#[test]
fn tiers_link_down() {
    for outage in ["link.ualink[0].outage=8 us", "link.ualink[0].outage=10 us", "link.ualink[1].outage=9 us"] {
        let report = run(&[outage], 1);
        let rules: Vec<&str> = report.violations.iter().map(|placed| placed.violation.rule).collect();
        assert!(rules.len() > 2 && rules.iter().all(|rule| *rule == "SIM-E2E-03"), "{outage}: {:?}", report.violations);
        let waits = |placed: &PlacedViolation| placed.violation.text.contains("messages about pages");
        assert!(!report.violations.iter().any(waits), "{outage}: {:?}", report.violations);
    }
}

#[test]
fn brg_mig_01_n() {
    let mut events = good_move();
    // The poison of a line is lost.
    events[8] = TierEvent::CopyWrite(3, 1, vec![([1; 64], false)]);
    assert_eq!(broken(&events), ["BRG-MIG-01"]);
    // A block is written twice, and another one never.
    events[8] = TierEvent::CopyWrite(3, 0, vec![([0; 64], false)]);
    assert_eq!(broken(&events), ["BRG-MIG-01"]);
}

/// A source accesses a page where it lies, not while it is blocked, and answers the block behind its last access.
#[test]
fn brg_mig_02_p() {
    let accesses = |place| [TierEvent::Accesses(7, place), TierEvent::Accessed(7)];
    let mut events = vec![TierEvent::Learned(7, FAR)];
    events.extend(accesses(FAR));
    events.extend([TierEvent::AnswersBlock(7), TierEvent::Learned(7, HBM)]);
    events.extend(accesses(HBM));
    assert_eq!(broken(&events), [""; 0]);
    // Sources that share all pages wait for their places.
    let report = sound(&["component.accel.traffic.foreign=50", "operations=150"]);
    assert!(count(&report, "cycles of page waits") > 100, "{:?}", report.json());
}

#[test]
fn brg_mig_02_n() {
    let (learned, accesses) = (TierEvent::Learned(7, FAR), TierEvent::Accesses(7, FAR));
    let is_open = [learned.clone(), accesses.clone(), TierEvent::AnswersBlock(7)];
    assert_eq!(broken(&is_open), ["BRG-MIG-02"], "an access is open");
    let is_blocked = [learned.clone(), TierEvent::AnswersBlock(7), accesses.clone()];
    assert_eq!(broken(&is_blocked), ["BRG-MIG-02"], "the page is blocked");
    let is_old = [learned, TierEvent::AnswersBlock(7), TierEvent::Learned(7, HBM), accesses];
    assert_eq!(broken(&is_old), ["BRG-MIG-02"], "the old place");
    // A source that was told the place and is never blocked, so that it goes on accessing it; one that hears of it in the move.
    let mut forgotten = good_move();
    forgotten.insert(2, TierEvent::Answers(1, 3));
    let found = ["BRG-MIG-03", "BRG-MIG-02", "BRG-MIG-02"];
    assert_eq!(
        broken(&forgotten),
        found,
        "the page is flushed and both blocks are copied while source 1 knows the old place"
    );
    let mut late = good_move();
    late.insert(6, TierEvent::Answers(1, 3));
    assert_eq!(broken(&late), ["BRG-MIG-02"], "told a place that will be old");
}

/// Lines of a page that a bridge holds are written back before the page is copied.
#[test]
fn brg_mig_03_p() {
    let report = sound(&["operations=200"]);
    let json = report.json();
    let flushed = json["components"]["bridge"]["lines flushed"].as_u64();
    assert!(flushed > Some(4), "{json:?}");
}

/// Rights to the registers of a bridge: who may do all moves its pages; a text that is none, and rights to what is not there, are refused.
#[test]
fn rights_to_registers_are_read() {
    let with = |rights: &str, control: &str| {
        TEXT.replace("control = \"4 MiB\", cache", &format!("{control}control_rights = [{rights}], cache"))
    };
    let control = "control = \"4 MiB\", ";
    let report = crate::fab_hbr::systems::run(&with("\"0:rw\", \"1:-\"", control), &[]).expect("it runs");
    assert_eq!(report.violations, []);
    assert!(crate::fab_hbr::systems::count(&report, "accel[0]", "pages moved") > 0);
    for (rights, control, expected) in [
        (
            "\"0:rwa\"",
            control,
            "found rights `0:rwa`, expected GROUP:RIGHTS with groups 0 to 15 and rights of the letters r and w",
        ),
        ("", control, "empty list of rights"),
        ("\"0:r\"", "", "control_rights: found it without control"),
    ] {
        let error = resolves(&with(rights, control)).err().expect(expected);
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn brg_mig_03_n() {
    let mut events = good_move();
    events.swap(4, 5);
    assert_eq!(broken(&events), ["BRG-MIG-03"], "flushed while a source accesses it");
    let mut events = good_move();
    events.swap(5, 6);
    assert_eq!(broken(&events), ["BRG-MIG-03"], "copied before the flush");
    let mut events = good_move();
    events.remove(5);
    assert_eq!(broken(&events), ["BRG-MIG-03"; 2], "copied without a flush");
    // Another window than that of the bridge, and none though the bridge has a cache, leave lines behind.
    for (own, found) in [(", control = \"8 MiB\" } #", "found 0x800000"), (" } #", "found none")] {
        let error = resolves(&TEXT.replace(", control = \"4 MiB\" } #", own)).err().expect(own);
        assert!(error.contains(found) && error.contains("BRG-MIG-03"), "{error}");
    }
}

/// A transaction of the trace.
struct Traced {
    name: String,
    address: u64,
    parent: u64,
    place: String,
}

/// Transactions of the accelerators, by number, in the order in which they began.
fn traced(set: &[&str]) -> (Vec<(u64, Traced)>, ScenarioReport) {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = folder.path().join("t.jsonl");
    let outputs = Outputs { trace: Some(trace.clone()), ..Outputs::default() };
    let report = scenario::run(&ScenarioRequest { outputs, ..request(set, 1) }, &mut |_| ()).expect("it runs");
    let text = std::fs::read_to_string(trace).expect("a trace");
    let of_accelerator = |line: &&str| line.contains("\"kind\":\"begin\"") && line.contains("\"where\":\"accel[");
    let record = |line: &str| {
        let record: Value = serde_json::from_str(line).expect("a record");
        let text = |key: &str| record[key].as_str().unwrap_or_default().to_owned();
        let address = u64::from_str_radix(text("address").trim_start_matches("0x"), 16).unwrap_or(0);
        let (name, place) = (text("name"), text("where"));
        let parent = record["parent"].as_u64().unwrap_or(0);
        (record["id"].as_u64().expect("an id"), Traced { name, address, parent, place })
    };
    (text.lines().filter(of_accelerator).map(record).collect(), report)
}

/// A move costs a read and a write of each block and its messages, all of them parts of it, and its bytes are counted.
#[test]
fn brg_mig_04_p() {
    let (all, report) = traced(&["operations=200"]);
    let moves: Vec<&(u64, Traced)> = all.iter().filter(|(_, traced)| traced.name.starts_with("move to")).collect();
    assert_eq!(moves.len() as u64, count(&report, "pages moved"));
    assert!(moves.len() > 2);
    let blocks = PAGE_BYTES / 256;
    for (id, _) in &moves {
        let parts = all.iter().filter(|(_, traced)| traced.parent == *id).count() as u64;
        assert!(parts >= 2 * blocks, "{parts} parts");
    }
    assert_eq!(count(&report, "moved [bytes]"), PAGE_BYTES * moves.len() as u64);
    assert!(count(&report, "cycles of moves") > 100 * moves.len() as u64);
    // Without a move there is no such cost.
    let still = sound(&["operations=100", "policy=first-touch"]);
    assert_eq!(["moved [bytes]", "cycles of moves"].map(|name| count(&still, name)), [0, 0]);
}

#[test]
fn brg_mig_04_n() {
    let mut events = good_move();
    events.swap(9, 10);
    assert_eq!(broken(&events), ["BRG-MIG-04"], "a block is still to be written");
    let free = [TierEvent::Placed(3, FAR), TierEvent::Moves(3, HBM), TierEvent::Switches(0, 3)];
    assert_eq!(broken(&free), ["BRG-MIG-04"], "a move that costs nothing");
}

/// The decision by temperature, from the words of the rule: every pair of a hotter page below a colder one is looked at.
fn decision_by_hand(heat: &[u64], places: &BTreeMap<u32, TierFrame>) -> Option<PageDecision> {
    let is_free = |place: &TierFrame| places.values().all(|other| other != place);
    let frames = |tier: Tier| (0..FRAMES[tier as usize]).map(move |frame| TierFrame { tier, frame });
    for upper in [Tier::Hbm, Tier::PeerHbm] {
        let mut hot: Vec<u32> = places.iter().filter(|(_, place)| place.tier > upper).map(|(page, _)| *page).collect();
        hot.sort_by_key(|page| (std::cmp::Reverse(heat[*page as usize]), *page));
        let Some(&hot) = hot.first().filter(|page| heat[**page as usize] > 0) else { continue };
        if let Some(to) = frames(upper).find(is_free) {
            return Some(PageDecision { page: hot, to });
        }
        let mut cold: Vec<u32> =
            places.iter().filter(|(_, place)| place.tier == upper).map(|(page, _)| *page).collect();
        cold.sort_by_key(|page| (heat[*page as usize], *page));
        let lower = [Tier::PeerHbm, Tier::Tier2].into_iter().filter(|tier| *tier > upper);
        let to = lower.flat_map(frames).find(is_free);
        if let (Some(page), Some(to)) = (cold.first(), to)
            && heat[hot as usize] as f64 / heat[*page as usize] as f64 >= 2.0
        {
            return Some(PageDecision { page: *page, to });
        }
    }
    None
}

/// Decisions by hand for all temperatures of four pages from 0 to 4 in three placements; then the decisions of runs, in their traces.
#[test]
fn brg_mig_05_p() {
    let far = |frame| TierFrame { tier: Tier::Tier2, frame };
    let peer = TierFrame { tier: Tier::PeerHbm, frame: 0 };
    for places in [[HBM, peer, far(0), far(1)], [far(0), HBM, far(2), peer], [far(2), far(1), far(0), peer]] {
        let by_page: BTreeMap<u32, TierFrame> = (0..).zip(places).collect();
        let mut book = FrameBook::new(FRAMES);
        by_page.iter().for_each(|(page, place)| assert!(book.take(*place, *page)));
        for n in 0..5u64.pow(4) {
            let heat: Vec<u64> = (0..4).map(|page| n / 5u64.pow(page) % 5).collect();
            assert_eq!(next_move(&heat, &book), decision_by_hand(&heat, &by_page), "{heat:?} {places:?}");
        }
    }
    for policy in ["static", "first-touch", "temperature"] {
        let (all, report) = traced(&["operations=120", &format!("policy={policy}")]);
        assert_eq!(report.violations, [], "{policy}");
        for accelerator in ["accel[0]", "accel[1]"] {
            let decisions = all.iter().map(|(_, traced)| traced).filter(|traced| traced.place == accelerator);
            check_decisions(policy, decisions);
        }
    }
}

/// Replays the decisions of a manager: places by policy, and never more pages in a tier than it has frames.
fn check_decisions<'a>(policy: &str, all: impl Iterator<Item = &'a Traced>) {
    let tiers = ["HBM", "peer HBM", "tier 2"];
    let (mut tier_of, mut placed): (BTreeMap<u64, usize>, Vec<(u64, usize)>) = (BTreeMap::new(), Vec::new());
    let mut leaving: Option<usize> = None;
    for Traced { name, address, .. } in all {
        let page = address / PAGE_BYTES;
        let told = |before: &str| name.strip_prefix(before).and_then(|to| tiers.iter().position(|tier| *tier == to));
        if let Some(tier) = told("place in ") {
            placed.push((page, tier));
            tier_of.insert(page, tier);
        } else if let Some(tier) = told("move to ") {
            assert_eq!(policy, "temperature");
            // The move before has ended, since one page moves at a time; this one takes a frame in both tiers.
            leaving = tier_of.insert(page, tier);
            assert_ne!(leaving, Some(tier));
        } else {
            continue;
        }
        for (tier, frames) in FRAMES.into_iter().enumerate() {
            let used = tier_of.values().filter(|of| **of == tier).count() + usize::from(leaving == Some(tier));
            assert!(used <= frames as usize, "{policy}: {used} pages in {}", tiers[tier]);
        }
    }
    // Whoever comes first, by number or by access, gets the fastest frame.
    let order: Vec<usize> = placed.iter().map(|(_, tier)| *tier).collect();
    assert_eq!(order, [0, 1, 2, 2][..order.len()], "{policy}");
    if policy == "static" {
        let pages: Vec<u64> = placed.iter().map(|(page, _)| page % 4).collect();
        assert_eq!(pages, [0, 1, 2, 3]);
    }
}

#[test]
fn brg_mig_05_n() {
    let taken = [TierEvent::Placed(3, FAR), TierEvent::Placed(4, FAR)];
    assert_eq!(broken(&taken), ["BRG-MIG-05"], "two pages in a frame");
    let missing = [TierEvent::Placed(3, TierFrame { tier: Tier::Hbm, frame: 1 })];
    assert_eq!(broken(&missing), ["BRG-MIG-05"], "more pages than HBM has frames");
    let moved = [TierEvent::Placed(3, FAR), TierEvent::Placed(4, HBM), TierEvent::Moves(3, HBM)];
    assert_eq!(broken(&moved), ["BRG-MIG-05"], "a move onto another page");
    let refused = |from: &str, to: &str| resolves(&TEXT.replace(from, to)).err().expect(to);
    let without = [
        ("tier2 = { pages = 3", "tier2 = { pages = 2", "found 4 frames"),
        ("tier2 = { pages = 3", "tier2 = { bridge = 1, pages = 3", "found bridge 1 among 1 bridges"),
        ("order = \"relaxed\"", "order = \"strict\"", "found strict order"),
        ("blocks = 4", "blocks = 9", "expected at most 8"),
        ("foreign = 30", "hot_pages = 5", "found 5, expected at most pages = 4"),
        (
            "interval = \"3 us\"",
            "interval = \"100 ps\"",
            "found 100 ps, expected at least a cycle of its clock, 640 ps",
        ),
        ("page = \"4 KiB\"", "page = \"1 MiB\"", "expected none at the control window 0x400000"),
        ("base = \"1 MiB\"", "base = \"0x1ffffffffffff00\"", "the 57 bits of an address"),
        ("control = \"4 MiB\" } #", "control = \"0x400100\" } #", "expected a multiple of 4096 bytes"),
        ("pages = 4\n", "pages = 65_536\n", "found 5 frames"),
    ];
    for (from, to, text) in without {
        let error = refused(from, to);
        assert!(error.contains(text), "{error}");
    }
    // Accelerators with policies or intervals of their own.
    for own in ["policy = \"first-touch\"", "interval = \"1 ms\""] {
        let error = refused("[link.ualink]", &format!("[component.accel.at.1]\n{own}\n[link.ualink]"));
        assert!(
            error.contains("policy temperature with an interval of") || error.contains("policy first-touch"),
            "{error}"
        );
    }
    // So many accelerators that pages of 4 KiB have no block for each, or tables of all pages get too large.
    let links: String = (0..17).map(|n| format!("[\"accel[{n}].port[0]\", \"switch.port[{n}]\"],\n")).collect();
    let two = "  [\"accel[0].port[0]\", \"switch.port[0]\"],\n  [\"accel[1].port[0]\", \"switch.port[1]\"],\n";
    let many = TEXT.replace(two, &links).replace("switch.port[2]\"],\n]", "switch.port[17]\"],\n]");
    let many = many.replace("count = 2", "count = 17").replace("ports = 3 }", "ports = 18 }");
    let error = resolves(&many).err().expect("small pages");
    assert!(error.contains("found 4096 bytes, expected at least 4352") && !error.contains("traffic.blocks"), "{error}");
    let many = many.replace("pages = 4\n", "pages = 65_536\n").replace("{ pages = 3", "{ pages = 65_536");
    let error = resolves(&many).err().expect("many pages");
    assert!(error.contains("1114112 in all, expected at most 1048576"), "{error}");
    // Accelerators of two kinds.
    let other = "[component.other]\nkind = \"ualink.accelerator\"\nclock = \"accel\"\n[link.ualink]";
    let text = TEXT.replace("ports = 3 }", "ports = 4 }").replace("[link.ualink]", other).replace(
        "[\"bridge.x[0]\", \"switch.port[2]\"]",
        "[\"bridge.x[0]\", \"switch.port[2]\"], [\"other.port[0]\", \"switch.port[3]\"]",
    );
    let error = resolves(&text).err().expect("two kinds");
    assert!(error.contains("expected accelerators of one kind"), "{error}");
}

/// A manager goes on deciding when its own operations are over and others make its pages hot.
#[test]
fn tiers_decide_for_others() {
    let own = "[component.accel.at.0]\ntraffic = { operations = 4, blocks = 4 }\n[link.ualink]";
    let text = TEXT.replace("[link.ualink]", own).replace("foreign = 30", "foreign = 90");
    let request = ScenarioRequest { description: Some(text), ..request(&[], 1) };
    let report = scenario::run(&request, &mut |_| ()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(report.violations, []);
    let json = report.json();
    let of_first = |name: &str| json["components"]["accel[0]"][name].as_u64();
    assert!(of_first("operations") == Some(4) && of_first("pages moved") > Some(0), "{json:?}");
    // The interval and the number of operations that are used if none are given let pages move.
    let text = TEXT.replace("interval = \"3 us\"\n", "").replace("operations = 300, ", "");
    let settings = text.replace("operations = \"component.accel.traffic.operations\"\n", "");
    let request = ScenarioRequest { description: Some(settings), ..self::request(&[], 1) };
    let report = scenario::run(&request, &mut |_| ()).unwrap_or_else(|error| panic!("{error}"));
    assert!(report.violations.is_empty() && count(&report, "pages moved") > 0, "{:?}", report.json());
}

/// Numbers of accesses come over a link from anybody: the largest ones neither overflow nor count as twice each other.
#[test]
fn tiers_largest_counts() {
    let mut manager = PageManager::new(PlacementPolicy::Temperature, 2, [1, 0, 2]);
    let mut is_moving_at = |counts: [u64; 2]| {
        (0..2).for_each(|page| manager.asks(0, page));
        manager.acts.clear();
        (0..).zip(counts).for_each(|(page, count)| manager.accessed(page, count));
        manager.accessed(1, 1);
        manager.interval_over();
        manager.acts.iter().any(|act| matches!(act, ManagerAct::Moves { .. }))
    };
    assert!(!is_moving_at([u64::MAX, u64::MAX]));
    assert!(is_moving_at([u64::MAX / 2, u64::MAX]));
}

/// HBM with frames for two pages as an exclusive cache of tier 2 with frames for four.
const CACHE_FRAMES: [u32; 3] = [2, 0, 4];

fn in_hbm(frame: u32) -> TierFrame {
    TierFrame { tier: Tier::Hbm, frame }
}

/// A list of accesses in the last interval and of last intervals, page by page.
fn used(of: [(u64, u64); 4]) -> Vec<PageUse> {
    of.map(|(accesses, interval)| PageUse { accesses, interval }).to_vec()
}

/// Four pages, of which `upper` are in HBM and the others in tier 2.
fn cache_of(upper: &[u32]) -> FrameBook {
    let mut book = FrameBook::new(CACHE_FRAMES);
    for page in 0..4 {
        let tier = if upper.contains(&page) { Tier::Hbm } else { Tier::Tier2 };
        let place = book.free_in(tier).expect("a frame");
        assert!(book.take(place, page));
    }
    book
}

/// What enters HBM as an exclusive cache, and what leaves it, by hand.
#[test]
fn tiers_exclusive_by_hand() {
    let decided = |of, upper: &[u32]| next_fill(&used(of), &cache_of(upper)).map(|found| (found.page, found.to.tier));
    // Nothing was accessed; what was accessed is there.
    assert_eq!(decided([(0, 0); 4], &[]), None);
    assert_eq!(decided([(3, 2), (0, 0), (0, 0), (0, 0)], &[0]), None);
    // The page with the most accesses enters a free frame; of equal ones the first.
    assert_eq!(decided([(1, 2), (3, 2), (3, 2), (0, 0)], &[0]), Some((1, Tier::Hbm)));
    // The page of the oldest interval leaves, whatever it had then; of equal ones the first.
    assert_eq!(decided([(0, 2), (0, 1), (1, 3), (0, 0)], &[0, 1]), Some((1, Tier::Tier2)));
    assert_eq!(decided([(0, 1), (0, 1), (1, 3), (0, 0)], &[0, 1]), Some((0, Tier::Tier2)));
    // What was used in the same interval does not leave.
    assert_eq!(decided([(1, 3), (1, 3), (9, 3), (0, 0)], &[0, 1]), None);
}

/// Which page is prefetched, by hand.
#[test]
fn tiers_prefetch_by_hand() {
    let decided = |of, upper: &[u32], ahead, evicts| {
        let found = next_prefetch(&used(of), &cache_of(upper), ahead, (evicts, 3));
        found.map(|found| (found.page, found.to.tier))
    };
    let first = [(4, 3), (0, 0), (0, 0), (0, 0)];
    assert_eq!(decided(first, &[0], 1, false), Some((1, Tier::Hbm)), "the page behind it, into a free frame");
    assert_eq!(decided(first, &[0, 1], 1, true), None, "it is there");
    assert_eq!(decided(first, &[0, 1], 2, false), None, "no frame is free");
    assert_eq!(decided(first, &[0, 1], 2, true), None, "page 1 is wanted as page 2 is");
    let second = [(0, 1), (4, 3), (0, 0), (0, 0)];
    assert_eq!(
        decided(second, &[0, 2], 2, true),
        Some((0, Tier::Tier2)),
        "page 0 leaves for page 3, not page 2, which is older"
    );
    assert_eq!(decided([(4, 3), (0, 3), (0, 0), (0, 0)], &[0, 1], 2, true), None, "nothing is older");
    assert_eq!(decided([(0, 0), (0, 0), (0, 0), (4, 3)], &[3], 4, true), None, "no page is behind the last one");
}

/// A page that no source knows moves without a block and without news of its place: a manager brings up two pages before anything is asked for.
#[test]
fn tiers_warming_asks_nobody() {
    let mut manager = PageManager::new(PlacementPolicy::Exclusive, 4, CACHE_FRAMES).with_prefetch(0, 2);
    let mut moved = Vec::new();
    while let Some(act) = manager.acts.pop_front() {
        match act {
            ManagerAct::Placed { place, .. } => assert_eq!(place.tier, Tier::Tier2),
            ManagerAct::Moves { page, to, .. } => moved.push((page, to)),
            ManagerAct::Flush { .. } => manager.flushed(),
            ManagerAct::Copy { .. } => manager.copied(),
            ManagerAct::Moved { .. } => (),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(moved, [(0, in_hbm(0)), (1, in_hbm(1))]);
    assert!(!manager.is_moving());
}

/// A move lasts longer than an interval in which another page is accessed, and the page behind the one that moved comes before it.
#[test]
fn tiers_prefetch_behind_a_long_move() {
    let mut manager = PageManager::new(PlacementPolicy::Exclusive, 4, CACHE_FRAMES).with_prefetch(1, 0);
    let mut moved = Vec::new();
    manager.accessed(0, 3);
    manager.interval_over();
    while let Some(act) = manager.acts.pop_front() {
        match act {
            ManagerAct::Moves { page, to, .. } => moved.push((page, to.tier)),
            ManagerAct::Flush { .. } => {
                if moved.len() == 1 {
                    manager.accessed(3, 3);
                    manager.interval_over();
                }
                manager.flushed();
            }
            ManagerAct::Copy { .. } => manager.copied(),
            _ => (),
        }
    }
    assert_eq!(moved[..2], [(0, Tier::Hbm), (1, Tier::Hbm)], "{moved:?}");
}

/// Runs with HBM as an exclusive cache: every byte is right, a page has one place, pages go both ways, and prefetch and warming bring up
/// pages that nobody has asked for.
#[test]
fn tiers_exclusive_in_traffic() {
    let text = TEXT
        .replace("policy = \"temperature\"", "policy = \"exclusive\"")
        .replace("hbm_pages = 1\npeer_pages = 1", "hbm_pages = 2\npeer_pages = 0")
        .replace("tier2 = { pages = 3", "tier2 = { pages = 4");
    let run = |set: &[&str], threads| {
        let request = ScenarioRequest { description: Some(text.clone()), ..request(set, threads) };
        let report = scenario::run(&request, &mut |_| ()).unwrap_or_else(|error| panic!("{set:?}: {error}"));
        assert_eq!(report.violations, [], "{set:?}");
        report
    };
    let plain = run(&[], 1);
    assert!(count(&plain, "pages moved") > 6 && count(&plain, "accesses of HBM") > 100, "{:?}", plain.json());
    assert_eq!((count(&plain, "pages placed"), count(&plain, "pages prefetched")), (8, 0));
    let ahead = run(&["component.accel.prefetch=1"], 1);
    assert!(count(&ahead, "pages prefetched") > 0, "{:?}", ahead.json());
    // Two pages of each were in HBM before the first operation.
    let warm = run(&["component.accel.warm_pages=2", "component.accel.traffic.start_cycles=20000"], 1);
    assert!(count(&warm, "accesses of HBM") > count(&plain, "accesses of HBM"), "{:?}", warm.json());
    assert_eq!(run(&["component.accel.prefetch=1"], 2).json(), ahead.json());
    for (set, found) in [
        ("component.accel.peer_pages=1", "found 2, 1 and 4 frames"),
        ("component.accel.warm_pages=3", "found 3, expected at most 2, pages and frames in HBM"),
    ] {
        let request = ScenarioRequest { description: Some(text.clone()), ..request(&[set], 1) };
        let error = scenario::run(&request, &mut |_| ()).expect_err(set).to_string();
        assert!(error.contains(found), "{error}");
    }
    let still = request(&["policy=first-touch", "component.accel.prefetch=1"], 1);
    let error = scenario::run(&still, &mut |_| ()).expect_err("prefetch without moves").to_string();
    assert!(error.contains("expected 0 by a policy that moves no pages"), "{error}");
    let warm = request(&["component.accel.warm_pages=1"], 1);
    let error = scenario::run(&warm, &mut |_| ()).expect_err("warming by another policy").to_string();
    assert!(error.contains("found 1, expected 0 by policy temperature"), "{error}");
}
