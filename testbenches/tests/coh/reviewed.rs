//! Small places for big programs, files that ask for too much, options that must mean something.

use scalepool::coherence::agent::{Agent, AgentOutput};
use scalepool::coherence::bias::{Bias, BiasDevice};
use scalepool::coherence::config::CoherenceConfig;
use scalepool::coherence::content::{Age, LineAddr, LineToken};
use scalepool::coherence::mem::dcoh::{Dcoh, DeviceOp};
use scalepool::coherence::mem::tables::Copy4;
use scalepool::coherence::message::Msg;
use scalepool::proof::explore::{ExplorationReport, Limits, NamedExploration, named, search};
use scalepool::proof::litmus::{LitmusResult, parse};
use scalepool::proof::systems::cache::{Setup as CacheSetup, system as cache_system};
use scalepool::proof::systems::mem::{Setup as MemSetup, system as mem_system};
use scalepool::scenario::{self, ScenarioRequest};
use scalepool::trace::log::{LogFilter, LogTo};
use scalepool_protocols::cxl::cxl256::code::{
    D2hReqOpcode, GoState, H2dRspOpcode, M2sReqOpcode, MetaField, MetaValue, SnpType,
};
use scalepool_testbenches::soak::is_soak;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

fn set(list: &[(&str, &str)]) -> Vec<String> {
    list.iter().map(|(name, value)| format!("{name}={value}")).collect()
}

/// A run that ends with nothing open and nothing broken.
fn ends(scenario: &str, seed: u64, set: &[String]) {
    let request = ScenarioRequest {
        scenario: scenario.into(),
        seed,
        threads: 1,
        set: set.to_vec(),
        ..ScenarioRequest::default()
    };
    let report = scenario::run(&request, &mut |_| ()).unwrap_or_else(|e| panic!("{scenario} {seed} {set:?}: {e}"));
    let broken: Vec<_> = report.violations.iter().map(|b| b.violation.to_string()).collect();
    assert!(broken.is_empty(), "{scenario} {seed} {set:?}: {broken:?}");
}

const PATTERNS: [&str; 6] = ["producer-consumer", "migratory", "false-sharing", "read-mostly", "private", "walk"];

/// A clean copy of the host of HDM-D goes without a message, so none tells the core that its place is free.
#[test]
fn a_place_that_comes_free_without_a_message_is_used() {
    for pattern in PATTERNS {
        ends("bias-flip", 1, &set(&[("core.pattern", pattern), ("core.cache_lines", "1"), ("core.accesses", "300")]));
    }
    let walk = [("core.pattern", "walk"), ("core.lines", "100"), ("core.outstanding", "1"), ("core.accesses", "300")];
    ends("bias-flip", 1, &set(&walk));
}

/// The line of a younger access keeps its place while the access is open; behind it, it is a victim.
#[test]
fn a_place_that_an_access_leaves_is_used() {
    let window = [("core.cache_lines", "1"), ("core.outstanding", "64"), ("core.accesses", "200")];
    ends("cxl-cache-pair", 1, &set(&window));
    let two = [("core.lines", "2"), ("device.filter_ways", "16"), ("core.accesses", "50")];
    ends("snoop-filter-thrash", 1, &set(&[&window[..2], &two].concat()));
}

/// The corners of all four scenarios: one line and one place, tiny filters, windows from 1 to 64.
#[test]
fn no_corner_of_the_settings_stalls() {
    let wide = is_soak();
    let (seeds, accesses) = if wide { (1..=8, "200") } else { (1..=1, "12") };
    let (lines, places, windows): (&[&str], &[&str], &[&str]) = match wide {
        true => (&["1", "2", "100"], &["1", "2"], &["1", "2", "64"]),
        false => (&["1", "2", "100"], &["1"], &["1", "64"]),
    };
    for seed in seeds {
        let few = (seed % 2 + 1).to_string();
        for &line in lines {
            for &place in places {
                for &window in windows {
                    for pattern in PATTERNS {
                        let common = set(&[
                            ("core.pattern", pattern),
                            ("core.lines", line),
                            ("core.cache_lines", place),
                            ("core.outstanding", window),
                            ("core.accesses", accesses),
                        ]);
                        let run = |name, own: &[(&str, &str)]| ends(name, seed, &[common.clone(), set(own)].concat());
                        let modes: &[&str] = if wide { &["cxl-68b", "cxl-256b"] } else { &["cxl-68b"] };
                        for mode in modes {
                            run("bias-flip", &[("link.mode", mode)]);
                            run("cxl-cache-pair", &[("link.mode", mode), ("home.filter_lines", &few)]);
                        }
                        let filter = [("device.filter_sets", "1"), ("device.filter_ways", few.as_str())];
                        run("hdm-db-share", &[&filter[..1], &[("device.trackers", "1")]].concat());
                        run("snoop-filter-thrash", &[&filter[..], &[("hosts", "2")]].concat());
                    }
                }
            }
        }
    }
}

/// 16 caches with 64 requests each ask for more than the home has transactions: it lets them wait.
#[test]
fn more_requests_than_transactions() {
    let many = [("devices", "16"), ("core.outstanding", "64"), ("core.lines", "2048"), ("core.accesses", "70")];
    ends("cxl-cache-pair", 1, &set(&[&many[..], &[("core.pattern", "false-sharing")]].concat()));
}

/// A host that writes whole lines where ownership comes without bytes still reads for a load.
#[test]
fn a_load_behind_ownership_without_bytes_is_served() {
    for config in ["", "without_bytes = \"write\""] {
        let found = outcomes("hdm-db", "SS", &["MemRdA", "MemInv Load Store"], config);
        assert_eq!(found, ["EI+", "IM-"], "{config}");
    }
}

/// HDM-D: every legal answer of the host and of the device, and what the host is told to keep.
#[test]
fn hdm_d_has_its_alternatives() {
    let every = "alternatives = true";
    assert_eq!(outcomes("hdm-d", "EI", &["", "MemRdS"], ""), ["SS+"]);
    assert_eq!(outcomes("hdm-d", "EI", &["", "MemRdS"], every), ["IE+", "IS+", "SS+"]);
    assert_eq!(outcomes("hdm-d", "IE", &["RdAny", ""], ""), ["SS+"]);
    assert_eq!(outcomes("hdm-d", "IE", &["RdAny", ""], "mem.host_keeps = \"nothing\""), ["EI+"]);
    assert_eq!(outcomes("hdm-d", "IM", &["RdAny", ""], every), ["EI+", "SS+"]);
    assert_eq!(outcomes("hdm-d", "IE", &["RdCurr", ""], "mem.host_keeps = \"shared\""), ["IS+"]);
    assert_eq!(outcomes("hdm-d", "IM", &["RdCurr", ""], every), ["IE+", "II+", "IS+"]);
    assert_eq!(outcomes("hdm-d", "IE", &["CLFlush", ""], every), ["II+", "IS+"]);
}

fn text(kind: &str, start: &str, programs: &[&str], config: &str) -> String {
    let programs: Vec<Vec<&str>> = programs.iter().map(|p| p.split_whitespace().collect()).collect();
    format!("kind = \"{kind}\"\nstart = \"{start}\"\nprograms = {programs:?}\n[config]\n{config}\n")
}

fn litmus(kind: &str, start: &str, programs: &[&str], config: &str) -> LitmusResult {
    let text = text(kind, start, programs, config);
    parse(&text).and_then(|case| case.explore()).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// Outcomes as `IS+` (fresh) or `IS-`; no rule is broken.
fn outcomes(kind: &str, start: &str, programs: &[&str], config: &str) -> Vec<String> {
    let found = litmus(kind, start, programs, config);
    assert_eq!(found.violation.map(|v| v.event.to_string()), None, "{kind} {start} {programs:?} {config}");
    found.outcomes.iter().map(|o| format!("{}{}", o.letters, if o.fresh { '+' } else { '-' })).collect()
}

/// Programs are counted in eight bits: 255 operations are counted right, more are refused.
#[test]
fn a_program_has_a_length() {
    let three = "RdOwn Store DirtyEvict ".repeat(85);
    assert_eq!(outcomes("cxl-cache", "I", &[&three], ""), ["I+"]);
    assert_eq!(outcomes("cxl-cache", "SI", &[&"Load ".repeat(255), ""], ""), ["SI+"]);
    for kind in ["cxl-cache", "hdm-db", "hdm-d"] {
        let error = parse(&text(kind, "SI", &["", &"Load ".repeat(256)], "")).expect_err(kind).to_string();
        assert_eq!(error, "line 3: found `256 operations`, expected at most 255 a program");
    }
}

/// Where the device has no memory, MemInv gets Cmp alone and grants nothing, reads get MemDataNXM, writes vanish (3.2).
#[test]
fn a_line_without_memory() {
    let none = "mem.no_range = [{first = 0, last = 100000}]";
    for programs in [["MemInv", ""], ["MemRdA Load", "MemRdS"], ["MemRdA Store", "MemInv Store"]] {
        assert_eq!(outcomes("hdm-db", "II", &programs, none), ["II+"], "{programs:?}");
    }
    // Not the line of the case.
    assert_eq!(outcomes("hdm-db", "II", &["MemInv", ""], "mem.no_range = [{first = 64, last = 100000}]"), ["EI+"]);
    for host in ["MemInv Store", "MemRdA Store", "MemRdS", "MemRdA MemRdS"] {
        assert_eq!(outcomes("hdm-d", "II", &["RdOwn Store", host], none), ["II+"], "{host}");
    }
    // Nobody can have got a copy.
    for (kind, start) in [("hdm-db", "M"), ("hdm-db", "SS"), ("hdm-d", "EI")] {
        let error = parse(&text(kind, start, &vec![""; start.len()], none)).expect_err(start).to_string();
        assert!(error.ends_with("expected I for every agent: line 0 is in `mem.no_range`"), "{error}");
    }
}

/// Ownership that was refused with an error is not lost: the store does not ask again, and its program ends there. Data
/// that is pulled with GO_ERR_WritePull is dropped (2.2).
#[test]
fn a_line_that_gets_errors() {
    for answer in ["go-error", "go-invalid"] {
        let config = format!("error_ranges = [{{first = 0, last = 63, answer = \"{answer}\"}}]");
        let check = |kind, start, programs: &[&str], expected| {
            assert_eq!(outcomes(kind, start, programs, &config), [expected], "{kind} {start} {programs:?} {answer}");
        };
        check("cxl-cache", "II", &["RdOwn Store", ""], "II+");
        check("cxl-cache", "II", &["RdOwn Store", "RdOwnNoData Store"], "II+");
        check("cxl-cache", "MI", &["DirtyEvict", ""], "II-");
        check("cxl-cache", "EI", &["Store DirtyEvict", "RdShared Load"], "II-");
        check("hdm-d", "II", &["RdOwn Store", ""], "II+");
    }
}

#[test]
fn numbers_have_ranges() {
    for (config, expected) in [
        ("mem.filter_sets = 99999999999", "found `mem.filter_sets = 99999999999`, expected 0 to 1048576"),
        ("mem.filter_ways = 0", "found `mem.filter_ways = 0`, expected 1 to 1048576"),
        ("mem.trackers = 0", "found `mem.trackers = 0`, expected 1 to 4096"),
        ("mem.throughput_reduction = 4", "found `mem.throughput_reduction = 4`, expected 0 to 3"),
        ("home_filter_lines = 2000000", "found `home_filter_lines = 2000000`, expected 0 to 1048576"),
        ("home_queue_requests = 2000000", "found `home_queue_requests = 2000000`, expected 0 to 1048576"),
        ("own_memory = [{first = 0, last = 63, device = 16}]", "found `own_memory.device = 16`, expected 0 to 15"),
        ("own_memory = [{first = 64, last = 63, device = 1}]", "found `own_memory from 64 to 63`"),
        ("mem.no_range = [{first = 64, last = 63}]", "found `mem.no_range from 64 to 63`"),
        ("error_ranges = [{first = 9, last = 0, answer = \"go-error\"}]", "found `error_ranges from 9 to 0`"),
    ] {
        let error = parse(&text("hdm-db", "II", &["MemInv", ""], config)).expect_err(config).to_string();
        assert!(error.starts_with("line 4: ") && error.contains(expected), "{error}");
    }
}

/// The owner's dirty data goes to the host as it is, with Cmp-M (3.2, row 1).
#[test]
fn dirty_data_is_granted() {
    assert_eq!(outcomes("hdm-d", "MI", &["", "MemRdA"], ""), ["IE+"]);
    assert_eq!(outcomes("hdm-d", "MI", &["", "MemRdA"], "mem.cmp_m = true"), ["IM-"]);
    assert_eq!(outcomes("hdm-d", "MI", &["", "MemRdA MemWr"], "mem.cmp_m = true"), ["II+"]);
    // Other requests and clean data as ever.
    assert_eq!(outcomes("hdm-d", "MI", &["", "MemRdS"], "mem.cmp_m = true"), ["SS+"]);
    assert_eq!(outcomes("hdm-d", "EI", &["", "MemRdA"], "mem.cmp_m = true"), ["IE+"]);
}

/// A search that is given up says so and keeps what it has found.
#[test]
fn a_search_that_is_given_up_says_so() {
    let case = parse(&text("cxl-cache", "III", &["RdOwn Store"; 3], "")).expect("a case");
    let all = case.explore().expect("it is explored");
    assert!(all.complete && !all.gave_up() && all.to_json().get("complete").is_none());
    let exact = case.explore_within(all.states, &mut |_| ()).expect("it is explored");
    assert_eq!(exact, all);
    let part = case.explore_within(all.states - 1, &mut |_| ()).expect("it is explored");
    assert!(part.gave_up() && part.states == all.states - 1 && part.to_json()["complete"] == false);
}

pub(super) fn configured(text: &str) -> CoherenceConfig {
    let case = parse(&self::text("hdm-db", "I", &[""], text));
    case.unwrap_or_else(|e| panic!("{text}: {e}")).config
}

/// States and moves are counted, and what never ends is no matter.
const SAFETY: Limits =
    Limits { states: 50_000_000, symmetry: false, liveness: false, reduction: false, memory_bytes: None, threads: 1 };

fn counts(report: ExplorationReport) -> (usize, u64) {
    assert_eq!(report.violation.map(|v| v.event.to_string()), None);
    (report.states, report.transitions)
}

/// What two lines and free device caches can reach.
fn caches(config: &str, devices: u16) -> (usize, u64) {
    let menu = if devices == 1 { &[D2hReqOpcode::RdShared, D2hReqOpcode::RdOwn][..] } else { &[D2hReqOpcode::RdOwn] };
    let setup = CacheSetup { lines: 2, waiting_stores: false, ..CacheSetup::free(configured(config), devices, menu) };
    counts(search(&cache_system(setup), SAFETY))
}

/// What a host and the device's own operations can reach.
fn hosts(config: &str, lines: u8, blocks: bool) -> (usize, u64) {
    let setup = MemSetup {
        lines,
        requests: vec![scalepool::coherence::mem::HostReq::RD_ANY],
        write_backs: Vec::new(),
        stores: blocks,
        wants: vec![scalepool::coherence::mem::HostAccess::Nothing],
        device: if blocks { Vec::new() } else { vec![DeviceOp::ReadOnce] },
        blocks: if blocks { vec![(DeviceOp::Reclaim, 1)] } else { Vec::new() },
        ..MemSetup::core(configured(config), 1)
    };
    counts(search(&mem_system(setup), SAFETY))
}

/// What the DCOH answers to a read of line 0.
fn answers(config: &str) -> Vec<Msg<LineToken>> {
    let config = configured(config);
    let (mut dcoh, mut out) = (Dcoh::<LineToken>::new(&config, 2), AgentOutput::default());
    let (snp, meta_field, meta) = (SnpType::SnpInv, MetaField::Meta0State, MetaValue::Any);
    for (port, tag) in [(0, 1), (1, 2), (0, 3)] {
        let line = LineAddr(u64::from(tag == 3));
        let msg = Msg::M2sReq { opcode: M2sReqOpcode::MemRd, snp, meta_field, meta, line, tag };
        dcoh.take(&config, port, msg, 0, &mut out);
    }
    out.sends.into_iter().map(|(_, msg)| msg).collect()
}

/// Whether GO-E to a flip is believed.
fn flipped(config: &str) -> bool {
    let config = configured(config);
    let (line, mut device, mut out) = (LineAddr(0), BiasDevice::<LineToken>::new(), AgentOutput::default());
    device.preset(line, LineToken::of(line, Age::Current), Bias::Host, Copy4::I, None);
    device.issue(&config, line, D2hReqOpcode::RdOwn, None, &mut out);
    let (opcode, rsp_data) = (H2dRspOpcode::GO, GoState::Exclusive.0.into());
    device.take(&config, 0, Msg::H2dRsp { opcode, rsp_data, cqid: 0 }, 0, &mut out);
    device.bias(line) == Bias::Device
}

/// How an option shows.
enum Shows {
    /// In the outcomes of a litmus case: kind, start, programs.
    Outcome(&'static str, &'static str, &'static [&'static str]),
    /// In its states, with the same outcomes.
    States(&'static str, &'static str, &'static [&'static str]),
    /// In what so many free caches can reach.
    Caches(u16),
    /// In what a host can reach: lines, and whether the device takes blocks back.
    Hosts(u8, bool),
    /// In the answers of a DCOH.
    Answers,
    /// In the bias behind a GO-E.
    Flip,
}

/// Every option of a configuration changes something: an option that means nothing must not be there.
#[test]
fn every_option_means_something() {
    use Shows::*;
    let (cache, db, hdm_d) = ("cxl-cache", "hdm-db", "hdm-d");
    let shows = [
        ("alternatives = true", "", Outcome(cache, "MI", &["", "RdShared"])),
        ("silent_drop_s = false", "", Caches(1)),
        ("silent_drop_e = true", "", Caches(1)),
        ("snp_data_on_m = \"shared-then-invalid\"", "", Outcome(cache, "MI", &["", "RdShared"])),
        ("snp_data_on_m = \"invalid\"", "", Outcome(cache, "MI", &["", "RdAny"])),
        ("snp_cur_on_clean = \"shared\"", "", Outcome(cache, "EI", &["", "RdCurr"])),
        ("snp_cur_on_clean = \"forward\"", "", States(cache, "EI", &["", "RdCurr"])),
        ("snp_cur_on_m = \"shared\"", "", Outcome(cache, "MI", &["", "RdCurr"])),
        ("snp_cur_on_m = \"invalid\"", "", Outcome(cache, "MI", &["", "RdCurr"])),
        ("without_bytes = \"write\"", "", States(db, "II", &["MemInv", ""])),
        ("rd_any_exclusive = false", "", Outcome(cache, "II", &["RdAny", ""])),
        ("grant_dirty = true", "", Outcome(cache, "MI", &["", "RdOwn"])),
        ("clean_evict = \"pull\"", "", States(cache, "EI", &["CleanEvict", ""])),
        ("home_queue_requests = 1", "", States(cache, "III", &["RdOwn Store"; 3])),
        ("home_transactions = 1", "", Caches(2)),
        ("home_filter_lines = 1", "", Caches(1)),
        ("error_ranges = [{first = 0, last = 63, answer = \"go-error\"}]", "", Outcome(cache, "II", &["RdOwn", ""])),
        ("error_ranges = [{first = 0, last = 63, answer = \"go-invalid\"}]", "", Outcome(cache, "II", &["RdOwn", ""])),
        ("own_memory = [{first = 0, last = 63, device = 0}]", "", Outcome(cache, "II", &["RdOwn", ""])),
        ("mem.host_keeps = \"shared\"", "", Hosts(1, false)),
        ("mem.host_keeps = \"nothing\"", "", Outcome(db, "EI", &["", "MemRdS"])),
        ("mem.block_answer = \"whole\"", "", Hosts(2, true)),
        ("mem.block_answer = \"whole-if-equal\"", "", Hosts(2, true)),
        ("mem.block_release = \"early\"", "", Hosts(2, true)),
        ("mem.one_access = false", "", States(db, "II", &["MemRdA Store", "MemRdA"])),
        ("mem.shared_grants_exclusive = true", "", Outcome(db, "II", &["MemRdS", ""])),
        ("mem.device_keeps_shared = false", "", Outcome(hdm_d, "EI", &["", "MemRdS"])),
        ("mem.cmp_m = true", "", Outcome(hdm_d, "MI", &["", "MemRdA"])),
        ("mem.filter_sets = 1", "", Hosts(2, false)),
        ("mem.filter_sets = 1\nmem.filter_ways = 2", "mem.filter_sets = 1", Hosts(2, false)),
        ("mem.trackers = 1", "", Hosts(2, false)),
        ("mem.meta_stored = true", "", Answers),
        ("mem.no_range = [{first = 0, last = 63}]", "", Outcome(db, "II", &["MemRdA", ""])),
        (
            "mem.no_range = [{first = 0, last = 63}]\nmem.no_range_poison = true",
            "mem.no_range = [{first = 0, last = 63}]",
            Answers,
        ),
        ("mem.devload = [1, 2, 3]", "", Answers),
        ("mem.throughput_reduction = 2", "", Answers),
        ("mem.flush_keeps_shared = true", "", Outcome(hdm_d, "IE", &["CLFlush", ""])),
        ("mem.flip_by_go = true", "", Flip),
    ];
    let mut plain = BTreeMap::new();
    for (with, without, how) in &shows {
        let differs = match how {
            Outcome(kind, start, programs) => {
                let of = |config| litmus(kind, start, programs, config).to_json();
                let parts = |config| (of(config)["outcomes"].clone(), of(config)["violations"].clone());
                parts(with) != parts(without)
            }
            States(kind, start, programs) => {
                let of = |config| litmus(kind, start, programs, config).states;
                of(with) != of(without)
            }
            Caches(devices) => {
                let key = (*without, u8::try_from(*devices).expect("few"), None);
                caches(with, *devices) != *plain.entry(key).or_insert_with(|| caches(without, *devices))
            }
            Hosts(lines, blocks) => {
                let key = (*without, *lines, Some(*blocks));
                hosts(with, *lines, *blocks) != *plain.entry(key).or_insert_with(|| hosts(without, *lines, *blocks))
            }
            Answers => answers(with) != answers(without),
            Flip => flipped(with) != flipped(without),
        };
        assert!(differs, "{with}: changes nothing");
    }
    // Which options there are, the error about an unknown one says.
    for (prefix, unknown) in [("", "nosuch = 1"), ("mem.", "mem.nosuch = 1")] {
        let error = parse(&text("hdm-db", "I", &[""], unknown)).expect_err(unknown).to_string();
        let known: Vec<&str> = error.split('`').skip(3).step_by(2).filter(|name| *name != "mem").collect();
        assert!(known.len() > 10, "{error}");
        // Counted in clocked runs alone, and shown there: `a_request_that_waits_for_more_than_its_bound_is_seen`.
        for name in known.into_iter().filter(|name| *name != "progress_bound") {
            let shown =
                shows.iter().any(|(with, ..)| with.split('\n').any(|l| l.starts_with(&format!("{prefix}{name} "))));
            assert!(shown, "{prefix}{name} has no case");
        }
    }
}

/// Whether an option changes what a search sees of an exploration: at most so many states, and ever more of them, since
/// other ways may lead to equal sets of states. `plain` has what is seen without options, by the number of states.
fn acts(
    named: &NamedExploration,
    config: &CoherenceConfig,
    most: usize,
    plain: &mut BTreeMap<usize, ExplorationReport>,
) -> bool {
    let seen =
        |config: &CoherenceConfig, states| named.start(config.clone()).search(Limits { states, ..SAFETY }, &mut |_| ());
    let mut limits = std::iter::successors(Some(8), |n| Some(n * 4)).take_while(|n| *n <= most);
    limits.any(|states| {
        let plain = plain.entry(states).or_insert_with(|| seen(&CoherenceConfig::default(), states));
        seen(config, states) != *plain
    })
}

/// Cores that load and store: a shape by itself may have no use for an option that others of its protocol have.
fn is_core(named: &NamedExploration) -> bool {
    named.name.ends_with("-mp")
}

/// The device's own S copy under a read that shares: kept or not, other ways lead to the same states, and as many of them.
const KEEPS_SHARED: &str = "mem.device_keeps_shared = false";

#[test]
fn a_device_keeps_or_drops_its_shared_copy() {
    for (config, left) in [("", Some(Copy4::S)), (KEEPS_SHARED, None)] {
        let config = configured(config);
        let (line, mut dcoh, mut out) = (LineAddr(0), Dcoh::<LineToken>::new(&config, 1), AgentOutput::default());
        dcoh.issue(&config, line, DeviceOp::ReadShared, &mut out);
        let (opcode, snp) = (M2sReqOpcode::MemRd, SnpType::SnpData);
        let (meta_field, meta) = (MetaField::Meta0State, MetaValue::Shared);
        dcoh.take(&config, 0, Msg::M2sReq { opcode, snp, meta_field, meta, line, tag: 1 }, 0, &mut out);
        assert_eq!(dcoh.own(line).map(|own| own.0), left);
    }
}

/// In every kind of exploration each option acts, or it is refused and would have done nothing.
#[test]
fn an_option_that_does_nothing_is_refused() {
    const VALUES: &[&str] = &[
        "alternatives = true",
        "silent_drop_s = false",
        "silent_drop_e = true",
        "snp_data_on_m = 'invalid'",
        "snp_cur_on_clean = 'shared'",
        "snp_cur_on_m = 'invalid'",
        "without_bytes = 'write'",
        "rd_any_exclusive = false",
        "grant_dirty = true",
        "clean_evict = 'pull'",
        "home_queue_requests = 1",
        "home_transactions = 1",
        "home_filter_lines = 1",
        "progress_bound = 1",
        "error_ranges = [{first = 0, last = 63, answer = 'go-error'}]",
        "own_memory = [{first = 0, last = 63, device = 0}]",
        "mem.host_keeps = 'nothing'",
        "mem.block_answer = 'whole'",
        "mem.block_release = 'early'",
        "mem.one_access = false",
        "mem.shared_grants_exclusive = true",
        KEEPS_SHARED,
        "mem.cmp_m = true",
        "mem.filter_sets = 1",
        "mem.trackers = 1",
        "mem.no_range = [{first = 0, last = 63}]",
        "mem.flush_keeps_shared = true",
        "mem.flip_by_go = true",
    ];
    let kinds = [
        "cxl-cache-2",
        "cxl-cache-2-lines",
        "cxl-cache-2-memory",
        "hdm-db-2",
        "hdm-db-2-all",
        "hdm-db-device",
        "hdm-db-memory",
        "hdm-db-filter",
        "hdm-db-block",
        "hdm-db-uio",
        "hdm-db-two-levels",
        "hdm-d",
        "cxl-cache-mp",
        "hdm-db-mp",
        "hdm-d-mp",
    ];
    let (mut wrong, mut acting) = (Vec::new(), BTreeSet::new());
    for named in kinds.map(|name| named::find(name).expect("a name")) {
        let mut plain = BTreeMap::new();
        for value in VALUES {
            let config = configured(value);
            let taken = named.begin(config.clone(), &named::ExplorationScope::default()).is_ok();
            let new = taken && !acting.contains(&(named.options.as_ptr(), value));
            let has_to_act = !is_core(named) && *value != KEEPS_SHARED;
            if new && acts(named, &config, if has_to_act { 1 << 17 } else { 2_048 }, &mut plain) {
                acting.insert((named.options.as_ptr(), value));
            } else if new && has_to_act {
                wrong.push(format!("{}: {value} is taken and does nothing", named.name));
            } else if !taken && acts(named, &config, 2_048, &mut plain) {
                wrong.push(format!("{}: {value} acts and is refused", named.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let error = named::find("hdm-d")
        .expect("a name")
        .begin(configured("mem.flip_by_go = true"), &named::ExplorationScope::default())
        .err()
        .expect("refused");
    assert!(
        error
            .to_string()
            .starts_with("found mem.flip_by_go = true, which does nothing here, expected one of alternatives,")
    );
    let case = parse(&text("hdm-d", "II", &["RdOwn", ""], "mem.flip_by_go = true")).expect("it is read");
    let error = case.start().err().expect("refused").to_string();
    assert!(error.starts_with("line 4: found `mem.flip_by_go = true, which does nothing here`"), "{error}");
}

/// A chart in a form that there is not, a scope or a window without an output that it is for: refused. A chart of a line
/// that nobody touches: said.
#[test]
fn outputs_that_say_nothing_are_noticed() {
    let dir = tempfile::tempdir().expect("a folder");
    let request = || {
        let set = set(&[("core.accesses", "4"), ("core.lines", "2")]);
        ScenarioRequest { scenario: "hdm-db-share".into(), seed: 1, threads: 1, set, ..ScenarioRequest::default() }
    };
    let refused = |request: &ScenarioRequest| scenario::run(request, &mut |_| ()).expect_err("refused").to_string();
    for ending in ["png", "pdf", "json"] {
        let mut wrong = request();
        let path = dir.path().join("c").with_extension(ending);
        wrong.outputs.chart = Some(path.clone());
        assert!(refused(&wrong).ends_with("found a chart with this ending, expected .svg, .txt or none"));
        assert!(!path.exists());
    }
    let mut scope = request();
    scope.outputs.scopes = vec!["*".into()];
    assert_eq!(refused(&scope), "wave scope: found no output that it applies to, expected a wave or a trace");
    let mut window = request();
    window.outputs.from_fs = Some(5);
    assert_eq!(
        refused(&window),
        "time window: found no output that it applies to, expected a wave, a trace or a chart"
    );
    for (line, remarks) in [(0x40, 0), (0x4000, 1)] {
        let mut chart = request();
        chart.outputs.chart = Some(dir.path().join("chart"));
        chart.outputs.chart_line = Some(line);
        let report = scenario::run(&chart, &mut |_| ()).expect("it runs");
        assert_eq!(report.remarks.len(), remarks, "{line:#x}: {:?}", report.remarks);
    }
}

/// Words of a log line.
fn word<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    line.split(' ').find_map(|word| word.strip_prefix(key)?.strip_prefix('='))
}

/// The log has a layer for coherence; a request, its snoops and its answers have one id, in agents and on links.
#[test]
fn one_id_through_agents_and_links() {
    for (scenario, own) in [
        ("cxl-cache-pair", [("devices", "3"), ("link.mode", "cxl-256b")]),
        ("cxl-cache-pair", [("devices", "2"), ("link.mode", "cxl-68b")]),
        ("hdm-db-share", [("hosts", "2"), ("devices", "2")]),
        ("bias-flip", [("link.mode", "cxl-68b"), ("link.width", "8")]),
    ] {
        let common = [("core.pattern", "migratory"), ("core.accesses", "12"), ("core.lines", "3")];
        let set = set(&[&common[..], &own[..]].concat());
        let mut request =
            ScenarioRequest { scenario: scenario.into(), seed: 1, threads: 1, set, ..ScenarioRequest::default() };
        let lines = Arc::new(Mutex::new(Vec::new()));
        let filter = LogFilter::parse("link=debug,coherence=debug").expect("a filter");
        let to = lines.clone();
        request.outputs.log = Some(LogTo::new(filter, move |line| to.lock().expect("alive").push(line.to_owned())));
        scenario::run(&request, &mut |_| ()).expect("it runs");
        let lines = lines.lock().expect("alive");
        let mut layers: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        let mut addresses: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for line in lines.iter().filter(|line| word(line, "message").is_some()) {
            let id = word(line, "id").expect("an id");
            assert_ne!(id, "0", "{scenario}: {line}");
            layers.entry(id).or_default().extend(word(line, "layer"));
            addresses.entry(id).or_default().extend(word(line, "address"));
        }
        assert!(layers.len() > 10, "{scenario}");
        for (id, seen) in &layers {
            assert_eq!(seen.iter().copied().collect::<Vec<_>>(), ["coherence", "link"], "{scenario}: {id}");
            assert_eq!(addresses[id].len(), 1, "{scenario}: {id} is of one line, {:?}", addresses[id]);
        }
    }
}
