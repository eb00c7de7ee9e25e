//! Runs of scenarios.

use crate::calls::{last_error, open, start, text_of};
use scalepool::ffi::sim::*;
use scalepool::ffi::status::*;
use serde_json::Value;

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
        ("scenario = ", "no TOML"),
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
