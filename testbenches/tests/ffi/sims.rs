//! Runs of scenarios.

use crate::calls::{last_error, open, start, text_of};
use crate::root;
use scalepool_capi::sim::placement::*;
use scalepool_capi::sim::*;
use scalepool_capi::status::*;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{c_char, c_void};

fn sim(text: &str) -> (i32, u64) {
    let mut sim = 0;
    (unsafe { sp_sim_new(start(text), text.len(), &mut sim) }, sim)
}

fn metrics(sim: u64) -> (i32, String) {
    text_of(|t, c, l| unsafe { sp_sim_metrics(sim, t, c, l) })
}

#[test]
fn a_run_is_that_of_its_text() {
    open();
    let text =
        "scenario = \"cxl68-expander\"\nseed = 3\n[host]\naccesses = 200\npattern = \"mix\"\n[link]\nmdh = false\n";
    let (status, sim) = sim(text);
    assert_eq!(status, SP_OK, "{}", last_error());
    assert_eq!(metrics(sim).0, SP_EMPTY);
    assert_eq!(sp_sim_run(sim, 0), SP_OK, "{}", last_error());
    let (_, whole) = metrics(sim);
    let form: Value = serde_json::from_str(&whole).expect("JSON");
    assert_eq!((form["seed"].as_u64(), form["violations"].as_array().map(Vec::len)), (Some(3), Some(0)));
    let cycles = form["cycles"].as_u64().expect("a number");

    // The first cycles alone, then all again: the same bytes.
    assert_eq!(sp_sim_run(sim, cycles / 2), SP_OK);
    let half: Value = serde_json::from_str(&metrics(sim).1).expect("JSON");
    assert!(half["cycles"].as_u64().is_some_and(|n| n <= cycles / 2 + 1), "{half}");
    assert_eq!(sp_sim_run(sim, SP_MAX_CYCLES), SP_OK);
    assert_eq!(metrics(sim).1, whole);

    // Another seed and noise change them; a reset brings them back.
    let set = |text: &str| unsafe { sp_sim_set(sim, start(text), text.len()) };
    assert_eq!((set("link.ber=1e-5"), sp_sim_seed(sim, 4)), (SP_OK, SP_OK));
    assert_eq!(sp_sim_run(sim, 0), SP_OK);
    assert_ne!(metrics(sim).1, whole);
    assert_eq!((sp_sim_reset(sim), metrics(sim).0), (SP_OK, SP_EMPTY));
    assert_eq!((sp_sim_run(sim, 0), metrics(sim).1), (SP_OK, whole));

    assert_eq!(set("link.beer=1"), SP_ERR_INPUT);
    assert!(last_error().contains("no such key"), "{}", last_error());
    assert_eq!(sp_sim_run(sim, SP_MAX_CYCLES + 1), SP_ERR_RANGE);
    assert_eq!((sp_sim_destroy(sim), sp_sim_run(sim, 1)), (SP_OK, SP_ERR_HANDLE));
}

/// A text that begins with a format is a description; the file of one is named as a scenario.
#[test]
fn a_text_may_be_a_description() {
    open();
    let file = root().join("testbenches/systems/side_by_side.toml");
    let text = std::fs::read_to_string(&file).expect("it is there");
    let (status, described) = sim(&text);
    assert_eq!(status, SP_OK, "{}", last_error());
    let (status, named) = sim(&format!("scenario = \"{}\"", file.display()));
    assert_eq!(status, SP_OK, "{}", last_error());
    for sim in [described, named] {
        let setting = "component.gpu.traffic.requests=50";
        assert_eq!(unsafe { sp_sim_set(sim, start(setting), setting.len()) }, SP_OK, "{}", last_error());
        assert_eq!(sp_sim_run(sim, 0), SP_OK, "{}", last_error());
    }
    assert_eq!(metrics(described), metrics(named));
    assert!(metrics(described).1.contains("\"gpu[1]\""));
    let wrong = text.replace("links = 2", "links = 200");
    assert_eq!(sim(&wrong).0, SP_ERR_INPUT);
    assert!(last_error().contains("text:"), "{}", last_error());
    assert!(last_error().contains("component.gpu.links: found 200, expected 1 to 18 [links]"), "{}", last_error());
}

#[test]
fn waves_and_traces_on_and_off() {
    open();
    let folder = tempfile::tempdir().expect("a folder");
    let (wave, trace) = (folder.path().join("a.vcd"), folder.path().join("a.jsonl"));
    let path = |p: &std::path::Path| p.to_string_lossy().into_owned();
    let (_, sim) = sim("scenario = \"cxl256-expander\"\nhost.accesses = 10\n");
    let set = |wave: &str, trace: &str| unsafe {
        (sp_sim_wave(sim, start(wave), wave.len()), sp_sim_trace(sim, start(trace), trace.len()))
    };
    assert_eq!(set(&path(&wave), &path(&trace)), (SP_OK, SP_OK));
    assert_eq!(sp_sim_run(sim, 0), SP_OK, "{}", last_error());
    assert!(wave.is_file() && trace.is_file());
    std::fs::remove_file(&wave).expect("it is there");
    assert_eq!((set("", "").0, sp_sim_run(sim, 0)), (SP_OK, SP_OK));
    assert!(!wave.exists(), "switched off");
    assert_eq!(set(&path(folder.path()), "").0, SP_ERR_INPUT, "a folder");
    assert_eq!(set("a\0.vcd", "").0, SP_ERR_INPUT, "a NUL would end the path");
    assert_eq!(set("", "a\0.jsonl").1, SP_ERR_INPUT);
    assert!(last_error().contains("NUL at byte 1"), "{}", last_error());
    assert_eq!(sp_sim_destroy(sim), SP_OK);
}

/// Each of these would need a deep stack, or much time, if it were taken.
#[test]
fn texts_that_go_deep() {
    open();
    let many = 200_000;
    for text in ["a.", "[", "[[", "a=[", "a={a=", "a={a.a=", "a=[\n", "\"\"\""] {
        let status = sim(&text.repeat(many)).0;
        assert!([SP_ERR_INPUT, SP_ERR_RANGE].contains(&status), "{text}: {status}");
    }
    assert_eq!(sim(&format!("{}a = 1", "a.".repeat(many))).0, SP_ERR_RANGE);
    assert_eq!(sim(&format!("[{}a]", "a.".repeat(many))).0, SP_ERR_RANGE);
    assert_eq!(sim(&format!("a = {}", "[".repeat(many))).0, SP_ERR_INPUT);
}

#[test]
fn texts_that_are_refused() {
    open();
    for (text, expected) in [
        ("", "scenario ``"),
        ("scenario = ", "invalid TOML"),
        ("scenario = \"nothing\"", "expected one of: cxl68-expander"),
        ("scenario = 7", "a text in quotes"),
        ("scenario = \"cxl68-expander\"\nseed = -1", "a whole number"),
        ("scenario = \"cxl68-expander\"\nlink.width = 3", "1, 2, 4, 8, 16"),
        ("scenario = \"cxl68-expander\"\nlink.mode = [\"68b\", \"256b\"]", "2 modes"),
        ("scenario = \"cxl68-expander\"\nstimulus = \"no such file\"", "expected a file"),
    ] {
        assert_eq!(sim(text).0, SP_ERR_INPUT, "{text}");
        assert!(last_error().contains(expected), "{text}: {}", last_error());
    }
}

/// Lines of the log of the next runs of a simulation.
unsafe extern "C" fn keep(user: *mut c_void, line: *const c_char, length: usize) {
    // SAFETY: the list that the test gave, and what the library promises of its pointers.
    let (lines, line) = unsafe { (&mut *user.cast::<Vec<String>>(), std::slice::from_raw_parts(line.cast(), length)) };
    lines.push(String::from_utf8(line.to_vec()).expect("UTF-8"));
}

fn log(sim: u64, filter: &str, lines: &mut Vec<String>) -> i32 {
    lines.clear();
    unsafe { sp_sim_log(sim, start(filter), filter.len(), Some(keep), std::ptr::from_mut(lines).cast()) }
}

fn word<'a>(line: &'a str, key: &str) -> &'a str {
    let value = line.split(' ').find_map(|word| word.strip_prefix(key)?.strip_prefix('='));
    value.unwrap_or_else(|| panic!("no {key} in {line}"))
}

/// The filter filters, nothing that watches changes a result, and one id leads through scenario, link and trace.
#[test]
fn a_log_has_a_filter_for_each_layer_and_one_id_through_all() {
    open();
    for scenario in ["cxl68-expander", "cxl256-expander", "cxl-pbr-pair", "nvlink-pair", "ualink-pair"] {
        let more = if scenario.starts_with("cxl") { "host.accesses = 60" } else { "cycles = 4000" };
        let (_, sim) = sim(&format!("scenario = \"{scenario}\"\n{more}"));
        let run = || {
            assert_eq!(sp_sim_run(sim, 0), SP_OK, "{}", last_error());
            metrics(sim).1
        };
        let bare = run();
        let mut lines = Vec::new();
        let layers = |lines: &[String]| lines.iter().map(|l| word(l, "layer").to_owned()).collect::<BTreeSet<_>>();
        let levels = |lines: &[String]| lines.iter().map(|l| word(l, "level").to_owned()).collect::<BTreeSet<_>>();
        for (filter, layer, level) in [
            ("link=debug", "link", "debug"),
            ("scenario=info", "scenario", "info"),
            ("info,link=off", "scenario", "info"),
        ] {
            // One that is quick is enough for this.
            if scenario != "cxl68-expander" {
                continue;
            }
            assert_eq!(log(sim, filter, &mut lines), SP_OK, "{}", last_error());
            assert_eq!(run(), bare, "{scenario}: a log changes no result");
            assert_eq!((layers(&lines), levels(&lines)), ([layer.to_owned()].into(), [level.to_owned()].into()));
        }
        assert_eq!(log(sim, "coherence=trace", &mut lines), SP_OK);
        assert!(scenario != "cxl68-expander" || (run(), lines.len()) == (bare.clone(), 0));

        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("trace.jsonl");
        let text = path.to_str().expect("UTF-8");
        assert_eq!(unsafe { sp_sim_trace(sim, start(text), text.len()) }, SP_OK);
        assert_eq!(log(sim, "debug", &mut lines), SP_OK);
        assert_eq!(run(), bare, "{scenario}");
        let trace = std::fs::read_to_string(path).expect("the trace is there");
        let records = trace.lines().skip(1).map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
        let ids = |kind, counts: &dyn Fn(&Value) -> bool| {
            let of_kind = records.clone().filter(|r| r["kind"] == kind && counts(r));
            of_kind.map(|r| r["id"].to_string()).collect::<BTreeSet<_>>()
        };
        // Requests: what serves them has the same id in the log, and accesses are no messages.
        let messages = ids("begin", &|r| !r["message"].is_null());
        // A posted request ends when it is sent, before its flits.
        let is_posted = |r: &Value| r["fields"]["op"].as_str().is_some_and(|op| op.ends_with("_POSTED"));
        let is_request = |r: &Value| !messages.contains(&r["parent"].to_string()) && !is_posted(r);
        let requests = ids("begin", &|r| !r["message"].is_null() && is_request(r));
        let closed: Vec<String> = requests.intersection(&ids("end", &|_| true)).cloned().collect();
        assert!(closed.len() > 20, "{scenario}: {} transactions", closed.len());
        let mut ways: BTreeMap<&str, Vec<&String>> = BTreeMap::new();
        lines.iter().for_each(|line| ways.entry(word(line, "id")).or_default().push(line));
        let whole = closed.iter().filter(|id| {
            let way = &ways[id.as_str()];
            let links = way.iter().filter(|line| word(line, "layer") == "link").count();
            let times = way.iter().map(|line| word(line, "t_fs").parse::<u64>().expect("a number"));
            assert!(times.is_sorted(), "{scenario}: {way:?}");
            let ends = [way.first(), way.last()].map(|line| line.map(|line| word(line, "kind").to_owned()));
            links >= 2 && ends == [Some("begin".to_owned()), Some("end".to_owned())]
        });
        // A flush of NVLink goes out in parts.
        let least = if scenario == "nvlink-pair" { closed.len() / 2 } else { closed.len() };
        let whole = whole.count();
        assert!(whole >= least, "{scenario}: {whole} of {} go through all layers", closed.len());
        assert_eq!(sp_sim_destroy(sim), SP_OK);
    }
}

#[test]
fn what_a_log_refuses() {
    open();
    let (_, sim) = sim("scenario = \"cxl68-expander\"\nhost.accesses = 5");
    let mut lines = Vec::new();
    for wrong in ["", "loud", "links=debug", "link"] {
        assert_eq!(log(sim, wrong, &mut lines), SP_ERR_INPUT, "{wrong}");
        assert!(last_error().contains("layers are link, coherence, scenario"), "{}", last_error());
    }
    assert_eq!(log(0, "debug", &mut lines), SP_ERR_HANDLE);
    assert_eq!((log(sim, "debug", &mut lines), sp_sim_run(sim, 0)), (SP_OK, SP_OK));
    assert!(!lines.is_empty());
    // A null function switches it off, a reset too.
    lines.clear();
    let off = unsafe { sp_sim_log(sim, start("debug"), 5, None, std::ptr::null_mut()) };
    assert_eq!((off, sp_sim_run(sim, 0), lines.len()), (SP_OK, SP_OK, 0));
    assert_eq!(
        (log(sim, "debug", &mut lines), sp_sim_reset(sim), sp_sim_run(sim, 0), lines.len()),
        (SP_OK, SP_OK, SP_OK, 0)
    );
    assert_eq!(sp_sim_destroy(sim), SP_OK);
}

/// What a function that places pages has seen.
#[derive(Default)]
struct Placed {
    /// Pages that were accessed first, and questions for a move.
    asked: [u64; 2],
    /// What it decides instead of the hottest page.
    wrong: Option<(u32, u32)>,
}

/// Decides as policy `temperature` does, from the arrays alone: the hottest page below a tier takes a free frame of it, or the place of one that
/// is at most half as hot, which moves down first.
unsafe extern "C" fn by_heat(
    user: *mut c_void,
    first: u32,
    pages: u32,
    tiers: *const u32,
    accesses: *const u64,
    _: *const u64,
    free: *const u32,
    _: u64,
    page: *mut u32,
    tier: *mut u32,
) -> u32 {
    let placed = unsafe { &mut *user.cast::<Placed>() };
    placed.asked[usize::from(first == SP_NO_PAGE)] += 1;
    if first != SP_NO_PAGE {
        return 0;
    }
    let slice = |len| unsafe { (std::slice::from_raw_parts(tiers, len), std::slice::from_raw_parts(accesses, len)) };
    let ((tiers, heat), free) = (slice(pages as usize), unsafe { std::slice::from_raw_parts(free, 3) });
    let say = |of: usize, to: u32| unsafe {
        (*page, *tier) = placed.wrong.unwrap_or((of as u32, to));
        1
    };
    for upper in [SP_TIER_HBM, SP_TIER_PEER_HBM] {
        let below = (0..tiers.len()).filter(|n| tiers[*n] > upper && tiers[*n] != SP_TIER_NONE);
        let Some(hot) = below.max_by_key(|n| (heat[*n], usize::MAX - n)).filter(|n| heat[*n] > 0) else { continue };
        if free[upper as usize] > 0 {
            return say(hot, upper);
        }
        let Some(cold) = (0..tiers.len()).filter(|n| tiers[*n] == upper).min_by_key(|n| (heat[*n], *n)) else {
            continue;
        };
        let lower = (upper + 1..3).find(|tier| free[*tier as usize] > 0);
        if let Some(lower) = lower.filter(|_| heat[hot] >= 2 * heat[cold]) {
            return say(cold, lower);
        }
    }
    0
}

/// A function that decides as a policy does gives its run, to the byte; without one pages stay where their first accesses put them; what cannot
/// be done is counted and changes nothing.
#[test]
fn a_function_places_pages() {
    open();
    let file = root().join("testbenches/systems/tiers.toml");
    let text = format!("scenario = \"{}\"\noperations = 300\n", file.display());
    let set =
        |sim, text: &str| assert_eq!(unsafe { sp_sim_set(sim, start(text), text.len()) }, SP_OK, "{}", last_error());
    let place = |sim, name: &str, function, user: &mut Placed| unsafe {
        sp_sim_placement(sim, start(name), name.len(), function, (&raw mut *user).cast())
    };
    let figures = |sim, at: usize, name: &str| {
        let form: Value = serde_json::from_str(&metrics(sim).1).expect("JSON");
        form["components"][format!("accel[{at}]")][name].as_u64().unwrap_or_else(|| panic!("{name} in {form}"))
    };
    let (_, own) = sim(&text);
    assert_eq!(sp_sim_run(own, 0), SP_OK, "{}", last_error());
    assert!(figures(own, 0, "pages moved") > 2, "{}", metrics(own).1);

    let (_, ours) = sim(&text);
    let mut users = [Placed::default(), Placed::default()];
    let none = place(ours, "accel[0]", Some(by_heat), &mut users[0]);
    assert_eq!(none, SP_ERR_INPUT);
    assert!(last_error().contains("expected one of: one with policy = \"caller\""), "{}", last_error());
    set(ours, "policy=caller");
    assert_eq!(sp_sim_run(ours, 0), SP_OK, "{}", last_error());
    assert_eq!((figures(ours, 0, "pages moved"), figures(ours, 1, "pages moved")), (0, 0), "nobody decides");
    for (n, user) in users.iter_mut().enumerate() {
        assert_eq!(place(ours, &format!("accel[{n}]"), Some(by_heat), user), SP_OK, "{}", last_error());
    }
    // The function stays for the run that begins anew.
    set(ours, "operations=300");
    assert_eq!(sp_sim_run(ours, 0), SP_OK, "{}", last_error());
    assert_eq!(metrics(ours).1, metrics(own).1);
    assert!(users.iter().all(|user| user.asked[0] > 2 && user.asked[1] > 2), "{:?}", users.map(|user| user.asked));

    let mut wrong = Placed::default();
    for decision in [(99, SP_TIER_HBM), (0, 7)] {
        wrong.wrong = Some(decision);
        assert_eq!(place(ours, "accel[0]", Some(by_heat), &mut wrong), SP_OK);
        set(ours, "operations=300");
        assert_eq!(sp_sim_run(ours, 0), SP_OK, "{}", last_error());
        assert!(figures(ours, 0, "decisions refused") > 0 && figures(ours, 0, "pages moved") == 0, "{decision:?}");
    }
    assert_eq!(place(ours, "accel[7]", Some(by_heat), &mut wrong), SP_ERR_INPUT);
    assert!(last_error().contains("expected one of: accel[0], accel[1]"), "{}", last_error());
    assert_eq!(place(ours, "accel[0]", None, &mut wrong), SP_OK);
    let (_, two) = sim(&format!("threads = 2\n{text}policy = \"caller\"\n"));
    assert_eq!(place(two, "accel[0]", Some(by_heat), &mut wrong), SP_ERR_KIND);
    for handle in [own, ours, two] {
        assert_eq!(sp_sim_destroy(handle), SP_OK);
    }
}
